//! Calls that no reasonable program makes: each is told what was wanted and what came, at once.

mod common;

use common::{printed, session};

/// Each of these ran until the memory was full.
#[test]
fn circular_lists_are_refused_wherever_a_list_is_taken() {
    let mut session = session(|_| ());
    let forms = [
        "(la:zeros l)",
        "(la:from-list l)",
        "(la:from-list (list '(1 2) l))",
        "(la:sum l)",
        "(la:sum #d((1 2)) :axis l)",
        "(la:slice #d(1 2 3) l)",
        "(la:reshape #d(1 2) l)",
        "(la:concatenate l)",
        "(la:take #d(1 2 3) l)",
        "(vec:from-list l)",
        "(setf (la:slice #d(1 2 3) l) 0)",
        "(setf (la:slice #d(1 2 3) '((0 2))) l)",
        "(csv:read \"absent.csv\" :columns l)",
        "(csv:read \"absent.csv\" :types l)",
        "(csv:write #d((1 2)) \"/nonexistent/x.csv\" :columns l)",
    ];
    for cycle in [
        "(let ((l (list 1 2))) (setf (cddr l) l)",
        "(let ((l (list 1 2 3))) (setf (cdddr l) (cdr l))",
    ] {
        for form in forms {
            let got = printed(&mut session, &format!("{cycle} {form})"));
            let wanted = "expected a proper list: got a circular one";
            assert!(got.contains(wanted), "{form}: {got}");
        }
    }
    // A list that holds itself as an element has no end either.
    let got = printed(&mut session, "(let ((l (list 1 2))) (setf (car l) l) (la:sum l))");
    assert!(got.contains("too deep") || got.contains("nested"), "{got}");
}

/// `:format 5` was taken for the default.
#[test]
fn a_format_is_a_name() {
    let mut session = session(|_| ());
    let quantize = |format: &str| format!("(rung:quantize (la:zeros '(1 32)) :format {format})");
    for format in [":q8-0", "'q8_0", "\"Q8_0\"", "nil"] {
        let got = printed(&mut session, &quantize(format));
        assert_eq!(got, "#<QUANTIZED-MATRIX Q8_0 (1 32)>", "{format}");
    }
    let got = printed(&mut session, &quantize("5"));
    assert_eq!(got, "rung: expected a format such as :q8-0: got 5");
}
