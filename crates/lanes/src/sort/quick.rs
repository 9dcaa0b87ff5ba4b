//! Quicksort of unsigned words in 512-bit registers: partitions by compression, and bitonic
//! networks (Batcher, 1968) for 16 registers and less.
//!
//! Words alone are sorted, so stability means nothing here; `words` says how elements and
//! positions become words. A partition writes its upper part to a second buffer and copies it
//! back: no branch depends on the data, and compressing stores, which cost Zen 4 over 100 cycles
//! each, are not needed.

use core::arch::x86_64::*;

/// Registers of the largest network: 128 words of 64 bits, 256 of 32.
const REGISTERS: usize = 16;

/// A word that fills lanes of a 512-bit register.
#[allow(clippy::missing_safety_doc)] // pointers must cover what is read or written
pub(crate) trait Lane: Copy + Ord + Send + Sync + 'static {
    const LANES: usize;
    const MAX: Self;
    unsafe fn load(from: *const Self) -> __m512i;
    /// The first `count` lanes, `MAX` in the others.
    unsafe fn load_part(from: *const Self, count: usize) -> __m512i;
    unsafe fn store(to: *mut Self, v: __m512i);
    unsafe fn store_part(to: *mut Self, v: __m512i, count: usize);
    unsafe fn splat(x: Self) -> __m512i;
    unsafe fn smaller(a: __m512i, b: __m512i) -> __m512i;
    unsafe fn larger(a: __m512i, b: __m512i) -> __m512i;
    /// Lane i of the result is lane i ^ X.
    unsafe fn exchanged<const X: usize>(v: __m512i) -> __m512i;
    /// Larger values in the lanes of `mask`, smaller ones in the others.
    unsafe fn larger_in(mask: u16, a: __m512i, b: __m512i) -> __m512i;
    /// One bit a lane: v < pivot, or v <= pivot where `EQUAL`.
    unsafe fn below<const EQUAL: bool>(v: __m512i, pivot: __m512i) -> u16;
    /// The lanes of `mask`, moved together at the low end.
    unsafe fn compress(mask: u16, v: __m512i) -> __m512i;
}

const fn exchange<const N: usize>(x: usize) -> [usize; N] {
    let mut lanes = [0; N];
    let mut i = 0;
    while i < N {
        lanes[i] = i ^ x;
        i += 1;
    }
    lanes
}

/// The lanes that get the larger value when lanes i and i ^ x are compared.
const fn upper(x: usize) -> u16 {
    let top = 1 << (usize::BITS - 1 - x.leading_zeros());
    let (mut mask, mut i) = (0, 0);
    while i < 16 {
        if i & top != 0 {
            mask |= 1 << i;
        }
        i += 1;
    }
    mask
}

macro_rules! lane {
    ($word:ty, $signed:ty, $lanes:expr, $mask:ty, $index:ty, $load:ident, $store:ident,
     $splat:ident, $min:ident, $max:ident, $mask_max:ident, $permute:ident, $less:ident,
     $less_equal:ident, $compress:ident) => {
        impl Lane for $word {
            const LANES: usize = $lanes;
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
            unsafe fn smaller(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $min(a, b) }
            }
            #[inline(always)]
            unsafe fn larger(a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $max(a, b) }
            }
            #[inline(always)]
            unsafe fn exchanged<const X: usize>(v: __m512i) -> __m512i {
                const { assert!(X < $lanes) };
                let lanes = const {
                    let (from, mut to) = (exchange::<$lanes>(X), [0 as $index; $lanes]);
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
            unsafe fn larger_in(mask: u16, a: __m512i, b: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $mask_max($min(a, b), mask as $mask, a, b) }
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
            unsafe fn compress(mask: u16, v: __m512i) -> __m512i {
                // SAFETY: as above.
                unsafe { $compress(mask as $mask, v) }
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
    _mm512_max_epu64,
    _mm512_mask_max_epu64,
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
    _mm512_max_epu32,
    _mm512_mask_max_epu32,
    _mm512_permutexvar_epi32,
    _mm512_cmplt_epu32_mask,
    _mm512_cmple_epu32_mask,
    _mm512_maskz_compress_epi32
);

/// A mask of the lowest `count` lanes, at most 16.
#[inline(always)]
fn low(count: usize) -> u16 {
    ((1u32 << count) - 1) as u16
}

/// Compares lanes i and i ^ X; the smaller value goes to the lower lane.
#[inline(always)]
unsafe fn stage<W: Lane, const X: usize>(v: &mut __m512i) {
    // SAFETY: the caller has the processor feature.
    unsafe { *v = W::larger_in(const { upper(X) }, *v, W::exchanged::<X>(*v)) }
}

/// Sorts each register whose lanes are bitonic.
#[inline(always)]
unsafe fn settle<W: Lane, const K: usize>(v: &mut [__m512i; K]) {
    // SAFETY: the caller has the processor feature; u64 has no lanes 8 apart.
    unsafe {
        if W::LANES == 16 {
            v.iter_mut().for_each(|v| eight_apart::<W>(v));
        }
        v.iter_mut().for_each(|v| stage::<W, 4>(v));
        v.iter_mut().for_each(|v| stage::<W, 2>(v));
        v.iter_mut().for_each(|v| stage::<W, 1>(v));
    }
}

/// `stage` over lanes that only 16 have.
#[inline(always)]
unsafe fn eight_apart<W: Lane>(v: &mut __m512i) {
    // SAFETY: called for 32-bit lanes alone, with the processor feature.
    unsafe { stage_of_u32::<8>(v) }
}

#[inline(always)]
unsafe fn stage_of_u32<const X: usize>(v: &mut __m512i) {
    // SAFETY: as above.
    unsafe { stage::<u32, X>(v) }
}

/// Sorts each register by itself.
#[inline(always)]
unsafe fn each<W: Lane, const K: usize>(v: &mut [__m512i; K]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        v.iter_mut().for_each(|v| stage::<W, 1>(v));
        v.iter_mut().for_each(|v| stage::<W, 3>(v));
        v.iter_mut().for_each(|v| stage::<W, 1>(v));
        v.iter_mut().for_each(|v| stage::<W, 7>(v));
        v.iter_mut().for_each(|v| stage::<W, 2>(v));
        v.iter_mut().for_each(|v| stage::<W, 1>(v));
        if W::LANES == 16 {
            v.iter_mut().for_each(|v| stage_of_u32::<15>(v));
            v.iter_mut().for_each(|v| stage::<W, 4>(v));
            v.iter_mut().for_each(|v| stage::<W, 2>(v));
            v.iter_mut().for_each(|v| stage::<W, 1>(v));
        }
    }
}

/// The lanes in the other order.
#[inline(always)]
unsafe fn reversed<W: Lane>(v: __m512i) -> __m512i {
    // SAFETY: the caller has the processor feature.
    unsafe { if W::LANES == 16 { u32::exchanged::<15>(v) } else { W::exchanged::<7>(v) } }
}

/// Compares two registers lane by lane, the second turned round where `mirrored`. A register
/// beyond K would hold `MAX` alone, which no comparison moves: it is left out.
#[inline(always)]
unsafe fn compare<W: Lane, const K: usize>(
    v: &mut [__m512i; K],
    low: usize,
    high: usize,
    mirrored: bool,
) {
    if high < K {
        // SAFETY: the caller has the processor feature.
        unsafe {
            let other = if mirrored { reversed::<W>(v[high]) } else { v[high] };
            (v[low], v[high]) = (W::smaller(v[low], other), W::larger(v[low], other));
        }
    }
}

/// Sorts K registers as one sequence.
#[inline(always)]
unsafe fn network<W: Lane, const K: usize>(v: &mut [__m512i; K]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        each::<W, K>(v);
        let mut size = 2;
        while size / 2 < K {
            for low in (0..K).filter(|low| low % size < size / 2) {
                let place = low % size;
                compare::<W, K>(v, low, low - place + size - 1 - place, true);
            }
            let mut apart = size / 4;
            while apart > 0 {
                for low in (0..K).filter(|low| low % (2 * apart) < apart) {
                    compare::<W, K>(v, low, low + apart, false);
                }
                apart /= 2;
            }
            settle::<W, K>(v);
            size *= 2;
        }
    }
}

/// Sorts `count` words, at most those of K registers.
#[inline(always)]
unsafe fn in_registers<W: Lane, const K: usize>(x: *mut W, count: usize) {
    // SAFETY: every register reads and writes the part of `count` that lies in it.
    unsafe {
        let part = |i: usize| count.saturating_sub(i * W::LANES).min(W::LANES);
        let mut v = [W::splat(W::MAX); K];
        for (i, v) in v.iter_mut().enumerate() {
            match part(i) {
                whole if whole == W::LANES => *v = W::load(x.add(i * W::LANES)),
                0 => {}
                some => *v = W::load_part(x.add(i * W::LANES), some),
            }
        }
        network::<W, K>(&mut v);
        for (i, v) in v.iter().enumerate() {
            match part(i) {
                whole if whole == W::LANES => W::store(x.add(i * W::LANES), *v),
                0 => {}
                some => W::store_part(x.add(i * W::LANES), *v, some),
            }
        }
    }
}

/// Sorts at most `REGISTERS` registers of words.
///
/// # Safety
/// `count` words must be at `x`, and the processor needs the features.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn small<W: Lane>(x: *mut W, count: usize) {
    // SAFETY: the caller's promise; each network has room for `count`.
    unsafe {
        match count.div_ceil(W::LANES) {
            0 | 1 => in_registers::<W, 1>(x, count),
            2 => in_registers::<W, 2>(x, count),
            3 => in_registers::<W, 3>(x, count),
            4 => in_registers::<W, 4>(x, count),
            5 => in_registers::<W, 5>(x, count),
            6 => in_registers::<W, 6>(x, count),
            7 => in_registers::<W, 7>(x, count),
            8 => in_registers::<W, 8>(x, count),
            9 => in_registers::<W, 9>(x, count),
            10 => in_registers::<W, 10>(x, count),
            11 => in_registers::<W, 11>(x, count),
            12 => in_registers::<W, 12>(x, count),
            13 => in_registers::<W, 13>(x, count),
            14 => in_registers::<W, 14>(x, count),
            15 => in_registers::<W, 15>(x, count),
            _ => in_registers::<W, REGISTERS>(x, count),
        }
    }
}

/// Moves the words below `pivot` (or equal to it, where `EQUAL`) to the front and returns how many
/// there are. `spare` has room for `count` words and one register.
///
/// # Safety
/// As `small`, and `spare` as said.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn partition<W: Lane, const EQUAL: bool>(
    x: *mut W,
    count: usize,
    pivot: W,
    spare: *mut W,
) -> usize {
    // SAFETY: the lower part is written at or before what was read; a whole register written at
    // its end reaches words already read, except in the last part, which is masked.
    unsafe {
        let pivot = W::splat(pivot);
        let (mut lower, mut upper) = (0, 0);
        let whole = count / W::LANES * W::LANES;
        let mut at = 0;
        while at < whole {
            let v = W::load(x.add(at));
            let mask = W::below::<EQUAL>(v, pivot);
            W::store(x.add(lower), W::compress(mask, v));
            W::store(spare.add(upper), W::compress(!mask, v));
            let below = mask.count_ones() as usize;
            lower += below;
            upper += W::LANES - below;
            at += W::LANES;
        }
        let rest = count - whole;
        if rest > 0 {
            let v = W::load_part(x.add(whole), rest);
            let mask = W::below::<EQUAL>(v, pivot) & low(rest);
            let below = mask.count_ones() as usize;
            W::store_part(x.add(lower), W::compress(mask, v), below);
            W::store(spare.add(upper), W::compress(!mask & low(rest), v));
            lower += below;
            upper += rest - below;
        }
        core::ptr::copy_nonoverlapping(spare, x.add(lower), upper);
        lower
    }
}

/// The middle of a sample of 64 words, from eight places.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn pivot<W: Lane>(x: *const W, count: usize) -> W {
    const PLACES: usize = 8;
    const SAMPLE: usize = 8 * PLACES;
    // SAFETY: `count` exceeds the words of the sample, so every place lies inside.
    unsafe {
        let mut sample = [W::MAX; SAMPLE];
        for place in 0..PLACES {
            let from = x.add((count - 8) / (PLACES - 1) * place);
            core::ptr::copy_nonoverlapping(from, sample.as_mut_ptr().add(place * 8), 8);
        }
        small(sample.as_mut_ptr(), SAMPLE);
        sample[SAMPLE / 2]
    }
}

/// Sorts `x`. `spare` has room for as many words and one register more.
///
/// # Safety
/// The processor must have the features of `Level::Avx512`, and `spare` the room.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
pub(crate) unsafe fn sort<W: Lane>(x: &mut [W], spare: *mut W) {
    let depth = 2 * (usize::BITS - x.len().leading_zeros()) + 8;
    // SAFETY: the caller's promise.
    unsafe { range(x.as_mut_ptr(), x.len(), spare, depth) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn range<W: Lane>(mut x: *mut W, mut count: usize, spare: *mut W, mut depth: u32) {
    // SAFETY: the caller's promise; parts are disjoint and lie inside.
    unsafe {
        while count > REGISTERS * W::LANES {
            if depth == 0 {
                // Pivots were bad again and again: a method that no input can slow down.
                return core::slice::from_raw_parts_mut(x, count).sort_unstable();
            }
            depth -= 1;
            let pivot = pivot(x, count);
            let mut lower = partition::<W, false>(x, count, pivot, spare);
            if lower == 0 {
                // The pivot is the smallest word: its equals are in place already.
                lower = partition::<W, true>(x, count, pivot, spare);
            } else {
                range(x, lower, spare, depth);
            }
            x = x.add(lower);
            count -= lower;
        }
        small(x, count);
    }
}
