//! How names are printed: in which case, and whether bars keep the reader from making something
//! else of them. Prefixes and packages are the business of `printer`.

use crate::library::characters::{downcase, upcase};
use crate::printer::Case;
use crate::reader::{is_blank, is_terminating};
use crate::reader_token::{FloatFormat, parse_float, parse_rational};
use crate::readtable::{ReadCase, inverted};

/// Whether the reader would make something else of a name without bars.
pub(crate) fn needs_bars(name: &str, base: u32, read_case: ReadCase) -> bool {
    let special = |c: char| {
        is_blank(c)
            || is_terminating(c)
            || matches!(c, '|' | '\\' | ':')
            || read_case.letter(c) != c
    };
    name.is_empty()
        || name.starts_with('#')
        || name.chars().any(special)
        || name.bytes().all(|byte| byte == b'.')
        || name.starts_with(|c: char| c.is_digit(base) || matches!(c, '+' | '-' | '.'))
            && (parse_rational(name, base).is_some()
                || parse_float(name, FloatFormat::Double).is_some())
}

/// The name as `*print-case*` and `readtable-case` show it.
pub(crate) fn in_case(name: &str, case: Case, read_case: ReadCase) -> String {
    match read_case {
        ReadCase::Up => upper_in_case(name, case),
        ReadCase::Down => lower_in_case(name, case),
        ReadCase::Preserve => name.to_string(),
        ReadCase::Invert => inverted(name, |_| true),
    }
}

/// Upper case stays, since only bars keep it.
fn lower_in_case(name: &str, case: Case) -> String {
    match case {
        Case::Down => name.to_string(),
        Case::Up => name.chars().map(upcase).collect(),
        Case::Capital => {
            let first = |(at, c): (usize, char)| if at == 0 { upcase(c) } else { c };
            let words = name.split_inclusive(|c: char| !c.is_alphanumeric());
            words.flat_map(|word| word.chars().enumerate().map(first)).collect()
        }
    }
}

fn upper_in_case(name: &str, case: Case) -> String {
    match case {
        Case::Up => name.to_string(),
        Case::Down => name.chars().map(downcase).collect(),
        Case::Capital => {
            let mut inside = false;
            let letter = |c: char| {
                let shown = if inside { downcase(c) } else { c };
                inside = c.is_alphanumeric();
                shown
            };
            name.chars().map(letter).collect()
        }
    }
}
