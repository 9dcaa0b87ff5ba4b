//! The command `rung`: reads what was asked for, runs it, and ends with the right exit code.
//!
//! `arguments` takes the command line apart by the table in `flags`, `configuration` adds files
//! and variables, `commands` lists what can be run. `program` and `repl` run Lisp, `doctor`
//! judges the machine, `solvers` makes commands of what the solvers have, `screen` prints. No array operation is known here, and no Lisp function.
#![forbid(unsafe_code)]

mod arguments;
mod bar;
mod commands;
mod completions;
mod configuration;
mod crash;
mod doctor;
mod failure;
mod flags;
mod folders;
mod help;
mod interrupt;
mod layout;
mod program;
mod repl;
mod request;
mod run;
mod screen;
mod signals;
mod solvers;
mod streams;
mod suggest;
mod testing;
mod topics;
mod tune;
mod version;

use commands::Invocation;
use failure::{Exit, Failure};
use request::{Help, Request};
use screen::{Ended, Screen};
use std::ffi::OsString;

/// Address space for the stack on which Lisp runs; only what is touched is memory. Natives that
/// call back (`mapcar`, `sort`, the printer) recurse on it.
pub const STACK: usize = 256 << 20;

fn main() {
    let watch_signals = signals::block();
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    std::process::exit(crash::guard(STACK, move || {
        watch_signals();
        command(&arguments)
    }));
}

/// Runs a command line and gives its exit code.
fn command(arguments: &[OsString]) -> i32 {
    let variables = configuration::environment();
    let mut request = Request::default();
    let folder = std::env::current_dir().ok();
    let problems = configuration::read(&variables, folder.as_deref(), &mut request);
    let help = arguments::help_wanted(arguments);
    if help != Help::None {
        let of_solver = solvers::of_line(arguments);
        let text =
            of_solver.unwrap_or_else(|| help::of_line(arguments::command_named(arguments), help));
        return printed(screen::print(&text)).unwrap_or_else(|failure| failure.exit as i32);
    }
    let typed = arguments::parse(arguments).and_then(|line| {
        line.apply(&mut request)?;
        request.settle()?;
        Ok(line)
    });
    let mut screen = Screen::new(&request, &variables);
    let outcome = typed.and_then(|line| {
        if request.version {
            return show_version(&request);
        }
        for problem in &problems {
            screen.warning(&problem.warning(&request));
        }
        if let Some(text) = configuration::unhidden(&variables, &request) {
            screen.note(&text);
        }
        let invocation = Invocation { line, request, screen, variables };
        invocation.check_words()?;
        match (&invocation.line.solver, invocation.line.command) {
            (Some(asked), _) => solvers::run(&invocation, asked),
            (None, Some(command)) => (command.run)(&invocation),
            (None, None) => program::without_command(&invocation),
        }
    });
    if let Some(text) = rung_device::ptx_not_kept() {
        screen.warning(&text);
    }
    outcome.unwrap_or_else(|failure| {
        // A line that could not be read may still have asked for JSON.
        screen.json |= arguments.iter().take_while(|word| *word != "--").any(|w| w == "--json");
        screen.failure(&failure);
        failure.exit as i32
    })
}

fn show_version(request: &Request) -> Result<i32, Failure> {
    let text = if request.verbose.value > 0 { version::facts() } else { version::line() };
    printed(screen::print(&format!("{text}\n")))
}

/// The exit code after a result was printed: a closed pipe is no mistake.
pub fn printed(outcome: Result<(), Ended>) -> Result<i32, Failure> {
    match outcome {
        Ok(()) | Err(Ended::BrokenPipe) => Ok(0),
        Err(Ended::Failed(error)) => {
            let text = format!("cannot write standard output: {}", failure::plain(&error));
            Err(Failure::new(Exit::File, text))
        }
    }
}
