//! Addition at an element's own width: one rounding a step for the floats (the half widths widen
//! to single, add and narrow), wrapping for the integers.

use core::num::Wrapping;
use rung_base::{Bool, bf16, f16};

/// An element that takes others in, one by one.
pub trait Accumulate: Copy {
    /// This element plus another, at this width.
    fn plus(self, other: Self) -> Self;
}

macro_rules! accumulate {
    ($($element:ty: |$a:ident, $b:ident| $sum:expr;)*) => {
        $(impl Accumulate for $element {
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                let ($a, $b) = (self, other);
                $sum
            }
        })*
    };
}

accumulate! {
    f64: |a, b| a + b;
    f32: |a, b| a + b;
    bf16: |a, b| bf16::from_f32(a.to_f32() + b.to_f32());
    f16: |a, b| f16::from_f32(a.to_f32() + b.to_f32());
    i64: |a, b| (Wrapping(a) + Wrapping(b)).0;
    i32: |a, b| (Wrapping(a) + Wrapping(b)).0;
    u8: |a, b| (Wrapping(a) + Wrapping(b)).0;
    Bool: |a, b| Bool::from(a.get() != b.get());
}

/// out (rows, width): row `to[i]` takes row i of source in, i ascending.
pub fn scatter<T: Accumulate>(out: &mut [T], width: usize, to: &[usize], source: &[T]) {
    for (from, &row) in source.chunks_exact(width.max(1)).zip(to) {
        for (cell, &x) in out[row * width..(row + 1) * width].iter_mut().zip(from) {
            *cell = cell.plus(x);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_take_in_their_sources_in_order() {
        let mut out = [0.0, 10.0, 0.0, 0.0];
        scatter(&mut out, 2, &[1, 0, 1], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        assert_eq!(out, [3.0, 14.0, 6.0, 8.0]);
        let mut half = [bf16::from_f32(256.0)];
        scatter(&mut half, 1, &[0, 0], &[bf16::ONE, bf16::ONE]);
        // 257 is no bfloat16 and falls back to even, twice.
        assert_eq!(half[0].to_f32(), 256.0);
        let mut bytes = [250_u8];
        scatter(&mut bytes, 1, &[0], &[10]);
        assert_eq!(bytes, [4]);
    }
}
