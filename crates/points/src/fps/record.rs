//! The record of farthest point sampling: what a front end reads, and from a call to `sample`.

use super::{Samples, Wanted, device, plan, sample, sample_plainly};
use crate::operand::{self, OfPoints};
use crate::{Coordinate, PACKAGE, shell};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_ops::arguments::{Arguments, IndexOr};
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{
    ALL, Definition, Family, Kind, Offer, Op, Parameter, Rungs, keyword, required,
};
use rung_ops::round_trip::RoundTrip;
use rung_ops::samples::{self, Sample};
use rung_ops::solver::{Command, array, number};
use rung_ops::{Answer, Generator, Value};

pub const FPS: Op = Op {
    names: &["fps", "farthest-point-sampling"],
    package: PACKAGE,
    doc: "Samples that cover a cloud evenly: each next one is the point farthest from all before it, \
          of several the one with the lowest index. Exact: points that cannot change are left out by \
          bounds, and the result is that of the plain loop (Eldar et al. 1997). A point is chosen \
          once; the first j samples of a longer run are the run of j.",
    parameters: PARAMETERS,
    result: "three values: the indices (signed-byte 64) of the samples in the order of choice; how \
             far each was from those before it when it was chosen, infinity first; the covering \
             radius",
    results: &[
        array("indices", "the rows of the samples, in the order of choice"),
        array("radii", "how far each sample was from those before it: never rising"),
        number("covering-radius", "no point is farther than this from the samples"),
    ],
    types: ALL,
    prepare,
    rungs: Rungs::with_device(
        Definition::Several(operand::portable::<Sampling>),
        operand::lanes::<Sampling>,
        Offer::RoundTrip(Family::Map),
        on_device,
    ),
    beside: Some(beside),
    samples: trial,
    example: "(points:fps #d((0 0) (1 0) (5 0) (2 0)) :k 3) => #(0 2 3)",
    command: Some(&Command {
        examples: &[
            ("rung points fps cloud.ply -k 4096 -o few.ply", "4,096 of the points, spread evenly"),
            ("rung points fps cloud.ply -k 500 -o few.xyz --png few.png", "and a picture of them"),
            ("rung points fps cloud.npy --radius 0.05 --indices rows.npy", "none nearer than that"),
        ],
        input: Some(shell::CLOUD),
        output: shell::CHOSEN,
        picture: Some(shell::MARKED),
    }),
    ..Op::BASE
};

const PARAMETERS: &[Parameter] = &[
    required("points", Kind::Array).says("the cloud, one point a row: (n d), d from 1 to 16"),
    keyword("k", Kind::Integer)
        .says("how many samples; all points if there are fewer")
        .at_least(0.0),
    keyword("ratio", Kind::Number)
        .says("in place of k, the share of the points: ceil(ratio n) samples")
        .above(0.0, 1.0),
    keyword("radius", Kind::Number)
        .says("ends before the first sample that is nearer than this to those before it")
        .unit("that of the points")
        .at_least(0.0),
    keyword("start", Kind::IndexOr(&["random"]))
        .says("the first sample, or several, which come first in this order, or one drawn")
        .default("0, or the first that takes part")
        .at_least(0.0),
    keyword("mask", Kind::Array)
        .says("which points take part, (n): those that are not 0")
        .default("all"),
    keyword("nonfinite", Kind::Choice(&["error", "drop"]))
        .says("whether a point with NaN or infinity is a mistake or takes no part")
        .default("error"),
    keyword("generator", Kind::Generator)
        .says("draws a random start")
        .default("that of the process"),
];

/// What the rungs need beside the points.
struct Asked {
    count: usize,
    start: Vec<usize>,
    radius: Option<f64>,
    mask: Option<Vec<bool>>,
}

impl Asked {
    fn wanted(&self) -> Wanted<'_> {
        Wanted {
            count: self.count,
            start: self.start.clone(),
            radius: self.radius,
            mask: self.mask.as_deref(),
        }
    }
}

fn prepare(op: &'static Op, mut a: Arguments, context: &mut Context) -> Result<Prepared> {
    let given = a.array(0)?;
    let k = a.optional_integer(1)?;
    let ratio = optional_number(&mut a, 2)?;
    let radius = optional_number(&mut a, 3)?;
    let start = a.index_or(4)?;
    let mask = if a.is_given(5) { Some(a.array(5)?) } else { None };
    let drops = a.choice(6)? == Some("drop");
    let generator = a.generator(7)?;
    let points = operand::points(&given, drops)?;
    let rows = given.shape()[0];
    let mask = operand::taking_part(mask.as_ref(), points.dropped, rows)?;
    let there = mask.as_ref().map_or(rows, |mask| mask.iter().filter(|&&is_in| is_in).count());
    let count = count(k, ratio, radius, there)?;
    let start = starts(start, mask.as_deref(), there, generator.as_ref(), context)?;
    let asked = Asked { count, start, radius, mask };
    Ok(Prepared::Call(Box::new(call(op, given.shape(), points.array, asked)?)))
}

/// The call, after what `plan` refuses.
fn call(op: &'static Op, given: &Shape, points: Array, asked: Asked) -> Result<Call> {
    let t = points.element_type();
    let call = Call::like(op, points, ElementType::I64, Family::Map);
    let count = match t {
        ElementType::F32 => plan(&operand::cloud::<f32>(&call), &asked.wanted())?.count,
        _ => plan(&operand::cloud::<f64>(&call), &asked.wanted())?.count,
    };
    let shape = Shape::vector(count);
    let output = |shape, to_number| Output { shape, raw: t, result: t, to_number };
    Ok(Call {
        given: [given.clone()].into_iter().collect(),
        units: (count as u64).saturating_mul(given[0] as u64),
        more: vec![output(shape.clone(), false), output(Shape::scalar(), true)],
        shape,
        raw: ElementType::I64,
        detail: Detail::Solver(Box::new(asked)),
        ..call
    })
}

fn optional_number(a: &mut Arguments, at: usize) -> Result<Option<f64>> {
    if a.is_given(at) { a.number(at).map(|n| Some(n.to_f64())) } else { Ok(None) }
}

/// How many samples are asked for, of so many points.
fn count(k: Option<i64>, ratio: Option<f64>, radius: Option<f64>, there: usize) -> Result<usize> {
    match (k, ratio) {
        (Some(_), Some(_)) => {
            let text = "k and ratio both say how many samples: give one of them";
            Err(Error::new(ErrorKind::Argument, text))
        }
        // Its range begins at 0.
        (Some(k), None) => Ok(usize::try_from(k).unwrap_or(0)),
        (None, Some(ratio)) => Ok((ratio * there as f64).ceil() as usize),
        (None, None) if radius.is_some() => Ok(there),
        (None, None) => {
            let e = Error::new(ErrorKind::Argument, "how many samples is not said");
            Err(e
                .hint("k says how many, ratio what share of the points, radius how near they come"))
        }
    }
}

/// The samples that come first.
fn starts(
    start: Option<IndexOr>,
    mask: Option<&[bool]>,
    there: usize,
    generator: Option<&Generator>,
    context: &Context,
) -> Result<Vec<usize>> {
    match start {
        None => Ok(Vec::new()),
        // Their range begins at 0.
        Some(IndexOr::Indices(given)) => {
            Ok(given.into_iter().map(|i| usize::try_from(i).unwrap_or(0)).collect())
        }
        Some(IndexOr::Word(_)) if there == 0 => Ok(Vec::new()),
        Some(IndexOr::Word(_)) => {
            let generator = generator.unwrap_or(&context.counter);
            let mut state = generator.state();
            let number = state.below(there as u64) as usize;
            generator.set(state);
            Ok(match mask {
                None => vec![number],
                Some(mask) => {
                    let mut in_it = mask.iter().enumerate().filter(|(_, is_in)| **is_in);
                    in_it.nth(number).map(|(i, _)| i).into_iter().collect()
                }
            })
        }
    }
}

struct Sampling;

impl OfPoints for Sampling {
    fn run<T: Coordinate>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>> {
        let (cloud, asked) = (operand::cloud::<T>(call), operand::asked::<Asked>(call)?);
        let (samples, _) = match lanes {
            Some(lanes) => sample(lanes, &cloud, &asked.wanted())?,
            None => sample_plainly(&cloud, &asked.wanted())?,
        };
        results(&samples)
    }
}

fn on_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let asked = operand::asked::<Asked>(call)?;
    match call.operands[0].element_type() {
        ElementType::F32 => device::run::<f32>(call, trip, &asked.wanted()),
        _ => device::run::<f64>(call, trip, &asked.wanted()),
    }
}

fn results<T: Coordinate>(samples: &Samples<T>) -> Result<Vec<Array>> {
    let indices = Array::build::<i64>(Shape::vector(samples.indices.len()), |out| {
        out.iter_mut().zip(&samples.indices).for_each(|(out, &i)| *out = i as i64);
    })?;
    let covering = Array::from_slice(&[samples.covering], Shape::scalar())?;
    Ok(vec![indices, Array::vector(&samples.radii)?, covering])
}

/// The groups: the cloud axis by axis, a distance and an index a point, and what it is sorted with.
fn beside(call: &Call, _: usize) -> u64 {
    let [rows, columns] = call.operands[0].shape()[..] else { return 0 };
    let width = call.operands[0].element_type().size() as u64;
    let point = (columns as u64 + 1) * 2 * width + 24;
    (rows as u64).saturating_mul(point)
}

fn trial() -> Vec<Sample> {
    let of = |points: Value, rest: &[(&'static str, Value)]| -> Sample {
        let rest = rest.iter().flat_map(|(name, value)| [samples::word(name), value.clone()]);
        std::iter::once(points).chain(rest).collect()
    };
    let k = |n: i64| ("k", samples::integer(n));
    let list = |all: &[i64]| samples::list(all.iter().copied().map(samples::integer).collect());
    let holes = samples::build(&[40, 3], |i| match i {
        20 => f64::INFINITY,
        _ if i % 17 == 3 => f64::NAN,
        _ => samples::scattered(i),
    });
    let ties = || samples::counting(&[2100, 3], 5);
    vec![
        of(samples::spread(&[0, 3], 1.0), &[k(0)]),
        of(samples::spread(&[1, 3], 1.0), &[k(4)]),
        of(samples::spread(&[33, 2], 1.0), &[k(0)]),
        of(samples::counting(&[40, 3], 17), &[k(41)]),
        of(samples::spread(&[2500, 3], 1.0), &[k(60)]),
        of(samples::spread(&[2049, 2], 1e-21), &[("ratio", samples::number(0.02))]),
        of(samples::counting(&[2100, 1], 700), &[k(50), ("start", list(&[9, 2, 2099]))]),
        of(samples::spread(&[300, 5], 1.0), &[k(20), ("start", samples::word("random"))]),
        of(ties(), &[k(130), ("mask", samples::counting(&[2100], 3))]),
        of(ties(), &[("radius", samples::number(1.5)), ("start", samples::integer(77))]),
        of(holes, &[k(12), ("nonfinite", samples::word("drop"))]),
    ]
}
