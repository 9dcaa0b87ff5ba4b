//! The reduction of an angle by multiples of pi / 2 in integer arithmetic: 53 bits of x times the
//! 256 bits of 2 / pi that matter (Payne and Hanek 1983), so no argument loses precision however
//! large it is. At least 130 bits of the rest are right.

use super::double::{Double, HALF_PI, exponent_of};

/// 64 zeros, then the bits of 2 / pi; printed by benches/lab/coefficients/reference.py.
const TWO_OVER_PI: [u64; 22] = [
    0x0000000000000000,
    0xA2F9836E4E441529,
    0xFC2757D1F534DDC0,
    0xDB6295993C439041,
    0xFE5163ABDEBBC561,
    0xB7246E3A424DD2E0,
    0x06492EEA09D1921C,
    0xFE1DEB1CB129A73E,
    0xE88235F52EBB4484,
    0xE99C7026B45F7E41,
    0x3991D639835339F4,
    0x9C845F8BBDF9283B,
    0x1FF897FFDE05980F,
    0xEF2F118B5A0A6D1F,
    0x6D367ECF27CB09B7,
    0x4F463F669E5FEA2D,
    0x7527BAC7EBE5F17B,
    0x3D0739F78A5292EA,
    0x6BFB5FB11F8D5D08,
    0x56033046FC7B6BAB,
    0xF0CFBC209AF4361D,
    0xA9E391615EE61B08,
];

/// x modulo 2 pi as (k, r): x = k pi / 2 + r with |r| at most a little above pi / 4; x >= 0,
/// finite.
pub fn quarter_turns(x: f64) -> (u64, Double) {
    if x < 0.78 {
        return (0, Double::from(x));
    }
    let exponent = exponent_of(x) - 52;
    let mantissa = (x.to_bits() & ((1 << 52) - 1)) | (1 << 52);
    // Bits of 2 / pi before position exponent - 1 give whole turns.
    let product = times(window((64 + exponent - 2) as usize), mantissa);
    let half_up = product[3].wrapping_add(1 << 61);
    let quadrant = half_up >> 62;
    let mut rest = product;
    rest[3] = product[3].wrapping_sub(quadrant << 62);
    let negative = rest[3] >> 63 == 1;
    let fraction = sum_of(if negative { negated(rest) } else { rest });
    let r = fraction * HALF_PI;
    (quadrant, if negative { -r } else { r })
}

/// 256 bits of the table from bit `start` on, lowest word first.
fn window(start: usize) -> [u64; 4] {
    let word = |i: usize| TWO_OVER_PI.get(i).copied().unwrap_or(0);
    let shift = start % 64;
    std::array::from_fn(|i| {
        let at = start / 64 + 3 - i;
        let pair = (word(at) as u128) << 64 | word(at + 1) as u128;
        (pair >> (64 - shift)) as u64
    })
}

/// The low 256 bits of the product.
fn times(number: [u64; 4], factor: u64) -> [u64; 4] {
    let mut carry = 0;
    number.map(|word| {
        let product = word as u128 * factor as u128 + carry;
        carry = product >> 64;
        product as u64
    })
}

fn negated(number: [u64; 4]) -> [u64; 4] {
    let mut carry = 1;
    number.map(|word| {
        let (sum, over) = (!word).overflowing_add(carry);
        carry = over as u64;
        sum
    })
}

/// The number as a fraction whose unit is bit 254.
fn sum_of(number: [u64; 4]) -> Double {
    let halves = number.iter().rev().flat_map(|word| [word >> 32, word & 0xFFFF_FFFF]);
    let mut weight = 2.0_f64.powi(224 - 254);
    halves.fold(Double::from(0.0), |sum, half| {
        let next = sum + Double::from(half as f64 * weight);
        weight *= 2.0_f64.powi(-32);
        next
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_and_the_hardest_double() {
        let (quadrant, r) = quarter_turns(std::f64::consts::TAU);
        assert_eq!((quadrant, r.high), (0, -2.4492935982947064e-16));
        // The double closest to a multiple of pi / 2.
        let (quadrant, r) = quarter_turns(5.319372648326541e255);
        assert_eq!((quadrant, r.high), (1, 4.687165924254628e-19));
    }
}
