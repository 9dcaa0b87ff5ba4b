//! Folds that pick an element: amax, amin, argmax, argmin. The rules of `math` make maximum and
//! minimum independent of the order, so these need no fixed order, only the same rules.
//!
//! Largest and smallest propagate NaN and put -0.0 below +0.0. Positions are those of the first
//! NaN or, without one, of the first element that compares equal to the extreme one. The `Present`
//! choices skip NaN; a slice of nothing else gives their identity.

use super::{Part, in_place_or_gathered, split};
use crate::level::Task;
use crate::operand::{Operand, Walk};
use crate::scratch::with_left;
use crate::share::each_share;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::{Binary, LargerNumber, Mask, Maximum, Minimum, Real, SmallerNumber};
use std::marker::PhantomData;
use std::ops::Range;

/// Which element is picked.
pub trait Choice: Copy + Send + Sync + 'static {
    /// The definition for two numbers.
    type Of: Binary;
    /// What every number is picked before.
    const IDENTITY: f64;
    /// Whether NaN is passed over.
    const SKIPS: bool = false;
    /// The number that is picked before another, where they differ in value.
    #[doc(hidden)]
    fn picks<R: Real>(new: R, old: R) -> R::Mask;
    /// Of zeros of both signs, the one that is picked.
    #[doc(hidden)]
    const ZERO: f64;
}

macro_rules! larger {
    () => {
        const ZERO: f64 = 0.0;
        #[inline(always)]
        fn picks<R: Real>(new: R, old: R) -> R::Mask {
            old.less(new)
        }
    };
}
macro_rules! smaller {
    () => {
        const ZERO: f64 = -0.0;
        #[inline(always)]
        fn picks<R: Real>(new: R, old: R) -> R::Mask {
            new.less(old)
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
    if job.is_long(lanes) {
        for slice in 0..job.slices {
            let parts = job.shared(lanes, None, &|range| job.search::<C>(lanes, slice, range));
            let best = parts
                .into_iter()
                .flatten()
                .reduce(|best, new| if takes_over::<C, T>(Some(best), new.0) { new } else { best });
            // SAFETY: no region is running; the slice has its result.
            unsafe { *job.out.add(slice) = best.map_or(0, |(_, place)| place) };
        }
        return;
    }
    job.run(lanes, &|slices| {
        for slice in slices {
            let best = job.search::<C>(lanes, slice, 0..job.length);
            // SAFETY: this piece owns the slice's result.
            unsafe { *job.out.add(slice) = best.map_or(0, |(_, place)| place) };
        }
    });
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

impl<T: Float, U: Send> Job<T, U> {
    fn slice<C: Choice>(&self, lanes: &Lanes, slice: usize, range: Range<usize>) -> T {
        let mut best = T::narrowed(C::IDENTITY);
        self.blocks(slice, range, |x, _| {
            best = C::Of::at(best, lanes.level().run(Run::<C, T>::of(x)));
            true
        });
        best
    }

    /// Finds the block that holds the extreme first, then the place in it.
    fn search<C: Choice>(
        &self,
        lanes: &Lanes,
        slice: usize,
        range: Range<usize>,
    ) -> Option<(T, usize)> {
        let mut best: Option<(T, usize)> = None;
        self.blocks(slice, range, |x, from| {
            let block = lanes.level().run(Run::<C, T>::of(x));
            if takes_over::<C, T>(best, block) {
                let here = |e: &T| e.wide() == block.wide() || e.wide().is_nan();
                best = Some((block, from + x.iter().position(here).unwrap_or(0)));
            }
            !block.wide().is_nan()
        });
        best
    }
}

/// Whether a later block's extreme is picked instead of the best so far; the first NaN stays.
fn takes_over<C: Choice, T: Float>(best: Option<(T, usize)>, new: T) -> bool {
    best.is_none_or(|(old, _)| {
        let (old, new) = (old.wide(), new.wide());
        !old.is_nan() && (new.is_nan() || wins::<C>(new, old))
    })
}

/// Strictly picked before; equal zeros are a tie.
fn wins<C: Choice>(new: f64, old: f64) -> bool {
    if C::IDENTITY < 0.0 { new > old } else { new < old }
}

impl<T: Float> Job<T, T> {
    fn rows<C: Choice>(&self, lanes: &Lanes, slices: Range<usize>) {
        self.runs(slices, |x, slice, rows| {
            // SAFETY: the slices lie inside the operand.
            let first = unsafe { Run::at(x, self.length) };
            let out = self.out.wrapping_add(slice);
            lanes.level().run(Rows::<C, T> { first, row_step: self.slice_step(), rows, out });
        });
    }

    fn columns<C: Choice>(&self, lanes: &Lanes, slices: Range<usize>) {
        self.runs(slices, |x, slice, columns| {
            lanes.level().run(Beside::<C, T> {
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

/// The extreme of a contiguous run.
pub(super) struct Run<C, T> {
    x: *const T,
    count: usize,
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
struct Rows<C, T> {
    first: Run<C, T>,
    row_step: isize,
    rows: usize,
    out: *mut T,
}

impl<C: Choice, T: Float> Task for Rows<C, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        for row in 0..self.rows {
            let x = self.first.x.wrapping_offset(row as isize * self.row_step);
            // SAFETY: the slices lie inside the operand, each with its result.
            unsafe { *self.out.add(row) = Run::<C, T>::at(x, self.first.count).run::<S>() };
        }
    }
}

/// The best so far of each lane, by value alone: a NaN leaves it as it is and is remembered, and
/// the sign of a zero is found afterwards. The definition's own text takes twice as many
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
        self.value = V::select(C::picks(x, self.value), x, self.value);
        if !C::SKIPS {
            self.numbers = self.numbers.and(x.equal(x));
        }
    }

    #[inline(always)]
    fn join<C: Choice>(mut self, other: Best<V>) -> Best<V> {
        self.take::<C>(other.value);
        self.numbers = self.numbers.and(other.numbers);
        self
    }

    /// The definition's result in every lane, but for the sign of a zero.
    #[inline(always)]
    fn result(self) -> V {
        V::select(self.numbers, self.value, V::canonical_nan())
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
            while i + 4 * lanes <= self.count {
                for (j, best) in best.iter_mut().enumerate() {
                    best.take::<C>(T::Vector::<S>::load(self.x.add(i + j * lanes)));
                }
                i += 4 * lanes;
            }
            while i + lanes <= self.count {
                best[0].take::<C>(T::Vector::<S>::load(self.x.add(i)));
                i += lanes;
            }
            if i < self.count && self.count >= lanes {
                best[1].take::<C>(T::Vector::<S>::load(self.x.add(self.count - lanes)));
                i = self.count;
            }
        }
        let [a, b, c, d] = best;
        let all = a.join::<C>(b).join::<C>(c.join::<C>(d)).result();
        let mut last = [T::narrowed(C::IDENTITY); 16];
        // SAFETY: the widest vector has 16 lanes.
        unsafe { all.store(last.as_mut_ptr()) };
        let mut half = lanes / 2;
        while half > 0 {
            for low in 0..half {
                last[low] = C::Of::at(last[low], last[low + half]);
            }
            half /= 2;
        }
        let mut value = last[0];
        for i in i..self.count {
            // SAFETY: below `count`.
            value = C::Of::at(value, unsafe { *self.x.add(i) });
        }
        if value.wide() == 0.0 { self.zero() } else { value }
    }
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
        let mut best = [Best::<T::Vector<S>>::new::<C>(); N];
        for row in 0..self.rows {
            for (j, best) in best.iter_mut().enumerate() {
                // SAFETY: the caller says that the columns are there.
                best.take::<C>(unsafe { self.vector::<S>(row, column + j * lanes, part) });
            }
        }
        for (j, best) in best.into_iter().enumerate() {
            let to = self.out.wrapping_add(column + j * lanes);
            let mut value = best.result();
            // SAFETY: as above; lanes past `part` are not stored.
            unsafe {
                if T::Vector::<S>::any(value.equal(T::Vector::<S>::constant(0.0))) {
                    value = self.exactly::<S>(column + j * lanes, part);
                }
                value.store_part(to, part.min(lanes));
            }
        }
    }

    /// The definition's own text, where the sign of a zero matters.
    #[inline(always)]
    unsafe fn exactly<S: Simd>(&self, column: usize, part: usize) -> T::Vector<S> {
        let mut best = T::Vector::<S>::constant(C::IDENTITY);
        for row in 0..self.rows {
            // SAFETY: the caller says that the columns are there.
            best = C::Of::at(best, unsafe { self.vector::<S>(row, column, part) });
        }
        best
    }

    /// A vector of columns of a row, of which `part` count.
    #[inline(always)]
    unsafe fn vector<S: Simd>(&self, row: usize, column: usize, part: usize) -> T::Vector<S> {
        let x = self.x.wrapping_offset(row as isize * self.row_step).wrapping_add(column);
        // SAFETY: the caller says that the columns are there.
        unsafe {
            match part < T::Vector::<S>::LANES {
                true => T::Vector::<S>::load_part(x, part),
                false => T::Vector::<S>::load(x),
            }
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
