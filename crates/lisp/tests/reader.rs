//! The reader: literal text and what it reads as, errors with their places, and noise.

mod support;

use rung_lisp::condition::{Condition, Message};
use rung_lisp::reader::{ReadError, Reader};
use rung_lisp::{Escape, Lisp, Value, printer};

/// All forms of the text, printed; or the error with the stretch of text it is about.
fn read(text: &str) -> String {
    let mut lisp = support::fresh();
    let source = lisp.sources.add("prog.lisp", text);
    let mut reader = Reader::new(text, Some(source));
    let mut shown = Vec::new();
    loop {
        match reader.read(&mut lisp) {
            Ok(Some(form)) => match printer::prin1(&mut lisp, &form) {
                Ok(text) => shown.push(text),
                Err(_) => shown.push("unprintable".to_string()),
            },
            Ok(None) => return shown.join(" "),
            Err(ReadError::Incomplete(condition)) => {
                return format!("incomplete {}", say(&condition));
            }
            Err(ReadError::Wrong(condition)) => return format!("wrong {}", say(&condition)),
            Err(ReadError::Escape(_)) => return "escape".to_string(),
        }
    }
}

fn say(condition: &Condition) -> String {
    let Message::Text(text) = &condition.message else { return "no text".to_string() };
    match condition.span.get() {
        Some(span) => format!("{}-{}: {text}", span.start, span.end),
        None => text.clone(),
    }
}

#[track_caller]
fn check(cases: &[(&str, &str)]) {
    for (text, expected) in cases {
        assert_eq!(read(text), *expected, "{text}");
    }
}

#[test]
fn tokens() {
    check(&[
        ("foo |Foo bar| fOO\\b :key #:g cl:car", "FOO |Foo bar| |FOOb| :KEY #:G CAR"),
        ("1 -7 +3 1/3 4/2 12345678901234567890 1.", "1 -7 3 1/3 2 12345678901234567890 1"),
        (
            ".5 1.5 1e3 1f0 1s0 1d0 1l0 1.e5 -0.0",
            "0.5 1.5 1000.0 1.0f0 1.0f0 1.0 1.0 100000.0 -0.0",
        ),
        ("+ - 1+ -- 1e 1x +a .a", "+ - 1+ -- 1E 1X +A .A"),
        ("#b101 #o17 #xFF #36rZZ #x-f/2", "5 15 255 1295 -15/2"),
        ("0.1f0 16777217f0 1.000000059604644775390625000001f0", "0.1f0 1.6777216f7 1.0000001f0"),
    ]);
}

#[test]
fn forms() {
    check(&[
        ("(a . b) (a b . c) (1 (2 3)) ()", "(A . B) (A B . C) (1 (2 3)) NIL"),
        ("'x #'f `(a ,b ,@c)", "'X #'F `(A ,B ,@C)"),
        ("\"a\\\"b\\\\c\" \"two\nlines\"", "\"a\\\"b\\\\c\" \"two\nlines\""),
        (
            "#\\a #\\Space #\\newline #\\U+3042 #\\( #\\;",
            "#\\a #\\Space #\\Newline #\\あ #\\( #\\;",
        ),
        (
            "#(1 2) #2A((1 2) (3 4)) #0A5 #*0110 #5(1 2)",
            "#(1 2) #2A((1 2) (3 4)) #0A5 #*0110 #(1 2 2 2 2)",
        ),
        ("1 ; one\n 2 #| two #| nested |# |# 3", "1 2 3"),
        ("#!/usr/bin/rung\n5", "5"),
        ("#1=(a . #1#) (#2=(b) #2#)", "#1=(A . #1#) ((B) (B))"),
        ("#+rung yes #-rung no x #+(or foo rung) y #+(and foo rung) z #+(not foo) w", "YES X Y W"),
        ("(a #+nowhere (la:what #\\nothing 1e999) b)", "(A B)"),
        ("#p\"a.txt\"", "#P\"a.txt\""),
    ]);
}

#[test]
fn packed_literals() {
    check(&[
        ("#d(1 2) #D((1 2) (3 4)) #d(((1)))", "#d(1.0 2.0) #d((1.0 2.0) (3.0 4.0)) #d(((1.0)))"),
        ("#f(0.1) #bf16(3.14159) #f16(0.1)", "#f(0.1) #bf16(3.14) #f16(0.1)"),
        ("#i64(1 -2) #i32(1) #u8(255) #bool(1 0)", "#(1 -2) #(1) #(255) #*10"),
        (
            "#0d5.0 #0d-inf #d[0 3] #d[2 0] #d() #d(())",
            "#0d5.0 #0d-inf #d[0 3] #d(() ()) #d() #d(())",
        ),
        (
            "#d(nan inf -inf 1/3 1e400 1d2 1f2)",
            "#d(nan inf -inf 0.3333333333333333 inf 100.0 100.0)",
        ),
        ("#d(1 ; one\n 2 #| two |# 3)", "#d(1.0 2.0 3.0)"),
        ("#f(1.000000059604644775390625000001)", "#f(1.0000001)"),
        ("#bf16(1.003906250000000000000000000001 1.00390625)", "#bf16(1.01 1.0)"),
        ("#d((1 2) (3))", "wrong 0-12: packed literal is ragged"),
        ("#d(1 (2))", "wrong 0-6: packed literal is ragged"),
        ("#d((1) 2)", "wrong 0-8: packed literal is ragged"),
        ("#d(() (1))", "wrong 0-9: packed literal is ragged"),
        ("#u8(1 256)", "wrong 6-9: packed literal: expected a (unsigned-byte 8): got 256"),
        ("#d(1 foo)", "wrong 5-8: packed literal: expected a double-float: got foo"),
        ("#d[2 3]", "wrong 0-7: an array literal of a shape must have no elements"),
        (
            "#d((1 2)",
            "incomplete 0-1: end of file inside a packed literal that began at prog.lisp:1:1",
        ),
    ]);
}

#[test]
fn errors_have_places() {
    check(&[
        ("(1 (2", "incomplete 3-4: end of file inside a list that began at prog.lisp:1:4"),
        (
            "\n(defun f ()\n  (car x)",
            "incomplete 1-2: end of file inside a list that began at prog.lisp:2:1",
        ),
        ("(a \"bc", "incomplete 3-4: end of file inside a string that began at prog.lisp:1:4"),
        ("#| a", "incomplete 0-1: end of file inside a comment that began at prog.lisp:1:1"),
        ("|ab", "incomplete 0-1: end of file inside a symbol that began at prog.lisp:1:1"),
        ("'", "incomplete 0-1: end of file inside a form that began at prog.lisp:1:1"),
        ("a )", "wrong 2-3: unmatched close parenthesis"),
        ("(. a)", "wrong 1-2: nothing appears before the dot in a list"),
        ("(a . b c)", "wrong 7-8: more than one form follows the dot in a list"),
        (",x", "wrong 0-1: a comma is not inside a backquote"),
        ("...", "wrong 0-3: a token of dots alone"),
        ("nopack:foo", "wrong 0-10: there is no package nopack"),
        ("cl:carr", "wrong 0-7: package common-lisp has no symbol carr"),
        ("1/0", "wrong 0-3: division by zero in 1/0"),
        ("1e999", "wrong 0-5: 1e999 is too large for its float type"),
        ("#\\foo", "wrong 0-5: there is no character named foo"),
        ("#<x>", "wrong 0-2: nothing is read by #<"),
        ("#c(1 a)", "wrong 0-7: #c wants a list of two real numbers"),
        ("#2A((1 2) (3))", "wrong 0-14: array literal is ragged"),
    ]);
}

#[test]
fn positions_of_lists_are_noted() {
    let mut lisp = support::fresh();
    let text = "(あ (b\n c))";
    let source = lisp.sources.add("prog.lisp", text);
    let form = Reader::new(text, Some(source)).read(&mut lisp).ok().flatten().unwrap();
    let inner = form.elements().nth(1).unwrap();
    let span = |value: &Value| lisp.positions.borrow()[&value.as_cons().unwrap().address()];
    assert_eq!((span(&form).start, span(&form).end), (0, 10));
    assert_eq!((span(&inner).start, span(&inner).end), (3, 9));
}

#[test]
fn deep_nesting_is_an_error_and_long_lists_are_not() {
    let mut lisp = support::fresh();
    let deep = "(".repeat(1_000_000);
    let error = Reader::new(&deep, None).read(&mut lisp).err().unwrap();
    let escape = Escape::from(error);
    assert!(escape.condition().is_some());
    let long = format!("({})", "1 ".repeat(1_000_000));
    let form = Reader::new(&long, None).read(&mut lisp).ok().flatten().unwrap();
    assert_eq!(form.elements().count(), 1_000_000);
}

#[test]
fn reading_functions() {
    support::check(&[
        ("(multiple-value-list (read-from-string \"foo bar\"))", "(FOO 4)"),
        (
            "(multiple-value-list (read-from-string \"foo bar\" t nil :preserve-whitespace t))",
            "(FOO 3)",
        ),
        ("(multiple-value-list (read-from-string \" 1 3 5\" t nil :start 2))", "(3 5)"),
        ("(read-from-string \"\" nil :eof)", ":EOF"),
        ("(read-from-string \"\")", "error: read-from-string: end of file"),
        ("(read-from-string \"(a\")", "error: end of file inside a list"),
        (
            "(read-from-string \"abc\" t nil :end 9)",
            "error: read-from-string: expected an index up to 3: got 9",
        ),
        ("(read-from-string 5)", "error: read-from-string: expected a string: got 5"),
        (
            "(with-input-from-string (s \"foo (bar) 12\") (list (read s) (read s) (read s) (read s nil :end)))",
            "(FOO (BAR) 12 :END)",
        ),
        ("(with-input-from-string (s \"a b\") (read s) (read-char s))", "#\\b"),
        (
            "(with-input-from-string (s \"a b\") (read-preserving-whitespace s) (read-char s))",
            "#\\Space",
        ),
        (
            "(with-input-from-string (s \"1 2 ] 3\") (list (read-delimited-list #\\] s) (read s)))",
            "((1 2) 3)",
        ),
        ("(let ((*read-base* 16)) (read-from-string \"(ff 10. 1e)\"))", "(255 10 30)"),
        (
            "(let ((*read-default-float-format* 'single-float)) (= (read-from-string \"0.1\") 0.1f0))",
            "T",
        ),
        (
            "(let ((*read-eval* nil)) (read-from-string \"#.(+ 1 2)\"))",
            "error: #. is not allowed while *read-eval* is nil",
        ),
        ("(read-from-string \"#.(+ 1 2)\")", "3"),
        (
            "(handler-case (read-from-string \")\") (reader-error () :reader) (error () :other))",
            ":READER",
        ),
        ("(handler-case (read-from-string \"(\") (end-of-file () :end))", ":END"),
    ]);
}

/// A generator of noise: the same numbers for the same seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

fn consume(lisp: &mut Lisp, text: &str) {
    let mut reader = Reader::new(text, None);
    loop {
        let before = reader.position();
        match reader.read(lisp) {
            Ok(Some(form)) => drop(printer::prin1(lisp, &form)),
            Ok(None) => return,
            Err(_) if reader.position() == before => return,
            Err(_) => {}
        }
    }
}

#[test]
fn noise_never_panics_and_never_hangs() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |time| time.as_nanos() as u64);
    println!("seed {seed}");
    let mut noise = Noise(seed);
    let mut lisp = support::fresh();
    let pieces = [
        "(",
        ")",
        "'",
        "`",
        ",",
        ",@",
        "#",
        "#d(",
        "#f[",
        "#2A",
        "#0A",
        "#+",
        "#-",
        "#\\",
        "#|",
        "|#",
        "|",
        "\\",
        "\"",
        ";",
        "\n",
        ".",
        " . ",
        "1",
        "-",
        "/",
        "e5",
        "foo",
        ":",
        "::",
        "#'",
        "#*",
        "#(",
        "#1=",
        "#1#",
        "#x",
        "#36r",
        "#0d",
        "#i64(",
        "nan",
        "99999999999",
        "あ",
        "[",
        "]",
        "\u{0}",
        "#.",
        "#s(",
        "#p",
        "~",
        "#9999999999(",
        "1e9999999999",
        "#65A",
    ];
    for _ in 0..20_000 {
        let count = noise.next(12);
        let text = (0..count).map(|_| pieces[noise.next(pieces.len())]).collect::<String>();
        consume(&mut lisp, &text);
        let bytes = (0..noise.next(24)).map(|_| noise.next(256) as u8).collect::<Vec<_>>();
        consume(&mut lisp, &String::from_utf8_lossy(&bytes));
    }
}
