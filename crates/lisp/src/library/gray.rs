//! Streams that a program defines: instances of classes below `fundamental-stream`. The functions
//! on streams call the generic functions of `lisp/gray.lisp` for them.

use crate::condition::Outcome;
use crate::lisp::Lisp;
use crate::object::Object;
use crate::package::GRAY;
use crate::stream::Listening;
use crate::symbol;
use crate::value::{NIL, Value};

/// Whether a value is a stream that a program defines.
pub(crate) fn is_own(value: &Value) -> bool {
    match value.as_object() {
        Some(Object::Standard(it)) => {
            it.layout.borrow().precedence.contains(&symbol::FUNDAMENTAL_STREAM)
        }
        _ => false,
    }
}

/// Whether a value is a stream.
pub(crate) fn is_stream(value: &Value) -> bool {
    matches!(value.as_object(), Some(Object::Stream(_))) || is_own(value)
}

/// Calls one of the generic functions.
pub(super) fn ask(lisp: &mut Lisp, function: &str, arguments: &[Value]) -> Outcome {
    let function = lisp.intern(GRAY, function);
    lisp.call(&Value::symbol(function), arguments)
}

/// Whether a stream is of a class of package `trivial-gray-streams`.
pub(super) fn inherits(lisp: &mut Lisp, stream: &Value, class: &str) -> Outcome {
    let class = lisp.intern(GRAY, class);
    Ok(Value::boolean(lisp.classes_of(stream).contains(&class)))
}

/// Writes text.
pub(super) fn write(lisp: &mut Lisp, stream: &Value, text: &str) -> Outcome<()> {
    let mut characters = text.chars();
    match (characters.next(), characters.next()) {
        (None, _) => {}
        (Some(c), None) => {
            ask(lisp, "STREAM-WRITE-CHAR", &[stream.clone(), Value::Char(c)])?;
        }
        _ => {
            ask(lisp, "STREAM-WRITE-STRING", &[stream.clone(), Value::string(text)])?;
        }
    }
    Ok(())
}

/// The column of the next character; 1 where the stream does not know, so that a fresh line is
/// begun.
pub(super) fn column(lisp: &mut Lisp, stream: &Value) -> usize {
    let column = ask(lisp, "STREAM-LINE-COLUMN", std::slice::from_ref(stream));
    column.ok().and_then(|column| column.as_index()).unwrap_or(1)
}

/// The next character, which stays unless `take`; none at the end.
pub(super) fn next_character(lisp: &mut Lisp, stream: &Value, take: bool) -> Outcome<Option<char>> {
    let function = if take { "STREAM-READ-CHAR" } else { "STREAM-PEEK-CHAR" };
    match ask(lisp, function, std::slice::from_ref(stream))? {
        Value::Char(c) => Ok(Some(c)),
        _ => Ok(None),
    }
}

/// What there is for a reader who does not wait; the end and nothing yet are one to such streams.
pub(super) fn listen(lisp: &mut Lisp, stream: &Value) -> Outcome<Listening> {
    let there = ask(lisp, "STREAM-LISTEN", std::slice::from_ref(stream))?.truth();
    Ok(if there { Listening::There } else { Listening::Nothing })
}

/// `(file-position stream)` or `(file-position stream position)`.
pub(super) fn position(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let Some(wanted) = a.get(1) else { return ask(lisp, "STREAM-FILE-POSITION", &a[..1]) };
    let name = lisp.intern(GRAY, "STREAM-FILE-POSITION");
    let function = lisp.symbols[name].setf_function.clone();
    if function.is_unbound() {
        return Ok(NIL);
    }
    lisp.call(&function, &[wanted.clone(), a[0].clone()])
}
