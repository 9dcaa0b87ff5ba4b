//! Operands that may be on a device: bringing home what the processor reads, and what a call finds
//! there already.

use crate::call::{Call, Detail};
use crate::record::Family;
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

/// Where the operands of a call are, and after them the arrays that it changes.
#[derive(Default)]
pub struct Standing {
    /// Of each array, whether it is on the device.
    pub there: SmallVec<[bool; 4]>,
    /// Of each array, its bytes.
    bytes: SmallVec<[u64; 4]>,
    /// Bytes of arrays that the processor would have to bring home.
    pub away: u64,
}

impl Standing {
    /// With a device's residents.
    pub fn of(call: &Call, residency: &Residency) -> Standing {
        let mut standing = Standing::default();
        let mut take = |x: &Array| {
            standing.there.push(residency.holds(x));
            // A number rides in the parameters, whatever its width.
            let number = x.reach().len() == 1 && x.is_home() && !x.is_attached();
            standing.bytes.push(if number { 0 } else { bytes(x) });
            standing.away += if x.is_home() { 0 } else { bytes(x) };
        };
        call.operands.iter().for_each(&mut take);
        if call.op.in_place() {
            call.changed().iter().for_each(&mut take);
        }
        standing
    }

    /// Whether an array is on the device.
    pub fn any(&self) -> bool {
        self.there.contains(&true)
    }

    /// The bytes of the arrays that are, or are not, on the device.
    pub fn bytes(&self, there: bool) -> impl Iterator<Item = u64> + '_ {
        let each = self.there.iter().zip(&self.bytes);
        each.filter(move |(is, _)| **is == there).map(|(_, bytes)| *bytes)
    }
}

/// The bytes of an operand's elements, each counted once.
pub fn bytes(x: &Array) -> u64 {
    let reach = x.reach();
    (reach.len().min(x.size()) * x.element_type().size()) as u64
}

/// Whether the caller reads the result at once, as far as is known before: as a number, or narrowed
/// from what a kernel of these writes, which is the operands' type or the result's.
pub fn read_at_once(call: &Call) -> bool {
    let narrows = call.family == Family::Product || matches!(call.detail, Detail::Rowwise { .. });
    let written = |t| t == call.raw || call.operands.iter().any(|x| x.element_type() == t);
    call.to_number || call.op.predicate || (narrows && !written(call.result))
}

/// Whether what a rung wrote is a number for the caller, or narrowed here.
pub fn comes_home(call: &Call, raw: &[Array]) -> bool {
    let results = std::iter::once(call.result).chain(call.more.iter().map(|more| more.result));
    let narrowed = raw.iter().zip(results).any(|(a, t)| a.element_type() != t);
    call.to_number || call.op.predicate || narrowed
}
