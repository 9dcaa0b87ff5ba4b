//! One chunk (at most 4096 elements) of one slice that lies along memory.
//!
//! The 64 partials are lanes of registers: eight 512-bit registers at once, or two or four passes
//! over the chunk with narrower ones. The halving joins whole registers while it can. A last,
//! ragged vector changes only the lanes it has elements for.

use super::Step;
use crate::Lanes;
use crate::level::Task;
use crate::vector::{Float, Simd, Vector};
use rung_math::Real;
use rung_math::fold::{CHUNK, Combine, PARTIALS};
use std::marker::PhantomData;

/// Registers held at a time.
const HELD: usize = 8;

/// A chunk of `x`; `y` has a number for each element (`each`), one for all, or none when null.
pub(super) struct Chunk<F, T, U> {
    x: *const T,
    count: usize,
    y: *const U,
    each: bool,
    step: PhantomData<F>,
}

/// Neighbouring slices of one chunk each, `row_step` apart, folded in one call: entering a kernel
/// for each of 288 rows of 288 took longer than the arithmetic.
pub(super) struct Rows<F, T> {
    pub first: Chunk<F, T, f64>,
    pub row_step: isize,
    pub rows: usize,
    pub out: *mut f64,
}

/// The fold of one chunk, with a second number for each element if there are any.
pub(crate) fn of<F: Step, T: Float>(lanes: &Lanes, x: &[T], y: Option<&[T]>) -> f64 {
    debug_assert!(x.len() <= CHUNK && y.is_none_or(|y| y.len() == x.len()));
    if x.is_empty() {
        return F::Combine::IDENTITY;
    }
    let (pointer, each) = (y.map_or(std::ptr::null(), <[T]>::as_ptr), y.is_some());
    // SAFETY: both slices are as long as the count.
    lanes.level().run(unsafe { Chunk::<F, T, T>::new(x.as_ptr(), x.len(), pointer, each) })
}

impl<F: Step, T: Float> Task for Rows<F, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let mut chunk = self.first;
        let per_row = !chunk.each && !chunk.y.is_null();
        for row in 0..self.rows {
            // SAFETY: the slices lie inside the operand, each with its result and second number.
            unsafe { *self.out.add(row) = chunk.both_kinds::<S>() };
            chunk.x = chunk.x.wrapping_offset(self.row_step);
            chunk.y = chunk.y.wrapping_add(per_row as usize);
        }
    }
}

impl<F: Step, T: Float, U: Float> Chunk<F, T, U> {
    /// # Safety
    /// `count` elements are readable at `x`; at `y` as many if `each`, one if it is not null.
    pub(super) unsafe fn new(x: *const T, count: usize, y: *const U, each: bool) -> Chunk<F, T, U> {
        Chunk { x, count, y, each, step: PhantomData }
    }

    /// Dispatches on `each`, so that the loop does not ask.
    #[inline(always)]
    unsafe fn both_kinds<S: Simd>(&self) -> f64 {
        // SAFETY: `new`'s promise.
        unsafe { if self.each { self.fold::<S, true>() } else { self.fold::<S, false>() } }
    }

    /// The partials of registers `first..first + HELD`.
    #[inline(always)]
    unsafe fn pass<S: Simd, const EACH: bool>(&self, first: usize, y: S::F64) -> [S::F64; HELD] {
        let lanes = S::F64::LANES;
        let mut partials = [S::F64::splat(F::Combine::IDENTITY); HELD];
        let whole = self.count / PARTIALS * PARTIALS;
        let mut row = 0;
        while row < whole {
            for (j, partial) in partials.iter_mut().enumerate() {
                let at = row + (first + j) * lanes;
                // SAFETY: `at` and the lanes after it are below `whole`.
                unsafe {
                    let y = if EACH { U::widen::<S>(self.y.add(at)) } else { y };
                    *partial = F::take(*partial, T::widen::<S>(self.x.add(at)), y);
                }
            }
            row += PARTIALS;
        }
        for (j, partial) in partials.iter_mut().enumerate() {
            let at = whole + (first + j) * lanes;
            if at >= self.count {
                break;
            }
            let count = lanes.min(self.count - at);
            // SAFETY: `count` elements are left.
            unsafe { *partial = self.ragged::<S, EACH>(*partial, at, count, y) };
        }
        partials
    }

    /// Takes `count` elements from `at` on into the first lanes of a partial.
    #[inline(always)]
    unsafe fn ragged<S: Simd, const EACH: bool>(
        &self,
        partial: S::F64,
        at: usize,
        count: usize,
        y: S::F64,
    ) -> S::F64 {
        // SAFETY: the caller says that `count` elements are left.
        unsafe {
            let (x, given) = (self.x.wrapping_add(at), self.y.wrapping_add(at));
            if count == S::F64::LANES {
                let y = if EACH { U::widen::<S>(given) } else { y };
                return F::take(partial, T::widen::<S>(x), y);
            }
            let y = if EACH { widen_part::<S, U>(given, count) } else { y };
            let taken = F::take(partial, widen_part::<S, T>(x, count), y);
            S::F64::select(first_lanes::<S>(count), taken, partial)
        }
    }

    #[inline(always)]
    unsafe fn fold<S: Simd, const EACH: bool>(&self) -> f64 {
        let given = !EACH && !self.y.is_null();
        // SAFETY: `new`'s promise.
        unsafe {
            let y = S::F64::splat(if given { (*self.y).wide() } else { 0.0 });
            let mut partials = self.pass::<S, EACH>(0, y);
            match PARTIALS / S::F64::LANES / HELD {
                1 => {}
                2 => partials = both::<F, S>(partials, self.pass::<S, EACH>(HELD, y)),
                _ => {
                    // Four passes: 0 joins 2, 1 joins 3, then the two results.
                    let low = both::<F, S>(partials, self.pass::<S, EACH>(2 * HELD, y));
                    let second = self.pass::<S, EACH>(HELD, y);
                    let high = both::<F, S>(second, self.pass::<S, EACH>(3 * HELD, y));
                    partials = both::<F, S>(low, high);
                }
            }
            let [a, b, c, d, e, f, g, h] = partials;
            let quarter = [F::join(a, e), F::join(b, f), F::join(c, g), F::join(d, h)];
            let pair = [F::join(quarter[0], quarter[2]), F::join(quarter[1], quarter[3])];
            across::<F, S>(F::join(pair[0], pair[1]))
        }
    }
}

impl<F: Step, T: Float, U: Float> Task for Chunk<F, T, U> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        // SAFETY: `new`'s promise.
        unsafe { self.both_kinds::<S>() }
    }
}

/// The first `count` elements widened, zero in the other lanes.
///
/// # Safety
/// `count` elements are readable.
#[inline(always)]
pub(super) unsafe fn widen_part<S: Simd, T: Float>(from: *const T, count: usize) -> S::F64 {
    let mut block = [T::default(); 8];
    for (i, cell) in block.iter_mut().enumerate().take(count) {
        // SAFETY: the caller's promise.
        *cell = unsafe { *from.add(i) };
    }
    // SAFETY: the widest f64 vector has eight lanes.
    unsafe { T::widen::<S>(block.as_ptr()) }
}

#[inline(always)]
fn both<F: Step, S: Simd>(low: [S::F64; HELD], high: [S::F64; HELD]) -> [S::F64; HELD] {
    let mut joined = low;
    for (low, high) in joined.iter_mut().zip(high) {
        *low = F::join(*low, high);
    }
    joined
}

/// The halving inside the last register.
#[inline(always)]
fn across<F: Step, S: Simd>(last: S::F64) -> f64 {
    let mut lanes = [F::Combine::IDENTITY; 8];
    // SAFETY: the widest f64 vector has eight lanes.
    unsafe { last.store(lanes.as_mut_ptr()) };
    let mut half = S::F64::LANES / 2;
    while half > 0 {
        for low in 0..half {
            lanes[low] = F::Combine::combine(lanes[low], lanes[low + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// True in the lanes below `count`.
#[inline(always)]
fn first_lanes<S: Simd>(count: usize) -> <S::F64 as Real>::Mask {
    static INDEX: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    // SAFETY: the widest f64 vector has eight lanes.
    let index = unsafe { S::F64::load(INDEX.as_ptr()) };
    index.less(S::F64::splat(count as f64))
}
