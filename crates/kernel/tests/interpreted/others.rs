//! Templates whose definitions stand with the operations, against the plainest loop: sorting, picking,
//! running sums, and elements of half widths.

use crate::support::{Buffer, device, download};
use rung_base::ElementType;
use rung_kernel::fold::{Fold, Kernels as Folds, Slices as FoldSlices, Types};
use rung_kernel::{Launch, pick, scan, sort};
use std::sync::Arc;

fn upload<T: bytemuck::Pod>(data: &[T]) -> Buffer {
    device().upload(bytemuck::cast_slice(data)).unwrap()
}

fn launched(launch: &Launch, buffers: &[&Buffer]) {
    device().launch(launch, buffers).unwrap_or_else(|e| panic!("{e}"));
}

/// Numbers with many ties, both zeros, infinities and NaN.
fn ties(count: usize) -> Vec<f32> {
    let values = [2.0, -0.0, 0.0, f32::NAN, -1.5, f32::INFINITY, 1e-40, -f32::INFINITY, 2.0];
    (0..count).map(|i| values[i * 7919 % 9] * (1 + i * 31 % 5) as f32).collect()
}

#[test]
fn a_sort_is_stable_with_nan_at_the_end() {
    for descending in [false, true] {
        let kernels = sort::Kernels::new(ElementType::F32, descending).unwrap();
        for length in [1, 2, 511, 512, 513, 1500] {
            let slices = sort::Slices { offset: 0, outer: 2, length, inner: 1 };
            let data = ties(2 * length);
            let (x, places) = (upload(&data), upload(&vec![0i32; 2 * length]));
            for launch in kernels.plan(&slices).unwrap() {
                launched(&launch, &[&x, &places]);
            }
            let out = upload(&vec![0i64; 2 * length]);
            launched(&kernels.positions(&slices, length).unwrap(), &[&x, &places, &out]);
            let want: Vec<i64> = data.chunks(length).flat_map(|s| ordered(s, descending)).collect();
            assert_eq!(download::<i64>(&out, 2 * length), want, "{length} {descending}");
        }
    }
}

/// The same of the other types, which have more or fewer values that are equal.
#[test]
fn sorts_of_other_types_are_stable() {
    sorted(ElementType::F64, |x| f64::from(x) * 1e300);
    sorted(ElementType::I64, |x| (x as i64) << 40);
    sorted(ElementType::I32, |x| x as i32);
    sorted(ElementType::U8, |x| x as u8);
}

fn sorted<T: bytemuck::Pod + PartialOrd>(element: ElementType, of: fn(f32) -> T) {
    for (length, descending) in [(1, false), (513, true), (1500, false)] {
        let kernels = sort::Kernels::new(element, descending).unwrap();
        let slices = sort::Slices { offset: 0, outer: 1, length, inner: 1 };
        let data: Vec<T> = ties(length).into_iter().map(of).collect();
        let (x, places) = (upload(&data), upload(&vec![0i32; length]));
        for launch in kernels.plan(&slices).unwrap() {
            launched(&launch, &[&x, &places]);
        }
        let out = upload(&vec![0i64; length]);
        launched(&kernels.positions(&slices, length).unwrap(), &[&x, &places, &out]);
        assert_eq!(download::<i64>(&out, length), ordered(&data, descending), "{length} {element}");
    }
}

fn ordered<T: PartialOrd>(slice: &[T], descending: bool) -> Vec<i64> {
    let is_nan = |x: &T| x.partial_cmp(x).is_none();
    let mut order: Vec<usize> = (0..slice.len()).collect();
    order.sort_by(|&a, &b| {
        let nan = is_nan(&slice[a]).cmp(&is_nan(&slice[b]));
        let order = nan.then(slice[a].partial_cmp(&slice[b]).unwrap_or(std::cmp::Ordering::Equal));
        if descending { order.reverse() } else { order }
    });
    order.into_iter().map(|i| i as i64).collect()
}

#[test]
fn rows_are_picked_at_every_width() {
    let positions = [3i32, 0, 0, 4, 1];
    let picked = |inner: usize| pick::Picked {
        offset: 0,
        outer: 1,
        positions: positions.len(),
        inner,
        outer_stride: 0,
        along: 0,
        step: inner as isize,
    };
    for element in ElementType::ALL {
        let kernel = Arc::new(pick::kernel(element).unwrap());
        for inner in [1, 3, 70] {
            // Bits of truth are 0 and 1; no half is NaN, whose payload a conversion does not keep.
            let last = if element == ElementType::Bool { 2 } else { 120 };
            let size = element.size();
            let bytes: Vec<u8> = (0..5 * inner * size).map(|i| (i * 7 % last) as u8).collect();
            let (x, p) = (upload(&bytes), upload(&positions));
            let out = device().allocate(5 * inner * size).unwrap();
            launched(&pick::launch(&kernel, &picked(inner)).unwrap(), &[&x, &p, &out]);
            let row = |p: &i32| bytes[*p as usize * inner * size..][..inner * size].to_vec();
            let want: Vec<u8> = positions.iter().flat_map(row).collect();
            assert_eq!(download::<u8>(&out, want.len()), want, "{element} {inner}");
        }
    }
}

#[test]
fn running_sums_cross_chunks() {
    let kernels = scan::Kernels::new(scan::Scan::Sum, ElementType::F64, ElementType::F64).unwrap();
    for length in [1, 63, 64, 4096, 4097, 9000] {
        let data: Vec<f64> = (0..length).map(|i| 1.0 / (1 + i % 97) as f64 - 0.3).collect();
        let slices = scan::Slices { offset: 0, outer: 1, length, inner: 1 };
        let plan = kernels.plan(&slices).unwrap();
        let (x, between) = (upload(&data), device().allocate(plan.bytes).unwrap());
        let out = device().allocate(8 * length).unwrap();
        launched(&plan.totals, &[&x, &between]);
        launched(&plan.offsets, &[&between]);
        launched(&plan.results, &[&x, &between, &out]);
        let mut want = data;
        rung_math::scan::scan::<rung_math::fold::Adding>(&mut want);
        assert_eq!(download::<f64>(&out, length), want, "{length}");
    }
}

#[test]
fn sums_of_half_widths_widen_each_element() {
    let types =
        Types { stored: ElementType::BF16, wanted: ElementType::BF16, writes: ElementType::F64 };
    let kernels = Folds::of(Fold::Sum, types).unwrap();
    let stored: Vec<u16> = (0..4095u16).map(|i| 0x3f80 ^ (i & 0x7f) ^ (i & 1) << 15).collect();
    let slices = FoldSlices {
        offset: 0,
        outer: 1,
        length: stored.len(),
        inner: 1,
        outer_stride: 0,
        stride: 1,
        inner_stride: 0,
    };
    let [stage] = &kernels.plan(&slices).unwrap()[..] else { panic!("one chunk") };
    let (x, out) = (upload(&stored), device().allocate(8).unwrap());
    launched(&stage.launch, &[&x, &out]);
    let element = |i: usize| f64::from(f32::from_bits(u32::from(stored[i]) << 16));
    let want = rung_math::fold::sum(stored.len(), element);
    assert_eq!(download::<f64>(&out, 1), [want]);
}
