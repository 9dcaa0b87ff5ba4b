//! Folds over an axis in the fixed order, at both widths.

use crate::operands::{mixture, moderate};
use crate::support::{Float, Nan, assert_same, device};
use rung_base::ElementType;
use rung_kernel::fold::{Fold, Kernels, Slices};
use rung_math::{Binary, Maximum, Minimum, Width, fold};

fn element<T: Float>() -> ElementType {
    match T::WIDTH {
        Width::F32 => ElementType::F32,
        Width::F64 => ElementType::F64,
    }
}

fn on_device<T: Float>(kernels: &Kernels, data: &[T], slices: &Slices) -> Vec<T> {
    let device = device();
    let mut source = device.upload(bytemuck::cast_slice(data)).unwrap();
    let mut result = vec![T::zeroed(); slices.outer * slices.inner];
    for stage in kernels.plan(slices).unwrap() {
        let output = device.allocate(stage.output * stage.element.size()).unwrap();
        device.launch(&stage.launch, &[&source, &output]).unwrap();
        source = output;
    }
    if !result.is_empty() {
        device.download(&source, bytemuck::cast_slice_mut(&mut result)).unwrap();
    }
    result
}

fn definition<T: Float>(kind: Fold, data: &[T], s: &Slices) -> Vec<T> {
    let mut cells = Vec::new();
    for outer in 0..s.outer as isize {
        for inner in 0..s.inner as isize {
            let at = |i: usize| {
                let steps = outer * s.outer_stride + i as isize * s.stride + inner * s.inner_stride;
                data[(s.offset as isize + steps) as usize]
            };
            let number = |i: usize| at(i).number();
            let extreme = |combine: fn(T, T) -> T, start: f64| {
                (0..s.length).fold(T::narrowed(start), |best, i| combine(best, at(i)))
            };
            cells.push(match kind {
                Fold::Sum => T::narrowed(fold::sum(s.length, number)),
                Fold::Product => T::narrowed(fold::product(s.length, number)),
                Fold::Mean => T::narrowed(fold::mean(s.length, number)),
                Fold::Maximum => extreme(<Maximum as Binary>::at, f64::NEG_INFINITY),
                Fold::Minimum => extreme(<Minimum as Binary>::at, f64::INFINITY),
                other => unreachable!("{other:?} is tested with the operations"),
            });
        }
    }
    cells
}

fn packed(outer: usize, length: usize, inner: usize) -> Slices {
    Slices {
        offset: 0,
        outer,
        length,
        inner,
        outer_stride: (length * inner) as isize,
        stride: inner as isize,
        inner_stride: 1,
    }
}

fn layouts() -> Vec<Slices> {
    let mut layouts = vec![
        packed(1, 1, 1),
        packed(3, 1, 2),
        packed(0, 5, 2),
        packed(4, 5, 0),
        packed(2, 63, 3),
        packed(2, 64, 1),
        packed(1, 65, 3),
        packed(2, 4095, 1),
        packed(2, 4096, 2),
        packed(3, 4097, 2),
        packed(1, 20_000, 1),
        packed(1, 65 * 4096 + 17, 1),
        packed(300, 7, 5),
    ];
    // A reversed axis, a broadcast one, and a view that starts inside the array.
    layouts.push(Slices { offset: 999, stride: -3, ..packed(1, 300, 1) });
    layouts.push(Slices { inner_stride: 0, ..packed(2, 100, 4) });
    layouts.push(Slices { offset: 5, outer_stride: 1, stride: 40, ..packed(7, 90, 1) });
    layouts
}

fn check<T: Float>(kind: Fold, data: &[T]) {
    let kernels = Kernels::new(kind, element::<T>()).unwrap();
    for slices in layouts() {
        let got = on_device(&kernels, data, &slices);
        let name = format!("{kind:?} {} {slices:?}", element::<T>());
        assert_same(&name, &got, &definition(kind, data, &slices), Nan::Any);
    }
}

const SIZE: usize = 70 * 4096;

fn sums<T: Float>(kind: Fold) {
    check(kind, &moderate::<T>(21, SIZE));
}

#[test]
fn sum_in_the_fixed_order() {
    sums::<f32>(Fold::Sum);
    sums::<f64>(Fold::Sum);
}

#[test]
fn mean_divides_once() {
    sums::<f32>(Fold::Mean);
    sums::<f64>(Fold::Mean);
}

#[test]
fn product_in_the_fixed_order() {
    let near_one = |x: f64| 1.0 + x / 1e6;
    let data: Vec<f64> = moderate::<f64>(22, SIZE).into_iter().map(near_one).collect();
    let single: Vec<f32> = data.iter().map(|&x| x as f32).collect();
    check(Fold::Product, &data);
    check(Fold::Product, &single);
}

#[test]
fn maximum_and_minimum_with_and_without_nan() {
    for kind in [Fold::Maximum, Fold::Minimum] {
        check(kind, &moderate::<f32>(23, SIZE));
        check(kind, &moderate::<f64>(24, SIZE));
        check(kind, &mixture::<f32>(25, SIZE));
        check(kind, &mixture::<f64>(26, SIZE));
    }
}

#[test]
fn special_values_and_nothing() {
    check(Fold::Sum, &mixture::<f32>(27, SIZE));
    check(Fold::Sum, &mixture::<f64>(28, SIZE));
    let kernels = Kernels::new(Fold::Sum, ElementType::F32).unwrap();
    let nothing = on_device::<f32>(&kernels, &[], &packed(2, 0, 2));
    assert_eq!(nothing.map_bits(), [0; 4]);
    let minus_zero = on_device(&kernels, &[-0.0f32], &packed(1, 1, 1));
    assert_eq!(minus_zero.map_bits(), [0]);
}

trait MapBits {
    fn map_bits(&self) -> Vec<u32>;
}

impl MapBits for Vec<f32> {
    fn map_bits(&self) -> Vec<u32> {
        self.iter().map(|x| x.to_bits()).collect()
    }
}
