//! Ctrl-C: the first asks Lisp to stop at its next call or backward jump, or between the pieces of
//! a long array operation; the second quits at once. While nothing is being evaluated there is
//! nobody to ask, so the first one quits; so it does while a script waits for its input, which a
//! question of ours would not wake. How other signals end the process is in `signals`.

use crate::failure::Exit;
use crate::screen::mutter;
use crate::streams;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How long a single operation may take before the user is told what it is waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// A decomposition, a long row that is sorted or a device with up to 64 launches under way looks at no
/// flag until it is done: says so, once it has lasted.
fn tell_if_unheard(flag: Arc<AtomicBool>) {
    std::thread::spawn(move || {
        std::thread::sleep(PATIENCE);
        if flag.load(Ordering::SeqCst) {
            mutter(
                "rung: note: stopping when what runs now (on a device, what is queued) has ended; Ctrl-C again quits now\n",
            );
        }
    });
}

/// Ends the process by Ctrl-C: what was printed arrives, and no unfinished file stays.
fn quit() -> ! {
    streams::deliver();
    let _held = rung_base::file::abandon();
    std::process::exit(Exit::Interrupted as i32);
}

/// From now on Ctrl-C ends the process at once, after `clean`. Where the system gives no handler
/// it ends it as always.
pub fn quit_at_once(clean: impl Fn() + Send + 'static) {
    let _ = ctrlc::set_handler(move || {
        clean();
        quit();
    });
}

/// The Ctrl-C of one run.
#[derive(Clone)]
pub struct Interrupts {
    /// Asked already, and not yet heard.
    asked: Arc<AtomicBool>,
    /// Whether something is being evaluated.
    busy: Arc<AtomicBool>,
}

/// Whether a program waits for its input.
#[derive(Clone, Default)]
pub struct Waiting {
    on: Arc<AtomicBool>,
    /// The flag at which Lisp looks: set while Ctrl-C was pressed and not heard yet.
    unheard: Arc<OnceLock<Arc<AtomicBool>>>,
}

impl Waiting {
    /// The program begins to wait. Where Ctrl-C came just before, nobody would hear it while it does.
    pub fn begin(&self) {
        self.on.store(true, Ordering::SeqCst);
        if self.unheard.get().is_some_and(|flag| flag.load(Ordering::SeqCst)) {
            quit();
        }
    }

    pub fn end(&self) {
        self.on.store(false, Ordering::SeqCst);
    }
}

impl Interrupts {
    /// From now on Ctrl-C sets `flag`, at which Lisp looks, or quits while `waiting`. `None`
    /// where the system gives no handler; Ctrl-C then ends the process as always.
    pub fn watch(flag: Arc<AtomicBool>, waiting: Waiting) -> Option<Interrupts> {
        let interrupts = Interrupts {
            asked: Arc::new(AtomicBool::new(false)),
            busy: Arc::new(AtomicBool::new(false)),
        };
        let (asked, busy) = (interrupts.asked.clone(), interrupts.busy.clone());
        let _ = waiting.unheard.set(flag.clone());
        let handler = move || {
            let again = asked.swap(true, Ordering::SeqCst);
            flag.store(true, Ordering::SeqCst);
            let nobody = !busy.load(Ordering::SeqCst) || waiting.on.load(Ordering::SeqCst);
            if again || nobody {
                quit();
            }
            tell_if_unheard(flag.clone());
        };
        ctrlc::set_handler(handler).ok().map(|()| interrupts)
    }

    /// Evaluation begins (or ends): the next Ctrl-C is a first one again.
    pub fn busy(&self, on: bool) {
        self.asked.store(false, Ordering::SeqCst);
        self.busy.store(on, Ordering::SeqCst);
    }
}
