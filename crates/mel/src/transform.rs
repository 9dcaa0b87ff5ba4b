//! Power spectra of real lines in f32, whose bits are those of one order of steps: a text that is
//! instantiated with one line (the definition) and with eight lines side by side (the lanes).
//!
//! A line of n = 2 m numbers is taken as m complex ones; those are transformed by Stockham's steps of
//! radix 5, 4, 3 and 2 (Cochran et al. 1967; no step moves numbers only), and the spectrum of the real
//! line is read from theirs. Twiddles are computed in f64 and rounded once. Sizes with another prime
//! factor, and odd ones, have no plan: `rung_dense::fourier` has them.

use rung_math::{Cos, Sin, Unary};
use std::f64::consts::TAU;

/// What a step computes with: a number, or one of each of eight lines.
pub trait Number: Copy + Default {
    /// A step of each line: it reads and gives complex numbers of it alone.
    fn each<const R: usize>(
        numbers: [Pair<Self>; R],
        step: impl Fn([Pair<f32>; R]) -> [Pair<f32>; R],
    ) -> [Pair<Self>; R];
}

impl Number for f32 {
    #[inline(always)]
    fn each<const R: usize>(
        numbers: [Pair<f32>; R],
        step: impl Fn([Pair<f32>; R]) -> [Pair<f32>; R],
    ) -> [Pair<f32>; R] {
        step(numbers)
    }
}

/// Lines side by side: a vector of AVX2, two of SSE2 or NEON, half a one of AVX-512.
pub const LINES: usize = 8;

/// A number of each of eight lines.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
pub struct Eight(pub [f32; LINES]);

impl Number for Eight {
    /// A loop over the lines, which the compiler turns into vectors.
    #[inline(always)]
    fn each<const R: usize>(
        numbers: [Pair<Eight>; R],
        step: impl Fn([Pair<f32>; R]) -> [Pair<f32>; R],
    ) -> [Pair<Eight>; R] {
        let mut out = [[Eight::default(); 2]; R];
        for line in 0..LINES {
            let mut of_line = [[0.0; 2]; R];
            for k in 0..R {
                of_line[k] = [numbers[k][0].0[line], numbers[k][1].0[line]];
            }
            let of_line = step(of_line);
            for k in 0..R {
                (out[k][0].0[line], out[k][1].0[line]) = (of_line[k][0], of_line[k][1]);
            }
        }
        out
    }
}

/// A complex number, and a factor of one.
type Pair<V> = [V; 2];
type Factor = [f32; 2];

/// A size with its factors.
#[derive(Clone, Debug)]
pub struct Transform {
    /// Complex numbers: half of a line's.
    half: usize,
    steps: Vec<Step>,
    /// exp(-2 pi i k / n) for k up to half / 2.
    turns: Vec<Factor>,
}

#[derive(Clone, Debug)]
struct Step {
    radix: usize,
    /// How many transforms of the radix have their own factors, and how many share each.
    groups: usize,
    stride: usize,
    /// (groups, radix - 1).
    factors: Vec<Factor>,
}

/// exp(-2 pi i k / n).
fn turn(k: usize, n: usize) -> Factor {
    let angle = TAU * (k % n) as f64 / n as f64;
    [Cos::at(angle) as f32, -Sin::at(angle) as f32]
}

/// Room for the transforms of one line, or of eight.
pub struct Room<V> {
    /// The numbers of a line; overwritten.
    pub line: Vec<Pair<V>>,
    other: Vec<Pair<V>>,
    /// n / 2 + 1 of them.
    pub power: Vec<V>,
}

impl Transform {
    /// Of lines of `n` numbers; none where n is odd or half of it has a prime factor above 5.
    pub fn new(n: usize) -> Option<Transform> {
        if n < 2 || !n.is_multiple_of(2) {
            return None;
        }
        let half = n / 2;
        let (mut steps, mut left, mut stride) = (Vec::new(), half, 1);
        for radix in [5, 4, 3, 2] {
            while left.is_multiple_of(radix) {
                let groups = left / radix;
                let factor = |i: usize| turn(i / (radix - 1) * (i % (radix - 1) + 1), left);
                let factors = (0..groups * (radix - 1)).map(factor).collect();
                steps.push(Step { radix, groups, stride, factors });
                (left, stride) = (groups, stride * radix);
            }
        }
        let turns = (0..=half / 2).map(|k| turn(k, n)).collect();
        (left == 1).then_some(Transform { half, steps, turns })
    }

    /// Room for it.
    pub fn room<V: Number>(&self) -> Room<V> {
        let pairs = vec![[V::default(); 2]; self.half];
        Room { line: pairs.clone(), other: pairs, power: vec![V::default(); self.half + 1] }
    }

    /// re^2 + im^2 of the bins 0 to n / 2 of the room's line, into the room's power.
    #[inline(always)]
    pub fn power<V: Number>(&self, room: &mut Room<V>) {
        let Room { line, other, power } = room;
        for step in &self.steps {
            match step.radix {
                5 => step.run(
                    line,
                    other,
                    #[inline(always)]
                    |a: [Pair<f32>; 5]| five(a),
                ),
                4 => step.run(
                    line,
                    other,
                    #[inline(always)]
                    |a: [Pair<f32>; 4]| four(a),
                ),
                3 => step.run(
                    line,
                    other,
                    #[inline(always)]
                    |a: [Pair<f32>; 3]| three(a),
                ),
                _ => step.run(
                    line,
                    other,
                    #[inline(always)]
                    |a: [Pair<f32>; 2]| two(a),
                ),
            }
            std::mem::swap(line, other);
        }
        self.unfold(line, power);
    }

    /// From the spectrum of pairs to the power of the line's: with E = z[k] + conj z[m - k] and
    /// O = -i (z[k] - conj z[m - k]), bin k is (E + turn O) / 2 and bin m - k the conjugate of
    /// (E - turn O) / 2.
    #[inline(always)]
    fn unfold<V: Number>(&self, z: &[Pair<V>], power: &mut [V]) {
        let m = self.half;
        for (k, turn) in self.turns.iter().enumerate() {
            let pair = V::each(
                [z[k], z[(m - k) % m]],
                #[inline(always)]
                |[[a, b], [c, d]]| {
                    let (even, odd) = ([a + c, b - d], times([b + d, c - a], *turn));
                    let square = |[re, im]: Pair<f32>| (re * re + im * im) * 0.25;
                    [[square(plus(even, odd)), square(minus(even, odd))], [0.0; 2]]
                },
            );
            (power[k], power[m - k]) = (pair[0][0], pair[0][1]);
        }
    }
}

impl Step {
    /// to[stride (radix p + k) + q] = sum over j of from[stride (p + groups j) + q] exp(-2 pi i j k /
    /// radix), times factor k of group p.
    #[inline(always)]
    fn run<V: Number, const R: usize>(
        &self,
        from: &[Pair<V>],
        to: &mut [Pair<V>],
        small: impl Fn([Pair<f32>; R]) -> [Pair<f32>; R],
    ) {
        let (groups, stride) = (self.groups, self.stride);
        let sources: [&[Pair<V>]; R] =
            std::array::from_fn(|j| &from[stride * groups * j..][..stride * groups]);
        for (p, (to, factors)) in
            to.chunks_exact_mut(R * stride).zip(self.factors.chunks_exact(R - 1)).enumerate()
        {
            for q in 0..stride {
                let numbers = std::array::from_fn(|j| sources[j][stride * p + q]);
                let sums = V::each(
                    numbers,
                    #[inline(always)]
                    |numbers| {
                        let mut sums = small(numbers);
                        for k in 1..R {
                            sums[k] = times(sums[k], factors[k - 1]);
                        }
                        sums
                    },
                );
                for k in 0..R {
                    to[k * stride + q] = sums[k];
                }
            }
        }
    }
}

#[inline(always)]
fn times([re, im]: Pair<f32>, [cos, sin]: Factor) -> Pair<f32> {
    [re * cos - im * sin, re * sin + im * cos]
}

#[inline(always)]
fn plus(a: Pair<f32>, b: Pair<f32>) -> Pair<f32> {
    [a[0] + b[0], a[1] + b[1]]
}

#[inline(always)]
fn minus(a: Pair<f32>, b: Pair<f32>) -> Pair<f32> {
    [a[0] - b[0], a[1] - b[1]]
}

/// a - i b and a + i b.
#[inline(always)]
fn crossed(a: Pair<f32>, b: Pair<f32>) -> [Pair<f32>; 2] {
    [[a[0] + b[1], a[1] - b[0]], [a[0] - b[1], a[1] + b[0]]]
}

#[inline(always)]
fn two([a, b]: [Pair<f32>; 2]) -> [Pair<f32>; 2] {
    [plus(a, b), minus(a, b)]
}

#[inline(always)]
fn three([a, b, c]: [Pair<f32>; 3]) -> [Pair<f32>; 3] {
    let (sum, difference) = (plus(b, c), scaled(minus(b, c), SIN_THIRD));
    let middle = minus(a, scaled(sum, 0.5));
    let [second, third] = crossed(middle, difference);
    [plus(a, sum), second, third]
}

#[inline(always)]
fn four([a, b, c, d]: [Pair<f32>; 4]) -> [Pair<f32>; 4] {
    let (even, odd) = ([plus(a, c), minus(a, c)], [plus(b, d), minus(b, d)]);
    let [second, fourth] = crossed(even[1], odd[1]);
    [plus(even[0], odd[0]), second, minus(even[0], odd[0]), fourth]
}

#[inline(always)]
fn five([a, b, c, d, e]: [Pair<f32>; 5]) -> [Pair<f32>; 5] {
    let (outer, inner) = (plus(b, e), plus(c, d));
    let (far, near) = (minus(b, e), minus(c, d));
    let first = plus(a, plus(scaled(outer, COS_FIFTH), scaled(inner, COS_TWO_FIFTHS)));
    let second = plus(a, plus(scaled(outer, COS_TWO_FIFTHS), scaled(inner, COS_FIFTH)));
    let [x, w] = crossed(first, plus(scaled(far, SIN_FIFTH), scaled(near, SIN_TWO_FIFTHS)));
    let [y, z] = crossed(second, minus(scaled(far, SIN_TWO_FIFTHS), scaled(near, SIN_FIFTH)));
    [plus(a, plus(outer, inner)), x, y, z, w]
}

#[inline(always)]
fn scaled(a: Pair<f32>, by: f32) -> Pair<f32> {
    [a[0] * by, a[1] * by]
}

/// Of a third and of a fifth of a turn, and of two fifths.
const SIN_THIRD: f32 = 0.866_025_4;
const COS_FIFTH: f32 = 0.309_017;
const SIN_FIFTH: f32 = 0.951_056_5;
const COS_TWO_FIFTHS: f32 = -0.809_017;
const SIN_TWO_FIFTHS: f32 = 0.587_785_25;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::noise;

    fn lines(n: usize) -> Vec<Vec<f32>> {
        noise(n * LINES).chunks(n).map(<[f32]>::to_vec).collect()
    }

    fn of_one(transform: &Transform, line: &[f32]) -> Vec<f32> {
        let mut room = transform.room::<f32>();
        room.line.iter_mut().zip(line.chunks(2)).for_each(|(to, x)| *to = [x[0], x[1]]);
        transform.power(&mut room);
        room.power
    }

    /// The power of a bin by its sum in f64.
    fn defined(line: &[f32], k: usize) -> f64 {
        let n = line.len();
        let part = |f: fn(f64) -> f64| -> f64 {
            let term =
                |(j, &x): (usize, &f32)| f64::from(x) * f(TAU * ((j * k) % n) as f64 / n as f64);
            line.iter().enumerate().map(term).sum()
        };
        part(f64::cos).powi(2) + part(f64::sin).powi(2)
    }

    #[test]
    fn bins_are_near_their_sums_in_double_precision() {
        for n in [2, 4, 6, 8, 10, 12, 16, 18, 30, 50, 64, 80, 90, 120, 320, 400, 480, 512, 2048] {
            let line = &lines(n)[0];
            let power = of_one(&Transform::new(n).unwrap(), line);
            let largest = (0..=n / 2).map(|k| defined(line, k)).fold(0.0, f64::max);
            for (k, got) in power.iter().enumerate() {
                let off = (f64::from(*got) - defined(line, k)).abs() / largest;
                assert!(off < 4e-7, "{n} {k}: {off}");
            }
        }
    }

    #[test]
    fn lines_side_by_side_have_the_bits_of_each_alone() {
        for n in [2, 6, 10, 64, 400, 480, 512] {
            let (transform, lines) = (Transform::new(n).unwrap(), lines(n));
            let mut room = transform.room::<Eight>();
            for (j, to) in room.line.iter_mut().enumerate() {
                *to = [0, 1].map(|i| Eight(std::array::from_fn(|l| lines[l][2 * j + i])));
            }
            transform.power(&mut room);
            for (l, line) in lines.iter().enumerate() {
                for (got, want) in room.power.iter().zip(of_one(&transform, line)) {
                    assert_eq!(got.0[l].to_bits(), want.to_bits(), "{n} {l}");
                }
            }
        }
    }

    #[test]
    fn other_sizes_have_no_plan() {
        for n in [0, 1, 3, 14, 401, 1022] {
            assert!(Transform::new(n).is_none(), "{n}");
        }
    }
}
