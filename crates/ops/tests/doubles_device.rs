//! Products of doubles over the stand-in for NVIDIA's driver, on cards whose tensor cores add in one order
//! or another, or that have none: the same bits each time, and explain says which way they went.
#![cfg(target_os = "linux")]

#[path = "common/card.rs"]
mod card;

use rung_array::Array;
use rung_base::{ElementType, Explain, Settings, Shape};
use rung_lanes::Lanes;
use rung_ops::trial::{assert_same, run};
use rung_ops::{Decline, Ladder, Rung, table};

/// What explain is to say of a large product.
const SAID: &str = "RUNG_TEST_SAID";

/// Full significands, now and then what hurts.
fn numbers(extents: &[usize], seed: usize, t: ElementType) -> Array {
    const HARD: [f64; 6] = [-0.0, 5e-324, -1e-310, f64::MAX, f64::NEG_INFINITY, f64::NAN];
    let number = |i: usize| {
        let fraction = (i + seed + 1) as f64 * 0.618_033_988_749_894_9;
        match i % 997 {
            996 => HARD[(i / 997 + seed) % HARD.len()],
            _ => 2.0 * (fraction - fraction.floor()) - 1.0,
        }
    };
    let shape = Shape::new(extents.iter().copied()).unwrap();
    let all: Vec<f64> = (0..shape.size()).map(number).collect();
    Array::from_slice(&all, shape).unwrap().convert(t).unwrap()
}

/// Run by `every_card` alone.
#[test]
fn products_have_the_definition_s_bits() {
    let Ok(said) = std::env::var(SAID) else { return };
    let off = || Decline::Off("test");
    let mut here = Ladder::with_rungs(&Settings::default(), None, Err(off()), Err(off()));
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.explain.value = Explain::Table;
    let device = card::device();
    let mut there = Ladder::with_rungs(&settings, Some(Lanes::new(2)), Err(off()), Ok(device));
    there.costs.device.make_free();
    there.only = Some(Rung::Device);
    let op = table::find("matmul").unwrap();
    let f64s = ElementType::F64;
    let turned = |x: Array| x.transpose(&[1, 0]).unwrap();
    let large = [
        [numbers(&[67, 131], 0, f64s), numbers(&[131, 66], 1, f64s)],
        [turned(numbers(&[19, 64], 2, f64s)), turned(numbers(&[64, 19], 3, f64s))],
        [numbers(&[2, 70, 10], 4, f64s), numbers(&[10, 64], 5, f64s)],
        [numbers(&[65, 513], 6, f64s), numbers(&[513, 64], 7, ElementType::F16)],
    ];
    let small = [[numbers(&[63, 20], 8, f64s), numbers(&[20, 65], 9, f64s)]];
    for (pairs, said) in [(&large[..], said.as_str()), (&small, "device")] {
        there.calls.clear();
        for [a, b] in pairs {
            let values = || vec![a.clone().into(), b.clone().into()];
            let wanted = run(&mut here, op, values()).unwrap();
            let got = run(&mut there, op, values()).unwrap();
            assert_same(&wanted, &got, &format!("{:?} times {:?}", a.shape(), b.shape()));
        }
        let json = there.calls.json(&|_| String::new());
        let rows = json["calls"].as_array().unwrap();
        assert_eq!(rows.len(), pairs.len());
        rows.iter().for_each(|row| assert_eq!(row["rung"], said, "{json}"));
    }
}

#[test]
fn every_card() {
    let other = "device strict, its tensor cores add doubles in another order";
    for (capability, order, said) in [
        ("75", "ascending", "device"),
        ("80", "ascending", "device f64 on tensor cores"),
        ("90", "descending", other),
        ("121", "pairwise", other),
    ] {
        let card = [("STAND_IN_CAPABILITY", capability), ("STAND_IN_DOUBLES", order), (SAID, said)];
        card::over_the_stand_in(&["--exact", "products_have_the_definition_s_bits"], &card, 1);
    }
}
