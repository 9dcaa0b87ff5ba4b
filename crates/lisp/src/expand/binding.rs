//! The special operators that bind variables, functions and macros, and `setq`.

use crate::condition::{Escape, Outcome};
use crate::core::{Core, Variable};
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::Value;

use super::environment::Meaning;
use super::special::{arguments, function_name};
use super::warnings::{declared, with_declarations};
use super::{Expander, form};

/// A body without its declarations and documentation string.
pub(crate) struct Body {
    /// Names declared special.
    pub specials: Vec<Symbol>,
    /// Names that need no use.
    pub ignored: Vec<Symbol>,
    /// Functions declared inline or notinline.
    pub inlining: Vec<(Symbol, bool)>,
    /// All declarations as they stand.
    pub declarations: Vec<Value>,
    /// The documentation string, or nil.
    pub documentation: Value,
    /// What is left.
    pub forms: Value,
}

impl Body {
    fn declare(&mut self, declaration: Value) {
        self.specials.extend(declared(&declaration, &[symbol::SPECIAL]));
        self.ignored.extend(declared(&declaration, &[symbol::IGNORE, symbol::IGNORABLE]));
        let inline = declared(&declaration, &[symbol::INLINE]);
        let notinline = declared(&declaration, &[symbol::NOTINLINE]);
        self.inlining.extend(inline.into_iter().map(|name| (name, true)));
        self.inlining.extend(notinline.into_iter().map(|name| (name, false)));
        self.declarations.push(declaration);
    }
}

/// Takes declarations, and with `documented` a documentation string, off the front of a body.
pub(crate) fn split_body(body: &Value, documented: bool) -> Body {
    let mut split = Body {
        specials: Vec::new(),
        ignored: Vec::new(),
        inlining: Vec::new(),
        declarations: Vec::new(),
        documentation: Value::Nil,
        forms: body.clone(),
    };
    while let Value::Cons(pair) = split.forms.clone() {
        let first = pair.car();
        let is_declaration =
            first.as_cons().is_some_and(|pair| pair.car().is_symbol(symbol::DECLARE));
        if is_declaration {
            first.elements().skip(1).for_each(|declaration| split.declare(declaration));
        } else if documented
            && split.documentation.is_nil()
            && first.as_text().is_some()
            && pair.cdr().truth()
        {
            split.documentation = first;
        } else {
            break;
        }
        split.forms = pair.cdr();
    }
    split
}

fn rest_of(list: &Value) -> Value {
    list.as_cons().map_or(Value::Nil, |pair| pair.cdr())
}

impl Expander<'_> {
    /// Whether a binding of the name is dynamic; an error if it may not be bound.
    pub(crate) fn binds_dynamically(&self, name: Symbol, specials: &[Symbol]) -> Outcome<bool> {
        self.lisp.check_bindable(name)?;
        Ok(self.lisp.symbols[name].kind == VariableKind::Special || specials.contains(&name))
    }

    /// Name and initial form of each binding of `let`.
    fn bindings(&self, bindings: &Value) -> Outcome<Vec<(Symbol, Value)>> {
        let mut found = Vec::new();
        for binding in bindings.elements() {
            let (name, init) = match &binding {
                Value::Cons(pair) => {
                    let rest = pair.cdr();
                    (pair.car(), rest.as_cons().map_or(Value::Nil, |rest| rest.car()))
                }
                name => (name.clone(), Value::Nil),
            };
            match name.as_symbol() {
                Some(name) => found.push((name, init)),
                None => return Err(Escape::wrong_type("let", symbol::SYMBOL, &name)),
            }
        }
        Ok(found)
    }

    pub(crate) fn convert_let(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("let", rest, 1, usize::MAX)?;
        let body = split_body(&rest_of(rest), false);
        let mut inits = Vec::new();
        for (name, init) in self.bindings(&found[0])? {
            inits.push((name, self.convert(&init)?));
        }
        self.bind_all(inits, body)
    }

    /// Binds names to core forms all at once around a body.
    fn bind_all(&mut self, inits: Vec<(Symbol, Core)>, body: Body) -> Outcome<Core> {
        let mut environment = self.environment.clone();
        let (mut lexical, mut dynamic) = (Vec::new(), Vec::new());
        let names = inits.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        for (name, init) in inits {
            let is_dynamic = self.binds_dynamically(name, &body.specials)?;
            let variable = self.new_variable(name);
            lexical.push((variable, init));
            if is_dynamic {
                dynamic.push((name, Core::Local(variable)));
                environment = environment.with(Meaning::Special(name));
            } else {
                environment = environment.with(Meaning::Variable(name, variable));
            }
        }
        let pure = dynamic.len() == lexical.len();
        environment = with_declarations(environment, &body, &[]);
        let mut core = self.within(environment, |this| this.convert_body(&body.forms))?;
        let bound = names.iter().zip(&lexical).map(|(name, (variable, _))| (*name, *variable));
        let bound = bound.filter(|(name, _)| !dynamic.iter().any(|(special, _)| special == name));
        self.tell_unused(&bound.collect::<Vec<_>>(), &body);
        if pure && !dynamic.is_empty() {
            let inits = lexical.into_iter().map(|(_, init)| init);
            let names = dynamic.into_iter().map(|(name, _)| name);
            return Ok(Core::DynamicLet(names.zip(inits).collect(), Box::new(core)));
        }
        if !dynamic.is_empty() {
            core = Core::DynamicLet(dynamic, Box::new(core));
        }
        Ok(if lexical.is_empty() { core } else { Core::Let(lexical, Box::new(core)) })
    }

    pub(crate) fn convert_let_star(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("let*", rest, 1, usize::MAX)?;
        let body = split_body(&rest_of(rest), false);
        let bindings = self.bindings(&found[0])?;
        let names = bindings.iter().map(|(name, _)| *name).collect::<Vec<_>>();
        let environment = with_declarations(self.environment.clone(), &body, &names);
        self.within(environment, |this| {
            this.bind_in_turn(&bindings, &body, &mut |this| this.convert_body(&body.forms))
        })
    }

    /// Binds names one after another around a body.
    pub(crate) fn bind_in_turn(
        &mut self,
        bindings: &[(Symbol, Value)],
        declared: &Body,
        body: &mut dyn FnMut(&mut Self) -> Outcome<Core>,
    ) -> Outcome<Core> {
        let Some(((name, init), others)) = bindings.split_first() else { return body(self) };
        crate::stack::check("the form")?;
        let init = self.convert(init)?;
        if self.binds_dynamically(*name, &declared.specials)? {
            let environment = self.environment.with(Meaning::Special(*name));
            let inner =
                self.within(environment, |this| this.bind_in_turn(others, declared, body))?;
            return Ok(Core::DynamicLet(vec![(*name, init)], Box::new(inner)));
        }
        let variable = self.new_variable(*name);
        let environment = self.environment.with(Meaning::Variable(*name, variable));
        let inner = self.within(environment, |this| this.bind_in_turn(others, declared, body))?;
        self.tell_unused(&[(*name, variable)], declared);
        Ok(Core::Let(vec![(variable, init)], Box::new(inner)))
    }

    pub(crate) fn convert_multiple_value_bind(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("multiple-value-bind", rest, 2, usize::MAX)?;
        let values = self.convert(&found[1])?;
        let body = split_body(&rest_of(&rest_of(rest)), false);
        let mut environment = self.environment.clone();
        let (mut variables, mut dynamic) = (Vec::new(), Vec::new());
        for name in found[0].elements() {
            let Some(name) = name.as_symbol() else {
                return Err(Escape::wrong_type("multiple-value-bind", symbol::SYMBOL, &name));
            };
            let variable = self.new_variable(name);
            variables.push(variable);
            if self.binds_dynamically(name, &body.specials)? {
                dynamic.push((name, Core::Local(variable)));
                environment = environment.with(Meaning::Special(name));
            } else {
                environment = environment.with(Meaning::Variable(name, variable));
            }
        }
        environment = with_declarations(environment, &body, &[]);
        let mut core = self.within(environment, |this| this.convert_body(&body.forms))?;
        let names = found[0].elements().filter_map(|name| name.as_symbol());
        let bound = names.zip(variables.iter().copied());
        let bound = bound.filter(|(name, _)| !dynamic.iter().any(|(special, _)| special == name));
        self.tell_unused(&bound.collect::<Vec<_>>(), &body);
        if !dynamic.is_empty() {
            core = Core::DynamicLet(dynamic, Box::new(core));
        }
        Ok(Core::ValuesLet(variables, Box::new([values, core])))
    }

    pub(crate) fn convert_setq(&mut self, rest: &Value) -> Outcome<Core> {
        let parts = rest.elements().collect::<Vec<_>>();
        if parts.len() % 2 == 1 {
            return Err(Escape::program("setq: expected pairs of a variable and a form"));
        }
        let mut sets = Vec::new();
        for pair in parts.chunks_exact(2) {
            sets.push(self.convert_assignment(&pair[0], &pair[1])?);
        }
        Ok(match sets.len() {
            0 => Core::NIL,
            1 => sets.remove(0),
            _ => Core::Progn(sets),
        })
    }

    fn convert_assignment(&mut self, name: &Value, value: &Value) -> Outcome<Core> {
        let Some(symbol) = name.as_symbol() else {
            return Err(Escape::wrong_type("setq", symbol::SYMBOL, name));
        };
        let meaning = self.environment.variable(symbol).or_else(|| {
            let expansion = self.lisp.symbol_macros.get(&symbol).cloned();
            expansion.map(|expansion| Meaning::SymbolMacro(symbol, expansion))
        });
        match meaning {
            Some(Meaning::Variable(_, variable)) => self.assign(variable, value),
            Some(Meaning::SymbolMacro(_, place)) => {
                self.convert(&form(symbol::SETF, [place, value.clone()]))
            }
            _ => {
                if self.lisp.symbols[symbol].kind == VariableKind::Constant {
                    let text = format!("{} is a constant", self.lisp.brief(name));
                    return Err(Escape::program(text));
                }
                Ok(Core::SetGlobal(symbol, Box::new(self.convert(value)?)))
            }
        }
    }

    fn assign(&mut self, variable: Variable, value: &Value) -> Outcome<Core> {
        let value = self.convert(value)?;
        self.use_variable(variable);
        self.unit.variables[variable.0 as usize].assigned = true;
        Ok(Core::SetLocal(variable, Box::new(value)))
    }

    /// The parts of a local function definition.
    fn definition(&self, definition: &Value) -> Outcome<(Symbol, bool, Value, Value)> {
        let name = definition.as_cons().map(|pair| pair.car()).unwrap_or_default();
        let rest = rest_of(definition);
        match (function_name(&name), rest.as_cons()) {
            (Some((symbol, setf)), Some(rest)) => Ok((symbol, setf, rest.car(), rest.cdr())),
            _ => Err(Escape::program("a local function needs a name and a lambda list")),
        }
    }

    pub(crate) fn convert_flet(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("flet", rest, 1, usize::MAX)?;
        let mut environment = self.environment.clone();
        let mut functions = Vec::new();
        for definition in found[0].elements() {
            let (name, setf, lambda_list, body) = self.definition(&definition)?;
            let lambda =
                self.convert_lambda(&Value::symbol(name), &lambda_list, &body, Some(name))?;
            let variable = self.new_variable(name);
            functions.push((variable, Core::Closure(Box::new(lambda))));
            environment = environment.with(Meaning::Function(name, setf, variable));
        }
        let body = split_body(&rest_of(rest), false);
        let core = self.within(environment, |this| this.convert_scope(&body))?;
        Ok(Core::Let(functions, Box::new(core)))
    }

    pub(crate) fn convert_labels(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("labels", rest, 1, usize::MAX)?;
        let mut environment = self.environment.clone();
        let mut definitions = Vec::new();
        for definition in found[0].elements() {
            let (name, setf, lambda_list, body) = self.definition(&definition)?;
            let variable = self.new_variable(name);
            environment = environment.with(Meaning::Function(name, setf, variable));
            definitions.push((variable, name, lambda_list, body));
        }
        let body = split_body(&rest_of(rest), false);
        self.within(environment, |this| {
            let mut functions = Vec::new();
            for (variable, name, lambda_list, body) in definitions {
                let name_value = Value::symbol(name);
                let lambda = this.convert_lambda(&name_value, &lambda_list, &body, Some(name))?;
                functions.push((variable, lambda));
            }
            let core = this.convert_scope(&body)?;
            Ok(Core::Labels(functions, Box::new(core)))
        })
    }

    /// A body whose declarations have been taken off.
    fn convert_scope(&mut self, body: &Body) -> Outcome<Core> {
        let environment = with_declarations(self.environment.clone(), body, &[]);
        self.within(environment, |this| this.convert_body(&body.forms))
    }

    pub(crate) fn convert_locally(&mut self, rest: &Value) -> Outcome<Core> {
        let body = split_body(rest, false);
        self.convert_scope(&body)
    }

    /// Local macros see global functions and macros and the local macros around them, not variables.
    pub(crate) fn convert_macrolet(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("macrolet", rest, 1, usize::MAX)?;
        let mut environment = self.environment.clone();
        for definition in found[0].elements() {
            let (name, _, lambda_list, body) = self.definition(&definition)?;
            let name = Value::symbol(name);
            let source = super::lambda::macro_lambda(self.lisp, &name, &lambda_list, &body)?;
            let expander = self.lisp.eval_with_macros(&source, self.environment.macros())?;
            environment =
                environment.with(Meaning::Macro(name.as_symbol().unwrap_or(symbol::NIL), expander));
        }
        let body = split_body(&rest_of(rest), false);
        self.within(environment, |this| this.convert_scope(&body))
    }

    pub(crate) fn convert_symbol_macrolet(&mut self, rest: &Value) -> Outcome<Core> {
        let found = arguments("symbol-macrolet", rest, 1, usize::MAX)?;
        let mut environment = self.environment.clone();
        for definition in found[0].elements() {
            let parts = definition.elements().collect::<Vec<_>>();
            match (parts.first().and_then(Value::as_symbol), parts.get(1)) {
                (Some(name), Some(expansion)) => {
                    environment = environment.with(Meaning::SymbolMacro(name, expansion.clone()));
                }
                _ => return Err(Escape::program("symbol-macrolet: expected (name expansion)")),
            }
        }
        let body = split_body(&rest_of(rest), false);
        self.within(environment, |this| this.convert_scope(&body))
    }
}
