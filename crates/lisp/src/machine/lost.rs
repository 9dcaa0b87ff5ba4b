//! A reader whose elements a device could not give: the restarts `use-value` and `abort`, offered where
//! the reader was called, so that a program may go on with another value.

use crate::condition::{Escape, EscapeKind, Outcome};
use crate::lisp::Lisp;
use crate::offer::Offer;
use crate::symbol;

use super::Machine;

/// Asks for a value in place of that of a native that failed so; every other failure stays.
#[cold]
pub(super) fn instead(lisp: &mut Lisp, outcome: &mut Outcome) {
    if let Err(escape) = outcome
        && is_of_device(escape)
    {
        let escape = std::mem::replace(escape, EscapeKind::Abort.into());
        *outcome = chosen(lisp, escape);
    }
}

fn chosen(lisp: &mut Lisp, escape: Escape) -> Outcome {
    let chosen = lisp.offer(escape, &[Offer::USE_VALUE, Offer::ABORT])?;
    match chosen.number {
        0 => Ok(lisp.values(chosen.arguments)),
        _ => Err(EscapeKind::Unhandled(chosen.condition).into()),
    }
}

/// An error of a device whose handlers have not been asked yet.
fn is_of_device(escape: &Escape) -> bool {
    let classes = [symbol::DEVICE_ERROR, symbol::DEVICE_LOST];
    matches!(&*escape.0, EscapeKind::Error(condition) if classes.contains(&condition.class))
}

impl Machine {
    /// An element that an instruction reads, or what is used in its place.
    #[cold]
    pub(super) fn instead_of_element(&mut self, lisp: &mut Lisp, escape: Escape) -> Outcome {
        if !is_of_device(&escape) {
            return Err(escape);
        }
        self.note_site(lisp);
        let multiple = lisp.multiple;
        self.leave_frames(lisp);
        let value =
            chosen(lisp, escape.placed(self.nearest_span().or_else(|| lisp.caller_span())))?;
        lisp.multiple = multiple;
        Ok(value)
    }
}
