//! The help of solvers, from the same records as everything else; examples come first.

use super::{Offering, find, flags_of, offerings, operation};
use crate::help::examples;
use rung::solvers::SOLVERS;
use rung_ops::solver::Solver;
use std::ffi::OsString;
use std::fmt::Write;

/// Columns that help fills.
const WIDTH: usize = 79;

/// The help of a line that names a solver, whatever else is wrong with it.
pub fn of_line(arguments: &[OsString]) -> Option<String> {
    let mut words = arguments.iter().filter_map(|word| word.to_str());
    let mut words = words.by_ref().filter(|word| !word.starts_with('-'));
    let solver = find(words.next()?)?;
    let offering = words.next().and_then(|word| operation(solver, word));
    Some(offering.map_or_else(|| of_solver(solver), |offering| of_operation(solver, offering)))
}

/// A line for each solver, as the help of everything lists commands.
pub fn lines() -> String {
    let line = |solver: &&Solver| format!("  {:<12} {}\n", solver.package.name, solver.summary);
    SOLVERS.iter().map(line).collect()
}

/// What a solver offers.
pub fn of_solver(solver: &'static Solver) -> String {
    let name = solver.package.name;
    let first = offerings(solver).filter_map(|offering| offering.command.examples.first());
    let first: Vec<(&str, &str)> = first.copied().collect();
    let mut text = format!("{}\nusage: rung {name} FUNCTION FILE [flags]\n\n", examples(&first));
    let _ = writeln!(text, "{}\n\nFunctions", solver.summary);
    let width = offerings(solver).map(|o| o.op.name().len()).max().unwrap_or(0);
    for Offering { op, .. } in offerings(solver) {
        let sentence = op.doc.split_inclusive(". ").next().unwrap_or(op.doc);
        let sentence = sentence.trim_end().trim_end_matches('.');
        let lines = folded(sentence, WIDTH - width - 4);
        for (at, line) in lines.iter().enumerate() {
            let name = if at == 0 { op.name() } else { "" };
            let _ = writeln!(text, "  {name:<width$}  {line}");
        }
    }
    let _ = writeln!(text, "\nrung {name} FUNCTION --help says all about one of them.");
    text
}

fn of_operation(solver: &'static Solver, offering: Offering) -> String {
    let Offering { op, command } = offering;
    let name = format!("rung {} {}", solver.package.name, op.name());
    let file = if command.input.is_some() { "FILE... " } else { "" };
    let mut text = format!("{}\nusage: {name} {file}[flags]\n\n", examples(command.examples));
    for line in folded(op.doc, WIDTH) {
        let _ = writeln!(text, "{line}");
    }
    let file = command.input.map_or_else(String::new, |input| {
        format!(
            "FILE holds {}: {}. Results of several go to folders: -o FOLDER.",
            input.what,
            input.endings.join(" ")
        )
    });
    let main = format!(
        "Without -o {} go to standard output, as {}; numbers among the results are notes.",
        command.output.what, command.output.endings[0]
    );
    let _ = writeln!(text);
    for line in folded(&file, WIDTH).into_iter().chain(folded(&main, WIDTH)) {
        let _ = writeln!(text, "{line}");
    }
    text += "\nFlags\n";
    for flag in flags_of(offering) {
        let _ = writeln!(text, "  {}", flag.usage());
        for line in folded(&flag.text, WIDTH - 6) {
            let _ = writeln!(text, "      {line}");
        }
    }
    text += "\nrung --help lists the flags that every command knows: --threads, --seed, --json,\n\
             --portable, --explain and others.\n";
    text
}

/// Words on lines of up to `width` columns.
fn folded(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_begins_with_an_example_and_names_every_flag() {
        for solver in SOLVERS {
            assert!(of_solver(solver).starts_with("  rung "));
            for offering in offerings(solver) {
                let text = of_operation(solver, offering);
                assert!(text.starts_with("  rung "), "{text}");
                assert!(flags_of(offering).iter().all(|flag| text.contains(&flag.usage())));
                let wide = text.lines().find(|line| line.chars().count() > 100);
                assert_eq!(wide, None);
            }
        }
    }
}
