//! Restarts that a native offers when its call has failed: a handler may choose one, and the
//! native goes on instead of failing. Handlers are asked where the native stands, before the
//! machine sees the error; when all of them decline, it does not ask them again.

use std::rc::Rc;

use crate::condition::{Escape, EscapeKind, Outcome};
use crate::lisp::Lisp;
use crate::machine::Lot;
use crate::native::{Body, SharedBody};
use crate::package::{CL, PackageId};
use crate::symbol;
use crate::value::{NIL, Value, cons, list_with_tail};

/// One restart: the package and the name of its symbol, and what it says it does.
pub struct Offer<'t> {
    /// Where its name is.
    pub package: PackageId,
    /// In upper case.
    pub name: &'static str,
    /// `Give a value in place of the call.`
    pub report: &'t str,
}

impl Offer<'static> {
    /// A value for that of the call.
    pub const USE_VALUE: Offer<'static> =
        Offer { package: CL, name: "USE-VALUE", report: "Give a value in place of the call." };
    /// The error as nobody's.
    pub const ABORT: Offer<'static> =
        Offer { package: CL, name: "ABORT", report: "End with this error." };
}

/// The restart that a handler chose.
pub struct Chosen {
    /// Which of the offers.
    pub number: usize,
    /// What it was given.
    pub arguments: Vec<Value>,
    /// The error.
    pub condition: Value,
}

impl Lisp {
    /// Asks the handlers of an error with these restarts. When none was chosen, the end of the
    /// handlers is an escape.
    pub fn offer(&mut self, escape: Escape, offers: &[Offer<'_>]) -> Outcome<Chosen> {
        self.offer_noting(escape, offers, &Lisp::note_sites)
    }

    /// The same; `note` remembers the frames that the person may look at.
    pub(crate) fn offer_noting(
        &mut self,
        escape: Escape,
        offers: &[Offer<'_>],
        note: &dyn Fn(&mut Lisp),
    ) -> Outcome<Chosen> {
        // Restarts are for somebody who chooses.
        if self.variable(symbol::HANDLERS).is_nil() && self.console.is_none() {
            return Err(escape);
        }
        let place = self.call_span();
        let condition = match *escape.placed(place).0 {
            EscapeKind::Error(condition) => condition.into_value(),
            other => return Err(other.into()),
        };
        let tag = cons(NIL, NIL);
        let mut restarts = Vec::with_capacity(offers.len());
        for (number, offer) in offers.iter().enumerate() {
            restarts.push(self.offered(number, offer, &tag)?);
        }
        let restarts = list_with_tail(restarts, self.variable(symbol::RESTARTS).clone());
        let asked = self.with_binding(symbol::RESTARTS, restarts, |lisp| {
            lisp.run_handlers(&condition)?;
            // The person chooses here as well, while the restarts are there.
            if lisp.console.is_none() {
                return Ok(());
            }
            note(lisp);
            lisp.debug(&condition)
        });
        match asked {
            Ok(()) => {
                if let Some(condition) = condition.as_condition() {
                    condition.asked.set(true);
                }
                Err(EscapeKind::Signal(condition).into())
            }
            Err(escape) => match *escape.0 {
                EscapeKind::Throw { tag: thrown, values } if thrown.eql(&tag) => {
                    let mut values = values.into_values();
                    let rest = values.split_off(1);
                    let number = if let Value::Fixnum(n) = values[0] { n as usize } else { 0 };
                    Ok(Chosen { number, arguments: rest, condition })
                }
                other => Err(other.into()),
            },
        }
    }

    /// A restart that throws its number and its arguments.
    pub(crate) fn offered(&mut self, number: usize, offer: &Offer<'_>, tag: &Value) -> Outcome {
        let name = Value::symbol(self.intern(offer.package, offer.name));
        let tag = tag.clone();
        let chosen: SharedBody = Rc::new(move |_, arguments| {
            let number = Value::Fixnum(number as i64);
            let values = std::iter::once(number).chain(arguments.iter().cloned()).collect();
            let values = Lot::of(values);
            Err(EscapeKind::Throw { tag: tag.clone(), values }.into())
        });
        let text = offer.report.to_string();
        let report: SharedBody = Rc::new(move |lisp, arguments| {
            lisp.write(&arguments[0], &text)?;
            Ok(NIL)
        });
        let function = |body| {
            let list = "&rest arguments";
            crate::library::native_value(symbol::NIL, list, "", Body::Shared(body))
        };
        let make = Value::symbol(self.intern(CL, "%MAKE-RESTART"));
        self.call(&make, &[name, function(chosen), function(report), NIL, NIL])
    }
}
