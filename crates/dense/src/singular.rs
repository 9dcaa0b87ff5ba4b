//! The singular value decomposition: bidiagonal form, then divide and conquer (faer).

use crate::NotConverged;
use crate::matrix::{fix_signs, is_finite, read, scale, write};
use faer::{Mat, MatRef};

/// How many singular vectors are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    /// min(m, n) of each.
    Reduced,
    /// m left ones and n right ones.
    Full,
}

/// a (m, n) = u diag(s) vt, row-major, k = min(m, n).
#[derive(Clone, Debug, PartialEq)]
pub struct Singular {
    /// (m, k), or (m, m).
    pub u: Vec<f64>,
    /// (k), descending, none negative.
    pub s: Vec<f64>,
    /// (k, n), or (n, n).
    pub vt: Vec<f64>,
}

/// The decomposition of a (m, n).
///
/// # Panics
/// When `a` has not m * n elements.
pub fn singular(m: usize, n: usize, a: &[f64], extent: Extent) -> Result<Singular, NotConverged> {
    assert_eq!(a.len(), m * n, "extents of a singular value decomposition");
    let k = m.min(n);
    let (left, right) = if extent == Extent::Full { (m, n) } else { (k, k) };
    if !is_finite(a) {
        let nan = |count| vec![f64::NAN; count];
        return Ok(Singular { u: nan(m * left), s: nan(k), vt: nan(right * n) });
    }
    if k == 0 {
        let identity = |n: usize| write(Mat::<f64>::identity(n, n).as_ref(), 1.0);
        return Ok(Singular { u: identity(left), s: Vec::new(), vt: identity(right) });
    }
    let (down, up) = scale(a);
    let matrix = read(a, m, n, down);
    let found = match extent {
        Extent::Full => matrix.svd(),
        Extent::Reduced => matrix.thin_svd(),
    };
    let found = found.map_err(|_| NotConverged)?;
    let (mut u, mut v) = (found.U().to_owned(), found.V().to_owned());
    let mut turned = vec![false; right];
    fix_signs(u.as_mut(), |j| {
        if let Some(turned) = turned.get_mut(j) {
            *turned = j < k;
        }
    });
    for j in (0..k).filter(|&j| turned[j]) {
        (0..n).for_each(|i| v[(i, j)] = -v[(i, j)]);
    }
    // Right vectors without a singular value have no left one that fixes their sign.
    fix_signs(v.as_mut().subcols_mut(k, right - k), |_| {});
    let s = (0..k).map(|i| found.S()[i] * up).collect();
    let vt: MatRef<f64> = v.transpose();
    Ok(Singular { u: write(u.as_ref(), 1.0), s, vt: write(vt, 1.0) })
}

/// The singular values of a (m, n) alone, descending.
///
/// # Panics
/// When `a` has not m * n elements.
pub fn singular_values(m: usize, n: usize, a: &[f64]) -> Result<Vec<f64>, NotConverged> {
    assert_eq!(a.len(), m * n, "extents of a singular value decomposition");
    if !is_finite(a) {
        return Ok(vec![f64::NAN; m.min(n)]);
    }
    if m.min(n) == 0 {
        return Ok(Vec::new());
    }
    let (down, up) = scale(a);
    let values = read(a, m, n, down).singular_values().map_err(|_| NotConverged)?;
    Ok(values.into_iter().map(|s| s * up).collect())
}
