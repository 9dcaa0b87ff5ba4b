//! `mma.sync`: a product of a 16 x K and a K x 8 matrix added to a 16 x 8 one, of doubles 8 x 4 and 4 x 8
//! added to 8 x 8, each in pieces in the registers of a warp's 32 lanes, as the reference of PTX lays them
//! out (Matrix Fragments for mma.m16n8k8 with .tf32, for mma.m16n8k16 with .bf16, for mma.m8n8k4 with .f64).
//!
//! The reference leaves open how the hardware adds. Of doubles it says that each multiplication and
//! addition is as precise as a fused one, not in which order they come: `Order` has several. For the
//! others this is a model of it, the coarsest that was seen
//! (M. Fasi, N. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, 2021): products
//! are exact; four of tf32 or eight of bf16 at a time are added to what there is, each cut, not rounded,
//! to 24 bits below the leading one of the largest term, and the sum is cut to 24 bits. A test that
//! holds here compares within a bound, never bit for bit.

use crate::LANES;
use crate::opcodes::Lanes;
use std::str::FromStr;

/// Rows of a and of the result, columns of b and of the result.
const ROWS: usize = 16;
const COLUMNS: usize = 8;

/// What is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// m16n8k8: the upper 19 bits of each word.
    Tf32,
    /// m16n8k16: two in a word, the lower half first.
    Bf16,
    /// m8n8k4: a double a lane of each operand, two of the result.
    Doubles(Order),
}

/// In which order an instruction adds its four products of doubles to what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// One after the other along k, each by a fused multiply-add.
    #[default]
    Ascending,
    /// The same from the last to the first.
    Descending,
    /// Two and two first, then their sums, then what there is.
    Pairwise,
}

impl FromStr for Order {
    type Err = String;

    fn from_str(text: &str) -> Result<Order, String> {
        match text {
            "ascending" => Ok(Order::Ascending),
            "descending" => Ok(Order::Descending),
            "pairwise" => Ok(Order::Pairwise),
            _ => Err(format!("expected ascending, descending or pairwise, got {text}")),
        }
    }
}

impl Order {
    fn added(self, a: [f64; 4], b: [f64; 4], c: f64) -> f64 {
        let fused = |sum: f64, k: usize| a[k].mul_add(b[k], sum);
        match self {
            Order::Ascending => (0..4).fold(c, fused),
            Order::Descending => (0..4).rev().fold(c, fused),
            Order::Pairwise => fused(a[0] * b[0], 1) + fused(a[2] * b[2], 3) + c,
        }
    }
}

impl Kind {
    pub(crate) fn of(opcode: &str) -> Option<Kind> {
        match opcode {
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32" => Some(Kind::Tf32),
            "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32" => Some(Kind::Bf16),
            "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64" => {
                Some(Kind::Doubles(Order::default()))
            }
            _ => None,
        }
    }

    /// Steps along k.
    pub(crate) fn steps(self) -> usize {
        match self {
            Kind::Tf32 => 8,
            Kind::Bf16 => 16,
            Kind::Doubles(_) => 4,
        }
    }

    /// Registers of a lane: of the result, and of a, b and c.
    pub(crate) fn registers(self) -> (usize, usize) {
        match self {
            Kind::Tf32 | Kind::Bf16 => (4, 10),
            Kind::Doubles(_) => (2, 4),
        }
    }

    /// Floating-point operations, a lane's part.
    pub(crate) fn flops(self) -> u64 {
        let rows = if let Kind::Doubles(_) = self { 8 } else { ROWS };
        (2 * rows * COLUMNS * self.steps() / LANES) as u64
    }

    /// Products that are added at once.
    fn together(self) -> usize {
        self.steps() / 2
    }

    /// Elements in a word.
    fn packed(self) -> usize {
        self.steps() / 8
    }

    /// The register, the lane among those of a row, and the place in a word of a step along k.
    fn place(self, step: usize) -> (usize, usize, usize) {
        let packed = self.packed();
        (step / (4 * packed), step / packed % 4, step % packed)
    }

    fn value(self, word: u64, place: usize) -> f64 {
        let bits = match self {
            Kind::Bf16 => (word as u32 >> (16 * place)) << 16,
            _ => word as u32 & 0xffff_e000,
        };
        f32::from_bits(bits).into()
    }
}

/// The registers of a, b and c as those of the result.
pub(crate) fn product(kind: Kind, registers: &[Lanes]) -> Vec<Lanes> {
    match (kind, registers) {
        (Kind::Doubles(order), [a, b, c @ ..]) => doubles(order, a, b, c).to_vec(),
        (_, [a0, a1, a2, a3, b0, b1, c @ ..]) => {
            singles(kind, &[a0, a1, a2, a3], &[b0, b1], c).to_vec()
        }
        _ => Vec::new(),
    }
}

/// a in a register, row by row, b in one, column by column, c and the result in two.
fn doubles(order: Order, a: &Lanes, b: &Lanes, c: &[Lanes]) -> [Lanes; 2] {
    let mut result = [[0; LANES]; 2];
    for (register, lane) in (0..2).flat_map(|r| (0..LANES).map(move |lane| (r, lane))) {
        let (row, column) = (lane / 4, lane % 4 * 2 + register);
        let row = std::array::from_fn(|k| f64::from_bits(a[row * 4 + k]));
        let column = std::array::from_fn(|k| f64::from_bits(b[column * 4 + k]));
        let before = f64::from_bits(c[register][lane]);
        result[register][lane] = order.added(row, column, before).to_bits();
    }
    result
}

/// a in four registers, b in two, c and the result in four.
fn singles(kind: Kind, a: &[&Lanes; 4], b: &[&Lanes; 2], c: &[Lanes]) -> [Lanes; 4] {
    let left = |row: usize, step: usize| {
        let (register, lane, place) = kind.place(step);
        kind.value(a[row / 8 + 2 * register][row % 8 * 4 + lane], place)
    };
    let right = |step: usize, column: usize| {
        let (register, lane, place) = kind.place(step);
        kind.value(b[register][column * 4 + lane], place)
    };
    let mut result = [[0; LANES]; 4];
    for row in 0..ROWS {
        for column in 0..COLUMNS {
            let (register, lane) = (row / 8 * 2 + column % 2, row % 8 * 4 + column / 2);
            let mut sum = f32::from_bits(c[register][lane] as u32);
            for first in (0..kind.steps()).step_by(kind.together()) {
                let term = |i: usize| left(row, first + i) * right(first + i, column);
                sum = added(
                    sum,
                    &std::array::from_fn::<f64, 8, _>(|i| {
                        if i < kind.together() { term(i) } else { 0.0 }
                    }),
                );
            }
            result[register][lane] = sum.to_bits().into();
        }
    }
    result
}

/// A sum whose terms are cut below the leading bit of the largest.
fn added(before: f32, products: &[f64; 8]) -> f32 {
    let terms = || products.iter().copied().chain([f64::from(before)]);
    let plain: f64 = terms().sum();
    let largest = terms().fold(0.0, |most: f64, term| most.max(term.abs()));
    if !plain.is_finite() || largest == 0.0 {
        return plain as f32;
    }
    let exponent = (largest.to_bits() >> 52) as i32 - 1023;
    let unit = 2f64.powi(exponent - 23);
    // Whole numbers below 2^24, of which a double holds every sum.
    cut(terms().map(|term| (term / unit).trunc()).sum::<f64>() * unit)
}

/// The single nearest to a number on the side of zero.
fn cut(x: f64) -> f32 {
    let nearest = x as f32;
    match f64::from(nearest).abs() > x.abs() && x.abs() < 2f64.powi(128) {
        true => f32::from_bits(nearest.to_bits() - 1),
        false => nearest,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2^53 swallows a single one, not two at once.
    #[test]
    fn orders_of_doubles_differ() {
        let (ones, big) = ([1.0; 4], 2f64.powi(53));
        let of = |order: Order, a| order.added(a, ones, 0.0);
        for (a, [ascending, descending, pairwise]) in [
            ([big, 1.0, 1.0, 0.0], [big, big + 2.0, big]),
            ([1.0, 1.0, big, 0.0], [big + 2.0, big, big + 2.0]),
            ([1.0, big, -big, 1.0], [1.0, 2.0, 1.0]),
        ] {
            assert_eq!(of(Order::Ascending, a), ascending, "{a:?}");
            assert_eq!(of(Order::Descending, a), descending, "{a:?}");
            assert_eq!(of(Order::Pairwise, a), pairwise, "{a:?}");
        }
    }

    #[test]
    fn terms_are_cut_below_the_largest() {
        let terms = |list: &[f64]| std::array::from_fn(|i| list.get(i).copied().unwrap_or(0.0));
        // 24 bits below the leading one of 1.0 end at 2^-23: what is smaller is lost, of any sign.
        assert_eq!(added(1.0, &terms(&[2f64.powi(-23)])), 1.0 + f32::EPSILON);
        assert_eq!(added(1.0, &terms(&[0.75 * 2f64.powi(-22)])), 1.0 + f32::EPSILON);
        assert_eq!(added(1.0, &terms(&[2f64.powi(-24); 4])), 1.0);
        assert_eq!(added(-1.0, &terms(&[-(2f64.powi(-24)); 4])), -1.0);
        assert_eq!(added(1.0, &terms(&[-1.0])), 0.0);
        assert_eq!(added(f32::MAX, &terms(&[f32::MAX.into()])), f32::INFINITY);
        assert!(added(f32::INFINITY, &terms(&[f64::NEG_INFINITY])).is_nan());
        // The sum is cut, not rounded.
        assert_eq!(cut(1.0 + 0.75 * 2f64.powi(-23)), 1.0);
        assert_eq!(cut(-1.0 - 0.75 * 2f64.powi(-23)), -1.0);
    }
}
