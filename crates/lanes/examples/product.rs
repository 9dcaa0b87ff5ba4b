//! Times matrix products beside the tuned CBLAS of this machine, the two in turn in one run.
//!
//! `cargo run --release -p rung-lanes --example product -- [THREADS] [SIZE...]`, a size being
//! `256`, `12x1024x1024` (rows, inner, columns) or `64@8` (a stack of 64). Prints GFLOP/s of ours
//! and theirs, their ratio (the median of the repeats) and our share of the peak that a loop of
//! independent multiply-adds reaches. One thread is timed by its processor time, which other
//! work on the machine does not enter; several by the clock. Operands are uniform in [-1, 1).

use rung_lanes::{Float, Lanes, Matrix, stack};
use rung_library::Library;
use std::time::Duration;

#[path = "support/timing.rs"]
mod timing;
use timing::{Clock, median};

/// Slabs, rows, inner extent, columns.
type Size = [usize; 4];

const SIZES: &[&str] = &[
    "16",
    "24",
    "32",
    "48",
    "64",
    "96",
    "128",
    "192",
    "256",
    "384",
    "512",
    "1024",
    "2048",
    "4096x64x64",
    "64x64x4096",
    "64x4096x64",
    "12@256",
    "64@64",
    "256@8",
];

fn main() {
    let mut texts = std::env::args().skip(1);
    let threads = texts.next().and_then(|text| text.parse().ok()).unwrap_or(1);
    let mut sizes: Vec<(String, Size)> =
        texts.filter_map(|text| Some((text.clone(), size(&text)?))).collect();
    if sizes.is_empty() {
        sizes = SIZES.iter().filter_map(|text| Some((text.to_string(), size(text)?))).collect();
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
    let peaks = [timing::peak::<f32>() * threads as f64, timing::peak::<f64>() * threads as f64];
    println!("peak {:.1} (f32), {:.1} (f64) GFLOP/s", peaks[0], peaks[1]);
    let head = ["f32", "blas", "ratio", "peak"].map(|text| format!("{text:>7}")).join("");
    println!("{:>14} {head}   {}", "size", head.replace("f32", "f64"));
    let mut ratios = [Vec::new(), Vec::new()];
    for (name, size) in sizes {
        print!("{name:>14} ");
        let f32s = compare::<f32>(&lanes, size, peaks[0], |a, b, out| {
            library.as_ref().ok()?.sgemm(foreign(a), foreign(b), out).ok()
        });
        print!("  ");
        let f64s = compare::<f64>(&lanes, size, peaks[1], |a, b, out| {
            library.as_ref().ok()?.dgemm(foreign(a), foreign(b), out).ok()
        });
        println!();
        ratios[0].push(f32s);
        ratios[1].push(f64s);
    }
    println!("median ratio   f32 {:.2}, f64 {:.2}", median(&mut ratios[0]), median(&mut ratios[1]));
}

/// `256`, `12x1024x1024`, each perhaps behind `64@`.
fn size(text: &str) -> Option<Size> {
    let (slabs, text) = text.split_once('@').unwrap_or(("1", text));
    let slabs = slabs.parse().ok()?;
    let parts: Vec<usize> = text.split('x').map(|part| part.parse().ok()).collect::<Option<_>>()?;
    match parts[..] {
        [n] => Some([slabs, n, n, n]),
        [m, k, n] => Some([slabs, m, k, n]),
        _ => None,
    }
}

fn foreign<'a, T>(m: Matrix<'a, T>) -> rung_library::Matrix<'a, T> {
    let Matrix { data, offset, rows, columns, row, column } = m;
    rung_library::Matrix { data, offset, rows, columns, row, column }
}

/// Prints the figures of one size, whose row is already begun; the median ratio.
fn compare<T: Float + From<f32>>(
    lanes: &Lanes,
    [slabs, m, k, n]: Size,
    peak: f64,
    library: impl Fn(Matrix<T>, Matrix<T>, &mut [T]) -> Option<()>,
) -> f64 {
    let mut uniform = timing::uniform();
    let a: Vec<T> = (0..slabs * m * k).map(|_| T::from(uniform())).collect();
    let b: Vec<T> = (0..slabs * k * n).map(|_| T::from(uniform())).collect();
    let offsets: Vec<_> = (0..slabs).map(|slab| (slab * m * k, slab * k * n)).collect();
    let (a, b) = (Matrix { data: &a, ..Matrix::new(&a[..m * k], m, k) }, Matrix::new(&b, k, n));
    let mut out = vec![T::default(); slabs * m * n];
    let mut ours = || stack(lanes, a, b, &offsets, &mut out);
    let mut other = vec![T::default(); slabs * m * n];
    let mut theirs = || {
        for (&(left, right), out) in offsets.iter().zip(other.chunks_exact_mut(m * n)) {
            library(a.at(left), b.at(right), out);
        }
    };
    let threads = lanes.workers().threads();
    let clock = if threads == 1 { Clock::Thread } else { Clock::Wall };
    let work = slabs * m * k * n;
    let batch = (100_000_000 / work.max(500)).clamp(1, 20_000);
    let (mut our_times, mut their_times, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..11 {
        // OpenBLAS's workers spin for some 30 ms after a call and would take our second core.
        if threads > 1 {
            std::thread::sleep(Duration::from_millis(60));
        }
        let mine = clock.least(3, batch, &mut ours);
        let other = clock.least(3, batch, &mut theirs);
        our_times.push(mine);
        their_times.push(other);
        ratios.push(other / mine);
    }
    let flops = 2.0 * work as f64 * 1e-9;
    let rate = flops / median(&mut our_times);
    let ratio = median(&mut ratios);
    print!(
        "{rate:>7.1}{:>7.1}{ratio:>7.2}{:>6.0}%",
        flops / median(&mut their_times),
        100.0 * rate / peak
    );
    ratio
}
