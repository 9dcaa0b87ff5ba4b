//! The special operators, except those that bind (`binding`) and lambda lists (`lambda`).

use crate::condition::{Escape, Outcome};
use crate::core::{Core, Statement};
use crate::symbol::{self, Symbol};
use crate::value::Value;

use super::Expander;
use super::environment::Meaning;

/// Converts the arguments of a special form.
pub type Convert = fn(&mut Expander, &Value) -> Outcome<Core>;

/// The special operators. `lambda` is one here, though the standard calls it a macro.
const SPECIAL: &[(Symbol, Convert)] = &[
    (symbol::QUOTE, quote),
    (symbol::IF, convert_if),
    (symbol::LET, |this, rest| this.convert_let(rest)),
    (symbol::LET_STAR, |this, rest| this.convert_let_star(rest)),
    (symbol::SETQ, |this, rest| this.convert_setq(rest)),
    (symbol::PROGN, |this, rest| this.convert_body(rest)),
    (symbol::FUNCTION, function),
    (symbol::LAMBDA, |this, rest| this.convert_lambda_form(rest)),
    (symbol::NAMED_LAMBDA, |this, rest| this.convert_named_lambda(rest)),
    (symbol::BLOCK, block),
    (symbol::RETURN_FROM, return_from),
    (symbol::TAGBODY, tagbody),
    (symbol::GO, go),
    (symbol::CATCH, catch),
    (symbol::THROW, throw),
    (symbol::UNWIND_PROTECT, unwind_protect),
    (symbol::MULTIPLE_VALUE_CALL, multiple_value_call),
    (symbol::MULTIPLE_VALUE_PROG1, multiple_value_prog1),
    (symbol::MULTIPLE_VALUE_BIND, |this, rest| this.convert_multiple_value_bind(rest)),
    (symbol::FLET, |this, rest| this.convert_flet(rest)),
    (symbol::LABELS, |this, rest| this.convert_labels(rest)),
    (symbol::MACROLET, |this, rest| this.convert_macrolet(rest)),
    (symbol::SYMBOL_MACROLET, |this, rest| this.convert_symbol_macrolet(rest)),
    (symbol::LOCALLY, |this, rest| this.convert_locally(rest)),
    (symbol::EVAL_WHEN, eval_when),
    (symbol::THE, the),
    (symbol::DECLARE, declare),
    (symbol::LOAD_TIME_VALUE, load_time_value),
];

/// How a special form of that name is converted.
pub fn special_operator(name: Symbol) -> Option<Convert> {
    SPECIAL.iter().find(|(operator, _)| *operator == name).map(|entry| entry.1)
}

/// The arguments of a form when there are between `minimum` and `maximum`.
pub(crate) fn arguments(
    name: &str,
    rest: &Value,
    minimum: usize,
    maximum: usize,
) -> Outcome<Vec<Value>> {
    let found = rest.elements().collect::<Vec<_>>();
    if found.len() < minimum || found.len() > maximum {
        let wanted = if minimum == maximum {
            format!("{minimum}")
        } else if maximum == usize::MAX {
            format!("at least {minimum}")
        } else {
            format!("{minimum} to {maximum}")
        };
        let text = format!("{name}: expected {wanted} arguments: got {}", found.len());
        return Err(Escape::program(text));
    }
    Ok(found)
}

fn quote(_: &mut Expander, rest: &Value) -> Outcome<Core> {
    let mut found = arguments("quote", rest, 1, 1)?;
    Ok(Core::Constant(found.remove(0)))
}

fn convert_if(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("if", rest, 2, 3)?;
    let test = this.convert(&found[0])?;
    let then = this.convert(&found[1])?;
    let otherwise = match found.get(2) {
        Some(form) => this.convert(form)?,
        None => Core::NIL,
    };
    Ok(Core::If(Box::new([test, then, otherwise])))
}

fn function(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("function", rest, 1, 1)?;
    if let Some((name, setf)) = function_name(&found[0]) {
        return Ok(match this.environment.function(name, setf) {
            Some(Meaning::Function(_, _, variable)) => this.use_variable(variable),
            _ => match super::macros::method_function(name, &this.environment) {
                Some(form) if !setf => this.convert(&form)?,
                _ => {
                    if !setf {
                        this.doubt_function(name);
                    }
                    Core::GlobalFunction(name, setf)
                }
            },
        });
    }
    let head = found[0].as_cons().and_then(|pair| pair.car().as_symbol());
    match head {
        Some(symbol::LAMBDA | symbol::NAMED_LAMBDA) => this.convert(&found[0]),
        _ => Err(Escape::program(format!(
            "{} is not the name of a function",
            this.lisp.brief(&found[0])
        ))),
    }
}

/// The symbol of a function's name, and whether the name is `(setf SYMBOL)`.
pub fn function_name(name: &Value) -> Option<(Symbol, bool)> {
    if let Some(symbol) = name.as_symbol() {
        return Some((symbol, false));
    }
    let pair = name.as_cons()?;
    let rest = pair.cdr();
    let second = rest.as_cons()?;
    if pair.car().is_symbol(symbol::SETF) && second.cdr().is_nil() {
        return second.car().as_symbol().map(|symbol| (symbol, true));
    }
    None
}

fn block(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("block", rest, 1, usize::MAX)?;
    let Some(name) = found[0].as_symbol() else {
        return Err(Escape::wrong_type("block", symbol::SYMBOL, &found[0]));
    };
    let body = rest.as_cons().map_or(Value::Nil, |pair| pair.cdr());
    this.convert_block(name, &body)
}

impl Expander<'_> {
    /// A block of that name around forms.
    pub(crate) fn convert_block(&mut self, name: Symbol, body: &Value) -> Outcome<Core> {
        let exit = self.new_exit();
        let environment = self.environment.with(Meaning::Block(name, exit));
        let core = self.within(environment, |this| this.convert_body(body))?;
        let used = self.unit.exits[exit.0 as usize].used;
        Ok(if used { Core::Block(exit, Box::new(core)) } else { core })
    }
}

fn return_from(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("return-from", rest, 1, 2)?;
    let exit = found[0].as_symbol().and_then(|name| this.environment.block(name));
    let Some(exit) = exit else {
        let text = format!("there is no block named {}", this.lisp.brief(&found[0]));
        return Err(Escape::program(text));
    };
    let value = match found.get(1) {
        Some(form) => this.convert(form)?,
        None => Core::NIL,
    };
    this.use_exit(exit);
    Ok(Core::ReturnFrom(exit, Box::new(value)))
}

fn tagbody(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let exit = this.new_exit();
    let mut environment = this.environment.clone();
    let is_tag = |part: &Value| !matches!(part, Value::Cons(_));
    for (label, tag) in rest.elements().filter(is_tag).enumerate() {
        environment = environment.with(Meaning::Tag(tag, exit, label as u32));
    }
    let statements = this.within(environment, |this| {
        let (mut statements, mut label) = (Vec::new(), 0);
        for part in rest.elements() {
            if is_tag(&part) {
                statements.push(Statement::Label(label));
                label += 1;
            } else {
                statements.push(Statement::Form(this.convert(&part)?));
            }
        }
        Ok(statements)
    })?;
    Ok(Core::Tagbody(exit, statements))
}

fn go(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("go", rest, 1, 1)?;
    let Some((exit, label)) = this.environment.tag(&found[0]) else {
        let text = format!("there is no tag {} to go to", this.lisp.brief(&found[0]));
        return Err(Escape::program(text));
    };
    this.use_exit(exit);
    Ok(Core::Go(exit, label))
}

fn catch(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("catch", rest, 1, usize::MAX)?;
    let tag = this.convert(&found[0])?;
    let body = rest.as_cons().map_or(Value::Nil, |pair| pair.cdr());
    let body = this.protected(|this| this.convert_body(&body))?;
    Ok(Core::Catch(Box::new([tag, body])))
}

fn throw(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("throw", rest, 2, 2)?;
    let tag = this.convert(&found[0])?;
    let value = this.convert(&found[1])?;
    Ok(Core::Throw(Box::new([tag, value]), this.span))
}

fn unwind_protect(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("unwind-protect", rest, 1, usize::MAX)?;
    let body = this.protected(|this| this.convert(&found[0]))?;
    let cleanup = rest.as_cons().map_or(Value::Nil, |pair| pair.cdr());
    let cleanup = this.protected(|this| this.convert_body(&cleanup))?;
    Ok(Core::UnwindProtect(Box::new([body, cleanup])))
}

fn multiple_value_call(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("multiple-value-call", rest, 1, usize::MAX)?;
    let function = this.convert(&found[0])?;
    let mut arguments = Vec::new();
    for form in &found[1..] {
        arguments.push(this.protected(|this| this.convert(form))?);
    }
    Ok(Core::MultipleValueCall(Box::new(function), arguments))
}

fn multiple_value_prog1(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("multiple-value-prog1", rest, 1, usize::MAX)?;
    let first = this.convert(&found[0])?;
    let others = rest.as_cons().map_or(Value::Nil, |pair| pair.cdr());
    let others = this.protected(|this| this.convert_body(&others))?;
    Ok(Core::MultipleValueProg1(Box::new([first, others])))
}

/// Source is run as it is read, so only `:compile-toplevel` alone means "not now".
fn eval_when(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("eval-when", rest, 1, usize::MAX)?;
    let body = rest.as_cons().map_or(Value::Nil, |pair| pair.cdr());
    if runs_now(&found[0]) { this.convert_body(&body) } else { Ok(Core::NIL) }
}

/// Whether the situations of an `eval-when` include running.
pub(crate) fn runs_now(situations: &Value) -> bool {
    let now = [symbol::KEY_EXECUTE, symbol::KEY_LOAD_TOPLEVEL, symbol::EVAL, symbol::LOAD];
    situations.elements().any(|situation| now.iter().any(|name| situation.is_symbol(*name)))
}

fn the(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("the", rest, 2, 2)?;
    this.convert_the(&found[0], &found[1])
}

fn declare(_: &mut Expander, _: &Value) -> Outcome<Core> {
    Err(Escape::program("declare: a declaration must stand at the start of a body"))
}

fn load_time_value(this: &mut Expander, rest: &Value) -> Outcome<Core> {
    let found = arguments("load-time-value", rest, 1, 2)?;
    let value = this.lisp.eval_form(&found[0])?;
    Ok(Core::Constant(value))
}
