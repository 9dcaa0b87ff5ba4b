//! The packages' own numbers: what `data/packages.py` had from librosa, torchaudio, Whisper and Kaldi, on two
//! spoken words, beside what the operations give by the same names of fields.

mod calls;

use calls::{array, call, keywords, number, word};
use rung_ops::Value;

/// What was kept of a table.
struct Table {
    rows: usize,
    columns: usize,
    /// The largest magnitude of all.
    largest: f64,
    /// Places in its rows one after another, and the numbers there.
    cells: Vec<(usize, f64)>,
}

/// The table of a case.
fn kept(name: &str) -> Table {
    let text = include_str!("data/packages.txt");
    let head = format!("case {name}: ");
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&head));
    let sizes: Vec<&str> = lines.next().expect(name)[head.len()..].split(' ').collect();
    let cells =
        lines.take_while(|line| !line.starts_with("case")).flat_map(|line| line.split(", "));
    let cell = |pair: &str| {
        let (at, number) = pair.split_once(' ').unwrap();
        (at.parse().unwrap(), number.parse().unwrap())
    };
    let [rows, columns] = [0, 1].map(|i: usize| sizes[i].parse().unwrap());
    Table { rows, columns, largest: sizes[2].parse().unwrap(), cells: cells.map(cell).collect() }
}

/// The samples of examples/data/speech.wav.
fn speech() -> Value {
    let bytes = include_bytes!("../../../examples/data/speech.wav");
    let samples = bytes[44..].chunks_exact(2).map(|b| f64::from(i16::from_le_bytes([b[0], b[1]])));
    let samples: Vec<f64> = samples.map(|x| x / 32_768.0).collect();
    array(&samples, &[samples.len()])
}

type Field = (&'static str, Value);

/// A table of ours, row by row, by an operation and a preset or the fields that are its own.
fn ours(op: &str, fields: &[Field]) -> (Vec<usize>, Vec<f64>) {
    let samples = if op == "filters" { Vec::new() } else { vec![speech()] };
    let result = call(op, [samples, keywords(fields)].concat()).0;
    let Value::Array(table) = result.unwrap().remove(0) else { panic!("no array") };
    (table.shape().to_vec(), table.numbers().map(|n| n.to_f64()).collect())
}

/// How far numbers may be off.
#[derive(Clone, Copy)]
enum Within {
    /// A part of the number and a part of the table's largest: energies.
    Parts(f64, f64),
    /// So much: logarithms.
    Much(f64),
}

fn compare(name: &str, op: &str, fields: &[Field], within: Within) {
    let (want, (shape, got)) = (kept(name), ours(op, fields));
    assert_eq!(shape, [want.rows, want.columns], "{name}");
    let mut worst = 0.0f64;
    for &(at, x) in &want.cells {
        let allowed = match within {
            Within::Parts(own, largest) => own * x.abs() + largest * want.largest,
            Within::Much(much) => much,
        };
        worst = worst.max((got[at] - x).abs() / allowed);
    }
    assert!(worst <= 1.0, "{name}: {worst} of what is allowed");
}

/// Fields of a preset at the rate of the speech.
fn by(preset: &'static str, more: &[Field]) -> Vec<Field> {
    [&[("rate", number(16_000.0)), ("preset", word(preset))], more].concat()
}

fn whole(name: &'static str, x: i64) -> Field {
    (name, Value::integer(x))
}

fn flag(name: &'static str) -> Field {
    (name, Value::True)
}

/// Smaller transforms and fewer bands, as the script asks them of librosa and torchaudio.
fn small() -> [Field; 4] {
    [whole("n-fft", 512), whole("win-length", 400), whole("hop-length", 160), whole("n-mels", 40)]
}

/// Both exact methods of a case.
fn both(name: &str, op: &str, fields: &[Field], within: Within) {
    for method in ["product", "fft"] {
        let with = [fields, &[("method", word(method))]].concat();
        compare(name, op, &with, within);
    }
}

/// Energies: 1e-5 of the number, where it is above 1e-4 of the largest, and 1e-9 of that at any size.
/// Logarithms and cepstra are held to less than 1e-5 of the largest of theirs, each to two or three times what
/// it was off when the figures were kept; our bits are the same everywhere.
const ENERGY: Within = Within::Parts(1e-5, 1e-9);

#[test]
fn energies_are_librosas_and_torchaudios_to_1e_5() {
    let librosa = |name, more: &[Field]| both(name, "spectrogram", &by("librosa", more), ENERGY);
    librosa("librosa", &[]);
    librosa("librosa reflect", &[("pad-mode", word("reflect"))]);
    let range = [("f-min", number(20.0)), ("f-max", number(7600.0))];
    let htk = [("mel-scale", word("htk")), ("norm", word("none"))];
    librosa("librosa htk", &[&small()[..], &range, &htk].concat());
    let torchaudio =
        |name, more: &[Field]| both(name, "spectrogram", &by("torchaudio", more), ENERGY);
    torchaudio("torchaudio", &[]);
    let slaney = [("mel-scale", word("slaney")), ("norm", word("slaney"))];
    torchaudio("torchaudio slaney", &[&small()[..], &slaney].concat());
}

/// `htk`, `power` and `center` as both packages say them: a magnitude is the root of an energy, and so may be as
/// far off as the root of its part of the largest.
#[test]
fn htk_power_and_center_mean_what_they_mean_there() {
    let inside = [whole("power", 1), ("center", Value::Nil)];
    let within = Within::Parts(1e-5, 1e-6);
    let sizes = [whole("n-fft", 400), whole("hop-length", 160), whole("n-mels", 40)];
    let htk = [flag("htk"), ("norm", word("none"))];
    let librosa = by("librosa", &[&sizes[..], &htk, &inside].concat());
    both("librosa magnitude", "spectrogram", &librosa, within);
    both("torchaudio magnitude", "spectrogram", &by("torchaudio", &inside), within);
    let kaldi = by("kaldi", &[whole("power", 1)]);
    both("kaldi magnitude", "spectrogram", &kaldi, Within::Much(5e-5));
}

#[test]
fn decibels_are_librosas_and_torchaudios() {
    let of = |name, preset| {
        both(name, "spectrogram", &by(preset, &[flag("db")]), Within::Much(1e-3));
    };
    of("librosa db", "librosa");
    // Down to -100: energies of 1e-10, where single precision ends.
    of("torchaudio db", "torchaudio");
}

#[test]
fn whispers_values_are_its_own() {
    let of = |name, preset, more: &[Field]| {
        both(name, "spectrogram", &by(preset, more), Within::Much(1e-5));
    };
    of("whisper-80", "whisper-80", &[]);
    of("whisper-128", "whisper-128", &[]);
    of("whisper-80 window30", "whisper-80", &[flag("window30")]);
}

#[test]
fn kaldis_logarithms_are_its_own_by_every_option() {
    let of = |name, more: &[Field], within| {
        both(name, "spectrogram", &by("kaldi", more), Within::Much(within));
    };
    let (eighty, mirror) = ([whole("mels", 80)], [("pad", word("mirror"))]);
    let frame = |length, shift| [("frame-length", number(length)), ("frame-shift", number(shift))];
    let own = 5e-5;
    of("kaldi", &[], own);
    of("kaldi 80", &eighty, own);
    of("kaldi mirror", &mirror, own);
    of("kaldi 32 8", &frame(32.0, 8.0), own);
    of("kaldi 40 12.5", &frame(40.0, 12.5), own);
    of("kaldi high", &[("f-min", number(60.0)), ("f-max", number(-400.0))], own);
    // Its own arithmetic is single.
    of("native", &[], 1e-4);
    of("native 80", &eighty, 1e-4);
    of("native mirror", &mirror, 1e-4);
}

/// `hann` is periodic everywhere (kaldi-native-fbank has it beside Kaldi's `hanning`), `hamming` and `blackman`
/// are symmetric in Kaldi alone.
#[test]
fn windows_are_those_of_each_package() {
    let of = |name: &str, preset, window, within| {
        let case = format!("{name} {window}");
        both(&case, "spectrogram", &by(preset, &[("window", word(window))]), within);
    };
    for window in ["hamming", "blackman"] {
        of("librosa", "librosa", window, ENERGY);
        of("torchaudio", "torchaudio", window, ENERGY);
    }
    for window in ["hanning", "hamming", "blackman", "rectangular"] {
        of("kaldi", "kaldi", window, Within::Much(5e-5));
    }
    // Its own arithmetic is single.
    for window in ["hann", "hanning", "hamming", "blackman", "rectangular"] {
        of("native", "kaldi", window, Within::Much(1e-4));
    }
}

#[test]
fn cepstra_are_those_of_each_package() {
    let of = |name, preset, more: &[Field], within| {
        both(name, "cepstra", &by(preset, more), Within::Much(within));
    };
    let thirteen = whole("n-mfcc", 13);
    of("librosa mfcc", "librosa", &[], 1e-4);
    let lifter = [thirteen.clone(), ("lifter", number(22.0))];
    of("librosa mfcc lifter", "librosa", &lifter, 1e-3);
    of("librosa mfcc deltas", "librosa", &[thirteen.clone(), flag("deltas")], 1e-4);
    of("torchaudio mfcc", "torchaudio", &[], 1e-4);
    of("torchaudio mfcc 13", "torchaudio", &[&[thirteen][..], &small()].concat(), 3e-4);
    let no_energy = [("use-energy", Value::Nil)];
    of("kaldi mfcc", "kaldi", &[], 2e-4);
    of("kaldi mfcc no energy", "kaldi", &no_energy, 2e-4);
    let plain = [whole("count", 20), ("lifter", number(0.0)), ("use-energy", Value::True)];
    of("kaldi mfcc 20 lifter 0", "kaldi", &plain, 3e-5);
    of("native mfcc", "kaldi", &[], 6e-4);
    of("native mfcc no energy", "kaldi", &no_energy, 6e-4);
}

#[test]
fn filters_are_those_of_each_package() {
    let of = |name, fields: &[Field], within| compare(name, "filters", fields, within);
    let rounded = Within::Parts(1e-7, 1e-9);
    of("filters librosa", &[("rate", number(22_050.0)), ("preset", word("librosa"))], rounded);
    let range = [("f-min", number(20.0)), ("f-max", number(7600.0))];
    let htk = [("mel-scale", word("htk")), ("norm", word("none"))];
    let fields = [whole("n-fft", 512), whole("mels", 40)];
    let htk = [&by("librosa", &fields)[..], &range, &htk].concat();
    of("filters librosa htk", &htk, rounded);
    of("filters torchaudio", &by("torchaudio", &[]), rounded);
    for name in ["whisper-80", "whisper-128"] {
        // Stored in single precision.
        compare(&format!("filters {name}"), "filters", &by(name, &[]), Within::Parts(1e-6, 1e-7));
    }
    of("filters kaldi", &by("kaldi", &[]), rounded);
}

/// Where an energy is above 1e-6 of the largest its logarithm is within 5e-5 of the definition's, and the
/// energies are within 2e-6 of the largest (spec mel 3).
#[test]
fn every_kept_energy_is_within_the_stated_bound() {
    for preset in ["librosa", "torchaudio"] {
        let want = kept(preset);
        for method in ["product", "fft"] {
            let got = ours("spectrogram", &by(preset, &[("method", word(method))])).1;
            for &(at, x) in &want.cells {
                assert!((got[at] - x).abs() <= 2e-6 * want.largest, "{preset} {method} {at}");
                if x > 1e-6 * want.largest {
                    let off = (got[at].log10() - x.log10()).abs();
                    assert!(off <= 5e-5, "{preset} {method} {at}: {off}");
                }
            }
        }
    }
}
