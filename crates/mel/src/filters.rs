//! Triangles over the bins of a spectrum: from power to the energy of each band.

use crate::preset::{Norm, Preset};
use crate::scale::Scale;
use crate::transform::{Eight, LINES};
use rung_base::Result;

/// A triangle for each band.
#[derive(Clone, Debug)]
pub struct Filters {
    /// What they were made by.
    pub preset: Preset,
    /// How many bins a spectrum has: n_fft / 2 + 1.
    pub bins: usize,
    /// The corners of the triangles in Hz: band m lies between m and m + 2.
    pub corners: Vec<f64>,
    bands: Vec<Band>,
}

/// The weights of a band that are not 0, from its first bin on.
#[derive(Clone, Debug)]
struct Band {
    first: usize,
    weights: Vec<f64>,
}

impl Filters {
    /// Weights that are not 0.
    pub fn nonzero(&self) -> usize {
        self.bands.iter().map(|band| band.weights.len()).sum()
    }

    /// Evenly spaced in mel.
    ///
    /// # Errors
    /// As `Preset::check`.
    pub fn new(preset: &Preset) -> Result<Filters> {
        preset.check()?;
        let scale = preset.scale;
        let (low, high) = (scale.mel(preset.range.0), scale.mel(preset.highest()));
        let step = (high - low) / (preset.mels + 1) as f64;
        let corner = |m: usize| low + m as f64 * step;
        let bins = preset.n_fft / 2 + 1;
        let hz: Vec<f64> = (0..preset.mels + 2).map(|m| scale.hz(corner(m))).collect();
        // Kaldi's triangles are straight in mel, the others in Hz.
        let in_mel = scale == Scale::Kaldi;
        let place = |hz: f64| if in_mel { scale.mel(hz) } else { hz };
        let corners: Vec<f64> =
            if in_mel { (0..preset.mels + 2).map(corner).collect() } else { hz.clone() };
        // Its last bin is left out.
        let last = if in_mel { bins - 1 } else { bins };
        let places: Vec<f64> =
            (0..last).map(|k| place(k as f64 * preset.rate / preset.n_fft as f64)).collect();
        let band = |m: usize| {
            let [a, b, c] = [corners[m], corners[m + 1], corners[m + 2]];
            let norm = if preset.norm == Norm::Area { 2.0 / (hz[m + 2] - hz[m]) } else { 1.0 };
            Band::new(&places, |f| ((f - a) / (b - a)).min((c - f) / (c - b)).max(0.0) * norm)
        };
        Ok(Filters {
            preset: *preset,
            bins,
            bands: (0..preset.mels).map(band).collect(),
            corners: hz,
        })
    }

    /// How many bands.
    pub fn len(&self) -> usize {
        self.bands.len()
    }

    /// Whether there is no band.
    pub fn is_empty(&self) -> bool {
        self.bands.is_empty()
    }

    /// The middle of each band, Hz.
    pub fn centres(&self) -> &[f64] {
        &self.corners[1..=self.len()]
    }

    /// The weight of a bin in a band.
    pub fn weight(&self, band: usize, bin: usize) -> f64 {
        let Band { first, weights } = &self.bands[band];
        bin.checked_sub(*first).and_then(|at| weights.get(at)).copied().unwrap_or(0.0)
    }

    /// (bands, bins), row by row.
    pub fn matrix(&self) -> Vec<f64> {
        let row = |m| (0..self.bins).map(move |k| self.weight(m, k));
        (0..self.len()).flat_map(row).collect()
    }

    /// Bands whose triangle holds no bin: their energy is always 0.
    pub fn without_bins(&self) -> Vec<usize> {
        (0..self.len()).filter(|&m| self.bands[m].weights.is_empty()).collect()
    }

    /// What a spectrum of power 1 everywhere gives: the gain of a band.
    pub fn gain(&self, band: usize) -> f64 {
        self.bands[band].weights.iter().sum()
    }

    /// The energy of a band: weights times power, bins ascending, in f64.
    #[inline(always)]
    pub fn energy<T: Copy + Into<f64>>(&self, band: usize, power: &[T]) -> f64 {
        let Band { first, weights } = &self.bands[band];
        weights.iter().zip(&power[*first..]).fold(0.0, |sum, (w, &p)| sum + w * p.into())
    }

    /// `energy` of frames side by side, each rounded once.
    #[inline(always)]
    pub(crate) fn energies(&self, band: usize, power: &[Eight]) -> [f32; LINES] {
        let Band { first, weights } = &self.bands[band];
        let mut sums = [0.0; LINES];
        for (w, p) in weights.iter().zip(&power[*first..]) {
            sums = std::array::from_fn(|i| sums[i] + w * f64::from(p.0[i]));
        }
        std::array::from_fn(|i| sums[i] as f32)
    }
}

impl Band {
    fn new(places: &[f64], weight: impl Fn(f64) -> f64) -> Band {
        let first = places.iter().position(|&f| weight(f) > 0.0).unwrap_or(places.len());
        let weights = places[first..].iter().map(|&f| weight(f)).take_while(|&w| w > 0.0);
        Band { first, weights: weights.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_without_bins_are_named() {
        for preset in crate::PRESETS {
            let filters = Filters::new(preset).unwrap();
            // torchaudio's own warning: 128 bands are too many for 201 bins.
            let empty = if preset.name == "torchaudio" { 4 } else { 0 };
            assert_eq!(filters.without_bins().len(), empty, "{}", preset.name);
            assert_eq!(filters.matrix().len(), preset.mels * (preset.n_fft / 2 + 1));
        }
    }

    #[test]
    fn areas_are_one_and_peaks_at_most_one() {
        let whisper = Filters::new(&Preset::named("whisper-80").unwrap()).unwrap();
        let bin = 16_000.0 / 400.0;
        // A wide triangle's samples add up to its area.
        assert!((whisper.gain(79) * bin - 1.0).abs() < 0.02, "{}", whisper.gain(79) * bin);
        let kaldi = Filters::new(&Preset::named("kaldi").unwrap()).unwrap();
        assert!(kaldi.matrix().iter().all(|&w| (0.0..=1.0).contains(&w)));
        assert_eq!(kaldi.weight(22, 256), 0.0);
    }
}
