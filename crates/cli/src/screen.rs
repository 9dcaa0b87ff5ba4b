//! What goes to the two streams, and in which form: messages in two parts with carets, on one
//! line, or as JSON; coloured on a terminal alone. Standard output carries results and nothing
//! else. A pipe that nobody reads any more ends the command quietly (`Ended`).

use crate::configuration::Variables;
use crate::failure::Failure;
use crate::request::{Colors, Request};
use serde_json::json;
use std::io::{IsTerminal, Write};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Where a message points: file, line and column, the line itself, how much of it is meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub file: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    pub text: String,
    /// Characters under the caret.
    pub width: usize,
}

/// How grave a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Error,
    Warning,
}

/// A message about a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub level: Level,
    /// The condition's type in lower case.
    pub code: String,
    /// The package and the sentence.
    pub message: String,
    pub place: Option<Place>,
    pub hint: Option<String>,
}

/// The form in which messages are printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Screen {
    pub json: bool,
    pub short: bool,
    pub quiet: bool,
    pub verbose: u32,
    pub colors: bool,
}

/// Standard output cannot be written: a closed pipe (quiet), or a full disk.
pub enum Ended {
    BrokenPipe,
    Failed(std::io::Error),
}

impl From<std::io::Error> for Ended {
    fn from(error: std::io::Error) -> Ended {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Ended::BrokenPipe,
            _ => Ended::Failed(error),
        }
    }
}

/// Writes a result to standard output.
pub fn print(text: &str) -> Result<(), Ended> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}

/// Writes to standard error; there is nowhere to report that this failed.
pub fn mutter(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

impl Screen {
    pub fn new(request: &Request, variables: &Variables) -> Screen {
        Screen {
            json: request.json.value,
            short: request.short_messages.value || request.quiet.value,
            quiet: request.quiet.value,
            verbose: request.verbose.value,
            colors: colors(request.colors.value, variables, std::io::stderr().is_terminal()),
        }
    }

    /// `rung: error: ...`: something about the command itself.
    pub fn failure(&self, failure: &Failure) {
        if self.json {
            let value = json!({
                "schema": 1, "code": failure.exit.name(), "message": failure.message,
                "file": null, "line": null, "column": null, "hint": failure.hint,
            });
            return mutter(&format!("{value}\n"));
        }
        let mut text = format!("rung: {} {}\n", self.word(Level::Error), clean(&failure.message));
        if let Some(hint) = failure.hint.as_ref().filter(|_| !self.short) {
            text += &self.hint(hint);
        }
        mutter(&text);
    }

    /// `rung: warning: ...`.
    pub fn warning(&self, message: &str) {
        self.line("warning", message);
    }

    /// `rung: note: ...`; `-q` silences it.
    pub fn note(&self, message: &str) {
        if !self.quiet {
            self.line("note", message);
        }
    }

    /// The first line of the prompt; `-q` silences it, and JSON has no place for it.
    pub fn greet(&self, line: &str) {
        if !self.quiet && !self.json {
            mutter(&format!("{line}\n"));
        }
    }

    /// A line that the ladder made: `rung: warning: --gpu: ...`.
    pub fn notice(&self, line: &str) {
        match (line.strip_prefix("rung: note: "), line.strip_prefix("rung: warning: ")) {
            (Some(note), _) => self.note(note),
            (_, Some(warning)) => self.warning(warning),
            _ => mutter(&format!("{line}\n")),
        }
    }

    fn line(&self, kind: &str, message: &str) {
        if self.json {
            let value = json!({"schema": 1, "code": kind, "message": message});
            return mutter(&format!("{value}\n"));
        }
        let kind =
            if kind == "warning" { self.word(Level::Warning) } else { self.paint("1;36", "note:") };
        mutter(&format!("rung: {kind} {}\n", clean(message)));
    }

    /// A message about a program, on standard error.
    pub fn report(&self, report: &Report) {
        mutter(&self.render(report));
    }

    /// The text of a message about a program.
    pub fn render(&self, report: &Report) -> String {
        if self.json {
            let place = report.place.as_ref();
            let value = json!({
                "schema": 1, "code": report.code, "message": report.message,
                "file": place.map(|place| &place.file), "line": place.map(|place| place.line),
                "column": place.map(|place| place.column), "hint": report.hint,
            });
            return format!("{value}\n");
        }
        let word = self.word(report.level);
        let message = clean(&report.message);
        match &report.place {
            Some(place) if self.short => {
                let Place { file, line, column, .. } = place;
                format!("{file}:{line}:{column}: {word} {}\n", message.replace('\n', " "))
            }
            None if self.short => format!("{word} {}\n", message.replace('\n', " ")),
            place => {
                let mut text = format!("{word} {message}\n");
                if let Some(place) = place {
                    text += &self.excerpt(place);
                }
                if let Some(hint) = &report.hint {
                    text += &self.hint(hint);
                }
                text
            }
        }
    }

    /// File, line and column, the line, and carets below what is meant.
    fn excerpt(&self, place: &Place) -> String {
        let number = place.line.to_string();
        let space = " ".repeat(number.len());
        let bar = self.paint("1;34", "|");
        let arrow = self.paint("1;34", "-->");
        let Place { file, line, column, .. } = place;
        let head = format!("{space}{arrow} {}:{line}:{column}\n", clean(file));
        let source = clean(&place.text).replace('\t', " ");
        let before: String = source.chars().take(column - 1).collect();
        let meant: String = source.chars().skip(column - 1).take(place.width.max(1)).collect();
        let carets = "^".repeat(meant.width().max(1));
        let carets = self.paint("1;31", &carets);
        let indent = " ".repeat(before.width());
        let number = self.paint("1;34", &number);
        format!(
            "{head}{space} {bar}\n{number} {bar} {}\n{space} {bar} {indent}{carets}\n",
            source.trim_end()
        )
    }

    fn hint(&self, hint: &str) -> String {
        format!("  {} {}\n", self.paint("1;36", "hint:"), clean(hint))
    }

    fn word(&self, level: Level) -> String {
        match level {
            Level::Error => self.paint("1;31", "error:"),
            Level::Warning => self.paint("1;33", "warning:"),
        }
    }

    /// `text` in a colour, where there are colours.
    pub fn paint(&self, code: &str, text: &str) -> String {
        if self.colors { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_string() }
    }
}

/// A text without control characters, so that a program's data cannot steer the terminal.
fn clean(text: &str) -> String {
    let keep = |c: char| c == '\n' || c == '\t' || c.width().is_some();
    text.chars().map(|c| if keep(c) { c } else { '\u{FFFD}' }).collect()
}

fn colors(asked: Colors, variables: &Variables, terminal: bool) -> bool {
    let set = |name: &str| variables.get(name).is_some_and(|value| !value.is_empty());
    match asked {
        Colors::Always => true,
        Colors::Never => false,
        Colors::Auto if set("NO_COLOR") => false,
        Colors::Auto if set("CLICOLOR_FORCE") && variables["CLICOLOR_FORCE"] != "0" => true,
        Colors::Auto => terminal && variables.get("TERM").is_none_or(|term| term != "dumb"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Report {
        Report {
            level: Level::Error,
            code: "linalg:shape-error".into(),
            message: "linalg: matmul inner dimensions differ: (3 4) and (2 4)".into(),
            place: Some(Place {
                file: "prog.lisp".into(),
                line: 12,
                column: 5,
                text: "    (la:matmul a b)".into(),
                width: 15,
            }),
            hint: Some("(la:transpose b) has shape (4 2), which fits".into()),
        }
    }

    #[test]
    fn an_error_has_two_parts() {
        let expected = "\
error: linalg: matmul inner dimensions differ: (3 4) and (2 4)
  --> prog.lisp:12:5
   |
12 |     (la:matmul a b)
   |     ^^^^^^^^^^^^^^^
  hint: (la:transpose b) has shape (4 2), which fits
";
        assert_eq!(Screen::default().render(&example()), expected);
    }

    #[test]
    fn the_short_form_is_one_line() {
        let screen = Screen { short: true, ..Screen::default() };
        assert_eq!(
            screen.render(&example()),
            "prog.lisp:12:5: error: linalg: matmul inner dimensions differ: (3 4) and (2 4)\n"
        );
    }

    #[test]
    fn json_has_stable_keys() {
        let screen = Screen { json: true, ..Screen::default() };
        let value: serde_json::Value = serde_json::from_str(&screen.render(&example())).unwrap();
        assert_eq!(value["schema"], 1);
        assert_eq!(value["code"], "linalg:shape-error");
        assert_eq!((&value["line"], &value["column"]), (&json!(12), &json!(5)));
    }

    #[test]
    fn carets_stand_below_wide_characters_and_control_characters_are_replaced() {
        let place = Place {
            file: "a.lisp".into(),
            line: 1,
            column: 8,
            text: "(print \"あ\x1b[2J\")".into(),
            width: 3,
        };
        let report = Report { place: Some(place), hint: None, ..example() };
        let text = Screen::default().render(&report);
        let expected = "1 | (print \"あ\u{FFFD}[2J\")\n  |        ^^^^\n";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn colours_are_for_terminals_unless_somebody_insists() {
        let with = |pairs: &[(&str, &str)]| -> Variables {
            pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
        };
        assert!(colors(Colors::Auto, &with(&[]), true));
        assert!(!colors(Colors::Auto, &with(&[]), false));
        assert!(!colors(Colors::Auto, &with(&[("NO_COLOR", "1")]), true));
        assert!(colors(Colors::Auto, &with(&[("CLICOLOR_FORCE", "1")]), false));
        assert!(!colors(Colors::Auto, &with(&[("TERM", "dumb")]), true));
        assert!(colors(Colors::Always, &with(&[("NO_COLOR", "1")]), false));
    }
}
