//! The function `format` of the language.

use crate::condition::{Escape, Outcome};
use crate::format::{format, format_some};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::stream::Stream;
use crate::symbol;
use crate::value::{Value, list};

/// The function `format`.
pub static FORMAT: &[Native] = &[
    native(
        "format",
        "destination control &rest arguments",
        "Prints the arguments as the control string says: to a stream, to standard output for t, \
         to a new string for nil.",
        format_native,
    ),
    native("rung::%format-rest", "stream control arguments", "For formatter.", |lisp, a| {
        let stream = lisp.output_stream(&a[0], "format")?;
        let control = a[1].as_text().map(|text| text.to_text()).unwrap_or_default();
        let arguments = a[2].elements().collect::<Vec<_>>();
        let column = lisp.column(&stream);
        let (text, rest) = format_some(lisp, &control, &arguments, column)?;
        lisp.write(&stream, &text)?;
        Ok(list(rest))
    }),
];

/// A control that is a function writes to a stream itself.
fn by_function(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let collected = match &arguments[0] {
        Value::Nil | Value::String(_) => {
            Some(Value::object(Object::Stream(Stream::string_output())))
        }
        _ => None,
    };
    let mut given = vec![match &collected {
        Some(stream) => stream.clone(),
        None => lisp.output_stream(&arguments[0], "format")?,
    }];
    given.extend_from_slice(&arguments[2..]);
    lisp.call(&arguments[1], &given)?;
    let Some(stream) = collected else { return Ok(Value::Nil) };
    let text = Value::string(&crate::library::streams::take_text(&stream));
    match &arguments[0] {
        Value::Nil => Ok(text),
        destination => {
            let form = [destination.clone(), Value::string("~A"), text];
            format_native(lisp, &form)
        }
    }
}

fn format_native(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let control = match &arguments[1] {
        Value::String(text) => text.to_text(),
        Value::Function(_) => return by_function(lisp, arguments),
        other => return Err(Escape::wrong_type("format", symbol::STRING, other)),
    };
    let rest = &arguments[2..];
    match &arguments[0] {
        Value::Nil => Ok(Value::string(&format(lisp, &control, rest, 0)?)),
        Value::String(text) => {
            if text.fill_pointer.get().is_none() {
                let wanted = "a string with a fill pointer";
                let kind = Value::symbol(symbol::STRING);
                return Err(Escape::unexpected("format", wanted, kind, &arguments[0]));
            }
            let column = text.to_text().chars().rev().take_while(|c| *c != '\n').count();
            let added = format(lisp, &control, rest, column)?;
            let mut characters = text.active();
            characters.extend(added.chars());
            let (length, room) = (characters.len(), text.room());
            if length <= room {
                text.write(|all| all[..length].copy_from_slice(&characters));
            } else {
                text.replace(characters);
            }
            text.fill_pointer.set(Some(length));
            Ok(Value::Nil)
        }
        destination => {
            let stream = lisp.output_stream(destination, "format")?;
            let column = lisp.column(&stream);
            let text = format(lisp, &control, rest, column)?;
            lisp.write(&stream, &text)?;
            Ok(Value::Nil)
        }
    }
}
