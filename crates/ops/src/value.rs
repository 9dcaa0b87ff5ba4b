//! What goes into an operation and comes out of it, for any front end.

use crate::generator::Generator;
use rung_array::{Array, Number, Quantized};
use std::borrow::Cow;

/// An argument or a result. Front ends translate their own values to and from these.
#[derive(Clone, Debug)]
pub enum Value {
    Array(Array),
    Number(Number),
    Generator(Generator),
    Quantized(Quantized),
    /// A symbol by its name in lower case.
    Symbol(Cow<'static, str>),
    /// A keyword by its name in lower case, without the colon.
    Keyword(Cow<'static, str>),
    List(Vec<Value>),
    Text(String),
    /// Lisp's nil: false, the empty list, an argument left out.
    Nil,
    True,
    /// Anything else, as it prints; only messages show it.
    Other(String),
}

impl Value {
    pub fn integer(n: i64) -> Value {
        Value::Number(Number::I64(n))
    }

    pub fn flag(b: bool) -> Value {
        if b { Value::True } else { Value::Nil }
    }
}

impl From<Array> for Value {
    fn from(a: Array) -> Value {
        Value::Array(a)
    }
}

/// As messages show it: an array by its header, never by its elements.
impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Array(a) => write!(f, "{a:?}"),
            Value::Number(n) => write!(f, "{n}"),
            Value::Generator(generator) => write!(f, "#<{generator}>"),
            Value::Quantized(q) => write!(f, "#<{q}>"),
            Value::Symbol(s) => f.write_str(s),
            Value::Keyword(s) => write!(f, ":{s}"),
            Value::Text(text) => write!(f, "{text:?}"),
            Value::Nil => f.write_str("nil"),
            Value::True => f.write_str("t"),
            Value::Other(text) => f.write_str(text),
            Value::List(items) => {
                let shown: Vec<String> = items.iter().take(8).map(ToString::to_string).collect();
                let more = if items.len() > 8 { " ..." } else { "" };
                write!(f, "({}{more})", shown.join(" "))
            }
        }
    }
}
