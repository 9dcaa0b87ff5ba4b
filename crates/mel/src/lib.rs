//! Mel spectrograms and cepstra. Nothing here knows a front end, a flag or a file: samples come as
//! slices, results go as vectors, and mistakes are errors that say what was wanted and what came.
//!
//! - [`preset`]: whose rules apply: librosa's, torchaudio's, Whisper's, Kaldi's, every field by name.
//! - [`scale`], [`filters`], [`window`]: the tables, computed in f64.
//! - [`frames`]: which samples a frame sees.
//! - [`energy`]: from frames to the energy of each band: by a Fourier transform, by one matrix product,
//!   or by sinusoids at the bands' own frequencies (`melt`).
//! - [`spectrogram`]: energies as the preset wants them, and cepstra.
#![forbid(unsafe_code)]

pub mod energy;
pub mod filters;
pub mod frames;
pub mod preset;
pub mod scale;
pub mod spectrogram;
pub mod window;

pub use energy::{Method, Plan};
pub use preset::{PRESETS, Preset};
