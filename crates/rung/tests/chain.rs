//! Chains of element-wise operations in a program: taken together where nobody can tell, and
//! one by one wherever somebody could.

mod common;

use common::{printed, session};
use rung::Session;
use rung_base::Explain;

/// A session that counts its calls.
fn explained() -> Session {
    session(|settings| settings.explain.value = Explain::Json)
}

/// The operations that were called, as explain names them.
fn operations(session: &Session) -> Vec<String> {
    let json: serde_json::Value = serde_json::from_str(&session.explain_json()).unwrap();
    let name = |row: &serde_json::Value| row["operation"].as_str().unwrap().to_string();
    json["calls"].as_array().unwrap().iter().map(name).collect()
}

const SETUP: &str = "(defvar *a* #d(1 2 3)) (defvar *b* #d(4 5 6)) ";
/// Large enough to be taken together.
const LARGE: &str = "(defvar *x* (la:full '(5000) 2d0)) (defvar *y* (la:full '(5000) 16d0))";

#[test]
fn nested_calls_are_one_call_of_the_lanes() {
    let mut session = explained();
    session.lisp.eval_text("setup", LARGE).unwrap();
    let form = "(aref (la:div (la:add (la:mul *x* *y*) 1) (la:sqrt *y*)) 4999)";
    assert_eq!(printed(&mut session, form), "8.25");
    let names = operations(&session);
    assert_eq!(names.last().map(String::as_str), Some("mul+add+sqrt+div"), "{names:?}");
}

#[test]
fn small_arrays_go_operation_by_operation() {
    let mut session = explained();
    let form = "(la:div (la:add (la:mul *a* *b*) 1) (la:sqrt *b*))";
    let value = printed(&mut session, &format!("{SETUP} {form}"));
    assert_eq!(value, "#d(2.5 4.919349550499537 7.756717518813398)");
    assert_eq!(operations(&session), ["mul", "add", "sqrt", "div"]);
}

#[test]
fn an_argument_that_does_something_is_evaluated_in_its_turn() {
    let mut session = explained();
    // The second argument changes what the first has read already.
    let form = "(la:add (la:mul *a* 2) (progn (setf (aref *a* 0) 100d0) *b*))";
    assert_eq!(printed(&mut session, &format!("{SETUP} {form}")), "#d(6.0 9.0 12.0)");
    // Before any function is called it may do what it likes.
    let form = "(la:add (la:mul (progn (setf (aref *a* 0) 1d0) *a*) 2) *b*)";
    assert_eq!(printed(&mut session, form), "#d(6.0 9.0 12.0)");
    assert_eq!(operations(&session), ["mul", "add", "mul", "add"]);
}

#[test]
fn numbers_among_themselves_stay_exact() {
    let mut session = explained();
    assert_eq!(printed(&mut session, "(la:add (la:mul 1/3 3) 1)"), "2");
    let form = "(let ((x 1/3)) (la:add (la:mul x 3) #d(1 2)))";
    assert_eq!(printed(&mut session, form), "#d(2.0 3.0)");
}

#[test]
fn an_error_stands_at_the_call_that_made_it() {
    let mut session = explained();
    session.lisp.eval_text("setup", SETUP).unwrap();
    let form = "(la:add 1\n  (la:mul\n    (la:sub *a* #d(1 2)) 2))";
    let error = session.lisp.eval_text("prog.lisp", form).err().unwrap();
    let place = error.place.as_ref().unwrap();
    assert_eq!((&*place.name, place.line, place.column), ("prog.lisp", 3, 5), "{error}");
    assert!(error.text.contains("shape mismatch: (3) and (2)"), "{error}");
}

#[test]
fn a_function_of_a_locked_package_is_not_replaced() {
    let mut session = explained();
    session.lisp.eval_text("setup", LARGE).unwrap();
    let define = "(defun f () (aref (la:add (la:mul *x* *y*) 1) 7))";
    session.lisp.eval_text("setup", define).unwrap();
    assert_eq!(printed(&mut session, "(f)"), "33.0");
    let replace = "(setf (fdefinition 'la:mul) (lambda (a b) (declare (ignore b)) a))";
    let refused = "la:mul is a name of the locked package linalg";
    assert_eq!(printed(&mut session, replace), refused);
    assert_eq!(printed(&mut session, "(f)"), "33.0");
    let local = "(flet ((twice (x) (la:mul 2 x))) (aref (la:add (twice *x*) 1) 0))";
    assert_eq!(printed(&mut session, local), "5.0");
}

#[test]
fn other_kinds_of_operands_go_one_by_one() {
    let mut session = explained();
    for (form, value) in [
        ("(la:add (la:mul #f(1 2) #d(1 2)) 1)", "#f(2.0 5.0)"),
        ("(la:add (la:mul #(1 2) 2) 1)", "#d(3.0 5.0)"),
        ("(la:add (la:mul #u8(1 2) 2) 1)", "#(3 5)"),
        ("(la:add (la:mul #d(1 2) '(1 2)) 1)", "error"),
        ("(la:sqrt (la:add 8 1))", "3.0"),
    ] {
        let got = printed(&mut session, form);
        assert!(got == value || (value == "error" && got.starts_with("linalg: ")), "{form}: {got}");
    }
}

#[test]
fn a_deep_chain_is_cut_and_right() {
    let mut session = explained();
    session.lisp.eval_text("setup", LARGE).unwrap();
    let mut form = "*x*".to_string();
    for _ in 0..60 {
        form = format!("(la:sub (la:add {form} *y*) *y*)");
    }
    assert_eq!(printed(&mut session, &format!("(aref {form} 4999)")), "2.0");
    let names = operations(&session);
    assert!(
        names.len() > 5 && names.iter().any(|name| name.matches('+').count() > 10),
        "{names:?}"
    );
}
