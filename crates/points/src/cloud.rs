//! A cloud of points, checked once.

use crate::Coordinate;
use rung_base::{Error, ErrorKind, Result};
use rung_lanes::Level;

/// The most coordinates of a point.
pub const MOST_DIMENSIONS: usize = 16;

/// N points of D coordinates each, one point after the other; every coordinate is finite, and so is
/// every squared distance.
#[derive(Clone, Copy, Debug)]
pub struct Cloud<'a, T> {
    coordinates: &'a [T],
    dimension: usize,
}

impl<'a, T: Coordinate> Cloud<'a, T> {
    /// `coordinates` holds the points one after the other.
    ///
    /// # Errors
    /// A dimension outside 1 to 16, coordinates that are not whole points, NaN or infinity (with their
    /// count and the first one's point), and an extent whose squared diagonal is beyond the type.
    pub fn new(coordinates: &'a [T], dimension: usize) -> Result<Cloud<'a, T>> {
        if dimension == 0 || dimension > MOST_DIMENSIONS {
            let wanted = format!("a point has 1 to {MOST_DIMENSIONS} coordinates");
            return Err(Error::wanted(ErrorKind::Shape, wanted, dimension));
        }
        if !coordinates.len().is_multiple_of(dimension) {
            let wanted = format!("points of {dimension} coordinates");
            return Err(Error::wanted(ErrorKind::Shape, wanted, coordinates.len()));
        }
        let cloud = Cloud { coordinates, dimension };
        cloud.check_finite()?;
        cloud.check_extent()?;
        Ok(cloud)
    }

    /// Coordinates that a cloud was made of before.
    pub(crate) fn checked(coordinates: &'a [T], dimension: usize) -> Cloud<'a, T> {
        Cloud { coordinates, dimension }
    }

    /// At most `count` points from one on.
    pub(crate) fn part(&self, first: usize, count: usize) -> Cloud<'a, T> {
        let end = (first + count).min(self.len());
        let coordinates = &self.coordinates[first * self.dimension..end * self.dimension];
        Cloud { coordinates, dimension: self.dimension }
    }

    /// How many points.
    pub fn len(&self) -> usize {
        self.coordinates.len() / self.dimension
    }

    /// Whether there is no point.
    pub fn is_empty(&self) -> bool {
        self.coordinates.is_empty()
    }

    /// How many coordinates a point has.
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The coordinates of point `i`.
    #[inline(always)]
    pub fn point(&self, i: usize) -> &'a [T] {
        &self.coordinates[i * self.dimension..(i + 1) * self.dimension]
    }

    /// The points in order.
    pub fn points(&self) -> std::slice::ChunksExact<'a, T> {
        self.coordinates.chunks_exact(self.dimension)
    }

    /// The least and the greatest coordinate on every axis; nothing of no points.
    pub fn bounds(&self) -> Vec<[T; 2]> {
        let mut points = self.points();
        let Some(first) = points.next() else { return Vec::new() };
        let mut bounds: Vec<[T; 2]> = first.iter().map(|&x| [x, x]).collect();
        for point in points {
            for ([low, high], &x) in bounds.iter_mut().zip(point) {
                *low = if x < *low { x } else { *low };
                *high = if x > *high { x } else { *high };
            }
        }
        bounds
    }

    /// The same of points of D coordinates that are not none, with a processor's vectors: 16 points
    /// abreast, of which each place of memory holds the same axis.
    pub(crate) fn bounds_of<const D: usize>(&self, level: Level) -> [[T; 2]; D] {
        level.compiled(
            #[inline(always)]
            || bounds_of(self.coordinates),
        )
    }

    fn check_finite(&self) -> Result<()> {
        let wrong = |x: &&T| !x.is_finite();
        let count = self.coordinates.iter().filter(wrong).count();
        match self.coordinates.iter().position(|x| !x.is_finite()) {
            None => Ok(()),
            Some(at) => {
                let first = at / self.dimension;
                let text =
                    format!("{count} coordinates are NaN or infinite, the first of point {first}");
                let hint = "leave those points out first; fps does it with nonfinite drop";
                Err(Error::new(ErrorKind::Argument, text).hint(hint))
            }
        }
    }

    fn check_extent(&self) -> Result<()> {
        let squared = self.bounds().iter().fold(T::ZERO, |sum, [low, high]| {
            let side = *high - *low;
            sum + side * side
        });
        if squared.is_finite() {
            return Ok(());
        }
        let text = "the square of the cloud's diagonal is beyond the element type";
        Err(Error::new(ErrorKind::Argument, text).hint("take f64, or scale the points"))
    }
}

#[inline(always)]
fn bounds_of<T: Coordinate, const D: usize>(coordinates: &[T]) -> [[T; 2]; D] {
    const ABREAST: usize = 16;
    let first: [T; D] = std::array::from_fn(|axis| coordinates[axis]);
    let (mut low, mut high) = ([first; ABREAST], [first; ABREAST]);
    let mut take = |place: usize, point: &[T]| {
        for axis in 0..D {
            let x = point[axis];
            low[place][axis] = if x < low[place][axis] { x } else { low[place][axis] };
            high[place][axis] = if x > high[place][axis] { x } else { high[place][axis] };
        }
    };
    let mut parts = coordinates.chunks_exact(D * ABREAST);
    for part in &mut parts {
        for place in 0..ABREAST {
            take(place, &part[place * D..(place + 1) * D]);
        }
    }
    parts.remainder().chunks_exact(D).for_each(|point| take(0, point));
    std::array::from_fn(|axis| {
        let [mut least, mut most] = [first[axis]; 2];
        for place in 0..ABREAST {
            least = if low[place][axis] < least { low[place][axis] } else { least };
            most = if high[place][axis] > most { high[place][axis] } else { most };
        }
        [least, most]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message<T: Coordinate>(coordinates: &[T], dimension: usize) -> String {
        Cloud::new(coordinates, dimension).unwrap_err().message().to_string()
    }

    #[test]
    fn what_is_no_cloud_is_said() {
        assert_eq!(message(&[1.0f32; 7], 3), "points of 3 coordinates: got 7");
        assert_eq!(message(&[1.0f32; 7], 0), "a point has 1 to 16 coordinates: got 0");
        assert_eq!(
            message(&[0.0, 1.0, 2.0, f64::NAN, f64::INFINITY, 0.0], 3),
            "2 coordinates are NaN or infinite, the first of point 1"
        );
        let far = [0.0f32, 0.0, 3e19, 0.0];
        assert!(message(&far, 2).contains("beyond the element type"));
        assert!(Cloud::new(&far.map(f64::from), 2).is_ok());
    }

    #[test]
    fn bounds_are_those_of_every_axis() {
        let cloud = Cloud::new(&[1.0, 5.0, -2.0, 7.0f64], 2).unwrap();
        assert_eq!(cloud.bounds(), [[-2.0, 1.0], [5.0, 7.0]]);
        assert!(Cloud::<f32>::new(&[], 3).unwrap().bounds().is_empty());
    }
}
