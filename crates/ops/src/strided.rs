//! Elements of an array by strides, packed: a member that a training step needs where a lazy view
//! has to become an array.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Detail, Prepared};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{ALL, Definition, Family, Kind, Offer, Op, Rungs, required};
use crate::round_trip::RoundTrip;
use crate::rowwise::MEMBER;
use crate::samples::{self, Sample};
use rung_array::{Array, Offsets};
use rung_base::{Error, ErrorKind, Result, Strides, with_element};
use rung_lanes::{Lanes, Operand, copy};

pub const OPS: &[Op] = &[Op {
    names: &["%la-gather-strided"],
    doc: "An array of a shape whose element (i, j, ...) is element offset + i*strides[0] + \
          j*strides[1] + ... of a in row-major order.",
    parameters: &[
        required("a", Kind::Array),
        required("shape", Kind::Shape),
        required("strides", Kind::Integers),
        required("offset", Kind::Integer),
    ],
    result: "an array of a's type",
    types: ALL,
    prepare,
    rungs: Rungs::with_device(Definition::One(portable), lanes, Offer::ResidentOnly, device),
    samples: gather_samples,
    example: "(linalg::%la-gather-strided #d(1 2 3 4 5 6) '(2 3) '(1 2) 0) => \
              #d((1.0 3.0 5.0) (2.0 4.0 6.0))",
    ..MEMBER
}];

fn prepare(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, shape) = (arguments.array(0)?, arguments.shape(1)?);
    let a = packed(&a)?;
    let strides = arguments.integers(2)?.unwrap_or_default();
    let offset = arguments.integer(3)?;
    if strides.len() != shape.rank() {
        let wanted = format!("{} expects {} strides for shape {shape}", op.name(), shape.rank());
        return Err(Error::wanted(ErrorKind::Shape, wanted, strides.len()));
    }
    let (mut low, mut high) = (i128::from(offset), i128::from(offset));
    for (&extent, &stride) in shape.iter().zip(&strides) {
        let reach = (extent as i128 - 1) * i128::from(stride);
        low += reach.min(0);
        high += reach.max(0);
    }
    if shape.size() > 0 && (low < 0 || high >= a.size() as i128) {
        let text = format!(
            "{} reads elements {low} to {high} of an array of {}: shape {}",
            op.name(),
            a.size(),
            a.shape()
        );
        return Err(Error::new(ErrorKind::Index, text));
    }
    let start = a.offset() + usize::try_from(offset).unwrap_or(0);
    let strides: Strides = strides.iter().map(|&stride| stride as isize).collect();
    let (units, t) = (shape.size() as u64, a.element_type());
    let call = Call::like(op, a, t, Family::Copy);
    let detail = Detail::Strided { strides, offset: start };
    Ok(Prepared::Call(Box::new(Call { shape, units, detail, ..call })))
}

fn strided(call: &Call) -> Result<(&[isize], usize)> {
    match &call.detail {
        Detail::Strided { strides, offset } => Ok((strides, *offset)),
        _ => Err(Error::new(ErrorKind::Internal, "a gather without strides")),
    }
}

/// a (any shape), out (the shape asked for).
fn portable(call: &Call) -> Result<Array> {
    let (strides, offset) = strided(call)?;
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let a = call.operands[0].view::<T>().data;
        let places = Offsets::new(&call.shape, strides, offset);
        out.iter_mut().zip(places).for_each(|(o, place)| *o = a[place]);
    }))
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (strides, offset) = strided(call)?;
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let a = Operand::new(call.operands[0].view::<T>().data, offset, strides);
        copy::pack(lanes, &call.shape, a, out);
    }))
    .map(Answer::Done)
}

fn device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (strides, offset) = strided(call)?;
    let x = &call.operands[0];
    trip.viewed(x, strides, offset as isize - x.offset() as isize, &call.shape)
}

fn gather_samples() -> Vec<Sample> {
    let list = |n: &[i64]| samples::list(n.iter().map(|&i| samples::integer(i)).collect());
    let of = |a: &[usize], shape: &[i64], strides: &[i64], offset| {
        vec![samples::hard(a, 2.0), list(shape), list(strides), samples::integer(offset)]
    };
    let mut all = vec![
        of(&[1], &[1], &[1], 0),
        of(&[7], &[], &[], 6),
        of(&[7], &[0, 3], &[5, 5], 40),
        of(&[4, 5], &[5, 4], &[1, 5], 0),
        of(&[4, 5], &[3, 2, 4], &[0, -7, 1], 9),
        of(&[4, 5], &[20], &[-1], 19),
        of(&[130, 70], &[70, 130], &[1, 70], 0),
        of(&[300, 300], &[150, 299], &[600, 1], 1),
    ];
    all.push(vec![samples::counting(&[9], 5), list(&[3, 3]), list(&[1, 3]), samples::integer(0)]);
    all
}
