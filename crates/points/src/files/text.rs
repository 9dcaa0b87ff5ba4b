//! Clouds as text (`.xyz .txt .csv .pts`): a point a line, its numbers separated by blanks, tabs,
//! commas or semicolons. `#` and `//` begin a comment; a first line of words names the columns; the first
//! line of a `.pts` file may be the count of the points. Three columns are coordinates, more are kept.

use super::{Column, MOST_COLUMNS, Table, numbered, whole};
use rung_array::{Array, Number};
use rung_base::{Error, Result, memory};
use std::io::{self, Write};
use std::path::Path;

/// What separates numbers.
fn separates(c: char) -> bool {
    c.is_whitespace() || c == ',' || c == ';'
}

pub fn read(path: &Path) -> Result<Table> {
    let bytes = whole(path)?;
    let text = str::from_utf8(&bytes).map_err(|e| {
        let at = e.valid_up_to();
        wrong(path, line_of(&bytes, at), "not UTF-8")
    })?;
    let mut reading = Reading { path, names: None, cells: Vec::new(), counted: None };
    for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
        let code = line.split('#').next().unwrap_or("").split("//").next().unwrap_or("");
        let fields: Vec<&str> = code.split(separates).filter(|field| !field.is_empty()).collect();
        if !fields.is_empty() {
            reading.line(number + 1, &fields)?;
        }
    }
    reading.finish()
}

/// The line, from 1, in which a byte stands.
fn line_of(bytes: &[u8], at: usize) -> usize {
    1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count()
}

/// `PATH:LINE: REASON`.
fn wrong(path: &Path, line: usize, reason: impl std::fmt::Display) -> Error {
    Error::in_data_file(Path::new(&format!("{}:{line}", path.display())), None, reason.to_string())
}

struct Reading<'a> {
    path: &'a Path,
    names: Option<Vec<String>>,
    /// One vector a column.
    cells: Vec<Vec<f64>>,
    /// The count that a `.pts` file begins with, and its line.
    counted: Option<(usize, usize)>,
}

impl Reading<'_> {
    fn line(&mut self, number: usize, fields: &[&str]) -> Result<()> {
        let first = self.cells.is_empty() && self.names.is_none();
        if first && fields[0].parse::<f64>().is_err() {
            self.names = Some(fields.iter().map(|name| name.to_ascii_lowercase()).collect());
            return Ok(());
        }
        if first && self.counted.is_none() && fields.len() == 1 && self.is_pts() {
            let count = fields[0].parse().map_err(|_| {
                wrong(
                    self.path,
                    number,
                    format!("expected the count of the points: got {:?}", fields[0]),
                )
            })?;
            self.counted = Some((count, number));
            return Ok(());
        }
        if self.cells.is_empty() {
            let wanted = self.names.as_ref().map_or(fields.len(), Vec::len).min(MOST_COLUMNS);
            self.cells = vec![Vec::new(); wanted];
        }
        if fields.len() != self.cells.len() {
            let text = format!("expected {} numbers: got {}", self.cells.len(), fields.len());
            return Err(wrong(self.path, number, text));
        }
        for (cells, field) in self.cells.iter_mut().zip(fields) {
            let value = field.parse::<f64>().map_err(|_| {
                wrong(self.path, number, format!("expected a number: got {field:?}"))
            })?;
            if cells.len() == cells.capacity() {
                let more = cells.len().max(1024);
                let lack = |_| memory::lack(memory::bytes_of::<f64>(more), "the points of a text");
                cells.try_reserve(more).map_err(lack)?;
            }
            cells.push(value);
        }
        Ok(())
    }

    fn is_pts(&self) -> bool {
        rung_ops::solver::ending(self.path, &[".pts", ".pts.gz"]).is_some()
    }

    fn finish(self) -> Result<Table> {
        let rows = self.cells.first().map_or(0, Vec::len);
        if let Some((count, line)) = self.counted.filter(|(count, _)| *count != rows) {
            return Err(wrong(
                self.path,
                line,
                format!("{count} points are announced: got {rows}"),
            ));
        }
        let names = self.names.unwrap_or_else(|| (0..self.cells.len()).map(numbered).collect());
        if self.cells.is_empty() {
            // No point: the coordinates are there all the same.
            let none = || Array::vector::<f64>(&[]);
            let columns = (0..3).map(|at| Ok(Column { name: numbered(at), cells: none()? }));
            return Ok(Table::new(columns.collect::<Result<_>>()?, true));
        }
        let columns = names
            .into_iter()
            .zip(&self.cells)
            .map(|(name, cells)| Ok(Column { name, cells: Array::vector(cells)? }));
        let table = Table::new(columns.collect::<Result<_>>()?, true);
        match table.dimension() {
            0 => Err(wrong(self.path, 1, "no column is named x")),
            _ => Ok(table),
        }
    }
}

/// Writes a line a point; the names come first where there are other columns than coordinates.
pub fn write(table: &Table, separator: &str, out: &mut dyn Write) -> io::Result<()> {
    let names: Vec<&str> = table.columns.iter().map(|column| &*column.name).collect();
    match separator {
        "," => writeln!(out, "{}", names.join(separator))?,
        _ if table.dimension() < names.len() => writeln!(out, "# {}", names.join(separator))?,
        _ => {}
    }
    write_rows(table, separator, out)
}

/// A line a point and nothing else.
pub fn write_rows(table: &Table, separator: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut cells: Vec<_> = table.columns.iter().map(|column| column.cells.numbers()).collect();
    for _ in 0..table.rows() {
        for (at, cell) in cells.iter_mut().enumerate() {
            let before = if at == 0 { "" } else { separator };
            let number = cell.next().unwrap_or(Number::I64(0));
            write!(out, "{before}{}", shown(number))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// A row a line, of a vector a number a line.
pub fn write_matrix(array: &Array, separator: &str, out: &mut dyn Write) -> io::Result<()> {
    let columns = array.shape().get(1).copied().unwrap_or(1).max(1);
    for (at, number) in array.numbers().enumerate() {
        let end = if (at + 1) % columns == 0 { "\n" } else { separator };
        write!(out, "{}{end}", shown(number))?;
    }
    Ok(())
}

/// The shortest text that is read back as the same number.
pub fn shown(number: Number) -> String {
    let text = match number {
        Number::F64(x) => x.to_string(),
        Number::F32(x) => x.to_string(),
        Number::I64(n) => return n.to_string(),
        Number::Bool(b) => return u8::from(b).to_string(),
    };
    match (number, text.len() > 24) {
        (Number::F64(x), true) => format!("{x:e}"),
        (Number::F32(x), true) => format!("{x:e}"),
        _ => text,
    }
}
