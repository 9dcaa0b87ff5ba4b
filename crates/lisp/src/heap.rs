//! The heap: `Ref`, the one reference-counted pointer of the Lisp, and `Slot`, one place that
//! holds a value. All `unsafe` of this crate is here.
//!
//! `Ref<T>` counts without atomics (one thread runs Lisp) and has no weak references. Dropping
//! the last reference to a long or deep structure does not recurse on the native stack: below
//! `DEPTH` levels the dead bodies wait in a queue. Every body can name its `children`, and each
//! carries a spare word, so that a collector of cycles needs nothing from the other modules.
//! What the bodies are is in `value`.
#![allow(unsafe_code)]

use std::cell::{Cell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::ptr::NonNull;

use crate::object::Cons;
use crate::value::Value;

/// Frees nest this deep on the native stack; deeper ones are queued. A free of a cons takes
/// under 200 bytes of stack, so this is far from any limit.
const DEPTH: u32 = 100;

/// What a collector of cycles has to know about a body.
pub trait Children {
    /// Calls `visit` with each value this body refers to.
    fn children(&self, visit: &mut dyn FnMut(&Value));
}

struct Body<T> {
    count: Cell<u32>,
    /// For a collector of cycles; 0 while none runs.
    mark: Cell<u32>,
    value: T,
}

/// A counted reference to a body on the heap.
pub struct Ref<T: Children + 'static> {
    body: NonNull<Body<T>>,
    /// Not `Send`, and owns a `T`.
    owns: PhantomData<(Body<T>, *const ())>,
}

type Release = unsafe fn(NonNull<()>);

thread_local! {
    static NESTED: Cell<u32> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<(NonNull<()>, Release)>> = const { RefCell::new(Vec::new()) };
}

impl<T: Children + 'static> Ref<T> {
    /// Puts a body on the heap.
    pub fn new(value: T) -> Ref<T> {
        let body = Box::new(Body { count: Cell::new(1), mark: Cell::new(0), value });
        Ref { body: NonNull::from(Box::leak(body)), owns: PhantomData }
    }

    #[inline(always)]
    fn body(&self) -> &Body<T> {
        // SAFETY: the body lives as long as its count is above zero, and this reference counts.
        unsafe { self.body.as_ref() }
    }

    /// Whether both are the same body.
    #[inline(always)]
    pub fn same(a: &Ref<T>, b: &Ref<T>) -> bool {
        a.body == b.body
    }

    /// A number that no other living body has.
    pub fn address(&self) -> usize {
        self.body.as_ptr() as usize
    }

    /// How many references there are.
    pub fn count(&self) -> u32 {
        self.body().count.get()
    }

    /// The collector's word of this body.
    pub fn mark(&self) -> &Cell<u32> {
        &self.body().mark
    }

    #[cold]
    #[inline(never)]
    fn release(&mut self) {
        let erased = self.body.cast::<()>();
        let nested = NESTED.get();
        if nested >= DEPTH {
            WAITING.with_borrow_mut(|waiting| waiting.push((erased, free::<T>)));
            return;
        }
        NESTED.set(nested + 1);
        // SAFETY: the count just reached zero, so nobody else can reach the body; it is freed once.
        unsafe { free::<T>(erased) };
        NESTED.set(nested);
        if nested == 0 {
            release_waiting();
        }
    }
}

/// Frees the queue. Frees made here nest from level 1, so they refill the queue when deep.
fn release_waiting() {
    while let Some((body, release)) = WAITING.with_borrow_mut(Vec::pop) {
        NESTED.set(1);
        // SAFETY: each queued body had a count of zero when it was queued, and is queued once.
        unsafe { release(body) };
        NESTED.set(0);
    }
}

/// # Safety
/// `body` is a `Body<T>` made by `Ref::new` that nothing refers to any more.
unsafe fn free<T: Children + 'static>(body: NonNull<()>) {
    // SAFETY: by the contract above this is the box that `Ref::new` leaked.
    drop(unsafe { Box::from_raw(body.cast::<Body<T>>().as_ptr()) });
}

impl<T: Children + 'static> Clone for Ref<T> {
    #[inline(always)]
    fn clone(&self) -> Ref<T> {
        let count = &self.body().count;
        // 2^32 references of 16 bytes are 64 GiB: out of memory comes first, but stay sound.
        match count.get().checked_add(1) {
            Some(more) => count.set(more),
            None => std::process::abort(),
        }
        Ref { body: self.body, owns: PhantomData }
    }
}

impl<T: Children + 'static> Drop for Ref<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let count = &self.body().count;
        let left = count.get() - 1;
        count.set(left);
        if left == 0 {
            self.release();
        }
    }
}

impl<T: Children + 'static> std::ops::Deref for Ref<T> {
    type Target = T;
    #[inline(always)]
    fn deref(&self) -> &T {
        &self.body().value
    }
}

/// One mutable place holding a value: a `Cell` that can be read by cloning.
pub struct Slot(UnsafeCell<Value>);

impl Slot {
    /// A place that holds `value`.
    #[inline(always)]
    pub fn new(value: Value) -> Slot {
        Slot(UnsafeCell::new(value))
    }

    /// A copy of the value held.
    #[inline(always)]
    pub fn get(&self) -> Value {
        // SAFETY: no reference into the cell outlives `get`, `set` or `replace`, and cloning a
        // value runs no code of others (it adds to a count), so nothing writes meanwhile.
        unsafe { (*self.0.get()).clone() }
    }

    /// Holds `value` from now on.
    #[inline(always)]
    pub fn set(&self, value: Value) {
        drop(self.replace(value));
    }

    /// Holds `value` from now on and gives what was held.
    #[inline(always)]
    pub fn replace(&self, value: Value) -> Value {
        // SAFETY: as in `get`; the old value is moved out before anything can be dropped.
        unsafe { std::mem::replace(&mut *self.0.get(), value) }
    }
}

/// Where a walk along a list has stopped.
pub enum Stop {
    /// At a pair that is meant, so many pairs along.
    Found(Ref<Cons>, usize),
    /// At what ends the list; nil in a proper one.
    End(Value, usize),
    /// Nowhere yet: there is more of the list, which may be circular.
    More(Value, usize),
}

/// After so many pairs a walk pauses, so that the caller can look for Ctrl-C.
const STRETCH: usize = 1 << 20;

/// The first pair of a list whose car is `eql` to an item.
pub fn find_eql(list: &Value, item: &Value) -> Stop {
    // SAFETY: `eql` runs no code of others, so nothing is written while the reference lives.
    walk(list, STRETCH, |pair| unsafe { &*pair.car_slot().0.get() }.eql(item))
}

/// The first pair of a list whose car is a pair with a car `eql` to an item, or is neither a pair
/// nor nil and so should not be there.
pub fn find_key_eql(list: &Value, item: &Value) -> Stop {
    walk(list, STRETCH, |pair| {
        // SAFETY: as in `find_eql`.
        match unsafe { &*pair.car_slot().0.get() } {
            // SAFETY: as in `find_eql`.
            Value::Cons(entry) => unsafe { &*entry.car_slot().0.get() }.eql(item),
            other => !other.is_nil(),
        }
    })
}

/// So many pairs along a list, at most `STRETCH`.
pub fn along(list: &Value, count: usize) -> Stop {
    walk(list, count.min(STRETCH), |_| false)
}

/// Walks without counting references, which takes most of the time otherwise.
#[inline(always)]
fn walk(list: &Value, most: usize, meant: impl Fn(&Ref<Cons>) -> bool) -> Stop {
    let mut rest = list;
    for count in 0..most {
        let Value::Cons(pair) = rest else { return Stop::End(rest.clone(), count) };
        if meant(pair) {
            return Stop::Found(pair.clone(), count);
        }
        // SAFETY: the callers' `meant` write nothing and run no code of others, so all pairs up
        // to here stay as they are, and the list, which the caller holds, keeps them alive.
        rest = unsafe { &*pair.cdr_slot().0.get() };
    }
    Stop::More(rest.clone(), most)
}

impl Children for Slot {
    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        visit(&self.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::{NIL, Value, cons};

    #[test]
    fn ten_million_conses_are_freed_without_recursion() {
        let mut list = NIL;
        for i in 0..10_000_000 {
            list = cons(Value::Fixnum(i), list);
        }
        drop(list);
    }

    #[test]
    fn nesting_in_the_car_is_freed_without_recursion() {
        let mut tree = NIL;
        for _ in 0..1_000_000 {
            tree = cons(tree, NIL);
        }
        drop(tree);
    }

    #[test]
    fn counts_follow_clones() {
        let cell = Ref::new(Slot::new(Value::Fixnum(1)));
        let other = cell.clone();
        assert_eq!(cell.count(), 2);
        other.set(Value::Fixnum(5));
        assert!(matches!(cell.get(), Value::Fixnum(5)));
        drop(other);
        assert_eq!(cell.count(), 1);
    }
}
