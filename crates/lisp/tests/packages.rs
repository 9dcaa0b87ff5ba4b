//! Packages (chapter 11): their functions by example, locks, names that give way.

mod common;

use common::{check, output, values};

#[test]
fn a_locked_name_is_a_package_lock() {
    check(&[
        (
            "(handler-case (defun car (x) x) (rung:package-lock (c) (package-error-package c)))",
            "#<PACKAGE \"COMMON-LISP\">",
        ),
        ("(subtypep 'rung:package-lock 'package-error)", "T T"),
        ("(handler-case (defun (setf car) (v x) v x) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defmacro when () nil) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (eval '(defvar list 1)) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (deftype vector () t) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defun uiop:getenv (x) x) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defun asdf:load-system (x) x) (package-error () :locked))", ":LOCKED"),
        ("(handler-case (fmakunbound 'car) (rung:package-lock () (car '(1))))", "1"),
        ("(handler-case (defsetf car set-car) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (deftype list () t) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defclass car () ()) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defclass list () ()) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defclass standard-object () ()) (package-error () :locked))", ":LOCKED"),
        ("(defclass car-of-mine () ()) (type-of (make-instance 'car-of-mine))", "CAR-OF-MINE"),
        (
            "(handler-case (defstruct (car (:type list)) a) (rung:package-lock () :locked))",
            ":LOCKED",
        ),
        ("(handler-case (defstruct cons a) (rung:package-lock () :locked))", ":LOCKED"),
        ("(handler-case (defgeneric print-object (a b)) (package-error () :locked))", ":LOCKED"),
        ("(defvar *print-base* 8) *print-base*", "10"),
        ("(flet ((car (x) (list x))) (car 1))", "(1)"),
        ("(defun rung::own (x) (1+ x)) (rung::own 1)", "2"),
    ]);
}

#[test]
fn a_lock_has_two_restarts() {
    let with = |restart: &str, form: &str| {
        format!(
            "(handler-bind ((rung:package-lock (lambda (c) (invoke-restart (find-restart '{restart} c)))))
               {form})"
        )
    };
    let own = "(eval '(defun list-length (x) (list :own x)))";
    let shown = "(list (eval (read-from-string \"(list-length 3)\")) (cl:list-length '(1 2)))";
    assert_eq!(values(&format!("{} {shown}", with("rung:shadow-symbol", own))), "((:OWN 3) 2)");
    assert_eq!(values(&format!("{} (list-length 3)", with("continue", own))), "(:OWN 3)");
    assert_eq!(values(&with("rung:shadow-symbol", "(eq (defun car (x) x) 'car)")), "NIL");
    let setf = "(defun (setf third) (v x) (list v x))";
    assert_eq!(values(&with("rung:shadow-symbol", setf)), "(SETF THIRD)");
    let names = "(handler-case (handler-bind ((error (lambda (c) (princ (mapcar #'restart-name \
                 (subseq (compute-restarts c) 0 2)))))) (defun car (x) x)) (error () nil))";
    assert_eq!(output(names), "(CONTINUE SHADOW-SYMBOL)");
}

#[test]
fn five_names_of_rung_give_way_in_silence() {
    check(&[
        ("(defun quit (x) (if (= x 0) :done (quit (1- x)))) (quit 3)", ":DONE"),
        ("(defun quit () 1) (eq (symbol-package 'quit) *package*)", "T"),
        ("(defun quit () 1) (eq 'quit 'rung:quit)", "NIL"),
        ("(defmacro while (x) `(list ,x)) (while 2)", "(2)"),
        ("(defun (setf doc) (v x) (list v x)) (setf (doc 1) 2)", "(2 1)"),
        ("(defvar until 5) until", "5"),
        ("(defgeneric explain (x) (:method ((x integer)) :integer)) (explain 1)", ":INTEGER"),
        ("(defstruct (doc) a) (doc-a (make-doc :a 1))", "1"),
        (
            "(defpackage :p (:use :cl :rung)) (in-package :p) (defun quit () 7) \
             (list (quit) (symbol-package 'quit))",
            "(7 #<PACKAGE \"P\">)",
        ),
        ("(let ((n 0)) (defun until () 1) (rung:until (= n 3) (incf n)) n)", "3"),
        ("(handler-case (defun rung:now () 1) (rung:package-lock () :locked))", ":LOCKED"),
    ]);
}

#[test]
fn packages_are_made_and_used() {
    check(&[
        ("(package-name (make-package :a :nicknames '(\"AA\" :aaa)))", "\"A\""),
        ("(make-package :a :nicknames '(aa)) (package-nicknames :aa)", "(\"AA\")"),
        (
            "(make-package :a) (make-package \"B\" :use '(:a :cl)) (mapcar #'package-name (package-use-list :b))",
            "(\"A\" \"COMMON-LISP\")",
        ),
        (
            "(make-package :a) (make-package :b :use '(:a)) (mapcar #'package-name (package-used-by-list :a))",
            "(\"B\")",
        ),
        (
            "(make-package :a :use nil) (use-package :cl :a) (multiple-value-list (find-symbol \"CAR\" :a))",
            "(CAR :INHERITED)",
        ),
        (
            "(make-package :a :use '(:cl)) (unuse-package :cl :a) (list (package-use-list :a) (find-symbol \"CAR\" :a))",
            "(NIL NIL)",
        ),
        ("(make-package :a) (handler-case (make-package :a) (package-error () :taken))", ":TAKEN"),
        (
            "(handler-case (package-use-list :nowhere) (package-error (c) (package-error-package c)))",
            ":NOWHERE",
        ),
        ("(make-package :a) (not (null (member (find-package :a) (list-all-packages))))", "T"),
        (
            "(make-package :a) (rename-package :a :b '(:c)) (list (find-package :a) (package-nicknames :b))",
            "(NIL (\"C\"))",
        ),
        (
            "(let ((p (make-package :a))) (list (delete-package p) (package-name p) (find-package :a)))",
            "(T NIL NIL)",
        ),
        ("(let ((p (make-package :a))) (delete-package p) (delete-package p))", "NIL"),
        ("(list (packagep *package*) (packagep :cl))", "(T NIL)"),
        ("(in-package :cl) (package-name *package*)", "\"COMMON-LISP\""),
        ("(package-name :cl-user)", "\"COMMON-LISP-USER\""),
    ]);
}

#[test]
fn symbols_are_imported_shadowed_and_exported() {
    check(&[
        ("(make-package :a :use nil) (import 'x :a) (eq (find-symbol \"X\" :a) 'x)", "T"),
        (
            "(make-package :a :use nil) (import '(x y) :a) (multiple-value-list (find-symbol \"Y\" :a))",
            "(Y :INTERNAL)",
        ),
        (
            "(make-package :a :use nil) (intern \"X\" :a) (handler-case (import 'x :a) (package-error () :conflict))",
            ":CONFLICT",
        ),
        (
            "(make-package :a :use nil) (intern \"X\" :a) (shadowing-import 'x :a) (list (eq (find-symbol \"X\" :a) 'x) (package-shadowing-symbols :a))",
            "(T (X))",
        ),
        (
            "(make-package :a :use '(:cl)) (shadow '(\"CAR\" cdr) :a) (list (eq (find-symbol \"CAR\" :a) 'car) (mapcar #'symbol-name (package-shadowing-symbols :a)))",
            "(NIL (\"CAR\" \"CDR\"))",
        ),
        (
            "(make-package :a :use nil) (export (intern \"X\" :a) :a) (nth-value 1 (find-symbol \"X\" :a))",
            ":EXTERNAL",
        ),
        (
            "(make-package :a :use nil) (let ((x (intern \"X\" :a))) (export x :a) (unexport x :a)) (nth-value 1 (find-symbol \"X\" :a))",
            ":INTERNAL",
        ),
        (
            "(make-package :a :use nil) (handler-case (export 'unheard-of :a) (package-error () :inaccessible))",
            ":INACCESSIBLE",
        ),
        (
            "(make-package :a :use nil) (export (intern \"X\" :a) :a) (make-package :b :use '(:a)) (export (find-symbol \"X\" :b) :b) (nth-value 1 (find-symbol \"X\" :b))",
            ":EXTERNAL",
        ),
        (
            "(make-package :a :use nil) (make-package :b :use '(:a)) (intern \"X\" :b) (handler-case (export (intern \"X\" :a) :a) (package-error () :conflict))",
            ":CONFLICT",
        ),
        (
            "(make-package :a :use nil) (make-package :b :use nil) (export (intern \"X\" :a) :a) (export (intern \"X\" :b) :b) (use-package :a) (handler-case (use-package :b) (package-error () :conflict))",
            ":CONFLICT",
        ),
        (
            "(let ((x (intern \"XX\"))) (list (unintern x) (symbol-package x) (unintern x) (eq x (intern \"XX\"))))",
            "(T NIL NIL NIL)",
        ),
        ("(make-package :a :use nil) (multiple-value-list (intern \"X\" :a))", "(A::X NIL)"),
        ("(multiple-value-list (intern \"CAR\"))", "(CAR :INHERITED)"),
        ("(multiple-value-list (find-symbol \"NEVER-SEEN\"))", "(NIL NIL)"),
        ("(make-package :a :use nil) (intern \"QQ\" :a) (length (find-all-symbols \"QQ\"))", "1"),
        (
            "(make-package :a :use nil) (make-package :b :use nil) (intern \"QQ\" :a) (intern \"QQ\" :b) (length (find-all-symbols \"QQ\"))",
            "2",
        ),
        ("(length (find-all-symbols 'car))", "1"),
    ]);
}

#[test]
fn symbols_are_visited() {
    let made = "(defpackage :a (:use) (:export \"X\" \"Y\") (:intern \"Z\")) \
                (defpackage :b (:use :a) (:intern \"W\")) ";
    let visited = |form: &str| values(&format!("{made}{form}"));
    let sorted = "(sort (mapcar #'symbol-name all) #'string<)";
    assert_eq!(
        visited(&format!("(let (all) (do-symbols (s :b) (pushnew s all)) {sorted})")),
        "(\"W\" \"X\" \"Y\")"
    );
    assert_eq!(
        visited(&format!("(let (all) (do-external-symbols (s :a {sorted}) (push s all)))")),
        "(\"X\" \"Y\")"
    );
    assert_eq!(visited("(do-external-symbols (s :b :none))"), ":NONE");
    assert_eq!(visited("(let ((n 0)) (do-all-symbols (s n) (when (eq s 'a::z) (setq n 1))))"), "1");
    assert_eq!(visited("(do-symbols (s :a) (return :left))"), ":LEFT");
    assert_eq!(visited("(let ((n 0)) (do-symbols (s :a n) again (incf n)))"), "3");
    assert_eq!(
        visited(
            "(sort (loop for s being the present-symbols of :b collect (symbol-name s)) #'string<)"
        ),
        "(\"W\")"
    );
    assert_eq!(
        visited(
            "(sort (loop for s being each external-symbol of :a collect (symbol-name s)) #'string<)"
        ),
        "(\"X\" \"Y\")"
    );
    assert_eq!(
        visited("(sort (loop for s being the symbols of :b collect (symbol-name s)) #'string<)"),
        "(\"W\" \"X\" \"Y\")"
    );
    assert_eq!(
        visited(
            "(with-package-iterator (next :a :external) (let (all) (loop (multiple-value-bind \
             (more s access) (next) (unless more (return)) (push (cons (symbol-name s) access) all))) \
             (sort all #'string< :key #'car)))"
        ),
        "((\"X\" . :EXTERNAL) (\"Y\" . :EXTERNAL))"
    );
}

#[test]
fn nicknames_hold_inside_one_package() {
    let made = "(defpackage :long-name (:use) (:export \"F\")) \
                (defpackage :here (:use :cl) (:local-nicknames (:l :long-name))) ";
    let shown = |form: &str| values(&format!("{made}{form}"));
    assert_eq!(shown("(in-package :here) (eq 'l:f 'long-name:f)"), "T");
    assert_eq!(shown("(find-package :l)"), "NIL");
    assert_eq!(shown("(in-package :here) (package-name (find-package :l))"), "\"LONG-NAME\"");
    assert_eq!(
        shown("(rung:add-package-local-nickname :ll :long-name) (package-name (find-package :ll))"),
        "\"LONG-NAME\""
    );
    assert_eq!(shown("(package-nicknames :long-name)"), "NIL");
}
