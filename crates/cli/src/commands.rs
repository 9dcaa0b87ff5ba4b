//! The commands of `rung`, one record each. What a command does is in the module its record
//! names; help, completions and "did you mean" read this list.

use crate::failure::Failure;
use crate::screen::Screen;
use crate::{arguments::Line, configuration::Variables, request::Request};
use crate::{completions, doctor, help, layout, program, testing, tune};

/// One command.
pub struct Command {
    pub name: &'static str,
    /// What comes after the name.
    pub usage: &'static str,
    pub summary: &'static str,
    /// More lines for its help.
    pub detail: &'static [&'static str],
    /// Command lines with what they do.
    pub examples: &'static [(&'static str, &'static str)],
    /// Most words after the name.
    pub words: usize,
    pub run: fn(&Invocation) -> Result<i32, Failure>,
}

/// Everything a command gets.
pub struct Invocation {
    pub line: Line,
    pub request: Request,
    pub screen: Screen,
    pub variables: Variables,
}

pub static COMMANDS: &[Command] = &[
    Command {
        name: "run",
        usage: "FILE [flags] [-- ARGS]",
        summary: "run a program; the word run may be left out",
        detail: &[
            "FILE may be -, standard input. ARGS are the program's own arguments:",
            "(uiop:command-line-arguments) gives them as a list of strings.",
        ],
        examples: &[
            ("rung prog.lisp --gpu -- 512", "with a GPU if there is one"),
            ("rung prog.lisp --explain", "and say where each operation ran"),
        ],
        words: 1,
        run: program::run,
    },
    Command {
        name: "repl",
        usage: "[flags]",
        summary: "the prompt; so does rung alone on a terminal",
        detail: &["Leave it with :q, (quit) or Ctrl-D. Ctrl-C comes back to the prompt."],
        examples: &[("rung repl --blas", "the prompt, with the tuned library")],
        words: 0,
        run: program::prompt,
    },
    Command {
        name: "doctor",
        usage: "[--ops | --report] [--json] [flags]",
        summary: "what this machine has, what works, and how to mend the rest",
        detail: &[
            "Each line is [ok], [warn], [fail] or [--], not applicable. Exit 1 when",
            "something fails.",
        ],
        examples: &[
            ("rung doctor", "host, device, library, lanes, settings"),
            ("rung doctor --ops", "which operation runs on which rung"),
        ],
        words: 0,
        run: doctor::run,
    },
    Command {
        name: "tune",
        usage: "[--quick] [--blas] [--device NAME] [flags]",
        summary: "measure this machine, so that the fastest rung takes each call",
        detail: &[
            "Writes costs.toml in the user's configuration directory, or the file of",
            "--costs. With --blas each CBLAS of the machine is measured beside the",
            "lanes, with --gpu or --device a device. Under 60 seconds, 15 with --quick.",
            "Let the machine be idle meanwhile: what other work disturbs is measured",
            "again, and else left at its default, with a warning. Results never depend",
            "on it, except that with --blas the library is asked for other products.",
        ],
        examples: &[
            ("rung tune", "the lanes and their threads"),
            ("rung tune --blas --quick", "and the library, in 15 seconds"),
        ],
        words: 0,
        run: tune::run,
    },
    Command {
        name: "explain",
        usage: "FILE | -e FORMS [flags] [-- ARGS]",
        summary: "run, then say where each operation ran and why not elsewhere",
        detail: &["The same as --explain. With --json, one object."],
        examples: &[("rung explain prog.lisp --gpu", "the table goes to standard error")],
        words: 1,
        run: program::explain,
    },
    Command {
        name: "test",
        usage: "PATH... [--filter TEXT] [--jobs N] [flags]",
        summary: "run the tests of files, directories or systems",
        detail: &[
            "The deftest forms of each file run in a process of their own; of a",
            "directory the files *-test.lisp, of a system its test-op. Exit 1 when a",
            "test fails.",
        ],
        examples: &[
            ("rung test shapes-test.lisp", "every (test:deftest ...) of a file"),
            ("rung test tests --filter area", "of a directory, those with area in their name"),
        ],
        words: usize::MAX,
        run: testing::run,
    },
    Command {
        name: "fmt",
        usage: "PATH... [--check | --stdout] [--width N]",
        summary: "lay programs out: white space changes, nothing else",
        detail: &[
            "Lines stay where they are broken, unless they are too long; each is",
            "indented by the form it belongs to. - is standard input. rung format is",
            "the same.",
        ],
        examples: &[
            ("rung fmt prog.lisp", "in place"),
            ("rung fmt --check src", "name the files that would change, exit 1 if any"),
        ],
        words: usize::MAX,
        run: layout::run,
    },
    Command {
        name: "completions",
        usage: "bash|zsh|fish|powershell",
        summary: "completions for a shell",
        detail: &[],
        examples: &[(
            "rung completions bash > ~/.local/share/bash-completion/completions/rung",
            "",
        )],
        words: 1,
        run: completions::run,
    },
    Command {
        name: "man",
        usage: "",
        summary: "the manual page",
        detail: &[],
        examples: &[("rung man | man -l -", "read it")],
        words: 0,
        run: completions::manual,
    },
    Command {
        name: "help",
        usage: "[TOPIC]",
        summary: "help on a command, a flag or a topic",
        detail: &[],
        examples: &[
            ("rung help doctor", "a command"),
            ("rung help --on-decline", "a flag"),
            ("rung help exit-codes", "a topic"),
        ],
        words: 1,
        run: help::run,
    },
];

/// Further names of commands.
const ALSO: [(&str, &str); 1] = [("format", "fmt")];

/// The command of a name.
pub fn find(name: &str) -> Option<&'static Command> {
    let name = ALSO.iter().find(|(also, _)| *also == name).map_or(name, |(_, name)| name);
    COMMANDS.iter().find(|command| command.name == name)
}

impl Invocation {
    /// The first word after the command, as text.
    pub fn word(&self) -> Option<String> {
        self.line.words.first().map(|word| word.to_string_lossy().into_owned())
    }

    /// More words than the command takes are a mistake; for a program they look like its own
    /// arguments.
    pub fn check_words(&self) -> Result<(), Failure> {
        if self.line.solver.is_some() {
            return Ok(());
        }
        let most = self.line.command.map_or(1, |command| command.words);
        let Some(extra) = self.line.words.get(most) else { return Ok(()) };
        let failure = Failure::usage(format!("unexpected word {}", extra.to_string_lossy()));
        Err(match self.line.command_name() {
            "run" | "explain" => failure.hint("a program's own arguments come after --"),
            name => failure.hint(format!("rung help {name}")),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_named_once_and_documented() {
        for (at, command) in COMMANDS.iter().enumerate() {
            assert!(COMMANDS[..at].iter().all(|other| other.name != command.name));
            assert!(!command.summary.is_empty() && command.summary.len() <= 66, "{}", command.name);
            assert!(!command.examples.is_empty(), "{}", command.name);
        }
    }
}
