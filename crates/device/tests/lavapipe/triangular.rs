//! LU, Cholesky and substitution: extents about the panel's and the tile's, stacks, exchanges, NaN,
//! infinities, subnormals, zeros of both signs and singular matrices.

use crate::operands::{mixture, moderate};
use crate::support::{Buffer, Nan, assert_same, device};
use rung_kernel::Launch;
use rung_kernel::triangular::{Kernels, Sides, kept, kept_launch};
use rung_math::triangular;
use std::sync::Arc;

/// About one panel, two, and one tile.
const EXTENTS: [usize; 14] = [0, 1, 2, 3, 31, 32, 33, 47, 63, 64, 65, 96, 97, 130];

fn upload<T: bytemuck::Pod>(data: &[T]) -> Buffer {
    device().upload(bytemuck::cast_slice(data)).unwrap()
}

fn download<T: bytemuck::Pod>(buffer: &Buffer, count: usize) -> Vec<T> {
    let mut out = vec![T::zeroed(); count];
    device().download(buffer, bytemuck::cast_slice_mut(&mut out)).unwrap();
    out
}

fn run(launches: &[Launch], buffers: &[&Buffer]) {
    launches.iter().for_each(|launch| device().launch(launch, buffers).unwrap());
}

/// What is done to a matrix of n rows before it is factorised.
type Change = fn(usize, &mut [f64]);

/// Matrices that hurt, by name.
const HARD: [(&str, Change); 8] = [
    ("moderate", |_, _| ()),
    ("ties", |_, a| a.iter_mut().enumerate().for_each(|(i, x)| *x = [1.0, -1.0, 2.0][i * 7 % 3])),
    ("a zero column", |n, a| a.iter_mut().skip(n / 2).step_by(n).for_each(|x| *x = -0.0)),
    ("all the same", |_, a| a.fill(1.0)),
    ("one NaN", |n, a| a[(n * n) / 3] = f64::NAN),
    ("infinite", |n, a| a[(n * n) / 2] = f64::NEG_INFINITY),
    ("subnormal", |_, a| a.iter_mut().for_each(|x| *x *= 1e-310)),
    ("huge", |_, a| a.iter_mut().for_each(|x| *x *= 1e300)),
];

fn matrices(slabs: usize, n: usize, change: Change) -> Vec<f64> {
    let mut stack = moderate::<f64>(41 + n as u64, slabs * n * n);
    if n > 0 {
        stack.chunks_mut(n * n).for_each(|a| change(n, a));
    }
    stack
}

fn check_lu(slabs: usize, n: usize, name: &str, stack: &[f64]) {
    let (a, pivots) = (upload(stack), upload(&vec![0i32; slabs * n]));
    run(&Kernels::new().lu(slabs, n).unwrap(), &[&a, &pivots]);
    let (mut wanted, mut rows) = (stack.to_vec(), vec![0; slabs * n]);
    if n > 0 {
        for (a, rows) in wanted.chunks_mut(n * n).zip(rows.chunks_mut(n)) {
            triangular::lu(n, a, rows);
        }
    }
    let got: Vec<i32> = download(&pivots, slabs * n);
    let got: Vec<usize> = got.into_iter().map(|row| row as usize).collect();
    assert_eq!(got, rows, "pivots of {name}, {slabs} x {n}");
    let name = format!("lu of {name}, {slabs} x {n}");
    assert_same(&name, &download(&a, stack.len()), &wanted, Nan::Any);
}

#[test]
fn an_lu_has_the_definitions_pivots_and_bits() {
    for n in EXTENTS {
        check_lu(1, n, "moderate", &matrices(1, n, |_, _| ()));
    }
    for (name, change) in HARD {
        for n in [1, 5, 33, 70] {
            check_lu(2, n, name, &matrices(2, n, change));
        }
    }
    check_lu(5, 34, "a stack", &matrices(5, 34, |_, _| ()));
    check_lu(0, 4, "no matrix", &[]);
    check_lu(2, 40, "a mixture", &mixture::<f64>(3, 2 * 1600));
}

/// a a^T and something on the diagonal.
fn definite(n: usize, change: Change) -> Vec<f64> {
    let mut a = matrices(1, n, |_, _| ());
    for i in 0..n {
        for j in 0..n {
            a[i * n + j] = if i == j { 2.0 * n as f64 } else { a[i.min(j) * n + i.max(j)] * 0.5 };
        }
    }
    if n > 0 {
        change(n, &mut a);
    }
    a
}

fn check_cholesky(n: usize, name: &str, matrix: &[f64]) {
    // A second one beside it.
    let stack = [matrix, matrix].concat();
    let (a, failed) = (upload(&stack), upload(&[7i32; 2]));
    run(&Kernels::new().cholesky(2, n).unwrap(), &[&a, &failed]);
    let mut wanted = matrix.to_vec();
    let first = triangular::cholesky(n, &mut wanted);
    let name = format!("cholesky of {name}, {n}");
    if n > 0 {
        let first = first.map_or(-1, |k| k as i32);
        assert_eq!(download::<i32>(&failed, 2), [first; 2], "{name}");
    }
    for upper in [false, true] {
        let out = upload(&vec![3.0; stack.len()]);
        let kernel = Arc::new(kept(rung_base::ElementType::F64).unwrap());
        run(&[kept_launch(&kernel, 2, n, upper).unwrap()], &[&a, &out]);
        let cell = |c: usize| {
            let (i, j) = (c / n, c % n);
            let (i, j) = if upper { (j, i) } else { (i, j) };
            if j <= i { wanted[i * n + j] } else { 0.0 }
        };
        let kept: Vec<f64> = (0..n * n).map(cell).collect();
        assert_same(&name, &download(&out, 2 * n * n), &[&kept[..], &kept].concat(), Nan::Any);
    }
}

#[test]
fn a_cholesky_factor_has_the_definitions_bits_and_says_where_it_failed() {
    for n in EXTENTS {
        check_cholesky(n, "definite", &definite(n, |_, _| ()));
    }
    for (name, change) in HARD {
        for n in [1, 5, 33, 70] {
            check_cholesky(n, name, &definite(n, change));
        }
    }
    for n in [1, 33, 70] {
        check_cholesky(n, "a zero pivot", &definite(n, |n, a| a[(n / 2) * (n + 1)] = -0.0));
        check_cholesky(n, "a negative pivot", &definite(n, |n, a| a[(n - 1) * (n + 1)] = -1.0));
    }
}

/// Sides 0, 1, 2 with the matrices 1, 0, 1.
fn check_solve(n: usize, columns: usize, name: &str, change: Change) {
    let (stack, of) = (matrices(2, n, change), [1i32, 0, 1]);
    let right = moderate::<f64>(7, 3 * n * columns);
    let (t, sides) = (upload(&stack), Sides { n, count: 3, columns });
    let numbers = upload(&of);
    for (lower, unit) in [(true, true), (true, false), (false, false), (false, true)] {
        let x = upload(&right);
        let launches = Kernels::new().substitute(&sides, lower, unit).unwrap();
        run(&launches, &[&t, &x, &numbers]);
        let mut wanted = right.clone();
        for s in 0..3 {
            let t = |i: usize, k: usize| stack[of[s] as usize * n * n + i * n + k];
            for c in 0..columns {
                let at = |i: usize| (s * n + i) * columns + c;
                let mut column: Vec<f64> = (0..n).map(|i| wanted[at(i)]).collect();
                match lower {
                    true => triangular::forward(t, unit, &mut column),
                    false => triangular::backward(t, unit, &mut column),
                }
                (0..n).for_each(|i| wanted[at(i)] = column[i]);
            }
        }
        let name = format!("{name} {n} x {columns}, lower {lower}, unit {unit}");
        assert_same(&name, &download(&x, right.len()), &wanted, Nan::Any);
    }
}

#[test]
fn substitution_has_the_definitions_order() {
    for n in EXTENTS {
        check_solve(n, 1, "moderate", |_, _| ());
    }
    for columns in [0, 2, 63, 64, 65] {
        check_solve(35, columns, "columns", |_, _| ());
    }
    for (name, change) in HARD {
        check_solve(40, 3, name, change);
    }
}

#[test]
fn exchanges_are_made_in_turn_from_where_the_pivots_begin() {
    let (n, columns) = (37, 3);
    let pivots: Vec<usize> = (0..2 * n).map(|i| i % n + (i * 7) % (n - i % n)).collect();
    let right = moderate::<f64>(9, 2 * n * columns);
    let (x, of) = (upload(&right), upload(&[1i32, 0]));
    let words: Vec<i32> = [5, 5].into_iter().chain(pivots.iter().map(|&p| p as i32)).collect();
    let sides = Sides { n, count: 2, columns };
    run(&[Kernels::new().exchange(&sides, 2).unwrap()], &[&upload(&words), &x, &of]);
    let mut wanted = right.clone();
    for (s, side) in wanted.chunks_mut(n * columns).enumerate() {
        triangular::permute(&pivots[(1 - s) * n..][..n], columns, side);
    }
    assert_same("exchanges", &download(&x, right.len()), &wanted, Nan::Exact);
}

#[test]
fn ones_stand_on_every_diagonal() {
    for (slabs, n) in [(3, 5), (1, 1), (2, 0)] {
        let out = upload(&vec![7.0; slabs * n * n]);
        run(&[Kernels::new().identity(slabs, n).unwrap()], &[&out]);
        let one = |c: usize| if c / n % n == c % n { 1.0 } else { 0.0 };
        let wanted: Vec<f64> = (0..slabs * n * n).map(one).collect();
        assert_same("identity", &download(&out, wanted.len()), &wanted, Nan::Exact);
    }
}
