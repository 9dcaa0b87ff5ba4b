//! Source texts and places in them. A `Span` is what a condition, a code object and a reader
//! error carry; `Sources` turns it into file, line, column and the line's text.

use std::rc::Rc;

/// A stretch of a source text, in characters (not bytes), end excluded.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Which text: an index into `Sources`.
    pub source: u32,
    /// The first character.
    pub start: u32,
    /// One after the last character.
    pub end: u32,
}

/// A text that forms were read from.
#[derive(Clone)]
pub struct Source {
    /// What a message calls it: the file name as the user gave it, `-`, or `-e`.
    pub name: Rc<str>,
    /// The whole text.
    pub text: Rc<str>,
}

/// Where a span begins, for a reader of messages.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// The text's name.
    pub name: String,
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters.
    pub column: usize,
    /// The text of that line, without its end.
    pub text: String,
    /// How many characters of that line the span covers, at least 1.
    pub width: usize,
}

/// The texts read so far.
#[derive(Default)]
pub struct Sources {
    list: Vec<Source>,
}

impl Sources {
    /// Remembers a text and gives its number. Texts are kept: conditions point into them.
    pub fn add(&mut self, name: &str, text: &str) -> u32 {
        self.list.push(Source { name: Rc::from(name), text: Rc::from(text) });
        (self.list.len() - 1) as u32
    }

    /// How many texts there are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether no text has been read.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// A text by number.
    pub fn get(&self, source: u32) -> Option<&Source> {
        self.list.get(source as usize)
    }

    /// File, line, column and line text of a span.
    pub fn place(&self, span: Span) -> Option<Place> {
        let source = self.get(span.source)?;
        let (mut line, mut column, mut line_start) = (1, 1, 0);
        for (count, (offset, character)) in source.text.char_indices().enumerate() {
            if count == span.start as usize {
                break;
            }
            column += 1;
            if character == '\n' {
                (line, column, line_start) = (line + 1, 1, offset + 1);
            }
        }
        let text = source.text[line_start..].lines().next().unwrap_or("").to_string();
        let rest = text.chars().count().saturating_sub(column - 1);
        let width = ((span.end.saturating_sub(span.start)) as usize).min(rest).max(1);
        Some(Place { name: source.name.to_string(), line, column, text, width })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters() {
        let mut sources = Sources::default();
        let source = sources.add("a.lisp", "(あ)\n  (car 5)\n");
        let place = sources.place(Span { source, start: 6, end: 13 }).unwrap();
        assert_eq!((place.line, place.column, place.width), (2, 3, 7));
        assert_eq!(place.text, "  (car 5)");
    }
}
