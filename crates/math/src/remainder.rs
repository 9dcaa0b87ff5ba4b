//! Division with a remainder: exact for floats of any magnitude, by long division of their
//! significands; and what integers do bit by bit. The number of steps depends on the exponents,
//! so the remainder is a primitive beside those of `Real`, which vectors of the lanes do not have.

use crate::function::{IntegerBinary, Unary, WholeBinary};
use crate::pair_functions::with_sign;
use crate::real::{Mask, Real};
use crate::rounding::Floor;
use crate::whole::Whole;
use core::num::Wrapping;

/// A float with an exact remainder.
pub trait Remainder: Real {
    /// a - n b for the whole number n next to a / b towards zero: exact, with the sign of a; NaN
    /// for an infinite a or a zero b. IEEE 754 calls it no operation, C calls it `fmod`.
    fn remainder(self, b: Self) -> Self;
}

macro_rules! remainder {
    ($real:ty) => {
        impl Remainder for $real {
            #[inline(always)]
            fn remainder(self, b: $real) -> $real {
                let (a, b) = (self, b);
                let magnitude = Wrapping(<$real as Real>::MAGNITUDE_MASK as _);
                let (x, y) = ((a.bits() & magnitude).0 as u64, (b.bits() & magnitude).0 as u64);
                let infinity = <$real as Real>::INFINITY_BITS;
                if x >= infinity || y > infinity || y == 0 {
                    return <$real>::canonical_nan();
                }
                if x < y {
                    return a;
                }
                let bits = long_division(x, y, <$real as Real>::MANTISSA);
                with_sign(<$real as Real>::from_bits(Wrapping(bits as _)), a)
            }
        }
    };
}
remainder!(f32);
remainder!(f64);

/// The bits of the remainder of two positive finite numbers, x >= y, given by theirs. The
/// quotient is found 64 - (mantissa + 1) bits at a time, as many as a word leaves room for: 40
/// for f32, 11 for f64.
fn long_division(x: u64, y: u64, mantissa: u32) -> u64 {
    let hidden = 1u64 << mantissa;
    let parts = |bits: u64| match bits >> mantissa {
        0 => (bits, 1),
        exponent => (bits & (hidden - 1) | hidden, exponent as u32),
    };
    let ((x, x_exponent), (y, y_exponent)) = (parts(x), parts(y));
    let mut rest = x % y;
    let mut places = x_exponent - y_exponent;
    while places > 0 && rest > 0 {
        let step = places.min(63 - mantissa);
        rest = (rest << step) % y;
        places -= step;
    }
    if rest == 0 {
        return 0;
    }
    let free = rest.leading_zeros() - (63 - mantissa);
    match free < y_exponent {
        true => (rest << free & (hidden - 1)) | u64::from(y_exponent - free) << mantissa,
        false => rest << (y_exponent - 1),
    }
}

/// A function of two floats or two integers that has no vector form.
pub trait Division: IntegerBinary {
    /// The definition for floats.
    fn float<R: Remainder>(a: R, b: R) -> R;
}

/// Whether one holds and the other does not.
#[inline(always)]
fn differ<M: Mask>(a: M, b: M) -> M {
    a.and(b.not()).or(b.and(a.not()))
}

/// The remainder with the sign of the divisor: in [0, b) for positive b.
#[derive(Clone, Copy, Default, Debug)]
pub struct Mod;

impl Division for Mod {
    #[inline(always)]
    fn float<R: Remainder>(a: R, b: R) -> R {
        let (zero, rest) = (R::constant(0.0), a.remainder(b));
        let signed = R::select(differ(rest.less(zero), b.less(zero)), rest + b, rest);
        let value = R::select(rest.equal(zero), with_sign(zero, b), signed);
        R::select(rest.is_nan(), R::canonical_nan(), value)
    }
}

impl WholeBinary for Mod {
    /// 0 for a zero divisor, which callers refuse first.
    #[inline(always)]
    fn at<I: Whole>(a: I, b: I) -> I {
        let rest = a.wrapping_sub(b.wrapping_mul(floor_of(a, b)));
        let zero = I::constant(0);
        I::select(b.equal(zero), zero, rest)
    }
}

/// The quotient of two integers, rounded down, by their magnitudes: that of the smallest number is 2^63
/// without a sign. It wraps for the smallest number by -1, and is 0 or -1 for a zero divisor.
#[inline(always)]
fn floor_of<I: Whole>(a: I, b: I) -> I {
    let (zero, one) = (I::constant(0), I::constant(1));
    let (x, y) = (a.wrapping_abs(), b.wrapping_abs());
    let quotient = x.quotient(y);
    let rest = x.wrapping_sub(y.wrapping_mul(quotient));
    let up = I::select(rest.equal(zero), zero, one);
    let negative = quotient.wrapping_add(up).wrapping_neg();
    I::select(a.xor(b).less(zero), negative, quotient)
}

/// The quotient rounded down to a whole number.
#[derive(Clone, Copy, Default, Debug)]
pub struct FloorDivide;

impl Division for FloorDivide {
    /// By the exact remainder, so that b * (a floor-divide b) + (a mod b) is a but for rounding;
    /// a / b where b is zero.
    #[inline(always)]
    fn float<R: Remainder>(a: R, b: R) -> R {
        let (zero, one, rest) = (R::constant(0.0), R::constant(1.0), a.remainder(b));
        let plain = a / b;
        let quotient = (a - rest) / b;
        let down = rest.equal(zero).not().and(differ(rest.less(zero), b.less(zero)));
        let quotient = R::select(down, quotient - one, quotient);
        let whole = Floor::at(quotient);
        // a - rest is a multiple of b, so a rounded quotient is off by less than a half.
        let whole = R::select(R::constant(0.5).less(quotient - whole), whole + one, whole);
        let value = R::select(quotient.equal(zero), with_sign(zero, plain), whole);
        let by_zero = b.equal(zero);
        let none = R::select(by_zero, plain, rest).is_nan();
        R::select(none, R::canonical_nan(), R::select(by_zero, plain, value))
    }
}

impl WholeBinary for FloorDivide {
    /// Wraps for the smallest number by -1; 0 for a zero divisor, which callers refuse first.
    #[inline(always)]
    fn at<I: Whole>(a: I, b: I) -> I {
        let zero = I::constant(0);
        I::select(b.equal(zero), zero, floor_of(a, b))
    }
}

macro_rules! wholes {
    ($($(#[$doc:meta])* $name:ident: |$a:ident, $b:ident| $body:expr;)*) => {
        $($(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name;
        impl WholeBinary for $name {
            #[inline(always)]
            fn at<I: Whole>($a: I, $b: I) -> I { $body }
        })*
    };
}
wholes! {
    /// a raised to b, wrapping; 0 for a negative b, which callers refuse first.
    IntegerPower: |a, b| {
        let (zero, one) = (I::constant(0), I::constant(1));
        let (mut result, mut square, mut left) = (one, a, b.larger(zero));
        for _ in 0..63 {
            if left.is_surely_zero() {
                break;
            }
            let even = left.and(one).equal(zero);
            result = I::select(even, result, result.wrapping_mul(square));
            square = square.wrapping_mul(square);
            left = left.shift_right(one);
        }
        I::select(b.less(zero), zero, result)
    };
    /// a moved b places to the left, or -b places to the right with its sign repeated; every
    /// place beyond 63 counts.
    Shift: |a, b| {
        let (zero, most) = (I::constant(0), I::constant(63));
        let right = b.less(zero);
        // The smallest number is its own magnitude, and negative.
        let places = b.wrapping_abs();
        let near = places.and(most);
        let far = most.less(places).or(places.less(zero));
        let sign = I::select(a.less(zero), I::constant(-1), zero);
        let to_right = I::select(far, sign, a.xor(sign).shift_right(near).xor(sign));
        let to_left = I::select(far, zero, a.shift_left(near));
        I::select(right, to_right, to_left)
    };
    /// The bits that both have.
    BitAnd: |a, b| a.and(b);
    /// The bits that one has at least.
    BitOr: |a, b| a.or(b);
    /// The bits in which they differ.
    BitXor: |a, b| a.xor(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear congruential generator with its seed in the name of what it tests.
    fn words(seed: u64) -> impl Iterator<Item = u64> {
        let mut state = seed;
        std::iter::from_fn(move || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            Some(state ^ state >> 29)
        })
    }

    #[test]
    fn the_remainder_is_exact_at_every_magnitude() {
        let mut words = words(20);
        for round in 0..200_000 {
            let (a, b) = (f64::from_bits(words.next().unwrap()), words.next().unwrap());
            // Every other divisor is near in magnitude, where few steps are taken.
            let b = if round % 2 == 0 { b } else { a.to_bits() ^ b >> 6 };
            let b = f64::from_bits(b);
            assert!((a % b).to_bits() == a.remainder(b).to_bits() || (a % b).is_nan(), "{a} {b}");
            let (a, b) = (f32::from_bits(a.to_bits() as u32), f32::from_bits(b.to_bits() as u32));
            assert!((a % b).to_bits() == a.remainder(b).to_bits() || (a % b).is_nan(), "{a} {b}");
        }
        const FAR: [(f64, f64); 4] =
            [(f64::MAX, 5e-324), (5e-324, f64::MAX), (-1e300, 3e-310), (2.5e-308, 5e-324)];
        for (a, b) in FAR {
            assert_eq!((a % b).to_bits(), a.remainder(b).to_bits(), "{a} {b}");
        }
        for (a, b) in [(f64::INFINITY, 1.0f64), (1.0, 0.0), (f64::NAN, 1.0), (1.0, -f64::NAN)] {
            assert_eq!(a.remainder(b).to_bits(), f64::canonical_nan().to_bits());
        }
        assert_eq!((-7.0f64).remainder(f64::INFINITY), -7.0);
    }

    #[test]
    fn mod_and_floor_divide_take_the_sign_of_the_divisor() {
        let modulo = |a: f64, b: f64| (Mod::float(a, b), FloorDivide::float(a, b));
        assert_eq!(modulo(7.0, 3.0), (1.0, 2.0));
        assert_eq!(modulo(-7.0, 3.0), (2.0, -3.0));
        assert_eq!(modulo(7.0, -3.0), (-2.0, -3.0));
        assert_eq!(modulo(-7.0, -3.0), (-1.0, 2.0));
        assert_eq!(modulo(1.0, 0.1), (0.09999999999999995, 9.0));
        assert_eq!(Mod::float(-6.0, 3.0f64).to_bits(), 0.0f64.to_bits());
        assert_eq!(Mod::float(6.0, -3.0f64).to_bits(), (-0.0f64).to_bits());
        assert_eq!(FloorDivide::float(-0.0, 3.0f64).to_bits(), (-0.0f64).to_bits());
        assert_eq!(FloorDivide::float(1.0, 0.0), f64::INFINITY);
        assert!(Mod::float(1.0, 0.0f64).is_nan() && FloorDivide::float(0.0, 0.0f64).is_nan());
        assert_eq!(modulo(-1.0, f64::INFINITY), (f64::INFINITY, -1.0));
        for (a, b) in [(7i64, 3i64), (-7, 3), (7, -3), (-7, -3), (6, -3), (0, 5)] {
            let pair = (<Mod as IntegerBinary>::at(a, b), <FloorDivide as IntegerBinary>::at(a, b));
            let floats = modulo(a as f64, b as f64);
            assert_eq!((pair.0 as f64, pair.1 as f64), floats, "{a} {b}");
        }
        assert_eq!(<FloorDivide as IntegerBinary>::at(i64::MIN, -1), i64::MIN);
        assert_eq!(<Mod as IntegerBinary>::at(i64::MIN, -1), 0);
    }

    #[test]
    fn shifts_and_powers_of_integers() {
        let shift = <Shift as IntegerBinary>::at;
        assert_eq!([shift(5, 2), shift(5, 64), shift(-5, -1), shift(-5, -99)], [20, 0, -3, -1]);
        assert_eq!([shift(1, 63), shift(5, i64::MIN), shift(-1, i64::MAX)], [i64::MIN, 0, 0]);
        let power = <IntegerPower as IntegerBinary>::at;
        assert_eq!([power(3, 4), power(-2, 3), power(0, 0), power(2, 64)], [81, -8, 1, 0]);
        assert_eq!(power(-1, i64::MAX), -1);
        assert_eq!(power(7, 3), 343);
    }
}
