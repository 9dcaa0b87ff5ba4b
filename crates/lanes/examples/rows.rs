//! Times functions of whole slices, statistics and folds of integers, in the shapes of
//! `benches/lab/rows.py`, which times NumPy and SciPy on them.
//!
//! `cargo run --release -p rung-lanes --example rows -- [THREADS]`

use rung_base::Bool;
use rung_lanes::agree::{Same, all_agree};
use rung_lanes::fold::{
    Centred, Integer, IntegerStep, Largest, LargestPresent, Nonzero, Product, RowKernel, Second,
    Squares, Step, Sum, SumPresent, axes_of, extreme, integers, position, rows,
};
use rung_lanes::{Float, Lanes, Operand};
use rung_math::rows::{LayerNorm, LogSoftmax, LogSumExp, Softmax, SoftmaxGradient};
use std::time::Instant;

fn main() {
    let threads = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(1);
    let lanes = Lanes::new(threads);
    floats::<f32>(&lanes);
    floats::<f64>(&lanes);
    whole_numbers::<i64>(&lanes, |i| i as i64 % 1000 - 500);
    whole_numbers::<i32>(&lanes, |i| i as i32 % 1000 - 500);
    whole_numbers::<u8>(&lanes, |i| i as u8);
    whole_numbers::<Bool>(&lanes, |i| Bool::from(i % 3 == 0));
}

/// The median of 15 runs in microseconds.
fn report(name: &str, mut call: impl FnMut()) {
    let mut times: Vec<f64> = (0..15)
        .map(|_| {
            let start = Instant::now();
            call();
            start.elapsed().as_secs_f64() * 1e6
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!("{name:<36} {:>10.1} us", times[7]);
}

fn row<F: RowKernel<K>, T: Float, const K: usize>(
    lanes: &Lanes,
    name: &str,
    shape: [usize; 2],
    axis: usize,
    x: &[T],
    out: &mut [T],
) {
    let strides = [shape[1] as isize, 1];
    let cells = if F::ONE { shape[1 - axis] } else { shape[0] * shape[1] };
    report(&format!("{name} {shape:?} axis {axis} {}", T::TYPE), || {
        let operands = [Operand::new(x, 0, &strides); K];
        rows::<F, T, K>(lanes, &shape, operands, axis, &[1e-5], &mut out[..cells]);
    });
}

fn fold<F: Step, T: Float>(lanes: &Lanes, name: &str, shape: [usize; 2], axes: &[usize], x: &[T]) {
    let strides = [shape[1] as isize, 1];
    let kept: usize = (0..2).filter(|axis| !axes.contains(axis)).map(|axis| shape[axis]).product();
    let (mut out, y) = (vec![0.0; kept], vec![0.5; kept]);
    report(&format!("{name} {shape:?} axes {axes:?} {}", T::TYPE), || {
        let second = if name == "centred" { Second::PerSlice(&y) } else { Second::None };
        axes_of::<F, T>(lanes, &shape, Operand::new(x, 0, &strides), axes, second, &mut out);
    });
}

fn floats<T: Float + Into<f64>>(lanes: &Lanes) {
    let n = 1 << 20;
    let x: Vec<T> = (0..n).map(|i| T::narrowed((i * 7919 % 1000) as f64 * 0.01 - 5.0)).collect();
    let mut out = vec![T::default(); n];
    for (shape, axis) in
        [([2048, 512], 1), ([65536, 10], 1), ([512, 2048], 0), ([4096, 64], 1), ([64, 16384], 1)]
    {
        row::<Softmax, T, 1>(lanes, "softmax", shape, axis, &x, &mut out);
    }
    row::<LogSoftmax, T, 1>(lanes, "log-softmax", [2048, 512], 1, &x, &mut out);
    row::<LogSumExp, T, 1>(lanes, "logsumexp", [2048, 512], 1, &x, &mut out);
    row::<SoftmaxGradient, T, 2>(lanes, "softmax-grad", [2048, 512], 1, &x, &mut out);
    row::<LayerNorm, T, 1>(lanes, "layer-norm", [2048, 512], 1, &x, &mut out);
    for axes in [&[0, 1][..], &[1], &[0]] {
        fold::<Sum, T>(lanes, "sum", [1024, 1024], axes, &x);
        fold::<Product, T>(lanes, "prod", [1024, 1024], axes, &x);
        fold::<Squares, T>(lanes, "squares", [1024, 1024], axes, &x);
        fold::<Centred, T>(lanes, "centred", [1024, 1024], axes, &x);
        fold::<SumPresent, T>(lanes, "nansum", [1024, 1024], axes, &x);
        fold::<Nonzero, T>(lanes, "count-nonzero", [1024, 1024], axes, &x);
    }
    let whole = || Operand::new(&x[..], 0, &[1]);
    report(&format!("amax {}", T::TYPE), || {
        extreme::<Largest, T>(lanes, &[n], whole(), &[0], &mut out[..1]);
    });
    report(&format!("nanmax {}", T::TYPE), || {
        extreme::<LargestPresent, T>(lanes, &[n], whole(), &[0], &mut out[..1]);
    });
    let mut at = [0];
    report(&format!("argmax {}", T::TYPE), || {
        position::<Largest, T>(lanes, &[n], whole(), &[0], &mut at);
    });
    let mut places = vec![0; 1024];
    for axis in [1, 0] {
        report(&format!("argmax [1024, 384] axis {axis} {}", T::TYPE), || {
            let (x, kept) = (Operand::new(&x[..], 0, &[384, 1]), [1024, 384][1 - axis]);
            position::<Largest, T>(lanes, &[1024, 384], x, &[axis], &mut places[..kept]);
        });
    }
    report(&format!("array-equal {}", T::TYPE), || {
        assert!(all_agree(lanes, &[n], whole(), whole(), Same));
    });
}

fn integer<F: IntegerStep, T: Integer>(lanes: &Lanes, name: &str, x: &[T]) {
    for axes in [&[0, 1][..], &[1], &[0]] {
        let mut out = vec![0; if axes.len() == 2 { 1 } else { 1024 }];
        report(&format!("{name} axes {axes:?} {}", T::TYPE), || {
            let x = Operand::new(x, 0, &[1024, 1]);
            integers::<F, T>(lanes, &[1024, 1024], x, axes, &mut out);
        });
    }
}

fn whole_numbers<T: Integer>(lanes: &Lanes, number: impl Fn(usize) -> T) {
    let x: Vec<T> = (0..1 << 20).map(number).collect();
    integer::<Sum, T>(lanes, "sum", &x);
    integer::<Product, T>(lanes, "prod", &x);
    integer::<Largest, T>(lanes, "amax", &x);
    integer::<Nonzero, T>(lanes, "count-nonzero", &x);
}
