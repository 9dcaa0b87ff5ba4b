//! Complex numbers: the canonical form, arithmetic and equality.
//!
//! Both parts are rationals or both are floats of one type. A complex rational whose imaginary
//! part is zero is the rational, as the standard has it; a complex float never becomes real. Where
//! one operand is real, its missing imaginary part takes no part, so that infinities, NaN and the
//! sign of zero stay what they are. The elementary functions are in `complex_functions`.

use super::{Real, add, divide, equals, is_zero, multiply, negate, subtract};
use crate::condition::{Escape, Outcome};
use crate::object::Object;
use crate::symbol;
use crate::value::Value;

/// A complex number in canonical form.
#[derive(Clone)]
pub struct Complex {
    /// A rational or a float.
    pub real: Value,
    /// Of the same kind as the real part; as a rational not zero.
    pub imaginary: Value,
}

impl Complex {
    /// Whether both parts are the same numbers of the same types.
    pub fn eql(&self, other: &Complex) -> bool {
        self.real.eql(&other.real) && self.imaginary.eql(&other.imaginary)
    }
}

/// `real + imaginary i`, where both are real numbers: a rational where the imaginary part is the
/// rational zero.
pub fn complex(real: Value, imaginary: Value) -> Value {
    let (real, imaginary) = match (Real::of(&real), Real::of(&imaginary)) {
        (Some(x), Some(y)) => same_kind((real, x), (imaginary, y)),
        _ => (real, imaginary),
    };
    if imaginary.as_fixnum() == Some(0) {
        return real;
    }
    Value::object(Object::Complex(Complex { real, imaginary }))
}

/// Two real numbers by the rule of contagion: both rational, or floats of one type.
fn same_kind((real, x): (Value, Real), (imaginary, y): (Value, Real)) -> (Value, Value) {
    let any = |test: fn(&Real) -> bool| test(&x) || test(&y);
    if any(|part| matches!(part, Real::Double(_))) {
        (Value::Double(x.to_double()), Value::Double(y.to_double()))
    } else if any(|part| matches!(part, Real::Single(_))) {
        (Value::Single(x.to_single()), Value::Single(y.to_single()))
    } else {
        (real, imaginary)
    }
}

/// The parts of a number; none for what is no number. The imaginary part of a real number is
/// `None`.
fn parts(value: &Value) -> Option<(Value, Option<Value>)> {
    match value.as_complex() {
        Some(complex) => Some((complex.real.clone(), Some(complex.imaginary.clone()))),
        None => Real::of(value).map(|_| (value.clone(), None)),
    }
}

/// The parts of an argument, or a `type-error`.
fn number(operator: &str, value: &Value) -> Outcome<(Value, Option<Value>)> {
    parts(value).ok_or_else(|| Escape::wrong_type(operator, symbol::NUMBER, value))
}

/// `+`, `-`, `*` or `/` of two numbers of which at least one is complex.
pub(super) fn apply(operator: &str, a: &Value, b: &Value) -> Outcome {
    let (x, y) = (number(operator, a)?, number(operator, b)?);
    match operator {
        "+" => sum(x, y),
        "-" => difference(x, y),
        "*" => product(x, y),
        _ => quotient(x, y),
    }
}

type Parts = (Value, Option<Value>);

fn sum((a, b): Parts, (c, d): Parts) -> Outcome {
    let imaginary = match (b, d) {
        (Some(b), Some(d)) => add(&b, &d)?,
        (b, d) => b.or(d).unwrap_or(Value::Fixnum(0)),
    };
    Ok(complex(add(&a, &c)?, imaginary))
}

fn difference((a, b): Parts, (c, d): Parts) -> Outcome {
    let imaginary = match (b, d) {
        (Some(b), Some(d)) => subtract(&b, &d)?,
        (None, Some(d)) => negate(&d)?,
        (b, None) => b.unwrap_or(Value::Fixnum(0)),
    };
    Ok(complex(subtract(&a, &c)?, imaginary))
}

fn product((a, b): Parts, (c, d): Parts) -> Outcome {
    match (b, d) {
        (Some(b), Some(d)) => {
            let real = subtract(&multiply(&a, &c)?, &multiply(&b, &d)?)?;
            let imaginary = add(&multiply(&a, &d)?, &multiply(&b, &c)?)?;
            Ok(complex(real, imaginary))
        }
        (Some(b), None) => Ok(complex(multiply(&a, &c)?, multiply(&b, &c)?)),
        (_, d) => Ok(complex(multiply(&a, &c)?, multiply(&a, &d.unwrap_or_default())?)),
    }
}

fn quotient((a, b): Parts, (c, d): Parts) -> Outcome {
    let Some(d) = d else {
        let b = b.unwrap_or(Value::Fixnum(0));
        return Ok(complex(divide(&a, &c)?, divide(&b, &c)?));
    };
    let b = b.unwrap_or(Value::Fixnum(0));
    if Real::of(&c).is_some_and(|c| matches!(c, Real::Integer(_) | Real::Ratio(_))) {
        return quotient_by_norm(a, b, c, d);
    }
    // Smith (1962): dividing by the larger part first keeps the squares from overflowing.
    let swap = is_larger(&d, &c);
    let (p, q, r, s) = if swap { (&b, &a, &d, &c) } else { (&a, &b, &c, &d) };
    let ratio = divide(s, r)?;
    let below = add(r, &multiply(s, &ratio)?)?;
    let real = divide(&add(p, &multiply(q, &ratio)?)?, &below)?;
    let turned = multiply(p, &ratio)?;
    let imaginary = if swap { subtract(&turned, q)? } else { subtract(q, &turned)? };
    Ok(complex(real, divide(&imaginary, &below)?))
}

/// Of rationals, exactly: over the square of the divisor's absolute value.
fn quotient_by_norm(a: Value, b: Value, c: Value, d: Value) -> Outcome {
    let norm = add(&multiply(&c, &c)?, &multiply(&d, &d)?)?;
    let real = add(&multiply(&a, &c)?, &multiply(&b, &d)?)?;
    let imaginary = subtract(&multiply(&b, &c)?, &multiply(&a, &d)?)?;
    Ok(complex(divide(&real, &norm)?, divide(&imaginary, &norm)?))
}

fn is_larger(a: &Value, b: &Value) -> bool {
    let magnitude = |value| super::to_double(value).unwrap_or(0.0).abs();
    magnitude(a) > magnitude(b)
}

/// `(- z)`: both parts change sign, zeros too.
pub(super) fn negated(z: &Complex) -> Outcome {
    Ok(complex(negate(&z.real)?, negate(&z.imaginary)?))
}

/// Numeric `=` of two numbers; a real number has the imaginary part zero.
pub(super) fn equal(a: &Value, b: &Value) -> bool {
    let (Some((a, b)), Some((c, d))) = (parts(a), parts(b)) else { return false };
    let zero = Value::Fixnum(0);
    equals(&a, &c) && equals(b.as_ref().unwrap_or(&zero), d.as_ref().unwrap_or(&zero))
}

/// Whether both parts are zero: of floats only.
pub(super) fn zero(z: &Complex) -> Outcome<bool> {
    Ok(is_zero(&z.real)? && is_zero(&z.imaginary)?)
}
