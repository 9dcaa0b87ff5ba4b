//! Flags, settings files, variables and help, through the built command.

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, feed, ran, run, run_in, rung};

#[test]
fn version_is_one_line_and_verbose_says_more() {
    let short = run(&["-V"]);
    assert_eq!(short.out, format!("rung {}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(short.code, Some(0));
    let long = run(&["--version", "--verbose"]);
    assert!(long.out.lines().count() > 2 && long.out.starts_with(&short.out), "{}", long.out);
}

#[test]
fn help_works_anywhere_in_a_wrong_line() {
    for words in [["--gpo", "-h"].as_slice(), &["-h"], &["prog.lisp", "--threads", "-h"]] {
        let ran = run(words);
        assert_eq!(ran.code, Some(0), "{words:?}");
        assert!(ran.out.lines().count() <= 24 && ran.out.contains("  rung prog.lisp"));
    }
    assert!(run(&["doctor", "-h"]).out.contains("usage: rung doctor"));
    assert!(run(&["--help"]).out.contains("RUNG_THREADS"));
}

#[test]
fn mistakes_are_usage_errors_with_a_suggestion() {
    for (words, text) in [
        (["--gpo"].as_slice(), "rung: error: unknown flag --gpo\n  hint: did you mean --gpu?\n"),
        (
            &["docter"],
            "rung: error: docter: no such command or file\n  hint: did you mean rung doctor?\n",
        ),
        (
            &["--on-decline=never", "-e", "1"],
            "rung: error: --on-decline: expected ok, warn, error or verify, got \"never\"\n",
        ),
        (
            &["--precision=half", "-e", "1"],
            "rung: error: --precision: expected strict, tf32 or bf16, got \"half\"\n",
        ),
        (
            &["--device=cuda:x", "-e", "1"],
            "rung: error: --device: expected cuda:0, cuda:1 and so on, got \"cuda:x\"\n",
        ),
        (
            &["--device-memory=9999999T", "-e", "1"],
            "rung: error: --device-memory: expected a size such as 512M or 1.5G, 4096T at most, \
             got \"9999999T\"\n",
        ),
        (
            &["doctor", "--ops", "--report"],
            "rung: error: --report: --ops and --report are two forms; give one of them\n",
        ),
        (
            &["--portable", "--gpu", "-e", "1"],
            "rung: error: --portable runs the definitions alone\n  hint: leave out --gpu or --portable\n",
        ),
        (
            &["-e", "1", "a.lisp", "b.lisp"],
            "rung: error: unexpected word b.lisp\n  hint: a program's own arguments come after --\n",
        ),
        (&["-e"], "rung: error: --eval needs a value\n  hint: -e, --eval FORMS\n"),
        (
            &["--package=nowhere", "-e", "1"],
            "rung: error: --package: there is no package nowhere\n",
        ),
    ] {
        let ran = run(words);
        assert_eq!(
            (ran.code, ran.err.as_str(), ran.out.as_str()),
            (Some(2), text, ""),
            "{words:?}"
        );
    }
}

#[test]
fn the_four_flags_combine_freely_and_print_the_same() {
    let folder = Folder::new();
    let text = "(print (la:to-list (la:matmul (la:ones '(3 4)) (la:ones '(4 2)))))\n";
    let file = folder.file("p.lisp", text);
    let plain = run_in(&folder, &[&file]);
    assert_eq!((plain.code, plain.err.as_str()), (Some(0), ""));
    for bits in 0..16 {
        let flags = ["--gpu", "--blas", "--simd", "--parallel"];
        let mut words: Vec<&str> = flags
            .into_iter()
            .enumerate()
            .filter(|(at, _)| bits >> at & 1 == 1)
            .map(|f| f.1)
            .collect();
        words.push(&file);
        let ran = run_in(&folder, &words);
        assert_eq!((ran.code, &ran.out), (Some(0), &plain.out), "{words:?}");
    }
    assert_eq!(run_in(&folder, &["--portable", &file]).out, plain.out);
}

#[test]
fn a_malformed_or_unknown_variable_warns_once() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["-e", "1"]).env("RUNG_THREADS", "many").env("RUNG_SEDE", "1");
    command.env("OMP_NUM_THREADS", "3");
    let ran = ran(command.output().unwrap());
    assert_eq!(ran.out, "1\n");
    assert_eq!(
        ran.err,
        "rung: warning: RUNG_SEDE: unknown variable; did you mean RUNG_SEED?; ignored.\n\
         rung: warning: RUNG_THREADS: expected a count, got \"many\"; using 3.\n"
    );
}

#[test]
fn a_flag_beats_a_variable_beats_the_project_beats_the_user() {
    let folder = Folder::new();
    folder.file(".config/rung/config.toml", "threads = 5\nseed = 5\non-decline = \"warn\"\n");
    folder.file("rung.toml", "\nthreads = 4\nseed = 4\n");
    let mut command = rung(&folder);
    command.args(["doctor", "--threads=2"]).env("RUNG_THREADS", "3").env("RUNG_EXPLAIN", "1");
    let text = ran(command.output().unwrap()).out;
    for shown in [
        "threads=2 (--threads)",
        "seed=4 (rung.toml:3)",
        "on-decline=warn (config.toml:3)",
        "explain=table (RUNG_EXPLAIN)",
        "simd=on (built in)",
    ] {
        assert!(text.contains(shown), "{shown}\n{text}");
    }
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let draw = |seed: &str| run(&["--seed", seed, "-e", "(la:to-list (la:rand 3))"]);
    let (one, same, other) = (draw("7"), draw("7"), draw("8"));
    assert_eq!((one.code, one.err.as_str()), (Some(0), ""));
    assert_eq!(one.out, same.out);
    assert_ne!(one.out, other.out);
}

#[test]
fn doctor_judges_and_needs_nothing() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command
        .arg("doctor")
        .env("VK_DRIVER_FILES", "/nonexistent")
        .env("VK_ICD_FILENAMES", "/nonexistent");
    let plain = ran(command.output().unwrap());
    assert_eq!(plain.code, Some(0), "{}", plain.out);
    for subject in ["host", "device", "library", "lanes     [ok]", "portable  [ok]", "settings"] {
        assert!(plain.out.contains(&format!("\n{subject}")) || plain.out.starts_with(subject));
    }
    let broken = run(&["doctor", "--device=no-such-gpu"]);
    assert_eq!(broken.code, Some(1));
    assert!(broken.out.contains("[fail]") && broken.out.contains("fix: "), "{}", broken.out);
    let hidden = ran(rung(&folder).arg("doctor").env("RUNG_DEVICE", "none").output().unwrap());
    assert!(hidden.out.contains("[--] hidden by RUNG_DEVICE"), "{}", hidden.out);
    let json: serde_json::Value = serde_json::from_str(&run(&["doctor", "--json"]).out).unwrap();
    assert_eq!(json["schema"], 1);
    assert!(run(&["doctor", "--ops"]).out.contains("\nmatmul "));
    let report = run_in(&folder, &["doctor", "--report"]).out;
    assert!(!report.contains(folder.0.to_str().unwrap()) && report.starts_with("rung "));
}

#[test]
fn completions_and_the_manual_are_printed() {
    for shell in ["bash", "zsh", "fish", "powershell"] {
        let ran = run(&["completions", shell]);
        assert_eq!(ran.code, Some(0));
        assert!(ran.out.contains("on-decline"), "{shell}");
    }
    assert_eq!(run(&["completions", "tcsh"]).code, Some(2));
    assert!(run(&["man"]).out.starts_with(".TH RUNG 1"));
}

#[test]
fn input_is_not_needed_where_it_is_not_asked_for() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.arg("-V");
    assert_eq!(feed(command, "(print 1)").code, Some(0));
}
