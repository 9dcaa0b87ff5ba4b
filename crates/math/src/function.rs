//! Traits that turn a definition into a type without values, so that another crate can be generic
//! over "which function": lanes instantiate `F::at` with vector types, `trace` records it, the
//! table names it. The elementary functions are in `exponential`, `hyperbolic`, ...; this file
//! holds the traits and the functions that take a handful of primitives (spec linalg 1.8).

use crate::real::{Bits, Mask, Real};
use crate::whole::Whole;

/// A function of one number.
pub trait Unary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<R: Real>(x: R) -> R;
}

/// A function of two numbers.
pub trait Binary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<R: Real>(a: R, b: R) -> R;
}

/// A function of three numbers.
pub trait Ternary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<R: Real>(a: R, b: R, c: R) -> R;
}

/// A relation between two numbers.
pub trait Compare: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<R: Real>(a: R, b: R) -> R::Mask;
}

/// The meaning of a `Binary` for integers; results wrap.
pub trait IntegerBinary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at(a: i64, b: i64) -> i64;
}

/// The same in the vocabulary that can be recorded.
pub trait WholeBinary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<I: Whole>(a: I, b: I) -> I;
}

impl<F: WholeBinary> IntegerBinary for F {
    #[inline(always)]
    fn at(a: i64, b: i64) -> i64 {
        <F as WholeBinary>::at(a, b)
    }
}

/// The meaning of a `Unary` for integers; results wrap.
pub trait IntegerUnary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<I: Whole>(x: I) -> I;
}

/// The meaning of a `Ternary` for integers.
pub trait IntegerTernary: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<I: Whole>(a: I, b: I, c: I) -> I;
}

/// The meaning of a `Compare` for integers.
pub trait IntegerCompare: Copy + Default + Send + Sync + 'static {
    /// The definition.
    fn at<I: Whole>(a: I, b: I) -> I::Mask;
}

macro_rules! unary {
    ($(#[$doc:meta])* $name:ident, |$x:ident| $body:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name;
        impl Unary for $name {
            #[inline(always)]
            fn at<R: Real>($x: R) -> R { $body }
        }
    };
    ($(#[$doc:meta])* $name:ident, |$x:ident| $body:expr, integers $integers:expr) => {
        unary!($(#[$doc])* $name, |$x| $body);
        impl IntegerUnary for $name {
            #[inline(always)]
            fn at<I: Whole>($x: I) -> I { $integers }
        }
    };
}

macro_rules! binary {
    ($(#[$doc:meta])* $name:ident, |$a:ident, $b:ident| $body:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name;
        impl Binary for $name {
            #[inline(always)]
            fn at<R: Real>($a: R, $b: R) -> R { $body }
        }
    };
    ($(#[$doc:meta])* $name:ident, |$a:ident, $b:ident| $body:expr, integers $integers:expr) => {
        binary!($(#[$doc])* $name, |$a, $b| $body);
        impl WholeBinary for $name {
            #[inline(always)]
            fn at<I: Whole>($a: I, $b: I) -> I { $integers }
        }
    };
}

macro_rules! compare {
    ($(#[$doc:meta])* $name:ident, |$a:ident, $b:ident| $body:expr, integers $integers:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name;
        impl Compare for $name {
            #[inline(always)]
            fn at<R: Real>($a: R, $b: R) -> R::Mask { $body }
        }
        impl IntegerCompare for $name {
            #[inline(always)]
            fn at<I: Whole>($a: I, $b: I) -> I::Mask { $integers }
        }
    };
}

unary!(
    /// x: what a copy writes.
    Itself, |x| x, integers x);
unary!(
    /// The square root: NaN for negative numbers, -0.0 for -0.0.
    Sqrt, |x| x.sqrt());
unary!(
    /// Clears the sign bit.
    Abs, |x| x.abs(), integers x.wrapping_abs());
unary!(
    /// Flips the sign bit.
    Negative, |x| -x, integers x.wrapping_neg());
unary!(
    /// x * x.
    Square, |x| x * x, integers x.wrapping_mul(x));
unary!(
    /// 1 / x.
    Reciprocal, |x| R::constant(1.0) / x);
unary!(
/// -1, +0.0 or 1; +0.0 for both zeros, NaN for NaN.
Sign, |x| {
    let zero = R::constant(0.0);
    let positive = R::select(zero.less(x), R::constant(1.0), zero);
    let signed = R::select(x.less(zero), R::constant(-1.0), positive);
    R::select(x.is_nan(), R::canonical_nan(), signed)
}, integers x.signum());
unary!(
    /// The larger of x and +0.0, so +0.0 for -0.0; NaN for NaN.
    Relu, |x| <Maximum as Binary>::at(x, R::constant(0.0)), integers x.larger(I::constant(0)));

binary!(
    /// a + b.
    Add, |a, b| a + b, integers a.wrapping_add(b));
binary!(
    /// a - b.
    Sub, |a, b| a - b, integers a.wrapping_sub(b));
binary!(
    /// a * b.
    Mul, |a, b| a * b, integers a.wrapping_mul(b));
binary!(
    /// a / b. Integers have no quotient of their own: they are widened to f64 first.
    Div, |a, b| a / b);
binary!(
    /// The larger; canonical NaN if either is NaN; -0.0 counts as below +0.0.
    Maximum, |a, b| {
        let equal = (a.bits() & b.bits()).real();
        let larger = R::select(a.less(b), b, a);
        let larger = R::select(a.equal(b), equal, larger);
        R::select(a.is_nan().or(b.is_nan()), R::canonical_nan(), larger)
    }, integers a.larger(b));
binary!(
    /// The smaller; canonical NaN if either is NaN; -0.0 counts as below +0.0.
    Minimum, |a, b| {
        let equal = (a.bits() | b.bits()).real();
        let smaller = R::select(b.less(a), b, a);
        let smaller = R::select(a.equal(b), equal, smaller);
        R::select(a.is_nan().or(b.is_nan()), R::canonical_nan(), smaller)
    }, integers a.smaller(b));

binary!(
    /// The larger; a NaN counts as absent, so the result is NaN only if both are.
    LargerNumber, |a, b| {
        let other = R::select(b.is_nan(), a, <Maximum as Binary>::at(a, b));
        R::select(a.is_nan(), b, other)
    }, integers a.larger(b));
binary!(
    /// The smaller; a NaN counts as absent, so the result is NaN only if both are.
    SmallerNumber, |a, b| {
        let other = R::select(b.is_nan(), a, <Minimum as Binary>::at(a, b));
        R::select(a.is_nan(), b, other)
    }, integers a.smaller(b));

compare!(
    /// a = b; false with NaN.
    Equal, |a, b| a.equal(b), integers a.equal(b));
compare!(
    /// Not (a = b); true with NaN.
    NotEqual, |a, b| a.equal(b).not(), integers a.equal(b).not());
compare!(
    /// a > b; false with NaN.
    Greater, |a, b| b.less(a), integers b.less(a));
compare!(
    /// a >= b; false with NaN.
    GreaterEqual, |a, b| b.less_equal(a), integers a.less(b).not());
compare!(
    /// a < b; false with NaN.
    Less, |a, b| a.less(b), integers a.less(b));
compare!(
    /// a <= b; false with NaN.
    LessEqual, |a, b| a.less_equal(b), integers b.less(a).not());

/// minimum(maximum(a, low), high).
#[derive(Clone, Copy, Default, Debug)]
pub struct Clip;
impl Ternary for Clip {
    #[inline(always)]
    fn at<R: Real>(a: R, low: R, high: R) -> R {
        <Minimum as Binary>::at(<Maximum as Binary>::at(a, low), high)
    }
}

/// yes where the mask is not zero (NaN is not), else no; of (mask, yes, no).
#[derive(Clone, Copy, Default, Debug)]
pub struct Choose;
impl Ternary for Choose {
    #[inline(always)]
    fn at<R: Real>(mask: R, yes: R, no: R) -> R {
        R::select(mask.equal(R::constant(0.0)), no, yes)
    }
}

impl IntegerTernary for Choose {
    #[inline(always)]
    fn at<I: Whole>(mask: I, yes: I, no: I) -> I {
        I::select(mask.equal(I::constant(0)), no, yes)
    }
}

/// Whether two numbers lie close together: |a - b| <= absolute + relative * |b| for a finite b,
/// or a = b.
#[derive(Clone, Copy, Debug)]
pub struct Close {
    /// The tolerance in units of |b|.
    pub relative: f64,
    /// The tolerance beside it.
    pub absolute: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

impl Close {
    /// The definition; the tolerances are rounded once to the width of the numbers.
    #[inline(always)]
    pub fn at<R: Real>(self, a: R, b: R) -> R::Mask {
        let (relative, absolute) = (R::constant(self.relative), R::constant(self.absolute));
        let near = (a - b).abs().less_equal(absolute + relative * b.abs());
        let finite = b.abs().less(R::infinity());
        let both_nan = a.is_nan().and(b.is_nan()).and(R::Mask::constant(self.equal_nan));
        near.and(finite).or(a.equal(b)).or(both_nan)
    }
}

impl IntegerTernary for Clip {
    #[inline(always)]
    fn at<I: Whole>(a: I, low: I, high: I) -> I {
        a.larger(low).smaller(high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn same(left: f64, right: f64) {
        assert_eq!(left.to_bits(), right.to_bits(), "{left} and {right}");
    }

    #[test]
    fn maximum_and_minimum_order_the_zeros_and_propagate_nan() {
        same(<Maximum as Binary>::at(-0.0, 0.0), 0.0);
        same(<Maximum as Binary>::at(0.0, -0.0), 0.0);
        same(<Maximum as Binary>::at(-0.0, -0.0), -0.0);
        same(<Minimum as Binary>::at(0.0, -0.0), -0.0);
        same(<Minimum as Binary>::at(-0.0, 0.0), -0.0);
        same(<Maximum as Binary>::at(1.0, -f64::NAN), f64::canonical_nan());
        same(<Minimum as Binary>::at(-f64::NAN, 1.0), f64::canonical_nan());
        same(<Maximum as Binary>::at(f64::NEG_INFINITY, -3.0), -3.0);
        same(<Minimum as Binary>::at(2.0, 5.0), 2.0);
    }

    #[test]
    fn a_nan_is_absent_among_numbers() {
        same(<LargerNumber as Binary>::at(f64::NAN, -3.0), -3.0);
        same(<LargerNumber as Binary>::at(-3.0, f64::NAN), -3.0);
        same(<SmallerNumber as Binary>::at(2.0, 5.0), 2.0);
        assert!(<SmallerNumber as Binary>::at(f64::NAN, f64::NAN).is_nan());
    }

    #[test]
    fn closeness_is_relative_to_the_second_and_exact_at_infinity() {
        let close = Close { relative: 0.1, absolute: 0.0, equal_nan: false };
        assert!(close.at(9.0f64, 10.0) && !close.at(10.0f64, 9.0));
        assert!(close.at(f64::INFINITY, f64::INFINITY) && !close.at(1.0, f64::INFINITY));
        assert!(!close.at(f64::INFINITY, -f64::INFINITY) && !close.at(f32::NAN, f32::NAN));
        assert!(Close { equal_nan: true, ..close }.at(f64::NAN, f64::NAN));
        assert!(close.at(-0.0f64, 0.0));
    }

    #[test]
    fn sign_relu_and_clip() {
        same(<Sign as Unary>::at(-0.0), 0.0);
        same(<Sign as Unary>::at(-5.0e-324), -1.0);
        same(<Sign as Unary>::at(f64::INFINITY), 1.0);
        same(<Sign as Unary>::at(-f64::NAN), f64::canonical_nan());
        same(<Relu as Unary>::at(-0.0), 0.0);
        same(<Relu as Unary>::at(-1.0), 0.0);
        same(<Relu as Unary>::at(2.5), 2.5);
        same(<Clip as Ternary>::at(7.0, -1.0, 3.0), 3.0);
    }

    #[test]
    fn comparisons_are_false_with_nan_except_not_equal() {
        assert!(!<Equal as Compare>::at(f64::NAN, f64::NAN));
        assert!(<NotEqual as Compare>::at(f64::NAN, f64::NAN));
        assert!(!<LessEqual as Compare>::at(f64::NAN, 1.0));
        assert!(!<Greater as Compare>::at(1.0, f64::NAN));
        assert!(<Equal as Compare>::at(-0.0_f64, 0.0));
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(<Add as IntegerBinary>::at(i64::MAX, 1), i64::MIN);
        assert_eq!(<Mul as IntegerBinary>::at(i64::MIN, -1), i64::MIN);
        assert_eq!(<Maximum as IntegerBinary>::at(-3, 2), 2);
        assert_eq!(<Abs as IntegerUnary>::at(i64::MIN), i64::MIN);
        assert_eq!(<Square as IntegerUnary>::at(1 << 32), 0);
        assert_eq!([-3, 0, 9].map(<Sign as IntegerUnary>::at), [-1, 0, 1]);
        assert_eq!([-3, 4].map(<Relu as IntegerUnary>::at), [0, 4]);
        assert_eq!(<Clip as IntegerTernary>::at(7, -1, 3), 3);
    }
}
