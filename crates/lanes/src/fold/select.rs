//! Folds that pick an element: amax, amin, argmax, argmin. The rules of `math` make maximum and
//! minimum independent of the order, so these need no fixed order, only the same rules.
//!
//! Largest and smallest propagate NaN and put -0.0 below +0.0. Positions are those of the first
//! NaN or, without one, of the first element that compares equal to the extreme one.

use super::{Part, in_place_or_gathered, split};
use crate::level::Task;
use crate::operand::{Operand, Walk};
use crate::scratch::with_left;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::{Binary, Maximum, Minimum};
use std::marker::PhantomData;
use std::ops::Range;

/// Which element is picked.
pub trait Choice: Copy + Send + Sync + 'static {
    /// The definition for two numbers.
    type Of: Binary;
    /// What every number is picked before.
    const IDENTITY: f64;
}

/// The largest element.
#[derive(Clone, Copy, Debug)]
pub struct Largest;
impl Choice for Largest {
    type Of = Maximum;
    const IDENTITY: f64 = f64::NEG_INFINITY;
}

/// The smallest element.
#[derive(Clone, Copy, Debug)]
pub struct Smallest;
impl Choice for Smallest {
    type Of = Minimum;
    const IDENTITY: f64 = f64::INFINITY;
}

/// Elements looked at together before the position inside them is searched.
const BLOCK: usize = 4096;

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
    job.run(lanes, &|slices| {
        if job.beside() {
            job.columns::<C>(lanes, slices);
        } else {
            for slice in slices {
                let value = job.slice::<C>(lanes, slice);
                // SAFETY: this piece owns the slice's result.
                unsafe { *job.out.add(slice) = value };
            }
        }
    });
}

/// The position, in its slice, of the element that `extreme` would pick.
///
/// # Panics
/// As `extreme`.
pub fn position<C: Choice, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    axes: &[usize],
    out: &mut [usize],
) {
    let job = Job::new(shape, x, axes, out);
    job.run(lanes, &|slices| {
        for slice in slices {
            let at = job.search::<C>(lanes, slice);
            // SAFETY: this piece owns the slice's result.
            unsafe { *job.out.add(slice) = at };
        }
    });
}

/// The slices of one call.
struct Job<T, U> {
    start: *const T,
    kept: Walk<1>,
    folded: Walk<1>,
    slices: usize,
    length: usize,
    out: *mut U,
}

// SAFETY: the operand is a shared slice; pieces write disjoint results.
unsafe impl<T: Sync, U: Send> Sync for Job<T, U> {}

impl<T: Float, U: Send> Job<T, U> {
    fn new(shape: &[usize], x: Operand<T>, axes: &[usize], out: &mut [U]) -> Job<T, U> {
        let start = x.start(shape);
        let (kept, folded): (Part, Part) = split(shape, x.strides, axes);
        let (slices, length) = (kept.size(), folded.size());
        assert_eq!(slices, out.len(), "cells of a fold");
        assert!(slices == 0 || length > 0, "an empty slice has no extreme");
        let out = out.as_mut_ptr();
        Job { start, kept: kept.walk(), folded: folded.walk(), slices, length, out }
    }

    fn run(&self, lanes: &Lanes, body: &(dyn Fn(Range<usize>) + Sync)) {
        let pieces = lanes.pieces(Work::Fold, self.slices * self.length);
        let share = self.slices.div_ceil(pieces).max(1).next_multiple_of(16);
        lanes.workers().run(self.slices.div_ceil(share), &|piece| {
            body(piece * share..self.slices.min((piece + 1) * share));
        });
    }

    /// Whether neighbouring slices are neighbours in memory and slices are not contiguous.
    fn beside(&self) -> bool {
        let one_run = self.folded.at(0).left() == self.length;
        one_run && self.folded.steps()[0] != 1 && self.kept.steps()[0] == 1
    }

    /// Calls `body` with the address and length of every block of a slice.
    fn blocks(&self, slice: usize, mut body: impl FnMut(*const T, usize, usize)) {
        let start = self.start.wrapping_offset(self.kept.at(slice).offsets[0]);
        with_left(|scratch| {
            let room = scratch.room(BLOCK);
            for from in (0..self.length).step_by(BLOCK) {
                let count = BLOCK.min(self.length - from);
                // SAFETY: the walk stays inside the operand; the room holds a block.
                let x = unsafe { in_place_or_gathered(start, &self.folded, from, count, room) };
                body(x, from, count);
            }
        });
    }

    fn slice<C: Choice>(&self, lanes: &Lanes, slice: usize) -> T {
        let mut best = T::narrowed(C::IDENTITY);
        self.blocks(slice, |x, _, count| {
            let block = lanes.level().run(Run::<C, T> { x, count, choice: PhantomData });
            best = C::Of::at(best, block);
        });
        best
    }

    /// Finds the block that holds the extreme first, then the place in it.
    fn search<C: Choice>(&self, lanes: &Lanes, slice: usize) -> usize {
        let mut best: Option<(T, usize)> = None;
        self.blocks(slice, |x, from, count| {
            if best.is_some_and(|(value, _)| value.wide().is_nan()) {
                return;
            }
            let block = lanes.level().run(Run::<C, T> { x, count, choice: PhantomData });
            let wins = best.is_none_or(|(value, _)| {
                block.wide().is_nan() || wins::<C>(block.wide(), value.wide())
            });
            if wins {
                // SAFETY: `count` elements are readable, here or gathered.
                let elements = unsafe { std::slice::from_raw_parts(x, count) };
                let here = |e: &T| e.wide() == block.wide() || e.wide().is_nan();
                let place = elements.iter().position(here).unwrap_or(0);
                best = Some((block, from + place));
            }
        });
        best.map_or(0, |(_, place)| place)
    }
}

/// Strictly picked before; equal zeros are a tie.
fn wins<C: Choice>(new: f64, old: f64) -> bool {
    if C::IDENTITY < 0.0 { new > old } else { new < old }
}

impl<T: Float> Job<T, T> {
    fn columns<C: Choice>(&self, lanes: &Lanes, slices: Range<usize>) {
        let mut cursor = self.kept.at(slices.start);
        let mut slice = slices.start;
        while slice < slices.end {
            let count = cursor.left().min(slices.end - slice);
            let task = Beside::<C, T> {
                x: self.start.wrapping_offset(cursor.offsets[0]),
                row_step: self.folded.steps()[0],
                rows: self.length,
                columns: count,
                out: self.out.wrapping_add(slice),
                choice: PhantomData,
            };
            lanes.level().run(task);
            cursor.advance(count);
            slice += count;
        }
    }
}

/// The extreme of a contiguous run.
struct Run<C, T> {
    x: *const T,
    count: usize,
    choice: PhantomData<C>,
}

impl<C: Choice, T: Float> Task for Run<C, T> {
    type Output = T;

    #[inline(always)]
    fn run<S: Simd>(self) -> T {
        let lanes = T::Vector::<S>::LANES;
        let mut best = [T::Vector::<S>::splat(T::narrowed(C::IDENTITY)); 4];
        let mut i = 0;
        while i + 4 * lanes <= self.count {
            for (j, best) in best.iter_mut().enumerate() {
                // SAFETY: four vectors are left.
                let x = unsafe { T::Vector::<S>::load(self.x.add(i + j * lanes)) };
                *best = C::Of::at(*best, x);
            }
            i += 4 * lanes;
        }
        let [a, b, c, d] = best;
        let all = C::Of::at(C::Of::at(a, b), C::Of::at(c, d));
        let mut last = [T::narrowed(C::IDENTITY); 16];
        // SAFETY: the widest vector has 16 lanes.
        unsafe { all.store(last.as_mut_ptr()) };
        let mut value = T::narrowed(C::IDENTITY);
        for lane in last.into_iter().take(lanes) {
            value = C::Of::at(value, lane);
        }
        for i in i..self.count {
            // SAFETY: below `count`.
            value = C::Of::at(value, unsafe { *self.x.add(i) });
        }
        value
    }
}

/// The extremes of slices that lie side by side, a few vectors of columns at a time.
struct Beside<C, T> {
    x: *const T,
    row_step: isize,
    rows: usize,
    columns: usize,
    out: *mut T,
    choice: PhantomData<C>,
}

impl<C: Choice, T: Float> Beside<C, T> {
    /// `N` whole vectors of columns, or one partial vector when `part` is below a vector.
    #[inline(always)]
    unsafe fn group<S: Simd, const N: usize>(&self, column: usize, part: usize) {
        let lanes = T::Vector::<S>::LANES;
        let mut best = [T::Vector::<S>::splat(T::narrowed(C::IDENTITY)); N];
        for row in 0..self.rows {
            let x = self.x.wrapping_offset(row as isize * self.row_step).wrapping_add(column);
            for (j, best) in best.iter_mut().enumerate() {
                // SAFETY: the caller says that the columns are there.
                let x = unsafe {
                    if part < lanes {
                        T::Vector::<S>::load_part(x, part)
                    } else {
                        T::Vector::<S>::load(x.add(j * lanes))
                    }
                };
                *best = C::Of::at(*best, x);
            }
        }
        for (j, best) in best.into_iter().enumerate() {
            let to = self.out.wrapping_add(column + j * lanes);
            // SAFETY: as above; lanes past `part` are not stored.
            unsafe { best.store_part(to, part.min(lanes)) };
        }
    }
}

impl<C: Choice, T: Float> Task for Beside<C, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let lanes = T::Vector::<S>::LANES;
        let mut column = 0;
        while column < self.columns {
            let left = self.columns - column;
            // SAFETY: the groups stay below `columns`.
            unsafe {
                if left >= 4 * lanes {
                    self.group::<S, 4>(column, lanes);
                    column += 4 * lanes;
                } else {
                    self.group::<S, 1>(column, left.min(lanes));
                    column += lanes;
                }
            }
        }
    }
}
