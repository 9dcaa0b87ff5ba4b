//! The order in which the tiles of a product are computed, on one thread and on several.
//!
//! A tile reads rows of the left operand and a panel of the right one: where they lie, or packed, the
//! right one once for all rows and threads, the left one by the thread that reads it. A panel is as
//! wide as a tile, so that one of 512 k (128 KiB with 512-bit vectors) and the rows that pass by it
//! stay in L2 together.

use super::tile::{self, FREE, Job, PACKED, Tile, UNIT};
use super::{Matrix, pack};
use crate::Lanes;
use crate::level::Level;
use crate::scratch::{with_left, with_right};
use crate::vector::{Float, LINE};
use rung_math::product::BLOCK;
use smallvec::SmallVec;
use std::ops::Range;

/// Multiply-adds up to which operands are read where they lie (see `Target::reads_in_place`).
const DIRECT: usize = 1 << 21;

/// Bytes of a block of a dense right operand that needs no packing: a part of L2.
const HELD_BYTES: usize = 256 << 10;

/// Bytes of the left rows that pass by one panel after another: with a panel they stay in L2,
/// which is 512 KiB or more wherever there are wide vectors.
const LEFT_BYTES: usize = 192 << 10;

/// Panels of the right operand from which rows of the left one that lie along memory are packed for
/// them: six rows at their own places are six streams, which the prefetcher finds anew in every row.
/// Packed, 384 x 384 and 1,536 x 1,536 f64 took 8 % less time (AMD Zen 3).
const LEFT_PANELS: usize = 16;

/// Bytes of the packed right block, shared by all threads: a part of L3.
const RIGHT_BYTES: usize = 4 << 20;

/// Bytes that products keep beside their operands and results.
pub const fn room(threads: usize) -> usize {
    RIGHT_BYTES + 2 * LEFT_BYTES * threads
}

/// Where results go, and with which vectors.
#[derive(Clone, Copy)]
pub(super) struct Target<T> {
    c: *mut T,
    level: Level,
}

// SAFETY: pieces write disjoint cells.
unsafe impl<T: Send> Send for Target<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Target<T> {}

/// A block of the right operand, panel by panel.
#[derive(Clone, Copy)]
struct Right<T> {
    /// Whether panels are packed, or read where they lie.
    packed: bool,
    start: *const T,
    /// From one k to the next.
    step: isize,
    /// From one panel to the next, and how many columns it has.
    panel: usize,
    width: usize,
    /// The first column of the block, and how many there are.
    from: usize,
    columns: usize,
    /// Columns of the whole result.
    total: usize,
    /// The first k of the block, and how many there are.
    k: usize,
    depth: usize,
}

// SAFETY: packed by disjoint panels, otherwise only read while pieces share it.
unsafe impl<T: Send> Sync for Right<T> {}

impl<T> Right<T> {
    fn panels(&self) -> usize {
        self.columns.div_ceil(self.width)
    }
}

/// Rows of the left operand.
#[derive(Clone, Copy)]
struct Left<T> {
    lies: tile::Left,
    start: *const T,
    row: isize,
    step: isize,
    /// How many, and the first one's place in the result.
    rows: usize,
    from: usize,
}

impl<T: Float> Target<T> {
    pub(super) fn new(c: *mut T, level: Level) -> Target<T> {
        Target { c, level }
    }

    pub(super) fn at(self, cells: usize) -> Target<T> {
        Target { c: self.c.wrapping_add(cells), ..self }
    }

    /// Lanes of a vector.
    fn lanes(self) -> usize {
        self.level.bits() / 8 / size_of::<T>()
    }

    /// `columns` in whole vectors, at least one; a shift, since a division would show in products
    /// of 8 x 8.
    fn whole_vectors(self, columns: usize) -> usize {
        (columns >> self.lanes().trailing_zeros()).max(1)
    }

    /// One product on this thread.
    pub(super) fn one(self, a: Matrix<T>, b: Matrix<T>) {
        self.each_block(&a, &b, |right| {
            if right.packed {
                self.pack(&b, right, 0..right.panels());
            }
            self.block(&a, right, 0..a.rows, 0..right.panels(), &mut |job| self.run(job));
        });
    }

    /// Products of one shape on this thread; slab `i` is written `i * cells` from the first. Where
    /// nothing is packed the tiles lie alike in all of them, and are laid out once: a product of 8 x 8
    /// takes no longer than that.
    pub(super) fn slabs(self, a: Matrix<T>, b: Matrix<T>, slabs: &[(usize, usize)], cells: usize) {
        let Some(&(first_left, first_right)) = slabs.first() else { return };
        let (a, b) = (a.at(first_left), b.at(first_right));
        if !self.reads_in_place(&a, &b) {
            for (slab, &(left, right)) in slabs.iter().enumerate() {
                self.at(slab * cells).one(a.at(left), b.at(right));
            }
            return;
        }
        let mut jobs: SmallVec<[Job<T>; 4]> = SmallVec::new();
        self.each_block(&a, &b, |right| {
            self.block(&a, right, 0..a.rows, 0..right.panels(), &mut |job| jobs.push(job));
        });
        for (slab, &(left, right)) in slabs.iter().enumerate() {
            let left = left as isize - first_left as isize;
            let right = right as isize - first_right as isize;
            for job in &jobs {
                self.run(job.moved(left, right, slab * cells));
            }
        }
    }

    fn run(self, job: Job<T>) {
        // SAFETY: `stack` checked the operands and the cells.
        unsafe { job.run(self.level) };
    }

    /// One product cut into pieces of rows and columns; the right block is packed once for all.
    pub(super) fn threaded(self, lanes: &Lanes, pieces: usize, a: Matrix<T>, b: Matrix<T>) {
        self.each_block(&a, &b, |right| {
            if right.packed {
                let share = right.panels().div_ceil(pieces);
                lanes.workers().run(right.panels().div_ceil(share), &|piece| {
                    let range = piece * share..right.panels().min((piece + 1) * share);
                    self.pack(&b, right, range);
                });
            }
            self.pieces(lanes, pieces, &a, right);
        });
    }

    /// Hands `body` every block of the right operand, in ascending k, with room where it is to be
    /// packed.
    fn each_block(self, a: &Matrix<T>, b: &Matrix<T>, mut body: impl FnMut(&Right<T>)) {
        let packed = !self.reads_in_place(a, b);
        let kind = if packed || a.column == 1 { UNIT } else { FREE };
        let width = self.lanes() * tile::most_vectors(self.level, kind);
        let most = match packed {
            true => RIGHT_BYTES / size_of::<T>() / BLOCK / width * width,
            false => b.columns,
        };
        for from in (0..b.columns).step_by(most) {
            let columns = most.min(b.columns - from);
            for k in (0..b.rows).step_by(BLOCK) {
                let depth = BLOCK.min(b.rows - k);
                let (start, step, panel, total) = (b.cell(k, from), b.row, width, b.columns);
                let right =
                    Right { packed, start, step, panel, width, from, columns, total, k, depth };
                if !packed {
                    body(&right);
                    continue;
                }
                with_right(|scratch| {
                    let start = scratch.room(columns.next_multiple_of(width) * depth);
                    body(&Right { start, step: width as isize, panel: width * depth, ..right });
                });
            }
        }
    }

    /// Whether packing the right operand would cost more than it gains: a small product, so few
    /// rows that it is read once or twice anyway, or one that caches hold as it lies.
    fn reads_in_place(self, a: &Matrix<T>, b: &Matrix<T>) -> bool {
        let small = a.rows * a.columns * b.columns <= DIRECT;
        let few = a.rows <= 2 * tile::most_rows::<T>(self.level, 2, UNIT, b.columns);
        let dense = b.row.unsigned_abs() <= 2 * b.columns;
        let held = b.rows.min(BLOCK) * b.columns * size_of::<T>() <= HELD_BYTES;
        let held = held && a.column == 1 && dense;
        b.column == 1 && (few || ((small || held) && stays_in_l1(b)))
    }

    fn pack(self, b: &Matrix<T>, right: &Right<T>, panels: Range<usize>) {
        let (width, depth) = (right.width, right.depth);
        for panel in panels {
            let column = panel * width;
            let columns = width.min(right.columns - column);
            let from = b.cell(right.k, right.from + column);
            let to = right.start.wrapping_add(column * depth).cast_mut();
            // SAFETY: `stack` checked the operand; the room holds every panel.
            unsafe { pack::panel(from, b.column, b.row, columns, width, depth, to) };
        }
    }

    /// Cuts the cells of one block into pieces along whichever side has more tiles, and along the
    /// other as well when those are too few.
    fn pieces(self, lanes: &Lanes, pieces: usize, a: &Matrix<T>, right: &Right<T>) {
        let height =
            tile::most_rows::<T>(self.level, right.width / self.lanes(), UNIT, right.width);
        let (tiles, panels) = (a.rows.div_ceil(height), right.panels());
        let (down, across) = if tiles >= panels {
            let down = pieces.min(tiles);
            (down, (pieces / down).clamp(1, panels))
        } else {
            let across = pieces.min(panels);
            ((pieces / across).clamp(1, tiles), across)
        };
        let (rows, columns) = (tiles.div_ceil(down) * height, panels.div_ceil(across));
        let across = panels.div_ceil(columns);
        lanes.workers().run(a.rows.div_ceil(rows) * across, &|piece| {
            let (row, column) = (piece / across * rows, piece % across * columns);
            let panels = column..panels.min(column + columns);
            let rows = row..a.rows.min(row + rows);
            self.block(a, right, rows, panels, &mut |job| self.run(job));
        });
    }

    /// The tiles of `rows` and of some panels, for one block of k, in their order. What is packed
    /// for them stays no longer than the call of `to`.
    fn block(
        self,
        a: &Matrix<T>,
        right: &Right<T>,
        rows: Range<usize>,
        panels: Range<usize>,
        to: &mut impl FnMut(Job<T>),
    ) {
        let depth = right.depth;
        let most = match rows.len() * depth <= LEFT_BYTES / size_of::<T>() {
            true => rows.len(),
            false => (LEFT_BYTES / size_of::<T>() / depth / 12).max(1) * 12,
        };
        let along = a.column == 1;
        let pack = right.packed && (!along || right.panels() >= LEFT_PANELS);
        let lies = if along { UNIT } else { FREE };
        for from in rows.clone().step_by(most) {
            let rows = most.min(rows.end - from);
            let start = a.cell(from, right.k);
            let left = Left { lies, start, row: a.row, step: a.column, rows, from };
            if !pack {
                self.rows(left, right, panels.clone(), to);
                continue;
            }
            with_left(|scratch| {
                let room = scratch.room(rows * depth);
                self.pack_left(left, right, room);
                let left = Left { lies: PACKED, start: room, ..left };
                self.rows(left, right, panels.clone(), to);
            });
        }
    }

    /// Rows of the left operand, tile by tile.
    fn pack_left(self, left: Left<T>, right: &Right<T>, room: *mut T) {
        let (mut from, mut to) = (left.start, room);
        for (height, tiles) in heights(left.rows, self.packed_rows(right)) {
            for _ in 0..tiles {
                // SAFETY: `stack` checked the operand; the room holds the rows.
                unsafe { pack::panel(from, left.row, left.step, height, height, right.depth, to) };
                from = from.wrapping_offset(height as isize * left.row);
                to = to.wrapping_add(height * right.depth);
            }
        }
    }

    /// The most rows of a tile of packed ones, which have one height for all panels, full or not.
    fn packed_rows(self, right: &Right<T>) -> usize {
        let columns = right.columns.min(right.width);
        let rest = right.columns % self.lanes();
        let most = |columns| {
            tile::most_rows::<T>(self.level, self.whole_vectors(columns), PACKED, columns)
        };
        if rest == 0 { most(columns) } else { most(columns).min(most(rest)) }
    }

    /// Some rows against the panels.
    fn rows(
        self,
        left: Left<T>,
        right: &Right<T>,
        panels: Range<usize>,
        to: &mut impl FnMut(Job<T>),
    ) {
        let lanes = self.lanes();
        for panel in panels {
            let first = panel * right.width;
            let end = right.columns.min(first + right.width);
            let mut column = first;
            while column < end {
                let vectors = self.whole_vectors(end - column);
                let columns = (vectors * lanes).min(end - column);
                let cell = left.from * right.total + right.from + column;
                let tile = Tile {
                    depth: right.depth,
                    a: left.start,
                    a_row: left.row,
                    a_step: left.step,
                    b: right.start.wrapping_add(panel * right.panel + column - first),
                    b_step: right.step,
                    c: self.c.wrapping_add(cell),
                    c_row: right.total,
                    columns,
                    tiles: 1,
                    first: right.k == 0,
                };
                let most = match left.lies {
                    PACKED => self.packed_rows(right),
                    lies => tile::most_rows::<T>(self.level, vectors, lies, columns),
                };
                self.down(tile, left, most, vectors, to);
                column += columns;
            }
        }
    }

    /// Tiles below one another: all the rows.
    fn down(
        self,
        mut tile: Tile<T>,
        left: Left<T>,
        most: usize,
        vectors: usize,
        to: &mut impl FnMut(Job<T>),
    ) {
        for (height, tiles) in heights(left.rows, most) {
            tile.tiles = tiles;
            if tiles == 0 {
                continue;
            }
            to(Job::new(self.level, height, vectors, left.lies, tile));
            let rows = tiles * height;
            tile.a = tile.a.wrapping_offset(tile.rows_of_a(left.lies, rows));
            tile.c = tile.c.wrapping_add(rows * tile.c_row);
        }
    }
}

/// Whether the first lines of the rows of a block stay in L1 beside one another, as a panel's are read
/// again for every tile. Rows whose distance is a multiple of a power of two meet in few of its 64 sets
/// of 8 lines or more: 256 x 256 f32, in four of them, took a quarter more time than packed.
fn stays_in_l1<T>(b: &Matrix<T>) -> bool {
    const SETS: usize = 64;
    const WAYS: usize = 8;
    let apart = b.row.unsigned_abs() * size_of::<T>();
    let common = 1 << apart.trailing_zeros().min((SETS * LINE).trailing_zeros());
    let sets = (SETS * LINE / common).min(SETS);
    b.rows.min(BLOCK) <= sets * WAYS
}

/// Rows in tiles of at most so many, as equal in height as can be: the heights, and how many tiles of
/// each.
fn heights(rows: usize, most: usize) -> [(usize, usize); 2] {
    let tiles = rows.div_ceil(most);
    let (height, taller) = (rows / tiles, rows % tiles);
    [(height + 1, taller), (height, tiles - taller)]
}
