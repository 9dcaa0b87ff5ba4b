//! Running programs: files, `-e`, standard input as a script, and the prompt's beginning.

use crate::commands::{self, Invocation};
use crate::failure::{Exit, Failure};
use crate::run::{Ended, Mode, Running, Stopped};
use crate::{repl, suggest};
use rung::Value;
use rung::solvers::SOLVERS;
use rung_base::settings::{Explain, Origin};
use serde_json::json;
use std::io::{IsTerminal, Read};
use std::path::Path;

/// The name under which messages know the texts of `-e`.
const EXPRESSION: &str = "-e";

/// `rung` without a command: a file, `-e`, the prompt, or standard input as a script.
pub fn without_command(invocation: &Invocation) -> Result<i32, Failure> {
    let nothing = invocation.line.words.is_empty() && invocation.request.expressions.is_empty();
    if nothing && std::io::stdin().is_terminal() {
        return prompt(invocation);
    }
    run(invocation)
}

/// `rung run FILE`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let script = script(invocation)?;
    let mut running = Running::start(invocation, Mode::Script)?;
    let code = match everything(&mut running, script.as_ref()).and_then(|()| running.flush()) {
        Ok(()) => 0,
        Err(Stopped(code)) => code,
    };
    running.end();
    Ok(running.judged(code))
}

/// `rung explain FILE`: as `--explain`.
pub fn explain(invocation: &Invocation) -> Result<i32, Failure> {
    if invocation.line.words.is_empty() && invocation.request.expressions.is_empty() {
        return Err(Failure::usage("rung explain needs a file or -e FORMS"));
    }
    let mut request = invocation.request.clone();
    if request.settings.explain.value == Explain::Off {
        let form = if request.json.value { Explain::Json } else { Explain::Table };
        request.settings.explain.set(form, Origin::Flag("rung explain"));
    }
    let line = invocation.line.clone();
    let (screen, variables) = (invocation.screen, invocation.variables.clone());
    run(&Invocation { line, request, screen, variables })
}

/// `rung repl`.
pub fn prompt(invocation: &Invocation) -> Result<i32, Failure> {
    let mut running = Running::start(invocation, Mode::Prompt)?;
    let code = match before(&mut running) {
        Ok(()) => repl::read_and_print(&mut running),
        Err(Stopped(code)) => code,
    };
    running.end();
    Ok(code)
}

/// What is run after `-e`.
enum Script {
    /// A file that can be read.
    File(String),
    /// The text of standard input.
    Input(String),
}

/// The file or standard input, looked at before anything is started; none when `-e` is all
/// there is.
fn script(invocation: &Invocation) -> Result<Option<Script>, Failure> {
    match invocation.line.words.first() {
        None if !invocation.request.expressions.is_empty() => Ok(None),
        None => standard_input().map(Some),
        Some(word) if word == "-" => standard_input().map(Some),
        Some(word) => {
            let path = Path::new(word);
            let bytes = std::fs::read(path).map_err(|error| unreadable(path, &error))?;
            let name = word.to_string_lossy().into_owned();
            decoded(bytes, &name)?;
            Ok(Some(Script::File(name)))
        }
    }
}

fn standard_input() -> Result<Script, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::unreadable(Path::new("standard input"), &error))?;
    decoded(bytes, "standard input").map(Script::Input)
}

fn decoded(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        let line = 1 + error.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count();
        Failure::new(Exit::File, format!("{name}:{line}: not UTF-8"))
    })
}

/// A name that is no file and looks like a command's is a slip; anything else cannot be read.
fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let solvers = SOLVERS.iter().map(|solver| solver.package.name);
    let names = commands::COMMANDS.iter().map(|command| command.name).chain(solvers);
    let word = path.to_str().filter(|word| word.chars().all(char::is_alphabetic));
    match word.and_then(|word| suggest::nearest(word, names)) {
        Some(near) if error.kind() == std::io::ErrorKind::NotFound => {
            Failure::usage(format!("{}: no such command or file", path.display()))
                .hint(format!("did you mean rung {near}?"))
        }
        _ => Failure::unreadable(path, error),
    }
}

fn everything(running: &mut Running, script: Option<&Script>) -> Result<(), Stopped> {
    before(running)?;
    let outcome = match script {
        None => Ok(()),
        Some(Script::File(path)) => running.load_file(path),
        Some(Script::Input(text)) => running.load_text("-", text),
    };
    outcome.map_err(|ended| running.explain_end(&ended))
}

/// What comes before the file or the prompt: `--load` and `-e`, in this order.
fn before(running: &mut Running) -> Result<(), Stopped> {
    let request = &running.invocation.request;
    for file in &request.loads {
        let outcome = running.load_file(&file.to_string_lossy());
        outcome.map_err(|ended| running.explain_end(&ended))?;
    }
    for text in &request.expressions {
        let outcome = running.each_form(EXPRESSION, text, |_, _| {}, print);
        outcome.map_err(|ended| running.explain_end(&ended))?;
        running.flush()?;
    }
    Ok(())
}

/// The values of a form of `-e`.
fn print(running: &mut Running, values: Vec<Value>) -> Result<(), Ended> {
    if !running.invocation.screen.json {
        return running.print_values(&values);
    }
    let texts: Vec<String> = values.iter().map(|v| running.session.lisp.print(v)).collect();
    let line = json!({"schema": 1, "values": texts});
    running.print_line(&line.to_string())
}
