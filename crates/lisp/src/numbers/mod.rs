//! The numeric tower: fixnums, bignums, ratios, single- and double-floats.
//!
//! Arithmetic and comparison of two values are here; whole-number division is in `division`,
//! roots and powers in `power`, exact passage between floats and rationals in `exact`, decimal
//! text in `decimal`. Nothing here needs a running Lisp. The language's functions are tables in
//! `library::numbers`. A float is never touched by the host's mathematics library.

pub mod complex;
pub mod complex_functions;
pub mod decimal;
pub mod division;
pub mod exact;
pub mod power;
pub mod whole;

use std::cmp::Ordering;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Zero};

use crate::condition::{Escape, Outcome};
use crate::object::{Object, Ratio};
use crate::symbol;
use crate::value::Value;

use whole::Whole;

pub use complex::{Complex, complex};
pub use division::{ceiling2, floor2, round2, truncate2};

/// A real number out of its value.
#[derive(Clone, Debug)]
pub enum Real {
    /// An integer of any size.
    Integer(BigInt),
    /// A ratio in lowest terms.
    Ratio(Ratio),
    /// A single-float.
    Single(f32),
    /// A double-float.
    Double(f64),
}

impl Real {
    /// The real number that a value is.
    pub fn of(value: &Value) -> Option<Real> {
        Some(match value {
            Value::Fixnum(n) => Real::Integer(BigInt::from(*n)),
            Value::Double(x) => Real::Double(*x),
            Value::Single(x) => Real::Single(*x),
            Value::Object(object) => match &**object {
                Object::Bignum(n) => Real::Integer(n.clone()),
                Object::Ratio(ratio) => Real::Ratio(ratio.clone()),
                _ => return None,
            },
            _ => return None,
        })
    }

    /// Numerator and denominator of the number exactly; none for infinities and NaN.
    pub fn rational(&self) -> Option<(BigInt, BigInt)> {
        match self {
            Real::Integer(n) => Some((n.clone(), BigInt::one())),
            Real::Ratio(ratio) => Some((ratio.numerator.clone(), ratio.denominator.clone())),
            Real::Single(x) => exact::rational(f64::from(*x)),
            Real::Double(x) => exact::rational(*x),
        }
    }

    /// The nearest double.
    pub fn to_double(&self) -> f64 {
        match self {
            Real::Integer(n) => match i64::try_from(n) {
                Ok(small) => small as f64,
                Err(_) => exact::round(n, &BigInt::one(), exact::DOUBLE),
            },
            Real::Ratio(ratio) => exact::round(&ratio.numerator, &ratio.denominator, exact::DOUBLE),
            Real::Single(x) => f64::from(*x),
            Real::Double(x) => *x,
        }
    }

    /// The nearest single.
    pub fn to_single(&self) -> f32 {
        match self {
            Real::Integer(n) => exact::round(n, &BigInt::one(), exact::SINGLE) as f32,
            Real::Ratio(ratio) => {
                exact::round(&ratio.numerator, &ratio.denominator, exact::SINGLE) as f32
            }
            Real::Single(x) => *x,
            Real::Double(x) => *x as f32,
        }
    }
}

/// The real number that an argument is, or a `type-error`.
pub fn real(operator: &str, value: &Value) -> Outcome<Real> {
    Real::of(value).ok_or_else(|| Escape::wrong_type(operator, symbol::REAL, value))
}

/// The integer that an argument is, or a `type-error`.
pub fn integer(operator: &str, value: &Value) -> Outcome<BigInt> {
    match value {
        Value::Fixnum(n) => Ok(BigInt::from(*n)),
        _ => match value.as_bignum() {
            Some(n) => Ok(n.clone()),
            None => Err(Escape::wrong_type(operator, symbol::INTEGER, value)),
        },
    }
}

/// `numerator / denominator` in lowest terms; the denominator must not be zero.
pub fn ratio(numerator: BigInt, denominator: BigInt) -> Value {
    let common = numerator.gcd(&denominator);
    let (mut numerator, mut denominator) = (numerator / &common, denominator / common);
    if denominator.sign() == Sign::Minus {
        (numerator, denominator) = (-numerator, -denominator);
    }
    if denominator.is_one() {
        Value::integer(numerator)
    } else {
        Value::object(Object::Ratio(Ratio { numerator, denominator }))
    }
}

type Fraction = (BigInt, BigInt);

/// One of the four operations, at each level of the tower.
struct Operation {
    name: &'static str,
    fixnum: fn(i64, i64) -> Option<i64>,
    single: fn(f32, f32) -> f32,
    double: fn(f64, f64) -> f64,
    whole: Option<fn(Whole<'_>, Whole<'_>) -> Value>,
    exact: fn(Fraction, Fraction) -> Option<Value>,
}

const ADD: Operation = Operation {
    name: "+",
    fixnum: i64::checked_add,
    single: |a, b| a + b,
    double: |a, b| a + b,
    whole: Some(whole::sum),
    exact: |(an, ad), (bn, bd)| Some(ratio(an * &bd + bn * &ad, ad * bd)),
};

const SUBTRACT: Operation = Operation {
    name: "-",
    fixnum: i64::checked_sub,
    single: |a, b| a - b,
    double: |a, b| a - b,
    whole: Some(whole::difference),
    exact: |(an, ad), (bn, bd)| Some(ratio(an * &bd - bn * &ad, ad * bd)),
};

const MULTIPLY: Operation = Operation {
    name: "*",
    fixnum: i64::checked_mul,
    single: |a, b| a * b,
    double: |a, b| a * b,
    whole: Some(whole::product),
    exact: |(an, ad), (bn, bd)| Some(ratio(an * bn, ad * bd)),
};

const DIVIDE: Operation = Operation {
    name: "/",
    fixnum: |a, b| if a.checked_rem(b)? == 0 { a.checked_div(b) } else { None },
    single: |a, b| a / b,
    double: |a, b| a / b,
    whole: None,
    exact: |(an, ad), (bn, bd)| (!bn.is_zero()).then(|| ratio(an * bd, ad * bn)),
};

impl Operation {
    #[inline]
    fn apply(&self, a: &Value, b: &Value) -> Outcome {
        match (a, b) {
            (Value::Fixnum(x), Value::Fixnum(y)) => {
                if let Some(n) = (self.fixnum)(*x, *y) {
                    return Ok(Value::Fixnum(n));
                }
            }
            (Value::Double(x), Value::Double(y)) => {
                return Ok(Value::Double((self.double)(*x, *y)));
            }
            (Value::Single(x), Value::Single(y)) => {
                return Ok(Value::Single((self.single)(*x, *y)));
            }
            (Value::Double(x), Value::Fixnum(y)) => {
                return Ok(Value::Double((self.double)(*x, *y as f64)));
            }
            (Value::Fixnum(x), Value::Double(y)) => {
                return Ok(Value::Double((self.double)(*x as f64, *y)));
            }
            _ => {}
        }
        self.slow(a, b)
    }

    #[cold]
    fn slow(&self, a: &Value, b: &Value) -> Outcome {
        if let (Some(whole), Some((a, b))) = (self.whole, Whole::both(a, b)) {
            return Ok(whole(a, b));
        }
        if a.as_complex().is_some() || b.as_complex().is_some() {
            return complex::apply(self.name, a, b);
        }
        let number = |value: &Value| {
            Real::of(value).ok_or_else(|| Escape::wrong_type(self.name, symbol::NUMBER, value))
        };
        let (x, y) = (number(a)?, number(b)?);
        if matches!(x, Real::Double(_)) || matches!(y, Real::Double(_)) {
            return Ok(Value::Double((self.double)(x.to_double(), y.to_double())));
        }
        if matches!(x, Real::Single(_)) || matches!(y, Real::Single(_)) {
            return Ok(Value::Single((self.single)(x.to_single(), y.to_single())));
        }
        let (Some(x), Some(y)) = (x.rational(), y.rational()) else { return Ok(Value::Nil) };
        (self.exact)(x, y).ok_or_else(|| Escape::division_by_zero(self.name, &[a, b]))
    }
}

/// `(+ a b)`.
pub fn add(a: &Value, b: &Value) -> Outcome {
    ADD.apply(a, b)
}

/// `(- a b)`.
pub fn subtract(a: &Value, b: &Value) -> Outcome {
    SUBTRACT.apply(a, b)
}

/// `(* a b)`.
pub fn multiply(a: &Value, b: &Value) -> Outcome {
    MULTIPLY.apply(a, b)
}

/// `(/ a b)`; integers give a ratio where the quotient is none.
pub fn divide(a: &Value, b: &Value) -> Outcome {
    DIVIDE.apply(a, b)
}

/// `(- a)`.
pub fn negate(a: &Value) -> Outcome {
    match a {
        Value::Double(x) => Ok(Value::Double(-x)),
        Value::Single(x) => Ok(Value::Single(-x)),
        Value::Object(object) => match &**object {
            Object::Complex(z) => complex::negated(z),
            _ => subtract(&Value::Fixnum(0), a),
        },
        _ => subtract(&Value::Fixnum(0), a),
    }
}

/// How two real numbers compare, exactly; none with NaN.
pub fn compare(operator: &str, a: &Value, b: &Value) -> Outcome<Option<Ordering>> {
    match (a, b) {
        (Value::Fixnum(x), Value::Fixnum(y)) => return Ok(Some(x.cmp(y))),
        (Value::Double(x), Value::Double(y)) => return Ok(x.partial_cmp(y)),
        (Value::Single(x), Value::Single(y)) => return Ok(x.partial_cmp(y)),
        _ => {}
    }
    if let Some((a, b)) = Whole::both(a, b) {
        return Ok(Some(a.compare(b)));
    }
    Ok(compare_reals(&real(operator, a)?, &real(operator, b)?))
}

/// How two real numbers compare, exactly; none with NaN.
pub fn compare_reals(a: &Real, b: &Real) -> Option<Ordering> {
    match (a, b) {
        (Real::Integer(x), Real::Integer(y)) => Some(x.cmp(y)),
        (Real::Single(_) | Real::Double(_), Real::Single(_) | Real::Double(_)) => {
            a.to_double().partial_cmp(&b.to_double())
        }
        _ => match (a.rational(), b.rational()) {
            (Some((an, ad)), Some((bn, bd))) => Some((an * bd).cmp(&(bn * ad))),
            // One is infinite or NaN, the other a rational: zero stands for it as well as any.
            (None, Some(_)) => a.to_double().partial_cmp(&0.0),
            (Some(_), None) => 0.0.partial_cmp(&b.to_double()),
            (None, None) => None,
        },
    }
}

/// Numeric `=`; false when either is no number.
pub fn equals(a: &Value, b: &Value) -> bool {
    if let Some((a, b)) = Whole::both(a, b) {
        return a.compare(b) == Ordering::Equal;
    }
    match (Real::of(a), Real::of(b)) {
        (Some(x), Some(y)) => compare_reals(&x, &y) == Some(Ordering::Equal),
        _ => (a.as_complex().is_some() || b.as_complex().is_some()) && complex::equal(a, b),
    }
}

/// Numeric `=`, or a `type-error` for what is no number.
pub fn same(operator: &str, a: &Value, b: &Value) -> Outcome<bool> {
    if let (Value::Single(x), Value::Single(y)) = (a, b) {
        return Ok(x == y);
    }
    match [a, b].into_iter().find(|value| !value.is_number()) {
        Some(other) => Err(Escape::wrong_type(operator, symbol::NUMBER, other)),
        None => Ok(equals(a, b)),
    }
}

/// The nearest double.
pub fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::Fixnum(n) => Some(*n as f64),
        Value::Double(x) => Some(*x),
        Value::Single(x) => Some(f64::from(*x)),
        _ => Real::of(value).map(|real| real.to_double()),
    }
}

/// The nearest single, rounded once.
pub fn to_single(value: &Value) -> Option<f32> {
    Real::of(value).map(|real| real.to_single())
}

/// `(zerop a)`.
pub fn is_zero(value: &Value) -> Outcome<bool> {
    match value {
        Value::Fixnum(n) => Ok(*n == 0),
        Value::Double(x) => Ok(*x == 0.0),
        Value::Single(x) => Ok(*x == 0.0),
        _ if value.is_number() => value.as_complex().map_or(Ok(false), complex::zero),
        _ => Err(Escape::wrong_type("zerop", symbol::NUMBER, value)),
    }
}

/// -1, 0 or 1 by the sign; zero for zeros and NaN.
pub fn sign(operator: &str, value: &Value) -> Outcome<i32> {
    if let Some(whole) = Whole::of(value) {
        return Ok(whole.sign());
    }
    Ok(match real(operator, value)? {
        Real::Integer(n) => sign_of(&n),
        Real::Ratio(ratio) => sign_of(&ratio.numerator),
        Real::Single(x) => i32::from(x > 0.0) - i32::from(x < 0.0),
        Real::Double(x) => i32::from(x > 0.0) - i32::from(x < 0.0),
    })
}

fn sign_of(n: &BigInt) -> i32 {
    match n.sign() {
        Sign::Minus => -1,
        Sign::NoSign => 0,
        Sign::Plus => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn int(text: &str) -> Value {
        Value::integer(text.parse().unwrap())
    }

    fn fraction(n: i64, d: i64) -> Value {
        ratio(n.into(), d.into())
    }

    #[track_caller]
    fn gives(outcome: Outcome, expected: Value) {
        let value = outcome.unwrap_or(Value::Unbound);
        assert!(value.eql(&expected), "{:?}", Real::of(&value));
    }

    #[test]
    fn fixnums_become_bignums_and_come_back() {
        let big = int("9223372036854775808");
        gives(add(&Value::Fixnum(i64::MAX), &Value::Fixnum(1)), big.clone());
        gives(subtract(&big, &Value::Fixnum(1)), Value::Fixnum(i64::MAX));
        gives(divide(&Value::Fixnum(i64::MIN), &Value::Fixnum(-1)), big.clone());
        gives(negate(&Value::Fixnum(i64::MIN)), big.clone());
        gives(multiply(&big, &big), int("85070591730234615865843651857942052864"));
    }

    #[test]
    fn ratios_are_in_lowest_terms() {
        gives(divide(&Value::Fixnum(6), &Value::Fixnum(-4)), fraction(-3, 2));
        gives(add(&fraction(1, 3), &fraction(2, 3)), Value::Fixnum(1));
        gives(multiply(&fraction(2, 3), &Value::Fixnum(3)), Value::Fixnum(2));
        assert!(divide(&Value::Fixnum(1), &Value::Fixnum(0)).is_err());
        assert!(divide(&fraction(1, 2), &Value::Fixnum(0)).is_err());
    }

    #[test]
    fn floats_win_and_do_not_trap() {
        gives(add(&Value::Fixnum(1), &Value::Single(0.5)), Value::Single(1.5));
        gives(add(&Value::Double(1.0), &Value::Single(0.5)), Value::Double(1.5));
        gives(multiply(&fraction(1, 3), &Value::Double(3.0)), Value::Double(1.0));
        gives(divide(&Value::Double(-1.0), &Value::Fixnum(0)), Value::Double(f64::NEG_INFINITY));
    }

    #[test]
    fn rationals_and_floats_compare_exactly() {
        let order = |a: &Value, b: &Value| compare("<", a, b).ok().flatten();
        let two53 = Value::Double(9007199254740992.0);
        assert_eq!(order(&Value::Fixnum((1 << 53) + 1), &two53), Some(Ordering::Greater));
        assert_eq!(order(&fraction(1, 10), &Value::Double(0.1)), Some(Ordering::Less));
        assert_eq!(
            order(&Value::Double(f64::INFINITY), &int(&"9".repeat(400))),
            Some(Ordering::Greater)
        );
        assert_eq!(order(&Value::Double(f64::NAN), &Value::Fixnum(1)), None);
        assert!(equals(&Value::Fixnum(0), &Value::Double(-0.0)));
        assert!(!equals(&Value::Double(0.1), &Value::Single(0.1)));
        assert!(compare("<", &Value::Nil, &Value::Fixnum(1)).is_err());
    }
}
