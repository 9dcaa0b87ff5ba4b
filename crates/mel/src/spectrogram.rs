//! Energies as a preset wants them, and cepstra.

use crate::energy::{Energies, Plan};
use crate::engine::Engine;
use crate::frames::FLOOR;
use crate::preset::{Cepstra, Preset, Value};
use rung_base::{Error, ErrorKind, Result, memory};
use rung_lanes::elementwise::{Cost, map_in_place};
use rung_lanes::{Lanes, compiled};
use rung_math::{Cos, Log, Log10, Sin, Unary};
use std::f64::consts::PI;

/// The least energy of a decimal logarithm.
pub(crate) const LEAST: f64 = 1e-10;

/// Frames that are turned at a time: a line of the memory's cache four times.
const TILE: usize = 64;

/// Numbers in rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Rows and columns: (bands, frames), or (frames, bands) for Kaldi.
    pub shape: [usize; 2],
    /// Row by row.
    pub numbers: Vec<f32>,
}

impl Value {
    /// Energies, in their place; a clamp looks at all of them.
    pub fn apply(self, lanes: Option<&Lanes>, energies: &mut [f32]) {
        self.first(lanes, energies);
        let largest = largest(energies);
        self.last(energies, largest);
    }

    /// What can be done to energies one by one. Logarithms are those of f32, within 1 ulp, and the same
    /// with lanes and without.
    pub fn first(self, lanes: Option<&Lanes>, energies: &mut [f32]) {
        match self {
            Value::Power => {}
            Value::NaturalLog => logarithm::<Log>(lanes, FLOOR, energies),
            Value::Decibels { .. } => {
                logarithm::<Log10>(lanes, LEAST, energies);
                energies.iter_mut().for_each(|e| *e *= 10.0);
            }
            Value::Whisper => logarithm::<Log10>(lanes, LEAST, energies),
        }
    }

    /// The rest, which needs the `largest` of all values that `first` gave: the same of the whole and of
    /// any part.
    pub fn last(self, values: &mut [f32], largest: f32) {
        match self {
            Value::Decibels { range: Some(range) } => {
                let floor = largest - range as f32;
                values.iter_mut().for_each(|v| *v = v.max(floor));
            }
            Value::Whisper => {
                let floor = largest - 8.0;
                values.iter_mut().for_each(|v| *v = (v.max(floor) + 4.0) / 4.0);
            }
            Value::Power | Value::NaturalLog | Value::Decibels { range: None } => {}
        }
    }

    /// Whether `last` does anything.
    pub fn needs_the_largest(self) -> bool {
        matches!(self, Value::Whisper | Value::Decibels { range: Some(_) })
    }
}

/// A logarithm of each energy, of `least` where it is less.
fn logarithm<F: compiled::Unary>(lanes: Option<&Lanes>, least: f64, energies: &mut [f32]) {
    energies.iter_mut().for_each(|e| *e = e.max(least as f32));
    match lanes {
        Some(lanes) => map_in_place::<F, f32>(lanes, Cost::Elementary, energies),
        None => energies.iter_mut().for_each(|e| *e = F::at(*e)),
    }
}

/// Values that are compared side by side.
const BESIDE: usize = 32;

/// The largest value.
pub(crate) fn largest(values: &[f32]) -> f32 {
    let larger = |most: f32, x: f32| if x > most { x } else { most };
    let mut most = [f32::NEG_INFINITY; BESIDE];
    let mut lines = values.chunks_exact(BESIDE);
    for line in &mut lines {
        most.iter_mut().zip(line).for_each(|(most, &x)| *most = larger(*most, x));
    }
    most.iter().chain(lines.remainder()).copied().fold(f32::NEG_INFINITY, larger)
}

impl Plan {
    /// The preset's spectrogram, or with other values than its own.
    ///
    /// # Errors
    /// As `Frames::new`.
    pub fn spectrogram(
        &self,
        lanes: Option<&Lanes>,
        samples: &[f32],
        value: Option<Value>,
    ) -> Result<Table> {
        self.spectrogram_by(lanes.into(), samples, value)
    }

    /// The same by any engine.
    ///
    /// # Errors
    /// As `spectrogram`.
    pub fn spectrogram_by(
        &self,
        engine: Engine,
        samples: &[f32],
        value: Option<Value>,
    ) -> Result<Table> {
        let lanes = engine.lanes();
        let mut energies = self.energies_by(engine, samples)?;
        let value = value.unwrap_or(self.preset.value);
        match self.preset.clamped().filter(|_| value == self.preset.value) {
            None => value.apply(lanes, &mut energies.bands),
            Some(frames) => {
                value.first(lanes, &mut energies.bands);
                self.clamp_windows(&mut energies.bands, frames);
            }
        }
        Ok(self.table(energies.bands, energies.frames, self.filters.len()))
    }

    /// The last step of values (frames, bands), of so many frames at a time.
    pub(crate) fn clamp_windows(&self, values: &mut [f32], frames: usize) {
        for window in values.chunks_mut(frames.saturating_mul(self.filters.len()).max(1)) {
            let largest = largest(window);
            self.preset.value.last(window, largest);
        }
    }

    /// The preset's cepstra (Davis and Mermelstein 1980): an orthonormal cosine transform of each frame's
    /// bands, liftered; of energies by `Method::Melt` they are melt's.
    ///
    /// # Errors
    /// As `Frames::new`; more cepstra than bands.
    pub fn cepstra(&self, lanes: Option<&Lanes>, samples: &[f32]) -> Result<Table> {
        let rules = self.preset.cepstra;
        rules.check(&self.preset)?;
        let mut energies = self.energies(lanes, samples)?;
        rules.value.apply(lanes, &mut energies.bands);
        let mut numbers = self.of_bands(&energies)?;
        let mut columns = rules.count;
        if rules.deltas {
            numbers = with_deltas(&numbers, energies.frames, columns, self.preset.frames_first)?;
            columns *= 2;
        }
        Ok(self.table(numbers, energies.frames, columns))
    }

    /// (frames, cepstra) of the bands' values.
    fn of_bands(&self, energies: &Energies) -> Result<Vec<f32>> {
        let (rules, bands) = (self.preset.cepstra, self.filters.len());
        let rows = self.cosines();
        let what = || format!("{} cepstra of {} frames", rules.count, energies.frames);
        let mut numbers = memory::room(energies.frames.saturating_mul(rules.count), what)?;
        for (frame, energy) in energies.bands.chunks_exact(bands).zip(&energies.log_energy) {
            let cell =
                |row: &[f64]| frame.iter().zip(row).map(|(&v, c)| f64::from(v) * c).sum::<f64>();
            let start = numbers.len();
            numbers.extend(rows.chunks_exact(bands).map(|row| cell(row) as f32));
            if rules.energy && rules.count > 0 {
                numbers[start] = *energy;
            }
        }
        Ok(numbers)
    }

    /// (cepstra, bands), the lifter in it.
    fn cosines(&self) -> Vec<f64> {
        let (rules, bands) = (self.preset.cepstra, self.filters.len());
        let row = move |k: usize| {
            let scale =
                if k == 0 { (1.0 / bands as f64).sqrt() } else { (2.0 / bands as f64).sqrt() };
            let lift = match rules.lifter {
                0.0 => 1.0,
                // librosa counts from 1, Kaldi from 0.
                length => {
                    let k = if self.preset.frames_first { k } else { k + 1 };
                    1.0 + length / 2.0 * Sin::at(PI * k as f64 / length)
                }
            };
            let cosine = move |m: usize| {
                // pi k (2 m + 1) / 2 M, reduced before it is a number.
                let turns = (k * (2 * m + 1)) % (4 * bands);
                scale * lift * Cos::at(PI * turns as f64 / (2 * bands) as f64)
            };
            (0..bands).map(cosine)
        };
        (0..rules.count).flat_map(row).collect()
    }

    /// (frames, columns) as the preset lays it.
    fn table(&self, numbers: Vec<f32>, frames: usize, columns: usize) -> Table {
        if self.preset.frames_first {
            return Table { shape: [frames, columns], numbers };
        }
        let mut turned = vec![0.0; numbers.len()];
        for (block, from) in numbers.chunks(TILE * columns.max(1)).enumerate() {
            for column in 0..columns {
                let to = &mut turned[column * frames + block * TILE..];
                let cells = from.iter().skip(column).step_by(columns);
                to.iter_mut().zip(cells).for_each(|(to, x)| *to = *x);
            }
        }
        Table { shape: [columns, frames], numbers: turned }
    }
}

impl Cepstra {
    /// Numbers of a frame.
    pub fn columns(&self) -> usize {
        if self.deltas { 2 * self.count } else { self.count }
    }

    /// # Errors
    /// A preset without cepstra; more cepstra than bands.
    pub fn check(&self, preset: &Preset) -> Result<()> {
        if preset.value == Value::Whisper {
            let text = "cepstra are those of librosa, torchaudio and kaldi";
            return Err(Error::wanted(ErrorKind::Argument, text, preset.name));
        }
        if self.count <= preset.mels {
            return Ok(());
        }
        let wanted = format!("cepstra must not be more than the {} bands", preset.mels);
        Err(Error::wanted(ErrorKind::Argument, wanted, self.count))
    }
}

/// Frames on each side that a slope sees: Kaldi's, librosa's.
const KALDI_REACH: usize = 2;
const LIBROSA_REACH: usize = 4;

/// (frames, 2 columns): each frame's numbers, then their slopes from frame to frame by a straight line
/// through the frames around it. Kaldi repeats the first and last frame beyond the ends; librosa takes
/// the line of the first and of the last frames that have all their neighbours.
fn with_deltas(numbers: &[f32], frames: usize, columns: usize, kaldi: bool) -> Result<Vec<f32>> {
    let reach = if kaldi { KALDI_REACH } else { LIBROSA_REACH };
    if !kaldi && frames <= 2 * reach {
        let wanted = format!("slopes need {} frames or more", 2 * reach + 1);
        return Err(Error::wanted(ErrorKind::Argument, wanted, frames).hint("leave deltas out"));
    }
    let squares: usize = 2 * (1..=reach).map(|n| n * n).sum::<usize>();
    let last = frames.saturating_sub(1);
    let mut out = memory::room(numbers.len().saturating_mul(2), || "the slopes".into())?;
    for t in 0..frames {
        out.extend_from_slice(&numbers[t * columns..(t + 1) * columns]);
        let middle = if kaldi { t } else { t.clamp(reach, last - reach) };
        let at = |frame: usize, column| f64::from(numbers[frame * columns + column]);
        for column in 0..columns {
            let rise = |n: usize| {
                let (after, before) = ((middle + n).min(last), middle.saturating_sub(n));
                n as f64 * (at(after, column) - at(before, column))
            };
            out.push(((1..=reach).map(rise).sum::<f64>() / squares as f64) as f32);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_packages() {
        // Squares: librosa's line over 9 frames has the slope 2 t inside, that of frame 4 before it.
        let squares: Vec<f32> = (0..10).map(|t| (t * t) as f32).collect();
        let slopes = |kaldi| -> Vec<f32> {
            let both = with_deltas(&squares, 10, 1, kaldi).unwrap();
            both.chunks(2).map(|pair| pair[1]).collect()
        };
        assert_eq!(slopes(false), [8.0, 8.0, 8.0, 8.0, 8.0, 10.0, 10.0, 10.0, 10.0, 10.0]);
        // Kaldi repeats the ends: (1 (1 - 0) + 2 (4 - 0)) / 10 for frame 0.
        assert_eq!(slopes(true)[..3], [0.9, 2.2, 4.0]);
        assert!(with_deltas(&squares, 8, 1, false).is_err());
        assert!(with_deltas(&[], 0, 1, true).unwrap().is_empty());
    }
}
