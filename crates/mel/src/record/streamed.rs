//! The record of a signal that comes in pieces. What is held between two of them goes out of a call and
//! into the next one as an array, so that a call depends on its arguments alone.

use super::rounded::{both_sides, depth, method_without_products};
use super::{Named, PACKAGE, Plan, SAMPLES, mistakes, plan, trial, warn_of_empty_bands, work};
use crate::asked::{self, Rules};
use crate::engine::Engine;
use crate::frames;
use crate::signals::Signals;
use crate::stream::Stream;
use rung_array::Array;
use rung_base::{ElementType, Error, ErrorKind, Result, Shape};
use rung_lanes::Lanes;
use rung_ops::Answer;
use rung_ops::arguments::Arguments;
use rung_ops::call::{Call, Context, Detail, Output, Prepared};
use rung_ops::record::{ALL, Definition, Exactness, Family, Kind, Op, Rounded, Rungs, keyword};
use rung_ops::solver::{array, number};
use std::sync::Arc;

pub const STREAM: Op = Op {
    names: &["stream"],
    doc: "The frames of a spectrogram as sound arrives: those that the samples of this call complete, in \
          rows. Any cutting of a signal gives the bits of one call over all of it. What later frames need \
          is the second value, which the next call takes as state; nothing else is kept, and it does not \
          grow. Frames that see the end of the signal come with last. What needs the largest value of the \
          whole signal is left to the end: (max(v, largest - 8) + 4) / 4 of Whisper, max(v, largest - 80) \
          of librosa's decibels. With clamp window Whisper's values are whole as they come, the frames of \
          30 s at a time.",
    package: PACKAGE,
    types: ALL,
    exact: Exactness::Kept,
    parameters: &[
        SAMPLES.says("what has come, (n), from -1 to 1; integers with their sample-scale"),
        keyword("state", Kind::Array)
            .says("the second value of the call before")
            .default("that of a signal's beginning"),
        keyword("last", Kind::Flag).says("the signal ends with these samples"),
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
        asked::CLAMP,
    ],
    result: "four values: the frames (single-float), (frames bands) with every preset; the state \
             (double-float), a vector; the largest value so far before the last step, negative infinity \
             without a frame; the delay in seconds",
    results: &[
        array("frames", "the bands of each frame that is complete"),
        array("state", "what the next call takes as state"),
        number("largest", "the largest value so far, before the last step"),
        number("delay", "how long after a frame's middle it comes at most, in seconds"),
    ],
    errors: mistakes::STREAM,
    prepare,
    rungs: Rungs::processor(
        Definition::Several(portable),
        lanes,
        "a few frames at a time are done before a device has them",
    ),
    samples: trial::streams,
    rounded: Some(ROUNDED),
    example: "(mel:stream #d(0 0.5 0 -0.5 0 0.5 0) :rate 8 :preset :librosa :n-fft 4 :hop 4 :mels 1 \
              :norm :none) => #f((0.0625) (0.25))",
    ..Op::BASE
};

/// What the rungs need beside the samples.
struct Asked {
    plan: Arc<Plan>,
    before: Stream,
    ends: bool,
}

fn prepare(op: &'static Op, a: Arguments, context: &mut Context) -> Result<Prepared> {
    let mut a = Named::new(op, a);
    let rules = Rules::read(&mut a)?;
    let (ends, state) = (a.flag("last"), a.array("state")?);
    let samples = piece(&mut a)?;
    let plan = plan(&rules)?;
    warn_of_empty_bands(&plan.filters, context);
    let before = match state {
        None => Stream::new(plan.clone()),
        Some(state) => Stream::resumed(plan.clone(), &doubles(&state)?)?,
    };
    let (count, held) = before.after(samples.size(), ends)?;
    let output = |shape, t, to_number| Output { shape, raw: t, result: t, to_number };
    let call = Call::like(op, samples, ElementType::F32, Family::Product);
    Ok(Prepared::Call(Box::new(Call {
        units: work(&plan, count),
        shape: Shape::new([count, rules.preset.mels])?,
        more: vec![
            output(Shape::vector(held), ElementType::F64, false),
            output(Shape::scalar(), ElementType::F32, true),
            output(Shape::scalar(), ElementType::F64, true),
        ],
        detail: Detail::Solver(Box::new(Asked { plan, before, ends })),
        ..call
    })))
}

/// The samples of one signal.
fn piece(a: &mut Named) -> Result<Array> {
    let signals = Signals::read(a)?;
    if signals.is_batch {
        let text = "a stream takes the samples of one signal, (n)";
        return Err(Error::wanted(ErrorKind::Shape, text, signals.array.shape()));
    }
    frames::check(signals.row(0))?;
    signals.array.reshape(Shape::vector(signals.lengths[0]))
}

fn doubles(state: &Array) -> Result<Vec<f64>> {
    if state.rank() != 1 || state.element_type() != ElementType::F64 {
        let text = "state is the second value of mel:stream, a vector of double-floats";
        let got = format!("{} of shape {}", state.element_type(), state.shape());
        return Err(Error::wanted(ErrorKind::Argument, text, got));
    }
    Ok(state.numbers().map(|number| number.to_f64()).collect())
}

fn portable(call: &Call) -> Result<Vec<Array>> {
    run(call, Engine::Plain)
}

fn lanes(call: &Call, lanes: &Lanes) -> Result<Answer> {
    run(call, Engine::Lanes(lanes)).map(Answer::Several)
}

/// Any cutting has the bits of one call here too: a cell's sum does not depend on the rows beside it.
const ROUNDED: &Rounded = &Rounded {
    strict: |call| asked_of(call).map_or(None, |asked| method_without_products(&asked.plan)),
    inner: |call| asked_of(call).map_or(0, |asked| depth(&asked.plan)),
    lanes: |call, lanes| run(call, Engine::Rounded(lanes)).map(Answer::Several),
    bounds: |call, part| both_sides(|engine| run(call, engine), part),
};

fn asked_of(call: &Call) -> Result<&Asked> {
    let asked = match &call.detail {
        Detail::Solver(asked) => asked.downcast_ref::<Asked>(),
        _ => None,
    };
    asked.ok_or_else(|| Error::new(ErrorKind::Internal, "a stream without what is asked"))
}

fn run(call: &Call, engine: Engine) -> Result<Vec<Array>> {
    let Asked { plan, before, ends } = asked_of(call)?;
    let mut stream = before.clone();
    let samples = call.operands[0].as_slice::<f32>().unwrap_or_default();
    let mut rows = stream.feed_by(engine, samples)?;
    let mut largest = stream.largest();
    if *ends {
        // What feed let go of is not needed by the frames at the end.
        let end = stream.finish_by(engine)?;
        largest = end.largest;
        rows.extend_from_slice(&end.rows);
    }
    debug_assert_eq!(rows.len(), call.shape.size(), "{}", plan.preset.name);
    Ok(vec![
        Array::from_slice(&rows, call.shape.clone())?,
        Array::vector(&stream.state())?,
        Array::from_slice(&[largest], Shape::scalar())?,
        Array::from_slice(&[Stream::delay(plan) as f64 / plan.preset.rate], Shape::scalar())?,
    ])
}
