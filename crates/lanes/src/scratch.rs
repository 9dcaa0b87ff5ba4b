//! Buffers that a thread keeps between calls, so that packing allocates nothing in the steady
//! state. They start on a cache line and are never smaller than the last request.

use std::cell::RefCell;

/// One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line {
    _bytes: [u8; 64],
}

/// Uninitialised-looking room for elements; what is in it means nothing.
#[derive(Default)]
pub(crate) struct Scratch(Vec<Line>);

impl Scratch {
    pub(crate) const fn new() -> Scratch {
        Scratch(Vec::new())
    }

    /// A pointer to room for `count` elements, aligned to a cache line, valid until the next call.
    pub(crate) fn room<T>(&mut self, count: usize) -> *mut T {
        let lines = (count * size_of::<T>()).div_ceil(size_of::<Line>());
        if self.0.len() < lines {
            self.0 = vec![Line { _bytes: [0; 64] }; lines];
        }
        self.0.as_mut_ptr().cast()
    }
}

thread_local! {
    static LEFT: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
    static RIGHT: RefCell<Scratch> = const { RefCell::new(Scratch::new()) };
}

/// Lends this thread's buffer for left operands (packed rows, blocks of strided operands).
pub(crate) fn with_left<R>(body: impl FnOnce(&mut Scratch) -> R) -> R {
    LEFT.with(|cell| match cell.try_borrow_mut() {
        Ok(mut scratch) => body(&mut scratch),
        Err(_) => body(&mut Scratch::new()),
    })
}

/// Lends this thread's buffer for right operands (packed columns).
pub(crate) fn with_right<R>(body: impl FnOnce(&mut Scratch) -> R) -> R {
    RIGHT.with(|cell| match cell.try_borrow_mut() {
        Ok(mut scratch) => body(&mut scratch),
        Err(_) => body(&mut Scratch::new()),
    })
}
