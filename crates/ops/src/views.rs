//! More views: axes moved and dropped, arrays split, turned and spread over grids. Nothing is
//! copied (spec linalg 1.6).

use crate::arguments::Arguments;
use crate::call::{Context, Prepared};
use crate::record::{Kind, Op, Parameter, keyword, required};
use crate::samples;
use crate::shape::{done, list_of, view};
use crate::value::Value;
use rung_array::{Array, Number, SliceSpec};
use rung_base::{Error, ErrorKind, Result, Shape, memory};

pub const OPS: &[Op] = &[
    Op {
        names: &["moveaxis"],
        doc: "Axes moved to other places, the others keeping their order: an axis and its place, \
              or a list of each.",
        prepare: move_axes,
        samples: || {
            let array = || samples::spread(&[2, 3, 4], 1.0);
            vec![
                vec![array(), samples::integer(0), samples::integer(-1)],
                vec![array(), list_of(&[2, 0]), list_of(&[0, 1])],
            ]
        },
        example: "(la:shape (la:moveaxis (la:zeros '(2 3 4)) 0 -1)) => (3 4 2)",
        ..view(&[
            required("a", Kind::Array),
            required("from", Kind::Axes),
            required("to", Kind::Axes),
        ])
    },
    Op {
        names: &["swapaxes"],
        doc: "Two axes in each other's place.",
        prepare: swap_axes,
        samples: || {
            let array = samples::spread(&[2, 3, 4], 1.0);
            vec![vec![array, samples::integer(0), samples::integer(-1)]]
        },
        example: "(la:swapaxes #d((1 2) (3 4)) 0 1) => #d((1.0 3.0) (2.0 4.0))",
        ..view(&[
            required("a", Kind::Array),
            required("first", Kind::Integer),
            required("second", Kind::Integer),
        ])
    },
    Op {
        names: &["squeeze"],
        doc: "The array without axes of extent 1: all of them, or those given. Without any axis \
              left, the element.",
        result: "an array that shares a's storage until either is written, or a number",
        prepare: squeeze,
        samples: || {
            vec![
                vec![samples::spread(&[1, 3, 1], 1.0)],
                vec![samples::spread(&[1, 3, 1], 1.0), samples::word("axis"), samples::integer(-1)],
                vec![samples::spread(&[1, 1], 1.0)],
            ]
        },
        example: "(la:squeeze #d(((1) (2)))) => #d(1.0 2.0)",
        ..view(WITH_AXIS)
    },
    Op {
        names: &["split"],
        doc: "An array cut along an axis: into n equal parts, or before each of the given \
              points.",
        result: "a list of arrays that share a's storage until either is written",
        prepare: split,
        samples: || {
            let axis = || [samples::word("axis"), samples::integer(1)];
            let points = list_of(&[1, 1, -2, 9]);
            vec![
                vec![samples::spread(&[6, 2], 1.0), samples::integer(3)],
                [vec![samples::spread(&[2, 6], 1.0), points], axis().into()].concat(),
            ]
        },
        example: "(la:split #d(1 2 3 4) 2) => (#d(1.0 2.0) #d(3.0 4.0))",
        ..view(&[
            required("a", Kind::Array),
            required("points", Kind::Any),
            keyword("axis", Kind::Integer),
        ])
    },
    Op {
        names: &["flip"],
        doc: "The elements in reverse along the given axes, or along all.",
        prepare: flip,
        samples: || {
            vec![
                vec![samples::hard(&[3, 7], 1.0)],
                vec![samples::hard(&[3, 7], 1.0), samples::word("axis"), samples::integer(0)],
                vec![samples::spread(&[0, 3], 1.0)],
            ]
        },
        example: "(la:flip #d((1 2) (3 4)) :axis 1) => #d((2.0 1.0) (4.0 3.0))",
        ..view(WITH_AXIS)
    },
    Op {
        names: &["meshgrid"],
        doc: "For each vector the grid of its coordinate over all combinations: with :xy, the \
              default, the first vector runs along axis 1 and the second along axis 0; with :ij \
              each along its own axis.",
        result: "a list of arrays that share the vectors' storage until either is written",
        prepare: meshgrid,
        samples: || {
            let vectors = || {
                let numbers = [3, 2, 4].map(|n| samples::spread(&[n], 1.0));
                Value::List(numbers.into())
            };
            let indexing = [samples::word("indexing"), samples::word("ij")];
            vec![vec![vectors()], [vec![vectors()], indexing.into()].concat()]
        },
        example: "(la:meshgrid (list #d(1 2) #d(3 4 5))) => (#d((1.0 2.0) (1.0 2.0) (1.0 2.0)) \
                  #d((3.0 3.0) (4.0 4.0) (5.0 5.0)))",
        ..view(&[
            required("vectors", Kind::Arrays),
            keyword("indexing", Kind::Choice(&["xy", "ij"])),
        ])
    },
];

const WITH_AXIS: &[Parameter] = &[required("a", Kind::Array), keyword("axis", Kind::Axes)];

fn move_axes(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let from = arguments.axes(1, a.shape())?.unwrap_or_default();
    let to = arguments.axes(2, a.shape())?.unwrap_or_default();
    if from.len() != to.len() {
        let text =
            format!("moveaxis expects as many places as axes: {} and {}", to.len(), from.len());
        return Err(Error::new(ErrorKind::Axis, text));
    }
    let mut others = (0..a.rank()).filter(|axis| !from.contains(axis));
    let place = |at: usize| match to.iter().position(|&t| t == at) {
        Some(moved) => Some(from[moved]),
        None => others.next(),
    };
    let axes: Vec<usize> = (0..a.rank()).filter_map(place).collect();
    done(a.transpose(&axes)?.into())
}

fn swap_axes(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let first = a.shape().axis(arguments.integer(1)?)?;
    let second = a.shape().axis(arguments.integer(2)?)?;
    let mut axes: Vec<usize> = (0..a.rank()).collect();
    axes.swap(first, second);
    done(a.transpose(&axes)?.into())
}

fn squeeze(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let unit = |axis: &usize| a.shape()[*axis] == 1;
    let axes: Vec<usize> = match arguments.axes(1, a.shape())? {
        Some(axes) => axes.to_vec(),
        None => (0..a.rank()).filter(unit).collect(),
    };
    if let Some(axis) = axes.iter().find(|axis| !unit(axis)) {
        let text = format!("squeeze axis is not of extent 1: axis {axis} of shape {}", a.shape());
        return Err(Error::new(ErrorKind::Axis, text));
    }
    let squeezed = a.without_axes(&axes)?;
    match squeezed.rank() {
        0 => done(Value::Number(squeezed.get(&[])?)),
        _ => done(squeezed.into()),
    }
}

/// The part from `start` to before `end` along one axis.
pub fn part(a: &Array, axis: usize, start: usize, end: usize) -> Result<Array> {
    let mut specs = vec![SliceSpec::ALL; axis + 1];
    specs[axis] = SliceSpec { start: Some(start as i64), end: Some(end as i64), step: 1 };
    a.slice(&specs)
}

fn split(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let points = arguments.any(1);
    let axis = a.shape().axis(arguments.optional_integer(2)?.unwrap_or(0))?;
    let extent = a.shape()[axis];
    let bounds = match &points {
        Value::Number(Number::I64(n)) => equal_parts(*n, extent, a.shape())?,
        _ => cut_points(&points, extent)?,
    };
    let ends = bounds.iter().copied().skip(1);
    let parts = bounds
        .iter()
        .zip(ends)
        .map(|(&start, end)| part(&a, axis, start, end.max(start)).map(Value::Array));
    done(Value::List(parts.collect::<Result<_>>()?))
}

/// 0 and the end of each of n parts.
fn equal_parts(n: i64, extent: usize, shape: &Shape) -> Result<Vec<usize>> {
    let parts = usize::try_from(n).ok().filter(|&n| n > 0 && extent.is_multiple_of(n));
    let parts = parts.ok_or_else(|| {
        let text = format!("split does not divide the axis: {extent} elements of shape {shape}");
        Error::new(ErrorKind::Shape, format!("{text} into {n} parts"))
            .hint("a list of points cuts anywhere")
    })?;
    let bounds = (0..parts).chain([parts]).map(|i| i * (extent / parts));
    // Each part becomes an array that shares the elements.
    let bytes = memory::bytes_of::<[Value; 3]>(parts);
    memory::ask(bytes, || format!("{parts} parts of an array of shape {shape}"))?;
    Ok(bounds.collect())
}

/// 0, the points counted from the start and clipped, and the extent.
fn cut_points(points: &Value, extent: usize) -> Result<Vec<usize>> {
    let point = |v: &Value| match v {
        Value::Number(Number::I64(n)) => {
            let from_start = if *n < 0 { n.saturating_add(extent as i64) } else { *n };
            Some(from_start.clamp(0, extent as i64) as usize)
        }
        _ => None,
    };
    let inner: Option<Vec<usize>> = match points {
        Value::Nil => Some(Vec::new()),
        Value::List(items) => items.iter().map(point).collect(),
        _ => None,
    };
    let wanted = "split expects an integer or a list of points";
    let inner = inner.ok_or_else(|| Error::wanted(ErrorKind::Type, wanted, points))?;
    Ok([vec![0], inner, vec![extent]].concat())
}

fn flip(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axes = arguments.axes(1, a.shape())?;
    let back = SliceSpec { start: None, end: None, step: -1 };
    let turned = |axis: usize| axes.as_ref().is_none_or(|axes| axes.contains(&axis));
    let specs: Vec<SliceSpec> =
        (0..a.rank()).map(|axis| if turned(axis) { back } else { SliceSpec::ALL }).collect();
    done(a.slice(&specs)?.into())
}

fn meshgrid(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let vectors = arguments.arrays(0)?;
    let swapped = arguments.choice(1)? != Some("ij") && vectors.len() > 1;
    if let Some(a) = vectors.iter().find(|a| a.rank() > 1) {
        let text = format!("meshgrid expects vectors: got shape {}", a.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let place = |i: usize| if swapped && i < 2 { 1 - i } else { i };
    let mut extents = vec![1; vectors.len()];
    vectors.iter().enumerate().for_each(|(i, a)| extents[place(i)] = a.size());
    let grid = Shape::new(extents.iter().copied())?;
    let spread = |(i, a): (usize, &Array)| {
        let mut along = vec![1; extents.len()];
        along[place(i)] = a.size();
        a.reshape(Shape::new(along)?)?.broadcast_to(&grid).map(Value::Array)
    };
    done(Value::List(vectors.iter().enumerate().map(spread).collect::<Result<_>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_counted_from_either_end_and_clipped() {
        let at = |n: &[i64]| cut_points(&list_of(n), 6).unwrap();
        assert_eq!(at(&[2, -1, 9, -9]), [0, 2, 5, 6, 0, 6]);
        assert_eq!(cut_points(&Value::Nil, 6).unwrap(), [0, 6]);
        assert!(cut_points(&Value::True, 6).is_err());
    }
}
