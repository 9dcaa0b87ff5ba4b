//! The records of the package: what a front end reads, and from a call to a plan.

use crate::asked::{self, Fill, Named, Rules};
use crate::engine::Engine;
use crate::preset::NO_PRESET;
use crate::signals::{self, Signals};
use crate::spectrogram::Table;
use crate::{Filters, PACKAGE, Plan, Preset, device, frames, shell};
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{
    ALL, Definition, Exactness, Family, Kind, Offer, Op, Parameter, Rungs, keyword, required,
};
use rung_ops::round_trip::RoundTrip;
use rung_ops::solver::{Command, array};
use rung_ops::{Answer, Value};
use std::cell::RefCell;
use std::sync::Arc;

mod mistakes;
mod rounded;
pub mod streamed;
mod trial;

const SAMPLES: Parameter = required("samples", Kind::Array)
    .says("the signal, (n), or several, (batch n), from -1 to 1; integers with their sample-scale");
const LENGTHS: Parameter = keyword("lengths", Kind::Array)
    .says("how many samples of each signal of a batch count, (batch); what follows changes nothing")
    .default("all");

pub const SPECTROGRAM: Op = Op {
    names: &["spectrogram", "melspectrogram"],
    doc: "The energy of each mel band in each frame, as librosa, torchaudio, Whisper or Kaldi give it: \
          their windows, edges, frames, scales, norms and logarithms. Mode exact has the packages' \
          numbers to rounding; mode melt takes sinusoids inside each triangle in place of a transform \
          (MelT, arXiv 2606.01009, 2026), another feature. A frame has its bits whatever is computed \
          with it.",
    parameters: &[
        SAMPLES,
        asked::RATE,
        asked::PRESET,
        asked::MODE,
        asked::METHOD,
        asked::POINTS,
        asked::MELS,
        asked::N_FFT,
        asked::WIN_LENGTH,
        asked::HOP,
        asked::FRAME_LENGTH,
        asked::FRAME_SHIFT,
        asked::WINDOW,
        asked::PAD,
        asked::CENTER,
        asked::POWER,
        asked::SCALE,
        asked::HTK,
        asked::NORM,
        asked::FMIN,
        asked::FMAX,
        asked::DB,
        asked::SAMPLE_SCALE,
        asked::WINDOW30,
        asked::WHISPER_FILE,
        asked::CLAMP,
        asked::TYPE,
        LENGTHS,
    ],
    result: "three values: the spectrogram (single-float, or as type says), (bands frames), of kaldi (frames bands), of a \
             batch with its axis first, where frames beyond a signal's own are 0; when each frame's \
             middle is, in seconds; the middle of each band in Hz",
    results: &[
        array("spectrogram", "the bands of every frame"),
        array("times", "the middle of each frame, in seconds"),
        array("centres", "the middle of each band, in Hz"),
    ],
    errors: mistakes::SPECTROGRAM,
    prepare: |op, a, context| prepare(op, a, context, Kinds::Spectrogram),
    rungs: Rungs::with_device(
        Definition::Several(portable),
        lanes,
        Offer::RoundTrip(Family::Product),
        on_device,
    ),
    samples: trial::spectrograms,
    rounded: Some(rounded::SPECTROGRAM),
    example: "(mel:spectrogram #d(0 0.5 0 -0.5 0 0.5 0 -0.5) :rate 8 :preset :librosa :n-fft 4 :hop 4 \
              :mels 1 :norm :none) => #f((0.0625 0.25 0.0625))",
    command: Some(&Command {
        examples: &[
            (
                "rung mel spectrogram a.wav --preset whisper-80 -o out.npy --png out.png",
                "with a picture",
            ),
            (
                "rung mel spectrogram a.mp3 --rate 16000 --preset kaldi -o out.npy",
                "resampled, Kaldi's bands",
            ),
            ("rung mel spectrogram a.flac --preset librosa --db -o out.csv", "decibels as a text"),
            (
                "rung mel spectrogram long.wav --preset whisper-80 --stream -o out.npy",
                "a file of any length",
            ),
        ],
        input: Some(shell::AUDIO),
        output: shell::BANDS,
        picture: Some(shell::PICTURE),
        stream: Some(shell::IN_PIECES),
    }),
    ..BASE
};

pub const CEPSTRA: Op = Op {
    names: &["cepstra", "mfcc"],
    doc: "Mel cepstra (Davis and Mermelstein 1980): an orthonormal cosine transform of each frame's \
          logarithmic bands, as librosa, torchaudio or Kaldi give it. Of mode melt they are MFCCT.",
    parameters: &[
        SAMPLES,
        asked::RATE,
        asked::PRESET,
        keyword("count", Kind::Integer)
            .says("how many cepstra, not more than bands")
            .between(1.0, 16_384.0)
            .default("20 of librosa, 40 of torchaudio, 13 of kaldi")
            .also(&["n-mfcc"]),
        keyword("lifter", Kind::Number)
            .says("the lifter's length; 0 for none")
            .between(0.0, 1e6)
            .default("22 of kaldi, else 0"),
        keyword("use-energy", Kind::Truth)
            .says(
                "whether the frame's log energy, before pre-emphasis, stands in place of the first",
            )
            .default("true of kaldi, else false"),
        keyword("deltas", Kind::Flag).says(
            "slopes from frame to frame follow: as many again, of kaldi over 5 frames, else over 9",
        ),
        asked::MODE,
        asked::METHOD,
        asked::POINTS,
        asked::MELS,
        asked::N_FFT,
        asked::WIN_LENGTH,
        asked::HOP,
        asked::FRAME_LENGTH,
        asked::FRAME_SHIFT,
        asked::WINDOW,
        asked::PAD,
        asked::CENTER,
        asked::POWER,
        asked::SCALE,
        asked::HTK,
        asked::NORM,
        asked::FMIN,
        asked::FMAX,
        asked::SAMPLE_SCALE,
        asked::TYPE,
        LENGTHS,
    ],
    result: "two values: the cepstra (single-float, or as type says), (count frames), of kaldi (frames count), of a batch \
             with its axis first; when each frame's middle is, in seconds",
    results: &[
        array("cepstra", "the cepstra of every frame"),
        array("times", "the middle of each frame, in seconds"),
    ],
    errors: mistakes::CEPSTRA,
    prepare: |op, a, context| prepare(op, a, context, Kinds::Cepstra),
    samples: trial::cepstra,
    rounded: Some(rounded::CEPSTRA),
    example: "(mel:cepstra #d(0 0.5 0 -0.5 0 0.5 0 -0.5) :rate 8 :preset :librosa :n-fft 4 :hop 4 \
              :mels 1 :norm :none :count 1) => #f((-12.041201 -6.0206003 -12.041201))",
    command: Some(&Command {
        examples: &[(
            "rung mel cepstra a.wav --rate 16000 --preset kaldi --deltas -o out.npy",
            "cepstra and their slopes",
        )],
        input: Some(shell::AUDIO),
        output: shell::CEPSTRA,
        picture: None,
        stream: None,
    }),
    ..BASE
};

pub const FILTERS: Op = Op {
    names: &["filters"],
    doc: "The triangles of the mel bands over the bins of a transform, rounded once to single-float: \
          a preset's, or without one librosa's and Whisper's (scale and norm slaney).",
    parameters: &[
        asked::RATE,
        asked::PRESET.says("whose scale, norm, range and sizes hold where they are not said"),
        asked::MELS,
        asked::N_FFT,
        asked::SCALE,
        asked::HTK,
        asked::NORM,
        asked::FMIN,
        asked::FMAX,
    ],
    result: "two values: the weights (single-float), (bands n-fft/2+1); the middle of each band in Hz",
    results: &[
        array("filters", "a row of weights for each band"),
        array("centres", "the middle of each band, in Hz"),
    ],
    errors: &[mistakes::FILTERS],
    prepare: prepare_filters,
    rungs: Rungs::none("a table that is computed once, in double-float"),
    samples: trial::filters,
    example: "(mel:filters :rate 8 :n-fft 4 :mels 1 :norm :none) => #f((0.0 1.0 0.0))",
    command: Some(&Command {
        examples: &[(
            "rung mel filters --rate 16000 --preset whisper-80 -o filters.npy",
            "the 80 triangles of Whisper",
        )],
        input: None,
        output: shell::FILTERS,
        picture: None,
        stream: None,
    }),
    exact: Exactness::Same,
    ..BASE
};

const BASE: Op = Op {
    package: PACKAGE,
    types: ALL,
    exact: Exactness::Kept,
    rungs: Rungs::processor(
        Definition::Several(portable),
        lanes,
        "the cosine transform of cepstra is summed in double-float, in order",
    ),
    beside: Some(beside),
    ..Op::BASE
};

/// What is made of the bands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kinds {
    Spectrogram,
    Cepstra,
}

/// What the rungs need beside the samples.
struct Asked {
    plan: Arc<Plan>,
    rules: Rules,
    lengths: Vec<usize>,
    kind: Kinds,
    frames: usize,
}

thread_local! {
    /// The plans of the last calls: making one costs as much as some hundred frames.
    static PLANS: RefCell<Vec<(Rules, Arc<Plan>)>> = const { RefCell::new(Vec::new()) };
}

/// Plans that are kept.
const KEPT: usize = 4;

/// The plan of rules, made anew where none of the last is theirs.
fn plan(rules: &Rules) -> Result<Arc<Plan>> {
    let found = PLANS.with_borrow(|plans| {
        plans.iter().find(|(of, _)| of == rules).map(|(_, plan)| plan.clone())
    });
    if let Some(plan) = found {
        return Ok(plan);
    }
    let plan = Arc::new(Plan::new(rules.preset, rules.method)?);
    PLANS.with_borrow_mut(|plans| {
        plans.truncate(KEPT - 1);
        plans.insert(0, (*rules, plan.clone()));
    });
    Ok(plan)
}

fn prepare(op: &'static Op, a: Arguments, context: &mut Context, kind: Kinds) -> Result<Prepared> {
    let mut a = Named::new(op, a);
    let rules = Rules::read(&mut a)?;
    if kind == Kinds::Cepstra {
        rules.preset.cepstra.check(&rules.preset)?;
    }
    let signals = Signals::read(&mut a)?;
    let frames = signals.check(&rules, context)?;
    let plan = plan(&rules)?;
    warn_of_empty_bands(&plan.filters, context);
    let result = result_type(&mut a)?;
    let Signals { array, is_batch, lengths } = signals;
    let columns = match kind {
        Kinds::Spectrogram => rules.preset.mels,
        Kinds::Cepstra => rules.preset.cepstra.columns(),
    };
    let of_one = if rules.preset.frames_first { [frames, columns] } else { [columns, frames] };
    let batch = is_batch.then_some(lengths.len());
    let shape = Shape::new(batch.into_iter().chain(of_one))?;
    let vector = |count| Output {
        shape: Shape::vector(count),
        raw: ElementType::F64,
        result: ElementType::F64,
        to_number: false,
    };
    let mut more = vec![vector(frames)];
    if kind == Kinds::Spectrogram {
        more.push(vector(columns));
    }
    let call = Call::like(op, array, result, Family::Product);
    Ok(Prepared::Call(Box::new(Call {
        units: work(&plan, frames.saturating_mul(lengths.len())),
        shape,
        more,
        detail: Detail::Solver(Box::new(Asked { plan, rules, lengths, kind, frames })),
        ..call
    })))
}

/// What `type` says.
pub(crate) fn result_type(a: &mut Named) -> Result<ElementType> {
    Ok(match a.choice("type")? {
        Some("f64") => ElementType::F64,
        Some("f16") => ElementType::F16,
        _ => ElementType::F32,
    })
}

/// Multiply-adds of so many frames, by the product.
fn work(plan: &Plan, frames: usize) -> u64 {
    let bins = plan.filters.bins as u64;
    (frames as u64).saturating_mul(plan.preset.window_length as u64).saturating_mul(bins)
}

/// More names than these are a number.
const NAMED_BANDS: usize = 8;

fn warn_of_empty_bands(filters: &Filters, context: &mut Context) {
    let empty = filters.without_bins();
    if empty.is_empty() {
        return;
    }
    let named: Vec<String> = empty.iter().take(NAMED_BANDS).map(ToString::to_string).collect();
    let more = if empty.len() > NAMED_BANDS { " ..." } else { "" };
    context.warn(format!(
        "{} bands hold no bin of the transform and are always 0: {}{more}; fewer bands, or a larger \
         n-fft",
        empty.len(),
        named.join(" ")
    ));
}

fn prepare_filters(op: &'static Op, a: Arguments, context: &mut Context) -> Result<Prepared> {
    let filters = filters(&mut Named::new(op, a))?;
    warn_of_empty_bands(&filters, context);
    let shape = Shape::new([filters.len(), filters.bins])?;
    let weights: Vec<f32> = filters.matrix().iter().map(|&w| w as f32).collect();
    let centres = Array::vector(filters.centres())?;
    Ok(Prepared::Done(vec![Array::from_slice(&weights, shape)?.into(), centres.into()]))
}

/// The triangles that are asked for.
pub(crate) fn filters(a: &mut Named) -> Result<Filters> {
    let rate = asked::said_rate(a)?;
    let chosen = a.choice("preset")?.map(Preset::named).transpose()?;
    let (n_fft, mels) = (a.count("n-fft")?, a.count("mels")?);
    let missing = if n_fft.is_none() { "n-fft" } else { "mels" };
    if chosen.is_none() && (n_fft.is_none() || mels.is_none()) {
        let text = format!("without a preset, {missing} has to be said");
        return Err(Error::new(ErrorKind::Argument, text));
    }
    let base = chosen.unwrap_or(Preset { name: NO_PRESET, ..Preset::named("librosa")? });
    let mut preset = Preset { rate, ..base };
    preset.n_fft = n_fft.unwrap_or(preset.n_fft);
    preset.window_length = preset.window_length.min(preset.n_fft);
    asked::bands(&mut preset, a)?;
    preset.mels = mels.unwrap_or(preset.mels);
    Filters::new(&preset)
}

/// What a call's `prepare` left for its rungs.
fn asked_of(call: &Call) -> Result<&Asked> {
    let asked = match &call.detail {
        Detail::Solver(asked) => asked.downcast_ref(),
        _ => None,
    };
    asked.ok_or_else(|| Error::new(ErrorKind::Internal, "a call without what is asked"))
}

fn portable(call: &Call) -> Result<Vec<Array>> {
    run(call, Engine::Plain)
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    run(call, Engine::Lanes(lanes)).map(Answer::Several)
}

fn on_device(call: &Call, trip: &RoundTrip) -> Result<Answer> {
    let asked = asked_of(call)?;
    let Asked { plan, rules, lengths, frames, .. } = asked;
    let (samples, shape) = (&call.operands[0], &call.shape);
    match device::spectrograms(trip, plan, rules, samples, lengths, shape)? {
        Ok(main) => Ok(Answer::Several(with_axes(asked, main, *frames)?)),
        Err(reason) => Ok(Answer::Declined(reason)),
    }
}

/// The table, when each frame is, and of a spectrogram where each band is.
fn with_axes(asked: &Asked, main: Array, frames: usize) -> Result<Vec<Array>> {
    let Asked { plan, rules, kind, .. } = asked;
    let times: Vec<f64> = (0..frames).map(|t| frames::time(&rules.preset, t)).collect();
    let mut arrays = vec![main, Array::vector(&times)?];
    if *kind == Kinds::Spectrogram {
        arrays.push(Array::vector(plan.filters.centres())?);
    }
    Ok(arrays)
}

fn run(call: &Call, engine: Engine) -> Result<Vec<Array>> {
    let asked = asked_of(call)?;
    let Asked { plan, rules, lengths, kind, frames } = asked;
    let main = Array::try_build::<f32>(call.shape.clone(), |out| {
        let size = out.len() / lengths.len().max(1);
        out.fill(0.0);
        for (at, out) in out.chunks_exact_mut(size.max(1)).enumerate() {
            let samples = signals::filled(rules, signals::row(&call.operands[0], lengths, at))?;
            let table = match kind {
                Kinds::Spectrogram => plan.spectrogram_by(engine, &samples, None)?,
                Kinds::Cepstra => plan.cepstra(engine.lanes(), &samples)?,
            };
            place(&table, rules, *frames, out);
        }
        Ok(())
    })?;
    with_axes(asked, main, *frames)
}

/// A signal's numbers among those of a batch, whose longest signal has so many frames; frames of the
/// zeros behind a file are left out.
fn place(table: &Table, rules: &Rules, frames: usize, out: &mut [f32]) {
    let cut = match rules.fill {
        Fill::Behind(length) => length / rules.preset.hop,
        _ => 0,
    };
    let [rows, columns] = table.shape;
    if rules.preset.frames_first {
        let kept = rows - cut;
        out[..kept * columns].copy_from_slice(&table.numbers[..kept * columns]);
        return;
    }
    let kept = columns - cut;
    if columns == 0 {
        return;
    }
    for (out, row) in out.chunks_exact_mut(frames.max(1)).zip(table.numbers.chunks_exact(columns)) {
        out[..kept].copy_from_slice(&row[..kept]);
    }
}

/// A signal's energies as they come and as they are laid, and a block of frames with its products.
fn beside(call: &Call, threads: usize) -> u64 {
    let Ok(Asked { plan, rules, frames, .. }) = asked_of(call) else { return 0 };
    let columns = plan.filters.bins.max(rules.preset.mels) as u64;
    let (length, block) = (rules.preset.n_fft as u64, 256 * (threads as u64 + 1));
    let zeros = match rules.fill {
        Fill::None => 0,
        Fill::UpTo(length) | Fill::Behind(length) => length as u64,
    };
    let numbers = (*frames as u64 + zeros / rules.preset.hop as u64) * rules.preset.mels as u64;
    (call.operands[0].shape()[1] as u64 + zeros)
        .saturating_mul(4)
        .saturating_add(numbers.saturating_mul(12))
        .saturating_add(block.saturating_mul(length.saturating_add(columns * 3)).saturating_mul(8))
}

/// What a call of these values is about, for writers.
pub(crate) fn rules_of(op: &'static Op, values: &[Value]) -> Result<Rules> {
    Rules::read(&mut Named::of_values(op, values)?)
}
