//! Samples as bytes: integers and floats of every width, and files that hold nothing else.

use super::{Options, Sink, checked_rate};
use rung_base::{Error, ErrorKind, Result};
use rung_files::input::Input;
use std::io::Read;
use std::path::Path;

/// Bytes that are decoded at a time, cut to whole frames.
const PIECE: usize = 1 << 16;

/// How one sample is stored; integers are divided by 2^(bits - 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stored {
    /// From 0 to 255, silence at 128.
    U8,
    S16,
    S24,
    S32,
    F32,
    F64,
}

/// By the names that `raw` takes; all little-endian.
const NAMES: &[(&str, Stored)] = &[
    ("u8", Stored::U8),
    ("s16le", Stored::S16),
    ("s24le", Stored::S24),
    ("s32le", Stored::S32),
    ("f32le", Stored::F32),
    ("f64le", Stored::F64),
];

impl Stored {
    pub fn bytes(self) -> usize {
        match self {
            Stored::U8 => 1,
            Stored::S16 => 2,
            Stored::S24 => 3,
            Stored::S32 | Stored::F32 => 4,
            Stored::F64 => 8,
        }
    }

    /// One sample, rounded once.
    fn read(self, b: &[u8]) -> f32 {
        match (self, b) {
            (Stored::U8, &[a]) => (f32::from(a) - 128.0) / 128.0,
            (Stored::S16, &[a, b]) => f32::from(i16::from_le_bytes([a, b])) / 32_768.0,
            (Stored::S24, &[a, b, c]) => {
                (i32::from_le_bytes([0, a, b, c]) >> 8) as f32 / 8_388_608.0
            }
            (Stored::S32, &[a, b, c, d]) => {
                (f64::from(i32::from_le_bytes([a, b, c, d])) / 2_147_483_648.0) as f32
            }
            (Stored::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            (Stored::F64, &[a, b, c, d, e, f, g, h]) => {
                f64::from_le_bytes([a, b, c, d, e, f, g, h]) as f32
            }
            // The caller cuts to `bytes`.
            _ => 0.0,
        }
    }
}

/// Reads `bytes` bytes, a multiple of a frame's, into the sink.
pub fn decode(input: &mut Input, sink: &mut Sink, stored: Stored, bytes: u64) -> Result<()> {
    let frame = stored.bytes() * sink.channels;
    let mut piece = vec![0; (PIECE / frame).max(1) * frame];
    let mut samples = Vec::with_capacity(piece.len() / stored.bytes());
    let mut left = bytes;
    while left > 0 {
        let size = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        let at = input.position();
        let read = input.read_exact(&mut piece[..size]);
        read.map_err(|e| input.place().failed(at, "the data", e))?;
        samples.clear();
        samples.extend(piece[..size].chunks_exact(stored.bytes()).map(|b| stored.read(b)));
        sink.take(&samples)?;
        left -= size as u64;
    }
    Ok(())
}

/// Reads a file without a header as `FORMAT:RATE:CHANNELS` says.
pub fn read(path: &Path, raw: &str, options: &Options, sink: &mut Sink) -> Result<Vec<String>> {
    let (stored, rate, channels) = parsed(raw)?;
    let mut input = Input::open(path)?;
    let frame = (stored.bytes() * channels) as u64;
    let (whole, rest) = (input.length / frame * frame, input.length % frame);
    if rest > 0 && !options.lenient {
        let text = format!("{} bytes are no whole frames of {frame}", input.length);
        return Err(input.wrong(whole, text).hint("lenient leaves the rest out"));
    }
    sink.begin(channels, Some(checked_rate(path, None, rate)?), Some(whole / frame))?;
    sink.expect(whole / frame)?;
    decode(&mut input, sink, stored, whole)?;
    Ok(Vec::new())
}

fn parsed(raw: &str) -> Result<(Stored, u32, usize)> {
    let wrong = || {
        let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
        let text = format!("raw is FORMAT:RATE:CHANNELS, FORMAT one of {}", names.join(" "));
        Error::wanted(ErrorKind::Argument, text, format!("{raw:?}"))
    };
    let parts: Vec<&str> = raw.split(':').collect();
    let [format, rate, channels] = parts[..] else { return Err(wrong()) };
    let stored = NAMES.iter().find(|(name, _)| *name == format).ok_or_else(wrong)?.1;
    let rate = rate.parse().ok().filter(|&rate| rate > 0).ok_or_else(wrong)?;
    let channels = channels.parse().ok().filter(|&n| n > 0).ok_or_else(wrong)?;
    Ok((stored, rate, channels))
}
