//! Functions of whole slices along an axis, fused: the definitions are `rung_math::rows`, the
//! kernels of the lanes bear their types. Here are what every such record shares, and the members
//! that a training step needs; softmax itself is in `softmax`.
//!
//! A fused form gives the bits of the chain of named functions that it stands for. Half widths
//! round after each step of the chain, so there the chain itself runs.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, Run, at_compute_type, at_type, elements, integers_not_taken,
    lanes_operand, types_of, width_of,
};
use crate::decline::Answer;
use crate::explain::reshaped;
use crate::fold::Folded;
use crate::record::{
    Definition, FLOATS, Family, INTERNAL, Kind, Offer, Op, Parameter, Rungs, optional, required,
};
use crate::round_trip::{Placed, RoundTrip};
use crate::samples::{self, Sample};
use crate::softmax::{chain_softmax, largest, total};
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_kernel::broadcast::View;
use rung_kernel::rows;
use rung_lanes::Lanes;
use rung_lanes::fold::{self as drivers, RowKernel};
use rung_math::Real;
use rung_math::rows::{
    LayerNorm, LayerNormAffine, LayerNormGradient, LogSoftmaxGradient, MaskedSoftmax, Rowwise,
    SoftmaxGradient, apply,
};
use rung_math::trace::trace_rows;
use smallvec::{SmallVec, smallvec};

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-softmax-grad"],
        doc: "From y = softmax(x) and the gradient of y, that of x: t = dy*y; y*(dy - sum(t)).",
        parameters: GRADIENT,
        prepare: |op, arguments, _| prepare_gradient(op, arguments, softmax_gradient),
        rungs: rungs::<SoftmaxGradient, 2>(Offer::RoundTrip(Family::Fold)),
        samples: pairs_along,
        example: "(linalg::%la-softmax-grad #d(0.25 0.75) #d(1 0) -1) => #d(0.1875 -0.1875)",
        ..MEMBER
    },
    Op {
        names: &["%la-log-softmax-grad"],
        doc: "From y = log-softmax(x) and the gradient of y, that of x: dy - exp(y)*sum(dy).",
        parameters: GRADIENT,
        prepare: |op, arguments, _| prepare_gradient(op, arguments, log_softmax_gradient),
        rungs: rungs::<LogSoftmaxGradient, 2>(ELEMENTARY),
        samples: pairs_along,
        example: "(linalg::%la-log-softmax-grad #d(0 0) #d(1 0) -1) => #d(0.0 -1.0)",
        ..MEMBER
    },
    Op {
        names: &["%la-masked-softmax"],
        doc: "softmax(where(mask, fill, x/divisor)) along an axis; the mask broadcasts to x.",
        parameters: &[
            required("x", Kind::Array),
            required("mask", Kind::Array),
            required("divisor", Kind::Number),
            required("fill", Kind::Number),
            optional("axis", Kind::Integer),
        ],
        prepare: prepare_masked,
        rungs: rungs::<MaskedSoftmax, 2>(ELEMENTARY),
        samples: masked_samples,
        example: "(linalg::%la-masked-softmax #d(1 1 5) #d(0 0 1) 2 -1d9 -1) => #d(0.5 0.5 0.0)",
        ..MEMBER
    },
    Op {
        names: &["%la-masked-softmax-grad"],
        doc: "From y = masked-softmax(x) and the gradient of y, that of x: the softmax's, zero \
              where the mask is true, over the divisor.",
        parameters: &[
            required("y", Kind::Array),
            required("dy", Kind::Array),
            required("mask", Kind::Array),
            required("divisor", Kind::Number),
            optional("axis", Kind::Integer),
        ],
        prepare: prepare_masked_gradient,
        rungs: Rungs::STEPS,
        samples: || {
            let mask = samples::counting(&[5, 1], 2);
            let y = || samples::spread(&[5, 7], 1.0);
            vec![vec![y(), y(), mask, samples::number(2.0), samples::integer(-1)]]
        },
        example: "(linalg::%la-masked-softmax-grad #d(0.5 0.5) #d(1 0) #d(0 1) 2 -1) => \
                  #d(0.125 0.0)",
        ..MEMBER
    },
    Op {
        names: &["%la-layer-norm"],
        doc: "(x - mean)/sqrt(var + eps) along the last axis; mean and var are stored at x's \
              width.",
        parameters: &[required("x", Kind::Array), required("eps", Kind::Number)],
        prepare: prepare_layer_norm,
        rungs: rungs::<LayerNorm, 1>(Offer::RoundTrip(Family::Fold)),
        samples: || with_eps(vec![vec![3, 40], vec![1], vec![2, 3, 65], vec![4097], vec![0, 3]], 0),
        example: "(linalg::%la-layer-norm #d(1 3) 0) => #d(-1.0 1.0)",
        ..MEMBER
    },
    Op {
        names: &["%la-layer-norm-grad"],
        doc: "From x and the gradient of its layer norm, that of x: with xh the layer norm and s \
              the root, (dy - mean(dy) - xh*mean(dy*xh))/s.",
        parameters: &[
            required("x", Kind::Array),
            required("dy", Kind::Array),
            required("eps", Kind::Number),
        ],
        prepare: prepare_layer_norm_gradient,
        rungs: rungs::<LayerNormGradient, 2>(Offer::RoundTrip(Family::Fold)),
        samples: || with_eps(vec![vec![3, 40], vec![1], vec![2, 3, 65], vec![4097]], 1),
        example: "(linalg::%la-layer-norm-grad #d(1 3) #d(1 2) 0) => #d(0.0 0.0)",
        ..MEMBER
    },
    Op {
        names: &["%la-layer-norm-affine"],
        doc: "The layer norm of x times a weight plus a bias, both as long as the last axis.",
        parameters: &[
            required("x", Kind::Array),
            required("g", Kind::Array),
            required("b", Kind::Array),
            required("eps", Kind::Number),
        ],
        prepare: prepare_affine,
        rungs: rungs::<LayerNormAffine, 3>(Offer::RoundTrip(Family::Fold)),
        samples: || affine_samples(true),
        example: "(linalg::%la-layer-norm-affine #d(1 3) #d(2 2) #d(0 1) 0) => #d(-2.0 3.0)",
        ..MEMBER
    },
    Op {
        names: &["%la-layer-norm-affine-grad"],
        doc: "From x, the weight and the gradient of the affine layer norm: those of x, of the \
              weight (fold of dy*xh over the leading axes) and of the bias (fold of dy).",
        parameters: &[
            required("x", Kind::Array),
            required("g", Kind::Array),
            required("dy", Kind::Array),
            required("eps", Kind::Number),
        ],
        result: "three arrays of the first float array's type",
        prepare: prepare_affine_gradient,
        rungs: Rungs::STEPS,
        samples: || affine_samples(false),
        example: "(nth-value 2 (linalg::%la-layer-norm-affine-grad #d((1 3) (3 1)) #d(1 1) \
                  #d((1 2) (3 4)) 0)) => #d(4.0 6.0)",
        ..MEMBER
    },
];

const GRADIENT: &[Parameter] =
    &[required("y", Kind::Array), required("dy", Kind::Array), optional("axis", Kind::Integer)];

/// What the members of this file have in common.
pub(crate) const MEMBER: Op = Op {
    package: INTERNAL,
    result: "an array of the first float array's shape and type",
    types: FLOATS,
    ..Op::BASE
};

/// The rungs of a definition with its fused kernel.
pub(crate) const fn rungs<F: RowKernel<K>, const K: usize>(offer: Offer) -> Rungs {
    Rungs::with_device(Definition::One(portable::<F, K>), lanes::<F, K>, offer, device::<F, K>)
}

/// How a device is offered what has an exponential an element.
pub(crate) const ELEMENTARY: Offer = Offer::RoundTrip(Family::Map);

fn slices_of(call: &Call) -> Result<(usize, &[f64])> {
    match &call.detail {
        Detail::Rowwise { axis, numbers } => Ok((*axis, numbers)),
        _ => Err(Error::new(ErrorKind::Internal, "a function of slices without its axis")),
    }
}

/// x (..., n, ...) each, out the same or without the axis.
fn portable<F: Rowwise<K>, const K: usize>(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => each_slice::<F, T, K>(call), integers_not_taken(call))
}

fn each_slice<F, T, const K: usize>(call: &Call) -> Result<Array>
where
    F: Rowwise<K>,
    T: Real + Into<f64> + rung_base::Element,
{
    let (axis, numbers) = slices_of(call)?;
    let x = &call.operands[0];
    let mut order: Vec<usize> = (0..x.rank()).filter(|i| *i != axis).collect();
    order.push(axis);
    let mut of: Vec<Vec<T>> = Vec::with_capacity(K);
    for operand in &call.operands {
        of.push(elements::<T>(&operand.transpose(&order)?)?);
    }
    let n = x.shape()[axis];
    let slices = x.size() / n.max(1);
    let wanted = || format!("the rows of an array of shape {}", x.shape());
    let mut made = memory::filled(slices * n, T::default(), wanted)?;
    for slice in 0..slices {
        let own = slice * n..(slice + 1) * n;
        let rows = std::array::from_fn(|k| &of[k][own.clone()]);
        apply::<F, T, K>(rows, numbers, &mut made[own.clone()]);
    }
    if F::ONE {
        return Array::build::<T>(call.shape.clone(), |out| {
            let ones = made.chunks(n.max(1)).map(|slice| slice[0]);
            out.iter_mut().zip(ones).for_each(|(out, one)| *out = one);
        });
    }
    let moved = Array::from_slice(&made, Shape::new(order.iter().map(|&i| x.shape()[i]))?)?;
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, &axis)| back[axis] = at);
    moved.transpose(&back)?.to_contiguous()?.reshape(call.shape.clone())
}

fn lanes<F: RowKernel<K>, const K: usize>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (axis, numbers) = slices_of(call)?;
    let shape = call.operands[0].shape();
    at_compute_type!(call, T => Array::build::<T>(call.shape.clone(), |out| {
        let x = std::array::from_fn(|k| lanes_operand::<T>(&call.operands[k]));
        drivers::rows::<F, T, K>(lanes, shape, x, axis, numbers, out);
    }), integers_not_taken(call))
    .map(Answer::Done)
}

/// x (..., n, ...) each, out the same or without the axis.
fn device<F: RowKernel<K>, const K: usize>(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let (axis, numbers) = slices_of(call)?;
    let kernel = trip.kernel(call, "rows", || {
        let program = trace_rows::<F, K>(width_of(call), numbers.len());
        Ok(rows::kernel(call.op.name(), &program))
    })?;
    let placed: Vec<Placed> = call.operands.iter().map(|x| trip.place(x)).collect();
    let operands: Vec<View> = placed.iter().map(Placed::view).collect();
    let shape = call.operands[0].shape();
    let slices = rows::Slices { shape, axis, operands: &operands, one: F::ONE };
    let launch = rows::launch(&kernel, &slices, numbers);
    at_compute_type!(call, T => trip.run::<T>(launch, &placed, call.shape.clone()),
        integers_not_taken(call).map(Answer::Done))
}

/// The most elements of a slice that lies across memory for which the chain is faster than one slice
/// after another, and the fewest slices side by side and in all. On a core with AVX-512 softmax
/// of 98,304 slices of 4 singles took 5.1 ms fused and 0.4 as a chain; of 1,536 slices of 256, 0.52 and 0.56.
const SHORT: usize = 64;
const BESIDE: usize = 16;
const MANY: usize = 256;

/// Whether slices along `axis` are short and lie across memory, neighbours beside each other: as whole
/// arrays they are worked on by vectors, and by a device without a group for each.
pub(crate) fn is_short_across(x: &Array, axis: Option<usize>) -> bool {
    axis.is_some_and(|axis| {
        let beside: usize = x.shape()[axis + 1..].iter().product();
        let n = x.shape()[axis];
        n <= SHORT && beside >= BESIDE && x.size() >= MANY * n
    })
}

/// Whether each step of a chain is rounded to a width that no rung computes in.
pub(crate) fn is_half(t: ElementType) -> bool {
    t.is_float() && t.compute_type() != t
}

/// A call over the slices of operands of one shape, along `axis` or over everything.
pub(crate) fn call_of(
    op: &'static Op,
    given: &[&Array],
    operands: &[Array],
    axis: Option<usize>,
    numbers: &[f64],
    result: ElementType,
) -> Result<Call> {
    let shape = operands[0].shape().clone();
    let flat = |x: &Array| match axis {
        Some(_) => Ok(x.clone()),
        None => reshaped(x, Shape::vector(x.size())),
    };
    let operands: SmallVec<[Array; 3]> = operands.iter().map(flat).collect::<Result<_>>()?;
    let call = Call::like(op, operands[0].clone(), result, Family::Map);
    Ok(Call {
        given: given.iter().map(|a| a.shape().clone()).collect(),
        operands,
        shape,
        detail: Detail::Rowwise { axis: axis.unwrap_or(0), numbers: SmallVec::from_slice(numbers) },
        ..call
    })
}

/// The axis of an optional parameter; slices of nothing are refused.
pub(crate) fn axis_of(
    op: &'static Op,
    arguments: &mut Arguments,
    at: usize,
    x: &Array,
) -> Result<Option<usize>> {
    let axis = arguments.optional_integer(at)?;
    let axis = axis.map(|axis| x.shape().axis(axis)).transpose()?;
    Folded::new(x, axis.map(|axis| smallvec![axis]), false)?.refuse_nothing(op)?;
    Ok(axis)
}

/// The last axis, which must not be empty.
fn last_axis(op: &'static Op, x: &Array) -> Result<usize> {
    let Some(axis) = x.rank().checked_sub(1) else {
        let text = format!("{} expects an array with an axis", op.name());
        return Err(Error::new(ErrorKind::Shape, text));
    };
    Folded::new(x, Some(smallvec![axis]), false)?.refuse_nothing(op)?;
    Ok(axis)
}

pub(crate) fn number(x: f64) -> Value {
    Value::Number(Number::F64(x))
}

/// Operands at the types of all of them, the others broadcast to the shape of the first.
fn together(operands: &[Array]) -> Result<(Vec<Array>, ElementType)> {
    let all: Vec<Operand> = operands.iter().cloned().map(Operand::Array).collect();
    let types = types_of(&all).floating();
    let shape = operands[0].shape();
    let laid: Result<Vec<Array>> =
        operands.iter().map(|a| at_type(a, types.compute)?.broadcast_to(shape)).collect();
    Ok((laid?, types.result))
}

type GradientChain = fn(&mut dyn Run, Array, Array, Option<usize>) -> Result<Array>;

fn prepare_gradient(
    op: &'static Op,
    mut arguments: Arguments,
    chain: GradientChain,
) -> Result<Prepared> {
    let (y, dy) = (arguments.array(0)?, arguments.array(1)?);
    let axis = axis_of(op, &mut arguments, 2, &y)?;
    let given = [y, dy];
    let (operands, result) = together(&given)?;
    let [y, dy] = given;
    if is_half(result) {
        return Ok(Prepared::Steps(Box::new(move |run| Ok(vec![chain(run, y, dy, axis)?.into()]))));
    }
    let call = call_of(op, &[&y, &dy], &operands, axis, &[], result)?;
    Ok(Prepared::Call(Box::new(call)))
}

/// t = dy*y; y*(dy - sum(t)).
fn softmax_gradient(run: &mut dyn Run, y: Array, dy: Array, axis: Option<usize>) -> Result<Array> {
    let t = run.array("mul", vec![dy.clone().into(), y.clone().into()])?;
    let s = total(run, t, axis)?;
    let difference = run.array("sub", vec![dy.into(), s.into()])?;
    run.array("mul", vec![y.into(), difference.into()])
}

/// dy - exp(y)*sum(dy).
fn log_softmax_gradient(
    run: &mut dyn Run,
    y: Array,
    dy: Array,
    axis: Option<usize>,
) -> Result<Array> {
    let s = total(run, dy.clone(), axis)?;
    let e = run.array("exp", vec![y.into()])?;
    let product = run.array("mul", vec![e.into(), s.into()])?;
    run.array("sub", vec![dy.into(), product.into()])
}

fn prepare_masked(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (x, mask) = (arguments.array(0)?, arguments.array(1)?);
    let (divisor, fill) = (arguments.number(2)?, arguments.number(3)?);
    let axis = axis_of(op, &mut arguments, 4, &x)?;
    let mask_shape = mask.shape().clone();
    if mask_shape.broadcast(x.shape())? != *x.shape() {
        let text = format!("shape mismatch: {mask_shape} does not broadcast to {}", x.shape());
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let types = types_of(&[Operand::Array(x.clone())]).floating();
    if is_half(types.result) {
        return Ok(Prepared::Steps(Box::new(move |run| {
            let divisor = Value::Number(divisor);
            let scores = run.array("div", vec![x.into(), divisor])?;
            let fill = Value::Number(fill);
            let masked = run.array("where", vec![mask.into(), fill, scores.into()])?;
            Ok(vec![chain_softmax(run, masked, axis)?.into()])
        })));
    }
    // Truth first: a tiny double is true, and narrowed it would be zero.
    let truth = at_type(&at_type(&mask, ElementType::Bool)?, types.compute)?;
    let operands = [at_type(&x, types.compute)?, truth.broadcast_to(x.shape())?];
    let numbers = [divisor.to_f64(), fill.to_f64()];
    let call = call_of(op, &[&x, &mask], &operands, axis, &numbers, types.result)?;
    Ok(Prepared::Call(Box::new(call)))
}

fn prepare_masked_gradient(
    _: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (y, dy, mask) = (arguments.array(0)?, arguments.array(1)?, arguments.array(2)?);
    let divisor = arguments.number(3)?;
    let axis = arguments.optional_integer(4)?.map_or(Value::Nil, Value::integer);
    Ok(Prepared::Steps(Box::new(move |run| {
        let g = run.array("%la-softmax-grad", vec![y.into(), dy.into(), axis])?;
        let kept = run.array("where", vec![mask.into(), number(0.0), g.into()])?;
        run.call("div", vec![kept.into(), Value::Number(divisor)])
    })))
}

/// Mean and root of a layer norm, kept along the last axis.
fn centre_and_spread(run: &mut dyn Run, x: &Array, eps: Number) -> Result<(Array, Array)> {
    let mu = run.array("mean", along_last(x.clone()))?;
    let v = run.array("var", along_last(x.clone()))?;
    let sum = run.array("add", vec![v.into(), Value::Number(eps)])?;
    Ok((mu, run.array("sqrt", vec![sum.into()])?))
}

fn along_last(x: Array) -> Vec<Value> {
    let keyword = |name: &'static str| Value::Keyword(name.into());
    vec![x.into(), keyword("axis"), Value::integer(-1), keyword("keepdims"), Value::True]
}

/// (x - mu)/s, and s.
fn chain_layer_norm(run: &mut dyn Run, x: Array, eps: Number) -> Result<(Array, Array)> {
    let (mu, s) = centre_and_spread(run, &x, eps)?;
    let centred = run.array("sub", vec![x.into(), mu.into()])?;
    Ok((run.array("div", vec![centred.into(), s.clone().into()])?, s))
}

fn prepare_layer_norm(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (x, eps) = (arguments.array(0)?, arguments.number(1)?);
    let axis = last_axis(op, &x)?;
    let (operands, result) = together(std::slice::from_ref(&x))?;
    if is_half(result) {
        return Ok(Prepared::Steps(Box::new(move |run| {
            Ok(vec![chain_layer_norm(run, x, eps)?.0.into()])
        })));
    }
    let call = call_of(op, &[&x], &operands, Some(axis), &[eps.to_f64()], result)?;
    Ok(Prepared::Call(Box::new(call)))
}

fn prepare_layer_norm_gradient(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (x, dy, eps) = (arguments.array(0)?, arguments.array(1)?, arguments.number(2)?);
    let axis = last_axis(op, &x)?;
    let given = [x, dy];
    let (operands, result) = together(&given)?;
    let [x, dy] = given;
    if is_half(result) {
        return Ok(Prepared::Steps(Box::new(move |run| {
            Ok(vec![chain_layer_norm_gradient(run, x, dy, eps)?.into()])
        })));
    }
    let call = call_of(op, &[&x, &dy], &operands, Some(axis), &[eps.to_f64()], result)?;
    Ok(Prepared::Call(Box::new(call)))
}

/// ((dy - mean(dy)) - xh*mean(dy*xh))/s.
fn chain_layer_norm_gradient(run: &mut dyn Run, x: Array, dy: Array, eps: Number) -> Result<Array> {
    let (xh, s) = chain_layer_norm(run, x, eps)?;
    let t = run.array("mul", vec![dy.clone().into(), xh.clone().into()])?;
    let first = run.array("mean", along_last(dy.clone()))?;
    let second = run.array("mean", along_last(t))?;
    let centred = run.array("sub", vec![dy.into(), first.into()])?;
    let along = run.array("mul", vec![xh.into(), second.into()])?;
    let rest = run.array("sub", vec![centred.into(), along.into()])?;
    run.array("div", vec![rest.into(), s.into()])
}

fn prepare_affine(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = [arguments.array(0)?, arguments.array(1)?, arguments.array(2)?];
    let eps = arguments.number(3)?;
    let axis = last_axis(op, &given[0])?;
    let (operands, result) = together(&given)?;
    let [x, g, b] = given;
    if is_half(result) {
        return Ok(Prepared::Steps(Box::new(move |run| {
            let (xh, _) = chain_layer_norm(run, x, eps)?;
            let scaled = run.array("mul", vec![xh.into(), g.into()])?;
            run.call("add", vec![scaled.into(), b.into()])
        })));
    }
    let call = call_of(op, &[&x, &g, &b], &operands, Some(axis), &[eps.to_f64()], result)?;
    Ok(Prepared::Call(Box::new(call)))
}

fn prepare_affine_gradient(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (x, g, dy) = (arguments.array(0)?, arguments.array(1)?, arguments.array(2)?);
    let eps = arguments.number(3)?;
    let last = last_axis(op, &x)?;
    together(&[x.clone(), g.clone(), dy.clone()])?;
    Ok(Prepared::Steps(Box::new(move |run| {
        let leading = |run: &mut dyn Run, a: Array| match last {
            0 => Ok(a),
            _ => {
                let axes = (0..last).map(|axis| Value::integer(axis as i64)).collect();
                let word = Value::Keyword("axis".into());
                run.array("sum", vec![a.into(), word, Value::List(axes)])
            }
        };
        let eps = || Value::Number(eps);
        let xh = run.array("%la-layer-norm", vec![x.clone().into(), eps()])?;
        let weighed = run.array("mul", vec![dy.clone().into(), xh.into()])?;
        let dh = run.array("mul", vec![dy.clone().into(), g.into()])?;
        let dx = run.array("%la-layer-norm-grad", vec![x.into(), dh.into(), eps()])?;
        let (dg, db) = (leading(run, weighed)?, leading(run, dy)?);
        Ok(vec![dx.into(), dg.into(), db.into()])
    })))
}

/// Softmax of named functions, for the chains of other files.
pub(crate) fn exponentials(
    run: &mut dyn Run,
    x: Array,
    axis: Option<usize>,
) -> Result<(Array, Array, Array)> {
    let m = largest(run, x.clone(), axis)?;
    let difference = run.array("sub", vec![x.into(), m.clone().into()])?;
    let e = run.array("exp", vec![difference.clone().into()])?;
    Ok((m, difference, e))
}

/// Pairs of one shape, along each axis and over everything.
fn pairs_along() -> Vec<Sample> {
    along(&[&[1], &[7], &[65], &[4097], &[3, 40], &[2, 17, 5]])
        .into_iter()
        .map(|(shape, axis)| {
            let mut sample = vec![samples::hard(&shape, 2.0), samples::spread(&shape, 3.0)];
            sample.extend(axis.map(samples::integer));
            sample
        })
        .collect()
}

/// Each shape over everything and along each axis.
pub(crate) fn along(shapes: &[&[usize]]) -> Vec<(Vec<usize>, Option<i64>)> {
    let mut all = Vec::new();
    for shape in shapes {
        all.push((shape.to_vec(), None));
        all.extend((0..shape.len() as i64).map(|axis| (shape.to_vec(), Some(axis))));
    }
    all
}

fn masked_samples() -> Vec<Sample> {
    let sample = |x: &[usize], mask: &[usize], axis: i64| {
        let numbers = [samples::number(8.0), samples::number(-1e9), samples::integer(axis)];
        let mut sample = vec![samples::spread(x, 30.0), samples::counting(mask, 2)];
        sample.extend(numbers);
        sample
    };
    vec![
        sample(&[2, 5, 5], &[5, 5], -1),
        sample(&[2, 5, 17], &[2, 1, 17], -1),
        sample(&[4, 65], &[4, 65], 0),
        sample(&[3, 33], &[], 1),
        sample(&[70], &[70], 0),
    ]
}

/// `more` operands beside the first, then eps.
fn with_eps(shapes: Vec<Vec<usize>>, more: usize) -> Vec<Sample> {
    let of = |shape: &Vec<usize>| {
        let mut sample = vec![samples::spread(shape, 2.0)];
        sample.extend((0..more).map(|_| samples::spread(shape, 3.0)));
        sample.push(samples::number(1e-5));
        sample
    };
    shapes.iter().map(of).collect()
}

fn affine_samples(bias: bool) -> Vec<Sample> {
    let of = |shape: &[usize]| {
        let last = &shape[shape.len() - 1..];
        let third = if bias { samples::spread(last, 1.0) } else { samples::spread(shape, 1.0) };
        vec![samples::spread(shape, 2.0), samples::spread(last, 3.0), third, samples::number(1e-5)]
    };
    vec![of(&[3, 40]), of(&[7]), of(&[2, 3, 65]), of(&[2, 1])]
}
