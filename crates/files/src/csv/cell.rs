//! Reading one field as a number of some element type, and keeping a column of them.

use super::scan::word;
use super::{Column, ColumnType};
use rung_array::{Array, narrow_bf16, narrow_f16};
use rung_base::{Bool, Element, Error, ErrorKind, Result, bf16, f16, memory, with_element};

/// A column that is being read.
pub trait Builder {
    /// Takes the next field; false when it is no value of this column.
    fn push(&mut self, field: &[u8]) -> bool;
    fn finish(self: Box<Self>) -> Result<Column>;
}

/// Doubles, as most columns are, are pushed without asking a table of functions which.
pub enum Building {
    Doubles(Box<Numbers<f64>>),
    Other(Box<dyn Builder>),
}

impl Building {
    /// A column of about `rows` fields.
    pub fn new(kind: ColumnType, missing: f64, rows: usize) -> Result<Building> {
        Ok(match kind {
            ColumnType::Words => Building::words(),
            ColumnType::Any => Building::Doubles(Box::new(Numbers::new(missing)?.sized(rows)?)),
            ColumnType::Numbers(element_type) => with_element!(element_type, T => {
                Building::Other(Box::new(Numbers::<T>::new(missing)?.sized(rows)?))
            }),
        })
    }

    /// A column of texts.
    pub fn words() -> Building {
        Building::Other(Box::new(Words::default()))
    }

    /// A column that turned out to hold words, and is going to be read again as such.
    pub fn skipped() -> Building {
        Building::Other(Box::new(Skipped))
    }

    /// Takes the next field; false when it is no value of this column.
    #[inline]
    pub fn push(&mut self, field: &[u8]) -> bool {
        match self {
            Building::Doubles(numbers) => numbers.push(field),
            Building::Other(builder) => builder.push(field),
        }
    }

    pub fn finish(self) -> Result<Column> {
        match self {
            Building::Doubles(numbers) => numbers.finish(),
            Building::Other(builder) => builder.finish(),
        }
    }
}

struct Skipped;

impl Builder for Skipped {
    fn push(&mut self, _: &[u8]) -> bool {
        true
    }

    fn finish(self: Box<Self>) -> Result<Column> {
        Ok(Column::Words(Vec::new()))
    }
}

#[derive(Default)]
struct Words(Vec<String>);

impl Builder for Words {
    fn push(&mut self, field: &[u8]) -> bool {
        self.0.push(word(field));
        true
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

    /// With room for about so many.
    pub fn sized(mut self, rows: usize) -> Result<Numbers<T>> {
        self.cells = memory::room(rows, || format!("a column of about {rows} numbers"))?;
        Ok(self)
    }

    /// The value of a field.
    #[inline]
    pub fn value(&self, field: &[u8]) -> Option<T> {
        if field.is_empty() { self.missing } else { T::parse(field) }
    }
}

impl<T: Cell> Builder for Numbers<T> {
    #[inline]
    fn push(&mut self, field: &[u8]) -> bool {
        match self.value(field) {
            Some(value) => {
                self.cells.push(value);
                true
            }
            None => false,
        }
    }

    fn finish(self: Box<Self>) -> Result<Column> {
        Ok(Column::Numbers(Array::vector(&self.cells)?))
    }
}

/// An element that is read from text.
pub trait Cell: Element {
    fn parse(field: &[u8]) -> Option<Self>;
    /// The value that is exactly this number, or its rounding for floats.
    fn of_number(number: f64) -> Option<Self>;
}

macro_rules! floats {
    ($($t:ty: $parse:expr, $narrow:expr;)*) => {
        $(impl Cell for $t {
            #[inline]
            fn parse(field: &[u8]) -> Option<$t> {
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
fn double(field: &[u8]) -> Option<f64> {
    plain_decimal(field).or_else(|| parsed(field))
}

/// As the standard library reads it: exponents, infinity, any number of digits.
fn parsed<T: std::str::FromStr>(field: &[u8]) -> Option<T> {
    std::str::from_utf8(field).ok()?.parse().ok()
}

/// Digits with or without a point, as most fields are: the double nearest to them, by a third of
/// the instructions of `str::parse`. `None` for anything else.
#[inline]
fn plain_decimal(field: &[u8]) -> Option<f64> {
    let (negative, text) = match field {
        [b'-', text @ ..] => (true, text),
        text => (false, text),
    };
    // 19 digits are below 2^64.
    if text.len() > 20 {
        return None;
    }
    let mut whole = 0;
    let before = digits(text, &mut whole);
    let places = match &text[before..] {
        [] => 0,
        [b'.', fraction @ ..] if digits(fraction, &mut whole) == fraction.len() => fraction.len(),
        _ => return None,
    };
    if !(1..=19).contains(&(before + places)) {
        return None;
    }
    let x = over_power_of_ten(whole, places);
    Some(if negative { -x } else { x })
}

/// Appends the digits that `text` begins with to `whole`; how many they are.
#[inline]
fn digits(text: &[u8], whole: &mut u64) -> usize {
    let mut rest = text;
    while let Some(eight) = rest.first_chunk::<8>().and_then(|eight| eight_digits(*eight)) {
        *whole = whole.wrapping_mul(100_000_000).wrapping_add(eight);
        rest = &rest[8..];
    }
    // The last digits of a long text with zeros for those before them, at once: how many they
    // are changes from field to field, and a loop over them was guessed wrongly at every other.
    if let (1..8, Some(last)) = (rest.len(), text.last_chunk::<8>()) {
        let known = 8 * (8 - rest.len() as u32);
        let last = (u64::from_le_bytes(*last) >> known << known) | (ZEROS & ((1 << known) - 1));
        if let Some(last) = eight_digits(last.to_le_bytes()) {
            *whole = whole.wrapping_mul(WHOLE_POWERS[rest.len()]).wrapping_add(last);
            return text.len();
        }
    }
    while let [digit @ b'0'..=b'9', more @ ..] = rest {
        *whole = whole.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
        rest = more;
    }
    text.len() - rest.len()
}

/// 10^0 to 10^7.
const WHOLE_POWERS: [u64; 8] = [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000];

/// The digit 0 in eight bytes.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The number of eight digits: neighbours are joined to pairs, pairs to fours, fours to eight, each
/// step for all of them in one multiplication.
#[inline]
fn eight_digits(text: [u8; 8]) -> Option<u64> {
    const HIGH: u64 = 0xf0f0_f0f0_f0f0_f0f0;
    let text = u64::from_le_bytes(text);
    // A digit has 3 in its upper half, and still has when 6 is added.
    let above = text.wrapping_add(0x0606_0606_0606_0606);
    if (text & HIGH) != ZEROS || (above & HIGH) != ZEROS {
        return None;
    }
    let ones = text & !HIGH;
    let pairs = (ones.wrapping_mul(10 << 8 | 1) >> 8) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_ffff_0000_ffff;
    Some(fours.wrapping_mul(10_000 << 32 | 1) >> 32)
}

/// `whole / 10^places` for at most 19 places, rounded once.
#[inline]
fn over_power_of_ten(whole: u64, places: usize) -> f64 {
    // Both are exact doubles, so their quotient is rounded once (Clinger, 1990).
    if whole < 1 << 53 {
        return if places == 0 { whole as f64 } else { whole as f64 / POWERS_OF_TEN[places] };
    }
    // 10^p is 5^p * 2^p. Both sides shifted up to their 64th bit, the quotient has 63 or 64 bits:
    // more than the 53 that stay and the one that decides, so the remainder only breaks a tie.
    let five = POWERS_OF_FIVE[places];
    let (up, down) = (whole.leading_zeros(), five.leading_zeros());
    let (numerator, divisor) = (u128::from(whole << up) << 63, u128::from(five << down));
    let quotient = numerator / divisor;
    let remains = quotient * divisor != numerator;
    let quotient = quotient as u64 | u64::from(remains);
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
    f32: parsed, |x| x as f32;
    bf16: |field| double(field).map(narrow_bf16), narrow_bf16;
    f16: |field| double(field).map(narrow_f16), narrow_f16;
}

/// A whole number, also when it is written as a float (`3.0`, `1e3`).
fn whole(field: &[u8]) -> Option<i64> {
    parsed(field).or_else(|| whole_of(double(field)?))
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
            fn parse(field: &[u8]) -> Option<$t> {
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
    fn parse(field: &[u8]) -> Option<Bool> {
        match field {
            b"0" => Some(Bool::FALSE),
            b"1" => Some(Bool::TRUE),
            _ if field.eq_ignore_ascii_case(b"true") => Some(Bool::TRUE),
            _ if field.eq_ignore_ascii_case(b"false") => Some(Bool::FALSE),
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
        assert_eq!(i64::parse(b"9007199254740993"), Some(9_007_199_254_740_993));
        assert_eq!(i64::parse(b"9223372036854775808"), None);
        assert_eq!(i32::parse(b"1e3"), Some(1000));
        assert_eq!((u8::parse(b"256"), u8::parse(b"2.5"), u8::parse(b"-1")), (None, None, None));
        // The nearest double lies on the midpoint of two floats, whose even one is below.
        assert_eq!(f32::parse(b"1.00000005960464477540"), Some(1.000_000_1));
        assert_eq!(Bool::parse(b"TRUE"), Some(Bool::TRUE));
        assert_eq!(Bool::parse(b"2"), None);
        assert!(f64::parse(b"nan").is_some_and(f64::is_nan));
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
        assert!(Numbers::<u8>::new(f64::NAN).is_ok_and(|mut n| !n.push(b"")));
        assert!(Numbers::<u8>::new(0.0).is_ok_and(|mut n| n.push(b"")));
        let e = Numbers::<u8>::new(-1.0).err().unwrap();
        assert_eq!(e.message(), "missing value does not fit: -1.0 in (unsigned-byte 8)");
    }
}
