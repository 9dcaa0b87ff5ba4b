//! The function `format` of the language.

use crate::condition::{Escape, Outcome};
use crate::format::format;
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::symbol;
use crate::value::Value;

/// The function `format`.
pub static FORMAT: &[Native] = &[native(
    "format",
    "destination control &rest arguments",
    "Prints the arguments as the control string says: to a stream, to standard output for t, \
     to a new string for nil.",
    format_native,
)];

fn format_native(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let control = match &arguments[1] {
        Value::String(text) => text.to_text(),
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
            let mut characters = text.characters.borrow_mut();
            characters.truncate(text.len());
            characters.extend(added.chars());
            text.fill_pointer.set(Some(characters.len()));
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
