//! `expt`, `isqrt` and logarithms of exact numbers.
//!
//! Integer exponents multiply by squaring, high bit first. Other powers of floats are computed
//! in fixed point with 192 bits and rounded once, so they are right to the last bit except where
//! the true value lies within 2^-100 of half way; no host function is involved. The elementary
//! functions of floats are definitions of `rung_math`.

use std::f64::consts::PI;
use std::sync::OnceLock;

use num_bigint::{BigInt, Sign};
use num_integer::Integer;
use num_traits::{One, Signed, Zero};

use rung_math::Unary;

use super::{Real, complex, complex_functions, divide, exact, multiply};
use crate::condition::{Escape, Outcome};
use crate::symbol;
use crate::value::Value;

/// Results of more bits than this (256 MiB) are refused: they would not come in a lifetime.
const BIT_LIMIT: u64 = 1 << 31;

/// `(expt base exponent)`; `default` is the float type that two rationals give.
pub fn expt(base: &Value, exponent: &Value, default: exact::Format) -> Outcome {
    if let Some(other) = [base, exponent].into_iter().find(|value| !value.is_number()) {
        return Err(Escape::wrong_type("expt", symbol::NUMBER, other));
    }
    if let Some(Real::Integer(n)) = Real::of(exponent) {
        return integer_power(base, &n, exponent);
    }
    let format = float_format(&[base, exponent], default);
    let (Some(x), Some(y)) = (Real::of(base), Real::of(exponent)) else {
        return complex_power(base, exponent, format);
    };
    let (x, y) = (narrowed(&x, format), narrowed(&y, format));
    match float_power(x, y, format) {
        Some(power) => Ok(format.value(power)),
        None => {
            // |x|^y turned by y half turns.
            let length = float_power(-x, y, format).unwrap_or(f64::NAN);
            let (cosine, sine) = (rung_math::Cos::at(y * PI), rung_math::Sin::at(y * PI));
            Ok(complex(format.value(length * cosine), format.value(length * sine)))
        }
    }
}

fn narrowed(real: &Real, format: exact::Format) -> f64 {
    match format {
        exact::SINGLE => f64::from(real.to_single()),
        _ => real.to_double(),
    }
}

/// The float type of a function of these numbers: the widest, or `default` if all are rational.
pub fn float_format(numbers: &[&Value], default: exact::Format) -> exact::Format {
    let parts = || numbers.iter().map(|z| z.as_complex().map_or(*z, |z| &z.real));
    if parts().any(|part| matches!(part, Value::Double(_))) {
        exact::DOUBLE
    } else if parts().any(|part| matches!(part, Value::Single(_))) {
        exact::SINGLE
    } else {
        default
    }
}

/// A number as its two parts, of which a real number's second is zero.
pub fn pair(number: &Value) -> complex_functions::Pair {
    let double = |part| super::to_double(part).unwrap_or(f64::NAN);
    match number.as_complex() {
        Some(z) => (double(&z.real), double(&z.imaginary)),
        None => (double(number), 0.0),
    }
}

/// `exp(w log z)`.
fn complex_power(base: &Value, exponent: &Value, format: exact::Format) -> Outcome {
    let (z, w) = (pair(base), pair(exponent));
    let both = |(x, y)| complex(format.value(x), format.value(y));
    if z == (0.0, 0.0) {
        return match w.0 > 0.0 {
            true => Ok(both((0.0, 0.0))),
            false => Err(Escape::division_by_zero("expt", &[base, exponent])),
        };
    }
    let (length, angle) = complex_functions::log(z);
    let product = (w.0 * length - w.1 * angle, w.0 * angle + w.1 * length);
    Ok(both(complex_functions::exp(product)))
}

fn integer_power(base: &Value, n: &BigInt, exponent: &Value) -> Outcome {
    let one = match base.as_complex().map_or(base, |z| &z.real) {
        Value::Single(_) => Value::Single(1.0),
        Value::Double(_) => Value::Double(1.0),
        _ => Value::Fixnum(1),
    };
    if n.is_zero() {
        let complex_one = base.as_complex().map(|_| complex(one.clone(), Value::Fixnum(0)));
        return Ok(complex_one.unwrap_or(one));
    }
    check_size(base, n)?;
    if n.is_negative() && super::is_zero(base)? && one.as_fixnum().is_some() {
        return Err(Escape::division_by_zero("expt", &[base, exponent]));
    }
    let magnitude = n.magnitude();
    let mut power = base.clone();
    for bit in (0..magnitude.bits() - 1).rev() {
        power = multiply(&power, &power)?;
        if magnitude.bit(bit) {
            power = multiply(&power, base)?;
        }
    }
    if n.is_negative() { divide(&one, &power) } else { Ok(power) }
}

fn check_size(base: &Value, n: &BigInt) -> Outcome<()> {
    let bits = match base.as_complex() {
        Some(z) if length(&z.real) == 0 && length(&z.imaginary) == 1 => return Ok(()),
        // 1 + i grows by half a bit each time, though its parts have one bit.
        Some(z) => length(&z.real).max(length(&z.imaginary)) + 1,
        None => length(base),
    };
    if bits == 0 {
        return Ok(());
    }
    let total = BigInt::from(bits - 1) * n.abs();
    if total > BigInt::from(BIT_LIMIT) {
        return Err(Escape::of(
            symbol::STORAGE_CONDITION,
            format!("expt: the result would have {total} bits"),
        ));
    }
    Ok(())
}

/// The length of the longer part of a rational; 0 of a float, which never grows.
fn length(real: &Value) -> u64 {
    match Real::of(real) {
        Some(Real::Integer(n)) => n.bits(),
        Some(Real::Ratio(ratio)) => ratio.numerator.bits().max(ratio.denominator.bits()),
        _ => 0,
    }
}

/// `x` to the power `y`, the special cases as IEEE 754 says; none where it is complex.
fn float_power(x: f64, y: f64, format: exact::Format) -> Option<f64> {
    if y == 0.0 || x == 1.0 {
        return Some(1.0);
    }
    if x.is_nan() || y.is_nan() {
        return Some(f64::NAN);
    }
    let whole = y.is_infinite() || y == y.trunc();
    let odd = whole && y.abs() < 9007199254740992.0 && (y as i64) & 1 == 1;
    let sign = if odd && x.is_sign_negative() { -1.0 } else { 1.0 };
    if x == 0.0 || x.is_infinite() {
        let large = x.is_infinite() == (y > 0.0);
        return Some(sign * if large { f64::INFINITY } else { 0.0 });
    }
    if x < 0.0 && !whole {
        return None;
    }
    if x == -1.0 {
        return Some(sign);
    }
    if y.abs() >= 18446744073709551616.0 {
        let large = (x.abs() > 1.0) == (y > 0.0);
        return Some(sign * if large { f64::INFINITY } else { 0.0 });
    }
    Some(sign * fixed_power(x.abs(), y, format))
}

/// Bits after the point in fixed point.
const POINT: u64 = 192;

/// `exp(y ln x)` for positive finite x and |y| below 2^64.
fn fixed_power(x: f64, y: f64, format: exact::Format) -> f64 {
    let (Some(x), Some((negative, mantissa, exponent))) = (exact::decode(x), exact::decode(y))
    else {
        return f64::NAN;
    };
    let logarithm = fixed_logarithm(BigInt::from(x.1), x.2) * mantissa;
    let product = shift(logarithm, exponent);
    let product = if negative { -product } else { product };
    let ln2 = ln2();
    let twos = product.div_floor(ln2);
    let Ok(twos) = i64::try_from(&twos) else {
        return if product.is_negative() { 0.0 } else { f64::INFINITY };
    };
    if twos.abs() > 2000 {
        return if twos < 0 { 0.0 } else { f64::INFINITY };
    }
    let power = fixed_exponential(product - twos * ln2);
    let one = BigInt::one() << POINT;
    if twos >= 0 {
        exact::round(&(power << twos as u64), &one, format)
    } else {
        exact::round(&power, &(one << (-twos) as u64), format)
    }
}

fn shift(n: BigInt, by: i64) -> BigInt {
    if by >= 0 { n << by as u64 } else { n >> (-by) as u64 }
}

fn ln2() -> &'static BigInt {
    static LN2: OnceLock<BigInt> = OnceLock::new();
    LN2.get_or_init(|| double_artanh(&BigInt::one(), &BigInt::from(3)))
}

/// `2 artanh(n/d)`, for 0 <= n/d <= 1/3, in fixed point: the odd powers of n/d over 1, 3, 5, ...
fn double_artanh(n: &BigInt, d: &BigInt) -> BigInt {
    let t = (n << POINT) / d;
    let square = (&t * &t) >> POINT;
    let (mut power, mut sum, mut odd) = (t.clone(), t, 1u32);
    while !power.is_zero() {
        power = (&power * &square) >> POINT;
        odd += 2;
        sum += &power / odd;
    }
    sum << 1u32
}

/// The natural logarithm of `mantissa * 2^exponent`, a positive number.
fn fixed_logarithm(mantissa: BigInt, exponent: i64) -> BigInt {
    let bits = mantissa.bits() as i64;
    // m 2^e with m in [1, 2); from sqrt 2 on, m/2 and e + 1, so that small logarithms do not
    // come out of a difference.
    let (m, mut one) = (mantissa, BigInt::one() << (bits - 1) as u64);
    let mut twos = exponent + bits - 1;
    if &m * &m > (&one * &one) << 1u32 {
        one <<= 1u32;
        twos += 1;
    }
    let (n, d) = (&m - &one, &m + &one);
    let part = double_artanh(&n.abs(), &d);
    let part = if n.sign() == Sign::Minus { -part } else { part };
    part + twos * ln2()
}

/// e to the power of a number from 0 to ln 2.
fn fixed_exponential(x: BigInt) -> BigInt {
    let one = BigInt::one() << POINT;
    let (mut term, mut sum, mut count) = (one.clone(), one, 0u32);
    while !term.is_zero() {
        count += 1;
        term = ((term * &x) >> POINT) / count;
        sum += &term;
    }
    sum
}

/// The exponent k with `base^k = number` for positive rationals, if there is one.
pub fn exact_logarithm(number: &Value, base: &Value) -> Option<i64> {
    let (x, b) = (Real::of(number)?, Real::of(base)?);
    let exact = |real: &Real| matches!(real, Real::Integer(_) | Real::Ratio(_));
    if !exact(&x) || !exact(&b) {
        return None;
    }
    let (number_bits, base_bits) = (bits(&x), bits(&b));
    let (x, b) = (rational_logarithm(&x)?, rational_logarithm(&b)?);
    if b.is_zero() {
        return None;
    }
    // The nearest integer to the quotient is the only candidate, and no candidate where its
    // power would be longer than the number.
    let (doubled, divisor): (BigInt, BigInt) = (x * 2 + &b, b * 2);
    let nearest = doubled.div_floor(&divisor);
    if nearest.abs() * (base_bits - 1) > BigInt::from(number_bits) {
        return None;
    }
    let power = expt(base, &Value::integer(nearest.clone()), exact::DOUBLE).ok()?;
    if power.eql(number) { i64::try_from(nearest).ok() } else { None }
}

/// The length of the longer part of a rational.
fn bits(real: &Real) -> u64 {
    real.rational().map_or(0, |(n, d)| n.bits().max(d.bits()))
}

/// The natural logarithm of a positive rational, rounded once: for numbers that are no doubles.
pub fn logarithm_of_rational(real: &Real, format: exact::Format) -> Option<f64> {
    let logarithm = rational_logarithm(real)?;
    Some(exact::round(&logarithm, &(BigInt::one() << POINT), format))
}

fn rational_logarithm(real: &Real) -> Option<BigInt> {
    let (n, d) = real.rational()?;
    (n.sign() == Sign::Plus).then(|| integer_logarithm(&n) - integer_logarithm(&d))
}

/// Of a positive integer; bits beyond the 256 first ones do not matter.
fn integer_logarithm(n: &BigInt) -> BigInt {
    let spare = n.bits().saturating_sub(256);
    fixed_logarithm(n >> spare, spare as i64)
}

/// The integer square root.
pub fn isqrt(value: &Value) -> Outcome {
    match super::integer("isqrt", value)? {
        n if n.is_negative() => Err(Escape::wrong_type("isqrt", symbol::UNSIGNED_BYTE, value)),
        n => Ok(Value::integer(n.sqrt())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(x: f64, y: f64) -> f64 {
        float_power(x, y, exact::DOUBLE).unwrap()
    }

    #[test]
    fn float_powers_are_right_to_the_last_bit() {
        assert_eq!(power(2.0, 0.5), std::f64::consts::SQRT_2);
        assert_eq!(power(4.0, 0.5), 2.0);
        assert_eq!(power(10.0, -0.5), 0.31622776601683794);
        assert_eq!(power(0.1, 1.5), 0.0316227766016838);
        assert_eq!(power(-2.0, 3.0), -8.0);
        assert_eq!(power(1e300, 1.5), f64::INFINITY);
        assert_eq!(power(1e-300, 1.5), 0.0);
        assert_eq!(power(2.0, -1074.0), 5e-324);
        assert_eq!(power(0.0, -0.5), f64::INFINITY);
        assert_eq!(power(f64::INFINITY, -1.0), 0.0);
        assert_eq!(power(1.0000000000000002, 1e15), 1.2486270715390861);
        assert!(float_power(-2.0, 0.5, exact::DOUBLE).is_none());
    }

    #[test]
    fn integer_exponents_are_exact_for_rationals() {
        let expt = |base: Value, n| expt(&base, &Value::Fixnum(n), exact::DOUBLE);
        let text = "1267650600228229401496703205376";
        assert!(
            expt(Value::Fixnum(2), 100).ok().unwrap().eql(&Value::integer(text.parse().unwrap()))
        );
        assert!(
            expt(Value::Fixnum(2), -2).ok().unwrap().eql(&super::super::ratio(1.into(), 4.into()))
        );
        assert!(expt(Value::Double(1.5), 2).ok().unwrap().eql(&Value::Double(2.25)));
        assert!(expt(Value::Double(7.0), 0).ok().unwrap().eql(&Value::Double(1.0)));
        assert!(expt(Value::Fixnum(0), -1).is_err());
        assert!(expt(Value::Fixnum(3), 1 << 40).is_err());
        assert!(expt(Value::Fixnum(-1), (1 << 40) + 1).ok().unwrap().eql(&Value::Fixnum(-1)));
    }

    #[test]
    fn exact_logarithms() {
        let log = |n: i64, b: i64| exact_logarithm(&Value::Fixnum(n), &Value::Fixnum(b));
        assert_eq!(log(8, 2), Some(3));
        assert_eq!(log(1000, 10), Some(3));
        assert_eq!(log(1, 10), Some(0));
        assert_eq!(log(9, 2), None);
        assert_eq!(log(1 << 62, 2), Some(62));
    }
}
