//! The threads of the lanes rung: a pool that lives as long as its owner and runs one region of
//! numbered pieces at a time.
//!
//! Pieces are claimed by an atomic counter and the caller works too, so a region finishes even if
//! no worker ever wakes. Results never depend on who ran a piece. A region inside a region, or one
//! started while another thread's region runs, is done by its own thread. See `cores` for how
//! many threads there are.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// Pieces offered to each thread at most, so that a late thread costs a quarter of its share.
pub const PIECES_PER_THREAD: usize = 4;

/// How long an idle worker spins before it parks. A region that follows within this time starts
/// in about 1 us; waking a parked worker took 20 to 50 us here (2 cores of a virtual machine).
const SPIN: Duration = Duration::from_millis(1);

/// Spins between two yields of an idle thread.
const SPINS_PER_YIELD: u32 = 64;

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
}

// SAFETY: `body` is `Sync`, and its lifetime is guarded as the comment of `Region` says.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

#[derive(Default)]
struct Shared {
    /// Raised by one for every region and once at the end.
    epoch: AtomicUsize,
    region: Mutex<Option<Arc<Region>>>,
    stop: AtomicBool,
    /// Idle workers park at once instead of spinning.
    rest: AtomicBool,
}

/// Regions running in which the wait for the last piece may exceed the work before the pool
/// takes it that other work holds a core, and regions until it tries all threads again.
const STRIKES: usize = 8;
const TRUCE: usize = 1000;

/// How many threads regions use at present. Published for a 32-thread pool beside one process
/// that kept a single core busy: 9.88 tokens a second became 0.62 without such a guard.
struct Guard {
    all: usize,
    active: usize,
    strikes: usize,
    truce: usize,
    /// What a note would say; taken once.
    note: Option<usize>,
    noted: bool,
}

impl Guard {
    fn new(all: usize) -> Guard {
        Guard { all, active: all, strikes: 0, truce: 0, note: None, noted: false }
    }

    /// Takes in one region: the caller's own work, then its wait for the last piece.
    fn observe(&mut self, work: Duration, wait: Duration) {
        if self.truce > 0 {
            self.truce -= 1;
            if self.truce == 0 {
                self.active = self.all;
            }
        }
        self.strikes = if wait > work { self.strikes + 1 } else { 0 };
        if self.strikes >= STRIKES && self.active > 1 {
            self.active = self.active.div_ceil(2).max(1);
            (self.strikes, self.truce) = (0, TRUCE);
            if !self.noted {
                (self.note, self.noted) = (Some(self.active), true);
            }
        }
    }
}

struct Worker {
    handle: Option<JoinHandle<()>>,
    parked: Arc<AtomicBool>,
}

/// A pool of `threads - 1` workers beside the calling thread.
pub struct Workers {
    shared: Arc<Shared>,
    workers: Vec<Worker>,
    /// Held while a region runs.
    guard: Mutex<Guard>,
    /// The guard's count, readable without the lock.
    active: AtomicUsize,
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
        let shared = Arc::new(Shared::default());
        let mut workers = Vec::new();
        for index in 1..threads.max(1) {
            let parked = Arc::new(AtomicBool::new(false));
            let (theirs, flag) = (shared.clone(), parked.clone());
            let spawned = thread::Builder::new()
                .name(format!("rung-lanes-{index}"))
                .spawn(move || serve(index - 1, &theirs, &flag));
            match spawned {
                Ok(handle) => workers.push(Worker { handle: Some(handle), parked }),
                Err(_) => break,
            }
        }
        let threads = workers.len() + 1;
        let active = AtomicUsize::new(threads);
        Workers { shared, workers, guard: Mutex::new(Guard::new(threads)), active }
    }

    /// Threads that work on a region at present, the caller included.
    pub fn threads(&self) -> usize {
        self.active.load(Ordering::Relaxed)
    }

    /// The count to print, once, after other work on the machine made the pool use fewer threads:
    /// `rung: note: other work on this machine; using 8 threads.`
    pub fn note(&self) -> Option<usize> {
        self.turn()?.note.take()
    }

    /// Sends idle workers to sleep at once, before a threaded library wants their cores.
    pub fn rest(&self) {
        self.shared.rest.store(true, Ordering::SeqCst);
    }

    /// How many pieces to cut `units` of work into: one below `threshold`, else pieces of at least
    /// `grain`, at most four a thread.
    pub fn pieces(&self, units: usize, threshold: usize, grain: usize) -> usize {
        if self.threads() == 1 || units < threshold || INSIDE.get() {
            return 1;
        }
        (units / grain.max(1)).clamp(1, self.threads() * PIECES_PER_THREAD)
    }

    /// Runs `body(0)` to `body(pieces - 1)`, each once, and returns when all have. A panic in a
    /// piece is raised again here, after the others have finished.
    pub fn run(&self, pieces: usize, body: &(dyn Fn(usize) + Sync)) {
        let alone = pieces <= 1 || self.workers.is_empty() || INSIDE.get();
        let turn = if alone { None } else { self.turn() };
        let Some(mut guard) = turn else {
            return (0..pieces).for_each(body);
        };
        // SAFETY: only the lifetime is erased; `Region` says who looks at `body`, and until when.
        let body: *const (dyn Fn(usize) + Sync) = unsafe {
            std::mem::transmute::<*const (dyn Fn(usize) + Sync), *const (dyn Fn(usize) + Sync)>(
                body,
            )
        };
        let helpers = (guard.active - 1).min(pieces - 1);
        let started = Instant::now();
        let region = Arc::new(Region {
            body,
            pieces,
            helpers,
            next: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
            panic: Mutex::new(None),
            caller: thread::current(),
        });
        self.announce(Some(region.clone()), helpers);
        work(&region);
        let worked = started.elapsed();
        wait_for_last(&region);
        *lock(&self.shared.region) = None;
        guard.observe(worked, started.elapsed() - worked);
        self.active.store(guard.active, Ordering::Relaxed);
        drop(guard);
        if let Some(payload) = lock(&region.panic).take() {
            resume_unwind(payload);
        }
    }

    /// The right to run a region, unless another thread has it. A panic that passed through an
    /// earlier region leaves nothing half done.
    fn turn(&self) -> Option<MutexGuard<'_, Guard>> {
        match self.guard.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(guard)) => Some(guard.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    fn announce(&self, region: Option<Arc<Region>>, helpers: usize) {
        *lock(&self.shared.region) = region;
        self.shared.rest.store(false, Ordering::SeqCst);
        self.shared.epoch.fetch_add(1, Ordering::SeqCst);
        for worker in self.workers.iter().take(helpers) {
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
        self.shared.stop.store(true, Ordering::SeqCst);
        self.announce(None, self.workers.len());
        for worker in &mut self.workers {
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
        // SAFETY: a piece was claimed, so the caller is still inside `run` and `body` lives.
        let body = unsafe { &*region.body };
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| body(piece))) {
            lock(&region.panic).get_or_insert(payload);
        }
        if region.finished.fetch_add(1, Ordering::AcqRel) + 1 == region.pieces {
            region.caller.unpark();
        }
    }
    INSIDE.set(false);
}

/// Spins, yielding now and then, until `done`, or until `enough` or the spin time is over.
fn spin_until(done: impl Fn() -> bool, enough: impl Fn() -> bool) -> bool {
    let mut since: Option<Instant> = None;
    loop {
        for _ in 0..SPINS_PER_YIELD {
            if done() {
                return true;
            }
            std::hint::spin_loop();
        }
        if enough() || since.get_or_insert_with(Instant::now).elapsed() > SPIN {
            return done();
        }
        thread::yield_now();
    }
}

fn wait_for_last(region: &Region) {
    let done = || region.finished.load(Ordering::Acquire) == region.pieces;
    if !spin_until(done, || false) {
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
        if !spin_until(news, || shared.rest.load(Ordering::Relaxed)) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn count(workers: &Workers, pieces: usize) -> Vec<usize> {
        let hits: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
        workers.run(pieces, &|piece| {
            hits[piece].fetch_add(1, Ordering::Relaxed);
        });
        hits.into_iter().map(AtomicUsize::into_inner).collect()
    }

    #[test]
    fn every_piece_runs_once_whatever_the_number_of_threads() {
        for threads in [1, 2, 3, 7] {
            let workers = Workers::new(threads);
            for pieces in [0, 1, 2, 5, 100] {
                assert_eq!(count(&workers, pieces), vec![1; pieces]);
            }
        }
    }

    #[test]
    fn many_short_regions_and_parked_workers_do_not_hang() {
        let workers = Workers::new(3);
        for _ in 0..5000 {
            assert_eq!(count(&workers, 6).len(), 6);
        }
        for _ in 0..5 {
            thread::sleep(Duration::from_millis(3));
            assert_eq!(count(&workers, 6), [1; 6]);
        }
    }

    #[test]
    fn a_region_inside_a_region_runs_on_its_thread() {
        let workers = Workers::new(2);
        let total = AtomicUsize::new(0);
        workers.run(4, &|_| {
            let here = thread::current().id();
            assert_eq!(workers.pieces(1 << 30, 1, 1), 1);
            workers.run(3, &|_| {
                assert_eq!(thread::current().id(), here);
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(total.into_inner(), 12);
    }

    #[test]
    fn regions_of_several_callers_at_once_all_finish() {
        let workers = Workers::new(2);
        thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| (0..500).for_each(|_| assert_eq!(count(&workers, 5), [1; 5])));
            }
        });
    }

    #[test]
    fn a_panic_in_a_piece_reaches_the_caller_and_the_pool_lives_on() {
        let workers = Workers::new(2);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            workers.run(8, &|piece| assert_ne!(piece, 5, "piece five"));
        }));
        assert!(caught.is_err());
        assert_eq!(count(&workers, 8), [1; 8]);
    }

    #[test]
    fn eight_regions_that_wait_longer_than_they_work_halve_the_threads_for_a_while() {
        let (short, long) = (Duration::from_micros(5), Duration::from_micros(50));
        let mut guard = Guard::new(6);
        (0..7).for_each(|_| guard.observe(short, long));
        guard.observe(long, short);
        (0..7).for_each(|_| guard.observe(short, long));
        assert_eq!((guard.active, guard.note), (6, None));
        guard.observe(short, long);
        assert_eq!((guard.active, guard.note.take()), (3, Some(3)));
        (0..TRUCE - 1).for_each(|_| guard.observe(long, short));
        assert_eq!(guard.active, 3);
        guard.observe(long, short);
        assert_eq!(guard.active, 6);
        (0..8).for_each(|_| guard.observe(short, long));
        assert_eq!((guard.active, guard.note), (3, None));
        (0..64).for_each(|_| guard.observe(short, long));
        assert_eq!(guard.active, 1);
    }

    #[test]
    fn resting_workers_still_wake_for_the_next_region() {
        let workers = Workers::new(3);
        for _ in 0..50 {
            workers.rest();
            assert_eq!(count(&workers, 9), [1; 9]);
        }
    }

    #[test]
    fn pieces_respect_threshold_grain_and_the_four_a_thread() {
        let workers = Workers::new(2);
        assert_eq!(workers.pieces(999, 1000, 10), 1);
        assert_eq!(workers.pieces(1000, 1000, 300), 3);
        assert_eq!(workers.pieces(1 << 30, 1000, 10), 8);
        assert_eq!(Workers::new(1).pieces(1 << 30, 1000, 10), 1);
    }
}
