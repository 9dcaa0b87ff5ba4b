//! Energies as a preset wants them, and cepstra.

use crate::energy::{Energies, Plan};
use crate::frames::FLOOR;
use crate::preset::Value;
use rung_base::{Error, ErrorKind, Result};
use rung_lanes::Lanes;
use rung_math::{Cos, Log, Log10, Sin, Unary};
use std::f64::consts::PI;

/// The least energy of a decimal logarithm.
const LEAST: f64 = 1e-10;

/// Numbers in rows and columns.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Rows and columns: (bands, frames), or (frames, bands) for Kaldi.
    pub shape: [usize; 2],
    /// Row by row.
    pub numbers: Vec<f32>,
}

impl Value {
    /// Energies, in their place.
    pub fn apply(self, energies: &mut [f32]) {
        let log10 = |e: f32| Log10::at(f64::from(e).max(LEAST));
        let largest = |energies: &[f32]| log10(energies.iter().copied().fold(0.0, f32::max));
        match self {
            Value::Power => {}
            Value::NaturalLog => {
                energies.iter_mut().for_each(|e| *e = Log::at(f64::from(*e).max(FLOOR)) as f32);
            }
            Value::Decibels { range } => {
                let top = largest(energies);
                let floor = range.map_or(f64::NEG_INFINITY, |range| 10.0 * top - range);
                energies.iter_mut().for_each(|e| *e = (10.0 * log10(*e)).max(floor) as f32);
            }
            Value::Whisper => {
                let floor = largest(energies) - 8.0;
                energies.iter_mut().for_each(|e| *e = ((log10(*e).max(floor) + 4.0) / 4.0) as f32);
            }
        }
    }
}

impl Plan {
    /// The preset's spectrogram, or with other values than its own.
    ///
    /// # Errors
    /// As `Frames::new`.
    pub fn spectrogram(
        &self,
        lanes: &Lanes,
        samples: &[f32],
        value: Option<Value>,
    ) -> Result<Table> {
        let mut energies = self.energies(lanes, samples)?;
        value.unwrap_or(self.preset.value).apply(&mut energies.bands);
        Ok(self.table(energies.bands, energies.frames, self.filters.len()))
    }

    /// The preset's cepstra (Davis and Mermelstein 1980): an orthonormal cosine transform of each frame's
    /// bands, liftered; of energies by `Method::Melt` they are melt's.
    ///
    /// # Errors
    /// As `Frames::new`; more cepstra than bands.
    pub fn cepstra(&self, lanes: &Lanes, samples: &[f32]) -> Result<Table> {
        let (rules, bands) = (self.preset.cepstra, self.filters.len());
        if rules.count > bands {
            let wanted = format!("cepstra must not be more than the {bands} bands");
            return Err(Error::wanted(ErrorKind::Argument, wanted, rules.count));
        }
        let Energies { frames, bands: mut values, log_energy } = self.energies(lanes, samples)?;
        rules.value.apply(&mut values);
        let rows = self.cosines();
        let mut numbers = Vec::with_capacity(frames * rules.count);
        for (frame, energy) in values.chunks_exact(bands).zip(&log_energy) {
            let cell =
                |row: &[f64]| frame.iter().zip(row).map(|(&v, c)| f64::from(v) * c).sum::<f64>();
            let start = numbers.len();
            numbers.extend(rows.chunks_exact(bands).map(|row| cell(row) as f32));
            if rules.energy && rules.count > 0 {
                numbers[start] = *energy;
            }
        }
        Ok(self.table(numbers, frames, rules.count))
    }

    /// (cepstra, bands), the lifter in it.
    fn cosines(&self) -> Vec<f64> {
        let (rules, bands) = (self.preset.cepstra, self.filters.len());
        let row = move |k: usize| {
            let scale =
                if k == 0 { (1.0 / bands as f64).sqrt() } else { (2.0 / bands as f64).sqrt() };
            let lift = match rules.lifter {
                0.0 => 1.0,
                length => 1.0 + length / 2.0 * Sin::at(PI * k as f64 / length),
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
        let row = |column| (0..frames).map(move |frame| frame * columns + column);
        let turned = (0..columns).flat_map(row).map(|at| numbers[at]).collect();
        Table { shape: [columns, frames], numbers: turned }
    }
}
