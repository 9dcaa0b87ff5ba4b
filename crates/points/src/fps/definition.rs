//! The definition: the plainest loop. It fixes the indices and the radii to the bit.

use super::{Counts, Plan, Samples};
use crate::{Cloud, Coordinate};

/// The squared distance of two points: every operation rounds once, from the first axis to the last.
#[inline(always)]
pub fn squared_distance<T: Coordinate>(p: &[T], c: &[T]) -> T {
    let mut sum = T::ZERO;
    for (axis, (&p, &c)) in p.iter().zip(c).enumerate() {
        let d = p - c;
        // The first square stands for itself: 0 + x is x, but for the sign of a zero that no square has.
        sum = if axis == 0 { d * d } else { sum + d * d };
    }
    sum
}

/// Samples as the definition has them: after each, every point keeps its least squared distance to the
/// samples; the next is the point with the greatest of these, the lowest of several. `mark` is told
/// how much is done.
pub(crate) fn run<T: Coordinate>(
    cloud: &Cloud<T>,
    plan: &Plan,
    mark: impl Fn(f64),
) -> (Samples<T>, Counts) {
    let points = cloud.len();
    let at_first = |i| if plan.takes_part(i) { T::INFINITY } else { T::GONE };
    let mut least: Vec<T> = (0..points).map(at_first).collect();
    let mut samples = Samples { indices: Vec::new(), radii: Vec::new(), covering: T::INFINITY };
    let mut counts = Counts { bytes: (points * size_of::<T>()) as u64, ..Counts::default() };
    while samples.indices.len() < plan.count {
        let next = match plan.start.get(samples.indices.len()) {
            Some(&start) => start,
            None => match farthest(&least) {
                Some(next) if least[next].to_f64() >= plan.least => next,
                _ => break,
            },
        };
        samples.indices.push(next);
        samples.radii.push(least[next].sqrt());
        least[next] = T::GONE;
        let chosen = cloud.point(next);
        for (least, point) in least.iter_mut().zip(cloud.points()) {
            let d = squared_distance(point, chosen);
            *least = if d < *least { d } else { *least };
        }
        counts.distances += points as u64;
        mark(samples.indices.len() as f64 / plan.count as f64);
    }
    samples.covering = farthest(&least).map_or(T::ZERO, |i| least[i].sqrt());
    (samples, counts)
}

/// The first of the greatest, of those that are not gone.
fn farthest<T: Coordinate>(least: &[T]) -> Option<usize> {
    let mut best: Option<usize> = None;
    for (i, &m) in least.iter().enumerate() {
        if m >= T::ZERO && best.is_none_or(|best| m > least[best]) {
            best = Some(i);
        }
    }
    best
}
