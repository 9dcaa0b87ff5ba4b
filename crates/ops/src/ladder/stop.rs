//! Ending a long call before its end: the lanes look at a flag between pieces of work. Definitions,
//! kept libraries and devices run to their end.

use super::Ladder;
use rung_base::{Error, ErrorKind};
use rung_lanes::Listener;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

impl Ladder {
    /// Long calls end soon after the flag is set, with an error of kind `Interrupt`, but for those
    /// that change arrays where they stand. Whoever set the flag clears it.
    pub fn heed(&self, stop: Arc<AtomicBool>) {
        if let Some(lanes) = &self.lanes {
            lanes.workers().heed(stop);
        }
    }

    /// Long calls of the lanes tell how much of them is done, 0 to 1. The first listener stays.
    pub fn listen(&self, listener: Listener) {
        if let Some(lanes) = &self.lanes {
            lanes.workers().listen(listener);
        }
    }
}

/// A flag that the ladder heeds was set.
pub(super) fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupt, "interrupted")
}
