//! Quicksort of unsigned words in 512-bit registers: partitions in place, and sorting networks for
//! sixteen registers and less.
//!
//! Words alone are sorted, so stability means nothing here; `words` says how elements and
//! positions become words. A compressed register is stored whole or by lanes: compressing stores
//! cost Zen 4 over 100 cycles each.

use super::lane::{Lane, REGISTERS, low};
use super::registers::{short, small};
use super::words::{Done, Fill};
use core::arch::x86_64::*;
use core::hint::select_unpredictable;

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
    // SAFETY: the caller's promise; see `Sides::take` for the room.
    unsafe {
        let (side, rest) = (GROUP * W::LANES, count % W::LANES);
        let (mut front, mut back) =
            ([_mm512_setzero_si512(); GROUP], [_mm512_setzero_si512(); GROUP]);
        let end = x.add(count - rest);
        for (i, (front, back)) in front.iter_mut().zip(&mut back).enumerate() {
            *front = W::load(x.add(i * W::LANES));
            *back = W::load(end.sub(side).add(i * W::LANES));
        }
        let last = W::load_part(end, rest);
        let halves = Halves { pivot: W::splat(pivot), lower: x, upper: x.add(count) };
        let mut both = Sides { halves, from: x.add(side), to: end.sub(side) };
        while both.unread() >= side {
            both.take::<EQUAL, GROUP>();
        }
        while both.unread() > 0 {
            both.take::<EQUAL, 1>();
        }
        for v in front.into_iter().chain(back) {
            both.halves.put::<EQUAL>(v);
        }
        both.halves.put_part::<EQUAL>(last, rest);
        both.halves.lower.offset_from_unsigned(x)
    }
}

/// A partition on its way: lower words end at `lower`, upper ones begin at `upper`.
struct Halves<W> {
    pivot: __m512i,
    lower: *mut W,
    upper: *mut W,
}

impl<W: Lane> Halves<W> {
    /// Writes the words of a register to their sides.
    #[inline(always)]
    unsafe fn put<const EQUAL: bool>(&mut self, v: __m512i) {
        // SAFETY: the caller says that there is room for a register.
        unsafe {
            let mask = W::below::<EQUAL>(v, self.pivot);
            W::part(mask, v, self.lower, self.upper);
            let below = mask.count_ones() as usize;
            self.lower = self.lower.add(below);
            self.upper = self.upper.sub(W::LANES - below);
        }
    }

    /// The same with the first `count` words alone.
    #[inline(always)]
    unsafe fn put_part<const EQUAL: bool>(&mut self, v: __m512i, count: usize) {
        // SAFETY: the caller says that there is room for so many.
        unsafe {
            let mask = W::below::<EQUAL>(v, self.pivot) & low(count);
            let below = mask.count_ones() as usize;
            W::store_part(self.lower, W::compress(mask, v), below);
            self.lower = self.lower.add(below);
            self.upper = self.upper.sub(count - below);
            W::store_part(self.upper, W::compress(!mask & low(count), v), count - below);
        }
    }
}

/// A partition of words where they lie: what is between `from` and `to` is unread.
struct Sides<W> {
    halves: Halves<W>,
    from: *mut W,
    to: *mut W,
}

impl<W: Lane> Sides<W> {
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
            let behind = self.from.offset_from_unsigned(self.halves.lower);
            let ahead = self.halves.upper.offset_from_unsigned(self.to);
            let (next, back) =
                (self.from.wrapping_add(N * W::LANES), self.to.wrapping_sub(N * W::LANES));
            let right = ahead < behind;
            let at = select_unpredictable(right, back, self.from);
            self.to = select_unpredictable(right, back, self.to);
            self.from = select_unpredictable(right, self.from, next);
            let mut v = [_mm512_setzero_si512(); N];
            for (i, v) in v.iter_mut().enumerate() {
                *v = W::load(at.add(i * W::LANES));
            }
            for v in v {
                self.halves.put::<EQUAL>(v);
            }
        }
    }
}

/// Words of a sample: eight from each of eight places.
const SAMPLE: usize = 64;
const PLACES: usize = 8;

/// Where place number `place` of a sample of `count` words begins.
fn place_of(place: usize, count: usize) -> usize {
    (count - SAMPLE / PLACES) / (PLACES - 1) * place
}

/// The middle of a sample.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn pivot<W: Lane>(x: *const W, count: usize) -> W {
    // SAFETY: `count` exceeds the words of the sample, so every place lies inside.
    unsafe {
        let mut sample = [W::MAX; SAMPLE];
        for (place, to) in sample.chunks_exact_mut(SAMPLE / PLACES).enumerate() {
            let from = x.add(place_of(place, count));
            core::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), SAMPLE / PLACES);
        }
        small(sample.as_mut_ptr(), SAMPLE);
        sample[SAMPLE / 2]
    }
}

/// Sorts `x`.
///
/// # Safety
/// The processor must have the features of `Level::Avx512`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
pub(super) unsafe fn sort<W: Lane>(x: &mut [W], done: Done<W>) {
    let depth = 2 * (usize::BITS - x.len().leading_zeros()) + 8;
    // SAFETY: the caller's promise.
    unsafe { range(x.as_mut_ptr(), x.len(), depth, done) }
}

/// Words made at a time: 8 KiB of 64 bits.
const MADE: usize = 1024;

/// Sorts the words that `fill` makes into `out`, at least a sample of them: one pass over memory
/// both makes words and partitions them. Gives true.
///
/// # Safety
/// As `sort`.
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
pub(super) unsafe fn sort_filled<W: Lane>(out: &mut [W], fill: Fill<W>, done: Done<W>) -> bool {
    let count = out.len();
    let mut sample = [W::MAX; SAMPLE];
    for (place, to) in sample.chunks_exact_mut(SAMPLE / PLACES).enumerate() {
        fill(place_of(place, count), to);
    }
    // SAFETY: the caller's promise; what is unwritten has room for what is to come.
    let lower = unsafe {
        small(sample.as_mut_ptr(), SAMPLE);
        let pivot = W::splat(sample[SAMPLE / 2]);
        let start = out.as_mut_ptr();
        let mut halves = Halves { pivot, lower: start, upper: start.add(count) };
        let mut made = [W::MAX; MADE];
        for from in (0..count).step_by(MADE) {
            let made = &mut made[..MADE.min(count - from)];
            fill(from, made);
            let words = made.chunks_exact(W::LANES);
            let rest = words.remainder();
            for words in words {
                halves.put::<false>(W::load(words.as_ptr()));
            }
            halves.put_part::<false>(W::load_part(rest.as_ptr(), rest.len()), rest.len());
        }
        halves.lower.offset_from_unsigned(start)
    };
    let (lower, upper) = out.split_at_mut(lower);
    // SAFETY: the caller's promise.
    unsafe {
        sort(lower, done);
        sort(upper, done);
    }
    true
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,popcnt")]
unsafe fn range<W: Lane>(mut x: *mut W, mut count: usize, mut depth: u32, done: Done<W>) {
    // SAFETY: the caller's promise; parts are disjoint and lie inside.
    unsafe {
        while count > 2 * REGISTERS * W::LANES {
            if depth == 0 {
                // Pivots were bad again and again: a method that no input can slow down.
                let words = core::slice::from_raw_parts_mut(x, count);
                words.sort_unstable();
                return done(words);
            }
            depth -= 1;
            let pivot = pivot(x, count);
            let mut lower = partition::<W, false>(x, count, pivot);
            if lower == 0 {
                // The pivot is the smallest word: its equals are in place already.
                lower = partition::<W, true>(x, count, pivot);
                done(core::slice::from_raw_parts_mut(x, lower));
            } else {
                range(x, lower, depth, done);
            }
            x = x.add(lower);
            count -= lower;
        }
        short(x, count);
        done(core::slice::from_raw_parts_mut(x, count));
    }
}
