//! Sorting networks (Batcher, 1968) over up to sixteen registers of words.
//!
//! Twelve registers and more are sorted as columns, fewer as one bitonic sequence: that takes
//! twice the shuffles, but no more registers than there are.

use super::lane::{Lane, REGISTERS, Steps};

/// Compares lanes i and i ^ X; the smaller value goes to the lower lane.
#[inline(always)]
unsafe fn stage<L: Lane, const X: usize>(v: &mut L::Register) {
    // SAFETY: the caller has the processor feature.
    unsafe { *v = L::larger_in::<X>(*v, L::exchanged::<X>(*v)) }
}

/// `stage` of each register. No closure, which might be compiled without the level's instructions.
#[inline(always)]
unsafe fn stages<L: Lane, const X: usize>(v: &mut [L::Register]) {
    for v in v {
        // SAFETY: the caller has the processor feature.
        unsafe { stage::<L, X>(v) };
    }
}

/// Sorts each register whose lanes are bitonic.
#[inline(always)]
unsafe fn settle<L: Lane, const K: usize>(v: &mut [L::Register; K]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        if L::LANES > 8 {
            stages::<L, 8>(v);
        }
        if L::LANES > 4 {
            stages::<L, 4>(v);
        }
        stages::<L, 2>(v);
        stages::<L, 1>(v);
    }
}

/// Sorts each register by itself.
#[inline(always)]
unsafe fn each<L: Lane, const K: usize>(v: &mut [L::Register; K]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        stages::<L, 1>(v);
        stages::<L, 3>(v);
        stages::<L, 1>(v);
        if L::LANES > 4 {
            stages::<L, 7>(v);
            stages::<L, 2>(v);
            stages::<L, 1>(v);
        }
        if L::LANES > 8 {
            stages::<L, 15>(v);
            stages::<L, 4>(v);
            stages::<L, 2>(v);
            stages::<L, 1>(v);
        }
    }
}

/// The lanes in the other order.
#[inline(always)]
unsafe fn reversed<L: Lane>(v: L::Register) -> L::Register {
    // SAFETY: the caller has the processor feature.
    unsafe { L::exchanged::<15>(v) }
}

/// Compares two registers lane by lane, the second turned round where `mirrored`. A register
/// beyond K would hold `MAX` alone, which no comparison moves: it is left out.
#[inline(always)]
unsafe fn compare<L: Lane, const K: usize>(
    v: &mut [L::Register; K],
    low: usize,
    high: usize,
    mirrored: bool,
) {
    if high < K {
        // SAFETY: the caller has the processor feature.
        unsafe {
            let other = if mirrored { reversed::<L>(v[high]) } else { v[high] };
            (v[low], v[high]) = L::ordered(v[low], other);
        }
    }
}

/// Sorts K registers as one sequence.
#[inline(always)]
unsafe fn network<L: Lane, const K: usize>(v: &mut [L::Register; K]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        each::<L, K>(v);
        level::<L, K, 2>(v);
        level::<L, K, 4>(v);
        level::<L, K, 8>(v);
        level::<L, K, 16>(v);
    }
}

/// Merges pairs of sorted runs to runs of SIZE registers.
#[inline(always)]
unsafe fn level<L: Lane, const K: usize, const SIZE: usize>(v: &mut [L::Register; K]) {
    if SIZE / 2 >= K {
        return;
    }
    // SAFETY: the caller has the processor feature.
    unsafe {
        for low in 0..K {
            let place = low % SIZE;
            if place < SIZE / 2 {
                compare::<L, K>(v, low, low - place + SIZE - 1 - place, true);
            }
        }
        if SIZE >= 16 {
            apart::<L, K, 4>(v);
        }
        if SIZE >= 8 {
            apart::<L, K, 2>(v);
        }
        if SIZE >= 4 {
            apart::<L, K, 1>(v);
        }
        settle::<L, K>(v);
    }
}

/// Compares registers APART from each other.
#[inline(always)]
unsafe fn apart<L: Lane, const K: usize, const APART: usize>(v: &mut [L::Register; K]) {
    for low in 0..K {
        if low % (2 * APART) < APART {
            // SAFETY: the caller has the processor feature.
            unsafe { compare::<L, K>(v, low, low + APART, false) };
        }
    }
}

/// Sorts sixteen registers: their columns first, lane by lane and without a shuffle, then pairs of
/// columns as one, pairs of pairs, and so on, and turns columns into registers.
#[inline(always)]
unsafe fn columns<L: Lane>(v: &mut [L::Register; REGISTERS]) {
    // SAFETY: the caller has the processor feature.
    unsafe {
        sort_rows::<L>(v);
        mirror::<L, 1>(v);
        halve::<L>(v);
        mirror::<L, 3>(v);
        stages::<L, 1>(v);
        halve::<L>(v);
        if L::LANES > 4 {
            mirror::<L, 7>(v);
            stages::<L, 2>(v);
            stages::<L, 1>(v);
            halve::<L>(v);
        }
        if L::LANES > 8 {
            mirror::<L, 15>(v);
            stages::<L, 4>(v);
            stages::<L, 2>(v);
            stages::<L, 1>(v);
            halve::<L>(v);
        }
        L::turn(v);
    }
}

/// Compares rows some way apart. Written out, since the compiler leaves nested loops over these
/// rows as loops, with the rows in memory: 256 words of 32 bits took 440 ns so, not 240.
macro_rules! rows {
    ($v:ident: $($apart:literal from $($low:literal)*;)*) => {
        // SAFETY: the caller has the processor feature.
        unsafe { $($(compare::<L, REGISTERS>($v, $low, $low + $apart, false);)*)* }
    };
}

/// Sorts the columns of sixteen registers by odd-even merges (Batcher, 1968): 63 comparisons.
#[inline(always)]
unsafe fn sort_rows<L: Lane>(v: &mut [L::Register; REGISTERS]) {
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
unsafe fn mirror<L: Lane, const X: usize>(v: &mut [L::Register; REGISTERS]) {
    for i in 0..REGISTERS / 2 {
        // SAFETY: the caller has the processor feature.
        unsafe {
            let (a, b) = (v[i], v[REGISTERS - 1 - i]);
            (v[i], v[REGISTERS - 1 - i]) = L::crossed::<X>(a, b);
        }
    }
}

/// Sorts columns that are bitonic.
#[inline(always)]
unsafe fn halve<L: Lane>(v: &mut [L::Register; REGISTERS]) {
    rows! { v:
        8 from 0 1 2 3 4 5 6 7;
        4 from 0 1 2 3 8 9 10 11;
        2 from 0 1 4 5 8 9 12 13;
        1 from 0 2 4 6 8 10 12 14;
    }
}

/// Sorts `count` words, less than a register has lanes.
#[inline(always)]
unsafe fn in_one<L: Lane>(x: *mut L::Word, count: usize) {
    // SAFETY: the register reads and writes `count` words.
    unsafe {
        let mut v = [L::load_part(x, count)];
        each::<L, 1>(&mut v);
        L::store_part(x, v[0], count);
    }
}

/// Registers from which words are sorted as columns.
const COLUMNS: usize = 12;

/// Sorts `count` words: a whole register at least, those of K registers at most, and so many that
/// fewer would not do (for columns: that `COLUMNS` would).
#[inline(always)]
unsafe fn in_registers<L: Lane, const K: usize>(x: *mut L::Word, count: usize) {
    let whole = if K == REGISTERS { COLUMNS } else { K } - 1;
    let part = |i: usize| count.saturating_sub(i * L::LANES).min(L::LANES);
    let end = |i: usize| count.min((i + 1) * L::LANES);
    // SAFETY: every register reads and writes the part of `count` that lies in it, and what the
    // last ones write before their parts is written again by those before them; columns are
    // sorted where there are as many registers as they want.
    unsafe {
        let mut v = [L::splat(L::MAX); K];
        for (i, v) in v.iter_mut().enumerate() {
            *v = match i < whole {
                true => L::load(x.add(i * L::LANES)),
                false => L::load_last(x.add(end(i)), part(i)),
            }
        }
        if K == REGISTERS {
            columns::<L>(&mut *v.as_mut_ptr().cast());
        } else {
            network::<L, K>(&mut v);
        }
        for (i, v) in v.iter().enumerate().rev() {
            match i < whole {
                true => L::store(x.add(i * L::LANES), *v),
                false => L::store_last(x.add(end(i)), *v, part(i)),
            }
        }
    }
}

/// Sorts at most `REGISTERS` registers of words.
///
/// # Safety
/// `count` words must be at `x`, and the processor needs the features.
#[inline(always)]
pub(super) unsafe fn small<L: Lane>(x: *mut L::Word, count: usize) {
    // SAFETY: the caller's promise; each network has room for `count`.
    unsafe {
        match count.div_ceil(L::LANES) {
            0 | 1 if count < L::LANES => in_one::<L>(x, count),
            1 => in_registers::<L, 1>(x, count),
            2 => in_registers::<L, 2>(x, count),
            3 => in_registers::<L, 3>(x, count),
            4 => in_registers::<L, 4>(x, count),
            5 => in_registers::<L, 5>(x, count),
            6 => in_registers::<L, 6>(x, count),
            7 => in_registers::<L, 7>(x, count),
            8 => in_registers::<L, 8>(x, count),
            9 => in_registers::<L, 9>(x, count),
            10 => in_registers::<L, 10>(x, count),
            11 => in_registers::<L, 11>(x, count),
            _ => in_registers::<L, REGISTERS>(x, count),
        }
    }
}

/// Sorts at most twice `REGISTERS` registers of words.
///
/// # Safety
/// As `small`.
#[inline(always)]
pub(super) unsafe fn short<L: Steps>(x: *mut L::Word, count: usize) {
    let half = REGISTERS * L::LANES;
    // SAFETY: the caller's promise.
    unsafe {
        if count <= half {
            return L::small(x, count);
        }
        L::small(x, half);
        L::small(x.add(half), count - half);
        merge::<L>(x, x.add(half), count - half);
    }
}

/// Merges sixteen sorted registers and `count` sorted words after them.
#[inline(always)]
unsafe fn merge<L: Lane>(x: *mut L::Word, y: *mut L::Word, count: usize) {
    // SAFETY: the caller has the processor feature; registers read what is there, and what the last
    // ones write before their parts is written again by those before them.
    unsafe {
        let part = |i: usize| count.saturating_sub(i * L::LANES).min(L::LANES);
        let end = |i: usize| count.min((i + 1) * L::LANES);
        let (mut low, mut high) = ([L::splat(L::MAX); REGISTERS], [L::splat(L::MAX); REGISTERS]);
        for (i, low) in low.iter_mut().enumerate() {
            let image = REGISTERS - 1 - i;
            *low = L::load(x.add(i * L::LANES));
            if part(image) > 0 {
                let other = L::load_last(y.add(end(image)), part(image));
                (*low, high[image]) = L::ordered(*low, reversed::<L>(other));
            }
        }
        halve::<L>(&mut high);
        settle::<L, REGISTERS>(&mut high);
        for (i, v) in high.iter().enumerate().rev() {
            L::store_last(y.add(end(i)), *v, part(i));
        }
        halve::<L>(&mut low);
        settle::<L, REGISTERS>(&mut low);
        for (i, v) in low.iter().enumerate() {
            L::store(x.add(i * L::LANES), *v);
        }
    }
}
