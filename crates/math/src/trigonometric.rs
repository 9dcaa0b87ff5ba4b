//! sin and cos over the whole range. |x| = k pi/2 + r with |r| <= pi/4, r as a sum of two numbers;
//! moderate arguments subtract k times four parts of pi/2 (Cody and Waite), larger ones multiply
//! by the needed window of 2/pi in integer arithmetic (Payne and Hanek), where no precision is
//! lost however large x is. Error bounds are measured by tests/accuracy.rs.

use crate::coefficients::{
    COS_32, COS_64, HALF_PI_32, HALF_PI_64, HALF_PI_SPLIT_32, HALF_PI_SPLIT_64, SIN_32, SIN_64,
    TWO_OVER_PI_32, TWO_OVER_PI_64,
};
use crate::exponential::{fast_two_sum, round_magic, upper_half};
use crate::function::Unary;
use crate::pair::Pair;
use crate::polynomial::two_chains;
use crate::real::{Bits, Mask, Real, Width};

/// The sine of x radians: odd, NaN for infinities.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sin;
impl Unary for Sin {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let sign = x.bits() & R::Bits::constant(R::SIGN_BIT);
        let magnitude = x.abs();
        let usual = signed_sine(reduce_near(magnitude), sign);
        let far = is_far(magnitude);
        if R::any(far) {
            let value = signed_sine(reduce_far(magnitude), sign);
            R::select(
                far,
                R::select(magnitude.less(R::infinity()), value, R::canonical_nan()),
                usual,
            )
        } else {
            usual
        }
    }
}

/// The cosine of x radians: even, NaN for infinities.
#[derive(Clone, Copy, Default, Debug)]
pub struct Cos;
impl Unary for Cos {
    #[inline(always)]
    fn at<R: Real>(x: R) -> R {
        let magnitude = x.abs();
        let usual = cosine(reduce_near(magnitude));
        let far = is_far(magnitude);
        if R::any(far) {
            let value = cosine(reduce_far(magnitude));
            R::select(
                far,
                R::select(magnitude.less(R::infinity()), value, R::canonical_nan()),
                usual,
            )
        } else {
            usual
        }
    }
}

/// k modulo 4 (higher bits are arbitrary), r, and what r lost by rounding.
pub(crate) struct Reduced<R: Real> {
    pub(crate) quadrant: R::Bits,
    pub(crate) r: R,
    pub(crate) low: R,
}

/// True where `reduce_near` does not serve, NaN and infinities included. Below the limit the
/// products k * part are exact and the last part's rounding is below 2^-3 ulp of the smallest r
/// that occurs.
#[inline(always)]
pub(crate) fn is_far<R: Real>(magnitude: R) -> R::Mask {
    let limit = match R::WIDTH {
        Width::F32 => 2048.0,
        Width::F64 => 262144.0,
    };
    magnitude.less_equal(R::constant(limit)).not()
}

/// sin of the reduced argument, its sign flipped where `sign` has the sign bit.
#[inline(always)]
fn signed_sine<R: Real>(Reduced { quadrant, r, low }: Reduced<R>, sign: R::Bits) -> R {
    let half_turn = (quadrant & R::Bits::constant(2)).shift_left(R::WIDTH.bits() - 2);
    (sin_or_cos(quadrant, r, low).bits() ^ (half_turn ^ sign)).real()
}

/// cos x = sin(x + pi/2): one quadrant further.
#[inline(always)]
fn cosine<R: Real>(Reduced { quadrant, r, low }: Reduced<R>) -> R {
    let quadrant = quadrant + R::Bits::constant(1);
    let half_turn = (quadrant & R::Bits::constant(2)).shift_left(R::WIDTH.bits() - 2);
    (sin_or_cos(quadrant, r, low).bits() ^ half_turn).real()
}

/// sin r in even quadrants, cos r in odd ones.
#[inline(always)]
fn sin_or_cos<R: Real>(quadrant: R::Bits, r: R, low: R) -> R {
    let z = r * r;
    let (sin_rest, cos_rest) = match R::WIDTH {
        Width::F32 => (two_chains(z, &SIN_32), two_chains(z, &COS_32)),
        Width::F64 => (two_chains(z, &SIN_64), two_chains(z, &COS_64)),
    };
    let half = R::constant(0.5) * z;
    let cos_start = R::constant(1.0) - half;
    let cos_lost = (R::constant(1.0) - cos_start) - half;
    let sin = r + ((r * z) * sin_rest + low * cos_start);
    let cos = cos_start + (cos_lost + ((z * z) * cos_rest - r * low));
    let even = (quadrant & R::Bits::constant(1)).equal(R::Bits::constant(0));
    R::select(even, sin, cos)
}

/// sin and cos of r + low, each as a sum of two numbers: r^2 and the cubic term are kept whole.
#[inline(always)]
pub(crate) fn sine_and_cosine<R: Real>(r: R, low: R) -> (Pair<R>, Pair<R>) {
    let square = Pair::product_of(r, r);
    let z = square.high;
    let (third, sin_rest, cos_rest) = match R::WIDTH {
        Width::F32 => (SIN_32[0], two_chains(z, &SIN_REST_32), two_chains(z, &COS_32)),
        Width::F64 => (SIN_64[0], two_chains(z, &SIN_REST_64), two_chains(z, &COS_64)),
    };
    let half = R::constant(0.5);
    let start = Pair::ordered_sum(R::constant(1.0), -(half * z));
    let cubic = square.times_real(r).times_real(R::constant(third));
    let sum = Pair::ordered_sum(r, cubic.high);
    let small = cubic.low + ((r * z) * (z * sin_rest) + low * start.high);
    let sine = Pair::ordered_sum(sum.high, sum.low + small);
    let lost = start.low - half * square.low;
    let cosine = Pair::ordered_sum(start.high, lost + ((z * z) * cos_rest - r * low));
    (sine, cosine)
}

/// The coefficients of sin without the first.
const SIN_REST_32: [f64; 2] = [SIN_32[1], SIN_32[2]];
/// The same for f64.
const SIN_REST_64: [f64; 5] = {
    let [_, rest @ ..] = SIN_64;
    rest
};

#[inline(always)]
pub(crate) fn reduce_near<R: Real>(x: R) -> Reduced<R> {
    let [part1, part2, part3, part4] = match R::WIDTH {
        Width::F32 => HALF_PI_32,
        Width::F64 => HALF_PI_64,
    };
    let magic = round_magic::<R>();
    let shifted = x * R::constant(core::f64::consts::FRAC_2_PI) + magic;
    let k = shifted - magic;
    // The first two differences are exact; what the third loses is kept.
    let second = (x - k * R::constant(part1)) - k * R::constant(part2);
    let product = k * R::constant(part3);
    let third = second - product;
    let lost = (second - third) - product;
    let rest = lost - k * R::constant(part4);
    let r = third + rest;
    Reduced { quadrant: shifted.bits(), r, low: rest - (r - third) }
}

/// x = m 2^e with an integer m. m times a three-word window of the bits of 2/pi, modulo 4, has
/// the quadrant in its top two bits and the fraction of a quarter turn below.
#[inline(always)]
pub(crate) fn reduce_far<R: Real>(x: R) -> Reduced<R> {
    let width = R::WIDTH.bits();
    let leading = R::Bits::constant(1 << R::MANTISSA);
    let m = (x.bits() & (leading - R::Bits::constant(1))) | leading;
    let (high, middle, low) = two_over_pi::<R>(x.bits().shift_right(R::MANTISSA));
    let carried = m.high_product(low);
    let fraction_low = m * middle + carried;
    let (zero, one) = (R::Bits::constant(0), R::Bits::constant(1));
    let carry = R::Bits::select(fraction_low.less(carried), one, zero);
    let fraction_high = m * high + m.high_product(middle) + carry;
    // Round to the nearest quadrant; what is left is signed, within half a quadrant.
    let half = R::Bits::constant(1 << (width - 3));
    let quadrant = (fraction_high + half).shift_right(width - 2);
    let left = fraction_high - quadrant.shift_left(width - 2);
    let negative = zero - left.shift_right(width - 1);
    let (r, low) = quarter_turns::<R>(magnitude_of(left, fraction_low, negative));
    let sign = negative.shift_left(width - 1);
    Reduced { quadrant, r: (r.bits() ^ sign).real(), low: (low.bits() ^ sign).real() }
}

/// Three words of the bits of 2/pi for a number with this exponent field, from the first bit
/// that matters: with x = m 2^e, the bit of weight 2^(1 - e), counted from the table's start.
#[inline(always)]
fn two_over_pi<R: Real>(exponent: R::Bits) -> (R::Bits, R::Bits, R::Bits) {
    let (table, start): (&'static [u64], u64) = match R::WIDTH {
        Width::F32 => (&TWO_OVER_PI_32, 120),
        Width::F64 => (&TWO_OVER_PI_64, 1013),
    };
    let width = R::WIDTH.bits();
    let position = exponent - R::Bits::constant(start);
    let index = position.shift_right(width.trailing_zeros());
    let shift = position & R::Bits::constant(width as u64 - 1);
    let first = index.lookup(table);
    let second = (index + R::Bits::constant(1)).lookup(table);
    let third = (index + R::Bits::constant(2)).lookup(table);
    let fourth = (index + R::Bits::constant(3)).lookup(table);
    (
        shifted_pair(first, second, shift, width),
        shifted_pair(second, third, shift, width),
        shifted_pair(third, fourth, shift, width),
    )
}

/// The upper word of (high, low) shifted left by 0 up to width - 1.
#[inline(always)]
fn shifted_pair<B: Bits>(high: B, low: B, shift: B, width: u32) -> B {
    let opposite = B::constant(width as u64 - 1) - shift;
    high.shift_left_by(shift) | low.shift_right(1).shift_right_by(opposite)
}

/// The two-word number (high, low), negated where `negative` is all ones.
#[inline(always)]
fn magnitude_of<B: Bits>(high: B, low: B, negative: B) -> (B, B) {
    let one = negative & B::constant(1);
    let low = (low ^ negative) + one;
    let carry = B::select(low.equal(B::constant(0)), one, B::constant(0));
    ((high ^ negative) + carry, low)
}

/// A fraction of a quarter turn, given as two words of which the first has weight 2^(2 - width),
/// in radians, as a sum of two numbers.
#[inline(always)]
fn quarter_turns<R: Real>((high, low): (R::Bits, R::Bits)) -> (R, R) {
    // Three pieces of at most `piece` bits are exact floats. `kept` bits of the high word are in
    // the second piece, with the top `taken` bits of the low word.
    let (width, kept, taken) = match R::WIDTH {
        Width::F32 => (32, 12, 10),
        Width::F64 => (64, 24, 26),
    };
    let kept_mask = R::Bits::constant((1 << kept) - 1);
    let third_mask = R::Bits::constant((1 << (width - taken)) - 1);
    let first = high.shift_right(kept);
    let second = (high & kept_mask).shift_left(taken) | low.shift_right(width - taken);
    let third = low & third_mask;
    let first = whole::<R>(first) * R::constant(power_of_two(width - 2 - kept));
    let second = whole::<R>(second) * R::constant(power_of_two(width - 2 + taken));
    let third = whole::<R>(third) * R::constant(power_of_two(width - 2 + width));
    let (turn, rest) = fast_two_sum(first, second);
    let (turn, rest) = fast_two_sum(turn, rest + third);

    let [pi1, pi2, pi3] = match R::WIDTH {
        Width::F32 => HALF_PI_SPLIT_32,
        Width::F64 => HALF_PI_SPLIT_64,
    };
    let (pi1, pi2, pi3) = (R::constant(pi1), R::constant(pi2), R::constant(pi3));
    let upper = upper_half(turn);
    let lower = turn - upper;
    let small = lower * pi2 + (turn * pi3 + rest * R::constant(core::f64::consts::FRAC_PI_2));
    fast_two_sum(upper * pi1, (upper * pi2 + lower * pi1) + small)
}

/// A whole number of at most 22 (f32) or 51 (f64) bits as a float, exactly.
#[inline(always)]
fn whole<R: Real>(piece: R::Bits) -> R {
    let magic = round_magic::<R>();
    (piece + magic.bits()).real() - magic
}

/// 2^-n for n below 1023.
#[inline(always)]
fn power_of_two(n: u32) -> f64 {
    f64::from_bits((1023 - n as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_infinities() {
        assert_eq!(Sin::at(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        assert_eq!(Sin::at(-5e-324_f64), -5e-324);
        assert_eq!(Cos::at(-0.0_f32), 1.0);
        assert_eq!(Sin::at(f64::NEG_INFINITY).to_bits(), 0x7FF8_0000_0000_0000);
        assert_eq!(Cos::at(-f32::NAN).to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn arguments_of_all_sizes() {
        assert_eq!(Sin::at(core::f64::consts::PI), 1.2246467991473532e-16);
        assert_eq!(Sin::at(1e22_f64), -0.8522008497671888);
        assert_eq!(Cos::at(1e22_f64), 0.523214785395139);
        // The double closest to a multiple of pi/2.
        assert_eq!(Cos::at(5.319372648326541e255_f64), -4.687165924254628e-19);
    }
}
