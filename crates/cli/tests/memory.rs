//! What runs short of memory ends in an error that says so, and never in the end of the process.
//! Each form is run below limits of address space that grow until it succeeds.
#![cfg(target_os = "linux")]

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, Ran, ran, rung};
use std::process::Command;

/// Below a limit in KiB.
fn below(folder: &Folder, limit: u64, form: &str) -> Ran {
    let program = rung(folder);
    let mut command = Command::new("sh");
    command.env_clear().current_dir(&folder.0);
    command.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("RUNG_THREADS", "2");
    let words = format!("ulimit -v {limit}; exec \"$0\" -e \"$1\"");
    command.args(["-c", &words]).arg(program.get_program()).arg(form);
    ran(command.output().unwrap())
}

/// The bytes of an allocation that ended the process.
fn aborted(text: &str) -> Option<u64> {
    let rest = text.split("memory allocation of ").nth(1)?;
    rest.split(' ').next()?.parse().ok()
}

/// Each of these once ended the process: `memory allocation of 40000000 bytes failed`.
#[test]
fn operations_ask_for_memory_before_they_take_it() {
    let forms = [
        "(la:sort (la:arange 5000000))",
        "(la:argsort (la:arange 5000000))",
        "(la:topk (la:arange 5000000) 10)",
        "(la:unique (la:arange 5000000))",
        "(la:median (la:arange 5000000))",
        "(la:nonzero (la:arange 5000000))",
        "(la:argwhere (la:arange 5000000))",
        "(la:one-hot (la:zeros 3000000) 2)",
        "(la:to-list (la:zeros 1000000))",
        "(la:searchsorted (la:arange 5000000) (la:zeros 10))",
        "(la:svd (la:zeros '(900 900)))",
        "(la:eigh (la:zeros '(900 900)))",
        "(la:qr (la:zeros '(1500 1500)))",
    ];
    let folder = Folder::new();
    for form in forms {
        let form = format!("(progn {form} 1)");
        let refused = (0..40).map(|step| 260_000 + step * 30_000).find(|limit| {
            let ran = below(&folder, *limit, &form);
            // What is below 4 MiB is not asked for: it fails only where nothing is left at all.
            let large = aborted(&ran.err).filter(|bytes| *bytes >= 4 << 20);
            assert_eq!(large, None, "{form} below {limit} KiB: {}", ran.err);
            assert!(!ran.err.contains("panicked"), "{form} below {limit} KiB: {}", ran.err);
            ran.code == Some(0)
        });
        assert!(refused.is_some(), "{form} never succeeds");
    }
    let ran = below(&folder, 400_000, "(la:argsort (la:arange 20000000))");
    assert_eq!(ran.code, Some(1), "{}", ran.err);
    assert!(ran.err.contains("error: linalg: no memory for an array of 152.6 MiB"), "{}", ran.err);
    assert!(ran.err.contains("\n  hint: work on parts, "), "{}", ran.err);
}
