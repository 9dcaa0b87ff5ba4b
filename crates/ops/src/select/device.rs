//! Elements picked and rows added on a device. Positions were checked in `prepare`; they go up as a
//! vector of their own, and rows take their sources in ascending order, so that no addition meets
//! another.

use super::{masking, taking};
use crate::call::Call;
use crate::decline::{Answer, Decline};
use crate::round_trip::{Made, Placed, RoundTrip, Work};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_kernel::pick::{self, Picked};
use smallvec::SmallVec;

/// a (outer, length, inner), out (outer, positions, inner).
pub(super) fn take_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (axis, positions) = taking(call)?;
    along(call, trip, axis, positions)
}

/// The same at the places that a mask keeps.
pub(super) fn compress_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (axis, mask) = masking(call)?;
    let kept = mask.iter().enumerate().filter(|(_, kept)| **kept);
    let positions: Vec<usize> = kept.map(|(i, _)| i).collect();
    along(call, trip, axis, &positions)
}

fn along(call: &Call, trip: &RoundTrip, axis: usize, positions: &[usize]) -> Result<Answer> {
    let shape = call.operands[0].shape().clone();
    let inner: usize = shape[axis + 1..].iter().product();
    picked(call, trip, positions, |offset| Picked {
        offset,
        outer: shape[..axis].iter().product(),
        positions: positions.len(),
        inner,
        outer_stride: (shape[axis] * inner) as isize,
        along: 0,
        step: inner as isize,
    })
}

/// a (rows, columns), out (rows): one element of each.
pub(super) fn gather_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (_, positions) = taking(call)?;
    let columns = call.operands[0].shape()[1];
    picked(call, trip, positions, |offset| Picked {
        offset,
        outer: 1,
        positions: positions.len(),
        inner: 1,
        outer_stride: 0,
        along: columns as isize,
        step: 1,
    })
}

/// The first operand's elements at positions, of its packed copy.
fn picked(
    call: &Call,
    trip: &RoundTrip,
    positions: &[usize],
    of: impl FnOnce(usize) -> Picked,
) -> Result<Answer> {
    let x = match trip.packed(&call.operands[0])? {
        Ok(packed) => packed,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    let Some(positions) = table(positions)? else { return Ok(Answer::Declined(Decline::TooLong)) };
    let t = x.element_type();
    let kernel = trip.kernel_for(("(pick)", t, "pick"), || pick::kernel(t))?;
    let placed = [trip.place(&x), trip.place(&positions)];
    let launch = pick::launch(&kernel, &of(placed[0].offset()));
    let work = launch.map(|launch| Work::one(launch, 2, t, call.shape.clone()));
    trip.run_work(work, &placed)
}

/// Positions as a kernel reads them; `None` where one does not fit.
pub(crate) fn table(positions: &[usize]) -> Result<Option<Array>> {
    if positions.iter().any(|&p| p > i32::MAX as usize) {
        return Ok(None);
    }
    Array::build::<i32>(Shape::vector(positions.len()), |out| {
        out.iter_mut().zip(positions).for_each(|(o, &p)| *o = p as i32);
    })
    .map(Some)
}

pub(super) fn scatter_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (_, positions) = taking(call)?;
    let operands = [&call.operands[0], &call.operands[1]].map(|x| at_type(trip, x, call.raw));
    let (x, source) = match operands {
        [Ok(Ok(x)), Ok(Ok(source))] => (x, source),
        [Ok(Err(reason)), _] | [_, Ok(Err(reason))] => return Ok(Answer::Declined(reason)),
        [Err(e), _] | [_, Err(e)] => return Err(e),
    };
    let sum = match added_rows(trip, &x, &source, positions)? {
        Ok(sum) => at_type(trip, &sum, call.result)?,
        Err(reason) => Err(reason),
    };
    Ok(sum.map_or_else(Answer::Declined, Answer::Done))
}

/// An array at another type, converted where it lies.
fn at_type(
    trip: &RoundTrip,
    x: &Array,
    to: ElementType,
) -> Result<std::result::Result<Array, Decline>> {
    if x.element_type() == to { Ok(Ok(x.clone())) } else { trip.copy(x, to) }
}

/// x (rows, ...) with row i of the source (positions, ...) added to row `to[i]`, i ascending.
pub(crate) fn added_rows(
    trip: &RoundTrip,
    x: &Array,
    source: &Array,
    to: &[usize],
) -> Result<std::result::Result<Array, Decline>> {
    let packed = match trip.packed(x)? {
        Ok(packed) => packed,
        Err(reason) => return Ok(Err(reason)),
    };
    let shape = x.shape().clone();
    summed(trip, Some(&packed), source, to, shape)
}

/// The sums of elements by their positions in an array of this shape, in the order of the elements.
pub(crate) fn sums(
    trip: &RoundTrip,
    source: &Array,
    to: &[usize],
    shape: &Shape,
) -> Result<Answer> {
    let cells = Shape::vector(shape.size());
    let source = match trip.packed(source)? {
        Ok(packed) => packed.reshape(Shape::vector(source.size()))?,
        Err(reason) => return Ok(Answer::Declined(reason)),
    };
    Ok(match summed(trip, None, &source, to, cells)? {
        Ok(sums) => Answer::Done(sums.reshape(shape.clone())?),
        Err(reason) => Answer::Declined(reason),
    })
}

/// Rows of a shape, each with the rows of the source that go to it added to that of x, or to 0.
fn summed(
    trip: &RoundTrip,
    x: Option<&Array>,
    source: &Array,
    to: &[usize],
    shape: Shape,
) -> Result<std::result::Result<Array, Decline>> {
    let (rows, width) = (shape[0], shape[1..].iter().product::<usize>());
    let source = match trip.packed(source)? {
        Ok(source) => source,
        Err(reason) => return Ok(Err(reason)),
    };
    let (starts, order) = by_row(to, rows);
    // Everything that goes to a row is added by one invocation.
    let longest = starts.windows(2).map(|pair| pair[1] - pair[0]).max();
    if let Some(reason) = trip.ends_loops(longest.unwrap_or(0) + 1) {
        return Ok(Err(reason));
    }
    let (Some(starts), Some(order)) = (table(&starts)?, table(&order)?) else {
        return Ok(Err(Decline::TooLong));
    };
    let t = source.element_type();
    let name = if x.is_some() { "pick add" } else { "pick sum" };
    let make = || pick::adding_kernel(t, x.is_some());
    let kernel = trip.kernel_for(("(pick)", t, name), make)?;
    let placed: SmallVec<[Placed; 4]> =
        x.into_iter().chain([&source, &starts, &order]).map(|a| trip.place(a)).collect();
    let first = placed[0].offset();
    let offsets = if x.is_some() { [first, placed[1].offset()] } else { [0, first] };
    let launch = pick::adding(&kernel, shape.size(), width.max(1), offsets);
    let mut work = Work::default();
    let result = work.make(Made::Result(t, shape));
    let planned = launch.map(|launch| {
        let operands = (0..placed.len()).map(crate::round_trip::Bind::Operand);
        work.stage(launch, operands.chain([result]));
        work
    });
    Ok(trip.results(planned, &placed)?.map(|mut results| results.remove(0)))
}

/// Where each row's sources begin among all, and the sources in ascending order row by row.
fn by_row(to: &[usize], rows: usize) -> (Vec<usize>, Vec<usize>) {
    let mut starts = vec![0; rows + 1];
    to.iter().for_each(|&row| starts[row + 1] += 1);
    for row in 0..rows {
        starts[row + 1] += starts[row];
    }
    let (mut next, mut order) = (starts.clone(), vec![0; to.len()]);
    for (i, &row) in to.iter().enumerate() {
        order[next[row]] = i;
        next[row] += 1;
    }
    (starts, order)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_keep_their_order_inside_each_row() {
        assert_eq!(by_row(&[2, 0, 2, 2], 4), (vec![0, 1, 1, 4, 4], vec![1, 0, 2, 3]));
        assert_eq!(by_row(&[], 2), (vec![0, 0, 0], vec![]));
    }

    #[test]
    fn positions_are_singles_words() {
        assert!(table(&[3, 1 << 31]).unwrap().is_none());
        let t = table(&[3]).unwrap().unwrap();
        assert_eq!(t.element_type(), ElementType::I32);
    }
}
