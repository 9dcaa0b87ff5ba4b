//! The order in which elements are sorted and searched: numbers ascending, both zeros equal, every
//! NaN equal to every other and after +inf. Sorting is stable, so equal elements keep their order
//! of appearance and the result is one sequence of bits, whatever method finds it.
//!
//! Descending turns the order round and stays stable: the largest come first (NaN before +inf),
//! equal ones in order of appearance.

use core::cmp::Ordering;
use rung_base::{Bool, bf16, f16};

/// An element that has a place in the order.
pub trait Ordered: Copy {
    /// How this element stands to another.
    fn order(self, other: Self) -> Ordering;
}

macro_rules! floats {
    ($($float:ty),*) => {
        $(impl Ordered for $float {
            #[inline(always)]
            fn order(self, other: Self) -> Ordering {
                let by_nan = || self.is_nan().cmp(&other.is_nan());
                self.partial_cmp(&other).unwrap_or_else(by_nan)
            }
        })*
    };
}
floats!(f64, f32, bf16, f16);

macro_rules! integers {
    ($($integer:ty),*) => {
        $(impl Ordered for $integer {
            #[inline(always)]
            fn order(self, other: Self) -> Ordering {
                self.cmp(&other)
            }
        })*
    };
}
integers!(i64, i32, u8);

impl Ordered for Bool {
    #[inline(always)]
    fn order(self, other: Self) -> Ordering {
        self.get().cmp(&other.get())
    }
}

/// `order`, turned round where the largest come first.
#[inline(always)]
fn directed<T: Ordered>(a: T, b: T, descending: bool) -> Ordering {
    if descending { b.order(a) } else { a.order(b) }
}

/// Sorts in place.
pub fn sort<T: Ordered>(x: &mut [T], descending: bool) {
    x.sort_by(|a, b| directed(*a, *b, descending));
}

/// The positions of the elements of x in sorted order.
pub fn argsort<T: Ordered>(x: &[T], descending: bool) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..x.len()).collect();
    positions.sort_by(|&a, &b| directed(x[a], x[b], descending));
    positions
}

/// Where `key` goes in ascending `sorted` so that it stays ascending: before the elements equal to
/// it, or after them where `right`. Which elements are looked at, and in which order, depends on the
/// length alone and is part of the definition: of elements that are not ascending every rung gives the
/// same place, though it means nothing.
pub fn place<T: Ordered>(sorted: &[T], key: T, right: bool) -> usize {
    let before = |x: T| match x.order(key) {
        Ordering::Less => true,
        Ordering::Equal => right,
        Ordering::Greater => false,
    };
    let (mut place, mut length) = (0, sorted.len());
    while length > 0 {
        let half = (length / 2).max(1);
        if before(sorted[place + half - 1]) {
            place += half;
        }
        length -= half;
    }
    place
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn not_a_number_comes_last_and_zeros_keep_their_order() {
        let mut x = [f64::NAN, 0.0, -0.0, f64::INFINITY, -1.0, 0.0];
        sort(&mut x, false);
        let bits: Vec<u64> = x.iter().map(|x| x.to_bits()).collect();
        let wanted = [-1.0, 0.0, -0.0, 0.0, f64::INFINITY, f64::NAN].map(f64::to_bits);
        assert_eq!(bits, wanted);
        let y = [2.0_f32, -0.0, 0.0, f32::NAN, -f32::NAN, 2.0];
        assert_eq!(argsort(&y, false), [1, 2, 0, 5, 3, 4]);
        assert_eq!(argsort(&y, true), [3, 4, 0, 5, 1, 2]);
    }

    #[test]
    fn a_key_goes_before_or_after_its_equals() {
        let v = [-1.0, -0.0, 0.0, 2.0, f64::NAN];
        let cases = [(-2.0, 0, 0), (0.0, 1, 3), (2.0, 3, 4), (3.0, 4, 4), (f64::NAN, 4, 5)];
        for (key, left, right) in cases {
            assert_eq!((place(&v, key, false), place(&v, key, true)), (left, right), "{key}");
        }
        assert_eq!(place::<i64>(&[], 1, true), 0);
    }
}
