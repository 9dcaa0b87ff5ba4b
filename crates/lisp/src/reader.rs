//! The reader: text to values. This file has the cursor, lists, strings and the simple macro
//! characters; tokens (numbers and symbols) are in `reader_token`, everything after `#` in
//! `reader_dispatch`, packed literals in `reader_packed`, the language's functions in
//! `reader_natives`.
//!
//! A reader takes its characters one by one and looks at most one ahead, so that `read` from a
//! stream consumes nothing beyond its form. Positions count characters. Flat lists are read in
//! a loop; nesting recurses and is stopped by `stack`.

use std::collections::HashMap;
use std::rc::Rc;

use crate::condition::{Condition, Escape};
use crate::lisp::Lisp;
use crate::source::Span;
use crate::stack;
use crate::symbol::{self, Symbol};
use crate::value::{Value, list, list_with_tail};

pub use crate::reader_natives::READER;

/// Why no value was read.
pub enum ReadError {
    /// The text ends inside a form; more of it would help.
    Incomplete(Box<Condition>),
    /// The text is wrong.
    Wrong(Box<Condition>),
    /// Code run by the reader (`#.`, `#s`) did not come back.
    Escape(Escape),
}

impl ReadError {
    /// With a hint.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> ReadError {
        if let ReadError::Incomplete(condition) | ReadError::Wrong(condition) = &mut self {
            condition.hint = Some(hint.into());
        }
        self
    }
}

impl From<Escape> for ReadError {
    fn from(escape: Escape) -> ReadError {
        ReadError::Escape(escape)
    }
}

impl From<ReadError> for Escape {
    fn from(error: ReadError) -> Escape {
        match error {
            ReadError::Incomplete(condition) | ReadError::Wrong(condition) => (*condition).into(),
            ReadError::Escape(escape) => escape,
        }
    }
}

/// What the parts of the reader give.
pub(crate) type Read<T> = Result<T, ReadError>;

/// What stands at the cursor.
pub(crate) enum Item {
    /// A form.
    Form(Value),
    /// A comment, or a form left out by `#+` and `#-`.
    Nothing,
    /// A dot of its own.
    Dot,
    /// A closing parenthesis.
    Close,
    /// The end of the text.
    End,
}

enum Input {
    Text(Rc<[char]>),
    Stream(Value),
}

/// Reads forms one after another.
pub struct Reader {
    input: Input,
    position: usize,
    /// Where the form read last began.
    began: usize,
    source: Option<u32>,
    /// Where the lists that are open now began.
    open: Vec<usize>,
    /// How many backquotes are open and not closed by commas.
    pub(crate) backquotes: usize,
    /// Tokens are skipped over: what `#+` leaves out need not make sense.
    pub(crate) suppress: bool,
    /// The form read last ended where a token ended.
    pub(crate) token_was_last: bool,
    /// The forms of `#n=`.
    pub(crate) labels: HashMap<u64, Value>,
}

impl Reader {
    /// A reader of a text; `source` is its number in `Sources`, for positions.
    pub fn new(text: &str, source: Option<u32>) -> Reader {
        Reader::on(Input::Text(text.chars().collect()), source)
    }

    /// A reader of a stream of the language.
    pub fn of_stream(stream: &Value) -> Reader {
        Reader::on(Input::Stream(stream.clone()), None)
    }

    fn on(input: Input, source: Option<u32>) -> Reader {
        Reader {
            input,
            position: 0,
            began: 0,
            source,
            open: Vec::new(),
            backquotes: 0,
            suppress: false,
            token_was_last: false,
            labels: HashMap::new(),
        }
    }

    /// How many characters have been consumed.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Where the form read last stands.
    pub fn form_span(&self) -> Option<Span> {
        self.span(self.began)
    }

    /// Goes on at that character of the text.
    pub fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    /// The next form; none at the end of the text.
    pub fn read(&mut self, lisp: &mut Lisp) -> Result<Option<Value>, ReadError> {
        self.open.clear();
        self.labels.clear();
        self.backquotes = 0;
        self.suppress = lisp.flag(symbol::READ_SUPPRESS);
        loop {
            self.skip_blanks(lisp)?;
            let start = self.position;
            match self.item(lisp)? {
                Item::Form(value) => {
                    self.began = start;
                    return Ok(Some(value));
                }
                Item::Nothing => {}
                Item::End => return Ok(None),
                Item::Close => {
                    return Err(self.wrong(start, "unmatched close parenthesis"));
                }
                Item::Dot => return Err(self.wrong(start, "dot context error")),
            }
        }
    }

    /// Whether the form read last was a token, so that the character behind it has been seen.
    pub(crate) fn ended_by_token(&self) -> bool {
        self.token_was_last
    }

    /// The forms up to a closing character, which is consumed (`read-delimited-list`).
    pub(crate) fn delimited(&mut self, lisp: &mut Lisp, close: char) -> Read<Value> {
        let start = self.position;
        let mut elements = Vec::new();
        loop {
            self.skip_blanks(lisp)?;
            if self.peek(lisp)? == Some(close) {
                self.next(lisp)?;
                return Ok(list(elements));
            }
            match self.item(lisp)? {
                Item::Form(value) => elements.push(value),
                Item::Nothing => {}
                Item::Dot => return Err(self.wrong(start, "dot context error")),
                Item::Close => return Err(self.wrong(start, "unmatched close parenthesis")),
                Item::End => return Err(self.incomplete(lisp, "a list", start)),
            }
        }
    }

    /// The character at the cursor.
    #[inline]
    pub(crate) fn peek(&mut self, lisp: &mut Lisp) -> Read<Option<char>> {
        match &self.input {
            Input::Text(characters) => Ok(characters.get(self.position).copied()),
            Input::Stream(stream) => Ok(lisp.peek_char(&stream.clone())?),
        }
    }

    /// Consumes the character at the cursor.
    #[inline]
    pub(crate) fn next(&mut self, lisp: &mut Lisp) -> Read<Option<char>> {
        let next = match &self.input {
            Input::Text(characters) => characters.get(self.position).copied(),
            Input::Stream(stream) => lisp.read_char(&stream.clone())?,
        };
        self.position += usize::from(next.is_some());
        Ok(next)
    }

    pub(crate) fn skip_blanks(&mut self, lisp: &mut Lisp) -> Read<()> {
        while self.peek(lisp)?.is_some_and(is_blank) {
            self.next(lisp)?;
        }
        Ok(())
    }

    pub(crate) fn skip_line(&mut self, lisp: &mut Lisp) -> Read<()> {
        while self.next(lisp)?.is_some_and(|c| c != '\n') {}
        Ok(())
    }

    /// What stands at the cursor, blanks and comments apart.
    pub(crate) fn item(&mut self, lisp: &mut Lisp) -> Read<Item> {
        stack::check("the form being read")?;
        self.skip_blanks(lisp)?;
        let start = self.position;
        let Some(character) = self.peek(lisp)? else { return Ok(Item::End) };
        self.token_was_last = !is_macro(character);
        if self.token_was_last {
            return self.token_item(lisp);
        }
        self.next(lisp)?;
        match character {
            '(' => self.list(lisp, start).map(Item::Form),
            ')' => Ok(Item::Close),
            '\'' => self.prefixed(lisp, start, symbol::QUOTE),
            ';' => self.skip_line(lisp).map(|()| Item::Nothing),
            '"' => self.string(lisp, start).map(|text| Item::Form(Value::string(&text))),
            '`' => self.backquote(lisp, start),
            ',' => self.comma(lisp, start),
            _ => self.dispatch(lisp, start),
        }
    }

    /// The next form, which must be there.
    pub(crate) fn form(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        loop {
            self.skip_blanks(lisp)?;
            let at = self.position;
            match self.item(lisp)? {
                Item::Form(value) => return Ok(value),
                Item::Nothing => {}
                Item::End => return Err(self.incomplete(lisp, "a form", start)),
                Item::Close => return Err(self.wrong(at, "a form is missing before `)`")),
                Item::Dot => return Err(self.wrong(at, "dot context error")),
            }
        }
    }

    /// A list whose opening parenthesis has been consumed.
    pub(crate) fn list(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        self.open.push(start);
        let mut elements = Vec::new();
        let tail = loop {
            self.skip_blanks(lisp)?;
            let at = self.position;
            match self.item(lisp)? {
                Item::Form(value) => elements.push(value),
                Item::Nothing => {}
                Item::Close => break Value::Nil,
                Item::Dot if elements.is_empty() && !self.suppress => {
                    return Err(self.wrong(at, "nothing appears before the dot in a list"));
                }
                Item::Dot => break self.tail(lisp, start)?,
                Item::End => return Err(self.incomplete(lisp, "a list", start)),
            }
        };
        self.open.pop();
        let value = list_with_tail(elements, tail);
        self.note(lisp, &value, start);
        Ok(value)
    }

    /// What follows the dot of a list, up to the closing parenthesis.
    fn tail(&mut self, lisp: &mut Lisp, start: usize) -> Read<Value> {
        let tail = self.form(lisp, start)?;
        loop {
            self.skip_blanks(lisp)?;
            let at = self.position;
            match self.item(lisp)? {
                Item::Close => return Ok(tail),
                Item::Nothing => {}
                Item::End => return Err(self.incomplete(lisp, "a list", start)),
                _ => return Err(self.wrong(at, "more than one form follows the dot in a list")),
            }
        }
    }

    /// `(operator form)` for a macro character.
    pub(crate) fn prefixed(
        &mut self,
        lisp: &mut Lisp,
        start: usize,
        operator: Symbol,
    ) -> Read<Item> {
        let form = self.form(lisp, start)?;
        let value = list([Value::symbol(operator), form]);
        self.note(lisp, &value, start);
        Ok(Item::Form(value))
    }

    fn backquote(&mut self, lisp: &mut Lisp, start: usize) -> Read<Item> {
        self.backquotes += 1;
        let form = self.prefixed(lisp, start, symbol::QUASIQUOTE)?;
        self.backquotes -= 1;
        Ok(form)
    }

    fn comma(&mut self, lisp: &mut Lisp, start: usize) -> Read<Item> {
        if self.backquotes == 0 && !self.suppress {
            return Err(self.wrong(start, "a comma is not inside a backquote"));
        }
        let splicing = matches!(self.peek(lisp)?, Some('@' | '.'));
        if splicing {
            self.next(lisp)?;
        }
        let depth = self.backquotes;
        self.backquotes = depth.saturating_sub(1);
        let operator = if splicing { symbol::UNQUOTE_SPLICING } else { symbol::UNQUOTE };
        let form = self.prefixed(lisp, start, operator)?;
        self.backquotes = depth;
        Ok(form)
    }

    /// A string whose opening quote has been consumed.
    pub(crate) fn string(&mut self, lisp: &mut Lisp, start: usize) -> Read<String> {
        let mut text = String::new();
        loop {
            match self.next(lisp)? {
                Some('"') => return Ok(text),
                Some('\\') => match self.next(lisp)? {
                    Some(character) => text.push(character),
                    None => return Err(self.incomplete_at(lisp, "a string", start)),
                },
                Some(character) => text.push(character),
                None => return Err(self.incomplete_at(lisp, "a string", start)),
            }
        }
    }

    fn note(&self, lisp: &Lisp, value: &Value, start: usize) {
        if let Some(span) = self.span(start) {
            lisp.note_position(value, span);
        }
    }

    /// From `start` to the cursor.
    fn span(&self, start: usize) -> Option<Span> {
        let source = self.source?;
        Some(Span { source, start: start as u32, end: self.position.max(start + 1) as u32 })
    }

    /// An error about the text from `start` to the cursor.
    pub(crate) fn wrong(&self, start: usize, text: impl Into<String>) -> ReadError {
        let condition = Condition::new(symbol::READER_ERROR, text);
        condition.span.set(self.span(start));
        ReadError::Wrong(Box::new(condition))
    }

    /// The text has ended inside the innermost open list, or else inside what began at `start`.
    pub(crate) fn incomplete(&self, lisp: &Lisp, what: &str, start: usize) -> ReadError {
        match self.open.last() {
            Some(&list) => self.incomplete_at(lisp, "a list", list),
            None => self.incomplete_at(lisp, what, start),
        }
    }

    /// The text has ended inside what began at `start`.
    pub(crate) fn incomplete_at(&self, lisp: &Lisp, what: &str, start: usize) -> ReadError {
        let span =
            self.source.map(|source| Span { source, start: start as u32, end: start as u32 + 1 });
        let place = span.and_then(|span| lisp.sources.place(span));
        let text = match place {
            Some(at) => format!(
                "end of file inside {what} that began at {}:{}:{}",
                at.name, at.line, at.column
            ),
            None => format!("end of file inside {what}"),
        };
        let condition = Condition::new(symbol::END_OF_FILE, text);
        condition.span.set(span);
        ReadError::Incomplete(Box::new(condition))
    }
}

/// Whether the character separates forms and nothing else.
pub(crate) fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\n' | '\t' | '\r' | '\u{c}' | '\u{a0}' | '\u{feff}')
}

/// Whether the character is a macro character when a form begins with it.
fn is_macro(character: char) -> bool {
    character == '#' || is_terminating(character)
}

/// Whether the character is a macro character that ends a token.
pub(crate) fn is_terminating(character: char) -> bool {
    matches!(character, '(' | ')' | '\'' | ';' | '"' | '`' | ',')
}
