//! Philox 4x32-10 (Salmon, Moraes, Dror and Shaw, 2011), the counter-based generator: the numbers
//! of a state are a pure function of key, stream and offset, so a run repeats and any rung can
//! start anywhere. What fills make of the words is here too; nothing here is fast.
//!
//! The key is the two halves of the seed; the counter is (block low, block high, stream low, stream
//! high); a block is four words.

use crate::function::Unary;
use crate::real::Real;
use crate::{Cos, Log, Sin};

/// What the counter's words 0 and 2 are multiplied by in each round.
pub const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
/// What is added to the key's words from round to round.
pub const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
/// Rounds of a block.
pub const ROUNDS: usize = 10;

/// The four words of a block.
pub fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut c0, mut c1, mut c2, mut c3], [mut k0, mut k1]) = (counter, key);
    for round in 0..ROUNDS {
        if round > 0 {
            k0 = k0.wrapping_add(STEPS[0]);
            k1 = k1.wrapping_add(STEPS[1]);
        }
        let first = u64::from(MULTIPLIERS[0]) * u64::from(c0);
        let second = u64::from(MULTIPLIERS[1]) * u64::from(c2);
        let (high0, low0) = ((first >> 32) as u32, first as u32);
        let (high1, low1) = ((second >> 32) as u32, second as u32);
        (c0, c1, c2, c3) = (high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0);
    }
    [c0, c1, c2, c3]
}

/// A place in the stream of words.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// The seed.
    pub key: u64,
    /// Which of the streams of that seed.
    pub stream: u64,
    /// How many words have been drawn.
    pub offset: u64,
}

impl State {
    /// The first place of a seed.
    pub fn seeded(key: u64) -> State {
        State { key, stream: 0, offset: 0 }
    }

    /// The next word.
    pub fn word(&mut self) -> u32 {
        let (index, lane) = (self.offset / 4, self.offset % 4);
        self.offset = self.offset.wrapping_add(1);
        let halves = |n: u64| [n as u32, (n >> 32) as u32];
        let ([low, high], [stream_low, stream_high]) = (halves(index), halves(self.stream));
        block([low, high, stream_low, stream_high], halves(self.key))[lane as usize]
    }

    /// The next two words, the first of them the high half.
    pub fn double_word(&mut self) -> u64 {
        let high = u64::from(self.word());
        high << 32 | u64::from(self.word())
    }

    /// A whole number below `limit`, which is not 0, each equally likely.
    pub fn below(&mut self, limit: u64) -> u64 {
        // Multiply and keep the high half; the low half tells the few draws that would favour
        // some results (Lemire, 2019).
        let threshold = limit.wrapping_neg() % limit;
        loop {
            let product = u128::from(self.double_word()) * u128::from(limit);
            if product as u64 >= threshold {
                return (product >> 64) as u64;
            }
        }
    }

    /// 0 <= u < 1 in steps of 2^-53.
    pub fn double(&mut self) -> f64 {
        f64::uniform(|| self.word())
    }

    /// 0 <= u < 1 in steps of 2^-24.
    pub fn single(&mut self) -> f32 {
        f32::uniform(|| self.word())
    }
}

/// What each element of a fill is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fill {
    /// 0 <= u < 1.
    Uniform,
    /// Mean 0 and variance 1, two from two uniform numbers (Box and Muller, 1958).
    Normal,
}

/// A width at which fills draw.
pub trait Drawn: Real + Copy {
    /// Words of a uniform number.
    const WORDS: u64;
    /// A uniform number from the next words, the high one first.
    fn uniform(word: impl FnMut() -> u32) -> Self;
}

impl Drawn for f32 {
    const WORDS: u64 = 1;
    #[inline(always)]
    fn uniform(mut word: impl FnMut() -> u32) -> f32 {
        (word() >> 8) as f32 / (1u32 << 24) as f32
    }
}

impl Drawn for f64 {
    const WORDS: u64 = 2;
    #[inline(always)]
    fn uniform(mut word: impl FnMut() -> u32) -> f64 {
        let high = u64::from(word());
        ((high << 32 | u64::from(word())) >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Two normal numbers: r = sqrt(-2 log(1 - u1)); r cos(2 pi u2), r sin(2 pi u2).
#[inline(always)]
pub fn normal<R: Real>(u1: R, u2: R) -> [R; 2] {
    let radius = (R::constant(-2.0) * Log::at(R::constant(1.0) - u1)).sqrt();
    let angle = R::constant(core::f64::consts::TAU) * u2;
    [radius * Cos::at(angle), radius * Sin::at(angle)]
}

impl Fill {
    /// Words that belong together: a fill begins at a multiple of them, so none crosses a block.
    pub fn unit<T: Drawn>(self) -> u64 {
        match self {
            Fill::Uniform => T::WORDS,
            Fill::Normal => 2 * T::WORDS,
        }
    }

    /// The state in which a fill begins.
    pub fn start<T: Drawn>(self, state: State) -> State {
        let unit = self.unit::<T>();
        let over = state.offset % unit;
        let offset = state.offset.wrapping_add(if over == 0 { 0 } else { unit - over });
        State { offset, ..state }
    }

    /// Element `index` of a fill.
    pub fn element<T: Drawn>(self, state: State, index: u64) -> T {
        let state = self.start::<T>(state);
        let uniform = |number: u64| {
            let offset = number.wrapping_mul(T::WORDS).wrapping_add(state.offset);
            let mut at = State { offset, ..state };
            T::uniform(|| at.word())
        };
        match self {
            Fill::Uniform => uniform(index),
            Fill::Normal => {
                let first = index / 2 * 2;
                normal(uniform(first), uniform(first + 1))[(index % 2) as usize]
            }
        }
    }

    /// The state after a fill of `length` elements.
    pub fn after<T: Drawn>(self, state: State, length: u64) -> State {
        let numbers = match self {
            Fill::Uniform => length,
            Fill::Normal => length.next_multiple_of(2),
        };
        let start = self.start::<T>(state);
        State { offset: numbers.wrapping_mul(T::WORDS).wrapping_add(start.offset), ..start }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(block([0; 4], [0; 2]), [0x6627_E8D5, 0xE169_C58D, 0xBC57_AC4C, 0x9B00_DBD8]);
        // From the reference implementation's table of known answers.
        assert_eq!(
            block([u32::MAX; 4], [u32::MAX; 2]),
            [0x408F_276D, 0x41C8_3B0E, 0xA20B_C7C6, 0x6D54_51FD]
        );
    }

    #[test]
    fn draws_stay_below_and_repeat() {
        let (mut a, mut b) = (State::seeded(7), State::seeded(7));
        for limit in [1, 2, 3, 10, 1 << 40, u64::MAX] {
            for _ in 0..100 {
                let n = a.below(limit);
                assert!(n < limit);
                assert_eq!(n, b.below(limit));
            }
        }
        assert!((0..1000).all(|_| (0.0..1.0).contains(&a.double())));
    }

    #[test]
    fn fills_take_words_in_order_and_begin_at_whole_numbers() {
        let state = State { offset: 3, ..State::seeded(5) };
        let mut words = state;
        let first = words.word();
        assert_eq!(Fill::Uniform.element::<f32>(state, 0), (first >> 8) as f32 / 16777216.0);
        let mut words = State { offset: 4, ..state };
        let (u1, u2) = (words.double(), words.double());
        assert_eq!(Fill::Uniform.element::<f64>(state, 1), u2);
        let radius = (-2.0 * Log::at(1.0 - u1)).sqrt();
        let angle = core::f64::consts::TAU * u2;
        assert_eq!(Fill::Normal.element::<f64>(state, 0), radius * Cos::at(angle));
        assert_eq!(Fill::Normal.element::<f64>(state, 1), radius * Sin::at(angle));
        assert_eq!(Fill::Normal.after::<f64>(state, 3).offset, 12);
        assert_eq!(Fill::Uniform.after::<f32>(state, 3).offset, 6);
        let numbers: Vec<f64> = (0..20_000).map(|i| Fill::Normal.element(state, i)).collect();
        let mean = numbers.iter().sum::<f64>() / 2e4;
        let variance = numbers.iter().map(|x| x * x).sum::<f64>() / 2e4;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.05, "{mean} {variance}");
    }
}
