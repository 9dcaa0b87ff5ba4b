//! What a newcomer is told: the names of NumPy, arrays where numbers are wanted, wrong counts and
//! keywords, and files of separated values that are not what they seem.

use rung::{Options, Session, Settings};
use rung_ops::elsewhere::ELSEWHERE;

fn session() -> Session {
    Session::new(&Settings::default(), Options::default())
}

/// The sentence and the hint of the error that a form ends in.
fn told(session: &mut Session, form: &str) -> (String, String) {
    let e = session.lisp.eval_text("test", form).expect_err(form);
    (e.text.clone(), e.hint.clone().unwrap_or_default())
}

#[test]
fn names_of_numpy_are_told_what_is_written_here() {
    let mut session = session();
    for (form, hint) in [
        ("(la:subtract 1 2)", "subtract is (la:sub a b) here"),
        ("(la:arctan2 1 2)", "arctan2 is (la:atan2 a b) here"),
        ("(la:percentile #d(1) 5)", "percentile is (la:quantile a (/ percent 100)) here"),
        ("(la:max #d(1))", "max is (la:amax a), or (la:maximum a b) of two arrays here"),
        ("(la:linalg.norm #d(1))", "linalg.norm is la:norm here"),
        ("(vec:multiply #d(1) #d(2))", "multiply is (la:mul a b) here"),
        ("(la:expand_dims #d(1) 0)", "expand_dims is la:expand-dims here"),
        ("(la:sume #d(1))", "did you mean la:sum"),
        ("(la:matmull #d(1) #d(2))", "did you mean la:matmul"),
        // Without a package.
        ("(matmul #d(1) #d(2))", "did you mean la:matmul"),
        ("(subtract 1 2)", "subtract is (la:sub a b) here"),
        ("(arange 3)", "did you mean la:arange"),
        ("(lenght '(1))", "did you mean length"),
    ] {
        assert_eq!(told(&mut session, form).1, hint, "{form}");
    }
    assert_eq!(told(&mut session, "(la:quux 1)").1, "");
}

#[test]
fn what_is_written_for_a_name_of_numpy_can_be_read() {
    let mut session = session();
    for entry in ELSEWHERE.iter().filter(|entry| entry.here.starts_with('(')) {
        let form = format!("'{}", entry.here);
        let read = session.lisp.eval_text("test", &form[..closing(&form)]);
        assert!(read.is_ok(), "{}: {:?}", entry.here, read.err().map(|e| e.to_string()));
    }
}

/// One after the parenthesis that closes the first one.
fn closing(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        depth += i32::from(c == '(') - i32::from(c == ')');
        if c == ')' && depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

#[test]
fn an_array_where_a_number_is_wanted_is_told_what_takes_arrays() {
    let mut session = session();
    for (form, sentence, hint) in [
        (
            "(+ #d(1 2) 1)",
            "+: expected a number: got #d(1.0 2.0)",
            "+ takes numbers; of arrays it is la:+",
        ),
        (
            "(* 2 #d(1 2))",
            "*: expected a number: got #d(1.0 2.0)",
            "* takes numbers; of arrays it is la:*",
        ),
        (
            "(sqrt #d(1 2))",
            "sqrt: expected a number: got #d(1.0 2.0)",
            "sqrt takes numbers; of arrays it is la:sqrt",
        ),
        (
            "(< #d(1 2) 2)",
            "<: expected a real number: got #d(1.0 2.0)",
            "< takes numbers; of arrays it is (la:less a b)",
        ),
        (
            "(max #d(1 2) 2)",
            "max: expected a real number: got #d(1.0 2.0)",
            "max takes numbers; of arrays it is (la:amax a), or (la:maximum a b) of two arrays",
        ),
        ("(+ 1 \"a\")", "+: expected a number: got \"a\"", ""),
    ] {
        assert_eq!(told(&mut session, form), (sentence.into(), hint.into()), "{form}");
    }
}

#[test]
fn wrong_counts_and_keywords_show_what_is_taken() {
    let mut session = session();
    session.lisp.eval_text("test", "(defun f (a &key b) (list a b))").unwrap();
    session.lisp.eval_text("test", "(defgeneric g (a b))").unwrap();
    session.lisp.eval_text("test", "(defmacro m (a b) (list 'list a b))").unwrap();
    for (form, sentence, hint) in [
        (
            "(la:sum)",
            "sum: expected at least 1 argument: got 0",
            "its arguments are (a &key axis keepdims)",
        ),
        ("(la:add 1)", "add: expected 2 arguments: got 1", "its arguments are (a b)"),
        ("(la:sum #d(1) :axes 1)", "Unknown keyword argument: :axes", "sum takes :axis :keepdims"),
        ("(f)", "f: expected at least 1 argument: got 0", "its arguments are (a &key b)"),
        ("(f 1 :c 2)", "Unknown keyword argument: C", "its keywords are :b"),
        ("(f 1 2 3)", "Unknown keyword argument: 2", "its arguments are (a &key b)"),
        ("(f 1 :b)", "Odd number of keyword arguments", "its arguments are (a &key b)"),
        ("(g 1)", "g: expected 2 arguments: got 1", "its arguments are (a b)"),
        ("(funcall (lambda ()) 1)", "lambda: expected 0 arguments: got 1", "it takes no arguments"),
        ("(m 1)", "m: too few arguments", "its arguments are (a b)"),
        ("(m 1 2 3)", "m: too many arguments", "its arguments are (a b)"),
        ("(car 1 2)", "car: expected 1 argument: got 2", "its arguments are (list)"),
    ] {
        assert_eq!(told(&mut session, form), (sentence.into(), hint.into()), "{form}");
    }
    let (_, hint) = told(&mut session, "(make-array 3 :element-typ 'bit)");
    assert!(hint.starts_with("its keywords are :") && hint.contains(":element-type"), "{hint}");
}

#[test]
fn files_of_separated_values_are_told_their_header_and_their_separator() {
    let mut session = session();
    let path = std::env::temp_dir().join(format!("rung-hints-{}.csv", std::process::id()));
    for (text, keywords, sentence, hint) in [
        (
            "1;2\n3;4\n",
            "",
            ":2: column 0 (1;2) is no number: \"3;4\"",
            "another separator? :separator #\\;",
        ),
        (
            "1\t2\n3\t4\n",
            "",
            ":2: column 0 (1\t2) is no number: \"3\\t4\"",
            "another separator? :separator #\\Tab",
        ),
        ("a;b\n1,5;2\n", "", ":2: expected 1 fields: got 2", "another separator? :separator #\\;"),
        (
            "x,2020,2021\n1,2,3\n",
            "",
            ":1: column 0 is no number: \"x\"",
            "does the first line name the columns? :header t says so",
        ),
        (
            "1;2,5\n",
            ":separator #\\;",
            ":1: column 1 is no number: \"2,5\"",
            "numbers have a decimal point: 2.5",
        ),
        (
            "a,b\n1,x\n",
            "",
            ":2: column 1 (b) is no number: \"x\"",
            "leave the column out with :columns",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let form = format!("(csv:read \"{}\" :as :matrix {keywords})", path.display());
        let (told, advice) = told(&mut session, &form);
        assert!(told.ends_with(&format!(".csv{sentence}")), "{text:?}: {told}");
        assert_eq!(advice, hint, "{text:?}");
    }
    let form = format!("(csv:read \"{}\" :separator \";\")", path.display());
    assert_eq!(told(&mut session, &form).1, "a character is written #\\;");
    std::fs::remove_file(&path).unwrap();
}
