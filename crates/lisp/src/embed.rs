//! The embedder's view: evaluating text and files, reading a form at a time for a prompt,
//! printing, completion, interrupting.
//!
//! Nothing here prints except through the streams of `Options`. See `report` for `Unhandled`.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::condition::{Condition, Escape, EscapeKind, Outcome};
use crate::library::loading::read_next;
use crate::lisp::Lisp;
use crate::reader::{ReadError, Reader};
use crate::report::{Unhandled, UnhandledKind, report_text};
use crate::source::Span;
use crate::symbol;
use crate::value::Value;

/// One form read from a text.
pub enum Next {
    /// The form and how many characters of the text are used up.
    Form(Value, usize),
    /// Nothing but space and comments is left.
    End,
}

impl Lisp {
    /// Runs `work` as the outermost entry from the embedder and turns its escape around.
    fn enter<R>(
        &mut self,
        work: impl FnOnce(&mut Lisp) -> Outcome<R>,
    ) -> Result<R, Box<Unhandled>> {
        crate::stack::enter(self.native_stack);
        let depth = self.bindings.len();
        self.frames_left = self.frame_limit;
        let result = work(self);
        self.unbind_to(depth);
        result.map_err(|escape| self.unhandled(escape))
    }

    /// Evaluates the forms of a text; the values of the last one. `name` is what messages call
    /// the text.
    pub fn eval_text(&mut self, name: &str, text: &str) -> Result<Vec<Value>, Box<Unhandled>> {
        self.enter(|lisp| {
            let source = lisp.sources.add(name, text);
            let mut reader = Reader::new(text, Some(source));
            let mut values = Vec::new();
            // A text whose turn comes after Ctrl-C does not begin.
            lisp.poll()?;
            while let Some(form) = read_next(&mut reader, lisp)? {
                values = lisp.eval_in_source(&form, reader.form_span())?;
            }
            Ok(values)
        })
    }

    pub(crate) fn eval_in_source(
        &mut self,
        form: &Value,
        span: Option<Span>,
    ) -> Outcome<Vec<Value>> {
        self.multiple = false;
        let result = crate::library::loading::eval_toplevel(self, form);
        self.forget_positions();
        if result.is_ok() {
            self.settle_doubts();
        }
        self.doubts.clear();
        let first = result.map_err(|escape| self.signal_at_top(escape.placed(span)))?;
        self.poll()?;
        Ok(self.take_values(first))
    }

    /// An error of the expander reaches nobody's handlers; it is unhandled as it is.
    fn signal_at_top(&mut self, escape: Escape) -> Escape {
        let condition = match *escape.0 {
            EscapeKind::Error(condition) => condition.into_value(),
            EscapeKind::Signal(condition) => condition,
            _ => return escape,
        };
        match self.debug(&condition) {
            Ok(()) => EscapeKind::Unhandled(condition).into(),
            Err(escape) => escape,
        }
    }

    /// Loads a file: its forms are evaluated one after another.
    pub fn load_file(&mut self, path: &str) -> Result<(), Box<Unhandled>> {
        self.enter(|lisp| lisp.load_path(path))
    }

    /// Loads a text that came from elsewhere than a file, such as standard input.
    pub fn load_source(&mut self, name: &str, text: &str) -> Result<(), Box<Unhandled>> {
        self.enter(|lisp| lisp.load_text(name, text))
    }

    /// Reads the first form of a text. `Unhandled::kind` is `Incomplete` when more of the text
    /// would help, `Reader` when it is wrong. Follow with `eval_form_read` on the form.
    pub fn read_form(&mut self, name: &str, text: &str) -> Result<Next, Box<Unhandled>> {
        let source = self.sources.add(name, text);
        let mut reader = Reader::new(text, Some(source));
        let read = match reader.read(self) {
            Ok(Some(form)) => {
                self.form_span = reader.form_span();
                return Ok(Next::Form(form, reader.position()));
            }
            Ok(None) => return Ok(Next::End),
            Err(error) => error,
        };
        match read {
            ReadError::Incomplete(condition) => {
                let mut found = self.describe_condition(condition.into_value());
                found.kind = UnhandledKind::Incomplete;
                Err(found)
            }
            ReadError::Wrong(condition) => Err(self.describe_condition(condition.into_value())),
            ReadError::Escape(escape) => Err(self.unhandled(escape)),
        }
    }

    /// Evaluates a form that `read_form` gave.
    pub fn eval_form_read(&mut self, form: &Value) -> Result<Vec<Value>, Box<Unhandled>> {
        let span = self.form_span.take();
        self.enter(|lisp| lisp.abortable(|lisp| lisp.eval_in_source(form, span)))
    }

    /// A value as `prin1` prints it; never an error.
    pub fn print(&mut self, value: &Value) -> String {
        match crate::printer::prin1(self, value) {
            Ok(text) => text,
            Err(_) => self.brief(value),
        }
    }

    /// Flushes standard output and error output. Call it before the process ends.
    pub fn flush_streams(&mut self) -> Result<(), Box<Unhandled>> {
        self.enter(|lisp| {
            for name in [symbol::STANDARD_OUTPUT, symbol::ERROR_OUTPUT] {
                let stream = lisp.variable(name).clone();
                lisp.flush(&stream)?;
            }
            Ok(())
        })
    }

    /// Set it to true from anywhere (Ctrl-C) to interrupt the running Lisp.
    pub fn interrupt_handle(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// The name of the current package, for the prompt: its shortest name.
    pub fn package_name(&self) -> String {
        let package = &self.packages[self.current_package()];
        let names = package.nicknames.iter().chain([&package.name]);
        names.min_by_key(|name| name.len()).map(|name| name.to_string()).unwrap_or_default()
    }

    /// The symbols that a prefix may be completed to, in lower case and in order. `la:ma` looks
    /// at what `la` exports, `la::ma` at all of it, a bare word at what is visible here.
    pub fn completions(&self, prefix: &str) -> Vec<String> {
        let here = self.current_package();
        let (qualifier, word) = match prefix.rfind(':') {
            Some(colon) => prefix.split_at(colon + 1),
            None => ("", prefix),
        };
        let internal = qualifier.ends_with("::") || qualifier.is_empty();
        let name = qualifier.trim_end_matches(':').to_uppercase();
        let package = match (qualifier, name.as_str()) {
            ("", _) => Some(here),
            (_, "") => Some(crate::package::KEYWORD),
            _ => self.packages.find_from(here, &name),
        };
        let Some(package) = package else { return Vec::new() };
        let word = word.to_uppercase();
        let present = self.packages[package].present.iter();
        let mut found = present
            .filter(|(name, entry)| name.starts_with(&word) && (internal || entry.1))
            .map(|(name, _)| format!("{qualifier}{}", name.to_lowercase()))
            .collect::<Vec<_>>();
        if qualifier.is_empty() {
            for used in &self.packages[package].uses {
                let theirs = self.packages[*used].present.iter();
                let theirs = theirs.filter(|(name, entry)| entry.1 && name.starts_with(&word));
                found.extend(theirs.map(|(name, _)| name.to_lowercase()));
            }
        }
        found.sort();
        found.dedup();
        found
    }

    /// What an escape that nobody took is to the embedder.
    pub fn unhandled(&mut self, escape: Escape) -> Box<Unhandled> {
        match *escape.0 {
            EscapeKind::Error(condition) => self.describe_condition(condition.into_value()),
            EscapeKind::Signal(condition) | EscapeKind::Unhandled(condition) => {
                self.describe_condition(condition)
            }
            EscapeKind::Quit { code, .. } => {
                Box::new(Unhandled::plain(UnhandledKind::Quit(code), "quit"))
            }
            EscapeKind::Interrupt => {
                Box::new(Unhandled::plain(UnhandledKind::Interrupt, "interrupted"))
            }
            EscapeKind::Abort => Box::new(Unhandled::plain(UnhandledKind::Abort, "aborted")),
            EscapeKind::BrokenPipe => {
                Box::new(Unhandled::plain(UnhandledKind::BrokenPipe, "broken pipe"))
            }
            EscapeKind::Exit { .. } | EscapeKind::Throw { .. } => {
                Box::new(Unhandled::plain(UnhandledKind::Error, "an exit led out of the program"))
            }
        }
    }

    /// `name file:line:column` of each frame.
    pub(crate) fn frames_in_words(&self, frames: &[(Value, Option<Span>)]) -> Vec<String> {
        let words = |(name, span): &(Value, Option<Span>)| {
            let name = crate::machine::function_name(self, name);
            match span.and_then(|span| self.sources.place(span)) {
                Some(at) => format!("{name} {}:{}:{}", at.name, at.line, at.column),
                None => name,
            }
        };
        frames.iter().map(words).collect()
    }

    pub(crate) fn describe_condition(&mut self, condition: Value) -> Box<Unhandled> {
        let text = match report_text(self, &condition) {
            Ok(text) => text,
            Err(_) => {
                let class = condition.as_condition().map(|c| self.name(c.class));
                format!("<error while reporting {}>", class.as_deref().unwrap_or("CONDITION"))
            }
        };
        let frames = std::mem::take(&mut self.backtrace);
        let backtrace = self.frames_in_words(&frames);
        let Some(found) = condition.as_condition() else {
            return Box::new(Unhandled::plain(UnhandledKind::Error, &text));
        };
        let kind = match found.class {
            symbol::READER_ERROR => UnhandledKind::Reader,
            symbol::FILE_ERROR | symbol::FORMAT_ERROR => UnhandledKind::File,
            // The system failed, not the program.
            symbol::STREAM_ERROR if found.slot(symbol::KEY_OPERATION).is_some() => {
                UnhandledKind::File
            }
            _ => UnhandledKind::Error,
        };
        Box::new(Unhandled {
            kind,
            class: self.shown(found.class),
            package: found.package.clone(),
            text,
            place: found.span.get().and_then(|span: Span| self.sources.place(span)),
            hint: crate::suggest::hint(self, found),
            backtrace,
        })
    }

    /// A condition for a native of the embedder to return, from the library's error type.
    pub fn condition_from(&self, error: rung_base::Error) -> Condition {
        match *Escape::from(error).0 {
            EscapeKind::Error(condition) => condition,
            _ => Condition::new(symbol::SIMPLE_ERROR, "interrupted"),
        }
    }
}
