//! Normals of a cloud in space: for each point the direction in which its nearest points lie least far
//! apart, as the eigenvector of their covariance (Hoppe et al., "Surface reconstruction from unorganized
//! points", 1992), by Jacobi's rotations.

pub mod record;

use crate::near::Neighbour;
use crate::{Cloud, Coordinate};

/// Sweeps of rotations: after five the off-diagonal parts of 3 x 3 matrices are below rounding, and the
/// number is fixed, so that the bits are the same everywhere.
const SWEEPS: usize = 8;

/// The normal of the points at these places, of length 1, and the part of their spread that lies along
/// it, 0 on a plane, 1/3 where no direction stands out. Fewer than three points give (0, 0, 1) and 0.
pub(crate) fn normal<T: Coordinate>(cloud: &Cloud<T>, near: &[Neighbour<T>]) -> ([f64; 3], f64) {
    if near.len() < 3 {
        return ([0.0, 0.0, 1.0], 0.0);
    }
    let point = |index: u32| {
        let point = cloud.point(index as usize);
        [0, 1, 2].map(|axis| point[axis].to_f64())
    };
    let mut mean = [0.0; 3];
    for (_, index) in near {
        mean.iter_mut().zip(point(*index)).for_each(|(mean, x)| *mean += x);
    }
    mean.iter_mut().for_each(|x| *x /= near.len() as f64);
    let mut spread = [[0.0; 3]; 3];
    for (_, index) in near {
        let p = point(*index);
        let d: [f64; 3] = std::array::from_fn(|axis| p[axis] - mean[axis]);
        for (row, d_row) in spread.iter_mut().zip(d) {
            row.iter_mut().zip(d).for_each(|(sum, d_column)| *sum += d_row * d_column);
        }
    }
    let (values, vectors) = eigen(spread);
    let least = (1..3).fold(0, |best, i| if values[i] < values[best] { i } else { best });
    let total = values[0] + values[1] + values[2];
    let part = if total > 0.0 { (values[least] / total).max(0.0) } else { 0.0 };
    let direction = [0, 1, 2].map(|row: usize| vectors[row][least]);
    (towards_the_positive(direction), part)
}

/// The eigenvalues of a symmetric matrix, and its eigenvectors as columns.
fn eigen(mut a: [[f64; 3]; 3]) -> ([f64; 3], [[f64; 3]; 3]) {
    let mut v = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    for _ in 0..SWEEPS {
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let sign = if theta < 0.0 { -1.0 } else { 1.0 };
            let t = sign / (theta.abs() + (theta * theta + 1.0).sqrt());
            let c = 1.0 / (t * t + 1.0).sqrt();
            let s = t * c;
            for row in &mut a {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
            let (at_p, at_q) = (a[p], a[q]);
            for i in 0..3 {
                (a[p][i], a[q][i]) = (c * at_p[i] - s * at_q[i], s * at_p[i] + c * at_q[i]);
            }
            for row in &mut v {
                (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
            }
        }
    }
    ([a[0][0], a[1][1], a[2][2]], v)
}

/// Of the two directions of a line the one whose greatest component is positive; the first of several.
fn towards_the_positive(v: [f64; 3]) -> [f64; 3] {
    let greatest = (1..3).fold(0, |best, i| if v[i].abs() > v[best].abs() { i } else { best });
    if v[greatest] < 0.0 { v.map(|x| -x) } else { v }
}

/// Turned so that it points towards a place.
pub(crate) fn turned(normal: [f64; 3], from: [f64; 3], towards: [f64; 3]) -> [f64; 3] {
    let along: f64 = (0..3).map(|i| normal[i] * (towards[i] - from[i])).sum();
    if along < 0.0 { normal.map(|x| -x) } else { normal }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_of_a_tilted_plane_stands_upright_on_it() {
        // z = x + 2 y: the normal is (-1, -2, 1) / sqrt(6), turned to have +2/sqrt(6) in y.
        let cloud: Vec<f64> = (0..25)
            .flat_map(|i| {
                let (x, y) = (f64::from(i / 5), f64::from(i % 5));
                [x, y, x + 2.0 * y]
            })
            .collect();
        let cloud = Cloud::new(&cloud, 3).unwrap();
        let all: Vec<Neighbour<f64>> = (0..25).map(|i| (0.0, i)).collect();
        let (normal, part) = normal(&cloud, &all);
        let wanted = [1.0, 2.0, -1.0].map(|x: f64| x / 6f64.sqrt());
        assert!(normal.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-12), "{normal:?}");
        assert!(part < 1e-15);
        assert_eq!(turned(normal, [0.0; 3], [0.0, 0.0, 9.0]), normal.map(|x| -x));
    }

    #[test]
    fn points_without_a_direction_get_one_all_the_same() {
        let cloud = [1.0f32; 12];
        let cloud = Cloud::new(&cloud, 3).unwrap();
        let near: Vec<Neighbour<f32>> = (0..4).map(|i| (0.0, i)).collect();
        let (normal, part) = super::normal(&cloud, &near);
        assert_eq!((normal.map(f64::abs).iter().sum::<f64>(), part), (1.0, 0.0));
        assert_eq!(super::normal(&cloud, &near[..2]).0, [0.0, 0.0, 1.0]);
    }
}
