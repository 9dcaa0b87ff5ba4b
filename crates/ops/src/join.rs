//! Copies: arrays joined, stacked, padded, repeated, rolled, or made contiguous.
//!
//! All are one thing: strided views copied into boxes of a grid that the boxes cover
//! (`Detail::Parts`). What repeats is a view with stride 0, what pads is a number spread over a
//! box, what rolls is two views of the same axis.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared, lanes_operand, waiting};
use crate::decline::Answer;
use crate::explain::reshaped;
use crate::record::{Definition, Family, Kind, Offer, Op, Parameter, Rungs, keyword, required};
use crate::round_trip::{Piece, RoundTrip};
use crate::samples;
use crate::shape::{list_of, nothing_to_compute};
use crate::value::Value;
use crate::views::part;
use rung_array::{Array, Number, Offsets};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, memory, with_element};
use rung_lanes::place::{Place, place};
use rung_lanes::{Lanes, copy};
use smallvec::SmallVec;

pub const OPS: &[Op] = &[
    Op {
        names: &["copy"],
        doc: "A copy with its elements one after another, sharing nothing.",
        parameters: &[required("a", Kind::Array)],
        result: "an array of a's shape and type",
        prepare: |op, mut a, _| {
            let array = a.array(0)?;
            let (shape, t) = (array.shape().clone(), array.element_type());
            parts(op, vec![(array, Start::new())], shape.clone(), shape, t)
        },
        samples: || vec![vec![samples::hard(&[2, 13], 1.0)], vec![samples::spread(&[70, 33], 1.0)]],
        example: "(la:copy #d(1 2)) => #d(1.0 2.0)",
        ..COPIES
    },
    Op {
        names: &["concatenate"],
        doc: "Arrays joined along an existing axis, the first one by default.",
        parameters: LISTED,
        result: "an array of the widest element type",
        prepare: concatenate,
        samples: || {
            let two = vec![samples::hard(&[2, 3], 1.0), samples::spread(&[4, 3], 1.0)];
            let long = vec![samples::whole(&[2, 40, 5], 9), samples::whole(&[2, 33, 5], 9)];
            let axis = vec![samples::spread(&[2, 3], 1.0), samples::spread(&[2, 1], 1.0)];
            let word = || [samples::word("axis"), samples::integer(1)];
            vec![
                vec![Value::List(two)],
                [vec![Value::List(long)], word().into()].concat(),
                vec![Value::List(axis), samples::word("axis"), samples::integer(-1)],
            ]
        },
        example: "(la:concatenate (list #d(1 2) #d(3))) => #d(1.0 2.0 3.0)",
        ..COPIES
    },
    Op {
        names: &["stack"],
        doc: "Arrays of equal shape joined along a new axis, the first one by default.",
        parameters: LISTED,
        result: "an array of the widest element type",
        prepare: |op, mut a, _| {
            let arrays = a.arrays(0)?;
            let axis = a.optional_integer(1)?.unwrap_or(0);
            let arrays = stackable(op, arrays)?;
            // Counted in the result, which has one axis more.
            let axis = arrays[0].with_axis(0)?.shape().axis(axis)?;
            let arrays = arrays.iter().map(|a| a.with_axis(axis)).collect::<Result<_>>()?;
            joined(op, arrays, axis)
        },
        samples: || {
            let pair =
                || samples::list(vec![samples::hard(&[3, 7], 1.0), samples::spread(&[3, 7], 2.0)]);
            vec![
                vec![pair()],
                vec![pair(), samples::word("axis"), samples::integer(-1)],
                vec![pair(), samples::word("axis"), samples::integer(1)],
            ]
        },
        example: "(la:stack (list #d(1 2) #d(3 4)) :axis 1) => #d((1.0 3.0) (2.0 4.0))",
        ..COPIES
    },
    Op {
        names: &["vstack"],
        doc: "Arrays joined along the first axis; vectors count as rows.",
        parameters: &[required("arrays", Kind::Arrays)],
        result: "an array of the widest element type",
        prepare: |op, mut a, _| {
            let mut arrays = a.arrays(0)?;
            for a in &mut arrays {
                while a.rank() < 2 {
                    *a = a.with_axis(0)?;
                }
            }
            joined_at(op, arrays, 0)
        },
        samples: || {
            let rows = vec![samples::hard(&[7], 1.0), samples::spread(&[3, 7], 2.0)];
            vec![vec![samples::list(rows)]]
        },
        example: "(la:vstack (list #d(1 2) #d(3 4))) => #d((1.0 2.0) (3.0 4.0))",
        ..COPIES
    },
    Op {
        names: &["hstack"],
        doc: "Arrays joined along the second axis, vectors along their only one.",
        parameters: &[required("arrays", Kind::Arrays)],
        result: "an array of the widest element type",
        prepare: |op, mut a, _| {
            let mut arrays = a.arrays(0)?;
            for a in &mut arrays {
                if a.rank() == 0 {
                    *a = a.with_axis(0)?;
                }
            }
            let axis = i64::from(arrays.first().is_some_and(|a| a.rank() > 1));
            joined_at(op, arrays, axis)
        },
        samples: || {
            let columns = vec![samples::hard(&[3, 7], 1.0), samples::spread(&[3, 2], 2.0)];
            let vectors = vec![samples::hard(&[7], 1.0), samples::number(2.0)];
            vec![vec![samples::list(columns)], vec![samples::list(vectors)]]
        },
        example: "(la:hstack (list #d(1 2) #d(3))) => #d(1.0 2.0 3.0)",
        ..COPIES
    },
    Op {
        names: &["pad"],
        doc: "An array with a border of one number: as many elements on every side, or (before \
              after) for each axis.",
        parameters: &[
            required("a", Kind::Array),
            required("pads", Kind::Any),
            keyword("value", Kind::Number),
        ],
        result: "an array of a's type",
        prepare: pad,
        samples: || {
            let pairs =
                |pairs: &[[i64; 2]]| Value::List(pairs.iter().map(|p| list_of(p)).collect());
            let value = || [samples::word("value"), samples::integer(1)];
            vec![
                vec![samples::hard(&[2, 13], 1.0), samples::integer(2)],
                [
                    vec![samples::spread(&[3, 4, 5], 1.0), pairs(&[[0, 1], [2, 0], [1, 3]])],
                    value().into(),
                ]
                .concat(),
                vec![samples::counting(&[7], 9), pairs(&[[9, 0]])],
                vec![samples::spread(&[0, 3], 1.0), samples::integer(1)],
            ]
        },
        example: "(la:pad #d(1 2) '((1 2)) :value 7) => #d(7.0 1.0 2.0 7.0 7.0)",
        ..COPIES
    },
    Op {
        names: &["tile"],
        doc: "An array repeated as a whole, as often along each axis as the list says.",
        parameters: &[required("a", Kind::Array), required("counts", Kind::Shape)],
        result: "an array of a's type",
        prepare: tile,
        samples: || {
            vec![
                vec![samples::hard(&[3, 7], 1.0), list_of(&[2, 3])],
                vec![samples::hard(&[17], 1.0), list_of(&[2, 1, 3])],
                vec![samples::spread(&[2, 3, 4], 1.0), samples::integer(2)],
                vec![samples::spread(&[3], 1.0), samples::integer(0)],
            ]
        },
        example: "(la:tile #d(1 2) '(2 2)) => #d((1.0 2.0 1.0 2.0) (1.0 2.0 1.0 2.0))",
        ..COPIES
    },
    Op {
        names: &["repeat"],
        doc: "Each element, or each slice along an axis, repeated n times, or as often as its \
              place in a vector says; without an axis of the flattened array.",
        parameters: &[
            required("a", Kind::Array),
            required("n", Kind::Index),
            keyword("axis", Kind::Integer),
        ],
        result: "an array of a's type",
        prepare: repeat,
        samples: || {
            let axis = |n| [samples::word("axis"), samples::integer(n)];
            vec![
                vec![samples::hard(&[3, 7], 1.0), samples::integer(3)],
                [vec![samples::hard(&[3, 7], 1.0), samples::integer(2)], axis(0).into()].concat(),
                [vec![samples::hard(&[3, 7], 1.0), list_of(&[2, 0, 1])], axis(0).into()].concat(),
                [vec![samples::spread(&[5, 3, 2], 1.0), list_of(&[0, 3, 1])], axis(1).into()]
                    .concat(),
                vec![samples::spread(&[2], 1.0), list_of(&[2, 1])],
            ]
        },
        example: "(la:repeat #d(1 2) 2) => #d(1.0 1.0 2.0 2.0)",
        ..COPIES
    },
    Op {
        names: &["roll"],
        doc: "The elements moved along an axis by a number of places, those that leave at the \
              end coming in at the start; without an axis along the flattened array. Lists move \
              along several axes.",
        parameters: &[
            required("a", Kind::Array),
            required("shift", Kind::Any),
            keyword("axis", Kind::Axes),
        ],
        result: "an array of a's shape and type",
        prepare: roll,
        samples: || {
            let axis = |n| [samples::word("axis"), samples::integer(n)];
            let both = [list_of(&[1, -2]), samples::word("axis"), list_of(&[0, 1])];
            vec![
                vec![samples::hard(&[3, 7], 1.0), samples::integer(4)],
                [vec![samples::hard(&[3, 7], 1.0), samples::integer(-15)], axis(1).into()].concat(),
                [vec![samples::spread(&[5, 6], 1.0)], both.into()].concat(),
                vec![samples::spread(&[0], 1.0), samples::integer(2)],
            ]
        },
        example: "(la:roll #d(1 2 3 4) 1) => #d(4.0 1.0 2.0 3.0)",
        ..COPIES
    },
];

const LISTED: &[Parameter] = &[required("arrays", Kind::Arrays), keyword("axis", Kind::Integer)];

pub const COPIES: Op = Op {
    rungs: Rungs::with_device(
        Definition::One(parts_portable),
        parts_lanes,
        Offer::ResidentOnly,
        parts_device,
    ),
    ..Op::BASE
};

/// The index of a box's first element; the axes left out count as 0.
type Start = SmallVec<[usize; 4]>;

/// A call that copies each array into its box.
fn parts(
    op: &'static Op,
    boxes: Vec<(Array, Start)>,
    grid: Shape,
    shape: Shape,
    element_type: ElementType,
) -> Result<Prepared> {
    let given = boxes.iter().map(|(a, _)| a.shape().clone()).collect();
    let (operands, starts): (SmallVec<_>, Vec<Start>) = boxes.into_iter().unzip();
    let types: Vec<ElementType> = vec![element_type; operands.len()];
    let call = Call {
        op,
        operands,
        given,
        units: shape.size() as u64,
        shape,
        raw: element_type,
        result: element_type,
        to_number: false,
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
        detail: Detail::Parts { grid, starts },
        family: Family::Copy,
    };
    Ok(Prepared::Call(Box::new(call.at_types(&types))))
}

/// The position in the grid at which a box begins.
fn first(start: &Start, strides: &[isize]) -> usize {
    start.iter().zip(strides).map(|(&i, &stride)| i * stride as usize).sum()
}

/// Boxes and out: every cell is in one box.
fn parts_portable(call: &Call) -> Result<Array> {
    with_element!(call.raw, T => in_place::<T>(call))
}

fn in_place<T: Element>(call: &Call) -> Result<Array> {
    let Detail::Parts { grid, starts } = &call.detail else { return nothing_to_compute(call) };
    let strides = grid.strides();
    Array::build::<T>(call.shape.clone(), |out| {
        for (x, start) in call.operands.iter().zip(starts) {
            let cells = Offsets::new(x.shape(), &strides, first(start, &strides));
            x.view::<T>().iter().zip(cells).for_each(|(x, cell)| out[cell] = x);
        }
    })
}

fn parts_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let Detail::Parts { grid, starts } = &call.detail else {
        return nothing_to_compute(call).map(Answer::Done);
    };
    let strides = grid.strides();
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        if let [x] = &call.operands[..] && x.shape() == grid {
            return copy::pack(lanes, x.shape(), lanes_operand::<T>(x), out);
        }
        for (x, start) in call.operands.iter().zip(starts).filter(|(x, _)| x.size() > 0) {
            let to = Place { offset: first(start, &strides), strides: &strides };
            place(lanes, x.shape(), lanes_operand::<T>(x), out, to);
        }
    }))
    .map(Answer::Done)
}

fn parts_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let Detail::Parts { grid, starts } = &call.detail else {
        return nothing_to_compute(call).map(Answer::Done);
    };
    let strides = grid.strides();
    let boxes = call.operands.iter().zip(starts);
    let pieces: Vec<Piece> =
        boxes.map(|(array, start)| Piece { array, first: first(start, &strides) }).collect();
    trip.copies(&pieces, grid, call.result, &call.shape)
}

fn concatenate(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let arrays = arguments.arrays(0)?;
    let axis = arguments.optional_integer(1)?.unwrap_or(0);
    joined_at(op, arrays, axis)
}

/// Arrays along an axis that they have, after the checks.
fn joined_at(op: &'static Op, arrays: Vec<Array>, axis: i64) -> Result<Prepared> {
    let name = op.name();
    let Some(first) = arrays.first() else {
        return Err(Error::new(ErrorKind::Shape, format!("{name} needs at least one array")));
    };
    if let Some(other) = arrays.iter().find(|a| a.rank() != first.rank()) {
        let (a, b) = (first.shape(), other.shape());
        let text = format!("{name} expects arrays of equal rank: {a} and {b}");
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let axis = first.shape().axis(axis)?;
    let off_axis = |a: &Array| a.shape().without(axis, true);
    if let Some(other) = arrays.iter().find(|a| off_axis(a) != off_axis(first)) {
        let (a, b) = (first.shape(), other.shape());
        let text = format!("{name} shapes differ off the axis: {a} and {b} along axis {axis}");
        return Err(Error::new(ErrorKind::Shape, text));
    }
    joined(op, arrays, axis)
}

/// Arrays that fit each other along `axis`; there is one at least.
fn joined(op: &'static Op, arrays: Vec<Array>, axis: usize) -> Result<Prepared> {
    let mut extents = arrays[0].shape().to_vec();
    let mut end = 0usize;
    let widest = arrays.iter().map(Array::element_type).reduce(wider);
    let widest = widest.unwrap_or(ElementType::F64);
    let mut boxes = Vec::with_capacity(arrays.len());
    for a in &arrays {
        let mut start = Start::from_elem(0, axis + 1);
        start[axis] = end;
        end = end.saturating_add(a.shape()[axis]);
        boxes.push((waiting(a, widest)?, start));
    }
    extents[axis] = end;
    let shape = Shape::new(extents)?;
    parts(op, boxes, shape.clone(), shape, widest)
}

/// The type that holds both: a float over an integer, f32 over two different halves.
fn wider(a: ElementType, b: ElementType) -> ElementType {
    match (a.is_float(), b.is_float()) {
        (true, false) => a,
        (false, true) => b,
        (true, true) if a != b && a.size() == b.size() => ElementType::F32,
        // The enumeration runs from wide to narrow.
        _ => a.min(b),
    }
}

fn stackable(op: &'static Op, arrays: Vec<Array>) -> Result<Vec<Array>> {
    let name = op.name();
    let Some(first) = arrays.first() else {
        return Err(Error::new(ErrorKind::Shape, format!("{name} needs at least one array")));
    };
    if let Some(other) = arrays.iter().find(|a| a.shape() != first.shape()) {
        let (a, b) = (first.shape(), other.shape());
        let text = format!("{name} expects arrays of equal shape: {a} and {b}");
        return Err(Error::new(ErrorKind::Shape, text)
            .hint("(la:concatenate arrays) joins along an axis they have"));
    }
    Ok(arrays)
}

/// (before, after) for each axis.
fn widths(pads: &Value, shape: &Shape) -> Result<Vec<[usize; 2]>> {
    let wrong = || {
        let what = "pad expects one (before after) pair per axis";
        Error::wanted(ErrorKind::Argument, what, pads).hint(format!("the array has shape {shape}"))
    };
    let width = |v: &Value| match v {
        Value::Number(Number::I64(n)) => usize::try_from(*n)
            .map_err(|_| Error::wanted(ErrorKind::Argument, "pad widths must be non-negative", n)),
        _ => Err(wrong()),
    };
    let pair = |v: &Value| match v {
        Value::List(items) if items.len() == 2 => Ok([width(&items[0])?, width(&items[1])?]),
        _ => Err(wrong()),
    };
    match pads {
        Value::Number(Number::I64(_)) => Ok(vec![[width(pads)?; 2]; shape.rank()]),
        Value::List(items) if items.len() == shape.rank() => items.iter().map(pair).collect(),
        Value::Nil if shape.rank() == 0 => Ok(Vec::new()),
        _ => Err(wrong()),
    }
}

fn pad(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let pads = widths(&arguments.any(1), a.shape())?;
    let value = if arguments.is_given(2) { arguments.number(2)? } else { Number::I64(0) };
    let value = Array::full(a.element_type(), Shape::scalar(), value)?;
    let wide = |axis: usize| {
        let [before, after] = pads[axis];
        before.saturating_add(a.shape()[axis]).saturating_add(after)
    };
    let shape = Shape::new((0..a.rank()).map(wide))?;
    let mut boxes = vec![(a.clone(), pads.iter().map(|pad| pad[0]).collect::<Start>())];
    for axis in 0..a.rank() {
        // A border is as long as the array along the axes before, and the result along those after.
        let [before, after] = pads[axis];
        for (width, at) in [(before, 0), (after, before + a.shape()[axis])] {
            let extents = (0..a.rank()).map(|k| match k.cmp(&axis) {
                std::cmp::Ordering::Less => a.shape()[k],
                std::cmp::Ordering::Equal => width,
                std::cmp::Ordering::Greater => shape[k],
            });
            let border = value.broadcast_to(&Shape::new(extents)?)?;
            let start = (0..=axis).map(|k| if k == axis { at } else { pads[k][0] });
            boxes.push((border, start.collect()));
        }
    }
    let element_type = a.element_type();
    let prepared = parts(op, boxes, shape.clone(), shape, element_type)?;
    Ok(of_one(prepared, &a))
}

/// The call as made of one array, for reports.
fn of_one(prepared: Prepared, a: &Array) -> Prepared {
    match prepared {
        Prepared::Call(call) => {
            let given = SmallVec::from_iter([a.shape().clone()]);
            Prepared::Call(Box::new(Call { given, ..*call }))
        }
        other => other,
    }
}

/// One view that is the whole result in another shape.
fn spread(op: &'static Op, view: Array, shape: Shape, a: &Array) -> Result<Prepared> {
    let grid = view.shape().clone();
    Ok(of_one(parts(op, vec![(view, Start::new())], grid, shape, a.element_type())?, a))
}

fn tile(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = arguments.array(0)?;
    let mut counts = arguments.shape(1)?.to_vec();
    let mut a = given.clone();
    while a.rank() < counts.len() {
        a = a.with_axis(0)?;
    }
    while counts.len() < a.rank() {
        counts.insert(0, 1);
    }
    let shape = Shape::new(a.shape().iter().zip(&counts).map(|(&d, &n)| d.saturating_mul(n)))?;
    let extents: Vec<usize> =
        counts.iter().zip(a.shape().iter()).flat_map(|(&n, &d)| [n, d]).collect();
    for axis in 0..counts.len() {
        a = a.with_axis(2 * axis)?;
    }
    spread(op, a.broadcast_to(&Shape::new(extents)?)?, shape, &given)
}

fn repeat(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = arguments.array(0)?;
    let (counts, form) = arguments.index(1)?;
    if let Some(n) = counts.iter().find(|n| **n < 0) {
        let what = "repeat counts must be non-negative";
        return Err(Error::wanted(ErrorKind::Argument, what, n));
    }
    let (a, axis) = match arguments.optional_integer(2)? {
        Some(axis) => (given.clone(), given.shape().axis(axis)?),
        None => (reshaped(&given, Shape::vector(given.size()))?, 0),
    };
    if form.rank() > 0 {
        return each_its_own(&a, axis, &counts);
    }
    let n = counts.first().map_or(0, |&n| n as usize);
    let mut extents = a.shape().to_vec();
    extents.insert(axis + 1, n);
    let view = a.with_axis(axis + 1)?.broadcast_to(&Shape::new(extents)?)?;
    let mut extents = a.shape().to_vec();
    extents[axis] = extents[axis].saturating_mul(n);
    spread(op, view, Shape::new(extents)?, &given)
}

/// Slices along an axis, each as often as its count: the rows at repeated indices.
fn each_its_own(a: &Array, axis: usize, counts: &[i64]) -> Result<Prepared> {
    let extent = a.shape()[axis];
    if counts.len() != extent && counts.len() != 1 {
        let text = format!("repeat counts must match the axis: {} for {extent}", counts.len());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let count = |i: usize| counts[if counts.len() == 1 { 0 } else { i }] as usize;
    let total = (0..extent).map(count).fold(0usize, usize::saturating_add);
    let mut rows: Vec<i64> = memory::room(total, || format!("{total} repeated elements"))?;
    for i in 0..extent {
        rows.resize(rows.len() + count(i), i as i64);
    }
    let mut there: Vec<usize> = (0..a.rank()).collect();
    there.remove(axis);
    there.insert(0, axis);
    let back: Vec<usize> = (0..a.rank())
        .map(|k| match k.cmp(&axis) {
            std::cmp::Ordering::Less => k + 1,
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => k,
        })
        .collect();
    let (moved, rows) = (a.transpose(&there)?, Array::vector(&rows)?);
    Ok(Prepared::Steps(Box::new(move |run| {
        let taken = run.array("take-rows", vec![moved.into(), rows.into()])?;
        Ok(vec![taken.transpose(&back)?.into()])
    })))
}

/// How far to go along each axis, counted forwards and below the extent.
fn shifts(shift: &Value, axes: &[usize], shape: &Shape) -> Result<Vec<usize>> {
    let what = "roll expects an integer or a list of integers";
    let number = |v: &Value| match v {
        Value::Number(Number::I64(n)) => Ok(*n),
        _ => Err(Error::wanted(ErrorKind::Type, what, shift)),
    };
    let numbers: Vec<i64> = match shift {
        Value::List(items) => items.iter().map(number).collect::<Result<_>>()?,
        one => vec![number(one)?; axes.len()],
    };
    if numbers.len() != axes.len() {
        let text = format!("roll expects one shift per axis: {} for {}", numbers.len(), axes.len());
        return Err(Error::new(ErrorKind::Argument, text));
    }
    let mut all = vec![0; shape.rank()];
    for (&axis, &n) in axes.iter().zip(&numbers) {
        all[axis] = n.rem_euclid(shape[axis].max(1) as i64) as usize;
    }
    Ok(all)
}

fn roll(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = arguments.array(0)?;
    let shift = arguments.any(1);
    let (a, axes) = match arguments.axes(2, given.shape())? {
        Some(axes) => (given.clone(), axes),
        None => (reshaped(&given, Shape::vector(given.size()))?, SmallVec::from_slice(&[0])),
    };
    let shifts = shifts(&shift, &axes, a.shape())?;
    let mut boxes: Vec<(Array, Start)> = vec![(a.clone(), Start::from_elem(0, a.rank()))];
    for (axis, &shift) in shifts.iter().enumerate().filter(|(_, shift)| **shift > 0) {
        let (extent, whole) = (a.shape()[axis], std::mem::take(&mut boxes));
        for (view, start) in whole {
            let mut after = start.clone();
            after[axis] = shift;
            boxes.push((part(&view, axis, 0, extent - shift)?, after));
            boxes.push((part(&view, axis, extent - shift, extent)?, start));
        }
    }
    let element_type = a.element_type();
    let prepared = parts(op, boxes, a.shape().clone(), given.shape().clone(), element_type)?;
    Ok(of_one(prepared, &given))
}
