//! Flags about the program: what is evaluated, in which package, within which limits.

use super::ladder::bytes_of;
use super::{FLAG, Flag, Group, Takes, show_switch};
use std::path::PathBuf;

/// Commands that run Lisp.
const RUNNING: &[&str] = &["run", "repl", "explain"];

/// And those that load systems.
const TESTING: &[&str] = &["run", "repl", "explain", "test"];

/// Most Lisp frames that `--stack` may ask for: 10 million of them take about 2 GiB.
const MOST_FRAMES: usize = 10_000_000;

pub const FLAGS: &[Flag] = &[
    Flag {
        name: "--eval",
        short: Some('e'),
        takes: Takes::Text("FORMS"),
        commands: RUNNING,
        summary: "evaluate and print; repeatable, in order, before FILE",
        apply: |request, given, _| {
            request.expressions.push(given.text().to_string());
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--load",
        takes: Takes::Text("FILE"),
        commands: RUNNING,
        summary: "load a file first; repeatable",
        apply: |request, given, _| {
            request.loads.push(PathBuf::from(given.text()));
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--package",
        takes: Takes::Text("NAME"),
        key: Some("package"),
        commands: RUNNING,
        summary: "the package in which reading begins (cl-user)",
        apply: |request, given, origin| {
            request.package.set(given.text().to_string(), origin);
            Ok(())
        },
        show: Some(|request| (request.package.value.clone(), request.package.origin.clone())),
        ..FLAG
    },
    Flag {
        name: "--system-path",
        takes: Takes::Text("DIRS"),
        variable: Some("RUNG_SOURCE_REGISTRY"),
        key: Some("system-path"),
        commands: TESTING,
        summary: "directories in which systems are looked for first",
        detail: &["Separated by colons; a directory that ends in // counts with those in it."],
        apply: |request, given, origin| {
            request.system_path.set(given.text().to_string(), origin);
            Ok(())
        },
        show: Some(|request| {
            (request.system_path.value.clone(), request.system_path.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--filter",
        takes: Takes::Text("TEXT"),
        group: Group::Tools,
        commands: &["test"],
        summary: "only tests with this in their name",
        apply: |request, given, _| {
            request.filter = Some(given.text().to_string());
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--jobs",
        takes: Takes::Count(1024),
        group: Group::Tools,
        commands: &["test"],
        summary: "files that are tested at once (1)",
        apply: |request, given, _| {
            request.jobs = usize::try_from(given.integer()).unwrap_or(request.jobs);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--width",
        takes: Takes::Count(1000),
        group: Group::Tools,
        commands: &["fmt"],
        summary: "columns of a line (80)",
        apply: |request, given, _| {
            request.width = usize::try_from(given.integer()).unwrap_or(request.width);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--check",
        group: Group::Tools,
        commands: &["fmt"],
        summary: "change nothing, name the files that would change",
        apply: |request, _, _| {
            request.check = true;
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--stdout",
        group: Group::Tools,
        commands: &["fmt"],
        summary: "change nothing, print the result",
        apply: |request, _, _| {
            request.to_output = true;
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--stack",
        takes: Takes::Count(MOST_FRAMES),
        key: Some("stack"),
        commands: RUNNING,
        summary: "calls that may be open at once (100000)",
        detail: &["Deeper recursion is a condition of type storage-condition."],
        apply: |request, given, origin| {
            request.frames.set(usize::try_from(given.integer()).unwrap_or(1), origin);
            Ok(())
        },
        show: Some(|request| (request.frames.value.to_string(), request.frames.origin.clone())),
        ..FLAG
    },
    Flag {
        name: "--heap",
        takes: Takes::Text("SIZE"),
        variable: Some("RUNG_HEAP"),
        key: Some("heap"),
        commands: RUNNING,
        summary: "bytes that Lisp's objects may take: 512M, 4G",
        detail: &[
            "Beyond it a condition of type storage-condition; without it no limit.",
            "Packed arrays are not counted.",
        ],
        apply: |request, given, origin| {
            let bytes = bytes_of(given.text())?;
            request.heap.set(Some(usize::try_from(bytes).unwrap_or(usize::MAX)), origin);
            Ok(())
        },
        show: Some(|request| {
            let text = request.heap.value.map_or("none".to_string(), |bytes| bytes.to_string());
            (text, request.heap.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--warnings",
        takes: Takes::Choice(&["show", "error"]),
        key: Some("warnings"),
        commands: RUNNING,
        summary: "error: a run that has warned ends with exit code 1",
        detail: &["Those of the compiler and of the function warn; the run goes on."],
        apply: |request, given, origin| {
            request.warnings_are_errors.set(given.text() == "error", origin);
            Ok(())
        },
        show: Some(|request| {
            let setting = &request.warnings_are_errors;
            let word = if setting.value { "error" } else { "show" };
            (word.to_string(), setting.origin.clone())
        }),
        ..FLAG
    },
    Flag {
        name: "--allow-warnings",
        commands: RUNNING,
        summary: "as --warnings=show, where a settings file says error",
        apply: |request, _, origin| {
            request.warnings_are_errors.set(false, origin);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        name: "--buffered-output",
        key: Some("buffered-output"),
        commands: RUNNING,
        summary: "collect output to a terminal too, as to a file or a pipe",
        detail: &[
            "It is shown before input is waited for, before messages, half a second",
            "after it was printed, and at the end, also where a signal ends it.",
        ],
        apply: |request, given, origin| {
            request.buffered.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.buffered)),
        ..FLAG
    },
    Flag {
        name: "--no-init",
        commands: RUNNING,
        summary: "do not load init.lisp at the prompt",
        apply: |request, given, origin| {
            request.init.set(!given.on(), origin);
            Ok(())
        },
        ..FLAG
    },
    Flag {
        takes: Takes::Switch(""),
        variable: Some("RUNG_NATIVE"),
        summary: "functions that run often become machine code (on)",
        apply: |request, given, origin| {
            request.native.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.native)),
        ..FLAG
    },
    Flag {
        takes: Takes::Switch(""),
        variable: Some("RUNG_DEBUG"),
        summary: "an error shows the calls that led to it",
        apply: |request, given, origin| {
            request.backtrace.set(given.on(), origin);
            Ok(())
        },
        show: Some(|request| show_switch(&request.backtrace)),
        ..FLAG
    },
];
