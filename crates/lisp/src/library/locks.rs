//! Locked packages: what a program does not define without being asked (the standard, 11.1.2.1.2).
//!
//! Every package that the language or its embedder makes is locked. A definition of a name that
//! such a package exports is a `rung:package-lock`, with the restarts `rung:shadow-symbol`, which
//! defines a symbol of the program's own instead, and `continue`, which defines it all the same.
//! Five names of `rung` that `cl-user` has from the start give way without a word.

use std::collections::HashSet;

use crate::condition::{Condition, Escape, Outcome};
use crate::expand::special::function_name;
use crate::lisp::Lisp;
use crate::offer::Offer;
use crate::package::{CL, PackageId, RUNG};
use crate::symbol::{self, Symbol, VariableKind};
use crate::value::{Value, list};

/// Names of `rung` that are visible in `cl-user`.
pub(super) const IN_CL_USER: [&str; 5] = ["while", "until", "doc", "explain", "quit"];

/// What may be made of a locked name that a definition meets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// A symbol of the program's own may be defined in its place.
    Shadow,
    /// More hangs on the name than this definition: only it, or nothing.
    Keep,
}

impl Lisp {
    /// The locked package that exports a name, where a program may not define it.
    fn lock_of(&self, name: Symbol) -> Option<PackageId> {
        let cell = &self.symbols[name];
        let home = cell.package.filter(|home| self.packages[*home].locked)?;
        let exported = self.packages.external(home, &cell.name) == Some(name);
        (exported && !self.library.loading).then_some(home)
    }

    fn package_lock(&self, name: Symbol, home: PackageId) -> Condition {
        let package = self.packages[home].name.to_lowercase();
        let text = format!("{} is a name of the locked package {package}", self.shown(name));
        Condition::new(symbol::PACKAGE_LOCK, text)
            .with(symbol::KEY_PACKAGE, self.packages[home].object.clone())
            .hint("choose another name, or shadow the symbol in defpackage")
    }

    /// An error where a program may not give the name a function: locked names, constants and
    /// keywords.
    pub fn check_definable(&self, name: Symbol) -> Outcome<()> {
        if name == symbol::T || self.symbols[name].package == Some(crate::package::KEYWORD) {
            let text = format!("{} is a constant", self.shown(name));
            return Err(Escape::program(text));
        }
        match self.lock_of(name) {
            Some(home) => Err(self.package_lock(name, home).into()),
            None => Ok(()),
        }
    }

    /// The symbol that a definition of `name` defines: itself, or one that shadows it.
    pub(crate) fn name_to_define(&mut self, name: Symbol, way: Way) -> Outcome<Symbol> {
        let Some(home) = self.lock_of(name) else { return Ok(name) };
        let here = self.current_package();
        let shadowed = way == Way::Shadow && !self.packages[here].locked;
        if shadowed && gives_way(self, name) {
            return Ok(shadow_visible(self, here, name));
        }
        let own = format!(
            "Define a symbol {} of package {} instead.",
            self.name(name).to_lowercase(),
            self.packages[here].name.to_lowercase()
        );
        let through = Offer { package: CL, name: "CONTINUE", report: "Define it all the same." };
        let beside = Offer { package: RUNG, name: "SHADOW-SYMBOL", report: &own };
        let offers = [through, beside];
        let offers = if shadowed { &offers[..] } else { &offers[..1] };
        let chosen = self.offer(self.package_lock(name, home).into(), offers)?;
        Ok(if chosen.number == 0 { name } else { shadow_visible(self, here, name) })
    }

    /// As `name_to_define` for the name of a function, `NAME` or `(setf NAME)`.
    pub(crate) fn function_to_define(&mut self, name: &Value) -> Outcome {
        let Some((symbol, setf)) = function_name(name) else { return Ok(name.clone()) };
        let own = self.name_to_define(symbol, Way::Shadow)?;
        Ok(match (own == symbol, setf) {
            (true, _) => name.clone(),
            (_, false) => Value::symbol(own),
            (_, true) => list([Value::symbol(symbol::SETF), Value::symbol(own)]),
        })
    }

    /// As `name_to_define` for a dynamic variable. One that is special already is only given a value.
    pub(crate) fn variable_to_define(&mut self, name: Symbol) -> Outcome<Symbol> {
        match self.symbols[name].kind {
            VariableKind::Special | VariableKind::Constant => Ok(name),
            _ => self.name_to_define(name, Way::Shadow),
        }
    }
}

fn gives_way(lisp: &Lisp, name: Symbol) -> bool {
    let cell = &lisp.symbols[name];
    cell.package == Some(RUNG) && IN_CL_USER.iter().any(|own| own.eq_ignore_ascii_case(&cell.name))
}

/// Makes a symbol of a package's own that takes the place of one visible there.
fn shadow_visible(lisp: &mut Lisp, here: PackageId, name: Symbol) -> Symbol {
    let text = lisp.name(name);
    let package = &mut lisp.packages[here];
    if package.present.get(&text).is_some_and(|entry| entry.0 == name) {
        package.present.remove(&text);
        package.shadowing.retain(|other| *other != name);
    }
    super::packages::shadow(lisp, here, &text)
}

/// Where a form at top level defines one of the five names, makes it a symbol of the current
/// package, also inside the form: a body that calls itself was read before it was defined.
pub(crate) fn give_way(lisp: &mut Lisp, form: &Value) {
    let Some(old) = defined_by(lisp, form).filter(|name| gives_way(lisp, *name)) else { return };
    let here = lisp.current_package();
    let visible = lisp.packages.lookup(here, &lisp.name(old)).is_some_and(|found| found.0 == old);
    if visible && !lisp.packages[here].locked {
        let own = shadow_visible(lisp, here, old);
        replace(form, old, &Value::symbol(own));
    }
}

/// The name in `(def... NAME ...)`, `(def... (setf NAME) ...)` or `(defstruct (NAME ...) ...)`.
fn defined_by(lisp: &Lisp, form: &Value) -> Option<Symbol> {
    let pair = form.as_cons()?;
    let operator = pair.car().as_symbol()?;
    let standard = lisp.symbols[operator].package == Some(CL);
    if !standard || !lisp.symbols[operator].name.starts_with("DEF") {
        return None;
    }
    let named = pair.cdr().as_cons()?.car();
    match function_name(&named) {
        Some((name, _)) => Some(name),
        None => named.as_cons()?.car().as_symbol(),
    }
}

/// Puts one symbol in the place of another, in the conses of a form as they are.
fn replace(form: &Value, old: Symbol, own: &Value) {
    let mut waiting = vec![form.clone()];
    let mut seen = HashSet::new();
    while let Some(value) = waiting.pop() {
        let Some(pair) = value.as_cons().filter(|pair| seen.insert(pair.address())) else {
            continue;
        };
        if pair.car().is_symbol(old) {
            pair.set_car(own.clone());
        }
        if pair.cdr().is_symbol(old) {
            pair.set_cdr(own.clone());
        }
        waiting.push(pair.car());
        waiting.push(pair.cdr());
    }
}
