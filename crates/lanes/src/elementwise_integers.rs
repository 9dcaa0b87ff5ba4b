//! Element-wise work on integers of any width, whose meaning the caller brings as a closure. The loop
//! is compiled for the level's vectors, so a closure without branches becomes vector instructions:
//! eight i64 or sixteen i32 at a time. Integer arithmetic has one result on every machine, so there
//! is nothing to keep in order here; strided and repeated operands are gathered into blocks of L1.

use crate::elementwise::gather;
use crate::level::Task;
use crate::operand::{Operand, Walk};
use crate::vector::Simd;
use crate::{Lanes, Work};

/// Elements gathered at a time.
const BLOCK: usize = 512;

/// What the pieces share; they write disjoint ranges of `out`.
struct Shared<T, U, const K: usize> {
    starts: [*const T; K],
    out: *mut U,
}

// SAFETY: reads are of shared slices, writes of disjoint ranges.
unsafe impl<T: Sync, U: Send, const K: usize> Sync for Shared<T, U, K> {}

impl<T, U, const K: usize> Shared<T, U, K> {
    fn parts(&self) -> ([*const T; K], *mut U) {
        (self.starts, self.out)
    }
}

/// out = f(x), in row-major order of `shape`.
///
/// # Panics
/// When `out` has not as many elements as `shape`, or the operand leaves its slice.
pub fn map<T, U, F>(lanes: &Lanes, shape: &[usize], x: Operand<T>, out: &mut [U], f: F)
where
    T: Copy + Default + Send + Sync,
    U: Copy + Send + Sync,
    F: Fn(T) -> U + Copy + Send + Sync,
{
    drive(lanes, shape, [x], out, move |[x]: [T; 1]| f(x));
}

/// out = f(a, b), in row-major order of `shape`.
///
/// # Panics
/// As `map`.
pub fn zip<T, U, F>(
    lanes: &Lanes,
    shape: &[usize],
    a: Operand<T>,
    b: Operand<T>,
    out: &mut [U],
    f: F,
) where
    T: Copy + Default + Send + Sync,
    U: Copy + Send + Sync,
    F: Fn(T, T) -> U + Copy + Send + Sync,
{
    drive(lanes, shape, [a, b], out, move |[a, b]: [T; 2]| f(a, b));
}

fn drive<T, U, F, const K: usize>(
    lanes: &Lanes,
    shape: &[usize],
    operands: [Operand<T>; K],
    out: &mut [U],
    f: F,
) where
    T: Copy + Default + Send + Sync,
    U: Copy + Send + Sync,
    F: Fn([T; K]) -> U + Copy + Send + Sync,
{
    assert_eq!(shape.iter().product::<usize>(), out.len(), "cells of an element-wise result");
    let starts = operands.map(|operand| operand.start(shape));
    let walk = Walk::new(shape, operands.map(|operand| operand.strides));
    let (size, steps) = (out.len(), walk.steps());
    if size == 0 {
        return;
    }
    let shared = Shared { starts, out: out.as_mut_ptr() };
    let share = size.div_ceil(lanes.pieces(Work::Light, size)).next_multiple_of(BLOCK);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let (starts, out) = shared.parts();
        let (mut at, end) = (piece * share, size.min((piece + 1) * share));
        let mut rooms = [[T::default(); BLOCK]; K];
        let mut cursor = walk.at(at);
        while at < end {
            let direct = steps == [1; K] && cursor.left() >= BLOCK.min(end - at);
            let length = if direct { cursor.left().min(end - at) } else { BLOCK.min(end - at) };
            let mut from = std::array::from_fn(|k| starts[k].wrapping_offset(cursor.offsets[k]));
            let mut done = if direct { length } else { 0 };
            if direct {
                cursor.advance(length);
            }
            while done < length {
                let run = cursor.left().min(length - done);
                for k in 0..K {
                    let first = starts[k].wrapping_offset(cursor.offsets[k]);
                    // SAFETY: the run lies inside the operand, and a room holds BLOCK elements.
                    unsafe { gather(first, steps[k], run, rooms[k].as_mut_ptr().add(done)) };
                    from[k] = rooms[k].as_ptr();
                }
                cursor.advance(run);
                done += run;
            }
            lanes.level().run(Run { from, to: out.wrapping_add(at), length, f });
            at += length;
        }
    });
}

/// to[i] = f of the i-th element of each source.
struct Run<T, U, F, const K: usize> {
    from: [*const T; K],
    to: *mut U,
    length: usize,
    f: F,
}

impl<T: Copy, U, F: Fn([T; K]) -> U, const K: usize> Task for Run<T, U, F, K> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        // SAFETY: `drive` makes runs of `length` readable and writable elements that no one else
        // writes; sources and result do not overlap.
        let (from, to) = unsafe {
            (
                self.from.map(|from| std::slice::from_raw_parts(from, self.length)),
                std::slice::from_raw_parts_mut(self.to, self.length),
            )
        };
        for (i, to) in to.iter_mut().enumerate() {
            *to = (self.f)(std::array::from_fn(|k| from[k][i]));
        }
    }
}
