//! The heap: `Ref`, the one reference-counted pointer of the Lisp, `Slot`, one place that holds
//! a value, and the collector of cycles. All `unsafe` of this crate is here.
//!
//! `Ref<T>` counts without atomics (one thread runs Lisp) and has no weak references. Dropping
//! the last reference to a long or deep structure does not recurse on the native stack: below
//! `DEPTH` levels the dead bodies wait in a queue. Bodies of one type lie side by side in chunks,
//! with a list of the free ones, so that the collector finds every body without a list of them.
//!
//! A cycle keeps its own counts above zero. The collector takes from the count of each body the
//! references that other bodies hold (trial deletion over the whole heap, as in CPython): what is
//! left comes from outside - the machine's stacks, symbols, Rust's variables - and is reachable;
//! so is what that leads to; all the rest is garbage. Nobody has to name the roots, nothing is
//! done when references are copied or dropped, and a collection may run at any allocation. It
//! runs when the chunks have grown to three times what was alive after the last one. What the
//! bodies are is in `value`.
#![allow(unsafe_code)]

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use crate::object::Cons;
use crate::value::Value;

mod collect;
pub mod limit;

use collect::{CONDEMNED, is_alive, places};
pub use collect::{Edge, collect};

/// Frees nest this deep on the native stack; deeper ones are queued. A free of a cons takes
/// under 200 bytes of stack, so this is far from any limit.
const DEPTH: u32 = 100;

/// A chunk has this many bytes; one of conses has 1638 of them.
const CHUNK: usize = 1 << 16;

/// No collection before the chunks and what hangs on them have this many bytes: small
/// programs never pay for one.
const LEAST: usize = 32 << 20;

/// The types of bodies; each has a pool of chunks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Pool {
    /// `Cons`.
    Cons,
    /// `Slot`.
    Cell,
    /// `Function`.
    Function,
    /// `Captures`.
    Captures,
    /// `Code`.
    Code,
    /// `Object`.
    Object,
    /// `Text`, which refers to nothing, so that the collector need not look at it.
    Text,
}

const POOLS: usize = 7;

/// A body on the heap, and what the collector has to know about it.
///
/// `children` and `bodies` together name each reference that the body holds at most once. One
/// that is left out counts as coming from outside, which keeps what it refers to; one named too
/// often may end in a collection that finds a dead body in use, and ends the process.
pub trait Children {
    /// Where bodies of this type lie.
    const POOL: Pool;

    /// Calls `visit` with each value this body refers to.
    fn children(&self, visit: &mut dyn FnMut(&Value));

    /// Calls `visit` with each body that this one refers to otherwise than by a value.
    fn bodies(&self, _visit: &mut dyn FnMut(Edge)) {}

    /// How many bytes hang on the body besides its own.
    fn weight(&self) -> usize {
        0
    }
}

#[repr(C)]
struct Header {
    /// How many references there are; 0 in a free body.
    count: Cell<u32>,
    /// The collector's word: see `collect`.
    mark: Cell<u32>,
}

#[repr(C)]
struct Body<T> {
    header: Header,
    value: T,
}

/// A free body: `Body<T>` is no smaller and no less aligned.
#[repr(C)]
struct Free {
    header: Header,
    next: *mut Free,
}

/// A counted reference to a body on the heap.
pub struct Ref<T: Children + 'static> {
    body: NonNull<Body<T>>,
    /// Not `Send`, and owns a `T`.
    owns: PhantomData<(Body<T>, *const ())>,
}

/// Where the value of a body begins, after its header; the count is the header's first word.
pub(crate) const BODY_VALUE: usize = std::mem::offset_of!(Body<Value>, value);

/// Where a free body has the next one.
pub(crate) const FREE_NEXT: usize = std::mem::offset_of!(Free, next);

/// Where this thread keeps the first free pair, for native code.
pub(crate) fn free_pairs() -> *const () {
    FREE.with(|free| (&raw const free[Pool::Cons as usize]).cast())
}

type Release = unsafe fn(NonNull<()>);

/// The chunks of each pool. Given back at the end of the thread, unless something still lives.
#[derive(Default)]
struct Chunks([Vec<NonNull<u8>>; POOLS]);

thread_local! {
    static NESTED: Cell<u32> = const { Cell::new(0) };
    static WAITING: RefCell<Vec<(NonNull<()>, Release)>> = const { RefCell::new(Vec::new()) };
    static FREE: [Cell<*mut Free>; POOLS] = const { [const { Cell::new(ptr::null_mut()) }; POOLS] };
    static CHUNKS: RefCell<Chunks> = RefCell::default();
    /// Bytes of all chunks and what hangs on their bodies.
    static USED: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(LEAST) };
    static COLLECTING: Cell<bool> = const { Cell::new(false) };
}

impl<T: Children + 'static> Ref<T> {
    const FITS: () = assert!(
        size_of::<Body<T>>() >= size_of::<Free>()
            && align_of::<Body<T>>() == align_of::<Free>()
            && size_of::<Body<T>>() * 16 <= CHUNK
    );

    /// Puts a body on the heap.
    #[inline]
    pub fn new(value: T) -> Ref<T> {
        const { Self::FITS };
        let weight = value.weight();
        if weight > 0 {
            charge(weight);
        }
        let mut free = FREE.with(|free| free[T::POOL as usize].get());
        if free.is_null() {
            free = grow(T::POOL, size_of::<Body<T>>());
        }
        // SAFETY: `free` heads the list of this pool, whose bodies are `Body<T>` in size and
        // alignment and belong to nobody; it is taken off the list before it is written.
        let body = unsafe {
            FREE.with(|list| list[T::POOL as usize].set((*free).next));
            let body = free.cast::<Body<T>>();
            let header = Header { count: Cell::new(1), mark: Cell::new(0) };
            body.write(Body { header, value });
            NonNull::new_unchecked(body)
        };
        Ref { body, owns: PhantomData }
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
        self.body().header.count.get()
    }

    /// This reference for the collector.
    pub fn edge(&self) -> Edge {
        Edge { header: self.body.cast(), pool: T::POOL }
    }

    /// # Safety
    /// `body` is a `Body<T>` that a reference was dropped of by hand, the last one.
    pub(crate) unsafe fn release_at(body: *mut ()) {
        // SAFETY: by the contract the body is there, and this reference is not dropped again.
        let body = unsafe { NonNull::new_unchecked(body.cast()) };
        std::mem::ManuallyDrop::new(Ref::<T> { body, owns: PhantomData }).release();
    }

    #[cold]
    #[inline(never)]
    fn release(&mut self) {
        if self.body().header.mark.get() == CONDEMNED {
            // The collector frees it when the whole cycle has let go.
            return;
        }
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
#[inline]
unsafe fn free<T: Children + 'static>(body: NonNull<()>) {
    let body = body.cast::<Body<T>>().as_ptr();
    // SAFETY: by the contract above the value is whole and dropped here alone; then the place is
    // nobody's and may head the list of free ones.
    unsafe {
        let weight = (*body).value.weight();
        if weight > 0 {
            USED.set(USED.get().saturating_sub(weight));
        }
        ptr::drop_in_place(&raw mut (*body).value);
        put_back(body.cast(), T::POOL);
    }
}

/// # Safety
/// `place` is a body of the pool that nothing refers to and whose value is dropped.
#[inline]
unsafe fn put_back(place: *mut Free, pool: Pool) {
    FREE.with(|list| {
        let list = &list[pool as usize];
        let header = Header { count: Cell::new(0), mark: Cell::new(0) };
        // SAFETY: by the contract above nobody reads what is overwritten; `Ref::FITS` says that
        // there is room.
        unsafe { place.write(Free { header, next: list.get() }) };
        list.set(place);
    });
}

/// One more chunk for a pool, after a collection if the heap has grown enough; its first free
/// body.
#[cold]
#[inline(never)]
fn grow(pool: Pool, size: usize) -> *mut Free {
    if USED.get() + CHUNK > LIMIT.get() && collect() > 0 {
        let free = FREE.with(|free| free[pool as usize].get());
        if !free.is_null() {
            return free;
        }
    }
    USED.set(USED.get() + CHUNK);
    // SAFETY: the layout has a size above zero.
    let Some(chunk) = NonNull::new(unsafe { alloc(LAYOUT) }) else { handle_alloc_error(LAYOUT) };
    // At the end of the thread the list is gone; then the chunk stays with the process.
    let _ = CHUNKS.try_with(|chunks| chunks.borrow_mut().0[pool as usize].push(chunk));
    for at in (0..CHUNK / size).rev() {
        // SAFETY: inside the chunk, aligned because sizes are multiples of the alignment, and new.
        unsafe { put_back(chunk.as_ptr().add(at * size).cast(), pool) };
    }
    FREE.with(|free| free[pool as usize].get())
}

const LAYOUT: Layout = match Layout::from_size_align(CHUNK, align_of::<Free>()) {
    Ok(layout) => layout,
    Err(_) => panic!("a chunk has no layout"),
};

/// Counts bytes that hang on a body towards the next collection, and makes it if it is due.
pub fn charge(bytes: usize) {
    let used = USED.get().saturating_add(bytes);
    USED.set(used);
    if used > LIMIT.get() {
        collect();
    }
}

impl Drop for Chunks {
    fn drop(&mut self) {
        let alive = (0..POOLS).any(|at| {
            // SAFETY: the chunks are of this pool.
            self.0[at].iter().any(|chunk| unsafe { places(*chunk, at) }.any(is_alive))
        });
        if alive {
            return;
        }
        FREE.with(|free| free.iter().for_each(|list| list.set(ptr::null_mut())));
        for chunk in self.0.iter().flatten() {
            // SAFETY: made by `grow` with this layout; nothing in it lives or is on a list.
            unsafe { dealloc(chunk.as_ptr(), LAYOUT) };
        }
    }
}

impl<T: Children + 'static> Ref<T> {
    /// Counts one more reference.
    #[inline(always)]
    fn count_one(&self) {
        let count = &self.body().header.count;
        // 2^32 references of 16 bytes are 64 GiB: out of memory comes first, but stay sound.
        match count.get().checked_add(1) {
            Some(more) => count.set(more),
            None => std::process::abort(),
        }
    }
}

impl<T: Children + 'static> Clone for Ref<T> {
    #[inline(always)]
    fn clone(&self) -> Ref<T> {
        self.count_one();
        Ref { body: self.body, owns: PhantomData }
    }
}

/// A copy of a value: all 16 bytes in one. Made again from its parts, the copy was written in two
/// pieces, and whoever read it whole had to wait for both: 41 % of the time of `aref`.
#[inline(always)]
pub(crate) fn copy(value: &Value) -> Value {
    match value {
        Value::Cons(at) => at.count_one(),
        Value::Function(at) => at.count_one(),
        Value::String(at) => at.count_one(),
        Value::Cell(at) => at.count_one(),
        Value::Object(at) => at.count_one(),
        Value::Nil | Value::Unbound | Value::Fixnum(_) | Value::Double(_) => {}
        Value::Single(_) | Value::Char(_) | Value::Symbol(_) => {}
    }
    // SAFETY: the value is whole, and a reference in it has just been counted for the copy.
    unsafe { ptr::read(value) }
}

impl<T: Children + 'static> Drop for Ref<T> {
    #[inline(always)]
    fn drop(&mut self) {
        let count = &self.body().header.count;
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
    const POOL: Pool = Pool::Cell;

    #[inline]
    fn children(&self, visit: &mut dyn FnMut(&Value)) {
        // SAFETY: as in `get`: the collector, who alone visits, writes nothing meanwhile.
        visit(unsafe { &*self.0.get() });
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
