//! An array of one element type as a thing of the language.
//!
//! Its elements may be on a device. The header is read without asking for them; whoever reads or
//! writes elements gets the array from `read` or `write`, which bring them home and can fail, and
//! there is no other way to them.

use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Arrays that were brought home: how many, and the bytes of their storage.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetches {
    /// How many.
    pub count: u64,
    /// The bytes of their storage.
    pub bytes: u64,
}

/// How many threads have fetches that no form is charged with yet: one look at this is all that a
/// call pays for them.
static WAITING: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    static FETCHES: Cell<Fetches> = const { Cell::new(Fetches { count: 0, bytes: 0 }) };
}

/// Brings the elements of an array home for the form that is running, which is charged with it.
#[inline]
pub fn bring_home(array: &Array) -> Result<()> {
    if array.is_home() { Ok(()) } else { fetch(array) }
}

#[cold]
fn fetch(array: &Array) -> Result<()> {
    array.home()?;
    let Fetches { count, bytes } = FETCHES.get();
    if count == 0 {
        WAITING.fetch_add(1, Ordering::Relaxed);
    }
    FETCHES.set(Fetches { count: count + 1, bytes: bytes + array.storage_length() as u64 });
    Ok(())
}

/// What was brought home since the last time that this was asked.
#[inline]
pub(crate) fn fetched() -> Option<Fetches> {
    if WAITING.load(Ordering::Relaxed) == 0 { None } else { taken() }
}

#[cold]
fn taken() -> Option<Fetches> {
    let fetches = FETCHES.take();
    if fetches.count == 0 {
        return None;
    }
    WAITING.fetch_sub(1, Ordering::Relaxed);
    Some(fetches)
}

/// A packed array of the language.
pub struct Packed(RefCell<Array>);

impl Packed {
    /// The array as a thing that is shared and written.
    pub fn new(array: Array) -> Packed {
        Packed(RefCell::new(array))
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.0.borrow().rank()
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.0.borrow().size()
    }

    /// The length along each axis.
    pub fn shape(&self) -> Shape {
        self.0.borrow().shape().clone()
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.0.borrow().element_type()
    }

    /// The bytes of the elements, or 0 while somebody writes the array.
    pub fn weight(&self) -> usize {
        let bytes = |array: Ref<Array>| array.size().saturating_mul(array.element_type().size());
        self.0.try_borrow().map_or(0, bytes)
    }

    /// The array as it is now, wherever its elements are, for what takes it whole: an operation
    /// or another variable. It shares storage until one of the two is written.
    pub fn array(&self) -> Array {
        self.0.borrow().clone()
    }

    /// The same without a count, for what asks the array itself where its elements are.
    pub fn look(&self) -> Ref<'_, Array> {
        self.0.borrow()
    }

    /// The array with its elements here.
    #[inline]
    pub fn read(&self) -> Result<Ref<'_, Array>> {
        let array = self.0.borrow();
        bring_home(&array)?;
        Ok(array)
    }

    /// The array for writing a part of it, with its elements here.
    #[inline]
    pub fn write(&self) -> Result<RefMut<'_, Array>> {
        let array = self.0.borrow_mut();
        bring_home(&array)?;
        Ok(array)
    }

    /// The array for an operation that writes into it where it stands.
    pub fn target(&self) -> RefMut<'_, Array> {
        self.0.borrow_mut()
    }

    /// Another array in its place, which is given back; nothing moves.
    pub fn replace(&self, array: Array) -> Array {
        self.0.replace(array)
    }
}
