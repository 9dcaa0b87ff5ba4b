//! The record of coverage: how well samples stand for a cloud, whatever chose them.

use super::{Found, Limit, plainly, search};
use crate::operand::{self, OfPoints};
use crate::{Cloud, Coordinate, PACKAGE, shell};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{ALL, Definition, Family, Kind, Op, Rungs, required};
use rung_ops::samples::{self, Sample};
use rung_ops::solver::{Command, array, number};

pub const COVERAGE: Op = Op {
    names: &["coverage"],
    doc: "How far each point of a cloud is from the nearest of some samples, which that is, and the \
          greatest and the mean of those distances. The greatest is the covering radius: fps comes \
          within a factor of two of the least that so many samples can have (Gonzalez 1985).",
    package: PACKAGE,
    types: ALL,
    parameters: &[
        required("points", Kind::Array).says("the cloud, one point a row: (n d), d from 1 to 16"),
        required("samples", Kind::Array).says("what stands for it, one point a row: (k d)"),
    ],
    result: "four values: indices (signed-byte 64) and distances, each (n); the covering radius; the \
             mean distance",
    results: &[
        array("indices", "the row of the nearest sample, the lowest of equally near ones"),
        array("distances", "how far it is"),
        number("covering-radius", "the greatest distance"),
        number("mean-distance", "the mean distance"),
    ],
    errors: &[crate::mistakes::COVERAGE],
    prepare,
    rungs: Rungs::processor(
        Definition::Several(operand::portable::<Covering>),
        operand::lanes::<Covering>,
        "no kernel yet: every point goes its own way through the groups",
    ),
    samples: trial,
    beside: Some(super::record::beside),
    example: "(points:coverage #d((0 0) (1 0) (5 0)) #d((0 0) (4 0))) => #(0 0 1)",
    command: Some(&Command {
        examples: &[(
            "rung points coverage cloud.ply --samples few.npy -o rows.npy",
            "who stands for whom, and how well",
        )],
        input: Some(shell::CLOUD),
        output: shell::ROWS,
        picture: None,
        stream: None,
    }),
    ..Op::BASE
};

struct Asked;

fn prepare(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let call = super::record::operands(op, &mut a, 1, "samples")?;
    let [points, samples] = &call.operands[..] else {
        return Err(Error::new(ErrorKind::Internal, "coverage without samples"));
    };
    let (n, k, t) = (points.shape()[0], samples.shape()[0], points.element_type());
    if n == 0 || k == 0 {
        let text = format!("coverage of {n} points by {k} samples: there has to be one of each");
        return Err(Error::new(ErrorKind::Empty, text));
    }
    let output = |shape, to_number| Output { shape, raw: t, result: t, to_number };
    let scalar = || output(Shape::scalar(), true);
    Ok(Prepared::Call(Box::new(Call {
        shape: Shape::vector(n),
        raw: ElementType::I64,
        result: ElementType::I64,
        more: vec![output(Shape::vector(n), false), scalar(), scalar()],
        detail: Detail::Solver(Box::new(Asked)),
        units: (n as u64).saturating_mul(k as u64),
        family: Family::Map,
        ..call
    })))
}

struct Covering;

impl OfPoints for Covering {
    fn run<T: Coordinate>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>> {
        operand::asked::<Asked>(call)?;
        let (points, samples) = (operand::cloud::<T>(call), &call.operands[1]);
        let samples =
            Cloud::checked(samples.as_slice::<T>().unwrap_or_default(), samples.shape()[1]);
        let found = match lanes {
            Some(lanes) => search(lanes, &samples, &points, Limit::Count(1))?,
            None => plainly(&samples, &points, Limit::Count(1))?,
        };
        results(&found)
    }
}

fn results<T: Coordinate>(found: &Found<T>) -> Result<Vec<Array>> {
    let [indices, distances] = super::record::arrays(found, Shape::vector(found.all().len()))?;
    let each = distances.as_slice::<T>().unwrap_or_default();
    let farthest = each.iter().fold(T::ZERO, |most, &d| if d > most { d } else { most });
    // In the order of the points, in f64, rounded once.
    let sum = each.iter().fold(0.0, |sum, &d| sum + d.to_f64());
    let mean = T::of(sum / each.len() as f64);
    let scalar = |x: T| Array::from_slice(&[x], Shape::scalar());
    let (farthest, mean) = (scalar(farthest)?, scalar(mean)?);
    Ok(vec![indices, distances, farthest, mean])
}

fn trial() -> Vec<Sample> {
    vec![
        vec![samples::spread(&[1, 3], 1.0), samples::spread(&[1, 3], 1.5)],
        vec![samples::spread(&[70, 3], 1.5), samples::spread(&[2100, 3], 1.0)],
        vec![samples::whole(&[65, 3], 4), samples::counting(&[2100, 3], 6)],
        vec![samples::counting(&[300, 5], 9), samples::whole(&[17, 5], 4)],
    ]
}
