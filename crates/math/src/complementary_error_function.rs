//! erfc: 1 minus the near polynomial of erf below 0.5; above it
//! e^(-x^2) p(t) / (1 + 2x), t = (x - c)/(x + c), where (1 + 2x) e^(x^2) erfc(x) is so flat that
//! one polynomial serves up to the last subnormal result. x^2, the exponential, p, and the
//! quotient are sums of two numbers. Error bounds are measured by tests/accuracy.rs.

use crate::coefficients::{
    ERF_32, ERF_32_FIRST, ERF_64, ERF_64_FIRST, ERFC_32, ERFC_32_CENTRE, ERFC_32_FIRST, ERFC_64,
    ERFC_64_CENTRE, ERFC_64_FIRST,
};
use crate::exponential::{Power, fast_two_sum};
use crate::function::Unary;
use crate::pair::Pair;
use crate::pair_functions::{or_nan, times_power_of_two, within};
use crate::polynomial::two_chains;
use crate::real::{Real, Width};

/// 1 - erf x without loss for large x: +0.0 from x = 10.06 (f32), 27.23 (f64); 2 for -inf.
#[derive(Clone, Copy, Default, Debug)]
pub struct Erfc;
impl Unary for Erfc {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let limit = match R::WIDTH {
            Width::F32 => 10.5,
            Width::F64 => 28.0,
        };
        let magnitude = within(x.abs(), 0.0, limit);
        let far = tail(magnitude);
        let far = R::select(x.less(R::constant(0.0)), R::constant(2.0) - far, far);
        let value = R::select(magnitude.less(R::constant(0.5)), one_minus_erf(x), far);
        or_nan(x, value)
    }
}

/// erfc of |x| below 0.5.
#[inline(always)]
fn one_minus_erf<R: Real>(x: R) -> R {
    let square = x * x;
    let (first, ratio) = match R::WIDTH {
        Width::F32 => (ERF_32_FIRST, two_chains(square, &ERF_32)),
        Width::F64 => (ERF_64_FIRST, two_chains(square, &ERF_64)),
    };
    let (linear, lost) = fast_two_sum(x, x * R::constant(first));
    let difference = Pair::ordered_sum(R::constant(1.0), -linear);
    difference.high + (difference.low - (lost + (x * square) * ratio))
}

/// erfc of 0.5 <= x <= 28.
#[inline(always)]
fn tail<R: Real>(x: R) -> R {
    let (centre, first) = match R::WIDTH {
        Width::F32 => (ERFC_32_CENTRE, ERFC_32_FIRST),
        Width::F64 => (ERFC_64_CENTRE, ERFC_64_FIRST),
    };
    let centre = R::constant(centre);
    // Near 0.5 the rounding of t alone would cost a third of an ulp.
    let t = Pair::sum_of(x, -centre).divided_by(Pair::sum_of(x, centre));
    let (rest, slope) = match R::WIDTH {
        Width::F32 => (two_chains(t.high, &ERFC_32), two_chains(t.high, &SLOPE_32)),
        Width::F64 => (two_chains(t.high, &ERFC_64), two_chains(t.high, &SLOPE_64)),
    };
    let ratio = Pair::ordered_sum(R::constant(first), t.high * rest);
    let ratio = Pair { high: ratio.high, low: ratio.low + t.low * slope };
    let power = Power::of_pair(Pair::product_of(x, x).negated());
    let number = Pair::ordered_sum(power.number.high, power.number.low);
    let quotient = number.times(ratio).divided_by(Pair::sum_of(x + x, R::constant(1.0)));
    times_power_of_two(quotient.rounded(), power.whole())
}

/// The slope of the ratio, from its first powers: three quarters of it are enough.
const SLOPE_32: [f64; 4] = slope([ERFC_32[0], ERFC_32[1], ERFC_32[2], ERFC_32[3]]);
/// The same for f64.
const SLOPE_64: [f64; 4] = slope([ERFC_64[0], ERFC_64[1], ERFC_64[2], ERFC_64[3]]);

const fn slope([a, b, c, d]: [f64; 4]) -> [f64; 4] {
    [a, 2.0 * b, 3.0 * c, 4.0 * d]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erfc_at_its_edges() {
        assert_eq!(Erfc::at(-0.0_f64), 1.0);
        assert_eq!(Erfc::at(0.5_f64), 0.4795001221869535);
        assert_eq!(Erfc::at(1.0_f64), 0.15729920705028513);
        assert_eq!(Erfc::at(26.5_f64), 2.2109076642637343e-307);
        assert_eq!(Erfc::at(28.0_f64).to_bits(), 0);
        assert_eq!(Erfc::at(f32::INFINITY).to_bits(), 0);
        assert_eq!(Erfc::at(f64::NEG_INFINITY), 2.0);
        assert_eq!(Erfc::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }
}
