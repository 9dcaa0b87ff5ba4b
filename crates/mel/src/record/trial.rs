//! Samples of the records: every method and preset, short signals, batches with lengths.

use rung_ops::Value;
use rung_ops::samples::{Sample, build, integer, number, scattered, spread, word};

/// A signal and keywords.
pub(super) fn of(samples: Value, rest: &[(&'static str, Value)]) -> Sample {
    let rest = rest.iter().flat_map(|(name, value)| [word(name), value.clone()]);
    std::iter::once(samples).chain(rest).collect()
}

/// Half of full scale: bf16 and the integers' trial hold it.
fn signal(n: usize) -> Value {
    spread(&[n], 0.5)
}

/// A preset with few bands and points.
fn few(preset: &'static str, more: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let rate = if preset == "librosa" { 8000.0 } else { 16_000.0 };
    let base = [
        ("rate", number(rate)),
        ("preset", word(preset)),
        ("n-fft", integer(64)),
        ("win-length", integer(50)),
        ("hop", integer(20)),
        ("mels", integer(6)),
    ];
    base.into_iter().chain(more.iter().cloned()).collect()
}

pub fn spectrograms() -> Vec<Sample> {
    let whisper = [("rate", number(16_000.0)), ("preset", word("whisper-80"))];
    let scaled = build(&[300], |i| (scattered(i) * 100.0).round());
    let holes = build(&[3, 200], |i| if i == 399 { f64::NAN } else { 0.5 * scattered(i) });
    let lengths = build(&[3], |i| [200.0, 130.0, 33.0][i]);
    vec![
        of(signal(700), &whisper),
        of(signal(0), &few("librosa", &[])),
        of(signal(1), &few("librosa", &[("db", Value::True)])),
        of(signal(333), &few("torchaudio", &[("method", word("fft"))])),
        of(
            signal(333),
            &few("torchaudio", &[("db", Value::True), ("window", word("rectangular"))]),
        ),
        of(signal(200), &few("kaldi", &[("mode", word("melt")), ("points", integer(3))])),
        of(signal(200), &few("kaldi", &[("pad", word("mirror")), ("method", word("fft"))])),
        of(signal(300), &few("librosa", &[("power", integer(1))])),
        of(signal(300), &few("kaldi", &[("power", integer(1)), ("method", word("fft"))])),
        of(
            signal(300),
            &few(
                "kaldi",
                &[("power", integer(1)), ("method", word("fft")), ("n-fft", integer(62))],
            ),
        ),
        of(
            spread(&[2, 120], 0.5),
            &few("whisper-80", &[("scale", word("htk")), ("norm", word("none"))]),
        ),
        of(holes, &few("whisper-128", &[("lengths", lengths)])),
        of(scaled, &few("kaldi", &[("sample-scale", word("int16"))])),
        of(spread(&[0, 90], 0.5), &few("torchaudio", &[])),
        of(signal(400), &few("whisper-80", &[("clamp", word("window"))])),
    ]
}

pub fn cepstra() -> Vec<Sample> {
    let count = ("count", integer(4));
    vec![
        of(signal(400), &few("librosa", &[count.clone(), ("deltas", Value::True)])),
        of(signal(300), &few("torchaudio", &[count.clone(), ("lifter", number(9.0))])),
        of(signal(20), &few("kaldi", std::slice::from_ref(&count))),
        of(signal(300), &few("librosa", &[count.clone(), ("sample-scale", word("int16"))])),
        of(signal(300), &few("kaldi", &[count.clone(), ("use-energy", Value::Nil)])),
        of(spread(&[2, 300], 0.5), &few("kaldi", &[count, ("deltas", Value::True)])),
    ]
}

/// Pieces at the beginning, in the middle and at the end of a signal.
pub fn streams() -> Vec<Sample> {
    // After 100 samples, of which 4 frames came and the last 50 are held.
    let begun = build(&[3 + 50], |i| match i {
        0 => 50.0,
        1 => 4.0,
        2 => 1.5,
        i => 0.5 * scattered(i),
    });
    let last = ("last", Value::True);
    vec![
        of(signal(300), &few("torchaudio", &[])),
        of(signal(333), &few("kaldi", std::slice::from_ref(&last))),
        of(signal(0), &few("whisper-80", &[])),
        of(signal(333), &few("whisper-80", &[("clamp", word("window")), last.clone()])),
        of(signal(90), &few("librosa", &[("state", begun.clone()), last.clone()])),
        of(signal(7), &few("librosa", &[("state", begun), ("db", Value::True)])),
    ]
}

pub fn filters() -> Vec<Sample> {
    let rest = [("rate", number(16_000.0)), ("preset", word("kaldi")), ("mels", integer(7))];
    let by_fields = [("rate", number(8000.0)), ("n-fft", integer(65)), ("mels", integer(3))];
    let of = |rest: &[(&'static str, Value)]| -> Sample {
        rest.iter().flat_map(|(name, value)| [word(name), value.clone()]).collect()
    };
    vec![of(&rest), of(&by_fields)]
}
