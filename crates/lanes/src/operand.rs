//! A strided operand, and the walk that turns strided operands into runs.
//!
//! Bounds are checked once, when a driver is entered; kernels then read unchecked. Axes that lie
//! behind one another in every operand are merged first, so that a walk meets as few and as long
//! runs as there can be.

use smallvec::SmallVec;

/// Numbers in a slice at the strides that belong to a shape given beside it: element (i, j) is
/// `data[offset + i * strides[0] + j * strides[1]]`. Stride 0 repeats an axis.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T> {
    /// The cells, and whatever else the slice holds.
    pub data: &'a [T],
    /// Where the first cell is.
    pub offset: usize,
    /// From one index to the next along each axis, in elements.
    pub strides: &'a [isize],
}

impl<'a, T> Operand<'a, T> {
    /// An operand from its three parts.
    pub fn new(data: &'a [T], offset: usize, strides: &'a [isize]) -> Operand<'a, T> {
        Operand { data, offset, strides }
    }

    /// The address of element zero; checks that every index of `shape` stays inside.
    pub(crate) fn start(&self, shape: &[usize]) -> *const T {
        assert!(
            reaches(self.data.len(), self.offset, shape, self.strides),
            "an operand leaves its slice"
        );
        self.data.as_ptr().wrapping_add(self.offset)
    }
}

/// Whether every index of `shape` lands inside a slice of `len` elements.
pub(crate) fn reaches(len: usize, offset: usize, shape: &[usize], strides: &[isize]) -> bool {
    if shape.len() != strides.len() {
        return false;
    }
    if shape.contains(&0) {
        return true;
    }
    let (mut low, mut high) = (offset as i128, offset as i128);
    for (&extent, &stride) in shape.iter().zip(strides) {
        let reach = (extent as i128 - 1) * stride as i128;
        low += reach.min(0);
        high += reach.max(0);
    }
    low >= 0 && high < len as i128
}

/// The merged axes of `K` operands, outermost first; always at least one axis.
#[derive(Clone, Debug)]
pub(crate) struct Walk<const K: usize> {
    axes: SmallVec<[(usize, [isize; K]); 4]>,
}

impl<const K: usize> Walk<K> {
    /// Drops axes of extent 1 and joins neighbours that every operand steps through evenly.
    pub(crate) fn new(shape: &[usize], strides: [&[isize]; K]) -> Walk<K> {
        let mut axes: SmallVec<[(usize, [isize; K]); 4]> = SmallVec::new();
        for (axis, &extent) in shape.iter().enumerate() {
            if extent == 1 {
                continue;
            }
            let steps = strides.map(|s| s[axis]);
            match axes.last_mut() {
                Some((outer, wide)) if (0..K).all(|k| wide[k] == steps[k] * extent as isize) => {
                    *outer *= extent;
                    *wide = steps;
                }
                _ => axes.push((extent, steps)),
            }
        }
        if axes.is_empty() {
            axes.push((1, [1; K]));
        }
        Walk { axes }
    }

    /// The length of a run: the innermost extent.
    #[cfg(test)]
    fn run(&self) -> usize {
        self.axes[self.axes.len() - 1].0
    }

    /// The merged axes, outermost first: extent and step of each operand.
    pub(crate) fn axes(&self) -> &[(usize, [isize; K])] {
        &self.axes
    }

    /// The steps inside a run.
    pub(crate) fn steps(&self) -> [isize; K] {
        self.axes[self.axes.len() - 1].1
    }

    /// A cursor at row-major position `position`.
    pub(crate) fn at(&self, position: usize) -> Cursor<'_, K> {
        let mut cursor =
            Cursor { walk: self, index: SmallVec::from_elem(0, self.axes.len()), offsets: [0; K] };
        let mut rest = position;
        for (axis, (extent, steps)) in self.axes.iter().enumerate().rev() {
            let index = if axis == 0 { rest } else { rest % extent.max(&1) };
            rest /= extent.max(&1);
            cursor.index[axis] = index;
            for (offset, step) in cursor.offsets.iter_mut().zip(steps) {
                *offset += index as isize * step;
            }
        }
        cursor
    }
}

/// A position in a walk: what is left of the current run, and where each operand is.
#[derive(Clone)]
pub(crate) struct Cursor<'a, const K: usize> {
    walk: &'a Walk<K>,
    index: SmallVec<[usize; 4]>,
    pub(crate) offsets: [isize; K],
}

impl<const K: usize> Cursor<'_, K> {
    /// Elements to the end of the current run.
    pub(crate) fn left(&self) -> usize {
        let last = self.index.len() - 1;
        self.walk.axes[last].0 - self.index[last]
    }

    /// Goes on by `count` elements, at most to the end of the run, and on to the next run there.
    pub(crate) fn advance(&mut self, count: usize) {
        let mut axis = self.index.len() - 1;
        self.step(axis, count);
        while self.index[axis] == self.walk.axes[axis].0 && axis > 0 {
            let back = self.index[axis] as isize;
            self.index[axis] = 0;
            for (offset, step) in self.offsets.iter_mut().zip(self.walk.axes[axis].1) {
                *offset -= back * step;
            }
            axis -= 1;
            self.step(axis, 1);
        }
    }

    fn step(&mut self, axis: usize, count: usize) {
        self.index[axis] += count;
        for (offset, step) in self.offsets.iter_mut().zip(self.walk.axes[axis].1) {
            *offset += count as isize * step;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contiguous_axes_merge_and_broadcast_ones_do_not() {
        let walk = Walk::new(&[2, 3, 4], [&[12, 4, 1], &[12, 4, 1]]);
        assert_eq!((walk.run(), walk.steps()), (24, [1, 1]));
        let walk = Walk::new(&[2, 3, 4], [&[12, 4, 1], &[0, 0, 1]]);
        assert_eq!((walk.run(), walk.steps()), (4, [1, 1]));
        let walk = Walk::new(&[2, 3, 4], [&[12, 4, 1], &[1, 0, 0]]);
        assert_eq!((walk.run(), walk.steps()), (12, [1, 0]));
        assert_eq!(Walk::new(&[], [&[]]).run(), 1);
    }

    #[test]
    fn a_cursor_visits_every_element_from_anywhere() {
        let (shape, strides) = ([2usize, 3, 2], [1isize, -2, 10]);
        let walk = Walk::new(&shape, [&strides]);
        let all: Vec<isize> = (0..12).map(|p| walk.at(p).offsets[0]).collect();
        assert_eq!(all, [0, 10, -2, 8, -4, 6, 1, 11, -1, 9, -3, 7]);
        for start in 0..12 {
            let mut cursor = walk.at(start);
            let mut seen = Vec::new();
            while seen.len() < 12 - start {
                seen.push(cursor.offsets[0]);
                cursor.advance(1);
            }
            assert_eq!(seen, all[start..]);
        }
    }

    #[test]
    fn reach_counts_negative_strides_and_empty_shapes() {
        assert!(reaches(6, 5, &[2, 3], &[-3, -1]));
        assert!(!reaches(6, 4, &[2, 3], &[-3, -1]));
        assert!(reaches(0, 9, &[0, 3], &[1, 1]));
        assert!(!reaches(6, 0, &[7], &[1]));
        assert!(!reaches(6, usize::MAX, &[1], &[1]));
        assert!(!reaches(6, 0, &[usize::MAX, 2], &[isize::MAX, 1]));
        assert!(!reaches(6, 5, &[usize::MAX], &[isize::MIN]));
        assert!(reaches(6, 5, &[usize::MAX, 1], &[0, isize::MAX]));
        assert!(!reaches(6, 0, &[6], &[1, 1]));
    }
}
