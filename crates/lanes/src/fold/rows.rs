//! Functions of whole slices (softmax, layer norm and their gradients), each fused: while a slice
//! is in L1 it is read, folded and written. Every kernel gives the bits of its definition in
//! `math::rows`, whose type it bears.
//!
//! Slices along memory are read and written where they lie; others are gathered, as many
//! neighbours at a time as share a cache line, so that it is read once: blocks are turned where the slices lie
//! side by side. Gathered slices begin an odd number of cache lines apart, because at a power of
//! two all of them fall into the same few places of a cache.

use super::chunk::Chunk;
use super::slices::Run;
use super::{Centred, Largest, Step, Sum};
use crate::copy::Square;
use crate::elementwise::gather;
use crate::level::Task;
use crate::operand::{Operand, Walk};
use crate::scratch::with_right;
use crate::share::Cells;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::fold::{CHUNK, combine_chunks};
use rung_math::rows::{
    LayerNorm, LayerNormAffine, LayerNormGradient, LogSoftmax, LogSoftmaxGradient, LogSumExp,
    MaskedSoftmax, Rowwise, Softmax, SoftmaxGradient,
};
use rung_math::{Exp, Log, Real, Unary};
use smallvec::SmallVec;
use std::marker::PhantomData;
use std::ops::Range;

/// A definition with its fused kernel.
pub trait RowKernel<const K: usize>: Rowwise<K> {
    /// x (n) each, out (n) or one number, room for n numbers; none of them overlap.
    #[doc(hidden)]
    #[allow(clippy::missing_safety_doc)] // the addresses cover n elements
    unsafe fn kernel<S: Simd, T: Float>(
        x: [*const T; K],
        n: usize,
        numbers: &[f64],
        out: *mut T,
        room: *mut T,
    );
}

/// The most slices gathered together, a cache line of the narrowest, and the most elements of one
/// operand that are.
const BESIDE: usize = 16;
const GATHERED: usize = 1 << 16;

/// Elements of the slices that are turned together: the lines they lie in stay in L1.
const TURNED: usize = 16;

/// out = F of each slice along `axis`, row-major; `shape` without the axis where F gives one
/// number for a slice.
///
/// # Panics
/// When slices are empty, extents do not fit, or an operand leaves its slice.
pub fn rows<F: RowKernel<K>, T: Float, const K: usize>(
    lanes: &Lanes,
    shape: &[usize],
    operands: [Operand<T>; K],
    axis: usize,
    numbers: &[f64],
    out: &mut [T],
) {
    let n = shape[axis];
    let slices: usize =
        shape.iter().enumerate().map(|(i, e)| if i == axis { 1 } else { *e }).product();
    assert!(slices == 0 || n > 0, "an empty slice has no extreme");
    assert_eq!(
        out.len(),
        if F::ONE { slices } else { slices * n },
        "cells of a function of slices"
    );
    if slices == 0 {
        return;
    }
    let kept: SmallVec<[usize; 4]> = without(shape, axis);
    let own = row_major(shape);
    let plan = Plan::<F, T, K> {
        starts: operands.map(|operand| operand.start(shape)),
        walks: operands.map(|operand| Walk::new(&kept, [&without(operand.strides, axis)])),
        steps: operands.map(|operand| operand.strides[axis]),
        n,
        numbers,
        out: Cells::new(out),
        out_walk: Walk::new(&kept, [&without(&own, axis)]),
        out_step: own[axis],
        function: PhantomData,
    };
    let room = plan.room();
    let pieces = lanes.pieces(Work::Elementary, slices * n);
    let share = slices.div_ceil(pieces).next_multiple_of(plan.block());
    lanes.workers().run(slices.div_ceil(share), &|piece| {
        let slices = piece * share..slices.min((piece + 1) * share);
        with_right(|scratch| {
            let room = scratch.room(room);
            lanes.level().run(Piece { plan: &plan, slices, room });
        });
    });
}

fn without<E: Copy>(all: &[E], axis: usize) -> SmallVec<[E; 4]>
where
    [E; 4]: smallvec::Array<Item = E>,
{
    all.iter().enumerate().filter(|(i, _)| *i != axis).map(|(_, e)| *e).collect()
}

fn row_major(shape: &[usize]) -> SmallVec<[isize; 4]> {
    let mut strides: SmallVec<[isize; 4]> = SmallVec::from_elem(1, shape.len());
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

/// One call, shared by its pieces.
struct Plan<'a, F, T, const K: usize> {
    starts: [*const T; K],
    walks: [Walk<1>; K],
    steps: [isize; K],
    n: usize,
    numbers: &'a [f64],
    out: Cells<T>,
    out_walk: Walk<1>,
    out_step: isize,
    function: PhantomData<F>,
}

// SAFETY: the operands are shared slices; pieces write disjoint results.
unsafe impl<F, T: Send + Sync, const K: usize> Sync for Plan<'_, F, T, K> {}

/// A range of slices, with room for what is gathered.
struct Piece<'a, F, T, const K: usize> {
    plan: &'a Plan<'a, F, T, K>,
    slices: Range<usize>,
    room: *mut T,
}

impl<F: RowKernel<K>, T: Float, const K: usize> Task for Piece<'_, F, T, K> {
    type Output = ();

    /// The kernel stands in no closure: in one it would be compiled without the level's
    /// instructions (softmax took 300 ns an element so).
    #[inline(always)]
    fn run<S: Simd>(self) {
        let (plan, n, room, pitch) = (self.plan, self.plan.n, self.room, self.plan.pitch());
        let (block, written) = (plan.block(), plan.is_written_in_place());
        let sources = room.wrapping_add(pitch);
        let made = sources.wrapping_add(plan.gathered() * pitch);
        let mut first = self.slices.start;
        while first < self.slices.end {
            let count = block.min(self.slices.end - first);
            // SAFETY: slices lie inside operands and result; the room holds what is gathered.
            unsafe {
                let mut x = [[std::ptr::null(); BESIDE]; K];
                for (k, x) in x.iter_mut().enumerate() {
                    *x = plan.sources::<S>(k, first, count, sources);
                }
                let to = plan.places(first, count);
                for (j, to) in to.iter().enumerate().take(count) {
                    let out = if written { *to } else { made.wrapping_add(j * pitch) };
                    let mut of = [std::ptr::null(); K];
                    for (of, x) in of.iter_mut().zip(&x) {
                        *of = x[j];
                    }
                    F::kernel::<S, T>(of, n, plan.numbers, out, room);
                }
                if !written {
                    plan.scatter::<S>(made, &to[..count]);
                }
            }
            first += count;
        }
    }
}

impl<F: RowKernel<K>, T, const K: usize> Plan<'_, F, T, K> {
    fn is_written_in_place(&self) -> bool {
        F::ONE || self.out_step == 1 || self.n == 1
    }

    fn is_direct(&self) -> bool {
        self.n == 1 || self.steps.iter().all(|&step| step == 1)
    }

    /// Slices worked on together.
    fn block(&self) -> usize {
        match self.is_direct() && self.is_written_in_place() {
            true => 1,
            false => (64 / size_of::<T>()).min(GATHERED / self.n).max(1),
        }
    }

    /// Slices that are gathered at a time.
    fn gathered(&self) -> usize {
        if self.is_direct() { 0 } else { self.block() * K }
    }

    /// From one slice of the room to the next: an odd number of cache lines.
    fn pitch(&self) -> usize {
        let line = 64 / size_of::<T>();
        (self.n.div_ceil(line) | 1) * line
    }

    /// Elements of the room: a slice for the kernel, gathered slices, results to be scattered.
    fn room(&self) -> usize {
        let results = if self.is_written_in_place() { 0 } else { self.block() };
        (1 + self.gathered() + results) * self.pitch()
    }
}

impl<F: RowKernel<K>, T: Float, const K: usize> Plan<'_, F, T, K> {
    /// Addresses of the contiguous elements of `count` slices of operand k.
    ///
    /// # Safety
    /// The slices exist; the room holds a block of slices for each operand.
    #[inline(always)]
    unsafe fn sources<S: Simd>(
        &self,
        k: usize,
        first: usize,
        count: usize,
        room: *mut T,
    ) -> [*const T; BESIDE] {
        let mut at = [std::ptr::null(); BESIDE];
        let mut cursor = self.walks[k].at(first);
        for at in at.iter_mut().take(count) {
            *at = self.starts[k].wrapping_offset(cursor.offsets[0]);
            cursor.advance(1);
        }
        if self.steps[k] == 1 || self.n == 1 {
            return at;
        }
        let (pitch, step) = (self.pitch(), self.steps[k]);
        let room = room.wrapping_add(k * self.block() * pitch);
        let beside = lie_beside(at.iter().take(count).copied());
        for i in (0..self.n).step_by(TURNED) {
            let (to, columns) = (room.wrapping_add(i), TURNED.min(self.n - i));
            let along = i as isize * step;
            if beside {
                let from = at[0].wrapping_offset(along);
                Square { from, step, to, row_out: pitch, rows: count, columns }.run::<S>();
                continue;
            }
            for (j, at) in at.iter().enumerate().take(count) {
                let (from, to) = (at.wrapping_offset(along), to.wrapping_add(j * pitch));
                // SAFETY: the caller's promise.
                unsafe { gather(from, step, columns, to) };
            }
        }
        std::array::from_fn(|j| room.wrapping_add(j * pitch).cast_const())
    }

    /// Writes results that were made contiguously to where they belong.
    ///
    /// # Safety
    /// The slices made are as many as the places, which have room for them.
    #[inline(always)]
    unsafe fn scatter<S: Simd>(&self, made: *const T, to: &[*mut T]) {
        let (pitch, step) = (self.pitch(), self.out_step);
        if lie_beside(to.iter().map(|to| to.cast_const())) {
            let (from, rows, columns, row_out) = (made, self.n, to.len(), step as usize);
            return Square { from, step: pitch as isize, to: to[0], row_out, rows, columns }
                .run::<S>();
        }
        for (j, to) in to.iter().enumerate() {
            for i in 0..self.n {
                // SAFETY: the caller's promise.
                unsafe { *to.wrapping_offset(i as isize * step) = *made.add(j * pitch + i) };
            }
        }
    }

    /// Where the results of `count` slices begin.
    fn places(&self, first: usize, count: usize) -> [*mut T; BESIDE] {
        let mut at = [std::ptr::null_mut(); BESIDE];
        if F::ONE {
            return std::array::from_fn(|j| self.out.at(first + j));
        }
        let mut cursor = self.out_walk.at(first);
        for at in at.iter_mut().take(count) {
            *at = self.out.at(0).wrapping_offset(cursor.offsets[0]);
            cursor.advance(1);
        }
        at
    }
}

/// Whether addresses are those of neighbours.
fn lie_beside<T>(mut at: impl Iterator<Item = *const T>) -> bool {
    let first = at.next().unwrap_or(std::ptr::null());
    at.enumerate().all(|(j, one)| one == first.wrapping_add(j + 1))
}

/// A function of `K` numbers and up to four that are the same for a slice.
trait Each<const K: usize> {
    fn at<V: Real>(x: [V; K], c: [V; 4]) -> V;
}

macro_rules! each {
    ($name:ident, $k:literal, |$x:ident, $c:ident| $body:expr) => {
        struct $name;
        impl Each<$k> for $name {
            #[inline(always)]
            fn at<V: Real>($x: [V; $k], $c: [V; 4]) -> V {
                $body
            }
        }
    };
}
each!(ExpLess, 1, |x, c| Exp::at(x[0] - c[0]));
each!(Over, 1, |x, c| x[0] / c[0]);
each!(LessTwice, 1, |x, c| (x[0] - c[0]) - c[1]);
each!(Times, 2, |x, _c| x[1] * x[0]);
each!(TimesLess, 2, |x, c| x[0] * (x[1] - c[0]));
each!(LessExpTimes, 2, |x, c| x[1] - Exp::at(x[0]) * c[0]);
each!(Masked, 2, |x, c| V::select(x[1].equal(V::constant(0.0)), x[0] / c[0], c[1]));
each!(Standard, 1, |x, c| (x[0] - c[0]) / c[1]);
each!(StandardAffine, 3, |x, c| ((x[0] - c[0]) / c[1]) * x[1] + x[2]);
each!(TimesStandard, 2, |x, c| x[1] * ((x[0] - c[0]) / c[1]));
each!(StandardBack, 2, |x, c| ((x[1] - c[2]) - ((x[0] - c[0]) / c[1]) * c[3]) / c[1]);

/// out = F(x, c), n numbers; out may be one of x.
///
/// # Safety
/// The addresses cover n numbers.
#[inline(always)]
unsafe fn sweep<F: Each<K>, S: Simd, T: Float, const K: usize>(
    x: [*const T; K],
    c: &[T],
    n: usize,
    out: *mut T,
) {
    let lanes = T::Vector::<S>::LANES;
    let mut constants = [T::Vector::<S>::splat(T::default()); 4];
    for (vector, c) in constants.iter_mut().zip(c) {
        *vector = T::Vector::<S>::splat(*c);
    }
    let mut vectors = [constants[0]; K];
    let mut i = 0;
    // SAFETY: whole vectors below n, then what is left of one.
    unsafe {
        while i + lanes <= n {
            for (vector, x) in vectors.iter_mut().zip(x) {
                *vector = T::Vector::<S>::load(x.add(i));
            }
            F::at(vectors, constants).store(out.add(i));
            i += lanes;
        }
        if i < n {
            for (vector, x) in vectors.iter_mut().zip(x) {
                *vector = T::Vector::<S>::load_part(x.add(i), n - i);
            }
            F::at(vectors, constants).store_part(out.add(i), n - i);
        }
    }
}

/// The fold of n numbers, `y` the second number of each step.
///
/// # Safety
/// `x` covers n numbers.
#[inline(always)]
unsafe fn total<F: Step, S: Simd, T: Float>(x: *const T, n: usize, y: f64) -> f64 {
    // SAFETY: the chunks lie below n.
    unsafe {
        if n <= CHUNK {
            return Chunk::<F, T, f64>::new(x, n, &y, false).run::<S>();
        }
        let mut results = Vec::with_capacity(n.div_ceil(CHUNK));
        for from in (0..n).step_by(CHUNK) {
            let chunk = Chunk::<F, T, f64>::new(x.add(from), CHUNK.min(n - from), &y, false);
            results.push(chunk.run::<S>());
        }
        combine_chunks::<F::Combine>(&results)
    }
}

/// The sum, narrowed.
#[inline(always)]
unsafe fn sum<S: Simd, T: Float>(x: *const T, n: usize) -> T {
    // SAFETY: the caller's promise.
    T::narrowed(unsafe { total::<Sum, S, T>(x, n, 0.0) })
}

/// The mean, narrowed.
#[inline(always)]
unsafe fn mean<S: Simd, T: Float>(x: *const T, n: usize) -> T {
    // SAFETY: the caller's promise.
    T::narrowed(unsafe { total::<Sum, S, T>(x, n, 0.0) } / n as f64)
}

#[inline(always)]
unsafe fn largest<S: Simd, T: Float>(x: *const T, n: usize) -> T {
    // SAFETY: the caller's promise.
    unsafe { Run::<Largest, T>::at(x, n).run::<S>() }
}

/// out = exp(x - amax x); gives amax and the sum of out.
#[inline(always)]
unsafe fn exponentials<S: Simd, T: Float>(x: *const T, n: usize, out: *mut T) -> (T, T) {
    // SAFETY: the caller's promise.
    unsafe {
        let m = largest::<S, T>(x, n);
        sweep::<ExpLess, S, T, 1>([x], &[m], n, out);
        (m, sum::<S, T>(out, n))
    }
}

/// Mean and sqrt(variance + eps), both stored; the variance's own mean is not narrowed.
#[inline(always)]
unsafe fn centre_and_spread<S: Simd, T: Float>(x: *const T, n: usize, eps: f64) -> [T; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        let mean = total::<Sum, S, T>(x, n, 0.0) / n as f64;
        let variance = T::narrowed(total::<Centred, S, T>(x, n, mean) / n as f64);
        [T::narrowed(mean), Real::sqrt(variance + T::narrowed(eps))]
    }
}

macro_rules! kernel {
    ($name:ty, $k:literal,
     |$x:ident, $n:ident, $numbers:ident, $out:ident, $room:ident| $body:expr) => {
        impl RowKernel<$k> for $name {
            #[inline(always)]
            unsafe fn kernel<S: Simd, T: Float>(
                $x: [*const T; $k],
                $n: usize,
                $numbers: &[f64],
                $out: *mut T,
                $room: *mut T,
            ) {
                // SAFETY: the caller says that the addresses cover n numbers.
                unsafe { $body }
            }
        }
    };
}
kernel!(Softmax, 1, |x, n, _numbers, out, _room| {
    let (_, s) = exponentials::<S, T>(x[0], n, out);
    sweep::<Over, S, T, 1>([out], &[s], n, out);
});
kernel!(LogSoftmax, 1, |x, n, _numbers, out, _room| {
    let (m, s) = exponentials::<S, T>(x[0], n, out);
    sweep::<LessTwice, S, T, 1>(x, &[m, Log::at(s)], n, out);
});
kernel!(LogSumExp, 1, |x, n, _numbers, out, room| {
    let (m, s) = exponentials::<S, T>(x[0], n, room);
    let infinite = m.wide().is_infinite();
    *out = if infinite { m } else { m + Log::at(s) };
});
kernel!(SoftmaxGradient, 2, |x, n, _numbers, out, _room| {
    sweep::<Times, S, T, 2>(x, &[], n, out);
    let s = sum::<S, T>(out, n);
    sweep::<TimesLess, S, T, 2>(x, &[s], n, out);
});
kernel!(LogSoftmaxGradient, 2, |x, n, _numbers, out, _room| {
    let s = sum::<S, T>(x[1], n);
    sweep::<LessExpTimes, S, T, 2>(x, &[s], n, out);
});
kernel!(MaskedSoftmax, 2, |x, n, numbers, out, _room| {
    let [divisor, fill] = [T::narrowed(numbers[0]), T::narrowed(numbers[1])];
    sweep::<Masked, S, T, 2>(x, &[divisor, fill], n, out);
    let (_, s) = exponentials::<S, T>(out, n, out);
    sweep::<Over, S, T, 1>([out], &[s], n, out);
});
kernel!(LayerNorm, 1, |x, n, numbers, out, _room| {
    let of = centre_and_spread::<S, T>(x[0], n, numbers[0]);
    sweep::<Standard, S, T, 1>(x, &of, n, out);
});
kernel!(LayerNormAffine, 3, |x, n, numbers, out, _room| {
    let of = centre_and_spread::<S, T>(x[0], n, numbers[0]);
    sweep::<StandardAffine, S, T, 3>(x, &of, n, out);
});
kernel!(LayerNormGradient, 2, |x, n, numbers, out, _room| {
    let [mu, s] = centre_and_spread::<S, T>(x[0], n, numbers[0]);
    sweep::<TimesStandard, S, T, 2>(x, &[mu, s], n, out);
    let (first, second) = (mean::<S, T>(x[1], n), mean::<S, T>(out, n));
    sweep::<StandardBack, S, T, 2>(x, &[mu, s, first, second], n, out);
});
