//! The table of array operations and the ladder that runs them.
//!
//! One record per operation (`record`), one file per family; `ladder` asks the rungs in turn,
//! `costs` says what each would take, `explain` what ran where and why not elsewhere. Nothing
//! here names Lisp or Python. To add an operation, add its record to a family's list.
#![forbid(unsafe_code)]

mod agreement;
pub mod arguments;
mod arithmetic;
mod assign;
mod batch;
mod broadcast;
mod calculus;
pub mod call;
pub mod chain;
mod choose;
mod construct;
mod contract;
mod convolution;
pub mod costs;
pub mod decline;
mod decompose;
mod diagonal;
mod discover;
mod draws;
mod einsum;
mod elementwise;
pub mod elsewhere;
pub mod explain;
mod factor;
mod fold;
mod gelu;
mod generator;
pub mod gradient;
mod index;
mod integers;
mod join;
mod ladder;
mod lists;
mod loss;
pub mod matrices;
mod noise;
mod package;
mod parameter;
mod pool;
mod present;
mod product;
pub mod quantized;
mod random;
pub mod record;
pub mod resident;
pub mod round_trip;
mod rowwise;
pub mod samples;
mod scan;
mod search;
mod select;
mod shape;
mod slices;
mod softmax;
pub mod solver;
mod sort;
mod stacked;
mod statistics;
mod strict;
mod strided;
pub mod table;
pub mod transform;
pub mod trial;
mod truth;
pub mod tune;
pub mod update;
pub mod user_kernel;
mod value;
mod vector;
pub mod verify;
mod views;
mod windows;
mod words;

pub use decline::{Answer, Decline, Rung};
pub use generator::Generator;
pub use ladder::{Caller, Extent, Ladder, Narrowed, NoCaller, Site};
pub use record::{Entry, Exactness, Op};
pub use value::Value;
