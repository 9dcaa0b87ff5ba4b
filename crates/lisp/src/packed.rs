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
pub struct Packed {
    array: RefCell<Array>,
    /// Through it native code reads and writes elements; whoever else looks at the array closes it.
    pub(crate) window: Window,
}

/// The elements of a vector for native code.
#[derive(Default)]
pub(crate) struct Window {
    /// How many; 0: it is closed.
    pub length: Cell<usize>,
    /// The same of doubles, 0 of all else: one comparison says that there is such an element.
    pub doubles: Cell<usize>,
    /// Where the first one is.
    pub data: Cell<usize>,
    /// What they are.
    pub kind: Cell<u64>,
    /// The greatest number that a byte may be.
    pub most: Cell<u64>,
}

/// What a window shows.
pub mod window_kind {
    /// Doubles.
    pub const DOUBLES: u64 = 1;
    /// Bits and bytes, one in a byte.
    pub const BYTES: u64 = 2;
    /// Fixnums.
    pub const FIXNUMS: u64 = 3;
}

impl Packed {
    /// The array as a thing that is shared and written.
    pub fn new(array: Array) -> Packed {
        Packed { array: RefCell::new(array), window: Window::default() }
    }

    /// Opens the window on the elements, if they are here, in nobody else's storage, and of a type
    /// that native code reads; what it shows.
    pub(crate) fn open(&self) -> Option<u64> {
        let mut array = self.array.try_borrow_mut().ok()?;
        let (kind, most) = match array.element_type() {
            ElementType::F64 => (window_kind::DOUBLES, 0),
            ElementType::I64 => (window_kind::FIXNUMS, 0),
            ElementType::U8 => (window_kind::BYTES, 255),
            ElementType::Bool => (window_kind::BYTES, 1),
            _ => return None,
        };
        let (data, length) = array.own_elements()?;
        self.window.data.set(data as usize);
        self.window.length.set(length);
        self.window.doubles.set(if kind == window_kind::DOUBLES { length } else { 0 });
        self.window.kind.set(kind);
        self.window.most.set(most);
        Some(kind)
    }

    fn close(&self) {
        self.window.length.set(0);
        self.window.doubles.set(0);
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.array.borrow().rank()
    }

    /// The number of elements.
    pub fn size(&self) -> usize {
        self.array.borrow().size()
    }

    /// The length along each axis.
    pub fn shape(&self) -> Shape {
        self.array.borrow().shape().clone()
    }

    /// The type of the elements.
    pub fn element_type(&self) -> ElementType {
        self.array.borrow().element_type()
    }

    /// The bytes of the elements, or 0 while somebody writes the array.
    pub fn weight(&self) -> usize {
        let bytes = |array: Ref<Array>| array.size().saturating_mul(array.element_type().size());
        self.array.try_borrow().map_or(0, bytes)
    }

    /// The array as it is now, wherever its elements are, for what takes it whole: an operation
    /// or another variable. It shares storage until one of the two is written.
    pub fn array(&self) -> Array {
        self.close();
        self.array.borrow().clone()
    }

    /// The same without a count, for what asks the array itself where its elements are.
    pub fn look(&self) -> Ref<'_, Array> {
        self.close();
        self.array.borrow()
    }

    /// The array with its elements here.
    #[inline]
    pub fn read(&self) -> Result<Ref<'_, Array>> {
        self.close();
        let array = self.array.borrow();
        bring_home(&array)?;
        Ok(array)
    }

    /// The array for writing a part of it, with its elements here.
    #[inline]
    pub fn write(&self) -> Result<RefMut<'_, Array>> {
        self.close();
        let array = self.array.borrow_mut();
        bring_home(&array)?;
        Ok(array)
    }

    /// The array for an operation that writes into it where it stands.
    pub fn target(&self) -> RefMut<'_, Array> {
        self.close();
        self.array.borrow_mut()
    }

    /// Another array in its place, which is given back; nothing moves.
    pub fn replace(&self, array: Array) -> Array {
        self.close();
        self.array.replace(array)
    }
}
