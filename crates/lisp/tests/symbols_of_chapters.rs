//! Operators that stand in no other test, by chapter: form and printed value, worked out from the
//! standard.

mod common;

use common::{check, output, values};

#[test]
fn conditions() {
    check(&[
        ("(restart-bind ((r (lambda (x) (* x 2)))) (invoke-restart 'r 21))", "42"),
        (
            "(block b (restart-bind ((r (lambda () (return-from b :out)))) (invoke-restart 'r) :on))",
            ":OUT",
        ),
        (
            "(restart-bind ((r (lambda () 1) :report-function (lambda (s) (write-string \"Do r.\" s)))) (princ-to-string (find-restart 'r)))",
            "\"Do r.\"",
        ),
        (
            "(restart-bind ((r (lambda (a b) (list a b)) :interactive-function (lambda () '(1 2)))) (invoke-restart-interactively 'r))",
            "(1 2)",
        ),
        (
            "(restart-case (invoke-restart-interactively 'r) (r (x) :interactive (lambda () (list 7)) x))",
            "7",
        ),
        (
            "(restart-bind ((r (lambda () 1) :test-function (lambda (c) (typep c 'error)))) (list (and (find-restart 'r (make-condition 'error)) t) (find-restart 'r (make-condition 'warning))))",
            "(T NIL)",
        ),
        (
            "(restart-case (with-condition-restarts (make-condition 'error) (list (find-restart 'r)) (and (find-restart 'r) t)) (r () 1))",
            "T",
        ),
        (
            "(let ((c (make-condition 'error)) (d (make-condition 'error))) (restart-case (with-condition-restarts c (list (find-restart 'r)) (list (and (find-restart 'r c) t) (find-restart 'r d))) (r () 1)))",
            "(T NIL)",
        ),
        (
            "(handler-case (error \"a ~A\" 1) (simple-error (c) (list (simple-condition-format-control c) (simple-condition-format-arguments c))))",
            "(\"a ~A\" (1))",
        ),
        (
            "(handler-case (warn \"w ~A\" 2) (simple-warning (c) (list (type-of c) (simple-condition-format-arguments c) (princ-to-string c))))",
            "(SIMPLE-WARNING (2) \"w 2\")",
        ),
        ("(handler-bind ((simple-warning #'muffle-warning)) (warn \"quiet\"))", "NIL"),
        (
            "(handler-case (signal 'simple-condition :format-control \"s\") (simple-condition (c) (simple-condition-format-control c)))",
            "\"s\"",
        ),
        ("(signal \"nobody\")", "NIL"),
        ("(restart-name (restart-case (find-restart 'r) (r () 1)))", "R"),
        ("(handler-case (invoke-restart 'nowhere) (control-error () :control))", ":CONTROL"),
        (
            "(handler-bind ((error (lambda (c) (use-value 3 c)))) (restart-case (error \"x\") (use-value (v) v)))",
            "3",
        ),
        ("(handler-bind ((error #'continue)) (cerror \"Go on.\" \"stop\") :on)", ":ON"),
        ("(list (use-value 1) (store-value 1) (continue))", "(NIL NIL NIL)"),
        ("(handler-case (muffle-warning) (control-error () :control))", ":CONTROL"),
    ]);
}

#[test]
fn evaluation() {
    check(&[
        ("(eval-when (:execute) 1 2)", "2"),
        ("(eval-when (:compile-toplevel :load-toplevel) 1)", "1"),
        ("(let ((x 1)) (eval-when (:execute) (incf x)) x)", "2"),
        ("(let ((x 1)) (eval-when (:compile-toplevel) (incf x)) x)", "1"),
        ("(let ((f (lambda () (load-time-value (list 1))))) (eq (funcall f) (funcall f)))", "T"),
        ("(load-time-value (+ 1 2) t)", "3"),
        (
            "(define-symbol-macro sm (car *l*)) (defvar *l* (list 1 2)) (setq sm 5) (list sm *l*)",
            "(5 (5 2))",
        ),
        ("(define-symbol-macro sm (car *l*)) (let ((sm 3)) sm)", "3"),
        ("(proclaim '(special pv)) (defun get-pv () pv) (let ((pv 9)) (get-pv))", "9"),
        (
            "(list (etypecase 1 (string :s) (integer :i)) (etypecase \"a\" ((or string symbol) :t)))",
            "(:I :T)",
        ),
        (
            "(handler-case (etypecase 1.0 (string 1) (symbol 2)) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))",
            "(1.0 (OR STRING SYMBOL))",
        ),
        ("(do* ((i 0 (1+ i)) (j i (* 2 i))) ((= i 3) (list i j)))", "(3 6)"),
        ("(do ((i 0 (1+ i)) (j 0 i)) ((= i 3) (list i j)))", "(3 2)"),
        ("(prog* ((a 1) (b (1+ a))) (go end) (setq a 10) end (return (list a b)))", "(1 2)"),
        ("(prog ((a 1)) (setq a 2))", "NIL"),
        ("(multiple-value-list (prog2 1 (values 2 3) 4))", "(2)"),
        ("(multiple-value-list (prog1 (values 1 2) 3))", "(1)"),
        ("(let ((a (list 1 2))) (psetf (car a) (cadr a) (cadr a) (car a)) a)", "(2 1)"),
        ("(let ((x 1) (y 2)) (list (psetf x y y x) x y))", "(NIL 2 1)"),
        ("(let (a b c) (list (multiple-value-setq (a b c) (floor 7 2)) a b c))", "(3 3 1 NIL)"),
        ("(multiple-value-list (multiple-value-setq () (values 1 2)))", "(1)"),
        (
            "(let ((x 0)) (list (multiple-value-list (multiple-value-prog1 (values 1 x) (incf x))) x))",
            "((1 0) 1)",
        ),
        ("(progv '(*a* *b*) '(1) (list (symbol-value '*a*) (boundp '*b*)))", "(1 NIL)"),
        ("(defvar *p* 1) (list (progv '(*p*) '(2) (symbol-value '*p*)) *p*)", "(2 1)"),
        ("(progv nil nil 1)", "1"),
        ("(multiple-value-list (the (values integer integer) (floor 7 2)))", "(3 1)"),
        ("(let ((l (list 1 2))) (setf (the integer (car l)) 5) l)", "(5 2)"),
        ("(locally (declare (special zz)) (setq zz 4) zz)", "4"),
        ("(multiple-value-call #'list (values 1 2) 3 (values))", "(1 2 3)"),
        ("(special-operator-p 'the)", "T"),
        ("(constantp '(quote x))", "T"),
    ]);
}

#[test]
fn types_are_checked_at_safety_three() {
    check(&[
        ("(the integer \"a\")", "\"a\""),
        ("(locally (declare (optimize (safety 3))) (the integer 1))", "1"),
        (
            "(locally (declare (optimize (safety 3))) (the integer \"a\"))",
            "test.lisp:1:1: error: the: expected integer: got \"a\"",
        ),
        (
            "(locally (declare (optimize safety)) (handler-case (the (values integer string) (values 1 2)) (type-error (c) (type-error-datum c))))",
            "2",
        ),
        (
            "(locally (declare (optimize (safety 3))) (the (values integer &optional string) (floor 7 2)))",
            "3 1",
        ),
        (
            "(locally (declare (optimize (safety 3))) (locally (declare (optimize (safety 1))) (the integer :a)))",
            ":A",
        ),
        (
            "(defun f (x &key (y 1)) (declare (optimize (safety 3)) (integer x) (type string y)) (list x y)) (f 1 :y \"a\")",
            "(1 \"a\")",
        ),
        (
            "(defun f (x) (declare (optimize (safety 3)) (type (integer 0 9) x)) x) (handler-case (f 10) (type-error (c) (list (type-error-datum c) (type-error-expected-type c))))",
            "(10 (INTEGER 0 9))",
        ),
        (
            "(defun f (x &key (y 1)) (declare (optimize (safety 3)) (fixnum x) (string y)) (list x y)) (handler-case (f 1) (type-error (c) (type-error-datum c)))",
            "1",
        ),
        ("(defun f (x) (declare (integer x)) x) (f :a)", ":A"),
        (
            "(declaim (optimize (safety 3))) (defun f (x) (declare (integer x)) x) (handler-case (f :a) (type-error () :checked))",
            ":CHECKED",
        ),
        (
            "(defstruct p a) (declaim (optimize (speed 1) (safety 3))) (defun f (x) (declare (type p x) (ignorable x)) 1) (list (f (make-p)) (handler-case (f 2) (type-error () 2)))",
            "(1 2)",
        ),
    ]);
}

#[test]
fn a_structure_with_other_slots_is_a_style_warning() {
    check(&[
        (
            "(defstruct p a) (handler-case (eval '(defstruct p a b)) (style-warning (c) (princ-to-string c)))",
            "\"defstruct: p is defined again with other slots\"",
        ),
        ("(defstruct p a) (handler-case (eval '(defstruct p a)) (style-warning () :warned))", "P"),
        ("(handler-case (defstruct p a) (style-warning () :warned))", "P"),
    ]);
}

#[test]
fn conses() {
    check(&[
        ("(sublis '((a . 1) (b . 2)) '(a (b c) . a))", "(1 (2 C) . 1)"),
        ("(sublis '((\"a\" . 1)) '(\"a\" b) :test #'equal)", "(1 B)"),
        ("(sublis '((2 . x)) '(1 (2)) :key (lambda (x) (if (integerp x) (1+ x) x)))", "(X (2))"),
        ("(nsublis '((a . 1)) (list 'a (list 'b 'a)))", "(1 (B 1))"),
        ("(subst 'x 'a '(a (b . a)))", "(X (B . X))"),
        ("(nsubst 'x 'a (list 'a (list 'a 'b)))", "(X (X B))"),
        ("(nsubst-if 0 #'stringp (list 1 \"a\" (list \"b\")))", "(1 0 (0))"),
        (
            "(nsubst-if-not 0 (lambda (x) (or (listp x) (oddp x))) (list 1 2 (list 3 4)))",
            "(1 0 (3 0))",
        ),
        ("(subst-if 'n #'numberp '(1 (a 2) . 3))", "(N (A N) . N)"),
        ("(subst-if-not 'n #'listp '(1 (a)))", "(N (N))"),
        ("(subst-if 'x #'null '(a))", "(A . X)"),
        ("(sort (nunion (list 1 2) (list 2 3)) #'<)", "(1 2 3)"),
        ("(sort (nintersection (list 1 2 3) (list 2 3 4)) #'<)", "(2 3)"),
        ("(sort (nset-difference (list 1 2 3) (list 2)) #'<)", "(1 3)"),
        ("(sort (nset-exclusive-or (list 1 2) (list 2 3)) #'<)", "(1 3)"),
        ("(member-if #'evenp '(1 2 3))", "(2 3)"),
        ("(member-if-not #'evenp '(2 3 4))", "(3 4)"),
        ("(member-if #'zerop '((1) (0)) :key #'car)", "((0))"),
        ("(assoc-if #'symbolp '((1 . a) nil (b . 2)))", "(B . 2)"),
        ("(assoc-if-not #'symbolp '((a . 1) (2 . b)))", "(2 . B)"),
        ("(rassoc-if #'oddp '((a . 2) (b . 3)))", "(B . 3)"),
        ("(rassoc-if-not #'oddp '((b . 3) (a . 2)))", "(A . 2)"),
        (
            "(let (all) (list (mapl (lambda (x y) (push (list x y) all)) '(1 2) '(3 4)) (reverse all)))",
            "((1 2) (((1 2) (3 4)) ((2) (4))))",
        ),
        ("(mapcon (lambda (x) (list (length x))) '(a b c))", "(3 2 1)"),
        ("(maplist #'identity '(1 2))", "((1 2) (2))"),
        ("(mapcan (lambda (x) (if (oddp x) (list x))) '(1 2 3))", "(1 3)"),
        (
            "(let* ((l (list 1 2 3)) (c (cddr l))) (list (tailp c l) (tailp (list 3) l) (tailp nil l) (tailp 4 '(1 . 4))))",
            "(T NIL T T)",
        ),
        ("(ldiff '(1 2 . 3) 3)", "(1 2)"),
        ("(sort (pairlis '(a b) '(1 2) '((c . 3))) #'< :key #'cdr)", "((A . 1) (B . 2) (C . 3))"),
        (
            "(let* ((a (list (cons 1 2) nil)) (b (copy-alist a))) (setf (cdr (car b)) 9) (list a b))",
            "(((1 . 2) NIL) ((1 . 9) NIL))",
        ),
        ("(get-properties '(a 1 b 2) '(b))", "B 2 (B 2)"),
        ("(acons 'a 1 nil)", "((A . 1))"),
        ("(list (revappend '(2 1) '(3)) (nreconc (list 2 1) '(3)))", "((1 2 3) (1 2 3))"),
        ("(tree-equal '(1 (2 . 3)) '(1 (2 . 3)))", "T"),
        ("(list-length '#1=(a . #1#))", "NIL"),
    ]);
}

/// Every `c[ad]{3,4}r` of a tree whose leaves say how they are reached, and its `setf`.
#[test]
fn compositions_of_car_and_cdr() {
    fn tree(path: &str) -> String {
        if path.len() == 4 {
            return format!("\"{path}\"");
        }
        format!("({} . {})", tree(&format!("a{path}")), tree(&format!("d{path}")))
    }
    let whole = tree("");
    for number in 0..16 {
        let letter = |bit: u32| if number >> bit & 1 == 0 { 'a' } else { 'd' };
        let four = (0..4).map(letter).collect::<String>();
        assert_eq!(values(&format!("(c{four}r '{whole})")), format!("\"{four}\""));
        let three = &four[1..];
        let under = if four.starts_with('a') { "car" } else { "cdr" };
        assert_eq!(values(&format!("({under} (c{three}r '{whole}))")), format!("\"{four}\""));
        let set = format!("(let ((x (copy-tree '{whole}))) (setf (c{four}r x) 1) (c{four}r x))");
        assert_eq!(values(&set), "1");
    }
}

#[test]
fn arrays() {
    check(&[
        (
            "(let ((v (make-array 2 :fill-pointer 0))) (list (vector-push 'a v) (vector-push 'b v) (vector-push 'c v) v))",
            "(0 1 NIL #(A B))",
        ),
        (
            "(let ((v (make-array 3 :fill-pointer 2 :initial-contents '(1 2 3)))) (list (vector-pop v) (fill-pointer v) v (length v)))",
            "(2 1 #(1) 1)",
        ),
        ("(handler-case (vector-pop (make-array 2 :fill-pointer 0)) (error () :empty))", ":EMPTY"),
        (
            "(let ((v (make-array 3 :fill-pointer 1 :initial-element 0))) (setf (fill-pointer v) 3) (list v (aref v 2)))",
            "(#(0 0 0) 0)",
        ),
        ("(handler-case (fill-pointer #(1 2)) (type-error () :none))", ":NONE"),
        (
            "(let ((v (make-array 1 :fill-pointer 1 :adjustable t :initial-element 1))) (list (vector-push-extend 2 v) v))",
            "(1 #(1 2))",
        ),
        (
            "(list (adjustable-array-p (make-array 2 :adjustable t)) (array-has-fill-pointer-p #(1)))",
            "(T NIL)",
        ),
        (
            "(let ((b (copy-seq #*010))) (setf (sbit b 0) 1) (list (sbit b 0) (bit b 2) b))",
            "(1 0 #*110)",
        ),
        ("(list (bit-vector-p #*01) (bit-vector-p #(0 1)) (simple-bit-vector-p #*))", "(T NIL T)"),
        ("(simple-bit-vector-p (make-array 2 :element-type 'bit :fill-pointer 1))", "NIL"),
        (
            "(list (array-row-major-index (make-array '(2 3)) 1 2) (array-row-major-index (make-array nil)))",
            "(5 0)",
        ),
        ("(handler-case (array-row-major-index (make-array '(2 3)) 2 0) (error () :out))", ":OUT"),
        ("(row-major-aref #2A((1 2) (3 4)) 2)", "3"),
        (
            "(mapcar #'upgraded-array-element-type '(bit character double-float t symbol))",
            "(BIT CHARACTER DOUBLE-FLOAT T T)",
        ),
        (
            "(list (array-in-bounds-p #(1) 0) (array-in-bounds-p #(1) 1) (array-in-bounds-p #(1) -1))",
            "(T NIL NIL)",
        ),
        (
            "(list (array-rank #2A((1))) (array-dimension #2A((1 2)) 1) (array-total-size #2A((1 2) (3 4))))",
            "(2 2 4)",
        ),
        ("(list (simple-vector-p #(1)) (simple-vector-p \"a\") (svref #(1 2) 1))", "(T NIL 2)"),
    ]);
}

#[test]
fn sequences() {
    check(&[
        (
            "(list (find-if #'evenp '(1 2 4)) (find-if #'evenp #(1 2 4) :from-end t) (find-if #'evenp '(1)))",
            "(2 4 NIL)",
        ),
        ("(find-if-not #'evenp '(2 3 5) :start 2)", "5"),
        (
            "(list (position-if #'evenp '(1 2 4)) (position-if #'evenp \"\") (position-if #'plusp #(-1 1 2) :key #'-))",
            "(1 NIL 0)",
        ),
        ("(position-if-not #'evenp '(2 3 5) :from-end t)", "2"),
        ("(delete-if #'oddp (list 1 2 3 4) :count 1 :from-end t)", "(1 2 4)"),
        ("(delete-if-not #'oddp (vector 1 2 3))", "#(1 3)"),
        ("(delete 1 (list 1 2 1) :count 1)", "(2 1)"),
        ("(substitute-if 0 #'oddp '(1 2 3))", "(0 2 0)"),
        ("(substitute-if-not 0 #'oddp #(1 2 3) :end 2)", "#(1 0 3)"),
        ("(nsubstitute #\\x #\\a (copy-seq \"banana\") :count 2)", "\"bxnxna\""),
        ("(nsubstitute-if 0 #'oddp (list 1 2 3) :from-end t :count 1)", "(1 2 0)"),
        ("(nsubstitute-if-not 0 #'oddp (vector 1 2 3))", "#(1 0 3)"),
        (
            "(list (remove-if-not #'oddp '(1 2 3)) (remove-if-not #'alpha-char-p \"a1b\"))",
            "((1 3) \"ab\")",
        ),
        ("(list (count-if-not #'oddp '(1 2 4)) (count-if #'oddp #(1 2 4)))", "(2 1)"),
        ("(delete-duplicates (list 1 2 1 3 2))", "(1 3 2)"),
        ("(delete-duplicates (list 1 2 1 3 2) :from-end t)", "(1 2 3)"),
        ("(remove-duplicates \"aAbB\" :test #'char-equal)", "\"AB\""),
        (
            "(let ((v (vector 0 0 0))) (list (eq (map-into v #'+ '(1 2) #(10 20 30)) v) v))",
            "(T #(11 22 0))",
        ),
        ("(map-into (list 1 2) (constantly 7))", "(7 7)"),
        (
            "(let ((v (make-array 3 :fill-pointer 1 :initial-element 0))) (map-into v #'1+ '(1 2 3)) v)",
            "#(2 3 4)",
        ),
        ("(mismatch \"abc\" \"abd\")", "2"),
        ("(search '(2 3) '(1 2 3 2 3) :from-end t)", "3"),
        ("(merge 'list (list 1 3) (list 2 4) #'<)", "(1 2 3 4)"),
        ("(reduce #'list '(1 2 3) :from-end t :initial-value 0)", "(1 (2 (3 0)))"),
    ]);
}

#[test]
fn loop_words() {
    check(&[
        (
            "(let ((x 0)) (loop initially (setq x 1) for i from 1 to 2 do (incf x i) finally (return x)))",
            "4",
        ),
        ("(loop for x in '(1 2) never (> x 3))", "T"),
        ("(loop for x in '(1 5) never (> x 3) finally (return :not-reached))", "NIL"),
        ("(loop for i downfrom 3 to 1 collect i)", "(3 2 1)"),
        ("(loop for i downfrom 3 above 0 by 2 collect i)", "(3 1)"),
        ("(loop for i from 3 downto 1 collect i)", "(3 2 1)"),
        ("(loop for i upfrom 1 below 3 collect i)", "(1 2)"),
        ("(loop for x in '(1 2 3) thereis (and (> x 1) (* x 10)))", "20"),
        ("(loop with a = 1 and b = 2 repeat 2 sum (+ a b))", "6"),
        ("(loop named out do (loop do (return-from out :done)))", ":DONE"),
        (
            "(loop for (a . b) in '((1 . 2) (3 . 4)) collect a maximize b into m finally (return m))",
            "4",
        ),
        ("(loop for x on '(1 2 3) by #'cddr collect (car x))", "(1 3)"),
        (
            "(loop for x in '(1 2 3) if (oddp x) collect x into o else collect x into e end finally (return (list o e)))",
            "((1 3) (2))",
        ),
    ]);
}

#[test]
fn others() {
    check(&[
        ("(probe-file \"/there/is/no/such/file\")", "NIL"),
        (
            "(defstruct p a) (let* ((x (make-p :a (list 1))) (y (copy-structure x))) (list (eq x y) (eq (p-a x) (p-a y)) (p-p y)))",
            "(NIL T T)",
        ),
        (
            "(let ((h (make-hash-table))) (setf (gethash 1 h) 2) (list (eq (clrhash h) h) (hash-table-count h)))",
            "(T 0)",
        ),
        (
            "(mapcar (lambda (test) (hash-table-test (make-hash-table :test test))) (list 'eq #'eql 'equal #'equalp))",
            "(EQ EQL EQUAL EQUALP)",
        ),
        (
            "(let ((*read-suppress* t)) (handler-case (read-from-string \"(a #<b)\") (reader-error () :error)))",
            ":ERROR",
        ),
        ("(let ((*read-suppress* t)) (values (read-from-string \"no-package:x\")))", "NIL"),
        ("(let ((*print-gensym* nil)) (prin1-to-string (make-symbol \"A\")))", "\"A\""),
        ("(let ((*print-gensym* t)) (prin1-to-string (make-symbol \"A\")))", "\"#:A\""),
        ("(= most-positive-double-float (scale-float (- 2d0 double-float-epsilon) 1023))", "T"),
        ("(= most-negative-double-float (- most-positive-double-float))", "T"),
        ("(= least-positive-normalized-double-float (scale-float 1d0 -1022))", "T"),
        ("(= least-positive-double-float (scale-float 1d0 -1074))", "T"),
        (
            "(list most-positive-single-float least-positive-normalized-single-float)",
            "(3.4028235f38 1.1754944f-38)",
        ),
        (
            "(list most-positive-short-float most-positive-long-float)",
            "(3.4028235f38 1.7976931348623157e308)",
        ),
        (
            "(list (/= 1d0 (+ 1d0 double-float-epsilon)) (= 1d0 (+ 1d0 (/ double-float-epsilon 2))))",
            "(T T)",
        ),
        (
            "(list (/= 1d0 (- 1d0 double-float-negative-epsilon)) (= 1d0 (- 1d0 (/ double-float-negative-epsilon 2))))",
            "(T T)",
        ),
        (
            "(list (/= 1f0 (+ 1f0 single-float-epsilon)) (= 1f0 (+ 1f0 (/ single-float-epsilon 2))))",
            "(T T)",
        ),
        (
            "(list (/= 1f0 (- 1f0 single-float-negative-epsilon)) (= short-float-epsilon single-float-epsilon) (= long-float-epsilon double-float-epsilon))",
            "(T T T)",
        ),
        (
            "(list (< least-negative-double-float 0) (< least-negative-normalized-single-float 0))",
            "(T T)",
        ),
        ("(apropos-list \"UNHEARD-OF-NAME\")", "NIL"),
        ("(defun zebra-crossing () 1) (apropos-list \"ZEBRA-CROSS\")", "(ZEBRA-CROSSING)"),
        ("(let ((now (get-universal-time))) (and (integerp now) (> now 3900000000)))", "T"),
        ("(subsetp '(:rung :common-lisp :ansi-cl :ieee-floating-point) *features*)", "T"),
        ("(list #+rung 1 #-rung 2 #+(and common-lisp (not clisp)) 3 #+(or) 4)", "(1 3)"),
        ("(list pi (boundp '*features*))", "(3.141592653589793 T)"),
    ]);
    assert_ne!(output("(room)"), "");
    assert!(
        output("(defun zebra-crossing () 1) (apropos \"ZEBRA-CROSS\")").contains("ZEBRA-CROSSING")
    );
}
