//! The runs: every f32 through a function of one number, and many stratified f64 or pairs. Results
//! come from the lanes of this machine, and every 61st is compared with the scalar definition, so
//! the table speaks for both. Parts are claimed by an atomic counter; what is found does not depend
//! on the number of threads.

use super::error::{Worst, error_of, single_error};
use super::functions::{One, Symmetry, Two};
use super::inputs::{argument, pair};
use rung_lanes::Lanes;
use rung_math::Width;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Arguments of a part: 2^16.
const PART: u64 = 1 << 16;
/// One result in so many is compared with the scalar definition; a prime.
const COMPARED: usize = 61;

/// Runs `part(0)` to `part(parts - 1)` on `threads` threads and joins what they find.
fn parts(threads: usize, parts: u64, part: impl Fn(u64, &Lanes) -> Worst + Sync) -> Worst {
    let (next, found) = (AtomicU64::new(0), Mutex::new(Worst::default()));
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let (lanes, mut own) = (Lanes::new(1), Worst::default());
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= parts {
                        break;
                    }
                    own.join(part(i, &lanes));
                }
                if let Ok(mut found) = found.lock() {
                    found.join(own);
                }
            });
        }
    });
    found.into_inner().unwrap_or_default()
}

/// Every bit pattern of f32, or one part of every `stride`, which one by a hash.
pub fn singles(function: &One, threads: usize, stride: u64) -> Worst {
    let count = (1_u64 << 31) / PART / stride;
    parts(threads, count, |i, lanes| {
        let chosen = i * stride + (i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40) % stride;
        let first = (chosen * PART) as u32;
        let x: Vec<f32> = (0..PART as u32).map(|k| f32::from_bits(first + k)).collect();
        let exact: Vec<f64> = x.iter().map(|x| (function.host)(*x as f64)).collect();
        let mut worst = single_part(function, lanes, &x, &exact);
        let opposite: Vec<f32> = x.iter().map(|x| -x).collect();
        let exact: Vec<f64> = match function.symmetry {
            Symmetry::Odd => exact.iter().map(|y| -y).collect(),
            Symmetry::Even => exact,
            Symmetry::None => opposite.iter().map(|x| (function.host)(*x as f64)).collect(),
        };
        worst.join(single_part(function, lanes, &opposite, &exact));
        worst
    })
}

fn single_part(function: &One, lanes: &Lanes, x: &[f32], exact: &[f64]) -> Worst {
    let mut out = vec![0.0; x.len()];
    (function.lanes_single)(lanes, x, &mut out);
    let mut worst = Worst { inputs: x.len() as u64, ..Worst::default() };
    for ((x, got), exact) in x.iter().zip(&out).zip(exact) {
        let error = single_error(*got, *exact);
        if error.is_none_or(|error| error > worst.error) {
            worst.note(error, &[x.to_bits() as u64]);
            worst.inputs -= 1;
        }
    }
    let compared = x.iter().zip(&out).step_by(COMPARED);
    let differ = |(x, got): &(&f32, &f32)| (function.single)(**x).to_bits() != got.to_bits();
    worst.differ = compared.filter(differ).count() as u64;
    worst
}

/// `count` stratified f64.
pub fn doubles(function: &One, threads: usize, count: u64) -> Worst {
    parts(threads, count.div_ceil(PART), |i, lanes| {
        let numbers = i * PART..count.min((i + 1) * PART);
        let at = |k| argument(k, function.thresholds, Width::F64);
        let x: Vec<f64> = numbers.map(at).collect();
        let mut out = vec![0.0; x.len()];
        (function.lanes_double)(lanes, &x, &mut out);
        let mut worst = Worst::default();
        for (x, got) in x.iter().zip(&out) {
            let error = error_of(got.to_bits(), function.expected(*x), Width::F64);
            worst.note(error, &[x.to_bits()]);
        }
        let compared = x.iter().zip(&out).step_by(COMPARED);
        let differ = |(x, got): &(&f64, &f64)| (function.double)(**x).to_bits() != got.to_bits();
        worst.differ = compared.filter(differ).count() as u64;
        worst
    })
}

/// `count` stratified pairs of this width.
pub fn pairs(function: &Two, width: Width, threads: usize, count: u64) -> Worst {
    parts(threads, count.div_ceil(PART), |i, lanes| {
        let numbers = i * PART..count.min((i + 1) * PART);
        let (a, b): (Vec<f64>, Vec<f64>) = numbers.map(|k| pair(k, width)).unzip();
        let out = pair_results(function, width, lanes, &a, &b);
        let mut worst = Worst::default();
        for (k, (got, (a, b))) in out.iter().zip(a.iter().zip(&b)).enumerate() {
            let error = error_of(*got, (function.expected)(*a, *b), width);
            worst.note(error, &[bits_of(*a, width), bits_of(*b, width)]);
            if k % COMPARED == 0 {
                let scalar = match width {
                    Width::F32 => (function.single)(*a as f32, *b as f32).to_bits() as u64,
                    Width::F64 => (function.double)(*a, *b).to_bits(),
                };
                worst.differ += (scalar != *got) as u64;
            }
        }
        worst
    })
}

/// The bits of the results; f32 arguments are given widened.
fn pair_results(function: &Two, width: Width, lanes: &Lanes, a: &[f64], b: &[f64]) -> Vec<u64> {
    match width {
        Width::F32 => {
            let narrow = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<f32>>();
            let (a, b, mut out) = (narrow(a), narrow(b), vec![0.0; a.len()]);
            (function.lanes_single)(lanes, [&a, &b], &mut out);
            out.iter().map(|y| y.to_bits() as u64).collect()
        }
        Width::F64 => {
            let mut out = vec![0.0; a.len()];
            (function.lanes_double)(lanes, [a, b], &mut out);
            out.iter().map(|y| y.to_bits()).collect()
        }
    }
}

fn bits_of(x: f64, width: Width) -> u64 {
    match width {
        Width::F32 => (x as f32).to_bits() as u64,
        Width::F64 => x.to_bits(),
    }
}
