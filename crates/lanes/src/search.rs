//! Numbers placed among ascending ones: `math::order::place` and `math::locate::interpolate`.
//!
//! Sixteen keys are searched at a time, halving together without a branch, so that sixteen reads
//! are under way at once instead of one.

use crate::level::Loop;
use crate::share::in_shares;
use crate::sort::Sortable;
use crate::{Lanes, Work};
use core::hint::select_unpredictable;

/// Keys searched together.
const ABREAST: usize = 16;

/// Ascending numbers, ready to be searched.
pub struct Ascending<T: Sortable> {
    words: Vec<T::Word>,
}

impl<T: Sortable> Ascending<T> {
    /// `sorted` must be ascending in the order of `math::order`; else places mean nothing.
    pub fn new(lanes: &Lanes, sorted: &[T]) -> Ascending<T> {
        let words =
            lanes.level().run(Loop(|| sorted.iter().map(|x| x.key()).collect::<Vec<T::Word>>()));
        Ascending { words }
    }

    /// out = where each key goes: before its equals, or after them where `right`.
    ///
    /// # Panics
    /// When there are not as many cells as keys.
    pub fn places(&self, lanes: &Lanes, keys: &[T], right: bool, out: &mut [i64]) {
        assert_eq!(keys.len(), out.len(), "cells of places");
        in_shares(lanes, out, Work::Search, &|start, own| {
            let keys = &keys[start..start + own.len()];
            lanes.level().run(Loop(|| match right {
                true => self.each::<true>(keys, own),
                false => self.each::<false>(keys, own),
            }));
        });
    }

    #[inline(always)]
    fn each<const RIGHT: bool>(&self, keys: &[T], out: &mut [i64]) {
        for (keys, out) in keys.chunks(ABREAST).zip(out.chunks_mut(ABREAST)) {
            let mut wanted = [T::Word::default(); ABREAST];
            wanted.iter_mut().zip(keys).for_each(|(wanted, key)| *wanted = key.key());
            let mut places = [0; ABREAST];
            self.abreast::<RIGHT>(&wanted[..keys.len()], &mut places[..keys.len()]);
            out.iter_mut().zip(places).for_each(|(out, place)| *out = place as i64);
        }
    }

    /// Halves the same length for every key, at most `ABREAST` of them.
    #[inline(always)]
    fn abreast<const RIGHT: bool>(&self, keys: &[T::Word], places: &mut [usize]) {
        let before = |at: usize, key: T::Word| {
            // SAFETY: a place plus what is left of the length never exceeds the length.
            let word = unsafe { *self.words.get_unchecked(at) };
            if RIGHT { word <= key } else { word < key }
        };
        places.fill(0);
        let mut length = self.words.len();
        while length > 1 {
            let half = length / 2;
            for (place, key) in places.iter_mut().zip(keys) {
                // Half of the keys go either way: a branch would be guessed wrong half the time.
                let step = select_unpredictable(before(*place + half - 1, *key), half, 0);
                *place += step;
            }
            length -= half;
        }
        if length == 1 {
            for (place, key) in places.iter_mut().zip(keys) {
                *place += before(*place, *key) as usize;
            }
        }
    }
}

/// The line through samples: `xp` increasing, `fp`, and the values outside.
pub struct Samples<'a> {
    /// Where the samples are.
    pub xp: &'a [f64],
    /// Their values.
    pub fp: &'a [f64],
    /// Before the first.
    pub left: f64,
    /// After the last.
    pub right: f64,
}

impl Samples<'_> {
    /// out = the line at each x.
    ///
    /// # Panics
    /// Without samples, or when extents do not fit.
    pub fn at(&self, lanes: &Lanes, x: &[f64], out: &mut [f64]) {
        assert!(!self.xp.is_empty() && self.xp.len() == self.fp.len(), "samples of a line");
        assert_eq!(x.len(), out.len(), "cells of a line");
        let sorted = Ascending::new(lanes, self.xp);
        // A division for each pair of samples instead of each x; the same bits.
        let slope = |i: usize| (self.fp[i + 1] - self.fp[i]) / (self.xp[i + 1] - self.xp[i]);
        let slopes: Vec<f64> = (0..self.xp.len() - 1).map(slope).collect();
        in_shares(lanes, out, Work::Search, &|start, own| {
            lanes.level().run(Loop(|| {
                let x = &x[start..start + own.len()];
                for (x, out) in x.chunks(ABREAST).zip(own.chunks_mut(ABREAST)) {
                    let mut wanted = [0; ABREAST];
                    wanted.iter_mut().zip(x).for_each(|(wanted, x)| *wanted = x.key());
                    let mut places = [0; ABREAST];
                    sorted.abreast::<true>(&wanted[..x.len()], &mut places[..x.len()]);
                    for ((out, &x), place) in out.iter_mut().zip(x).zip(places) {
                        *out = self.value(&slopes, x, place);
                    }
                }
            }));
        });
    }

    /// The value at x, which has `place` samples not above it.
    #[inline(always)]
    fn value(&self, slopes: &[f64], x: f64, place: usize) -> f64 {
        let last = self.xp.len() - 1;
        if x.is_nan() {
            return f64::NAN;
        }
        let Some(low) = place.checked_sub(1) else { return self.left };
        match slopes.get(low) {
            Some(slope) => self.fp[low] + (x - self.xp[low]) * slope,
            None if x > self.xp[last] => self.right,
            None => self.fp[last],
        }
    }
}
