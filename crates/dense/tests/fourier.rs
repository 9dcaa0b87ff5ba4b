//! Transforms against a direct sum in twice the precision, for lengths of every kind.

use rung_dense::fourier::{Direction, complex, real_backward, real_forward};

/// Powers of two, products of small primes, primes by Rader and by Bluestein, and their neighbours.
const LENGTHS: [usize; 20] =
    [1, 2, 3, 4, 5, 7, 8, 12, 17, 31, 63, 64, 65, 97, 127, 200, 257, 360, 499, 1024];

fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

/// An unevaluated sum of two f64.
#[derive(Clone, Copy)]
struct Double(f64, f64);

impl Double {
    fn add(self, x: f64) -> Double {
        let sum = self.0 + x;
        let part = sum - self.0;
        Double(sum, self.1 + ((self.0 - (sum - part)) + (x - part)))
    }

    /// Plus a * (b + low), the product without rounding.
    fn add_product(self, a: f64, (b, low): (f64, f64)) -> Double {
        let product = a * b;
        let rest = a.mul_add(b, -product);
        let mut sum = self.add(product);
        sum.1 += rest + a * low;
        sum
    }
}

/// cos and sin of 2 pi k / n to some 2^-70: the angle is folded into an eighth of a turn, where
/// the series in twice the precision needs few terms.
fn turn(k: usize, n: usize) -> ((f64, f64), (f64, f64)) {
    let k = k % n;
    let eighth = 8 * k / n;
    let rest = 8 * k - eighth * n;
    // The angle is (rest / n) eighths; from the odd eighths backwards.
    let odd = eighth % 2 == 1;
    let part = if odd { n - rest } else { rest };
    let (c, s) = series(part as f64, 8.0 * n as f64);
    let negative = |x: (f64, f64)| (-x.0, -x.1);
    match eighth {
        0 => (c, s),
        1 => (s, c),
        2 => (negative(s), c),
        3 => (negative(c), s),
        4 => (negative(c), negative(s)),
        5 => (negative(s), negative(c)),
        6 => (s, negative(c)),
        _ => (c, negative(s)),
    }
}

/// cos and sin of 2 pi k / n for small angles, by their series in twice the precision.
fn series(k: f64, n: f64) -> ((f64, f64), (f64, f64)) {
    // 2 pi as the sum of two f64.
    let pi2 = (std::f64::consts::TAU, 2.4492935982947064e-16);
    let multiply = |a: (f64, f64), b: (f64, f64)| {
        let high = a.0 * b.0;
        let low = a.0.mul_add(b.0, -high) + (a.0 * b.1 + a.1 * b.0);
        let sum = high + low;
        (sum, low - (sum - high))
    };
    let divide = |a: (f64, f64), b: f64| {
        let high = a.0 / b;
        let rest = (-high).mul_add(b, a.0) + a.1;
        (high, rest / b)
    };
    let x = divide(multiply(pi2, (k, 0.0)), n);
    let square = multiply(x, x);
    let sum = |first: (f64, f64), from: usize| {
        let (mut term, mut total) = (first, Double(first.0, first.1));
        for i in 0..14 {
            let (a, b) = ((from + 2 * i) as f64, (from + 2 * i + 1) as f64);
            term = divide(multiply(term, square), -(a * b));
            total = total.add(term.0);
            total.1 += term.1;
        }
        (total.0, total.1)
    };
    (sum((1.0, 0.0), 1), sum(x, 2))
}

/// The direct sum, each result rounded once from twice the precision.
fn direct(n: usize, direction: Direction, line: &[f64]) -> Vec<f64> {
    let turns: Vec<_> = (0..n).map(|k| turn(k, n)).collect();
    let sign = if direction == Direction::Forward { -1.0 } else { 1.0 };
    let mut out = Vec::new();
    for k in 0..n {
        let (mut re, mut im) = (Double(0.0, 0.0), Double(0.0, 0.0));
        for j in 0..n {
            let (c, s) = turns[j * k % n];
            let s = (sign * s.0, sign * s.1);
            let (x, y) = (line[2 * j], line[2 * j + 1]);
            re = re.add_product(x, c).add_product(-y, s);
            im = im.add_product(x, s).add_product(y, c);
        }
        out.extend([re.0 + re.1, im.0 + im.1]);
    }
    out
}

fn norm(x: impl Iterator<Item = f64>) -> f64 {
    x.map(|x| x * x).sum::<f64>().sqrt()
}

/// The error relative to the whole line, in units of eps log2 n.
#[track_caller]
fn assert_near(n: usize, got: &[f64], want: &[f64], note: &str) {
    assert_eq!(got.len(), want.len());
    let error = norm(got.iter().zip(want).map(|(g, w)| g - w)) / norm(want.iter().copied());
    let bound = 4.0 * f64::EPSILON * (n as f64).log2().max(1.0);
    assert!(error <= bound, "{note} of {n}: {error:e} is more than {bound:e}");
}

#[test]
fn transforms_are_the_direct_sum_within_four_eps_log2_n() {
    for n in LENGTHS {
        let line = numbers(n as u64, 2 * n);
        for direction in [Direction::Forward, Direction::Backward] {
            let mut got = line.clone();
            complex(n, direction, 1.0, &mut got);
            let want = direct(n, direction, &line);
            assert_near(n, &got, &want, &format!("{direction:?}, seed {n}"));
            let mut again = line.clone();
            complex(n, direction, 1.0, &mut again);
            assert_eq!(again, got, "run to run");
        }
    }
}

#[test]
fn real_lines_give_the_first_half_of_the_bins_and_come_back() {
    for n in LENGTHS {
        let lines = numbers(n as u64, 3 * n);
        let bins = n / 2 + 1;
        let mut got = vec![7.0; 3 * 2 * bins];
        real_forward(n, 1.0, &lines, &mut got);
        for (line, got) in lines.chunks(n).zip(got.chunks(2 * bins)) {
            let pairs: Vec<f64> = line.iter().flat_map(|&x| [x, 0.0]).collect();
            let want = direct(n, Direction::Forward, &pairs);
            assert_near(n, got, &want[..2 * bins], &format!("real, seed {n}"));
        }
        let mut back = vec![7.0; 3 * n];
        real_backward(n, 1.0 / n as f64, &got, &mut back);
        assert_near(n, &back, &lines, &format!("back, seed {n}"));
    }
}

#[test]
fn small_transforms_by_hand() {
    let mut line = [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0];
    complex(4, Direction::Forward, 1.0, &mut line);
    assert_eq!(line, [10.0, 0.0, -2.0, 2.0, -2.0, 0.0, -2.0, -2.0]);
    complex(4, Direction::Backward, 0.25, &mut line);
    assert_eq!(line, [1.0, 0.0, 2.0, 0.0, 3.0, 0.0, 4.0, 0.0]);
    let mut out = [0.0; 6];
    real_forward(4, 0.5, &[2.0; 4], &mut out);
    assert_eq!(out, [4.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
    // Imaginary parts that a real line cannot have count as nothing.
    let mut out = [0.0; 2];
    real_backward(2, 0.5, &[3.0, 9.0, 1.0, 9.0], &mut out);
    assert_eq!(out, [2.0, 1.0]);
    let mut line = [f64::NAN, 0.0, 1.0, 0.0];
    complex(2, Direction::Forward, 1.0, &mut line);
    assert!(line[0].is_nan() && line[2].is_nan());
}
