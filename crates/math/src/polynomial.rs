//! Polynomials with constant coefficients, lowest power first. Coefficients are f64 literals that
//! are already representable at the width they are used at. Which function uses which is in the
//! function's own file; where the numbers come from is in `coefficients`.

use crate::real::Real;

/// Even and odd powers apart, each by Horner's rule in x * x, so that the two chains overlap:
/// half the latency of one chain for two more multiplications.
#[inline(always)]
pub(crate) fn two_chains<R: Real, const N: usize>(x: R, coefficients: &[f64; N]) -> R {
    let square = x * x;
    let (mut high, mut low) = (R::constant(coefficients[N - 1]), R::constant(coefficients[N - 2]));
    let mut i = N - 2;
    while i > 0 {
        i -= 1;
        (high, low) = (low, high * square + R::constant(coefficients[i]));
    }
    high * x + low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_exact() {
        assert_eq!(two_chains(2.0_f64, &[1.0, 2.0, 3.0]), 17.0);
        assert_eq!(two_chains(2.0_f32, &[1.0, 2.0, 3.0, 4.0]), 49.0);
        assert_eq!(two_chains(3.0_f64, &[5.0, 2.0]), 11.0);
    }
}
