//! One running program: the Lisp with its ladder, the streams, Ctrl-C, and how it ends.
//!
//! `program` decides what is evaluated; here a text is evaluated, its messages are printed in
//! the form of the manners, and the reason why it ended becomes an exit code.

use crate::commands::Invocation;
use crate::failure::{Exit, Failure};
use crate::interrupt::{Interrupts, Waiting};
use crate::screen::{Level, Place, Report};
use crate::streams::{Input, Messages, Output};
use crate::{STACK, failure, screen, streams};
use rung::{Options, Session, Value};
use rung_base::settings::{CostsChoice, DeviceChoice, Explain, OnDecline, Origin, Settings};
use rung_lisp::symbol;
use rung_lisp::{Next, Unhandled, UnhandledKind};
use rung_ops::costs::Costs;
use rung_ops::costs::file::{self, Refused};
use rung_ops::{Ladder, Rung};
use serde_json::json;
use std::io::{self, IsTerminal, Write};

/// Native stack kept back from Lisp for the code around it and for what a native does below its
/// last check.
const RESERVED_STACK: usize = 16 << 20;

/// What is run: the prompt takes Ctrl-C back to itself, a script ends by it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Script,
    Prompt,
}

/// A session with its surroundings.
pub struct Running<'a> {
    pub invocation: &'a Invocation,
    pub session: Session,
    pub output: Output,
    pub interrupts: Option<Interrupts>,
    /// A message of ours has ended the line that the program began.
    line_ended: bool,
}

/// What Lisp says about an evaluation that ended early. Boxed, because it is 200 bytes and rare.
pub type Ended = Box<Unhandled>;

/// Why evaluation stopped before its end: the exit code. What there was to say has been said.
pub struct Stopped(pub i32);

impl<'a> Running<'a> {
    /// Finds the rungs, starts Lisp, and says what is missing.
    pub fn start(invocation: &'a Invocation, mode: Mode) -> Result<Running<'a>, Failure> {
        let request = &invocation.request;
        let output = Output::new(request.buffered.value);
        let waiting = Waiting::default();
        let input = Input::new(output.clone(), waiting.clone());
        let options = Options {
            frame_limit: request.frames.value,
            heap_limit: request.heap.value,
            native_stack: STACK - RESERVED_STACK,
            arguments: invocation.line.arguments.clone(),
            output: Box::new(output.clone()),
            error_output: Box::new(Messages::after(output.clone())),
            input: Box::new(input),
            terminals: terminals(invocation),
        };
        readable_costs(&request.settings)?;
        let mut session = Session::new(&request.settings, options);
        if request.native.value {
            session.use_native_code();
        }
        session.ladder.borrow_mut().quiet = invocation.screen.quiet;
        let demanded = absent(&request.settings, &session.ladder.borrow());
        if let Some((what, reason)) = demanded {
            return Err(missing(&what, &reason));
        }
        for notice in &session.notices {
            invocation.screen.notice(notice);
        }
        let waiting = if mode == Mode::Prompt { Waiting::default() } else { waiting };
        let interrupts = Interrupts::watch(session.lisp.interrupt_handle(), waiting);
        let mut running = Running { invocation, session, output, interrupts, line_ended: false };
        running.enter_package()?;
        Ok(running)
    }

    fn enter_package(&mut self) -> Result<(), Failure> {
        let name = &self.invocation.request.package.value;
        let lisp = &mut self.session.lisp;
        let Some(package) = lisp.packages.find(&name.to_uppercase()) else {
            return Err(Failure::usage(format!("--package: there is no package {name}")));
        };
        let package = lisp.packages[package].object.clone();
        lisp.set_variable(symbol::CURRENT_PACKAGE, package);
        let places = &self.invocation.request.system_path.value;
        if !places.is_empty() {
            lisp.define_special("asdf", "%system-path", Value::string(places));
        }
        Ok(())
    }

    /// Loads a file.
    pub fn load_file(&mut self, path: &str) -> Result<(), Ended> {
        self.busily(|running| running.session.lisp.load_file(path))
    }

    /// Loads a text that messages call `name`.
    pub fn load_text(&mut self, name: &str, text: &str) -> Result<(), Ended> {
        self.busily(|running| running.session.lisp.load_source(name, text))
    }

    /// Reads and evaluates a text form by form. `before` sees each form, `after` its values.
    pub fn each_form(
        &mut self,
        name: &str,
        text: &str,
        mut before: impl FnMut(&mut Running, &Value),
        mut after: impl FnMut(&mut Running, Vec<Value>) -> Result<(), Ended>,
    ) -> Result<(), Ended> {
        let mut rest = text.to_string();
        loop {
            let (form, used) = match self.session.lisp.read_form(name, &rest)? {
                Next::Form(form, used) => (form, used),
                Next::End => return Ok(()),
            };
            before(self, &form);
            let values = self.busily(|running| running.session.lisp.eval_form_read(&form))?;
            self.busily(|running| after(running, values))?;
            rest = rung_lisp::debugger::blanked(&rest, used);
        }
    }

    /// While `work` runs, Ctrl-C interrupts it.
    fn busily<R>(&mut self, work: impl FnOnce(&mut Self) -> Result<R, Ended>) -> Result<R, Ended> {
        self.line_ended = false;
        self.busy(true);
        let outcome = work(self);
        self.busy(false);
        outcome
    }

    fn busy(&self, on: bool) {
        self.interrupts.iter().for_each(|interrupts| interrupts.busy(on));
    }

    /// Prints values, one a line.
    pub fn print_values(&mut self, values: &[Value]) -> Result<(), Ended> {
        values.iter().try_for_each(|value| {
            let text = self.session.lisp.print(value);
            self.print_line(&text)
        })
    }

    /// As `print_values`, with the middle of long arrays left out.
    pub fn show_values(&mut self, values: &[Value]) -> Result<(), Ended> {
        values.iter().try_for_each(|value| {
            let lisp = &mut self.session.lisp;
            let text = match rung_lisp::printer::for_prompt(lisp, value) {
                Ok(text) => text,
                Err(_) => lisp.brief(value),
            };
            self.print_line(&text)
        })
    }

    /// The column that the program's standard output has reached.
    pub fn column(&mut self) -> usize {
        let lisp = &mut self.session.lisp;
        let stream = lisp.variable(symbol::STANDARD_OUTPUT).clone();
        lisp.column(&stream)
    }

    /// Writes a line to the program's standard output, beginning at its left edge.
    pub fn print_line(&mut self, line: &str) -> Result<(), Ended> {
        let fresh = if self.column() > 0 { "\n" } else { "" };
        let lisp = &mut self.session.lisp;
        let stream = lisp.variable(symbol::STANDARD_OUTPUT).clone();
        let written = lisp.write(&stream, &format!("{fresh}{line}\n"));
        written.map_err(|escape| lisp.unhandled(escape))
    }

    /// Writes what is still buffered; what cannot be written ends the program.
    pub fn flush(&mut self) -> Result<(), Stopped> {
        self.output.flush().map_err(|error| {
            if error.kind() == io::ErrorKind::BrokenPipe {
                return Stopped(0);
            }
            let text = format!("cannot write standard output: {}", failure::plain(&error));
            self.invocation.screen.failure(&Failure::new(Exit::File, text));
            Stopped(Exit::File as i32)
        })
    }

    /// Prints why evaluation ended, and gives the exit code.
    pub fn explain_end(&mut self, ended: &Unhandled) -> Stopped {
        let code = exit_code(ended);
        if ended.kind == UnhandledKind::BrokenPipe {
            return Stopped(0);
        }
        // The result comes before the message, wherever the two streams lead.
        if let Err(stopped) = self.flush() {
            return if code == 0 { stopped } else { Stopped(code) };
        }
        if !matches!(ended.kind, UnhandledKind::Quit(_) | UnhandledKind::Interrupt) {
            self.begin_line();
            self.report(ended);
        }
        Stopped(code)
    }

    /// Prints an error in the form of the manners.
    pub fn report(&self, ended: &Unhandled) {
        self.invocation.screen.report(&report_of(ended));
        if self.invocation.request.backtrace.value {
            for (depth, name) in ended.backtrace.iter().enumerate() {
                screen::mutter(&format!("  {depth:>3}  {name}\n"));
            }
        }
    }

    /// The exit code of a run that has come to its end: with `--warnings=error` its warnings count.
    pub fn judged(&self, code: i32) -> i32 {
        let warnings = self.session.lisp.warnings();
        if code != 0 || warnings == 0 || !self.invocation.request.warnings_are_errors.value {
            return code;
        }
        let count = if warnings == 1 { "1 warning".into() } else { format!("{warnings} warnings") };
        let failure = Failure::new(Exit::Program, format!("{count}, and warnings are errors"));
        self.invocation.screen.failure(&failure.hint("--allow-warnings lets them pass"));
        Exit::Program as i32
    }

    /// A message begins a line of its own where it follows standard output on one terminal or in one
    /// file.
    fn begin_line(&mut self) {
        if !self.line_ended && self.column() > 0 && streams::are_one() {
            screen::mutter("\n");
            self.line_ended = true;
        }
    }

    /// What is said after the run.
    pub fn end(&mut self) {
        let note = self.session.ladder.borrow().budget_note();
        if note.is_some() || self.invocation.request.settings.explain.value != Explain::Off {
            self.begin_line();
        }
        self.explain_calls();
        if let Some(note) = note {
            self.invocation.screen.note(&note);
        }
    }

    /// What `--explain` prints.
    fn explain_calls(&self) {
        match self.invocation.request.settings.explain.value {
            Explain::Off => {}
            Explain::Table if self.session.ladder.borrow().calls.is_empty() => {
                screen::mutter("no array operation ran\n");
            }
            Explain::Table => screen::mutter(&self.session.explain_table()),
            Explain::Json => {
                let text = self.session.explain_json();
                let mut object = serde_json::from_str(&text).unwrap_or_else(|_| json!({}));
                object["settings"] = settings(self.invocation);
                screen::mutter(&format!("{object}\n"));
            }
        }
    }
}

/// Which of the standard streams are terminals to the program. Without notes and in JSON,
/// standard error is none, so that programs show no progress there.
fn terminals(invocation: &Invocation) -> [bool; 3] {
    let progress = !invocation.screen.json && !invocation.screen.quiet;
    let err = progress && io::stderr().is_terminal();
    [io::stdin().is_terminal(), io::stdout().is_terminal(), err]
}

/// Every setting by name, for `--explain=json`.
fn settings(invocation: &Invocation) -> serde_json::Value {
    let mut object = json!({});
    for flag in crate::flags::all() {
        if let (Some(show), Some(key)) = (flag.show, flag.key) {
            let (value, origin) = show(&invocation.request);
            object[key] = json!({"value": value, "origin": origin.to_string()});
        }
    }
    object
}

/// A cost file that a flag names is an input like any other.
pub fn readable_costs(settings: &Settings) -> Result<(), Failure> {
    match (&settings.costs.value, &settings.costs.origin) {
        (CostsChoice::File(path), Origin::Flag(_)) => {
            let unreadable = |error| Failure::unreadable(path, &error).hint(COSTS_HINT);
            // Opened only where it is a file: a pipe would wait for a writer.
            if std::fs::metadata(path).map_err(unreadable)?.is_file() {
                std::fs::File::open(path).map_err(unreadable)?;
            }
            let defaults = Costs::defaults(rung_lanes::Level::detect(), 1);
            let text = match file::entries(path, &defaults) {
                Ok(entries) if entries.is_empty() => file::NO_MEASUREMENT.to_string(),
                Err(Refused::Malformed(fault)) => fault.to_string(),
                _ => return Ok(()),
            };
            let text = format!("cannot read the costs of {}: {text}", path.display());
            Err(Failure::new(Exit::File, text).hint(COSTS_HINT))
        }
        _ => Ok(()),
    }
}

const COSTS_HINT: &str =
    "rung tune --costs=FILE writes one; --costs=default takes the built-in costs";

/// The error of what was demanded and is absent.
pub fn missing(what: &str, reason: &str) -> Failure {
    Failure::new(Exit::Absent, format!("{what}: {reason}"))
        .hint("rung doctor says what this machine has; without that setting the program runs")
}

/// What was demanded and is absent: how it was demanded, and the reason.
pub fn absent(settings: &Settings, ladder: &Ladder) -> Option<(String, String)> {
    let strict = settings.on_decline.value == OnDecline::Error;
    let wants_device = settings.gpu.value && !settings.portable.value;
    if let (true, Err(decline)) = (wants_device, ladder.device()) {
        let reason = decline.text(Rung::Device);
        match &settings.device.value {
            DeviceChoice::Named(name) => {
                return Some((settings.device.origin.saying("device", name), reason));
            }
            _ if strict => return Some(("--gpu".into(), reason)),
            _ => {}
        }
    }
    match ladder.library() {
        Err(decline) if settings.blas.value && strict => {
            Some(("--blas".into(), decline.text(Rung::Library)))
        }
        _ => None,
    }
}

fn exit_code(ended: &Unhandled) -> i32 {
    match ended.kind {
        UnhandledKind::Quit(code) => code,
        UnhandledKind::Interrupt => Exit::Interrupted as i32,
        UnhandledKind::BrokenPipe => 0,
        UnhandledKind::File => Exit::File as i32,
        _ if ended.class.ends_with("declined") => Exit::Absent as i32,
        UnhandledKind::Error
        | UnhandledKind::Reader
        | UnhandledKind::Incomplete
        | UnhandledKind::Abort => Exit::Program as i32,
    }
}

pub fn report_of(ended: &Unhandled) -> Report {
    let place = ended.place.as_ref().map(|place| Place {
        file: place.name.clone(),
        line: place.line,
        column: place.column,
        text: place.text.clone(),
        width: place.width,
    });
    let code = match ended.kind {
        UnhandledKind::File => "file",
        _ if ended.class.is_empty() => "error",
        _ => &ended.class,
    };
    Report {
        level: Level::Error,
        code: code.to_string(),
        message: ended.sentence(),
        place,
        hint: ended.hint.clone(),
    }
}
