//! `--precision`: which calls it reaches, that their results stay within the stated bound, and what is said
//! of those that stay strict.

mod calls;
#[path = "noise/mod.rs"]
mod noise;

use calls::{Told, keywords, number, word};
use rung_array::Array;
use rung_base::{Explain, OnDecline, Precision, Result, Settings, Shape};
use rung_lanes::{Lanes, Level};
use rung_mel::SOLVER;
use rung_ops::{Decline, Ladder, Value};

/// A run whose calls are compared with the definition.
struct Run {
    ladder: Ladder,
    told: Told,
}

impl Run {
    fn on(lanes: Option<Lanes>, precision: Precision) -> Run {
        let mut settings = Settings::default();
        settings.precision.value = precision;
        settings.on_decline.value = OnDecline::Verify;
        settings.explain.value = Explain::Table;
        let off = || Decline::Off("test");
        let ladder = Ladder::with_rungs(&settings, lanes, Err(off()), Err(off()));
        Run { ladder, told: Told::default() }
    }

    fn new(precision: Precision) -> Run {
        Run::on(Some(Lanes::new(2)), precision)
    }

    fn call(
        &mut self,
        name: &str,
        samples: &[f32],
        words: &[(&'static str, Value)],
    ) -> Result<Vec<Value>> {
        let op = SOLVER.operations.iter().find(|op| op.name() == name).unwrap();
        let samples = Array::from_slice(samples, Shape::vector(samples.len())).unwrap();
        let values = [vec![samples.into()], keywords(words)].concat();
        self.ladder.call(op, values, &mut self.told)
    }

    fn rungs(&self) -> Vec<String> {
        let json = self.ladder.calls.json(&|_| String::new());
        let rows = json["calls"].as_array().unwrap();
        rows.iter().map(|row| row["rung"].as_str().unwrap().to_string()).collect()
    }
}

fn by(preset: &'static str, more: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
    let base = [("rate", number(16_000.0)), ("preset", word(preset))];
    [&base, more].concat()
}

fn numbers(results: &[Value]) -> Vec<f32> {
    match &results[0] {
        Value::Array(array) => array.as_slice::<f32>().unwrap().to_vec(),
        other => panic!("{other}"),
    }
}

/// Two tones, 70 dB apart, under noise 100 dB down: bands of every size.
fn sound(count: usize) -> Vec<f32> {
    let noise = noise::noise(count);
    let tone = |i: usize, f: f32| (i as f32 * f).sin();
    (0..count).map(|i| 0.5 * tone(i, 0.2) + 2e-4 * tone(i, 1.9) + 1e-5 * noise[i]).collect()
}

#[test]
fn bf16_reaches_products_and_melt_within_the_bound_of_the_definition() {
    let ways: [(&str, Vec<(&str, Value)>); 3] = [
        ("product", vec![("method", word("product"))]),
        ("melt", vec![("mode", word("melt"))]),
        ("melt of 3", vec![("mode", word("melt")), ("points", Value::integer(3))]),
    ];
    let presets = ["librosa", "torchaudio", "whisper-80", "whisper-128", "kaldi"];
    for samples in [sound(3000), noise::noise(2600), vec![0.0; 2100]] {
        for preset in presets {
            for (way, words) in &ways {
                for more in
                    [vec![], vec![("power", Value::integer(1))], vec![("type", word("f16"))]]
                {
                    let words = by(preset, &[words.clone(), more].concat());
                    let (mut less, mut strict) =
                        (Run::new(Precision::Bf16), Run::new(Precision::Strict));
                    let context = format!("{preset} {way} {words:?}");
                    let got = less.call("spectrogram", &samples, &words);
                    let got = got.unwrap_or_else(|e| panic!("{context}: {e}"));
                    let want = strict.call("spectrogram", &samples, &words).unwrap();
                    assert_eq!(less.rungs(), ["lanes bf16"], "{context}");
                    assert_eq!(strict.rungs(), ["lanes"], "{context}");
                    assert!(less.told.notes == strict.told.notes, "{context}");
                    let all = |x: &Value| match x {
                        Value::Array(array) => {
                            array.numbers().map(|x| x.to_f64()).collect::<Vec<_>>()
                        }
                        other => panic!("{other}"),
                    };
                    let is_silent = samples.iter().all(|x| *x == 0.0);
                    assert_eq!(all(&got[0]) == all(&want[0]), is_silent, "{context}");
                }
            }
        }
    }
}

/// What the root of an energy may be off in whisper's frames, and what it is: the bound is the worst case.
#[test]
fn energies_of_bf16_are_near() {
    let samples = noise::noise(8000);
    let power = [("method", word("product")), ("n-fft", Value::integer(400))];
    let words = by("torchaudio", &power);
    let got = numbers(&Run::new(Precision::Bf16).call("spectrogram", &samples, &words).unwrap());
    let want = numbers(&Run::new(Precision::Strict).call("spectrogram", &samples, &words).unwrap());
    let largest = want.iter().copied().fold(0.0f32, f32::max);
    let off = got.iter().zip(&want).map(|(x, y)| (x - y).abs() / largest).fold(0.0f32, f32::max);
    assert!(off > 1e-5 && off < 4e-3, "{off}");
}

/// A result that is farther off is an error of `--on-decline=verify`.
#[test]
fn what_lies_outside_the_bound_is_found() {
    use rung_mel::engine::{Bound, Engine, Side};
    use rung_mel::{Plan, Preset};
    let preset = Preset { rate: 16_000.0, ..Preset::named("torchaudio").unwrap() };
    let plan = Plan::new(preset, Some(rung_mel::Method::Product)).unwrap();
    let samples = noise::noise(1000);
    let at = |engine| plan.energies_by(engine, &samples).unwrap().bands;
    let part = 2f64.powi(-7);
    let (least, exact, greatest) = (
        at(Engine::Off(Bound { part, side: Side::Least })),
        at(Engine::Plain),
        at(Engine::Off(Bound { part, side: Side::Greatest })),
    );
    let mut wide = 0;
    for ((least, exact), greatest) in least.iter().zip(&exact).zip(&greatest) {
        assert!(least <= exact && exact <= greatest);
        wide += usize::from(*least == 0.0);
    }
    // The bound says something of most energies of noise.
    assert!(wide < exact.len() / 2, "{wide} of {}", exact.len());
    // Samples of 8 bits less are within the bound of bf16 and beyond a hundredth of it.
    let rounded: Vec<f32> =
        samples.iter().map(|x| rung_lanes::product::bf16::rounded(*x)).collect();
    let got = plan.energies(None, &rounded).unwrap().bands;
    let inside = |part: f64| {
        let least = at(Engine::Off(Bound { part, side: Side::Least }));
        let greatest = at(Engine::Off(Bound { part, side: Side::Greatest }));
        got.iter().zip(least.iter().zip(&greatest)).all(|(x, (a, b))| (a..=b).contains(&x))
    };
    assert!(inside(part) && !inside(part * 1e-3));
}

#[test]
fn what_has_no_product_stays_strict_and_says_so() {
    let samples = sound(3000);
    let fft = by("whisper-80", &[("method", word("fft"))]);
    for precision in [Precision::Bf16, Precision::Tf32] {
        let mut run = Run::new(precision);
        let got = run.call("spectrogram", &samples, &fft).unwrap();
        run.call("spectrogram", &samples, &fft).unwrap();
        let want = Run::new(Precision::Strict).call("spectrogram", &samples, &fft).unwrap();
        assert_eq!(numbers(&got), numbers(&want));
        assert_eq!(run.rungs(), ["lanes strict"]);
        let text = format!(
            "--precision={precision}: spectrogram stays strict with method fft, which has no product; \
             method product has one."
        );
        assert_eq!(run.told.notes, [text]);
    }
    let mut run = Run::new(Precision::Bf16);
    run.call("cepstra", &samples, &by("kaldi", &[])).unwrap();
    assert_eq!(
        run.told.notes,
        ["--precision=bf16: cepstra stays strict: cepstra are made of bands in f32."]
    );
    // Without lanes there is nobody who rounds, as with a product of package linalg.
    let mut run = Run::on(None, Precision::Bf16);
    run.call("spectrogram", &samples, &by("whisper-80", &[])).unwrap();
    assert_eq!(run.rungs(), ["portable strict"]);
}

/// On every level of lanes and any number of threads, a stream of bf16 has the bits of one call of bf16.
#[test]
fn streams_of_bf16_have_the_bits_of_one_call() {
    let samples = sound(4000);
    let words = by("torchaudio", &[("mode", word("melt"))]);
    for level in Level::available() {
        let run = |threads| Run::on(Some(Lanes::with(level, threads)), Precision::Bf16);
        let want = numbers(&run(1).call("spectrogram", &samples, &words).unwrap());
        let (mut stream, mut rows, mut state) = (run(3), Vec::new(), None);
        for (at, piece) in samples.chunks(700).enumerate() {
            let is_last = (at + 1) * 700 >= samples.len();
            let mut words = [words.clone(), vec![("last", Value::flag(is_last))]].concat();
            words.extend(state.take().map(|state| ("state", state)));
            let results = stream.call("stream", piece, &words).unwrap();
            rows.extend(numbers(&results));
            state = Some(results[1].clone());
        }
        assert!(stream.rungs().iter().all(|rung| rung == "lanes bf16"), "{:?}", stream.rungs());
        let (bands, frames) = (128, want.len() / 128);
        let turned: Vec<f32> =
            (0..want.len()).map(|i| want[i % bands * frames + i / bands]).collect();
        assert_eq!(rows, turned, "{level:?}");
    }
}
