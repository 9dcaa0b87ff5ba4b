//! sigmoid, softplus and gelu with its gradient, by the formulas that are their definition: chains of exp and log1p with
//! each step rounded, so a fused kernel and the chain of named functions give the same bits.
//! tests/accuracy.rs measures their errors, which are not what is promised here.

use crate::error_function::Erf;
use crate::exponential::Exp;
use crate::function::{Binary, Maximum, Unary};
use crate::logarithms::Log1p;
use crate::real::Real;
use crate::tanh::Tanh;

/// x >= 0: 1 / (1 + e^-x); else e / (1 + e) with e = e^x.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sigmoid;
impl Unary for Sigmoid {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let (zero, one) = (R::constant(0.0), R::constant(1.0));
        let e = Exp::at(-x.abs());
        let numerator = R::select(zero.less_equal(x), one, e);
        let value = numerator / (one + e);
        R::select(x.is_nan(), R::canonical_nan(), value)
    }
}

/// maximum(x, 0) + log1p(e^-|x|).
#[derive(Clone, Copy, Default, Debug)]
pub struct Softplus;
impl Unary for Softplus {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let positive = <Maximum as Binary>::at(x, R::constant(0.0));
        let value = positive + Log1p::at(Exp::at(-x.abs()));
        R::select(x.is_nan(), R::canonical_nan(), value)
    }
}

/// sqrt(2 / pi).
const ROOT_TWO_OVER_PI: f64 = 0.797_884_560_802_865_4;
/// sqrt(2 pi).
const ROOT_TWO_PI: f64 = 2.506_628_274_631_000_2;

/// 1 + erf(x / sqrt 2): twice the normal distribution's share below x.
#[inline(always)]
fn twice_below<R: Real>(x: R) -> R {
    R::constant(1.0) + Erf::at(x / R::constant(core::f64::consts::SQRT_2))
}

/// tanh(k (x + 0.044715 x^3)), k = sqrt(2 / pi).
#[inline(always)]
fn inner_tanh<R: Real>(x: R) -> R {
    let cube = R::constant(0.044715) * (x * (x * x));
    Tanh::at(R::constant(ROOT_TWO_OVER_PI) * (x + cube))
}

/// 0.5 (x (1 + erf(x / sqrt 2))) (Hendrycks and Gimpel, 2016).
#[derive(Clone, Copy, Default, Debug)]
pub struct Gelu;
impl Unary for Gelu {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        R::constant(0.5) * (x * twice_below(x))
    }
}

/// 0.5 (x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))), the approximation of the same paper.
#[derive(Clone, Copy, Default, Debug)]
pub struct GeluTanh;
impl Unary for GeluTanh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        R::constant(0.5) * (x * (R::constant(1.0) + inner_tanh(x)))
    }
}

/// From x and g, the gradient of gelu's result, to x's: g (c + x p) with c the normal
/// distribution's share below x and p its density there.
#[derive(Clone, Copy, Default, Debug)]
pub struct GeluGradient;
impl Binary for GeluGradient {
    #[inline(always)]
    fn at<R: Real>(x: R, g: R) -> R {
        let share = R::constant(0.5) * twice_below(x);
        let density = Exp::at(R::constant(-0.5) * (x * x)) / R::constant(ROOT_TWO_PI);
        g * (share + x * density)
    }
}

/// The same for `GeluTanh`.
#[derive(Clone, Copy, Default, Debug)]
pub struct GeluTanhGradient;
impl Binary for GeluTanhGradient {
    #[inline(always)]
    fn at<R: Real>(x: R, g: R) -> R {
        let (half, one) = (R::constant(0.5), R::constant(1.0));
        let t = inner_tanh(x);
        let slope = R::constant(ROOT_TWO_OVER_PI) * (one + R::constant(0.134145) * (x * x));
        g * (half * (one + t) + (half * (x * (one - t * t))) * slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sigmoid_at_its_edges() {
        assert_eq!(Sigmoid::at(-0.0_f64), 0.5);
        assert_eq!(Sigmoid::at(1.0_f64), 0.7310585786300049);
        assert_eq!(Sigmoid::at(-1.0_f64), 0.2689414213699951);
        assert_eq!(Sigmoid::at(f64::INFINITY), 1.0);
        assert_eq!(Sigmoid::at(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(Sigmoid::at(-745.0_f64), 5e-324);
        assert_eq!(Sigmoid::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn softplus_at_its_edges() {
        assert_eq!(Softplus::at(0.0_f64), core::f64::consts::LN_2);
        assert_eq!(Softplus::at(1000.0_f64), 1000.0);
        assert_eq!(Softplus::at(-745.0_f64), 5e-324);
        assert_eq!(Softplus::at(f64::INFINITY), f64::INFINITY);
        assert_eq!(Softplus::at(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(Softplus::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }

    #[test]
    fn gelu_and_its_gradient_at_known_points() {
        // 1 * Phi(1) and Phi(1) + phi(1).
        assert_eq!(Gelu::at(1.0_f64), 0.841_344_746_068_542_9);
        assert!((GeluGradient::at(1.0_f64, 1.0) - 1.083_315_470_587_686_2).abs() < 1e-15);
        assert_eq!(Gelu::at(0.0_f64), 0.0);
        let step = 1e-6;
        for x in [-2.0_f64, -0.3, 0.7, 3.0] {
            let slope = (GeluTanh::at(x + step) - GeluTanh::at(x - step)) / (2.0 * step);
            assert!((GeluTanhGradient::at(x, 1.0) - slope).abs() < 1e-8, "{x}");
        }
    }
}
