//! Stratified arguments: no distribution that a program would draw from reaches the places where a
//! definition can fail. Every argument follows from its number alone, so a run can be repeated, cut
//! in parts and given to any number of threads.

use rung_math::Width;

/// A sequence of random words from a number (SplitMix64, Steele, Lea and Flood 2014).
pub struct Words(u64);

impl Words {
    pub fn new(number: u64) -> Words {
        Words(number.wrapping_mul(0xD134_2543_DE82_EF95) ^ 0x2545_F491_4F6C_DD1D)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        word ^ (word >> 31)
    }

    /// A whole number below `end`.
    fn below(&mut self, end: u64) -> u64 {
        ((self.next() as u128 * end as u128) >> 64) as u64
    }

    fn sign(&mut self) -> f64 {
        if self.next() >> 63 == 1 { -1.0 } else { 1.0 }
    }
}

const SPECIALS: [f64; 12] = [
    0.0,
    1.0,
    0.5,
    2.0,
    f64::INFINITY,
    f64::NAN,
    5e-324,
    2.2250738585072014e-308,
    f64::MAX,
    1e-45,
    1.1754943508222875e-38,
    3.4028234663852886e38,
];

/// Argument number `i`: over eight strata, all exponents, those near 1, uniform numbers, the
/// neighbourhoods of `thresholds`, of multiples of pi / 2 however large, and of whole numbers.
pub fn argument(i: u64, thresholds: &[f64], width: Width) -> f64 {
    let mut words = Words::new(i);
    let sign = words.sign();
    let x = match i % 8 {
        _ if i < 8 * SPECIALS.len() as u64 => SPECIALS[(i / 8) as usize],
        0 | 1 => exponent_between(&mut words, width, -1074, 1023),
        2 | 3 => exponent_between(&mut words, width, -40, 11),
        4 => (words.next() >> 11) as f64 * 2.0_f64.powi(-53) * 32.0,
        5 => near(thresholds[words.below(thresholds.len() as u64) as usize], &mut words),
        6 => {
            let bits = words.below(40);
            let k = words.below(1 << bits) + 1;
            near(k as f64 * std::f64::consts::FRAC_PI_2, &mut words)
        }
        _ => {
            let k = words.below(1100) as f64;
            near(k, &mut words)
        }
    };
    narrowed(x * sign, width)
}

/// A random exponent between these, cut to those of the width, and random places.
fn exponent_between(words: &mut Words, width: Width, low: i32, high: i32) -> f64 {
    let (low, high) = match width {
        Width::F32 => (low.max(-149), high.min(127)),
        Width::F64 => (low, high),
    };
    let exponent = low + words.below((high - low + 1) as u64) as i32;
    let places = 1.0 + (words.next() >> 12) as f64 * 2.0_f64.powi(-52);
    places * 2.0_f64.powi(exponent / 2) * 2.0_f64.powi(exponent - exponent / 2)
}

/// A number whose distance from x is any power of two from x itself to an ulp; often x itself.
fn near(x: f64, words: &mut Words) -> f64 {
    let places = words.below(54);
    let offset = (words.next() >> 11) >> places;
    let offset = if places == 53 { 0 } else { offset };
    let signed = if words.next() >> 63 == 1 { -(offset as f64) } else { offset as f64 };
    x + x * signed * 2.0_f64.powi(-53)
}

fn narrowed(x: f64, width: Width) -> f64 {
    match width {
        Width::F32 => x as f32 as f64,
        Width::F64 => x,
    }
}

/// Pair number `i`: independent ones, equal and nearly equal sizes, powers near the ends of the
/// range, and bases near 1 with large exponents.
pub fn pair(i: u64, width: Width) -> (f64, f64) {
    let mut words = Words::new(i ^ 0x5555_5555);
    let first = argument(words.next() >> 8, &[1.0, 2.0, 0.5], width);
    let second = argument(words.next() >> 8, &[1.0, 2.0, 0.5], width);
    let end = match width {
        Width::F32 => 89.0,
        Width::F64 => 710.0,
    };
    let (x, y) = match i % 8 {
        0 => (first, second),
        // Both of about one size: the diagonal of an angle, a length without a short side.
        1 | 2 => {
            let x = exponent_between(&mut words, width, -1000, 1000) * words.sign();
            (x, near(x, &mut words) * words.sign())
        }
        3 => {
            let x = exponent_between(&mut words, width, -30, 30) * words.sign();
            (x, exponent_between(&mut words, width, -30, 30) * words.sign())
        }
        // |y log x| up to the end of the range.
        4 | 5 => {
            let x = narrowed(exponent_between(&mut words, width, -1000, 1000), width);
            let share = (words.next() >> 11) as f64 * 2.0_f64.powi(-53) * 1.06 * words.sign();
            (x, share * end / x.ln())
        }
        6 => {
            let x = narrowed(near(1.0, &mut words), width);
            let share = (words.next() >> 11) as f64 * 2.0_f64.powi(-53) * words.sign();
            (x, share * end / (x - 1.0 + 1e-300))
        }
        // Small whole and half exponents.
        _ => (first, words.below(80) as f64 * 0.5 * words.sign()),
    };
    (narrowed(x, width), narrowed(y, width))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strata_reach_what_they_are_for() {
        let all: Vec<f64> = (0..100_000).map(|i| argument(i, &[20.0], Width::F64)).collect();
        assert!(all.iter().any(|x| x.is_nan()) && all.iter().any(|x| x.is_subnormal()));
        assert!(all.contains(&20.0) && all.contains(&-20.0_f64.next_up()));
        assert!(all.iter().filter(|x| x.abs() > 1e200).count() > 2000);
        let singles = (0..10_000).map(|i| argument(i, &[20.0], Width::F32));
        assert!(singles.filter(|x| !x.is_nan()).all(|x| x as f32 as f64 == x));
    }

    #[test]
    fn pairs_reach_both_ends_of_powers() {
        let powers = (0..10_000).map(|i| pair(i, Width::F64)).map(|(x, y)| x.powf(y));
        let powers: Vec<f64> = powers.collect();
        assert!(powers.iter().filter(|p| p.is_infinite()).count() > 100);
        assert!(powers.iter().filter(|p| p.is_subnormal()).count() > 20);
        assert!(powers.iter().filter(|p| **p > 1e290 && p.is_finite()).count() > 50);
    }
}
