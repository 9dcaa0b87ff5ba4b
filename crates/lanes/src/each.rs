//! A closure at every element of up to three operands of any element types: integers, masks by
//! the bits, selections. What a definition of `math` over floats does is in `elementwise`.
//!
//! Operands may broadcast, be transposed or run backwards. Long runs are read where they lie;
//! others are gathered into a block first, so that the closure's loop only ever sees contiguous
//! elements and the compiler can turn it into vectors. Threads take ranges of the result.

use crate::Lanes;
use crate::grains::Work;
use crate::level::Loop;
use crate::operand::{Cursor, Operand, Walk};
use crate::share::{each_share, in_shares};
use smallvec::SmallVec;

/// Elements gathered at a time: three blocks of 64 bits fit L1.
const BLOCK: usize = 512;

/// Runs shorter than this are gathered, as in `elementwise`.
const SHORT: usize = 64;

/// out = f(x), in row-major order of `shape`.
///
/// # Panics
/// When `out` has not as many elements as `shape`, or the operand leaves its slice.
pub fn map<A, O, F>(lanes: &Lanes, shape: &[usize], x: Operand<A>, out: &mut [O], f: F)
where
    A: Copy + Default + Send + Sync,
    O: Copy + Send + Sync,
    F: Fn(A) -> O + Copy + Send + Sync,
{
    let none: SmallVec<[isize; 4]> = SmallVec::from_elem(0, shape.len());
    let nothing = Operand::new(&[()], 0, &none);
    zip3(lanes, shape, (x, nothing, nothing), out, move |a, (), ()| f(a));
}

/// out = f(a, b), in row-major order of `shape`.
///
/// # Panics
/// As `map`.
pub fn zip<A, B, O, F>(
    lanes: &Lanes,
    shape: &[usize],
    (a, b): (Operand<A>, Operand<B>),
    out: &mut [O],
    f: F,
) where
    A: Copy + Default + Send + Sync,
    B: Copy + Default + Send + Sync,
    O: Copy + Send + Sync,
    F: Fn(A, B) -> O + Copy + Send + Sync,
{
    let none: SmallVec<[isize; 4]> = SmallVec::from_elem(0, shape.len());
    let nothing = Operand::new(&[()], 0, &none);
    zip3(lanes, shape, (a, b, nothing), out, move |a, b, ()| f(a, b));
}

/// out = f(a, b, c), in row-major order of `shape`.
///
/// # Panics
/// As `map`.
pub fn zip3<A, B, C, O, F>(
    lanes: &Lanes,
    shape: &[usize],
    (a, b, c): (Operand<A>, Operand<B>, Operand<C>),
    out: &mut [O],
    f: F,
) where
    A: Copy + Default + Send + Sync,
    B: Copy + Default + Send + Sync,
    C: Copy + Default + Send + Sync,
    O: Copy + Send + Sync,
    F: Fn(A, B, C) -> O + Copy + Send + Sync,
{
    assert_eq!(shape.iter().product::<usize>(), out.len(), "cells of an element-wise result");
    let starts = Starts(a.start(shape), b.start(shape), c.start(shape));
    let walk = Walk::new(shape, [a.strides, b.strides, c.strides]);
    if out.is_empty() {
        return;
    }
    in_shares(lanes, out, Work::Light, &|start, own| {
        let starts = &starts;
        let mut cursor = walk.at(start);
        let mut blocks = ([A::default(); BLOCK], [B::default(); BLOCK], [C::default(); BLOCK]);
        let mut rest = own;
        while !rest.is_empty() {
            let (length, ready) = next(&cursor, walk.steps(), rest.len());
            let (now, after) = rest.split_at_mut(length);
            // SAFETY: the walk stays inside the operands, which `start` checked; `next` keeps
            // what is not contiguous below a block.
            let (a, b, c) = unsafe {
                let at = Block { cursor: &cursor, steps: walk.steps(), length, ready };
                (
                    at.source(0, starts.0, &mut blocks.0),
                    at.source(1, starts.1, &mut blocks.1),
                    at.source(2, starts.2, &mut blocks.2),
                )
            };
            lanes.level().run(Loop(|| {
                let others = a.iter().zip(b.iter().zip(c));
                now.iter_mut().zip(others).for_each(|(o, (a, (b, c)))| *o = f(*a, *b, *c));
            }));
            forward(&mut cursor, length);
            rest = after;
        }
    });
}

/// Where the operands' first elements are.
struct Starts<A, B, C>(*const A, *const B, *const C);

// SAFETY: they are only read, and belong to shared slices.
unsafe impl<A: Sync, B: Sync, C: Sync> Sync for Starts<A, B, C> {}

/// How many elements to take next, and whether each operand can be read in its run.
fn next(cursor: &Cursor<3>, steps: [isize; 3], most: usize) -> (usize, bool) {
    let run = cursor.left().min(most);
    let even = steps.iter().all(|step| matches!(step, 0 | 1));
    match even && (run >= SHORT || run == most) {
        true if steps == [1; 3] => (run, true),
        true => (run.min(BLOCK), true),
        false => (most.min(BLOCK), false),
    }
}

/// Goes on by `count` elements, over as many runs as that takes.
fn forward(cursor: &mut Cursor<3>, count: usize) {
    let mut left = count;
    while left > 0 {
        let now = cursor.left().min(left);
        cursor.advance(now);
        left -= now;
    }
}

/// The next elements of every operand.
struct Block<'a> {
    cursor: &'a Cursor<'a, 3>,
    steps: [isize; 3],
    length: usize,
    /// They lie in one run.
    ready: bool,
}

impl Block<'_> {
    /// The elements of operand `k`: where they lie, or gathered into `room`.
    ///
    /// # Safety
    /// `start` is the first element of operand `k` of the walk.
    #[inline(always)]
    unsafe fn source<'r, T: Copy>(
        &self,
        k: usize,
        start: *const T,
        room: &'r mut [T; BLOCK],
    ) -> &'r [T] {
        let from = start.wrapping_offset(self.cursor.offsets[k]);
        // SAFETY: the walk's offsets are inside the operand.
        unsafe {
            if self.ready && self.steps[k] == 1 {
                return core::slice::from_raw_parts(from, self.length);
            }
            if self.ready {
                room[..self.length].fill(*from);
                return &room[..self.length];
            }
            let mut cursor = self.cursor.clone();
            let mut done = 0;
            while done < self.length {
                let count = cursor.left().min(self.length - done);
                let from = start.wrapping_offset(cursor.offsets[k]);
                let to = &mut room[done..done + count];
                let step = self.steps[k];
                to.iter_mut()
                    .enumerate()
                    .for_each(|(i, to)| *to = *from.wrapping_offset(i as isize * step));
                cursor.advance(count);
                done += count;
            }
        }
        &room[..self.length]
    }
}

/// out[i] = f(i).
pub fn generate<O, F>(lanes: &Lanes, out: &mut [O], f: F)
where
    O: Copy + Send + Sync,
    F: Fn(usize) -> O + Copy + Send + Sync,
{
    in_shares(lanes, out, Work::Light, &|start, own| {
        lanes.level().run(Loop(|| {
            own.iter_mut().enumerate().for_each(|(i, o)| *o = f(start + i));
        }));
    });
}

/// Runs `f(i, row)` for every row i of `width` cells of `out`.
///
/// # Panics
/// When `out` is not whole rows.
pub fn rows<O, F>(lanes: &Lanes, width: usize, out: &mut [O], f: F)
where
    O: Copy + Send + Sync,
    F: Fn(usize, &mut [O]) + Sync,
{
    if out.is_empty() {
        return;
    }
    assert!(width > 0 && out.len().is_multiple_of(width), "rows of a result");
    let pieces = lanes.pieces(Work::Copy, out.len());
    let share = (out.len() / width).div_ceil(pieces) * width;
    each_share(lanes, out, share, &|start, own| {
        let first = start / width;
        own.chunks_exact_mut(width).enumerate().for_each(|(i, row)| f(first + i, row));
    });
}
