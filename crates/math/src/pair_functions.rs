//! The logarithm of a sum of two numbers, the core of the functions that are logarithms in
//! disguise, and what several functions need at their ends. x = 2^k m, and the mantissa's place
//! among sixteen intervals gives c near 1 / m with so few bits that r = c m - 1 is exact as a sum
//! of two numbers: log x = k ln 2 - log c + log(1 + r), |r| <= 0.03, without a division. c is 1
//! around 1. The logarithm is right to about 2^-64 (f64) or 2^-37 (f32) relative. Callers keep
//! arguments in range and see to zeros, infinities and NaN.

use crate::coefficients::{
    LN2_32, LN2_64, LOG_TABLE_32, LOG_TABLE_32_HIGH, LOG_TABLE_32_INVERSE, LOG_TABLE_32_LOW,
    LOG_TABLE_32_START, LOG_TABLE_64, LOG_TABLE_64_HIGH, LOG_TABLE_64_INVERSE, LOG_TABLE_64_LOW,
    LOG_TABLE_64_START,
};
use crate::exponential::{fast_two_sum, round_magic, upper_half};
use crate::pair::Pair;
use crate::polynomial::two_chains;
use crate::real::{Bits, Real, Width};

/// log(high + low + lowest) for a positive normal high; low is at most an ulp of it, lowest an ulp
/// of low. At 2^1023 (f64) and beyond low must be 0.
#[inline(always)]
pub(crate) fn log_sum<R: Real>(high: R, low: R, lowest: R) -> Pair<R> {
    log_parts(high, Some(low + lowest), R::Bits::constant(0))
}

/// log high + offset ln 2 for a positive normal high; offset is a small signed integer.
#[inline(always)]
pub(crate) fn log_shifted<R: Real>(high: R, offset: R::Bits) -> Pair<R> {
    log_parts(high, None, offset)
}

/// log(high + low) + offset ln 2.
#[inline(always)]
fn log_parts<R: Real>(high: R, low: Option<R>, offset: R::Bits) -> Pair<R> {
    let (start, [ln2_high, ln2_low], inverse, log_high, log_low) = match R::WIDTH {
        Width::F32 => (
            LOG_TABLE_32_START,
            LN2_32,
            &LOG_TABLE_32_INVERSE,
            &LOG_TABLE_32_HIGH,
            &LOG_TABLE_32_LOW,
        ),
        Width::F64 => (
            LOG_TABLE_64_START,
            LN2_64,
            &LOG_TABLE_64_INVERSE,
            &LOG_TABLE_64_HIGH,
            &LOG_TABLE_64_LOW,
        ),
    };
    let one = R::constant(1.0);
    let place = high.bits() - R::Bits::constant(start);
    let k = place.shift_right_signed(R::MANTISSA);
    let exponent = k.shift_left(R::MANTISSA);
    let interval = place.shift_right(R::MANTISSA - 4);
    let m = (high.bits() - exponent).real();
    let c = interval.lookup(inverse).real();

    // Both products are exact: 12 bits by 12 (f32), 26 or 27 by 26 (f64).
    let upper = upper_half(m);
    let r_high = upper * c - one;
    let r_low = (m - upper) * c;
    // No closure: one that is not inlined is compiled without the vectors' instructions, and log1p
    // took 14 times as long with AVX2.
    let mut further = None;
    if let Some(low) = low {
        // At 2^1023 and beyond the scale is not a power of two, and low is 0.
        let scaled = low * (one.bits() - exponent).real();
        let zero = R::constant(0.0);
        further = Some(R::select(low.equal(zero), zero, scaled) * c);
    }
    let whole = whole_real::<R>(k + offset);
    // Multiples of one power of two, so their sum is exact.
    let large = whole * R::constant(ln2_high) + interval.lookup(log_high).real();
    let rest = whole * R::constant(ln2_low) + interval.lookup(log_low).real();
    log_one_plus_small(large, rest, r_high, r_low, further)
}

/// large + rest + log(1 + r_high + r_low + further): r + u^2 / 2 with the upper half u of r is
/// exact, all else small. |large| is above |r| or 0.
#[inline(always)]
fn log_one_plus_small<R: Real>(
    large: R,
    rest: R,
    r_high: R,
    r_low: R,
    further: Option<R>,
) -> Pair<R> {
    let r = r_high + r_low;
    let r = further.map_or(r, |further| r + further);
    let cubic = match R::WIDTH {
        Width::F32 => two_chains(r, &LOG_TABLE_32),
        Width::F64 => two_chains(r, &LOG_TABLE_64),
    };
    let half = R::constant(0.5);
    let upper = upper_half(r);
    let lower = (r_high - upper) + r_low;
    let lower = further.map_or(lower, |further| lower + further);
    let square_high = (half * upper) * upper;
    let square_low = (half * lower) * (r + upper);
    let (sum, lost_first) = fast_two_sum(large, upper);
    let (sum, lost_second) = fast_two_sum(sum, -square_high);
    // The cubic term is the largest of the small ones, so it is added last.
    let smaller = ((lower - square_low) + (lost_first + lost_second)) + rest;
    Pair::ordered_sum(sum, smaller + (r * r) * (r * cubic))
}

/// log(1 + t) for t > -1 below 2^60.
#[inline(always)]
pub(crate) fn log_one_plus<R: Real>(t: Pair<R>) -> Pair<R> {
    let sum = Pair::sum_of(R::constant(1.0), t.high);
    log_sum(sum.high, sum.low, t.low)
}

/// value * 2^n for a signed n within twice the exponent range, in two normal steps: the first is
/// exact for a value near 1, the second rounds once where the result is subnormal.
#[inline(always)]
pub(crate) fn times_power_of_two<R: Real>(value: R, n: R::Bits) -> R {
    let half = n.shift_right_signed(1);
    (value * power_of_two::<R>(half)) * power_of_two::<R>(n - half)
}

/// 2^n for a signed n whose power is normal.
#[inline(always)]
pub(crate) fn power_of_two<R: Real>(n: R::Bits) -> R {
    (R::constant(1.0).bits() + n.shift_left(R::MANTISSA)).real()
}

/// A small signed integer as a number.
#[inline(always)]
pub(crate) fn whole_real<R: Real>(n: R::Bits) -> R {
    let magic = round_magic::<R>();
    (n + magic.bits()).real() - magic
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
        let two = log_sum(2.0_f64, 0.0, 0.0);
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
        let n = |n: i64| core::num::Wrapping(n as u64);
        assert_eq!(times_power_of_two(1.0_f64, n(-1074)), 5e-324);
        assert_eq!(times_power_of_two(1.5_f64, n(1023)), 1.348269851146737e308);
        assert_eq!(times_power_of_two(1.0_f32, core::num::Wrapping(128)), f32::INFINITY);
    }
}
