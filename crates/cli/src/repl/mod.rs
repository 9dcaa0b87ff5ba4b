//! The prompt: reads a form, evaluates it, prints its values, until `:q`, `(quit)` or the end
//! of the input. An error shows its message and what can be done, and the prompt comes back;
//! so does Ctrl-C. The line editor is in `editor`.

mod balance;
mod completion;
mod editor;

use crate::configuration::folder_of;
use crate::failure::{Exit, Failure};
use crate::run::{Ended, Running};
use crate::screen::mutter;
use completion::Names;
use editor::{Input, Line};
use rung::Value;
use rung_lisp::package::CL;
use rung_lisp::value::list;
use rung_lisp::{Unhandled, UnhandledKind};
use std::io::IsTerminal;
use std::path::Path;

/// What messages call the text that was typed.
const TYPED: &str = "prompt";

const VERSION: &str = env!("CARGO_PKG_VERSION");
const HINTS: &str = ":q leaves, (doc sort) tells about a function, TAB completes a name";

/// Words that leave the prompt.
const LEAVE: [&str; 4] = [":q", ":quit", ":exit", "quit"];

/// Reads, evaluates and prints; the exit code.
pub fn read_and_print(running: &mut Running) -> i32 {
    let invocation = running.invocation;
    let mut input = match Input::new(&invocation.variables, invocation.screen.colors) {
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
    define_memory(running);
    if let Some(code) = load_init(running) {
        return code;
    }
    loop {
        let prompt = format!("{}> ", running.session.lisp.package_name());
        match input.read(&prompt, Names::of(&running.session.lisp)) {
            Line::Interrupted => {}
            Line::End => return 0,
            Line::Failed(reason) => {
                invocation.screen.failure(&Failure::new(Exit::File, reason));
                return Exit::File as i32;
            }
            Line::Text(text) if LEAVE.contains(&text.trim()) => return 0,
            Line::Text(text) => {
                if let Some(code) = answer(running, &text) {
                    return code;
                }
            }
        }
    }
}

/// Evaluates what was typed; an exit code when the session ends.
fn answer(running: &mut Running, text: &str) -> Option<i32> {
    let outcome = running.each_form(TYPED, text, remember_form, |running, values| {
        remember_values(running, &values);
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
        _ => {
            running.report(ended);
            mutter("restarts:\n  0: [abort] back to the prompt (taken)\n");
        }
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

/// The prompt's variables, with values from the start: reading one is never an error.
fn define_memory(running: &mut Running) {
    for name in ["-", "+", "++", "+++", "*", "**", "***", "/", "//", "///"] {
        let lisp = &mut running.session.lisp;
        let symbol = lisp.intern(CL, name);
        lisp.packages.export(&lisp.symbols, CL, symbol);
        set(running, name, Value::Nil);
    }
}

fn set(running: &mut Running, name: &str, value: Value) {
    let lisp = &mut running.session.lisp;
    let symbol = lisp.intern(CL, name);
    lisp.set_variable(symbol, value);
}

fn get(running: &mut Running, name: &str) -> Value {
    let lisp = &mut running.session.lisp;
    let symbol = lisp.intern(CL, name);
    lisp.variable(symbol).clone()
}

/// Moves what `names` hold one name on; the first gets `value`.
fn shift(running: &mut Running, names: [&str; 3], value: Value) {
    let (first, second) = (get(running, names[0]), get(running, names[1]));
    set(running, names[2], second);
    set(running, names[1], first);
    set(running, names[0], value);
}

/// `-` is the form that is being evaluated, `+` the one before.
fn remember_form(running: &mut Running, form: &Value) {
    let before = get(running, "-");
    shift(running, ["+", "++", "+++"], before);
    set(running, "-", form.clone());
}

fn remember_values(running: &mut Running, values: &[Value]) {
    shift(running, ["/", "//", "///"], list(values.to_vec()));
    let first = values.first().cloned().unwrap_or_default();
    shift(running, ["*", "**", "***"], first);
}
