//! One chunk (at most 4096 elements) of one slice that lies along memory.
//!
//! The 64 partials are lanes of registers: eight 512-bit registers at once, or two or four passes
//! over the chunk with narrower ones. The halving joins whole registers while it can. A last,
//! ragged vector changes only the lanes it has elements for.

use super::Step;
use crate::level::Task;
use crate::vector::{Float, Simd, Vector};
use rung_math::Real;
use rung_math::fold::{Combine, PARTIALS};
use std::marker::PhantomData;

/// Registers held at a time.
const HELD: usize = 8;

pub(super) struct Chunk<F, T> {
    x: *const T,
    count: usize,
    y: *const f64,
    /// `y` has a number for each element; otherwise one for all, or none when null.
    each: bool,
    step: PhantomData<F>,
}

impl<F: Step, T: Float> Chunk<F, T> {
    /// # Safety
    /// `count` elements are readable at `x`; at `y` as many f64 if `each`, one if it is not null.
    pub(super) unsafe fn new(x: *const T, count: usize, y: *const f64, each: bool) -> Chunk<F, T> {
        Chunk { x, count, y, each, step: PhantomData }
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
                    let y = if EACH { S::F64::load(self.y.add(at)) } else { y };
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
        // SAFETY: the caller says that `count` elements are left; `x` is copied into a whole
        // vector first.
        unsafe {
            let y = if EACH { S::F64::load_part(self.y.add(at), count) } else { y };
            let mut block = [T::default(); 8];
            for (i, cell) in block.iter_mut().enumerate().take(count) {
                *cell = *self.x.add(at + i);
            }
            let taken = F::take(partial, T::widen::<S>(block.as_ptr()), y);
            S::F64::select(first_lanes::<S>(count), taken, partial)
        }
    }

    #[inline(always)]
    unsafe fn fold<S: Simd, const EACH: bool>(&self) -> f64 {
        let given = !EACH && !self.y.is_null();
        // SAFETY: `new`'s promise.
        unsafe {
            let y = S::F64::splat(if given { *self.y } else { 0.0 });
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

impl<F: Step, T: Float> Task for Chunk<F, T> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self) -> f64 {
        // SAFETY: `new`'s promise.
        unsafe { if self.each { self.fold::<S, true>() } else { self.fold::<S, false>() } }
    }
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
pub(super) fn first_lanes<S: Simd>(count: usize) -> <S::F64 as Real>::Mask {
    static INDEX: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0];
    // SAFETY: the widest f64 vector has eight lanes.
    let index = unsafe { S::F64::load(INDEX.as_ptr()) };
    index.less(S::F64::splat(count as f64))
}
