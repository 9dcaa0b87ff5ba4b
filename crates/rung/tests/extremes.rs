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
