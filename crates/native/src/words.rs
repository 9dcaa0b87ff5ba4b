//! Constants as the two words that a value is.

use cranelift_codegen::ir::MemFlagsData;
use rung_lisp::Value;
use rung_lisp::machine_code::tag;

/// Everything that native code touches is there and aligned.
pub(crate) const TRUSTED: MemFlagsData = MemFlagsData::trusted();

/// Bytes of a value, and where its second word is.
pub(crate) const SIZE: i32 = 16;
pub(crate) const SECOND: i32 = 8;

/// The words of a value: the tag with what is small, and a number or a reference.
pub(crate) fn words(value: &Value) -> [i64; 2] {
    let small = |tag: u8, content: u32| [i64::from(tag) | i64::from(content) << 32, 0];
    let body = |tag: u8, address: usize| [i64::from(tag), address as i64];
    match value {
        Value::Nil => small(tag::NIL, 0),
        Value::Unbound => small(tag::UNBOUND, 0),
        Value::Fixnum(number) => [i64::from(tag::FIXNUM), *number],
        Value::Double(number) => [i64::from(tag::DOUBLE), number.to_bits() as i64],
        Value::Single(number) => small(tag::SINGLE, number.to_bits()),
        Value::Char(char) => small(tag::CHAR, u32::from(*char)),
        Value::Symbol(symbol) => small(tag::SYMBOL, symbol.number()),
        Value::Cons(at) => body(tag::CONS, at.address()),
        Value::Function(at) => body(tag::FUNCTION, at.address()),
        Value::String(at) => body(tag::STRING, at.address()),
        Value::Cell(at) => body(tag::CELL, at.address()),
        Value::Object(at) => body(tag::OBJECT, at.address()),
    }
}
