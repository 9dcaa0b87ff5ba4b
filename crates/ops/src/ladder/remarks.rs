//! What `prepare` found worth saying, told before a rung is asked; and that `--precision` was asked for
//! and does not reach a call.

use super::{Caller, Ladder};
use crate::call::{Call, Remark};
use crate::decline::Rung;
use crate::product::Mode;

impl Ladder {
    pub(super) fn remark(&mut self, caller: &mut dyn Caller) {
        for remark in std::mem::take(&mut self.context.remarks) {
            match remark {
                Remark::Note(text) if !self.quiet => caller.note(&text),
                Remark::Note(_) => {}
                Remark::Warning(text) => caller.warn(&text),
            }
        }
    }

    /// Says once for each reason that a solver's call is strict where less was asked for.
    pub(super) fn note_unreached(&mut self, call: &Call, rung: Rung, caller: &mut dyn Caller) {
        if call.op.rounded.is_none() {
            return;
        }
        let Some(Mode::Unreached(reason)) = self.mode(call, rung) else { return };
        if !self.quiet && self.warned.insert((call.op.name(), reason, None)) {
            let precision = self.settings.precision.value;
            caller.note(&format!("--precision={precision}: {} {reason}.", call.op.name()));
        }
    }
}
