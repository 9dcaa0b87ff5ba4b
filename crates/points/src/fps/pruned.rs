//! The definition's samples with nearly all of the distances left out.
//!
//! A group keeps the greatest least distance M among its points. A sample c passes it by where the
//! bound B of its box is M or more: B is the expression of the squared distance with g = max(low - c,
//! c - high, 0) in place of each difference. *B is never above the computed distance of a point p of
//! the box*: exactly, |p - c| >= g on every axis; rounding is monotone and symmetric in the sign, so that
//! the computed |p - c| is at least the computed g; products and sums of numbers that are not
//! negative, rounded in the same order, are monotone too. So nothing would change in the group, and no
//! margin is needed.

use super::groups::{BLOCK, Boxes, GROUP, Groups, STALE};
use super::{Counts, Plan, Samples, definition};
use crate::{Cloud, Coordinate};
use rung_lanes::{Lanes, Level, Workers};

/// `definition::run` for D coordinates.
pub(crate) fn run<T: Coordinate, const D: usize>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    plan: &Plan,
) -> (Samples<T>, Counts) {
    // Places are numbered in 32 bits; and a cloud for whose groups there is no room may have room for
    // the plain loop.
    let groups = (cloud.len() < u32::MAX as usize - BLOCK)
        .then(|| Groups::<T, D>::new(lanes, cloud, plan).ok());
    match groups.flatten() {
        Some(groups) => {
            let counts = Counts { bytes: groups.bytes(), ..Counts::default() };
            Run { groups, level: lanes.level(), workers: lanes.workers(), counts }
                .samples(cloud, plan)
        }
        None => definition::run(cloud, plan, |done| lanes.workers().mark(done)),
    }
}

/// Samples between two marks of how far the work is: at most some milliseconds.
const MARK: usize = 64;

struct Run<'a, T, const D: usize> {
    groups: Groups<T, D>,
    level: Level,
    workers: &'a Workers,
    counts: Counts,
}

impl<T: Coordinate, const D: usize> Run<'_, T, D> {
    fn samples(mut self, cloud: &Cloud<T>, plan: &Plan) -> (Samples<T>, Counts) {
        let mut samples = Samples { indices: Vec::new(), radii: Vec::new(), covering: T::INFINITY };
        let starts = self.places(&plan.start);
        while samples.indices.len() < plan.count {
            let place = match starts.get(samples.indices.len()) {
                Some(&place) => place,
                None => match self.farthest() {
                    Some(place) if self.groups.least[place].to_f64() < plan.least => break,
                    Some(place) if self.groups.least[place] > T::ZERO => place,
                    Some(_) => {
                        self.rest(plan.count, &mut samples);
                        samples.covering = T::ZERO;
                        return (samples, self.counts);
                    }
                    None => break,
                },
            };
            let (m, index) = (self.groups.least[place], self.groups.index[place] as usize);
            samples.indices.push(index);
            samples.radii.push(m.sqrt());
            self.groups.least[place] = T::GONE;
            if m <= T::ZERO {
                self.groups.look_again(place);
            }
            let point = cloud.point(index);
            self.choose(std::array::from_fn(|axis| point[axis]));
            if samples.indices.len().is_multiple_of(MARK) {
                self.workers.mark(samples.indices.len() as f64 / plan.count as f64);
            }
        }
        samples.covering = self.farthest().map_or(T::ZERO, |place| self.groups.least[place].sqrt());
        (samples, self.counts)
    }

    /// Where the points of these numbers are.
    fn places(&self, numbers: &[usize]) -> Vec<usize> {
        let place = |number: &usize| self.groups.index.iter().position(|&i| i as usize == *number);
        // Every start takes part, so it has a place.
        numbers.iter().filter_map(place).collect()
    }

    /// All that is left lies on samples: it comes in its order.
    fn rest(&self, count: usize, samples: &mut Samples<T>) {
        let left = |place: &usize| self.groups.least[*place] >= T::ZERO;
        let places = (0..self.groups.least.len()).filter(left);
        let mut rest: Vec<usize> = places.map(|place| self.groups.index[place] as usize).collect();
        rest.sort_unstable();
        rest.truncate(count - samples.indices.len());
        samples.radii.resize(samples.radii.len() + rest.len(), T::ZERO);
        samples.indices.append(&mut rest);
    }

    /// The place of the next sample: the greatest least distance, of several the lowest number.
    fn farthest(&mut self) -> Option<usize> {
        let Groups { groups, blocks, least, index, .. } = &mut self.groups;
        let greatest = self.level.compiled(
            #[inline(always)]
            || greatest_of(&blocks.greatest),
        );
        if greatest < T::ZERO {
            return None;
        }
        let number = |place: u32| index[place as usize];
        let mut best = STALE;
        for block in 0..blocks.greatest.len() {
            if blocks.greatest[block] != greatest {
                continue;
            }
            if blocks.best[block] == STALE {
                blocks.best[block] = best_of_block(groups, least, index, block, greatest);
            }
            let place = blocks.best[block];
            if best == STALE || number(place) < number(best) {
                best = place;
            }
        }
        Some(best as usize)
    }

    /// Every point learns how far the sample is, but for those of boxes that are too far away.
    fn choose(&mut self, c: [T; D]) {
        let (level, groups, counts) = (self.level, &mut self.groups, &mut self.counts);
        level.compiled(
            #[inline(always)]
            || choose(groups, c, counts),
        );
    }
}

#[inline(always)]
fn choose<T: Coordinate, const D: usize>(all: &mut Groups<T, D>, c: [T; D], counts: &mut Counts) {
    let mut near_blocks = [0; GROUP];
    for first in (0..all.blocks.greatest.len()).step_by(GROUP) {
        let found = near(&all.blocks, first, c, &mut near_blocks);
        counts.tests += GROUP as u64;
        for &block in &near_blocks[..found] {
            choose_in(all, block, c, counts);
        }
    }
}

#[inline(always)]
fn choose_in<T: Coordinate, const D: usize>(
    all: &mut Groups<T, D>,
    block: usize,
    c: [T; D],
    counts: &mut Counts,
) {
    let mut near_groups = [0; GROUP];
    let first = block * GROUP;
    let found = near(&all.groups, first, c, &mut near_groups);
    counts.tests += GROUP as u64;
    for &group in &near_groups[..found] {
        let greatest = visit(&all.axes, &mut all.least, group * GROUP, c);
        all.groups.greatest[group] = greatest;
        all.groups.best[group] = STALE;
    }
    counts.distances += (found * GROUP) as u64;
    if found > 0 {
        all.blocks.greatest[block] = greatest_of(&all.groups.greatest[first..first + GROUP]);
        all.blocks.best[block] = STALE;
    }
}

/// Which of the 32 boxes from `first` on may hold a point to which the sample is nearer than those
/// before it.
#[inline(always)]
fn near<T: Coordinate, const D: usize>(
    boxes: &Boxes<T, D>,
    first: usize,
    c: [T; D],
    found: &mut [usize; GROUP],
) -> usize {
    let bounds = boxes.bounds(first, c);
    let greatest = &boxes.greatest[first..first + GROUP];
    let mut count = 0;
    for i in 0..GROUP {
        found[count] = first + i;
        count += usize::from(bounds[i] < greatest[i]);
    }
    count
}

/// The least distances of a group's points after the sample, and the greatest of them.
#[inline(always)]
fn visit<T: Coordinate, const D: usize>(
    axes: &[Vec<T>; D],
    least: &mut [T],
    first: usize,
    c: [T; D],
) -> T {
    let mut distances = [T::ZERO; GROUP];
    for (axis, (x, &c)) in axes.iter().zip(&c).enumerate() {
        let x = &x[first..first + GROUP];
        for i in 0..GROUP {
            let d = x[i] - c;
            distances[i] = if axis == 0 { d * d } else { distances[i] + d * d };
        }
    }
    let least = &mut least[first..first + GROUP];
    for i in 0..GROUP {
        least[i] = if distances[i] < least[i] { distances[i] } else { least[i] };
    }
    greatest_of(least)
}

/// Eight at a time: the compiler makes vectors of it, which it may not of one running maximum.
#[inline(always)]
pub(super) fn greatest_of<T: Coordinate>(all: &[T]) -> T {
    const ABREAST: usize = 8;
    let mut best = [T::GONE; ABREAST];
    for part in all.chunks_exact(ABREAST) {
        for i in 0..ABREAST {
            best[i] = if part[i] > best[i] { part[i] } else { best[i] };
        }
    }
    best.iter().fold(T::GONE, |best, &x| if x > best { x } else { best })
}

/// The place with the lowest number of those in a block that have `greatest`.
fn best_of_block<T: Coordinate, const D: usize>(
    groups: &mut Boxes<T, D>,
    least: &[T],
    index: &[u32],
    block: usize,
    greatest: T,
) -> u32 {
    let mut best = STALE;
    for group in block * GROUP..(block + 1) * GROUP {
        if groups.greatest[group] != greatest {
            continue;
        }
        if groups.best[group] == STALE {
            groups.best[group] = best_of_group(least, index, group, greatest);
        }
        let place = groups.best[group];
        if best == STALE || index[place as usize] < index[best as usize] {
            best = place;
        }
    }
    best
}

/// The same in a group.
fn best_of_group<T: Coordinate>(least: &[T], index: &[u32], group: usize, greatest: T) -> u32 {
    let places = (group * GROUP..(group + 1) * GROUP).filter(|&place| least[place] == greatest);
    places.min_by_key(|&place| index[place]).map_or(STALE, |place| place as u32)
}
