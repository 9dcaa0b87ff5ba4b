//! Products on tensor cores in the interpreter's model of them: singles within the bound that the template
//! states, over every form of operands, exact where nothing is rounded; doubles bit for bit.

use crate::operands::{mixture, moderate};
use crate::product::packed;
use crate::support::{Buffer, Nan, assert_same, device, download, run};
use rung_base::ElementType::{self, BF16, F16, F32, F64};
use rung_kernel::broadcast::Read;
use rung_kernel::cells::Computed;
use rung_kernel::product::{Epilogue, Extents, Matrix, Tile, Types, launch};
use rung_kernel::tensor::{Rounding, bound, kernel};
use rung_kernel::tensor_doubles;
use rung_math::{Add, Width, product, trace_binary};
use std::sync::Arc;

const ALL: [(Rounding, Tile); 4] = [
    (Rounding::Tf32, Tile::Middle),
    (Rounding::Tf32, Tile::Large),
    (Rounding::Bf16, Tile::Middle),
    (Rounding::Bf16, Tile::Large),
];

/// Rows and columns of a tile of singles.
fn sides(tile: Tile) -> [usize; 2] {
    tile.sides(Computed::Single)
}

fn types(element: ElementType) -> Types {
    Types { stored: [element; 2], wanted: F32, writes: F32 }
}

fn at(m: &Matrix, batch: usize, row: usize, column: usize) -> usize {
    let step = |count: usize, stride: isize| count as isize * stride;
    (m.offset as isize + step(batch, m.batch) + step(row, m.row) + step(column, m.column)) as usize
}

/// Every cell within the bound of both roundings and of the order.
fn check(size: Extents, matrices: [Matrix; 2], data: [&[f32]; 2], which: &[(Rounding, Tile)]) {
    let cells = size.batch * size.m * size.n;
    for &(rounding, tile) in which {
        let kernel = Arc::new(kernel(types(F32), rounding, tile, None).unwrap());
        let got = run(&launch(&kernel, sides(tile), &size, &matrices, &[]).unwrap(), &data, cells);
        let unit = rounding.unit();
        let part = bound(size.k) + unit * (2.0 + unit);
        for (i, got) in got.iter().enumerate() {
            let (batch, row, column) = (i / (size.m * size.n), i / size.n % size.m, i % size.n);
            let term = |k: usize| {
                let a = f64::from(data[0][at(&matrices[0], batch, row, k)]);
                a * f64::from(data[1][at(&matrices[1], batch, k, column)])
            };
            let exact: f64 = (0..size.k).map(term).sum();
            let most = part * (0..size.k).map(|k| term(k).abs()).sum::<f64>();
            let off = (f64::from(*got) - exact).abs();
            let name = format!("{rounding:?} {tile:?} {size:?} {matrices:?} cell {i}");
            assert!(off <= most, "{name}: {got} and {exact}, {off} > {most}");
        }
    }
}

#[test]
fn every_form_of_operands_stays_within_the_bound() {
    let data = [moderate::<f32>(61, 40_000), moderate::<f32>(62, 40_000)];
    let data = [&data[0][..], &data[1][..]];
    // Odd sizes on every side of a tile, of an instruction and of a panel along k.
    for [batch, m, k, n] in [[1, 1, 1, 1], [1, 3, 0, 2], [2, 17, 33, 9], [1, 65, 31, 70]] {
        let size = Extents { batch, m, k, n };
        check(size, [packed(m, k), packed(k, n)], data, &ALL);
        check(size, [turned(m, k), turned(k, n)], data, &[ALL[0], ALL[2]]);
    }
    let size = Extents { batch: 3, m: 9, k: 20, n: 11 };
    let shared = Matrix { batch: 0, offset: 5, ..packed(20, 11) };
    check(size, [packed(9, 20), shared], data, &[ALL[0], ALL[2]]);
    let reversed = Matrix { offset: 9 * 20 * 3 - 1, batch: -180, row: -20, column: -1 };
    check(size, [reversed, packed(20, 11)], data, &[ALL[0], ALL[2]]);
    let large = Extents { batch: 1, m: 130, k: 17, n: 129 };
    check(large, [packed(130, 17), packed(17, 129)], data, &[ALL[1], ALL[3]]);
    // More than one block of 512.
    let long = Extents { batch: 1, m: 2, k: 1030, n: 3 };
    check(long, [packed(2, 1030), packed(1030, 3)], data, &[ALL[0], ALL[2]]);
}

/// What rounds nowhere is exact: rows of the identity pick rows of small whole numbers.
#[test]
fn small_whole_numbers_are_exact() {
    let (m, k, n) = (40, 70, 50);
    let size = Extents { batch: 1, m, k, n };
    let left: Vec<f32> = (0..m * k).map(|i| f32::from(i / k * 7 % k == i % k)).collect();
    let right: Vec<f32> = (0..k * n).map(|i| (i * 37 % 255) as f32 - 127.0).collect();
    let wanted: Vec<f32> = (0..m * n).map(|i| right[i / n * 7 % k * n + i % n]).collect();
    for (rounding, tile) in ALL {
        let kernel = Arc::new(kernel(types(F32), rounding, tile, None).unwrap());
        let matrices = [packed(m, k), packed(k, n)];
        let launch = launch(&kernel, sides(tile), &size, &matrices, &[]).unwrap();
        assert_eq!(run(&launch, &[&left[..], &right], m * n), wanted, "{rounding:?} {tile:?}");
    }
}

/// Half widths are read as they are, a result is narrowed once, and what follows is made of the cell.
#[test]
fn half_widths_and_what_follows() {
    let (m, k, n) = (5, 6, 7);
    let size = Extents { batch: 1, m, k, n };
    // Whole numbers up to 8, of which every sum is exact at 8 bits of significand or in f32.
    let whole = |i: usize| (i % 5) as f32 - 2.0;
    let (left, right): (Vec<f32>, Vec<f32>) =
        ((0..m * k).map(whole).collect(), (0..k * n).map(|i| whole(3 * i + 1)).collect());
    let cell =
        |i: usize| -> f32 { (0..k).map(|j| left[i / n * k + j] * right[j * n + i % n]).sum() };
    let up = |bytes: &[u8]| device().upload(bytes).unwrap();
    let bf16: Vec<u16> = left.iter().map(|x| (x.to_bits() >> 16) as u16).collect();
    let f16: Vec<u16> = right.iter().map(|x| half_bits(*x)).collect();
    let stored = [up(bytemuck::cast_slice(&bf16)), up(bytemuck::cast_slice(&f16))];
    let types = Types { stored: [BF16, F16], wanted: F32, writes: BF16 };
    for rounding in [Rounding::Tf32, Rounding::Bf16] {
        let kernel = Arc::new(kernel(types, rounding, Tile::Middle, None).unwrap());
        let out: Buffer = device().allocate(2 * m * n).unwrap();
        let matrices = [packed(m, k), packed(k, n)];
        let run = launch(&kernel, sides(Tile::Middle), &size, &matrices, &[]).unwrap();
        device().launch(&run, &[&stored[0], &stored[1], &out]).unwrap();
        let got: Vec<f32> = download::<u16>(&out, m * n)
            .iter()
            .map(|h| f32::from_bits(u32::from(*h) << 16))
            .collect();
        assert_eq!(got, (0..m * n).map(cell).collect::<Vec<f32>>(), "{rounding:?}");
    }
    let graph = trace_binary::<Add>(Width::F32);
    let reads = [Read::Array { stored: F32, wanted: F32 }];
    let epilogue = Epilogue { name: "add", graph: &graph, reads: &reads };
    let kernel =
        Arc::new(kernel(self::types(F32), Rounding::Bf16, Tile::Middle, Some(&epilogue)).unwrap());
    let more: Vec<f32> = (0..m * n).map(|i| i as f32).collect();
    let matrices = [packed(m, k), packed(k, n), packed(m, n)];
    let launch = launch(&kernel, sides(Tile::Middle), &size, &matrices, &[]).unwrap();
    let wanted: Vec<f32> = (0..m * n).map(|i| cell(i) + i as f32).collect();
    assert_eq!(run(&launch, &[&left[..], &right, &more], m * n), wanted);
}

/// A small whole number as f16.
fn half_bits(x: f32) -> u16 {
    match x.to_bits() {
        0 => 0,
        bits => (bits >> 16 & 0x8000) as u16 | ((bits >> 13 & 0x3ffff) - (112 << 10)) as u16,
    }
}

fn turned(rows: usize, columns: usize) -> Matrix {
    Matrix { row: 1, column: rows as isize, ..packed(rows, columns) }
}

const DOUBLES: Types = Types { stored: [F64; 2], wanted: F64, writes: F64 };

/// The cells of the definition.
fn cells(size: &Extents, [a, b]: &[Matrix; 2], [left, right]: [&[f64]; 2]) -> Vec<f64> {
    let mut all = Vec::new();
    for batch in 0..size.batch {
        for row in 0..size.m {
            all.extend((0..size.n).map(|column| {
                let left = |k| left[at(a, batch, row, k)];
                product::cell(size.k, left, |k| right[at(b, batch, k, column)])
            }));
        }
    }
    all
}

fn check_doubles(size: Extents, matrices: [Matrix; 2], data: [&[f64]; 2]) {
    let kernel = Arc::new(tensor_doubles::kernel(DOUBLES, None).unwrap());
    let launch = launch(&kernel, [64, 64], &size, &matrices, &[]).unwrap();
    let got = run(&launch, &data, size.batch * size.m * size.n);
    let name = format!("{size:?} {matrices:?}");
    assert_same(&name, &got, &cells(&size, &matrices, data), Nan::Any);
}

/// Sizes beside a step, an instruction, a panel, a tile and a block.
#[test]
fn doubles_have_the_definition_s_bits() {
    let data = [moderate::<f64>(63, 20_000), moderate::<f64>(64, 20_000)];
    let data = [&data[0][..], &data[1][..]];
    for [batch, m, k, n] in [
        [0, 2, 2, 2],
        [1, 0, 4, 5],
        [1, 3, 0, 2],
        [1, 1, 1, 1],
        [1, 9, 3, 7],
        [2, 8, 4, 8],
        [1, 7, 5, 9],
        [1, 17, 15, 33],
        [1, 33, 16, 17],
        [1, 3, 17, 5],
        [1, 3, 511, 5],
        [1, 2, 512, 17],
        [2, 3, 513, 4],
        [1, 2, 1027, 3],
        [1, 63, 4, 65],
        [1, 64, 33, 64],
        [1, 65, 5, 63],
        [1, 130, 3, 1],
        [1, 1, 6, 130],
        [3, 66, 4, 65],
    ] {
        let size = Extents { batch, m, k, n };
        check_doubles(size, [packed(m, k), packed(k, n)], data);
        check_doubles(size, [turned(m, k), turned(k, n)], data);
    }
    let size = Extents { batch: 3, m: 9, k: 20, n: 11 };
    let shared = Matrix { batch: 0, offset: 5, ..packed(20, 11) };
    check_doubles(size, [packed(9, 20), shared], data);
    let reversed = Matrix { offset: 9 * 20 * 3 - 1, batch: -180, row: -20, column: -1 };
    check_doubles(size, [reversed, packed(20, 11)], data);
}

#[test]
fn special_doubles() {
    let data = [mixture::<f64>(65, 900), mixture::<f64>(66, 900)];
    let data = [&data[0][..], &data[1][..]];
    check_doubles(
        Extents { batch: 1, m: 20, k: 41, n: 20 },
        [packed(20, 41), packed(41, 20)],
        data,
    );
    // Steps that underflow to -0.0, at every number of them beside an instruction's and a block's.
    let tiny = [vec![-5e-324; 514], vec![5e-324; 514]];
    for k in [1, 2, 3, 4, 5, 511, 512, 513, 514] {
        let size = Extents { batch: 1, m: 1, k, n: 1 };
        let (a, b) = (packed(1, k), packed(k, 1));
        check_doubles(size, [a, b], [&tiny[0], &tiny[1]]);
        assert_eq!(cells(&size, &[a, b], [&tiny[0], &tiny[1]])[0].to_bits(), 1 << 63);
    }
}

#[test]
fn what_follows_a_product_of_doubles() {
    let (m, k, n) = (66, 9, 65);
    let size = Extents { batch: 1, m, k, n };
    let matrices = [packed(m, k), packed(k, n)];
    let data = [moderate::<f64>(67, m * k), moderate::<f64>(68, k * n), moderate(69, m * n)];
    let before = cells(&size, &matrices, [&data[0], &data[1]]);
    let graph = trace_binary::<Add>(Width::F64);
    let added = |reads: &[Read], matrices: &[Matrix], numbers: &[u32], data: &[&[f64]]| {
        let epilogue = Epilogue { name: "add", graph: &graph, reads };
        let kernel = Arc::new(tensor_doubles::kernel(DOUBLES, Some(&epilogue)).unwrap());
        run(&launch(&kernel, [64, 64], &size, matrices, numbers).unwrap(), data, m * n)
    };
    let operands = [&data[0][..], &data[1], &data[2]];
    let wanted: Vec<f64> = before.iter().zip(&data[2]).map(|(x, y)| x + y).collect();
    let read = Read::Array { stored: F64, wanted: F64 };
    let got = added(&[read], &[matrices[0], matrices[1], packed(m, n)], &[], &operands);
    assert_same("an array", &got, &wanted, Nan::Exact);
    let bits = 0.1f64.to_bits();
    let numbers = [bits as u32, (bits >> 32) as u32];
    let got = added(&[Read::Number], &matrices, &numbers, &operands[..2]);
    let wanted: Vec<f64> = before.iter().map(|x| x + 0.1).collect();
    assert_same("a number", &got, &wanted, Nan::Exact);
}

/// A half and a double, narrowed once.
#[test]
fn doubles_beside_half_widths() {
    let (m, k, n) = (5, 6, 7);
    let whole = |i: usize| (i % 5) as f32 - 2.0;
    let left: Vec<u16> = (0..m * k).map(|i| half_bits(whole(i))).collect();
    let right: Vec<f64> = (0..k * n).map(|i| f64::from(whole(3 * i + 1))).collect();
    let up = |bytes: &[u8]| device().upload(bytes).unwrap();
    let stored = [up(bytemuck::cast_slice(&left)), up(bytemuck::cast_slice(&right))];
    let out: Buffer = device().allocate(2 * m * n).unwrap();
    let types = Types { stored: [F16, F64], wanted: F64, writes: F16 };
    let kernel = Arc::new(tensor_doubles::kernel(types, None).unwrap());
    let size = Extents { batch: 1, m, k, n };
    let launch = launch(&kernel, [64, 64], &size, &[packed(m, k), packed(k, n)], &[]).unwrap();
    device().launch(&launch, &[&stored[0], &stored[1], &out]).unwrap();
    let cell = |i: usize| {
        let term = |j: usize| whole(i / n * k + j) * whole(3 * (j * n + i % n) + 1);
        half_bits((0..k).map(term).sum())
    };
    assert_eq!(download::<u16>(&out, m * n), (0..m * n).map(cell).collect::<Vec<u16>>());
}
