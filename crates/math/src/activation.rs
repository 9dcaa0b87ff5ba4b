//! sigmoid and softplus, by the formulas that are their definition: chains of exp and log1p with
//! each step rounded, so a fused kernel and the chain of named functions give the same bits.
//! tests/accuracy.rs measures their errors, which are not what is promised here.

use crate::exponential::Exp;
use crate::function::{Binary, Maximum, Unary};
use crate::logarithms::Log1p;
use crate::real::Real;

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
}
