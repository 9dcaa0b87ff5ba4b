//! `rung doctor --ops`: which operation runs on which rung, with the record's reason in each
//! empty place. Reasons are numbered, because the same one stands in many places.

use super::selftest::missing;
use rung::solvers;
use rung_ops::Rung;
use serde_json::json;
use std::fmt::Write;

/// The matrix, and the reasons below it.
pub fn text() -> String {
    let mut reasons: Vec<&'static str> = Vec::new();
    let width = solvers::operations().map(|op| op.name().len()).max().unwrap_or(0);
    let mut text = format!("{:<width$}", "operation");
    for rung in Rung::ALL {
        let _ = write!(text, "  {:<8}", rung.name());
    }
    let mut text = format!("{}\n", text.trim_end());
    for op in solvers::operations() {
        let mut line = format!("{:<width$}", op.name());
        for rung in Rung::ALL {
            let cell = match missing(op, rung) {
                None => "yes".to_string(),
                Some(reason) => format!("[{}]", number(&mut reasons, reason)),
            };
            let _ = write!(line, "  {cell:<8}");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text += "\n";
    for (at, reason) in reasons.iter().enumerate() {
        let _ = writeln!(text, "{:>5} {reason}", format!("[{}]", at + 1));
    }
    text
}

fn number(reasons: &mut Vec<&'static str>, reason: &'static str) -> usize {
    let known = reasons.iter().position(|known| *known == reason);
    known.unwrap_or_else(|| {
        reasons.push(reason);
        reasons.len() - 1
    }) + 1
}

/// One object a line: the operation, and for each rung `true` or the reason.
pub fn json() -> String {
    let mut text = String::new();
    for op in solvers::operations() {
        let mut object = json!({"schema": 1, "operation": op.name()});
        for rung in Rung::ALL {
            object[rung.name()] = missing(op, rung).map_or(json!(true), |reason| json!(reason));
        }
        let _ = writeln!(text, "{object}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_line_and_every_reason_a_number() {
        let text = text();
        let lines = text.lines().take_while(|line| !line.is_empty()).count();
        assert_eq!(lines, 1 + solvers::operations().count());
        assert!(text.contains("\n  [1] "), "{text}");
    }
}
