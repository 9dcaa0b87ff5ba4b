//! Exact farthest point sampling: from N points the k that cover the cloud evenly, each the one
//! farthest from all that were chosen before.
//!
//! The definition is `definition::run`, some lines that say what the result is to the bit. `pruned::run`
//! gives the same result and leaves out nearly all of the distances, by bounds whose proofs stand
//! where they are used. Sources: Eldar et al., "The farthest point strategy" (1997); the bounds of
//! groups are in the spirit of QuickFPS (2023) and RadiusFPS (arXiv 2606.06255, 2026).

mod curve;
pub mod definition;
mod device;
pub mod groups;
pub mod pruned;
pub mod record;
#[cfg(test)]
mod tests;

use crate::{Cloud, Coordinate};
use rung_base::{Error, ErrorKind, Result, memory};
use rung_lanes::Lanes;

/// Points from which groups are made. Groups of 200 take as long as the definition where a quarter of them
/// is sampled, of 400 half as long, of 2,000 a tenth; few samples of 200 take a third longer.
const FEW: usize = 200;

/// What is asked for.
#[derive(Clone, Debug, Default)]
pub struct Wanted<'a> {
    /// How many samples, all points at most.
    pub count: usize,
    /// The samples that come first; empty: point 0.
    pub start: Vec<usize>,
    /// Ends before the first sample that is nearer than this to those before it.
    pub radius: Option<f64>,
    /// Which points take part; `None`: all.
    pub mask: Option<&'a [bool]>,
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples<T> {
    /// The points in the order of choice.
    pub indices: Vec<usize>,
    /// How far each was from those before it when it was chosen: infinity first, never rising after
    /// the given ones.
    pub radii: Vec<T>,
    /// No point is farther than this from the samples; 0 where all are chosen.
    pub covering: T,
}

/// What a run did, as counts that do not depend on the machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Squared distances between a point and a sample.
    pub distances: u64,
    /// Tests of a group's or a block's box.
    pub tests: u64,
    /// Memory beside the cloud and the results.
    pub bytes: u64,
}

/// The start and the mask, checked.
pub(crate) struct Plan<'a> {
    pub start: Vec<usize>,
    /// How many samples there will be at most.
    pub count: usize,
    /// The square of the radius, rounded to the type.
    pub least: f64,
    pub mask: Option<&'a [bool]>,
}

impl Plan<'_> {
    pub fn takes_part(&self, i: usize) -> bool {
        self.mask.is_none_or(|mask| mask[i])
    }
}

/// Chooses samples. The groups' lanes give the definition's indices and radii, with any number of
/// threads.
///
/// # Errors
/// No points but samples wanted; a start that is out of range, masked or given twice, or more of them
/// than samples; a mask of another length; a radius that is negative or NaN.
pub fn sample<T: Coordinate>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    wanted: &Wanted,
) -> Result<(Samples<T>, Counts)> {
    let plan = plan(cloud, wanted)?;
    Ok(match cloud.dimension() {
        _ if cloud.len() < FEW => definition::run(cloud, &plan, |done| lanes.workers().mark(done)),
        1 => pruned::run::<T, 1>(lanes, cloud, &plan),
        2 => pruned::run::<T, 2>(lanes, cloud, &plan),
        3 => pruned::run::<T, 3>(lanes, cloud, &plan),
        4 => pruned::run::<T, 4>(lanes, cloud, &plan),
        5..=8 => widened::<T, 8>(lanes, cloud, &plan),
        _ => widened::<T, 16>(lanes, cloud, &plan),
    })
}

/// Samples of a cloud to whose points zeros are added until they have D coordinates, for there are groups of
/// six widths, not of sixteen. The square of zero changes no sum of squares, so the bits are the
/// cloud's own.
fn widened<T: Coordinate, const D: usize>(
    lanes: &Lanes,
    cloud: &Cloud<T>,
    plan: &Plan,
) -> (Samples<T>, Counts) {
    if cloud.dimension() == D {
        return pruned::run::<T, D>(lanes, cloud, plan);
    }
    let plainly = || definition::run(cloud, plan, |done| lanes.workers().mark(done));
    let wanted = || format!("{} points of {D} coordinates", cloud.len());
    let Ok(mut wide) = memory::room(cloud.len() * D, wanted) else { return plainly() };
    for point in cloud.points() {
        wide.extend_from_slice(point);
        wide.resize(wide.len().next_multiple_of(D), T::ZERO);
    }
    match Cloud::new(&wide, D) {
        Ok(wide) => pruned::run::<T, D>(lanes, &wide, plan),
        Err(_) => plainly(),
    }
}

/// The same by the definition alone.
///
/// # Errors
/// Those of [`sample`].
pub fn sample_plainly<T: Coordinate>(
    cloud: &Cloud<T>,
    wanted: &Wanted,
) -> Result<(Samples<T>, Counts)> {
    let plan = plan(cloud, wanted)?;
    Ok(definition::run(cloud, &plan, |_| ()))
}

pub(crate) fn plan<'a, T: Coordinate>(cloud: &Cloud<T>, wanted: &Wanted<'a>) -> Result<Plan<'a>> {
    let (points, refuse) = (cloud.len(), |text: String| Err(Error::new(ErrorKind::Argument, text)));
    if let Some(mask) = wanted.mask.filter(|mask| mask.len() != points) {
        let text = format!("a mask of {points} points");
        return Err(Error::wanted(ErrorKind::Shape, text, mask.len()));
    }
    let there = wanted.mask.map_or(points, |mask| mask.iter().filter(|&&is_in| is_in).count());
    if there == 0 && wanted.count > 0 {
        return refuse("no points to choose from".into());
    }
    let least = match wanted.radius {
        Some(radius) if radius.is_nan() || radius < 0.0 => {
            return refuse(format!("radius must be 0 or more: got {radius}"));
        }
        radius => radius.map_or(0.0, |radius| (T::of(radius) * T::of(radius)).to_f64()),
    };
    let mut plan = Plan {
        start: wanted.start.clone(),
        count: wanted.count.min(there),
        least,
        mask: wanted.mask,
    };
    if plan.start.is_empty() && plan.count > 0 {
        plan.start.extend((0..points).find(|&i| plan.takes_part(i)));
    }
    if wanted.start.len() > wanted.count {
        return refuse(format!("{} starts for {} samples", wanted.start.len(), wanted.count));
    }
    let mut seen = std::collections::HashSet::new();
    for &start in &plan.start {
        if start >= points {
            return refuse(format!(
                "start must be below {points}, the number of points: got {start}"
            ));
        }
        if !plan.takes_part(start) {
            return refuse(format!("start {start} is masked"));
        }
        if !seen.insert(start) {
            return refuse(format!("start {start} is given twice"));
        }
    }
    Ok(plan)
}
