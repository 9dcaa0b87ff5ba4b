//! One-hot rows.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::record::{Definition, Entry, Family, Kind, NO_LIBRARY, Op, Rungs, keyword, required};
use crate::samples;
use crate::select::positions;
use crate::shape::nothing_to_compute;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, with_element};

pub const OPS: &[Op] = &[Op {
    names: &["one-hot"],
    doc: "For each index a row of n zeros with a one at the index.",
    parameters: &[
        required("indices", Kind::Index),
        required("n", Kind::Integer),
        keyword("element-type", Kind::ElementType),
    ],
    result: "an array of the indices' shape with n appended",
    prepare: one_hot,
    rungs: Rungs {
        portable: Definition::One(one_hot_portable),
        lanes: Entry::None("a fill with one store a row is bound by memory"),
        library: Entry::None(NO_LIBRARY),
        device: Entry::None("it moves more bytes than it saves time"),
    },
    samples: || {
        let indices = vec![samples::integer(2), samples::integer(0)];
        vec![
            vec![samples::counting(&[2, 3], 4), samples::integer(4)],
            vec![samples::counting(&[0, 3], 4), samples::integer(4)],
            vec![samples::counting(&[4], 1), samples::integer(1)],
            vec![Value::List(indices), samples::integer(3)],
            vec![samples::integer(2), samples::integer(3)],
        ]
    },
    example: "(la:one-hot '(1 0) 3) => #d((0.0 1.0 0.0) (1.0 0.0 0.0))",
    ..Op::BASE
}];

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
        wanted: Default::default(),
        more: Vec::new(),
        targets: Default::default(),
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
