//! Arrays that a library package brought along (`ForeignArray`), behind the same functions as the
//! language's own: read element by element, never changed.

use super::arrays::{outside, wrong_rank};
use crate::condition::{Escape, Outcome};
use crate::symbol;
use crate::value::Value;

/// `(aref array index)` of what is no array of the language's own.
#[cold]
pub(super) fn aref(array: &Value, index: &Value) -> Outcome {
    let Some(foreign) = array.as_foreign_array() else {
        return Err(Escape::wrong_type("aref", symbol::ARRAY, array));
    };
    match foreign.dimensions()[..] {
        [length] => match index.as_index().filter(|at| *at < length) {
            Some(at) => foreign.element(at),
            None => Err(outside(index, length)),
        },
        ref other => Err(wrong_rank(1, other.len())),
    }
}

/// The element at a position in row-major order; `None` when the value is no such array.
pub(super) fn row_major_get(array: &Value, at: usize) -> Option<Outcome> {
    let foreign = array.as_foreign_array()?;
    let size = foreign.dimensions().iter().product();
    Some(if at < size { foreign.element(at) } else { Err(outside(&Value::size(at), size)) })
}

/// Why an element is not replaced.
#[cold]
pub(super) fn read_only(array: &Value) -> Escape {
    match array.as_foreign_array() {
        Some(foreign) => foreign.read_only(),
        None => Escape::wrong_type("(setf aref)", symbol::ARRAY, array),
    }
}
