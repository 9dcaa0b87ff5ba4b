//! `defkernel` (package `rung`): from an expression of the language to an operation that every rung
//! has (`rung_ops::user_kernel`). Names are compared by what they are called, whatever their package,
//! so that `exp` and `la:exp` are one function here. `defderivative` makes a kernel of a kernel.

use super::explain::Asked;
use super::linalg;
use rung_base::ElementType;
use rung_lisp::code::Function as LispFunction;
use rung_lisp::heap::Ref;
use rung_lisp::lisp::Lisp;
use rung_lisp::suggest::distance;
use rung_lisp::symbol::Symbol;
use rung_lisp::{Escape, Outcome, Value, numbers, stack};
use rung_ops::record::LINALG;
use rung_ops::user_kernel::{
    Declaration, Expression, Function, Of, derivative, fold_named, operation,
};
use rung_ops::{Ladder, Op, table};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

/// What the language calls the operations of two and more numbers.
const SPELLED: [(&str, &str); 15] = [
    ("+", "add"),
    ("-", "sub"),
    ("*", "mul"),
    ("/", "div"),
    ("max", "maximum"),
    ("min", "minimum"),
    ("<", "less"),
    ("<=", "less-equal"),
    (">", "greater"),
    (">=", "greater-equal"),
    ("=", "equal"),
    ("/=", "not-equal"),
    ("and", "logical-and"),
    ("or", "logical-or"),
    ("expt", "power"),
];
/// The same of one number.
const SPELLED_ONE: [(&str, &str); 4] =
    [("-", "negative"), ("/", "reciprocal"), ("not", "logical-not"), ("signum", "sign")];
/// Of one number that number: a sum, a product ...
const OF_ONE: [&str; 4] = ["+", "*", "max", "min"];
/// Those that take more than two numbers, from the left.
const MANY: [&str; 8] =
    ["add", "sub", "mul", "div", "maximum", "minimum", "logical-and", "logical-or"];

/// What is no function, and how it is written.
const FORMS: [(&str, &str); 8] = [
    ("cond", "(if test then else), one in another, in place of cond"),
    ("when", "(if test then 0) in place of when"),
    ("unless", "(if test 0 else) in place of unless"),
    ("let", "(let ((name expression) ...) expression)"),
    ("let*", "(let* ((name expression) ...) expression)"),
    ("repeat", "(repeat count ((name first next) ...) expression)"),
    ("if", "(if test then else)"),
    ("where", "(where test then else)"),
];

/// The function that a word comes near to, for a message.
fn near(word: &str) -> Option<&'static str> {
    let named = table::operations().flat_map(|op| op.names).copied();
    let named = named.filter(|name| Function::named(name).is_some());
    let steps = |name: &&str| distance(word, name);
    let most = (word.chars().count() / 3).clamp(1, 3);
    named.min_by_key(steps).filter(|name| steps(name) <= most && steps(name) < word.len())
}

/// The folds in which an expression may stand.
fn folds() -> Vec<&'static str> {
    table::operations()
        .filter(|op| op.package == LINALG)
        .filter_map(|op| fold_named(op.name()))
        .collect()
}

/// The operation that a function's name means, of so many operands.
fn spelled(head: &str, count: usize) -> &str {
    let of = |list: &[(&str, &'static str)]| {
        list.iter().find(|(name, _)| *name == head).map(|(_, operation)| *operation)
    };
    let one = if count == 1 { of(&SPELLED_ONE) } else { None };
    one.or_else(|| of(&SPELLED)).or_else(|| of(&SPELLED_ONE)).unwrap_or(head)
}

/// What defines kernels, and those that are defined.
struct Kernels {
    ladder: Rc<RefCell<Ladder>>,
    asked: Asked,
    /// A symbol's kernel, with the function that it was given: it may have another one by now.
    defined: RefCell<HashMap<Symbol, (Ref<LispFunction>, &'static Op)>>,
}

pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>, asked: Asked) {
    lisp.add_library(include_str!("kernels.lisp"));
    let kernels = Kernels { ladder: ladder.clone(), asked, defined: RefCell::default() };
    let kernels = Rc::new(kernels);
    let text = "What the macro defkernel calls.";
    let own = kernels.clone();
    let define = move |lisp: &mut Lisp, a: &[Value]| own.define(lisp, a);
    lisp.define_native("rung", "%defkernel", "name parameters body", text, Rc::new(define));
    let text = "What the macro defderivative calls.";
    let derive = move |lisp: &mut Lisp, a: &[Value]| kernels.derive(lisp, a);
    lisp.define_native("rung", "%defderivative", "name kernel parameter", text, Rc::new(derive));
}

impl Kernels {
    fn define(&self, lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
        let [name, parameters, body] = arguments else {
            return Err(Escape::program("%defkernel is for defkernel alone"));
        };
        let symbol = named(lisp, name)?;
        let declared = declaration(lisp, symbol, parameters, body)?;
        self.made(lisp, symbol, declared)
    }

    fn derive(&self, lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
        let [name, kernel, parameter] = arguments else {
            return Err(Escape::program("%defderivative is for defderivative alone"));
        };
        let symbol = named(lisp, name)?;
        let Some(op) = kernel.as_symbol().and_then(|kernel| self.kernel(lisp, kernel)) else {
            let text = format!(
                "defderivative: {} names no kernel, which defkernel and defderivative make",
                lisp.brief(kernel)
            );
            return Err(Escape::program(text));
        };
        let Some(parameter) = called(lisp, parameter) else {
            let text = format!("defderivative: {} names no parameter", lisp.brief(parameter));
            return Err(Escape::program(text));
        };
        let name = lisp.name(symbol).to_ascii_lowercase();
        self.made(lisp, symbol, derivative(op, &parameter, name)?)
    }

    /// Gives a symbol the function of a kernel.
    fn made(&self, lisp: &mut Lisp, symbol: Symbol, declared: Declaration) -> Outcome {
        let name = declared.name.clone();
        let op = operation(declared).map_err(|e| e.in_part(format!("kernel {name}")))?;
        linalg::define(lisp, &self.ladder, self.asked, symbol, op);
        let function = lisp.global_function(symbol)?;
        self.defined.borrow_mut().insert(symbol, (function, op));
        Ok(Value::symbol(symbol))
    }

    /// The kernel that a symbol's function is.
    fn kernel(&self, lisp: &mut Lisp, symbol: Symbol) -> Option<&'static Op> {
        let now = lisp.global_function(symbol).ok()?;
        let defined = self.defined.borrow();
        let (function, op) = defined.get(&symbol)?;
        Ref::same(function, &now).then_some(*op)
    }
}

fn named(lisp: &Lisp, name: &Value) -> Outcome<Symbol> {
    match name.as_symbol().filter(|_| !name.is_nil()) {
        Some(symbol) => lisp.check_definable(symbol).map(|()| symbol),
        None => Err(refused(lisp, "a kernel's name is a symbol", name)),
    }
}

fn refused(lisp: &Lisp, text: &str, form: &Value) -> Escape {
    let escape = Escape::program(format!("defkernel: {text}: {}", lisp.brief(form)));
    lisp.placed_at(escape, form)
}

fn called(lisp: &Lisp, value: &Value) -> Option<String> {
    Some(lisp.name(value.as_symbol()?).to_ascii_lowercase())
}

fn items(lisp: &Lisp, list: &Value) -> Outcome<Vec<Value>> {
    if !list.is_list() || list.is_circular() {
        return Err(refused(lisp, "expected a list", list));
    }
    let mut elements = list.elements();
    let items = (&mut elements).collect();
    match elements.rest().is_nil() {
        true => Ok(items),
        false => Err(refused(lisp, "expected a proper list", list)),
    }
}

fn declaration(
    lisp: &Lisp,
    name: Symbol,
    parameters: &Value,
    body: &Value,
) -> Outcome<Declaration> {
    let mut declared = Vec::new();
    let mut scope = Scope { lisp, names: Vec::new() };
    for parameter in items(lisp, parameters)? {
        let parts = items(lisp, &parameter).unwrap_or_default();
        let (Some(symbol), [_, t]) = (parts.first().and_then(Value::as_symbol), &parts[..]) else {
            return Err(refused(lisp, "a parameter is (name type)", &parameter));
        };
        lisp.check_bindable(symbol)?;
        let t = match called(lisp, t).as_deref() {
            Some("f32" | "single-float") => ElementType::F32,
            Some("f64" | "double-float") => ElementType::F64,
            _ => {
                let text = "a parameter's type is f32 or f64, in which a kernel computes (arrays of \
                            other types are converted)";
                return Err(refused(lisp, text, &parameter));
            }
        };
        let name = lisp.name(symbol).to_ascii_lowercase();
        if declared.iter().any(|(other, _)| *other == name) {
            return Err(refused(lisp, "a parameter is given twice", &parameter));
        }
        declared.push((name, t));
        scope.names.push(Some(symbol));
    }
    let (doc, form) = match &items(lisp, body)?[..] {
        [doc] if doc.as_text().is_some() => {
            return Err(refused(lisp, "an expression is missing behind the text", doc));
        }
        [] => return Err(refused(lisp, "an expression is missing behind the parameters", body)),
        [form] => (String::new(), form.clone()),
        [doc, form] if doc.as_text().is_some() => {
            (doc.as_text().map_or_else(String::new, |text| text.to_text()), form.clone())
        }
        _ => {
            return Err(refused(
                lisp,
                "expected a text, if any, and one expression (let binds)",
                body,
            ));
        }
    };
    if declared.is_empty() {
        return Err(refused(lisp, "a kernel has at least one parameter", parameters));
    }
    let (of, form) = folded(lisp, form)?;
    let expression = scope.expression(&form)?;
    let name = lisp.name(name).to_ascii_lowercase();
    Ok(Declaration { name, doc, parameters: declared, expression, of })
}

/// The fold around an expression.
fn folded(lisp: &Lisp, form: Value) -> Outcome<(Of, Value)> {
    let Some(cons) = form.as_cons() else { return Ok((Of::Elements, form)) };
    let Some(fold) = called(lisp, &cons.car()).as_deref().and_then(fold_named) else {
        return Ok((Of::Elements, form.clone()));
    };
    match &items(lisp, &form)?[..] {
        [_, inner] => Ok((Of::Fold(fold), inner.clone())),
        _ => Err(refused(lisp, "a fold has one expression", &form)),
    }
}

/// The variables in sight, outer ones first; one that has a place but no name yet is none.
struct Scope<'a> {
    lisp: &'a Lisp,
    names: Vec<Option<Symbol>>,
}

impl Scope<'_> {
    fn refused<T>(&self, text: &str, form: &Value) -> Outcome<T> {
        Err(refused(self.lisp, text, form))
    }

    /// What is wrong with a symbol or a number, which have no place, stands at the form around it.
    fn expression(&mut self, form: &Value) -> Outcome<Expression> {
        self.compiled(form).map_err(|escape| self.lisp.placed_at(escape, form))
    }

    fn compiled(&mut self, form: &Value) -> Outcome<Expression> {
        stack::check("the kernel")?;
        if let Some(number) = numbers::to_double(form) {
            return Ok(Expression::Number(number));
        }
        if let Some(symbol) = form.as_symbol() {
            return match self.names.iter().rposition(|name| *name == Some(symbol)) {
                Some(variable) => Ok(Expression::Variable(variable)),
                None if self.lisp.name(symbol).eq_ignore_ascii_case("pi") => {
                    Ok(Expression::Number(std::f64::consts::PI))
                }
                None => self.refused(
                    "no parameter or binding of this name (a program's variables have no place here)",
                    form,
                ),
            };
        }
        if form.as_cons().is_none() {
            return self.refused("expected a number, a variable or a call", form);
        }
        let parts = items(self.lisp, form)?;
        let Some(head) = called(self.lisp, &parts[0]) else {
            return self.refused("expected a function's name", &parts[0]);
        };
        match (head.as_str(), &parts[1..]) {
            ("let" | "let*", [bindings, body]) => self.bound(&head, bindings, body),
            ("repeat", [times, states, result]) => self.repeated([times, states, result], form),
            ("if" | "where", [test, yes, no]) => {
                let arguments = [test, yes, no].map(|form| self.expression(form));
                self.call("where", arguments.into_iter().collect::<Outcome<_>>()?, form)
            }
            (head, arguments) => {
                self.judge(head, arguments.len(), form)?;
                let all = arguments.iter().map(|form| self.expression(form));
                let all = all.collect::<Outcome<_>>()?;
                self.call(head, all, form)
            }
        }
    }

    /// Whether a call of so many operands has a place in a kernel; asked before the operands are.
    fn judge(&self, head: &str, count: usize, form: &Value) -> Outcome<()> {
        if let Some((_, wanted)) = FORMS.iter().find(|(name, _)| *name == head) {
            return self.refused(&format!("expected {wanted}"), form);
        }
        let name = spelled(head, count);
        let Some(function) = Function::named(name) else {
            let text = match (fold_named(head), table::find(head)) {
                (Some(_), _) => {
                    format!("{head} is a fold, which stands around all of it or nowhere")
                }
                (_, Some(_)) => format!(
                    "{head} is not element-wise in a fixed number of steps, and none of the folds that \
                     may stand around a kernel ({})",
                    folds().join(", ")
                ),
                _ => format!(
                    "no element-wise function is called {head}{}; a program's functions, macros \
                     and kernels have no place in a kernel",
                    near(head).map_or(String::new(), |near| format!(" (did you mean {near}?)"))
                ),
            };
            return self.refused(&text, form);
        };
        let (arity, many) = (function.arity(), MANY.contains(&name));
        let alone = count == 1 && OF_ONE.contains(&head);
        if count == arity || alone || many && count > arity {
            return Ok(());
        }
        let of_one = OF_ONE.contains(&head) || SPELLED_ONE.iter().any(|(name, _)| *name == head);
        let least = if of_one { 1 } else { arity };
        let more = if many { " or more" } else { "" };
        let operands = if least == 1 && !many { "operand" } else { "operands" };
        self.refused(&format!("{head} takes {least}{more} {operands}, got {count}"), form)
    }

    fn call(
        &self,
        head: &str,
        mut arguments: Vec<Expression>,
        form: &Value,
    ) -> Outcome<Expression> {
        if arguments.len() == 1 && OF_ONE.contains(&head) {
            return Ok(arguments.remove(0));
        }
        let Some(function) = Function::named(spelled(head, arguments.len())) else {
            return self.refused("no element-wise function", form);
        };
        let mut rest = arguments.into_iter();
        let own: Vec<Expression> = rest.by_ref().take(function.arity()).collect();
        let first = Expression::Call(function, own);
        Ok(rest.fold(first, |so_far, next| Expression::Call(function, vec![so_far, next])))
    }

    /// `let` binds all at once: a value sees no other one of them.
    fn bound(&mut self, head: &str, bindings: &Value, body: &Value) -> Outcome<Expression> {
        let before = self.names.len();
        let (mut values, mut waiting) = (Vec::new(), Vec::new());
        for binding in items(self.lisp, bindings)? {
            let parts = items(self.lisp, &binding).unwrap_or_default();
            let (Some(name), [_, value]) = (parts.first().and_then(Value::as_symbol), &parts[..])
            else {
                return self.refused("a binding is (name expression)", &binding);
            };
            if head == "let" && waiting.contains(&Some(name)) {
                return self.refused("let binds a name once (let* one after another)", &binding);
            }
            self.lisp.check_bindable(name)?;
            let value = self.expression(value)?;
            values.push(value);
            self.names.push((head == "let*").then_some(name));
            waiting.push(Some(name));
        }
        self.names.truncate(before);
        self.names.extend(waiting);
        let body = self.expression(body)?;
        self.names.truncate(before);
        Ok(Expression::Let(values, Box::new(body)))
    }

    fn repeated(&mut self, parts: [&Value; 3], form: &Value) -> Outcome<Expression> {
        let [times, states, result] = parts;
        let Some(times) = times.as_index() else {
            return self
                .refused("repeat takes a count, an integer from 0 that is written out", form);
        };
        let before = self.names.len();
        let (mut names, mut first, mut nexts) = (Vec::new(), Vec::new(), Vec::new());
        for state in items(self.lisp, states)? {
            let parts = items(self.lisp, &state).unwrap_or_default();
            let (Some(name), [_, begin, next]) =
                (parts.first().and_then(Value::as_symbol), &parts[..])
            else {
                return self.refused("a variable of repeat is (name first next)", &state);
            };
            if names.contains(&Some(name)) {
                return self.refused("a variable of repeat is given twice", &state);
            }
            self.lisp.check_bindable(name)?;
            names.push(Some(name));
            first.push(self.expression(begin)?);
            nexts.push(next.clone());
        }
        self.names.extend(names);
        let next = nexts.iter().map(|form| self.expression(form)).collect::<Outcome<_>>()?;
        let result = Box::new(self.expression(result)?);
        self.names.truncate(before);
        Ok(Expression::Repeat { times, first, each: Vec::new(), next, result })
    }
}
