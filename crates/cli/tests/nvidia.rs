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

/// The stand-in's file, without the function of this name.
fn library(folder: &Folder, without: Option<&str>) -> String {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().join("librung_stand_in.so");
    let mut bytes = std::fs::read(&built).unwrap_or_else(|e| panic!("{}: {e}", built.display()));
    if let Some(name) = without {
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
    let driver = library(&folder, None);
    for card in [&[][..], &[("STAND_IN_POOLS", "0")], &[("STAND_IN_INTEGRATED", "1")]] {
        let there = run_on(&folder, &driver, card, &["work.lisp", "--gpu", "--explain=json"]);
        assert_eq!(there.out, wanted, "{}", there.err);
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
    let driver = library(&folder, None);
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
    let driver = library(&folder, None);
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

/// What `rung doctor` tests: the samples of every operation with a kernel, bit for bit.
#[test]
fn every_operation_gives_the_definition_s_bits_on_the_card() {
    let folder = Folder::new();
    let driver = library(&folder, None);
    let doctor = run_on(&folder, &driver, &[], &["doctor", "--device=cuda:0"]);
    let line = doctor.out.lines().find(|line| line.contains("Stand-in 0")).unwrap();
    let tested = line.rsplit("self-test ").next().unwrap();
    let (passed, all) = tested.split_once('/').unwrap();
    assert_eq!(passed, all, "{line}");
    assert!(all.parse::<u32>().unwrap() >= 150, "{line}");
    assert!(line.contains("[ok]") && line.contains("rounding 37/37"), "{line}");
    assert_eq!(doctor.err, "");
}

#[test]
fn a_driver_without_a_function_serves_the_rest_or_declines() {
    let (folder, wanted) = prepared();
    let names = exported(&folder);
    assert!(names.len() >= 36, "{names:?}");
    for name in names {
        let driver = library(&folder, Some(&name));
        let there = run_on(&folder, &driver, &[], &["work.lisp", "--gpu"]);
        let said = format!("without {name}: {}{}", there.out, there.err);
        assert_eq!((there.code, &there.out), (Some(0), &wanted), "{said}");
        assert!(!there.err.contains("panicked") && there.err.lines().count() <= 1, "{said}");
    }
    let driver = library(&folder, Some("cuCtxSetCurrent"));
    let there = run_on(&folder, &driver, &[], &["work.lisp", "--gpu"]);
    let text = "rung: warning: --gpu: CUDA driver: the driver (for CUDA 12.4) has no cuCtxSetCurrent; \
                running without it.\n";
    assert_eq!(there.err, text);
}

/// The functions of the stand-in.
fn exported(folder: &Folder) -> Vec<String> {
    use object::{Object, ObjectSymbol};
    let path = library(folder, None);
    let bytes = std::fs::read(format!("{path}/libcuda.so.1")).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let names = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    let names = names.filter_map(|symbol| symbol.name().ok().map(str::to_string));
    names.filter(|name| name.starts_with("cu")).collect()
}

#[test]
fn a_card_that_cannot_be_used_says_why() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, None);
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
    let hidden = [("CUDA_VISIBLE_DEVICES", "")];
    let hidden = run_on(&folder, &driver, &hidden, &["work.lisp", "--gpu"]);
    assert!(hidden.err.contains("hidden by CUDA_VISIBLE_DEVICES"), "{}", hidden.err);
    let second = [("STAND_IN_CARDS", "2")];
    let second = run_on(&folder, &driver, &second, &["work.lisp", "--device=cuda:1"]);
    assert_eq!((second.out, second.err.as_str()), (wanted, ""));
}

/// Out of memory, a refused kernel or copy at any point: the same output, for everything is still here or
/// comes home.
#[test]
fn a_failure_at_any_point_is_a_decline() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, None);
    for (function, code) in
        [("cuMemAllocAsync", 2), ("cuModuleLoadDataEx", 218), ("cuMemHostAlloc", 2)]
    {
        for call in [1, 2, 3, 5, 8, 13, 21] {
            let fault = format!("{function}:{call}:{code}");
            let card = [("STAND_IN_FAULT", fault.as_str())];
            let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
            let said = format!("{fault}: {}{}", there.out, there.err);
            assert_eq!((there.code, &there.out), (Some(0), &wanted), "{said}");
            assert!(!there.err.contains("panicked"), "{said}");
        }
    }
}

/// After an error from which a card does not recover it is retired with one warning; what was only there
/// is an error that says so, and nothing wrong is ever printed.
#[test]
fn a_card_that_is_lost_is_retired_with_its_driver_s_word() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, None);
    for call in 3..=12 {
        let fault = format!("cuLaunchKernel:{call}:700:sticky");
        let card = [("STAND_IN_FAULT", fault.as_str())];
        let there = run_on(&folder, &driver, &card, &["work.lisp", "--gpu"]);
        let said = format!("{fault}: {}{}", there.out, there.err);
        let retired = "device retired: CUDA_ERROR_ILLEGAL_ADDRESS (700)";
        assert!(there.err.contains(retired), "{said}");
        assert!(!there.err.contains("panicked") && wanted.starts_with(&there.out), "{said}");
        assert_eq!(there.code == Some(0), there.out == wanted, "{said}");
    }
}
