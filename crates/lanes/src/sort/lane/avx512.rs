//! Words in 512-bit registers.
//!
//! The larger of two words is what exclusive or leaves of both and the smaller: Intel's processors
//! have one port for minimum and maximum, and two for logic. A compressed register is stored whole
//! or by lanes: compressing stores cost Zen 4 over 100 cycles each.

use super::{Bits512, Lane, PARTED, REGISTERS, low, upper};
use core::arch::x86_64::*;

const fn exchange<const N: usize>(x: usize) -> [usize; N] {
    let mut lanes = [0; N];
    let mut i = 0;
    while i < N {
        lanes[i] = i ^ x;
        i += 1;
    }
    lanes
}

macro_rules! lane {
    ($word:ty, $signed:ty, $lanes:expr, $mask:ty, $index:ty, $load:ident, $store:ident,
     $splat:ident, $min:ident, $ternary:ident, $part:ident, $turn:ident, $permute:ident, $less:ident,
     $less_equal:ident, $compress:ident) => {
        impl Lane for Bits512<$word> {
            type Word = $word;
            type Register = __m512i;
            const LANES: usize = $lanes;
            const SAMPLE: usize = 64;
            const FLIP: $word = 0;
            const MAX: $word = <$word>::MAX;
            #[inline(always)]
            unsafe fn load(from: *const $word) -> __m512i {
                // SAFETY: the caller's promise, as in all methods below.
                unsafe { _mm512_loadu_si512(from.cast()) }
            }
            #[inline(always)]
            unsafe fn load_part(from: *const $word, count: usize) -> __m512i {
                // SAFETY: lanes beyond `count` are not read.
                unsafe { $load(Self::splat(Self::MAX), low(count) as $mask, from.cast()) }
            }
            #[inline(always)]
            unsafe fn store(to: *mut $word, v: __m512i) {
                // SAFETY: as above.
                unsafe { _mm512_storeu_si512(to.cast(), v) }
            }
            #[inline(always)]
            unsafe fn store_part(to: *mut $word, v: __m512i, count: usize) {
                // SAFETY: lanes beyond `count` are not written.
                unsafe { $store(to.cast(), low(count) as $mask, v) }
            }
            #[inline(always)]
            unsafe fn splat(x: $word) -> __m512i {
                // SAFETY: the caller has the processor feature, as for all below.
                unsafe { $splat(x as $signed) }
            }
            #[inline(always)]
            unsafe fn ordered(a: __m512i, b: __m512i) -> (__m512i, __m512i) {
                // SAFETY: as above.
                unsafe {
                    let smaller = $min(a, b);
                    (smaller, _mm512_ternarylogic_epi64::<XOR>(smaller, a, b))
                }
            }
            #[inline(always)]
            unsafe fn exchanged<const X: usize>(v: __m512i) -> __m512i {
                let lanes = const {
                    let (from, mut to) = (exchange::<$lanes>(X % $lanes), [0 as $index; $lanes]);
                    let mut i = 0;
                    while i < $lanes {
                        to[i] = from[i] as $index;
                        i += 1;
                    }
                    to
                };
                // SAFETY: as above; the indices are one register.
                unsafe { $permute(_mm512_loadu_si512(lanes.as_ptr().cast()), v) }
            }
            #[inline(always)]
            unsafe fn larger_in<const X: usize>(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $ternary::<XOR>($min(a, b), const { upper(X) as $mask }, a, b) }
            }
            #[inline(always)]
            unsafe fn below<const EQUAL: bool>(v: __m512i, pivot: __m512i) -> u16 {
                // SAFETY: as above.
                unsafe {
                    match EQUAL {
                        true => $less_equal(v, pivot) as u16,
                        false => $less(v, pivot) as u16,
                    }
                }
            }
            #[inline(always)]
            unsafe fn part(mask: u16, v: __m512i, lower: *mut $word, upper: *mut $word) {
                // SAFETY: as above.
                unsafe { $part(mask as $mask, v, lower, upper) }
            }
            #[inline(always)]
            unsafe fn part_some(
                below: u16,
                above: u16,
                v: __m512i,
                lower: *mut $word,
                upper: *mut $word,
            ) {
                // SAFETY: as above; only those lanes are written.
                unsafe {
                    let (few, many) = (below.count_ones(), above.count_ones() as usize);
                    Self::store_part(lower, $compress(below as $mask, v), few as usize);
                    let upper = upper.wrapping_sub(many);
                    Self::store_part(upper, $compress(above as $mask, v), many);
                }
            }
            #[inline(always)]
            unsafe fn turn(v: &mut [__m512i; REGISTERS]) {
                // SAFETY: as above.
                unsafe { $turn(v) }
            }
        }
    };
}
lane!(
    u64,
    i64,
    8,
    __mmask8,
    i64,
    _mm512_mask_loadu_epi64,
    _mm512_mask_storeu_epi64,
    _mm512_set1_epi64,
    _mm512_min_epu64,
    _mm512_mask_ternarylogic_epi64,
    part_u64,
    turn_u64,
    _mm512_permutexvar_epi64,
    _mm512_cmplt_epu64_mask,
    _mm512_cmple_epu64_mask,
    _mm512_maskz_compress_epi64
);
lane!(
    u32,
    i32,
    16,
    __mmask16,
    i32,
    _mm512_mask_loadu_epi32,
    _mm512_mask_storeu_epi32,
    _mm512_set1_epi32,
    _mm512_min_epu32,
    _mm512_mask_ternarylogic_epi32,
    part_u32,
    turn_u32,
    _mm512_permutexvar_epi32,
    _mm512_cmplt_epu32_mask,
    _mm512_cmple_epu32_mask,
    _mm512_maskz_compress_epi32
);

/// a ^ b ^ c, for ternary logic.
const XOR: i32 = 0x96;

#[inline(always)]
unsafe fn part_u64(mask: __mmask8, v: __m512i, lower: *mut u64, upper: *mut u64) {
    // SAFETY: the caller's promise of room; masked lanes are not written.
    unsafe {
        let lanes = _mm512_cvtepu8_epi64(_mm_loadl_epi64(PARTED[mask as usize].as_ptr().cast()));
        let v = _mm512_permutexvar_epi64(lanes, v);
        let others = (0xFF_u32 << mask.count_ones()) as __mmask8;
        _mm512_storeu_si512(lower.cast(), v);
        _mm512_mask_storeu_epi64(upper.wrapping_sub(8).cast(), others, v);
    }
}

#[inline(always)]
unsafe fn part_u32(mask: __mmask16, v: __m512i, lower: *mut u32, upper: *mut u32) {
    // SAFETY: as above.
    unsafe {
        let others = 16 - mask.count_ones() as usize;
        _mm512_storeu_si512(lower.cast(), _mm512_maskz_compress_epi32(mask, v));
        let v = _mm512_maskz_compress_epi32(!mask, v);
        _mm512_mask_storeu_epi32(upper.wrapping_sub(others).cast(), low(others), v);
    }
}

/// Lane l of row r becomes lane r % 8 of register 2 * l + r / 8.
#[inline(always)]
unsafe fn turn_u64(v: &mut [__m512i; REGISTERS]) {
    // SAFETY: as above.
    unsafe {
        let mut t = *v;
        for i in (0..16).step_by(2) {
            t[i] = _mm512_unpacklo_epi64(v[i], v[i + 1]);
            t[i + 1] = _mm512_unpackhi_epi64(v[i], v[i + 1]);
        }
        for half in 0..2 {
            for odd in 0..2 {
                let i = half * 8 + odd;
                let (a, b, c, d) = (t[i], t[i + 2], t[i + 4], t[i + 6]);
                let (x, y) =
                    (_mm512_shuffle_i64x2::<0x44>(a, b), _mm512_shuffle_i64x2::<0xEE>(a, b));
                let (z, w) =
                    (_mm512_shuffle_i64x2::<0x44>(c, d), _mm512_shuffle_i64x2::<0xEE>(c, d));
                v[2 * odd + half] = _mm512_shuffle_i64x2::<0x88>(x, z);
                v[2 * odd + 4 + half] = _mm512_shuffle_i64x2::<0xDD>(x, z);
                v[2 * odd + 8 + half] = _mm512_shuffle_i64x2::<0x88>(y, w);
                v[2 * odd + 12 + half] = _mm512_shuffle_i64x2::<0xDD>(y, w);
            }
        }
    }
}

/// Lane l of row r becomes lane r of register l.
#[inline(always)]
unsafe fn turn_u32(v: &mut [__m512i; REGISTERS]) {
    // SAFETY: as above.
    unsafe {
        let mut t = *v;
        for i in (0..16).step_by(4) {
            let (a, b) =
                (_mm512_unpacklo_epi32(v[i], v[i + 1]), _mm512_unpackhi_epi32(v[i], v[i + 1]));
            let (c, d) = (
                _mm512_unpacklo_epi32(v[i + 2], v[i + 3]),
                _mm512_unpackhi_epi32(v[i + 2], v[i + 3]),
            );
            t[i] = _mm512_unpacklo_epi64(a, c);
            t[i + 1] = _mm512_unpackhi_epi64(a, c);
            t[i + 2] = _mm512_unpacklo_epi64(b, d);
            t[i + 3] = _mm512_unpackhi_epi64(b, d);
        }
        for i in 0..4 {
            let (a, b, c, d) = (t[i], t[i + 4], t[i + 8], t[i + 12]);
            let (x, y) = (_mm512_shuffle_i32x4::<0x44>(a, b), _mm512_shuffle_i32x4::<0xEE>(a, b));
            let (z, w) = (_mm512_shuffle_i32x4::<0x44>(c, d), _mm512_shuffle_i32x4::<0xEE>(c, d));
            v[i] = _mm512_shuffle_i32x4::<0x88>(x, z);
            v[i + 4] = _mm512_shuffle_i32x4::<0xDD>(x, z);
            v[i + 8] = _mm512_shuffle_i32x4::<0x88>(y, w);
            v[i + 12] = _mm512_shuffle_i32x4::<0xDD>(y, w);
        }
    }
}
