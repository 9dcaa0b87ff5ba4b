//! Operations driven by indices: rows by position, one-hot rows, exact comparison of arrays.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::decline::Answer;
use crate::explain;
use crate::record::{
    Definition, Entry, FLOATS, Family, Kind, NO_LIBRARY, Op, Rungs, keyword, required,
};
use crate::samples;
use crate::shape::nothing_to_compute;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, with_element};
use rung_lanes::{Lanes, Matrix};

pub const OPS: &[Op] = &[
    Op {
        names: &["take-rows"],
        doc: "The rows at the given indices of the first axis; they may repeat, and count from \
              the end when negative.",
        parameters: &[required("a", Kind::Array), required("indices", Kind::Index)],
        result: "an array of a's type: the indices' shape, then a's other axes",
        prepare: take_rows,
        rungs: Rungs {
            portable: Definition::One(rows_portable),
            lanes: Entry::Has(rows_lanes),
            library: Entry::None(NO_LIBRARY),
            device: Entry::None("a copy moves more bytes than it saves time"),
        },
        samples: || {
            let indices = |n: &[i64]| Value::List(n.iter().map(|&i| Value::integer(i)).collect());
            vec![
                vec![samples::hard(&[7, 5], 1.0), indices(&[6, 0, 0, -2])],
                vec![samples::spread(&[9], 1.0), samples::counting(&[2, 3], 9)],
                vec![samples::spread(&[3, 4], 1.0), indices(&[])],
            ]
        },
        example: "(la:take-rows #d((1 2) (3 4)) '(1 0 -1)) => #d((3.0 4.0) (1.0 2.0) (3.0 4.0))",
        ..Op::BASE
    },
    Op {
        names: &["one-hot"],
        doc: "For each index a row of n zeros with a one at the index.",
        parameters: &[
            required("indices", Kind::Index),
            required("n", Kind::Integer),
            keyword("element-type", Kind::ElementType),
        ],
        result: "an array of the indices' shape with n appended",
        types: FLOATS,
        prepare: one_hot,
        rungs: Rungs {
            portable: Definition::One(one_hot_portable),
            lanes: Entry::None("a fill with one store a row is bound by memory"),
            library: Entry::None(NO_LIBRARY),
            device: Entry::None("it moves more bytes than it saves time"),
        },
        samples: || vec![vec![samples::counting(&[2, 3], 4), samples::integer(4)]],
        example: "(la:one-hot '(1 0) 3) => #d((0.0 1.0 0.0) (1.0 0.0 0.0))",
        ..Op::BASE
    },
    Op {
        names: &["array-equal"],
        doc: "Whether two arrays have the same shape and equal elements; NaN equals nothing.",
        parameters: &[required("a", Kind::Array), required("b", Kind::Array)],
        result: "t or nil",
        prepare: array_equal,
        rungs: Rungs {
            portable: Definition::None,
            lanes: Entry::None(STOPS),
            library: Entry::None(STOPS),
            device: Entry::None(STOPS),
        },
        samples: || vec![vec![samples::hard(&[20], 1.0), samples::hard(&[20], 1.0)]],
        example: "(la:array-equal #d(1 2) #f(1 2)) => T",
        ..Op::BASE
    },
];

const STOPS: &str = "it stops at the first difference";

/// Indices checked against an axis and counted from its start.
fn positions(indices: &[i64], extent: usize, what: &str) -> Result<Vec<usize>> {
    let place = |&i: &i64| {
        let from_start = if i < 0 { i.saturating_add(extent as i64) } else { i };
        usize::try_from(from_start).ok().filter(|&p| p < extent).ok_or_else(|| {
            let text = format!("{what} index out of range: {i} for an axis of {extent}");
            Error::new(ErrorKind::Index, text)
        })
    };
    indices.iter().map(place).collect()
}

fn take_rows(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let (indices, shape) = arguments.index(1)?;
    if a.rank() == 0 {
        return Err(Error::new(ErrorKind::Shape, "take-rows expects an array with an axis"));
    }
    let rows = positions(&indices, a.shape()[0], "take-rows")?;
    let shape = Shape::new(shape.iter().chain(&a.shape()[1..]).copied())?;
    let units = shape.size() as u64;
    let call = Call::like(op, a.clone(), a.element_type(), Family::Copy);
    Ok(Prepared::Call(Box::new(Call { shape, units, detail: Detail::Rows(rows), ..call })))
}

/// a (n, ...), out (rows, ...).
fn rows_portable(call: &Call) -> Result<Array> {
    let Detail::Rows(rows) = &call.detail else { return nothing_to_compute(call) };
    with_element!(call.raw, T => copy_rows::<T>(call, rows))
}

fn copy_rows<T: Element>(call: &Call, rows: &[usize]) -> Result<Array> {
    let a = crate::call::elements::<T>(&call.operands[0])?;
    let width: usize = call.operands[0].shape()[1..].iter().product();
    Array::build::<T>(call.shape.clone(), |out| {
        for (to, &row) in out.chunks_exact_mut(width.max(1)).zip(rows) {
            to.copy_from_slice(&a[row * width..(row + 1) * width]);
        }
    })
}

fn one_hot(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (indices, shape) = arguments.index(0)?;
    let n = arguments.integer(1)?;
    let result = arguments.element_type(2, ElementType::F64)?;
    let n = usize::try_from(n).map_err(|_| {
        Error::wanted(ErrorKind::Argument, "one-hot expects a non-negative count", n)
    })?;
    if let Some(bad) = indices.iter().find(|&&i| i < 0) {
        let text = format!("one-hot index out of range: {bad} for {n}");
        return Err(Error::new(ErrorKind::Index, text));
    }
    let hot = positions(&indices, n, "one-hot")?;
    let shape = Shape::new(shape.iter().copied().chain([n]))?;
    Ok(Prepared::Call(Box::new(Call {
        op,
        operands: Default::default(),
        given: Default::default(),
        units: shape.size() as u64,
        shape,
        raw: result,
        result,
        to_number: false,
        more: Vec::new(),
        detail: Detail::Rows(hot),
        family: Family::Copy,
    })))
}

fn one_hot_portable(call: &Call) -> Result<Array> {
    let Detail::Rows(hot) = &call.detail else { return nothing_to_compute(call) };
    let mut out = Array::zeros(call.raw, call.shape.clone())?;
    let n = call.shape[call.shape.rank() - 1];
    with_element!(call.raw, T => {
        let one = Array::full(T::TYPE, Shape::scalar(), Number::I64(1))?.view::<T>().data[0];
        let elements = out.make_mut::<T>()?;
        hot.iter().enumerate().for_each(|(row, &at)| elements[row * n + at] = one);
    });
    Ok(out)
}

fn array_equal(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, b) = (arguments.array(0)?, arguments.array(1)?);
    let equal = |(x, y): (Number, Number)| match (x, y) {
        (Number::I64(x), Number::I64(y)) => x == y,
        (x, y) => x.to_f64() == y.to_f64(),
    };
    let same = a.shape() == b.shape() && a.numbers().zip(b.numbers()).all(equal);
    Ok(Prepared::Done(vec![Value::flag(same)]))
}

fn rows_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let Detail::Rows(rows) = &call.detail else {
        return nothing_to_compute(call).map(Answer::Done);
    };
    let x = explain::packed(&call.operands[0])?;
    let width: usize = x.shape()[1..].iter().product();
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let (elements, _) = x.span::<T>();
        let matrix = Matrix::new(elements, x.shape()[0], width);
        rung_lanes::copy::take_rows(lanes, matrix, rows, out);
    }))
    .map(Answer::Done)
}
