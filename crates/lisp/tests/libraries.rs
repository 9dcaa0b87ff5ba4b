//! What other people's libraries need: systems, streams of a program's own, and the faults that
//! loading them has shown.

mod common;

use common::{check, lisp_reading, output};

#[test]
fn nested_backquotes_splice_what_the_inner_one_unquotes() {
    check(&[
        ("(let ((names '(a b))) (eval `(let ((a 1) (b 2)) `(x ,,@names))))", "(X 1 2)"),
        ("(let ((l '('(1) '(2)))) (eval ``(,@,(car l) ,@(list ,@l))))", "(1 (1) (2))"),
        ("`(1 ``,,@,@(list (+ 1 2)))", "(1 ``,,@3)"),
    ]);
}

#[test]
fn the_body_of_dolist_and_dotimes_may_declare() {
    check(&[
        ("(let ((s 0)) (dolist (x '(1 2) s) (declare (fixnum x)) (incf s x)))", "3"),
        ("(let ((s 0)) (dotimes (i 3 s) (declare (type fixnum i)) (incf s i)))", "3"),
    ]);
}

#[test]
fn the_forms_of_a_loop_clause_do_not_see_its_variables() {
    check(&[
        ("(let ((forms '(1 2))) (loop for forms on forms collect (car forms)))", "(1 2)"),
        ("(let ((n 3)) (loop for n below n collect n))", "(0 1 2)"),
        ("(let ((end nil)) (loop with end = (or end 5) return end))", "5"),
        ("(loop with x = 1 and y = 2 with z = (+ x y) return (list x y z))", "(1 2 3)"),
        ("(loop for i from 1 to 3 and j = 0 then i collect (list i j))", "((1 0) (2 1) (3 2))"),
        ("(loop with n fixnum return n)", "0"),
    ]);
}

#[test]
fn a_local_macro_sees_the_local_macros_around_it() {
    check(&[
        ("(macrolet ((one () 1)) (macrolet ((two () (+ 1 (one)))) (two)))", "2"),
        (
            "(defmacro kind (name &environment e) (if (macro-function name e) :macro :other))
             (list (kind foo) (macrolet ((foo () 1)) (kind foo)) (flet ((when () 1)) (kind when)))",
            "(:OTHER :MACRO :OTHER)",
        ),
    ]);
}

#[test]
fn setf_of_apply_and_functions_named_by_setf() {
    check(&[
        ("(let ((v (vector 1 2))) (setf (apply #'aref v '(1)) 9) v)", "#(1 9)"),
        (
            "(let ((l (list 1 2))) (funcall #'(setf car) 5 l) (funcall #'(setf second) 6 l) l)",
            "(5 6)",
        ),
        ("(let ((h (make-hash-table))) (funcall #'(setf gethash) 1 'a h) (gethash 'a h))", "1 T"),
    ]);
}

#[test]
fn sequences_as_the_standard_says() {
    check(&[
        ("(every #'member '(1) '((1 2)))", "T"),
        ("(let* ((x (list 1 2 3)) (y x)) (delete 2 x) y)", "(1 3)"),
        ("(let ((c (list 1 2))) (nconc c c) (third c))", "1"),
        ("(multiple-value-list (subtypep '(and symbol list) 'null))", "(T T)"),
        ("(list #\\Sub #\\Nul #\\Bel)", "(#\\U+001A #\\Null #\\U+0007)"),
    ]);
}

#[test]
fn a_system_is_loaded_once_with_what_it_depends_on() {
    let folder = std::env::temp_dir().join(format!("rung-systems-{}", std::process::id()));
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write(
        "upper.asd",
        "(defsystem \"upper\" :version \"1.2\" :depends-on (\"lower\") :serial t
           :components ((:file \"a\") (:module \"sub\" :components ((:file \"c\" :depends-on (\"b\"))
                                                                 (:file \"b\")))
                        (:file \"never\" :if-feature :no-such-feature))
           :in-order-to ((test-op (test-op \"upper/test\"))))
         (defsystem \"upper/test\" :depends-on (:upper)
           :perform (test-op (o c) (format t \"tested ~a~%\" (component-name c))))",
    );
    write("lower.asd", "(defsystem :lower :pathname \"src\" :components ((:file \"x\")))");
    write("src/x.lisp", "(format t \"x~%\")");
    write("a.lisp", "(format t \"a~%\")");
    write("sub/b.lisp", "(format t \"b~%\")");
    write("sub/c.lisp", "(format t \"c~%\")");
    let text = format!(
        "(push {:?} asdf:*central-registry*)
         (asdf:load-system \"upper\")
         (asdf:load-system \"upper\")
         (require \"lower\")
         (print (asdf:component-version (asdf:find-system :upper)))
         (terpri)
         (asdf:test-system \"upper\")",
        folder.display().to_string()
    );
    let expected = "x\na\nb\nc\n\n\"1.2\" \ntested upper/test\n";
    assert_eq!(output(&text), expected);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_system_that_is_nowhere_says_where_it_was_looked_for() {
    let (mut lisp, ..) = lisp_reading("");
    let ended = lisp.eval_text("test.lisp", "(asdf:load-system \"no-such-system\")").unwrap_err();
    let text = ended.short();
    assert!(text.contains("system \"no-such-system\" not found; looked in: "), "{text}");
}

#[test]
fn a_circular_form_is_an_error_and_not_without_end() {
    let error = "error: a form must be a proper list: got a circular one";
    check(&[
        ("#.#1=(list . #1#)", &format!("test.lisp:1:6: {error}")),
        ("(eval '#1=(let . #1#))", &format!("test.lisp:1:11: {error}")),
        ("(eval '#1=(cond . #1#))", &format!("test.lisp:1:11: {error}")),
        ("(eval '(let #1=((x 1) . #1#) x))", &format!("test.lisp:1:8: {error}")),
        ("`#1=(a . #1#)", &format!("test.lisp:1:1: {error}")),
        ("`(a #1=(b . #1#))", &format!("test.lisp:1:1: {error}")),
        ("(car '#1=(a . #1#))", "A"),
    ]);
}

#[test]
fn a_program_may_define_streams() {
    check(&[
        (
            "(defclass shout (trivial-gray-streams:fundamental-character-output-stream)
               ((text :initform nil :accessor text)))
             (defmethod trivial-gray-streams:stream-write-char ((s shout) c)
               (push (char-upcase c) (text s)))
             (defmethod trivial-gray-streams:stream-line-column ((s shout)) nil)
             (let ((s (make-instance 'shout)))
               (format s \"~a ~d\" 'abc 12)
               (write-string \"xyz\" s :start 1)
               (list (coerce (reverse (text s)) 'string) (streamp s) (output-stream-p s)
                     (input-stream-p s) (typep s 'stream)))",
            "(\"ABC 12YZ\" T T NIL T)",
        ),
        (
            "(defclass letters (trivial-gray-streams:fundamental-character-input-stream)
               ((left :initform (list #\\( #\\a #\\) #\\b) :accessor left)))
             (defmethod trivial-gray-streams:stream-read-char ((s letters))
               (if (left s) (pop (left s)) :eof))
             (defmethod trivial-gray-streams:stream-unread-char ((s letters) c)
               (push c (left s)))
             (let ((s (make-instance 'letters)))
               (list (read s) (peek-char nil s) (read-line s) (read-char s nil :end)))",
            "((A) #\\b \"b\" :END)",
        ),
    ]);
}

#[test]
fn the_compiler_warns_of_what_will_fail_and_of_what_is_not_used() {
    let warned = |text: &str| {
        let (mut lisp, _, errors) = lisp_reading("");
        lisp.load_source("prog.lisp", text).unwrap();
        errors.text()
    };
    assert_eq!(
        warned("(defun f (x) (lenght x))\n(defun g () (f 1 2))\n(defun h () *no-such*)"),
        "warning: the function lenght is undefined\n  --> prog.lisp:1:14\n  hint: did you mean \
         length\n\
         warning: f is called with 2 arguments, and takes 1\n  --> prog.lisp:2:13\n\
         warning: the variable *no-such* is undefined\n  --> prog.lisp:3:1\n"
    );
    assert_eq!(
        warned("(defun f (x y) x)"),
        "warning: the variable y is never used\n  --> prog.lisp:1:1\n  hint: (declare (ignore \
         ...)) says that it is meant\n"
    );
    // Defined later, declared, assigned, or made by a macro.
    let quiet = "(defun f (x) (g x))\n(defun g (x y) (declare (ignore y)) x)\n\
                 (defun g (x) x)\n(defvar *later*)\n(loop for i below 2 do (f 1))\n\
                 (dotimes (i 2) (f 1))\n(defmethod m ((x integer)) 1)\n(setq top 1)\n(print top)";
    assert_eq!(warned(quiet), "");
}

#[test]
fn a_notinline_declaration_keeps_the_call() {
    let define = "(defun f () 1) (define-compiler-macro f () 2)";
    check(&[
        (&format!("{define} (list (f) (locally (declare (notinline f)) (f)))"), "(2 1)"),
        (&format!("{define} (declaim (notinline f)) (f)"), "1"),
        (
            &format!("{define} (declaim (notinline f)) (let () (declare (inline f)) (list (f)))"),
            "(2)",
        ),
    ]);
}

#[test]
fn a_method_combination_in_the_long_form_calls_methods_by_its_own_form() {
    check(&[
        (
            "(define-method-combination sums ()
               ((first (:first)) (others () :order :most-specific-last :required t))
               `(list ,@(mapcar (lambda (m) `(call-method ,m)) first)
                      (+ ,@(mapcar (lambda (m) `(call-method ,m)) others))))
             (defgeneric f (x) (:method-combination sums))
             (defmethod f ((x integer)) 1)
             (defmethod f ((x number)) 10)
             (defmethod f :first ((x t)) :any)
             (f 5)",
            "(:ANY 11)",
        ),
        (
            "(define-method-combination mine ()
               ((around (:around)) (primary () :required t))
               (let ((form `(call-method ,(first primary) ,(rest primary))))
                 (if around
                     `(call-method ,(first around) (,@(rest around) (make-method ,form)))
                     form)))
             (defgeneric g (x &optional y) (:method-combination mine))
             (defmethod g (x &optional y) (list x y))
             (defmethod g ((x integer) &optional y) (cons y (call-next-method)))
             (defmethod g :around ((x number) &optional y) (vector y (call-next-method)))
             (g 1 2)",
            "#(2 (2 1 2))",
        ),
        (
            "(define-method-combination with-name (&optional (kind :plain)) ((all *))
               (:arguments a)
               `(list ,kind ,a (call-method ,(first all) ,(rest all))))
             (defgeneric h (x) (:method-combination with-name :special))
             (defmethod h (x) (* 2 x))
             (h 4)",
            "(:SPECIAL 4 8)",
        ),
    ]);
}

#[test]
fn tests_of_a_program_are_counted_and_reported() {
    let text = "(test:deftest good (test:is (= 1 1)) (test:is-near 1.05 1 0.1)
                  (test:is-error type-error (car 5)))
                (test:deftest bad (test:is (= 1 2)) (test:is-equal (list 1) '(2)))
                (test:deftest later (test:skip \"no\"))
                (test::%run-all nil)";
    let expected = "  ok    good\n  FAIL  bad\n        (= 1 2) is false: 1, 2\n          \
                    --> test.lisp:3:35\n        (LIST 1) is (1), not (2)\n          --> \
                    test.lisp:3:53\n  skip  later: no\n#counts 1 1 1\n";
    assert_eq!(output(text), expected);
}
