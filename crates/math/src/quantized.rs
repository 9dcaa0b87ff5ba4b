//! Q8_0: numbers in blocks of 32, each block a float16 scale and 32 signed bytes, as in GGUF files;
//! and the product of a row of such blocks with a vector, whose bits every rung gives.
//!
//! The vector is quantised block by block as well, with its scale in f32. A block's 32 products
//! are added as integers, exactly; the row is the fold (`fold::sum`) over its blocks. Nothing here
//! is fast; read `quantized` of crate `lanes` for that.

use crate::fold;
use rung_base::f16;

/// Numbers in a block.
pub const BLOCK: usize = 32;
/// Bytes of a block: the scale, low byte first, then the signed bytes.
pub const BYTES: usize = 2 + BLOCK;

/// A block's scale and its bytes: s = (largest magnitude) / 127, q = x / s rounded half to even, all
/// zero when s is 0. A block with a NaN or an infinity has the scale NaN.
pub fn quantize(x: &[f32; BLOCK]) -> (f32, [i8; BLOCK]) {
    if x.iter().any(|x| !x.is_finite()) {
        return (f32::NAN, [0; BLOCK]);
    }
    let largest = x.iter().fold(0.0_f32, |largest, x| largest.max(x.abs()));
    let scale = largest / 127.0;
    if scale == 0.0 {
        return (0.0, [0; BLOCK]);
    }
    // A subnormal scale may make the quotient larger than 127.
    (scale, x.map(|x| (x / scale).round_ties_even().clamp(-127.0, 127.0) as i8))
}

/// The block's 34 bytes: the scale rounded to float16 after it divided.
pub fn encode(x: &[f32; BLOCK]) -> [u8; BYTES] {
    let (scale, quants) = quantize(x);
    let mut bytes = [0; BYTES];
    bytes[..2].copy_from_slice(&f16::from_f32(scale).to_le_bytes());
    for (byte, quant) in bytes[2..].iter_mut().zip(quants) {
        *byte = quant as u8;
    }
    bytes
}

/// The scale of an encoded block, which is at least two bytes.
pub fn scale(block: &[u8]) -> f32 {
    f16::from_le_bytes([block[0], block[1]]).to_f32()
}

/// Number `index` of an encoded block: scale * q, exact in f64 and to be rounded once.
pub fn decode(block: &[u8], index: usize) -> f64 {
    scale(block) as f64 * (block[2 + index] as i8) as f64
}

/// The exact sum of the products of a block's bytes with those of the vector.
pub fn integer_dot(block: &[u8], x: &[i8; BLOCK]) -> i32 {
    block[2..BYTES].iter().zip(x).map(|(q, x)| (*q as i8) as i32 * *x as i32).sum()
}

/// A block's part of the row: the product of the scales, rounded to f32, times the integer; exact
/// in f64.
pub fn term(scale: f32, x_scale: f32, sum: i32) -> f64 {
    (scale * x_scale) as f64 * sum as f64
}

/// A row of encoded blocks times a quantised vector of as many blocks, to be narrowed once.
pub fn row(blocks: &[u8], x: &[(f32, [i8; BLOCK])]) -> f64 {
    fold::sum(x.len(), |i| {
        let block = &blocks[i * BYTES..][..BYTES];
        let (x_scale, quants) = &x[i];
        term(scale(block), *x_scale, integer_dot(block, quants))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_scaled_to_its_largest_magnitude_and_ties_go_to_even() {
        let mut x = [0.0_f32; BLOCK];
        (x[0], x[1], x[2], x[3]) = (-254.0, 3.0, 5.0, 1.9);
        let (s, q) = quantize(&x);
        assert_eq!((s, &q[..5]), (2.0, &[-127, 2, 2, 1, 0][..]));
        let bytes = encode(&x);
        assert_eq!(bytes[..5], [0x00, 0x40, 0x81, 2, 2]);
        assert_eq!((decode(&bytes, 0), decode(&bytes, 3)), (-254.0, 2.0));
    }

    #[test]
    fn zeros_specials_and_the_smallest_numbers() {
        assert_eq!(quantize(&[-0.0; BLOCK]), (0.0, [0; BLOCK]));
        let mut x = [1.0; BLOCK];
        x[31] = f32::NEG_INFINITY;
        assert!(quantize(&x).0.is_nan());
        // 1e-45 / 127 is 0: the block is all zero. 150 of the smallest give the scale 1 of them.
        assert_eq!(quantize(&[1e-45; BLOCK]), (0.0, [0; BLOCK]));
        assert_eq!(quantize(&[f32::from_bits(150); BLOCK]), (f32::from_bits(1), [127; BLOCK]));
    }

    #[test]
    fn a_row_of_two_blocks() {
        let mut x = [0.0_f32; 2 * BLOCK];
        (x[0], x[40]) = (127.0, 254.0);
        let blocks: Vec<_> = x.as_chunks::<BLOCK>().0.iter().map(quantize).collect();
        let bytes: Vec<u8> = x.as_chunks::<BLOCK>().0.iter().flat_map(encode).collect();
        assert_eq!(row(&bytes, &blocks), 127.0 * 127.0 + 254.0 * 254.0);
        assert_eq!(row(&[], &[]).to_bits(), 0.0_f64.to_bits());
    }
}
