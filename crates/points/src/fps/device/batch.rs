//! The clouds of a batch on a device: one launch, a group of invocations for each cloud, which chooses
//! its samples one after another and leaves nothing out: small clouds have little that bounds could.

use super::{BATCH, GROUP};
use crate::fps::{Plan, Wanted, plan};
use crate::{Coordinate, operand};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_kernel::Launch;
use rung_ops::call::Call;
use rung_ops::round_trip::{Bind, Made, RoundTrip, Work};
use rung_ops::{Answer, Decline};
use std::ops::Range;

/// Points of a cloud that one group works on. Not tuned.
const MOST_POINTS: usize = 1 << 16;
/// Numbers that the kernel reads of each cloud: first row, rows, samples, where its starts are and how many.
const RECORD: usize = 5;

/// The device's rung for rows of a call that are clouds, with what is wanted of each.
pub(in crate::fps) fn run<T: Coordinate>(
    call: &Call,
    trip: &RoundTrip,
    clouds: &[(Range<usize>, Wanted)],
) -> Result<Answer> {
    let whole = operand::cloud::<T>(call);
    let plans: Result<Vec<Plan>> = clouds
        .iter()
        .map(|(rows, wanted)| plan(&whole.part(rows.start, rows.len()), wanted))
        .collect();
    let plans = plans?;
    if let Some(reason) = declines(call, trip, clouds, &plans) {
        return Ok(Answer::Declined(reason));
    }
    let rows = call.operands[0].shape()[0];
    let mut takes_part = vec![T::INFINITY; rows];
    let mut records = vec![0; clouds.len() * RECORD];
    for (number, ((part, _), plan)) in clouds.iter().zip(&plans).enumerate() {
        if let Some(mask) = plan.mask {
            let least = takes_part[part.clone()].iter_mut().zip(mask);
            least.filter(|(_, is_in)| !**is_in).for_each(|(least, _)| *least = T::GONE);
        }
        let record = [part.start, part.len(), plan.count, records.len(), plan.start.len()];
        // Below 2^31, as `declines` has it.
        let places = &mut records[number * RECORD..][..RECORD];
        places.iter_mut().zip(record).for_each(|(to, n)| *to = n as i32);
        records.extend(plan.start.iter().map(|&start| start as i32));
    }
    let (takes_part, records) = (Array::vector(&takes_part)?, Array::vector(&records)?);
    let placed = [&call.operands[0], &takes_part, &records].map(|array| trip.place(array));
    let t = T::TYPE;
    let kernel = trip.kernel_for((BATCH.name, t, "points"), || Ok(BATCH.kernel(t)))?;
    let most = call.shape[1];
    let offsets = placed.each_ref().map(|p| p.offset() as u32);
    let parameters = [&[call.operands[0].shape()[1] as u32, most as u32], &offsets[..]].concat();
    let launch = Launch { kernel, parameters, groups: [clouds.len() as u32, 1, 1] };
    let mut work = Work::default();
    let indices = work.make(Made::Result(ElementType::I64, call.shape.clone()));
    let radii = work.make(Made::Result(t, call.shape.clone()));
    let covering = work.make(Made::Result(t, Shape::vector(clouds.len())));
    let least = work.make(Made::Workspace(rows * t.size()));
    let operands = [0, 1, 2].map(Bind::Operand);
    work.stage(launch, operands.into_iter().chain([least, indices, radii, covering]));
    trip.run_work(Ok(work), &placed)
}

fn declines(
    call: &Call,
    trip: &RoundTrip,
    clouds: &[(Range<usize>, Wanted)],
    plans: &[Plan],
) -> Option<Decline> {
    if clouds.iter().any(|(_, wanted)| wanted.radius.is_some()) {
        let text = "a radius ends a run at a sample that only its results know";
        return Some(Decline::NoKernel(text));
    }
    let samples = plans.iter().map(|plan| plan.count).max().unwrap_or(0);
    if samples == 0 {
        return Some(Decline::NoKernel("no sample is asked for"));
    }
    let largest = clouds.iter().map(|(rows, _)| rows.len()).max().unwrap_or(0);
    if largest > MOST_POINTS {
        let text = format!("a cloud of {largest} points in a batch: {MOST_POINTS} at most");
        return Some(Decline::Device(text.into()));
    }
    let starts: usize = plans.iter().map(|plan| plan.start.len()).sum();
    let columns = call.operands[0].shape()[1];
    let numbers = [call.operands[0].size(), call.shape.size(), clouds.len() * RECORD + starts];
    if numbers.iter().any(|&count| count >= 1 << 31) {
        return Some(Decline::TooLong);
    }
    // The points of an invocation with their axes, and eight halvings, for each sample.
    let points = largest.div_ceil(GROUP);
    trip.ends_loops((samples + 1).saturating_mul(points * (columns + 1) + 8))
}
