//! Asking for memory before the rungs of the processor begin: they allocate what they need beside
//! operands and results without asking, deep in loops that cannot fail. The results ask for
//! themselves, but before that: so there must be room for both.

use super::Ladder;
use crate::call::{Call, bytes_of, bytes_of_results};
use rung_base::{Result, memory};

/// Units of work, cells, or bytes of operands below which a call takes too little room beside its
/// result to ask for it.
const LEAST: u64 = 1 << 15;

fn size(call: &Call) -> u64 {
    call.units.max(call.shape.size() as u64).max(bytes_of(&call.operands))
}

impl Ladder {
    /// An error unless what the rungs take beside operands and results can be had now.
    pub(super) fn ask_for_room(&self, call: &Call) -> Result<()> {
        // Results without an element take no work, however many matrices without one there are.
        let empty = call.shape.size() == 0 && call.more.iter().all(|more| more.shape.size() == 0);
        match call.op.beside.filter(|_| !empty) {
            Some(beside) if size(call) >= LEAST => {
                let wanted = || format!("what {} of {} takes", call.op.name(), call.shapes());
                let both = beside(call, self.threads()).saturating_add(bytes_of_results(call));
                memory::ask(both, wanted)
            }
            _ => Ok(()),
        }
    }
}
