//! Sixteen Q8_0 blocks at a time with 256-bit registers.
//!
//! Magnitudes of the matrix's bytes are multiplied by the vector's bytes under the sign of the
//! matrix's; a pair of such products stays below 2 * 128 * 127 and fits 16 bits.

use super::{GROUP, Group, PARTIALS, Partials, place, walk};
use rung_math::quantized::BYTES;
use std::arch::x86_64::*;

/// A `Kernel`.
///
/// # Safety
/// The processor has the features; whole groups are readable.
#[target_feature(enable = "avx2,fma,f16c")]
pub(super) unsafe fn walk<const R: usize>(
    rows: [*const u8; R],
    x: &[Group],
    partials: &mut [Partials; R],
) {
    walk!(rows, x, partials, group);
}

#[inline]
#[target_feature(enable = "avx2,fma,f16c")]
unsafe fn group(octets: *const u8, x: &Group, partials: *mut f64) {
    for four in (0..GROUP).step_by(4) {
        // SAFETY: the caller's promise.
        unsafe {
            let sums = |block: usize| {
                let with = x.quants[place(block)].as_ptr().cast();
                let bytes = _mm256_loadu_si256(octets.add(block * BYTES + 2).cast());
                let signed = _mm256_sign_epi8(_mm256_loadu_si256(with), bytes);
                let pairs = _mm256_maddubs_epi16(_mm256_abs_epi8(bytes), signed);
                _mm256_madd_epi16(pairs, _mm256_set1_epi16(1))
            };
            let (a, b) = (sums(four), sums(four + 1));
            let (c, d) = (sums(four + 2), sums(four + 3));
            let halves = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
            let high = _mm256_extracti128_si256::<1>(halves);
            let sums = _mm_add_epi32(_mm256_castsi256_si128(halves), high);
            let at = |i: usize| octets.add((four + i) * BYTES).cast::<i16>().read_unaligned();
            let scales = _mm_cvtph_ps(_mm_setr_epi16(at(0), at(1), at(2), at(3), 0, 0, 0, 0));
            let scales = _mm_mul_ps(scales, _mm_loadu_ps(x.scales.as_ptr().add(four)));
            let present = _mm_loadu_ps(x.present.as_ptr().add(four).cast());
            let scales = _mm_and_ps(scales, present);
            let to = partials.add(four);
            // The product is exact, so the fused step is the sum.
            let sum = _mm256_fmadd_pd(
                _mm256_cvtps_pd(scales),
                _mm256_cvtepi32_pd(sums),
                _mm256_loadu_pd(to),
            );
            _mm256_storeu_pd(to, sum);
        }
    }
}
