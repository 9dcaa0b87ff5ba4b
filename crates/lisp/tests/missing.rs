//! Names of the standard that this version does not have say so, and nothing else.

mod common;

use common::{check, failure, output};

#[test]
fn a_missing_name_is_told_without_looking_at_its_arguments() {
    check(&[
        (
            "(defclass point () ((x :initarg :x) (y :initarg :y)))",
            "test.lisp:1:1: error: cl:defclass is not in version 1",
        ),
        (
            "(defgeneric area (shape) (:documentation \"Its area.\"))",
            "test.lisp:1:1: error: cl:defgeneric is not in version 1",
        ),
        (
            "(defmethod area ((s circle)) (* pi (radius s)))",
            "test.lisp:1:1: error: cl:defmethod is not in version 1",
        ),
        (
            "(defun f (p) (with-slots (x y) p (+ x y))) (f 1)",
            "test.lisp:1:14: error: cl:with-slots is not in version 1",
        ),
        (
            "(with-hash-table-iterator (next h) (next))",
            "test.lisp:1:1: error: cl:with-hash-table-iterator is not in version 1",
        ),
        (
            "(handler-case (defclass a () ()) (undefined-function (c) (cell-error-name c)))",
            "DEFCLASS",
        ),
        ("(if nil (defclass point () ((x))) 5)", "5"),
        ("(flet ((f (x) x)) (f 3))", "3"),
    ]);
    assert_eq!(failure("(defclass point () ())").hint, None);
    assert_eq!(output("(print 1) (defclass a ((b)))").lines().count(), 2);
}
