//! Views: reshape, transpose, slice, broadcast and row, none of which copies an element.
//!
//! `reshape` is the one that copies, where no strides walk the elements in their old order.

use crate::array::Array;
use rung_base::{Error, ErrorKind, Result, Shape, Strides};

/// Which part of an axis to take: from `start` to before `end` by `step`. Negative bounds count
/// from the end, bounds outside the axis are clipped, `None` is the end that the step leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SliceSpec {
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub step: i64,
}

impl SliceSpec {
    pub const ALL: SliceSpec = SliceSpec { start: None, end: None, step: 1 };

    /// First index, number of elements.
    fn resolve(self, extent: usize) -> (i64, usize) {
        let n = extent as i64;
        // A reversed slice may stand before the first element (-1) and starts at the last.
        let (low, high) = if self.step > 0 { (0, n) } else { (-1, n - 1) };
        let clip =
            |bound: i64| (if bound < 0 { bound.saturating_add(n) } else { bound }).clamp(low, high);
        let (first, last) = if self.step > 0 { (low, high) } else { (high, low) };
        let start = self.start.map_or(first, clip);
        let end = self.end.map_or(last, clip);
        let span = if self.step > 0 { end - start } else { start - end };
        (
            start,
            if span <= 0 { 0 } else { (span as u64).div_ceil(self.step.unsigned_abs()) as usize },
        )
    }
}

impl Array {
    fn with_layout(&self, shape: Shape, strides: Strides, offset: usize) -> Array {
        Array {
            storage: self.storage.clone(),
            element_type: self.element_type,
            shape,
            strides,
            offset,
        }
    }

    /// The same elements under another shape of the same size, where that needs no copy.
    pub fn reshaped_view(&self, shape: &Shape) -> Option<Array> {
        let strides = match self.is_contiguous() {
            true => shape.strides(),
            false => split_or_joined(&self.shape, &self.strides, shape)?,
        };
        Some(self.with_layout(shape.clone(), strides, self.offset))
    }

    /// The same elements in row-major order under another shape of the same size.
    pub fn reshape(&self, shape: Shape) -> Result<Array> {
        if shape.size() != self.size() {
            return Err(Error::new(
                ErrorKind::Shape,
                format!(
                    "reshape size mismatch: {} has {} elements and {shape} has {}",
                    self.shape,
                    self.size(),
                    shape.size()
                ),
            ));
        }
        if let Some(view) = self.reshaped_view(&shape) {
            return Ok(view);
        }
        let packed = self.to_owned_copy()?;
        let strides = shape.strides();
        Ok(packed.with_layout(shape, strides, packed.offset))
    }

    /// An axis of extent 1 more, before axis `at` (at most the rank).
    pub fn with_axis(&self, at: usize) -> Result<Array> {
        let (mut extents, mut strides) = (self.shape.to_vec(), self.strides.clone());
        if at > extents.len() {
            let text = format!("axis out of range: {at} in a result of {} axes", extents.len() + 1);
            return Err(Error::new(ErrorKind::Axis, text));
        }
        extents.insert(at, 1);
        strides.insert(at, 0);
        Ok(self.with_layout(Shape::new(extents)?, strides, self.offset))
    }

    /// The array without these axes, each of extent 1.
    pub fn without_axes(&self, axes: &[usize]) -> Result<Array> {
        if let Some(&axis) = axes.iter().find(|&&a| self.shape.get(a) != Some(&1)) {
            let text = format!("axis {axis} of shape {} is not of extent 1", self.shape);
            return Err(Error::new(ErrorKind::Axis, text));
        }
        let kept = || (0..self.rank()).filter(|axis| !axes.contains(axis));
        let shape = Shape::new(kept().map(|axis| self.shape[axis]))?;
        let strides = kept().map(|axis| self.strides[axis]).collect();
        Ok(self.with_layout(shape, strides, self.offset))
    }

    /// The elements (i, i + k) of a matrix.
    pub fn diagonal_at(&self, k: i64) -> Result<Array> {
        let &[rows, columns] = &self.shape[..] else {
            let text = format!("expects a matrix: got shape {}", self.shape);
            return Err(Error::new(ErrorKind::Shape, text));
        };
        let past = usize::try_from(k.unsigned_abs()).unwrap_or(usize::MAX);
        let (row, column) = if k < 0 { (past, 0) } else { (0, past) };
        let count = rows.saturating_sub(row).min(columns.saturating_sub(column));
        if count == 0 {
            return Ok(self.with_layout(Shape::vector(0), smallvec::smallvec![1], 0));
        }
        let offset = self.offset as isize
            + row as isize * self.strides[0]
            + column as isize * self.strides[1];
        let step = if count > 1 { self.strides[0] + self.strides[1] } else { 0 };
        Ok(self.with_layout(Shape::vector(count), smallvec::smallvec![step], offset as usize))
    }

    /// Axis i of the result is axis `axes[i]` of this array.
    pub fn transpose(&self, axes: &[usize]) -> Result<Array> {
        let mut seen = [false; 64];
        let valid = axes.len() == self.rank()
            && axes
                .iter()
                .all(|&a| a < axes.len().min(64) && !std::mem::replace(&mut seen[a], true));
        if !valid {
            return Err(Error::new(
                ErrorKind::Axis,
                format!(
                    "transpose axes must be a permutation of the axes: {} for shape {}",
                    Shape::new(axes.iter().copied()).unwrap_or_default(),
                    self.shape
                ),
            ));
        }
        let shape = Shape::new(axes.iter().map(|&a| self.shape[a]))?;
        let strides = axes.iter().map(|&a| self.strides[a]).collect();
        Ok(self.with_layout(shape, strides, self.offset))
    }

    /// Part of each axis; axes beyond `specs` are taken whole.
    pub fn slice(&self, specs: &[SliceSpec]) -> Result<Array> {
        if specs.len() > self.rank() {
            return Err(Error::new(
                ErrorKind::Axis,
                format!(
                    "slice expects at most one spec per axis: {} specs for shape {}",
                    specs.len(),
                    self.shape
                ),
            ));
        }
        if specs.iter().any(|s| s.step == 0) {
            return Err(Error::new(ErrorKind::Argument, "slice step must not be zero"));
        }
        let mut offset = self.offset as isize;
        let (mut extents, mut strides) = (self.shape.to_vec(), self.strides.clone());
        for (axis, spec) in specs.iter().enumerate() {
            let (start, count) = spec.resolve(self.shape[axis]);
            if count > 0 {
                offset += start as isize * self.strides[axis];
            }
            // A step that overflows reaches one element at most, and is never taken.
            let step = self.strides[axis].checked_mul(spec.step as isize);
            strides[axis] = if count > 1 { step.unwrap_or(0) } else { 0 };
            extents[axis] = count;
        }
        Ok(self.with_layout(Shape::new(extents)?, strides, offset as usize))
    }

    /// This array read at a larger shape, with stride 0 along the axes it is repeated over.
    pub fn broadcast_to(&self, shape: &Shape) -> Result<Array> {
        if self.shape.broadcast(shape)? != *shape {
            return Err(Error::new(
                ErrorKind::Shape,
                format!("shape mismatch: {} does not broadcast to {shape}", self.shape),
            ));
        }
        let strides = self.shape.broadcast_strides(&self.strides, shape);
        Ok(self.with_layout(shape.clone(), strides, self.offset))
    }

    /// Axis `first` becomes the diagonal of axes `first` and `second`, of equal extent, and
    /// `second` is dropped.
    pub fn diagonal(&self, first: usize, second: usize) -> Result<Array> {
        let (rank, shape) = (self.rank(), &self.shape);
        if first == second || first >= rank || second >= rank || shape[first] != shape[second] {
            let text = format!("no diagonal along axes {first} and {second} of shape {shape}");
            return Err(Error::new(ErrorKind::Axis, text));
        }
        let mut strides = self.strides.clone();
        strides[first] += strides[second];
        strides.remove(second);
        Ok(self.with_layout(shape.without(second, false), strides, self.offset))
    }

    /// Windows along an axis: the axis counts them, `step` elements apart, and a new last axis
    /// holds the `length` elements of each, `dilation` apart. No window reaches outside.
    pub fn windows(
        &self,
        axis: usize,
        length: usize,
        step: usize,
        dilation: usize,
    ) -> Result<Array> {
        let extent = self.shape.get(axis).copied().unwrap_or(0);
        let reach = length.saturating_sub(1).saturating_mul(dilation).saturating_add(1);
        if axis >= self.rank() || step == 0 || length == 0 {
            let text = format!("no windows of {length} by {step} along axis {axis}");
            return Err(Error::new(ErrorKind::Axis, text));
        }
        let count = if extent < reach { 0 } else { (extent - reach) / step + 1 };
        let (mut extents, mut strides) = (self.shape.to_vec(), self.strides.clone());
        let stride = strides[axis];
        extents[axis] = count;
        strides[axis] = stride * step as isize;
        extents.push(length);
        strides.push(stride * dilation as isize);
        Ok(self.with_layout(Shape::new(extents)?, strides, self.offset))
    }

    /// The sub-array at `index` of the first axis, which is dropped.
    pub fn row(&self, index: usize) -> Result<Array> {
        if self.rank() == 0 || index >= self.shape[0] {
            return Err(Error::new(
                ErrorKind::Index,
                format!("row index out of range: {index} of shape {}", self.shape),
            ));
        }
        let offset = self.offset as isize + index as isize * self.strides[0];
        let shape = self.shape.without(0, false);
        Ok(self.with_layout(shape, Strides::from_slice(&self.strides[1..]), offset as usize))
    }
}

/// The strides that walk `to` in the order in which `from` is walked: each group of axes with
/// the same product must be one even step in the old array. `None` where one is not.
fn split_or_joined(from: &Shape, strides: &[isize], to: &Shape) -> Option<Strides> {
    let axes = from.iter().copied().zip(strides.iter().copied()).filter(|(extent, _)| *extent != 1);
    let old: Vec<(usize, isize)> = axes.collect();
    let mut result: Strides = smallvec::smallvec![0; to.rank()];
    let (mut taken, mut axis) = (0, 0);
    while taken < old.len() {
        let (mut extent, mut last, first) = (old[taken].0, taken, axis);
        let mut size = 1;
        while size != extent || axis == first {
            if size < extent {
                size *= *to.get(axis)?;
                axis += 1;
                continue;
            }
            // One more old axis joins the group: it must continue the one before.
            let &(inner, step) = old.get(last + 1)?;
            if old[last].1 != step * inner as isize {
                return None;
            }
            (extent, last) = (extent * inner, last + 1);
        }
        let mut inside = old[last].1;
        for new in (first..axis).rev() {
            result[new] = inside;
            inside *= to[new] as isize;
        }
        taken = last + 1;
    }
    Some(result)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_base::Element;

    fn counting(extents: &[usize]) -> Array {
        let shape = Shape::new(extents.iter().copied()).unwrap();
        let elements: Vec<i64> = (0..shape.size() as i64).collect();
        Array::from_slice(&elements, shape).unwrap()
    }

    fn list<T: Element>(a: &Array) -> Vec<T> {
        a.view::<T>().iter().collect()
    }

    #[test]
    fn slices_follow_the_rules_of_basic_slicing() {
        let a = counting(&[10]);
        let take =
            |start, end, step| list::<i64>(&a.slice(&[SliceSpec { start, end, step }]).unwrap());
        assert_eq!(take(Some(2), Some(5), 1), [2, 3, 4]);
        assert_eq!(take(Some(-3), None, 1), [7, 8, 9]);
        assert_eq!(take(None, None, -4), [9, 5, 1]);
        assert_eq!(take(Some(5), Some(2), -1), [5, 4, 3]);
        assert_eq!(take(Some(3), Some(100), 3), [3, 6, 9]);
        assert_eq!(take(Some(7), Some(2), 1), []);
        assert_eq!(take(Some(i64::MIN), Some(i64::MAX), 5), [0, 5]);
        assert_eq!(take(None, None, i64::MIN), [9]);
        assert_eq!(take(Some(1), None, i64::MAX), [1]);
        assert!(a.slice(&[SliceSpec { start: None, end: None, step: 0 }]).is_err());
    }

    #[test]
    fn views_of_views_keep_their_elements() {
        let a = counting(&[2, 3, 4]);
        let t = a.transpose(&[2, 0, 1]).unwrap();
        assert_eq!(t.shape()[..], [4, 2, 3]);
        assert_eq!(list::<i64>(&t.row(1).unwrap()), [1, 5, 9, 13, 17, 21]);
        let r = t.reshape(Shape::new([8, 3]).unwrap()).unwrap();
        assert_eq!(list::<i64>(&r)[..4], [0, 4, 8, 12]);
        let b =
            a.row(0).unwrap().row(2).unwrap().broadcast_to(&Shape::new([2, 4]).unwrap()).unwrap();
        assert_eq!(list::<i64>(&b), [8, 9, 10, 11, 8, 9, 10, 11]);
        assert!(a.transpose(&[0, 0, 1]).is_err());
        assert!(a.transpose(&[0, 1]).is_err());
    }

    #[test]
    fn diagonals_and_windows_are_views() {
        let a = counting(&[3, 3]);
        assert_eq!(list::<i64>(&a.diagonal(0, 1).unwrap()), [0, 4, 8]);
        assert!(counting(&[2, 3]).diagonal(0, 1).is_err());
        let w = counting(&[7]).windows(0, 3, 2, 1).unwrap();
        assert_eq!(w.shape().to_vec(), [3, 3]);
        assert_eq!(list::<i64>(&w), [0, 1, 2, 2, 3, 4, 4, 5, 6]);
        assert_eq!(list::<i64>(&counting(&[5]).windows(0, 2, 1, 3).unwrap()), [0, 3, 1, 4]);
        assert_eq!(counting(&[2]).windows(0, 3, 1, 1).unwrap().size(), 0);
        assert!(counting(&[2]).windows(0, 0, 1, 1).is_err());
    }

    #[test]
    fn a_slice_of_nothing_at_the_end_stays_inside_the_storage() {
        let a = counting(&[3]).slice(&[SliceSpec { start: Some(3), end: None, step: 1 }]).unwrap();
        assert_eq!(a.size(), 0);
        assert!(a.as_slice::<i64>().unwrap().is_empty());
        assert!(a.to_contiguous().is_ok());
        let mut row = counting(&[3, 0]).row(2).unwrap();
        assert!(row.as_slice::<i64>().unwrap().is_empty());
        assert!(row.make_mut::<i64>().unwrap().is_empty());
    }

    /// Whether two arrays read the same storage.
    fn shares(a: &Array, b: &Array) -> bool {
        std::sync::Arc::ptr_eq(&a.storage, &b.storage)
    }

    #[test]
    fn reshape_copies_only_where_it_must() {
        let a = counting(&[4, 6, 5]);
        let reshaped = |a: &Array, extents: &[usize]| {
            let shape = Shape::new(extents.iter().copied()).unwrap();
            let r = a.reshape(shape).unwrap();
            assert_eq!(list::<i64>(&r), list::<i64>(a), "{extents:?}");
            shares(a, &r)
        };
        let turned = a.transpose(&[2, 0, 1]).unwrap();
        assert!(reshaped(&turned, &[5, 24]));
        assert!(reshaped(&turned, &[5, 2, 2, 3, 1, 2]));
        assert!(reshaped(&turned, &[1, 5, 8, 3]));
        assert!(!reshaped(&turned, &[10, 12]));
        assert!(!reshaped(&turned, &[120]));
        let back = a.slice(&[SliceSpec { start: None, end: None, step: -1 }]).unwrap();
        assert!(reshaped(&back, &[2, 2, 30]));
        assert!(!reshaped(&back, &[120]));
        let one = a.row(0).unwrap().row(0).unwrap().row(0).unwrap();
        let repeated = one.broadcast_to(&Shape::new([2, 3]).unwrap()).unwrap();
        assert!(reshaped(&repeated, &[6]));
        assert!(reshaped(&counting(&[5]).row(1).unwrap(), &[1, 1]));
        assert!(reshaped(&counting(&[0, 3]).transpose(&[1, 0]).unwrap(), &[0, 7]));
    }

    #[test]
    fn axes_of_extent_one_come_and_go_without_a_copy() {
        let a = counting(&[2, 3]).transpose(&[1, 0]).unwrap();
        let b = a.with_axis(1).unwrap().with_axis(3).unwrap();
        assert_eq!(b.shape()[..], [3, 1, 2, 1]);
        assert!(shares(&a, &b));
        let c = b.without_axes(&[1, 3]).unwrap();
        assert_eq!((c.shape(), list::<i64>(&c)), (a.shape(), list(&a)));
        assert!(b.without_axes(&[0]).is_err() && a.with_axis(3).is_err());
    }

    #[test]
    fn diagonals_are_views_of_every_offset() {
        let a = counting(&[3, 4]);
        let diagonal = |k| list::<i64>(&a.diagonal_at(k).unwrap());
        assert_eq!(diagonal(0), [0, 5, 10]);
        assert_eq!(diagonal(3), [3]);
        assert_eq!(diagonal(-1), [4, 9]);
        for k in [4, -3, i64::MAX, i64::MIN] {
            assert_eq!(diagonal(k), []);
        }
        let turned = a.transpose(&[1, 0]).unwrap().diagonal_at(-1).unwrap();
        assert_eq!(list::<i64>(&turned), [1, 6, 11]);
        assert!(counting(&[3]).diagonal_at(0).is_err());
    }
}
