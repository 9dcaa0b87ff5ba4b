//! Stopping in the middle: Ctrl-C while one operation runs for long.
//!
//! A pool may heed a flag. It looks at it before each piece, leaves out what is left, and unwinds
//! from the region, as a panic in a piece does; `stoppable` stands around the whole and catches
//! that. What is written so far means nothing then, so that an operation which changes arrays where
//! they stand runs `deaf`.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// What unwinds from a region that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped;

thread_local! {
    static DEAF: Cell<bool> = const { Cell::new(false) };
}

/// Whether regions of this thread may be stopped.
pub(super) fn hears() -> bool {
    !DEAF.get()
}

pub(super) fn payload() -> Box<dyn Any + Send> {
    Box::new(Stopped)
}

/// Unwinds to `stoppable`.
pub(super) fn stop() -> ! {
    resume_unwind(payload())
}

/// Runs `body`, which a flag that its pool heeds may stop; its result is lost then.
pub fn stoppable<R>(body: impl FnOnce() -> R) -> Result<R, Stopped> {
    catch_unwind(AssertUnwindSafe(body)).map_err(|payload| match payload.downcast::<Stopped>() {
        Ok(stopped) => *stopped,
        Err(panic) => resume_unwind(panic),
    })
}

/// Runs `body` to its end, whatever flag its pool heeds.
pub fn deaf<R>(body: impl FnOnce() -> R) -> R {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            DEAF.set(self.0);
        }
    }
    let _before = Before(DEAF.replace(true));
    body()
}
