//! Asking for memory before the rungs of the processor begin: they allocate what they need beside
//! operands and results without asking, deep in loops that cannot fail.

use super::Ladder;
use crate::call::Call;
use rung_base::{Result, memory};

/// Units of work, or cells, below which a call takes too little room beside its result to ask for it.
const LEAST: u64 = 1 << 15;

impl Ladder {
    /// An error unless what the rungs take beside operands and results can be had now.
    pub(super) fn ask_for_room(&self, call: &Call) -> Result<()> {
        // Results without an element take no work, however many matrices without one there are.
        let empty = call.shape.size() == 0 && call.more.iter().all(|more| more.shape.size() == 0);
        match call.op.beside.filter(|_| !empty) {
            Some(beside) if call.units.max(call.shape.size() as u64) >= LEAST => {
                let wanted = || {
                    format!("what {} of {} takes beside its result", call.op.name(), call.shapes())
                };
                memory::ask(beside(call, self.threads()), wanted)
            }
            _ => Ok(()),
        }
    }
}
