//! `subtypep` of compound types. Over 63 types and all their pairs it never contradicted CLISP when
//! both were sure; a pair of each kind is here.

mod common;

use common::values;

/// What `subtypep` says of two types: yes, no, or that it does not know.
fn says(a: &str, b: &str, setup: &str) -> String {
    let form = format!("{setup} (multiple-value-list (subtypep '{a} '{b}))");
    match values(&form).as_str() {
        "(T T)" => "yes".to_string(),
        "(NIL T)" => "no".to_string(),
        "(NIL NIL)" => "unknown".to_string(),
        other => other.to_string(),
    }
}

#[test]
fn compound_types_are_compared() {
    let table = [
        ("(integer 0 10)", "integer", "yes"),
        ("integer", "(integer 0 10)", "no"),
        ("(integer (0) (10))", "(integer 1 9)", "yes"),
        ("(mod 11)", "(integer 0 10)", "yes"),
        ("(unsigned-byte 8)", "fixnum", "yes"),
        ("bit", "(signed-byte 2)", "yes"),
        ("(integer 5 3)", "nil", "yes"),
        ("(integer 5 3)", "symbol", "yes"),
        ("(integer 0 1)", "(rational 0)", "yes"),
        ("(double-float 0d0 1d0)", "(float 0d0)", "yes"),
        ("(integer 0 5)", "(float 0.0)", "no"),
        ("(or integer symbol)", "(or symbol integer)", "yes"),
        ("(or integer string)", "integer", "no"),
        ("symbol", "(or string number)", "no"),
        ("list", "(or cons null)", "yes"),
        ("(and integer (satisfies evenp))", "integer", "yes"),
        ("integer", "(satisfies evenp)", "unknown"),
        ("(not integer)", "(not (integer 0 5))", "yes"),
        ("symbol", "(not integer)", "yes"),
        ("(member 1 2 3)", "(integer 0 3)", "yes"),
        ("(member 1 a)", "integer", "no"),
        ("boolean", "symbol", "yes"),
        ("null", "boolean", "yes"),
        ("(string 5)", "string", "yes"),
        ("string", "(vector character)", "yes"),
        ("(vector t 5)", "(array t (5))", "yes"),
        ("(array t (2 3))", "(array * (* *))", "yes"),
        ("(array t (2 3))", "vector", "no"),
        ("simple-vector", "(simple-array t (*))", "yes"),
        ("(vector bit)", "sequence", "yes"),
        ("(cons integer)", "(cons real)", "yes"),
        ("(cons integer list)", "list", "yes"),
        ("(cons t)", "(cons integer)", "no"),
        ("integer", "atom", "yes"),
        ("cons", "atom", "no"),
        ("base-char", "character", "yes"),
        ("character", "base-char", "yes"),
        ("small", "(integer 0 10)", "yes"),
        ("l", "(or integer k)", "yes"),
    ];
    let setup = "(deftype small () '(integer 0 5)) (defclass k () ()) (defclass l (k) ())";
    for (a, b, expected) in table {
        assert_eq!(says(a, b, setup), expected, "{a} {b}");
    }
}
