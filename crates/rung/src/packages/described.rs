//! What `describe`, `doc` and `documentation` say of an operation: its text, its arguments, where it
//! runs and why not elsewhere, what is known of its gradient, and what holds for its bits. All of it
//! is read from the record, so that a new operation is described by being there.

use rung_ops::Op;
use rung_ops::gradient::Gradient;
use rung_ops::record::{Entry, Offer, Parameter};

/// The lines of `describe` after the argument list.
pub fn documentation(op: &Op) -> String {
    let mut text = op.doc.to_string();
    for parameter in op.parameters {
        text += &format!("\n{}: {}", parameter.name.to_uppercase(), taken(parameter));
    }
    for (head, line) in [
        ("Result: ", op.result),
        ("Runs on: ", &rungs(op)),
        ("Gradient: ", gradient(op)),
        ("Precision: ", &op.exactness()),
    ] {
        text.extend(["\n", head, line, "."]);
    }
    if !op.example.is_empty() {
        text.extend(["\nExample: ", op.example]);
    }
    text
}

/// What the record says of a parameter, or what it takes.
fn taken(parameter: &Parameter) -> String {
    match parameter.about() {
        about if parameter.text.is_empty() => format!("{}{about}", parameter.kind.in_words("")),
        about => about,
    }
}

/// `device, lanes, portable; not library: no CBLAS routine computes it`.
fn rungs(op: &Op) -> String {
    let device = match &op.rungs.device {
        Entry::None(reason) => Err(*reason),
        Entry::Has(member) => Ok(match member.offer {
            Offer::RoundTrip(_) => "device",
            Offer::ResidentOnly => "device (where an operand is there)",
        }),
    };
    let of = |name, absent: Option<&'static str>| absent.map_or(Ok(name), Err);
    let library = of("library", absent(&op.rungs.library));
    let lanes = of("lanes", absent(&op.rungs.lanes));
    let asked = [("device", device), ("library", library), ("lanes", lanes)];
    let mut runs: Vec<&str> = asked.iter().filter_map(|(_, place)| place.ok()).collect();
    runs.push("portable");
    let mut text = runs.join(", ");
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for (name, reason) in asked.iter().filter_map(|(name, place)| Some((*name, place.err()?))) {
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => names.push(name),
            None => reasons.push((reason, vec![name])),
        }
    }
    for (reason, names) in reasons {
        text += &format!("; not {}: {reason}", names.join(", "));
    }
    text
}

fn absent<T>(entry: &Entry<T>) -> Option<&'static str> {
    match entry {
        Entry::Has(_) => None,
        Entry::None(reason) => Some(reason),
    }
}

fn gradient(op: &Op) -> &'static str {
    match op.gradient {
        Gradient::None => "none is known",
        Gradient::Zero => "zero, also at its steps",
        Gradient::Elements(_) => "known, element by element",
        Gradient::Chosen => "that of the result, to the operand that each element came from",
        Gradient::Spread => "that of the result, to every element that is folded",
        Gradient::Folded(_) => "known, for every element that is folded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> String {
        let ops = crate::solvers::operations();
        documentation(ops.into_iter().find(|op| op.name() == name).expect("an operation"))
    }

    #[test]
    fn an_operation_says_its_arguments_rungs_gradient_and_precision() {
        let text = of("sum");
        for wanted in [
            "\nA: an array\nAXIS: nil for all axes, an axis, or a list of them\n",
            "\nRuns on: device, lanes, portable; not library: ",
            "\nGradient: that of the result, to every element that is folded.\n",
            "\nPrecision: the definition's bits on every rung.\n",
            "\nExample: (la:sum ",
        ] {
            assert!(text.contains(wanted), "{wanted:?} in {text}");
        }
    }

    #[test]
    fn classes_of_precision_and_places_are_told_apart() {
        assert!(of("exp").contains("\nGradient: known, element by element.\nPrecision: "));
        assert!(of("exp").contains(" ulp of the true value."));
        assert!(of("matmul").contains("Runs on: device, library, lanes, portable."));
        assert!(of("matmul").contains("the library adds in its own order"));
        assert!(of("svd").contains("a kept library's algorithm"));
    }
}
