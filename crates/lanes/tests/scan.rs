//! Scans against the definition, bit for bit: lengths around segments and chunks, along rows and
//! columns, on every level and number of threads.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::scan::Scanned;
use rung_lanes::sort::Slices;
use rung_lanes::{Lanes, Level};
use rung_math::fold::{Adding, Multiplying};
use rung_math::scan as definition;

fn numbers(seed: u64, count: usize, hard: bool) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let fraction = (state >> 11) as f64 / 2f64.powi(53) - 0.5;
        match (state >> 33) % 97 {
            0 if hard => f64::NAN,
            1 if hard => f64::INFINITY,
            n if n % 5 == 0 => -0.0,
            n => fraction * 2f64.powi((n % 40) as i32 - 20),
        }
    };
    (0..count).map(next).collect()
}

/// The definition along every slice.
fn wanted(x: &[f64], slices: Slices, product: bool) -> Vec<f64> {
    let mut out = x.to_vec();
    let Slices { outer, length, inner } = slices;
    for (plane, column) in (0..outer).flat_map(|p| (0..inner).map(move |c| (p, c))) {
        let at = |i: usize| (plane * length + i) * inner + column;
        let mut slice: Vec<f64> = (0..length).map(|i| x[at(i)]).collect();
        match product {
            true => definition::scan::<Multiplying>(&mut slice),
            false => definition::scan::<Adding>(&mut slice),
        }
        (0..length).for_each(|i| out[at(i)] = slice[i]);
    }
    out
}

fn assert_bits(got: &[f64], wanted: &[f64], context: &str) {
    for (i, (got, wanted)) in got.iter().zip(wanted).enumerate() {
        let same = got.to_bits() == wanted.to_bits() || got.is_nan() && wanted.is_nan();
        assert!(same, "{context}: element {i} is {got:e}, not {wanted:e}");
    }
}

#[test]
fn scans_give_the_bits_of_the_definition() {
    let shapes: [[usize; 3]; 15] = [
        [1, 0, 1],
        [3, 1, 1],
        [9, 63, 1],
        [17, 65, 1],
        [8, 512, 1],
        [3, 513, 1],
        [2, 4097, 1],
        [1, 70_000, 1],
        [1, 140_001, 1],
        [2, 8192, 1],
        [2, 130, 5],
        [1, 4161, 33],
        [1, 200, 600],
        [3, 1, 7],
        [1, 8260, 2],
    ];
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let lanes = Lanes::with(level, threads);
            for (seed, shape) in shapes.into_iter().enumerate() {
                for hard in [false, true] {
                    let slices = Slices::along(&shape, 1);
                    let x = numbers(seed as u64 + 1, slices.size(), hard);
                    let context = format!("{level:?}, {threads} threads, {shape:?}, seed {seed}");
                    let mut out = vec![0.0; x.len()];
                    <f64 as Scanned<f64>>::sums(&lanes, &x, slices, &mut out);
                    assert_bits(&out, &wanted(&x, slices, false), &format!("sum, {context}"));
                    let near: Vec<f64> = x.iter().map(|x| 1.0 + x * 1e-6).collect();
                    <f64 as Scanned<f64>>::products(&lanes, &near, slices, &mut out);
                    assert_bits(&out, &wanted(&near, slices, true), &format!("prod, {context}"));
                    singles(&lanes, &x, slices, &context);
                }
            }
        }
    }
}

/// f32 runs in f64 and is narrowed once; integers wrap.
fn singles(lanes: &Lanes, x: &[f64], slices: Slices, context: &str) {
    let x: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let wide: Vec<f64> = x.iter().map(|x| *x as f64).collect();
    let wanted = wanted(&wide, slices, false);
    let (mut narrow, mut out) = (vec![0_f32; x.len()], vec![0.0; x.len()]);
    <f32 as Scanned<f32>>::sums(lanes, &x, slices, &mut narrow);
    <f32 as Scanned<f64>>::sums(lanes, &x, slices, &mut out);
    assert_bits(&out, &wanted, &format!("f32 in f64, {context}"));
    let (got, narrowed): (Vec<f64>, Vec<f64>) =
        narrow.iter().zip(&wanted).map(|(got, w)| (*got as f64, (*w as f32) as f64)).unzip();
    assert_bits(&got, &narrowed, &format!("f32, {context}"));
    let integers: Vec<i64> = wide.iter().map(|x| x.to_bits() as i64).collect();
    let mut out = vec![0_i64; x.len()];
    i64::products(lanes, &integers, slices, &mut out);
    let Slices { length, inner, .. } = slices;
    for i in 0..integers.len() {
        let first = i / inner % length == 0;
        let before = if first { 1 } else { out[i - inner] };
        assert_eq!(out[i], before.wrapping_mul(integers[i]), "i64 {i}, {context}");
    }
}
