//! A process that splits after the first use of its device: the child declines, the parent goes on.

use crate::support::device;
use rung_array::Array;
use rung_base::Shape;
use rung_device::{Failure, FailureCode, Outcome, Residency};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    safe fn kill(process: i32, signal: i32) -> i32;
}

/// Splits the process; whether the child found what it should.
fn in_a_child(found: impl FnOnce() -> bool) -> bool {
    let child = match fork() {
        -1 => panic!("the process cannot be split"),
        0 => _exit(if found() { 0 } else { 1 }),
        child => child,
    };
    let (mut status, start) = (-1, Instant::now());
    // SAFETY: the status is a local of its type; 1 is WNOHANG.
    while unsafe { waitpid(child, &raw mut status, 1) } == 0 {
        if start.elapsed() > Duration::from_secs(20) {
            kill(child, 9);
            panic!("the child hangs");
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    status == 0
}

fn is_refused<T>(outcome: Outcome<T>) -> bool {
    let lost = |f: Failure| {
        f.code == FailureCode::Lost && f.text.contains("device belongs to the parent process")
    };
    outcome.err().is_some_and(lost)
}

/// Whether every kind of call is declined with the reason, as a child has it.
fn declines(residency: &Residency, array: &Array) -> bool {
    let device = residency.device();
    let other = Array::from_slice(&[1.0f64], Shape::vector(1));
    is_refused(device.allocate(8))
        && is_refused(device.upload(&[1, 2, 3, 4]))
        && is_refused(device.synchronize())
        && other.is_ok_and(|other| residency.keep(&other).is_err())
        && array.is_home()
}

#[test]
fn after_a_fork_the_child_declines_and_the_parent_goes_on() {
    let residency = Residency::new(device().clone(), Some(1 << 20));
    let array = Array::from_slice(&[1.5f64, -2.0], Shape::vector(2)).unwrap();
    assert!(residency.keep(&array).unwrap());
    assert!(in_a_child(|| declines(&residency, &array)));
    let more = Array::from_slice(&[3.0f64; 100], Shape::vector(100)).unwrap();
    assert!(residency.keep(&more).unwrap());
    let mut bytes = [0; 8];
    let buffer = residency.device().upload(&2.5f64.to_ne_bytes()).unwrap();
    residency.device().download(&buffer, &mut bytes).unwrap();
    assert_eq!(f64::from_ne_bytes(bytes), 2.5);
}

/// Another thread may hold the device's lock when the process splits, and will never release it in the
/// child.
#[test]
fn a_child_of_a_busy_process_declines_and_does_not_wait() {
    let device = device();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                device.upload(&[7; 4096]).unwrap();
            }
        });
        let declines = (0..50).all(|_| {
            in_a_child(|| is_refused(device.allocate(8)) && is_refused(device.synchronize()))
        });
        done.store(true, Ordering::Relaxed);
        assert!(declines);
    });
}
