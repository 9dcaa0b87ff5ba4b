//! Finding the fields of a text: one pass over its bytes, a record at a time, without copying.

use memchr::memchr_iter;
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
                let line = 1 + memchr_iter(b'\n', &e.as_bytes()[..at]).count();
                let text = Text { path, text: String::new() };
                Err(text
                    .wrong_at(line as u64, at, "not UTF-8")
                    .hint("`iconv -f LATIN1 -t UTF-8` turns an old file into UTF-8"))
            }
        }
    }

    /// About how many lines there are, from the first 64 KiB.
    pub fn lines(&self) -> usize {
        let sample = &self.text.as_bytes()[..self.text.len().min(1 << 16)];
        let lines = memchr_iter(b'\n', sample).count();
        // A twentieth more, so that the last ones seldom move all.
        (lines as f64 * self.text.len() as f64 / sample.len().max(1) as f64 * 1.05) as usize
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

/// A record that has been gone through.
pub struct Record {
    pub line: u64,
    /// Where it begins in the text.
    pub begin: usize,
    /// How many fields it has.
    pub width: usize,
    /// The first column whose field was not taken.
    pub refused: Option<usize>,
}

/// The records of a text, one after another.
pub struct Records<'a> {
    text: &'a Text,
    separator: u8,
    at: usize,
    line: u64,
}

impl<'a> Records<'a> {
    pub fn new(text: &'a Text, separator: u8) -> Records<'a> {
        Records { text, separator, at: 0, line: 1 }
    }

    /// From a record that has been gone through, again.
    pub fn again(text: &'a Text, separator: u8, record: &Record) -> Records<'a> {
        Records { text, separator, at: record.begin, line: record.line }
    }

    /// Hands each field of the next record to `take`, without blanks around it or what stands
    /// between its quotes; `take` says whether it is what was wanted there. `None` at the end of
    /// the text. Empty lines are no records.
    #[inline]
    pub fn next(&mut self, mut take: impl FnMut(usize, &[u8]) -> bool) -> Result<Option<Record>> {
        let bytes = self.text.text.as_bytes();
        while let Some(b'\n' | b'\r') = bytes.get(self.at) {
            self.end_line(bytes);
        }
        if self.at == bytes.len() {
            return Ok(None);
        }
        let mut record = Record { line: self.line, begin: self.at, width: 0, refused: None };
        loop {
            let taken = if bytes.get(self.at) == Some(&b'"') {
                let field = self.quoted(bytes)?;
                take(record.width, &field)
            } else {
                let begin = self.at;
                self.at = end_of_bare(bytes, begin, self.separator);
                take(record.width, bytes[begin..self.at].trim_ascii())
            };
            if !taken && record.refused.is_none() {
                record.refused = Some(record.width);
            }
            record.width += 1;
            match bytes.get(self.at) {
                Some(&byte) if byte == self.separator => self.at += 1,
                Some(_) => {
                    self.end_line(bytes);
                    return Ok(Some(record));
                }
                None => return Ok(Some(record)),
            }
        }
    }

    /// The fields of the next record.
    pub fn fields(&mut self) -> Result<Option<Vec<String>>> {
        let mut fields = Vec::new();
        let record = self.next(|_, field| {
            fields.push(word(field));
            true
        })?;
        Ok(record.map(|_| fields))
    }

    /// Steps over a byte of a line break. A line ends at `\n`, or at a `\r` that no `\n` follows.
    fn end_line(&mut self, bytes: &[u8]) {
        let ends = bytes[self.at] == b'\n' || bytes.get(self.at + 1) != Some(&b'\n');
        self.line += u64::from(ends);
        self.at += 1;
    }

    /// What stands between the quotes that begin here; goes to what is behind them.
    fn quoted(&mut self, bytes: &'a [u8]) -> Result<Cow<'a, [u8]>> {
        let (opened, opened_line) = (self.at, self.line);
        let mut doubled = false;
        self.at += 1;
        loop {
            match bytes.get(self.at) {
                None => {
                    let text = "a quote is opened and never closed";
                    return Err(self.text.wrong_at(opened_line, opened, text));
                }
                Some(b'"') if bytes.get(self.at + 1) == Some(&b'"') => {
                    doubled = true;
                    self.at += 2;
                }
                Some(b'"') => break,
                Some(b'\n' | b'\r') => self.end_line(bytes),
                Some(_) => self.at += 1,
            }
        }
        let field = &bytes[opened + 1..self.at];
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
        match doubled {
            true => Ok(Cow::Owned(word(field).replace("\"\"", "\"").into_bytes())),
            false => Ok(Cow::Borrowed(field)),
        }
    }
}

/// A field as a text. It is UTF-8, since the whole is and fields end at ASCII characters.
pub fn word(field: &[u8]) -> String {
    String::from_utf8_lossy(field).into_owned()
}

/// The position of the separator or line break that ends a bare field, or the end of the text.
/// Eight bytes at a time: one at a time took 12 instructions a byte, and this 2.
#[inline]
fn end_of_bare(bytes: &[u8], begin: usize, separator: u8) -> usize {
    let mut at = begin;
    while let Some(eight) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*eight);
        // No byte of a number is below a comma but a plus: one test instead of three.
        let hit = match separator {
            b',' => bytes_below(word, b',' + 1),
            _ => ends_in(word, separator),
        };
        if hit != 0 {
            let found = at + hit.trailing_zeros() as usize / 8;
            if separator != b',' || matches!(bytes[found], b',' | b'\n' | b'\r') {
                return found;
            }
            at = found + 1;
            continue;
        }
        at += 8;
    }
    let ends = |byte: &u8| *byte == separator || matches!(byte, b'\n' | b'\r');
    bytes[at..].iter().position(ends).map_or(bytes.len(), |n| at + n)
}

fn ends_in(word: u64, separator: u8) -> u64 {
    zero_bytes(word ^ (ONES * u64::from(separator)))
        | zero_bytes(word ^ (ONES * b'\n' as u64))
        | zero_bytes(word ^ (ONES * b'\r' as u64))
}

const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that is zero. Bits above the first such byte mean nothing.
fn zero_bytes(word: u64) -> u64 {
    bytes_below(word, 1)
}

/// The high bit of each byte below a limit of at most 128. Bits above the first such byte mean
/// nothing.
fn bytes_below(word: u64, limit: u8) -> u64 {
    word.wrapping_sub(ONES * u64::from(limit)) & !word & (ONES << 7)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(text: &str) -> Result<Vec<(u64, Vec<String>)>> {
        let text = Text { path: "t.csv".into(), text: text.into() };
        let mut records = Records::new(&text, b',');
        let mut out = Vec::new();
        loop {
            let mut fields = Vec::new();
            let record = records.next(|_, field| {
                fields.push(word(field));
                true
            })?;
            match record {
                Some(record) => out.push((record.line, fields)),
                None => return Ok(out),
            }
        }
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
        for (length, separator) in (0..80).map(|n| (n / 2, [b',', b';'][n % 2])) {
            for end in [char::from(separator), '\n', '\r', '\0'] {
                let end = end.to_string().replace('\0', "");
                // Bytes next to a separator's and below it are what the trick may take for one.
                let text = format!("{}{end}", "-\u{b}+\u{e}x é".repeat(6));
                let text = &text.as_bytes()[text.len() - end.len() - length..];
                assert_eq!(end_of_bare(text, 0, separator), length, "{text:?}");
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
