//! The language by example: forms and what they print.

mod common;

use common::{check, values};

#[test]
fn binding_and_closures() {
    check(&[
        ("(let ((x 1) (y 2)) (list x y))", "(1 2)"),
        (
            "(destructuring-bind (a (b &optional (c 9)) &key d) '(1 (2) :d 4) (list a b c d))",
            "(1 2 9 4)",
        ),
        ("(flet ((f (x) (* x 2))) (f 4))", "8"),
        (
            "(labels ((ev (n) (if (= n 0) t (od (1- n)))) (od (n) (if (= n 0) nil (ev (1- n))))) (list (ev 10) (od 7)))",
            "(T T)",
        ),
        ("(let ((c (let ((n 0)) (lambda () (incf n))))) (funcall c) (funcall c) (funcall c))", "3"),
        ("(multiple-value-bind (q r) (floor 17 5) (list q r))", "(3 2)"),
        ("(multiple-value-call #'list (values 1 2) 3 (values) (values 4 5))", "(1 2 3 4 5)"),
        (
            "(funcall (lambda (a &optional (b 2 bp) &rest r &key k) (list a b bp r k)) 1)",
            "(1 2 NIL NIL NIL)",
        ),
        ("(funcall (lambda (a &rest r &key k (j 5)) (list a r k j)) 1 :k 2)", "(1 (:K 2) 2 5)"),
        ("(macroexpand-1 '(when a b))", "(IF A B) T"),
        ("(macrolet ((m (x) `(* ,x 2))) (m 4))", "8"),
    ]);
}

#[test]
fn loops() {
    check(&[
        ("(let ((n 0)) (dotimes (i 10) (incf n i)) n)", "45"),
        ("(let ((n nil)) (dolist (i '(1 2 3)) (push i n)) n)", "(3 2 1)"),
        ("(do ((i 0 (1+ i)) (acc nil (cons i acc))) ((= i 3) acc))", "(2 1 0)"),
        ("(loop for i from 1 to 5 collect (* i i))", "(1 4 9 16 25)"),
        ("(loop for x in '(1 2 3) for y across #(4 5 6) sum (* x y))", "32"),
        (
            "(loop for i below 10 when (evenp i) collect i into e else collect i into o finally (return (list e o)))",
            "((0 2 4 6 8) (1 3 5 7 9))",
        ),
        ("(loop with a = 1 repeat 3 do (setq a (* a 2)) finally (return a))", "8"),
        ("(loop for (a b) in '((1 2) (3 4)) collect (+ a b))", "(3 7)"),
        ("(loop for i from 10 downto 7 collect i)", "(10 9 8 7)"),
        ("(loop for x on '(1 2 3) collect x)", "((1 2 3) (2 3) (3))"),
        ("(loop for x = 1 then (* x 2) while (< x 50) maximize x)", "32"),
        ("(loop for x in '(1 2 3 4) thereis (and (> x 2) x))", "3"),
        ("(loop for x in '(1 2) always (numberp x))", "T"),
        (
            r#"(let ((h (make-hash-table :test 'equal))) (setf (gethash "a" h) 1) (incf (gethash "a" h)) (push 1 (gethash "b" h)) (loop for k being the hash-keys of h using (hash-value v) collect (list k v)))"#,
            r#"(("a" 2) ("b" (1)))"#,
        ),
        (
            "(let ((fs (loop for i from 0 below 3 collect (let ((j i)) (lambda () (incf j 10)))))) (mapcar #'funcall fs))",
            "(10 11 12)",
        ),
        ("(tagbody a (go b) b)", "NIL"),
        ("(let ((i 0)) (tagbody top (incf i) (when (< i 3) (go top))) i)", "3"),
        (
            "(let ((i 0)) (tagbody top (mapc (lambda (x) (incf i) (when (< i 5) (go top))) '(1 2))) i)",
            "6",
        ),
        ("(prog ((x 1)) (setq x 2) (return x))", "2"),
        ("(loop named foo for i from 0 do (when (= i 3) (return-from foo i)))", "3"),
        ("(let ((k 3)) (loop while (> k 0) do (decf k) count t))", "3"),
    ]);
}

#[test]
fn places_and_arrays() {
    check(&[
        ("(let ((x 5)) (setf x 6) (incf x 2) x)", "8"),
        (
            "(let ((a (make-array '(2 3) :initial-element 0))) (setf (aref a 1 2) 5) (incf (aref a 0 0)) a)",
            "#2A((1 0 0) (0 0 5))",
        ),
        (
            "(let ((a (make-array 3 :element-type 'double-float))) (setf (aref a 1) 2) a)",
            "#d(0.0 2.0 0.0)",
        ),
        (
            "(let ((l (list 1 2 3))) (setf (second l) 9 (nth 2 l) 8) (setf (getf l 1) 4) l)",
            "(1 4 8)",
        ),
        ("(let ((x 1) (y 2)) (rotatef x y) (psetq x y y x) (shiftf x y 5) (list x y))", "(2 5)"),
        (
            "(let ((v (make-array 0 :fill-pointer t :adjustable t))) (vector-push-extend 1 v) (vector-push-extend 2 v) v)",
            "#(1 2)",
        ),
        ("(symbol-macrolet ((q (car z))) (let ((z (list 1 2))) (setf q 5) z))", "(5 2)"),
        (
            "(list #d(1 2) #f((1 2) (3 4)) #i64(1 2) #(1 2) #2A((1 2)))",
            "(#d(1.0 2.0) #f((1.0 2.0) (3.0 4.0)) #(1 2) #(1 2) #2A((1 2)))",
        ),
    ]);
}

#[test]
fn sequences_and_lists() {
    check(&[
        (r#"(typecase "x" (integer 1) (string 2))"#, "2"),
        ("(sort (list 3 1 2) #'<)", "(1 2 3)"),
        ("(sort (vector 3 1 2) #'> :key #'identity)", "#(3 2 1)"),
        ("(reduce #'+ '(1 2 3) :initial-value 10)", "16"),
        ("(remove-if #'evenp '(1 2 3 4))", "(1 3)"),
        ("(find 3 '((1 . a) (3 . b)) :key #'car)", "(3 . B)"),
        (r#"(position #\b "abc")"#, "1"),
        (r#"(concatenate 'string "ab" "cd")"#, r#""abcd""#),
        ("(map 'vector #'1+ '(1 2))", "#(2 3)"),
        ("(some #'evenp '(1 2))", "T"),
        (r#"(subseq "hello" 1 3)"#, r#""el""#),
        ("(coerce '(1 2) 'vector)", "#(1 2)"),
        (r#"(with-output-to-string (s) (princ "hi" s) (print 5 s))"#, "\"hi\n5 \""),
        (
            r#"(let ((s (make-string-input-stream (format nil "a~%b")))) (list (read-line s) (read-line s nil) (read-line s nil :eof)))"#,
            r#"("a" "b" :EOF)"#,
        ),
        (r#"(string-upcase "abc")"#, r#""ABC""#),
        (
            "(let ((x '(1 2 3))) (list (first x) (last x) (butlast x) (length x) (reverse x) (nthcdr 1 x) (append x '(4))))",
            "(1 (3) (1 2) 3 (3 2 1) (2 3) (1 2 3 4))",
        ),
        (
            "(list (assoc 'b '((a . 1) (b . 2))) (member 2 '(1 2 3)) (union '(1 2) '(2 3)) (adjoin 1 '(2)))",
            "((B . 2) (2 3) (1 2 3) (1 2))",
        ),
        (r#"(string= "a" "a")"#, "T"),
    ]);
}

#[test]
fn conditions() {
    check(&[
        ("(catch 'a (catch 'b (throw 'a 5)) 6)", "5"),
        ("(block x (mapcar (lambda (v) (when (= v 2) (return-from x v))) '(1 2 3)) 9)", "2"),
        (
            "(let ((l nil)) (block b (unwind-protect (return-from b 1) (push 'cleanup l))) l)",
            "(CLEANUP)",
        ),
        (r#"(handler-case (error "foo ~A" 1) (error (c) (princ-to-string c)))"#, r#""foo 1""#),
        (
            "(handler-case (car 5) (type-error (c) (list (type-error-datum c) (princ-to-string c))))",
            r#"(5 "car: expected a list: got 5")"#,
        ),
        ("(handler-case (/ 1 0) (division-by-zero () 'dz))", "DZ"),
        ("(handler-case (values 1 2) (:no-error (a b) (list a b)))", "(1 2)"),
        (
            "(handler-case (undefined-thing 1) (undefined-function (c) (princ-to-string c)))",
            r#""the function undefined-thing is undefined""#,
        ),
        (
            r#"(handler-bind ((error (lambda (c) (invoke-restart 'use 42)))) (restart-case (error "x") (use (v) (* v 2))))"#,
            "84",
        ),
        (r#"(ignore-errors (error "z"))"#, r#"NIL #<SIMPLE-ERROR "z">"#),
    ]);
}

#[test]
fn others() {
    check(&[
        ("`(1 ,(+ 1 1) ,@(list 3 4) . 5)", "(1 2 3 4 . 5)"),
        ("(case 3 (1 'a) ((2 3) 'b) (t 'c))", "B"),
        ("(apply #'+ 1 2 '(3 4))", "10"),
        ("(expt 2 100)", "1267650600228229401496703205376"),
        ("(/ 6 4)", "3/2"),
        ("(list (floor -7 2) (mod -7 2) (rem -7 2) (round 5/2))", "(-4 1 -1 2)"),
        (
            "(list (sqrt 2) (exp 1d0) (sin 1d0))",
            "(1.4142135623730951 2.718281828459045 0.8414709848078965)",
        ),
        ("(symbol-name 'foo)", r#""FOO""#),
        ("(eval '(+ 1 2))", "3"),
        ("(nth-value 1 (floor 7 2))", "1"),
        ("(values)", ""),
        ("(gethash 1 (make-hash-table))", "NIL NIL"),
    ]);
}

#[test]
fn the_hook_of_macros_was_never_called() {
    let text = "(defmacro twice (x) `(* 2 ,x)) (defvar *seen* nil)
        (let ((*macroexpand-hook* (lambda (f form env) (push form *seen*) (funcall f form env))))
          (list (eval '(twice 4)) (macroexpand-1 '(twice 5)) *seen*))";
    assert_eq!(values(text), "(8 (* 2 5) ((TWICE 5) (TWICE 4)))");
}

#[test]
fn the_backtrace_did_not_heed_its_number() {
    let text = "(defun inner () (values (rung:backtrace 1))) (defun outer () (list (inner) (rung:backtrace))) (outer)";
    assert_eq!(values(text), "((INNER) (OUTER))");
}

/// Portable programs measure with it: in milliseconds most of the Gabriel programs would take 0.
#[test]
fn internal_time_is_in_microseconds() {
    assert_eq!(values("internal-time-units-per-second"), "1000000");
}
