//! `make-array` and `adjust-array`: shapes, contents, and how elements are stored.

use std::cell::{Cell, RefCell};

use rung_array::Array;
use rung_base::Shape;

use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::native::keywords;
use crate::object::{GeneralArray, Object, Text};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value};

use super::arrays::{
    Stored, dimensions, packed_array, row_major_get, stored, unravel, value_number, wrong_rank,
};
use super::memory::{copies, no_room, room};
use super::sequence_parts::{elements, list_elements};

/// The dimensions that `make-array` is given: a number or a list of numbers.
fn given_dimensions(operator: &str, value: &Value) -> Outcome<Vec<usize>> {
    let parts = match value {
        Value::Nil | Value::Cons(_) => list_elements(operator, value)?,
        _ => vec![value.clone()],
    };
    let mut dimensions = Vec::new();
    for part in parts {
        let wanted = "a size or a list of sizes";
        let unsigned = Value::symbol(symbol::UNSIGNED_BYTE);
        let wrong = || Escape::unexpected(operator, wanted, unsigned, &part);
        dimensions.push(part.as_index().ok_or_else(wrong)?);
    }
    if dimensions.len() > 64 {
        return Err(Escape::program(format!("{operator}: an array has at most 64 axes")));
    }
    let size = dimensions.iter().try_fold(1usize, |size, n| size.checked_mul(*n));
    if size.is_none_or(|size| size > 1 << 62) {
        return Err(no_room(operator, None));
    }
    Ok(dimensions)
}

/// Nested sequences as elements in row-major order.
fn contents(value: &Value, dimensions: &[usize], into: &mut Vec<Value>) -> Outcome<()> {
    let Some((length, inner)) = dimensions.split_first() else {
        into.push(value.clone());
        return Ok(());
    };
    let all = elements("make-array", value)?;
    if all.len() != *length {
        let text = format!(
            "make-array: the contents have {} elements where the shape has {length}",
            all.len()
        );
        return Err(Escape::of(symbol::SHAPE_ERROR, text));
    }
    for element in &all {
        contents(element, inner, into)?;
    }
    Ok(())
}

const MAKE: [Symbol; 5] = [
    symbol::KEY_ELEMENT_TYPE,
    symbol::KEY_INITIAL_ELEMENT,
    symbol::KEY_INITIAL_CONTENTS,
    symbol::KEY_ADJUSTABLE,
    symbol::KEY_FILL_POINTER,
];

/// `make-array`.
pub(super) fn make_array(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let [element_type, initial, given, adjustable, fill] = keywords(lisp, &a[1..], MAKE)?;
    let dimensions = given_dimensions("make-array", &a[0])?;
    let size = dimensions.iter().product::<usize>();
    let mut stored = match &element_type {
        Some(specifier) => stored(lisp, specifier)?,
        None => Stored::General,
    };
    let adjustable = adjustable.is_some_and(|value| value.truth());
    let fill = match fill {
        None | Some(Value::Nil) => None,
        Some(Value::Symbol(symbol::T)) => Some(size),
        Some(value) => {
            let wrong = || Escape::wrong_type("make-array", symbol::UNSIGNED_BYTE, &value);
            Some(value.as_index().filter(|n| *n <= size).ok_or_else(wrong)?)
        }
    };
    if (fill.is_some() || dimensions.len() != 1)
        && (stored == Stored::Characters && dimensions.len() != 1)
        || (fill.is_some() && matches!(stored, Stored::Packed(_)))
    {
        // Strings have one axis, and packed storage does not grow.
        stored = Stored::General;
    }
    let all = match given {
        Some(given) => {
            let mut all = Vec::new();
            contents(&given, &dimensions, &mut all)?;
            Some(all)
        }
        None => None,
    };
    match stored {
        Stored::Packed(element_type) => {
            let shape = Shape::new(dimensions.iter().copied())?;
            match (all, initial) {
                (Some(all), _) => packed_array(element_type, shape, &all),
                (None, Some(value)) => {
                    let number = value_number("make-array", &value, element_type)?;
                    Ok(Value::packed(Array::full(element_type, shape, number)?))
                }
                (None, None) => Ok(Value::packed(Array::zeros(element_type, shape)?)),
            }
        }
        Stored::Characters => {
            let all = match all {
                Some(all) => all,
                None => {
                    room("make-array", size, size_of::<Value>() + size_of::<char>())?;
                    vec![initial.unwrap_or(Value::Char(' ')); size]
                }
            };
            make_string(&all, fill, adjustable)
        }
        Stored::General => {
            let default = if element_type.is_some_and(|t| is_number_type(&t)) {
                Value::Fixnum(0)
            } else {
                NIL
            };
            let elements = match all {
                Some(all) => all,
                None => copies("make-array", initial.unwrap_or(default), size)?,
            };
            Ok(Value::object(Object::Array(GeneralArray {
                dimensions: RefCell::new(dimensions),
                elements: RefCell::new(elements),
                fill_pointer: Cell::new(fill),
                adjustable,
            })))
        }
    }
}

fn is_number_type(specifier: &Value) -> bool {
    let head = specifier.as_cons().map(|pair| pair.car()).unwrap_or_else(|| specifier.clone());
    let numeric = [
        symbol::INTEGER,
        symbol::UNSIGNED_BYTE,
        symbol::SIGNED_BYTE,
        symbol::NUMBER,
        symbol::REAL,
        symbol::RATIONAL,
        symbol::DOUBLE_FLOAT,
        symbol::SINGLE_FLOAT,
        symbol::FIXNUM,
        symbol::BIT,
    ];
    numeric.iter().any(|name| head.is_symbol(*name))
}

fn make_string(all: &[Value], fill: Option<usize>, adjustable: bool) -> Outcome {
    let mut characters = Vec::with_capacity(all.len());
    for element in all {
        let Value::Char(c) = element else {
            return Err(Escape::wrong_type("make-array", symbol::CHARACTER, element));
        };
        characters.push(*c);
    }
    let text = Text::from(characters);
    text.fill_pointer.set(fill);
    text.adjustable.set(adjustable);
    Ok(Value::String(Ref::new(text)))
}

/// `adjust-array`.
pub(super) fn adjust_array(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let [_, initial, given, _, fill] = keywords(lisp, &a[2..], MAKE)?;
    let (old, new) = (dimensions("adjust-array", &a[0])?, given_dimensions("adjust-array", &a[1])?);
    if old.len() != new.len() {
        return Err(wrong_rank(new.len(), old.len()));
    }
    let size = new.iter().product::<usize>();
    let mut all = copies("adjust-array", initial.unwrap_or_default(), size)?;
    if let Some(given) = given {
        all.clear();
        contents(&given, &new, &mut all)?;
    } else {
        for (at, slot) in all.iter_mut().enumerate() {
            let index = unravel(&new, at);
            if index.iter().zip(&old).all(|(i, length)| (*i as usize) < *length) {
                let from = index.iter().zip(&old).fold(0, |at, (i, n)| at * n + *i as usize);
                *slot = row_major_get(&a[0], from)?;
            }
        }
    }
    if let Some(array) = a[0].as_array().filter(|array| array.adjustable) {
        *array.elements.borrow_mut() = all;
        *array.dimensions.borrow_mut() = new;
        if let Some(fill) = fill.and_then(|value| value.as_index()) {
            array.fill_pointer.set(Some(fill));
        }
        return Ok(a[0].clone());
    }
    if let Value::String(_) = &a[0] {
        return make_string(&all, None, false);
    }
    match a[0].as_packed() {
        Some(packed) => packed_array(packed.element_type(), Shape::new(new.iter().copied())?, &all),
        None => Ok(Value::object(Object::Array(GeneralArray::new(new, all)))),
    }
}
