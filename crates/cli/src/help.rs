//! Help, made from the tables of flags and commands: one screen, everything, or one topic. All
//! begin with examples. Topics that no table covers are in `topics`.

use crate::commands::{self, COMMANDS, Command, Invocation};
use crate::failure::Failure;
use crate::flags::{self, Flag, Group};
use crate::request::Help;
use crate::{screen, solvers, suggest, topics};
use rung::solvers::SOLVERS;
use std::fmt::Write;

const TITLE: &str = "rung: numerical programs on the fastest thing this machine has";

const EXAMPLES: &[(&str, &str)] = &[
    ("rung prog.lisp --gpu -- 512", "run a program; its arguments after --"),
    ("rung -e '(+ 1 2)'", "evaluate and print"),
    ("rung doctor", "what this machine has"),
];

const USAGE: &str = "\
usage: rung FILE [flags] [-- ARGS]  FILE may be -, standard input
       rung [-e FORMS]  the prompt, or standard input as a script
       rung COMMAND     ";

/// Columns that help fills.
const WIDTH: usize = 79;

/// `rung help [TOPIC]`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let text = match invocation.word() {
        None => general(Help::Long),
        Some(topic) => about(&topic)?,
    };
    crate::printed(screen::print(&text))
}

/// The help of a command line.
pub fn of_line(command: Option<&'static Command>, help: Help) -> String {
    match command {
        Some(command) if command.name != "help" => of_command(command, help),
        _ => general(help),
    }
}

fn general(help: Help) -> String {
    let mut text = format!("{TITLE}\n\n{}\n{USAGE}", examples(EXAMPLES));
    let names: Vec<&str> = COMMANDS.iter().map(|command| command.name).collect();
    if help == Help::Short {
        // The last line speaks of help, and the shell's commands are for whoever looks for them.
        let left_out = ["completions", "man", "help"];
        let names = names.into_iter().filter(|name| !left_out.contains(name));
        let solvers = SOLVERS.iter().map(|solver| solver.package.name);
        let names: Vec<&str> = names.chain(solvers).collect();
        let _ = writeln!(text, "{}\n", names.join(" "));
        let general = |group: &Group| !matches!(group, Group::Doctor | Group::Tune | Group::Tools);
        for group in Group::ALL.into_iter().filter(general) {
            let _ = write!(text, "{}", flag_names(group));
        }
        text += "\n--help says everything; rung help TOPIC one thing.\n";
        return text;
    }
    text += "see below\n\nCommands\n";
    for command in COMMANDS {
        let _ = writeln!(text, "  {:<12} {}", command.name, command.summary);
    }
    text += &solvers::lines();
    for group in Group::ALL {
        let _ = write!(text, "\n{}\n", group.title());
        for flag in flags::typed().filter(|flag| flag.group == group) {
            text += &of_flag(flag);
        }
    }
    let _ = write!(text, "\nVariables without a flag\n");
    for flag in flags::all().filter(|flag| flag.name.is_empty()) {
        let variable = flag.variable.unwrap_or_default();
        let _ = writeln!(text, "  {variable}\n      {}", flag.summary);
    }
    let topics: Vec<&str> = topics::TOPICS.iter().map(|topic| topic.name).collect();
    let _ = writeln!(text, "\nTopics of rung help: {}", topics.join(", "));
    text
}

fn of_command(command: &Command, help: Help) -> String {
    let mut text = format!("{}\nusage: rung {}", examples(command.examples), command.name);
    let _ = writeln!(text, " {}\n\n{}", command.usage, command.summary);
    for line in command.detail {
        let _ = writeln!(text, "{line}");
    }
    let own = |flag: &&Flag| flag.commands.contains(&command.name);
    if flags::typed().any(|flag| own(&flag)) {
        text += "\nFlags\n";
    }
    for flag in flags::typed().filter(own) {
        text += &of_flag(flag);
    }
    if help == Help::Long || command.words > 0 {
        text += "\nrung --help lists the flags that every command knows.\n";
    }
    text
}

fn about(topic: &str) -> Result<String, Failure> {
    if let Some(command) = commands::find(topic) {
        return Ok(of_command(command, Help::Long));
    }
    if let Some(solver) = solvers::find(topic) {
        return Ok(solvers::of_solver(solver));
    }
    if let Some(topic) = topics::find(topic) {
        return Ok((topic.text)());
    }
    let bare = topic.trim_start_matches('-');
    if let Some((flag, _)) = flags::find(&format!("--{bare}")) {
        return Ok(of_flag(flag));
    }
    let short = bare.chars().next().filter(|_| topic.starts_with('-') && bare.len() == 1);
    if let Some(flag) = short.and_then(flags::find_short) {
        return Ok(of_flag(flag));
    }
    let names = COMMANDS.iter().map(|command| command.name);
    let names = names.chain(topics::TOPICS.iter().map(|topic| topic.name));
    let names = names.chain(SOLVERS.iter().map(|solver| solver.package.name));
    let failure = Failure::usage(format!("no help on {topic}"));
    let near = suggest::nearest(topic, names).or_else(|| flags::suggestion(topic));
    Err(match near {
        Some(near) => failure.hint(format!("did you mean {near}?")),
        None => failure.hint("rung help lists commands, flags and topics"),
    })
}

/// Command lines with what they do, a line each.
pub fn examples(examples: &[(&str, &str)]) -> String {
    let width = examples.iter().map(|(line, _)| line.len()).max().unwrap_or(0).max(30);
    let mut text = String::new();
    for (line, meaning) in examples {
        let _ = writeln!(text, "{}", format!("  {line:<width$}  {meaning}").trim_end());
    }
    text
}

/// All of one flag: `  -e, --eval FORMS`, the summary and the rest indented below it.
fn of_flag(flag: &Flag) -> String {
    let mut text = format!("  {}\n      {}\n", flag.usage(), flag.summary);
    for line in flag.detail {
        let _ = writeln!(text, "      {line}");
    }
    let mut variables: Vec<&str> = flag.variable.into_iter().collect();
    variables.extend(flag.also.iter().rev());
    let mut sources = Vec::new();
    if !variables.is_empty() {
        sources.push(format!("variable {}", variables.join(", ")));
    }
    sources.extend(flag.key.map(|key| format!("key {key}")));
    if !sources.is_empty() {
        let _ = writeln!(text, "      [{}]", sources.join("; "));
    }
    text
}

/// The flags of a group by name alone, folded to the width of the screen.
fn flag_names(group: Group) -> String {
    const INDENT: usize = 16;
    let mut text = String::new();
    let mut line = format!("{:<INDENT$}", group.title());
    for flag in flags::typed().filter(|flag| flag.group == group) {
        let usage = flag.usage();
        if line.len() + usage.len() + 1 > WIDTH {
            let _ = writeln!(text, "{}", line.trim_end());
            line = " ".repeat(INDENT);
        }
        line += &usage;
        line += "  ";
    }
    let _ = writeln!(text, "{}", line.trim_end());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_short_help_fits_one_screen_and_begins_with_examples() {
        let text = general(Help::Short);
        assert!(text.lines().count() <= 24, "{} lines\n{text}", text.lines().count());
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        assert!(text.lines().nth(2).unwrap().starts_with("  rung prog.lisp"));
    }

    #[test]
    fn the_long_help_names_every_flag_command_and_variable() {
        let text = general(Help::Long);
        for flag in flags::all() {
            assert!(text.contains(flag.summary), "{}", flag.name);
            assert!(flag.name.is_empty() || text.contains(&flag.usage()), "{}", flag.name);
            assert!(flag.variable.is_none_or(|variable| text.contains(variable)));
        }
        assert!(COMMANDS.iter().all(|command| text.contains(command.summary)));
        let wide = text.lines().find(|line| line.len() > 80);
        assert_eq!(wide, None);
    }

    #[test]
    fn help_on_a_flag_says_where_else_it_can_be_set() {
        let expected = "  --threads N\n      threads of every rung, the library's too\n\
            \x20     Results do not depend on it.\n\
            \x20     [variable RUNG_THREADS, OMP_NUM_THREADS, RAYON_NUM_THREADS; key threads]\n";
        assert_eq!(about("threads").unwrap(), expected);
        assert_eq!(about("--threads").unwrap(), expected);
        assert_eq!(about("docter").unwrap_err().hint.as_deref(), Some("did you mean doctor?"));
    }
}
