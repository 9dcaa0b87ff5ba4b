//! The types of complex numbers: `complex`, `(complex single-float)`, `(complex double-float)`
//! and `(complex rational)`, which are all there are: any other type of the parts is taken as the
//! least of these that holds it (`upgraded-complex-part-type`).

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::numbers::{Complex, Real, complex};
use crate::symbol::{self, Symbol};
use crate::value::{Value, list};

use super::types::{is_below, is_star};

/// The type that a complex number's parts are stored as.
fn part_type(z: &Complex) -> Symbol {
    match z.real {
        Value::Double(_) => symbol::DOUBLE_FLOAT,
        Value::Single(_) => symbol::SINGLE_FLOAT,
        _ => symbol::RATIONAL,
    }
}

/// `(complex double-float)` and its like.
pub(super) fn type_of(z: &Complex) -> Value {
    list([Value::symbol(symbol::COMPLEX), Value::symbol(part_type(z))])
}

/// Whether a specifier is `(complex ...)`.
pub(super) fn is_complex(specifier: &Value) -> bool {
    specifier.as_cons().is_some_and(|pair| pair.car().is_symbol(symbol::COMPLEX))
}

/// The stored type of the parts that `(complex part)` names; none for any.
fn upgraded(lisp: &Lisp, part: Option<&Value>) -> Option<Symbol> {
    let part = part.filter(|part| !is_star(part))?;
    let head = part.as_cons().map_or(part.clone(), |pair| pair.car()).as_symbol()?;
    let kinds = [symbol::RATIONAL, symbol::SINGLE_FLOAT, symbol::DOUBLE_FLOAT];
    match head {
        symbol::SHORT_FLOAT => Some(symbol::SINGLE_FLOAT),
        symbol::LONG_FLOAT => Some(symbol::DOUBLE_FLOAT),
        _ => kinds.into_iter().find(|kind| is_below(lisp, head, *kind)),
    }
}

/// Whether a value is of `(complex part)`.
pub(super) fn is_of(lisp: &Lisp, value: &Value, part: Option<&Value>) -> Outcome<bool> {
    let Some(z) = value.as_complex() else { return Ok(false) };
    Ok(upgraded(lisp, part).is_none_or(|wanted| wanted == part_type(z)))
}

/// Whether `(complex part)` is part of another type; none where that is not known.
pub(super) fn is_below_type(lisp: &Lisp, type_: &Value, other: &Value) -> Option<bool> {
    if let Some(name) = other.as_symbol() {
        return Some(is_below(lisp, symbol::COMPLEX, name));
    }
    if !is_complex(other) {
        return None;
    }
    let part = |specifier: &Value| upgraded(lisp, specifier.elements().nth(1).as_ref());
    Some(part(other).is_none_or(|wanted| part(type_) == Some(wanted)))
}

/// `(coerce value '(complex part))`: a rational stays one where the standard's rule makes it so.
pub(super) fn coerce(lisp: &Lisp, value: &Value, specifier: &Value) -> Outcome {
    if !value.is_number() {
        return Err(Escape::wrong_type("coerce", symbol::NUMBER, value));
    }
    let part = specifier.as_cons().and_then(|_| specifier.elements().nth(1));
    let convert = |number: &Value| match (upgraded(lisp, part.as_ref()), Real::of(number)) {
        (Some(symbol::SINGLE_FLOAT), Some(x)) => Ok(Value::Single(x.to_single())),
        (Some(symbol::DOUBLE_FLOAT), Some(x)) => Ok(Value::Double(x.to_double())),
        (Some(symbol::RATIONAL), Some(Real::Single(_) | Real::Double(_))) => {
            Err(Escape::wrong_type("coerce", symbol::RATIONAL, number))
        }
        _ => Ok(number.clone()),
    };
    match value.as_complex() {
        Some(z) => Ok(complex(convert(&z.real)?, convert(&z.imaginary)?)),
        None => Ok(complex(convert(value)?, Value::Fixnum(0))),
    }
}
