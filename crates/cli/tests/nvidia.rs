//! Whole programs over a driver of NVIDIA's that stands in for the real one (`crates/stand-in`): every
//! kernel runs as PTX in the interpreter, so nothing here needs a card. Output is the processor's, whatever
//! the driver lacks or fails at.
#![cfg(target_os = "linux")]

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, Ran, ran, rung};

/// Element-wise work, a chain, a product and folds on what lies on the card.
const PROGRAM: &str = r#"
(let* ((a (la:reshape (la:linspace -2 2 8192) '(128 64)))
       (x (rung:send (la:astype a 'single-float)))
       (y (rung:send a))
       (square (rung:send (la:add (la:mul 4 (la:eye 5)) (la:slice a '((0 5) (0 5)))))))
  (print (la:sum (la:exp x)))
  (print (la:sum (la:div (la:add (la:mul x x) 1) 3) :axis 1))
  (print (la:slice (la:matmul (la:transpose y) y) '((0 2) (0 3))))
  (print (la:norm (la:softmax y)))
  (print (la:slice (la:sin y) '((0 2) (0 2))))
  (print (la:solve square (la:ones 5)))
  (print (la:argmax x :axis 1)))
"#;

/// The stand-in's file, without the functions of these names.
fn library(folder: &Folder, without: &[&str]) -> String {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().join("librung_stand_in.so");
    let mut bytes = std::fs::read(&built).unwrap_or_else(|e| panic!("{}: {e}", built.display()));
    for name in without {
        // Another first letter in the table of names: the loader finds it no more.
        let name = [b"\0", name.as_bytes(), b"\0"].concat();
        let places = 0..bytes.len() - name.len();
        let found: Vec<usize> = places.filter(|&at| bytes[at..].starts_with(&name)).collect();
        assert!(!found.is_empty(), "{without:?}");
        found.into_iter().for_each(|at| bytes[at + 1] = b'x');
    }
    let place = folder.0.join("driver");
    std::fs::create_dir_all(&place).unwrap();
    std::fs::write(place.join("libcuda.so.1"), bytes).unwrap();
    place.to_str().unwrap().to_string()
}

/// Runs words over a driver.
fn run_on(folder: &Folder, driver: &str, card: &[(&str, &str)], words: &[&str]) -> Ran {
    let mut command = rung(folder);
    command.args(words).env("LD_LIBRARY_PATH", driver).envs(card.iter().copied());
    command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
    ran(command.output().unwrap())
}

/// A folder with the program, and what it prints on the processor.
fn prepared() -> (Folder, String) {
    let folder = Folder::new();
    let path = folder.file("work.lisp", PROGRAM);
    let here = ran(rung(&folder).arg(&path).output().unwrap());
    assert_eq!((here.code, here.err.as_str()), (Some(0), ""), "{}", here.err);
    (folder, here.out)
}

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
const NEEDED: [&str; 13] = [
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
    "cuMemAllocAsync",
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
    let second = [("STAND_IN_CARDS", "2")];
    let second = run_on(&folder, &driver, &second, &["work.lisp", "--device=cuda:1"]);
    assert_eq!((second.out, second.err.as_str()), (wanted, ""));
}

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
    (2, "rung: warning: --gpu: self-test: needs 32 KiB; running without it.\n"),
    (3, "rung: warning: --gpu: self-test: needs 32 KiB; running without it.\n"),
    (5, "rung: warning: --gpu: self-test: needs 608 KiB; running without it.\n"),
    (8, "rung: warning: --gpu: self-test: needs 16 KiB; running without it.\n"),
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
    (8, "kernel broadcast div  f32 f32 number to f32: CUDA_ERROR_INVALID_PTX (218)\n"),
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
        let text = "rung: warning: --gpu: self-test: needs 608 KiB; running without it.\n";
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
