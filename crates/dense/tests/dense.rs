//! The factorisations against what defines them: reconstruction, orthogonality, signs, known
//! answers, extreme scales, NaN, and matrices without rows or columns.

use rung_dense::*;

const EPS: f64 = f64::EPSILON;
const SHAPES: [(usize, usize); 14] = [
    (0, 0),
    (0, 3),
    (3, 0),
    (1, 1),
    (1, 4),
    (4, 1),
    (2, 3),
    (3, 2),
    (63, 64),
    (64, 64),
    (65, 63),
    (65, 65),
    (20, 130),
    (200, 200),
];

/// Uniform numbers in [-1, 1) from a seed that messages print.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// a (m, k) times b (k, n).
fn product((m, k, n): (usize, usize, usize), a: &[f64], b: &[f64]) -> Vec<f64> {
    assert_eq!((a.len(), b.len()), (m * k, k * n));
    let cell = |c: usize| (0..k).map(|i| a[c / n * k + i] * b[i * n + c % n]).sum();
    (0..m * n).map(cell).collect()
}

fn transposed(m: usize, n: usize, a: &[f64]) -> Vec<f64> {
    (0..m * n).map(|c| a[c % m * n + c / m]).collect()
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, x| m.max(x.abs()))
}

#[track_caller]
fn assert_close(got: &[f64], want: &[f64], bound: f64, note: &str) {
    assert_eq!(got.len(), want.len(), "{note}");
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        assert!((g - w).abs() <= bound, "{note}: element {i} is {g}, not {w} within {bound:e}");
    }
}

/// The columns of q (m, k) are orthonormal.
#[track_caller]
fn assert_orthonormal(m: usize, k: usize, q: &[f64], note: &str) {
    let square = product((k, m, k), &transposed(m, k, q), q);
    let identity: Vec<f64> = (0..k * k).map(|c| f64::from(u8::from(c / k == c % k))).collect();
    assert_close(&square, &identity, 20.0 * EPS * (m as f64).sqrt().max(1.0), note);
}

/// In each column the first entry of the largest magnitude is positive.
#[track_caller]
fn assert_signs(m: usize, k: usize, vectors: &[f64], note: &str) {
    for j in 0..if m == 0 { 0 } else { k } {
        let column: Vec<f64> = (0..m).map(|i| vectors[i * k + j]).collect();
        let most = largest(&column);
        let first = column.iter().find(|x| x.abs() == most).unwrap();
        assert!(*first > 0.0, "{note}: column {j}");
    }
}

#[test]
fn qr_gives_the_matrix_back_with_orthonormal_columns_and_no_negative_diagonal() {
    for (m, n) in SHAPES {
        let seed = (m * 1000 + n) as u64;
        let a = numbers(seed, m * n);
        for complete in [false, true] {
            let note = format!("({m} {n}) complete {complete} seed {seed}");
            let k = if complete { m } else { m.min(n) };
            let f = orthogonal(m, n, &a, complete, true);
            let bound = 30.0 * EPS * (m.max(n).max(1) as f64);
            assert_close(&product((m, k, n), &f.q, &f.r), &a, bound, &note);
            assert_orthonormal(m, k, &f.q, &note);
            for i in 0..k {
                let below = f.r[i * n..][..i.min(n)].iter();
                assert!(below.into_iter().all(|x| x.to_bits() == 0), "{note}: row {i}");
                assert!(i >= n || f.r[i * n + i].is_sign_positive(), "{note}: row {i}");
            }
            let alone = orthogonal(m, n, &a, complete, false);
            assert_eq!((alone.q.len(), alone.r), (0, f.r.clone()), "{note}");
            assert_eq!(orthogonal(m, n, &a, complete, true), f, "{note}: run to run");
        }
    }
}

#[test]
fn qr_of_a_known_matrix() {
    let f = orthogonal(3, 2, &[3.0, 1.0, 4.0, 2.0, 0.0, 2.0], false, true);
    let r = [5.0, 2.2, 0.0, 2.039607805437114];
    assert_close(&f.r, &r, 1e-14, "R");
    assert_close(&[f.q[0], f.q[2], f.q[4]], &[0.6, 0.8, 0.0], 1e-15, "first column of Q");
}

#[test]
fn eigenvectors_are_orthonormal_and_give_the_matrix_back() {
    for n in [0, 1, 2, 3, 63, 64, 65, 200] {
        let seed = n as u64;
        let a = numbers(seed, n * n);
        let note = format!("{n} seed {seed}");
        let found = eigen(n, &a).unwrap();
        let symmetric: Vec<f64> =
            (0..n * n).map(|c| a[(c / n).max(c % n) * n + (c / n).min(c % n)]).collect();
        assert!(found.values.is_sorted(), "{note}");
        assert_orthonormal(n, n, &found.vectors, &note);
        assert_signs(n, n, &found.vectors, &note);
        let scaled: Vec<f64> = (0..n * n).map(|c| found.vectors[c] * found.values[c % n]).collect();
        let back = product((n, n, n), &scaled, &transposed(n, n, &found.vectors));
        assert_close(&back, &symmetric, 30.0 * EPS * n as f64, &note);
        assert_eq!(eigen(n, &a).unwrap(), found, "{note}: run to run");
    }
}

#[test]
fn eigenvalues_of_a_path_are_known() {
    // The Laplacian of a path of n points has the eigenvalues 2 - 2 cos(pi k / n).
    let n = 12;
    let a: Vec<f64> = (0..n * n)
        .map(|c: usize| match (c / n, c % n) {
            (i, j) if i == j => {
                if i == 0 || i == n - 1 {
                    1.0
                } else {
                    2.0
                }
            }
            (i, j) if i.abs_diff(j) == 1 => -1.0,
            _ => 0.0,
        })
        .collect();
    let want: Vec<f64> =
        (0..n).map(|k| 2.0 - 2.0 * (std::f64::consts::PI * k as f64 / n as f64).cos()).collect();
    assert_close(&eigen(n, &a).unwrap().values, &want, 1e-14, "a path of 12");
    let two = eigen(2, &[2.0, f64::NAN, 1.0, 2.0]).unwrap();
    assert_close(&two.values, &[1.0, 3.0], 1e-15, "what is above the diagonal is not read");
    let half = 0.5f64.sqrt();
    assert_close(&two.vectors, &[half, half, -half, half], 1e-15, "signs");
}

#[test]
fn singular_vectors_are_orthonormal_and_give_the_matrix_back() {
    for (m, n) in SHAPES {
        let seed = (m * 1000 + n) as u64;
        let (a, k) = (numbers(seed, m * n), m.min(n));
        for extent in [Extent::Reduced, Extent::Full] {
            let note = format!("({m} {n}) {extent:?} seed {seed}");
            let (left, right) = if extent == Extent::Full { (m, n) } else { (k, k) };
            let f = singular(m, n, &a, extent).unwrap();
            assert!(f.s.is_sorted_by(|a, b| a >= b) && f.s.iter().all(|s| *s >= 0.0), "{note}");
            assert_orthonormal(m, left, &f.u, &note);
            assert_orthonormal(n, right, &transposed(right, n, &f.vt), &note);
            assert_signs(m, left, &f.u, &note);
            let part: Vec<f64> =
                (0..m * k).map(|c| f.u[c / k * left + c % k] * f.s[c % k]).collect();
            let back = product((m, k, n), &part, &f.vt[..k * n]);
            assert_close(&back, &a, 30.0 * EPS * m.max(n) as f64, &note);
            assert_eq!(singular(m, n, &a, extent).unwrap(), f, "{note}: run to run");
            let values = singular_values(m, n, &a).unwrap();
            assert_close(&values, &f.s, 30.0 * EPS * m.max(n) as f64, &note);
        }
    }
}

#[test]
fn hilbert_matrices_are_nearly_singular() {
    // The condition number of the Hilbert matrix of order 8 is 1.5257575538060041e10.
    let n = 8;
    let a: Vec<f64> = (0..n * n).map(|c| 1.0 / ((c / n + c % n + 1) as f64)).collect();
    let s = singular_values(n, n, &a).unwrap();
    assert!((s[0] / s[7] / 1.5257575538060041e10 - 1.0).abs() < 1e-5, "{}", s[0] / s[7]);
    assert!((s[0] - 1.6959389969219493).abs() < 1e-14, "{}", s[0]);
    assert_eq!((rank(&s, 1e-10), rank(&s, 1e-3)), (8, 4));
    let inverse = pseudo_inverse(n, n, &a, EPS * 8.0).unwrap();
    assert!((inverse[0] - 64.0).abs() < 1e-4, "{}", inverse[0]);
}

#[test]
fn a_line_through_points_and_a_system_without_one_answer() {
    // y = 1 + 2 x through three of four points, the last one 1 too high.
    let a = [1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0];
    let b = [1.0, 3.0, 5.0, 8.0];
    let f = least_squares((4, 2), &a, 1, &b, EPS * 4.0).unwrap();
    assert_close(&f.x, &[0.8, 2.3], 1e-14, "x");
    assert_close(&f.residuals, &[0.3], 1e-14, "residuals");
    assert_eq!(f.rank, 2);
    // Rank 1: the x of least norm, and no residuals.
    let f = least_squares((2, 2), &[1.0, 1.0, 1.0, 1.0], 1, &[2.0, 4.0], EPS * 2.0).unwrap();
    assert_close(&f.x, &[1.5, 1.5], 1e-14, "least norm");
    assert_eq!((f.rank, f.residuals.len()), (1, 0));
    let f = least_squares((0, 2), &[], 1, &[], EPS).unwrap();
    assert_eq!((f.x, f.rank), (vec![0.0, 0.0], 0));
    let f = least_squares((2, 1), &[1.0, 2.0], 2, &[1.0, f64::NAN, 2.0, 1.0], EPS).unwrap();
    assert!(f.x.iter().all(|x| x.is_nan()));
}

#[test]
fn the_four_rules_of_a_pseudo_inverse() {
    for (m, n) in [(5, 3), (3, 5), (65, 20), (4, 4)] {
        let a = numbers(3, m * n);
        let p = pseudo_inverse(m, n, &a, EPS * m.max(n) as f64).unwrap();
        let ap = product((m, n, m), &a, &p);
        let pa = product((n, m, n), &p, &a);
        let note = format!("({m} {n})");
        assert_close(&product((m, m, n), &ap, &a), &a, 1e-12, &note);
        assert_close(&product((n, n, m), &pa, &p), &p, 1e-12, &note);
        assert_close(&transposed(m, m, &ap), &ap, 1e-12, &note);
        assert_close(&transposed(n, n, &pa), &pa, 1e-12, &note);
    }
    assert_eq!(pseudo_inverse(2, 1, &[0.0, 0.0], EPS).unwrap(), [0.0, 0.0]);
}

#[test]
fn nan_and_infinity_give_nan_everywhere_and_end() {
    for bad in [f64::NAN, f64::INFINITY] {
        for (m, n) in [(1, 1), (3, 3), (70, 40), (40, 70)] {
            let mut a = numbers(1, m * n);
            a[m * n - 1] = bad;
            let all = |x: &[f64]| x.iter().all(|x| x.is_nan());
            let f = orthogonal(m, n, &a, false, true);
            assert!(all(&f.q) && all(&f.r));
            let f = singular(m, n, &a, Extent::Full).unwrap();
            assert!(all(&f.u) && all(&f.s) && all(&f.vt) && f.u.len() == m * m);
            assert!(all(&singular_values(m, n, &a).unwrap()));
            assert!(all(&pseudo_inverse(m, n, &a, EPS).unwrap()));
            if m == n {
                let f = eigen(n, &a).unwrap();
                assert!(all(&f.values) && all(&f.vectors));
            }
        }
    }
}

#[test]
fn numbers_near_the_ends_of_the_range_lose_nothing() {
    let a = numbers(9, 30);
    let plain = singular(6, 5, &a, Extent::Reduced).unwrap();
    for scale in [2f64.powi(1020), 2f64.powi(-900)] {
        let scaled: Vec<f64> = a.iter().map(|x| x * scale).collect();
        let f = singular(6, 5, &scaled, Extent::Reduced).unwrap();
        let back: Vec<f64> = f.s.iter().map(|s| s / scale).collect();
        assert_close(&back, &plain.s, 1e-14, "singular values");
        assert_close(&f.u, &plain.u, 1e-13, "left vectors");
        let r: Vec<f64> =
            orthogonal(6, 5, &scaled, false, false).r.iter().map(|r| r / scale).collect();
        assert_close(&r, &orthogonal(6, 5, &a, false, false).r, 1e-14, "R");
        let values = eigen(5, &scaled[..25]).unwrap().values;
        let back: Vec<f64> = values.iter().map(|s| s / scale).collect();
        assert_close(&back, &eigen(5, &a[..25]).unwrap().values, 1e-14, "eigenvalues");
    }
}
