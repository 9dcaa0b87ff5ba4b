//! SIGTERM and SIGHUP end the process at once, as they end any other: but what was printed arrives
//! first, and no unfinished file stays. A thread of ours waits for them, since a handler could do
//! neither; every other thread has them blocked from the start. Then the process ends by the signal
//! itself, so that who started it sees 143 or 129. Where whoever started it had one ignored (`nohup`)
//! it stays ignored.

#[cfg(unix)]
pub use unix::block;

/// Elsewhere Ctrl-C is all there is.
#[cfg(not(unix))]
pub fn block() -> impl FnOnce() + Send {
    || ()
}

#[cfg(unix)]
mod unix {
    use crate::streams;
    use nix::sys::signal::{SigSet, Signal, raise};
    use std::sync::{Arc, Barrier};

    /// Blocks them from now on, before any other thread is started, which inherits what is blocked; what is
    /// returned begins to wait for them. That is for the thread on which Lisp runs: its stack of 256 MiB comes
    /// first, where address space is short, and what the thread of signals reserves (64 MiB for a few
    /// bytes) only if there is room.
    pub fn block() -> impl FnOnce() + Send {
        let mut signals = SigSet::empty();
        let ours = [Signal::SIGTERM, Signal::SIGHUP].into_iter().filter(|one| !is_ignored(*one));
        ours.for_each(|one| signals.add(one));
        let blocked = signals != SigSet::empty() && signals.thread_block().is_ok();
        move || {
            if blocked {
                watch(signals);
            }
        }
    }

    fn watch(signals: SigSet) {
        let thread = std::thread::Builder::new().name("signals".into()).stack_size(256 << 10);
        // It has begun before anything else does: a thread begins no more once the loader of libraries
        // waits for a file, and the signals would be blocked for good.
        let begun = Arc::new(Barrier::new(2));
        let there = begun.clone();
        match thread.spawn(move || wait(signals, &there)) {
            Ok(_) => drop(begun.wait()),
            Err(_) => drop(signals.thread_unblock()),
        }
    }

    fn wait(signals: SigSet, begun: &Barrier) {
        begun.wait();
        while let Ok(signal) = signals.wait() {
            streams::deliver();
            let held = rung_base::file::abandon();
            // Unblocked here alone, it reaches this thread and ends them all.
            let _ = signals.thread_unblock();
            let _ = raise(signal);
            drop(held);
            let _ = signals.thread_block();
        }
    }

    /// Whether the system drops it, as `nohup` asks for; blocked, it would come to us all the same.
    fn is_ignored(signal: Signal) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        mask.is_some_and(|mask| mask >> (signal as i32 - 1) & 1 == 1)
    }
}
