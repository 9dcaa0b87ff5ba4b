//! Eigenvalues and eigenvectors of symmetric matrices: tridiagonal form, then divide and conquer
//! (faer).

use crate::NotConverged;
use crate::matrix::{fix_signs, read, scale, write};
use faer::{Mat, Side};

/// What a symmetric (n, n) matrix gives.
#[derive(Clone, Debug, PartialEq)]
pub struct Eigen {
    /// (n), ascending.
    pub values: Vec<f64>,
    /// (n, n), row-major: column j belongs to value j.
    pub vectors: Vec<f64>,
}

/// The eigenvalues and vectors of the symmetric matrix whose lower triangle a (n, n) holds; what
/// stands above the diagonal is not read.
///
/// # Panics
/// When `a` has not n * n elements.
pub fn eigen(n: usize, a: &[f64]) -> Result<Eigen, NotConverged> {
    assert_eq!(a.len(), n * n, "extents of a symmetric matrix");
    let mut lower = a.to_vec();
    (0..n).for_each(|i| lower[i * n + i + 1..(i + 1) * n].fill(0.0));
    if !lower.iter().all(|x| x.is_finite()) {
        return Ok(Eigen { values: vec![f64::NAN; n], vectors: vec![f64::NAN; n * n] });
    }
    if n == 0 {
        return Ok(Eigen { values: Vec::new(), vectors: Vec::new() });
    }
    let (down, up) = scale(&lower);
    let matrix = read(&lower, n, n, down);
    let found = matrix.self_adjoint_eigen(Side::Lower).map_err(|_| NotConverged)?;
    let values = (0..n).map(|i| found.S()[i] * up).collect();
    let mut vectors: Mat<f64> = found.U().to_owned();
    fix_signs(vectors.as_mut(), |_| {});
    Ok(Eigen { values, vectors: write(vectors.as_ref(), 1.0) })
}
