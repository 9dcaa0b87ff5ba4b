//! FLAC, MP3 and Ogg Vorbis by the kept decoder.

use super::{Options, Sink, checked_rate};
use rung_base::{Error, Result};
use rung_files::input::Input;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use symphonia::core::audio::SampleBuffer;
use symphonia::core::codecs::{
    CODEC_TYPE_FLAC, CODEC_TYPE_MP3, CODEC_TYPE_NULL, CODEC_TYPE_VORBIS, CodecParameters, Decoder,
    DecoderOptions,
};
use symphonia::core::errors::Error as Failure;
use symphonia::core::formats::{FormatOptions, FormatReader};
use symphonia::core::io::MediaSourceStream;
use symphonia::core::meta::MetadataOptions;
use symphonia::core::probe::Hint;

pub fn read(path: &Path, options: &Options, sink: &mut Sink) -> Result<Vec<String>> {
    // It is a regular file.
    Input::open(path)?;
    let file = File::open(path).map_err(|e| Error::cannot("read", path, e))?;
    let source = MediaSourceStream::new(Box::new(file), Default::default());
    let mut hint = Hint::new();
    if let Some(ending) = path.extension().and_then(|ending| ending.to_str()) {
        hint.with_extension(ending);
    }
    let (format, metadata) = (FormatOptions::default(), MetadataOptions::default());
    let probe = || symphonia::default::get_probe().format(&hint, source, &format, &metadata);
    let probed = unharmed(path, probe)?;
    let reader = probed.map_err(|e| failed(path, &e))?.format;
    let known =
        |track: &&symphonia::core::formats::Track| track.codec_params.codec != CODEC_TYPE_NULL;
    let Some(track) = reader.tracks().iter().find(known) else {
        return Err(Error::in_data_file(path, None, "it holds no sound that is read"));
    };
    let (id, about) = (track.id, track.codec_params.clone());
    let make = || symphonia::default::get_codecs().make(&about, &DecoderOptions::default());
    let decoder = unharmed(path, make)?;
    let decoder = decoder.map_err(|e| failed(path, &e))?;
    let mut decoding = Decoding { path, reader, decoder, track: id, announced: about.n_frames };
    decoding.run(options, sink)?;
    Ok(is_whole(path, &about, sink.frames, options)?.into_iter().collect())
}

/// What the decoder gives. Bytes that no encoder writes make some of its steps panic, as codebooks of Vorbis
/// whose sizes overflow do: to us they are one more broken file. Nothing of the decoder is used after it.
fn unharmed<R>(path: &Path, step: impl FnOnce() -> R) -> Result<R> {
    catch_unwind(AssertUnwindSafe(step))
        .map_err(|_| Error::in_data_file(path, None, "its numbers contradict each other"))
}

struct Decoding<'a> {
    path: &'a Path,
    reader: Box<dyn FormatReader>,
    decoder: Box<dyn Decoder>,
    track: u32,
    announced: Option<u64>,
}

impl Decoding<'_> {
    /// All packets.
    fn run(&mut self, options: &Options, sink: &mut Sink) -> Result<()> {
        let mut samples: Option<SampleBuffer<f32>> = None;
        while let Some(packet) = self.packet()? {
            let decoded = match unharmed(self.path, || self.decoder.decode(&packet))? {
                Ok(decoded) => decoded,
                Err(Failure::IoError(e)) if e.kind() == io::ErrorKind::UnexpectedEof => break,
                // A packet that is broken is left out by players; nothing is here unless asked for.
                Err(Failure::DecodeError(_)) if options.lenient => continue,
                Err(e) => return Err(failed(self.path, &e)),
            };
            let spec = *decoded.spec();
            let (channels, frames) = (spec.channels.count(), decoded.frames());
            let rate = Some(checked_rate(self.path, None, spec.rate)?);
            if sink.channels == 0 {
                sink.begin(channels, rate, self.announced)?;
            }
            if sink.channels != channels || sink.rate != rate {
                let text = format!("{channels} channels at {} Hz follow others", spec.rate);
                return Err(Error::in_data_file(self.path, None, text));
            }
            let enough = samples.as_ref().is_some_and(|s| s.capacity() >= frames * channels);
            if !enough {
                samples = Some(SampleBuffer::new(decoded.capacity() as u64, spec));
            }
            if let Some(samples) = &mut samples {
                samples.copy_interleaved_ref(decoded);
                sink.take(samples.samples())?;
            }
        }
        match sink.channels {
            0 => Err(Error::in_data_file(self.path, None, "it holds no sound that can be decoded")),
            _ => Ok(()),
        }
    }

    /// The next packet of the track.
    fn packet(&mut self) -> Result<Option<symphonia::core::formats::Packet>> {
        loop {
            match unharmed(self.path, || self.reader.next_packet())? {
                Ok(packet) if packet.track_id() == self.track => return Ok(Some(packet)),
                Ok(_) => {}
                Err(Failure::IoError(e)) if e.kind() == io::ErrorKind::UnexpectedEof => {
                    return Ok(None);
                }
                Err(e) => return Err(failed(self.path, &e)),
            }
        }
    }
}

/// A note where the file ends before it says.
///
/// # Errors
/// The same, unless it is allowed.
fn is_whole(
    path: &Path,
    about: &CodecParameters,
    frames: u64,
    options: &Options,
) -> Result<Option<String>> {
    let said = about.n_frames.unwrap_or(0);
    let short = format!("{said} samples are announced, {frames} are there");
    let (text, is_allowed) = match about.codec {
        CODEC_TYPE_FLAC if frames < said => (short, false),
        // Without such a header the count is a guess by the size of the file. Some encoders count the
        // frame of the header itself.
        CODEC_TYPE_MP3 if frames < said && about.delay.is_some() => {
            (short, said - frames <= samples_of_frame(about))
        }
        CODEC_TYPE_VORBIS if !has_last_page(path)? => {
            ("the file ends before its last page".into(), false)
        }
        _ => return Ok(None),
    };
    if options.lenient || is_allowed {
        return Ok(Some(text));
    }
    let error = Error::in_data_file(path, None, text);
    Err(error.hint("lenient reads what is there"))
}

/// Samples of a frame of MP3: fewer at the low rates of MPEG-2.
fn samples_of_frame(about: &CodecParameters) -> u64 {
    if about.sample_rate.is_some_and(|rate| rate < 32_000) { 576 } else { 1152 }
}

/// The largest page of Ogg: a header, 255 lengths and as many times 255 bytes.
const LARGEST_PAGE: u64 = 27 + 255 + 255 * 255;

/// Whether the last page of an Ogg file is whole, and said to be the last (RFC 3533: the third bit of the
/// sixth byte).
fn has_last_page(path: &Path) -> Result<bool> {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.seek(SeekFrom::End(0))?;
        file.seek(SeekFrom::Start(length.saturating_sub(LARGEST_PAGE)))?;
        let mut tail = Vec::new();
        file.read_to_end(&mut tail).map(|_| tail)
    };
    let tail = read().map_err(|e| Error::cannot("read", path, e))?;
    let last =
        tail.windows(5).rposition(|bytes| bytes == b"OggS\0").map_or(&tail[..0], |at| &tail[at..]);
    let Some((header, rest)) = last.split_at_checked(27) else { return Ok(false) };
    let Some((lengths, data)) = rest.split_at_checked(header[26].into()) else { return Ok(false) };
    let length: usize = lengths.iter().map(|&length| usize::from(length)).sum();
    Ok(header[5] & 4 != 0 && data.len() >= length)
}

fn failed(path: &Path, e: &Failure) -> Error {
    match e {
        Failure::IoError(e) if e.kind() != io::ErrorKind::UnexpectedEof => {
            Error::cannot("read", path, e)
        }
        Failure::IoError(_) => Error::in_data_file(path, None, "the file ends too early"),
        Failure::Unsupported(what) => {
            Error::in_data_file(path, None, format!("{what}: not read")).hint("as .wav it would be")
        }
        e => Error::in_data_file(path, None, e.to_string()),
    }
}
