//! Why the command stops, and with which exit code. Everything that ends a run early is a
//! `Failure`, so that `main` prints it once, in the form that was asked for.

use std::path::Path;

/// The exit codes of the command, one per kind of end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The program signalled a condition that nobody handled, or a check failed.
    Program = 1,
    Usage = 2,
    /// An input cannot be read or an output cannot be written.
    File = 3,
    /// A device or rung that was demanded is absent.
    Absent = 4,
    /// Our own mistake.
    Internal = 70,
    /// Ended by Ctrl-C.
    Interrupted = 130,
}

impl Exit {
    /// The word for `code` in a JSON error.
    pub fn name(self) -> &'static str {
        match self {
            Exit::Program => "program",
            Exit::Usage => "usage",
            Exit::File => "file",
            Exit::Absent => "absent",
            Exit::Internal => "internal",
            Exit::Interrupted => "interrupted",
        }
    }
}

/// What is wrong, what to do about it, and the exit code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    pub exit: Exit,
    pub message: String,
    pub hint: Option<String>,
}

impl Failure {
    pub fn new(exit: Exit, message: impl Into<String>) -> Failure {
        Failure { exit, message: message.into(), hint: None }
    }

    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Exit::Usage, message)
    }

    /// A file that cannot be read.
    pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
        Failure::new(Exit::File, format!("cannot read {}: {}", path.display(), plain(error)))
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

/// An operating system's error in lower case and without its number.
pub fn plain(error: &std::io::Error) -> String {
    plain_text(&error.to_string())
}

/// The same of its text.
pub fn plain_text(text: &str) -> String {
    let text = text.split(" (os error").next().unwrap_or(text);
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_errors_read_as_sentences() {
        let error = std::io::Error::from_raw_os_error(2);
        let failure = Failure::unreadable(Path::new("no.lisp"), &error);
        assert_eq!(failure.message, "cannot read no.lisp: no such file or directory");
        assert_eq!(failure.exit as i32, 3);
    }
}
