//! Names of the standard that this version does not have say so, and nothing else.

mod common;

use common::{check, failure, output};

#[test]
fn a_missing_name_is_told_without_looking_at_its_arguments() {
    check(&[
        ("(formatter \"~A\")", "test.lisp:1:1: error: cl:formatter is not in version 1"),
        (
            "(pprint-logical-block (nil (x)) (princ x))",
            "test.lisp:1:1: error: cl:pprint-logical-block is not in version 1",
        ),
        (
            "(defun f (p) (call-method p (x y))) (f 1)",
            "test.lisp:1:14: error: cl:call-method is not in version 1",
        ),
        (
            "(with-hash-table-iterator (next h) (next))",
            "test.lisp:1:1: error: cl:with-hash-table-iterator is not in version 1",
        ),
        ("(handler-case (step (f)) (undefined-function (c) (cell-error-name c)))", "STEP"),
        ("(if nil (step ((x))) 5)", "5"),
        ("(flet ((f (x) x)) (f 3))", "3"),
    ]);
    assert_eq!(failure("(step (f))").hint, None);
    assert_eq!(output("(print 1) (step a ((b)))").lines().count(), 2);
}
