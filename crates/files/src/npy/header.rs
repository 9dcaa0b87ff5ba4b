//! The header of an npy file: magic, version, length, and a Python dictionary with the type of the
//! cells, their order and the shape. The dictionary is read by a reader of the few literals that
//! may stand in it; nothing is evaluated.

use crate::elements::Stored;
use crate::input::Place;
use rung_base::{Error, Result, Shape};
use std::io::Read;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Cells begin at a multiple of this.
const ALIGNMENT: usize = 64;
/// NumPy leaves room to write this many digits of the axis that grows when cells are appended.
const GROWTH_DIGITS: usize = 21;

/// What stands before the cells.
pub struct Header {
    pub stored: Stored,
    pub big_endian: bool,
    pub fortran_order: bool,
    pub extents: Vec<usize>,
    /// Where the dictionary begins.
    pub begin: u64,
    /// Where the cells begin.
    pub bytes: u64,
}

impl Header {
    /// Reads a header from a source of `length` bytes.
    pub fn read(source: &mut dyn Read, length: u64, place: &Place) -> Result<Header> {
        let mut magic = [0; 8];
        let kept = length.min(8) as usize;
        source.read_exact(&mut magic[..kept]).map_err(|e| place.failed(0, "the magic", e))?;
        let magic = &magic[..kept];
        if kept < 8 || !magic.starts_with(MAGIC) {
            return Err(no_magic(magic, place));
        }
        // The length of the dictionary is a u16 in version 1 and a u32 from 2 on.
        let size_bytes = match (magic[6], magic[7]) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            (major, minor) => {
                let text = format!("expected npy version 1.0, 2.0 or 3.0: got {major}.{minor}");
                return Err(place.wrong(6, text));
            }
        };
        let begin = 8 + size_bytes as u64;
        let mut size = [0; 4];
        if length < begin {
            return Err(place.wrong(8, "the file ends in its header"));
        }
        let read = source.read_exact(&mut size[..size_bytes]);
        read.map_err(|e| place.failed(8, "the header", e))?;
        let size = u32::from_le_bytes(size);
        let left = length - begin;
        if u64::from(size) > left {
            let text = format!("the header has {size} bytes: the file has {left} left");
            return Err(place.wrong(8, text));
        }
        let mut text = vec![0; size as usize];
        source.read_exact(&mut text).map_err(|e| place.failed(begin, "the header", e))?;
        dictionary(&text, begin, place)
    }
}

fn no_magic(found: &[u8], place: &Place) -> Error {
    let text = format!("expected an npy file: it begins with \"{}\"", found.escape_ascii());
    let error = place.wrong(0, text);
    if found.starts_with(b"PK") { error.hint("it is a zip file: read it as npz") } else { error }
}

/// The header of dictionary `text`, which begins `begin` bytes from the start.
fn dictionary(text: &[u8], begin: u64, place: &Place) -> Result<Header> {
    let mut literals = Literals { text, at: 0 };
    let wrong = |(at, reason): Fault| place.wrong(begin + at as u64, reason);
    let entries = literals.dictionary().map_err(wrong)?;
    let (mut descr, mut order, mut shape) = (None, None, None);
    for (at, key, literal) in entries {
        let taken = match (key.as_str(), literal) {
            ("descr", Literal::Text(text)) => descr.replace((at, text)).is_none(),
            ("fortran_order", Literal::Truth(truth)) => order.replace(truth).is_none(),
            ("shape", Literal::Extents(extents)) => shape.replace(extents).is_none(),
            _ => false,
        };
        if !taken {
            return Err(wrong((at, format!("the header's entry {key:?} is unknown or wrong"))));
        }
    }
    let missing = |key: &str| wrong((0, format!("the header has no entry {key:?}")));
    let (at, descr) = descr.ok_or_else(|| missing("descr"))?;
    let (stored, big_endian) = cell_type(&descr).map_err(|(reason, hint)| {
        let error = wrong((at, reason));
        if hint.is_empty() { error } else { error.hint(hint) }
    })?;
    Ok(Header {
        stored,
        big_endian,
        fortran_order: order.ok_or_else(|| missing("fortran_order"))?,
        extents: shape.ok_or_else(|| missing("shape"))?,
        begin,
        bytes: begin + text.len() as u64,
    })
}

/// The cells of a NumPy type string (`<f8`, `|u1`) and whether they are big-endian; else why not.
fn cell_type(descr: &str) -> std::result::Result<(Stored, bool), (String, &'static str)> {
    let letters = descr.strip_prefix(['<', '>', '|', '=']).unwrap_or(descr);
    if let Some(stored) = Stored::of_npy(letters) {
        return Ok((stored, descr.starts_with('>')));
    }
    let (what, hint) = match letters.as_bytes() {
        [b'O', ..] => ("Python objects", "save numbers: objects are a program to run"),
        [b'U' | b'S' | b'a', ..] => ("strings", "save numbers, or write strings as csv"),
        [b'c', ..] => ("complex numbers", "save real and imaginary part as two arrays"),
        [b'V', ..] => ("raw bytes", "bfloat16 is saved so: save it as float32"),
        [b'M' | b'm', ..] => ("dates or durations", "save them as int64"),
        [b'f', ..] => ("floats of another width", "save them as float64"),
        _ => ("of an unknown type", ""),
    };
    Err((format!("cells of type '{descr}' are not read: they are {what}"), hint))
}

/// What may stand in a header.
enum Literal {
    Text(String),
    Truth(bool),
    Extents(Vec<usize>),
}

/// Where in the dictionary, and what is wrong there.
type Fault = (usize, String);

/// A reader of Python literals.
struct Literals<'a> {
    text: &'a [u8],
    at: usize,
}

impl Literals<'_> {
    fn next(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn take(&mut self, wanted: u8) -> bool {
        let there = self.next() == Some(wanted);
        self.at += usize::from(there);
        there
    }

    fn need(&mut self, wanted: u8) -> std::result::Result<(), Fault> {
        match self.take(wanted) {
            true => Ok(()),
            false => Err(self.unexpected(&format!("'{}'", wanted as char))),
        }
    }

    fn unexpected(&mut self, wanted: &str) -> Fault {
        let found = match self.next() {
            Some(byte) => format!("'{}'", byte.escape_ascii()),
            None => "its end".to_string(),
        };
        (self.at, format!("expected {wanted} in the header: got {found}"))
    }

    /// Key and value of each entry, with the position of the key.
    fn dictionary(&mut self) -> std::result::Result<Vec<(usize, String, Literal)>, Fault> {
        let mut entries = Vec::new();
        self.need(b'{')?;
        while !self.take(b'}') {
            self.next();
            let at = self.at;
            let key = self.string()?;
            self.need(b':')?;
            entries.push((at, key, self.literal()?));
            if !self.take(b',') {
                self.need(b'}')?;
                break;
            }
        }
        match self.next() {
            None => Ok(entries),
            Some(_) => Err(self.unexpected("nothing more")),
        }
    }

    fn literal(&mut self) -> std::result::Result<Literal, Fault> {
        match self.next() {
            Some(b'\'' | b'"') => Ok(Literal::Text(self.string()?)),
            Some(b'(') => Ok(Literal::Extents(self.extents()?)),
            Some(b'[') => {
                let text = "cells with named fields are not read: save each field as an array";
                Err((self.at, text.to_string()))
            }
            _ if self.word("True") => Ok(Literal::Truth(true)),
            _ if self.word("False") => Ok(Literal::Truth(false)),
            _ => Err(self.unexpected("a string, True, False or a shape")),
        }
    }

    fn word(&mut self, word: &str) -> bool {
        let there = self.text[self.at..].starts_with(word.as_bytes());
        self.at += if there { word.len() } else { 0 };
        there
    }

    /// A string without escapes: no name or type has one.
    fn string(&mut self) -> std::result::Result<String, Fault> {
        let Some(quote @ (b'\'' | b'"')) = self.next() else {
            return Err(self.unexpected("a string"));
        };
        let begin = self.at + 1;
        let length = self.text[begin..].iter().position(|&byte| byte == quote);
        let Some(length) = length else {
            return Err((self.at, "a string of the header has no end".to_string()));
        };
        self.at = begin + length + 1;
        Ok(String::from_utf8_lossy(&self.text[begin..begin + length]).into_owned())
    }

    /// `()`, `(3,)`, `(3, 4)`; Python 2 wrote `(3L,)`.
    fn extents(&mut self) -> std::result::Result<Vec<usize>, Fault> {
        let mut extents = Vec::new();
        self.need(b'(')?;
        while !self.take(b')') {
            self.next();
            let begin = self.at;
            let digits = self.text[begin..].iter().take_while(|byte| byte.is_ascii_digit());
            self.at += digits.count();
            let digits = String::from_utf8_lossy(&self.text[begin..self.at]);
            let Ok(extent) = digits.parse::<usize>() else {
                return Err((begin, "an extent of the shape is no size".to_string()));
            };
            extents.push(extent);
            self.word("L");
            if !self.take(b',') {
                self.need(b')')?;
                break;
            }
        }
        Ok(extents)
    }
}

/// Magic, version, length and dictionary, as NumPy writes them.
pub fn text(stored: Stored, fortran_order: bool, shape: &Shape) -> Vec<u8> {
    let order = if stored.bytes() == 1 { '|' } else { '<' };
    let extents: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let tuple = match extents.as_slice() {
        [one] => format!("({one},)"),
        many => format!("({})", many.join(", ")),
    };
    let fortran = if fortran_order { "True" } else { "False" };
    let mut dictionary = format!(
        "{{'descr': '{order}{}', 'fortran_order': {fortran}, 'shape': {tuple}, }}",
        stored.npy()
    );
    let growing = if fortran_order { extents.last() } else { extents.first() };
    let room = growing.map_or(0, |extent| GROWTH_DIGITS.saturating_sub(extent.len()));
    dictionary.push_str(&" ".repeat(room));
    let wide = dictionary.len() + ALIGNMENT > usize::from(u16::MAX);
    let before = if wide { 12 } else { 10 };
    // At least one space, as NumPy pads, and the newline.
    let padding = ALIGNMENT - (before + dictionary.len() + 1) % ALIGNMENT;
    dictionary.push_str(&" ".repeat(padding));
    dictionary.push('\n');
    let mut bytes = MAGIC.to_vec();
    if wide {
        bytes.extend([2, 0]);
        bytes.extend((dictionary.len() as u32).to_le_bytes());
    } else {
        bytes.extend([1, 0]);
        bytes.extend((dictionary.len() as u16).to_le_bytes());
    }
    bytes.extend(dictionary.as_bytes());
    bytes
}
