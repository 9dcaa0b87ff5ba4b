//! Chapter 12 of the standard: conversion to floats, and the parts that a float is made of.
//! The elementary functions are in `numbers_elementary`.

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::numbers::{self, exact};
use crate::reader_token::FloatFormat;
use crate::symbol;
use crate::value::Value;

/// Chapter 12 of the standard, what concerns floats.
pub static NUMBERS: &[Native] = &[
    native("float", "number &optional prototype", "The number as a float.", |lisp, arguments| {
        if let Some(prototype) = arguments.get(1) {
            float("float", prototype)?;
        }
        to_float(lisp, "float", &arguments[0], arguments.get(1))
    }),
    native("decode-float", "float", "Significand, exponent and sign.", decode_float),
    native(
        "integer-decode-float",
        "float",
        "Significand as an integer, exponent and sign.",
        integer_decode_float,
    ),
    native("scale-float", "float integer", "The float times 2 to that power.", scale_float),
    native("float-radix", "float", "2.", |_, arguments| {
        float("float-radix", &arguments[0]).map(|_| Value::Fixnum(2))
    }),
    native("float-digits", "float", "Bits of the significand: 53 or 24.", |_, arguments| {
        let (_, format) = float("float-digits", &arguments[0])?;
        Ok(Value::Fixnum(format.precision as i64))
    }),
    native("float-precision", "float", "Bits of the significand in use.", |_, arguments| {
        let (x, format) = float("float-precision", &arguments[0])?;
        let Some((_, mantissa, exponent)) = exact::decode(x) else { return Ok(Value::Fixnum(0)) };
        let bits = 64 - i64::from(mantissa.leading_zeros());
        let available = (bits + exponent - format.lowest).max(0);
        let precision = available.min(format.precision as i64);
        Ok(Value::Fixnum(if mantissa == 0 { 0 } else { precision }))
    }),
    native("float-sign", "float1 &optional float2", "float2 with the sign of float1.", |_, a| {
        let (sign, _) = float("float-sign", &a[0])?;
        let magnitude = a.get(1).unwrap_or(&a[0]);
        Ok(match magnitude {
            Value::Double(x) if a.len() > 1 => Value::Double(x.abs().copysign(sign)),
            Value::Single(x) if a.len() > 1 => Value::Single(x.abs().copysign(sign as f32)),
            Value::Double(_) => Value::Double(1f64.copysign(sign)),
            Value::Single(_) => Value::Single(1f32.copysign(sign as f32)),
            other => return Err(Escape::wrong_type("float-sign", symbol::FLOAT, other)),
        })
    }),
];

/// Name with `*` for the type, value as a double and as a single.
const CONSTANTS: [(&str, f64, f32); 11] = [
    ("most-positive-*-float", f64::MAX, f32::MAX),
    ("most-negative-*-float", f64::MIN, f32::MIN),
    ("least-positive-*-float", f64::from_bits(1), f32::from_bits(1)),
    ("least-negative-*-float", -f64::from_bits(1), -f32::from_bits(1)),
    ("least-positive-normalized-*-float", f64::MIN_POSITIVE, f32::MIN_POSITIVE),
    ("least-negative-normalized-*-float", -f64::MIN_POSITIVE, -f32::MIN_POSITIVE),
    // The least x for which 1 + x, or 1 - x, is not 1: just above half a last place.
    ("*-float-epsilon", (f64::EPSILON / 2.0).next_up(), (f32::EPSILON / 2.0).next_up()),
    ("*-float-negative-epsilon", (f64::EPSILON / 4.0).next_up(), (f32::EPSILON / 4.0).next_up()),
    ("rung:*-inf", f64::INFINITY, f32::INFINITY),
    ("rung:*-neg-inf", f64::NEG_INFINITY, f32::NEG_INFINITY),
    ("rung:*-nan", f64::NAN, f32::NAN),
];

/// The constants of chapter 12 that are floats, and the infinities and NaNs by name; `short-` is
/// single and `long-` is double.
pub(crate) fn constants() -> Vec<(String, Value)> {
    let mut constants = vec![("pi".to_string(), Value::Double(std::f64::consts::PI))];
    for (name, double, single) in CONSTANTS {
        let kinds = [
            ("double", Value::Double(double)),
            ("single", Value::Single(single)),
            ("long", Value::Double(double)),
            ("short", Value::Single(single)),
        ];
        let count = if name.starts_with("rung:") { 2 } else { 4 };
        let named = kinds.into_iter().take(count);
        constants.extend(named.map(|(kind, value)| (name.replace('*', kind), value)));
    }
    constants
}

/// A float and its format.
fn float(operator: &str, value: &Value) -> Outcome<(f64, exact::Format)> {
    match value {
        Value::Double(x) => Ok((*x, exact::DOUBLE)),
        Value::Single(x) => Ok((f64::from(*x), exact::SINGLE)),
        _ => Err(Escape::wrong_type(operator, symbol::FLOAT, value)),
    }
}

/// A real number as a float: of the type of `like` if given; else a float stays as it is and a
/// rational gets the type that `*read-default-float-format*` names.
pub(crate) fn to_float(
    lisp: &Lisp,
    operator: &str,
    value: &Value,
    like: Option<&Value>,
) -> Outcome {
    let real = numbers::real(operator, value)?;
    let single = match (like, value) {
        (Some(Value::Single(_)), _) => true,
        (Some(_), _) => false,
        (None, Value::Single(_)) => true,
        (None, Value::Double(_)) => false,
        (None, _) => FloatFormat::current(lisp) == FloatFormat::Single,
    };
    Ok(if single { Value::Single(real.to_single()) } else { Value::Double(real.to_double()) })
}

fn finite_parts(operator: &str, value: &Value) -> Outcome<(bool, u64, i64, exact::Format)> {
    let (x, format) = float(operator, value)?;
    let (negative, mantissa, exponent) = exact::decode(x).ok_or_else(|| {
        Escape::unexpected(operator, "a finite float", Value::symbol(symbol::FLOAT), value)
    })?;
    // A significand of the format's own width (a single sits in the upper bits of a double).
    let spare = 53 - format.precision as i64;
    let shift = spare.min(i64::from(mantissa.trailing_zeros()));
    Ok((negative, mantissa >> shift, exponent + shift, format))
}

fn decode_float(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let (negative, mantissa, exponent, format) = finite_parts("decode-float", &arguments[0])?;
    let bits = 64 - i64::from(mantissa.leading_zeros());
    let (significand, exponent) =
        if mantissa == 0 { (0.0, 0) } else { (exact::scale(mantissa, -bits), exponent + bits) };
    let sign = if negative { -1.0 } else { 1.0 };
    let parts = vec![format.value(significand), Value::Fixnum(exponent), format.value(sign)];
    Ok(lisp.values(parts))
}

fn integer_decode_float(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let (negative, mantissa, exponent, format) =
        finite_parts("integer-decode-float", &arguments[0])?;
    // Normal numbers show all bits of their significand.
    let bits = 64 - i64::from(mantissa.leading_zeros());
    let room = (format.precision as i64 - bits).min(exponent - format.lowest).max(0);
    let (mantissa, exponent) =
        if mantissa == 0 { (0, 0) } else { (mantissa << room, exponent - room) };
    let sign = if negative { -1 } else { 1 };
    let parts = vec![Value::Fixnum(mantissa as i64), Value::Fixnum(exponent), Value::Fixnum(sign)];
    Ok(lisp.values(parts))
}

fn scale_float(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    let (x, format) = float("scale-float", &arguments[0])?;
    let by = numbers::integer("scale-float", &arguments[1])?;
    let Some((n, d)) = exact::rational(x) else { return Ok(arguments[0].clone()) };
    let by = by.to_i64().unwrap_or(i64::MAX).clamp(-5000, 5000);
    let (n, d): (BigInt, BigInt) =
        if by >= 0 { (n << by as u64, d) } else { (n, d << (-by) as u64) };
    if x == 0.0 {
        return Ok(arguments[0].clone());
    }
    Ok(format.value(exact::round(&n, &d, format)))
}
