//! Chapters 13 and 16 of the standard, a form and what it gives.

mod support;
use support::check;

#[test]
fn characters() {
    check(&[
        (
            r"(list (char-code #\a) (code-char 97) (char-upcase #\a) (char-downcase #\A))",
            r"(97 #\a #\A #\a)",
        ),
        (r"(list (char= #\a #\a #\b) (char/= #\a #\b #\a) (char< #\a #\b #\c))", "(NIL NIL T)"),
        (r"(list (char-equal #\a #\A) (char-lessp #\a #\B) (char-not-equal #\a #\A))", "(T T NIL)"),
        (
            r"(list (alpha-char-p #\a) (alpha-char-p #\1) (alphanumericp #\1) (upper-case-p #\A))",
            "(T NIL T T)",
        ),
        (
            r"(list (both-case-p #\1) (graphic-char-p #\Newline) (standard-char-p #\a))",
            "(NIL NIL T)",
        ),
        (
            r"(list (digit-char-p #\7) (digit-char-p #\a) (digit-char-p #\a 16) (digit-char 11 16))",
            r"(7 NIL 10 #\B)",
        ),
        (
            r#"(list (char-name #\Space) (char-name #\a) (name-char "newline"))"#,
            r#"("Space" NIL #\Newline)"#,
        ),
        (r#"(list (character "a") (character 'b))"#, r"(#\a #\B)"),
        ("(char-code 5)", "error: char-code: expected a character: got 5"),
        ("(code-char -1)", "error: code-char: expected a character code below 1114112: got -1"),
        ("(code-char 55296)", "NIL"),
        (r"(char-upcase #\U+00E9)", r"#\É"),
    ]);
}

#[test]
fn strings() {
    check(&[
        (
            r#"(list (string-upcase "abC") (string-downcase 'FOO) (string-capitalize "hello WORLD-foo 2nd"))"#,
            r#"("ABC" "foo" "Hello World-Foo 2nd")"#,
        ),
        (r#"(string-upcase "hello" :start 1 :end 3)"#, r#""hELlo""#),
        (
            r#"(list (string= "a" "a") (string= "abc" "xbc" :start1 1 :start2 1) (string= 'foo "FOO"))"#,
            "(T T T)",
        ),
        (
            r#"(list (string< "abc" "abd") (string< "b" "a") (string< "ab" "abc") (string<= "a" "a"))"#,
            "(2 NIL 2 1)",
        ),
        (
            r#"(list (string/= "abc" "abd") (string/= "a" "a") (string> "b" "a") (string>= "a" "b"))"#,
            "(2 NIL 0 NIL)",
        ),
        (
            r#"(list (string-equal "FOO" "foo") (string-lessp "ABC" "abd") (string-not-equal "a" "B"))"#,
            "(T 2 0)",
        ),
        (r#"(list (char "abc" 1) (schar "abc" 2))"#, r"(#\b #\c)"),
        (r#"(char "abc" 3)"#, "error: char: expected an index below 3: got 3"),
        (r#"(list (string 'foo) (string #\a) (string "x"))"#, r#"("FOO" "a" "x")"#),
        (
            r#"(list (string-trim " " "  a b ") (string-left-trim "ab" "abcab") (string-right-trim '(#\b) "abb"))"#,
            r#"("a b" "cab" "a")"#,
        ),
        (r#"(list (string-trim " " "   ") (string-trim "" "a"))"#, r#"("" "a")"#),
        (r#"(list (make-string 3 :initial-element #\x) (make-string 0))"#, r#"("xxx" "")"#),
        (r#"(list (stringp "a") (stringp 'a) (simple-string-p "a"))"#, "(T NIL T)"),
        ("(string-upcase 5)", "error: string-upcase: expected a string: got 5"),
        (
            r#"(string-upcase "abc" :start 4)"#,
            "error: string-upcase: expected an index from 0 to 3: got 4",
        ),
        (
            r#"(string-upcase "abc" :start 2 :end 1)"#,
            "error: string-upcase: expected a start up to the end 1: got 2",
        ),
    ]);
}
