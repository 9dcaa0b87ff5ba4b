//! Streams and files (chapters 20 and 21). Text for printing comes from `printer`.

use crate::condition::{Condition, Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::object::Object;
use crate::offer::Offer;
use crate::package::CL;
use crate::stream::{Listening, Stream, StreamKind, Unfinished};
use crate::stream_coding::Next;
use crate::symbol;
use crate::value::{NIL, T, Value};

use super::files::open;
use super::gray;
use super::loading::cannot_open;

pub(super) fn stream_of<'v>(operator: &str, value: &'v Value) -> Outcome<&'v Stream> {
    match value.as_object() {
        Some(Object::Stream(stream)) => Ok(stream),
        _ => Err(Escape::wrong_type(operator, symbol::STREAM, value)),
    }
}

/// What a string output stream has collected.
pub fn take_text(stream: &Value) -> String {
    stream_of("", stream).ok().and_then(Stream::take_text).unwrap_or_default()
}

/// What may be done about malformed bytes.
const USE_CHARACTER: Offer =
    Offer { package: CL, name: "USE-VALUE", report: "Give a character in their place." };
const GO_ON: Offer = Offer { package: CL, name: "CONTINUE", report: "Read U+FFFD in their place." };

/// Where a stream really leads.
enum Route {
    Here,
    Other(Value),
    Several(Vec<Value>),
    /// What is taken from the first is written to the second.
    Echo(Value, Value),
    /// To the functions of a program.
    Own,
}

impl Lisp {
    /// The stream that an output designator means: nil, t or a stream.
    pub fn output_stream(&self, designator: &Value, operator: &str) -> Outcome {
        match designator {
            Value::Nil => Ok(self.variable(symbol::STANDARD_OUTPUT).clone()),
            Value::Symbol(symbol::T) => Ok(self.variable(symbol::STANDARD_OUTPUT).clone()),
            other if gray::is_stream(other) => Ok(other.clone()),
            other => Err(Escape::wrong_type(operator, symbol::STREAM, other)),
        }
    }

    /// The stream that an input designator means.
    pub fn input_stream(&self, designator: &Value, operator: &str) -> Outcome {
        match designator {
            Value::Nil | Value::Symbol(symbol::T) => {
                Ok(self.variable(symbol::STANDARD_INPUT).clone())
            }
            other if gray::is_stream(other) => Ok(other.clone()),
            other => Err(Escape::wrong_type(operator, symbol::STREAM, other)),
        }
    }

    fn route(&self, stream: &Value, output: bool) -> Outcome<Route> {
        if gray::is_own(stream) {
            return Ok(Route::Own);
        }
        Ok(match &*stream_of("stream", stream)?.kind.borrow() {
            StreamKind::Synonym(name) => Route::Other(self.variable(*name).clone()),
            StreamKind::Echo { output: to, .. } if output => Route::Other(to.clone()),
            StreamKind::Echo { input, output: to } => Route::Echo(input.clone(), to.clone()),
            StreamKind::TwoWay { input, output: to } => {
                Route::Other(if output { to.clone() } else { input.clone() })
            }
            StreamKind::Broadcast(streams) if output => Route::Several(streams.clone()),
            StreamKind::Concatenated(streams) if !output => Route::Several(streams.clone()),
            _ => Route::Here,
        })
    }

    /// Writes text to a stream.
    pub fn write(&mut self, stream: &Value, text: &str) -> Outcome<()> {
        crate::stack::check("the stream")?;
        match self.route(stream, true)? {
            Route::Here => stream_of("write", stream)?.write_here(text),
            Route::Other(stream) => self.write(&stream, text),
            Route::Several(streams) => {
                streams.iter().try_for_each(|stream| self.write(stream, text))
            }
            Route::Echo(..) => Ok(()),
            Route::Own => gray::write(self, stream, text),
        }
    }

    /// Whether a person is at the other end of a stream.
    fn is_terminal(&self, stream: &Value) -> Outcome<bool> {
        crate::stack::check("the stream")?;
        match self.route(stream, true)? {
            Route::Here => Ok(stream_of("interactive-stream-p", stream)?.terminal.get()),
            Route::Other(stream) => self.is_terminal(&stream),
            Route::Several(_) | Route::Echo(..) | Route::Own => Ok(false),
        }
    }

    /// The column that the next character written goes to.
    pub fn column(&mut self, stream: &Value) -> usize {
        match self.route(stream, true) {
            Ok(Route::Here) => stream_of("", stream).map_or(0, |stream| stream.column.get()),
            Ok(Route::Other(stream)) => self.column(&stream),
            Ok(Route::Own) => gray::column(self, stream),
            _ => 0,
        }
    }

    /// Sends what is buffered on its way.
    pub fn flush(&mut self, stream: &Value) -> Outcome<()> {
        match self.route(stream, true)? {
            Route::Here => stream_of("finish-output", stream)?.flush_here(),
            Route::Other(stream) => self.flush(&stream),
            Route::Several(streams) => streams.iter().try_for_each(|stream| self.flush(stream)),
            Route::Echo(..) => Ok(()),
            Route::Own => {
                gray::ask(self, "STREAM-FINISH-OUTPUT", std::slice::from_ref(stream)).map(drop)
            }
        }
    }

    /// What a stream has for a reader who does not wait.
    pub(super) fn listen(&mut self, stream: &Value) -> Outcome<Listening> {
        crate::stack::check("the stream")?;
        match self.route(stream, false)? {
            Route::Here => stream_of("listen", stream)?.listen_here(),
            Route::Other(stream) | Route::Echo(stream, _) => self.listen(&stream),
            Route::Several(streams) => {
                for stream in &streams {
                    match self.listen(stream)? {
                        Listening::End => {}
                        found => return Ok(found),
                    }
                }
                Ok(Listening::End)
            }
            Route::Own => gray::listen(self, stream),
        }
    }

    fn next_character(&mut self, stream: &Value, take: bool) -> Outcome<Option<char>> {
        crate::stack::check("the stream")?;
        match self.route(stream, false)? {
            Route::Here => {
                let here = stream_of("read-char", stream)?;
                let asks = here.name.is_empty()
                    && matches!(
                        &*here.kind.borrow(),
                        StreamKind::Input { ahead, .. } if ahead.rest().is_empty()
                    );
                if asks {
                    // Whoever is asked something should see the question first.
                    let output = self.variable(symbol::STANDARD_OUTPUT).clone();
                    self.flush(&output)?;
                }
                loop {
                    let here = stream_of("read-char", stream)?;
                    match here.next_here(take)? {
                        Next::Character(c) => return Ok(Some(c)),
                        Next::End => return Ok(None),
                        Next::Malformed(bytes) => {
                            let c = self.decoded(stream, here.malformed(&bytes))?;
                            here.replace_next(c, bytes.len());
                        }
                    }
                }
            }
            Route::Other(stream) => self.next_character(&stream, take),
            Route::Own => gray::next_character(self, stream, take),
            Route::Echo(input, output) => {
                let next = self.next_character(&input, take)?;
                if let (Some(c), true) = (next, take) {
                    self.write(&output, c.encode_utf8(&mut [0; 4]))?;
                }
                Ok(next)
            }
            Route::Several(streams) => {
                for stream in &streams {
                    if let Some(next) = self.next_character(stream, take)? {
                        return Ok(Some(next));
                    }
                }
                Ok(None)
            }
        }
    }

    /// The character that a handler has for malformed bytes.
    fn decoded(&mut self, stream: &Value, condition: Condition) -> Outcome<char> {
        let condition = condition.with(symbol::KEY_STREAM, stream.clone());
        let chosen = self.offer(condition.into(), &[USE_CHARACTER, GO_ON])?;
        match (chosen.number, chosen.arguments.first()) {
            (0, Some(Value::Char(c))) => Ok(*c),
            (0, given) => {
                let given = given.cloned().unwrap_or_default();
                Err(Escape::wrong_type("use-value", symbol::CHARACTER, &given))
            }
            _ => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    /// Takes the next character; none at the end.
    pub fn read_char(&mut self, stream: &Value) -> Outcome<Option<char>> {
        self.next_character(stream, true)
    }

    /// Looks at the next character.
    pub fn peek_char(&mut self, stream: &Value) -> Outcome<Option<char>> {
        self.next_character(stream, false)
    }

    fn unread(&mut self, stream: &Value, character: &Value) -> Outcome<()> {
        match self.route(stream, false)? {
            Route::Here => stream_of("unread-char", stream)?.unread_here(),
            Route::Other(stream) | Route::Echo(stream, _) => self.unread(&stream, character),
            Route::Own => {
                let arguments = [stream.clone(), character.clone()];
                gray::ask(self, "STREAM-UNREAD-CHAR", &arguments).map(drop)
            }
            Route::Several(_) => Err(Escape::error("unread-char: not on this stream")),
        }
    }
}

/// `close`.
pub(super) fn close(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    if gray::is_own(&a[0]) {
        return Ok(T);
    }
    let abort = keywords(lisp, &a[1..], [symbol::KEY_ABORT])?;
    let abort = abort[0].as_ref().is_some_and(Value::truth);
    stream_of("close", &a[0])?;
    let flushed = if abort { Ok(()) } else { lisp.flush(&a[0]) };
    let stream = stream_of("close", &a[0])?;
    // A string output stream still gives its text afterwards.
    let is_text = matches!(&*stream.kind.borrow(), StreamKind::StringOutput(_));
    if !is_text {
        drop(stream.kind.replace(StreamKind::Closed));
    }
    let unfinished = stream.file.unfinished.take();
    match (unfinished, flushed) {
        (Some(Unfinished::New(path)), _) if abort => {
            // What cannot be removed stays, as it would without this.
            let _ = std::fs::remove_file(path);
            Ok(T)
        }
        (Some(Unfinished::Beside { replacement, kept }), Ok(())) if !abort => {
            let finished = replacement.finish(kept.as_deref());
            finished.map(|()| T).map_err(|error| stream.failed("write", &error))
        }
        (_, flushed) => flushed.map(|()| T),
    }
}

/// `open-stream-p`.
pub(super) fn is_open(_: &mut Lisp, a: &[Value]) -> Outcome {
    if gray::is_own(&a[0]) {
        return Ok(T);
    }
    let stream = stream_of("open-stream-p", &a[0])?;
    Ok(Value::boolean(!matches!(&*stream.kind.borrow(), StreamKind::Closed)))
}

/// `interactive-stream-p`.
pub(super) fn is_interactive(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    Ok(Value::boolean(lisp.is_terminal(&a[0])?))
}

/// `input-stream-p`.
pub(super) fn gives_input(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    if gray::is_own(&a[0]) {
        return gray::inherits(lisp, &a[0], "FUNDAMENTAL-INPUT-STREAM");
    }
    let kind = stream_of("input-stream-p", &a[0])?.kind.borrow();
    let output = matches!(
        &*kind,
        StreamKind::StringOutput(_) | StreamKind::Output(_) | StreamKind::Broadcast(_)
    );
    Ok(Value::boolean(!output))
}

/// `output-stream-p`.
pub(super) fn takes_output(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    if gray::is_own(&a[0]) {
        return gray::inherits(lisp, &a[0], "FUNDAMENTAL-OUTPUT-STREAM");
    }
    let kind = stream_of("output-stream-p", &a[0])?.kind.borrow();
    let input = matches!(
        &*kind,
        StreamKind::StringInput { .. } | StreamKind::Input { .. } | StreamKind::Concatenated(_)
    );
    Ok(Value::boolean(!input))
}

/// `nil` or a value from the optional arguments.
fn optional(a: &[Value], index: usize) -> Value {
    a.get(index).cloned().unwrap_or_default()
}

fn end_of_file(stream: &Value) -> Escape {
    Condition::new(symbol::END_OF_FILE, "end of file")
        .with(symbol::KEY_STREAM, stream.clone())
        .into()
}

/// What the reading functions give at the end of the stream: arguments from `first` on are
/// eof-error-p and eof-value.
pub(super) fn at_end(a: &[Value], first: usize, stream: &Value) -> Outcome {
    match a.get(first) {
        Some(Value::Nil) => Ok(optional(a, first + 1)),
        _ => Err(end_of_file(stream)),
    }
}

/// The table.
pub static STREAMS: &[Native] = &[
    native("terpri", "&optional stream", "Ends the line.", |lisp, a| {
        let stream = lisp.output_stream(&optional(a, 0), "terpri")?;
        lisp.write(&stream, "\n")?;
        Ok(NIL)
    }),
    native("fresh-line", "&optional stream", "Ends the line unless it is empty.", |lisp, a| {
        let stream = lisp.output_stream(&optional(a, 0), "fresh-line")?;
        if lisp.column(&stream) == 0 {
            return Ok(NIL);
        }
        lisp.write(&stream, "\n")?;
        Ok(T)
    }),
    native("write-char", "character &optional stream", "Writes a character.", |lisp, a| {
        let Value::Char(c) = a[0] else {
            return Err(Escape::wrong_type("write-char", symbol::CHARACTER, &a[0]));
        };
        let stream = lisp.output_stream(&optional(a, 1), "write-char")?;
        lisp.write(&stream, c.encode_utf8(&mut [0; 4]))?;
        Ok(a[0].clone())
    }),
    native("write-string", "string &optional stream &key start end", "Writes a string.", |l, a| {
        write_string(l, a, false)
    }),
    native("write-line", "string &optional stream &key start end", "Writes a line.", |l, a| {
        write_string(l, a, true)
    }),
    native("finish-output", "&optional stream", "Waits for the output.", flush),
    native("force-output", "&optional stream", "Sends the output on its way.", flush),
    native("clear-output", "&optional stream", "Does nothing.", |_, _| Ok(NIL)),
    native("clear-input", "&optional stream", "Does nothing.", |_, _| Ok(NIL)),
    native(
        "read-char",
        "&optional stream eof-error-p eof-value recursive-p",
        "The next character.",
        |lisp, a| {
            let stream = lisp.input_stream(&optional(a, 0), "read-char")?;
            match lisp.read_char(&stream)? {
                Some(c) => Ok(Value::Char(c)),
                None => at_end(a, 1, &stream),
            }
        },
    ),
    native(
        "peek-char",
        "&optional type stream eof-error-p eof-value recursive-p",
        "The next character, which stays.",
        |lisp, a| {
            let stream = lisp.input_stream(&optional(a, 1), "peek-char")?;
            loop {
                let Some(c) = lisp.peek_char(&stream)? else { return at_end(a, 2, &stream) };
                let skip = match optional(a, 0) {
                    Value::Nil => false,
                    Value::Char(wanted) => c != wanted,
                    _ => c.is_whitespace(),
                };
                if !skip {
                    return Ok(Value::Char(c));
                }
                lisp.read_char(&stream)?;
            }
        },
    ),
    native("unread-char", "character &optional stream", "Puts a character back.", |lisp, a| {
        let stream = lisp.input_stream(&optional(a, 1), "unread-char")?;
        lisp.unread(&stream, &a[0])?;
        Ok(NIL)
    }),
    native(
        "read-line",
        "&optional stream eof-error-p eof-value recursive-p",
        "The next line, and whether its end was missing.",
        read_line,
    ),
    native("listen", "&optional stream", "Whether a character is there.", |lisp, a| {
        let stream = lisp.input_stream(&optional(a, 0), "listen")?;
        Ok(Value::boolean(lisp.listen(&stream)? == Listening::There))
    }),
    native(
        "open",
        "path &key direction element-type if-exists if-does-not-exist external-format byte-order eol",
        "Opens a file.",
        open,
    ),
    native("streamp", "object", "Whether it is a stream.", |_, a| {
        Ok(Value::boolean(gray::is_stream(&a[0])))
    }),
    native("rung::%own-stream-p", "object", "Whether a program's class defines it.", |_, a| {
        Ok(Value::boolean(gray::is_own(&a[0])))
    }),
    native("make-string-output-stream", "&key element-type", "Collects output.", |_, _| {
        Ok(Value::object(Object::Stream(Stream::string_output())))
    }),
    native("make-string-input-stream", "string &optional start end", "Reads a string.", |_, a| {
        let Some(text) = a[0].as_text() else {
            return Err(Escape::wrong_type("make-string-input-stream", symbol::STRING, &a[0]));
        };
        let (start, end) = super::sequence_parts::bounds(
            "make-string-input-stream",
            a.get(1),
            a.get(2),
            text.len(),
        )?;
        let characters = text.read(|all| all[start..end].into());
        let kind = StreamKind::StringInput { characters, position: 0 };
        Ok(Value::object(Object::Stream(Stream::new(kind))))
    }),
    native(
        "get-output-stream-string",
        "stream",
        "What was written since the last time.",
        |_, a| {
            let text = stream_of("get-output-stream-string", &a[0])?.take_text();
            Ok(Value::string(&text.unwrap_or_default()))
        },
    ),
    native("make-synonym-stream", "symbol", "The stream a variable holds.", |_, a| {
        match a[0].as_symbol() {
            Some(name) => Ok(Value::object(Object::Stream(Stream::new(StreamKind::Synonym(name))))),
            None => Err(Escape::wrong_type("make-synonym-stream", symbol::SYMBOL, &a[0])),
        }
    }),
    native("make-two-way-stream", "input output", "Joins two streams.", |_, a| {
        let kind = StreamKind::TwoWay { input: a[0].clone(), output: a[1].clone() };
        Ok(Value::object(Object::Stream(Stream::new(kind))))
    }),
    native("make-broadcast-stream", "&rest streams", "Writes to all.", |_, a| {
        Ok(Value::object(Object::Stream(Stream::new(StreamKind::Broadcast(a.to_vec())))))
    }),
    native("make-concatenated-stream", "&rest streams", "Reads one after another.", |_, a| {
        Ok(Value::object(Object::Stream(Stream::new(StreamKind::Concatenated(a.to_vec())))))
    }),
    native("probe-file", "path", "The pathname of a file if it exists.", |lisp, a| {
        let path = path_of(lisp, "probe-file", &a[0])?;
        let there = std::path::Path::new(&path).exists();
        Ok(if there { Value::object(Object::Pathname(path)) } else { NIL })
    }),
    native("delete-file", "path", "Removes a file.", |lisp, a| {
        let path = path_of(lisp, "delete-file", &a[0])?;
        std::fs::remove_file(&path).map_err(|error| cannot_open(&path, &error))?;
        Ok(T)
    }),
    native("namestring", "path", "A pathname as a string.", |lisp, a| {
        Ok(Value::string(&path_of(lisp, "namestring", &a[0])?))
    }),
    native("pathname", "path", "A string as a pathname.", |lisp, a| {
        Ok(Value::object(Object::Pathname(path_of(lisp, "pathname", &a[0])?)))
    }),
    native("pathnamep", "object", "Whether it is a pathname.", |_, a| {
        Ok(Value::boolean(matches!(a[0].as_object(), Some(Object::Pathname(_)))))
    }),
    native("uiop:read-file-string", "path", "A file's text.", |lisp, a| {
        let path = path_of(lisp, "read-file-string", &a[0])?;
        Ok(Value::string(&text_of(lisp, &path)?))
    }),
    native("uiop:read-file-lines", "path", "A file's lines.", |lisp, a| {
        let path = path_of(lisp, "read-file-lines", &a[0])?;
        let text = text_of(lisp, &path)?;
        Ok(crate::value::list(text.lines().map(Value::string).collect::<Vec<_>>()))
    }),
];

fn flush(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let stream = lisp.output_stream(&optional(a, 0), "finish-output")?;
    lisp.flush(&stream)?;
    Ok(NIL)
}

fn write_string(lisp: &mut Lisp, a: &[Value], line: bool) -> Outcome {
    let Some(text) = a[0].as_text() else {
        return Err(Escape::wrong_type("write-string", symbol::STRING, &a[0]));
    };
    let stream = lisp.output_stream(&optional(a, 1), "write-string")?;
    let rest = a.get(2..).unwrap_or(&[]);
    let [start, end] = keywords(lisp, rest, [symbol::KEY_START, symbol::KEY_END])?;
    let (start, end) =
        super::sequence_parts::bounds("write-string", start.as_ref(), end.as_ref(), text.len())?;
    let mut part = text.read(|all| all[start..end].iter().collect::<String>());
    if line {
        part.push('\n');
    }
    lisp.write(&stream, &part)?;
    Ok(a[0].clone())
}

fn read_line(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let stream = lisp.input_stream(&optional(a, 0), "read-line")?;
    let mut line = String::new();
    loop {
        match lisp.read_char(&stream)? {
            Some('\n') => return Ok(lisp.values(vec![Value::string(&line), NIL])),
            Some(c) => line.push(c),
            None if line.is_empty() => {
                let value = at_end(a, 1, &stream)?;
                return Ok(lisp.values(vec![value, T]));
            }
            None => return Ok(lisp.values(vec![Value::string(&line), T])),
        }
    }
}

/// The text of a file in UTF-8.
fn text_of(lisp: &mut Lisp, path: &str) -> Outcome<String> {
    let bytes = std::fs::read(path).map_err(|error| cannot_open(path, &error))?;
    let bytes = match String::from_utf8(bytes) {
        Ok(text) => return Ok(text),
        Err(error) => error.into_bytes(),
    };
    let source = Box::new(std::io::Cursor::new(bytes));
    let kind = StreamKind::Input { source, ahead: Box::default() };
    let stream = Stream { name: path.into(), ..Stream::new(kind) };
    let stream = Value::object(Object::Stream(stream));
    let mut text = String::new();
    while let Some(c) = lisp.read_char(&stream)? {
        text.push(c);
    }
    Ok(text)
}

/// The path that a pathname designator means.
pub fn path_of(lisp: &Lisp, operator: &str, value: &Value) -> Outcome<String> {
    let path = match value {
        Value::String(text) => text.to_text(),
        other => match other.as_object() {
            Some(Object::Pathname(path)) => path.clone(),
            Some(Object::Stream(stream)) if !stream.name.is_empty() => stream.name.to_string(),
            _ => return Err(Escape::wrong_type(operator, symbol::PATHNAME, other)),
        },
    };
    let _ = lisp;
    match path.strip_prefix("~/") {
        Some(rest) => match std::env::var("HOME") {
            Ok(home) => Ok(format!("{home}/{rest}")),
            Err(_) => Ok(path),
        },
        None => Ok(path),
    }
}
