//! One long run of words, sorted by several threads: each sorts shares, then pairs of shares are
//! merged, every merge cut into pieces of one length (Akl and Santoro, 1987).

use super::{PIECE, Word};
use crate::Lanes;
use crate::share::each_share;

/// Sorts `x` with all threads.
pub(super) fn sort<W: Word>(lanes: &Lanes, x: &mut [W]) {
    let count = x.len();
    let share = count.div_ceil(lanes.workers().threads().next_power_of_two());
    let level = lanes.level();
    each_share(lanes, x, share, &|_, own| W::sort(level, own, &mut Vec::new()));
    let mut other = vec![W::default(); count];
    let (mut from, mut to) = (&mut *x, &mut other[..]);
    let (mut sorted, mut turned) = (share, false);
    while sorted < count {
        let source = &*from;
        each_share(lanes, to, PIECE, &|start, own| fill(source, sorted, start, own));
        (from, to) = (to, from);
        turned = !turned;
        sorted *= 2;
    }
    if turned {
        to.copy_from_slice(from);
    }
}

/// Writes the part of the merge of runs of `sorted` words that begins at `start`; it may reach over
/// several pairs of runs.
fn fill<W: Word>(source: &[W], sorted: usize, mut start: usize, mut out: &mut [W]) {
    while !out.is_empty() {
        let pair = start / (2 * sorted) * (2 * sorted);
        let middle = source.len().min(pair + sorted);
        let end = source.len().min(pair + 2 * sorted);
        let (a, b) = (&source[pair..middle], &source[middle..end]);
        let (own, rest) = out.split_at_mut(out.len().min(end - start));
        let (from, to) = (start - pair, start - pair + own.len());
        let (first, last) = (split(a, b, from), split(a, b, to));
        merge(&a[first..last], &b[from - first..to - last], own);
        start += own.len();
        out = rest;
    }
}

/// How many of the first `count` words of the merge come from a.
fn split<W: Word>(a: &[W], b: &[W], count: usize) -> usize {
    let (mut low, mut high) = (count.saturating_sub(b.len()), count.min(a.len()));
    while low < high {
        let middle = (low + high) / 2;
        if b[count - middle - 1] < a[middle] { high = middle } else { low = middle + 1 }
    }
    low
}

/// out = a and b in order.
fn merge<W: Word>(mut a: &[W], mut b: &[W], out: &mut [W]) {
    let mut written = 0;
    while let ([x, ..], [y, ..]) = (a, b) {
        let from_b = y < x;
        out[written] = if from_b { *y } else { *x };
        a = &a[!from_b as usize..];
        b = &b[from_b as usize..];
        written += 1;
    }
    let (middle, end) = (written + a.len(), written + a.len() + b.len());
    out[written..middle].copy_from_slice(a);
    out[middle..end].copy_from_slice(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_merge_to_one_sorted_run() {
        for threads in [1, 2, 3] {
            let lanes = Lanes::new(threads);
            for count in [1_usize, 2, 100, 40_000, 140_001] {
                let word = |i: usize| (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
                let mut x: Vec<u64> = (0..count).map(word).collect();
                let mut wanted = x.clone();
                wanted.sort_unstable();
                sort(&lanes, &mut x);
                assert_eq!(x, wanted, "{count} words on {threads} threads");
            }
        }
    }

    #[test]
    fn a_split_takes_equals_from_the_first_run() {
        let (a, b) = ([1_u64, 3, 3, 5], [3_u64, 4]);
        let splits: Vec<usize> = (0..=6).map(|count| split(&a, &b, count)).collect();
        assert_eq!(splits, [0, 1, 2, 3, 3, 3, 4]);
    }
}
