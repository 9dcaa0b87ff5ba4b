//! Streams: where characters come from and go to, and the column they have reached.
//!
//! The standard streams are given by the embedder; the library itself opens only files the
//! program names. The language's functions are in `library::streams`.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::rc::Rc;

use rung_base::file::Replacement;

use crate::condition::{Condition, Escape, EscapeKind, Outcome};
use crate::source_of_input::Source;
use crate::stream_coding::{Ahead, Coding, Next, Whole};
use crate::symbol::{self, Symbol};
use crate::value::Value;

/// What is behind a stream.
pub enum StreamKind {
    /// Reads from characters in memory.
    StringInput { characters: Rc<[char]>, position: usize },
    /// Collects characters.
    StringOutput(String),
    /// Writes bytes; buffering is the writer's business.
    Output(Box<dyn Write>),
    /// Reads bytes line by line.
    Input { source: Box<dyn Source>, ahead: Box<Ahead> },
    /// Reads and writes a file at one position.
    Both(Box<crate::stream_both::BothWays>),
    /// The stream that is the value of a variable.
    Synonym(Symbol),
    /// Reads from one stream, writes to another.
    TwoWay { input: Value, output: Value },
    /// Reads from one stream, and writes what it has read to another.
    Echo { input: Value, output: Value },
    /// Writes to each of the streams.
    Broadcast(Vec<Value>),
    /// Reads from one stream after another.
    Concatenated(Vec<Value>),
    /// `close` was called.
    Closed,
}

/// A stream.
pub struct Stream {
    /// What is behind it.
    pub kind: RefCell<StreamKind>,
    /// The column the next character goes to, from 0.
    pub column: Cell<usize>,
    /// The file's name, for printing; empty for other streams.
    pub name: Box<str>,
    /// Bytes that the file has given or taken.
    pub bytes: Cell<u64>,
    /// A person sees what is written, or types what is read.
    pub terminal: Cell<bool>,
    /// How the file was opened.
    pub file: Box<Opened>,
}

/// What a stream has for a reader who does not wait.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Listening {
    /// A character.
    There,
    /// Nothing yet.
    Nothing,
    /// The end of the input.
    End,
}

/// How a file was opened.
#[derive(Default)]
pub struct Opened {
    /// How characters are bytes.
    pub coding: Coding,
    /// Opened for integers.
    pub elements: Option<Whole>,
    /// What `close` still has to do with the file.
    pub unfinished: RefCell<Option<Unfinished>>,
}

/// An output file that `close` with `:abort` undoes.
pub enum Unfinished {
    /// Written beside the file whose place it takes, which is kept under another name if there is one.
    Beside { replacement: Replacement, kept: Option<PathBuf> },
    /// Made by `open`.
    New(PathBuf),
}

impl Stream {
    /// A stream on something.
    pub fn new(kind: StreamKind) -> Stream {
        Stream {
            kind: RefCell::new(kind),
            column: Cell::new(0),
            name: Box::default(),
            bytes: Cell::new(0),
            terminal: Cell::new(false),
            file: Box::default(),
        }
    }

    /// Reads the characters of a text.
    pub fn string_input(text: &str) -> Stream {
        let characters = text.chars().collect();
        Stream::new(StreamKind::StringInput { characters, position: 0 })
    }

    /// Collects what is written.
    pub fn string_output() -> Stream {
        Stream::new(StreamKind::StringOutput(String::new()))
    }

    /// What a string output stream has collected since the last time.
    pub fn take_text(&self) -> Option<String> {
        self.column.set(0);
        match &mut *self.kind.borrow_mut() {
            StreamKind::StringOutput(text) => Some(std::mem::take(text)),
            _ => None,
        }
    }

    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Value)) {
        let Ok(kind) = self.kind.try_borrow() else { return };
        match &*kind {
            StreamKind::TwoWay { input, output } | StreamKind::Echo { input, output } => {
                visit(input);
                visit(output);
            }
            StreamKind::Broadcast(streams) | StreamKind::Concatenated(streams) => {
                streams.iter().for_each(visit);
            }
            _ => {}
        }
    }

    /// Writes text to a stream that leads nowhere else (see `Lisp::write` for the others).
    pub(crate) fn write_here(&self, text: &str) -> Outcome<()> {
        match &mut *self.kind.borrow_mut() {
            StreamKind::StringOutput(collected) => collected.push_str(text),
            StreamKind::Output(writer) => {
                let bytes = self.encoded(text)?;
                writer.write_all(&bytes).map_err(|error| self.failed("write", &error))?;
                self.bytes.set(self.bytes.get() + bytes.len() as u64);
            }
            StreamKind::Both(file) => {
                let bytes = self.encoded(text)?;
                file.write(&bytes).map_err(|error| self.failed("write", &error))?;
            }
            StreamKind::Closed => return Err(stream_error("the stream is closed")),
            _ => return Err(stream_error("the stream does not take output")),
        }
        match text.rfind('\n') {
            Some(end) => self.column.set(text[end + 1..].chars().count()),
            None => self.column.set(self.column.get() + text.chars().count()),
        }
        Ok(())
    }

    /// Sends buffered output on its way.
    pub(crate) fn flush_here(&self) -> Outcome<()> {
        match &mut *self.kind.borrow_mut() {
            StreamKind::Output(writer) => {
                writer.flush().map_err(|error| self.failed("write", &error))
            }
            _ => Ok(()),
        }
    }

    /// The bytes of a text in the file.
    fn encoded<'t>(&self, text: &'t str) -> Outcome<Cow<'t, [u8]>> {
        self.file.coding.encode(text).map_err(|c| {
            let (name, charset) = (self.shown_name(), self.file.coding.charset.name());
            stream_error(&format!("cannot write{name}: {charset} has no {c:?}"))
                .hint(":external-format :utf-8 has every character; (:latin-1 :replacement #\\?) writes another")
        })
    }

    fn shown_name(&self) -> String {
        if self.name.is_empty() { String::new() } else { format!(" {}", self.name) }
    }

    /// The next character, which stays unless `take`.
    pub(crate) fn next_here(&self, take: bool) -> Outcome<Next> {
        match &mut *self.kind.borrow_mut() {
            StreamKind::StringInput { characters, position } => {
                let next = characters.get(*position).copied();
                *position += usize::from(take && next.is_some());
                Ok(next.map_or(Next::End, Next::Character))
            }
            StreamKind::Input { source, ahead } => {
                if ahead.rest().is_empty() {
                    let count = ahead.extend(|bytes| source.read_until(b'\n', bytes));
                    let count = count.map_err(|error| self.failed("read", &error))?;
                    self.bytes.set(self.bytes.get() + count as u64);
                }
                Ok(ahead.next(self.file.coding, take))
            }
            StreamKind::Both(file) => {
                let next = file.character(self.file.coding, take);
                next.map_err(|error| self.failed("read", &error))
            }
            StreamKind::Closed => Err(stream_error("the stream is closed")),
            _ => Err(stream_error("the stream gives no input")),
        }
    }

    /// Whether a character can be had without waiting; none where its bytes' end is there.
    pub(crate) fn listen_here(&self) -> Outcome<Listening> {
        match &mut *self.kind.borrow_mut() {
            StreamKind::Input { ahead, .. } if !ahead.rest().is_empty() => {
                return Ok(Listening::There);
            }
            StreamKind::Input { source, .. } => {
                if !source.is_ready() {
                    return Ok(Listening::Nothing);
                }
                let bytes = source.fill_buf().map_err(|error| self.failed("read", &error))?;
                return Ok(if bytes.is_empty() { Listening::End } else { Listening::There });
            }
            _ => {}
        }
        let next = self.next_here(false)?;
        Ok(if matches!(next, Next::End) { Listening::End } else { Listening::There })
    }

    /// The malformed bytes that come next are this character.
    pub(crate) fn replace_next(&self, c: char, width: usize) {
        match &mut *self.kind.borrow_mut() {
            StreamKind::Input { ahead, .. } => ahead.replace(c, width),
            StreamKind::Both(file) => file.ahead.replace(c, width),
            _ => {}
        }
    }

    /// Malformed bytes: a `decoding-error`.
    pub(crate) fn malformed(&self, bytes: &[u8]) -> Condition {
        let shown = bytes.iter().map(|byte| format!("#x{byte:02X}")).collect::<Vec<_>>();
        let (name, charset) = (self.shown_name(), self.file.coding.charset.name());
        let text = format!("cannot read{name}: {} is no character of {charset}", shown.join(" "));
        Condition::new(symbol::DECODING_ERROR, text).hint(
            ":external-format :latin-1 takes every byte; (:utf-8 :replacement #\\?) reads another",
        )
    }

    /// Reads bytes until these are full or the file ends; how many.
    pub(crate) fn read_bytes(&self, bytes: &mut [u8]) -> Outcome<usize> {
        let count = match &mut *self.kind.borrow_mut() {
            StreamKind::Input { source, ahead } => {
                let before = ahead.take(bytes);
                read_full(source, &mut bytes[before..]).map(|count| {
                    self.bytes.set(self.bytes.get() + count as u64);
                    before + count
                })
            }
            StreamKind::Both(file) => file.read(bytes),
            StreamKind::Closed => return Err(stream_error("the stream is closed")),
            _ => return Err(stream_error("read-byte: not on this stream")),
        };
        count.map_err(|error| self.failed("read", &error))
    }

    /// Writes bytes as they are.
    pub(crate) fn write_bytes(&self, bytes: &[u8]) -> Outcome<()> {
        let written = match &mut *self.kind.borrow_mut() {
            StreamKind::Output(writer) => {
                self.bytes.set(self.bytes.get() + bytes.len() as u64);
                writer.write_all(bytes)
            }
            StreamKind::Both(file) => file.write(bytes),
            StreamKind::Closed => return Err(stream_error("the stream is closed")),
            _ => return Err(stream_error("write-byte: not on this stream")),
        };
        written.map_err(|error| self.failed("write", &error))
    }

    /// `cannot write FILE: no space left on device`. The operation's name tells a failure of the
    /// system from a mistake of the program, and so the exit code (`Unhandled::kind`).
    pub(crate) fn failed(&self, operation: &str, error: &std::io::Error) -> Escape {
        use std::io::ErrorKind::{BrokenPipe, StorageFull};
        let reason = match error.kind() {
            BrokenPipe if self.name.is_empty() => return EscapeKind::BrokenPipe.into(),
            StorageFull => "no space left on device".to_string(),
            _ => error.to_string(),
        };
        let text = match &*self.name {
            "" => format!("cannot {operation}: {reason}"),
            name => format!("cannot {operation} {name}: {reason}"),
        };
        Condition::new(symbol::STREAM_ERROR, text)
            .with(symbol::KEY_OPERATION, Value::string(operation))
            .into()
    }

    /// Puts back the character read last.
    pub(crate) fn unread_here(&self) -> Outcome<()> {
        match &mut *self.kind.borrow_mut() {
            StreamKind::StringInput { position, .. } => {
                *position = position.saturating_sub(1);
                Ok(())
            }
            StreamKind::Input { ahead, .. } => {
                ahead.unread();
                Ok(())
            }
            StreamKind::Both(file) => {
                file.ahead.unread();
                Ok(())
            }
            _ => Err(stream_error("the stream gives no input")),
        }
    }
}

/// Reads until the bytes are full or nothing comes any more; how many.
pub(crate) fn read_full(source: &mut impl Read, bytes: &mut [u8]) -> std::io::Result<usize> {
    let mut count = 0;
    while count < bytes.len() {
        match source.read(&mut bytes[count..]) {
            Ok(0) => break,
            Ok(read) => count += read,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

fn stream_error(text: &str) -> Escape {
    Escape::of(symbol::STREAM_ERROR, text)
}
