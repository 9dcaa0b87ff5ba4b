//! Members of a training step called from a program: the arrays are changed where they stand,
//! mistakes change nothing.

mod common;

use common::{printed, session};

#[test]
fn an_array_is_changed_for_everyone_who_has_it_but_not_its_copies() {
    let mut session = session(|_| ());
    let cases = [
        ("(progn (defvar *x* (la:copy #d(1 2 3))) (defvar *same* *x*) *x*)", "#d(1.0 2.0 3.0)"),
        ("(defvar *view* (la:reshape *x* '(3 1)))", "*VIEW*"),
        ("(linalg::%la-scale *x* 2)", "#d(2.0 4.0 6.0)"),
        ("*same*", "#d(2.0 4.0 6.0)"),
        ("*view*", "#d((1.0) (2.0) (3.0))"),
        ("(linalg::%la-axpy 10 #d(1 1 1) *x*)", "#d(12.0 14.0 16.0)"),
        ("(eq *x* (linalg::%la-scale *x* 1))", "T"),
    ];
    for (form, wanted) in cases {
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
}

#[test]
fn a_mistake_names_itself_and_changes_nothing() {
    let mut session = session(|_| ());
    printed(&mut session, "(defvar *x* (la:copy #d(1 2 3)))");
    for form in [
        "(linalg::%la-scale 5 2)",
        "(linalg::%la-axpy 2 #d(1 2) *x*)",
        "(linalg::%la-adam-step *x* #d(1 1 1) *x* *x* #d(1 1 1 1 1 1 1 1 1 1 1))",
        "(linalg::%la-scatter-rows *x* #d(7) #d(1))",
    ] {
        let got = printed(&mut session, form);
        assert!(got.starts_with("linalg: ") && !got.contains("#d("), "{form}: {got}");
        assert_eq!(printed(&mut session, "*x*"), "#d(1.0 2.0 3.0)", "{form}");
    }
}
