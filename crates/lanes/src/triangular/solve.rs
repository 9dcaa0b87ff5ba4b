//! Forward substitution for many right-hand sides: T X = B in the place of B.
//!
//! Halves: the first unknowns, then their part in the rest by `update`, then the rest. A leaf is
//! a triangle packed once and run against strips of B, each on one thread. Substitution from the
//! last unknown is the same with every stride turned.

use super::tile::{self, Corner, Tile};
use super::update::Update;
use super::{Cells, pack};
use crate::level::Level;
use crate::scratch::{with_left, with_right};
use crate::{Lanes, Work};

/// Tiles of rows in a leaf: 96 unknowns with 512-bit vectors.
pub(super) const LEAF: usize = 8;

/// t (n, n) lower, x (n, columns) with its columns side by side.
pub(super) fn forward(lanes: &Lanes, t: Cells, n: usize, unit: bool, x: Cells, columns: usize) {
    let (tile_rows, _) = tile::shape(lanes.level());
    let leaf = LEAF * tile_rows;
    if n <= leaf {
        return leaf_of(lanes, t, n, unit, x, columns, &|_, _| {});
    }
    let half = (n / 2).next_multiple_of(leaf).min(n - 1);
    forward(lanes, t, half, unit, x, columns);
    let (m, n, depth) = (n - half, columns, half);
    let (l, c) = (t.at(half, 0), x.at(half, 0));
    Update { m, n, depth, l, u: x, c, upper: false }.run(lanes);
    forward(lanes, t.at(half, half), m, unit, c, columns);
}

/// A leaf: at most `LEAF` tiles of unknowns. `before(from, count)` prepares columns of x on the
/// thread that solves for them next, while they are in its cache.
pub(super) fn leaf_of(
    lanes: &Lanes,
    t: Cells,
    n: usize,
    unit: bool,
    x: Cells,
    columns: usize,
    before: &(dyn Fn(usize, usize) + Sync),
) {
    let (level, workers) = (lanes.level(), lanes.workers());
    let (tile_rows, vector) = tile::shape(level);
    let width = 2 * vector;
    let strips = columns.div_ceil(width);
    with_right(|scratch| {
        // Tile b holds its rows over the b + 1 tiles of columns before its diagonal's end.
        let tiles = n.div_ceil(tile_rows);
        let room = tile_rows * tile_rows * tiles * (tiles + 1) / 2;
        let packed = Triangle { packed: scratch.room(room), t, n, unit, level };
        packed.pack();
        let pieces = lanes.pieces(Work::Triangular, n * n / 2 * columns);
        let share = strips.div_ceil(pieces);
        workers.run(strips.div_ceil(share), &|piece| {
            let from = piece * share * width;
            let end = columns.min(from + share * width);
            before(from, end - from);
            for column in (from..end).step_by(width) {
                packed.strip(x.at(0, column), width.min(columns - column));
            }
        });
    });
}

/// A triangle packed for its leaf.
struct Triangle {
    packed: *mut f64,
    t: Cells,
    n: usize,
    unit: bool,
    level: Level,
}

// SAFETY: packed before threads read it.
unsafe impl Sync for Triangle {}

impl Triangle {
    /// Each tile of rows, at its place.
    fn tiles(&self) -> impl Iterator<Item = (usize, usize, *mut f64)> {
        let (tile_rows, _) = tile::shape(self.level);
        let (n, packed) = (self.n, self.packed);
        (0..n.div_ceil(tile_rows)).map(move |tile| {
            let row = tile * tile_rows;
            let before = tile_rows * tile_rows * tile * (tile + 1) / 2;
            (row, tile_rows.min(n - row), packed.wrapping_add(before))
        })
    }

    fn pack(&self) {
        for (row, rows, to) in self.tiles() {
            // SAFETY: the room has this tile's place; `forward`'s caller vouches for the cells.
            unsafe { pack::left(self.level, self.t.at(row, 0), rows, row + rows, to) };
        }
    }

    /// Solves for the columns of one strip of x.
    fn strip(&self, x: Cells, columns: usize) {
        let (_, lanes) = tile::shape(self.level);
        let width = 2 * lanes;
        with_left(|scratch| {
            let solved: *mut f64 = scratch.room(self.n * width);
            for (row, rows, packed) in self.tiles() {
                let tile = Tile {
                    depth: row,
                    a: packed,
                    b: solved,
                    c: x.at(row, 0).start,
                    c_row: x.row,
                    columns,
                };
                let corner = Corner { unit: self.unit, strip: solved.wrapping_add(row * width) };
                // SAFETY: packed for this shape; the strip has a row for every unknown.
                unsafe { tile::solve(self.level, rows, lanes, tile, corner) };
            }
        });
    }
}
