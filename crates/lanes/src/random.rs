//! Fills from the seeded generator: the one stream of `math::random`, many draws at a time.
//!
//! Lane l of a vector draws element i + l; all lanes jump ahead together by a constant factor a.
//! The next state's quotient is the fraction of s * (a / m), with a / m in two parts, and the next
//! state is that times m: four multiplications and three additions, no division and no compare;
//! the tests go through all 90,899 states. Two vectors go in turn, because each step waits for
//! the one before. Threads start their ranges by the closed-form jump.

use crate::level::Task;
use crate::share::Cells;
use crate::vector::{Float, Simd, Vector};
use crate::{Lanes, Work};
use rung_math::Real;
use rung_math::random::{DRAWS_OF_NORMAL, Fill, GENERATORS, PERIOD, State};

/// The next `out.len()` elements of the stream, narrowed once; returns the state after them.
pub fn fill<T: Float>(lanes: &Lanes, fill: Fill, state: State, out: &mut [T]) -> State {
    let size = out.len();
    let draws = fill.draws() as usize;
    let pieces = lanes.pieces(Work::Fill, size.saturating_mul(draws));
    let share = size.div_ceil(pieces).max(1).next_multiple_of(64);
    let out = Cells::new(out);
    lanes.workers().run(size.div_ceil(share), &|piece| {
        let from = piece * share;
        let start = state.at_element(from as u64, draws as u64);
        let task = Range { fill, state: start, out: out.at(from), count: share.min(size - from) };
        lanes.level().run(task);
    });
    fill.after(state, size as u64)
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
}

/// factor / modulus in two parts: `high` is a multiple of 2^-53, `low` what is left.
#[derive(Clone, Copy)]
struct Factor<V> {
    high: V,
    low: V,
}

/// Adding and taking away 1.5 * 2^52 rounds to a whole number.
const ROUND: f64 = 6755399441055744.0;

impl<V: Vector<Element = f64>> Factor<V> {
    fn new(factor: u32, modulus: u32) -> Factor<V> {
        let (scaled, unit) = ((factor as u128) << 53, 1.0 / (1u64 << 53) as f64);
        let (high, rest) = (scaled / modulus as u128, scaled % modulus as u128);
        Factor {
            high: V::splat(high as f64 * unit),
            low: V::splat(rest as f64 / modulus as f64 * unit),
        }
    }
}

impl<V: Vector<Element = f64>> Generator<V> {
    /// state <- state * factor mod modulus; the new state / modulus, correctly rounded.
    #[inline(always)]
    fn draw(&mut self, factor: Factor<V>) -> V {
        let round = V::splat(ROUND);
        // The product's fraction is 1 / modulus at least and as far from 1, so that one half less
        // rounds to its whole part.
        let near = self.state.multiply_add(factor.high, V::splat(-0.5));
        let less_whole = round - (near + round);
        // Exact: a multiple of 2^-53 below 1.
        let fraction = self.state.fused(factor.high, less_whole);
        let quotient = self.state.fused(factor.low, fraction);
        self.state = quotient.multiply_add(self.modulus, round) - round;
        quotient
    }
}

/// factor^exponent mod modulus; all products stay below 2^30.
fn power(factor: u32, exponent: usize, modulus: u32) -> u32 {
    (0..exponent).fold(1, |power, _| power * factor % modulus)
}

/// The three generators. Three fields and no array: an array of vectors stayed in memory, and
/// normal numbers took twice the time.
#[derive(Clone, Copy)]
struct Three<G>(G, G, G);

impl<V: Vector<Element = f64>> Three<Generator<V>> {
    /// The next number.
    #[inline(always)]
    fn draw(&mut self, factors: Three<Factor<V>>) -> V {
        let (a, b) = (self.0.draw(factors.0), self.1.draw(factors.1));
        let u = (a + b) + self.2.draw(factors.2);
        let (one, two) = (V::splat(1.0), V::splat(2.0));
        let less_one = V::select(u.less(one), u, u - one);
        V::select(u.less(two), less_one, u - two)
    }
}

/// Vectors that go in turn.
const TURNS: usize = 2;

impl<T: Float> Range<T> {
    /// The factor that leads `draws` draws on.
    #[inline(always)]
    fn factors<V: Vector<Element = f64>>(draws: usize) -> Three<Factor<V>> {
        let factor = |i: usize| {
            let (multiplier, modulus) = GENERATORS[i];
            Factor::new(power(multiplier, draws, modulus), modulus)
        };
        Three(factor(0), factor(1), factor(2))
    }

    /// Lanes that stand `before` draws before the first draw of the elements from `first` on.
    #[inline(always)]
    fn start<S: Simd>(&self, first: usize, before: usize) -> Three<Generator<S::F64>> {
        let mut states = [[0.0; 8]; 3];
        for lane in 0..S::F64::LANES {
            let element = self.state.at_element((first + lane) as u64, self.fill.draws());
            let State(state) = element.jump(1).jump(PERIOD - before as u64);
            for (states, state) in states.iter_mut().zip(state) {
                states[lane] = state as f64;
            }
        }
        let generator = |i: usize| Generator {
            // SAFETY: the widest f64 vector has eight lanes.
            state: unsafe { S::F64::load(states[i].as_ptr()) },
            modulus: S::F64::splat(GENERATORS[i].1 as f64),
        };
        Three(generator(0), generator(1), generator(2))
    }

    /// Stores the first of these numbers, as many as are left.
    #[inline(always)]
    fn put<S: Simd>(&self, done: usize, x: S::F64) {
        // SAFETY: the widest f64 vector has eight lanes; this range owns its cells.
        unsafe {
            if done + S::F64::LANES <= self.count {
                return T::store_narrowed::<S>(x, self.out.add(done));
            }
            let mut last = [T::default(); 8];
            T::store_narrowed::<S>(x, last.as_mut_ptr());
            for (i, x) in last.iter().enumerate().take(self.count.saturating_sub(done)) {
                *self.out.add(done + i) = *x;
            }
        }
    }
}

impl<T: Float> Task for Range<T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self) {
        let lanes = S::F64::LANES;
        // From an element's last draw to the first one of the element that its lane has next.
        let step = (TURNS * lanes - 1) * self.fill.draws() as usize + 1;
        let (one, next) = (Self::factors::<S::F64>(1), Self::factors::<S::F64>(step));
        let mut a = self.start::<S>(0, step);
        let mut b = self.start::<S>(lanes, step);
        let mut done = 0;
        while done < self.count {
            let (mut u, mut v) = (a.draw(next), b.draw(next));
            match self.fill {
                Fill::Rand => {}
                Fill::Uniform { low, span } => {
                    let (low, span) = (S::F64::splat(low), S::F64::splat(span));
                    (u, v) = (low + span * u, low + span * v);
                }
                Fill::Dropout { rate, kept } => {
                    let (rate, kept) = (S::F64::splat(rate), S::F64::splat(kept));
                    let zero = S::F64::splat(0.0);
                    let masked = |u: S::F64| S::F64::select(u.less(rate), zero, kept);
                    (u, v) = (masked(u), masked(v));
                }
                Fill::Randn => {
                    for _ in 1..DRAWS_OF_NORMAL {
                        (u, v) = (u + a.draw(one), v + b.draw(one));
                    }
                    (u, v) = (u - S::F64::splat(6.0), v - S::F64::splat(6.0));
                }
            }
            self.put::<S>(done, u);
            self.put::<S>(done + lanes, v);
            done += TURNS * lanes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::level::Level;

    const KINDS: [Fill; 4] = [
        Fill::Rand,
        Fill::Randn,
        Fill::Uniform { low: -1.0, span: 4.5 },
        Fill::Dropout { rate: 0.3, kept: 1.0 / 0.7 },
    ];

    #[test]
    fn every_fill_draws_the_stream_of_the_definition() {
        for level in Level::available() {
            for threads in [1, 2, 3] {
                let lanes = Lanes::with(level, threads);
                for size in [0, 1, 7, 8, 9, 64, 1000, 20_011] {
                    for kind in KINDS {
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
                    for draws in [1, 2, 3, 31, 32, 7 * 12 + 1, 15 * 12 + 1] {
                        let factor = power(factor, draws, modulus);
                        let state_after = state * factor % modulus;
                        let mut generator = Generator {
                            state: S::F64::splat(state as f64),
                            modulus: S::F64::splat(modulus as f64),
                        };
                        let quotient = generator.draw(Factor::new(factor, modulus));
                        let mut got = [[0.0; 8]; 2];
                        // SAFETY: the widest f64 vector has eight lanes.
                        unsafe {
                            quotient.store(got[0].as_mut_ptr());
                            generator.state.store(got[1].as_mut_ptr());
                        }
                        assert_eq!(got[0][0], state_after as f64 / modulus as f64);
                        assert_eq!(got[1][0], state_after as f64);
                    }
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
