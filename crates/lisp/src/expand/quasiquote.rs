//! Backquote: `(quasiquote x)` as the reader gives it becomes calls of `list`, `cons`,
//! `append`. Nested backquotes count levels; vectors are built from their lists.

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::object::Object;
use crate::stack;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, list, list_with_tail};

use super::{form, proper, quoted};

/// The expander of `quasiquote`.
pub(crate) fn expand(_: &mut Lisp, arguments: &[Value]) -> Outcome {
    match operand(&arguments[0]) {
        Some(template) => build(&template, 1),
        None => Err(Escape::program("backquote: expected one form")),
    }
}

/// The one argument of `(operator argument)`.
fn operand(form: &Value) -> Option<Value> {
    let rest = form.as_cons()?.cdr();
    let rest = rest.as_cons()?;
    rest.cdr().is_nil().then(|| rest.car())
}

/// The argument of `(operator argument)` for that operator.
fn marked(template: &Value, operator: Symbol) -> Option<Value> {
    let is_marked = template.as_cons()?.car().is_symbol(operator);
    if is_marked { operand(template) } else { None }
}

/// A form that builds the template.
fn build(template: &Value, depth: u32) -> Outcome {
    stack::check("the backquoted form")?;
    match template {
        Value::Cons(_) => {}
        Value::Object(object) => {
            if let Object::Array(array) = &**object
                && array.rank() == 1
            {
                let elements = list(array.active());
                let arguments = [Value::symbol(symbol::VECTOR), build(&elements, depth)?];
                let [function, built] = arguments;
                return Ok(form(symbol::APPLY, [form(symbol::FUNCTION, [function]), built]));
            }
            return Ok(quoted(template.clone()));
        }
        Value::Symbol(_) => return Ok(quoted(template.clone())),
        _ => return Ok(template.clone()),
    }
    if let Some(inner) = marked(template, symbol::UNQUOTE) {
        return if depth == 1 { Ok(inner) } else { rebuild(template, depth - 1) };
    }
    if operands(template, symbol::QUASIQUOTE).is_some() {
        return rebuild(template, depth + 1);
    }
    build_list(template, depth)
}

/// The arguments of `(operator argument...)` for that operator: more than one where `,,@` has
/// spliced them in.
fn operands(template: &Value, operator: Symbol) -> Option<Value> {
    let pair = template.as_cons()?;
    pair.car().is_symbol(operator).then(|| pair.cdr())
}

/// `(cons 'operator arguments)`, the arguments of a marked template built at their own depth.
fn rebuild(template: &Value, depth: u32) -> Outcome {
    let Some(pair) = template.as_cons() else { return Ok(quoted(template.clone())) };
    let arguments = build_list(&pair.cdr(), depth)?;
    Ok(form(symbol::CONS, [quoted(pair.car()), arguments]))
}

/// Runs of plain elements become `list`; spliced ones join with `append`.
fn build_list(template: &Value, depth: u32) -> Outcome {
    proper(template)?;
    let (mut segments, mut run) = (Vec::new(), Vec::new());
    let mut rest = template.clone();
    let tail = loop {
        let Value::Cons(pair) = rest.clone() else { break tail_form(&rest) };
        if let Some(inner) = marked(&rest, symbol::UNQUOTE) {
            // `(a . ,b)` reads as `(a unquote b)`.
            break if depth == 1 { inner } else { rebuild(&rest, depth - 1)? };
        }
        let element = pair.car();
        let plain = operands(&element, symbol::UNQUOTE);
        let spliced = operands(&element, symbol::UNQUOTE_SPLICING);
        match (plain, spliced) {
            (Some(forms), _) if depth == 1 => run.extend(forms.elements()),
            (_, Some(forms)) if depth == 1 => {
                end_run(&mut segments, &mut run);
                segments.extend(forms.elements());
            }
            (_, Some(_)) => run.push(rebuild(&element, depth - 1)?),
            _ => run.push(build(&element, depth)?),
        }
        rest = pair.cdr();
    };
    if segments.is_empty() {
        return Ok(with_tail(run, tail));
    }
    end_run(&mut segments, &mut run);
    if tail.truth() {
        segments.push(tail);
    }
    Ok(match segments.len() {
        1 => segments.remove(0),
        _ => form(symbol::APPEND, segments),
    })
}

fn tail_form(tail: &Value) -> Value {
    if tail.is_nil() { NIL } else { quoted(tail.clone()) }
}

fn end_run(segments: &mut Vec<Value>, run: &mut Vec<Value>) {
    if !run.is_empty() {
        segments.push(form(symbol::LIST, std::mem::take(run)));
    }
}

fn with_tail(run: Vec<Value>, tail: Value) -> Value {
    if tail.is_nil() {
        return form(symbol::LIST, run);
    }
    let operator = Value::symbol(symbol::LIST_STAR);
    list_with_tail([operator], list(run.into_iter().chain([tail]).collect::<Vec<_>>()))
}
