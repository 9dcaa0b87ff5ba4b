//! Definitions over one slice of an array: softmax and its kin, layer norm, with their gradients.
//! Each step is stored at the width of the operands, as the chain of named functions stores it;
//! sums and means are `fold`'s, in f64 and narrowed once. A slice is never empty.
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
    /// Whether a slice gives one number, in the first element of out, instead of n.
    const ONE: bool = false;
    /// x (n) each, out (n).
    fn row<T: Real + Into<f64>>(x: [&[T]; K], numbers: &[f64], out: &mut [T]);
}

fn total<T: Real + Into<f64>>(x: &[T]) -> T {
    T::constant(fold::sum(x.len(), |i| x[i].into()))
}

fn mean<T: Real + Into<f64>>(x: &[T]) -> T {
    T::constant(fold::mean(x.len(), |i| x[i].into()))
}

fn largest<T: Real>(x: &[T]) -> T {
    x[1..].iter().fold(x[0], |best, &x| <Maximum as Binary>::at(best, x))
}

/// out = f(index).
fn each<T>(out: &mut [T], f: impl Fn(usize) -> T) {
    out.iter_mut().enumerate().for_each(|(i, out)| *out = f(i));
}

/// m = amax; e = exp(x - m); e / sum(e).
#[derive(Clone, Copy, Default, Debug)]
pub struct Softmax;
impl Rowwise<1> for Softmax {
    fn row<T: Real + Into<f64>>([x]: [&[T]; 1], _: &[f64], out: &mut [T]) {
        let m = largest(x);
        each(out, |i| Exp::at(x[i] - m));
        let s = total(out);
        out.iter_mut().for_each(|e| *e = *e / s);
    }
}

/// m = amax; (x - m) - log(sum(exp(x - m))).
#[derive(Clone, Copy, Default, Debug)]
pub struct LogSoftmax;
impl Rowwise<1> for LogSoftmax {
    fn row<T: Real + Into<f64>>([x]: [&[T]; 1], _: &[f64], out: &mut [T]) {
        let m = largest(x);
        each(out, |i| Exp::at(x[i] - m));
        let s = Log::at(total(out));
        each(out, |i| (x[i] - m) - s);
    }
}

/// m = amax; m + log(sum(exp(x - m))), in the first element of out.
#[derive(Clone, Copy, Default, Debug)]
pub struct LogSumExp;
impl Rowwise<1> for LogSumExp {
    const ONE: bool = true;
    fn row<T: Real + Into<f64>>([x]: [&[T]; 1], _: &[f64], out: &mut [T]) {
        let m = largest(x);
        let e: Vec<T> = x.iter().map(|&x| Exp::at(x - m)).collect();
        out[0] = m + Log::at(total(&e));
    }
}

/// From y and dy: t = dy * y; y * (dy - sum(t)).
#[derive(Clone, Copy, Default, Debug)]
pub struct SoftmaxGradient;
impl Rowwise<2> for SoftmaxGradient {
    fn row<T: Real + Into<f64>>([y, dy]: [&[T]; 2], _: &[f64], out: &mut [T]) {
        each(out, |i| dy[i] * y[i]);
        let s = total(out);
        each(out, |i| y[i] * (dy[i] - s));
    }
}

/// From y and dy: dy - exp(y) * sum(dy).
#[derive(Clone, Copy, Default, Debug)]
pub struct LogSoftmaxGradient;
impl Rowwise<2> for LogSoftmaxGradient {
    fn row<T: Real + Into<f64>>([y, dy]: [&[T]; 2], _: &[f64], out: &mut [T]) {
        let s = total(dy);
        each(out, |i| dy[i] - Exp::at(y[i]) * s);
    }
}

/// From x and a mask, with the numbers divisor and fill: softmax(where(mask, fill, x / divisor)).
#[derive(Clone, Copy, Default, Debug)]
pub struct MaskedSoftmax;
impl Rowwise<2> for MaskedSoftmax {
    fn row<T: Real + Into<f64>>([x, mask]: [&[T]; 2], numbers: &[f64], out: &mut [T]) {
        let (divisor, fill) = (T::constant(numbers[0]), T::constant(numbers[1]));
        let scores = |i: usize| T::select(mask[i].equal(T::constant(0.0)), x[i] / divisor, fill);
        let scores: Vec<T> = (0..x.len()).map(scores).collect();
        Softmax::row([&scores], &[], out);
    }
}

/// Mean and sqrt(variance + eps) of a slice, both stored.
fn centre_and_spread<T: Real + Into<f64>>(x: &[T], eps: f64) -> (T, T) {
    let variance = T::constant(fold::variance(x.len(), 0, |i| x[i].into()));
    (mean(x), (variance + T::constant(eps)).sqrt())
}

/// With the number eps: (x - mean) / sqrt(var + eps) (Ba, Kiros and Hinton, 2016).
#[derive(Clone, Copy, Default, Debug)]
pub struct LayerNorm;
impl Rowwise<1> for LayerNorm {
    fn row<T: Real + Into<f64>>([x]: [&[T]; 1], numbers: &[f64], out: &mut [T]) {
        let (mu, s) = centre_and_spread(x, numbers[0]);
        each(out, |i| (x[i] - mu) / s);
    }
}

/// From x, a weight and a bias, with the number eps: layer norm times weight plus bias.
#[derive(Clone, Copy, Default, Debug)]
pub struct LayerNormAffine;
impl Rowwise<3> for LayerNormAffine {
    fn row<T: Real + Into<f64>>([x, g, b]: [&[T]; 3], numbers: &[f64], out: &mut [T]) {
        let (mu, s) = centre_and_spread(x, numbers[0]);
        each(out, |i| ((x[i] - mu) / s) * g[i] + b[i]);
    }
}

/// From x and dh, with the number eps: xh = (x - mean) / s, s = sqrt(var + eps);
/// ((dh - mean(dh)) - xh * mean(dh * xh)) / s.
#[derive(Clone, Copy, Default, Debug)]
pub struct LayerNormGradient;
impl Rowwise<2> for LayerNormGradient {
    fn row<T: Real + Into<f64>>([x, dh]: [&[T]; 2], numbers: &[f64], out: &mut [T]) {
        let (mu, s) = centre_and_spread(x, numbers[0]);
        let xh = |i: usize| (x[i] - mu) / s;
        each(out, |i| dh[i] * xh(i));
        let (first, second) = (mean(dh), mean(out));
        each(out, |i| ((dh[i] - first) - xh(i) * second) / s);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of<const K: usize, F: Rowwise<K>>(x: [&[f64]; K], numbers: &[f64]) -> Vec<f64> {
        let mut out = vec![0.0; x[0].len()];
        F::row(x, numbers, &mut out);
        out
    }

    #[test]
    fn equal_elements_share_evenly_and_all_minus_infinity_is_nan() {
        assert_eq!(of::<1, Softmax>([&[3.0, 3.0]], &[]), [0.5, 0.5]);
        let log = of::<1, LogSoftmax>([&[1000.0, 1000.0]], &[]);
        assert_eq!(log, [-core::f64::consts::LN_2; 2]);
        assert!(of::<1, Softmax>([&[f64::NEG_INFINITY; 2]], &[])[0].is_nan());
        let mut out = [0.0; 2];
        LogSumExp::row([&[1.0, 1.0][..]], &[], &mut out);
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
