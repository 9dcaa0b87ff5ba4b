//! A strided operand copied into a box of a larger result: what joins, pads and rolls arrays.

use crate::Lanes;
use crate::grains::Work;
use crate::operand::{Operand, Walk, reaches};
use crate::share::Cells;

/// Runs shorter than this are copied element by element: a call of the system's copy costs
/// about 5 ns.
const SHORT: usize = 8;

/// Where a box lies in a result.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The cell of the box's first element.
    pub offset: usize,
    /// The result's row-major strides.
    pub strides: &'a [isize],
}

/// out[place] = x, for every index of `shape`.
///
/// # Panics
/// When the box leaves `out`, its cells are not distinct, or the operand leaves its slice.
pub fn place<T: Copy + Send + Sync>(
    lanes: &Lanes,
    shape: &[usize],
    x: Operand<T>,
    out: &mut [T],
    to: Place,
) {
    let start = Start(x.start(shape));
    assert!(reaches(out.len(), to.offset, shape, to.strides), "a box leaves its result");
    assert!(nested(shape, to.strides), "cells of a box are not distinct");
    let size: usize = shape.iter().product();
    if size == 0 {
        return;
    }
    let walk = Walk::new(shape, [x.strides, to.strides]);
    let cells = Cells::new(out);
    let pieces = lanes.pieces(Work::Copy, size);
    let share = size.div_ceil(pieces);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let start = &start;
        let (mut done, end) = (piece * share, size.min((piece + 1) * share));
        let mut cursor = walk.at(done);
        while done < end {
            let count = cursor.left().min(end - done);
            let from = start.0.wrapping_offset(cursor.offsets[0]);
            let cell = cells.at(to.offset).wrapping_offset(cursor.offsets[1]);
            // SAFETY: both ends were checked against the shape, and pieces own distinct cells.
            unsafe { run(from, cell, walk.steps(), count) };
            cursor.advance(count);
            done += count;
        }
    });
}

struct Start<T>(*const T);

// SAFETY: it is only read, and belongs to a shared slice.
unsafe impl<T: Sync> Sync for Start<T> {}

/// # Safety
/// `count` elements at these steps are readable and writable.
#[inline(always)]
unsafe fn run<T: Copy>(from: *const T, to: *mut T, steps: [isize; 2], count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match steps {
            [1, 1] if count >= SHORT => std::ptr::copy_nonoverlapping(from, to, count),
            [0, 1] => {
                let number = *from;
                (0..count).for_each(|i| *to.add(i) = number);
            }
            [step, stride] => {
                for i in 0..count as isize {
                    *to.wrapping_offset(i * stride) = *from.wrapping_offset(i * step);
                }
            }
        }
    }
}

/// Whether strides step over everything inside them, so that no two indices share a cell.
fn nested(shape: &[usize], strides: &[isize]) -> bool {
    let mut inside = 1i128;
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if extent > 1 {
            if (stride as i128) < inside {
                return false;
            }
            inside = stride as i128 * extent as i128;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strides_that_meet_are_refused() {
        assert!(nested(&[2, 3], &[10, 1]));
        assert!(nested(&[2, 1, 3], &[3, 0, 1]));
        assert!(!nested(&[2, 3], &[2, 1]));
        assert!(!nested(&[2], &[0]));
        assert!(!nested(&[2], &[-1]));
    }
}
