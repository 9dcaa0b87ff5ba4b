//! Decimal text to a float of any width, rounded once. The reader, packed literals and
//! `parse` functions of the library share it; which tokens are numbers is the reader's business.

use num_bigint::BigInt;
use num_traits::Pow;
use rung_base::{bf16, f16};

use super::exact;

/// The parts of a decimal number: `sign digits . digits e exponent`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decimal {
    /// A minus sign was there (minus zero is a number of its own).
    pub negative: bool,
    /// All digits, the point left out.
    pub digits: String,
    /// The value is the digits as an integer times 10 to this power.
    pub exponent: i64,
}

impl Decimal {
    /// Reads `[+-]digits[.digits][(e|s|f|d|l)[+-]digits]` with at least one digit before the
    /// exponent; gives the exponent's marker too, in lower case.
    pub fn parse(text: &str) -> Option<(Decimal, Option<char>)> {
        let (negative, rest) = match text.as_bytes().first()? {
            b'-' => (true, &text[1..]),
            b'+' => (false, &text[1..]),
            _ => (false, text),
        };
        let marker = rest.find(|c: char| "esfdlESFDL".contains(c));
        let (mantissa, power) = match marker {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}");
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        let power = power.map_or(Some(0), parse_exponent)?;
        let exponent = power.saturating_sub(fraction.len() as i64);
        let marker = marker.and_then(|at| rest[at..].chars().next());
        let decimal = Decimal { negative, digits, exponent };
        Some((decimal, marker.map(|c| c.to_ascii_lowercase())))
    }

    /// Whether all digits are 0.
    pub fn is_zero(&self) -> bool {
        self.digits.bytes().all(|digit| digit == b'0')
    }

    fn text(&self) -> String {
        let sign = if self.negative { "-" } else { "" };
        format!("{sign}{}e{}", self.digits, self.exponent)
    }

    /// The nearest double.
    pub fn to_f64(&self) -> f64 {
        self.text().parse().unwrap_or(f64::NAN)
    }

    /// The nearest single.
    pub fn to_f32(&self) -> f32 {
        self.text().parse().unwrap_or(f32::NAN)
    }

    /// The nearest bfloat16.
    pub fn to_bf16(&self) -> bf16 {
        rung_array::narrow_bf16(self.narrowable(|x| rung_array::narrow_bf16(x).to_bits()))
    }

    /// The nearest float16.
    pub fn to_f16(&self) -> f16 {
        rung_array::narrow_f16(self.narrowable(|x| rung_array::narrow_f16(x).to_bits()))
    }

    /// A double that narrows to what the decimal itself narrows to. Where the doubles on both
    /// sides narrow alike that is the nearest one; else the neighbour with an odd last bit
    /// ("round to odd"), which is never half way between two numbers of the narrow type.
    fn narrowable(&self, narrow: impl Fn(f64) -> u16) -> f64 {
        let nearest = self.to_f64();
        if nearest == 0.0 || !nearest.is_finite() {
            return nearest;
        }
        let (below, above) = (nearest.next_down(), nearest.next_up());
        if narrow(below) == narrow(above) {
            return nearest;
        }
        let other = match self.compare(nearest) {
            std::cmp::Ordering::Equal => return nearest,
            std::cmp::Ordering::Less => below,
            std::cmp::Ordering::Greater => above,
        };
        if nearest.to_bits() & 1 == 1 { nearest } else { other }
    }

    fn compare(&self, x: f64) -> std::cmp::Ordering {
        let Some((numerator, denominator)) = exact::rational(x) else {
            return std::cmp::Ordering::Equal;
        };
        let digits = self.digits.parse::<BigInt>().unwrap_or_default();
        let digits = if self.negative { -digits } else { digits };
        // Finite and not zero, so the exponent cannot be far beyond the number of digits.
        let most = self.digits.len() as u64 + 400;
        let power = BigInt::from(10).pow(self.exponent.unsigned_abs().min(most));
        if self.exponent >= 0 {
            (digits * power * denominator).cmp(&numerator)
        } else {
            (digits * denominator).cmp(&(numerator * power))
        }
    }
}

/// Exponents beyond a million are as good as a million: zero or infinity at every width.
fn parse_exponent(text: &str) -> Option<i64> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let magnitude = digits.parse::<i64>().unwrap_or(i64::MAX).min(1_000_000_000);
    Some(if text.starts_with('-') { -magnitude } else { magnitude })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Decimal {
        Decimal::parse(text).unwrap().0
    }

    #[test]
    fn parts_of_a_decimal() {
        assert_eq!(Decimal::parse("-1.50d-3").unwrap().1, Some('d'));
        assert_eq!(read("-1.50d-3").to_f64(), -0.0015);
        assert_eq!(read(".5").to_f64(), 0.5);
        assert_eq!(read("1e400").to_f64(), f64::INFINITY);
        assert_eq!(read("0e99999999999999999999").to_f64(), 0.0);
        assert_eq!(read("-0.0").to_f64().to_bits(), (-0.0f64).to_bits());
        for wrong in ["", "-", ".", "e5", "1e", "1e+", "1x", "1.2.3", "1e5.0"] {
            assert_eq!(Decimal::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn singles_are_rounded_once() {
        // Just above half way between 1 and the next single; a double in between loses that.
        assert_eq!(read("1.000000059604644775390625000001").to_f32().to_bits(), 0x3F80_0001);
        assert_eq!(read("1.000000059604644775390625").to_f32().to_bits(), 0x3F80_0000);
    }

    #[test]
    fn half_widths_are_rounded_once() {
        // Half way between 1 and 1.0078125, then a trace above.
        assert_eq!(read("1.00390625").to_bf16().to_f32(), 1.0);
        assert_eq!(read("1.003906250000000000000000000001").to_bf16().to_f32(), 1.0078125);
        assert_eq!(read("-1.003906250000000000000000000001").to_bf16().to_f32(), -1.0078125);
        assert_eq!(read("1.01171874999999999999999999999").to_bf16().to_f32(), 1.0078125);
        assert_eq!(read("1.00048828125").to_f16().to_f32(), 1.0);
        assert_eq!(read("1.0004882812500000000000000000001").to_f16().to_f64(), 1.0009765625);
        assert_eq!(read("65520").to_f16().to_f32(), f32::INFINITY);
        assert_eq!(read("65519.99999999999999999999999").to_f16().to_f32(), 65504.0);
    }
}
