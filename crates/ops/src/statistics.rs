//! Folds in two steps and what is made of folds: var, std, norm, trace, cov, corrcoef.
//!
//! A variance is a second pass over the distances from the mean, which is not narrowed; a norm
//! is the square root of a fold (`rung_math::fold`). Other norms, cov and corrcoef are made of
//! other operations, at f64 throughout and narrowed once.

use crate::arguments::Arguments;
use crate::call::{
    Call, Context, Detail, Prepared, Run, at_compute_type, at_type, integers_not_taken, narrow,
};
use crate::decline::Answer;
use crate::fold::{
    self, FOLD, Folded, Total, axes_of, device, each_run, folded_count, resident, round_trip,
    rungs, totals, totals_vec, wide,
};
use crate::gradient;
use crate::record::{
    Exactness, FLOATS, Kind, Op, Parameter, RationalFold, Rungs, keyword, required,
};
use crate::round_trip::RoundTrip;
use crate::samples::{self, Sample};
use crate::value::Value;
use rung_array::{Array, Number, SliceSpec};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_kernel::fold::Fold;
use rung_lanes::Lanes;
use rung_lanes::fold::{Centred, Magnitudes, Second, Squares, Sum};
use rung_math::fold::{magnitudes, norm, variance};
use smallvec::SmallVec;

pub const OPS: &[Op] = &[
    Op {
        names: &["var"],
        doc: "The mean of the squared distances from the mean, with n - ddof for n.",
        result: "a double-float, or an array of a's float type",
        parameters: VARIANCE,
        prepare: prepare_variance,
        rungs: rungs(
            variance_portable,
            variance_lanes,
            round_trip(|c, trip| device(c, trip, Fold::Variance)),
        ),
        gradient: gradient::VARIANCE,
        samples: samples::few_folds,
        example: "(la:var #d(1 2 3 4)) => 1.25",
        ..FOLD
    },
    Op {
        names: &["std"],
        doc: "The square root of the variance.",
        result: "a double-float, or an array of a's float type",
        parameters: VARIANCE,
        prepare: prepare_variance,
        rungs: rungs(
            deviation_portable,
            deviation_lanes,
            round_trip(|c, trip| device(c, trip, Fold::Deviation)),
        ),
        gradient: gradient::DEVIATION,
        samples: || [samples::few_folds(), with_ddof()].concat(),
        example: "(la:std #d((1 3) (2 8)) :axis 1) => #d(1.0 3.0)",
        ..FOLD
    },
    Op {
        names: &["norm"],
        doc: "The Euclidean norm of all elements, or along axes. :ord 1, 2, :inf, :-inf or \
              :fro: the norm of a vector, or of a matrix where two axes are folded.",
        result: "a double-float, or an array of a's float type",
        parameters: &[
            required("a", Kind::Array),
            keyword("axis", Kind::Axes),
            keyword("keepdims", Kind::Flag),
            keyword("ord", Kind::Any),
        ],
        prepare: prepare_norm,
        rungs: rungs(norm_portable, norm_lanes, round_trip(norm_device)),
        gradient: gradient::NORM,
        samples: || [samples::few_folds(), norm_samples()].concat(),
        example: "(la:norm #d((3 4) (6 8)) :axis 1) => #d(5.0 10.0)",
        ..FOLD
    },
    Op {
        names: &["trace"],
        rational: Some(RationalFold::Trace),
        doc: "The sum of a matrix's diagonal, or of the one `offset` columns to the right of it.",
        result: "a double-float, an integer for integers",
        parameters: &[required("m", Kind::Array), keyword("offset", Kind::Integer)],
        prepare: prepare_trace,
        rungs: rungs(
            fold::sum_portable,
            fold::sum_lanes,
            resident(|c, trip| device(c, trip, Fold::Sum)),
        ),
        samples: trace_samples,
        example: "(la:trace #d((1 2) (3 4))) => 5.0",
        ..FOLD
    },
    Op {
        names: &["cov"],
        doc: "The covariances of the rows, each a variable whose columns are observations, with \
              n - ddof for n.",
        result: "a square array of a's float type; a double-float for a vector",
        parameters: &[required("a", Kind::Array), keyword("ddof", Kind::Integer)],
        types: FLOATS,
        exact: Exactness::LibraryOrder,
        prepare: |op, arguments, _| prepare_rows(op, arguments, Covariance::Plain),
        rungs: Rungs::STEPS,
        samples: || [row_samples(), with_ddof()].concat(),
        example: "(la:cov #d((1 2 3) (6 4 2))) => #d((1.0 -2.0) (-2.0 4.0))",
        ..Op::BASE
    },
    Op {
        names: &["corrcoef"],
        doc: "The correlations of the rows: covariances divided by both standard deviations, \
              within [-1, 1].",
        result: "a square array of a's float type; a double-float for a vector",
        parameters: &[required("a", Kind::Array)],
        types: FLOATS,
        exact: Exactness::LibraryOrder,
        prepare: |op, arguments, _| prepare_rows(op, arguments, Covariance::Normalised),
        rungs: Rungs::STEPS,
        samples: row_samples,
        example: "(la:corrcoef #d((1 2 3) (6 4 2))) => #d((1.0 -1.0) (-1.0 1.0))",
        ..Op::BASE
    },
];

pub(crate) const VARIANCE: &[Parameter] = &[
    required("a", Kind::Array),
    keyword("axis", Kind::Axes),
    keyword("keepdims", Kind::Flag),
    keyword("ddof", Kind::Integer),
];

fn with_ddof() -> Vec<Sample> {
    let ddof = || samples::word("ddof");
    vec![
        vec![samples::spread(&[4, 33], 2.0), ddof(), samples::integer(1)],
        vec![samples::spread(&[2, 5], 2.0), ddof(), samples::integer(-2)],
        vec![samples::spread(&[3], 2.0), ddof(), samples::integer(3)],
    ]
}

/// What is taken from n before it divides.
fn ddof(arguments: &mut Arguments, at: usize) -> Result<Option<i64>> {
    // n - ddof is computed in 64 bits and divides as a double.
    const MOST: i64 = 1 << 53;
    match arguments.optional_integer(at)? {
        Some(ddof) if !(-MOST..=MOST).contains(&ddof) => {
            Err(Error::wanted(ErrorKind::Argument, "ddof must lie between -2^53 and 2^53", ddof))
        }
        ddof => Ok(ddof),
    }
}

pub(crate) fn too_few(op: &'static Op, n: usize, ddof: i64) -> Error {
    let text = format!("{} needs more elements than ddof: {n} with ddof {ddof}", op.name());
    Error::new(ErrorKind::Empty, text)
}

pub(crate) fn prepare_variance(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut Context,
) -> Result<Prepared> {
    let ddof = ddof(&mut arguments, 3)?.unwrap_or(0);
    let a = arguments.array(0)?;
    let axes = arguments.axes(1, a.shape())?;
    let folded = Folded::new(&a, axes, arguments.flag(2))?;
    if folded.count as i64 <= ddof || folded.count == 0 {
        return Err(too_few(op, folded.count, ddof));
    }
    statistic(op, &a, folded, ddof)
}

/// A fold in f64 with its parameter.
fn statistic(op: &'static Op, a: &Array, folded: Folded, parameter: i64) -> Result<Prepared> {
    let axes = folded.axes.clone();
    let call = folded.call(op, a, fold::types(Total::Mean, a.element_type()))?;
    let detail = Detail::Statistic { axes, parameter };
    Ok(Prepared::Call(Box::new(Call { detail, ..call })))
}

pub(crate) fn parameter_of(call: &Call) -> Result<i64> {
    match &call.detail {
        Detail::Statistic { parameter, .. } => Ok(*parameter),
        _ => Err(Error::new(ErrorKind::Internal, "a statistic without its parameter")),
    }
}

fn variance_portable(call: &Call) -> Result<Array> {
    let ddof = parameter_of(call)?;
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| variance(run.len(), ddof, wide(run))),
        integers_not_taken(call))
}

fn deviation_portable(call: &Call) -> Result<Array> {
    let ddof = parameter_of(call)?;
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| variance(run.len(), ddof, wide(run)).sqrt()),
        integers_not_taken(call))
}

/// The variances, then `last` of each.
fn variances(call: &Call, lanes: &Lanes, last: fn(f64) -> f64) -> Result<Answer> {
    let n = folded_count(call)?;
    let divisor = (n as i64 - parameter_of(call)?) as f64;
    at_compute_type!(call, T => Array::try_build::<f64>(call.shape.clone(), |out| {
        in_blocks(call, out, |part, out| {
            let mut means = totals_vec::<Sum, T>(part, lanes, Second::None)?;
            means.iter_mut().for_each(|mean| *mean /= n as f64);
            totals::<Centred, T>(part, lanes, Second::PerSlice(&means), out)
        })?;
        out.iter_mut().for_each(|o| *o = last(*o / divisor));
        Ok(())
    }), integers_not_taken(call))
    .map(Answer::Done)
}

/// Bytes that two passes go over while they are in L2.
const BLOCK: usize = 1 << 19;

/// Runs `body` over parts of the call along its first axis, where that is kept and long, so that
/// the second pass finds the part in the cache.
fn in_blocks(
    call: &Call,
    out: &mut [f64],
    body: impl Fn(&Call, &mut [f64]) -> Result<()>,
) -> Result<()> {
    let x = &call.operands[0];
    let bytes = x.size() * x.element_type().size();
    let first_kept = x.rank() > 0 && !axes_of(call)?.contains(&0);
    if !first_kept || bytes < 2 * BLOCK {
        return body(call, out);
    }
    let extent = x.shape()[0];
    let rows = (extent * BLOCK / bytes).max(1);
    let cells = out.len() / extent;
    for (i, out) in out.chunks_mut(rows * cells).enumerate() {
        let (start, count) = (i * rows, out.len() / cells);
        let end = Some((start + count) as i64);
        let spec = SliceSpec { start: Some(start as i64), end, step: 1 };
        let part = Call::like(call.op, x.slice(&[spec])?, call.result, call.family);
        let shape = Shape::vector(out.len());
        let axes = SmallVec::from_slice(axes_of(call)?);
        body(&Call { shape, detail: Detail::Fold { axes }, ..part }, out)?;
    }
    Ok(())
}

fn variance_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    variances(call, lanes, |variance| variance)
}

fn deviation_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    variances(call, lanes, f64::sqrt)
}

/// The norms that `:ord` chooses among.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    One,
    Euclid,
    Largest,
    Smallest,
    Frobenius,
}

fn order(value: &Value) -> Result<Option<Order>> {
    let number = match value {
        Value::Nil => return Ok(None),
        Value::Keyword(word) | Value::Symbol(word) => match word.as_ref() {
            "fro" => return Ok(Some(Order::Frobenius)),
            "inf" => f64::INFINITY,
            "-inf" => f64::NEG_INFINITY,
            _ => f64::NAN,
        },
        Value::Number(number) => number.to_f64(),
        _ => f64::NAN,
    };
    Ok(Some(match number {
        1.0 => Order::One,
        2.0 => Order::Euclid,
        f64::INFINITY => Order::Largest,
        f64::NEG_INFINITY => Order::Smallest,
        _ => {
            let text = "norm :ord must be 1, 2, :inf, :-inf or :fro";
            return Err(Error::wanted(ErrorKind::Argument, text, value));
        }
    }))
}

fn prepare_norm(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let order = order(&arguments.any(3))?;
    let a = arguments.array(0)?;
    let axes = arguments.axes(1, a.shape())?;
    // In the order given: the first axis of a matrix holds its rows.
    let given: SmallVec<[usize; 4]> = axes.clone().unwrap_or_else(|| (0..a.rank()).collect());
    let folded = Folded::new(&a, axes, arguments.flag(2))?;
    let Some(order) = order else { return statistic(op, &a, folded, 2) };
    match (order, given.as_slice()) {
        (Order::Frobenius, _) | (Order::Euclid, [_]) => statistic(op, &a, folded, 2),
        (Order::One, [_]) => statistic(op, &a, folded, 1),
        (_, [_]) => extremes(op, &a, folded, None, order),
        (Order::Euclid, &[rows, columns]) => spectral(&a, folded, [rows, columns]),
        (Order::One, &[rows, columns]) => {
            extremes(op, &a, folded, Some((rows, columns)), Order::Largest)
        }
        (_, &[rows, columns]) => extremes(op, &a, folded, Some((columns, rows)), order),
        (_, axes) => {
            let text = format!("norm :ord expects a vector or a matrix: {} axes", axes.len());
            Err(Error::new(ErrorKind::Shape, text).hint(":axis names one axis, or two"))
        }
    }
}

fn axes_value(axes: &[usize]) -> Value {
    Value::List(axes.iter().map(|&axis| Value::integer(axis as i64)).collect())
}

/// What comes back of an array of norms at f64, in the shape of the fold.
fn norms(a: ElementType, shape: &Shape, to_number: bool, norms: Array) -> Result<Vec<Value>> {
    if to_number {
        norms.home()?;
        let number = norms.numbers().next().map_or(f64::NAN, Number::to_f64);
        return Ok(vec![Value::Number(Number::F64(number))]);
    }
    let result = if a.is_float() { a } else { ElementType::F64 };
    Ok(vec![narrow(norms.reshape(shape.clone())?, result)?.into()])
}

/// The largest or smallest magnitude, or sum of magnitudes over the first of `sums` with the
/// second taken among those.
fn extremes(
    op: &'static Op,
    a: &Array,
    folded: Folded,
    sums: Option<(usize, usize)>,
    order: Order,
) -> Result<Prepared> {
    folded.refuse_nothing(op)?;
    let (a, element) = (at_type(a, ElementType::F64)?, a.element_type());
    let name = if order == Order::Smallest { "amin" } else { "amax" };
    Ok(Prepared::Steps(Box::new(move |run| {
        let keep = || [Value::Keyword("keepdims".into()), Value::True];
        let along = |axes: &[usize]| [Value::Keyword("axis".into()), axes_value(axes)];
        let mut magnitudes = run.array("abs", vec![a.into()])?;
        let mut axes = folded.axes.to_vec();
        if let Some((summed, compared)) = sums {
            let mut values = vec![magnitudes.into()];
            values.extend(along(&[summed]));
            values.extend(keep());
            magnitudes = run.array("sum", values)?;
            axes = vec![compared];
        }
        let mut values = vec![magnitudes.into()];
        values.extend(along(&axes));
        values.extend(keep());
        let found = run.array(name, values)?;
        norms(element, &folded.shape, folded.to_number, found)
    })))
}

/// The largest singular value of each matrix.
fn spectral(a: &Array, folded: Folded, [rows, columns]: [usize; 2]) -> Result<Prepared> {
    let element = a.element_type();
    let mut order: Vec<usize> =
        (0..a.rank()).filter(|axis| ![rows, columns].contains(axis)).collect();
    order.extend([rows, columns]);
    let matrices = at_type(a, ElementType::F64)?.transpose(&order)?;
    Ok(Prepared::Steps(Box::new(move |run| {
        let values = run.call("svd", vec![matrices.into()])?;
        let Some(Value::Array(values)) = values.into_iter().nth(1) else {
            return Err(Error::new(ErrorKind::Internal, "a decomposition without its values"));
        };
        let last = values.rank().saturating_sub(1);
        let axis = [Value::Keyword("axis".into()), Value::integer(last as i64)];
        let mut given = vec![values.into()];
        given.extend(axis);
        let largest = run.array("amax", given)?;
        norms(element, &folded.shape, folded.to_number, largest)
    })))
}

fn norm_portable(call: &Call) -> Result<Array> {
    let of: fn(usize, &dyn Fn(usize) -> f64) -> f64 = match parameter_of(call)? {
        1 => |n, x| magnitudes(n, x),
        _ => |n, x| norm(n, x),
    };
    at_compute_type!(call,
        T => each_run::<T, f64>(call, |run| of(run.len(), &wide(run))),
        integers_not_taken(call))
}

fn norm_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let first = parameter_of(call)? == 1;
    at_compute_type!(call, T => Array::try_build::<f64>(call.shape.clone(), |out| {
        if first {
            return totals::<Magnitudes, T>(call, lanes, Second::None, out);
        }
        totals::<Squares, T>(call, lanes, Second::None, out)?;
        out.iter_mut().for_each(|o| *o = o.sqrt());
        Ok(())
    }), integers_not_taken(call))
    .map(Answer::Done)
}

fn norm_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let first = parameter_of(call)? == 1;
    device(call, trip, if first { Fold::Magnitudes } else { Fold::Norm })
}

fn norm_samples() -> Vec<Sample> {
    let matrix = || samples::spread(&[5, 7], 2.0);
    let with = |a: Value, order: Value| vec![a, samples::word("ord"), order];
    let mut all = vec![with(matrix(), samples::word("fro"))];
    for order in [1.0, 2.0, f64::INFINITY, f64::NEG_INFINITY] {
        all.push(with(samples::hard(&[67], 2.0), samples::number(order)));
        all.push(with(matrix(), samples::number(order)));
        let axes = [samples::list(vec![samples::integer(2), samples::integer(0)])];
        let stack = samples::spread(&[3, 4, 5], 2.0);
        let mut sample = with(stack, samples::number(order));
        sample.push(samples::word("axis"));
        sample.extend(axes);
        all.push(sample);
    }
    all
}

fn prepare_trace(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let m = arguments.array(0)?;
    let offset = arguments.optional_integer(1)?.unwrap_or(0);
    if m.rank() != 2 {
        return Err(Error::wanted(ErrorKind::Shape, "trace expects a matrix", m.shape()));
    }
    let diagonal = m.diagonal_at(offset)?;
    let folded = Folded::new(&diagonal, None, false)?;
    let types = fold::types(Total::Sum, m.element_type());
    let call = folded.call(op, &diagonal, types)?;
    Ok(Prepared::Call(Box::new(Call { given: [m.shape().clone()].into_iter().collect(), ..call })))
}

fn trace_samples() -> Vec<Sample> {
    let mut all = vec![
        vec![samples::spread(&[1, 1], 1.0)],
        vec![samples::hard(&[5, 9], 1.0)],
        vec![samples::spread(&[70, 66], 1.0)],
        vec![samples::spread(&[0, 3], 1.0)],
        vec![samples::spread(&[7], 1.0)],
    ];
    for offset in [1, -2, 8, 9, -5, i64::MIN] {
        let word = samples::word("offset");
        all.push(vec![samples::spread(&[5, 9], 2.0), word, samples::integer(offset)]);
    }
    all
}

#[derive(Clone, Copy, PartialEq)]
enum Covariance {
    Plain,
    /// Divided by both standard deviations.
    Normalised,
}

fn row_samples() -> Vec<Sample> {
    vec![
        vec![samples::spread(&[3, 40], 2.0)],
        vec![samples::spread(&[1, 5], 2.0)],
        vec![samples::spread(&[17], 2.0)],
        vec![samples::spread(&[2, 1], 2.0)],
        vec![samples::spread(&[2, 2, 2], 2.0)],
    ]
}

fn prepare_rows(op: &'static Op, mut arguments: Arguments, kind: Covariance) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let ddof = match kind {
        Covariance::Plain => ddof(&mut arguments, 1)?.unwrap_or(1),
        Covariance::Normalised => 1,
    };
    let variables = match a.rank() {
        1 => a.reshape(Shape::matrix(1, a.size())?)?,
        2 => a.clone(),
        _ => {
            let text = format!("{} expects a vector or a matrix", op.name());
            return Err(Error::wanted(ErrorKind::Shape, &text, a.shape()));
        }
    };
    let n = variables.shape()[1];
    if n as i64 <= ddof || n == 0 {
        return Err(too_few(op, n, ddof));
    }
    let (element, to_number) = (a.element_type(), a.rank() == 1);
    let variables = at_type(&variables, ElementType::F64)?;
    Ok(Prepared::Steps(Box::new(move |run| {
        let mut found = covariances(run, variables, (n as i64 - ddof) as f64)?;
        if kind == Covariance::Normalised {
            found = correlations(run, found)?;
        }
        let shape = found.shape().clone();
        norms(element, &shape, to_number, found)
    })))
}

/// x (variables, n) -> (variables, variables): centred, times its transpose, over the divisor.
fn covariances(run: &mut dyn Run, x: Array, divisor: f64) -> Result<Array> {
    let mean = run.array("mean", along_last(x.clone()))?;
    let centred = run.array("sub", vec![x.into(), mean.into()])?;
    let turned = centred.transpose(&[1, 0])?;
    let products = run.array("matmul", vec![centred.into(), turned.into()])?;
    run.array("div", vec![products.into(), Value::Number(Number::F64(divisor))])
}

fn along_last(x: Array) -> Vec<Value> {
    let keyword = |name: &'static str| Value::Keyword(name.into());
    vec![x.into(), keyword("axis"), Value::integer(-1), keyword("keepdims"), Value::True]
}

fn correlations(run: &mut dyn Run, covariances: Array) -> Result<Array> {
    let n = covariances.shape()[0];
    let spread = run.array("sqrt", vec![covariances.diagonal_at(0)?.into()])?;
    let column = spread.reshape(Shape::matrix(n, 1)?)?;
    let once = run.array("div", vec![covariances.into(), column.into()])?;
    let twice = run.array("div", vec![once.into(), spread.into()])?;
    let bound = |x: f64| Value::Number(Number::F64(x));
    let high = run.array("minimum", vec![twice.into(), bound(1.0)])?;
    run.array("maximum", vec![high.into(), bound(-1.0)])
}
