//! What a newcomer met at the edges: arrays of no elements, too many axes, NaN where an integer
//! belongs, infinities.

mod common;

use common::{printed, session};

/// A size of no elements is as long as the program says: nothing may be done for each of its rows.
#[test]
fn arrays_of_no_elements_and_huge_extents_take_no_time() {
    let mut session = session(|_| {});
    let cases = [
        ("(la:zeros '(99999999999999 0))", "#d[99999999999999 0]"),
        ("(la:zeros '(3 0))", "#d(() () ())"),
        (
            "(la:shape (la:matmul (la:zeros '(999999999999 0 3)) (la:zeros '(3 2))))",
            "(999999999999 0 2)",
        ),
    ];
    for (form, wanted) in cases {
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
    let path = std::env::temp_dir().join(format!("rung-extremes-{}.csv", std::process::id()));
    let form = format!("(csv:write (la:zeros '(3 0)) {:?})", path.to_string_lossy());
    let written = printed(&mut session, &form);
    assert!(written.contains("a csv file needs a column: got (3 0)"), "{written}");
    assert!(!path.exists());
}

#[test]
fn an_array_has_at_most_64_axes_however_it_is_made() {
    let mut session = session(|_| {});
    let ones = |count: usize| format!("(make-list {count} :initial-element 1)");
    assert_eq!(printed(&mut session, &format!("(la:ndim (la:zeros {}))", ones(64))), "64");
    for form in [
        format!("(la:zeros {})", ones(65)),
        format!("(la:reshape #d(1) {})", ones(300)),
        format!("(la:expand-dims (la:zeros {}) 0)", ones(64)),
    ] {
        let text = printed(&mut session, &form);
        assert!(text.contains("an array has at most 64 axes: got "), "{form}: {text}");
    }
}

#[test]
fn nan_is_no_index_and_a_list_is_no_array() {
    let mut session = session(|_| {});
    for form in ["(la:take #d(1 2 3) #d(0 nan))", "(la:bincount #d(0 nan))"] {
        let text = printed(&mut session, form);
        assert!(text.contains("expected integers as indices: element 1 is NaN"), "{form}: {text}");
    }
    let text = printed(&mut session, "(la:sum '(1 2))");
    assert!(text.contains("expected an array or a number: got (1 2)"), "{text}");
}

/// x - m is NaN where the largest m is infinite (SciPy gives the limits too).
#[test]
fn logsumexp_of_infinities_is_their_largest() {
    let mut session = session(|_| {});
    for lanes in ["", "(rung:with-rungs (:lanes nil) "] {
        let close = if lanes.is_empty() { "" } else { ")" };
        for (of, wanted) in
            [("1 inf", "inf"), ("-inf -inf", "-inf"), ("-inf 0", "0.0"), ("nan inf", "nan")]
        {
            let form = format!("{lanes}(la:logsumexp #d({of}) :axis 0 :keepdims t){close}");
            assert_eq!(printed(&mut session, &form), format!("#d({wanted})"), "{form}");
        }
    }
}

/// Without replacement p was not looked at.
#[test]
fn choice_without_replacement_takes_nothing_of_no_weight() {
    let mut session = session(|_| {});
    let form = "(la:sum (la:choice 5 2 :replace nil :p #d(0.5 0.5 0 0 0)))";
    for _ in 0..20 {
        assert_eq!(printed(&mut session, form), "1.0");
    }
    let text = printed(&mut session, "(la:choice 5 5 :replace nil :p #d(1 0 0 0 0))");
    let wanted = "choice without replacement takes at most 1, as many as have a positive p: got 5";
    assert!(text.contains(wanted), "{text}");
    // Index 0 has half of the weight: it comes first in about half of 400 runs.
    let form = "(let ((n 0)) (dotimes (i 400 n) (when (= 0 (aref (la:choice 3 3 :replace nil :p \
                #d(2 1 1)) 0)) (incf n))))";
    let first: i64 = printed(&mut session, form).parse().unwrap();
    assert!((150..250).contains(&first), "{first}");
}

#[test]
fn a_ddof_beyond_all_counts_is_refused() {
    let mut session = session(|_| {});
    for name in ["var", "std", "nanvar", "nanstd", "cov"] {
        for ddof in ["-9223372036854775808", "-9223372036854775807", "9223372036854775807"] {
            let text = printed(&mut session, &format!("(la:{name} #d(1 2) :ddof {ddof})"));
            assert!(text.contains("ddof must lie between -2^53 and 2^53"), "{name}: {text}");
        }
    }
}

#[test]
fn a_fraction_is_no_index() {
    let mut session = session(|_| {});
    for form in [
        "(la:take #d(1 2 3) #d(0 2.5))",
        "(la:bincount #d(1 2.5))",
        "(la:gather #d((1 2 3)) #d(2.5))",
        "(la:one-hot #f(0 2.5) 3)",
    ] {
        let text = printed(&mut session, form);
        assert!(text.contains("expected integers as indices: element "), "{form}: {text}");
        assert!(text.contains(" is 2.5"), "{form}: {text}");
    }
    assert_eq!(
        printed(&mut session, "(la:take #d(1 2 3) (la:argsort #d(3 1 2)))"),
        "#d(2.0 3.0 1.0)"
    );
}

/// Places in a vector that is not ascending were others on the lanes than by the definition.
#[test]
fn places_in_no_order_are_the_same_on_every_rung() {
    let mut session = session(|_| {});
    let form = "(la:searchsorted #d(6 4 2) #d(6 4 2) :side :right)";
    let plain = printed(&mut session, &format!("(rung:with-rungs (:lanes nil) {form})"));
    assert_eq!(printed(&mut session, form), plain);
}
