//! c <- c - l u at the product's speed: the trailing update of every factorisation and the far
//! part of every substitution.
//!
//! c (m, n), l (m, depth), u (depth, n). k runs in blocks, ascending, and each block starts from
//! what the one before left in the cells, so the blocks cannot be seen. u is packed once for all
//! threads, each thread packs its own rows of l. `upper` leaves out tiles below the diagonal.

use super::tile::{self, Tile};
use super::{Cells, pack};
use crate::level::Level;
use crate::scratch::{with_left, with_right};
use crate::{Lanes, Work};
use std::ops::Range;

/// Steps of a block: 12 packed rows of it (24 KiB) stay in L1 while strips pass by.
const DEPTH: usize = 256;

/// Numbers of a packed right block, shared by all threads: 4 MiB of L3.
const RIGHT: usize = 1 << 19;

/// Numbers of packed rows of one thread: 384 KiB of L2.
const LEFT: usize = 48 << 10;

/// Numbers of right strips walked before the next rows: 256 KiB of L2.
const CHUNK: usize = 32 << 10;

/// One update; see the file's text.
#[derive(Clone, Copy)]
pub(super) struct Update {
    pub m: usize,
    pub n: usize,
    pub depth: usize,
    pub l: Cells,
    pub u: Cells,
    pub c: Cells,
    /// Only cells (i, j) with j >= i are wanted; others may be written.
    pub upper: bool,
}

/// A packed block of u.
#[derive(Clone, Copy)]
struct Right {
    packed: *mut f64,
    /// The first column, and how many.
    from: usize,
    columns: usize,
    k: usize,
    depth: usize,
}

// SAFETY: packed by disjoint strips, then only read.
unsafe impl Sync for Right {}

impl Update {
    /// Does it, on all threads where that is worth it.
    pub fn run(self, lanes: &Lanes) {
        if self.m * self.n * self.depth == 0 {
            return;
        }
        let (level, workers) = (lanes.level(), lanes.workers());
        let (_, vector) = tile::shape(level);
        let width = 2 * vector;
        let work = self.m * self.n * self.depth;
        let pieces = lanes.pieces(Work::Triangular, work);
        let most = (RIGHT / DEPTH / width * width).min(self.n.next_multiple_of(width));
        for from in (0..self.n).step_by(most) {
            let columns = most.min(self.n - from);
            let strips = columns.div_ceil(width);
            for k in (0..self.depth).step_by(DEPTH) {
                let depth = DEPTH.min(self.depth - k);
                with_right(|scratch| {
                    let packed = scratch.room(strips * width * depth);
                    let right = Right { packed, from, columns, k, depth };
                    if pieces == 1 {
                        self.pack(&right, width, 0..strips);
                        return self.rows(level, &right, 0..self.m);
                    }
                    let share = strips.div_ceil(pieces);
                    workers.run(strips.div_ceil(share), &|piece| {
                        let range = piece * share..strips.min((piece + 1) * share);
                        self.pack(&right, width, range);
                    });
                    let (tile_rows, _) = tile::shape(level);
                    let share = self.m.div_ceil(pieces).next_multiple_of(tile_rows);
                    workers.run(self.m.div_ceil(share), &|piece| {
                        let range = piece * share..self.m.min((piece + 1) * share);
                        self.rows(level, &right, range);
                    });
                });
            }
        }
    }

    fn pack(&self, right: &Right, width: usize, strips: Range<usize>) {
        for strip in strips {
            let column = strip * width;
            let columns = width.min(right.columns - column);
            let u = self.u.at(right.k, right.from + column);
            // SAFETY: the room holds every strip, padded; `run`'s caller vouches for the cells.
            unsafe {
                let to = right.packed.add(column * right.depth);
                pack::strip(u, columns, width, right.depth, to);
            }
        }
    }

    /// The cells of these rows in the packed columns.
    fn rows(&self, level: Level, right: &Right, rows: Range<usize>) {
        let (tile_rows, _) = tile::shape(level);
        let most = (LEFT / right.depth / tile_rows).max(1) * tile_rows;
        for start in rows.clone().step_by(most) {
            let count = most.min(rows.end - start);
            with_left(|scratch| {
                let packed: *mut f64 = scratch.room(count * right.depth);
                for row in (0..count).step_by(tile_rows) {
                    let height = tile_rows.min(count - row);
                    // SAFETY: the room is `count` rows deep; the caller vouches for the cells.
                    unsafe {
                        let to = packed.add(row * right.depth);
                        let l = self.l.at(start + row, right.k);
                        pack::left(level, l, height, right.depth, to);
                    }
                }
                self.tiles(level, right, packed, start, count);
            });
        }
    }

    fn tiles(&self, level: Level, right: &Right, left: *const f64, start: usize, count: usize) {
        let (tile_rows, lanes) = tile::shape(level);
        let width = 2 * lanes;
        let strips = right.columns.div_ceil(width);
        let chunk = (CHUNK / right.depth / width).max(1);
        for from in (0..strips).step_by(chunk) {
            for row in (0..count).step_by(tile_rows) {
                let rows = tile_rows.min(count - row);
                // Strips that end before the diagonal reaches these rows are left out.
                let diagonal = (start + row).saturating_sub(right.from) / width;
                let first = if self.upper { from.max(diagonal) } else { from };
                for strip in first..strips.min(from + chunk) {
                    let column = strip * width;
                    let tile = Tile {
                        depth: right.depth,
                        a: left.wrapping_add(row * right.depth),
                        b: right.packed.wrapping_add(column * right.depth),
                        c: self.c.at(start + row, right.from + column).start,
                        c_row: self.c.row,
                        columns: width.min(right.columns - column),
                    };
                    // SAFETY: strips and rows are packed for this shape; cells are the caller's.
                    unsafe { tile::update(level, rows, lanes, tile) };
                }
            }
        }
    }
}
