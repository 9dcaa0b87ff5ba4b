//! Counts of numbers between edges: `math::locate::bin`.

use crate::level::Loop;
use crate::{Lanes, Work};
use rung_math::locate::bin;
use rung_math::order::place;
use std::sync::{Mutex, PoisonError};

/// Elements whose bins are guessed at a time.
const BLOCK: usize = 512;

/// Bins between edges.
pub struct Bins<'a> {
    /// Ascending; two at least.
    pub edges: &'a [f64],
    /// All of one width, so that a bin can be guessed from its number.
    pub even: bool,
}

impl Bins<'_> {
    fn count(&self) -> usize {
        self.edges.len() - 1
    }

    /// counts[b] += the elements in bin b.
    ///
    /// # Panics
    /// When there are not as many counts as bins.
    pub fn tally<T: Copy + Into<f64> + Sync>(&self, lanes: &Lanes, x: &[T], counts: &mut [i64]) {
        assert_eq!(counts.len(), self.count(), "cells of a histogram");
        // A piece counts by itself first, which has to be worth its counts.
        let most = (x.len() / (4 * counts.len().max(1))).max(1);
        let pieces = lanes.pieces(Work::Scatter, x.len()).min(most);
        if pieces == 1 {
            return self.each(lanes, x, |_, bin| counts[bin] += 1);
        }
        let share = x.len().div_ceil(pieces).max(1);
        let total = Mutex::new(counts);
        lanes.workers().run(x.len().div_ceil(share), &|piece| {
            let mut own = vec![0_i64; self.count()];
            let part = &x[piece * share..x.len().min((piece + 1) * share)];
            self.each(lanes, part, |_, bin| own[bin] += 1);
            // Whole numbers: the order in which pieces finish does not show.
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            total.iter_mut().zip(own).for_each(|(total, own)| *total += own);
        });
    }

    /// sums[b] += the weights of the elements in bin b, in order of appearance.
    ///
    /// # Panics
    /// When extents do not fit.
    pub fn weigh<T: Copy + Into<f64> + Sync>(
        &self,
        lanes: &Lanes,
        x: &[T],
        weights: &[f64],
        sums: &mut [f64],
    ) {
        assert_eq!((x.len(), self.count()), (weights.len(), sums.len()), "cells of a histogram");
        self.each(lanes, x, |i, bin| sums[bin] += weights[i]);
    }

    /// Runs `found(i, bin)` for every element that has a bin.
    fn each<T: Copy + Into<f64>>(
        &self,
        lanes: &Lanes,
        x: &[T],
        mut found: impl FnMut(usize, usize),
    ) {
        let edges = self.edges;
        if !self.even {
            let bins = x.iter().map(|&x| bin(edges, x.into()));
            return bins.enumerate().for_each(|(i, bin)| {
                bin.into_iter().for_each(|bin| found(i, bin));
            });
        }
        let (low, high, last) = (edges[0], edges[self.count()], self.count() - 1);
        let scale = self.count() as f64 / (high - low);
        lanes.level().run(Loop(|| {
            for (block, x) in x.chunks(BLOCK).enumerate() {
                let mut guesses = [0_u32; BLOCK];
                for (guess, &x) in guesses.iter_mut().zip(x) {
                    *guess = ((x.into() - low) * scale) as u32;
                }
                for (i, (&x, guess)) in x.iter().zip(guesses).enumerate() {
                    let x: f64 = x.into();
                    // Nothing outside, and no NaN.
                    if x >= low && x <= high {
                        found(block * BLOCK + i, settle(edges, x, (guess as usize).min(last)));
                    }
                }
            }
        }));
    }
}

/// The bin of an x between the edges, from a guess that is off by one at most unless the edges lie
/// closer than numbers do.
#[inline(always)]
fn settle(edges: &[f64], x: f64, guess: usize) -> usize {
    let last = edges.len() - 2;
    let fits = |bin: usize| edges[bin] <= x && (x < edges[bin + 1] || bin == last);
    let near = match guess {
        guess if x < edges[guess] => guess.saturating_sub(1),
        guess if guess < last && x >= edges[guess + 1] => guess + 1,
        guess => guess,
    };
    if fits(near) { near } else { (place(edges, x, true) - 1).min(last) }
}
