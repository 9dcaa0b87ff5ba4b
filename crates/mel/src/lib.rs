//! Mel spectrograms and cepstra: a solver. Its operations are plain functions over slices; their records
//! say what a front end needs to offer them, and no front end is known here.
//!
//! - [`preset`]: whose rules apply: librosa's, torchaudio's, Whisper's, Kaldi's, every field by name.
//! - [`scale`], [`filters`], [`window`]: the tables, computed in f64.
//! - [`frames`]: which samples a frame sees.
//! - [`energy`] with `spectrum` and `transform`: from frames to the energy of each band: by a Fourier
//!   transform, by one matrix product, or by sinusoids at the bands' own frequencies (`melt`); `device`:
//!   the products there; [`engine`]: who multiplies on the processor.
//! - [`spectrogram`]: energies as the preset wants them, and cepstra; [`stream`]: the same piece by piece.
//! - [`record`], [`asked`], [`signals`]: the operations' records, and from a call to a plan and signals.
//! - [`audio`], [`resample`], [`picture`] and [`shell`]: sound in files, and what a shell does with it.
#![forbid(unsafe_code)]

pub mod asked;
pub mod audio;
mod device;
pub mod energy;
pub mod engine;
pub mod filters;
pub mod frames;
pub mod picture;
pub mod preset;
pub mod record;
pub mod resample;
pub mod scale;
pub mod shell;
pub mod signals;
pub mod spectrogram;
mod spectrum;
pub mod stream;
mod transform;
pub mod window;

#[cfg(test)]
#[path = "../tests/noise/mod.rs"]
mod noise;

pub use energy::{Method, Plan};
pub use filters::Filters;
pub use preset::{PRESETS, Preset};

use rung_ops::record::{Op, Package};
use rung_ops::solver::Solver;

/// Package `mel`.
pub const PACKAGE: &Package = &Package::new("mel", "mel:");

/// What front ends offer.
pub const SOLVER: &Solver = &Solver {
    package: PACKAGE,
    summary: "sound: mel spectrograms and cepstra by four packages' rules",
    introduction: "\
Sound comes as numbers from -1 to 1: (n), or (batch n). librosa, torchaudio, Whisper and Kaldi disagree
about nearly every field of a mel spectrogram, so there is no default: `preset` says whose rules apply, and
any field may be said in its place. Bands are computed in one of three ways, each with its own bits,
chosen by the parameters and never by the machine: `product`, `fft`, and mode `melt`.
",
    operations: OPERATIONS,
};

const OPERATIONS: &[Op] =
    &[record::SPECTROGRAM, record::CEPSTRA, record::FILTERS, record::streamed::STREAM];
