//! Chains of element-wise operations: taken by the lanes in one pass or by the device in one kernel,
//! and counted as one call.

use super::device::failed;
use super::stop::interrupted;
use super::{Declines, Ladder, Site};
use crate::arguments::Arguments;
use crate::call::{Call, Detail, Form, Prepared};
use crate::chain;
use crate::decline::{Answer, Decline, Rung};
use crate::explain::{Outcome, take_packed};
use crate::product::Mode;
use crate::record::{NO_LIBRARY, Offer, Part};
use crate::resident::{self, Standing};
use crate::round_trip::RoundTrip;
use rung_array::Array;
use rung_base::{Result, Shape};
use rung_lanes::stoppable;
use rung_math::Width;
use std::time::Instant;

impl Ladder {
    /// A chain of element-wise operations in one pass of the lanes, or in one kernel where an operand
    /// is on the device or a product that it would take is among them, with the bits of the calls one
    /// by one. `None` where those have to be made:
    /// a rung above is present or calls are judged, the operands are of other kinds, or a value
    /// between has not the shape of the result.
    pub fn chain(
        &mut self,
        steps: &[chain::Step],
        operands: &[Part],
        site: &dyn Fn() -> Option<Site>,
    ) -> Option<Result<Array>> {
        if !self.is_left_alone() {
            return None;
        }
        let start = self.counting.then(|| {
            self.count_between();
            Instant::now()
        });
        let mut mode = None;
        let (rung, result) = match operands.iter().all(|x| self.is_quick(x)) {
            _ if steps.iter().any(is_product) => {
                let (how, result) = self.product_on_device(steps, operands)?;
                mode = how;
                (Rung::Device, result)
            }
            true => {
                let lanes = self.lanes.as_ref()?;
                match stoppable(|| chain::run(lanes, steps, operands)) {
                    Ok(result) => (Rung::Lanes, result?),
                    Err(_) => return Some(Err(interrupted())),
                }
            }
            false => (Rung::Device, self.chain_on_device(steps, operands)?),
        };
        if let (Some(start), Ok(array)) = (start, &result) {
            let now = self.moved();
            let before = std::mem::replace(&mut self.counted, now);
            let declines = match rung {
                Rung::Device => Declines::new(),
                _ => self.declines_of_chain(array.size() as u64),
            };
            self.calls.add(Outcome {
                what: chain::what(steps, operands, array),
                rung,
                mode: mode.map(Mode::name),
                declines: &declines,
                time: start.elapsed(),
                up: now.up - before.up,
                down: now.down - before.down,
                site: site(),
                packed: take_packed(),
            });
        }
        Some(result)
    }

    /// The chain as one kernel, where an operand is there and the costs are for it. What declines is
    /// said by the calls that are then made one by one.
    fn chain_on_device(&self, steps: &[chain::Step], operands: &[Part]) -> Option<Result<Array>> {
        let residency = self.residency.as_ref()?;
        let call = chain::call(steps, operands)?;
        let standing = Standing::of(&call, residency);
        if !standing.any() {
            return None;
        }
        self.costs.device_offer(Offer::RoundTrip(call.family), &call, &standing).ok()?;
        let here = self.costs.device_time(&call, &standing, None);
        if here > self.best_below(&call) + self.costs.home_time(&standing) {
            return None;
        }
        match chain::on_device(&RoundTrip::new(residency, &self.kernels), steps, &call) {
            Ok(Answer::Done(array)) => Some(Ok(array)),
            Ok(_) => None,
            Err(e) => failed(e).err().map(Err),
        }
    }

    /// A product and what follows it as one kernel, where the device would take the product and what
    /// else goes up is not more than its result.
    fn product_on_device(
        &mut self,
        steps: &[chain::Step],
        operands: &[Part],
    ) -> Option<(Option<Mode>, Result<Array>)> {
        let residency = self.residency.as_ref()?;
        let after = chain::after_product(steps)?;
        let (Part::Array(a), Part::Array(b)) =
            (*operands.get(after.at)?, *operands.get(after.at + 1)?)
        else {
            return None;
        };
        let arguments = Arguments::bind(after.op, vec![a.clone().into(), b.clone().into()]).ok()?;
        let Ok(Prepared::Call(call)) = (after.op.prepare)(after.op, arguments, &mut self.context)
        else {
            return None;
        };
        let cells = matches!(&call.detail, Detail::Product(p) if p.form == Form::Cells);
        // What follows is made of the product's elements. Where they are narrower than what the kernel holds
        // (of halves, or of singles with doubles), it would be made of a cell before its rounding.
        if !cells || Width::of(call.result).is_none() || call.raw != call.result {
            return None;
        }
        let more = beside(&call, operands, after.at)?;
        let standing = Standing::of(&call, residency);
        let member = call.op.rungs.device.kernel()?;
        self.costs.device_offer(member.offer, &call, &standing).ok()?;
        let absent = more.iter().filter(|x| !residency.holds(x)).map(resident::bytes).max();
        let result = (call.shape.size() * call.result.size()) as u64;
        let mode = self.mode(&call, Rung::Device);
        let here = self.costs.device_time(&call, &standing, mode);
        let there = self.best_below(&call) + self.costs.home_time(&standing);
        if here > there || absent.is_some_and(|bytes| bytes > result) {
            return None;
        }
        let trip = RoundTrip::new(residency, &self.kernels).asking(self.settings.precision.value);
        match chain::product_on_device(&trip, &after, &call, &more) {
            Ok(Answer::Done(array)) => Some((mode, Ok(array))),
            Ok(_) => None,
            Err(e) => failed(e).err().map(|e| (mode, Err(e))),
        }
    }

    /// What the rungs above the lanes say to a chain that is left alone.
    fn declines_of_chain(&self, have: u64) -> Declines {
        let need = self.costs.device.smallest();
        let device = match &self.device {
            Ok(_) => Decline::Small { have, need, unit: "elements" },
            Err(reason) => reason.clone(),
        };
        let library = match &self.library {
            Ok(_) => Decline::NoKernel(NO_LIBRARY),
            Err(reason) => reason.clone(),
        };
        [(Rung::Device, device), (Rung::Library, library)].into_iter().collect()
    }
}

fn is_product(step: &chain::Step) -> bool {
    matches!(step, chain::Step::Apply(_, link) if link.is_first())
}

/// The operands of a chain beside those of its product, which are this one and the next, at the
/// product's shape; `None` where one is of another type or does not fit.
fn beside(call: &Call, operands: &[Part], at: usize) -> Option<Vec<Array>> {
    let t = call.result;
    let array = |part: &Part| match part {
        Part::Number(n) => Array::full(t, Shape::scalar(), *n).ok()?.broadcast_to(&call.shape).ok(),
        Part::Array(a) if a.element_type() == t => a.broadcast_to(&call.shape).ok(),
        Part::Array(_) => None,
    };
    operands[..at].iter().chain(&operands[at + 2..]).map(array).collect()
}
