//! Numbers placed among ascending ones: searchsorted, histogram, bincount, interp.

use crate::arguments::{Arguments, Operand};
use crate::call::{
    Call, Context, Detail, Prepared, Run, at_compute_type, bytes_of, elements, laid, types_of,
    waiting,
};
use crate::decline::Answer;
use crate::explain::packed;
use crate::record::{
    Definition, Entry, Family, INTERNAL, Kind, Member, NO_LIBRARY, Offer, Op, Rungs, keyword,
    required,
};
use crate::round_trip::RoundTrip;
use crate::samples;
use crate::value::Value;
use rung_array::{Array, Number};
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_lanes::histogram::Bins;
use rung_lanes::search::{Ascending, Samples};
use rung_lanes::sort::Sortable;
use rung_math::fold::sum;
use rung_math::locate::{bin, edges, interpolate};
use rung_math::order::{Ordered, place};
use smallvec::smallvec;

mod bincount;
mod device;

use bincount::{bincount, bincount_portable, tally, tally_portable};
use device::{bincount_device, bins_device, interp_device, search_device, tally_device};

const INTEGERS: &[ElementType] =
    &[ElementType::I64, ElementType::I32, ElementType::U8, ElementType::Bool];
const ONE_BY_ONE: &str = "one addition a step, each of which may need the one before it";

pub const OPS: &[Op] = &[
    Op {
        names: &["searchsorted"],
        doc: "Where each x goes in an ascending vector so that it stays ascending: before the \
              elements equal to it, or after them with :side :right. NaN is after everything.",
        parameters: &[
            required("v", Kind::Array),
            required("x", Kind::Operand),
            keyword("side", Kind::Choice(&["left", "right"])),
        ],
        result: "an array of (signed-byte 64) of x's shape, an integer for a number",
        prepare: searchsorted,
        rungs: rungs(search_portable, search_lanes, search_device),
        beside: Some(|call, _| bytes_of(&call.operands)),
        samples: || {
            let side = || [samples::word("side"), samples::word("right")].to_vec();
            let of = |n: usize, x: Value| vec![ascending(n), x];
            vec![
                of(0, samples::hard(&[20], 5.0)),
                of(1, samples::hard(&[3, 7], 5.0)),
                of(100, samples::hard(&[3000], 5.0)),
                of(1000, samples::hard(&[20], 600.0)),
                [of(1000, samples::hard(&[20], 600.0)), side()].concat(),
                [of(17, samples::hard(&[40], 5.0)), side()].concat(),
                [of(1000, samples::counting(&[5000], 40)), side()].concat(),
                of(10, samples::number(1.5)),
                // Not ascending: the places mean nothing, but they are the same everywhere.
                vec![samples::hard(&[33], 5.0), samples::hard(&[50], 5.0)],
                [vec![samples::hard(&[70], 5.0), samples::hard(&[2], 5.0)], side()].concat(),
            ]
        },
        example: "(la:searchsorted #d(1 2 2 3) #d(2 5)) => #(1 4)",
        ..Op::BASE
    },
    Op {
        names: &["histogram"],
        doc: "How many elements lie in each of :bins bins of one width over :range (the smallest \
              to the largest element), or between the edges of an ascending vector; and the edges. \
              A bin holds its left edge, the last one its right edge too. :weights are added up \
              instead of ones, in order; :density divides by the total and the bin's width.",
        parameters: &[
            required("a", Kind::Array),
            keyword("bins", Kind::Any),
            keyword("range", Kind::Any),
            keyword("weights", Kind::Array),
            keyword("density", Kind::Flag),
        ],
        result: "two vectors: counts (signed-byte 64), double-float with weights or density; edges",
        prepare: histogram,
        rungs: Rungs::STEPS,
        samples: || {
            let range = |a, b| {
                let ends = vec![samples::number(a), samples::number(b)];
                [samples::word("range"), samples::list(ends)].to_vec()
            };
            let weights = || [samples::word("weights"), samples::spread(&[30, 3], 1.0)].to_vec();
            let x = || vec![samples::spread(&[30, 3], 5.0)];
            vec![
                x(),
                vec![samples::counting(&[0], 1)],
                vec![samples::counting(&[5], 1)],
                [vec![samples::hard(&[40], 5.0)], range(-2.0, 3.0)].concat(),
                [x(), weights()].concat(),
                [x(), vec![samples::word("density"), Value::True]].concat(),
                [x(), vec![samples::word("bins"), ascending(6)]].concat(),
                [x(), vec![samples::word("bins"), samples::integer(4)], weights()].concat(),
            ]
        },
        example: "(la:histogram #d(1 2 2 5) :bins 2) => #(3 1)",
        ..Op::BASE
    },
    Op {
        names: &["%la-bin-counts"],
        package: INTERNAL,
        doc: "How many elements, or what weights, lie between ascending edges; :even says that the \
              edges have one distance.",
        parameters: &[
            required("a", Kind::Array),
            required("edges", Kind::Array),
            keyword("even", Kind::Flag),
            keyword("weights", Kind::Array),
        ],
        result: "a vector of (signed-byte 64), or of double-float with weights",
        prepare: bin_counts,
        rungs: rungs(bins_portable, bins_lanes, bins_device),
        samples: || {
            let weights = || [samples::word("weights"), samples::spread(&[300], 1.0)].to_vec();
            let even = || [samples::word("even"), Value::True].to_vec();
            let edges = || samples::counting(&[2], 8);
            vec![
                [vec![samples::hard(&[300], 9.0), edges()], even()].concat(),
                [vec![samples::hard(&[300], 9.0), edges()], even(), weights()].concat(),
                vec![samples::hard(&[300], 9.0), ascending(9)],
                [vec![samples::hard(&[300], 9.0), ascending(9)], weights()].concat(),
            ]
        },
        example: "(linalg::%la-bin-counts #d(1 2 2 5) #d(0 2 4)) => #(1 2)",
        ..Op::BASE
    },
    Op {
        names: &["bincount"],
        doc: "How often each of 0, 1, 2, ... occurs among non-negative integers, or the sum of \
              the :weights where it does, added in order; :minlength counts at least.",
        parameters: &[
            required("indices", Kind::Index),
            keyword("weights", Kind::Array),
            keyword("minlength", Kind::Integer),
        ],
        result: "a vector of (signed-byte 64), or of double-float with weights",
        prepare: bincount,
        rungs: Rungs {
            portable: Definition::One(bincount_portable),
            lanes: Entry::None(ONE_BY_ONE),
            library: Entry::None(NO_LIBRARY),
            device: Entry::Has(Member { offer: Offer::ResidentOnly, run: bincount_device }),
        },
        samples: || {
            let weights = || [samples::word("weights"), samples::spread(&[300], 1.0)].to_vec();
            let most = || [samples::word("minlength"), samples::integer(50)].to_vec();
            vec![
                vec![samples::counting(&[300], 9)],
                [vec![samples::counting(&[300], 9)], weights()].concat(),
                [vec![samples::counting(&[300], 9)], weights(), most()].concat(),
                [vec![samples::counting(&[0], 9)], most()].concat(),
            ]
        },
        example: "(la:bincount '(1 3 1)) => #(0 2 0 1)",
        ..Op::BASE
    },
    Op {
        names: &["%la-tally"],
        package: INTERNAL,
        doc: "How often each of 0 to n - 1 occurs among integers; others count nowhere.",
        parameters: &[required("a", Kind::Array), required("n", Kind::Integer)],
        result: "a vector of (signed-byte 64)",
        types: INTEGERS,
        prepare: tally,
        rungs: Rungs {
            portable: Definition::One(tally_portable),
            lanes: Entry::None(ONE_BY_ONE),
            library: Entry::None(NO_LIBRARY),
            device: Entry::Has(Member { offer: Offer::ResidentOnly, run: tally_device }),
        },
        samples: || {
            let of = |a, n| vec![a, samples::integer(n)];
            vec![
                of(samples::counting(&[300], 9), 9),
                of(samples::whole(&[3, 4097], 50), 40),
                of(samples::counting(&[0], 9), 3),
                of(samples::counting(&[5000], 2), 1),
                of(samples::extreme(), 7),
            ]
        },
        example: "(linalg::%la-tally #u8(1 3 1) 3) => #(0 2 0)",
        ..Op::BASE
    },
    Op {
        names: &["interp"],
        doc: "The line through samples (xp increasing, fp) at each x; before the first sample \
              :left (its value), after the last :right (its value). Computed in double-float.",
        parameters: &[
            required("x", Kind::Operand),
            required("xp", Kind::Array),
            required("fp", Kind::Array),
            keyword("left", Kind::Number),
            keyword("right", Kind::Number),
        ],
        result: "an array of x's shape, a number for a number",
        prepare: interp,
        rungs: rungs(interp_portable, interp_lanes, interp_device),
        beside: Some(|call, _| bytes_of(&call.operands)),
        samples: || {
            let of = |x: Value, n: usize| {
                let xp = (0..n).map(|i| samples::number(i as f64)).collect();
                vec![x, samples::list(xp), samples::spread(&[n], 4.0)]
            };
            let array = |mut sample: samples::Sample| {
                let n = match &sample[1] {
                    Value::List(items) => items.len(),
                    _ => 0,
                };
                sample[1] = rising(n);
                sample
            };
            let left = [samples::word("left"), samples::number(-9.0)].to_vec();
            vec![
                array(of(samples::hard(&[40], 4.0), 1)),
                array(of(samples::hard(&[3, 2000], 9.0), 12)),
                [array(of(samples::spread(&[40], 9.0), 5)), left].concat(),
                array(of(samples::number(1.25), 5)),
            ]
        },
        example: "(la:interp #d(1.5 9) #d(1 2 3) #d(10 20 0)) => #d(15.0 0.0)",
        ..Op::BASE
    },
];

/// A device searches where what is sought is there: a search reads less than a trip would move.
const fn rungs(
    portable: fn(&Call) -> Result<Array>,
    lanes: fn(&Call, &Lanes) -> Result<Answer>,
    device: fn(&Call, &RoundTrip) -> Result<Answer>,
) -> Rungs {
    Rungs::with_device(Definition::One(portable), lanes, Offer::ResidentOnly, device)
}

/// 0, 1, 2, 2, 3, ...: every third number twice, and ascending as truths as well.
fn ascending(n: usize) -> Value {
    vector((0..n).map(|i| (i - i / 3) as f64).collect())
}

/// 0, 1, 2, ...
fn rising(n: usize) -> Value {
    vector((0..n).map(|i| i as f64).collect())
}

fn vector(x: Vec<f64>) -> Value {
    Array::vector(&x).map_or_else(|e| Value::Other(e.to_string()), Value::Array)
}

/// The elements of a vector.
fn samples_of(a: &Array, what: &str) -> Result<Vec<f64>> {
    if a.rank() != 1 {
        return Err(Error::wanted(ErrorKind::Shape, format!("{what} expects a vector"), a.shape()));
    }
    elements::<f64>(&a.convert(ElementType::F64)?)
}

fn searchsorted(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (v, x) = (arguments.array(0)?, arguments.operand(1)?);
    let right = arguments.choice(2)? == Some("right");
    if v.rank() != 1 {
        return Err(Error::wanted(ErrorKind::Shape, "searchsorted expects a vector", v.shape()));
    }
    let to_number = matches!(x, Operand::Number(_));
    let operands = [Operand::Array(v.clone()), x];
    let types = types_of(&operands);
    let [_, x] = operands;
    let x = laid(x, types)?;
    let given = smallvec![v.shape().clone(), x.shape().clone()];
    let call = Call::like(op, x, ElementType::I64, Family::Map);
    let operands = smallvec![waiting(&v, types.compute)?, call.operands[0].clone()];
    let (raw, detail) = (ElementType::I64, Detail::Flag(right));
    let call = Call { given, operands, raw, to_number, detail, ..call };
    Ok(Prepared::Call(Box::new(call.at_types(&[types.compute; 2]))))
}

fn flag(call: &Call) -> bool {
    matches!(call.detail, Detail::Flag(true))
}

fn search_portable(call: &Call) -> Result<Array> {
    at_compute_type!(call, T => placed::<T>(call), placed::<i64>(call))
}

fn placed<T: Element + Ordered>(call: &Call) -> Result<Array> {
    let (v, x) = (elements::<T>(&call.operands[0])?, elements::<T>(&call.operands[1])?);
    Array::build::<i64>(call.shape.clone(), |out| {
        out.iter_mut().zip(x).for_each(|(out, x)| *out = place(&v, x, flag(call)) as i64);
    })
}

fn search_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (v, x) = (packed(&call.operands[0])?, packed(&call.operands[1])?);
    Array::build::<i64>(call.shape.clone(), |out| {
        at_compute_type!(call, T => {
            places(lanes, [&v, &x].map(|a| a.as_slice::<T>().unwrap_or(&[])), flag(call), out);
        }, {
            places(lanes, [&v, &x].map(|a| a.as_slice::<i64>().unwrap_or(&[])), flag(call), out);
        });
    })
    .map(Answer::Done)
}

/// How many times as many numbers as keys there are when the keys are looked for one by one: to lay
/// out the numbers for several keys at once takes longer then.
const FEW: usize = 32;

fn places<T: Sortable + Ordered>(lanes: &Lanes, [v, x]: [&[T]; 2], right: bool, out: &mut [i64]) {
    if x.len() < v.len() / FEW {
        out.iter_mut().zip(x).for_each(|(out, &x)| *out = place(v, x, right) as i64);
    } else {
        Ascending::new(lanes, v).places(lanes, x, right, out);
    }
}

/// What a histogram counts in.
enum Wanted {
    Edges(Array),
    /// Bins of one width, over a range where one is given.
    Even(usize, Option<(f64, f64)>),
}

fn histogram(_: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, bins, range) = (arguments.array(0)?, arguments.any(1), arguments.any(2));
    let weights = arguments.is_given(3).then(|| arguments.array(3)).transpose()?;
    let density = arguments.flag(4);
    let wanted = wanted_bins(bins, range)?;
    Ok(Prepared::Steps(Box::new(move |run: &mut dyn Run| {
        let (edges, even) = match wanted {
            Wanted::Edges(edges) => (edges, false),
            Wanted::Even(bins, range) => {
                let (low, high) = range.map_or_else(|| reach(run, &a), Ok)?;
                (even_edges(low, high, bins)?, true)
            }
        };
        let mut call = vec![a.into(), edges.clone().into()];
        call.extend([samples::word("even"), Value::flag(even)]);
        if let Some(weights) = weights {
            call.extend([samples::word("weights"), weights.into()]);
        }
        let counted = run.array("%la-bin-counts", call)?;
        let counted =
            if density { per_width(&counted, edges.as_slice().unwrap_or(&[]))? } else { counted };
        Ok(vec![counted.into(), edges.into()])
    })))
}

fn wanted_bins(bins: Value, range: Value) -> Result<Wanted> {
    let end = |value: &Value| match value {
        Value::Number(number) => Some(number.to_f64()),
        _ => None,
    };
    let range = match &range {
        Value::Nil => None,
        Value::List(ends) if ends.len() == 2 => end(&ends[0]).zip(end(&ends[1])),
        _ => None,
    }
    .map_or_else(
        || match range {
            Value::Nil => Ok(None),
            _ => Err(Error::wanted(ErrorKind::Argument, "histogram range is (low high)", &range)),
        },
        |range| Ok(Some(range)),
    )?;
    match &bins {
        Value::Nil => Ok(Wanted::Even(10, range)),
        Value::Number(Number::I64(n)) if *n > 0 => Ok(Wanted::Even(*n as usize, range)),
        Value::Array(edges) => {
            let edges = samples_of(edges, "histogram")?;
            match edges.len() > 1 && edges.windows(2).all(|pair| pair[0] <= pair[1]) {
                true => Ok(Wanted::Edges(Array::vector(&edges)?)),
                false => Err(Error::new(
                    ErrorKind::Argument,
                    "histogram edges must be two or more ascending numbers",
                )),
            }
        }
        _ => {
            let what = "histogram bins are a positive integer or a vector of edges";
            Err(Error::wanted(ErrorKind::Argument, what, &bins))
        }
    }
}

/// The smallest and the largest element; 0 and 1 of nothing.
fn reach(run: &mut dyn Run, a: &Array) -> Result<(f64, f64)> {
    if a.size() == 0 {
        return Ok((0.0, 1.0));
    }
    let mut end = |name: &str| -> Result<f64> {
        let found = run.array(name, vec![a.clone().into()])?;
        Ok(found.numbers().next().map_or(f64::NAN, Number::to_f64))
    };
    Ok((end("amin")?, end("amax")?))
}

fn even_edges(low: f64, high: f64, bins: usize) -> Result<Array> {
    if !(low.is_finite() && high.is_finite() && low <= high) {
        let text = "histogram range must be finite and ascending";
        return Err(Error::new(ErrorKind::Argument, format!("{text}: {low:?} to {high:?}"))
            .hint(":range (low high) counts what lies inside"));
    }
    let room = Shape::new([bins.saturating_add(1)])?;
    let (low, high) = if low == high { (low - 0.5, high + 0.5) } else { (low, high) };
    Array::build(room, |out| edges(low, high, out))
}

/// Counts divided by their total and each bin's width.
fn per_width(counted: &Array, edges: &[f64]) -> Result<Array> {
    let counts = elements::<f64>(&counted.convert(ElementType::F64)?)?;
    let total = sum(counts.len(), |i| counts[i]);
    let density = |i: usize| counts[i] / (edges[i + 1] - edges[i]) / total;
    Array::build::<f64>(Shape::vector(counts.len()), |out| {
        out.iter_mut().enumerate().for_each(|(i, out)| *out = density(i));
    })
}

fn bin_counts(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (a, edges) = (arguments.array(0)?, arguments.array(1)?);
    let even = arguments.flag(2);
    let given = a.shape().clone();
    // f32 is widened number by number; other types once.
    let compute = match a.element_type().compute_type() {
        ElementType::F32 => ElementType::F32,
        _ => ElementType::F64,
    };
    if edges.rank() != 1 || edges.size() < 2 {
        let what = "a histogram needs a vector of two edges or more";
        return Err(Error::wanted(ErrorKind::Shape, what, edges.shape()));
    }
    let shape = Shape::vector(edges.size() - 1);
    let edges = edges.convert(ElementType::F64)?;
    let mut call = Call::like(op, waiting(&a, compute)?, ElementType::I64, Family::Fold);
    call.operands.push(edges);
    if arguments.is_given(3) {
        let weights = arguments.array(3)?;
        if weights.shape() != a.shape() {
            let text = "histogram weights must have the shape of the elements";
            let shapes = format!("{text}: {} and {}", weights.shape(), a.shape());
            return Err(Error::new(ErrorKind::Shape, shapes));
        }
        call.operands.push(waiting(&weights, ElementType::F64)?);
        call.result = ElementType::F64;
    }
    let (raw, detail) = (call.result, Detail::Flag(even));
    let types = [compute, ElementType::F64, ElementType::F64];
    let call = Call { given: smallvec![given], shape, raw, detail, ..call };
    let types = &types[..call.operands.len()];
    Ok(Prepared::Call(Box::new(call.at_types(types))))
}

fn bins_portable(call: &Call) -> Result<Array> {
    let x = elements::<f64>(&call.operands[0].convert(ElementType::F64)?)?;
    let edges = elements::<f64>(&call.operands[1])?;
    let found = x.iter().map(|x| bin(&edges, *x));
    match call.operands.get(2) {
        Some(weights) => {
            let weights = elements::<f64>(weights)?;
            Array::build::<f64>(call.shape.clone(), |sums| {
                sums.fill(0.0);
                for (bin, weight) in found.zip(weights) {
                    bin.into_iter().for_each(|bin| sums[bin] += weight);
                }
            })
        }
        None => Array::build::<i64>(call.shape.clone(), |counts| {
            counts.fill(0);
            found.flatten().for_each(|bin| counts[bin] += 1);
        }),
    }
}

fn bins_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let (x, edges) = (packed(&call.operands[0])?, packed(&call.operands[1])?);
    let bins = Bins { edges: edges.as_slice().unwrap_or(&[]), even: flag(call) };
    let weights = call.operands.get(2).map(packed).transpose()?;
    at_compute_type!(call, T => {
        let x = x.as_slice::<T>().unwrap_or(&[]);
        match &weights {
            Some(weights) => Array::build::<f64>(call.shape.clone(), |out| {
                out.fill(0.0);
                bins.weigh(lanes, x, weights.as_slice().unwrap_or(&[]), out);
            }),
            None => Array::build::<i64>(call.shape.clone(), |out| {
                out.fill(0);
                bins.tally(lanes, x, out);
            }),
        }
    }, crate::call::integers_not_taken(call))
    .map(Answer::Done)
}

fn interp(op: &'static Op, mut arguments: Arguments, _: &mut Context) -> Result<Prepared> {
    let (x, xp, fp) = (arguments.operand(0)?, arguments.array(1)?, arguments.array(2)?);
    let to_number = matches!(x, Operand::Number(_));
    let (given_x, samples) = (x.clone(), [Operand::Array(xp.clone()), Operand::Array(fp.clone())]);
    let types = types_of(&[&[given_x], &samples[..]].concat()).floating();
    let (places, values) = (samples_of(&xp, "interp")?, samples_of(&fp, "interp")?);
    if places.len() != values.len() || places.is_empty() {
        let text = "interp xp and fp must have one length above zero";
        let shapes = format!("{text}: {} and {}", xp.shape(), fp.shape());
        return Err(Error::new(ErrorKind::Shape, shapes));
    }
    if let Some(at) = places
        .windows(2)
        .position(|pair| pair[0] >= pair[1] || pair[0].is_nan() || pair[1].is_nan())
    {
        let text = format!("interp needs increasing xp: {} then {}", places[at], places[at + 1]);
        return Err(Error::new(ErrorKind::Argument, text));
    }
    let mut outside = |at: usize, default: f64| -> Result<f64> {
        if arguments.is_given(at) { Ok(arguments.number(at)?.to_f64()) } else { Ok(default) }
    };
    let left = outside(3, values[0])?;
    let right = outside(4, values[values.len() - 1])?;
    let x = match x {
        Operand::Array(a) => waiting(&a, ElementType::F64)?,
        Operand::Number(n) => Array::full(ElementType::F64, Shape::scalar(), n)?,
    };
    let given = smallvec![x.shape().clone(), xp.shape().clone(), fp.shape().clone()];
    let mut call = Call::like(op, x, types.result, Family::Map);
    call.operands.extend([Array::vector(&places)?, Array::vector(&values)?]);
    let detail = Detail::Outside { left, right };
    let call = Call { given, raw: ElementType::F64, to_number, detail, ..call };
    Ok(Prepared::Call(Box::new(call.at_types(&[ElementType::F64; 3]))))
}

fn outside(call: &Call) -> (f64, f64) {
    match call.detail {
        Detail::Outside { left, right } => (left, right),
        _ => (f64::NAN, f64::NAN),
    }
}

fn interp_portable(call: &Call) -> Result<Array> {
    let [x, xp, fp] = [0, 1, 2].map(|i| elements::<f64>(&call.operands[i]));
    let ((x, xp, fp), (left, right)) = ((x?, xp?, fp?), outside(call));
    Array::build::<f64>(call.shape.clone(), |out| {
        let each = out.iter_mut().zip(x);
        each.for_each(|(out, x)| *out = interpolate(&xp, &fp, x, left, right));
    })
}

fn interp_lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    let x = packed(&call.operands[0])?;
    let (left, right) = outside(call);
    let at = |i: usize| call.operands[i].as_slice::<f64>().unwrap_or(&[]);
    let samples = Samples { xp: at(1), fp: at(2), left, right };
    Array::build::<f64>(call.shape.clone(), |out| {
        samples.at(lanes, x.as_slice().unwrap_or(&[]), out);
    })
    .map(Answer::Done)
}
