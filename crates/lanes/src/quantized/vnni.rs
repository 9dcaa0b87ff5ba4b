//! Sixteen Q8_0 blocks at a time with 512-bit registers and the byte dot products of AVX-512 VNNI.
//!
//! The instruction multiplies unsigned by signed bytes, so the matrix's bytes are raised by 128 and
//! 128 times the sum of the vector's bytes is taken off at the end.

use super::{GROUP, Group, PARTIALS, Partials, walk};
use rung_math::quantized::BYTES;
use std::arch::x86_64::*;

/// A `Kernel`.
///
/// # Safety
/// The processor has the features; whole groups are readable.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")]
pub(super) unsafe fn walk<const R: usize>(
    rows: [*const u8; R],
    x: &[Group],
    partials: &mut [Partials; R],
) {
    walk!(rows, x, partials, group);
}

/// Bytes from what is read to what is asked for.
const AHEAD: usize = 2048;

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx512vnni,avx2,fma,f16c")]
unsafe fn group(octets: *const u8, x: &Group, partials: *mut f64) {
    // SAFETY: the caller's promise; pairs are those of `Group::quants`. What is only asked for may
    // lie anywhere.
    unsafe {
        for line in (0..GROUP * BYTES).step_by(64) {
            _mm_prefetch::<_MM_HINT_T0>(octets.wrapping_add(AHEAD + line).cast());
        }
        let quants = x.quants.as_ptr().cast::<u8>();
        let pair = |turn: usize| {
            let low = turn / 4 * 8 + turn % 4;
            let at = |block: usize| octets.add(block * BYTES + 2).cast::<__m256i>();
            let low_half = _mm512_castsi256_si512(_mm256_loadu_si256(at(low)));
            let both = _mm512_inserti64x4::<1>(low_half, _mm256_loadu_si256(at(low + 4)));
            let raised = _mm512_xor_si512(both, _mm512_set1_epi8(-128));
            let with = _mm512_load_si512(quants.add(turn * 64).cast());
            _mm512_dpbusd_epi32(_mm512_setzero_si512(), raised, with)
        };
        let low = quarters(pair(0), pair(1), pair(2), pair(3));
        let high = quarters(pair(4), pair(5), pair(6), pair(7));
        // Each 128 bits hold half a block's sum for four blocks.
        let raised = _mm512_add_epi32(
            _mm512_shuffle_i32x4::<0b10_00_10_00>(low, high),
            _mm512_shuffle_i32x4::<0b11_01_11_01>(low, high),
        );
        let sums = _mm512_sub_epi32(raised, _mm512_load_si512(x.offsets.as_ptr().cast()));
        let scales = _mm512_mul_ps(scales(octets), _mm512_load_ps(x.scales.as_ptr()));
        let present = _mm512_loadu_ps(x.present.as_ptr().cast());
        let scales = _mm512_and_ps(scales, present);
        take(partials, _mm512_castps512_ps256(scales), _mm512_castsi512_si256(sums));
        let (scales, sums) =
            (_mm512_extractf32x8_ps::<1>(scales), _mm512_extracti64x4_epi64::<1>(sums));
        take(partials.add(8), scales, sums);
    }
}

/// In each 128 bits, the sums of its four integers of a, b, c and d.
#[inline]
#[target_feature(enable = "avx512f")]
fn quarters(a: __m512i, b: __m512i, c: __m512i, d: __m512i) -> __m512i {
    let two = |a, b| _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    let (ab, cd) = (two(a, b), two(c, d));
    _mm512_add_epi32(_mm512_unpacklo_epi64(ab, cd), _mm512_unpackhi_epi64(ab, cd))
}

/// The scales of sixteen blocks.
#[inline]
#[target_feature(enable = "avx512f,avx2")]
unsafe fn scales(octets: *const u8) -> __m512 {
    // SAFETY: the caller of `group` says that sixteen blocks are readable.
    let at = |block: usize| unsafe { octets.add(block * BYTES).cast::<i16>().read_unaligned() };
    let half = |from: usize| {
        let at = |block: usize| at(from + block);
        _mm_setr_epi16(at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
    };
    _mm512_cvtph_ps(_mm256_set_m128i(half(8), half(0)))
}

/// partials <- partials + scales * sums, the products being exact.
#[inline]
#[target_feature(enable = "avx512f")]
unsafe fn take(partials: *mut f64, scales: __m256, sums: __m256i) {
    // SAFETY: the caller says that eight partials are writable.
    unsafe {
        let (scales, sums) = (_mm512_cvtps_pd(scales), _mm512_cvtepi32_pd(sums));
        _mm512_storeu_pd(partials, _mm512_fmadd_pd(scales, sums, _mm512_loadu_pd(partials)));
    }
}
