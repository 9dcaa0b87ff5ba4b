//! How far the host may run ahead of the card: at most 1,024 launches and about a tenth of a second, which
//! is what Ctrl-C and the end of a program wait for.

use super::context::{Context, Event};
use crate::device::Outcome;
use rung_kernel::Kernel;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The most launches between two marks, and the most marks under way: when they are, the older half is
/// waited for.
const MOST_BETWEEN: usize = 256;
const MOST_MARKS: usize = 4;
/// What is waited for should take so long, so that as much again is queued while the host waits: spec
/// acceleration 9.4 has 100 ms for all of it.
const HALF: Duration = Duration::from_millis(50);

/// What is queued on a card.
pub(super) struct Queue {
    since_mark: usize,
    /// Launches between two marks: few until it is known how long they take.
    between: usize,
    marks: VecDeque<Event>,
    /// The kernel queued last, for the text of a failure.
    pub last: Option<Arc<Kernel>>,
}

impl Default for Queue {
    fn default() -> Queue {
        Queue { since_mark: 0, between: 1, marks: VecDeque::new(), last: None }
    }
}

impl Queue {
    /// After a launch: waits for the older half where the queue is full.
    pub fn bound(&mut self, context: &Arc<Context>) -> Outcome<()> {
        self.since_mark += 1;
        if self.since_mark < self.between {
            return Ok(());
        }
        self.since_mark = 0;
        self.marks.push_back(context.event(context.work)?);
        if self.marks.len() == MOST_MARKS {
            let newest = self.marks.drain(..MOST_MARKS / 2).next_back();
            let start = Instant::now();
            newest.map_or(Ok(()), |mark| mark.wait())?;
            self.between = next(self.between, start.elapsed());
        }
        Ok(())
    }
}

/// Launches between two marks after half of the queue took so long to wait for: twice as many where that was
/// short, at once as few as are right where it was long.
fn next(between: usize, waited: Duration) -> usize {
    let right = between as f64 * HALF.as_secs_f64() / waited.as_secs_f64().max(1e-9);
    (right as usize).clamp(1, MOST_BETWEEN.min(2 * between))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_of_long_kernels_is_short() {
        // Launches of 10 microseconds: 1,024 after eight waits.
        let short = |between: usize| Duration::from_micros(20 * between as u64);
        let grown = (0..8).fold(1, |between, _| next(between, short(between)));
        assert_eq!(grown, MOST_BETWEEN);
        assert_eq!(next(grown, Duration::ZERO), MOST_BETWEEN);
        // Launches of 10 ms follow: half a queue of 5 s, then one of 40 ms.
        assert_eq!(next(grown, Duration::from_secs(5)), 2);
        // Launches of a second: one at a time between marks, and four in all.
        assert_eq!(next(2, Duration::from_secs(4)), 1);
        assert_eq!(next(1, Duration::from_secs(2)), 1);
    }
}
