//! What the command says of cards, drivers that cannot be loaded and the variables about them, over a
//! driver that stands in for NVIDIA's.
#![cfg(target_os = "linux")]

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::card::{library, prepared, run_on};
use common::{Folder, ran, rung};

const WORK: &str = "(princ (la:sum (la:exp (la:ones '(3)))))";

/// It was an unknown variable, and a folder that is not there took the card away.
#[test]
fn a_folder_for_ptx_that_takes_nothing_costs_the_texts_alone() {
    let (folder, wanted) = prepared();
    let driver = library(&folder, &[]);
    std::fs::create_dir(folder.0.join("ptx")).unwrap();
    let words = ["work.lisp", "--gpu", "--explain=json"];
    for (place, kept) in [("ptx", true), ("", false), ("none", false), ("/proc", false)] {
        let there = run_on(&folder, &driver, &[("RUNG_PTX_FOLDER", place)], &words);
        assert_eq!((there.code, there.out.as_str()), (Some(0), &*wanted), "{place}: {}", there.err);
        let mut lines = there.err.lines();
        let told: serde_json::Value = serde_json::from_str(lines.next().unwrap()).unwrap();
        let rows = told["calls"].as_array().unwrap();
        assert!(rows.iter().any(|row| row["rung"] == "device"), "{place}: {}", there.err);
        let warnings: Vec<&str> = lines.collect();
        if kept || place.is_empty() {
            assert_eq!(warnings, [""; 0], "{place}");
            continue;
        }
        assert_eq!(warnings.len(), 1, "{place}: {}", there.err);
        let begin = format!("rung: warning: RUNG_PTX_FOLDER: cannot write {place}/");
        assert!(warnings[0].starts_with(&begin), "{place}: {}", there.err);
        assert!(warnings[0].ends_with("; not every PTX is kept."), "{place}: {}", there.err);
    }
    assert!(std::fs::read_dir(folder.0.join("ptx")).unwrap().count() > 3);
    // Nothing lies where it ran: the driver, the program and the folder.
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 3);
}

/// Whatever is wrong with it, there was "no NVIDIA driver".
#[test]
fn a_driver_that_cannot_be_loaded_is_named_with_the_reason() {
    let folder = Folder::new();
    folder.file("text/libcuda.so.1", "this is no library\n");
    folder.file("empty/libcuda.so.1", "");
    std::fs::create_dir_all(folder.0.join("folder/libcuda.so.1")).unwrap();
    for place in ["text", "empty", "folder"] {
        let driver = folder.0.join(place).to_str().unwrap().to_string();
        let reason = format!("libcuda.so.1 cannot be loaded: {driver}/libcuda.so.1: ");
        let there = run_on(&folder, &driver, &[], &["--gpu", "-e", WORK]);
        assert_eq!(there.code, Some(0));
        let warning = format!("rung: warning: --gpu: {reason}");
        assert!(there.err.starts_with(&warning), "{place}: {}", there.err);
        let named = run_on(&folder, &driver, &[], &["--device=H200", "-e", WORK]);
        assert_eq!(named.code, Some(4));
        assert!(named.err.contains(&reason), "{place}: {}", named.err);
        let doctor = run_on(&folder, &driver, &[], &["doctor"]).out;
        let line = doctor.lines().find(|line| line.contains(" cuda ")).unwrap();
        assert!(line.contains(&format!("[warn] {reason}")), "{place}: {line}");
        assert!(line.contains("; fix: install NVIDIA's driver again"), "{place}: {line}");
    }
}

/// The fix was to leave out what had not been given, and no card was named.
#[test]
fn doctor_names_the_card_that_does_not_open() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let small = [("STAND_IN_MEMORY", "1000")];
    let line = |words: &[&str]| {
        let doctor = run_on(&folder, &driver, &small, words).out;
        let line = doctor.lines().find(|line| line.contains("out of memory")).map(str::to_string);
        line.unwrap_or_else(|| panic!("{doctor}"))
    };
    let found = line(&["doctor", "--gpu"]);
    assert!(found.contains(" cuda "), "{found}");
    assert!(
        found.contains("] Stand-in 0: CUDA driver: out of memory: needs 4 KiB; fix: "),
        "{found}"
    );
    assert!(!found.contains("--device"), "{found}");
    for name in ["cuda:0", "stand-in"] {
        let found = line(&["doctor", &format!("--device={name}")]);
        let fix = format!("needs 4 KiB; fix: rung doctor without --device={name} lists");
        assert!(found.contains("[fail] Stand-in 0: ") && found.contains(&fix), "{found}");
    }
}

/// What was given is what is said.
#[test]
fn a_device_is_named_as_it_was_given() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let with = |variable: &str, words: &[&str]| {
        run_on(&folder, &driver, &[("RUNG_DEVICE", variable)], &[words, &["-e", WORK]].concat())
    };
    for (given, said) in [("cpu", "cpu"), ("none", "none"), ("NONE", "none"), (" Cpu ", "cpu")] {
        let warning =
            format!("rung: warning: --gpu: hidden by RUNG_DEVICE={said}; running without it.\n");
        assert_eq!(with(given, &["--gpu"]).err, warning);
        assert_eq!(with(given, &[]).err, "");
    }
    // None of these is a card.
    for given in ["foo", "cuda:7", "cuda:x", "cuda:", "cuda:99999999999999"] {
        let there = with(given, &[]);
        assert_eq!(there.code, Some(4), "{given}: {}", there.err);
        let said = format!("rung: error: RUNG_DEVICE={given}: no adapter named {given}; found: ");
        assert!(there.err.starts_with(&said), "{}", there.err);
        assert!(there.err.contains("Stand-in 0"), "{}", there.err);
    }
    let expected = "expected auto, none, cuda:N or part of an adapter's name, got";
    for (words, code, said) in [
        (&["--gpu", "--device=cpu"][..], 2, "--gpu and --device=cpu contradict each other".into()),
        (&["--device=NONE", "--gpu"], 2, "--gpu and --device=none contradict each other".into()),
        (&["--device= "], 2, format!("--device: {expected} \" \"")),
        (&["--device="], 2, format!("--device: {expected} \"\"")),
        (
            &["--device=cuda:x"],
            2,
            "--device: expected cuda:0, cuda:1 and so on, got \"cuda:x\"".into(),
        ),
        (
            &["--device=cuda:99999999999999"],
            4,
            "--device=cuda:99999999999999: no adapter named".into(),
        ),
    ] {
        let there = with("", words);
        assert_eq!((there.code, there.out.as_str()), (Some(code), ""), "{words:?}");
        assert!(there.err.starts_with(&format!("rung: error: {said}")), "{words:?}: {}", there.err);
    }
}

/// It wrote the default costs as if they were measured, and ended with 0.
#[test]
fn tune_writes_nothing_of_a_card_that_dies_meanwhile() {
    let folder = Folder::new();
    let driver = library(&folder, &[]);
    let words = ["tune", "--quick", "--threads=1", "--gpu", "--costs=costs.toml"];
    let card = [("STAND_IN_FAULT", "cuLaunchKernel:5:700:late")];
    let there = run_on(&folder, &driver, &card, &words);
    assert_eq!((there.code, there.out.as_str()), (Some(4), ""), "{}", there.err);
    let said = "rung: error: --gpu: the device failed while it was measured: device retired: \
                CUDA_ERROR_ILLEGAL_ADDRESS (700)";
    // The driver that stands in has told of its own before.
    assert!(there.err.contains(said), "{}", there.err);
    assert!(there.err.contains("; nothing was written\n  hint: "), "{}", there.err);
    assert!(!folder.0.join("costs.toml").exists());
    let absent = run_on(&folder, &driver, &[], &["tune", "--device=cuda:9", "--costs=costs.toml"]);
    assert_eq!(absent.code, Some(4));
    let said = "rung: error: --device=cuda:9: no adapter named cuda:9; found: cuda:0 (Stand-in 0)\n  hint: ";
    assert!(absent.err.starts_with(said), "{}", absent.err);
}

#[test]
fn what_is_built_in_is_named() {
    let folder = Folder::new();
    let facts = ran(rung(&folder).args(["--version", "--verbose"]).output().unwrap()).out;
    assert!(facts.contains("CUDA by dlopen, wgpu (Vulkan), CBLAS by dlopen"), "{facts}");
}

#[test]
fn warnings_about_a_settings_file_name_its_path() {
    let folder = Folder::new();
    folder.file(".config/rung/config.toml", "thread = 5\n");
    folder.file("rung.toml", "gpuu = true\n");
    let said = ran(rung(&folder).args(["-e", "1"]).output().unwrap()).err;
    assert!(
        said.contains("rung: warning: .config/rung/config.toml:1: thread: unknown key"),
        "{said}"
    );
    assert!(said.contains("rung: warning: rung.toml:1: gpuu: unknown key"), "{said}");
    std::fs::create_dir(folder.0.join("below")).unwrap();
    let mut command = rung(&folder);
    let said = ran(command.current_dir(folder.0.join("below")).args(["-e", "1"]).output().unwrap());
    for (name, key) in [("rung.toml", "gpuu"), (".config/rung/config.toml", "thread")] {
        let above = folder.0.join(name);
        assert!(said.err.contains(&format!("{}:1: {key}", above.display())), "{}", said.err);
    }
    let mut homeless = rung(&folder);
    let doctor = ran(homeless.env_remove("HOME").args(["doctor"]).output().unwrap()).out;
    let line = doctor.lines().find(|line| line.starts_with("costs ")).unwrap();
    assert!(line.contains("there is no home (HOME, XDG_CONFIG_HOME)"), "{line}");
}
