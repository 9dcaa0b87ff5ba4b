//! What was typed: the command line taken apart by the flag table, and applied to the request.
//!
//! The words are the command, the files, the flags with their values, and after `--` the
//! program's own arguments. A flag's meaning is in its record (`flags`); here are only the forms
//! `--name`, `--name=value`, `--name value`, `--no-name`, `-n`, `-nvalue` and `-abc`.

use crate::commands::{self, Command};
use crate::failure::Failure;
use crate::flags::{self, Flag, Given, Takes};
use crate::request::{Help, Request};
use crate::solvers::{self, Offered};
use rung_base::settings::Origin;
use std::ffi::{OsStr, OsString};

/// One flag as it was typed.
#[derive(Clone)]
struct Typed {
    flag: &'static Flag,
    negated: bool,
    value: Option<String>,
}

impl Typed {
    fn spelling(&self) -> &'static str {
        match self.flag.takes {
            Takes::Switch(opposite) if self.negated => opposite,
            _ => self.flag.name,
        }
    }
}

/// The words of a command line.
#[derive(Clone, Default)]
pub struct Line {
    /// The command; none means that the files are run.
    pub command: Option<&'static Command>,
    /// The solver that is asked, with its own flags.
    pub solver: Option<solvers::Asked>,
    /// Files, topics and the like.
    pub words: Vec<OsString>,
    /// What comes after `--`.
    pub arguments: Vec<String>,
    typed: Vec<Typed>,
}

impl Line {
    /// The flags that every command knows, as they were typed, for a process that goes on with the
    /// same work.
    pub fn passed_on(&self) -> Vec<String> {
        let general = self
            .typed
            .iter()
            .filter(|typed| typed.flag.commands.is_empty() || typed.flag.commands.contains(&"run"));
        let words = general.map(|typed| match &typed.value {
            Some(value) => format!("{}={value}", typed.spelling()),
            None => typed.spelling().to_string(),
        });
        words.collect()
    }
}

/// Takes a command line apart. On a mistake the help that `-h` asks for is still found by
/// `help_wanted`.
pub fn parse(arguments: &[OsString]) -> Result<Line, Failure> {
    let mut line = Line::default();
    let mut rest = arguments.iter();
    while let Some(word) = rest.next() {
        let text = word.to_string_lossy();
        if text == "--" {
            line.arguments = rest.map(|word| word.to_string_lossy().into_owned()).collect();
            break;
        }
        if text.starts_with("--") {
            long(&mut line, &text, &mut rest)?;
        } else if text.len() > 1 && text.starts_with('-') {
            short(&mut line, &text[1..], &mut rest)?;
        } else {
            positional(&mut line, word);
        }
    }
    Ok(line)
}

/// The help that a line asks for, whatever else is wrong with it.
pub fn help_wanted(arguments: &[OsString]) -> Help {
    let ours = arguments.iter().take_while(|word| *word != "--");
    let mut help = Help::None;
    for word in ours {
        match word.to_str() {
            Some("--help") => return Help::Long,
            Some("-h") => help = Help::Short,
            _ => {}
        }
    }
    help
}

/// The command that a line names, whatever else is wrong with it.
pub fn command_named(arguments: &[OsString]) -> Option<&'static Command> {
    let first = arguments.iter().find(|word| !word.to_string_lossy().starts_with('-'))?;
    commands::find(first.to_str()?)
}

fn positional(line: &mut Line, word: &OsStr) {
    let text = word.to_str().unwrap_or("");
    if let Some(asked) = line.solver.as_mut().filter(|_| line.words.is_empty()) {
        let operation = solvers::operation(asked.solver, text);
        if asked.operation.is_none() && operation.is_some() {
            asked.operation = operation;
            return;
        }
    }
    let begins = line.command.is_none() && line.solver.is_none() && line.words.is_empty();
    if let Some(solver) = solvers::find(text).filter(|_| begins) {
        line.solver = Some(solvers::Asked::new(solver));
        return;
    }
    let command = commands::find(text).filter(|_| line.solver.is_none());
    match command {
        Some(command) if line.command.is_none() && line.words.is_empty() => {
            line.command = Some(command);
        }
        _ => line.words.push(word.to_owned()),
    }
}

fn long<'a>(
    line: &mut Line,
    name: &str,
    rest: &mut impl Iterator<Item = &'a OsString>,
) -> Result<(), Failure> {
    let (name, value) = match name.split_once('=') {
        Some((name, value)) => (name, Some(value.to_string())),
        None => (name, None),
    };
    if let Some(flag) = line.solver.as_ref().and_then(|asked| asked.flag(name)) {
        return solver_s(line, flag, value, rest);
    }
    let Some((flag, negated)) = flags::find(name) else {
        let failure = Failure::usage(format!("unknown flag {name}"));
        let own = line.solver.as_ref().and_then(|asked| asked.suggestion(name));
        return Err(match own.or_else(|| flags::suggestion(name).map(String::from)) {
            Some(near) => failure.hint(format!("did you mean {near}?")),
            None => failure.hint("rung --help lists the flags"),
        });
    };
    if value.is_some() && matches!(flag.takes, Takes::Nothing | Takes::Switch(_)) {
        return Err(Failure::usage(format!("{name} takes no value")));
    }
    let value = match value {
        None if flag.needs_value() => Some(next_value(flag, rest)?),
        value => value,
    };
    line.typed.push(Typed { flag, negated, value });
    Ok(())
}

fn short<'a>(
    line: &mut Line,
    letters: &str,
    rest: &mut impl Iterator<Item = &'a OsString>,
) -> Result<(), Failure> {
    for (at, letter) in letters.char_indices() {
        let own = line.solver.as_ref().and_then(|asked| asked.flag(&format!("-{letter}")));
        if let Some(flag) = own {
            let after = &letters[at + letter.len_utf8()..];
            let value = Some(after.strip_prefix('=').unwrap_or(after)).filter(|v| !v.is_empty());
            return solver_s(line, flag, value.map(String::from), rest);
        }
        let Some(flag) = flags::find_short(letter) else {
            let failure = Failure::usage(format!("unknown flag -{letter}"));
            return Err(match flags::suggestion(letters) {
                Some(near) if letters.len() > 1 => failure.hint(format!("did you mean {near}?")),
                _ => failure.hint("rung --help lists the flags"),
            });
        };
        let after = &letters[at + letter.len_utf8()..];
        if flag.needs_value() {
            let value = match after.strip_prefix('=').unwrap_or(after) {
                "" => next_value(flag, rest)?,
                value => value.to_string(),
            };
            line.typed.push(Typed { flag, negated: false, value: Some(value) });
            return Ok(());
        }
        line.typed.push(Typed { flag, negated: false, value: None });
    }
    Ok(())
}

/// A flag of the operation of a solver.
fn solver_s<'a>(
    line: &mut Line,
    flag: Offered,
    value: Option<String>,
    rest: &mut impl Iterator<Item = &'a OsString>,
) -> Result<(), Failure> {
    let value = match (value, flag.value.is_empty()) {
        (Some(_), true) => return Err(Failure::usage(format!("{} takes no value", flag.name))),
        (None, true) => String::new(),
        (Some(value), false) => value,
        (None, false) => match rest.next() {
            Some(word) => word.to_string_lossy().into_owned(),
            None => {
                let failure = Failure::usage(format!("{} needs a value", flag.spelling()));
                return Err(failure.hint(flag.usage()));
            }
        },
    };
    line.solver.iter_mut().for_each(|asked| asked.typed.push((flag.clone(), value.clone())));
    Ok(())
}

fn next_value<'a>(
    flag: &Flag,
    rest: &mut impl Iterator<Item = &'a OsString>,
) -> Result<String, Failure> {
    let missing = || Failure::usage(format!("{} needs a value", flag.name)).hint(flag.usage());
    let word = rest.next().map(|word| word.to_string_lossy().into_owned()).ok_or_else(missing)?;
    // Another flag, where the value was forgotten.
    let name = word.split('=').next().unwrap_or_default();
    let long = name.starts_with("--") && flags::find(name).is_some();
    let short = match name.strip_prefix('-').map(|rest| rest.chars().collect::<Vec<_>>()) {
        Some(letters) if letters.len() == 1 => flags::find_short(letters[0]).is_some(),
        _ => false,
    };
    if long || short { Err(missing()) } else { Ok(word) }
}

impl Line {
    /// The name under which flags know the command.
    pub fn command_name(&self) -> &'static str {
        let solver = self.solver.as_ref().map(|asked| asked.solver.package.name);
        self.command.map_or(solver.unwrap_or("run"), |command| command.name)
    }

    /// Writes what was typed into the request, in order.
    pub fn apply(&self, request: &mut Request) -> Result<(), Failure> {
        for typed in &self.typed {
            let flag = typed.flag;
            if !flag.belongs_to(self.command_name()) {
                let text = format!("{} means nothing to rung {}", flag.name, self.command_name());
                let hint = format!("it belongs to rung {}", flag.commands.join(", rung "));
                return Err(Failure::usage(text).hint(hint));
            }
            let given = match &typed.value {
                Some(value) => flag.read(value),
                None if matches!(flag.takes, Takes::OptionalChoice(_)) => flag.read("on"),
                None => Ok(Given::Switch(!typed.negated)),
            };
            given
                .and_then(|given| (flag.apply)(request, given, Origin::Flag(typed.spelling())))
                .map_err(|text| Failure::usage(format!("{}: {text}", flag.name)))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_base::settings::{Explain, OnDecline};

    fn line(words: &[&str]) -> Result<Line, Failure> {
        parse(&words.iter().map(OsString::from).collect::<Vec<_>>())
    }

    fn request(words: &[&str]) -> Result<Request, Failure> {
        let mut request = Request::default();
        line(words)?.apply(&mut request)?;
        Ok(request)
    }

    #[test]
    fn values_come_after_an_equals_sign_or_as_the_next_word() {
        for words in [["--on-decline=warn"].as_slice(), &["--on-decline", "warn"]] {
            let request = request(words).unwrap();
            assert_eq!(request.settings.on_decline.value, OnDecline::Warn);
            assert_eq!(request.settings.on_decline.origin, Origin::Flag("--on-decline"));
        }
    }

    #[test]
    fn an_optional_value_needs_the_equals_sign() {
        let line = line(&["--explain", "json"]).unwrap();
        assert_eq!(line.words, ["json"]);
        assert_eq!(request(&["--explain"]).unwrap().settings.explain.value, Explain::Table);
        assert_eq!(request(&["--explain=json"]).unwrap().settings.explain.value, Explain::Json);
    }

    #[test]
    fn the_last_of_opposites_wins() {
        assert!(!request(&["--gpu", "--no-gpu"]).unwrap().settings.gpu.value);
        assert!(request(&["--no-simd", "--simd"]).unwrap().settings.simd.value);
    }

    #[test]
    fn letters_may_stand_together() {
        let request = request(&["-vvq", "-e1", "-e", "(+ 1 2)"]).unwrap();
        assert_eq!((request.verbose.value, request.quiet.value), (2, true));
        assert_eq!(request.expressions, ["1", "(+ 1 2)"]);
    }

    #[test]
    fn after_two_dashes_everything_is_the_programs() {
        let line = line(&["a.lisp", "--", "--gpu", "-h", "512"]).unwrap();
        assert_eq!(line.words, ["a.lisp"]);
        assert_eq!(line.arguments, ["--gpu", "-h", "512"]);
        assert!(line.typed.is_empty());
    }

    #[test]
    fn a_file_named_like_a_command_is_run_by_run() {
        let line = line(&["run", "doctor"]).unwrap();
        assert_eq!(line.command_name(), "run");
        assert_eq!(line.words, ["doctor"]);
    }

    #[test]
    fn mistakes_say_what_was_meant() {
        let message = |words: &[&str]| {
            let failure = request(words).err().unwrap();
            format!("{} / {}", failure.message, failure.hint.unwrap_or_default())
        };
        assert_eq!(message(&["--gpo"]), "unknown flag --gpo / did you mean --gpu?");
        assert_eq!(message(&["-z"]), "unknown flag -z / rung --help lists the flags");
        assert_eq!(message(&["--seed"]), "--seed needs a value / --seed N");
        let forgotten = "--device needs a value / --device auto|none|cuda:N|NAME";
        assert_eq!(message(&["--device", "--gpu"]), forgotten);
        assert_eq!(message(&["--device", "-e", "1"]), forgotten);
        assert_eq!(message(&["--device", "--threads=2"]), forgotten);
        assert_eq!(message(&["--gpu=1"]), "--gpu takes no value / ");
        assert_eq!(message(&["--threads=many"]), "--threads: expected a count, got \"many\" / ");
        assert_eq!(
            message(&["--ops"]),
            "--ops means nothing to rung run / it belongs to rung doctor"
        );
    }

    #[test]
    fn help_is_found_in_a_wrong_line() {
        let words: Vec<OsString> = ["--gpo", "-h"].iter().map(OsString::from).collect();
        assert!(parse(&words).is_err());
        assert_eq!(help_wanted(&words), Help::Short);
    }
}
