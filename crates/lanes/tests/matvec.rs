//! Matrices times vectors against the definition's fold, bit for bit, for every width and layout.

#[path = "common/inlined.rs"]
mod inlined;

use rung_base::{bf16, f16};
use rung_lanes::{Lanes, Level, Matrix, Operand, Stored, matvec};
use rung_math::fold::dot;

/// Numbers of mixed size with -0.0 and tiny ones among them, from a printed seed.
fn numbers<T>(seed: u64, count: usize, make: impl Fn(f64) -> T) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let number = |i: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let unit = (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
        make(match i % 53 {
            3 => -0.0,
            5 => unit * 1e-40,
            7 => unit * 1e4,
            _ => unit,
        })
    };
    (0..count).map(number).collect()
}

fn check<M: Stored, X: Stored>(lanes: &Lanes, a: Matrix<M>, x: Operand<X>, note: &str) {
    let mut out = vec![7.0_f64; a.rows];
    matvec(lanes, a, x, &mut out);
    for (i, got) in out.iter().enumerate() {
        let at = |j: usize| {
            let cell = a.offset as isize + i as isize * a.row + j as isize * a.column;
            let with = x.offset as isize + j as isize * x.strides[0];
            (a.data[cell as usize].to_wide(), x.data[with as usize].to_wide())
        };
        let want = dot(a.columns, at);
        let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
        let (m, k) = (a.rows, a.columns);
        assert!(same, "{note} ({m} {k}) row {i}: {got:e}, not {want:e}");
    }
}

fn each_configuration(body: impl Fn(&Lanes, &str)) {
    for level in Level::available() {
        for threads in [1, 2, 3] {
            body(&Lanes::with(level, threads), &format!("{level:?} {threads} threads"));
        }
    }
}

fn layouts<M: Stored>(lanes: &Lanes, m: usize, k: usize, note: &str, make: impl Fn(f64) -> M) {
    let seed = (m * 10_000 + k) as u64;
    let note = format!("{note} seed {seed} {}", M::TYPE);
    let (a, x) = (numbers(seed, m * k, make), numbers(seed + 1, 2 * k, |x| x as f32));
    let straight = Operand::new(&x, 0, &[1]);
    check(lanes, Matrix::new(&a, m, k), straight, &note);
    check(lanes, Matrix::new(&a, k, m).transposed(), straight, &note);
    check(lanes, Matrix::new(&a, m, k), Operand::new(&x, 0, &[2]), &note);
    if m * k > 0 {
        // Every other column, rows upwards.
        let sparse = Matrix { rows: m, columns: k.div_ceil(2), column: 2, ..Matrix::new(&a, m, k) };
        let sparse = Matrix { offset: (m - 1) * k, row: -(k as isize), ..sparse };
        check(lanes, sparse, straight, &note);
        check(lanes, Matrix { row: 0, ..Matrix::new(&a, m, k) }, straight, &note);
    }
}

#[test]
fn every_width_and_layout_has_the_bits_of_the_definition() {
    let shapes = [
        (0, 3),
        (3, 0),
        (1, 1),
        (4, 1),
        (2, 63),
        (3, 64),
        (5, 65),
        (17, 288),
        (300, 65),
        (9, 4097),
        (64, 64),
        (40, 130),
        (1, 70_000),
        (530, 513),
    ];
    each_configuration(|lanes, note| {
        for (m, k) in shapes {
            layouts(lanes, m, k, note, |x| x);
            layouts(lanes, m, k, note, |x| x as f32);
            layouts(lanes, m, k, note, bf16::from_f64);
            layouts(lanes, m, k, note, f16::from_f64);
        }
    });
}

#[test]
fn wide_blocks_finish_one_partial_after_another() {
    for threads in [1, 3] {
        let lanes = Lanes::new(threads);
        for (m, k) in [(2100, 600), (700, 4200), (515, 512)] {
            let a = numbers(5, m * k, |x| x as f32);
            let x = numbers(6, k, |x| x as f32);
            let a = Matrix::new(&a, k, m).transposed();
            check(&lanes, a, Operand::new(&x, 0, &[1]), "wide");
        }
    }
}

#[test]
fn zeros_that_underflow_left_behind_become_positive_where_the_definition_says() {
    // Products of -2^-1080 round to -0.0; a partial without an element is +0.0.
    let x = [1e-170_f64; 700];
    let a = vec![-1e-160_f64; 700 * 40];
    each_configuration(|lanes, note| {
        for k in [1, 31, 32, 33, 63, 64, 65, 512, 700] {
            check(lanes, Matrix::new(&a, 40, k), Operand::new(&x, 0, &[1]), note);
            check(lanes, Matrix::new(&a, k, 40).transposed(), Operand::new(&x, 0, &[1]), note);
        }
    });
}

#[test]
fn infinities_and_nan_reach_only_their_rows() {
    let mut a = vec![1.0_f32; 20 * 100];
    a[3 * 100 + 70] = f32::NAN;
    a[5 * 100] = f32::INFINITY;
    each_configuration(|lanes, note| {
        let x = [1.0_f32; 100];
        check(lanes, Matrix::new(&a, 20, 100), Operand::new(&x, 0, &[1]), note);
        check(lanes, Matrix::new(&a, 100, 20).transposed(), Operand::new(&x, 0, &[1]), note);
    });
}

#[test]
#[should_panic(expected = "leaves its slice")]
fn a_matrix_outside_its_slice_is_refused() {
    let data = [1.0_f32; 10];
    let bad = Matrix { data: &data, offset: 2, rows: 3, columns: 3, row: 3, column: 1 };
    matvec(&Lanes::new(1), bad, Operand::new(&[1.0_f32; 3], 0, &[1]), &mut [0.0_f32; 3]);
}
