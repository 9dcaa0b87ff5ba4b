//! The generator behind `seed`, `rand`, `randn`, `uniform` and `choice`: three multiplicative
//! congruential generators whose quotients are added (spec acceleration 7). The jump is in closed
//! form, so any rung can start anywhere in the one stream. It is not for cryptography; the
//! counter-based generator is in `philox`.

/// (multiplier, prime modulus) of the three generators.
pub const GENERATORS: [(u32, u32); 3] = [(171, 30269), (172, 30307), (170, 30323)];
/// Draws after which the stream repeats.
pub const PERIOD: u64 = 6_953_607_871_644;
/// Draws that one normal number takes.
pub const DRAWS_OF_NORMAL: u64 = 12;

/// The state of the stream; a copy draws the same numbers again. Each part is at least 1 and below
/// its modulus; build one from a user's numbers by `from_integers`, which checks that.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct State(pub [u32; 3]);

impl Default for State {
    fn default() -> Self {
        State([100, 200, 300])
    }
}

impl State {
    /// The state after `(seed n)`: set from n, ten draws discarded.
    pub fn seeded(n: i128) -> Self {
        let from =
            |offset: i128, modulus: i128| 1 + ((n.rem_euclid(modulus) + offset) % modulus) as u32;
        State([from(0, 30268), from(12345, 30306), from(6789, 30322)]).jump(10)
    }

    /// The state with these parts, each taken modulo its modulus; None when one becomes 0, which
    /// every draw would leave at 0.
    pub fn from_integers(parts: [i128; 3]) -> Option<Self> {
        let mut state = [0; 3];
        for ((to, part), (_, modulus)) in state.iter_mut().zip(parts).zip(GENERATORS) {
            *to = part.rem_euclid(modulus as i128) as u32;
        }
        (!state.contains(&0)).then_some(State(state))
    }

    /// The state after this many draws.
    pub fn jump(self, draws: u64) -> Self {
        let mut state = self.0;
        for (part, (multiplier, modulus)) in state.iter_mut().zip(GENERATORS) {
            // Fermat: the multiplier's powers repeat after modulus - 1.
            let factor = power(multiplier, (draws % (modulus as u64 - 1)) as u32, modulus);
            *part = *part % modulus * factor % modulus;
        }
        State(state)
    }

    /// The state before element `index` of a fill that takes `draws` draws an element.
    pub fn at_element(self, index: u64, draws: u64) -> Self {
        // Both factors are reduced by the common period first, so the product cannot overflow.
        let total = (index % PERIOD) as u128 * draws as u128 % PERIOD as u128;
        self.jump(total as u64)
    }

    /// One draw, 0 <= u < 1.
    #[inline]
    pub fn draw(&mut self) -> f64 {
        for (part, (multiplier, modulus)) in self.0.iter_mut().zip(GENERATORS) {
            *part = part.wrapping_mul(multiplier) % modulus;
        }
        let [s1, s2, s3] = self.0;
        let u = (s1 as f64 / 30269.0 + s2 as f64 / 30307.0) + s3 as f64 / 30323.0;
        if u >= 2.0 {
            u - 2.0
        } else if u >= 1.0 {
            u - 1.0
        } else {
            u
        }
    }

    /// A normal number: twelve draws added from the left, minus 6.
    #[inline]
    pub fn draw_normal(&mut self) -> f64 {
        let mut total = self.draw();
        for _ in 1..DRAWS_OF_NORMAL {
            total += self.draw();
        }
        total - 6.0
    }

    /// A whole number at least 0 and below n: floor(u * n), at most n - 1. 0 when n is 0.
    #[inline]
    pub fn draw_below(&mut self, n: u64) -> u64 {
        let scaled = (self.draw() * n as f64).floor() as u64;
        scaled.min(n.saturating_sub(1))
    }
}

/// What each element of a fill is.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Fill {
    /// One draw.
    Rand,
    /// Twelve draws.
    Randn,
    /// low + span * u.
    Uniform {
        /// The value at u = 0.
        low: f64,
        /// What u = 1 would add.
        span: f64,
    },
    /// Zero where u < rate, else kept.
    Dropout {
        /// The share of zeros.
        rate: f64,
        /// The other value.
        kept: f64,
    },
}

impl Fill {
    /// Draws an element takes.
    pub fn draws(self) -> u64 {
        match self {
            Fill::Randn => DRAWS_OF_NORMAL,
            Fill::Rand | Fill::Uniform { .. } | Fill::Dropout { .. } => 1,
        }
    }

    /// The next element in f64; the caller narrows it once.
    #[inline]
    pub fn next(self, state: &mut State) -> f64 {
        match self {
            Fill::Rand => state.draw(),
            Fill::Randn => state.draw_normal(),
            Fill::Uniform { low, span } => low + span * state.draw(),
            Fill::Dropout { rate, kept } => {
                if state.draw() < rate {
                    0.0
                } else {
                    kept
                }
            }
        }
    }

    /// Element `index` of a fill that starts from `state`.
    pub fn element(self, state: State, index: u64) -> f64 {
        self.next(&mut state.at_element(index, self.draws()))
    }

    /// The state after a fill of `length` elements.
    pub fn after(self, state: State, length: u64) -> State {
        state.at_element(length, self.draws())
    }
}

/// base^exponent mod modulus; all products stay below 2^30.
fn power(base: u32, mut exponent: u32, modulus: u32) -> u32 {
    let (mut result, mut square) = (1, base % modulus);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * square % modulus;
        }
        square = square * square % modulus;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn three(mut state: State, fill: Fill) -> [f64; 3] {
        core::array::from_fn(|_| fill.next(&mut state))
    }

    #[test]
    fn the_published_values() {
        let start = three(State::default(), Fill::Rand);
        assert_eq!(start, [0.38187736304737796, 0.7541887559666425, 0.2735246139090499]);
        let seeded = State::seeded(42);
        assert_eq!(seeded, State([27595, 3371, 8102]));
        let rand = three(seeded, Fill::Rand);
        assert_eq!(rand, [0.4472300870545973, 0.1853479743160764, 0.4876081667158268]);
        let randn = three(seeded, Fill::Randn);
        assert_eq!(randn, [0.16067638516438176, -0.4586437813254802, -1.7408178329155213]);
        let uniform = three(seeded, Fill::Uniform { low: -1.0, span: 2.0 });
        assert_eq!(uniform, [-0.10553982589080535, -0.6293040513678472, -0.024783666568346407]);
        let dropout = three(seeded, Fill::Dropout { rate: 0.44, kept: 2.0 });
        assert_eq!(dropout, [2.0, 0.0, 2.0]);
        assert_eq!(State::seeded(0), State([18240, 21899, 13396]));
    }

    #[test]
    fn states_of_a_user_are_reduced_or_refused() {
        assert_eq!(State::from_integers([100 + 30269, 200, 300 - 30323]), Some(State::default()));
        assert_eq!(State::from_integers([1, 2 * 30307, 1]), None);
        // Neither may overflow.
        let _ = (State::seeded(i128::MAX), State([u32::MAX; 3]).draw());
    }

    #[test]
    fn jumps() {
        let seeded = State::seeded(42);
        assert_eq!(seeded.jump(1000), State([4041, 1123, 2021]));
        assert_eq!(seeded.jump(12_000_000), State([11809, 19310, 15860]));
        assert_eq!(seeded.jump(6_953_607_871_644), seeded);
        let mut stepped = seeded;
        for _ in 0..1000 {
            stepped.draw();
        }
        assert_eq!(stepped, seeded.jump(1000));
    }

    #[test]
    fn an_element_is_found_by_its_jump() {
        let mut state = State::seeded(-7);
        let start = state;
        for index in 0..50 {
            assert_eq!(Fill::Randn.element(start, index), Fill::Randn.next(&mut state));
        }
        assert_eq!(Fill::Randn.after(start, 50), state);
    }

    #[test]
    fn choice_and_permutation_of_the_specification() {
        let mut state = State::seeded(42);
        let chosen: [u64; 4] = core::array::from_fn(|_| state.draw_below(60000));
        assert_eq!(chosen, [26833, 11120, 29256, 22347]);
        let mut permutation: Vec<u64> = (0..10).collect();
        let mut state = State::seeded(9);
        for i in (1..10).rev() {
            permutation.swap(i, state.draw_below(i as u64 + 1) as usize);
        }
        assert_eq!(permutation, [4, 5, 6, 2, 9, 7, 1, 0, 8, 3]);
        assert_eq!(state.draw_below(0), 0);
    }
}
