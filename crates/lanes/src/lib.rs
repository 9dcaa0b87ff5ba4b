//! SIMD kernels and threads over slices, each giving the bits of its definition in `rung-math`.
//!
//! Nothing here knows an array, an operation's name or an element type beyond the slice it is
//! handed; `rung-ops` decides what to call. Every driver takes a `Lanes`: which vectors, and which
//! workers. Begin with `level` and `workers`, then `elementwise`, `fold` and `product`.
#![warn(missing_docs)]

pub mod agree;
pub mod calculus;
pub mod compiled;
pub mod copy;
pub mod cores;
pub mod each;
pub mod elementwise;
pub mod fold;
pub mod fused;
pub mod gather;
pub mod grains;
pub mod histogram;
pub mod integer;
pub mod level;
pub mod matvec;
pub mod operand;
pub mod philox;
pub mod place;
pub mod product;
pub mod quantized;
pub mod random;
pub mod scan;
pub mod scatter;
pub(crate) mod scratch;
pub mod search;
pub(crate) mod share;
pub mod small;
pub mod sort;
pub mod triangular;
pub mod update;
pub mod vector;
pub mod windows;
pub mod workers;

pub use cores::default_threads;
pub use elementwise::Cost;
pub use grains::{Grain, Grains, Work};
pub use level::Level;
pub use matvec::{matvec, matvecs};
pub use operand::Operand;
pub use product::{Matrix, product, stack};
pub use vector::{Float, Stored};
pub use workers::{Listener, Stopped, Workers, deaf, stoppable};

/// The vectors and the threads that drivers use, and from which sizes they use threads.
pub struct Lanes {
    level: Level,
    workers: Workers,
    grains: Grains,
}

impl Lanes {
    /// The widest vectors of this processor and `threads` threads, the caller included.
    pub fn new(threads: usize) -> Lanes {
        Lanes::with(Level::detect(), threads)
    }

    /// A chosen level, for tests and comparisons; one that the processor lacks is lowered to what
    /// it has.
    pub fn with(level: Level, threads: usize) -> Lanes {
        Lanes::of(level, Workers::new(threads))
    }

    /// The widest vectors of this processor and as many threads as the machine is worth.
    pub fn of_machine() -> Lanes {
        Lanes::of(Level::detect(), Workers::of_machine())
    }

    fn of(level: Level, workers: Workers) -> Lanes {
        let level = level.min(Level::detect());
        Lanes { level, workers, grains: Grains::of(level) }
    }

    /// Takes other grains than the defaults: those that were measured here.
    pub fn set_grains(&mut self, grains: Grains) {
        self.grains = grains;
    }

    /// From which sizes threads are used.
    pub fn grains(&self) -> &Grains {
        &self.grains
    }

    /// How many pieces to cut `units` of a kind of work into.
    pub fn pieces(&self, work: Work, units: usize) -> usize {
        let Grain { threshold, piece } = self.grains.get(work);
        self.workers.pieces(units, threshold, piece)
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
