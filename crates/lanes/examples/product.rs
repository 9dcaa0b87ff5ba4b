//! Prints GFLOP/s of the square product beside the tuned CBLAS of this machine, in one run.
//!
//! `cargo run --release -p rung-lanes --example product -- [THREADS] [N...]`
//! Each figure is the best of repeated timings; operands are uniform in [-1, 1).

use rung_lanes::{Float, Lanes, Matrix, product};
use rung_library::Library;
use std::time::{Duration, Instant};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let threads = numbers.next().unwrap_or(1);
    let mut sizes: Vec<usize> = numbers.collect();
    if sizes.is_empty() {
        sizes = vec![16, 32, 64, 128, 256, 512, 1024];
    }
    let lanes = Lanes::new(threads);
    let library = Library::discover(None);
    match &library {
        Ok(library) => {
            library.set_threads(threads);
            println!("lanes {}, {threads} thread(s); {library}", lanes.level().describe());
        }
        Err(reason) => println!("lanes {}; {reason}", lanes.level().describe()),
    }
    println!(
        "{:>6} {:>10} {:>10} {:>6}  {:>10} {:>10} {:>6}",
        "n", "f32", "blas", "", "f64", "blas", ""
    );
    for n in sizes {
        let single = compare::<f32>(&lanes, n, |a, b, out| {
            let _ = library.as_ref().ok()?.sgemm(foreign(a), foreign(b), out);
            Some(())
        });
        let double = compare::<f64>(&lanes, n, |a, b, out| {
            let _ = library.as_ref().ok()?.dgemm(foreign(a), foreign(b), out);
            Some(())
        });
        println!(
            "{n:>6} {:>10.1} {:>10.1} {:>6.2}  {:>10.1} {:>10.1} {:>6.2}",
            single.0,
            single.1,
            single.0 / single.1,
            double.0,
            double.1,
            double.0 / double.1
        );
    }
}

fn foreign<'a, T>(m: Matrix<'a, T>) -> rung_library::Matrix<'a, T> {
    let Matrix { data, offset, rows, columns, row, column } = m;
    rung_library::Matrix { data, offset, rows, columns, row, column }
}

/// GFLOP/s of ours and of the library for one size.
fn compare<T: Float + From<f32>>(
    lanes: &Lanes,
    n: usize,
    library: impl Fn(Matrix<T>, Matrix<T>, &mut [T]) -> Option<()>,
) -> (f64, f64) {
    let mut state = 1u32;
    let mut uniform = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        T::from((state >> 8) as f32 / (1 << 23) as f32 - 1.0)
    };
    let a: Vec<T> = (0..n * n).map(|_| uniform()).collect();
    let b: Vec<T> = (0..n * n).map(|_| uniform()).collect();
    let (a, b) = (Matrix::new(&a, n, n), Matrix::new(&b, n, n));
    let mut out = vec![T::default(); n * n];
    let mut ours = || product(lanes, a, b, &mut out);
    let mut other = vec![T::default(); n * n];
    let mut theirs = || {
        library(a, b, &mut other);
    };
    // Alternating, so that other work on the machine meets both.
    let (mut best_ours, mut best_theirs) = (f64::MAX, f64::MAX);
    for _ in 0..12 {
        // OpenBLAS's workers spin for some 30 ms after a call and would take our second core.
        if lanes.workers().threads() > 1 {
            std::thread::sleep(Duration::from_millis(60));
        }
        best_ours = best_ours.min(seconds(n, &mut ours));
        best_theirs = best_theirs.min(seconds(n, &mut theirs));
    }
    let flops = 2.0 * (n * n * n) as f64 * 1e-9;
    (flops / best_ours, flops / best_theirs)
}

/// Seconds of one call, from a batch of about 10 ms.
fn seconds(n: usize, call: &mut impl FnMut()) -> f64 {
    let batch = (200_000_000 / (n * n * n).max(1000)).clamp(1, 20_000);
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        (0..batch.div_ceil(4)).for_each(|_| call());
        least = least.min(start.elapsed() / batch.div_ceil(4) as u32);
    }
    least.as_secs_f64()
}
