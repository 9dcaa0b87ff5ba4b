//! Points in groups of 32 that lie near one another, and groups in blocks of 32: each with its box,
//! and with the greatest least distance among its points.

use super::Plan;
use super::pruned::greatest_of;
use crate::{Cloud, Coordinate};
use rung_base::{Result, memory};
use rung_lanes::Lanes;
use std::sync::{Mutex, PoisonError};

/// Points of a group, and groups of a block.
pub const GROUP: usize = 32;
/// Points of a block.
pub const BLOCK: usize = GROUP * GROUP;

/// A point on its way to its group.
#[derive(Clone, Copy)]
struct Member<T, const D: usize> {
    at: [T; D],
    index: u32,
}

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
}

/// A best place that is not known.
pub const STALE: u32 = u32::MAX;

/// The cloud in the order of its groups, axis by axis.
pub struct Groups<T, const D: usize> {
    pub axes: [Vec<T>; D],
    /// The least squared distance to the samples.
    pub least: Vec<T>,
    /// The number in the cloud; places that fill up the last block have `u32::MAX`.
    pub index: Vec<u32>,
    pub groups: Boxes<T, D>,
    pub blocks: Boxes<T, D>,
}

/// Cuts the longest side of the box in half until at most `GROUP` points are left, at places where
/// blocks, then groups end.
fn halve<T: Coordinate, const D: usize>(members: &mut [Member<T, D>]) {
    if members.len() <= GROUP {
        return;
    }
    let axis = longest(members);
    let unit = if members.len() > BLOCK { BLOCK } else { GROUP };
    let middle = (members.len() / 2).next_multiple_of(unit);
    // Coordinates are numbers, and which of equal ones comes first is nobody's concern.
    let order = |a: &Member<T, D>, b: &Member<T, D>| {
        a.at[axis].partial_cmp(&b.at[axis]).unwrap_or(std::cmp::Ordering::Equal)
    };
    members.select_nth_unstable_by(middle, order);
    let (left, right) = members.split_at_mut(middle);
    halve(left);
    halve(right);
}

/// The axis on which the points lie farthest apart.
fn longest<T: Coordinate, const D: usize>(members: &[Member<T, D>]) -> usize {
    let mut low = members[0].at;
    let mut high = low;
    for member in members {
        for axis in 0..D {
            let x = member.at[axis];
            low[axis] = if x < low[axis] { x } else { low[axis] };
            high[axis] = if x > high[axis] { x } else { high[axis] };
        }
    }
    let side = |axis: usize| high[axis] - low[axis];
    (0..D).fold(0, |best, axis| if side(axis) > side(best) { axis } else { best })
}

/// Bits of a cell's number in the order of Morton: those of the axes take turns.
const CELL_BITS: u32 = 30;
/// Bits that one pass of the sort looks at.
const DIGIT: u32 = 10;

/// Points that are halved together: 64 KiB of f32, which stay in the second cache.
const RUN: usize = 4 * BLOCK;

/// The points that take part, first in the order of Morton's curve over cells of one size, in linear
/// time, then runs along the curve halved, whose groups are tighter: 4,096 samples of a scan's 437,645
/// points took 125 ms with everything halved, 59 with the curve alone (other work on the machine), which
/// left 0.28 and 0.36 % of the distances; both together leave 0.29 %. Cells with more points than a run
/// are halved whole: far outliers do no harm.
fn along_the_curve<T: Coordinate, const D: usize>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    plan: &Plan,
) -> Result<Vec<Member<T, D>>> {
    let wanted = || format!("the groups of {} points", cloud.len());
    let mut order: Vec<(u32, u32)> = memory::room(cloud.len(), wanted)?;
    let cells: Cells<T, D> = Cells::of(cloud);
    order.extend(
        cloud
            .points()
            .enumerate()
            .filter(|(i, _)| plan.takes_part(*i))
            .map(|(i, point)| (cells.number(point), i as u32)),
    );
    let mut other = memory::filled(order.len(), (0, 0), wanted)?;
    for digit in 0..CELL_BITS / DIGIT {
        pass(&order, &mut other, digit * DIGIT);
        std::mem::swap(&mut order, &mut other);
    }
    drop(other);
    let mut members = memory::room(order.len(), wanted)?;
    members.extend(order.iter().map(|&(_, index)| {
        let point = cloud.point(index as usize);
        Member { at: std::array::from_fn(|axis| point[axis]), index }
    }));
    let mut from = 0;
    for cell in order.chunk_by(|a, b| a.0 == b.0) {
        if cell.len() > RUN {
            halve(&mut members[from..from + cell.len()]);
        }
        from += cell.len();
    }
    let runs: Vec<Mutex<&mut [Member<T, D>]>> = members.chunks_mut(RUN).map(Mutex::new).collect();
    // Each run is one thread's alone.
    lanes.workers().run(runs.len(), &|run| {
        halve(&mut runs[run].lock().unwrap_or_else(PoisonError::into_inner));
    });
    drop(runs);
    Ok(members)
}

/// One pass of a sort by digits: equal ones keep their order.
fn pass(from: &[(u32, u32)], to: &mut [(u32, u32)], shift: u32) {
    const DIGITS: usize = 1 << DIGIT;
    let digit = |key: u32| (key >> shift) as usize % DIGITS;
    let mut starts = [0u32; DIGITS];
    from.iter().for_each(|(key, _)| starts[digit(*key)] += 1);
    let mut total = 0;
    for start in &mut starts {
        total += std::mem::replace(start, total);
    }
    for &pair in from {
        let place = &mut starts[digit(pair.0)];
        to[*place as usize] = pair;
        *place += 1;
    }
}

/// Cells of one size over a cloud's box.
struct Cells<T, const D: usize> {
    low: [T; D],
    /// Cells for each unit of length.
    scale: T,
    /// The bits of a number from 0 on, D places apart.
    spread: Vec<u32>,
}

impl<T: Coordinate, const D: usize> Cells<T, D> {
    const BITS: u32 = CELL_BITS / D as u32;

    fn of(cloud: &Cloud<T>) -> Cells<T, D> {
        let bounds = cloud.bounds();
        let side = bounds
            .iter()
            .fold(0.0, |most: f64, [low, high]| most.max(high.to_f64() - low.to_f64()));
        // With all 30 bits for one axis the table would take 4 GiB.
        let bits = Self::BITS.min(15);
        let scale = if side > 0.0 { f64::from(1u32 << bits) / side } else { 0.0 };
        // Beyond the type's range all points share a cell, which is halved.
        let scale = if T::of(scale).is_finite() { T::of(scale) } else { T::ZERO };
        let spread =
            |n: u32| (0..bits).fold(0, |all, bit| all | (n >> bit & 1) << (bit * D as u32));
        Cells {
            low: std::array::from_fn(|axis| bounds[axis][0]),
            scale,
            spread: (0..1u32 << bits).map(spread).collect(),
        }
    }

    #[inline(always)]
    fn number(&self, point: &[T]) -> u32 {
        let mut number = 0;
        for (axis, (&x, &low)) in point.iter().zip(&self.low).enumerate() {
            let at = ((x - low) * self.scale).to_f64() as usize;
            number |= self.spread[at.min(self.spread.len() - 1)] << axis;
        }
        number
    }
}

impl<T: Coordinate, const D: usize> Groups<T, D> {
    /// Of the points that take part.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(crate) fn new(lanes: &Lanes, cloud: &Cloud<T>, plan: &Plan) -> Result<Groups<T, D>> {
        let points = cloud.len();
        let wanted = || format!("the groups of {points} points");
        let members: Vec<Member<T, D>> = along_the_curve(lanes, cloud, plan)?;
        let places = members.len().next_multiple_of(BLOCK);
        let filled = |x: T| memory::filled(places, x, wanted);
        let last = members[members.len() - 1].at;
        let mut axes: [Vec<T>; D] = std::array::from_fn(|_| Vec::new());
        for (axis, all) in axes.iter_mut().enumerate() {
            *all = filled(last[axis])?;
            all.iter_mut().zip(&members).for_each(|(x, member)| *x = member.at[axis]);
        }
        let mut least = filled(T::GONE)?;
        least[..members.len()].fill(T::INFINITY);
        let mut index = memory::filled(places, u32::MAX, wanted)?;
        index.iter_mut().zip(&members).for_each(|(i, member)| *i = member.index);
        drop(members);
        let groups = Boxes::around(&axes, &axes, &least);
        let blocks = Boxes::around(&groups.low, &groups.high, &groups.greatest);
        Ok(Groups { axes, least, index, groups, blocks })
    }

    /// Finds what is left in the group of a start that lay on a sample already: no bound is below 0, so
    /// that its group may be passed by with the start still counted.
    pub(crate) fn look_again(&mut self, place: usize) {
        let group = place / GROUP;
        let block = group / GROUP;
        self.groups.greatest[group] = greatest_of(&self.least[group * GROUP..][..GROUP]);
        self.groups.best[group] = STALE;
        self.blocks.greatest[block] = greatest_of(&self.groups.greatest[block * GROUP..][..GROUP]);
        self.blocks.best[block] = STALE;
    }

    /// The memory that sampling takes; making the groups takes as much again for a moment.
    pub(crate) fn bytes(&self) -> u64 {
        let boxes = self.groups.best.len() + self.blocks.best.len();
        let floats = (D + 1) * self.least.len() + (2 * D + 1) * boxes;
        (floats * size_of::<T>() + (self.index.len() + boxes) * size_of::<u32>()) as u64
    }
}

impl<T: Coordinate, const D: usize> Boxes<T, D> {
    /// Around 32 at a time of what lies between these, filled up to 32 boxes with empty ones.
    fn around(low: &[Vec<T>; D], high: &[Vec<T>; D], least: &[T]) -> Boxes<T, D> {
        let fold = |all: &[T], better: fn(T, T) -> bool, fill: T| {
            let pick = |part: &[T]| {
                part.iter().fold(part[0], |best, &x| if better(x, best) { x } else { best })
            };
            let mut boxes: Vec<T> = all.chunks(GROUP).map(pick).collect();
            boxes.resize(boxes.len().next_multiple_of(GROUP), fill);
            boxes
        };
        let below = |a: T, b: T| a < b;
        let above = |a: T, b: T| a > b;
        let greatest = fold(least, above, T::GONE);
        Boxes {
            low: std::array::from_fn(|axis| fold(&low[axis], below, T::ZERO)),
            high: std::array::from_fn(|axis| fold(&high[axis], above, T::ZERO)),
            best: vec![STALE; greatest.len()],
            greatest,
        }
    }
}
