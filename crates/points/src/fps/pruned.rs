//! The definition's samples with nearly all of the distances left out.
//!
//! A group keeps the greatest least distance M among its points. A sample c passes it by where the
//! bound B of its box is M or more: B is the expression of the squared distance with g = max(low - c,
//! c - high, 0) in place of each difference. *B is never above the computed distance of a point p of
//! the box*: exactly, |p - c| >= g on every axis; rounding is monotone and symmetric in the sign, so that
//! the computed |p - c| is at least the computed g; products and sums of numbers that are not
//! negative, rounded in the same order, are monotone too. So nothing would change in the group, and no
//! margin is needed.
//!
//! Two things are left out on purpose. Threads: a sample of the Stanford dragon takes 2 us, and a
//! region of threads costs 1 to 4. Stopping at the first axis that is far enough: 32 points are computed side
//! by side, and a branch for each would end that.

use super::groups::{BLOCK, Boxes, GROUP, Groups, STALE};
use super::{Counts, Plan, Samples, definition};
use crate::{Cloud, Coordinate};
use rung_lanes::{Lanes, Level, Workers};
use std::ops::Range;

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
                    Some(place) if self.groups.least(place).to_f64() < plan.least => break,
                    Some(place) if self.groups.least(place) > T::ZERO => place,
                    Some(_) => {
                        self.rest(plan.count, &mut samples);
                        samples.covering = T::ZERO;
                        return (samples, self.counts);
                    }
                    None => break,
                },
            };
            let (m, index) = (self.groups.least(place), self.groups.index[place] as usize);
            samples.indices.push(index);
            samples.radii.push(m.sqrt());
            self.groups.choose(place);
            if m <= T::ZERO {
                self.groups.look_again(place);
            }
            let point = cloud.point(index);
            self.choose(std::array::from_fn(|axis| point[axis]));
            if samples.indices.len().is_multiple_of(MARK) {
                self.workers.mark(samples.indices.len() as f64 / plan.count as f64);
            }
        }
        samples.covering = self.farthest().map_or(T::ZERO, |place| self.groups.least(place).sqrt());
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
        let left = |place: &usize| self.groups.least(*place) >= T::ZERO;
        let places = (0..self.groups.index.len()).filter(left);
        let mut rest: Vec<usize> = places.map(|place| self.groups.index[place] as usize).collect();
        rest.sort_unstable();
        rest.truncate(count - samples.indices.len());
        samples.radii.resize(samples.radii.len() + rest.len(), T::ZERO);
        samples.indices.append(&mut rest);
    }

    /// The place of the next sample: the greatest least distance, of several the lowest number.
    fn farthest(&mut self) -> Option<usize> {
        let Groups { groups, blocks, regions, rows, index } = &mut self.groups;
        let greatest = greatest_of(&regions.greatest);
        if greatest < T::ZERO {
            return None;
        }
        let all = 0..regions.greatest.len();
        Some(best_of(&mut [regions, blocks, groups], rows, index, all, greatest) as usize)
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
    for first in (0..all.regions.greatest.len()).step_by(GROUP) {
        counts.tests += GROUP as u64;
        for region in near(&all.regions, first, c) {
            let mut changed = false;
            counts.tests += GROUP as u64;
            for block in near(&all.blocks, region * GROUP, c) {
                changed |= choose_in(all, block, c, counts);
            }
            if changed {
                update(&mut all.regions, region, &all.blocks);
            }
        }
    }
}

/// Whether anything in the block changed.
#[inline(always)]
fn choose_in<T: Coordinate, const D: usize>(
    all: &mut Groups<T, D>,
    block: usize,
    c: [T; D],
    counts: &mut Counts,
) -> bool {
    counts.tests += GROUP as u64;
    let mut visited = 0;
    for group in near(&all.groups, block * GROUP, c) {
        all.groups.greatest[group] =
            visit(&mut all.rows[group * (D + 1) * GROUP..][..(D + 1) * GROUP], c);
        all.groups.best[group] = STALE;
        visited += 1;
    }
    counts.distances += visited * GROUP as u64;
    if visited > 0 {
        update(&mut all.blocks, block, &all.groups);
    }
    visited > 0
}

/// What a box knows of those in it.
#[inline(always)]
fn update<T: Coordinate, const D: usize>(outer: &mut Boxes<T, D>, at: usize, inner: &Boxes<T, D>) {
    outer.greatest[at] = greatest_of(&inner.greatest[at * GROUP..(at + 1) * GROUP]);
    outer.best[at] = STALE;
}

/// Which of the 32 boxes from `first` on may hold a point to which the sample is nearer than those
/// before it.
#[inline(always)]
fn near<T: Coordinate, const D: usize>(
    boxes: &Boxes<T, D>,
    first: usize,
    c: [T; D],
) -> impl Iterator<Item = usize> + use<T, D> {
    let bounds = boxes.bounds(first, c);
    let greatest = &boxes.greatest[first..first + GROUP];
    let mut found = 0u32;
    for i in 0..GROUP {
        found |= if bounds[i] < greatest[i] { 1 << i } else { 0 };
    }
    std::iter::from_fn(move || {
        let next = found.trailing_zeros() as usize;
        found &= found.wrapping_sub(1);
        (next < GROUP).then_some(first + next)
    })
}

/// The least distances of a group's points after the sample, and the greatest of them.
#[inline(always)]
fn visit<T: Coordinate, const D: usize>(rows: &mut [T], c: [T; D]) -> T {
    let (axes, least) = rows.split_at_mut(D * GROUP);
    let mut distances = [T::ZERO; GROUP];
    for (axis, (x, &c)) in axes.chunks_exact(GROUP).zip(&c).enumerate() {
        for i in 0..GROUP {
            let d = x[i] - c;
            distances[i] = if axis == 0 { d * d } else { distances[i] + d * d };
        }
    }
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

/// The place with the lowest number of those in these boxes that have `greatest`: the boxes of the first
/// of the levels, of which each holds 32 of the next, and the last 32 points.
fn best_of<T: Coordinate, const D: usize>(
    levels: &mut [&mut Boxes<T, D>],
    rows: &[T],
    index: &[u32],
    boxes: Range<usize>,
    greatest: T,
) -> u32 {
    let Some((outer, inner)) = levels.split_first_mut() else {
        let least = &rows[(boxes.start / GROUP * (D + 1) + D) * GROUP..][..GROUP];
        let places = boxes.zip(least).filter(|(_, m)| **m == greatest).map(|(place, _)| place);
        return places.min_by_key(|&place| index[place]).map_or(STALE, |place| place as u32);
    };
    let mut best = STALE;
    for at in boxes.filter(|&at| outer.greatest[at] == greatest) {
        if outer.best[at] == STALE {
            let within = at * GROUP..(at + 1) * GROUP;
            outer.best[at] = best_of(inner, rows, index, within, greatest);
        }
        let place = outer.best[at];
        if best == STALE || index[place as usize] < index[best as usize] {
            best = place;
        }
    }
    best
}
