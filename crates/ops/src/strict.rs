//! What package `vec` asks of its arguments: packed vectors of one width and length, nothing
//! converted. The records and what computes them are in `vector`.

use crate::arguments::Arguments;
use crate::record::{Kind, Op};
use crate::value::Value;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result};

pub(crate) fn array_of(value: &Value) -> Option<&Array> {
    if let Value::Array(a) = value { Some(a) } else { None }
}

/// The element type and length of a vector-valued function's result.
pub(crate) fn result_of(values: &[Value], product: bool) -> (ElementType, usize) {
    match values {
        [Value::Quantized(q), Value::Array(x)] => (x.element_type(), q.shape()[0]),
        [Value::Array(w), Value::Array(x)] if product => (x.element_type(), w.shape()[0]),
        _ => values
            .iter()
            .find_map(array_of)
            .map_or((ElementType::F64, 0), |first| (first.element_type(), first.size())),
    }
}

pub(crate) fn check_out(out: &Array, element_type: ElementType, length: usize) -> Result<()> {
    if out.element_type() != element_type {
        let text = format!(
            "out has element type {}, expected {}",
            shown(out.element_type()),
            shown(element_type)
        );
        return Err(Error::new(ErrorKind::ElementType, text));
    }
    if out.size() != length {
        let text = format!("out has length {}, expected {length}", out.size());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    Ok(())
}

/// As the language prints a type's name.
pub(crate) fn shown(t: ElementType) -> String {
    t.lisp_name().to_uppercase()
}

/// The arguments from `first` on: vectors of one width and length that the record takes,
/// numbers, and the matrix of a product.
pub(crate) fn strict(
    op: &'static Op,
    mut arguments: Arguments,
    first: usize,
) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    let mut matrix = None;
    for at in first..op.parameters.len() {
        values.push(match op.parameters[at].kind {
            Kind::Vector => arguments.vector(at)?.into(),
            Kind::Number => Value::Number(arguments.number(at)?),
            _ => {
                matrix = Some(at - first);
                arguments.any(at)
            }
        });
    }
    if matrix.is_some() {
        return product_operands(values);
    }
    let vectors: Vec<&Array> = values.iter().filter_map(array_of).collect();
    check_alike(op, &vectors)?;
    Ok(values)
}

pub(crate) fn check_alike(op: &'static Op, vectors: &[&Array]) -> Result<()> {
    for vector in vectors {
        if !op.types.contains(&vector.element_type()) {
            let text = format!("expected a packed vector of floats: got {vector:?}");
            return Err(Error::new(ErrorKind::Type, text));
        }
    }
    let [a, b] = vectors else { return Ok(()) };
    if a.element_type() != b.element_type() {
        return Err(types_differ(a, b));
    }
    if a.size() != b.size() {
        let text = format!("lengths differ: {} and {}", a.size(), b.size());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    Ok(())
}

pub(crate) fn types_differ(a: &Array, b: &Array) -> Error {
    let (one, other) = (shown(a.element_type()), shown(b.element_type()));
    Error::new(ErrorKind::ElementType, format!("element types differ: {one} and {other}"))
}

/// Whether a matrix and a vector, or two vectors, of these types may meet: alike, or a half
/// width beside single.
pub(crate) fn may_meet(a: ElementType, b: ElementType) -> bool {
    let half = |t| matches!(t, ElementType::BF16 | ElementType::F16);
    a == b || (half(a) && b == ElementType::F32) || (half(b) && a == ElementType::F32)
}

pub(crate) fn product_operands(values: Vec<Value>) -> Result<Vec<Value>> {
    if let Value::Quantized(_) = values[0] {
        return Ok(values);
    }
    let [Value::Array(w), Value::Array(x)] = &values[..] else {
        let text = format!("matvec expects a matrix and a vector: got {}", values[0]);
        return Err(Error::new(ErrorKind::Type, text));
    };
    if w.rank() != 2 || !w.element_type().is_float() || !x.element_type().is_float() {
        let text = format!("matvec expects a matrix and a vector: got {w:?} and {x:?}");
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let narrow_matrix =
        w.element_type() == x.element_type() || x.element_type() == ElementType::F32;
    if !may_meet(w.element_type(), x.element_type()) || !narrow_matrix {
        return Err(types_differ(w, x));
    }
    if w.shape()[1] != x.size() {
        let (columns, elements) = (w.shape()[1], x.size());
        let text = format!("matvec dimensions differ: {columns} columns and {elements} elements");
        return Err(Error::new(ErrorKind::Shape, text));
    }
    Ok(values)
}
