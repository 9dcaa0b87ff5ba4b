//! Elements picked and put by position or mask: take-rows, gather, take, compress, scatter-add,
//! nonzero, argwhere.
//!
//! Positions are checked and counted from the start in `prepare`, so no kernel can meet a wrong
//! one. What a mask keeps decides the result's shape, so masks are read there as well.

use crate::arguments::{Arguments, Operand};
use crate::call::{Call, Context, Detail, Prepared, bytes_of, elements, types_of, waiting};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{Definition, Family, Kind, Offer, Op, Rungs, keyword, required};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::slices::{along, each_slice, with_extent};
use crate::value::Value;
use rung_array::Array;
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, memory, with_element};
use rung_lanes::sort::Slices;
use rung_lanes::{Lanes, gather as drivers, scatter as scatters};
use rung_math::accumulate::{Accumulate, scatter};
use smallvec::smallvec;

mod device;

pub(crate) use device::{added_rows, sums, table};
use device::{compress_device, gather_device, scatter_device, take_device};

pub const OPS: &[Op] = &[
    Op {
        names: &["take-rows"],
        doc: "The rows at the given indices of the first axis; they may repeat, and count from \
              the end when negative.",
        parameters: &[required("a", Kind::Array), required("indices", Kind::Index)],
        result: "an array of a's type: the indices' shape, then a's other axes",
        prepare: take_rows,
        rungs: rungs(take_portable, take_lanes, take_device),
        samples: || {
            vec![
                vec![samples::hard(&[7, 5], 1.0), indices(&[6, 0, 0, -2])],
                vec![samples::spread(&[9], 1.0), samples::counting(&[2, 3], 9)],
                vec![samples::spread(&[3, 4], 1.0), indices(&[])],
                vec![samples::spread(&[3, 4], 1.0), samples::integer(-1)],
                vec![samples::spread(&[40, 5], 1.0), samples::counting(&[20_000], 40)],
            ]
        },
        example: "(la:take-rows #d((1 2) (3 4)) '(1 0 -1)) => #d((3.0 4.0) (1.0 2.0) (3.0 4.0))",
        ..Op::BASE
    },
    Op {
        names: &["gather"],
        doc: "One element of each row of a matrix, at an index that may count from the end.",
        parameters: &[required("a", Kind::Array), required("indices", Kind::Index)],
        result: "a vector of a's type",
        prepare: gather,
        rungs: rungs(gather_portable, gather_lanes, gather_device),
        samples: || {
            vec![
                vec![samples::hard(&[4, 5], 1.0), indices(&[4, 0, -1, -5])],
                vec![samples::spread(&[300, 7], 1.0), samples::counting(&[300], 7)],
                vec![samples::spread(&[0, 3], 1.0), indices(&[])],
            ]
        },
        example: "(la:gather #2A((10 11 12) (20 21 22)) #(2 0)) => #d(12.0 20.0)",
        ..Op::BASE
    },
    Op {
        names: &["take"],
        doc: "The elements at the given indices of an axis, or of all elements in row-major \
              order; they may repeat, and count from the end when negative.",
        parameters: &[
            required("a", Kind::Array),
            required("indices", Kind::Index),
            keyword("axis", Kind::Integer),
        ],
        result: "an array of a's type with the indices' shape in place of the axis",
        prepare: take,
        rungs: rungs(take_portable, take_lanes, take_device),
        samples: || {
            let axis = |n| [samples::word("axis"), samples::integer(n)].to_vec();
            let of = |shape: &[usize], i: Value| vec![samples::hard(shape, 1.0), i];
            vec![
                of(&[30], indices(&[29, 3, -30])),
                of(&[5, 7], samples::counting(&[2, 2], 35)),
                of(&[5, 7], samples::integer(8)),
                [of(&[5, 7], indices(&[6, -7, 0])), axis(1)].concat(),
                [of(&[3, 5, 4], samples::counting(&[2, 3], 5)), axis(1)].concat(),
                [of(&[3, 5, 4], samples::integer(2)), axis(-1)].concat(),
                [of(&[3, 5, 40], indices(&[])), axis(0)].concat(),
                [of(&[9, 90, 30], samples::counting(&[33], 90)), axis(1)].concat(),
            ]
        },
        example: "(la:take #d((1 2 3) (4 5 6)) '(2 0) :axis 1) => #d((3.0 1.0) (6.0 4.0))",
        ..Op::BASE
    },
    Op {
        names: &["compress"],
        doc: "What a mask keeps along an axis, or of all elements in row-major order: where it is \
              not zero (NaN is not).",
        parameters: &[
            required("mask", Kind::Array),
            required("a", Kind::Array),
            keyword("axis", Kind::Integer),
        ],
        result: "an array of a's type; a vector without an axis",
        prepare: compress,
        rungs: rungs(compress_portable, compress_lanes, compress_device),
        beside: Some(|call, _| bytes_of(&call.operands)),
        samples: || {
            let axis = |n| [samples::word("axis"), samples::integer(n)].to_vec();
            let mask = |shape: &[usize]| samples::counting(shape, 3);
            vec![
                vec![samples::hard(&[40], 1.0), samples::spread(&[40], 1.0)],
                vec![mask(&[5, 7]), samples::spread(&[5, 7], 1.0)],
                [vec![mask(&[7]), samples::spread(&[5, 7], 1.0)], axis(1)].concat(),
                [vec![mask(&[5]), samples::hard(&[5, 7, 2], 1.0)], axis(0)].concat(),
                vec![mask(&[80_000]), samples::spread(&[80_000], 1.0)],
            ]
        },
        example: "(la:compress #(1 0 1) #d(5 6 7)) => #d(5.0 7.0)",
        ..Op::BASE
    },
    Op {
        names: &["scatter-add"],
        doc: "A copy of a in which row i of the source is added to the row that the i-th index \
              names, in ascending i and with one rounding a step; the source broadcasts.",
        parameters: &[
            required("a", Kind::Array),
            required("indices", Kind::Index),
            required("source", Kind::Operand),
        ],
        result: "an array of a's shape",
        prepare: scatter_add,
        rungs: rungs(scatter_portable, scatter_lanes, scatter_device),
        samples: || {
            vec![
                vec![samples::hard(&[9], 1.0), indices(&[8, 0, 0, -1]), samples::spread(&[4], 1.0)],
                vec![
                    samples::spread(&[9], 1.0),
                    samples::counting(&[900], 9),
                    samples::number(0.1),
                ],
                vec![
                    samples::spread(&[5, 20], 1.0),
                    samples::counting(&[2, 30], 5),
                    samples::spread(&[2, 30, 20], 1.0),
                ],
                vec![
                    samples::spread(&[5, 3], 1.0),
                    samples::counting(&[30], 5),
                    samples::spread(&[3], 1.0),
                ],
                vec![samples::spread(&[5, 3], 1.0), indices(&[]), samples::spread(&[3], 1.0)],
                vec![
                    samples::spread(&[50, 64], 1.0),
                    samples::counting(&[2000], 50),
                    samples::spread(&[2000, 64], 1.0),
                ],
            ]
        },
        example: "(la:scatter-add #d(0 0 0) '(2 0 2) #d(1 2 3)) => #d(2.0 0.0 4.0)",
        ..Op::BASE
    },
    Op {
        names: &["nonzero"],
        doc: "Where an array is not zero (NaN is not): for each axis the vector of indices, in \
              row-major order.",
        parameters: &[required("a", Kind::Array)],
        result: "a list of vectors of (signed-byte 64), one for each axis",
        prepare: |_, mut a, _| Ok(Prepared::Done(vec![nonzero(&a.array(0)?)?])),
        rungs: Rungs::none(READS_ONCE),
        samples: wheres,
        example: "(la:nonzero #d((0 5) (6 0))) => (#(0 1) #(1 0))",
        ..Op::BASE
    },
    Op {
        names: &["argwhere"],
        doc: "The indices of the elements that are not zero (NaN is not), one row for each.",
        parameters: &[required("a", Kind::Array)],
        result: "an array (n, rank) of (signed-byte 64)",
        prepare: |_, mut a, _| Ok(Prepared::Done(vec![argwhere(&a.array(0)?)?.into()])),
        rungs: Rungs::none(READS_ONCE),
        samples: wheres,
        example: "(la:argwhere #d((0 5) (6 0))) => #2A((0 1) (1 0))",
        ..Op::BASE
    },
];

type Portable = fn(&Call) -> Result<Array>;
type LanesKernel = fn(&Call, &Lanes) -> Result<Answer>;
type DeviceKernel = fn(&Call, &RoundTrip) -> Result<Answer>;

/// A device takes them where the array is.
const fn rungs(portable: Portable, lanes: LanesKernel, device: DeviceKernel) -> Rungs {
    Rungs::with_device(Definition::One(portable), lanes, Offer::ResidentOnly, device)
}

const READS_ONCE: &str = "what it finds decides its shape, so it is finished while it is checked";

fn indices(n: &[i64]) -> Value {
    Value::List(n.iter().map(|&i| Value::integer(i)).collect())
}

fn wheres() -> Vec<samples::Sample> {
    const SHAPES: [&[usize]; 5] = [&[40], &[0], &[], &[3, 5], &[2, 3, 4]];
    let both = |shape: &&[usize]| [samples::hard(shape, 1.0), samples::counting(shape, 3)];
    SHAPES.iter().flat_map(both).map(|x| vec![x]).collect()
}

/// Indices checked against an axis and counted from its start.
pub(crate) fn positions(indices: &[i64], extent: usize, what: &str) -> Result<Vec<usize>> {
    let end = extent as i64;
    if let Some(bad) = indices.iter().find(|&&i| i >= end || i < -end) {
        let text = format!("{what} index out of range: {bad} for an axis of {extent}");
        return Err(Error::new(ErrorKind::Index, text));
    }
    let position = |&i: &i64| if i < 0 { i + end } else { i } as usize;
    memory::collected(indices.iter().map(position), || format!("{} indices", indices.len()))
}

fn take_rows(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let index = arguments.index(1)?;
    if a.rank() == 0 {
        return Err(Error::new(ErrorKind::Shape, "take-rows expects an array with an axis"));
    }
    taken(op, a, 0, index)
}

fn take(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, index) = (arguments.array(0)?, arguments.index(1)?);
    let (a, axis) = along(a, arguments.optional_integer(2)?)?;
    taken(op, a, axis, index)
}

/// a at the indices of an axis; one element comes back as a number.
fn taken(
    op: &'static Op,
    a: Array,
    axis: usize,
    (indices, shape): (Vec<i64>, Shape),
) -> Result<Prepared> {
    let positions = positions(&indices, a.shape()[axis], op.name())?;
    let (before, after) = (&a.shape()[..axis], &a.shape()[axis + 1..]);
    let shape = Shape::new(before.iter().chain(shape.iter()).chain(after).copied())?;
    let units = shape.size() as u64;
    let t = a.element_type();
    let call = Call::like(op, a, t, Family::Copy);
    let to_number = shape.rank() == 0;
    let detail = Detail::Take { axis, positions };
    Ok(Prepared::Call(Box::new(Call { shape, units, to_number, detail, ..call })))
}

fn taking(call: &Call) -> Result<(usize, &[usize])> {
    match &call.detail {
        Detail::Take { axis, positions } => Ok((*axis, positions)),
        _ => Err(Error::new(ErrorKind::Internal, "nothing to take")),
    }
}

/// a (outer, length, inner), out (outer, positions, inner).
fn take_portable(call: &Call) -> Result<Array> {
    let (x, (axis, positions)) = (&call.operands[0], taking(call)?);
    let shape = with_extent(x.shape(), axis, positions.len())?;
    let taken = with_element!(call.raw, T => each_slice::<T, T>(x, axis, &shape, |x, out| {
        out.iter_mut().zip(positions).for_each(|(out, &p)| *out = x[p]);
    }))?;
    taken.reshape(call.shape.clone())
}

fn take_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, (axis, positions)) = (packed(&call.operands[0])?, taking(call)?);
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let slices = Slices::along(x.shape(), axis);
        drivers::take(lanes, x.as_slice::<T>().unwrap_or(&[]), slices, positions, out);
    }))
    .map(Answer::Done)
}

fn gather(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, (indices, _)) = (arguments.array(0)?, arguments.index(1)?);
    let [rows, columns] = a.shape()[..] else {
        return Err(Error::wanted(ErrorKind::Shape, "gather expects a matrix", a.shape()));
    };
    if indices.len() != rows {
        let text = "gather index length must match the rows";
        return Err(Error::new(ErrorKind::Shape, format!("{text}: {} and {rows}", indices.len())));
    }
    let positions = positions(&indices, columns, "gather").map_err(|_| {
        let bad = indices.iter().find(|&&i| i >= columns as i64 || i < -(columns as i64));
        let bad = bad.map_or_else(String::new, ToString::to_string);
        let text = format!("gather out of range: {bad} for rows of {columns}");
        Error::new(ErrorKind::Index, text)
    })?;
    let (shape, t) = (Shape::vector(rows), a.element_type());
    let call = Call::like(op, a, t, Family::Copy);
    let detail = Detail::Take { axis: 1, positions };
    Ok(Prepared::Call(Box::new(Call { shape, units: rows as u64, detail, ..call })))
}

fn gather_portable(call: &Call) -> Result<Array> {
    let (x, (_, positions)) = (&call.operands[0], taking(call)?);
    let width = x.shape()[1];
    with_element!(call.raw, T => {
        let x = elements::<T>(x)?;
        Array::build::<T>(call.shape.clone(), |out| {
            let rows = out.iter_mut().zip(positions).enumerate();
            rows.for_each(|(row, (out, p))| *out = x[row * width + p]);
        })
    })
}

fn gather_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, (_, positions)) = (packed(&call.operands[0])?, taking(call)?);
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let elements = x.as_slice::<T>().unwrap_or(&[]);
        drivers::one_each(lanes, elements, x.shape()[1], positions, out);
    }))
    .map(Answer::Done)
}

/// Which elements are not zero, in row-major order; NaN is not.
fn truths(a: &Array) -> Result<Vec<bool>> {
    a.home()?;
    with_element!(a.element_type(), T => {
        let zero = T::default();
        let what = || format!("which of {} elements are not zero", a.size());
        match a.as_slice::<T>() {
            Some(x) => memory::collected(x.iter().map(|x| *x != zero), what),
            None => memory::collected(elements::<T>(a)?.iter().map(|x| *x != zero), what),
        }
    })
}

fn compress(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (mask, a) = (arguments.array(0)?, arguments.array(1)?);
    let axis = arguments.optional_integer(2)?;
    let (a, axis) = along(a, axis)?;
    let extent = a.shape()[axis];
    if mask.size() != extent {
        let text = format!("compress mask must match the axis: {} and {extent}", mask.shape());
        let hint = "without :axis the elements count as one row, in row-major order";
        return Err(Error::new(ErrorKind::Shape, text).hint(hint));
    }
    let mask = truths(&mask)?;
    let kept = mask.iter().filter(|kept| **kept).count();
    let (shape, t) = (with_extent(a.shape(), axis, kept)?, a.element_type());
    let call = Call::like(op, a, t, Family::Copy);
    let detail = Detail::Mask { axis, mask };
    Ok(Prepared::Call(Box::new(Call { shape, detail, ..call })))
}

fn masking(call: &Call) -> Result<(usize, &[bool])> {
    match &call.detail {
        Detail::Mask { axis, mask } => Ok((*axis, mask)),
        _ => Err(Error::new(ErrorKind::Internal, "nothing to keep")),
    }
}

fn compress_portable(call: &Call) -> Result<Array> {
    let (axis, mask) = masking(call)?;
    with_element!(call.raw, T => {
        each_slice::<T, T>(&call.operands[0], axis, &call.shape, |x, out| {
            let kept = x.iter().zip(mask).filter(|(_, kept)| **kept);
            out.iter_mut().zip(kept).for_each(|(out, (x, _))| *out = *x);
        })
    })
}

fn compress_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, (axis, mask)) = (packed(&call.operands[0])?, masking(call)?);
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let slices = Slices::along(x.shape(), axis);
        drivers::compress(lanes, x.as_slice::<T>().unwrap_or(&[]), slices, mask, out);
    }))
    .map(Answer::Done)
}

fn scatter_add(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, (indices, shape)) = (arguments.array(0)?, arguments.index(1)?);
    let source = arguments.operand(2)?;
    if a.rank() == 0 {
        return Err(Error::new(ErrorKind::Shape, "scatter-add expects an array with an axis"));
    }
    let positions = positions(&indices, a.shape()[0], "scatter-add")?;
    let types = types_of(&[Operand::Array(a.clone()), source.clone()]);
    // Half widths among themselves are added at their own width, step by step.
    let half = types.compute == ElementType::F32
        && types.result != ElementType::F32
        && match &source {
            Operand::Array(source) => source.element_type() == types.result,
            Operand::Number(_) => true,
        };
    let raw = if half { types.result } else { types.compute };
    let source = crate::call::laid(source, crate::call::Types { compute: raw, ..types })?;
    let wanted = Shape::new(shape.iter().chain(&a.shape()[1..]).copied())?;
    let source = source.broadcast_to(&wanted)?;
    let given = smallvec![a.shape().clone(), source.shape().clone()];
    let call = Call::like(op, waiting(&a, raw)?, types.result, Family::Copy);
    let operands = smallvec![call.operands[0].clone(), source];
    let detail = Detail::Take { axis: 0, positions };
    let call = Call { given, operands, raw, detail, ..call }.at_types(&[raw; 2]);
    Ok(Prepared::Call(Box::new(call)))
}

/// The source for a scatter: rows of a's width.
fn scattered<T: Element + Accumulate>(
    call: &Call,
    add: impl Fn(&mut [T], usize, &[usize], &[T]),
) -> Result<Array> {
    let (_, positions) = taking(call)?;
    let source = packed(&call.operands[1])?;
    let width = call.shape[1..].iter().product();
    let mut out = call.operands[0].clone();
    let cells = out.make_mut::<T>()?;
    if width > 0 {
        add(cells, width, positions, source.as_slice::<T>().unwrap_or(&[]));
    }
    Ok(out)
}

fn scatter_portable(call: &Call) -> Result<Array> {
    with_element!(call.raw, T => scattered::<T>(call, scatter))
}

fn scatter_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    with_element!(call.raw, T => scattered::<T>(call, |out, width, to, source| {
        scatters::scatter(lanes, out, width, to, source);
    }))
    .map(Answer::Done)
}

/// The row-major positions of the elements that are not zero.
fn found(a: &Array) -> Result<Vec<usize>> {
    let mask = truths(a)?;
    let count = mask.iter().filter(|kept| **kept).count();
    // One place more than is kept: the last element is written before it is judged.
    let wanted = || format!("the positions of {count} elements");
    let (mut found, mut next) = (memory::filled(count + 1, 0, wanted)?, 0);
    for (position, kept) in mask.into_iter().enumerate() {
        found[next] = position;
        next += kept as usize;
    }
    found.truncate(count);
    Ok(found)
}

/// For each axis the indices of the elements that are not zero: `nonzero`, and `where` of one
/// argument.
pub(crate) fn nonzero(a: &Array) -> Result<Value> {
    let found = found(a)?;
    let mut step = a.size();
    let axis = |&extent: &usize| {
        step /= extent.max(1);
        let index = |&position: &usize| (position / step.max(1) % extent.max(1)) as i64;
        let indices = Array::build::<i64>(Shape::vector(found.len()), |out| match a.rank() {
            1 => out.iter_mut().zip(&found).for_each(|(out, &position)| *out = position as i64),
            _ => out.iter_mut().zip(&found).for_each(|(out, position)| *out = index(position)),
        });
        indices.map(Value::Array)
    };
    a.shape().iter().map(axis).collect::<Result<Vec<Value>>>().map(Value::List)
}

fn argwhere(a: &Array) -> Result<Array> {
    let (found, rank) = (found(a)?, a.rank());
    let strides = a.shape().strides();
    Array::build::<i64>(Shape::matrix(found.len(), rank)?, |out| {
        for (row, &position) in out.chunks_exact_mut(rank.max(1)).zip(&found) {
            let mut rest = position;
            for (index, &step) in row.iter_mut().zip(&strides) {
                *index = (rest / step as usize) as i64;
                rest %= step as usize;
            }
        }
    })
}
