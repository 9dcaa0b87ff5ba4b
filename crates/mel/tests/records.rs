//! The solver's records: complete, every rung gives the bits of the definition, and bad input gets what
//! the specification says.

mod calls;

use calls::{Told, array, call, keywords, number, word};
use rung_array::Array;
use rung_base::ElementType;
use rung_mel::SOLVER;
use rung_ops::Value;
use rung_ops::trial::{Trial, all_are_complete};

#[test]
fn names_are_unique_and_every_record_is_complete() {
    all_are_complete(SOLVER);
}

#[test]
fn every_rung_gives_the_bits_of_the_definition() {
    let mut trial = Trial::new();
    for (number, op) in SOLVER.operations.iter().enumerate() {
        trial.every_rung(op, number);
    }
}

fn tone(n: usize) -> Vec<f64> {
    (0..n).map(|i| 0.5 * (0.3 * i as f64).sin()).collect()
}

/// Keywords for a preset at its rate, and others.
fn by(preset: &'static str, more: &[(&'static str, Value)]) -> Vec<Value> {
    let base = [("rate", number(16_000.0)), ("preset", word(preset))];
    keywords(&[&base, more].concat())
}

fn spectrogram(samples: Value, words: Vec<Value>) -> (rung_base::Result<Vec<Value>>, Told) {
    call("spectrogram", [vec![samples], words].concat())
}

/// What a call that fails says, and its hint.
fn error(samples: Value, words: Vec<Value>) -> (String, String) {
    let e = spectrogram(samples, words).0.map(|_| ()).unwrap_err();
    (e.message().to_string(), e.hint_text().unwrap_or_default().to_string())
}

fn shape(result: &rung_base::Result<Vec<Value>>) -> Vec<usize> {
    match &result.as_ref().unwrap()[0] {
        Value::Array(array) => array.shape().to_vec(),
        other => panic!("{other}"),
    }
}

fn bits(value: &Value) -> Vec<u32> {
    match value {
        Value::Array(array) => {
            array.as_slice::<f32>().unwrap().iter().map(|x| x.to_bits()).collect()
        }
        other => panic!("{other}"),
    }
}

#[test]
fn nan_and_infinity_are_counted_and_the_first_is_named() {
    let mut samples = tone(500);
    (samples[7], samples[9]) = (f64::NAN, f64::INFINITY);
    let of = |samples: &[f64], extents: &[usize]| {
        error(array(samples, extents), by("whisper-80", &[])).0
    };
    assert_eq!(of(&samples, &[500]), "samples must be finite: got NaN at 7, 2 in all");
    assert_eq!(of(&samples, &[2, 250]), "signal 0: samples must be finite: got NaN at 7, 2 in all");
}

#[test]
fn no_samples_are_answered_as_the_package_does_with_a_note() {
    let none = || array(&[], &[0]);
    let (result, told) = spectrogram(none(), by("librosa", &[]));
    assert_eq!(shape(&result), [128, 1]);
    assert!(bits(&result.unwrap()[0]).iter().all(|&x| x == 0));
    assert_eq!(told.notes, ["no samples: 1 frames, as librosa has it"]);
    let (result, told) = spectrogram(none(), by("kaldi", &[]));
    assert_eq!(shape(&result), [0, 23]);
    assert_eq!(told.notes, ["no samples: 0 frames, as kaldi has it"]);
    assert!(error(none(), by("torchaudio", &[])).0.ends_with("got 0"));
}

#[test]
fn reflected_padding_needs_samples_and_says_what_helps() {
    let few = || array(&tone(200), &[200]);
    let (text, hint) = error(few(), by("whisper-80", &[]));
    assert_eq!(text, "mirroring 200 samples at each edge needs more than as many: got 200");
    assert_eq!(hint, "pad zero takes any number; Whisper's 30 s are window30");
    let zero = by("whisper-80", &[("pad", word("zero"))]);
    assert_eq!(shape(&spectrogram(few(), zero).0), [80, 1]);
    let window = spectrogram(few(), by("whisper-80", &[("window30", Value::True)])).0;
    assert_eq!(shape(&window), [80, 3000]);
}

#[test]
fn kaldi_with_less_than_a_window_has_no_frame_and_a_note() {
    let (result, told) = spectrogram(array(&tone(399), &[399]), by("kaldi", &[]));
    assert_eq!(shape(&result), [0, 23]);
    assert_eq!(told.notes, ["no frames: 399 samples are fewer than a window of 400"]);
}

#[test]
fn integers_need_their_scale_and_then_have_the_bits_of_floats() {
    let whole: Vec<i64> = (0..600).map(|i| (i * 977) % 20_001 - 10_000).collect();
    let integers = Value::Array(Array::vector(&whole).unwrap());
    let (text, hint) = error(integers.clone(), by("kaldi", &[]));
    assert!(text.ends_with("may be of any scale: say which"), "{text}");
    assert!(hint.starts_with("sample-scale int16 or int32"), "{hint}");
    let scaled = by("kaldi", &[("sample-scale", word("int16"))]);
    let got = spectrogram(integers, scaled.clone()).0.unwrap();
    let floats: Vec<f64> = whole.iter().map(|&n| n as f64 / 32_768.0).collect();
    let want = spectrogram(array(&floats, &[600]), by("kaldi", &[])).0.unwrap();
    assert_eq!(bits(&got[0]), bits(&want[0]));
    // Floats of that scale are said to be, and Kaldi's multiplication is not made twice.
    let large: Vec<f64> = whole.iter().map(|&n| n as f64).collect();
    let got = spectrogram(array(&large, &[600]), scaled).0.unwrap();
    assert_eq!(bits(&got[0]), bits(&want[0]));
}

#[test]
fn samples_beyond_one_are_taken_with_a_note() {
    let (result, told) = spectrogram(array(&[20.0; 500], &[500]), by("whisper-80", &[]));
    assert!(result.is_ok());
    assert!(told.notes[0].starts_with("samples reach 20, beyond -1 to 1"), "{:?}", told.notes);
    assert!(spectrogram(array(&tone(500), &[500]), by("whisper-80", &[])).1.notes.is_empty());
}

#[test]
fn nothing_is_resampled_unasked_and_nothing_is_guessed() {
    let samples = || array(&tone(500), &[500]);
    let words = vec![word("rate"), number(22_050.0), word("preset"), word("whisper-80")];
    let (text, hint) = error(samples(), words);
    assert_eq!(text, "whisper-80 is for samples at 16000 Hz: got 22050 Hz");
    assert!(hint.starts_with("rate 16000"), "{hint}");
    let (text, hint) = error(samples(), vec![word("rate"), number(16_000.0)]);
    assert_eq!(text, "whose rules apply is not said: give a preset");
    assert!(hint.contains("whisper-128, kaldi"), "{hint}");
    let (text, _) = error(samples(), vec![word("preset"), word("kaldi")]);
    assert_eq!(text, "the rate of the samples is not said");
}

fn main_result(words: &[(&'static str, Value)]) -> Array {
    match spectrogram(array(&tone(1000), &[1000]), keywords(words)).0.unwrap().remove(0) {
        Value::Array(array) => array,
        other => panic!("{other}"),
    }
}

/// Every field said is as good as a preset, whose own fields they may be; librosa's and torchaudio's names do.
#[test]
fn fields_without_a_preset_and_the_names_of_other_packages() {
    let whole = Value::integer;
    let fields = |rate, hop, pad, mels, scale| {
        [
            (rate, number(16_000.0)),
            ("n-fft", whole(400)),
            (hop, whole(200)),
            ("window", word("hann")),
            (pad, word("reflect")),
            (mels, whole(128)),
            (scale, word("htk")),
            ("norm", word("none")),
        ]
    };
    let torchaudio = main_result(&[("rate", number(16_000.0)), ("preset", word("torchaudio"))]);
    for names in [
        fields("rate", "hop", "pad", "mels", "scale"),
        fields("sr", "hop-length", "pad-mode", "n-mels", "mel-scale"),
    ] {
        assert_eq!(main_result(&names).as_slice::<f32>(), torchaudio.as_slice::<f32>());
    }
    let samples = || array(&tone(1000), &[1000]);
    let few = vec![word("rate"), number(16_000.0), word("n-fft"), whole(400)];
    let (text, hint) = error(samples(), few);
    assert_eq!(text, "whose rules apply is not said: give a preset");
    assert!(
        hint.ends_with("without one hop, window, pad, mels, scale, norm would have to be said too")
    );
}

#[test]
fn the_result_has_the_type_that_is_asked_for() {
    let of = |more: &[(&'static str, Value)]| {
        main_result(&[&[("rate", number(16_000.0)), ("preset", word("kaldi"))], more].concat())
    };
    let own = of(&[]);
    for (name, t) in
        [("f32", ElementType::F32), ("f64", ElementType::F64), ("f16", ElementType::F16)]
    {
        let result = of(&[("type", word(name))]);
        assert_eq!(result.element_type(), t);
        let rounded = own.convert(t).unwrap();
        let numbers = |a: &Array| a.numbers().map(|n| n.to_f64().to_bits()).collect::<Vec<_>>();
        assert_eq!(numbers(&result), numbers(&rounded), "{name}");
    }
}

#[test]
fn fields_that_do_not_fit_are_refused_with_both_values() {
    let of =
        |more: &[(&'static str, Value)]| error(array(&tone(500), &[500]), by("torchaudio", more)).0;
    let whole = Value::integer;
    for (more, wanted) in [
        (vec![("fmax", number(9000.0))], "8000 Hz: got 0 to 9000 Hz"),
        (vec![("fmin", number(4000.0)), ("fmax", number(4000.0))], "got 4000 to 4000 Hz"),
        (vec![("fmin", number(-1.0))], "fmin must be 0 or more: got -1.0"),
        (vec![("mels", whole(0))], "mels must be from 1 to 16384: got 0"),
        (vec![("hop", whole(0))], "hop must be from 1 to 1048576: got 0"),
        (vec![("win-length", whole(401))], "got a window of 401, a transform of 400"),
        (
            vec![("win-length", whole(300)), ("frame-length", number(25.0))],
            "win-length and frame-length say the same: give one of them",
        ),
        (
            vec![("frame-shift", number(0.05))],
            "frame-shift must be from 1 to 1048576 samples of 16000 Hz: got 0.05 ms",
        ),
        (vec![("mode", word("melt")), ("points", whole(0))], "points must be from 1 to 64: got 0"),
        (vec![("points", whole(2))], "points are those of mode melt: got 2 in mode exact"),
        (vec![("mode", word("melt")), ("method", word("fft"))], "computed: got fft"),
        (vec![("window30", Value::True)], "ways of the whisper presets: got torchaudio"),
        (vec![("clamp", word("window"))], "clamp is that of the whisper presets: got torchaudio"),
    ] {
        let text = of(&more);
        assert!(text.ends_with(wanted), "{text}");
    }
    let none = error(array(&tone(8), &[2, 2, 2]), by("kaldi", &[])).0;
    assert_eq!(none, "samples are an array of shape (n), or (batch n): got (2 2 2)");
}

#[test]
fn bands_without_a_bin_are_named_in_a_warning() {
    let (result, told) = spectrogram(array(&tone(500), &[500]), by("torchaudio", &[]));
    assert_eq!(shape(&result), [128, 3]);
    assert!(
        told.warnings[0].starts_with("4 bands hold no bin of the transform"),
        "{:?}",
        told.warnings
    );
    assert!(told.warnings[0].ends_with("fewer bands, or a larger n-fft"));
}

#[test]
fn a_row_of_a_batch_has_the_bits_that_it_has_alone() {
    let mut both = [tone(900), tone(900)].concat();
    both[1700..].fill(f64::NAN);
    let lengths = ("lengths", array(&[900.0, 800.0], &[2]));
    for preset in ["whisper-80", "kaldi"] {
        let batch = by(preset, std::slice::from_ref(&lengths));
        let (batch, _) = spectrogram(array(&both, &[2, 900]), batch);
        let alone = spectrogram(array(&tone(800), &[800]), by(preset, &[])).0.unwrap();
        let Value::Array(table) = &batch.unwrap()[0] else { panic!("no array") };
        let Value::Array(wanted) = &alone[0] else { panic!("no array") };
        for i in 0..wanted.shape()[0] as i64 {
            for j in 0..wanted.shape()[1] as i64 {
                let (got, want) = (table.get(&[1, i, j]).unwrap(), wanted.get(&[i, j]).unwrap());
                assert_eq!(got.to_f64(), want.to_f64(), "{preset} {i} {j}");
            }
        }
    }
    let wrong = by("kaldi", &[("lengths", array(&[900.0, 901.0], &[2]))]);
    assert_eq!(
        error(array(&both, &[2, 900]), wrong).0,
        "a length is a whole number from 0 to 900: got 901"
    );
}

#[test]
fn whispers_ways_with_files_and_windows() {
    let samples = || array(&tone(3200), &[3200]);
    let file =
        spectrogram(samples(), by("whisper-80", &[("whisper-file", Value::True)])).0.unwrap();
    let window = spectrogram(samples(), by("whisper-80", &[("window30", Value::True)])).0.unwrap();
    let (Value::Array(file), Value::Array(window)) = (&file[0], &window[0]) else {
        panic!("no array")
    };
    assert_eq!((&file.shape()[..], &window.shape()[..]), (&[80, 20][..], &[80, 3000][..]));
    // Both see the same zeros behind the sound and the same largest value.
    for band in 0..80 {
        for frame in 0..20 {
            assert_eq!(
                file.get(&[band, frame]).unwrap().to_f64(),
                window.get(&[band, frame]).unwrap().to_f64()
            );
        }
    }
    let long =
        error(array(&[0.0; 480_001], &[480_001]), by("whisper-80", &[("window30", Value::True)])).0;
    assert_eq!(long, "a window of 30 s has 480000 samples at most: got 480001");
}

/// A loud signal of 30 s and a faint one behind it, of which a clamp of the whole leaves nothing.
#[test]
fn a_clamp_in_windows_is_the_one_of_each_30_seconds() {
    let loud = |i: usize| if i < 480_000 { 1.0 } else { 1e-6 };
    let samples: Vec<f64> = (0..500_000).map(|i| loud(i) * (0.3 * i as f64).sin()).collect();
    let all = |more: &[(&'static str, Value)]| {
        let result = spectrogram(array(&samples, &[500_000]), by("whisper-80", more)).0.unwrap();
        let Value::Array(table) = result[0].clone() else { panic!("no array") };
        move |frame: i64| table.get(&[10, frame]).unwrap().to_f64()
    };
    let (end, window) = (
        all(&[("clamp", word("end"))]),
        all(&[("clamp", word("window")), ("method", word("product"))]),
    );
    assert_eq!(end(100), window(100));
    assert!(window(3100) < end(3100), "{} {}", window(3100), end(3100));
}

#[test]
fn the_delay_of_a_stream_is_stated() {
    let delay = |preset, rate: f64, more: &[(&'static str, Value)]| {
        let words = [&[("rate", number(rate)), ("preset", word(preset))], more].concat();
        match call("stream", [vec![array(&tone(10), &[10])], keywords(&words)].concat()).0.unwrap()
            [3]
        {
            Value::Number(x) => x.to_f64() * rate,
            ref other => panic!("{other}"),
        }
    };
    assert_eq!(delay("librosa", 22_050.0, &[]).round(), 1024.0);
    assert_eq!(delay("torchaudio", 16_000.0, &[]).round(), 201.0);
    assert_eq!(delay("whisper-80", 16_000.0, &[]).round(), 201.0);
    assert_eq!(delay("kaldi", 16_000.0, &[]).round(), 200.0);
    let window = [("clamp", word("window"))];
    assert_eq!(delay("whisper-80", 16_000.0, &window).round(), 200.0 + 2999.0 * 160.0);
}

#[test]
fn cepstra_follow_their_presets() {
    let of = |preset, more: &[(&'static str, Value)]| {
        call("cepstra", [vec![array(&tone(4000), &[4000])], by(preset, more)].concat()).0
    };
    assert_eq!(shape(&of("librosa", &[])), [20, 8]);
    assert_eq!(shape(&of("torchaudio", &[])), [40, 21]);
    assert_eq!(shape(&of("kaldi", &[])), [23, 13]);
    assert_eq!(shape(&of("kaldi", &[("deltas", Value::True)])), [23, 26]);
    // 20 ms of 16 kHz every 8 ms, in transforms of 512 points, as Kaldi counts them.
    let frames = [("frame-length", number(20.0)), ("frame-shift", number(8.0))];
    assert_eq!(shape(&of("kaldi", &frames)), [29, 13]);
    assert_eq!(
        shape(&of("kaldi", &[("count", Value::integer(5)), ("mode", word("melt"))])),
        [23, 5]
    );
    let told = |preset, more: &[(&'static str, Value)]| {
        of(preset, more).map(|_| ()).unwrap_err().to_string()
    };
    assert!(told("whisper-80", &[]).contains("librosa, torchaudio and kaldi: got whisper-80"));
    let many = told("kaldi", &[("count", Value::integer(24))]);
    assert!(many.contains("not be more than the 23 bands: got 24"), "{many}");
}

#[test]
fn filters_are_those_of_a_preset_or_of_fields() {
    let of = |words: Vec<Value>| call("filters", words).0;
    let whisper = of(by("whisper-80", &[])).unwrap();
    let Value::Array(weights) = &whisper[0] else { panic!("no array") };
    assert_eq!(weights.shape()[..], [80, 201]);
    let fields = [
        word("rate"),
        number(16_000.0),
        word("n-fft"),
        Value::integer(400),
        word("mels"),
        Value::integer(80),
    ];
    let by_fields = of(fields.to_vec()).unwrap();
    assert_eq!(bits(&by_fields[0]), bits(&whisper[0]));
    let e = of(fields[..4].to_vec()).map(|_| ()).unwrap_err();
    assert_eq!(e.message(), "without a preset, mels has to be said");
}
