//! What `(safety 3)` adds: `the` and the declared types of parameters are checked. At other levels
//! they are promises that nobody checks.

use crate::condition::Outcome;
use crate::core::Core;
use crate::lisp::Lisp;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, cons};

use super::binding::Body;
use super::environment::Meaning;
use super::{Expander, form, quoted};

/// The level of `(optimize safety)`, and the one at which types are checked.
const CHECKED: i64 = 3;

/// Declarations that begin with their kind and name no type.
const NO_TYPES: [Symbol; 7] = [
    symbol::SPECIAL,
    symbol::IGNORE,
    symbol::IGNORABLE,
    symbol::INLINE,
    symbol::NOTINLINE,
    symbol::OPTIMIZE,
    symbol::DYNAMIC_EXTENT,
];

/// The level that a declaration `(optimize ...)` gives safety, if it does.
pub(crate) fn declared_safety(declaration: &Value) -> Option<i64> {
    let mut parts = declaration.elements();
    if !parts.next()?.is_symbol(symbol::OPTIMIZE) {
        return None;
    }
    parts.find_map(|quality| match quality.as_cons() {
        None => quality.is_symbol(symbol::SAFETY).then_some(CHECKED),
        Some(pair) if pair.car().is_symbol(symbol::SAFETY) => {
            pair.cdr().as_cons().and_then(|rest| rest.car().as_fixnum())
        }
        Some(_) => None,
    })
}

/// The type and the names of a declaration of types.
fn declared_type(lisp: &Lisp, declaration: &Value) -> Option<(Value, Vec<Symbol>)> {
    let pair = declaration.as_cons()?;
    let (head, mut rest) = (pair.car(), pair.cdr());
    let mut named = head.clone();
    if head.is_symbol(symbol::TYPE) {
        let pair = rest.as_cons()?;
        (named, rest) = (pair.car(), pair.cdr());
    } else if let Some(kind) = head.as_symbol() {
        let standard = lisp.symbols[kind].package == Some(crate::package::CL);
        let known = standard || lisp.types.contains_key(&kind) || lisp.class(kind).is_some();
        if NO_TYPES.contains(&kind) || !known {
            return None;
        }
    }
    Some((named, rest.elements().filter_map(|name| name.as_symbol()).collect()))
}

/// The variables that a lambda list binds, without those that say whether an argument came.
fn parameters(lambda_list: &Value) -> Vec<Symbol> {
    let marks = [
        symbol::AND_OPTIONAL,
        symbol::AND_REST,
        symbol::AND_KEY,
        symbol::AND_AUX,
        symbol::AND_ALLOW_OTHER_KEYS,
    ];
    let name = |word: Value| match word.as_cons() {
        None => word.as_symbol(),
        Some(pair) => match pair.car().as_cons() {
            None => pair.car().as_symbol(),
            Some(_) => pair.car().elements().nth(1).and_then(|name| name.as_symbol()),
        },
    };
    lambda_list.elements().filter_map(name).filter(|name| !marks.contains(name)).collect()
}

impl Expander<'_> {
    fn checks_types(&self) -> bool {
        let safety = self.environment.safety().unwrap_or(self.lisp.safety);
        safety >= CHECKED && !self.lisp.library.loading
    }

    /// `(the type form)`; all values of the form are checked.
    pub(super) fn convert_the(&mut self, specifier: &Value, body: &Value) -> Outcome<Core> {
        if !self.checks_types() {
            return self.convert(body);
        }
        let check = form(symbol::FUNCTION, [Value::symbol(symbol::CHECK_VALUES)]);
        let checked = [check, quoted(specifier.clone()), body.clone()];
        self.convert(&form(symbol::MULTIPLE_VALUE_CALL, checked))
    }

    /// The forms of a function's body, where need be behind checks of its declared parameters.
    pub(super) fn checked_forms(&mut self, lambda_list: &Value, body: &Body) -> Value {
        if !self.checks_types() {
            return body.forms.clone();
        }
        let parameters = parameters(lambda_list);
        let mut forms = body.forms.clone();
        for declaration in body.declarations.iter().rev() {
            let Some((specifier, names)) = declared_type(self.lisp, declaration) else { continue };
            for name in names.iter().rev().filter(|name| parameters.contains(name)) {
                let name = Value::symbol(*name);
                let parts = [name.clone(), quoted(specifier.clone()), quoted(name), NIL];
                forms = cons(form(symbol::CHECK_TYPE_OF, parts), forms);
            }
        }
        forms
    }
}

/// The meaning that a body's declarations give safety.
pub(super) fn meaning(body: &Body) -> Option<Meaning> {
    body.declarations.iter().find_map(declared_safety).map(Meaning::Safety)
}
