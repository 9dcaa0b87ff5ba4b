//! Folds in f64 with the exact order of `math::fold`: sums, products, sums of squares and dots,
//! over the whole of an operand or over some of its axes. Matrices times vectors are in `matvec`.
//!
//! The order depends on a slice's length alone, so a slice may be read along memory
//! (`chunk`), beside its neighbours as columns (`column`), or gathered first; threads take slices
//! or chunks. Results are f64 and not narrowed. Maxima and minima are in `select`, their places in
//! `position`, folds of integers in `integer`, functions of whole slices such as softmax in `rows`.

pub(crate) mod chunk;
mod column;
mod integer;
mod position;
mod rows;
mod select;
mod slices;

use crate::operand::{Operand, Walk};
use crate::scratch::with_left;
use crate::share::Cells;
use crate::vector::{Float, Vector};
use crate::{Lanes, Work};
use chunk::{Chunk, Rows};
use column::Columns;
pub use integer::{Integer, IntegerStep, integer_position, integers};
pub use position::position;
pub use rows::{RowKernel, rows};
use rung_math::fold::{Adding, CHUNK, Combine, Multiplying, combine_chunks};
pub use select::{Choice, Largest, LargestPresent, Smallest, SmallestPresent, extreme};
use smallvec::SmallVec;

/// How one element enters a partial result, and how partial results are joined.
pub trait Step: Copy + Send + Sync + 'static {
    /// The definition's way to combine, with its identity.
    type Combine: Combine;
    /// The partial with `x` taken in; `y` is the second number, where there is one.
    #[doc(hidden)]
    fn take<V: Vector>(partial: V, x: V, y: V) -> V;
    /// Two partials, the one of lower index first.
    #[doc(hidden)]
    fn join<V: Vector>(low: V, high: V) -> V;
}

macro_rules! step {
    ($(#[$doc:meta])* $name:ident, $combine:ty, |$p:ident, $x:ident, $y:ident| $take:expr,
     |$low:ident, $high:ident| $join:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name;
        impl Step for $name {
            type Combine = $combine;
            #[inline(always)]
            fn take<V: Vector>($p: V, $x: V, $y: V) -> V {
                $take
            }
            #[inline(always)]
            fn join<V: Vector>($low: V, $high: V) -> V {
                $join
            }
        }
    };
}
step!(
    /// partial + x: sum, mean.
    Sum, Adding, |p, x, _y| p + x, |low, high| low + high);
step!(
    /// partial * x: prod.
    Product, Multiplying, |p, x, _y| p * x, |low, high| low * high);
step!(
    /// fma(x, x, partial): norm.
    Squares, Adding, |p, x, _y| x.fused(x, p), |low, high| low + high);
step!(
    /// fma(x, y, partial): dot, matrix-vector product.
    Dot, Adding, |p, x, y| x.fused(y, p), |low, high| low + high);
step!(
    /// fma(d, d, partial) with d = x - y: var, where y is the slice's mean.
    Centred, Adding, |p, x, y| (x - y).fused(x - y, p), |low, high| low + high);

step!(
    /// partial + |x|: the 1-norm.
    Magnitudes, Adding, |p, x, _y| p + x.abs(), |low, high| low + high);
step!(
    /// partial + x where x is a number: nansum.
    SumPresent, Adding, |p, x, _y| p + present(x, x, 0.0), |low, high| low + high);
step!(
    /// partial * x where x is a number: nanprod.
    ProductPresent, Multiplying, |p, x, _y| p * present(x, x, 1.0), |low, high| low * high);
step!(
    /// `Centred` where x is a number: nanvar.
    CentredPresent, Adding, |p, x, y| {
        let distance = present(x, x - y, 0.0);
        distance.fused(distance, p)
    }, |low, high| low + high);
step!(
    /// How many are numbers; exact to 2^53.
    Present, Adding, |p, x, _y| p + present(x, V::constant(1.0), 0.0), |low, high| low + high);
step!(
    /// How many are not zero (NaN is not); exact to 2^53.
    Nonzero, Adding, |p, x, _y| {
        p + V::select(x.equal(V::constant(0.0)), V::constant(0.0), V::constant(1.0))
    }, |low, high| low + high);

/// `value` where x is a number, else `absent`.
#[inline(always)]
fn present<V: Vector>(x: V, value: V, absent: f64) -> V {
    V::select(x.is_nan(), V::constant(absent), value)
}

/// Where the second number of a step comes from.
#[derive(Clone, Copy, Debug)]
pub enum Second<'a> {
    /// The step has none.
    None,
    /// One for each slice, in the order of the results.
    PerSlice(&'a [f64]),
    /// One for each element of a slice, the same for all slices.
    PerElement(&'a [f64]),
}

/// Columns folded side by side: 64 partials of 32 f64 are 16 KiB, half of L1.
const WIDTH: usize = 32;

/// The fold of all elements in row-major order.
///
/// # Panics
/// When the operand leaves its slice.
pub fn whole<F: Step, T: Float>(lanes: &Lanes, shape: &[usize], x: Operand<T>) -> f64 {
    let axes: SmallVec<[usize; 4]> = (0..shape.len()).collect();
    let mut out = [0.0];
    axes_of::<F, T>(lanes, shape, x, &axes, Second::None, &mut out);
    out[0]
}

/// The fold over `axes` (ascending, none twice), the elements of a slice in row-major order; out
/// has the remaining axes, row-major.
///
/// # Panics
/// When extents do not fit each other or the operand leaves its slice.
pub fn axes_of<F: Step, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    axes: &[usize],
    second: Second,
    out: &mut [f64],
) {
    let start = x.start(shape);
    let (kept, folded) = split(shape, x.strides, axes);
    let (slices, length) = (kept.size(), folded.size());
    assert_eq!(slices, out.len(), "cells of a fold");
    match second {
        Second::None => {}
        Second::PerSlice(y) => assert_eq!(y.len(), slices, "one second number a slice"),
        Second::PerElement(y) => assert_eq!(y.len(), length, "one second number an element"),
    }
    if slices == 0 {
        return;
    }
    if length == 0 {
        return out.fill(F::Combine::IDENTITY);
    }
    let job = Job::<T> {
        start,
        kept: kept.walk(),
        folded: folded.walk(),
        length,
        second,
        out: out.as_mut_ptr(),
    };
    job.run::<F>(lanes, slices);
}

/// The dot product of two operands of one shape, elements in row-major order; widths may differ.
///
/// # Panics
/// When an operand leaves its slice.
pub fn dot<T: Float, U: Float>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    y: Operand<U>,
) -> f64 {
    let starts = (Address(x.start(shape)), Address(y.start(shape)));
    let length: usize = shape.iter().product();
    let (first, second) = (Walk::new(shape, [x.strides]), Walk::new(shape, [y.strides]));
    let chunks = length.div_ceil(CHUNK);
    let mut results = vec![0.0; chunks];
    let cells = Cells::new(&mut results);
    each_chunk(lanes, length, &|chunk| {
        let (from, count) = (chunk * CHUNK, CHUNK.min(length - chunk * CHUNK));
        let (x, y) = (starts.0, starts.1);
        with_left(|scratch| {
            // Room for a gathered block of either operand.
            let room = scratch.room::<f64>(2 * CHUNK);
            // SAFETY: the walks stay inside the operands, and the room holds both blocks.
            unsafe {
                let y = in_place_or_gathered(y.0, &second, from, count, room.cast());
                let x = in_place_or_gathered(x.0, &first, from, count, room.add(CHUNK).cast());
                let task = Chunk::<Dot, T, U>::new(x, count, y, true);
                *cells.at(chunk) = lanes.level().run(task);
            }
        });
    });
    combine_chunks::<Adding>(&results)
}

/// Some of an operand's axes.
struct Part {
    shape: SmallVec<[usize; 4]>,
    strides: SmallVec<[isize; 4]>,
}

impl Part {
    fn size(&self) -> usize {
        self.shape.iter().product()
    }

    fn walk(&self) -> Walk<1> {
        Walk::new(&self.shape, [&self.strides])
    }
}

/// The kept axes and the folded ones.
fn split(shape: &[usize], strides: &[isize], axes: &[usize]) -> (Part, Part) {
    assert!(axes.is_sorted() && axes.iter().all(|axis| *axis < shape.len()), "axes of a fold");
    let part = |folded: bool| {
        let chosen = || (0..shape.len()).filter(move |axis| axes.contains(axis) == folded);
        Part {
            shape: chosen().map(|axis| shape[axis]).collect(),
            strides: chosen().map(|axis| strides[axis]).collect(),
        }
    };
    (part(false), part(true))
}

/// A read-only address that pieces share.
#[derive(Clone, Copy)]
struct Address<T>(*const T);

// SAFETY: points into a shared slice that outlives the region.
unsafe impl<T: Sync> Send for Address<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Address<T> {}

/// Runs `body` for every chunk of `length` elements, threaded.
fn each_chunk(lanes: &Lanes, length: usize, body: &(dyn Fn(usize) + Sync)) {
    let chunks = length.div_ceil(CHUNK);
    let pieces = lanes.pieces(Work::Fold, length).min(chunks.max(1));
    let share = chunks.div_ceil(pieces).max(1);
    lanes.workers().run(chunks.div_ceil(share), &|piece| {
        (piece * share..chunks.min((piece + 1) * share)).for_each(body);
    });
}

/// Copies `count` elements of a walk from position `from` on, each through `convert`.
///
/// # Safety
/// The walk stays inside the operand at `start`; `to` has room.
unsafe fn gather_as<T: Copy, U>(
    start: *const T,
    walk: &Walk<1>,
    from: usize,
    count: usize,
    to: *mut U,
    convert: impl Fn(T) -> U,
) {
    let (mut cursor, step) = (walk.at(from), walk.steps()[0]);
    let mut done = 0;
    while done < count {
        let run = cursor.left().min(count - done);
        let from = start.wrapping_offset(cursor.offsets[0]);
        for i in 0..run {
            // SAFETY: the caller's promise.
            unsafe { *to.add(done + i) = convert(*from.wrapping_offset(i as isize * step)) };
        }
        done += run;
        cursor.advance(run);
    }
}

/// The address of elements that lie one after another: in the operand, or gathered into `room`.
///
/// # Safety
/// As `gather_as`.
pub(crate) unsafe fn in_place_or_gathered<T: Copy>(
    start: *const T,
    walk: &Walk<1>,
    from: usize,
    count: usize,
    room: *mut T,
) -> *const T {
    let cursor = walk.at(from);
    if walk.steps()[0] == 1 && cursor.left() >= count {
        return start.wrapping_offset(cursor.offsets[0]);
    }
    // SAFETY: the caller's promise.
    unsafe { gather_as(start, walk, from, count, room, |x| x) };
    room
}

/// One axis fold, with its slices still to be shared out.
struct Job<'a, T> {
    start: *const T,
    kept: Walk<1>,
    folded: Walk<1>,
    length: usize,
    second: Second<'a>,
    out: *mut f64,
}

// SAFETY: the operand is a shared slice; pieces write disjoint results.
unsafe impl<T: Sync> Sync for Job<'_, T> {}

impl<T: Float> Job<'_, T> {
    fn run<F: Step>(self, lanes: &Lanes, slices: usize) {
        let pieces = lanes.pieces(Work::Fold, slices * self.length);
        if slices < pieces && self.length > CHUNK {
            for slice in 0..slices {
                self.long_slice::<F>(lanes, slice);
            }
            return;
        }
        let beside = self.columns_lie_beside(slices);
        let unit = if beside { WIDTH } else { 1 };
        let share = slices.div_ceil(pieces).next_multiple_of(unit);
        lanes.workers().run(slices.div_ceil(share), &|piece| {
            let range = piece * share..slices.min((piece + 1) * share);
            if beside {
                self.columns::<F>(lanes, range);
            } else if self.along_memory() && self.length <= CHUNK {
                self.rows::<F>(lanes, range);
            } else {
                range.for_each(|slice| self.slice::<F>(lanes, slice));
            }
        });
    }

    /// Whether each slice lies along memory.
    fn along_memory(&self) -> bool {
        self.folded.steps()[0] == 1 && self.folded.at(0).left() == self.length
    }

    /// Whether neighbouring slices are neighbours in memory and slices are not contiguous.
    fn columns_lie_beside(&self, slices: usize) -> bool {
        let one_run = self.folded.at(0).left() == self.length;
        let beside = self.kept.steps()[0] == 1 && self.kept.at(0).left().min(slices) >= 4;
        one_run && beside && !self.along_memory()
    }

    /// Slices of one chunk that lie along memory, a run of them at a time.
    fn rows<F: Step>(&self, lanes: &Lanes, slices: std::ops::Range<usize>) {
        let mut cursor = self.kept.at(slices.start);
        let mut slice = slices.start;
        while slice < slices.end {
            let rows = cursor.left().min(slices.end - slice);
            let (second, each) = self.second_of(slice, 0);
            let x = self.start.wrapping_offset(cursor.offsets[0]);
            // SAFETY: the slices lie inside the operand.
            let first = unsafe { Chunk::new(x, self.length, second, each) };
            let out = self.out.wrapping_add(slice);
            lanes.level().run(Rows::<F, T> { first, row_step: self.kept.steps()[0], rows, out });
            cursor.advance(rows);
            slice += rows;
        }
    }

    /// The second numbers for a slice from element `from` on, and whether there is one for each.
    fn second_of(&self, slice: usize, from: usize) -> (*const f64, bool) {
        match self.second {
            Second::None => (std::ptr::null(), false),
            Second::PerSlice(y) => (y[slice..].as_ptr(), false),
            Second::PerElement(y) => (y[from..].as_ptr(), true),
        }
    }

    /// One slice on this thread.
    fn slice<F: Step>(&self, lanes: &Lanes, slice: usize) {
        let chunks = self.length.div_ceil(CHUNK);
        let result = if chunks == 1 {
            self.chunk::<F>(lanes, slice, 0)
        } else {
            let results: Vec<f64> =
                (0..chunks).map(|chunk| self.chunk::<F>(lanes, slice, chunk)).collect();
            combine_chunks::<F::Combine>(&results)
        };
        // SAFETY: this piece owns the slice's result.
        unsafe { *self.out.add(slice) = result };
    }

    /// One slice whose chunks are shared out.
    fn long_slice<F: Step>(&self, lanes: &Lanes, slice: usize) {
        let mut results = vec![0.0; self.length.div_ceil(CHUNK)];
        let cells = Cells::new(&mut results);
        each_chunk(lanes, self.length, &|chunk| {
            let result = self.chunk::<F>(lanes, slice, chunk);
            // SAFETY: this piece owns the chunk's result.
            unsafe { *cells.at(chunk) = result };
        });
        // SAFETY: no region is running.
        unsafe { *self.out.add(slice) = combine_chunks::<F::Combine>(&results) };
    }

    fn chunk<F: Step>(&self, lanes: &Lanes, slice: usize, chunk: usize) -> f64 {
        let (from, count) = (chunk * CHUNK, CHUNK.min(self.length - chunk * CHUNK));
        let start = self.start.wrapping_offset(self.kept.at(slice).offsets[0]);
        let (second, each) = self.second_of(slice, from);
        with_left(|scratch| {
            // SAFETY: the walk stays inside the operand; the room holds a chunk.
            unsafe {
                let room = scratch.room(CHUNK);
                let x = in_place_or_gathered(start, &self.folded, from, count, room);
                lanes.level().run(Chunk::<F, T, f64>::new(x, count, second, each))
            }
        })
    }

    /// Slices that lie side by side, a run of them at a time.
    fn columns<F: Step>(&self, lanes: &Lanes, slices: std::ops::Range<usize>) {
        let mut cursor = self.kept.at(slices.start);
        let mut slice = slices.start;
        while slice < slices.end {
            let count = cursor.left().min(slices.end - slice);
            self.block::<F>(lanes, slice, count, cursor.offsets[0]);
            cursor.advance(count);
            slice += count;
        }
    }

    fn block<F: Step>(&self, lanes: &Lanes, slice: usize, count: usize, offset: isize) {
        let chunks = self.length.div_ceil(CHUNK);
        let step = self.folded.steps()[0];
        let mut results = vec![0.0; if chunks > 1 { chunks * count } else { 0 }];
        for chunk in 0..chunks {
            let from = chunk * CHUNK;
            let (second, per_row, per_column) = match self.second {
                Second::None => (std::ptr::null(), 0, 0),
                Second::PerSlice(y) => (y[slice..].as_ptr(), 0, 1),
                Second::PerElement(y) => (y[from..].as_ptr(), 1, 0),
            };
            let to = if chunks == 1 {
                self.out.wrapping_add(slice)
            } else {
                results[chunk * count..].as_mut_ptr()
            };
            let task = Columns::<F, T>::new(
                self.start.wrapping_offset(offset + from as isize * step),
                step,
                CHUNK.min(self.length - from),
                count,
                (second, per_row, per_column),
                to,
            );
            lanes.level().run(task);
        }
        if chunks > 1 {
            for column in 0..count {
                let own: Vec<f64> = results.iter().skip(column).step_by(count).copied().collect();
                // SAFETY: this piece owns the results of its slices.
                unsafe { *self.out.add(slice + column) = combine_chunks::<F::Combine>(&own) };
            }
        }
    }
}
