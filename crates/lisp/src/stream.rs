//! Streams: where characters come from and go to, and the column they have reached.
//!
//! The standard streams are given by the embedder; the library itself opens only files the
//! program names. The language's functions are in `library::streams`.

use std::cell::{Cell, RefCell};
use std::io::{BufRead, Write};
use std::rc::Rc;

use crate::condition::{Condition, Escape, EscapeKind, Outcome};
use crate::symbol::{self, Symbol};
use crate::value::Value;

/// What is behind a stream.
pub enum StreamKind {
    /// Reads from characters in memory.
    StringInput { characters: Rc<[char]>, position: usize },
    /// Collects characters.
    StringOutput(String),
    /// Writes UTF-8; buffering is the writer's business.
    Output(Box<dyn Write>),
    /// Reads UTF-8 line by line into `characters`.
    Input { source: Box<dyn BufRead>, characters: Vec<char>, position: usize },
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
    /// Opened for bytes.
    pub binary: Cell<bool>,
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
            binary: Cell::new(false),
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
                writer.write_all(text.as_bytes()).map_err(|error| self.failed("write", &error))?;
                self.bytes.set(self.bytes.get() + text.len() as u64);
            }
            StreamKind::Both(file) => {
                file.write(text.as_bytes()).map_err(|error| self.failed("write", &error))?;
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

    /// The next character, which stays unless `take`; none at the end.
    pub(crate) fn next_here(&self, take: bool) -> Outcome<Option<char>> {
        match &mut *self.kind.borrow_mut() {
            StreamKind::StringInput { characters, position } => {
                let next = characters.get(*position).copied();
                *position += usize::from(take && next.is_some());
                Ok(next)
            }
            StreamKind::Input { source, characters, position } => {
                if *position == characters.len() {
                    let count = refill(&mut **source, characters, position)
                        .map_err(|error| self.failed("read", &error))?;
                    self.bytes.set(self.bytes.get() + count as u64);
                }
                let next = characters.get(*position).copied();
                *position += usize::from(take && next.is_some());
                Ok(next)
            }
            StreamKind::Both(file) => {
                file.character(take).map_err(|error| self.failed("read", &error))
            }
            StreamKind::Closed => Err(stream_error("the stream is closed")),
            _ => Err(stream_error("the stream gives no input")),
        }
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
            StreamKind::StringInput { position, .. } | StreamKind::Input { position, .. } => {
                *position = position.saturating_sub(1);
                Ok(())
            }
            StreamKind::Both(file) => {
                file.unread();
                Ok(())
            }
            _ => Err(stream_error("the stream gives no input")),
        }
    }
}

/// One more line; the character before it stays for `unread-char`.
fn refill(
    source: &mut dyn BufRead,
    characters: &mut Vec<char>,
    position: &mut usize,
) -> std::io::Result<usize> {
    let mut bytes = Vec::new();
    let count = source.read_until(b'\n', &mut bytes)?;
    let last = characters.last().copied();
    characters.clear();
    characters.extend(last);
    *position = characters.len();
    characters.extend(String::from_utf8_lossy(&bytes).chars());
    Ok(count)
}

fn stream_error(text: &str) -> Escape {
    Escape::of(symbol::STREAM_ERROR, text)
}
