//! Exact passage between floats and rationals: a float as the rational it is, and a rational
//! rounded once, half to even, to the float type. Everything that must not round twice
//! (comparison, `floor`, reading a ratio as a float) goes through here.

use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{One, Zero};

use crate::value::Value;

/// A float type, as far as rounding to it is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the significand, the hidden one included.
    pub precision: u64,
    /// The exponent of the last bit of the smallest subnormal.
    pub lowest: i64,
    /// All finite numbers are below 2 to this power.
    pub highest: i64,
}

/// double-float.
pub const DOUBLE: Format = Format { precision: 53, lowest: -1074, highest: 1024 };
/// single-float.
pub const SINGLE: Format = Format { precision: 24, lowest: -149, highest: 128 };

impl Format {
    /// A double as a value of the format, rounded if need be.
    pub fn value(self, x: f64) -> Value {
        if self == SINGLE { Value::Single(x as f32) } else { Value::Double(x) }
    }
}

/// `mantissa * 2^exponent` with the sign apart; none for infinities and NaN.
pub fn decode(x: f64) -> Option<(bool, u64, i64)> {
    if !x.is_finite() {
        return None;
    }
    let bits = x.to_bits();
    let (field, fraction) = ((bits >> 52 & 0x7FF) as i64, bits & ((1 << 52) - 1));
    let (mantissa, exponent) =
        if field == 0 { (fraction, -1074) } else { (fraction | 1 << 52, field - 1075) };
    Some((x.is_sign_negative(), mantissa, exponent))
}

/// The rational that a finite float is, in lowest terms.
pub fn rational(x: f64) -> Option<(BigInt, BigInt)> {
    let (negative, mantissa, exponent) = decode(x)?;
    if mantissa == 0 {
        return Some((BigInt::zero(), BigInt::one()));
    }
    let twos = i64::from(mantissa.trailing_zeros());
    let (odd, exponent) = (mantissa >> twos, exponent + twos);
    let magnitude = BigInt::from(odd) << exponent.max(0) as u64;
    let numerator = if negative { -magnitude } else { magnitude };
    Some((numerator, BigInt::one() << (-exponent).max(0) as u64))
}

/// `mantissa * 2^exponent`, which must be a double already (nothing is rounded).
pub fn scale(mantissa: u64, exponent: i64) -> f64 {
    let power = |e: i64| f64::from_bits(((e + 1023) as u64) << 52);
    let mantissa = mantissa as f64;
    match exponent {
        ..-1000 => mantissa * power(-500) * power((exponent + 500).max(-1022)),
        -1000..=970 => mantissa * power(exponent),
        _ => mantissa * power(970) * power((exponent - 970).min(60)),
    }
}

/// `numerator / denominator` rounded half to even to the format, as a double.
pub fn round(numerator: &BigInt, denominator: &BigInt, format: Format) -> f64 {
    let magnitude = round_magnitude(numerator.magnitude(), denominator.magnitude(), format);
    if numerator.sign() == Sign::Minus { -magnitude } else { magnitude }
}

fn round_magnitude(numerator: &BigUint, denominator: &BigUint, format: Format) -> f64 {
    if numerator.is_zero() {
        return 0.0;
    }
    // At least precision + 2 bits of quotient, then one rounding with the remainder as sticky bit.
    let ahead = numerator.bits() as i64 - denominator.bits() as i64;
    if ahead > format.highest + 1 {
        return f64::INFINITY;
    }
    let shift = format.precision as i64 + 2 - ahead;
    let (quotient, rest) = if shift >= 0 {
        (numerator << shift as u64).div_rem(denominator)
    } else {
        numerator.div_rem(&(denominator << (-shift) as u64))
    };
    let bits = quotient.bits() as i64;
    let last = (bits - shift - format.precision as i64).max(format.lowest);
    let dropped = last + shift;
    if dropped > bits + 1 {
        return 0.0;
    }
    let quotient = u64::try_from(&quotient).unwrap_or(u64::MAX);
    let kept = quotient.checked_shr(dropped as u32).unwrap_or(0);
    let below = quotient - kept.checked_shl(dropped as u32).unwrap_or(0);
    let half = 1u64 << (dropped - 1);
    let up = below > half || below == half && (!rest.is_zero() || kept & 1 == 1);
    let mantissa = kept + u64::from(up);
    let top = 64 - i64::from(mantissa.leading_zeros()) + last;
    if top > format.highest { f64::INFINITY } else { scale(mantissa, last) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn double(numerator: i64, denominator: i64) -> f64 {
        round(&numerator.into(), &denominator.into(), DOUBLE)
    }

    #[test]
    fn ratios_round_once() {
        assert_eq!(double(1, 3), 1.0 / 3.0);
        assert_eq!(double(-2, 3), -2.0 / 3.0);
        assert_eq!(double(i64::MAX, 1), i64::MAX as f64);
        assert_eq!(round(&1.into(), &10.into(), SINGLE), f64::from(0.1f32));
        // Half way between two doubles: to even.
        assert_eq!(double((1 << 53) + 1, 1), 9007199254740992.0);
        assert_eq!(double((1 << 53) + 3, 1), 9007199254740996.0);
    }

    #[test]
    fn the_ends_of_the_range_are_right() {
        let one = BigInt::one();
        assert_eq!(round(&one, &(BigInt::one() << 1074u32), DOUBLE), 5e-324);
        assert_eq!(round(&one, &(BigInt::one() << 1075u32), DOUBLE), 0.0);
        assert_eq!(round(&3.into(), &(BigInt::one() << 1075u32), DOUBLE), 1e-323);
        assert_eq!(round(&(BigInt::one() << 1024u32), &one, DOUBLE), f64::INFINITY);
        let largest: BigInt = ((BigInt::one() << 53u32) - 1) << 971u32;
        assert_eq!(round(&largest, &one, DOUBLE), f64::MAX);
        assert_eq!(round(&(BigInt::one() << 128u32), &one, SINGLE), f64::INFINITY);
        assert_eq!(round(&one, &(BigInt::one() << 149u32), SINGLE), f64::from(f32::from_bits(1)));
    }

    #[test]
    fn floats_are_the_rationals_they_are_and_come_back() {
        let numbers =
            [0.1, -1.5, 5e-324, f64::MAX, 1e-310, 2.2250738585072014e-308, 1e300, 123456.789];
        for x in numbers {
            let (numerator, denominator) = rational(x).unwrap();
            assert_eq!(round(&numerator, &denominator, DOUBLE), x);
        }
        assert_eq!(rational(0.75), Some((3.into(), 4.into())));
        assert!(rational(f64::NAN).is_none());
    }
}
