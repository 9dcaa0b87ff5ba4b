//! LU and Cholesky by halves.
//!
//! LU of (m, w): the left half, the exchanges and the substitution for the block row beside it, the
//! update of the rest, the rest, its exchanges in the left half. Cholesky works in the upper
//! triangle, where its block row lies along memory; a lower one is turned on the way in and out.

use super::panel::{self, PANEL};
use super::update::Update;
use super::{Cells, solve, tile};
use crate::level::Task;
use crate::vector::{Simd, Vector};
use crate::{Lanes, Work};

/// LU of a (m, w), m >= w; `pivots` (w) counts rows from the block's first.
pub(super) fn lu(lanes: &Lanes, a: Cells, m: usize, w: usize, pivots: &mut [usize]) {
    if w <= PANEL {
        return panel::lu(lanes, a, m, w, pivots);
    }
    let half = (w / 2).next_multiple_of(PANEL).min(w - 1);
    let (left, right) = pivots.split_at_mut(half);
    lu(lanes, a, m, half, left);
    let (block_row, rest) = (a.at(0, half), a.at(half, half));
    let (rows, columns) = (m - half, w - half);
    exchange_and_solve(lanes, a, half, left, block_row, columns);
    let (l, u, c) = (a.at(half, 0), block_row, rest);
    Update { m: rows, n: columns, depth: half, l, u, c, upper: false }.run(lanes);
    lu(lanes, rest, rows, columns, right);
    let pieces = lanes.pieces(Work::Copy, columns * half);
    let share = half.div_ceil(pieces);
    let below = a.at(half, 0);
    lanes.workers().run(half.div_ceil(share), &|piece| {
        let from = piece * share;
        exchange(below.at(0, from), share.min(half - from), right);
    });
    right.iter_mut().for_each(|row| *row += half);
}

/// The exchanges of the left half, then its substitution, for the columns beside it.
fn exchange_and_solve(
    lanes: &Lanes,
    l: Cells,
    n: usize,
    pivots: &[usize],
    x: Cells,
    columns: usize,
) {
    let (tile_rows, _) = tile::shape(lanes.level());
    if n <= solve::LEAF * tile_rows {
        let before = |from, count| exchange(x.at(0, from), count, pivots);
        return solve::leaf_of(lanes, l, n, true, x, columns, &before);
    }
    let pieces = lanes.pieces(Work::Copy, columns * n);
    let share = columns.div_ceil(pieces);
    lanes.workers().run(columns.div_ceil(share), &|piece| {
        let from = piece * share;
        exchange(x.at(0, from), share.min(columns - from), pivots);
    });
    solve::forward(lanes, l, n, true, x, columns);
}

/// Exchanges the rows k and `pivots[k]` of `columns` cells side by side, the first k first.
fn exchange(x: Cells, columns: usize, pivots: &[usize]) {
    for (k, &row) in pivots.iter().enumerate().filter(|&(k, &row)| k != row) {
        // SAFETY: two different rows of the block that the caller owns.
        unsafe {
            std::ptr::swap_nonoverlapping(x.at(k, 0).start, x.at(row, 0).start, columns);
        }
    }
}

/// Columns of the block that Cholesky factors row by row.
const LEAF: usize = 32;

/// U with U^T U = a, in the place of the upper triangle of a (n, n); the first pivot that is not
/// positive. Below the diagonal stands anything afterwards.
pub(super) fn cholesky(lanes: &Lanes, a: Cells, n: usize) -> Option<usize> {
    if n <= LEAF {
        return lanes.level().run(Leaf { a, n });
    }
    let half = (n / 2).next_multiple_of(LEAF).min(n - 1);
    let failed = cholesky(lanes, a, half);
    let (block_row, rest, columns) = (a.at(0, half), a.at(half, half), n - half);
    solve::forward(lanes, a.transposed(), half, false, block_row, columns);
    let (l, u, c) = (block_row.transposed(), block_row, rest);
    Update { m: columns, n: columns, depth: half, l, u, c, upper: true }.run(lanes);
    let later = cholesky(lanes, rest, columns);
    failed.or(later.map(|k| k + half))
}

/// A small block, row after row.
struct Leaf {
    a: Cells,
    n: usize,
}

impl Task for Leaf {
    type Output = Option<usize>;

    #[inline(always)]
    fn run<S: Simd>(self) -> Option<usize> {
        let Leaf { a, n } = self;
        let lanes = S::F64::LANES;
        let mut failed = None;
        for k in 0..n {
            // SAFETY: (k, k) and what is right of it lie in the block.
            unsafe {
                let pivot = *a.at(k, k).start;
                if pivot <= 0.0 && failed.is_none() {
                    failed = Some(k);
                }
                let root = pivot.sqrt();
                *a.at(k, k).start = root;
                let root = S::F64::splat(root);
                for j in (k + 1..n).step_by(lanes) {
                    let (cells, width) = (a.at(k, j).start, lanes.min(n - j));
                    (S::F64::load_part(cells, width) / root).store_part(cells, width);
                }
                for i in k + 1..n {
                    let l = S::F64::splat(-*a.at(k, i).start);
                    for j in (i..n).step_by(lanes) {
                        let (to, width) = (a.at(i, j).start, lanes.min(n - j));
                        let u = S::F64::load_part(a.at(k, j).start, width);
                        l.fused(u, S::F64::load_part(to, width)).store_part(to, width);
                    }
                }
            }
        }
        failed
    }
}

/// +0 below the diagonal.
pub(super) fn clear_below(a: Cells, n: usize) {
    for i in 1..n {
        // SAFETY: i cells of row i.
        unsafe { std::slice::from_raw_parts_mut(a.at(i, 0).start, i) }.fill(0.0);
    }
}

/// The transpose in place, in blocks of 8 x 8 that fit two cache lines a row.
pub(super) fn turn(a: Cells, n: usize) {
    const SIDE: usize = 8;
    for i in (0..n).step_by(SIDE) {
        for j in (0..=i).step_by(SIDE) {
            for row in i..n.min(i + SIDE) {
                for column in j..row.min(j + SIDE) {
                    // SAFETY: two different cells of the matrix.
                    unsafe { std::ptr::swap(a.at(row, column).start, a.at(column, row).start) };
                }
            }
        }
    }
}
