//! Factorisations and transforms as a user calls them: known answers, the bounds of the reference,
//! what stacks and widths give, what NaN does, and the texts of mistakes.

use rung_array::Array;
use rung_base::{ElementType, ErrorKind, Settings, Shape};
use rung_lanes::{Lanes, Level};
use rung_ops::call::first_difference;
use rung_ops::{Decline, Ladder, NoCaller, Rung, Value, table};

fn ladder(lanes: Option<Lanes>) -> Ladder {
    let absent = || Decline::Off("test");
    let mut ladder = Ladder::with_rungs(&Settings::default(), lanes, Err(absent()), Err(absent()));
    ladder.only = Some(if ladder.lanes().is_some() { Rung::Lanes } else { Rung::Portable });
    ladder
}

fn call(name: &str, values: &[Value]) -> rung_base::Result<Vec<Value>> {
    let op = table::find(name).unwrap();
    ladder(Some(Lanes::new(2))).call(op, values.to_vec(), &mut NoCaller)
}

#[track_caller]
fn arrays(name: &str, values: &[Value]) -> Vec<Array> {
    let results = call(name, values).unwrap();
    let array = |v: Value| match v {
        Value::Array(a) => a,
        Value::Number(n) => Array::full(ElementType::F64, Shape::scalar(), n).unwrap(),
        other => panic!("{name} gave {other}"),
    };
    results.into_iter().map(array).collect()
}

fn array(extents: &[usize], elements: &[f64]) -> Value {
    let shape = Shape::new(extents.iter().copied()).unwrap();
    Value::Array(Array::from_slice(elements, shape).unwrap())
}

fn as_type(value: &Value, t: ElementType) -> Value {
    let Value::Array(a) = value else { return value.clone() };
    Value::Array(a.convert(t).unwrap())
}

fn word(name: &'static str) -> Value {
    Value::Keyword(name.into())
}

fn numbers(a: &Array) -> Vec<f64> {
    a.numbers().map(|n| n.to_f64()).collect()
}

/// Uniform numbers in [-1, 1) from a seed that messages print.
fn uniform(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn largest(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, x| m.max(x.abs()))
}

/// The largest row sum of magnitudes.
fn norm(n: usize, a: &[f64]) -> f64 {
    a.chunks(n.max(1)).map(|row| row.iter().map(|x| x.abs()).sum()).fold(0.0, f64::max)
}

#[test]
fn solve_is_backward_stable_within_three_n_eps_growth() {
    for n in [1, 2, 3, 63, 64, 65, 200] {
        let seed = n as u64;
        let (a, b) = (uniform(seed, n * n), uniform(seed + 1, n));
        let (x, lu) = (
            numbers(&arrays("solve", &[array(&[n, n], &a), array(&[n], &b)])[0]),
            numbers(&arrays("lu", &[array(&[n, n], &a)])[0]),
        );
        let upper = |i: usize| &lu[i * n + i..(i + 1) * n];
        let growth = (0..n).map(|i| largest(upper(i))).fold(0.0, f64::max) / largest(&a);
        let left: Vec<f64> =
            (0..n).map(|i| b[i] - (0..n).map(|j| a[i * n + j] * x[j]).sum::<f64>()).collect();
        let error = largest(&left) / (norm(n, &a) * largest(&x));
        let bound = 3.0 * n as f64 * f64::EPSILON * growth.max(1.0);
        assert!(error <= bound, "n {n} seed {seed}: {error:e}, not within {bound:e}");
    }
}

#[test]
fn the_inverse_of_a_hilbert_matrix_is_known() {
    let hilbert: Vec<f64> = (0..25).map(|c| 1.0 / ((c / 5 + c % 5 + 1) as f64)).collect();
    let inverse = numbers(&arrays("inv", &[array(&[5, 5], &hilbert)])[0]);
    assert!((inverse[0] - 25.0).abs() < 1e-8 && (inverse[1] + 300.0).abs() < 1e-7);
    assert!((inverse[24] / 44100.0 - 1.0).abs() < 1e-9);
    let det = numbers(&arrays("det", &[array(&[5, 5], &hilbert)])[0])[0];
    assert!((det / 3.749295132515087e-12 - 1.0).abs() < 1e-10, "{det:e}");
    let values = arrays("slogdet", &[array(&[5, 5], &hilbert)]);
    assert_eq!(numbers(&values[0]), [1.0]);
    assert!((numbers(&values[1])[0] - det.ln()).abs() < 1e-12);
}

#[test]
fn one_text_of_lanes_and_definition_on_every_level_and_thread_count() {
    let n = 130;
    let (a, b) = (uniform(5, n * n), uniform(6, n * 7));
    let mut definite: Vec<f64> = a.clone();
    (0..n).for_each(|i| definite[i * n + i] += n as f64);
    let calls = [
        ("lu", vec![array(&[n, n], &a)]),
        ("inv", vec![array(&[n, n], &a)]),
        ("slogdet", vec![array(&[n, n], &a)]),
        ("solve", vec![array(&[n, n], &a), array(&[n, 7], &b)]),
        ("cholesky", vec![array(&[n, n], &definite)]),
        ("solve-triangular", vec![array(&[n, n], &definite), array(&[n, 7], &b)]),
        ("svd", vec![array(&[2, 65, 130], &a)]),
        ("fft", vec![array(&[65, 260], &a)]),
    ];
    for (name, values) in calls {
        let op = table::find(name).unwrap();
        let wanted = ladder(None).call(op, values.clone(), &mut NoCaller).unwrap();
        for level in Level::available() {
            for threads in [1, 2, 3] {
                let mut ladder = ladder(Some(Lanes::with(level, threads)));
                let got = ladder.call(op, values.clone(), &mut NoCaller).unwrap();
                for (got, wanted) in got.iter().zip(&wanted) {
                    match (got, wanted) {
                        (Value::Array(g), Value::Array(w)) => {
                            let at = first_difference(g, w);
                            assert_eq!(at, None, "{name} {level:?} on {threads} threads");
                        }
                        (g, w) => assert_eq!(g.to_string(), w.to_string(), "{name}"),
                    }
                }
            }
        }
    }
}

#[test]
fn widths_are_narrowed_once_and_integers_give_double() {
    let (a, b) = (array(&[2, 2], &[3.0, 1.0, 1.0, 2.0]), array(&[2], &[1.0, 0.0]));
    for t in ElementType::ALL {
        if t == ElementType::Bool {
            continue;
        }
        let x = &arrays("solve", &[as_type(&a, t), as_type(&b, t)])[0];
        let wide = Array::vector(&[0.4, -0.2]).unwrap();
        let result = if t.is_float() { t } else { ElementType::F64 };
        assert_eq!(x.element_type(), result);
        let exact = numbers(&wide.convert(result).unwrap());
        let close = numbers(x).iter().zip(&exact).all(|(x, e)| (x - e).abs() <= 1e-15);
        assert!(close, "{t}: {:?}", numbers(x));
    }
    // The first float array decides.
    let mixed = [as_type(&a, ElementType::I64), as_type(&b, ElementType::F32)];
    assert_eq!(arrays("solve", &mixed)[0].element_type(), ElementType::F32);
    let lu = arrays("lu", &[as_type(&a, ElementType::F16)]);
    assert_eq!(lu[0].element_type(), ElementType::F16);
    assert_eq!((lu[1].element_type(), numbers(&lu[1])), (ElementType::I64, vec![0.0, 1.0]));
    let ranks = &arrays("matrix-rank", &[array(&[2, 1, 1], &[0.0, 3.0])])[0];
    assert_eq!((ranks.element_type(), numbers(ranks)), (ElementType::I64, vec![0.0, 1.0]));
}

#[test]
fn stacks_broadcast_over_leading_axes() {
    let a = array(&[2, 1, 2, 2], &[2.0, 0.0, 0.0, 2.0, 4.0, 0.0, 0.0, 1.0]);
    let b = array(&[3, 2, 1], &[2.0, 4.0, 8.0, 2.0, 0.0, 1.0]);
    let x = &arrays("solve", &[a.clone(), b])[0];
    assert_eq!(x.shape().to_vec(), [2, 3, 2, 1]);
    assert_eq!(numbers(x), [1.0, 2.0, 4.0, 1.0, 0.0, 0.5, 0.5, 4.0, 2.0, 2.0, 0.0, 1.0]);
    let x = &arrays("solve", &[a.clone(), array(&[2], &[4.0, 1.0])])[0];
    assert_eq!((x.shape().to_vec(), numbers(x)), (vec![2, 1, 2], vec![2.0, 0.5, 1.0, 1.0]));
    let det = &arrays("det", std::slice::from_ref(&a))[0];
    assert_eq!((det.shape().to_vec(), numbers(det)), (vec![2, 1], vec![4.0, 4.0]));
    let f = arrays("svd", &[a]);
    let shapes: Vec<Vec<usize>> = f.iter().map(|a| a.shape().to_vec()).collect();
    assert_eq!(shapes, [vec![2, 1, 2, 2], vec![2, 1, 2], vec![2, 1, 2, 2]]);
}

#[test]
fn lu_solve_and_solve_triangular_finish_what_lu_began() {
    let n = 20;
    let (a, b) = (uniform(7, n * n), uniform(8, n * 2));
    let (matrix, right) = (array(&[n, n], &a), array(&[n, 2], &b));
    let lu = call("lu", std::slice::from_ref(&matrix)).unwrap();
    let x = &arrays("lu-solve", &[lu[0].clone(), lu[1].clone(), right.clone()])[0];
    let whole = &arrays("solve", &[matrix.clone(), right.clone()])[0];
    assert_eq!(first_difference(x, whole), None);
    // L L^T x = b by two substitutions.
    let mut definite = a.clone();
    (0..n).for_each(|i| definite[i * n + i] += 20.0);
    let factor = call("cholesky", &[array(&[n, n], &definite)]).unwrap()[0].clone();
    let lower = [word("lower"), Value::True];
    let y = call("solve-triangular", &[&[factor.clone(), right][..], &lower].concat()).unwrap();
    let trans = [word("lower"), Value::True, word("trans"), Value::True];
    let x = arrays("solve-triangular", &[&[factor, y[0].clone()][..], &trans].concat());
    let x = numbers(&x[0]);
    let symmetric = |i: usize, j: usize| definite[i.max(j) * n + i.min(j)];
    for c in 0..n * 2 {
        let sum: f64 = (0..n).map(|k| symmetric(c / 2, k) * x[k * 2 + c % 2]).sum();
        assert!((sum - b[c]).abs() < 1e-13, "{c}");
    }
}

#[test]
fn nan_gives_nan_and_no_error() {
    let nan = f64::NAN;
    let m = array(&[2, 2], &[0.0, nan, 0.0, 1.0]);
    for name in ["det", "inv", "lu", "eigh", "svd", "qr", "pinv", "cond"] {
        // eigh reads the lower triangle alone.
        let m = if name == "eigh" { array(&[2, 2], &[0.0, 1.0, nan, 1.0]) } else { m.clone() };
        let first = &arrays(name, &[m])[0];
        assert!(numbers(first).iter().any(|x| x.is_nan()), "{name}: {:?}", numbers(first));
    }
    let x = &arrays("solve", &[m.clone(), array(&[2], &[1.0, 1.0])])[0];
    assert!(numbers(x).iter().all(|x| x.is_nan()));
    let factor = &arrays("cholesky", &[array(&[2, 2], &[-1.0, 0.0, nan, 1.0])])[0];
    assert!(numbers(factor)[0].is_nan());
    assert_eq!(numbers(&arrays("matrix-rank", &[m])[0]), [0.0]);
}

#[test]
fn lstsq_gives_four_values() {
    let a = array(&[4, 2], &[1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0]);
    let f = arrays("lstsq", &[a.clone(), array(&[4], &[1.0, 3.0, 5.0, 8.0])]);
    let close = |a: &Array, b: &[f64]| {
        let a = numbers(a);
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-13)
    };
    assert!(close(&f[0], &[0.8, 2.3]) && close(&f[1], &[0.3]) && close(&f[2], &[2.0]));
    assert_eq!(f[3].shape().to_vec(), [2]);
    let rcond = [word("rcond"), Value::Number(rung_array::Number::F64(0.5))];
    let f = arrays("lstsq", &[&[a, array(&[4, 1], &[1.0; 4])][..], &rcond].concat());
    assert_eq!((f[0].shape().to_vec(), f[1].shape().to_vec()), (vec![2, 1], vec![0]));
    assert_eq!(numbers(&f[2]), [1.0]);
}

#[test]
fn transforms_along_an_axis_cut_extend_and_scale() {
    let a = array(&[2, 3], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    let integer = |n| Value::integer(n);
    let columns = &arrays("fft", &[a.clone(), word("axis"), integer(0)])[0];
    assert_eq!(columns.shape().to_vec(), [2, 3, 2]);
    assert_eq!(numbers(columns), [5.0, 0.0, 7.0, 0.0, 9.0, 0.0, -3.0, 0.0, -3.0, 0.0, -3.0, 0.0]);
    let back = arrays("ifft", &[Value::Array(columns.clone()), word("axis"), integer(0)]);
    assert_eq!(numbers(&back[0]), [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0, 5.0, 0.0, 6.0, 0.0]);
    let longer = &arrays("rfft", &[a.clone(), word("n"), integer(4)])[0];
    assert_eq!(longer.shape().to_vec(), [2, 3, 2]);
    assert_eq!(numbers(longer)[..6], [6.0, 0.0, -2.0, -2.0, 2.0, 0.0]);
    let shorter = &arrays("rfft", &[a, word("n"), integer(1)])[0];
    assert_eq!(numbers(shorter), [1.0, 0.0, 4.0, 0.0]);
    let line = array(&[4], &[1.0; 4]);
    let ortho = &arrays("rfft", &[line.clone(), word("norm"), word("ortho")])[0];
    assert_eq!(numbers(ortho)[0], 2.0);
    let half = as_type(&line, ElementType::BF16);
    assert_eq!(arrays("fft", &[half])[0].element_type(), ElementType::BF16);
    let odd = array(&[3, 2], &[9.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(numbers(&arrays("irfft", &[odd.clone(), word("n"), integer(5)])[0]), [1.8; 5]);
    assert_eq!(numbers(&arrays("irfft", &[odd])[0]), [2.25; 4]);
    let frequencies = numbers(&arrays("fftfreq", &[integer(5)])[0]);
    assert_eq!(frequencies, [0.0, 0.2, 0.4, -0.4, -0.2]);
}

#[test]
fn mistakes_have_their_texts_and_kinds() {
    let flat = array(&[2, 3], &[1.0; 6]);
    let vector = array(&[3], &[1.0; 3]);
    let ones = array(&[2, 2], &[1.0; 4]);
    let two = array(&[2], &[1.0; 2]);
    let stack = array(&[2, 1, 1], &[1.0, 0.0]);
    let complex = array(&[2, 3], &[1.0; 6]);
    let indefinite = array(&[2, 2], &[1.0, 0.0, 2.0, 1.0]);
    let bad_pivots = Value::List(vec![Value::integer(0), Value::integer(2)]);
    let square = "linalg: expects a square matrix: got shape (2 3)";
    let cases: [(&str, Vec<Value>, ErrorKind, &str); 15] = [
        ("det", vec![flat.clone()], ErrorKind::Shape, square),
        ("inv", vec![flat.clone()], ErrorKind::Shape, square),
        ("cholesky", vec![vector.clone()], ErrorKind::Shape, "linalg: expects a square matrix"),
        ("svd", vec![vector.clone()], ErrorKind::Shape, "linalg: expects a matrix: got shape (3)"),
        ("inv", vec![ones.clone()], ErrorKind::Singular, "linalg: inv of a singular matrix"),
        (
            "solve",
            vec![ones.clone(), two.clone()],
            ErrorKind::Singular,
            "linalg: solve with a singular matrix: pivot 1 is zero",
        ),
        (
            "solve",
            vec![stack, array(&[1], &[1.0])],
            ErrorKind::Singular,
            "linalg: solve with a singular matrix: pivot 0 is zero in matrix 1 of 2",
        ),
        (
            "solve",
            vec![ones.clone(), vector.clone()],
            ErrorKind::Shape,
            "linalg: solve shapes differ: (2 2) and (3)",
        ),
        (
            "cholesky",
            vec![indefinite],
            ErrorKind::Singular,
            "linalg: cholesky needs a positive definite matrix: pivot 1 is not positive",
        ),
        (
            "lu-solve",
            vec![ones.clone(), bad_pivots, two.clone()],
            ErrorKind::Index,
            "linalg: lu-solve pivot out of range",
        ),
        (
            "solve-triangular",
            vec![array(&[1, 1], &[0.0]), array(&[1], &[1.0])],
            ErrorKind::Singular,
            "linalg: solve-triangular with a singular matrix",
        ),
        ("lstsq", vec![flat, vector.clone()], ErrorKind::Shape, "linalg: lstsq shapes differ"),
        (
            "ifft",
            vec![complex],
            ErrorKind::Shape,
            "linalg: ifft expects a complex array: got shape (2 3)",
        ),
        (
            "fft",
            vec![vector, word("n"), Value::integer(0)],
            ErrorKind::Argument,
            "linalg: fft needs at least one point: got 0",
        ),
        ("cond", vec![array(&[0, 2], &[])], ErrorKind::Empty, "linalg: cond of an empty array"),
    ];
    for (name, values, kind, text) in cases {
        let e = call(name, &values).unwrap_err();
        assert!(e.to_string().starts_with(text), "{name}: {e}");
        assert_eq!(e.kind(), kind, "{name}");
        // The definition says the same.
        let op = table::find(name).unwrap();
        let plain = ladder(None).call(op, values, &mut NoCaller).unwrap_err();
        assert_eq!((plain.to_string(), plain.kind()), (e.to_string(), kind), "{name}");
    }
}

#[test]
fn nothing_and_one() {
    let empty = array(&[0, 0], &[]);
    assert_eq!(numbers(&arrays("det", std::slice::from_ref(&empty))[0]), [1.0]);
    assert_eq!(arrays("solve", &[empty.clone(), array(&[0, 3], &[])])[0].shape().to_vec(), [0, 3]);
    assert_eq!(arrays("inv", std::slice::from_ref(&empty))[0].shape().to_vec(), [0, 0]);
    assert_eq!(arrays("eigh", &[empty])[1].shape().to_vec(), [0, 0]);
    assert_eq!(arrays("det", &[array(&[3, 0, 0], &[])])[0].shape().to_vec(), [3]);
    let one = array(&[1, 1], &[-4.0]);
    assert_eq!(numbers(&arrays("inv", std::slice::from_ref(&one))[0]), [-0.25]);
    let q = arrays("qr", std::slice::from_ref(&one));
    assert_eq!((numbers(&q[0]), numbers(&q[1])), (vec![-1.0], vec![4.0]));
    let f = arrays("svd", std::slice::from_ref(&one));
    let parts = f.iter().map(numbers).collect::<Vec<_>>();
    assert_eq!(parts, [vec![1.0], vec![4.0], vec![-1.0]]);
    assert_eq!(numbers(&arrays("eigh", &[one])[1]), [1.0]);
    let tall = arrays("qr", &[array(&[3, 0], &[]), word("mode"), word("complete")]);
    assert_eq!(tall[0].shape().to_vec(), [3, 3]);
    assert_eq!(numbers(&tall[0]), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}
