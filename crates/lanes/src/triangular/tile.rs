//! The register tile of triangular work: up to 12 rows by two vectors, which start from the cells
//! and take one fused step a k, as the definition says: c <- fma(-l, u, c).
//!
//! The left operand is packed with its sign turned. A tile of a substitution goes on with the
//! triangle that crosses it and hands its rows to the strip that later tiles read. `update` and
//! `solve` cut the work into these.

use crate::level::{Level, Task};
use crate::vector::{Simd, Vector};

/// One tile: c (rows, columns) of `depth` steps.
#[derive(Clone, Copy)]
pub(super) struct Tile {
    pub depth: usize,
    /// -l, packed: `a[k * rows + row]`.
    pub a: *const f64,
    /// u, packed: two vectors for each k.
    pub b: *const f64,
    pub c: *mut f64,
    pub c_row: isize,
    pub columns: usize,
}

/// What a tile of a substitution needs beyond its sums; the rows of the triangle at the tile's own
/// unknowns are packed behind `a`, in the same way.
#[derive(Clone, Copy)]
pub(super) struct Corner {
    /// The diagonal counts as ones.
    pub unit: bool,
    /// Where the solved rows go besides the cells: two vectors a row.
    pub strip: *mut f64,
}

struct Shaped<const R: usize, const V: usize>(Tile);

impl<const R: usize, const V: usize> Task for Shaped<R, V> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        if R > S::TILE_ROWS {
            return;
        }
        // SAFETY: whoever made the tile vouches for its pointers and extents.
        unsafe {
            let sums = sums::<S, R, V>(self.0);
            for (row, sums) in sums.iter().enumerate() {
                put::<S, V>(&self.0, row, sums);
            }
        }
    }
}

struct Solved<const R: usize, const V: usize>(Tile, Corner);

impl<const R: usize, const V: usize> Task for Solved<R, V> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        if R > S::TILE_ROWS {
            return;
        }
        let Solved(tile, corner) = self;
        // SAFETY: as above; the corner is packed behind `a`, the strip has R rows.
        unsafe {
            let mut rows = sums::<S, R, V>(tile);
            let triangle = tile.a.add(tile.depth * R);
            for k in 0..R {
                if !corner.unit {
                    // Packed with its sign turned, like the rest.
                    let pivot = S::F64::splat(-*triangle.add(k * R + k));
                    for x in &mut rows[k] {
                        *x = *x / pivot;
                    }
                }
                let solved = rows[k];
                for (i, row) in rows.iter_mut().enumerate().skip(k + 1) {
                    let l = S::F64::splat(*triangle.add(k * R + i));
                    for (x, solved) in row.iter_mut().zip(solved) {
                        *x = l.fused(solved, *x);
                    }
                }
            }
            for (row, values) in rows.iter().enumerate() {
                put::<S, V>(&tile, row, values);
                for (v, value) in values.iter().enumerate() {
                    value.store(corner.strip.add((2 * row + v) * S::F64::LANES));
                }
            }
        }
    }
}

/// k steps between two looks at the loop counter.
const UNROLL: usize = 4;

#[inline(always)]
unsafe fn sums<S: Simd, const R: usize, const V: usize>(tile: Tile) -> [[S::F64; V]; R] {
    let lanes = S::F64::LANES;
    let last = tile.columns - (V - 1) * lanes;
    let mut sums = [[S::F64::splat(0.0); V]; R];
    for (row, sums) in sums.iter_mut().enumerate() {
        for (v, sum) in sums.iter_mut().enumerate() {
            let c = tile.c.wrapping_offset(row as isize * tile.c_row).wrapping_add(v * lanes);
            // SAFETY: the tile covers `columns` cells of each of its rows.
            *sum = unsafe {
                if v + 1 < V || last == lanes {
                    S::F64::load(c)
                } else {
                    S::F64::load_part(c, last)
                }
            };
        }
    }
    let (mut a, mut b) = (tile.a, tile.b);
    for _ in 0..tile.depth / UNROLL {
        for _ in 0..UNROLL {
            // SAFETY: k stays below `depth`.
            unsafe { step::<S, R, V>(&mut sums, a, b) };
            a = a.wrapping_add(R);
            b = b.wrapping_add(2 * lanes);
        }
    }
    for _ in 0..tile.depth % UNROLL {
        // SAFETY: as above.
        unsafe { step::<S, R, V>(&mut sums, a, b) };
        a = a.wrapping_add(R);
        b = b.wrapping_add(2 * lanes);
    }
    sums
}

/// One k: `sums[r][v] = fma(a[r], b[v], sums[r][v])`.
#[inline(always)]
unsafe fn step<S: Simd, const R: usize, const V: usize>(
    sums: &mut [[S::F64; V]; R],
    a: *const f64,
    b: *const f64,
) {
    let mut row = [S::F64::splat(0.0); V];
    for (v, vector) in row.iter_mut().enumerate() {
        // SAFETY: packed strips are padded to two vectors.
        *vector = unsafe { S::F64::load(b.wrapping_add(v * S::F64::LANES)) };
    }
    for (r, sums) in sums.iter_mut().enumerate() {
        // SAFETY: `a` has R rows.
        let x = S::F64::splat(unsafe { *a.wrapping_add(r) });
        for (sum, b) in sums.iter_mut().zip(row) {
            *sum = x.fused(b, *sum);
        }
    }
}

#[inline(always)]
unsafe fn put<S: Simd, const V: usize>(tile: &Tile, row: usize, sums: &[S::F64; V]) {
    let lanes = S::F64::LANES;
    let last = tile.columns - (V - 1) * lanes;
    for (v, sum) in sums.iter().enumerate() {
        let c = tile.c.wrapping_offset(row as isize * tile.c_row).wrapping_add(v * lanes);
        // SAFETY: the tile covers `columns` cells of each of its rows.
        unsafe {
            if v + 1 < V || last == lanes {
                sum.store(c);
            } else {
                sum.store_part(c, last);
            }
        }
    }
}

/// Rows of a tile, lanes of a vector.
pub(super) fn shape(level: Level) -> (usize, usize) {
    match level {
        Level::Portable => (4, 2),
        Level::Avx2 => (6, 4),
        Level::Avx512 => (12, 8),
    }
}

/// Runs `$task` with the row count and the vector count as constants.
macro_rules! shaped {
    ($level:expr, $rows:expr, $lanes:expr, $tile:expr, $task:ident $(, $more:expr)?) => {
        shaped!(@ $level, $rows, $lanes, $tile, $task, ($($more)?), 1 2 3 4 5 6 7 8 9 10 11 12)
    };
    (@ $level:expr, $rows:expr, $lanes:expr, $tile:expr, $task:ident, $more:tt, $($r:literal)*) => {
        match $rows {
            $($r if $tile.columns > $lanes => shaped!(! $level, $task, $r, 2, $tile, $more),
              $r => shaped!(! $level, $task, $r, 1, $tile, $more),)*
            _ => {}
        }
    };
    (! $level:expr, $task:ident, $r:literal, $v:literal, $tile:expr, ()) => {
        $level.run($task::<$r, $v>($tile))
    };
    (! $level:expr, $task:ident, $r:literal, $v:literal, $tile:expr, ($more:expr)) => {
        $level.run($task::<$r, $v>($tile, $more))
    };
}

/// c <- c - l u for one tile of `rows` rows.
///
/// # Safety
/// The pointers of `tile` cover what its extents say; `rows` is between 1 and the level's tile
/// rows, `columns` between 1 and two vectors.
pub(super) unsafe fn update(level: Level, rows: usize, lanes: usize, tile: Tile) {
    shaped!(level, rows, lanes, tile, Shaped);
}

/// The same, then solved for the tile's own unknowns.
///
/// # Safety
/// As `update`; the corner's rows are packed behind `a`, and the strip has room for the rows.
pub(super) unsafe fn solve(level: Level, rows: usize, lanes: usize, tile: Tile, corner: Corner) {
    shaped!(level, rows, lanes, tile, Solved, corner);
}
