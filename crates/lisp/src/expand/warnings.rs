//! What the expander tells beside its work: variables that nobody uses, and calls that will fail.
//!
//! A variable is judged when its scope ends. A call of a function that is not there yet, or that
//! takes another number of arguments, is only noted: it is judged when the outermost text that is
//! being loaded has ended, by the definitions that there are then. Nothing is told of forms without
//! a place in a source, nor of systems that are loaded by name.

use crate::code::Function;
use crate::condition::Outcome;
use crate::core::Variable;
use crate::lisp::Lisp;
use crate::source::Span;
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::Value;

use super::Expander;
use super::binding::Body;
use super::environment::Meaning;

/// A use of a name that meant nothing, or something else, when it was compiled.
pub(crate) struct Doubt {
    name: Symbol,
    kind: Doubted,
    span: Span,
}

/// What was used.
#[derive(Clone, Copy, PartialEq)]
enum Doubted {
    /// A call with so many arguments.
    Call(usize),
    /// The function itself.
    Function,
    /// The variable.
    Variable,
}

impl Expander<'_> {
    fn tells(&self) -> Option<Span> {
        let silent = self.lisp.library.loading || self.lisp.flag(symbol::MUFFLE_WARNINGS);
        self.span.filter(|_| !silent)
    }

    /// Warns of variables of a scope that is left, if nobody has used them.
    pub(crate) fn tell_unused(&mut self, variables: &[(Symbol, Variable)], body: &Body) {
        let Some(span) = self.tells() else { return };
        for (name, variable) in variables {
            let facts = &self.unit.variables[variable.0 as usize];
            let home = self.lisp.symbols[*name].package;
            // Names of the language and names without a package are those of macros.
            let own = home.is_some_and(|home| home.0 >= crate::package::FIRST_OF_PROGRAMS);
            let own = own || home == Some(crate::package::CL_USER);
            if own && !facts.used && !facts.assigned && !body.ignored.contains(name) {
                let text = format!("the variable {} is never used", self.lisp.shown(*name));
                // A stream that takes nothing is no reason to stop.
                let hint = Some("(declare (ignore ...)) says that it is meant");
                let _written = self.lisp.tell(&text, Some(span), hint);
            }
        }
    }

    /// Notes a call that may fail.
    pub(crate) fn doubt_call(&mut self, name: Symbol, count: usize) {
        self.doubt(name, Doubted::Call(count));
    }

    /// Notes a function that may be missing.
    pub(crate) fn doubt_function(&mut self, name: Symbol) {
        self.doubt(name, Doubted::Function);
    }

    /// Notes a variable that may be missing.
    pub(crate) fn doubt_variable(&mut self, name: Symbol) {
        self.doubt(name, Doubted::Variable);
    }

    fn doubt(&mut self, name: Symbol, kind: Doubted) {
        let Some(span) = self.tells() else { return };
        let doubt = Doubt { name, kind, span };
        if problem(self.lisp, &doubt).is_some() {
            self.lisp.doubts.push(doubt);
        }
    }

    /// Whether a call of a global function is to stay a call.
    pub(crate) fn is_notinline(&self, name: Symbol) -> bool {
        let here = self.environment.inlining(name);
        !here.unwrap_or_else(|| !self.lisp.notinline.contains(&name))
    }
}

/// What is wrong with a use now.
fn problem(lisp: &Lisp, doubt: &Doubt) -> Option<String> {
    let cell = &lisp.symbols[doubt.name];
    let shown = || lisp.shown(doubt.name);
    if doubt.kind == Doubted::Variable {
        let unknown = cell.value.is_unbound()
            && cell.kind == VariableKind::Plain
            && !lisp.symbol_macros.contains_key(&doubt.name);
        return unknown.then(|| format!("the variable {} is undefined", shown()));
    }
    if cell.function.is_unbound() {
        let known = lisp.library.defines(doubt.name)
            || !cell.macro_function.is_unbound()
            || super::special::special_operator(doubt.name).is_some()
            || lisp.is_missing(doubt.name);
        return (!known).then(|| format!("the function {} is undefined", shown()));
    }
    let Doubted::Call(count) = doubt.kind else { return None };
    let (minimum, maximum) = arity(cell.function.as_function()?)?;
    if (minimum..=maximum).contains(&count) {
        return None;
    }
    let wanted = match (minimum, maximum) {
        (least, usize::MAX) => format!("at least {least}"),
        (least, most) if least == most => format!("{least}"),
        (least, most) => format!("{least} to {most}"),
    };
    Some(format!("{} is called with {count} arguments, and takes {wanted}", shown()))
}

/// The fewest and the most arguments of a function; `None` where it is not known.
fn arity(function: &Function) -> Option<(usize, usize)> {
    match function {
        Function::Closure(closure) => {
            let parameters = &closure.code.parameters;
            let least = usize::from(parameters.required);
            let open = parameters.rest || parameters.keyed;
            let most = least + usize::from(parameters.optional);
            Some((least, if open { usize::MAX } else { most }))
        }
        Function::Native(native) => {
            let most = native.maximum;
            let most = if most == u32::MAX { usize::MAX } else { most as usize };
            Some((native.minimum as usize, most))
        }
        Function::Generic(_) => None,
    }
}

impl Lisp {
    /// How many warnings were printed so far, those of the compiler and of `warn`.
    pub fn warnings(&self) -> usize {
        self.warned.len()
    }

    /// Prints a warning once per place.
    pub(crate) fn tell(
        &mut self,
        text: &str,
        span: Option<Span>,
        hint: Option<&str>,
    ) -> Outcome<()> {
        if !self.warned.insert((text.to_string(), span)) {
            return Ok(());
        }
        let stream = self.variable(symbol::ERROR_OUTPUT).clone();
        let mut line = format!("warning: {text}\n");
        if let Some(place) = span.and_then(|span| self.sources.place(span)) {
            line.push_str(&format!("  --> {}:{}:{}\n", place.name, place.line, place.column));
        }
        if let Some(hint) = hint {
            line.push_str(&format!("  hint: {hint}\n"));
        }
        self.write(&stream, &line)?;
        self.flush(&stream)
    }

    /// Judges what was noted while texts were compiled, now that the outermost has ended.
    pub(crate) fn settle_doubts(&mut self) {
        for doubt in std::mem::take(&mut self.doubts) {
            let Some(text) = problem(self, &doubt) else { continue };
            let hint = self.nearest(&doubt);
            let _written = self.tell(&text, Some(doubt.span), hint.as_deref());
        }
    }

    fn nearest(&self, doubt: &Doubt) -> Option<String> {
        match doubt.kind {
            Doubted::Variable => {
                crate::suggest::suggest(self, doubt.name, |cell| !cell.value.is_unbound())
            }
            _ if !self.symbols[doubt.name].function.is_unbound() => None,
            _ => crate::suggest::function(self, doubt.name),
        }
    }
}

/// The names that a declaration is about, where it is of a kind.
pub(crate) fn declared(declaration: &Value, kinds: &[Symbol]) -> Vec<Symbol> {
    let mut parts = declaration.elements();
    match parts.next() {
        Some(kind) if kinds.iter().any(|wanted| kind.is_symbol(*wanted)) => {
            parts.filter_map(|name| name.as_symbol()).collect()
        }
        _ => Vec::new(),
    }
}

/// The environment with what a body declares of names that it does not bind.
pub(crate) fn with_declarations(
    mut environment: super::environment::Environment,
    body: &Body,
    bound: &[Symbol],
) -> super::environment::Environment {
    for name in body.specials.iter().filter(|name| !bound.contains(name)) {
        environment = environment.with(Meaning::Special(*name));
    }
    for (name, inline) in &body.inlining {
        environment = environment.with(Meaning::Inlining(*name, *inline));
    }
    if let Some(safety) = super::safety::meaning(body) {
        environment = environment.with(safety);
    }
    environment
}

/// For the natives that declare: `(notinline f...)`, `(inline f...)` and safety everywhere.
pub(crate) fn proclaim(lisp: &mut Lisp, declaration: &Value) -> Outcome<()> {
    for name in declared(declaration, &[symbol::NOTINLINE]) {
        lisp.notinline.insert(name);
    }
    for name in declared(declaration, &[symbol::INLINE]) {
        lisp.notinline.remove(&name);
    }
    if let Some(safety) = super::safety::declared_safety(declaration) {
        lisp.safety = safety;
    }
    Ok(())
}
