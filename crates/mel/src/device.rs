//! Spectrograms on a device, of the methods that are products: frames are read and folded here, in f64
//! where the preset asks for it, and go up once; the products, squares and values are operations of the
//! table, one after another, whose bits are the definition's. Nothing waits for any of them.

use crate::asked::{Fill, Rules};
use crate::energy::{Folded, Plan};
use crate::frames::{FLOOR, Frames};
use crate::preset::Value as Values;
use crate::signals;
use crate::spectrogram::LEAST;
use rung_array::{Array, Number, SliceSpec};
use rung_base::{Result, Shape};
use rung_ops::round_trip::RoundTrip;
use rung_ops::{Decline, Value};

/// A step's array, or why the device does not take it.
type Step = Result<std::result::Result<Array, Decline>>;

/// Goes on with a step's array, or ends with its decline.
macro_rules! taken {
    ($step:expr) => {
        match $step? {
            Ok(array) => array,
            Err(reason) => return Ok(Err(reason)),
        }
    };
}

/// Cosines and sines (pairs, columns), and weights (columns, bands).
#[derive(Clone, Debug)]
pub(crate) struct Tables {
    pub cosines: Array,
    pub sines: Array,
    pub weights: Array,
}

/// The largest sum of a window's samples: its squares, summed over a million bins, are far below 2^128.
/// Beyond it there may be NaN, which maxima of the table hand on and those of the definition do not.
const FARTHEST: f64 = 1e15;

/// The spectrogram of each row of `samples`, stacked where it is a batch.
pub(crate) fn spectrograms(
    trip: &RoundTrip,
    plan: &Plan,
    rules: &Rules,
    samples: &Array,
    lengths: &[usize],
    shape: &Shape,
) -> Step {
    let Some(folded) = plan.folded() else {
        let text = "method fft transforms frame by frame; method product has kernels";
        return Ok(Err(Decline::Device(text.into())));
    };
    if lengths.windows(2).any(|pair| pair[0] != pair[1]) {
        return Ok(Err(Decline::NoKernel("signals of different lengths")));
    }
    if plan.preset.clamped().is_some() {
        return Ok(Err(Decline::NoKernel("a clamp of each window for itself")));
    }
    if shape.size() == 0 {
        return Ok(Err(Decline::NoKernel("no frame")));
    }
    if farthest(samples) * plan.preset.sample_scale * plan.window.len() as f64 > FARTHEST {
        return Ok(Err(Decline::NoKernel("samples so large that energies may be no numbers")));
    }
    let tables = folded.tables()?;
    let mut all = Vec::new();
    for at in 0..lengths.len() {
        let samples = signals::filled(rules, signals::row(samples, lengths, at))?;
        let energies = taken!(energies(trip, plan, folded, tables, &samples));
        let values = taken!(valued(&trip.strictly(), plan.preset.value, energies));
        all.push(laid(rules, values)?);
    }
    match (shape.rank(), all.pop()) {
        (2, Some(one)) => trip.packed(&one),
        (_, last) => {
            let all = all.into_iter().chain(last).map(Value::Array).collect();
            trip.of_table("stack", vec![Value::List(all)])
        }
    }
}

/// The farthest sample from 0.
fn farthest(samples: &Array) -> f64 {
    let samples = samples.as_slice::<f32>().unwrap_or_default();
    f64::from(samples.iter().fold(0.0f32, |most, x| most.max(x.abs())))
}

/// (frames, bands).
fn energies(
    trip: &RoundTrip,
    plan: &Plan,
    folded: &Folded,
    tables: &Tables,
    samples: &[f32],
) -> Step {
    let frames = Frames::new(&plan.preset, samples)?;
    let [sums, differences] = folded.frames(&frames, plan.window.len())?;
    let strictly = trip.strictly();
    // The products that `--precision` reaches (`record/rounded`).
    let squares = |frames: Array, sinusoids: &Array| -> Step {
        let z = taken!(trip.of_table("matmul", vec![frames.into(), sinusoids.clone().into()]));
        strictly.of_table("mul", vec![z.clone().into(), z.into()])
    };
    let (c, s) =
        (taken!(squares(sums, &tables.cosines)), taken!(squares(differences, &tables.sines)));
    let mut power = taken!(strictly.of_table("add", vec![c.into(), s.into()]));
    if plan.preset.magnitude {
        power = taken!(strictly.of_table("sqrt", vec![power.into()]));
    }
    strictly.of_table("matmul", vec![power.into(), tables.weights.clone().into()])
}

/// As `Value::apply` has it, step by step.
fn valued(trip: &RoundTrip, value: Values, energies: Array) -> Step {
    let with = |name: &str, a: Array, x: f64| -> Step {
        trip.of_table(name, vec![a.into(), Value::Number(Number::F64(x))])
    };
    let logarithm = |name: &str, least: f64| -> Step {
        let least = f64::from(least as f32);
        let kept = taken!(with("maximum", energies.clone(), least));
        trip.of_table(name, vec![kept.into()])
    };
    // Not more than so far below the largest of all.
    let above = |values: Array, range: f64| -> Step {
        let keep = Value::Keyword("keepdims".into());
        let largest = taken!(trip.of_table("amax", vec![values.clone().into(), keep, Value::True]));
        let floor = taken!(with("sub", largest, range));
        trip.of_table("maximum", vec![values.into(), floor.into()])
    };
    match value {
        Values::Power => Ok(Ok(energies)),
        Values::NaturalLog => logarithm("log", FLOOR),
        Values::Decibels { range } => {
            let decibels = taken!(with("mul", taken!(logarithm("log10", LEAST)), 10.0));
            range.map_or(Ok(Ok(decibels.clone())), |range| above(decibels, range))
        }
        Values::Whisper => {
            let kept = taken!(above(taken!(logarithm("log10", LEAST)), 8.0));
            with("div", taken!(with("add", kept, 4.0)), 4.0)
        }
    }
}

/// Without the frames of the zeros behind a file, and turned as the preset has it: a view.
fn laid(rules: &Rules, values: Array) -> Result<Array> {
    let cut = match rules.fill {
        Fill::Behind(length) => length / rules.preset.hop,
        _ => 0,
    };
    let kept = values.shape()[0].saturating_sub(cut);
    let values = values.slice(&[SliceSpec { end: Some(kept as i64), ..SliceSpec::ALL }])?;
    if rules.preset.frames_first { Ok(values) } else { values.transpose(&[1, 0]) }
}
