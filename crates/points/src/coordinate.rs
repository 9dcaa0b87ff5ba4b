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
    /// Towards zero, and to the nearest that there is.
    fn whole(self) -> i32;
    /// Rounded once.
    fn of(x: f64) -> Self;
}

macro_rules! coordinates {
    ($($t:ty),*) => {
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
            fn whole(self) -> i32 {
                self as i32
            }
            #[inline(always)]
            fn of(x: f64) -> Self {
                x as $t
            }
        })*
    };
}
coordinates!(f32, f64);
