//! Folds of integers: sums and products that wrap, extremes, counts. Any order gives the same
//! bits, so these are plain loops that the compiler turns into vectors of each level; elements
//! are read at their own width and enter as i64.

use super::slices::Job;
use super::{Largest, LargestPresent, Nonzero, Product, Smallest, SmallestPresent, Sum};
use crate::Lanes;
use crate::level::Loop;
use crate::operand::Operand;
use rung_base::{Bool, Element};
use std::ops::Range;

/// An integer element.
pub trait Integer: Element {
    /// What it is compared as: vectors of u8 hold eight times as many as those of i64.
    #[doc(hidden)]
    type Own: Ord + Copy;
    /// The smallest and the largest.
    #[doc(hidden)]
    const LEAST: Self::Own;
    #[doc(hidden)]
    const MOST: Self::Own;
    #[doc(hidden)]
    fn own(self) -> Self::Own;
    #[doc(hidden)]
    fn widened(own: Self::Own) -> i64;
    /// The number in i64.
    #[inline(always)]
    fn wide(self) -> i64 {
        Self::widened(self.own())
    }
}

macro_rules! integer {
    ($($t:ty, $own:ty, $most:expr, |$x:ident| $value:expr;)*) => {
        $(impl Integer for $t {
            type Own = $own;
            const LEAST: $own = <$own>::MIN;
            const MOST: $own = $most;
            #[inline(always)]
            fn own(self) -> $own {
                let $x = self;
                $value
            }
            #[inline(always)]
            fn widened(own: $own) -> i64 {
                own as i64
            }
        })*
    };
}
integer! {
    i64, i64, i64::MAX, |x| x;
    i32, i32, i32::MAX, |x| x;
    u8, u8, u8::MAX, |x| x;
    Bool, u8, 1, |x| x.get() as u8;
}

/// How an integer enters a partial result, and how partial results are joined.
pub trait IntegerStep: Copy + Send + Sync + 'static {
    /// What a fold of nothing gives.
    const IDENTITY: i64;
    #[doc(hidden)]
    fn join(a: i64, b: i64) -> i64;
    #[doc(hidden)]
    #[inline(always)]
    fn take(partial: i64, x: i64) -> i64 {
        Self::join(partial, x)
    }
    /// The fold of a run.
    #[doc(hidden)]
    #[inline(always)]
    fn run<T: Integer>(x: &[T]) -> i64 {
        let mut total = Self::IDENTITY;
        for x in x {
            total = Self::take(total, x.wide());
        }
        total
    }
    /// Whether nothing that follows can change the result.
    #[doc(hidden)]
    fn is_settled<T: Integer>(_: i64) -> bool {
        false
    }
}

macro_rules! step {
    ($($name:ty, $identity:expr, |$a:ident, $b:ident| $join:expr $(, $own:ident from $first:ident to $last:ident)?;)*) => {
        $(impl IntegerStep for $name {
            const IDENTITY: i64 = $identity;
            #[inline(always)]
            fn join($a: i64, $b: i64) -> i64 {
                $join
            }
            $(
            #[inline(always)]
            fn run<T: Integer>(x: &[T]) -> i64 {
                let mut best = T::$first;
                for x in x {
                    best = Ord::$own(best, x.own());
                }
                T::widened(best)
            }
            fn is_settled<T: Integer>(best: i64) -> bool {
                best == T::widened(T::$last)
            }
            )?
        })*
    };
}
step! {
    Sum, 0, |a, b| a.wrapping_add(b);
    Product, 1, |a, b| a.wrapping_mul(b);
    Largest, i64::MIN, |a, b| a.max(b), max from LEAST to MOST;
    Smallest, i64::MAX, |a, b| a.min(b), min from MOST to LEAST;
    LargestPresent, i64::MIN, |a, b| a.max(b), max from LEAST to MOST;
    SmallestPresent, i64::MAX, |a, b| a.min(b), min from MOST to LEAST;
}

impl IntegerStep for Nonzero {
    const IDENTITY: i64 = 0;
    #[inline(always)]
    fn join(a: i64, b: i64) -> i64 {
        a + b
    }
    #[inline(always)]
    fn take(partial: i64, x: i64) -> i64 {
        partial + (x != 0) as i64
    }
}

/// The fold over `axes` (ascending); out has the remaining axes, row-major.
///
/// # Panics
/// When extents do not fit each other or the operand leaves its slice.
pub fn integers<F: IntegerStep, T: Integer>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    axes: &[usize],
    out: &mut [i64],
) {
    if shape.contains(&0) {
        return out.fill(F::IDENTITY);
    }
    let job = Job::new(shape, x, axes, out);
    if job.is_long(lanes) {
        for slice in 0..job.slices {
            let parts =
                job.shared(lanes, F::IDENTITY, &|range| total::<F, T>(&job, lanes, slice, range));
            let value = parts.into_iter().fold(F::IDENTITY, F::join);
            // SAFETY: no region is running; the slice has its result.
            unsafe { *job.out.add(slice) = value };
        }
        return;
    }
    job.run(lanes, &|slices| {
        if job.beside() {
            return columns::<F, T>(&job, lanes, slices);
        }
        if job.along_memory() {
            return job.runs(slices, |x, slice, count| {
                // SAFETY: this piece owns the results of its slices.
                let out = unsafe { std::slice::from_raw_parts_mut(job.out.add(slice), count) };
                let (step, length) = (job.slice_step(), job.length);
                lanes.level().run(Loop(|| along::<F, T>(x, step, length, out)));
            });
        }
        for slice in slices {
            let value = total::<F, T>(&job, lanes, slice, 0..job.length);
            // SAFETY: this piece owns the slice's result.
            unsafe { *job.out.add(slice) = value };
        }
    });
}

/// The first position, in its slice, of the element that the fold gives.
///
/// # Panics
/// As `integers`, and when a slice is empty.
pub fn integer_position<F: IntegerStep, T: Integer>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    axes: &[usize],
    out: &mut [usize],
) {
    let mut best = vec![0; out.len()];
    integers::<F, T>(lanes, shape, x, axes, &mut best);
    let job = Job::new(shape, x, axes, out);
    job.run(lanes, &|slices| {
        for slice in slices {
            let mut place = 0;
            job.blocks(slice, 0..job.length, |x, from| {
                let found = x.iter().position(|x| x.wide() == best[slice]);
                found.map(|at| place = from + at).is_none()
            });
            // SAFETY: this piece owns the slice's result.
            unsafe { *job.out.add(slice) = place };
        }
    });
}

fn total<F: IntegerStep, T: Integer>(
    job: &Job<T, i64>,
    lanes: &Lanes,
    slice: usize,
    range: Range<usize>,
) -> i64 {
    let mut total = F::IDENTITY;
    job.blocks(slice, range, |x, _| {
        total = F::join(total, lanes.level().run(Loop(|| F::run::<T>(x))));
        !F::is_settled::<T>(total)
    });
    total
}

/// Slices that lie along memory, `step` apart.
#[inline(always)]
fn along<F: IntegerStep, T: Integer>(x: *const T, step: isize, length: usize, out: &mut [i64]) {
    for (row, out) in out.iter_mut().enumerate() {
        let x = x.wrapping_offset(row as isize * step);
        // SAFETY: the caller's slices lie inside the operand.
        *out = F::run::<T>(unsafe { std::slice::from_raw_parts(x, length) });
    }
}

/// Columns folded side by side: their results are 4 KiB.
const WIDTH: usize = 512;

/// Slices that lie side by side.
fn columns<F: IntegerStep, T: Integer>(job: &Job<T, i64>, lanes: &Lanes, slices: Range<usize>) {
    job.runs(slices, |x, slice, count| {
        for from in (0..count).step_by(WIDTH) {
            let width = WIDTH.min(count - from);
            // SAFETY: this piece owns the results of its slices.
            let out = unsafe { std::slice::from_raw_parts_mut(job.out.add(slice + from), width) };
            out.fill(F::IDENTITY);
            for row in 0..job.length {
                let row = x.wrapping_offset(row as isize * job.row_step()).wrapping_add(from);
                // SAFETY: the run of slices lies inside the operand.
                let row = unsafe { std::slice::from_raw_parts(row, width) };
                lanes.level().run(Loop(|| beside::<F, T>(row, out)));
            }
        }
    });
}

#[inline(always)]
fn beside<F: IntegerStep, T: Integer>(row: &[T], out: &mut [i64]) {
    for (out, x) in out.iter_mut().zip(row) {
        *out = F::take(*out, x.wide());
    }
}
