//! tan over the whole range: the reduction of sin and cos, then the quotient of the two as sums
//! of two numbers, so that only the polynomials' own roundings are added to the last one.
//! Error bounds are measured by tests/accuracy.rs.

use crate::function::Unary;
use crate::pair::Pair;
use crate::real::{Bits, Real};
use crate::trigonometric::{Reduced, is_far, reduce_far, reduce_near, sine_and_cosine};

/// The tangent of x radians: odd, NaN for infinities.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tan;
impl Unary for Tan {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        let sign = x.bits() & R::Bits::constant(R::SIGN_BIT);
        let usual = signed_tangent(reduce_near(magnitude), sign);
        let far = is_far(magnitude);
        if R::any(far) {
            let value = signed_tangent(reduce_far(magnitude), sign);
            let finite = magnitude.less(R::infinity());
            R::select(far, R::select(finite, value, R::canonical_nan()), usual)
        } else {
            usual
        }
    }
}

/// tan of the reduced argument, its sign flipped where `sign` has the sign bit.
#[inline(always)]
fn signed_tangent<R: Real>(reduced: Reduced<R>, sign: R::Bits) -> R {
    let one = R::Bits::constant(1);
    let odd = reduced.quadrant & one;
    let (sine, cosine) = sine_and_cosine(reduced.r, reduced.low);
    let even = odd.equal(R::Bits::constant(0));
    // tan(r + pi/2) = -cos r / sin r.
    let quotient =
        Pair::select(even, sine, cosine).divided_by(Pair::select(even, cosine, sine)).rounded();
    (quotient.bits() ^ (odd.shift_left(R::WIDTH.bits() - 1) ^ sign)).real()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tan_at_its_edges() {
        assert_eq!(Tan::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Tan::at(0.0_f32).to_bits(), 0);
        assert_eq!(Tan::at(-5e-324_f64), -5e-324);
        assert_eq!(Tan::at(1.0_f64), 1.5574077246549023);
        assert_eq!(Tan::at(core::f64::consts::FRAC_PI_2), 1.633123935319537e16);
        assert_eq!(Tan::at(core::f64::consts::PI), -1.2246467991473532e-16);
        assert_eq!(Tan::at(1e22_f64), -1.6287782256068988);
        assert_eq!(Tan::at(f64::NEG_INFINITY).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(Tan::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }
}
