//! What stands on the singular values: least squares of least norm, the pseudo-inverse, the rank.
//!
//! A singular value counts where it is larger than a tolerance times the largest one.

use crate::NotConverged;
use crate::matrix::{is_finite, write};
use crate::singular::{Extent, Singular, singular};
use faer::{Mat, MatRef};

/// What a (m, n) and b (m, columns) give.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastSquares {
    /// (n, columns): the x of least norm among those that make |b - a x| least.
    pub x: Vec<f64>,
    /// (columns): the sums of squares of b - a x; empty where the rank is below n or m <= n.
    pub residuals: Vec<f64>,
    /// How many singular values count.
    pub rank: usize,
    /// (min(m, n)), descending.
    pub singular_values: Vec<f64>,
}

/// How many of the descending values `s` are larger than `tolerance`.
pub fn rank(s: &[f64], tolerance: f64) -> usize {
    s.iter().filter(|&&s| s > tolerance).count()
}

/// The tolerance that a fraction of the largest singular value is.
fn tolerance(s: &[f64], fraction: f64) -> f64 {
    fraction * s.first().copied().unwrap_or(0.0)
}

/// The least-squares solution of a (m, n) x = b (m, columns); singular values not larger than
/// `fraction` times the largest count as zero.
///
/// # Panics
/// When the extents do not fit.
pub fn least_squares(
    (m, n): (usize, usize),
    a: &[f64],
    columns: usize,
    b: &[f64],
    fraction: f64,
) -> Result<LeastSquares, NotConverged> {
    assert_eq!((a.len(), b.len()), (m * n, m * columns), "extents of a least-squares problem");
    let Singular { u, s, vt } = singular(m, n, a, Extent::Reduced)?;
    let k = s.len();
    let rank = rank(&s, tolerance(&s, fraction));
    let full = rank == n && m > n;
    if !is_finite(a) || !is_finite(b) {
        let x = vec![f64::NAN; n * columns];
        return Ok(LeastSquares { x, residuals: Vec::new(), rank, singular_values: s });
    }
    let right = MatRef::from_row_major_slice(b, m, columns);
    let u = MatRef::from_row_major_slice(&u, m, k);
    let vt = MatRef::from_row_major_slice(&vt, k, n);
    let projected = u.transpose() * right;
    let divided = Mat::from_fn(rank, columns, |i, j| projected[(i, j)] / s[i]);
    let x = vt.get(..rank, ..).transpose() * &divided;
    let mut residuals = Vec::new();
    if full {
        let left = right - MatRef::from_row_major_slice(a, m, n) * &x;
        let squares = |j: usize| -> f64 { (0..m).map(|i| left[(i, j)] * left[(i, j)]).sum() };
        residuals.extend((0..columns).map(squares));
    }
    Ok(LeastSquares { x: write(x.as_ref(), 1.0), residuals, rank, singular_values: s })
}

/// The pseudo-inverse (n, m) of a (m, n) by Moore and Penrose.
///
/// # Panics
/// When `a` has not m * n elements.
pub fn pseudo_inverse(
    m: usize,
    n: usize,
    a: &[f64],
    fraction: f64,
) -> Result<Vec<f64>, NotConverged> {
    let Singular { u, s, vt } = singular(m, n, a, Extent::Reduced)?;
    if !is_finite(a) {
        return Ok(vec![f64::NAN; n * m]);
    }
    let (k, rank) = (s.len(), rank(&s, tolerance(&s, fraction)));
    let u = MatRef::from_row_major_slice(&u, m, k);
    let vt = MatRef::from_row_major_slice(&vt, k, n);
    let divided = Mat::from_fn(rank, m, |i, j| u[(j, i)] / s[i]);
    Ok(write((vt.get(..rank, ..).transpose() * &divided).as_ref(), 1.0))
}
