//! The order in which folds (sum, prod, mean, var, norm, dot, a row of a matrix-vector product)
//! run, in the plainest text: lanes, threads and devices reproduce these bits. The order depends
//! on the length alone. Nothing here is fast; read crate `lanes` for that.
//!
//! The rule for n elements, all in f64:
//! 1. Cut into chunks of 4096; the last may be short.
//! 2. In a chunk 64 partials start from the identity (+0.0 for sums, 1.0 for products). Partial l
//!    takes the chunk's elements l, l + 64, l + 128, ... in ascending order.
//! 3. The partials are combined by halving: l with l + 32 for l below 32, then 16, 8, 4, 2, 1.
//!    A partial that got no element stays at the identity **and takes part** like any other.
//! 4. If there is more than one chunk, the chunk results are a sequence that is folded by the same
//!    rule with plain combination, and so on until one number is left. Nothing gives the identity.
//!
//! Because every partial starts from +0.0, a sum is never -0.0: the sum of [-0.0] is
//! +0.0 + -0.0 = +0.0.

/// Elements of a chunk.
pub const CHUNK: usize = 4096;
/// Strided partial results in a chunk.
pub const PARTIALS: usize = 64;

/// How results are combined: by addition or by multiplication.
pub trait Combine: Copy + Default + Send + Sync + 'static {
    /// What a partial starts from.
    const IDENTITY: f64;
    /// The combination of two results, the one of the lower index first.
    fn combine(low: f64, high: f64) -> f64;
}

/// Addition from +0.0.
#[derive(Clone, Copy, Default, Debug)]
pub struct Adding;
impl Combine for Adding {
    const IDENTITY: f64 = 0.0;
    #[inline(always)]
    fn combine(low: f64, high: f64) -> f64 {
        low + high
    }
}

/// Multiplication from 1.0.
#[derive(Clone, Copy, Default, Debug)]
pub struct Multiplying;
impl Combine for Multiplying {
    const IDENTITY: f64 = 1.0;
    #[inline(always)]
    fn combine(low: f64, high: f64) -> f64 {
        low * high
    }
}

/// The general fold: `step(partial, i)` takes element i into a partial.
pub fn fold<C: Combine>(length: usize, step: impl Fn(f64, usize) -> f64) -> f64 {
    let mut results = Vec::with_capacity(length.div_ceil(CHUNK));
    for start in (0..length).step_by(CHUNK) {
        results.push(fold_chunk::<C>(start, length.min(start + CHUNK), &step));
    }
    combine_chunks::<C>(&results)
}

/// Steps 2 and 3 of the rule for the elements `start..end`, at most 4096 of them.
pub fn fold_chunk<C: Combine>(start: usize, end: usize, step: impl Fn(f64, usize) -> f64) -> f64 {
    let mut partials = [C::IDENTITY; PARTIALS];
    for index in start..end {
        let partial = &mut partials[(index - start) % PARTIALS];
        *partial = step(*partial, index);
    }
    halve::<C>(partials)
}

/// Step 3 of the rule.
#[inline(always)]
pub fn halve<C: Combine>(mut partials: [f64; PARTIALS]) -> f64 {
    let mut half = PARTIALS / 2;
    while half > 0 {
        for low in 0..half {
            partials[low] = C::combine(partials[low], partials[low + half]);
        }
        half /= 2;
    }
    partials[0]
}

/// Step 4 of the rule: the results of all chunks, in order, become one number.
pub fn combine_chunks<C: Combine>(results: &[f64]) -> f64 {
    match results {
        [] => C::IDENTITY,
        [one] => *one,
        many => fold::<C>(many.len(), |partial, i| C::combine(partial, many[i])),
    }
}

/// The sum of the elements.
pub fn sum(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    fold::<Adding>(length, |partial, i| partial + element(i))
}

/// The product of the elements.
pub fn product(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    fold::<Multiplying>(length, |partial, i| partial * element(i))
}

/// The sum of a * b over the pairs, each step a fused multiply-add. The same bits whichever
/// factor is called a.
pub fn dot(length: usize, pair: impl Fn(usize) -> (f64, f64)) -> f64 {
    fold::<Adding>(length, |partial, i| {
        let (a, b) = pair(i);
        a.mul_add(b, partial)
    })
}

/// sum / n; NaN for nothing (the caller refuses an empty axis before).
pub fn mean(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    sum(length, element) / length as f64
}

/// The mean of the squared distances from the mean, which is not narrowed, divided by n - ddof;
/// NaN when that is not positive (the caller refuses it before).
pub fn variance(length: usize, ddof: i64, element: impl Fn(usize) -> f64) -> f64 {
    let mean = mean(length, &element);
    let squares = dot(length, |i| {
        let distance = element(i) - mean;
        (distance, distance)
    });
    quotient(squares, length as i64 - ddof)
}

/// NaN unless the divisor is positive.
fn quotient(squares: f64, divisor: i64) -> f64 {
    if divisor > 0 { squares / divisor as f64 } else { f64::NAN }
}

/// The sum of the magnitudes.
pub fn magnitudes(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    sum(length, |i| element(i).abs())
}

/// How many elements are not NaN.
pub fn present(length: usize, element: impl Fn(usize) -> f64) -> usize {
    (0..length).filter(|&i| !element(i).is_nan()).count()
}

/// The sum of the elements that are not NaN: the others count as +0.0.
pub fn sum_present(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    sum(length, |i| if element(i).is_nan() { 0.0 } else { element(i) })
}

/// The product of the elements that are not NaN: the others count as 1.
pub fn product_present(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    product(length, |i| if element(i).is_nan() { 1.0 } else { element(i) })
}

/// The mean of the elements that are not NaN; NaN when all are.
pub fn mean_present(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    sum_present(length, &element) / present(length, &element) as f64
}

/// The variance of the elements that are not NaN: the others are at distance 0 from the mean and
/// do not count in n.
pub fn variance_present(length: usize, ddof: i64, element: impl Fn(usize) -> f64) -> f64 {
    let mean = mean_present(length, &element);
    let squares = dot(length, |i| {
        let distance = if element(i).is_nan() { 0.0 } else { element(i) - mean };
        (distance, distance)
    });
    quotient(squares, present(length, &element) as i64 - ddof)
}

/// The square root of the sum of squares.
pub fn norm(length: usize, element: impl Fn(usize) -> f64) -> f64 {
    dot(length, |i| (element(i), element(i))).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gives_the_identity_and_minus_zero_sums_to_plus_zero() {
        assert_eq!(sum(0, |_| 1.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(product(0, |_| 2.0), 1.0);
        assert_eq!(sum(1, |_| -0.0).to_bits(), 0.0_f64.to_bits());
        assert_eq!(dot(3, |_| (-0.0, 1.0)).to_bits(), 0.0_f64.to_bits());
    }

    #[test]
    fn the_order_is_strided_then_halving() {
        // 1 and 2^-53 meet in partial 0 (elements 0 and 64), where 2^-53 is lost twice; in
        // ascending order they would be lost too, but 2^-53 + 2^-53 = 2^-52 in partial 1 is kept.
        let tiny = 2.0_f64.powi(-53);
        let lost = |i| {
            if i == 0 {
                1.0
            } else if i % 64 == 0 {
                tiny
            } else {
                0.0
            }
        };
        assert_eq!(sum(129, lost), 1.0);
        let kept = |i| {
            if i == 0 {
                1.0
            } else if i % 64 == 1 {
                tiny
            } else {
                0.0
            }
        };
        assert_eq!(sum(129, kept), 1.0 + 2.0 * tiny);
    }

    #[test]
    fn chunks_are_combined_by_the_same_rule() {
        // Chunk 0 holds 1, chunks 1 and 65 hold 2^-53: partial 1 of the second level adds them.
        let tiny = 2.0_f64.powi(-53);
        let element = |i| match i {
            0 => 1.0,
            i if i == CHUNK || i == 65 * CHUNK => tiny,
            _ => 0.0,
        };
        assert_eq!(sum(66 * CHUNK, element), 1.0 + 2.0 * tiny);
    }

    #[test]
    fn statistics_of_small_sets() {
        let values = [2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0];
        assert_eq!(mean(8, |i| values[i]), 5.0);
        assert_eq!(variance(8, 0, |i| values[i]), 4.0);
        assert_eq!(variance(8, 1, |i| values[i]), 32.0 / 7.0);
        assert_eq!(norm(2, |i| [3.0, 4.0][i]), 5.0);
        assert_eq!(product(5, |i| (i + 1) as f64), 120.0);
        assert_eq!(magnitudes(2, |i| [3.0, -4.0][i]), 7.0);
        assert!(variance(2, 2, |i| values[i]).is_nan());
    }

    #[test]
    fn a_nan_counts_as_absent() {
        let values = [f64::NAN, 2.0, 4.0, f64::NAN];
        let element = |i: usize| values[i];
        assert_eq!(present(4, element), 2);
        assert_eq!(sum_present(4, element), 6.0);
        assert_eq!(product_present(4, element), 8.0);
        assert_eq!(mean_present(4, element), 3.0);
        assert_eq!(variance_present(4, 1, element), 2.0);
        assert!(mean_present(1, element).is_nan());
    }
}
