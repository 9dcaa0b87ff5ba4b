//! Times sorting, searching, selecting and scans.
//!
//! `cargo run --release -p rung-lanes --example order -- [THREADS]`; `benches/lab/order.py` times
//! NumPy on the same work.

use rung_lanes::histogram::Bins;
use rung_lanes::scan::Scanned;
use rung_lanes::search::{Ascending, Samples};
use rung_lanes::sort::{Slices, Sortable};
use rung_lanes::{Lanes, Level, gather, scatter};
use rung_math::accumulate::Accumulate;
use rung_math::locate::edges;
use std::time::Instant;

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    for level in Level::available().into_iter().rev() {
        let lanes = Lanes::with(level, threads);
        println!("{level:?}, {threads} thread(s)");
        let n = 1_500_000;
        let words: Vec<u64> = random(n);
        let doubles: Vec<f64> = words.iter().map(|w| *w as f64 / 2f64.powi(64) - 0.5).collect();
        let singles: Vec<f32> = doubles.iter().map(|x| *x as f32).collect();
        let integers: Vec<i64> = words.iter().map(|w| *w as i64).collect();
        let bytes: Vec<u8> = words.iter().map(|w| *w as u8).collect();
        let halves: Vec<rung_base::f16> =
            doubles.iter().map(|x| rung_base::f16::from_f64(*x)).collect();
        sorting(&lanes, &doubles);
        sorting(&lanes, &singles);
        sorting(&lanes, &integers);
        sorting(&lanes, &halves);
        sorting(&lanes, &bytes);
        scans(&lanes, &doubles);
        scans(&lanes, &singles);
        indexed(&lanes, &doubles, &words);
        indexed(&lanes, &singles, &words);
    }
}

/// Reproducible words of all sizes.
fn random(count: usize) -> Vec<u64> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state ^ state >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    };
    (0..count).map(|_| next()).collect()
}

fn report(name: &str, element: &str, mut call: impl FnMut()) {
    let mut times: Vec<f64> = (0..9)
        .map(|_| {
            let (start, before) = (Instant::now(), busy());
            call();
            // On one thread the time on the processor counts, so that other work does not.
            match before {
                Some(before) => busy().unwrap_or(0.0) - before,
                None => start.elapsed().as_secs_f64(),
            }
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{:40} {:10.1} us", format!("{name} {element}"), times[4] * 1e6);
}

/// Seconds that this thread has had a processor (Linux), when it is the only one at work.
fn busy() -> Option<f64> {
    #[cfg(target_os = "linux")]
    if std::env::args().nth(1).is_none_or(|threads| threads == "1") {
        unsafe extern "C" {
            fn clock_gettime(clock: i32, time: *mut [i64; 2]) -> i32;
        }
        const THREAD_CPU_TIME: i32 = 3;
        let mut time = [0, 0];
        // SAFETY: on 64-bit Linux a timespec is two 64-bit integers.
        let failed = unsafe { clock_gettime(THREAD_CPU_TIME, &mut time) };
        return (failed == 0).then(|| time[0] as f64 + time[1] as f64 * 1e-9);
    }
    None
}

fn sorting<T: Sortable>(lanes: &Lanes, x: &[T]) {
    let name = T::TYPE.name();
    let (mut out, mut positions) = (vec![T::default(); x.len()], vec![0; x.len()]);
    let shapes: [&[usize]; 4] = [&[1_500_000], &[15000, 100], &[93750, 16], &[1500, 1000]];
    for shape in shapes {
        for axis in (0..shape.len()).rev() {
            let slices = Slices::along(shape, axis);
            let what = format!("{shape:?} axis {axis}");
            report(&format!("sort {what}"), name, || T::sort(lanes, x, slices, false, &mut out));
            report(&format!("argsort {what}"), name, || {
                T::argsort(lanes, x, slices, false, &mut positions);
            });
        }
    }
}

fn scans<T: Sortable + Scanned<T, Sum = f64>>(lanes: &Lanes, x: &[T]) {
    let mut out = vec![T::default(); x.len()];
    let shapes: [&[usize]; 4] = [&[1_500_000], &[15000, 100], &[93750, 16], &[1500, 1000]];
    for shape in shapes {
        for axis in (0..shape.len()).rev() {
            let slices = Slices::along(shape, axis);
            report(&format!("cumsum {shape:?} axis {axis}"), T::TYPE.name(), || {
                T::sums(lanes, x, slices, &mut out);
            });
        }
    }
}

fn indexed<T: Sortable + Accumulate + Into<f64>>(lanes: &Lanes, x: &[T], words: &[u64]) {
    let (n, name) = (x.len(), T::TYPE.name());
    let at = |below: usize| words.iter().map(|w| *w as usize % below).collect::<Vec<usize>>();
    let (anywhere, near) = (at(n), at(10_000));
    let mut out = vec![T::default(); n];
    report("take", name, || gather::take(lanes, x, Slices::whole(n), &anywhere, &mut out));
    let rows = at(1500);
    let mut taken = vec![T::default(); 20_000 * 1000];
    report("take-rows (20000 1000)", name, || {
        gather::take(lanes, x, Slices::along(&[1500, 1000], 0), &rows[..20_000], &mut taken);
    });
    let even: Vec<usize> = (0..1000).step_by(2).collect();
    report("take axis 1 (1500 1000)", name, || {
        gather::take(lanes, x, Slices::along(&[1500, 1000], 1), &even, &mut out[..750_000]);
    });
    let mask: Vec<bool> = x.iter().map(|&x| x.into() > 0.0).collect();
    let kept = gather::count(lanes, &mask);
    report("compress", name, || {
        gather::compress(lanes, x, Slices::whole(n), &mask, &mut out[..kept]);
    });
    let mut sums = vec![T::default(); 1500 * 64];
    report("scatter-add 10000 cells", name, || {
        scatter::scatter(lanes, &mut sums[..10_000], 1, &near, x);
    });
    report("scatter-add rows (20000 64)", name, || {
        scatter::scatter(lanes, &mut sums, 64, &rows[..20_000], &x[..20_000 * 64]);
    });
    let mut places = vec![0; n];
    for count in [1000, 100_000] {
        let mut sorted = vec![T::default(); count];
        T::sort(lanes, &x[..count], Slices::whole(count), false, &mut sorted);
        report(&format!("searchsorted {count}"), name, || {
            Ascending::new(lanes, &sorted).places(lanes, x, false, &mut places);
        });
    }
    let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
    let mut line = vec![0.0; n];
    let mut samples = vec![0.0; 1000];
    edges(-0.5, 0.5, &mut samples);
    let job = Samples { xp: &samples, fp: &samples, left: 0.0, right: 0.0 };
    report("interp 1000", name, || job.at(lanes, &wide, &mut line));
    let mut bins = vec![0.0; 101];
    edges(-0.5, 0.5, &mut bins);
    let job = Bins { edges: &bins, even: true };
    report("histogram 100", name, || job.tally(lanes, x, &mut vec![0; 100]));
}
