//! Transforms on a device: within the bound of their class of those of the kept library, over
//! operands here and there and lines along any axis; and what a device leaves to the processor.

#[path = "common/card.rs"]
mod card;

use rung_array::Array;
use rung_base::{ElementType, Explain, Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::trial::run;
use rung_ops::{Decline, Ladder, Rung, Value, table};

fn portable() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()))
}

/// A ladder whose device wants every call.
fn eager() -> Ladder {
    let device = card::device();
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = Explain::Table;
    let off = Err(Decline::Off("test"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(2)), off, Ok(device));
    ladder.costs.device.make_free();
    ladder
}

/// Numbers in [-1, 1) with full significands.
fn spread(extents: &[usize], seed: usize) -> Array {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let number = |i: usize| {
        let fraction = (i + seed + 1) as f64 * 0.618_033_988_749_894_9;
        2.0 * (fraction - fraction.floor()) - 1.0
    };
    Array::from_slice(&(0..shape.size()).map(number).collect::<Vec<f64>>(), shape).unwrap()
}

fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

fn first(values: Vec<Value>) -> Array {
    match values.into_iter().next() {
        Some(Value::Array(a)) => a,
        other => panic!("no array: {other:?}"),
    }
}

fn called(ladder: &mut Ladder, name: &str, a: &Array, rest: &[Value]) -> Array {
    let values = [&[Value::Array(a.clone())], rest].concat();
    let a = first(run(ladder, table::find(name).unwrap(), values).unwrap());
    a.home().unwrap();
    a
}

/// The relative distance of two arrays in the 2-norm.
fn distance(got: &Array, wanted: &Array) -> f64 {
    assert_eq!((got.shape(), got.element_type()), (wanted.shape(), wanted.element_type()));
    let numbers = |a: &Array| a.numbers().map(|n| n.to_f64()).collect::<Vec<f64>>();
    let (got, wanted) = (numbers(got), numbers(wanted));
    let far: f64 = got.iter().zip(&wanted).map(|(x, y)| (x - y).powi(2)).sum();
    let size: f64 = wanted.iter().map(|y| y * y).sum();
    (far / size.max(f64::MIN_POSITIVE)).sqrt()
}

#[test]
fn every_transform_is_near_the_kept_librarys() {
    let (mut here, mut there) = (portable(), eager());
    there.only = Some(Rung::Device);
    let residency = there.residency().unwrap().clone();
    for n in [1, 2, 3, 5, 6, 7, 8, 12, 97, 100, 256, 1000, 1023, 4096, 4097, 6561] {
        let (real, complex) = (spread(&[3, n], n), spread(&[3, n, 2], n));
        let bins = spread(&[3, n / 2 + 1, 2], n);
        let points = [word("n"), Value::integer(n as i64)];
        for t in [ElementType::F64, ElementType::F32] {
            let epsilon = if t == ElementType::F64 { f64::EPSILON } else { f32::EPSILON.into() };
            for (name, a, rest) in [
                ("fft", &real, &[][..]),
                ("fft", &complex, &[word("complex"), Value::True]),
                ("ifft", &complex, &[]),
                ("rfft", &real, &[word("norm"), word("ortho")]),
                ("irfft", &bins, &points),
            ] {
                let a = a.convert(t).unwrap();
                let wanted = called(&mut here, name, &a, rest);
                for resident in [false, true] {
                    if resident {
                        residency.keep(&a).unwrap();
                    }
                    let got = called(&mut there, name, &a, rest);
                    let far = distance(&got, &wanted);
                    let bound = 8.0 * f64::EPSILON * (n as f64).log2().max(1.0) + epsilon;
                    assert!(far <= bound, "{name} of {n} {t}, resident {resident}: {far:e}");
                }
            }
        }
    }
}

#[test]
fn lines_lie_along_any_axis_and_are_cut_and_extended() {
    let (mut here, mut there) = (portable(), eager());
    let turned = spread(&[5, 12, 2], 1).transpose(&[1, 0, 2]).unwrap();
    let n = |n| [word("n"), Value::integer(n)];
    let axis = |i| [word("axis"), Value::integer(i)];
    for rest in [
        [n(8), axis(0)].concat(),
        [n(16), axis(0)].concat(),
        [n(16), axis(1)].concat(),
        [n(1), axis(-2)].concat(),
    ] {
        for name in ["ifft", "irfft", "rfft"] {
            let wanted = called(&mut here, name, &turned, &rest);
            there.count_anew();
            let got = called(&mut there, name, &turned, &rest);
            let json = there.calls.json(&|_| String::new());
            assert_eq!(json["calls"][0]["rung"], "device", "{name} {rest:?}: {json}");
            assert!(distance(&got, &wanted) < 32.0 * f64::EPSILON, "{name} {rest:?}");
        }
    }
}

#[test]
fn a_number_that_is_none_reaches_its_own_line_alone() {
    let mut there = eager();
    let mut x = spread(&[2, 8], 1);
    x.make_mut::<f64>().unwrap()[3] = f64::NAN;
    let got = called(&mut there, "fft", &x, &[]);
    let numbers: Vec<f64> = got.numbers().map(|n| n.to_f64()).collect();
    let (own, other) = numbers.split_at(16);
    assert!(own.chunks(2).all(|bin| bin[0].is_nan() || bin[1].is_nan()));
    assert!(other.iter().all(|x| x.is_finite()));
}

/// The transform of a few points, term by term, in more digits than a double has.
fn term_by_term(line: &[f64]) -> Vec<f64> {
    let n = line.len() / 2;
    let bin = |j: usize| {
        let mut sum = [(0.0f64, 0.0f64); 2];
        for k in 0..n {
            let angle = std::f64::consts::TAU * (j * k % n) as f64 / n as f64;
            let (c, s) = (angle.cos(), -angle.sin());
            let (a, b) = (line[2 * k], line[2 * k + 1]);
            for (at, terms) in [[a * c, -b * s], [a * s, b * c]].into_iter().enumerate() {
                for term in terms {
                    let (old, low) = sum[at];
                    let new = old + term;
                    let part = new - old;
                    sum[at] = (new, low + ((old - (new - part)) + (term - part)));
                }
            }
        }
        sum.map(|(high, low)| high + low)
    };
    (0..n).flat_map(bin).collect()
}

/// Every length in turn, by itself and not beside another library's transform: within the bound of
/// the class, 4 eps log2 n, beside what the reference's own angles lack.
#[test]
fn every_length_is_near_the_true_transform() {
    let mut there = eager();
    there.only = Some(Rung::Device);
    let mut worst = (0.0, 0);
    for n in (1..=66).chain([121, 127, 243, 257, 360, 625]) {
        let x = spread(&[n, 2], 3 * n);
        let numbers: Vec<f64> = x.numbers().map(|x| x.to_f64()).collect();
        let wanted = Array::from_slice(&term_by_term(&numbers), x.shape().clone()).unwrap();
        let got = called(&mut there, "fft", &x, &[word("complex"), Value::True]);
        let far = distance(&got, &wanted);
        let bound = f64::EPSILON * (4.0 * (n as f64).log2() + 2.0);
        assert!(far <= bound, "{n}: {far:e}, {bound:e}");
        worst = if far / bound > worst.0 { (far / bound, n) } else { worst };
    }
    println!("at most {:.2} of the bound, at {} points", worst.0, worst.1);
}

/// Each length has a table of its own, which stays for the last of them.
#[test]
fn a_thousand_lengths_keep_few_tables() {
    let mut there = eager();
    let residency = there.residency().unwrap().clone();
    let moved = |n: usize, there: &mut Ladder| {
        let before = residency.moved().up;
        called(there, "fft", &spread(&[n], n), &[]);
        residency.moved().up - before
    };
    let bits = called(&mut there, "fft", &spread(&[33], 33), &[]);
    let (points, table) = (33 * 8, (33 + 128) * 16);
    assert_eq!(moved(33, &mut there), points, "its table is there");
    for n in 34..64 {
        moved(n, &mut there);
    }
    let most = 64 * 16 + 8 * (64 + 128) * 16;
    // What was sent once and read here stays as well: the lines themselves.
    assert!(residency.resident() < most + 64 * 64 * 16, "{}", residency.resident());
    assert_eq!(moved(33, &mut there), points + table, "its table was dropped");
    let again = called(&mut there, "fft", &spread(&[33], 33), &[]);
    rung_ops::trial::assert_same(&[bits.into()], &[again.into()], "33 points");
}

/// The turns go up with the first transform of a length; a result stays and is the next's operand.
#[test]
fn turns_are_sent_once_and_results_stay() {
    let mut there = eager();
    let residency = there.residency().unwrap().clone();
    let x = spread(&[2, 64, 2], 1);
    let complex = [word("complex"), Value::True];
    let of = |a: &Array| [&[Value::Array(a.clone())], &complex[..]].concat();
    let fft = table::find("fft").unwrap();
    let first_bins = first(run(&mut there, fft, of(&x)).unwrap());
    assert!(!first_bins.is_home() && residency.holds(&first_bins));
    let moved = residency.moved();
    assert_eq!(moved.up, 2 * 64 * 16 + 32 * 16);
    let second = first(run(&mut there, fft, of(&first_bins)).unwrap());
    assert!(!second.is_home() && residency.moved() == moved);
}

/// `--on-decline=verify` judges by the bound of the class, and finds what is beyond it.
#[test]
fn verify_knows_the_bound() {
    let mut there = eager();
    there.verify(true);
    for n in [1, 2, 3, 16, 60, 1024, 1025] {
        called(&mut there, "fft", &spread(&[3, n], n), &[]);
    }
}

/// Every kernel as PTX.
#[test]
#[cfg(target_os = "linux")]
fn the_same_over_the_stand_in_for_nvidia_s_driver() {
    let quick = [
        "a_number_that_is_none_reaches_its_own_line_alone",
        "every_length_is_near_the_true_transform",
    ];
    card::again_as_ptx(&quick, &[]);
}
