//! The parameters of an operation: name, kind, place, and what a front end says about each: a line of
//! text, the unit, the value that stands for one left out, and the numbers it may be.
//!
//! A record writes them in one breath: `keyword("ratio", Kind::Number).says("...").above(0.0, 1.0)`.
//! Numbers outside the range are refused before the operation sees them (`Arguments::bind`).

use std::fmt;

/// One parameter: its Lisp name, what it takes, and whether it may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub place: Place,
    /// What it is for, without a full stop; "" where the operation's text says all.
    pub text: &'static str,
    /// "" for a pure number, and for what is none.
    pub unit: &'static str,
    /// What one that is left out stands for; "" where nothing does.
    pub default: &'static str,
    /// What its numbers may be.
    pub range: Option<Range>,
    /// Further names, those of packages that people come from: keywords and flags may have them.
    pub also: &'static [&'static str],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Required,
    Optional,
    /// Any number of them, last among the positions.
    Rest,
    Keyword,
}

/// What a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An array or a number.
    Operand,
    Array,
    /// A list of arrays.
    Arrays,
    Number,
    Integer,
    /// An integer for both axes of a plane, or a list of two.
    Pair,
    /// A non-negative integer or a list of them; -1 where the operation infers one.
    Shape,
    /// A list of integers.
    Integers,
    /// An integer, or integers as an array or a list: one for each of several.
    Each,
    /// Integers as an array or a list.
    Index,
    /// The same, or one of these words.
    IndexOr(&'static [&'static str]),
    ElementType,
    /// nil or anything else.
    Flag,
    /// The same, where one that is left out is neither: a command line says true or false.
    Truth,
    /// A list of nil or (start end [step]).
    Slices,
    /// Numbers nested in lists.
    Nested,
    /// nil for all axes, an axis, or a list of them.
    Axes,
    Text,
    /// One of these words, as a keyword or symbol.
    Choice(&'static [&'static str]),
    /// A packed vector; nothing is converted.
    Vector,
    /// A generator of random numbers.
    Generator,
    /// Whatever comes; the operation judges it.
    Any,
}

/// The numbers from `low` to `high`; `open` leaves `low` itself out. NaN is in no range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
    pub open: bool,
}

impl Range {
    pub fn holds(&self, x: f64) -> bool {
        let enough = if self.open { x > self.low } else { x >= self.low };
        enough && x <= self.high
    }
}

/// `0 or more`, `above 0`, `from 1 to 16`, `above 0, 1 at most`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Range { low, high, open } = self;
        match (open, *high == f64::INFINITY) {
            (false, true) => write!(f, "{low} or more"),
            (true, true) => write!(f, "above {low}"),
            (false, false) => write!(f, "from {low} to {high}"),
            (true, false) => write!(f, "above {low}, {high} at most"),
        }
    }
}

impl Parameter {
    const fn new(name: &'static str, kind: Kind, place: Place) -> Parameter {
        Parameter { name, kind, place, text: "", unit: "", default: "", range: None, also: &[] }
    }

    /// With a line of text about it.
    pub const fn says(self, text: &'static str) -> Parameter {
        Parameter { text, ..self }
    }

    /// With the unit of its numbers.
    pub const fn unit(self, unit: &'static str) -> Parameter {
        Parameter { unit, ..self }
    }

    /// With what it is when it is left out.
    pub const fn default(self, default: &'static str) -> Parameter {
        Parameter { default, ..self }
    }

    /// With further names.
    pub const fn also(self, also: &'static [&'static str]) -> Parameter {
        Parameter { also, ..self }
    }

    /// Whether it is called so.
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }

    /// Its text, unit, range and default in one line: `how many; 0 or more; by default 8`.
    pub fn about(&self) -> String {
        let mut text = self.text.to_string();
        if !self.unit.is_empty() {
            text += &format!("; unit: {}", self.unit);
        }
        if let Some(range) = self.range {
            text += &format!("; {range}");
        }
        if !self.default.is_empty() {
            text += &format!("; by default {}", self.default);
        }
        if !self.also.is_empty() {
            text += &format!("; also {}", self.also.join(", "));
        }
        text
    }

    pub const fn at_least(self, low: f64) -> Parameter {
        let range = Some(Range { low, high: f64::INFINITY, open: false });
        Parameter { range, ..self }
    }

    /// Between these, `low` itself left out.
    pub const fn above(self, low: f64, high: f64) -> Parameter {
        Parameter { range: Some(Range { low, high, open: true }), ..self }
    }

    pub const fn between(self, low: f64, high: f64) -> Parameter {
        Parameter { range: Some(Range { low, high, open: false }), ..self }
    }
}

pub const fn required(name: &'static str, kind: Kind) -> Parameter {
    Parameter::new(name, kind, Place::Required)
}

pub const fn optional(name: &'static str, kind: Kind) -> Parameter {
    Parameter::new(name, kind, Place::Optional)
}

pub const fn rest(name: &'static str, kind: Kind) -> Parameter {
    Parameter::new(name, kind, Place::Rest)
}

pub const fn keyword(name: &'static str, kind: Kind) -> Parameter {
    Parameter::new(name, kind, Place::Keyword)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_what_it_holds() {
        let of = |p: Parameter| p.range.map(|range| (range.to_string(), range));
        let number = keyword("x", Kind::Number);
        let (text, range) = of(number.at_least(0.0)).unwrap();
        assert!(text == "0 or more" && range.holds(0.0) && !range.holds(-1.0));
        let (text, range) = of(number.above(0.0, 1.0)).unwrap();
        assert!(text == "above 0, 1 at most" && range.holds(1.0) && !range.holds(0.0));
        let (text, range) = of(number.between(1.0, 16.0)).unwrap();
        assert!(text == "from 1 to 16" && range.holds(1.0) && !range.holds(f64::NAN));
    }
}
