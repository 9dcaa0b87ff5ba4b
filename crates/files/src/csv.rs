//! Tables of text, one record a line (`csv`): read as a matrix or as columns, and written.
//!
//! Fields follow RFC 4180: separated, quoted where they hold a separator, a quote or a line break.
//! Numbers are read and written so that the nearest float is the same one again. A field is not
//! copied on its way to a number; a column is read as text only where some field is no number.
//! `scan` finds the fields, `cell` reads one, `write` is the other direction.

mod cell;
mod scan;
mod write;

use cell::{Builder, Numbers, Words};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, with_element};
use scan::{Records, Text};
use std::path::Path;
pub use write::{Heading, write_columns, write_matrix};

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
    let mut builders: Vec<Box<dyn Builder>> =
        types.iter().map(|kind| cell::builder(*kind, options.missing)).collect::<Result<_>>()?;
    let mut undecided: Vec<bool> = types.iter().map(|kind| *kind == ColumnType::Any).collect();
    let mut words = vec![false; types.len()];
    table.each(|record, line| {
        for (i, &column) in table.chosen.iter().enumerate() {
            if words[i] || builders[i].push(&record.field(column)) {
                continue;
            }
            if !undecided[i] {
                return Err(table.no_value(record, line, column, builders[i].wanted()));
            }
            words[i] = true;
        }
        Ok(())
    })?;
    undecided.clear();
    read_words(&table, &words, &mut builders)?;
    let columns = builders.into_iter().map(|builder| builder.finish());
    let named = table.chosen.iter().zip(columns).map(|(&column, cells)| {
        let name = table.names.as_ref().map(|names| Pick::Named(names[column].clone()));
        Ok((name.unwrap_or(Pick::Numbered(column)), cells?))
    });
    named.collect()
}

/// Fills the columns in which a field turned out to be no number: the text is gone through again,
/// since the fields before it were kept as numbers only.
fn read_words(table: &Table, words: &[bool], builders: &mut [Box<dyn Builder>]) -> Result<()> {
    if !words.contains(&true) {
        return Ok(());
    }
    for (builder, _) in builders.iter_mut().zip(words).filter(|(_, words)| **words) {
        *builder = Box::new(Words::default());
    }
    table.each(|record, _| {
        for (i, &column) in table.chosen.iter().enumerate().filter(|(i, _)| words[*i]) {
            builders[i].push(&record.field(column));
        }
        Ok(())
    })
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
        let mut numbers = Numbers::<T>::new(options.missing)?;
        let mut rows = 0;
        table.each(|record, line| {
            rows += 1;
            for &column in &table.chosen {
                if !numbers.push(&record.field(column)) {
                    return Err(table.no_value(record, line, column, numbers.wanted()));
                }
            }
            Ok(())
        })?;
        Array::from_slice(&numbers.cells, Shape::matrix(rows, table.chosen.len())?)
    })
}

/// A text, what its columns are called, and which of them are read.
struct Table<'a> {
    text: &'a Text,
    separator: u8,
    /// Fields in every record.
    width: usize,
    names: Option<Vec<String>>,
    chosen: Vec<usize>,
}

impl<'a> Table<'a> {
    fn new(text: &'a Text, options: &Options) -> Result<Table<'a>> {
        let mut records = Records::new(text, options.separator);
        let first = records.next()?.map(|_| records.fields());
        let names = match (&first, options.header) {
            (None, _) | (_, Some(false)) => None,
            (Some(first), Some(true)) => Some(first.clone()),
            (Some(first), None) => {
                let no_number = first.iter().all(|field| field.parse::<f64>().is_err());
                // A lone record names nothing.
                (no_number && records.next()?.is_some()).then(|| first.clone())
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

    /// Calls `visit` with each record but the header, and its line.
    fn each(&self, mut visit: impl FnMut(&Records, u64) -> Result<()>) -> Result<()> {
        let mut records = Records::new(self.text, self.separator);
        if self.names.is_some() {
            records.next()?;
        }
        while let Some(line) = records.next()? {
            if records.width() != self.width {
                let text = format!("expected {} fields: got {}", self.width, records.width());
                return Err(self.text.wrong_at(line, records.begin(), text));
            }
            visit(&records, line)?;
        }
        Ok(())
    }

    fn no_value(&self, record: &Records, line: u64, column: usize, wanted: &str) -> Error {
        let column_name = match &self.names {
            Some(names) => format!("{column} ({})", names[column]),
            None => column.to_string(),
        };
        let field = record.field(column);
        let text = match field.as_ref() {
            "" => format!("column {column_name} is empty, and no {wanted} is :missing"),
            field => format!("column {column_name} is no {wanted}: {field:?}"),
        };
        let error = self.text.wrong_at(line, record.begin(), text);
        match wanted {
            cell::NUMBER => error.hint("leave the column out with :columns"),
            _ => error,
        }
    }
}
