//! Sizes that a program gives and no machine has: a storage-condition, never an abort.

mod common;

use common::{check, values};

/// What each of these says when a handler prints the condition.
fn caught(form: &str) -> String {
    values(&format!("(handler-case {form} (storage-condition (c) (princ-to-string c)))"))
}

#[test]
fn a_size_beyond_memory_is_a_storage_condition() {
    let table = [
        ("(make-array (expt 10 13))", "make-array: no memory for 10000000000000 elements"),
        ("(make-array '(10000000 1000000))", "make-array: no memory for 10000000000000 elements"),
        (
            "(make-array '(10000000000 10000000000))",
            "make-array: no memory for an array of that size",
        ),
        (
            "(make-array (expt 10 13) :element-type 'character)",
            "make-array: no memory for 10000000000000 elements",
        ),
        ("(make-list 10000000000000)", "make-list: no memory for 10000000000000 elements"),
        (
            "(let ((v (make-array 3))) (adjust-array v 10000000000000))",
            "adjust-array: no memory for 10000000000000 elements",
        ),
        (
            "(make-sequence 'vector 10000000000000)",
            "make-sequence: no memory for 10000000000000 elements",
        ),
        ("(make-string 100000000000000)", "make-string: no memory for 100000000000000 elements"),
    ];
    for (form, expected) in table {
        assert_eq!(caught(form), format!("\"{expected}\""), "{form}");
        let bare = values(form);
        assert_eq!(bare.split_once("error: ").map(|parts| parts.1), Some(expected), "{form}");
    }
    let packed = "(make-array 10000000000000 :element-type 'double-float)";
    assert!(caught(packed).contains("memory"), "{}", caught(packed));
}

#[test]
fn a_size_beyond_memory_is_a_serious_condition() {
    check(&[
        ("(handler-case (make-array (expt 10 13)) (serious-condition () :caught))", ":CAUGHT"),
        ("(handler-case (make-list (expt 10 13)) (error () 1) (storage-condition () 2))", "2"),
        ("(hash-table-count (make-hash-table :size (expt 10 13)))", "0"),
    ]);
}

#[test]
fn make_array_says_that_it_wants_a_size() {
    check(&[
        (
            "(make-array (expt 10 30))",
            "test.lisp:1:1: error: make-array: expected a size or a list of sizes: got \
             1000000000000000000000000000000",
        ),
        (
            "(make-array \"x\")",
            "test.lisp:1:1: error: make-array: expected a size or a list of sizes: got \"x\"",
        ),
        (
            "(make-array '(2 -1))",
            "test.lisp:1:1: error: make-array: expected a size or a list of sizes: got -1",
        ),
        ("(make-list 3 :initial-element 7)", "(7 7 7)"),
        ("(make-array '(2 0))", "#2A(() ())"),
    ]);
}
