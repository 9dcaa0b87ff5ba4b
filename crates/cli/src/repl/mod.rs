//! The prompt: reads a form, evaluates it, prints its values, until `:q`, `(quit)` or the end
//! of the input. An error enters the debugger, which is `rung_lisp::debugger`, and so does Ctrl-C;
//! here is the terminal that it talks to. The line editor is in `editor`.

mod balance;
mod completion;
mod editor;

use crate::configuration::folder_of;
use crate::failure::{Exit, Failure};
use crate::interrupt::Interrupts;
use crate::run::report_of;
use crate::run::{Ended, Running};
use crate::screen::{self, Screen, mutter};
use completion::Names;
use editor::Input;
use rung::{Lisp, Value};
use rung_lisp::debugger::{Console, Line};
use rung_lisp::{Unhandled, UnhandledKind};
use std::cell::RefCell;
use std::io::IsTerminal;
use std::path::Path;
use std::rc::Rc;

/// What messages call the text that was typed.
const TYPED: &str = "prompt";

const VERSION: &str = env!("CARGO_PKG_VERSION");
const HINTS: &str = ":q leaves, :help helps, (doc sort) tells about a function, TAB completes";

/// What is shown for `:help`.
const HELP: &str = "  \
  a form is evaluated and its value shown; *, ** and *** are the last values
  (doc sort) tells about a function, (apropos \"norm\") finds names, TAB completes one
  array operations are in package la; #d(1 2) is a vector, #d((1 2) (3 4)) a matrix
  (explain form) shows where its operations ran; Ctrl-C stops what runs; :q leaves
";

/// Words that show it.
const ASK: [&str; 5] = [":help", ":h", ":?", "?", "help"];

/// Words that leave the prompt.
const LEAVE: [&str; 5] = [":q", ":quit", ":exit", "quit", "exit"];

/// Reads, evaluates and prints; the exit code.
pub fn read_and_print(running: &mut Running) -> i32 {
    let invocation = running.invocation;
    let input = match Input::new(&invocation.variables, invocation.screen.colors) {
        Ok(input) => input,
        Err(reason) => {
            let failure = Failure::new(Exit::File, format!("cannot read the terminal: {reason}"));
            invocation.screen.failure(&failure);
            return Exit::File as i32;
        }
    };
    if !input.remembers() && invocation.screen.verbose > 0 {
        invocation.screen.note("no folder for the history; lines are not kept");
    }
    if std::io::stdin().is_terminal() {
        invocation.screen.greet(&format!("Rung {VERSION}: {HINTS}"));
    }
    if let Some(code) = load_init(running) {
        return code;
    }
    let terminal =
        Terminal { input, screen: invocation.screen, interrupts: running.interrupts.clone() };
    let terminal = Rc::new(RefCell::new(terminal));
    running.session.lisp.set_console(Some(terminal.clone()));
    loop {
        let prompt = format!("{}> ", running.session.lisp.package_name());
        let line = terminal.borrow_mut().read(&running.session.lisp, &prompt);
        match line {
            Line::Interrupted => {}
            Line::End => return 0,
            Line::Failed(reason) => {
                invocation.screen.failure(&Failure::new(Exit::File, reason));
                return Exit::File as i32;
            }
            Line::Text(text) if LEAVE.contains(&text.trim()) => return 0,
            Line::Text(text) if ASK.contains(&text.trim()) => mutter(HELP),
            Line::Text(text) => {
                if let Some(code) = answer(running, &text) {
                    return code;
                }
            }
        }
    }
}

/// Where the person is: the line editor, and the two streams.
struct Terminal {
    input: Input,
    screen: Screen,
    interrupts: Option<Interrupts>,
}

impl Console for Terminal {
    fn read(&mut self, lisp: &Lisp, prompt: &str) -> Line {
        self.input.read(prompt, Names::of(lisp))
    }

    fn report(&mut self, found: &Unhandled) {
        self.screen.report(&report_of(found));
    }

    fn say(&mut self, text: &str) {
        mutter(text);
    }

    fn show(&mut self, lines: &[String]) {
        // A closed pipe ends the session at its next line.
        let _ = screen::print(&format!("{}\n", lines.join("\n")));
    }

    fn busy(&mut self) {
        self.interrupts.iter().for_each(|interrupts| interrupts.busy(true));
    }
}

/// Evaluates what was typed; an exit code when the session ends.
fn answer(running: &mut Running, text: &str) -> Option<i32> {
    let before = |running: &mut Running, form: &Value| running.session.lisp.remember_form(form);
    let outcome = running.each_form(TYPED, text, before, |running, values| {
        running.session.lisp.remember_values(&values);
        if values.is_empty() {
            running.print_line("; no values")
        } else {
            running.show_values(&values)
        }
    });
    let ended = outcome.and_then(|()| fresh_line(running));
    if let Err(ended) = ended {
        return stopped(running, &ended);
    }
    running.flush().err().map(|stopped| stopped.0)
}

/// Shows why a form gave no value; an exit code when the session ends.
fn stopped(running: &mut Running, ended: &Unhandled) -> Option<i32> {
    match ended.kind {
        UnhandledKind::Quit(code) => {
            let _ = running.flush();
            return Some(code);
        }
        UnhandledKind::BrokenPipe => return Some(0),
        _ => {}
    }
    let _ = fresh_line(running);
    if let Err(stopped) = running.flush() {
        return Some(stopped.0);
    }
    match ended.kind {
        UnhandledKind::Interrupt => mutter("; interrupted\n"),
        UnhandledKind::Abort => {}
        _ => running.report(ended),
    }
    None
}

/// What a program printed without an end of line must not stand before the prompt.
fn fresh_line(running: &mut Running) -> Result<(), Ended> {
    if running.column() > 0 { running.print_line("") } else { Ok(()) }
}

/// `init.lisp` of the user, unless `--no-init`.
fn load_init(running: &mut Running) -> Option<i32> {
    let invocation = running.invocation;
    let folder = folder_of(&invocation.variables, "XDG_CONFIG_HOME", ".config")?;
    let file = folder.join("init.lisp");
    if !invocation.request.init.value || !Path::is_file(&file) {
        return None;
    }
    let outcome = running.load_file(&file.to_string_lossy());
    outcome.err().and_then(|ended| stopped(running, &ended))
}
