//! Pooling by the largest element and by the mean, with adjoints: members of a training step. The
//! definitions are `rung_math::windows`.

use crate::arguments::Arguments;
use crate::call::{
    Call, Context, Detail, Output, Prepared, at_compute_type, at_float_type, elements,
    integers_not_taken, lanes_operand, waiting,
};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{Definition, Family, Kind, Offer, Op, Parameter, Rungs, required};
use crate::round_trip::RoundTrip;
use crate::rowwise::{MEMBER, is_half};
use crate::samples::{self, Sample};
use crate::select::sums;
use crate::value::Value;
use crate::windows::{
    Layout, at, floats, largest_device, list_of, means_device, planes_call, shaped, shares_device,
    take_in, take_in_lanes, windows_of,
};
use rung_array::Array;
use rung_base::{
    Element, ElementType, Error, ErrorKind, Result, Shape, bf16, f16, memory, with_element,
};
use rung_lanes::{Float, Lanes, windows as drivers};
use rung_math::Real;
use rung_math::accumulate::{Accumulate, scatter};
use rung_math::windows::{self as definitions, Windows};

pub const OPS: &[Op] = &[
    Op {
        names: &["%la-max-pool"],
        doc: "The largest element of each window of kh by kw elements, as `amax` finds it, and its \
              row-major position in x, the first on ties. Padding never wins.",
        parameters: POOL,
        result: "two arrays (batch, channels, oy, ox): one of x's type, one of (signed-byte 64)",
        prepare: prepare_largest,
        rungs: Rungs::with_device(
            Definition::Several(largest_portable),
            largest_lanes,
            Offer::ResidentOnly,
            largest_device,
        ),
        samples: || pool_samples(samples::hard),
        example: "(linalg::%la-max-pool #d((((1 5) (2 3) (4 4)))) 1 2 1 0) => \
                  #d((((5.0) (3.0) (4.0))))",
        ..MEMBER
    },
    Op {
        names: &["%la-max-pool-grad"],
        doc: "From the gradient of a max-pool's values and its positions, that of the array of a \
              shape that it pooled: each element takes in those of its windows, ascending.",
        parameters: &[
            required("dy", Kind::Array),
            required("idx", Kind::Index),
            required("shape", Kind::Shape),
        ],
        result: "an array of dy's type",
        prepare: prepare_largest_gradient,
        rungs: Rungs::with_device(
            Definition::One(unpool_portable),
            unpool_lanes,
            Offer::ResidentOnly,
            unpool_device,
        ),
        samples: largest_gradient_samples,
        example: "(linalg::%la-max-pool-grad #d((((1 2)))) #d((((1 1)))) '(1 1 1 3)) => \
                  #d((((0.0 3.0 0.0))))",
        ..MEMBER
    },
    Op {
        names: &["%la-avg-pool"],
        doc: "The mean of each window of kh by kw elements, as `mean` folds it; the padding's \
              zeros count.",
        parameters: POOL,
        result: "an array (batch, channels, oy, ox) of x's type",
        prepare: prepare_means,
        rungs: Rungs::with_device(
            Definition::One(means_portable),
            means_lanes,
            Offer::ResidentOnly,
            means_device,
        ),
        samples: || {
            let mut all = pool_samples(samples::hard);
            // More elements in a window than partial sums, and than a chunk has.
            for (extents, k, step) in [([2, 1, 20, 70], 9, 1), ([1, 1, 67, 66], 65, 11)] {
                let numbers = [k, k, step, k / 2].map(samples::integer);
                all.push([vec![samples::spread(&extents, 2.0)], numbers.to_vec()].concat());
            }
            all
        },
        example: "(linalg::%la-avg-pool #d((((1 2) (3 6)))) 2 2 1 0) => #d((((3.0))))",
        ..MEMBER
    },
    Op {
        names: &["%la-avg-pool-grad"],
        doc: "From the gradient of an avg-pool, that of the array of a shape that it pooled: each \
              element takes in the shares dy/(kh*kw) of the windows that read it, (oy, ox) \
              ascending, with one rounding a step.",
        parameters: &[
            required("dy", Kind::Array),
            required("shape", Kind::Shape),
            required("kh", Kind::Integer),
            required("kw", Kind::Integer),
            required("stride", Kind::Pair),
            required("pad", Kind::Pair),
        ],
        result: "an array of dy's type",
        prepare: prepare_means_gradient,
        rungs: Rungs::with_device(
            Definition::One(shares_portable),
            shares_lanes,
            Offer::ResidentOnly,
            shares_device,
        ),
        samples: means_gradient_samples,
        example: "(linalg::%la-avg-pool-grad #d((((2 4)))) '(1 1 1 3) 1 2 1 0) => \
                  #d((((1.0 3.0 2.0))))",
        ..MEMBER
    },
];

const POOL: &[Parameter] = &[
    required("x", Kind::Array),
    required("kh", Kind::Integer),
    required("kw", Kind::Integer),
    required("stride", Kind::Pair),
    required("pad", Kind::Pair),
];

/// The windows of a pool; more padding than half a window would leave some with nothing to read.
fn pool_windows(
    op: &'static Op,
    arguments: &mut Arguments,
    first: usize,
    shape: &Shape,
) -> Result<Windows> {
    let layout = Layout::of(op, arguments, first)?;
    let ([kh, kw], [ph, pw]) = (layout.taps, layout.pad);
    if ph > kh / 2 || pw > kw / 2 {
        let wanted = format!(
            "{} expects pad of at most half the window, ({} {}) for ({kh} {kw})",
            op.name(),
            kh / 2,
            kw / 2
        );
        return Err(Error::wanted(ErrorKind::Argument, wanted, format!("({ph} {pw})")));
    }
    layout.windows(op, shape)
}

fn pooled_shape(w: &Windows) -> Result<Shape> {
    Shape::new([w.batch, w.channels, w.down.count, w.across.count])
}

fn prepare_largest(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let x = arguments.array(0)?;
    floats(op, "x", &x)?;
    let windows = pool_windows(op, &mut arguments, 1, x.shape())?;
    if windows.plane() == 0 && windows.planes() > 0 {
        let wanted = format!("{} expects planes with elements", op.name());
        return Err(Error::wanted(ErrorKind::Empty, wanted, x.shape()));
    }
    let (shape, result) = (pooled_shape(&windows)?, x.element_type());
    let call = Call::like(op, waiting(&x, result.compute_type())?, result, Family::Fold);
    let call = call.at_types(&[result.compute_type()]);
    let index = ElementType::I64;
    let more = vec![Output { shape: shape.clone(), raw: index, result: index, to_number: false }];
    let units = (shape.size() * windows.taps()) as u64;
    let (raw, detail) = (result.compute_type(), Detail::Windows(windows));
    Ok(Prepared::Call(Box::new(Call { shape, raw, more, units, detail, ..call })))
}

/// x (batch, channels, height, width), values and positions (batch, channels, oy, ox).
fn two_of<T: Element>(call: &Call, fill: impl FnOnce(&mut [T], &mut [i64])) -> Result<Vec<Array>> {
    let mut positions = Err(Error::new(ErrorKind::Internal, "a pool without positions"));
    let values = Array::build::<T>(call.shape.clone(), |values| {
        positions = Array::build::<i64>(call.shape.clone(), |places| fill(values, places));
    })?;
    Ok(vec![values, positions?])
}

fn largest_portable(call: &Call) -> Result<Vec<Array>> {
    let windows = windows_of(call)?;
    at_compute_type!(call, T => two_of::<T>(call, |values, places| {
        let x = call.operands[0].view::<T>();
        definitions::largest(windows, |index| at(&x, index), values, places);
    }), integers_not_taken(call).map(|a| vec![a]))
}

fn largest_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let windows = windows_of(call)?;
    at_compute_type!(call, T => two_of::<T>(call, |values, places| {
        drivers::largest(lanes, windows, lanes_operand(&call.operands[0]), values, places);
    }), integers_not_taken(call).map(|a| vec![a]))
    .map(Answer::Several)
}

fn prepare_largest_gradient(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (dy, (indices, form)) = (arguments.array(0)?, arguments.index(1)?);
    let shape = arguments.shape(2)?;
    floats(op, "dy", &dy)?;
    shaped(op, "idx", &form, dy.shape())?;
    let alike = shape.rank() == 4 && dy.rank() == 4 && shape[..2] == dy.shape()[..2];
    if !alike {
        let text = format!(
            "{} expects dy (batch channels oy ox) and shape (batch channels height width) of one \
             batch and as many channels: got {} and {shape}",
            op.name(),
            dy.shape()
        );
        return Err(Error::new(ErrorKind::Shape, text));
    }
    let (plane, windows) = (shape[2] * shape[3], dy.shape()[2] * dy.shape()[3]);
    let position = |(at, &index): (usize, &i64)| {
        let of = at / windows.max(1);
        let place = usize::try_from(index).ok().filter(|place| place / plane.max(1) == of);
        place.filter(|_| plane > 0).ok_or_else(|| {
            let text =
                format!("{} index out of range: {index} in plane {of} of {plane}", op.name());
            Error::new(ErrorKind::Index, text)
        })
    };
    let mut positions = memory::room(indices.len(), || format!("{} indices", indices.len()))?;
    for each in indices.iter().enumerate().map(position) {
        positions.push(each?);
    }
    let t = dy.element_type();
    let call = Call::like(op, dy, t, Family::Copy);
    let detail = Detail::Rows(positions);
    Ok(Prepared::Call(Box::new(Call { shape, detail, ..call })))
}

fn positions_of(call: &Call) -> Result<&[usize]> {
    match &call.detail {
        Detail::Rows(positions) => Ok(positions),
        _ => Err(Error::new(ErrorKind::Internal, "a pool's gradient without positions")),
    }
}

/// dy (batch, channels, oy, ox), out (batch, channels, height, width).
fn unpool_portable(call: &Call) -> Result<Array> {
    let positions = positions_of(call)?;
    with_element!(call.raw, T => {
        let dy = elements::<T>(&call.operands[0])?;
        Array::build::<T>(call.shape.clone(), |out| {
            out.fill(T::default());
            scatter(out, 1, positions, &dy);
        })
    })
}

fn unpool_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (positions, dy) = (positions_of(call)?, packed(&call.operands[0])?);
    let planes = call.shape[0] * call.shape[1];
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let source = dy.as_slice::<T>().unwrap_or(&[]);
        drivers::unpool(lanes, planes, positions, source, out);
    }))
    .map(Answer::Done)
}

/// The same; the positions go up.
fn unpool_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    sums(trip, &call.operands[0], positions_of(call)?, &call.shape)
}

fn prepare_means(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let x = arguments.array(0)?;
    floats(op, "x", &x)?;
    let windows = pool_windows(op, &mut arguments, 1, x.shape())?;
    let (shape, result) = (pooled_shape(&windows)?, x.element_type());
    // Means are made in double; only what no rung writes is narrowed afterwards.
    let raw = if is_half(result) { ElementType::F64 } else { result };
    let call = Call::like(op, waiting(&x, result.compute_type())?, result, Family::Fold);
    let call = call.at_types(&[result.compute_type()]);
    let units = (shape.size() * windows.taps()) as u64;
    let detail = Detail::Windows(windows);
    Ok(Prepared::Call(Box::new(Call { shape, raw, units, detail, ..call })))
}

fn means_portable(call: &Call) -> Result<Array> {
    match (call.operands[0].element_type(), call.raw) {
        (ElementType::F32, ElementType::F32) => means_of::<f32, f32>(call),
        (ElementType::F32, _) => means_of::<f32, f64>(call),
        _ => means_of::<f64, f64>(call),
    }
}

/// x (batch, channels, height, width), out (batch, channels, oy, ox).
fn means_of<T: Element + Into<f64>, U: Element + Real>(call: &Call) -> Result<Array> {
    let windows = windows_of(call)?;
    Array::build::<U>(call.shape.clone(), |out| {
        let x = call.operands[0].view::<T>();
        let mean = |i: usize, mean| out[i] = U::constant(mean);
        definitions::means(windows, |index| at(&x, index).into(), mean);
    })
}

fn means_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    match (call.operands[0].element_type(), call.raw) {
        (ElementType::F32, ElementType::F32) => means_lanes_of::<f32, f32>(call, lanes),
        (ElementType::F32, _) => means_lanes_of::<f32, f64>(call, lanes),
        _ => means_lanes_of::<f64, f64>(call, lanes),
    }
}

fn means_lanes_of<T: Float, U: Float>(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let windows = windows_of(call)?;
    Array::build::<U>(call.shape.clone(), |out| {
        drivers::means(lanes, windows, lanes_operand::<T>(&call.operands[0]), out);
    })
    .map(Answer::Done)
}

fn prepare_means_gradient(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let (dy, shape) = (arguments.array(0)?, arguments.shape(1)?);
    floats(op, "dy", &dy)?;
    let windows = pool_windows(op, &mut arguments, 2, &shape)?;
    shaped(op, "dy", dy.shape(), &pooled_shape(&windows)?)?;
    Ok(Prepared::Call(Box::new(planes_call(op, dy, shape, windows))))
}

/// An element whose share among a number of others is rounded once to its width.
trait Share: Element + Accumulate {
    fn share(self, count: usize) -> Self;
}

macro_rules! share {
    ($($t:ty: |$x:ident, $n:ident| $share:expr;)*) => {
        $(impl Share for $t {
            #[inline(always)]
            fn share(self, $n: usize) -> $t {
                let $x = self;
                $share
            }
        })*
    };
}
share! {
    f64: |x, n| x / n as f64;
    f32: |x, n| x / n as f32;
    bf16: |x, n| bf16::from_f32(x.to_f32() / n as f32);
    f16: |x, n| f16::from_f32(x.to_f32() / n as f32);
}

fn shares_portable(call: &Call) -> Result<Array> {
    let taps = windows_of(call)?.taps();
    at_float_type!(call.raw, T => take_in::<T>(call, |dy| dy.share(taps)))
}

fn shares_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let taps = windows_of(call)?.taps();
    at_float_type!(call.raw, T => take_in_lanes::<T>(call, lanes, move |dy| dy.share(taps)))
}

/// Extents, window, stride and pad.
type Case = ([usize; 4], [i64; 2], [i64; 2], [i64; 2]);
const CASES: [Case; 9] = [
    ([1, 1, 1, 1], [1, 1], [1, 1], [0, 0]),
    ([2, 3, 5, 7], [2, 2], [2, 2], [0, 0]),
    ([2, 3, 5, 7], [3, 2], [1, 1], [1, 1]),
    ([1, 2, 8, 9], [2, 2], [3, 4], [0, 1]),
    ([1, 2, 3, 4], [3, 4], [1, 1], [0, 0]),
    ([0, 3, 4, 4], [3, 3], [1, 1], [1, 1]),
    ([2, 0, 4, 4], [3, 3], [1, 1], [1, 1]),
    ([3, 1, 9, 130], [3, 3], [2, 1], [1, 1]),
    ([2, 5, 40, 41], [3, 3], [1, 1], [1, 0]),
];

fn pair(pair: &[i64; 2]) -> Value {
    samples::list(pair.iter().map(|&n| samples::integer(n)).collect())
}

fn arguments_of((_, [kh, kw], stride, pad): &Case) -> Sample {
    vec![samples::integer(*kh), samples::integer(*kw), pair(stride), pair(pad)]
}

fn pool_samples(x: fn(&[usize], f64) -> Value) -> Vec<Sample> {
    CASES.iter().map(|case| [vec![x(&case.0, 2.0)], arguments_of(case)].concat()).collect()
}

fn pooled((extents, taps, stride, pad): &Case) -> [usize; 4] {
    let count = |i: usize| {
        let padded = extents[i + 2] as i64 + 2 * pad[i];
        ((padded - taps[i]) / stride[i] + 1) as usize
    };
    [extents[0], extents[1], count(0), count(1)]
}

fn means_gradient_samples() -> Vec<Sample> {
    let sample = |case: &Case| {
        let first = vec![samples::hard(&pooled(case), 2.0), list_of(&case.0)];
        [first, arguments_of(case)].concat()
    };
    CASES.iter().map(sample).collect()
}

/// Positions inside their planes, with many repeats.
fn largest_gradient_samples() -> Vec<Sample> {
    let sample = |case: &Case| {
        let (extents, of) = (case.0, pooled(case));
        let (plane, windows) = (extents[2] * extents[3], of[2] * of[3]);
        let place = |i: usize| (i / windows.max(1) * plane + i * 7 % plane.max(1)) as i64;
        let count = of.iter().product();
        let places = Array::vector(&(0..count).map(place).collect::<Vec<i64>>());
        let shape = Shape::new(of).unwrap_or_default();
        let places = places.and_then(|a| a.reshape(shape)).map_or(Value::Nil, Value::Array);
        vec![samples::hard(&of, 2.0), places, list_of(&extents)]
    };
    CASES.iter().map(sample).collect()
}
