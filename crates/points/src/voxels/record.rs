//! The record of thinning by voxels.

use super::{Thinned, check, thin};
use crate::files::Table;
use crate::{Coordinate, PACKAGE, operand, shell};
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use rung_ops::Value;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{ALL, Definition, Entry, Family, Kind, NO_LIBRARY, Op, Rungs, required};
use rung_ops::samples;
use rung_ops::solver::{Command, Finished, Writer, array};
use std::io::Write;

pub const VOXELS: Op = Op {
    names: &["voxels", "voxel-down-sample"],
    package: PACKAGE,
    doc: "One point for each voxel of a grid of cubes, the mean of the points in it, in the order of \
          each voxel's first point. The grid begins at the cloud's least coordinates.",
    parameters: &[
        required("points", Kind::Array).says("the cloud, one point a row: (n d), d from 1 to 16"),
        required("edge", Kind::Number)
            .says("the length of a voxel's edge")
            .unit("that of the points")
            .above(0.0, f64::INFINITY),
    ],
    result: "three values: the means (m d), how many points each stands for (signed-byte 64), and \
             for each point of the cloud the row of its mean (signed-byte 64)",
    results: &[
        array("means", "a point for each voxel: (m d)"),
        array("counts", "how many points each stands for: (m)"),
        array("rows", "the row of each point's mean: (n)"),
    ],
    types: ALL,
    errors: &[crate::mistakes::VOXELS],
    prepare,
    rungs: Rungs {
        portable: Definition::Several(portable),
        lanes: Entry::None("one pass that waits for the memory of a table"),
        library: Entry::None(NO_LIBRARY),
        device: Entry::None("one pass that waits for the memory of a table"),
    },
    samples: || {
        let of = |points: Value, edge| vec![points, samples::number(edge)];
        vec![
            of(samples::spread(&[0, 3], 1.0), 1.0),
            of(samples::spread(&[1, 1], 1.0), 0.5),
            of(samples::spread(&[300, 3], 1.0), 0.4),
            of(samples::counting(&[200, 2], 9), 2.5),
        ]
    },
    example: "(points:voxels #d((0 0) (1 0) (5 0) (2 0)) 2) => #d((0.5 0.0) (5.0 0.0) (2.0 0.0))",
    command: Some(&Command {
        examples: &[(
            "rung points voxels cloud.ply --edge 0.1 -o thin.ply",
            "a point for each cube of 0.1",
        )],
        input: Some(shell::CLOUD),
        output: Writer {
            what: "the means and how many points each stands for",
            endings: crate::files::WRITTEN,
            write,
            parameters: None,
        },
        picture: None,
        stream: None,
    }),
    ..Op::BASE
};

fn prepare(op: &'static Op, mut a: Arguments, _: &mut Context) -> Result<Prepared> {
    let given = a.array(0)?;
    let edge = a.number(1)?.to_f64();
    let points = operand::points(&given, false)?.array;
    let (t, rows) = (points.element_type(), given.shape()[0]);
    let call = Call::like(op, points, t, Family::Copy);
    match t {
        ElementType::F32 => check(&operand::cloud::<f32>(&call), edge)?,
        _ => check(&operand::cloud::<f64>(&call), edge)?,
    }
    let whole = |count| Output {
        shape: Shape::vector(count),
        raw: ElementType::I64,
        result: ElementType::I64,
        to_number: false,
    };
    // As many voxels as points at most.
    Ok(Prepared::Call(Box::new(Call {
        given: [given.shape().clone()].into_iter().collect(),
        more: vec![whole(rows), whole(rows)],
        detail: Detail::Solver(Box::new(edge)),
        ..call
    })))
}

fn portable(call: &Call) -> Result<Vec<Array>> {
    let edge = *operand::asked::<f64>(call)?;
    match call.operands[0].element_type() {
        ElementType::F32 => results(thin(&operand::cloud::<f32>(call), edge)?, call),
        _ => results(thin(&operand::cloud::<f64>(call), edge)?, call),
    }
}

fn results<T: Coordinate>(thinned: Thinned<T>, call: &Call) -> Result<Vec<Array>> {
    let shape = Shape::new([thinned.counts.len(), call.shape[1]])?;
    Ok(vec![
        Array::from_slice(&thinned.points, shape)?,
        Array::vector(&thinned.counts)?,
        Array::vector(&thinned.voxels)?,
    ])
}

fn write(finished: &Finished, ending: &str, out: &mut dyn Write) -> Result<()> {
    let is_text = finished.kept::<Table>()?.is_text;
    let table = Table::of_points(finished.array(0)?, is_text)?;
    table.with("count", finished.array(1)?).write(ending, out)
}
