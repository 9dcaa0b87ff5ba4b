//! Whether two operands agree in every element: equality and closeness. Blocks are compared
//! until the first that does not agree; threads take ranges and stop together.

use crate::fold::{Integer, in_place_or_gathered};
use crate::level::{Loop, Task};
use crate::operand::{Operand, Walk};
use crate::scratch::with_left;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::{Close, Mask, Real};
use std::sync::atomic::{AtomicBool, Ordering};

/// What is asked of each pair of numbers; two zeros must agree.
pub trait Agree: Copy + Send + Sync {
    #[doc(hidden)]
    fn at<R: Real>(self, a: R, b: R) -> R::Mask;
}

/// a = b; NaN equals nothing, the two zeros each other.
#[derive(Clone, Copy, Debug)]
pub struct Same;

impl Agree for Same {
    #[inline(always)]
    fn at<R: Real>(self, a: R, b: R) -> R::Mask {
        a.equal(b)
    }
}

impl Agree for Close {
    #[inline(always)]
    fn at<R: Real>(self, a: R, b: R) -> R::Mask {
        Close::at(self, a, b)
    }
}

/// Elements compared before the others are asked whether they still agree.
const BLOCK: usize = 4096;

/// Whether every pair of numbers of two operands of one shape agrees.
///
/// # Panics
/// When an operand leaves its slice.
pub fn all_agree<P: Agree, T: Float>(
    lanes: &Lanes,
    shape: &[usize],
    a: Operand<T>,
    b: Operand<T>,
    agree: P,
) -> bool {
    in_blocks(lanes, shape, a, b, &|a, b| lanes.level().run(Block { a, b, agree }))
}

/// Whether two integer operands of one shape are equal.
///
/// # Panics
/// When an operand leaves its slice.
pub fn all_equal<T: Integer>(lanes: &Lanes, shape: &[usize], a: Operand<T>, b: Operand<T>) -> bool {
    in_blocks(lanes, shape, a, b, &|a, b| lanes.level().run(Loop(|| equal(a, b))))
}

/// Asks for the whole block: a loop that can stop is no vector loop.
#[inline(always)]
fn equal<T: Integer>(a: &[T], b: &[T]) -> bool {
    let mut equal = true;
    for (a, b) in a.iter().zip(b) {
        equal &= a.wide() == b.wide();
    }
    equal
}

/// A read-only address that pieces share.
#[derive(Clone, Copy)]
struct Starts<T>(*const T, *const T);

// SAFETY: points into shared slices that outlive the region.
unsafe impl<T: Sync> Sync for Starts<T> {}

impl<T> Starts<T> {
    fn both(&self) -> (*const T, *const T) {
        (self.0, self.1)
    }
}

fn in_blocks<T: Copy + Sync>(
    lanes: &Lanes,
    shape: &[usize],
    a: Operand<T>,
    b: Operand<T>,
    body: &(dyn Fn(&[T], &[T]) -> bool + Sync),
) -> bool {
    let starts = Starts(a.start(shape), b.start(shape));
    let walks = [Walk::new(shape, [a.strides]), Walk::new(shape, [b.strides])];
    let size: usize = shape.iter().product();
    let differ = AtomicBool::new(false);
    let pieces = lanes.pieces(Work::Light, size);
    let share = size.div_ceil(pieces).max(1);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let (a, b) = starts.both();
        let end = size.min((piece + 1) * share);
        with_left(|scratch| {
            let room = scratch.room::<T>(2 * BLOCK);
            for from in (piece * share..end).step_by(BLOCK) {
                if differ.load(Ordering::Relaxed) {
                    return;
                }
                let count = BLOCK.min(end - from);
                // SAFETY: the walks stay inside the operands; the room holds both blocks.
                let same = unsafe {
                    let a = in_place_or_gathered(a, &walks[0], from, count, room);
                    let b = in_place_or_gathered(b, &walks[1], from, count, room.add(BLOCK));
                    let block = |x| std::slice::from_raw_parts(x, count);
                    body(block(a), block(b))
                };
                if !same {
                    differ.store(true, Ordering::Relaxed);
                }
            }
        });
    });
    !differ.into_inner()
}

/// Two contiguous blocks of one length.
struct Block<'a, P, T> {
    a: &'a [T],
    b: &'a [T],
    agree: P,
}

impl<P: Agree, T: Float> Task for Block<'_, P, T> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self) -> bool {
        let lanes = T::Vector::<S>::LANES;
        let (a, b, n) = (self.a.as_ptr(), self.b.as_ptr(), self.a.len());
        let mut all = <T::Vector<S> as Real>::Mask::constant(true);
        let mut i = 0;
        // SAFETY: whole vectors below n, then what is left of one; the zeros beside it agree.
        unsafe {
            while i + lanes <= n {
                let (x, y) = (T::Vector::<S>::load(a.add(i)), T::Vector::<S>::load(b.add(i)));
                all = all.and(self.agree.at(x, y));
                i += lanes;
            }
            if i < n {
                let x = T::Vector::<S>::load_part(a.add(i), n - i);
                let y = T::Vector::<S>::load_part(b.add(i), n - i);
                all = all.and(self.agree.at(x, y));
            }
        }
        !T::Vector::<S>::any(all.not())
    }
}
