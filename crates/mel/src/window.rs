//! Windows of one frame, in f64.

use rung_math::{Binary, Cos, Power, Unary};
use std::f64::consts::TAU;

/// The shape of a window of L samples. Each is a sum of cosines over its period: L (periodic: what the next
/// sample would be is the first), or L - 1 (symmetric: the last sample is the first).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Window {
    /// Hann's, periodic: 0.5 - 0.5 cos(2 pi j / L).
    Hann,
    /// The same, symmetric (Kaldi).
    Hanning,
    /// 0.54 - 0.46 cos; symmetric in Kaldi, periodic elsewhere.
    Hamming { periodic: bool },
    /// 0.42 - 0.5 cos + 0.08 cos of twice the angle; symmetric in Kaldi, periodic elsewhere.
    Blackman { periodic: bool },
    /// (0.5 - 0.5 cos)^0.85, symmetric (Povey, Kaldi).
    Povey,
    /// Ones.
    Rectangular,
}

impl Window {
    /// What a call says for them.
    pub const NAMES: &[&str] = &["hann", "hanning", "hamming", "blackman", "povey", "rectangular"];

    /// The window of this name, by Kaldi's rules or those of the others.
    pub fn named(name: &str, kaldi: bool) -> Option<Window> {
        let periodic = !kaldi;
        Some(match name {
            "hann" => Window::Hann,
            "hanning" => Window::Hanning,
            "hamming" => Window::Hamming { periodic },
            "blackman" => Window::Blackman { periodic },
            "povey" => Window::Povey,
            "rectangular" => Window::Rectangular,
            _ => return None,
        })
    }

    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Window::Hann => "hann",
            Window::Hanning => "hanning",
            Window::Hamming { .. } => "hamming",
            Window::Blackman { .. } => "blackman",
            Window::Povey => "povey",
            Window::Rectangular => "rectangular",
        }
    }

    fn is_periodic(self) -> bool {
        match self {
            Window::Hann => true,
            Window::Hamming { periodic } | Window::Blackman { periodic } => periodic,
            Window::Hanning | Window::Povey | Window::Rectangular => false,
        }
    }

    /// All weights.
    pub fn weights(self, length: usize) -> Vec<f64> {
        let period = self.twice_centre(length).max(1) as f64;
        let cosine = |times: usize| Cos::at(TAU * times as f64 / period);
        let weight = |j: usize| match self {
            Window::Hann | Window::Hanning => 0.5 - 0.5 * cosine(j),
            Window::Hamming { .. } => 0.54 - 0.46 * cosine(j),
            Window::Blackman { .. } => 0.42 - 0.5 * cosine(j) + 0.08 * cosine(2 * j),
            Window::Povey => Power::at(0.5 - 0.5 * cosine(j), 0.85),
            Window::Rectangular => 1.0,
        };
        (0..length).map(weight).collect()
    }

    /// Twice the place about which the weights are symmetric.
    pub fn twice_centre(self, length: usize) -> usize {
        if self.is_periodic() { length } else { length.saturating_sub(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_symmetric_about_their_centre() {
        let named = |name: &&str| [true, false].map(|kaldi| Window::named(name, kaldi).unwrap());
        for window in Window::NAMES.iter().flat_map(named) {
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

    #[test]
    fn every_window_has_one_name() {
        for &name in Window::NAMES {
            assert_eq!(Window::named(name, true).unwrap().name(), name);
            assert_eq!(Window::named(name, false).unwrap().name(), name);
        }
        assert_eq!(Window::named("kaiser", true), None);
    }

    /// Of 8 samples: a periodic window has its 1 at sample 4, a symmetric one nowhere.
    #[test]
    fn hamming_and_blackman_are_symmetric_in_kaldi_and_periodic_elsewhere() {
        for name in ["hamming", "blackman"] {
            let of = |kaldi| Window::named(name, kaldi).unwrap().weights(8);
            assert!((of(false)[4] - 1.0).abs() < 1e-12, "{name}");
            assert!((of(true)[0] - of(true)[7]).abs() < 1e-12, "{name}");
        }
    }
}
