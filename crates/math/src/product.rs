//! The cell of a matrix product (also of einsum, tensordot and convolution): the order in which
//! the k products are added. Packed, threaded, split and tiled kernels all give these bits.
//! Nothing here is fast; read the product kernels of crate `lanes` for that.
//!
//! k is cut into blocks of 512. Inside a block, ascending fused multiply-add from +0.0 at the
//! operand width. The block results are added in ascending order; the first block's result is
//! the start, so a product of one block is that block alone. k = 0 gives +0.0.

/// Products in a block.
pub const BLOCK: usize = 512;

/// The two widths at which products are formed.
pub trait Fused: Copy + core::ops::Add<Output = Self> {
    /// +0.0.
    const ZERO: Self;
    /// self * factor + addend, rounded once, on every processor.
    fn fused(self, factor: Self, addend: Self) -> Self;
}

impl Fused for f32 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
}

impl Fused for f64 {
    const ZERO: Self = 0.0;
    #[inline(always)]
    fn fused(self, factor: Self, addend: Self) -> Self {
        self.mul_add(factor, addend)
    }
}

/// a (k) through `left`, b (k) through `right`, result one number.
pub fn cell<T: Fused>(k: usize, left: impl Fn(usize) -> T, right: impl Fn(usize) -> T) -> T {
    let block = |start: usize| {
        (start..k.min(start + BLOCK)).fold(T::ZERO, |sum, i| left(i).fused(right(i), sum))
    };
    let mut total = block(0);
    for start in (BLOCK..k).step_by(BLOCK) {
        total = total + block(start);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_products() {
        assert_eq!(cell(0, |_| 1.0_f32, |_| 1.0).to_bits(), 0.0_f32.to_bits());
        assert_eq!(cell(1, |_| -0.0_f64, |_| 1.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(cell(3, |i| i as f64 + 1.0, |i| i as f64 + 4.0), 32.0);
    }

    #[test]
    fn steps_are_fused() {
        // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24 exactly, which f32 rounding of the square loses.
        let small = 2.0_f32.powi(-12);
        let left = [-(1.0 + 2.0 * small), 1.0 + small];
        let right = [1.0, 1.0 + small];
        assert_eq!(cell(2, |i| left[i], |i| right[i]), 2.0_f32.powi(-24));
    }

    #[test]
    fn blocks_of_512_are_summed_apart() {
        // 1 in block 0; 2^-24 twice in block 1: kept together, lost one by one.
        let tiny = 2.0_f32.powi(-24);
        let at = |i: usize| if i == 0 { 1.0 } else { tiny };
        let one = |i: usize| if i == 0 || i >= BLOCK { 1.0_f32 } else { 0.0 };
        assert_eq!(cell(BLOCK + 2, at, one), 1.0 + 2.0 * tiny);
        let shifted = |i: usize| if i == 0 || i == 510 || i == 511 { 1.0_f32 } else { 0.0 };
        assert_eq!(cell(BLOCK, at, shifted), 1.0);
    }
}
