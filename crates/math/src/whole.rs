//! `Whole`: the vocabulary of the definitions that have a meaning of their own for integers, in 64
//! bits that wrap. The scalar instance is i64; `trace` has the recording one.

use crate::real::Mask;

/// An integer of 64 bits in two's complement. Every operation wraps.
pub trait Whole: Copy {
    /// The result of comparisons.
    type Mask: Mask;

    /// The same value everywhere.
    fn constant(value: i64) -> Self;
    /// The sum.
    fn wrapping_add(self, other: Self) -> Self;
    /// The difference.
    fn wrapping_sub(self, other: Self) -> Self;
    /// The product.
    fn wrapping_mul(self, other: Self) -> Self;
    /// The bits that both have.
    fn and(self, other: Self) -> Self;
    /// The bits that one has at least.
    fn or(self, other: Self) -> Self;
    /// The bits in which they differ.
    fn xor(self, other: Self) -> Self;
    /// Moved n places to the left; n is 0 to 63.
    fn shift_left(self, n: Self) -> Self;
    /// Moved n places to the right as bits without a sign; n is 0 to 63.
    fn shift_right(self, n: Self) -> Self;
    /// The quotient of two numbers without a sign, towards 0; anything of a zero divisor.
    fn quotient(self, other: Self) -> Self;
    /// Signed comparison.
    fn less(self, other: Self) -> Self::Mask;
    /// Equality.
    fn equal(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`; both are evaluated.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// Whether it is known to be 0, so that a loop may end early; a recording knows no value.
    fn is_surely_zero(self) -> bool;

    /// The other sign; the smallest number has none and stays.
    #[inline(always)]
    fn wrapping_neg(self) -> Self {
        Self::constant(0).wrapping_sub(self)
    }

    /// The magnitude; of the smallest number that number.
    #[inline(always)]
    fn wrapping_abs(self) -> Self {
        Self::select(self.less(Self::constant(0)), self.wrapping_neg(), self)
    }

    /// -1, 0 or 1.
    #[inline(always)]
    fn signum(self) -> Self {
        let zero = Self::constant(0);
        let positive = Self::select(zero.less(self), Self::constant(1), zero);
        Self::select(self.less(zero), Self::constant(-1), positive)
    }

    /// The larger.
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        Self::select(self.less(other), other, self)
    }

    /// The smaller.
    #[inline(always)]
    fn smaller(self, other: Self) -> Self {
        Self::select(other.less(self), other, self)
    }
}

impl Whole for i64 {
    type Mask = bool;

    #[inline(always)]
    fn constant(value: i64) -> i64 {
        value
    }
    #[inline(always)]
    fn wrapping_add(self, other: i64) -> i64 {
        i64::wrapping_add(self, other)
    }
    #[inline(always)]
    fn wrapping_sub(self, other: i64) -> i64 {
        i64::wrapping_sub(self, other)
    }
    #[inline(always)]
    fn wrapping_mul(self, other: i64) -> i64 {
        i64::wrapping_mul(self, other)
    }
    #[inline(always)]
    fn and(self, other: i64) -> i64 {
        self & other
    }
    #[inline(always)]
    fn or(self, other: i64) -> i64 {
        self | other
    }
    #[inline(always)]
    fn xor(self, other: i64) -> i64 {
        self ^ other
    }
    #[inline(always)]
    fn shift_left(self, n: i64) -> i64 {
        self << (n & 63)
    }
    #[inline(always)]
    fn shift_right(self, n: i64) -> i64 {
        (self as u64 >> (n & 63)) as i64
    }
    #[inline(always)]
    fn quotient(self, other: i64) -> i64 {
        (self as u64).checked_div(other as u64).unwrap_or(0) as i64
    }
    #[inline(always)]
    fn less(self, other: i64) -> bool {
        self < other
    }
    #[inline(always)]
    fn equal(self, other: i64) -> bool {
        self == other
    }
    #[inline(always)]
    fn select(mask: bool, yes: i64, no: i64) -> i64 {
        if mask { yes } else { no }
    }
    #[inline(always)]
    fn is_surely_zero(self) -> bool {
        self == 0
    }
}
