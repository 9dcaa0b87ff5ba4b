//! Whose rules apply. The packages disagree on nearly every field, so none is the default.

use crate::scale::Scale;
use crate::window::Window;
use rung_base::{Error, ErrorKind, Result};

/// Seconds of Whisper's window.
pub(crate) const WINDOW_SECONDS: f64 = 30.0;

/// What stands before and behind the samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Padding {
    /// Frames are centred; zeros on both sides.
    Zero,
    /// Frames are centred; the samples in mirrored order, the edge itself once.
    Reflect,
    /// Frames lie inside the samples (Kaldi's `snip_edges`).
    None,
    /// Frames are centred on their hop; the samples in mirrored order, the edge twice (Kaldi without
    /// `snip_edges`).
    Mirror,
}

/// How many frames `n` samples have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// 1 + floor(n / hop).
    All,
    /// floor(n / hop): the last is dropped (Whisper).
    ButLast,
}

/// What an energy E becomes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// E itself.
    Power,
    /// 10 log10(max(E, 1e-10)), not more than so many decibels below the largest of the call.
    Decibels {
        /// None: no floor.
        range: Option<f64>,
    },
    /// l = log10(max(E, 1e-10)), at least the largest of the call less 8, then (l + 4) / 4.
    Whisper,
    /// ln(max(E, 2^-23)).
    NaturalLog,
}

/// Whose largest value Whisper's clamp looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clamp {
    /// That of the whole signal, which is known at its end.
    End,
    /// Each window's of 30 s of frames: what is later changes nothing.
    Window,
}

/// The norm of a filter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Norm {
    /// Its peak is 1.
    Peak,
    /// Its area is 1: times 2 / width in Hz (Slaney).
    Area,
}

/// Everything that decides a mel spectrogram.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// Samples a second.
    pub rate: f64,
    /// Samples of a window.
    pub window_length: usize,
    /// Points of the transform; zeros stand behind a shorter window.
    pub n_fft: usize,
    /// Samples from one frame to the next.
    pub hop: usize,
    /// The shape of the window.
    pub window: Window,
    /// What stands at the edges.
    pub padding: Padding,
    /// How many frames there are.
    pub count: Count,
    /// Whether a frame's mean is taken off it first.
    pub remove_mean: bool,
    /// y[j] = x[j] - this x[j-1] in a frame, x[-1] being x[0]; 0 for none.
    pub preemphasis: f64,
    /// Whether bands sum the magnitudes of bins, else their squares.
    pub magnitude: bool,
    /// How many bands.
    pub mels: usize,
    /// The lowest and highest frequency, Hz; the latter from half the rate when it is not above 0.
    pub range: (f64, f64),
    /// The mel scale.
    pub scale: Scale,
    /// The norm of the filters.
    pub norm: Norm,
    /// What becomes of an energy.
    pub value: Value,
    /// Whose largest value the clamp of Whisper's values looks at.
    pub clamp: Clamp,
    /// Samples are multiplied by it.
    pub sample_scale: f64,
    /// Whether results are (frames, bands), else (bands, frames).
    pub frames_first: bool,
    /// How cepstra are made.
    pub cepstra: Cepstra,
}

/// How cepstra are made of the bands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cepstra {
    /// How many.
    pub count: usize,
    /// What becomes of an energy first.
    pub value: Value,
    /// The lifter's length; 0 for none.
    pub lifter: f64,
    /// Whether the first is replaced by the frame's log energy.
    pub energy: bool,
    /// Whether slopes from frame to frame follow.
    pub deltas: bool,
}

/// How rules are called of which every field was said.
pub const NO_PRESET: &str = "none";

const LIBROSA: Preset = Preset {
    name: "librosa",
    rate: 22_050.0,
    window_length: 2048,
    n_fft: 2048,
    hop: 512,
    window: Window::Hann,
    padding: Padding::Zero,
    count: Count::All,
    remove_mean: false,
    preemphasis: 0.0,
    magnitude: false,
    mels: 128,
    range: (0.0, 0.0),
    scale: Scale::Slaney,
    norm: Norm::Area,
    value: Value::Power,
    clamp: Clamp::End,
    sample_scale: 1.0,
    frames_first: false,
    cepstra: Cepstra {
        count: 20,
        value: Value::Decibels { range: Some(80.0) },
        lifter: 0.0,
        energy: false,
        deltas: false,
    },
};

const TORCHAUDIO: Preset = Preset {
    name: "torchaudio",
    rate: 16_000.0,
    window_length: 400,
    n_fft: 400,
    hop: 200,
    padding: Padding::Reflect,
    scale: Scale::Htk,
    norm: Norm::Peak,
    cepstra: Cepstra { count: 40, ..LIBROSA.cepstra },
    ..LIBROSA
};

const WHISPER: Preset = Preset {
    name: "whisper-80",
    hop: 160,
    count: Count::ButLast,
    mels: 80,
    range: (0.0, 8000.0),
    scale: Scale::Slaney,
    norm: Norm::Area,
    value: Value::Whisper,
    ..TORCHAUDIO
};

const KALDI: Preset = Preset {
    name: "kaldi",
    n_fft: 512,
    hop: 160,
    window: Window::Povey,
    padding: Padding::None,
    remove_mean: true,
    preemphasis: 0.97,
    mels: 23,
    range: (20.0, 0.0),
    scale: Scale::Kaldi,
    value: Value::NaturalLog,
    sample_scale: 32_768.0,
    frames_first: true,
    cepstra: Cepstra {
        count: 13,
        value: Value::NaturalLog,
        lifter: 22.0,
        energy: true,
        deltas: false,
    },
    ..TORCHAUDIO
};

/// By name.
pub const PRESETS: &[Preset] =
    &[LIBROSA, TORCHAUDIO, WHISPER, Preset { name: "whisper-128", mels: 128, ..WHISPER }, KALDI];

impl Preset {
    /// The preset of this name.
    ///
    /// # Errors
    /// Another name; the message lists them.
    pub fn named(name: &str) -> Result<Preset> {
        PRESETS.iter().find(|preset| preset.name == name).copied().ok_or_else(|| {
            let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
            let wanted = format!("a preset is one of {}", names.join(", "));
            Error::wanted(ErrorKind::Argument, wanted, name)
        })
    }

    /// Frames of a window whose largest value Whisper's clamp looks at; none where it is the whole signal's.
    pub fn clamped(&self) -> Option<usize> {
        let frames = (WINDOW_SECONDS * self.rate / self.hop.max(1) as f64) as usize;
        (self.clamp == Clamp::Window && self.value == Value::Whisper).then_some(frames.max(1))
    }

    /// Whether values wait for the largest of the whole signal.
    pub fn needs_the_largest(&self) -> bool {
        self.clamped().is_none() && self.value.needs_the_largest()
    }

    /// The highest frequency in Hz.
    pub fn highest(&self) -> f64 {
        let half = self.rate / 2.0;
        if self.range.1 > 0.0 { self.range.1 } else { half + self.range.1 }
    }

    /// # Errors
    /// Fields that do not fit each other, with both values.
    pub fn check(&self) -> Result<()> {
        let refuse = |holds: bool, wanted: &str, got: String| match holds {
            true => Ok(()),
            false => Err(Error::wanted(ErrorKind::Argument, wanted, got)),
        };
        refuse(
            self.rate.is_finite() && self.rate > 0.0,
            "the rate must be above 0 Hz",
            self.rate.to_string(),
        )
        .map_err(|e| e.hint("rate 16000, say, in samples a second"))?;
        refuse(self.hop > 0, "the hop must be 1 sample or more", self.hop.to_string())?;
        refuse(self.mels > 0, "there must be 1 band or more", self.mels.to_string())?;
        let fits = self.window_length > 0 && self.window_length <= self.n_fft;
        let lengths = format!("a window of {}, a transform of {}", self.window_length, self.n_fft);
        refuse(fits, "a window must have 1 sample or more and fit the transform", lengths)?;
        let (low, high) = (self.range.0, self.highest());
        let rises = low >= 0.0 && low < high;
        let range = format!("{low} to {high} Hz");
        refuse(rises, "the bands must rise from 0 Hz or more", range.clone())?;
        let wanted =
            format!("the highest band must not be above half the rate, {} Hz", self.rate / 2.0);
        refuse(high <= self.rate / 2.0, &wanted, range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn presets_fit_and_names_are_listed() {
        for preset in PRESETS {
            preset.check().unwrap();
            assert_eq!(Preset::named(preset.name).unwrap(), *preset);
        }
        let error = Preset::named("htk").unwrap_err().to_string();
        assert!(error.contains("whisper-128") && error.ends_with("got htk"), "{error}");
    }

    #[test]
    fn fields_that_do_not_fit_are_refused_with_both_values() {
        let told = |preset: Preset| preset.check().unwrap_err().to_string();
        assert!(told(Preset { window_length: 513, ..KALDI }).contains("513, a transform of 512"));
        assert!(
            told(Preset { range: (0.0, 9000.0), ..KALDI }).contains("8000 Hz: got 0 to 9000 Hz")
        );
        assert!(told(Preset { range: (4000.0, 100.0), ..KALDI }).contains("got 4000 to 100 Hz"));
        assert!(told(Preset { rate: f64::NAN, ..KALDI }).contains("NaN"));
        assert!(told(Preset { hop: 0, ..KALDI }).contains("hop"));
        assert!(told(Preset { mels: 0, ..KALDI }).contains("band"));
    }
}
