//! Numbers as an unevaluated sum of two, about twice as precise as one: what power, the inverse
//! functions and the quotients need inside so that one rounding is left at the end. Error-free
//! sums and products are made from plain IEEE operations (Dekker, Knuth); there is no fused
//! multiply-add. Relative errors are about 2^-100 (f64) and 2^-44 (f32) unless a part underflows,
//! which the callers exclude or show to be harmless. `pair_functions` builds on it.

use crate::exponential::{fast_two_sum, upper_half};
use crate::real::{Real, Width};

/// high + low, |low| at most about half an ulp of high.
#[derive(Clone, Copy)]
pub(crate) struct Pair<R: Real> {
    pub(crate) high: R,
    pub(crate) low: R,
}

impl<R: Real> Pair<R> {
    /// One number, exactly.
    #[inline(always)]
    pub(crate) fn from_real(high: R) -> Self {
        Pair { high, low: R::constant(0.0) }
    }

    /// The pair of this width out of a constant's two pairs.
    #[inline(always)]
    pub(crate) fn constant(single: [f64; 2], double: [f64; 2]) -> Self {
        let [high, low] = match R::WIDTH {
            Width::F32 => single,
            Width::F64 => double,
        };
        Pair { high: R::constant(high), low: R::constant(low) }
    }

    /// a + b, |a| >= |b| or a = 0.
    #[inline(always)]
    pub(crate) fn ordered_sum(a: R, b: R) -> Self {
        let (high, low) = fast_two_sum(a, b);
        Pair { high, low }
    }

    /// a + b exactly, in any order of size.
    #[inline(always)]
    pub(crate) fn sum_of(a: R, b: R) -> Self {
        let high = a + b;
        let added = high - a;
        Pair { high, low: (a - (high - added)) + (b - added) }
    }

    /// a * b; exact at f32, at f64 to 2^-104.
    #[inline(always)]
    pub(crate) fn product_of(a: R, b: R) -> Self {
        let high = a * b;
        let (a_upper, b_upper) = (upper_half(a), upper_half(b));
        let (a_lower, b_lower) = (a - a_upper, b - b_upper);
        let lost = (a_upper * b_upper - high) + a_upper * b_lower;
        Pair { high, low: (lost + a_lower * b_upper) + a_lower * b_lower }
    }

    /// The rounded sum of both parts.
    #[inline(always)]
    pub(crate) fn rounded(self) -> R {
        self.high + self.low
    }

    #[inline(always)]
    pub(crate) fn negated(self) -> Self {
        Pair { high: -self.high, low: -self.low }
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        let sum = Self::sum_of(self.high, other.high);
        Self::ordered_sum(sum.high, sum.low + (self.low + other.low))
    }

    #[inline(always)]
    pub(crate) fn times(self, other: Self) -> Self {
        let product = Self::product_of(self.high, other.high);
        let cross = self.high * other.low + self.low * other.high;
        Self::ordered_sum(product.high, product.low + cross)
    }

    #[inline(always)]
    pub(crate) fn times_real(self, other: R) -> Self {
        let product = Self::product_of(self.high, other);
        Self::ordered_sum(product.high, product.low + self.low * other)
    }

    /// Times a power of two.
    #[inline(always)]
    pub(crate) fn scaled(self, power: f64) -> Self {
        let power = R::constant(power);
        Pair { high: self.high * power, low: self.low * power }
    }

    #[inline(always)]
    pub(crate) fn divided_by(self, other: Self) -> Self {
        let quotient = self.high / other.high;
        let product = Self::product_of(quotient, other.high);
        let rest = ((self.high - product.high) - product.low) + (self.low - quotient * other.low);
        Self::ordered_sum(quotient, rest / other.high)
    }

    /// The square root of a number that is not negative.
    #[inline(always)]
    pub(crate) fn root(self) -> Self {
        let root = self.high.sqrt();
        let square = Self::product_of(root, root);
        let rest = ((self.high - square.high) - square.low) + self.low;
        let zero = R::constant(0.0);
        let low = R::select(root.equal(zero), zero, rest / (root + root));
        Self::ordered_sum(root, low)
    }

    /// `yes` where the mask is true, else `no`.
    #[inline(always)]
    pub(crate) fn select(mask: R::Mask, yes: Self, no: Self) -> Self {
        Pair { high: R::select(mask, yes.high, no.high), low: R::select(mask, yes.low, no.low) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_and_products_keep_what_rounding_loses() {
        let sum = Pair::sum_of(2.0_f64.powi(-60), 1.0);
        assert_eq!((sum.high, sum.low), (1.0, 2.0_f64.powi(-60)));
        let x = 1.0 + 2.0_f32.powi(-23);
        let product = Pair::product_of(x, x);
        assert_eq!((product.high, product.low), (1.0 + 2.0_f32.powi(-22), 2.0_f32.powi(-46)));
    }

    #[test]
    fn quotients_and_roots_multiply_back() {
        let third = Pair::from_real(1.0_f64).divided_by(Pair::from_real(3.0));
        let one = third.times_real(3.0);
        assert_eq!(one.high, 1.0);
        assert!(one.low.abs() < 1e-31);
        let root = Pair::from_real(2.0_f64).root();
        let two = root.times(root);
        assert_eq!(two.high, 2.0);
        assert!(two.low.abs() < 1e-30);
        assert_eq!(Pair::from_real(0.0_f64).root().rounded(), 0.0);
    }
}
