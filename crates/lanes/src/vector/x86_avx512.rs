//! The 512-bit registers; masks are the processor's mask registers.

use super::x86::{operators, register};
use super::{Simd, Vector, Words};
use rung_math::{Bits, Mask, Real, Width};
use std::arch::x86_64::*;

/// 512-bit vectors.
#[derive(Clone, Copy)]
pub struct Avx512;

impl Simd for Avx512 {
    type F32 = F32x16;
    type F64 = F64x8;
    const TILE_ROWS: usize = 12;

    #[inline(always)]
    unsafe fn widen(from: *const f32) -> F64x8 {
        // SAFETY: the caller says that eight elements are readable.
        unsafe { F64x8(_mm512_cvtps_pd(_mm256_loadu_ps(from))) }
    }

    #[inline(always)]
    unsafe fn widen_bf16(from: *const u16) -> F64x8 {
        // SAFETY: the caller says that eight elements are readable.
        unsafe {
            let low = _mm256_cvtepu16_epi32(_mm_loadu_si128(from.cast()));
            F64x8(_mm512_cvtps_pd(_mm256_castsi256_ps(_mm256_slli_epi32::<16>(low))))
        }
    }

    #[inline(always)]
    unsafe fn widen_f16(from: *const u16) -> F64x8 {
        // SAFETY: the caller says that eight elements are readable.
        unsafe { F64x8(_mm512_cvtps_pd(_mm256_cvtph_ps(_mm_loadu_si128(from.cast())))) }
    }

    #[inline(always)]
    unsafe fn store_narrowed(x: F64x8, to: *mut f32) {
        // SAFETY: the caller says that eight elements are writable.
        unsafe { _mm256_storeu_ps(to, _mm512_cvtpd_ps(x.0)) }
    }
}

macro_rules! mask {
    ($name:ident, $raw:ty) => {
        /// One bit a lane.
        #[derive(Clone, Copy)]
        pub struct $name(pub $raw);

        impl $name {
            #[inline(always)]
            fn any(self) -> bool {
                self.0 != 0
            }
        }

        impl Mask for $name {
            #[inline(always)]
            fn constant(value: bool) -> Self {
                $name(if value { <$raw>::MAX } else { 0 })
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                $name(self.0 & other.0)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                $name(self.0 | other.0)
            }
            #[inline(always)]
            fn not(self) -> Self {
                $name(!self.0)
            }
        }
    };
}
mask!(Mask16, __mmask16);
mask!(Mask8, __mmask8);

/// The high halves of 16 products: even lanes directly, odd lanes shifted down and back up.
#[inline(always)]
unsafe fn high32(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let even = _mm512_srli_epi64::<32>(_mm512_mul_epu32(a, b));
        let odd = _mm512_mul_epu32(_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
        _mm512_mask_mov_epi32(even, 0xAAAA, odd)
    }
}

/// The high halves of 8 products from four 32-bit ones.
#[inline(always)]
unsafe fn high64(a: __m512i, b: __m512i) -> __m512i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let low = _mm512_set1_epi64(0xFFFF_FFFF);
        let (a1, b1) = (_mm512_srli_epi64::<32>(a), _mm512_srli_epi64::<32>(b));
        let (ll, lh) = (_mm512_mul_epu32(a, b), _mm512_mul_epu32(a, b1));
        let (hl, hh) = (_mm512_mul_epu32(a1, b), _mm512_mul_epu32(a1, b1));
        let middle = _mm512_add_epi64(
            _mm512_add_epi64(_mm512_srli_epi64::<32>(ll), _mm512_and_si512(lh, low)),
            _mm512_and_si512(hl, low),
        );
        let carried = _mm512_add_epi64(_mm512_srli_epi64::<32>(lh), _mm512_srli_epi64::<32>(hl));
        _mm512_add_epi64(_mm512_add_epi64(hh, carried), _mm512_srli_epi64::<32>(middle))
    }
}

/// The low words of 16 table entries of 64 bits. A table of 16 fits a register, and a permutation
/// takes one instruction where a gather takes some 20 cycles.
#[inline(always)]
unsafe fn lookup32(index: __m512i, table: &'static [u64]) -> __m512i {
    let at = table.as_ptr();
    // SAFETY: every index lies inside the table; only the first four bytes of an entry are read.
    unsafe {
        if table.len() != 16 {
            return _mm512_i32gather_epi32::<8>(index, at.cast());
        }
        let low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(at.cast()));
        let high = _mm512_cvtepi64_epi32(_mm512_loadu_si512(at.add(8).cast()));
        let entries = _mm512_inserti64x4::<1>(_mm512_castsi256_si512(low), high);
        _mm512_permutexvar_epi32(index, entries)
    }
}

/// 8 table entries; a table of 16 fits two registers.
#[inline(always)]
unsafe fn lookup64(index: __m512i, table: &'static [u64]) -> __m512i {
    let at = table.as_ptr();
    // SAFETY: every index lies inside the table.
    unsafe {
        if table.len() != 16 {
            return _mm512_i64gather_epi64::<8>(index, at.cast());
        }
        let low = _mm512_loadu_si512(at.cast());
        let high = _mm512_loadu_si512(at.add(8).cast());
        _mm512_permutex2var_epi64(low, index, high)
    }
}

register!(
    float F32x16(__m512) of f32, bits U32x16(__m512i) of u32 as i32,
    mask Mask16, lanes 16, doc "Sixteen f32.";
    splat _mm512_set1_ps, load _mm512_loadu_ps, store _mm512_storeu_ps,
    stream _mm512_stream_ps,
    load_part |from, count| _mm512_maskz_loadu_ps(((1u32 << count) - 1) as __mmask16, from),
    store_part |value, to, stored|
        _mm512_mask_storeu_ps(to, ((1u32 << stored) - 1) as __mmask16, value),
    add _mm512_add_ps, sub _mm512_sub_ps, mul _mm512_mul_ps, div _mm512_div_ps,
    fma _mm512_fmadd_ps, sqrt _mm512_sqrt_ps, cast _mm512_castps_si512 _mm512_castsi512_ps,
    less |a, b| _mm512_cmp_ps_mask::<_CMP_LT_OQ>(a, b),
    less_equal |a, b| _mm512_cmp_ps_mask::<_CMP_LE_OQ>(a, b),
    equal |a, b| _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(a, b),
    select |m, yes, no| _mm512_mask_blend_ps(m, no, yes),
    extremes _mm512_max_ps _mm512_min_ps,
    ordered |a, b| _mm512_cmp_ps_mask::<_CMP_ORD_Q>(a, b),
    unordered |a, b| _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(a, b),
    first |m| m.trailing_zeros() as usize;
    word_splat _mm512_set1_epi32, word_add _mm512_add_epi32, word_sub _mm512_sub_epi32,
    word_mul |a, b| _mm512_mullo_epi32(a, b),
    word_logic _mm512_and_si512 _mm512_or_si512 _mm512_xor_si512,
    shift _mm512_sll_epi32 _mm512_srl_epi32,
    shift_signed |x, n| _mm512_sra_epi32(x, _mm_cvtsi32_si128(n as i32)),
    shift_by _mm512_sllv_epi32 _mm512_srlv_epi32,
    word_less |a, b| _mm512_cmplt_epu32_mask(a, b),
    word_equal |a, b| _mm512_cmpeq_epu32_mask(a, b),
    word_select |m, yes, no| _mm512_mask_blend_epi32(m, no, yes),
    high |a, b| U32x16(high32(a.0, b.0)),
    word_extremes |a, b| _mm512_min_epu32(a, b), _mm512_max_epu32(a, b),
    lookup |index, table| lookup32(index, table)
);

register!(
    float F64x8(__m512d) of f64, bits U64x8(__m512i) of u64 as i64,
    mask Mask8, lanes 8, doc "Eight f64.";
    splat _mm512_set1_pd, load _mm512_loadu_pd, store _mm512_storeu_pd,
    stream _mm512_stream_pd,
    load_part |from, count| _mm512_maskz_loadu_pd(((1u32 << count) - 1) as __mmask8, from),
    store_part |value, to, stored|
        _mm512_mask_storeu_pd(to, ((1u32 << stored) - 1) as __mmask8, value),
    add _mm512_add_pd, sub _mm512_sub_pd, mul _mm512_mul_pd, div _mm512_div_pd,
    fma _mm512_fmadd_pd, sqrt _mm512_sqrt_pd, cast _mm512_castpd_si512 _mm512_castsi512_pd,
    less |a, b| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, b),
    less_equal |a, b| _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, b),
    equal |a, b| _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(a, b),
    select |m, yes, no| _mm512_mask_blend_pd(m, no, yes),
    extremes _mm512_max_pd _mm512_min_pd,
    ordered |a, b| _mm512_cmp_pd_mask::<_CMP_ORD_Q>(a, b),
    unordered |a, b| _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(a, b),
    first |m| m.trailing_zeros() as usize;
    word_splat _mm512_set1_epi64, word_add _mm512_add_epi64, word_sub _mm512_sub_epi64,
    word_mul |a, b| _mm512_mullo_epi64(a, b),
    word_logic _mm512_and_si512 _mm512_or_si512 _mm512_xor_si512,
    shift _mm512_sll_epi64 _mm512_srl_epi64,
    shift_signed |x, n| _mm512_sra_epi64(x, _mm_cvtsi32_si128(n as i32)),
    shift_by _mm512_sllv_epi64 _mm512_srlv_epi64,
    word_less |a, b| _mm512_cmplt_epu64_mask(a, b),
    word_equal |a, b| _mm512_cmpeq_epu64_mask(a, b),
    word_select |m, yes, no| _mm512_mask_blend_epi64(m, no, yes),
    high |a, b| U64x8(high64(a.0, b.0)),
    word_extremes |a, b| _mm512_min_epu64(a, b), _mm512_max_epu64(a, b),
    lookup |index, table| lookup64(index, table)
);
