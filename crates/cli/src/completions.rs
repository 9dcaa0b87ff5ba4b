//! Completions for four shells and the manual page, made from the tables of flags and commands.

use crate::commands::{COMMANDS, Invocation};
use crate::failure::Failure;
use crate::flags::{self, Flag, Group, Takes};
use crate::{printed, screen, version};
use rung::solvers::SOLVERS;
use std::fmt::Write;

/// A shell's name and its script.
type Shell = (&'static str, fn() -> String);

const SHELLS: [Shell; 4] =
    [("bash", bash), ("zsh", zsh), ("fish", fish), ("powershell", powershell)];

/// `rung completions SHELL`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let asked = invocation.word().unwrap_or_default();
    let Some((_, script)) = SHELLS.iter().find(|(name, _)| *name == asked) else {
        let names = SHELLS.map(|(name, _)| name).join(", ");
        return Err(Failure::usage(format!("expected one of {names}, got \"{asked}\"")));
    };
    printed(screen::print(&script()))
}

/// `rung man`.
pub fn manual(_: &Invocation) -> Result<i32, Failure> {
    printed(screen::print(&man()))
}

/// Every flag as it is typed, with the words that it takes after `=`.
fn spellings() -> Vec<String> {
    let mut all = Vec::new();
    for flag in flags::typed() {
        all.extend(flag.short.map(|letter| format!("-{letter}")));
        all.extend(flag.spellings().map(String::from));
        for word in words(flag) {
            all.push(format!("{}={word}", flag.name));
        }
    }
    all
}

fn words(flag: &Flag) -> &'static [&'static str] {
    match flag.takes {
        Takes::Choice(words) | Takes::OptionalChoice(words) => words,
        _ => &[],
    }
}

fn commands() -> String {
    let solvers = SOLVERS.iter().map(|solver| solver.package.name);
    let names = COMMANDS.iter().map(|command| command.name).chain(solvers);
    names.collect::<Vec<_>>().join(" ")
}

fn bash() -> String {
    let flags = spellings().join(" ");
    format!(
        "_rung() {{\n  local word=\"${{COMP_WORDS[COMP_CWORD]}}\"\n  \
         [[ \"$word\" == \"=\" ]] && word=\n  local flags=\"{flags}\"\n  \
         COMPREPLY=()\n  case \"$word\" in\n    \
         -*) COMPREPLY=($(compgen -W \"$flags\" -- \"$word\")) ;;\n    \
         *) COMPREPLY=($(compgen -f -- \"$word\"))\n       \
         [[ $COMP_CWORD == 1 ]] && COMPREPLY+=($(compgen -W \"{}\" -- \"$word\")) ;;\n  \
         esac\n}}\ncomplete -o filenames -F _rung rung\n",
        commands()
    )
}

fn zsh() -> String {
    let mut text = String::from("#compdef rung\n_arguments -s \\\n");
    for flag in flags::typed() {
        let summary = flag.summary.replace('\'', "'\\''").replace([':', '[', ']'], " ");
        let value = match flag.takes {
            Takes::Nothing | Takes::Switch(_) => String::new(),
            Takes::Choice(words) | Takes::OptionalChoice(words) => {
                format!(":value:({})", words.join(" "))
            }
            _ => ":value:_files".to_string(),
        };
        let equals = match flag.takes {
            Takes::Choice(_) => "=",
            Takes::OptionalChoice(_) => "=-",
            _ => "",
        };
        let value = if equals == "=-" { format!(":{value}") } else { value };
        for name in flag.spellings() {
            let _ = writeln!(text, "  '*{name}{equals}[{summary}]{value}' \\");
        }
        if let Some(letter) = flag.short {
            let _ = writeln!(text, "  '*-{letter}[{summary}]{value}' \\");
        }
    }
    let _ = writeln!(
        text,
        "  '1:command or file:_alternative \"commands:command:({})\" \"files:file:_files\"' \\",
        commands()
    );
    text + "  '*:file:_files'\n"
}

fn fish() -> String {
    let mut text = String::new();
    for command in COMMANDS {
        let summary = command.summary.replace('\'', "\\'");
        let (condition, name) = ("__fish_use_subcommand", command.name);
        let _ = writeln!(text, "complete -c rung -n {condition} -a {name} -d '{summary}'");
    }
    for solver in SOLVERS {
        let (name, summary) = (solver.package.name, solver.summary.replace('\'', "\\'"));
        let _ =
            writeln!(text, "complete -c rung -n __fish_use_subcommand -a {name} -d '{summary}'");
    }
    for flag in flags::typed() {
        let summary = flag.summary.replace('\'', "\\'");
        let short = flag.short.map_or(String::new(), |letter| format!(" -s {letter}"));
        let value = match words(flag) {
            [] if flag.needs_value() => " -r".to_string(),
            [] => String::new(),
            words => format!(" -x -a '{}'", words.join(" ")),
        };
        for (at, name) in flag.spellings().enumerate() {
            let short = if at == 0 { short.as_str() } else { "" };
            let name = name.trim_start_matches('-');
            let _ = writeln!(text, "complete -c rung{short} -l {name}{value} -d '{summary}'");
        }
    }
    text
}

fn powershell() -> String {
    let all: Vec<String> = COMMANDS
        .iter()
        .map(|command| command.name.to_string())
        .chain(spellings())
        .map(|word| format!("'{word}'"))
        .collect();
    format!(
        "Register-ArgumentCompleter -Native -CommandName rung -ScriptBlock {{\n  \
         param($word, $line, $column)\n  @({}) |\n    Where-Object {{ $_ -like \"$word*\" }} |\n    \
         ForEach-Object {{ [System.Management.Automation.CompletionResult]::new($_) }}\n}}\n",
        all.join(", ")
    )
}

fn man() -> String {
    let mut text = format!(".TH RUNG 1 \"\" \"{}\"\n.SH NAME\n", version::line());
    text += "rung \\- numerical programs on the fastest thing this machine has\n";
    text += ".SH SYNOPSIS\n.B rung\nFILE [flags] [\\-\\- ARGS]\n.br\n.B rung\n[\\-e FORMS]\n";
    text += ".SH COMMANDS\n";
    for command in COMMANDS {
        let (name, usage) = (roff(command.name), roff(command.usage));
        let _ = writeln!(text, ".TP\n.B {name}\n{}: rung {name} {usage}", roff(command.summary));
        for line in command.detail {
            let _ = writeln!(text, "{}", roff(line));
        }
    }
    for solver in SOLVERS {
        let (name, summary) = (roff(solver.package.name), roff(solver.summary));
        let _ = writeln!(text, ".TP\n.B {name}\n{summary}: rung {name} \\-\\-help");
    }
    for group in Group::ALL {
        let _ = writeln!(text, ".SH {}", group.title().to_uppercase());
        for flag in flags::typed().filter(|flag| flag.group == group) {
            let _ = writeln!(text, ".TP\n.B {}\n{}", roff(&flag.usage()), roff(flag.summary));
            for line in flag.detail {
                let _ = writeln!(text, "{}", roff(line));
            }
        }
    }
    text += ".SH ENVIRONMENT\n";
    for flag in flags::all() {
        if let Some(variable) = flag.variable {
            let _ = writeln!(text, ".TP\n.B {variable}\n{}", roff(flag.summary));
        }
    }
    text
}

/// Text for the typesetter: hyphens stay hyphens, and no line begins with a request.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_script_names_every_flag_and_command() {
        for (shell, script) in SHELLS {
            let text = script();
            for flag in flags::typed() {
                let name = flag.name.trim_start_matches('-');
                assert!(text.contains(name), "{shell} lacks {name}");
            }
            assert!(COMMANDS.iter().all(|command| text.contains(command.name)), "{shell}");
        }
        assert!(flags::typed().all(|flag| man().contains(&roff(flag.summary))));
    }
}
