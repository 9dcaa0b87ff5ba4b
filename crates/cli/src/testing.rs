//! `rung test`: the tests of files, each in a process of its own, so that one that ends badly takes
//! no other with it. What a test is, and how a file's tests run, is in the language's library
//! (package `test`); here files are found, processes started and their counts added up.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::commands::Invocation;
use crate::failure::{Exit, Failure, plain};
use crate::{folders, screen};

/// The line with which a process ends its report: passed, failed, skipped.
const COUNTS: &str = "#counts ";

/// What one process runs.
enum Subject {
    File(PathBuf),
    System(String),
}

/// How the tests of a subject ended.
#[derive(Clone, Copy, Default)]
struct Counts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

/// `rung test PATH...`.
pub fn run(invocation: &Invocation) -> Result<i32, Failure> {
    let words = &invocation.line.words;
    if words.is_empty() {
        return Err(Failure::usage("rung test needs a file, a directory or a system"));
    }
    let mut subjects = Vec::new();
    for word in words {
        subjects.extend(subjects_of(Path::new(word))?);
    }
    let command = std::env::current_exe()
        .map_err(|error| Failure::new(Exit::File, format!("cannot start: {}", plain(&error))))?;
    let (next, total) = (AtomicUsize::new(0), Mutex::new(Counts::default()));
    std::thread::scope(|scope| {
        for _ in 0..invocation.request.jobs.min(subjects.len()) {
            scope.spawn(|| {
                while let Some(subject) = subjects.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (text, counts) = tested(&command, invocation, subject);
                    // Nobody panics while it is held.
                    let mut total = total.lock().unwrap_or_else(|held| held.into_inner());
                    total.passed += counts.passed;
                    total.failed += counts.failed;
                    total.skipped += counts.skipped;
                    let _closed = std::io::stdout().write_all(text.as_bytes());
                }
            });
        }
    });
    let Counts { passed, failed, skipped } = *total.lock().unwrap_or_else(|held| held.into_inner());
    let line = format!("{passed} passed, {failed} failed, {skipped} skipped\n");
    crate::printed(screen::print(&line))?;
    Ok(i32::from(failed > 0))
}

/// A file, the `*-test.lisp` of a directory and below, or a system.
fn subjects_of(path: &Path) -> Result<Vec<Subject>, Failure> {
    if path.is_dir() {
        let found = folders::files_below(path, |name| name.ends_with("-test.lisp"));
        return Ok(found.into_iter().map(Subject::File).collect());
    }
    if path.exists() {
        return Ok(vec![Subject::File(path.to_path_buf())]);
    }
    let name = path.to_string_lossy();
    match name.ends_with(".lisp") || name.starts_with(['/', '.']) {
        true => Err(Failure::unreadable(path, &std::io::ErrorKind::NotFound.into())),
        false => Ok(vec![Subject::System(name.into_owned())]),
    }
}

/// A text as the language reads a string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Runs a subject's tests; what they printed and how they ended.
fn tested(command: &Path, invocation: &Invocation, subject: &Subject) -> (String, Counts) {
    let filter = invocation.request.filter.as_deref().map_or("nil".to_string(), quoted);
    let (title, form) = match subject {
        Subject::File(path) => {
            let name = path.display().to_string();
            let form = format!("(test::%run-file {} {filter})", quoted(&name));
            (name, form)
        }
        Subject::System(name) => {
            (format!("system {name}"), format!("(test::%run-system {})", quoted(name)))
        }
    };
    let mut process = Command::new(command);
    process.args(["run", "-e", &form]).stdin(Stdio::null()).stdout(Stdio::piped());
    process.args(invocation.line.passed_on());
    let (text, ended) = match process.stderr(Stdio::inherit()).output() {
        Ok(output) => (String::from_utf8_lossy(&output.stdout).into_owned(), output.status),
        Err(error) => {
            let counts = Counts { failed: 1, ..Counts::default() };
            return (format!("{title}\n  cannot start: {}\n", plain(&error)), counts);
        }
    };
    let report = text.lines().filter(|line| !line.starts_with(COUNTS));
    let mut report = report.map(|line| format!("{line}\n")).collect::<String>();
    let counts = text.lines().rev().find_map(counts_of).unwrap_or_else(|| {
        report += &format!("  FAIL  the process ended before its tests did: {ended}\n");
        Counts { failed: 1, ..Counts::default() }
    });
    (format!("{title}\n{report}"), counts)
}

fn counts_of(line: &str) -> Option<Counts> {
    let mut numbers = line.strip_prefix(COUNTS)?.split(' ').map(str::parse);
    let mut next = || numbers.next()?.ok();
    Some(Counts { passed: next()?, failed: next()?, skipped: next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_from_their_line() {
        let counts = counts_of("#counts 3 1 0").unwrap();
        assert_eq!((counts.passed, counts.failed, counts.skipped), (3, 1, 0));
        assert!(counts_of("3 1 0").is_none());
    }

    #[test]
    fn a_text_is_quoted_for_the_reader() {
        assert_eq!(quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
    }
}
