//! The lints that clippy does not know, over every file that git knows or would add.
//!
//! Each lint is a function from a file's path and text to findings; `LINTS` lists them. Licences
//! and manifests are read once for the whole workspace. A finding is `path:line: what is wrong`.

use crate::source::{Source, words};
use crate::{licences, manifests, names};
use std::fs;
use std::path::Path;
use std::process::Command;

/// One file of the repository.
pub struct File {
    pub path: String,
    pub text: String,
    /// Only of Rust files.
    pub source: Option<Source>,
}

/// What a lint found: the line (from 1; 0 for the whole file) and what is wrong.
pub type Finding = (usize, String);

type Lint = fn(&File) -> Vec<Finding>;

const LINTS: &[Lint] = &[
    opens_with_a_description,
    is_short,
    unsafe_stands_where_it_may,
    unsafe_says_why,
    nothing_is_left_undone,
    no_test_is_ignored,
    names::operations_are_named_in_the_table,
    manifests::every_dependency_says_why,
    manifests::members_take_versions_from_the_workspace,
];

/// All lints over the repository.
pub fn run(root: &Path) -> Result<String, String> {
    let files = files(root)?;
    let mut findings: Vec<String> = files.iter().flat_map(findings).collect();
    findings.extend(licences::findings(root)?);
    match findings.as_slice() {
        [] => Ok(format!("tidy: {} files, nothing to say", files.len())),
        _ => Err(format!("{}\ntidy: {} findings", findings.join("\n"), findings.len())),
    }
}

fn findings(file: &File) -> Vec<String> {
    let of_lint = |lint: &Lint| {
        lint(file).into_iter().map(|(line, text)| match line {
            0 => format!("{}: {text}", file.path),
            _ => format!("{}:{line}: {text}", file.path),
        })
    };
    LINTS.iter().flat_map(of_lint).collect()
}

/// Every text file that git tracks or would add.
fn files(root: &Path) -> Result<Vec<File>, String> {
    let list = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root)
        .output()
        .map_err(|e| format!("tidy: git ls-files: {e}"))?;
    if !list.status.success() {
        return Err(format!("tidy: git ls-files: {}", String::from_utf8_lossy(&list.stderr)));
    }
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let mut files: Vec<File> = Vec::new();
    for path in list.split('\0').filter(|path| !path.is_empty()) {
        // Files that are not text, or are listed and deleted, hold nothing to lint.
        if let Ok(text) = fs::read_to_string(root.join(path)) {
            files.push(file(path, text));
        }
    }
    Ok(files)
}

pub fn file(path: &str, text: String) -> File {
    let source = path.ends_with(".rs").then(|| Source::new(&text));
    File { path: path.into(), text, source }
}

/// A Rust file opens with what it is and what it is for (STYLE 3.1); one that is included into
/// another cannot have inner documentation and opens with a plain comment.
fn opens_with_a_description(file: &File) -> Vec<Finding> {
    let described = file.text.starts_with("//!") || file.text.starts_with("// ");
    match file.source.is_some() && !described {
        true => vec![(1, "a file opens with `//!` and what it is for".into())],
        false => Vec::new(),
    }
}

const MOST_LINES: usize = 600;

fn is_short(file: &File) -> Vec<Finding> {
    let hand_written = [".rs", ".lisp", ".wgsl", ".py", ".sh"];
    let lines = file.text.lines().count();
    match lines > MOST_LINES && hand_written.iter().any(|end| file.path.ends_with(end)) {
        true => vec![(0, format!("{lines} lines, more than {MOST_LINES}: split it by topic"))],
        false => Vec::new(),
    }
}

/// The crates that own memory, lanes, libraries and devices, and the Lisp heap.
const MAY_BE_UNSAFE: &[&str] = &[
    "crates/array/",
    "crates/lanes/",
    "crates/library/",
    "crates/device/",
    "crates/stand-in/",
    "crates/lisp/src/heap.rs",
    "crates/lisp/src/heap/",
    "crates/lisp/src/machine/bridge.rs",
    "crates/native/src/memory.rs",
];

fn unsafe_stands_where_it_may(file: &File) -> Vec<Finding> {
    let Some(source) = &file.source else { return Vec::new() };
    if MAY_BE_UNSAFE.iter().any(|place| file.path.starts_with(place)) {
        return Vec::new();
    }
    let lines = source.code.iter().enumerate().filter(|(_, code)| says_unsafe(code));
    lines.map(|(i, _)| (i + 1, "`unsafe` outside the crates that own memory".into())).collect()
}

fn says_unsafe(code: &str) -> bool {
    words(code).any(|word| word == "unsafe")
}

/// How many lines above an `unsafe` block its `SAFETY:` line may begin.
const NEAR: usize = 8;

/// Every block and implementation has a `SAFETY:` comment, on its line or just above; an `unsafe fn`
/// has a `# Safety` section or such a comment where its contract is not the one of its module.
fn unsafe_says_why(file: &File) -> Vec<Finding> {
    let Some(source) = &file.source else { return Vec::new() };
    let opens = |code: &str| {
        let after = code.split("unsafe").nth(1).map(str::trim_start);
        says_unsafe(code) && after.is_some_and(|t| t.starts_with('{') || t.starts_with("impl"))
    };
    let silent = |line: usize| {
        !source.comments[line.saturating_sub(NEAR)..=line].iter().any(|c| c.contains("SAFETY:"))
    };
    let lines = source.code.iter().enumerate().filter(|(i, code)| opens(code) && silent(*i));
    lines.map(|(i, _)| (i + 1, "`unsafe` without a `SAFETY:` line".into())).collect()
}

/// Spelled in two halves, so that this file does not find itself.
const UNDONE: [&str; 4] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("todo", "!"),
    concat!("unimplement", "ed!"),
];

fn nothing_is_left_undone(file: &File) -> Vec<Finding> {
    let found = |line: &str| UNDONE.into_iter().find(|word| line.contains(word));
    let lines = file.text.lines().enumerate();
    lines.filter_map(|(i, line)| Some((i + 1, format!("`{}`", found(line)?)))).collect()
}

fn no_test_is_ignored(file: &File) -> Vec<Finding> {
    let Some(source) = &file.source else { return Vec::new() };
    let ignored = |code: &str| code.trim_start().starts_with("#[ignore");
    let lines = source.code.iter().enumerate().filter(|(_, code)| ignored(code));
    lines.map(|(i, _)| (i + 1, "an ignored test proves nothing".into())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(lint: Lint, path: &str, text: &str) -> Vec<usize> {
        lint(&file(path, text.into())).into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn a_rust_file_opens_with_a_description() {
        assert_eq!(lines(opens_with_a_description, "a.rs", "use b;\n"), [1]);
        assert!(lines(opens_with_a_description, "a.rs", "//! What it is.\n").is_empty());
        assert!(lines(opens_with_a_description, "a.md", "# Title\n").is_empty());
    }

    #[test]
    fn a_long_file_is_found_unless_it_is_data() {
        let long = "x\n".repeat(601);
        assert_eq!(lines(is_short, "a.lisp", &long), [0]);
        assert!(lines(is_short, "a.csv", &long).is_empty());
        assert!(lines(is_short, "a.rs", &long[2..]).is_empty());
    }

    #[test]
    fn unsafe_is_found_by_word_and_place() {
        let text = "#![forbid(unsafe_code)]\n// unsafe\nunsafe { f() }\n";
        assert_eq!(lines(unsafe_stands_where_it_may, "crates/ops/src/a.rs", text), [3]);
        assert!(lines(unsafe_stands_where_it_may, "crates/lanes/src/a.rs", text).is_empty());
        assert!(lines(unsafe_stands_where_it_may, "crates/lisp/src/heap.rs", text).is_empty());
    }

    #[test]
    fn an_unsafe_block_needs_its_safety_line() {
        let said = "// SAFETY: the length was checked.\nlet x = unsafe { f() };\n";
        let silent = "type F = unsafe fn();\nlet x = unsafe { f() };\nunsafe impl Send for A {}\n";
        assert!(lines(unsafe_says_why, "a.rs", said).is_empty());
        assert_eq!(lines(unsafe_says_why, "a.rs", silent), [2, 3]);
    }

    #[test]
    fn unfinished_work_is_found_in_every_text() {
        let text = format!("fine\n; {} later\n{}()\n", UNDONE[0], UNDONE[3]);
        assert_eq!(lines(nothing_is_left_undone, "a.lisp", &text), [2, 3]);
    }

    #[test]
    fn an_ignored_test_is_found() {
        assert_eq!(lines(no_test_is_ignored, "a.rs", "#[test]\n#[ignore = \"slow\"]\n"), [2]);
    }
}
