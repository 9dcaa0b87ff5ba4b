//! `make-array` and `adjust-array`: shapes, contents, and how elements are stored.

use rung_array::Array;
use rung_base::{ElementType, Shape};

use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::native::keywords;
use crate::object::{GeneralArray, Object, Text};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value};

use super::arrays::{
    Stored, dimensions, outside, packed_array, row_major_get, stored, stored_in, unravel,
    value_number, wrong_rank,
};
use super::displaced::Displacement;
use super::fill_pointers::fill_pointer_of;
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

const MAKE: [Symbol; 7] = [
    symbol::KEY_ELEMENT_TYPE,
    symbol::KEY_INITIAL_ELEMENT,
    symbol::KEY_INITIAL_CONTENTS,
    symbol::KEY_ADJUSTABLE,
    symbol::KEY_FILL_POINTER,
    symbol::KEY_DISPLACED_TO,
    symbol::KEY_DISPLACED_INDEX_OFFSET,
];

/// The fill pointer that a keyword asks for: a number, or t for all elements.
fn fill_pointer(operator: &str, given: Option<Value>, size: usize) -> Outcome<Option<usize>> {
    match given {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Symbol(symbol::T)) => Ok(Some(size)),
        Some(value) => {
            let wrong = || Escape::wrong_type(operator, symbol::UNSIGNED_BYTE, &value);
            value.as_index().filter(|n| *n <= size).ok_or_else(wrong).map(Some)
        }
    }
}

/// What `:displaced-to` and `:displaced-index-offset` ask for.
fn displacement<'a>(
    operator: &'a str,
    dimensions: &[usize],
    target: &'a Option<Value>,
    offset: &Option<Value>,
) -> Outcome<Option<Displacement<'a>>> {
    let Some(target) = target.as_ref().filter(|target| target.truth()) else { return Ok(None) };
    let offset = match offset {
        None => 0,
        Some(value) => {
            let wrong = || Escape::wrong_type(operator, symbol::UNSIGNED_BYTE, value);
            value.as_index().ok_or_else(wrong)?
        }
    };
    Ok(Some(Displacement { operator, dimensions: dimensions.to_vec(), target, offset }))
}

/// `make-array`.
pub(super) fn make_array(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let given = keywords(lisp, &a[1..], MAKE)?;
    let [element_type, initial, contents_given, adjustable, fill, target, offset] = given;
    let dimensions = given_dimensions("make-array", &a[0])?;
    let size = dimensions.iter().product::<usize>();
    let adjustable = adjustable.is_some_and(|value| value.truth());
    let fill = fill_pointer("make-array", fill, size)?;
    let wanted = match &element_type {
        Some(specifier) => Some(stored(lisp, specifier)?),
        None => None,
    };
    if let Some(shown) = displacement("make-array", &dimensions, &target, &offset)? {
        shown.check(wanted.filter(|wanted| *wanted != Stored::General))?;
        return shown.make(fill, adjustable);
    }
    let mut stored = wanted.unwrap_or(Stored::General);
    if (stored == Stored::Characters && dimensions.len() != 1)
        || (fill.is_some() && matches!(stored, Stored::Packed(_)))
    {
        // Strings have one axis, and packed storage does not grow.
        stored = Stored::General;
    }
    let all = match contents_given {
        Some(given) => {
            let mut all = Vec::new();
            contents(&given, &dimensions, &mut all)?;
            Some(all)
        }
        None => None,
    };
    match stored {
        Stored::Packed(element_type) => packed(element_type, dimensions, all, initial),
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
            let array = GeneralArray { adjustable, ..GeneralArray::new(dimensions, elements) };
            array.fill_pointer.set(fill);
            Ok(Value::object(Object::Array(array)))
        }
    }
}

fn packed(
    element_type: ElementType,
    dimensions: Vec<usize>,
    all: Option<Vec<Value>>,
    initial: Option<Value>,
) -> Outcome {
    let shape = Shape::new(dimensions)?;
    match (all, initial) {
        (Some(all), _) => packed_array(element_type, shape, &all),
        (None, Some(value)) => {
            let number = value_number("make-array", &value, element_type)?;
            Ok(Value::packed(Array::full(element_type, shape, number)?))
        }
        (None, None) => Ok(Value::packed(Array::zeros(element_type, shape)?)),
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

fn characters(operator: &str, all: &[Value]) -> Outcome<Vec<char>> {
    let mut characters = Vec::with_capacity(all.len());
    for element in all {
        let Value::Char(c) = element else {
            return Err(Escape::wrong_type(operator, symbol::CHARACTER, element));
        };
        characters.push(*c);
    }
    Ok(characters)
}

fn make_string(all: &[Value], fill: Option<usize>, adjustable: bool) -> Outcome {
    let text = Text::from(characters("make-array", all)?);
    text.fill_pointer.set(fill);
    text.adjustable.set(adjustable);
    Ok(Value::String(Ref::new(text)))
}

/// The elements of an array that is made longer or shorter along its axes.
fn adjusted(array: &Value, old: &[usize], new: &[usize], fill: Value) -> Outcome<Vec<Value>> {
    let mut all = copies("adjust-array", fill, new.iter().product())?;
    for (at, slot) in all.iter_mut().enumerate() {
        let index = unravel(new, at);
        if index.iter().zip(old).all(|(i, length)| (*i as usize) < *length) {
            let from = index.iter().zip(old).fold(0, |at, (i, n)| at * n + *i as usize);
            *slot = row_major_get(array, from)?;
        }
    }
    Ok(all)
}

/// What an element is that neither the old array nor the call gives.
fn default_element(array: &Value) -> Value {
    match stored_in(array) {
        Stored::Characters => Value::Char(' '),
        Stored::Packed(element_type) if element_type.is_float() => Value::Double(0.0),
        Stored::Packed(_) => Value::Fixnum(0),
        Stored::General => NIL,
    }
}

/// `adjust-array`.
pub(super) fn adjust_array(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    const NAME: &str = "adjust-array";
    let [element_type, initial, given, _, fill, target, offset] = keywords(lisp, &a[2..], MAKE)?;
    let (old, new) = (dimensions(NAME, &a[0])?, given_dimensions(NAME, &a[1])?);
    if old.len() != new.len() {
        return Err(wrong_rank(new.len(), old.len()));
    }
    if let Some(specifier) = element_type
        && stored(lisp, &specifier)? != stored_in(&a[0])
    {
        let text = "adjust-array: the element type is not that of the array";
        return Err(Escape::of(symbol::ELEMENT_TYPE_ERROR, text));
    }
    let size = new.iter().product::<usize>();
    let before = fill_pointer_of(&a[0]);
    let fill = match fill {
        Some(Value::Nil) | None => before,
        given => fill_pointer(NAME, given, size)?,
    };
    if fill.is_some_and(|fill| fill > size) {
        return Err(outside(&Value::size(fill.unwrap_or(0)), size));
    }
    if let Some(shown) = displacement(NAME, &new, &target, &offset)? {
        shown.check(None)?;
        if shown.leads_to(&a[0]) {
            return Err(Escape::program("adjust-array: the array would show its own elements"));
        }
        if shown.adjust(&a[0]).is_none() {
            return shown.make(fill, false);
        }
        return refilled(&a[0], fill);
    }
    let all = match given {
        Some(given) => {
            let mut all = Vec::new();
            contents(&given, &new, &mut all)?;
            all
        }
        None => adjusted(&a[0], &old, &new, initial.unwrap_or_else(|| default_element(&a[0])))?,
    };
    if let Value::String(text) = &a[0] {
        if !text.adjustable.get() {
            return make_string(&all, fill, false);
        }
        text.replace(characters(NAME, &all)?);
        return refilled(&a[0], fill);
    }
    if let Some(array) = a[0].as_array().filter(|array| array.adjustable) {
        array.replace(new, all);
        return refilled(&a[0], fill);
    }
    match stored_in(&a[0]) {
        Stored::Packed(element_type) => packed_array(element_type, Shape::new(new)?, &all),
        _ => {
            let array = GeneralArray::new(new, all);
            array.fill_pointer.set(fill);
            Ok(Value::object(Object::Array(array)))
        }
    }
}

/// An adjusted array with its fill pointer.
fn refilled(array: &Value, fill: Option<usize>) -> Outcome {
    match (array, array.as_array()) {
        (Value::String(text), _) => text.fill_pointer.set(fill),
        (_, Some(general)) => general.fill_pointer.set(fill),
        _ => {}
    }
    Ok(array.clone())
}
