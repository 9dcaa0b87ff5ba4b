//! Prints GFLOP/s of LU, Cholesky and a substitution with n right-hand sides, each beside our own
//! product of the same size in the same run.
//!
//! `cargo run --release -p rung-lanes --example triangular -- [THREADS] [SIZE...]`. Each figure is
//! the median of repeated timings; matrices are uniform in [-1, 1), n added to the diagonal where
//! they must be positive definite. LAPACK's count of operations: 2/3, 1/3 and 1 times n^3.

use rung_lanes::triangular::{Triangle, cholesky, lu, solve};
use rung_lanes::{Lanes, Matrix, product};
use std::time::Instant;

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse().ok());
    let threads = numbers.next().unwrap_or(1);
    let mut sizes: Vec<usize> = numbers.collect();
    if sizes.is_empty() {
        sizes = vec![32, 64, 128, 256, 512, 1024, 2048];
    }
    let lanes = Lanes::new(threads);
    println!("lanes {}, {threads} thread(s), GFLOP/s", lanes.level().describe());
    println!("{:>6} {:>9} {:>14} {:>14} {:>14}", "n", "product", "lu", "cholesky", "solve");
    for n in sizes {
        row(&lanes, n);
    }
}

/// Numbers in [-1, 1).
fn uniform(count: usize) -> Vec<f64> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        (state >> 8) as f64 / (1 << 23) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// Operations as a multiple of n^3, and what does them.
type Work<'a> = (f64, Box<dyn FnMut(&mut [f64]) + 'a>);

fn row(lanes: &Lanes, n: usize) {
    let a = uniform(n * n);
    let mut positive = a.clone();
    (0..n).for_each(|i| positive[i * n + i] += n as f64);
    let matrix = Matrix::new(&a, n, n);
    let steep = Matrix::new(&positive, n, n);
    let (mut out, mut pivots) = (vec![0.0; n * n], vec![0; n]);
    let lower = Triangle { lower: true, unit: false };
    let mut works: [Work; 4] = [
        (2.0, Box::new(|out| product(lanes, matrix, matrix, out))),
        (
            2.0 / 3.0,
            Box::new(|out| {
                out.copy_from_slice(&a);
                lu(lanes, n, out, &mut pivots);
            }),
        ),
        (
            1.0 / 3.0,
            Box::new(|out| {
                out.copy_from_slice(&positive);
                cholesky(lanes, n, true, out, &mut [None]);
            }),
        ),
        (
            1.0,
            Box::new(|out| {
                out.copy_from_slice(&a);
                solve(lanes, lower, steep, &[0], n, out);
            }),
        ),
    ];
    let rates = rates(n, &mut works, &mut out);
    print!("{n:>6} {:>9.1}", rates[0]);
    for rate in &rates[1..] {
        print!(" {rate:>8.1} ({:.2})", rate / rates[0]);
    }
    println!();
}

/// GFLOP/s of each work: the median, alternating, so that other work on the machine meets all.
fn rates(n: usize, works: &mut [Work], out: &mut [f64]) -> Vec<f64> {
    let mut times = vec![Vec::new(); works.len()];
    let repeats = if n > 1024 { 5 } else { 15 };
    for _ in 0..repeats {
        for ((flops, work), times) in works.iter_mut().zip(&mut times) {
            let batch = (5e6 / (*flops * (n * n * n) as f64)).clamp(1.0, 10_000.0) as usize;
            let start = Instant::now();
            (0..batch).for_each(|_| work(out));
            times.push(start.elapsed().as_secs_f64() / batch as f64);
        }
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    };
    let rate = |(flops, times): (f64, &mut Vec<f64>)| flops * (n * n * n) as f64 / median(times);
    works.iter().map(|work| work.0).zip(&mut times).map(|pair| rate(pair) * 1e-9).collect()
}
