//! Between row-major slices and faer's matrices, and the steps that all factorisations share:
//! looking for NaN, scaling, signs.

use faer::{Mat, MatMut, MatRef};

/// Whether every number is finite.
pub(crate) fn is_finite(a: &[f64]) -> bool {
    a.iter().all(|x| x.is_finite())
}

/// A power of two by which `a` is multiplied so that no square of it leaves the range of f64, and
/// the one that undoes it. Both are 1 for ordinary numbers.
pub(crate) fn scale(a: &[f64]) -> (f64, f64) {
    let largest = a.iter().fold(0f64, |m, x| m.max(x.abs()));
    let ordinary = 2f64.powi(-400)..2f64.powi(400);
    if largest == 0.0 || ordinary.contains(&largest) {
        return (1.0, 1.0);
    }
    let exponent = largest.log2() as i32;
    let exponent = exponent.clamp(-1000, 1000);
    (2f64.powi(-exponent), 2f64.powi(exponent))
}

/// A row-major (m, n) slice as faer's matrix, each number times `scale`.
pub(crate) fn read(a: &[f64], m: usize, n: usize, scale: f64) -> Mat<f64> {
    let view = MatRef::from_row_major_slice(a, m, n);
    Mat::from_fn(m, n, |i, j| view[(i, j)] * scale)
}

/// The elements in row-major order, each times `scale`.
pub(crate) fn write(a: MatRef<f64>, scale: f64) -> Vec<f64> {
    let mut out = Vec::with_capacity(a.nrows() * a.ncols());
    for i in 0..a.nrows() {
        out.extend((0..a.ncols()).map(|j| a[(i, j)] * scale));
    }
    out
}

/// Turns the columns in which the entry of largest magnitude, the first on ties, is negative;
/// `turned(j)` hears of each.
pub(crate) fn fix_signs(mut vectors: MatMut<f64>, mut turned: impl FnMut(usize)) {
    for j in 0..vectors.ncols() {
        let mut largest = 0f64;
        for i in 0..vectors.nrows() {
            let x = vectors[(i, j)];
            if x.abs() > largest.abs() {
                largest = x;
            }
        }
        if largest < 0.0 {
            (0..vectors.nrows()).for_each(|i| vectors[(i, j)] = -vectors[(i, j)]);
            turned(j);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scales_are_powers_of_two_and_only_for_extreme_numbers() {
        assert_eq!(scale(&[1e100, -3.0]), (1.0, 1.0));
        assert_eq!(scale(&[]), (1.0, 1.0));
        let (down, up) = scale(&[1e300, 1.0]);
        assert_eq!(down * up, 1.0);
        assert!((1e300 * down).abs() < 4.0);
        let (up, down) = scale(&[5e-324]);
        assert_eq!((up * down, 5e-324 * up * down), (1.0, 5e-324));
    }

    #[test]
    fn the_first_of_the_largest_entries_becomes_positive() {
        let mut a = read(&[1.0, -2.0, 0.0, -1.0, 2.0, 0.0], 2, 3, 1.0);
        let mut columns = Vec::new();
        fix_signs(a.as_mut(), |j| columns.push(j));
        assert_eq!(write(a.as_ref(), 1.0), [1.0, 2.0, 0.0, -1.0, -2.0, 0.0]);
        assert_eq!(columns, [1]);
    }
}
