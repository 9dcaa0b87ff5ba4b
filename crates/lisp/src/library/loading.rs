//! Evaluating top-level forms, loading files, and the part of the library written in Lisp.
//!
//! A definition of the library is compiled when its name is first met, so that starting costs
//! a scan of the text and no more.

use std::collections::HashMap;

use crate::condition::{Condition, Escape, EscapeKind, Outcome};
use crate::expand::{macroexpand_1, special};
use crate::lisp::Lisp;
use crate::object::Object;
use crate::offer::Offer;
use crate::package::{CL, RUNG};
use crate::reader::{ReadError, Reader};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, cons, list_with_tail};

use super::evaluation::no_environment;

/// The library's texts. Their symbols are read in package `cl`; `(rung:...)` names are qualified.
const TEXTS: &[&str] = &[
    include_str!("../../lisp/macros.lisp"),
    include_str!("../../lisp/lists.lisp"),
    include_str!("../../lisp/arrays.lisp"),
    include_str!("../../lisp/environment.lisp"),
    include_str!("../../lisp/files.lisp"),
    include_str!("../../lisp/types.lisp"),
    include_str!("../../lisp/pprint.lisp"),
    include_str!("../../lisp/loop.lisp"),
    include_str!("../../lisp/conditions.lisp"),
    include_str!("../../lisp/structures.lisp"),
    include_str!("../../lisp/objects.lisp"),
    include_str!("../../lisp/uiop.lisp"),
    include_str!("../../lisp/asdf.lisp"),
    include_str!("../../lisp/asdf-operate.lisp"),
    include_str!("../../lisp/gray.lisp"),
    include_str!("../../lisp/test.lisp"),
];

/// Which definitions there are.
#[derive(Default)]
pub struct Library {
    definitions: HashMap<Symbol, &'static str>,
    /// Whether the library itself is being loaded, so that names are not locked.
    pub loading: bool,
}

impl Library {
    /// Whether the library defines a name.
    pub fn defines(&self, name: Symbol) -> bool {
        self.definitions.contains_key(&name)
    }

    /// Whether the library defines a name as a macro.
    pub fn defines_macro(&self, name: Symbol) -> bool {
        self.definitions.get(&name).is_some_and(|text| text.starts_with("(defmacro"))
    }
}

/// Notes the definitions of a text: forms that begin in the first column, their name second.
pub(super) fn index(lisp: &mut Lisp, text: &'static str) {
    let starts = text.match_indices("\n(").map(|(at, _)| at + 1).collect::<Vec<_>>();
    for (number, start) in starts.iter().enumerate() {
        let end = starts.get(number + 1).copied().unwrap_or(text.len());
        let form = &text[*start..end];
        let Some(name) = form.split_whitespace().nth(1) else { continue };
        let (package, name, exported) = super::split_name(name);
        let symbol = lisp.intern(package, &name.to_uppercase());
        if exported {
            lisp.packages.export(&lisp.symbols, package, symbol);
        }
        lisp.library.definitions.insert(symbol, form);
    }
}

pub(super) fn index_library(lisp: &mut Lisp) {
    for text in TEXTS {
        index(lisp, text);
    }
}

impl Lisp {
    /// Loads the library's definition of a symbol; whether there was one.
    pub(crate) fn load_from_library(&mut self, name: Symbol) -> Outcome<bool> {
        let Some(text) = self.library.definitions.remove(&name) else { return Ok(false) };
        let outer = std::mem::replace(&mut self.library.loading, true);
        let site = self.site.take();
        let depth = self.bindings.len();
        let package = self.packages[crate::package::CL].object.clone();
        self.bind(symbol::CURRENT_PACKAGE, package);
        self.bind(symbol::READ_BASE, Value::Fixnum(10));
        let format = Value::symbol(symbol::DOUBLE_FLOAT);
        self.bind(symbol::READ_DEFAULT_FLOAT_FORMAT, format);
        let environment = std::mem::take(&mut self.macro_environment);
        let multiple = self.multiple;
        let loaded = self.load_definition(text);
        self.multiple = multiple;
        self.macro_environment = environment;
        self.unbind_to(depth);
        self.site = site;
        self.library.loading = outer;
        if loaded.is_err() {
            // Ctrl-C, or no stack left: the next use tries again.
            self.library.definitions.insert(name, text);
        }
        loaded.map(|()| true)
    }

    fn load_definition(&mut self, text: &str) -> Outcome<()> {
        let mut reader = Reader::new(text, None);
        while let Some(form) = reader.read(self).map_err(Escape::from)? {
            eval_toplevel(self, &form)?;
        }
        Ok(())
    }
}

/// The next form of a source; an end inside a form is a mistake of the source.
pub(crate) fn read_next(reader: &mut Reader, lisp: &mut Lisp) -> Outcome<Option<Value>> {
    reader.read(lisp).map_err(|error| match error {
        ReadError::Incomplete(mut condition) => {
            condition.class = symbol::READER_ERROR;
            (*condition).into()
        }
        other => other.into(),
    })
}

/// Evaluates a form as a file's form is: the parts of `progn` one after another, each seeing
/// the macros that the ones before have defined.
pub fn eval_toplevel(lisp: &mut Lisp, form: &Value) -> Outcome {
    crate::stack::check("the form")?;
    let mut form = form.clone();
    loop {
        let Some(pair) = form.as_cons() else { return lisp.eval_keeping_values(&form) };
        let head = pair.car().as_symbol();
        let rest = pair.cdr();
        match head {
            Some(symbol::PROGN) => return eval_each(lisp, &rest),
            Some(symbol::EVAL_WHEN) => {
                let Some(pair) = rest.as_cons() else { return Ok(NIL) };
                if special::runs_now(&pair.car()) {
                    return eval_each(lisp, &pair.cdr());
                }
                return Ok(NIL);
            }
            _ => {}
        }
        super::locks::give_way(lisp, &form);
        match macroexpand_1(lisp, &form, &no_environment()) {
            Ok(Some(expansion)) => form = expansion,
            Ok(None) => return lisp.eval_keeping_values(&form),
            Err(escape) => {
                if let Some(condition) = escape.condition() {
                    note_place(lisp, condition, &form);
                }
                return Err(escape);
            }
        }
    }
}

/// An error of a macro stands where the macro call does.
fn note_place(lisp: &Lisp, condition: &Condition, form: &Value) {
    if let (None, Value::Cons(pair)) = (condition.span.get(), form) {
        condition.span.set(lisp.positions.borrow().get(&pair.address()).copied());
    }
}

fn eval_each(lisp: &mut Lisp, forms: &Value) -> Outcome {
    let mut last = NIL;
    lisp.multiple = false;
    for form in forms.elements() {
        last = eval_toplevel(lisp, &form)?;
        lisp.poll()?;
    }
    Ok(last)
}

impl Lisp {
    /// Loads a file: its forms are read and evaluated one after another, `*package*` bound.
    pub(crate) fn load_path(&mut self, path: &str) -> Outcome<()> {
        let bytes = std::fs::read(path).map_err(|error| cannot_open(path, &error))?;
        let text = String::from_utf8(bytes).map_err(|_| {
            let text = format!("{path} is not UTF-8 text");
            Escape::of(symbol::FILE_ERROR, text)
        })?;
        let depth = self.bindings.len();
        let name = Value::object(Object::Pathname(path.to_string()));
        self.bind(symbol::CURRENT_PACKAGE, self.variable(symbol::CURRENT_PACKAGE).clone());
        self.bind(symbol::READTABLE, self.variable(symbol::READTABLE).clone());
        let found = std::fs::canonicalize(path).map_err(|error| cannot_open(path, &error))?;
        let found = Value::object(Object::Pathname(found.to_string_lossy().into_owned()));
        self.bind(symbol::LOAD_PATHNAME, name);
        self.bind(symbol::LOAD_TRUENAME, found);
        let loaded = self.load_text_with(path, &text, true);
        self.unbind_to(depth);
        loaded
    }

    /// Evaluates the forms of a text; with the outermost, what was in doubt is settled.
    pub(crate) fn load_text(&mut self, name: &str, text: &str) -> Outcome<()> {
        self.load_text_with(name, text, false)
    }

    /// The same; with `restarts`, each form may be evaluated again or left out.
    fn load_text_with(&mut self, name: &str, text: &str, restarts: bool) -> Outcome<()> {
        self.loading += 1;
        let restarts = if restarts { FormRestarts::new(self, name).map(Some) } else { Ok(None) };
        let loaded = restarts.and_then(|ways| self.load_forms(name, text, ways.as_ref()));
        self.loading -= 1;
        if self.loading == 0 {
            match &loaded {
                Ok(()) => self.settle_doubts(),
                Err(_) => self.doubts.clear(),
            }
        }
        loaded
    }

    fn load_forms(&mut self, name: &str, text: &str, ways: Option<&FormRestarts>) -> Outcome<()> {
        // A line `#!/usr/bin/env rung` at the top is for the system.
        let source = self.sources.add(name, text);
        let mut reader = Reader::new(text, Some(source));
        while let Some(form) = read_next(&mut reader, self)? {
            self.poll()?;
            let outcome = match ways {
                Some(ways) => ways.eval(self, &form),
                None => eval_toplevel(self, &form),
            };
            self.forget_positions();
            outcome.map_err(|escape| escape.placed(reader.form_span()))?;
            self.poll()?;
        }
        Ok(())
    }

    /// The name of a file as a program gives it, relative to the file being loaded.
    pub(crate) fn resolve_path(&self, path: &str) -> String {
        let loading = self.variable(symbol::LOAD_PATHNAME).as_object();
        let (false, Some(Object::Pathname(loading))) = (path.starts_with('/'), loading) else {
            return path.to_string();
        };
        match std::path::Path::new(loading).parent() {
            Some(parent) if parent.as_os_str().is_empty() => path.to_string(),
            Some(parent) => parent.join(path).to_string_lossy().into_owned(),
            None => path.to_string(),
        }
    }
}

/// What may be done with a form of a file whose evaluation fails: `rung:retry` evaluates it again,
/// `rung:skip` and `continue` go on with the next. Made once a file, as a form must not pay for them.
struct FormRestarts {
    tag: Value,
    restarts: Vec<Value>,
}

impl FormRestarts {
    fn new(lisp: &mut Lisp, file: &str) -> Outcome<FormRestarts> {
        let again = format!("Evaluate this form of {file} again.");
        let skip = format!("Leave this form of {file} out and go on with the next.");
        let offers = [
            Offer { package: RUNG, name: "RETRY", report: &again },
            Offer { package: RUNG, name: "SKIP", report: &skip },
            Offer { package: CL, name: "CONTINUE", report: &skip },
        ];
        let tag = cons(NIL, NIL);
        let offered = offers.iter().enumerate();
        let restarts = offered.map(|(number, offer)| lisp.offered(number, offer, &tag));
        Ok(FormRestarts { restarts: restarts.collect::<Outcome<_>>()?, tag })
    }

    fn eval(&self, lisp: &mut Lisp, form: &Value) -> Outcome {
        loop {
            let outer = lisp.variable(symbol::RESTARTS).clone();
            let restarts = list_with_tail(self.restarts.clone(), outer);
            let evaluate = |lisp: &mut Lisp| eval_toplevel(lisp, form);
            let escape = match lisp.with_binding(symbol::RESTARTS, restarts, evaluate) {
                Err(escape) => escape,
                value => return value,
            };
            match *escape.0 {
                EscapeKind::Throw { tag, values } if tag.eql(&self.tag) => {
                    if values.into_values().first().and_then(Value::as_fixnum) != Some(0) {
                        return Ok(NIL);
                    }
                }
                other => return Err(other.into()),
            }
        }
    }
}

/// `cannot open FILE: reason`, a `file-error`.
pub(crate) fn cannot_open(path: &str, error: &std::io::Error) -> Escape {
    let reason = match error.kind() {
        std::io::ErrorKind::NotFound => "no such file".to_string(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_string(),
        std::io::ErrorKind::AlreadyExists => "the file exists".to_string(),
        std::io::ErrorKind::IsADirectory => "it is a directory".to_string(),
        _ => error.to_string(),
    };
    Condition::new(symbol::FILE_ERROR, format!("cannot open {path}: {reason}"))
        .with(symbol::KEY_PATHNAME, Value::object(Object::Pathname(path.to_string())))
        .into()
}
