//! Generic functions: which methods run, in which order, and what goes wrong.

mod common;

use common::{check, failure, output, values};

#[test]
fn the_most_specific_method_runs() {
    check(&[
        (
            "(defgeneric f (x)) (defmethod f ((x number)) :number) (defmethod f ((x integer)) :integer) (defmethod f (x) :any) (list (f 1) (f 1.5) (f 1/2) (f 'a))",
            "(:INTEGER :NUMBER :NUMBER :ANY)",
        ),
        (
            "(defmethod f ((x (eql 1))) :one) (defmethod f ((x fixnum)) :fixnum) (defmethod f ((x (eql 'a))) :a) (defmethod f ((x symbol)) :symbol) (list (f 1) (f 2) (f 'a) (f 'b) (f nil))",
            "(:ONE :FIXNUM :A :SYMBOL :SYMBOL)",
        ),
        (
            "(defmethod f ((x list)) :list) (defmethod f ((x null)) :null) (defmethod f ((x symbol)) :symbol) (list (f '(1)) (f nil) (f 'a))",
            "(:LIST :NULL :SYMBOL)",
        ),
        (
            "(defmethod f ((x string)) :string) (defmethod f ((x vector)) :vector) (defmethod f ((x array)) :array) (defmethod f ((x sequence)) :sequence) (mapcar #'f (list \"a\" #(1) #d(1 2) #d((1) (2)) '(1) #*01))",
            "(:STRING :VECTOR :VECTOR :ARRAY :SEQUENCE :VECTOR)",
        ),
        (
            "(defmethod f ((x function)) :function) (defmethod f ((x generic-function)) :generic) (defmethod f ((x hash-table)) :table) (defmethod f ((x package)) :package) (defmethod f ((x pathname)) :path) (defmethod f ((x stream)) :stream) (defmethod f ((x character)) :character) (defmethod f ((x class)) :class) (mapcar #'f (list #'car #'f (make-hash-table) *package* #p\"a\" *standard-output* #\\a (find-class 't)))",
            "(:FUNCTION :GENERIC :TABLE :PACKAGE :PATH :STREAM :CHARACTER :CLASS)",
        ),
        (
            "(defmethod f ((x integer) (y number)) 1) (defmethod f ((x number) (y integer)) 2) (list (f 1 1) (f 1 1.0) (f 1.0 1))",
            "(1 1 2)",
        ),
        (
            "(defgeneric f (x y) (:argument-precedence-order y x)) (defmethod f ((x integer) (y number)) 1) (defmethod f ((x number) (y integer)) 2) (list (f 1 1) (f 1 1.0) (f 1.0 1))",
            "(2 1 2)",
        ),
        (
            "(let ((x (list 1))) (defmethod f ((y (eql x))) :it) (defmethod f (y) :other) (list (f x) (f (list 1))))",
            "(:IT :OTHER)",
        ),
        (
            "(defmethod (setf half) (new (x cons)) (setf (car x) new)) (let ((c (list 1 2))) (setf (half c) 9) (incf (car c)) c)",
            "(10 2)",
        ),
        ("(defmethod f () :none) (f)", ":NONE"),
        (
            "(defmethod f ((x integer) &optional (y 2) &key (z 3)) (list x y z)) (list (f 1) (f 1 5) (f 1 5 :z 6))",
            "((1 2 3) (1 5 3) (1 5 6))",
        ),
        (
            "(defmethod f ((x integer) &rest r) (cons x r)) (list (f 1) (f 1 2 3) (apply #'f '(4 5)))",
            "((1) (1 2 3) (4 5))",
        ),
        (
            "(defmethod f ((x integer)) (return-from f (values x 2))) (multiple-value-list (f 1))",
            "(1 2)",
        ),
        (
            "(defmethod f ((x integer)) \"Doc.\" (declare (ignorable x)) 1) (list (f 1) (documentation (find-method #'f nil '(integer)) t))",
            "(1 \"Doc.\")",
        ),
        (
            "(defgeneric f (x) (:documentation \"What f does.\")) (list (documentation 'f 'function) (documentation #'f t))",
            "(\"What f does.\" \"What f does.\")",
        ),
        ("(defmethod f ((n integer)) (if (= n 0) :done (f (- n 1)))) (f 300000)", ":DONE"),
        ("(defmethod f ((n integer)) (if (= n 0) 0 (+ 1 (f (- n 1))))) (f 50000)", "50000"),
        (
            "(defmethod f ((n integer)) (+ 1 (f n))) (handler-case (f 1) (storage-condition () :deep))",
            ":DEEP",
        ),
    ]);
}

#[test]
fn methods_before_after_and_around() {
    let log = "(defvar *log* nil) (defclass a () ()) (defclass b (a) ()) \
               (defmacro note (q class) `(defmethod f ,@(when q (list q)) ((x ,class)) (push '(,(or q :primary) ,class) *log*) ,(if (member q '(:around nil)) '(when (next-method-p) (call-next-method)) nil) ',class)) ";
    let each = "(note :before a) (note :before b) (note :after a) (note :after b) (note :around a) (note :around b) (note nil a) (note nil b) ";
    check(&[
        (
            &format!("{log}{each}(f (make-instance 'b)) (reverse *log*)"),
            "((:AROUND B) (:AROUND A) (:BEFORE B) (:BEFORE A) (:PRIMARY B) (:PRIMARY A) (:AFTER A) (:AFTER B))",
        ),
        (
            &format!("{log}{each}(f (make-instance 'a)) (reverse *log*)"),
            "((:AROUND A) (:BEFORE A) (:PRIMARY A) (:AFTER A))",
        ),
        (
            &format!("{log}(note :before a) (note nil b) (f (make-instance 'a))"),
            "test.lisp:1:290: error: f: there is no primary method for (a)",
        ),
        (
            "(defmethod f ((x integer)) (values 1 2)) (defmethod f :after ((x integer)) 5) (multiple-value-list (f 1))",
            "(1 2)",
        ),
        (
            "(defmethod f ((x integer) &key y) (list x y)) (defmethod f :before ((x integer) &key z) z) (list (f 1 :y 2) (f 1 :z 3))",
            "((1 2) (1 NIL))",
        ),
        (
            "(defmethod f :around ((x integer)) (if (> x 3) :large (call-next-method))) (defmethod f ((x integer)) :small) (list (f 1) (f 5))",
            "(:SMALL :LARGE)",
        ),
    ]);
}

#[test]
fn the_next_method_gets_what_came_or_what_is_given() {
    check(&[
        (
            "(defmethod f ((x integer)) (list :integer (call-next-method))) (defmethod f ((x number)) (list :number x)) (f 1)",
            "(:INTEGER (:NUMBER 1))",
        ),
        (
            "(defmethod f ((x integer)) (call-next-method (* x 10))) (defmethod f ((x number)) (list :number x)) (f 1)",
            "(:NUMBER 10)",
        ),
        (
            "(defmethod f ((x integer)) (setq x 99) (call-next-method)) (defmethod f ((x number)) (list :number x)) (f 1)",
            "(:NUMBER 1)",
        ),
        (
            "(defmethod f ((x integer) &optional (y 5 given) z) (list y given z (call-next-method))) (defmethod f ((x number) &optional (y 7) (z 8)) (list x y z)) (list (f 1) (f 1 2) (f 1 2 3))",
            "((5 NIL NIL (1 7 8)) (2 T NIL (1 2 8)) (2 T 3 (1 2 3)))",
        ),
        (
            "(defmethod f ((x integer) &key (a 1)) (cons a (call-next-method))) (defmethod f ((x number) &key (b 2)) (list x b)) (list (f 1) (f 1 :a 5 :b 6))",
            "((1 1 2) (5 1 6))",
        ),
        (
            "(defmethod f ((x integer) &rest more) (cons more (call-next-method))) (defmethod f ((x number) &rest more) (list x more)) (f 1 2 3)",
            "((2 3) 1 (2 3))",
        ),
        (
            "(defmethod f ((x integer)) (mapcar #'call-next-method (list x 20))) (defmethod f ((x number)) (* 2 x)) (f 1)",
            "(2 40)",
        ),
        (
            "(defmethod f ((x integer)) (let ((next #'call-next-method)) (funcall next))) (defmethod f ((x number)) (* 2 x)) (f 4)",
            "8",
        ),
        (
            "(defmethod f ((x integer)) (list (next-method-p) (funcall #'next-method-p))) (defmethod f ((x fixnum)) (list* (next-method-p) (call-next-method))) (f 4)",
            "(T NIL NIL)",
        ),
        (
            "(defmacro again () '(call-next-method)) (defmethod f ((x integer)) (again)) (defmethod f ((x number)) (list x)) (f 4)",
            "(4)",
        ),
        (
            "(defmethod f ((x integer)) (lambda () (call-next-method))) (defmethod f ((x number)) (list x)) (funcall (f 4))",
            "(4)",
        ),
        (
            "(defmethod f ((x integer)) (call-next-method)) (f 1)",
            "test.lisp:1:28: error: f: call-next-method: nothing comes after the method (integer)",
        ),
        (
            "(defmethod f ((x integer)) (call-next-method)) (handler-case (f 1) (rung:no-next-method-error () :none))",
            ":NONE",
        ),
        (
            "(defmethod f ((x integer)) (call-next-method)) (defmethod no-next-method ((g (eql #'f)) m &rest args) (cons :next args)) (f 1)",
            "(:NEXT 1)",
        ),
        (
            "(defmethod f ((x integer)) x) (defmethod no-applicable-method ((g (eql #'f)) &rest args) (values :no args)) (multiple-value-list (f 'a))",
            "(:NO (A))",
        ),
        (
            "(call-next-method)",
            "test.lisp:1:1: error: call-next-method: this is not inside a method",
        ),
        (
            "(defun g () (next-method-p))",
            "test.lisp:1:13: error: next-method-p: this is not inside a method",
        ),
        (
            "(defmethod f ((x integer)) (flet ((call-next-method () :mine)) (call-next-method))) (f 1)",
            ":MINE",
        ),
        (
            "(defmethod f ((x integer)) (defmethod g ((y integer)) (list :g (call-next-method))) (list (g 1) (call-next-method))) (defmethod f ((x number)) :f) (defmethod g ((y number)) :number) (f 1)",
            "((:G :NUMBER) :F)",
        ),
    ]);
}

#[test]
fn methods_are_combined_by_an_operator() {
    let three = |combination: &str, values: [&str; 3]| {
        let [a, b, c] = values;
        let name = combination.trim_matches(['(', ')']).split(' ').next().unwrap_or_default();
        format!(
            "(defgeneric f (x) (:method-combination {combination})) \
             (defmethod f {name} ((x fixnum)) {a}) (defmethod f {name} ((x integer)) {b}) \
             (defmethod f {name} ((x number)) {c}) (list (f 1) (f 1.0))"
        )
    };
    check(&[
        (&three("+", ["1", "10", "100"]), "(111 100)"),
        (&three("list", ["1", "2", "3"]), "((1 2 3) (3))"),
        (&three("append", ["(list 1)", "(list 2)", "(list 3)"]), "((1 2 3) (3))"),
        (&three("nconc", ["(list 1)", "(list 2)", "(list 3)"]), "((1 2 3) (3))"),
        (&three("max", ["1", "7", "3"]), "(7 3)"),
        (&three("min", ["4", "7", "3.0"]), "(3.0 3.0)"),
        (
            &three("and", ["1", "nil", "(error \"not here\")"])
                .replace("(list (f 1) (f 1.0))", "(f 1)"),
            "NIL",
        ),
        (
            &three("or", ["nil", "2", "(error \"not here\")"])
                .replace("(list (f 1) (f 1.0))", "(f 1)"),
            "2",
        ),
        (&three("progn", ["1", "2", "3"]), "(3 3)"),
        (&three("list :most-specific-last", ["1", "2", "3"]), "((3 2 1) (3))"),
        (
            "(defgeneric f (x) (:method-combination +)) (defmethod f + ((x integer)) x) (defmethod f :around ((x integer)) (list (call-next-method))) (f 4)",
            "(4)",
        ),
        (
            "(define-method-combination string-parts :operator concatenate-all :identity-with-one-argument t) (defun concatenate-all (&rest s) (apply #'concatenate 'string s)) (defgeneric f (x) (:method-combination string-parts)) (defmethod f string-parts ((x integer)) \"integer \") (defmethod f string-parts ((x number)) \"number\") (list (f 1) (f 1.0))",
            "(\"integer number\" \"number\")",
        ),
        (
            "(defgeneric f (x &optional y &key z) (:method-combination list)) (defmethod f list ((x integer) &optional y &key z) (list :i y z)) (defmethod f list ((x number) &optional y &key z) (list :n y z)) (f 1 2 :z 3)",
            "((:I 2 3) (:N 2 3))",
        ),
        (
            "(defgeneric f (x) (:method-combination standard)) (defmethod f ((x integer)) x) (f 1)",
            "1",
        ),
        (
            "(defgeneric f (x) (:method-combination times))",
            "test.lisp:1:1: error: there is no method combination times",
        ),
        (
            "(defgeneric f (x) (:method-combination +)) (defmethod f ((x integer)) x) (f 1)",
            "test.lisp:1:74: error: f: a method with the qualifiers nil has no place in the method combination +",
        ),
        (
            "(defmethod f :arround ((x integer)) x) (f 1)",
            "test.lisp:1:40: error: f: a method with the qualifiers (:arround) has no place in the method combination standard",
        ),
    ]);
}

#[test]
fn lambda_lists_must_be_congruent() {
    check(&[
        (
            "(defgeneric f (x)) (defmethod f ((x integer) y) x)",
            "test.lisp:1:20: error: f: the method does not fit: the generic function has 1 required parameter, the method has 2",
        ),
        (
            "(defgeneric f (x &optional y)) (defmethod f ((x integer)) x)",
            "test.lisp:1:32: error: f: the method does not fit: the generic function has 1 optional parameter, the method has 0",
        ),
        (
            "(defgeneric f (x)) (defmethod f ((x integer) &key y) y)",
            "test.lisp:1:20: error: f: the method does not fit: the method has &rest or &key, the generic function has not",
        ),
        (
            "(defgeneric f (x &key)) (defmethod f ((x integer)) x)",
            "test.lisp:1:25: error: f: the method does not fit: the generic function has &rest or &key, the method has not",
        ),
        (
            "(defgeneric f (x &key depth)) (defmethod f ((x integer) &key) x)",
            "test.lisp:1:31: error: f: the method does not fit: the generic function has the keyword :depth",
        ),
        (
            "(defgeneric f (x &key depth)) (defmethod f ((x integer) &rest r) r) (f 1 :depth 2)",
            "(:DEPTH 2)",
        ),
        (
            "(defmethod f ((x integer)) x) (defgeneric f (x y))",
            "test.lisp:1:31: error: defgeneric: f: its methods do not fit: the generic function has 2 required parameters, the method has 1",
        ),
        (
            "(defmethod f ((x integer) &key a) a) (f 1 :b 2)",
            "test.lisp:1:38: error: f: :b is none of its keywords (:a)",
        ),
        (
            "(defmethod f ((x integer) &key a) a) (defmethod f ((x fixnum) &key b) b) (list (f 1 :a 1 :b 2) (f (expt 10 30) :a 4))",
            "(2 4)",
        ),
        ("(defmethod f ((x integer) &key a) a) (f 1 :b 2 :allow-other-keys t)", "NIL"),
        (
            "(defmethod f ((x integer) &key a) a) (f 1 :a)",
            "test.lisp:1:38: error: f: Odd number of keyword arguments",
        ),
        (
            "(defmethod f ((x integer)) x) (f 1 2)",
            "test.lisp:1:31: error: f: expected 1 argument: got 2",
        ),
        (
            "(defmethod f ((x integer) y) x) (f 1)",
            "test.lisp:1:33: error: f: expected 2 arguments: got 1",
        ),
        (
            "(defmethod f ((x nothing)) x)",
            "test.lisp:1:1: error: defmethod: there is no class nothing",
        ),
        (
            "(defmethod f ((x (or integer string))) x)",
            "test.lisp:1:1: error: defmethod: (or integer string) is no class and no (eql value)",
        ),
        (
            "(defgeneric f (x y) (:argument-precedence-order y))",
            "test.lisp:1:1: error: defgeneric: :argument-precedence-order names each required parameter once: expected the names of (x y): got (y)",
        ),
        (
            "(defgeneric car (x))",
            "test.lisp:1:1: error: car is a name of the locked package common-lisp",
        ),
        (
            "(defmethod car ((x integer)) x)",
            "test.lisp:1:1: error: car is a name of the locked package common-lisp",
        ),
        (
            "(defgeneric print-object (x y))",
            "test.lisp:1:1: error: print-object is a name of the locked package common-lisp",
        ),
        (
            "(defmacro m (x) x) (defmethod m ((x integer)) x)",
            "test.lisp:1:20: error: m is a macro, not a generic function",
        ),
        (
            "(defgeneric f (x) (:colour red))",
            "test.lisp:1:1: error: defgeneric: f has no option (:colour red)",
        ),
    ]);
}

#[test]
fn methods_come_and_go() {
    check(&[
        ("(defmethod f ((x integer)) 1) (f 1) (defmethod f ((x fixnum)) 2) (f 1)", "2"),
        (
            "(defmethod f ((x integer)) 1) (f 1) (defmethod f ((x integer)) 2) (list (f 1) (length (compute-applicable-methods #'f '(1))))",
            "(2 1)",
        ),
        (
            "(defmethod f ((x integer)) 1) (defmethod f ((x number)) 2) (remove-method #'f (find-method #'f nil (list (find-class 'integer)))) (f 1)",
            "2",
        ),
        (
            "(defmethod f ((x (eql 1))) 1) (defmethod f ((x number)) 2) (f 1) (remove-method #'f (find-method #'f nil '((eql 1)))) (f 1)",
            "2",
        ),
        (
            "(defmethod f ((x integer)) 1) (find-method #'f nil '(symbol))",
            "test.lisp:1:31: error: find-method: f has no method (symbol)",
        ),
        ("(defmethod f ((x integer)) 1) (find-method #'f nil '(symbol) nil)", "NIL"),
        (
            "(defmethod f :before ((x integer)) 1) (mapcar #'method-qualifiers (compute-applicable-methods #'f '(1)))",
            "((:BEFORE))",
        ),
        (
            "(defmethod f ((x integer)) 1) (defmethod f (x) 2) (compute-applicable-methods #'f '(1))",
            "(#<STANDARD-METHOD F (INTEGER)> #<STANDARD-METHOD F (T)>)",
        ),
        (
            "(defgeneric f (x) (:method ((x integer)) 1) (:method ((x symbol)) 2)) (defmethod f ((x string)) 3) (defgeneric f (x) (:method ((x symbol)) 4)) (list (f 'a) (f \"s\") (handler-case (f 1) (error () :none)))",
            "(4 3 :NONE)",
        ),
        (
            "(let ((m (defmethod f ((x integer)) 1))) (remove-method #'f m) (add-method #'f m) (f 1))",
            "1",
        ),
        (
            "(defmethod f ((x integer) &key a b) (list a b)) (multiple-value-list (function-keywords (find-method #'f nil '(integer))))",
            "((:A :B) NIL)",
        ),
        (
            "(ensure-generic-function 'f :lambda-list '(x y)) (defmethod f (x y) (+ x y)) (f 1 2)",
            "3",
        ),
        (
            "(ensure-generic-function 'car)",
            "test.lisp:1:1: error: car is a name of the locked package common-lisp",
        ),
        (
            "(defgeneric f (x)) (f 1)",
            "test.lisp:1:20: error: f: no method applies to (fixnum): it has none",
        ),
        (
            "(list (functionp #'print-object) (typep #'print-object 'generic-function) (typep #'car 'generic-function) (fboundp 'make-instance))",
            "(T T NIL T)",
        ),
        ("(defgeneric f (x)) (rung:function-lambda-list #'f)", "(X)"),
        (
            "(defgeneric (setf g) (new x)) (list #'(setf g) (fboundp '(setf g)) (fdefinition '(setf g)))",
            "(#<STANDARD-GENERIC-FUNCTION (SETF G)> T #<STANDARD-GENERIC-FUNCTION (SETF G)>)",
        ),
        ("(defmethod f ((x integer)) 1) (flet ((f (x) (list x))) (f 1))", "(1)"),
        ("(trace f) 1", "test.lisp:1:1: error: the function f is undefined"),
    ]);
    let seven = "(dolist (c '(integer symbol string character cons hash-table package)) (eval `(defmethod f ((x ,c)) 1))) (f 1.5)";
    assert_eq!(
        failure(seven).text,
        "f: no method applies to (double-float): it has methods for (integer) (symbol) (string) (character) (cons) (hash-table) ..."
    );
}

#[test]
fn ten_thousand_methods_are_told_apart() {
    let by_value = "(dotimes (i 10000) (eval `(defmethod f ((x (eql ,i))) ,(* 2 i)))) \
                    (let ((sum 0)) (dotimes (k 2) (dotimes (i 10000) (incf sum (f i)))) sum)";
    assert_eq!(values(by_value), "199980000");
    let by_class = "(defclass base () ()) (defmethod f ((x base)) -1) \
                    (dotimes (i 1000) (let ((c (intern (format nil \"C~D\" i)))) \
                      (eval `(defclass ,c (base) ())) (eval `(defmethod f ((x ,c)) (list ,i (call-next-method)))))) \
                    (let ((sum 0)) (dotimes (k 2) (dotimes (i 1000) \
                      (incf sum (first (f (make-instance (intern (format nil \"C~D\" i)))))))) sum)";
    assert_eq!(values(by_class), "999000");
}

#[test]
fn methods_print_where_they_stand_in_a_backtrace() {
    assert_eq!(
        failure("(defmethod f ((x integer)) (+ 1 (g x))) (defmethod g (x) (+ 1 (car x))) (f 1)")
            .backtrace,
        ["(g (t)) test.lisp:1:63", "(f (integer)) test.lisp:1:33"]
    );
    assert_eq!(
        output("(defgeneric f (a &key b) (:documentation \"Adds.\")) (describe 'f)"),
        "F is a symbol\n  function of (a &key b)\n  Adds.\n"
    );
}
