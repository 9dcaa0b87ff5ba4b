//! Integers of binary streams: `read-byte`, `write-byte`, and sequences in bulk.

use num_bigint::BigInt;
use num_traits::ToPrimitive;
use rung_array::{Array, Number};
use rung_base::{ElementType, with_element};

use crate::condition::{Condition, Escape, Outcome};
use crate::lisp::Lisp;
use crate::native::{Native, native};
use crate::object::Object;
use crate::stream::Stream;
use crate::stream_coding::Whole;
use crate::symbol;
use crate::value::{NIL, Value, list};

use super::gray;
use super::streams::{at_end, stream_of};

/// The table.
pub static STREAMS: &[Native] = &[
    native("read-byte", "stream &optional eof-error-p eof-value", "The next integer.", read_byte),
    native("write-byte", "byte stream", "Writes an integer.", write_byte),
    native(
        "rung::%read-bulk",
        "sequence stream start end",
        "Where reading a string or a packed array has ended; nil for other sequences.",
        read_bulk,
    ),
    native(
        "rung::%write-bulk",
        "array stream start end",
        "Whether a packed array was written.",
        write_bulk,
    ),
];

/// The element type of a binary stream: `(unsigned-byte 8)`.
pub(super) fn type_of(whole: Whole) -> Value {
    let name = if whole.signed { symbol::SIGNED_BYTE } else { symbol::UNSIGNED_BYTE };
    list([Value::symbol(name), Value::size(8 * whole.width)])
}

fn read_byte(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    if gray::is_own(&a[0]) {
        let byte = gray::ask(lisp, "STREAM-READ-BYTE", &a[..1])?;
        return if byte.as_fixnum().is_some() { Ok(byte) } else { at_end(a, 1, &a[0]) };
    }
    let stream = stream_of("read-byte", &a[0])?;
    let whole = stream.file.elements.unwrap_or(Whole::BYTE);
    let mut bytes = [0; 8];
    match stream.read_bytes(&mut bytes[..whole.width])? {
        0 => at_end(a, 1, &a[0]),
        count if count == whole.width => Ok(Value::integer(BigInt::from(whole.decode(&bytes)))),
        count => Err(cut_short(&a[0], stream, count, whole.width)),
    }
}

/// The file ends inside an element.
fn cut_short(value: &Value, stream: &Stream, count: usize, width: usize) -> Escape {
    let name = &stream.name;
    let text =
        format!("cannot read {name}: it ends with {count} of the {width} bytes of an element");
    Condition::new(symbol::END_OF_FILE, text).with(symbol::KEY_STREAM, value.clone()).into()
}

fn write_byte(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    if gray::is_own(&a[1]) {
        gray::ask(lisp, "STREAM-WRITE-BYTE", &[a[1].clone(), a[0].clone()])?;
        return Ok(a[0].clone());
    }
    let stream = stream_of("write-byte", &a[1])?;
    let whole = stream.file.elements.unwrap_or(Whole::BYTE);
    let number = match &a[0] {
        Value::Fixnum(n) => Some(i128::from(*n)),
        other => other.as_bignum().and_then(BigInt::to_i128),
    };
    let mut bytes = Vec::with_capacity(whole.width);
    if !number.is_some_and(|number| whole.encode(number, &mut bytes)) {
        let (low, high) = whole.range();
        let wanted = format!("an integer from {low} to {high}");
        return Err(Escape::unexpected("write-byte", &wanted, type_of(whole), &a[0]));
    }
    stream.write_bytes(&bytes)?;
    Ok(a[0].clone())
}

fn bounds(a: &[Value]) -> (usize, usize) {
    (a[2].as_index().unwrap_or(0), a[3].as_index().unwrap_or(0))
}

fn read_bulk(lisp: &mut Lisp, a: &[Value]) -> Outcome {
    let (start, end) = bounds(a);
    if let Value::String(text) = &a[0] {
        let mut at = start;
        while at < end {
            match lisp.read_char(&a[1])? {
                Some(c) => text.write(|all| all[at] = c),
                None => break,
            }
            at += 1;
        }
        return Ok(Value::size(at));
    }
    let (Some(packed), Some(Object::Stream(stream))) = (a[0].as_packed(), a[1].as_object()) else {
        return Ok(NIL);
    };
    let Some(whole) = stream.file.elements else { return Ok(NIL) };
    let kind = packed.element_type();
    let width = if kind.is_float() { kind.size() } else { whole.width };
    let mut bytes = vec![0; (end - start) * width];
    let count = stream.read_bytes(&mut bytes)?;
    if count % width != 0 {
        return Err(cut_short(&a[1], stream, count % width, width));
    }
    let done = start + count / width;
    if kind.is_float() {
        flip(&mut bytes, width, whole.big);
        let mut array = packed.target();
        let all = end - start == array.size() && done == end;
        with_element!(kind, T => {
            let elements = if all { array.overwrite::<T>() } else { array.make_mut::<T>() }?;
            bytemuck::cast_slice_mut::<T, u8>(&mut elements[start..done]).copy_from_slice(&bytes[..count]);
        });
    } else {
        let numbers = bytes[..count].chunks_exact(width).map(|bytes| whole.decode(bytes));
        store(&mut packed.target(), start, numbers)?;
    }
    Ok(Value::size(done))
}

/// Integers into an array of integers, each in range.
fn store(array: &mut Array, start: usize, numbers: impl Iterator<Item = i128>) -> Outcome<()> {
    let kind = array.element_type();
    fn each<T>(
        to: &mut [T],
        numbers: impl Iterator<Item = i128>,
        narrow: impl Fn(i128) -> Option<T>,
        kind: ElementType,
    ) -> Outcome<()> {
        for (element, number) in to.iter_mut().zip(numbers) {
            *element = narrow(number).ok_or_else(|| {
                let number = Value::integer(BigInt::from(number));
                let wanted = format!("an element of an array of {}", kind.lisp_name());
                Escape::unexpected(
                    "read-sequence",
                    &wanted,
                    Value::symbol(symbol::INTEGER),
                    &number,
                )
            })?;
        }
        Ok(())
    }
    match kind {
        ElementType::I64 => {
            each(&mut array.make_mut::<i64>()?[start..], numbers, |n| n.try_into().ok(), kind)
        }
        ElementType::I32 => {
            each(&mut array.make_mut::<i32>()?[start..], numbers, |n| n.try_into().ok(), kind)
        }
        ElementType::U8 => {
            each(&mut array.make_mut::<u8>()?[start..], numbers, |n| n.try_into().ok(), kind)
        }
        _ => {
            let bits = &mut array.make_mut::<rung_base::Bool>()?[start..];
            let narrow = |n| (0..=1).contains(&n).then(|| rung_base::Bool::from(n == 1));
            each(bits, numbers, narrow, kind)
        }
    }
}

/// The bytes of each element in the order of the file; little-endian machines are all there are.
fn flip(bytes: &mut [u8], width: usize, big: bool) {
    if big != cfg!(target_endian = "big") {
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
}

fn write_bulk(_: &mut Lisp, a: &[Value]) -> Outcome {
    let (start, end) = bounds(a);
    let (Some(packed), Some(Object::Stream(stream))) = (a[0].as_packed(), a[1].as_object()) else {
        return Ok(NIL);
    };
    let Some(whole) = stream.file.elements else { return Ok(NIL) };
    let kind = packed.element_type();
    let array = packed.read()?.to_contiguous()?;
    let mut bytes = Vec::new();
    if kind.is_float() {
        with_element!(kind, T => {
            let elements = array.as_slice::<T>().unwrap_or_default();
            bytes.extend_from_slice(bytemuck::cast_slice::<T, u8>(&elements[start..end]));
        });
        flip(&mut bytes, kind.size(), whole.big);
    } else if !integers(&array, start, end).all(|number| whole.encode(number, &mut bytes)) {
        // The loop says which element it is, with what comes before it written.
        return Ok(NIL);
    }
    stream.write_bytes(&bytes)?;
    Ok(Value::symbol(symbol::T))
}

fn integers(array: &Array, start: usize, end: usize) -> impl Iterator<Item = i128> + '_ {
    array.numbers().skip(start).take(end - start).map(|number| match number {
        Number::I64(n) => i128::from(n),
        other => i128::from(other.to_f64() as i64),
    })
}
