//! More of the language by example: values, places, structures, loops, sequences, types.

mod common;

use common::{check, lisp_reading};

#[test]
fn evaluation_and_values() {
    check(&[
        ("(let ((x 1)) (list x (setq x 5) x))", "(1 5 5)"),
        ("(let ((x 1)) (+ x (setq x 5) x))", "11"),
        ("(let ((a 1)) (let ((f (lambda () a))) (setq a 2) (funcall f)))", "2"),
        (
            "(let ((fs nil)) (dolist (i '(1 2 3)) (push (lambda () i) fs)) (mapcar #'funcall fs))",
            "(3 2 1)",
        ),
        (
            "(labels ((f (n acc) (if (= n 0) acc (g (1- n) (cons n acc)))) (g (n acc) (f n acc))) (f 3 nil))",
            "(1 2 3)",
        ),
        (
            "(labels ((f (n) (let ((h (lambda (x) (f x)))) (if (= n 0) :z (funcall h (1- n)))))) (f 5))",
            ":Z",
        ),
        ("(funcall (labels ((f (n) (if (= n 0) #'f (f (1- n))))) (f 2)) 0)", "#<FUNCTION F>"),
        ("(let ((y 0)) (flet ((bump () (incf y))) (bump) (bump)) y)", "2"),
        ("(block a (block b (return-from a (block c (return-from b 1)))) 2)", "2"),
        ("(multiple-value-list (block nil (return (values 1 2 3))))", "(1 2 3)"),
        ("(multiple-value-list (catch 'x (throw 'x (values 1 2))))", "(1 2)"),
        ("(multiple-value-list (unwind-protect (values 1 2) (list 3)))", "(1 2)"),
        ("(multiple-value-list (let ((*print-base* 10)) (values 1 2)))", "(1 2)"),
        ("(multiple-value-list (progn (values 1 2)))", "(1 2)"),
        ("(list (values 1 2) (values))", "(1 NIL)"),
        ("(multiple-value-list (if t (values 1 2) 3))", "(1 2)"),
        ("(multiple-value-list (or nil (values 1 2)))", "(1 2)"),
        ("(multiple-value-list (and 1 (values 1 2)))", "(1 2)"),
        ("(multiple-value-list (cond ((values 1 2))))", "(1)"),
        ("(multiple-value-list (funcall (lambda () (values 4 5))))", "(4 5)"),
        ("(multiple-value-list (apply #'values '(1 2 3)))", "(1 2 3)"),
        ("(multiple-value-bind (a b c) (values 1 2) (list a b c))", "(1 2 NIL)"),
        ("(let ((x 0)) (loop (incf x) (when (> x 5) (return x))))", "6"),
    ]);
}

#[test]
fn sequences_strings_and_tables() {
    check(&[
        ("(let ((l '(3 1 2))) (sort (copy-list l) #'<))", "(1 2 3)"),
        (r#"(sort (list "b" "a") #'string<)"#, r#"("a" "b")"#),
        (
            "(stable-sort (list '(1 . a) '(0 . b) '(1 . c)) #'< :key #'car)",
            "((0 . B) (1 . A) (1 . C))",
        ),
        (r#"(let ((s (make-string 3 :initial-element #\a))) (setf (char s 1) #\b) s)"#, r#""aba""#),
        (r#"(format nil "~{~A~^, ~}" '(1 2 3))"#, r#""1, 2, 3""#),
        (r#"(format nil "~5,2F|~8D|~X" 3.14159d0 42 255)"#, r#"" 3.14|      42|FF""#),
        (
            "(let ((h (make-hash-table))) (setf (gethash 'a h) 1 (gethash 'b h) 2) (let (r) (maphash (lambda (k v) (push (cons k v) r)) h) r))",
            "((B . 2) (A . 1))",
        ),
        (
            r#"(with-input-from-string (s "1 (2 3)") (list (read s) (read s) (read s nil :eof)))"#,
            "(1 (2 3) :EOF)",
        ),
        (r#"(read-from-string "(a . b)")"#, "(A . B) 7"),
        ("(let ((*x* 1)) (declare (special *x*)) (symbol-value '*x*))", "1"),
        (r#"(string-trim " " "  a ")"#, r#""a""#),
        (r#"(parse-integer "12")"#, "12 2"),
        (r#"(char-upcase #\a)"#, r#"#\A"#),
        ("(map 'list #'+ '(1 2) '(10 20))", "(11 22)"),
        ("(every #'numberp '(1 2))", "T"),
        ("(mapcan #'list '(1 2))", "(1 2)"),
        ("(let ((v (vector 1 2 3))) (setf (subseq v 0 2) '(9 8)) v)", "#(9 8 3)"),
        ("(fill (make-array 3) 7)", "#(7 7 7)"),
        (r#"(search "bc" "abcd")"#, "1"),
        ("(remove-duplicates '(1 2 1 3))", "(2 1 3)"),
        ("(subst 'x 'b '(a (b c)))", "(A (X C))"),
        (
            "(list (typep 5 '(integer 0 10)) (typep 5 '(and integer (not (eql 5)))) (typep nil 'list) (typep #d(1) '(array double-float (*))))",
            "(T NIL T T)",
        ),
        ("(deftype small () '(integer 0 9)) (list (typep 5 'small) (typep 10 'small))", "(T NIL)"),
    ]);
}

#[test]
fn types_places_and_structures() {
    check(&[
        (
            "(defsetf my-car (x) (v) `(progn (rplaca ,x ,v) ,v)) (let ((l (list 1 2))) (setf (my-car l) 9) l)",
            "(9 2)",
        ),
        (
            "(defun (setf foo) (v x) (setf (car x) v)) (let ((l (list 1))) (setf (foo l) 3) l)",
            "(3)",
        ),
        (
            "(define-modify-macro appendf (&rest a) append) (let ((l '(1))) (appendf l '(2) '(3)) l)",
            "(1 2 3)",
        ),
        ("(let ((l '(1))) (pushnew 1 l) (pushnew 2 l) l)", "(2 1)"),
        (
            "(let ((a (list 1 2 3))) (incf (nth 1 a) 10) (decf (car a)) (push 5 (cdr a)) (list (pop (cdr a)) a))",
            "(5 (0 12 3))",
        ),
        ("(let ((p (list :a 1))) (setf (getf p :b) 2) (incf (getf p :a)) (remf p :b) p)", "(:A 2)"),
        (
            "(defstruct (node (:constructor make-node (val &optional next)) (:conc-name n-)) val next) (let ((n (make-node 1 (make-node 2)))) (list (n-val n) (n-val (n-next n)) n))",
            "(1 2 #S(NODE :VAL 1 :NEXT #S(NODE :VAL 2 :NEXT NIL)))",
        ),
        (
            "(defstruct (base) a (b 2)) (defstruct (derived (:include base)) c) (let ((d (make-derived :a 1 :c 3))) (list d (base-a d) (derived-b d) (base-p d) (typep d 'base) (equalp d (copy-derived d))))",
            "(#S(DERIVED :A 1 :B 2 :C 3) 1 2 T T T)",
        ),
        ("(macroexpand '(let ((x 1)) x))", "(LET ((X 1)) X) NIL"),
        ("(funcall #'(lambda (x &aux (y (* x 2))) (list x y)) 4)", "(4 8)"),
        ("(let* ((x 1) (y (+ x 1))) (declare (fixnum x y)) (* x y))", "2"),
        ("(eq 'a 'A)", "T"),
        ("'|Foo bar|", "|Foo bar|"),
        ("(let ((i 10)) (loop while (> i 0) do (decf i 3) finally (return i)))", "-2"),
        (
            r#"(loop for c across "abc" for i from 0 collect (cons i c))"#,
            r#"((0 . #\a) (1 . #\b) (2 . #\c))"#,
        ),
        ("(loop for i from 0 below 10 by 3 sum i)", "18"),
        ("(loop for x in '(a b c) and i from 1 collect (list x i))", "((A 1) (B 2) (C 3))"),
        (
            "(loop for x in '(1 2 3) minimize x into lo maximize x into hi finally (return (list lo hi)))",
            "(1 3)",
        ),
        ("(loop for (k . v) in '((a . 1) (b . 2)) append (list k v))", "(A 1 B 2)"),
        ("(loop for x in '(1 nil 2) when x collect it)", "(1 2)"),
        ("(prog1 1 2 3)", "1"),
        ("(let (a) (setq a 1) a)", "1"),
        ("(destructuring-bind (&whole w a . b) '(1 2 3) (list w a b))", "((1 2 3) 1 (2 3))"),
    ]);
}

#[test]
fn loops_patterns_and_the_rest() {
    check(&[
        (
            "(defmacro my-let ((&rest bs) &body body) `((lambda ,(mapcar #'car bs) ,@body) ,@(mapcar #'cadr bs))) (my-let ((a 1) (b 2)) (+ a b))",
            "3",
        ),
        ("(let ((x (list 1 2))) (symbol-macrolet ((a (first x))) (incf a 5) x))", "(6 2)"),
        ("`(a ,@nil b)", "(A B)"),
        ("``(a ,(b ,(+ 1 2)))", "`(A ,(B 3))"),
        ("`#(1 ,(+ 1 1))", "#(1 2)"),
        ("(equalp #d(1 2) #i64(1 2))", "T"),
        (
            r#"(list 'sym :key "str" #\c 1.5 1.5f0 1/2 1e10 #'car)"#,
            r#"(SYM :KEY "str" #\c 1.5 1.5f0 1/2 1.0e10 #<FUNCTION CAR>)"#,
        ),
        (
            r#"(handler-case (error 'simple-error :format-control "x ~A" :format-arguments '(1)) (error (c) (princ-to-string c)))"#,
            r#""x 1""#,
        ),
        ("(list (boundp '*zork*) (fboundp 'car) (fboundp 'when) (fboundp 'zork))", "(NIL T T NIL)"),
        ("(funcall (constantly 3) 1 2)", "3"),
        ("(funcall (complement #'evenp) 3)", "T"),
        (
            r#"(let ((n 0)) (handler-bind ((warning (lambda (c) (incf n) (muffle-warning c)))) (warn "a") (warn "b")) n)"#,
            "2",
        ),
        ("(values-list '(1 2))", "1 2"),
        (
            "(list (ash 1 70) (logand 12 10) (gcd 12 18) (isqrt 17) (abs -3) (max 1 2 3) (min 1 2))",
            "(1180591620717411303424 8 6 4 3 3 1)",
        ),
        ("(documentation 'car 'function)", r#""The first element.""#),
        (
            r#"(list (digit-char-p #\7) (char-code #\a) (string #\a) (intern "FOO"))"#,
            r#"(7 97 "a" FOO)"#,
        ),
        (
            "(list (nreverse (list 1 2 3)) (nconc (list 1) (list 2)) (list* 1 2 '(3)))",
            "((3 2 1) (1 2) (1 2 3))",
        ),
        ("(reduce #'max '(3 1 2) :key #'-)", "-1"),
        (
            "(array-dimensions (make-array '(2 3) :element-type 'single-float :initial-element 1.5))",
            "(2 3)",
        ),
        (
            "(make-array '(2 2) :element-type 'double-float :initial-contents '((1 2) (3 4)))",
            "#d((1.0 2.0) (3.0 4.0))",
        ),
    ]);
}

/// What tracing prints while a text runs.
fn traced(text: &str) -> String {
    let (mut lisp, _, errors) = lisp_reading("");
    let result = lisp.eval_text("test.lisp", text);
    lisp.flush_streams().unwrap();
    result.map_or_else(|ended| ended.short(), |_| errors.text())
}

#[test]
fn trace_shows_functions_of_the_program_and_of_the_standard() {
    let text = "(defun f (n) (if (= n 0) 1 (* n (f (- n 1))))) (trace f) (f 1)";
    let expected = "0: (F 1)\n  1: (F 0)\n  1: F => 1\n0: F => 1\n";
    assert_eq!(traced(text), expected);
    let text = "(trace char-name) (char-name #\\a) (untrace char-name) (char-name #\\a)";
    assert_eq!(traced(text), "0: (CHAR-NAME #\\a)\n0: CHAR-NAME => NIL\n");
    let text = "(trace format apply) (apply #'list (list (format nil \"x\")))";
    let expected = "0: (FORMAT NIL \"x\")\n0: FORMAT => \"x\"\n\
                    0: (APPLY #<FUNCTION LIST> (\"x\"))\n0: APPLY => (\"x\")\n";
    assert_eq!(traced(text), expected);
    assert_eq!(traced("(trace when)"), "test.lisp:1:1: error: trace: when is not a function");
    let locked = "test.lisp:1:15: error: car is a name of the locked package common-lisp";
    assert_eq!(traced("(trace mapcar)(defun car (x) x)"), locked);
}
