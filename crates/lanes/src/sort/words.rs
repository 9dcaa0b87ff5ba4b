//! Elements as unsigned words in the same order, so that sorting needs integers alone.
//!
//! Two kinds of word: `word` is one to one, so that a sorted word becomes its element again;
//! `key` gives elements that are equal in the order (the zeros, all NaN) one word, so that
//! positions can be sorted beside it.

use super::Slices;
use super::radix::Digits;
use crate::Lanes;
use rung_base::{Bool, Element, bf16, f16};
use rung_math::order::Ordered;

/// `fill(i, words)` makes words from number i on.
#[doc(hidden)]
pub type Fill<'a, W> = &'a dyn Fn(usize, &mut [W]);

/// What is done with words when they are in their places, while they are in the first cache.
#[doc(hidden)]
pub type Done<'a, W> = &'a mut dyn FnMut(&mut [W]);

/// An unsigned integer that is sorted in an element's place.
#[doc(hidden)]
pub trait Word: Digits {
    /// The order turned round.
    fn turned(self) -> Self;
    fn wide(self) -> u64;
    /// What turns a word by exclusive or into one in the order that registers of a level compare.
    fn flip(_: crate::Level) -> Self {
        Self::default()
    }
    /// Sorts words at a level; `spare` is room that grows as needed.
    fn sort(level: crate::Level, x: &mut [Self], spare: &mut Vec<Self>);
    /// `sort` of words that are turned by `flip`.
    fn sort_flipped(level: crate::Level, x: &mut [Self], spare: &mut Vec<Self>) {
        Self::sort(level, x, spare);
    }
    /// Sorts the words, turned by `flip`, that `fill` makes, at least 64, and hands them to `done`
    /// piece by piece; false, and nothing is done, where that is no faster than one after the
    /// other.
    fn sort_filled(_: crate::Level, _: &mut [Self], _: Fill<Self>, _: Done<Self>) -> bool {
        false
    }
    /// Sorts the first of the rows that lie one after another, and gives how many: none where a
    /// row alone is sorted as fast.
    fn sort_together(
        _level: crate::Level,
        _rows: &mut [Self],
        _length: usize,
        _spare: &mut Vec<Self>,
    ) -> usize {
        0
    }
}

/// An element with words.
pub trait Sortable: Element + Ordered {
    /// Of the element's size.
    #[doc(hidden)]
    type Word: Word;
    /// One to one, ascending except that NaN may stand anywhere above +inf.
    #[doc(hidden)]
    fn word(self) -> Self::Word;
    #[doc(hidden)]
    fn element(word: Self::Word) -> Self;
    /// Equal for elements that are equal in the order.
    #[doc(hidden)]
    fn key(self) -> Self::Word;
    /// -0.0 or NaN: elements whose equals have other bits.
    #[doc(hidden)]
    fn is_special(self) -> bool;

    /// out = x with every slice sorted, the largest first where `descending`.
    ///
    /// # Panics
    /// When `x` or `out` has not the size of the slices.
    fn sort(lanes: &Lanes, x: &[Self], slices: Slices, descending: bool, out: &mut [Self]);

    /// out = for every slice of x the positions along it in sorted order, the largest element
    /// first where `descending`; equal elements in ascending position.
    ///
    /// # Panics
    /// When `x` or `out` has not the size of the slices.
    fn argsort(lanes: &Lanes, x: &[Self], slices: Slices, descending: bool, out: &mut [i64]);
}

/// The drivers of one element type. They are methods so that their code is made here, once, and
/// not in every crate that sorts.
macro_rules! drivers {
    () => {
        fn sort(lanes: &Lanes, x: &[Self], slices: Slices, descending: bool, out: &mut [Self]) {
            super::sort(lanes, x, slices, descending, out);
        }
        fn argsort(lanes: &Lanes, x: &[Self], slices: Slices, descending: bool, out: &mut [i64]) {
            super::positions::argsort(lanes, x, slices, descending, out);
        }
    };
}

macro_rules! floats {
    ($($float:ty, $word:ty, $signed:ty;)*) => {
        $(impl Sortable for $float {
            type Word = $word;
            #[inline(always)]
            fn word(self) -> $word {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                const INFINITY: $word = <$float>::INFINITY.to_bits();
                let bits = self.to_bits();
                // Every NaN is the last word; `repair` puts the true bits back.
                if bits & !SIGN > INFINITY {
                    return <$word>::MAX;
                }
                let negative = (bits as $signed >> (<$word>::BITS - 1)) as $word;
                bits ^ (negative | SIGN)
            }
            #[inline(always)]
            fn element(word: $word) -> $float {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                let negative = (!word as $signed >> (<$word>::BITS - 1)) as $word;
                <$float>::from_bits(word ^ (negative | SIGN))
            }
            #[inline(always)]
            fn key(self) -> $word {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                let word = self.word();
                // -0.0 is the word before +0.0.
                if word == SIGN - 1 { SIGN } else { word }
            }
            #[inline(always)]
            fn is_special(self) -> bool {
                const SIGN: $word = 1 << (<$word>::BITS - 1);
                const INFINITY: $word = <$float>::INFINITY.to_bits();
                let bits = self.to_bits();
                (bits == SIGN) | (bits & !SIGN > INFINITY)
            }
            drivers!();
        })*
    };
}
floats! {
    f64, u64, i64;
    f32, u32, i32;
    bf16, u16, i16;
    f16, u16, i16;
}

macro_rules! integers {
    ($($integer:ty, $word:ty, |$x:ident| $to:expr, |$w:ident| $from:expr;)*) => {
        $(impl Sortable for $integer {
            type Word = $word;
            #[inline(always)]
            fn word(self) -> $word {
                let $x = self;
                $to
            }
            #[inline(always)]
            fn element($w: $word) -> $integer {
                $from
            }
            #[inline(always)]
            fn key(self) -> $word {
                self.word()
            }
            #[inline(always)]
            fn is_special(self) -> bool {
                false
            }
            drivers!();
        })*
    };
}
integers! {
    i64, u64, |x| x as u64 ^ (1 << 63), |w| (w ^ (1 << 63)) as i64;
    i32, u32, |x| x as u32 ^ (1 << 31), |w| (w ^ (1 << 31)) as i32;
    u8, u8, |x| x, |w| w;
    Bool, u8, |x| x.get() as u8, |w| Bool::from(w != 0);
}

/// `word` or its turned form.
#[inline(always)]
pub(crate) fn directed<W: Word>(word: W, descending: bool) -> W {
    if descending { word.turned() } else { word }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::cmp::Ordering;

    fn check<T: Sortable>(values: &[T]) {
        for &a in values {
            if a.order(a) == Ordering::Equal && !(a.is_special() && a.word() == T::Word::TOP) {
                assert_eq!(T::element(a.word()), a);
            }
            for &b in values {
                assert_eq!(a.key().cmp(&b.key()), a.order(b), "{a:?} {b:?}");
                if a.order(b) == Ordering::Less {
                    assert!(a.word() < b.word(), "{a:?} {b:?}");
                }
            }
        }
    }

    #[test]
    fn words_stand_in_the_order_of_their_elements() {
        const HARD: [f64; 12] = [
            0.0,
            -0.0,
            1.0,
            -1.0,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::NAN,
            -f64::NAN,
            5e-324,
            -5e-324,
            1e300,
            -3e38,
        ];
        check(&HARD);
        check(&HARD.map(|x| x as f32));
        check(&HARD.map(bf16::from_f64));
        check(&HARD.map(f16::from_f64));
        check(&[0, 1, -1, i64::MIN, i64::MAX]);
        check(&[0, 1, -1, i32::MIN, i32::MAX]);
        check(&[0_u8, 1, 255]);
        check(&[Bool::TRUE, Bool::FALSE]);
    }
}
