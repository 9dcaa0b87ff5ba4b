//! Definitions over one slice of an array: softmax and its kin, layer norm, with their gradients.
//! Each step is stored at the width of the operands, as the chain of named functions stores it;
//! sums and means are `fold`'s, in f64 and narrowed once. A slice is never empty.
//!
//! One text serves both the definition, over the numbers of a slice (`apply`), and the kernels of
//! devices, which `trace::trace_rows` makes of it: a function is a few folds of an expression of the
//! elements, each of which may use the folds before it, and an expression that is written.
//!
//! The gradients take what the function gave (`y`) or was given (`x`), and the gradient of its
//! result.

use crate::exponential::Exp;
use crate::fold;
use crate::function::{Binary, Maximum, Unary};
use crate::logarithm::Log;
use crate::real::Real;

/// A function of `K` slices of one length, and of a few numbers.
pub trait Rowwise<const K: usize>: Copy + Default + Send + Sync + 'static {
    /// Whether a slice gives one number instead of n.
    const ONE: bool = false;
    /// Does the folds and writes the result, as the last step.
    fn row<R: Real, S: Slices<R, K>>(s: &mut S);
}

/// A fold over a slice, narrowed once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fold {
    /// The largest; NaN if there is one.
    Largest,
    /// The sum.
    Total,
    /// The mean.
    Mean,
    /// The mean squared distance from the mean, which is not narrowed before.
    Variance,
    /// The sum of the products with the second slice (`fold::dot`).
    Dot,
}

/// What a function does with its slices. Every expression is of the `K` elements of one index.
pub trait Slices<R: Real, const K: usize> {
    /// One of the numbers.
    fn number(&mut self, at: usize) -> R;
    /// A fold of an expression.
    fn fold(&mut self, fold: Fold, f: impl Fn([R; K]) -> R) -> R;
    /// Writes the result: at each index, or once where the function is of `ONE` number, which then
    /// depends on no element.
    fn write(&mut self, f: impl Fn([R; K]) -> R);
}

/// x (n) each, out (n), of which a function of `ONE` number writes the first.
pub fn apply<F: Rowwise<K>, T: Real + Into<f64>, const K: usize>(
    x: [&[T]; K],
    numbers: &[f64],
    out: &mut [T],
) {
    F::row(&mut Numbers { x, numbers, out: if F::ONE { &mut out[..1] } else { out } });
}

/// The slices themselves.
struct Numbers<'a, T, const K: usize> {
    x: [&'a [T]; K],
    numbers: &'a [f64],
    out: &'a mut [T],
}

impl<T: Real + Into<f64>, const K: usize> Numbers<'_, T, K> {
    fn at(&self, i: usize) -> [T; K] {
        self.x.map(|x| x[i])
    }
}

impl<T: Real + Into<f64>, const K: usize> Slices<T, K> for Numbers<'_, T, K> {
    fn number(&mut self, at: usize) -> T {
        T::constant(self.numbers[at])
    }

    fn fold(&mut self, fold: Fold, f: impl Fn([T; K]) -> T) -> T {
        let n = self.x[0].len();
        let wide = |i: usize| -> f64 { f(self.at(i)).into() };
        match fold {
            Fold::Largest => {
                let rest = (1..n).map(|i| f(self.at(i)));
                rest.fold(f(self.at(0)), |best, x| <Maximum as Binary>::at(best, x))
            }
            Fold::Total => T::constant(fold::sum(n, wide)),
            Fold::Mean => T::constant(fold::mean(n, wide)),
            Fold::Variance => T::constant(fold::variance(n, 0, wide)),
            Fold::Dot => T::constant(fold::dot(n, |i| (wide(i), self.x[1][i].into()))),
        }
    }

    fn write(&mut self, f: impl Fn([T; K]) -> T) {
        for i in 0..self.out.len() {
            self.out[i] = f(self.at(i));
        }
    }
}

/// m = amax; e = exp(x - m); e / sum(e).
#[derive(Clone, Copy, Default, Debug)]
pub struct Softmax;
impl Rowwise<1> for Softmax {
    fn row<R: Real, S: Slices<R, 1>>(s: &mut S) {
        softmax_of(s, |[x]| x);
    }
}

/// Softmax of a score of each index.
fn softmax_of<R: Real, S: Slices<R, K>, const K: usize>(s: &mut S, score: impl Fn([R; K]) -> R) {
    let m = s.fold(Fold::Largest, &score);
    let e = |x| Exp::at(score(x) - m);
    let sum = s.fold(Fold::Total, e);
    s.write(|x| e(x) / sum);
}

/// m = amax; (x - m) - log(sum(exp(x - m))).
#[derive(Clone, Copy, Default, Debug)]
pub struct LogSoftmax;
impl Rowwise<1> for LogSoftmax {
    fn row<R: Real, S: Slices<R, 1>>(s: &mut S) {
        let m = s.fold(Fold::Largest, |[x]| x);
        let log = Log::at(s.fold(Fold::Total, |[x]| Exp::at(x - m)));
        s.write(|[x]| (x - m) - log);
    }
}

/// m = amax; m + log(sum(exp(x - m))).
#[derive(Clone, Copy, Default, Debug)]
pub struct LogSumExp;
impl Rowwise<1> for LogSumExp {
    const ONE: bool = true;
    fn row<R: Real, S: Slices<R, 1>>(s: &mut S) {
        let m = s.fold(Fold::Largest, |[x]| x);
        let value = m + Log::at(s.fold(Fold::Total, |[x]| Exp::at(x - m)));
        // Where the largest is infinite, x - m is NaN: the result is what it goes to.
        let value = R::select(m.abs().equal(R::infinity()), m, value);
        s.write(|_| value);
    }
}

/// From y and dy: t = dy * y; y * (dy - sum(t)).
#[derive(Clone, Copy, Default, Debug)]
pub struct SoftmaxGradient;
impl Rowwise<2> for SoftmaxGradient {
    fn row<R: Real, S: Slices<R, 2>>(s: &mut S) {
        let sum = s.fold(Fold::Total, |[y, dy]| dy * y);
        s.write(|[y, dy]| y * (dy - sum));
    }
}

/// From y and dy: dy - exp(y) * sum(dy).
#[derive(Clone, Copy, Default, Debug)]
pub struct LogSoftmaxGradient;
impl Rowwise<2> for LogSoftmaxGradient {
    fn row<R: Real, S: Slices<R, 2>>(s: &mut S) {
        let sum = s.fold(Fold::Total, |[_, dy]| dy);
        s.write(|[y, dy]| dy - Exp::at(y) * sum);
    }
}

/// From x and a mask, with the numbers divisor and fill: softmax(where(mask, fill, x / divisor)).
#[derive(Clone, Copy, Default, Debug)]
pub struct MaskedSoftmax;
impl Rowwise<2> for MaskedSoftmax {
    fn row<R: Real, S: Slices<R, 2>>(s: &mut S) {
        let (divisor, fill) = (s.number(0), s.number(1));
        let score = |[x, mask]: [R; 2]| R::select(mask.equal(R::constant(0.0)), x / divisor, fill);
        softmax_of(s, score);
    }
}

/// Mean and sqrt(variance + eps) of the first slice, both stored; eps is the first number.
fn centre_and_spread<R: Real, S: Slices<R, K>, const K: usize>(s: &mut S) -> (R, R) {
    let eps = s.number(0);
    let (mu, variance) = (s.fold(Fold::Mean, |x| x[0]), s.fold(Fold::Variance, |x| x[0]));
    (mu, (variance + eps).sqrt())
}

/// With the number eps: (x - mean) / sqrt(var + eps) (Ba, Kiros and Hinton, 2016).
#[derive(Clone, Copy, Default, Debug)]
pub struct LayerNorm;
impl Rowwise<1> for LayerNorm {
    fn row<R: Real, S: Slices<R, 1>>(s: &mut S) {
        let (mu, spread) = centre_and_spread(s);
        s.write(|[x]| (x - mu) / spread);
    }
}

/// From x, a weight and a bias, with the number eps: layer norm times weight plus bias.
#[derive(Clone, Copy, Default, Debug)]
pub struct LayerNormAffine;
impl Rowwise<3> for LayerNormAffine {
    fn row<R: Real, S: Slices<R, 3>>(s: &mut S) {
        let (mu, spread) = centre_and_spread(s);
        s.write(|[x, g, b]| ((x - mu) / spread) * g + b);
    }
}

/// From x and dh, with the number eps: xh = (x - mean) / s, s = sqrt(var + eps);
/// ((dh - mean(dh)) - xh * mean(dh * xh)) / s.
#[derive(Clone, Copy, Default, Debug)]
pub struct LayerNormGradient;
impl Rowwise<2> for LayerNormGradient {
    fn row<R: Real, S: Slices<R, 2>>(s: &mut S) {
        let (mu, spread) = centre_and_spread(s);
        let xh = |x: R| (x - mu) / spread;
        let first = s.fold(Fold::Mean, |[_, dh]| dh);
        let second = s.fold(Fold::Mean, |[x, dh]| dh * xh(x));
        s.write(|[x, dh]| ((dh - first) - xh(x) * second) / spread);
    }
}

/// The sum of the products of two slices: a cell of a matrix times a vector. Of nothing it is 0.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cell;
impl Rowwise<2> for Cell {
    const ONE: bool = true;
    fn row<R: Real, S: Slices<R, 2>>(s: &mut S) {
        let sum = s.fold(Fold::Dot, |[x, _]| x);
        s.write(|_| sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const K: usize, F: Rowwise<K>>(x: [&[f64]; K], numbers: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x[0].len()];
        apply::<F, f64, K>(x, numbers, &mut out);
        out
    }

    #[test]
    fn equal_elements_share_evenly_and_all_minus_infinity_is_nan() {
        assert_eq!(of::<1, Softmax>([&[3.0, 3.0]], &[]), [0.5, 0.5]);
        let log = of::<1, LogSoftmax>([&[1000.0, 1000.0]], &[]);
        assert_eq!(log, [-core::f64::consts::LN_2; 2]);
        assert!(of::<1, Softmax>([&[f64::NEG_INFINITY; 2]], &[])[0].is_nan());
        let mut out = [0.0; 2];
        apply::<LogSumExp, f64, 1>([&[1.0, 1.0][..]], &[], &mut out);
        assert_eq!(out[0], 1.0 + core::f64::consts::LN_2);
        let masked = of::<2, MaskedSoftmax>([&[9.0, 2.0], &[1.0, 0.0]], &[2.0, -1e9]);
        assert_eq!(masked, [0.0, 1.0]);
    }

    #[test]
    fn gradients_agree_with_differences() {
        let (x, g, step) = ([0.3, -1.2, 0.8], [0.5, 2.0, -1.0], 1e-6);
        let check = |f: fn(&[f64]) -> Vec<f64>, gradient: Vec<f64>| {
            for i in 0..3 {
                let moved = |by: f64| {
                    let mut x = x;
                    x[i] += by;
                    f(&x).iter().zip(&g).map(|(y, g)| y * g).sum::<f64>()
                };
                let slope = (moved(step) - moved(-step)) / (2.0 * step);
                assert!((gradient[i] - slope).abs() < 1e-8, "{i}: {} {slope}", gradient[i]);
            }
        };
        let softmax = |x: &[f64]| of::<1, Softmax>([x], &[]);
        check(softmax, of::<2, SoftmaxGradient>([&softmax(&x), &g], &[]));
        let log = |x: &[f64]| of::<1, LogSoftmax>([x], &[]);
        check(log, of::<2, LogSoftmaxGradient>([&log(&x), &g], &[]));
        let norm = |x: &[f64]| of::<1, LayerNorm>([x], &[1e-5]);
        check(norm, of::<2, LayerNormGradient>([&x, &g], &[1e-5]));
        let affine = of::<3, LayerNormAffine>([&x, &[2.0; 3], &[1.0; 3]], &[1e-5]);
        assert_eq!(affine[0], norm(&x)[0] * 2.0 + 1.0);
    }
}
