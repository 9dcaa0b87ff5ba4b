//! One chunk (at most 4096 elements) of one slice that lies along memory.
//!
//! The 64 partials are lanes of registers: eight 512-bit registers at once, or narrower ones in two
//! or four passes over a part of the chunk, then over the next. The halving joins whole registers
//! while it can. A last, ragged vector changes only the lanes it has elements for.

use super::Step;
use crate::Lanes;
use crate::level::Task;
use crate::vector::{Float, Simd, Vector};
use rung_math::Real;
use rung_math::fold::{CHUNK, Combine, PARTIALS};
use std::marker::PhantomData;

/// Registers held at a time.
const HELD: usize = 8;

/// Elements that all passes take before they go on: what the first waits for in memory then comes
/// while the others compute.
const TURN: usize = 512;

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

    /// Dispatches on `each` and on the passes that registers need, so that the loop does not ask.
    #[inline(always)]
    unsafe fn both_kinds<S: Simd>(&self) -> f64 {
        // SAFETY: `new`'s promise.
        unsafe {
            match (PARTIALS / S::F64::LANES / HELD, self.each) {
                (1, true) => self.fold::<S, true, 1>(),
                (1, false) => self.fold::<S, false, 1>(),
                (2, true) => self.fold::<S, true, 2>(),
                (2, false) => self.fold::<S, false, 2>(),
                (_, true) => self.fold::<S, true, 4>(),
                (_, false) => self.fold::<S, false, 4>(),
            }
        }
    }

    /// Takes whole rows of 64 elements, those from `from` to `to`, into the partials that registers
    /// `first..first + HELD` are.
    #[inline(always)]
    unsafe fn pass<S: Simd, const EACH: bool>(
        &self,
        partials: &mut [S::F64; HELD],
        first: usize,
        (from, to): (usize, usize),
        y: S::F64,
    ) {
        let mut held = *partials;
        for row in (from..to).step_by(PARTIALS) {
            for (j, partial) in held.iter_mut().enumerate() {
                let at = row + (first + j) * S::F64::LANES;
                // SAFETY: `at` and the lanes after it are below `to`.
                unsafe {
                    let y = if EACH { U::widen::<S>(self.y.add(at)) } else { y };
                    *partial = F::take(*partial, T::widen::<S>(self.x.add(at)), y);
                }
            }
        }
        *partials = held;
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
    unsafe fn fold<S: Simd, const EACH: bool, const PASSES: usize>(&self) -> f64 {
        let given = !EACH && !self.y.is_null();
        let (lanes, whole) = (S::F64::LANES, self.count / PARTIALS * PARTIALS);
        let mut partials = [[S::F64::splat(F::Combine::IDENTITY); HELD]; PASSES];
        // SAFETY: `new`'s promise.
        unsafe {
            let y = S::F64::splat(if given { (*self.y).wide() } else { 0.0 });
            let turn = if PASSES == 1 { whole.max(1) } else { TURN };
            for from in (0..whole).step_by(turn) {
                let rows = (from, whole.min(from + turn));
                for (p, partials) in partials.iter_mut().enumerate() {
                    self.pass::<S, EACH>(partials, p * HELD, rows, y);
                }
            }
            let all = partials.as_flattened_mut().iter_mut();
            for (partial, at) in all.zip((whole..self.count).step_by(lanes)) {
                let count = lanes.min(self.count - at);
                *partial = self.ragged::<S, EACH>(*partial, at, count, y);
            }
        }
        let mut half = PASSES / 2;
        while half > 0 {
            for low in 0..half {
                partials[low] = both::<F, S>(partials[low], partials[low + half]);
            }
            half /= 2;
        }
        let [a, b, c, d, e, f, g, h] = partials[0];
        let quarter = [F::join(a, e), F::join(b, f), F::join(c, g), F::join(d, h)];
        let pair = [F::join(quarter[0], quarter[2]), F::join(quarter[1], quarter[3])];
        across::<F, S>(F::join(pair[0], pair[1]))
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
