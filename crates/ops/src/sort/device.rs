//! Sorting on a device: positions in order by a network, and what stands at them.

use crate::call::Call;
use crate::decline::Answer;
use crate::round_trip::{Bind, Made, RoundTrip, Work};
use crate::slices::axis_of;
use rung_base::{ElementType, Result};
use rung_kernel::sort::{Kernels, Slices};
use rung_lanes::sort;

/// a (outer, n, inner), out the elements in order.
pub(super) fn sort_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    sorted(call, trip, true, false)
}

/// a (outer, n, inner), out their positions.
pub(super) fn argsort_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    sorted(call, trip, false, true)
}

/// a (outer, n, inner), out the first k elements and their positions.
pub(super) fn topk_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    sorted(call, trip, true, true)
}

fn sorted(call: &Call, trip: &RoundTrip, values: bool, positions: bool) -> Result<Answer> {
    let (axis, descending) = axis_of(call)?;
    let x = match trip.packed(&call.operands[0])? {
        Ok(packed) => packed,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let placed = trip.place(&x);
    let sort::Slices { outer, length, inner } = sort::Slices::along(x.shape(), axis);
    let slices = Slices { offset: placed.offset(), outer, length, inner };
    let kernels = trip.sort_kernels(x.element_type(), descending)?;
    let work = planned(&kernels, &slices, call, [values, positions]);
    trip.run_work(work, &[placed])
}

fn planned(
    kernels: &Kernels,
    slices: &Slices,
    call: &Call,
    [values, positions]: [bool; 2],
) -> Result<Work> {
    let mut work = Work::default();
    let kept = call.shape.size().checked_div(slices.outer * slices.inner).unwrap_or(0);
    let result = |work: &mut Work, t| work.make(Made::Result(t, call.shape.clone()));
    let of_values = values.then(|| result(&mut work, call.result));
    let of_positions = positions.then(|| result(&mut work, ElementType::I64));
    if call.shape.size() == 0 {
        return Ok(work);
    }
    let count = slices.outer * slices.length * slices.inner;
    let order = work.make(Made::Workspace(count * ElementType::I32.size()));
    for launch in kernels.plan(slices)? {
        work.stage(launch, [Bind::Operand(0), order]);
    }
    if let Some(out) = of_values {
        work.stage(kernels.values(slices, kept)?, [Bind::Operand(0), order, out]);
    }
    if let Some(out) = of_positions {
        work.stage(kernels.positions(slices, kept)?, [Bind::Operand(0), order, out]);
    }
    Ok(work)
}
