//! Words in 256-bit registers.
//!
//! There is no minimum of words of 64 bits and no comparison of unsigned ones: those of 64 bits are
//! compared as signed, with their sign bit flipped. There is no compression either: a table of
//! permutations brings the lanes of a mask together.

use super::{Bits256, Lane, PARTED, REGISTERS, upper};
use core::arch::x86_64::*;

/// All bits of the lanes that get the larger value, for `upper`.
const fn spread<const LANES: usize>(x: usize) -> [u8; 32] {
    let (mask, mut bytes, mut i) = (upper(x), [0; 32], 0);
    while i < 32 {
        if mask >> (i * LANES / 32) & 1 != 0 {
            bytes[i] = 0xFF;
        }
        i += 1;
    }
    bytes
}

/// Eight lanes of 32 bits that are set, and eight that are not: the mask of some first lanes is
/// read across the middle.
static FIRST: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];

/// Lanes of 32 bits from any of them on.
static TWICE: [i32; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7];

/// The lanes of 64 bits that each mask of four holds, then the others, as pairs of 32 bits.
static PARTED_PAIRS: [[u32; 8]; 16] = pairs();

const fn pairs() -> [[u32; 8]; 16] {
    let (lanes, mut table, mut mask) = (super::parted::<4, 16>(), [[0; 8]; 16], 0);
    while mask < 16 {
        let mut i = 0;
        while i < 8 {
            table[mask][i] = 2 * lanes[mask][i / 2] as u32 + i as u32 % 2;
            i += 1;
        }
        mask += 1;
    }
    table
}

macro_rules! lane {
    ($word:ty, $signed:ty, $lanes:literal, $flip:expr, $max:expr, $load:ident, $store:ident,
     $splat:ident, $ordered:ident, $larger:ident, $exchanged:ident, $below:ident,
     $permuted:ident, $turn:ident) => {
        impl Lane for Bits256<$word> {
            type Word = $word;
            type Register = __m256i;
            const LANES: usize = $lanes;
            const SAMPLE: usize = 16;
            const FLIP: $word = $flip;
            const MAX: $word = $max;
            #[inline(always)]
            unsafe fn load(from: *const $word) -> __m256i {
                // SAFETY: the caller's promise, as in all methods below.
                unsafe { _mm256_loadu_si256(from.cast()) }
            }
            #[inline(always)]
            unsafe fn load_part(from: *const $word, count: usize) -> __m256i {
                // SAFETY: lanes beyond `count` are not read.
                unsafe {
                    let first = first(count * 8 / $lanes);
                    let read = $load(from.cast(), first);
                    _mm256_blendv_epi8(Self::splat(Self::MAX), read, first)
                }
            }
            #[inline(always)]
            unsafe fn store(to: *mut $word, v: __m256i) {
                // SAFETY: as above.
                unsafe { _mm256_storeu_si256(to.cast(), v) }
            }
            #[inline(always)]
            unsafe fn store_part(to: *mut $word, v: __m256i, count: usize) {
                // SAFETY: lanes beyond `count` are not written.
                unsafe { $store(to.cast(), first(count * 8 / $lanes), v) }
            }
            #[inline(always)]
            unsafe fn load_last(end: *const $word, count: usize) -> __m256i {
                // SAFETY: as above.
                unsafe {
                    let lanes = TWICE.as_ptr().wrapping_add(8 - count * 8 / $lanes).cast();
                    let read = Self::load(end.sub($lanes));
                    let read = _mm256_permutevar8x32_epi32(read, _mm256_loadu_si256(lanes));
                    let first = first(count * 8 / $lanes);
                    _mm256_blendv_epi8(Self::splat(Self::MAX), read, first)
                }
            }
            #[inline(always)]
            unsafe fn store_last(end: *mut $word, v: __m256i, count: usize) {
                // SAFETY: as above; the table has the lanes from any place up to the eighth on.
                unsafe {
                    let lanes = TWICE.as_ptr().wrapping_add(count * 8 / $lanes).cast();
                    let v = _mm256_permutevar8x32_epi32(v, _mm256_loadu_si256(lanes));
                    Self::store(end.sub($lanes), v);
                }
            }
            #[inline(always)]
            unsafe fn splat(x: $word) -> __m256i {
                // SAFETY: the caller has the processor feature, as for all below.
                unsafe { $splat(x as $signed) }
            }
            #[inline(always)]
            unsafe fn ordered(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
                // SAFETY: as above.
                unsafe { $ordered(a, b) }
            }
            #[inline(always)]
            unsafe fn exchanged<const X: usize>(v: __m256i) -> __m256i {
                // SAFETY: as above.
                unsafe { $exchanged::<X>(v) }
            }
            #[inline(always)]
            unsafe fn larger_in<const X: usize>(a: __m256i, b: __m256i) -> __m256i {
                let lanes = const { spread::<$lanes>(X) };
                // SAFETY: as above; the bytes are one register.
                unsafe { $larger(a, b, _mm256_loadu_si256(lanes.as_ptr().cast())) }
            }
            #[inline(always)]
            unsafe fn crossed<const X: usize>(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
                let lanes = const { spread::<$lanes>(X) };
                // SAFETY: as above.
                unsafe {
                    let lanes = _mm256_loadu_si256(lanes.as_ptr().cast());
                    let (small, large) = $ordered(a, $exchanged::<X>(b));
                    let image = _mm256_blendv_epi8(large, small, lanes);
                    (_mm256_blendv_epi8(small, large, lanes), $exchanged::<X>(image))
                }
            }
            #[inline(always)]
            unsafe fn below<const EQUAL: bool>(v: __m256i, pivot: __m256i) -> u16 {
                // SAFETY: as above.
                unsafe {
                    match EQUAL {
                        true => !$below(pivot, v) & const { (1 << $lanes) - 1 },
                        false => $below(v, pivot),
                    }
                }
            }
            #[inline(always)]
            unsafe fn part(mask: u16, v: __m256i, lower: *mut $word, upper: *mut $word) {
                // SAFETY: as above.
                unsafe {
                    let v = $permuted(mask, v);
                    Self::store(lower, v);
                    Self::store(upper.wrapping_sub($lanes), v);
                }
            }
            #[inline(always)]
            unsafe fn part_some(
                below: u16,
                above: u16,
                v: __m256i,
                lower: *mut $word,
                upper: *mut $word,
            ) {
                // SAFETY: as above; there is room for what is written beside those lanes.
                unsafe {
                    Self::store(lower, $permuted(below, v));
                    let others = !above & const { (1 << $lanes) - 1 };
                    Self::store(upper.wrapping_sub($lanes), $permuted(others, v));
                }
            }
            #[inline(always)]
            unsafe fn turn(v: &mut [__m256i; REGISTERS]) {
                // SAFETY: as above.
                unsafe { $turn(v) }
            }
        }
    };
}
lane!(
    u64,
    i64,
    4,
    1 << 63,
    i64::MAX as u64,
    _mm256_maskload_epi64,
    _mm256_maskstore_epi64,
    _mm256_set1_epi64x,
    ordered_u64,
    larger_u64,
    exchanged_u64,
    below_u64,
    permuted_u64,
    turn_u64
);
lane!(
    u32,
    i32,
    8,
    0,
    u32::MAX,
    _mm256_maskload_epi32,
    _mm256_maskstore_epi32,
    _mm256_set1_epi32,
    ordered_u32,
    larger_u32,
    exchanged_u32,
    below_u32,
    permuted_u32,
    turn_u32
);

/// The mask of the first `count` lanes of 32 bits, at most 8.
#[inline(always)]
unsafe fn first(count: usize) -> __m256i {
    // SAFETY: the caller has the processor feature, as for all below; the table has the lanes.
    unsafe { _mm256_loadu_si256(FIRST.as_ptr().wrapping_add(8 - count).cast()) }
}

#[inline(always)]
unsafe fn ordered_u32(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    // SAFETY: as above.
    unsafe { (_mm256_min_epu32(a, b), _mm256_max_epu32(a, b)) }
}

#[inline(always)]
unsafe fn ordered_u64(a: __m256i, b: __m256i) -> (__m256i, __m256i) {
    // SAFETY: as above.
    unsafe {
        let swap = _mm256_cmpgt_epi64(a, b);
        (_mm256_blendv_epi8(a, b, swap), _mm256_blendv_epi8(b, a, swap))
    }
}

#[inline(always)]
unsafe fn larger_u32(a: __m256i, b: __m256i, lanes: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe { _mm256_blendv_epi8(_mm256_min_epu32(a, b), _mm256_max_epu32(a, b), lanes) }
}

#[inline(always)]
unsafe fn larger_u64(a: __m256i, b: __m256i, lanes: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let swap = _mm256_xor_si256(_mm256_cmpgt_epi64(a, b), lanes);
        _mm256_blendv_epi8(a, b, swap)
    }
}

#[inline(always)]
unsafe fn exchanged_u32<const X: usize>(v: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        let v = match X % 4 {
            0 => v,
            1 => _mm256_shuffle_epi32::<0xB1>(v),
            2 => _mm256_shuffle_epi32::<0x4E>(v),
            _ => _mm256_shuffle_epi32::<0x1B>(v),
        };
        if X & 4 != 0 { _mm256_permute2x128_si256::<1>(v, v) } else { v }
    }
}

#[inline(always)]
unsafe fn exchanged_u64<const X: usize>(v: __m256i) -> __m256i {
    // SAFETY: as above.
    unsafe {
        match X % 4 {
            0 => v,
            1 => _mm256_shuffle_epi32::<0x4E>(v),
            2 => _mm256_permute2x128_si256::<1>(v, v),
            _ => _mm256_permute4x64_epi64::<0x1B>(v),
        }
    }
}

#[inline(always)]
unsafe fn below_u64(v: __m256i, pivot: __m256i) -> u16 {
    // SAFETY: as above.
    unsafe { _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpgt_epi64(pivot, v))) as u16 }
}

#[inline(always)]
unsafe fn below_u32(v: __m256i, pivot: __m256i) -> u16 {
    // SAFETY: as above.
    unsafe {
        let not_below = _mm256_cmpeq_epi32(_mm256_max_epu32(v, pivot), v);
        !_mm256_movemask_ps(_mm256_castsi256_ps(not_below)) as u16 & 0xFF
    }
}

#[inline(always)]
unsafe fn permuted_u64(mask: u16, v: __m256i) -> __m256i {
    // SAFETY: as above; a mask has four bits.
    unsafe {
        let lanes = PARTED_PAIRS.get_unchecked(mask as usize);
        _mm256_permutevar8x32_epi32(v, _mm256_loadu_si256(lanes.as_ptr().cast()))
    }
}

#[inline(always)]
unsafe fn permuted_u32(mask: u16, v: __m256i) -> __m256i {
    // SAFETY: as above; a mask has eight bits.
    unsafe {
        let lanes = PARTED.get_unchecked(mask as usize);
        let lanes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(lanes.as_ptr().cast()));
        _mm256_permutevar8x32_epi32(v, lanes)
    }
}

/// Lane l of row r becomes lane r % 4 of register 4 * l + r / 4.
#[inline(always)]
unsafe fn turn_u64(v: &mut [__m256i; REGISTERS]) {
    let rows = *v;
    // SAFETY: as above.
    unsafe {
        for (i, rows) in rows.chunks_exact(4).enumerate() {
            let a = _mm256_unpacklo_epi64(rows[0], rows[1]);
            let b = _mm256_unpackhi_epi64(rows[0], rows[1]);
            let c = _mm256_unpacklo_epi64(rows[2], rows[3]);
            let d = _mm256_unpackhi_epi64(rows[2], rows[3]);
            v[i] = _mm256_permute2x128_si256::<0x20>(a, c);
            v[4 + i] = _mm256_permute2x128_si256::<0x20>(b, d);
            v[8 + i] = _mm256_permute2x128_si256::<0x31>(a, c);
            v[12 + i] = _mm256_permute2x128_si256::<0x31>(b, d);
        }
    }
}

/// Lane l of row r becomes lane r % 8 of register 2 * l + r / 8.
#[inline(always)]
unsafe fn turn_u32(v: &mut [__m256i; REGISTERS]) {
    // SAFETY: as above.
    unsafe {
        let mut t = *v;
        for i in (0..16).step_by(4) {
            let a = _mm256_unpacklo_epi32(v[i], v[i + 1]);
            let b = _mm256_unpackhi_epi32(v[i], v[i + 1]);
            let c = _mm256_unpacklo_epi32(v[i + 2], v[i + 3]);
            let d = _mm256_unpackhi_epi32(v[i + 2], v[i + 3]);
            t[i] = _mm256_unpacklo_epi64(a, c);
            t[i + 1] = _mm256_unpackhi_epi64(a, c);
            t[i + 2] = _mm256_unpacklo_epi64(b, d);
            t[i + 3] = _mm256_unpackhi_epi64(b, d);
        }
        for half in 0..2 {
            for i in 0..4 {
                let (a, b) = (t[8 * half + i], t[8 * half + 4 + i]);
                v[2 * i + half] = _mm256_permute2x128_si256::<0x20>(a, b);
                v[8 + 2 * i + half] = _mm256_permute2x128_si256::<0x31>(a, b);
            }
        }
    }
}
