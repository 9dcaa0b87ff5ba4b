//! Tests of the pool. None asserts a time: where time decides, the pool is given a clock that the
//! test moves.

use super::*;
use std::sync::atomic::AtomicU64;

/// Waits for what other threads will do soon; a test that would wait for ever fails instead.
fn eventually(what: &str, done: impl Fn() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        thread::yield_now();
    }
}

fn count(workers: &Workers, pieces: usize) -> Vec<usize> {
    let hits: Vec<AtomicUsize> = (0..pieces).map(|_| AtomicUsize::new(0)).collect();
    workers.run(pieces, &|piece| {
        hits[piece].fetch_add(1, Ordering::Relaxed);
    });
    hits.into_iter().map(AtomicUsize::into_inner).collect()
}

fn with_clock(threads: usize, clock: Clock) -> Workers {
    let workers = Workers::with_clock(clock);
    workers.most.set(threads).unwrap();
    workers
}

fn started(workers: &Workers) -> usize {
    lock(&workers.pool).workers.len()
}

fn parked(workers: &Workers) -> bool {
    lock(&workers.pool).workers.iter().all(|worker| worker.parked.load(Ordering::SeqCst))
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
fn no_thread_is_counted_or_started_before_a_region_needs_one() {
    let workers = Workers::of_machine();
    assert_eq!(workers.pieces(999, 1000, 10), 1);
    count(&workers, 1);
    assert_eq!((workers.most.get(), started(&workers)), (None, 0));
    let workers = Workers::new(3);
    assert_eq!(workers.threads(), 3);
    count(&workers, 1);
    assert_eq!(started(&workers), 0);
    count(&workers, 2);
    assert_eq!(started(&workers), 2);
}

#[test]
fn many_short_regions_and_parked_workers_do_not_hang() {
    let workers = Workers::new(3);
    for _ in 0..5000 {
        assert_eq!(count(&workers, 6).len(), 6);
    }
    for _ in 0..5 {
        eventually("the workers park", || parked(&workers));
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
    for bad in 0..8 {
        let finished = AtomicUsize::new(0);
        let caught = catch_unwind(AssertUnwindSafe(|| {
            workers.run(8, &|piece| {
                assert_ne!(piece, bad, "the bad piece");
                finished.fetch_add(1, Ordering::Relaxed);
            });
        }));
        let payload = caught.unwrap_err();
        assert!(payload.downcast_ref::<String>().unwrap().contains("the bad piece"));
        assert_eq!(finished.into_inner(), 7, "the other pieces still run");
        assert_eq!(count(&workers, 8), [1; 8]);
    }
}

/// A clock that every reading moves by 100 us, so that the spin time is ten readings.
fn hasty() -> Duration {
    static READINGS: AtomicU64 = AtomicU64::new(0);
    Duration::from_micros(100 * READINGS.fetch_add(1, Ordering::SeqCst))
}

#[test]
fn idle_workers_spin_for_a_millisecond_and_then_use_no_processor() {
    let workers = with_clock(4, hasty);
    count(&workers, 8);
    eventually("the workers park", || parked(&workers));
    // Whoever still spun would read the clock and move it.
    let before = hasty();
    thread::sleep(Duration::from_millis(30));
    assert_eq!(hasty() - before, Duration::from_micros(100));
    assert_eq!(count(&workers, 8), [1; 8]);
}

#[test]
fn resting_workers_park_before_their_time_and_wake_for_the_next_region() {
    // On a clock that stands still nobody's spin time is ever over.
    let workers = with_clock(3, || Duration::ZERO);
    for _ in 0..50 {
        assert_eq!(count(&workers, 9), [1; 9]);
        workers.rest();
        eventually("the workers rest", || parked(&workers));
    }
}

#[test]
fn eight_regions_in_a_row_that_wait_longer_than_they_work_strike_out() {
    let (short, long) = (Duration::from_micros(5), Duration::from_micros(50));
    let mut guard = Guard::default();
    assert!(!(0..7).any(|_| guard.strikes_out(short, long)));
    assert!(!guard.strikes_out(long, short));
    assert!(!(0..7).any(|_| guard.strikes_out(short, long)));
    assert!(guard.strikes_out(short, long));
    assert!(!(0..7).any(|_| guard.strikes_out(short, long)));
}

thread_local! {
    static READINGS: Cell<u64> = const { Cell::new(0) };
}

/// A clock of each thread's own that moves by 100 us at every reading.
fn own() -> Duration {
    READINGS.set(READINGS.get() + 1);
    Duration::from_micros(100 * READINGS.get())
}

/// Runs a region of two pieces in which the caller works for 100 us of its clock, and then waits
/// for a worker until it has waited at least 500 us.
fn held_up(workers: &Workers) {
    let caller = thread::current().id();
    let (begun, waiting) = (AtomicBool::new(false), AtomicBool::new(false));
    workers.run(2, &|_| {
        if thread::current().id() == caller {
            eventually("a worker begins", || begun.load(Ordering::SeqCst));
            waiting.store(true, Ordering::SeqCst);
        } else {
            begun.store(true, Ordering::SeqCst);
            eventually("the caller waits", || waiting.load(Ordering::SeqCst));
            // Long enough for several readings of the waiting caller; fewer are no strike, and
            // the region is run again.
            thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn other_work_halves_the_threads_until_a_thousand_regions_later() {
    let workers = with_clock(2, own);
    let mut regions = 0;
    while workers.threads() == 2 {
        held_up(&workers);
        regions += 1;
        assert!(regions < 1000, "the guard sees nothing");
    }
    assert!(regions > 8, "the region that starts the threads does not count");
    assert_eq!((workers.note(), workers.note()), (Some(1), None));
    for _ in 1..TRUCE {
        assert_eq!(workers.pieces(1000, 1000, 10), 1);
        assert_eq!(workers.pieces(999, 1000, 10), 1);
    }
    assert_eq!(workers.pieces(1000, 1000, 10), 8);
    while workers.threads() == 2 {
        held_up(&workers);
    }
    assert_eq!(workers.note(), None, "noted once");
}

#[test]
fn without_the_guard_every_thread_stays() {
    let workers = with_clock(2, own);
    workers.without_guard();
    (0..20).for_each(|_| held_up(&workers));
    assert_eq!((workers.threads(), workers.note()), (2, None));
}

#[test]
fn pieces_respect_threshold_grain_and_the_four_a_thread() {
    let workers = Workers::new(2);
    assert_eq!(workers.pieces(999, 1000, 10), 1);
    assert_eq!(workers.pieces(1000, 1000, 300), 3);
    assert_eq!(workers.pieces(1 << 30, 1000, 10), 8);
    assert_eq!(Workers::new(1).pieces(1 << 30, 1000, 10), 1);
}

/// Ctrl-C waited for the end of the operation that ran.
#[test]
fn a_flag_leaves_out_the_pieces_that_have_not_begun() {
    for threads in [1, 2, 3] {
        let (workers, flag) = (Workers::new(threads), Arc::new(AtomicBool::new(false)));
        workers.heed(flag.clone());
        let ran = AtomicUsize::new(0);
        let body = |piece: usize| {
            ran.fetch_add(1, Ordering::Relaxed);
            if piece == 10 {
                flag.store(true, Ordering::Relaxed);
            }
            thread::yield_now();
        };
        assert_eq!(stoppable(|| workers.run(100_000, &body)), Err(Stopped));
        assert!((11..100_000).contains(&ran.load(Ordering::Relaxed)), "{ran:?}");
        // Who set it clears it; until then nothing begins, but for what must not be left half done.
        ran.store(0, Ordering::Relaxed);
        assert_eq!(stoppable(|| workers.run(5, &body)), Err(Stopped));
        assert_eq!(ran.load(Ordering::Relaxed), 0);
        assert_eq!(stoppable(|| deaf(|| workers.run(5, &body))), Ok(()));
        assert_eq!(ran.load(Ordering::Relaxed), 5);
        flag.store(false, Ordering::Relaxed);
        assert_eq!(count(&workers, 100), vec![1; 100]);
    }
}

#[test]
fn work_is_cut_so_that_a_flag_is_seen_in_time() {
    for threads in [1, 2] {
        let workers = Workers::new(threads);
        let most = if threads == 1 { 1 } else { threads * PIECES_PER_THREAD };
        assert_eq!(workers.pieces(1 << 40, 1000, 1024), most);
        workers.heed(Arc::default());
        assert_eq!(workers.pieces(1 << 40, 1000, 1024), 1 << 16);
        assert_eq!(workers.pieces(1 << 20, 1000, 1024), most);
        assert_eq!(deaf(|| workers.pieces(1 << 40, 1000, 1024)), most);
    }
}

#[test]
fn a_panic_is_not_taken_for_a_stop() {
    let workers = Workers::new(2);
    let caught = catch_unwind(AssertUnwindSafe(|| {
        stoppable(|| workers.run(4, &|piece| assert!(piece != 2, "piece two")))
    }));
    assert_eq!(caught.unwrap_err().downcast_ref::<&str>(), Some(&"piece two"));
}

/// It would wait for ever for threads that only its parent has.
#[test]
fn a_child_of_a_fork_works_alone_and_waits_for_nobody() {
    let workers = Workers::new(3);
    assert_eq!(count(&workers, 8), [1; 8]);
    workers.process.fetch_add(1, Ordering::Relaxed);
    let held = lock(&workers.shared.region);
    assert_eq!(count(&workers, 8), [1; 8]);
    drop(held);
    let shared = workers.shared.clone();
    drop(workers);
    // The threads themselves, which this process has after all, end here.
    shared.stop.store(true, Ordering::SeqCst);
}
