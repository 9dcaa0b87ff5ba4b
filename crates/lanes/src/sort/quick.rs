//! Quicksort of unsigned words in 512-bit registers: partitions in place, and sorting networks for
//! sixteen registers and less.
//!
//! Words alone are sorted, so stability means nothing here; `words` says how elements and
//! positions become words. A compressed register is stored whole or by lanes: compressing stores
//! cost Zen 4 over 100 cycles each.

use super::lane::{Lane, REGISTERS, low};
use super::registers::{short, small};
use core::arch::x86_64::*;

/// Registers read at a time from one side of a partition.
const GROUP: usize = 8;

/// Moves the words below `pivot` (or equal to it, where `EQUAL`) to the front and returns how many
/// there are. Words from both ends are set aside; then the side with less room is read, so that
/// neither side overtakes what is unread, and no branch depends on the data.
///
/// # Safety
/// As `small`; there are at least twice `GROUP` registers of words.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn partition<W: Lane, const EQUAL: bool>(x: *mut W, count: usize, pivot: W) -> usize {
    // SAFETY: the caller's promise; see `Halves::take` for the room.
    unsafe {
        let (side, rest) = (GROUP * W::LANES, count % W::LANES);
        let mut aside = [[_mm512_setzero_si512(); GROUP]; 2];
        let end = x.add(count - rest);
        for i in 0..GROUP {
            aside[0][i] = W::load(x.add(i * W::LANES));
            aside[1][i] = W::load(end.sub(side).add(i * W::LANES));
        }
        let last = W::load_part(end, rest);
        let mut halves = Halves {
            pivot: W::splat(pivot),
            lower: x,
            upper: x.add(count),
            from: x.add(side),
            to: end.sub(side),
        };
        while halves.unread() >= side {
            halves.take::<EQUAL, GROUP>();
        }
        while halves.unread() > 0 {
            halves.take::<EQUAL, 1>();
        }
        for v in aside.as_flattened() {
            halves.put::<EQUAL>(*v);
        }
        let mask = W::below::<EQUAL>(last, halves.pivot) & low(rest);
        let below = mask.count_ones() as usize;
        W::store_part(halves.lower, W::compress(mask, last), below);
        W::store_part(halves.lower.add(below), W::compress(!mask & low(rest), last), rest - below);
        halves.lower.add(below).offset_from_unsigned(x)
    }
}

/// A partition on its way: lower words end at `lower`, upper ones begin at `upper`, and what is
/// between `from` and `to` is unread.
struct Halves<W> {
    pivot: __m512i,
    lower: *mut W,
    upper: *mut W,
    from: *mut W,
    to: *mut W,
}

impl<W: Lane> Halves<W> {
    #[inline(always)]
    unsafe fn unread(&self) -> usize {
        // SAFETY: both lie in the partitioned words.
        unsafe { self.to.offset_from_unsigned(self.from) }
    }

    /// Reads N registers and writes their words. The side with less room is read: after that each
    /// side has room for N registers, as twice `GROUP` registers of words are aside.
    #[inline(always)]
    unsafe fn take<const EQUAL: bool, const N: usize>(&mut self) {
        // SAFETY: N registers are unread.
        unsafe {
            let behind = self.from.offset_from_unsigned(self.lower);
            let ahead = self.upper.offset_from_unsigned(self.to);
            let back = self.to.wrapping_sub(N * W::LANES);
            let right = ahead < behind;
            let at = core::hint::select_unpredictable(right, back, self.from);
            self.to = core::hint::select_unpredictable(right, back, self.to);
            let next = self.from.wrapping_add(N * W::LANES);
            self.from = core::hint::select_unpredictable(right, self.from, next);
            let mut v = [_mm512_setzero_si512(); N];
            for (i, v) in v.iter_mut().enumerate() {
                *v = W::load(at.add(i * W::LANES));
            }
            for v in v {
                self.put::<EQUAL>(v);
            }
        }
    }

    /// Writes the words of a register to their sides.
    #[inline(always)]
    unsafe fn put<const EQUAL: bool>(&mut self, v: __m512i) {
        // SAFETY: there is room for a register.
        unsafe {
            let mask = W::below::<EQUAL>(v, self.pivot);
            W::part(mask, v, self.lower, self.upper);
            let below = mask.count_ones() as usize;
            self.lower = self.lower.add(below);
            self.upper = self.upper.sub(W::LANES - below);
        }
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
pub(crate) unsafe fn sort<W: Lane>(x: &mut [W]) {
    let depth = 2 * (usize::BITS - x.len().leading_zeros()) + 8;
    // SAFETY: the caller's promise.
    unsafe { range(x.as_mut_ptr(), x.len(), depth) }
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn range<W: Lane>(mut x: *mut W, mut count: usize, mut depth: u32) {
    // SAFETY: the caller's promise; parts are disjoint and lie inside.
    unsafe {
        while count > 2 * REGISTERS * W::LANES {
            if depth == 0 {
                // Pivots were bad again and again: a method that no input can slow down.
                return core::slice::from_raw_parts_mut(x, count).sort_unstable();
            }
            depth -= 1;
            let pivot = pivot(x, count);
            let mut lower = partition::<W, false>(x, count, pivot);
            if lower == 0 {
                // The pivot is the smallest word: its equals are in place already.
                lower = partition::<W, true>(x, count, pivot);
            } else {
                range(x, lower, depth);
            }
            x = x.add(lower);
            count -= lower;
        }
        short(x, count);
    }
}
