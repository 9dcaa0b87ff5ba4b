//! Chains of element-wise operations: taken by the lanes in one pass, and counted as one call.

use super::{Declines, Ladder, Site};
use crate::chain;
use crate::decline::{Decline, Rung};
use crate::explain::{Outcome, take_packed};
use crate::record::{NO_LIBRARY, Part};
use rung_array::Array;
use rung_base::Result;
use std::time::Instant;

impl Ladder {
    /// A chain of element-wise operations in one pass of the lanes, with the bits of the calls one
    /// by one. `None` where those have to be made: a rung above is present or calls are judged, the
    /// operands are of other kinds, or a value between has not the shape of the result.
    pub fn chain(
        &mut self,
        steps: &[chain::Step],
        operands: &[Part],
        site: &dyn Fn() -> Option<Site>,
    ) -> Option<Result<Array>> {
        if !self.is_left_alone() || !operands.iter().all(|x| self.is_quick(x)) {
            return None;
        }
        let start = self.counting.then(Instant::now);
        let result = chain::run(self.lanes.as_ref()?, steps, operands)?;
        if let (Some(start), Ok(array)) = (start, &result) {
            let declines = self.declines_of_chain(array.size() as u64);
            self.calls.add(Outcome {
                what: chain::what(steps, operands, array),
                rung: Rung::Lanes,
                mode: None,
                declines: &declines,
                time: start.elapsed(),
                up: 0,
                down: 0,
                site: site(),
                packed: take_packed(),
            });
        }
        Some(result)
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
