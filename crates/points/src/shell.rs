//! What a shell needs for clouds: how one comes from a file, how chosen points go into one, and what a
//! picture shows. The records of the operations name what fits them.

use crate::batch;
use crate::files::{READ, Table, WRITTEN, read, read_kitti, text};
use crate::picture;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result};
use rung_files::npy;
use rung_ops::Value;
use rung_ops::record::{Kind, Parameter, keyword};
use rung_ops::solver::{Finished, Given, Opened, Picture, Reader, Writer};
use std::io::Write;
use std::path::Path;

/// A cloud of a file.
pub const CLOUD: Reader = Reader {
    parameter: "points",
    what: "a point cloud",
    endings: READ,
    options: &[TYPE, FORMAT],
    read: open,
};

const TYPE: Parameter = keyword("type", Kind::Choice(&["f32", "f64"]))
    .says("the width at which the coordinates are computed with")
    .default("that of the file, f64 of texts");

const FORMAT: Parameter = keyword("format", Kind::Choice(&["kitti"]))
    .says("what a .bin file holds: kitti, x y z and the intensity of each point in f32");

/// The points whose rows the first result has, with everything that their file says of them.
pub const CHOSEN: Writer = Writer {
    what: "the chosen points with all their columns",
    endings: WRITTEN,
    write: write_chosen,
    parameters: None,
};

/// The rows that the first result has: indices, a line for each row of it.
pub const ROWS: Writer = Writer {
    what: "the indices",
    endings: &[".csv", ".npy", ".txt"],
    write: write_rows,
    parameters: None,
};

pub const MARKED: Picture =
    Picture { what: "the cloud with the chosen points, the first blue, the last orange", draw };

fn open(path: &Path, options: &[Given]) -> Result<Opened> {
    let option = |name: &str| match options.iter().find(|(given, _)| *given == name) {
        Some((_, Value::Keyword(word))) => Some(word),
        _ => None,
    };
    let table = if option(FORMAT.name).is_some() { read_kitti(path)? } else { read(path)? };
    let mut points = table.points()?;
    if let Some(word) = option(TYPE.name) {
        points = points.convert(ElementType::parse(word).unwrap_or(ElementType::F64))?;
    }
    let notes = table.left_out.iter().map(|what| format!("left out: {what}")).collect();
    let values = vec![(CLOUD.parameter, Value::Array(points))];
    Ok(Opened { values, kept: Box::new(table), notes, details: Vec::new() })
}

fn write_chosen(finished: &Finished, ending: &str, out: &mut dyn Write) -> Result<()> {
    let table = finished.kept::<Table>()?;
    table.chosen(&rows_of_file(finished)?)?.write(ending, out)
}

/// The chosen rows, counted from the beginning of the file: those of a batch count within its clouds.
fn rows_of_file(finished: &Finished) -> Result<Vec<i64>> {
    let chosen = finished.array(0)?;
    let rows = chosen.as_slice::<i64>().unwrap_or_default();
    let [clouds, most] = chosen.shape()[..] else { return Ok(rows.to_vec()) };
    let Some(Value::Array(points)) = finished.arguments.first() else { return Ok(Vec::new()) };
    let integers = |name| finished.keyword(name).map(rung_ops::arguments::indices).transpose();
    let parts = batch::clouds(points, integers("offsets")?, integers("lengths")?)?.parts;
    let of_cloud = |cloud: usize| {
        let rows = rows[cloud * most..(cloud + 1) * most].iter().filter(|&&row| row >= 0);
        let first = parts[cloud].start as i64;
        rows.map(move |row| row + first)
    };
    Ok((0..clouds).flat_map(of_cloud).collect())
}

fn write_rows(finished: &Finished, ending: &str, out: &mut dyn Write) -> Result<()> {
    let rows = finished.array(0)?;
    let written = match ending {
        ".npy" => npy::write_to(rows, out),
        ".csv" => text::write_matrix(rows, ",", out),
        _ => text::write_matrix(rows, " ", out),
    };
    written.map_err(|e| Error::new(ErrorKind::File, e.to_string()))
}

fn draw(finished: &Finished) -> Result<Array> {
    let points = finished.kept::<Table>()?.points()?;
    picture::draw(&points, &rows_of_file(finished)?)
}
