//! RIFF WAVE and RF64: chunks are skipped until the format and the data are found. Our own reader, since
//! headers lie: a data size of 0 or 0xFFFFFFFF means up to the end, others must not be larger than the
//! file, and each mistake is named with its byte.

use super::pcm::{self, Stored};
use super::{Options, Sink, checked_rate};
use rung_base::Result;
use rung_files::input::Input;
use std::path::Path;

/// Sizes that mean "up to the end": writers that could not go back leave them.
const OPEN_ENDS: [u32; 2] = [0, u32::MAX];

/// Bytes of a format chunk that are looked at.
const FORMAT_BYTES: u64 = 40;

struct Format {
    stored: Stored,
    channels: usize,
    rate: f64,
}

pub fn read(path: &Path, options: &Options, sink: &mut Sink) -> Result<Vec<String>> {
    let mut input = Input::open(path)?;
    let is_long = is_long(&mut input)?;
    let mut format = None;
    // The size that RF64 says apart.
    let mut long_size = None;
    loop {
        let at = input.position();
        if input.length - at < 8 {
            let missing = if format.is_some() { "data" } else { "fmt" };
            return Err(input.wrong(at, format!("the file ends before its {missing} chunk")));
        }
        let chunk = input.bytes(8, "a chunk's header")?;
        let size = u32::from_le_bytes([chunk[4], chunk[5], chunk[6], chunk[7]]);
        if &chunk[..4] != b"data" {
            fits(&input, at, size)?;
        }
        match &chunk[..4] {
            b"fmt " => {
                format = Some(read_format(&mut input, size)?);
                skip(&mut input, at, size)?;
            }
            b"ds64" if is_long => {
                let sizes = input.bytes(16, "the ds64 chunk")?;
                let bytes: [u8; 8] = sizes[8..].try_into().unwrap_or_default();
                long_size = Some(u64::from_le_bytes(bytes));
                skip(&mut input, at, size)?;
            }
            b"data" => {
                let Some(format) = format else {
                    return Err(input.wrong(at, "the data come before any fmt chunk"));
                };
                return data(&mut input, &format, (size, long_size), options, sink);
            }
            _ => skip(&mut input, at, size)?,
        }
    }
}

/// Whether it is RF64.
///
/// # Errors
/// No WAV file.
fn is_long(input: &mut Input) -> Result<bool> {
    let head = input.bytes(12, "the header")?;
    match (&head[..4], &head[8..]) {
        (b"RIFX", _) => Err(input.wrong(0, "big-endian WAV (RIFX) is not read")),
        (riff @ (b"RIFF" | b"RF64"), b"WAVE") => Ok(riff == b"RF64"),
        _ => Err(input.wrong(0, "expected a WAV file: it does not begin with RIFF and WAVE")),
    }
}

/// # Errors
/// A chunk that is longer than the file.
fn fits(input: &Input, at: u64, size: u32) -> Result<()> {
    let left = input.length - at - 8;
    match u64::from(size) <= left {
        true => Ok(()),
        false => {
            let text = format!("a chunk of {size} bytes: the file has {left} left");
            Err(input.wrong(at + 4, text))
        }
    }
}

/// To the end of the chunk that begins at a byte; chunks begin at even ones.
fn skip(input: &mut Input, at: u64, size: u32) -> Result<()> {
    let end = at + 8 + u64::from(size) + u64::from(size % 2);
    input.seek(end.min(input.length))
}

fn read_format(input: &mut Input, size: u32) -> Result<Format> {
    let at = input.position();
    if size < 16 {
        return Err(input.wrong(at - 4, format!("a fmt chunk has 16 bytes or more: got {size}")));
    }
    let b = input.bytes(u64::from(size).min(FORMAT_BYTES), "the fmt chunk")?;
    let short = |i: usize| u16::from_le_bytes([b[i], b[i + 1]]);
    let (tag, channels, bits) = (short(0), usize::from(short(2)), short(14));
    let rate = u32::from_le_bytes([b[4], b[5], b[6], b[7]]);
    // WAVE_FORMAT_EXTENSIBLE has its codec behind the rest.
    let codec = match tag {
        0xFFFE if b.len() >= 26 => short(24),
        tag => tag,
    };
    let stored = stored(input, at, codec, bits)?;
    if channels == 0 {
        return Err(input.wrong(at + 2, "sound has 1 channel or more: got 0"));
    }
    let (block, wanted) = (usize::from(short(12)), channels * stored.bytes());
    if block != wanted {
        let text = format!("{channels} channels of {bits} bits take {wanted} bytes: got {block}");
        return Err(input.wrong(at + 12, text));
    }
    let rate = checked_rate(&input.path, Some(at + 4), rate)?;
    Ok(Format { stored, channels, rate })
}

/// How samples are stored, of a format chunk that begins at a byte.
fn stored(input: &Input, at: u64, codec: u16, bits: u16) -> Result<Stored> {
    match (codec, bits) {
        (1, 8) => Ok(Stored::U8),
        (1, 16) => Ok(Stored::S16),
        (1, 24) => Ok(Stored::S24),
        (1, 32) => Ok(Stored::S32),
        (3, 32) => Ok(Stored::F32),
        (3, 64) => Ok(Stored::F64),
        (1 | 3, bits) => {
            let text = format!(
                "samples are integers of 8, 16, 24, 32 bits or floats of 32, 64: got {bits} bits of \
                 codec {codec}"
            );
            Err(input.wrong(at + 14, text))
        }
        (codec, _) => {
            let text = format!("codec {codec:#06x} is not read");
            let error = input.wrong(at, text);
            Err(error.hint("PCM is: ffmpeg -i OLD -c:a pcm_s16le NEW.wav"))
        }
    }
}

/// The data, which begin here.
fn data(
    input: &mut Input,
    format: &Format,
    (size, long_size): (u32, Option<u64>),
    options: &Options,
    sink: &mut Sink,
) -> Result<Vec<String>> {
    let (at, mut notes) = (input.position(), Vec::new());
    let left = input.length - at;
    let said = match long_size {
        Some(size) => size,
        None if OPEN_ENDS.contains(&size) => left,
        None => u64::from(size),
    };
    if said > left && !options.lenient {
        let text = format!("the data have {said} bytes: the file has {left} left");
        return Err(input.wrong(at - 4, text).hint("lenient reads what is there"));
    }
    let frame = (format.channels * format.stored.bytes()) as u64;
    let there = said.min(left);
    let (whole, rest) = (there / frame * frame, there % frame);
    if said > left {
        notes.push(format!("the data have {said} bytes: {left} are there"));
    } else if rest > 0 && !options.lenient && said == u64::from(size) {
        let text = format!("{said} bytes of data are no whole frames of {frame}");
        return Err(input.wrong(at - 4, text).hint("lenient leaves the rest out"));
    }
    if rest > 0 {
        notes.push(format!("left out: {rest} bytes behind the last whole frame"));
    }
    sink.begin(format.channels, Some(format.rate), Some(whole / frame))?;
    sink.expect(whole / frame)?;
    pcm::decode(input, sink, format.stored, whole)?;
    Ok(notes)
}
