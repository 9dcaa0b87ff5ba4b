//! The collector of cycles: trial deletion over all chunks. How and when is said in `heap`.

use std::alloc::dealloc;
use std::cell::Cell;
use std::ptr::{self, NonNull};

use super::{
    Body, CHUNK, CHUNKS, COLLECTING, Children, Chunks, FREE, Free, Header, LAYOUT, LEAST, LIMIT,
    POOLS, Pool, Slot, USED, limit,
};
use crate::code::{Captures, Code, Function};
use crate::object::{Cons, Object, Text};
use crate::value::Value;

/// A body whatever its type.
#[derive(Clone, Copy)]
pub struct Edge {
    pub(super) header: NonNull<Header>,
    pub(super) pool: Pool,
}

/// Marks while a collection runs. A body that is reachable, and one that is garbage; any other
/// mark is how many references to it are not accounted for yet.
const REACHED: u32 = u32::MAX;
pub(super) const CONDEMNED: u32 = u32::MAX - 1;

/// What the collector does with the bodies of a pool.
struct Methods {
    size: usize,
    visit: unsafe fn(NonNull<Header>, &mut dyn FnMut(Edge)),
    weight: unsafe fn(NonNull<Header>) -> usize,
    drop: unsafe fn(NonNull<Header>),
}

impl Methods {
    const fn of<T: Children + 'static>() -> Methods {
        Methods {
            size: size_of::<Body<T>>(),
            visit: visit::<T>,
            weight: weight::<T>,
            drop: drop_value::<T>,
        }
    }
}

/// In the order of `Pool`.
const METHODS: [Methods; POOLS] = [
    Methods::of::<Cons>(),
    Methods::of::<Slot>(),
    Methods::of::<Function>(),
    Methods::of::<Captures>(),
    Methods::of::<Code>(),
    Methods::of::<Object>(),
    Methods::of::<Text>(),
];

/// # Safety
/// The header is that of a living `Body<T>`; so for the two below.
unsafe fn visit<T: Children>(header: NonNull<Header>, visit: &mut dyn FnMut(Edge)) {
    // SAFETY: by the contract.
    let value = unsafe { &header.cast::<Body<T>>().as_ref().value };
    value.children(&mut |child| match child {
        Value::Cons(pair) => visit(pair.edge()),
        Value::Function(function) => visit(function.edge()),
        Value::Cell(cell) => visit(cell.edge()),
        Value::Object(object) => visit(object.edge()),
        _ => {}
    });
    value.bodies(visit);
}

unsafe fn weight<T: Children>(header: NonNull<Header>) -> usize {
    // SAFETY: by the contract.
    unsafe { header.cast::<Body<T>>().as_ref().value.weight() }
}

unsafe fn drop_value<T>(header: NonNull<Header>) {
    // SAFETY: by the contract; the collector calls it once and then only reads the header.
    unsafe { ptr::drop_in_place(&raw mut (*header.cast::<Body<T>>().as_ptr()).value) };
}

impl Edge {
    fn header(&self) -> &Header {
        // SAFETY: edges are made of living bodies and kept only while a collection runs, which
        // gives no place back before its end.
        unsafe { self.header.as_ref() }
    }

    fn visit(&self, visit: &mut dyn FnMut(Edge)) {
        // SAFETY: the pool says the type; the collector visits before it drops any value.
        unsafe { (METHODS[self.pool as usize].visit)(self.header, visit) }
    }
}

/// The pools whose bodies refer to others.
const TRACED: [Pool; POOLS - 1] =
    [Pool::Cons, Pool::Cell, Pool::Function, Pool::Captures, Pool::Code, Pool::Object];

/// The places of a chunk.
///
/// # Safety
/// The chunk belongs to the pool.
pub(super) unsafe fn places(
    chunk: NonNull<u8>,
    pool: usize,
) -> impl Iterator<Item = NonNull<Header>> {
    let size = METHODS[pool].size;
    // SAFETY: all of them lie inside the chunk.
    (0..CHUNK / size).map(move |at| unsafe { chunk.add(at * size).cast::<Header>() })
}

pub(super) fn is_alive(place: NonNull<Header>) -> bool {
    // SAFETY: every place of a chunk has a header, a free one too.
    unsafe { place.as_ref() }.count.get() > 0
}

impl Chunks {
    /// Calls `body` with all living bodies that may refer to others.
    fn for_each(&self, mut body: impl FnMut(Edge)) {
        for pool in TRACED {
            for chunk in &self.0[pool as usize] {
                // SAFETY: the chunk is of the pool.
                for header in unsafe { places(*chunk, pool as usize) }.filter(|it| is_alive(*it)) {
                    body(Edge { header, pool });
                }
            }
        }
    }

    /// Marks what is reachable from outside the heap.
    fn mark(&self) {
        self.for_each(|edge| edge.header().mark.set(edge.header().count.get()));
        self.for_each(|edge| {
            edge.visit(&mut |child| {
                let mark = &child.header().mark;
                mark.set(mark.get().saturating_sub(1));
            });
        });
        let mut waiting = Vec::new();
        self.for_each(|edge| {
            if !matches!(edge.header().mark.get(), 0 | REACHED) {
                edge.header().mark.set(REACHED);
                waiting.push(edge);
            }
            while let Some(reached) = waiting.pop() {
                reached.visit(&mut |child| {
                    if child.header().mark.replace(REACHED) != REACHED {
                        waiting.push(child);
                    }
                });
            }
        });
    }

    /// Makes the lists of free places anew, in the order of memory, and gives chunks without any
    /// living body back beyond `LEAST`; the bytes of what is alive.
    fn sweep(&mut self) -> usize {
        let (mut alive, mut kept) = (0, 0);
        for (at, methods) in METHODS.iter().enumerate() {
            let mut list = ptr::null_mut::<Free>();
            self.0[at].retain(|chunk| {
                // SAFETY: the chunk is of the pool.
                let places = || unsafe { places(*chunk, at) };
                let count = places().filter(|place| is_alive(*place)).count();
                if count == 0 && kept >= LEAST {
                    USED.set(USED.get().saturating_sub(CHUNK));
                    // SAFETY: made by `grow`; nothing in it lives, and the lists are made anew.
                    unsafe { dealloc(chunk.as_ptr(), LAYOUT) };
                    return false;
                }
                (alive, kept) = (alive + count * methods.size, kept + CHUNK);
                for place in places().filter(|place| !is_alive(*place)) {
                    let header = Header { count: Cell::new(0), mark: Cell::new(0) };
                    let place = place.cast::<Free>().as_ptr();
                    // SAFETY: a free place, which nobody reads.
                    unsafe { place.write(Free { header, next: list }) };
                    list = place;
                }
                true
            });
            FREE.with(|free| free[at].set(list));
        }
        alive
    }
}

/// Frees all cycles that nothing outside them refers to; how many bodies that were.
pub fn collect() -> usize {
    if COLLECTING.replace(true) {
        return 0;
    }
    let freed = CHUNKS.try_with(|chunks| {
        let mut garbage = Vec::new();
        {
            let chunks = chunks.borrow();
            chunks.mark();
            chunks.for_each(|edge| {
                if edge.header().mark.get() != REACHED {
                    edge.header().mark.set(CONDEMNED);
                    garbage.push(edge);
                }
            });
        }
        for edge in &garbage {
            // SAFETY: a living body of that pool. Its references are dropped with it; condemned
            // ones among them are left to this loop by `release`.
            unsafe { (METHODS[edge.pool as usize].drop)(edge.header) };
        }
        if garbage.iter().any(|edge| edge.header().count.get() != 0) {
            eprintln!("internal error: the collector found a dead object in use");
            std::process::abort();
        }
        let mut chunks = chunks.borrow_mut();
        let alive = chunks.sweep();
        let mut hanging = 0usize;
        chunks.for_each(|edge| {
            // SAFETY: a living body of that pool.
            let weight = unsafe { (METHODS[edge.pool as usize].weight)(edge.header) };
            hanging = hanging.saturating_add(weight);
        });
        USED.set(chunks.0.iter().map(|pool| pool.len() * CHUNK).sum::<usize>() + hanging);
        LIMIT.set((3 * (alive + hanging)).max(LEAST));
        limit::watch();
        garbage.len()
    });
    COLLECTING.set(false);
    freed.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::condition::Condition;
    use crate::heap::Ref;
    use crate::object::{Foreign, HashTable, Instance, Test};
    use crate::symbol;
    use crate::value::{NIL, cons};

    /// Says how often it was dropped.
    struct Witness(Rc<Cell<u32>>);

    impl Foreign for Witness {
        fn words(&self) -> String {
            "WITNESS".to_string()
        }
    }

    impl Drop for Witness {
        fn drop(&mut self) {
            self.0.set(self.0.get() + 1);
        }
    }

    fn witness(count: &Rc<Cell<u32>>) -> Value {
        Value::object(Object::Foreign(Box::new(Witness(count.clone()))))
    }

    fn closure(captured: Value) -> (Value, Ref<Slot>) {
        let cell = Ref::new(Slot::new(captured));
        let values = [Value::Cell(cell.clone())].into_iter().collect();
        let code = Code {
            name: NIL,
            ops: Rc::from([]),
            parameters: Default::default(),
            simple: Some(0),
            registers: 0,
            constants: Vec::new(),
            templates: Vec::new(),
            exits: Vec::new(),
            lines: Vec::new(),
            locals: Vec::new(),
            lambda_list: NIL,
            documentation: NIL,
            native: Default::default(),
        };
        let captures = Ref::new(Captures { values, siblings: None });
        let closure = crate::code::Closure { code: Ref::new(code), captures };
        (Value::Function(Ref::new(Function::Closure(closure))), cell)
    }

    #[test]
    fn a_cycle_through_every_kind_of_object_is_dropped_once() {
        let dropped = Rc::new(Cell::new(0));
        let pair = cons(NIL, witness(&dropped));
        let vector = Value::vector(vec![pair.clone(), witness(&dropped)]);
        let table = Value::object(Object::HashTable(HashTable::new(Test::Eq)));
        table.as_hash_table().unwrap().set(vector, witness(&dropped));
        let condition = Condition::of_class(symbol::ERROR)
            .with(symbol::KEY_DATUM, table)
            .with(symbol::KEY_NAME, witness(&dropped))
            .into_value();
        // Classes report nothing themselves: instances share a layout.
        let definition = crate::class::Definition::default();
        let kind = crate::class::ClassKind::Structure;
        let class = crate::class::Class::new(symbol::T, kind, definition);
        let instance = Value::object(Object::Instance(Instance {
            class: Ref::new(Object::Class(Box::new(class))),
            slots: vec![condition, witness(&dropped)].into(),
        }));
        let (function, cell) = closure(instance);
        pair.as_cons().unwrap().set_car(function.clone());
        drop((cell, function));
        assert_eq!((collect(), dropped.get()), (0, 0));
        drop(pair);
        assert_eq!(dropped.get(), 0);
        assert!(collect() >= 9);
        assert_eq!(dropped.get(), 5);
        assert_eq!(collect(), 0);
        assert_eq!(dropped.get(), 5);
    }

    #[test]
    fn what_a_cycle_refers_to_outside_stays_whole() {
        let dropped = Rc::new(Cell::new(0));
        let kept = cons(witness(&dropped), NIL);
        let ring = cons(kept.clone(), NIL);
        ring.as_cons().unwrap().set_cdr(ring.clone());
        drop(ring);
        assert_eq!(collect(), 1);
        assert_eq!((dropped.get(), kept.as_cons().unwrap().count()), (0, 1));
        drop(kept);
        assert_eq!(dropped.get(), 1);
    }

    #[test]
    fn a_cycle_that_is_held_stays_and_a_long_list_is_looked_through_without_recursion() {
        let ring = cons(Value::Fixnum(7), NIL);
        ring.as_cons().unwrap().set_cdr(ring.clone());
        let mut list = ring;
        for i in 0..300_000 {
            list = cons(Value::Fixnum(i), list);
        }
        assert_eq!(collect(), 0);
        assert_eq!(list.elements().take(300_005).last().unwrap().as_fixnum(), Some(7));
        drop(list);
        assert_eq!(collect(), 1);
    }

    #[test]
    fn an_array_that_is_being_changed_keeps_what_it_holds() {
        let vector = Value::vector(vec![cons(NIL, NIL)]);
        let Some(array) = vector.as_array() else { return };
        let mut elements = array.own.borrow_mut();
        assert_eq!(collect(), 0);
        elements[0] = NIL;
    }

    #[test]
    fn ten_million_dropped_cycles_take_the_memory_of_a_few() {
        for i in 0..10_000_000 {
            let ring = cons(Value::Fixnum(i), NIL);
            ring.as_cons().unwrap().set_cdr(ring.clone());
        }
        assert!(USED.get() <= LEAST + CHUNK, "{} bytes", USED.get());
    }

    #[test]
    fn large_arrays_in_cycles_count_with_their_elements() {
        let mut most = 0;
        for _ in 0..300 {
            let vector = Value::vector(vec![NIL; 1 << 16]);
            vector.as_array().unwrap().put(0, vector.clone());
            most = most.max(USED.get());
        }
        assert!(most < 2 * LEAST, "{most} bytes");
    }

    #[test]
    fn memory_of_what_is_gone_is_used_again_and_given_back() {
        let lists = (0..1_500_000).map(|i| cons(Value::Fixnum(i), NIL)).collect::<Vec<_>>();
        let most = USED.get();
        assert!(most > LEAST);
        drop(lists);
        collect();
        assert!(USED.get() <= LEAST + 8 * CHUNK, "{most} {}", USED.get());
    }

    /// Says across threads that it was dropped.
    struct Farewell(std::sync::Arc<std::sync::atomic::AtomicU32>);

    impl Foreign for Farewell {
        fn words(&self) -> String {
            "FAREWELL".to_string()
        }
    }

    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        }
    }

    #[test]
    fn values_kept_by_a_thread_outlive_the_end_of_its_chunks() {
        thread_local!(static KEPT: std::cell::RefCell<Vec<Value>> = Default::default());
        let dropped = std::sync::Arc::default();
        let farewell = Farewell(std::sync::Arc::clone(&dropped));
        let thread = std::thread::spawn(move || {
            // The first use decides which of the two is dropped first at the end.
            KEPT.with_borrow_mut(|kept| {
                kept.push(cons(Value::object(Object::Foreign(Box::new(farewell))), NIL));
            });
        });
        thread.join().unwrap();
        assert_eq!(dropped.load(std::sync::atomic::Ordering::Relaxed), 1);
    }
}
