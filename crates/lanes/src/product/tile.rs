//! The register tile of a product: up to 24 vectors of results kept in registers while k runs
//! through one block, as 12 rows by two vectors, 8 by three, 6 by four, or 24 by one.
//!
//! Each cell starts from +0 and takes one fused multiply-add for every k, ascending, which is the
//! order of the definition (`math::product`). The row count is a constant of the code, so a
//! ragged last panel costs what it holds. `product` cuts the work into these.

use crate::level::{Level, Task};
use crate::vector::{Float, Simd, Vector};

/// Tiles below one another: c (tiles * rows, columns) from a (tiles * rows, depth) and
/// b (depth, columns).
#[derive(Clone, Copy)]
pub(super) struct Tile<T> {
    pub depth: usize,
    pub a: *const T,
    /// From one row of `a` to the next.
    pub a_row: isize,
    /// From one k to the next.
    pub a_step: isize,
    pub b: *const T,
    /// From one k to the next; columns of `b` are contiguous.
    pub b_step: isize,
    pub c: *mut T,
    pub c_row: usize,
    pub columns: usize,
    /// How many tiles.
    pub tiles: usize,
    /// The first block of k stores, later ones add to what is there.
    pub first: bool,
}

impl<T> Tile<T> {
    /// From some row of a left operand that lies in one of the ways to one `rows` below it, which
    /// begins a tile.
    pub(super) fn rows_of_a(&self, left: Left, rows: usize) -> isize {
        rows as isize * if left == PACKED { self.depth as isize } else { self.a_row }
    }
}

/// How the left operand lies.
pub(super) type Left = u8;
/// k runs along memory.
pub(super) const UNIT: Left = 0;
/// Any strides.
pub(super) const FREE: Left = 1;
/// Packed: a tile's rows side by side for each k, one tile after another.
pub(super) const PACKED: Left = 2;

/// The tile with its extents as constants. With `PART` its one vector holds fewer columns than it
/// has lanes.
struct Shaped<T, const R: usize, const V: usize, const LEFT: Left, const PART: bool>(Tile<T>);

impl<T: Float, const R: usize, const V: usize, const LEFT: Left, const PART: bool> Task
    for Shaped<T, R, V, LEFT, PART>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self) {
        if R * V > S::TILE_ROWS * 2 {
            return;
        }
        for _ in 0..self.0.tiles {
            // SAFETY: whoever made the tile vouches for its pointers and extents.
            unsafe { self.compute::<S>() };
            self.0.a = self.0.a.wrapping_offset(self.0.rows_of_a(LEFT, R));
            self.0.c = self.0.c.wrapping_add(R * self.0.c_row);
        }
    }
}

/// k steps between two looks at the loop counter. Beside several vectors only one: with more the
/// compiler reads several k of all rows ahead, runs out of registers, and (128 128 128) f64 fell
/// from 57 to 29 GFLOP/s.
const fn unroll(vectors: usize) -> usize {
    if vectors > 1 { 1 } else { 4 }
}

/// Rows that share an address register: the processor adds nothing, one or two row strides.
const GROUP: usize = 3;
const GROUPS: usize = 6;

impl<T: Float, const R: usize, const V: usize, const LEFT: Left, const PART: bool>
    Shaped<T, R, V, LEFT, PART>
{
    #[inline(always)]
    unsafe fn compute<S: Simd>(&self) {
        let tile = &self.0;
        let mut sums = [[T::Vector::<S>::splat(T::default()); V]; R];
        let lanes = T::Vector::<S>::LANES;
        let b_step = tile.b_step;
        let (a_row, a_step) = match LEFT {
            UNIT => (tile.a_row, 1),
            PACKED => (1, R as isize),
            _ => (tile.a_row, tile.a_step),
        };
        let mut a = [tile.a; GROUPS];
        for (group, a) in a.iter_mut().enumerate() {
            *a = a.wrapping_offset((group * GROUP) as isize * a_row);
        }
        let mut b = tile.b;
        let last = if PART { tile.columns - (V - 1) * lanes } else { lanes };
        let unroll = const { unroll(V) };
        for _ in 0..tile.depth / unroll {
            for k in 0..unroll as isize {
                let (from, b) = (k * a_step, b.wrapping_offset(k * b_step));
                // SAFETY: k stays below `depth`.
                unsafe { step::<T, S, R, V>(&mut sums, &a, from, a_row, b, (PART, last)) };
            }
            for a in &mut a {
                *a = a.wrapping_offset(unroll as isize * a_step);
            }
            b = b.wrapping_offset(unroll as isize * b_step);
        }
        for _ in 0..tile.depth % unroll {
            // SAFETY: as above.
            unsafe { step::<T, S, R, V>(&mut sums, &a, 0, a_row, b, (PART, last)) };
            for a in &mut a {
                *a = a.wrapping_offset(a_step);
            }
            b = b.wrapping_offset(b_step);
        }
        for (row, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                let c = tile.c.wrapping_add(row * tile.c_row + v * lanes);
                let width = if v + 1 == V { last } else { lanes };
                // SAFETY: the tile covers `columns` cells of each of its rows.
                unsafe { put::<T, S>(*sum, c, width, tile.first) };
            }
        }
    }
}

/// One k: `sums[r][v] = fma(a[r], b[v], sums[r][v])`.
#[inline(always)]
unsafe fn step<T: Float, S: Simd, const R: usize, const V: usize>(
    sums: &mut [[T::Vector<S>; V]; R],
    a: &[*const T; GROUPS],
    from: isize,
    a_row: isize,
    b: *const T,
    (part, last): (bool, usize),
) {
    let lanes = T::Vector::<S>::LANES;
    let mut row = [T::Vector::<S>::splat(T::default()); V];
    for (v, vector) in row.iter_mut().enumerate() {
        let from = b.wrapping_add(v * lanes);
        // SAFETY: only `last` lanes of the last vector need exist.
        *vector = unsafe {
            if v + 1 < V || !part {
                T::Vector::<S>::load(from)
            } else {
                T::Vector::<S>::load_part(from, last)
            }
        };
    }
    for (a, sums) in a.iter().zip(sums.chunks_mut(GROUP)) {
        for (r, sums) in sums.iter_mut().enumerate() {
            // SAFETY: `a` has R rows.
            let x = unsafe { *a.wrapping_offset(r as isize * a_row + from) };
            let x = T::Vector::<S>::splat(x);
            for (sum, b) in sums.iter_mut().zip(row) {
                *sum = x.fused(b, *sum);
            }
        }
    }
}

#[inline(always)]
unsafe fn put<T: Float, S: Simd>(sum: T::Vector<S>, c: *mut T, width: usize, first: bool) {
    // SAFETY: the caller says that `width` cells are there.
    unsafe {
        if width == T::Vector::<S>::LANES {
            let sum = if first { sum } else { T::Vector::<S>::load(c) + sum };
            sum.store(c);
        } else {
            let sum = if first { sum } else { T::Vector::<S>::load_part(c, width) + sum };
            sum.store_part(c, width);
        }
    }
}

/// The code for tiles of one height and width.
pub(super) type Runner<T> = unsafe fn(Level, Tile<T>);

/// # Safety
/// The pointers of `tile` cover what its extents say, and the processor has the level.
unsafe fn shaped<T: Float, const R: usize, const V: usize, const LEFT: Left, const PART: bool>(
    level: Level,
    tile: Tile<T>,
) {
    level.run(Shaped::<T, R, V, LEFT, PART>(tile));
}

/// Tiles with the code that computes them.
#[derive(Clone, Copy)]
pub(super) struct Job<T> {
    tile: Tile<T>,
    runner: Runner<T>,
}

impl<T: Float> Job<T> {
    /// `tile` in tiles of `rows` rows, at most `most_rows`, and `vectors` vectors, which its columns
    /// fill; one alone may be filled in part.
    pub(super) fn new(
        level: Level,
        rows: usize,
        vectors: usize,
        left: Left,
        tile: Tile<T>,
    ) -> Job<T> {
        let part = partial::<T>(level, vectors, left, tile.columns);
        let runner = match left {
            UNIT => runner::<T, UNIT>(rows, vectors, part),
            PACKED => runner::<T, PACKED>(rows, vectors, part),
            _ => runner::<T, FREE>(rows, vectors, part),
        };
        Job { tile, runner }
    }

    /// The same tiles in another product, whose operands and result lie further on by as much.
    pub(super) fn moved(mut self, a: isize, b: isize, c: usize) -> Job<T> {
        self.tile.a = self.tile.a.wrapping_offset(a);
        self.tile.b = self.tile.b.wrapping_offset(b);
        self.tile.c = self.tile.c.wrapping_add(c);
        self
    }

    /// # Safety
    /// The pointers of the tile cover what its extents say; the level is the one it was made for.
    pub(super) unsafe fn run(self, level: Level) {
        // SAFETY: the caller's promise.
        unsafe { (self.runner)(level, self.tile) };
    }
}

fn runner<T: Float, const LEFT: Left>(rows: usize, vectors: usize, part: bool) -> Runner<T> {
    macro_rules! shapes {
        ($($v:literal $part:literal: $($r:literal)*;)*) => {
            match (vectors, part, rows) {
                $($(($v, $part, $r) => shaped::<T, $r, $v, LEFT, $part>,)*)*
                _ => unreachable!("a tile of {rows} rows and {vectors} vectors"),
            }
        };
    }
    match LEFT {
        UNIT => shapes! {
            1 true: 1 2 3 4 5 6 7 8;
            1 false: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16;
            2 false: 1 2 3 4 5 6 7 8 9 10 11 12;
            3 false: 1 2 3 4 5 6 7 8;
            4 false: 1 2 3 4 5 6;
        },
        PACKED => shapes! {
            1 true: 1 2 3 4 5 6 7 8;
            1 false: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16;
            2 false: 1 2 3 4 5 6 7 8 9 10 11 12;
            3 false: 1 2 3 4 5 6 7 8;
            4 false: 1 2 3 4 5 6;
        },
        _ => shapes! {
            1 true: 1 2 3 4 5 6 7 8;
            2 false: 1 2 3 4 5 6 7 8 9 10 11 12;
        },
    }
}

/// Whether the one vector of a tile counts as filled in part. To be quick to compile, there is
/// no other form of it for rows of any strides.
fn partial<T>(level: Level, vectors: usize, left: Left, columns: usize) -> bool {
    let lanes = level.bits() / 8 / size_of::<T>();
    vectors == 1 && (left == FREE || columns < lanes)
}

/// The most rows of a tile of `columns` columns in `vectors` vectors.
pub(super) fn most_rows<T>(level: Level, vectors: usize, left: Left, columns: usize) -> usize {
    let most: [usize; 5] = match level {
        Level::Portable => [0, 8, 4, 2, 2],
        Level::Avx2 => [0, 12, 6, 4, 3],
        Level::Avx512 => [0, 16, 12, 8, 6],
    };
    if partial::<T>(level, vectors, left, columns) { 8 } else { most[vectors] }
}

/// The most vectors of a tile: with at least three rows, and a register for each vector. Four rows of
/// three vectors would take all sixteen of AVX2: the compiler then keeps one sum in memory, and 512 x
/// 512 f32 came at 40 GFLOP/s instead of 93 (AMD Zen 3).
pub(super) fn most_vectors(level: Level, left: Left) -> usize {
    match (left, level) {
        (FREE, _) | (_, Level::Portable) => 2,
        (_, Level::Avx2) => 2,
        (_, Level::Avx512) => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_tile_of<T: Float, const LEFT: Left>(level: Level) {
        for vectors in 1..=most_vectors(level, LEFT) {
            let lanes = level.bits() / 8 / size_of::<T>();
            for columns in [(vectors - 1) * lanes + 1, vectors * lanes] {
                let part = partial::<T>(level, vectors, LEFT, columns);
                for rows in 1..=most_rows::<T>(level, vectors, LEFT, columns) {
                    runner::<T, LEFT>(rows, vectors, part);
                }
            }
        }
    }

    /// Levels that this machine lacks among them: packed tiles of 13 rows and more, which only AVX-512 has,
    /// were missing, and no machine with less could tell.
    #[test]
    fn every_tile_of_every_level_has_its_code() {
        for level in [Level::Portable, Level::Avx2, Level::Avx512] {
            every_tile_of::<f32, UNIT>(level);
            every_tile_of::<f32, PACKED>(level);
            every_tile_of::<f32, FREE>(level);
            every_tile_of::<f64, UNIT>(level);
            every_tile_of::<f64, PACKED>(level);
            every_tile_of::<f64, FREE>(level);
        }
    }
}
