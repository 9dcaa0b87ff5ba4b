//! Lidar clouds (`.las` 1.0 to 1.4, uncompressed), read: coordinates in f64 as integer times scale plus
//! offset, with the intensity and the class; and [written](write). A crate would bring calendars and
//! identifiers for the header; the points need its fourteen numbers.

mod write;

pub use write::write;

use super::{Column, Table, whole};
use rung_array::Array;
use rung_base::{Error, Result, memory};
use std::path::Path;

/// Where the header has what (ASPRS LAS 1.4 R15, table 3), in bytes.
const MAJOR: usize = 24;
const MINOR: usize = 25;
const HEADER_SIZE: usize = 94;
const POINTS_AT: usize = 96;
const FORMAT: usize = 104;
const RECORD: usize = 105;
const COUNT: usize = 107;
const SCALES: usize = 131;
const OFFSETS: usize = 155;
/// The count of version 1.4, in 64 bits.
const LONG_COUNT: usize = 247;
/// The shortest header.
const LEAST: usize = 227;

/// A file as it came: its points are written back with everything that was said of them.
#[derive(Debug)]
pub struct Source {
    /// All that stands before the points.
    head: Vec<u8>,
    /// Bytes of a point.
    record: usize,
    points: Vec<u8>,
}

impl Source {
    /// These points of it, in this order.
    ///
    /// # Errors
    /// No memory for them; a row that is not there.
    pub fn chosen(&self, rows: &[i64]) -> Result<Source> {
        let mut points =
            memory::room(rows.len() * self.record, || format!("{} points", rows.len()))?;
        let all = self.points.chunks_exact(self.record);
        for &row in rows {
            let point = usize::try_from(row).ok().and_then(|row| all.clone().nth(row));
            points.extend_from_slice(point.ok_or_else(super::not_there)?);
        }
        Ok(Source { head: self.head.clone(), record: self.record, points })
    }
}

/// The bytes of a point in each format.
const RECORDS: [usize; 11] = [20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67];

struct Header {
    points_at: usize,
    count: usize,
    format: u8,
    record: usize,
    scales: [f64; 3],
    offsets: [f64; 3],
}

pub fn read(path: &Path) -> Result<Table> {
    let bytes = whole(path)?;
    let header = header(&bytes)
        .map_err(|(at, reason)| Error::in_data_file(path, Some(at as u64), reason))?;
    let records = || bytes[header.points_at..].chunks_exact(header.record).take(header.count);
    let mut columns = Vec::new();
    for (axis, name) in super::AXES.iter().enumerate() {
        let coordinate = |point: &[u8]| {
            f64::from(i32::from_le_bytes(four(point, axis * 4))) * header.scales[axis]
                + header.offsets[axis]
        };
        let mut cells = memory::room(header.count, || format!("{} points", header.count))?;
        cells.extend(records().map(coordinate));
        columns.push(Column { name: (*name).into(), cells: Array::vector(&cells)? });
    }
    let intensity = |point: &[u8]| i32::from(u16::from_le_bytes([point[12], point[13]]));
    let class = |point: &[u8]| match header.format {
        0..=5 => point[15] & 0x1f,
        _ => point[16],
    };
    let intensities: Vec<i32> = records().map(intensity).collect();
    let classes: Vec<u8> = records().map(class).collect();
    columns.push(Column { name: "intensity".into(), cells: Array::vector(&intensities)? });
    columns.push(Column { name: "class".into(), cells: Array::vector(&classes)? });
    let mut table = Table::new(columns, false);
    let end = header.points_at + header.count * header.record;
    let source = Source {
        head: bytes[..header.points_at].to_vec(),
        record: header.record,
        points: bytes[header.points_at..end].to_vec(),
    };
    table.las = Some(source.into());
    if header.record > RECORDS[0] {
        let rest = header.record - RECORDS[0];
        table.left_out.push(format!(
            "{rest} bytes of each point (time, colours and others), which only .las output keeps"
        ));
    }
    Ok(table)
}

fn four(bytes: &[u8], at: usize) -> [u8; 4] {
    std::array::from_fn(|i| bytes[at + i])
}

fn eight(bytes: &[u8], at: usize) -> [u8; 8] {
    std::array::from_fn(|i| bytes[at + i])
}

/// The header, or where it is wrong and how.
fn header(bytes: &[u8]) -> std::result::Result<Header, (usize, String)> {
    if !bytes.starts_with(b"LASF") {
        return Err((0, "expected a las file: it does not begin with LASF".into()));
    }
    if bytes.len() < LEAST {
        return Err((bytes.len(), format!("the header has {LEAST} bytes: got {}", bytes.len())));
    }
    let (major, minor) = (bytes[MAJOR], bytes[MINOR]);
    if major != 1 || minor > 4 {
        return Err((MAJOR, format!("expected version 1.0 to 1.4: got {major}.{minor}")));
    }
    let two = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let size = two(HEADER_SIZE);
    let least = if minor == 4 { LONG_COUNT + 8 } else { LEAST };
    if size < least || size > bytes.len() {
        return Err((
            HEADER_SIZE,
            format!(
                "a header of {size} bytes: expected {least} or more, \
             in a file of {}",
                bytes.len()
            ),
        ));
    }
    let short = u64::from(u32::from_le_bytes(four(bytes, COUNT)));
    let long = if minor == 4 { u64::from_le_bytes(eight(bytes, LONG_COUNT)) } else { 0 };
    let count = if long > 0 { long } else { short };
    let found = points(bytes, size, count)?;
    let triple = |at: usize| std::array::from_fn(|i| f64::from_le_bytes(eight(bytes, at + 8 * i)));
    let (scales, offsets): ([f64; 3], [f64; 3]) = (triple(SCALES), triple(OFFSETS));
    if scales.iter().chain(&offsets).any(|x| !x.is_finite()) {
        return Err((SCALES, "a scale or an offset is NaN or infinite".into()));
    }
    Ok(Header { scales, offsets, ..found })
}

/// Where the points are and how they lie, checked against the length of the file.
fn points(bytes: &[u8], size: usize, count: u64) -> std::result::Result<Header, (usize, String)> {
    let format = bytes[FORMAT];
    if format & 0xc0 != 0 {
        return Err((FORMAT, "packed points are not read: unpack it to a plain .las".into()));
    }
    let Some(&least) = RECORDS.get(usize::from(format)) else {
        return Err((FORMAT, format!("expected a point format of 0 to 10: got {format}")));
    };
    let record = usize::from(u16::from_le_bytes([bytes[RECORD], bytes[RECORD + 1]]));
    if record < least {
        let text = format!("points of format {format} take {least} bytes: got {record}");
        return Err((RECORD, text));
    }
    let points_at = u32::from_le_bytes(four(bytes, POINTS_AT)) as usize;
    if points_at < size || points_at > bytes.len() {
        let text = format!("the points begin at byte {points_at} of {}", bytes.len());
        return Err((POINTS_AT, text));
    }
    let there = (bytes.len() - points_at) / record;
    match usize::try_from(count).ok().filter(|count| *count <= there) {
        Some(count) => {
            let none = [0.0; 3];
            Ok(Header { points_at, count, format, record, scales: none, offsets: none })
        }
        None => {
            Err((COUNT, format!("{count} points are announced: the file has room for {there}")))
        }
    }
}
