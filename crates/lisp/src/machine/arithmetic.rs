//! The inlined arithmetic and comparisons: fixnums and doubles here, everything else in
//! `numbers`.

use std::cmp::Ordering;

use crate::code::{Comparison, Question};
use crate::condition::{Escape, Outcome};
use crate::numbers;
use crate::symbol;
use crate::value::Value;

#[inline(always)]
pub(super) fn divide(a: &Value, b: &Value) -> Outcome {
    if let (Value::Double(x), Value::Double(y)) = (a, b) {
        return Ok(Value::Double(x / y));
    }
    numbers::divide(a, b)
}

#[inline(always)]
pub(super) fn add_small(a: &Value, small: i16) -> Outcome {
    match a {
        Value::Fixnum(x) => {
            if let Some(sum) = x.checked_add(i64::from(small)) {
                return Ok(Value::Fixnum(sum));
            }
        }
        Value::Double(x) => return Ok(Value::Double(x + f64::from(small))),
        _ => {}
    }
    // In the words of what the program says: `(- x 1)` is compiled to this too.
    match small {
        0.. => numbers::add(a, &Value::Fixnum(i64::from(small))),
        _ => numbers::subtract(a, &Value::Fixnum(-i64::from(small))),
    }
}

macro_rules! by_comparison {
    ($comparison:expr, $x:expr, $y:expr) => {
        match $comparison {
            Comparison::Less => $x < $y,
            Comparison::Greater => $x > $y,
            Comparison::LessEqual => $x <= $y,
            Comparison::GreaterEqual => $x >= $y,
            Comparison::Equal => $x == $y,
            Comparison::NotEqual => $x != $y,
        }
    };
}

#[inline(always)]
pub(super) fn compare(comparison: Comparison, a: &Value, b: &Value) -> Outcome<bool> {
    match (a, b) {
        (Value::Fixnum(x), Value::Fixnum(y)) => Ok(by_comparison!(comparison, x, y)),
        (Value::Double(x), Value::Double(y)) => Ok(by_comparison!(comparison, x, y)),
        _ => compare_slowly(comparison, a, b),
    }
}

#[inline(always)]
pub(super) fn compare_small(comparison: Comparison, a: &Value, small: i16) -> Outcome<bool> {
    match a {
        Value::Fixnum(x) => Ok(by_comparison!(comparison, *x, i64::from(small))),
        Value::Double(x) => Ok(by_comparison!(comparison, *x, f64::from(small))),
        _ => compare_slowly(comparison, a, &Value::Fixnum(i64::from(small))),
    }
}

#[cold]
#[inline(never)]
fn compare_slowly(comparison: Comparison, a: &Value, b: &Value) -> Outcome<bool> {
    let (operator, holds): (_, fn(Ordering) -> bool) = match comparison {
        Comparison::Less => ("<", Ordering::is_lt),
        Comparison::Greater => (">", Ordering::is_gt),
        Comparison::LessEqual => ("<=", Ordering::is_le),
        Comparison::GreaterEqual => (">=", Ordering::is_ge),
        Comparison::Equal => return numbers::same("=", a, b),
        Comparison::NotEqual => return numbers::same("/=", a, b).map(|same| !same),
    };
    // NaN compares as nothing, so every question about it is answered no.
    Ok(numbers::compare(operator, a, b)?.is_some_and(holds))
}

#[inline(always)]
pub(super) fn ask(question: Question, a: &Value) -> Outcome<bool> {
    match question {
        Question::Cons => Ok(matches!(a, Value::Cons(_))),
        Question::Atom => Ok(!matches!(a, Value::Cons(_))),
        Question::Zero => match a {
            Value::Fixnum(n) => Ok(*n == 0),
            Value::Double(x) => Ok(*x == 0.0),
            _ => numbers::is_zero(a),
        },
    }
}

#[inline(always)]
pub(super) fn set_car(pair: &Value, value: Value) -> Outcome<()> {
    match pair {
        Value::Cons(pair) => {
            pair.set_car(value);
            Ok(())
        }
        _ => Err(Escape::wrong_type("(setf car)", symbol::CONS, pair)),
    }
}

#[inline(always)]
pub(super) fn set_cdr(pair: &Value, value: Value) -> Outcome<()> {
    match pair {
        Value::Cons(pair) => {
            pair.set_cdr(value);
            Ok(())
        }
        _ => Err(Escape::wrong_type("(setf cdr)", symbol::CONS, pair)),
    }
}

#[inline(always)]
pub(super) fn car(value: &Value) -> Outcome {
    match value {
        Value::Cons(pair) => Ok(pair.car()),
        Value::Nil => Ok(Value::Nil),
        _ => Err(Escape::wrong_type("car", symbol::LIST, value)),
    }
}

#[inline(always)]
pub(super) fn cdr(value: &Value) -> Outcome {
    match value {
        Value::Cons(pair) => Ok(pair.cdr()),
        Value::Nil => Ok(Value::Nil),
        _ => Err(Escape::wrong_type("cdr", symbol::LIST, value)),
    }
}
