//! Triangular work at the product's speed: LU with partial pivoting, Cholesky, substitution, each
//! with the bits of `rung_math::triangular`, over stacks of matrices.
//!
//! Everything is recursion by halves: factor the left half, solve for the block row beside it,
//! update the rest, factor the rest. An element's steps start from the element and ascend, so no
//! cut can be seen in the result. Nearly all work is `update` (packed register tiles) and the
//! tiles of `solve`; `panel` is the narrow LU in columns. It checks extents once, at the entry,
//! and knows no right-hand side's width and no element type but f64.
//! Recursion: S. Toledo, Locality of reference in LU decomposition with partial pivoting, 1997.

mod factor;
mod pack;
mod panel;
mod solve;
mod tile;
mod update;

use crate::product::Matrix;
use crate::{Lanes, Work};

/// Cells of a matrix somewhere: element (i, j) is `start[i * row + j * column]`.
#[derive(Clone, Copy)]
struct Cells {
    start: *mut f64,
    row: isize,
    column: isize,
}

// SAFETY: pieces write disjoint cells and read cells that nobody writes.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    /// The same cells counted from element (i, j).
    fn at(self, i: usize, j: usize) -> Cells {
        let from = i as isize * self.row + j as isize * self.column;
        Cells { start: self.start.wrapping_offset(from), ..self }
    }

    /// Rows and columns exchanged.
    fn transposed(self) -> Cells {
        Cells { row: self.column, column: self.row, ..self }
    }
}

/// Which triangle of a matrix is meant, and whether its diagonal counts as ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Triangle {
    /// Below the diagonal; else above.
    pub lower: bool,
    /// The diagonal is not read.
    pub unit: bool,
}

/// LU of each matrix of `stack` (slabs, n, n) in its place; `pivots` (slabs, n): step k exchanged
/// the rows k and `pivots[k]`. Bits of `rung_math::triangular::lu`.
///
/// # Panics
/// When the extents do not fit each other.
pub fn lu(lanes: &Lanes, n: usize, stack: &mut [f64], pivots: &mut [usize]) {
    let slabs = pivots.len().checked_div(n).unwrap_or(0);
    assert_eq!((slabs * n * n, slabs * n), (stack.len(), pivots.len()), "extents of an LU");
    let (matrices, pivots) = (Shared(stack.as_mut_ptr()), Shared(pivots.as_mut_ptr()));
    each(lanes, slabs, n * n * n / 3, &|slab| {
        let start = matrices.at(slab * n * n);
        let cells = Cells { start, row: n as isize, column: 1 };
        // SAFETY: slabs do not overlap, and each is done by one piece.
        let pivots = unsafe { std::slice::from_raw_parts_mut(pivots.at(slab * n), n) };
        factor::lu(lanes, cells, n, n, pivots);
    });
}

/// The Cholesky factor of each matrix of `stack` (slabs, n, n) in its place. `lower`: reads the
/// lower triangle and gives the lower factor, else both are upper; the other triangle becomes
/// +0. `failed` (slabs): the index of the first pivot that is not positive. Bits of
/// `rung_math::triangular::cholesky`.
///
/// # Panics
/// When the extents do not fit each other.
pub fn cholesky(
    lanes: &Lanes,
    n: usize,
    lower: bool,
    stack: &mut [f64],
    failed: &mut [Option<usize>],
) {
    assert_eq!(stack.len(), failed.len() * n * n, "extents of a Cholesky factorisation");
    let (matrices, slabs) = (Shared(stack.as_mut_ptr()), failed.len());
    let failed = Shared(failed.as_mut_ptr());
    each(lanes, slabs, n * n * n / 6, &|slab| {
        let start = matrices.at(slab * n * n);
        let cells = Cells { start, row: n as isize, column: 1 };
        if lower {
            factor::turn(cells, n);
        }
        let pivot = factor::cholesky(lanes, cells, n);
        factor::clear_below(cells, n);
        if lower {
            factor::turn(cells, n);
        }
        // SAFETY: each slab is done by one piece.
        unsafe { *failed.at(slab) = pivot };
    });
}

/// Solves T X = B in the place of B: `right` is a stack (slabs, n, columns), and slab s belongs to
/// the triangle `which` of the matrix at `slabs[s]`. Bits of `rung_math::triangular::forward` and
/// `backward`.
///
/// # Panics
/// When the extents do not fit each other, or a matrix is not square or leaves its slice.
pub fn solve(
    lanes: &Lanes,
    which: Triangle,
    matrix: Matrix<f64>,
    slabs: &[usize],
    columns: usize,
    right: &mut [f64],
) {
    let n = matrix.rows;
    assert_eq!(n, matrix.columns, "a triangle is half of a square");
    assert_eq!(right.len(), slabs.len() * n * columns, "extents of a substitution");
    for &slab in slabs {
        assert!(matrix.at(slab).fits(), "a matrix leaves its slice");
    }
    if n == 0 || columns == 0 {
        return;
    }
    let right = Shared(right.as_mut_ptr());
    each(lanes, slabs.len(), n * n * columns / 2, &|slab| {
        let start = matrix.data.as_ptr().wrapping_add(slabs[slab]).cast_mut();
        let mut t = Cells { start, row: matrix.row, column: matrix.column };
        let start = right.at(slab * n * columns);
        let mut x = Cells { start, row: columns as isize, column: 1 };
        if !which.lower {
            // Counted from the last unknown, an upper triangle is a lower one.
            t = t.at(n - 1, n - 1);
            t = Cells { row: -t.row, column: -t.column, ..t };
            x = x.at(n - 1, 0);
            x.row = -x.row;
        }
        solve::forward(lanes, t, n, which.unit, x, columns);
    });
}

/// A pointer that pieces share; each uses its own part of what it points to.
#[derive(Clone, Copy)]
struct Shared<T>(*mut T);

// SAFETY: see the type.
unsafe impl<T: Send> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    fn at(&self, count: usize) -> *mut T {
        self.0.wrapping_add(count)
    }
}

/// Runs `body` for every slab: each on one thread where there are enough of them, else one after
/// the other with all threads inside. `work`: multiply-adds of a slab.
fn each(lanes: &Lanes, slabs: usize, work: usize, body: &(dyn Fn(usize) + Sync)) {
    let workers = lanes.workers();
    let pieces = lanes.pieces(Work::Triangular, slabs.saturating_mul(work));
    let many = work < ALONE || slabs >= 2 * workers.threads();
    if pieces == 1 || !many {
        return (0..slabs).for_each(body);
    }
    let share = slabs.div_ceil(pieces);
    workers.run(slabs.div_ceil(share), &|piece| {
        (piece * share..slabs.min((piece + 1) * share)).for_each(body);
    });
}

/// Multiply-adds below which a matrix is worth one thread only: n = 128 by LU.
const ALONE: usize = 1 << 19;
