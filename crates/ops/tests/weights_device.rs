//! Histograms of weighted elements on a device: the bits of the definition, which adds the weights
//! of a bin in the order of the elements.

#[path = "common/card.rs"]
mod card;

use rung_array::Array;
use rung_base::{ElementType, Settings};
use rung_lanes::Lanes;
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Ladder, Rung, Value, table};

fn portable() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()))
}

/// A ladder that asks the device alone.
fn device_alone() -> Ladder {
    let device = card::device();
    let mut settings = Settings::default();
    settings.gpu.value = true;
    let off = Err(Decline::Off("test"));
    let mut ladder = Ladder::with_rungs(&settings, Some(Lanes::new(2)), off, Ok(device));
    ladder.costs.device.make_free();
    ladder.only = Some(Rung::Device);
    ladder
}

/// Numbers with full significands, every ninth one that hurts.
fn hurting(count: usize, seed: usize, scale: f64) -> Array {
    const HARD: [f64; 8] =
        [f64::NAN, -0.0, 0.0, 5e-324, f64::INFINITY, -1e308, f64::MAX, f64::NEG_INFINITY];
    let number = |i: usize| {
        let fraction = (i + seed + 1) as f64 * 0.618_033_988_749_894_9;
        match i % 9 {
            0 if seed > 0 => HARD[(i / 9 + seed) % HARD.len()],
            _ => scale * (2.0 * (fraction - fraction.floor()) - 1.0),
        }
    };
    Array::vector(&(0..count).map(number).collect::<Vec<f64>>()).unwrap()
}

/// Llvmpipe ends the loops of a kernel after 65,535 turns without a word: a histogram of 70,000 weights
/// had the sums of the first 65,027, and products of as many steps and long runs of one index too little.
#[test]
fn loops_that_a_driver_ends_decline() {
    let mut there = device_alone();
    let residency = there.residency().unwrap().clone();
    let kept = |a: Array| {
        residency.keep(&a).unwrap();
        Value::Array(a)
    };
    let ones = |shape: &[usize]| {
        let count = shape.iter().product::<usize>();
        let ones = Array::vector(&vec![1.0f64; count]).unwrap();
        ones.reshape(rung_base::Shape::new(shape.iter().copied()).unwrap()).unwrap()
    };
    let word = |name: &'static str| Value::Keyword(name.into());
    let n = 70_000;
    let range = [0.0, 2.0].map(|x| Value::Number(rung_array::Number::F64(x))).to_vec();
    let histogram = vec![
        kept(ones(&[n])),
        word("bins"),
        Value::integer(3),
        word("range"),
        Value::List(range),
        word("weights"),
        kept(ones(&[n])),
    ];
    let zeros = Array::vector(&vec![0i64; n]).unwrap();
    let counts = vec![Value::Array(zeros), word("weights"), kept(ones(&[n]))];
    let product = vec![kept(ones(&[128, n])), kept(ones(&[n, 128]))];
    for (name, values) in [("histogram", histogram), ("bincount", counts), ("matmul", product)] {
        match run(&mut there, table::find(name).unwrap(), values) {
            Ok(_) => panic!("{name} ran on the device"),
            Err(e) => {
                let text = e.message();
                assert!(text.contains("ends a kernel's loops after 65535 turns"), "{name}: {text}");
            }
        }
    }
}

#[test]
fn weights_are_added_in_the_order_of_the_elements() {
    let (mut here, mut there) = (portable(), device_alone());
    let residency = there.residency().unwrap().clone();
    let counts = [0, 1, 2, 255, 256, 257, 4095, 4096, 4097];
    for (count, bins) in counts.into_iter().flat_map(|n| [1, 7, 255, 256, 257].map(|b| (n, b))) {
        for t in [ElementType::F64, ElementType::F32, ElementType::F16] {
            for seed in [0, 3] {
                let x = hurting(count, seed, 5.0).convert(t).unwrap();
                let weights = hurting(count, 2 * seed, 1.0).convert(t).unwrap();
                residency.keep(&x).unwrap();
                residency.keep(&weights).unwrap();
                let word = |name: &'static str| Value::Keyword(name.into());
                let range = [-4.0, 4.0].map(|x| Value::Number(rung_array::Number::F64(x)));
                let values = || {
                    vec![
                        x.clone().into(),
                        word("bins"),
                        Value::integer(bins),
                        word("range"),
                        Value::List(range.to_vec()),
                        word("weights"),
                        weights.clone().into(),
                    ]
                };
                let op = table::find("histogram").unwrap();
                let wanted = run(&mut here, op, values()).unwrap();
                let got = run(&mut there, op, values()).unwrap();
                let context = format!("{count} {t} in {bins} bins, seed {seed}");
                assert_same(&wanted, &got, &context);
            }
        }
    }
}

/// Every kernel as PTX.
#[test]
#[cfg(target_os = "linux")]
fn the_same_over_the_stand_in_for_nvidia_s_driver() {
    card::again_as_ptx(&[], &["loops_that_a_driver_ends_decline"]);
}
