//! Floats as text: the shortest digits that read back at the number's own width, and exact
//! digits for `format`. Only digits and layout; which marker a number gets is in `printer`.

use rung_base::{bf16, f16};

/// Decimal digits and the place of the point: the value is 0.d1d2d3... times 10 to `point`.
/// Zero is one digit 0 with the point after it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Digits {
    /// The digits, without zeros in front; at least one.
    pub digits: String,
    /// How many of them stand before the decimal point.
    pub point: i64,
}

impl Digits {
    /// From what `{:e}` prints of a number that is not negative.
    fn from_scientific(text: &str) -> Digits {
        let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
        let mut digits = mantissa.to_string();
        digits.retain(|c| c != '.');
        Digits { digits, point: exponent.parse::<i64>().unwrap_or(0) + 1 }
    }

    /// The shortest digits that read back as this double.
    pub fn of_double(x: f64) -> Digits {
        Digits::from_scientific(&format!("{:e}", x.abs()))
    }

    /// The shortest digits that read back as this single.
    pub fn of_single(x: f32) -> Digits {
        Digits::from_scientific(&format!("{:e}", x.abs()))
    }

    /// The shortest digits that read back as this bfloat16.
    pub fn of_bf16(x: bf16) -> Digits {
        Digits::narrow(x.to_f64().abs(), |x| rung_array::narrow_bf16(x).to_f64())
    }

    /// The shortest digits that read back as this float16.
    pub fn of_f16(x: f16) -> Digits {
        Digits::narrow(x.to_f64().abs(), |x| rung_array::narrow_f16(x).to_f64())
    }

    /// Tries one digit, two digits, ...; five are enough for 11 bits. Just above a power of two
    /// the nearest decimal may read as the neighbour, so the next ones are tried too.
    fn narrow(x: f64, read: impl Fn(f64) -> f64) -> Digits {
        for places in 0..6 {
            let text = format!("{x:.places$e}");
            let nearest = Digits::from_scientific(&text);
            let Ok(number) = nearest.digits.parse::<i64>() else { break };
            for candidate in [number, number + 1, number - 1] {
                let power = nearest.point - nearest.digits.len() as i64;
                let text = format!("{candidate}e{power}");
                // Five digits and a power of ten are near enough to the decimal they stand for.
                if text.parse().is_ok_and(|y| read(y) == x) {
                    let digits = candidate.to_string();
                    let point = power + digits.len() as i64;
                    return Digits { digits, point }.without_zeros();
                }
            }
        }
        Digits::of_double(x)
    }

    fn without_zeros(mut self) -> Digits {
        while self.digits.len() > 1 && self.digits.ends_with('0') {
            self.digits.pop();
        }
        self
    }

    /// Whether the number is zero.
    pub fn is_zero(&self) -> bool {
        self.digits == "0"
    }

    /// `ddd.ddd`, at least one digit on both sides.
    pub fn fixed(&self) -> String {
        let count = self.digits.len() as i64;
        if self.point <= 0 {
            let zeros = "0".repeat((-self.point) as usize);
            format!("0.{zeros}{}", self.digits)
        } else if self.point >= count {
            let zeros = "0".repeat((self.point - count) as usize);
            format!("{}{zeros}.0", self.digits)
        } else {
            let (whole, fraction) = self.digits.split_at(self.point as usize);
            format!("{whole}.{fraction}")
        }
    }

    /// Whether the printer writes it as `fixed`: 1e-3 <= x < 1e7, and zero.
    pub fn is_plain(&self) -> bool {
        self.is_zero() || (-2..=7).contains(&self.point)
    }

    /// As the printer writes it; `marker` stands before the exponent, and `plain_marker` is what
    /// a fixed number of a type other than the default ends in.
    pub fn printed(&self, marker: char, plain_marker: Option<char>) -> String {
        if self.is_plain() {
            let fixed = self.fixed();
            return match plain_marker {
                Some(marker) => format!("{fixed}{marker}0"),
                None => fixed,
            };
        }
        let (first, rest) = self.digits.split_at(1);
        let rest = if rest.is_empty() { "0" } else { rest };
        format!("{first}.{rest}{marker}{}", self.point - 1)
    }
}

/// `nan`, `inf` or `-inf`; none for finite numbers.
pub fn special(x: f64) -> Option<&'static str> {
    match x {
        x if x.is_nan() => Some("nan"),
        f64::INFINITY => Some("inf"),
        f64::NEG_INFINITY => Some("-inf"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layout_follows_the_size() {
        let printed = |x: f64| Digits::of_double(x).printed('e', None);
        assert_eq!(printed(0.0), "0.0");
        assert_eq!(printed(1.5), "1.5");
        assert_eq!(printed(100.0), "100.0");
        assert_eq!(printed(0.001), "0.001");
        assert_eq!(printed(0.0009999), "9.999e-4");
        assert_eq!(printed(9999999.0), "9999999.0");
        assert_eq!(printed(1e7), "1.0e7");
        assert_eq!(printed(1e10), "1.0e10");
        assert_eq!(printed(1.2345e-20), "1.2345e-20");
        assert_eq!(printed(5e-324), "5.0e-324");
        assert_eq!(Digits::of_single(1.5).printed('f', Some('f')), "1.5f0");
        assert_eq!(Digits::of_single(1e10).printed('f', Some('f')), "1.0f10");
    }

    #[test]
    fn every_half_width_number_reads_back() {
        for bits in 0..=u16::MAX {
            let x = f16::from_bits(bits);
            if x.to_f64().is_finite() && !x.is_sign_negative() {
                let text = Digits::of_f16(x).fixed();
                let decimal = crate::numbers::decimal::Decimal::parse(&text).unwrap().0;
                assert_eq!(decimal.to_f16().to_bits(), bits, "{text}");
            }
            let x = bf16::from_bits(bits);
            if x.to_f64().is_finite() && !x.is_sign_negative() && bits % 7 == 0 {
                let text = Digits::of_bf16(x).fixed();
                let decimal = crate::numbers::decimal::Decimal::parse(&text).unwrap().0;
                assert_eq!(decimal.to_bf16().to_bits(), bits, "{text}");
            }
        }
        assert_eq!(Digits::of_bf16(bf16::from_f64(0.1)).fixed(), "0.1");
        assert_eq!(Digits::of_bf16(bf16::from_f64(3.140625)).fixed(), "3.14");
        assert_eq!(Digits::of_f16(f16::from_f64(65504.0)).fixed(), "65500.0");
    }
}
