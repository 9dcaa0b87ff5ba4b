//! Histograms of weighted elements on a device: the bits of the definition, which adds the weights
//! of a bin in the order of the elements.

use rung_array::Array;
use rung_base::{DeviceChoice, ElementType, Settings};
use rung_lanes::Lanes;
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Ladder, Rung, Value, table};

fn portable() -> Ladder {
    let off = || Decline::Off("test");
    Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()))
}

/// A ladder that asks the device alone.
fn device_alone() -> Ladder {
    let device = rung_device::probe(&DeviceChoice::Named("llvmpipe".into()))
        .expect("the device rung is tested on lavapipe: install mesa-vulkan-drivers libvulkan1");
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
