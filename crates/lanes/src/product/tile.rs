//! The register tile of a product: up to 12 rows by two vectors of results kept in registers
//! while k runs through one block.
//!
//! Each cell starts from +0 and takes one fused multiply-add for every k, ascending, which is the
//! order of the definition (`math::product`). The row count is a constant of the code, so a
//! ragged last panel costs what it holds. `product` cuts the work into these.

use crate::level::{Level, Task};
use crate::vector::{Float, Simd, Vector};

/// One tile: c (rows, columns) from a (rows, depth) and b (depth, columns).
#[derive(Clone, Copy)]
pub(super) struct Tile<T> {
    pub depth: usize,
    pub a: *const T,
    /// From one row of `a` to the next; 1 in a packed panel.
    pub a_row: isize,
    /// From one k to the next.
    pub a_step: isize,
    pub b: *const T,
    /// From one k to the next; columns of `b` are contiguous.
    pub b_step: isize,
    pub c: *mut T,
    pub c_row: usize,
    pub columns: usize,
    /// The first block of k stores, later ones add to what is there.
    pub first: bool,
}

/// The tile with its extents as constants. `PACKED` panels have `a_row` = 1, `a_step` = `R` and
/// `b` padded to whole vectors; otherwise strides are free and the last vector of `b` is partial.
struct Shaped<T, const R: usize, const V: usize, const PACKED: bool>(Tile<T>);

impl<T: Float, const R: usize, const V: usize, const PACKED: bool> Task
    for Shaped<T, R, V, PACKED>
{
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        if R > S::TILE_ROWS {
            return;
        }
        // SAFETY: whoever made the tile vouches for its pointers and extents.
        unsafe { self.compute::<S>() }
    }
}

/// k steps between two looks at the loop counter; 4 gained 2 % over 1 and 8 nothing more.
const UNROLL: usize = 4;

impl<T: Float, const R: usize, const V: usize, const PACKED: bool> Shaped<T, R, V, PACKED> {
    #[inline(always)]
    unsafe fn compute<S: Simd>(self) {
        let tile = self.0;
        let mut sums = [[T::Vector::<S>::splat(T::default()); V]; R];
        let (mut a, mut b) = (tile.a, tile.b);
        let (a_row, a_step) = if PACKED { (1, R as isize) } else { (tile.a_row, tile.a_step) };
        let lanes = T::Vector::<S>::LANES;
        let b_step = if PACKED { (2 * lanes) as isize } else { tile.b_step };
        let last = tile.columns - (V - 1) * lanes;
        for _ in 0..tile.depth / UNROLL {
            for _ in 0..UNROLL {
                // SAFETY: k stays below `depth`.
                unsafe { step::<T, S, R, V, PACKED>(&mut sums, a, a_row, b, last) };
                a = a.wrapping_offset(a_step);
                b = b.wrapping_offset(b_step);
            }
        }
        for _ in 0..tile.depth % UNROLL {
            // SAFETY: as above.
            unsafe { step::<T, S, R, V, PACKED>(&mut sums, a, a_row, b, last) };
            a = a.wrapping_offset(a_step);
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
unsafe fn step<T: Float, S: Simd, const R: usize, const V: usize, const PACKED: bool>(
    sums: &mut [[T::Vector<S>; V]; R],
    a: *const T,
    a_row: isize,
    b: *const T,
    last: usize,
) {
    let lanes = T::Vector::<S>::LANES;
    let mut row = [T::Vector::<S>::splat(T::default()); V];
    for (v, vector) in row.iter_mut().enumerate() {
        let from = b.wrapping_add(v * lanes);
        // SAFETY: packed panels are padded; otherwise only `last` lanes of the last vector exist.
        *vector = unsafe {
            if PACKED || v + 1 < V {
                T::Vector::<S>::load(from)
            } else {
                T::Vector::<S>::load_part(from, last)
            }
        };
    }
    for (r, sums) in sums.iter_mut().enumerate() {
        // SAFETY: `a` has R rows.
        let x = T::Vector::<S>::splat(unsafe { *a.wrapping_offset(r as isize * a_row) });
        for (sum, b) in sums.iter_mut().zip(row) {
            *sum = x.fused(b, *sum);
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

/// Runs a tile of `rows` rows at `level`.
///
/// # Safety
/// The pointers of `tile` cover what its extents say; `rows` is between 1 and the level's tile
/// rows, `columns` between 1 and two vectors, and packed panels are padded.
pub(super) unsafe fn run<T: Float, const PACKED: bool>(
    level: Level,
    rows: usize,
    lanes: usize,
    tile: Tile<T>,
) {
    macro_rules! rows {
        ($($r:literal)*) => {
            match rows {
                $($r if tile.columns > lanes => level.run(Shaped::<T, $r, 2, PACKED>(tile)),
                  $r => level.run(Shaped::<T, $r, 1, PACKED>(tile)),)*
                _ => {}
            }
        };
    }
    rows!(1 2 3 4 5 6 7 8 9 10 11 12);
}
