//! 128-bit vectors written as arrays: the compiler turns them into SSE2, NEON or simd128.
//!
//! Without fused multiply-add hardware at compile time `mul_add` is a call, slow and exact; the
//! bits matter here, not the speed.

use super::{Simd, Vector};

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
}

/// `N` lanes of `T`.
#[derive(Clone, Copy)]
pub struct Lanes<T, const N: usize>(pub [T; N]);

macro_rules! lanes {
    ($t:ty, $n:literal) => {
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
            unsafe fn store_part(self, to: *mut $t, count: usize) {
                for (i, lane) in self.0.iter().enumerate().take(count) {
                    // SAFETY: the caller says that `count` elements are writable.
                    unsafe { *to.add(i) = *lane }
                }
            }

            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                Lanes(std::array::from_fn(|i| self.0[i] + other.0[i]))
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                Lanes(std::array::from_fn(|i| self.0[i] - other.0[i]))
            }

            #[inline(always)]
            fn times(self, other: Self) -> Self {
                Lanes(std::array::from_fn(|i| self.0[i] * other.0[i]))
            }

            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                Lanes(std::array::from_fn(|i| self.0[i].mul_add(b.0[i], c.0[i])))
            }
        }
    };
}
lanes!(f32, 4);
lanes!(f64, 2);
