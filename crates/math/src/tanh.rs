//! tanh: an odd polynomial below 0.55, above it 1 - 2 / (e^2x + 1) with the sum and what the
//! quotient owes to its rounding kept, so that only the quotient's own rounding, at most a quarter
//! ulp of the result, is added to the last one. Error bounds are measured by `cargo xtask
//! exhaustive`.

use crate::coefficients::{TANH_32, TANH_64};
use crate::exponential::{Power, fast_two_sum};
use crate::function::Unary;
use crate::pair_functions::{or_nan, with_sign};
use crate::polynomial::two_chains;
use crate::real::{Bits, Real, Width};

/// The hyperbolic tangent: odd, +-1 from |x| = 9.02 (f32), 19.07 (f64).
#[derive(Clone, Copy, Default, Debug)]
pub struct Tanh;
impl Unary for Tanh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let limit = R::constant(match R::WIDTH {
            Width::F32 => 10.0,
            Width::F64 => 20.0,
        });
        let magnitude = x.abs();
        let z = magnitude * magnitude;
        let rest = match R::WIDTH {
            Width::F32 => two_chains(z, &TANH_32),
            Width::F64 => two_chains(z, &TANH_64),
        };
        let near = magnitude + (magnitude * z) * rest;
        let far = one_minus_quotient(R::select(magnitude.less(limit), magnitude, limit));
        let value = R::select(magnitude.less(R::constant(0.55)), near, far);
        or_nan(x, with_sign(value, x))
    }
}

/// 1 - 2 / (e^2x + 1) for 0.55 <= x <= 20.
#[inline(always)]
fn one_minus_quotient<R: Real>(x: R) -> R {
    let (one, two) = (R::constant(1.0), R::constant(2.0));
    let power = Power::of(x + x);
    let scale = (one.bits() + power.exponent()).real();
    let (sum, lost) = fast_two_sum(power.number.high * scale, one);
    let (sum, rest) = fast_two_sum(sum, power.number.low * scale);
    let quotient = two / sum;
    // 2 / (sum + rest) = quotient - quotient^2 rest / 2, to far below an ulp.
    let owed = (quotient * quotient) * (R::constant(0.5) * (rest + lost));
    let (difference, lost) = fast_two_sum(one, -quotient);
    difference + (lost + owed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tanh_is_odd_and_saturates() {
        assert_eq!(Tanh::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Tanh::at(-5e-324_f64), -5e-324);
        assert_eq!(Tanh::at(1.0_f64), 0.7615941559557649);
        assert_eq!(Tanh::at(9.1_f32), 1.0);
        assert_eq!(Tanh::at(f64::NEG_INFINITY), -1.0);
        assert_eq!(Tanh::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }
}
