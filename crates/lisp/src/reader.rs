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

use crate::condition::{Condition, Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::object::Object;
use crate::readtable::{Readtable, Syntax};
use crate::source::Span;
use crate::stack;
use crate::stream::{Stream, StreamKind};
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
    /// `*readtable*`, where it is not the standard one.
    table: Option<Ref<Object>>,
    /// The reading of which this is a part.
    context: Option<Context>,
}

/// A reading whose macro character has called a function: what `read` there goes on with when its
/// `recursive-p` is true.
#[derive(Clone)]
pub(crate) struct Context {
    stream: Value,
    source: Option<u32>,
    backquotes: usize,
    labels: HashMap<u64, Value>,
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
            table: None,
            context: None,
        }
    }

    /// A reader of a stream; with `recursive` it is part of the reading that has called it.
    pub(crate) fn within(lisp: &Lisp, stream: &Value, recursive: bool) -> Reader {
        let mut reader = Reader::of_stream(stream);
        reader.context = lisp.reading.clone().filter(|_| recursive);
        if let Some(context) = &reader.context
            && context.stream.eql(stream)
            && let Some(position) = text_position(stream)
        {
            (reader.source, reader.position) = (context.source, position);
        }
        reader.begin(lisp);
        reader
    }

    /// Forgets the form before.
    fn begin(&mut self, lisp: &Lisp) {
        self.open.clear();
        let context = self.context.clone();
        (self.backquotes, self.labels) =
            context.map_or_else(Default::default, |context| (context.backquotes, context.labels));
        self.suppress = lisp.flag(symbol::READ_SUPPRESS);
        self.table = match lisp.variable(symbol::READTABLE) {
            Value::Object(object) => match &**object {
                Object::Readtable(table) if !table.is_standard() => Some(object.clone()),
                _ => None,
            },
            _ => None,
        };
    }

    /// The program's own readtable.
    pub(crate) fn table(&self) -> Option<&Readtable> {
        match self.table.as_deref() {
            Some(Object::Readtable(table)) => Some(table),
            _ => None,
        }
    }

    /// The standard character whose syntax the character has inside a token.
    #[inline]
    pub(crate) fn class(&self, c: char) -> char {
        self.table().map_or(c, |table| table.class(c))
    }

    /// Whether the character separates forms and nothing else.
    #[inline]
    pub(crate) fn is_blank(&self, c: char) -> bool {
        is_blank(self.class(c))
    }

    /// Whether a token ends before the character.
    #[inline]
    pub(crate) fn ends_token(&self, c: char) -> bool {
        let class = self.class(c);
        is_blank(class) || is_terminating(class)
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
        self.begin(lisp);
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
        while self.peek(lisp)?.is_some_and(|c| self.is_blank(c)) {
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
        let class = self.class(character);
        self.token_was_last = !is_macro(class);
        if self.token_was_last {
            return self.token_item(lisp);
        }
        self.next(lisp)?;
        match self.table().and_then(|table| table.syntax(character)) {
            Some(Syntax::Macro { function, .. }) => {
                self.call_macro(lisp, &function, &[Value::Char(character)], start)
            }
            Some(Syntax::Dispatch { .. }) => self.dispatch(lisp, character, start),
            _ => self.standard_item(lisp, class, start),
        }
    }

    /// What the standard readtable makes of a macro character that has been consumed.
    pub(crate) fn standard_macro(&mut self, lisp: &mut Lisp, character: char) -> Read<Item> {
        let start = self.position.saturating_sub(1);
        self.standard_item(lisp, character, start)
    }

    fn standard_item(&mut self, lisp: &mut Lisp, character: char, start: usize) -> Read<Item> {
        match character {
            '(' => self.list(lisp, start).map(Item::Form),
            ')' => Ok(Item::Close),
            '\'' => self.prefixed(lisp, start, symbol::QUOTE),
            ';' => self.skip_line(lisp).map(|()| Item::Nothing),
            '"' => self.string(lisp, start).map(|text| Item::Form(Value::string(&text))),
            '`' => self.backquote(lisp, start),
            ',' => self.comma(lisp, start),
            _ => self.dispatch(lisp, '#', start),
        }
    }

    /// Calls the function of a macro character with the stream and `rest`.
    pub(crate) fn call_macro(
        &mut self,
        lisp: &mut Lisp,
        function: &Value,
        rest: &[Value],
        start: usize,
    ) -> Read<Item> {
        let stream = self.as_stream();
        let context = Context {
            stream: stream.clone(),
            source: self.source,
            backquotes: self.backquotes,
            labels: self.labels.clone(),
        };
        let outer = lisp.reading.replace(context);
        let mut arguments = vec![stream.clone()];
        arguments.extend_from_slice(rest);
        let suppress = Value::boolean(self.suppress);
        let called: Outcome<_> = lisp.with_binding(symbol::READ_SUPPRESS, suppress, |lisp| {
            let first = lisp.call_keeping_values(function, &arguments)?;
            Ok(lisp.take_values(first))
        });
        lisp.reading = outer;
        let values = called?;
        if let (Input::Text(_), Some(position)) = (&self.input, text_position(&stream)) {
            self.position = position;
        }
        // It may have read to the end of a token or not; only what is peeked at can tell.
        self.token_was_last = false;
        let Some(value) = values.into_iter().next() else { return Ok(Item::Nothing) };
        self.note(lisp, &value, start);
        Ok(Item::Form(value))
    }

    /// What is left to read, as a stream of the language.
    fn as_stream(&self) -> Value {
        match &self.input {
            Input::Stream(stream) => stream.clone(),
            Input::Text(characters) => {
                let (characters, position) = (characters.clone(), self.position);
                let kind = StreamKind::StringInput { characters, position };
                Value::object(Object::Stream(Stream::new(kind)))
            }
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

/// How far a stream that reads characters in memory has come.
fn text_position(stream: &Value) -> Option<usize> {
    let Some(Object::Stream(stream)) = stream.as_object() else { return None };
    match &*stream.kind.borrow() {
        StreamKind::StringInput { position, .. } => Some(*position),
        _ => None,
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
