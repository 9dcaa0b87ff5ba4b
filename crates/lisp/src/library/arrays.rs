//! Arrays (chapter 15): general arrays, strings and packed arrays behind one set of functions.
//!
//! `aref` and `set_aref` are also what the machine's instructions call. Operations on whole
//! packed arrays are not here; they belong to the `linalg` package.

use rung_array::{Array, Number};
use rung_base::{ElementType, Shape};

use crate::condition::{Condition, Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::numbers;
use crate::object::{GeneralArray, Object};
use crate::symbol;
use crate::value::{NIL, T, Value, list};

use super::array_making::{adjust_array, make_array};
use super::{displaced, foreign_arrays};

/// The value of a packed array's element; the half widths and f32 are single-floats.
pub fn number_value(number: Number, element_type: ElementType) -> Value {
    match number {
        Number::F64(x) => Value::Double(x),
        Number::F32(x) => Value::Single(x),
        Number::I64(n) => Value::Fixnum(n),
        Number::Bool(b) if element_type == ElementType::Bool => Value::Fixnum(i64::from(b)),
        Number::Bool(b) => Value::Fixnum(i64::from(b)),
    }
}

/// The number to store into an array of an element type.
pub fn value_number(operator: &str, value: &Value, to: ElementType) -> Outcome<Number> {
    if to.is_float() {
        return match value {
            Value::Double(x) => Ok(Number::F64(*x)),
            Value::Single(x) => Ok(Number::F32(*x)),
            Value::Fixnum(n) => Ok(Number::I64(*n)),
            _ => numbers::to_double(value)
                .map(Number::F64)
                .ok_or_else(|| Escape::wrong_type(operator, symbol::REAL, value)),
        };
    }
    match value {
        Value::Fixnum(n) if to == ElementType::Bool && (0..=1).contains(n) => {
            Ok(Number::Bool(*n == 1))
        }
        Value::Fixnum(n) if to == ElementType::I64 => Ok(Number::I64(*n)),
        Value::Fixnum(n) if to == ElementType::I32 && i32::try_from(*n).is_ok() => {
            Ok(Number::I64(*n))
        }
        Value::Fixnum(n) if to == ElementType::U8 && u8::try_from(*n).is_ok() => {
            Ok(Number::I64(*n))
        }
        _ => {
            let wanted = format!("a value that fits {}", type_name(to));
            let expected = element_type_value(to);
            Err(Escape::unexpected(operator, &wanted, expected, value))
        }
    }
}

/// The element type as a message names it.
fn type_name(element_type: ElementType) -> &'static str {
    match element_type {
        ElementType::F64 => "double-float",
        ElementType::F32 => "single-float",
        ElementType::BF16 => "bfloat16",
        ElementType::F16 => "float16",
        ElementType::I64 => "(signed-byte 64)",
        ElementType::I32 => "(signed-byte 32)",
        ElementType::U8 => "(unsigned-byte 8)",
        ElementType::Bool => "bit",
    }
}

/// The type specifier of an element type.
pub fn element_type_value(element_type: ElementType) -> Value {
    let sized = |name, bits| list([Value::symbol(name), Value::Fixnum(bits)]);
    match element_type {
        ElementType::F64 => Value::symbol(symbol::DOUBLE_FLOAT),
        ElementType::F32 => Value::symbol(symbol::SINGLE_FLOAT),
        ElementType::BF16 => Value::symbol(symbol::BFLOAT16),
        ElementType::F16 => Value::symbol(symbol::FLOAT16),
        ElementType::I64 => sized(symbol::SIGNED_BYTE, 64),
        ElementType::I32 => sized(symbol::SIGNED_BYTE, 32),
        ElementType::U8 => sized(symbol::UNSIGNED_BYTE, 8),
        ElementType::Bool => Value::symbol(symbol::BIT),
    }
}

/// How the elements of an array are stored.
pub(super) fn stored_in(array: &Value) -> Stored {
    match (array, array.as_packed(), array.as_foreign_array()) {
        (Value::String(_), ..) => Stored::Characters,
        (_, Some(packed), _) => Stored::Packed(packed.element_type()),
        (.., Some(shown)) => shown.displacement().map_or(Stored::General, |(a, _)| stored_in(&a)),
        _ => Stored::General,
    }
}

/// The type specifier of the elements of an array.
pub fn element_type_of(lisp: &mut Lisp, array: &Value) -> Value {
    if let Value::String(_) = array {
        return Value::symbol(symbol::CHARACTER);
    }
    match (array.as_packed(), array.as_foreign_array()) {
        (Some(packed), _) => element_type_value(packed.element_type()),
        (_, Some(foreign)) => foreign.element_type(lisp),
        _ => T,
    }
}

/// How elements of a type are stored: packed, as characters, or as any value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Stored {
    /// Packed at an element type.
    Packed(ElementType),
    /// A string.
    Characters,
    /// Any value.
    General,
}

/// How elements of the type that a specifier names are stored.
pub fn stored(lisp: &mut Lisp, specifier: &Value) -> Outcome<Stored> {
    let packed = |element_type| Ok(Stored::Packed(element_type));
    if let Some(name) = specifier.as_symbol() {
        return match name {
            symbol::DOUBLE_FLOAT | symbol::LONG_FLOAT => packed(ElementType::F64),
            symbol::SINGLE_FLOAT | symbol::SHORT_FLOAT => packed(ElementType::F32),
            symbol::BFLOAT16 => packed(ElementType::BF16),
            symbol::FLOAT16 => packed(ElementType::F16),
            symbol::FIXNUM => packed(ElementType::I64),
            symbol::BIT => packed(ElementType::Bool),
            symbol::FLOAT => match lisp.variable(symbol::READ_DEFAULT_FLOAT_FORMAT).as_symbol() {
                Some(symbol::SINGLE_FLOAT | symbol::SHORT_FLOAT) => packed(ElementType::F32),
                _ => packed(ElementType::F64),
            },
            symbol::CHARACTER | symbol::BASE_CHAR | symbol::STANDARD_CHAR => Ok(Stored::Characters),
            symbol::T | symbol::NIL | symbol::STAR => Ok(Stored::General),
            _ => stored_expanded(lisp, specifier),
        };
    }
    let parts = specifier.elements().collect::<Vec<_>>();
    let low = parts.get(1).and_then(Value::as_fixnum);
    let high = parts.get(2).and_then(Value::as_fixnum);
    let range = match (parts.first().and_then(Value::as_symbol), low, high) {
        (Some(symbol::UNSIGNED_BYTE), Some(bits @ 1..=62), _) => Some((0, (1i64 << bits) - 1)),
        (Some(symbol::SIGNED_BYTE), Some(64), _) => Some((i64::MIN, i64::MAX)),
        (Some(symbol::SIGNED_BYTE), Some(bits @ 1..=63), _) => {
            Some((-(1i64 << (bits - 1)), (1i64 << (bits - 1)) - 1))
        }
        (Some(symbol::INTEGER), Some(low), Some(high)) => Some((low, high)),
        (Some(symbol::MOD), Some(n), _) => Some((0, n - 1)),
        _ => None,
    };
    let bytes = parts.first().is_some_and(|head| {
        head.is_symbol(symbol::UNSIGNED_BYTE) || head.is_symbol(symbol::SIGNED_BYTE)
    });
    Ok(match range {
        Some((0, 1)) => Stored::Packed(ElementType::Bool),
        Some((0, 255)) if bytes => Stored::Packed(ElementType::U8),
        Some((low, high)) if bytes && low >= i64::from(i32::MIN) && high <= i64::from(i32::MAX) => {
            Stored::Packed(ElementType::I32)
        }
        Some(_) if bytes => Stored::Packed(ElementType::I64),
        Some(_) => Stored::General,
        None => return stored_expanded(lisp, specifier),
    })
}

/// The same for what `deftype` may have made.
fn stored_expanded(lisp: &mut Lisp, specifier: &Value) -> Outcome<Stored> {
    let expanded = super::types::expanded(lisp, specifier)?;
    if expanded.eql(specifier) { Ok(Stored::General) } else { stored(lisp, &expanded) }
}

/// A packed vector of the elements.
pub fn packed_vector(element_type: ElementType, elements: &[Value]) -> Outcome {
    packed_array(element_type, Shape::vector(elements.len()), elements)
}

pub(super) fn packed_array(element_type: ElementType, shape: Shape, elements: &[Value]) -> Outcome {
    let mut array = Array::zeros(element_type, shape.clone())?;
    let rank = shape.rank();
    let flat = if rank == 1 { array } else { array.reshape(Shape::vector(elements.len()))? };
    array = flat;
    for (index, element) in elements.iter().enumerate() {
        let number = value_number("make-array", element, element_type)?;
        array.set(&[index as i64], number)?;
    }
    let array = if rank == 1 { array } else { array.reshape(shape)? };
    Ok(Value::packed(array))
}

/// A vector whose elements are of the type that a specifier names.
pub fn vector_of_type(lisp: &mut Lisp, specifier: &Value, all: Vec<Value>) -> Outcome {
    match stored(lisp, specifier)? {
        Stored::Packed(element_type) => packed_vector(element_type, &all),
        Stored::Characters => super::sequences::of_type(lisp, &Value::symbol(symbol::STRING), all),
        Stored::General => Ok(Value::vector(all)),
    }
}

#[cold]
pub(super) fn outside(index: &Value, length: usize) -> Escape {
    match index.as_fixnum() {
        Some(n) => {
            let text = format!("aref: index {n} is outside an axis of length {length}");
            let condition = Condition::new(symbol::INDEX_ERROR, text);
            condition.with(symbol::KEY_DATUM, index.clone()).into()
        }
        None => Escape::wrong_type("aref", symbol::UNSIGNED_BYTE, index),
    }
}

/// `(aref array index)` for one index.
pub fn aref(array: &Value, index: &Value) -> Outcome {
    let at = index.as_index().unwrap_or(usize::MAX);
    match array {
        Value::Object(object) => match &**object {
            Object::Array(general) if general.rank() == 1 => {
                let found = general.read(|all| all.get(at).cloned());
                found.ok_or_else(|| outside(index, general.room()))
            }
            Object::Packed(packed) => {
                let packed = packed.read()?;
                if packed.rank() != 1 {
                    return Err(wrong_rank(1, packed.rank()));
                }
                if let Some(elements) = packed.as_slice::<f64>() {
                    let element = elements.get(at).copied().map(Value::Double);
                    return element.ok_or_else(|| outside(index, elements.len()));
                }
                if at >= packed.size() {
                    return Err(outside(index, packed.size()));
                }
                Ok(number_value(packed.get(&[at as i64])?, packed.element_type()))
            }
            Object::Array(general) => Err(wrong_rank(1, general.rank())),
            _ => foreign_arrays::aref(array, index),
        },
        Value::String(text) => {
            let found = text.read(|all| all.get(at).copied());
            found.map(Value::Char).ok_or_else(|| outside(index, text.room()))
        }
        _ => Err(Escape::wrong_type("aref", symbol::ARRAY, array)),
    }
}

#[cold]
pub(super) fn wrong_rank(count: usize, rank: usize) -> Escape {
    let axes = if rank == 1 { "axis" } else { "axes" };
    let indices = if count == 1 { "index does" } else { "indices do" };
    let text = format!("aref: {count} {indices} not fit an array with {rank} {axes}");
    Escape::of(symbol::PROGRAM_ERROR, text)
}

/// `(setf (aref array index) value)` for one index.
pub fn set_aref(array: &Value, index: &Value, value: Value) -> Outcome<()> {
    let at = index.as_index().unwrap_or(usize::MAX);
    match array {
        Value::Object(object) => match &**object {
            Object::Array(general) if general.rank() == 1 => {
                match general.put(at, value) {
                    Some(old) => drop(old),
                    None => return Err(outside(index, general.room())),
                }
                Ok(())
            }
            Object::Packed(packed) => {
                let mut packed = packed.write()?;
                if packed.rank() != 1 {
                    return Err(wrong_rank(1, packed.rank()));
                }
                if at >= packed.size() {
                    return Err(outside(index, packed.size()));
                }
                let number = value_number("(setf aref)", &value, packed.element_type())?;
                Ok(packed.set(&[at as i64], number)?)
            }
            Object::Array(general) => Err(wrong_rank(1, general.rank())),
            _ => foreign_arrays::set_aref(array, index, &value),
        },
        Value::String(text) => {
            let Value::Char(c) = value else {
                return Err(Escape::wrong_type("(setf aref)", symbol::CHARACTER, &value));
            };
            let stored = text.write(|all| all.get_mut(at).map(|slot| *slot = c));
            stored.ok_or_else(|| outside(index, text.room()))
        }
        _ => Err(Escape::wrong_type("(setf aref)", symbol::ARRAY, array)),
    }
}

/// The length along each axis of any array.
pub fn dimensions(operator: &str, array: &Value) -> Outcome<Vec<usize>> {
    match array {
        Value::String(text) => Ok(vec![text.room()]),
        Value::Object(object) => match &**object {
            Object::Array(general) => Ok(general.dimensions.borrow().clone()),
            Object::Packed(packed) => Ok(packed.shape().to_vec()),
            _ => match array.as_foreign_array() {
                Some(foreign) => Ok(foreign.dimensions()),
                None => Err(Escape::wrong_type(operator, symbol::ARRAY, array)),
            },
        },
        _ => Err(Escape::wrong_type(operator, symbol::ARRAY, array)),
    }
}

/// Where in row-major order an element is.
fn row_major(operator: &str, array: &Value, indices: &[Value]) -> Outcome<usize> {
    let dimensions = dimensions(operator, array)?;
    if dimensions.len() != indices.len() {
        return Err(wrong_rank(indices.len(), dimensions.len()));
    }
    let mut at = 0;
    for (index, length) in indices.iter().zip(&dimensions) {
        match index.as_index() {
            Some(index) if index < *length => at = at * length + index,
            _ => return Err(outside(index, *length)),
        }
    }
    Ok(at)
}

/// The position of an element in a general array with two axes; nothing is allocated for it.
fn in_plane(array: &GeneralArray, i: &Value, j: &Value) -> Option<usize> {
    let dimensions = array.dimensions.borrow();
    let [rows, columns] = dimensions[..] else { return None };
    let (i, j) = (i.as_index()?, j.as_index()?);
    (i < rows && j < columns).then(|| i * columns + j)
}

/// `(aref array index...)`.
pub fn aref_any(array: &Value, indices: &[Value]) -> Outcome {
    if let [index] = indices {
        return aref(array, index);
    }
    if let ([i, j], Some(general)) = (indices, array.as_array())
        && let Some(at) = in_plane(general, i, j)
        && let Some(value) = general.read(|all| all.get(at).cloned())
    {
        return Ok(value);
    }
    let at = row_major("aref", array, indices)?;
    row_major_get(array, at)
}

fn set_any(array: &Value, indices: &[Value], value: &Value) -> Outcome {
    if let [index] = indices {
        set_aref(array, index, value.clone())?;
    } else if let ([i, j], Some(general)) = (indices, array.as_array())
        && let Some(at) = in_plane(general, i, j)
        && let Some(old) = general.put(at, value.clone())
    {
        drop(old);
    } else {
        let at = row_major("(setf aref)", array, indices)?;
        row_major_set(array, at, value)?;
    }
    Ok(value.clone())
}

/// The index along each axis of a position in row-major order.
pub(super) fn unravel(shape: &[usize], mut at: usize) -> Vec<i64> {
    let mut index = vec![0; shape.len()];
    for (axis, length) in shape.iter().enumerate().rev() {
        index[axis] = (at % length) as i64;
        at /= length;
    }
    index
}

/// The element at a position in row-major order.
pub fn row_major_get(array: &Value, at: usize) -> Outcome {
    if let Some(packed) = array.as_packed() {
        let packed = packed.read()?;
        if at >= packed.size() {
            return Err(outside(&Value::size(at), packed.size()));
        }
        let index = unravel(packed.shape(), at);
        return Ok(number_value(packed.get(&index)?, packed.element_type()));
    }
    if let Some(general) = array.as_array() {
        let found = general.read(|all| all.get(at).cloned());
        return found.ok_or_else(|| outside(&Value::size(at), general.room()));
    }
    let foreign = foreign_arrays::row_major_get(array, at);
    foreign.unwrap_or_else(|| aref(array, &Value::size(at)))
}

pub(super) fn row_major_set(array: &Value, at: usize, value: &Value) -> Outcome<()> {
    if let Some(packed) = array.as_packed() {
        let mut packed = packed.write()?;
        if at >= packed.size() {
            return Err(outside(&Value::size(at), packed.size()));
        }
        let index = unravel(packed.shape(), at);
        let number = value_number("(setf aref)", value, packed.element_type())?;
        return Ok(packed.set(&index, number)?);
    }
    if let Some(general) = array.as_array() {
        return match general.put(at, value.clone()) {
            Some(old) => {
                drop(old);
                Ok(())
            }
            None => Err(outside(&Value::size(at), general.room())),
        };
    }
    if let Some(outcome) = foreign_arrays::row_major_set(array, at, value) {
        return outcome;
    }
    set_aref(array, &Value::size(at), value.clone())
}

/// The table.
pub static ARRAYS: &[Native] = &[
    native(
        "make-array",
        "dimensions &key element-type initial-element initial-contents adjustable fill-pointer \
         displaced-to displaced-index-offset",
        "A new array, or one that shows elements of another; numbers of one type are packed.",
        make_array,
    ),
    native("vector", "&rest elements", "A general vector.", |_, a| Ok(Value::vector(a.to_vec()))),
    native("aref", "array &rest indices", "The element at a place.", |_, a| {
        aref_any(&a[0], &a[1..])
    }),
    native("svref", "vector index", "The element at a position.", |_, a| aref(&a[0], &a[1])),
    native("bit", "array &rest indices", "The bit at a place.", |_, a| aref_any(&a[0], &a[1..])),
    native("sbit", "array &rest indices", "The bit at a place.", |_, a| aref_any(&a[0], &a[1..])),
    native(
        "rung::%set-aref",
        "array &rest indices-and-value",
        "Replaces the element at a place.",
        |_, a| {
            let (value, indices) = (&a[a.len() - 1], &a[1..a.len() - 1]);
            set_any(&a[0], indices, value)
        },
    ),
    native("row-major-aref", "array index", "The element at a row-major position.", |_, a| {
        row_major_get(&a[0], a[1].as_index().unwrap_or(usize::MAX))
    }),
    native("rung::%set-row-major-aref", "array index value", "Replaces an element.", |_, a| {
        row_major_set(&a[0], a[1].as_index().unwrap_or(usize::MAX), &a[2])?;
        Ok(a[2].clone())
    }),
    native("array-row-major-index", "array &rest indices", "A row-major position.", |_, a| {
        Ok(Value::size(row_major("array-row-major-index", &a[0], &a[1..])?))
    }),
    native("array-in-bounds-p", "array &rest indices", "Whether there is such a place.", |_, a| {
        Ok(Value::boolean(row_major("array-in-bounds-p", &a[0], &a[1..]).is_ok()))
    }),
    native("array-dimensions", "array", "The length along each axis.", |_, a| {
        let dimensions = dimensions("array-dimensions", &a[0])?;
        Ok(list(dimensions.into_iter().map(Value::size).collect::<Vec<_>>()))
    }),
    native("array-dimension", "array axis", "The length along an axis.", |_, a| {
        let dimensions = dimensions("array-dimension", &a[0])?;
        let axis = a[1].as_index().and_then(|axis| dimensions.get(axis));
        axis.map(|length| Value::size(*length)).ok_or_else(|| {
            let text = format!("array-dimension: the array has {} axes", dimensions.len());
            Escape::of(symbol::AXIS_ERROR, text)
        })
    }),
    native("array-rank", "array", "The number of axes.", |_, a| {
        Ok(Value::size(dimensions("array-rank", &a[0])?.len()))
    }),
    native("array-total-size", "array", "The number of elements.", |_, a| {
        Ok(Value::size(dimensions("array-total-size", &a[0])?.iter().product()))
    }),
    native("array-element-type", "array", "The type of the elements.", |lisp, a| {
        dimensions("array-element-type", &a[0]).map(|_| element_type_of(lisp, &a[0]))
    }),
    native(
        "upgraded-array-element-type",
        "type &optional environment",
        "The type that elements are stored at.",
        |lisp, a| {
            // Nothing is of type nil, so its arrays have no elements to store (the standard: nil).
            if a[0].is_nil() {
                return Ok(NIL);
            }
            Ok(match stored(lisp, &a[0])? {
                Stored::Packed(element_type) => element_type_value(element_type),
                Stored::Characters => Value::symbol(symbol::CHARACTER),
                Stored::General => T,
            })
        },
    ),
    native("arrayp", "object", "Whether it is an array.", |_, a| {
        Ok(Value::boolean(dimensions("arrayp", &a[0]).is_ok()))
    }),
    native("vectorp", "object", "Whether it is an array with one axis.", |_, a| {
        Ok(Value::boolean(dimensions("vectorp", &a[0]).is_ok_and(|d| d.len() == 1)))
    }),
    native("simple-vector-p", "object", "Whether it is a simple general vector.", |_, a| {
        let simple = a[0].as_array().is_some_and(|array| array.rank() == 1 && array.is_simple());
        Ok(Value::boolean(simple))
    }),
    native(
        "array-displacement",
        "array",
        "The array whose elements an array shows, and where in it they begin; else nil and 0.",
        displaced::displacement,
    ),
    native("bit-vector-p", "object", "Whether it is a vector of bits.", |_, a| {
        Ok(Value::boolean(is_bit_vector(&a[0])))
    }),
    native("simple-bit-vector-p", "object", "Whether it is a vector of bits.", |_, a| {
        Ok(Value::boolean(is_bit_vector(&a[0])))
    }),
    native("adjustable-array-p", "array", "Whether it was made adjustable.", |_, a| {
        dimensions("adjustable-array-p", &a[0])?;
        Ok(Value::boolean(match &a[0] {
            Value::String(text) => text.adjustable.get(),
            other => other.as_array().is_some_and(|array| array.adjustable),
        }))
    }),
    native(
        "adjust-array",
        "array dimensions &key element-type initial-element initial-contents fill-pointer \
         displaced-to displaced-index-offset",
        "An array of another size with the elements that both have.",
        adjust_array,
    ),
    native(
        "rung::%packed-copy",
        "array",
        "A fresh array that shares storage until written.",
        |_, a| {
            Ok(match a[0].as_packed() {
                Some(packed) => Value::packed(packed.array()),
                None => a[0].clone(),
            })
        },
    ),
];

/// Whether it is an array without fill pointer that neither grows nor shows another.
pub(super) fn is_simple(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_simple(),
        Value::Object(object) => match &**object {
            Object::Array(general) => general.is_simple(),
            Object::Packed(_) => true,
            _ => value.as_foreign_array().is_some_and(|shown| shown.displacement().is_none()),
        },
        _ => false,
    }
}

fn is_bit_vector(value: &Value) -> bool {
    value
        .as_packed()
        .is_some_and(|packed| packed.element_type() == ElementType::Bool && packed.rank() == 1)
}
