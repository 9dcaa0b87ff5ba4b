//! Energies against the plain sums of the definition, and what no cutting and no thread may change.

mod noise;

use noise::noise;
use rung_lanes::{Lanes, Level};
use rung_mel::filters::Filters;
use rung_mel::frames::Frames;
use rung_mel::preset::Padding;
use rung_mel::{Method, PRESETS, Plan, Preset};
use std::f64::consts::TAU;

const METHODS: [Method; 4] =
    [Method::Fft, Method::Product, Method::Melt { points: 1 }, Method::Melt { points: 3 }];

fn plan(preset: Preset, method: Method) -> Plan {
    Plan::new(preset, Some(method)).unwrap()
}

/// The energies of a frame by the transform's sum, in f64.
fn defined(preset: &Preset, samples: &[f32], t: usize) -> Vec<f64> {
    let mut frame = vec![0.0; preset.window_length];
    Frames::new(preset, samples).unwrap().read(t, &mut frame);
    let window = preset.window.weights(frame.len());
    let n = preset.n_fft;
    let power = |k: usize| {
        let turn = |j: usize| TAU * ((k * j) % n) as f64 / n as f64;
        let sum = |part: &dyn Fn(f64) -> f64| -> f64 {
            let terms = frame.iter().zip(&window).enumerate();
            terms.map(|(j, (x, w))| x * w * part(turn(j))).sum()
        };
        sum(&f64::cos).powi(2) + sum(&f64::sin).powi(2)
    };
    let power: Vec<f64> = (0..n / 2 + 1).map(power).collect();
    let filters = Filters::new(preset).unwrap();
    (0..filters.len()).map(|band| filters.energy(band, &power)).collect()
}

#[test]
fn both_exact_methods_are_near_the_definition() {
    let samples = noise(2500);
    for preset in PRESETS {
        for method in [Method::Fft, Method::Product] {
            let got = plan(*preset, method).energies(Some(&Lanes::new(1)), &samples).unwrap();
            let largest = got.bands.iter().copied().fold(0.0, f32::max) as f64;
            for t in [0, 1, got.frames - 1] {
                let row = &got.bands[t * preset.mels..][..preset.mels];
                for (got, want) in row.iter().zip(defined(preset, &samples, t)) {
                    let off = (f64::from(*got) - want).abs() / largest;
                    assert!(off <= 2e-6, "{} {method:?} {t}: {off}", preset.name);
                }
            }
        }
    }
}

#[test]
fn a_frame_has_its_bits_whatever_is_computed_with_it() {
    let (samples, kaldi) = (noise(160 * 300), Preset::named("kaldi").unwrap());
    let bits = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for method in METHODS {
        let plan = plan(kaldi, method);
        let whole = plan.energies(Some(&Lanes::new(1)), &samples).unwrap();
        for level in Level::available() {
            for threads in [1, 2, 3] {
                let again = plan.energies(Some(&Lanes::with(level, threads)), &samples).unwrap();
                assert_eq!(
                    bits(&again.bands),
                    bits(&whole.bands),
                    "{method:?} {level:?} {threads}"
                );
                assert_eq!(bits(&again.log_energy), bits(&whole.log_energy));
            }
        }
        // 17 frames alone, from frame 250 on, which another block of the whole computes.
        let part = &samples[160 * 250..160 * 266 + 400];
        let part = plan.energies(Some(&Lanes::new(2)), part).unwrap();
        assert_eq!(part.frames, 17);
        assert_eq!(bits(&part.bands), bits(&whole.bands[250 * 23..267 * 23]), "{method:?}");
    }
}

#[test]
fn frames_side_by_side_have_the_bits_of_the_definition() {
    let samples = noise(4000);
    let bits = |list: &[f32]| list.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    for preset in PRESETS {
        // 14 = 2 * 7 and 31 points are the kept library's.
        for (n_fft, window_length) in [(400, 400), (64, 33), (480, 480), (14, 14), (31, 30)] {
            let preset = Preset { n_fft, window_length, mels: 5, hop: 160, ..*preset };
            let plan = plan(preset, Method::Fft);
            for count in [0, 1, 500, 900, 1600, 1700, 4000] {
                let Ok(want) = plan.energies(None, &samples[..count]) else { continue };
                for level in Level::available() {
                    let lanes = Lanes::with(level, 1);
                    let got = plan.energies(Some(&lanes), &samples[..count]).unwrap();
                    let text = format!("{} {n_fft} {count} {level:?}", preset.name);
                    assert_eq!(bits(&got.bands), bits(&want.bands), "{text}");
                    assert_eq!(bits(&got.log_energy), bits(&want.log_energy), "{text}");
                }
            }
        }
    }
}

#[test]
fn a_sine_at_the_centre_of_a_band_is_largest_there() {
    for name in ["whisper-80", "librosa"] {
        let preset = Preset { rate: 16_000.0, mels: 40, ..Preset::named(name).unwrap() };
        let filters = Filters::new(&preset).unwrap();
        for band in (0..40).step_by(3) {
            let frequency = filters.corners[band + 1];
            let at = |i: usize| (TAU * frequency * i as f64 / 16_000.0).sin() as f32;
            let samples: Vec<f32> = (0..8192).map(at).collect();
            for method in METHODS {
                let got = plan(preset, method).energies(Some(&Lanes::new(1)), &samples).unwrap();
                let row = &got.bands[got.frames / 2 * 40..][..40];
                let most = (0..40).max_by(|&a, &b| row[a].total_cmp(&row[b])).unwrap();
                // Triangles of unlike norms overlap: the two lowest of a coarse transform may tie.
                assert!(
                    most.abs_diff(band) <= usize::from(band < 2),
                    "{name} {method:?} {band} {most}"
                );
            }
        }
    }
}

#[test]
fn white_noise_has_the_same_mean_energy_by_sinusoids_of_the_bands() {
    let (samples, preset) = (noise(160_000), Preset::named("whisper-80").unwrap());
    let mean = |method| {
        let energies = plan(preset, method).energies(Some(&Lanes::new(2)), &samples).unwrap();
        energies.bands.iter().map(|&e| f64::from(e)).sum::<f64>() / energies.bands.len() as f64
    };
    let exact = mean(Method::Product);
    for points in [1, 2, 3, 5] {
        let ratio = mean(Method::Melt { points }) / exact;
        assert!((ratio - 1.0).abs() < 0.015, "{points} points: {ratio}");
    }
}

#[test]
fn silence_short_and_odd_signals_have_an_answer() {
    let lanes = Lanes::new(1);
    for preset in PRESETS {
        let zeros = Preset { padding: Padding::Zero, ..*preset };
        for count in [0, 1, 2, 399, 400, 401, 1025] {
            let table =
                plan(zeros, Method::Fft).spectrogram(Some(&lanes), &noise(count), None).unwrap();
            assert_eq!(table.numbers.len(), table.shape[0] * table.shape[1]);
            assert!(table.numbers.iter().all(|x| x.is_finite()), "{} {count}", preset.name);
        }
    }
    let whisper = Preset::named("whisper-80").unwrap();
    let silent =
        plan(whisper, Method::Product).spectrogram(Some(&lanes), &[0.0; 1600], None).unwrap();
    assert!(silent.numbers.iter().all(|&x| x == -1.5));
}
