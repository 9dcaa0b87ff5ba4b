//! Ending a long call before its end: the lanes look at a flag between pieces of work. Definitions,
//! kept libraries and devices run to their end.

use super::Ladder;
use rung_base::{Error, ErrorKind};
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
}

/// A flag that the ladder heeds was set.
pub(super) fn interrupted() -> Error {
    Error::new(ErrorKind::Interrupt, "interrupted")
}
