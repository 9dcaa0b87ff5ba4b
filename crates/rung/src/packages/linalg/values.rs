//! Values of the language as the operations' values, and back. No element is looked at but those of
//! general arrays and displaced ones, which are packed here.

use crate::packages::quantized;
use rung_array::{Array, Number};
use rung_base::{ErrorKind, Shape, memory};
use rung_lisp::lisp::Lisp;
use rung_lisp::object::{Foreign, Object};
use rung_lisp::package::KEYWORD;
use rung_lisp::packed::bring_home;
use rung_lisp::{Escape, Outcome, Value, numbers, stack, symbol, value};
use rung_ops::record::Part;

/// A number as an operand of a call that the ladder takes at once.
pub fn number_part(value: &Value) -> Option<Part<'static>> {
    match value {
        Value::Double(x) => Some(Part::Number(Number::F64(*x))),
        Value::Single(x) => Some(Part::Number(Number::F32(*x))),
        Value::Fixnum(n) => Some(Part::Number(Number::I64(*n))),
        _ => None,
    }
}

/// A Lisp value as an argument of an operation.
pub fn to_operation(lisp: &Lisp, argument: &Value) -> Outcome<rung_ops::Value> {
    Ok(match argument {
        Value::Nil => rung_ops::Value::Nil,
        Value::Fixnum(n) => rung_ops::Value::integer(*n),
        Value::Double(x) => rung_ops::Value::Number(Number::F64(*x)),
        Value::Single(x) => rung_ops::Value::Number(Number::F32(*x)),
        Value::Symbol(_) if argument.is_symbol(symbol::T) => rung_ops::Value::True,
        Value::Symbol(symbol) => {
            let name = lisp.name(*symbol).to_ascii_lowercase().into();
            match lisp.symbols[*symbol].package {
                Some(KEYWORD) => rung_ops::Value::Keyword(name),
                _ => rung_ops::Value::Symbol(name),
            }
        }
        Value::String(text) => rung_ops::Value::Text(text.to_text()),
        Value::Cons(_) => list_to_operation(lisp, argument)?,
        Value::Object(object) => match &**object {
            Object::Packed(array) => rung_ops::Value::Array(array.array()),
            Object::Array(array) => {
                rung_ops::explain::note_packing();
                rung_ops::Value::Array(packed_double(lisp, array)?)
            }
            Object::Foreign(_) => match argument.as_foreign::<GeneratorObject>() {
                Some(generator) => rung_ops::Value::Generator(generator.0.clone()),
                None => match (quantized::matrix(argument), shown(argument)) {
                    (Some(q), _) => rung_ops::Value::Quantized(q.clone()),
                    (None, Some(array)) => rung_ops::Value::Array(array?),
                    (None, None) => rung_ops::Value::Other(lisp.brief(argument)),
                },
            },
            Object::Bignum(_) | Object::Ratio(_) => match numbers::to_double(argument) {
                Some(x) => rung_ops::Value::Number(Number::F64(x)),
                None => rung_ops::Value::Other(lisp.brief(argument)),
            },
            _ => rung_ops::Value::Other(lisp.brief(argument)),
        },
        _ => rung_ops::Value::Other(lisp.brief(argument)),
    })
}

fn list_to_operation(lisp: &Lisp, list: &Value) -> Outcome<rung_ops::Value> {
    stack::check("the list")?;
    if list.is_circular() {
        let text = "expected a proper list: got a circular one";
        return Err(rung_base::Error::new(ErrorKind::Type, text).into());
    }
    let mut items = Vec::new();
    let mut elements = list.elements();
    for element in &mut elements {
        if items.len() == items.capacity() {
            // As much again, or an error: a list has any length.
            let more = items.len().max(4);
            let grown = items.try_reserve(more);
            let bytes = memory::bytes_of::<rung_ops::Value>(items.len() + more);
            grown.map_err(|_| memory::lack(bytes, "the elements of a list"))?;
        }
        items.push(to_operation(lisp, &element)?);
    }
    match elements.rest().is_nil() {
        true => Ok(rung_ops::Value::List(items)),
        false => Ok(rung_ops::Value::Other(lisp.brief(list))),
    }
}

/// What an array that is displaced to a packed one shows.
fn shown(argument: &Value) -> Option<Outcome<Array>> {
    argument.as_foreign_array().and_then(|array| array.packed())
}

/// A general array of real numbers as a packed one (spec linalg 1.2).
fn packed_double(lisp: &Lisp, array: &rung_lisp::object::GeneralArray) -> Outcome<Array> {
    // Of a vector with a fill pointer the active elements count, as for any sequence function.
    let shape = match array.rank() {
        1 => Shape::vector(array.len()),
        _ => Shape::new(array.dimensions.borrow().iter().copied())?,
    };
    let elements = array.active();
    let mut doubles = memory::room(elements.len(), || format!("the elements of shape {shape}"))?;
    for element in elements.iter() {
        doubles.push(numbers::to_double(element).ok_or_else(|| {
            let text = format!("array element is not a real number: {}", lisp.brief(element));
            let e = rung_base::Error::new(ErrorKind::Type, text);
            Escape::from(e.in_package("linalg"))
        })?);
    }
    Ok(Array::from_slice(&doubles, shape)?)
}

/// A generator as a thing of the language.
struct GeneratorObject(rung_ops::Generator);

impl Foreign for GeneratorObject {
    fn words(&self) -> String {
        self.0.to_string()
    }
}

/// A result of an operation as a Lisp value.
pub fn from_operation(lisp: &mut Lisp, result: rung_ops::Value) -> Value {
    match result {
        rung_ops::Value::Array(array) => Value::packed(array),
        rung_ops::Value::Number(Number::F64(x)) => Value::Double(x),
        rung_ops::Value::Number(Number::F32(x)) => Value::Single(x),
        rung_ops::Value::Number(Number::I64(n)) => Value::Fixnum(n),
        rung_ops::Value::Number(Number::Bool(b)) => Value::Fixnum(b as i64),
        rung_ops::Value::Symbol(name) | rung_ops::Value::Keyword(name) => {
            lisp.keyword(&name.to_ascii_uppercase())
        }
        rung_ops::Value::List(items) => {
            let items: Vec<Value> = items.into_iter().map(|v| from_operation(lisp, v)).collect();
            value::list(items)
        }
        rung_ops::Value::Generator(generator) => {
            Value::object(Object::Foreign(Box::new(GeneratorObject(generator))))
        }
        rung_ops::Value::Quantized(q) => quantized::object(q),
        rung_ops::Value::Nil => value::NIL,
        rung_ops::Value::True => value::T,
        rung_ops::Value::Text(text) | rung_ops::Value::Other(text) => Value::string(&text),
    }
}

/// The array that a value is or converts to, with its elements here, for the packages beside this
/// one.
pub fn array_argument(lisp: &Lisp, operator: &str, value: &Value) -> Outcome<Array> {
    match to_operation(lisp, value)? {
        rung_ops::Value::Array(array) => {
            bring_home(&array)?;
            Ok(array)
        }
        _ => Err(Escape::wrong_type(operator, symbol::ARRAY, value)),
    }
}

/// The path to write to. What the program has printed goes out first: the path may lead there
/// (`/dev/stdout`).
pub fn output_path(lisp: &mut Lisp, operator: &str, value: &Value) -> Outcome<String> {
    let path = path_argument(operator, value)?;
    for name in [symbol::STANDARD_OUTPUT, symbol::ERROR_OUTPUT] {
        let stream = lisp.variable(name).clone();
        lisp.flush(&stream)?;
    }
    Ok(path)
}

/// The path that a string or pathname names.
pub fn path_argument(operator: &str, value: &Value) -> Outcome<String> {
    match (value.as_text(), value.as_object()) {
        (Some(text), _) => Ok(text.to_text()),
        (_, Some(Object::Pathname(path))) => Ok(path.clone()),
        _ => Err(Escape::wrong_type(operator, symbol::PATHNAME, value)),
    }
}
