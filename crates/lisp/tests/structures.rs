//! `defstruct`: its options.

mod common;

use common::{check, output};

#[test]
fn defstruct_print_function_and_print_object() {
    check(&[
        (
            "(defstruct (point (:print-function (lambda (p s depth) (format s \"<~D,~D>~D\" \
             (point-x p) (point-y p) depth)))) x y) (list (make-point :x 1 :y 2))",
            "(<1,2>0)",
        ),
        (
            "(defun show (p s) (print-unreadable-object (p s :type t) (princ (point-x p) s))) \
             (defstruct (point (:print-object show)) x) (make-point :x 4)",
            "#<POINT 4>",
        ),
        (
            "(defstruct (a (:print-object (lambda (a s) (princ \"an a\" s))))) \
             (defstruct (b (:include a))) (make-b)",
            "an a",
        ),
        ("(defstruct (point :print-function) x) (make-point :x 1)", "#S(POINT :X 1)"),
    ]);
    let text = "(defstruct (c (:print-object (lambda (c s) (write-string \"C!\" s))))) \
                (format t \"~A ~S\" (make-c) (list (make-c)))";
    assert_eq!(output(text), "C! (C!)");
}

#[test]
fn defstruct_type_list_and_vector() {
    check(&[
        (
            "(defstruct (p (:type list)) x (y 5)) (let ((p (make-p :x 1))) (setf (p-x p) 9) (list p (p-y p)))",
            "((9 5) 5)",
        ),
        (
            "(defstruct (p (:type vector) :named) x y) (let ((p (make-p :y 2))) (list p (p-y p) (p-p p) (p-p 3) (copy-p p)))",
            "(#(P NIL 2) 2 T NIL #(P NIL 2))",
        ),
        (
            "(defstruct (p (:type list) (:initial-offset 2) :named) x) (list (make-p :x 1) (p-x (make-p :x 7)))",
            "((NIL NIL P 1) 7)",
        ),
        (
            "(defstruct (a (:type list) :named) x) (defstruct (b (:type list) :named (:include a)) y) (list (make-b :x 1 :y 2) (b-y (make-b :y 3)) (a-x (make-b :x 4)) (b-p (make-b)))",
            "((A 1 B 2) 3 4 T)",
        ),
        (
            "(defstruct (p (:type (vector double-float))) (x 1d0) (y 2d0)) (array-element-type (make-p))",
            "DOUBLE-FLOAT",
        ),
        (
            "(defstruct (p (:type list) (:constructor p (x &optional (y 8)))) x y) (list (p 1) (p 1 2))",
            "((1 8) (1 2))",
        ),
        (
            "(defstruct a (x 1)) (defstruct (b (:include a (x 7))) y) (list (make-b) (a-x (make-b)))",
            "(#S(B :X 7 :Y NIL) 7)",
        ),
    ]);
}

#[test]
fn defstruct_names_an_option_that_does_not_exist() {
    check(&[
        (
            "(defstruct (p (:metaclass x)) a)",
            "test.lisp:1:1: error: defstruct: there is no option :metaclass",
        ),
        (
            "(defstruct (p :named) a)",
            "test.lisp:1:1: error: defstruct: :named and :initial-offset need :type",
        ),
        (
            "(defstruct (p (:type list) (:predicate p?)) a)",
            "test.lisp:1:1: error: defstruct: a predicate with :type needs :named",
        ),
    ]);
}
