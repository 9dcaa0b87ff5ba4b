//! Package `csv`: tables of numbers and words from text files.
//!
//! A file is read once, by the field rules of RFC 4180. With `:as :matrix` every field must be a
//! number; otherwise the result is a hash table from column name (or number) to a packed
//! double-float vector, or to a vector of strings where a field is no number. An empty field of
//! a column of numbers is missing.

use super::linalg::path_argument;
use rung_array::Array;
use rung_base::{Error, ErrorKind, Result, Shape};
use rung_lisp::hash_table::{HashTable, Test};
use rung_lisp::lisp::Lisp;
use rung_lisp::object::Object;
use rung_lisp::{Escape, Outcome, Value, native, numbers, symbol};
use std::path::Path;
use std::rc::Rc;

const LAMBDA_LIST: &str = "path &key header separator columns missing as";
const DOCUMENTATION: &str = "Reads a file of separated values. HEADER is :auto (the default: a first line without any \
     number names the columns), t or nil; SEPARATOR a character; COLUMNS a list of names or \
     numbers; MISSING the number for an empty field, NaN if none is given.\n\
     Result: with :as :matrix a double-float matrix, else a hash table of columns.\n\
     Example: (csv:read \"digits.csv\" :as :matrix)";

pub fn bind(lisp: &mut Lisp) {
    lisp.define_native("csv", "read", LAMBDA_LIST, DOCUMENTATION, Rc::new(read));
}

/// What the keywords of `read` say.
struct Request {
    /// `None`: decide by looking at the first line.
    header: Option<bool>,
    separator: u8,
    columns: Option<Vec<Column>>,
    missing: f64,
    matrix: bool,
}

enum Column {
    Named(String),
    Numbered(usize),
}

/// The fields of a file, row by row, without its header.
struct Table {
    names: Option<Vec<String>>,
    rows: Vec<Vec<String>>,
    /// The line in the file of each row, from 1.
    lines: Vec<u64>,
}

fn read(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let path = path_argument("csv:read", &arguments[0])?;
    let request = request(lisp, &arguments[1..])?;
    let table = table(Path::new(&path), &request).map_err(|e| e.in_package("csv"))?;
    let chosen = chosen(&table, &request, &path).map_err(|e| e.in_package("csv"))?;
    if request.matrix {
        let matrix = matrix(&table, &chosen, &request, &path).map_err(|e| e.in_package("csv"))?;
        return Ok(Value::packed(matrix));
    }
    let columns = HashTable::new(Test::Equal);
    for &column in &chosen {
        let key = match &table.names {
            Some(names) => Value::string(&names[column]),
            None => Value::size(column),
        };
        columns.set(key, column_value(&table, column, &request)?);
    }
    Ok(Value::object(Object::HashTable(columns)))
}

fn request(lisp: &mut Lisp, arguments: &[Value]) -> Outcome<Request> {
    let names = ["HEADER", "SEPARATOR", "COLUMNS", "MISSING", "AS", "AUTO", "MATRIX"];
    let [header_key, separator_key, columns_key, missing_key, as_key, auto, matrix] =
        names.map(|name| lisp.keyword(name).as_symbol().unwrap_or(symbol::NIL));
    let keys = [header_key, separator_key, columns_key, missing_key, as_key];
    let [header, separator, columns, missing, shape] = native::keywords(lisp, arguments, keys)?;
    let separator = match separator {
        None => b',',
        Some(Value::Char(c)) if c.is_ascii() => c as u8,
        Some(other) => {
            return Err(Escape::unexpected("csv:read", "an ASCII character", Value::Nil, &other));
        }
    };
    let missing = match missing {
        None => f64::NAN,
        Some(n) => numbers::to_double(&n)
            .ok_or_else(|| Escape::wrong_type("csv:read", symbol::REAL, &n))?,
    };
    Ok(Request {
        header: match header {
            None => None,
            Some(h) if h.is_symbol(auto) => None,
            Some(h) => Some(h.truth()),
        },
        separator,
        columns: columns.filter(Value::truth).map(|list| columns_of(&list)).transpose()?,
        missing,
        matrix: match shape {
            None => false,
            Some(s) if s.is_nil() => false,
            Some(s) if s.is_symbol(matrix) => true,
            Some(other) => {
                return Err(Escape::unexpected("csv:read", ":matrix", Value::Nil, &other));
            }
        },
    })
}

fn columns_of(list: &Value) -> Outcome<Vec<Column>> {
    let column = |value: Value| match (&value, value.as_index()) {
        (_, Some(n)) => Ok(Column::Numbered(n)),
        (Value::String(name), _) => Ok(Column::Named(name.to_text())),
        _ => Err(Escape::unexpected("csv:read", "a column's name or number", Value::Nil, &value)),
    };
    list.elements().map(column).collect()
}

fn table(path: &Path, request: &Request) -> Result<Table> {
    let unreadable = |e: csv::Error| {
        let text = format!("cannot read {}: {e}", path.display());
        Error::new(if e.is_io_error() { ErrorKind::File } else { ErrorKind::Format }, text)
    };
    let mut reader = csv::ReaderBuilder::new()
        .has_headers(false)
        .delimiter(request.separator)
        .from_path(path)
        .map_err(unreadable)?;
    let (mut rows, mut lines) = (Vec::new(), Vec::new());
    for record in reader.records() {
        let record = record.map_err(|e| match e.kind() {
            csv::ErrorKind::UnequalLengths { pos, expected_len, len } => {
                let line = pos.as_ref().map_or(0, csv::Position::line);
                let text =
                    format!("{}:{line}: expected {expected_len} fields: got {len}", path.display());
                Error::new(ErrorKind::Format, text)
            }
            _ => unreadable(e),
        })?;
        lines.push(record.position().map_or(0, csv::Position::line));
        rows.push(record.iter().map(|field| field.trim().to_string()).collect::<Vec<_>>());
    }
    let no_number = |row: &Vec<String>| row.iter().all(|f| f.parse::<f64>().is_err());
    // A lone line names nothing.
    let has_header =
        request.header.unwrap_or_else(|| rows.len() > 1 && rows.first().is_some_and(no_number));
    let names = (has_header && !rows.is_empty()).then(|| {
        lines.remove(0);
        rows.remove(0)
    });
    Ok(Table { names, rows, lines })
}

fn chosen(table: &Table, request: &Request, path: &str) -> Result<Vec<usize>> {
    let width = table.names.as_ref().or(table.rows.first()).map_or(0, Vec::len);
    let Some(columns) = &request.columns else { return Ok((0..width).collect()) };
    let find = |column: &Column| {
        let found = match column {
            Column::Numbered(n) => Some(*n).filter(|n| *n < width),
            Column::Named(name) => {
                table.names.as_ref().and_then(|names| names.iter().position(|n| n == name))
            }
        };
        found.ok_or_else(|| {
            let asked = match column {
                Column::Numbered(n) => n.to_string(),
                Column::Named(name) => format!("{name:?}"),
            };
            let e = Error::new(ErrorKind::Argument, format!("{path} has no column {asked}"));
            match &table.names {
                Some(names) => e.hint(format!("its columns are {}", names.join(", "))),
                None => e.hint(format!("it has {width} columns, counted from 0, and no names")),
            }
        })
    };
    columns.iter().map(find).collect()
}

/// A field as a number; an empty one is missing.
fn number(field: &str, missing: f64) -> Option<f64> {
    if field.is_empty() { Some(missing) } else { field.parse().ok() }
}

fn matrix(table: &Table, chosen: &[usize], request: &Request, path: &str) -> Result<Array> {
    let shape = Shape::matrix(table.rows.len(), chosen.len())?;
    Array::try_build::<f64>(shape, |out| {
        let mut cells = out.iter_mut();
        for (row, line) in table.rows.iter().zip(&table.lines) {
            for &column in chosen {
                let value = number(&row[column], request.missing).ok_or_else(|| {
                    let text =
                        format!("{path}:{line}: column {column} is no number: {:?}", row[column]);
                    Error::new(ErrorKind::Format, text).hint("leave the column out with :columns")
                })?;
                if let Some(cell) = cells.next() {
                    *cell = value;
                }
            }
        }
        Ok(())
    })
}

fn column_value(table: &Table, column: usize, request: &Request) -> Result<Value> {
    let fields = || table.rows.iter().map(|row| row[column].as_str());
    let numbers: Option<Vec<f64>> = fields().map(|f| number(f, request.missing)).collect();
    match numbers {
        Some(numbers) => Ok(Value::packed(Array::vector(&numbers)?)),
        None => Ok(Value::vector(fields().map(Value::string).collect())),
    }
}
