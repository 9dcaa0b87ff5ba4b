//! How a file's bytes are characters (`:external-format`) or integers (`:element-type`).

use std::borrow::Cow;

/// Which bytes are which characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Charset {
    /// One to four bytes a character.
    #[default]
    Utf8,
    /// ISO 8859-1: a byte is the character of that code.
    Latin1,
    /// As that, with the first 128 codes only.
    Ascii,
}

impl Charset {
    /// Its name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Charset::Utf8 => "utf-8",
            Charset::Latin1 => "latin-1",
            Charset::Ascii => "us-ascii",
        }
    }

    /// How many codes it has, from 0.
    fn codes(self) -> u32 {
        match self {
            Charset::Utf8 => 0x11_0000,
            Charset::Latin1 => 0x100,
            Charset::Ascii => 0x80,
        }
    }
}

/// An external format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coding {
    /// Which bytes are which characters.
    pub charset: Charset,
    /// Lines end with CR and LF in the file, with a newline in the program.
    pub crlf: bool,
    /// What stands for what is malformed, or has no bytes, without an error.
    pub replacement: Option<char>,
}

/// What bytes begin with, and how many of them it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A character.
    Character(char, usize),
    /// No character.
    Malformed(usize),
}

impl Coding {
    /// What these bytes begin with; none where there are none.
    #[inline]
    pub fn decode(self, bytes: &[u8]) -> Option<Decoded> {
        let first = *bytes.first()?;
        if first == b'\r' && self.crlf && bytes.get(1) == Some(&b'\n') {
            return Some(Decoded::Character('\n', 2));
        }
        if first < 0x80 || self.charset == Charset::Latin1 {
            return Some(Decoded::Character(char::from(first), 1));
        }
        let decoded = match self.charset {
            Charset::Utf8 => decode_utf8(&bytes[..bytes.len().min(4)]),
            _ => Decoded::Malformed(1),
        };
        Some(match (decoded, self.replacement) {
            (Decoded::Malformed(width), Some(c)) => Decoded::Character(c, width),
            _ => decoded,
        })
    }

    /// The bytes of a text, or the first character that has none.
    pub fn encode<'t>(self, text: &'t str) -> Result<Cow<'t, [u8]>, char> {
        let is_plain = self.charset == Charset::Utf8 || text.is_ascii();
        if is_plain && !(self.crlf && text.contains('\n')) {
            return Ok(Cow::Borrowed(text.as_bytes()));
        }
        let mut bytes = Vec::with_capacity(text.len());
        for c in text.chars() {
            self.encode_character(c, &mut bytes)?;
        }
        Ok(Cow::Owned(bytes))
    }

    fn encode_character(self, c: char, bytes: &mut Vec<u8>) -> Result<(), char> {
        let known = |c: char| u32::from(c) < self.charset.codes();
        let written = match self.replacement {
            _ if known(c) => c,
            Some(replacement) if known(replacement) => replacement,
            _ => return Err(c),
        };
        match self.charset {
            _ if c == '\n' && self.crlf => bytes.extend_from_slice(b"\r\n"),
            Charset::Utf8 => bytes.extend_from_slice(written.encode_utf8(&mut [0; 4]).as_bytes()),
            _ => bytes.push(u32::from(written) as u8),
        }
        Ok(())
    }
}

/// The first of some bytes, which is none of ASCII. What is malformed is as long as Unicode (chapter
/// 3.9, "maximal subpart") has one U+FFFD for.
fn decode_utf8(bytes: &[u8]) -> Decoded {
    let valid = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) if error.valid_up_to() == 0 => {
            return Decoded::Malformed(error.error_len().unwrap_or(bytes.len()));
        }
        Err(error) => std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap_or_default(),
    };
    match valid.chars().next() {
        Some(c) => Decoded::Character(c, c.len_utf8()),
        None => Decoded::Malformed(1),
    }
}

/// Integers in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whole {
    /// Bytes of each: 1, 2, 4 or 8.
    pub width: usize,
    /// In two's complement.
    pub signed: bool,
    /// The highest byte first.
    pub big: bool,
}

impl Whole {
    /// Bytes as they are.
    pub const BYTE: Whole = Whole { width: 1, signed: false, big: false };

    /// The integer that `width` bytes are.
    pub fn decode(self, bytes: &[u8]) -> i128 {
        let mut all = [0; 8];
        all[..self.width].copy_from_slice(&bytes[..self.width]);
        if self.big {
            all[..self.width].reverse();
        }
        let number = u64::from_le_bytes(all);
        let unused = 64 - 8 * self.width as u32;
        match self.signed {
            true => i128::from((number << unused).cast_signed() >> unused),
            false => i128::from(number),
        }
    }

    /// Appends the bytes of an integer; false, and nothing, where it is out of range.
    pub fn encode(self, number: i128, bytes: &mut Vec<u8>) -> bool {
        let (low, high) = self.range();
        if !(low..=high).contains(&number) {
            return false;
        }
        let mut all = number.to_le_bytes();
        if self.big {
            all[..self.width].reverse();
        }
        bytes.extend_from_slice(&all[..self.width]);
        true
    }

    /// The least and the greatest integer.
    pub fn range(self) -> (i128, i128) {
        let half = 1_i128 << (8 * self.width - 1);
        if self.signed { (-half, half - 1) } else { (0, 2 * half - 1) }
    }
}

/// What a stream gives next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// A character.
    Character(char),
    /// Nothing any more.
    End,
    /// Bytes that are no character; they stay until `Ahead::replace` says what they are.
    Malformed(Vec<u8>),
}

/// Bytes that have been read from a file and not yet by the program.
#[derive(Default)]
pub struct Ahead {
    bytes: Vec<u8>,
    /// How many of them are before the position.
    taken: usize,
    /// The bytes of the character taken last.
    last: usize,
    /// What stands for malformed bytes: where they begin, the character, how many.
    replaced: Option<(usize, char, usize)>,
}

impl Ahead {
    /// What is ahead of the position.
    pub fn rest(&self) -> &[u8] {
        &self.bytes[self.taken..]
    }

    /// More bytes, by way of `read`, which appends them. What was read before the last character goes.
    pub fn extend<R>(&mut self, read: impl FnOnce(&mut Vec<u8>) -> R) -> R {
        let gone = self.taken - self.last;
        self.bytes.drain(..gone);
        self.taken = self.last;
        self.replaced =
            self.replaced.and_then(|(at, c, width)| at.checked_sub(gone).map(|at| (at, c, width)));
        read(&mut self.bytes)
    }

    /// The next character, which stays unless `take`.
    #[inline]
    pub fn next(&mut self, coding: Coding, take: bool) -> Next {
        let (c, width) = match self.replaced {
            Some((at, c, width)) if at == self.taken => (c, width),
            _ => match coding.decode(&self.bytes[self.taken..]) {
                Some(Decoded::Character(c, width)) => (c, width),
                Some(Decoded::Malformed(width)) => {
                    return Next::Malformed(self.rest()[..width].to_vec());
                }
                None => return Next::End,
            },
        };
        if take {
            self.taken += width;
            self.last = width;
        }
        Next::Character(c)
    }

    /// The malformed bytes at the position are this character.
    pub fn replace(&mut self, c: char, width: usize) {
        self.replaced = Some((self.taken, c, width));
    }

    /// Puts back the character taken last.
    pub fn unread(&mut self) {
        self.taken -= self.last;
        self.last = 0;
    }

    /// Takes bytes as they are, as many as there are and fit.
    pub fn take(&mut self, into: &mut [u8]) -> usize {
        let count = into.len().min(self.rest().len());
        into[..count].copy_from_slice(&self.rest()[..count]);
        self.taken += count;
        self.last = 0;
        count
    }

    /// Gives up all of it.
    pub fn forget(&mut self) {
        *self = Ahead::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn malformed_bytes_are_as_long_as_unicode_says() {
        let coding = Coding::default();
        let table: [(&[u8], Decoded); 6] = [
            (b"\xC3\xA9x", Decoded::Character('é', 2)),
            (b"\xFFx", Decoded::Malformed(1)),
            (b"\xE2\x82x", Decoded::Malformed(2)),
            (b"\xE2\x82", Decoded::Malformed(2)),
            (b"\xF0\x9F\x98\x80", Decoded::Character('😀', 4)),
            (b"\xC3\xA9\xFF\xFF", Decoded::Character('é', 2)),
        ];
        for (bytes, expected) in table {
            assert_eq!(coding.decode(bytes), Some(expected), "{bytes:x?}");
        }
    }

    #[test]
    fn integers_of_every_width_come_back() {
        for width in [1, 2, 4, 8] {
            for (signed, big) in [(false, false), (false, true), (true, false), (true, true)] {
                let whole = Whole { width, signed, big };
                let (low, high) = whole.range();
                for number in [low, low + 1, 0, 1, high - 1, high] {
                    let mut bytes = Vec::new();
                    assert!(whole.encode(number, &mut bytes));
                    assert_eq!((bytes.len(), whole.decode(&bytes)), (width, number), "{whole:?}");
                }
                assert!(!whole.encode(high + 1, &mut Vec::new()));
                assert!(!whole.encode(low - 1, &mut Vec::new()));
            }
        }
    }
}
