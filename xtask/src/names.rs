//! The lint that keeps the table the only place that names an array operation: in the hand-written
//! code of the language and the command, no string literal may be an operation's name.
//!
//! Unit tests may name operations, and so may text inside a longer sentence only when it is not the
//! qualified name. Names that are also a word of Common Lisp or of everyday prose cannot be told
//! from an operation by their letters; `HOMONYMS` lists them, and only their qualified form counts.

use crate::tidy::{File, Finding};
use rung::{Op, solvers};

/// The crates whose functions come from the table.
const WATCHED: &[&str] = &["crates/lisp/src/", "crates/cli/src/", "crates/lisp/lisp/"];

/// Operation names that Common Lisp, a flag or a keyword uses as well.
const HOMONYMS: &[&str] = &[
    "*",
    "+",
    "-",
    "/",
    "abs",
    "acos",
    "acosh",
    "add",
    "aref",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "concatenate",
    "cond",
    "copy",
    "cos",
    "cosh",
    "dot",
    "equal",
    "erf",
    "exp",
    "eye",
    "floor",
    "full",
    "greater",
    "length",
    "less",
    "log",
    "mean",
    "mod",
    "negative",
    "round",
    "row",
    "seed",
    "shape",
    "shift",
    "sign",
    "sin",
    "sinh",
    "size",
    "slice",
    "sort",
    "sqrt",
    "square",
    "stack",
    "stream",
    "sub",
    "sum",
    "tan",
    "tanh",
    "trace",
    "uniform",
    "where",
];

pub fn operations_are_named_in_the_table(file: &File) -> Vec<Finding> {
    if !WATCHED.iter().any(|place| file.path.starts_with(place)) || file.path.contains("/tests") {
        return Vec::new();
    }
    let literals: Vec<(usize, String)> = match &file.source {
        Some(source) => {
            let tests = source.tests_begin();
            source.strings.iter().filter(|(line, _)| *line < tests).cloned().collect()
        }
        // In Lisp every symbol counts; strings and comments there do not matter.
        None => symbols(&file.text),
    };
    let found = |(line, text): (usize, String)| {
        Some((line + 1, format!("the operation `{}` is named by hand", named(&text)?)))
    };
    literals.into_iter().filter_map(found).collect()
}

/// The operation that a literal names: alone, or qualified anywhere in it.
fn named(text: &str) -> Option<&'static str> {
    let lower = text.to_ascii_lowercase();
    let alone = |name: &&str| lower == **name && !HOMONYMS.contains(name);
    let qualified = |prefix: &str, name: &str| {
        ["la:", "linalg:", "linalg::", "vec:", prefix]
            .iter()
            .any(|package| contains_symbol(&lower, &format!("{package}{name}")))
    };
    let of = |op: &'static Op| op.names.iter().map(|name| (op.package.prefix, *name));
    let mut names = solvers::operations().flat_map(of);
    names.find(|(prefix, name)| alone(name) || qualified(prefix, name)).map(|(_, name)| name)
}

/// Whether a symbol stands whole in a text: `la:exp` is not in `la:expand-dims`.
fn contains_symbol(text: &str, symbol: &str) -> bool {
    let continues = |c: char| c.is_alphanumeric() || c == '-';
    let whole = |(at, _): (usize, &str)| {
        let (before, after) = (&text[..at], &text[at + symbol.len()..]);
        !before.ends_with(continues) && !after.starts_with(continues)
    };
    text.match_indices(symbol).any(whole)
}

/// Qualified symbols of a Lisp text, each with its line from 0; comments are left out.
fn symbols(text: &str) -> Vec<(usize, String)> {
    let ends = |c: char| c.is_whitespace() || "()'`,\"".contains(c);
    let of_line = |(i, line): (usize, &str)| {
        let code = line.split(';').next().unwrap_or("").to_string();
        let qualified = |word: &&str| word.contains(':') && !word.starts_with(':');
        let words: Vec<_> =
            code.split(ends).filter(qualified).map(|word| (i, word.to_string())).collect();
        words
    };
    text.lines().enumerate().flat_map(of_line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        let found = operations_are_named_in_the_table(&file(path, text.into()));
        found.into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_name_written_by_hand_is_found() {
        let text = "native(\"matmul\");\nnative(\"sin\");\ncall(\"la:sin\");\n// \"matmul\"\n\
                    f(\"see la:expand-dims\");\n#[cfg(test)]\nmod tests { \"la:sin\" }\n";
        assert_eq!(lines("crates/lisp/src/a.rs", text), [1, 3, 5]);
        assert!(lines("crates/ops/src/a.rs", text).is_empty());
        assert!(lines("crates/cli/tests/a.rs", text).is_empty());
    }

    #[test]
    fn symbols_are_whole() {
        assert!(contains_symbol("(la:exp 1)", "la:exp"));
        assert!(!contains_symbol("(la:expand-dims a 1)", "la:exp"));
        assert!(!contains_symbol("(umla:exp 1)", "la:exp"));
    }

    #[test]
    fn the_library_in_lisp_names_no_operation() {
        assert_eq!(lines("crates/lisp/lisp/a.lisp", "; la:exp\n(defun f (x)\n (la:exp x))\n"), [3]);
    }

    #[test]
    fn every_homonym_is_an_operation() {
        for name in HOMONYMS {
            let known = solvers::operations().any(|op| op.names.contains(name));
            assert!(known, "{name} is no operation any more");
        }
    }
}
