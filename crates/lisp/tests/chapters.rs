//! Operators by chapter that came after the first slice: what each gives, and its errors. The
//! results were compared with CLISP's where both say the same.

mod common;

use common::{check, output, values};

#[test]
fn bit_arrays_element_by_element() {
    check(&[
        ("(list (bit-and #*1100 #*1010) (bit-ior #*1100 #*1010))", "(#*1000 #*1110)"),
        ("(list (bit-xor #*1100 #*1010) (bit-eqv #*1100 #*1010))", "(#*0110 #*1001)"),
        ("(list (bit-nand #*1100 #*1010) (bit-nor #*1100 #*1010))", "(#*0111 #*0001)"),
        ("(list (bit-andc1 #*1100 #*1010) (bit-andc2 #*1100 #*1010))", "(#*0010 #*0100)"),
        ("(list (bit-orc1 #*1100 #*1010) (bit-orc2 #*1100 #*1010))", "(#*1011 #*1101)"),
        (
            "(let ((a (copy-seq #*1100))) (list (bit-not a) a (eq a (bit-not a t)) a))",
            "(#*0011 #*0011 T #*0011)",
        ),
        ("(let ((r (copy-seq #*0000))) (bit-and #*1010 #*0110 r) r)", "#*0010"),
        ("(handler-case (bit-and #*1 #*11) (error () :dimensions))", ":DIMENSIONS"),
        ("(handler-case (bit-and #(1) #*1) (type-error () :type))", ":TYPE"),
    ]);
}

#[test]
fn boole_and_fields_of_integers() {
    check(&[
        (
            "(mapcar (lambda (op) (boole op #b1100 #b1010)) (list boole-clr boole-set boole-1 \
             boole-2 boole-c1 boole-c2 boole-and boole-ior boole-xor boole-eqv boole-nand boole-nor \
             boole-andc1 boole-andc2 boole-orc1 boole-orc2))",
            "(0 -1 12 10 -13 -11 8 14 6 -7 -9 -15 2 4 -5 -3)",
        ),
        ("(handler-case (boole 99 1 1) (type-error (c) (type-error-datum c)))", "99"),
        ("(mask-field (byte 4 2) #b11111111)", "60"),
        ("(deposit-field #b101010 (byte 3 2) #b11111111)", "235"),
        ("(constantp 'boole-and)", "T"),
    ]);
}

#[test]
fn times_are_decoded_and_encoded() {
    check(&[
        ("(multiple-value-list (decode-universal-time 0))", "(0 0 0 1 1 1900 0 NIL 0)"),
        (
            "(multiple-value-list (decode-universal-time 3923678400 5))",
            "(0 40 17 2 5 2024 3 NIL 5)",
        ),
        (
            "(multiple-value-list (decode-universal-time 5000000000 -5/2))",
            "(20 23 11 11 6 2058 1 NIL -5/2)",
        ),
        ("(encode-universal-time 59 59 23 29 2 2000 0)", "3160857599"),
        ("(encode-universal-time 1 2 3 4 5 2024 -1)", "3923776921"),
        ("(= (encode-universal-time 0 0 0 1 1 99) (encode-universal-time 0 0 0 1 1 1999))", "T"),
        (
            "(handler-case (encode-universal-time 0 0 0 30 2 2000) (type-error (c) (type-error-datum c)))",
            "30",
        ),
        ("(length (multiple-value-list (get-decoded-time)))", "9"),
    ]);
}

#[test]
fn questions_are_asked_until_they_are_answered() {
    let form = |call: &str, answers: &str| {
        format!(
            "(let ((*query-io* (make-two-way-stream (make-string-input-stream \"{answers}\") \
             *standard-output*))) (print {call}))"
        )
    };
    assert_eq!(output(&form("(y-or-n-p \"Go ~A?\" 1)", "y\n")), "Go 1? (y or n) \nT ");
    assert_eq!(
        output(&form("(yes-or-no-p)", "what\nno\n")),
        " (yes or no) Please answer with yes or no. (yes or no) \nNIL "
    );
}

#[test]
fn iterators_of_tables_and_packages() {
    check(&[
        (
            "(let ((h (make-hash-table)) (l nil)) (setf (gethash 1 h) 2 (gethash 3 h) 4) \
             (with-hash-table-iterator (next h) (loop (multiple-value-bind (more k v) (next) \
             (unless more (return (nreverse l))) (push (list k v) l)))))",
            "((1 2) (3 4))",
        ),
        (
            "(defpackage :p (:export \"A\") (:intern \"B\")) (let ((l nil)) \
             (with-package-iterator (next '(:p) :external :internal) \
             (loop (multiple-value-bind (more s how p) (next) (unless more (return)) \
             (push (list (symbol-name s) how (package-name p)) l)))) (sort l #'string< :key #'car))",
            "((\"A\" :EXTERNAL \"P\") (\"B\" :INTERNAL \"P\"))",
        ),
        (
            "(handler-case (macroexpand '(with-package-iterator (n :p))) (program-error () :bad))",
            ":BAD",
        ),
    ]);
}

#[test]
fn compiler_macros_stand_for_calls_and_may_decline() {
    let setup = "(defun sq (x) (list 'called x)) \
                 (define-compiler-macro sq (&whole form x) (if (numberp x) (* x x) form)) ";
    let cases = [
        (
            "(list (sq 5) (sq 'a) (funcall #'sq 5) (apply 'sq '(5)))",
            "(25 (CALLED A) (CALLED 5) (CALLED 5))",
        ),
        ("(funcall (compiler-macro-function 'sq) '(sq 4) nil)", "16"),
        ("(setf (compiler-macro-function 'sq) nil) (sq 5)", "(CALLED 5)"),
        ("(flet ((sq (x) (list 'local x))) (sq 5))", "(LOCAL 5)"),
        ("(compiler-macro-function 'car)", "NIL"),
    ];
    for (form, expected) in cases {
        assert_eq!(values(&format!("{setup}{form}")), expected, "{form}");
    }
}

#[test]
fn compile_sets_the_function_and_gives_three_values() {
    check(&[
        ("(compile 'f '(lambda (x) (* 2 x)))", "F NIL NIL"),
        ("(compile 'f '(lambda (x) (* 2 x))) (f 4)", "8"),
        ("(funcall (compile nil '(lambda (x) (1+ x))) 4)", "5"),
        ("(defun g () 1) (multiple-value-list (compile 'g))", "(G NIL NIL)"),
        ("(handler-case (compile 'nobody) (undefined-function () :none))", ":NONE"),
    ]);
    assert!(output("(defun f (x) (car x)) (disassemble 'f)").contains("Car"));
    assert_eq!(output("(disassemble 'car)"), "#<FUNCTION CAR> is written in Rust\n");
}

#[test]
fn sequences_go_through_streams() {
    check(&[
        (
            "(with-input-from-string (s \"hello\") (let ((v (make-string 3))) (list (read-sequence v s) v)))",
            "(3 \"hel\")",
        ),
        (
            "(with-input-from-string (s \"ab\") (let ((l (list 0 0 0 0))) (list (read-sequence l s :start 1) l)))",
            "(3 (0 #\\a #\\b 0))",
        ),
        (
            "(with-output-to-string (s) (write-sequence \"hello\" s :start 1 :end 3) (write-sequence '(#\\x #\\y) s))",
            "\"elxy\"",
        ),
        (
            "(handler-case (read-sequence (make-array 3) *standard-input* :start 4) (type-error () :bounds))",
            ":BOUNDS",
        ),
    ]);
}

#[test]
fn composite_streams_tell_their_parts() {
    check(&[
        (
            "(let* ((i (make-string-input-stream \"abc\")) (o (make-string-output-stream)) \
             (e (make-echo-stream i o))) (read-char e) (peek-char nil e) (read-char e) \
             (list (get-output-stream-string o) (eq i (echo-stream-input-stream e)) \
             (eq o (echo-stream-output-stream e))))",
            "(\"ab\" T T)",
        ),
        ("(synonym-stream-symbol (make-synonym-stream '*standard-output*))", "*STANDARD-OUTPUT*"),
        ("(length (broadcast-stream-streams (make-broadcast-stream *standard-output*)))", "1"),
        (
            "(echo-stream-input-stream (make-string-input-stream \"\"))",
            "test.lisp:1:1: error: echo-stream-input-stream: expected an echo stream: got \
             #<STRING-STREAM>",
        ),
        ("(stream-element-type (make-string-input-stream \"\"))", "CHARACTER"),
        (
            "(let ((s (make-string-input-stream \"abc\"))) (read-char s) (list (file-position s) (file-position s 0) (read-char s)))",
            "(1 T #\\a)",
        ),
    ]);
}

#[test]
fn pathnames_are_taken_apart_and_made() {
    check(&[
        (
            "(make-pathname :directory '(:absolute \"a\" \"b\") :name \"c\" :type \"d\")",
            "#P\"/a/b/c.d\"",
        ),
        ("(make-pathname :name \"c\" :defaults \"/x/y.z\")", "#P\"/x/c.z\""),
        (
            "(make-pathname :name :wild :type \"lisp\" :directory '(:absolute \"a\" :wild-inferiors))",
            "#P\"/a/**/*.lisp\"",
        ),
        (
            "(mapcar #'pathname-directory '(\"/a/b/c.d\" \"a/\" \"c.d\" \"/\" \"/a/*/**/\"))",
            "((:ABSOLUTE \"a\" \"b\") (:RELATIVE \"a\") NIL (:ABSOLUTE) (:ABSOLUTE \"a\" :WILD :WILD-INFERIORS))",
        ),
        ("(list (pathname-name \"*.lisp\") (pathname-type \"a.*\"))", "(:WILD :WILD)"),
        (
            "(list (wild-pathname-p \"a/*.c\") (wild-pathname-p \"a/b.c\") (wild-pathname-p \"a*\" :type))",
            "(T NIL NIL)",
        ),
        ("(pathname-match-p \"/a/b/c/d.lisp\" \"/a/**/*.lisp\")", "T"),
        ("(pathname-match-p \"/a/b/c/d.lisp\" \"/a/*/*.lisp\")", "NIL"),
        ("(enough-namestring \"/a/b/c.d\" \"/a/\")", "\"b/c.d\""),
        ("(parse-namestring \"/a/b.c\")", "#P\"/a/b.c\" 6"),
        ("(handler-case (make-pathname :directory '(\"a\")) (type-error () :bad))", ":BAD"),
    ]);
}

#[test]
fn files_have_lengths_positions_and_dates() {
    let folder = std::env::temp_dir().join(format!("rung-chapters-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("e")).unwrap();
    for name in ["1.lisp", "e/2.lisp", "e/3.txt"] {
        std::fs::write(folder.join(name), "hello\näworld").unwrap();
    }
    let at = folder.to_str().unwrap();
    let form = |body: &str| {
        format!("(let ((at \"{at}/\")) (flet ((file (n) (concatenate 'string at n))) {body}))")
    };
    let cases = [
        (
            "(with-open-file (s (file \"1.lisp\")) (list (file-length s) (progn (read-char s) (file-position s)) \
          (read-line s) (read-char s) (file-position s) (file-position s 1) (read-line s)))",
            "(13 1 \"ello\" #\\ä 8 T \"ello\")",
        ),
        (
            "(with-open-file (s (file \"b\") :direction :output :element-type '(unsigned-byte 8)) \
          (write-sequence #(1 2 3 4) s) (list (file-position s) (file-position s 1) (write-byte 9 s) (stream-element-type s)))",
            "(4 T 9 (UNSIGNED-BYTE 8))",
        ),
        (
            "(with-open-file (s (file \"b\") :element-type '(unsigned-byte 8)) \
          (let ((v (make-array 6 :initial-element 0))) (list (read-sequence v s :start 1) v)))",
            "(5 #(0 1 9 3 4 0))",
        ),
        ("(< 3900000000 (file-write-date (file \"1.lisp\")))", "T"),
        ("(handler-case (file-write-date (file \"none\")) (file-error () :none))", ":NONE"),
        ("(mapcar #'file-namestring (directory (file \"*.lisp\")))", "(\"1.lisp\")"),
        ("(mapcar #'file-namestring (directory (file \"**/*.lisp\")))", "(\"1.lisp\" \"2.lisp\")"),
        ("(length (directory (file \"*/\")))", "1"),
        ("(directory (file \"none\"))", "NIL"),
    ];
    for (body, expected) in cases {
        assert_eq!(values(&form(body)), expected, "{body}");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn places_may_be_corrected() {
    check(&[
        (
            "(let ((x 5)) (handler-bind ((type-error (lambda (c) (declare (ignore c)) \
             (store-value \"s\")))) (check-type x string)) x)",
            "\"s\"",
        ),
        (
            "(let ((x 5)) (handler-bind ((type-error (lambda (c) (declare (ignore c)) \
             (store-value 'b)))) (list (ccase x (a 1) (b 2)) x)))",
            "(2 B)",
        ),
        (
            "(let ((x 5)) (handler-bind ((type-error (lambda (c) (declare (ignore c)) \
             (store-value \"s\")))) (list (ctypecase x (string :string)) x)))",
            "(:STRING \"s\")",
        ),
        (
            "(let ((n 0)) (handler-bind ((error (lambda (c) (declare (ignore c)) (setq n 1) \
             (continue)))) (assert (= n 1))) n)",
            "1",
        ),
        ("(ecase 3 (1 2))", "test.lisp:1:1: error: ecase: no clause for 3"),
    ]);
}

#[test]
fn restarts_are_objects_that_belong_to_conditions() {
    check(&[
        ("(restart-case (typep (find-restart 'a) 'restart) (a () nil))", "T"),
        (
            "(restart-case (princ-to-string (find-restart 'a)) (a () :report \"Go.\" nil))",
            "\"Go.\"",
        ),
        ("(restart-case (find-restart 'a) (a () nil))", "#<RESTART A>"),
        (
            "(handler-bind ((error (lambda (c) (declare (ignore c)) \
               (handler-case (error \"inner\") (error (i) (invoke-restart \
                 (if (find-restart 'mine i) 'mine 'other))))))) \
             (restart-case (restart-case (error \"outer\") (mine () :mine)) (other () :other)))",
            ":OTHER",
        ),
        (
            "(handler-bind ((error (lambda (c) (invoke-restart (find-restart 'mine c))))) \
             (restart-case (error \"outer\") (mine () :mine)))",
            ":MINE",
        ),
        ("(handler-case (invoke-restart 'nobody) (control-error () :none))", ":NONE"),
        (
            "(let ((r nil)) (restart-case (setq r (find-restart 'a)) (a () nil)) \
             (handler-case (invoke-restart r) (control-error () :gone)))",
            ":GONE",
        ),
        (
            "(handler-bind ((error (lambda (c) (declare (ignore c)) (continue)))) \
             (list (cerror \"Use ~A\" \"bad ~A\" 3)))",
            "(NIL)",
        ),
        (
            "(let ((*break-on-signals* 'warning)) (handler-bind ((simple-condition (lambda (c) \
             (declare (ignore c)) nil))) (signal \"quiet\") :went))",
            ":WENT",
        ),
    ]);
    assert_eq!(
        values("(let ((*break-on-signals* 'error)) (ignore-errors (error \"loud\")))"),
        "test.lisp:1:51: error: loud\n(*break-on-signals* has stopped here)"
    );
}

#[test]
fn trace_without_names_tells_who_is_traced() {
    check(&[
        (
            "(defun f () 1) (defun g () 2) (trace f g) (prog1 (sort (copy-list (trace)) #'string<) (untrace))",
            "(F G)",
        ),
        ("(defun f () 1) (trace f) (untrace) (trace)", "NIL"),
    ]);
}

#[test]
fn formatter_gives_the_arguments_left_and_format_takes_functions() {
    check(&[
        ("(format nil (formatter \"~A-~A\") 1 2)", "\"1-2\""),
        (
            "(with-output-to-string (s) (prin1 (funcall (formatter \"~A\") s 1 2 3) s))",
            "\"1(2 3)\"",
        ),
        (
            "(let ((s (make-array 3 :element-type 'character :fill-pointer 0 :adjustable t))) \
             (format s (formatter \"x~A\") 1) s)",
            "\"x1\"",
        ),
        ("(handler-case (macroexpand '(formatter 5)) (type-error () :type))", ":TYPE"),
    ]);
}

#[test]
fn logical_blocks_write_prefix_elements_and_suffix() {
    check(&[
        (
            "(with-output-to-string (s) (pprint-logical-block (s '(a b c) :prefix \"[\" :suffix \"]\") \
             (loop (princ (pprint-pop) s) (pprint-exit-if-list-exhausted) (princ \"-\" s))))",
            "\"[A-B-C]\"",
        ),
        ("(with-output-to-string (s) (pprint-fill s '(1 2 (3 \"a\"))))", "\"(1 2 (3 \\\"a\\\"))\""),
        ("(with-output-to-string (s) (pprint-linear s '(1 2 . 3) nil))", "\"1 2 . 3\""),
        ("(with-output-to-string (s) (pprint-tabular s 5))", "\"5\""),
        (
            "(let ((*print-length* 2)) (with-output-to-string (s) (pprint-fill s '(1 2 3))))",
            "\"(1 2 ...)\"",
        ),
        ("(handler-case (pprint-newline :foo) (type-error (c) (type-error-datum c)))", ":FOO"),
        ("(handler-case (macroexpand '(pprint-pop)) (program-error () :outside))", ":OUTSIDE"),
    ]);
}

#[test]
fn what_cannot_be_read_back_is_named_in_the_error() {
    check(&[
        (
            "(handler-case (let ((*print-readably* t)) (prin1-to-string (list 1 (make-hash-table)))) \
             (print-not-readable (c) (hash-table-p (print-not-readable-object c))))",
            "T",
        ),
        (
            "(handler-case (let ((*print-readably* t)) (prin1-to-string #'car)) \
             (print-not-readable (c) (eq #'car (print-not-readable-object c))))",
            "T",
        ),
    ]);
}

#[test]
fn wild_pathnames_are_translated() {
    check(&[
        (
            "(translate-pathname \"/a/b/foo.lisp\" \"/a/**/*.lisp\" \"/out/**/*.fasl\")",
            "#P\"/out/b/foo.fasl\"",
        ),
        (
            "(translate-pathname \"/a/b/foo.lisp\" \"/a/*/*.lisp\" \"/out/*/x-*.fasl\")",
            "#P\"/out/b/x-foo.fasl\"",
        ),
        ("(translate-pathname \"foobar\" \"foo*\" \"x*baz\")", "#P\"xbarbaz\""),
        (
            "(handler-case (translate-pathname \"a.c\" \"*.h\" \"*.o\") (error () :differs))",
            ":DIFFERS",
        ),
    ]);
}

#[test]
fn fields_of_integers_and_every_half_of_a_list_are_places() {
    check(&[
        ("(let ((x 5)) (list (setf (ldb (byte 2 1) x) 3) x))", "(3 7)"),
        ("(let ((x 255)) (setf (mask-field (byte 2 1) x) 0) x)", "249"),
        (
            "(let ((v (vector 0 5)) (i 0)) (incf (ldb (byte 2 1) (aref v (incf i)))) (list v i))",
            "(#(0 7) 1)",
        ),
        ("(let ((l (list (list (list (list 1)))))) (setf (caaaar l) 5) l)", "((((5))))"),
        (
            "(let ((l (list 1 (list 2 3) 4))) (setf (cdadr l) 9 (cddar (cdr l)) 7) l)",
            "test.lisp:1:34: error: (setf cdr): expected a cons: got 9",
        ),
        (
            "(let ((l (list 1 2 3 4 5 6 7 8 9 10))) (setf (tenth l) 0 (sixth l) 1 (fifth l) 2) l)",
            "(1 2 3 4 2 1 7 8 9 0)",
        ),
        ("(handler-case (list-length '(1 2 . 3)) (type-error () :dotted))", ":DOTTED"),
        ("(list-length (let ((l (list 1))) (setf (cdr l) l)))", "NIL"),
    ]);
}

#[test]
fn a_setf_expander_is_called_with_place_and_environment_and_may_declare() {
    check(&[
        (
            "(define-setf-expander low (place &environment e) (declare (ignorable e)) \
             (get-setf-expansion `(ldb (byte 4 0) ,place))) (defun low (x) (ldb (byte 4 0) x)) \
             (let ((x 255)) (setf (low x) 1) x)",
            "241",
        ),
        (
            "(defvar *l* (list 0)) (defun zed () (car *l*)) (defsetf zed () (new) \"Doc.\" \
             (declare (ignorable new)) `(setf (car *l*) ,new)) (setf (zed) 4) (zed)",
            "4",
        ),
    ]);
}
