//! What a coordinate is: a float of either width.

use rung_base::Element;
use std::ops::{Add, Mul, Sub};

/// A float in which points lie. Every operation rounds once, in the order written; Rust fuses none.
pub trait Coordinate:
    Element + PartialOrd + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Copy
{
    const ZERO: Self;
    const INFINITY: Self;
    /// Below every squared distance: that of a point which is chosen, or never can be.
    const GONE: Self;

    fn sqrt(self) -> Self;
    fn is_finite(self) -> bool;
    fn to_f64(self) -> f64;
    /// To the nearest whole number, from 0 to 2^22: with instructions that vectors have.
    fn whole(self) -> u32;
    /// Rounded once.
    fn of(x: f64) -> Self;
}

macro_rules! coordinates {
    ($($t:ty, $whole:literal);*) => {
        $(impl Coordinate for $t {
            const ZERO: Self = 0.0;
            const INFINITY: Self = <$t>::INFINITY;
            const GONE: Self = -1.0;

            #[inline(always)]
            fn sqrt(self) -> Self {
                self.sqrt()
            }
            #[inline(always)]
            fn is_finite(self) -> bool {
                self.is_finite()
            }
            #[inline(always)]
            fn to_f64(self) -> f64 {
                f64::from(self)
            }
            #[inline(always)]
            fn whole(self) -> u32 {
                // The last places of the sum are whole numbers.
                ((self + $whole).to_bits() & 0x7f_ffff) as u32
            }
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
        })*
    };
}
coordinates!(f32, 8_388_608.0; f64, 4_503_599_627_370_496.0);
