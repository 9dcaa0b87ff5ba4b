//! From the array of a call to signals: shapes, element types, scales, lengths, and what is no number.
//! Everything here is checked before a rung is asked.

use crate::asked::{Fill, Named, Rules};
use crate::frames;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape, memory};
use rung_ops::call::Context;
use std::borrow::Cow;

/// The signals of a call.
pub struct Signals {
    /// (signals, n), packed, f32.
    pub array: Array,
    /// Whether they came in an array of two axes.
    pub is_batch: bool,
    /// How many samples of each count.
    pub lengths: Vec<usize>,
}

impl Signals {
    /// # Errors
    /// Another shape than (n) or (batch n), integers of a scale that is not said, lengths that do not
    /// fit.
    pub fn read(a: &mut Named) -> Result<Signals> {
        let given = a.array("samples")?.unwrap_or_else(|| Array::empty(ElementType::F32));
        let scale = a.choice("sample-scale")?;
        let lengths = a.array("lengths")?;
        let (rows, columns) = match given.shape()[..] {
            [n] => (1, n),
            [rows, n] => (rows, n),
            _ => {
                let text = "samples are an array of shape (n), or (batch n)";
                return Err(Error::wanted(ErrorKind::Shape, text, given.shape()));
            }
        };
        let is_batch = given.rank() == 2;
        let array = scaled(&given, scale)?.reshape(Shape::new([rows, columns])?)?;
        let lengths = match lengths {
            None => memory::filled(rows, columns, || format!("{rows} lengths"))?,
            Some(lengths) => checked_lengths(&lengths, rows, columns)?,
        };
        Ok(Signals { array, is_batch, lengths })
    }

    /// The samples of one.
    pub fn row(&self, at: usize) -> &[f32] {
        row(&self.array, &self.lengths, at)
    }

    /// Errors and notes that need the rules: how many frames the longest has.
    ///
    /// # Errors
    /// NaN or infinity, samples that are too few for the padding or too many for a window.
    pub fn check(&self, rules: &Rules, context: &mut Context) -> Result<usize> {
        let mut most = 0;
        for at in 0..self.lengths.len() {
            let samples = self.row(at);
            let in_row = |e: Error| if self.is_batch { named_row(&e, at) } else { e };
            frames::check(samples).map_err(in_row)?;
            let length = filled_length(rules, samples.len())?;
            frames::check_length(&rules.preset, length).map_err(in_row)?;
            most = most.max(count(rules, samples.len()));
        }
        self.remark(rules, most, context);
        Ok(most)
    }

    fn remark(&self, rules: &Rules, most: usize, context: &mut Context) {
        let is_empty = self.array.size() == 0;
        let n = if is_empty { 0 } else { self.array.shape()[1] };
        let reach = (0..self.lengths.len()).map(|at| farthest(self.row(at)));
        let reach = reach.fold(0.0, f32::max);
        remarks(rules, n, most, reach).into_iter().for_each(|text| context.note(text));
    }
}

/// How far samples are from 0 at most.
pub(crate) fn farthest(samples: &[f32]) -> f32 {
    samples.iter().fold(0.0f32, |most, x| most.max(x.abs()))
}

/// What is worth a note about `n` samples that have so many frames and reach so far from 0.
pub(crate) fn remarks(rules: &Rules, n: usize, frames: usize, reach: f32) -> Vec<String> {
    let mut all = Vec::new();
    if n == 0 {
        all.push(format!("no samples: {frames} frames, as {} has it", rules.preset.name));
    } else if frames == 0 {
        let length = rules.preset.window_length;
        all.push(format!("no frames: {n} samples are fewer than a window of {length}"));
    }
    if reach > 1.0 {
        all.push(format!(
            "samples reach {reach}, beyond -1 to 1, and are taken as they are; sample-scale int16 \
             says that they are 16-bit integers"
        ));
    }
    all
}

/// The samples of a row that count.
pub fn row<'a>(array: &'a Array, lengths: &[usize], at: usize) -> &'a [f32] {
    let columns = array.shape()[1];
    &array.as_slice::<f32>().unwrap_or_default()[at * columns..][..lengths[at]]
}

/// How many frames so many samples have in the result.
pub fn count(rules: &Rules, n: usize) -> usize {
    match rules.fill {
        Fill::None => frames::count(&rules.preset, n),
        Fill::UpTo(length) => frames::count(&rules.preset, n.max(length)),
        Fill::Behind(length) => {
            let all = frames::count(&rules.preset, n + length);
            all - length / rules.preset.hop
        }
    }
}

/// The samples with the zeros that belong behind them.
///
/// # Errors
/// No memory for them.
pub fn filled<'a>(rules: &Rules, samples: &'a [f32]) -> Result<Cow<'a, [f32]>> {
    let length = filled_length(rules, samples.len())?;
    if length == samples.len() {
        return Ok(Cow::Borrowed(samples));
    }
    let mut longer = memory::room(length, || format!("{length} samples"))?;
    longer.extend_from_slice(samples);
    longer.resize(length, 0.0);
    Ok(Cow::Owned(longer))
}

/// How many samples there are with the zeros that belong behind `n`.
///
/// # Errors
/// More samples than a window has.
pub(crate) fn filled_length(rules: &Rules, n: usize) -> Result<usize> {
    match rules.fill {
        Fill::None => Ok(n),
        Fill::Behind(length) => Ok(n + length),
        Fill::UpTo(length) if n <= length => Ok(length),
        Fill::UpTo(length) => {
            let text = format!("a window of 30 s has {length} samples at most");
            let hint = "whisper-file takes whole files";
            Err(Error::wanted(ErrorKind::Argument, text, n).hint(hint))
        }
    }
}

/// At f32, packed, from -1 to 1 where a scale is said.
pub(crate) fn scaled(given: &Array, scale: Option<&str>) -> Result<Array> {
    let t = given.element_type();
    if scale.is_none() && !t.is_float() {
        let text = format!("samples of {t} may be of any scale: say which");
        let hint = "sample-scale int16 or int32, or samples from -1 to 1 as floats";
        return Err(Error::new(ErrorKind::Argument, text).hint(hint));
    }
    given.home()?;
    // Halving often rounds nothing, so that f32 may come first; integers of 32 bits come at f64.
    let divisor = match scale {
        None => return given.convert(ElementType::F32)?.to_contiguous(),
        Some("int16") => 32_768.0,
        Some(_) => 2_147_483_648.0,
    };
    let numbers = given.numbers().map(|n| (n.to_f64() / divisor) as f32);
    Array::build::<f32>(given.shape().clone(), |out| {
        out.iter_mut().zip(numbers).for_each(|(out, x)| *out = x);
    })
}

fn checked_lengths(lengths: &Array, rows: usize, columns: usize) -> Result<Vec<usize>> {
    lengths.home()?;
    if lengths.shape()[..] != [rows] {
        let text = format!("lengths has shape ({rows}), one for each signal");
        return Err(Error::wanted(ErrorKind::Shape, text, lengths.shape()));
    }
    let length = |n: f64| match n >= 0.0 && n <= columns as f64 && n.fract() == 0.0 {
        true => Ok(n as usize),
        false => {
            let text = format!("a length is a whole number from 0 to {columns}");
            Err(Error::wanted(ErrorKind::Argument, text, n))
        }
    };
    lengths.numbers().map(|n| length(n.to_f64())).collect()
}

fn named_row(e: &Error, at: usize) -> Error {
    let named = Error::new(e.kind(), format!("signal {at}: {}", e.message()));
    match e.hint_text() {
        Some(hint) => named.hint(hint),
        None => named,
    }
}
