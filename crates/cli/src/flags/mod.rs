//! The flag table: one record per flag, from which parsing, settings files, environment
//! variables, help, completions, "did you mean" and the settings line of `rung doctor` are
//! derived. A record holds everything that is known about its flag; to add a flag, add a record
//! to a family's file. How a command line is taken apart is in `arguments`.

mod ladder;
mod output;
mod program;

use crate::request::Request;
use crate::suggest;
use rung_base::settings::{Origin, Setting};

/// One flag, or one setting that only a variable or a file can give (its name is "").
pub struct Flag {
    /// The long name: `--gpu`.
    pub name: &'static str,
    pub short: Option<char>,
    pub takes: Takes,
    /// The environment variable that means the same.
    pub variable: Option<&'static str>,
    /// Variables of other programs that serve as a default.
    pub also: &'static [&'static str],
    /// The key in `rung.toml` and `config.toml`.
    pub key: Option<&'static str>,
    pub group: Group,
    /// The commands that know it; none means all.
    pub commands: &'static [&'static str],
    /// What it does, on one line.
    pub summary: &'static str,
    /// More lines for `--help`.
    pub detail: &'static [&'static str],
    pub apply: fn(&mut Request, Given, Origin) -> Result<(), String>,
    /// The value in force and where it came from, for `rung doctor` and warnings.
    pub show: Option<Show>,
}

/// Gives a setting's value in words, and its origin.
pub type Show = fn(&Request) -> (String, Origin);

/// What follows a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing.
    Nothing,
    /// Nothing; this flag is the opposite.
    Switch(&'static str),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One of these words after `=`, or nothing, which is the first of them.
    OptionalChoice(&'static [&'static str]),
    /// Any text; the word is its name in help.
    Text(&'static str),
    /// An integer of any sign.
    Integer,
    /// A number from 1 to this.
    Count(usize),
}

/// The section of the help in which a flag stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    Ladder,
    Numbers,
    Program,
    Output,
    Doctor,
    Tune,
    Tools,
}

impl Group {
    pub const ALL: [Group; 7] = [
        Group::Ladder,
        Group::Numbers,
        Group::Program,
        Group::Output,
        Group::Doctor,
        Group::Tune,
        Group::Tools,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Group::Ladder => "Where it runs",
            Group::Numbers => "Numbers",
            Group::Program => "The program",
            Group::Output => "Output",
            Group::Doctor => "With rung doctor",
            Group::Tune => "With rung tune",
            Group::Tools => "With rung test and rung fmt",
        }
    }
}

/// A value that was given, already checked against `Takes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Given<'a> {
    Switch(bool),
    Text(&'a str),
    Integer(i64),
}

impl<'a> Given<'a> {
    pub fn on(self) -> bool {
        matches!(self, Given::Switch(true))
    }

    pub fn text(self) -> &'a str {
        if let Given::Text(text) = self { text } else { "" }
    }

    pub fn integer(self) -> i64 {
        if let Given::Integer(number) = self { number } else { 0 }
    }
}

/// What a record need not say.
pub(crate) const FLAG: Flag = Flag {
    name: "",
    short: None,
    takes: Takes::Nothing,
    variable: None,
    also: &[],
    key: None,
    group: Group::Program,
    commands: &[],
    summary: "",
    detail: &[],
    apply: |_, _, _| Ok(()),
    show: None,
};

const FAMILIES: [&[Flag]; 4] = [ladder::FLAGS, ladder::NUMBERS, program::FLAGS, output::FLAGS];

/// Every record, in the order of the manual.
pub fn all() -> impl Iterator<Item = &'static Flag> {
    FAMILIES.into_iter().flatten()
}

/// Every record that can be typed.
pub fn typed() -> impl Iterator<Item = &'static Flag> {
    all().filter(|flag| !flag.name.is_empty())
}

/// The flag of a long name, and whether the name was its opposite.
pub fn find(name: &str) -> Option<(&'static Flag, bool)> {
    typed().find_map(|flag| match flag.takes {
        _ if flag.name == name => Some((flag, false)),
        Takes::Switch(opposite) if opposite == name => Some((flag, true)),
        _ => None,
    })
}

/// The flag of a letter.
pub fn find_short(letter: char) -> Option<&'static Flag> {
    typed().find(|flag| flag.short == Some(letter))
}

/// The nearest long name, opposites included.
pub fn suggestion(name: &str) -> Option<&'static str> {
    let bare = |name: &'static str| name.trim_start_matches('-');
    let names = || typed().flat_map(Flag::spellings);
    let near = suggest::nearest(name.trim_start_matches('-'), names().map(bare))?;
    names().find(|name| bare(name) == near)
}

impl Flag {
    /// `--gpu`, and `--no-gpu` for a switch.
    pub fn spellings(&self) -> impl Iterator<Item = &'static str> + use<> {
        let opposite = if let Takes::Switch(opposite) = self.takes { Some(opposite) } else { None };
        std::iter::once(self.name).chain(opposite)
    }

    /// As the manual writes it: `-e, --eval FORMS`, `--explain[=table|json]`, `--[no-]gpu`.
    pub fn usage(&self) -> String {
        let short = self.short.map_or(String::new(), |letter| format!("-{letter}, "));
        let name = self.name;
        let long = match self.takes {
            Takes::Nothing => name.to_string(),
            Takes::Switch(_) => format!("--[no-]{}", name.trim_start_matches('-')),
            Takes::Choice(words) => format!("{name}={}", words.join("|")),
            Takes::OptionalChoice(words) => format!("{name}[={}]", words.join("|")),
            Takes::Text(value) => format!("{name} {value}"),
            Takes::Integer | Takes::Count(_) => format!("{name} N"),
        };
        short + &long
    }

    /// Whether a command knows this flag.
    pub fn belongs_to(&self, command: &str) -> bool {
        self.commands.is_empty() || self.commands.contains(&command)
    }

    /// Whether the flag needs a value after it.
    pub fn needs_value(&self) -> bool {
        matches!(self.takes, Takes::Choice(_) | Takes::Text(_) | Takes::Integer | Takes::Count(_))
    }

    /// Checks a value from any source: `expected a count, got "many"`.
    pub fn read<'a>(&self, text: &'a str) -> Result<Given<'a>, String> {
        match self.takes {
            Takes::Nothing | Takes::Switch(_) => switch(text)
                .map(Given::Switch)
                .ok_or_else(|| format!("expected on or off, got \"{text}\"")),
            Takes::Choice(words) if words.contains(&text) => Ok(Given::Text(text)),
            Takes::Choice(words) => Err(not_one_of(words, text)),
            Takes::OptionalChoice(words) if words.contains(&text) => Ok(Given::Text(text)),
            Takes::OptionalChoice(words) => match switch(text) {
                Some(true) => Ok(Given::Text(words[0])),
                Some(false) => Ok(Given::Switch(false)),
                None => Err(not_one_of(words, text)),
            },
            Takes::Text(_) => Ok(Given::Text(text)),
            Takes::Integer => text
                .parse()
                .map(Given::Integer)
                .map_err(|_| format!("expected an integer, got \"{text}\"")),
            Takes::Count(most) => count(text, most),
        }
    }
}

fn count(text: &str, most: usize) -> Result<Given<'_>, String> {
    match text.parse::<usize>() {
        Ok(number) if (1..=most).contains(&number) => Ok(Given::Integer(number as i64)),
        Ok(number) => Err(format!("expected a count from 1 to {most}, got {number}")),
        Err(_) => Err(format!("expected a count, got \"{text}\"")),
    }
}

fn switch(text: &str) -> Option<bool> {
    match text {
        "1" | "on" | "yes" | "true" => Some(true),
        "0" | "off" | "no" | "false" => Some(false),
        _ => None,
    }
}

fn not_one_of(words: &[&str], text: &str) -> String {
    let (last, first) = words.split_last().unwrap_or((&"", &[]));
    let listed =
        if first.is_empty() { last.to_string() } else { format!("{} or {last}", first.join(", ")) };
    format!("expected {listed}, got \"{text}\"")
}

/// The words that `show` gives for a switch.
pub(crate) fn show_switch(setting: &Setting<bool>) -> (String, Origin) {
    (if setting.value { "on" } else { "off" }.to_string(), setting.origin.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn no_name_letter_variable_or_key_is_given_twice() {
        let mut seen = HashSet::new();
        for flag in all() {
            let names = flag.spellings().filter(|name| !name.is_empty()).map(String::from);
            let letters = flag.short.map(|letter| format!("-{letter}"));
            let keys = flag.key.map(|key| format!("key {key}"));
            for name in names.chain(letters).chain(keys).chain(flag.variable.map(String::from)) {
                assert!(seen.insert(name.clone()), "{name} is given twice");
            }
        }
    }

    #[test]
    fn every_flag_is_documented_in_one_line_of_help() {
        for flag in all() {
            assert!(!flag.summary.is_empty(), "{} has no summary", flag.name);
            assert!(flag.summary.len() <= 74, "{}: summary too long", flag.name);
            assert!(!flag.summary.ends_with('.'), "{}: a summary is no sentence", flag.name);
            for line in flag.detail {
                assert!(line.len() <= 74, "{}: {line}", flag.name);
            }
        }
    }

    #[test]
    fn every_value_has_a_name_and_every_choice_is_accepted() {
        for flag in typed() {
            match flag.takes {
                Takes::Text(name) => assert!(!name.is_empty(), "{}", flag.name),
                Takes::Choice(words) | Takes::OptionalChoice(words) => {
                    assert!(words.len() > 1, "{}", flag.name);
                    for word in words {
                        assert_eq!(flag.read(word), Ok(Given::Text(word)));
                    }
                }
                _ => {}
            }
        }
    }

    #[test]
    fn every_variable_is_ours_and_every_setting_can_be_shown() {
        for flag in all() {
            if let Some(variable) = flag.variable {
                assert!(variable.starts_with("RUNG_"), "{variable}");
            }
            if flag.variable.is_some() || flag.key.is_some() {
                assert!(flag.show.is_some(), "{} {:?} is not shown", flag.name, flag.variable);
            }
            if flag.name.is_empty() {
                assert!(flag.variable.is_some(), "a setting that nothing gives");
            }
        }
    }

    #[test]
    fn every_command_that_a_flag_names_exists() {
        for flag in all() {
            for command in flag.commands {
                assert!(crate::commands::find(command).is_some(), "{command}");
            }
        }
    }

    #[test]
    fn negations_and_slips() {
        assert!(find("--no-gpu").is_some_and(|(flag, no)| flag.name == "--gpu" && no));
        assert!(find("--no-portable").is_none());
        assert_eq!(suggestion("--no-gpo"), Some("--no-gpu"));
    }

    #[test]
    fn messages_about_values() {
        let (threads, _) = find("--threads").unwrap();
        assert_eq!(threads.read("many").unwrap_err(), "expected a count, got \"many\"");
        assert_eq!(threads.read("0").unwrap_err(), "expected a count from 1 to 1024, got 0");
        let (precision, _) = find("--precision").unwrap();
        let message = "expected strict, tf32 or bf16, got \"fast\"";
        assert_eq!(precision.read("fast").unwrap_err(), message);
    }
}
