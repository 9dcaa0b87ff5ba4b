//! Runs PTX without a card, for tests alone: the subset that `rung-kernel` writes, with exact IEEE 754
//! arithmetic, fused multiply-add, warps of 32 lanes, barriers and warp operations.
//!
//! Every access is checked. A launch ends with a `Fault` at the first one that is out of bounds or
//! misaligned, that reads a register or a byte of shared or local memory which nothing has written,
//! or that races: two invocations, one of them writing, with no barrier between. So does a barrier
//! that not all invocations of a group reach. It knows nothing of `rung-kernel`; what it does not know
//! is a fault with the instruction's text. Read `program` and `instruction` for the text, `opcodes` for what
//! instructions compute, `matrix` for the model of tensor cores, `memory` for the checks, `machine` for how
//! warps run, `across` for what goes across their lanes, `counts` for what a launch is told to have done.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod across;
mod counts;
mod instruction;
mod machine;
mod matrix;
mod memory;
mod opcodes;
mod program;

pub use counts::Counts;
pub use machine::{launch, launch_counted};
pub use matrix::Order;
pub use program::Program;

use std::fmt;

/// Why a program could not be read or a launch did not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(pub String);

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Fault {}

type Outcome<T> = Result<T, Fault>;

/// Lanes of a warp.
const LANES: usize = 32;
