//! Cards that fail, over a driver that stands in for NVIDIA's: allocations, copies, kernels and waits at
//! any point. Output is the processor's, or an error that says what was lost.
#![cfg(target_os = "linux")]

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::card::{library, prepared, run_on};
use common::{Folder, ran, rung};

/// A function, what it returns, whether the card has pools, and the calls after which something is said.
type Failing = (&'static str, i32, &'static str, &'static [(u32, &'static str)]);

/// Once a card is open an allocation that fails once is made again, and a machine without pinned memory
/// copies without it: nothing is to be said.
const FAILING: [Failing; 4] = [
    ("cuMemAllocAsync", 2, "1", OUT_OF_MEMORY),
    ("cuMemAlloc", 2, "0", OUT_OF_MEMORY),
    ("cuModuleLoadDataEx", 218, "1", REFUSED),
    ("cuMemHostAlloc", 2, "1", &[]),
];

const OUT_OF_MEMORY: &[(u32, &str)] = &[
    (1, "rung: warning: --gpu: CUDA driver: out of memory: needs 4 KiB; running without it.\n"),
    (2, "rung: warning: --gpu: self-test: out of memory: needs 32 KiB; running without it.\n"),
    (3, "rung: warning: --gpu: self-test: out of memory: needs 32 KiB; running without it.\n"),
    (5, "rung: warning: --gpu: self-test: out of memory: needs 608 KiB; running without it.\n"),
    (8, "rung: warning: --gpu: self-test: out of memory: needs 16 KiB; running without it.\n"),
];

const REFUSED: &[(u32, &str)] = &[
    (
        1,
        "--gpu: self-test: kernel self-test f64: CUDA_ERROR_INVALID_PTX (218); running without it.\n",
    ),
    (
        2,
        "--gpu: self-test: kernel self-test f32: CUDA_ERROR_INVALID_PTX (218); running without it.\n",
    ),
    (3, "work.lisp:6:18: la:exp on the device: kernel map exp f32: CUDA_ERROR_INVALID_PTX (218)\n"),
    (
        5,
        "la:sum on the device: kernel fold sum f64 as f32 to f64 rest: CUDA_ERROR_INVALID_PTX (218)\n",
    ),
    (8, "kernel broadcast div f32 f32 number to f32: CUDA_ERROR_INVALID_PTX (218)\n"),
    (
        13,
        "la:norm on the device: kernel fold norm f64 as f64 to f64 rest: CUDA_ERROR_INVALID_PTX (218)\n",
    ),
];

/// Out of memory, a refused kernel or copy at any point: the same output, for everything is still here or
/// comes home, and the decline has the driver's word.
#[test]
fn a_failure_at_any_point_is_a_decline() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    for (function, code, pools, texts) in FAILING {
        for call in [1, 2, 3, 5, 8, 13, 21] {
            let fault = format!("{function}:{call}:{code}");
            let card = [("STAND_IN_FAULT", fault.as_str()), ("STAND_IN_POOLS", pools)];
            let words = ["work.lisp", "--gpu", "--on-decline=warn"];
            let there = run_on(&folder, &driver, &card, &words);
            let said = format!("{fault}: {}{}", there.out, there.err);
            assert_eq!((there.code, &there.out), (Some(0), &wanted), "{said}");
            let silent = !there.err.contains("needs") && !there.err.contains("CUDA");
            let text = texts.iter().find(|(at, _)| *at == call);
            assert!(text.map_or(silent, |(_, text)| there.err.contains(text)), "{said}");
        }
    }
}

/// A card that is too small for its own test, and one that is too small for the program.
#[test]
fn a_card_with_little_memory_serves_what_fits() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    for pools in ["1", "0"] {
        let card = [("STAND_IN_MEMORY", "262144"), ("STAND_IN_POOLS", pools)];
        let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
        let text =
            "rung: warning: --gpu: self-test: out of memory: needs 608 KiB; running without it.\n";
        assert_eq!((there.out.as_str(), there.err.as_str()), (wanted.as_str(), text));
        let card = [("STAND_IN_MEMORY", "1048576"), ("STAND_IN_POOLS", pools)];
        let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
        assert_eq!((there.out.as_str(), there.err.as_str()), (wanted.as_str(), ""));
    }
}

/// A driver without a pool has higher thresholds.
#[test]
fn a_driver_without_a_pool_declines_more() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let program = "(la:add (la:ones 60000) (la:ones 60000)) nil";
    let words = ["-e", program, "--gpu", "--on-decline=warn"];
    for (pools, text) in [
        ("1", "not resident: moving 1.4 MiB costs more"),
        ("0", "too small: 60,000 < 131,072 elements"),
    ] {
        let said = run_on(&folder, &driver, &[("STAND_IN_POOLS", pools)], &words).err;
        assert!(said.contains(&format!("la:add on the device: {text}\n")), "{said}");
    }
}

/// After an error from which a card does not recover it is retired with one warning; what was only there
/// is an error that says so, and nothing wrong is ever printed.
#[test]
fn a_card_that_is_lost_is_retired_with_its_driver_s_word() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    // The kernel that was queued last, and whether its operands or results were nowhere else.
    let cases = [
        (3, "map exp f32", None),
        (4, "fold sum f32 as f32 to f64 part", Some("6:10")),
        (6, "broadcast . . mul . add . div chain f32 f32 f32 number number to f32", None),
        (7, "fold sum f32 as f32 to f32", Some("7:10")),
        (8, "product f64 f64 as f64 to f64 Middle", None),
        (9, "rows softmax f64", None),
        (10, "fold norm f64 as f64 to f64 part", Some("9:10")),
        (12, "map sin f64", None),
    ];
    for (call, kernel, lost) in cases {
        let fault = format!("cuLaunchKernel:{call}:700:sticky");
        let card = [("STAND_IN_FAULT", fault.as_str())];
        let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
        let said = format!("{fault}: {}{}", there.out, there.err);
        let cause = format!("device retired: CUDA_ERROR_ILLEGAL_ADDRESS (700) (queued: {kernel})");
        match lost {
            None => {
                let text = format!("rung: warning: --gpu: {cause}; running without it.\n");
                assert_eq!((there.code, &there.out, there.err), (Some(0), &wanted, text), "{said}");
            }
            Some(place) => {
                let text = format!("error: linalg: {cause}\n --> work.lisp:{place}\n");
                assert!(there.code == Some(1) && there.err.starts_with(&text), "{said}");
                assert_eq!(there.err.matches("device retired").count(), 1, "{said}");
                assert!(wanted.starts_with(&there.out), "{said}");
            }
        }
    }
}

/// A copy home may be under way when its wait fails. Its memory was once given back all the same, and the queue
/// wrote to whatever stood there by then.
#[test]
fn a_wait_that_fails_retires_the_card_before_memory_is_given_back() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    let mut retired = 0;
    for (code, name) in [(218, "CUDA_ERROR_INVALID_PTX"), (400, "CUDA_ERROR_INVALID_HANDLE")] {
        for call in 1..=12 {
            let fault = format!("cuStreamSynchronize:{call}:{code}");
            let card = [("STAND_IN_FAULT", fault.as_str())];
            let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
            let said = format!("{fault}: {:?} {}{}", there.code, there.out, there.err);
            assert_eq!(there.code.filter(|code| *code > 1), None, "{said}");
            assert!(there.code.is_some(), "{said}");
            assert_eq!(there.code == Some(0), there.out == wanted, "{said}");
            let lost = there.err.matches(&format!("device retired: {name} ({code})")).count();
            assert_eq!(there.err.matches("device retired").count(), lost, "{said}");
            let silent = there.err.is_empty() || there.err.ends_with("; running without it.\n");
            assert!(lost == 1 || silent, "{said}");
            retired += lost;
        }
    }
    assert!(retired > 4, "{retired}");
}

/// As a card does it: the launch is queued, and what went wrong shows at a later wait.
#[test]
fn a_launch_that_fails_in_the_queue_is_seen_at_the_next_wait() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    for call in 3..=13 {
        let fault = format!("cuLaunchKernel:{call}:719:late");
        let card = [("STAND_IN_FAULT", fault.as_str())];
        let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
        let said = format!("{fault}: {}{}", there.out, there.err);
        assert_eq!(
            there.err.matches("device retired: CUDA_ERROR_LAUNCH_FAILED (719)").count(),
            1,
            "{said}"
        );
        assert_eq!(there.err.matches("device retired").count(), 1, "{said}");
        assert!(!there.err.contains("panicked") && wanted.starts_with(&there.out), "{said}");
        assert_eq!(there.code == Some(0), there.out == wanted, "{said}");
    }
}

/// A copy home that is refused once is made again without a word; twice, and the reader is told what was read,
/// while the elements stay: a program may ask again.
#[test]
fn a_read_that_fails_is_made_again_and_loses_nothing() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    let program = "(let ((x (rung:send (la:ones 3000))) (y nil)) \
                     (setq y (la:exp x)) \
                     (handler-case (aref y 0) (rung:device-lost () (print 'lost)) \
                       (rung:device-error (e) (princ e))) \
                     (print (aref y 2999)))";
    folder.file("again.lisp", program);
    for (code, name) in [(1, "CUDA_ERROR_INVALID_VALUE"), (2, "CUDA_ERROR_OUT_OF_MEMORY")] {
        let mut said_so = 0;
        for call in 2..=30 {
            let once = format!("cuMemcpyDtoHAsync:{call}:{code}");
            let there =
                run_on(&folder, &driver, &[("STAND_IN_FAULT", &once)], &["work.lisp", "--gpu"]);
            let said = format!("{once}: {}{}", there.out, there.err);
            let before = there.err.contains("running without it");
            assert!(there.code == Some(0) && there.out == wanted, "{said}");
            assert!(before || there.err.is_empty(), "{said}");
            let twice = format!("{once}:twice");
            let words = ["again.lisp", "--gpu"];
            let there = run_on(&folder, &driver, &[("STAND_IN_FAULT", &twice)], &words);
            let said = format!("{twice}: {}{}", there.out, there.err);
            assert!(there.code == Some(0), "{said}");
            assert!(there.out.trim_end().ends_with("2.718281828459045"), "{said}");
            let text = format!("reading 23.4 KiB from the device failed: {name} ({code})");
            said_so += usize::from(there.out.contains(&text));
        }
        assert_eq!(said_so, 1);
    }
}

/// A command holds all it was given, so a card that dies costs it time and nothing else.
#[test]
fn a_card_that_dies_under_a_command_leaves_its_results_whole() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let points: Vec<String> =
        (0..3000).map(|i| format!("{} {} {}", i * 7 % 101, i * 13 % 89, i % 97)).collect();
    folder.file("cloud.txt", &points.join("\n"));
    let words = ["points", "fps", "cloud.txt", "-k", "40", "-o", "chosen.txt"];
    let here = ran(rung(&folder).args(words).output().unwrap());
    assert_eq!(here.code, Some(0), "{}", here.err);
    let chosen = || std::fs::read_to_string(folder.0.join("chosen.txt"));
    let wanted = chosen().unwrap();
    for when in ["sticky", "late"] {
        std::fs::remove_file(folder.0.join("chosen.txt")).unwrap();
        let fault = format!("cuLaunchKernel:20:700:{when}");
        let words = [&words[..], &["--gpu"]].concat();
        let there = run_on(&folder, &driver, &[("STAND_IN_FAULT", &fault)], &words);
        let said = format!("{fault}: {}{}", there.out, there.err);
        assert!(there.err.contains("device retired: CUDA_ERROR_ILLEGAL_ADDRESS (700)"), "{said}");
        assert_eq!((there.code, chosen().unwrap()), (Some(0), wanted.clone()), "{said}");
    }
}

/// The text of ours that a driver refuses is a mistake that nobody would hear of.
#[test]
fn a_refused_kernel_is_told_once() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    let card = [("STAND_IN_FAULT", "cuModuleLoadDataEx:3:218:twice")];
    let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
    assert_eq!((there.code, there.out), (Some(0), wanted));
    assert_eq!(there.err.matches("refused a kernel of Rung's own").count(), 1, "{}", there.err);
}

/// A program whose last card dies on the way, with handlers that go on with 7 for what was there alone.
const GOING_ON: &str = r#"
(let ((x (rung:send (la:ones 3000))) (y nil))
  (setq y (la:exp x))
  (flet ((instead (c)
           (print (remove-if-not (lambda (name) (member name '(use-value abort rung:run-portable)))
                                 (mapcar #'restart-name (compute-restarts c))))
           (use-value 7 c)))
    (handler-bind ((rung:device-lost #'instead))
      (print (list (la:exp y) (aref y 0) (funcall #'aref y 1) (la:sum y) (reduce #'+ y)))))
  (print (handler-case (elt y 0) (rung:device-lost () 'lost)))
  (print (la:sum x)))
"#;

/// `run-portable` was offered where the definition could not read its operands either, and failed without
/// restarts; readers that are no operations had none. And the bytes that moved were counted on from what
/// there was no device for any more, which ended the program.
#[test]
fn a_program_goes_on_without_what_a_lost_card_had() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    folder.file("on.lisp", GOING_ON);
    let card = [("STAND_IN_FAULT", "cuLaunchKernel:4:700:sticky")];
    let there = run_on(&folder, &driver, &card, &["on.lisp", "--gpu", "--explain"]);
    let said = format!("{}{}", there.out, there.err);
    assert_eq!(there.code, Some(0), "{said}");
    let lines: Vec<&str> = there.out.lines().map(str::trim_end).filter(|l| !l.is_empty()).collect();
    let offered = "(USE-VALUE ABORT)";
    assert_eq!(lines[..5], [offered; 5], "{said}");
    assert_eq!(lines[5..], ["(7 7 7 7 7)", "LOST", "3000.0"], "{said}");
}

/// A number that the card has and cannot give once ended the call, though its operands were there.
#[test]
fn a_number_that_cannot_be_read_is_made_by_the_processor() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    let mut made_again = 0;
    for call in 2..=30 {
        let fault = format!("cuMemcpyDtoHAsync:{call}:1:twice");
        let card = [("STAND_IN_FAULT", fault.as_str())];
        let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu", "--on-decline=warn"]);
        let said = format!("{fault}: {}{}", there.out, there.err);
        let number = there.err.contains("reading 8 bytes from the device failed");
        // What only a reader of elements waits for is the reader's error, as ever.
        assert!(there.out == wanted || !number && there.code == Some(1), "{said}");
        made_again += usize::from(number);
    }
    assert!(made_again > 0);
}
