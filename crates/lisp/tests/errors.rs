//! What goes wrong, and what the user is told.

mod common;

use common::{check, failure, lisp_reading, output, values};
use rung_lisp::{Next, UnhandledKind};

#[test]
fn an_error_shows_its_place_with_carets() {
    let text = "(defun f (x)\n  (car x))\n(print (f 5))\n";
    let expected = "error: car: expected a list: got 5
 --> test.lisp:2:3
  |
2 |   (car x))
  |   ^^^^^^^";
    assert_eq!(failure(text).to_string(), expected);
}

#[test]
fn messages() {
    check(&[
        ("(foo 1)", "test.lisp:1:1: error: the function foo is undefined"),
        ("(list 1 (+ 1 \"x\"))", "test.lisp:1:9: error: +: expected a number: got \"x\""),
        ("(print *foo*)", "test.lisp:1:1: error: the variable *foo* is unbound"),
        ("(aref #(1 2) 2)", "test.lisp:1:1: error: aref: index 2 is outside an axis of length 2"),
        (
            "(aref (make-array '(2 2)) 1)",
            "test.lisp:1:1: error: aref: 1 index does not fit an array with 2 axes",
        ),
        ("(/ 5 0)", "test.lisp:1:1: error: /: division by zero"),
        ("(mod 5 0)", "test.lisp:1:1: error: mod: division by zero"),
        ("(let ((x 1)) (error \"bad ~A\" x))", "test.lisp:1:14: error: bad 1"),
        ("(defun g (a b) a) (g 1)", "test.lisp:1:19: error: g: expected 2 arguments: got 1"),
        ("(car 1 2)", "test.lisp:1:1: error: car: expected 1 argument: got 2"),
        ("((lambda (&key a) a) :b 1)", "test.lisp:1:1: error: Unknown keyword argument: B"),
        ("(if)", "test.lisp:1:1: error: if: expected 2 to 3 arguments: got 0"),
        (
            "(mapcar (lambda (x) (car x)) '(1))",
            "test.lisp:1:21: error: car: expected a list: got 1",
        ),
        ("(throw 'x 1)", "test.lisp:1:1: error: throw: nobody catches X"),
        (
            "(defun car (x) x)",
            "test.lisp:1:1: error: car is a name of the locked package common-lisp",
        ),
        ("(ecase 9 (1 2))", "test.lisp:1:1: error: ecase: no clause for 9"),
        ("(let ((n 5)) (check-type n string))", "test.lisp:1:14: error: n: expected string: got 5"),
        ("(assert (= 1 2))", "test.lisp:1:1: error: the assertion (= 1 2) failed"),
        ("(compile-file \"a\")", "test.lisp:1:1: error: cl:compile-file is not in version 1"),
        ("(length 5)", "test.lisp:1:1: error: length: expected a sequence: got 5"),
        (
            "(destructuring-bind (a b) '(1) a)",
            "test.lisp:1:1: error: destructuring-bind: too few arguments",
        ),
        ("(elt '(1 2) 5)", "test.lisp:1:1: error: elt: index 5 is outside a sequence of length 2"),
        (
            "(setf (aref #u8(1 2) 0) 300)",
            "test.lisp:1:1: error: (setf aref): expected a value that fits (unsigned-byte 8): got 300",
        ),
        ("(funcall 5)", "test.lisp:1:1: error: funcall: expected a function: got 5"),
        ("(dolist (x 5) x)", "test.lisp:1:1: error: car: expected a list: got 5"),
        (
            "(with-open-file (s \"/no/such\") s)",
            "test.lisp:1:1: error: cannot open /no/such: no such file",
        ),
    ]);
}

#[test]
fn hints() {
    assert_eq!(failure("(lenght '(1))").hint.as_deref(), Some("did you mean length"));
    assert_eq!(failure("(defvar *speed* 1) *sped*").hint.as_deref(), Some("did you mean *speed*"));
    assert_eq!(failure("(in-package :linalgg)").hint.as_deref(), Some("did you mean linalg"));
    assert_eq!(failure("(zzzzzzzz)").hint, None);
}

#[test]
fn text_that_cannot_be_read() {
    let open = failure("(print 1\n  (list 2\n");
    assert_eq!(open.kind, UnhandledKind::Reader);
    assert_eq!(open.text, "end of file inside a list that began at test.lisp:2:3");
    assert_eq!(failure("(print 1))").text, "unmatched close parenthesis");
    let deep = format!("{}{}", "(".repeat(200_000), ")".repeat(200_000));
    assert!(failure(&deep).text.contains("nested too deep"));
}

#[test]
fn deep_recursion_is_a_condition() {
    check(&[
        ("(defun f (n) (+ 1 (f n))) (handler-case (f 1) (storage-condition () :deep))", ":DEEP"),
        (
            "(defun f (n) (mapcar #'f (list n))) (handler-case (f 1) (storage-condition () :deep))",
            ":DEEP",
        ),
        ("(defun f (n) (if (= n 0) :done (f (- n 1)))) (f 1000000)", ":DONE"),
        (
            "(let ((x nil)) (dotimes (i 1000000) (setq x (list x))) (handler-case (eval x) (error () 1) (storage-condition () 2)))",
            "1",
        ),
    ]);
}

/// Lists, strings, tables and closures that grow without end are ended by the limit, and what the program let go
/// may be used again.
#[test]
fn a_full_heap_is_a_condition() {
    let (mut lisp, ..) = common::lisp_within(Some(64 << 20), "");
    for grown in [
        "(loop (push 1 kept))",
        "(loop (push (make-string 1000) kept))",
        "(loop (push (lambda () kept) kept))",
        "(let ((table (make-hash-table))) (push table kept) (loop for i from 0 do (setf (gethash i table) i)))",
        "(labels ((grow () (push 1 kept) (grow))) (grow))",
    ] {
        let text = format!(
            "(let ((kept nil)) (handler-case {grown} (storage-condition (c) (setq kept nil) (princ-to-string c))))"
        );
        for _ in 0..2 {
            let values = lisp.eval_text("test.lisp", &text).unwrap();
            let said = lisp.print(&values[0]);
            assert_eq!(said, "\"the heap has reached its limit of 67108864 bytes\"", "{grown}");
        }
    }
    let dropped = "(let ((kept nil)) (dotimes (i 4000000) (setq kept (list kept i)) (when (= 0 (mod i 1000)) (setq kept nil))) :done)";
    let values = lisp.eval_text("test.lisp", dropped).unwrap();
    assert_eq!(lisp.print(&values[0]), ":DONE");
}

#[test]
fn deeply_nested_data_is_no_crash() {
    let nest = "(let ((x nil) (y nil)) (dotimes (i 300000) (setq x (list x) y (list y)))";
    assert_eq!(values(&format!("{nest} (equal x y) :alive)")), ":ALIVE");
    assert_eq!(
        values(&format!(
            "{nest} (handler-case (princ-to-string x) (storage-condition () 1)) :alive)"
        )),
        ":ALIVE"
    );
    assert_eq!(values(&format!("{nest} (sxhash x) :alive)")), ":ALIVE");
    assert_eq!(
        values(&format!("{nest} (handler-case (copy-tree x) (storage-condition () 1)) :alive)")),
        ":ALIVE"
    );
}

#[test]
fn clean_ups_run_on_every_way_out() {
    let cases = [
        ("(unwind-protect (error \"a\") (princ 2))", "2test.lisp:1:17: error: a"),
        ("(catch 'x (unwind-protect (throw 'x 1) (princ 2)))", "2"),
        ("(block b (unwind-protect (return-from b 1) (princ 2)))", "2"),
        ("(tagbody (unwind-protect (go end) (princ 2)) end (princ 3))", "23"),
        ("(dolist (x '(1 2)) (unwind-protect (when (= x 1) (return)) (princ x)))", "1"),
        (
            "(ignore-errors (unwind-protect (unwind-protect (error \"a\") (princ 1)) (princ 2)))",
            "12",
        ),
        ("(unwind-protect (quit 4) (princ 5))", "5error: quit"),
    ];
    for (text, expected) in cases {
        let got = output(text);
        assert!(got.ends_with(expected) || got.contains(expected), "{text}: {got}");
    }
}

#[test]
fn dynamic_bindings_are_undone() {
    check(&[
        ("(defvar *x* 1) (ignore-errors (let ((*x* 2)) (error \"a\"))) *x*", "1"),
        ("(defvar *x* 1) (catch 'a (let ((*x* 2)) (throw 'a 0))) *x*", "1"),
        ("(defvar *x* 1) (block b (let ((*x* 2)) (return-from b 0))) *x*", "1"),
        ("(defvar *x* 1) (dotimes (i 3) (let ((*x* i)) (when (= i 1) (return)))) *x*", "1"),
        ("(defvar *x* 1) (defun f (*x*) (g)) (defun g () *x*) (list (f 5) *x*)", "(5 1)"),
    ]);
}

#[test]
fn handlers_and_restarts() {
    check(&[
        ("(handler-bind ((warning #'muffle-warning)) (warn \"x\") :went-on)", ":WENT-ON"),
        (
            "(restart-case (handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'r 7)))) (error \"x\")) (r (v) (* 2 v)))",
            "14",
        ),
        ("(handler-bind ((error (lambda (c) (continue c)))) (cerror \"go\" \"stop\") :on)", ":ON"),
        ("(with-simple-restart (skip \"skip\") (invoke-restart 'skip))", "NIL T"),
        (
            "(let ((log nil)) (handler-case (handler-bind ((error (lambda (c) (declare (ignore c)) (push 1 log)))) (error \"x\")) (error () (push 2 log))) log)",
            "(2 1)",
        ),
        (
            "(handler-case (handler-case (error \"inner\") (type-error () 1)) (simple-error () 2))",
            "2",
        ),
        ("(handler-case (signal \"nobody\") (error () 1))", "NIL"),
        (
            "(define-condition e (error) ((a :initarg :a :reader e-a)) (:report (lambda (c s) (format s \"a is ~A\" (e-a c))))) (handler-case (error 'e :a 3) (e (c) (format nil \"~A\" c)))",
            "\"a is 3\"",
        ),
        (
            "(multiple-value-list (handler-case (car 5) (error (e) (rung:condition-position e))))",
            "(\"test.lisp\" 1 36)",
        ),
        (
            "(handler-case (error 'type-error :datum 1 :expected-type 'string) (error (c) (format nil \"~A\" c)))",
            "\"expected STRING: got 1\"",
        ),
    ]);
}

#[test]
fn an_interrupt_unwinds_and_is_told_apart() {
    let (mut lisp, output, _) = lisp_reading("");
    let handle = lisp.interrupt_handle();
    let presser = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(50));
        handle.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let text = "(unwind-protect (loop) (princ :cleaned))";
    let unhandled = lisp.eval_text("test.lisp", text).expect_err("the loop has no end");
    assert_eq!(unhandled.kind, UnhandledKind::Interrupt);
    lisp.flush_streams().unwrap();
    assert_eq!(output.text(), "CLEANED");
    presser.join().unwrap();
    assert_eq!(lisp.eval_text("test.lisp", "(+ 1 1)").map(|v| v.len()), Ok(1));
}

#[test]
fn a_form_at_a_time() {
    let (mut lisp, ..) = lisp_reading("");
    match lisp.read_form("prompt", "(+ 1\n   2) (list") {
        Ok(Next::Form(form, used)) => {
            assert_eq!(used, 10);
            let values = lisp.eval_form_read(&form).unwrap();
            assert_eq!(lisp.print(&values[0]), "3");
        }
        _ => panic!("expected a form"),
    }
    let more = lisp.read_form("prompt", "(list 1").err().map(|unhandled| unhandled.kind);
    assert_eq!(more, Some(UnhandledKind::Incomplete));
    let text = lisp.read_form("prompt", "\"abc").err().map(|unhandled| unhandled.kind);
    assert_eq!(text, Some(UnhandledKind::Incomplete));
    let wrong = lisp.read_form("prompt", ")").err().map(|unhandled| unhandled.kind);
    assert_eq!(wrong, Some(UnhandledKind::Reader));
    assert!(matches!(lisp.read_form("prompt", "  ; nothing\n"), Ok(Next::End)));
}

#[test]
fn names_that_mean_nothing_offer_what_may_be_used_instead() {
    let chosen = |restart: &str, form: &str| {
        format!(
            "(handler-bind ((cell-error (lambda (c) (invoke-restart (find-restart '{restart} c) 5))))
               {form})"
        )
    };
    assert_eq!(values(&chosen("use-value", "(list (+ *gone* 1) (boundp '*gone*))")), "(6 NIL)");
    assert_eq!(values(&chosen("store-value", "(list (+ *gone* 1) *gone*)")), "(6 5)");
    assert_eq!(values(&chosen("use-value", "(symbol-value '*gone*)")), "5");
    let function = |restart: &str, form: &str| {
        chosen(restart, form).replace(" c) 5)", " c) (lambda (&rest l) (cons :here l)))")
    };
    assert_eq!(
        values(&function("use-value", "(list (gone 1 2) (fboundp 'gone))")),
        "((:HERE 1 2) NIL)"
    );
    assert_eq!(values(&function("store-value", "(progn (gone 1) (gone 2))")), "(:HERE 2)");
    assert_eq!(values(&function("use-value", "(funcall 'gone 3)")), "(:HERE 3)");
    assert_eq!(values(&function("use-value", "(funcall #'gone 4)")), "(:HERE 4)");
    assert_eq!(
        values(&function("use-value", "(flet ((f (x) (gone x))) (multiple-value-list (f 1)))")),
        "((:HERE 1))"
    );
    // To look again, once somebody has defined it.
    let again = "(handler-bind ((undefined-function (lambda (c)
                                   (setf (symbol-function (cell-error-name c)) #'list)
                                   (continue c)))
                                (unbound-variable (lambda (c)
                                   (set (cell-error-name c) 7) (continue c))))
                   (later 1 *later*))";
    assert_eq!(values(again), "(1 7)");
    // In a loop that has become machine code, and by a function of the library.
    let hot = "(defun sum (n) (let ((s 0)) (dotimes (i n s) (incf s (gone2 i)))))
               (handler-bind ((undefined-function
                                (lambda (c) (invoke-restart (find-restart 'store-value c) #'1+))))
                 (sum 5000))";
    assert_eq!(values(hot), "12502500");
    assert_eq!(
        values("(handler-case (gone 1) (undefined-function (c) (cell-error-name c)))"),
        "GONE"
    );
}

#[test]
fn as_many_arguments_as_the_limit_says_can_be_passed() {
    // Fewer than the limit, by a call and by apply, to a function of any kind.
    let form = "(let* ((n (1- call-arguments-limit)) (l (make-list n :initial-element 1)))
                  (list (= n (length (apply #'list l)))
                        (= n (apply #'+ l))
                        (= n (apply (lambda (&rest r) (length r)) l))
                        (= n (eval (list* '+ l)))
                        (= n (eval (list* 'funcall '#'+ (cdr l)) ) )
                        (> lambda-parameters-limit 50)))";
    assert_eq!(values(form), "(T T T T NIL T)");
}
