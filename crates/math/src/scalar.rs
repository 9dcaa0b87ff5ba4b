//! The scalar instances of `Real`, `Bits` and `Mask`: f32 with `Wrapping<u32>`, f64 with
//! `Wrapping<u64>`, and bool. These run the portable rung and are the oracle for all others.
//! Everything inlines, so that a definition takes on the target features of its caller.

use crate::real::{Bits, Mask, Real, Width};
use core::num::Wrapping;

impl Mask for bool {
    #[inline(always)]
    fn constant(value: bool) -> Self {
        value
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self & other
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self | other
    }
    #[inline(always)]
    fn not(self) -> Self {
        !self
    }
}

macro_rules! scalar {
    ($real:ty, $unsigned:ty, $signed:ty, $double:ty, $width:expr) => {
        impl Bits for Wrapping<$unsigned> {
            type Real = $real;
            type Mask = bool;

            #[inline(always)]
            fn constant(value: u64) -> Self {
                Wrapping(value as $unsigned)
            }
            #[inline(always)]
            fn shift_left(self, amount: u32) -> Self {
                Wrapping(self.0 << amount)
            }
            #[inline(always)]
            fn shift_right(self, amount: u32) -> Self {
                Wrapping(self.0 >> amount)
            }
            #[inline(always)]
            fn shift_right_signed(self, amount: u32) -> Self {
                Wrapping((self.0 as $signed >> amount) as $unsigned)
            }
            #[inline(always)]
            fn shift_left_by(self, amount: Self) -> Self {
                Wrapping(self.0 << amount.0)
            }
            #[inline(always)]
            fn shift_right_by(self, amount: Self) -> Self {
                Wrapping(self.0 >> amount.0)
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self.0 < other.0
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self.0 == other.0
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn high_product(self, other: Self) -> Self {
                let product = self.0 as $double * other.0 as $double;
                Wrapping((product >> <$unsigned>::BITS) as $unsigned)
            }
            #[inline(always)]
            fn lookup(self, table: &'static [u64]) -> Self {
                Wrapping(table[self.0 as usize & (table.len() - 1)] as $unsigned)
            }
        }

        impl Real for $real {
            type Bits = Wrapping<$unsigned>;
            type Mask = bool;
            const WIDTH: Width = $width;

            #[inline(always)]
            fn constant(value: f64) -> Self {
                value as $real
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                <$real>::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                <$real>::abs(self)
            }
            #[inline(always)]
            fn bits(self) -> Self::Bits {
                Wrapping(self.to_bits())
            }
            #[inline(always)]
            fn from_bits(bits: Self::Bits) -> Self {
                <$real>::from_bits(bits.0)
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> bool {
                self <= other
            }
            #[inline(always)]
            fn equal(self, other: Self) -> bool {
                self == other
            }
            #[inline(always)]
            fn select(mask: bool, yes: Self, no: Self) -> Self {
                if mask { yes } else { no }
            }
            #[inline(always)]
            fn rare(mask: bool, usual: Self, slow: impl FnOnce() -> Self) -> Self {
                if mask { slow() } else { usual }
            }
        }
    };
}

scalar!(f32, u32, i32, u64, Width::F32);
scalar!(f64, u64, i64, u128, Width::F64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_wrap_shift_and_multiply() {
        let top = Wrapping(0x8000_0000_u32);
        assert_eq!((top + top).0, 0);
        assert_eq!(top.shift_right_signed(4).0, 0xF800_0000);
        assert_eq!(top.shift_right(4).0, 0x0800_0000);
        assert_eq!(top.high_product(Wrapping(6)).0, 3);
        assert_eq!(Wrapping(u64::MAX).high_product(Wrapping(u64::MAX)).0, u64::MAX - 1);
        assert_eq!(Wrapping(5_u64).lookup(&[10, 11, 12, 13]).0, 11);
    }

    #[test]
    fn not_a_number_is_found_on_the_bits() {
        assert!(Real::is_nan(f32::NAN) && Real::is_nan(-f64::NAN));
        assert!(!Real::is_nan(f32::INFINITY) && !Real::is_nan(-0.0_f64));
        assert_eq!(f32::canonical_nan().to_bits(), 0x7FC0_0000);
        assert_eq!(f64::canonical_nan().to_bits(), 0x7FF8_0000_0000_0000);
    }
}
