//! What a name means that has no value or no function: the restarts `continue`, `use-value` and
//! `store-value`, offered where the name was used, so that what runs goes on with the choice.

use crate::code::Function;
use crate::condition::{Escape, Outcome};
use crate::heap::Ref;
use crate::lisp::Lisp;
use crate::offer::{Chosen, Offer};
use crate::package::CL;
use crate::symbol::Symbol;
use crate::value::{NIL, Value};

use super::Machine;

const AGAIN: Offer = Offer { package: CL, name: "CONTINUE", report: "Look again." };
const OF_VARIABLE: [Offer; 3] = [
    AGAIN,
    Offer { package: CL, name: "USE-VALUE", report: "Use a value in its place." },
    Offer { package: CL, name: "STORE-VALUE", report: "Give the variable a value, and use it." },
];
const OF_FUNCTION: [Offer; 3] = [
    AGAIN,
    Offer { package: CL, name: "USE-VALUE", report: "Call a function in its place." },
    Offer { package: CL, name: "STORE-VALUE", report: "Define it as a function, and call it." },
];

/// Which of the three was chosen.
enum Instead {
    Again,
    Use(Value),
    Store(Value),
}

impl Instead {
    fn of(chosen: Chosen) -> Instead {
        let value = chosen.arguments.into_iter().next().unwrap_or(NIL);
        match chosen.number {
            0 => Instead::Again,
            1 => Instead::Use(value),
            _ => Instead::Store(value),
        }
    }
}

impl Machine {
    /// The function that a call by name runs.
    pub(super) fn callee(&mut self, lisp: &mut Lisp, symbol: Symbol) -> Outcome<Ref<Function>> {
        loop {
            if let Some(function) = lisp.find_function(symbol)? {
                return Ok(function);
            }
            let escape = lisp.undefined_function(symbol);
            match self.ask(lisp, escape, &OF_FUNCTION)? {
                Instead::Again => {}
                Instead::Use(value) => return self.designated(lisp, &value),
                Instead::Store(value) => {
                    let function = self.designated(lisp, &value)?;
                    lisp.check_definable(symbol)?;
                    lisp.symbols[symbol].function = Value::Function(function.clone());
                    return Ok(function);
                }
            }
        }
    }

    /// The function that a designator means.
    pub(super) fn designated(&mut self, lisp: &mut Lisp, value: &Value) -> Outcome<Ref<Function>> {
        match value {
            Value::Symbol(symbol) => self.callee(lisp, *symbol),
            other => lisp.function_of(other),
        }
    }

    /// The value of a variable that had none.
    #[cold]
    pub(super) fn unbound(&mut self, lisp: &mut Lisp, symbol: Symbol) -> Outcome {
        loop {
            let escape = lisp.unbound_variable(symbol);
            let chosen = self.ask(lisp, escape, &OF_VARIABLE)?;
            if let Some(value) = lisp.instead_of_unbound(symbol, chosen) {
                return Ok(value);
            }
        }
    }

    /// Asks the handlers and the person, with all frames to look at.
    #[cold]
    fn ask(&mut self, lisp: &mut Lisp, escape: Escape, offers: &[Offer<'_>]) -> Outcome<Instead> {
        self.note_site(lisp);
        let multiple = lisp.multiple;
        self.leave_frames(lisp);
        let escape = escape.placed(self.nearest_span().or_else(|| lisp.caller_span()));
        let chosen = lisp.offer_noting(escape, offers, &|lisp| self.note_backtrace(lisp))?;
        lisp.multiple = multiple;
        Ok(Instead::of(chosen))
    }
}

impl Lisp {
    /// The value in place of an unbound variable's; none to look again where there still is none.
    fn instead_of_unbound(&mut self, symbol: Symbol, chosen: Instead) -> Option<Value> {
        match chosen {
            Instead::Again => Some(self.variable(symbol).clone()).filter(|v| !v.is_unbound()),
            Instead::Use(value) => Some(value),
            Instead::Store(value) => {
                self.set_variable(symbol, value.clone());
                Some(value)
            }
        }
    }

    /// The value of a variable for a native that reads it by name.
    pub(crate) fn bound_value(&mut self, symbol: Symbol) -> Outcome {
        loop {
            let value = self.variable(symbol).clone();
            if !value.is_unbound() {
                return Ok(value);
            }
            let escape = self.unbound_variable(symbol);
            let chosen = Instead::of(self.offer(escape, &OF_VARIABLE)?);
            if let Some(value) = self.instead_of_unbound(symbol, chosen) {
                return Ok(value);
            }
        }
    }
}
