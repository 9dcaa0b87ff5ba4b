//! Points in groups of 32 that lie near one another, groups in blocks of 32, and blocks in regions of
//! 32: each with its box, and with the greatest least distance among its points.

use super::pruned::greatest_of;
use super::{Plan, curve};
use crate::{Cloud, Coordinate};
use rung_base::{Result, memory};
use rung_lanes::Lanes;
use std::sync::{Mutex, PoisonError};

/// Points of a group, groups of a block, and blocks of a region.
pub const GROUP: usize = 32;
/// Points of a block.
pub const BLOCK: usize = GROUP * GROUP;

/// The boxes of a level, axis by axis, and what is known of their points.
pub struct Boxes<T, const D: usize> {
    pub low: [Vec<T>; D],
    pub high: [Vec<T>; D],
    /// The greatest least distance among the points: `GONE` where none is left.
    pub greatest: Vec<T>,
    /// The lowest of the points that have it, by place; `STALE` until somebody looks.
    pub best: Vec<u32>,
}

impl<T: Coordinate, const D: usize> Boxes<T, D> {
    /// The squared bounds of a group of boxes: no point in one is nearer to `c`.
    #[inline(always)]
    pub fn bounds(&self, first: usize, c: [T; D]) -> [T; GROUP] {
        let mut bounds = [T::ZERO; GROUP];
        for (axis, &c) in c.iter().enumerate() {
            let low = &self.low[axis][first..first + GROUP];
            let high = &self.high[axis][first..first + GROUP];
            for i in 0..GROUP {
                let (below, above) = (low[i] - c, c - high[i]);
                let gap = if below > above { below } else { above };
                let gap = if gap > T::ZERO { gap } else { T::ZERO };
                bounds[i] = if axis == 0 { gap * gap } else { bounds[i] + gap * gap };
            }
        }
        bounds
    }

    /// So many empty ones.
    fn empty(count: usize, wanted: impl Fn() -> String) -> Result<Boxes<T, D>> {
        let mut boxes = Boxes {
            low: std::array::from_fn(|_| Vec::new()),
            high: std::array::from_fn(|_| Vec::new()),
            greatest: memory::filled(count, T::GONE, &wanted)?,
            best: memory::filled(count, STALE, &wanted)?,
        };
        for side in boxes.low.iter_mut().chain(&mut boxes.high) {
            *side = memory::filled(count, T::ZERO, &wanted)?;
        }
        Ok(boxes)
    }

    /// Around 32 at a time of these, filled up to 32 boxes with empty ones.
    fn around(inner: &Boxes<T, D>, wanted: impl Fn() -> String) -> Result<Boxes<T, D>> {
        let count = inner.greatest.len().div_ceil(GROUP);
        let mut boxes = Boxes::empty(count.next_multiple_of(GROUP), wanted)?;
        for i in 0..count {
            let part = i * GROUP..(i + 1) * GROUP;
            boxes.greatest[i] = greatest_of(&inner.greatest[part.clone()]);
            // An empty box lies somewhere: only those with points count.
            let filled = part.clone().take_while(|&j| inner.greatest[j] >= T::ZERO).count();
            let filled = i * GROUP..i * GROUP + filled.max(1);
            for axis in 0..D {
                boxes.low[axis][i] = least_of(&inner.low[axis][filled.clone()]);
                boxes.high[axis][i] = most_of(&inner.high[axis][filled.clone()]);
            }
        }
        Ok(boxes)
    }
}

/// A best place that is not known.
pub const STALE: u32 = u32::MAX;

/// The cloud in the order of its groups.
pub struct Groups<T, const D: usize> {
    /// Of one group after the other the coordinates, axis by axis, then the least squared distances to
    /// the samples: a visit's memory lies in one place.
    pub rows: Vec<T>,
    /// The number in the cloud; places that fill up the last block have `u32::MAX`.
    pub index: Vec<u32>,
    pub groups: Boxes<T, D>,
    pub blocks: Boxes<T, D>,
    pub regions: Boxes<T, D>,
}

impl<T: Coordinate, const D: usize> Groups<T, D> {
    /// Of the points that take part, of which there is one.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(crate) fn new(lanes: &Lanes, cloud: &Cloud<T>, plan: &Plan) -> Result<Groups<T, D>> {
        let wanted = || format!("the groups of {} points", cloud.len());
        let order = curve::along::<T, D>(lanes, cloud, plan)?;
        let places = order.len().next_multiple_of(BLOCK);
        let mut rows = memory::filled(places * (D + 1), T::ZERO, wanted)?;
        let mut index = memory::filled(places, u32::MAX, wanted)?;
        let mut groups = Boxes::empty(places / GROUP, wanted)?;
        let parts = Part::all(&mut rows, &mut index, &mut groups);
        lanes.workers().run(parts.len(), &|block| {
            let mut part = parts[block].lock().unwrap_or_else(PoisonError::into_inner);
            let end = order.len().min((block + 1) * BLOCK);
            lanes.level().compiled(
                #[inline(always)]
                || part.fill(cloud, &order[block * BLOCK..end]),
            );
        });
        drop(parts);
        let blocks = Boxes::around(&groups, wanted)?;
        let regions = Boxes::around(&blocks, wanted)?;
        Ok(Groups { rows, index, groups, blocks, regions })
    }

    /// A group's coordinates on an axis; as of axis D its least distances.
    #[inline(always)]
    pub fn row(&self, group: usize, axis: usize) -> &[T] {
        &self.rows[(group * (D + 1) + axis) * GROUP..][..GROUP]
    }

    /// The least distance of the point at a place.
    pub fn least(&self, place: usize) -> T {
        self.row(place / GROUP, D)[place % GROUP]
    }

    /// Says that the point at a place is chosen.
    pub fn choose(&mut self, place: usize) {
        self.rows[(place / GROUP * (D + 1) + D) * GROUP + place % GROUP] = T::GONE;
    }

    /// Finds what is left in the group of a start that lay on a sample already: no bound is below 0, so
    /// that its group may be passed by with the start still counted.
    pub(crate) fn look_again(&mut self, place: usize) {
        let group = place / GROUP;
        self.groups.greatest[group] = greatest_of(self.row(group, D));
        self.groups.best[group] = STALE;
        let mut inner = &self.groups;
        let mut at = group;
        for outer in [&mut self.blocks, &mut self.regions] {
            at /= GROUP;
            outer.greatest[at] = greatest_of(&inner.greatest[at * GROUP..][..GROUP]);
            outer.best[at] = STALE;
            inner = outer;
        }
    }

    /// The memory that sampling takes; making the groups takes as much again for a moment.
    pub(crate) fn bytes(&self) -> u64 {
        let boxes = [&self.groups, &self.blocks, &self.regions].map(|boxes| boxes.best.len());
        let boxes: usize = boxes.iter().sum();
        let floats = self.rows.len() + (2 * D + 1) * boxes;
        (floats * size_of::<T>() + (self.index.len() + boxes) * size_of::<u32>()) as u64
    }
}

/// The places of a block, which one thread fills.
struct Part<'a, T, const D: usize> {
    rows: &'a mut [T],
    index: &'a mut [u32],
    low: [&'a mut [T]; D],
    high: [&'a mut [T]; D],
    greatest: &'a mut [T],
}

impl<'a, T: Coordinate, const D: usize> Part<'a, T, D> {
    fn all(
        rows: &'a mut [T],
        index: &'a mut [u32],
        groups: &'a mut Boxes<T, D>,
    ) -> Vec<Mutex<Part<'a, T, D>>> {
        let mut low = groups.low.each_mut().map(|side| side.chunks_mut(GROUP));
        let mut high = groups.high.each_mut().map(|side| side.chunks_mut(GROUP));
        let greatest = groups.greatest.chunks_mut(GROUP);
        let blocks = rows.chunks_mut(BLOCK * (D + 1)).zip(index.chunks_mut(BLOCK)).zip(greatest);
        let part = |((rows, index), greatest)| {
            // All have a part for each block.
            let low = low.each_mut().map(|parts| parts.next().unwrap_or_default());
            let high = high.each_mut().map(|parts| parts.next().unwrap_or_default());
            Mutex::new(Part { rows, index, low, high, greatest })
        };
        blocks.map(part).collect()
    }

    /// With the points of these numbers; what is left over of a group lies on its last.
    #[inline(always)]
    fn fill(&mut self, cloud: &Cloud<T>, order: &[u32]) {
        self.index[..order.len()].copy_from_slice(order);
        let rows = self.rows.chunks_exact_mut(GROUP * (D + 1));
        for (group, row) in rows.enumerate() {
            let numbers = order.chunks(GROUP).nth(group).unwrap_or_default();
            row[D * GROUP..].fill(T::GONE);
            row[D * GROUP..][..numbers.len()].fill(T::INFINITY);
            let Some(&last) = numbers.last() else { continue };
            for (place, &index) in
                numbers.iter().chain(std::iter::repeat(&last)).take(GROUP).enumerate()
            {
                let point = cloud.point(index as usize);
                for axis in 0..D {
                    row[axis * GROUP + place] = point[axis];
                }
            }
            self.greatest[group] = T::INFINITY;
            for (axis, x) in row.chunks_exact(GROUP).take(D).enumerate() {
                self.low[axis][group] = least_of(x);
                self.high[axis][group] = most_of(x);
            }
        }
    }
}

/// Of at least one; eight at a time, as `greatest_of`.
#[inline(always)]
fn least_of<T: Coordinate>(all: &[T]) -> T {
    extreme(
        all,
        #[inline(always)]
        |a, b| a < b,
    )
}

/// The same of the greatest.
#[inline(always)]
fn most_of<T: Coordinate>(all: &[T]) -> T {
    extreme(
        all,
        #[inline(always)]
        |a, b| a > b,
    )
}

#[inline(always)]
fn extreme<T: Coordinate>(all: &[T], better: impl Fn(T, T) -> bool) -> T {
    const ABREAST: usize = 8;
    let mut best = [all[0]; ABREAST];
    let parts = all.chunks_exact(ABREAST);
    let rest = parts.remainder();
    for part in parts {
        for i in 0..ABREAST {
            best[i] = if better(part[i], best[i]) { part[i] } else { best[i] };
        }
    }
    let all = best.iter().chain(rest);
    all.fold(best[0], |best, &x| if better(x, best) { x } else { best })
}
