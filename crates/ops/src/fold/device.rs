//! Folds on a device: in the order of `rung_math::fold`, over the axes wherever they are, with the
//! result narrowed where it is computed.

use super::{axes_of, folded_count};
use crate::call::{Call, Detail};
use crate::decline::{Answer, Decline};
use crate::round_trip::{Bind, Made, RoundTrip, Work};
use rung_array::Array;
use rung_base::{ElementType, Result};
use rung_kernel::fold::{Fold, Kernels, Slices, Types};
use rung_kernel::position::Seek;
use smallvec::SmallVec;

/// The operand with its folded axes side by side, and how it lies: (outer, n, inner).
fn lying(call: &Call, trip: &RoundTrip) -> Result<std::result::Result<(Array, Slices), Decline>> {
    let (axes, length, x) = (axes_of(call)?, folded_count(call)?, &call.operands[0]);
    let neighbours = axes.windows(2).all(|pair| pair[0] + 1 == pair[1]);
    let (x, first) = match (neighbours, axes) {
        (true, [first, ..]) => (x.clone(), *first),
        // Every element is a slice of its own.
        (_, []) => (x.clone(), x.rank()),
        _ => {
            let kept = (0..x.rank()).filter(|axis| !axes.contains(axis));
            let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
            (x.transpose(&order)?, x.rank() - axes.len())
        }
    };
    let x = match trip.packed(&x)? {
        Ok(packed) => packed,
        Err(reason) => return Ok(Err(reason)),
    };
    let inner: usize = x.shape()[first + axes.len()..].iter().product();
    let slices = Slices {
        offset: trip.place(&x).offset(),
        outer: x.shape()[..first].iter().product(),
        length,
        inner,
        outer_stride: (length * inner) as isize,
        stride: inner as isize,
        inner_stride: 1,
    };
    Ok(Ok((x, slices)))
}

/// x folded over the call's axes.
pub(crate) fn device(call: &Call, trip: &RoundTrip, fold: Fold) -> Result<Answer> {
    let (x, slices) = match lying(call, trip)? {
        Ok(lying) => lying,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let (stored, wanted) = (x.element_type(), call.wanted(0));
    let types = |writes| Types { stored, wanted, writes };
    let mut work = Work::default();
    let mut planned = || -> Result<()> {
        let mut reads: SmallVec<[Bind; 2]> = SmallVec::from_slice(&[Bind::Operand(0)]);
        let mut divisor = slices.length;
        if fold.is_centred() {
            let kernels = trip.fold_kernels(Fold::Mean, types(ElementType::F64))?;
            let bytes = slices.outer * slices.inner * size_of::<f64>();
            let made = Made::Workspace(bytes);
            reads.push(add(&mut work, &kernels, &slices, divisor, &reads, made)?);
            divisor = (slices.length as i64).saturating_sub(ddof(call)).max(0) as usize;
        }
        let kernels = trip.fold_kernels(fold, types(call.result))?;
        let made = Made::Result(call.result, call.shape.clone());
        add(&mut work, &kernels, &slices, divisor, &reads, made).map(drop)
    };
    let planned = planned();
    trip.run_work(planned.map(|()| work), &[trip.place(&x)])
}

fn ddof(call: &Call) -> i64 {
    match call.detail {
        Detail::Statistic { parameter, .. } => parameter,
        _ => 0,
    }
}

/// Adds the launches of a fold of `reads`; the last writes what is `made`.
fn add(
    work: &mut Work,
    kernels: &Kernels,
    slices: &Slices,
    divisor: usize,
    reads: &[Bind],
    made: Made,
) -> Result<Bind> {
    let stages = kernels.plan_over(slices, divisor)?;
    let mut reads: SmallVec<[Bind; 2]> = SmallVec::from_slice(reads);
    let parts = stages.len().saturating_sub(1);
    let mut stages = stages.into_iter();
    for stage in stages.by_ref().take(parts) {
        let part = work.make(Made::Workspace(stage.output * stage.element.size()));
        work.stage(stage.launch, reads.iter().copied().chain([part]));
        reads = SmallVec::from_slice(&[part]);
    }
    let result = work.make(made);
    if let Some(last) = stages.next() {
        work.stage(last.launch, reads.into_iter().chain([result]));
    }
    Ok(result)
}

/// The index along the call's axes of the element that is looked for.
pub(crate) fn position_device(call: &Call, trip: &RoundTrip, seek: Seek) -> Result<Answer> {
    let (x, slices) = match lying(call, trip)? {
        Ok(lying) => lying,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let kernels = trip.position_kernels(seek, x.element_type(), call.result)?;
    let work = kernels.plan(&slices).map(|stages| {
        let (mut work, mut candidates) = (Work::default(), None);
        let count = stages.len();
        for (i, stage) in stages.into_iter().enumerate() {
            let made = match i + 1 == count {
                true => Made::Result(call.result, call.shape.clone()),
                false => Made::Workspace(stage.bytes),
            };
            let made = work.make(made);
            let reads = [Bind::Operand(0)].into_iter().chain(candidates).chain([made]);
            work.stage(stage.launch, reads);
            candidates = Some(made);
        }
        if count == 0 {
            work.make(Made::Result(call.result, call.shape.clone()));
        }
        work
    });
    trip.run_work(work, &[trip.place(&x)])
}
