//! Sound in files: WAV by a reader of our own (`wav`), FLAC, MP3 and Ogg Vorbis by a kept decoder
//! (`coded`), `.npy`, and bytes without a header (`raw`).
//!
//! What a file says is checked against what it holds before memory is asked for: a file of any bytes
//! gives samples or an error that names the file and, where one can be named, the byte. Every decoder
//! pushes frames into a sink, which keeps them (`read`) or hands them on (`read_in_pieces`).

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

/// What takes sound piece by piece, as it is read.
pub trait Take {
    /// Comes first: the rate, none of a `.npy`, and how many samples the file says that it has.
    ///
    /// # Errors
    /// The reading ends with them.
    fn begin(&mut self, rate: Option<f64>, announced: Option<u64>) -> Result<()>;

    /// The next samples, (n): single-floats, of a `.npy` what it holds.
    ///
    /// # Errors
    /// The reading ends with them.
    fn take(&mut self, samples: &Array) -> Result<()>;
}

/// Reads sound of any format that is known by its name's ending.
///
/// # Errors
/// An unknown ending; a file that cannot be read, or whose bytes are not what its format says; a channel
/// that is not there.
pub fn read(path: &Path, options: &Options) -> Result<Sound> {
    if is_array(path, options) {
        return of_array(path, npy::read(path)?, options.channel);
    }
    let mut sink = Sink::new(path, options.channel, None);
    let notes = decode(path, options, &mut sink)?;
    sink.whole(notes)
}

/// Reads the same in pieces of so many samples, the last as it comes: no more than one of them is held,
/// so that a file may be of any length. Gives the notes.
///
/// # Errors
/// As `read`; all channels, each for itself; those of `to`.
pub fn read_in_pieces(
    path: &Path,
    options: &Options,
    piece: usize,
    to: &mut dyn Take,
) -> Result<Vec<String>> {
    if options.channel == Channel::All {
        let text = "sound in pieces is one signal: channel all takes the whole file";
        let error = Error::new(ErrorKind::Argument, text);
        return Err(error.hint("channel takes one of them, or their mean"));
    }
    if is_array(path, options) {
        return array_in_pieces(path, options.channel, piece, to);
    }
    let mut sink = Sink::new(path, options.channel, Some((piece, to)));
    let mut notes = decode(path, options, &mut sink)?;
    sink.hand_on(true)?;
    notes.extend(sink.mixed());
    Ok(notes)
}

fn is_array(path: &Path, options: &Options) -> bool {
    options.raw.is_none() && ending(path, READ) == Some(".npy")
}

/// Everything but arrays; gives what is worth a note.
fn decode(path: &Path, options: &Options, sink: &mut Sink) -> Result<Vec<String>> {
    if let Some(raw) = &options.raw {
        return pcm::read(path, raw, options, sink);
    }
    match ending(path, READ) {
        Some(".wav") => wav::read(path, options, sink),
        Some(".raw") => {
            let text =
                format!("{}: a file without a header does not say what it holds", path.display());
            Err(Error::new(ErrorKind::Argument, text)
                .hint("raw s16le:16000:1 says it, for example"))
        }
        Some(_) => coded::read(path, options, sink),
        None => {
            let text =
                format!("{}: sound's name ends with one of {}", path.display(), READ.join(" "));
            Err(Error::new(ErrorKind::Argument, text).hint("ffmpeg, say, writes .wav of others"))
        }
    }
}

/// Where decoded frames go: one signal, or one for each channel, kept or handed on in pieces.
struct Sink<'a> {
    path: &'a Path,
    channel: Channel,
    /// Of the file; 0 before they are known.
    channels: usize,
    rate: Option<f64>,
    /// How many came.
    frames: u64,
    signals: Vec<Vec<f32>>,
    /// How long the pieces are, and who takes them; none: all is kept.
    to: Option<(usize, &'a mut dyn Take)>,
}

impl<'a> Sink<'a> {
    fn new(path: &'a Path, channel: Channel, to: Option<(usize, &'a mut dyn Take)>) -> Sink<'a> {
        Sink { path, channel, channels: 0, rate: None, frames: 0, signals: Vec::new(), to }
    }

    /// What the file says of itself; comes before any frame.
    ///
    /// # Errors
    /// No channel, too many, or not the one that is asked for.
    fn begin(&mut self, channels: usize, rate: Option<f64>, announced: Option<u64>) -> Result<()> {
        if channels == 0 || channels > MOST_CHANNELS {
            let text = format!("sound has 1 to {MOST_CHANNELS} channels: got {channels}");
            return Err(Error::in_data_file(self.path, None, text));
        }
        if let Channel::One(at) = self.channel
            && at >= channels
        {
            let text = format!("{}: channel must be below {channels}", self.path.display());
            return Err(Error::wanted(ErrorKind::Argument, text, at));
        }
        let count = if self.channel == Channel::All { channels } else { 1 };
        (self.channels, self.rate, self.signals) = (channels, rate, vec![Vec::new(); count]);
        match &mut self.to {
            Some((_, to)) => to.begin(rate, announced),
            None => Ok(()),
        }
    }

    /// So many frames are in the file for certain: room for all where all are kept.
    fn expect(&mut self, frames: u64) -> Result<()> {
        match self.to {
            Some(_) => Ok(()),
            None => self.reserve(usize::try_from(frames).unwrap_or(usize::MAX)),
        }
    }

    /// Room for so many frames.
    fn reserve(&mut self, frames: usize) -> Result<()> {
        let held: usize = self.signals.iter().map(Vec::len).sum();
        let more = frames.saturating_mul(self.signals.len());
        let what = || format!("the samples of {}", self.path.display());
        if held.saturating_add(more) > MOST_SAMPLES {
            let text = format!(
                "{}: more than {MOST_SAMPLES} samples are not read at once",
                self.path.display()
            );
            let hint = "a shell reads it in pieces with --stream; or cut the file into parts";
            return Err(Error::new(ErrorKind::Memory, text).hint(hint));
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
        let count = interleaved.len() / self.channels;
        self.reserve(count)?;
        self.frames += count as u64;
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
        self.hand_on(false)
    }

    /// Pieces go to who takes them: whole ones, at the end the rest.
    fn hand_on(&mut self, is_end: bool) -> Result<()> {
        let (Some((piece, to)), Some(held)) = (&mut self.to, self.signals.first_mut()) else {
            return Ok(());
        };
        let ready = if is_end { held.len() } else { held.len() / *piece * *piece };
        for samples in held[..ready].chunks(*piece) {
            to.take(&Array::vector(samples)?)?;
        }
        held.drain(..ready);
        Ok(())
    }

    fn mixed(&self) -> Option<String> {
        let text = || format!("{} channels are mixed; channel chooses one", self.channels);
        (self.channel == Channel::Mix && self.channels > 1).then(text)
    }

    fn whole(self, mut notes: Vec<String>) -> Result<Sound> {
        notes.extend(self.mixed());
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
        Ok(Sound { rate: self.rate, samples, notes })
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

/// An array of (n) or (channels n), of the file or of a part of it.
fn of_array(path: &Path, array: Array, channel: Channel) -> Result<Sound> {
    match array.shape()[..] {
        [_] => Ok(Sound { rate: None, samples: array, notes: Vec::new() }),
        [channels, _] => {
            let t = array.element_type();
            if channel == Channel::All {
                return Ok(Sound { rate: None, samples: array, notes: Vec::new() });
            }
            if !t.is_float() && channel == Channel::Mix && channels > 1 {
                let text = format!("{}: {channels} channels of {t} are not mixed", path.display());
                let hint = "channel takes one of them, or all";
                return Err(Error::new(ErrorKind::Argument, text).hint(hint));
            }
            let mut sink = Sink::new(path, channel, None);
            sink.begin(channels, None, None)?;
            if !t.is_float() {
                return one_row(&array, channel);
            }
            let all = array.convert(ElementType::F32)?.transpose(&[1, 0])?.to_contiguous()?;
            sink.take(all.as_slice::<f32>().unwrap_or_default())?;
            sink.whole(Vec::new())
        }
        _ => Err(no_sound(path, array.shape())),
    }
}

fn no_sound(path: &Path, shape: &Shape) -> Error {
    let text = format!("sound has shape (n) or (channels n): got {shape}");
    Error::in_data_file(path, None, text)
}

/// The same of a file's parts.
fn array_in_pieces(
    path: &Path,
    channel: Channel,
    piece: usize,
    to: &mut dyn Take,
) -> Result<Vec<String>> {
    let mut parts = npy::Parts::open(path)?;
    let (channels, n) = match parts.shape()[..] {
        [n] => (1, n),
        [channels, n] => (channels, n),
        _ => return Err(no_sound(path, parts.shape())),
    };
    // As many numbers as of one channel, whatever their number.
    let length = (piece / channels.max(1)).max(1);
    to.begin(None, Some(n as u64))?;
    let mut from = 0;
    loop {
        let count = length.min(n - from);
        let Sound { samples, notes, .. } = of_array(path, parts.columns(from, count)?, channel)?;
        to.take(&samples)?;
        from += count;
        if from == n {
            return Ok(notes);
        }
    }
}

/// One channel of integers, as they are.
fn one_row(array: &Array, channel: Channel) -> Result<Sound> {
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
