//! The logarithm and the exponential of a sum of two numbers, the core of the functions that
//! are logarithms or exponentials in disguise. The logarithm is right to about 2^-65 (f64) or
//! 2^-38 (f32) relative; the exponential comes as 2^n times a sum of two numbers, right to
//! 2^-58 (f64) or 2^-29 (f32) before the last addition. Callers keep arguments in range and see to zeros,
//! infinities and NaN.

use crate::coefficients::{
    EXPM1_32, EXPM1_64, LN2_32, LN2_64, LOG_PAIR_32, LOG_PAIR_64, TWO_THIRDS_PAIR_32,
    TWO_THIRDS_PAIR_64,
};
use crate::exponential::{fast_two_sum, round_magic};
use crate::pair::Pair;
use crate::polynomial::two_chains;
use crate::real::{Bits, Real, Width};

/// log(high + low + lowest) + offset ln 2 for a positive normal high; low is at most an ulp of
/// it, lowest an ulp of low. Below the scale's reach, 2^1023 (f64), low must be 0.
#[inline(always)]
pub(crate) fn log_sum<R: Real>(high: R, low: R, lowest: R, offset: R) -> Pair<R> {
    let ([ln2_high, ln2_low], root_half) = match R::WIDTH {
        Width::F32 => (LN2_32, 0x3F35_04F3),
        Width::F64 => (LN2_64, 0x3FE6_A09E_667F_3BCD),
    };
    let (zero, one) = (R::constant(0.0), R::constant(1.0));
    let magic = round_magic::<R>();
    let k = (high.bits() - R::Bits::constant(root_half)).shift_right_signed(R::MANTISSA);
    let exponent = k.shift_left(R::MANTISSA);
    let f = (high.bits() - exponent).real() - one;
    let scale = (one.bits() - exponent).real();
    let shifted = |part: R| R::select(part.equal(zero), zero, part * scale);
    let sum = Pair::sum_of(f, shifted(low));
    let fraction = Pair::ordered_sum(sum.high, sum.low + shifted(lowest));
    let k = ((k + magic.bits()).real() - magic) + offset;

    // k ln2_high is exact, and above the logarithm of the fraction unless k = 0.
    let small = log_fraction(fraction);
    let (sum, lost) = fast_two_sum(k * R::constant(ln2_high), small.high);
    Pair::ordered_sum(sum, lost + (k * R::constant(ln2_low) + small.low))
}

/// log(1 + f) for -0.293 <= f <= 0.415, by the series in s = f / (2 + f): 2 s + s z (2/3 + z P(z))
/// with z = s s. All but P is computed in pairs.
#[inline(always)]
fn log_fraction<R: Real>(f: Pair<R>) -> Pair<R> {
    let sum = Pair::ordered_sum(R::constant(2.0), f.high);
    let s = f.divided_by(Pair::ordered_sum(sum.high, sum.low + f.low));
    let z = s.times(s);
    let rest = match R::WIDTH {
        Width::F32 => two_chains(z.high, &LOG_PAIR_32),
        Width::F64 => two_chains(z.high, &LOG_PAIR_64),
    };
    let first = Pair::constant(TWO_THIRDS_PAIR_32, TWO_THIRDS_PAIR_64);
    let factor = Pair::ordered_sum(first.high, z.high * rest);
    let factor = Pair { high: factor.high, low: factor.low + first.low };
    let cubic = s.times(z.times(factor));
    s.scaled(2.0).plus(cubic)
}

/// log(1 + t) for t > -1 below 2^60.
#[inline(always)]
pub(crate) fn log_one_plus<R: Real>(t: Pair<R>) -> Pair<R> {
    let sum = Pair::sum_of(R::constant(1.0), t.high);
    log_sum(sum.high, sum.low, t.low, R::constant(0.0))
}

/// e^x = 2^n * (high + low), n whole. high + low is in [0.7, 1.42], |low| at most 0.01: the pair
/// is not normalised. |x| must leave n + n below 2^12.
#[inline(always)]
pub(crate) fn exp_sum<R: Real>(x: Pair<R>) -> (R, Pair<R>) {
    let [ln2_high, ln2_low] = match R::WIDTH {
        Width::F32 => LN2_32,
        Width::F64 => LN2_64,
    };
    let magic = round_magic::<R>();
    let n = (x.high * R::constant(core::f64::consts::LOG2_E) + magic) - magic;
    let exact = x.high - n * R::constant(ln2_high);
    let correction = n * R::constant(ln2_low) - x.low;
    let r = exact - correction;
    (n, exp_reduced(r, (exact - r) - correction))
}

/// e^(r + low) for |r| <= 0.35: 1 + r + r^2 / 2 without any rounding, then the cubic rest.
#[inline(always)]
pub(crate) fn exp_reduced<R: Real>(r: R, low: R) -> Pair<R> {
    let rest = match R::WIDTH {
        Width::F32 => two_chains(r, &CUBIC_32),
        Width::F64 => two_chains(r, &CUBIC_64),
    };
    let half = R::constant(0.5);
    let square = Pair::product_of(r, r);
    let (linear, lost_first) = fast_two_sum(R::constant(1.0), r);
    let (sum, lost_second) = fast_two_sum(linear, square.high * half);
    let lost = lost_first + (lost_second + square.low * half);
    Pair { high: sum, low: lost + ((square.high * r) * rest + low) }
}

/// The coefficients of `EXPM1` without the first, which is exactly 1/2.
const CUBIC_32: [f64; 5] = {
    let [_, rest @ ..] = EXPM1_32;
    rest
};
/// The same for f64.
const CUBIC_64: [f64; 10] = {
    let [_, rest @ ..] = EXPM1_64;
    rest
};

/// value * 2^n for a whole n within twice the exponent range, in two normal steps: the first is
/// exact for a value near 1, the second rounds once where the result is subnormal.
#[inline(always)]
pub(crate) fn times_power_of_two<R: Real>(value: R, n: R) -> R {
    let n = whole_bits(n);
    let half = n.shift_right_signed(1);
    (value * power_of_two::<R>(half)) * power_of_two::<R>(n - half)
}

/// 2^n for a signed n whose power is normal.
#[inline(always)]
pub(crate) fn power_of_two<R: Real>(n: R::Bits) -> R {
    (R::constant(1.0).bits() + n.shift_left(R::MANTISSA)).real()
}

/// A small whole number as a signed integer.
#[inline(always)]
pub(crate) fn whole_bits<R: Real>(n: R) -> R::Bits {
    let magic = round_magic::<R>();
    (n + magic).bits() - magic.bits()
}

/// x within [low, high]; NaN becomes high.
#[inline(always)]
pub(crate) fn within<R: Real>(x: R, low: f64, high: f64) -> R {
    let (low, high) = (R::constant(low), R::constant(high));
    let x = R::select(x.less(high), x, high);
    R::select(low.less(x), x, low)
}

/// The canonical NaN for NaN, else the value.
#[inline(always)]
pub(crate) fn or_nan<R: Real>(x: R, value: R) -> R {
    R::select(x.is_nan(), R::canonical_nan(), value)
}

/// The value, which is not negative, with the sign of x.
#[inline(always)]
pub(crate) fn with_sign<R: Real>(value: R, x: R) -> R {
    (value.bits() | (x.bits() & R::Bits::constant(R::SIGN_BIT))).real()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_keep_a_second_half() {
        let two = log_sum(2.0_f64, 0.0, 0.0, 0.0);
        assert_eq!(two.high, core::f64::consts::LN_2);
        assert!((two.low - 2.3190468138462996e-17).abs() < 1e-29);
        let small = log_one_plus(Pair { high: 2.0_f64.powi(-40), low: 2.0_f64.powi(-94) });
        assert_eq!(small.high, 9.094947017725147e-13);
        // 2^-24 - 2^-49 + 2^-73 / 3.
        let single = log_one_plus(Pair::from_real(2.0_f32.powi(-24)));
        let error = single.high as f64 + single.low as f64 - 5.960464299903386e-8;
        assert!(error.abs() < 5.96e-8 * 2.0_f64.powi(-38));
    }

    #[test]
    fn powers_of_two_reach_the_subnormals() {
        assert_eq!(times_power_of_two(1.0_f64, -1074.0), 5e-324);
        assert_eq!(times_power_of_two(1.5_f32, 127.0), 2.5521178e38);
        assert_eq!(times_power_of_two(1.0_f32, 128.0), f32::INFINITY);
    }
}
