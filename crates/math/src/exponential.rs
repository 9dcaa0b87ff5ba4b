//! exp and tanh. Both reduce x = n ln 2 + r with |r| <= ln 2 / 2 and use one polynomial for
//! q(r) = (e^r - 1 - r) / r^2; tanh never forms e^x but works with e^2x - 1 and e^2x + 1 as sums
//! of two numbers, which costs one division and loses nothing near 0. erf also stands on
//! `one_minus_exp`.
//! Error bounds are measured by tests/accuracy.rs.

use crate::coefficients::{EXP_32, EXPM1_32, EXPM1_64, LN2_32, LN2_64};
use crate::function::Unary;
use crate::polynomial::two_chains;
use crate::real::{Bits, Mask, Real, Width};

/// e^x: +0.0 for -inf, +inf above the largest finite result, subnormal results rounded once.
#[derive(Clone, Copy, Default, Debug)]
pub struct Exp;
impl Unary for Exp {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        // Inside, the result and every scale factor are normal.
        let limit = match R::WIDTH {
            Width::F32 => 87.0,
            Width::F64 => 708.0,
        };
        let outside = x.abs().less_equal(R::constant(limit)).not();
        let usual = scaled(x);
        if R::any(outside) { R::select(outside, exp_outside(x), usual) } else { usual }
    }
}

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
        let magnitude = R::select(magnitude.less(limit), magnitude, limit);
        let sign = x.bits() & R::Bits::constant(R::SIGN_BIT);
        let value = (tanh_positive(magnitude).bits() | sign).real();
        R::select(x.is_nan(), R::canonical_nan(), value)
    }
}

/// e^x where e^x is normal and not near overflow.
#[inline(always)]
fn scaled<R: Real>(x: R) -> R {
    let (n, sum, tail) = exp_parts(reduce(x));
    ((sum + tail).bits() + n.shift_left(R::MANTISSA)).real()
}

/// 1 - e^-(high + low) under the same condition, |low| far below |high|, e^-high at most 1/2.
#[inline(always)]
pub(crate) fn one_minus_exp<R: Real>(high: R, low: R) -> R {
    let (n, exact, correction) = reduce(-high);
    let (n, sum, tail) = exp_parts((n, exact, correction + low));
    let one = R::constant(1.0);
    let power = (one.bits() + n.shift_left(R::MANTISSA)).real();
    let (difference, lost) = fast_two_sum(one, -(sum * power));
    difference + (lost - tail * power)
}

/// e^x = 2^n * (sum + tail) for a reduced x: n as a signed integer, sum + tail in [0.7, 1.42],
/// |tail| at most 0.07.
#[inline(always)]
fn exp_parts<R: Real>((n, high, low): (R::Bits, R, R)) -> (R::Bits, R, R) {
    let r = high - low;
    let q = match R::WIDTH {
        Width::F32 => two_chains(r, &EXP_32),
        Width::F64 => two_chains(r, &EXPM1_64),
    };
    let (sum, lost) = fast_two_sum(R::constant(1.0), r);
    (n, sum, lost + (r * r) * q)
}

/// x = n ln 2 + (high - low): n as a signed integer, high exact, |high - low| <= 0.3466.
#[inline(always)]
fn reduce<R: Real>(x: R) -> (R::Bits, R, R) {
    let [ln2_high, ln2_low] = match R::WIDTH {
        Width::F32 => LN2_32,
        Width::F64 => LN2_64,
    };
    let magic = round_magic::<R>();
    let shifted = x * R::constant(core::f64::consts::LOG2_E) + magic;
    let n = shifted - magic;
    (shifted.bits() - magic.bits(), x - n * R::constant(ln2_high), n * R::constant(ln2_low))
}

/// Adding 1.5 * 2^mantissa rounds to a whole number and leaves it in the low bits.
#[inline(always)]
pub(crate) fn round_magic<R: Real>() -> R {
    R::constant(match R::WIDTH {
        Width::F32 => 12582912.0,
        Width::F64 => 6755399441055744.0,
    })
}

/// e^x for results that overflow, underflow or are subnormal, and NaN.
#[inline(always)]
fn exp_outside<R: Real>(x: R) -> R {
    let (lowest, highest, bias) = match R::WIDTH {
        Width::F32 => (-110.0, 100.0, 127),
        Width::F64 => (-760.0, 720.0, 1023),
    };
    let (lowest, highest) = (R::constant(lowest), R::constant(highest));
    let x_low = R::select(lowest.less(x), x, lowest);
    let clamped = R::select(x_low.less(highest), x_low, highest);
    let (n, sum, tail) = exp_parts(reduce(clamped));
    // 2^n in two normal steps: the first is exact, the second rounds once.
    let bias = R::Bits::constant(bias);
    let half = n.shift_right_signed(1);
    let first = (half + bias).shift_left(R::MANTISSA).real();
    let second = ((n - half) + bias).shift_left(R::MANTISSA).real();
    let value = ((sum + tail) * first) * second;
    R::select(x.is_nan(), R::canonical_nan(), value)
}

/// tanh of 0 <= x <= 20, as (e^y - 1) / (e^y + 1) with y = 2x, both divided by 2^n.
#[inline(always)]
fn tanh_positive<R: Real>(x: R) -> R {
    let (n, reduced, correction) = reduce(x + x);
    let r = reduced - correction;
    let lost = (reduced - r) - correction;
    let q = match R::WIDTH {
        Width::F32 => two_chains(r, &EXPM1_32),
        Width::F64 => two_chains(r, &EXPM1_64),
    };
    let tail = (r * r) * q + lost;
    let one = R::constant(1.0);
    let power = (one.bits() - n.shift_left(R::MANTISSA)).real();
    let (numerator, numerator_low) = sum_of_four(one, -power, r, tail);
    let (denominator, denominator_low) = sum_of_four(one, power, r, tail);

    // The quotient is cut to half its bits, so that its product with the denominator's upper
    // half is exact and the remainder can be divided once more.
    let inverse = one / denominator;
    let quotient = upper_half(numerator * inverse);
    let upper = upper_half(denominator);
    let lower = (denominator - upper) + denominator_low;
    let remainder = ((numerator - quotient * upper) - quotient * lower) + numerator_low;
    quotient + remainder * inverse
}

/// one + power + r + tail as an unevaluated sum of two. one + power is 0 or above |r|, which is
/// above |tail|.
#[inline(always)]
fn sum_of_four<R: Real>(one: R, power: R, r: R, tail: R) -> (R, R) {
    let (large, large_lost) = fast_two_sum(one, power);
    let (sum, sum_lost) = fast_two_sum(large, r);
    fast_two_sum(sum, sum_lost + (large_lost + tail))
}

/// a + b as rounded sum and error; |a| is the larger, or a is 0.
#[inline(always)]
pub(crate) fn fast_two_sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// The number with the lower half of its significant bits cleared: 12 of 24, 26 of 53 are left.
#[inline(always)]
pub(crate) fn upper_half<R: Real>(x: R) -> R {
    let cleared = match R::WIDTH {
        Width::F32 => 0xFFF,
        Width::F64 => 0x7FF_FFFF,
    };
    (x.bits() & !R::Bits::constant(cleared)).real()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_at_its_edges() {
        assert_eq!(Exp::at(0.0_f32), 1.0);
        assert_eq!(Exp::at(1.0_f64), core::f64::consts::E);
        assert_eq!(Exp::at(709.782712893384_f64), 1.7976931348622732e308);
        assert_eq!(Exp::at(709.8_f64), f64::INFINITY);
        assert_eq!(Exp::at(-745.2_f64).to_bits(), 0);
        assert_eq!(Exp::at(-745.1_f64), 5e-324);
        assert_eq!(Exp::at(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(Exp::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn tanh_is_odd_and_saturates() {
        assert_eq!(Tanh::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Tanh::at(-5e-324_f64), -5e-324);
        assert_eq!(Tanh::at(0.5_f64), 0.46211715726000974);
        assert_eq!(Tanh::at(9.1_f32), 1.0);
        assert_eq!(Tanh::at(f64::NEG_INFINITY), -1.0);
        assert_eq!(Tanh::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }
}
