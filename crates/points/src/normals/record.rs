//! The record of normals.

use super::{normal, turned};
use crate::files::Table;
use crate::near::{Limit, plainly, search};
use crate::operand::{self, OfPoints};
use crate::{Coordinate, PACKAGE, shell};
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape, memory};
use rung_lanes::Lanes;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{ALL, Definition, Family, Kind, Op, Rungs, keyword, required};
use rung_ops::samples;
use rung_ops::solver::{Command, Finished, Writer, array};
use std::io::Write;
use std::sync::Mutex;

pub const NORMALS: Op = Op {
    names: &["normals", "estimate-normals"],
    package: PACKAGE,
    doc: "For each point in space the direction in which its k nearest points, itself among them, \
          lie least far apart, of length 1; and the part of their spread along it, 0 on a plane. A \
          normal has its greatest component positive, or points towards a place.",
    parameters: &[
        required("points", Kind::Array).says("the cloud, one point a row: (n 3)"),
        keyword("k", Kind::Integer)
            .says("how many nearest points; all if there are fewer")
            .default("16")
            .at_least(3.0),
        keyword("towards", Kind::Array)
            .says("the place towards which normals point, (3): where the scanner stood"),
    ],
    result: "two values: the normals (n 3), and the part of the spread along each (n)",
    results: &[
        array("normals", "directions of length 1: (n 3)"),
        array("curvature", "the part of the spread along each, 0 on a plane, at most 1/3: (n)"),
    ],
    types: ALL,
    errors: &[crate::mistakes::NORMALS],
    prepare,
    rungs: Rungs::processor(
        Definition::Several(operand::portable::<Normals>),
        operand::lanes::<Normals>,
        "no kernel yet: every query goes its own way through the groups",
    ),
    samples: || {
        let k = |n| [samples::word("k"), samples::integer(n)];
        let towards = [samples::word("towards"), samples::whole(&[3], 9)];
        vec![
            vec![samples::spread(&[0, 3], 1.0)],
            vec![samples::spread(&[2, 3], 1.0)],
            [vec![samples::spread(&[40, 3], 1.0)], k(5).to_vec()].concat(),
            [vec![samples::counting(&[2100, 3], 11)], k(7).to_vec(), towards.to_vec()].concat(),
        ]
    },
    example: "(points:normals #d((0 0 5) (1 0 5) (0 1 5)) :k 3) => \
              #d((0.0 0.0 1.0) (0.0 0.0 1.0) (0.0 0.0 1.0))",
    command: Some(&Command {
        examples: &[(
            "rung points normals cloud.xyz -k 24 -o with.ply",
            "the cloud with the columns nx, ny and nz",
        )],
        input: Some(shell::CLOUD),
        output: Writer {
            what: "the points with all their columns, nx, ny, nz and curvature",
            endings: crate::files::WRITTEN,
            write,
            parameters: None,
        },
        picture: None,
        stream: None,
    }),
    ..Op::BASE
};

struct Asked {
    count: usize,
    towards: Option<[f64; 3]>,
}

fn prepare(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = a.array(0)?;
    let k = a.optional_integer(1)?.unwrap_or(16);
    let towards = if a.is_given(2) { Some(place(&a.array(2)?)?) } else { None };
    let points = operand::points(&given, false)?.array;
    let [rows, 3] = points.shape()[..] else {
        let text = "normals are of points in space, (n 3)";
        return Err(Error::wanted(ErrorKind::Shape, text, given.shape()));
    };
    let t = points.element_type();
    let call = Call::like(op, points, t, Family::Map);
    let count = usize::try_from(k).unwrap_or(usize::MAX).min(rows);
    let curvature = Output { shape: Shape::vector(rows), raw: t, result: t, to_number: false };
    Ok(Prepared::Call(Box::new(Call {
        given: [given.shape().clone()].into_iter().collect(),
        more: vec![curvature],
        units: (rows as u64).saturating_mul(rows as u64),
        detail: Detail::Solver(Box::new(Asked { count, towards })),
        ..call
    })))
}

fn place(array: &Array) -> Result<[f64; 3]> {
    let numbers: Vec<f64> = array.numbers().map(|n| n.to_f64()).take(4).collect();
    match numbers[..] {
        [x, y, z] if array.rank() == 1 => Ok([x, y, z]),
        _ => Err(Error::wanted(ErrorKind::Shape, "towards is a place of shape (3)", array.shape())),
    }
}

struct Normals;

impl OfPoints for Normals {
    fn run<T: Coordinate>(call: &Call, lanes: Option<&Lanes>) -> Result<Vec<Array>> {
        let (cloud, asked) = (operand::cloud::<T>(call), operand::asked::<Asked>(call)?);
        let limit = Limit::Count(asked.count);
        let near = match lanes {
            Some(lanes) => search(lanes, &cloud, &cloud, limit)?,
            None => plainly(&cloud, &cloud, limit)?,
        };
        let of = |i: usize| {
            let (direction, part) = normal(&cloud, near.of(i));
            let from = [0, 1, 2].map(|axis: usize| cloud.point(i)[axis].to_f64());
            (asked.towards.map_or(direction, |towards| turned(direction, from, towards)), part)
        };
        let found = each(lanes, cloud.len(), &of)?;
        let normals = Array::build::<T>(call.shape.clone(), |out| {
            let all = found.iter().flat_map(|(direction, _)| direction);
            out.iter_mut().zip(all).for_each(|(out, x)| *out = T::of(*x));
        })?;
        let curvature = Array::build::<T>(Shape::vector(found.len()), |out| {
            out.iter_mut().zip(&found).for_each(|(out, (_, part))| *out = T::of(*part));
        })?;
        Ok(vec![normals, curvature])
    }
}

/// Points that one piece of work turns to.
const PIECE: usize = 1024;

/// What each point gives, in order, on all threads.
fn each<R: Copy + Default + Send>(
    lanes: Option<&Lanes>,
    count: usize,
    of: &(dyn Fn(usize) -> R + Sync),
) -> Result<Vec<R>> {
    let mut all = memory::filled(count, R::default(), || format!("normals of {count} points"))?;
    let pieces: Vec<_> = all.chunks_mut(PIECE).map(Mutex::new).collect();
    let run = |at: usize| {
        // No other thread has this piece, and one that panicked ends the call.
        if let Ok(mut piece) = pieces[at].lock() {
            piece.iter_mut().enumerate().for_each(|(i, out)| *out = of(at * PIECE + i));
        }
    };
    match lanes {
        Some(lanes) => lanes.workers().run(pieces.len(), &run),
        None => (0..pieces.len()).for_each(run),
    }
    drop(pieces);
    Ok(all)
}

fn write(finished: &Finished, ending: &str, out: &mut dyn Write) -> Result<()> {
    let normals = Table::of_points(finished.array(0)?, true)?;
    let mut table = finished.kept::<Table>()?.clone();
    for (name, column) in ["nx", "ny", "nz"].iter().zip(&normals.columns) {
        table = table.with(name, &column.cells);
    }
    table.with("curvature", finished.array(1)?).write(ending, out)
}
