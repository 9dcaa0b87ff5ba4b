//! Fused functions of slices against their definitions in `math::rows`, bit for bit.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::fold::{RowKernel, rows};
use rung_lanes::{Float, Lanes, Level, Operand};
use rung_math::rows::{
    LayerNorm, LayerNormAffine, LayerNormGradient, LogSoftmax, LogSoftmaxGradient, LogSumExp,
    MaskedSoftmax, Softmax, SoftmaxGradient, apply,
};

/// Values between -8 and 8, every `hard`-th one of those that hurt.
fn numbers<T: Float>(seed: usize, count: usize, hard: usize) -> Vec<T> {
    const HARD: [f64; 7] = [-0.0, f64::INFINITY, f64::NAN, 1e-310, -1e30, f64::NEG_INFINITY, 88.0];
    let value = |i: usize| {
        let fraction = ((i + seed) as f64 + 1.0) * 0.618_033_988_749_894_9;
        match i % hard {
            0 if i > 0 => HARD[(i / hard + seed) % HARD.len()],
            _ => 16.0 * (fraction - fraction.floor()) - 8.0,
        }
    };
    (0..count).map(|i| T::narrowed(value(i))).collect()
}

/// How an operand of a shape lies: row-major, its axes the other way round, or every other one.
#[derive(Clone, Copy, Debug)]
enum Layout {
    Packed,
    Turned,
    Spaced,
}

fn strides(shape: &[usize], layout: Layout) -> Vec<isize> {
    let mut strides = vec![1isize; shape.len()];
    match layout {
        Layout::Turned => {
            for axis in 1..shape.len() {
                strides[axis] = strides[axis - 1] * shape[axis - 1] as isize;
            }
        }
        Layout::Packed | Layout::Spaced => {
            for axis in (1..shape.len()).rev() {
                strides[axis - 1] = strides[axis] * shape[axis] as isize;
            }
        }
    }
    let by = if matches!(layout, Layout::Spaced) { 2 } else { 1 };
    strides.iter().map(|stride| stride * by).collect()
}

/// Offsets of the kept axes' cells, and the strides along the axis.
fn starts(shape: &[usize], strides: &[isize], axis: usize) -> Vec<isize> {
    let mut all = vec![0];
    for (i, (extent, stride)) in shape.iter().zip(strides).enumerate() {
        let extent = if i == axis { 1 } else { *extent as isize };
        all = all.iter().flat_map(|base| (0..extent).map(move |i| base + i * stride)).collect();
    }
    all
}

fn check<F: RowKernel<K>, T: Float + Into<f64>, const K: usize>(
    lanes: &Lanes,
    shape: &[usize],
    axis: usize,
    layout: Layout,
    hard: usize,
) {
    let given = [1e-5, -3.0];
    let (n, size) = (shape[axis], shape.iter().product::<usize>());
    let lies = strides(shape, layout);
    let data: [Vec<T>; K] = std::array::from_fn(|k| numbers(31 * k, 2 * size, hard));
    let own = strides(shape, Layout::Packed);
    let slices = starts(shape, &own, axis);
    let cells = if F::ONE { slices.len() } else { size };
    let mut out = vec![T::narrowed(7.0); cells];
    let operands = std::array::from_fn(|k| Operand::new(&data[k], 0, &lies));
    rows::<F, T, K>(lanes, shape, operands, axis, &given, &mut out);
    for (slice, from) in starts(shape, &lies, axis).into_iter().enumerate() {
        let element = |k: usize, i: usize| data[k][(from + i as isize * lies[axis]) as usize];
        let x: [Vec<T>; K] = std::array::from_fn(|k| (0..n).map(|i| element(k, i)).collect());
        let mut want = vec![T::default(); n];
        apply::<F, T, K>(std::array::from_fn(|k| &x[k][..]), &given, &mut want);
        for (i, want) in want.iter().enumerate().take(if F::ONE { 1 } else { n }) {
            let at = if F::ONE { slice } else { slices[slice] as usize + i * own[axis] as usize };
            let (got, want): (f64, f64) = (out[at].into(), (*want).into());
            let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
            let name = std::any::type_name::<F>();
            let level = lanes.level();
            assert!(
                same,
                "{name} {shape:?} {axis} {layout:?} {level:?} {at}: {got:e}, not {want:e}"
            );
        }
    }
}

fn every<T: Float + Into<f64>>(
    lanes: &Lanes,
    shape: &[usize],
    axis: usize,
    layout: Layout,
    hard: usize,
) {
    check::<Softmax, T, 1>(lanes, shape, axis, layout, hard);
    check::<LogSoftmax, T, 1>(lanes, shape, axis, layout, hard);
    check::<LogSumExp, T, 1>(lanes, shape, axis, layout, hard);
    check::<SoftmaxGradient, T, 2>(lanes, shape, axis, layout, hard);
    check::<LogSoftmaxGradient, T, 2>(lanes, shape, axis, layout, hard);
    check::<MaskedSoftmax, T, 2>(lanes, shape, axis, layout, hard);
    check::<LayerNorm, T, 1>(lanes, shape, axis, layout, hard);
    check::<LayerNormAffine, T, 3>(lanes, shape, axis, layout, hard);
    check::<LayerNormGradient, T, 2>(lanes, shape, axis, layout, hard);
}

fn each_configuration(body: impl Fn(&Lanes)) {
    for level in Level::available() {
        for threads in [1, 3] {
            body(&Lanes::with(level, threads));
        }
    }
}

#[test]
fn slices_along_memory_of_every_awkward_length() {
    each_configuration(|lanes| {
        for n in [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 257, 4095, 4096, 4097, 9000] {
            every::<f32>(lanes, &[2, n], 1, Layout::Packed, usize::MAX);
            every::<f64>(lanes, &[2, n], 1, Layout::Packed, 1 + n);
        }
    });
}

#[test]
fn axes_and_layouts() {
    each_configuration(|lanes| {
        for layout in [Layout::Packed, Layout::Turned, Layout::Spaced] {
            for axis in 0..3 {
                every::<f32>(lanes, &[3, 20, 17], axis, layout, 61);
                every::<f64>(lanes, &[5, 1, 40], axis, layout, 83);
            }
            every::<f64>(lanes, &[70, 300], 0, layout, 997);
        }
        every::<f32>(lanes, &[5000, 3], 0, Layout::Packed, 4999);
        every::<f32>(lanes, &[0, 3], 1, Layout::Packed, 4999);
    });
}
