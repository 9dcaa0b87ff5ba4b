//! `floor`, `ceiling`, `truncate` and `round` with their remainders, exact for any mix of types:
//! the quotient is that of the numbers as they are, and the remainder is rounded once.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Zero};

use super::whole::{self, Whole};
use super::{Real, exact, ratio, real};
use crate::condition::{Escape, Outcome};
use crate::symbol;
use crate::value::Value;

/// Which integer near the quotient is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rounding {
    /// Towards minus infinity.
    Floor,
    /// Towards plus infinity.
    Ceiling,
    /// Towards zero.
    Truncate,
    /// To the nearest, halves to even.
    Round,
}

/// `(floor a b)`.
pub fn floor2(a: &Value, b: &Value) -> Outcome<(Value, Value)> {
    divide("floor", Rounding::Floor, a, b)
}

/// `(ceiling a b)`.
pub fn ceiling2(a: &Value, b: &Value) -> Outcome<(Value, Value)> {
    divide("ceiling", Rounding::Ceiling, a, b)
}

/// `(truncate a b)`.
pub fn truncate2(a: &Value, b: &Value) -> Outcome<(Value, Value)> {
    divide("truncate", Rounding::Truncate, a, b)
}

/// `(round a b)`.
pub fn round2(a: &Value, b: &Value) -> Outcome<(Value, Value)> {
    divide("round", Rounding::Round, a, b)
}

/// The integer quotient of two reals and the remainder.
pub fn divide(operator: &str, rounding: Rounding, a: &Value, b: &Value) -> Outcome<(Value, Value)> {
    match (a, b) {
        (Value::Fixnum(x), Value::Fixnum(y)) if *y != 0 && *y != -1 => {
            let (quotient, rest) = divide_fixnums(rounding, *x, *y);
            Ok((Value::Fixnum(quotient), Value::Fixnum(rest)))
        }
        (Value::Double(x), Value::Fixnum(1)) if x.abs() < 4503599627370496.0 => {
            let whole = round_double(rounding, *x);
            Ok((Value::Fixnum(whole as i64), Value::Double(x - whole)))
        }
        _ => divide_slowly(operator, rounding, a, b),
    }
}

/// To an integer, for doubles below 2^52.
pub fn round_double(rounding: Rounding, x: f64) -> f64 {
    match rounding {
        Rounding::Floor => x.floor(),
        Rounding::Ceiling => x.ceil(),
        Rounding::Truncate => x.trunc(),
        Rounding::Round => x.round_ties_even(),
    }
}

/// Neither 0 nor -1 divides, so nothing overflows.
fn divide_fixnums(rounding: Rounding, a: i64, b: i64) -> (i64, i64) {
    let (quotient, rest) = (a / b, a % b);
    let step = match rounding {
        _ if rest == 0 => 0,
        Rounding::Truncate => 0,
        Rounding::Floor => -i64::from((rest < 0) != (b < 0)),
        Rounding::Ceiling => i64::from((rest < 0) == (b < 0)),
        Rounding::Round => {
            // |rest| against |b| - |rest|: both fit, and no doubling overflows.
            let (part, other) = (rest.unsigned_abs(), b.unsigned_abs() - rest.unsigned_abs());
            let away = part > other || part == other && quotient & 1 == 1;
            let direction = if (rest < 0) == (b < 0) { 1 } else { -1 };
            direction * i64::from(away)
        }
    };
    // The result fits; the product on the way need not (b the most negative fixnum).
    (quotient + step, rest.wrapping_sub(step.wrapping_mul(b)))
}

fn divide_slowly(
    operator: &str,
    rounding: Rounding,
    a: &Value,
    b: &Value,
) -> Outcome<(Value, Value)> {
    if let Some((x, y)) = Whole::both(a, b)
        && !y.is_zero()
    {
        return Ok(whole::divide(rounding, x, y));
    }
    let (x, y) = (real(operator, a)?, real(operator, b)?);
    let finite = |real: &Real, value: &Value| {
        real.rational().ok_or_else(|| {
            let wanted = "a finite number";
            Escape::unexpected(operator, wanted, Value::symbol(symbol::REAL), value)
        })
    };
    let ((an, ad), (bn, bd)) = (finite(&x, a)?, finite(&y, b)?);
    if bn.is_zero() {
        return Err(Escape::division_by_zero(operator, &[a, b]));
    }
    let (numerator, denominator) = (an * &bd, &ad * &bn);
    let quotient = round_fraction(rounding, &numerator, &denominator);
    // rest = a - quotient * b = (numerator - quotient * denominator) / (ad * bd)
    let (rest, scale) = (numerator - &quotient * denominator, ad * bd);
    let rest = match (&x, &y) {
        (Real::Double(_), _) | (_, Real::Double(_)) => {
            Value::Double(signed_zero(&x, exact::round(&rest, &scale, exact::DOUBLE)))
        }
        (Real::Single(_), _) | (_, Real::Single(_)) => {
            let rest = exact::round(&rest, &scale, exact::SINGLE);
            Value::Single(signed_zero(&x, rest) as f32)
        }
        _ => ratio(rest, scale),
    };
    Ok((Value::integer(quotient), rest))
}

/// A float remainder of zero has the sign of the dividend, as IEEE's remainder has.
fn signed_zero(dividend: &Real, rest: f64) -> f64 {
    let negative = match dividend {
        Real::Double(x) => x.is_sign_negative(),
        Real::Single(x) => x.is_sign_negative(),
        _ => false,
    };
    if rest == 0.0 && negative { -0.0 } else { rest }
}

/// The integer near a fraction whose denominator is not zero, of either sign.
pub fn round_fraction(rounding: Rounding, numerator: &BigInt, denominator: &BigInt) -> BigInt {
    match rounding {
        Rounding::Truncate => numerator / denominator,
        Rounding::Floor => numerator.div_floor(denominator),
        Rounding::Ceiling => -(-numerator).div_floor(denominator),
        Rounding::Round => {
            let (floor, rest) = numerator.div_mod_floor(denominator);
            let doubled = (rest.magnitude() << 1u32).cmp(denominator.magnitude());
            let up = doubled == Ordering::Greater || doubled == Ordering::Equal && floor.is_odd();
            if up { floor + BigInt::one() } else { floor }
        }
    }
}

/// A float without its fraction: `ffloor` and its kin with the divisor 1. Keeps minus zero.
pub fn whole_float(rounding: Rounding, x: f64) -> f64 {
    if x.abs() < 4503599627370496.0 { round_double(rounding, x) } else { x }
}

/// The simplest rational that a float reads back from: the one of least denominator in the
/// interval that rounds to it.
pub fn simplest(x: f64, format: exact::Format) -> Option<Value> {
    let (negative, mantissa, exponent) = exact::decode(x)?;
    if mantissa == 0 {
        return Some(Value::Fixnum(0));
    }
    let (mut mantissa, mut exponent) = (mantissa, exponent);
    // A single held in a double: its own last bit is higher up.
    let spare = (64 - i64::from(mantissa.leading_zeros()) - format.precision as i64)
        .max(format.lowest - exponent)
        .max(0);
    mantissa >>= spare;
    exponent += spare;
    if exponent >= 0 {
        let whole = BigInt::from(mantissa) << exponent as u64;
        return Some(Value::integer(if negative { -whole } else { whole }));
    }
    let one = BigInt::one() << (1 - exponent) as u64;
    let low = (BigInt::from(mantissa) * 2 - 1, one.clone());
    let high = (BigInt::from(mantissa) * 2 + 1, one);
    let (n, d) = simplest_between(low, high);
    Some(ratio(if negative { -n } else { n }, d))
}

/// The fraction of least denominator strictly between two positive ones, by their continued
/// fractions (the ends themselves may round elsewhere, so they do not count).
fn simplest_between(low: (BigInt, BigInt), high: (BigInt, BigInt)) -> (BigInt, BigInt) {
    let (mut low, mut high) = (low, high);
    let mut wholes = Vec::new();
    let mut last = loop {
        let whole = low.0.div_floor(&low.1);
        if (&whole + 1) * &high.1 < high.0 {
            break (whole + 1, BigInt::one());
        }
        let low_rest = &low.0 - &whole * &low.1;
        let high_rest = &high.0 - &whole * &high.1;
        wholes.push(whole);
        // 1/x turns the interval round; a low end of a whole number turns into infinity.
        let turned = (high.1, high_rest);
        if low_rest.sign() == Sign::NoSign {
            let whole = turned.0.div_floor(&turned.1) + 1;
            break (whole, BigInt::one());
        }
        (low, high) = (turned, (low.1, low_rest));
    };
    for whole in wholes.into_iter().rev() {
        last = (whole * &last.0 + &last.1, last.0);
    }
    last
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fixnums(rounding: Rounding, a: i64, b: i64) -> (i64, i64) {
        let (q, r) = divide("test", rounding, &Value::Fixnum(a), &Value::Fixnum(b)).ok().unwrap();
        (q.as_fixnum().unwrap(), r.as_fixnum().unwrap())
    }

    #[test]
    fn integers_divide_in_four_ways() {
        assert_eq!(fixnums(Rounding::Floor, -7, 2), (-4, 1));
        assert_eq!(fixnums(Rounding::Ceiling, -7, 2), (-3, -1));
        assert_eq!(fixnums(Rounding::Truncate, -7, 2), (-3, -1));
        assert_eq!(fixnums(Rounding::Round, 7, 2), (4, -1));
        assert_eq!(fixnums(Rounding::Round, 5, 2), (2, 1));
        assert_eq!(fixnums(Rounding::Round, -5, 2), (-2, -1));
        assert_eq!(fixnums(Rounding::Floor, 7, -1), (-7, 0));
        assert_eq!(fixnums(Rounding::Round, i64::MIN, i64::MIN), (1, 0));
    }

    #[test]
    fn small_and_slow_division_agree() {
        for rounding in [Rounding::Floor, Rounding::Ceiling, Rounding::Truncate, Rounding::Round] {
            for a in -20..=20 {
                for b in (-7..=7).filter(|b| *b != 0) {
                    let exact = round_fraction(rounding, &a.into(), &b.into());
                    let (quotient, rest) = fixnums(rounding, a, b);
                    assert_eq!(BigInt::from(quotient), exact, "{rounding:?} {a} {b}");
                    assert_eq!(quotient * b + rest, a);
                }
            }
        }
    }

    #[test]
    fn floats_divide_exactly() {
        let (q, r) = floor2(&Value::Double(1.0), &Value::Double(0.1)).ok().unwrap();
        assert!(q.eql(&Value::Fixnum(9)) && r.eql(&Value::Double(0.09999999999999995)));
        let (q, r) = round2(&Value::Double(-2.5), &Value::Fixnum(1)).ok().unwrap();
        assert!(q.eql(&Value::Fixnum(-2)) && r.eql(&Value::Double(-0.5)));
        let (q, _) = truncate2(&Value::Double(1e20), &Value::Fixnum(1)).ok().unwrap();
        assert!(q.eql(&Value::integer(BigInt::from(10).pow(20))));
        assert!(floor2(&Value::Double(f64::NAN), &Value::Fixnum(1)).is_err());
        assert!(floor2(&Value::Double(1.0), &Value::Double(0.0)).is_err());
    }

    #[test]
    fn simplest_rationals_read_back() {
        let simplest = |x| simplest(x, exact::DOUBLE).unwrap();
        assert!(simplest(0.1).eql(&ratio(1.into(), 10.into())));
        assert!(simplest(-0.75).eql(&ratio((-3).into(), 4.into())));
        assert!(simplest(1.0 / 3.0).eql(&ratio(1.into(), 3.into())));
        assert!(simplest(5.0).eql(&Value::Fixnum(5)));
        for x in [std::f64::consts::PI, 1e-300, 5e-324, 123456.789, 1e22] {
            assert_eq!(crate::numbers::to_double(&simplest(x)), Some(x));
        }
        let single = super::simplest(f64::from(0.1f32), exact::SINGLE).unwrap();
        assert!(single.eql(&ratio(1.into(), 10.into())));
    }
}
