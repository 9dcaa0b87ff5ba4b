//! What a call asks for: from its keywords to a preset with what was overridden, a method, and what is
//! done to whole signals. Records and writers read the same arguments here.

use crate::energy::Method;
use crate::preset::{Clamp, NO_PRESET, Norm, Padding, Preset, Value as Values, WINDOW_SECONDS};
use crate::scale::Scale;
use crate::window::Window;
use rung_base::{Error, ErrorKind, Result};
use rung_ops::Value;
use rung_ops::arguments::Arguments;
use rung_ops::record::{Kind, Op, Parameter, keyword};

/// The most points of a transform, and samples of a window or a hop.
const FARTHEST: f64 = 1_048_576.0;

/// The names of the presets.
const NAMES: &[&str] = &["librosa", "torchaudio", "whisper-80", "whisper-128", "kaldi"];

pub const RATE: Parameter = keyword("rate", Kind::Number)
    .says("how fast the samples are; has to be given")
    .unit("Hz")
    .above(0.0, 1e9)
    .also(&["sr", "sample-rate"]);
pub const PRESET: Parameter = keyword("preset", Kind::Choice(NAMES)).says(
    "whose rules apply: the packages disagree, so none is the default; without one \
           every field has to be said",
);
pub const MODE: Parameter = keyword("mode", Kind::Choice(&["exact", "melt"]))
    .says("the package's own bands, or those of sinusoids inside each triangle: another feature")
    .default("exact");
pub const METHOD: Parameter = keyword("method", Kind::Choice(&["product", "fft"]))
    .says("how the exact bands are computed, each with its own bits")
    .default("product up to 1,024 points, fft above");
pub const POINTS: Parameter = keyword("points", Kind::Integer)
    .says("sinusoids inside each triangle of melt")
    .between(1.0, 64.0)
    .default("1");
pub const MELS: Parameter = keyword("mels", Kind::Integer)
    .says("how many bands")
    .between(1.0, 16_384.0)
    .default(OF_PRESET)
    .also(&["n-mels"]);
pub const N_FFT: Parameter =
    keyword("n-fft", Kind::Integer).says("points of the transform").between(1.0, FARTHEST).default(
        "that of the preset; of kaldi, where the window is said, the power of two that holds it",
    );
pub const WIN_LENGTH: Parameter = keyword("win-length", Kind::Integer)
    .says("samples of the window")
    .between(1.0, FARTHEST)
    .default("that of the preset, n-fft where the preset has both alike");
pub const HOP: Parameter = keyword("hop", Kind::Integer)
    .says("samples from one frame to the next")
    .between(1.0, FARTHEST)
    .default("that of the preset, half the window of torchaudio")
    .also(&["hop-length"]);
pub const FRAME_LENGTH: Parameter = keyword("frame-length", Kind::Number)
    .says("the window, as Kaldi says it: in place of win-length")
    .unit("ms")
    .above(0.0, 1e6);
pub const FRAME_SHIFT: Parameter = keyword("frame-shift", Kind::Number)
    .says("from one frame to the next, as Kaldi says it: in place of hop")
    .unit("ms")
    .above(0.0, 1e6);
pub const WINDOW: Parameter = keyword("window", Kind::Choice(Window::NAMES))
    .says(
        "the shape of the window: hann is periodic, hanning symmetric, hamming and blackman are \
         symmetric by kaldi's rules and periodic by the others",
    )
    .default(OF_PRESET);
pub const PAD: Parameter = keyword("pad", Kind::Choice(&["zero", "reflect", "none", "mirror"]))
    .says(
        "what stands at the edges: zeros, mirrored samples, nothing (frames lie inside), or mirrored \
         samples with the edge twice (Kaldi without snip_edges)",
    )
    .default(OF_PRESET)
    .also(&["pad-mode"]);
pub const SCALE: Parameter = keyword("scale", Kind::Choice(&["slaney", "htk", "kaldi"]))
    .says("the mel scale")
    .default(OF_PRESET)
    .also(&["mel-scale"]);
pub const HTK: Parameter = keyword("htk", Kind::Flag).says("scale htk, as librosa says it");
pub const CENTER: Parameter = keyword("center", Kind::Truth)
    .says("false: frames lie inside the samples, pad none, as librosa and torchaudio say it")
    .default("that of the preset");
pub const POWER: Parameter = keyword("power", Kind::Integer)
    .says("what bands sum of each bin: its magnitude, or the square of it")
    .between(1.0, 2.0)
    .default("2");
pub const NORM: Parameter = keyword("norm", Kind::Choice(&["slaney", "none"]))
    .says("whether each triangle has the area 1 or the height 1")
    .default(OF_PRESET);
pub const FMIN: Parameter = keyword("fmin", Kind::Number)
    .says("where the lowest band begins")
    .unit("Hz")
    .at_least(0.0)
    .default(OF_PRESET)
    .also(&["f-min"]);
pub const FMAX: Parameter = keyword("fmax", Kind::Number)
    .says("where the highest band ends; counted from half the rate when it is not above 0")
    .unit("Hz")
    .default(OF_PRESET)
    .also(&["f-max"]);
pub const DB: Parameter = keyword("db", Kind::Flag)
    .says("decibels in place of power: librosa's with a floor of 80, torchaudio's without one");
pub const SAMPLE_SCALE: Parameter = keyword("sample-scale", Kind::Choice(&["int16", "int32"]))
    .says("samples are integers of this width, whatever their type: divided by 2^(bits - 1)");
pub const WINDOW30: Parameter =
    keyword("window30", Kind::Flag).says("Whisper's window: zeros behind the samples up to 30 s");
pub const WHISPER_FILE: Parameter = keyword("whisper-file", Kind::Flag)
    .says("Whisper's way with whole files: 30 s of zeros behind, one maximum, then cut");

pub const CLAMP: Parameter = keyword("clamp", Kind::Choice(&["end", "window"]))
    .says(
        "whose largest value Whisper's clamp looks at: that of the whole signal, known at its end, or \
         of each window of 30 s for itself, from the first frame on",
    )
    .default("end");

pub const TYPE: Parameter = keyword("type", Kind::Choice(&["f32", "f64", "f16"]))
    .says("the element type of the result; the numbers are computed as f32")
    .default("f32");

const OF_PRESET: &str = "that of the preset";

/// The arguments of a call by the names of their parameters.
pub struct Named {
    op: &'static Op,
    arguments: Arguments,
}

impl Named {
    pub fn new(op: &'static Op, arguments: Arguments) -> Named {
        Named { op, arguments }
    }

    /// Of the values of a call that was made.
    ///
    /// # Errors
    /// Values that the operation does not take.
    pub fn of_values(op: &'static Op, values: &[Value]) -> Result<Named> {
        Arguments::bind(op, values.to_vec()).map(|arguments| Named { op, arguments })
    }

    /// The place of a parameter; none where the operation has none of this name, or it was left out.
    fn given(&self, name: &str) -> Option<usize> {
        let at = self.op.parameters.iter().position(|p| p.name == name)?;
        self.arguments.is_given(at).then_some(at)
    }

    pub fn array(&mut self, name: &str) -> Result<Option<rung_array::Array>> {
        self.given(name).map(|at| self.arguments.array(at)).transpose()
    }

    pub fn number(&mut self, name: &str) -> Result<Option<f64>> {
        self.given(name).map(|at| self.arguments.number(at).map(|n| n.to_f64())).transpose()
    }

    /// An integer whose range begins at 0 or above.
    pub fn count(&mut self, name: &str) -> Result<Option<usize>> {
        let number = self.given(name).map(|at| self.arguments.integer(at)).transpose()?;
        Ok(number.map(|n| usize::try_from(n).unwrap_or(0)))
    }

    /// None where it was not written.
    pub fn truth(&mut self, name: &str) -> Option<bool> {
        let at = self.op.parameters.iter().position(|p| p.name == name)?;
        self.arguments.truth(at)
    }

    pub fn choice(&mut self, name: &str) -> Result<Option<&'static str>> {
        self.given(name).map_or(Ok(None), |at| self.arguments.choice(at))
    }

    pub fn flag(&mut self, name: &str) -> bool {
        self.given(name).is_some_and(|at| self.arguments.flag(at))
    }
}

/// What is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    pub preset: Preset,
    pub method: Option<Method>,
    /// Zeros behind the samples.
    pub fill: Fill,
}

/// Zeros behind a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fill {
    None,
    /// Up to so many samples.
    UpTo(usize),
    /// So many, whose frames are cut off again.
    Behind(usize),
}

impl Rules {
    /// Reads everything but the samples.
    ///
    /// # Errors
    /// A preset or a rate that is not said, a rate that the preset is not for, and fields that do not
    /// fit each other.
    pub fn read(a: &mut Named) -> Result<Rules> {
        let mut preset = match a.choice("preset")? {
            Some(name) => Preset::named(name)?,
            None => own_rules(a)?,
        };
        let rate = said_rate(a)?;
        check_rate(&preset, rate)?;
        preset.rate = rate;
        overridden(&mut preset, a)?;
        let method = method(a)?;
        let fill = fill(&preset, a)?;
        preset.check()?;
        Ok(Rules { preset, method, fill })
    }
}

/// What has to be said where no preset says it.
const FIELDS: [&str; 7] = ["n-fft", "hop", "window", "pad", "mels", "scale", "norm"];

/// The rules of nobody: every field is said. Values are power or, with db, decibels.
///
/// # Errors
/// A field that is not said, which the error names.
fn own_rules(a: &Named) -> Result<Preset> {
    let missing: Vec<&str> =
        FIELDS.iter().copied().filter(|field| a.given(field).is_none()).collect();
    if missing.is_empty() {
        return Ok(Preset { name: NO_PRESET, window_length: 0, ..Preset::named("librosa")? });
    }
    let text = "whose rules apply is not said: give a preset";
    let hint = format!(
        "preset is one of {}; without one {} would have to be said too",
        NAMES.join(", "),
        missing.join(", ")
    );
    Err(Error::new(ErrorKind::Argument, text).hint(hint))
}

/// # Errors
/// No rate.
pub fn said_rate(a: &mut Named) -> Result<f64> {
    a.number("rate")?.ok_or_else(|| {
        let text = "the rate of the samples is not said";
        Error::new(ErrorKind::Argument, text).hint("rate 16000, say, in samples a second")
    })
}

/// Whisper's and Kaldi's rules hold at one rate.
fn check_rate(preset: &Preset, rate: f64) -> Result<()> {
    let is_free = matches!(preset.name, "librosa" | "torchaudio" | NO_PRESET);
    if is_free || rate == preset.rate {
        return Ok(());
    }
    let wanted = format!("{} is for samples at {} Hz", preset.name, preset.rate);
    let hint = format!("rate {} in a shell resamples; nothing is resampled unasked", preset.rate);
    Err(Error::wanted(ErrorKind::Argument, wanted, format!("{rate} Hz")).hint(hint))
}

/// The fields that are said one by one.
fn overridden(preset: &mut Preset, a: &mut Named) -> Result<()> {
    // torchaudio's highest frequency is a whole number.
    if preset.name == "torchaudio" {
        preset.range.1 = (preset.rate / 2.0).floor();
    }
    let own = preset.name == NO_PRESET;
    let halved = preset.hop * 2 == preset.window_length;
    let whole = own || preset.window_length == preset.n_fft;
    let said = samples(a, "win-length", "frame-length", preset.rate)?;
    let points = match said {
        Some(length) if preset.name == "kaldi" => length.next_power_of_two(),
        _ => preset.n_fft,
    };
    preset.n_fft = a.count("n-fft")?.unwrap_or(points);
    let length = if whole { preset.n_fft } else { preset.window_length };
    preset.window_length = said.unwrap_or(length);
    let hop = if halved { (preset.window_length / 2).max(1) } else { preset.hop };
    preset.hop = samples(a, "hop", "frame-shift", preset.rate)?.unwrap_or(hop);
    let said = a.choice("window")?.and_then(|name| Window::named(name, preset.name == "kaldi"));
    preset.window = said.unwrap_or(preset.window);
    preset.padding = padding(preset, a)?;
    preset.magnitude = a.count("power")? == Some(1);
    if a.flag("db") {
        let range = if preset.name == "librosa" { Some(80.0) } else { None };
        preset.value = Values::Decibels { range };
    }
    clamp(preset, a)?;
    cepstra(preset, a)?;
    bands(preset, a)
}

/// What stands at the edges, by either of its names.
fn padding(preset: &Preset, a: &mut Named) -> Result<Padding> {
    let said = a.choice("pad")?.map(|word| match word {
        "zero" => Padding::Zero,
        "reflect" => Padding::Reflect,
        "none" => Padding::None,
        _ => Padding::Mirror,
    });
    let refuse = |text: &str, got: &str, hint: &'static str| {
        Err(Error::wanted(ErrorKind::Argument, text, got).hint(hint))
    };
    let is_centred = |padding| matches!(padding, Padding::Zero | Padding::Reflect);
    match (a.truth("center"), said) {
        (Some(true), said) if !is_centred(said.unwrap_or(preset.padding)) => refuse(
            "center true needs something at the edges",
            preset.name,
            "pad zero or reflect centres frames",
        ),
        (Some(false), Some(padding)) if padding != Padding::None => {
            refuse("center false leaves nothing at the edges", "a pad", "leave one of them out")
        }
        // librosa and torchaudio centre a short window in its frame also here; Kaldi has it at the left.
        (Some(false), _) if preset.name != "kaldi" && preset.window_length < preset.n_fft => {
            let got = format!("{} in {}", preset.window_length, preset.n_fft);
            refuse("center false takes a window as long as the transform", &got, "pad none")
        }
        (Some(false), _) => Ok(Padding::None),
        (_, said) => Ok(said.unwrap_or(preset.padding)),
    }
}

/// A length that is said in samples, or in milliseconds, of which a part of a sample is left out.
fn samples(a: &mut Named, name: &str, other: &str, rate: f64) -> Result<Option<usize>> {
    match (a.count(name)?, a.number(other)?) {
        (Some(_), Some(_)) => {
            let text = format!("{name} and {other} say the same: give one of them");
            Err(Error::new(ErrorKind::Argument, text))
        }
        (count, None) => Ok(count),
        (None, Some(milliseconds)) => {
            let count = (rate * 0.001 * milliseconds).floor();
            if (1.0..=FARTHEST).contains(&count) {
                return Ok(Some(count as usize));
            }
            let wanted = format!("{other} must be from 1 to {FARTHEST} samples of {rate} Hz");
            Err(Error::wanted(ErrorKind::Argument, wanted, format!("{milliseconds} ms")))
        }
    }
}

fn clamp(preset: &mut Preset, a: &mut Named) -> Result<()> {
    let Some(word) = a.choice("clamp")? else { return Ok(()) };
    if preset.value != Values::Whisper {
        let text = "clamp is that of the whisper presets";
        return Err(Error::wanted(ErrorKind::Argument, text, preset.name));
    }
    preset.clamp = if word == "window" { Clamp::Window } else { Clamp::End };
    Ok(())
}

fn cepstra(preset: &mut Preset, a: &mut Named) -> Result<()> {
    let rules = &mut preset.cepstra;
    rules.count = a.count("count")?.unwrap_or(rules.count);
    rules.lifter = a.number("lifter")?.unwrap_or(rules.lifter);
    rules.deltas = a.flag("deltas");
    rules.energy = a.truth("use-energy").unwrap_or(rules.energy);
    Ok(())
}

/// The fields of the triangles.
pub fn bands(preset: &mut Preset, a: &mut Named) -> Result<()> {
    preset.mels = a.count("mels")?.unwrap_or(preset.mels);
    preset.range.0 = a.number("fmin")?.unwrap_or(preset.range.0);
    preset.range.1 = a.number("fmax")?.unwrap_or(preset.range.1);
    let (htk, scale) = (a.flag("htk"), a.choice("scale")?);
    if let Some(other) = scale.filter(|scale| htk && *scale != "htk") {
        let text = "htk is the scale htk: give one scale";
        return Err(Error::wanted(ErrorKind::Argument, text, other));
    }
    preset.scale = match scale {
        _ if htk => Scale::Htk,
        Some("slaney") => Scale::Slaney,
        Some("htk") => Scale::Htk,
        Some(_) => Scale::Kaldi,
        None => preset.scale,
    };
    preset.norm = match a.choice("norm")? {
        Some("slaney") => Norm::Area,
        Some(_) => Norm::Peak,
        None => preset.norm,
    };
    Ok(())
}

fn method(a: &mut Named) -> Result<Option<Method>> {
    let mode = a.choice("mode")?;
    let method = a.choice("method")?;
    let points = a.count("points")?;
    match (mode, method, points) {
        (Some("melt"), Some(method), _) => {
            let text = "melt is one product, and method chooses how exact bands are computed";
            Err(Error::wanted(ErrorKind::Argument, text, method).hint("leave one of them out"))
        }
        (Some("melt"), None, points) => Ok(Some(Method::Melt { points: points.unwrap_or(1) })),
        (_, _, Some(points)) => {
            let text = "points are those of mode melt";
            Err(Error::wanted(ErrorKind::Argument, text, format!("{points} in mode exact")))
        }
        (_, Some("fft"), None) => Ok(Some(Method::Fft)),
        (_, Some(_), None) => Ok(Some(Method::Product)),
        (_, None, None) => Ok(None),
    }
}

fn fill(preset: &Preset, a: &mut Named) -> Result<Fill> {
    let (window, file) = (a.flag("window30"), a.flag("whisper-file"));
    if (window || file) && preset.value != Values::Whisper {
        let text = "window30 and whisper-file are ways of the whisper presets";
        return Err(Error::wanted(ErrorKind::Argument, text, preset.name));
    }
    let samples = (WINDOW_SECONDS * preset.rate) as usize;
    match (window, file) {
        (true, true) => {
            let text = "window30 and whisper-file are two ways to fill up: give one of them";
            Err(Error::new(ErrorKind::Argument, text))
        }
        (true, false) => Ok(Fill::UpTo(samples)),
        (false, true) => Ok(Fill::Behind(samples)),
        (false, false) => Ok(Fill::None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PRESETS;

    #[test]
    fn every_preset_can_be_named() {
        let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
        assert_eq!(names, NAMES);
    }
}
