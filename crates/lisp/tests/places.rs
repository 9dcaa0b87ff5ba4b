//! Every error has its place, and a long line is shown by its part around the place.

mod common;

use common::{check, failure, lisp_reading};
use rung_lisp::Next;

#[test]
fn a_form_without_parentheses_has_its_place() {
    check(&[
        ("unbound", "test.lisp:1:1: error: the variable unbound is unbound"),
        ("(list 1)\n  unbound", "test.lisp:2:3: error: the variable unbound is unbound"),
    ]);
    let expected = "error: the variable speed is unbound
 --> test.lisp:2:3
  |
2 |   speed ; here
  |   ^^^^^";
    assert_eq!(failure("\n  speed ; here").to_string(), expected);
}

/// The place was that of the last call before it.
#[test]
fn a_variable_without_a_value_has_the_place_of_the_form_around_it() {
    let text = "(defun f (x)\n (print x)\n (list x\n  nowhere))\n(f 1)";
    assert_eq!(failure(text).short(), "test.lisp:3:2: error: the variable nowhere is unbound");
}

#[test]
fn a_form_without_parentheses_has_its_place_at_the_prompt_and_in_a_loaded_text() {
    let (mut lisp, ..) = lisp_reading("");
    let Next::Form(form, _) = lisp.read_form("prompt", " speed").unwrap() else { panic!() };
    let ended = lisp.eval_form_read(&form).unwrap_err();
    assert_eq!(ended.short(), "prompt:1:2: error: the variable speed is unbound");
    let ended = lisp.load_source("a.lisp", "1\nspeed").unwrap_err();
    assert_eq!(ended.short(), "a.lisp:2:1: error: the variable speed is unbound");
}

#[test]
fn a_call_with_too_many_arguments_has_its_place() {
    for operator in ["+", "list", "foo"] {
        let text = format!("(list 1)\n({operator} {})", "1 ".repeat(200_000));
        let ended = failure(&text);
        let expected = "test.lisp:2:1: error: a call has at most 65000 arguments: got 200000";
        assert_eq!(ended.short(), expected);
        assert!(ended.to_string().lines().all(|line| line.chars().count() <= 130));
    }
    let text = format!("(defun f () (+ {}))", "1 ".repeat(100_000));
    assert!(failure(&text).short().starts_with("test.lisp:1:13: error: a call has at most 65000"));
    check(&[(&format!("(+ {})", "1 ".repeat(60_000)), "60000")]);
}

#[test]
fn a_long_line_is_shown_by_its_part_around_the_place() {
    let padding = "(+ 1 1) ".repeat(100_000);
    let expected = "error: car: expected a list: got 5
 --> test.lisp:1:800001
  |
1 | (+ 1 1) (+ 1 1) (+ 1 1) (+ 1 1) (+ 1 1) (car 5)
  |                                         ^^^^^^^";
    assert_eq!(failure(&format!("{padding}(car 5)")).to_string(), expected);
    for text in [format!("(car \"{padding}\")"), format!("(car '({padding}) 2)")] {
        let shown = failure(&text).to_string();
        assert!(shown.lines().all(|line| line.chars().count() <= 130), "{shown}");
    }
}
