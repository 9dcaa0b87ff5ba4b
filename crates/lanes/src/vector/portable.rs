//! 128-bit vectors written as arrays: the compiler turns them into SSE2, NEON or simd128.
//!
//! Without fused multiply-add hardware at compile time `mul_add` is a call, slow and exact; the
//! bits matter here, not the speed. Each lane computes with the scalar instances of `math`.

use super::{Simd, Vector, Words, widened_bf16};
use rung_base::f16;
use rung_math::{Bits, Mask, Real, Width};
use std::num::Wrapping;

/// The level of the target's baseline.
#[derive(Clone, Copy)]
pub struct Portable;

impl Simd for Portable {
    type F32 = Lanes<f32, 4>;
    type F64 = Lanes<f64, 2>;
    const TILE_ROWS: usize = 4;

    #[inline(always)]
    unsafe fn widen(from: *const f32) -> Self::F64 {
        // SAFETY: the caller says that two elements are readable.
        unsafe { Lanes([*from as f64, *from.add(1) as f64]) }
    }

    #[inline(always)]
    unsafe fn widen_bf16(from: *const u16) -> Self::F64 {
        // SAFETY: the caller says that two elements are readable.
        unsafe { Lanes([widened_bf16(*from), widened_bf16(*from.add(1))]) }
    }

    #[inline(always)]
    unsafe fn store_narrowed(x: Self::F64, to: *mut f32) {
        // SAFETY: the caller says that two elements are writable.
        unsafe { to.cast::<[f32; 2]>().write_unaligned(x.0.map(|x| x as f32)) }
    }

    #[inline(always)]
    unsafe fn widen_f16(from: *const u16) -> Self::F64 {
        // SAFETY: the caller says that two elements are readable.
        unsafe { Lanes([f16::from_bits(*from).to_f64(), f16::from_bits(*from.add(1)).to_f64()]) }
    }
}

/// `N` lanes of `T`: floats, `Wrapping` integers or truth values.
#[derive(Clone, Copy)]
pub struct Lanes<T, const N: usize>(pub [T; N]);

impl<T: Copy, const N: usize> Lanes<T, N> {
    #[inline(always)]
    fn map<U: Copy>(self, f: impl Fn(T) -> U) -> Lanes<U, N> {
        Lanes(std::array::from_fn(|i| f(self.0[i])))
    }

    #[inline(always)]
    fn zip<U: Copy>(self, other: Self, f: impl Fn(T, T) -> U) -> Lanes<U, N> {
        Lanes(std::array::from_fn(|i| f(self.0[i], other.0[i])))
    }
}

#[inline(always)]
fn select<T: Copy, const N: usize>(
    mask: Lanes<bool, N>,
    yes: Lanes<T, N>,
    no: Lanes<T, N>,
) -> Lanes<T, N> {
    Lanes(std::array::from_fn(|i| if mask.0[i] { yes.0[i] } else { no.0[i] }))
}

impl<const N: usize> Mask for Lanes<bool, N> {
    #[inline(always)]
    fn constant(value: bool) -> Self {
        Lanes([value; N])
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        self.zip(other, |a, b| a & b)
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        self.zip(other, |a, b| a | b)
    }
    #[inline(always)]
    fn not(self) -> Self {
        self.map(|a| !a)
    }
}

macro_rules! lanewise {
    ($name:ty, $($trait:ident $method:ident),*) => {
        $(impl std::ops::$trait for $name {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                self.zip(other, |a, b| a.$method(b))
            }
        })*
    };
}

macro_rules! portable {
    ($t:ty, $word:ty, $n:literal) => {
        lanewise!(Lanes<$t, $n>, Add add, Sub sub, Mul mul, Div div);
        lanewise!(Lanes<Wrapping<$word>, $n>,
            Add add, Sub sub, Mul mul, BitAnd bitand, BitOr bitor, BitXor bitxor);

        impl std::ops::Neg for Lanes<$t, $n> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.map(|x| -x)
            }
        }

        impl std::ops::Not for Lanes<Wrapping<$word>, $n> {
            type Output = Self;
            #[inline(always)]
            fn not(self) -> Self {
                self.map(|x| !x)
            }
        }

        impl Bits for Lanes<Wrapping<$word>, $n> {
            type Real = Lanes<$t, $n>;
            type Mask = Lanes<bool, $n>;

            #[inline(always)]
            fn constant(value: u64) -> Self {
                Lanes([Wrapping(value as $word); $n])
            }
            #[inline(always)]
            fn shift_left(self, amount: u32) -> Self {
                self.map(|x| x.shift_left(amount))
            }
            #[inline(always)]
            fn shift_right(self, amount: u32) -> Self {
                self.map(|x| x.shift_right(amount))
            }
            #[inline(always)]
            fn shift_right_signed(self, amount: u32) -> Self {
                self.map(|x| x.shift_right_signed(amount))
            }
            #[inline(always)]
            fn shift_left_by(self, amount: Self) -> Self {
                self.zip(amount, |x, by| x.shift_left_by(by))
            }
            #[inline(always)]
            fn shift_right_by(self, amount: Self) -> Self {
                self.zip(amount, |x, by| x.shift_right_by(by))
            }
            #[inline(always)]
            fn less(self, other: Self) -> Self::Mask {
                self.zip(other, |a, b| a < b)
            }
            #[inline(always)]
            fn equal(self, other: Self) -> Self::Mask {
                self.zip(other, |a, b| a == b)
            }
            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                select(mask, yes, no)
            }
            #[inline(always)]
            fn high_product(self, other: Self) -> Self {
                self.zip(other, |a, b| a.high_product(b))
            }
            #[inline(always)]
            fn lookup(self, table: &'static [u64]) -> Self {
                self.map(|x| x.lookup(table))
            }
        }

        impl Words for Lanes<Wrapping<$word>, $n> {
            #[inline(always)]
            fn smaller(self, other: Self) -> Self {
                self.zip(other, Ord::min)
            }
            #[inline(always)]
            fn larger(self, other: Self) -> Self {
                self.zip(other, Ord::max)
            }
        }

        impl Real for Lanes<$t, $n> {
            type Bits = Lanes<Wrapping<$word>, $n>;
            type Mask = Lanes<bool, $n>;
            const WIDTH: Width = <$t as Real>::WIDTH;

            #[inline(always)]
            fn constant(value: f64) -> Self {
                Lanes([value as $t; $n])
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.map(<$t>::sqrt)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                self.map(<$t>::abs)
            }
            #[inline(always)]
            fn bits(self) -> Self::Bits {
                self.map(|x| Wrapping(x.to_bits()))
            }
            #[inline(always)]
            fn from_bits(bits: Self::Bits) -> Self {
                bits.map(|x| <$t>::from_bits(x.0))
            }
            #[inline(always)]
            fn less(self, other: Self) -> Self::Mask {
                self.zip(other, |a, b| a < b)
            }
            #[inline(always)]
            fn less_equal(self, other: Self) -> Self::Mask {
                self.zip(other, |a, b| a <= b)
            }
            #[inline(always)]
            fn equal(self, other: Self) -> Self::Mask {
                self.zip(other, |a, b| a == b)
            }
            #[inline(always)]
            fn select(mask: Self::Mask, yes: Self, no: Self) -> Self {
                select(mask, yes, no)
            }
            #[inline(always)]
            fn rare(mask: Self::Mask, usual: Self, slow: impl FnOnce() -> Self) -> Self {
                if Self::any(mask) { select(mask, slow(), usual) } else { usual }
            }
            #[inline(always)]
            fn any(mask: Self::Mask) -> bool {
                mask.0.contains(&true)
            }
        }

        impl Vector for Lanes<$t, $n> {
            type Element = $t;
            const LANES: usize = $n;

            #[inline(always)]
            fn splat(x: $t) -> Self {
                Lanes([x; $n])
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: the caller says that LANES elements are readable.
                Lanes(unsafe { from.cast::<[$t; $n]>().read_unaligned() })
            }
            #[inline(always)]
            unsafe fn load_part(from: *const $t, count: usize) -> Self {
                let mut lanes = [0.0; $n];
                for (i, lane) in lanes.iter_mut().enumerate().take(count) {
                    // SAFETY: the caller says that `count` elements are readable.
                    *lane = unsafe { *from.add(i) };
                }
                Lanes(lanes)
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: the caller says that LANES elements are writable.
                unsafe { to.cast::<[$t; $n]>().write_unaligned(self.0) }
            }
            #[inline(always)]
            unsafe fn stream(self, to: *mut $t) {
                // SAFETY: the caller's promise.
                unsafe { self.store(to) }
            }
            #[inline(always)]
            unsafe fn store_part(self, to: *mut $t, count: usize) {
                for (i, lane) in self.0.iter().enumerate().take(count) {
                    // SAFETY: the caller says that `count` elements are writable.
                    unsafe { *to.add(i) = *lane }
                }
            }
            #[inline(always)]
            fn first(mask: Self::Mask) -> usize {
                mask.0.iter().position(|lane| *lane).unwrap_or($n)
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                Lanes(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
            }
        }
    };
}
portable!(f32, u32, 4);
portable!(f64, u64, 2);
