//! From the words of a command line to the values of an operation, by the kinds of its parameters.

use super::{Asked, Offering, Role, failure};
use crate::failure::Failure;
use rung_array::{Array, Number};
use rung_base::{Error, ErrorKind, Result, Shape};
use rung_files::{csv, npy};
use rung_ops::Value;
use rung_ops::record::{Kind, Parameter};
use rung_ops::solver::{Given, ending};
use std::path::Path;

/// How arrays that are operands beside the first file are named.
const ARRAYS: &[&str] = &[".npy", ".csv", ".txt"];

/// The parameters that were typed; of several the last counts.
pub fn given(asked: &Asked, offering: Offering) -> std::result::Result<Vec<Given>, Failure> {
    let mut all = Vec::new();
    for parameter in offering.op.parameters {
        let is_it = |role: &Role| matches!(role, Role::Parameter(p) if p.name == parameter.name);
        if let Some((flag, text)) = asked.value(is_it) {
            all.push((parameter.name, value(parameter, &flag.spelling(), text)?));
        }
    }
    Ok(all)
}

/// The options of the reader that were typed.
pub fn options(asked: &Asked) -> std::result::Result<Vec<Given>, Failure> {
    let mut all: Vec<Given> = Vec::new();
    for (flag, text) in &asked.typed {
        if let Role::Option(parameter) = flag.role {
            all.retain(|(name, _)| *name != parameter.name);
            all.push((parameter.name, value(parameter, &flag.spelling(), text)?));
        }
    }
    Ok(all)
}

/// The value that a text means to a parameter.
fn value(parameter: &Parameter, name: &str, text: &str) -> std::result::Result<Value, Failure> {
    let wrong = |wanted: &str| Failure::usage(format!("{name}: expected {wanted}, got {text:?}"));
    match parameter.kind {
        Kind::Flag => Ok(Value::True),
        Kind::Truth => match text {
            "true" => Ok(Value::True),
            "false" => Ok(Value::Nil),
            _ => Err(wrong("true or false")),
        },
        Kind::Integer => text.parse().map(Value::integer).map_err(|_| wrong("an integer")),
        Kind::Each => integers(text).ok_or_else(|| wrong("an integer, or several with commas")),
        Kind::Number => {
            let number = text.parse().map(|x| Value::Number(Number::F64(x)));
            number.map_err(|_| wrong("a number"))
        }
        Kind::Text => Ok(Value::Text(text.into())),
        Kind::Choice(words) => match words.iter().find(|word| **word == text) {
            Some(word) => Ok(Value::Keyword((*word).into())),
            None => Err(wrong(&words.join(" or "))),
        },
        Kind::IndexOr(words) if words.contains(&text) => {
            Ok(Value::Keyword(text.to_string().into()))
        }
        Kind::IndexOr(words) => {
            integers(text).ok_or_else(|| wrong(&format!("integers or {}", words.join(" or "))))
        }
        Kind::Pair | Kind::Shape | Kind::Integers | Kind::Index => {
            integers(text).ok_or_else(|| wrong("integers with commas between them"))
        }
        _ => match numbers(text) {
            Some(vector) => vector.map(Value::Array),
            None => array(Path::new(text)).map(Value::Array),
        }
        .map_err(|e| failure(&e)),
    }
}

/// `0.5,1,2`, two numbers or more; none where it is no such list.
fn numbers(text: &str) -> Option<Result<Array>> {
    let each = text.split(',').map(|part| part.trim().parse().ok());
    let all = each.collect::<Option<Vec<f64>>>().filter(|all| all.len() > 1)?;
    Some(Array::vector(&all))
}

/// `3,5,8`.
fn integers(text: &str) -> Option<Value> {
    let each = text.split(',').map(|part| part.trim().parse().ok().map(Value::integer));
    each.collect::<Option<Vec<Value>>>().map(Value::List)
}

/// The array of a file; one column is a vector.
fn array(path: &Path) -> Result<Array> {
    match ending(path, ARRAYS) {
        Some(".npy") => npy::read(path),
        Some(_) => {
            let matrix = csv::read_matrix(path, &csv::Options::default())?;
            match matrix.shape()[..] {
                [rows, 1] => matrix.reshape(Shape::vector(rows)),
                _ => Ok(matrix),
            }
        }
        None => {
            let text =
                format!("{}: an array's file is one of {}", path.display(), ARRAYS.join(" "));
            Err(Error::new(ErrorKind::Argument, text))
        }
    }
}
