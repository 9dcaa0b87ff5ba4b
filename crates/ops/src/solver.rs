//! A solver: operations of one field of work, in a crate of its own. Its operations are records as
//! those of the table are, so that the ladder, the language, explain, the tests and the reference pages
//! need to know no more about it. What is said here beside them is how a shell reaches them: which
//! file an operand comes from and where results go. Neither flags nor help are known: a front end makes
//! them from parameters, results and these records.

use crate::record::{Op, Package, Parameter, Place};
use crate::samples::Sample;
use crate::value::Value;
use rung_array::Array;
use rung_base::file::Scratch;
use rung_base::{Error, ErrorKind, Result, Shape};
use std::any::Any;
use std::io::Write;
use std::path::Path;

/// What a crate brings.
pub struct Solver {
    pub package: &'static Package,
    /// What it is for, in a few words without a full stop.
    pub summary: &'static str,
    /// Opens its reference page: paragraphs of Markdown.
    pub introduction: &'static str,
    pub operations: &'static [Op],
}

/// One result of an operation by its name, in order.
#[derive(Clone, Copy, Debug)]
pub struct Named {
    pub name: &'static str,
    /// What it is, without a full stop.
    pub text: &'static str,
    /// An array, which may go to a file; else a number.
    pub is_array: bool,
}

/// A result that is an array.
pub const fn array(name: &'static str, text: &'static str) -> Named {
    Named { name, text, is_array: true }
}

/// A result that is a number.
pub const fn number(name: &'static str, text: &'static str) -> Named {
    Named { name, text, is_array: false }
}

/// A mistake that a call of an operation may make.
#[derive(Clone, Copy)]
pub struct Mistake {
    /// What the error is; each front end has its own name for the kind.
    pub kind: ErrorKind,
    /// When it comes, without a full stop.
    pub when: &'static str,
    /// What its hint advises; "" where it has none.
    pub hint: &'static str,
    /// A call that makes it; tests do.
    pub sample: fn() -> Sample,
}

pub const fn mistake(
    kind: ErrorKind,
    when: &'static str,
    hint: &'static str,
    sample: fn() -> Sample,
) -> Mistake {
    Mistake { kind, when, hint, sample }
}

/// How a shell offers an operation.
pub struct Command {
    /// Command lines with what they do.
    pub examples: &'static [(&'static str, &'static str)],
    /// None: everything is said by flags.
    pub input: Option<Reader>,
    pub output: Writer,
    pub picture: Option<Picture>,
    /// How a file is taken in pieces, with memory that does not grow with it; none where it is read as
    /// a whole alone.
    pub stream: Option<Streamed>,
}

/// How the file that is named first is read.
#[derive(Clone, Copy)]
pub struct Reader {
    /// The parameter that it gives, which then has no flag.
    pub parameter: &'static str,
    /// What it holds: `a point cloud`.
    pub what: &'static str,
    /// How names of such files end; all are read by `read`.
    pub endings: &'static [&'static str],
    /// What may be said about reading: by keyword, as of an operation. One that has the name of a
    /// parameter which the file gives takes the place of its flag.
    pub options: &'static [Parameter],
    /// Reads a file, with those options that were given, by name.
    pub read: fn(&Path, &[Given]) -> Result<Opened>,
}

/// A value for the parameter of this name.
pub type Given = (&'static str, Value);

/// What a file held.
pub struct Opened {
    /// Values for parameters of the operation, by name.
    pub values: Vec<Given>,
    /// What the operation does not need and an output keeps.
    pub kept: Box<dyn Any>,
    /// What is worth a note: what was left out, say.
    pub notes: Vec<String>,
    /// What is worth one to somebody who asked for more (`-v`).
    pub details: Vec<String>,
}

impl Opened {
    /// What an operation that reads no file begins with.
    pub fn nothing() -> Opened {
        Opened { values: Vec::new(), kept: Box::new(()), notes: Vec::new(), details: Vec::new() }
    }
}

/// The main result as a file.
#[derive(Clone, Copy)]
pub struct Writer {
    /// What it holds: `the chosen points`.
    pub what: &'static str,
    /// How names of such files end; the first is what standard output gets.
    pub endings: &'static [&'static str],
    /// Writes what the ending says, one of `endings`.
    pub write: fn(&Finished, &str, &mut dyn Write) -> Result<()>,
    /// Everything that decided the result, as a JSON object: it goes beside the file, with the ending
    /// `.json`, and into what `--json` prints.
    pub parameters: Option<fn(&Finished) -> Result<String>>,
}

/// The results as a picture: (height, width, 3), numbers from 0 to 255.
#[derive(Clone, Copy)]
pub struct Picture {
    /// What it shows: `the cloud with the samples`.
    pub what: &'static str,
    pub draw: fn(&Finished) -> Result<Array>,
}

/// The operation over a file that is read, computed and written in pieces: what `--stream` asks for. The
/// solver drives, since readers push what they decode; calls, messages and files are the shell's.
#[derive(Clone, Copy)]
pub struct Streamed {
    /// What holds beside the bounded memory, without a full stop.
    pub text: &'static str,
    /// Reads the whole file; what is left of it is written by the result.
    pub run: fn(&InPieces, &mut dyn Shell) -> Result<Box<dyn Stored>>,
}

/// What is asked for of a file that is taken in pieces.
pub struct InPieces<'a> {
    pub path: &'a Path,
    /// How it is read, as `Reader::read` gets it.
    pub options: &'a [Given],
    /// Values for parameters of the operation.
    pub typed: &'a [Given],
}

/// What a shell lends to an operation that takes a file in pieces.
pub trait Shell {
    /// Calls an operation on the ladder of the run, so that every rung is asked and every judge hears of
    /// it, as of the call over the whole.
    ///
    /// # Errors
    /// Those of the call.
    fn call(&mut self, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>>;
    /// What is worth a note.
    fn note(&mut self, text: &str);
    /// What is worth one to somebody who asked for more.
    fn detail(&mut self, text: &str);
    /// What is done now, and how much of it, from 0 to 1.
    fn progress(&mut self, what: &str, done: f64);
    /// A file for what is not held.
    ///
    /// # Errors
    /// None can be made where the results go.
    fn scratch(&mut self) -> Result<Scratch>;
}

/// A main result that is not held.
pub trait Stored {
    fn shape(&self) -> Shape;
    /// The bytes that `Writer::write` writes of the whole result; says how far it is.
    ///
    /// # Errors
    /// What is stored cannot be read, or not written.
    fn write(
        &mut self,
        ending: &str,
        out: &mut dyn Write,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()>;
    /// As `Writer::parameters`.
    ///
    /// # Errors
    /// As `Writer::parameters`.
    fn parameters(&self) -> Result<String>;
}

/// The values of a call in their order: what the file gave, and what was typed, which wins.
///
/// # Errors
/// A required parameter that neither gave.
pub fn arguments(op: &Op, of_file: &[Given], typed: &[Given]) -> Result<Vec<Value>> {
    let mut values = Vec::new();
    let mut keywords = Vec::new();
    for parameter in op.parameters {
        let given = typed.iter().chain(of_file).find(|(name, _)| *name == parameter.name);
        match (parameter.place, given) {
            (Place::Keyword, Some((_, value))) => {
                keywords.extend([Value::Keyword(parameter.name.into()), value.clone()]);
            }
            (Place::Keyword, None) => {}
            (Place::Required, None) => {
                let text = format!("--{} is missing: {}", parameter.name, parameter.text);
                return Err(Error::new(ErrorKind::Usage, text));
            }
            (_, given) => values.push(given.map_or(Value::Nil, |(_, value)| value.clone())),
        }
    }
    Ok(values.into_iter().chain(keywords).collect())
}

/// A call that is over.
pub struct Finished<'a> {
    /// What the file held; nothing where none is read.
    pub opened: &'a Opened,
    /// What the operation was called with.
    pub arguments: &'a [Value],
    pub results: &'a [Value],
}

impl Finished<'_> {
    /// A result that is an array.
    pub fn array(&self, at: usize) -> Result<&Array> {
        match self.results.get(at) {
            Some(Value::Array(array)) => array.home().map(|()| array),
            _ => {
                let text = format!("result {at} is no array");
                Err(Error::new(ErrorKind::Internal, text))
            }
        }
    }

    /// What a keyword was given.
    pub fn keyword(&self, name: &str) -> Option<&Value> {
        let is_it = |value: &Value| matches!(value, Value::Keyword(word) if word.as_ref() == name);
        let at = self.arguments.iter().position(is_it)?;
        self.arguments.get(at + 1)
    }

    /// What the file held beside the operand, of the type that its reader keeps.
    pub fn kept<T: 'static>(&self) -> Result<&T> {
        self.opened.kept.downcast_ref().ok_or_else(|| {
            let text = "the reader keeps something else";
            Error::new(ErrorKind::Internal, text)
        })
    }
}

/// The ending of a path among these, in lower case; they may have two parts (`.ply.gz`).
pub fn ending<'a>(path: &Path, endings: &[&'a str]) -> Option<&'a str> {
    let name = path.file_name()?.to_string_lossy().to_ascii_lowercase();
    endings.iter().copied().filter(|ending| name.ends_with(ending)).max_by_key(|e| e.len())
}
