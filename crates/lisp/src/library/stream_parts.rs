//! What streams are made of, and positions in files (chapters 20 and 21): the parts of composite
//! streams, `file-position`, `file-length` and their like. Reading and writing are in `streams`.

use std::io::{BufReader, BufWriter, Seek, SeekFrom};
use std::time::UNIX_EPOCH;

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::stream::{Listening, Stream, StreamKind, Unfinished};
use crate::stream_coding::Whole;
use crate::symbol;
use crate::value::{NIL, T, Value, list};

use super::byte_streams::type_of;
use super::gray;
use super::loading::cannot_open;
use super::streams::{path_of, stream_of};

/// The table.
pub static STREAMS: &[Native] = &[
    native("make-echo-stream", "input output", "Writes what it reads to another.", |_, a| {
        for stream in a {
            stream_of("make-echo-stream", stream)?;
        }
        let kind = StreamKind::Echo { input: a[0].clone(), output: a[1].clone() };
        Ok(Value::object(Object::Stream(Stream::new(kind))))
    }),
    native("echo-stream-input-stream", "stream", "Where it reads.", |_, a| {
        part("echo-stream-input-stream", "an echo stream", &a[0], |kind| match kind {
            StreamKind::Echo { input, .. } => Some(input.clone()),
            _ => None,
        })
    }),
    native("echo-stream-output-stream", "stream", "Where it writes.", |_, a| {
        part("echo-stream-output-stream", "an echo stream", &a[0], |kind| match kind {
            StreamKind::Echo { output, .. } => Some(output.clone()),
            _ => None,
        })
    }),
    native("two-way-stream-input-stream", "stream", "Where it reads.", |_, a| {
        part("two-way-stream-input-stream", "a two-way stream", &a[0], |kind| match kind {
            StreamKind::TwoWay { input, .. } => Some(input.clone()),
            _ => None,
        })
    }),
    native("two-way-stream-output-stream", "stream", "Where it writes.", |_, a| {
        part("two-way-stream-output-stream", "a two-way stream", &a[0], |kind| match kind {
            StreamKind::TwoWay { output, .. } => Some(output.clone()),
            _ => None,
        })
    }),
    native("broadcast-stream-streams", "stream", "The streams it writes to.", |_, a| {
        part("broadcast-stream-streams", "a broadcast stream", &a[0], |kind| match kind {
            StreamKind::Broadcast(streams) => Some(list(streams.clone())),
            _ => None,
        })
    }),
    native("concatenated-stream-streams", "stream", "The streams left to read.", |_, a| {
        part("concatenated-stream-streams", "a concatenated stream", &a[0], |kind| match kind {
            StreamKind::Concatenated(streams) => Some(list(streams.clone())),
            _ => None,
        })
    }),
    native("synonym-stream-symbol", "stream", "The variable that holds the stream.", |_, a| {
        part("synonym-stream-symbol", "a synonym stream", &a[0], |kind| match kind {
            StreamKind::Synonym(name) => Some(Value::symbol(*name)),
            _ => None,
        })
    }),
    native("stream-external-format", "stream", "How characters are bytes.", |lisp, a| {
        let coding = stream_of("stream-external-format", &a[0])?.file.coding;
        let name = lisp.keyword(&coding.charset.name().to_uppercase());
        let mut parts = vec![name.clone()];
        if coding.crlf {
            parts.extend([lisp.keyword("EOL"), lisp.keyword("CRLF")]);
        }
        if let Some(c) = coding.replacement {
            parts.extend([lisp.keyword("REPLACEMENT"), Value::Char(c)]);
        }
        Ok(if parts.len() == 1 { name } else { list(parts) })
    }),
    native(
        "read-char-no-hang",
        "&optional stream eof-error-p eof-value recursive-p",
        "The next character, or nil where none has come yet.",
        |lisp, a| {
            let designator = a.first().cloned().unwrap_or_default();
            let stream = lisp.input_stream(&designator, "read-char-no-hang")?;
            if !gray::is_own(&stream) && lisp.listen(&stream)? == Listening::Nothing {
                return Ok(NIL);
            }
            let read = lisp.intern(crate::package::CL, "READ-CHAR");
            lisp.call(&Value::symbol(read), a)
        },
    ),
    native("file-length", "stream", "The elements of a file.", |lisp, a| {
        let stream = stream_of("file-length", &a[0])?;
        if stream.name.is_empty() {
            return Err(wrong_stream("file-length", "a file stream", &a[0]));
        }
        lisp.flush(&a[0])?;
        let facts = match stream.file.unfinished.borrow().as_ref() {
            Some(Unfinished::Beside { replacement, .. }) => replacement.file().metadata(),
            _ => std::fs::metadata(&*stream.name),
        };
        let facts = facts.map_err(|error| cannot_open(&stream.name, &error))?;
        Ok(Value::size(facts.len() as usize / width(stream)))
    }),
    native(
        "file-position",
        "stream &optional position",
        "Where in the file a stream is, in bytes or elements; with a position, goes there.",
        |lisp, a| match a.get(1) {
            _ if gray::is_own(&a[0]) => gray::position(lisp, a),
            None => position(&a[0]),
            Some(wanted) => go_to(lisp, &a[0], wanted),
        },
    ),
    native("file-string-length", "stream object", "The bytes that text takes.", |_, a| {
        let coding = stream_of("file-string-length", &a[0])?.file.coding;
        let text = match &a[1] {
            Value::Char(c) => c.to_string(),
            Value::String(text) => text.to_text(),
            other => return Err(Escape::wrong_type("file-string-length", symbol::STRING, other)),
        };
        // What has no bytes has no length.
        Ok(coding.encode(&text).map_or(NIL, |bytes| Value::size(bytes.len())))
    }),
    native("file-write-date", "path", "When a file was written, in universal time.", |lisp, a| {
        let path = path_of(lisp, "file-write-date", &a[0])?;
        let time = std::fs::metadata(&path).and_then(|facts| facts.modified());
        let time = time.map_err(|error| cannot_open(&path, &error))?;
        let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        Ok(Value::Fixnum(seconds as i64 + super::system::EPOCH))
    }),
    native("file-author", "path", "Not known: nil for a file that exists.", |lisp, a| {
        let path = path_of(lisp, "file-author", &a[0])?;
        std::fs::metadata(&path).map_err(|error| cannot_open(&path, &error))?;
        Ok(NIL)
    }),
];

/// `stream-element-type`.
pub(super) fn element_type(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let elements = match gray::is_own(&a[0]) {
        true => {
            let binary = gray::inherits(lisp, &a[0], "FUNDAMENTAL-BINARY-STREAM")?;
            binary.truth().then_some(Whole::BYTE)
        }
        false => stream_of("stream-element-type", &a[0])?.file.elements,
    };
    Ok(elements.map_or(Value::symbol(symbol::CHARACTER), type_of))
}

/// The bytes of what positions count.
fn width(stream: &Stream) -> usize {
    stream.file.elements.map_or(1, |whole| whole.width)
}

fn wrong_stream(operator: &str, wanted: &str, value: &Value) -> Escape {
    Escape::unexpected(operator, wanted, Value::symbol(symbol::STREAM), value)
}

fn part(
    operator: &str,
    wanted: &str,
    value: &Value,
    of: impl FnOnce(&StreamKind) -> Option<Value>,
) -> Outcome {
    let found = of(&stream_of(operator, value)?.kind.borrow());
    found.ok_or_else(|| wrong_stream(operator, wanted, value))
}

/// The bytes, or elements, before the next one.
fn position(value: &Value) -> Outcome {
    let stream = stream_of("file-position", value)?;
    let elements = |bytes: u64| Value::size(bytes as usize / width(stream));
    Ok(match &mut *stream.kind.borrow_mut() {
        StreamKind::Both(file) => {
            elements(file.position().map_err(|error| stream.failed("read", &error))?)
        }
        StreamKind::Input { ahead, .. } => {
            elements(stream.bytes.get().saturating_sub(ahead.rest().len() as u64))
        }
        StreamKind::Output(_) => elements(stream.bytes.get()),
        StreamKind::StringInput { position, .. } => Value::size(*position),
        StreamKind::StringOutput(text) => Value::size(text.chars().count()),
        _ => NIL,
    })
}

fn file_length(stream: &Stream) -> u64 {
    std::fs::metadata(&*stream.name).map_or(0, |facts| facts.len())
}

/// A position given as a number, `:start` or `:end`.
fn wanted_position(lisp: &Lisp, stream: &Stream, wanted: &Value) -> Outcome<u64> {
    match (wanted.as_index(), wanted.as_symbol().map(|name| lisp.name(name))) {
        (Some(at), _) => Ok((at * width(stream)) as u64),
        (_, Some(name)) if &*name == "START" => Ok(0),
        (_, Some(name)) if &*name == "END" => Ok(match &*stream.kind.borrow() {
            StreamKind::StringInput { characters, .. } => characters.len() as u64,
            _ => file_length(stream),
        }),
        _ => Err(Escape::wrong_type("file-position", symbol::UNSIGNED_BYTE, wanted)),
    }
}

fn is_beside(stream: &Stream) -> bool {
    matches!(stream.file.unfinished.borrow().as_ref(), Some(Unfinished::Beside { .. }))
}

/// Opens the file again at a position; t, or nil for a stream that has none.
fn go_to(lisp: &mut Lisp, value: &Value, wanted: &Value) -> Outcome {
    lisp.flush(value)?;
    let stream = stream_of("file-position", value)?;
    let wanted = wanted_position(lisp, stream, wanted)?;
    let failed = |error: std::io::Error| stream.failed("read", &error);
    match &mut *stream.kind.borrow_mut() {
        StreamKind::StringInput { characters, position } if wanted <= characters.len() as u64 => {
            *position = wanted as usize;
            return Ok(T);
        }
        StreamKind::Both(file) => {
            file.seek(wanted).map_err(failed)?;
            return Ok(T);
        }
        _ if stream.name.is_empty() => return Ok(NIL),
        StreamKind::Input { .. } if wanted > file_length(stream) => return Ok(NIL),
        StreamKind::Input { source, ahead } => {
            let mut file = std::fs::File::open(&*stream.name).map_err(failed)?;
            file.seek(SeekFrom::Start(wanted)).map_err(failed)?;
            ahead.forget();
            *source = Box::new(BufReader::new(file));
        }
        StreamKind::Output(_) if is_beside(stream) => {
            if let Some(Unfinished::Beside { replacement, .. }) =
                stream.file.unfinished.borrow().as_ref()
            {
                // The writer's file has the same position.
                replacement.file().seek(SeekFrom::Start(wanted)).map_err(failed)?;
            }
        }
        StreamKind::Output(writer) => {
            let file = std::fs::OpenOptions::new().write(true).open(&*stream.name);
            let mut file = file.map_err(failed)?;
            file.seek(SeekFrom::Start(wanted)).map_err(failed)?;
            *writer = Box::new(BufWriter::new(file));
        }
        _ => return Ok(NIL),
    }
    stream.bytes.set(wanted);
    Ok(T)
}
