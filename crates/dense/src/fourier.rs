//! Discrete Fourier transforms of lines of any length (rustfft, realfft).
//!
//! Complex numbers are pairs (re, im) side by side. Plans are kept for each thread, since making
//! one costs as much as some hundred transforms of its length. Each result is multiplied once by
//! `scale`.

use realfft::{RealFftPlanner, RealToComplex};
use rustfft::num_complex::Complex;
use rustfft::{FftDirection, FftPlanner};
use std::cell::RefCell;
use std::sync::Arc;

thread_local! {
    static COMPLEX: RefCell<FftPlanner<f64>> = RefCell::new(FftPlanner::new());
    static REAL: RefCell<RealFftPlanner<f64>> = RefCell::new(RealFftPlanner::new());
    static SINGLE: RefCell<RealFftPlanner<f32>> = RefCell::new(RealFftPlanner::new());
}

/// The sign of the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// exp(-2 pi i j k / n).
    Forward,
    /// exp(+2 pi i j k / n), without a division by n.
    Backward,
}

fn pairs(values: &[f64]) -> Vec<Complex<f64>> {
    values.chunks_exact(2).map(|pair| Complex::new(pair[0], pair[1])).collect()
}

fn put(values: &[Complex<f64>], scale: f64, out: &mut [f64]) {
    for (out, value) in out.chunks_exact_mut(2).zip(values) {
        (out[0], out[1]) = (value.re * scale, value.im * scale);
    }
}

/// Transforms each line of `lines` (lines, n, 2) in its place.
///
/// # Panics
/// When n is 0 or does not divide the pairs.
pub fn complex(n: usize, direction: Direction, scale: f64, lines: &mut [f64]) {
    let direction = match direction {
        Direction::Forward => FftDirection::Forward,
        Direction::Backward => FftDirection::Inverse,
    };
    let plan = COMPLEX.with_borrow_mut(|planner| planner.plan_fft(n, direction));
    let mut scratch = vec![Complex::default(); plan.get_inplace_scratch_len()];
    assert_eq!(lines.len() % (2 * n), 0, "extents of a transform");
    for line in lines.chunks_exact_mut(2 * n) {
        let mut values = pairs(line);
        plan.process_with_scratch(&mut values, &mut scratch);
        put(&values, scale, line);
    }
}

/// The bins 0 to n / 2 of the forward transform of each real line: `lines` (lines, n), `out`
/// (lines, n / 2 + 1, 2).
///
/// # Panics
/// When n is 0 or the extents do not fit.
pub fn real_forward(n: usize, scale: f64, lines: &[f64], out: &mut [f64]) {
    let plan = REAL.with_borrow_mut(|planner| planner.plan_fft_forward(n));
    let (mut line, mut bins) = (plan.make_input_vec(), plan.make_output_vec());
    let mut scratch = plan.make_scratch_vec();
    assert_eq!((lines.len() % n, lines.len() / n * 2 * bins.len()), (0, out.len()));
    for (from, to) in lines.chunks_exact(n).zip(out.chunks_exact_mut(2 * bins.len())) {
        line.copy_from_slice(from);
        // An error would say that the lengths differ, which the plan itself made.
        let done = plan.process_with_scratch(&mut line, &mut bins, &mut scratch);
        debug_assert!(done.is_ok(), "{done:?}");
        put(&bins, scale, to);
    }
}

/// Power spectra of real lines at f32, one after another, with the room that they share.
pub struct Power {
    plan: Arc<dyn RealToComplex<f32>>,
    bins: Vec<Complex<f32>>,
    scratch: Vec<Complex<f32>>,
}

impl Power {
    /// Of lines of n numbers.
    ///
    /// # Panics
    /// When n is 0.
    pub fn new(n: usize) -> Power {
        let plan = SINGLE.with_borrow_mut(|planner| planner.plan_fft_forward(n));
        Power { bins: plan.make_output_vec(), scratch: plan.make_scratch_vec(), plan }
    }

    /// re^2 + im^2 of the bins 0 to n / 2; `line` (n) is overwritten, `out` (n / 2 + 1).
    ///
    /// # Panics
    /// When the extents do not fit.
    pub fn of(&mut self, line: &mut [f32], out: &mut [f32]) {
        assert_eq!((line.len(), out.len()), (self.plan.len(), self.bins.len()));
        let done = self.plan.process_with_scratch(line, &mut self.bins, &mut self.scratch);
        debug_assert!(done.is_ok(), "{done:?}");
        let squares = self.bins.iter().map(|bin| bin.re * bin.re + bin.im * bin.im);
        out.iter_mut().zip(squares).for_each(|(out, square)| *out = square);
    }
}

/// The real line of n numbers that belongs to the bins 0 to n / 2, without a division by n:
/// `bins` (lines, n / 2 + 1, 2), `out` (lines, n). The imaginary part of bin 0, and of bin n / 2
/// where n is even, counts as 0.
///
/// # Panics
/// When n is 0 or the extents do not fit.
pub fn real_backward(n: usize, scale: f64, bins: &[f64], out: &mut [f64]) {
    let plan = REAL.with_borrow_mut(|planner| planner.plan_fft_inverse(n));
    let (count, mut line) = (n / 2 + 1, plan.make_output_vec());
    let mut scratch = plan.make_scratch_vec();
    assert_eq!((out.len() % n, out.len() / n * 2 * count), (0, bins.len()));
    for (from, to) in bins.chunks_exact(2 * count).zip(out.chunks_exact_mut(n)) {
        let mut values = pairs(from);
        values[0].im = 0.0;
        if n.is_multiple_of(2) {
            values[count - 1].im = 0.0;
        }
        let done = plan.process_with_scratch(&mut values, &mut line, &mut scratch);
        debug_assert!(done.is_ok(), "{done:?}");
        to.iter_mut().zip(&line).for_each(|(to, x)| *to = x * scale);
    }
}
