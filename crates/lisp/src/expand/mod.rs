//! The expander: forms become core forms. It resolves names, expands macros and knows the
//! special operators; it evaluates nothing except macro functions.
//!
//! Order of meaning for a list's head, as the standard says: local function or macro, special
//! operator, global macro, global function. The special operators are in `special` and
//! `binding`, lambda lists in `lambda`, backquote in `quasiquote`, Rust-side macros in `macros`
//! and `places`.

pub mod binding;
pub mod chain;
pub mod environment;
mod inline;
pub mod lambda;
pub mod macros;
pub mod places;
pub mod quasiquote;
mod safety;
pub mod special;
pub(crate) mod warnings;

use crate::condition::{Escape, EscapeKind, Outcome};
use crate::core::{Call, Core, ExitFacts, ExitId, Target, Unit, Variable, VariableFacts};
use crate::lisp::Lisp;
use crate::object::Object;
use crate::source::Span;
use crate::stack;
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::{Value, list};

use environment::{Environment, Meaning};

/// Turns one form into core forms.
pub struct Expander<'l> {
    pub(crate) lisp: &'l mut Lisp,
    pub(crate) unit: Unit,
    pub(crate) environment: Environment,
    /// The lambda the form stands in.
    lambda: u32,
    /// How many clean-ups and value lots are open around the form, inside its lambda.
    protection: u32,
    /// The innermost form with a known place.
    span: Option<Span>,
}

/// Expands a form that stands in no lambda, where macros hold; gives its core form and the facts.
pub fn expand_form(lisp: &mut Lisp, form: &Value, macros: Environment) -> Outcome<(Core, Unit)> {
    let mut expander = Expander { environment: macros, ..Expander::new(lisp) };
    let core = expander.convert(form)?;
    Ok((core, expander.unit))
}

impl<'l> Expander<'l> {
    fn new(lisp: &'l mut Lisp) -> Expander<'l> {
        let unit = Unit { lambdas: 1, ..Unit::default() };
        let environment = Environment::default();
        Expander { lisp, unit, environment, lambda: 0, protection: 0, span: None }
    }

    /// The core form of a form.
    pub fn convert(&mut self, form: &Value) -> Outcome<Core> {
        match form {
            Value::Cons(pair) => {
                let outer = self.span;
                if let Some(span) = self.lisp.positions.borrow().get(&pair.address()) {
                    self.span = Some(*span);
                }
                let core = self.convert_list(form, &pair.car(), &pair.cdr());
                let core = core.map_err(|escape| self.place(escape));
                self.span = outer;
                core
            }
            Value::Symbol(symbol) => self.convert_variable(*symbol),
            Value::Object(object) if matches!(**object, Object::Packed(_)) => {
                let copy = Target::Global(symbol::PACKED_COPY);
                Ok(self.call(copy, vec![Core::Constant(form.clone())]))
            }
            _ => Ok(Core::Constant(form.clone())),
        }
    }

    /// Notes where an error of the expander happened, unless it knows better.
    fn place(&self, escape: Escape) -> Escape {
        if let EscapeKind::Error(condition) = &*escape.0
            && condition.span.get().is_none()
        {
            condition.span.set(self.span);
        }
        escape
    }

    pub(crate) fn call(&self, target: Target, arguments: Vec<Core>) -> Core {
        Core::Call(Box::new(Call { target, arguments, span: self.span }))
    }

    fn convert_variable(&mut self, name: Symbol) -> Outcome<Core> {
        match self.environment.variable(name) {
            Some(Meaning::Variable(_, variable)) => {
                self.unit.variables[variable.0 as usize].used = true;
                Ok(self.use_variable(variable))
            }
            Some(Meaning::SymbolMacro(_, expansion)) => self.convert(&expansion),
            Some(_) => Ok(Core::Global(name)),
            None => self.convert_global_variable(name),
        }
    }

    fn convert_global_variable(&mut self, name: Symbol) -> Outcome<Core> {
        let cell = &self.lisp.symbols[name];
        if cell.kind == VariableKind::Constant && !cell.value.is_unbound() {
            return Ok(Core::Constant(cell.value.clone()));
        }
        if let Some(expansion) = self.lisp.symbol_macros.get(&name).cloned() {
            return self.convert(&expansion);
        }
        self.doubt_variable(name);
        Ok(Core::Global(name))
    }

    /// A use of a variable, noting whether a closure makes it.
    pub(crate) fn use_variable(&mut self, variable: Variable) -> Core {
        let facts = &mut self.unit.variables[variable.0 as usize];
        facts.captured |= facts.lambda != self.lambda;
        Core::Local(variable)
    }

    pub(crate) fn new_variable(&mut self, name: Symbol) -> Variable {
        let facts = VariableFacts {
            name,
            lambda: self.lambda,
            captured: false,
            assigned: false,
            used: false,
        };
        self.unit.variables.push(facts);
        Variable((self.unit.variables.len() - 1) as u32)
    }

    pub(crate) fn new_exit(&mut self) -> ExitId {
        let variable = self.new_variable(symbol::NIL);
        self.unit.exits.push(ExitFacts {
            lambda: self.lambda,
            protection: self.protection,
            used: false,
            escaping: false,
            variable,
        });
        ExitId((self.unit.exits.len() - 1) as u32)
    }

    /// Notes that somebody leaves to an exit from here.
    pub(crate) fn use_exit(&mut self, exit: ExitId) {
        let (lambda, protection) = (self.lambda, self.protection);
        let facts = &mut self.unit.exits[exit.0 as usize];
        facts.used = true;
        if facts.lambda != lambda || facts.protection != protection {
            facts.escaping = true;
            let variable = facts.variable;
            self.use_variable(variable);
        }
    }

    /// Converts with clean-ups or value lots open, out of which a plain jump cannot lead.
    pub(crate) fn protected<R>(&mut self, convert: impl FnOnce(&mut Self) -> R) -> R {
        self.protection += 1;
        let result = convert(self);
        self.protection -= 1;
        result
    }

    fn convert_list(&mut self, form: &Value, head: &Value, arguments: &Value) -> Outcome<Core> {
        stack::check("the form")?;
        proper(form)?;
        // What a special operator or a macro walks is a list as well; what is quoted may be anything.
        if !head.is_symbol(symbol::QUOTE) {
            arguments.elements().try_for_each(|argument| proper(&argument))?;
        }
        let Some(name) = head.as_symbol() else { return self.convert_odd_call(head, arguments) };
        match self.environment.function(name, false) {
            Some(Meaning::Function(_, _, variable)) => {
                let function = self.use_variable(variable);
                return self.convert_call(Target::Value(function), arguments);
            }
            Some(Meaning::Macro(_, expander)) => {
                let expansion = self.expand_macro(&expander, form)?;
                return self.convert(&expansion);
            }
            _ => {}
        }
        if let Some(convert) = special::special_operator(name) {
            return convert(self, arguments);
        }
        if let Some(expander) = self.lisp.macro_function(name)? {
            let expansion = self.expand_macro(&expander, form)?;
            return self.convert(&expansion);
        }
        if let Some(expander) = self.lisp.compiler_macros.get(&name).cloned()
            && self.lisp.symbols[name].macro_function.is_unbound()
            && !self.is_notinline(name)
        {
            let expansion = self.expand_macro(&expander, form)?;
            // The same form again says that the call stays as it is.
            if !expansion.eql(form) {
                return self.convert(&expansion);
            }
        }
        if let Some(inlined) = self.inlined(name, arguments) {
            return self.convert(&inlined);
        }
        if self.lisp.is_missing(name) {
            // What its arguments mean is not known, and errors in them would mislead.
            return Ok(self.call(Target::Global(name), Vec::new()));
        }
        let arguments = self.convert_each(arguments)?;
        self.doubt_call(name, arguments.len());
        Ok(self.global_call(name, arguments))
    }

    /// A call whose head is no symbol: `((lambda ...) ...)`.
    fn convert_odd_call(&mut self, head: &Value, arguments: &Value) -> Outcome<Core> {
        let is_lambda = head.as_cons().is_some_and(|pair| pair.car().is_symbol(symbol::LAMBDA));
        if !is_lambda {
            let text = format!("{} is not the name of a function", self.lisp.brief(head));
            return Err(Escape::program(text));
        }
        let function = self.convert(head)?;
        self.convert_call(Target::Value(function), arguments)
    }

    pub(crate) fn convert_call(&mut self, target: Target, arguments: &Value) -> Outcome<Core> {
        let arguments = self.convert_each(arguments)?;
        Ok(self.call(target, arguments))
    }

    /// The core forms of a list of forms.
    pub(crate) fn convert_each(&mut self, forms: &Value) -> Outcome<Vec<Core>> {
        let mut converted = Vec::new();
        let mut elements = forms.elements();
        for form in elements.by_ref() {
            converted.push(self.convert(&form)?);
        }
        if !elements.rest().is_nil() {
            return Err(Escape::program("a form must be a proper list"));
        }
        Ok(converted)
    }

    /// Forms one after another.
    pub(crate) fn convert_body(&mut self, forms: &Value) -> Outcome<Core> {
        let mut converted = self.convert_each(forms)?;
        Ok(match converted.len() {
            0 => Core::NIL,
            1 => converted.remove(0),
            _ => Core::Progn(converted),
        })
    }

    /// Calls a macro's expander.
    pub(crate) fn expand_macro(&mut self, expander: &Value, form: &Value) -> Outcome<Value> {
        let outer = std::mem::replace(&mut self.lisp.macro_environment, self.environment.clone());
        let expansion = call_expander(self.lisp, expander, form);
        self.lisp.macro_environment = outer;
        expansion
    }

    /// Converts in an environment with more meanings.
    pub(crate) fn within<R>(
        &mut self,
        environment: Environment,
        convert: impl FnOnce(&mut Self) -> Outcome<R>,
    ) -> Outcome<R> {
        let outer = std::mem::replace(&mut self.environment, environment);
        let result = convert(self);
        self.environment = outer;
        result
    }
}

/// Calls an expander by way of `*macroexpand-hook*`; what the library needs of its own is not for hooks.
fn call_expander(lisp: &mut Lisp, expander: &Value, form: &Value) -> Outcome {
    let hook = lisp.variable(symbol::MACROEXPAND_HOOK);
    if hook.is_symbol(symbol::FUNCALL) || lisp.library.loading {
        return lisp.call(expander, &[form.clone(), Value::Nil]);
    }
    let hook = hook.clone();
    lisp.call(&hook, &[expander.clone(), form.clone(), Value::Nil])
}

/// A form, or a template, that is a circular list has no end.
pub(super) fn proper(form: &Value) -> Outcome<()> {
    match form.is_circular() {
        true => Err(Escape::program("a form must be a proper list: got a circular one")),
        false => Ok(()),
    }
}

/// Expands a form once if it is a macro call or a symbol macro where `environment` holds.
pub fn macroexpand_1(
    lisp: &mut Lisp,
    form: &Value,
    environment: &Environment,
) -> Outcome<Option<Value>> {
    if let Value::Symbol(name) = form {
        return Ok(match environment.variable(*name) {
            Some(Meaning::SymbolMacro(_, expansion)) => Some(expansion),
            Some(_) => None,
            None => lisp.symbol_macros.get(name).cloned(),
        });
    }
    let Some(name) = form.as_cons().and_then(|pair| pair.car().as_symbol()) else {
        return Ok(None);
    };
    let expander = match environment.function(name, false) {
        Some(Meaning::Macro(_, expander)) => Some(expander),
        Some(_) => None,
        None => lisp.macro_function(name)?,
    };
    let Some(expander) = expander else { return Ok(None) };
    proper(form)?;
    let outer = std::mem::replace(&mut lisp.macro_environment, environment.clone());
    let expansion = call_expander(lisp, &expander, form);
    lisp.macro_environment = outer;
    // The expansion stands where the macro call stood.
    let expansion = expansion?;
    lisp.inherit_position(form, &expansion);
    Ok(Some(expansion))
}

/// Expands until the head is no macro.
pub fn macroexpand(
    lisp: &mut Lisp,
    form: &Value,
    environment: &Environment,
) -> Outcome<(Value, bool)> {
    let (mut form, mut expanded) = (form.clone(), false);
    while let Some(expansion) = macroexpand_1(lisp, &form, environment)? {
        (form, expanded) = (expansion, true);
    }
    Ok((form, expanded))
}

/// `(NAME element...)`, a shorthand for writers of macros.
pub(crate) fn form(name: Symbol, rest: impl IntoIterator<Item = Value>) -> Value {
    let mut parts = vec![Value::symbol(name)];
    parts.extend(rest);
    list(parts)
}

/// `(quote value)`.
pub(crate) fn quoted(value: Value) -> Value {
    form(symbol::QUOTE, [value])
}
