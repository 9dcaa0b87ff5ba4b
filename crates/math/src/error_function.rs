//! The Gauss error function: c x + x^3 P(x^2) up to about 0.7, above it 1 - exp(-g(x)) with a
//! polynomial g for -log(erfc x), which needs no interval table. Both sides are evaluated and one
//! is selected. Error bounds are measured by tests/accuracy.rs.

use crate::coefficients::{
    ERF_32, ERF_32_FIRST, ERF_64, ERF_64_FIRST, ERF_TAIL_32, ERF_TAIL_32_FIRST, ERF_TAIL_32_START,
    ERF_TAIL_64, ERF_TAIL_64_FIRST, ERF_TAIL_64_START,
};
use crate::exponential::{fast_two_sum, one_minus_exp};
use crate::function::Unary;
use crate::polynomial::two_chains;
use crate::real::{Bits, Real, Width};

/// erf x: odd, exactly +-1 from |x| = 4 (f32), 6 (f64).
#[derive(Clone, Copy, Default, Debug)]
pub struct Erf;
impl Unary for Erf {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let limit = R::constant(match R::WIDTH {
            Width::F32 => 4.0,
            Width::F64 => 6.0,
        });
        let magnitude = x.abs();
        let magnitude = R::select(magnitude.less(limit), magnitude, limit);
        let sign = x.bits() & R::Bits::constant(R::SIGN_BIT);
        let value = (erf_positive(magnitude).bits() | sign).real();
        R::select(x.is_nan(), R::canonical_nan(), value)
    }
}

/// erf of 0 <= x <= 6.
#[inline(always)]
fn erf_positive<R: Real>(x: R) -> R {
    let (start, near_first, far_first) = match R::WIDTH {
        Width::F32 => (ERF_TAIL_32_START, ERF_32_FIRST, ERF_TAIL_32_FIRST),
        Width::F64 => (ERF_TAIL_64_START, ERF_64_FIRST, ERF_TAIL_64_FIRST),
    };
    let start = R::constant(start);
    let square = x * x;
    let distance = x - start;
    let (ratio, slope) = match R::WIDTH {
        Width::F32 => (two_chains(square, &ERF_32), two_chains(distance, &ERF_TAIL_32)),
        Width::F64 => (two_chains(square, &ERF_64), two_chains(distance, &ERF_TAIL_64)),
    };
    // x (1 + first) keeps what its addition loses; the cubic rest is at most a fifth of it.
    let (linear, lost) = fast_two_sum(x, x * R::constant(near_first));
    let near = linear + (lost + (x * square) * ratio);
    // Near the start e^-g is a third and g between 1 and 2, so half an ulp of g would cost a
    // third of the result's: what the last addition loses goes into the exponential as well.
    let (high, low) = fast_two_sum(R::constant(far_first), distance * slope);
    let far = one_minus_exp(high, low);
    R::select(x.less(start), near, far)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn erf_is_odd_and_saturates() {
        assert_eq!(Erf::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Erf::at(0.5_f64), 0.5204998778130465);
        assert_eq!(Erf::at(-1.0_f32), -0.8427008);
        assert_eq!(Erf::at(6.0_f64), 1.0);
        assert_eq!(Erf::at(5.8_f64), 0.9999999999999998);
        assert_eq!(Erf::at(f64::NEG_INFINITY), -1.0);
        assert_eq!(Erf::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }
}
