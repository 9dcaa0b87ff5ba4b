//! Philox 4x32-10 (Salmon and others, 2011), the counter-based generator behind `random`. The
//! numbers of a state are a pure function of key, stream and offset, so a run repeats. What
//! `random` makes of the words is in `library::numbers_random`.

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const STEPS: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The four words of a block.
pub fn block(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let ([mut c0, mut c1, mut c2, mut c3], [mut k0, mut k1]) = (counter, key);
    for round in 0..10 {
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
        (self.double_word() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// 0 <= u < 1 in steps of 2^-24.
    pub fn single(&mut self) -> f32 {
        (self.word() >> 8) as f32 / (1u32 << 24) as f32
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
}
