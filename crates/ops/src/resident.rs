//! Operands that may be on a device: bringing home what the processor reads, and what a call finds
//! there already.

use crate::call::Call;
use crate::value::Value;
use rung_array::Array;
use rung_base::Result;
use rung_device::Residency;
use smallvec::SmallVec;

/// Brings home every array among the values, those in lists too.
pub(crate) fn bring_home(values: &[Value]) -> Result<()> {
    values.iter().try_for_each(|value| match value {
        Value::Array(array) => array.home(),
        Value::List(items) => bring_home(items),
        _ => Ok(()),
    })
}

/// Where the operands of a call are.
#[derive(Default)]
pub struct Standing {
    /// Of each operand, whether it is on the device.
    pub there: SmallVec<[bool; 3]>,
    /// Bytes of operands that the processor would have to bring home.
    pub away: u64,
}

impl Standing {
    /// With a device's residents.
    pub fn of(call: &Call, residency: &Residency) -> Standing {
        let there = call.operands.iter().map(|x| residency.holds(x)).collect();
        let away = call.operands.iter().filter(|x| !x.is_home()).map(bytes).sum();
        Standing { there, away }
    }

    /// Whether an operand is on the device.
    pub fn any(&self) -> bool {
        self.there.contains(&true)
    }

    /// The operands that are, or are not, on the device.
    pub fn operands<'a>(&'a self, call: &'a Call, there: bool) -> impl Iterator<Item = &'a Array> {
        let is = move |i: usize| self.there.get(i).copied().unwrap_or(false) == there;
        call.operands.iter().enumerate().filter(move |(i, _)| is(*i)).map(|(_, x)| x)
    }
}

/// The bytes of an operand's elements, each counted once.
pub fn bytes(x: &Array) -> u64 {
    let reach = x.reach();
    (reach.len().min(x.size()) * x.element_type().size()) as u64
}

/// Whether the caller reads the result at once: as a number, or narrowed from what a device writes,
/// which is the operands' type or the result's.
pub fn read_at_once(call: &Call) -> bool {
    let written = |t| t == call.raw || call.operands.iter().any(|x| x.element_type() == t);
    call.to_number || call.op.predicate || !written(call.result)
}
