//! Chapter 12 of the standard, first part: arithmetic, comparison, predicates, division and
//! conversion. Integers as bits are in `numbers_integer`, the elementary functions and complex
//! numbers in `numbers_elementary`, the parts of floats in `numbers_float`, `random` in
//! `numbers_random`.

use std::cmp::Ordering;

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::numbers::division::{self, Rounding};
use crate::numbers::{self, Real, exact};
use crate::symbol;
use crate::value::Value;

macro_rules! comparison {
    ($name:literal, $documentation:literal, $holds:expr) => {
        native($name, "number &rest numbers", $documentation, |_, arguments| {
            let holds: fn(Ordering) -> bool = $holds;
            compare_all($name, arguments, holds)
        })
    };
}

macro_rules! predicate {
    ($name:literal, $documentation:literal, $test:expr) => {
        native($name, "object", $documentation, |_, arguments| {
            let test: fn(&Value) -> bool = $test;
            Ok(Value::boolean(test(&arguments[0])))
        })
    };
}

macro_rules! division {
    ($name:literal, $documentation:literal, $rounding:ident) => {
        native($name, "number &optional divisor", $documentation, |lisp, arguments| {
            let one = Value::Fixnum(1);
            let divisor = arguments.get(1).unwrap_or(&one);
            let (quotient, rest) =
                division::divide($name, Rounding::$rounding, &arguments[0], divisor)?;
            Ok(lisp.values(vec![quotient, rest]))
        })
    };
}

macro_rules! float_division {
    ($name:literal, $documentation:literal, $rounding:ident) => {
        native($name, "number &optional divisor", $documentation, |lisp, arguments| {
            float_division(lisp, $name, Rounding::$rounding, arguments)
        })
    };
}

/// Chapter 12 of the standard, first part.
pub static NUMBERS: &[Native] = &[
    native("+", "&rest numbers", "The sum.", |_, arguments| {
        fold("+", arguments, Value::Fixnum(0), numbers::add)
    }),
    native("*", "&rest numbers", "The product.", |_, arguments| {
        fold("*", arguments, Value::Fixnum(1), numbers::multiply)
    }),
    native("-", "number &rest numbers", "The difference, or the negative.", |_, arguments| {
        match arguments {
            [number] => numbers::negate(number),
            [first, rest @ ..] => {
                rest.iter().try_fold(first.clone(), |a, b| numbers::subtract(&a, b))
            }
            [] => Ok(Value::Nil),
        }
    }),
    native("/", "number &rest numbers", "The quotient, or the reciprocal.", |_, arguments| {
        match arguments {
            [number] => numbers::divide(&Value::Fixnum(1), number),
            [first, rest @ ..] => {
                rest.iter().try_fold(first.clone(), |a, b| numbers::divide(&a, b))
            }
            [] => Ok(Value::Nil),
        }
    }),
    native("1+", "number", "The number plus one.", |_, arguments| {
        numbers::add(&arguments[0], &Value::Fixnum(1))
    }),
    native("1-", "number", "The number minus one.", |_, arguments| {
        numbers::subtract(&arguments[0], &Value::Fixnum(1))
    }),
    native("=", "number &rest numbers", "Whether all numbers are equal.", |_, arguments| {
        number("=", &arguments[0])?;
        arguments
            .windows(2)
            .try_fold(true, |all, pair| Ok(numbers::same("=", &pair[0], &pair[1])? && all))
            .map(Value::boolean)
    }),
    comparison!("<", "Whether each is less than the next.", |o| o == Ordering::Less),
    comparison!(">", "Whether each is greater than the next.", |o| o == Ordering::Greater),
    comparison!("<=", "Whether none is greater than the next.", |o| o != Ordering::Greater),
    comparison!(">=", "Whether none is less than the next.", |o| o != Ordering::Less),
    native("/=", "number &rest numbers", "Whether no two are equal.", |_, arguments| {
        all_different(arguments)
    }),
    native("max", "number &rest numbers", "The greatest number.", |_, arguments| {
        extreme("max", arguments, Ordering::Greater)
    }),
    native("min", "number &rest numbers", "The least number.", |_, arguments| {
        extreme("min", arguments, Ordering::Less)
    }),
    predicate!("numberp", "Whether it is a number.", Value::is_number),
    predicate!("realp", "Whether it is a real number.", Value::is_real),
    predicate!("integerp", "Whether it is an integer.", is_integer),
    predicate!("rationalp", "Whether it is an integer or a ratio.", |value| {
        is_integer(value) || value.as_ratio().is_some()
    }),
    predicate!("floatp", "Whether it is a float.", |value| {
        matches!(value, Value::Double(_) | Value::Single(_))
    }),
    native("zerop", "number", "Whether it is zero.", |_, arguments| {
        Ok(Value::boolean(numbers::is_zero(&arguments[0])?))
    }),
    native("plusp", "number", "Whether it is above zero.", |_, arguments| {
        Ok(Value::boolean(numbers::sign("plusp", &arguments[0])? > 0))
    }),
    native("minusp", "number", "Whether it is below zero.", |_, arguments| {
        Ok(Value::boolean(numbers::sign("minusp", &arguments[0])? < 0))
    }),
    native("evenp", "integer", "Whether it is even.", |_, arguments| {
        Ok(Value::boolean(!is_odd("evenp", &arguments[0])?))
    }),
    native("oddp", "integer", "Whether it is odd.", |_, arguments| {
        Ok(Value::boolean(is_odd("oddp", &arguments[0])?))
    }),
    division!("floor", "The quotient rounded down, and the remainder.", Floor),
    division!("ceiling", "The quotient rounded up, and the remainder.", Ceiling),
    division!("truncate", "The quotient rounded to zero, and the remainder.", Truncate),
    division!("round", "The nearest integer, halves to even, and the remainder.", Round),
    float_division!("ffloor", "As floor, the quotient as a float.", Floor),
    float_division!("fceiling", "As ceiling, the quotient as a float.", Ceiling),
    float_division!("ftruncate", "As truncate, the quotient as a float.", Truncate),
    float_division!("fround", "As round, the quotient as a float.", Round),
    native("mod", "number divisor", "The remainder of floor.", |_, arguments| {
        Ok(division::divide("mod", Rounding::Floor, &arguments[0], &arguments[1])?.1)
    }),
    native("rem", "number divisor", "The remainder of truncate.", |_, arguments| {
        Ok(division::divide("rem", Rounding::Truncate, &arguments[0], &arguments[1])?.1)
    }),
    native("numerator", "rational", "The numerator in lowest terms.", |_, arguments| {
        Ok(Value::integer(fraction("numerator", &arguments[0])?.0))
    }),
    native("denominator", "rational", "The denominator in lowest terms.", |_, arguments| {
        Ok(Value::integer(fraction("denominator", &arguments[0])?.1))
    }),
    native("rational", "number", "The rational that the number is.", |_, arguments| {
        let real = numbers::real("rational", &arguments[0])?;
        match real.rational() {
            Some((n, d)) => Ok(numbers::ratio(n, d)),
            None => Err(not_finite("rational", &arguments[0])),
        }
    }),
    native("rationalize", "number", "The simplest rational that reads back.", |_, arguments| {
        let simplest = match numbers::real("rationalize", &arguments[0])? {
            Real::Double(x) => division::simplest(x, exact::DOUBLE),
            Real::Single(x) => division::simplest(f64::from(x), exact::SINGLE),
            _ => Some(arguments[0].clone()),
        };
        simplest.ok_or_else(|| not_finite("rationalize", &arguments[0]))
    }),
];

/// Whether it is an integer of any size.
pub(crate) fn is_integer(value: &Value) -> bool {
    value.as_fixnum().is_some() || value.as_bignum().is_some()
}

fn not_finite(operator: &str, value: &Value) -> Escape {
    Escape::unexpected(operator, "a finite number", Value::symbol(symbol::REAL), value)
}

pub(super) fn number<'a>(operator: &str, value: &'a Value) -> Outcome<&'a Value> {
    if value.is_number() {
        Ok(value)
    } else {
        Err(Escape::wrong_type(operator, symbol::NUMBER, value))
    }
}

fn fold(
    operator: &str,
    arguments: &[Value],
    unit: Value,
    combine: fn(&Value, &Value) -> Outcome,
) -> Outcome {
    match arguments {
        [] => Ok(unit),
        [only] => number(operator, only).cloned(),
        [first, rest @ ..] => rest.iter().try_fold(first.clone(), |a, b| combine(&a, b)),
    }
}

fn compare_all(operator: &str, arguments: &[Value], holds: fn(Ordering) -> bool) -> Outcome {
    numbers::real(operator, &arguments[0])?;
    let mut all = true;
    for pair in arguments.windows(2) {
        all &= numbers::compare(operator, &pair[0], &pair[1])?.is_some_and(holds);
    }
    Ok(Value::boolean(all))
}

fn all_different(arguments: &[Value]) -> Outcome {
    for argument in arguments {
        number("/=", argument)?;
    }
    for (at, a) in arguments.iter().enumerate() {
        for b in &arguments[at + 1..] {
            if numbers::same("/=", a, b)? {
                return Ok(Value::Nil);
            }
        }
    }
    Ok(Value::boolean(true))
}

/// The first of the most extreme arguments; NaN wins, as it does in `la:amax`.
fn extreme(operator: &str, arguments: &[Value], better: Ordering) -> Outcome {
    let mut best = &arguments[0];
    numbers::real(operator, best)?;
    for candidate in &arguments[1..] {
        match numbers::compare(operator, candidate, best)? {
            Some(order) if order == better => best = candidate,
            None if numbers::compare(operator, candidate, candidate)?.is_none() => best = candidate,
            _ => {}
        }
    }
    Ok(best.clone())
}

fn is_odd(operator: &str, value: &Value) -> Outcome<bool> {
    match value {
        Value::Fixnum(n) => Ok(n & 1 == 1),
        _ => Ok(numbers::integer(operator, value)?.bit(0)),
    }
}

fn fraction(operator: &str, value: &Value) -> Outcome<(num_bigint::BigInt, num_bigint::BigInt)> {
    match numbers::real(operator, value)? {
        real @ (Real::Integer(_) | Real::Ratio(_)) => Ok(real.rational().unwrap_or_default()),
        _ => Err(Escape::wrong_type(operator, symbol::RATIONAL, value)),
    }
}

/// `ffloor` and its kin: a float quotient, minus zero kept where the divisor is 1.
fn float_division(
    lisp: &mut Lisp,
    operator: &str,
    rounding: Rounding,
    arguments: &[Value],
) -> Outcome {
    let one = Value::Fixnum(1);
    let (number, divisor) = (&arguments[0], arguments.get(1).unwrap_or(&one));
    let (quotient, rest) = match (number, divisor) {
        (Value::Double(x), Value::Fixnum(1)) => {
            let whole = division::whole_float(rounding, *x);
            (Value::Double(whole), Value::Double(if x.is_infinite() { 0.0 } else { x - whole }))
        }
        (Value::Single(x), Value::Fixnum(1)) => {
            let whole = division::whole_float(rounding, f64::from(*x)) as f32;
            (Value::Single(whole), Value::Single(if x.is_infinite() { 0.0 } else { x - whole }))
        }
        _ => {
            let (quotient, rest) = division::divide(operator, rounding, number, divisor)?;
            let like = [number, divisor].into_iter().find(|v| matches!(v, Value::Double(_)));
            let like =
                like.or([number, divisor].into_iter().find(|v| matches!(v, Value::Single(_))));
            (super::numbers_float::to_float(lisp, "float", &quotient, like)?, rest)
        }
    };
    Ok(lisp.values(vec![quotient, rest]))
}
