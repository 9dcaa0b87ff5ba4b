//! What a condition says, and the form in which the command shows it.
//!
//! `report_text` gives the sentence; `Unhandled` is what an embedder gets when no handler took a
//! condition; its `Display` is the form of the manners: sentence, place, source line, carets,
//! hint.

use std::fmt;

use crate::condition::{Condition, Message, Outcome};
use crate::lisp::Lisp;
use crate::object::Object;
use crate::source::Place;
use crate::symbol;
use crate::value::Value;

/// What `princ` prints of a condition: the package whose function failed, and its report.
pub fn sentence(lisp: &mut Lisp, condition: &Value) -> Outcome<String> {
    let text = report_text(lisp, condition)?;
    Ok(match condition.as_condition().map_or("", |found| &found.package) {
        "" => text,
        package => format!("{package}: {text}"),
    })
}

/// The text of a condition: its report.
pub fn report_text(lisp: &mut Lisp, condition: &Value) -> Outcome<String> {
    let Some(found) = condition.as_condition() else { return Ok(lisp.brief(condition)) };
    match &found.message {
        Message::Text(text) => Ok(text.clone()),
        Message::Wanted { operator, wanted, got } => {
            Ok(format!("{operator}: expected {wanted}: got {}", lisp.brief(got)))
        }
        Message::Report => report_by_class(lisp, condition, found),
    }
}

fn report_by_class(lisp: &mut Lisp, condition: &Value, found: &Condition) -> Outcome<String> {
    let report = lisp.class_report(found.class);
    match &report {
        Value::Nil => {}
        Value::String(text) => return Ok(text.to_text()),
        function => {
            let stream = crate::stream::Stream::string_output();
            let stream = Value::object(Object::Stream(stream));
            lisp.call(function, &[condition.clone(), stream.clone()])?;
            return Ok(crate::library::streams::take_text(&stream));
        }
    }
    if let Some(control) = found.slot(symbol::KEY_FORMAT_CONTROL) {
        let arguments = found.slot(symbol::KEY_FORMAT_ARGUMENTS).unwrap_or_default();
        let arguments = arguments.elements().collect::<Vec<_>>();
        return match control.as_text() {
            Some(text) => crate::format::format(lisp, &text.to_text(), &arguments, 0),
            None => Ok(lisp.brief(&control)),
        };
    }
    report_by_slots(lisp, found)
}

/// Standard conditions that a program makes itself, told by their slots.
fn report_by_slots(lisp: &mut Lisp, found: &Condition) -> Outcome<String> {
    if let (Some(datum), Some(expected)) =
        (found.slot(symbol::KEY_DATUM), found.slot(symbol::KEY_EXPECTED_TYPE))
    {
        return Ok(format!("expected {}: got {}", lisp.brief(&expected), lisp.brief(&datum)));
    }
    let class = lisp.shown(found.class);
    Ok(match found.slot(symbol::KEY_NAME) {
        Some(name) => format!("{class}: {}", lisp.brief(&name)),
        None => class,
    })
}

/// A condition that no handler took, or another reason why evaluation ended, for the embedder.
#[derive(Clone, Debug, PartialEq)]
pub struct Unhandled {
    /// Why it ended.
    pub kind: UnhandledKind,
    /// The condition's class in lower case, `simple-error` for instance.
    pub class: String,
    /// The package whose function failed, or "".
    pub package: String,
    /// The sentence.
    pub text: String,
    /// Where the form stands.
    pub place: Option<Place>,
    /// What the user could try.
    pub hint: Option<String>,
    /// The Lisp functions that were running, innermost first: `name file:line:column`.
    pub backtrace: Vec<String>,
}

/// Why evaluation ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnhandledKind {
    /// A condition.
    Error,
    /// `(quit code)`.
    Quit(i32),
    /// Ctrl-C.
    Interrupt,
    /// The debugger was left for the prompt; what there was to say has been said.
    Abort,
    /// Nobody reads standard output any more; end quietly.
    BrokenPipe,
    /// The text could not be read.
    Reader,
    /// The text ends inside a form; more of it would help.
    Incomplete,
    /// The file could not be opened, or reading or writing failed, as on a full disk.
    File,
}

impl Unhandled {
    pub(crate) fn plain(kind: UnhandledKind, text: &str) -> Unhandled {
        Unhandled {
            kind,
            class: String::new(),
            package: String::new(),
            text: text.to_string(),
            place: None,
            hint: None,
            backtrace: Vec::new(),
        }
    }

    /// `linalg: matmul inner dimensions differ: (3 4) and (2 4)`.
    pub fn sentence(&self) -> String {
        match self.package.as_str() {
            "" => self.text.clone(),
            package => format!("{package}: {}", self.text),
        }
    }

    /// One line: `prog.lisp:12:5: error: linalg: ...`.
    pub fn short(&self) -> String {
        match &self.place {
            Some(place) => {
                let Place { name, line, column, .. } = place;
                format!("{name}:{line}:{column}: error: {}", self.sentence())
            }
            None => format!("error: {}", self.sentence()),
        }
    }
}

impl fmt::Display for Unhandled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.sentence())?;
        if let Some(place) = &self.place {
            let Place { name, line, column, .. } = place;
            let (text, before, width) = shown_part(place);
            let number = line.to_string();
            let margin = " ".repeat(number.len());
            // Tabs stay tabs, so that the carets stand under the form on any terminal.
            let blank = before.chars().map(|c| if c == '\t' { '\t' } else { ' ' });
            let blank = blank.collect::<String>();
            write!(f, "\n{margin}--> {name}:{line}:{column}")?;
            write!(f, "\n{margin} |\n{number} | {text}")?;
            write!(f, "\n{margin} | {blank}{}", "^".repeat(width))?;
        }
        if let Some(hint) = &self.hint {
            write!(f, "\n  hint: {hint}")?;
        }
        Ok(())
    }
}

/// How much of a long line is shown: machine-written source may have one line of a megabyte.
const WINDOW: usize = 120;

/// The part of the line to show, what of it stands before the form, and how wide the carets are.
fn shown_part(place: &Place) -> (String, String, usize) {
    let line = place.text.chars().collect::<Vec<_>>();
    let column = place.column - 1;
    if line.len() <= WINDOW {
        let before = line[..column.min(line.len())].iter().collect();
        return (place.text.clone(), before, place.width);
    }
    let start = column.saturating_sub(WINDOW / 3);
    let end = (start + WINDOW).min(line.len());
    let before = line[start..column.min(end)].iter().collect();
    let width = place.width.min(end.saturating_sub(column)).max(1);
    (line[start..end].iter().collect(), before, width)
}

impl std::error::Error for Unhandled {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_form_of_the_manners() {
        let mut error = Unhandled::plain(
            UnhandledKind::Error,
            "matmul inner dimensions differ: (3 4) and (2 4)",
        );
        error.package = "linalg".to_string();
        error.hint = Some("(la:transpose b) has shape (4 2), which fits".to_string());
        error.place = Some(Place {
            name: "prog.lisp".to_string(),
            line: 12,
            column: 5,
            text: "    (la:matmul a b)".to_string(),
            width: 15,
        });
        let expected = "error: linalg: matmul inner dimensions differ: (3 4) and (2 4)
  --> prog.lisp:12:5
   |
12 |     (la:matmul a b)
   |     ^^^^^^^^^^^^^^^
  hint: (la:transpose b) has shape (4 2), which fits";
        assert_eq!(error.to_string(), expected);
        let short = "prog.lisp:12:5: error: linalg: matmul inner dimensions differ: \
                     (3 4) and (2 4)";
        assert_eq!(error.short(), short);
    }
}
