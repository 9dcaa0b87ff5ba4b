//! Operations in place: the arrays that a call changes are the call's own while it runs, so that the
//! storage of one that nobody else shares is written where it stands.

use super::{Ladder, Stepping};
use crate::arguments::Arguments;
use crate::call::{Call, Detail, Prepared};
use crate::explain::take_packed;
use crate::ladder::Caller;
use crate::record::Op;
use crate::resident;
use crate::value::Value;
use rung_array::Array;
use rung_base::{Error, ErrorKind, OnDecline, Result};
use rung_lanes::deaf;
use rung_math::random::State;

pub(super) fn no_target() -> Error {
    Error::new(ErrorKind::Type, "expected a packed array to write into")
}

/// What a call gives beside the arrays that it changes: the state of the generator after a fill.
fn beside(call: &Call) -> Vec<Value> {
    match call.detail {
        Detail::Fill { state, fill } => {
            let State(after) = fill.after(state, call.units);
            vec![Value::List(after.map(|part| Value::integer(part.into())).to_vec())]
        }
        _ => Vec::new(),
    }
}

impl Ladder {
    /// Runs an operation in place: changes `targets`, which `values` hold as well where the record
    /// says so. Storage that nobody else shares is written where it stands; an error changes
    /// nothing. What the operation gives beside them comes back.
    pub fn assign(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        targets: &mut [Array],
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        deaf(|| self.assign_in(op, values, targets, caller)).map_err(|e| {
            take_packed();
            e.in_package(op.speaker()).in_operation(op.name())
        })
    }

    fn assign_in(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        targets: &mut [Array],
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        if self.counting {
            self.count_between();
        }
        if !op.takes_residents() {
            resident::bring_home(&values)?;
            targets.iter().try_for_each(Array::home)?;
        }
        let arguments = Arguments::bind(op, values)?;
        match (op.prepare)(op, arguments, &mut self.context)? {
            Prepared::Write(write) => match targets.first_mut() {
                Some(target) => write(target).map(|()| Vec::new()),
                None => Err(no_target()),
            },
            Prepared::Call(call) => self.change(*call, targets, caller),
            Prepared::Steps(steps) => {
                let mut given = steps(&mut Stepping { op, ladder: self, caller })?.into_iter();
                for (target, value) in targets.iter_mut().zip(given.by_ref()) {
                    let Value::Array(array) = value else { return Err(no_target()) };
                    *target = array;
                }
                Ok(given.collect())
            }
            Prepared::Done(_) => {
                Err(Error::new(ErrorKind::Internal, "an operation in place that writes nothing"))
            }
        }
    }

    /// The same by the definition alone, whatever a decline means.
    pub fn assign_portable(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        targets: &mut [Array],
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        self.by_definition(|ladder| ladder.assign(op, values, targets, caller))
    }

    /// Runs a call that changes `targets`; an error leaves them as they were.
    pub(super) fn change(
        &mut self,
        mut call: Call,
        targets: &mut [Array],
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        if targets.len() != call.op.writes.len() {
            return Err(no_target());
        }
        let asked = self.on_decline.unwrap_or(self.settings.on_decline.value);
        let judged = matches!(asked, OnDecline::Verify | OnDecline::Error);
        let taken = |a: &mut Array| {
            let nothing = Array::empty(a.element_type());
            std::mem::replace(a, nothing)
        };
        call.hold(targets.iter_mut().map(taken).collect(), judged);
        let outcome = self.run(&mut call, caller).map(drop);
        let values = beside(&call);
        let arrays = call.release(outcome.is_ok());
        targets.iter_mut().zip(arrays).for_each(|(target, array)| *target = array);
        outcome.map(|()| values)
    }
}
