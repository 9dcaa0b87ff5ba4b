//! Times folds, matrix-vector products, copies and fills; GB/s counts the operand once.
//!
//! `cargo run --release -p rung-lanes --example folds -- [THREADS]`

use rung_lanes::copy::pack;
use rung_lanes::fold::{Centred, Dot, Largest, Second, Sum, axes_of, dot, extreme, whole};
use rung_lanes::{Float, Lanes, Level, Matrix, Operand, Stored, matvec, random};
use rung_math::random::{Fill, State};
use std::time::Instant;

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    for level in Level::available() {
        let lanes = Lanes::with(level, threads);
        println!("{level:?}, {threads} thread(s)");
        both::<f32>(&lanes);
        both::<f64>(&lanes);
    }
}

fn report<T: Float>(name: &str, elements: usize, mut call: impl FnMut()) {
    let best = (0..15)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64()
        })
        .fold(f64::MAX, f64::min);
    let rate = (elements * size_of::<T>()) as f64 / best * 1e-9;
    println!("  {name:<28} {} {:>9.1} us {rate:>7.1} GB/s", T::TYPE, best * 1e6);
}

fn both<T: Float + Stored>(lanes: &Lanes) {
    let n = 1_500_000;
    let x: Vec<T> = (0..n).map(|i| T::narrowed((i % 1000) as f64 * 0.001)).collect();
    let at = |strides| Operand::new(&x[..], 0, strides);
    let mut out = vec![0.0; 65_536];
    let mut cells = vec![T::default(); n];
    let mut sink = 0.0;
    report::<T>("sum 1.5 M", n, || sink += whole::<Sum, T>(lanes, &[n], at(&[1])));
    report::<T>("dot 1.5 M", n, || sink += dot(lanes, &[n], at(&[1]), at(&[1])));
    report::<T>("sum axis 2 (4 256 256)", 1 << 18, || {
        axes_of::<Sum, T>(lanes, &[1024, 256], at(&[256, 1]), &[1], Second::None, &mut out[..1024]);
    });
    report::<T>("sum axis 0 (1024 384)", 1024 * 384, || {
        axes_of::<Sum, T>(lanes, &[1024, 384], at(&[384, 1]), &[0], Second::None, &mut out[..384]);
    });
    report::<T>("sum axis 0 (4 98304)", 4 * 98304, || {
        let out = &mut vec![0.0; 98304][..];
        axes_of::<Sum, T>(lanes, &[4, 98304], at(&[98304, 1]), &[0], Second::None, out);
    });
    let means = vec![0.5; 1024];
    report::<T>("squares about a mean, axis 2", 1 << 18, || {
        let second = Second::PerSlice(&means);
        axes_of::<Centred, T>(lanes, &[1024, 256], at(&[256, 1]), &[1], second, &mut out[..1024]);
    });
    report::<T>("amax 1.5 M", n, || {
        extreme::<Largest, T>(lanes, &[n], at(&[1]), &[0], &mut cells[..1]);
    });
    report::<T>("amax axis 0 (1024 384)", 1024 * 384, || {
        extreme::<Largest, T>(lanes, &[1024, 384], at(&[384, 1]), &[0], &mut cells[..384]);
    });
    for (m, k) in [(288, 288), (768, 288), (1024, 1024), (4000, 288)] {
        let a = Matrix::new(&x[..m * k], m, k);
        report::<T>(&format!("M v ({m} {k})"), m * k, || {
            matvec(lanes, a, at(&[1]), &mut cells[..m]);
        });
        report::<T>(&format!("v M ({m} {k})"), m * k, || {
            matvec(lanes, a.transposed(), at(&[1]), &mut cells[..k]);
        });
    }
    report::<T>("transpose (1024 1024)", 1 << 20, || {
        pack(lanes, &[1024, 1024], at(&[1, 1024]), &mut cells[..1 << 20]);
    });
    report::<T>("transpose (4 256 192)", 4 * 256 * 192, || {
        pack(lanes, &[4, 192, 256], at(&[49152, 1, 192]), &mut cells[..4 * 256 * 192]);
    });
    report::<T>("rand 1.5 M", n, || {
        random::fill(lanes, Fill::Rand, State::default(), &mut cells);
    });
    report::<T>("randn 1.5 M", n, || {
        random::fill(lanes, Fill::Randn, State::default(), &mut cells);
    });
    let _ = (sink, axes_of::<Dot, T>);
}
