//! What `prepare` found worth saying, told before a rung is asked.

use super::{Caller, Ladder};
use crate::call::Remark;

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
}
