//! The packages' own numbers: librosa 0.11.0 and kaldi-native-fbank called, torchaudio's and Whisper's
//! rules in f64 by numpy with librosa's filters.

use rung_lanes::Lanes;
use rung_mel::spectrogram::Table;
use rung_mel::{Method, Plan, Preset};
use std::f64::consts::TAU;

/// Half a second: a tone, a sweep and a faint high tone.
fn samples() -> Vec<f32> {
    let at = |i: usize| {
        let s = i as f64 / 16_000.0;
        let sweep = (TAU * (100.0 * s + 3000.0 * s * s)).sin();
        (0.4 * (TAU * 440.0 * s).sin() + 0.3 * sweep + 0.05 * (TAU * 6100.0 * s).sin()) as f32
    };
    (0..8000).map(at).collect()
}

/// A row, a column and the number there.
type Cell = (usize, usize, f32);

struct Known {
    preset: &'static str,
    cepstra: bool,
    shape: [usize; 2],
    cells: [Cell; 4],
    /// How far a number may be off.
    within: f32,
}

const KNOWN: &[Known] = &[
    Known {
        preset: "librosa",
        cepstra: false,
        shape: [128, 16],
        cells: [(0, 0, 9.160028), (7, 3, 1.59897e-6), (64, 8, 28.090109), (127, 15, 0.0019653814)],
        within: 1240.8 * 2e-6,
    },
    Known {
        preset: "librosa",
        cepstra: true,
        shape: [20, 16],
        cells: [(0, 0, -184.051), (7, 3, 11.744389), (10, 8, -3.8205447), (19, 15, 7.394735)],
        within: 3e-4,
    },
    Known {
        preset: "torchaudio",
        cepstra: false,
        shape: [128, 41],
        cells: [(0, 0, 0.0), (7, 3, 0.015232957), (64, 20, 0.07409828), (127, 40, 5.92791e-4)],
        within: 1697.9 * 2e-6,
    },
    Known {
        preset: "whisper-80",
        cepstra: false,
        shape: [80, 50],
        cells: [(0, 0, 1.2786419), (7, 3, 1.2808188), (40, 25, 0.82123226), (79, 49, -0.6002296)],
        within: 4e-5,
    },
    Known {
        preset: "whisper-128",
        cepstra: false,
        shape: [128, 50],
        cells: [(0, 0, 1.2028828), (7, 3, 0.9384569), (64, 25, 0.8443284), (127, 49, -0.5524964)],
        within: 4e-5,
    },
    Known {
        preset: "kaldi",
        cepstra: false,
        shape: [48, 23],
        cells: [(0, 0, 21.225473), (7, 3, 24.819906), (24, 11, 25.962194), (47, 22, 10.325997)],
        within: 3e-4,
    },
    Known {
        preset: "kaldi",
        cepstra: true,
        shape: [48, 13],
        cells: [(0, 0, 24.685669), (7, 3, -107.174866), (24, 6, -159.55865), (47, 12, -8.331053)],
        // The lifter makes 12 of what a logarithm of theirs, in f32, is off.
        within: 12.0 * 9e-4,
    },
];

fn result(known: &Known, method: Method) -> Table {
    let plan = Plan::new(Preset::named(known.preset).unwrap(), Some(method)).unwrap();
    let lanes = Lanes::new(2);
    match known.cepstra {
        true => plan.cepstra(Some(&lanes), &samples()).unwrap(),
        false => plan.spectrogram(Some(&lanes), &samples(), None).unwrap(),
    }
}

#[test]
fn every_preset_has_the_numbers_of_its_package() {
    for known in KNOWN {
        for method in [Method::Fft, Method::Product] {
            let table = result(known, method);
            assert_eq!(table.shape, known.shape, "{} {method:?}", known.preset);
            for (row, column, want) in known.cells {
                let got = table.numbers[row * table.shape[1] + column];
                let near = (got - want).abs() <= known.within;
                assert!(near, "{} {method:?} {row} {column}: {got}, not {want}", known.preset);
            }
        }
    }
}
