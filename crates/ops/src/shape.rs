//! Shapes and views: nothing is computed, and only `reshape` copies, where it must.
//!
//! A view is finished in `prepare`; no rung is asked. The errors are those of the reference
//! (spec linalg 3).

use crate::arguments::Arguments;
use crate::call::{Call, Context, Prepared};
use crate::explain;
use crate::record::{Kind, Op, Parameter, Rungs, optional, required};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape};

pub const OPS: &[Op] = &[
    Op {
        names: &["shape"],
        doc: "The extents of an array as a list; of a number, nil.",
        result: "a list of integers",
        prepare: |_, mut a, _| {
            let extents = a.header(0)?.iter().map(|&d| Value::integer(d as i64)).collect();
            done(Value::List(extents))
        },
        example: "(la:shape #d((1 2 3))) => (1 3)",
        ..view(ONE)
    },
    Op {
        names: &["ndim"],
        doc: "The number of axes.",
        result: "an integer",
        prepare: |_, mut a, _| done(Value::integer(a.header(0)?.rank() as i64)),
        example: "(la:ndim #d((1 2 3))) => 2",
        ..view(ONE)
    },
    Op {
        names: &["size"],
        doc: "The number of elements.",
        result: "an integer",
        prepare: |_, mut a, _| done(Value::integer(a.header(0)?.size() as i64)),
        example: "(la:size #d((1 2 3))) => 3",
        ..view(ONE)
    },
    Op {
        names: &["reshape"],
        doc: "The same elements under another shape; one -1 is inferred, a bare -1 flattens.",
        prepare: reshape,
        samples: || {
            let shape = list_of(&[3, -1]);
            vec![vec![samples::spread(&[2, 6], 1.0), shape], flat_sample(), empty_sample()]
        },
        example: "(la:reshape #d(1 2 3 4) '(2 2)) => #d((1.0 2.0) (3.0 4.0))",
        ..view(&[required("a", Kind::Array), required("shape", Kind::Shape)])
    },
    Op {
        names: &["flatten", "ravel"],
        doc: "All elements in row-major order along one axis.",
        prepare: |_, mut a, _| {
            let array = a.array(0)?;
            let shape = Shape::vector(array.size());
            reshaped(array, shape)
        },
        example: "(la:flatten #d((1 2) (3 4))) => #d(1.0 2.0 3.0 4.0)",
        ..view(ONE)
    },
    Op {
        names: &["transpose"],
        doc: "The axes in another order; without axes, reversed.",
        prepare: transpose,
        samples: || {
            let three = || samples::spread(&[2, 3, 4], 1.0);
            vec![vec![three()], vec![three(), list_of(&[2, 0, 1])]]
        },
        example: "(la:transpose #d((1 2) (3 4))) => #d((1.0 3.0) (2.0 4.0))",
        ..view(&[required("a", Kind::Array), optional("axes", Kind::Integers)])
    },
    Op {
        names: &["expand-dims"],
        doc: "A new axis of extent 1 at a position, counted in the result.",
        prepare: expand,
        samples: || vec![vec![samples::spread(&[2, 3], 1.0), samples::integer(-1)]],
        example: "(la:expand-dims #d(1 2) 1) => #d((1.0) (2.0))",
        ..view(&[required("a", Kind::Array), required("axis", Kind::Integer)])
    },
    Op {
        names: &["slice"],
        doc: "Part of each axis: nil for all of it, or (start end [step]); axes are kept.",
        prepare: |_, mut a, _| {
            let (array, specs) = (a.array(0)?, a.slices(1)?);
            done(array.slice(&specs)?.into())
        },
        samples: || {
            let specs = vec![list_of(&[4, 0, -2]), Value::Nil];
            vec![vec![samples::spread(&[5, 3], 1.0), Value::List(specs)]]
        },
        example: "(la:slice #d((0 1 2) (3 4 5)) '(nil (0 2))) => #d((0.0 1.0) (3.0 4.0))",
        ..view(&[required("a", Kind::Array), required("specs", Kind::Slices)])
    },
    Op {
        names: &["row"],
        doc: "The sub-array at an index of the first axis, which is dropped.",
        prepare: row,
        samples: || vec![vec![samples::spread(&[3, 2], 1.0), samples::integer(2)]],
        example: "(la:row #d((1 2) (3 4)) 1) => #d(3.0 4.0)",
        ..view(&[required("a", Kind::Array), required("index", Kind::Integer)])
    },
    Op {
        names: &["broadcast-to"],
        doc: "An array read at a larger shape, repeated along the new axes.",
        prepare: |_, mut a, _| {
            let (array, shape) = (a.array(0)?, a.shape(1)?);
            done(array.broadcast_to(&shape)?.into())
        },
        samples: || vec![vec![samples::spread(&[3, 1], 1.0), list_of(&[2, 3, 4])]],
        example: "(la:broadcast-to #d(1 2) '(2 2)) => #d((1.0 2.0) (1.0 2.0))",
        ..view(&[required("a", Kind::Array), required("shape", Kind::Shape)])
    },
];

const ONE: &[Parameter] = &[required("a", Kind::Array)];
const NO_VIEW: &str = "a view: nothing is computed";

/// An operation that `prepare` finishes without a copy.
pub const fn view(parameters: &'static [Parameter]) -> Op {
    Op {
        parameters,
        result: "an array that shares a's storage until either is written",
        rungs: Rungs::none(NO_VIEW),
        resident: true,
        samples: || vec![vec![samples::hard(&[3, 5], 2.0)]],
        ..Op::BASE
    }
}

/// The rung of an operation that `prepare` finishes.
pub fn nothing_to_compute(call: &Call) -> Result<Array> {
    Err(Error::new(ErrorKind::Internal, format!("{} computes nothing", call.op.name())))
}

pub fn done(value: Value) -> Result<Prepared> {
    Ok(Prepared::Done(vec![value]))
}

pub fn list_of(numbers: &[i64]) -> Value {
    Value::List(numbers.iter().map(|&n| Value::integer(n)).collect())
}

fn flat_sample() -> Sample {
    vec![samples::spread(&[2, 3, 4], 1.0), samples::integer(-1)]
}

fn empty_sample() -> Sample {
    vec![samples::spread(&[0, 3], 1.0), list_of(&[3, 0])]
}

fn reshape(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let extents = arguments.extents(1)?;
    let shape = inferred(&extents, a.shape())?;
    reshaped(a, shape)
}

/// The array under another shape; what a device has is copied there, where it must be.
fn reshaped(a: Array, shape: Shape) -> Result<Prepared> {
    let copied = || a.size() == shape.size() && a.reshaped_view(&shape).is_none();
    if !a.is_attached() || !copied() {
        return done(explain::reshaped(&a, shape)?.into());
    }
    Ok(Prepared::Steps(Box::new(move |run| {
        let packed = run.array("copy", vec![a.into()])?;
        Ok(vec![packed.reshape(shape)?.into()])
    })))
}

/// The shape with its -1 replaced by what the size leaves.
fn inferred(extents: &[i64], from: &Shape) -> Result<Shape> {
    let unknown = extents.iter().filter(|&&d| d == -1).count();
    if unknown > 1 {
        return Err(Error::new(
            ErrorKind::Shape,
            format!("reshape allows at most one -1: got {}", as_list(extents)),
        ));
    }
    if let Some(bad) = extents.iter().find(|&&d| d < -1) {
        let text = format!("shape expects non-negative integers: got {bad}");
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let known = Shape::new(extents.iter().filter(|&&d| d >= 0).map(|&d| d as usize))?.size();
    let rest = from.size().checked_div(known).filter(|rest| rest * known == from.size());
    if unknown == 1 && rest.is_none() {
        let text = format!(
            "reshape size mismatch: {} elements of {from} into {}",
            from.size(),
            as_list(extents)
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    Shape::new(extents.iter().map(|&d| if d == -1 { rest.unwrap_or(0) } else { d as usize }))
}

/// Integers as the language prints a list.
pub fn as_list(numbers: &[i64]) -> String {
    list_of(numbers).to_string()
}

fn transpose(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axes: Vec<usize> = match arguments.integers(1)? {
        None => (0..a.rank()).rev().collect(),
        Some(axes) => {
            let known = axes.iter().map(|&axis| a.shape().axis(axis));
            known.collect::<Result<_>>().map_err(|_| {
                let text = format!(
                    "transpose axes must be a permutation of the axes: {} for shape {}",
                    as_list(&axes),
                    a.shape()
                );
                Error::new(ErrorKind::Axis, text)
            })?
        }
    };
    done(a.transpose(&axes)?.into())
}

fn expand(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axis = arguments.integer(1)?;
    let rank = a.rank() as i64;
    if !(-rank - 1..=rank).contains(&axis) {
        let text = format!("axis out of range: {axis} in a result of {} axes", rank + 1);
        return Err(Error::new(ErrorKind::Axis, text));
    }
    let at = if axis < 0 { axis + rank + 1 } else { axis } as usize;
    done(a.with_axis(at)?.into())
}

fn row(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let index = row_index(&a, arguments.integer(1)?)?;
    done(a.row(index)?.into())
}

/// The index of a row, counted from the start.
pub fn row_index(a: &Array, index: i64) -> Result<usize> {
    if a.rank() < 2 {
        let text = format!("row expects rank >= 2 (use aref on a vector): got shape {}", a.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let extent = a.shape()[0] as i64;
    let from_start = if index < 0 { index + extent } else { index };
    if !(0..extent).contains(&from_start) {
        let text = format!("row index out of range: {index} for {extent} rows");
        return Err(Error::new(ErrorKind::Index, text));
    }
    Ok(from_start as usize)
}
