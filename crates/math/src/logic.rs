//! Truth and kind of numbers: not a number, infinite, finite, and what is true being not zero.
//! The tests look at the bits, because shader compilers may assume that NaN does not occur.

use crate::function::{Compare, IntegerCompare, Unary};
use crate::real::{Bits, Mask, Real};
use crate::whole::Whole;

/// 1 where the mask is true, else 0.
#[inline(always)]
fn one_where<R: Real>(mask: R::Mask) -> R {
    R::select(mask, R::constant(1.0), R::constant(0.0))
}

/// The bits without the sign.
#[inline(always)]
fn magnitude<R: Real>(x: R) -> R::Bits {
    x.bits() & R::Bits::constant(R::MAGNITUDE_MASK)
}

macro_rules! unary {
    ($(#[$doc:meta])* $name:ident, |$x:ident| $body:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name;
        impl Unary for $name {
            #[inline(always)]
            fn at<R: Real>($x: R) -> R { one_where($body) }
        }
    };
}
unary!(
    /// 1 for NaN, else 0.
    IsNan, |x| x.is_nan());
unary!(
    /// 1 for either infinity, else 0.
    IsInfinite, |x| magnitude(x).equal(R::Bits::constant(R::INFINITY_BITS)));
unary!(
    /// 1 for anything but NaN and the infinities, for which 0.
    IsFinite, |x| magnitude(x).less(R::Bits::constant(R::INFINITY_BITS)));
unary!(
    /// 1 for either zero, else 0; NaN is true, so 0.
    LogicalNot, |x| is_true(x).not());

/// Anything but the zeros, NaN included.
#[inline(always)]
fn is_true<R: Real>(x: R) -> R::Mask {
    R::Bits::constant(0).less(magnitude(x))
}

macro_rules! connective {
    ($(#[$doc:meta])* $name:ident, |$a:ident, $b:ident| $body:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Default, Debug)]
        pub struct $name;
        impl Compare for $name {
            #[inline(always)]
            fn at<R: Real>(a: R, b: R) -> R::Mask {
                let ($a, $b) = (is_true(a), is_true(b));
                $body
            }
        }
        impl IntegerCompare for $name {
            #[inline(always)]
            fn at<I: Whole>(a: I, b: I) -> I::Mask {
                let zero = I::constant(0);
                let ($a, $b) = (a.equal(zero).not(), b.equal(zero).not());
                $body
            }
        }
    };
}
connective!(
    /// Whether both numbers are true.
    LogicalAnd, |a, b| a.and(b));
connective!(
    /// Whether at least one of the numbers is true.
    LogicalOr, |a, b| a.or(b));
connective!(
    /// Whether exactly one of the numbers is true.
    LogicalXor, |a, b| a.or(b).and(a.and(b).not()));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_told_by_the_bits() {
        let kinds = |x: f64| [IsNan::at(x), IsInfinite::at(x), IsFinite::at(x)];
        assert_eq!(kinds(-f64::NAN), [1.0, 0.0, 0.0]);
        assert_eq!(kinds(f64::NEG_INFINITY), [0.0, 1.0, 0.0]);
        assert_eq!(kinds(f64::MAX), [0.0, 0.0, 1.0]);
        assert_eq!(kinds(-0.0), [0.0, 0.0, 1.0]);
        assert_eq!(IsNan::at(f32::from_bits(0x7F80_0001)), 1.0);
        assert_eq!(IsFinite::at(f32::MIN_POSITIVE), 1.0);
    }

    #[test]
    fn everything_but_a_zero_is_true() {
        assert_eq!([0.0, -0.0, 5e-324, f64::NAN].map(LogicalNot::at), [1.0, 1.0, 0.0, 0.0]);
        assert!(<LogicalAnd as Compare>::at(f64::NAN, -1.0));
        assert!(!<LogicalOr as Compare>::at(0.0_f64, -0.0));
        assert!(<LogicalXor as Compare>::at(0.0_f32, 2.0));
        assert!(!<LogicalXor as Compare>::at(3.0_f32, 2.0));
        assert!(!<LogicalXor as IntegerCompare>::at(3i64, 2));
    }
}
