//! The macros that are written in Rust: definitions, conditionals, and those on places. The
//! rest of the standard's macros are in `lisp/*.lisp`.
//!
//! A macro's function takes the form and the environment, as one written in Lisp does.

use crate::condition::{Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::symbol;
use crate::value::{NIL, T, Value, cons, list, list_with_tail};

use super::environment::Environment;
use super::lambda::{bind_pattern, macro_lambda};
use super::special::function_name;
use super::{binding, form, places, quasiquote, quoted};

/// The table; registered like natives, but as macros.
pub static MACROS: &[Native] = &[
    native("rung:quasiquote", "form", "Backquote.", |lisp, a| {
        quasiquote::expand(lisp, &[a[0].clone()])
    }),
    native("defun", "name lambda-list &body body", "Defines a global function.", defun),
    native("defmacro", "name lambda-list &body body", "Defines a global macro.", defmacro),
    native(
        "define-compiler-macro",
        "name lambda-list &body body",
        "Defines what may stand for a call of a function.",
        define_compiler_macro,
    ),
    native(
        "defvar",
        "name &optional value documentation",
        "Declares a variable special and sets it unless it has a value.",
        |lisp, a| define_variable(lisp, a, symbol::DEFVAR),
    ),
    native(
        "defparameter",
        "name value &optional documentation",
        "Declares a variable special and sets it.",
        |lisp, a| define_variable(lisp, a, symbol::DEFPARAMETER),
    ),
    native(
        "defconstant",
        "name value &optional documentation",
        "Defines a constant.",
        |lisp, a| define_variable(lisp, a, symbol::DEFCONSTANT),
    ),
    native("cond", "&rest clauses", "The body of the first clause whose test is true.", cond),
    native("and", "&rest forms", "The last value if none is nil.", and),
    native("or", "&rest forms", "The first value that is not nil.", or),
    native("when", "test &body body", "The body if the test is true.", |_, a| {
        let (test, body) = test_and_body(&a[0])?;
        Ok(form(symbol::IF, [test, progn(body)]))
    }),
    native("unless", "test &body body", "The body if the test is nil.", |_, a| {
        let (test, body) = test_and_body(&a[0])?;
        Ok(form(symbol::IF, [test, NIL, progn(body)]))
    }),
    native("return", "&optional value", "Returns from the block nil.", |_, a| {
        Ok(cons(Value::symbol(symbol::RETURN_FROM), cons(NIL, rest(&a[0]))))
    }),
    native("prog1", "first &body body", "The value of the first form.", prog1),
    native(
        "destructuring-bind",
        "lambda-list expression &body body",
        "Binds the variables of a pattern to the parts of a list.",
        destructuring_bind,
    ),
    native("declaim", "&rest declarations", "Global declarations.", |_, a| {
        let each = rest(&a[0]).elements();
        let calls = each.map(|declaration| form(symbol::PROCLAIM, [quoted(declaration)]));
        Ok(form(symbol::PROGN, calls.collect::<Vec<_>>()))
    }),
    native("setf", "&rest places-and-values", "Stores values in places.", places::setf),
    native("push", "value place", "Puts a value in front of a list in a place.", places::push),
    native("pop", "place", "Takes the first element off a list in a place.", places::pop),
    native("incf", "place &optional delta", "Adds to a place.", places::incf),
    native("decf", "place &optional delta", "Subtracts from a place.", places::decf),
    native(
        "rung::%modify",
        "place function before after",
        "Stores in a place what a function gives for its value between other arguments.",
        places::modify,
    ),
    native("shiftf", "&rest places", "Shifts values to the left.", places::shiftf),
    native("rotatef", "&rest places", "Rotates values to the left.", places::rotatef),
    native("call-next-method", "&rest arguments", "Calls the next method.", call_next_method),
    native("next-method-p", "", "Whether there is a next method.", |lisp, _| {
        in_method(lisp, "next-method-p")?;
        Ok(form(symbol::NOT, [form(symbol::NOT, [Value::symbol(symbol::NEXT)])]))
    }),
    native("psetf", "&rest places-and-values", "Stores all at once.", places::psetf),
    native("remf", "place indicator", "Removes a property from a list in a place.", places::remf),
];

/// An error outside of a method: there `rung::%again` stands for the call with what came.
fn in_method(lisp: &Lisp, name: &str) -> Outcome<()> {
    match lisp.macro_environment.variable(symbol::AGAIN) {
        Some(_) => Ok(()),
        None => Err(Escape::program(format!("{name}: this is not inside a method"))),
    }
}

fn call_next_method(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    in_method(lisp, "call-next-method")?;
    let arguments = rest(&a[0]);
    if arguments.is_nil() {
        return Ok(Value::symbol(symbol::AGAIN));
    }
    let next = next_method();
    Ok(form(symbol::FUNCALL, [next].into_iter().chain(arguments.elements())))
}

/// A form that gives the next method, or what signals that there is none.
fn next_method() -> Value {
    let none = form(symbol::NO_NEXT, [Value::symbol(symbol::THIS_METHOD)]);
    form(symbol::OR, [Value::symbol(symbol::NEXT), none])
}

/// `#'call-next-method` and `#'next-method-p` inside a method, as lambda forms.
pub(crate) fn method_function(name: symbol::Symbol, environment: &Environment) -> Option<Value> {
    environment.variable(symbol::AGAIN)?;
    let given = Value::symbol(symbol::AND_REST);
    match name {
        symbol::NEXT_METHOD_P => {
            let next = form(symbol::NOT, [form(symbol::NOT, [Value::symbol(symbol::NEXT)])]);
            Some(form(symbol::LAMBDA, [NIL, next]))
        }
        symbol::CALL_NEXT_METHOD => {
            let more = Value::symbol(symbol::REST);
            let call = form(symbol::APPLY, [next_method(), more.clone()]);
            let body = form(symbol::IF, [more.clone(), call, Value::symbol(symbol::AGAIN)]);
            Some(form(symbol::LAMBDA, [list([given, more]), body]))
        }
        _ => None,
    }
}

fn rest(form: &Value) -> Value {
    form.as_cons().map_or(NIL, |pair| pair.cdr())
}

fn test_and_body(form: &Value) -> Outcome<(Value, Value)> {
    match rest(form).as_cons() {
        Some(pair) => Ok((pair.car(), pair.cdr())),
        None => Err(Escape::program("when, unless: a test is missing")),
    }
}

/// Forms as one form.
pub(crate) fn progn(body: Value) -> Value {
    match body.as_cons() {
        Some(pair) if pair.cdr().is_nil() => pair.car(),
        _ => cons(Value::symbol(symbol::PROGN), body),
    }
}

fn two(name: &str, whole: &Value) -> Outcome<(Value, Value, Value)> {
    let after = rest(whole);
    match after.as_cons() {
        Some(first) => match first.cdr().as_cons() {
            Some(second) => Ok((first.car(), second.car(), second.cdr())),
            None => Err(Escape::program(format!("{name}: expected at least 2 arguments"))),
        },
        None => Err(Escape::program(format!("{name}: expected at least 2 arguments"))),
    }
}

fn defun(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (name, lambda_list, body) = two("defun", &a[0])?;
    if function_name(&name).is_none() {
        let text = format!("defun: {} is not the name of a function", lisp.brief(&name));
        return Err(Escape::program(text));
    }
    let lambda =
        list_with_tail([Value::symbol(symbol::NAMED_LAMBDA), name.clone(), lambda_list], body);
    Ok(form(symbol::DEFINE_FUNCTION, [quoted(name), lambda]))
}

fn defmacro(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (name, lambda_list, body) = two("defmacro", &a[0])?;
    let lambda = macro_lambda(lisp, &name, &lambda_list, &body)?;
    Ok(form(symbol::DEFINE_MACRO, [quoted(name), lambda, quoted(lambda_list)]))
}

fn define_compiler_macro(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (name, lambda_list, body) = two("define-compiler-macro", &a[0])?;
    let lambda = macro_lambda(lisp, &name, &lambda_list, &body)?;
    Ok(form(symbol::DEFINE_COMPILER_MACRO, [quoted(name), lambda]))
}

/// The variable is known before the next form is compiled, and before this one's value is.
fn define_variable(lisp: &mut Lisp, a: &[Value], how: symbol::Symbol) -> Outcome {
    let parts = rest(&a[0]).elements().collect::<Vec<_>>();
    let Some(name) = parts.first().and_then(Value::as_symbol) else {
        return Err(Escape::program("a variable definition needs a name"));
    };
    let name = lisp.variable_to_define(name)?;
    if how != symbol::DEFCONSTANT {
        lisp.symbols[name].kind = symbol::VariableKind::Special;
    }
    let value = match parts.get(1) {
        // A thunk: evaluated only if the variable needs it.
        Some(value) => form(symbol::LAMBDA, [NIL, value.clone()]),
        None => NIL,
    };
    let documentation = parts.get(2).cloned().unwrap_or_default();
    Ok(form(
        symbol::DEFINE_VARIABLE,
        [quoted(Value::symbol(how)), quoted(Value::symbol(name)), value, documentation],
    ))
}

fn cond(_: &mut Lisp, a: &[Value]) -> Outcome {
    let clauses = rest(&a[0]).elements().collect::<Vec<_>>();
    let mut result = NIL;
    for clause in clauses.iter().rev() {
        let Some(pair) = clause.as_cons() else {
            return Err(Escape::program("cond: a clause must be a list"));
        };
        let (test, body) = (pair.car(), pair.cdr());
        result = if body.is_nil() {
            form(symbol::OR, [test, result])
        } else if test.is_symbol(symbol::T) {
            progn(body)
        } else {
            form(symbol::IF, [test, progn(body), result])
        };
    }
    Ok(result)
}

fn and(_: &mut Lisp, a: &[Value]) -> Outcome {
    let mut forms = rest(&a[0]).elements().collect::<Vec<_>>();
    let Some(mut result) = forms.pop() else { return Ok(T) };
    for test in forms.into_iter().rev() {
        result = form(symbol::IF, [test, result, NIL]);
    }
    Ok(result)
}

fn or(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let mut forms = rest(&a[0]).elements().collect::<Vec<_>>();
    let Some(mut result) = forms.pop() else { return Ok(NIL) };
    for test in forms.into_iter().rev() {
        let name = lisp.gensym("OR");
        let choice = form(symbol::IF, [name.clone(), name.clone(), result]);
        result = form(symbol::LET, [list([list([name, test])]), choice]);
    }
    Ok(result)
}

fn prog1(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (first, others) = test_and_body(&a[0])?;
    let name = lisp.gensym("FIRST");
    let bindings = list([list([name.clone(), first])]);
    let body = list_with_tail(others.elements().collect::<Vec<_>>(), list([name]));
    Ok(list_with_tail([Value::symbol(symbol::LET), bindings], body))
}

fn destructuring_bind(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (pattern, source, body) = two("destructuring-bind", &a[0])?;
    let split = binding::split_body(&body, false);
    let name = Value::symbol(symbol::DESTRUCTURING_BIND);
    bind_pattern(lisp, &name, &pattern, source, Vec::new(), &split)
}
