//! Copies: a strided view into contiguous order, and element-by-element conversion. Nothing is
//! computed, so any element type will do.
//!
//! Where the innermost axis of the view is not the contiguous one, blocks of cache lines are
//! turned one at a time, so that every line is fetched once. Threads take ranges of the result.

use crate::level::Task;
use crate::operand::{Operand, Walk};
use crate::vector::Simd;
use crate::{Lanes, Work};

/// Rows of the block turned at a time, one cache line of f32 wide: 677 us for 1024 x 1024 f32 here,
/// against 1069 with 32 rows and 1613 with 32 x 32.
const TILE: usize = 16;

/// Pointers that pieces share.
struct Shared<T, U> {
    from: *const T,
    to: *mut U,
}

// SAFETY: reads are of shared slices, writes of disjoint ranges.
unsafe impl<T: Sync, U: Send> Sync for Shared<T, U> {}

impl<T, U> Shared<T, U> {
    fn from(&self, offset: isize) -> *const T {
        self.from.wrapping_offset(offset)
    }
    fn to(&self, offset: usize) -> *mut U {
        self.to.wrapping_add(offset)
    }
}

/// out = x in row-major order of `shape`.
///
/// # Panics
/// When `out` has not as many elements as `shape`, or the operand leaves its slice.
pub fn pack<T: Copy + Send + Sync>(lanes: &Lanes, shape: &[usize], x: Operand<T>, out: &mut [T]) {
    assert_eq!(shape.iter().product::<usize>(), out.len(), "cells of a copy");
    let shared = Shared { from: x.start(shape), to: out.as_mut_ptr() };
    if out.is_empty() {
        return;
    }
    let walk = Walk::new(shape, [x.strides]);
    match contiguous_axis(&walk) {
        Some(axis) => turned(lanes, &walk, axis, &shared, out.len()),
        None => runs(lanes, &walk, &shared, out.len()),
    }
}

/// The axis that steps by one, when it is not the last one and turning blocks pays.
fn contiguous_axis(walk: &Walk<1>) -> Option<usize> {
    let axes = walk.axes();
    let (last, (extent, steps)) = (axes.len() - 1, axes[axes.len() - 1]);
    if matches!(steps[0], 0 | 1) || extent < 4 {
        return None;
    }
    (0..last).find(|axis| axes[*axis].1[0] == 1 && axes[*axis].0 >= 4)
}

/// Run by run along the innermost axis.
fn runs<T: Copy + Send + Sync>(lanes: &Lanes, walk: &Walk<1>, shared: &Shared<T, T>, size: usize) {
    let pieces = lanes.pieces(Work::Copy, size);
    let share = size.div_ceil(pieces);
    let step = walk.steps()[0];
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let (start, end) = (piece * share, size.min((piece + 1) * share));
        let mut cursor = walk.at(start);
        let mut done = start;
        while done < end {
            let count = cursor.left().min(end - done);
            let (from, to) = (shared.from(cursor.offsets[0]), shared.to(done));
            // SAFETY: the run lies inside the operand and this piece's range of the result.
            unsafe {
                if step == 1 {
                    std::ptr::copy_nonoverlapping(from, to, count);
                } else {
                    for i in 0..count {
                        *to.add(i) = *from.wrapping_offset(i as isize * step);
                    }
                }
            }
            cursor.advance(count);
            done += count;
        }
    });
}

/// Blocks of `axis` by the innermost axis, for every index of the other axes.
fn turned<T: Copy + Send + Sync>(
    lanes: &Lanes,
    walk: &Walk<1>,
    axis: usize,
    shared: &Shared<T, T>,
    size: usize,
) {
    let axes = walk.axes();
    let last = axes.len() - 1;
    let (rows, (columns, step)) = (axes[axis].0, (axes[last].0, axes[last].1[0]));
    let row_out: usize = axes[axis + 1..].iter().map(|(extent, _)| extent).product();
    let bands = rows.div_ceil(TILE);
    let across = (64 / size_of::<T>()).max(4);
    let planes = size / (rows * columns);
    let pieces = lanes.pieces(Work::Copy, size);
    let share = (planes * bands).div_ceil(pieces);
    lanes.workers().run((planes * bands).div_ceil(share), &|piece| {
        for band in piece * share..(planes * bands).min((piece + 1) * share) {
            let (from, to) = plane_start(axes, axis, band / bands);
            let row = band % bands * TILE;
            for column in (0..columns).step_by(across) {
                let square = Square {
                    from: shared.from(from + row as isize + column as isize * step),
                    step,
                    to: shared.to(to + row * row_out + column),
                    row_out,
                    rows: TILE.min(rows - row),
                    columns: across.min(columns - column),
                };
                lanes.level().run(square);
            }
        }
    });
}

/// Where plane number `plane` of all axes but `axis` and the last begins, in operand and result.
fn plane_start(axes: &[(usize, [isize; 1])], axis: usize, plane: usize) -> (isize, usize) {
    let (mut rest, mut from, mut to, mut stride) = (plane, 0, 0, 1);
    for (i, (extent, steps)) in axes.iter().enumerate().rev() {
        if i != axis && i != axes.len() - 1 {
            let index = rest % extent;
            rest /= extent;
            from += index as isize * steps[0];
            to += index * stride;
        }
        stride *= extent;
    }
    (from, to)
}

/// to[r * row_out + c] = from[r + c * step].
pub(crate) struct Square<T> {
    pub from: *const T,
    pub step: isize,
    pub to: *mut T,
    pub row_out: usize,
    pub rows: usize,
    pub columns: usize,
}

impl<T: Copy> Task for Square<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let (whole_rows, whole_columns) = (self.rows / 4 * 4, self.columns / 4 * 4);
        // SAFETY: rows and columns lie inside the operand and the result.
        unsafe {
            for row in (0..whole_rows).step_by(4) {
                for column in (0..whole_columns).step_by(4) {
                    let from = self.from.add(row).wrapping_offset(column as isize * self.step);
                    let read = |i: isize| {
                        from.wrapping_offset(i * self.step).cast::<[T; 4]>().read_unaligned()
                    };
                    let (a, b, c, d) = (read(0), read(1), read(2), read(3));
                    for i in 0..4 {
                        let to = self.to.add((row + i) * self.row_out + column);
                        to.cast::<[T; 4]>().write_unaligned([a[i], b[i], c[i], d[i]]);
                    }
                }
            }
            for row in 0..self.rows {
                let start = if row < whole_rows { whole_columns } else { 0 };
                for column in start..self.columns {
                    *self.to.add(row * self.row_out + column) =
                        *self.from.add(row).wrapping_offset(column as isize * self.step);
                }
            }
        }
    }
}

/// Every `to[i]` becomes `f(from[i])`, compiled for this level's vectors and threaded: conversions between element
/// types, whose meaning the caller brings.
///
/// # Panics
/// When the lengths differ.
pub fn convert<T, U, F>(lanes: &Lanes, from: &[T], to: &mut [U], f: F)
where
    T: Copy + Send + Sync,
    U: Copy + Send + Sync,
    F: Fn(T) -> U + Copy + Send + Sync,
{
    assert_eq!(from.len(), to.len(), "cells of a conversion");
    let size = from.len();
    let shared = Shared { from: from.as_ptr(), to: to.as_mut_ptr() };
    let pieces = lanes.pieces(Work::Copy, size);
    let share = size.div_ceil(pieces).max(1);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let (start, end) = (piece * share, size.min((piece + 1) * share));
        // SAFETY: pieces are disjoint ranges of both slices.
        let (from, to) = unsafe {
            (
                std::slice::from_raw_parts(shared.from(start as isize), end - start),
                std::slice::from_raw_parts_mut(shared.to(start), end - start),
            )
        };
        lanes.level().run(Each { from, to, f });
    });
}

struct Each<'a, T, U, F> {
    from: &'a [T],
    to: &'a mut [U],
    f: F,
}

impl<T: Copy, U, F: Fn(T) -> U> Task for Each<'_, T, U, F> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        for (to, from) in self.to.iter_mut().zip(self.from) {
            *to = (self.f)(*from);
        }
    }
}
