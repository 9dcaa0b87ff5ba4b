//! SIMD kernels and threads over slices, each giving the bits of its definition in `rung-math`.
//!
//! Nothing here knows an array, an operation's name or an element type beyond the slice it is
//! handed; `rung-ops` decides what to call. Every driver takes a `Lanes`: which vectors, and which
//! workers. Begin with `level` and `workers`, then `elementwise`, `fold` and `product`.
#![warn(missing_docs)]

pub mod copy;
pub mod cores;
pub mod elementwise;
pub mod fold;
pub mod gather;
pub mod histogram;
pub mod level;
pub mod operand;
pub mod product;
pub mod random;
pub mod scan;
pub mod scatter;
pub(crate) mod scratch;
pub mod search;
pub(crate) mod share;
pub mod sort;
pub mod triangular;
pub mod vector;
pub mod workers;

pub use cores::default_threads;
pub use elementwise::Cost;
pub use level::Level;
pub use operand::Operand;
pub use product::{Matrix, product, stack};
pub use vector::Float;
pub use workers::Workers;

/// The vectors and the threads that drivers use.
pub struct Lanes {
    level: Level,
    workers: Workers,
}

impl Lanes {
    /// The widest vectors of this processor and `threads` threads, the caller included.
    pub fn new(threads: usize) -> Lanes {
        Lanes::with(Level::detect(), threads)
    }

    /// A chosen level, for tests and comparisons; one that the processor lacks is lowered to what
    /// it has.
    pub fn with(level: Level, threads: usize) -> Lanes {
        Lanes { level: level.min(Level::detect()), workers: Workers::new(threads) }
    }

    /// Which vectors are used.
    pub fn level(&self) -> Level {
        self.level
    }

    /// The threads.
    pub fn workers(&self) -> &Workers {
        &self.workers
    }
}
