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
    #[inline]
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

    /// Writes the elements into `out` in row-major order. The innermost axis is a plain loop, and
    /// where another axis is the one whose elements lie side by side, squares of 16 by 16 are
    /// turned, so that a cache line is read once for all its elements.
    pub fn copy_to(&self, out: &mut [T]) {
        let rank = self.shape.rank();
        if rank == 0 || self.shape.contains(&0) {
            return out.iter_mut().zip(self.iter()).for_each(|(o, x)| *o = x);
        }
        let columns = self.shape[rank - 1];
        let step = self.strides[rank - 1];
        let turned = rank > 1 && step.unsigned_abs() > 1 && self.strides[rank - 2] == 1;
        let rows = if turned { self.shape[rank - 2] } else { 1 };
        let outer = rank - if turned { 2 } else { 1 };
        let shape = Shape::new(self.shape[..outer].iter().copied()).ok();
        let Some(shape) = shape.filter(|_| out.len() == self.shape.size()) else { return };
        let starts = Offsets::new(&shape, &self.strides[..outer], self.offset);
        for (start, plane) in starts.zip(out.chunks_exact_mut(rows * columns)) {
            match turned {
                true => self.turn(start, step, rows, columns, plane),
                false => {
                    let at = |i: usize| self.data[(start as isize + i as isize * step) as usize];
                    plane.iter_mut().enumerate().for_each(|(i, o)| *o = at(i));
                }
            }
        }
    }

    /// out (rows, columns) of a plane whose rows step by 1 and whose columns by `step`.
    fn turn(&self, start: usize, step: isize, rows: usize, columns: usize, out: &mut [T]) {
        const SIDE: usize = 16;
        for top in (0..rows).step_by(SIDE) {
            for left in (0..columns).step_by(SIDE) {
                let height = SIDE.min(rows - top);
                for column in left..columns.min(left + SIDE) {
                    let from = (start as isize + column as isize * step) as usize + top;
                    for (i, x) in self.data[from..from + height].iter().enumerate() {
                        out[(top + i) * columns + column] = *x;
                    }
                }
            }
        }
    }

    /// The elements in row-major order, one by one.
    pub fn iter(&self) -> impl Iterator<Item = T> + use<'a, T> {
        let data = self.data;
        Offsets::new(self.shape, self.strides, self.offset).map(move |at| data[at])
    }
}

/// True when the strides walk the elements of `shape` one after another. Axes of extent 1 have
/// no stride that matters, and an array without elements is row-major whatever its strides.
#[inline]
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
    fn copies_of_every_kind_of_view_read_in_row_major_order() {
        let data: Vec<i32> = (0..20_000).collect();
        let views: [(&[usize], &[isize], usize); 8] = [
            (&[], &[], 7),
            (&[0, 3], &[3, 1], 0),
            (&[5], &[-3], 12),
            (&[33, 50], &[1, 33], 0),
            (&[50, 33], &[1, -50], 32 * 50),
            (&[3, 40, 17], &[680, 1, 40], 2),
            (&[4, 5, 6], &[1, 24, 4], 0),
            (&[2, 3, 4], &[0, 4, 0], 1),
        ];
        for (shape, strides, offset) in views {
            let shape = Shape::new(shape.iter().copied()).unwrap();
            let view = View { data: &data, offset, shape: &shape, strides };
            let mut out = vec![0; shape.size()];
            view.copy_to(&mut out);
            assert!(view.iter().eq(out), "{shape} {strides:?}");
        }
    }

    #[test]
    fn row_major_ignores_axes_of_extent_one() {
        let shape = Shape::new([2, 1, 3]).unwrap();
        assert!(is_row_major(&shape, &[3, 99, 1]));
        assert!(!is_row_major(&shape, &[1, 1, 2]));
        assert!(is_row_major(&Shape::new([0, 3]).unwrap(), &[7, 7]));
    }
}
