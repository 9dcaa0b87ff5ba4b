//! The packed product against the definition's cell, bit for bit, at every level and thread count.

#[path = "common/inlined.rs"]
mod inlined;

use rung_lanes::{Float, Lanes, Level, Matrix, product, stack};
use rung_math::product::cell;

/// Numbers of mixed size with exact zeros, -0.0 and subnormals among them, from a printed seed.
fn numbers<T: Float>(seed: u64, count: usize) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    (0..count)
        .map(|i| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let unit = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            T::narrowed(match i % 97 {
                3 => 0.0,
                5 => -0.0,
                7 => unit * 1e-42,
                11 => unit * 1e12,
                _ => unit,
            })
        })
        .collect()
}

fn same<T: Float>(a: T, b: T) -> bool {
    let nan = |x: T| x.wide().is_nan();
    a.wide().to_bits() == b.wide().to_bits() || (nan(a) && nan(b))
}

fn at<T: Float>(m: &Matrix<T>, i: usize, j: usize) -> T {
    m.data[(m.offset as isize + i as isize * m.row + j as isize * m.column) as usize]
}

fn check<T: Float>(lanes: &Lanes, a: Matrix<T>, b: Matrix<T>, note: &str) {
    let mut out = vec![T::narrowed(7.0); a.rows * b.columns];
    product(lanes, a, b, &mut out);
    for i in 0..a.rows {
        for j in 0..b.columns {
            let want = cell(a.columns, |k| at(&a, i, k), |k| at(&b, k, j));
            let got = out[i * b.columns + j];
            let (m, k, n) = (a.rows, a.columns, b.columns);
            assert!(same(got, want), "{note} ({m} {k} {n}) cell {i} {j}: {got:?}, not {want:?}");
        }
    }
}

/// All four storage orders, strided and reversed operands.
fn layouts<T: Float>(lanes: &Lanes, m: usize, k: usize, n: usize) {
    let seed = (m * 1000 + k * 10 + n) as u64;
    let note = format!("seed {seed} {:?} {}", lanes.level(), lanes.workers().threads());
    let (a, b) = (numbers::<T>(seed, m * k), numbers::<T>(seed + 1, k * n));
    let (at, bt) = (Matrix::new(&a, k, m).transposed(), Matrix::new(&b, n, k).transposed());
    let (a, b) = (Matrix::new(&a, m, k), Matrix::new(&b, k, n));
    check(lanes, a, b, &note);
    check(lanes, at, b, &note);
    check(lanes, a, bt, &note);
    check(lanes, at, bt, &note);
    if m * k * n == 0 {
        return;
    }
    // Rows upwards, columns two apart.
    let wide = numbers::<T>(seed + 2, 2 * k * n);
    let reversed = Matrix { offset: (m - 1) * k, row: -(k as isize), ..a };
    let sparse =
        Matrix { data: &wide, offset: 1, rows: k, columns: n, row: 2 * n as isize, column: 2 };
    check(lanes, reversed, Matrix { offset: 0, ..sparse }, &note);
    check(lanes, Matrix { row: 0, ..a }, Matrix { column: 0, ..b }, &note);
}

#[test]
fn every_cell_has_the_bits_of_the_definition() {
    let shapes = [
        (0, 3, 4),
        (3, 0, 4),
        (1, 1, 1),
        (1, 7, 33),
        (5, 1, 3),
        (2, 511, 3),
        (3, 512, 17),
        (13, 513, 31),
        (4, 1025, 9),
        (12, 32, 32),
        (16, 5, 16),
        (17, 9, 64),
        (7, 33, 79),
        (25, 40, 65),
        (31, 16, 15),
        (67, 70, 129),
    ];
    for level in Level::available() {
        for threads in [1, 2, 3] {
            let lanes = Lanes::with(level, threads);
            for (m, k, n) in shapes {
                layouts::<f32>(&lanes, m, k, n);
                layouts::<f64>(&lanes, m, k, n);
            }
        }
    }
}

#[test]
fn large_products_cross_every_blocking_limit() {
    // Beyond the direct path, several left blocks, several right chunks, three blocks of k.
    for threads in [1, 3] {
        let lanes = Lanes::new(threads);
        layouts::<f32>(&lanes, 230, 1030, 70);
        layouts::<f64>(&lanes, 120, 600, 150);
        layouts::<f32>(&lanes, 3, 513, 2100);
        layouts::<f64>(&lanes, 24, 700, 300);
        layouts::<f32>(&lanes, 100, 150, 90);
    }
    // Packed rows on the left; and on the right rows that meet in few sets of L1.
    for level in Level::available() {
        let lanes = Lanes::with(level, 2);
        layouts::<f32>(&lanes, 50, 300, 261);
        layouts::<f64>(&lanes, 29, 257, 256);
        layouts::<f32>(&lanes, 37, 40, 1041);
        layouts::<f64>(&lanes, 128, 128, 128);
    }
    // More columns than one packed block of the right operand has.
    let (a, b) = (numbers::<f32>(1, 26 * 513), numbers::<f32>(2, 513 * 2100));
    check(&Lanes::new(2), Matrix::new(&a, 26, 513), Matrix::new(&b, 513, 2100), "wide");
}

#[test]
fn infinities_and_nan_reach_only_their_cells() {
    let mut a = vec![1.0_f32; 13 * 20];
    a[3 * 20 + 7] = f32::NAN;
    a[5 * 20] = f32::INFINITY;
    let mut b = vec![2.0_f32; 20 * 35];
    b[11 * 35 + 30] = f32::NEG_INFINITY;
    for level in Level::available() {
        let lanes = Lanes::with(level, 1);
        check(&lanes, Matrix::new(&a, 13, 20), Matrix::new(&b, 20, 35), "specials");
    }
}

#[test]
fn stacks_are_products_slab_by_slab_and_may_repeat_one() {
    for (slabs, m, k, n) in [(1, 5, 6, 7), (9, 8, 8, 8), (3, 40, 50, 60), (2, 90, 90, 90)] {
        let a = numbers::<f64>(1, slabs * m * k);
        let b = numbers::<f64>(2, k * n);
        for threads in [1, 2, 3] {
            let lanes = Lanes::new(threads);
            let (x, y) = (Matrix::new(&a, m, k), Matrix::new(&b, k, n));
            let offsets: Vec<_> = (0..slabs).map(|s| (s * m * k, 0)).collect();
            let mut out = vec![0.0; slabs * m * n];
            stack(&lanes, x, y, &offsets, &mut out);
            for (slab, got) in out.chunks(m * n).enumerate() {
                let mut want = vec![0.0; m * n];
                product(&lanes, x.at(slab * m * k), y, &mut want);
                assert!(got.iter().zip(&want).all(|(g, w)| g.to_bits() == w.to_bits()));
            }
        }
    }
}

/// Slabs of both operands, the left ones last to first, some of them transposed.
fn stack_of_both<T: Float>(lanes: &Lanes, [slabs, m, k, n]: [usize; 4], turned: [bool; 2]) {
    let a = numbers::<T>(3, slabs * m * k);
    let b = numbers::<T>(4, slabs * k * n);
    let matrix = |data, rows, columns, turned| match turned {
        true => Matrix::new(data, columns, rows).transposed(),
        false => Matrix::new(data, rows, columns),
    };
    let (x, y) = (matrix(&a[..], m, k, turned[0]), matrix(&b[..], k, n, turned[1]));
    let offsets: Vec<_> = (0..slabs).map(|s| ((slabs - 1 - s) * m * k, s * k * n)).collect();
    let mut out = vec![T::default(); slabs * m * n];
    stack(lanes, x, y, &offsets, &mut out);
    for (&(left, right), got) in offsets.iter().zip(out.chunks(m * n)) {
        let mut want = vec![T::default(); m * n];
        product(&Lanes::with(Level::Portable, 1), x.at(left), y.at(right), &mut want);
        let same = got.iter().zip(&want).all(|(g, w)| same(*g, *w));
        assert!(same, "{slabs} of ({m} {k} {n}), turned {turned:?}, {:?}", lanes.level());
    }
}

#[test]
fn stacks_of_small_products_have_the_bits_of_each() {
    let shapes = [
        [5, 1, 1, 1],
        [17, 8, 8, 8],
        [4, 7, 5, 9],
        [3, 17, 16, 33],
        [3, 2, 1030, 3],
        [6, 31, 4, 65],
        [2, 64, 64, 64],
    ];
    for level in Level::available() {
        for (threads, shape) in [1, 3].into_iter().flat_map(|t| shapes.map(|s| (t, s))) {
            let lanes = Lanes::with(level, threads);
            for turned in [[false; 2], [true, false], [false, true], [true; 2]] {
                stack_of_both::<f32>(&lanes, shape, turned);
                stack_of_both::<f64>(&lanes, shape, turned);
            }
        }
    }
}

#[test]
#[should_panic(expected = "leaves its slice")]
fn an_operand_outside_its_slice_is_refused() {
    let data = [1.0_f32; 10];
    let bad = Matrix { data: &data, offset: 2, rows: 3, columns: 3, row: 3, column: 1 };
    product(&Lanes::new(1), bad, Matrix::new(&data[..9], 3, 3), &mut [0.0; 9]);
}
