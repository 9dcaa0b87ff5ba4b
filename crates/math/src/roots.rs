//! The cube root and the length of a vector of two numbers. cbrt starts from a third of the
//! exponent, read off the bits, and converges cubically; the last step starts from a number of
//! half the digits, whose square is exact. hypot works on numbers scaled near 1, with the sum of
//! squares as a sum of two numbers. Error bounds are measured by tests/accuracy.rs.

use crate::exponential::upper_half;
use crate::function::{Binary, Unary};
use crate::inverse_trigonometric::unit_scale;
use crate::pair::Pair;
use crate::pair_functions::{or_nan, with_sign};
use crate::real::{Bits, Mask, Real, Width};

/// The cube root: odd, exact for cubes of whole numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cbrt;
impl Unary for Cbrt {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        // 2^63 lifts every subnormal to a normal number; its root is 2^21.
        let subnormal = magnitude.bits().less(R::Bits::constant(1 << R::MANTISSA));
        let higher = magnitude * R::constant(9223372036854775808.0);
        let value = root_of_normal(R::select(subnormal, higher, magnitude));
        let value = R::select(subnormal, value * R::constant(4.76837158203125e-7), value);
        let exact = magnitude.equal(R::constant(0.0)).or(magnitude.less(R::infinity()).not());
        or_nan(x, with_sign(R::select(exact, magnitude, value), x))
    }
}

/// The cube root of a positive normal number.
#[inline(always)]
fn root_of_normal<R: Real>(x: R) -> R {
    // A third of the bits as an integer is right to 5 bits when two thirds of the bias, less a
    // little that evens the error out (0.0450 of an exponent step), are added.
    let (third, start, rounds) = match R::WIDTH {
        Width::F32 => (0x5555_5556, 0x2A50_5FDA, 1),
        Width::F64 => (0x5555_5555_5555_5556, 0x2A9F_7893_7B4A_2339, 2),
    };
    let bits = x.bits().high_product(R::Bits::constant(third)) + R::Bits::constant(start);
    let mut root: R = bits.real();
    for _ in 0..rounds {
        root = halley(root, x / (root * root));
    }
    let root = upper_half(root);
    halley(root, x / (root * root))
}

/// One cubic step, with quotient = x / root^2: root + root (quotient - root)/(2 root + quotient).
#[inline(always)]
fn halley<R: Real>(root: R, quotient: R) -> R {
    root + root * ((quotient - root) / ((root + root) + quotient))
}

/// sqrt(a^2 + b^2) without overflow or underflow on the way; +inf if either is infinite, even
/// beside NaN.
#[derive(Clone, Copy, Default, Debug)]
pub struct Hypot;
impl Binary for Hypot {
    #[inline(always)]
    fn at<R: Real>(a: R, b: R) -> R {
        let (a, b) = (a.abs(), b.abs());
        let larger = R::select(a.less(b), b, a);
        let (scale, inverse) = unit_scale(larger);
        let (x, y) = (a * scale, b * scale);
        let sum = Pair::product_of(x, x).plus(Pair::product_of(y, y));
        let value = sum.root().rounded() * inverse;
        let special = a.less(R::infinity()).and(b.less(R::infinity())).not();
        if R::any(special) {
            let infinite = a.equal(R::infinity()).or(b.equal(R::infinity()));
            let mended = R::select(infinite, R::infinity(), R::canonical_nan());
            R::select(special, mended, value)
        } else {
            value
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cubes_of_whole_numbers_are_exact() {
        for n in -200..=200 {
            let n = n as f64;
            assert_eq!(Cbrt::at(n * n * n), n);
            assert_eq!(Cbrt::at((n * n * n) as f32), n as f32);
        }
        assert_eq!(Cbrt::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Cbrt::at(5e-324_f64), 1.7031839360032603e-108);
        assert_eq!(Cbrt::at(f64::MAX), 5.643803094122362e102);
        assert_eq!(Cbrt::at(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(Cbrt::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }

    #[test]
    fn hypot_at_its_edges() {
        let hypot = |a: f64, b: f64| <Hypot as Binary>::at(a, b);
        assert_eq!(hypot(3.0, -4.0), 5.0);
        assert_eq!(hypot(3e300, 4e300), 5e300);
        assert_eq!(hypot(3e-320, 4e-320), 5e-320);
        assert_eq!(hypot(0.0, -0.0).to_bits(), 0);
        assert_eq!(hypot(-5e-324, 0.0), 5e-324);
        assert_eq!(hypot(f64::MAX, 0.0), f64::MAX);
        assert_eq!(hypot(f64::MAX, f64::MAX), f64::INFINITY);
        assert_eq!(hypot(f64::NAN, f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(hypot(-f64::NAN, 1.0).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(<Hypot as Binary>::at(1e38_f32, 1e38), 1.4142135e38);
    }
}
