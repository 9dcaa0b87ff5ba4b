//! The mistakes that calls of the package may make, each with a call that makes it.

use super::trial::of;
use rung_array::Array;
use rung_base::ErrorKind;
use rung_ops::Value;
use rung_ops::samples::{Sample, build, integer, number, spread, word};
use rung_ops::solver::{Mistake, mistake};

/// So many samples by a preset at 16 kHz, and other fields.
fn by(preset: &'static str, n: usize, more: &[(&'static str, Value)]) -> Sample {
    let base = [("rate", number(16_000.0)), ("preset", word(preset))];
    of(spread(&[n], 0.5), &[&base, more].concat())
}

fn by_kaldi(samples: Value) -> Sample {
    of(samples, &[("rate", number(16_000.0)), ("preset", word("kaldi"))])
}

const BAD_SHAPE: Mistake =
    mistake(ErrorKind::Shape, "samples of another shape than (n) or (batch n)", "", || {
        by_kaldi(spread(&[2, 2, 2], 0.5))
    });
const NOT_FINITE: Mistake = mistake(
    ErrorKind::Argument,
    "NaN or infinity in the samples; how many and the first one's place are named",
    "",
    || by_kaldi(build(&[500], |i| if i == 7 { f64::NAN } else { 0.0 })),
);
const NO_SCALE: Mistake = mistake(
    ErrorKind::Argument,
    "integers whose scale is not said",
    "sample-scale int16 or int32, or floats from -1 to 1",
    || match Array::vector(&[1i64; 500]) {
        Ok(integers) => by_kaldi(integers.into()),
        Err(_) => Vec::new(),
    },
);
const NO_RATE: Mistake =
    mistake(ErrorKind::Argument, "no rate", "a rate in samples a second", || {
        of(spread(&[500], 0.5), &[("preset", word("kaldi"))])
    });
const NO_PRESET: Mistake = mistake(
    ErrorKind::Argument,
    "neither a preset nor every field",
    "the presets, and which fields are missing",
    || of(spread(&[500], 0.5), &[("rate", number(16_000.0))]),
);
const OTHER_RATE: Mistake = mistake(
    ErrorKind::Argument,
    "another rate than the 16,000 Hz of Whisper and Kaldi",
    "resample; a shell does with rate",
    || of(spread(&[500], 0.5), &[("rate", number(22_050.0)), ("preset", word("kaldi"))]),
);
const UNFIT: Mistake = mistake(
    ErrorKind::Argument,
    "fields that do not fit each other: a window longer than the transform, fmin not below fmax, fmax \
     above half the rate; both are named",
    "",
    || by("torchaudio", 500, &[("fmax", number(9000.0))]),
);
const OUTSIDE: Mistake =
    mistake(ErrorKind::Argument, "a number outside the range of its parameter", "", || {
        by("torchaudio", 500, &[("mels", integer(0))])
    });
const TWICE: Mistake = mistake(
    ErrorKind::Argument,
    "one thing said twice: win-length and frame-length, hop and frame-shift, htk and another scale",
    "",
    || by("kaldi", 500, &[("hop", integer(160)), ("frame-shift", number(10.0))]),
);
const CENTRED: Mistake = mistake(
    ErrorKind::Argument,
    "center against pad, or against a short window",
    "which of them to leave out, or what to say in its place",
    || by("torchaudio", 500, &[("center", Value::Nil), ("pad", word("zero"))]),
);
const EXACT_POINTS: Mistake = mistake(ErrorKind::Argument, "points in mode exact", "", || {
    by("kaldi", 500, &[("points", integer(2))])
});
const MELT_METHOD: Mistake = mistake(
    ErrorKind::Argument,
    "a method in mode melt, which is one product",
    "leave one of them out",
    || by("kaldi", 500, &[("mode", word("melt")), ("method", word("fft"))]),
);
const FEW: Mistake = mistake(
    ErrorKind::Argument,
    "pad reflect of fewer samples than it mirrors",
    "pad zero, or window30 of Whisper",
    || by("torchaudio", 200, &[]),
);
const OF_WHISPER: Mistake = mistake(
    ErrorKind::Argument,
    "clamp, window30 or whisper-file by a preset that is not Whisper's",
    "",
    || by("kaldi", 500, &[("clamp", word("window"))]),
);
const TOO_LONG: Mistake =
    mistake(ErrorKind::Argument, "window30 of more than 30 s", "whisper-file", || {
        by("whisper-80", 480_001, &[("window30", Value::True)])
    });
const LENGTHS: Mistake =
    mistake(ErrorKind::Shape, "lengths of another shape than (batch)", "", || {
        by("kaldi", 500, &[("lengths", spread(&[2], 0.0))])
    });
const LENGTH: Mistake =
    mistake(ErrorKind::Argument, "a length that is no whole number from 0 to n", "", || {
        by("kaldi", 500, &[("lengths", build(&[1], |_| 501.0))])
    });

/// Of every function that reads samples by rules.
const RULES: &[Mistake] = &[
    NOT_FINITE,
    NO_SCALE,
    NO_RATE,
    NO_PRESET,
    OTHER_RATE,
    OUTSIDE,
    UNFIT,
    TWICE,
    CENTRED,
    EXACT_POINTS,
    MELT_METHOD,
];

/// And of those that take whole signals.
const WHOLE: &[Mistake] = &[BAD_SHAPE, FEW, LENGTHS, LENGTH];

pub const SPECTROGRAM: &[&[Mistake]] = &[RULES, WHOLE, &[OF_WHISPER, TOO_LONG]];

pub const CEPSTRA: &[&[Mistake]] = &[RULES, WHOLE, OF_CEPSTRA];

const OF_CEPSTRA: &[Mistake] = &[
    mistake(ErrorKind::Argument, "a preset of Whisper, which has no cepstra", "", || {
        by("whisper-80", 500, &[])
    }),
    mistake(ErrorKind::Argument, "more cepstra than bands", "", || {
        by("kaldi", 500, &[("count", integer(24))])
    }),
    mistake(
        ErrorKind::Argument,
        "deltas of fewer frames than the 9 of librosa's line",
        "leave deltas out",
        || by("torchaudio", 500, &[("deltas", Value::True)]),
    ),
];

pub const STREAM: &[&[Mistake]] = &[RULES, OF_STREAM];

const OF_STREAM: &[Mistake] = &[
    mistake(ErrorKind::Argument, "clamp by a preset that is not Whisper's", "", || {
        by("kaldi", 500, &[("clamp", word("window"))])
    }),
    mistake(ErrorKind::Shape, "a batch, where a stream is of one signal", "", || {
        by_kaldi(spread(&[2, 500], 0.5))
    }),
    mistake(
        ErrorKind::Argument,
        "a state that no stream of these rules gave",
        "the second value of the call before, with the same preset and fields",
        || by("kaldi", 500, &[("state", spread(&[2], 1.0))]),
    ),
    mistake(
        ErrorKind::Argument,
        "an end, with last, after fewer samples than pad reflect mirrors",
        "pad zero, or window30 of Whisper",
        || by("torchaudio", 200, &[("last", Value::True)]),
    ),
];

/// A rate and other fields.
fn filters(more: &[(&'static str, Value)]) -> Sample {
    let base = [("rate", number(16_000.0))];
    let all = base.iter().chain(more);
    all.flat_map(|(name, value)| [word(name), value.clone()]).collect()
}

pub const FILTERS: &[Mistake] = &[
    mistake(ErrorKind::Argument, "no rate", "a rate in samples a second", || {
        vec![word("preset"), word("kaldi")]
    }),
    mistake(ErrorKind::Argument, "neither a preset nor n-fft and mels", "", || {
        filters(&[("n-fft", integer(400))])
    }),
    mistake(
        ErrorKind::Argument,
        "fmin not below fmax, fmax above half the rate; both are named",
        "",
        || filters(&[("preset", word("kaldi")), ("fmax", number(9000.0))]),
    ),
    mistake(ErrorKind::Argument, "htk and another scale", "", || {
        filters(&[("preset", word("kaldi")), ("htk", Value::True), ("scale", word("slaney"))])
    }),
];
