//! The guard against other work on the machine. A region waits for its last piece; when another
//! process holds a core, that piece waits for the system's next time slice, which is longer than
//! most regions. Published for a 32-thread pool beside one process that kept a single core busy:
//! 9.88 tokens a second became 0.62. Measured here: docs/benchmarks.md, "Beside other work".

use std::time::Duration;

/// Regions running in which the wait for the last piece may exceed the work before the pool
/// takes it that other work holds a core, and regions until it tries all threads again.
const STRIKES: usize = 8;
pub(super) const TRUCE: usize = 1000;

/// Watches the regions of one pool.
#[derive(Default)]
pub(super) struct Guard {
    strikes: usize,
    noted: bool,
}

impl Guard {
    /// Takes in one region: the caller's own work, then its wait for the last piece. True when
    /// that was the last of too many in a row that waited longer than they worked.
    pub fn strikes_out(&mut self, work: Duration, wait: Duration) -> bool {
        self.strikes = if wait > work { self.strikes + 1 } else { 0 };
        let out = self.strikes >= STRIKES;
        if out {
            self.strikes = 0;
        }
        out
    }

    /// Whether this is the first time that threads are taken away: a note is given once.
    pub fn first(&mut self) -> bool {
        !std::mem::replace(&mut self.noted, true)
    }
}
