//! A process that splits after the first use of its device: the child declines, the parent goes on.

use crate::support::device;
use rung_array::Array;
use rung_base::Shape;
use rung_device::{FailureCode, Residency};
use std::time::{Duration, Instant};

unsafe extern "C" {
    safe fn fork() -> i32;
    safe fn _exit(status: i32) -> !;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
}

/// Whether every kind of call is declined with the reason, as a child has it.
fn declines(residency: &Residency, array: &Array) -> bool {
    let device = residency.device();
    let lost = |code: FailureCode, text: &str| {
        code == FailureCode::Lost && text.contains("device belongs to the parent process")
    };
    let other = Array::from_slice(&[1.0f64], Shape::vector(1));
    let [allocated, uploaded] = [device.allocate(8), device.upload(&[1, 2, 3, 4])];
    let failed = [allocated.err(), uploaded.err(), device.synchronize().err()];
    failed.iter().all(|failure| failure.as_ref().is_some_and(|f| lost(f.code, &f.text)))
        && other.is_ok_and(|other| residency.keep(&other).is_err())
        && array.is_home()
}

#[test]
fn after_a_fork_the_child_declines_and_the_parent_goes_on() {
    let residency = Residency::new(device().clone(), Some(1 << 20));
    let array = Array::from_slice(&[1.5f64, -2.0], Shape::vector(2)).unwrap();
    assert!(residency.keep(&array).unwrap());
    match fork() {
        -1 => panic!("the process cannot be split"),
        0 => _exit(if declines(&residency, &array) { 0 } else { 1 }),
        child => {
            let mut status = -1;
            let start = Instant::now();
            // SAFETY: the status is a local of its type; 1 is WNOHANG.
            while unsafe { waitpid(child, &raw mut status, 1) } == 0 {
                assert!(start.elapsed() < Duration::from_secs(20), "the child hangs");
                std::thread::sleep(Duration::from_millis(5));
            }
            assert_eq!(status, 0);
        }
    }
    let more = Array::from_slice(&[3.0f64; 100], Shape::vector(100)).unwrap();
    assert!(residency.keep(&more).unwrap());
    let mut bytes = [0; 8];
    let buffer = residency.device().upload(&2.5f64.to_ne_bytes()).unwrap();
    residency.device().download(&buffer, &mut bytes).unwrap();
    assert_eq!(f64::from_ne_bytes(bytes), 2.5);
}
