//! The printer: a form and what `prin1` (or the function named) makes of its value.

mod support;

use rung_lisp::printer;
use rung_lisp::reader::Reader;
use support::check;

#[test]
fn numbers() {
    check(&[
        ("(list 0 -5 12345678901234567890 -1/2)", "(0 -5 12345678901234567890 -1/2)"),
        (
            "(list 1.5 1.5d0 1.0e10 1.0e-4 0.001 9999999.0 1e7 0.1 -0.0 1e21 5e-324)",
            "(1.5 1.5 1.0e10 1.0e-4 0.001 9999999.0 1.0e7 0.1 -0.0 1.0e21 5.0e-324)",
        ),
        ("(list 1.5f0 1.0f10 0.1f0 16777216f0 -0f0)", "(1.5f0 1.0f10 0.1f0 1.6777216f7 -0.0f0)"),
        (
            "(let ((*read-default-float-format* 'single-float)) (prin1-to-string (list 1f0 1d0 1f10 1d10)))",
            "\"(1.0 1.0d0 1.0e10 1.0d10)\"",
        ),
        ("(list (/ 1.0 0) (/ -1f0 0))", "(#.rung:double-inf #.rung:single-neg-inf)"),
        (
            "(princ-to-string (list (/ 1.0 0) (/ -1.0 0) (- (/ 1.0 0) (/ 1.0 0))))",
            "\"(inf -inf nan)\"",
        ),
        ("(let ((*print-base* 16)) (prin1-to-string (list 255 -1/17)))", "\"(FF -1/11)\""),
        (
            "(let ((*print-base* 2) (*print-radix* t)) (prin1-to-string (list 5 1/2)))",
            "\"(#b101 #b1/10)\"",
        ),
        ("(let ((*print-radix* t)) (prin1-to-string 5))", "\"5.\""),
    ]);
}

#[test]
fn symbols_and_characters() {
    check(&[
        (
            "'(foo |foo| |a b| :key |1| |1.5| |+1| 1+ + |a\\|b| ||)",
            "(FOO |foo| |a b| :KEY |1| |1.5| |+1| 1+ + |a\\|b| ||)",
        ),
        ("'(cl:car la::x rung::x #:g keyword::a)", "(CAR LINALG::X RUNG::X #:G :A)"),
        ("(princ-to-string '(|foo| :key \"a\" #\\b))", "\"(foo KEY a b)\""),
        (
            "(let ((*print-case* :downcase)) (prin1-to-string '(foo |Bar| :key la::x)))",
            "\"(foo |Bar| :key linalg::x)\"",
        ),
        ("(let ((*print-case* :capitalize)) (prin1-to-string '(foo-bar)))", "\"(Foo-Bar)\""),
        (
            "(list #\\a #\\Space #\\Newline #\\U+0001 #\\U+3042)",
            "(#\\a #\\Space #\\Newline #\\U+0001 #\\あ)",
        ),
        ("(list \"a\\\"b\\\\c\" \"é\")", "(\"a\\\"b\\\\c\" \"é\")"),
    ]);
}

#[test]
fn lists() {
    check(&[
        ("'(1 . 2)", "(1 . 2)"),
        ("'(1 2 . 3)", "(1 2 . 3)"),
        ("'(quote a)", "'A"),
        ("'(quote a b)", "(QUOTE A B)"),
        ("'(quote . a)", "(QUOTE . A)"),
        ("'#'f", "#'F"),
        ("'`(a ,b ,@c)", "`(A ,B ,@C)"),
        ("(let ((*print-length* 2)) (prin1-to-string '(1 2 3 4)))", "\"(1 2 ...)\""),
        ("(let ((*print-level* 1)) (prin1-to-string '(1 (2 (3)))))", "\"(1 #)\""),
        ("'#1=(a b . #1#)", "#1=(A B . #1#)"),
        ("(let ((*print-circle* t)) (prin1-to-string '(#1=(a) #1#)))", "\"(#1=(A) #1#)\""),
    ]);
}

#[test]
fn arrays() {
    check(&[
        ("#(1 2 \"a\")", "#(1 2 \"a\")"),
        ("#2A((1 2) (3 4))", "#2A((1 2) (3 4))"),
        ("#0A5", "#0A5"),
        ("#()", "#()"),
        ("#d((1 2) (3 4))", "#d((1.0 2.0) (3.0 4.0))"),
        ("#f(0.1 1e10 16777217)", "#f(0.1 1.0e10 1.6777216e7)"),
        ("#bf16(0.1 3.14159)", "#bf16(0.1 3.14)"),
        ("#f16(0.1 65504)", "#f16(0.1 65500.0)"),
        ("#d(nan inf -inf -0.0)", "#d(nan inf -inf -0.0)"),
        ("#d()", "#d()"),
        ("#d[0 3]", "#d[0 3]"),
        ("#d[2 0]", "#d(() ())"),
        ("#d[99999999999999 0]", "#d[99999999999999 0]"),
        ("#i64[99999999999999 0]", "#i64[99999999999999 0]"),
        ("#0d5", "#0d5.0"),
        ("#i64(1 -2)", "#(1 -2)"),
        ("#u8((1 2) (3 4))", "#2A((1 2) (3 4))"),
        ("#bool(1 0)", "#*10"),
        (
            "(let ((rung:*print-element-type* t)) (prin1-to-string (list #i64(1) #bool((1 0) (0 1)))))",
            "\"(#i64(1) #bool((1 0) (0 1)))\"",
        ),
        ("(write-to-string #i32(1 2) :readably t)", "\"#i32(1 2)\""),
        ("(write-to-string #(1 2 3) :length 2)", "\"#(1 2 ...)\""),
        ("#p\"a.txt\"", "#P\"a.txt\""),
    ]);
}

#[test]
fn printing_functions() {
    check(&[
        (
            "(with-output-to-string (s) (print 'a s) (prin1 \"b\" s) (princ \"c\" s) (write #\\d :stream s))",
            "\"\n\
         A \\\"b\\\"c#\\\\d\"",
        ),
        ("(with-output-to-string (s) (pprint '(1 2) s))", "\"\n(1 2)\""),
        ("(write-to-string '(a \"b\") :escape nil)", "\"(A b)\""),
        ("(write-to-string 255 :base 16 :radix t)", "\"#xFF\""),
        (
            "(list #'car (lambda (x) x) (make-hash-table) *package*)",
            "(#<FUNCTION CAR> #<FUNCTION LAMBDA> #<HASH-TABLE EQL 0> #<PACKAGE \"COMMON-LISP-USER\">)",
        ),
        (
            "(progn (defstruct point x y) (list (make-point :x 1 :y 2) #s(point :x 3)))",
            "error: the function make-point is undefined",
        ),
        (
            "(handler-case (error \"bad ~A\" 5) (error (c) (list c (princ-to-string c))))",
            "(#<SIMPLE-ERROR \"bad 5\"> \"bad 5\")",
        ),
        (
            "(write-to-string #'car :readably t)",
            "error: #<FUNCTION CAR> cannot be printed readably",
        ),
        ("*random-state*", "#<RANDOM-STATE>"),
        (
            "(list pi most-positive-single-float double-float-epsilon least-positive-double-float)",
            "(3.141592653589793 3.4028235f38 1.1102230246251568e-16 5.0e-324)",
        ),
        ("(list rung:double-inf rung:single-nan)", "(#.rung:double-inf #.rung:single-nan)"),
        (
            "(let ((x (list rung:double-neg-inf))) (= (car x) (car (read-from-string (prin1-to-string x)))))",
            "T",
        ),
    ]);
}

#[test]
fn the_prompt_elides_large_arrays() {
    let mut lisp = support::fresh();
    let mut shown = |form: &str| {
        let form = Reader::new(form, None).read(&mut lisp).ok().flatten().unwrap();
        let value = lisp.eval_form(&form).ok().unwrap();
        printer::for_prompt(&mut lisp, &value).ok().unwrap()
    };
    assert_eq!(shown("(make-array 1001 :initial-element 0)"), "#(0 0 0 ... 0 0 0)");
    assert_eq!(
        shown("(make-array '(2 2000) :element-type 'double-float :initial-element 1d0)"),
        "#d((1.0 1.0 1.0 ... 1.0 1.0 1.0) (1.0 1.0 1.0 ... 1.0 1.0 1.0))"
    );
    assert_eq!(shown("(make-array 8 :initial-element 0)"), "#(0 0 0 0 0 0 0 0)");
}
