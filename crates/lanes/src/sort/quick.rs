//! Quicksort of unsigned words in registers: partitions in place (Bramas, 2017), and sorting
//! networks for sixteen registers and less.
//!
//! Words alone are sorted, so stability means nothing here; `words` says how elements and
//! positions become words. `lane` compiles each step for the registers that a processor has.

use super::lane::{Lane, REGISTERS, Steps, low};
use super::words::{Done, Fill};
use core::hint::select_unpredictable;

/// Registers read at a time from one side of a partition.
const GROUP: usize = 8;

/// Moves the words below `pivot` (or equal to it, where `EQUAL`) to the front and returns how many
/// there are. Words from both ends are set aside; then the side with less room is read, so that
/// neither side overtakes what is unread, and no branch depends on the data.
///
/// # Safety
/// As `small`; there are at least twice `GROUP` registers of words.
#[inline(always)]
pub(super) unsafe fn partition<L: Lane, const EQUAL: bool>(
    x: *mut L::Word,
    count: usize,
    pivot: L::Word,
) -> usize {
    // SAFETY: the caller's promise; see `Sides::take` for the room.
    unsafe {
        let (side, rest) = (GROUP * L::LANES, count % L::LANES);
        let pivot = L::splat(pivot);
        let (mut front, mut back) = ([pivot; GROUP], [pivot; GROUP]);
        let end = x.add(count - rest);
        for (i, (front, back)) in front.iter_mut().zip(&mut back).enumerate() {
            *front = L::load(x.add(i * L::LANES));
            *back = L::load(end.sub(side).add(i * L::LANES));
        }
        let mut halves = Halves::<L> { pivot, lower: x, upper: x.add(count) };
        let last = L::load(x.add(count - L::LANES));
        halves.put_some::<EQUAL>(last, low(L::LANES) & !low(L::LANES - rest));
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
        both.halves.lower.offset_from_unsigned(x)
    }
}

/// A partition on its way: lower words end at `lower`, upper ones begin at `upper`.
struct Halves<L: Lane> {
    pivot: L::Register,
    lower: *mut L::Word,
    upper: *mut L::Word,
}

impl<L: Lane> Halves<L> {
    /// Writes the words of a register to their sides.
    #[inline(always)]
    unsafe fn put<const EQUAL: bool>(&mut self, v: L::Register) {
        // SAFETY: the caller says that there is the room that `part` wants.
        unsafe {
            let mask = L::below::<EQUAL>(v, self.pivot);
            L::part(mask, v, self.lower, self.upper);
            let below = mask.count_ones() as usize;
            self.lower = self.lower.add(below);
            self.upper = self.upper.sub(L::LANES - below);
        }
    }

    /// The same with the words of the lanes of `valid` alone.
    #[inline(always)]
    unsafe fn put_some<const EQUAL: bool>(&mut self, v: L::Register, valid: u16) {
        // SAFETY: the caller says that there is a register of room on either side.
        unsafe {
            let mask = L::below::<EQUAL>(v, self.pivot);
            let (below, above) = (mask & valid, !mask & valid);
            L::part_some(below, above, v, self.lower, self.upper);
            self.lower = self.lower.add(below.count_ones() as usize);
            self.upper = self.upper.sub(above.count_ones() as usize);
        }
    }
}

/// A partition of words where they lie: what is between `from` and `to` is unread.
struct Sides<L: Lane> {
    halves: Halves<L>,
    from: *mut L::Word,
    to: *mut L::Word,
}

impl<L: Lane> Sides<L> {
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
                (self.from.wrapping_add(N * L::LANES), self.to.wrapping_sub(N * L::LANES));
            let right = ahead < behind;
            let at = select_unpredictable(right, back, self.from);
            self.to = select_unpredictable(right, back, self.to);
            self.from = select_unpredictable(right, self.from, next);
            let mut v = [self.halves.pivot; N];
            for (i, v) in v.iter_mut().enumerate() {
                *v = L::load(at.add(i * L::LANES));
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
#[inline(always)]
unsafe fn pivot<L: Steps>(x: *const L::Word, count: usize) -> L::Word {
    let words = if count < 2048 { L::SAMPLE } else { SAMPLE };
    // SAFETY: `count` exceeds the words of the sample, so every place lies inside.
    unsafe {
        let mut sample = [L::MAX; SAMPLE];
        let step = (count - words / PLACES) / (PLACES - 1);
        for (place, to) in sample[..words].chunks_exact_mut(words / PLACES).enumerate() {
            let from = x.add(place * step);
            core::ptr::copy_nonoverlapping(from, to.as_mut_ptr(), words / PLACES);
        }
        L::small(sample.as_mut_ptr(), words);
        sample[words / 2]
    }
}

/// Sorts `x`, and hands sorted words to `done` piece by piece. Where `FLIPPED`, words are in the
/// order of registers before and after, and when they are handed over.
///
/// # Safety
/// The processor must have the features of the steps.
pub(super) unsafe fn sort<L: Steps, const FLIPPED: bool>(x: &mut [L::Word], done: Done<L::Word>) {
    let depth = 2 * (usize::BITS - x.len().leading_zeros()) + 8;
    // SAFETY: the caller's promise.
    unsafe {
        if FLIPPED || L::MAX ^ L::FLIP == L::MAX {
            return L::range(x.as_mut_ptr(), x.len(), depth, done);
        }
        L::flip(x);
        L::range(x.as_mut_ptr(), x.len(), depth, &mut |words| {
            L::flip(words);
            done(words);
        });
    }
}

/// From the order of words to that of registers, or back.
#[inline(always)]
pub(super) fn flip<L: Lane>(x: &mut [L::Word]) {
    x.iter_mut().for_each(|word| *word = *word ^ L::FLIP);
}

/// Words made at a time: 8 KiB of 64 bits.
const MADE: usize = 1024;

/// Sorts the words that `fill` makes into `out`, at least a sample of them, in the order of
/// registers: one pass over memory both makes words and partitions them.
///
/// # Safety
/// As `sort`.
pub(super) unsafe fn sort_filled<L: Steps>(
    out: &mut [L::Word],
    fill: Fill<L::Word>,
    done: Done<L::Word>,
) {
    // SAFETY: the caller's promise.
    unsafe {
        let lower = L::part_filled(out, fill);
        let (lower, upper) = out.split_at_mut(lower);
        sort::<L, true>(lower, done);
        sort::<L, true>(upper, done);
    }
}

/// The partition of what `fill` makes; gives how many words are in the lower part.
///
/// # Safety
/// As `small`.
#[inline(always)]
pub(super) unsafe fn part_filled<L: Steps>(out: &mut [L::Word], fill: Fill<L::Word>) -> usize {
    let count = out.len();
    let mut made = [L::MAX; MADE];
    let sample = &mut made[..SAMPLE];
    for (place, to) in sample.chunks_exact_mut(SAMPLE / PLACES).enumerate() {
        fill(place_of(place, count), to);
    }
    // SAFETY: the caller's promise. What is unwritten has room for what is to come, and once the
    // odd words are written that is a whole number of registers.
    unsafe {
        L::small(sample.as_mut_ptr(), SAMPLE);
        let pivot = L::splat(sample[SAMPLE / 2]);
        let start = out.as_mut_ptr();
        let mut halves = Halves::<L> { pivot, lower: start, upper: start.add(count) };
        let mut from = 0;
        while from < count {
            // The first words are cut short, so that all that follow are whole registers.
            let next = (from + MADE).min(from + (count - from - 1) % MADE + 1);
            let words = &mut made[..next - from];
            fill(from, words);
            let odd = words.len() % L::LANES;
            if odd > 0 {
                halves.put_some::<false>(L::load(made.as_ptr()), low(odd));
            }
            for words in made[odd..next - from].chunks_exact(L::LANES) {
                halves.put::<false>(L::load(words.as_ptr()));
            }
            from = next;
        }
        halves.lower.offset_from_unsigned(start)
    }
}

/// Sorts words that are in the order of registers.
///
/// # Safety
/// As `small`.
#[inline(always)]
pub(super) unsafe fn range<L: Steps>(
    mut x: *mut L::Word,
    mut count: usize,
    mut depth: u32,
    done: Done<L::Word>,
) {
    // SAFETY: the caller's promise; parts are disjoint and lie inside.
    unsafe {
        while count > 2 * REGISTERS * L::LANES {
            if depth == 0 {
                // Pivots were bad again and again: a method that no input can slow down.
                let words = core::slice::from_raw_parts_mut(x, count);
                words.sort_unstable_by_key(|word| *word ^ L::FLIP);
                return done(words);
            }
            depth -= 1;
            let pivot = pivot::<L>(x, count);
            let mut lower = L::partition::<false>(x, count, pivot);
            if lower == 0 {
                // The pivot is the smallest word: its equals are in place already.
                lower = L::partition::<true>(x, count, pivot);
                done(core::slice::from_raw_parts_mut(x, lower));
            } else {
                L::range(x, lower, depth, done);
            }
            x = x.add(lower);
            count -= lower;
        }
        L::short(x, count);
        done(core::slice::from_raw_parts_mut(x, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use crate::sort::lane::{Bits256, Bits512};

    /// `f` with what sorts words of each kind in every register of this processor.
    macro_rules! every_lane {
        ($check:ident) => {
            let levels = Level::available();
            if levels.contains(&Level::Avx2) {
                $check::<Bits256<u32>>(|word| (word >> 32) as u32);
                $check::<Bits256<u64>>(|word| word);
            }
            if levels.contains(&Level::Avx512) {
                $check::<Bits512<u32>>(|word| (word >> 32) as u32);
                $check::<Bits512<u64>>(|word| word);
            }
        };
    }

    fn words<L: Steps>(count: usize, of: fn(u64) -> L::Word) -> Vec<L::Word> {
        (0..count as u64).map(|i| of(i.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ i << 60)).collect()
    }

    fn by_bad_pivots<L: Steps>(of: fn(u64) -> L::Word) {
        for count in [0, 1, 300, 1000] {
            let mut x = words::<L>(count, of);
            let mut wanted = x.clone();
            wanted.sort_unstable_by_key(|word| *word ^ L::FLIP);
            let mut handed = 0;
            // SAFETY: the level is there.
            unsafe { L::range(x.as_mut_ptr(), count, 0, &mut |words| handed += words.len()) };
            assert!(x == wanted && handed == count, "{count} words of {} lanes", L::LANES);
        }
    }

    #[test]
    fn pivots_that_are_bad_again_and_again_leave_it_to_another_method() {
        every_lane!(by_bad_pivots);
    }

    fn made<L: Steps>(of: fn(u64) -> L::Word) {
        for count in (64..130).chain(1020..1042).chain([2047, 2048, 2049, 5000]) {
            let x = words::<L>(count, of);
            let (mut out, mut wanted, mut handed) = (vec![L::MAX; count], x.clone(), Vec::new());
            wanted.sort_unstable();
            let fill = |from: usize, to: &mut [L::Word]| {
                to.iter_mut().zip(&x[from..]).for_each(|(to, word)| *to = *word ^ L::FLIP);
            };
            // SAFETY: the level is there.
            unsafe {
                sort_filled::<L>(&mut out, &fill, &mut |words| {
                    handed.extend(words.iter().map(|word| *word ^ L::FLIP));
                });
            }
            assert!(handed == wanted, "{count} words of {} lanes", L::LANES);
        }
    }

    #[test]
    fn words_made_by_the_first_partition_are_handed_over_once_and_in_order() {
        every_lane!(made);
    }
}
