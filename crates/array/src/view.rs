//! A borrowed, typed, strided look at an array's elements, and the order in which they are read.

use rung_base::{Element, Shape, Strides};

/// The elements of an array of type `T`: element (i, j, ...) is
/// `data[offset + i*strides[0] + j*strides[1] + ...]`. Every index so formed is in bounds.
#[derive(Clone, Copy)]
pub struct View<'a, T> {
    pub data: &'a [T],
    pub offset: usize,
    pub shape: &'a Shape,
    pub strides: &'a [isize],
}

impl<'a, T: Element> View<'a, T> {
    /// The elements in row-major order, when they lie so in memory.
    pub fn contiguous(&self) -> Option<&'a [T]> {
        match self.shape.size() {
            // A row of an array without columns may begin beyond the storage.
            0 => Some(&[]),
            n => is_row_major(self.shape, self.strides)
                .then(|| &self.data[self.offset..self.offset + n]),
        }
    }

    /// The element at a row-major position, which must be below the size.
    pub fn at(&self, position: usize) -> T {
        let (mut rest, mut at) = (position, self.offset as isize);
        for (&extent, &stride) in self.shape.iter().zip(self.strides).rev() {
            at += (rest % extent) as isize * stride;
            rest /= extent;
        }
        self.data[at as usize]
    }

    /// The elements in row-major order, one by one.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let data = self.data;
        Offsets::new(self.shape, self.strides, self.offset).map(move |at| data[at])
    }
}

/// True when the strides walk the elements of `shape` one after another. Axes of extent 1 have
/// no stride that matters, and an array without elements is row-major whatever its strides.
pub fn is_row_major(shape: &Shape, strides: &[isize]) -> bool {
    if shape.contains(&0) {
        return true;
    }
    let mut expected = 1;
    for (&extent, &stride) in shape.iter().zip(strides).rev() {
        if extent != 1 && stride != expected {
            return false;
        }
        expected *= extent as isize;
    }
    true
}

/// The offsets of a strided array's elements in row-major order.
pub struct Offsets {
    shape: Shape,
    strides: Strides,
    index: Strides,
    at: isize,
    left: usize,
}

impl Offsets {
    pub fn new(shape: &Shape, strides: &[isize], offset: usize) -> Offsets {
        Offsets {
            shape: shape.clone(),
            strides: Strides::from_slice(strides),
            index: smallvec::smallvec![0; shape.rank()],
            at: offset as isize,
            left: shape.size(),
        }
    }
}

impl Iterator for Offsets {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        self.left = self.left.checked_sub(1)?;
        let here = self.at as usize;
        for axis in (0..self.shape.rank()).rev() {
            self.index[axis] += 1;
            self.at += self.strides[axis];
            if self.index[axis] < self.shape[axis] as isize {
                break;
            }
            self.at -= self.strides[axis] * self.index[axis];
            self.index[axis] = 0;
        }
        Some(here)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl ExactSizeIterator for Offsets {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_walk_row_major_with_any_stride() {
        let shape = Shape::new([2, 3]).unwrap();
        let walk = |s: &[isize], o| Offsets::new(&shape, s, o).collect::<Vec<_>>();
        assert_eq!(walk(&[3, 1], 0), [0, 1, 2, 3, 4, 5]);
        assert_eq!(walk(&[1, 2], 0), [0, 2, 4, 1, 3, 5]);
        assert_eq!(walk(&[0, -1], 2), [2, 1, 0, 2, 1, 0]);
        assert_eq!(Offsets::new(&Shape::scalar(), &[], 4).collect::<Vec<_>>(), [4]);
        assert_eq!(Offsets::new(&Shape::new([3, 0]).unwrap(), &[0, 1], 0).count(), 0);
    }

    #[test]
    fn row_major_ignores_axes_of_extent_one() {
        let shape = Shape::new([2, 1, 3]).unwrap();
        assert!(is_row_major(&shape, &[3, 99, 1]));
        assert!(!is_row_major(&shape, &[1, 1, 2]));
        assert!(is_row_major(&Shape::new([0, 3]).unwrap(), &[7, 7]));
    }
}
