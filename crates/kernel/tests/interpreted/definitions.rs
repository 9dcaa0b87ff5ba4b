//! The templates whose other tests stand with the operations, bit for bit against the definitions of
//! `rung-math`: slices of one element, at the width of a group and over a chunk's end, ties, both zeros,
//! subnormals, infinities and NaN.

use crate::bits::{Float, Nan, assert_same};
use crate::support::{Buffer, device, download, run};
use rung_base::ElementType::{self, F32, F64, I32, I64};
use rung_kernel::broadcast::View;
use rung_kernel::fold::Slices as FoldSlices;
use rung_kernel::{Launch, locate, philox, position, quantized, rows, step, windows};
use rung_math::philox::{Drawn, Fill, State};
use rung_math::rows::{Rowwise, apply};
use rung_math::trace::{trace_rows, trace_update};
use rung_math::update::{Axpy, NUMBERS, Own, Scale, Update};
use rung_math::windows::{Axis, Windows};
use rung_math::{Width, accumulate::Accumulate};
use std::sync::Arc;

fn upload<T: bytemuck::Pod>(data: &[T]) -> Buffer {
    device().upload(bytemuck::cast_slice(data)).unwrap()
}

fn launched(launch: &Launch, buffers: &[&Buffer]) {
    device().launch(launch, buffers).unwrap_or_else(|e| panic!("{e}"));
}

fn width<T: Float>() -> Width {
    if size_of::<T>() == 4 { Width::F32 } else { Width::F64 }
}

fn element<T: Float>() -> ElementType {
    if size_of::<T>() == 4 { F32 } else { F64 }
}

/// Numbers between -3 and 3.
fn tame<T: Float>(count: usize, start: usize) -> Vec<T> {
    let number = |i: usize| ((i + start) * 7919 % 1021) as f64 / 170.0 - 3.0;
    (0..count).map(|i| T::narrowed(number(i))).collect()
}

/// Numbers with many ties, both zeros, subnormals, infinities and NaN.
fn wild<T: Float>(count: usize, start: usize) -> Vec<T> {
    let hard = [2.0, -0.0, 0.0, -1.5, 1e-40, f64::INFINITY, 3e4, -f64::INFINITY, 2.0, f64::NAN];
    let number = |i: usize| hard[(i + start) * 7919 % 101 % 10];
    (0..count).map(|i| T::narrowed(number(i))).collect()
}

fn rows_of<F: Rowwise<K>, T: Float + Into<f64>, const K: usize>(name: &str, numbers: &[f64]) {
    let program = trace_rows::<F, K>(width::<T>(), numbers.len());
    let kernel = Arc::new(rows::kernel(name, &program));
    for n in [1, 2, 63, 65, 300, 4097] {
        let strides = [n as isize, 1];
        let operands = [View { offset: 0, strides: &strides }; K];
        let slices = rows::Slices { shape: &[3, n], axis: 1, operands: &operands, one: F::ONE };
        let launch = rows::launch(&kernel, &slices, numbers).unwrap();
        let data: [Vec<T>; K] = std::array::from_fn(|k| {
            [tame(n, k), wild(n, k + 1), vec![T::narrowed(0.25); n]].concat()
        });
        let operands: Vec<&[T]> = data.iter().map(|x| &x[..]).collect();
        let each = if F::ONE { 1 } else { n };
        let got = run(&launch, &operands, 3 * each);
        for s in 0..3 {
            let slice = std::array::from_fn(|k| &data[k][s * n..(s + 1) * n]);
            let mut want = vec![T::narrowed(0.0); n];
            apply::<F, T, K>(slice, numbers, &mut want);
            let got = &got[s * each..(s + 1) * each];
            assert_same(&format!("{name}, slice {s} of {n}"), got, &want[..each], Nan::Any);
        }
    }
}

#[test]
fn functions_of_slices() {
    use rung_math::rows::*;
    rows_of::<Softmax, f32, 1>("softmax", &[]);
    rows_of::<LogSoftmax, f64, 1>("log-softmax", &[]);
    rows_of::<LogSumExp, f32, 1>("log-sum-exp", &[]);
    rows_of::<SoftmaxGradient, f32, 2>("softmax-gradient", &[]);
    rows_of::<LogSoftmaxGradient, f64, 2>("log-softmax-gradient", &[]);
    rows_of::<MaskedSoftmax, f32, 2>("masked-softmax", &[0.5, -1e9]);
    rows_of::<LayerNorm, f32, 1>("layer-norm", &[1e-5]);
    rows_of::<LayerNormAffine, f32, 3>("layer-norm-affine", &[1e-5]);
    rows_of::<LayerNormGradient, f64, 2>("layer-norm-gradient", &[1e-5]);
    rows_of::<Cell, f32, 2>("cell", &[]);
}

/// Windows with padding, steps and gaps over planes whose channels come last in memory.
fn windows_of<T: Float + Accumulate + Default>(windows: &Windows) {
    let (w, element) = (windows, element::<T>());
    let (height, across) = (w.down.extent, w.across.extent);
    let cells = w.batch * w.channels * height * across;
    let strides = [height * across * w.channels, 1, across * w.channels, w.channels];
    let x = wild::<T>(cells, 3);
    let at = |place: [usize; 4]| x[place.iter().zip(strides).map(|(p, s)| p * s).sum::<usize>()];
    let steps = strides.map(|s| s as isize);
    let count = w.planes() * w.windows() * w.taps();
    let mut want = vec![T::default(); count];
    rung_math::windows::columns(w, at, &mut want);
    let kernel = Arc::new(windows::columns(element, windows::Order::Rows).unwrap());
    let launch = windows::launch(&kernel, w, count, 0, &steps).unwrap();
    assert_same("columns", &run(&launch, &[&x], count), &want, Nan::Any);

    let kernel = Arc::new(windows::columns(element, windows::Order::Planes).unwrap());
    let launch = windows::launch(&kernel, w, count, 0, &steps).unwrap();
    let (places, taps) = (w.windows(), w.taps());
    let row = |i: usize| {
        let (plane, place, tap) = (i / taps / places, i / taps % places, i % taps);
        let (n, c) = (plane / w.channels, plane % w.channels);
        want[((n * places + place) * w.channels + c) * taps + tap]
    };
    let planes: Vec<T> = (0..count).map(row).collect();
    assert_same("planes of columns", &run(&launch, &[&x], count), &planes, Nan::Any);

    let column = tame::<T>(count, 5);
    let packed = [count / w.batch, w.across.count * w.channels * taps, w.channels * taps, taps];
    let packed = [packed[0], packed[1], packed[2], packed[3], w.across.taps, 1];
    let share = T::narrowed(taps as f64);
    for shares in [false, true] {
        let held = |place: [usize; 6]| {
            let x = column[place.iter().zip(packed).map(|(p, s)| p * s).sum::<usize>()];
            if shares { x / share } else { x }
        };
        let mut want = vec![T::default(); cells];
        rung_math::windows::planes(w, held, &mut want);
        let kernel = Arc::new(windows::planes(element, shares).unwrap());
        let launch = windows::launch(&kernel, w, cells, 0, &packed.map(|s| s as isize)).unwrap();
        assert_same("planes", &run(&launch, &[&column], cells), &want, Nan::Any);
    }

    let count = w.planes() * w.windows();
    let (mut values, mut positions) = (vec![T::default(); count], vec![0; count]);
    rung_math::windows::largest(w, at, &mut values, &mut positions);
    let kernel = Arc::new(windows::largest(element).unwrap());
    let (x, out) = (upload(&x), device().allocate(count * size_of::<T>()).unwrap());
    let found = device().allocate(8 * count).unwrap();
    launched(&windows::launch(&kernel, w, count, 0, &steps).unwrap(), &[&x, &out, &found]);
    assert_same("largest", &download::<T>(&out, count), &values, Nan::Any);
    assert_eq!(download::<i64>(&found, count), positions);
}

#[test]
fn windows_over_planes() {
    for (down, across) in [([5, 3, 1, 1, 1], [4, 2, 2, 0, 1]), ([1, 1, 1, 0, 1], [7, 3, 2, 1, 2])] {
        let axis = |[extent, taps, stride, pad, dilation]: [usize; 5]| {
            Axis::new(extent, taps, stride, pad, dilation).unwrap()
        };
        let windows = Windows { batch: 2, channels: 3, down: axis(down), across: axis(across) };
        windows_of::<f32>(&windows);
        windows_of::<f64>(&windows);
    }
}

/// The first of the best of one axis; the first NaN, where there is one.
fn positions_of<T: bytemuck::Pod + PartialOrd>(element: ElementType, of: fn(f64) -> T) {
    for (seek, largest) in [(position::Seek::Largest, true), (position::Seek::Smallest, false)] {
        let kernels = position::Kernels::new(seek, element, I64).unwrap();
        for length in [1, 64, 65, 4096, 4097, 9000] {
            let data: Vec<T> = wild::<f64>(2 * length, length).into_iter().map(of).collect();
            let nan = |x: &T| x.partial_cmp(x).is_none();
            let best = |slice: &[T]| {
                let better =
                    |a: &T, b: &T| !nan(b) && (nan(a) || if largest { a > b } else { a < b });
                (1..length).fold(0, |at, i| if better(&slice[i], &slice[at]) { i } else { at })
            };
            let slices = FoldSlices {
                offset: 0,
                outer: 2,
                length,
                inner: 1,
                outer_stride: length as isize,
                stride: 1,
                inner_stride: 0,
            };
            let (x, mut before) = (upload(&data), None);
            for stage in kernels.plan(&slices).unwrap() {
                let out = device().allocate(stage.bytes).unwrap();
                let all: Vec<&Buffer> = [&x].into_iter().chain(&before).chain([&out]).collect();
                launched(&stage.launch, &all);
                before = Some(out);
            }
            let want: Vec<i64> = data.chunks(length).map(|slice| best(slice) as i64).collect();
            let got = download::<i64>(&before.unwrap(), 2);
            assert_eq!(got, want, "{seek:?} of {length} {element}");
        }
    }
}

#[test]
fn positions_of_the_best() {
    positions_of::<f32>(F32, |x| x as f32);
    positions_of::<f64>(F64, |x| x);
    positions_of::<i32>(I32, |x| x as i32);
    positions_of::<i64>(I64, |x| x as i64);
}

fn places_of<T: bytemuck::Pod + PartialOrd>(element: ElementType, sorted: &[T], x: &[T]) {
    let nan = |x: &T| x.partial_cmp(x).is_none();
    let less = |a: &T, b: &T| !nan(a) && (nan(b) || a < b);
    for right in [false, true] {
        let kernel = Arc::new(locate::places(element, right).unwrap());
        let launch = locate::places_launch(&kernel, x.len(), [0, 0], sorted.len()).unwrap();
        let out = device().allocate(8 * x.len()).unwrap();
        launched(&launch, &[&upload(x), &upload(sorted), &out]);
        let before = |s: &T, x: &T| if right { !less(x, s) } else { less(s, x) };
        let place = |x: &T| sorted.iter().filter(|s| before(s, x)).count() as i64;
        let want: Vec<i64> = x.iter().map(place).collect();
        assert_eq!(download::<i64>(&out, x.len()), want, "{element} {right}");
    }
}

#[test]
fn places_among_ascending_numbers() {
    let sorted = [-f32::INFINITY, -1.5, -0.0, 0.0, 1e-40, 2.0, 2.0, f32::INFINITY, f32::NAN];
    places_of(F32, &sorted, &wild::<f32>(300, 1));
    places_of(F32, &[f32::NAN], &wild::<f32>(30, 1));
    let wide: Vec<f64> = (0..257).map(|i| f64::from(i / 3)).collect();
    places_of(F64, &wide, &wild::<f64>(300, 2));
    places_of(I64, &[i64::MIN, -1, -1, 0, i64::MAX], &[i64::MIN, -2, -1, 0, 1, i64::MAX]);
    places_of(I32, &[i32::MIN, 5, 5, 5], &[i32::MIN, 4, 5, 6, i32::MAX]);
}

#[test]
fn bins_and_what_they_weigh() {
    let edges = [-1.5, -1.5, 0.0, 1e-40, 2.0, 3e4];
    let x = wild::<f64>(600, 4);
    let weights = tame::<f64>(600, 7);
    let bins = edges.len() - 1;
    let (mut counts, mut sums) = (vec![0i64; bins], vec![0.0; bins]);
    for (x, weight) in x.iter().zip(&weights) {
        if let Some(bin) = rung_math::locate::bin(&edges, *x) {
            counts[bin] += 1;
            sums[bin] += weight;
        }
    }
    let (held, edge) = (upload(&x), upload(&edges));
    let plan = locate::Bins::new(F64).unwrap().plan(600, [0, 0], edges.len()).unwrap();
    let (count, out) = (upload(&vec![7i32; bins]), device().allocate(8 * bins).unwrap());
    launched(&plan.zeros, &[&count]);
    launched(&plan.counts, &[&held, &edge, &count]);
    launched(&plan.results, &[&count, &out]);
    assert_eq!(download::<i64>(&out, bins), counts);
    let plan = locate::Weights::new(F64).unwrap().plan(600, [0, 0, 0], edges.len()).unwrap();
    let found = device().allocate(4 * 600).unwrap();
    launched(&plan.found, &[&held, &edge, &found]);
    launched(&plan.sums, &[&found, &upload(&weights), &out]);
    assert_same("weights", &download::<f64>(&out, bins), &sums, Nan::Exact);
}

#[test]
fn lines_through_samples() {
    let xp = [-1.5, -0.0, 1e-40, 2.0, 3e4];
    let fp = [1.0, -2.0, 0.1, f64::INFINITY, 5.0];
    let x = [wild::<f64>(200, 6), tame(200, 1)].concat();
    let kernel = Arc::new(locate::lines(F64, F64).unwrap());
    let launch = locate::lines_launch(&kernel, 400, [0, 0, 0], 5, [-7.0, 1e300]).unwrap();
    let line = |x: &f64| rung_math::locate::interpolate(&xp, &fp, *x, -7.0, 1e300);
    let want: Vec<f64> = x.iter().map(line).collect();
    assert_same("lines", &run(&launch, &[&x, &xp[..], &fp[..]], 400), &want, Nan::Any);
}

/// Blocks of zeros, of subnormals and of NaN among others.
#[test]
fn rows_of_quantized_blocks() {
    use rung_math::quantized::{BLOCK, encode, quantize, row};
    let kernels = quantized::Kernels::new();
    for (count, blocks) in [(1, 1), (3, 4), (2, 65)] {
        let block = |start: usize| -> [f32; BLOCK] {
            let tame = tame::<f32>(BLOCK, start);
            std::array::from_fn(|i| match start % 5 {
                0 => 0.0,
                1 => tame[i] * 1e-42,
                _ => tame[i] * start as f32,
            })
        };
        let matrix: Vec<u8> = (0..count * blocks).flat_map(|b| encode(&block(b + 2))).collect();
        let mut x: Vec<f32> = (0..blocks).flat_map(|b| block(b + 3)).collect();
        for nan in [false, true] {
            if nan {
                x[7] = f32::NAN;
            }
            let parts = x.chunks(BLOCK).map(|x| quantize(x.try_into().unwrap()));
            let parts: Vec<(f32, [i8; BLOCK])> = parts.collect();
            let plan = kernels.plan(count, blocks, 0, 0).unwrap();
            let scales = device().allocate(4 * blocks).unwrap();
            let words = device().allocate(4 * quantized::words_of(blocks)).unwrap();
            let out = device().allocate(4 * count).unwrap();
            launched(&plan.vector, &[&upload(&x), &scales, &words]);
            launched(&plan.rows, &[&upload(&matrix), &scales, &words, &out]);
            let rows = matrix.chunks(matrix.len() / count);
            let want: Vec<f32> = rows.map(|blocks| row(blocks, &parts) as f32).collect();
            assert_same("quantized", &download::<f32>(&out, count), &want, Nan::Any);
        }
    }
}

fn steps_of<T: Float, U: Update<K>, const K: usize>(name: &str, update: U) {
    let graph = trace_update::<_, Own, K>(width::<T>(), &update);
    let kernel = Arc::new(step::kernel(name, &graph, element::<T>(), K, NUMBERS).unwrap());
    for count in [1, 255, 600] {
        let data: [Vec<T>; K] = std::array::from_fn(|k| wild(count, 13 * k));
        let changed: Vec<usize> = (0..K).filter(|k| update.writes()[*k]).collect();
        let results = changed.iter().map(|_| vec![T::narrowed(7.0); count]);
        let buffers: Vec<Buffer> =
            data.iter().cloned().chain(results).map(|x| upload(&x)).collect();
        let launch = step::launch(&kernel, count, &[0; K], &update.numbers()).unwrap();
        launched(&launch, &buffers.iter().collect::<Vec<_>>());
        for (k, out) in changed.into_iter().zip(&buffers[K..]) {
            let after = |i: usize| update.at::<T, Own>(data.each_ref().map(|x| x[i]))[k];
            let want: Vec<T> = (0..count).map(after).collect();
            assert_same(name, &download::<T>(out, count), &want, Nan::Any);
        }
    }
}

#[test]
fn steps_of_one_and_two_arrays() {
    steps_of::<f32, _, 1>("scale", Scale(-0.1));
    steps_of::<f64, _, 1>("scale", Scale(-0.1));
    steps_of::<f32, _, 2>("axpy", Axpy(0.3));
    steps_of::<f64, _, 2>("axpy", Axpy(0.3));
}

fn drawn_of<T: Float + Drawn>(fill: Fill) {
    let kernel = Arc::new(philox::kernel(fill, width::<T>(), element::<T>()));
    for state in [
        State::seeded(7),
        State { key: u64::MAX, stream: 3, offset: 5 },
        State { key: 1 << 40, stream: u64::MAX, offset: u64::MAX - 8 },
    ] {
        for count in [1, 2, 255, 600] {
            let launch = philox::launch(&kernel, fill.start::<T>(state), count).unwrap();
            let want: Vec<T> = (0..count as u64).map(|i| fill.element(state, i)).collect();
            assert_same("drawn", &run::<T>(&launch, &[], count), &want, Nan::Exact);
        }
    }
}

/// Counters that carry into their high words and that begin anew.
#[test]
fn numbers_of_the_counter() {
    for fill in [Fill::Uniform, Fill::Normal] {
        drawn_of::<f32>(fill);
        drawn_of::<f64>(fill);
    }
}
