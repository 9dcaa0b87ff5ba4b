//! Functions of a few packed elements: on the calling thread, with no layout to describe. Beside an
//! element-wise one's other operand, an operand of one element is repeated.

use crate::Lanes;
use crate::compiled::{Binary, Compare, Unary};
use crate::elementwise::packed;
use crate::fold::{self, Choice, Dot, Step, chunk};
use crate::operand::Operand;
use crate::vector::Float;
use rung_math::fold::CHUNK;

/// out = F(x).
///
/// # Panics
/// When the operand is neither as long as the result nor one number.
pub fn map<F: Unary, T: Float>(lanes: &Lanes, x: &[T], out: &mut [T]) {
    packed(F::COMPILED.runner(lanes.level()), [x], out);
}

/// out = F(a, b).
///
/// # Panics
/// As `map`.
pub fn zip<F: Binary, T: Float>(lanes: &Lanes, a: &[T], b: &[T], out: &mut [T]) {
    packed(F::COMPILED.runner(lanes.level()), [a, b], out);
}

/// out = 1 where F(a, b) holds, else 0.
///
/// # Panics
/// As `map`.
pub fn compare<F: Compare, T: Float>(lanes: &Lanes, a: &[T], b: &[T], out: &mut [T]) {
    packed(F::COMPILED.runner(lanes.level()), [a, b], out);
}

/// The fold of all elements, which are at most 4,096.
///
/// # Panics
/// When there are more.
pub fn fold<F: Step, T: Float>(lanes: &Lanes, x: &[T]) -> f64 {
    assert!(x.len() <= CHUNK, "elements of a small fold");
    chunk::of::<F, T>(lanes, x, None)
}

/// The largest or smallest element.
///
/// # Panics
/// When there is none.
pub fn extreme<C: Choice, T: Float>(lanes: &Lanes, x: &[T]) -> T {
    let mut picked = [T::default()];
    fold::extreme::<C, T>(lanes, &[x.len()], Operand::new(x, 0, &[1]), &[0], &mut picked);
    picked[0]
}

/// The sum of the products of at most 4,096 pairs.
///
/// # Panics
/// When there are more, or not as many of both.
pub fn dot<T: Float>(lanes: &Lanes, x: &[T], y: &[T]) -> f64 {
    assert!(x.len() <= CHUNK && x.len() == y.len(), "elements of a small fold");
    chunk::of::<Dot, T>(lanes, x, Some(y))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Level;
    use rung_math::{Add, Less, Sqrt};

    #[test]
    fn small_calls_have_the_bits_of_the_drivers_at_every_length() {
        for level in Level::available() {
            let lanes = Lanes::with(level, 1);
            for length in (0..70).chain([127, 128, 129, 1000]) {
                let x: Vec<f32> = (0..length).map(|i| (i as f32 - 9.5).exp2()).collect();
                let mut got = vec![0.0; length];
                map::<Sqrt, f32>(&lanes, &x, &mut got);
                assert!(x.iter().zip(&got).all(|(x, y)| x.sqrt() == *y));
                zip::<Add, f32>(&lanes, &x, &[0.5], &mut got);
                assert!(x.iter().zip(&got).all(|(x, y)| x + 0.5 == *y));
                zip::<Add, f32>(&lanes, &[0.5], &x, &mut got);
                assert!(x.iter().zip(&got).all(|(x, y)| 0.5 + x == *y));
                compare::<Less, f32>(&lanes, &x, &[1.0], &mut got);
                assert!(x.iter().zip(&got).all(|(x, y)| f32::from(*x < 1.0) == *y));
            }
        }
    }

    #[test]
    #[should_panic(expected = "elements of a packed operand")]
    fn an_operand_of_another_length_is_refused() {
        zip::<Add, f64>(&Lanes::new(1), &[1.0, 2.0, 3.0], &[1.0, 2.0], &mut [0.0; 3]);
    }
}
