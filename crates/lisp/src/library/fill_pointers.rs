//! Fill pointers (chapter 15): how many elements of a vector count, and vectors that grow.

use crate::condition::{Escape, Outcome};
use crate::native::{Native, native};
use crate::symbol;
use crate::value::{NIL, Value};

use super::arrays::{aref, dimensions, outside, set_aref};

/// The table.
pub static FILL_POINTERS: &[Native] = &[
    native("array-has-fill-pointer-p", "array", "Whether it has a fill pointer.", |_, a| {
        Ok(Value::boolean(fill_pointer_of(&a[0]).is_some()))
    }),
    native("fill-pointer", "vector", "How many elements count.", |_, a| {
        let pointer = fill_pointer_of(&a[0]);
        pointer.map(Value::size).ok_or_else(|| no_fill_pointer("fill-pointer", &a[0]))
    }),
    native("rung::%set-fill-pointer", "vector value", "Sets how many elements count.", |_, a| {
        let wrong = || Escape::wrong_type("fill-pointer", symbol::UNSIGNED_BYTE, &a[1]);
        set_fill_pointer("fill-pointer", &a[0], a[1].as_index().ok_or_else(wrong)?)?;
        Ok(a[1].clone())
    }),
    native("vector-push", "element vector", "Adds an element if there is room.", |_, a| {
        push(&a[1], &a[0], false)
    }),
    native(
        "vector-push-extend",
        "element vector &optional extension",
        "Adds an element, making room if need be.",
        |_, a| push(&a[1], &a[0], true),
    ),
    native("vector-pop", "vector", "Takes off the last element.", |_, a| {
        let pointer = fill_pointer_of(&a[0]).ok_or_else(|| no_fill_pointer("vector-pop", &a[0]))?;
        let Some(last) = pointer.checked_sub(1) else {
            return Err(Escape::error("vector-pop: the vector is empty"));
        };
        set_fill_pointer("vector-pop", &a[0], last)?;
        aref(&a[0], &Value::size(last))
    }),
];

pub(super) fn fill_pointer_of(value: &Value) -> Option<usize> {
    match value {
        Value::String(text) => text.fill_pointer.get(),
        other => match (other.as_array(), other.as_foreign_array()) {
            (Some(array), _) => array.fill_pointer.get(),
            (_, Some(foreign)) => foreign.fill_pointer().map(|pointer| pointer.get()),
            _ => None,
        },
    }
}

fn no_fill_pointer(operator: &str, value: &Value) -> Escape {
    Escape::unexpected(
        operator,
        "a vector with a fill pointer",
        Value::symbol(symbol::VECTOR),
        value,
    )
}

pub(super) fn set_fill_pointer(operator: &str, value: &Value, pointer: usize) -> Outcome<()> {
    let room = dimensions(operator, value)?.first().copied().unwrap_or(0);
    if fill_pointer_of(value).is_none() {
        return Err(no_fill_pointer(operator, value));
    }
    if pointer > room {
        return Err(outside(&Value::size(pointer), room));
    }
    match value {
        Value::String(text) => text.fill_pointer.set(Some(pointer)),
        other => {
            if let Some(array) = other.as_array() {
                array.fill_pointer.set(Some(pointer));
            }
            if let Some(shown) = other.as_foreign_array().and_then(|a| a.fill_pointer()) {
                shown.set(pointer);
            }
        }
    }
    Ok(())
}

fn push(vector: &Value, element: &Value, extend: bool) -> Outcome {
    let operator = if extend { "vector-push-extend" } else { "vector-push" };
    let pointer = fill_pointer_of(vector).ok_or_else(|| no_fill_pointer(operator, vector))?;
    let room = dimensions(operator, vector)?[0];
    if pointer == room {
        if !extend {
            return Ok(NIL);
        }
        let larger = (room * 2).max(8);
        super::memory::room(operator, larger, size_of::<Value>())?;
        match vector {
            Value::String(text) if text.shown.borrow().is_none() => {
                text.own.borrow_mut().resize(larger, ' ');
            }
            Value::String(text) => {
                let mut all = text.active();
                all.resize(larger, ' ');
                text.replace(all);
            }
            other => match other.as_array() {
                Some(array) if array.shown.borrow().is_none() => {
                    array.own.borrow_mut().resize(larger, NIL);
                    *array.dimensions.borrow_mut() = vec![larger];
                }
                Some(array) => {
                    let mut all = array.active();
                    all.resize(larger, NIL);
                    array.replace(vec![larger], all);
                }
                None => return Err(no_fill_pointer(operator, vector)),
            },
        }
    }
    set_aref(vector, &Value::size(pointer), element.clone())?;
    set_fill_pointer(operator, vector, pointer + 1)?;
    Ok(Value::size(pointer))
}
