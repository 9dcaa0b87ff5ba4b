//! The device as the ladder sees it: what is resident there, what moves, and who is offered a call.

use super::{Caller, Ladder};
use crate::call::Call;
use crate::costs::matrix_of;
use crate::decline::{Answer, Decline, Rung, size};
use crate::record::{Entry, Op, Part};
use crate::resident::{Standing, bring_home, comes_home};
use crate::round_trip::{RoundTrip, decline_of};
use crate::value::Value;
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result};
use rung_device::{FailureCode, Moved, Residency};

impl Ladder {
    /// The arrays on the device, if there is one.
    pub fn residency(&self) -> Option<&Residency> {
        self.residency.as_ref()
    }

    /// The kernels made so far: their number does not grow with the shapes that a program has.
    pub fn kernel_count(&self) -> usize {
        self.kernels.count()
    }

    /// What to say at the end of a run whose arrays did not find room on the device.
    pub fn budget_note(&self) -> Option<String> {
        let residency = self.residency.as_ref()?;
        let (moved, budget) = (residency.moved(), residency.budget());
        (moved.again > budget).then(|| {
            format!(
                "--gpu: the device budget ({}) is below this program's working set: {} went up \
                 again after {} evictions; raise --device-memory.",
                size(budget),
                size(moved.again),
                moved.evictions
            )
        })
    }

    /// `call`, with all results here: what a command wants, which holds all that it gives here too. Where the
    /// device is lost before they are, the call is made again without it, so that no work of hours ends
    /// with a card.
    pub fn call_home(
        &mut self,
        op: &'static Op,
        values: Vec<Value>,
        caller: &mut dyn Caller,
    ) -> Result<Vec<Value>> {
        let generator = self.context.generator;
        let mut home = |ladder: &mut Ladder, values| {
            let results = ladder.call(op, values, caller)?;
            bring_home(&results).map(|()| results)
        };
        match home(self, values.clone()) {
            Err(e) if e.kind() == ErrorKind::DeviceLost && bring_home(&values).is_ok() => {
                self.context.generator = generator;
                home(self, values)
            }
            other => other,
        }
    }

    /// What went to the device and came back so far.
    pub(super) fn moved(&self) -> Moved {
        self.residency.as_ref().map(Residency::moved).unwrap_or_default()
    }

    /// Counts what moved since the last call: arrays that the program read by itself.
    pub fn count_between(&mut self) {
        let now = self.moved();
        let (up, down) = (now.up - self.counted.up, now.down - self.counted.down);
        self.calls.add_between(up, down);
        self.counted = now;
    }

    /// Whether an operand is here, and no device would want a call of its size.
    #[inline]
    pub(super) fn is_quick(&self, operand: &Part) -> bool {
        let Part::Array(x) = operand else { return true };
        let small = || !x.is_attached() && (x.size() as u64) < self.costs.device.smallest();
        x.is_home() && (self.residency.is_none() || small())
    }

    pub(super) fn offer_device(&self, call: &Call) -> Result<Answer> {
        let declined = |reason| Ok(Answer::Declined(reason));
        let residency = match (&self.device, &self.residency) {
            (Ok(_), Some(residency)) => residency,
            (Ok(_), None) => return declined(Decline::Off("--gpu")),
            (Err(reason), _) => return declined(reason.clone()),
        };
        let member = match &call.op.rungs.device {
            Entry::Has(member) => member,
            Entry::None(reason) => return declined(Decline::NoKernel(reason)),
        };
        if self.only.is_none() {
            let mut standing = Standing::of(call, residency);
            if let Err(reason) = self.costs.device_offer(member.offer, call, &standing) {
                return declined(reason);
            }
            if let Some(matrix) = matrix_of(call).filter(|i| !standing.there[*i]) {
                if let Err(failure) = residency.keep(&call.operands[matrix]) {
                    return declined(decline_of(&failure));
                }
                standing = Standing::of(call, residency);
            }
            let here = self.costs.device_time(call, &standing, self.mode(call, Rung::Device));
            let there = self.best_below(call) + self.costs.home_time(&standing);
            if here > there {
                return declined(Decline::Slower { here, there });
            }
        }
        let trip = RoundTrip::new(residency, &self.kernels).beside(self.lanes.as_ref());
        let trip = trip.asking(self.settings.precision.value);
        let answer = (member.run)(call, &trip).and_then(|answer| read(call, answer));
        answer.or_else(|error| declined(failed(error)?))
    }

    /// The estimate of the fastest rung of this run that comes after the device.
    pub(super) fn best_below(&self, call: &Call) -> f64 {
        let rungs = &call.op.rungs;
        let mut best = self.costs.portable_time(call);
        if self.lanes.is_some() && rungs.lanes.kernel().is_some() {
            best = best.min(self.costs.lanes_time(call, self.threads()));
        }
        if self.library.is_ok() && rungs.library.kernel().is_some() {
            best = best.min(self.costs.library_time(call));
        }
        best
    }
}

/// The answer with what the caller reads at once here: a number, or what is narrowed.
fn read(call: &Call, answer: Answer) -> Result<Answer> {
    let written = match &answer {
        Answer::Done(array) => std::slice::from_ref(array),
        Answer::Several(arrays) => &arrays[..],
        Answer::Written | Answer::Declined(_) => &[],
    };
    if comes_home(call, written) {
        written.iter().try_for_each(Array::home)?;
    }
    Ok(answer)
}

/// A result that the device made and then could not give is a decline: the rungs below make the call from its
/// operands. Every other error is the call's own.
pub(super) fn failed(error: Error) -> Result<Decline> {
    let text = || error.message().into();
    match error.kind() {
        ErrorKind::DeviceLost => Ok(Decline::Lost(text())),
        ErrorKind::Device => Ok(Decline::Failed(FailureCode::Driver.name(), text())),
        _ => Err(error),
    }
}
