//! Folds that pick an element: amax, amin. The rules of `math` make maximum and minimum
//! independent of the order, so these need no fixed order, only the same rules. Where the picked
//! element stands is in `position`.
//!
//! Largest and smallest propagate NaN and put -0.0 below +0.0. The `Present` choices skip NaN; a
//! slice of nothing else gives their identity.

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

/// Elements looked at together before the position inside them is searched.
pub(super) const BLOCK: usize = 4096;

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

/// The slices of one call.
pub(super) struct Job<T, U> {
    pub(super) start: *const T,
    pub(super) kept: Walk<1>,
    pub(super) folded: Walk<1>,
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
/// the sign of a zero is found afterwards. The definition's own text takes three times as many
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

    /// The definition's result in every lane, but for the sign of a zero.
    #[inline(always)]
    fn result(self) -> V {
        V::select(self.numbers, self.value, V::canonical_nan())
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
        unsafe { columns::<S, T>(x, part) }
    }
}

/// A vector of columns, of which `part` count.
///
/// # Safety
/// `part` elements are readable, or a whole vector where it is not below one.
#[inline(always)]
pub(super) unsafe fn columns<S: Simd, T: Float>(x: *const T, part: usize) -> T::Vector<S> {
    // SAFETY: the caller's promise.
    unsafe {
        match part < T::Vector::<S>::LANES {
            true => T::Vector::<S>::load_part(x, part),
            false => T::Vector::<S>::load(x),
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
