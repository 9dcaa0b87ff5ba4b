//! Steps that change arrays element by element where they stand: scale, a * x + y, and the
//! optimisers' (Adam: Kingma and Ba, 2015; with decay apart from the gradient: Loshchilov and
//! Hutter, 2019; momentum: Polyak, 1964; Nesterov, 1983).
//!
//! Every primitive is rounded once, as if stored at the array's width: the chain of named functions
//! gives the same bits. At a half width that is a rounding to it after each primitive in single,
//! which `Narrow` makes of the number's bits. What a step's numbers are is the caller's to say: they
//! come rounded to the array's width.

use crate::real::{Bits, Real};

/// The width to which results of primitives in `R` are rounded.
pub trait Narrow: Copy + Send + Sync + 'static {
    /// The number as the width stores it.
    fn round<R: Real>(x: R) -> R;
}

/// The width of `R` itself.
#[derive(Clone, Copy, Debug)]
pub struct Own;
impl Narrow for Own {
    #[inline(always)]
    fn round<R: Real>(x: R) -> R {
        x
    }
}

/// bfloat16, of a single: the upper half of the bits, rounded to nearest even.
#[derive(Clone, Copy, Debug)]
pub struct ToBf16;
impl Narrow for ToBf16 {
    #[inline(always)]
    fn round<R: Real>(x: R) -> R {
        let (bits, one) = (x.bits(), R::Bits::constant(1));
        let even = bits.shift_right(16) & one;
        let up = bits + R::Bits::constant(0x7FFF) + even;
        let kept = R::from_bits(up & R::Bits::constant(0xFFFF_0000));
        R::select(x.is_nan(), R::canonical_nan(), kept)
    }
}

/// float16, of a single: eleven bits of significand, or a multiple of 2^-24 below 2^-14.
#[derive(Clone, Copy, Debug)]
pub struct ToF16;
impl Narrow for ToF16 {
    #[inline(always)]
    fn round<R: Real>(x: R) -> R {
        let (bits, one) = (x.bits(), R::Bits::constant(1));
        let even = bits.shift_right(13) & one;
        let up = bits + R::Bits::constant(0xFFF) + even;
        let kept = R::from_bits(up & R::Bits::constant(0xFFFF_E000));
        let sign = bits & R::Bits::constant(R::SIGN_BIT);
        // Singles from 1/2 to 1 are multiples of 2^-24.
        let magic = R::constant(0.75);
        let small = (x.abs() + magic) - magic;
        let small = R::from_bits(small.bits() | sign);
        let infinite = R::from_bits(R::infinity().bits() | sign);
        let value = R::select(x.abs().less(R::constant(1.0 / 16384.0)), small, kept);
        let value = R::select(kept.abs().less_equal(R::constant(65504.0)), value, infinite);
        R::select(x.is_nan(), R::canonical_nan(), value)
    }
}

/// The most numbers that a step has.
pub const NUMBERS: usize = 10;

/// A step over `K` arrays of one shape.
pub trait Update<const K: usize>: Copy + Send + Sync + 'static {
    /// Which of the arrays it changes.
    fn writes(&self) -> [bool; K];
    /// The step's numbers, zeros after the last.
    fn numbers(&self) -> [f64; NUMBERS];
    /// The elements after the step with these numbers; those of arrays that it only reads come back
    /// as they were. The numbers come apart so that a recorded step serves all of them.
    fn with<R: Real, W: Narrow>(&self, numbers: &[R; NUMBERS], x: [R; K]) -> [R; K];

    /// The same with the step's own numbers.
    #[inline(always)]
    fn at<R: Real, W: Narrow>(&self, x: [R; K]) -> [R; K] {
        self.with::<R, W>(&self.numbers().map(R::constant), x)
    }
}

/// So many numbers, then zeros.
fn padded<const N: usize>(numbers: [f64; N]) -> [f64; NUMBERS] {
    std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(0.0))
}

/// Rounded primitives.
#[inline(always)]
fn add<R: Real, W: Narrow>(a: R, b: R) -> R {
    W::round(a + b)
}
#[inline(always)]
fn less<R: Real, W: Narrow>(a: R, b: R) -> R {
    W::round(a - b)
}
#[inline(always)]
fn times<R: Real, W: Narrow>(a: R, b: R) -> R {
    W::round(a * b)
}
#[inline(always)]
fn over<R: Real, W: Narrow>(a: R, b: R) -> R {
    W::round(a / b)
}

/// a <- a * s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale(pub f64);
impl Update<1> for Scale {
    fn writes(&self) -> [bool; 1] {
        [true]
    }
    fn numbers(&self) -> [f64; NUMBERS] {
        padded([self.0])
    }
    #[inline(always)]
    fn with<R: Real, W: Narrow>(&self, [s, ..]: &[R; NUMBERS], [a]: [R; 1]) -> [R; 1] {
        [times::<R, W>(a, *s)]
    }
}

/// y <- a * x + y, of (x, y).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axpy(pub f64);
impl Update<2> for Axpy {
    fn writes(&self) -> [bool; 2] {
        [false, true]
    }
    fn numbers(&self) -> [f64; NUMBERS] {
        padded([self.0])
    }
    #[inline(always)]
    fn with<R: Real, W: Narrow>(&self, [a, ..]: &[R; NUMBERS], [x, y]: [R; 2]) -> [R; 2] {
        let scaled = times::<R, W>(*a, x);
        [x, add::<R, W>(scaled, y)]
    }
}

/// Where the decay of an Adam step goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decay {
    /// Nowhere.
    None,
    /// Into the gradient.
    Coupled,
    /// Off the weight.
    Decoupled,
}

/// An Adam step over (x, g, m, v); t counts the steps from 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Adam {
    /// The learning rate.
    pub rate: f64,
    /// The learning rate times the decay.
    pub rate_decay: f64,
    /// The decay.
    pub decay: f64,
    /// b1.
    pub first: f64,
    /// 1 - b1.
    pub first_rest: f64,
    /// b2.
    pub second: f64,
    /// 1 - b2.
    pub second_rest: f64,
    /// What keeps the divisor from zero.
    pub eps: f64,
    /// 1 - b1^t.
    pub first_bias: f64,
    /// 1 - b2^t.
    pub second_bias: f64,
    /// Where the decay goes.
    pub mode: Decay,
}

impl Update<4> for Adam {
    fn writes(&self) -> [bool; 4] {
        [true, false, true, true]
    }

    fn numbers(&self) -> [f64; NUMBERS] {
        [
            self.rate,
            self.rate_decay,
            self.decay,
            self.first,
            self.first_rest,
            self.second,
            self.second_rest,
            self.eps,
            self.first_bias,
            self.second_bias,
        ]
    }

    /// g' = g + decay*x where coupled; m = b1*m + (1-b1)*g'; v = b2*v + (1-b2)*(g'*g');
    /// x' = x - (rate*decay)*x where decoupled; x = x' - (rate*(m/c1)) / (sqrt(v/c2) + eps).
    #[inline(always)]
    fn with<R: Real, W: Narrow>(&self, c: &[R; NUMBERS], [x, g, m, v]: [R; 4]) -> [R; 4] {
        let [rate, rate_decay, decay, first, first_rest, second, second_rest, ..] = *c;
        let [.., eps, first_bias, second_bias] = *c;
        let slope = match self.mode {
            Decay::Coupled => add::<R, W>(g, times::<R, W>(decay, x)),
            _ => g,
        };
        let kept = times::<R, W>(first, m);
        let m = add::<R, W>(kept, times::<R, W>(first_rest, slope));
        let square = times::<R, W>(slope, slope);
        let kept = times::<R, W>(second, v);
        let v = add::<R, W>(kept, times::<R, W>(second_rest, square));
        let start = match self.mode {
            Decay::Decoupled => less::<R, W>(x, times::<R, W>(rate_decay, x)),
            _ => x,
        };
        let step = times::<R, W>(rate, over::<R, W>(m, first_bias));
        let root = W::round(over::<R, W>(v, second_bias).sqrt());
        let divisor = add::<R, W>(root, eps);
        [less::<R, W>(start, over::<R, W>(step, divisor)), g, m, v]
    }
}

/// A step of gradient descent over (x, g, buf), where buf is the momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sgd {
    /// The learning rate.
    pub rate: f64,
    /// What of x is added to the gradient; 0 adds nothing.
    pub decay: f64,
    /// What of buf is kept; 0 leaves buf as it is and steps by the gradient.
    pub momentum: f64,
    /// 1 - dampening: what of the gradient goes into buf.
    pub share: f64,
    /// Steps by gradient + momentum * buf instead of by buf.
    pub nesterov: bool,
}

impl Sgd {
    fn all(&self) -> [f64; NUMBERS] {
        padded([self.rate, self.decay, self.momentum, self.share])
    }

    #[inline(always)]
    fn slope<R: Real, W: Narrow>(&self, decay: R, x: R, g: R) -> R {
        match self.decay == 0.0 {
            true => g,
            false => add::<R, W>(g, times::<R, W>(decay, x)),
        }
    }
}

/// x less the step's rate times another number.
#[inline(always)]
fn stepped<R: Real, W: Narrow>(rate: R, x: R, by: R) -> R {
    less::<R, W>(x, times::<R, W>(rate, by))
}

impl Update<3> for Sgd {
    fn writes(&self) -> [bool; 3] {
        [true, false, true]
    }
    fn numbers(&self) -> [f64; NUMBERS] {
        self.all()
    }

    /// g' = g + decay*x; buf = momentum*buf + share*g'; x = x - rate*buf, or with Nesterov
    /// x - rate*(g' + momentum*buf).
    #[inline(always)]
    fn with<R: Real, W: Narrow>(&self, c: &[R; NUMBERS], [x, g, buf]: [R; 3]) -> [R; 3] {
        let [rate, decay, momentum, share, ..] = *c;
        let slope = self.slope::<R, W>(decay, x, g);
        let kept = times::<R, W>(momentum, buf);
        let buf = add::<R, W>(kept, times::<R, W>(share, slope));
        let by = match self.nesterov {
            true => add::<R, W>(slope, times::<R, W>(momentum, buf)),
            false => buf,
        };
        [stepped::<R, W>(rate, x, by), g, buf]
    }
}

/// The same without momentum, over (x, g).
impl Update<2> for Sgd {
    fn writes(&self) -> [bool; 2] {
        [true, false]
    }
    fn numbers(&self) -> [f64; NUMBERS] {
        self.all()
    }
    #[inline(always)]
    fn with<R: Real, W: Narrow>(&self, c: &[R; NUMBERS], [x, g]: [R; 2]) -> [R; 2] {
        let [rate, decay, ..] = *c;
        let slope = self.slope::<R, W>(decay, x, g);
        [stepped::<R, W>(rate, x, slope), g]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_base::{bf16, f16};

    /// Every bf16 and f16, half way between two, and a bit to either side of that.
    fn near_halves(unit: u32) -> impl Iterator<Item = f32> {
        let halves = (0..=u16::MAX).map(move |high| match unit {
            16 => (high as u32) << 16,
            _ => f16::from_bits(high).to_f32().to_bits(),
        });
        halves.flat_map(move |bits| {
            let half = 1 << (unit - 1);
            [0, 1, half - 1, half, half + 1].map(|more| f32::from_bits(bits.wrapping_add(more)))
        })
    }

    #[test]
    fn rounding_to_half_widths_is_the_conversion_for_every_half_and_its_neighbours() {
        let same = |got: f32, want: f32, x: f32| {
            let both_nan = got.is_nan() && want.is_nan();
            assert!(both_nan || got.to_bits() == want.to_bits(), "{x:e}: {got:e}, not {want:e}");
        };
        for x in near_halves(16).chain(near_halves(13)) {
            same(ToBf16::round(x), bf16::from_f32(x).to_f32(), x);
            same(ToF16::round(x), f16::from_f32(x).to_f32(), x);
        }
        // Below the smallest float16 there are singles of every exponent.
        for bits in (0..0x3880_0000_u32).step_by(977) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                same(ToF16::round(x), f16::from_f32(x).to_f32(), x);
                same(ToBf16::round(x), bf16::from_f32(x).to_f32(), x);
            }
        }
    }

    #[test]
    fn momentum_by_hand() {
        let plain = Sgd { rate: 0.5, decay: 0.0, momentum: 0.5, share: 1.0, nesterov: false };
        // buf = 0.5*4 + 2 = 4; x = 10 - 0.5*4.
        assert_eq!(plain.at::<f64, Own>([10.0, 2.0, 4.0]), [8.0, 2.0, 4.0]);
        // by = 2 + 0.5*4 = 4.
        let nesterov = Sgd { nesterov: true, ..plain };
        assert_eq!(nesterov.at::<f64, Own>([10.0, 2.0, 4.0]), [8.0, 2.0, 4.0]);
        // g' = 2 + 0.25*8 = 4; buf = 0.5*4 + 0.75*4 = 5; by = 4 + 2.5; x = 8 - 3.25.
        let all = Sgd { decay: 0.25, share: 0.75, ..nesterov };
        assert_eq!(all.at::<f64, Own>([8.0, 2.0, 4.0]), [4.75, 2.0, 5.0]);
        assert_eq!(all.at::<f64, Own>([8.0, 2.0]), [6.0, 2.0]);
        // Without decay nothing of x is multiplied: an infinite weight stays infinite.
        assert_eq!(plain.at::<f64, Own>([f64::INFINITY, 1.0])[0], f64::INFINITY);
    }

    #[test]
    fn an_adam_step_by_hand() {
        let adam = Adam {
            rate: 0.5,
            rate_decay: 0.25,
            decay: 0.5,
            first: 0.5,
            first_rest: 0.5,
            second: 0.75,
            second_rest: 0.25,
            eps: 0.0,
            first_bias: 0.5,
            second_bias: 0.25,
            mode: Decay::None,
        };
        // m = 2, v = 4; m/c1 = 4, sqrt(v/c2) = 4; x = 8 - 0.5*4/4.
        assert_eq!(adam.at::<f64, Own>([8.0, 4.0, 0.0, 0.0]), [7.5, 4.0, 2.0, 4.0]);
        // The decay takes 0.25*8 off first.
        let apart = Adam { mode: Decay::Decoupled, ..adam };
        assert_eq!(apart.at::<f64, Own>([8.0, 4.0, 0.0, 0.0]), [5.5, 4.0, 2.0, 4.0]);
        // g' = 8: the same step, with other moments.
        let coupled = Adam { mode: Decay::Coupled, ..adam };
        assert_eq!(coupled.at::<f64, Own>([8.0, 4.0, 0.0, 0.0]), [7.5, 4.0, 4.0, 16.0]);
    }

    #[test]
    fn a_half_width_rounds_after_every_primitive() {
        // 3 * 0.335 in single is 1.0048828; in bfloat16 1.0078125 or less, then one is added.
        let third = bf16::from_f32(0.335).to_f32();
        let [_, got] = Axpy(third as f64).at::<f32, ToBf16>([3.0, 1.0]);
        let scaled = bf16::from_f32(third * 3.0).to_f32();
        assert_eq!(got, bf16::from_f32(scaled + 1.0).to_f32());
        assert_eq!(Scale(1e10).at::<f32, ToF16>([1.0]), [f32::INFINITY]);
    }
}
