//! How much the heap may take. It is looked at when a collection ends, so that only what is still reachable
//! counts; the program is told where it looks for Ctrl-C, and may clean up meanwhile.

use super::{LIMIT, USED};
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Of the limit, what a program may take beyond it to handle the condition, before it is told again.
const MORE: usize = 8;

struct Bound {
    bytes: usize,
    /// The program is told when this much is used.
    next: usize,
    /// Told, and not yet asked about.
    reached: bool,
    /// Raised to make the program look.
    flag: Arc<AtomicBool>,
}

thread_local! {
    static BOUND: RefCell<Option<Bound>> = const { RefCell::new(None) };
}

/// From now on this thread's heap may take so many bytes; whoever runs the program looks at the flag.
pub fn set(bytes: Option<usize>, flag: &Arc<AtomicBool>) {
    let bound = |bytes| Bound { bytes, next: bytes, reached: false, flag: flag.clone() };
    BOUND.set(bytes.map(bound));
    watch();
}

/// The limit, once for each time that it was reached.
pub fn take_reached() -> Option<usize> {
    BOUND.with_borrow_mut(|bound| {
        let bound = bound.as_mut().filter(|bound| bound.reached)?;
        bound.reached = false;
        Some(bound.bytes)
    })
}

/// Tells the program if too much is used, and sees to a collection before more than that is.
pub(super) fn watch() {
    // At the end of a thread there is nobody to tell.
    let _ = BOUND.try_with(|bound| {
        let Ok(mut bound) = bound.try_borrow_mut() else { return };
        let Some(bound) = &mut *bound else { return };
        let used = USED.get();
        if used < bound.bytes {
            bound.next = bound.bytes;
        } else if used >= bound.next {
            bound.next = used.saturating_add(bound.bytes / MORE);
            bound.reached = true;
            bound.flag.store(true, Ordering::Relaxed);
        }
        LIMIT.set(LIMIT.get().min(bound.next));
    });
}
