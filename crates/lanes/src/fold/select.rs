//! Folds that pick an element: amax, amin. The rules of `math` make maximum and minimum
//! independent of the order, so these need no fixed order, only the same rules. Where the picked
//! element stands is in `position`.
//!
//! Largest and smallest propagate NaN and put -0.0 below +0.0. The `Present` choices skip NaN; a
//! slice of nothing else gives their identity.

use super::slices::{BLOCK, Beside, Job, Picked, Run};
use crate::Lanes;
use crate::level::Task;
use crate::operand::Operand;
use crate::vector::{Float, Simd, Vector};
use rung_math::{Binary, LargerNumber, Mask, Maximum, Minimum, Real, SmallerNumber};
use std::ops::Range;

/// Which element is picked.
pub trait Choice: Copy + Send + Sync + 'static {
    /// The definition for two numbers.
    type Of: Binary;
    /// What every number is picked before.
    const IDENTITY: f64;
    /// Whether NaN is passed over.
    const SKIPS: bool = false;
    /// `new` in the lanes where it is picked before `old`, else `old`; so too where one is NaN.
    #[doc(hidden)]
    fn pick<V: Vector>(new: V, old: V) -> V;
    /// The lanes where `new` is picked before `old`; equal zeros are a tie, and NaN is in none.
    #[doc(hidden)]
    fn picks<R: Real>(new: R, old: R) -> R::Mask;
    /// Whether `new` is picked before `old`; equal zeros are a tie, and NaN is never picked.
    #[doc(hidden)]
    fn wins<T: PartialOrd>(new: T, old: T) -> bool;
    /// Of zeros of both signs, the one that is picked.
    #[doc(hidden)]
    const ZERO: f64;
}

macro_rules! larger {
    () => {
        const ZERO: f64 = 0.0;
        #[inline(always)]
        fn pick<V: Vector>(new: V, old: V) -> V {
            new.larger(old)
        }
        #[inline(always)]
        fn picks<R: Real>(new: R, old: R) -> R::Mask {
            old.less(new)
        }
        #[inline(always)]
        fn wins<T: PartialOrd>(new: T, old: T) -> bool {
            new > old
        }
    };
}
macro_rules! smaller {
    () => {
        const ZERO: f64 = -0.0;
        #[inline(always)]
        fn pick<V: Vector>(new: V, old: V) -> V {
            new.smaller(old)
        }
        #[inline(always)]
        fn picks<R: Real>(new: R, old: R) -> R::Mask {
            new.less(old)
        }
        #[inline(always)]
        fn wins<T: PartialOrd>(new: T, old: T) -> bool {
            new < old
        }
    };
}

/// The largest element.
#[derive(Clone, Copy, Debug)]
pub struct Largest;
impl Choice for Largest {
    type Of = Maximum;
    const IDENTITY: f64 = f64::NEG_INFINITY;
    larger!();
}

/// The smallest element.
#[derive(Clone, Copy, Debug)]
pub struct Smallest;
impl Choice for Smallest {
    type Of = Minimum;
    const IDENTITY: f64 = f64::INFINITY;
    smaller!();
}

/// The largest element that is not NaN.
#[derive(Clone, Copy, Debug)]
pub struct LargestPresent;
impl Choice for LargestPresent {
    type Of = LargerNumber;
    const IDENTITY: f64 = f64::NEG_INFINITY;
    const SKIPS: bool = true;
    larger!();
}

/// The smallest element that is not NaN.
#[derive(Clone, Copy, Debug)]
pub struct SmallestPresent;
impl Choice for SmallestPresent {
    type Of = SmallerNumber;
    const IDENTITY: f64 = f64::INFINITY;
    const SKIPS: bool = true;
    smaller!();
}

/// The picked element of each slice over `axes` (ascending), row-major over the remaining axes.
///
/// # Panics
/// When a slice is empty (it has no extreme), extents do not fit, or the operand leaves its slice.
pub fn extreme<C: Choice, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    axes: &[usize],
    out: &mut [T],
) {
    let job = Job::new(shape, x, axes, out);
    if job.is_long(lanes) {
        for slice in 0..job.slices {
            let parts = job.shared(lanes, T::narrowed(C::IDENTITY), &|range| {
                job.slice::<C>(lanes, slice, range)
            });
            let value = parts.into_iter().reduce(C::Of::at);
            // SAFETY: no region is running; the slice has its result.
            unsafe { *job.out.add(slice) = value.unwrap_or_else(|| T::narrowed(C::IDENTITY)) };
        }
        return;
    }
    job.run(lanes, &|slices| {
        if job.beside() {
            job.columns::<C>(lanes, slices);
        } else if job.along_memory() && job.length <= BLOCK {
            job.rows::<C>(lanes, slices);
        } else {
            for slice in slices {
                let value = job.slice::<C>(lanes, slice, 0..job.length);
                // SAFETY: this piece owns the slice's result.
                unsafe { *job.out.add(slice) = value };
            }
        }
    });
}

impl<T: Float, U: Send> Job<T, U> {
    fn slice<C: Choice>(&self, lanes: &Lanes, slice: usize, range: Range<usize>) -> T {
        let mut best = T::narrowed(C::IDENTITY);
        self.blocks(slice, range, |x, _| {
            best = C::Of::at(best, lanes.level().run(Run::<C, T>::of(x)));
            true
        });
        best
    }
}

/// The best so far of each lane, by value alone: a NaN leaves it as it is and is remembered, and
/// the sign of a zero is found afterwards. The definition's own text takes more
/// instructions for an element.
#[derive(Clone, Copy)]
struct Best<V: Real> {
    value: V,
    numbers: V::Mask,
}

impl<V: Vector> Best<V> {
    #[inline(always)]
    fn new<C: Choice>() -> Best<V> {
        Best { value: V::constant(C::IDENTITY), numbers: V::Mask::constant(true) }
    }

    #[inline(always)]
    fn take<C: Choice>(&mut self, x: V) {
        self.value = C::pick(x, self.value);
        if !C::SKIPS {
            self.numbers = self.numbers.and(x.ordered(x));
        }
    }

    /// Whether a NaN was met in any lane.
    #[inline(always)]
    fn met_nan(self) -> bool {
        V::any(self.numbers.not())
    }
}

/// Takes four vectors into four of the best; NaN is asked for in two vectors at once.
#[inline(always)]
fn take_four<C: Choice, V: Vector>(best: &mut [Best<V>; 4], x: [V; 4]) {
    for (best, x) in best.iter_mut().zip(x) {
        best.value = C::pick(x, best.value);
    }
    if !C::SKIPS {
        best[0].numbers = best[0].numbers.and(x[0].ordered(x[1]));
        best[1].numbers = best[1].numbers.and(x[2].ordered(x[3]));
    }
}

/// The best of four, in all their lanes.
#[inline(always)]
fn join<C: Choice, V: Vector>(best: [Best<V>; 4]) -> Best<V> {
    let [a, b, c, d] = best;
    Best {
        value: C::pick(C::pick(d.value, c.value), C::pick(b.value, a.value)),
        numbers: a.numbers.and(b.numbers).and(c.numbers.and(d.numbers)),
    }
}

impl<C: Choice, T: Float> Task for Run<C, T> {
    type Output = T;

    /// The order is free, so a ragged end is read as a last whole vector that overlaps.
    #[inline(always)]
    fn run<S: Simd>(self) -> T {
        let lanes = T::Vector::<S>::LANES;
        let mut best = [Best::<T::Vector<S>>::new::<C>(); 4];
        let mut i = 0;
        // SAFETY: whole vectors below `count`; the last may begin before `i`.
        unsafe {
            let load = |i: usize| T::Vector::<S>::load(self.x.add(i));
            while i + 4 * lanes <= self.count {
                let x = [load(i), load(i + lanes), load(i + 2 * lanes), load(i + 3 * lanes)];
                take_four::<C, T::Vector<S>>(&mut best, x);
                i += 4 * lanes;
            }
            while i + lanes <= self.count {
                best[0].take::<C>(load(i));
                i += lanes;
            }
            if i < self.count && self.count >= lanes {
                best[1].take::<C>(load(self.count - lanes));
                i = self.count;
            }
        }
        let best = join::<C, T::Vector<S>>(best);
        let (mut value, mut nan) = (across::<C, S, T>(best.value), best.met_nan());
        for i in i..self.count {
            // SAFETY: below `count`.
            let x = unsafe { *self.x.add(i) };
            value = if C::wins(x, value) { x } else { value };
            nan |= !C::SKIPS & x.wide().is_nan();
        }
        match nan {
            true => T::canonical_nan(),
            false if value.wide() == 0.0 => self.zero(),
            false => value,
        }
    }
}

/// The best lane of a vector without NaN.
#[inline(always)]
fn across<C: Choice, S: Simd, T: Float>(best: T::Vector<S>) -> T {
    let mut lanes = [T::default(); 16];
    // SAFETY: the widest vector has 16 lanes.
    unsafe { best.store(lanes.as_mut_ptr()) };
    let mut half = T::Vector::<S>::LANES / 2;
    while half > 0 {
        for low in 0..half {
            let (new, old) = (lanes[low + half], lanes[low]);
            lanes[low] = if C::wins(new, old) { new } else { old };
        }
        half /= 2;
    }
    lanes[0]
}

impl<C: Choice, T: Float> Run<C, T> {
    /// The zero that is picked where the extreme is one.
    #[inline(always)]
    fn zero(&self) -> T {
        let mut found = false;
        for i in 0..self.count {
            // SAFETY: below `count`.
            let x = unsafe { *self.x.add(i) }.wide();
            found |= x.to_bits() == C::ZERO.to_bits();
        }
        T::narrowed(if found { C::ZERO } else { -C::ZERO })
    }
}

impl<T: Float> Picked<T> for T {
    const WIDE: bool = true;

    #[inline(always)]
    fn of_run<C: Choice, S: Simd>(run: Run<C, T>) -> T {
        run.run::<S>()
    }

    #[inline(always)]
    unsafe fn of_columns<C: Choice, S: Simd, const N: usize>(
        slices: &Beside<C, T, T>,
        column: usize,
        part: usize,
    ) {
        let lanes = T::Vector::<S>::LANES;
        let mut best = [T::Vector::<S>::constant(C::IDENTITY); N];
        // One mask for all columns, so that eight vectors fit sixteen registers; where it finds a
        // NaN the columns are looked at again.
        let mut numbers = <T::Vector<S> as Real>::Mask::constant(true);
        for row in 0..slices.rows {
            let mut x = best;
            for (j, x) in x.iter_mut().enumerate() {
                // SAFETY: the caller says that the columns are there.
                *x = unsafe { slices.vector::<S>(row, column + j * lanes, part) };
            }
            for (best, x) in best.iter_mut().zip(x) {
                *best = C::pick(x, *best);
            }
            for pair in x.chunks(2).filter(|_| !C::SKIPS) {
                numbers = numbers.and(pair[0].ordered(pair[pair.len() - 1]));
            }
        }
        let met_nan = T::Vector::<S>::any(numbers.not());
        for (j, mut value) in best.into_iter().enumerate() {
            let column = column + j * lanes;
            // SAFETY: as above; lanes past `part` are not stored.
            unsafe {
                if met_nan || T::Vector::<S>::any(value.equal(T::Vector::<S>::constant(0.0))) {
                    value = exactly::<C, S, T>(slices, column, part);
                }
                value.store_part(slices.out.wrapping_add(column), part.min(lanes));
            }
        }
    }
}

/// The definition's own text, where NaN or the sign of a zero matters.
#[inline(always)]
unsafe fn exactly<C: Choice, S: Simd, T: Float>(
    slices: &Beside<C, T, T>,
    column: usize,
    part: usize,
) -> T::Vector<S> {
    let mut best = T::Vector::<S>::constant(C::IDENTITY);
    for row in 0..slices.rows {
        // SAFETY: the caller says that the columns are there.
        best = C::Of::at(best, unsafe { slices.vector::<S>(row, column, part) });
    }
    best
}
