//! Points in groups of 32 that lie near one another, and groups in blocks of 32: each with its box,
//! and with the greatest least distance among its points.

use super::Plan;
use crate::{Cloud, Coordinate};
use rung_base::{Result, memory};

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

/// Cuts the longer side of the box in half until at most `GROUP` points are left, at places where
/// blocks, then groups end. Within a group the points stand in their order.
fn arrange<T: Coordinate, const D: usize>(members: &mut [Member<T, D>]) {
    if members.len() <= GROUP {
        members.sort_unstable_by_key(|member| member.index);
        return;
    }
    let axis = longest(members);
    let unit = if members.len() > BLOCK { BLOCK } else { GROUP };
    let middle = (members.len() / 2).next_multiple_of(unit);
    let order = |a: &Member<T, D>, b: &Member<T, D>| {
        // Coordinates are numbers: what is not below is above or equal. Ties by the index, so that the
        // groups do not depend on how the selection goes about it.
        let by_axis = a.at[axis].partial_cmp(&b.at[axis]);
        by_axis.unwrap_or(std::cmp::Ordering::Equal).then(a.index.cmp(&b.index))
    };
    members.select_nth_unstable_by(middle, order);
    let (left, right) = members.split_at_mut(middle);
    arrange(left);
    arrange(right);
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

impl<T: Coordinate, const D: usize> Groups<T, D> {
    /// Of the points that take part.
    ///
    /// # Errors
    /// Memory that is not there.
    pub(crate) fn new(cloud: &Cloud<T>, plan: &Plan) -> Result<Groups<T, D>> {
        let points = cloud.len();
        let wanted = || format!("the groups of {points} points");
        let mut members: Vec<Member<T, D>> = memory::room(points, wanted)?;
        members.extend(cloud.points().enumerate().filter(|(i, _)| plan.takes_part(*i)).map(
            |(i, point)| Member { at: std::array::from_fn(|axis| point[axis]), index: i as u32 },
        ));
        arrange(&mut members);
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
