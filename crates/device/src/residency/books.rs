//! A lock that a child of a fork does not wait at for ever: another thread may have held it when the process
//! split, and in the child that thread is not there to release it.

use crate::device::lock;
use std::sync::{Mutex, MutexGuard, OnceLock, TryLockError};
use std::time::{Duration, Instant};

/// How long a child waits for what may be another thread of its own. Books are held for microseconds.
const PATIENCE: Duration = Duration::from_millis(100);

/// State under a lock; a child that cannot get at its parent's begins with empty books of its own.
pub(super) struct Books<T> {
    process: u32,
    parent: Mutex<T>,
    child: OnceLock<Mutex<T>>,
}

impl<T: Default> Books<T> {
    pub fn new(value: T) -> Books<T> {
        Books { process: std::process::id(), parent: Mutex::new(value), child: OnceLock::new() }
    }

    /// The state. It is whole at every point where a panic could leave it.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        match self.process == std::process::id() {
            true => lock(&self.parent),
            false => self.lock_in_child(),
        }
    }

    fn lock_in_child(&self) -> MutexGuard<'_, T> {
        if let Some(own) = self.child.get() {
            return lock(own);
        }
        let start = Instant::now();
        while start.elapsed() < PATIENCE {
            match self.parent.try_lock() {
                Ok(guard) => return guard,
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            }
        }
        lock(self.child.get_or_init(Mutex::default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_a_parent(value: i32) -> Books<i32> {
        Books { process: std::process::id() + 1, ..Books::new(value) }
    }

    #[test]
    fn a_child_reads_what_nobody_held() {
        let books = of_a_parent(7);
        *books.lock() += 1;
        assert_eq!((*books.lock(), books.child.get().is_none()), (8, true));
    }

    #[test]
    fn a_child_begins_anew_where_the_lock_was_held() {
        let books = of_a_parent(7);
        let held = books.parent.lock().unwrap();
        assert_eq!(*books.lock(), 0);
        *books.lock() = 3;
        drop(held);
        assert_eq!(*books.lock(), 3);
    }
}
