//! The 256- and 512-bit registers of x86-64, one macro use each.
//!
//! Nothing here switches features on: the methods are only meaningful inside the feature-enabled
//! functions of `level`, into which they are inlined.

use super::{Simd, Vector};
use std::arch::x86_64::*;

/// 256-bit vectors with fused multiply-add.
#[derive(Clone, Copy)]
pub struct Avx2;

/// 512-bit vectors.
#[derive(Clone, Copy)]
pub struct Avx512;

impl Simd for Avx2 {
    type F32 = F32x8;
    type F64 = F64x4;
    const TILE_ROWS: usize = 6;

    #[inline(always)]
    unsafe fn widen(from: *const f32) -> F64x4 {
        // SAFETY: the caller says that four elements are readable.
        unsafe { F64x4(_mm256_cvtps_pd(_mm_loadu_ps(from))) }
    }
}

impl Simd for Avx512 {
    type F32 = F32x16;
    type F64 = F64x8;
    const TILE_ROWS: usize = 12;

    #[inline(always)]
    unsafe fn widen(from: *const f32) -> F64x8 {
        // SAFETY: the caller says that eight elements are readable.
        unsafe { F64x8(_mm512_cvtps_pd(_mm256_loadu_ps(from))) }
    }
}

macro_rules! register {
    ($name:ident, $raw:ty, $t:ty, $lanes:literal, $doc:literal,
     set $set:ident, load $load:ident, store $store:ident,
     part |$from:ident, $count:ident| $load_part:expr,
     |$value:ident, $to:ident, $stored:ident| $store_part:expr,
     add $add:ident, sub $sub:ident, mul $mul:ident, fma $fma:ident) => {
        #[doc = $doc]
        #[derive(Clone, Copy)]
        pub struct $name(pub $raw);

        // SAFETY of every block: the features are on wherever this is inlined (see `level`), and
        // the caller vouches for the pointers.
        impl Vector for $name {
            type Element = $t;
            const LANES: usize = $lanes;

            #[inline(always)]
            fn splat(x: $t) -> Self {
                // SAFETY: see above.
                unsafe { $name($set(x)) }
            }
            #[inline(always)]
            unsafe fn load(from: *const $t) -> Self {
                // SAFETY: see above.
                unsafe { $name($load(from)) }
            }
            #[inline(always)]
            unsafe fn load_part($from: *const $t, $count: usize) -> Self {
                // SAFETY: see above.
                unsafe { $name($load_part) }
            }
            #[inline(always)]
            unsafe fn store(self, to: *mut $t) {
                // SAFETY: see above.
                unsafe { $store(to, self.0) }
            }
            #[inline(always)]
            unsafe fn store_part(self, $to: *mut $t, $stored: usize) {
                let $value = self.0;
                // SAFETY: see above.
                unsafe { $store_part }
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                // SAFETY: see above.
                unsafe { $name($add(self.0, other.0)) }
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                // SAFETY: see above.
                unsafe { $name($sub(self.0, other.0)) }
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                // SAFETY: see above.
                unsafe { $name($mul(self.0, other.0)) }
            }
            #[inline(always)]
            fn fused(self, b: Self, c: Self) -> Self {
                // SAFETY: see above.
                unsafe { $name($fma(self.0, b.0, c.0)) }
            }
        }
    };
}

/// Mask words for `maskload`: eight set, then eight clear; a window of them selects a part.
static WINDOW32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
static WINDOW64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

#[inline(always)]
unsafe fn mask32(count: usize) -> __m256i {
    // SAFETY: `count <= 8`, so the window lies inside the table.
    unsafe { _mm256_loadu_si256(WINDOW32.as_ptr().add(8 - count).cast()) }
}

#[inline(always)]
unsafe fn mask64(count: usize) -> __m256i {
    // SAFETY: `count <= 4`, so the window lies inside the table.
    unsafe { _mm256_loadu_si256(WINDOW64.as_ptr().add(4 - count).cast()) }
}

register!(F32x8, __m256, f32, 8, "Eight f32.",
    set _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps,
    part |from, count| _mm256_maskload_ps(from, mask32(count)),
    |value, to, stored| _mm256_maskstore_ps(to, mask32(stored), value),
    add _mm256_add_ps, sub _mm256_sub_ps, mul _mm256_mul_ps, fma _mm256_fmadd_ps);
register!(F64x4, __m256d, f64, 4, "Four f64.",
    set _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd,
    part |from, count| _mm256_maskload_pd(from, mask64(count)),
    |value, to, stored| _mm256_maskstore_pd(to, mask64(stored), value),
    add _mm256_add_pd, sub _mm256_sub_pd, mul _mm256_mul_pd, fma _mm256_fmadd_pd);
register!(F32x16, __m512, f32, 16, "Sixteen f32.",
    set _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps,
    part |from, count| _mm512_maskz_loadu_ps(((1u32 << count) - 1) as __mmask16, from),
    |value, to, stored| _mm512_mask_storeu_ps(to, ((1u32 << stored) - 1) as __mmask16, value),
    add _mm512_add_ps, sub _mm512_sub_ps, mul _mm512_mul_ps, fma _mm512_fmadd_ps);
register!(F64x8, __m512d, f64, 8, "Eight f64.",
    set _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd,
    part |from, count| _mm512_maskz_loadu_pd(((1u32 << count) - 1) as __mmask8, from),
    |value, to, stored| _mm512_mask_storeu_pd(to, ((1u32 << stored) - 1) as __mmask8, value),
    add _mm512_add_pd, sub _mm512_sub_pd, mul _mm512_mul_pd, fma _mm512_fmadd_pd);
