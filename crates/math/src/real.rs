//! `Real`, `Bits` and `Mask`: the only vocabulary in which a definition may be written. A number
//! type that implements the three runs every definition of this crate; the scalar instances for
//! f32 and f64 are in `scalar`, the recording one in `trace`, and the vector ones in crate `lanes`.
//!
//! Deliberately absent: fused multiply-add, any transcendental function, and conversion between
//! floats and integers (add a magic number and read the bits instead), because those are where
//! processors, compilers and shader languages disagree. Read `scalar` next.

use core::ops;
use rung_base::ElementType;

/// The width of a float type and of its unsigned companion.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Width {
    /// 32 bits: f32 and u32.
    F32,
    /// 64 bits: f64 and u64.
    F64,
}

impl Width {
    /// The number of bits: 32 or 64.
    pub const fn bits(self) -> u32 {
        match self {
            Width::F32 => 32,
            Width::F64 => 64,
        }
    }

    /// The width at which this element type is computed: 32 bits for bf16 and f16 too. None for
    /// integers and bool.
    pub fn of(element: ElementType) -> Option<Width> {
        match element.compute_type() {
            ElementType::F64 => Some(Width::F64),
            ElementType::F32 => Some(Width::F32),
            _ => None,
        }
    }

    /// The mask that keeps this many low bits of a u64.
    pub const fn mask(self) -> u64 {
        match self {
            Width::F32 => u32::MAX as u64,
            Width::F64 => u64::MAX,
        }
    }
}

/// A truth value, or one per lane.
pub trait Mask: Copy {
    /// The same truth value everywhere.
    fn constant(value: bool) -> Self;
    /// True where both are.
    fn and(self, other: Self) -> Self;
    /// True where either is.
    fn or(self, other: Self) -> Self;
    /// True where this is false.
    fn not(self) -> Self;
}

/// An unsigned integer as wide as its `Real`. `+ - *` wrap.
pub trait Bits:
    Copy
    + ops::Add<Output = Self>
    + ops::Sub<Output = Self>
    + ops::Mul<Output = Self>
    + ops::BitAnd<Output = Self>
    + ops::BitOr<Output = Self>
    + ops::BitXor<Output = Self>
    + ops::Not<Output = Self>
{
    /// The float type of the same width.
    type Real: Real<Bits = Self, Mask = Self::Mask>;
    /// The result of comparisons.
    type Mask: Mask;

    /// The same value everywhere; bits above the width are dropped.
    fn constant(value: u64) -> Self;
    /// Shift left by a fixed amount below the width.
    fn shift_left(self, amount: u32) -> Self;
    /// Shift right by a fixed amount below the width, filling with zeros.
    fn shift_right(self, amount: u32) -> Self;
    /// Shift right by a fixed amount below the width, repeating the top bit.
    fn shift_right_signed(self, amount: u32) -> Self;
    /// Shift left by a computed amount, which must be below the width.
    fn shift_left_by(self, amount: Self) -> Self;
    /// Shift right by a computed amount, which must be below the width, filling with zeros.
    fn shift_right_by(self, amount: Self) -> Self;
    /// Unsigned comparison.
    fn less(self, other: Self) -> Self::Mask;
    /// Equality.
    fn equal(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`; both are evaluated.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// The high half of the product at twice the width.
    fn high_product(self, other: Self) -> Self;
    /// The entry at this index. The length must be a power of two; the index is reduced modulo
    /// it, and an entry loses the bits above the width.
    fn lookup(self, table: &'static [u64]) -> Self;
    /// The same bits read as a float.
    fn real(self) -> Self::Real {
        Self::Real::from_bits(self)
    }
}

/// An IEEE 754 binary32 or binary64 number, or one per lane. Each operation rounds once, to
/// nearest even; nothing is contracted.
pub trait Real:
    Copy
    + ops::Add<Output = Self>
    + ops::Sub<Output = Self>
    + ops::Mul<Output = Self>
    + ops::Div<Output = Self>
    + ops::Neg<Output = Self>
{
    /// The unsigned integer of the same width.
    type Bits: Bits<Real = Self, Mask = Self::Mask>;
    /// The result of comparisons.
    type Mask: Mask;
    /// Which of the two formats this is.
    const WIDTH: Width;

    /// The same number everywhere, rounded once to the width.
    fn constant(value: f64) -> Self;
    /// The correctly rounded square root.
    fn sqrt(self) -> Self;
    /// Clears the sign bit, of NaN too.
    fn abs(self) -> Self;
    /// The bits of the number.
    fn bits(self) -> Self::Bits;
    /// The number with these bits.
    fn from_bits(bits: Self::Bits) -> Self;
    /// Ordered `<`: false where either is NaN.
    fn less(self, other: Self) -> Self::Mask;
    /// Ordered `<=`: false where either is NaN.
    fn less_equal(self, other: Self) -> Self::Mask;
    /// Ordered `=`: false where either is NaN; the two zeros are equal.
    fn equal(self, other: Self) -> Self::Mask;
    /// `yes` where the mask is true, else `no`; both are evaluated.
    fn select(mask: Self::Mask, yes: Self, no: Self) -> Self;
    /// `slow()` where the mask is true, else `usual`; instances skip `slow` when no lane needs
    /// it, so `slow` must give the same bits whichever neighbours it is computed beside. For
    /// a few operations; more belong behind `any`.
    fn rare(mask: Self::Mask, usual: Self, slow: impl FnOnce() -> Self) -> Self;

    /// Whether any lane is true, to branch on before work that `select` then mixes in. A trace
    /// answers true.
    ///
    /// This stands beside `rare` because a closure cannot be forced to inline: a large one stays
    /// a function without the caller's vector features, in which each vector operation is a call
    /// (measured on sin: 15 ns an element instead of 0.9).
    #[inline(always)]
    fn any(mask: Self::Mask) -> bool {
        let mut any = false;
        let zero = Self::constant(0.0);
        Self::rare(mask, zero, || {
            any = true;
            zero
        });
        any
    }

    /// True for NaN. Looks at the bits: shader compilers turn `x != x` into an ordered compare,
    /// which is false for NaN.
    #[inline(always)]
    fn is_nan(self) -> Self::Mask {
        let magnitude = self.bits() & Self::Bits::constant(Self::MAGNITUDE_MASK);
        Self::Bits::constant(Self::INFINITY_BITS).less(magnitude)
    }

    /// The one NaN that definitions produce: positive, quiet, no payload.
    #[inline(always)]
    fn canonical_nan() -> Self {
        Self::from_bits(Self::Bits::constant(Self::NAN_BITS))
    }

    /// Positive infinity.
    #[inline(always)]
    fn infinity() -> Self {
        Self::from_bits(Self::Bits::constant(Self::INFINITY_BITS))
    }

    /// The sign bit alone.
    const SIGN_BIT: u64 = match Self::WIDTH {
        Width::F32 => 1 << 31,
        Width::F64 => 1 << 63,
    };
    /// All bits but the sign.
    const MAGNITUDE_MASK: u64 = Self::SIGN_BIT - 1;
    /// The bits of positive infinity.
    const INFINITY_BITS: u64 = match Self::WIDTH {
        Width::F32 => 0x7F80_0000,
        Width::F64 => 0x7FF0_0000_0000_0000,
    };
    /// The bits of the canonical quiet NaN.
    const NAN_BITS: u64 = match Self::WIDTH {
        Width::F32 => 0x7FC0_0000,
        Width::F64 => 0x7FF8_0000_0000_0000,
    };
    /// The number of stored mantissa bits: 23 or 52.
    const MANTISSA: u32 = match Self::WIDTH {
        Width::F32 => 23,
        Width::F64 => 52,
    };
}
