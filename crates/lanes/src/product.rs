//! The matrix product, packed and register-tiled, with the bits of the definition.
//!
//! k is cut into blocks of 512 as the definition says; a block's sums stay in registers from +0
//! on and are stored (first block) or added (later ones), so the tiling cannot be seen in the
//! result. Operands have free strides on both axes; a transposed one costs no copy beyond packing.
//! It does not choose element types or shapes, and it checks bounds once, at the entry. Read
//! `tile` for the inner loop, `blocks` for the order of the tiles and `pack` for the panels.

pub mod bf16;
mod blocks;
mod pack;
mod tile;

use crate::vector::Float;
use crate::{Lanes, Work};
pub use blocks::room;

use blocks::Target;

/// A matrix in a slice: element (i, j) is `data[offset + i * row + j * column]`.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    /// The cells, and whatever else the slice holds.
    pub data: &'a [T],
    /// Where the first cell is.
    pub offset: usize,
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// From one row to the next, in elements.
    pub row: isize,
    /// From one column to the next, in elements.
    pub column: isize,
}

impl<'a, T> Matrix<'a, T> {
    /// A row-major matrix that fills `data`.
    pub fn new(data: &'a [T], rows: usize, columns: usize) -> Matrix<'a, T> {
        Matrix { data, offset: 0, rows, columns, row: columns as isize, column: 1 }
    }

    /// The same cells with rows and columns exchanged; nothing moves.
    pub fn transposed(self) -> Matrix<'a, T> {
        Matrix {
            rows: self.columns,
            columns: self.rows,
            row: self.column,
            column: self.row,
            ..self
        }
    }

    /// The same matrix beginning at another offset: a slab of a stack.
    pub fn at(self, offset: usize) -> Matrix<'a, T> {
        Matrix { offset, ..self }
    }

    /// Whether every cell lies inside the slice.
    pub(crate) fn fits(&self) -> bool {
        crate::operand::reaches(
            self.data.len(),
            self.offset,
            &[self.rows, self.columns],
            &[self.row, self.column],
        )
    }

    /// The address of cell (row, column).
    pub(crate) fn cell(&self, row: usize, column: usize) -> *const T {
        let steps = row as isize * self.row + column as isize * self.column;
        self.data.as_ptr().wrapping_add(self.offset).wrapping_offset(steps)
    }
}

/// out (m, n) row-major = a (m, k) * b (k, n).
///
/// # Panics
/// When the extents do not fit each other or an operand leaves its slice.
pub fn product<T: Float>(lanes: &Lanes, a: Matrix<T>, b: Matrix<T>, out: &mut [T]) {
    stack(lanes, a, b, &[(a.offset, b.offset)], out);
}

/// out (slabs, m, n) row-major: one product for each pair of offsets, at which the slabs of `a`
/// and `b` begin; a broadcast operand repeats an offset.
///
/// # Panics
/// When the extents do not fit each other or a slab leaves its slice.
pub fn stack<T: Float>(
    lanes: &Lanes,
    a: Matrix<T>,
    b: Matrix<T>,
    slabs: &[(usize, usize)],
    out: &mut [T],
) {
    T::stack(lanes, a, b, slabs, out);
}

/// What `stack` does.
pub(crate) fn stack_of<T: Float>(
    lanes: &Lanes,
    a: Matrix<T>,
    b: Matrix<T>,
    slabs: &[(usize, usize)],
    out: &mut [T],
) {
    let (m, k, n) = (a.rows, a.columns, b.columns);
    check(&a, &b, slabs, out.len());
    if m * n == 0 || slabs.is_empty() {
        return;
    }
    if k == 0 {
        return out.fill(T::default());
    }
    if let Some(tall) = as_one(&a, slabs) {
        return product(lanes, tall, b.at(slabs[0].1), out);
    }
    let target = Target::new(out.as_mut_ptr(), lanes.level());
    let pieces = lanes.pieces(Work::product(size_of::<T>()), m * n * k * slabs.len());
    if slabs.len() >= pieces.max(2) {
        // Slabs are pieces: each is computed by one thread.
        let share = slabs.len().div_ceil(pieces);
        return lanes.workers().run(slabs.len().div_ceil(share), &|piece| {
            let (from, to) = (piece * share, slabs.len().min((piece + 1) * share));
            target.at(from * m * n).slabs(a, b, &slabs[from..to], m * n);
        });
    }
    for (slab, &(left, right)) in slabs.iter().enumerate() {
        let target = target.at(slab * m * n);
        if pieces == 1 {
            target.one(a.at(left), b.at(right));
        } else {
            target.threaded(lanes, pieces, a.at(left), b.at(right));
        }
    }
}

/// Slabs below one another that share their right operand, as one matrix: the right one is then
/// packed once.
fn as_one<'a, T: Copy>(a: &Matrix<'a, T>, slabs: &[(usize, usize)]) -> Option<Matrix<'a, T>> {
    let step = a.rows as isize * a.row;
    let follows = |pair: &[(usize, usize)]| {
        pair[1].1 == pair[0].1 && pair[1].0 as isize - pair[0].0 as isize == step
    };
    let one = slabs.len() > 1 && slabs.windows(2).all(follows);
    one.then(|| Matrix { rows: a.rows * slabs.len(), ..a.at(slabs[0].0) })
}

/// The one place where extents and bounds are looked at.
fn check<T: Copy>(a: &Matrix<T>, b: &Matrix<T>, slabs: &[(usize, usize)], cells: usize) {
    assert_eq!(b.rows, a.columns, "inner extents of a product");
    assert_eq!(cells, slabs.len() * a.rows * b.columns, "cells of a product");
    let fits = |m: &Matrix<T>, offsets: &dyn Fn(&(usize, usize)) -> usize| {
        // What the first and the last slab reach, all between them reach.
        let ends = [slabs.iter().map(offsets).min(), slabs.iter().map(offsets).max()];
        ends.into_iter().flatten().all(|offset| m.at(offset).fits())
    };
    let inside = fits(a, &|slab| slab.0) && fits(b, &|slab| slab.1);
    assert!(inside, "a product operand leaves its slice");
}
