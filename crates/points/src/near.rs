//! The nearest points of a cloud, and those within a radius, exactly: of each query the points in order
//! of distance, of equal distance in order of index.
//!
//! The definition looks at every point. On the lanes the groups of `fps` leave out nearly all: a box
//! whose bound is above the worst distance that is kept holds nothing better (the bound is never above a
//! computed distance, see `fps::pruned`); one whose bound equals it may hold a lower index and is visited.

pub mod coverage;
pub mod record;

use crate::fps::definition::squared_distance;
use crate::fps::groups::{Boxes, GROUP, Groups};
use crate::fps::{Plan, groups::BLOCK};
use crate::{Cloud, Coordinate};
use rung_base::{Error, Result, memory};
use rung_lanes::Lanes;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// The neighbours of all queries, those of one after those of the one before it.
pub struct Found<T> {
    all: Vec<Neighbour<T>>,
    /// Where those of each query end.
    ends: Vec<usize>,
}

impl<T> Default for Found<T> {
    fn default() -> Found<T> {
        Found { all: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Found<T> {
    /// Those of all queries.
    pub fn all(&self) -> &[Neighbour<T>] {
        &self.all
    }

    /// Where those of each query end among all.
    pub fn ends(&self) -> &[usize] {
        &self.ends
    }

    /// Those of one query.
    pub fn of(&self, query: usize) -> &[Neighbour<T>] {
        let begin = query.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.all[begin..self.ends[query]]
    }
}

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

    /// Hands over what was found, and begins again.
    fn finish(&mut self, found: &mut Found<T>) {
        if let Limit::Squared(_) = self.limit {
            let order = |a: &Neighbour<T>, b: &Neighbour<T>| {
                a.0.partial_cmp(&b.0).unwrap_or(std::cmp::Ordering::Equal).then(a.1.cmp(&b.1))
            };
            self.all.sort_unstable_by(order);
        }
        found.all.append(&mut self.all);
        found.ends.push(found.all.len());
    }
}

/// The neighbours of each query by the definition alone: every distance is looked at.
///
/// # Errors
/// No memory for what is found.
pub fn plainly<T: Coordinate>(
    cloud: &Cloud<T>,
    queries: &Cloud<T>,
    limit: Limit,
) -> Result<Found<T>> {
    let piece = |piece: usize| look_at_all(cloud, &queries.part(piece * PIECE, PIECE), limit);
    let mut all = Pieces::new();
    for found in (0..queries.len().div_ceil(PIECE)).map(piece) {
        all.room(&found);
        all.found.push(found);
    }
    all.joined()
}

fn look_at_all<T: Coordinate>(cloud: &Cloud<T>, queries: &Cloud<T>, limit: Limit) -> Found<T> {
    let (mut found, mut kept) = (Found::default(), Kept { all: Vec::new(), limit });
    for query in queries.points() {
        for (index, point) in cloud.points().enumerate() {
            let d = squared_distance(point, query);
            if d <= kept.worst() {
                kept.offer(d, index as u32);
            }
        }
        kept.finish(&mut found);
    }
    found
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
) -> Result<Found<T>> {
    match cloud.dimension() {
        1 if cloud.len() >= FEW => grouped::<T, 1>(lanes, cloud, queries, limit),
        2 if cloud.len() >= FEW => grouped::<T, 2>(lanes, cloud, queries, limit),
        3 if cloud.len() >= FEW => grouped::<T, 3>(lanes, cloud, queries, limit),
        _ => in_pieces(lanes, queries, |queries| look_at_all(cloud, queries, limit)),
    }
}

/// What was found of some queries after the other.
struct Pieces<T> {
    found: Vec<Found<T>>,
    /// Neighbours so far.
    total: AtomicUsize,
    lack: Mutex<Option<Error>>,
}

impl<T> Pieces<T> {
    fn new() -> Pieces<T> {
        Pieces { found: Vec::new(), total: AtomicUsize::new(0), lack: Mutex::new(None) }
    }

    /// Whether there is room for what was found so far, once more as results. How much a radius finds
    /// nobody knows before.
    fn room(&self, found: &Found<T>) -> bool {
        let total = self.total.fetch_add(found.all.len(), Ordering::Relaxed) + found.all.len();
        let bytes = memory::bytes_of::<Neighbour<T>>(total).saturating_mul(2);
        let asked = memory::ask(bytes, || format!("{total} neighbours"));
        let is_there = asked.is_ok();
        if let Err(e) = asked {
            self.lack.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        }
        is_there
    }

    fn lacks(&self) -> bool {
        self.lack.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    fn joined(self) -> Result<Found<T>> {
        if let Some(e) = self.lack.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(e);
        }
        let total = self.total.into_inner();
        let queries = self.found.iter().map(|found| found.ends.len()).sum();
        let wanted = || format!("{total} neighbours");
        let mut all =
            Found { all: memory::room(total, wanted)?, ends: memory::room(queries, wanted)? };
        for mut found in self.found {
            let begin = all.all.len();
            all.ends.extend(found.ends.iter().map(|end| begin + end));
            all.all.append(&mut found.all);
        }
        Ok(all)
    }
}

/// The queries dealt out to the threads, some at a time.
fn in_pieces<T: Coordinate>(
    lanes: &Lanes,
    queries: &Cloud<T>,
    answer: impl Fn(&Cloud<T>) -> Found<T> + Sync,
) -> Result<Found<T>> {
    let pieces = queries.len().div_ceil(PIECE);
    let answers: Vec<Mutex<Found<T>>> = (0..pieces).map(|_| Mutex::default()).collect();
    let mut all = Pieces::new();
    lanes.workers().run(pieces, &|piece| {
        if all.lacks() {
            return;
        }
        let found = answer(&queries.part(piece * PIECE, PIECE));
        if all.room(&found) {
            *answers[piece].lock().unwrap_or_else(PoisonError::into_inner) = found;
        }
    });
    let taken = |found: Mutex<_>| found.into_inner().unwrap_or_else(PoisonError::into_inner);
    all.found = answers.into_iter().map(taken).collect();
    all.joined()
}

fn grouped<T: Coordinate, const D: usize>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    queries: &Cloud<T>,
    limit: Limit,
) -> Result<Found<T>> {
    // Places are numbered in 32 bits.
    if cloud.len() >= u32::MAX as usize - BLOCK {
        return in_pieces(lanes, queries, |queries| look_at_all(cloud, queries, limit));
    }
    let plan = Plan { start: Vec::new(), count: 0, least: 0.0, mask: None };
    let groups = Groups::<T, D>::new(lanes, cloud, &plan)?;
    let level = lanes.level();
    in_pieces(lanes, queries, |queries| {
        let (mut found, mut kept) = (Found::default(), Kept { all: Vec::new(), limit });
        level.compiled(
            #[inline(always)]
            || {
                for query in queries.points() {
                    nearest_of(&groups, query, &mut kept);
                    kept.finish(&mut found);
                }
            },
        );
        found
    })
}

#[inline(always)]
fn nearest_of<T: Coordinate, const D: usize>(all: &Groups<T, D>, query: &[T], kept: &mut Kept<T>) {
    let c: [T; D] = std::array::from_fn(|axis| query[axis]);
    // The nearest box first: what it holds leaves out most of the others.
    let first = nearest_box(&all.blocks, 0, all.blocks.greatest.len(), c);
    in_block(all, first, c, kept);
    for begin in (0..all.blocks.greatest.len()).step_by(GROUP) {
        let bounds = all.blocks.bounds(begin, c);
        for (i, bound) in bounds.iter().enumerate() {
            let block = begin + i;
            if block != first && *bound <= kept.worst() && all.blocks.greatest[block] > T::ZERO {
                in_block(all, block, c, kept);
            }
        }
    }
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
