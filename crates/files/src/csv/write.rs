//! Writing tables: the shortest text that reads back as the same number, quotes only where a field
//! needs them.

use super::Column;
use rung_array::Array;
use rung_base::{Bool, Error, ErrorKind, Result, bf16, f16, with_element};
use std::io::{self, Write};
use std::path::Path;

/// The first line of a file.
pub enum Heading {
    None,
    Names(Vec<String>),
}

/// Writes a vector (one column) or a matrix.
pub fn write_matrix(array: &Array, heading: &Heading, separator: u8, path: &Path) -> Result<()> {
    let (rows, columns) = match array.shape()[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            let e = Error::wanted(ErrorKind::Shape, "expected a vector or matrix", array.shape());
            return Err(e.hint("npy files take arrays of any rank"));
        }
    };
    if columns == 0 && rows > 0 {
        // Lines without a field would be read as no lines.
        let e = Error::wanted(ErrorKind::Shape, "a csv file needs a column", array.shape());
        return Err(e.hint("npy files keep the shape of an empty matrix"));
    }
    check_heading(heading, columns)?;
    let array = array.to_contiguous()?;
    rung_base::file::replace(path, |out| {
        let mut out = Lines::new(out, separator, columns);
        out.heading(heading)?;
        with_element!(array.element_type(), T => {
            let cells = array.as_slice::<T>().unwrap_or(&[]);
            for row in 0..rows {
                for cell in &cells[row * columns..(row + 1) * columns] {
                    out.number(|text| cell.print(text))?;
                }
                out.end_line()?;
            }
        });
        Ok(())
    })
}

/// Writes columns of one length.
pub fn write_columns(
    columns: &[Column],
    heading: &Heading,
    separator: u8,
    path: &Path,
) -> Result<()> {
    check_heading(heading, columns.len())?;
    let length = |column: &Column| match column {
        Column::Numbers(array) => array.size(),
        Column::Words(words) => words.len(),
    };
    for column in columns {
        if let Column::Numbers(array) = column {
            array.home()?;
        }
    }
    let rows = columns.first().map_or(0, length);
    if let Some(at) = columns.iter().position(|column| length(column) != rows) {
        let text = format!("columns differ in length: {rows} and {}", length(&columns[at]));
        return Err(Error::new(ErrorKind::Shape, text));
    }
    rung_base::file::replace(path, |out| {
        let mut out = Lines::new(out, separator, columns.len());
        out.heading(heading)?;
        for row in 0..rows {
            for column in columns {
                match column {
                    Column::Words(words) => out.field(&words[row])?,
                    Column::Numbers(array) => with_element!(array.element_type(), T => {
                        let cell = array.view::<T>().at(row);
                        out.number(|text| cell.print(text))?;
                    }),
                }
            }
            out.end_line()?;
        }
        Ok(())
    })
}

fn check_heading(heading: &Heading, columns: usize) -> Result<()> {
    match heading {
        Heading::Names(names) if names.len() != columns => {
            let text = format!("expected {columns} column names");
            Err(Error::wanted(ErrorKind::Argument, text, names.len()))
        }
        _ => Ok(()),
    }
}

/// Lines of separated fields.
struct Lines<'a> {
    out: &'a mut dyn Write,
    separator: u8,
    /// One line that is being made.
    line: Vec<u8>,
    fields: usize,
    /// A lone empty field is quoted: its line would be empty and no record.
    lone: bool,
}

impl<'a> Lines<'a> {
    fn new(out: &'a mut dyn Write, separator: u8, columns: usize) -> Lines<'a> {
        Lines { out, separator, line: Vec::new(), fields: 0, lone: columns == 1 }
    }

    fn heading(&mut self, heading: &Heading) -> io::Result<()> {
        if let Heading::Names(names) = heading {
            names.iter().try_for_each(|name| self.field(name))?;
            self.end_line()?;
        }
        Ok(())
    }

    fn number(&mut self, print: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> io::Result<()> {
        self.separate();
        print(&mut self.line)
    }

    fn field(&mut self, text: &str) -> io::Result<()> {
        self.separate();
        let special = |byte: u8| byte == self.separator || matches!(byte, b'"' | b'\n' | b'\r');
        // Blanks around a bare field are not part of it.
        let bare = text.trim() == text && !text.bytes().any(special);
        if bare && !(self.lone && text.is_empty()) {
            return self.line.write_all(text.as_bytes());
        }
        write!(self.line, "\"{}\"", text.replace('"', "\"\""))
    }

    fn separate(&mut self) {
        if self.fields > 0 {
            self.line.push(self.separator);
        }
        self.fields += 1;
    }

    fn end_line(&mut self) -> io::Result<()> {
        self.line.push(b'\n');
        self.out.write_all(&self.line)?;
        self.line.clear();
        self.fields = 0;
        Ok(())
    }
}

/// A cell as text.
trait Print {
    fn print(&self, out: &mut Vec<u8>) -> io::Result<()>;
}

macro_rules! print {
    ($($t:ty: $x:ident => $value:expr, $format:literal;)*) => {
        $(impl Print for $t {
            fn print(&self, out: &mut Vec<u8>) -> io::Result<()> {
                let $x = *self;
                write!(out, $format, $value)
            }
        })*
    };
}
// `{:?}` of a float is the shortest text that reads back as it, with an exponent where it is long.
print! {
    bf16: x => x.to_f32(), "{:?}";
    f16: x => x.to_f32(), "{:?}";
    i64: x => x, "{}";
    i32: x => x, "{}";
    u8: x => x, "{}";
    Bool: x => u8::from(x.get()), "{}";
    f64: x => x, "{:?}";
    f32: x => x, "{:?}";
}
