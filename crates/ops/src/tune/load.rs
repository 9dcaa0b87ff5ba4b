//! Whether other work holds the cores: how long the threads of this process ran, and how long they
//! were ready to run and waited for a core. Linux counts both for each thread; elsewhere nothing is
//! known, and nothing is in doubt.

/// Waiting from which a time says more about the other work than about ours.
pub const DISTURBED: f64 = 0.1;

/// How often a disturbed measurement is made.
pub const TRIES: usize = 3;

/// Nanoseconds of all threads since they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    pub ran: u64,
    pub waited: u64,
}

/// Until now.
pub fn now() -> Load {
    let Ok(threads) = std::fs::read_dir("/proc/self/task") else { return Load::default() };
    let each = threads.flatten().filter_map(|thread| {
        let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
        parsed(&text)
    });
    each.fold(Load::default(), |all, one| Load {
        ran: all.ran + one.ran,
        waited: all.waited + one.waited,
    })
}

/// `RAN WAITED SLICES`.
fn parsed(text: &str) -> Option<Load> {
    let mut numbers = text.split_whitespace().map(|word| word.parse().ok());
    Some(Load { ran: numbers.next()??, waited: numbers.next()?? })
}

/// The part of the time between that was waited, 0 to 1.
pub fn waited(before: Load, after: Load) -> f64 {
    let ran = after.ran.saturating_sub(before.ran) as f64;
    let waited = after.waited.saturating_sub(before.waited) as f64;
    if waited == 0.0 { 0.0 } else { waited / (ran + waited) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_a_part_of_the_time_between() {
        assert_eq!(parsed("935487 93996 1\n"), Some(Load { ran: 935_487, waited: 93_996 }));
        assert_eq!((parsed(""), parsed("1 x")), (None, None));
        let load = |ran, waited| Load { ran, waited };
        assert_eq!(waited(load(10, 5), load(40, 15)), 0.25);
        assert_eq!(waited(load(10, 5), load(10, 5)), 0.0);
        // A thread that ended takes its share with it.
        assert_eq!(waited(load(10, 5), load(4, 1)), 0.0);
    }
}
