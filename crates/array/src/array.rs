//! The array: construction, element access, and writing with copy on write.

use crate::bytes::Bytes;
use crate::convert::{Convert, Number, convert_all, does_not_fit};
use crate::storage::{Remote, Sight, Storage};
use crate::view::{Offsets, View, is_row_major};
use rung_base::{
    Element, ElementType, Error, ErrorKind, Result, Shape, Strides, memory, with_element,
};
use std::sync::Arc;

/// An array of numbers. Cloning shares storage; a write to shared storage copies it first.
#[derive(Clone)]
pub struct Array {
    pub(crate) storage: Arc<Storage>,
    pub(crate) element_type: ElementType,
    pub(crate) shape: Shape,
    pub(crate) strides: Strides,
    pub(crate) offset: usize,
}

impl Array {
    #[inline]
    fn packed(storage: Storage, element_type: ElementType, shape: Shape) -> Array {
        let strides = shape.strides();
        Array { storage: Arc::new(storage), element_type, shape, strides, offset: 0 }
    }

    /// A vector without elements.
    pub fn empty(element_type: ElementType) -> Array {
        Array::packed(Storage::empty(), element_type, Shape::vector(0))
    }

    /// Whether both show elements of one storage, which a write to either separates.
    pub fn shares_storage(&self, other: &Array) -> bool {
        Arc::ptr_eq(&self.storage, &other.storage)
    }

    /// Where its storage is: alike for arrays that share it, while one of them lives.
    pub fn storage_address(&self) -> usize {
        Arc::as_ptr(&self.storage).addr()
    }

    /// An array of zeros.
    pub fn zeros(element_type: ElementType, shape: Shape) -> Result<Array> {
        let storage = with_element!(element_type, T => Storage::zeroed::<T>(shape.size()))?;
        Ok(Array::packed(storage, element_type, shape))
    }

    /// An array whose elements `fill` writes, all of them, in row-major order. The slice holds
    /// old values until then.
    #[inline]
    pub fn build<T: Element>(shape: Shape, fill: impl FnOnce(&mut [T])) -> Result<Array> {
        let count = shape.size();
        let mut storage = Storage::unspecified::<T>(count)?;
        fill(&mut storage.elements_mut::<T>()[..count]);
        Ok(Array::packed(storage, T::TYPE, shape))
    }

    /// As `build`, for a `fill` that can fail.
    pub fn try_build<T: Element>(
        shape: Shape,
        fill: impl FnOnce(&mut [T]) -> Result<()>,
    ) -> Result<Array> {
        let mut outcome = Ok(());
        let array = Array::build(shape, |out| outcome = fill(out))?;
        outcome.map(|()| array)
    }

    /// The elements in row-major order; their count must be the shape's size.
    pub fn from_slice<T: Element>(elements: &[T], shape: Shape) -> Result<Array> {
        if elements.len() != shape.size() {
            return Err(Error::new(
                ErrorKind::Shape,
                format!("{} elements do not fill shape {shape}", elements.len()),
            ));
        }
        Array::build(shape, |out: &mut [T]| out.copy_from_slice(elements))
    }

    /// A rank-1 array.
    pub fn vector<T: Element>(elements: &[T]) -> Result<Array> {
        Array::from_slice(elements, Shape::vector(elements.len()))
    }

    /// An array of `number` at `element_type`, rounded once.
    pub fn full(element_type: ElementType, shape: Shape, number: Number) -> Result<Array> {
        with_element!(element_type, T => {
            let x = T::from_number(number).ok_or_else(|| does_not_fit(number, element_type))?;
            Array::build::<T>(shape, |out| out.fill(x))
        })
    }

    /// An array whose elements are on a device alone, packed there; none is fetched before
    /// something reads it.
    pub fn remote(
        element_type: ElementType,
        shape: Shape,
        remote: Arc<dyn Remote>,
    ) -> Result<Array> {
        let wanted = shape.size().checked_mul(element_type.size());
        if wanted != Some(remote.length()) {
            let text = format!("{} bytes on a device for shape {shape}", remote.length());
            return Err(Error::new(ErrorKind::Internal, text));
        }
        Ok(Array::packed(Storage::remote(remote), element_type, shape))
    }

    /// A packed array of these bytes.
    pub fn from_bytes(element_type: ElementType, shape: Shape, bytes: Bytes) -> Result<Array> {
        let wanted = shape.size().checked_mul(element_type.size());
        if wanted != Some(bytes.length()) {
            let text = format!("{} bytes for shape {shape}", bytes.length());
            return Err(Error::new(ErrorKind::Internal, text));
        }
        Ok(Array::packed(Storage::here(bytes), element_type, shape))
    }

    /// Brings the elements here where they are only on a device. `view`, `as_slice`, `span` and
    /// `numbers` cannot fail, so whoever calls them calls this first.
    #[inline]
    pub fn home(&self) -> Result<()> {
        self.storage.home()
    }

    /// Whether the elements are here.
    #[inline]
    pub fn is_home(&self) -> bool {
        self.storage.is_home()
    }

    /// Whether a device has, or had, a copy of the storage.
    #[inline]
    pub fn is_attached(&self) -> bool {
        self.storage.copy().is_some()
    }

    /// The copy of the storage on a device; all views of it share that.
    pub fn resident(&self) -> Option<Arc<dyn Remote>> {
        self.storage.copy().cloned()
    }

    /// Lets a device have a copy of the whole storage, whose bytes `storage_bytes` gives. False
    /// where another copy is known already.
    pub fn attach(&self, remote: Arc<dyn Remote>) -> bool {
        self.storage.attach(remote)
    }

    /// The bytes of the whole storage, which must be home.
    pub fn storage_bytes(&self) -> &[u8] {
        &self.storage.elements::<u8>()[..self.storage.length()]
    }

    /// The length of the whole storage in bytes.
    pub fn storage_length(&self) -> usize {
        self.storage.length()
    }

    /// Whether a device saw this matrix before and nothing was written since; it is seen now.
    pub fn look(&self) -> Sight {
        self.storage.look()
    }

    #[inline]
    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    #[inline]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub fn rank(&self) -> usize {
        self.shape.rank()
    }

    /// The number of elements.
    #[inline]
    pub fn size(&self) -> usize {
        self.shape.size()
    }

    /// Elements to step for one step along each axis.
    pub fn strides(&self) -> &[isize] {
        &self.strides
    }

    /// The position of the first element in the storage that `view` shows.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// True when the elements lie one after another in row-major order.
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        is_row_major(&self.shape, &self.strides)
    }

    /// The elements as `T`. Panics when `T` is not the element type: a mistake of the caller.
    #[inline]
    pub fn view<T: Element>(&self) -> View<'_, T> {
        assert_eq!(T::TYPE, self.element_type, "array viewed at another element type");
        View {
            data: self.storage.elements(),
            offset: self.offset,
            shape: &self.shape,
            strides: &self.strides,
        }
    }

    /// The elements in row-major order, when they lie so in memory and have type `T`.
    #[inline]
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        (T::TYPE == self.element_type).then(|| self.view::<T>().contiguous()).flatten()
    }

    /// The part of the storage that holds every element, and where in it the first one is: what
    /// a strided reader elsewhere needs, and no more.
    pub fn span<T: Element>(&self) -> (&[T], usize) {
        let (range, data) = (self.reach(), self.view::<T>().data);
        let first = self.offset.saturating_sub(range.start);
        if range.is_empty() { (&[], 0) } else { (&data[range], first) }
    }

    /// The positions in the storage that hold the elements, from the lowest to the highest.
    pub fn reach(&self) -> std::ops::Range<usize> {
        if self.size() == 0 {
            return 0..0;
        }
        let (mut low, mut high) = (0isize, 0isize);
        for (&extent, &stride) in self.shape.iter().zip(&self.strides) {
            let reach = (extent as isize - 1) * stride;
            low += reach.min(0);
            high += reach.max(0);
        }
        let start = (self.offset as isize + low) as usize;
        start..(self.offset as isize + high) as usize + 1
    }

    /// The elements for writing all of them, in row-major order; they hold any values, of this
    /// array or another. Nothing is brought home for them. Panics when `T` is not the element
    /// type.
    pub fn overwrite<T: Element>(&mut self) -> Result<&mut [T]> {
        assert_eq!(T::TYPE, self.element_type, "array viewed at another element type");
        let own = Arc::get_mut(&mut self.storage).is_some_and(|storage| storage.is_home());
        if !own || !self.is_contiguous() {
            let storage = Storage::unspecified::<T>(self.size())?;
            *self = Array::packed(storage, self.element_type, self.shape.clone());
        }
        self.make_mut()
    }

    /// The elements for writing, in row-major order, after separating them from other arrays
    /// that share the storage, and bringing them home. Panics when `T` is not the element type.
    pub fn make_mut<T: Element>(&mut self) -> Result<&mut [T]> {
        assert_eq!(T::TYPE, self.element_type, "array viewed at another element type");
        self.home()?;
        if Arc::get_mut(&mut self.storage).is_none() || !self.is_contiguous() {
            *self = self.to_owned_copy()?;
        }
        let (start, count) = (self.offset, self.size());
        let storage = Arc::get_mut(&mut self.storage)
            .ok_or_else(|| Error::new(ErrorKind::Internal, "storage shared while being written"))?;
        // An array without elements may begin beyond its storage.
        let start = if count == 0 { 0 } else { start };
        Ok(&mut storage.elements_mut::<T>()[start..start + count])
    }

    /// A packed copy that shares nothing.
    pub fn to_owned_copy(&self) -> Result<Array> {
        self.home()?;
        with_element!(self.element_type, T => {
            let view = self.view::<T>();
            Array::build::<T>(self.shape.clone(), |out| match view.contiguous() {
                Some(elements) => out.copy_from_slice(elements),
                None => view.copy_to(out),
            })
        })
    }

    /// This array with its elements here and one after another; shares storage when they are so
    /// already.
    pub fn to_contiguous(&self) -> Result<Array> {
        self.home()?;
        if self.is_contiguous() { Ok(self.clone()) } else { self.to_owned_copy() }
    }

    /// The position in storage of the element at `index`, one per axis.
    fn position(&self, index: &[i64]) -> Result<usize> {
        if index.len() != self.rank() {
            return Err(Error::new(
                ErrorKind::Index,
                format!("expected {} subscripts: got {}", self.rank(), index.len()),
            )
            .hint(format!("the array has shape {}", self.shape)));
        }
        let mut at = self.offset as isize;
        for (axis, &i) in index.iter().enumerate() {
            let extent = self.shape[axis];
            if i < 0 || i as u64 >= extent as u64 {
                return Err(Error::new(
                    ErrorKind::Index,
                    format!("index {i} out of range for axis {axis} of length {extent}"),
                ));
            }
            at += i as isize * self.strides[axis];
        }
        Ok(at as usize)
    }

    /// The element at `index`.
    pub fn get(&self, index: &[i64]) -> Result<Number> {
        let at = self.position(index)?;
        self.home()?;
        Ok(with_element!(self.element_type, T => self.storage.elements::<T>()[at].number()))
    }

    /// Writes the element at `index`, rounded once to the element type.
    pub fn set(&mut self, index: &[i64], number: Number) -> Result<()> {
        self.position(index)?;
        self.home()?;
        if Arc::get_mut(&mut self.storage).is_none() {
            *self = self.to_owned_copy()?;
        }
        let at = self.position(index)?;
        let element_type = self.element_type;
        let storage = Arc::get_mut(&mut self.storage)
            .ok_or_else(|| Error::new(ErrorKind::Internal, "storage shared while being written"))?;
        with_element!(element_type, T => {
            storage.elements_mut::<T>()[at] =
                T::from_number(number).ok_or_else(|| does_not_fit(number, element_type))?;
        });
        Ok(())
    }

    /// Where the elements of a vector lie, and how many there are, if it has a storage of its own
    /// that is here alone, and they lie without gaps. The address holds until the array is looked
    /// at in any other way.
    pub fn own_elements(&mut self) -> Option<(*mut u8, usize)> {
        let dense = self.rank() == 1 && self.strides[..] == [1] && self.size() > 0;
        if !dense || self.is_attached() || !self.is_home() {
            return None;
        }
        let (offset, length) = (self.offset, self.shape[0]);
        let storage = Arc::get_mut(&mut self.storage)?;
        with_element!(self.element_type, T => {
            let elements = storage.elements_mut::<T>().get_mut(offset..offset + length)?;
            Some((elements.as_mut_ptr().cast(), length))
        })
    }

    /// The elements in row-major order, as numbers.
    pub fn numbers(&self) -> impl Iterator<Item = Number> + '_ {
        let offsets = Offsets::new(&self.shape, &self.strides, self.offset);
        offsets.map(move |at| {
            with_element!(self.element_type, T => self.storage.elements::<T>()[at].number())
        })
    }

    /// The elements in row-major order, as numbers in a list.
    pub fn to_numbers(&self) -> Result<Vec<Number>> {
        self.home()?;
        // A broadcast view has any size.
        let wanted = || format!("the elements of an array of shape {}", self.shape);
        let mut numbers = memory::room(self.size(), wanted)?;
        with_element!(self.element_type, T => {
            numbers.extend(self.view::<T>().iter().map(Convert::number));
        });
        Ok(numbers)
    }

    /// The numbers in row-major order, each rounded once; their count must be the shape's size.
    pub fn from_numbers(
        element_type: ElementType,
        shape: Shape,
        numbers: &[Number],
    ) -> Result<Array> {
        if numbers.len() != shape.size() {
            let text = format!("{} numbers do not fill shape {shape}", numbers.len());
            return Err(Error::new(ErrorKind::Shape, text));
        }
        with_element!(element_type, T => Array::try_build::<T>(shape, |out| {
            for (o, &n) in out.iter_mut().zip(numbers) {
                *o = T::from_number(n).ok_or_else(|| does_not_fit(n, element_type))?;
            }
            Ok(())
        }))
    }

    /// A packed copy at another element type; fails on the first value that does not fit.
    pub fn convert(&self, to: ElementType) -> Result<Array> {
        if to == self.element_type {
            return self.to_contiguous();
        }
        let (from, packed) = (self.element_type, self.to_contiguous()?);
        with_element!(from, S => with_element!(to, T => {
            let elements = packed.view::<S>().contiguous().unwrap_or(&[]);
            Array::try_build::<T>(self.shape.clone(), |out| {
                convert_all(elements, out).map_err(|n| does_not_fit(n, to))
            })
        }))
    }
}

/// The header only, never the elements: `#<single-float (4 256)>`.
impl std::fmt::Debug for Array {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "#<{} {}>", self.element_type.lisp_name(), self.shape)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Array {
        Array::from_slice(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], Shape::new([2, 3]).unwrap()).unwrap()
    }

    #[test]
    fn a_write_never_shows_in_an_array_that_shared_the_storage() {
        let a = matrix();
        let mut b = a.clone();
        b.set(&[1, 2], Number::I64(9)).unwrap();
        assert_eq!(a.get(&[1, 2]).unwrap(), Number::F64(5.0));
        assert_eq!(b.get(&[1, 2]).unwrap(), Number::F64(9.0));
        let mut t = a.transpose(&[1, 0]).unwrap();
        t.make_mut::<f64>().unwrap()[0] = -1.0;
        assert_eq!(a.get(&[0, 0]).unwrap(), Number::F64(0.0));
        assert_eq!(t.as_slice::<f64>().unwrap(), [-1.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    }

    #[test]
    fn an_index_outside_names_axis_and_extent() {
        let e = matrix().get(&[0, 3]).unwrap_err();
        assert_eq!(e.message(), "index 3 out of range for axis 1 of length 3");
        assert_eq!(matrix().get(&[-1, 0]).unwrap_err().kind(), ErrorKind::Index);
        assert_eq!(matrix().get(&[0]).unwrap_err().message(), "expected 2 subscripts: got 1");
    }

    #[test]
    fn a_value_that_does_not_fit_changes_nothing() {
        let mut bytes = Array::vector(&[1u8, 2]).unwrap();
        let e = bytes.set(&[0], Number::F64(300.0)).unwrap_err();
        assert_eq!(e.message(), "value does not fit: 300.0 in (unsigned-byte 8)");
        assert_eq!(bytes.as_slice::<u8>().unwrap(), [1, 2]);
        assert!(matrix().convert(ElementType::U8).is_ok());
    }

    #[test]
    fn conversion_reaches_every_pair_of_types() {
        for from in ElementType::ALL {
            for to in ElementType::ALL {
                let a = Array::full(from, Shape::vector(3), Number::I64(1)).unwrap();
                let b = a.convert(to).unwrap();
                assert_eq!(b.element_type(), to);
                assert!(b.numbers().all(|n| n.to_f64() == 1.0), "{from} to {to}");
            }
        }
    }

    #[test]
    fn arrays_without_elements_and_of_rank_zero_exist() {
        let none = Array::zeros(ElementType::F32, Shape::new([0, 3]).unwrap()).unwrap();
        assert_eq!(none.as_slice::<f32>().unwrap().len(), 0);
        let one = Array::full(ElementType::I64, Shape::scalar(), Number::I64(7)).unwrap();
        assert_eq!(one.get(&[]).unwrap(), Number::I64(7));
        assert_eq!(format!("{one:?}"), "#<(signed-byte 64) ()>");
    }
}
