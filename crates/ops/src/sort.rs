//! Sorting and what stands on it: sort, argsort, topk, unique, median, quantile.
//!
//! The order is `rung_math::order`'s: NaN after +inf, both zeros equal, equal elements in order of
//! appearance. A descending sort turns it round, so NaN comes first, and stays stable.

use crate::arguments::Arguments;
use crate::call::{Call, Detail, Output, Prepared, Run, narrow};
use crate::decline::Answer;
use crate::explain::{packed, reshaped};
use crate::record::{Definition, Family, Kind, Offer, Op, Parameter, Rungs, keyword, required};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::slices::{along, axis_of, each_slice, lanes_slices, last_by_default, with_extent};
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, with_element};
use rung_lanes::Lanes;
use rung_lanes::sort::{Slices, Sortable};
use rung_math::locate::between;
use rung_math::order::{self, Ordered};
use std::cmp::Ordering;

mod device;

use device::{argsort_device, sort_device, topk_device};

pub const OPS: &[Op] = &[
    Op {
        names: &["sort"],
        doc: "The elements in ascending order along the last axis, an axis, or all of them with \
              nil; stable, with NaN after infinity and the two zeros equal.",
        result: "an array of a's shape and type",
        prepare: |op, a, _| slices(op, a, None),
        rungs: rungs(Definition::One(sort_portable), sort_lanes, sort_device),
        example: "(la:sort #d((3 1 2) (9 8 7))) => #d((1.0 2.0 3.0) (7.0 8.0 9.0))",
        ..SORT
    },
    Op {
        names: &["argsort"],
        doc: "The positions of the elements in ascending order along the last axis, an axis, or \
              all of them with nil; equal elements in ascending position.",
        result: "an array of (signed-byte 64) of a's shape",
        prepare: |op, a, _| slices(op, a, Some(ElementType::I64)),
        rungs: rungs(Definition::One(argsort_portable), argsort_lanes, argsort_device),
        example: "(la:argsort #d(30 10 20)) => #(1 2 0)",
        ..SORT
    },
    Op {
        names: &["topk"],
        doc: "The k largest elements along an axis, the largest first and NaN before all, ties \
              to the lowest index; and their positions.",
        parameters: &[
            required("a", Kind::Array),
            required("k", Kind::Integer),
            keyword("axis", Kind::Integer),
        ],
        result: "two arrays of k along the axis: values of a's type, positions (signed-byte 64)",
        prepare: topk,
        rungs: rungs(Definition::Several(topk_portable), topk_lanes, topk_device),
        beside: Some(beside),
        samples: || {
            let axis = |n| [samples::word("axis"), samples::integer(n)];
            let of = |shape: &[usize], k| vec![samples::hard(shape, 3.0), samples::integer(k)];
            vec![
                of(&[20], 0),
                of(&[20], 20),
                of(&[33, 7], 3),
                [of(&[33, 7], 5), axis(0).to_vec()].concat(),
                vec![samples::counting(&[500], 7), samples::integer(100)],
            ]
        },
        example: "(la:topk #d(3 9 5 9) 2) => #d(9.0 9.0)",
        ..Op::BASE
    },
    Op {
        names: &["unique"],
        doc: "The distinct elements in ascending order, the index where each appears first, for \
              each element of a the index of its equal among them, and how often each appears. \
              All NaN are one value, and so are the two zeros.",
        parameters: &[required("a", Kind::Array)],
        result: "four arrays: values of a's type, then (signed-byte 64) indices, inverse in a's \
                 shape, counts",
        prepare: unique,
        rungs: Rungs::STEPS,
        samples: || {
            vec![
                vec![samples::hard(&[40], 1.0)],
                vec![samples::counting(&[10, 13], 9)],
                vec![samples::spread(&[0], 1.0)],
            ]
        },
        example: "(la:unique #d(3 1 3)) => #d(1.0 3.0)",
        ..Op::BASE
    },
    Op {
        names: &["median"],
        doc: "The middle element in sorted order, or halfway between the two in the middle, of \
              all elements or along an axis; NaN where there is one.",
        parameters: &[required("a", Kind::Array), keyword("axis", Kind::Integer)],
        result: "a double-float, or an array of a's float type",
        prepare: |op, mut a, _| {
            let (x, axis) = (a.array(0)?, a.optional_integer(1)?);
            quantiles(op, x, axis, Asked { q: vec![0.5], shape: Shape::scalar(), method: "linear" })
        },
        rungs: Rungs::STEPS,
        samples: || middles(&[]),
        example: "(la:median #d(4 1 3 2)) => 2.5",
        ..Op::BASE
    },
    Op {
        names: &["quantile"],
        doc: "The element at q (n - 1) in sorted order, for q in 0..1 or each of several: between \
              two elements on the line through them (:linear), :lower, :higher, the :nearest (the \
              even one of two), or their :midpoint. NaN where there is one.",
        parameters: &[
            required("a", Kind::Array),
            required("q", Kind::Any),
            keyword("axis", Kind::Integer),
            keyword("method", Kind::Choice(METHODS)),
        ],
        result: "a double-float, or an array of a's float type: the shape of q, then a's other \
                 axes",
        prepare: quantile,
        rungs: Rungs::STEPS,
        samples: || {
            let mut all = middles(&[samples::number(0.3)]);
            for method in METHODS {
                let x = samples::spread(&[4, 10], 2.0);
                let q = samples::list([0.0, 0.3, 0.75].map(samples::number).to_vec());
                let method = [samples::word("method"), samples::word(method)];
                let number = [vec![x.clone(), samples::number(0.5)], method.to_vec()].concat();
                all.extend([number, [vec![x, q], method.to_vec()].concat()]);
            }
            all
        },
        example: "(la:quantile #d(10 20 30 40) #d(0 0.5)) => #d(10.0 25.0)",
        ..Op::BASE
    },
];

const METHODS: &[&str] = &["linear", "lower", "higher", "nearest", "midpoint"];

/// Bytes that sorting takes beside operands and results: words that shares are merged into, rows
/// that columns are turned into, and for positions a key of each element.
fn beside(call: &Call, _: usize) -> u64 {
    let Some(x) = call.operands.first() else { return 0 };
    let width = x.element_type().size() as u64;
    let words =
        if call.raw == ElementType::I64 || !call.more.is_empty() { 16 + width } else { width };
    (x.size() as u64).saturating_mul(words)
}

/// A device sorts what is there: sorting here takes less time than the trip.
const fn rungs(
    portable: Definition,
    lanes: fn(&Call, &Lanes) -> Result<Answer>,
    device: fn(&Call, &RoundTrip) -> Result<Answer>,
) -> Rungs {
    Rungs::with_device(portable, lanes, Offer::ResidentOnly, device)
}

const PARAMETERS: &[Parameter] = &[
    required("a", Kind::Array),
    keyword("axis", Kind::Integer),
    keyword("descending", Kind::Flag),
];

/// What sort and argsort have in common.
const SORT: Op = Op { parameters: PARAMETERS, samples: sorting, beside: Some(beside), ..Op::BASE };

fn sorting() -> Vec<samples::Sample> {
    let mut all = Vec::new();
    const SHAPES: [&[usize]; 8] =
        [&[0], &[1], &[17], &[300], &[0, 3], &[33, 1], &[20, 17], &[3, 40, 5]];
    for shape in SHAPES {
        let x = || samples::hard(shape, 4.0);
        all.push(vec![x()]);
        all.push(vec![x(), samples::word("axis"), Value::Nil]);
        all.push(vec![x(), samples::word("axis"), samples::integer(0)]);
        all.push(vec![x(), samples::word("descending"), Value::True]);
    }
    all.push(vec![samples::counting(&[70_000], 1000)]);
    all.push(vec![samples::spread(&[70_000], 1.0), samples::word("axis"), Value::Nil]);
    all
}

/// Samples of median and quantile; `more` follows the array.
fn middles(more: &[Value]) -> Vec<samples::Sample> {
    let of = |x: Value, rest: &[Value]| [vec![x], more.to_vec(), rest.to_vec()].concat();
    let axis = |n| [samples::word("axis"), samples::integer(n)];
    vec![
        of(samples::spread(&[1], 2.0), &[]),
        of(samples::spread(&[300], 2.0), &[]),
        of(samples::hard(&[30], 2.0), &[]),
        of(samples::hard(&[20, 5], 2.0), &axis(0)),
        of(samples::spread(&[4, 7, 6], 2.0), &axis(-1)),
    ]
}

fn slices(op: &'static Op, mut arguments: Arguments, to: Option<ElementType>) -> Result<Prepared> {
    let a = arguments.array(0)?;
    let given = a.shape().clone();
    let (a, axis) = along(a, last_by_default(&mut arguments, 1)?)?;
    let result = to.unwrap_or(a.element_type());
    let detail = Detail::Slices { axis, descending: arguments.flag(2) };
    let call = Call::like(op, a, result, Family::Copy);
    let given = [given].into_iter().collect();
    Ok(Prepared::Call(Box::new(Call { given, raw: result, detail, ..call })))
}

fn sort_portable(call: &Call) -> Result<Array> {
    let (axis, descending) = axis_of(call)?;
    with_element!(call.raw, T => {
        each_slice::<T, T>(&call.operands[0], axis, &call.shape, |x, out| {
            out.copy_from_slice(x);
            order::sort(out, descending);
        })
    })
}

fn sort_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, (_, descending)) = (packed(&call.operands[0])?, axis_of(call)?);
    with_element!(call.raw, T => Array::build::<T>(call.shape.clone(), |out| {
        let x = x.as_slice::<T>().unwrap_or(&[]);
        if let Ok(slices) = lanes_slices(call) {
            T::sort(lanes, x, slices, descending, out);
        }
    }))
    .map(Answer::Done)
}

fn argsort_portable(call: &Call) -> Result<Array> {
    let (axis, descending) = axis_of(call)?;
    with_element!(call.operands[0].element_type(), T => {
        each_slice::<T, i64>(&call.operands[0], axis, &call.shape, |x, out| {
            let positions = order::argsort(x, descending);
            out.iter_mut().zip(positions).for_each(|(out, p)| *out = p as i64);
        })
    })
}

fn argsort_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    positions(call, lanes, call.operands[0].shape()).map(Answer::Done)
}

/// The sorted positions of the only operand, in `shape`, which is its own.
fn positions(call: &Call, lanes: &Lanes, shape: &Shape) -> Result<Array> {
    let (slices, (_, descending)) = (lanes_slices(call)?, axis_of(call)?);
    let x = packed(&call.operands[0])?;
    Array::build::<i64>(shape.clone(), |out| {
        with_element!(x.element_type(), T => {
            let x = x.as_slice::<T>().unwrap_or(&[]);
            T::argsort(lanes, x, slices, descending, out);
        });
    })
}

fn topk(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let (a, k) = (arguments.array(0)?, arguments.integer(1)?);
    let axis = a.shape().axis(arguments.optional_integer(2)?.unwrap_or(-1))?;
    let extent = a.shape()[axis];
    let Some(k) = usize::try_from(k).ok().filter(|k| *k <= extent) else {
        let text = format!("topk k out of range: {k} of an axis of {extent}");
        return Err(Error::new(ErrorKind::Argument, text));
    };
    let (shape, t) = (with_extent(a.shape(), axis, k)?, a.element_type());
    let positions = Output {
        shape: shape.clone(),
        raw: ElementType::I64,
        result: ElementType::I64,
        to_number: false,
    };
    let detail = Detail::Slices { axis, descending: true };
    let call = Call::like(op, a, t, Family::Copy);
    Ok(Prepared::Call(Box::new(Call { shape, detail, more: vec![positions], ..call })))
}

fn topk_portable(call: &Call) -> Result<Vec<Array>> {
    let (x, (axis, _)) = (&call.operands[0], axis_of(call)?);
    with_element!(call.raw, T => {
        let values = each_slice::<T, T>(x, axis, &call.shape, |x, out| {
            let positions = order::argsort(x, true);
            out.iter_mut().zip(positions).for_each(|(out, p)| *out = x[p]);
        })?;
        let positions = each_slice::<T, i64>(x, axis, &call.shape, |x, out| {
            let positions = order::argsort(x, true);
            out.iter_mut().zip(positions).for_each(|(out, p)| *out = p as i64);
        })?;
        Ok(vec![values, positions])
    })
}

fn topk_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, slices) = (packed(&call.operands[0])?, lanes_slices(call)?);
    let sorted = positions(call, lanes, x.shape())?;
    let kept = call.shape[axis_of(call)?.0];
    // The first k of every slice lie one after another in each plane.
    let first = Array::build::<i64>(call.shape.clone(), |out| {
        let sorted = sorted.as_slice::<i64>().unwrap_or(&[]);
        let planes = sorted.chunks_exact((slices.length * slices.inner).max(1));
        for (out, sorted) in out.chunks_exact_mut((kept * slices.inner).max(1)).zip(planes) {
            out.copy_from_slice(&sorted[..out.len()]);
        }
    })?;
    let values = with_element!(call.raw, T => {
        let (x, first) = (x.as_slice::<T>().unwrap_or(&[]), first.as_slice::<i64>().unwrap_or(&[]));
        Array::build::<T>(call.shape.clone(), |out| {
            for (cell, (out, &p)) in out.iter_mut().zip(first).enumerate() {
                let (plane, column) = (cell / (kept * slices.inner), cell % slices.inner);
                *out = x[(plane * slices.length + p as usize) * slices.inner + column];
            }
        })
    })?;
    Ok(Answer::Several(vec![values, first]))
}

fn unique(
    _: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let a = packed(&arguments.array(0)?)?;
    Ok(Prepared::Steps(Box::new(move |run: &mut dyn Run| {
        let flat = reshaped(&a, Shape::vector(a.size()))?;
        let sorted = run.array("argsort", vec![flat.clone().into()])?;
        let sorted = sorted.as_slice::<i64>().unwrap_or(&[]);
        with_element!(a.element_type(), T => distinct::<T>(&a, &flat, sorted))
    })))
}

fn distinct<T: Element + Ordered>(a: &Array, flat: &Array, sorted: &[i64]) -> Result<Vec<Value>> {
    let x = flat.as_slice::<T>().unwrap_or(&[]);
    let at = |i: usize| x[sorted[i] as usize];
    let begins = |i: usize| i == 0 || at(i - 1).order(at(i)) != Ordering::Equal;
    let runs = Shape::vector((0..sorted.len()).filter(|&i| begins(i)).count());
    // Sorting is stable: the first of a run is the one that appears first.
    let first = Array::build::<i64>(runs.clone(), |out| {
        let starts = (0..sorted.len()).filter(|&i| begins(i));
        out.iter_mut().zip(starts).for_each(|(out, i)| *out = sorted[i]);
    })?;
    let values = Array::build::<T>(runs.clone(), |out| {
        let first = first.as_slice::<i64>().unwrap_or(&[]);
        out.iter_mut().zip(first).for_each(|(out, &i)| *out = x[i as usize]);
    })?;
    let mut counts = Array::zeros(ElementType::I64, runs)?;
    let count = counts.make_mut::<i64>()?;
    let inverse = Array::build::<i64>(a.shape().clone(), |out| {
        let mut run = 0;
        for (i, &p) in sorted.iter().enumerate() {
            run += usize::from(i > 0 && begins(i));
            out[p as usize] = run as i64;
            count[run] += 1;
        }
    })?;
    Ok([values, first, inverse, counts].map(Value::Array).into())
}

/// What median and quantile ask for.
struct Asked {
    q: Vec<f64>,
    shape: Shape,
    method: &'static str,
}

fn quantile(
    op: &'static Op,
    mut arguments: Arguments,
    _: &mut crate::call::Context,
) -> Result<Prepared> {
    let (x, q, axis) = (arguments.array(0)?, arguments.any(1), arguments.optional_integer(2)?);
    let method = arguments.choice(3)?.unwrap_or("linear");
    let (q, shape) = fractions(q)?;
    if let Some(bad) = q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        let text = format!("quantile q must be in 0..1: got {bad:?}");
        return Err(Error::new(ErrorKind::Argument, text));
    }
    quantiles(op, x, axis, Asked { q, shape, method })
}

/// A number, an array or a list of numbers, and the shape in which they came.
fn fractions(value: Value) -> Result<(Vec<f64>, Shape)> {
    let all = |numbers: &[Value]| -> Option<Vec<f64>> {
        let each = numbers.iter().map(|value| match value {
            Value::Number(number) => Some(number.to_f64()),
            _ => None,
        });
        each.collect()
    };
    match &value {
        Value::Array(a) => {
            let numbers = a.to_numbers()?;
            return Ok((numbers.into_iter().map(Number::to_f64).collect(), a.shape().clone()));
        }
        Value::Number(number) => return Ok((vec![number.to_f64()], Shape::scalar())),
        Value::List(items) => all(items).map(|q| (q, Shape::vector(items.len()))),
        _ => None,
    }
    .ok_or_else(|| Error::wanted(ErrorKind::Type, "expected q to be a number or several", &value))
}

fn quantiles(op: &'static Op, x: Array, axis: Option<i64>, asked: Asked) -> Result<Prepared> {
    let whole = axis.is_none();
    let t = x.element_type();
    let (x, axis) = along(x, axis)?;
    if x.shape()[axis] == 0 {
        let text = match whole {
            true => format!("{} of an empty array", op.name()),
            false => format!("reduction of an empty axis: {} along an axis of 0", op.name()),
        };
        return Err(Error::new(ErrorKind::Empty, text));
    }
    let result = if whole || !t.is_float() { ElementType::F64 } else { t };
    let kept = x.shape().without(axis, false);
    let shape = Shape::new(asked.shape.iter().chain(kept.iter()).copied())?;
    Ok(Prepared::Steps(Box::new(move |run: &mut dyn Run| {
        let axis_word = [samples::word("axis"), samples::integer(axis as i64)];
        let sorted = run.array("sort", [vec![x.into()], axis_word.to_vec()].concat())?;
        let picked = with_element!(sorted.element_type(), T => {
            pick::<T>(&sorted, axis, &asked, &shape)
        })?;
        let number = picked.rank() == 0 && whole;
        let picked = narrow(picked, result)?;
        let first = picked.numbers().next().filter(|_| number);
        Ok(vec![first.map_or(Value::Array(picked), Value::Number)])
    })))
}

/// Every q of every sorted slice, in f64.
fn pick<T: Element>(sorted: &Array, axis: usize, asked: &Asked, shape: &Shape) -> Result<Array> {
    let sorted = packed(sorted)?;
    let (x, slices) = (sorted.as_slice::<T>().unwrap_or(&[]), Slices::along(sorted.shape(), axis));
    let ranks: Vec<Rank> = asked.q.iter().map(|&q| Rank::of(q, slices.length)).collect();
    let each = (slices.outer * slices.inner).max(1);
    // The neighbours of each result and the last of its slice, then these alone in f64.
    let around = Array::build::<T>(Shape::matrix(shape.size(), 3)?, |out| {
        for (cell, out) in out.chunks_exact_mut(3).enumerate() {
            let (rank, slice) = (&ranks[cell / each], cell % each);
            let (plane, column) = (slice / slices.inner, slice % slices.inner);
            let at = |i: usize| x[(plane * slices.length + i) * slices.inner + column];
            out.copy_from_slice(&[at(rank.low), at(rank.high), at(slices.length - 1)]);
        }
    })?
    .convert(ElementType::F64)?;
    let around = around.as_slice::<f64>().unwrap_or(&[]);
    Array::build::<f64>(shape.clone(), |out| {
        for (cell, (out, around)) in out.iter_mut().zip(around.chunks_exact(3)).enumerate() {
            *out = ranks[cell / each].value([around[0], around[1], around[2]], asked.method);
        }
    })
}

/// A place between two of n ascending elements.
struct Rank {
    low: usize,
    high: usize,
    fraction: f64,
}

impl Rank {
    /// q (n - 1).
    fn of(q: f64, n: usize) -> Rank {
        let place = q * (n - 1) as f64;
        let low = (place.floor() as usize).min(n - 1);
        Rank { low, high: (low + 1).min(n - 1), fraction: place - low as f64 }
    }

    /// The element here, between its neighbours; NaN when the last of all is.
    fn value(&self, [low, high, last]: [f64; 3], method: &str) -> f64 {
        let even_is_low = self.low.is_multiple_of(2);
        match method {
            _ if last.is_nan() => f64::NAN,
            _ if self.fraction == 0.0 => low,
            "lower" => low,
            "higher" => high,
            "nearest" if self.fraction == 0.5 => {
                if even_is_low {
                    low
                } else {
                    high
                }
            }
            "nearest" => {
                if self.fraction < 0.5 {
                    low
                } else {
                    high
                }
            }
            "midpoint" => between(low, high, 0.5),
            _ => between(low, high, self.fraction),
        }
    }
}
