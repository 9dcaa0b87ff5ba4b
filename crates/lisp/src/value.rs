//! `Value`: what a Lisp variable holds. 16 bytes: numbers that fit, characters and symbols are
//! immediate, everything else is one counted reference.
//!
//! The bodies on the heap are declared in `object`; the pointer itself in `heap`. Operations on
//! values (arithmetic, printing, equality) live in modules of their own.

use num_bigint::BigInt;

use crate::code::Function;
use crate::condition::Outcome;
use crate::heap::{Ref, Slot};
use crate::object::{Cons, GeneralArray, HashTable, Object, Ratio, Text};
use crate::packed::Packed;
use crate::symbol::Symbol;

/// A Lisp value. Native code reads and writes values: the tags of `machine_code` are the numbers of
/// the variants, those on the heap the last ones.
#[derive(Default)]
#[repr(u8)]
pub enum Value {
    /// The symbol `nil`, the empty list, false. Never written `Symbol(NIL)`: see `Value::symbol`.
    #[default]
    Nil,
    /// No value: an unbound variable, an optional argument that was not given. Programs never
    /// see it.
    Unbound,
    /// An integer of 64 bits.
    Fixnum(i64),
    /// A double-float.
    Double(f64),
    /// A single-float.
    Single(f32),
    /// A Unicode scalar value.
    Char(char),
    /// A symbol other than `nil`.
    Symbol(Symbol),
    /// A pair.
    Cons(Ref<Cons>),
    /// A closure or a native function.
    Function(Ref<Function>),
    /// A string.
    String(Ref<Text>),
    /// The box of a captured variable that is assigned. Programs never see it.
    Cell(Ref<Slot>),
    /// Everything rarer.
    Object(Ref<Object>),
}

const _: () = assert!(size_of::<Value>() == 16);

impl Clone for Value {
    #[inline(always)]
    fn clone(&self) -> Value {
        crate::heap::copy(self)
    }
}

/// The empty list.
pub const NIL: Value = Value::Nil;

/// The symbol `t`.
pub const T: Value = Value::Symbol(crate::symbol::T);

/// A new pair.
#[inline]
pub fn cons(car: Value, cdr: Value) -> Value {
    Value::Cons(Ref::new(Cons::new(car, cdr)))
}

/// A list of the values, ending in nil.
pub fn list(values: impl IntoIterator<Item = Value, IntoIter: DoubleEndedIterator>) -> Value {
    list_with_tail(values, NIL)
}

/// A list of the values, ending in `tail`.
pub fn list_with_tail(
    values: impl IntoIterator<Item = Value, IntoIter: DoubleEndedIterator>,
    tail: Value,
) -> Value {
    values.into_iter().rev().fold(tail, |tail, value| cons(value, tail))
}

impl Value {
    /// The symbol as a value; `nil` becomes `Value::Nil`.
    #[inline]
    pub fn symbol(symbol: Symbol) -> Value {
        if symbol == crate::symbol::NIL { NIL } else { Value::Symbol(symbol) }
    }

    /// `t` or `nil`.
    #[inline]
    pub fn boolean(truth: bool) -> Value {
        if truth { T } else { NIL }
    }

    /// A new string.
    pub fn string(text: &str) -> Value {
        Value::String(Ref::new(Text::from(text)))
    }

    /// An object on the heap.
    pub fn object(object: Object) -> Value {
        Value::Object(Ref::new(object))
    }

    /// An integer: a fixnum where it fits.
    pub fn integer(integer: BigInt) -> Value {
        match i64::try_from(&integer) {
            Ok(small) => Value::Fixnum(small),
            Err(_) => Value::object(Object::Bignum(integer)),
        }
    }

    /// A count or size. Sizes above 2^63 cannot exist.
    pub fn size(size: usize) -> Value {
        Value::Fixnum(size as i64)
    }

    /// A general vector (`simple-vector`) of the values.
    pub fn vector(elements: Vec<Value>) -> Value {
        Value::object(Object::Array(GeneralArray::vector(elements)))
    }

    /// Whether dropping or cloning this touches no count.
    #[inline(always)]
    pub fn is_immediate(&self) -> bool {
        matches!(
            self,
            Value::Nil
                | Value::Unbound
                | Value::Fixnum(_)
                | Value::Double(_)
                | Value::Single(_)
                | Value::Char(_)
                | Value::Symbol(_)
        )
    }

    /// Stores a value here. As an assignment, but without the general drop for what needs none:
    /// that drop is a call, and registers hold numbers most of the time.
    #[inline(always)]
    pub fn put(&mut self, value: Value) {
        if self.is_immediate() {
            // What was there is not even read: its last bytes may still be on their way to memory.
            std::mem::forget(std::mem::replace(self, value));
        } else {
            drop_slowly(std::mem::replace(self, value));
        }
    }

    /// Whether this is `nil`.
    #[inline(always)]
    pub fn is_nil(&self) -> bool {
        matches!(self, Value::Nil)
    }

    /// Whether this counts as true: everything but `nil`.
    #[inline(always)]
    pub fn truth(&self) -> bool {
        !self.is_nil()
    }

    /// Whether this is the marker of "no value".
    #[inline(always)]
    pub fn is_unbound(&self) -> bool {
        matches!(self, Value::Unbound)
    }

    /// The symbol this is, `nil` included.
    #[inline]
    pub fn as_symbol(&self) -> Option<Symbol> {
        match self {
            Value::Symbol(symbol) => Some(*symbol),
            Value::Nil => Some(crate::symbol::NIL),
            _ => None,
        }
    }

    /// Whether this is that symbol.
    #[inline]
    pub fn is_symbol(&self, symbol: Symbol) -> bool {
        self.as_symbol() == Some(symbol)
    }

    /// The pair this is.
    #[inline]
    pub fn as_cons(&self) -> Option<&Ref<Cons>> {
        if let Value::Cons(pair) = self { Some(pair) } else { None }
    }

    /// Whether this is `nil` or a pair.
    pub fn is_list(&self) -> bool {
        matches!(self, Value::Nil | Value::Cons(_))
    }

    /// The string this is.
    pub fn as_text(&self) -> Option<&Ref<Text>> {
        if let Value::String(text) = self { Some(text) } else { None }
    }

    /// The object this is.
    pub fn as_object(&self) -> Option<&Object> {
        if let Value::Object(object) = self { Some(object) } else { None }
    }

    /// The integer this is, if it fits 64 bits.
    #[inline]
    pub fn as_fixnum(&self) -> Option<i64> {
        if let Value::Fixnum(n) = self { Some(*n) } else { None }
    }

    /// The integer this is as a size or index.
    pub fn as_index(&self) -> Option<usize> {
        self.as_fixnum().and_then(|n| usize::try_from(n).ok())
    }

    /// The big integer this is; a fixnum is none.
    pub fn as_bignum(&self) -> Option<&BigInt> {
        if let Some(Object::Bignum(n)) = self.as_object() { Some(n) } else { None }
    }

    /// The ratio this is.
    pub fn as_ratio(&self) -> Option<&Ratio> {
        if let Some(Object::Ratio(ratio)) = self.as_object() { Some(ratio) } else { None }
    }

    /// The complex number this is; a real number is none.
    pub fn as_complex(&self) -> Option<&crate::numbers::Complex> {
        if let Some(Object::Complex(complex)) = self.as_object() { Some(complex) } else { None }
    }

    /// The general array this is (a string or a packed array is none).
    pub fn as_array(&self) -> Option<&GeneralArray> {
        if let Some(Object::Array(array)) = self.as_object() { Some(array) } else { None }
    }

    /// An array of one element type.
    pub fn packed(array: rung_array::Array) -> Value {
        Value::object(Object::Packed(Box::new(Packed::new(array))))
    }

    /// The packed array this is.
    pub fn as_packed(&self) -> Option<&Packed> {
        if let Some(Object::Packed(array)) = self.as_object() { Some(array) } else { None }
    }

    /// The library package's thing of this type that the value is.
    pub fn as_foreign<T: crate::object::Foreign>(&self) -> Option<&T> {
        let Some(Object::Foreign(thing)) = self.as_object() else { return None };
        let thing: &dyn std::any::Any = &**thing;
        thing.downcast_ref()
    }

    /// The array of a library package that the value is.
    pub fn as_foreign_array(&self) -> Option<&dyn crate::object::ForeignArray> {
        let Some(Object::Foreign(thing)) = self.as_object() else { return None };
        thing.as_array()
    }

    /// The hash table this is.
    pub fn as_hash_table(&self) -> Option<&HashTable> {
        if let Some(Object::HashTable(table)) = self.as_object() { Some(table) } else { None }
    }

    /// Whether this is a number.
    pub fn is_number(&self) -> bool {
        match self {
            Value::Fixnum(_) | Value::Double(_) | Value::Single(_) => true,
            Value::Object(object) => {
                matches!(**object, Object::Bignum(_) | Object::Ratio(_) | Object::Complex(_))
            }
            _ => false,
        }
    }

    /// Whether this is a real number.
    pub fn is_real(&self) -> bool {
        self.is_number() && self.as_complex().is_none()
    }

    /// `eql`: the same object, or numbers of one type with the same bits, or the same character.
    pub fn eql(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Nil, Value::Nil) | (Value::Unbound, Value::Unbound) => true,
            (Value::Fixnum(a), Value::Fixnum(b)) => a == b,
            (Value::Double(a), Value::Double(b)) => a.to_bits() == b.to_bits(),
            (Value::Single(a), Value::Single(b)) => a.to_bits() == b.to_bits(),
            (Value::Char(a), Value::Char(b)) => a == b,
            (Value::Symbol(a), Value::Symbol(b)) => a == b,
            (Value::Cons(a), Value::Cons(b)) => Ref::same(a, b),
            (Value::Function(a), Value::Function(b)) => Ref::same(a, b),
            (Value::String(a), Value::String(b)) => Ref::same(a, b),
            (Value::Cell(a), Value::Cell(b)) => Ref::same(a, b),
            (Value::Object(a), Value::Object(b)) => {
                Ref::same(a, b)
                    || match (&**a, &**b) {
                        (Object::Bignum(a), Object::Bignum(b)) => a == b,
                        (Object::Ratio(a), Object::Ratio(b)) => a == b,
                        (Object::Complex(a), Object::Complex(b)) => a.eql(b),
                        _ => false,
                    }
            }
            _ => false,
        }
    }

    /// The elements of a list, up to its end or the first cdr that is no pair. Use
    /// `library::lists` where an improper or circular list must be an error.
    pub fn elements(&self) -> Elements {
        Elements(self.clone())
    }

    /// Whether this is a chain of pairs that comes back to itself (Brent, 1980): a pair is kept,
    /// twice as long each time, and met again.
    pub fn is_circular(&self) -> bool {
        let (mut walk, mut kept, mut left, mut turn) = (self.elements(), self.clone(), 1u64, 1u64);
        while walk.next().is_some() {
            if let (Value::Cons(here), Value::Cons(kept)) = (walk.rest(), &kept)
                && Ref::same(here, kept)
            {
                return true;
            }
            left -= 1;
            if left == 0 {
                turn *= 2;
                (kept, left) = (walk.rest().clone(), turn);
            }
        }
        false
    }
}

impl Value {
    /// As `put` of a fixnum. Writing the number alone, where a fixnum was before, avoids a copy
    /// of 16 bytes right after two stores of 8, which stalls the processor some 12 cycles.
    #[inline(always)]
    pub fn put_fixnum(&mut self, number: i64) {
        match self {
            Value::Fixnum(old) => *old = number,
            other => other.put(Value::Fixnum(number)),
        }
    }

    /// As `put_fixnum`, for a double.
    #[inline(always)]
    pub fn put_double(&mut self, number: f64) {
        match self {
            Value::Double(old) => *old = number,
            other => other.put(Value::Double(number)),
        }
    }

    /// Lets go of what this holds, if that is on the heap; a number may stay.
    #[inline(always)]
    pub fn release(&mut self) {
        if !self.is_immediate() {
            release_slowly(self);
        }
    }

    /// As `put` of what a native function has just made: what is immediate by its parts, since 16
    /// bytes read right after two smaller stores wait for both.
    #[inline(always)]
    pub(crate) fn put_result(&mut self, outcome: Outcome) -> Outcome<()> {
        match &outcome {
            Ok(Value::Fixnum(number)) => self.put_fixnum(*number),
            Ok(Value::Double(number)) => self.put_double(*number),
            Ok(Value::Nil) => self.put(NIL),
            Ok(Value::Symbol(symbol)) => self.put(Value::Symbol(*symbol)),
            _ => return outcome.map(|value| self.put(value)),
        }
        std::mem::forget(outcome);
        Ok(())
    }
}

/// Immediate values in full, others by kind: names and contents need the `Lisp`.
impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Value::Nil => f.write_str("Nil"),
            Value::Unbound => f.write_str("Unbound"),
            Value::Fixnum(n) => write!(f, "Fixnum({n})"),
            Value::Double(x) => write!(f, "Double({x:?})"),
            Value::Single(x) => write!(f, "Single({x:?})"),
            Value::Char(c) => write!(f, "Char({c:?})"),
            Value::Symbol(symbol) => write!(f, "{symbol:?}"),
            Value::Cons(_) => f.write_str("Cons"),
            Value::Function(_) => f.write_str("Function"),
            Value::String(text) => write!(f, "String({:?})", text.to_text()),
            Value::Cell(_) => f.write_str("Cell"),
            Value::Object(_) => f.write_str("Object"),
        }
    }
}

/// Out of line, so that the fast path of `put` stays small.
#[inline(never)]
fn drop_slowly(value: Value) {
    drop(value);
}

/// Where it is: a reference of eight bytes is read, not the sixteen of a value that was written in
/// two halves just now.
#[inline(never)]
fn release_slowly(value: &mut Value) {
    *value = NIL;
}

/// Iterates over the cars of a chain of pairs.
pub struct Elements(Value);

impl Elements {
    /// What is left: nil at the end of a proper list.
    pub fn rest(&self) -> &Value {
        &self.0
    }
}

impl Iterator for Elements {
    type Item = Value;
    fn next(&mut self) -> Option<Value> {
        let (car, cdr) = match &self.0 {
            Value::Cons(pair) => (pair.car(), pair.cdr()),
            _ => return None,
        };
        self.0 = cdr;
        Some(car)
    }
}
