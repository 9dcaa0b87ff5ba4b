//! Windows over planes on a device: columns for a product, their adjoint, and pools. Nothing is read
//! here; a mean is the fold of each window's elements, which lie side by side in a workspace.

use super::{column_strides, windows_of};
use crate::call::Call;
use crate::decline::Answer;
use crate::round_trip::{Bind, Made, RoundTrip, Work};
use rung_base::{ElementType, Result};
use rung_kernel::fold::{Fold, Slices, Types};
use rung_kernel::windows::{self as kernels, Order};

/// x (batch, channels, height, width), out (batch * oy * ox, channels * ky * kx).
pub(super) fn columns_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (x, windows) = (&call.operands[0], windows_of(call)?);
    let t = x.element_type();
    let kernel = trip.kernel_for(("(windows)", t, "rows"), || kernels::columns(t, Order::Rows))?;
    let placed = trip.place(x);
    let count = call.shape.size();
    let launch = kernels::launch(&kernel, windows, count, placed.offset(), x.strides());
    let work = launch.map(|launch| Work::one(launch, 1, t, call.shape.clone()));
    trip.run_work(work, &[placed])
}

/// Columns, out (batch, channels, height, width).
pub(super) fn planes_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    taken_in(call, trip, false)
}

/// One element a window, of which each element that it reads takes a share.
pub(crate) fn shares_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    taken_in(call, trip, true)
}

fn taken_in(call: &Call, trip: &RoundTrip, shares: bool) -> Result<Answer> {
    let (x, windows) = (&call.operands[0], windows_of(call)?);
    let t = x.element_type();
    let name = if shares { "shares" } else { "planes" };
    let kernel = trip.kernel_for(("(windows)", t, name), || kernels::planes(t, shares))?;
    let placed = trip.place(x);
    let strides = column_strides(x, windows);
    let count = call.shape.size();
    let launch = kernels::launch(&kernel, windows, count, placed.offset(), &strides);
    let work = launch.map(|launch| Work::one(launch, 1, t, call.shape.clone()));
    trip.run_work(work, &[placed])
}

/// x (batch, channels, height, width), values and positions (batch, channels, oy, ox).
pub(crate) fn largest_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (x, windows) = (&call.operands[0], windows_of(call)?);
    let t = x.element_type();
    let kernel = trip.kernel_for(("(windows)", t, "largest"), || kernels::largest(t))?;
    let placed = trip.place(x);
    let count = call.shape.size();
    let launch = kernels::launch(&kernel, windows, count, placed.offset(), x.strides());
    let work = launch.map(|launch| {
        let mut work = Work::default();
        let values = work.make(Made::Result(t, call.shape.clone()));
        let positions = work.make(Made::Result(ElementType::I64, call.shape.clone()));
        work.stage(launch, [Bind::Operand(0), values, positions]);
        work
    });
    trip.run_work(work, &[placed])
}

/// x (batch, channels, height, width), out (batch, channels, oy, ox).
pub(crate) fn means_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (x, windows) = (&call.operands[0], windows_of(call)?);
    let (t, taps, cells) = (x.element_type(), windows.taps(), call.shape.size());
    let kernel =
        trip.kernel_for(("(windows)", t, "planes apart"), || kernels::columns(t, Order::Planes))?;
    let placed = trip.place(x);
    let types = Types { stored: t, wanted: call.wanted(0), writes: call.result };
    let folds = trip.fold_kernels(Fold::Mean, types)?;
    let slices = Slices {
        outer: cells,
        length: taps,
        inner: 1,
        outer_stride: taps as isize,
        stride: 1,
        inner_stride: 1,
        ..Slices::default()
    };
    let planned = || -> Result<Work> {
        let mut work = Work::default();
        let result = work.make(Made::Result(call.result, call.shape.clone()));
        let count = cells.saturating_mul(taps);
        let columns = work.make(Made::Workspace(count.saturating_mul(t.size())));
        let launch = kernels::launch(&kernel, windows, count, placed.offset(), x.strides())?;
        work.stage(launch, [Bind::Operand(0), columns]);
        let mut from = columns;
        let stages = folds.plan(&slices)?;
        let parts = stages.len().saturating_sub(1);
        for (i, stage) in stages.into_iter().enumerate() {
            let to = match i == parts {
                true => result,
                false => work.make(Made::Workspace(stage.output * stage.element.size())),
            };
            work.stage(stage.launch, [from, to]);
            from = to;
        }
        Ok(work)
    };
    trip.run_work(planned(), &[placed])
}
