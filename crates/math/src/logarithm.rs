//! The natural logarithm: x = 2^k m with m in [0.707, 1.414), log x = k ln 2 + log(1 + f) with
//! f = m - 1. f32 uses a polynomial in f; f64 the series in s = f / (2 + f), which needs 7
//! coefficients instead of about 20 at the price of one division. Error bounds are measured by
//! tests/accuracy.rs.

use crate::coefficients::{LN2_32, LN2_64, LOG_32, LOG_64};
use crate::exponential::round_magic;
use crate::function::Unary;
use crate::polynomial::two_chains;
use crate::real::{Bits, Mask, Real, Width};

/// log x: -inf for both zeros, NaN for negative numbers.
#[derive(Clone, Copy, Default, Debug)]
pub struct Log;
impl Unary for Log {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let smallest = R::Bits::constant(1 << R::MANTISSA);
        let normals = R::Bits::constant(R::INFINITY_BITS - (1 << R::MANTISSA));
        let special = (x.bits() - smallest).less(normals).not();
        let usual = log_normal(x, R::Bits::constant(0));
        if R::any(special) { R::select(special, log_special(x), usual) } else { usual }
    }
}

/// Subnormal, zero, negative, infinite or NaN.
#[inline(always)]
fn log_special<R: Real>(x: R) -> R {
    // 2^64 lifts the smallest subnormal of either width to a normal number, exactly.
    let offset = R::Bits::constant(0) - R::Bits::constant(64);
    let lifted = log_normal(x * R::constant(18446744073709551616.0), offset);
    let zero = R::constant(0.0);
    let value = R::select(x.equal(zero), -R::infinity(), lifted);
    let value = R::select(x.equal(R::infinity()), x, value);
    R::select(zero.less_equal(x), value, R::canonical_nan())
}

/// log x + offset * ln 2 for a positive normal x.
#[inline(always)]
fn log_normal<R: Real>(x: R, offset: R::Bits) -> R {
    let ([ln2_high, ln2_low], root_half) = match R::WIDTH {
        Width::F32 => (LN2_32, 0x3F35_04F3),
        Width::F64 => (LN2_64, 0x3FE6_A09E_667F_3BCD),
    };
    let magic = round_magic::<R>();
    let k = (x.bits() - R::Bits::constant(root_half)).shift_right_signed(R::MANTISSA);
    let f = (x.bits() - k.shift_left(R::MANTISSA)).real() - R::constant(1.0);
    let k = (k + (offset + magic.bits())).real() - magic;

    // k ln2_high is exact; adding f to it loses `rest`, which joins the small terms.
    let whole = k * R::constant(ln2_high);
    let sum = whole + f;
    let rest = f - (sum - whole);
    sum + (rest + (k * R::constant(ln2_low) - below_linear(f)))
}

/// f - log(1 + f), at most 0.086.
#[inline(always)]
fn below_linear<R: Real>(f: R) -> R {
    let square = f * f;
    let half_square = R::constant(0.5) * square;
    match R::WIDTH {
        Width::F32 => half_square - (f * square) * two_chains(f, &LOG_32),
        Width::F64 => {
            let s = f / (R::constant(2.0) + f);
            let z = s * s;
            half_square - s * (half_square + z * two_chains(z, &LOG_64))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_at_its_edges() {
        assert_eq!(Log::at(1.0_f64).to_bits(), 0);
        assert_eq!(Log::at(2.0_f64), core::f64::consts::LN_2);
        assert_eq!(Log::at(5e-324_f64), -744.4400719213812);
        assert_eq!(Log::at(-0.0_f32), f32::NEG_INFINITY);
        assert_eq!(Log::at(f32::INFINITY), f32::INFINITY);
        assert_eq!(Log::at(-1e-320_f64).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(Log::at(f32::NEG_INFINITY).to_bits(), 0x7FC0_0000);
        assert_eq!(Log::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }
}
