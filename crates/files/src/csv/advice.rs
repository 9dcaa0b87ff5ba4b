//! What may have been meant where a file of separated values does not hold what was expected: a line
//! of names that was not taken for one, another separator, a decimal comma.

use super::Table;
use super::scan::{Record, Records};

/// What separates fields in files that are called csv, with the names of the characters.
const SEPARATORS: [(u8, &str); 5] =
    [(b';', ";"), (b'\t', "Tab"), (b'|', "|"), (b',', ","), (b' ', "Space")];

/// Another separator that cuts a record into several fields.
pub(super) fn other_separator(table: &Table, record: &Record) -> Option<String> {
    let cuts = |separator: u8| {
        let fields = Records::again(table.text, separator, record).fields();
        fields.ok().flatten().is_some_and(|fields| fields.len() > 1)
    };
    let others = SEPARATORS.iter().filter(|(separator, _)| *separator != table.separator);
    let (_, name) = others.copied().find(|(separator, _)| cuts(*separator))?;
    Some(format!("another separator? :separator #\\{name}"))
}

/// Why a field may be no number.
pub(super) fn no_value(table: &Table, record: &Record, field: &str) -> Option<String> {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    if table.width == 1
        && let Some(advice) = other_separator(table, record)
    {
        return Some(advice);
    }
    if field.contains(',') && is_number(&field.replace(',', ".")) {
        return Some(format!("numbers have a decimal point: {}", field.replace(',', ".")));
    }
    let first = table.names.is_none() && record.line == 1;
    (first && !field.is_empty())
        .then(|| "does the first line name the columns? :header t says so".to_string())
}
