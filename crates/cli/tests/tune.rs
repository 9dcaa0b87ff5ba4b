//! `rung tune`, the cost file it writes, and what runs and doctor make of it.

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, ran, run, run_in, rung};

/// What is said of a machine that does other work meanwhile, as one that runs tests does.
const BUSY: &str = "other work held the cores";

fn without_busy(said: &str) -> Vec<&str> {
    said.lines().filter(|line| !line.contains(BUSY)).collect()
}

fn threads(folder: &Folder, count: &str, words: &[&str]) -> common::Ran {
    ran(rung(folder).env("RUNG_THREADS", count).args(words).output().unwrap())
}

#[test]
fn tune_writes_a_file_that_runs_and_doctor_use() {
    let folder = Folder::new();
    let tuned = threads(&folder, "1", &["tune", "--quick"]);
    let said = without_busy(&tuned.err);
    assert_eq!((tuned.code, said.len()), (Some(0), 1), "{}", tuned.err);
    assert!(said[0].starts_with("wrote ") && said[0].contains("costs.toml, "), "{}", tuned.err);
    assert!(tuned.out.contains("; 1 thread\n") && tuned.out.contains("default"), "{}", tuned.out);
    let file = folder.0.join(".config/rung/costs.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    assert!(text.contains("threads = 1\n") && text.contains("region-us = "), "{text}");

    let ran = threads(&folder, "1", &["-e", "(la:sum #d(1 2))"]);
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "3.0\n", ""));
    let other = threads(&folder, "2", &["-e", "(la:sum #d(1 2))"]);
    assert_eq!(
        other.err,
        "rung: note: costs.toml is for another thread count (1); using the defaults; \
         run rung tune.\n"
    );
    assert_eq!(threads(&folder, "2", &["-q", "-e", "1"]).err, "");
    assert_eq!(threads(&folder, "2", &["--costs=default", "-e", "1"]).err, "");

    let doctor = threads(&folder, "1", &["doctor"]);
    let line = doctor.out.lines().find(|line| line.starts_with("costs ")).unwrap();
    assert!(line.contains("[ok]") && line.contains("measured for this machine"), "{line}");
    assert!(doctor.out.contains("1 thread (RUNG_THREADS)"), "{}", doctor.out);
    let doctor = threads(&folder, "2", &["doctor", "--json"]);
    let judged: serde_json::Value = serde_json::from_str(&doctor.out).unwrap();
    let finding = judged["findings"].as_array().unwrap().iter().find(|f| f["subject"] == "costs");
    let finding = finding.unwrap();
    assert_eq!((&finding["part"], &finding["mark"]), (&"file".into(), &"warn".into()));
    assert!(finding["text"].as_str().unwrap().contains("another thread count (1)"), "{finding}");
}

#[test]
fn tune_writes_the_file_that_costs_names_and_prints_json() {
    let folder = Folder::new();
    std::fs::create_dir(folder.0.join("mine")).unwrap();
    let words = ["tune", "--quick", "--json", "--costs=mine/c.toml"];
    let tuned = threads(&folder, "1", &words);
    assert_eq!((tuned.code, without_busy(&tuned.err).len()), (Some(0), 0), "{}", tuned.err);
    let value: serde_json::Value = serde_json::from_str(&tuned.out).unwrap();
    assert_eq!(value["file"], "mine/c.toml");
    assert!(value["measured"][0]["lanes"]["product"][0].as_f64().unwrap() > 0.0);
    assert!(folder.0.join("mine/c.toml").is_file());
    let refused = run_in(&folder, &["tune", "--costs=default"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.err.starts_with("rung: error: the default costs are in no file"));
}

/// A pipe, which nobody writes to.
fn pipe(folder: &Folder, name: &str) {
    let mut make = std::process::Command::new("mkfifo");
    assert!(make.arg(folder.0.join(name)).status().unwrap().success());
}

#[test]
fn a_bad_cost_file_is_a_warning_and_an_absent_one_that_was_named_an_error() {
    let folder = Folder::new();
    folder.file(".config/rung/costs.toml", "schema = 1\n[[measured]]\nthreads = -2\n");
    let ran = run_in(&folder, &["-e", "(la:sum #d(1 2))"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "3.0\n"));
    let end =
        "/.config/rung/costs.toml:3: threads: expected a count, got -2; using the default costs.\n";
    assert!(ran.err.starts_with("rung: warning: /") && ran.err.ends_with(end), "{}", ran.err);
    let absent = run_in(&folder, &["--costs=none.toml", "-e", "1"]);
    assert_eq!(absent.code, Some(3));
    assert!(absent.err.starts_with("rung: error: cannot read none.toml"), "{}", absent.err);
    // What a flag names is an input like any other.
    folder.file("bare.toml", "schema = 1\n");
    folder.file("empty.toml", "");
    folder.file("old.toml", "[[measured]]\nthreads = 1\n");
    pipe(&folder, "pipe");
    for (file, wanted) in [
        (".config", "cannot read the costs of .config: it is a folder\n"),
        ("bare.toml", "cannot read the costs of bare.toml: it holds no measurement\n"),
        ("/dev/null", "cannot read the costs of /dev/null: it is no regular file\n"),
        ("pipe", "cannot read the costs of pipe: it is no regular file\n"),
        ("empty.toml", "cannot read the costs of empty.toml: it is empty\n"),
        (
            "old.toml",
            "cannot read the costs of old.toml: line 1: schema: expected schema = 1, got none\n",
        ),
        ("none.toml", "cannot read none.toml: no such file or directory"),
        (
            ".config/rung/costs.toml",
            "cannot read the costs of .config/rung/costs.toml: line 3: threads: expected a count, got -2\n",
        ),
    ] {
        let bad = run_in(&folder, &[&format!("--costs={file}"), "-e", "1"]);
        assert_eq!(bad.code, Some(3), "{file}");
        assert!(bad.err.starts_with(&format!("rung: error: {wanted}")), "{}", bad.err);
        assert!(bad.err.contains("\n  hint: rung tune --costs=FILE writes one"), "{}", bad.err);
    }
    let mut command = rung(&folder);
    command.env("RUNG_COSTS", "none.toml").args(["-e", "1"]);
    let absent = common::ran(command.output().unwrap());
    assert_eq!((absent.code, absent.out.as_str()), (Some(0), "1\n"));
    assert_eq!(
        absent.err,
        "rung: warning: RUNG_COSTS: no cost file none.toml; using the default costs.\n"
    );
}

/// It measured for a minute first.
#[test]
fn a_file_that_cannot_be_written_is_told_before_anything_is_measured() {
    let folder = Folder::new();
    folder.file("plain", "");
    pipe(&folder, "pipe");
    folder.file("other.toml", "[package]\nname = \"mine\"\n");
    std::fs::create_dir(folder.0.join("folder")).unwrap();
    for (file, wanted) in [
        ("plain/costs.toml", "cannot write plain/costs.toml: there is no folder plain"),
        // It made the folder.
        ("none/costs.toml", "cannot write none/costs.toml: there is no folder none"),
        ("folder", "cannot write folder: it is a folder"),
        // The hint was to delete it.
        ("/dev/full", "cannot write /dev/full: it is no regular file\n  hint: name another"),
        ("pipe", "cannot write pipe: it is no regular file\n  hint: name another"),
        // It was written over.
        ("other.toml", "cannot write other.toml: it is there and no cost file: line 1: "),
        ("/proc/costs.toml", "cannot write /proc/costs.toml: "),
    ] {
        let start = std::time::Instant::now();
        let tuned = run_in(&folder, &["tune", &format!("--costs={file}")]);
        assert_eq!(tuned.code, Some(3), "{file}: {}", tuned.err);
        assert!(tuned.err.starts_with(&format!("rung: error: {wanted}")), "{}", tuned.err);
        assert!(start.elapsed().as_secs() < 20);
    }
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 4);
}

#[cfg(unix)]
#[test]
fn an_interrupted_tune_leaves_the_old_file_and_nothing_else() {
    let folder = Folder::new();
    folder.file("costs.toml", "schema = 1\n");
    let mut command = rung(&folder);
    command.args(["tune", "--costs=costs.toml"]).stdout(std::process::Stdio::null());
    let child = command.stderr(std::process::Stdio::piped()).spawn().unwrap();
    // Measuring takes seconds; what comes before it, a fraction of one.
    std::thread::sleep(std::time::Duration::from_secs(1));
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ended = child.wait_with_output().unwrap();
    let code = ended.status.code();
    if code == Some(130) {
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(said, "rung: note: interrupted; nothing was written\n");
    }
    // 130 by our handler; none when it came before the handler was set.
    assert!(code == Some(130) || code.is_none(), "{code:?}");
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
    let text = std::fs::read_to_string(folder.0.join("costs.toml")).unwrap();
    assert_eq!(text, "schema = 1\n");
}

/// Whatever lies where the file should be is one line and never a wait.
#[cfg(unix)]
#[test]
fn hostile_cost_files_are_one_warning_each() {
    let folder = Folder::new();
    folder.file("text", "threads = 1 2 3\n");
    folder.file("nested", &format!("schema = 1\nmeasured = {}", "[".repeat(100_000)));
    folder.file("huge", &"#\n".repeat(1 << 20));
    folder.file("numbers", "schema = 1\n[[measured]]\nthreads = 99999999999999999999999\n");
    std::fs::write(folder.0.join("bytes"), [0xff, 0, 0xfe, 7]).unwrap();
    std::fs::create_dir(folder.0.join("folder")).unwrap();
    std::os::unix::fs::symlink("loop", folder.0.join("loop")).unwrap();
    pipe(&folder, "pipe");
    for file in
        ["text", "nested", "huge", "numbers", "bytes", "folder", "loop", "/dev/zero", "pipe"]
    {
        let mut command = rung(&folder);
        command.env("RUNG_COSTS", file).args(["-e", "(la:sum #d(1 2))"]);
        let ran = common::ran(command.output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (Some(0), "3.0\n"), "{file}: {}", ran.err);
        assert_eq!(ran.err.lines().count(), 1, "{file}: {}", ran.err);
        assert!(ran.err.starts_with("rung: warning: "), "{file}: {}", ran.err);
        assert!(ran.err.ends_with("using the default costs.\n"), "{file}: {}", ran.err);
    }
}

#[test]
fn threads_are_named_with_what_decided_them() {
    let doctor = run(&["doctor", "--threads=3"]);
    assert!(doctor.out.contains("3 threads (--threads)"), "{}", doctor.out);
    let doctor = run(&["doctor", "--no-parallel"]);
    assert!(doctor.out.contains("1 thread (--no-parallel)"), "{}", doctor.out);
    let doctor = run(&["doctor"]);
    let limits = ["(affinity mask)", "(cgroup quota)", "(physical cores)", "(the system's count)"];
    assert!(limits.iter().any(|limit| doctor.out.contains(limit)), "{}", doctor.out);
}

#[test]
fn starting_without_array_work_starts_no_thread() {
    // The program reads how many threads its own process has.
    let count = "(with-open-file (in \"/proc/self/status\") (loop for line = (read-line in nil) \
                 while line when (search \"Threads:\" line) return line))";
    if !std::path::Path::new("/proc/self/status").exists() {
        return;
    }
    let before = run(&["--threads=6", "-e", count]).out;
    let small = run(&["--threads=6", "-e", "(la:sum #d(1 2))", "-e", count]).out;
    assert_eq!(small.lines().last(), before.lines().last());
    let large = run(&["--threads=6", "-e", "(la:size (la:exp (la:ones 400000)))", "-e", count]).out;
    assert_ne!(large.lines().last(), before.lines().last());
}
