//! Shapes, strides, axes and broadcasting.
//!
//! A shape is a list of extents; strides count elements, not bytes, and may be zero (a broadcast
//! axis) or negative (a reversed one). Sizes are 64-bit everywhere and every product of extents
//! is checked, so a shape that exists has a size.

use crate::error::{Error, ErrorKind, Result};
use smallvec::SmallVec;
use std::fmt;

/// Elements to step for one step along each axis.
pub type Strides = SmallVec<[isize; 4]>;

/// The extents of an array, outermost axis first; printed as Lisp prints a list: `(2 3)`.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct Shape(SmallVec<[usize; 4]>);

/// The most axes of an array, as NumPy 2 has it.
pub const MOST_AXES: usize = 64;

impl Shape {
    /// Fails when there are more than `MOST_AXES` axes, or the number of elements does not fit in 62
    /// bits.
    pub fn new(extents: impl IntoIterator<Item = usize>) -> Result<Shape> {
        let shape = Shape(extents.into_iter().collect());
        if shape.len() > MOST_AXES {
            let text = format!("an array has at most {MOST_AXES} axes: got {}", shape.len());
            return Err(Error::new(ErrorKind::Shape, text));
        }
        // Zero extents count as one here, so that any part of a shape has a size as well.
        let fits = shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d.max(1)));
        match fits {
            Some(n) if n < 1 << 62 => Ok(shape),
            _ => Err(Error::new(
                ErrorKind::Memory,
                format!("shape {shape} has more elements than can be addressed"),
            )),
        }
    }

    /// The shape of a number.
    pub fn scalar() -> Shape {
        Shape::default()
    }

    pub fn vector(n: usize) -> Shape {
        Shape(SmallVec::from_slice(&[n]))
    }

    pub fn matrix(rows: usize, columns: usize) -> Result<Shape> {
        Shape::new([rows, columns])
    }

    #[inline]
    pub fn rank(&self) -> usize {
        self.0.len()
    }

    /// The number of elements.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.iter().product()
    }

    /// Row-major strides.
    #[inline]
    pub fn strides(&self) -> Strides {
        let mut strides: Strides = smallvec::smallvec![1; self.rank()];
        for axis in (1..self.rank()).rev() {
            strides[axis - 1] = strides[axis] * self.0[axis].max(1) as isize;
        }
        strides
    }

    /// `axis` counts from 0, or from the end when negative.
    pub fn axis(&self, axis: i64) -> Result<usize> {
        let rank = self.rank() as i64;
        let from_start = if axis < 0 { axis + rank } else { axis };
        if (0..rank).contains(&from_start) {
            return Ok(from_start as usize);
        }
        Err(Error::new(
            ErrorKind::Axis,
            format!("axis out of range: {axis} of an array with {rank} axes, shape {self}"),
        ))
    }

    /// This shape without `axis`, or with it as extent 1.
    pub fn without(&self, axis: usize, keep: bool) -> Shape {
        let mut extents = self.0.clone();
        if keep {
            extents[axis] = 1;
        } else {
            extents.remove(axis);
        }
        Shape(extents)
    }

    /// numpy's rule: align trailing axes; extents are equal or one of them is 1.
    pub fn broadcast(&self, other: &Shape) -> Result<Shape> {
        if self == other {
            return Ok(self.clone());
        }
        let rank = self.rank().max(other.rank());
        let extent = |shape: &Shape, i: usize| {
            (i + shape.rank()).checked_sub(rank).map_or(1, |axis| shape.0[axis])
        };
        let mut extents = SmallVec::<[usize; 4]>::with_capacity(rank);
        for i in 0..rank {
            match (extent(self, i), extent(other, i)) {
                (a, b) if a == b => extents.push(a),
                (1, b) => extents.push(b),
                (a, 1) => extents.push(a),
                _ => return Err(mismatch(self, other)),
            }
        }
        Shape::new(extents)
    }

    /// The strides with which an array of this shape and `strides` is read at `to`: zero on the
    /// axes it is broadcast over. `to` must be a result of `broadcast` with this shape.
    pub fn broadcast_strides(&self, strides: &[isize], to: &Shape) -> Strides {
        let missing = to.rank() - self.rank();
        let mut result: Strides = smallvec::smallvec![0; to.rank()];
        for axis in 0..self.rank() {
            if self.0[axis] != 1 || to.0[axis + missing] == 1 {
                result[axis + missing] = strides[axis];
            }
        }
        result
    }
}

fn mismatch(a: &Shape, b: &Shape) -> Error {
    let e = Error::new(ErrorKind::Shape, format!("shape mismatch: {a} and {b}"));
    // A vector of row values beside a matrix is the usual slip: it needs a trailing axis.
    if a.rank() > b.rank() && b.rank() > 0 && a.0[..b.rank()] == b.0[..] {
        let extended: Vec<String> = b
            .iter()
            .map(ToString::to_string)
            .chain(vec!["1".into(); a.rank() - b.rank()])
            .collect();
        return e.hint(format!("reshaped to ({}) it would broadcast", extended.join(" ")));
    }
    e.hint("trailing extents must be equal or 1")
}

impl std::ops::Deref for Shape {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let extents: Vec<String> = self.iter().map(ToString::to_string).collect();
        write!(f, "({})", extents.join(" "))
    }
}

impl fmt::Debug for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(extents: &[usize]) -> Shape {
        Shape::new(extents.iter().copied()).unwrap()
    }

    #[test]
    fn broadcasting_follows_numpy() {
        let cases: [(&[usize], &[usize], &[usize]); 6] = [
            (&[2, 3], &[3], &[2, 3]),
            (&[2, 3], &[2, 1], &[2, 3]),
            (&[4, 1, 3], &[5, 1], &[4, 5, 3]),
            (&[], &[7], &[7]),
            (&[0, 3], &[1], &[0, 3]),
            (&[1], &[0], &[0]),
        ];
        for (a, b, want) in cases {
            assert_eq!(shape(a).broadcast(&shape(b)).unwrap(), shape(want));
            assert_eq!(shape(b).broadcast(&shape(a)).unwrap(), shape(want));
        }
        let e = shape(&[2, 3]).broadcast(&shape(&[2])).unwrap_err();
        assert_eq!(e.message(), "shape mismatch: (2 3) and (2)");
        assert_eq!(e.hint_text(), Some("reshaped to (2 1) it would broadcast"));
    }

    #[test]
    fn broadcast_axes_have_stride_zero() {
        let column = shape(&[4, 1]);
        assert_eq!(column.broadcast_strides(&column.strides(), &shape(&[2, 4, 3]))[..], [0, 1, 0]);
        assert_eq!(shape(&[4, 1]).broadcast_strides(&[1, 1], &shape(&[4, 1]))[..], [1, 1]);
    }

    #[test]
    fn sizes_that_overflow_are_refused_even_beside_a_zero() {
        assert_eq!(Shape::new([0, usize::MAX, 2]).unwrap_err().kind(), ErrorKind::Memory);
        assert_eq!(shape(&[0, 5]).size(), 0);
        assert_eq!(Shape::scalar().size(), 1);
        assert_eq!(shape(&[2, 0, 3]).strides()[..], [3, 3, 1]);
    }

    #[test]
    fn axes_count_from_either_end() {
        let s = shape(&[2, 3, 4]);
        assert_eq!(s.axis(-1).unwrap(), 2);
        assert_eq!(s.axis(0).unwrap(), 0);
        assert!(s.axis(3).unwrap_err().message().starts_with("axis out of range: 3 of an array"));
        assert_eq!(s.without(1, false), shape(&[2, 4]));
        assert_eq!(s.without(1, true), shape(&[2, 1, 4]));
    }
}
