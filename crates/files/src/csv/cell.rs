//! Reading one field as a number of some element type, and keeping a column of them.

use super::{Column, ColumnType};
use rung_array::{Array, narrow_bf16, narrow_f16};
use rung_base::{Bool, Element, ElementType, Error, ErrorKind, Result, bf16, f16, with_element};

/// What a double column wants, in words.
pub const NUMBER: &str = "number";

/// A column that is being read.
pub trait Builder {
    /// Takes the next field; false when it is no value of this column.
    fn push(&mut self, field: &str) -> bool;
    /// What a field must be, for messages.
    fn wanted(&self) -> &'static str;
    fn finish(self: Box<Self>) -> Result<Column>;
}

pub fn builder(kind: ColumnType, missing: f64) -> Result<Box<dyn Builder>> {
    Ok(match kind {
        ColumnType::Words => Box::new(Words::default()),
        ColumnType::Any => Box::new(Numbers::<f64>::new(missing)?),
        ColumnType::Numbers(element_type) => {
            with_element!(element_type, T => Box::new(Numbers::<T>::new(missing)?))
        }
    })
}

/// A column of texts.
#[derive(Default)]
pub struct Words(Vec<String>);

impl Builder for Words {
    fn push(&mut self, field: &str) -> bool {
        self.0.push(field.to_string());
        true
    }

    fn wanted(&self) -> &'static str {
        "text"
    }

    fn finish(self: Box<Self>) -> Result<Column> {
        Ok(Column::Words(self.0))
    }
}

/// A column, or a matrix, of numbers.
pub struct Numbers<T> {
    pub cells: Vec<T>,
    /// For an empty field; `None` where the element type has no such value.
    missing: Option<T>,
}

impl<T: Cell> Numbers<T> {
    /// Fails when `missing` is a number that `T` does not hold; NaN, the default, is then none.
    pub fn new(missing: f64) -> Result<Numbers<T>> {
        let value = T::of_number(missing);
        if value.is_none() && !missing.is_nan() {
            let text =
                format!("missing value does not fit: {missing:?} in {}", T::TYPE.lisp_name());
            return Err(Error::new(ErrorKind::Argument, text));
        }
        Ok(Numbers { cells: Vec::new(), missing: value })
    }
}

impl<T: Cell> Builder for Numbers<T> {
    #[inline]
    fn push(&mut self, field: &str) -> bool {
        let value = if field.is_empty() { self.missing } else { T::parse(field) };
        match value {
            Some(value) => {
                self.cells.push(value);
                true
            }
            None => false,
        }
    }

    fn wanted(&self) -> &'static str {
        if T::TYPE == ElementType::F64 { NUMBER } else { T::TYPE.lisp_name() }
    }

    fn finish(self: Box<Self>) -> Result<Column> {
        Ok(Column::Numbers(Array::vector(&self.cells)?))
    }
}

/// An element that is read from text.
pub trait Cell: Element {
    fn parse(field: &str) -> Option<Self>;
    /// The value that is exactly this number, or its rounding for floats.
    fn of_number(number: f64) -> Option<Self>;
}

macro_rules! floats {
    ($($t:ty: $parse:expr, $narrow:expr;)*) => {
        $(impl Cell for $t {
            #[inline]
            fn parse(field: &str) -> Option<$t> {
                $parse(field)
            }
            fn of_number(number: f64) -> Option<$t> {
                Some($narrow(number))
            }
        })*
    };
}

/// The double nearest to a decimal number.
#[inline]
fn double(field: &str) -> Option<f64> {
    plain_decimal(field.as_bytes()).or_else(|| field.parse().ok())
}

/// Digits with or without a point, as most fields are: the double nearest to them, by half the
/// instructions of `str::parse`. `None` for anything else.
#[inline]
fn plain_decimal(field: &[u8]) -> Option<f64> {
    let (sign, digits) = match field {
        [b'-', digits @ ..] => (-1.0, digits),
        digits => (1.0, digits),
    };
    // 19 digits are below 2^64.
    if digits.len() > 20 {
        return None;
    }
    let (mut whole, mut count, mut point) = (0u64, 0, None);
    for (i, &byte) in digits.iter().enumerate() {
        let digit = byte.wrapping_sub(b'0');
        if digit < 10 {
            whole = whole.wrapping_mul(10).wrapping_add(digit.into());
            count += 1;
        } else if byte == b'.' && point.is_none() {
            point = Some(i);
        } else {
            return None;
        }
    }
    if count == 0 || count > 19 {
        return None;
    }
    let places = point.map_or(0, |i| digits.len() - 1 - i);
    Some(sign * over_power_of_ten(whole, places))
}

/// `whole / 10^places` for at most 19 places, rounded once.
#[inline]
fn over_power_of_ten(whole: u64, places: usize) -> f64 {
    // Both are exact doubles, so their quotient is rounded once (Clinger, 1990).
    if whole < 1 << 53 {
        return whole as f64 / POWERS_OF_TEN[places];
    }
    // 10^p is 5^p * 2^p. Both sides shifted up to their 64th bit, the quotient has 63 or 64 bits:
    // more than the 53 that stay and the one that decides, so the remainder only breaks a tie.
    let five = POWERS_OF_FIVE[places];
    let (up, down) = (whole.leading_zeros(), five.leading_zeros());
    let (numerator, divisor) = (u128::from(whole << up) << 63, u128::from(five << down));
    let quotient = (numerator / divisor) as u64 | u64::from(numerator % divisor != 0);
    // From 2^-145 up, so a power of two by its bits alone.
    let exponent = i64::from(down) - i64::from(up) - 63 - places as i64;
    quotient as f64 * f64::from_bits(((1023 + exponent) as u64) << 52)
}

/// 10^0 to 10^19, all exact.
const POWERS_OF_TEN: [f64; 20] = {
    let (mut powers, mut i) = ([1.0; 20], 1);
    while i < 20 {
        powers[i] = powers[i - 1] * 10.0;
        i += 1;
    }
    powers
};

const POWERS_OF_FIVE: [u64; 20] = {
    let (mut powers, mut i) = ([1; 20], 1);
    while i < 20 {
        powers[i] = powers[i - 1] * 5;
        i += 1;
    }
    powers
};

floats! {
    f64: double, |x| x;
    // Straight from the text: by way of a double it would round twice.
    f32: |field: &str| field.parse().ok(), |x| x as f32;
    bf16: |field| double(field).map(narrow_bf16), narrow_bf16;
    f16: |field| double(field).map(narrow_f16), narrow_f16;
}

/// A whole number, also when it is written as a float (`3.0`, `1e3`).
fn whole(field: &str) -> Option<i64> {
    field.parse().ok().or_else(|| whole_of(double(field)?))
}

/// The integer that a double is. 2^63 itself is one too large.
fn whole_of(x: f64) -> Option<i64> {
    let limit = -(i64::MIN as f64);
    (x.trunc() == x && (-limit..limit).contains(&x)).then_some(x as i64)
}

macro_rules! integers {
    ($($t:ty),*) => {
        $(impl Cell for $t {
            #[inline]
            fn parse(field: &str) -> Option<$t> {
                whole(field)?.try_into().ok()
            }
            fn of_number(number: f64) -> Option<$t> {
                whole_of(number)?.try_into().ok()
            }
        })*
    };
}
integers!(i64, i32, u8);

impl Cell for Bool {
    fn parse(field: &str) -> Option<Bool> {
        let truth = |name: &str| field.eq_ignore_ascii_case(name);
        match field {
            "0" => Some(Bool::FALSE),
            "1" => Some(Bool::TRUE),
            _ if truth("true") => Some(Bool::TRUE),
            _ if truth("false") => Some(Bool::FALSE),
            _ => Bool::of_number(double(field)?),
        }
    }

    fn of_number(number: f64) -> Option<Bool> {
        match number {
            0.0 => Some(Bool::FALSE),
            1.0 => Some(Bool::TRUE),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_exact_and_floats_round_once() {
        assert_eq!(i64::parse("9007199254740993"), Some(9_007_199_254_740_993));
        assert_eq!(i64::parse("9223372036854775808"), None);
        assert_eq!(i32::parse("1e3"), Some(1000));
        assert_eq!((u8::parse("256"), u8::parse("2.5"), u8::parse("-1")), (None, None, None));
        // The nearest double lies on the midpoint of two floats, whose even one is below.
        assert_eq!(f32::parse("1.00000005960464477540"), Some(1.000_000_1));
        assert_eq!(Bool::parse("TRUE"), Some(Bool::TRUE));
        assert_eq!(Bool::parse("2"), None);
        assert!(f64::parse("nan").is_some_and(f64::is_nan));
    }

    /// Against the standard library's own reading, which is correctly rounded.
    #[test]
    fn plain_decimals_are_the_nearest_doubles() {
        let mut state = 20_261_130u64;
        println!("seed {state}");
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            state >> 11
        };
        for _ in 0..300_000 {
            // 1 to 19 digits, with the point anywhere; every fourth near a tie of two doubles.
            let mut digits = (u128::from(next()) << 20 | u128::from(next() & 0xfffff)) as u64 | 1;
            if next() % 4 == 0 {
                digits = (next() | 1 << 52) * 2 + 1;
            }
            let text = format!("{digits}");
            let text = &text[..(1 + next() as usize % 19).min(text.len())];
            let point = next() as usize % (text.len() + 1);
            let text = format!("-{}.{}", &text[..point], &text[point..]);
            let wanted: f64 = text.parse().unwrap();
            let found = plain_decimal(text.as_bytes()).unwrap();
            assert_eq!(found.to_bits(), wanted.to_bits(), "{text}");
        }
        for (text, wanted) in [("-0", -0.0f64), ("0.", 0.0), (".5", 0.5), ("007", 7.0)] {
            assert_eq!(plain_decimal(text.as_bytes()).map(f64::to_bits), Some(wanted.to_bits()));
        }
        for text in ["", "-", ".", "-.", "1e5", "1.2.3", "+1", "nan", "99999999999999999999", "1 "]
        {
            assert_eq!(plain_decimal(text.as_bytes()), None, "{text}");
        }
        let largest = "9999999999999999999";
        assert_eq!(plain_decimal(largest.as_bytes()), largest.parse().ok());
    }

    #[test]
    fn a_missing_value_must_fit() {
        assert!(Numbers::<u8>::new(f64::NAN).is_ok_and(|mut n| !n.push("")));
        assert!(Numbers::<u8>::new(0.0).is_ok_and(|mut n| n.push("")));
        let e = Numbers::<u8>::new(-1.0).err().unwrap();
        assert_eq!(e.message(), "missing value does not fit: -1.0 in (unsigned-byte 8)");
    }
}
