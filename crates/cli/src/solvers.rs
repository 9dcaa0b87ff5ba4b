//! The solvers as commands: `rung points fps cloud.ply -k 4096 -o out.ply`. Nothing is known of any of
//! them: the words come from the packages, the flags from the parameters, results and files of the
//! records (`offered`), and so does the help (`help`). Here is how such a line runs.

mod help;
mod offered;
mod outputs;
mod pieces;
mod values;

use crate::bar::Bar;
use crate::commands::Invocation;
use crate::failure::{Exit, Failure, plain_text};
use crate::screen::Screen;
use crate::{interrupt, run, screen, suggest};
pub use help::{lines, of_line, of_solver};
pub use offered::{Offered, Role, flags_of};
use outputs::Outputs;
use rung::solvers::SOLVERS;
use rung_base::{Error, ErrorKind};
use rung_ops::record::Op;
use rung_ops::solver::{Command, Finished, Given, InPieces, Opened, Solver, arguments};
use rung_ops::{Caller, Ladder, Site, Value};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Mutex;

/// A solver's word of a command line, what follows it, and the flags of that.
#[derive(Clone)]
pub struct Asked {
    pub solver: &'static Solver,
    pub operation: Option<Offering>,
    /// The solver's flags as they were typed, each with its value.
    pub typed: Vec<(Offered, String)>,
}

/// An operation and how it is offered.
#[derive(Clone, Copy)]
pub struct Offering {
    pub op: &'static Op,
    pub command: &'static Command,
}

/// The solver of a word.
pub fn find(word: &str) -> Option<&'static Solver> {
    SOLVERS.iter().copied().find(|solver| solver.package.name == word)
}

/// What a solver offers.
pub fn offerings(solver: &'static Solver) -> impl Iterator<Item = Offering> {
    let of = |op: &'static Op| op.command.map(|command| Offering { op, command });
    solver.operations.iter().filter_map(of)
}

/// The offering of a word.
pub fn operation(solver: &'static Solver, word: &str) -> Option<Offering> {
    offerings(solver).find(|offering| offering.op.names.contains(&word))
}

impl Asked {
    pub fn new(solver: &'static Solver) -> Asked {
        Asked { solver, operation: None, typed: Vec::new() }
    }

    /// The flag of a long name or a letter, with one dash or two before it.
    pub fn flag(&self, spelling: &str) -> Option<Offered> {
        let flags = self.operation.map(flags_of).unwrap_or_default();
        flags.into_iter().find(|flag| flag.is_spelled(spelling))
    }

    /// The nearest flag of the operation.
    pub fn suggestion(&self, spelling: &str) -> Option<String> {
        let flags = self.operation.map(flags_of).unwrap_or_default();
        let names: Vec<&str> = flags.iter().map(|flag| flag.name.trim_start_matches('-')).collect();
        let near = suggest::nearest(spelling.trim_start_matches('-'), names)?;
        flags.iter().find(|flag| flag.name.trim_start_matches('-') == near).map(|f| f.name.clone())
    }

    /// Whether files are taken in pieces.
    fn is_streamed(&self) -> bool {
        self.typed.iter().any(|(flag, _)| matches!(flag.role, Role::Stream))
    }

    fn value(&self, is_meant: impl Fn(&Role) -> bool) -> Option<&(Offered, String)> {
        self.typed.iter().rev().find(|(flag, _)| is_meant(&flag.role))
    }
}

/// Runs a line that names a solver, file by file.
pub fn run(invocation: &Invocation, asked: &Asked) -> Result<i32, Failure> {
    let words = &invocation.line.words;
    let Some(offering) = asked.operation else {
        return match words.first() {
            None => crate::printed(screen::print(&of_solver(asked.solver))),
            Some(word) => Err(unknown(asked.solver, &word.to_string_lossy())),
        };
    };
    let name = format!("rung {} {}", asked.solver.package.name, offering.op.name());
    let files = files(&name, offering.command, words)
        .map_err(|text| Failure::usage(text).hint(format!("{name} --help")))?;
    let outputs = outputs::of_files(asked, offering, invocation, &files)?;
    let given = values::given(asked, offering)?;
    let options = values::options(asked)?;
    let task = Task { asked, offering, given, options, invocation };
    let ladder = &mut ladder(invocation)?;
    let code = match &files[..] {
        [_, _, ..] => task.each(files.iter().copied().zip(&outputs), ladder),
        files => task.run(ladder, files.first().copied(), &outputs[0]),
    };
    explain(ladder, invocation);
    code
}

/// What a line asks for of each of its files.
struct Task<'a> {
    asked: &'a Asked,
    offering: Offering,
    given: Vec<Given>,
    options: Vec<Given>,
    invocation: &'a Invocation,
}

impl Task<'_> {
    /// Reads a file, computes, and writes the results; the exit code.
    fn run(
        &self,
        ladder: &mut Ladder,
        file: Option<&Path>,
        outputs: &Outputs,
    ) -> Result<i32, Failure> {
        let Task { offering, invocation, .. } = *self;
        let failed = |e: Error| failure(&e.in_package(self.asked.solver.package.name));
        if let (Some(streamed), Some(file), true) =
            (&offering.command.stream, file, self.asked.is_streamed())
        {
            let asked = InPieces { path: file, options: &self.options, typed: &self.given };
            return pieces::run(streamed, &asked, ladder, outputs, invocation).map_err(failed);
        }
        let opened = match (&offering.command.input, file) {
            (Some(reader), Some(file)) => (reader.read)(file, &self.options).map_err(failed)?,
            _ => Opened::nothing(),
        };
        let asked = if invocation.screen.verbose > 0 { &opened.details[..] } else { &[] };
        opened.notes.iter().chain(asked).for_each(|note| invocation.screen.note(note));
        let values = arguments(offering.op, &opened.values, &self.given).map_err(failed)?;
        let results = compute(ladder, offering, values.clone(), invocation).map_err(failed)?;
        let finished = Finished { opened: &opened, arguments: &values, results: &results };
        outputs.write(&finished, &invocation.screen)
    }

    /// One file after another, each named before its notes. One that fails keeps none of the others
    /// from its results: its error is said, and the first of those decides the exit code.
    fn each<'a>(
        &self,
        files: impl Iterator<Item = (&'a Path, &'a Outputs)>,
        ladder: &mut Ladder,
    ) -> Result<i32, Failure> {
        let mut code = 0;
        for (file, outputs) in files {
            self.invocation.screen.note(&format!("file {}", file.display()));
            match self.run(ladder, Some(file), outputs) {
                Ok(_) => {}
                Err(failure) => {
                    self.invocation.screen.failure(&failure);
                    code = if code == 0 { failure.exit as i32 } else { code };
                }
            }
        }
        Ok(code)
    }
}

/// The files that a line names; none where the operation takes none.
fn files<'a>(
    name: &str,
    command: &'static Command,
    words: &'a [OsString],
) -> Result<Vec<&'a Path>, String> {
    match (&command.input, words) {
        (Some(reader), []) => Err(format!("{name} needs a file: {}", reader.what)),
        (None, [extra, ..]) => Err(format!("unexpected word {}", extra.to_string_lossy())),
        (_, words) => Ok(words.iter().map(Path::new).collect()),
    }
}

fn unknown(solver: &'static Solver, word: &str) -> Failure {
    let package = solver.package.name;
    let failure = Failure::usage(format!("rung {package} has no {word}"));
    let names = offerings(solver).flat_map(|offering| offering.op.names.iter().copied());
    match suggest::nearest(word, names) {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint(format!("rung {package} --help lists what it has")),
    }
}

fn ladder(invocation: &Invocation) -> Result<Ladder, Failure> {
    let settings = &invocation.request.settings;
    run::readable_costs(settings)?;
    let (mut ladder, notices) = Ladder::new(settings);
    ladder.quiet = invocation.screen.quiet;
    if let Some((what, reason)) = run::absent(settings, &ladder) {
        return Err(Failure::new(Exit::Absent, format!("{what}: {reason}")));
    }
    notices.iter().for_each(|notice| invocation.screen.notice(notice));
    Ok(ladder)
}

/// The call, with a bar on a terminal where it lasts.
fn compute(
    ladder: &mut Ladder,
    offering: Offering,
    values: Vec<Value>,
    invocation: &Invocation,
) -> rung_base::Result<Vec<Value>> {
    let screen = invocation.screen;
    interrupt::quit_at_once(Bar::take_away);
    let name = offering.op.name();
    let bar = std::sync::Arc::new(Mutex::new(Bar::new(!screen.json && !screen.quiet)));
    let shown = bar.clone();
    ladder.listen(Box::new(move |done| {
        if let Ok(mut bar) = shown.lock() {
            bar.show(name, done);
        }
    }));
    let results = ladder.call_home(offering.op, values, &mut Teller(screen));
    if let Ok(mut bar) = bar.lock() {
        bar.clear();
    }
    results
}

/// The command as the ladder sees it: a caller without a program.
struct Teller(Screen);

impl Caller for Teller {
    fn site(&self) -> Option<Site> {
        None
    }

    fn place(&self, _: Site) -> String {
        String::new()
    }

    fn warn(&mut self, message: &str) {
        self.0.warning(message);
    }

    fn note(&mut self, message: &str) {
        self.0.note(message);
    }
}

/// What `--explain` prints.
fn explain(ladder: &Ladder, invocation: &Invocation) {
    let place = |_| String::new();
    match invocation.request.settings.explain.value {
        rung_base::Explain::Off => {}
        rung_base::Explain::Table => screen::mutter(&ladder.calls.table(&place)),
        rung_base::Explain::Json => screen::mutter(&format!("{}\n", ladder.calls.json(&place))),
    }
}

/// An error of an operation or a file by its exit code: what was asked for wrongly is a mistake of the
/// command line.
fn failure(e: &Error) -> Failure {
    let exit = match e.kind() {
        ErrorKind::Argument | ErrorKind::Usage => Exit::Usage,
        ErrorKind::File | ErrorKind::Format => Exit::File,
        ErrorKind::Declined | ErrorKind::Device | ErrorKind::DeviceLost => Exit::Absent,
        ErrorKind::Interrupt => Exit::Interrupted,
        ErrorKind::Internal => Exit::Internal,
        _ => Exit::Program,
    };
    let text = match e.file() {
        // The system's words read as ours do.
        Some(place) => e.message().replace(&place.reason, &plain_text(&place.reason)),
        None => e.to_string(),
    };
    let failure = Failure::new(exit, text);
    match e.hint_text() {
        Some(hint) => failure.hint(hint),
        None => failure,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{commands, flags};

    #[test]
    fn no_solver_is_named_like_a_command_and_no_flag_like_one_of_ours() {
        for solver in SOLVERS {
            assert!(commands::find(solver.package.name).is_none(), "{}", solver.package.name);
            for offering in offerings(solver) {
                let own = flags_of(offering);
                for (at, flag) in own.iter().enumerate() {
                    assert!(flags::find(&flag.name).is_none(), "{}", flag.name);
                    assert!(flag.letter.is_none_or(|letter| flags::find_short(letter).is_none()));
                    assert!(own[..at].iter().all(|other| other.name != flag.name), "{}", flag.name);
                }
            }
        }
    }

    #[test]
    fn every_offering_has_examples_that_name_it() {
        for solver in SOLVERS {
            for Offering { op, command } in offerings(solver) {
                let begin = format!("rung {} {} ", solver.package.name, op.name());
                assert!(!command.examples.is_empty(), "{begin}");
                assert!(command.examples.iter().all(|(line, _)| line.starts_with(&begin)));
                let read = command.input.map_or(0, |reader| reader.endings.len());
                assert!(read + command.output.endings.len() > 1, "{begin}");
            }
        }
    }
}
