//! The record of farthest point sampling: what a front end reads, and from a call to `sample`.

use super::{Samples, Wanted, device, plan, sample, sample_plainly};
use crate::batch::{self, Clouds};
use crate::operand::{self, OfPoints};
use crate::{Cloud, Coordinate, PACKAGE, shell};
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
use std::ops::Range;
use std::sync::OnceLock;

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
             radius. Of a batch a row for each cloud, -1 where it has no more samples, and a vector",
    results: &[
        array("indices", "the rows of the samples, in the order of choice"),
        array("radii", "how far each sample was from those before it: never rising"),
        number("covering-radius", "no point is farther than this from the samples"),
    ],
    types: ALL,
    errors: &[crate::mistakes::FPS],
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
        stream: None,
    }),
    ..Op::BASE
};

const PARAMETERS: &[Parameter] = &[
    required("points", Kind::Array).says(
        "the cloud, one point a row: (n d), d from 1 to 16; or clouds of one length, (b n d)",
    ),
    keyword("k", Kind::Each)
        .says("how many samples; all points if there are fewer; of a batch also one for each cloud")
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
        .says("which points take part, (n) or (b n): those that are not 0")
        .default("all"),
    keyword("nonfinite", Kind::Choice(&["error", "drop"]))
        .says("whether a point with NaN or infinity is a mistake or takes no part")
        .default("error"),
    keyword("generator", Kind::Generator)
        .says("draws a random start")
        .default("that of the process"),
    keyword("offsets", Kind::Each)
        .says(
            "makes a batch of (n d): the row at which each cloud begins, 0 first, and n at the end",
        )
        .at_least(0.0),
    keyword("lengths", Kind::Each)
        .says("how many points each cloud has: of (b n d), or makes a batch of (n d)")
        .at_least(0.0),
];

/// What the rungs need beside the points.
struct Asked {
    /// The clouds, and what is asked of each.
    clouds: Vec<One>,
    is_batch: bool,
    radius: Option<f64>,
    mask: Option<Vec<bool>>,
}

/// One cloud of a call.
struct One {
    rows: Range<usize>,
    /// How many samples it gets at most.
    count: usize,
    start: Vec<usize>,
}

impl Asked {
    fn wanted(&self, one: &One) -> Wanted<'_> {
        Wanted {
            count: one.count,
            start: one.start.clone(),
            radius: self.radius,
            mask: self.mask.as_ref().map(|mask| &mask[one.rows.clone()]),
        }
    }

    /// The columns of the results.
    fn most(&self) -> usize {
        self.clouds.iter().map(|one| one.count).max().unwrap_or(0)
    }
}

fn prepare(op: &'static Op, mut a: Arguments, context: &mut Context) -> Result<Prepared> {
    let given = a.array(0)?;
    let radius = optional_number(&mut a, 3)?;
    let how_many =
        HowMany { k: a.each(1)?, ratio: optional_number(&mut a, 2)?, ends: radius.is_some() };
    let start = a.index_or(4)?;
    let mask = if a.is_given(5) { Some(a.array(5)?) } else { None };
    let drops = a.choice(6)? == Some("drop");
    let generator = a.generator(7)?;
    let offsets = a.each(8)?;
    let clouds = batch::clouds(&given, offsets, a.each(9)?)?;
    let points = operand::points_of(&clouds.array, &clouds.parts, drops)?;
    let mask = operand::taking_part(mask.as_ref(), points.dropped, &clouds.mask_shape)?;
    let mut asked = Asked { clouds: Vec::new(), is_batch: clouds.is_batch, radius, mask };
    how_many.is_for(&clouds)?;
    for (number, rows) in clouds.parts.into_iter().enumerate() {
        let mask = asked.mask.as_ref().map(|mask| &mask[rows.clone()]);
        let there = mask.map_or(rows.len(), |mask| mask.iter().filter(|&&is_in| is_in).count());
        let count = how_many.of(number, there, asked.is_batch, context);
        let start = starts(&start, mask, there, generator.as_ref(), context);
        let start = if asked.is_batch && count == 0 { Vec::new() } else { start };
        asked.clouds.push(One { rows, count, start });
    }
    Ok(Prepared::Call(Box::new(call(op, given.shape(), points.array, asked)?)))
}

/// The call, after what `plan` refuses.
fn call(op: &'static Op, given: &Shape, points: Array, mut asked: Asked) -> Result<Call> {
    let t = points.element_type();
    let call = Call::like(op, points, ElementType::I64, Family::Map);
    let counts: Result<Vec<usize>> = asked
        .clouds
        .iter()
        .enumerate()
        .map(|(number, one)| {
            let wanted = asked.wanted(one);
            let planned = match t {
                ElementType::F32 => plan(&part::<f32>(&call, one), &wanted).map(|plan| plan.count),
                _ => plan(&part::<f64>(&call, one), &wanted).map(|plan| plan.count),
            };
            planned.map_err(|e| operand::in_cloud(e, number, asked.clouds.len()))
        })
        .collect();
    asked.clouds.iter_mut().zip(counts?).for_each(|(one, count)| one.count = count);
    let units = |one: &One| (one.count as u64).saturating_mul(one.rows.len() as u64);
    let units = asked.clouds.iter().map(units).fold(0, u64::saturating_add);
    let (shape, covering) = match asked.is_batch {
        true => {
            (Shape::new([asked.clouds.len(), asked.most()])?, Shape::vector(asked.clouds.len()))
        }
        false => (Shape::vector(asked.most()), Shape::scalar()),
    };
    let output = |shape, to_number| Output { shape, raw: t, result: t, to_number };
    Ok(Call {
        given: [given.clone()].into_iter().collect(),
        units,
        more: vec![output(shape.clone(), false), output(covering, !asked.is_batch)],
        shape,
        raw: ElementType::I64,
        detail: Detail::Solver(Box::new(asked)),
        ..call
    })
}

/// One cloud of a call.
fn part<'a, T: Coordinate>(call: &'a Call, one: &One) -> Cloud<'a, T> {
    operand::cloud::<T>(call).part(one.rows.start, one.rows.len())
}

fn optional_number(a: &mut Arguments, at: usize) -> Result<Option<f64>> {
    if a.is_given(at) { a.number(at).map(|n| Some(n.to_f64())) } else { Ok(None) }
}

/// What says how many samples there are.
struct HowMany {
    k: Option<Vec<i64>>,
    ratio: Option<f64>,
    /// Whether a radius ends a run.
    ends: bool,
}

impl HowMany {
    fn is_for(&self, clouds: &Clouds) -> Result<()> {
        let (wrong, many) = (|text| Err(Error::new(ErrorKind::Argument, text)), clouds.parts.len());
        match (&self.k, self.ratio) {
            (Some(_), Some(_)) => {
                wrong("k and ratio both say how many samples: give one of them".into())
            }
            (Some(k), None) if k.len() != 1 && !(clouds.is_batch && k.len() == many) => {
                wrong(match clouds.is_batch {
                    true => {
                        format!("k is one number, or {many} for as many clouds: got {}", k.len())
                    }
                    false => format!("k is one number for one cloud: got {}", k.len()),
                })
            }
            (None, None) if !self.ends => {
                let e = Error::new(ErrorKind::Argument, "how many samples is not said");
                Err(e.hint(
                    "k says how many, ratio what share of the points, radius how near they come",
                ))
            }
            _ => Ok(()),
        }
    }

    /// How many of the points that are there; what is more than these is noted, of a batch not.
    fn of(&self, cloud: usize, there: usize, is_batch: bool, context: &mut Context) -> usize {
        let asked = match (&self.k, self.ratio) {
            // Its range begins at 0.
            (Some(k), _) => usize::try_from(k[cloud % k.len()]).unwrap_or(0),
            (None, Some(ratio)) => (ratio * there as f64).ceil() as usize,
            (None, None) => there,
        };
        if asked > there && there > 0 && !is_batch {
            context.note(format!("{asked} samples of {there} points: all of them"));
        }
        // No point of an empty cloud is chosen, which is a mistake where it is the only one.
        if is_batch { asked.min(there) } else { asked }
    }
}

/// The samples that come first in one cloud.
fn starts(
    start: &Option<IndexOr>,
    mask: Option<&[bool]>,
    there: usize,
    generator: Option<&Generator>,
    context: &Context,
) -> Vec<usize> {
    match start {
        None => Vec::new(),
        // Their range begins at 0.
        Some(IndexOr::Indices(given)) => {
            given.iter().map(|&i| usize::try_from(i).unwrap_or(0)).collect()
        }
        Some(IndexOr::Word(_)) if there == 0 => Vec::new(),
        Some(IndexOr::Word(_)) => {
            let generator = generator.unwrap_or(&context.counter);
            let mut state = generator.state();
            let number = state.below(there as u64) as usize;
            generator.set(state);
            match mask {
                None => vec![number],
                Some(mask) => {
                    let mut in_it = mask.iter().enumerate().filter(|(_, is_in)| **is_in);
                    in_it.nth(number).map(|(i, _)| i).into_iter().collect()
                }
            }
        }
    }
}

struct Sampling;

impl OfPoints for Sampling {
    fn run<T: Coordinate>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>> {
        let asked = operand::asked::<Asked>(call)?;
        let one = |number: usize| {
            let one = &asked.clouds[number];
            let (cloud, wanted) = (part::<T>(call, one), asked.wanted(one));
            match lanes {
                Some(lanes) => sample(lanes, &cloud, &wanted),
                None => sample_plainly(&cloud, &wanted),
            }
            .map(|(samples, _)| samples)
        };
        let many = asked.clouds.len();
        let all: Result<Vec<Samples<T>>> = match lanes {
            // A thread for each cloud, where there are enough of them.
            Some(lanes) if many >= lanes.workers().threads() && many > 1 => {
                let found: Vec<OnceLock<Result<Samples<T>>>> =
                    std::iter::repeat_with(OnceLock::new).take(many).collect();
                lanes.workers().run(many, &|number| {
                    found[number].get_or_init(|| one(number));
                });
                found.into_iter().filter_map(OnceLock::into_inner).collect()
            }
            _ => (0..many).map(one).collect(),
        };
        results(&all?, asked)
    }
}

fn on_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let asked = operand::asked::<Asked>(call)?;
    let t = call.operands[0].element_type();
    match &asked.clouds[..] {
        [one] if !asked.is_batch => match t {
            ElementType::F32 => device::run::<f32>(call, trip, &asked.wanted(one)),
            _ => device::run::<f64>(call, trip, &asked.wanted(one)),
        },
        clouds => {
            let wanted = |one: &One| (one.rows.clone(), asked.wanted(one));
            let clouds: Vec<_> = clouds.iter().map(wanted).collect();
            match t {
                ElementType::F32 => device::batch::run::<f32>(call, trip, &clouds),
                _ => device::batch::run::<f64>(call, trip, &clouds),
            }
        }
    }
}

fn results<T: Coordinate>(all: &[Samples<T>], asked: &Asked) -> Result<Vec<Array>> {
    if !asked.is_batch {
        return one_result(&all[0]);
    }
    let most = all.iter().map(|samples| samples.indices.len()).max().unwrap_or(0);
    let shape = Shape::new([all.len(), most])?;
    let rows = |at: usize| all[at / most].indices.len() > at % most;
    let indices = Array::build::<i64>(shape.clone(), |out| {
        out.iter_mut().enumerate().for_each(|(at, out)| {
            *out = if rows(at) { all[at / most].indices[at % most] as i64 } else { -1 };
        });
    })?;
    let radii = Array::build::<T>(shape, |out| {
        out.iter_mut().enumerate().for_each(|(at, out)| {
            *out = if rows(at) { all[at / most].radii[at % most] } else { T::GONE };
        });
    })?;
    let covering: Vec<T> = all.iter().map(|samples| samples.covering).collect();
    Ok(vec![indices, radii, Array::vector(&covering)?])
}

fn one_result<T: Coordinate>(samples: &Samples<T>) -> Result<Vec<Array>> {
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
        of(samples::spread(&[2300, 3], 1.0), &[k(20), ("offsets", list(&[0, 9, 9, 2200, 2300]))]),
        of(
            samples::counting(&[3, 40, 2], 7),
            &[("k", list(&[5, 0, 50])), ("lengths", list(&[40, 12, 7]))],
        ),
    ]
}
