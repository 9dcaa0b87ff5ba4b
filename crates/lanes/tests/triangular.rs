//! LU, Cholesky and substitution against the definitions, bit for bit, at every level and thread
//! count.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::triangular::{Triangle, cholesky, lu, solve};
use rung_lanes::{Lanes, Level, Matrix};
use rung_math::triangular as definition;

/// Sizes around the tiles (4, 6, 12 rows), the leaves (8, 32, 48, 96) and the panel (64).
const SIZES: [usize; 22] =
    [0, 1, 2, 3, 5, 7, 8, 9, 12, 13, 17, 31, 33, 48, 63, 64, 65, 97, 128, 130, 200, 267];

/// Numbers of mixed size with exact zeros, -0.0 and subnormals among them, from a printed seed.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|i| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            match i % 197 {
                3 => 0.0,
                5 => -0.0,
                7 => unit * 1e-310,
                11 => unit * 1e12,
                // Equal magnitudes, so that the first on ties counts.
                13 | 17 | 19 => 0.875f64.copysign(unit),
                _ => unit,
            }
        })
        .collect()
}

#[track_caller]
fn assert_same(got: &[f64], want: &[f64], note: &str) {
    assert_eq!(got.len(), want.len(), "{note}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let same = g.to_bits() == w.to_bits() || (g.is_nan() && w.is_nan());
        assert!(same, "{note}: element {i} is {g:e}, not {w:e}");
    }
}

fn each_lanes(mut body: impl FnMut(&Lanes, &str)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            body(&Lanes::with(level, threads), &format!("{level:?} on {threads} threads"));
        }
    }
}

/// Matrices that hurt beside random ones.
fn matrices(n: usize) -> Vec<(String, Vec<f64>)> {
    let seed = 1000 + n as u64;
    let random = numbers(seed, n * n);
    let mut list = vec![(format!("seed {seed}"), random.clone())];
    if n == 0 {
        return list;
    }
    let changed = |name: &str, change: &dyn Fn(&mut Vec<f64>)| {
        let mut a = random.clone();
        change(&mut a);
        (format!("seed {seed} {name}"), a)
    };
    list.push(changed("NaN in the middle", &|a| a[n * n / 2] = f64::NAN));
    list.push(changed("two NaN in the last column", &|a| {
        (a[n - 1], a[n * n - 1]) = (f64::NAN, -f64::NAN);
    }));
    list.push(changed("infinite", &|a| a[n * (n / 3)] = f64::NEG_INFINITY));
    list.push(changed("a zero column", &|a| {
        (0..n).for_each(|i| a[i * n + n / 2] = -0.0);
    }));
    list.push(changed("equal rows", &|a| {
        let row = a[..n].to_vec();
        (0..n).for_each(|i| a[i * n..][..n].copy_from_slice(&row));
    }));
    list
}

#[test]
fn lu_has_the_bits_of_the_definition() {
    for n in SIZES {
        for (name, a) in matrices(n) {
            let (mut want, mut rows) = (a.clone(), vec![0; n]);
            definition::lu(n, &mut want, &mut rows);
            each_lanes(|lanes, how| {
                let (mut got, mut pivots) = (a.clone(), vec![9; n]);
                lu(lanes, n, &mut got, &mut pivots);
                assert_eq!(pivots, rows, "{n} {name} {how}");
                assert_same(&got, &want, &format!("{n} {name} {how}"));
            });
        }
    }
}

/// A matrix with random numbers in both triangles; the one that is read belongs to a positive
/// definite matrix.
fn positive(n: usize, seed: u64) -> Vec<f64> {
    let mut a = numbers(seed, n * n);
    for x in &mut a {
        *x = x.clamp(-1.0, 1.0);
    }
    (0..n).for_each(|i| a[i * n + i] += n as f64 + 0.5);
    a
}

#[test]
fn cholesky_has_the_bits_of_the_definition_in_either_triangle() {
    for n in SIZES {
        let seed = 77 + n as u64;
        let good = positive(n, seed);
        let mut list = vec![("", good.clone())];
        if n > 0 {
            let mut bad = good.clone();
            bad[(n / 2) * (n + 1)] = -1.0;
            list.push(("not positive", bad.clone()));
            bad[(n - 1) * n] = f64::NAN;
            list.push(("not positive, with NaN", bad));
        }
        for (name, a) in list {
            let mut want = a.clone();
            let failed = definition::cholesky(n, &mut want);
            (0..n).for_each(|i| want[i * n + i + 1..(i + 1) * n].fill(0.0));
            let turned =
                |a: &[f64]| -> Vec<f64> { (0..n * n).map(|c| a[(c % n) * n + c / n]).collect() };
            each_lanes(|lanes, how| {
                let note = format!("{n} seed {seed} {name} {how}");
                for lower in [true, false] {
                    let mut got = if lower { a.clone() } else { turned(&a) };
                    let mut pivot = [Some(99)];
                    cholesky(lanes, n, lower, &mut got, &mut pivot);
                    assert_eq!(pivot, [failed], "{note}");
                    let got = if lower { got } else { turned(&got) };
                    assert_same(&got, &want, &note);
                }
            });
        }
    }
}

/// Every triangle, unit or not, in row-major and transposed storage.
fn check_solve(n: usize, columns: usize, seed: u64) {
    let t = numbers(seed, n * n);
    let b = numbers(seed + 1, n * columns);
    let row_major = Matrix::new(&t, n, n);
    for (lower, unit) in [(true, true), (true, false), (false, true), (false, false)] {
        for matrix in [row_major, row_major.transposed()] {
            let cell = |i: usize, k: usize| {
                t[(i as isize * matrix.row + k as isize * matrix.column) as usize]
            };
            let mut want = b.clone();
            for j in 0..columns {
                let mut x: Vec<f64> = (0..n).map(|i| b[i * columns + j]).collect();
                match lower {
                    true => definition::forward(cell, unit, &mut x),
                    false => definition::backward(cell, unit, &mut x),
                }
                (0..n).for_each(|i| want[i * columns + j] = x[i]);
            }
            each_lanes(|lanes, how| {
                let mut got = b.clone();
                let which = Triangle { lower, unit };
                solve(lanes, which, matrix, &[0], columns, &mut got);
                let storage = matrix.column;
                let note = format!("({n} {columns}) {which:?} column step {storage} {how}");
                assert_same(&got, &want, &format!("{note} seed {seed}"));
            });
        }
    }
}

#[test]
fn substitution_has_the_bits_of_the_definition() {
    for n in SIZES {
        for columns in [0, 1, 2, 16, 17, 35] {
            check_solve(n, columns, (n * 100 + columns) as u64);
        }
    }
    check_solve(40, 700, 5);
}

#[test]
fn stacks_are_matrices_one_by_one_and_right_sides_may_share_one() {
    for (slabs, n) in [(1, 5), (7, 9), (40, 16), (3, 130), (2, 150)] {
        let a = numbers(3, slabs * n * n);
        let b = numbers(4, slabs * n * 3);
        each_lanes(|lanes, how| {
            let note = format!("{slabs} of {n} {how}");
            let (mut factors, mut pivots) = (a.clone(), vec![0; slabs * n]);
            lu(lanes, n, &mut factors, &mut pivots);
            let mut x = b.clone();
            for (x, pivots) in x.chunks_mut(n * 3).zip(pivots.chunks(n)) {
                definition::permute(pivots, 3, x);
            }
            let lower = Triangle { lower: true, unit: true };
            let offsets: Vec<usize> = (0..slabs).map(|s| s * n * n).collect();
            solve(lanes, lower, Matrix::new(&factors, n, n), &offsets, 3, &mut x);
            let mut shared = b.clone();
            solve(lanes, lower, Matrix::new(&factors, n, n), &vec![0; slabs], 3, &mut shared);
            for slab in 0..slabs {
                let cells = slab * n * n..(slab + 1) * n * n;
                let rows = slab * n..(slab + 1) * n;
                let (mut one, mut order) = (a[cells.clone()].to_vec(), vec![0; n]);
                definition::lu(n, &mut one, &mut order);
                assert_same(&factors[cells], &one, &note);
                assert_eq!(pivots[rows], order, "{note}");
                for j in 0..3 {
                    let part = |v: &[f64]| -> Vec<f64> {
                        (0..n).map(|i| v[(slab * n + i) * 3 + j]).collect()
                    };
                    let mut y = part(&b);
                    definition::permute(&order, 1, &mut y);
                    definition::forward(|i, k| one[i * n + k], true, &mut y);
                    assert_same(&part(&x), &y, &note);
                    let mut y = part(&b);
                    definition::forward(|i, k| factors[i * n + k], true, &mut y);
                    assert_same(&part(&shared), &y, &note);
                }
            }
        });
    }
}

#[test]
fn large_matrices_cross_every_blocking_limit() {
    let n = 700;
    let a = numbers(8, n * n);
    let (mut want, mut rows) = (a.clone(), vec![0; n]);
    definition::lu(n, &mut want, &mut rows);
    for threads in [1, 3] {
        let (mut got, mut pivots) = (a.clone(), vec![0; n]);
        lu(&Lanes::new(threads), n, &mut got, &mut pivots);
        assert_eq!(pivots, rows, "{threads} threads");
        assert_same(&got, &want, &format!("LU of 700 on {threads} threads"));
        let b = numbers(9, n * 20);
        let mut x = b.clone();
        let which = Triangle { lower: false, unit: false };
        let matrix = Matrix::new(&got, n, n);
        solve(&Lanes::new(threads), which, matrix, &[0], 20, &mut x);
        for j in [0, 19] {
            let mut y: Vec<f64> = (0..n).map(|i| b[i * 20 + j]).collect();
            definition::backward(|i, k| want[i * n + k], false, &mut y);
            let got: Vec<f64> = (0..n).map(|i| x[i * 20 + j]).collect();
            assert_same(&got, &y, "substitution of 700");
        }
    }
}

#[test]
#[should_panic(expected = "leaves its slice")]
fn a_matrix_outside_its_slice_is_refused() {
    let which = Triangle { lower: true, unit: true };
    solve(&Lanes::new(1), which, Matrix::new(&[1.0; 8], 3, 3), &[0], 1, &mut [0.0; 3]);
}
