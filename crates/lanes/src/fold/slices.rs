//! The slices of a fold that picks an element, however they lie: along memory, side by side or
//! strided; what is written of each is its element (`select`) or the place of that (`position`).

use super::select::Choice;
use super::{Part, in_place_or_gathered, split};
use crate::level::Task;
use crate::operand::{Operand, Walk};
use crate::scratch::with_left;
use crate::share::each_share;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use std::marker::PhantomData;
use std::ops::Range;

/// Elements looked at together before the position inside them is searched.
pub(super) const BLOCK: usize = 4096;

/// Vectors of columns that are looked at together, and where registers are enough for more: with
/// 256-bit ones a row of four is one pair of cache lines (1024 x 384 f32 took 46 us so, 32 with eight).
const GROUP: usize = 4;
const WIDE_GROUP: usize = 8;

/// What is written of a slice of `T`: the element that is picked, or its position.
pub(super) trait Picked<T: Float>: Copy + Send {
    /// Whether `WIDE_GROUP` vectors of columns fit the registers.
    const WIDE: bool = false;

    /// That of a contiguous run, which has elements.
    fn of_run<C: Choice, S: Simd>(run: Run<C, T>) -> Self;

    /// Writes those of `N` whole vectors of columns, or of one partial vector when `part` is below a
    /// vector.
    ///
    /// # Safety
    /// The columns are there from `column` on, each with its result.
    unsafe fn of_columns<C: Choice, S: Simd, const N: usize>(
        slices: &Beside<C, T, Self>,
        column: usize,
        part: usize,
    );
}

/// The slices of one call.
pub(super) struct Job<T, U> {
    start: *const T,
    kept: Walk<1>,
    folded: Walk<1>,
    pub(super) slices: usize,
    pub(super) length: usize,
    pub(super) out: *mut U,
}

// SAFETY: the operand is a shared slice; pieces write disjoint results.
unsafe impl<T: Sync, U: Send> Sync for Job<T, U> {}

impl<T: Copy + Sync, U: Send> Job<T, U> {
    pub(super) fn new(shape: &[usize], x: Operand<T>, axes: &[usize], out: &mut [U]) -> Job<T, U> {
        let start = x.start(shape);
        let (kept, folded): (Part, Part) = split(shape, x.strides, axes);
        let (slices, length) = (kept.size(), folded.size());
        assert_eq!(slices, out.len(), "cells of a fold");
        assert!(slices == 0 || length > 0, "an empty slice has no extreme");
        let out = out.as_mut_ptr();
        Job { start, kept: kept.walk(), folded: folded.walk(), slices, length, out }
    }

    pub(super) fn run(&self, lanes: &Lanes, body: &(dyn Fn(Range<usize>) + Sync)) {
        let pieces = lanes.pieces(Work::Fold, self.slices * self.length);
        let share = self.slices.div_ceil(pieces).max(1).next_multiple_of(16);
        lanes.workers().run(self.slices.div_ceil(share), &|piece| {
            body(piece * share..self.slices.min((piece + 1) * share));
        });
    }

    /// Whether slices are too few for all threads and long enough to be cut.
    pub(super) fn is_long(&self, lanes: &Lanes) -> bool {
        self.slices < lanes.workers().threads() && lanes.pieces(Work::Fold, self.length) > 1
    }

    /// What `each` gives for parts of a slice, in order.
    pub(super) fn shared<R: Clone + Send>(
        &self,
        lanes: &Lanes,
        nothing: R,
        each: &(dyn Fn(Range<usize>) -> R + Sync),
    ) -> Vec<R> {
        let pieces = lanes.pieces(Work::Fold, self.length);
        let share = self.length.div_ceil(pieces).next_multiple_of(BLOCK);
        let mut parts = vec![nothing; self.length.div_ceil(share)];
        each_share(lanes, &mut parts, 1, &|piece, own| {
            own[0] = each(piece * share..self.length.min((piece + 1) * share));
        });
        parts
    }

    /// Whether neighbouring slices are neighbours in memory and slices are not contiguous.
    pub(super) fn beside(&self) -> bool {
        let one_run = self.folded.at(0).left() == self.length;
        one_run && self.folded.steps()[0] != 1 && self.kept.steps()[0] == 1
    }

    /// Calls `body` with the elements of every block of a part of a slice, and with the place of
    /// the first, until it answers false.
    pub(super) fn blocks(
        &self,
        slice: usize,
        range: Range<usize>,
        mut body: impl FnMut(&[T], usize) -> bool,
    ) {
        let start = self.start.wrapping_offset(self.kept.at(slice).offsets[0]);
        with_left(|scratch| {
            let room = scratch.room(BLOCK);
            for from in range.clone().step_by(BLOCK) {
                let count = BLOCK.min(range.end - from);
                // SAFETY: the walk stays inside the operand; the room holds a block.
                let elements = unsafe {
                    let x = in_place_or_gathered(start, &self.folded, from, count, room);
                    std::slice::from_raw_parts(x, count)
                };
                if !body(elements, from) {
                    return;
                }
            }
        });
    }

    /// Calls `body` with runs of slices that lie beside each other: the address of the first
    /// one's first element, the number of the first slice, and how many they are.
    pub(super) fn runs(&self, slices: Range<usize>, mut body: impl FnMut(*const T, usize, usize)) {
        let mut cursor = self.kept.at(slices.start);
        let mut slice = slices.start;
        while slice < slices.end {
            let count = cursor.left().min(slices.end - slice);
            body(self.start.wrapping_offset(cursor.offsets[0]), slice, count);
            cursor.advance(count);
            slice += count;
        }
    }

    /// Whether each slice lies along memory.
    pub(super) fn along_memory(&self) -> bool {
        self.folded.steps()[0] == 1 && self.folded.at(0).left() == self.length
    }

    /// From one slice of a run to the next.
    pub(super) fn slice_step(&self) -> isize {
        self.kept.steps()[0]
    }

    /// From one element of a slice to the next, where `beside` holds.
    pub(super) fn row_step(&self) -> isize {
        self.folded.steps()[0]
    }
}

impl<T: Float, U: Picked<T>> Job<T, U> {
    /// Slices that lie along memory, each at most a block.
    pub(super) fn rows<C: Choice>(&self, lanes: &Lanes, slices: Range<usize>) {
        self.runs(slices, |x, slice, rows| {
            // SAFETY: the slices lie inside the operand.
            let first = unsafe { Run::at(x, self.length) };
            let out = self.out.wrapping_add(slice);
            lanes.level().run(Rows::<C, T, U> { first, row_step: self.slice_step(), rows, out });
        });
    }

    /// Slices that lie side by side.
    pub(super) fn columns<C: Choice>(&self, lanes: &Lanes, slices: Range<usize>) {
        self.runs(slices, |x, slice, columns| {
            lanes.level().run(Beside::<C, T, U> {
                x,
                row_step: self.row_step(),
                rows: self.length,
                columns,
                out: self.out.wrapping_add(slice),
                choice: PhantomData,
            });
        });
    }
}

/// A contiguous run, of which an element is picked.
#[derive(Clone, Copy)]
pub(super) struct Run<C, T> {
    pub(super) x: *const T,
    pub(super) count: usize,
    choice: PhantomData<C>,
}

impl<C, T> Run<C, T> {
    pub(super) fn of(x: &[T]) -> Run<C, T> {
        Run { x: x.as_ptr(), count: x.len(), choice: PhantomData }
    }

    /// # Safety
    /// `count` elements are readable at `x`.
    pub(super) unsafe fn at(x: *const T, count: usize) -> Run<C, T> {
        Run { x, count, choice: PhantomData }
    }
}

/// Neighbouring slices along memory, `row_step` apart, in one call.
struct Rows<C, T, U> {
    first: Run<C, T>,
    row_step: isize,
    rows: usize,
    out: *mut U,
}

impl<C: Choice, T: Float, U: Picked<T>> Task for Rows<C, T, U> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        for row in 0..self.rows {
            let x = self.first.x.wrapping_offset(row as isize * self.row_step);
            // SAFETY: the slices lie inside the operand, each with its result.
            unsafe {
                let run = Run::<C, T>::at(x, self.first.count);
                *self.out.add(row) = U::of_run::<C, S>(run);
            }
        }
    }
}

/// Slices that lie side by side, a few vectors of columns at a time.
pub(super) struct Beside<C, T, U> {
    x: *const T,
    row_step: isize,
    pub(super) rows: usize,
    columns: usize,
    pub(super) out: *mut U,
    choice: PhantomData<C>,
}

impl<C: Choice, T: Float, U> Beside<C, T, U> {
    /// A vector of columns of a row, of which `part` count.
    #[inline(always)]
    pub(super) unsafe fn vector<S: Simd>(
        &self,
        row: usize,
        column: usize,
        part: usize,
    ) -> T::Vector<S> {
        let x = self.x.wrapping_offset(row as isize * self.row_step).wrapping_add(column);
        // SAFETY: the caller says that the columns are there.
        unsafe { columns::<S, T>(x, part) }
    }
}

/// A vector of columns, of which `part` count.
///
/// # Safety
/// `part` elements are readable, or a whole vector where it is not below one.
#[inline(always)]
unsafe fn columns<S: Simd, T: Float>(x: *const T, part: usize) -> T::Vector<S> {
    // SAFETY: the caller's promise.
    unsafe {
        match part < T::Vector::<S>::LANES {
            true => T::Vector::<S>::load_part(x, part),
            false => T::Vector::<S>::load(x),
        }
    }
}

impl<C: Choice, T: Float, U: Picked<T>> Task for Beside<C, T, U> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let lanes = T::Vector::<S>::LANES;
        let mut column = 0;
        while column < self.columns {
            let left = self.columns - column;
            // SAFETY: the groups stay below `columns`.
            unsafe {
                if U::WIDE && left >= WIDE_GROUP * lanes {
                    U::of_columns::<C, S, WIDE_GROUP>(&self, column, lanes);
                    column += WIDE_GROUP * lanes;
                } else if left >= GROUP * lanes {
                    U::of_columns::<C, S, GROUP>(&self, column, lanes);
                    column += GROUP * lanes;
                } else {
                    U::of_columns::<C, S, 1>(&self, column, left.min(lanes));
                    column += lanes;
                }
            }
        }
    }
}
