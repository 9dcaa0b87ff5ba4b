//! Transforms on a device: lines of a power of two points, in passes that sort as they go, and others
//! by convolution with a chirp. The order of additions is not the kept library's, so the bits differ
//! within the bound of the class.

use super::{Form, Transform, ordered};
use crate::call::{Call, Detail};
use crate::decline::{Answer, Decline};
use crate::round_trip::{Bind, Made, Placed, RoundTrip, Work};
use rung_array::Array;
use rung_base::{ElementType, Result};
use rung_dense::fourier::Direction;
use rung_kernel::broadcast::View;
use rung_kernel::fourier::{self, Holds, Lines, Plan, Table};
use smallvec::SmallVec;

pub(super) fn run(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let Detail::Transform(t) = &call.detail else {
        return Ok(Answer::Declined(Decline::NoKernel("it was prepared for something else")));
    };
    if call.shape.size() == 0 {
        return Array::zeros(call.raw, call.shape.clone()).map(Answer::Done);
    }
    // As many as there are points, and more: what no word counts declines before its tables are made.
    let Ok(plan) = trip.fourier_kernels(call.result)?.plan(&lines_of(call, t)) else {
        return Ok(Answer::Declined(Decline::TooLong));
    };
    let turns = trip.turns(fourier::passed(t.n))?;
    let chirps = match t.n.is_power_of_two() {
        true => None,
        false => Some(trip.chirps(t.n)?),
    };
    let tables = std::iter::once(&turns).chain(chirps.iter().flatten());
    let placed: SmallVec<[Placed; 4]> =
        call.operands[..1].iter().chain(tables).map(|x| trip.place(x)).collect();
    let from = View { offset: placed[0].offset(), strides: placed[0].strides() };
    let work = planned(call, trip, t, plan, from);
    Ok(match trip.run_work(work, &placed)? {
        // Laid as on the other rungs.
        Answer::Done(lines) => match trip.packed(&lines.transpose(&t.back)?)? {
            Ok(packed) => Answer::Done(packed),
            Err(reason) => Answer::Declined(reason),
        },
        other => other,
    })
}

fn lines_of(call: &Call, t: &Transform) -> Lines {
    let pairs = t.form.pairs_out();
    let points = t.form.points_out(t.n);
    Lines {
        count: call.shape.size() / (points * if pairs { 2 } else { 1 }),
        n: t.n,
        holds: match t.form {
            Form::Complex => Holds::Pairs,
            Form::FromReal | Form::RealForward => Holds::Numbers,
            Form::RealBackward => Holds::Bins,
        },
        have: t.have,
        backward: t.direction == Direction::Backward,
        points,
        pairs,
        scale: t.scale,
    }
}

/// Over the operand through this view, and the tables after it.
fn planned(call: &Call, trip: &RoundTrip, t: &Transform, plan: Plan, from: View) -> Result<Work> {
    let (lines, operand) = (lines_of(call, t), &call.operands[0]);
    let mut work = Work::default();
    let out = work.make(Made::Result(call.result, ordered(t, call)?));
    let double = ElementType::F64;
    let packed = work.make(Made::Workspace(operand.size() * double.size()));
    let space = lines.count * fourier::passed(lines.n) * 2 * double.size();
    let [mut here, mut there] = [(); 2].map(|()| work.make(Made::Workspace(space)));
    if let Some(launch) = trip.gathered(operand.element_type(), double, operand.shape(), from)? {
        work.stage(launch, [Bind::Operand(0), packed]);
    }
    work.stage(plan.points, [packed, here]);
    for (pass, table) in plan.passes {
        let table = match table {
            Table::Turns => 1,
            Table::Chirp => 2,
            Table::Spectrum => 3,
        };
        work.stage(pass, [here, Bind::Operand(table), there]);
        (here, there) = (there, here);
    }
    work.stage(plan.out, [here, out]);
    Ok(work)
}
