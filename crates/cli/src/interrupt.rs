//! Ctrl-C: the first asks Lisp to stop at its next call or backward jump, the second quits at
//! once. While nothing is being evaluated there is nobody to ask, so the first one quits; so it
//! does while a script waits for its input, which a question of ours would not wake.

use crate::failure::Exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The Ctrl-C of one run.
pub struct Interrupts {
    /// Asked already, and not yet heard.
    asked: Arc<AtomicBool>,
    /// Whether something is being evaluated.
    busy: Arc<AtomicBool>,
}

/// Whether a program waits for its input.
pub type Waiting = Arc<AtomicBool>;

impl Interrupts {
    /// From now on Ctrl-C sets `flag`, at which Lisp looks, or quits while `waiting`. `None` where the system gives no
    /// handler; Ctrl-C then ends the process as always.
    pub fn watch(flag: Arc<AtomicBool>, waiting: Waiting) -> Option<Interrupts> {
        let interrupts = Interrupts {
            asked: Arc::new(AtomicBool::new(false)),
            busy: Arc::new(AtomicBool::new(false)),
        };
        let (asked, busy) = (interrupts.asked.clone(), interrupts.busy.clone());
        let handler = move || {
            let nobody = !busy.load(Ordering::SeqCst) || waiting.load(Ordering::SeqCst);
            if asked.swap(true, Ordering::SeqCst) || nobody {
                std::process::exit(Exit::Interrupted as i32);
            }
            flag.store(true, Ordering::SeqCst);
        };
        ctrlc::set_handler(handler).ok().map(|()| interrupts)
    }

    /// Evaluation begins (or ends): the next Ctrl-C is a first one again.
    pub fn busy(&self, on: bool) {
        self.asked.store(false, Ordering::SeqCst);
        self.busy.store(on, Ordering::SeqCst);
    }
}
