//! Exact folds: on general arrays whose elements are all rational, a fold over everything uses
//! the language's own arithmetic, and integers of any size and ratios stay exact (spec linalg
//! 1.2). Which operations those are is said by their records.

use rung_lisp::object::Object;
use rung_lisp::{Outcome, Value, numbers};
use rung_ops::record::RationalFold;
use std::cmp::Ordering;

/// The exact result; `None` where an argument is anything but a general array of rationals, or
/// there is nothing to fold: then the arrays' own rules hold.
pub fn fold(name: &str, fold: RationalFold, arguments: &[Value]) -> Outcome<Option<Value>> {
    let arrays: Option<Vec<Rationals>> = arguments.iter().map(Rationals::of).collect();
    let Some(arrays) = arrays else { return Ok(None) };
    match (fold, arrays.as_slice()) {
        (RationalFold::Dot, [a, b]) => dot(a, b),
        (RationalFold::Dot, _) => Ok(None),
        (RationalFold::Trace, [m]) => trace(m),
        (_, [a]) => whole(name, fold, &a.elements).map(Some),
        _ => Ok(None),
    }
}

/// A general array that holds rational numbers alone, and at least one.
struct Rationals {
    dimensions: Vec<usize>,
    elements: Vec<Value>,
}

impl Rationals {
    fn of(value: &Value) -> Option<Rationals> {
        let Some(Object::Array(array)) = value.as_object() else { return None };
        let elements = array.active();
        let dimensions = match array.rank() {
            1 => vec![elements.len()],
            _ => array.dimensions.borrow().clone(),
        };
        let rational = !elements.is_empty() && elements.iter().all(is_rational);
        rational.then_some(Rationals { dimensions, elements })
    }
}

fn is_rational(value: &Value) -> bool {
    let object = value.as_object();
    matches!(value, Value::Fixnum(_))
        || matches!(object, Some(Object::Bignum(_) | Object::Ratio(_)))
}

fn sum<'a>(elements: impl Iterator<Item = &'a Value>) -> Outcome {
    let mut total = Value::Fixnum(0);
    for element in elements {
        total = numbers::add(&total, element)?;
    }
    Ok(total)
}

fn whole(name: &str, fold: RationalFold, elements: &[Value]) -> Outcome {
    let first = |wins: Ordering| -> Outcome<usize> {
        let mut best = 0;
        for (at, element) in elements.iter().enumerate() {
            if numbers::compare(name, element, &elements[best])? == Some(wins) {
                best = at;
            }
        }
        Ok(best)
    };
    match fold {
        RationalFold::Mean => {
            numbers::divide(&sum(elements.iter())?, &Value::Fixnum(elements.len() as i64))
        }
        RationalFold::Product => {
            let mut product = Value::Fixnum(1);
            for element in elements {
                product = numbers::multiply(&product, element)?;
            }
            Ok(product)
        }
        RationalFold::Largest => Ok(elements[first(Ordering::Greater)?].clone()),
        RationalFold::Smallest => Ok(elements[first(Ordering::Less)?].clone()),
        RationalFold::FirstLargest => Ok(Value::Fixnum(first(Ordering::Greater)? as i64)),
        RationalFold::FirstSmallest => Ok(Value::Fixnum(first(Ordering::Less)? as i64)),
        RationalFold::Sum | RationalFold::Trace | RationalFold::Dot => sum(elements.iter()),
    }
}

/// Of a matrix; anything else is the operation's own affair.
fn trace(m: &Rationals) -> Outcome<Option<Value>> {
    let [rows, columns] = m.dimensions[..] else { return Ok(None) };
    let diagonal = (0..rows.min(columns)).map(|i| &m.elements[i * columns + i]);
    sum(diagonal).map(Some)
}

/// Of two vectors of one length; anything else is the operation's own affair.
fn dot(a: &Rationals, b: &Rationals) -> Outcome<Option<Value>> {
    let vectors = a.dimensions.len() == 1 && a.dimensions == b.dimensions;
    if !vectors {
        return Ok(None);
    }
    let mut total = Value::Fixnum(0);
    for (x, y) in a.elements.iter().zip(&b.elements) {
        total = numbers::add(&total, &numbers::multiply(x, y)?)?;
    }
    Ok(Some(total))
}
