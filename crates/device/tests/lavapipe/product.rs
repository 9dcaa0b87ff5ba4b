//! Products of matrices and stacks, transposed and broadcast operands, at both widths.

use crate::operands::{mixture, moderate};
use crate::support::{DOUBLES, Float, Nan, assert_same, run};
use rung_base::ElementType;
use rung_kernel::Kernel;
use rung_kernel::cells::Computed;
use rung_kernel::product::{Extents, Matrix, Tile, Types, kernel, launch};
use rung_math::{Width, product};
use std::sync::Arc;

fn at(m: &Matrix, batch: usize, row: usize, column: usize) -> usize {
    let step = |count: usize, stride: isize| count as isize * stride;
    let steps = step(batch, m.batch) + step(row, m.row) + step(column, m.column);
    (m.offset as isize + steps) as usize
}

/// Every tile that has the type gives the definition's bits.
fn check<T: Float>(size: Extents, a: Matrix, b: Matrix, data: [&[T]; 2]) {
    let tiles = match T::WIDTH {
        Width::F32 => &[Tile::Each, Tile::Small, Tile::Middle, Tile::Large][..],
        Width::F64 => DOUBLES,
    };
    check_tiles(tiles, size, a, b, data);
}

pub(crate) fn check_tiles<T: Float>(
    tiles: &[Tile],
    size: Extents,
    a: Matrix,
    b: Matrix,
    data: [&[T]; 2],
) {
    let element = if T::WIDTH == Width::F32 { ElementType::F32 } else { ElementType::F64 };
    let want = defined(size, a, b, data);
    let types = Types { stored: [element; 2], wanted: element, writes: element };
    for &tile in tiles {
        let kernel = Arc::new(kernel(types, tile, None).unwrap());
        let sides = tile.sides(Computed::holding(element));
        let got = run(&launch(&kernel, sides, &size, &[a, b], &[]).unwrap(), &data, want.len());
        let name = format!("product {element} {tile:?} {size:?} {a:?} {b:?}");
        assert_same(&name, &got, &want, Nan::Any);
    }
}

/// Every cell by the definition.
fn defined<T: Float>(size: Extents, a: Matrix, b: Matrix, data: [&[T]; 2]) -> Vec<T> {
    let mut want = Vec::with_capacity(size.batch * size.m * size.n);
    for batch in 0..size.batch {
        for row in 0..size.m {
            for column in 0..size.n {
                want.push(product::cell(
                    size.k,
                    |i| data[0][at(&a, batch, row, i)],
                    |i| data[1][at(&b, batch, i, column)],
                ));
            }
        }
    }
    want
}

pub(crate) fn packed(rows: usize, columns: usize) -> Matrix {
    Matrix { offset: 0, batch: (rows * columns) as isize, row: columns as isize, column: 1 }
}

fn transposed(rows: usize, columns: usize) -> Matrix {
    Matrix { row: 1, column: rows as isize, ..packed(rows, columns) }
}

fn shapes<T: Float>() {
    let data = [moderate::<T>(31, 70_000), moderate::<T>(32, 70_000)];
    let data = [&data[0][..], &data[1][..]];
    let cases = [
        [1, 1, 1, 1],
        [1, 3, 0, 2],
        [1, 0, 4, 5],
        [0, 2, 2, 2],
        [1, 15, 17, 16],
        [1, 16, 16, 16],
        [2, 33, 7, 18],
        [1, 3, 511, 5],
        [1, 2, 512, 17],
        [2, 3, 513, 4],
        [1, 2, 1025, 3],
        [40, 5, 6, 7],
        [1, 31, 9, 33],
        [1, 33, 520, 34],
        [1, 63, 9, 65],
        [1, 130, 17, 129],
        [2, 64, 5, 128],
    ];
    for [batch, m, k, n] in cases {
        let size = Extents { batch, m, k, n };
        check(size, packed(m, k), packed(k, n), data);
        check(size, transposed(m, k), transposed(k, n), data);
    }
    let size = Extents { batch: 3, m: 9, k: 20, n: 11 };
    let shared = Matrix { batch: 0, offset: 5, ..packed(20, 11) };
    check(size, packed(9, 20), shared, data);
    let reversed = Matrix { offset: 9 * 20 * 3 - 1, batch: -180, row: -20, column: -1 };
    check(size, reversed, packed(20, 11), data);
}

#[test]
fn shapes_strides_and_stacks() {
    shapes::<f32>();
    shapes::<f64>();
}

/// In whole numbers, which any fused step adds exactly, also the device's own: a driver takes a minute for
/// 64 copies of one that is made of integers.
#[test]
fn every_tile_of_doubles_has_all_of_its_cells() {
    let size = Extents { batch: 2, m: 66, k: 520, n: 67 };
    let whole = |by: usize, count: usize| -> Vec<f64> {
        (0..count).map(|i| (i * by % 17) as f64 - 8.0).collect()
    };
    let (left, right) = (whole(7919, 2 * 66 * 520), whole(104_729, 2 * 520 * 67));
    let (a, b) = (packed(66, 520), packed(520, 67));
    let want = defined(size, a, b, [&left, &right]);
    let types =
        Types { stored: [ElementType::F64; 2], wanted: ElementType::F64, writes: ElementType::F64 };
    for tile in [Tile::Each, Tile::Small, Tile::Middle] {
        let made = kernel(types, tile, None).unwrap();
        assert!(made.text.contains("fused_f64("));
        let text = made.text.replace("fused_f64(", "fma(");
        let made = Arc::new(Kernel { key: made.key.clone() + ", its own steps", text, ..made });
        let sides = tile.sides(Computed::Double);
        let launch = launch(&made, sides, &size, &[a, b], &[]).unwrap();
        let got: Vec<f64> = run(&launch, &[&left, &right], want.len());
        assert_same(&format!("{tile:?}"), &got, &want, Nan::Any);
    }
}

#[test]
fn special_values() {
    let size = Extents { batch: 1, m: 20, k: 40, n: 20 };
    let single = [mixture::<f32>(33, 800), mixture::<f32>(34, 800)];
    check(size, packed(20, 40), packed(40, 20), [&single[0], &single[1]]);
    let double = [mixture::<f64>(35, 800), mixture::<f64>(36, 800)];
    check(size, packed(20, 40), packed(40, 20), [&double[0], &double[1]]);
}

#[test]
fn a_step_that_underflows_to_minus_zero_stays_minus_zero() {
    let tiny = [f32::from_bits(1), f32::from_bits(1)];
    let size = Extents { batch: 1, m: 1, k: 1, n: 1 };
    check(size, packed(1, 1), packed(1, 1), [&[-tiny[0]], &[tiny[1]]]);
    assert_eq!(product::cell(1, |_| -tiny[0], |_| tiny[1]).to_bits(), 1 << 31);
}
