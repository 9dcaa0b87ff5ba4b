//! softmax, log-softmax, logsumexp: fused along an axis or over everything, with the bits of the
//! chain amax, sub, exp, sum, div (`rung_math::rows`).

use crate::arguments::{Arguments, Operand};
use crate::call::{Call, Context, Prepared, Run, lay_out, types_of};
use crate::explain::reshaped;
use crate::fold::{Folded, PARAMETERS};
use crate::gradient;
use crate::record::{FLOATS, Kind, Op, Parameter, keyword, required};
use crate::rowwise::{
    ELEMENTARY, along, axis_of, call_of, exponentials, is_half, is_short_across, rungs,
};
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::Array;
use rung_base::{Result, Shape};
use rung_math::rows::{LogSoftmax, LogSumExp, Softmax};
use smallvec::SmallVec;

pub const OPS: &[Op] = &[
    Op {
        names: &["softmax"],
        doc: "Exponentials that sum to 1, along an axis or over everything: with m = amax and \
              e = exp(x - m), e/sum(e).",
        prepare: |op, arguments, _| prepare(op, arguments, chain_softmax),
        rungs: rungs::<Softmax, 1>(ELEMENTARY),
        example: "(la:softmax #d((1 1) (0 -inf)) :axis 1) => #d((0.5 0.5) (1.0 0.0))",
        ..SOFTMAX
    },
    Op {
        names: &["log-softmax"],
        doc: "The logarithm of softmax without its losses: with m = amax, \
              (x - m) - log(sum(exp(x - m))).",
        prepare: |op, arguments, _| prepare(op, arguments, chain_log_softmax),
        rungs: rungs::<LogSoftmax, 1>(ELEMENTARY),
        example: "(la:log-softmax #d(1000 1000)) => #d(-0.6931471805599453 -0.6931471805599453)",
        ..SOFTMAX
    },
    Op {
        names: &["logsumexp"],
        doc: "The logarithm of the sum of the exponentials, along axes or of everything: with \
              m = amax, m + log(sum(exp(x - m))).",
        parameters: PARAMETERS,
        result: "a float of a's type, or an array of them",
        prepare: prepare_log_sum_exp,
        rungs: rungs::<LogSumExp, 1>(ELEMENTARY),
        gradient: gradient::LOG_SUM_EXP,
        samples: || [softmax_samples(), samples::few_folds()].concat(),
        example: "(la:logsumexp #d(1000 1000)) => 1000.6931471805599",
        ..SOFTMAX
    },
];

const PARAMETER: &[Parameter] = &[required("a", Kind::Operand), keyword("axis", Kind::Integer)];

const SOFTMAX: Op = Op {
    parameters: PARAMETER,
    result: "an array of a's shape and float type (double-float for integers)",
    types: FLOATS,
    samples: softmax_samples,
    ..Op::BASE
};

fn softmax_samples() -> Vec<Sample> {
    let shapes: &[&[usize]] = &[&[1], &[7], &[65], &[4097], &[3, 40], &[2, 17, 5]];
    let sample = |(shape, axis): (Vec<usize>, Option<i64>)| {
        let mut sample = vec![samples::spread(&shape, 9.0)];
        if let Some(axis) = axis {
            sample.extend([samples::word("axis"), samples::integer(axis)]);
        }
        sample
    };
    let mut all: Vec<Sample> = along(shapes).into_iter().map(sample).collect();
    all.push(vec![samples::hard(&[20, 3], 9.0), samples::word("axis"), samples::integer(-1)]);
    all.push(vec![samples::spread(&[3, 0], 1.0), samples::word("axis"), samples::integer(0)]);
    all
}

type Chain = fn(&mut dyn Run, Array, Option<usize>) -> Result<Array>;

fn prepare(op: &'static Op, mut arguments: Arguments, chain: Chain) -> Result<Prepared> {
    let a = arguments.operand(0)?;
    let types = types_of(std::slice::from_ref(&a)).floating();
    let to_number = matches!(a, Operand::Number(_));
    if let (Operand::Array(half), true) = (&a, is_half(types.result)) {
        let half = half.clone();
        let axis = axis_of(op, &mut arguments, 1, &half)?;
        return Ok(steps(chain, half, axis));
    }
    let x = lay_out(a, types)?;
    let axis = axis_of(op, &mut arguments, 1, &x)?;
    if is_short_across(&x, axis) {
        return Ok(steps(chain, x, axis));
    }
    let call = call_of(op, &[&x], std::slice::from_ref(&x), axis, &[], types.result)?;
    Ok(Prepared::Call(Box::new(Call { to_number, ..call })))
}

fn steps(chain: Chain, x: Array, axis: Option<usize>) -> Prepared {
    Prepared::Steps(Box::new(move |run| Ok(vec![chain(run, x, axis)?.into()])))
}

/// A fold by its name over an axis or everything, which stay as extents of 1.
fn kept(run: &mut dyn Run, name: &'static str, x: Array, axis: Option<usize>) -> Result<Array> {
    let word = |name: &'static str| Value::Keyword(name.into());
    let axis = axis.map_or(Value::Nil, |axis| Value::integer(axis as i64));
    run.array(name, vec![x.into(), word("axis"), axis, word("keepdims"), Value::True])
}

pub(crate) fn largest(run: &mut dyn Run, x: Array, axis: Option<usize>) -> Result<Array> {
    kept(run, "amax", x, axis)
}

pub(crate) fn total(run: &mut dyn Run, x: Array, axis: Option<usize>) -> Result<Array> {
    kept(run, "sum", x, axis)
}

pub(crate) fn chain_softmax(run: &mut dyn Run, x: Array, axis: Option<usize>) -> Result<Array> {
    let (_, _, e) = exponentials(run, x, axis)?;
    let s = total(run, e.clone(), axis)?;
    run.array("div", vec![e.into(), s.into()])
}

fn chain_log_softmax(run: &mut dyn Run, x: Array, axis: Option<usize>) -> Result<Array> {
    let (_, difference, e) = exponentials(run, x, axis)?;
    let s = total(run, e, axis)?;
    let log = run.array("log", vec![s.into()])?;
    run.array("sub", vec![difference.into(), log.into()])
}

fn chain_log_sum_exp(run: &mut dyn Run, x: Array, axis: Option<usize>) -> Result<Array> {
    let (m, _, e) = exponentials(run, x, axis)?;
    let s = total(run, e, axis)?;
    let log = run.array("log", vec![s.into()])?;
    let value = run.array("add", vec![m.clone().into(), log.into()])?;
    // Where the largest is infinite, x - m is NaN: the result is what it goes to.
    let infinite = run.array("isinf", vec![m.clone().into()])?;
    run.array("where", vec![infinite.into(), m.into(), value.into()])
}

fn prepare_log_sum_exp(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let axes = arguments.axes(1, a.shape())?;
    let folded = Folded::new(&a, axes, arguments.flag(2))?;
    folded.refuse_nothing(op)?;
    let types = types_of(&[Operand::Array(a.clone())]).floating();
    if let ([axis], false) = (&folded.axes[..], is_half(types.result))
        && is_short_across(&a, Some(*axis))
    {
        let (axis, x) = (Some(*axis), crate::call::at_type(&a, types.compute)?);
        return Ok(Prepared::Steps(Box::new(move |run| {
            Ok(vec![chain_log_sum_exp(run, x, axis)?.reshape(folded.shape)?.into()])
        })));
    }
    let slices = folded_last(&a, &folded.axes)?;
    let last = slices.rank() - 1;
    let (shape, to_number) = (folded.shape, folded.to_number);
    if is_half(types.result) {
        return Ok(Prepared::Steps(Box::new(move |run| {
            let found = chain_log_sum_exp(run, slices, Some(last))?.reshape(shape)?;
            if to_number {
                found.home()?;
            }
            let number = if to_number { found.numbers().next() } else { None };
            Ok(vec![number.map_or_else(|| found.into(), Value::Number)])
        })));
    }
    let x = crate::call::at_type(&slices, types.compute)?;
    let call = call_of(op, &[&a], &[x], Some(last), &[], types.result)?;
    Ok(Prepared::Call(Box::new(Call { shape, to_number, ..call })))
}

/// The kept axes, then one axis of everything folded.
fn folded_last(a: &Array, axes: &[usize]) -> Result<Array> {
    let mut order: SmallVec<[usize; 4]> = (0..a.rank()).filter(|i| !axes.contains(i)).collect();
    let kept = order.len();
    order.extend_from_slice(axes);
    let moved = a.transpose(&order)?;
    if axes.len() == 1 {
        return Ok(moved);
    }
    let count = axes.iter().map(|&axis| a.shape()[axis]).product();
    let extents = moved.shape()[..kept].iter().copied().chain([count]);
    reshaped(&moved, Shape::new(extents)?)
}
