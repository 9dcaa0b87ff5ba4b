//! The records of the searches: the k nearest points, and all within a radius.

use super::{Found, Limit, plainly, search};
use crate::operand::{self, OfPoints};
use crate::{Cloud, Coordinate, PACKAGE, shell};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_ops::Value;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{ALL, Definition, Family, Kind, Op, Parameter, Rungs, keyword, required};
use rung_ops::samples::{self, Sample};
use rung_ops::solver::{Command, array};

const POINTS: Parameter =
    required("points", Kind::Array).says("the cloud, one point a row: (n d), d from 1 to 16");
const QUERIES: Parameter = keyword("queries", Kind::Array)
    .says("the points whose neighbours are sought, (m d)")
    .default("the cloud's own, each its own first neighbour");

pub const NEAREST: Op = Op {
    names: &["nearest", "kneighbors"],
    doc: "The k nearest points of a cloud to each query, the nearest first and of equally near ones \
          the one with the lowest index. Exact: boxes that are too far away are left out by bounds.",
    parameters: &[
        POINTS,
        keyword("k", Kind::Integer)
            .says("how many, at most the number of points")
            .default("1")
            .at_least(1.0),
        QUERIES,
    ],
    result: "two values: indices (signed-byte 64) and distances, each (m k)",
    results: &[
        array("indices", "the rows of the neighbours, (m k)"),
        array("distances", "how far each is, (m k)"),
    ],
    errors: &[crate::mistakes::NEAREST],
    prepare: prepare_nearest,
    rungs: RUNGS,
    samples: || trial(|k| vec![samples::word("k"), samples::integer(k)]),
    example: "(points:nearest #d((0 0) (1 0) (5 0)) :k 2) => #2A((0 1) (1 0) (2 1))",
    command: Some(&Command {
        examples: &[
            ("rung points nearest cloud.ply -k 8 -o rows.npy", "the 8 nearest of every point"),
            (
                "rung points nearest cloud.ply --queries few.npy --distances d.csv",
                "of other points",
            ),
        ],
        ..COMMAND
    }),
    ..BASE
};

pub const WITHIN: Op = Op {
    names: &["within", "radius-neighbors"],
    doc: "All points of a cloud that are not farther from a query than a radius, the nearest first \
          and of equally near ones the one with the lowest index; those of query i are in the places \
          offsets(i) to offsets(i + 1) of indices and distances.",
    parameters: &[
        POINTS,
        required("radius", Kind::Number)
            .says("how far they may be")
            .unit("that of the points")
            .at_least(0.0),
        QUERIES,
    ],
    result: "three values: indices (signed-byte 64) and distances, each a vector, and offsets \
             (signed-byte 64), (m + 1)",
    results: &[
        array("indices", "the rows of the neighbours of all queries, one query after the other"),
        array("distances", "how far each is"),
        array("offsets", "where the neighbours of each query begin, and the end: (m + 1)"),
    ],
    errors: &[crate::mistakes::WITHIN],
    prepare: prepare_within,
    rungs: RUNGS,
    samples: || trial(|k| vec![samples::number(k as f64 * 0.04)]),
    example: "(points:within #d((0 0) (1 0) (5 0)) 1) => #(0 1 1 0 2)",
    command: Some(&Command {
        examples: &[(
            "rung points within cloud.ply --radius 0.1 -o rows.npy --offsets begins.npy",
            "who is near whom",
        )],
        ..COMMAND
    }),
    ..BASE
};

const BASE: Op = Op { package: PACKAGE, types: ALL, beside: Some(beside), ..Op::BASE };

const RUNGS: Rungs = Rungs::processor(
    Definition::Several(operand::portable::<Search>),
    operand::lanes::<Search>,
    "no kernel yet: every query goes its own way through the groups",
);

const COMMAND: Command = Command {
    examples: &[],
    input: Some(shell::CLOUD),
    output: shell::ROWS,
    picture: None,
    stream: None,
};

/// What the rungs need beside the points and, where they are others, the queries.
struct Asked {
    limit: Limit,
}

fn prepare_nearest(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let k = a.optional_integer(1)?.unwrap_or(1);
    let call = operands(op, &mut a, 2, "queries")?;
    let rows = call.operands[0].shape()[0];
    let Some(count) = usize::try_from(k).ok().filter(|k| *k <= rows) else {
        let text = format!("k must be {rows}, the number of points, at most");
        return Err(Error::wanted(ErrorKind::Argument, text, k));
    };
    let shape = Shape::new([queries(&call).shape()[0], count])?;
    Ok(asked(call, shape.clone(), vec![shape], Limit::Count(count)))
}

fn prepare_within(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let radius = a.number(1)?.to_f64();
    let call = operands(op, &mut a, 2, "queries")?;
    let squared = match call.operands[0].element_type() {
        ElementType::F32 => f64::from(radius as f32 * radius as f32),
        _ => radius * radius,
    };
    // How many there are is known when they are found.
    let offsets = Shape::vector(queries(&call).shape()[0] + 1);
    let none = Shape::vector(0);
    Ok(asked(call, none.clone(), vec![none, offsets], Limit::Squared(squared)))
}

/// The cloud, and the other points where they are given, both at one type.
pub(super) fn operands(op: &'static Op, a: &mut Arguments, at: usize, name: &str) -> Result<Call> {
    let given = a.array(0)?;
    let mut points = operand::points(&given, false)?.array;
    let mut call = Call::like(op, points.clone(), ElementType::I64, Family::Map);
    call.given = [given.shape().clone()].into_iter().collect();
    if a.is_given(at) {
        let asked = a.array(at)?;
        let mut others = operand::points(&asked, false)?.array;
        let (d, e) = (points.shape()[1], others.shape()[1]);
        if d != e {
            let text = format!("{name} of {d} coordinates, as the points have");
            return Err(Error::wanted(ErrorKind::Shape, text, e));
        }
        if others.element_type() != points.element_type() {
            others = others.convert(ElementType::F64)?;
            points = points.convert(ElementType::F64)?;
        }
        call.given.push(asked.shape().clone());
        call.operands = [points, others].into_iter().collect();
    }
    Ok(call)
}

fn queries(call: &Call) -> &Array {
    call.operands.get(1).unwrap_or(&call.operands[0])
}

fn asked(call: Call, shape: Shape, more: Vec<Shape>, limit: Limit) -> Prepared {
    let t = call.operands[0].element_type();
    let units =
        (call.operands[0].shape()[0] as u64).saturating_mul(queries(&call).shape()[0] as u64);
    let output = |(at, shape)| {
        // Distances come first, offsets are indices.
        let t = if at == 0 { t } else { ElementType::I64 };
        Output { shape, raw: t, result: t, to_number: false }
    };
    Prepared::Call(Box::new(Call {
        shape,
        raw: ElementType::I64,
        result: ElementType::I64,
        more: more.into_iter().enumerate().map(output).collect(),
        detail: Detail::Solver(Box::new(Asked { limit })),
        units,
        ..call
    }))
}

struct Search;

impl OfPoints for Search {
    fn run<T: Coordinate>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>> {
        let (cloud, limit) = (operand::cloud::<T>(call), operand::asked::<Asked>(call)?.limit);
        let asked = queries(call);
        let asked = Cloud::checked(asked.as_slice::<T>().unwrap_or_default(), asked.shape()[1]);
        let found = match lanes {
            Some(lanes) => search(lanes, &cloud, &asked, limit)?,
            None => plainly(&cloud, &asked, limit)?,
        };
        results(&found, call, limit)
    }
}

/// The neighbours' indices and distances, in this shape.
pub(super) fn arrays<T: Coordinate>(found: &Found<T>, shape: Shape) -> Result<[Array; 2]> {
    let all = found.all();
    let indices = Array::build::<i64>(shape.clone(), |out| {
        out.iter_mut().zip(all).for_each(|(out, (_, index))| *out = i64::from(*index));
    })?;
    let distances = Array::build::<T>(shape, |out| {
        out.iter_mut().zip(all).for_each(|(out, (d, _))| *out = d.sqrt());
    })?;
    Ok([indices, distances])
}

fn results<T: Coordinate>(found: &Found<T>, call: &Call, limit: Limit) -> Result<Vec<Array>> {
    let shape = match limit {
        Limit::Count(_) => call.shape.clone(),
        Limit::Squared(_) => Shape::vector(found.all().len()),
    };
    let mut arrays = Vec::from(arrays(found, shape)?);
    if let Limit::Squared(_) = limit {
        arrays.push(Array::build::<i64>(Shape::vector(found.ends().len() + 1), |out| {
            out[0] = 0;
            out[1..].iter_mut().zip(found.ends()).for_each(|(out, end)| *out = *end as i64);
        })?);
    }
    Ok(arrays)
}

/// The groups, and the neighbours before they are results.
pub(super) fn beside(call: &Call, _: usize) -> u64 {
    let [rows, columns] = call.operands[0].shape()[..] else { return 0 };
    let point = (columns as u64 + 1) * 2 * 8 + 24;
    let found = (call.shape.size() as u64).saturating_mul(16);
    (rows as u64).saturating_mul(point).saturating_add(found)
}

/// Samples; `how` writes the second argument, from a small whole number.
fn trial(how: fn(i64) -> Vec<Value>) -> Vec<Sample> {
    let of = |points: Value, k: i64, queries: Option<Value>| -> Sample {
        let queries = queries.map(|q| vec![samples::word("queries"), q]).unwrap_or_default();
        [vec![points], how(k), queries].concat()
    };
    vec![
        of(samples::spread(&[1, 3], 1.0), 1, None),
        of(samples::spread(&[40, 5], 1.0), 7, None),
        of(samples::counting(&[33, 2], 5), 33, None),
        of(samples::spread(&[2100, 3], 1.0), 4, Some(samples::spread(&[70, 3], 1.5))),
        of(samples::counting(&[2100, 3], 6), 9, Some(samples::whole(&[65, 3], 4))),
        of(samples::counting(&[2049, 1], 900), 3, Some(samples::whole(&[9, 1], 950))),
        of(samples::spread(&[2048, 2], 1.0), 2, Some(samples::spread(&[0, 2], 1.0))),
    ]
}
