//! Lidar clouds, written: points that came from a las file as they came, with all that was said of
//! them; others as version 1.2 of format 0, or 2 where they have colours.

use super::super::{AXES, Column, Table};
use super::{COUNT, FORMAT, HEADER_SIZE, LEAST, LONG_COUNT, MAJOR, MINOR, OFFSETS, POINTS_AT};
use super::{RECORD, RECORDS, SCALES, Source, eight, four};
use rung_base::{Error, ErrorKind, Result};
use std::io::Write;

/// Points of each return, five counts; and of version 1.4, fifteen of 64 bits.
const RETURNS: usize = 111;
const LONG_RETURNS: usize = 255;
/// The greatest and the least x, y and z.
const BOUNDS: usize = 179;
/// Where waveforms (from version 1.3) and further blocks (1.4, with their count) begin: after the points,
/// and not written.
const WAVEFORMS: usize = 227;
const FURTHER: usize = 235;
const SHORT: usize = LEAST;

/// The greatest class of formats 0 to 5.
const CLASSES: f64 = 31.0;

/// The finest step: as many of them as 31 bits hold must reach across the cloud.
const FINEST: i32 = 9;

/// What a point has beside x, y and z, by the names of columns.
const INTENSITY: &str = "intensity";
const CLASS: &[&str] = &["class", "classification"];
const COLOURS: [&str; 3] = ["red", "green", "blue"];

/// # Errors
/// What `out` fails with; no x, y and z; a column that has no place in the format, or a number that has
/// none in its column.
pub fn write(table: &Table, out: &mut dyn Write) -> Result<()> {
    let made;
    let source = match &table.las {
        Some(source) => source,
        None => {
            made = source_of(table)?;
            &made
        }
    };
    let written = out.write_all(&head_of(source)).and_then(|()| out.write_all(&source.points));
    written.map_err(|e| Error::new(ErrorKind::File, e.to_string()))
}

/// The head with what it says of the points made true.
fn head_of(source: &Source) -> Vec<u8> {
    let mut all = source.head.clone();
    // What follows the header is not of this version's.
    let size = usize::from(u16::from_le_bytes([all[HEADER_SIZE], all[HEADER_SIZE + 1]]));
    let head = &mut all[..size];
    let minor = head[MINOR];
    let points = || source.points.chunks_exact(source.record);
    let count = points().len() as u64;
    let is_new = head[FORMAT] >= 6;
    // Formats from 6 on are counted in 64 bits alone.
    let short = if is_new { 0 } else { u32::try_from(count).unwrap_or(0) };
    put(head, COUNT, &short.to_le_bytes());
    let mut returns = [0u64; 16];
    let number = |point: &[u8]| if is_new { point[14] & 15 } else { point[14] & 7 };
    points().for_each(|point| returns[usize::from(number(point))] += 1);
    for (at, &count) in returns[1..6].iter().enumerate() {
        let short = if is_new { 0 } else { u32::try_from(count).unwrap_or(0) };
        put(head, RETURNS + 4 * at, &short.to_le_bytes());
    }
    if minor >= 3 {
        put(head, WAVEFORMS, &[0; 8]);
    }
    if minor >= 4 {
        put(head, FURTHER, &[0; 12]);
        put(head, LONG_COUNT, &count.to_le_bytes());
        for (at, count) in returns[1..].iter().enumerate() {
            put(head, LONG_RETURNS + 8 * at, &count.to_le_bytes());
        }
    }
    bounds(head, source);
    all
}

/// The box of the points.
fn bounds(head: &mut [u8], source: &Source) {
    for axis in 0..3 {
        let of = |at: usize| f64::from_le_bytes(eight(head, at + 8 * axis));
        let (scale, offset) = (of(SCALES), of(OFFSETS));
        let steps = source.points.chunks_exact(source.record);
        let steps = steps.map(|point| i32::from_le_bytes(four(point, 4 * axis)));
        let ends = [steps.clone().max(), steps.min()];
        for (end, steps) in ends.into_iter().enumerate() {
            let x = steps.map_or(0.0, |steps| f64::from(steps) * scale + offset);
            put(head, BOUNDS + 16 * axis + 8 * end, &x.to_le_bytes());
        }
    }
}

fn put(head: &mut [u8], at: usize, bytes: &[u8]) {
    // A header may be shorter than its version has it.
    if let Some(place) = head.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// A file made of columns.
fn source_of(table: &Table) -> Result<Source> {
    let axes = AXES.map(|name| column(table, &[name]));
    let [Some(x), Some(y), Some(z)] = axes else {
        let e = Error::new(ErrorKind::Argument, "a .las file has x, y and z: a column is missing");
        return Err(e.hint("choose .npy or .csv for points of another dimension"));
    };
    let colours = COLOURS.map(|name| column(table, &[name]));
    let is_coloured = colours.iter().all(Option::is_some);
    has_places(table, is_coloured)?;
    let format: u8 = if is_coloured { 2 } else { 0 };
    let record = RECORDS[usize::from(format)];
    let mut head = head(format, record);
    let mut points = vec![0; table.rows() * record];
    for (axis, column) in [x, y, z].into_iter().enumerate() {
        let (scale, offset) = step(column);
        put(&mut head, SCALES + 8 * axis, &scale.to_le_bytes());
        put(&mut head, OFFSETS + 8 * axis, &offset.to_le_bytes());
        fill(&mut points, record, 4 * axis, column, |x| {
            (((x - offset) / scale).round() as i32).to_le_bytes()
        });
    }
    attributes(&mut points, record, table, is_coloured.then_some(colours))?;
    Ok(Source { head, record, points })
}

/// What a point has beside its place.
fn attributes(
    points: &mut [u8],
    record: usize,
    table: &Table,
    colours: Option<[Option<&Column>; 3]>,
) -> Result<()> {
    // Every point is the only return of its pulse.
    points.chunks_exact_mut(record).for_each(|point| point[14] = 1 | 1 << 3);
    let short = |x: f64| (x as u16).to_le_bytes();
    if let Some(intensity) = column(table, &[INTENSITY]) {
        are_whole(intensity, u16::MAX.into())?;
        fill(points, record, 12, intensity, short);
    }
    if let Some(class) = column(table, CLASS) {
        are_whole(class, CLASSES)?;
        fill(points, record, 15, class, |x| [x as u8]);
    }
    for (at, colour) in colours.into_iter().flatten().flatten().enumerate() {
        are_whole(colour, u16::MAX.into())?;
        // Colours of 8 bits fill 16.
        let full = if colour.cells.element_type().size() == 1 { 257.0 } else { 1.0 };
        fill(points, record, 20 + 2 * at, colour, |x| short(x * full));
    }
    Ok(())
}

/// Whether a column may be written as whole numbers: none is rounded or cut without a word.
fn are_whole(column: &Column, most: f64) -> Result<()> {
    let fits = |x: f64| x.fract() == 0.0 && (0.0..=most).contains(&x);
    match column.cells.numbers().map(|x| x.to_f64()).find(|&x| !fits(x)) {
        None => Ok(()),
        Some(x) => {
            let text = format!(
                "a .las file holds {} as whole numbers from 0 to {most}: got {x}",
                column.name
            );
            Err(Error::new(ErrorKind::Argument, text).hint("choose .ply, .csv or .npy"))
        }
    }
}

fn column<'a>(table: &'a Table, names: &[&str]) -> Option<&'a Column> {
    table.columns.iter().find(|column| names.contains(&column.name.as_str()))
}

fn has_places(table: &Table, is_coloured: bool) -> Result<()> {
    let has = |name: &str| {
        let colour = is_coloured && COLOURS.contains(&name);
        AXES.contains(&name) || name == INTENSITY || CLASS.contains(&name) || colour
    };
    match table.columns.iter().find(|column| !has(&column.name)) {
        None => Ok(()),
        Some(column) => {
            let text = format!("a .las file has no place for the column {}", column.name);
            Err(Error::new(ErrorKind::Argument, text).hint("choose .ply, .csv or .npy"))
        }
    }
}

/// The step of an axis, a power of ten, and where it counts from.
fn step(column: &Column) -> (f64, f64) {
    let all = || column.cells.numbers().map(|x| x.to_f64());
    let least = all().fold(f64::INFINITY, f64::min);
    let offset = if least.is_finite() { least.floor() } else { 0.0 };
    let extent = all().fold(0.0, |most: f64, x| most.max(x - offset));
    let reaches = |digits: &i32| extent <= 10f64.powi(-digits) * f64::from(i32::MAX);
    let digits = (-300..=FINEST).rev().find(reaches).unwrap_or(-300);
    (10f64.powi(-digits), offset)
}

/// Writes a column into the points, at a byte of each.
fn fill<const N: usize>(
    points: &mut [u8],
    record: usize,
    at: usize,
    column: &Column,
    bytes: impl Fn(f64) -> [u8; N],
) {
    for (point, x) in points.chunks_exact_mut(record).zip(column.cells.numbers()) {
        point[at..at + N].copy_from_slice(&bytes(x.to_f64()));
    }
}

/// A header of version 1.2 that says nothing of the points yet.
fn head(format: u8, record: usize) -> Vec<u8> {
    let mut head = vec![0; SHORT];
    put(&mut head, 0, b"LASF");
    head[MAJOR] = 1;
    head[MINOR] = 2;
    put(&mut head, 58, b"Rung");
    put(&mut head, HEADER_SIZE, &(SHORT as u16).to_le_bytes());
    put(&mut head, POINTS_AT, &(SHORT as u32).to_le_bytes());
    head[FORMAT] = format;
    put(&mut head, RECORD, &(record as u16).to_le_bytes());
    head
}
