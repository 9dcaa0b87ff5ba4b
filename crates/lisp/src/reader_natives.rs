//! The language's own reading functions: `read`, `read-from-string` and their kin.

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::reader::Reader;
use crate::symbol;
use crate::value::Value;

/// The functions of chapter 23 that read.
pub static READER: &[Native] = &[
    native(
        "read",
        "&optional stream eof-error-p eof-value recursive-p",
        "The next form from the stream.",
        |lisp, arguments| read(lisp, arguments, false),
    ),
    native(
        "read-preserving-whitespace",
        "&optional stream eof-error-p eof-value recursive-p",
        "As read, and leaves the blank after the form in the stream.",
        |lisp, arguments| read(lisp, arguments, true),
    ),
    native(
        "read-delimited-list",
        "char &optional stream recursive-p",
        "The forms up to the character, which is consumed, as a list.",
        read_delimited_list,
    ),
    native(
        "read-from-string",
        "string &optional eof-error-p eof-value &key start end preserve-whitespace",
        "The first form in the string, and the index of the first character not read.",
        read_from_string,
    ),
];

fn input(lisp: &mut Lisp, designator: Option<&Value>, operator: &str) -> Outcome {
    lisp.input_stream(designator.unwrap_or(&Value::Nil), operator)
}

/// End of file: the value given for it, or an error where `eof-error-p` is true or left out.
fn at_end(operator: &str, error: Option<&Value>, value: Option<&Value>) -> Outcome {
    match error {
        Some(Value::Nil) => Ok(value.cloned().unwrap_or_default()),
        _ => Err(Escape::of(symbol::END_OF_FILE, format!("{operator}: end of file"))),
    }
}

fn read(lisp: &mut Lisp, arguments: &[Value], preserving: bool) -> Outcome {
    let stream = input(lisp, arguments.first(), "read")?;
    let recursive = arguments.get(3).is_some_and(Value::truth);
    let mut reader = Reader::within(lisp, &stream, recursive);
    match reader.read(lisp)? {
        Some(value) => {
            // Only a token has looked at the character behind it; asking after a `)` would wait
            // for a line that nobody has to type.
            if !preserving
                && reader.ended_by_token()
                && lisp.peek_char(&stream)?.is_some_and(|c| reader.is_blank(c))
            {
                lisp.read_char(&stream)?;
            }
            Ok(value)
        }
        None => at_end("read", arguments.get(1), arguments.get(2)),
    }
}

fn read_delimited_list(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let Value::Char(close) = arguments[0] else {
        return Err(Escape::wrong_type("read-delimited-list", symbol::CHARACTER, &arguments[0]));
    };
    let stream = input(lisp, arguments.get(1), "read-delimited-list")?;
    let recursive = arguments.get(2).is_some_and(Value::truth);
    Ok(Reader::within(lisp, &stream, recursive).delimited(lisp, close)?)
}

fn read_from_string(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let Value::String(text) = &arguments[0] else {
        return Err(Escape::wrong_type("read-from-string", symbol::STRING, &arguments[0]));
    };
    let rest = arguments.get(3..).unwrap_or(&[]);
    let preserve = symbol::KEY_PRESERVE_WHITESPACE;
    let [start, end, preserve] =
        keywords(lisp, rest, [symbol::KEY_START, symbol::KEY_END, preserve])?;
    let length = text.len();
    let bound = |value: Option<Value>, otherwise: usize| match value {
        None | Some(Value::Nil) => Ok(otherwise),
        Some(value) => match value.as_index() {
            Some(index) if index <= length => Ok(index),
            _ => {
                let wanted = format!("an index up to {length}");
                let wanted_type = Value::symbol(symbol::UNSIGNED_BYTE);
                Err(Escape::unexpected("read-from-string", &wanted, wanted_type, &value))
            }
        },
    };
    let (start, end) = (bound(start, 0)?, bound(end, length)?);
    let active = text.to_text().chars().take(end).collect::<String>();
    let mut reader = Reader::new(&active, None);
    reader.set_position(start);
    let Some(value) = reader.read(lisp)? else {
        return at_end("read-from-string", arguments.get(1), arguments.get(2));
    };
    let keep = preserve.is_some_and(|value| value.truth());
    if !keep && reader.ended_by_token() && reader.peek(lisp)?.is_some_and(|c| reader.is_blank(c)) {
        reader.next(lisp)?;
    }
    let position = Value::size(reader.position());
    Ok(lisp.values(vec![value, position]))
}
