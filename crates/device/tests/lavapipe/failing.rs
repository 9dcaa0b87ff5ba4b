//! What residency makes of a device that fails: one retry after a failed allocation, nothing lost
//! that has a copy, and an error for what has none.

use crate::faulty::{Call, Fault, Faulty};
use crate::residency::array;
use crate::support::device;
use rung_base::{ElementType, ErrorKind, Shape};
use rung_device::{FailureCode, Residency};
use std::sync::Arc;
use std::sync::atomic::Ordering;

const SIZE: usize = 256;

fn faulty(call: Call, from: u64, count: u64, code: FailureCode) -> (Arc<Faulty>, Residency) {
    let device = Arc::new(Faulty::new(device().clone(), Some(Fault { call, from, count, code })));
    let residency = Residency::new(device.clone(), Some(4 * SIZE as u64));
    (device, residency)
}

fn code<T>(outcome: Result<T, rung_device::Failure>) -> FailureCode {
    outcome.err().expect("a failure").code
}

#[test]
fn a_failed_allocation_is_tried_once_more_after_a_wait() {
    let (device, residency) = faulty(Call::Allocate, 0, 1, FailureCode::Memory);
    assert!(residency.result(SIZE).is_ok());
    assert_eq!(device.synchronized.load(Ordering::Relaxed), 1);
    assert_eq!(device.calls(Call::Allocate), 2);
    let (device, residency) = faulty(Call::Allocate, 0, 2, FailureCode::Memory);
    assert_eq!(code(residency.result(SIZE)), FailureCode::Memory);
    assert_eq!((device.calls(Call::Allocate), residency.resident()), (2, 0));
    // The next one finds everything as it was.
    assert!(residency.result(SIZE).is_ok());
    // Other failures are not a lack of memory.
    let (device, residency) = faulty(Call::Upload, 0, 1, FailureCode::Driver);
    assert_eq!(code(residency.keep(&array(0.0))), FailureCode::Driver);
    assert_eq!((device.calls(Call::Upload), residency.resident()), (1, 0));
}

#[test]
fn an_array_whose_copy_cannot_be_made_is_still_there() {
    let (_, residency) = faulty(Call::Upload, 1, 1, FailureCode::Driver);
    let (a, b) = (array(0.0), array(7.0));
    assert!(residency.keep(&a).unwrap());
    assert_eq!(code(residency.keep(&b)), FailureCode::Driver);
    assert!(!b.is_attached() && b.to_numbers().unwrap()[0].to_f64() == 7.0);
    assert!(residency.keep(&b).unwrap());
}

/// A result of four fills the budget with what is nowhere else.
fn results(residency: &Residency) -> Vec<rung_array::Array> {
    let make = |i: i32| {
        let held = residency.result(SIZE).unwrap();
        let bytes = [i as u8; SIZE];
        residency.device().write(held.buffer(), &bytes).unwrap();
        held.into_array(ElementType::U8, Shape::vector(SIZE)).unwrap()
    };
    (0..4).map(make).collect()
}

#[test]
fn what_cannot_be_brought_home_is_not_evicted() {
    let (_, residency) = faulty(Call::Download, 0, 2, FailureCode::Driver);
    let all = results(&residency);
    assert_eq!(code(residency.result(SIZE)), FailureCode::Driver);
    assert_eq!((residency.resident(), residency.moved().evictions), (4 * SIZE as u64, 0));
    for (i, array) in all.iter().enumerate() {
        assert!(residency.holds(array));
        assert_eq!(array.to_numbers().unwrap()[255].to_i64(), Some(i as i64));
    }
    drop(all);
    assert_eq!(residency.resident(), 0);
}

#[test]
fn a_failed_download_can_be_tried_again() {
    for why in [FailureCode::Driver, FailureCode::Memory] {
        let (device, residency) = faulty(Call::Download, 0, 1, why);
        let all = results(&residency);
        all[2].home().unwrap();
        assert_eq!((device.calls(Call::Download), residency.moved().down), (2, SIZE as u64));
        // Twice: the reader is told, and nothing is lost. What the device lacks is not this machine's memory.
        let (_, residency) = faulty(Call::Download, 0, 2, why);
        let all = results(&residency);
        let e = all[2].home().unwrap_err();
        assert_eq!(e.kind(), ErrorKind::Device);
        assert!(e.message().starts_with("reading 256 bytes from the device failed: "), "{e}");
        assert!(e.hint_text().unwrap().starts_with("nothing is lost on the device"));
        assert!(!all[2].is_home());
        assert_eq!(all[2].to_numbers().unwrap()[0].to_i64(), Some(2));
    }
}

#[test]
fn a_lost_device_loses_only_what_was_nowhere_else() {
    let (_, residency) = faulty(Call::Download, 1, u64::MAX, FailureCode::Lost);
    let (all, kept) = (results(&residency), array(3.0));
    // Room for `kept` is made by bringing the first one home.
    assert!(residency.keep(&kept).unwrap());
    assert_eq!(all[1].home().unwrap_err().message(), "device retired: told to");
    // The first result takes the place of `kept`, which is here as well.
    let held = residency.result(SIZE).unwrap();
    assert_eq!(code(residency.result(SIZE)), FailureCode::Lost);
    drop(held);
    assert_eq!(all[0].to_numbers().unwrap()[9].to_i64(), Some(0));
    assert_eq!(kept.to_numbers().unwrap()[0].to_f64(), 3.0);
    drop((all, kept));
    assert_eq!(residency.resident(), 0);
}

/// Free memory is asked for before anything goes up.
#[test]
fn what_free_memory_cannot_hold_is_declined_with_both_numbers() {
    let small = Faulty::new(device().clone(), None).with_free((64 << 20) + 100);
    let small = Arc::new(small);
    let residency = Residency::new(small.clone(), None);
    assert_eq!(residency.budget(), ((64 << 20) + 100) / 4);
    let failure = residency.keep(&array(0.0)).unwrap_err();
    assert_eq!(failure.code, FailureCode::Memory);
    assert_eq!(failure.text, "needs 256 bytes, 100 bytes free");
    assert_eq!(small.calls(Call::Upload), 0);
    assert!(residency.workspace(100).is_ok());
}
