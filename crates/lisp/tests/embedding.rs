//! The embedder's view: streams, arguments, natives, completion, files.

mod common;

use std::rc::Rc;

use common::{check, lisp_reading, output, values};
use rung_lisp::{Escape, UnhandledKind, Value};

#[test]
fn natives_of_the_embedder() {
    let (mut lisp, ..) = lisp_reading("");
    let calls = Rc::new(std::cell::Cell::new(0));
    let seen = calls.clone();
    lisp.define_native(
        "linalg",
        "twice",
        "x",
        "Twice a fixnum.",
        Rc::new(move |lisp, arguments| {
            seen.set(seen.get() + 1);
            assert!(lisp.call_span().is_some());
            match &arguments[0] {
                Value::Fixnum(n) => Ok(Value::Fixnum(n * 2)),
                other => {
                    let kind = rung_base::ErrorKind::Shape;
                    let error =
                        rung_base::Error::wanted(kind, "twice expects a fixnum", lisp.brief(other))
                            .in_package("linalg")
                            .hint("give it a number");
                    Err(Escape::from(error))
                }
            }
        }),
    );
    let values = lisp.eval_text("a.lisp", "(mapcar #'la:twice '(1 2 3))").unwrap();
    assert_eq!(lisp.print(&values[0]), "(2 4 6)");
    assert_eq!(calls.get(), 3);
    let failed = lisp.eval_text("a.lisp", "(list\n (la:twice \"x\"))").unwrap_err();
    assert_eq!(failed.short(), "a.lisp:2:2: error: linalg: twice expects a fixnum: got \"x\"");
    assert_eq!(failed.class, "rung:shape-error");
    assert_eq!(failed.hint.as_deref(), Some("give it a number"));
    let caught = "(handler-case (la:twice nil) (rung:array-error (c) (format nil \"~A\" c)))";
    let values = lisp.eval_text("a.lisp", caught).unwrap();
    assert_eq!(lisp.print(&values[0]), "\"linalg: twice expects a fixnum: got NIL\"");
    let documented = lisp.eval_text("a.lisp", "(documentation 'la:twice 'function)").unwrap();
    assert_eq!(lisp.print(&documented[0]), "\"Twice a fixnum.\"");
}

#[test]
fn arguments_and_input() {
    check(&[("(uiop:command-line-arguments)", "(\"one\" \"two\")")]);
    let (mut lisp, ..) = lisp_reading("first\nsecond");
    let text = "(list (read-line) (peek-char) (read-char) (read-line) (read-line nil nil :eof))";
    let values = lisp.eval_text("a.lisp", text).unwrap();
    assert_eq!(lisp.print(&values[0]), "(\"first\" #\\s #\\s \"econd\" :EOF)");
    let (mut lisp, ..) = lisp_reading("");
    let failed = lisp.eval_text("a.lisp", "(read-line)").unwrap_err();
    assert_eq!(failed.class, "end-of-file");
}

#[test]
fn completion_by_package() {
    let (lisp, ..) = lisp_reading("");
    assert_eq!(lisp.completions("multiple-value-b"), ["multiple-value-bind"]);
    assert!(lisp.completions("rung:nano").contains(&"rung:nanoseconds".to_string()));
    assert_eq!(lisp.package_name(), "CL-USER");
}

#[test]
fn packages_of_the_program() {
    check(&[
        (
            "(defpackage :shapes (:use :cl) (:export #:area) (:nicknames #:sh)) (in-package :shapes) (defun area (x) (* x x)) (in-package :cl-user) (sh:area 3)",
            "9",
        ),
        (
            "(defpackage :p (:use :cl) (:shadow #:car)) (in-package :p) (defun car (x) (list :mine x)) (car 5)",
            "(:MINE 5)",
        ),
        ("(package-name (symbol-package 'la::x))", "\"LINALG\""),
        ("(multiple-value-list (find-symbol \"CAR\"))", "(CAR :INHERITED)"),
        ("(eq 'cl:car 'car)", "T"),
        ("(let ((i 0)) (while (< i 3) (incf i)) (until (= i 0) (decf i)) i)", "0"),
    ]);
}

#[test]
fn files_are_written_read_and_loaded() {
    let directory = std::env::temp_dir().join(format!("rung-lisp-{}", std::process::id()));
    std::fs::create_dir_all(&directory).unwrap();
    let path = directory.join("a.txt").display().to_string();
    let text = format!(
        "(with-open-file (s \"{path}\" :direction :output :if-exists :supersede)
           (format s \"one~%two~%\"))
         (with-open-file (s \"{path}\")
           (loop for line = (read-line s nil) while line collect line))"
    );
    assert_eq!(values(&text), "(\"one\" \"two\")");
    let inner = directory.join("inner.lisp");
    std::fs::write(&inner, "(in-package :cl-user)\n(defvar *loaded* 5)\n(car 5)\n").unwrap();
    let outer = directory.join("outer.lisp");
    std::fs::write(&outer, "(ignore-errors (load \"inner.lisp\"))\n(princ *loaded*)\n").unwrap();
    let (mut lisp, output, _) = lisp_reading("");
    lisp.load_file(&outer.display().to_string()).unwrap();
    lisp.flush_streams().unwrap();
    assert_eq!(output.text(), "5");
    let failed = lisp.load_file(&inner.display().to_string()).unwrap_err();
    assert!(failed.short().ends_with("inner.lisp:3:1: error: car: expected a list: got 5"));
    let missing = lisp.load_file("/no/such/file.lisp").unwrap_err();
    assert_eq!(missing.kind, UnhandledKind::File);
    assert_eq!(missing.text, "cannot open /no/such/file.lisp: no such file");
    std::fs::remove_dir_all(&directory).unwrap();
}

#[test]
fn warnings_go_to_error_output_once_per_place() {
    let (mut lisp, output, errors) = lisp_reading("");
    lisp.eval_text("a.lisp", "(dotimes (i 3)\n  (warn \"careful\"))").unwrap();
    lisp.flush_streams().unwrap();
    assert_eq!(output.text(), "");
    assert_eq!(errors.text(), "warning: careful\n  --> a.lisp:2:3\n");
}

#[test]
fn nothing_prints_unless_the_program_does() {
    assert_eq!(output("(defun f (x) x) (f 1) (list 1 2)"), "");
    assert_eq!(output("(format t \"~A ~S~%\" \"a\" \"b\")"), "a \"b\"\n");
    assert_eq!(output("(print 1) (princ 2) (terpri) (write-line \"x\")"), "\n1 2\nx\n");
    assert_eq!(output("(princ 1) (fresh-line) (fresh-line) (princ 2)"), "1\n2");
}

#[test]
fn the_embedder_seeds_random() {
    let draw = |seed: Option<i64>| {
        let (mut lisp, ..) = lisp_reading("");
        if let Some(seed) = seed {
            lisp.seed_random(seed);
        }
        let values = lisp.eval_text("a", "(list (random 1000000) (random 1000000))").unwrap();
        lisp.print(&values[0])
    };
    assert_eq!(draw(Some(7)), draw(Some(7)));
    assert_ne!(draw(Some(7)), draw(Some(8)));
    assert_ne!(draw(Some(7)), draw(None));
    assert_eq!(draw(None), draw(None));
}
