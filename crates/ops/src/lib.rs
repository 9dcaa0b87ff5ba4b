//! The table of array operations and the ladder that runs them.
//!
//! One record per operation (`record`), one file per family; `ladder` asks the rungs in turn,
//! `costs` says what each would take, `explain` what ran where and why not elsewhere. Nothing
//! here names Lisp or Python. To add an operation, add its record to a family's list.
#![forbid(unsafe_code)]

pub mod arguments;
mod arithmetic;
mod assign;
mod broadcast;
mod calculus;
pub mod call;
mod choose;
mod construct;
mod contract;
mod convolution;
pub mod costs;
pub mod decline;
mod decompose;
mod diagonal;
mod einsum;
mod elementwise;
pub mod explain;
mod factor;
mod fold;
mod index;
mod integers;
mod join;
mod ladder;
mod lists;
pub mod matrices;
mod product;
mod random;
pub mod record;
pub mod round_trip;
pub mod samples;
mod scan;
mod search;
mod select;
mod shape;
mod slices;
mod sort;
pub mod table;
pub mod transform;
pub mod tune;
mod value;
mod vector;
pub mod verify;
mod views;

pub use decline::{Answer, Decline, Rung};
pub use ladder::{Caller, Extent, Ladder, Narrowed, NoCaller, Site};
pub use record::{Entry, Exactness, Op};
pub use value::{Lent, Value};
