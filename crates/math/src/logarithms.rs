//! log1p, log2, log10 and the inverse hyperbolic functions, which are logarithms of 1 + t with a
//! t that is computed as a sum of two numbers. The natural logarithm, which needs no such care,
//! is in `logarithm`. Error bounds are measured by tests/accuracy.rs.

use crate::coefficients::{LOG2_E_PAIR_32, LOG2_E_PAIR_64, LOG10_E_PAIR_32, LOG10_E_PAIR_64};
use crate::exponential::upper_half;
use crate::exponentials::tiny_limit;
use crate::function::Unary;
use crate::pair::Pair;
use crate::pair_functions::{log_one_plus, log_shifted, log_sum, or_nan, with_sign};
use crate::real::{Bits, Mask, Real, Width};

/// log(1 + x) without loss near 0: -inf for -1, NaN below.
#[derive(Clone, Copy, Default, Debug)]
pub struct Log1p;
impl Unary for Log1p {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let (zero, one) = (R::constant(0.0), R::constant(1.0));
        let sum = Pair::sum_of(one, x);
        // Above 2^60 the 1 is nothing, and the scale of the lost part is out of range.
        let lost = R::select(x.less(R::constant(1152921504606846976.0)), sum.low, zero);
        let usual = log_sum(sum.high, lost, zero).rounded();
        let usual = R::select(x.abs().less(R::constant(tiny_limit::<R>())), x, usual);
        let special = (-one).less(x).and(x.less(R::infinity())).not();
        if R::any(special) {
            let value = R::select(x.equal(R::infinity()), x, R::canonical_nan());
            let value = R::select(x.equal(-one), -R::infinity(), value);
            R::select(special, value, usual)
        } else {
            usual
        }
    }
}

/// The logarithm to base 2: exact for powers of 2, -inf for both zeros, NaN for negative numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Log2;
impl Unary for Log2 {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        log_to_base(x, Pair::constant(LOG2_E_PAIR_32, LOG2_E_PAIR_64))
    }
}

/// The logarithm to base 10: exact for powers of 10, -inf for both zeros, NaN for negative
/// numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Log10;
impl Unary for Log10 {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        log_to_base(x, Pair::constant(LOG10_E_PAIR_32, LOG10_E_PAIR_64))
    }
}

/// log x times a factor.
#[inline(always)]
fn log_to_base<R: Real>(x: R, factor: Pair<R>) -> R {
    let zero = R::constant(0.0);
    let (lifted, offset) = lifted(x);
    let log = log_shifted(lifted, offset);
    let upper = upper_half(log.high);
    let lower = (log.high - upper) + log.low;
    let (factor_upper, factor_high) = (upper_half(factor.high), factor.high);
    let factor_lower = (factor_high - factor_upper) + factor.low;
    // The first product is exact.
    let small = upper * factor_lower + lower * factor_high;
    let usual = upper * factor_upper + small;
    let special = zero.less(x).and(x.less(R::infinity())).not();
    if R::any(special) {
        let value = R::select(x.equal(R::infinity()), x, R::canonical_nan());
        let value = R::select(x.equal(zero), -R::infinity(), value);
        R::select(special, value, usual)
    } else {
        usual
    }
}

/// A positive number as a normal one and a power of two, which the subnormal ones need.
#[inline(always)]
pub(crate) fn lifted<R: Real>(x: R) -> (R, R::Bits) {
    let smallest = R::Bits::constant(1 << R::MANTISSA);
    let zero = R::Bits::constant(0);
    let subnormal = x.bits().less(smallest);
    if R::any(subnormal) {
        let higher = x * R::constant(18446744073709551616.0);
        let offset = R::Bits::select(subnormal, zero - R::Bits::constant(64), zero);
        (R::select(subnormal, higher, x), offset)
    } else {
        (x, zero)
    }
}

/// The inverse of sinh: odd.
#[derive(Clone, Copy, Default, Debug)]
pub struct Asinh;
impl Unary for Asinh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let one = Pair::from_real(R::constant(1.0));
        let (small, large) = limits::<R>();
        let magnitude = x.abs();
        let is_large = large.less(magnitude);
        let clamped = R::select(is_large, large, magnitude);
        // t = x + x^2 / (1 + sqrt(1 + x^2)).
        let square = Pair::product_of(clamped, clamped);
        let quotient = square.divided_by(one.plus(one.plus(square).root()));
        let usual = log_one_plus(Pair::from_real(clamped).plus(quotient)).rounded();
        let usual = R::select(magnitude.less(small), magnitude, usual);
        let value = if R::any(is_large) {
            // log 2x, which x itself also is at infinity.
            let twice = log_shifted(magnitude, R::Bits::constant(1)).rounded();
            let twice = R::select(magnitude.less(R::infinity()), twice, magnitude);
            R::select(is_large, twice, usual)
        } else {
            usual
        };
        or_nan(x, with_sign(value, x))
    }
}

/// The inverse of cosh, not negative: +0.0 for 1, NaN below.
#[derive(Clone, Copy, Default, Debug)]
pub struct Acosh;
impl Unary for Acosh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let (zero, one) = (R::constant(0.0), R::constant(1.0));
        let (_, large) = limits::<R>();
        let is_large = large.less(x);
        let clamped = R::select(is_large, large, x);
        // t = d + sqrt(d (d + 2)) with d = x - 1.
        let d = Pair::sum_of(clamped, -one);
        let root = d.times(d.plus(Pair::from_real(R::constant(2.0)))).root();
        let usual = log_one_plus(d.plus(root)).rounded();
        let special = is_large.or(x.less_equal(one)).or(x.is_nan());
        if R::any(special) {
            let twice = log_shifted(x, R::Bits::constant(1)).rounded();
            let twice = R::select(x.less(R::infinity()), twice, R::infinity());
            let value = R::select(is_large, twice, zero);
            let value = R::select(one.less_equal(x), value, R::canonical_nan());
            R::select(special, value, usual)
        } else {
            usual
        }
    }
}

/// The inverse of tanh: odd, +-inf for +-1, NaN beyond.
#[derive(Clone, Copy, Default, Debug)]
pub struct Atanh;
impl Unary for Atanh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let one = R::constant(1.0);
        let (small, _) = limits::<R>();
        let magnitude = x.abs();
        // t = 2x / (1 - x).
        let t = Pair::from_real(magnitude + magnitude).divided_by(Pair::sum_of(one, -magnitude));
        let usual = log_one_plus(t).rounded() * R::constant(0.5);
        let usual = R::select(magnitude.less(small), magnitude, usual);
        let special = magnitude.less(one).not();
        let value = if R::any(special) { R::select(special, R::infinity(), usual) } else { usual };
        R::select(magnitude.less_equal(one), with_sign(value, x), R::canonical_nan())
    }
}

/// Below the first, x^3 / 6 and x^3 / 3 are less than a tenth of an ulp of x; above the second,
/// the 1 under the root is less than that of x^2, taken twice by the logarithm.
#[inline(always)]
fn limits<R: Real>() -> (R, R) {
    let (small, large) = match R::WIDTH {
        Width::F32 => (6.103515625e-5, 16384.0),
        Width::F64 => (1.862645149230957e-9, 536870912.0),
    };
    (R::constant(small), R::constant(large))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: u64 = 0x7FF8_0000_0000_0000;

    #[test]
    fn log1p_at_its_edges() {
        assert_eq!(Log1p::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Log1p::at(-5e-324_f64), -5e-324);
        assert_eq!(Log1p::at(1e-10_f64), 9.999999999500001e-11);
        assert_eq!(Log1p::at(1.0_f64), core::f64::consts::LN_2);
        assert_eq!(Log1p::at(-1.0_f32), f32::NEG_INFINITY);
        assert_eq!(Log1p::at(f64::MAX), 709.782712893384);
        assert_eq!(Log1p::at(f64::INFINITY), f64::INFINITY);
        assert_eq!(Log1p::at(-1.5_f64).to_bits(), NAN);
        assert_eq!(Log1p::at(f64::NEG_INFINITY).to_bits(), NAN);
        assert_eq!(Log1p::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn powers_of_the_base_are_exact() {
        for n in -1022..=1023 {
            assert_eq!(Log2::at(2.0_f64.powi(n)), n as f64);
        }
        assert_eq!(Log2::at(5e-324_f64), -1074.0);
        for n in 0..=22 {
            assert_eq!(Log10::at(10.0_f64.powi(n)), n as f64);
        }
        assert_eq!(Log10::at(1000.0_f32), 3.0);
        assert_eq!(Log2::at(-0.0_f64), f64::NEG_INFINITY);
        assert_eq!(Log10::at(f32::INFINITY), f32::INFINITY);
        assert_eq!(Log2::at(-1.0_f64).to_bits(), NAN);
        assert_eq!(Log10::at(-f64::NAN).to_bits(), NAN);
    }

    #[test]
    fn inverse_hyperbolic_functions_at_their_edges() {
        assert_eq!(Asinh::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Asinh::at(-5e-324_f64), -5e-324);
        assert_eq!(Asinh::at(1.0_f64), 0.881373587019543);
        assert_eq!(Asinh::at(-f64::MAX), -710.475860073944);
        assert_eq!(Asinh::at(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(Asinh::at(-f64::NAN).to_bits(), NAN);
        assert_eq!(Acosh::at(1.0_f64).to_bits(), 0);
        assert_eq!(Acosh::at(1.5_f64), 0.9624236501192069);
        assert_eq!(Acosh::at(f64::MAX), 710.475860073944);
        assert_eq!(Acosh::at(f32::INFINITY), f32::INFINITY);
        assert_eq!(Acosh::at(0.999_f64).to_bits(), NAN);
        assert_eq!(Acosh::at(f64::NEG_INFINITY).to_bits(), NAN);
        assert_eq!(Atanh::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Atanh::at(5e-324_f64), 5e-324);
        assert_eq!(Atanh::at(0.5_f64), 0.5493061443340549);
        assert_eq!(Atanh::at(-1.0_f64), f64::NEG_INFINITY);
        assert_eq!(Atanh::at(1.0000001_f32).to_bits(), 0x7FC0_0000);
        assert_eq!(Atanh::at(f64::INFINITY).to_bits(), NAN);
    }
}
