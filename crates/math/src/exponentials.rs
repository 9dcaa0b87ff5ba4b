//! expm1, exp2, sinh and cosh out of the parts of e^x as 2^n times a sum of two numbers, whose
//! second part is added after what cancels. expm1 and sinh have polynomials of their own near 0,
//! where too much would cancel. All scale by 2^n in two steps, so that there is no separate path
//! for overflow and subnormal results. exp is in `exponential`. Error bounds are measured by `cargo
//! xtask exhaustive`.

use crate::coefficients::{EXPM1_32, EXPM1_64, SINH_32, SINH_64};
use crate::exponential::{Power, round_magic};
use crate::function::Unary;
use crate::pair::Pair;
use crate::pair_functions::{
    or_nan, power_of_two, times_power_of_two, whole_real, with_sign, within,
};
use crate::polynomial::two_chains;
use crate::real::{Bits, Real, Width};

/// e^x - 1 without loss near 0: -1 for -inf, -0.0 for -0.0.
#[derive(Clone, Copy, Default, Debug)]
pub struct Expm1;
impl Unary for Expm1 {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let (lowest, highest, negligible) = match R::WIDTH {
            Width::F32 => (-20.0, 100.0, 60.0),
            Width::F64 => (-40.0, 720.0, 120.0),
        };
        let rest = match R::WIDTH {
            Width::F32 => two_chains(x, &EXPM1_32),
            Width::F64 => two_chains(x, &EXPM1_64),
        };
        // Tiny numbers add a square that vanishes; -0.0 + 0.0 would lose the sign.
        let near = x + (x * x) * rest;
        let near = R::select(x.equal(R::constant(0.0)), x, near);
        let power = Power::of(within(x, lowest, highest));
        let n = power.whole();
        // 2^-n beyond the last place of 1 only has to stay normal.
        let one: R = negative_power(n, negligible);
        let difference = Pair::sum_of(power.number.high, -one);
        let far = difference.high + (difference.low + power.number.low);
        let far = times_power_of_two(far, n);
        or_nan(x, R::select(x.abs().less(R::constant(0.25)), near, far))
    }
}

/// 2^-n for a signed n, or 2^-most for a larger one.
#[inline(always)]
fn negative_power<R: Real>(n: R::Bits, most: f64) -> R {
    let n = within(whole_real::<R>(n), -150.0, most);
    let magic = round_magic::<R>();
    power_of_two(magic.bits() - (n + magic).bits())
}

/// 2^x: exact for whole x.
#[derive(Clone, Copy, Default, Debug)]
pub struct Exp2;
impl Unary for Exp2 {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let (lowest, highest) = match R::WIDTH {
            Width::F32 => (-160.0, 130.0),
            Width::F64 => (-1090.0, 1030.0),
        };
        let clamped = within(x, lowest, highest);
        let magic = round_magic::<R>();
        let shifted = clamped * R::constant(16.0) + magic;
        let whole = (shifted - magic) * R::constant(0.0625);
        let r = (clamped - whole) * R::constant(core::f64::consts::LN_2);
        or_nan(x, Power::of_reduced(shifted.bits(), r).anywhere())
    }
}

/// (e^x - e^-x) / 2: odd.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sinh;
impl Unary for Sinh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        let z = magnitude * magnitude;
        let rest = match R::WIDTH {
            Width::F32 => two_chains(z, &SINH_32),
            Width::F64 => two_chains(z, &SINH_64),
        };
        let near = magnitude + (magnitude * z) * rest;
        let (n, power, inverse) = powers(magnitude);
        let far = power.high + (power.low - inverse);
        let far = times_power_of_two(far, n - R::Bits::constant(1));
        let value = R::select(magnitude.less(R::constant(1.0)), near, far);
        or_nan(x, with_sign(value, x))
    }
}

/// (e^x + e^-x) / 2: even.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cosh;
impl Unary for Cosh {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let (n, power, inverse) = powers(x.abs());
        let sum = Pair::ordered_sum(power.high, inverse);
        let value = sum.high + (sum.low + power.low);
        or_nan(x, times_power_of_two(value, n - R::Bits::constant(1)))
    }
}

/// n, e^x / 2^n and e^-x / 2^n for x >= 0, the power below 1.
#[inline(always)]
fn powers<R: Real>(x: R) -> (R::Bits, Pair<R>, R) {
    let (highest, negligible) = match R::WIDTH {
        Width::F32 => (100.0, 30.0),
        Width::F64 => (720.0, 60.0),
    };
    let power = Power::of(within(x, 0.0, highest));
    let number = Pair::ordered_sum(power.number.high, power.number.low);
    let small: R = negative_power(power.whole(), negligible);
    (power.whole(), number, (small * small) / number.high)
}

/// Below it x^2 / 2 is at most an eighth of an ulp of x.
#[inline(always)]
pub(crate) fn tiny_limit<R: Real>() -> f64 {
    match R::WIDTH {
        Width::F32 => 2.9802322387695312e-8,
        Width::F64 => 5.551115123125783e-17,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expm1_at_its_edges() {
        assert_eq!(Expm1::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Expm1::at(5e-324_f64), 5e-324);
        assert_eq!(Expm1::at(1e-10_f64), 1.00000000005e-10);
        assert_eq!(Expm1::at(f64::NEG_INFINITY), -1.0);
        assert_eq!(Expm1::at(-1e30_f32), -1.0);
        assert_eq!(Expm1::at(709.782712893384_f64), 1.7976931348622732e308);
        assert_eq!(Expm1::at(709.8_f64), f64::INFINITY);
        assert_eq!(Expm1::at(f32::INFINITY), f32::INFINITY);
        assert_eq!(Expm1::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn whole_powers_of_two_are_exact() {
        for n in -1022..=1023 {
            assert_eq!(Exp2::at(n as f64), 2.0_f64.powi(n));
        }
        assert_eq!(Exp2::at(-1074.0_f64), 5e-324);
        assert_eq!(Exp2::at(0.5_f64), core::f64::consts::SQRT_2);
        assert_eq!(Exp2::at(1024.0_f64), f64::INFINITY);
        assert_eq!(Exp2::at(-1076.0_f64).to_bits(), 0);
        assert_eq!(Exp2::at(-149.0_f32).to_bits(), 1);
        assert_eq!(Exp2::at(f32::NEG_INFINITY).to_bits(), 0);
        assert_eq!(Exp2::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }

    #[test]
    fn sinh_and_cosh_at_their_edges() {
        assert_eq!(Sinh::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Sinh::at(-5e-324_f64), -5e-324);
        assert_eq!(Sinh::at(1.0_f64), 1.1752011936438014);
        assert_eq!(Cosh::at(1.0_f64), 1.5430806348152437);
        assert_eq!(Cosh::at(-0.0_f32), 1.0);
        assert_eq!(Sinh::at(-710.4_f64), -1.6663642832806496e308);
        assert_eq!(Cosh::at(711.0_f64), f64::INFINITY);
        assert_eq!(Sinh::at(f32::NEG_INFINITY), f32::NEG_INFINITY);
        assert_eq!(Cosh::at(f64::NEG_INFINITY), f64::INFINITY);
        assert_eq!(Sinh::at(-f32::NAN).to_bits(), 0x7FC0_0000);
        assert_eq!(Cosh::at(-f64::NAN).to_bits(), 0x7FF8_0000_0000_0000);
    }
}
