//! Products of 64-bit integers, which wrap: any order of additions gives the same bits, so the
//! loops are laid out for the compiler's vectors and for whole cache lines.

use crate::product::Matrix;
use crate::share::each_share;
use crate::{Lanes, Work};

/// a (m, k) times b (k, n), out (m, n) row-major, modulo 2^64.
///
/// # Panics
/// When the extents do not fit each other or a matrix leaves its slice.
pub fn product(lanes: &Lanes, a: Matrix<i64>, b: Matrix<i64>, out: &mut [i64]) {
    assert_eq!(a.columns, b.rows, "inner extents");
    assert_eq!(out.len(), a.rows * b.columns, "cells");
    if out.is_empty() {
        return;
    }
    let pieces = lanes.pieces(Work::ProductInteger, a.rows * a.columns * b.columns);
    let rows_each = a.rows.div_ceil(pieces.min(a.rows));
    each_share(lanes, out, rows_each * b.columns, &|start, own| {
        let first = start / b.columns;
        for (i, row) in own.chunks_exact_mut(b.columns).enumerate() {
            product_row(a, first + i, b, row);
        }
    });
}

/// Row i of a times b: rows of b are added, each scaled.
fn product_row(a: Matrix<i64>, i: usize, b: Matrix<i64>, out: &mut [i64]) {
    out.fill(0);
    for k in 0..a.columns {
        let scale = at(a, i, k);
        if b.column == 1 {
            let start = (b.offset as isize + k as isize * b.row) as usize;
            let row = &b.data[start..start + b.columns];
            add_scaled(out, scale, row);
        } else {
            for (j, o) in out.iter_mut().enumerate() {
                *o = o.wrapping_add(scale.wrapping_mul(at(b, k, j)));
            }
        }
    }
}

fn add_scaled(out: &mut [i64], scale: i64, row: &[i64]) {
    for (o, &x) in out.iter_mut().zip(row) {
        *o = o.wrapping_add(scale.wrapping_mul(x));
    }
}

fn at(x: Matrix<i64>, i: usize, j: usize) -> i64 {
    x.data[(x.offset as isize + i as isize * x.row + j as isize * x.column) as usize]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;

    #[test]
    fn every_layout_and_thread_count_wraps_alike() {
        for (m, k, n) in [(0, 3, 2), (1, 1, 1), (2, 0, 3), (5, 7, 9), (70, 65, 66)] {
            let cell = |i: usize| (i as i64).wrapping_mul(0x9e37_79b9_7f4a_7c15u64 as i64);
            let a: Vec<i64> = (0..m * k).map(cell).collect();
            let b: Vec<i64> = (0..k * n).map(|i| cell(i + 11)).collect();
            let turned: Vec<i64> =
                (0..k * n).map(|i| b[(i % k.max(1)) * n + i / k.max(1)]).collect();
            let wanted: Vec<i64> = (0..m * n)
                .map(|c| {
                    (0..k).fold(0i64, |sum, p| {
                        sum.wrapping_add(a[c / n * k + p].wrapping_mul(b[p * n + c % n]))
                    })
                })
                .collect();
            for threads in [1, 2, 3] {
                let lanes = Lanes::with(Level::detect(), threads);
                let mut out = vec![7; m * n];
                product(&lanes, Matrix::new(&a, m, k), Matrix::new(&b, k, n), &mut out);
                assert_eq!(out, wanted, "({m} {k}) ({k} {n}) on {threads} threads");
                let columns = Matrix::new(&turned, n, k).transposed();
                product(&lanes, Matrix::new(&a, m, k), columns, &mut out);
                assert_eq!(out, wanted, "({m} {k}) ({k} {n}) transposed");
            }
        }
    }
}
