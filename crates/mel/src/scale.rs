//! Mel scales, in f64.

use rung_math::{Binary, Exp, Log, Log10, Power, Unary};

/// Which mel scale.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// m = 2595 log10(1 + f / 700) (O'Shaughnessy 1987; HTK).
    Htk,
    /// m = 3 f / 200 below 1,000 Hz, 15 + 27 ln(f / 1000) / ln 6.4 from there on (Slaney 1998).
    Slaney,
    /// m = 1127 ln(1 + f / 700): HTK's, as Kaldi rounds it.
    Kaldi,
}

/// Where Slaney's scale turns from a line into a logarithm: 1,000 Hz, 15 mel.
const TURN: (f64, f64) = (1000.0, 15.0);

impl Scale {
    /// From Hz.
    pub fn mel(self, hz: f64) -> f64 {
        match self {
            Scale::Htk => 2595.0 * Log10::at(1.0 + hz / 700.0),
            Scale::Kaldi => 1127.0 * Log::at(1.0 + hz / 700.0),
            Scale::Slaney if hz < TURN.0 => 3.0 * hz / 200.0,
            Scale::Slaney => TURN.1 + 27.0 * Log::at(hz / TURN.0) / Log::at(6.4),
        }
    }

    /// To Hz.
    pub fn hz(self, mel: f64) -> f64 {
        match self {
            Scale::Htk => 700.0 * (Power::at(10.0, mel / 2595.0) - 1.0),
            Scale::Kaldi => 700.0 * (Exp::at(mel / 1127.0) - 1.0),
            Scale::Slaney if mel < TURN.1 => 200.0 * mel / 3.0,
            Scale::Slaney => TURN.0 * Exp::at((mel - TURN.1) * Log::at(6.4) / 27.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scale_comes_back_to_hz() {
        for scale in [Scale::Htk, Scale::Slaney, Scale::Kaldi] {
            for hz in [0.0, 1.0, 440.0, 999.9, 1000.0, 1000.1, 8000.0, 22_050.0] {
                assert!((scale.hz(scale.mel(hz)) - hz).abs() <= 1e-9 * hz, "{scale:?} {hz}");
            }
        }
        // Known values: 1,000 Hz is some 1,000 mel of HTK's and 15 of Slaney's scale.
        assert!((Scale::Htk.mel(1000.0) - 999.9855).abs() < 1e-3);
        assert_eq!(Scale::Slaney.mel(1000.0), 15.0);
    }
}
