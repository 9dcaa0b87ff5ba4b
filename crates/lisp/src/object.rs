//! The bodies on the heap: pairs, strings, arrays, hash tables, instances and the rest.
//!
//! Data and access only; what the language's functions do with them is in `library`. Interior
//! borrows are short: no borrow is held while Lisp code runs.

use std::cell::{Cell, RefCell};

use num_bigint::BigInt;

use crate::condition::{Condition, Escape, Outcome};
use crate::heap::{Children, Pool, Ref, Slot};
use crate::lisp::Lisp;
use crate::package::PackageId;
use crate::packed::Packed;
use crate::stream::Stream;
use crate::value::Value;

pub use crate::class::{Class, ClassKind, Instance, SlotDefinition, StandardInstance};
pub use crate::generic::Method;
pub use crate::hash_table::{HashTable, Test};

/// A pair.
pub struct Cons {
    car: Slot,
    cdr: Slot,
}

impl Cons {
    /// Where the halves are, for native code.
    pub(crate) const CAR: usize = std::mem::offset_of!(Cons, car);
    pub(crate) const CDR: usize = std::mem::offset_of!(Cons, cdr);

    /// A pair of the two values.
    #[inline]
    pub fn new(car: Value, cdr: Value) -> Cons {
        Cons { car: Slot::new(car), cdr: Slot::new(cdr) }
    }

    /// The first half.
    #[inline(always)]
    pub fn car(&self) -> Value {
        self.car.get()
    }

    /// The second half.
    #[inline(always)]
    pub fn cdr(&self) -> Value {
        self.cdr.get()
    }

    /// Where the first half is kept.
    #[inline(always)]
    pub(crate) fn car_slot(&self) -> &Slot {
        &self.car
    }

    /// Where the second half is kept.
    #[inline(always)]
    pub(crate) fn cdr_slot(&self) -> &Slot {
        &self.cdr
    }

    /// Replaces the first half.
    pub fn set_car(&self, value: Value) {
        self.car.set(value);
    }

    /// Replaces the second half.
    pub fn set_cdr(&self, value: Value) {
        self.cdr.set(value);
    }
}

impl Children for Cons {
    const POOL: Pool = Pool::Cons;

    #[inline]
    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        self.car.children(visit);
        self.cdr.children(visit);
    }
}

/// The array whose elements another one shows (`:displaced-to`).
pub struct Shown<A: Children + 'static> {
    /// The array that has the elements.
    pub target: Ref<A>,
    /// Where in it the first one is, in row-major order.
    pub offset: usize,
    /// How many of them there are.
    pub length: usize,
}

impl<A: Children + 'static> Shown<A> {
    /// The array at the end of a chain of arrays that show each other.
    #[cold]
    fn source(&self, shown: impl Fn(&A) -> &RefCell<Option<Box<Shown<A>>>>) -> Shown<A> {
        let mut source =
            Shown { target: self.target.clone(), offset: self.offset, length: self.length };
        loop {
            let next = match &*shown(&source.target).borrow() {
                None => break,
                Some(next) => Shown {
                    target: next.target.clone(),
                    offset: source.offset + next.offset,
                    length: source.length.min(next.length.saturating_sub(source.offset)),
                },
            };
            source = next;
        }
        source
    }
}

/// The part that is shown; what the target has lost since is not there.
fn part<T>(all: &[T], offset: usize, length: usize) -> &[T] {
    all.get(offset..offset.saturating_add(length)).unwrap_or(&[])
}

fn part_mut<T>(all: &mut [T], offset: usize, length: usize) -> &mut [T] {
    all.get_mut(offset..offset.saturating_add(length)).unwrap_or(&mut [])
}

/// A string: scalar values in constant time, with an optional fill pointer.
#[derive(Default)]
pub struct Text {
    /// Its own characters, those beyond the fill pointer included.
    pub own: RefCell<Vec<char>>,
    /// The string whose characters it shows in place of its own.
    pub shown: RefCell<Option<Box<Shown<Text>>>>,
    /// How many characters count, when the string has a fill pointer.
    pub fill_pointer: Cell<Option<usize>>,
    /// Made with `:adjustable`.
    pub adjustable: Cell<bool>,
}

impl Text {
    /// Looks at all characters, those beyond the fill pointer included.
    #[inline]
    pub fn read<R>(&self, look: impl FnOnce(&[char]) -> R) -> R {
        match self.source() {
            None => look(&self.own.borrow()),
            Some(source) => look(part(&source.target.own.borrow(), source.offset, source.length)),
        }
    }

    /// Changes characters where they are.
    #[inline]
    pub fn write<R>(&self, change: impl FnOnce(&mut [char]) -> R) -> R {
        match self.source() {
            None => change(&mut self.own.borrow_mut()),
            Some(source) => {
                let mut all = source.target.own.borrow_mut();
                change(part_mut(&mut all, source.offset, source.length))
            }
        }
    }

    /// The string that has the characters it shows, and where they are in it.
    #[inline]
    fn source(&self) -> Option<Shown<Text>> {
        let shown = self.shown.borrow();
        shown.as_ref().map(|shown| shown.source(|text| &text.shown))
    }

    /// Gives it characters of its own in place of those that it has or shows.
    pub fn replace(&self, characters: Vec<char>) {
        self.shown.take();
        self.own.replace(characters);
    }

    /// How many characters it has, active or not.
    pub fn room(&self) -> usize {
        self.read(<[char]>::len)
    }

    /// The active length.
    pub fn len(&self) -> usize {
        self.fill_pointer.get().unwrap_or_else(|| self.room())
    }

    /// Whether no character is active.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it is a simple string.
    pub fn is_simple(&self) -> bool {
        self.fill_pointer.get().is_none() && !self.adjustable.get() && self.shown.borrow().is_none()
    }

    /// The active characters.
    pub fn active(&self) -> Vec<char> {
        let length = self.len();
        self.read(|all| all[..length.min(all.len())].to_vec())
    }

    /// The active characters as Rust text.
    pub fn to_text(&self) -> String {
        let length = self.len();
        self.read(|all| all[..length.min(all.len())].iter().collect())
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text { own: RefCell::new(text.chars().collect()), ..Text::default() }
    }
}

impl From<Vec<char>> for Text {
    fn from(characters: Vec<char>) -> Text {
        Text { own: RefCell::new(characters), ..Text::default() }
    }
}

impl Children for Text {
    const POOL: Pool = Pool::Text;

    fn children(&self, _visit: &mut dyn FnMut(&Value)) {}
}

/// A ratio in lowest terms, its denominator above 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Ratio {
    /// Carries the sign.
    pub numerator: BigInt,
    /// At least 2.
    pub denominator: BigInt,
}

/// An array of any rank whose elements are any values.
pub struct GeneralArray {
    /// The length along each axis; none for rank 0.
    pub dimensions: RefCell<Vec<usize>>,
    /// Its own elements, last axis fastest.
    pub own: RefCell<Vec<Value>>,
    /// The general array whose elements it shows in place of its own.
    pub shown: RefCell<Option<Box<Shown<Object>>>>,
    /// How many elements count, when a vector has a fill pointer.
    pub fill_pointer: Cell<Option<usize>>,
    /// Made with `:adjustable`.
    pub adjustable: bool,
}

impl GeneralArray {
    /// A simple vector.
    pub fn vector(elements: Vec<Value>) -> GeneralArray {
        GeneralArray {
            dimensions: RefCell::new(vec![elements.len()]),
            own: RefCell::new(elements),
            shown: RefCell::default(),
            fill_pointer: Cell::new(None),
            adjustable: false,
        }
    }

    /// An array of the shape; the elements are in row-major order and fit it.
    pub fn new(dimensions: Vec<usize>, elements: Vec<Value>) -> GeneralArray {
        debug_assert_eq!(dimensions.iter().product::<usize>(), elements.len());
        GeneralArray { dimensions: RefCell::new(dimensions), ..GeneralArray::vector(elements) }
    }

    /// Looks at all elements in row-major order, active or not.
    #[inline]
    pub fn read<R>(&self, look: impl FnOnce(&[Value]) -> R) -> R {
        match self.source() {
            None => look(&self.own.borrow()),
            Some(source) => match &*source.target {
                Object::Array(target) => {
                    look(part(&target.own.borrow(), source.offset, source.length))
                }
                _ => look(&[]),
            },
        }
    }

    /// The array that has the elements it shows, and where they are in it.
    #[inline]
    fn source(&self) -> Option<Shown<Object>> {
        let shown = self.shown.borrow();
        shown.as_ref().map(|shown| {
            shown.source(|object| match object {
                Object::Array(array) => &array.shown,
                _ => unreachable!("a general array shows elements of a general array"),
            })
        })
    }

    /// Puts an element in place of another, which it gives back; `None` where there is none.
    #[inline]
    pub fn put(&self, at: usize, value: Value) -> Option<Value> {
        match self.source() {
            None => Some(std::mem::replace(self.own.borrow_mut().get_mut(at)?, value)),
            Some(source) => match &*source.target {
                Object::Array(target) if at < source.length => {
                    let mut all = target.own.borrow_mut();
                    Some(std::mem::replace(all.get_mut(source.offset + at)?, value))
                }
                _ => None,
            },
        }
    }

    /// Gives it elements of its own in place of those that it has or shows.
    pub fn replace(&self, dimensions: Vec<usize>, elements: Vec<Value>) {
        let old = (self.shown.take(), self.own.replace(elements));
        self.dimensions.replace(dimensions);
        drop(old);
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.dimensions.borrow().len()
    }

    /// How many elements it has, active or not.
    pub fn room(&self) -> usize {
        self.dimensions.borrow().iter().product()
    }

    /// The active length of a vector, the total size of any other array.
    pub fn len(&self) -> usize {
        self.fill_pointer.get().unwrap_or_else(|| self.room())
    }

    /// The active elements.
    pub fn active(&self) -> Vec<Value> {
        let length = self.len();
        self.read(|all| all[..length.min(all.len())].to_vec())
    }

    /// Whether it is a simple array.
    pub fn is_simple(&self) -> bool {
        self.fill_pointer.get().is_none() && !self.adjustable && self.shown.borrow().is_none()
    }

    /// How many elements it holds itself; 0 while they are being changed.
    fn len_in_memory(&self) -> usize {
        self.own.try_borrow().map_or(0, |elements| elements.len())
    }

    /// Whether no element is active.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        visit_all(&self.own, visit);
        if let Ok(shown) = self.shown.try_borrow()
            && let Some(shown) = &*shown
        {
            visit(&Value::Object(shown.target.clone()));
        }
    }
}

/// The rarer kinds of value. Native code looks at arrays, whose numbers are given.
#[repr(u8)]
pub enum Object {
    /// An integer outside 64 bits.
    Bignum(BigInt),
    /// A ratio.
    Ratio(Ratio),
    /// A complex number.
    Complex(crate::numbers::Complex),
    /// A general array.
    Array(GeneralArray) = 3,
    /// A hash table.
    HashTable(HashTable),
    /// A package.
    Package(PackageId),
    /// A stream.
    Stream(Stream),
    /// A condition.
    Condition(Box<Condition>),
    /// A class.
    Class(Box<Class>),
    /// An instance of a structure class.
    Instance(Instance),
    /// An instance of a standard class.
    Standard(StandardInstance),
    /// A method of a generic function.
    Method(Box<Method>),
    /// A pathname, as its native text.
    Pathname(String),
    /// An array of one element type; in a box, so that the other bodies stay small.
    Packed(Box<Packed>) = 13,
    /// A state of `random`.
    RandomState(Cell<rung_math::philox::State>),
    /// What the reader does at a character.
    Readtable(Box<crate::readtable::Readtable>),
    /// A thing of a library package, which the language passes around and prints.
    Foreign(Box<dyn Foreign>),
}

/// A thing that a library package brings into the language.
pub trait Foreign: std::any::Any {
    /// What stands between `#<` and `>`: `QUANTIZED-MATRIX Q8_0 (32000 288)`.
    fn words(&self) -> String;

    /// The name of its type, a symbol of package `rung`; `None`: it is of no type but `t`.
    fn type_name(&self) -> Option<&'static str> {
        None
    }

    /// Itself as an array, if it is one.
    fn as_array(&self) -> Option<&dyn ForeignArray> {
        None
    }
}

/// An array that is neither general nor packed, behind the functions for arrays: one of a library
/// package, which is only read, or one that shows a part of a packed array.
pub trait ForeignArray {
    /// The length along each axis.
    fn dimensions(&self) -> Vec<usize>;

    /// The type of the elements.
    fn element_type(&self, lisp: &mut Lisp) -> Value;

    /// The element at a position in row-major order, which is one of the array's.
    fn element(&self, at: usize) -> Outcome;

    /// Why no element is replaced.
    fn read_only(&self) -> Escape;

    /// Replaces the element at a position in row-major order, which is one of the array's.
    fn set_element(&self, _at: usize, _value: &Value) -> Outcome<()> {
        Err(self.read_only())
    }

    /// The array whose elements it shows, and where the first of them is.
    fn displacement(&self) -> Option<(Value, usize)> {
        None
    }

    /// How many elements count, when a vector has a fill pointer.
    fn fill_pointer(&self) -> Option<&Cell<usize>> {
        None
    }

    /// The active elements as a packed array, for what shows one.
    fn packed(&self) -> Option<Outcome<rung_array::Array>> {
        None
    }
}

const _: () = assert!(size_of::<Object>() <= 112);

impl Children for Object {
    const POOL: Pool = Pool::Object;

    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        match self {
            Object::Array(array) => array.children(visit),
            Object::HashTable(table) => table.children(visit),
            Object::Condition(condition) => condition.children(visit),
            Object::Instance(instance) => {
                visit(&Value::Object(instance.class.clone()));
                visit_all(&instance.slots, visit);
            }
            Object::Standard(instance) => {
                visit(&Value::Object(instance.class.borrow().clone()));
                visit_all(&instance.slots, visit);
            }
            // A layout is shared by a class and its instances, a cache by calls under way: what
            // they refer to counts as coming from outside, and stays.
            Object::Class(_) | Object::Method(_) => {}
            Object::Stream(stream) => stream.children(visit),
            Object::Readtable(table) => table.children(visit),
            Object::Bignum(_) | Object::Ratio(_) | Object::Package(_) | Object::Pathname(_) => {}
            // Its parts are numbers, which refer to nothing.
            Object::Complex(_) => {}
            Object::Packed(_) | Object::RandomState(_) | Object::Foreign(_) => {}
        }
    }

    fn weight(&self) -> usize {
        match self {
            Object::Array(array) => array.len_in_memory() * size_of::<Value>(),
            Object::HashTable(table) => table.weight(),
            // A view may name any number of elements, so a single one counts for 1 GiB at most.
            Object::Packed(array) => array.weight().min(1 << 30),
            _ => 0,
        }
    }
}

/// Visits what is held; nothing while somebody changes it, so that the collector takes it as
/// held from outside.
fn visit_all(values: &RefCell<Vec<Value>>, visit: &mut dyn FnMut(&Value)) {
    if let Ok(values) = values.try_borrow() {
        values.iter().for_each(visit);
    }
}
