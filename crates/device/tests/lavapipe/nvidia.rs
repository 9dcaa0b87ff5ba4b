//! The NVIDIA binding over the stand-in for its driver: its queues, its memory and what it leaves to the
//! driver. Nothing there runs before somebody waits, so a wait that is missing shows; the seeds let one
//! stream overtake the other.

use crate::card::{is_again, over_the_stand_in};
use crate::support::device;
use rung_kernel::map;
use rung_math::{Square, Width, trace_unary};
use std::sync::Arc;

/// What holds on every device.
const AGAIN: [&str; 22] = [
    "device::buffers_of_any_size_come_back",
    "device::launches_queue_up_and_keep_their_order_and_parameters",
    "device::threads_share_the_queue",
    "failing::a_failed_allocation_is_tried_once_more_after_a_wait",
    "failing::a_failed_download_can_be_tried_again",
    "failing::a_lost_device_loses_only_what_was_nowhere_else",
    "failing::an_array_whose_copy_cannot_be_made_is_still_there",
    "failing::what_cannot_be_brought_home_is_not_evicted",
    "failing::what_free_memory_cannot_hold_is_declined_with_both_numbers",
    "fork::a_child_of_a_busy_process_declines_and_does_not_wait",
    "fork::after_a_fork_the_child_declines_and_the_parent_goes_on",
    "residency::a_chain_sends_each_operand_once_and_brings_back_only_what_is_read",
    "residency::a_written_array_is_sent_again_with_its_new_numbers",
    "residency::an_array_of_another_device_comes_home_first",
    "residency::threads_share_the_residents",
    "residency::views_share_the_copy_of_their_storage",
    "residency::what_is_larger_than_the_budget_passes_through",
    "residency::what_was_used_longest_ago_goes_clean_copies_first",
    "nvidia::a_launch_sees_what_goes_up_beside_it",
    "nvidia::memory_that_was_never_read_outlives_its_upload",
    "nvidia::pinned_memory_is_not_used_before_its_copy_is_done",
    "nvidia::memory_that_is_read_is_there",
];

#[test]
fn the_same_on_a_card_in_whatever_order_its_streams_go_on() {
    for seed in ["0", "1", "2", "3", "4", "5"] {
        let which: Vec<&str> = ["--exact"].into_iter().chain(AGAIN).collect();
        over_the_stand_in(&which, &[("STAND_IN_SEED", seed)], AGAIN.len());
    }
}

#[test]
fn the_same_on_a_card_without_a_pool() {
    let which: Vec<&str> = ["--exact"].into_iter().chain(AGAIN).collect();
    over_the_stand_in(&which, &[("STAND_IN_POOLS", "0")], AGAIN.len());
}

/// A number for each place, none the same in places that are a piece apart.
fn pattern(count: usize, salt: u32) -> Vec<u8> {
    let mixed = |i: usize| (i as u32).wrapping_mul(0x9e37_79b9).wrapping_add(salt << 24) >> 24;
    (0..count).map(|i| mixed(i) as u8).collect()
}

/// Uploads of 64 KiB and more have a stream of their own. What is read is short, so that nothing waits for
/// the pinned buffers.
#[test]
fn a_launch_sees_what_goes_up_beside_it() {
    const COUNT: usize = 10_000;
    const READ: usize = 100;
    let device = device();
    let kernel = Arc::new(map::kernel("square-beside", &trace_unary::<Square>(Width::F64)));
    for round in 0..12 {
        let operand: Vec<f64> = (0..COUNT).map(|i| (i + round) as f64).collect();
        let there = device.upload(bytemuck::cast_slice(&operand)).unwrap();
        let result = device.allocate(8 * COUNT).unwrap();
        device.launch(&map::launch(&kernel, COUNT).unwrap(), &[&there, &result]).unwrap();
        // The memory of the operand may go as soon as the launch has passed.
        drop(there);
        let mut back = vec![0.0f64; READ];
        device.download(&result, bytemuck::cast_slice_mut(&mut back)).unwrap();
        let wanted: Vec<f64> = operand[..READ].iter().map(|x| x * x).collect();
        assert_eq!(back, wanted, "round {round}");
    }
}

/// It is given back in the stream of launches, which may be ahead of the one of uploads.
#[test]
fn memory_that_was_never_read_outlives_its_upload() {
    let device = device();
    let small = device.upload(&[7; 16]).unwrap();
    for round in 0..5 {
        drop(device.upload(&pattern(100_000, round)).unwrap());
        let mut back = [0; 16];
        device.download(&small, &mut back).unwrap();
        assert_eq!(back, [7; 16]);
    }
    device.synchronize().unwrap();
}

/// More pieces of 16 MiB than there are pinned buffers, both ways, and small ones one after another.
#[test]
fn pinned_memory_is_not_used_before_its_copy_is_done() {
    let device = device();
    let large = pattern((49 << 20) + 5, 1);
    let there = device.upload(&large).unwrap();
    let others: Vec<Vec<u8>> = (2..8).map(|salt| pattern(70_000, salt)).collect();
    let held: Vec<_> = others.iter().map(|bytes| device.upload(bytes).unwrap()).collect();
    for (bytes, buffer) in others.iter().zip(&held) {
        let mut back = vec![0; bytes.len()];
        device.download(buffer, &mut back).unwrap();
        assert!(back == *bytes, "a small buffer");
    }
    let mut back = vec![0; large.len()];
    device.download(&there, &mut back).unwrap();
    assert!(back == large, "the large buffer");
    // What overwrites a buffer goes by the stream of launches.
    let newer = pattern(large.len(), 9);
    device.write(&there, &newer).unwrap();
    device.download(&there, &mut back).unwrap();
    assert!(back == newer, "the overwritten buffer");
}

/// Small reads go to the caller's own memory, which he looks at on return.
#[test]
fn memory_that_is_read_is_there() {
    let device = device();
    for round in 0..20u8 {
        let there = device.upload(&[round; 100]).unwrap();
        let mut back = [0; 100];
        device.download(&there, &mut back).unwrap();
        assert_eq!(back, [round; 100]);
    }
}

/// The lines of the stand-in's record that begin with a word.
fn recorded(word: &str) -> Vec<String> {
    let path = std::env::var("STAND_IN_RECORD").expect("a record");
    let text = std::fs::read_to_string(path).unwrap();
    text.lines().filter(|line| line.starts_with(word)).map(str::to_string).collect()
}

/// The number after a word of a line.
fn after(line: &str, word: &str) -> usize {
    let rest = line.split_once(word).unwrap().1.trim_start();
    rest.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap()
}

/// Runs a test of this file over a card whose calls are recorded.
fn with_record(test: &str, card: &[(&str, &str)]) {
    let name = format!("rung-record-{}-{}", std::process::id(), test.replace(':', "-"));
    let record = std::env::temp_dir().join(name);
    let record = record.to_str().unwrap();
    let card: Vec<_> = card.iter().copied().chain([("STAND_IN_RECORD", record)]).collect();
    over_the_stand_in(&["--exact", test], &card, 1);
    std::fs::remove_file(record).unwrap();
}

#[test]
fn when_1_024_launches_are_queued_the_older_half_is_waited_for() {
    if !is_again() {
        return with_record(
            "nvidia::when_1_024_launches_are_queued_the_older_half_is_waited_for",
            &[],
        );
    }
    let device = device();
    let kernel = Arc::new(map::kernel("square-queued", &trace_unary::<Square>(Width::F32)));
    let launch = map::launch(&kernel, 4).unwrap();
    let (a, b) = (device.upload(&[0; 16]).unwrap(), device.allocate(16).unwrap());
    device.synchronize().unwrap();
    let before = recorded("cuLaunchKernel").len();
    for _ in 0..3000 {
        device.launch(&launch, &[&a, &b]).unwrap();
    }
    let queued: Vec<usize> =
        recorded("cuLaunchKernel")[before..].iter().map(|line| after(line, "queued")).collect();
    assert_eq!((queued.len(), queued.iter().max()), (3000, Some(&1024)));
    // As long as nobody knows how long a launch takes the queue is short; here they are short.
    let falls: Vec<[usize; 2]> =
        queued.windows(2).filter(|w| w[1] < w[0]).map(|w| [w[0], w[1]]).collect();
    let grown =
        falls.windows(2).take_while(|w| w[0][0] < 1024).all(|w| w[1][0] == 1024.min(2 * w[0][0]));
    assert!(falls[0][0] < 1024 && grown, "{falls:?}");
    assert!(falls.ends_with(&[[1024, 513]; 3]), "{falls:?}");
}

/// 10,000 elements are 40 groups of 256. The card has 2 multiprocessors for 1,024 invocations each.
#[test]
fn a_kernel_that_walks_has_the_groups_that_the_card_holds() {
    const TEST: &str = "nvidia::a_kernel_that_walks_has_the_groups_that_the_card_holds";
    if !is_again() {
        with_record(TEST, &[]);
        return with_record(TEST, &[("STAND_IN_MULTIPROCESSORS", "3")]);
    }
    let device = device();
    let kernel = Arc::new(map::kernel("square-walk", &trace_unary::<Square>(Width::F32)));
    assert!(kernel.walks());
    let launch = map::launch(&kernel, 10_000).unwrap();
    assert_eq!(launch.groups, [40, 1, 1]);
    let (a, b) = (device.upload(&[0; 40_000]).unwrap(), device.allocate(40_000).unwrap());
    device.launch(&launch, &[&a, &b]).unwrap();
    let last = recorded("cuLaunchKernel").pop().unwrap();
    let processors = device.info().multiprocessors.unwrap() as usize;
    assert_eq!(after(&last, "groups ["), 4 * processors, "{last}");
    let mut back = vec![1; 40_000];
    device.download(&b, &mut back).unwrap();
    assert_eq!(back, vec![0; 40_000]);
}

#[test]
fn large_transfers_pass_the_pinned_buffers_in_pieces() {
    if !is_again() {
        return with_record("nvidia::large_transfers_pass_the_pinned_buffers_in_pieces", &[]);
    }
    let device = device();
    let bytes = pattern((33 << 20) + 5, 3);
    let there = device.upload(&bytes).unwrap();
    let mut back = vec![0; bytes.len()];
    device.download(&there, &mut back).unwrap();
    assert!(back == bytes);
    // The self-test's own transfers come before them.
    let pieces = |word: &str| -> Vec<usize> {
        let lines = recorded(word);
        let pinned = lines.iter().filter(|line| line.ends_with(" pinned"));
        pinned.rev().take(3).map(|line| after(line, "Async_v2")).collect()
    };
    let wanted = [(1 << 20) + 5, 16 << 20, 16 << 20];
    assert_eq!(pieces("cuMemcpyHtoDAsync"), wanted);
    assert_eq!(pieces("cuMemcpyDtoHAsync"), wanted);
}

/// Memory of the pool is taken and given back in the order of a stream; without one nothing is.
#[test]
fn memory_comes_from_the_pool_where_there_is_one() {
    const TEST: &str = "nvidia::memory_comes_from_the_pool_where_there_is_one";
    if !is_again() {
        with_record(TEST, &[]);
        return with_record(TEST, &[("STAND_IN_POOLS", "0")]);
    }
    drop(device().upload(&[1; 100]).unwrap());
    let count = |word: &str| recorded(word).len();
    let [pooled, plain] =
        [["cuMemAllocAsync", "cuMemFreeAsync"], ["cuMemAlloc_v2", "cuMemFree_v2"]]
            .map(|n| n.map(count));
    match device().info().pooled {
        true => assert!(pooled[0] > 0 && pooled[1] > 0 && plain == [0, 0], "{pooled:?} {plain:?}"),
        false => assert!(plain[0] > 0 && plain[1] > 0 && pooled == [0, 0], "{pooled:?} {plain:?}"),
    }
}
