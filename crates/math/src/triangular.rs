//! Triangular work: LU with partial pivoting, Cholesky, substitution, and the determinant that
//! reads off a factorisation. The plainest text; blocked, threaded and device schedules give these
//! bits, because each element's steps have one order and start from the element itself. Nothing
//! here is fast; read `triangular` of crate `lanes` for that.
//!
//! All in f64, whatever the width of what came in. An element changes by one fused step for each
//! eliminated index k, in the order of the elimination: a_ij <- fma(-l_ik, u_kj, a_ij). The order
//! ascends, except in `backward`, where the last unknown is eliminated first, so it descends.
//! After its last step an element below the diagonal is divided by the pivot, once.
//!
//! NaN: the pivot search takes the first NaN before any number, so a NaN anywhere reaches the last
//! pivot and no NaN is ever an error; `singular` says so. Matrices are row-major, n x n.
//! Methods: Golub and Van Loan, Matrix Computations, 4th ed. 2013, 3.4 and 4.2.

use crate::{Log, Unary};

/// The row of the pivot among `column(i)` for i in `from..n`: the largest magnitude, the first on
/// ties, the first NaN before all.
pub fn pivot_row(from: usize, n: usize, column: impl Fn(usize) -> f64) -> usize {
    let mut best = from;
    for i in from..n {
        let (here, there) = (column(i).abs(), column(best).abs());
        if there.is_nan() {
            break;
        }
        if here.is_nan() || here > there {
            best = i;
        }
    }
    best
}

/// The factors of the row-permuted matrix in its place: U on and above the diagonal, L below it,
/// with its ones left out. Step k exchanged the rows k and `pivots[k]`. A pivot that is exactly
/// zero divides nothing: its column is zero already.
///
/// # Panics
/// When `a` has not n * n elements, or `pivots` not n.
pub fn lu(n: usize, a: &mut [f64], pivots: &mut [usize]) {
    assert_eq!((a.len(), pivots.len()), (n * n, n), "extents of an LU");
    for k in 0..n {
        let row = pivot_row(k, n, |i| a[i * n + k]);
        pivots[k] = row;
        for j in 0..n {
            a.swap(k * n + j, row * n + j);
        }
        let pivot = a[k * n + k];
        for i in k + 1..n {
            if pivot != 0.0 {
                a[i * n + k] /= pivot;
            }
            for j in k + 1..n {
                a[i * n + j] = (-a[i * n + k]).mul_add(a[k * n + j], a[i * n + j]);
            }
        }
    }
}

/// What stands on the diagonal of a matrix of n rows; of an LU its pivots.
pub fn diagonal(n: usize, a: &[f64]) -> impl Iterator<Item = f64> + Clone + '_ {
    (0..n).map(move |i| a[i * n + i])
}

/// Whether the matrix of an LU with this diagonal has no inverse: a pivot is exactly zero, and no
/// NaN was in it.
pub fn singular(diagonal: impl Iterator<Item = f64> + Clone) -> bool {
    diagonal.clone().any(|pivot| pivot == 0.0) && !diagonal.clone().any(|pivot| pivot.is_nan())
}

/// The lower factor of a symmetric positive definite matrix in the place of its lower triangle;
/// what stands above the diagonal is neither read nor written. Gives the index of the first pivot
/// that is not positive, if there is one; a NaN is none. After it the factor means nothing.
///
/// # Panics
/// When `a` has not n * n elements.
pub fn cholesky(n: usize, a: &mut [f64]) -> Option<usize> {
    assert_eq!(a.len(), n * n, "extents of a Cholesky factorisation");
    let mut failed = None;
    for k in 0..n {
        let pivot = a[k * n + k];
        if pivot <= 0.0 && failed.is_none() {
            failed = Some(k);
        }
        let root = pivot.sqrt();
        a[k * n + k] = root;
        for i in k + 1..n {
            a[i * n + k] /= root;
        }
        for i in k + 1..n {
            for j in k + 1..=i {
                a[i * n + j] = (-a[i * n + k]).mul_add(a[j * n + k], a[i * n + j]);
            }
        }
    }
    failed
}

/// Solves L x = b for one right-hand side in its place; reads `l(i, k)` for k <= i. `unit`: the
/// diagonal counts as ones and is not read.
pub fn forward(l: impl Fn(usize, usize) -> f64, unit: bool, x: &mut [f64]) {
    for i in 0..x.len() {
        for k in 0..i {
            x[i] = (-l(i, k)).mul_add(x[k], x[i]);
        }
        if !unit {
            x[i] /= l(i, i);
        }
    }
}

/// Solves U x = b for one right-hand side in its place; reads `u(i, k)` for k >= i. The last
/// unknown first, and so in every sum.
pub fn backward(u: impl Fn(usize, usize) -> f64, unit: bool, x: &mut [f64]) {
    let n = x.len();
    for i in (0..n).rev() {
        for k in (i + 1..n).rev() {
            x[i] = (-u(i, k)).mul_add(x[k], x[i]);
        }
        if !unit {
            x[i] /= u(i, i);
        }
    }
}

/// The exchanges of an LU applied to the rows of x (n, columns), the first exchange first.
pub fn permute(pivots: &[usize], columns: usize, x: &mut [f64]) {
    for (k, &row) in pivots.iter().enumerate() {
        (0..columns).for_each(|j| x.swap(k * columns + j, row * columns + j));
    }
}

/// 1 or -1: the sign of the row permutation.
pub fn sign(pivots: &[usize]) -> f64 {
    let exchanges = pivots.iter().enumerate().filter(|&(k, &row)| k != row).count();
    if exchanges % 2 == 0 { 1.0 } else { -1.0 }
}

/// The determinant: the diagonal of an LU multiplied ascending, from the permutation's sign.
/// Singular gives +0.0, whatever the other pivots are; nothing gives 1.
pub fn determinant(diagonal: impl Iterator<Item = f64> + Clone, pivots: &[usize]) -> f64 {
    if singular(diagonal.clone()) {
        return 0.0;
    }
    diagonal.fold(sign(pivots), |product, pivot| product * pivot)
}

/// The determinant as its sign and the logarithm of its magnitude: signs multiplied and logarithms
/// added in ascending order. Singular gives 0 and -inf.
pub fn log_determinant(
    diagonal: impl Iterator<Item = f64> + Clone,
    pivots: &[usize],
) -> (f64, f64) {
    if singular(diagonal.clone()) {
        return (0.0, f64::NEG_INFINITY);
    }
    diagonal.fold((sign(pivots), 0.0), |(sign, sum), pivot| {
        let one = if pivot.is_nan() { pivot } else { 1f64.copysign(pivot) };
        (sign * one, sum + Log::at(pivot.abs()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_needs_an_exchange() {
        let mut a = [0.0, 2.0, 1.0, 4.0, 2.0, 2.0, 2.0, 3.0, 4.0];
        let mut pivots = [0; 3];
        lu(3, &mut a, &mut pivots);
        assert_eq!(pivots, [1, 1, 2]);
        assert_eq!(a, [4.0, 2.0, 2.0, 0.0, 2.0, 1.0, 0.5, 1.0, 2.0]);
        assert_eq!(determinant(diagonal(3, &a), &pivots), -16.0);
        let (sign, log) = log_determinant(diagonal(3, &a), &pivots);
        assert_eq!(sign, -1.0);
        assert!((log - 16f64.ln()).abs() < 1e-15, "{log}");
        let mut x = [4.0, 8.0, 8.0];
        permute(&pivots, 1, &mut x);
        forward(|i, k| a[i * 3 + k], true, &mut x);
        backward(|i, k| a[i * 3 + k], false, &mut x);
        assert_eq!(x, [1.0, 2.0, 0.0]);
    }

    #[test]
    fn the_pivot_is_the_first_of_the_largest_and_the_first_nan_before_all() {
        let row = |column: &[f64]| pivot_row(0, column.len(), |i| column[i]);
        assert_eq!(row(&[1.0, -3.0, 3.0]), 1);
        assert_eq!(row(&[0.0, -0.0]), 0);
        assert_eq!(row(&[1.0, f64::NAN, f64::INFINITY, f64::NAN]), 1);
        assert_eq!(row(&[f64::NAN, 5.0]), 0);
    }

    #[test]
    fn zero_pivots_and_nan() {
        let mut a = [1.0, 2.0, 2.0, 4.0];
        let mut pivots = [0; 2];
        lu(2, &mut a, &mut pivots);
        assert!(singular(diagonal(2, &a)));
        assert_eq!(determinant(diagonal(2, &a), &pivots).to_bits(), 0);
        assert_eq!(log_determinant(diagonal(2, &a), &pivots), (0.0, f64::NEG_INFINITY));
        // A zero column beside a NaN is no singular matrix: the NaN reaches the last pivot.
        let mut a = [0.0, f64::NAN, 0.0, 1.0];
        lu(2, &mut a, &mut pivots);
        assert!(!singular(diagonal(2, &a)) && a[3].is_nan());
        assert!(determinant(diagonal(2, &a), &pivots).is_nan());
        assert_eq!(determinant(diagonal(0, &[]), &[]), 1.0);
        assert_eq!(log_determinant(diagonal(0, &[]), &[]), (1.0, 0.0));
    }

    #[test]
    fn cholesky_of_a_known_matrix_and_of_one_that_is_not_positive() {
        let above = f64::NAN;
        let mut a = [4.0, above, above, 12.0, 37.0, above, -16.0, -43.0, 98.0];
        assert_eq!(cholesky(3, &mut a), None);
        let lower = [a[0], a[3], a[4], a[6], a[7], a[8]];
        assert_eq!(lower, [2.0, 6.0, 1.0, -8.0, 5.0, 3.0]);
        assert!(a[1].is_nan() && a[2].is_nan());
        assert_eq!(cholesky(2, &mut [1.0, 0.0, 2.0, 4.0]), Some(1));
        assert_eq!(cholesky(1, &mut [-1.0]), Some(0));
        let mut a = [f64::NAN];
        assert_eq!((cholesky(1, &mut a), a[0].is_nan()), (None, true));
    }

    #[test]
    fn sums_descend_in_backward_substitution() {
        // 1 - 2^53 + 2^53: ascending gives 0, descending 1 (the unit diagonal is not read).
        let big = 2f64.powi(53);
        let u = [[f64::NAN, 0.5, -big], [0.0, f64::NAN, 0.0], [0.0, 0.0, f64::NAN]];
        let mut x = [0.5, 2.0 * big, 1.0];
        backward(|i, k| u[i][k], true, &mut x);
        assert_eq!(x[0], (-0.5f64).mul_add(2.0 * big, 0.5 + big));
        let mut x = [6.0, 3.0];
        forward(|i, k| [[2.0, f64::NAN], [1.0, 4.0]][i][k], false, &mut x);
        assert_eq!(x, [3.0, 0.0]);
    }
}
