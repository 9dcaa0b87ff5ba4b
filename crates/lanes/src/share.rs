//! A result cut into shares that threads write: the one place where a slice is split by address.

use crate::{Lanes, Work};

/// Result cells that pieces share; each writes its own.
pub(crate) struct Cells<U>(*mut U);

// SAFETY: pieces write disjoint cells.
unsafe impl<U: Send> Sync for Cells<U> {}

impl<U> Cells<U> {
    pub(crate) fn new(out: &mut [U]) -> Cells<U> {
        Cells(out.as_mut_ptr())
    }

    /// Cells from an address that the caller vouches for.
    pub(crate) fn from(start: *mut U) -> Cells<U> {
        Cells(start)
    }

    pub(crate) fn at(&self, index: usize) -> *mut U {
        self.0.wrapping_add(index)
    }

    /// The cells `start..start + count`.
    ///
    /// # Safety
    /// They must exist and belong to the caller's piece.
    #[allow(clippy::mut_from_ref)]
    pub(crate) unsafe fn range(&self, start: usize, count: usize) -> &mut [U] {
        // SAFETY: the caller's promise.
        unsafe { core::slice::from_raw_parts_mut(self.at(start), count) }
    }
}

/// Runs `body(start, own)` over shares of `out`, each of `share` cells but the last.
pub(crate) fn each_share<U: Send>(
    lanes: &Lanes,
    out: &mut [U],
    share: usize,
    body: &(dyn Fn(usize, &mut [U]) + Sync),
) {
    let (count, cells) = (out.len(), Cells::new(out));
    lanes.workers().run(count.div_ceil(share), &|piece| {
        let (start, end) = (piece * share, count.min((piece + 1) * share));
        // SAFETY: shares are disjoint.
        body(start, unsafe { cells.range(start, end - start) });
    });
}

/// `each_share` with a share for each piece of this kind of work.
pub(crate) fn in_shares<U: Send>(
    lanes: &Lanes,
    out: &mut [U],
    work: Work,
    body: &(dyn Fn(usize, &mut [U]) + Sync),
) {
    let pieces = lanes.pieces(work, out.len());
    each_share(lanes, out, out.len().div_ceil(pieces).max(1), body);
}
