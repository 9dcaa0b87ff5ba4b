//! Finding the fields of a text: one pass over its bytes, a record at a time, without copying.

use rung_base::{Error, Result};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A file's text and where it came from.
pub struct Text {
    pub path: PathBuf,
    text: String,
}

impl Text {
    /// Reads a file, or a pipe to its end. A byte order mark is left out.
    pub fn read(path: &Path) -> Result<Text> {
        let bytes = std::fs::read(path).map_err(|e| Error::cannot("read", path, e))?;
        let path = path.to_path_buf();
        match String::from_utf8(bytes) {
            Ok(mut text) => {
                if text.starts_with('\u{feff}') {
                    text.drain(..'\u{feff}'.len_utf8());
                }
                Ok(Text { path, text })
            }
            Err(e) => {
                let at = e.utf8_error().valid_up_to();
                let line = 1 + e.as_bytes()[..at].iter().filter(|&&byte| byte == b'\n').count();
                let text = Text { path, text: String::new() };
                Err(text
                    .wrong_at(line as u64, at, "not UTF-8")
                    .hint("`iconv -f LATIN1 -t UTF-8` turns an old file into UTF-8"))
            }
        }
    }

    /// The error that line `line`, which begins at byte `offset`, is wrong.
    pub fn wrong_at(&self, line: u64, offset: usize, reason: impl Into<String>) -> Error {
        let (path, reason) = (self.path.display().to_string(), reason.into());
        let message = format!("{path}:{line}: {reason}");
        let reason = format!("line {line}: {reason}");
        let place = rung_base::FilePlace { path, offset: Some(offset as u64), reason };
        Error::new(rung_base::ErrorKind::Format, message).about(place)
    }
}

/// Where a field lies in the text, without its quotes.
#[derive(Clone, Copy)]
struct Field {
    begin: usize,
    end: usize,
    quoting: Quoting,
}

#[derive(Clone, Copy, PartialEq)]
enum Quoting {
    Bare,
    Quoted,
    /// Quoted, with quotes in it that stand twice.
    Doubled,
}

/// The records of a text, of which the last one found is held.
pub struct Records<'a> {
    text: &'a Text,
    separator: u8,
    at: usize,
    line: u64,
    begin: usize,
    fields: Vec<Field>,
}

impl<'a> Records<'a> {
    pub fn new(text: &'a Text, separator: u8) -> Records<'a> {
        Records { text, separator, at: 0, line: 1, begin: 0, fields: Vec::new() }
    }

    /// The number of fields of this record.
    pub fn width(&self) -> usize {
        self.fields.len()
    }

    /// Where this record begins in the text.
    pub fn begin(&self) -> usize {
        self.begin
    }

    /// A field of this record: without blanks around it, or what stands between its quotes.
    #[inline]
    pub fn field(&self, column: usize) -> Cow<'a, str> {
        let field = self.fields[column];
        let text = &self.text.text[field.begin..field.end];
        match field.quoting {
            Quoting::Bare => Cow::Borrowed(trimmed(text)),
            Quoting::Quoted => Cow::Borrowed(text),
            Quoting::Doubled => Cow::Owned(text.replace("\"\"", "\"")),
        }
    }

    pub fn fields(&self) -> Vec<String> {
        (0..self.width()).map(|column| self.field(column).into_owned()).collect()
    }

    /// Goes to the next record; its line, or `None` at the end. Empty lines are no records.
    pub fn next(&mut self) -> Result<Option<u64>> {
        let bytes = self.text.text.as_bytes();
        while let Some(b'\n' | b'\r') = bytes.get(self.at) {
            self.line += u64::from(self.ends_line(bytes));
            self.at += 1;
        }
        if self.at == bytes.len() {
            return Ok(None);
        }
        self.fields.clear();
        self.begin = self.at;
        let line = self.line;
        loop {
            let field = match bytes.get(self.at) {
                Some(b'"') => self.quoted(bytes)?,
                _ => self.bare(bytes),
            };
            self.fields.push(field);
            match bytes.get(self.at) {
                Some(&byte) if byte == self.separator => self.at += 1,
                Some(_) => {
                    self.line += u64::from(self.ends_line(bytes));
                    self.at += 1;
                    return Ok(Some(line));
                }
                None => return Ok(Some(line)),
            }
        }
    }

    /// Whether the byte here ends a line: `\n`, or a `\r` that no `\n` follows.
    fn ends_line(&self, bytes: &[u8]) -> bool {
        bytes[self.at] == b'\n' || bytes.get(self.at + 1) != Some(&b'\n')
    }

    /// Goes to the separator or line break behind an unquoted field.
    #[inline]
    fn bare(&mut self, bytes: &[u8]) -> Field {
        let begin = self.at;
        self.at = end_of_bare(bytes, begin, self.separator);
        Field { begin, end: self.at, quoting: Quoting::Bare }
    }

    fn quoted(&mut self, bytes: &[u8]) -> Result<Field> {
        let (opened, opened_line) = (self.at, self.line);
        let mut quoting = Quoting::Quoted;
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                None => {
                    let text = "a quote is opened and never closed";
                    return Err(self.text.wrong_at(opened_line, opened, text));
                }
                Some(b'"') if bytes.get(self.at + 1) == Some(&b'"') => {
                    quoting = Quoting::Doubled;
                    self.at += 2;
                }
                Some(b'"') => break,
                Some(b'\n' | b'\r') => {
                    self.line += u64::from(self.ends_line(bytes));
                    self.at += 1;
                }
                Some(_) => self.at += 1,
            }
        }
        let end = self.at;
        self.at += 1;
        match bytes.get(self.at) {
            None | Some(b'\n' | b'\r') => {}
            Some(&byte) if byte == self.separator => {}
            Some(_) => {
                let text = "text follows the quote that closes a field";
                let error = self.text.wrong_at(self.line, self.at, text);
                return Err(error.hint("a quote inside a quoted field stands twice"));
            }
        }
        Ok(Field { begin: opened + 1, end, quoting })
    }
}

/// As `str::trim`, which decodes characters from both ends to find out that there is no blank.
#[inline]
fn trimmed(text: &str) -> &str {
    match text.as_bytes() {
        [b'!'..=b'~'] => text,
        [b'!'..=b'~', .., b'!'..=b'~'] => text,
        _ => text.trim(),
    }
}

/// The position of the separator or line break that ends a bare field, or the end of the text.
/// Eight bytes at a time: one at a time took 12 instructions a byte, and this 2.
#[inline]
fn end_of_bare(bytes: &[u8], begin: usize, separator: u8) -> usize {
    let ends = [separator, b'\n', b'\r'];
    let mut at = begin;
    while let Some(eight) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        let hit = ends.iter().fold(0, |hit, end| hit | zero_bytes(word ^ (ONES * u64::from(*end))));
        if hit != 0 {
            return at + hit.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    bytes[at..].iter().position(|byte| ends.contains(byte)).map_or(bytes.len(), |n| at + n)
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that is zero. Bits above the first such byte mean nothing.
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<(u64, Vec<String>)>> {
        let text = Text { path: "t.csv".into(), text: text.into() };
        let mut records = Records::new(&text, b',');
        let mut out = Vec::new();
        while let Some(line) = records.next()? {
            out.push((line, records.fields()));
        }
        Ok(out)
    }

    #[test]
    fn fields_follow_rfc_4180() {
        let text = "a, b ,\"c,\"\"d\"\"\n\"\r\n\r\n,\"\"\rx,y";
        let wanted: [(u64, &[&str]); 3] =
            [(1, &["a", "b", "c,\"d\"\n"]), (4, &["", ""]), (5, &["x", "y"])];
        let found = records(text).unwrap();
        assert_eq!(found.len(), 3);
        for ((line, fields), (wanted_line, wanted)) in found.iter().zip(wanted) {
            assert_eq!((*line, fields.as_slice()), (wanted_line, &wanted.map_strings()[..]));
        }
        assert!(records("").unwrap().is_empty());
        assert_eq!(records("a\"b,1\n").unwrap(), [(1, vec!["a\"b".to_string(), "1".into()])]);
    }

    trait MapStrings {
        fn map_strings(&self) -> Vec<String>;
    }

    impl MapStrings for [&str] {
        fn map_strings(&self) -> Vec<String> {
            self.iter().map(ToString::to_string).collect()
        }
    }

    #[test]
    fn fields_end_at_any_distance_from_an_end_of_eight_bytes() {
        for length in 0..40 {
            for end in [",", "\n", "\r", ""] {
                // A byte one above a separator is what the trick may take for one.
                let text = format!("{}{end}", "-\u{b}\u{e}x".repeat(10)[..length].to_owned());
                assert_eq!(end_of_bare(text.as_bytes(), 0, b','), length, "{text:?}");
            }
        }
    }

    #[test]
    fn a_quote_without_an_end_is_named_by_the_line_that_opens_it() {
        let e = records("a\nb\n\"c\nd\n").unwrap_err();
        assert_eq!(e.message(), "t.csv:3: a quote is opened and never closed");
        let e = records("\"a\"b\n").unwrap_err();
        assert_eq!(e.message(), "t.csv:1: text follows the quote that closes a field");
        assert_eq!(e.file().unwrap().offset, Some(3));
    }
}
