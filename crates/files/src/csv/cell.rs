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

fn double(field: &str) -> Option<f64> {
    field.parse().ok()
}

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

    #[test]
    fn a_missing_value_must_fit() {
        assert!(Numbers::<u8>::new(f64::NAN).is_ok_and(|mut n| !n.push("")));
        assert!(Numbers::<u8>::new(0.0).is_ok_and(|mut n| n.push("")));
        let e = Numbers::<u8>::new(-1.0).err().unwrap();
        assert_eq!(e.message(), "missing value does not fit: -1.0 in (unsigned-byte 8)");
    }
}
