//! Names of the standard that this version does not have say so, and nothing else.

mod common;

use common::{check, failure, output};

#[test]
fn a_missing_name_is_told_without_looking_at_its_arguments() {
    check(&[
        ("(dribble \"a\" 5)", "test.lisp:1:1: error: cl:dribble is not in version 1"),
        (
            "(translate-logical-pathname (x (y)) z)",
            "test.lisp:1:1: error: cl:translate-logical-pathname is not in version 1",
        ),
        (
            "(defun f (p) (set-pprint-dispatch p (x y))) (f 1)",
            "test.lisp:1:14: error: cl:set-pprint-dispatch is not in version 1",
        ),
        (
            "(compile-file (next h) (next))",
            "test.lisp:1:1: error: cl:compile-file is not in version 1",
        ),
        ("(handler-case (ed (f)) (undefined-function (c) (cell-error-name c)))", "ED"),
        ("(if nil (ed ((x))) 5)", "5"),
        ("(flet ((f (x) x)) (f 3))", "3"),
    ]);
    assert_eq!(failure("(ed (f))").hint, None);
    assert_eq!(output("(print 1) (ed a ((b)))").lines().count(), 2);
}
