//! How far a result is from the true value, in units in the last place (ulp) of a float of the
//! true value's size; subnormal values have the ulp of the smallest normal one. 0.5 is correct
//! rounding. A result that no distance describes (NaN, a pole, a sign) is either right or wrong.

use super::double::{Double, Value};
use rung_math::Width;

/// What a result should be.
#[derive(Clone, Copy, Debug)]
pub enum Expected {
    /// These very bits, as f64; NaN stands for the canonical one of the width.
    Special(f64),
    Near(Value),
}

/// What a comparison of many results found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Worst {
    pub error: f64,
    /// The bits of the arguments of the worst result; the smallest among equals.
    pub at: Vec<u64>,
    pub inputs: u64,
    /// Results that had to be one special value and were not.
    pub wrong: u64,
    /// The first of those.
    pub wrong_at: Vec<u64>,
    /// Results in which lanes and scalar differ.
    pub differ: u64,
}

impl Worst {
    /// Takes in a result: its error, None where it is wrong.
    pub fn note(&mut self, error: Option<f64>, at: &[u64]) {
        self.inputs += 1;
        match error {
            Some(error) if error > self.error => {
                self.error = error;
                self.at = at.to_vec();
            }
            Some(_) => {}
            None => {
                self.wrong += 1;
                if self.wrong_at.is_empty() {
                    self.wrong_at = at.to_vec();
                }
            }
        }
    }

    /// Takes in what another part found.
    pub fn join(&mut self, other: Worst) {
        let further = other.error > self.error;
        if further || other.error == self.error && other.at < self.at && !other.at.is_empty() {
            (self.error, self.at) = (other.error, other.at);
        }
        if self.wrong_at.is_empty() || !other.wrong_at.is_empty() && other.wrong_at < self.wrong_at
        {
            self.wrong_at = other.wrong_at;
        }
        self.inputs += other.inputs;
        self.wrong += other.wrong;
        self.differ += other.differ;
    }
}

/// The bits of a float of this width as a number.
pub fn number(bits: u64, width: Width) -> f64 {
    match width {
        Width::F32 => f32::from_bits(bits as u32) as f64,
        Width::F64 => f64::from_bits(bits),
    }
}

fn bits(number: f64, width: Width) -> u64 {
    match width {
        Width::F32 if number.is_nan() => 0x7FC0_0000,
        Width::F32 => (number as f32).to_bits() as u64,
        Width::F64 if number.is_nan() => 0x7FF8 << 48,
        Width::F64 => number.to_bits(),
    }
}

/// The error of the result with these bits; None where it is wrong.
pub fn error_of(got: u64, expected: Expected, width: Width) -> Option<f64> {
    let value = match expected {
        Expected::Special(special) => return (got == bits(special, width)).then_some(0.0),
        Expected::Near(value) => value.normalised(),
    };
    let got = number(got, width);
    if got.is_nan() || got.is_sign_negative() != value.number.high.is_sign_negative() {
        return None;
    }
    let (places, lowest, highest) = match width {
        Width::F32 => (23, -126, 127),
        Width::F64 => (52, -1022, 1023),
    };
    let magnitude = value.number.abs();
    if got.is_infinite() {
        // Infinity stands for 2^(highest + 1), and is right from half an ulp below it.
        let below = magnitude.scaled((value.exponent - highest).clamp(-2, 1)) - Double::from(2.0);
        let error = -below.high * 2.0_f64.powi(places);
        return Some(if error <= 0.5 { 0.0 } else { error });
    }
    let ulp = value.exponent.clamp(lowest, highest) - places;
    if value.exponent < ulp - 60 {
        return Some(times_power(got.abs(), -ulp));
    }
    let difference = Double::from(times_power(got.abs(), -value.exponent)) - magnitude;
    Some(times_power(difference.high.abs(), value.exponent - ulp))
}

/// x 2^n in three steps, each with a normal power.
fn times_power(x: f64, n: i32) -> f64 {
    let third = n / 3;
    x * 2.0_f64.powi(third) * 2.0_f64.powi(third) * 2.0_f64.powi(n - 2 * third)
}

/// The same for an f32 beside a true value known as an f64, fast.
#[inline(always)]
pub fn single_error(got: f32, exact: f64) -> Option<f64> {
    if exact.is_nan() {
        return (got.to_bits() == 0x7FC0_0000).then_some(0.0);
    }
    if exact.is_infinite() || exact == 0.0 {
        return (got.to_bits() == (exact as f32).to_bits()).then_some(0.0);
    }
    if got.is_nan() || got.is_sign_negative() != exact.is_sign_negative() {
        return None;
    }
    if got.is_infinite() {
        let error = (2.0_f64.powi(128) - exact.abs()) * 2.0_f64.powi(-104);
        return Some(if error <= 0.5 { 0.0 } else { error });
    }
    let field = ((exact.to_bits() >> 52) & 0x7FF).clamp(1023 - 126, 1023 + 127);
    let inverse = f64::from_bits((2046 + 23 - field) << 52);
    Some((got as f64 - exact).abs() * inverse)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(number: f64, exponent: i32) -> Expected {
        Expected::Near(Value { number: Double::from(number), exponent })
    }

    #[test]
    fn errors_count_in_last_places() {
        let error = |got: f64, expected| error_of(got.to_bits(), expected, Width::F64);
        assert_eq!(error(1.0, near(1.0 + 2.0_f64.powi(-52), 0)), Some(1.0));
        assert_eq!(error(0.0, near(1.0, -1075)), Some(0.5));
        assert_eq!(error(5e-324, near(1.5, -1074)), Some(0.5));
        assert_eq!(error(0.0, near(1.0, -3000)), Some(0.0));
        assert_eq!(error(f64::INFINITY, near(1.5, 1024)), Some(0.0));
        assert_eq!(error(f64::MAX, near(1.0, 1024)), Some(1.0));
        assert_eq!(error(f64::INFINITY, near(1.0, 1023)), Some(2.0_f64.powi(52)));
        assert_eq!(error(-0.0, near(1.0, -3000)), None);
        assert_eq!(error(f64::NAN, Expected::Special(f64::NAN)), Some(0.0));
        assert_eq!(error(-f64::NAN, Expected::Special(f64::NAN)), None);
    }

    #[test]
    fn the_fast_error_of_singles_is_the_same() {
        let cases = [(1.0_f32, 1.0000001), (1e-45, 2e-45), (f32::INFINITY, 3.5e38), (2.5, 2.6)];
        for (got, exact) in cases {
            let slow = error_of(got.to_bits() as u64, near(exact, 0), Width::F32);
            let (slow, fast) = (slow.unwrap(), single_error(got, exact).unwrap());
            assert!((slow - fast).abs() <= 1e-6 * slow, "{got} {exact}: {slow} {fast}");
        }
        assert_eq!(single_error(-0.0, 0.0), None);
        assert_eq!(single_error(0.0, 1e-300), Some(1e-300 * 2.0_f64.powi(149)));
    }

    #[test]
    fn the_worst_of_two_parts() {
        let mut one = Worst::default();
        one.note(Some(0.5), &[7]);
        one.note(None, &[9]);
        let mut two = Worst::default();
        two.note(Some(0.75), &[8]);
        one.join(two);
        assert_eq!((one.error, one.at, one.inputs, one.wrong), (0.75, vec![8], 3, 1));
    }
}
