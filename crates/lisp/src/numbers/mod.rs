//! The numeric tower: arithmetic and comparison of fixnums, bignums, ratios and floats.

use crate::value::Value;

/// Numeric `=`; false when either is no number.
pub fn equals(a: &Value, b: &Value) -> bool {
    match (to_double(a), to_double(b)) {
        (Some(x), Some(y)) => x == y,
        _ => false,
    }
}

/// The nearest double.
pub fn to_double(value: &Value) -> Option<f64> {
    match value {
        Value::Fixnum(n) => Some(*n as f64),
        Value::Double(x) => Some(*x),
        Value::Single(x) => Some(f64::from(*x)),
        _ => None,
    }
}
