//! What a shell needs for clouds: how one comes from a file, how chosen points go into one, and what a
//! picture shows. The records of the operations name what fits them.

use crate::batch;
use crate::files::{READ, Table, WRITTEN, read, read_kitti, text};
use crate::picture;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, memory};
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
    let left_out = table.left_out.iter().map(|what| format!("left out: {what}"));
    let mut notes: Vec<String> = table.notes.iter().cloned().chain(left_out).collect();
    if let Some(word) = option(TYPE.name) {
        let given = points;
        points = given.convert(ElementType::parse(word).unwrap_or(ElementType::F64))?;
        notes.extend(merged(&given, &points)?);
    }
    let values = vec![(CLOUD.parameter, Value::Array(points))];
    Ok(Opened { values, kept: Box::new(table), notes, details: Vec::new() })
}

/// Of 100 distinct points one may become another's equal without a note.
const MERGED: usize = 100;

/// A note where points of f64 that are apart are one at f32, as those far from the origin may be.
fn merged(given: &Array, points: &Array) -> Result<Option<String>> {
    if given.element_type() != ElementType::F64 || points.element_type() != ElementType::F32 {
        return Ok(None);
    }
    let (before, after) = (distinct(given)?, distinct(points)?);
    let lost = before - after;
    let text = || format!("f32 merged {lost} of {before} distinct points; type f64 keeps them");
    Ok((lost > before / MERGED).then(text))
}

/// How many rows differ from all others.
fn distinct(points: &Array) -> Result<usize> {
    let columns = points.shape()[1].max(1);
    // Both zeros are one number.
    let mut numbers: Vec<u64> = memory::room(points.size(), || "a copy of the points".into())?;
    numbers.extend(points.numbers().map(|x| (x.to_f64() + 0.0).to_bits()));
    let mut rows: Vec<&[u64]> = numbers.chunks_exact(columns).collect();
    rows.sort_unstable();
    rows.dedup();
    Ok(rows.len())
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

#[cfg(test)]
mod tests {
    use super::*;
    use rung_base::Shape;

    /// Points a millimetre apart, so far from the origin.
    fn note(origin: f64, word: ElementType) -> Option<String> {
        let points: Vec<f64> =
            (0..200).flat_map(|i| [origin + f64::from(i) * 1e-3, 0.0, -0.0]).collect();
        let points = Array::from_slice(&points, Shape::new([200, 3]).unwrap()).unwrap();
        merged(&points, &points.convert(word).unwrap()).unwrap()
    }

    #[test]
    fn points_that_f32_merges_are_counted() {
        // At 5,400,000 singles are half a metre apart.
        let text = "f32 merged 199 of 200 distinct points; type f64 keeps them";
        assert_eq!(note(5_400_000.0, ElementType::F32).as_deref(), Some(text));
        assert_eq!(note(5_400_000.0, ElementType::F64), None);
        assert_eq!(note(5.0, ElementType::F32), None);
    }
}
