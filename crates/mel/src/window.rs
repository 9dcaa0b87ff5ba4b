//! Windows of one frame, in f64.

use rung_math::{Binary, Cos, Power, Unary};
use std::f64::consts::TAU;

/// The shape of a window of L samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Hann's with period L: 0.5 - 0.5 cos(2 pi j / L); symmetric about sample L / 2.
    Hann,
    /// (0.5 - 0.5 cos(2 pi j / (L - 1)))^0.85 (Povey, Kaldi); symmetric about (L - 1) / 2.
    Povey,
    /// Ones.
    Rectangular,
}

impl Window {
    /// All weights.
    pub fn weights(self, length: usize) -> Vec<f64> {
        let hann = |j: usize, period: usize| 0.5 - 0.5 * Cos::at(TAU * j as f64 / period as f64);
        let weight = |j| match self {
            Window::Hann => hann(j, length),
            Window::Povey => Power::at(hann(j, length.saturating_sub(1).max(1)), 0.85),
            Window::Rectangular => 1.0,
        };
        (0..length).map(weight).collect()
    }

    /// Twice the place about which the weights are symmetric.
    pub fn twice_centre(self, length: usize) -> usize {
        match self {
            Window::Hann => length,
            Window::Povey | Window::Rectangular => length.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_symmetric_about_their_centre() {
        for window in [Window::Hann, Window::Povey, Window::Rectangular] {
            for length in [1, 2, 3, 400, 401] {
                let (w, twice) = (window.weights(length), window.twice_centre(length));
                for j in 0..length {
                    // The partner of sample 0 of a periodic window is the first of the next period.
                    let Some(other) = w.get(twice - j) else { continue };
                    assert!((w[j] - other).abs() < 1e-12, "{window:?} {length} {j}");
                }
            }
        }
    }
}
