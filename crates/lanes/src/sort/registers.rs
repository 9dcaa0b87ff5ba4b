//! Sorting networks (Batcher, 1968) over up to sixteen 512-bit registers of words.
//!
//! Twelve registers and more are sorted as columns, fewer as one bitonic sequence: that takes
//! twice the shuffles, but no more registers than there are.

use super::lane::{Lane, REGISTERS, upper};
use core::arch::x86_64::*;

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
            (v[low], v[high]) = W::ordered(v[low], other);
        }
    }
}

/// Sorts K registers as one sequence.
#[inline(always)]
unsafe fn network<W: Lane, const K: usize>(v: &mut [__m512i; K]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        each::<W, K>(v);
        level::<W, K, 2>(v);
        level::<W, K, 4>(v);
        level::<W, K, 8>(v);
        level::<W, K, 16>(v);
    }
}

/// Merges pairs of sorted runs to runs of SIZE registers.
#[inline(always)]
unsafe fn level<W: Lane, const K: usize, const SIZE: usize>(v: &mut [__m512i; K]) {
    if SIZE / 2 >= K {
        return;
    }
    // SAFETY: the caller has the processor feature.
    unsafe {
        for low in 0..K {
            let place = low % SIZE;
            if place < SIZE / 2 {
                compare::<W, K>(v, low, low - place + SIZE - 1 - place, true);
            }
        }
        if SIZE >= 16 {
            apart::<W, K, 4>(v);
        }
        if SIZE >= 8 {
            apart::<W, K, 2>(v);
        }
        if SIZE >= 4 {
            apart::<W, K, 1>(v);
        }
        settle::<W, K>(v);
    }
}

/// Compares registers APART from each other.
#[inline(always)]
unsafe fn apart<W: Lane, const K: usize, const APART: usize>(v: &mut [__m512i; K]) {
    for low in 0..K {
        if low % (2 * APART) < APART {
            // SAFETY: the caller has the processor feature.
            unsafe { compare::<W, K>(v, low, low + APART, false) };
        }
    }
}

/// Sorts sixteen registers: their columns first, lane by lane and without a shuffle, then pairs of
/// columns as one, pairs of pairs, and so on, and turns columns into registers.
#[inline(always)]
unsafe fn columns<W: Lane>(v: &mut [__m512i; REGISTERS]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        sort_rows::<W>(v);
        mirror::<W, 1>(v);
        halve::<W>(v);
        mirror::<W, 3>(v);
        v.iter_mut().for_each(|v| stage::<W, 1>(v));
        halve::<W>(v);
        mirror::<W, 7>(v);
        v.iter_mut().for_each(|v| stage::<W, 2>(v));
        v.iter_mut().for_each(|v| stage::<W, 1>(v));
        halve::<W>(v);
        if W::LANES == 16 {
            mirror::<u32, 15>(v);
            v.iter_mut().for_each(|v| stage::<W, 4>(v));
            v.iter_mut().for_each(|v| stage::<W, 2>(v));
            v.iter_mut().for_each(|v| stage::<W, 1>(v));
            halve::<W>(v);
        }
        W::turn(v);
    }
}

/// Compares rows some way apart. Written out, since the compiler leaves nested loops over these
/// rows as loops, with the rows in memory: 256 words of 32 bits took 440 ns so, not 240.
macro_rules! rows {
    ($v:ident: $($apart:literal from $($low:literal)*;)*) => {
        // SAFETY: the caller has the processor feature.
        unsafe { $($(compare::<W, REGISTERS>($v, $low, $low + $apart, false);)*)* }
    };
}

/// Sorts the columns of sixteen registers by odd-even merges (Batcher, 1968): 63 comparisons.
#[inline(always)]
unsafe fn sort_rows<W: Lane>(v: &mut [__m512i; REGISTERS]) {
    rows! { v:
        1 from 0 2 4 6 8 10 12 14;
        2 from 0 1 4 5 8 9 12 13;
        1 from 1 5 9 13;
        4 from 0 1 2 3 8 9 10 11;
        2 from 2 3 10 11;
        1 from 1 3 5 9 11 13;
        8 from 0 1 2 3 4 5 6 7;
        4 from 4 5 6 7;
        2 from 2 3 6 7 10 11;
        1 from 1 3 5 7 9 11 13;
    }
}

/// Compares every row with the mirrored one in lanes i and i ^ X: the first stage of a merge.
#[inline(always)]
unsafe fn mirror<W: Lane, const X: usize>(v: &mut [__m512i; REGISTERS]) {
    for i in 0..REGISTERS / 2 {
        let (a, b) = (v[i], v[REGISTERS - 1 - i]);
        // SAFETY: the caller has the processor feature.
        unsafe {
            v[i] = W::larger_in(const { upper(X) }, a, W::exchanged::<X>(b));
            v[REGISTERS - 1 - i] = W::larger_in(const { upper(X) }, b, W::exchanged::<X>(a));
        }
    }
}

/// Sorts columns that are bitonic.
#[inline(always)]
unsafe fn halve<W: Lane>(v: &mut [__m512i; REGISTERS]) {
    rows! { v:
        8 from 0 1 2 3 4 5 6 7;
        4 from 0 1 2 3 8 9 10 11;
        2 from 0 1 4 5 8 9 12 13;
        1 from 0 2 4 6 8 10 12 14;
    }
}

/// Sorts `count` words, at most those of K registers.
#[inline(always)]
unsafe fn in_registers<W: Lane, const K: usize>(x: *mut W, count: usize) {
    // SAFETY: every register reads and writes the part of `count` that lies in it; columns are
    // sorted where there are as many registers as they want.
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
        if K == REGISTERS {
            columns::<W>(&mut *v.as_mut_ptr().cast());
        } else {
            network::<W, K>(&mut v);
        }
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
pub(super) unsafe fn small<W: Lane>(x: *mut W, count: usize) {
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
            _ => in_registers::<W, REGISTERS>(x, count),
        }
    }
}

/// Sorts at most twice `REGISTERS` registers of words.
///
/// # Safety
/// As `small`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
pub(super) unsafe fn short<W: Lane>(x: *mut W, count: usize) {
    let half = REGISTERS * W::LANES;
    // SAFETY: the caller's promise.
    unsafe {
        if count <= half {
            return small(x, count);
        }
        small(x, half);
        small(x.add(half), count - half);
        merge(x, x.add(half), count - half);
    }
}

/// Merges sixteen sorted registers and `count` sorted words after them.
#[inline(always)]
unsafe fn merge<W: Lane>(x: *mut W, y: *mut W, count: usize) {
    // SAFETY: the caller has the processor feature; registers read and write what is there.
    unsafe {
        let part = |i: usize| count.saturating_sub(i * W::LANES).min(W::LANES);
        let (mut low, mut high) = ([W::splat(W::MAX); REGISTERS], [W::splat(W::MAX); REGISTERS]);
        for (i, low) in low.iter_mut().enumerate() {
            let image = REGISTERS - 1 - i;
            *low = W::load(x.add(i * W::LANES));
            if part(image) > 0 {
                let other = reversed::<W>(W::load_part(y.add(image * W::LANES), part(image)));
                (*low, high[image]) = W::ordered(*low, other);
            }
        }
        halve::<W>(&mut low);
        settle::<W, REGISTERS>(&mut low);
        for (i, v) in low.iter().enumerate() {
            W::store(x.add(i * W::LANES), *v);
        }
        halve::<W>(&mut high);
        settle::<W, REGISTERS>(&mut high);
        for (i, v) in high.iter().enumerate() {
            W::store_part(y.add(i * W::LANES), *v, part(i));
        }
    }
}
