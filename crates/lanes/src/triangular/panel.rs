//! LU of a narrow block, in columns: a copy whose columns lie along memory, so that the pivot
//! search, the division and the updates all run in vectors.
//!
//! The copy is factored by halves down to eight columns; those are brought up to date one by one
//! from the columns before them, and the search for the pivot reads them as they are written. Its
//! columns begin an odd number of cache lines apart, since rows of a power of two would meet in
//! the same set.

use super::{Cells, pack};
use crate::Lanes;
use crate::level::Task;
use crate::scratch::with_right;
use crate::vector::{Simd, Vector};
use rung_math::{Bits, Real};

/// The widest block that is factored in columns.
pub(super) const PANEL: usize = 64;

/// Columns of the innermost block.
const LEAF: usize = 8;

/// LU of a (m, w), w at most `PANEL` and m; `pivots` (w) counts rows from the block's first.
pub(super) fn lu(lanes: &Lanes, a: Cells, m: usize, w: usize, pivots: &mut [usize]) {
    with_right(|scratch| {
        let stride = m.div_ceil(8) / 2 * 16 + 8;
        let start: *mut f64 = scratch.room(stride * w);
        let level = lanes.level();
        // SAFETY: the room holds w columns, and stride >= m; the caller vouches for the cells.
        unsafe { pack::columns(level, a, (m, w), start, stride, false) };
        level.run(Factor { panel: Panel { start, stride, m }, w, pivots });
        // SAFETY: as above.
        unsafe { pack::columns(level, a, (m, w), start, stride, true) };
    });
}

/// Columns of m rows: element (i, j) is `start[j * stride + i]`.
#[derive(Clone, Copy)]
struct Panel {
    start: *mut f64,
    stride: usize,
    m: usize,
}

struct Factor<'a> {
    panel: Panel,
    w: usize,
    pivots: &'a mut [usize],
}

impl Task for Factor<'_> {
    type Output = ();

    /// The halves without recursion, which could not be inlined: after the leaf that ends at
    /// column e, as many leaves as the lowest set bit of e / LEAF says are applied to as many
    /// behind them.
    #[inline(always)]
    fn run<S: Simd>(self) {
        let Factor { panel, w, pivots } = self;
        for from in (0..w).step_by(LEAF) {
            let end = w.min(from + LEAF);
            // SAFETY: rows and columns stay below m and w.
            unsafe {
                panel.leaf::<S>(from, end, pivots);
                (0..from).for_each(|j| panel.exchange(j, from, &pivots[from..end]));
                if end < w {
                    let begin = end - (LEAF << (end / LEAF).trailing_zeros());
                    let last = w.min(end + (end - begin));
                    (end..last).for_each(|j| panel.exchange(j, begin, &pivots[begin..end]));
                    panel.substitute::<S>(begin, end, last);
                    panel.update::<S>(begin, end, last);
                }
            }
        }
    }
}

/// Vectors of rows that a pass over a column keeps in flight.
const FLIGHT: usize = 4;

impl Panel {
    #[inline(always)]
    fn at(self, i: usize, j: usize) -> *mut f64 {
        self.start.wrapping_add(j * self.stride + i)
    }

    /// Exchanges in column j the rows from + k and `pivots[k]`, the first k first.
    #[inline(always)]
    unsafe fn exchange(self, j: usize, from: usize, pivots: &[usize]) {
        for (k, &row) in pivots.iter().enumerate() {
            // SAFETY: both rows are below m.
            unsafe { std::ptr::swap(self.at(from + k, j), self.at(row, j)) };
        }
    }

    /// LU of the columns `from..end`, to which everything before has been applied.
    #[inline(always)]
    unsafe fn leaf<S: Simd>(self, from: usize, end: usize, pivots: &mut [usize]) {
        for (k, exchanged) in pivots.iter_mut().enumerate().take(end).skip(from) {
            // SAFETY: rows and columns stay below m and `end`.
            unsafe {
                for j in from..k {
                    let u = *self.at(j, k);
                    for i in j + 1..k {
                        *self.at(i, k) = (-*self.at(i, j)).mul_add(u, *self.at(i, k));
                    }
                }
                let row = self.renew::<S>(from, k);
                *exchanged = row;
                if row != k {
                    (from..end).for_each(|j| std::ptr::swap(self.at(k, j), self.at(row, j)));
                }
                let pivot = *self.at(k, k);
                if pivot != 0.0 {
                    self.divide::<S>(k, pivot);
                }
            }
        }
    }

    /// Applies the columns `from..k` to column k from row k on; gives the pivot's row.
    #[inline(always)]
    unsafe fn renew<S: Simd>(self, from: usize, k: usize) -> usize {
        let (lanes, m) = (S::F64::LANES, self.m);
        let mut u = [S::F64::splat(0.0); LEAF];
        // SAFETY: rows stay below m, columns at most k.
        unsafe {
            for j in from..k {
                u[j - from] = S::F64::splat(-*self.at(j, k));
            }
            let mut best = key(S::F64::splat(0.0));
            let mut i = k;
            while i + FLIGHT * lanes <= m {
                let mut x = rows::<S, FLIGHT>(self.at(i, k), lanes);
                for j in from..k {
                    for (v, x) in x.iter_mut().enumerate() {
                        let l = S::F64::load(self.at(i + v * lanes, j));
                        *x = l.fused(u[j - from], *x);
                    }
                }
                for (v, x) in x.into_iter().enumerate() {
                    x.store(self.at(i + v * lanes, k));
                    best = larger(best, key(x));
                }
                i += FLIGHT * lanes;
            }
            while i < m {
                let width = lanes.min(m - i);
                let mut x = S::F64::load_part(self.at(i, k), width);
                for j in from..k {
                    x = S::F64::load_part(self.at(i, j), width).fused(u[j - from], x);
                }
                x.store_part(self.at(i, k), width);
                // Lanes past the end are 0 as loaded, but 0 times an infinity is NaN.
                best = larger(best, key(S::F64::load_part(self.at(i, k), width)));
                i += width;
            }
            self.first_of::<S>(k, best)
        }
    }

    /// The first row of column k, from row k on, whose key is the largest in `best`.
    #[inline(always)]
    unsafe fn first_of<S: Simd>(self, k: usize, best: <S::F64 as Real>::Bits) -> usize {
        let mut keys = [0.0f64; 8];
        // SAFETY: a vector has at most 8 lanes; rows stay below m.
        unsafe {
            S::F64::from_bits(best).store(keys.as_mut_ptr());
            let largest = keys[..S::F64::LANES].iter().map(|x| x.to_bits()).max().unwrap_or(0);
            let nan = largest > f64::INFINITY.to_bits();
            let found = |i: usize| {
                let bits = (*self.at(i, k)).abs().to_bits();
                if nan { bits > f64::INFINITY.to_bits() } else { bits == largest }
            };
            (k..self.m).find(|&i| found(i)).unwrap_or(k)
        }
    }

    /// Divides column k below row k by the pivot.
    #[inline(always)]
    unsafe fn divide<S: Simd>(self, k: usize, pivot: f64) {
        let lanes = S::F64::LANES;
        let divisor = S::F64::splat(pivot);
        for i in (k + 1..self.m).step_by(lanes) {
            let (cells, width) = (self.at(i, k), lanes.min(self.m - i));
            // SAFETY: `width` rows are below m.
            unsafe {
                if width == lanes {
                    (S::F64::load(cells) / divisor).store(cells);
                } else {
                    (S::F64::load_part(cells, width) / divisor).store_part(cells, width);
                }
            }
        }
    }

    /// Substitution with the unit lower triangle of `begin..end` in the columns `end..last`.
    #[inline(always)]
    unsafe fn substitute<S: Simd>(self, begin: usize, end: usize, last: usize) {
        let lanes = S::F64::LANES;
        for group in (end..last).step_by(FLIGHT) {
            let columns = group..last.min(group + FLIGHT);
            for k in begin..end {
                for i in (k + 1..end).step_by(lanes) {
                    let width = lanes.min(end - i);
                    for j in columns.clone() {
                        // SAFETY: rows stay below `end`, columns below `last`.
                        unsafe {
                            let u = S::F64::splat(-*self.at(k, j));
                            let l = S::F64::load_part(self.at(i, k), width);
                            let x = S::F64::load_part(self.at(i, j), width);
                            l.fused(u, x).store_part(self.at(i, j), width);
                        }
                    }
                }
            }
        }
    }

    /// The rows from `end` on of the columns `end..last` less those of `begin..end` times the rows
    /// `begin..end`.
    #[inline(always)]
    unsafe fn update<S: Simd>(self, begin: usize, end: usize, last: usize) {
        let lanes = S::F64::LANES;
        // Three vectors of rows by as many columns as the registers hold.
        let side = if S::TILE_ROWS < 12 { 4 } else { 8 };
        let mut i = end;
        while i < self.m {
            let tall = i + 3 * lanes <= self.m;
            let width = lanes.min(self.m - i);
            let mut j = end;
            while j < last {
                // SAFETY: 3 vectors or `width` rows, and `side` or one column, are inside.
                unsafe {
                    match (tall, j + side <= last, side) {
                        (true, true, 8) => self.tile::<S, 3, 8>(begin, end, i, j, lanes),
                        (true, true, _) => self.tile::<S, 3, 4>(begin, end, i, j, lanes),
                        (true, false, _) => self.tile::<S, 3, 1>(begin, end, i, j, lanes),
                        (false, true, 8) => self.tile::<S, 1, 8>(begin, end, i, j, width),
                        (false, true, _) => self.tile::<S, 1, 4>(begin, end, i, j, width),
                        (false, false, _) => self.tile::<S, 1, 1>(begin, end, i, j, width),
                    }
                }
                j += if j + side <= last { side } else { 1 };
            }
            i += if tall { 3 * lanes } else { width };
        }
    }

    /// V vectors of rows from row i by J columns from column j; the last vector has `width` lanes.
    #[inline(always)]
    unsafe fn tile<S: Simd, const V: usize, const J: usize>(
        self,
        begin: usize,
        end: usize,
        i: usize,
        j: usize,
        width: usize,
    ) {
        let lanes = S::F64::LANES;
        let mut sums = [[S::F64::splat(0.0); V]; J];
        for (c, sums) in sums.iter_mut().enumerate() {
            // SAFETY: the caller's promise.
            *sums = unsafe { rows::<S, V>(self.at(i, j + c), width) };
        }
        for k in begin..end {
            // SAFETY: as above.
            let l = unsafe { rows::<S, V>(self.at(i, k), width) };
            for (c, sums) in sums.iter_mut().enumerate() {
                // SAFETY: row k of column j + c.
                let u = S::F64::splat(-unsafe { *self.at(k, j + c) });
                for (sum, l) in sums.iter_mut().zip(l) {
                    *sum = l.fused(u, *sum);
                }
            }
        }
        for (c, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                let to = self.at(i + v * lanes, j + c);
                // SAFETY: the caller's promise.
                unsafe {
                    if v + 1 < V || width == lanes {
                        sum.store(to);
                    } else {
                        sum.store_part(to, width);
                    }
                }
            }
        }
    }
}

/// V vectors of one column, the last of `width` lanes.
#[inline(always)]
unsafe fn rows<S: Simd, const V: usize>(from: *const f64, width: usize) -> [S::F64; V] {
    let lanes = S::F64::LANES;
    let mut values = [S::F64::splat(0.0); V];
    for (v, value) in values.iter_mut().enumerate() {
        let from = from.wrapping_add(v * lanes);
        // SAFETY: the caller's promise.
        *value = unsafe {
            if v + 1 < V || width == lanes {
                S::F64::load(from)
            } else {
                S::F64::load_part(from, width)
            }
        };
    }
    values
}

/// The magnitude's bits: they order numbers, and NaN behind infinity.
#[inline(always)]
fn key<R: Real>(x: R) -> R::Bits {
    x.abs().bits()
}

#[inline(always)]
fn larger<B: Bits>(a: B, b: B) -> B {
    B::select(a.less(b), b, a)
}
