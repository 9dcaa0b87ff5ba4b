//! The product of f32 matrices whose operands are rounded to bf16: class Order, by demand only.
//!
//! Operands are rounded to nearest, ties to even, and packed as pairs of neighbours along k;
//! products are added in f32, in an order of the processor's. Beside the strict product of the
//! rounded operands a cell differs by at most 2 k 2^-24 sum |a b|, beside the exact product by the
//! operands' rounding as well, 2^-8 each. With AVX-512 BF16 one instruction takes two products into
//! each lane (subnormals count as zero there); elsewhere the strict tiles run over the rounded
//! operands. There is no AMX path: none of the machines at hand could have tested it.

use super::{Matrix, check, stack as strict};
use crate::{Lanes, Level, Work};
use rung_base::bf16;

/// x rounded to bf16, as f32.
pub fn rounded(x: f32) -> f32 {
    bf16::from_f32(x).to_f32()
}

/// Whether products of this mode have their own instruction here.
pub fn native(level: Level) -> bool {
    #[cfg(target_arch = "x86_64")]
    return level == Level::Avx512 && is_x86_feature_detected!("avx512bf16");
    #[cfg(not(target_arch = "x86_64"))]
    return level < Level::Portable;
}

/// As `product::stack`, the operands rounded to bf16.
///
/// # Panics
/// When the extents do not fit each other or a slab leaves its slice.
pub fn stack(
    lanes: &Lanes,
    a: Matrix<f32>,
    b: Matrix<f32>,
    slabs: &[(usize, usize)],
    out: &mut [f32],
) {
    check(&a, &b, slabs, out.len());
    let (m, k, n) = (a.rows, a.columns, b.columns);
    if m * n * k == 0 || slabs.is_empty() || !native(lanes.level()) {
        return over_rounded(lanes, a, b, slabs, out);
    }
    #[cfg(target_arch = "x86_64")]
    for (&(left, right), out) in slabs.iter().zip(out.chunks_exact_mut(m * n)) {
        let pieces = lanes.pieces(Work::product(4), m * n * k);
        x86::product(lanes, pieces, a.at(left), b.at(right), out);
    }
}

/// The strict product of operands that are rounded first.
fn over_rounded(
    lanes: &Lanes,
    a: Matrix<f32>,
    b: Matrix<f32>,
    slabs: &[(usize, usize)],
    out: &mut [f32],
) {
    let round = |m: &Matrix<f32>| m.data.iter().map(|x| rounded(*x)).collect::<Vec<f32>>();
    let (left, right) = (round(&a), round(&b));
    strict(lanes, Matrix { data: &left, ..a }, Matrix { data: &right, ..b }, slabs, out);
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::Matrix;
    use crate::Lanes;
    use crate::scratch::{with_left, with_right};
    use crate::share::Cells;
    use rung_base::bf16;
    use std::arch::x86_64::*;

    /// k of one packed block, in pairs.
    const PAIRS: usize = 256;
    /// Columns of a panel: four vectors.
    const WIDTH: usize = 64;
    /// Rows of a tile, and of a packed block of rows.
    const ROWS: usize = 6;
    const BLOCK_ROWS: usize = 96;
    /// Columns packed at a time: 4 MiB.
    const COLUMNS: usize = 4096;

    /// out (m, n) = a (m, k) * b (k, n), checked and not empty; the processor has AVX-512 BF16.
    pub(super) fn product(
        lanes: &Lanes,
        pieces: usize,
        a: Matrix<f32>,
        b: Matrix<f32>,
        out: &mut [f32],
    ) {
        let n = b.columns;
        let cells = Cells::new(out);
        for from in (0..n).step_by(COLUMNS) {
            let columns = COLUMNS.min(n - from);
            let panels = columns.div_ceil(WIDTH);
            for k in (0..a.columns).step_by(2 * PAIRS) {
                let depth = (2 * PAIRS).min(a.columns - k);
                let pairs = depth.div_ceil(2);
                with_right(|scratch| {
                    let packed = Cells::from(scratch.room(panels * WIDTH * pairs));
                    let share = panels.div_ceil(pieces);
                    lanes.workers().run(panels.div_ceil(share), &|piece| {
                        for panel in piece * share..panels.min((piece + 1) * share) {
                            let to = packed.at(panel * WIDTH * pairs);
                            pack_panel(&b, k, depth, from + panel * WIDTH, to);
                        }
                    });
                    let share = a.rows.div_ceil(pieces).next_multiple_of(ROWS);
                    lanes.workers().run(a.rows.div_ceil(share), &|piece| {
                        let end = a.rows.min((piece + 1) * share);
                        for row in (piece * share..end).step_by(BLOCK_ROWS) {
                            let rows = row..end.min(row + BLOCK_ROWS);
                            block(&a, (k, depth), rows, &packed, (from, columns), n, &cells);
                        }
                    });
                });
            }
        }
    }

    /// Two neighbours along k; the second is 0 after the end.
    fn pair(m: &Matrix<f32>, first: (usize, usize), second: (usize, usize), both: bool) -> u32 {
        // SAFETY: the caller's indices lie inside the checked matrix.
        let low = unsafe { *m.cell(first.0, first.1) };
        let high = if both { unsafe { *m.cell(second.0, second.1) } } else { 0.0 };
        (bf16::from_f32(high).to_bits() as u32) << 16 | bf16::from_f32(low).to_bits() as u32
    }

    /// A panel of `WIDTH` columns from `column` on; columns past the edge are 0.
    fn pack_panel(b: &Matrix<f32>, k: usize, depth: usize, column: usize, to: *mut u32) {
        let columns = WIDTH.min(b.columns - column);
        for p in 0..depth.div_ceil(2) {
            let both = 2 * p + 1 < depth;
            let row = k + 2 * p;
            // SAFETY: the processor has the features; the rows lie inside the checked matrix, and
            // the room holds the panel.
            unsafe {
                let to = to.add(p * WIDTH);
                if b.column == 1 && columns == WIDTH {
                    let second = if both { b.cell(row + 1, column) } else { std::ptr::null() };
                    pack_rows(b.cell(row, column), second, to);
                    continue;
                }
                for j in 0..WIDTH {
                    let at = column + j;
                    *to.add(j) = match j < columns {
                        true => pair(b, (row, at), (row + 1, at), both),
                        false => 0,
                    };
                }
            }
        }
    }

    /// `WIDTH` pairs from two rows that lie along memory; the second may be null.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    unsafe fn pack_rows(first: *const f32, second: *const f32, to: *mut u32) {
        for j in (0..WIDTH).step_by(16) {
            // SAFETY: the caller says that the rows and the room are `WIDTH` long.
            unsafe {
                let low = narrow(_mm512_loadu_ps(first.add(j)));
                let high = match second.is_null() {
                    true => _mm512_setzero_si512(),
                    false => narrow(_mm512_loadu_ps(second.add(j))),
                };
                let pairs = _mm512_or_si512(low, _mm512_slli_epi32::<16>(high));
                _mm512_storeu_si512(to.add(j).cast(), pairs);
            }
        }
    }

    /// Rounded to bf16 by integers, which keeps subnormals; a NaN stays one.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    fn narrow(x: __m512) -> __m512i {
        let bits = _mm512_castps_si512(x);
        let odd = _mm512_and_si512(_mm512_srli_epi32::<16>(bits), _mm512_set1_epi32(1));
        let up = _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7FFF)));
        let nan = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(x, x);
        let quiet = _mm512_or_si512(bits, _mm512_set1_epi32(0x0040_0000));
        _mm512_srli_epi32::<16>(_mm512_mask_mov_epi32(up, nan, quiet))
    }

    /// Some rows against all panels of one packed block.
    fn block(
        a: &Matrix<f32>,
        (k, depth): (usize, usize),
        rows: std::ops::Range<usize>,
        packed: &Cells<u32>,
        (from, columns): (usize, usize),
        n: usize,
        out: &Cells<f32>,
    ) {
        let pairs = depth.div_ceil(2);
        // A line more than the depth, so that rows do not meet in the same cache sets.
        let stride = pairs + 16;
        with_left(|scratch| {
            let left: *mut u32 = scratch.room(rows.len() * stride);
            for (i, row) in rows.clone().enumerate() {
                for p in 0..pairs {
                    let (at, both) = (k + 2 * p, 2 * p + 1 < depth);
                    // SAFETY: the room holds the rows.
                    unsafe { *left.add(i * stride + p) = pair(a, (row, at), (row, at + 1), both) };
                }
            }
            for panel in 0..columns.div_ceil(WIDTH) {
                let column = panel * WIDTH;
                for first in (0..rows.len()).step_by(ROWS) {
                    let height = ROWS.min(rows.len() - first);
                    let tile = Tile {
                        left: left.wrapping_add(first * stride),
                        stride,
                        right: packed.at(column * pairs),
                        pairs,
                        c: out.at((rows.start + first) * n + from + column),
                        c_row: n,
                        columns: WIDTH.min(columns - column),
                        first: k == 0,
                    };
                    // SAFETY: the processor has the features; the tile lies inside.
                    unsafe {
                        match height {
                            1 => tile.run::<1>(),
                            2 => tile.run::<2>(),
                            3 => tile.run::<3>(),
                            4 => tile.run::<4>(),
                            5 => tile.run::<5>(),
                            _ => tile.run::<6>(),
                        }
                    }
                }
            }
        });
    }

    /// c (R, columns) from pairs of left rows and a packed panel.
    struct Tile {
        left: *const u32,
        stride: usize,
        right: *const u32,
        pairs: usize,
        c: *mut f32,
        c_row: usize,
        columns: usize,
        first: bool,
    }

    impl Tile {
        #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
        unsafe fn run<const R: usize>(&self) {
            let mut sums = [[_mm512_setzero_ps(); 4]; R];
            // SAFETY: the caller says that the tile lies inside its operands.
            unsafe {
                for p in 0..self.pairs {
                    let right = self.right.add(p * WIDTH);
                    let load = |v: usize| _mm512_loadu_si512(right.add(16 * v).cast());
                    let panel = [load(0), load(1), load(2), load(3)];
                    for (r, sums) in sums.iter_mut().enumerate() {
                        let x = _mm512_set1_epi32(*self.left.add(r * self.stride + p) as i32);
                        for (sum, y) in sums.iter_mut().zip(panel) {
                            *sum = _mm512_dpbf16_ps(*sum, pairs_of(x), pairs_of(y));
                        }
                    }
                }
                for (r, sums) in sums.iter().enumerate() {
                    for (v, sum) in sums.iter().enumerate() {
                        let left = self.columns.saturating_sub(16 * v).min(16);
                        let mask = ((1u32 << left) - 1) as __mmask16;
                        let c = self.c.wrapping_add(r * self.c_row + 16 * v);
                        let before = match self.first {
                            true => _mm512_setzero_ps(),
                            false => _mm512_maskz_loadu_ps(mask, c),
                        };
                        _mm512_mask_storeu_ps(c, mask, _mm512_add_ps(before, *sum));
                    }
                }
            }
        }
    }

    /// The register as the 32 bf16 that it holds.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn pairs_of(x: __m512i) -> __m512bh {
        // SAFETY: both are 64 bytes without an invalid value.
        unsafe { std::mem::transmute::<__m512i, __m512bh>(x) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(i: usize) -> f32 {
        ((i * 2_654_435_761) % 20_011) as f32 / 10_005.0 - 1.0
    }

    /// Within the bound of the rounded operands' product, in f64.
    fn check(lanes: &Lanes, a: Matrix<f32>, b: Matrix<f32>) {
        let (m, k, n) = (a.rows, a.columns, b.columns);
        let mut out = vec![7.0; m * n];
        stack(lanes, a, b, &[(a.offset, b.offset)], &mut out);
        for i in 0..m {
            for j in 0..n {
                let (mut sum, mut size) = (0.0, 0.0);
                for p in 0..k {
                    let at = |m: &Matrix<f32>, i: usize, j: usize| {
                        let at = m.offset as isize + i as isize * m.row + j as isize * m.column;
                        rounded(m.data[at as usize]) as f64
                    };
                    let product = at(&a, i, p) * at(&b, p, j);
                    (sum, size) = (sum + product, size + product.abs());
                }
                let bound = 2.0 * k as f64 * 2f64.powi(-24) * size;
                let got = out[i * n + j] as f64;
                assert!((got - sum).abs() <= bound, "({m} {k} {n}) {i} {j}: {got}, not {sum}");
            }
        }
    }

    #[test]
    fn cells_are_within_the_declared_bound() {
        for level in Level::available() {
            for threads in [1, 2] {
                let lanes = Lanes::with(level, threads);
                for (m, k, n) in [
                    (0, 3, 2),
                    (3, 0, 2),
                    (1, 1, 1),
                    (5, 7, 3),
                    (13, 513, 70),
                    (100, 64, 130),
                    (7, 1025, 64),
                    (70, 130, 200),
                ] {
                    let a: Vec<f32> = (0..m * k).map(number).collect();
                    let b: Vec<f32> = (0..k * n).map(|i| number(i + 99)).collect();
                    check(&lanes, Matrix::new(&a, m, k), Matrix::new(&b, k, n));
                    let (at, bt) = (Matrix::new(&a, k, m), Matrix::new(&b, n, k));
                    check(&lanes, at.transposed(), bt.transposed());
                }
            }
        }
    }

    #[test]
    fn operands_are_rounded_to_even_and_specials_stay() {
        let lanes = Lanes::new(1);
        // 1 + 2^-8 lies between 1 and 1 + 2^-7: to even is 1; 1 + 3 2^-8 goes up to 1 + 2^-6.
        for (x, want) in [(1.0 + 2f32.powi(-8), 1.0), (1.0 + 3.0 * 2f32.powi(-8), 1.015625)] {
            let (a, b) = (vec![x; 64], vec![1.0; 64]);
            let mut out = vec![0.0; 64];
            let (a, b) = (Matrix::new(&a[..1], 1, 1), Matrix::new(&b, 1, 64));
            stack(&lanes, a, b, &[(0, 0)], &mut out);
            assert_eq!(out, [want; 64]);
            let mut out = vec![0.0; 64];
            stack(&lanes, b.transposed(), a, &[(0, 0)], &mut out);
            assert_eq!(out, [want; 64]);
        }
        for x in [f32::NAN, f32::INFINITY, f32::MAX] {
            let row = vec![x; 64];
            let mut out = vec![0.0; 64];
            let (a, b) = (Matrix::new(&[1.0], 1, 1), Matrix::new(&row, 1, 64));
            stack(&lanes, a, b, &[(0, 0)], &mut out);
            assert!(out.iter().all(|y| y.is_nan() == x.is_nan() && !y.is_finite()));
        }
    }
}
