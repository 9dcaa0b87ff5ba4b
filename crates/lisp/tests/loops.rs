//! `loop`: clauses joined by `and`, and `loop-finish`.

mod common;

use common::check;

#[test]
fn loop_clauses_joined_by_and_step_in_parallel() {
    check(&[
        ("(loop for x in '(1 2 3) and y in '(a b c) collect (list x y))", "((1 A) (2 B) (3 C))"),
        ("(loop repeat 5 for a = 0 then b and b = 1 then (+ a b) collect a)", "(0 1 1 2 3)"),
        ("(loop for x in '(1 2 3) and y = 10 then x collect (list x y))", "((1 10) (2 1) (3 2))"),
        ("(loop for x in '(1 2 3) for y = 10 then x collect (list x y))", "((1 10) (2 2) (3 3))"),
        ("(loop for i from 0 below 3 and j = 9 then i collect (list i j))", "((0 9) (1 0) (2 1))"),
        (
            "(loop for i fixnum from 5 downto 3 by 1 and (a b) across #((1 2) (3 4) (5 6)) and last = nil then i collect (list i a b last))",
            "((5 1 2 NIL) (4 3 4 5) (3 5 6 4))",
        ),
        ("(let ((x 1)) (loop with a = 1 and b = 2 for i below 1 return (list a b x)))", "(1 2 1)"),
        ("(loop for x in '(1 2 3) and y in '(1 2) finally (return (list x y)))", "(2 2)"),
        (
            "(let ((h (make-hash-table))) (setf (gethash 1 h) 'a) (loop for k being the hash-keys of h using (hash-value v) and i from 7 collect (list k v i)))",
            "((1 A 7))",
        ),
        ("(loop for x in '(1 2) when x collect x and collect (* 10 x))", "(1 10 2 20)"),
        ("(loop for i below 3 sum i)", "3"),
        ("(loop for x in '#1=(1 2 . #1#) repeat 5 collect x)", "(1 2 1 2 1)"),
    ]);
}

#[test]
fn loop_finish_ends_the_loop_around_it() {
    check(&[
        ("(loop for i from 1 when (> i 3) do (loop-finish) collect i)", "(1 2 3)"),
        (
            "(loop for i below 3 collect (loop for j below 9 when (> j i) do (loop-finish) sum j))",
            "(0 1 3)",
        ),
        (
            "(loop for i from 1 sum i into s do (when (= i 4) (loop-finish)) finally (return (list i s)))",
            "(4 10)",
        ),
        ("(loop-finish)", "test.lisp:1:1: error: loop-finish: only inside loop"),
    ]);
}

#[test]
fn apply_takes_a_list_of_any_length() {
    check(&[("(apply #'+ (make-list 200000 :initial-element 1))", "200000")]);
}
