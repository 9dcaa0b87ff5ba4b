//! The nearest points of a cloud, and those within a radius, exactly: of each query the points in order
//! of distance, of equal distance in order of index.
//!
//! The definition looks at every point. On the lanes the groups of `fps` leave out nearly all: a box
//! whose bound is above the worst distance that is kept holds nothing better (the bound is never above a
//! computed distance, see `fps::pruned`); one whose bound equals it may hold a lower index and is visited.

pub mod record;

use crate::fps::definition::squared_distance;
use crate::fps::groups::{Boxes, GROUP, Groups};
use crate::fps::{Plan, groups::BLOCK};
use crate::{Cloud, Coordinate};
use rung_base::Result;
use rung_lanes::Lanes;
use std::sync::{Mutex, PoisonError};

/// Queries that one piece of work answers.
const PIECE: usize = 64;
/// Points from which groups are worth making. Not tuned.
const FEW: usize = 2_000;

/// What a query asks for.
#[derive(Clone, Copy, Debug)]
pub enum Limit {
    /// So many points.
    Count(usize),
    /// All whose squared distance is at most this.
    Squared(f64),
}

/// A squared distance and the index of its point.
pub type Neighbour<T> = (T, u32);

/// The neighbours of one query while they are found: ascending by distance, then index.
struct Kept<T> {
    all: Vec<Neighbour<T>>,
    limit: Limit,
}

impl<T: Coordinate> Kept<T> {
    /// The distance above which nothing is kept any more.
    fn worst(&self) -> T {
        match self.limit {
            Limit::Count(count) if self.all.len() < count => T::INFINITY,
            Limit::Count(_) => self.all.last().map_or(T::INFINITY, |last| last.0),
            Limit::Squared(most) => T::of(most),
        }
    }

    #[inline(always)]
    fn offer(&mut self, d: T, index: u32) {
        match self.limit {
            Limit::Squared(_) => self.all.push((d, index)),
            Limit::Count(count) => {
                let at = self.all.partition_point(|&(e, i)| e < d || (e == d && i < index));
                if at < count {
                    if self.all.len() == count {
                        self.all.pop();
                    }
                    self.all.insert(at, (d, index));
                }
            }
        }
    }

    fn finish(mut self) -> Vec<Neighbour<T>> {
        if let Limit::Squared(_) = self.limit {
            let order = |a: &Neighbour<T>, b: &Neighbour<T>| {
                a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal).then(a.1.cmp(&b.1))
            };
            self.all.sort_unstable_by(order);
        }
        self.all
    }
}

/// The neighbours of each query by the definition alone: every distance is looked at.
pub fn plainly<T: Coordinate>(
    cloud: &Cloud<T>,
    queries: &Cloud<T>,
    limit: Limit,
) -> Vec<Vec<Neighbour<T>>> {
    let of = |query: &[T]| {
        let mut kept = Kept { all: Vec::new(), limit };
        for (index, point) in cloud.points().enumerate() {
            let d = squared_distance(point, query);
            if d <= kept.worst() {
                kept.offer(d, index as u32);
            }
        }
        kept.finish()
    };
    queries.points().map(of).collect()
}

/// The same by way of groups, on all threads.
///
/// # Errors
/// No memory for the groups.
pub fn search<T: Coordinate>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    queries: &Cloud<T>,
    limit: Limit,
) -> Result<Vec<Vec<Neighbour<T>>>> {
    match cloud.dimension() {
        1 if cloud.len() >= FEW => grouped::<T, 1>(lanes, cloud, queries, limit),
        2 if cloud.len() >= FEW => grouped::<T, 2>(lanes, cloud, queries, limit),
        3 if cloud.len() >= FEW => grouped::<T, 3>(lanes, cloud, queries, limit),
        _ => Ok(in_pieces(lanes, queries, |queries| plainly(cloud, queries, limit))),
    }
}

/// The queries dealt out to the threads, some at a time.
fn in_pieces<T: Coordinate>(
    lanes: &Lanes,
    queries: &Cloud<T>,
    answer: impl Fn(&Cloud<T>) -> Vec<Vec<Neighbour<T>>> + Sync,
) -> Vec<Vec<Neighbour<T>>> {
    let pieces = queries.len().div_ceil(PIECE);
    let answers: Vec<Mutex<Vec<Vec<Neighbour<T>>>>> =
        (0..pieces).map(|_| Mutex::new(Vec::new())).collect();
    lanes.workers().run(pieces, &|piece| {
        let part = queries.part(piece * PIECE, PIECE);
        *answers[piece].lock().unwrap_or_else(PoisonError::into_inner) = answer(&part);
    });
    let taken = |all: Mutex<Vec<_>>| all.into_inner().unwrap_or_else(PoisonError::into_inner);
    answers.into_iter().flat_map(taken).collect()
}

fn grouped<T: Coordinate, const D: usize>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    queries: &Cloud<T>,
    limit: Limit,
) -> Result<Vec<Vec<Neighbour<T>>>> {
    // Places are numbered in 32 bits.
    if cloud.len() >= u32::MAX as usize - BLOCK {
        return Ok(in_pieces(lanes, queries, |queries| plainly(cloud, queries, limit)));
    }
    let plan = Plan { start: Vec::new(), count: 0, least: 0.0, mask: None };
    let groups = Groups::<T, D>::new(lanes, cloud, &plan)?;
    let level = lanes.level();
    Ok(in_pieces(lanes, queries, |queries| {
        level.compiled(
            #[inline(always)]
            || queries.points().map(|query| nearest_of(&groups, query, limit)).collect(),
        )
    }))
}

#[inline(always)]
fn nearest_of<T: Coordinate, const D: usize>(
    all: &Groups<T, D>,
    query: &[T],
    limit: Limit,
) -> Vec<Neighbour<T>> {
    let c: [T; D] = std::array::from_fn(|axis| query[axis]);
    let mut kept = Kept { all: Vec::new(), limit };
    // The nearest box first: what it holds leaves out most of the others.
    let first = nearest_box(&all.blocks, 0, all.blocks.greatest.len(), c);
    in_block(all, first, c, &mut kept);
    for begin in (0..all.blocks.greatest.len()).step_by(GROUP) {
        let bounds = all.blocks.bounds(begin, c);
        for (i, bound) in bounds.iter().enumerate() {
            let block = begin + i;
            if block != first && *bound <= kept.worst() && all.blocks.greatest[block] > T::ZERO {
                in_block(all, block, c, &mut kept);
            }
        }
    }
    kept.finish()
}

#[inline(always)]
fn in_block<T: Coordinate, const D: usize>(
    all: &Groups<T, D>,
    block: usize,
    c: [T; D],
    kept: &mut Kept<T>,
) {
    let begin = block * GROUP;
    let first = nearest_box(&all.groups, begin, begin + GROUP, c);
    in_group(all, first, c, kept);
    for (i, bound) in all.groups.bounds(begin, c).iter().enumerate() {
        let group = begin + i;
        if group != first && *bound <= kept.worst() && all.groups.greatest[group] > T::ZERO {
            in_group(all, group, c, kept);
        }
    }
}

#[inline(always)]
fn in_group<T: Coordinate, const D: usize>(
    all: &Groups<T, D>,
    group: usize,
    c: [T; D],
    kept: &mut Kept<T>,
) {
    let first = group * GROUP;
    let mut distances = [T::ZERO; GROUP];
    for (axis, &c) in c.iter().enumerate() {
        let x = all.row(group, axis);
        for i in 0..GROUP {
            let d = x[i] - c;
            distances[i] = if axis == 0 { d * d } else { distances[i] + d * d };
        }
    }
    for (i, &d) in distances.iter().enumerate() {
        // Places that fill up the last block are no points.
        let index = all.index[first + i];
        if d <= kept.worst() && index != u32::MAX {
            kept.offer(d, index);
        }
    }
}

/// Of the boxes in a range that hold points, the one with the least bound; the first of several.
#[inline(always)]
fn nearest_box<T: Coordinate, const D: usize>(
    boxes: &Boxes<T, D>,
    from: usize,
    to: usize,
    c: [T; D],
) -> usize {
    let (mut best, mut least) = (from, T::INFINITY);
    for first in (from..to).step_by(GROUP) {
        for (i, &bound) in boxes.bounds(first, c).iter().enumerate() {
            if bound < least && boxes.greatest[first + i] > T::ZERO {
                (best, least) = (first + i, bound);
            }
        }
    }
    best
}
