//! Fills from the seeded generator: the one stream of `math::random`, many draws at a time.
//!
//! Lane l of a vector draws element i + l; all lanes then jump ahead together by a constant
//! factor, which is exact in f64 because every product stays below 2^30. Quotients are one
//! multiplication and two corrections instead of a division; the tests go through all 90,899
//! states. Threads start their ranges by the closed-form jump.

use crate::level::Task;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::random::{DRAWS_OF_NORMAL, Fill, GENERATORS, State};

/// The next `out.len()` elements of the stream, narrowed once; returns the state after them.
pub fn fill<T: Float>(lanes: &Lanes, fill: Fill, state: State, out: &mut [T]) -> State {
    let size = out.len();
    let draws = fill.draws() as usize;
    let pieces = lanes.pieces(Work::Fill, size.saturating_mul(draws));
    let share = size.div_ceil(pieces).max(1).next_multiple_of(64);
    let out = Cells(out.as_mut_ptr());
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let from = piece * share;
        let start = state.at_element(from as u64, draws as u64);
        let task = Range { fill, state: start, out: out.at(from), count: share.min(size - from) };
        lanes.level().run(task);
    });
    fill.after(state, size as u64)
}

/// Result cells that pieces share; each writes its own range.
struct Cells<T>(*mut T);

// SAFETY: pieces write disjoint ranges.
unsafe impl<T: Send> Sync for Cells<T> {}

impl<T> Cells<T> {
    fn at(&self, index: usize) -> *mut T {
        self.0.wrapping_add(index)
    }
}

struct Range<T> {
    fill: Fill,
    state: State,
    out: *mut T,
    count: usize,
}

/// One of the three generators in every lane.
#[derive(Clone, Copy)]
struct Generator<V> {
    state: V,
    modulus: V,
    inverse: V,
}

/// Adding and taking away 1.5 * 2^52 rounds to a whole number.
const ROUND: f64 = 6755399441055744.0;

impl<V: Vector<Element = f64>> Generator<V> {
    /// state <- state * factor mod modulus.
    #[inline(always)]
    fn advance(&mut self, factor: V) {
        let product = self.state * factor;
        let round = V::splat(ROUND);
        let quotient = (product * self.inverse + round) - round;
        // The nearest multiple may lie above: the rest is then negative by less than a modulus.
        let rest = product - quotient * self.modulus;
        self.state = V::select(rest.less(V::splat(0.0)), rest + self.modulus, rest);
    }

    /// state / modulus, correctly rounded.
    #[inline(always)]
    fn quotient(&self) -> V {
        let near = self.state * self.inverse;
        let error = (-near).fused(self.modulus, self.state);
        error.fused(self.inverse, near)
    }
}

/// factor^exponent mod modulus; all products stay below 2^30.
fn power(factor: u32, exponent: usize, modulus: u32) -> f64 {
    let product = (0..exponent).fold(1, |power, _| power * factor % modulus);
    product as f64
}

/// The three generators. Three fields and no array: an array of vectors stayed in memory, and
/// normal numbers took twice the time.
#[derive(Clone, Copy)]
struct Three<G>(G, G, G);

impl<V: Vector<Element = f64>> Three<Generator<V>> {
    #[inline(always)]
    fn advance(&mut self, factors: Three<V>) {
        self.0.advance(factors.0);
        self.1.advance(factors.1);
        self.2.advance(factors.2);
    }

    /// The number that the states stand for.
    #[inline(always)]
    fn draw(&self) -> V {
        let u = (self.0.quotient() + self.1.quotient()) + self.2.quotient();
        let (one, two) = (V::splat(1.0), V::splat(2.0));
        let less_one = V::select(u.less(one), u, u - one);
        V::select(u.less(two), less_one, u - two)
    }
}

/// Lanes standing before one element each, the factors of one draw, and those of the step that
/// leads from an element's last draw to the first one of the element a vector further.
struct Start<V> {
    generators: Three<Generator<V>>,
    one: Three<V>,
    next: Three<V>,
}

impl<T: Float> Range<T> {
    #[inline(always)]
    fn start<S: Simd>(&self) -> Start<S::F64> {
        let lanes = S::F64::LANES;
        let draws = self.fill.draws();
        let mut states = [[0.0; 8]; 3];
        for lane in 0..lanes {
            let State(state) = self.state.at_element(lane as u64, draws);
            for (states, state) in states.iter_mut().zip(state) {
                states[lane] = state as f64;
            }
        }
        let generator = |i: usize| Generator {
            // SAFETY: the widest f64 vector has eight lanes.
            state: unsafe { S::F64::load(states[i].as_ptr()) },
            modulus: S::F64::splat(GENERATORS[i].1 as f64),
            inverse: S::F64::splat(1.0 / GENERATORS[i].1 as f64),
        };
        let ahead = (lanes - 1) * draws as usize + 1;
        let factor =
            |i: usize, draws| S::F64::splat(power(GENERATORS[i].0, draws, GENERATORS[i].1));
        Start {
            generators: Three(generator(0), generator(1), generator(2)),
            one: Three(factor(0, 1), factor(1, 1), factor(2, 1)),
            next: Three(factor(0, ahead), factor(1, ahead), factor(2, ahead)),
        }
    }

    /// Stores the first of these numbers, as many as are left.
    #[inline(always)]
    fn put<S: Simd>(&self, done: usize, x: S::F64) {
        let mut wide = [0.0; 8];
        // SAFETY: the widest f64 vector has eight lanes; this range owns its cells.
        unsafe {
            x.store(wide.as_mut_ptr());
            let left = S::F64::LANES.min(self.count - done);
            for (i, x) in wide.iter().enumerate().take(left) {
                *self.out.add(done + i) = T::narrowed(*x);
            }
        }
    }
}

impl<T: Float> Task for Range<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let Start { mut generators, one, next } = self.start::<S>();
        generators.advance(one);
        let mut done = 0;
        while done < self.count {
            let mut u = generators.draw();
            let x = match self.fill {
                Fill::Rand => u,
                Fill::Uniform { low, high } => S::F64::splat(low) + S::F64::splat(high - low) * u,
                Fill::Randn => {
                    for _ in 1..DRAWS_OF_NORMAL {
                        generators.advance(one);
                        u = u + generators.draw();
                    }
                    u - S::F64::splat(6.0)
                }
            };
            generators.advance(next);
            self.put::<S>(done, x);
            done += S::F64::LANES;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;

    #[test]
    fn every_fill_draws_the_stream_of_the_definition() {
        for level in Level::available() {
            for threads in [1, 2, 3] {
                let lanes = Lanes::with(level, threads);
                for size in [0, 1, 7, 8, 9, 64, 1000, 20_011] {
                    for kind in [Fill::Rand, Fill::Randn, Fill::Uniform { low: -1.0, high: 3.5 }] {
                        check::<f64>(&lanes, kind, size);
                        check::<f32>(&lanes, kind, size);
                    }
                }
            }
        }
    }

    fn check<T: Float>(lanes: &Lanes, kind: Fill, size: usize) {
        let start = State::seeded(size as i128);
        let mut out = vec![T::default(); size];
        let after = fill(lanes, kind, start, &mut out);
        let mut state = start;
        for (i, got) in out.iter().enumerate() {
            let want = T::narrowed(kind.next(&mut state));
            assert!(*got == want, "{kind:?} element {i} of {size}: {got:?}, not {want:?}");
        }
        assert_eq!(state, after);
    }

    struct EveryState;
    impl Task for EveryState {
        type Output = ();
        #[inline(always)]
        fn run<S: Simd>(self) {
            for (factor, modulus) in GENERATORS {
                for state in 1..modulus {
                    let splat = |x: u32| S::F64::splat(x as f64);
                    let inverse = S::F64::splat(1.0 / modulus as f64);
                    let mut generator =
                        Generator { state: splat(state), modulus: splat(modulus), inverse };
                    let mut got = [[0.0; 8]; 2];
                    // SAFETY: the widest f64 vector has eight lanes.
                    unsafe { generator.quotient().store(got[0].as_mut_ptr()) };
                    generator.advance(splat(factor));
                    // SAFETY: as above.
                    unsafe { generator.state.store(got[1].as_mut_ptr()) };
                    assert_eq!(got[0][0], state as f64 / modulus as f64);
                    assert_eq!(got[1][0], (state * factor % modulus) as f64);
                }
            }
        }
    }

    #[test]
    fn quotients_and_steps_are_exact_for_every_state() {
        for level in Level::available() {
            level.run(EveryState);
        }
    }
}
