//! The record of one array operation: everything that is known about it, in one place.
//!
//! Names, argument list, documentation, checks, every rung's kernel, samples and example stand
//! together; the Lisp function, the ladder, the tests and the reference pages are read from here.
//! Records are plain constants in one file per family; `table` lists them.

use crate::arguments::Arguments;
use crate::call::{Call, Context, Prepared};
use crate::decline::Answer;
use crate::round_trip::RoundTrip;
use crate::samples::Sample;
use rung_array::Array;
use rung_base::{ElementType, Result};
use rung_lanes::Lanes;
use rung_library::Library;
use std::cmp::Ordering;

/// One array operation.
pub struct Op {
    /// The name and its aliases in package `linalg`.
    pub names: &'static [&'static str],
    /// What it computes, in one or two sentences.
    pub doc: &'static str,
    pub parameters: &'static [Parameter],
    /// What it means for numbers alone, where a front end has an arithmetic of its own.
    pub numbers: Option<Arithmetic>,
    /// What comes back: shape and element type in words.
    pub result: &'static str,
    /// Element types of operands that it takes; the tests run each.
    pub types: &'static [ElementType],
    pub exact: Exactness,
    /// Checks shapes and types, and lays the operands out; a view is finished here.
    pub prepare: Prepare,
    pub rungs: Rungs,
    /// Argument lists that serve tests and benchmarks.
    pub samples: fn() -> Vec<Sample>,
    /// `(la:erf 0.5d0) => 0.5204998778130465`; the tests run it.
    pub example: &'static str,
}

/// Checks a call, and finishes a view.
pub type Prepare = fn(&'static Op, Arguments, &mut Context) -> Result<Prepared>;

/// Operations over floats alone.
pub const FLOATS: &[ElementType] = &ElementType::FLOATS;
/// Operations over every element type.
pub const ALL: &[ElementType] = &ElementType::ALL;

/// An operation on two numbers, which a front end computes by its own rules: in Lisp ratios and
/// integers of any size stay exact (spec linalg 1.2).
#[derive(Clone, Copy)]
pub enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Larger,
    Smaller,
    /// Whether the relation holds for this order; `None` with NaN.
    Compare(fn(Option<Ordering>) -> bool),
}

/// How an operation is computed on each rung; an absent kernel carries its reason.
#[derive(Clone, Copy)]
pub struct Rungs {
    /// The definition: the plainest loop. It calls neither lanes nor kernels.
    pub portable: fn(&Call) -> Result<Array>,
    pub lanes: Entry<fn(&Call, &Lanes) -> Result<Answer>>,
    pub library: Entry<fn(&Call, &Library) -> Result<Answer>>,
    pub device: Entry<Member>,
}

/// A kernel, or why there is none.
#[derive(Clone, Copy)]
pub enum Entry<T> {
    Has(T),
    None(&'static str),
}

impl<T> Entry<T> {
    pub fn kernel(&self) -> Option<&T> {
        match self {
            Entry::Has(kernel) => Some(kernel),
            Entry::None(_) => None,
        }
    }
}

/// A device kernel and from which size a call is offered to it.
#[derive(Clone, Copy)]
pub struct Member {
    pub offer: Offer,
    pub run: fn(&Call, &RoundTrip) -> Result<Answer>,
}

/// When a device is offered a call (DESIGN 4). The threshold's unit is the family's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offer {
    /// Wherever the operands are, from the threshold of this family.
    RoundTrip(Family),
    /// Only where an operand is on the device already.
    ResidentOnly,
}

/// What a call's work is measured in, and which costs apply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// Multiply-adds.
    Product,
    /// Elements, each an elementary function.
    Map,
    /// Result elements of cheap arithmetic.
    Wide,
    /// Input elements.
    Fold,
    /// Drawn elements.
    Fill,
    /// Copied elements.
    Copy,
}

/// What is promised about an operation's bits (DESIGN 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// The definition's bits on every rung.
    Same,
    /// The definition's bits, and within this many ulp of the true value.
    Ulp(u8),
    /// The definition's bits on lanes and device; on the library rung within
    /// 2 k u sum |a b| of them (spec acceleration 8).
    LibraryOrder,
}

/// One parameter: its Lisp name, what it takes, and whether it may be left out.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub kind: Kind,
    pub place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Required,
    Optional,
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
    /// A non-negative integer or a list of them; -1 where the operation infers one.
    Shape,
    /// A list of integers.
    Integers,
    /// Integers as an array or a list.
    Index,
    ElementType,
    /// nil or anything else.
    Flag,
    /// A list of nil or (start end [step]).
    Slices,
    /// Numbers nested in lists.
    Nested,
}

pub const fn required(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, place: Place::Required }
}

pub const fn optional(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, place: Place::Optional }
}

pub const fn keyword(name: &'static str, kind: Kind) -> Parameter {
    Parameter { name, kind, place: Place::Keyword }
}

impl Op {
    /// The name by which messages and reports call it.
    pub fn name(&self) -> &'static str {
        self.names[0]
    }

    /// The Lisp argument list: `(a &key axis keepdims)`.
    pub fn lambda_list(&self) -> String {
        let mut words: Vec<&str> = Vec::new();
        let mut place = Place::Required;
        for p in self.parameters {
            if p.place != place {
                place = p.place;
                words.push(if place == Place::Optional { "&optional" } else { "&key" });
            }
            words.push(p.name);
        }
        format!("({})", words.join(" "))
    }
}
