//! A cloud with one point for each voxel of a grid: the mean of the points in it.

pub mod record;

use crate::{Cloud, Coordinate};
use rung_base::{Error, ErrorKind, Result, memory};
use std::collections::HashMap;

/// The most cells of an axis: places are whole numbers that f64 holds with room to spare.
const MOST_CELLS: f64 = 2_147_483_648.0;

/// What is left of a cloud.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinned<T> {
    /// The means, one after the other, in the order of each voxel's first point.
    pub points: Vec<T>,
    /// How many points each stands for.
    pub counts: Vec<i64>,
    /// For each point of the cloud the row of its mean.
    pub voxels: Vec<i64>,
}

/// An error where cells of this edge are too many to be numbered.
pub(crate) fn check<T: Coordinate>(cloud: &Cloud<T>, edge: f64) -> Result<()> {
    let sides = cloud.bounds().into_iter().map(|[low, high]| high.to_f64() - low.to_f64());
    let longest = sides.fold(0.0, f64::max);
    if longest / edge < MOST_CELLS {
        return Ok(());
    }
    let least = longest / MOST_CELLS;
    let text = format!("edge must be above {least:e}, or an axis has more than 2^31 voxels");
    Err(Error::wanted(ErrorKind::Argument, text, edge))
}

/// The definition: the voxel of a point is floor((x - low) / edge) on every axis, where low is the
/// cloud's least coordinate, in f64; the mean of a voxel is the sum of its points in their order, in
/// f64, divided by their count and rounded once.
///
/// # Errors
/// No memory for the voxels.
pub(crate) fn thin<T: Coordinate>(cloud: &Cloud<T>, edge: f64) -> Result<Thinned<T>> {
    let dimension = cloud.dimension();
    let low: Vec<f64> = cloud.bounds().iter().map(|[low, _]| low.to_f64()).collect();
    let mut rows: HashMap<Box<[u32]>, usize> = HashMap::new();
    let mut sums: Vec<f64> = Vec::new();
    let mut counts: Vec<i64> = Vec::new();
    let mut voxels = memory::room(cloud.len(), || format!("the voxels of {} points", cloud.len()))?;
    let mut cell = vec![0; dimension];
    for point in cloud.points() {
        for ((cell, x), low) in cell.iter_mut().zip(point).zip(&low) {
            *cell = ((x.to_f64() - low) / edge).floor() as u32;
        }
        let row = match rows.get(&cell[..]) {
            Some(row) => *row,
            None => {
                let row = counts.len();
                rows.insert(cell.clone().into(), row);
                sums.resize(sums.len() + dimension, 0.0);
                counts.push(0);
                row
            }
        };
        let sum = &mut sums[row * dimension..][..dimension];
        sum.iter_mut().zip(point).for_each(|(sum, x)| *sum += x.to_f64());
        counts[row] += 1;
        voxels.push(row as i64);
    }
    let means = sums.chunks_exact(dimension).zip(&counts);
    let points = means.flat_map(|(sum, n)| sum.iter().map(|x| T::of(x / *n as f64))).collect();
    Ok(Thinned { points, counts, voxels })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_a_voxel_become_their_mean_in_the_order_of_their_first() {
        let cloud = [5.0, 0.0, 0.2, 0.0, 5.5, 1.0, 0.4, 0.5f32];
        let cloud = Cloud::new(&cloud, 2).unwrap();
        let thinned = thin(&cloud, 2.0).unwrap();
        assert_eq!(thinned.points, [5.25, 0.5, 0.3, 0.25]);
        assert_eq!((&thinned.counts[..], &thinned.voxels[..]), (&[2, 2][..], &[0, 1, 0, 1][..]));
        assert!(check(&cloud, 1e-12).is_err() && check(&cloud, 1e-6).is_ok());
        assert_eq!(thin(&Cloud::<f64>::new(&[], 3).unwrap(), 1.0).unwrap().counts, [0i64; 0]);
    }
}
