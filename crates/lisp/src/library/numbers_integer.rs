//! Chapter 12 of the standard: integers as numbers (`gcd`, `isqrt`, `parse-integer`) and as rows
//! of bits in two's complement, endless to the left.

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

use crate::condition::{Escape, Outcome};
use crate::library::strings;
use crate::lisp::Lisp;
use crate::native::{Native, keywords, native};
use crate::numbers::{integer, power};
use crate::symbol;
use crate::value::{Value, cons};

/// As much as `expt` makes: 256 MiB.
const BIT_LIMIT: i64 = 1 << 31;

macro_rules! bits2 {
    ($name:literal, $documentation:literal, $small:expr, $large:expr) => {
        native($name, "integer1 integer2", $documentation, |_, arguments| {
            combine($name, &arguments[0], &arguments[1], $small, $large)
        })
    };
}

macro_rules! bits_all {
    ($name:literal, $documentation:literal, $unit:literal, $small:expr, $large:expr) => {
        native($name, "&rest integers", $documentation, |_, arguments| {
            let start = Value::Fixnum($unit);
            arguments.iter().try_fold(start, |a, b| combine($name, &a, b, $small, $large))
        })
    };
}

/// Chapter 12 of the standard, what concerns integers.
pub static NUMBERS: &[Native] = &[
    bits_all!("logand", "Bits set in all.", -1, |a, b| a & b, |a, b| a & b),
    bits_all!("logior", "Bits set in any.", 0, |a, b| a | b, |a, b| a | b),
    bits_all!("logxor", "Bits set in an odd number.", 0, |a, b| a ^ b, |a, b| a ^ b),
    bits_all!("logeqv", "Bits alike in pairs.", -1, |a, b| !(a ^ b), |a, b| !(a ^ b)),
    bits2!("lognand", "Bits not set in both.", |a, b| !(a & b), |a, b| !(a & b)),
    bits2!("lognor", "Bits set in neither.", |a, b| !(a | b), |a, b| !(a | b)),
    bits2!("logandc1", "And with the first one's complement.", |a, b| !a & b, |a, b| !a & b),
    bits2!("logandc2", "And with the second one's complement.", |a, b| a & !b, |a, b| a & !b),
    bits2!("logorc1", "Or with the first one's complement.", |a, b| !a | b, |a, b| !a | b),
    bits2!("logorc2", "Or with the second one's complement.", |a, b| a | !b, |a, b| a | !b),
    native("lognot", "integer", "The complement of each bit.", |_, arguments| {
        match &arguments[0] {
            Value::Fixnum(n) => Ok(Value::Fixnum(!n)),
            other => Ok(Value::integer(!integer("lognot", other)?)),
        }
    }),
    native("logtest", "integer1 integer2", "Whether a bit is set in both.", |_, arguments| {
        let both = integer("logtest", &arguments[0])? & integer("logtest", &arguments[1])?;
        Ok(Value::boolean(!both.is_zero()))
    }),
    native("logbitp", "index integer", "Whether that bit is set.", |_, arguments| {
        let index = count("logbitp", &arguments[0])?;
        Ok(Value::boolean(integer("logbitp", &arguments[1])?.bit(index)))
    }),
    native("logcount", "integer", "How many bits differ from the sign.", |_, arguments| {
        let n = integer("logcount", &arguments[0])?;
        let n = if n.is_negative() { !n } else { n };
        Ok(Value::Fixnum(n.magnitude().count_ones() as i64))
    }),
    native("integer-length", "integer", "How many bits it takes without sign.", |_, arguments| {
        let n = integer("integer-length", &arguments[0])?;
        let n = if n.is_negative() { !n } else { n };
        Ok(Value::Fixnum(n.bits() as i64))
    }),
    native("ash", "integer count", "Shifted left, or right where negative.", |_, arguments| {
        shift(&arguments[0], &arguments[1])
    }),
    native("byte", "size position", "A specifier of that many bits there.", |_, arguments| {
        count("byte", &arguments[0])?;
        count("byte", &arguments[1])?;
        Ok(cons(arguments[0].clone(), arguments[1].clone()))
    }),
    native("byte-size", "specifier", "How many bits it names.", |_, arguments| {
        Ok(Value::Fixnum(byte("byte-size", &arguments[0])?.0 as i64))
    }),
    native("byte-position", "specifier", "The first bit it names.", |_, arguments| {
        Ok(Value::Fixnum(byte("byte-position", &arguments[0])?.1 as i64))
    }),
    native("ldb", "specifier integer", "The bits that the specifier names.", |_, arguments| {
        let (size, position) = byte("ldb", &arguments[0])?;
        Ok(Value::integer(field(&integer("ldb", &arguments[1])?, size, position)))
    }),
    native("ldb-test", "specifier integer", "Whether any of them is set.", |_, arguments| {
        let (size, position) = byte("ldb-test", &arguments[0])?;
        let field = field(&integer("ldb-test", &arguments[1])?, size, position);
        Ok(Value::boolean(!field.is_zero()))
    }),
    native("dpb", "new specifier integer", "With those bits replaced.", |_, arguments| {
        let (size, position) = byte("dpb", &arguments[1])?;
        let (new, old) = (integer("dpb", &arguments[0])?, integer("dpb", &arguments[2])?);
        let change = field(&new, size, 0) ^ field(&old, size, position);
        Ok(Value::integer(old ^ (change << position)))
    }),
    native("gcd", "&rest integers", "The greatest common divisor.", |_, arguments| {
        let zero = BigInt::zero();
        let all = arguments.iter().try_fold(zero, |a, b| Ok(a.gcd(&integer("gcd", b)?)));
        all.map(Value::integer)
    }),
    native("lcm", "&rest integers", "The least common multiple.", |_, arguments| {
        let one = BigInt::one();
        let all = arguments.iter().try_fold(one, |a, b| Ok(a.lcm(&integer("lcm", b)?)));
        all.map(Value::integer)
    }),
    native("isqrt", "natural", "The integer square root.", |_, arguments| {
        power::isqrt(&arguments[0])
    }),
    native(
        "parse-integer",
        "string &key start end radix junk-allowed",
        "The integer written in the string, and where it ends.",
        parse_integer,
    ),
];

fn combine(
    operator: &str,
    a: &Value,
    b: &Value,
    small: fn(i64, i64) -> i64,
    large: fn(BigInt, BigInt) -> BigInt,
) -> Outcome {
    match (a, b) {
        (Value::Fixnum(x), Value::Fixnum(y)) => Ok(Value::Fixnum(small(*x, *y))),
        _ => Ok(Value::integer(large(integer(operator, a)?, integer(operator, b)?))),
    }
}

/// A non-negative integer; one beyond 64 bits counts as the largest of those.
fn count(operator: &str, value: &Value) -> Outcome<u64> {
    match integer(operator, value) {
        Ok(n) if n.sign() != Sign::Minus => Ok(n.to_u64().unwrap_or(u64::MAX)),
        Ok(_) => Err(Escape::wrong_type(operator, symbol::UNSIGNED_BYTE, value)),
        Err(escape) => Err(escape),
    }
}

fn shift(number: &Value, by: &Value) -> Outcome {
    if let (Value::Fixnum(n), Value::Fixnum(amount)) = (number, by) {
        match amount {
            ..=-64 => return Ok(Value::Fixnum(n >> 63)),
            -63..=0 => return Ok(Value::Fixnum(n >> -amount)),
            1..=62 if (n << amount) >> amount == *n => return Ok(Value::Fixnum(n << amount)),
            _ => {}
        }
    }
    let amount = integer("ash", by)?;
    let n = integer("ash", number)?;
    match amount.to_i64() {
        Some(left @ 0..=BIT_LIMIT) => Ok(Value::integer(n << left as u64)),
        Some(right) if (-BIT_LIMIT..0).contains(&right) => Ok(Value::integer(n >> (-right) as u64)),
        _ if n.is_zero() => Ok(Value::Fixnum(0)),
        _ if amount.is_negative() => Ok(Value::Fixnum(if n.is_negative() { -1 } else { 0 })),
        _ => {
            let text = format!("ash: the result would have more than {BIT_LIMIT} bits");
            Err(Escape::of(symbol::STORAGE_CONDITION, text))
        }
    }
}

/// Size and position of a byte specifier.
fn byte(operator: &str, value: &Value) -> Outcome<(u64, u64)> {
    let parts = value.as_cons().and_then(|pair| {
        let size = u64::try_from(pair.car().as_fixnum()?).ok()?;
        let position = u64::try_from(pair.cdr().as_fixnum()?).ok()?;
        let limit = BIT_LIMIT as u64;
        (size <= limit && position <= limit).then_some((size, position))
    });
    parts.ok_or_else(|| {
        let wanted = "a byte specifier";
        Escape::unexpected(operator, wanted, Value::symbol(symbol::CONS), value)
    })
}

fn field(n: &BigInt, size: u64, position: u64) -> BigInt {
    (n >> position) & ((BigInt::one() << size) - 1)
}

fn parse_integer(lisp: &mut Lisp, arguments: &[Value]) -> Outcome {
    let text = strings::string("parse-integer", &arguments[0])?.to_text();
    let names = [symbol::KEY_START, symbol::KEY_END, symbol::KEY_RADIX, symbol::KEY_JUNK_ALLOWED];
    let [start, end, radix, junk] = keywords(lisp, &arguments[1..], names)?;
    let characters = text.chars().collect::<Vec<_>>();
    let (start, end) = strings::range("parse-integer", start, end, characters.len())?;
    let radix = match radix.unwrap_or(Value::Fixnum(10)) {
        Value::Fixnum(radix @ 2..=36) => radix as u32,
        other => {
            let wanted = "a radix from 2 to 36";
            let kind = Value::symbol(symbol::INTEGER);
            return Err(Escape::unexpected("parse-integer", wanted, kind, &other));
        }
    };
    let blank = |at: &usize| characters[*at].is_whitespace();
    let first = (start..end).find(|at| !blank(at)).unwrap_or(end);
    let signed = first < end && matches!(characters[first], '+' | '-');
    let digits = first + usize::from(signed);
    let after = (digits..end).find(|at| !characters[*at].is_digit(radix)).unwrap_or(end);
    let rest = (after..end).find(|at| !blank(at));
    let allowed = junk.is_some_and(|value| value.truth());
    if !allowed && (after == digits || rest.is_some()) {
        let part = characters[start..end].iter().collect::<String>();
        let text = format!("parse-integer: no integer in radix {radix}: {part:?}");
        return Err(Escape::of(symbol::PARSE_ERROR, text));
    }
    let number = characters[first..after].iter().collect::<String>();
    let number = BigInt::parse_bytes(number.as_bytes(), radix);
    let value = number.filter(|_| after > digits).map_or(Value::Nil, Value::integer);
    let position = Value::size(if allowed { after } else { end });
    Ok(lisp.values(vec![value, position]))
}
