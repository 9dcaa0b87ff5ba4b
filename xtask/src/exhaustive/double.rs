//! Numbers as an unevaluated sum of two f64, right to about 2^-102: the arithmetic of the reference
//! for f64. It shares no text with crate `math`: products use the fused multiply-add of the host,
//! which the definitions never do. Parts must stay clear of overflow and underflow; `Value` carries
//! a power of two beside the number for results that do not.

use std::f64::consts;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// high + low, |low| at most half an ulp of high.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Double {
    pub high: f64,
    pub low: f64,
}

pub const ZERO: Double = Double { high: 0.0, low: 0.0 };
pub const ONE: Double = Double { high: 1.0, low: 0.0 };
// Printed by benches/lab/coefficients/reference.py.
pub const LN_2: Double = Double { high: consts::LN_2, low: 2.3190468138462996e-17 };
pub const HALF_PI: Double = Double { high: consts::FRAC_PI_2, low: 6.123233995736766e-17 };
pub const LOG2_E: Double = Double { high: consts::LOG2_E, low: 2.0355273740931033e-17 };
pub const LOG10_E: Double = Double { high: consts::LOG10_E, low: 1.098319650216765e-17 };
pub const TWO_OVER_ROOT_PI: Double =
    Double { high: consts::FRAC_2_SQRT_PI, low: 1.533545961316588e-17 };

impl Double {
    /// The sum of two numbers of any size, exactly.
    pub fn sum(a: f64, b: f64) -> Double {
        let high = a + b;
        let added = high - a;
        Double { high, low: (a - (high - added)) + (b - added) }
    }

    /// The product of two numbers, exactly.
    pub fn product(a: f64, b: f64) -> Double {
        let high = a * b;
        Double { high, low: a.mul_add(b, -high) }
    }

    /// The same number with the parts apart again.
    fn settled(self) -> Double {
        let high = self.high + self.low;
        Double { high, low: self.low - (high - self.high) }
    }

    /// Times a power of two.
    pub fn scaled(self, exponent: i32) -> Double {
        let power = power_of_two(exponent);
        Double { high: self.high * power, low: self.low * power }
    }

    pub fn square(self) -> Double {
        self * self
    }

    /// The square root of a number that is not negative.
    pub fn root(self) -> Double {
        if self.high == 0.0 {
            return ZERO;
        }
        let root = self.high.sqrt();
        let rest = self - Double::product(root, root);
        Double { high: root, low: rest.high / (2.0 * root) }.settled()
    }

    pub fn abs(self) -> Double {
        if self.high < 0.0 { -self } else { self }
    }
}

/// 2^n for a normal power.
pub fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

impl From<f64> for Double {
    fn from(high: f64) -> Double {
        Double { high, low: 0.0 }
    }
}

impl Neg for Double {
    type Output = Double;
    fn neg(self) -> Double {
        Double { high: -self.high, low: -self.low }
    }
}

impl Add for Double {
    type Output = Double;
    fn add(self, other: Double) -> Double {
        let high = Double::sum(self.high, other.high);
        let low = Double::sum(self.low, other.low);
        let once = Double { high: high.high, low: high.low + low.high }.settled();
        Double { high: once.high, low: once.low + low.low }.settled()
    }
}

impl Sub for Double {
    type Output = Double;
    fn sub(self, other: Double) -> Double {
        self + -other
    }
}

impl Mul for Double {
    type Output = Double;
    fn mul(self, other: Double) -> Double {
        let product = Double::product(self.high, other.high);
        let cross = self.high.mul_add(other.low, self.low * other.high);
        Double { high: product.high, low: product.low + cross }.settled()
    }
}

impl Div for Double {
    type Output = Double;
    fn div(self, other: Double) -> Double {
        let first = self.high / other.high;
        let rest = self - other * Double::from(first);
        let second = rest.high / other.high;
        let rest = rest - other * Double::from(second);
        let third = rest.high / other.high;
        Double::sum(first, second) + Double::from(third)
    }
}

/// number * 2^exponent.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    pub number: Double,
    pub exponent: i32,
}

impl From<Double> for Value {
    fn from(number: Double) -> Value {
        Value { number, exponent: 0 }
    }
}

impl Value {
    /// The same with the number's magnitude in [1, 2), or 0.
    pub fn normalised(self) -> Value {
        let high = self.number.high;
        if high == 0.0 {
            return self;
        }
        let shift = exponent_of(high);
        // Two steps, because a power beyond the normal ones may be needed.
        let half = shift / 2;
        let mut number = self.number.scaled(-half).scaled(half - shift);
        let mut exponent = self.exponent + shift;
        // high = 1 with a negative low is below 1.
        if number.high.abs() == 1.0 && number.low * number.high < 0.0 {
            number = number.scaled(1);
            exponent -= 1;
        }
        Value { number, exponent }
    }
}

/// floor(log2 |x|) of a finite number that is not zero.
pub fn exponent_of(x: f64) -> i32 {
    let bits = x.to_bits() & (u64::MAX >> 1);
    match bits >> 52 {
        0 => 63 - bits.leading_zeros() as i32 - 1074,
        field => field as i32 - 1023,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_and_roots_multiply_back() {
        let third = ONE / Double::from(3.0);
        let back = third * Double::from(3.0) - ONE;
        assert!(back.high.abs() < 1e-31, "{back:?}");
        let two = Double::from(2.0).root().square() - Double::from(2.0);
        assert!(two.high.abs() < 1e-30, "{two:?}");
    }

    #[test]
    fn values_settle_between_one_and_two() {
        let value = Value { number: Double { high: 1.0, low: -1e-20 }, exponent: 5 }.normalised();
        assert_eq!((value.number.high, value.exponent), (2.0, 4));
        assert_eq!(exponent_of(5e-324), -1074);
        assert_eq!(exponent_of(-1.5), 0);
        let tiny = Value::from(Double::from(5e-324)).normalised();
        assert_eq!((tiny.number.high, tiny.exponent), (1.0, -1074));
    }
}
