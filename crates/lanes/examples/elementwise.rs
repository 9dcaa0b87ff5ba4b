//! Times element-wise functions over 1.5 M elements: the definition's loop, then every level.
//!
//! `cargo run --release -p rung-lanes --example elementwise -- [THREADS] [ELEMENTS]`

use rung_lanes::elementwise::{map, zip};
use rung_lanes::{Cost, Float, Lanes, Level, Operand};
use rung_math::{Add, Binary, Erf, Exp, Log, Mul, Sin, Sqrt, Tanh, Unary};
use std::time::Instant;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let threads = numbers.next().unwrap_or(1);
    let n = numbers.next().unwrap_or(1_500_000);
    println!("microseconds, {n} elements, {threads} thread(s)");
    print!("{:>12}", "definition");
    Level::available().iter().for_each(|level| print!(" {:>12}", format!("{level:?}")));
    println!();
    both::<f32>(threads, n);
    both::<f64>(threads, n);
}

fn both<T: Float>(threads: usize, n: usize) {
    unary::<Exp, T>("exp", threads, n);
    unary::<Log, T>("log", threads, n);
    unary::<Tanh, T>("tanh", threads, n);
    unary::<Sin, T>("sin", threads, n);
    unary::<Erf, T>("erf", threads, n);
    unary::<Sqrt, T>("sqrt", threads, n);
    binary::<Add, T>("add", threads, n);
    binary::<Mul, T>("mul", threads, n);
}

fn unary<F: Unary, T: Float>(name: &str, threads: usize, n: usize) {
    let x: Vec<T> = (0..n).map(|i| T::narrowed((i * 7919 % n) as f64 / n as f64 * 8.0)).collect();
    let mut out = vec![T::default(); n];
    let plain = best(|| out.iter_mut().zip(&x).for_each(|(out, x)| *out = F::at(*x)));
    print!("{plain:>12.0}");
    for level in Level::available() {
        let lanes = Lanes::with(level, threads);
        let x = Operand::new(&x, 0, &[1]);
        print!(" {:>12.0}", best(|| map::<F, T>(&lanes, Cost::Elementary, &[n], x, &mut out)));
    }
    println!("  {name} {}", T::TYPE);
}

fn binary<F: Binary, T: Float>(name: &str, threads: usize, n: usize) {
    let x: Vec<T> = (0..n).map(|i| T::narrowed(i as f64)).collect();
    let y = x.clone();
    let mut out = vec![T::default(); n];
    let plain = best(|| {
        out.iter_mut().zip(x.iter().zip(&y)).for_each(|(out, (x, y))| *out = F::at(*x, *y));
    });
    print!("{plain:>12.0}");
    for level in Level::available() {
        let lanes = Lanes::with(level, threads);
        let (x, y) = (Operand::new(&x, 0, &[1]), Operand::new(&y, 0, &[1]));
        print!(" {:>12.0}", best(|| zip::<F, T>(&lanes, Cost::Light, &[n], x, y, &mut out)));
    }
    println!("  {name} {}", T::TYPE);
}

/// Microseconds of the best of 15 calls.
fn best(mut call: impl FnMut()) -> f64 {
    (0..15)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64() * 1e6
        })
        .fold(f64::MAX, f64::min)
}
