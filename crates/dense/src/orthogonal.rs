//! QR by blocked Householder reflections (faer).

use crate::matrix::{is_finite, read, scale, write};
use faer::linalg::solvers::Qr;

/// The factors of a (m, n), row-major.
#[derive(Clone, Debug, PartialEq)]
pub struct Orthogonal {
    /// (m, k) with orthonormal columns; empty where it was not asked for.
    pub q: Vec<f64>,
    /// (k, n), upper triangular, no negative element on its diagonal.
    pub r: Vec<f64>,
}

/// a (m, n) = q r with k = min(m, n), or k = m where `complete`. `with_q`: q is computed.
///
/// # Panics
/// When `a` has not m * n elements.
pub fn orthogonal(m: usize, n: usize, a: &[f64], complete: bool, with_q: bool) -> Orthogonal {
    assert_eq!(a.len(), m * n, "extents of a QR factorisation");
    let k = if complete { m } else { m.min(n) };
    let q_size = if with_q { m * k } else { 0 };
    if !is_finite(a) {
        return Orthogonal { q: vec![f64::NAN; q_size], r: vec![f64::NAN; k * n] };
    }
    if n == 0 || m == 0 {
        // Nothing to eliminate: any orthonormal columns do, and the identity's are the plainest.
        let q = (0..q_size).map(|c| f64::from(u8::from(c / k.max(1) == c % k.max(1)))).collect();
        return Orthogonal { q, r: Vec::new() };
    }
    let (down, up) = scale(a);
    let factors = Qr::new(read(a, m, n, down).as_ref());
    let mut r = write(factors.thin_R(), up);
    r.resize(k * n, 0.0);
    let negative: Vec<bool> = (0..m.min(n)).map(|i| r[i * n + i].is_sign_negative()).collect();
    for (i, row) in r.chunks_mut(n).enumerate() {
        row[..i.min(n)].fill(0.0);
        if negative.get(i) == Some(&true) {
            row[i..].iter_mut().for_each(|x| *x = -*x);
        }
    }
    if !with_q {
        return Orthogonal { q: Vec::new(), r };
    }
    let q = if complete { factors.compute_Q() } else { factors.compute_thin_Q() };
    let mut q = write(q.as_ref(), 1.0);
    for row in q.chunks_mut(k) {
        for (x, _) in row.iter_mut().zip(&negative).filter(|(_, negative)| **negative) {
            *x = -*x;
        }
    }
    Orthogonal { q, r }
}
