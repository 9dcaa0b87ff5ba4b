//! Readtables: macro characters that a program defines, dispatching ones, syntax copied from
//! another character, the case of symbols. Most results were compared with CLISP's.

mod common;

use common::{check, output};

const BRACES: &str = "(setq *readtable* (copy-readtable nil)) \
    (set-macro-character #\\{ (lambda (s c) (declare (ignore c)) \
      (cons 'brace (read-delimited-list #\\} s t)))) \
    (set-macro-character #\\} (get-macro-character #\\)))";

fn with(setup: &str, form: &str) -> String {
    format!("{setup} {form}")
}

#[track_caller]
fn check_with(setup: &str, cases: &[(&str, &str)]) {
    let cases: Vec<_> =
        cases.iter().map(|(form, expected)| (with(setup, form), *expected)).collect();
    let cases: Vec<_> = cases.iter().map(|(form, expected)| (form.as_str(), *expected)).collect();
    check(&cases);
}

#[test]
fn a_macro_character_calls_its_function_with_the_stream() {
    check_with(
        BRACES,
        &[
            ("(read-from-string \"{a b {c}} d\")", "(BRACE A B (BRACE C)) 9"),
            ("(values (read-from-string \"(x{a}y)\"))", "(X (BRACE A) Y)"),
            // Within a backquote, and in the text of a program.
            ("(defun brace (&rest r) r) (let ((x 2)) `(1 ,{x x}))", "(1 (2 2))"),
            ("'{a\n b}", "(BRACE A B)"),
            ("(values (read-from-string \"(#1=(a) {#1#})\"))", "((A) (BRACE (A)))"),
        ],
    );
}

#[test]
fn a_comment_gives_no_value_and_a_non_terminating_one_stays_in_its_token() {
    let setup = "(setq *readtable* (copy-readtable nil)) \
        (set-macro-character #\\! (lambda (s c) (declare (ignore c)) (list :bang (read s t nil t))) t)";
    check_with(
        setup,
        &[
            ("'(!a b!c)", "((:BANG A) B!C)"),
            ("(nth-value 1 (get-macro-character #\\!))", "T"),
            ("(nth-value 1 (get-macro-character #\\())", "NIL"),
            ("(get-macro-character #\\a)", "NIL NIL"),
            (
                "(set-macro-character #\\; (lambda (s c) (declare (ignore s c)) (values))) \
                 (values (read-from-string \"(a ; b)\"))",
                "(A B)",
            ),
        ],
    );
}

#[test]
fn dispatching_characters_choose_by_the_one_behind() {
    let setup = "(setq *readtable* (copy-readtable nil)) \
        (make-dispatch-macro-character #\\$) \
        (defun show (s c n) (list c n (read s t nil t))) \
        (set-dispatch-macro-character #\\$ #\\x #'show) \
        (set-dispatch-macro-character #\\# #\\! 'show)";
    check_with(
        setup,
        &[
            ("'($3Xfoo $xbar)", "((#\\X 3 FOO) (#\\x NIL BAR))"),
            ("'(#12!foo)", "((#\\! 12 FOO))"),
            ("'(#(1) #\\a #'b)", "(#(1) #\\a #'B)"),
            ("(read-from-string \"$yfoo\")", "test.lisp:1:217: error: nothing is read by $y"),
            ("(functionp (get-dispatch-macro-character #\\# #\\'))", "T"),
            ("(get-dispatch-macro-character #\\# #\\{)", "NIL"),
        ],
    );
    check(&[
        (
            "(set-dispatch-macro-character #\\% #\\x #'list)",
            "test.lisp:1:1: error: set-dispatch-macro-character: % is no dispatching macro character",
        ),
        (
            "(set-dispatch-macro-character #\\# #\\5 #'list)",
            "test.lisp:1:1: error: set-dispatch-macro-character: a digit is the number before the \
             character",
        ),
    ]);
}

#[test]
fn the_standard_functions_can_be_called() {
    check(&[
        (
            "(with-input-from-string (s \"abc\\\" d\") (funcall (get-macro-character #\\\") s #\\\"))",
            "\"abc\"",
        ),
        (
            "(with-input-from-string (s \"a b) c\") \
             (list (funcall (get-dispatch-macro-character #\\# #\\() s #\\( nil) (read s)))",
            "(#(A B) C)",
        ),
        (
            "(with-input-from-string (s \"ff d\") \
             (funcall (get-dispatch-macro-character #\\# #\\x) s #\\x nil))",
            "255",
        ),
    ]);
}

#[test]
fn syntax_is_copied_from_another_character() {
    check_with(
        "(setq *readtable* (copy-readtable nil))",
        &[
            ("(set-syntax-from-char #\\[ #\\() (set-syntax-from-char #\\] #\\)) '[a b]", "(A B)"),
            ("(set-syntax-from-char #\\- #\\Space) '(a-b)", "(A B)"),
            (
                "(set-syntax-from-char #\\; #\\a) (symbol-name (read-from-string \"a;b\"))",
                "\"A;B\"",
            ),
            ("(set-syntax-from-char #\\' #\\Space) (values (read-from-string \" 'a\"))", "A"),
        ],
    );
}

#[test]
fn the_case_of_symbols_is_the_tables() {
    let names = "(map 'list #'symbol-name (read-from-string \"(foo FOO Foo f\\\\oo |a|b)\"))";
    let cases = [
        (":upcase", "(\"FOO\" \"FOO\" \"FOO\" \"FoO\" \"aB\")"),
        (":downcase", "(\"foo\" \"foo\" \"foo\" \"foo\" \"ab\")"),
        (":preserve", "(\"foo\" \"FOO\" \"Foo\" \"foo\" \"ab\")"),
        (":invert", "(\"FOO\" \"foo\" \"Foo\" \"FoO\" \"aB\")"),
    ];
    for (case, expected) in cases {
        let form = format!(
            "(let ((*readtable* (copy-readtable nil))) \
             (setf (readtable-case *readtable*) {case}) {names})"
        );
        check(&[(&form, expected)]);
    }
    let printed = output(
        "(dolist (c '(:upcase :downcase :preserve :invert)) \
           (let ((*readtable* (copy-readtable nil)) (l (list (intern \"ABC\") (intern \"abc\") (intern \"Abc\")))) \
             (setf (readtable-case *readtable*) c) (format t \"~S ~A~%\" l l)))",
    );
    let expected = "(ABC |abc| |Abc|) (ABC abc Abc)\n(|ABC| ABC |Abc|) (ABC ABC ABC)\n\
                    (ABC abc Abc) (ABC abc Abc)\n(abc ABC Abc) (abc ABC Abc)\n";
    assert_eq!(printed, expected);
}

#[test]
fn tables_are_copied_and_are_of_their_type() {
    check(&[
        ("(readtablep *readtable*)", "T"),
        ("(readtablep 1)", "NIL"),
        ("(type-of (copy-readtable))", "READTABLE"),
        ("(copy-readtable 5)", "test.lisp:1:1: error: copy-readtable: expected a readtable: got 5"),
        (
            "(setf (readtable-case *readtable*) :foo)",
            "test.lisp:1:1: error: (setf readtable-case): expected one of :upcase :downcase \
             :preserve :invert: got :FOO",
        ),
        (
            "(let ((r (copy-readtable nil)) (s (copy-readtable nil))) \
             (set-macro-character #\\! (lambda (s c) (list s c) 5) nil r) \
             (list (eq s (copy-readtable r s)) (let ((*readtable* s)) (read-from-string \"!\")) \
             (read-from-string \"!\") (with-standard-io-syntax (read-from-string \"!\"))))",
            "(T 5 ! !)",
        ),
    ]);
}

#[test]
fn loading_a_file_leaves_the_table_of_before() {
    let file = std::env::temp_dir().join(format!("rung-readtable-{}.lisp", std::process::id()));
    let text = "(setq *readtable* (copy-readtable nil)) (set-syntax-from-char #\\[ #\\() \
                (set-syntax-from-char #\\] #\\)) (defvar *x* '[1 2])";
    std::fs::write(&file, text).unwrap();
    let form = format!("(load {:?}) (list *x* (read-from-string \"[a\"))", file.to_str().unwrap());
    check(&[(&form, "((1 2) [A)")]);
    std::fs::remove_file(&file).unwrap();
}
