//! A spectrogram of a file that is read in pieces: `--stream`. Each piece is resampled, checked and given
//! to `mel:stream` by way of the ladder, so that explain, the judge of declines and the comparison with the
//! definition see the calls; what it gives back goes to a file (`stored`). Held are a piece, the state of
//! the stream and a block of frames, however long the sound is.

use super::oddities::Oddities;
use super::stored::Bands;
use super::{AUDIO, RATE, rates, read_options, resampled_note};
use crate::asked::{Named, Rules};
use crate::audio::{self, Take};
use crate::record::streamed::STREAM;
use crate::record::{SPECTROGRAM, result_type};
use crate::resample::{Resampler, Resampling};
use crate::{frames, signals};
use rung_array::{Array, Number};
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_ops::Value;
use rung_ops::record::Op;
use rung_ops::solver::{Given, InPieces, Shell, Stored, arguments};

/// What is held at a time.
#[derive(Clone, Copy)]
struct Sizes {
    /// Samples of a piece.
    piece: usize,
    /// Numbers of a block of frames in the file.
    block: usize,
}

/// Pieces of 4 s at 16 kHz, 400 frames, of which threads have enough; blocks of 4 MiB, of 80 bands rows
/// of 52 KB, which are read one by one.
const SIZES: Sizes = Sizes { piece: 1 << 16, block: 1 << 20 };

/// The operation of each piece. It has no rung on a device: with `--gpu` a stream is left to the
/// processor, and explain says so.
const EACH: &Op = &STREAM;

pub fn run(asked: &InPieces, shell: &mut dyn Shell) -> Result<Box<dyn Stored>> {
    Ok(Box::new(in_pieces(asked, SIZES, shell)?))
}

/// The bands of a file.
fn in_pieces(asked: &InPieces, sizes: Sizes, shell: &mut dyn Shell) -> Result<Bands> {
    let (options, rate) = read_options(asked.options)?;
    let mut hearing = Hearing { asked, rate, block: sizes.block, shell, begun: None };
    let notes = audio::read_in_pieces(asked.path, &options, sizes.piece, &mut hearing)?;
    let Hearing { shell, begun, .. } = hearing;
    let none = || Error::new(ErrorKind::Internal, "sound that never began");
    notes.iter().for_each(|note| shell.note(note));
    begun.ok_or_else(none)?.finish(sizes.piece, shell)
}

/// What hears a file.
struct Hearing<'a, 'b> {
    asked: &'a InPieces<'a>,
    /// What `--rate` says.
    rate: Option<f64>,
    block: usize,
    shell: &'b mut dyn Shell,
    begun: Option<Begun>,
}

impl Take for Hearing<'_, '_> {
    fn begin(&mut self, own: Option<f64>, announced: Option<u64>) -> Result<()> {
        let (rate, from) = rates(self.asked.path, own, self.rate)?;
        let mut begun = Begun::new(self.asked.typed, rate, self.block, self.shell)?;
        begun.announced = announced;
        if let Some(from) = from {
            self.shell.note(&resampled_note(from, rate));
            begun.resampling = Some(Resampling::new(Resampler::new(from, rate)?));
        }
        self.begun = Some(begun);
        Ok(())
    }

    fn take(&mut self, samples: &Array) -> Result<()> {
        match &mut self.begun {
            Some(begun) => begun.take(samples, self.shell),
            None => Err(Error::new(ErrorKind::Internal, "samples before their rate")),
        }
    }
}

/// A signal whose rules are known.
struct Begun {
    rules: Rules,
    sample_scale: Option<&'static str>,
    resampling: Option<Resampling>,
    /// The values of a call for a piece, the samples first.
    values: Vec<Value>,
    state: Option<Value>,
    bands: Bands,
    /// Samples of the file, as it says; how many came; and how many they are at the new rate.
    announced: Option<u64>,
    heard: u64,
    n: usize,
    farthest: f32,
    oddities: Oddities,
}

impl Begun {
    fn new(typed: &[Given], rate: f64, block: usize, shell: &mut dyn Shell) -> Result<Begun> {
        let nothing = Value::Array(Array::empty(ElementType::F32));
        let of_file = [(AUDIO.parameter, nothing), (RATE.name, Value::Number(Number::F64(rate)))];
        let mut a = Named::of_values(&SPECTROGRAM, &arguments(&SPECTROGRAM, &of_file, typed)?)?;
        let rules = Rules::read(&mut a)?;
        if a.array("lengths")?.is_some() {
            let text = "lengths are those of a batch, and sound in pieces is one signal";
            return Err(Error::new(ErrorKind::Argument, text).hint("leave lengths out"));
        }
        let (element_type, sample_scale) = (result_type(&mut a)?, a.choice("sample-scale")?);
        // Samples are scaled here, before they are checked.
        let of_each: Vec<Given> =
            typed.iter().filter(|(name, _)| *name != "sample-scale").cloned().collect();
        Ok(Begun {
            rules,
            sample_scale,
            resampling: None,
            values: arguments(EACH, &of_file, &of_each)?,
            state: None,
            bands: Bands::new(shell.scratch()?, rules, element_type, block),
            announced: None,
            heard: 0,
            n: 0,
            farthest: 0.0,
            oddities: Oddities::default(),
        })
    }

    /// A piece as the file has it.
    fn take(&mut self, samples: &Array, shell: &mut dyn Shell) -> Result<()> {
        self.heard += samples.size() as u64;
        match &mut self.resampling {
            None => self.feed(samples, shell)?,
            Some(resampling) => {
                let new = resampling.feed(samples.as_slice::<f32>().unwrap_or_default())?;
                self.feed(&Array::vector(&new)?, shell)?;
            }
        }
        if let Some(announced) = self.announced {
            shell.progress(SPECTROGRAM.name(), self.heard as f64 / announced.max(1) as f64);
        }
        Ok(())
    }

    /// Samples at the rate that they are to have.
    fn feed(&mut self, samples: &Array, shell: &mut dyn Shell) -> Result<()> {
        self.oddities.hear(samples.as_slice::<f32>().unwrap_or_default());
        let samples = signals::scaled(samples, self.sample_scale)?;
        let numbers = samples.as_slice::<f32>().unwrap_or_default();
        if let Some(at) = frames::first_wrong(numbers) {
            let got = format!("{} at {}, the first", numbers[at], self.n + at);
            return Err(frames::not_finite(got));
        }
        self.farthest = self.farthest.max(signals::farthest(numbers));
        self.n += numbers.len();
        signals::filled_length(&self.rules, self.n)?;
        self.call(samples, false, shell)
    }

    fn call(&mut self, samples: Array, is_last: bool, shell: &mut dyn Shell) -> Result<()> {
        let mut values = self.values.clone();
        values[0] = Value::Array(samples);
        if let Some(state) = self.state.take() {
            values.extend([Value::Keyword("state".into()), state]);
        }
        values.extend([Value::Keyword("last".into()), Value::flag(is_last)]);
        let results = shell.call(EACH, values)?;
        let [Value::Array(rows), state, Value::Number(largest), ..] = &results[..] else {
            return Err(Error::new(ErrorKind::Internal, "a stream of other results"));
        };
        rows.home()?;
        self.bands.push(rows.as_slice::<f32>().unwrap_or_default())?;
        self.bands.largest = largest.to_f64() as f32;
        self.state = Some(state.clone());
        Ok(())
    }

    /// The sound has ended: what stands behind it, and the frames that see its end.
    fn finish(mut self, piece: usize, shell: &mut dyn Shell) -> Result<Bands> {
        if let Some(mut resampling) = self.resampling.take() {
            self.feed(&Array::vector(&resampling.finish()?)?, shell)?;
        }
        let mut zeros = signals::filled_length(&self.rules, self.n)? - self.n;
        frames::check_length(&self.rules.preset, self.n + zeros)?;
        let frames = signals::count(&self.rules, self.n);
        self.bands.end_at(frames);
        while zeros > 0 {
            let count = zeros.min(piece);
            let silence = Array::build::<f32>(Shape::vector(count), |out| out.fill(0.0))?;
            self.call(silence, false, shell)?;
            zeros -= count;
        }
        self.call(Array::empty(ElementType::F32), true, shell)?;
        self.bands.end()?;
        let remarks = signals::remarks(&self.rules, self.n, frames, self.farthest);
        remarks.iter().for_each(|note| shell.note(note));
        self.oddities.said().iter().for_each(|detail| shell.detail(detail));
        Ok(self.bands)
    }
}

#[cfg(test)]
mod tests;
