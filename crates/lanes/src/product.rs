//! The matrix product, packed and register-tiled, with the bits of the definition.
//!
//! k is cut into blocks of 512 as the definition says; a block's sums stay in registers from +0
//! on and are stored (first block) or added (later ones), so the tiling cannot be seen in the
//! result. Operands have free strides on both axes: transposed forms are packed in place. It does
//! not choose element types or shapes, and it checks bounds once, at the entry. Read `tile` for
//! the inner loop and `pack` for the panels.

mod pack;
mod tile;

use crate::Lanes;
use crate::level::Level;
use crate::scratch::{with_left, with_right};
use crate::vector::Float;
use tile::Tile;

/// Depth of one block: the contract's number, not a tuning parameter.
const BLOCK: usize = 512;

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
    fn fits(&self) -> bool {
        crate::operand::reaches(
            self.data.len(),
            self.offset,
            &[self.rows, self.columns],
            &[self.row, self.column],
        )
    }

    fn start(&self) -> *const T {
        self.data.as_ptr().wrapping_add(self.offset)
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
    let (m, k, n) = (a.rows, a.columns, b.columns);
    check(&a, &b, slabs, out.len());
    if m * n == 0 || slabs.is_empty() {
        return;
    }
    if k == 0 {
        return out.fill(T::default());
    }
    let target = Target { c: out.as_mut_ptr(), level: lanes.level() };
    let work = m * n * k;
    let pieces = lanes.workers().pieces(work * slabs.len(), threshold::<T>(lanes.level()), GRAIN);
    if slabs.len() >= pieces.max(2) {
        // Slabs are pieces: each is computed by one thread.
        let share = slabs.len().div_ceil(pieces);
        return lanes.workers().run(slabs.len().div_ceil(share), &|piece| {
            let range = piece * share..slabs.len().min((piece + 1) * share);
            for slab in range {
                let (left, right) = slabs[slab];
                target.at(slab * m * n).one(a.at(left), b.at(right));
            }
        });
    }
    for (slab, &(left, right)) in slabs.iter().enumerate() {
        let target = target.at(slab * m * n);
        if pieces == 1 {
            target.one(a.at(left), b.at(right));
        } else {
            target.threaded(lanes, a.at(left), b.at(right));
        }
    }
}

/// The one place where extents and bounds are looked at.
fn check<T: Copy>(a: &Matrix<T>, b: &Matrix<T>, slabs: &[(usize, usize)], cells: usize) {
    assert_eq!(b.rows, a.columns, "inner extents of a product");
    assert_eq!(cells, slabs.len() * a.rows * b.columns, "cells of a product");
    for &(left, right) in slabs {
        assert!(a.at(left).fits() && b.at(right).fits(), "a product operand leaves its slice");
    }
}

/// Multiply-adds from which threads are worth their region: some 10 us of work. The general rule
/// says 2^15, but 32 x 32 x 32 takes 0.7 us with 512-bit f32 and took 1.4 on two threads.
fn threshold<T>(level: Level) -> usize {
    match level {
        Level::Portable => 1 << 15,
        Level::Avx2 => (1 << 21) / size_of::<T>(),
        Level::Avx512 => (1 << 22) / size_of::<T>(),
    }
}

/// The least multiply-adds of a piece.
const GRAIN: usize = 1 << 13;

/// Multiply-adds up to which operands are read where they lie (see `Target::direct`).
const DIRECT: usize = 1 << 21;

/// Bytes of the packed left block of one piece; with a panel of the right operand (64 KiB) it
/// has to stay in L2, which is 512 KiB or more wherever there are wide vectors.
const LEFT_BYTES: usize = 384 << 10;

/// Bytes of the packed right block, shared by all threads: a part of L3.
const RIGHT_BYTES: usize = 4 << 20;

/// Bytes of packed right panels walked before the next left panel: a part of L2.
const CHUNK_BYTES: usize = 256 << 10;

/// Where results go, and with which vectors.
#[derive(Clone, Copy)]
struct Target<T> {
    c: *mut T,
    level: Level,
}

// SAFETY: pieces write disjoint cells.
unsafe impl<T: Send> Send for Target<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Target<T> {}

/// Rows of a tile, lanes of a vector.
fn tile_shape<T>(level: Level) -> (usize, usize) {
    let (rows, bytes) = match level {
        Level::Portable => (4, 16),
        Level::Avx2 => (6, 32),
        Level::Avx512 => (12, 64),
    };
    (rows, bytes / size_of::<T>())
}

impl<T: Float> Target<T> {
    fn at(self, cells: usize) -> Target<T> {
        Target { c: self.c.wrapping_add(cells), ..self }
    }

    /// One product on this thread.
    fn one(self, a: Matrix<T>, b: Matrix<T>) {
        if self.reads_in_place(&a, &b) {
            return self.direct(a, b, 0..a.rows, 0..b.columns);
        }
        let width = right_columns::<T>(b.columns, self.level);
        for from in (0..b.columns).step_by(width) {
            let columns = width.min(b.columns - from);
            for k in (0..a.columns).step_by(BLOCK) {
                let depth = BLOCK.min(a.columns - k);
                with_right(|scratch| {
                    let packed =
                        Right::room(scratch, self.level, b.columns, (from, columns), (k, depth));
                    packed.pack(b, 0..packed.panels());
                    self.block(a, &packed, 0..a.rows, 0..packed.panels());
                });
            }
        }
    }

    /// One product cut into pieces of rows; the right block is packed once for all of them.
    fn threaded(self, lanes: &Lanes, a: Matrix<T>, b: Matrix<T>) {
        if self.reads_in_place(&a, &b) {
            return self.direct_pieces(lanes, a, b);
        }
        let workers = lanes.workers();
        let most = workers.threads() * crate::workers::PIECES_PER_THREAD;
        let width = right_columns::<T>(b.columns, self.level);
        for from in (0..b.columns).step_by(width) {
            let columns = width.min(b.columns - from);
            for k in (0..a.columns).step_by(BLOCK) {
                let depth = BLOCK.min(a.columns - k);
                with_right(|scratch| {
                    let packed =
                        Right::room(scratch, self.level, b.columns, (from, columns), (k, depth));
                    let panels = packed.panels();
                    let share = panels.div_ceil(most);
                    workers.run(panels.div_ceil(share), &|piece| {
                        packed.pack(b, piece * share..panels.min((piece + 1) * share));
                    });
                    self.pieces(lanes, a, &packed);
                });
            }
        }
    }

    /// Cuts the cells of one packed block into pieces: of rows, and of columns as well when there
    /// are few rows.
    fn pieces(self, lanes: &Lanes, a: Matrix<T>, packed: &Right<T>) {
        let (tile_rows, _) = tile_shape::<T>(self.level);
        let most = lanes.workers().threads() * crate::workers::PIECES_PER_THREAD;
        let row_tiles = a.rows.div_ceil(tile_rows);
        let rows_share = row_tiles.div_ceil(most);
        let row_pieces = row_tiles.div_ceil(rows_share);
        let panels = packed.panels();
        let panels_share = panels.div_ceil((most / row_pieces).clamp(1, panels));
        let column_pieces = panels.div_ceil(panels_share);
        lanes.workers().run(row_pieces * column_pieces, &|piece| {
            let (row, column) = (piece / column_pieces, piece % column_pieces);
            let start = row * rows_share * tile_rows;
            let rows = start..a.rows.min(start + rows_share * tile_rows);
            let first = column * panels_share;
            self.block(a, packed, rows, first..panels.min(first + panels_share));
        });
    }

    /// Whether packing would cost more than it gains: a small product, or so few rows that the
    /// right operand is read once or twice anyway.
    fn reads_in_place(self, a: &Matrix<T>, b: &Matrix<T>) -> bool {
        let (tile_rows, _) = tile_shape::<T>(self.level);
        let small = a.rows * a.columns * b.columns <= DIRECT;
        b.column == 1 && (small || a.rows <= 2 * tile_rows)
    }

    /// Operands read where they lie, cut into pieces of rows, or of columns when rows are few.
    fn direct_pieces(self, lanes: &Lanes, a: Matrix<T>, b: Matrix<T>) {
        let (tile_rows, vector) = tile_shape::<T>(self.level);
        let most = lanes.workers().threads() * crate::workers::PIECES_PER_THREAD;
        let by_rows = a.rows.div_ceil(tile_rows) >= most;
        let (extent, unit) = if by_rows { (a.rows, tile_rows) } else { (b.columns, 2 * vector) };
        let share = extent.div_ceil(most).next_multiple_of(unit);
        lanes.workers().run(extent.div_ceil(share), &|piece| {
            let range = piece * share..extent.min((piece + 1) * share);
            if by_rows {
                self.direct(a, b, range, 0..b.columns);
            } else {
                self.direct(a, b, 0..a.rows, range);
            }
        });
    }

    /// Some rows and columns of a product whose operands are read where they lie. Asking for the
    /// right operand 8 rows ahead was tried: (4 1024 1024) f32 fell from 50 to 31 GFLOP/s.
    fn direct(
        self,
        a: Matrix<T>,
        b: Matrix<T>,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
    ) {
        let (tile_rows, lanes) = tile_shape::<T>(self.level);
        for k in (0..a.columns).step_by(BLOCK) {
            for column in columns.clone().step_by(2 * lanes) {
                for row in rows.clone().step_by(tile_rows) {
                    let tile = Tile {
                        depth: BLOCK.min(a.columns - k),
                        a: a.start().wrapping_offset(row as isize * a.row + k as isize * a.column),
                        a_row: a.row,
                        a_step: a.column,
                        b: b.start().wrapping_offset(k as isize * b.row + column as isize),
                        b_step: b.row,
                        c: self.c.wrapping_add(row * b.columns + column),
                        c_row: b.columns,
                        columns: (2 * lanes).min(columns.end - column),
                        first: k == 0,
                    };
                    let height = tile_rows.min(rows.end - row);
                    // SAFETY: `stack` checked the operands and the cells.
                    unsafe { tile::run::<T, false>(self.level, height, lanes, tile) };
                }
            }
        }
    }

    /// The cells of `rows` and of the packed panels `panels`, for one block of k.
    fn block(
        self,
        a: Matrix<T>,
        right: &Right<T>,
        rows: std::ops::Range<usize>,
        panels: std::ops::Range<usize>,
    ) {
        let (tile_rows, _) = tile_shape::<T>(self.level);
        let most = (LEFT_BYTES / size_of::<T>() / right.depth / tile_rows).max(1) * tile_rows;
        for start in rows.clone().step_by(most) {
            let count = most.min(rows.end - start);
            with_left(|scratch| {
                let packed: *mut T = scratch.room(count * right.depth);
                for row in (0..count).step_by(tile_rows) {
                    let height = tile_rows.min(count - row);
                    let from = a.start().wrapping_offset(
                        (start + row) as isize * a.row + right.k as isize * a.column,
                    );
                    // SAFETY: `stack` checked the operand; the room is `count` rows deep.
                    unsafe {
                        pack::panel(
                            from,
                            a.row,
                            a.column,
                            height,
                            height,
                            right.depth,
                            packed.add(row * right.depth),
                        );
                    }
                }
                self.tiles(packed, right, start, count, panels.clone());
            });
        }
    }

    /// Every tile of `count` packed rows against the panels.
    fn tiles(
        self,
        left: *const T,
        right: &Right<T>,
        start: usize,
        count: usize,
        panels: std::ops::Range<usize>,
    ) {
        let (tile_rows, lanes) = tile_shape::<T>(self.level);
        let chunk = (CHUNK_BYTES / size_of::<T>() / right.depth / right.width).max(1);
        for from in panels.clone().step_by(chunk) {
            for row in (0..count).step_by(tile_rows) {
                let rows = tile_rows.min(count - row);
                for panel in from..panels.end.min(from + chunk) {
                    let column = right.from + panel * right.width;
                    let tile = Tile {
                        depth: right.depth,
                        a: left.wrapping_add(row * right.depth),
                        a_row: 1,
                        a_step: rows as isize,
                        b: right.packed.wrapping_add(panel * right.width * right.depth),
                        b_step: right.width as isize,
                        c: self.c.wrapping_add((start + row) * right.total + column),
                        c_row: right.total,
                        columns: right.width.min(right.from + right.columns - column),
                        first: right.k == 0,
                    };
                    // SAFETY: panels are packed for this tile shape; the cells were checked.
                    unsafe { tile::run::<T, true>(self.level, rows, lanes, tile) };
                }
            }
        }
    }
}

/// Columns packed at a time.
fn right_columns<T>(columns: usize, level: Level) -> usize {
    let width = 2 * tile_shape::<T>(level).1;
    let most = RIGHT_BYTES / size_of::<T>() / BLOCK / width * width;
    most.min(columns.next_multiple_of(width))
}

/// A packed block of the right operand: `columns` from column `from`, `depth` from k.
struct Right<T> {
    packed: *mut T,
    width: usize,
    from: usize,
    columns: usize,
    /// Columns of the whole result.
    total: usize,
    k: usize,
    depth: usize,
}

// SAFETY: packed by disjoint panels, then only read.
unsafe impl<T: Send> Sync for Right<T> {}

impl<T: Float> Right<T> {
    fn room(
        scratch: &mut crate::scratch::Scratch,
        level: Level,
        total: usize,
        (from, columns): (usize, usize),
        (k, depth): (usize, usize),
    ) -> Right<T> {
        let width = 2 * tile_shape::<T>(level).1;
        let packed = scratch.room(columns.next_multiple_of(width) * depth);
        Right { packed, width, from, columns, total, k, depth }
    }

    fn panels(&self) -> usize {
        self.columns.div_ceil(self.width)
    }

    fn pack(&self, b: Matrix<T>, panels: std::ops::Range<usize>) {
        for panel in panels {
            let column = panel * self.width;
            let from = b.start().wrapping_offset(
                self.k as isize * b.row + (self.from + column) as isize * b.column,
            );
            // SAFETY: `stack` checked the operand; the room holds every panel, padded.
            unsafe {
                pack::panel(
                    from,
                    b.column,
                    b.row,
                    self.width.min(self.columns - column),
                    self.width,
                    self.depth,
                    self.packed.add(column * self.depth),
                );
            }
        }
    }
}
