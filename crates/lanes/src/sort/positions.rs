//! The positions that would sort a slice: a key and its position share one word of 64 bits, so
//! sorting words is stable sorting of positions.
//!
//! Keys of 32 bits and fewer fit beside positions below 2^32. A wider key gives its offset from
//! the least one, cut to the bits that are left; where several positions have the same cut key,
//! they are sorted among themselves by the rest.

use super::radix::Digits;
use super::words::{Sortable, Word, directed};
use super::{SHARED, Slices, each_block, merge};
use crate::level::Loop;
use crate::{Lanes, Level};

/// Positions with one cut key that are sorted by insertion.
const SHORT: usize = 24;

/// `Sortable::argsort`.
pub(super) fn argsort<T: Sortable>(
    lanes: &Lanes,
    x: &[T],
    slices: Slices,
    descending: bool,
    out: &mut [i64],
) {
    assert_eq!(x.len(), slices.size(), "elements to sort");
    let level = lanes.level();
    if slices.outer * slices.inner == 1 && slices.length >= SHARED && lanes.workers().threads() > 1
    {
        let sorter = |words: &mut [u64]| merge::sort(lanes, words);
        let job = Positions { level, descending, sorter: &sorter };
        return job.row(x, as_words(out), &mut Vec::new());
    }
    each_block(lanes, x, slices, out, &|x, length, out| {
        let (mut keys, spare) = (Vec::new(), core::cell::RefCell::new(Vec::new()));
        let sorter = |words: &mut [u64]| u64::sort(level, words, &mut spare.borrow_mut());
        let job = Positions { level, descending, sorter: &sorter };
        let words = as_words(out).chunks_exact_mut(length);
        x.chunks_exact(length).zip(words).for_each(|(x, out)| job.row(x, out, &mut keys));
    });
}

/// How slices are turned into sorted positions.
struct Positions<'a> {
    level: Level,
    descending: bool,
    sorter: &'a dyn Fn(&mut [u64]),
}

impl Positions<'_> {
    /// One slice; `keys` is room that grows as needed.
    fn row<T: Sortable>(&self, x: &[T], out: &mut [u64], keys: &mut Vec<u64>) {
        let descending = self.descending;
        if T::Word::BYTES <= 4 && x.len() <= u32::MAX as usize {
            self.level.run(Loop(|| {
                for (position, (word, &x)) in out.iter_mut().zip(x).enumerate() {
                    *word = directed(x.key(), descending).wide() << 32 | position as u64;
                }
            }));
            (self.sorter)(out);
            return self.strip(out, u32::MAX.into());
        }
        keys.resize(x.len(), 0);
        let (low, high) = self.level.run(Loop(|| {
            let (mut low, mut high) = (u64::MAX, 0);
            for (key, x) in keys.iter_mut().zip(x) {
                *key = directed(x.key(), descending).wide();
                (low, high) = (low.min(*key), high.max(*key));
            }
            (low, high)
        }));
        self.by_keys(keys, low, high, out);
    }

    /// Leaves the positions of words.
    fn strip(&self, words: &mut [u64], mask: u64) {
        self.level.run(Loop(|| words.iter_mut().for_each(|word| *word &= mask)));
    }

    /// out = the positions of `keys`, all in low..=high, in ascending order.
    fn by_keys(&self, keys: &[u64], low: u64, high: u64, out: &mut [u64]) {
        let bits = usize::BITS - keys.len().saturating_sub(1).leading_zeros();
        // A single position needs no bits, and its key may need all of them.
        if bits == 0 {
            return out.fill(0);
        }
        let key_bits = u64::BITS - (high - low).leading_zeros();
        let cut = (key_bits + bits).saturating_sub(u64::BITS);
        self.level.run(Loop(|| {
            for (position, (word, key)) in out.iter_mut().zip(keys).enumerate() {
                *word = ((key - low) >> cut) << bits | position as u64;
            }
        }));
        (self.sorter)(out);
        if cut > 0 && self.has_equal_neighbours(out, bits) {
            self.settle(keys, out, bits);
        }
        self.strip(out, (1 << bits) - 1);
    }

    /// Whether two neighbours have one cut key.
    fn has_equal_neighbours(&self, words: &[u64], bits: u32) -> bool {
        self.level.run(Loop(|| {
            let (mut equal, next) = (false, &words[1..]);
            for (a, b) in words.iter().zip(next) {
                equal |= (a ^ b) >> bits == 0;
            }
            equal
        }))
    }

    /// Sorts the positions that have one cut key by their whole keys.
    fn settle(&self, keys: &[u64], words: &mut [u64], bits: u32) {
        for run in words.chunk_by_mut(|a, b| (a ^ b) >> bits == 0).filter(|run| run.len() > 1) {
            self.settle_run(keys, run, (1 << bits) - 1);
        }
    }

    fn settle_run(&self, keys: &[u64], run: &mut [u64], mask: u64) {
        let key = |word: u64| keys[(word & mask) as usize];
        if run.len() > SHORT {
            if run.is_sorted_by_key(|&word| key(word)) {
                return;
            }
            let Some((mut own, mut order)) = rooms(run.len()) else {
                // Slower and in its place: no two words are equal.
                return run.sort_unstable_by_key(|&word| (key(word), word & mask));
            };
            own.extend(run.iter().map(|&word| key(word)));
            order.resize(run.len(), 0);
            // What was cut has fewer bits than a position, so this goes one level deep.
            let (low, high) = own.iter().fold((u64::MAX, 0), |(l, h), &k| (l.min(k), h.max(k)));
            self.by_keys(&own, low, high, &mut order);
            own.iter_mut().zip(&order).for_each(|(own, &i)| *own = run[i as usize]);
            return run.copy_from_slice(&own);
        }
        for i in 1..run.len() {
            let (moved, mut at) = (run[i], i);
            while at > 0 && key(run[at - 1]) > key(moved) {
                run[at] = run[at - 1];
                at -= 1;
            }
            run[at] = moved;
        }
    }
}

/// Room for keys and for their order, where there is some: a long run of cut keys is no reason to
/// end the process.
fn rooms(count: usize) -> Option<(Vec<u64>, Vec<u64>)> {
    let (mut own, mut order) = (Vec::new(), Vec::new());
    own.try_reserve_exact(count).ok()?;
    order.try_reserve_exact(count).ok()?;
    Some((own, order))
}

/// Signed cells as words: positions are never negative.
fn as_words(out: &mut [i64]) -> &mut [u64] {
    // SAFETY: the two types have one size, one alignment and no invalid bits.
    unsafe { core::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(keys: &[u64], level: Level) -> Vec<u64> {
        let mut out = vec![0; keys.len()];
        let sorter = |words: &mut [u64]| u64::sort(level, words, &mut Vec::new());
        let (low, high) = keys.iter().fold((u64::MAX, 0), |(l, h), &k| (l.min(k), h.max(k)));
        let job = Positions { level, descending: false, sorter: &sorter };
        job.by_keys(keys, low, high.max(low), &mut out);
        out
    }

    #[test]
    fn positions_of_equal_and_nearly_equal_keys_stay_in_order() {
        let top = |i: u64| i << 60;
        let families: [&dyn Fn(u64) -> u64; 6] = [
            &|_| 5,
            &|i| i % 3,
            &|i| top(i % 7) | (i * 7919 % 13),
            &|i| (top(15) * (i % 2)) | (1000 - i % 1000),
            &|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15),
            &|i| if i % 5 == 0 { u64::MAX } else { i % 4 },
        ];
        for level in Level::available() {
            for n in [0, 1, 2, 3, 24, 25, 200, 3000] {
                for (number, family) in families.iter().enumerate() {
                    let keys: Vec<u64> = (0..n).map(family).collect();
                    let mut wanted: Vec<u64> = (0..n).collect();
                    wanted.sort_by_key(|&i| keys[i as usize]);
                    assert_eq!(sorted(&keys, level), wanted, "{n} keys of family {number}");
                }
            }
        }
    }
}
