//! Numbers placed among ascending ones on a device.

use super::{flag, outside};
use crate::call::{Call, Detail};
use crate::decline::{Answer, Decline};
use crate::round_trip::{Bind, Made, Placed, RoundTrip, Work};
use crate::select::sums;
use rung_array::Array;
use rung_base::{ElementType, Result};
use rung_kernel::locate;

/// The call's operands in row-major order and at the types that the call wants, where they lie.
fn packed_operands(
    call: &Call,
    trip: &RoundTrip,
) -> Result<std::result::Result<Vec<Array>, Decline>> {
    let mut all = Vec::with_capacity(call.operands.len());
    for (i, x) in call.operands.iter().enumerate() {
        let ready = match x.element_type() == call.wanted(i) {
            true => trip.packed(x)?,
            false => trip.copy(x, call.wanted(i))?,
        };
        match ready {
            Ok(x) => all.push(x),
            Err(reason) => return Ok(Err(reason)),
        }
    }
    Ok(Ok(all))
}

/// v and x, out where each x goes.
pub(super) fn search_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let all = match packed_operands(call, trip)? {
        Ok(all) => all,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let t = all[0].element_type();
    let name = if flag(call) { "after" } else { "before" };
    let kernel = trip.kernel_for(("(locate)", t, name), || locate::places(t, flag(call)))?;
    let [v, x] = [trip.place(&all[0]), trip.place(&all[1])];
    let offsets = [x.offset(), v.offset()];
    let launch = locate::places_launch(&kernel, call.shape.size(), offsets, all[0].size());
    let work = launch.map(|launch| {
        let mut work = Work::default();
        let result = work.make(Made::Result(ElementType::I64, call.shape.clone()));
        work.stage(launch, [Bind::Operand(1), Bind::Operand(0), result]);
        work
    });
    trip.run_work(work, &[v, x])
}

/// a and edges, out how many lie in each bin; or with weights beside a, their sums in its order.
pub(super) fn bins_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let all = match packed_operands(call, trip)? {
        Ok(all) => all,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    if let [x, edges, weights] = &all[..] {
        return weighed(call, trip, [x, edges, weights]);
    }
    let bins = locate::Bins::new(all[0].element_type())?;
    let placed = [trip.place(&all[0]), trip.place(&all[1])];
    let offsets = [placed[0].offset(), placed[1].offset()];
    let plan = bins.plan(all[0].size(), offsets, all[1].size());
    trip.run_work(plan.map(|plan| counted(call, plan, &placed)), &placed)
}

/// The launches of a histogram of operands.
fn counted(call: &Call, plan: locate::BinsPlan, operands: &[Placed]) -> Work {
    let mut work = Work::default();
    let result = work.make(Made::Result(ElementType::I64, call.shape.clone()));
    let counts = work.make(Made::Workspace(call.shape.size() * ElementType::I32.size()));
    work.stage(plan.zeros, [counts]);
    work.stage(plan.counts, (0..operands.len()).map(Bind::Operand).chain([counts]));
    work.stage(plan.results, [counts, result]);
    work
}

/// a of integers, out how often each index of it occurs.
pub(super) fn tally_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let x = match trip.packed(&call.operands[0])? {
        Ok(x) => x,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let (bins, placed) = (locate::Bins::of_wholes(x.element_type())?, [trip.place(&x)]);
    let plan = bins.plan_of_wholes(x.size(), placed[0].offset(), call.shape.size());
    trip.run_work(plan.map(|plan| counted(call, plan, &placed)), &placed)
}

/// x, edges and the weights beside x, out their sums by bins.
fn weighed(call: &Call, trip: &RoundTrip, all: [&Array; 3]) -> Result<Answer> {
    let count = all[0].size();
    // A bin is made by one invocation, which looks at every element.
    if let Some(reason) = trip.ends_loops(2 * count) {
        return Ok(Answer::Declined(reason));
    }
    let kernels = locate::Weights::new(all[0].element_type())?;
    let placed = all.map(|x| trip.place(x));
    let (count, offsets) = (count, [0, 1, 2].map(|i: usize| placed[i].offset()));
    let work = kernels.plan(count, offsets, all[1].size()).map(|plan| {
        let mut work = Work::default();
        let result = work.make(Made::Result(ElementType::F64, call.shape.clone()));
        let found = work.make(Made::Workspace(count * ElementType::I32.size()));
        work.stage(plan.found, [Bind::Operand(0), Bind::Operand(1), found]);
        work.stage(plan.sums, [found, Bind::Operand(2), result]);
        work
    });
    trip.run_work(work, &placed)
}

/// Weights, out their sums by the integers beside them, which the call has read.
pub(super) fn bincount_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let Detail::Take { positions, .. } = &call.detail else {
        return Ok(Answer::Declined(Decline::NoKernel("nothing to count")));
    };
    let weights = match packed_operands(call, trip)? {
        Ok(weights) => weights,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    match &weights[..] {
        [weights] => sums(trip, weights, positions, &call.shape),
        _ => Ok(Answer::Declined(Decline::NoKernel("its integers are read here"))),
    }
}

/// x, xp and fp, out the line through the samples at each x.
pub(super) fn interp_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let all = match packed_operands(call, trip)? {
        Ok(all) => all,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let (t, (left, right)) = (all[0].element_type(), outside(call));
    let key = match call.result {
        ElementType::F32 => "lines to f32",
        ElementType::BF16 => "lines to bf16",
        ElementType::F16 => "lines to f16",
        _ => "lines",
    };
    let writes = if key == "lines" { ElementType::F64 } else { call.result };
    let kernel = trip.kernel_for(("(locate)", t, key), || locate::lines(t, writes))?;
    let placed = [trip.place(&all[0]), trip.place(&all[1]), trip.place(&all[2])];
    let offsets = [0, 1, 2].map(|i: usize| placed[i].offset());
    let count = call.shape.size();
    let launch = locate::lines_launch(&kernel, count, offsets, all[1].size(), [left, right]);
    let work = launch.map(|launch| Work::one(launch, 3, writes, call.shape.clone()));
    trip.run_work(work, &placed)
}
