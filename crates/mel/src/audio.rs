//! Sound in files: WAV by a reader of our own (`wav`), FLAC, MP3 and Ogg Vorbis by a kept decoder
//! (`coded`), `.npy`, and bytes without a header (`raw`).
//!
//! What a file says is checked against what it holds before memory is asked for: a file of any bytes
//! gives samples or an error that names the file and, where one can be named, the byte.

mod coded;
mod pcm;
mod wav;

use rung_array::Array;
use rung_base::{Element, ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_files::npy;
use rung_ops::solver::ending;
use std::path::Path;

/// What can be read, by how the name ends; with `raw` any name.
pub const READ: &[&str] = &[".wav", ".flac", ".mp3", ".ogg", ".oga", ".npy", ".raw"];

/// The most channels that are read: more is a mistake in a header rather than sound.
pub const MOST_CHANNELS: usize = 256;

/// Samples of all channels that are read at most, 4 GiB of them: a decoder makes thousands of samples of
/// a byte.
const MOST_SAMPLES: usize = 1 << 30;

/// Which channels become signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Their mean.
    Mix,
    /// One, counted from 0.
    One(usize),
    All,
}

/// How a file is read.
#[derive(Clone, Debug)]
pub struct Options {
    pub channel: Channel,
    /// What bytes without a header are: `s16le:16000:1`.
    pub raw: Option<String>,
    /// A file that ends before its header says is read up to its end.
    pub lenient: bool,
}

/// What a file held.
#[derive(Debug)]
pub struct Sound {
    /// Samples a second; none of a `.npy`.
    pub rate: Option<f64>,
    /// (n), or (channels n) where all were asked for.
    pub samples: Array,
    /// What is worth a note.
    pub notes: Vec<String>,
}

/// Reads sound of any format that is known by its name's ending.
///
/// # Errors
/// An unknown ending; a file that cannot be read, or whose bytes are not what its format says; a channel
/// that is not there.
pub fn read(path: &Path, options: &Options) -> Result<Sound> {
    if let Some(raw) = &options.raw {
        return pcm::read(path, raw, options);
    }
    match ending(path, READ) {
        Some(".wav") => wav::read(path, options),
        Some(".npy") => of_array(path, options),
        Some(".raw") => {
            let text =
                format!("{}: a file without a header does not say what it holds", path.display());
            Err(Error::new(ErrorKind::Argument, text)
                .hint("raw s16le:16000:1 says it, for example"))
        }
        Some(_) => coded::read(path, options),
        None => {
            let text =
                format!("{}: sound's name ends with one of {}", path.display(), READ.join(" "));
            Err(Error::new(ErrorKind::Argument, text).hint("ffmpeg, say, writes .wav of others"))
        }
    }
}

/// Where decoded frames go: one signal, or one for each channel.
struct Sink<'a> {
    path: &'a Path,
    channel: Channel,
    /// Of the file.
    channels: usize,
    signals: Vec<Vec<f32>>,
}

impl<'a> Sink<'a> {
    /// # Errors
    /// No channel, too many, or not the one that is asked for.
    fn new(path: &'a Path, channel: Channel, channels: usize) -> Result<Sink<'a>> {
        if channels == 0 || channels > MOST_CHANNELS {
            let text = format!("sound has 1 to {MOST_CHANNELS} channels: got {channels}");
            return Err(Error::in_data_file(path, None, text));
        }
        if let Channel::One(at) = channel
            && at >= channels
        {
            let text = format!("{}: channel must be below {channels}", path.display());
            return Err(Error::wanted(ErrorKind::Argument, text, at));
        }
        let count = if channel == Channel::All { channels } else { 1 };
        Ok(Sink { path, channel, channels, signals: vec![Vec::new(); count] })
    }

    /// Room for so many frames.
    fn reserve(&mut self, frames: usize) -> Result<()> {
        let held: usize = self.signals.iter().map(Vec::len).sum();
        let more = frames.saturating_mul(self.signals.len());
        let what = || format!("the samples of {}", self.path.display());
        if held.saturating_add(more) > MOST_SAMPLES {
            let text =
                format!("{}: more than {MOST_SAMPLES} samples are not read", self.path.display());
            return Err(Error::new(ErrorKind::Memory, text).hint("cut the file into parts"));
        }
        let reserve = |signal: &mut Vec<f32>| {
            signal
                .try_reserve(frames)
                .map_err(|_| memory::lack(memory::bytes_of::<f32>(more), what()))
        };
        self.signals.iter_mut().try_for_each(reserve)
    }

    /// Whole frames, the channels of each side by side.
    fn take(&mut self, interleaved: &[f32]) -> Result<()> {
        self.reserve(interleaved.len() / self.channels)?;
        let frames = interleaved.chunks_exact(self.channels);
        match self.channel {
            Channel::Mix => {
                let mean = |frame: &[f32]| {
                    let sum: f64 = frame.iter().map(|&x| f64::from(x)).sum();
                    (sum / self.channels as f64) as f32
                };
                self.signals[0].extend(frames.map(mean));
            }
            Channel::One(at) => self.signals[0].extend(frames.map(|frame| frame[at])),
            Channel::All => {
                for frame in frames {
                    self.signals.iter_mut().zip(frame).for_each(|(signal, &x)| signal.push(x));
                }
            }
        }
        Ok(())
    }

    fn finish(self, rate: Option<f64>, mut notes: Vec<String>) -> Result<Sound> {
        if self.channel == Channel::Mix && self.channels > 1 {
            notes.push(format!("{} channels are mixed; channel chooses one", self.channels));
        }
        let samples = match (&self.signals[..], self.channel) {
            ([signal], Channel::Mix | Channel::One(_)) => Array::vector(signal)?,
            (signals, _) => {
                let frames = signals.first().map_or(0, Vec::len);
                Array::build::<f32>(Shape::new([signals.len(), frames])?, |out| {
                    let rows = out.chunks_exact_mut(frames.max(1)).zip(signals);
                    rows.for_each(|(out, signal)| out.copy_from_slice(signal));
                })?
            }
        };
        Ok(Sound { rate, samples, notes })
    }
}

/// # Errors
/// A rate that is none.
fn checked_rate(path: &Path, offset: Option<u64>, rate: u32) -> Result<f64> {
    match rate {
        0 => Err(Error::in_data_file(path, offset, "the rate must be above 0 Hz: got 0")),
        rate => Ok(f64::from(rate)),
    }
}

/// A `.npy` of (n) or (channels n).
fn of_array(path: &Path, options: &Options) -> Result<Sound> {
    let array = npy::read(path)?;
    match array.shape()[..] {
        [_] => Ok(Sound { rate: None, samples: array, notes: Vec::new() }),
        [channels, _] => {
            let t = array.element_type();
            if options.channel == Channel::All {
                return Ok(Sound { rate: None, samples: array, notes: Vec::new() });
            }
            if !t.is_float() && options.channel == Channel::Mix && channels > 1 {
                let text = format!("{}: {channels} channels of {t} are not mixed", path.display());
                let hint = "channel takes one of them, or all";
                return Err(Error::new(ErrorKind::Argument, text).hint(hint));
            }
            if !t.is_float() {
                return one_row(path, &array, options.channel);
            }
            let mut sink = Sink::new(path, options.channel, channels)?;
            let all = array.convert(ElementType::F32)?.transpose(&[1, 0])?.to_contiguous()?;
            sink.take(all.as_slice::<f32>().unwrap_or_default())?;
            sink.finish(None, Vec::new())
        }
        _ => {
            let text = format!("sound has shape (n) or (channels n): got {}", array.shape());
            Err(Error::in_data_file(path, None, text))
        }
    }
}

/// One channel of integers, as they are.
fn one_row(path: &Path, array: &Array, channel: Channel) -> Result<Sound> {
    Sink::new(path, channel, array.shape()[0])?;
    let at = if let Channel::One(at) = channel { at } else { 0 };
    let samples = rung_base::with_element!(array.element_type(), T => {
        row::<T>(array, at)
    })?;
    Ok(Sound { rate: None, samples, notes: Vec::new() })
}

fn row<T: Element>(array: &Array, at: usize) -> Result<Array> {
    let n = array.shape()[1];
    let packed = array.to_contiguous()?;
    let all = packed.as_slice::<T>().unwrap_or_default();
    Array::vector(&all[at * n..(at + 1) * n])
}
