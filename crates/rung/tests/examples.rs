//! The examples of the table and of the packages, run as they stand in the documentation.

use rung::{Options, Session, Settings, table};

fn session() -> Session {
    Session::new(&Settings::default(), Options::default())
}

fn printed(session: &mut Session, form: &str) -> String {
    match session.lisp.eval_text("example", form) {
        Ok(values) => values.first().map_or_else(String::new, |v| session.lisp.print(v)),
        Err(e) => format!("{e}"),
    }
}

#[test]
fn every_example_of_the_table_gives_what_it_says() {
    let mut session = session();
    for op in table::operations() {
        let (form, wanted) = op.example.split_once(" => ").expect("form => value");
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
}

#[test]
fn an_error_of_an_operation_is_a_condition_with_its_place_and_hint() {
    let mut session = session();
    let e = session.lisp.eval_text("prog.lisp", "(list\n  (la:matmul #d((1 2)) #d((3 4))))");
    let Err(e) = e else { panic!("the shapes do not fit") };
    assert_eq!(e.sentence(), "linalg: matmul inner dimensions differ: (1 2) and (1 2)");
    assert_eq!(e.class, "rung:shape-error");
    assert_eq!(e.hint.as_deref(), Some("(la:transpose b) has shape (2 1), which fits"));
    let place = e.place.unwrap();
    assert_eq!((place.line, place.column, place.width), (2, 3, 31));
    let caught = "(handler-case (la:sum 'a) (type-error (e) (princ-to-string e)))";
    assert_eq!(printed(&mut session, caught), "\"linalg: expected an array or a number: got a\"");
}

#[test]
fn general_arrays_are_operands_and_lists_are_not() {
    let mut session = session();
    assert_eq!(printed(&mut session, "(la:add #(1 1/2) #2A((1 2)))"), "#d((2.0 2.5))");
    let text = printed(&mut session, "(la:exp #(1 a))");
    assert!(text.contains("array element is not a real number: A"), "{text}");
    let text = printed(&mut session, "(la:exp '(1 2))");
    assert!(text.contains("expected an array or a number: got (1 2)"), "{text}");
}

#[test]
fn explain_names_operation_rung_and_place() {
    let mut settings = Settings::default();
    settings.explain.value = rung_base::Explain::Table;
    let mut session = Session::new(&settings, Options::default());
    let program = "(dotimes (i 3)\n  (la:add #d(1 2) i))";
    assert!(session.lisp.eval_text("prog.lisp", program).is_ok());
    let table = session.explain_table();
    let row = table.lines().nth(1).unwrap();
    assert!(row.starts_with("add"), "{table}");
    assert!(row.contains("lanes") && row.ends_with("prog.lisp:2:3"), "{table}");
    assert!(table.contains("device off x3: not asked for: --gpu"), "{table}");
    assert!(session.explain_json().starts_with("{\"calls\":[{"));
}

#[test]
fn a_picture_is_written_whole_or_not_at_all() {
    let mut session = session();
    let folder = std::env::temp_dir().join(format!("rung-png-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.png");
    let write = |what: &str| format!("(png:write {what} \"{}\")", path.display());
    let text = printed(&mut session, &write("(la:full '(2 3) 256)"));
    assert!(text.contains("png: value does not fit: 256.0 in (unsigned-byte 8)"), "{text}");
    let text = printed(&mut session, &write("(la:zeros '(2 3 5))"));
    assert!(text.contains("png: write expects a shape of (height width)"), "{text}");
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
    printed(&mut session, &write("#u8((0 255) (7 8))"));
    let decoder = png::Decoder::new(std::io::BufReader::new(std::fs::File::open(&path).unwrap()));
    let mut reader = decoder.read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut pixels).unwrap();
    assert_eq!(pixels, [0, 255, 7, 8]);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn tables_are_read_as_columns_or_as_a_matrix() {
    let mut session = session();
    let path = std::env::temp_dir().join(format!("rung-{}.csv", std::process::id()));
    std::fs::write(&path, "x,name,y\n1,a,0.5\n,\"b, c\",2\n").unwrap();
    let read = |rest: &str| format!("(csv:read \"{}\" {rest})", path.display());
    let column = |name: &str| format!("(gethash \"{name}\" {})", read(""));
    assert_eq!(printed(&mut session, &column("x")), "#d(1.0 nan)");
    assert_eq!(printed(&mut session, &column("name")), "#(\"a\" \"b, c\")");
    let matrix = printed(&mut session, &read(":as :matrix :columns '(\"y\" 0) :missing 0"));
    assert_eq!(matrix, "#d((0.5 1.0) (2.0 0.0))");
    let text = printed(&mut session, &read(":as :matrix"));
    assert!(text.contains(":2: column 1 (name) is no number: \"a\""), "{text}");
    let text = printed(&mut session, &read(":columns '(\"z\")"));
    assert!(text.contains("has no column \"z\""), "{text}");
    let text = printed(&mut session, "(csv:read \"/no/such/file\")");
    assert!(text.contains("cannot read /no/such/file"), "{text}");
    std::fs::write(&path, "1,2\n3\n").unwrap();
    let text = printed(&mut session, &read(""));
    assert!(text.contains(".csv:2: expected 2 fields: got 1"), "{text}");
    std::fs::remove_file(&path).unwrap();
}

/// `la:sqrt` once replaced `cl:sqrt`, because package linalg used package common-lisp.
#[test]
fn functions_of_linalg_do_not_replace_standard_ones_of_the_same_name() {
    let mut session = session();
    for op in table::operations().filter(|op| !op.setf) {
        for name in op.names {
            let ours = format!("{}{name}", op.package.prefix());
            let same = format!("(and (fboundp 'cl::{name}) (eq #'cl::{name} #'{ours}))");
            assert_eq!(printed(&mut session, &same), "NIL", "{ours}");
        }
    }
    assert!(printed(&mut session, "(sqrt -1)").contains("the result is complex"));
    assert_eq!(
        printed(&mut session, "(list (exp 0) (abs -1/2) (search \"b\" \"abc\"))"),
        "(1.0 1/2 1)"
    );
}

/// Two numbers once went through doubles or wrapped at 64 bits.
#[test]
fn two_numbers_are_computed_by_the_languages_own_arithmetic() {
    let mut session = session();
    let cases = [
        ("(la:add 9223372036854775807 1)", "9223372036854775808"),
        ("(la:div 1 2)", "1/2"),
        ("(la:add 1/2 1/3)", "5/6"),
        ("(la:div 1 0)", "#.rung:double-inf"),
        ("(la:equal 9007199254740993 9007199254740992)", "0.0"),
        ("(la:less 1 1.5)", "1.0"),
        ("(la:maximum 1/3 0.25)", "1/3"),
        ("(la:minimum 1 #.rung:double-nan)", "#.rung:double-nan"),
        ("(la:where 1 2 3)", "2.0"),
    ];
    for (form, wanted) in cases {
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
}

/// A view of 10^12 elements once ended the process when it was listed or printed.
#[test]
fn views_larger_than_memory_are_refused_as_conditions() {
    let mut session = session();
    for form in ["(la:to-list v)", "(prin1-to-string v)", "(la:take-rows #d(1) v)"] {
        let form = format!(
            "(let ((v (la:broadcast-to #d(0) '(1000000000000000))))
               (handler-case {form} (serious-condition () :refused)))"
        );
        assert_eq!(printed(&mut session, &form), ":REFUSED", "{form}");
    }
}

#[test]
fn rank_0_singles_print_so_that_they_read_back() {
    let mut session = session();
    let form = "(read-from-string (prin1-to-string (la:full nil 16 :element-type 'single-float)))";
    assert_eq!(printed(&mut session, form), "#0f 16.0");
}

#[test]
fn argument_mistakes_of_the_reference_have_its_texts() {
    let mut session = session();
    let cases = [
        ("(la:arange 1 2 3 4)", "arange takes 1 to 3 positional arguments: got 4"),
        ("(la:arange 5 'single-float)", "arange expects numbers (the element type is :element-"),
        ("(la:matmul #d(1 2) #d(1 2 3))", "dot expects equal-length vectors: (2) and (3)"),
        ("(la:matmul #d(1 2 3) (la:zeros '(2 4 4)))", "matmul inner dimensions differ"),
        ("(la:take-rows #d(1 2 3) #d(nan))", "take-rows index out of range"),
        ("(la:add 'x #d(1))", "expected an array or a number: got x"),
        ("(la:maximum #u8(200) 300)", "value does not fit: 300 in (unsigned-byte 8)"),
        ("(la:zeros 2.0)", "shape expects non-negative integers: got 2.0"),
        ("(la:sum #d(1) 'axis 0)", "sum takes 1 positional argument: got 3"),
    ];
    for (form, wanted) in cases {
        let text = printed(&mut session, form);
        assert!(text.contains(wanted), "{form}: {text}");
    }
    assert_eq!(printed(&mut session, "(la:matmul #d(1 2) #d(5 6))"), "17.0");
    assert_eq!(printed(&mut session, "(la:sum #d(1 2) :axis nil :axis 7)"), "3.0");
    assert_eq!(printed(&mut session, "(la:from-list '(() ()))"), "#d(() ())");
}

/// `--seed` once started the arrays' generator alone.
#[test]
fn a_seed_starts_both_generators() {
    let drawn = |seed: i64| {
        let mut settings = Settings::default();
        settings.seed.value = Some(seed);
        let mut session = Session::new(&settings, Options::default());
        ["(random 1000000)", "(la:rand 1)"].map(|form| printed(&mut session, form))
    };
    assert_eq!(drawn(1), drawn(1));
    assert_ne!(drawn(1)[0], drawn(2)[0]);
    assert_ne!(drawn(1)[1], drawn(2)[1]);
}
