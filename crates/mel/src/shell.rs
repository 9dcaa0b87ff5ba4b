//! What a shell needs for sound: how it comes from a file, how tables go into one, and what a picture
//! shows. The records of the operations name what fits them.

use crate::asked::{Fill, Named, Rules};
use crate::audio::{self, Channel, Options, Sound};
use crate::energy::{self, Method};
use crate::preset::{Count, Norm, Padding, Value as Values};
use crate::record::{CEPSTRA as CEPSTRA_OP, FILTERS as FILTERS_OP, SPECTROGRAM, filters, rules_of};
use crate::resample::Resampler;
use crate::scale::Scale;
use crate::{Preset, picture};
use oddities::Oddities;
use rung_array::{Array, Number};
use rung_base::{Error, ErrorKind, Result, Shape};
use rung_files::npy;
use rung_ops::Value;
use rung_ops::record::{Kind, Op, Parameter, keyword};
use rung_ops::solver::{Finished, Given, Opened, Picture, Reader, Streamed, Writer};
use serde_json::{Value as Json, json};
use std::io::{self, Write};
use std::path::Path;

mod oddities;
mod pieces;
mod stored;

/// Sound of a file.
pub const AUDIO: Reader = Reader {
    parameter: "samples",
    what: "sound",
    endings: audio::READ,
    options: &[RATE, CHANNEL, RAW, LENIENT],
    read: open,
};

const RATE: Parameter = keyword("rate", Kind::Number)
    .says("the file's samples are resampled to this rate; of a .npy, the rate that they have")
    .unit("Hz")
    .default("that of the file")
    .also(&["sr", "sample-rate"]);
const CHANNEL: Parameter = keyword("channel", Kind::IndexOr(&["mix", "all"]))
    .says("which channel, from 0; their mean, or each for itself")
    .default("mix");
const RAW: Parameter = keyword("raw", Kind::Text)
    .says("the file has no header: FORMAT:RATE:CHANNELS, as s16le:16000:1; u8 s24le s32le f32le f64le too");
const LENIENT: Parameter = keyword("lenient", Kind::Flag)
    .says("a file that ends before its header says is read up to its end");

pub const BANDS: Writer = Writer {
    what: "the bands",
    endings: ENDINGS,
    write: write_table,
    parameters: Some(|finished| parameters(&SPECTROGRAM, finished)),
};

pub const CEPSTRA: Writer = Writer {
    what: "the cepstra",
    parameters: Some(|finished| parameters(&CEPSTRA_OP, finished)),
    ..BANDS
};

pub const FILTERS: Writer =
    Writer { what: "the triangles", parameters: Some(filter_parameters), ..BANDS };

const ENDINGS: &[&str] = &[".csv", ".npy"];

pub const IN_PIECES: Streamed = Streamed {
    text: "sound is one signal, and the bands stand in a file beside the result until the end",
    run: pieces::run,
};

pub const PICTURE: Picture = Picture { what: "the spectrogram with its axes", draw };

fn open(path: &Path, options: &[Given]) -> Result<Opened> {
    let (options, rate) = read_options(options)?;
    let Sound { rate: own, samples, mut notes } = audio::read(path, &options)?;
    let (rate, from) = rates(path, own, rate)?;
    let samples = match from {
        None => samples,
        Some(from) => {
            notes.push(resampled_note(from, rate));
            resampled(&samples, from, rate)?
        }
    };
    let mut oddities = Oddities::default();
    oddities.hear(samples.as_slice::<f32>().unwrap_or_default());
    let details = oddities.said();
    let values = vec![
        (AUDIO.parameter, Value::Array(samples)),
        (RATE.name, Value::Number(Number::F64(rate))),
    ];
    Ok(Opened { values, kept: Box::new(()), notes, details })
}

/// The rate of the samples, and from which they are resampled.
fn rates(path: &Path, own: Option<f64>, asked: Option<f64>) -> Result<(f64, Option<f64>)> {
    match (own, asked) {
        (None, None) => {
            let text = format!("{}: a .npy does not say the rate of its samples", path.display());
            Err(Error::new(ErrorKind::Argument, text).hint("--rate 16000, say"))
        }
        (None, Some(rate)) | (Some(rate), None) => Ok((rate, None)),
        (Some(own), Some(rate)) => Ok((rate, (own != rate).then_some(own))),
    }
}

fn resampled_note(from: f64, to: f64) -> String {
    format!("resampled from {from} to {to} Hz")
}

fn read_options(given: &[Given]) -> Result<(Options, Option<f64>)> {
    let mut options = Options { channel: Channel::Mix, raw: None, lenient: false };
    let mut rate = None;
    for (name, value) in given {
        match (*name, value) {
            ("rate", Value::Number(number)) => rate = Some(number.to_f64()),
            ("raw", Value::Text(text)) => options.raw = Some(text.clone()),
            ("lenient", value) => options.lenient = !matches!(value, Value::Nil),
            ("channel", Value::Keyword(word)) if word == "all" => options.channel = Channel::All,
            ("channel", Value::List(items)) => options.channel = channel(items)?,
            _ => {}
        }
    }
    Ok((options, rate))
}

fn channel(items: &[Value]) -> Result<Channel> {
    match items {
        [Value::Number(Number::I64(at))] if *at >= 0 => {
            Ok(Channel::One(usize::try_from(*at).unwrap_or(usize::MAX)))
        }
        _ => {
            let text = "channel is one number from 0, mix or all";
            let got = items.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
            Err(Error::wanted(ErrorKind::Argument, text, got))
        }
    }
}

/// Each signal at another rate.
fn resampled(samples: &Array, from: f64, to: f64) -> Result<Array> {
    let resampler = Resampler::new(from, to)?;
    let n = samples.shape().last().copied().unwrap_or(0);
    let all = samples.as_slice::<f32>().unwrap_or_default();
    let mut out = Vec::new();
    for row in all.chunks_exact(n.max(1)) {
        out.push(resampler.run(row)?);
    }
    let count = resampler.length(n);
    let shape = match samples.rank() {
        1 => Shape::vector(count),
        _ => Shape::new([samples.shape()[0], count])?,
    };
    Array::build::<f32>(shape, |to| {
        to.chunks_exact_mut(count.max(1)).zip(&out).for_each(|(to, row)| to.copy_from_slice(row));
    })
}

fn write_table(finished: &Finished, ending: &str, out: &mut dyn Write) -> Result<()> {
    let table = finished.array(0)?;
    let written = match ending {
        ".npy" => npy::write_to(table, out),
        _ => text(table, out)?,
    };
    written.map_err(|e| Error::new(ErrorKind::File, e.to_string()))
}

/// Rows of numbers with commas; several signals are none.
fn text(table: &Array, out: &mut dyn Write) -> Result<io::Result<()>> {
    let [_, columns] = table.shape()[..] else {
        let text = "a text holds the table of one signal";
        let error = Error::wanted(ErrorKind::Argument, text, format!("shape {}", table.shape()));
        return Err(error.hint(".npy holds several"));
    };
    let mut lines = Lines::new(columns);
    Ok(lines.write(&singles(table), out).and_then(|()| lines.end(out)))
}

/// A table as a text whose numbers come row by row, in any parts.
struct Lines {
    columns: usize,
    /// Numbers that were written.
    written: usize,
}

impl Lines {
    fn new(columns: usize) -> Lines {
        Lines { columns, written: 0 }
    }

    fn write(&mut self, numbers: &[f32], out: &mut dyn Write) -> io::Result<()> {
        for x in numbers {
            let before = match self.written {
                0 => "",
                n if n.is_multiple_of(self.columns) => "\n",
                _ => ",",
            };
            write!(out, "{before}{x}")?;
            self.written += 1;
        }
        Ok(())
    }

    fn end(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.written == 0 { Ok(()) } else { writeln!(out) }
    }
}

/// The numbers of a table, which were computed as f32 whatever type they have now.
fn singles(table: &Array) -> Vec<f32> {
    table.numbers().map(|number| number.to_f64() as f32).collect()
}

/// Every field that decided a table.
fn parameters(op: &'static Op, finished: &Finished) -> Result<String> {
    let rules = rules_of(op, finished.arguments)?;
    Ok(parameters_of(op, &rules, finished.array(0)?.shape()).to_string())
}

fn parameters_of(op: &'static Op, rules: &Rules, shape: &Shape) -> Json {
    let mut object = fields(rules);
    object["operation"] = json!(op.name());
    object["shape"] = json!(shape[..]);
    if op.name() == CEPSTRA_OP.name() {
        let cepstra = rules.preset.cepstra;
        object["value"] = value(cepstra.value);
        object["count"] = json!(cepstra.count);
        object["lifter"] = json!(cepstra.lifter);
        object["deltas"] = json!(cepstra.deltas);
        object["energy"] = json!(cepstra.energy);
    }
    object
}

fn fields(rules: &Rules) -> Json {
    let preset = &rules.preset;
    let (mode, method, points) = match energy::chosen(preset, rules.method) {
        Method::Fft => ("exact", json!("fft"), Json::Null),
        Method::Product => ("exact", json!("product"), Json::Null),
        Method::Melt { points } => ("melt", Json::Null, json!(points)),
    };
    json!({
        "preset": preset.name,
        "mode": mode,
        "method": method,
        "points": points,
        "rate": preset.rate,
        "n-fft": preset.n_fft,
        "win-length": preset.window_length,
        "hop": preset.hop,
        "window": preset.window.name(),
        "pad": padding(preset.padding),
        "last-frame": preset.count == Count::All,
        "remove-mean": preset.remove_mean,
        "preemphasis": preset.preemphasis,
        "power": if preset.magnitude { 1 } else { 2 },
        "mels": preset.mels,
        "fmin": preset.range.0,
        "fmax": preset.highest(),
        "scale": scale(preset.scale),
        "norm": norm(preset.norm),
        "value": value(preset.value),
        "clamp": clamp(preset),
        "multiplied-by": preset.sample_scale,
        "layout": if preset.frames_first { "frames bands" } else { "bands frames" },
        "zeros-behind": match rules.fill {
            Fill::None => json!(0),
            Fill::UpTo(length) => json!(format!("up to {length} samples")),
            Fill::Behind(length) => json!(length),
        },
    })
}

/// Nothing where no value waits for the largest.
fn clamp(preset: &Preset) -> Json {
    match (preset.value, preset.clamped()) {
        (_, Some(frames)) => json!(format!("windows of {frames} frames")),
        (Values::Whisper, None) => json!("the whole signal"),
        _ => Json::Null,
    }
}

fn padding(padding: Padding) -> &'static str {
    match padding {
        Padding::Zero => "zero",
        Padding::Reflect => "reflect",
        Padding::None => "none",
        Padding::Mirror => "mirror",
    }
}

fn scale(scale: Scale) -> &'static str {
    match scale {
        Scale::Htk => "htk",
        Scale::Slaney => "slaney",
        Scale::Kaldi => "kaldi",
    }
}

fn norm(norm: Norm) -> &'static str {
    if norm == Norm::Area { "slaney" } else { "none" }
}

fn value(value: Values) -> Json {
    match value {
        Values::Power => json!("power"),
        Values::Decibels { range: None } => json!("decibels"),
        Values::Decibels { range: Some(range) } => json!(format!("decibels, floor at -{range}")),
        Values::Whisper => json!("whisper: (max(log10, largest - 8) + 4) / 4"),
        Values::NaturalLog => json!("natural logarithm"),
    }
}

fn filter_parameters(finished: &Finished) -> Result<String> {
    let triangles = filters(&mut Named::of_values(&FILTERS_OP, finished.arguments)?)?;
    let Preset { name, rate, n_fft, scale: of, norm: how, .. } = triangles.preset;
    let object = json!({
        "operation": "filters",
        "preset": name,
        "rate": rate,
        "n-fft": n_fft,
        "mels": triangles.len(),
        "fmin": triangles.preset.range.0,
        "fmax": triangles.preset.highest(),
        "scale": scale(of),
        "norm": norm(how),
    });
    Ok(object.to_string())
}

fn draw(finished: &Finished) -> Result<Array> {
    let rules = rules_of(&SPECTROGRAM, finished.arguments)?;
    let (table, times, centres) = (finished.array(0)?, finished.array(1)?, finished.array(2)?);
    picture::draw(&rules.preset, &singles(table), times, centres)
}
