//! Where the results of a solver's operation go: looked at before anything is computed, written whole
//! or not at all. Standard output gets the main result where no file does, or one object with `--json`;
//! numbers are notes.

use super::{Asked, Offering, Role, failure};
use crate::commands::Invocation;
use crate::failure::Failure;
use crate::screen::{self, Screen};
use rung::packages::save_picture;
use rung_array::{Array, Number};
use rung_base::{Result, Shape, file};
use rung_files::{csv, npy};
use rung_ops::Value;
use rung_ops::solver::{Command, Finished, Named, Stored, ending};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

/// How files of further results are named.
pub const ARRAYS: &[&str] = &[".npy", ".csv", ".txt"];
/// Standard output.
const DASH: &str = "-";

/// What was asked for.
pub struct Outputs {
    offering: Offering,
    /// The main result: a path and its ending, or standard output.
    main: Option<(PathBuf, &'static str)>,
    picture: Option<PathBuf>,
    results: Vec<(usize, PathBuf)>,
    json: bool,
    /// The file that is read, where the main result takes its place.
    replaced: Option<PathBuf>,
}

/// The outputs of each file of a line, in order (of one where it takes none), and everything that can be
/// known of them before there is a result.
pub fn of_files(
    asked: &Asked,
    offering: Offering,
    invocation: &Invocation,
    files: &[&Path],
) -> std::result::Result<Vec<Outputs>, Failure> {
    let json = invocation.screen.json;
    let all: Vec<Outputs> = match files {
        [] | [_] => vec![Outputs::new(asked, offering, json, files.first().copied(), false)?],
        files => {
            let of = |file: &&Path| Outputs::new(asked, offering, json, Some(file), true);
            files.iter().map(of).collect::<std::result::Result<_, _>>()?
        }
    };
    if all.len() > 1 && all[0].main.is_none() && !json {
        let text =
            format!("{}, of {} files, go to a folder", offering.command.output.what, all.len());
        return Err(Failure::usage(text).hint("-o FOLDER names one; --json prints a line for each"));
    }
    are_different(&all)?;
    let mut all = all;
    spare_inputs(&mut all, files)?;
    Ok(all)
}

/// A main result may take the place of the file that it was made of, which is said then. Nothing else is
/// written over a file that is read: a further result is no cloud and no sound, and another file of
/// the line may still have to be read.
fn spare_inputs(all: &mut [Outputs], files: &[&Path]) -> std::result::Result<(), Failure> {
    let place = |path: &Path| std::fs::canonicalize(path).ok();
    let read: Vec<Option<PathBuf>> = files.iter().map(|file| place(file)).collect();
    for (at, outputs) in all.iter_mut().enumerate() {
        let main = outputs.main.as_ref().map(|(path, _)| path.clone());
        for path in outputs.paths().collect::<Vec<_>>() {
            let Some(written) = place(&path) else { continue };
            let Some(of) = read.iter().position(|read| read.as_ref() == Some(&written)) else {
                continue;
            };
            if of == at && main.as_ref() == Some(&path) {
                outputs.replaced = Some(path);
                continue;
            }
            let text = format!("{} is read, and a result would be written over it", path.display());
            return Err(Failure::usage(text).hint("another name or folder keeps it"));
        }
    }
    Ok(())
}

/// No result is written over by another.
fn are_different(all: &[Outputs]) -> std::result::Result<(), Failure> {
    let mut paths: Vec<PathBuf> = all.iter().flat_map(Outputs::paths).collect();
    paths.sort();
    match paths.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::usage(format!("two results would go to {}", pair[0].display()))),
        None => Ok(()),
    }
}

/// Where a flag says that a result goes.
struct Target<'a> {
    flag: &'a str,
    text: &'a str,
    /// What is appended to the name of the file that was read, for further results.
    suffix: String,
    endings: &'static [&'static str],
}

impl Target<'_> {
    /// The file, and its ending: the one that is named, or one in the folder that is named, called as
    /// the file that was read.
    fn file(
        &self,
        command: &Command,
        file: Option<&Path>,
        several: bool,
    ) -> std::result::Result<(PathBuf, &'static str), Failure> {
        let Target { flag, text, suffix, endings } = self;
        let path = PathBuf::from(text);
        if let (Some(file), true) = (file, path.is_dir()) {
            let read = command.input.map_or(&[][..], |reader| reader.endings);
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            let stem = &name[..name.len() - ending(file, read).map_or(0, str::len)];
            // As the file was, where that can be written, or as every tool reads it.
            let ending = ending(file, endings)
                .or_else(|| endings.iter().copied().find(|ending| *ending == ".npy"))
                .unwrap_or(endings[0]);
            return Ok((path.join(format!("{stem}{suffix}{ending}")), ending));
        }
        if several {
            let text = format!("{flag}: results of several files go to a folder, {text} is none");
            return Err(Failure::usage(text).hint("mkdir makes one"));
        }
        ending(&path, endings).map(|ending| (path, ending)).ok_or_else(|| {
            let endings = endings.join(" ");
            Failure::usage(format!("{flag}: {text} does not end with one of {endings}"))
        })
    }
}

impl Outputs {
    fn new(
        asked: &Asked,
        offering: Offering,
        json: bool,
        file: Option<&Path>,
        several: bool,
    ) -> std::result::Result<Outputs, Failure> {
        let mut outputs = Outputs {
            offering,
            main: None,
            picture: None,
            results: Vec::new(),
            json,
            replaced: None,
        };
        let command = offering.command;
        for (flag, text) in &asked.typed {
            let target = |suffix: String, endings: &'static [&'static str]| {
                let target = Target { flag: &flag.name, text, suffix, endings };
                target.file(command, file, several)
            };
            match flag.role {
                Role::Output if text == DASH => outputs.main = None,
                Role::Output => {
                    outputs.main = Some(target(String::new(), command.output.endings)?);
                }
                Role::Picture => outputs.picture = Some(target(String::new(), &[".png"])?.0),
                Role::Result(at) => {
                    let name = offering.op.results[at].name;
                    let (path, _) = target(format!("-{name}"), ARRAYS)?;
                    outputs.results.retain(|(other, _)| *other != at);
                    outputs.results.push((at, path));
                }
                Role::Parameter(_) | Role::Option(_) | Role::Stream => {}
            }
        }
        if asked.is_streamed() {
            outputs.can_be_streamed()?;
        }
        Ok(outputs)
    }

    /// Only the main result and its parameters are made in pieces, and the former is no text that waits
    /// for its end.
    fn can_be_streamed(&self) -> std::result::Result<(), Failure> {
        let of_result = self
            .results
            .first()
            .map(|(at, _)| format!("--{} takes", self.offering.op.results[*at].name));
        let taken = match (&self.main, &self.picture, self.json) {
            (_, Some(_), _) => Some("--png takes".to_string()),
            (_, _, true) => Some("--json takes".to_string()),
            (None, ..) => Some("standard output takes".to_string()),
            _ => of_result,
        };
        let Some(taken) = taken else { return Ok(()) };
        let failure = Failure::usage(format!("{taken} whole results, and --stream holds none"));
        Err(failure.hint(match self.main {
            None => "-o names a file",
            Some(_) => "leave one of them out",
        }))
    }

    /// Every file that is written.
    fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let main = self.main.as_ref().map(|(path, _)| path.clone());
        let results = self.results.iter().map(|(_, path)| path.clone());
        main.into_iter().chain(self.picture.clone()).chain(results).chain(self.parameters_file())
    }

    /// Where the parameters go: beside the main result.
    fn parameters_file(&self) -> Option<PathBuf> {
        let (path, _) = self.main.as_ref()?;
        self.offering.command.output.parameters.map(|_| path.with_extension("json"))
    }

    /// Writes the results; the exit code.
    pub fn write(&self, finished: &Finished, screen: &Screen) -> std::result::Result<i32, Failure> {
        self.files(finished).map_err(|e| failure(&e))?;
        self.tell_replaced(screen);
        if !self.json {
            self.tell_numbers(finished, screen);
        }
        let text = match (self.json, &self.main) {
            (true, _) => self.object(finished).map_err(|e| failure(&e))?,
            (false, Some(_)) => return Ok(0),
            (false, None) => self.text(finished).map_err(|e| failure(&e))?,
        };
        crate::printed(screen::print(&text))
    }

    fn files(&self, finished: &Finished) -> Result<()> {
        let command = self.offering.command;
        self.main_file(|ending, out| (command.output.write)(finished, ending, out))?;
        if let (Some(path), Some(parameters)) = (self.parameters_file(), command.output.parameters)
        {
            write_line(&path, &parameters(finished)?)?;
        }
        for (at, path) in &self.results {
            let array = finished.array(*at)?;
            match ending(path, ARRAYS) {
                Some(".npy") => npy::write(array, path)?,
                _ => csv::write_matrix(array, &csv::Heading::None, b',', path)?,
            }
        }
        match (&self.picture, &command.picture) {
            (Some(path), Some(picture)) => save_picture(&(picture.draw)(finished)?, path),
            _ => Ok(()),
        }
    }

    /// The file of the main result, by what writes its bytes.
    fn main_file(&self, write: impl FnOnce(&str, &mut dyn Write) -> Result<()>) -> Result<()> {
        let Some((path, ending)) = &self.main else { return Ok(()) };
        let mut failed = None;
        let written = file::replace(path, |out| {
            write(ending, out).map_err(|e| {
                let text = e.message().to_string();
                failed = Some(e);
                std::io::Error::other(text)
            })
        });
        // A file that cannot be written has its own words; they name it.
        match failed.filter(|e| e.kind() != rung_base::ErrorKind::File) {
            Some(e) => Err(e),
            None => written,
        }
    }

    /// What the main result is called.
    pub fn main_result(&self) -> Option<&'static Named> {
        self.offering.op.results.first()
    }

    /// Where the main result goes, of a line that streams.
    pub fn main_path(&self) -> &Path {
        self.main.as_ref().map_or(Path::new(DASH), |(path, _)| path)
    }

    /// Writes a main result that is not held, and its parameters.
    pub fn write_stored(
        &self,
        stored: &mut dyn Stored,
        progress: &mut dyn FnMut(f64),
    ) -> Result<()> {
        self.main_file(|ending, out| stored.write(ending, out, progress))?;
        match self.parameters_file() {
            Some(path) => write_line(&path, &stored.parameters()?),
            None => Ok(()),
        }
    }

    /// The main result as text for standard output.
    fn text(&self, finished: &Finished) -> Result<String> {
        let output = self.offering.command.output;
        let mut bytes = Vec::new();
        (output.write)(finished, output.endings[0], &mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Says that the file that was read is no more.
    pub fn tell_replaced(&self, screen: &Screen) {
        if let Some(path) = &self.replaced {
            let what = self.offering.command.output.what;
            screen.note(&format!("{} was read and holds {what} now", path.display()));
        }
    }

    fn tell_numbers(&self, finished: &Finished, screen: &Screen) {
        for (result, value) in self.offering.op.results.iter().zip(finished.results) {
            match value {
                Value::Number(number) => screen.note(&format!("{} {number}", result.name)),
                Value::Array(array) => screen.note(&shape_note(result, array.shape())),
                _ => {}
            }
        }
    }

    /// Every result by its name.
    fn object(&self, finished: &Finished) -> Result<String> {
        let mut object = json!({"schema": 1});
        if let Some(parameters) = self.offering.command.output.parameters {
            object["parameters"] = serde_json::from_str(&parameters(finished)?).unwrap_or_default();
        }
        for (result, value) in self.offering.op.results.iter().zip(finished.results) {
            object[result.name] = match value {
                Value::Number(number) => number_json(*number),
                Value::Array(array) => nested(array),
                other => json!(other.to_string()),
            };
        }
        Ok(format!("{object}\n"))
    }
}

fn write_line(path: &Path, text: &str) -> Result<()> {
    file::replace(path, |out| writeln!(out, "{text}"))
}

/// What a shell says of a result that is an array.
pub fn shape_note(result: &Named, shape: &Shape) -> String {
    format!("{}: shape {shape}", result.name)
}

/// What JSON has no number for is null.
fn number_json(number: Number) -> serde_json::Value {
    match number {
        Number::F64(x) => json!(x),
        Number::F32(x) => json!(x),
        Number::I64(n) => json!(n),
        Number::Bool(b) => json!(b),
    }
}

/// A vector as a list, a matrix as a list of its rows.
fn nested(array: &Array) -> serde_json::Value {
    let all: Vec<serde_json::Value> = array.numbers().map(number_json).collect();
    match array.shape()[..] {
        [_, columns] if columns > 0 => all.chunks(columns).map(|row| json!(row)).collect(),
        _ => json!(all),
    }
}
