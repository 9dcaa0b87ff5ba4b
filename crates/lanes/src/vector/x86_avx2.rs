//! The 256-bit registers; masks are vectors of all ones or zeros. AVX2 lacks unsigned compares,
//! 64-bit products and 64-bit signed shifts, so those are made from what there is.

use super::x86::{operators, register};
use super::{Simd, Vector, Words};
use rung_math::{Bits, Mask, Real, Width};
use std::arch::x86_64::*;

/// 256-bit vectors with fused multiply-add.
#[derive(Clone, Copy)]
pub struct Avx2;

impl Simd for Avx2 {
    type F32 = F32x8;
    type F64 = F64x4;
    const TILE_ROWS: usize = 6;

    #[inline(always)]
    unsafe fn widen(from: *const f32) -> F64x4 {
        // SAFETY: the caller says that four elements are readable.
        unsafe { F64x4(_mm256_cvtps_pd(_mm_loadu_ps(from))) }
    }

    #[inline(always)]
    unsafe fn widen_bf16(from: *const u16) -> F64x4 {
        // SAFETY: the caller says that four elements are readable.
        unsafe {
            let low = _mm_cvtepu16_epi32(_mm_loadl_epi64(from.cast()));
            F64x4(_mm256_cvtps_pd(_mm_castsi128_ps(_mm_slli_epi32::<16>(low))))
        }
    }

    #[inline(always)]
    unsafe fn widen_f16(from: *const u16) -> F64x4 {
        // SAFETY: the caller says that four elements are readable.
        unsafe { F64x4(_mm256_cvtps_pd(_mm_cvtph_ps(_mm_loadl_epi64(from.cast())))) }
    }

    #[inline(always)]
    unsafe fn store_narrowed(x: F64x4, to: *mut f32) {
        // SAFETY: the caller says that four elements are writable.
        unsafe { _mm_storeu_ps(to, _mm256_cvtpd_ps(x.0)) }
    }
}

/// All ones in the lanes that are true.
#[derive(Clone, Copy)]
pub struct Mask256(pub __m256i);

impl Mask256 {
    #[inline(always)]
    fn any(self) -> bool {
        // SAFETY: inlined where the features are on.
        unsafe { _mm256_testz_si256(self.0, self.0) == 0 }
    }
}

impl Mask for Mask256 {
    #[inline(always)]
    fn constant(value: bool) -> Self {
        // SAFETY: inlined where the features are on.
        unsafe { Mask256(_mm256_set1_epi32(-(value as i32))) }
    }
    #[inline(always)]
    fn and(self, other: Self) -> Self {
        // SAFETY: inlined where the features are on.
        unsafe { Mask256(_mm256_and_si256(self.0, other.0)) }
    }
    #[inline(always)]
    fn or(self, other: Self) -> Self {
        // SAFETY: inlined where the features are on.
        unsafe { Mask256(_mm256_or_si256(self.0, other.0)) }
    }
    #[inline(always)]
    fn not(self) -> Self {
        // SAFETY: inlined where the features are on.
        unsafe { Mask256(_mm256_xor_si256(self.0, _mm256_set1_epi32(-1))) }
    }
}

/// Mask words for a masked load: set, then clear; a window of them selects a part.
static WINDOW32: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
static WINDOW64: [i64; 8] = [-1, -1, -1, -1, 0, 0, 0, 0];

#[inline(always)]
unsafe fn first32(count: usize) -> __m256i {
    // SAFETY: `count <= 8`, so the window lies inside the table.
    unsafe { _mm256_loadu_si256(WINDOW32.as_ptr().add(8 - count).cast()) }
}

#[inline(always)]
unsafe fn first64(count: usize) -> __m256i {
    // SAFETY: `count <= 4`, so the window lies inside the table.
    unsafe { _mm256_loadu_si256(WINDOW64.as_ptr().add(4 - count).cast()) }
}

/// The first `count` lanes; whole vectors, which most are, without a mask.
#[inline(always)]
unsafe fn load_part32(from: *const f32, count: usize) -> __m256 {
    // SAFETY: the caller says that `count` elements are readable.
    unsafe {
        match count {
            8 => _mm256_loadu_ps(from),
            _ => _mm256_maskload_ps(from, first32(count)),
        }
    }
}

/// The same for f64.
#[inline(always)]
unsafe fn load_part64(from: *const f64, count: usize) -> __m256d {
    // SAFETY: the caller says that `count` elements are readable.
    unsafe {
        match count {
            4 => _mm256_loadu_pd(from),
            _ => _mm256_maskload_pd(from, first64(count)),
        }
    }
}

/// Stores the first `count` lanes by halves: a masked store takes AMD's processors before Zen 4 some
/// 40 operations (Cholesky of 64 x 64 came at 1.8 GFLOP/s so, at 3.2 without).
#[inline(always)]
unsafe fn store_part32(to: *mut f32, count: usize, v: __m256) {
    // SAFETY: the caller says that `count <= 8` elements are writable.
    unsafe {
        if count == 8 {
            return _mm256_storeu_ps(to, v);
        }
        let (mut to, mut half) = (to, _mm256_castps256_ps128(v));
        if count & 4 != 0 {
            _mm_storeu_ps(to, half);
            (to, half) = (to.add(4), _mm256_extractf128_ps::<1>(v));
        }
        if count & 2 != 0 {
            _mm_storel_pd(to.cast(), _mm_castps_pd(half));
            (to, half) = (to.add(2), _mm_movehl_ps(half, half));
        }
        if count & 1 != 0 {
            _mm_store_ss(to, half);
        }
    }
}

/// The same for f64.
#[inline(always)]
unsafe fn store_part64(to: *mut f64, count: usize, v: __m256d) {
    // SAFETY: the caller says that `count <= 4` elements are writable.
    unsafe {
        if count == 4 {
            return _mm256_storeu_pd(to, v);
        }
        let (mut to, mut half) = (to, _mm256_castpd256_pd128(v));
        if count & 2 != 0 {
            _mm_storeu_pd(to, half);
            (to, half) = (to.add(2), _mm256_extractf128_pd::<1>(v));
        }
        if count & 1 != 0 {
            _mm_store_sd(to, half);
        }
    }
}

/// The high halves of 8 products: even lanes directly, odd lanes shifted down and back up.
#[inline(always)]
unsafe fn high32(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let even = _mm256_srli_epi64::<32>(_mm256_mul_epu32(a, b));
        let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
        _mm256_blend_epi32::<0b10101010>(even, odd)
    }
}

/// The high halves of 4 products from four 32-bit ones.
#[inline(always)]
unsafe fn high64(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let low = _mm256_set1_epi64x(0xFFFF_FFFF);
        let (a1, b1) = (_mm256_srli_epi64::<32>(a), _mm256_srli_epi64::<32>(b));
        let (ll, lh) = (_mm256_mul_epu32(a, b), _mm256_mul_epu32(a, b1));
        let (hl, hh) = (_mm256_mul_epu32(a1, b), _mm256_mul_epu32(a1, b1));
        let middle = _mm256_add_epi64(
            _mm256_add_epi64(_mm256_srli_epi64::<32>(ll), _mm256_and_si256(lh, low)),
            _mm256_and_si256(hl, low),
        );
        let carried = _mm256_add_epi64(_mm256_srli_epi64::<32>(lh), _mm256_srli_epi64::<32>(hl));
        _mm256_add_epi64(_mm256_add_epi64(hh, carried), _mm256_srli_epi64::<32>(middle))
    }
}

/// The low halves of 4 products.
#[inline(always)]
unsafe fn low64(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let crossed = _mm256_add_epi64(
            _mm256_mul_epu32(_mm256_srli_epi64::<32>(a), b),
            _mm256_mul_epu32(a, _mm256_srli_epi64::<32>(b)),
        );
        _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64::<32>(crossed))
    }
}

/// A signed shift: shift as unsigned, then spread the moved sign bit.
#[inline(always)]
unsafe fn signed64(x: __m256i, amount: u32) -> __m256i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let count = _mm_cvtsi32_si128(amount as i32);
        let sign = _mm256_srl_epi64(_mm256_set1_epi64x(i64::MIN), count);
        _mm256_sub_epi64(_mm256_xor_si256(_mm256_srl_epi64(x, count), sign), sign)
    }
}

#[inline(always)]
unsafe fn below32(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let flip = _mm256_set1_epi32(i32::MIN);
        _mm256_cmpgt_epi32(_mm256_xor_si256(b, flip), _mm256_xor_si256(a, flip))
    }
}

#[inline(always)]
unsafe fn below64(a: __m256i, b: __m256i) -> __m256i {
    // SAFETY: inlined where the features are on.
    unsafe {
        let flip = _mm256_set1_epi64x(i64::MIN);
        _mm256_cmpgt_epi64(_mm256_xor_si256(b, flip), _mm256_xor_si256(a, flip))
    }
}

/// The low words of 8 table entries of 64 bits. A table of 16 fits two registers: two permutations
/// and a selection by bit 3 of the index take a third of the time of a gather (AMD Milan).
#[inline(always)]
unsafe fn lookup32(index: __m256i, table: &'static [u64]) -> __m256i {
    let at = table.as_ptr();
    // SAFETY: every index lies inside the table; only the first four bytes of an entry are used.
    unsafe {
        if table.len() != 16 {
            return _mm256_i32gather_epi32::<8>(at.cast(), index);
        }
        let (low, high) = (low_words(at), low_words(at.add(8)));
        let low = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, index));
        let high = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, index));
        let upper = _mm256_castsi256_ps(_mm256_slli_epi32::<28>(index));
        _mm256_castps_si256(_mm256_blendv_ps(low, high, upper))
    }
}

/// The low words of 8 entries, in one register.
#[inline(always)]
unsafe fn low_words(at: *const u64) -> __m256i {
    // SAFETY: the caller says that eight entries are readable.
    unsafe {
        let first = _mm256_castsi256_ps(_mm256_loadu_si256(at.cast()));
        let second = _mm256_castsi256_ps(_mm256_loadu_si256(at.add(4).cast()));
        let both = _mm256_castps_si256(_mm256_shuffle_ps::<0b10_00_10_00>(first, second));
        _mm256_permute4x64_epi64::<0b11_01_10_00>(both)
    }
}

register!(
    float F32x8(__m256) of f32, bits U32x8(__m256i) of u32 as i32,
    mask Mask256, lanes 8, doc "Eight f32.";
    splat _mm256_set1_ps, load _mm256_loadu_ps, store _mm256_storeu_ps,
    stream _mm256_stream_ps,
    load_part |from, count| load_part32(from, count),
    store_part |value, to, stored| store_part32(to, stored, value),
    add _mm256_add_ps, sub _mm256_sub_ps, mul _mm256_mul_ps, div _mm256_div_ps,
    fma _mm256_fmadd_ps, sqrt _mm256_sqrt_ps, cast _mm256_castps_si256 _mm256_castsi256_ps,
    less |a, b| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LT_OQ>(a, b)),
    less_equal |a, b| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_LE_OQ>(a, b)),
    equal |a, b| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_EQ_OQ>(a, b)),
    select |m, yes, no| _mm256_blendv_ps(no, yes, _mm256_castsi256_ps(m)),
    extremes _mm256_max_ps _mm256_min_ps,
    ordered |a, b| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_ORD_Q>(a, b)),
    unordered |a, b| _mm256_castps_si256(_mm256_cmp_ps::<_CMP_UNORD_Q>(a, b)),
    first |m| (_mm256_movemask_ps(_mm256_castsi256_ps(m)) | 1 << 8).trailing_zeros() as usize;
    word_splat _mm256_set1_epi32, word_add _mm256_add_epi32, word_sub _mm256_sub_epi32,
    word_mul |a, b| _mm256_mullo_epi32(a, b),
    word_logic _mm256_and_si256 _mm256_or_si256 _mm256_xor_si256,
    shift _mm256_sll_epi32 _mm256_srl_epi32,
    shift_signed |x, n| _mm256_sra_epi32(x, _mm_cvtsi32_si128(n as i32)),
    shift_by _mm256_sllv_epi32 _mm256_srlv_epi32,
    word_less |a, b| below32(a, b),
    word_equal |a, b| _mm256_cmpeq_epi32(a, b),
    word_select |m, yes, no| _mm256_blendv_epi8(no, yes, m),
    high |a, b| U32x8(high32(a.0, b.0)),
    word_extremes |a, b| _mm256_min_epu32(a, b), _mm256_max_epu32(a, b),
    lookup |index, table| lookup32(index, table)
);

register!(
    float F64x4(__m256d) of f64, bits U64x4(__m256i) of u64 as i64,
    mask Mask256, lanes 4, doc "Four f64.";
    splat _mm256_set1_pd, load _mm256_loadu_pd, store _mm256_storeu_pd,
    stream _mm256_stream_pd,
    load_part |from, count| load_part64(from, count),
    store_part |value, to, stored| store_part64(to, stored, value),
    add _mm256_add_pd, sub _mm256_sub_pd, mul _mm256_mul_pd, div _mm256_div_pd,
    fma _mm256_fmadd_pd, sqrt _mm256_sqrt_pd, cast _mm256_castpd_si256 _mm256_castsi256_pd,
    less |a, b| _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LT_OQ>(a, b)),
    less_equal |a, b| _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_LE_OQ>(a, b)),
    equal |a, b| _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_EQ_OQ>(a, b)),
    select |m, yes, no| _mm256_blendv_pd(no, yes, _mm256_castsi256_pd(m)),
    extremes _mm256_max_pd _mm256_min_pd,
    ordered |a, b| _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_ORD_Q>(a, b)),
    unordered |a, b| _mm256_castpd_si256(_mm256_cmp_pd::<_CMP_UNORD_Q>(a, b)),
    first |m| (_mm256_movemask_pd(_mm256_castsi256_pd(m)) | 1 << 4).trailing_zeros() as usize;
    word_splat _mm256_set1_epi64x, word_add _mm256_add_epi64, word_sub _mm256_sub_epi64,
    word_mul |a, b| low64(a, b),
    word_logic _mm256_and_si256 _mm256_or_si256 _mm256_xor_si256,
    shift _mm256_sll_epi64 _mm256_srl_epi64,
    shift_signed |x, n| signed64(x, n),
    shift_by _mm256_sllv_epi64 _mm256_srlv_epi64,
    word_less |a, b| below64(a, b),
    word_equal |a, b| _mm256_cmpeq_epi64(a, b),
    word_select |m, yes, no| _mm256_blendv_epi8(no, yes, m),
    high |a, b| U64x4(high64(a.0, b.0)),
    word_extremes |a, b| _mm256_blendv_epi8(b, a, below64(a, b)),
        _mm256_blendv_epi8(a, b, below64(a, b)),
    lookup |index, table| _mm256_i64gather_epi64::<8>(table.as_ptr().cast(), index)
);
