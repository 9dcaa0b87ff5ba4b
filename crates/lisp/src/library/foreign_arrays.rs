//! Arrays that are neither general nor packed (`ForeignArray`), behind the same functions as the
//! language's own: those of library packages, which are only read, and those that show a part of
//! a packed array.

use super::arrays::{outside, wrong_rank};
use crate::condition::{Escape, Outcome};
use crate::object::ForeignArray;
use crate::symbol;
use crate::value::Value;

/// Where the only index of an array leads.
fn position(array: &dyn ForeignArray, index: &Value) -> Outcome<usize> {
    match array.dimensions()[..] {
        [length] => match index.as_index().filter(|at| *at < length) {
            Some(at) => Ok(at),
            None => Err(outside(index, length)),
        },
        ref other => Err(wrong_rank(1, other.len())),
    }
}

/// `(aref array index)` of what is no array of the language's own.
#[cold]
pub(super) fn aref(array: &Value, index: &Value) -> Outcome {
    match array.as_foreign_array() {
        Some(foreign) => foreign.element(position(foreign, index)?),
        None => Err(Escape::wrong_type("aref", symbol::ARRAY, array)),
    }
}

/// `(setf (aref array index) value)` of what is no array of the language's own.
#[cold]
pub(super) fn set_aref(array: &Value, index: &Value, value: &Value) -> Outcome<()> {
    match array.as_foreign_array() {
        Some(foreign) if foreign.displacement().is_some() => {
            foreign.set_element(position(foreign, index)?, value)
        }
        Some(foreign) => Err(foreign.read_only()),
        None => Err(Escape::wrong_type("(setf aref)", symbol::ARRAY, array)),
    }
}

fn size(array: &dyn ForeignArray) -> usize {
    array.dimensions().iter().product()
}

/// The element at a position in row-major order; `None` when the value is no such array.
pub(super) fn row_major_get(array: &Value, at: usize) -> Option<Outcome> {
    let foreign = array.as_foreign_array()?;
    let size = size(foreign);
    Some(if at < size { foreign.element(at) } else { Err(outside(&Value::size(at), size)) })
}

/// Replaces the element at a position; `None` when the value is no such array.
pub(super) fn row_major_set(array: &Value, at: usize, value: &Value) -> Option<Outcome<()>> {
    let foreign = array.as_foreign_array()?;
    let size = size(foreign);
    Some(match at < size {
        true => foreign.set_element(at, value),
        false => Err(outside(&Value::size(at), size)),
    })
}

fn vector<'v>(operator: &str, value: &'v Value) -> Outcome<&'v dyn ForeignArray> {
    let vector = value.as_foreign_array().filter(|foreign| foreign.dimensions().len() == 1);
    vector.ok_or_else(|| Escape::wrong_type(operator, symbol::SEQUENCE, value))
}

/// How many elements of a vector count.
pub(super) fn length(operator: &str, value: &Value) -> Outcome<usize> {
    let vector = vector(operator, value)?;
    Ok(vector.fill_pointer().map_or_else(|| size(vector), |pointer| pointer.get()))
}

/// The elements of a vector that count.
pub(super) fn elements(operator: &str, value: &Value) -> Outcome<Vec<Value>> {
    let length = length(operator, value)?;
    super::memory::room(operator, length, size_of::<Value>())?;
    let vector = vector(operator, value)?;
    (0..length).map(|at| vector.element(at)).collect()
}

/// A new vector with elements of the same type.
pub(super) fn like(model: &Value, elements: Vec<Value>) -> Outcome {
    let packed = model.as_foreign_array().and_then(|array| array.packed());
    match packed {
        Some(packed) => super::arrays::packed_vector(packed?.element_type(), &elements),
        None => Ok(Value::vector(elements)),
    }
}
