//! `la:emap`: a Lisp function at every element. It is no record of the table, because no rung
//! can compute it: each element is a call of the language.

use super::linalg::array_argument;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_lisp::lisp::Lisp;
use rung_lisp::native::{Native, native};
use rung_lisp::{Outcome, Value, numbers};

pub const FUNCTIONS: &[Native] = &[native(
    "linalg:emap",
    "function array &rest arrays",
    "Calls FUNCTION on the elements of the arrays that stand in the same place, in row-major \
     order; arrays broadcast, numbers stand for themselves.\n\
     Result: an array of the common shape in the width of the first array; of an integer array \
     double-float if a value is a float. Of numbers alone, the function's value.\n\
     Example: (la:emap (lambda (x y) (max x y)) #d(1 5) #d(3 2))",
    emap,
)];

const NAME: &str = "emap";

fn emap(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let (function, given) = (&arguments[0], &arguments[1..]);
    if given.iter().all(Value::is_number) {
        return lisp.call(function, given);
    }
    let mut arrays = Vec::with_capacity(given.len());
    for argument in given {
        arrays.push(match argument.is_number() {
            true => None,
            false => Some(array_argument(lisp, NAME, argument)?),
        });
    }
    let spread = spread(&mut arrays);
    let shape = spread.map_err(|e| e.in_package("linalg").in_operation(NAME))?;
    // The function may write into the arguments: these share their storage, and keep it.
    let mut elements: Vec<_> = arrays.iter().map(|a| a.as_ref().map(Array::numbers)).collect();
    let wanted = || format!("the values of a result of shape {shape}");
    let values = memory::room(shape.size(), wanted);
    let mut values = values.map_err(|e| e.in_package("linalg").in_operation(NAME))?;
    let mut operands = given.to_vec();
    for _ in 0..shape.size() {
        for (operand, elements) in operands.iter_mut().zip(&mut elements) {
            if let Some(element) = elements.as_mut().and_then(Iterator::next) {
                *operand = lisp_number(element);
            }
        }
        let value = lisp.call(function, &operands)?;
        values.push(number(&value).ok_or_else(|| {
            let text =
                format!("emap expects numbers from its function: got {}", lisp.brief(&value));
            error(ErrorKind::Type, text)
        })?);
    }
    let first = arrays.iter().flatten().next().map_or(ElementType::F64, Array::element_type);
    let result = result(first, shape, &values);
    Ok(Value::packed(result.map_err(|e| e.in_package("linalg").in_operation(NAME))?))
}

fn error(kind: ErrorKind, text: String) -> Error {
    Error::new(kind, text).in_package("linalg").in_operation(NAME)
}

/// The arrays at their common shape.
fn spread(arrays: &mut [Option<Array>]) -> Result<Shape> {
    let mut shape = Shape::scalar();
    for array in arrays.iter().flatten() {
        shape = shape.broadcast(array.shape())?;
    }
    for array in arrays.iter_mut().flatten() {
        *array = array.broadcast_to(&shape)?;
    }
    Ok(shape)
}

fn lisp_number(element: Number) -> Value {
    match element {
        Number::F64(x) => Value::Double(x),
        Number::F32(x) => Value::Single(x),
        Number::I64(n) => Value::Fixnum(n),
        Number::Bool(b) => Value::Fixnum(b.into()),
    }
}

fn number(value: &Value) -> Option<Number> {
    match value {
        Value::Fixnum(n) => Some(Number::I64(*n)),
        Value::Single(x) => Some(Number::F32(*x)),
        other => numbers::to_double(other).map(Number::F64),
    }
}

/// The values in the first array's width. Integers hold no fraction, and bits only 0 and 1:
/// a float among the values makes the result double-float, another integer does not fit.
fn result(first: ElementType, shape: Shape, values: &[Number]) -> Result<Array> {
    let integers = values.iter().all(|n| matches!(n, Number::I64(_)));
    let element_type = if first.is_float() || integers { first } else { ElementType::F64 };
    let beyond = |n: &&Number| !matches!(n.to_i64(), Some(0 | 1));
    if element_type == ElementType::Bool
        && let Some(n) = values.iter().find(beyond)
    {
        let text = format!("value does not fit: {n} in {}", element_type.lisp_name());
        return Err(Error::new(ErrorKind::ElementType, text)
            .hint("(la:astype a '(signed-byte 64)) takes any integer"));
    }
    Array::from_numbers(element_type, shape, values)
}
