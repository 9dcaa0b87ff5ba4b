//! Integers where they are: sums, products, order and quotients of big ones by reference. Through
//! `Real` each operand was copied, and a denominator made for it: half of the time of `factorial`.

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::Zero;

use super::division::Rounding;
use crate::value::Value;

/// An integer that a value is.
#[derive(Clone, Copy)]
pub enum Whole<'a> {
    /// One that fits 64 bits.
    Small(i64),
    /// One that does not.
    Big(&'a BigInt),
}

use Whole::{Big, Small};

impl Whole<'_> {
    /// The integer that a value is.
    #[inline]
    pub fn of(value: &Value) -> Option<Whole<'_>> {
        match value {
            Value::Fixnum(n) => Some(Small(*n)),
            other => other.as_bignum().map(Big),
        }
    }

    /// The two integers that two values are.
    #[inline]
    pub fn both<'a>(a: &'a Value, b: &'a Value) -> Option<(Whole<'a>, Whole<'a>)> {
        Some((Whole::of(a)?, Whole::of(b)?))
    }

    fn to_big(self) -> BigInt {
        match self {
            Small(n) => n.into(),
            Big(n) => n.clone(),
        }
    }

    /// Whether it is zero.
    pub fn is_zero(self) -> bool {
        matches!(self, Small(0))
    }

    /// -1, 0 or 1.
    pub fn sign(self) -> i32 {
        match self {
            Small(n) => n.signum() as i32,
            Big(n) => match n.sign() {
                Sign::Minus => -1,
                Sign::NoSign => 0,
                Sign::Plus => 1,
            },
        }
    }

    /// How they compare. A big one is beyond every small one.
    pub fn compare(self, other: Whole<'_>) -> Ordering {
        match (self, other) {
            (Small(a), Small(b)) => a.cmp(&b),
            (Big(a), Big(b)) => a.cmp(b),
            (Small(_), Big(_)) => 0.cmp(&other.sign()),
            (Big(_), Small(_)) => self.sign().cmp(&0),
        }
    }
}

/// `a + b`.
pub fn sum(a: Whole<'_>, b: Whole<'_>) -> Value {
    Value::integer(match (a, b) {
        (Small(a), Small(b)) => (i128::from(a) + i128::from(b)).into(),
        (Small(a), Big(b)) => b + a,
        (Big(a), Small(b)) => a + b,
        (Big(a), Big(b)) => a + b,
    })
}

/// `a - b`.
pub fn difference(a: Whole<'_>, b: Whole<'_>) -> Value {
    Value::integer(match (a, b) {
        (Small(a), Small(b)) => (i128::from(a) - i128::from(b)).into(),
        (Small(a), Big(b)) => a - b,
        (Big(a), Small(b)) => a - b,
        (Big(a), Big(b)) => a - b,
    })
}

/// `a * b`.
pub fn product(a: Whole<'_>, b: Whole<'_>) -> Value {
    Value::integer(match (a, b) {
        (Small(a), Small(b)) => (i128::from(a) * i128::from(b)).into(),
        (Small(a), Big(b)) => b * a,
        (Big(a), Small(b)) => a * b,
        (Big(a), Big(b)) => a * b,
    })
}

/// The quotient, rounded, and the remainder; the divisor is not zero.
pub fn divide(rounding: Rounding, a: Whole<'_>, b: Whole<'_>) -> (Value, Value) {
    let (small_a, small_b);
    let a = match a {
        Big(n) => n,
        Small(_) => {
            small_a = a.to_big();
            &small_a
        }
    };
    let b = match b {
        Big(n) => n,
        Small(_) => {
            small_b = b.to_big();
            &small_b
        }
    };
    let (quotient, rest) = divide_big(rounding, a, b);
    (Value::integer(quotient), Value::integer(rest))
}

/// The quotient, rounded, and the remainder; the divisor is not zero.
pub fn divide_big(rounding: Rounding, a: &BigInt, b: &BigInt) -> (BigInt, BigInt) {
    if rounding == Rounding::Truncate {
        return a.div_rem(b);
    }
    let (floor, rest) = a.div_mod_floor(b);
    let up = match rounding {
        Rounding::Truncate | Rounding::Floor => false,
        Rounding::Ceiling => !rest.is_zero(),
        Rounding::Round => {
            let doubled = (rest.magnitude() << 1u32).cmp(b.magnitude());
            doubled == Ordering::Greater || doubled == Ordering::Equal && floor.is_odd()
        }
    };
    if up { (floor + 1, rest - b) } else { (floor, rest) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::{add, compare, equals, multiply, subtract};

    fn int(text: &str) -> Value {
        Value::integer(text.parse().unwrap())
    }

    /// Around zero, and around the largest and the smallest fixnum.
    fn samples() -> Vec<Value> {
        let texts = [
            "0",
            "1",
            "-1",
            "7",
            "-7",
            "10",
            "9223372036854775807",
            "-9223372036854775807",
            "-9223372036854775808",
            "9223372036854775808",
            "-9223372036854775809",
            "18446744073709551616",
            "-18446744073709551616",
            "1000000000000000000000",
            "-340282366920938463463374607431768211455",
        ];
        texts.map(int).to_vec()
    }

    fn big(value: &Value) -> BigInt {
        crate::numbers::integer("test", value).ok().unwrap()
    }

    #[test]
    fn integers_of_any_size_add_and_multiply_as_big_ones() {
        for a in &samples() {
            for b in &samples() {
                let (x, y) = (big(a), big(b));
                assert!(add(a, b).ok().unwrap().eql(&Value::integer(&x + &y)), "{x} + {y}");
                assert!(subtract(a, b).ok().unwrap().eql(&Value::integer(&x - &y)), "{x} - {y}");
                assert!(multiply(a, b).ok().unwrap().eql(&Value::integer(&x * &y)), "{x} * {y}");
                assert_eq!(compare("<", a, b).ok().unwrap(), Some(x.cmp(&y)), "{x} < {y}");
                assert_eq!(equals(a, b), x == y, "{x} = {y}");
            }
        }
    }

    #[test]
    fn quotients_and_remainders_give_the_dividend_back() {
        let roundings = [Rounding::Floor, Rounding::Ceiling, Rounding::Truncate, Rounding::Round];
        for (a, b) in samples().iter().flat_map(|a| samples().into_iter().map(move |b| (a, b))) {
            let (x, y) = (big(a), big(&b));
            if y.is_zero() {
                continue;
            }
            for rounding in roundings {
                let found = crate::numbers::division::divide("test", rounding, a, &b);
                let (quotient, rest) = found.ok().unwrap();
                let (quotient, rest) = (big(&quotient), big(&rest));
                assert_eq!(&quotient * &y + &rest, x, "{rounding:?} {x} {y}");
                let expected = crate::numbers::division::round_fraction(rounding, &x, &y);
                assert_eq!(quotient, expected, "{rounding:?} {x} {y}");
            }
        }
    }
}
