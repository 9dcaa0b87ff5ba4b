//! Chapter 12 of the standard: the elementary functions, powers and roots, and what concerns
//! complex numbers.
//!
//! A real number gives the bits of the definition in `rung_math` at its own width; a rational is
//! first made a float of `*read-default-float-format*`. Outside a function's real domain, and for
//! complex numbers, the definitions in `numbers::complex_functions` are computed in double and
//! rounded once to the number's own width.

use rung_math::{Binary, Unary};

use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::numbers::complex_functions::{self, Pair};
use crate::numbers::{self, Real, complex, exact, power};
use crate::reader_token::FloatFormat;
use crate::value::Value;

use super::numbers::{is_integer, number};
use super::numbers_float::to_float;

/// Name, documentation, definition for real numbers and for complex ones; then where a real
/// number is outside the domain, and the sign of the zero that is its imaginary part there, which
/// says on which side of the cut it lies.
macro_rules! elementary {
    ($name:literal, $text:literal, $real:ident, $complex:ident) => {
        elementary!($name, $text, $real, $complex, |_| false, |_| 1.0)
    };
    ($name:literal, $text:literal, $real:ident, $complex:ident, $outside:expr, $side:expr) => {
        native($name, "number", $text, |lisp, arguments| {
            let outside: fn(f64) -> bool = $outside;
            let side: fn(f64) -> f64 = $side;
            let argument = &arguments[0];
            if number($name, argument)?.as_complex().is_some() {
                return Ok(lifted(lisp, argument, complex_functions::$complex));
            }
            let float = to_float(lisp, $name, argument, None)?;
            match (&float, numbers::to_double(&float)) {
                (_, Some(x)) if outside(x) => {
                    let at = (x, 0f64.copysign(side(x)));
                    let (x, y) = complex_functions::$complex(at);
                    let format = power::float_format(&[&float], exact::DOUBLE);
                    Ok(complex(format.value(x), format.value(y)))
                }
                (Value::Single(x), _) => Ok(Value::Single(rung_math::$real::at(*x))),
                (_, Some(x)) => Ok(Value::Double(rung_math::$real::at(x))),
                _ => Ok(float),
            }
        })
    };
}

/// Chapter 12 of the standard, the elementary functions and complex numbers.
pub static NUMBERS: &[Native] = &[
    elementary!("exp", "e to the power of the number.", Exp, exp),
    elementary!("sin", "The sine of an angle in radians.", Sin, sin),
    elementary!("cos", "The cosine of an angle in radians.", Cos, cos),
    elementary!("tan", "The tangent of an angle in radians.", Tan, tan),
    elementary!("sinh", "The hyperbolic sine.", Sinh, sinh),
    elementary!("cosh", "The hyperbolic cosine.", Cosh, cosh),
    elementary!("tanh", "The hyperbolic tangent.", Tanh, tanh),
    elementary!("asin", "The arc sine.", Asin, asin, |x| x.abs() > 1.0, |x| -x),
    elementary!("acos", "The arc cosine.", Acos, acos, |x| x.abs() > 1.0, |x| -x),
    elementary!("asinh", "The hyperbolic arc sine.", Asinh, asinh),
    elementary!("acosh", "The hyperbolic arc cosine.", Acosh, acosh, |x| x < 1.0, |_| 1.0),
    elementary!("atanh", "The hyperbolic arc tangent.", Atanh, atanh, |x| x.abs() > 1.0, |x| x),
    native("atan", "number &optional x", "The arc tangent, or the angle of (x, number).", atan),
    native("sqrt", "number", "The square root.", sqrt),
    native("log", "number &optional base", "The logarithm, natural without a base.", log),
    native("expt", "base exponent", "The base to the power of the exponent.", |lisp, arguments| {
        power::expt(&arguments[0], &arguments[1], default_format(lisp))
    }),
    native("complex", "realpart &optional imagpart", "The complex number.", |_, arguments| {
        let zero = Value::Fixnum(0);
        let imaginary = arguments.get(1).unwrap_or(&zero);
        for part in [&arguments[0], imaginary] {
            numbers::real("complex", part)?;
        }
        Ok(complex(arguments[0].clone(), imaginary.clone()))
    }),
    native("complexp", "object", "Whether it is a complex number.", |_, arguments| {
        Ok(Value::boolean(arguments[0].as_complex().is_some()))
    }),
    native("realpart", "number", "The real part.", |_, arguments| {
        let argument = number("realpart", &arguments[0])?;
        Ok(argument.as_complex().map_or(argument, |z| &z.real).clone())
    }),
    native("imagpart", "number", "The imaginary part.", |_, arguments| {
        match number("imagpart", &arguments[0])?.as_complex() {
            Some(z) => Ok(z.imaginary.clone()),
            None => numbers::multiply(&Value::Fixnum(0), &arguments[0]),
        }
    }),
    native("conjugate", "number", "With the imaginary part negated.", |_, arguments| match number(
        "conjugate",
        &arguments[0],
    )?
    .as_complex()
    {
        Some(z) => Ok(complex(z.real.clone(), numbers::negate(&z.imaginary)?)),
        None => Ok(arguments[0].clone()),
    }),
    native("abs", "number", "The absolute value.", abs),
    native("signum", "number", "A number of length 0 or 1 in the same direction.", signum),
    native("phase", "number", "The angle from the positive real axis.", phase),
    native("cis", "radians", "cos + i sin of an angle.", |lisp, arguments| {
        let angle = to_float(lisp, "cis", &arguments[0], None)?;
        Ok(match angle {
            Value::Single(x) => {
                complex(Value::Single(rung_math::Cos::at(x)), Value::Single(rung_math::Sin::at(x)))
            }
            other => {
                let x = numbers::to_double(&other).unwrap_or(f64::NAN);
                complex(Value::Double(rung_math::Cos::at(x)), Value::Double(rung_math::Sin::at(x)))
            }
        })
    }),
];

/// The float type that functions of rationals give.
fn default_format(lisp: &Lisp) -> exact::Format {
    match FloatFormat::current(lisp) {
        FloatFormat::Single => exact::SINGLE,
        FloatFormat::Double => exact::DOUBLE,
    }
}

/// A function of a complex number, at the number's own width.
fn lifted(lisp: &Lisp, argument: &Value, function: fn(Pair) -> Pair) -> Value {
    let format = power::float_format(&[argument], default_format(lisp));
    let (x, y) = function(power::pair(argument));
    complex(format.value(x), format.value(y))
}

/// A length or an angle of a complex number, at its own width.
fn measured(lisp: &Lisp, argument: &Value, function: fn(Pair) -> f64) -> Value {
    let format = power::float_format(&[argument], default_format(lisp));
    format.value(function(power::pair(argument)))
}

fn abs(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    match number("abs", &arguments[0])? {
        Value::Double(x) => Ok(Value::Double(x.abs())),
        Value::Single(x) => Ok(Value::Single(x.abs())),
        z if z.as_complex().is_some() => Ok(measured(lisp, z, complex_functions::absolute)),
        other if numbers::sign("abs", other)? < 0 => numbers::negate(other),
        other => Ok(other.clone()),
    }
}

fn signum(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let argument = number("signum", &arguments[0])?;
    if argument.as_complex().is_some() {
        if numbers::is_zero(argument)? {
            return Ok(argument.clone());
        }
        return numbers::divide(argument, &measured(lisp, argument, complex_functions::absolute));
    }
    let sign = numbers::sign("signum", argument)?;
    Ok(match *argument {
        Value::Double(x) if x == 0.0 || x.is_nan() => Value::Double(x),
        Value::Single(x) if x == 0.0 || x.is_nan() => Value::Single(x),
        Value::Double(_) => Value::Double(f64::from(sign)),
        Value::Single(_) => Value::Single(sign as f32),
        _ => Value::Fixnum(i64::from(sign)),
    })
}

fn phase(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let argument = number("phase", &arguments[0])?;
    if argument.as_complex().is_some() {
        return Ok(measured(lisp, argument, complex_functions::phase));
    }
    let negative = numbers::sign("phase", argument)? < 0;
    if !negative && is_integer(argument) {
        return Ok(Value::Fixnum(0));
    }
    let pi = Value::Double(if negative { std::f64::consts::PI } else { 0.0 });
    let like = Some(argument).filter(|v| matches!(v, Value::Single(_) | Value::Double(_)));
    to_float(lisp, "phase", &pi, like)
}

fn atan(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let [y, x] = arguments else {
        if number("atan", &arguments[0])?.as_complex().is_some() {
            return Ok(lifted(lisp, &arguments[0], complex_functions::atan));
        }
        return Ok(match to_float(lisp, "atan", &arguments[0], None)? {
            Value::Single(x) => Value::Single(rung_math::Atan::at(x)),
            Value::Double(x) => Value::Double(rung_math::Atan::at(x)),
            other => other,
        });
    };
    let (a, b) = (numbers::real("atan", y)?, numbers::real("atan", x)?);
    Ok(match power::float_format(&[y, x], default_format(lisp)) {
        exact::SINGLE => Value::Single(rung_math::Atan2::at(a.to_single(), b.to_single())),
        _ => Value::Double(rung_math::Atan2::at(a.to_double(), b.to_double())),
    })
}

fn sqrt(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let argument = number("sqrt", &arguments[0])?;
    if argument.as_complex().is_some() {
        return Ok(lifted(lisp, argument, complex_functions::sqrt));
    }
    if numbers::sign("sqrt", argument)? < 0 {
        let root = real_root(lisp, &numbers::negate(argument)?)?;
        return Ok(complex(Value::Fixnum(0), root));
    }
    real_root(lisp, argument)
}

fn real_root(lisp: &Lisp, argument: &Value) -> Outcome {
    match to_float(lisp, "sqrt", argument, None)? {
        Value::Single(x) if x.is_finite() => Ok(Value::Single(rung_math::Sqrt::at(x))),
        Value::Double(x) if x.is_finite() => Ok(Value::Double(rung_math::Sqrt::at(x))),
        infinite => match Real::of(argument) {
            // Beyond the floats, though its root need not be.
            Some(Real::Integer(n)) => {
                to_float(lisp, "sqrt", &Value::integer(n.sqrt()), Some(&infinite))
            }
            _ => Ok(infinite),
        },
    }
}

fn log(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let argument = number("log", &arguments[0])?;
    let Some(base) = arguments.get(1) else {
        let format = power::float_format(&[argument], default_format(lisp));
        return natural_logarithm(argument, format);
    };
    number("log", base)?;
    if let Some(exact) = power::exact_logarithm(argument, base) {
        return to_float(lisp, "log", &Value::Fixnum(exact), None);
    }
    let format = power::float_format(&[argument, base], default_format(lisp));
    numbers::divide(&natural_logarithm(argument, format)?, &natural_logarithm(base, format)?)
}

fn natural_logarithm(argument: &Value, format: exact::Format) -> Outcome {
    if argument.as_complex().is_some() {
        let (x, y) = complex_functions::log(power::pair(argument));
        return Ok(complex(format.value(x), format.value(y)));
    }
    if numbers::sign("log", argument)? < 0 {
        let real = positive_logarithm(&numbers::negate(argument)?, format)?;
        return Ok(complex(real, format.value(std::f64::consts::PI)));
    }
    positive_logarithm(argument, format)
}

fn positive_logarithm(argument: &Value, format: exact::Format) -> Outcome {
    let real = numbers::real("log", argument)?;
    let lost =
        |x: f64| (x == 0.0 || x.is_infinite()) && matches!(real, Real::Integer(_) | Real::Ratio(_));
    let x = if format == exact::SINGLE { real.to_single().into() } else { real.to_double() };
    Ok(match format {
        _ if lost(x) => {
            let logarithm = power::logarithm_of_rational(&real, format);
            format.value(logarithm.unwrap_or(f64::NEG_INFINITY))
        }
        exact::SINGLE => Value::Single(rung_math::Log::at(real.to_single())),
        _ => Value::Double(rung_math::Log::at(x)),
    })
}
