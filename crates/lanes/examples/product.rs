//! Prints GFLOP/s of the square product beside the tuned CBLAS of this machine, in one run.
//!
//! `cargo run --release -p rung-lanes --example product -- [THREADS] [SIZE...]`, a size being
//! `256` or `12x1024x1024`. Each figure is the best of repeated timings; operands are uniform in [-1, 1).

use rung_lanes::{Float, Lanes, Matrix, product};
use rung_library::Library;
use std::time::{Duration, Instant};

/// Rows, inner extent, columns.
type Size = [usize; 3];

fn main() {
    let mut texts = std::env::args().skip(1);
    let threads = texts.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut sizes: Vec<Size> = texts.filter_map(|text| size(&text)).collect();
    if sizes.is_empty() {
        sizes = [16, 32, 64, 128, 256, 512, 1024].map(|n| [n; 3]).to_vec();
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
    println!("{:>14} {:>10} {:>10} {:>6}  {:>10} {:>10}", "size", "f32", "blas", "", "f64", "blas");
    for size in sizes {
        let (ours, theirs) = compare::<f32>(&lanes, size, |a, b, out| {
            library.as_ref().ok()?.sgemm(foreign(a), foreign(b), out).ok()
        });
        let ratio = ours / theirs;
        print!(
            "{:>14} {ours:>10.1} {theirs:>10.1} {ratio:>6.2}",
            size.map(|n| n.to_string()).join("x")
        );
        let (ours, theirs) = compare::<f64>(&lanes, size, |a, b, out| {
            library.as_ref().ok()?.dgemm(foreign(a), foreign(b), out).ok()
        });
        println!("  {ours:>10.1} {theirs:>10.1} {:>6.2}", ours / theirs);
    }
}

/// `256` or `12x1024x1024`.
fn size(text: &str) -> Option<Size> {
    let parts: Vec<usize> = text.split('x').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match parts[..] {
        [n] => Some([n; 3]),
        [m, k, n] => Some([m, k, n]),
        _ => None,
    }
}

fn foreign<'a, T>(m: Matrix<'a, T>) -> rung_library::Matrix<'a, T> {
    let Matrix { data, offset, rows, columns, row, column } = m;
    rung_library::Matrix { data, offset, rows, columns, row, column }
}

/// GFLOP/s of ours and of the library for one size.
fn compare<T: Float + From<f32>>(
    lanes: &Lanes,
    [m, k, n]: Size,
    library: impl Fn(Matrix<T>, Matrix<T>, &mut [T]) -> Option<()>,
) -> (f64, f64) {
    let mut state = 1u32;
    let mut uniform = || {
        state = state.wrapping_mul(1664525).wrapping_add(1013904223);
        T::from((state >> 8) as f32 / (1 << 23) as f32 - 1.0)
    };
    let a: Vec<T> = (0..m * k).map(|_| uniform()).collect();
    let b: Vec<T> = (0..k * n).map(|_| uniform()).collect();
    let (a, b) = (Matrix::new(&a, m, k), Matrix::new(&b, k, n));
    let mut out = vec![T::default(); m * n];
    let mut ours = || product(lanes, a, b, &mut out);
    let mut other = vec![T::default(); m * n];
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
        best_ours = best_ours.min(seconds(m * k * n, &mut ours));
        best_theirs = best_theirs.min(seconds(m * k * n, &mut theirs));
    }
    let flops = 2.0 * (m * k * n) as f64 * 1e-9;
    (flops / best_ours, flops / best_theirs)
}

/// Seconds of one call, from a batch of about 10 ms.
fn seconds(work: usize, call: &mut impl FnMut()) -> f64 {
    let batch = (200_000_000 / work.max(1000)).clamp(1, 20_000);
    let mut least = Duration::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        (0..batch.div_ceil(4)).for_each(|_| call());
        least = least.min(start.elapsed() / batch.div_ceil(4) as u32);
    }
    least.as_secs_f64()
}
