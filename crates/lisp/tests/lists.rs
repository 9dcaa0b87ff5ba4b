//! Lists: searches by eql, which walk without a call, agree with those that call a function.

mod common;

use common::check;

#[test]
fn searches_by_eql() {
    check(&[
        ("(member 2 '(1 2 3))", "(2 3)"),
        ("(member 2.0 '(1 2 3))", "NIL"),
        ("(member 2 '(1 2 3) :test #'eq)", "(2 3)"),
        ("(member 2 '(1 2 3) :test #'<)", "(3)"),
        ("(member 2 '(1 2 3) :key #'1+)", "(1 2 3)"),
        ("(member 2 '(1 2 3) :test-not #'eql)", "(1 2 3)"),
        ("(member 9 '(1 2 . 3))", "test.lisp:1:1: error: member: expected a list: got 3"),
        ("(member 9 5)", "test.lisp:1:1: error: member: expected a list: got 5"),
        ("(assoc 'b '((a . 1) nil (b . 2)))", "(B . 2)"),
        ("(assoc 'c '((a . 1) nil (b . 2)))", "NIL"),
        ("(assoc nil '((a . 1) nil (nil . 2)))", "(NIL . 2)"),
        ("(assoc 'b '((a . 1) 5 (b . 2)))", "test.lisp:1:1: error: assoc: expected a cons: got 5"),
        ("(assoc \"b\" '((\"b\" . 2)) :test #'string=)", "(\"b\" . 2)"),
        ("(rassoc 2 '((a . 1) (b . 2)))", "(B . 2)"),
        (
            "(assoc (expt 10 30) (list (cons (expt 10 30) 1)))",
            "(1000000000000000000000000000000 . 1)",
        ),
        ("(list (find 2 '(1 2 3)) (find 9 '(1 2 3)) (find 2 #(1 2)))", "(2 NIL 2)"),
        (
            "(list (position 3 '(1 2 3)) (position 9 '(1 2)) (position 1 '(1 2 1) :from-end t))",
            "(2 NIL 2)",
        ),
        ("(position 1 '(1 2 1) :start 1)", "2"),
        ("(find 2 5)", "test.lisp:1:1: error: find: expected a sequence: got 5"),
        ("(find 9 '(1 2 . 3))", "test.lisp:1:1: error: find: expected a proper list: got 3"),
        ("(list (getf '(:a 1 :b 2) :b) (getf '(:a 1) :c 7) (getf nil :a))", "(2 7 NIL)"),
    ]);
}

#[test]
fn positions_in_lists() {
    check(&[
        ("(list (nth 0 '(1 2)) (nth 1 '(1 2)) (nth 2 '(1 2)) (nth 5 nil))", "(1 2 NIL NIL)"),
        ("(list (nthcdr 1 '(1 . 2)) (nthcdr 0 5) (nthcdr 2 '(1 2)))", "(2 5 NIL)"),
        ("(nthcdr 2 '(1 . 2))", "test.lisp:1:1: error: nthcdr: expected a list: got 2"),
        ("(nth 3 '#1=(1 2 . #1#))", "2"),
        ("(nth 3000001 '#1=(1 2 . #1#))", "2"),
        ("(list (elt '(1 2 3) 0) (elt '(1 2 3) 2))", "(1 3)"),
        ("(elt '(1 2) 2)", "test.lisp:1:1: error: elt: index 2 is outside a sequence of length 2"),
        ("(list (length '(1 2 3)) (length nil) (length (make-list 2000000)))", "(3 0 2000000)"),
        ("(length '(1 . 2))", "test.lisp:1:1: error: length: expected a proper list: got 2"),
        (
            "(length '#1=(1 2 . #1#))",
            "test.lisp:1:1: error: length: expected a proper list: got a circular one",
        ),
    ]);
}
