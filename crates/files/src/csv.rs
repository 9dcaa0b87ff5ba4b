//! Tables of text, one record a line (`csv`): read as a matrix or as columns, and written.
//!
//! Fields follow RFC 4180: separated, quoted where they hold a separator, a quote or a line break.
//! Numbers are read and written so that the nearest float is the same one again. A field is not
//! copied on its way to a number; a column is read as text only where some field is no number.
//! `scan` finds the fields, `cell` reads one, `write` is the other direction.

mod advice;
mod cell;
mod scan;
mod write;

use cell::{Building, Numbers};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory, with_element};
use scan::{Record, Records, Text};
use std::path::Path;
pub use write::{Heading, write_columns, write_matrix};

/// What a double wants, in words.
const NUMBER: &str = "number";

/// How a file is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// Whether the first record names the columns; `None`: it does when it has no number and is
    /// not the only one.
    pub header: Option<bool>,
    pub separator: u8,
    /// Which columns, in which order; `None`: all.
    pub columns: Option<Vec<Pick>>,
    pub types: Types,
    /// The number for an empty field.
    pub missing: f64,
}

impl Default for Options {
    fn default() -> Options {
        let types = Types::All(ColumnType::Any);
        Options { header: None, separator: b',', columns: None, types, missing: f64::NAN }
    }
}

/// A column that is asked for.
#[derive(Clone, Debug, PartialEq)]
pub enum Pick {
    Named(String),
    /// From 0.
    Numbered(usize),
}

/// What the chosen columns hold.
#[derive(Clone, Debug, PartialEq)]
pub enum Types {
    All(ColumnType),
    /// One for each column that is read.
    Each(Vec<ColumnType>),
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// Doubles when every field is a number or empty, else texts.
    Any,
    Numbers(ElementType),
    Words,
}

/// A column's cells.
#[derive(Clone, Debug)]
pub enum Column {
    Numbers(Array),
    Words(Vec<String>),
}

/// The name or number of a column, and its cells.
pub type Named = (Pick, Column);

/// Reads columns.
pub fn read_columns(path: &Path, options: &Options) -> Result<Vec<Named>> {
    let text = Text::read(path)?;
    let table = Table::new(&text, options)?;
    table.names_differ()?;
    let types = table.types(&options.types)?;
    let rows = text.lines();
    let builders = types.iter().map(|kind| Building::new(*kind, options.missing, rows));
    let mut builders = builders.collect::<Result<Vec<_>>>()?;
    let mut words = vec![false; types.len()];
    table.each(
        |slot, field| {
            let taken = builders[slot].push(field);
            if !taken && types[slot] == ColumnType::Any {
                builders[slot] = Building::skipped();
                words[slot] = true;
            }
            taken || words[slot]
        },
        |slot| wanted(types[slot]),
        || {},
    )?;
    // The text is gone through again for columns in which a field turned out to be no number:
    // those before it were kept as numbers only.
    if words.contains(&true) {
        for (builder, _) in builders.iter_mut().zip(&words).filter(|(_, words)| **words) {
            *builder = Building::words();
        }
        let push = |slot: usize, field: &[u8]| !words[slot] || builders[slot].push(field);
        table.each(push, |_| NUMBER, || {})?;
    }
    let columns = builders.into_iter().map(Building::finish).collect::<Result<Vec<_>>>()?;
    Ok(table.names().into_iter().zip(columns).collect())
}

fn wanted(kind: ColumnType) -> &'static str {
    match kind {
        ColumnType::Any | ColumnType::Numbers(ElementType::F64) => NUMBER,
        ColumnType::Numbers(element_type) => element_type.lisp_name(),
        ColumnType::Words => "text",
    }
}

/// Reads a matrix, whose columns all have one element type: double-float unless one is given.
pub fn read_matrix(path: &Path, options: &Options) -> Result<Array> {
    let text = Text::read(path)?;
    let table = Table::new(&text, options)?;
    let element_type = match &options.types {
        Types::All(ColumnType::Any) => ElementType::F64,
        Types::All(ColumnType::Numbers(element_type)) => *element_type,
        other => {
            let text = "a matrix has one element type for all its columns";
            let kinds = match other {
                Types::Each(list) => format!("{} types", list.len()),
                Types::All(_) => "string".to_string(),
            };
            return Err(
                Error::wanted(ErrorKind::Argument, text, kinds).hint("read the file as columns")
            );
        }
    };
    with_element!(element_type, T => {
        let numbers = Numbers::<T>::new(options.missing)?;
        let columns = table.chosen.len();
        let row = std::cell::RefCell::new(vec![T::default(); columns]);
        let about = text.lines().saturating_mul(columns);
        let text_of = || format!("a matrix of about {about} numbers");
        let (mut cells, mut rows) = (memory::room::<T>(about, text_of)?, 0);
        table.each(
            |slot, field| numbers.value(field).map(|x| row.borrow_mut()[slot] = x).is_some(),
            |_| wanted(ColumnType::Numbers(element_type)),
            || {
                cells.extend_from_slice(&row.borrow());
                rows += 1;
            },
        )?;
        Array::from_slice(&cells, Shape::matrix(rows, columns)?)
    })
}

/// A text, what its columns are called, and which of them are read.
struct Table<'a> {
    text: &'a Text,
    separator: u8,
    /// Fields in every record.
    width: usize,
    names: Option<Vec<String>>,
    /// The columns that are read; a *slot* is a position in here.
    chosen: Vec<usize>,
}

impl<'a> Table<'a> {
    fn new(text: &'a Text, options: &Options) -> Result<Table<'a>> {
        let mut records = Records::new(text, options.separator);
        let first = records.fields()?;
        let names = match (&first, options.header) {
            (None, _) | (_, Some(false)) => None,
            (Some(first), Some(true)) => Some(first.clone()),
            (Some(first), None) => {
                let no_number = first.iter().all(|field| field.parse::<f64>().is_err());
                no_number.then(|| first.clone())
            }
        };
        let width = first.map_or(0, |first| first.len());
        let mut table =
            Table { text, separator: options.separator, width, names, chosen: Vec::new() };
        table.chosen = match &options.columns {
            None => (0..width).collect(),
            Some(picks) => picks.iter().map(|pick| table.find(pick)).collect::<Result<_>>()?,
        };
        Ok(table)
    }

    fn find(&self, pick: &Pick) -> Result<usize> {
        let found = match pick {
            Pick::Numbered(n) => Some(*n).filter(|n| *n < self.width),
            Pick::Named(name) => {
                self.names.as_ref().and_then(|names| names.iter().position(|n| n == name))
            }
        };
        found.ok_or_else(|| {
            let asked = match pick {
                Pick::Numbered(n) => n.to_string(),
                Pick::Named(name) => format!("{name:?}"),
            };
            let text = format!("{} has no column {asked}", self.text.path.display());
            let width = self.width;
            Error::new(ErrorKind::Argument, text).hint(match &self.names {
                Some(names) => format!("its columns are {}", names.join(", ")),
                None => format!("it has {width} columns, counted from 0, and no names"),
            })
        })
    }

    /// Columns of one name cannot be told apart.
    fn names_differ(&self) -> Result<()> {
        let Some(names) = &self.names else { return Ok(()) };
        let mut chosen: Vec<(&str, usize)> =
            self.chosen.iter().map(|&column| (names[column].as_str(), column)).collect();
        chosen.sort_unstable();
        let twice = chosen.windows(2).find(|pair| pair[0].0 == pair[1].0 && pair[0].1 != pair[1].1);
        match twice {
            None => Ok(()),
            Some(pair) => {
                let text = format!("two columns have the name {:?}", pair[0].0);
                Err(self.text.wrong_at(1, 0, text).hint("choose one with :columns and its number"))
            }
        }
    }

    fn types(&self, types: &Types) -> Result<Vec<ColumnType>> {
        let count = self.chosen.len();
        match types {
            Types::All(kind) => Ok(vec![*kind; count]),
            Types::Each(kinds) if kinds.len() == count => Ok(kinds.clone()),
            Types::Each(kinds) => {
                let text = format!("expected a type for each of {count} columns");
                Err(Error::wanted(ErrorKind::Argument, text, kinds.len()))
            }
        }
    }

    /// The name or number of each slot.
    fn names(&self) -> Vec<Pick> {
        let name = |&column: &usize| match &self.names {
            Some(names) => Pick::Named(names[column].clone()),
            None => Pick::Numbered(column),
        };
        self.chosen.iter().map(name).collect()
    }

    /// Hands each field of each record but the header to `take` with the slot it belongs to, and
    /// calls `end` after each record. A field that is not taken is an error that says `wanted` of
    /// its slot.
    fn each(
        &self,
        mut take: impl FnMut(usize, &[u8]) -> bool,
        wanted: impl Fn(usize) -> &'static str,
        mut end: impl FnMut(),
    ) -> Result<()> {
        let mut slots = vec![Vec::new(); self.width];
        for (slot, &column) in self.chosen.iter().enumerate() {
            slots[column].push(slot);
        }
        let all = self.chosen.iter().copied().eq(0..self.width);
        let mut records = Records::new(self.text, self.separator);
        if self.names.is_some() {
            records.fields()?;
        }
        loop {
            let record = records.next(|column, field| match column < self.width {
                true if all => take(column, field),
                true => slots[column].iter().all(|&slot| take(slot, field)),
                false => true,
            })?;
            let Some(record) = record else { return Ok(()) };
            if record.width != self.width {
                let text = format!("expected {} fields: got {}", self.width, record.width);
                let error = self.text.wrong_at(record.line, record.begin, text);
                return Err(match advice::other_separator(self, &record) {
                    Some(advice) => error.hint(advice),
                    None => error,
                });
            }
            if let Some(column) = record.refused {
                let slot = slots[column].first().copied().unwrap_or(0);
                return Err(self.no_value(&record, column, wanted(slot)));
            }
            end();
        }
    }

    fn no_value(&self, record: &Record, column: usize, wanted: &str) -> Error {
        let column_name = match &self.names {
            Some(names) => format!("{column} ({})", names[column]),
            None => column.to_string(),
        };
        let fields = Records::again(self.text, self.separator, record).fields();
        let field = fields.ok().flatten().and_then(|fields| fields.into_iter().nth(column));
        let text = match field.as_deref().unwrap_or("") {
            "" => format!("column {column_name} is empty, and no {wanted} is :missing"),
            field => format!("column {column_name} is no {wanted}: {field:?}"),
        };
        let error = self.text.wrong_at(record.line, record.begin, text);
        match advice::no_value(self, record, field.as_deref().unwrap_or("")) {
            Some(advice) => error.hint(advice),
            None if wanted == NUMBER => error.hint("leave the column out with :columns"),
            None => error,
        }
    }
}
