//! `equal`, `equalp` and the hashes that agree with them (`eql` is a method of `Value`).
//!
//! Long lists are walked, not recursed on; nesting in cars recurses and stops, as unequal or
//! with the hash so far, when the native stack is spent. Hashes depend on contents alone where
//! the test does, and are the same in every run except for the addresses under `eq`.

use crate::heap::Ref;
use crate::object::{GeneralArray, Object, Text};
use crate::stack;
use crate::value::Value;

/// `equal`: same structure of pairs and same strings; otherwise `eql`.
pub fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Cons(_), Value::Cons(_)) => equal_chains(a, b, equal),
        (Value::String(a), Value::String(b)) => Ref::same(a, b) || same_text(a, b, |a, b| a == b),
        (Value::Object(x), Value::Object(y)) => match (&**x, &**y) {
            (Object::Pathname(x), Object::Pathname(y)) => x == y,
            _ => a.eql(b),
        },
        _ => a.eql(b),
    }
}

/// `equalp`: `equal` that ignores case, number types and array types.
pub fn equalp(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Cons(_), Value::Cons(_)) => equal_chains(a, b, equalp),
        (Value::Char(a), Value::Char(b)) => same_letter(*a, *b),
        (Value::String(a), Value::String(b)) => same_text(a, b, same_letter),
        _ if a.is_number() && b.is_number() => crate::numbers::equals(a, b),
        _ if other_array(a) || other_array(b) => equalp_any_arrays(a, b),
        (Value::Object(x), Value::Object(y)) if !Ref::same(x, y) => equalp_objects(x, y),
        _ => a.eql(b),
    }
}

/// Whether it is an array that is neither a string nor a general one.
fn other_array(value: &Value) -> bool {
    value.as_packed().is_some() || value.as_foreign_array().is_some()
}

fn equalp_objects(a: &Object, b: &Object) -> bool {
    match (a, b) {
        (Object::Array(a), Object::Array(b)) => equalp_arrays(a, b),
        (Object::HashTable(a), Object::HashTable(b)) => {
            a.test == b.test
                && a.count() == b.count()
                && a.entries().iter().all(|(k, v)| b.get(k).is_some_and(|w| equalp(v, &w)))
        }
        (Object::Pathname(a), Object::Pathname(b)) => a == b,
        (Object::Instance(a), Object::Instance(b)) => {
            let (x, y) = (a.slots.borrow().clone(), b.slots.borrow().clone());
            Ref::same(&a.class, &b.class) && x.iter().zip(&y).all(|(x, y)| equalp(x, y))
        }
        _ => false,
    }
}

/// Arrays of different storage: the same shape and elements.
fn equalp_any_arrays(a: &Value, b: &Value) -> bool {
    use crate::library::arrays::{dimensions, row_major_get};
    let (Ok(shape), Ok(other)) = (dimensions("", a), dimensions("", b)) else { return false };
    let length = |value: &Value, shape: &[usize]| match shape {
        [_] => crate::library::sequence_parts::length("", value).unwrap_or(shape[0]),
        _ => shape.iter().product(),
    };
    let count = length(a, &shape);
    let same = match (&shape[..], &other[..]) {
        ([_], [_]) => count == length(b, &other),
        _ => shape == other,
    };
    same && (0..count).all(|at| match (row_major_get(a, at), row_major_get(b, at)) {
        (Ok(x), Ok(y)) => equalp(&x, &y),
        _ => false,
    })
}

fn equalp_arrays(a: &GeneralArray, b: &GeneralArray) -> bool {
    let same_shape = match (a.rank(), b.rank()) {
        (1, 1) => a.len() == b.len(),
        _ => *a.dimensions.borrow() == *b.dimensions.borrow(),
    };
    if !same_shape {
        return false;
    }
    let (x, y) = (a.active(), b.active());
    x.iter().zip(&y).all(|(x, y)| equalp(x, y))
}

fn equal_chains(a: &Value, b: &Value, same: fn(&Value, &Value) -> bool) -> bool {
    if stack::exhausted() {
        return false;
    }
    let (mut a, mut b) = (a.clone(), b.clone());
    while let (Value::Cons(x), Value::Cons(y)) = (&a, &b) {
        if Ref::same(x, y) {
            return true;
        }
        if !same(&x.car(), &y.car()) {
            return false;
        }
        let next = (x.cdr(), y.cdr());
        (a, b) = next;
    }
    same(&a, &b)
}

fn same_text(a: &Text, b: &Text, same: fn(char, char) -> bool) -> bool {
    let length = a.len();
    length == b.len()
        && a.read(|x| b.read(|y| x.iter().zip(y).take(length).all(|(x, y)| same(*x, *y))))
}

fn same_letter(a: char, b: char) -> bool {
    a == b || a.to_lowercase().eq(b.to_lowercase())
}

/// Spreads the bits: one round of a multiply and xor-shift finaliser.
fn mix(hash: u64, word: u64) -> u64 {
    let mut x = (hash.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    x ^= x >> 32;
    x.wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// Agrees with `eql`.
pub fn hash_eql(value: &Value) -> u64 {
    match value {
        Value::Nil => mix(1, 0),
        Value::Unbound => mix(2, 0),
        Value::Fixnum(n) => mix(3, *n as u64),
        Value::Double(x) => mix(4, x.to_bits()),
        Value::Single(x) => mix(5, u64::from(x.to_bits())),
        Value::Char(c) => mix(6, u64::from(*c)),
        Value::Symbol(symbol) => mix(7, u64::from(symbol.0)),
        Value::Cons(x) => mix(8, x.address() as u64),
        Value::Function(x) => mix(8, x.address() as u64),
        Value::String(x) => mix(8, x.address() as u64),
        Value::Cell(x) => mix(8, x.address() as u64),
        Value::Object(object) => match &**object {
            Object::Bignum(n) => n.iter_u64_digits().fold(9, mix),
            Object::Ratio(ratio) => {
                let low = ratio.denominator.iter_u64_digits().fold(10, mix);
                ratio.numerator.iter_u64_digits().fold(low, mix)
            }
            Object::Complex(z) => mix(mix(16, hash_eql(&z.real)), hash_eql(&z.imaginary)),
            _ => mix(8, object.address() as u64),
        },
    }
}

/// Agrees with `equal`.
pub fn hash_equal(value: &Value) -> u64 {
    match value {
        Value::Cons(_) => hash_chain(value, hash_equal),
        Value::String(text) => hash_text(text, |c| c as u64),
        Value::Object(object) => match &**object {
            Object::Pathname(name) => name.chars().fold(12, |hash, c| mix(hash, c as u64)),
            _ => hash_eql(value),
        },
        _ => hash_eql(value),
    }
}

/// Agrees with `equalp`: coarse, since an array equals arrays of other types.
pub fn hash_equalp(value: &Value) -> u64 {
    match value {
        Value::Cons(_) => hash_chain(value, hash_equalp),
        Value::Char(c) => mix(6, c.to_lowercase().fold(0, |hash, c| mix(hash, c as u64))),
        Value::String(text) => {
            hash_text(text, |c| c.to_lowercase().fold(0, |h, c| mix(h, c as u64)))
        }
        // A complex number may equal a real one by its real part, so that decides.
        Value::Object(object) if matches!(**object, Object::Complex(_)) => {
            value.as_complex().map_or(13, |z| hash_equalp(&z.real))
        }
        _ if value.is_number() => {
            crate::numbers::to_double(value).map_or(13, |x| mix(13, (x + 0.0).to_bits()))
        }
        Value::Object(object) => match &**object {
            Object::Pathname(_) => hash_equal(value),
            Object::Standard(_) => hash_eql(value),
            _ => 14,
        },
        _ => hash_eql(value),
    }
}

fn hash_text(text: &Text, letter: fn(char) -> u64) -> u64 {
    let length = text.len();
    text.read(|all| all.iter().take(length).fold(11, |hash, c| mix(hash, letter(*c))))
}

/// The first 64 elements decide; deeper nesting than the stack allows adds nothing.
fn hash_chain(value: &Value, hash: fn(&Value) -> u64) -> u64 {
    if stack::exhausted() {
        return 0;
    }
    value.elements().take(64).fold(15, |sum, element| mix(sum, hash(&element)))
}
