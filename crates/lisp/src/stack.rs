//! How much native stack is left. Everything that recurses on data or calls back into the
//! machine (reader, printer, compiler, `equal`, `mapcar`) asks `check`, so that deep nesting is
//! an error and never a crash.
//!
//! The measure is the distance between the address of a local variable now and at the outermost
//! entry; it needs no knowledge of frame sizes and works in unoptimised builds.

use std::cell::Cell;

use crate::condition::{Escape, Outcome};

thread_local! {
    static TOP: Cell<usize> = const { Cell::new(0) };
    static LIMIT: Cell<usize> = const { Cell::new(0) };
}

/// Used where no embedder has said otherwise: fits the 2 MiB of a Rust thread.
pub const DEFAULT_BYTES: usize = 1 << 20;

#[inline(never)]
fn here() -> usize {
    let local = 0u8;
    std::ptr::from_ref(&local) as usize
}

/// Counts from here, the outermost entry, and allows `bytes` of native stack below.
pub fn enter(bytes: usize) {
    TOP.set(here());
    LIMIT.set(bytes);
}

/// The bytes of native stack used since `enter`.
pub fn used() -> usize {
    TOP.get().saturating_sub(here())
}

/// Whether the allowance is spent. Without an `enter` on this thread the first question sets it.
pub fn exhausted() -> bool {
    if TOP.get() == 0 {
        enter(DEFAULT_BYTES);
    }
    used() > LIMIT.get()
}

/// An error naming `what` when the allowance is spent.
pub fn check(what: &str) -> Outcome<()> {
    if exhausted() { Err(Escape::too_deep(what)) } else { Ok(()) }
}
