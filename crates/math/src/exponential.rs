//! exp, and the parts of it on which all functions with an exponential inside stand:
//! x = k ln 2 / 16 + r with |r| <= ln 2 / 32, and e^x = 2^(k / 16) e^r. The sixteenth roots of 2
//! are a table of sums of two numbers, so that short a polynomial for (e^r - 1 - r) / r^2 serves,
//! and 2^(k / 16) (e^r - 1) is so small that its roundings hardly count. Error bounds are measured
//! by `cargo xtask exhaustive`.

use crate::coefficients::{
    EXP_32, EXP_64, LN2_16TH_32, LN2_16TH_64, ROOT_32_HIGH, ROOT_32_LOW, ROOT_64_HIGH, ROOT_64_LOW,
};
use crate::function::Unary;
use crate::pair::Pair;
use crate::pair_functions::{or_nan, times_power_of_two, within};
use crate::polynomial::two_chains;
use crate::real::{Bits, Mask, Real, Width};

/// e^x: +0.0 for -inf, +inf above the largest finite result, subnormal results rounded once.
#[derive(Clone, Copy, Default, Debug)]
pub struct Exp;
impl Unary for Exp {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let outside = x.abs().less_equal(R::constant(normal_limit::<R>())).not();
        let usual = Power::of(x).normal();
        if R::any(outside) { R::select(outside, exp_outside(x), usual) } else { usual }
    }
}

/// Up to this magnitude of x, e^x and every scale factor are normal.
pub(crate) const fn normal_limit<R: Real>() -> f64 {
    match R::WIDTH {
        Width::F32 => 87.0,
        Width::F64 => 708.0,
    }
}

/// A number 2^n (high + low), high a sixteenth root of 2 in [1, 2), |low| at most 0.05.
#[derive(Clone, Copy)]
pub(crate) struct Power<R: Real> {
    /// 16 n + the index of the root, above the bits that rounding left; only the low 13 (f32) or
    /// 16 (f64) bits count.
    sixteenths: R::Bits,
    pub(crate) number: Pair<R>,
}

impl<R: Real> Power<R> {
    /// e^(high + low), |low| far below |high|; |high| at most 110 (f32), 1100 (f64). The product
    /// k * first part of ln 2 / 16 is exact, and so is its difference from high.
    #[inline(always)]
    pub(crate) fn of_pair(x: Pair<R>) -> Self {
        let (sixteenths, r) = Self::reduced(x.high);
        Power::of_reduced(sixteenths, r + x.low)
    }

    /// e^x under the same condition.
    #[inline(always)]
    pub(crate) fn of(x: R) -> Self {
        let (sixteenths, r) = Self::reduced(x);
        Power::of_reduced(sixteenths, r)
    }

    /// k in the low bits, and r.
    #[inline(always)]
    fn reduced(x: R) -> (R::Bits, R) {
        let [ln2_high, ln2_low] = match R::WIDTH {
            Width::F32 => LN2_16TH_32,
            Width::F64 => LN2_16TH_64,
        };
        let magic = round_magic::<R>();
        let shifted = x * R::constant(16.0 * core::f64::consts::LOG2_E) + magic;
        let k = shifted - magic;
        let r = (x - k * R::constant(ln2_high)) - k * R::constant(ln2_low);
        (shifted.bits(), r)
    }

    /// 2^(k / 16) e^r, |r| <= ln 2 / 32.
    #[inline(always)]
    pub(crate) fn of_reduced(sixteenths: R::Bits, r: R) -> Self {
        let (rest, high, low) = match R::WIDTH {
            Width::F32 => (two_chains(r, &EXP_32), &ROOT_32_HIGH, &ROOT_32_LOW),
            Width::F64 => (two_chains(r, &EXP_64), &ROOT_64_HIGH, &ROOT_64_LOW),
        };
        let beyond_one = r + (r * r) * rest;
        let high = sixteenths.lookup(high).real();
        let low = sixteenths.lookup(low).real() + high * beyond_one;
        Power { sixteenths, number: Pair { high, low } }
    }

    /// n as the exponent field of a float holds it, to be added to the bits of a number.
    #[inline(always)]
    pub(crate) fn exponent(self) -> R::Bits {
        (self.sixteenths & !R::Bits::constant(15)).shift_left(R::MANTISSA - 4)
    }

    /// n as a signed integer.
    #[inline(always)]
    pub(crate) fn whole(self) -> R::Bits {
        (self.sixteenths - round_magic::<R>().bits()).shift_right_signed(4)
    }

    /// The number, rounded once, where it is normal.
    #[inline(always)]
    pub(crate) fn normal(self) -> R {
        (self.number.rounded().bits() + self.exponent()).real()
    }

    /// The number where it may overflow or be subnormal, n within twice the exponent range.
    #[inline(always)]
    pub(crate) fn anywhere(self) -> R {
        times_power_of_two(self.number.rounded(), self.whole())
    }
}

/// 1 - e^-(high + low), |low| far below |high|, e^-high at most 1/2.
#[inline(always)]
pub(crate) fn one_minus_exp<R: Real>(high: R, low: R) -> R {
    let power = Power::of_pair(Pair { high: -high, low: -low });
    let one = R::constant(1.0);
    let scale = (one.bits() + power.exponent()).real();
    let (difference, lost) = fast_two_sum(one, -(power.number.high * scale));
    difference + (lost - power.number.low * scale)
}

/// e^x for results that overflow, underflow or are subnormal, and NaN.
#[inline(always)]
fn exp_outside<R: Real>(x: R) -> R {
    let (lowest, highest) = match R::WIDTH {
        Width::F32 => (-110.0, 100.0),
        Width::F64 => (-760.0, 720.0),
    };
    or_nan(x, Power::of(within(x, lowest, highest)).anywhere())
}

/// Adding 1.5 * 2^mantissa rounds to a whole number and leaves it in the low bits.
#[inline(always)]
pub(crate) fn round_magic<R: Real>() -> R {
    R::constant(match R::WIDTH {
        Width::F32 => 12582912.0,
        Width::F64 => 6755399441055744.0,
    })
}

/// a + b as rounded sum and error; |a| is the larger, or a is 0.
#[inline(always)]
pub(crate) fn fast_two_sum<R: Real>(a: R, b: R) -> (R, R) {
    let sum = a + b;
    (sum, b - (sum - a))
}

/// The number with the lower half of its significant bits cleared: 12 of 24, 26 of 53 are left.
#[inline(always)]
pub(crate) fn upper_half<R: Real>(x: R) -> R {
    let cleared = match R::WIDTH {
        Width::F32 => 0xFFF,
        Width::F64 => 0x7FF_FFFF,
    };
    (x.bits() & !R::Bits::constant(cleared)).real()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_at_its_edges() {
        assert_eq!(Exp::at(0.0_f32), 1.0);
        assert_eq!(Exp::at(1.0_f64), core::f64::consts::E);
        assert_eq!(Exp::at(709.782712893384_f64), 1.7976931348622732e308);
        assert_eq!(Exp::at(709.8_f64), f64::INFINITY);
        assert_eq!(Exp::at(-745.2_f64).to_bits(), 0);
        assert_eq!(Exp::at(-745.1_f64), 5e-324);
        assert_eq!(Exp::at(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(Exp::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }
}
