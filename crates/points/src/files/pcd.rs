//! Point cloud library files (`.pcd` 0.7: ascii, binary, binary_compressed), read: every field of one
//! number a point, by its name, at its own type. Fields of several numbers are left out with a note, and
//! so are unsigned integers of 64 bits, which no element type holds.

use super::{Column, MOST_COLUMNS, Table, whole};
use rung_array::Array;
use rung_base::{ElementType, Error, Result, memory};
use std::path::Path;

/// The most bytes that three packed ones stand for (a reference of 264).
const EXPANSION: usize = 88;

/// How points may follow the header.
const FORMS: [&str; 3] = ["ascii", "binary", "binary_compressed"];
/// The most numbers that a field of a point is taken to have.
const MOST_NUMBERS: usize = 1 << 20;

/// One of the file's fields.
struct Field<'a> {
    name: &'a str,
    /// I, U or F.
    kind: &'a str,
    bytes: usize,
    count: usize,
}

struct Header<'a> {
    fields: Vec<Field<'a>>,
    points: usize,
    data: &'a str,
    /// Where the points begin.
    at: usize,
}

/// Where it is wrong and how.
type Wrong = (usize, String);

pub fn read(path: &Path) -> Result<Table> {
    let bytes = whole(path)?;
    let wrong = |(at, reason): Wrong| Error::in_data_file(path, Some(at as u64), reason);
    let header = header(&bytes).map_err(wrong)?;
    let rest = &bytes[header.at..];
    let wrong = |reason: String| wrong((header.at, reason));
    let record: usize = header.fields.iter().map(|field| field.bytes * field.count).sum();
    let wanted = header.points.saturating_mul(record);
    match header.data {
        "ascii" => {
            let columns = ascii(&header, rest).map_err(wrong)?;
            table(&header, of_numbers(&header, &columns)?)
        }
        "binary" if wanted <= rest.len() => table(&header, binary(&header, rest, Some(record))?),
        "binary" => Err(wrong(format!(
            "{} points take {wanted} bytes: the file has {} left",
            header.points,
            rest.len()
        ))),
        _ => {
            let unpacked = unpacked(rest, wanted).map_err(wrong)?;
            table(&header, binary(&header, &unpacked, None)?)
        }
    }
}

fn header(bytes: &[u8]) -> std::result::Result<Header<'_>, Wrong> {
    const LONGEST: usize = 1 << 16;
    let mut header = Header { fields: Vec::new(), points: 0, data: "", at: 0 };
    let mut is_counted = false;
    while header.data.is_empty() {
        let begin = header.at;
        let wrong = |text: &str| (begin, text.to_string());
        let end = bytes[begin..].iter().take(LONGEST).position(|byte| *byte == b'\n');
        let end = begin + end.ok_or_else(|| wrong("the header has no line DATA"))?;
        let line = str::from_utf8(&bytes[begin..end]).map_err(|_| wrong("no text"))?;
        header.at = end + 1;
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if let Some((key, values)) = words.split_first().filter(|(key, _)| !key.starts_with('#')) {
            is_counted |= *key == "POINTS";
            header.take(key, values).map_err(|text| (begin, text))?;
        }
    }
    match check(&header.fields) {
        Ok(()) if is_counted => Ok(header),
        Ok(()) => Err((header.at, "no line POINTS".into())),
        Err(text) => Err((header.at, text)),
    }
}

impl<'a> Header<'a> {
    /// A line of the header.
    fn take(&mut self, key: &str, values: &[&'a str]) -> std::result::Result<(), String> {
        if values.len() > MOST_COLUMNS {
            return Err(format!("a line of {} values", values.len()));
        }
        let no = |value: &str| format!("{key}: not expected: {value:?}");
        let number = |value: &str| value.parse::<usize>().map_err(|_| no(value));
        let first = values.first().copied().unwrap_or("");
        let each = values.iter().zip(&mut self.fields);
        match key {
            "FIELDS" => {
                let field = |&name| Field { name, kind: "F", bytes: 4, count: 1 };
                self.fields = values.iter().map(field).collect();
            }
            "SIZE" => {
                for (value, field) in each {
                    field.bytes = number(value)?;
                }
            }
            "TYPE" => each.for_each(|(value, field)| field.kind = value),
            "COUNT" => {
                for (value, field) in each {
                    field.count = number(value)?.min(MOST_NUMBERS);
                }
            }
            "POINTS" => self.points = number(first)?,
            "DATA" if FORMS.contains(&first) => self.data = first,
            "DATA" => return Err(no(first)),
            "VERSION" | "WIDTH" | "HEIGHT" | "VIEWPOINT" => {}
            _ => return Err(format!("expected a pcd file: a line that begins {key:?}")),
        }
        Ok(())
    }
}

fn check(fields: &[Field]) -> std::result::Result<(), String> {
    for axis in super::AXES {
        if !fields.iter().any(|field| field.name == axis && field.count == 1) {
            return Err("the points have no fields x, y and z".into());
        }
    }
    for field in fields {
        let known = match field.kind {
            "F" => [4, 8].contains(&field.bytes),
            "I" | "U" => [1, 2, 4, 8].contains(&field.bytes),
            _ => false,
        };
        if !known {
            return Err(format!("no field is of type {} {}", field.kind, field.bytes));
        }
        let same = |other: &&Field| other.name == field.name && field.name != "_";
        if fields.iter().filter(same).count() > 1 {
            return Err(format!("the field {} stands twice", field.name));
        }
    }
    Ok(())
}

/// Whether a field becomes a column.
fn is_kept(field: &Field) -> bool {
    field.count == 1 && field.name != "_" && !(field.kind == "U" && field.bytes == 8)
}

fn table(header: &Header, columns: Vec<Column>) -> Result<Table> {
    let mut table = Table::new(columns, header.data == "ascii");
    let left = |field: &&Field| !is_kept(field) && field.name != "_";
    let names = header.fields.iter().filter(left).map(|field| format!("the field {}", field.name));
    table.left_out = names.collect();
    Ok(table)
}

/// Points one after the other, of `record` bytes each, or field by field.
fn binary(header: &Header, bytes: &[u8], record: Option<usize>) -> Result<Vec<Column>> {
    let mut at = 0;
    let mut columns = Vec::new();
    for field in &header.fields {
        let own = field.bytes * field.count;
        let stride = record.unwrap_or(own);
        if is_kept(field) {
            let cell = |i: usize| &bytes[at + i * stride..][..field.bytes];
            columns.push(Column {
                name: field.name.into(),
                cells: cells(field, header.points, cell)?,
            });
        }
        at += if record.is_some() { own } else { own * header.points };
    }
    Ok(columns)
}

/// A column, of the bytes of each cell.
fn cells<'a>(field: &Field, points: usize, cell: impl Fn(usize) -> &'a [u8]) -> Result<Array> {
    macro_rules! of {
        ($stored:ty as $held:ty) => {{
            const BYTES: usize = size_of::<$stored>();
            let number = |i: usize| {
                let bytes: [u8; BYTES] = std::array::from_fn(|at| cell(i)[at]);
                <$held>::from(<$stored>::from_le_bytes(bytes))
            };
            let wanted = || format!("a field of {points} points");
            Array::vector(&memory::collected((0..points).map(number), wanted)?)
        }};
    }
    match (field.kind, field.bytes) {
        ("F", 4) => of!(f32 as f32),
        ("F", _) => of!(f64 as f64),
        ("U", 1) => of!(u8 as u8),
        ("U", 2) => of!(u16 as i32),
        ("U", _) => of!(u32 as i64),
        ("I", 1) => of!(i8 as i32),
        ("I", 2) => of!(i16 as i32),
        ("I", 4) => of!(i32 as i32),
        _ => of!(i64 as i64),
    }
}

/// Points a line: a column of numbers for each field, of those that are not kept an empty one.
fn ascii(header: &Header, bytes: &[u8]) -> std::result::Result<Vec<Vec<f64>>, String> {
    let text = str::from_utf8(bytes).map_err(|_| "the points are no text")?;
    let width: usize = header.fields.iter().map(|field| field.count).sum();
    let mut columns: Vec<Vec<f64>> = header.fields.iter().map(|_| Vec::new()).collect();
    let mut rows = 0;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        if words.len() != width {
            return Err(format!("point {rows}: expected {width} numbers: got {}", words.len()));
        }
        let mut at = 0;
        for (field, column) in header.fields.iter().zip(&mut columns) {
            if is_kept(field) {
                let no = |_| format!("point {rows}: expected a number: got {:?}", words[at]);
                column.push(words[at].parse().map_err(no)?);
            }
            at += field.count;
        }
        rows += 1;
    }
    match rows == header.points {
        true => Ok(columns),
        false => Err(format!("{} points are announced: got {rows}", header.points)),
    }
}

/// Columns at f32 where the field is, else at f64.
fn of_numbers(header: &Header, columns: &[Vec<f64>]) -> Result<Vec<Column>> {
    let kept = header.fields.iter().zip(columns).filter(|(field, _)| is_kept(field));
    kept.map(|(field, column)| {
        let cells = Array::vector(column)?;
        let t = if field.bytes == 4 { ElementType::F32 } else { ElementType::F64 };
        let cells = if field.kind == "F" { cells.convert(t)? } else { cells };
        Ok(Column { name: field.name.into(), cells })
    })
    .collect()
}

/// Two lengths and what LZF packed: runs of bytes as they are, and references to bytes before.
fn unpacked(bytes: &[u8], wanted: usize) -> std::result::Result<Vec<u8>, String> {
    let length = |at: usize| -> Option<usize> {
        let four = bytes.get(at..at + 4)?;
        Some(u32::from_le_bytes([four[0], four[1], four[2], four[3]]) as usize)
    };
    let early = || "the file ends too early".to_string();
    let (packed, claimed) = (length(0).ok_or_else(early)?, length(4).ok_or_else(early)?);
    let packed = bytes[8..].get(..packed).ok_or_else(early)?;
    if claimed != wanted || wanted > packed.len().saturating_mul(EXPANSION) {
        return Err(format!(
            "the points take {wanted} bytes: {} packed bytes are said to hold {claimed}",
            packed.len()
        ));
    }
    let mut out: Vec<u8> = memory::room(wanted, || "the points of a packed file".into())
        .map_err(|e| e.message().to_string())?;
    let mut rest = packed.iter().map(|byte| usize::from(*byte));
    while let Some(control) = rest.next() {
        let lack = || "the packed points are broken".to_string();
        if control < 32 {
            for _ in 0..=control {
                out.push(rest.next().ok_or_else(lack)? as u8);
            }
        } else {
            let mut count = control >> 5;
            if count == 7 {
                count += rest.next().ok_or_else(lack)?;
            }
            let back = ((control & 31) << 8) + rest.next().ok_or_else(lack)? + 1;
            let from = out.len().checked_sub(back).ok_or_else(lack)?;
            for i in 0..count + 2 {
                out.push(out[from + i]);
            }
        }
        if out.len() > wanted {
            return Err(lack());
        }
    }
    if out.len() == wanted { Ok(out) } else { Err("the packed points end too early".into()) }
}
