//! Printing of values.

use crate::lisp::Lisp;
use crate::value::Value;

/// A value for a message: at most 60 characters, and never an error.
pub fn brief(lisp: &Lisp, value: &Value) -> String {
    match value {
        Value::Nil => "NIL".to_string(),
        Value::Fixnum(n) => n.to_string(),
        Value::Symbol(symbol) => lisp.name(*symbol).to_string(),
        _ => "#<object>".to_string(),
    }
}
