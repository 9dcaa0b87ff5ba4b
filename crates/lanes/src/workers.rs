//! The threads of the lanes rung: a pool that lives as long as its owner and runs one region of
//! numbered pieces at a time.
//!
//! No thread exists before the first region that needs one. Pieces are claimed by an atomic counter
//! and the caller works too, so a region finishes even if no worker ever wakes. Results never
//! depend on who ran a piece. A region inside a region, or one started while another thread's
//! region runs, is done by its own thread. `stop` ends one before its end. `cores` says how many
//! threads there are, and `guard` what happens when other work holds their cores.

mod guard;
mod mark;
mod stop;
#[cfg(test)]
mod tests;

use guard::{Guard, TRUCE};
pub use mark::Listener;
use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};
pub use stop::{Stopped, deaf, stoppable};

/// Pieces offered to each thread at most, so that a late thread costs a quarter of its share.
pub const PIECES_PER_THREAD: usize = 4;

/// Grains of the longest piece: some 60 ms, after which a region looks at the flag it heeds.
const LONGEST: usize = 1 << 14;

/// How long an idle worker spins before it parks. A region that follows within this time starts
/// in about 1 us; waking a parked worker took 20 to 50 us here (2 cores of a virtual machine).
const SPIN: Duration = Duration::from_millis(1);

/// Spins between two yields of an idle thread.
const SPINS_PER_YIELD: u32 = 64;

/// Time since the first reading in this process; tests bring a clock of their own.
type Clock = fn() -> Duration;

fn monotonic() -> Duration {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed()
}

/// The pieces of a region still to be run. Owned by everybody who may look at it; `body` is
/// dereferenced only for a piece claimed below `pieces`, and the region's caller does not return
/// before all of those have finished.
struct Region {
    body: *const (dyn Fn(usize) + Sync),
    pieces: usize,
    /// Workers that may help, counted from the first.
    helpers: usize,
    next: AtomicUsize,
    finished: AtomicUsize,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    caller: Thread,
    /// Once it is set no piece begins.
    stop: Option<Arc<AtomicBool>>,
}

// SAFETY: `body` is `Sync`, and its lifetime is guarded as the comment of `Region` says.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

struct Shared {
    /// Raised by one for every region and once at the end.
    epoch: AtomicUsize,
    region: Mutex<Option<Arc<Region>>>,
    stop: AtomicBool,
    /// Idle workers park at once instead of spinning.
    rest: AtomicBool,
    clock: Clock,
}

struct Worker {
    handle: Option<JoinHandle<()>>,
    parked: Arc<AtomicBool>,
}

/// What only the thread whose region runs may touch.
#[derive(Default)]
struct Pool {
    workers: Vec<Worker>,
    started: bool,
    guard: Guard,
}

/// A pool of workers beside the calling thread.
pub struct Workers {
    shared: Arc<Shared>,
    /// Threads asked for, the caller included; counted when it is first needed.
    most: OnceLock<usize>,
    /// The threads that regions may use at present: fewer than `most` when the system gave fewer
    /// or the guard took some away.
    limit: AtomicUsize,
    /// Regions until the guard gives back what it took; 0 when it took nothing.
    truce: AtomicUsize,
    guarded: AtomicBool,
    /// What a note would say; 0 is nothing.
    note: AtomicUsize,
    /// Set from elsewhere to stop what runs.
    heeded: OnceLock<Arc<AtomicBool>>,
    /// Told how far a long piece of work is.
    listener: OnceLock<Listener>,
    /// The process that started the threads; 0 before.
    process: AtomicU32,
    /// Held while a region runs.
    pool: Mutex<Pool>,
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Workers {
    /// A pool whose regions run on `threads` threads, the caller included. Fewer, if the system
    /// gives no more threads.
    pub fn new(threads: usize) -> Workers {
        let workers = Workers::with_clock(monotonic);
        let _ = workers.most.set(threads.max(1));
        workers
    }

    /// As many threads as the machine is worth (`cores`), counted at the first region that is
    /// large enough: reading the count out of the system takes longer than many a program.
    pub fn of_machine() -> Workers {
        Workers::with_clock(monotonic)
    }

    fn with_clock(clock: Clock) -> Workers {
        Workers {
            shared: Arc::new(Shared {
                epoch: AtomicUsize::new(0),
                region: Mutex::new(None),
                stop: AtomicBool::new(false),
                rest: AtomicBool::new(false),
                clock,
            }),
            most: OnceLock::new(),
            limit: AtomicUsize::new(usize::MAX),
            truce: AtomicUsize::new(0),
            guarded: AtomicBool::new(true),
            note: AtomicUsize::new(0),
            heeded: OnceLock::new(),
            listener: OnceLock::new(),
            process: AtomicU32::new(0),
            pool: Mutex::default(),
        }
    }

    fn most(&self) -> usize {
        *self.most.get_or_init(crate::default_threads)
    }

    /// Threads that work on a region at present, the caller included.
    pub fn threads(&self) -> usize {
        self.most().min(self.limit.load(Ordering::Relaxed))
    }

    /// The count to print, once, after other work on the machine made the pool use fewer threads:
    /// `rung: note: other work on this machine; using 8 threads.`
    pub fn note(&self) -> Option<usize> {
        match self.note.load(Ordering::Relaxed) {
            0 => None,
            _ => Some(self.note.swap(0, Ordering::Relaxed)).filter(|count| *count > 0),
        }
    }

    /// Sends idle workers to sleep at once, before a threaded library wants their cores.
    pub fn rest(&self) {
        self.shared.rest.store(true, Ordering::SeqCst);
    }

    /// From now on regions stop when the flag is set: see `stoppable`. Whoever set it clears it. The
    /// first flag stays.
    pub fn heed(&self, stop: Arc<AtomicBool>) {
        let _ = self.heeded.set(stop);
    }

    /// The flag at which a region of this thread looks.
    fn heeded(&self) -> Option<&Arc<AtomicBool>> {
        self.heeded.get().filter(|_| !INSIDE.get() && stop::hears())
    }

    /// Keeps every thread whatever else the machine does, to measure what the guard is worth.
    #[doc(hidden)]
    pub fn without_guard(&self) {
        self.guarded.store(false, Ordering::Relaxed);
    }

    /// How many pieces to cut `units` of work into: one below `threshold`, else pieces of at least
    /// `grain`, at most four a thread. Where that would make pieces so long that nobody heeds a flag
    /// in time there are more of them, be it on one thread.
    pub fn pieces(&self, units: usize, threshold: usize, grain: usize) -> usize {
        if units < threshold || INSIDE.get() {
            return 1;
        }
        let grain = grain.max(1);
        let least = if self.heeded().is_some() { units / grain.saturating_mul(LONGEST) } else { 0 };
        if self.most() == 1 {
            return least.max(1);
        }
        self.count_down();
        match self.threads() {
            1 => least.max(1),
            threads => (units / grain).clamp(1, least.max(threads * PIECES_PER_THREAD)),
        }
    }

    /// One region less until the guard tries all threads again. Counted here and not where
    /// regions run, because with one thread left none does.
    fn count_down(&self) {
        if self.truce.load(Ordering::Relaxed) == 0 {
            return;
        }
        let less = |truce: usize| truce.checked_sub(1);
        if self.truce.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) == Ok(1) {
            self.limit.store(usize::MAX, Ordering::Relaxed);
        }
    }

    /// Runs `body(0)` to `body(pieces - 1)`, each once, and returns when all have. A panic in a
    /// piece is raised again here, after the pieces that other threads had begun.
    pub fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        let alone = pieces <= 1 || INSIDE.get() || self.threads() == 1;
        let turn = if alone { None } else { self.turn() };
        let Some(mut pool) = turn else {
            return self.alone(pieces, body);
        };
        let warm = pool.started;
        self.start(&mut pool);
        let region = self.region(body, pieces, pool.workers.len());
        let started = (self.shared.clock)();
        self.announce(Some(region.clone()), &pool.workers[..region.helpers]);
        work(&region);
        let worked = (self.shared.clock)();
        wait_for_last(&region, self.shared.clock);
        *lock(&self.shared.region) = None;
        let waited = (self.shared.clock)().saturating_sub(worked);
        // A region that had to start its threads says nothing about the machine.
        if warm && pool.guard.strikes_out(worked.saturating_sub(started), waited) {
            self.halve(&mut pool.guard);
        }
        drop(pool);
        if let Some(payload) = lock(&region.panic).take() {
            resume_unwind(payload);
        }
    }

    fn alone(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        let stop = self.heeded();
        for piece in 0..pieces {
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                stop::stop();
            }
            body(piece);
        }
    }

    fn region(&self, body: &(dyn Fn(usize) + Sync), pieces: usize, most: usize) -> Arc<Region> {
        // SAFETY: only the lifetime is erased; `Region` says who looks at `body`, and until when.
        let body: *const (dyn Fn(usize) + Sync) = unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync), *const (dyn Fn(usize) + Sync)>(
                body,
            )
        };
        Arc::new(Region {
            body,
            pieces,
            helpers: (self.threads() - 1).min(pieces - 1).min(most),
            next: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            panic: Mutex::new(None),
            caller: thread::current(),
            stop: self.heeded().cloned(),
        })
    }

    /// Starts the threads at the first region. What the system does not give is not asked again.
    fn start(&self, pool: &mut Pool) {
        if std::mem::replace(&mut pool.started, true) {
            return;
        }
        self.process.store(std::process::id(), Ordering::Relaxed);
        for index in 1..self.most() {
            let parked = Arc::new(AtomicBool::new(false));
            let (shared, flag) = (self.shared.clone(), parked.clone());
            let spawned = thread::Builder::new()
                .name(format!("rung-lanes-{index}"))
                .spawn(move || serve(index - 1, &shared, &flag));
            match spawned {
                Ok(handle) => pool.workers.push(Worker { handle: Some(handle), parked }),
                Err(_) => break,
            }
        }
        self.limit.fetch_min(pool.workers.len() + 1, Ordering::Relaxed);
    }

    /// Other work holds a core: half the threads for the next regions.
    fn halve(&self, guard: &mut Guard) {
        let threads = self.threads();
        if threads == 1 || !self.guarded.load(Ordering::Relaxed) {
            return;
        }
        let half = threads.div_ceil(2);
        self.limit.store(half, Ordering::Relaxed);
        self.truce.store(TRUCE, Ordering::Relaxed);
        if guard.first() {
            self.note.store(half, Ordering::Relaxed);
        }
    }

    /// A child of a fork has the books of its parent's threads, and none of the threads.
    fn in_child(&self) -> bool {
        ![0, std::process::id()].contains(&self.process.load(Ordering::Relaxed))
    }

    /// The right to run a region, unless another thread has it. A panic that passed through an
    /// earlier region leaves nothing half done.
    fn turn(&self) -> Option<MutexGuard<'_, Pool>> {
        if self.in_child() {
            return None;
        }
        match self.pool.try_lock() {
            Ok(pool) => Some(pool),
            Err(TryLockError::Poisoned(pool)) => Some(pool.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn announce(&self, region: Option<Arc<Region>>, workers: &[Worker]) {
        *lock(&self.shared.region) = region;
        self.shared.rest.store(false, Ordering::SeqCst);
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        for worker in workers {
            if worker.parked.load(Ordering::SeqCst)
                && let Some(handle) = &worker.handle
            {
                handle.thread().unpark();
            }
        }
    }
}

impl Drop for Workers {
    fn drop(&mut self) {
        let in_child = self.in_child();
        let pool = self.pool.get_mut().unwrap_or_else(PoisonError::into_inner);
        let mut workers = std::mem::take(&mut pool.workers);
        if in_child {
            // Threads of another process cannot be waited for.
            return std::mem::forget(workers);
        }
        self.shared.stop.store(true, Ordering::SeqCst);
        self.announce(None, &workers);
        for worker in &mut workers {
            if let Some(handle) = worker.handle.take() {
                // A worker never panics by itself: pieces are caught.
                let _ = handle.join();
            }
        }
    }
}

/// Claims and runs pieces until none is left.
fn work(region: &Region) {
    INSIDE.set(true);
    loop {
        let piece = region.next.fetch_add(1, Ordering::Relaxed);
        if piece >= region.pieces {
            break;
        }
        if region.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
            lock(&region.panic).get_or_insert_with(stop::payload);
        } else {
            // SAFETY: a piece was claimed, so the caller is still inside `run` and `body` lives.
            let body = unsafe { &*region.body };
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(piece))) {
                lock(&region.panic).get_or_insert(payload);
            }
        }
        if region.finished.fetch_add(1, Ordering::AcqRel) + 1 == region.pieces {
            region.caller.unpark();
        }
    }
    INSIDE.set(false);
}

/// Spins, yielding now and then, until `done`, or until `enough` or the spin time is over.
fn spin_until(done: impl Fn() -> bool, enough: impl Fn() -> bool, clock: Clock) -> bool {
    let mut since: Option<Duration> = None;
    loop {
        for _ in 0..SPINS_PER_YIELD {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        let now = clock();
        if enough() || now.saturating_sub(*since.get_or_insert(now)) > SPIN {
            return done();
        }
        thread::yield_now();
    }
}

fn wait_for_last(region: &Region, clock: Clock) {
    let done = || region.finished.load(Ordering::Acquire) == region.pieces;
    if !spin_until(done, || false, clock) {
        while !done() {
            thread::park();
        }
    }
}

/// A worker's life: wait for an epoch, help, wait again.
fn serve(index: usize, shared: &Shared, parked: &AtomicBool) {
    let mut seen = 0;
    loop {
        let news = || shared.epoch.load(Ordering::SeqCst) != seen;
        if !spin_until(news, || shared.rest.load(Ordering::Relaxed), shared.clock) {
            parked.store(true, Ordering::SeqCst);
            // Checked after the flag is up: whoever raised the epoch before saw it down, whoever
            // raises it later unparks.
            while !news() {
                thread::park();
            }
            parked.store(false, Ordering::SeqCst);
        }
        seen = shared.epoch.load(Ordering::SeqCst);
        if shared.stop.load(Ordering::SeqCst) {
            return;
        }
        let region = lock(&shared.region).clone();
        if let Some(region) = region
            && index < region.helpers
        {
            work(&region);
        }
    }
}
