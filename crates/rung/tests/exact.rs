//! Folds of general arrays of rationals stay exact; other arrays keep to their own rules.

use rung::{Options, Session, Settings};

fn printed(form: &str) -> String {
    let mut session = Session::new(&Settings::default(), Options::default());
    match session.lisp.eval_text("exact", form) {
        Ok(values) => values.first().map_or_else(String::new, |v| session.lisp.print(v)),
        Err(e) => format!("{e}"),
    }
}

#[test]
fn rational_folds_are_exact() {
    let cases = [
        ("(la:sum #(1 2 3))", "6"),
        ("(la:mean #(1 2))", "3/2"),
        ("(la:sum #2A((1/2 1/3) (1/6 1)))", "2"),
        ("(la:prod #(100000000000 100000000000 3))", "30000000000000000000000"),
        ("(la:sum #(9223372036854775807 1))", "9223372036854775808"),
        ("(la:amax #(1 7/2 3))", "7/2"),
        ("(la:amin #2A((1 -1/3) (5 0)))", "-1/3"),
        ("(la:argmax #2A((1 3) (3 2)))", "1"),
        ("(la:argmin #(2 1 1))", "1"),
        ("(la:trace #2A((1 2 3) (4 5/2 6)))", "7/2"),
        ("(la:dot #(1 2 3) #(1/2 1/3 1))", "25/6"),
        // Anything else is in double-float.
        ("(la:sum #(1 2.0d0))", "3.0"),
        ("(la:sum #d(1 2))", "3.0"),
        ("(la:dot #(1 2) #d(1 2))", "5.0"),
        ("(la:sum #2A((1 2) (3 4)) :axis 0)", "#d(4.0 6.0)"),
        ("(la:sum #())", "0.0"),
        ("(la:trace #2A((1 2) (3 4)) :offset 1)", "2.0"),
    ];
    for (form, wanted) in cases {
        assert_eq!(printed(form), wanted, "{form}");
    }
    assert!(printed("(la:mean #())").contains("mean of an empty array"));
    assert!(printed("(la:dot #(1 2) #(1 2 3))").contains("dot expects equal-length vectors"));
    assert!(printed("(la:trace #(1 2))").contains("expects a matrix"));
}

#[test]
fn lists_of_axes_index_types_and_predicates() {
    let cases = [
        ("(la:sum #d(((1 2) (3 4)) ((5 6) (7 8))) :axis '(2 0))", "#d(14.0 22.0)"),
        ("(la:shape (la:sum #d((1 2)) :keepdims t))", "(1 1)"),
        ("(la:shape (la:argmax #d((1 2)) :axis 1 :keepdims t))", "(1 1)"),
        ("(la:argmax #d((1 2)) :axis 1 :element-type '(signed-byte 64))", "#(1)"),
        ("(la:any #*001)", "1"),
        ("(la:sum #*101)", "2"),
        ("(la:array-equal #d(1 nan) #d(1 nan))", "NIL"),
        ("(la:allclose #d(1 nan) #d(1 nan) :equal-nan t)", "T"),
        ("(la:norm #d((1 -2) (3 4)) :ord 1)", "6.0"),
        ("(la:norm #d((1 -2) (3 4)) :ord :inf)", "7.0"),
        ("(la:norm #d((1 -2) (3 4)) :ord (aref #d(inf) 0))", "7.0"),
        ("(la:norm #d((3 0) (0 4)) :ord 2)", "4.0"),
        ("(la:norm #d(1 -2 3) :ord 1)", "6.0"),
        ("(la:norm #d(1 -2 3) :ord :-inf)", "1.0"),
        ("(la:var #d(1 2 3 4) :ddof 1)", "1.6666666666666667"),
        ("(la:cov #d(1 2 3))", "1.0"),
    ];
    for (form, wanted) in cases {
        assert_eq!(printed(form), wanted, "{form}");
    }
}
