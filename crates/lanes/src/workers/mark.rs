//! Marks in long work that is no region: where it may be stopped, and how far it is.

use super::{Workers, stop};
use std::sync::atomic::Ordering;

/// Told how much of the whole is done, 0 to 1.
pub type Listener = Box<dyn Fn(f64) + Send + Sync>;

impl Workers {
    /// From now on marks tell how far they are. The first listener stays.
    pub fn listen(&self, listener: Listener) {
        let _ = self.listener.set(listener);
    }

    /// Says how much of a long piece of work is done, and stops there when the flag is set that the
    /// pool heeds. Cheap, but not for every element: some hundred times a second are enough.
    pub fn mark(&self, done: f64) {
        if self.heeded().is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            stop::stop();
        }
        if let Some(listener) = self.listener.get() {
            listener(done);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workers::{Stopped, stoppable};
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_mark_tells_how_far_the_work_is_and_ends_it_when_the_flag_is_set() {
        let workers = Workers::new(1);
        let (flag, told) = (Arc::new(AtomicBool::new(false)), Arc::new(Mutex::new(Vec::new())));
        let heard = told.clone();
        workers.listen(Box::new(move |done| heard.lock().unwrap().push(done)));
        workers.heed(flag.clone());
        let work = || {
            for step in 1..=4 {
                workers.mark(f64::from(step) / 4.0);
                flag.store(step == 2, Ordering::SeqCst);
            }
        };
        assert_eq!(stoppable(work), Err(Stopped));
        assert_eq!(*told.lock().unwrap(), [0.25, 0.5]);
    }
}
