//! A real library of the machine against the definition, and files that are none. Needs a tuned
//! CBLAS in the loader's path (Debian: libopenblas0-pthread).

use rung_library::{Library, Matrix, Vector};
use rung_math::product::cell;
use std::path::Path;

fn library() -> Library {
    Library::discover(None).expect("a tuned CBLAS: apt install libopenblas0-pthread")
}

fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
        })
        .collect()
}

fn at<T: Copy>(m: &Matrix<T>, i: usize, j: usize) -> T {
    m.data[(m.offset as isize + i as isize * m.row + j as isize * m.column) as usize]
}

/// The bound of class Order: 2 k u times the sum of the absolute products.
fn within(got: f64, want: f64, sizes: f64, k: usize, unit: f64) -> bool {
    (got - want).abs() <= 2.0 * k as f64 * unit * sizes
}

fn check(a: Matrix<f64>, b: Matrix<f64>) {
    let library = library();
    let (m, k, n) = (a.rows, a.columns, b.columns);
    let mut out = vec![f64::NAN; m * n];
    library.dgemm(a, b, &mut out).unwrap();
    let (a32, b32): (Vec<f32>, Vec<f32>) =
        (a.data.iter().map(|x| *x as f32).collect(), b.data.iter().map(|x| *x as f32).collect());
    let single = |m: Matrix<f64>, data| Matrix::<f32> {
        data,
        offset: m.offset,
        rows: m.rows,
        columns: m.columns,
        row: m.row,
        column: m.column,
    };
    let (a32, b32) = (single(a, &a32[..]), single(b, &b32[..]));
    let mut out32 = vec![f32::NAN; m * n];
    library.sgemm(a32, b32, &mut out32).unwrap();
    for i in 0..m {
        for j in 0..n {
            let sizes: f64 = (0..k).map(|l| (at(&a, i, l) * at(&b, l, j)).abs()).sum();
            let want = cell(k, |l| at(&a, i, l), |l| at(&b, l, j));
            let want32 = cell(k, |l| at(&a32, i, l), |l| at(&b32, l, j));
            let (got, got32) = (out[i * n + j], out32[i * n + j]);
            assert!(within(got, want, sizes, k, 2f64.powi(-53)), "{got} and {want}");
            assert!(within(got32 as f64, want32 as f64, sizes, k, 2f64.powi(-24)), "{got32}");
        }
    }
}

#[test]
fn discovery_says_what_it_found() {
    let library = library();
    assert!(library.file().contains("blas") || library.file().contains("mkl"));
    assert!(library.threads() >= 1);
    let text = library.to_string();
    assert!(text.starts_with(library.file()) && text.contains("thread"), "{text}");
    if library.configuration().starts_with("OpenBLAS") {
        let parts: Vec<&str> = library.configuration().split(' ').collect();
        assert_eq!(parts.len(), 3, "{}", library.configuration());
        assert!(library.set_threads(1));
        assert_eq!(library.threads(), 1);
    }
}

#[test]
fn products_of_every_storage_order_stay_within_the_bound() {
    for (m, k, n) in [(4, 4, 4), (1, 64, 1), (64, 1, 1), (1, 1, 64), (13, 29, 7), (70, 300, 65)] {
        let (a, b) = (numbers(1, m * k), numbers(2, k * n));
        let swap = |data, rows, columns| Matrix {
            data,
            offset: 0,
            rows: columns,
            columns: rows,
            row: 1,
            column: columns as isize,
        };
        let plain = |data, rows, columns| Matrix {
            data,
            offset: 0,
            rows,
            columns,
            row: columns as isize,
            column: 1,
        };
        for a in [plain(&a[..], m, k), swap(&a[..], k, m)] {
            for b in [plain(&b[..], k, n), swap(&b[..], n, k)] {
                check(a, b);
            }
        }
        // A part of a wider matrix.
        let wide = numbers(3, (k + 1) * (n + 5));
        let part = Matrix {
            data: &wide[..],
            offset: n + 7,
            rows: k,
            columns: n,
            row: n as isize + 5,
            column: 1,
        };
        check(plain(&a, m, k), Matrix { offset: 2, ..part });
    }
}

#[test]
fn matrix_vector_products_take_steps_and_both_orders() {
    let library = library();
    let (m, n) = (9, 31);
    let (a, x) = (numbers(4, m * n), numbers(5, 3 * n));
    let rows = Matrix { data: &a[..], offset: 0, rows: m, columns: n, row: n as isize, column: 1 };
    let columns = Matrix { row: 1, column: m as isize, ..rows };
    for a in [rows, columns] {
        for (offset, step) in [(0, 1), (1, 3), (n - 1, -1), (3 * n - 1, -3)] {
            let vector = Vector { data: &x[..], offset, length: n, step };
            let mut out = vec![f64::NAN; m];
            library.dgemv(a, vector, &mut out).unwrap();
            for (i, got) in out.iter().enumerate() {
                let number = |j: usize| x[(offset as isize + j as isize * step) as usize];
                let sizes: f64 = (0..n).map(|j| (at(&a, i, j) * number(j)).abs()).sum();
                let want: f64 = (0..n).map(|j| at(&a, i, j) * number(j)).sum();
                assert!(within(*got, want, sizes, 2 * n, 2f64.powi(-53)), "{got} and {want}");
            }
        }
    }
}

#[test]
fn whole_numbers_are_exact() {
    let a: Vec<f32> = (0..64).map(|i| (i % 7) as f32).collect();
    let m = Matrix { data: &a[..], offset: 0, rows: 8, columns: 8, row: 8, column: 1 };
    let (mut product, mut applied) = (vec![0.0; 64], vec![0.0; 8]);
    library().sgemm(m, m, &mut product).unwrap();
    let x = Vector { data: &a[..], offset: 0, length: 8, step: 1 };
    library().sgemv(m, x, &mut applied).unwrap();
    for i in 0..8 {
        let want: f32 = (0..8).map(|j| a[i * 8 + j] * a[j]).sum();
        assert_eq!(applied[i], want);
        assert_eq!(product[i * 8], (0..8).map(|j| a[i * 8 + j] * a[j * 8]).sum::<f32>());
    }
}

#[test]
fn what_cblas_cannot_take_is_declined() {
    let library = library();
    let data = vec![1.0_f64; 400];
    let m = |rows, columns, row, column| Matrix {
        data: &data[..],
        offset: 0,
        rows,
        columns,
        row,
        column,
    };
    let mut out = vec![0.0; 100];
    let refused = |a, b, out: &mut [f64]| library.dgemm(a, b, out).unwrap_err();
    let square = m(10, 10, 10, 1);
    assert_eq!(
        refused(m(3, 3, 3, 1), m(3, 3, 3, 1), &mut [0.0; 9]),
        "too small: 27 < 64 multiply-adds"
    );
    assert_eq!(refused(m(10, 10, 20, 2), square, &mut out), "no axis with stride 1");
    assert_eq!(refused(m(10, 10, -10, 1), square, &mut out), "matrix leaves its storage");
    assert_eq!(refused(m(10, 10, 0, 1), square, &mut out), "no axis with stride 1");
    assert_eq!(refused(m(10, 9, 10, 1), square, &mut out), "extents do not fit each other");
    let huge = 1usize << 33;
    let x = Vector { data: &data[..], offset: 0, length: huge, step: 0 };
    let flat = m(1, huge, 1, 1);
    assert_eq!(library.dgemv(flat, x, &mut out[..1]).unwrap_err(), "vector with stride 0");
    let far = Matrix { row: 1 << 33, rows: 1, ..square };
    library.dgemm(far, square, &mut out[..10]).unwrap();
}

#[test]
fn files_that_are_no_library_give_a_reason() {
    let folder = std::env::temp_dir();
    let text = folder.join(format!("rung-library-{}.so", std::process::id()));
    let reason = |path: &Path| Library::discover(Some(path)).unwrap_err();
    std::fs::write(&text, "a text\n").unwrap();
    assert!(reason(&text).ends_with(": not a shared library"), "{}", reason(&text));
    std::fs::write(&text, b"\x7fELF and then nothing of the kind").unwrap();
    assert!(reason(&text).starts_with(&text.display().to_string()));
    std::fs::write(&text, "").unwrap();
    assert!(reason(&text).ends_with(": not a shared library"));
    std::fs::remove_file(&text).unwrap();
    assert!(!reason(&text).is_empty());
    assert!(!reason(&folder).is_empty());
    assert!(!reason(Path::new("libno-such-library-anywhere.so")).is_empty());
    assert!(!reason(Path::new("")).is_empty());
}

#[test]
#[cfg(target_os = "linux")]
fn a_library_without_the_routines_gives_a_reason() {
    let reason = Library::discover(Some(Path::new("libc.so.6"))).unwrap_err();
    assert_eq!(reason, "libc.so.6: exports no cblas_sgemm");
    // A pipe would be waited for without end.
    let reason = Library::discover(Some(Path::new("/dev/null"))).unwrap_err();
    assert_eq!(reason, "/dev/null: not a file");
}
