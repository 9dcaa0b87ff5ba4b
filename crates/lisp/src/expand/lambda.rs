//! Lambda lists: of functions (to core forms), and of macros and `destructuring-bind` (to a
//! `let*` that takes the list apart).

use crate::condition::{Escape, Outcome};
use crate::core::{Core, Lambda, Optional, Variable};
use crate::lisp::Lisp;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, cons, list, list_with_tail};

use super::binding::{Body, split_body};
use super::environment::Meaning;
use super::special::arguments;
use super::warnings::with_declarations;
use super::{Expander, form, quoted};

/// The sections of a lambda list.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Required,
    Optional,
    Rest,
    AfterRest,
    Key,
    Aux,
}

fn section_of(word: &Value) -> Option<Section> {
    Some(match word.as_symbol()? {
        symbol::AND_OPTIONAL => Section::Optional,
        symbol::AND_REST | symbol::AND_BODY => Section::Rest,
        symbol::AND_KEY => Section::Key,
        symbol::AND_AUX => Section::Aux,
        _ => return None,
    })
}

/// `name`, `(name default)`, `(name default supplied)`.
fn three_parts(parameter: &Value) -> [Value; 3] {
    match parameter {
        Value::Cons(_) => {
            let mut parts = parameter.elements();
            [(); 3].map(|()| parts.next().unwrap_or_default())
        }
        name => [name.clone(), NIL, NIL],
    }
}

/// A function being converted.
struct Draft {
    lambda: Lambda,
    specials: Vec<Symbol>,
    /// Special parameters: their symbol and the variable that the argument came in.
    dynamic: Vec<(Symbol, Variable)>,
    /// The other parameters.
    bound: Vec<(Symbol, Variable)>,
    aux: Vec<(Symbol, Value)>,
}

impl Expander<'_> {
    pub(crate) fn convert_lambda_form(&mut self, rest: &Value) -> Outcome<Core> {
        arguments("lambda", rest, 1, usize::MAX)?;
        let (lambda_list, body) = head_and_rest(rest);
        let lambda = self.convert_lambda(&NIL, &lambda_list, &body, None)?;
        Ok(Core::Closure(Box::new(lambda)))
    }

    /// `(named-lambda name lambda-list . body)`: a lambda whose body is a block of the name.
    pub(crate) fn convert_named_lambda(&mut self, rest: &Value) -> Outcome<Core> {
        arguments("lambda", rest, 2, usize::MAX)?;
        let (name, rest) = head_and_rest(rest);
        let (lambda_list, body) = head_and_rest(&rest);
        let block = super::special::function_name(&name).map(|(symbol, _)| symbol);
        let lambda = self.convert_lambda(&name, &lambda_list, &body, block)?;
        Ok(Core::Closure(Box::new(lambda)))
    }

    /// The function of a lambda list and a body.
    pub(crate) fn convert_lambda(
        &mut self,
        name: &Value,
        lambda_list: &Value,
        body: &Value,
        block: Option<Symbol>,
    ) -> Outcome<Lambda> {
        let body = split_body(body, true);
        let outer = (self.lambda, self.protection, self.environment.clone());
        self.lambda = self.unit.lambdas;
        self.unit.lambdas += 1;
        self.protection = 0;
        let lambda = self.convert_parts(name, lambda_list, &body, block);
        (self.lambda, self.protection, self.environment) = outer;
        lambda
    }

    fn convert_parts(
        &mut self,
        name: &Value,
        lambda_list: &Value,
        body: &Body,
        block: Option<Symbol>,
    ) -> Outcome<Lambda> {
        let mut draft = Draft {
            lambda: Lambda {
                id: self.lambda,
                name: name.clone(),
                required: Vec::new(),
                optional: Vec::new(),
                rest: None,
                keyed: false,
                keys: Vec::new(),
                allow_other_keys: false,
                body: Core::NIL,
                lambda_list: lambda_list.clone(),
                documentation: body.documentation.clone(),
            },
            specials: body.specials.clone(),
            dynamic: Vec::new(),
            bound: Vec::new(),
            aux: Vec::new(),
        };
        self.convert_parameters(&mut draft, lambda_list)?;
        let dynamic = draft.dynamic.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        self.environment = with_declarations(self.environment.clone(), body, &dynamic);
        let forms = self.checked_forms(lambda_list, body);
        let aux = std::mem::take(&mut draft.aux);
        let mut core = self.bind_in_turn(&aux, body, &mut |this| match block {
            Some(name) => this.convert_block(name, &forms),
            None => this.convert_body(&forms),
        })?;
        let bound = std::mem::take(&mut draft.bound);
        self.tell_unused(&bound, body);
        if !draft.dynamic.is_empty() {
            let dynamic = draft.dynamic.iter();
            let bindings = dynamic.map(|(name, variable)| (*name, Core::Local(*variable)));
            core = Core::DynamicLet(bindings.collect(), Box::new(core));
        }
        draft.lambda.body = core;
        Ok(draft.lambda)
    }

    fn convert_parameters(&mut self, draft: &mut Draft, lambda_list: &Value) -> Outcome<()> {
        let mut section = Section::Required;
        let mut words = lambda_list.elements();
        for word in words.by_ref() {
            if let Some(next) = section_of(&word) {
                draft.lambda.keyed |= next == Section::Key;
                section = next;
            } else if word.is_symbol(symbol::AND_ALLOW_OTHER_KEYS) {
                draft.lambda.allow_other_keys = true;
            } else {
                self.convert_parameter(draft, section, &word)?;
                if section == Section::Rest {
                    section = Section::AfterRest;
                }
            }
        }
        if words.rest().truth() {
            return Err(Escape::program("a lambda list must be a proper list"));
        }
        Ok(())
    }

    fn convert_parameter(
        &mut self,
        draft: &mut Draft,
        section: Section,
        word: &Value,
    ) -> Outcome<()> {
        match section {
            Section::Required => {
                let variable = self.bind_parameter(draft, word)?;
                draft.lambda.required.push(variable);
            }
            Section::Optional => {
                let optional = self.convert_optional(draft, word)?;
                draft.lambda.optional.push(optional);
            }
            Section::Rest => draft.lambda.rest = Some(self.bind_parameter(draft, word)?),
            Section::AfterRest => {
                return Err(Escape::program("a lambda list has one &rest parameter"));
            }
            Section::Key => {
                let (keyword, [name, default, supplied]) = key_parameter(self.lisp, word)?;
                let optional = self.convert_optional(draft, &list([name, default, supplied]))?;
                draft.lambda.keys.push((keyword, optional));
            }
            Section::Aux => {
                let [name, init, _] = three_parts(word);
                let name = name.as_symbol().ok_or_else(|| bad_parameter(self.lisp, word))?;
                draft.aux.push((name, init));
            }
        }
        Ok(())
    }

    fn convert_optional(&mut self, draft: &mut Draft, word: &Value) -> Outcome<Optional> {
        let [name, default, supplied] = three_parts(word);
        let default = self.convert(&default)?;
        let variable = self.bind_parameter(draft, &name)?;
        let supplied = match supplied {
            Value::Nil => None,
            supplied => Some(self.bind_parameter(draft, &supplied)?),
        };
        Ok(Optional { variable, default, supplied })
    }

    fn bind_parameter(&mut self, draft: &mut Draft, name: &Value) -> Outcome<Variable> {
        let symbol = name.as_symbol().ok_or_else(|| bad_parameter(self.lisp, name))?;
        let dynamic = self.binds_dynamically(symbol, &draft.specials)?;
        let variable = self.new_variable(symbol);
        let meaning = if dynamic {
            draft.dynamic.push((symbol, variable));
            Meaning::Special(symbol)
        } else {
            draft.bound.push((symbol, variable));
            Meaning::Variable(symbol, variable)
        };
        self.environment = self.environment.with(meaning);
        Ok(variable)
    }
}

/// A parameter after `&key`: its keyword, and variable, default and supplied-p. The keyword is
/// the variable's name unless the parameter is `((keyword variable) ...)`.
pub(crate) fn key_parameter(lisp: &mut Lisp, word: &Value) -> Outcome<(Symbol, [Value; 3])> {
    let [name, default, supplied] = three_parts(word);
    let (keyword, name) = match &name {
        Value::Cons(pair) => {
            (pair.car().as_symbol(), pair.cdr().elements().next().unwrap_or_default())
        }
        _ => (None, name),
    };
    let keyword = match (keyword, name.as_symbol()) {
        (Some(keyword), _) => keyword,
        (None, Some(variable)) => {
            let text = lisp.name(variable);
            lisp.intern(crate::package::KEYWORD, &text)
        }
        (None, None) => return Err(bad_parameter(lisp, word)),
    };
    Ok((keyword, [name, default, supplied]))
}

fn bad_parameter(lisp: &Lisp, word: &Value) -> Escape {
    Escape::program(format!("{} is no parameter of a lambda list", lisp.brief(word)))
}

fn head_and_rest(list: &Value) -> (Value, Value) {
    list.as_cons().map_or((NIL, NIL), |pair| (pair.car(), pair.cdr()))
}

/// The source of a macro's expander: a function of the form and the environment.
pub fn macro_lambda(
    lisp: &mut Lisp,
    name: &Value,
    lambda_list: &Value,
    body: &Value,
) -> Outcome<Value> {
    let (whole, environment) = (lisp.gensym("FORM"), lisp.gensym("ENVIRONMENT"));
    let mut pattern = lambda_list.clone();
    let mut bindings = Vec::new();
    let (first, rest) = head_and_rest(&pattern);
    if first.is_symbol(symbol::AND_WHOLE) {
        let (variable, rest) = head_and_rest(&rest);
        bindings.push(list([variable, whole.clone()]));
        pattern = rest;
    }
    let pattern = take_environment(&pattern, &environment, &mut bindings);
    let split = split_body(body, true);
    let taken = form(symbol::CDR, [whole.clone()]);
    let inner = bind_pattern(lisp, name, &pattern, taken, bindings, &split)?;
    let block = list_with_tail(
        [Value::symbol(symbol::NAMED_LAMBDA), name.clone(), list([whole, environment.clone()])],
        list([split.documentation.clone(), ignore(environment), inner]),
    );
    Ok(block)
}

/// A form that uses a variable and does nothing.
fn ignore(variable: Value) -> Value {
    form(symbol::PROGN, [variable])
}

/// Takes `&environment name` out of a macro's lambda list.
fn take_environment(pattern: &Value, environment: &Value, bindings: &mut Vec<Value>) -> Value {
    let mut kept = Vec::new();
    let mut words = pattern.elements();
    while let Some(word) = words.next() {
        if word.is_symbol(symbol::AND_ENVIRONMENT) {
            if let Some(name) = words.next() {
                bindings.push(list([name, environment.clone()]));
            }
        } else {
            kept.push(word);
        }
    }
    list_with_tail(kept, words.rest().clone())
}

/// `(let* (bindings that take SOURCE apart) . body)`.
pub(crate) fn bind_pattern(
    lisp: &mut Lisp,
    operator: &Value,
    pattern: &Value,
    source: Value,
    bindings: Vec<Value>,
    body: &Body,
) -> Outcome<Value> {
    let mut taker = Taker { lisp, operator: operator.clone(), bindings };
    taker.take_list(pattern, source)?;
    let bindings = list(taker.bindings);
    let mut forms = body.forms.clone();
    if !body.declarations.is_empty() {
        forms = cons(form(symbol::DECLARE, body.declarations.iter().cloned()), forms);
    }
    Ok(cons(Value::symbol(symbol::LET_STAR), cons(bindings, forms)))
}

/// Builds the bindings of `let*` that take a list apart.
struct Taker<'l> {
    lisp: &'l mut Lisp,
    operator: Value,
    bindings: Vec<Value>,
}

impl Taker<'_> {
    fn bind(&mut self, name: Value, value: Value) {
        self.bindings.push(list([name, value]));
    }

    /// A new variable bound to the value.
    fn fresh(&mut self, value: Value) -> Value {
        let name = self.lisp.gensym("REST");
        self.bind(name.clone(), value);
        name
    }

    fn take(&mut self, pattern: &Value, source: Value) -> Outcome<()> {
        match pattern {
            Value::Cons(_) => self.take_list(pattern, source),
            Value::Nil => {
                let end = form(symbol::DESTRUCTURING_END, [source, quoted(self.operator.clone())]);
                self.fresh(end);
                Ok(())
            }
            name => {
                self.bind(name.clone(), source);
                Ok(())
            }
        }
    }

    fn take_list(&mut self, pattern: &Value, source: Value) -> Outcome<()> {
        crate::stack::check("the lambda list")?;
        let mut rest = self.fresh(source);
        let mut section = Section::Required;
        let (mut keys, mut keyed, mut open) = (Vec::new(), false, false);
        let mut words = pattern.elements();
        while let Some(word) = words.next() {
            if word.is_symbol(symbol::AND_WHOLE) {
                let name = words.next().unwrap_or_default();
                self.bind(name, rest.clone());
            } else if let Some(next) = section_of(&word) {
                section = next;
                keyed |= next == Section::Key;
            } else if word.is_symbol(symbol::AND_ALLOW_OTHER_KEYS) {
                keys.push(symbol::KEY_ALLOW_OTHER_KEYS);
            } else {
                match section {
                    Section::Required => rest = self.take_required(&word, rest)?,
                    Section::Optional => rest = self.take_optional(&word, rest)?,
                    Section::Rest | Section::AfterRest => {
                        open = true;
                        self.take(&word, rest.clone())?;
                        section = Section::AfterRest;
                    }
                    Section::Key => keys.push(self.take_key(&word, &rest)?),
                    Section::Aux => {
                        let [name, init, _] = three_parts(&word);
                        self.bind(name, init);
                    }
                }
            }
        }
        let tail = words.rest().clone();
        if tail.truth() {
            self.bind(tail, rest);
        } else if keyed {
            let names = keys.into_iter().map(Value::symbol).collect::<Vec<_>>();
            self.fresh(form(symbol::DESTRUCTURING_KEYS, [rest, quoted(list(names))]));
        } else if !open {
            let operator = quoted(self.operator.clone());
            self.fresh(form(symbol::DESTRUCTURING_END, [rest, operator]));
        }
        Ok(())
    }

    fn take_required(&mut self, word: &Value, rest: Value) -> Outcome<Value> {
        let operator = quoted(self.operator.clone());
        self.take(word, form(symbol::DESTRUCTURING_CAR, [rest.clone(), operator]))?;
        Ok(self.fresh(form(symbol::CDR, [rest])))
    }

    fn take_optional(&mut self, word: &Value, rest: Value) -> Outcome<Value> {
        let [name, default, supplied] = three_parts(word);
        let value = form(symbol::IF, [rest.clone(), form(symbol::CAR, [rest.clone()]), default]);
        self.take(&name, value)?;
        if supplied.truth() {
            self.bind(supplied, form(symbol::IF, [rest.clone(), crate::value::T, NIL]));
        }
        Ok(self.fresh(form(symbol::CDR, [rest])))
    }

    fn take_key(&mut self, word: &Value, rest: &Value) -> Outcome<Symbol> {
        let (keyword, [name, default, supplied]) = key_parameter(self.lisp, word)?;
        let find = [rest.clone(), quoted(Value::symbol(keyword))];
        let found = self.fresh(form(symbol::DESTRUCTURING_FIND, find));
        let value = form(symbol::IF, [found.clone(), form(symbol::CAR, [found.clone()]), default]);
        self.take(&name, value)?;
        if supplied.truth() {
            self.bind(supplied, form(symbol::IF, [found, crate::value::T, NIL]));
        }
        Ok(keyword)
    }
}
