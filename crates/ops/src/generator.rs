//! A generator as a value: Philox 4x32-10 with its place in the stream, which calls that are given
//! it advance. The seeded generator of the process is in `Context`.

use rung_math::philox::State;
use rung_math::random;
use std::cell::Cell;
use std::rc::Rc;

/// A counter-based generator; clones are the same one.
#[derive(Clone, Debug, Default)]
pub struct Generator(Rc<Cell<State>>);

impl Generator {
    /// The first place of a stream of a seed.
    pub fn new(key: u64, stream: u64) -> Generator {
        Generator(Rc::new(Cell::new(State { key, stream, offset: 0 })))
    }

    pub fn state(&self) -> State {
        self.0.get()
    }

    pub fn set(&self, state: State) {
        self.0.set(state);
    }
}

impl std::fmt::Display for Generator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let State { key, stream, offset } = self.state();
        write!(f, "PHILOX {key} :STREAM {stream} :OFFSET {offset}")
    }
}

/// Where single numbers are drawn from, in double-float.
pub enum Source<'a> {
    Seeded(&'a mut random::State),
    Counter(&'a Generator),
}

impl Source<'_> {
    /// 0 <= u < 1.
    pub fn draw(&mut self) -> f64 {
        match self {
            Source::Seeded(state) => state.draw(),
            Source::Counter(generator) => {
                let mut state = generator.state();
                let u = state.double();
                generator.set(state);
                u
            }
        }
    }

    /// A whole number below n: floor(u * n), at most n - 1.
    pub fn draw_below(&mut self, n: u64) -> u64 {
        let scaled = (self.draw() * n as f64).floor() as u64;
        scaled.min(n.saturating_sub(1))
    }
}
