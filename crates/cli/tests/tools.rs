//! The tools as commands: layout, tests, what is loaded first, where systems are found, warnings,
//! and the history of the prompt.

#[allow(dead_code, reason = "each test binary uses its part")]
mod common;

use common::{Folder, feed, ran, run_in, rung};
use std::process::Stdio;

const UNTIDY: &str = "(defun f (x)\n      (list x\n x))\n";
const TIDY: &str = "(defun f (x)\n  (list x\n        x))\n";

#[test]
fn fmt_lays_out_checks_prints_and_filters() {
    let folder = Folder::new();
    let path = folder.file("a.lisp", UNTIDY);
    let checked = run_in(&folder, &["fmt", "--check", "a.lisp"]);
    assert_eq!((checked.code, checked.out.as_str()), (Some(1), "a.lisp\n"), "{}", checked.err);
    let shown = run_in(&folder, &["fmt", "--stdout", "a.lisp"]);
    assert_eq!((shown.code, shown.out.as_str()), (Some(0), TIDY), "{}", shown.err);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), UNTIDY);
    let mut filter = rung(&folder);
    filter.args(["format", "-"]);
    assert_eq!(feed(filter, UNTIDY).out, TIDY);
    for command in ["fmt", "format"] {
        std::fs::write(&path, UNTIDY).unwrap();
        assert_eq!(run_in(&folder, &[command, "."]).code, Some(0), "{command}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), TIDY, "{command}");
    }
    assert_eq!(run_in(&folder, &["fmt", "--check", "a.lisp"]).code, Some(0));
    let broken = folder.file("b.lisp", "(defun f (x)\n");
    assert_eq!(run_in(&folder, &["fmt", "b.lisp"]).code, Some(1));
    assert_eq!(std::fs::read_to_string(broken).unwrap(), "(defun f (x)\n");
    assert_eq!(run_in(&folder, &["fmt", "none.lisp"]).code, Some(3));
    assert_eq!(run_in(&folder, &["fmt"]).code, Some(2));
}

#[test]
fn test_runs_the_tests_of_files_directories_and_filters_them() {
    let folder = Folder::new();
    folder.file("good-test.lisp", "(test:deftest sums (test:is-equal (+ 1 2) 3))\n");
    let bad = "(test:deftest wrong (test:is (= 1 2)))\n\
               (test:deftest later (test:skip \"not yet\"))\n";
    folder.file("sub/bad-test.lisp", bad);
    folder.file("other.lisp", "(error \"nobody runs this\")\n");
    let last = |out: &str| out.lines().last().unwrap_or_default().to_string();
    let good = run_in(&folder, &["test", "good-test.lisp"]);
    assert_eq!((good.code, last(&good.out).as_str()), (Some(0), "1 passed, 0 failed, 0 skipped"));
    let all = run_in(&folder, &["test", ".", "--jobs", "2"]);
    assert_eq!((all.code, last(&all.out).as_str()), (Some(1), "1 passed, 1 failed, 1 skipped"));
    let some = run_in(&folder, &["test", ".", "--filter", "sum"]);
    assert_eq!((some.code, last(&some.out).as_str()), (Some(0), "1 passed, 0 failed, 0 skipped"));
    assert_eq!(run_in(&folder, &["test", "missing.lisp"]).code, Some(3));
    assert_eq!(run_in(&folder, &["test"]).code, Some(2));
}

#[test]
fn files_are_loaded_first_and_systems_found_where_it_is_said() {
    let folder = Folder::new();
    folder.file("one.lisp", "(defvar *x* 1)\n");
    folder.file("two.lisp", "(incf *x*)\n");
    let line = ["--load", "one.lisp", "--load", "two.lisp", "-e", "*x*"];
    assert_eq!(run_in(&folder, &line).out, "2\n");
    assert_eq!(run_in(&folder, &["--load", "none.lisp", "-e", "1"]).code, Some(3));
    folder
        .file("places/thing/thing.asd", "(defsystem \"thing\" :components ((:file \"thing\")))\n");
    folder.file("places/thing/thing.lisp", "(defvar *thing* 42)\n");
    let form = "(progn (asdf:load-system \"thing\") (symbol-value 'cl-user::*thing*))";
    for path in ["places/thing", "places//", "nowhere:places/thing"] {
        let found = run_in(&folder, &["--system-path", path, "-e", form]);
        assert_eq!((found.code, found.out.as_str()), (Some(0), "42\n"), "{path}: {}", found.err);
    }
    let lost = run_in(&folder, &["-e", form]);
    assert_eq!(lost.code, Some(1));
    assert!(lost.err.contains("thing"), "{}", lost.err);
}

#[test]
fn warnings_are_errors_where_that_is_asked_for() {
    let folder = Folder::new();
    folder.file("warns.lisp", "(warn \"careful\")\n(print 1)\n");
    folder.file("quiet.lisp", "(print 1)\n");
    let code = |words: &[&str]| run_in(&folder, words).code;
    assert_eq!(code(&["warns.lisp"]), Some(0));
    assert_eq!(code(&["warns.lisp", "--warnings=show"]), Some(0));
    assert_eq!(code(&["quiet.lisp", "--warnings=error"]), Some(0));
    let strict = run_in(&folder, &["warns.lisp", "--warnings=error"]);
    assert_eq!((strict.code, strict.out.as_str()), (Some(1), "\n1 "), "{}", strict.err);
    assert!(strict.err.contains("1 warning, and warnings are errors"), "{}", strict.err);
    assert_eq!(code(&["warns.lisp", "--warnings=error", "--allow-warnings"]), Some(0));
    assert_eq!(code(&["-e", "(defun f () (gone-function))", "--warnings=error"]), Some(1));
    assert_eq!(run_in(&folder, &["quiet.lisp", "--buffered-output"]).out, "\n1 ");
}

#[test]
fn the_prompt_remembers_its_lines() {
    let folder = Folder::new();
    let history = folder.0.join(".local/state/rung/history");
    for (typed, value) in [("(+ 1 2)\n", "3"), ("(* 2 21)\n", "42")] {
        let mut prompt = rung(&folder);
        prompt.arg("repl");
        let ran = feed(prompt, typed);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.out.contains(value), "{}", ran.out);
    }
    let lines = std::fs::read_to_string(history).unwrap();
    let at = |line: &str| lines.find(line).unwrap_or_else(|| panic!("{line} in {lines}"));
    assert!(at("(+ 1 2)") < at("(* 2 21)"));
}

#[test]
fn listen_does_not_wait_for_a_pipe() {
    let folder = Folder::new();
    let text = "(princ (list (listen) (read-char-no-hang)))\n";
    folder.file("listen.lisp", text);
    let mut command = rung(&folder);
    command.arg("listen.lisp").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The pipe stays open, with nothing in it.
    let held = child.stdin.take();
    assert_eq!(ran(child.wait_with_output().unwrap()).out, "(NIL NIL)");
    drop(held);
    // What is there is there, without the end of its line, and so is the rest of a text.
    let text = "(loop until (listen)) (princ (list (read-char) (listen)))\n\
                (read-line) (princ (list (listen) (read-char-no-hang nil :end)))\n";
    folder.file("listen.lisp", text);
    let mut command = rung(&folder);
    command.arg("listen.lisp");
    assert_eq!(feed(command, "ab\nc").out, "(a T)(T c)");
    let mut command = rung(&folder);
    command.args(["-e", "(list (listen) (read-char-no-hang nil nil :end))"]);
    assert_eq!(feed(command, "").out, "(NIL :END)\n");
}
