//! power: e^(y log |x|) with the logarithm and the product as sums of two numbers, because an
//! exponent near 709 would turn half an ulp of it into 350 ulp of the result. A second path serves
//! results that are not normal; signs, zeros, infinities and NaN (IEEE 754 `pow`) are mended after
//! it. Error bounds are measured by `cargo xtask exhaustive`.

use crate::exponential::{self, normal_limit, upper_half};
use crate::function::Binary;
use crate::logarithms::lifted;
use crate::pair::Pair;
use crate::pair_functions::{log_shifted, within};
use crate::real::{Bits, Mask, Real, Width};

/// x^y by IEEE 754 `pow`: x^0 = 1 and 1^y = 1 even for NaN; NaN for a negative finite x and a y
/// that is not whole.
#[derive(Clone, Copy, Default, Debug)]
pub struct Power;
impl Binary for Power {
    #[inline(always)]
    fn at<R: Real>(x: R, y: R) -> R {
        let (normal, offset) = lifted(x.abs());
        let log = log_shifted(normal, offset);
        let exponent = product(log, y);
        let usual = exponential::Power::of_pair(exponent).normal();
        let smallest = R::Bits::constant(1 << R::MANTISSA);
        let normals = R::Bits::constant(R::INFINITY_BITS - (1 << R::MANTISSA));
        let inside = exponent.high.abs().less_equal(R::constant(normal_limit::<R>()));
        let special = (x.bits() - smallest).less(normals).and(inside).not();
        if R::any(special) {
            R::select(special, mended(x, y, of_any_size(log, y)), usual)
        } else {
            usual
        }
    }
}

/// y log as a sum of two numbers, right to about 2^-63 (f64).
#[inline(always)]
fn product<R: Real>(log: Pair<R>, y: R) -> Pair<R> {
    let upper = upper_half(log.high);
    let lower = (log.high - upper) + log.low;
    let y_upper = upper_half(y);
    // The first product is exact.
    Pair::ordered_sum(upper * y_upper, upper * (y - y_upper) + lower * y)
}

/// e^(y log), rounded once, for finite results and those that are 0 or infinite; y is not NaN.
#[inline(always)]
fn of_any_size<R: Real>(log: Pair<R>, y: R) -> R {
    // A larger y gives 0, 1 or infinity as this one does; its product stays finite.
    let (largest, lowest, highest) = match R::WIDTH {
        Width::F32 => (1099511627776.0, -110.0, 100.0),
        Width::F64 => (73786976294838206464.0, -760.0, 720.0),
    };
    let exponent = product(log, within(y, -largest, largest));
    let high = within(exponent.high, lowest, highest);
    let low = R::select(high.equal(exponent.high), exponent.low, R::constant(0.0));
    exponential::Power::of_pair(Pair { high, low }).anywhere()
}

/// The power from |x|^y where x is not a positive normal number or y is not finite.
#[inline(always)]
fn mended<R: Real>(x: R, y: R, usual: R) -> R {
    let (zero, one) = (R::constant(0.0), R::constant(1.0));
    let magnitude = x.abs();
    let rising = zero.less(y);
    let of_zero = R::select(rising, zero, R::infinity());
    let of_infinity = R::select(rising, R::infinity(), zero);
    let value = R::select(magnitude.equal(zero), of_zero, usual);
    let value = R::select(magnitude.equal(R::infinity()), of_infinity, value);

    let (whole, odd) = parity(y);
    let negative = R::Bits::constant(R::MAGNITUDE_MASK).less(x.bits());
    let sign = R::Bits::constant(R::SIGN_BIT);
    let signed = R::select(negative.and(odd), (value.bits() | sign).real(), value);
    let undefined = x.less(zero).and(magnitude.less(R::infinity())).and(whole.not());
    let undefined = undefined.or(x.is_nan()).or(y.is_nan());
    let signed = R::select(undefined, R::canonical_nan(), signed);
    R::select(y.equal(zero).or(x.equal(one)), one, signed)
}

/// Whether y is a whole number (infinities are), and an odd one.
#[inline(always)]
fn parity<R: Real>(y: R) -> (R::Mask, R::Mask) {
    let bias = match R::WIDTH {
        Width::F32 => 127,
        Width::F64 => 1023,
    };
    let (zero, one) = (R::Bits::constant(0), R::Bits::constant(1));
    let bias = R::Bits::constant(bias);
    let magnitude = y.abs().bits();
    let exponent = magnitude.shift_right(R::MANTISSA);
    let fraction_bits = R::Bits::constant(R::MANTISSA as u64);
    let below_one = exponent.less(bias);
    let large = (bias + fraction_bits).less(exponent);
    // The bit of weight 1 is moved to the top; a fraction would be below it.
    let places = R::Bits::select(below_one.or(large), zero, exponent - bias);
    let leading = R::Bits::constant(1 << R::MANTISSA);
    let m = (magnitude & (leading - one)) | leading;
    let unit_on_top =
        m.shift_left_by(places + R::Bits::constant((R::WIDTH.bits() - 1 - R::MANTISSA) as u64));
    let has_unit = unit_on_top.shift_right(R::WIDTH.bits() - 1).equal(one);
    let no_fraction = unit_on_top.shift_left(1).equal(zero);
    let inside = below_one.or(large).not();
    let whole = large.or(inside.and(no_fraction)).or(magnitude.equal(zero));
    (whole, inside.and(no_fraction).and(has_unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(x: f64, y: f64) -> f64 {
        <Power as Binary>::at(x, y)
    }

    #[test]
    fn special_values_of_ieee_754() {
        let (infinity, nan) = (f64::INFINITY, f64::NAN);
        let cases = [
            (nan, 0.0, 1.0),
            (nan, -0.0, 1.0),
            (infinity, 0.0, 1.0),
            (1.0, nan, 1.0),
            (1.0, -infinity, 1.0),
            (-1.0, infinity, 1.0),
            (-1.0, -infinity, 1.0),
            (-1.0, 1e300, 1.0),
            (-1.0, 9007199254740991.0, -1.0),
            (0.0, 3.0, 0.0),
            (-0.0, 3.0, -0.0),
            (-0.0, 2.0, 0.0),
            (-0.0, 0.5, 0.0),
            (0.0, -3.0, infinity),
            (-0.0, -3.0, -infinity),
            (-0.0, -2.5, infinity),
            (0.0, -infinity, infinity),
            (0.0, infinity, 0.0),
            (0.5, infinity, 0.0),
            (0.5, -infinity, infinity),
            (-2.0, infinity, infinity),
            (-2.0, -infinity, 0.0),
            (1.0000000000000002, infinity, infinity),
            (infinity, 1e-300, infinity),
            (infinity, -2.0, 0.0),
            (-infinity, 3.0, -infinity),
            (-infinity, 2.0, infinity),
            (-infinity, 0.5, infinity),
            (-infinity, -3.0, -0.0),
            (-infinity, -2.5, 0.0),
            (-8.0, 3.0, -512.0),
            (-8.0, 2.0, 64.0),
            (2.0, -1074.0, 5e-324),
            (5e-324, -0.5, 4.4989137945431964e161),
            (2.0, 1e308, infinity),
            (2.0, -1e308, 0.0),
            (2.0, 5e-324, 1.0),
            (10.0, 2.0, 100.0),
            (2.0, 0.5, core::f64::consts::SQRT_2),
        ];
        for (x, y, expected) in cases {
            assert_eq!(power(x, y).to_bits(), f64::to_bits(expected), "{x:e} {y:e}");
        }
        for (x, y) in [(nan, 1.0), (2.0, -nan), (-8.0, 1.0 / 3.0), (-5e-324, 0.5), (-1.0, 1e-320)] {
            assert_eq!(power(x, y).to_bits(), 0x7FF8_0000_0000_0000, "{x:e} {y:e}");
        }
        let single = |x: f32, y: f32| <Power as Binary>::at(x, y);
        assert_eq!(single(-f32::NAN, 1.0).to_bits(), 0x7FC0_0000);
        assert_eq!(single(-2.0, 127.0), -1.7014118e38);
        assert_eq!(single(-2.0, 16777216.0), f32::INFINITY);
        assert_eq!(single(0.5, 149.0).to_bits(), 1);
        assert_eq!(single(f32::NAN, -0.0), 1.0);
        assert_eq!(single(-0.0, -1.0), f32::NEG_INFINITY);
    }

    #[test]
    fn whole_numbers_and_odd_ones() {
        assert_eq!(parity(3.0_f64), (true, true));
        assert_eq!(parity(-2.0_f32), (true, false));
        assert_eq!(parity(0.5_f64), (false, false));
        assert_eq!(parity(1.5_f32), (false, false));
        assert_eq!(parity(16777215.0_f32), (true, true));
        assert_eq!(parity(16777216.0_f32), (true, false));
        assert_eq!(parity(f64::INFINITY), (true, false));
        assert_eq!(parity(-0.0_f64), (true, false));
    }
}
