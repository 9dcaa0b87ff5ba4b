//! Whole programs over a driver of NVIDIA's that stands in for the real one (`crates/stand-in`): every
//! kernel runs as PTX in the interpreter, so nothing here needs a card. Output is the processor's, whatever
//! the driver lacks or fails at.
#![cfg(target_os = "linux")]

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::card::{library, prepared, run_on};
use common::{Folder, ran, rung};

#[test]
fn a_program_runs_on_the_card_to_the_same_bits() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    // Streams go on as little as somebody waits for, or as the seed says.
    for card in [
        &[][..],
        &[("STAND_IN_POOLS", "0")],
        &[("STAND_IN_INTEGRATED", "1")],
        &[("STAND_IN_SEED", "1")],
        &[("STAND_IN_SEED", "2"), ("STAND_IN_POOLS", "0")],
    ] {
        let there = run_on(&folder, &driver, card, &["work.lisp", "--gpu", "--explain=json"]);
        assert_eq!(there.out, wanted, "{card:?}: {}", there.err);
        let json: serde_json::Value = serde_json::from_str(there.err.trim()).unwrap();
        let rows = json["calls"].as_array().unwrap();
        let on_card = rows.iter().filter(|row| row["rung"] == "device").count();
        assert!(on_card >= 7, "{on_card}: {}", there.err);
    }
    let words = ["work.lisp", "--device=stand-in", "--on-decline=verify"];
    let verified = run_on(&folder, &driver, &[], &words);
    assert_eq!((verified.out, verified.err.as_str()), (wanted, ""));
}

/// Products of odd sizes, turned over, stacked, of half widths, and with what follows them.
const PRODUCTS: &str = r#"
(let* ((a (la:astype (la:reshape (la:sin (la:linspace -9 9 (* 67 131))) '(67 131)) 'single-float))
       (b (la:astype (la:reshape (la:cos (la:linspace -7 5 (* 131 66))) '(131 66)) 'single-float))
       (s (la:astype (la:reshape (la:sin (la:linspace 1 5 (* 3 70 40))) '(3 70 40)) 'single-float))
       (h (la:astype a 'bfloat16)))
  (mapc #'rung:send (list a b s h))
  (print (la:sum (la:matmul a b)))
  (print (la:sum (la:matmul (la:transpose b) (la:transpose a))))
  (print (la:sum (la:matmul s (la:transpose s '(0 2 1)))))
  (print (la:sum (la:matmul (la:transpose h) h)))
  (print (la:sum (la:add (la:matmul a b) 1))))
"#;

/// From compute capability 8.0 on, within the bound that `--on-decline=verify` checks; below it the same
/// bits as ever, and explain says why.
#[test]
fn products_run_on_tensor_cores_where_they_are_asked_for() {
    let folder = Folder::new();
    folder.file("products.lisp", PRODUCTS);
    let driver = library(&folder, &[]);
    let here = ran(rung(&folder).arg("products.lisp").output().unwrap()).out;
    let numbers = |text: &str| -> Vec<f64> {
        text.split_whitespace().map(|x| x.replace('d', "e").parse().unwrap()).collect()
    };
    for precision in ["tf32", "bf16"] {
        let flag = format!("--precision={precision}");
        let words = ["products.lisp", "--gpu", &flag, "--explain"];
        let there = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "80")], &words);
        assert_ne!(there.out, here, "{}", there.err);
        for (x, y) in numbers(&there.out).into_iter().zip(numbers(&here)) {
            assert!((x - y).abs() < 0.02 * y.abs().max(30.0), "{precision}: {x} and {y}");
        }
        let said = format!("device {precision} on tensor cores");
        assert!(there.err.matches(&said).count() >= 5, "{}", there.err);
        let words = ["products.lisp", "--gpu", &flag, "--on-decline=verify"];
        let verified = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "90")], &words);
        assert_eq!((verified.code, verified.err.as_str()), (Some(0), ""), "{precision}");
        let words = ["products.lisp", "--gpu", &flag, "--explain"];
        let older = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "75")], &words);
        assert_eq!(older.out, here);
        assert!(older.err.contains("device strict, no tensor cores"), "{}", older.err);
    }
}

/// So do the products inside a mel spectrogram; method fft has none and says so.
#[test]
fn products_of_a_spectrogram_run_on_tensor_cores_where_they_are_asked_for() {
    let folder = Folder::new();
    let program = |method: &str| {
        format!(
            "(print (la:sum (mel:spectrogram (la:sin (la:linspace 0 900 9000)) :rate 16000 \
             :preset :whisper-80 :method :{method})))"
        )
    };
    folder.file("product.lisp", &program("product"));
    folder.file("fft.lisp", &program("fft"));
    let driver = library(&folder, &[]);
    let here = ran(rung(&folder).arg("product.lisp").output().unwrap()).out;
    for precision in ["tf32", "bf16"] {
        let flag = format!("--precision={precision}");
        let words = ["product.lisp", "--gpu", &flag, "--explain", "--on-decline=verify"];
        let there = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "80")], &words);
        assert_eq!(there.code, Some(0), "{}", there.err);
        assert_ne!(there.out, here, "{}", there.err);
        let said = format!("device {precision} on tensor cores");
        assert!(there.err.contains(&said), "{}", there.err);
        let older = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "75")], &words);
        assert_eq!(older.out, here);
        assert!(older.err.contains("device strict, no tensor cores"), "{}", older.err);
        let words = ["fft.lisp", "--gpu", &flag];
        let fft = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "80")], &words);
        assert!(fft.err.contains("stays strict with method fft"), "{}", fft.err);
    }
}

/// Doubles have the processor's bits on every card; explain and doctor say whether its tensor cores are used.
#[test]
fn products_of_doubles_run_on_tensor_cores_that_have_their_bits() {
    let folder = Folder::new();
    folder.file("products.lisp", &PRODUCTS.replace("'single-float", "'double-float"));
    let driver = library(&folder, &[]);
    let here = ran(rung(&folder).arg("products.lisp").output().unwrap()).out;
    for (order, explained) in [
        ("ascending", "device f64 on tensor cores"),
        ("pairwise", "device strict, its tensor cores add doubles in another order"),
    ] {
        let card = [("STAND_IN_CAPABILITY", "80"), ("STAND_IN_DOUBLES", order)];
        let there = run_on(&folder, &driver, &card, &["products.lisp", "--gpu", "--explain"]);
        assert_eq!(there.out, here, "{order}: {}", there.err);
        assert!(there.err.matches(explained).count() >= 4, "{order}: {}", there.err);
    }
    let card = [("STAND_IN_CAPABILITY", "90"), ("STAND_IN_DOUBLES", "ascending")];
    let verified =
        run_on(&folder, &driver, &card, &["products.lisp", "--gpu", "--on-decline=verify"]);
    assert_eq!((verified.out, verified.err.as_str()), (here, ""));
    let card = [("STAND_IN_CAPABILITY", "80"), ("STAND_IN_DOUBLES", "descending")];
    let doctor = run_on(&folder, &driver, &card, &["doctor", "--device=cuda:0"]);
    let found = "rounding 37/37; tensor cores add doubles in another order, not used";
    assert!(doctor.out.contains(found), "{}", doctor.out);
}

/// What `rung doctor` says about its samples on the card: passed, all, and the rest of the line.
fn self_test(folder: &Folder, driver: &str, card: &[(&str, &str)]) -> (u32, u32, String) {
    let doctor = run_on(folder, driver, card, &["doctor", "--device=cuda:0"]);
    assert_eq!(doctor.err, "");
    let line = doctor.out.lines().find(|line| line.contains("Stand-in 0")).unwrap();
    let tested = line.rsplit("self-test ").next().unwrap();
    let (passed, rest) = tested.split_once('/').unwrap();
    let all: String = rest.chars().take_while(char::is_ascii_digit).collect();
    (passed.parse().unwrap(), all.parse().unwrap(), line.to_string())
}

/// What `rung doctor` tests: the samples of every operation with a kernel, bit for bit.
#[test]
fn every_operation_gives_the_definition_s_bits_on_the_card() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let (passed, all, line) = self_test(&folder, &driver, &[]);
    assert!(passed == all && all >= 150, "{line}");
    assert!(line.contains("[ok]") && line.contains("rounding 37/37"), "{line}");
}

/// A decline of a call that failed on the card is no pass.
#[test]
fn an_operation_whose_kernel_is_refused_fails_the_self_test() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let card = [("STAND_IN_FAULT", "cuModuleLoadDataEx:3:218")];
    let (passed, all, line) = self_test(&folder, &driver, &card);
    assert_eq!(passed + 1, all, "{line}");
    assert!(line.contains(" failed: kernel ") && line.contains("[fail]"), "{line}");
    assert!(line.contains("CUDA_ERROR_INVALID_PTX (218)"), "{line}");
}

/// Without these no card can be used, which is seen before or in its first test.
const NEEDED: [&str; 12] = [
    "cuInit",
    "cuDeviceGetCount",
    "cuDeviceGet",
    "cuDeviceGetName",
    "cuDeviceTotalMem_v2",
    "cuDeviceGetAttribute",
    "cuDevicePrimaryCtxRetain",
    "cuCtxSetCurrent",
    "cuStreamCreate",
    "cuStreamSynchronize",
    "cuMemsetD8Async",
    "cuMemcpyDtoHAsync_v2",
];
const NEEDED_BY_THE_TEST: [&str; 7] = [
    "cuEventCreate",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuLaunchKernel",
    "cuMemcpyHtoDAsync_v2",
    "cuModuleGetFunction",
    "cuModuleLoadDataEx",
];

#[test]
fn a_driver_without_a_function_serves_the_rest_or_says_which() {
    let (folder, wanted) = prepared();
    let names = exported(&folder);
    assert!(names.len() >= 36, "{names:?}");
    let needed = NEEDED.iter().chain(&NEEDED_BY_THE_TEST);
    assert!(needed.into_iter().all(|name| names.iter().any(|known| known == name)));
    for name in names {
        let driver = library(&folder, &[&name]);
        let there = run_on(&folder, &driver, &[], &["work.lisp", "--gpu"]);
        let said = format!("without {name}: {}{}", there.out, there.err);
        assert_eq!((there.code, &there.out), (Some(0), &wanted), "{said}");
        let step = match name.as_str() {
            name if NEEDED.contains(&name) => "CUDA driver",
            name if NEEDED_BY_THE_TEST.contains(&name) => "self-test",
            _ => {
                assert_eq!(there.err, "", "{said}");
                continue;
            }
        };
        let text = format!(
            "rung: warning: --gpu: {step}: the driver (for CUDA 12.4) has no {name}; running without it.\n"
        );
        assert_eq!(there.err, text, "{said}");
    }
    // What only waits of one stream for the other need is a decline of the calls that wait.
    let driver = library(&folder, &["cuStreamWaitEvent"]);
    let there = run_on(&folder, &driver, &[], &["work.lisp", "--gpu", "--on-decline=warn"]);
    let text = "la:matmul on the device: the driver (for CUDA 12.4) has no cuStreamWaitEvent\n";
    assert!(there.out == wanted && there.err.contains(text), "{}", there.err);
}

/// What came with a later driver is named with the version of the one that is there; what has an
/// older name is found under that.
#[test]
fn an_old_driver_is_named_by_its_version_and_serves_under_its_older_names() {
    let (folder, wanted) = prepared();
    let old = [("STAND_IN_VERSION", "10020")];
    let driver = library(&folder, &["cuEventRecord"]);
    let there = run_on(&folder, &driver, &old, &["work.lisp", "--gpu"]);
    let text = "rung: warning: --gpu: self-test: the driver (for CUDA 10.2) has no cuEventRecord; \
                running without it.\n";
    assert_eq!((there.out.as_str(), there.err.as_str()), (wanted.as_str(), text));
    let driver = library(&folder, &["cuEventRecord", "cuDriverGetVersion"]);
    let there = run_on(&folder, &driver, &old, &["work.lisp", "--gpu"]);
    assert_eq!(there.err, text.replace("for CUDA 10.2", "of unknown version"));
    // Before CUDA 11.2 there were no pools, and these three had their first names only.
    let without = [
        "cuMemAllocAsync",
        "cuMemFreeAsync",
        "cuDeviceGetDefaultMemPool",
        "cuMemPoolSetAttribute",
        "cuMemPoolTrimTo",
        "cuStreamDestroy_v2",
        "cuEventDestroy_v2",
        "cuDevicePrimaryCtxRelease_v2",
    ];
    let driver = library(&folder, &without);
    let record = folder.0.join("record");
    let card = [old[0], ("STAND_IN_POOLS", "0"), ("STAND_IN_RECORD", record.to_str().unwrap())];
    let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
    assert_eq!((there.out.as_str(), there.err.as_str()), (wanted.as_str(), ""));
    let calls = std::fs::read_to_string(record).unwrap();
    for name in ["cuStreamDestroy", "cuEventDestroy", "cuDevicePrimaryCtxRelease", "cuMemAlloc_v2"]
    {
        let count = calls.lines().filter(|line| line.split(' ').next() == Some(name)).count();
        assert!(count > 0, "{name} was not called");
    }
    let words = ["-e", "(print (rung:devices))", "--device=cuda:0"];
    let shown = run_on(&folder, &driver, &old, &words);
    assert!(shown.out.contains(":DRIVER \"CUDA 10.2\""), "{}", shown.out);
}

/// The functions of the stand-in.
fn exported(folder: &Folder) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let path = library(folder, &[]);
    let bytes = std::fs::read(format!("{path}/libcuda.so.1")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let names = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names = names.filter_map(|symbol| symbol.name().ok().map(str::to_string));
    names.filter(|name| name.starts_with("cu")).collect()
}

#[test]
fn a_card_that_cannot_be_used_says_why() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    let cases: [(&str, &str, &str); 5] = [
        ("STAND_IN_CARDS", "0", "no CUDA device"),
        ("STAND_IN_CAPABILITY", "70", "compute capability 7.0 is below 7.5"),
        ("STAND_IN_FAULT", "cuInit:1:803", "CUDA driver: CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"),
        (
            "STAND_IN_FAULT",
            "cuDevicePrimaryCtxRetain:1:2",
            "CUDA driver: CUDA_ERROR_OUT_OF_MEMORY (2)",
        ),
        (
            "STAND_IN_FAULT",
            "cuModuleLoadDataEx:1:222",
            "self-test: kernel self-test f64: CUDA_ERROR_UNSUPPORTED_PTX_VERSION (222)",
        ),
    ];
    for (name, value, reason) in cases {
        let there = run_on(&folder, &driver, &[(name, value)], &["work.lisp", "--gpu"]);
        let warning = format!("rung: warning: --gpu: {reason}; running without it.\n");
        assert_eq!((there.code, there.out, there.err), (Some(0), wanted.clone(), warning));
    }
    // Doctor blames the card, not a variable.
    let old = run_on(&folder, &driver, &[("STAND_IN_CAPABILITY", "70")], &["doctor", "--gpu"]).out;
    let line = old.lines().find(|line| line.contains("7.0 is below 7.5")).unwrap();
    assert!(line.contains("cuda") && line.contains("fix: cards from Turing on"), "{old}");
    let absent = run_on(&folder, &driver, &[], &["--device=cuda:3", "-e", "1"]);
    let text = "no adapter named cuda:3; found: cuda:0 (Stand-in 0)";
    assert_eq!(absent.code, Some(4));
    assert!(absent.err.contains(text), "{}", absent.err);
    for list in ["", " "] {
        let hidden = [("CUDA_VISIBLE_DEVICES", list)];
        let hidden = run_on(&folder, &driver, &hidden, &["work.lisp", "--gpu"]);
        let text = "rung: warning: --gpu: hidden by CUDA_VISIBLE_DEVICES; running without it.\n";
        assert_eq!(hidden.err, text);
    }
    // No driver for Vulkan helps whose cards are hidden.
    let hidden = [("CUDA_VISIBLE_DEVICES", "")];
    let found = run_on(&folder, &driver, &hidden, &["doctor", "--gpu"]).out;
    let lines: Vec<&str> = found.lines().filter(|line| line.contains("[warn]")).collect();
    let text = "hidden by CUDA_VISIBLE_DEVICES; fix: unset CUDA_VISIBLE_DEVICES";
    assert!(lines.len() == 1 && lines[0].contains(text), "{found}");
    let shown = [("STAND_IN_CARDS", "2"), ("CUDA_VISIBLE_DEVICES", "1,0")];
    let found = run_on(&folder, &driver, &shown, &["doctor", "--device=cuda:0"]).out;
    assert!(found.contains("Stand-in 1"), "{found}");
    let none = [("STAND_IN_CARDS", "2"), ("CUDA_VISIBLE_DEVICES", "2")];
    let none = run_on(&folder, &driver, &none, &["work.lisp", "--gpu"]);
    assert!(none.err.starts_with("rung: warning: --gpu: no CUDA device; "), "{}", none.err);
    let second = [("STAND_IN_CARDS", "2")];
    let second = run_on(&folder, &driver, &second, &["work.lisp", "--device=cuda:1"]);
    assert_eq!((second.out, second.err.as_str()), (wanted, ""));
}
