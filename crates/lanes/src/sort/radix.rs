//! Sorting words by their bytes, the lowest first (Hollerith, 1887): linear whatever the values.
//! Serves processors without registers of 256 bits and more; bytes and long runs of 16-bit words are counted.

use std::ops::BitXor;

/// A word read byte by byte.
#[doc(hidden)]
pub trait Digits:
    Copy + Ord + Default + BitXor<Output = Self> + Send + Sync + std::fmt::Debug + 'static
{
    const BYTES: usize;
    /// The largest word.
    const TOP: Self;
    fn byte(self, place: usize) -> usize;
}

macro_rules! digits {
    ($($word:ty),*) => {
        $(impl Digits for $word {
            const BYTES: usize = size_of::<$word>();
            const TOP: $word = <$word>::MAX;
            #[inline(always)]
            fn byte(self, place: usize) -> usize {
                (self >> (8 * place)) as usize & 255
            }
        })*
    };
}
digits!(u64, u32, u16, u8);

/// Words up to which the standard library's sort is faster: a pass costs its 256 counters.
const SHORT: usize = 512;

/// Sorts `x`; `spare` is room that grows as needed.
pub(crate) fn sort<W: Digits>(x: &mut [W], spare: &mut Vec<W>) {
    if x.len() < SHORT {
        return x.sort_unstable();
    }
    let mut counts = vec![[0_usize; 256]; W::BYTES];
    for word in x.iter() {
        for (place, counts) in counts.iter_mut().enumerate() {
            counts[word.byte(place)] += 1;
        }
    }
    spare.resize(spare.len().max(x.len()), W::default());
    let (mut from, mut to) = (&mut *x, &mut spare[..]);
    let mut turned = false;
    for (place, counts) in counts.iter_mut().enumerate() {
        // A byte that all words share moves nothing.
        if counts.contains(&from.len()) {
            continue;
        }
        let mut next = 0;
        for count in counts.iter_mut() {
            next += std::mem::replace(count, next);
        }
        for word in from.iter() {
            let slot = &mut counts[word.byte(place)];
            to[*slot] = *word;
            *slot += 1;
        }
        let length = from.len();
        (from, to) = (&mut to[..length], from);
        turned = !turned;
    }
    if turned {
        to.copy_from_slice(from);
    }
}

/// Sorts words of at most 16 bits by counting each value.
pub(crate) fn count<W: Digits + Into<u32> + TryFrom<u32>>(x: &mut [W]) {
    let mut counts = vec![0_usize; 1 << (8 * W::BYTES)];
    for &word in x.iter() {
        counts[word.into() as usize] += 1;
    }
    let mut rest = x;
    for (value, &count) in counts.iter().enumerate() {
        let (run, after) = rest.split_at_mut(count);
        if let Ok(word) = W::try_from(value as u32) {
            run.fill(word);
        }
        rest = after;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_sorted_from_the_lowest() {
        let mut state = 7_u64;
        for n in [0, 1, 2, 511, 512, 513, 3000] {
            for shift in [0, 40, 63] {
                let mut x: Vec<u64> = (0..n)
                    .map(|_| {
                        state = state.wrapping_mul(6364136223846793005).wrapping_add(99991);
                        state >> shift
                    })
                    .collect();
                let mut wanted = x.clone();
                wanted.sort_unstable();
                let mut low: Vec<u16> = x.iter().map(|w| *w as u16).collect();
                let mut low_wanted = low.clone();
                low_wanted.sort_unstable();
                sort(&mut x, &mut Vec::new());
                count(&mut low);
                assert_eq!(x, wanted);
                assert_eq!(low, low_wanted);
            }
        }
    }
}
