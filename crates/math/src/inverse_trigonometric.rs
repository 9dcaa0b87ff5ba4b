//! atan, asin, acos and atan2: all are the angle of a point in the first quadrant, turned by the
//! signs. The angle is base + atan t with t = numerator / denominator as a sum of two numbers,
//! |t| <= tan(pi/8) and base 0, pi/4 or pi/2; asin x is the angle of (sqrt(1 - x^2), x). So one
//! polynomial and one division serve all. Error bounds are measured by tests/accuracy.rs.

use crate::coefficients::{ATAN_32, ATAN_64, PI_PAIR_32, PI_PAIR_64};
use crate::function::{Binary, Unary};
use crate::pair::Pair;
use crate::pair_functions::{or_nan, with_sign};
use crate::polynomial::two_chains;
use crate::real::{Bits, Mask, Real, Width};

/// The angle whose tangent is x: odd, +-pi/2 for infinities.
#[derive(Clone, Copy, Default, Debug)]
pub struct Atan;
impl Unary for Atan {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        // Above 2^64 the result is pi/2 at both widths.
        let limit = R::constant(18446744073709551616.0);
        let magnitude = x.abs();
        let magnitude = R::select(magnitude.less(limit), magnitude, limit);
        let value = angle(Pair::from_real(magnitude), Pair::from_real(R::constant(1.0)));
        or_nan(x, with_sign(value.rounded(), x))
    }
}

/// The angle whose sine is x: odd, NaN outside [-1, 1].
#[derive(Clone, Copy, Default, Debug)]
pub struct Asin;
impl Unary for Asin {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        let value = angle(Pair::from_real(magnitude), other_side(magnitude)).rounded();
        let inside = magnitude.less_equal(R::constant(1.0));
        R::select(inside, with_sign(value, x), R::canonical_nan())
    }
}

/// The angle whose cosine is x: +0.0 for 1, NaN outside [-1, 1].
#[derive(Clone, Copy, Default, Debug)]
pub struct Acos;
impl Unary for Acos {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        let value = angle(other_side(magnitude), Pair::from_real(magnitude));
        let opposite = pi::<R>().plus(value.negated());
        let value = Pair::select(x.less(R::constant(0.0)), opposite, value).rounded();
        R::select(magnitude.less_equal(R::constant(1.0)), value, R::canonical_nan())
    }
}

/// The angle of the point (b, a), in [-pi, pi], with the sign of a: atan2(+-0, x) is +-0 for
/// x >= +0 and +-pi for x <= -0; infinities count as equal.
#[derive(Clone, Copy, Default, Debug)]
pub struct Atan2;
impl Binary for Atan2 {
    #[inline(always)]
    fn at<R: Real>(a: R, b: R) -> R {
        let (y, x) = (a.abs(), b.abs());
        let special = y.less(R::infinity()).and(x.less(R::infinity())).not();
        let special = special.or(y.equal(R::constant(0.0)));
        let (y, x) = if R::any(special) { ordinary_point(y, x) } else { (y, x) };

        let larger = R::select(y.less(x), x, y);
        let (scale, _) = unit_scale(larger);
        let value = angle(Pair::from_real(y * scale), Pair::from_real(x * scale));
        let opposite = pi::<R>().plus(value.negated());
        // Far below the diagonal the quotient is the angle and, subnormal, rounds once.
        let flat = y.less(x * R::constant(7.450580596923828e-9));
        let front = R::select(flat, y / x, value.rounded());
        let left = R::Bits::constant(R::MAGNITUDE_MASK).less(b.bits());
        let value = with_sign(R::select(left, opposite.rounded(), front), a);
        R::select(a.is_nan().or(b.is_nan()), R::canonical_nan(), value)
    }
}

/// A finite point at the angle of (x, y) where one is infinite, or y is 0.
#[inline(always)]
fn ordinary_point<R: Real>(y: R, x: R) -> (R, R) {
    let (zero, one) = (R::constant(0.0), R::constant(1.0));
    let (y_far, x_far) = (y.equal(R::infinity()), x.equal(R::infinity()));
    let any_far = y_far.or(x_far);
    let new_y = R::select(any_far, R::select(y_far, one, zero), y);
    let new_x = R::select(any_far, R::select(x_far, one, zero), x);
    (new_y, R::select(new_y.equal(zero), one, new_x))
}

/// A power of two that brings a finite size near 1, and its inverse.
#[inline(always)]
pub(crate) fn unit_scale<R: Real>(size: R) -> (R, R) {
    let both = match R::WIDTH {
        Width::F32 => 254,
        Width::F64 => 2046,
    };
    let (one, both) = (R::Bits::constant(1), R::Bits::constant(both));
    let exponent = size.bits().shift_right(R::MANTISSA);
    let exponent = R::Bits::select(exponent.less(one), one, exponent);
    let highest = both - one;
    let exponent = R::Bits::select(highest.less(exponent), highest, exponent);
    let scale = (both - exponent).shift_left(R::MANTISSA).real();
    (scale, exponent.shift_left(R::MANTISSA).real())
}

/// sqrt(1 - x^2) for 0 <= x <= 1.
#[inline(always)]
fn other_side<R: Real>(x: R) -> Pair<R> {
    let square = Pair::product_of(x, x);
    Pair::from_real(R::constant(1.0)).plus(square.negated()).root()
}

#[inline(always)]
fn pi<R: Real>() -> Pair<R> {
    Pair::constant(PI_PAIR_32, PI_PAIR_64)
}

/// The angle of (x, y) for x, y >= 0, not both 0, their squares in range.
#[inline(always)]
fn angle<R: Real>(y: Pair<R>, x: Pair<R>) -> Pair<R> {
    let zero = Pair::from_real(R::constant(0.0));
    let middle = (x.high * R::constant(0.41421356237309503)).less(y.high);
    let steep = (x.high * R::constant(2.414213562373095)).less(y.high);
    let numerator = Pair::select(middle, y.plus(x.negated()), y);
    let numerator = Pair::select(steep, x.negated(), numerator);
    let denominator = Pair::select(middle, y.plus(x), x);
    let denominator = Pair::select(steep, y, denominator);
    let base = Pair::select(middle, pi::<R>().scaled(0.25), zero);
    let base = Pair::select(steep, pi::<R>().scaled(0.5), base);

    let t = numerator.divided_by(denominator);
    let z = t.high * t.high;
    let rest = match R::WIDTH {
        Width::F32 => two_chains(z, &ATAN_32),
        Width::F64 => two_chains(z, &ATAN_64),
    };
    // The slope of atan at t is about 1 - z, which t's second part is multiplied by.
    let small = (t.high * z) * rest + (t.low - t.low * z);
    let sum = Pair::ordered_sum(base.high, t.high);
    Pair::ordered_sum(sum.high, sum.low + (base.low + small))
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

    #[test]
    fn atan_asin_and_acos_at_their_edges() {
        assert_eq!(Atan::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Atan::at(-5e-324_f64), -5e-324);
        assert_eq!(Atan::at(1.0_f64), FRAC_PI_4);
        assert_eq!(Atan::at(f64::NEG_INFINITY), -FRAC_PI_2);
        assert_eq!(Atan::at(-f32::NAN).to_bits(), 0x7FC0_0000);
        assert_eq!(Asin::at(-0.0_f32).to_bits(), (-0.0_f32).to_bits());
        assert_eq!(Asin::at(5e-324_f64), 5e-324);
        assert_eq!(Asin::at(-1.0_f64), -FRAC_PI_2);
        assert_eq!(Asin::at(1.0000001_f32).to_bits(), 0x7FC0_0000);
        assert_eq!(Asin::at(f64::NEG_INFINITY).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(Acos::at(1.0_f64).to_bits(), 0);
        assert_eq!(Acos::at(-0.0_f64), FRAC_PI_2);
        assert_eq!(Acos::at(-1.0_f64), PI);
        assert_eq!(Acos::at(-1.5_f64).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(Acos::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn atan2_in_every_direction() {
        let infinity = f64::INFINITY;
        let cases = [
            (0.0, 0.0, 0.0),
            (-0.0, 0.0, -0.0),
            (0.0, -0.0, PI),
            (-0.0, -0.0, -PI),
            (-0.0, -3.0, -PI),
            (0.0, 1e-320, 0.0),
            (1.0, 0.0, FRAC_PI_2),
            (-5e-324, -0.0, -FRAC_PI_2),
            (5e-324, 5e-324, FRAC_PI_4),
            (1e308, 1e308, FRAC_PI_4),
            (5e-324, 2.0, 0.0),
            (-1e-310, 4.0, -2.5e-311),
            (infinity, infinity, FRAC_PI_4),
            (-infinity, -infinity, -2.356194490192345),
            (1.0, infinity, 0.0),
            (1.0, -infinity, PI),
            (-infinity, 1e300, -FRAC_PI_2),
            (1.0, 1e-300, FRAC_PI_2),
            (1e-300, -1e300, PI),
            (1.0, -2.0, 2.677945044588987),
        ];
        for (a, b, expected) in cases {
            let value: f64 = <Atan2 as Binary>::at(a, b);
            assert_eq!(value.to_bits(), f64::to_bits(expected), "{a:e} {b:e}: {value:e}");
        }
        for (a, b) in [(f64::NAN, 1.0), (0.0, -f64::NAN)] {
            assert_eq!(<Atan2 as Binary>::at(a, b).to_bits(), 0x7FF8_0000_0000_0000);
        }
    }
}
