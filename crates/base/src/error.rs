//! The one error type: what is wrong, the values that matter, and at most one hint.
//!
//! The message is the text that a user reads after `error: linalg: `: a sentence without a full
//! stop, beginning with the words that the reference quotes and ending with the values. Kinds
//! exist so that Lisp can raise the right condition class and Python the right exception; add
//! one only when a program would want to catch it by itself.

use std::fmt;
use std::path::Path;

pub type Result<T> = std::result::Result<T, Error>;

/// What kind of mistake an error reports. Front ends map it to their own classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Shapes that do not fit each other or the operation.
    Shape,
    /// An axis outside the rank.
    Axis,
    /// An element type that does not exist or is not taken.
    ElementType,
    /// An index outside its axis.
    Index,
    /// A fold without a value over nothing.
    Empty,
    /// A pivot that is exactly zero, or not positive where it has to be.
    Singular,
    /// An iteration that did not end.
    NotConverged,
    /// An argument of the wrong type.
    Type,
    /// An argument outside its range, or a keyword that does not exist.
    Argument,
    /// Integer division by zero.
    DivisionByZero,
    /// Not enough memory for the result.
    Memory,
    /// A file that cannot be read or written.
    File,
    /// A file whose bytes are not what its format says.
    Format,
    /// A rung that was demanded declined.
    Declined,
    /// `--on-decline=verify` found other bits.
    BitsDiffer,
    /// A device did not do what it was asked; what is on it still is.
    Device,
    /// A device is gone, with what was only there.
    DeviceLost,
    /// The command line or a setting is wrong.
    Usage,
    /// Ctrl-C.
    Interrupt,
    /// Our own mistake.
    Internal,
}

/// An error with the package it came from, its sentence and at most one hint.
#[derive(Clone, Debug, PartialEq)]
pub struct Error(Box<Parts>);

#[derive(Clone, Debug, PartialEq)]
struct Parts {
    kind: ErrorKind,
    package: &'static str,
    operation: &'static str,
    message: String,
    hint: Option<String>,
    file: Option<FilePlace>,
}

/// The file that an error is about, and where in it.
#[derive(Clone, Debug, PartialEq)]
pub struct FilePlace {
    pub path: String,
    /// Bytes from the start of the file, where one byte can be named.
    pub offset: Option<u64>,
    /// The sentence without path and offset.
    pub reason: String,
}

impl Error {
    /// `message` is a sentence without a full stop; name the values that matter in it.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Error {
        let message = message.into();
        Error(Box::new(Parts { kind, package: "", operation: "", message, hint: None, file: None }))
    }

    /// A file whose bytes are not what its format says: `PATH: REASON (at byte OFFSET)`.
    pub fn in_data_file(path: &Path, offset: Option<u64>, reason: impl Into<String>) -> Error {
        let (path, reason) = (path.display().to_string(), reason.into());
        let at = offset.map_or(String::new(), |offset| format!(" (at byte {offset})"));
        let message = format!("{path}: {reason}{at}");
        Error::new(ErrorKind::Format, message).about(FilePlace { path, offset, reason })
    }

    /// A file that cannot be read or written: `cannot read PATH: REASON`.
    pub fn cannot(verb: &str, path: &Path, reason: impl fmt::Display) -> Error {
        let (path, reason) = (path.display().to_string(), reason.to_string());
        let message = format!("cannot {verb} {path}: {reason}");
        Error::new(ErrorKind::File, message).about(FilePlace { path, offset: None, reason })
    }

    /// Names the file that the error is about, for programs; the message stays.
    pub fn about(mut self, place: FilePlace) -> Error {
        self.0.file = Some(place);
        self
    }

    /// `wanted` is what the operation needs, `got` the thing that came.
    pub fn wanted(kind: ErrorKind, wanted: impl fmt::Display, got: impl fmt::Display) -> Error {
        Error::new(kind, format!("{wanted}: got {got}"))
    }

    /// Says of which part of the input it is, before the sentence: `cloud 3: no points`.
    pub fn in_part(mut self, part: impl fmt::Display) -> Error {
        self.0.message = format!("{part}: {}", self.0.message);
        self
    }

    /// What the user could try; one line, no full stop.
    pub fn hint(mut self, hint: impl Into<String>) -> Error {
        self.0.hint = Some(hint.into());
        self
    }

    /// Names the package whose function failed; the innermost name stays.
    pub fn in_package(mut self, package: &'static str) -> Error {
        if self.0.package.is_empty() {
            self.0.package = package;
        }
        self
    }

    /// Names the operation that failed; the innermost name stays.
    pub fn in_operation(mut self, operation: &'static str) -> Error {
        if self.0.operation.is_empty() {
            self.0.operation = operation;
        }
        self
    }

    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The package whose function failed, or "".
    pub fn package(&self) -> &'static str {
        self.0.package
    }

    /// The operation that failed, or "".
    pub fn operation(&self) -> &'static str {
        self.0.operation
    }

    /// The sentence alone, without the package.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The file that the error is about.
    pub fn file(&self) -> Option<&FilePlace> {
        self.0.file.as_ref()
    }

    pub fn hint_text(&self) -> Option<&str> {
        self.0.hint.as_deref()
    }
}

/// The package and the sentence: `linalg: shape mismatch: (2 3) and (4)`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.0.package.is_empty() {
            write!(f, "{}: ", self.0.package)?;
        }
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_package_stays() {
        let e = Error::wanted(ErrorKind::Shape, "expected a matrix", "(2 3 4)")
            .in_package("linalg")
            .in_package("cli")
            .hint("fold an axis first");
        assert_eq!(e.to_string(), "linalg: expected a matrix: got (2 3 4)");
        assert_eq!(e.hint_text(), Some("fold an axis first"));
        assert_eq!(e.kind(), ErrorKind::Shape);
    }

    #[test]
    fn an_error_about_a_file_says_where() {
        let e = Error::in_data_file(Path::new("a.npy"), Some(6), "expected version 1, 2 or 3");
        assert_eq!(e.message(), "a.npy: expected version 1, 2 or 3 (at byte 6)");
        let place = e.file().unwrap();
        assert_eq!((place.path.as_str(), place.offset), ("a.npy", Some(6)));
        assert_eq!(place.reason, "expected version 1, 2 or 3");
        let e = Error::cannot("read", Path::new("a.npy"), "no such file");
        assert_eq!((e.kind(), e.message()), (ErrorKind::File, "cannot read a.npy: no such file"));
    }
}
