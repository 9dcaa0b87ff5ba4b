//! floor, ceil, round, trunc and copysign. Adding and subtracting 2^mantissa rounds a smaller
//! magnitude to a whole number, half to even; the others correct that by one. Exact, and the sign
//! of the argument is kept, so ceil(-0.5) is -0.0. Integers and their conversions are not here.

use crate::function::{Binary, Unary};
use crate::pair_functions::{or_nan, with_sign};
use crate::real::{Bits, Real, Width};

/// The largest whole number not above x.
#[derive(Clone, Copy, Default, Debug)]
pub struct Floor;
impl Unary for Floor {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let rounded = RoundEven::at(x);
        let value = R::select(x.less(rounded), rounded - R::constant(1.0), rounded);
        or_nan(x, with_sign(value, x))
    }
}

/// The smallest whole number not below x.
#[derive(Clone, Copy, Default, Debug)]
pub struct Ceil;
impl Unary for Ceil {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let rounded = RoundEven::at(x);
        let value = R::select(rounded.less(x), rounded + R::constant(1.0), rounded);
        or_nan(x, with_sign(value, x))
    }
}

/// The nearest whole number, the even one of two.
#[derive(Clone, Copy, Default, Debug)]
pub struct RoundEven;
impl Unary for RoundEven {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        or_nan(x, with_sign(round_magnitude(x.abs()), x))
    }
}

/// The whole number next to x towards zero.
#[derive(Clone, Copy, Default, Debug)]
pub struct Trunc;
impl Unary for Trunc {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        let rounded = round_magnitude(magnitude);
        let value = R::select(magnitude.less(rounded), rounded - R::constant(1.0), rounded);
        or_nan(x, with_sign(value, x))
    }
}

/// The magnitude of a with the sign of b; looks at the bits alone, those of NaN too.
#[derive(Clone, Copy, Default, Debug)]
pub struct CopySign;
impl Binary for CopySign {
    #[inline(always)]
    fn at<R: Real>(a: R, b: R) -> R {
        let magnitude = a.bits() & R::Bits::constant(R::MAGNITUDE_MASK);
        (magnitude | (b.bits() & R::Bits::constant(R::SIGN_BIT))).real()
    }
}

/// The nearest whole number, half to even, of x >= 0.
#[inline(always)]
fn round_magnitude<R: Real>(x: R) -> R {
    let magic = R::constant(match R::WIDTH {
        Width::F32 => 8388608.0,
        Width::F64 => 4503599627370496.0,
    });
    R::select(x.less(magic), (x + magic) - magic, x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_agrees_with_the_standard_library() {
        let list = [
            0.0,
            -0.0,
            0.5,
            -0.5,
            1.5,
            2.5,
            -2.5,
            0.49999999999999994,
            -0.9,
            1e-300,
            -5e-324,
            8388607.5,
            8388608.0,
            4503599627370495.5,
            -4503599627370495.5,
            4503599627370497.0,
            9007199254740993.0,
            1e300,
            f64::MAX,
            f64::INFINITY,
            f64::NEG_INFINITY,
        ];
        for x in list {
            let y = x as f32;
            assert_eq!(Floor::at(x).to_bits(), x.floor().to_bits(), "{x:e}");
            assert_eq!(Ceil::at(x).to_bits(), x.ceil().to_bits(), "{x:e}");
            assert_eq!(Trunc::at(x).to_bits(), x.trunc().to_bits(), "{x:e}");
            assert_eq!(RoundEven::at(x).to_bits(), x.round_ties_even().to_bits(), "{x:e}");
            assert_eq!(Floor::at(y).to_bits(), y.floor().to_bits(), "{x:e}");
            assert_eq!(Ceil::at(y).to_bits(), y.ceil().to_bits(), "{x:e}");
            assert_eq!(Trunc::at(y).to_bits(), y.trunc().to_bits(), "{x:e}");
            assert_eq!(RoundEven::at(y).to_bits(), y.round_ties_even().to_bits(), "{x:e}");
        }
        assert_eq!(Floor::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(Ceil::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn copysign_takes_one_bit() {
        assert_eq!(<CopySign as Binary>::at(3.0_f64, -0.0), -3.0);
        assert_eq!(<CopySign as Binary>::at(-3.0_f32, 1.0), 3.0);
        let value: f64 = <CopySign as Binary>::at(f64::NAN, -1.0);
        assert_eq!(value.to_bits(), 0xFFF8_0000_0000_0000);
    }
}
