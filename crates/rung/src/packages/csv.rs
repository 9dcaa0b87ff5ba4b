//! Package `csv`: tables of numbers and words from text files, and into them. This file turns
//! keywords into options and columns into values; fields are read and written by `rung_files::csv`.

use super::arguments::{element_type, element_type_named, keywords, table, text};
use super::linalg::{array_argument, output_path, path_argument};
use rung_base::{Error, ErrorKind};
use rung_files::csv::{self, Column, ColumnType, Heading, Options, Pick, Types};
use rung_lisp::hash_table::{HashTable, Test};
use rung_lisp::library::sequence_parts::list_elements;
use rung_lisp::lisp::Lisp;
use rung_lisp::native::{Native, native};
use rung_lisp::object::Object;
use rung_lisp::{Escape, Outcome, Value, numbers, symbol};
use std::path::Path;

pub const FUNCTIONS: &[Native] = &[
    native(
        "csv:read",
        "path &key header separator columns types missing as",
        "Reads a file of separated values. HEADER is :auto (the default: a first line without any \
         number names the columns), t or nil; SEPARATOR a character; COLUMNS a list of names or \
         numbers; TYPES an element type or string for all columns, or a list with one for each \
         (nil: numbers if all are); MISSING the number for an empty field, NaN if none is given.\n\
         Result: with :as :matrix a matrix, double-float unless TYPES says otherwise; else an \
         equal hash table from column name (or number) to a packed vector of its numbers, or to \
         a vector of strings where a field is no number.\n\
         Example: (csv:read \"digits.csv\" :as :matrix)",
        read,
    ),
    native(
        "csv:write",
        "data path &key header separator columns",
        "Writes a matrix, a vector (as one column) or a hash table of columns of one length, whole \
         or not at all. Numbers are the shortest text that reads back as the same number; words \
         are quoted where they must be. COLUMNS names a matrix's columns, or chooses and orders a \
         table's; HEADER nil leaves the line of names out; SEPARATOR is a character.\n\
         Result: the path.\n\
         Example: (csv:write #d((1 2) (3 4)) \"matrix.csv\" :columns '(\"x\" \"y\"))",
        write,
    ),
];

const READ: &str = "csv:read";
const WRITE: &str = "csv:write";

fn named(error: Error) -> Error {
    error.in_package("csv")
}

fn read(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let path = path_argument(READ, &arguments[0])?;
    let (options, matrix) = options(lisp, &arguments[1..])?;
    if matrix {
        let matrix = csv::read_matrix(Path::new(&path), &options).map_err(named)?;
        return Ok(Value::packed(matrix));
    }
    let columns = csv::read_columns(Path::new(&path), &options).map_err(named)?;
    let table = HashTable::new(Test::Equal);
    for (name, column) in columns {
        let key = match name {
            Pick::Named(name) => Value::string(&name),
            Pick::Numbered(n) => Value::size(n),
        };
        let cells = match column {
            Column::Numbers(array) => Value::packed(array),
            Column::Words(words) => {
                Value::vector(words.iter().map(|word| Value::string(word)).collect())
            }
        };
        table.set(key, cells);
    }
    Ok(Value::object(Object::HashTable(table)))
}

fn options(lisp: &mut Lisp, arguments: &[Value]) -> Outcome<(Options, bool)> {
    let auto = lisp.keyword("AUTO");
    let header = given(lisp, arguments, "HEADER").filter(|header| !header.eql(&auto));
    let names = ["HEADER", "SEPARATOR", "COLUMNS", "TYPES", "MISSING", "AS"];
    let [_, separator, columns, types, missing, shape] = keywords(lisp, arguments, names)?;
    let matrix = match shape {
        None => false,
        Some(shape) if shape.eql(&lisp.keyword("MATRIX")) => true,
        Some(other) => return Err(Escape::unexpected(READ, ":matrix", Value::Nil, &other)),
    };
    let missing = match missing {
        None => f64::NAN,
        Some(n) => numbers::to_double(&n).ok_or_else(|| wrong_number(&n))?,
    };
    let options = Options {
        header: header.map(|header| header.truth()),
        separator: separator_of(READ, separator)?,
        columns: columns.map(|list| picks(READ, &list)).transpose()?,
        types: types_of(lisp, types)?,
        missing,
    };
    Ok((options, matrix))
}

/// The value of a keyword that differs when it is nil and when it is absent.
fn given(lisp: &mut Lisp, arguments: &[Value], name: &str) -> Option<Value> {
    let key = lisp.keyword(name);
    let mut pairs = arguments.chunks_exact(2);
    pairs.find(|pair| pair[0].eql(&key)).map(|pair| pair[1].clone())
}

fn wrong_number(value: &Value) -> Escape {
    Escape::wrong_type(READ, symbol::REAL, value)
}

fn separator_of(operator: &str, separator: Option<Value>) -> Outcome<u8> {
    match separator {
        None => Ok(b','),
        Some(Value::Char(c)) if c.is_ascii() && !matches!(c, '"' | '\n' | '\r') => Ok(c as u8),
        Some(other) => {
            let wanted = "an ASCII character but a quote or line break";
            let error = Escape::unexpected(operator, wanted, Value::Nil, &other);
            let text = other.as_text().map(|text| text.to_text());
            Err(match text.filter(|text| text.chars().count() == 1) {
                Some(text) => error.hint(format!("a character is written #\\{text}")),
                None => error,
            })
        }
    }
}

fn picks(operator: &str, list: &Value) -> Outcome<Vec<Pick>> {
    list_elements(operator, list)?.iter().map(|value| pick(operator, value)).collect()
}

fn names_of(list: &Value) -> Outcome<Vec<String>> {
    list_elements(WRITE, list)?.iter().map(|name| text(WRITE, name)).collect()
}

fn pick(operator: &str, value: &Value) -> Outcome<Pick> {
    match (value, value.as_index()) {
        (_, Some(n)) => Ok(Pick::Numbered(n)),
        (Value::String(name), _) => Ok(Pick::Named(name.to_text())),
        _ => Err(Escape::unexpected(operator, "a column's name or number", Value::Nil, value)),
    }
}

fn types_of(lisp: &Lisp, types: Option<Value>) -> Outcome<Types> {
    let Some(types) = types else { return Ok(Types::All(ColumnType::Any)) };
    // (signed-byte 64) is a type and not a list of two.
    if element_type_named(lisp, &types).is_some() || !types.is_list() {
        return Ok(Types::All(type_of(lisp, &types)?));
    }
    let kinds = list_elements(READ, &types)?;
    Ok(Types::Each(kinds.iter().map(|kind| type_of(lisp, kind)).collect::<Outcome<_>>()?))
}

fn type_of(lisp: &Lisp, kind: &Value) -> Outcome<ColumnType> {
    match kind {
        Value::Nil => Ok(ColumnType::Any),
        Value::Symbol(symbol) if *lisp.name(*symbol) == *"STRING" => Ok(ColumnType::Words),
        other => Ok(ColumnType::Numbers(element_type(lisp, "csv", other)?)),
    }
}

fn write(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let path = output_path(lisp, WRITE, &arguments[1])?;
    let path = Path::new(&path);
    let header = given(lisp, &arguments[2..], "HEADER").is_none_or(|header| header.truth());
    let names = ["HEADER", "SEPARATOR", "COLUMNS"];
    let [_, separator, columns] = keywords(lisp, &arguments[2..], names)?;
    let separator = separator_of(WRITE, separator)?;
    let heading = |names: &Option<Vec<String>>| match names {
        Some(names) if header => Heading::Names(names.clone()),
        _ => Heading::None,
    };
    let written = if arguments[0].as_hash_table().is_some() {
        let picks = columns.map(|list| picks(WRITE, &list)).transpose()?;
        let (names, columns) = columns_of(lisp, &arguments[0], picks)?;
        csv::write_columns(&columns, &heading(&names), separator, path)
    } else {
        let names = columns.map(|list| names_of(&list)).transpose()?;
        let heading = heading(&names);
        match arguments[0].as_array().filter(|general| general.rank() == 1) {
            Some(_) => {
                let column = column(lisp, &arguments[0])?;
                csv::write_columns(&[column], &heading, separator, path)
            }
            None => {
                let array = array_argument(lisp, WRITE, &arguments[0])?;
                csv::write_matrix(&array, &heading, separator, path)
            }
        }
    };
    written.map_err(named)?;
    Ok(arguments[1].clone())
}

/// The columns of a table, and their names when each has one. Keys are as `csv:read` makes them.
fn columns_of(
    lisp: &Lisp,
    data: &Value,
    picks: Option<Vec<Pick>>,
) -> Outcome<(Option<Vec<String>>, Vec<Column>)> {
    let table = table(WRITE, data)?;
    let entries = match picks {
        None => table.entries(),
        Some(picks) => {
            let found = picks.into_iter().map(|pick| {
                let (key, shown) = match &pick {
                    Pick::Named(name) => (Value::string(name), format!("{name:?}")),
                    Pick::Numbered(n) => (Value::size(*n), n.to_string()),
                };
                let column = table.get(&key).ok_or_else(|| {
                    let text = format!("the table has no column {shown}");
                    named(Error::new(ErrorKind::Argument, text))
                })?;
                Ok((key, column))
            });
            found.collect::<Outcome<Vec<_>>>()?
        }
    };
    let (mut names, mut columns) = (Some(Vec::new()), Vec::new());
    for (key, cells) in &entries {
        match (pick(WRITE, key)?, &mut names) {
            (Pick::Named(name), Some(names)) => names.push(name),
            _ => names = None,
        }
        columns.push(column(lisp, cells)?);
    }
    Ok((names, columns))
}

/// A packed array, a vector or a list as a column; numbers in a general one keep their text.
fn column(lisp: &Lisp, cells: &Value) -> Outcome<Column> {
    let words: Vec<String> = match cells.as_array() {
        Some(general) => {
            let cells = general.active();
            cells.iter().map(|cell| word(lisp, cell)).collect::<Outcome<_>>()?
        }
        None => return Ok(Column::Numbers(array_argument(lisp, WRITE, cells)?)),
    };
    Ok(Column::Words(words))
}

fn word(lisp: &Lisp, cell: &Value) -> Outcome<String> {
    match cell {
        Value::String(text) => Ok(text.to_text()),
        Value::Nil => Ok(String::new()),
        Value::Double(x) => Ok(format!("{x:?}")),
        Value::Single(x) => Ok(format!("{x:?}")),
        number if number.as_fixnum().is_some() || number.as_bignum().is_some() => {
            Ok(lisp.brief(number))
        }
        other => match numbers::to_double(other) {
            Some(x) => Ok(format!("{x:?}")),
            None => Err(Escape::unexpected(WRITE, "a string or a number", Value::Nil, other)),
        },
    }
}
