//! The readtable's functions (chapter 23): macro characters, dispatching ones, copies. What a
//! table is, is in `readtable`; how the reader uses it in `reader`.

use std::rc::Rc;

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Body, Native, SharedBody, native};
use crate::object::Object;
use crate::reader::{Item, Reader};
use crate::readtable::{ReadCase, Readtable, Syntax};
use crate::symbol::{self, Symbol};
use crate::value::{NIL, T, Value};

/// The characters that are macro characters in the standard readtable, `#` apart.
const STANDARD: &str = "()';\"`,";
/// What stands behind `#` in the standard readtable.
const BEHIND_SHARP: &str = "'\\(|:+-.*=#ABCOPRSX";

const CASES: [(Symbol, ReadCase); 4] = [
    (symbol::KEY_UPCASE, ReadCase::Up),
    (symbol::KEY_DOWNCASE, ReadCase::Down),
    (symbol::KEY_PRESERVE, ReadCase::Preserve),
    (symbol::KEY_INVERT, ReadCase::Invert),
];

/// The table.
pub static READTABLES: &[Native] = &[
    native("readtablep", "object", "Whether it is a readtable.", |_, a| {
        Ok(Value::boolean(a[0].as_readtable().is_some()))
    }),
    native(
        "copy-readtable",
        "&optional from to",
        "A copy of a readtable, of the standard one for nil; `to` is changed where given.",
        copy,
    ),
    native("readtable-case", "readtable", "What becomes of the case of symbols.", |_, a| {
        let case = table_of("readtable-case", &a[0])?.case.get();
        let name = CASES.iter().find(|entry| entry.1 == case);
        Ok(name.map_or(NIL, |entry| Value::symbol(entry.0)))
    }),
    native("(setf readtable-case)", "case readtable", "Sets it.", |_, a| {
        let table = table_of("(setf readtable-case)", &a[1])?;
        let case = CASES.iter().find(|entry| a[0].is_symbol(entry.0));
        let Some((_, case)) = case else {
            let wanted = "one of :upcase :downcase :preserve :invert";
            let type_ = Value::symbol(symbol::KEYWORD_TYPE);
            return Err(Escape::unexpected("(setf readtable-case)", wanted, type_, &a[0]));
        };
        table.case.set(*case);
        Ok(a[0].clone())
    }),
    native(
        "set-macro-character",
        "char function &optional non-terminating-p readtable",
        "Makes the reader call a function at a character, with the stream and the character.",
        |lisp, a| {
            let c = character("set-macro-character", &a[0])?;
            let terminating = !a.get(2).is_some_and(Value::truth);
            let syntax = Syntax::Macro { function: a[1].clone(), terminating };
            with_table(lisp, "set-macro-character", a.get(3), |table| table.set(c, syntax))?;
            Ok(T)
        },
    ),
    native(
        "get-macro-character",
        "char &optional readtable",
        "The function of a macro character, and whether it may stand inside a token.",
        get_macro_character,
    ),
    native(
        "make-dispatch-macro-character",
        "char &optional non-terminating-p readtable",
        "Makes a character choose a function by the character behind it.",
        |lisp, a| {
            let c = character("make-dispatch-macro-character", &a[0])?;
            let terminating = !a.get(1).is_some_and(Value::truth);
            let dispatch = Syntax::Dispatch { terminating };
            with_table(lisp, "make-dispatch-macro-character", a.get(2), |t| t.set(c, dispatch))?;
            Ok(T)
        },
    ),
    native(
        "set-dispatch-macro-character",
        "char sub-char function &optional readtable",
        "The function called with the stream, the sub-character and the number or nil.",
        set_dispatched,
    ),
    native(
        "get-dispatch-macro-character",
        "char sub-char &optional readtable",
        "The function of a dispatching character and the one behind it, or nil.",
        get_dispatched,
    ),
    native(
        "set-syntax-from-char",
        "to-char from-char &optional to-readtable from-readtable",
        "Gives a character the syntax of another.",
        |lisp, a| {
            let to = character("set-syntax-from-char", &a[0])?;
            let from = character("set-syntax-from-char", &a[1])?;
            let source = match a.get(3) {
                None | Some(Value::Nil) => Readtable::default(),
                Some(table) => table_of("set-syntax-from-char", table)?.clone(),
            };
            let set = |table: &Readtable| table.set_from(to, &source, from);
            with_table(lisp, "set-syntax-from-char", a.get(2), set)?;
            Ok(T)
        },
    ),
];

impl Value {
    /// The readtable this is.
    pub fn as_readtable(&self) -> Option<&Readtable> {
        if let Some(Object::Readtable(table)) = self.as_object() { Some(table) } else { None }
    }
}

fn table_of<'v>(operator: &str, value: &'v Value) -> Outcome<&'v Readtable> {
    let wrong = || Escape::wrong_type(operator, symbol::READTABLE_TYPE, value);
    value.as_readtable().ok_or_else(wrong)
}

fn character(operator: &str, value: &Value) -> Outcome<char> {
    match value {
        Value::Char(c) => Ok(*c),
        other => Err(Escape::wrong_type(operator, symbol::CHARACTER, other)),
    }
}

/// Works on the table given, the current one where none is; nil is the standard one.
fn with_table<R>(
    lisp: &Lisp,
    operator: &str,
    table: Option<&Value>,
    work: impl FnOnce(&Readtable) -> R,
) -> Outcome<R> {
    match table {
        None => Ok(work(table_of(operator, &lisp.variable(symbol::READTABLE).clone())?)),
        Some(Value::Nil) => Ok(work(&Readtable::default())),
        Some(table) => Ok(work(table_of(operator, table)?)),
    }
}

fn copy(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let from = with_table(lisp, "copy-readtable", a.first(), Readtable::clone)?;
    match a.get(1) {
        None | Some(Value::Nil) => Ok(Value::object(Object::Readtable(Box::new(from)))),
        Some(to) => {
            table_of("copy-readtable", to)?.assign(Some(&from));
            Ok(to.clone())
        }
    }
}

fn get_macro_character(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let c = character("get-macro-character", &a[0])?;
    let syntax = with_table(lisp, "get-macro-character", a.get(1), |table| table.syntax(c))?;
    let (function, terminating) = match syntax.unwrap_or(Syntax::As(c)) {
        Syntax::Macro { function, terminating } => (function, terminating),
        Syntax::Dispatch { terminating } => (standard_function(c), terminating),
        Syntax::As(c) if STANDARD.contains(c) => (standard_function(c), true),
        Syntax::As('#') => (standard_function('#'), false),
        Syntax::As(_) => (NIL, true),
    };
    Ok(lisp.values(vec![function, Value::boolean(!terminating)]))
}

/// What the standard readtable calls at a character, as a function.
fn standard_function(c: char) -> Value {
    native_function("stream char", move |lisp, a| {
        let mut reader = Reader::within(lisp, &a[0], true);
        let item = reader.standard_macro(lisp, c)?;
        given(lisp, item)
    })
}

fn native_function(
    lambda_list: &str,
    body: impl Fn(&mut Lisp, &[Value]) -> Outcome + 'static,
) -> Value {
    let body: SharedBody = Rc::new(body);
    super::native_value(symbol::NIL, lambda_list, "", Body::Shared(body))
}

/// What a reader function gives: a form, or no value for a comment.
fn given(lisp: &mut Lisp, item: Item) -> Outcome {
    match item {
        Item::Form(value) => Ok(value),
        Item::Nothing => Ok(lisp.values(Vec::new())),
        Item::Close => Err(Escape::of(symbol::READER_ERROR, "unmatched close parenthesis")),
        Item::Dot => Err(Escape::of(symbol::READER_ERROR, "dot context error")),
        Item::End => Err(Escape::of(symbol::END_OF_FILE, "end of file inside a form")),
    }
}

fn set_dispatched(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let operator = "set-dispatch-macro-character";
    let (lead, sub) = (character(operator, &a[0])?, character(operator, &a[1])?);
    if sub.is_ascii_digit() {
        return Err(Escape::error(format!(
            "{operator}: a digit is the number before the character"
        )));
    }
    let function = a[2].clone();
    let set = |table: &Readtable| {
        let dispatches = table.dispatches(lead);
        if dispatches {
            table.set_dispatched(lead, sub, function);
        }
        dispatches
    };
    if with_table(lisp, operator, a.get(3), set)? {
        return Ok(T);
    }
    Err(Escape::error(format!("{operator}: {lead} is no dispatching macro character")))
}

fn get_dispatched(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let operator = "get-dispatch-macro-character";
    let (lead, sub) = (character(operator, &a[0])?, character(operator, &a[1])?);
    let found = with_table(lisp, operator, a.get(2), |table| {
        (table.dispatches(lead), table.dispatched(lead, sub), table.class(lead) == '#')
    })?;
    match found {
        (false, ..) => {
            Err(Escape::error(format!("{operator}: {lead} is no dispatching macro character")))
        }
        (_, Some(function), _) => Ok(function),
        (_, None, true) if BEHIND_SHARP.contains(sub.to_ascii_uppercase()) => {
            Ok(native_function("stream char argument", move |lisp, a| {
                let argument = a[2].as_index().map(|n| n as u64);
                let mut reader = Reader::within(lisp, &a[0], true);
                let item = reader.standard_dispatch(lisp, sub, argument)?;
                given(lisp, item)
            }))
        }
        _ => Ok(NIL),
    }
}
