//! Numbers of any element type, and conversion between element types.
//!
//! Floats round once, to nearest even, straight from the source value; floats become integers by
//! truncation and fail when they do not fit; anything becomes bool by being non-zero (NaN is).

use rung_base::{Bool, Element, ElementType, Error, ErrorKind, bf16, f16};

/// One element's value, in the widest type that holds it exactly. The half widths read as f32.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    F64(f64),
    F32(f32),
    I64(i64),
    Bool(bool),
}

impl Number {
    /// The value as a double; integers above 2^53 round to nearest even.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::F64(x) => x,
            Number::F32(x) => x as f64,
            Number::I64(n) => n as f64,
            Number::Bool(b) => b as u8 as f64,
        }
    }

    /// The value truncated to an integer, when it fits.
    pub fn to_i64(self) -> Option<i64> {
        match self {
            Number::I64(n) => Some(n),
            Number::Bool(b) => Some(b as i64),
            Number::F32(x) => truncated(x as f64),
            Number::F64(x) => truncated(x),
        }
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Number::F64(x) => write!(f, "{x:?}"),
            Number::F32(x) => write!(f, "{x:?}"),
            Number::I64(n) => write!(f, "{n}"),
            Number::Bool(b) => write!(f, "{}", *b as u8),
        }
    }
}

/// -2^63 and 2^63 are exactly representable and there is no fraction near them, so these bounds are
/// exact.
fn truncated(x: f64) -> Option<i64> {
    (i64::MIN as f64..-(i64::MIN as f64)).contains(&x).then_some(x as i64)
}

/// f64 to f32 with the last bit set when inexact ("round to odd"), so that a second rounding to
/// a width of at most 22 fraction bits rounds the original value correctly (Boldo and
/// Melquiond, 2008).
fn round_to_odd(x: f64) -> f32 {
    let nearest = x as f32;
    if !nearest.is_finite() || nearest as f64 == x {
        return nearest;
    }
    let bits = nearest.to_bits();
    let toward_zero = if (nearest as f64).abs() > x.abs() { bits - 1 } else { bits };
    f32::from_bits(toward_zero | 1)
}

/// f64 to bf16 in one rounding.
pub fn narrow_bf16(x: f64) -> bf16 {
    // Beyond f32 the round-to-odd value would be infinite; so is the bf16.
    bf16::from_f32(round_to_odd(x))
}

/// f64 to f16 in one rounding.
pub fn narrow_f16(x: f64) -> f16 {
    f16::from_f32(round_to_odd(x))
}

/// A storage type that converts to and from `Number`.
pub trait Convert: Element {
    /// The element as a number, exactly.
    fn number(self) -> Number;
    /// The number rounded once to this type.
    /// `None` when the value does not fit.
    fn from_number(n: Number) -> Option<Self>;
}

macro_rules! convert {
    ($($t:ty: $x:ident => $number:expr, $n:ident => $from:expr;)*) => {
        $(impl Convert for $t {
            #[inline]
            fn number(self) -> Number {
                let $x = self;
                $number
            }
            #[inline]
            fn from_number($n: Number) -> Option<$t> {
                $from
            }
        })*
    };
}
convert! {
    f64: x => Number::F64(x), n => Some(n.to_f64());
    f32: x => Number::F32(x), n => Some(match n {
        Number::F32(x) => x,
        Number::I64(i) => i as f32,
        other => other.to_f64() as f32,
    });
    bf16: x => Number::F32(x.to_f32()), n => Some(match n {
        Number::F32(x) => bf16::from_f32(x),
        other => narrow_bf16(other.to_f64()),
    });
    f16: x => Number::F32(x.to_f32()), n => Some(match n {
        Number::F32(x) => f16::from_f32(x),
        other => narrow_f16(other.to_f64()),
    });
    i64: x => Number::I64(x), n => n.to_i64();
    i32: x => Number::I64(x as i64), n => match n {
        Number::F64(x) => (x > -2147483649.0 && x < 2147483648.0).then_some(x as i32),
        Number::F32(x) => (-2147483648.0..2147483648.0).contains(&x).then_some(x as i32),
        Number::I64(i) => i.try_into().ok(),
        Number::Bool(b) => Some(b as i32),
    };
    u8: x => Number::I64(x as i64), n => match n {
        Number::F64(x) => (x > -1.0 && x < 256.0).then_some(x as u8),
        Number::F32(x) => (x > -1.0 && x < 256.0).then_some(x as u8),
        Number::I64(i) => i.try_into().ok(),
        Number::Bool(b) => Some(b as u8),
    };
    Bool: x => Number::Bool(x.get()), n => Some(Bool::from(match n {
        Number::Bool(b) => b,
        Number::I64(i) => i != 0,
        other => other.to_f64() != 0.0,
    }));
}

/// Elements converted between two looks at whether all fitted; a block of both types fits L1.
const BLOCK: usize = 1024;

/// Every element at another type, or the first that does not fit. Without a branch inside a block,
/// so the compiler makes vectors of it; where every value fits it drops the look as well.
pub(crate) fn convert_all<S: Convert, T: Convert>(from: &[S], to: &mut [T]) -> Result<(), Number> {
    for (from, to) in from.chunks(BLOCK).zip(to.chunks_mut(BLOCK)) {
        let mut all_fit = true;
        for (to, from) in to.iter_mut().zip(from) {
            let value = T::from_number(from.number());
            all_fit &= value.is_some();
            *to = value.unwrap_or(T::zeroed());
        }
        let misfit = |from: &&S| T::from_number(from.number()).is_none();
        if !all_fit && let Some(from) = from.iter().find(misfit) {
            return Err(from.number());
        }
    }
    Ok(())
}

/// The error of a value that its new element type cannot hold.
pub(crate) fn does_not_fit(n: Number, to: ElementType) -> Error {
    Error::new(ErrorKind::ElementType, format!("value does not fit: {n} in {}", to.lisp_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_narrow_to_half_widths_in_one_rounding() {
        // Just above the midpoint of 1 and 1 + 2^-7 in a bit that f32 cannot hold: rounding to
        // f32 first would fall back to the midpoint and then to even.
        let x = 1.0 + 2f64.powi(-8) + 2f64.powi(-40);
        assert_eq!(narrow_bf16(x).to_f32(), 1.0 + 2f32.powi(-7));
        assert_eq!(narrow_bf16(-x).to_f32(), -1.0 - 2f32.powi(-7));
        let y = 1.0 + 2f64.powi(-11) + 2f64.powi(-40);
        assert_eq!(narrow_f16(y).to_f32(), 1.0 + 2f32.powi(-10));
        assert_eq!(narrow_f16(1e300).to_f32(), f32::INFINITY);
        assert!(narrow_bf16(f64::NAN).is_nan());
        assert_eq!(narrow_bf16(-0.0).to_bits(), 0x8000);
    }

    #[test]
    fn blocks_convert_as_single_elements_and_name_the_first_misfit() {
        let mut list: Vec<f64> = (0..5000).map(|i| (i as f64 - 2500.0) * 0.37).collect();
        let mut words = vec![0i32; 5000];
        assert_eq!(convert_all(&list, &mut words), Ok(()));
        let one = |x: &f64| i32::from_number(Number::F64(*x)).unwrap();
        assert!(list.iter().map(one).eq(words.iter().copied()));
        list[3001] = 3e9;
        list[4999] = f64::NAN;
        assert_eq!(convert_all(&list, &mut words), Err(Number::F64(3e9)));
        let mut halves = vec![f16::ZERO; 5000];
        assert_eq!(convert_all(&list, &mut halves), Ok(()));
        assert!(list.iter().zip(&halves).all(|(x, h)| narrow_f16(*x).to_bits() == h.to_bits()));
    }

    #[test]
    fn the_ends_of_integer_ranges_are_exact() {
        for (x, fits) in [
            (2147483647.9, true),
            (2147483648.0, false),
            (-2147483648.9, true),
            (-2147483649.0, false),
            (f64::NAN, false),
        ] {
            let by_i64 = truncated(x).and_then(|i| i32::try_from(i).ok());
            assert_eq!(i32::from_number(Number::F64(x)), by_i64, "{x}");
            assert_eq!(by_i64.is_some(), fits, "{x}");
        }
        for x in [-1.0, -0.9, 255.9, 256.0, f64::INFINITY] {
            let by_i64 = truncated(x).and_then(|i| u8::try_from(i).ok());
            assert_eq!(u8::from_number(Number::F64(x)), by_i64, "{x}");
            assert_eq!(u8::from_number(Number::F32(x as f32)), by_i64, "{x}");
        }
        assert_eq!(i64::from_number(Number::F64(-9223372036854775808.0)), Some(i64::MIN));
        assert_eq!(i64::from_number(Number::F64(9223372036854775807.0)), None);
    }

    #[test]
    fn floats_truncate_to_integers_that_fit() {
        assert_eq!(i32::from_number(Number::F64(-3.9)), Some(-3));
        assert_eq!(u8::from_number(Number::F64(255.9)), Some(255));
        assert_eq!(u8::from_number(Number::F64(256.0)), None);
        assert_eq!(i64::from_number(Number::F64(9.3e18)), None);
        assert_eq!(i64::from_number(Number::F64(f64::NAN)), None);
        assert_eq!(Bool::from_number(Number::F64(f64::NAN)), Some(Bool::TRUE));
        assert_eq!(f32::from_number(Number::I64(16_777_217)), Some(16_777_216.0));
    }
}
