//! The examples of the table and of the packages, run as they stand in the documentation.

use rung::{Options, Session, Settings, solvers};

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
    for op in solvers::operations() {
        let (form, wanted) = op.example.split_once(" => ").expect("form => value");
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
}

/// A session whose device takes every call that it can, so that results stay there until the
/// language reads them.
fn resident_session() -> Session {
    let mut settings = Settings::default();
    settings.gpu.value = true;
    settings.device.value = rung_base::DeviceChoice::Named("llvmpipe".into());
    let session = Session::new(&settings, Options::default());
    assert_eq!(session.notices, [""; 0], "install mesa-vulkan-drivers and libvulkan1");
    session.ladder.borrow_mut().costs.device.make_free();
    session
}

/// A reader that forgets to ask for the elements stops a build with debug assertions.
#[test]
fn every_example_gives_the_same_where_results_stay_on_a_device() {
    let mut session = resident_session();
    for op in solvers::operations() {
        let (form, wanted) = op.example.split_once(" => ").expect("form => value");
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
    assert!(session.ladder.borrow().residency().unwrap().moved().down > 0);
}

#[test]
fn arrays_go_to_the_device_and_come_home_by_name() {
    let mut session = resident_session();
    let mut shown = |form: &str| printed(&mut session, form);
    shown("(defvar *a* (la:reshape (la:arange 12) '(3 4)))");
    assert_eq!(shown("(list (rung:resident-p *a*) (eq (rung:send *a*) *a*))"), "(NIL T)");
    assert_eq!(shown("(list (rung:resident-p *a*) (rung:resident-p (la:row *a* 1)))"), "(T T)");
    shown("(defvar *b* (la:sqrt *a*))");
    assert_eq!(shown("(list (la:shape *b*) (rung:resident-p *b*))"), "((3 4) T)");
    assert_eq!(shown("(aref (rung:home *b*) 2 1)"), "3.0");
    // Read, it is in both places; written, it is here alone.
    assert_eq!(shown("(rung:resident-p *b*)"), "T");
    assert_eq!(shown("(progn (setf (aref *b* 0 0) 5) (rung:resident-p *b*))"), "NIL");
    assert_eq!(shown("(aref (la:add *b* *b*) 0 0)"), "10.0");
    assert_eq!(shown("(rung:synchronize)"), "NIL");
    assert!(shown("(rung:send '(1))").contains("rung:send"));
    let mut without = self::session();
    assert_eq!(printed(&mut without, "(rung:resident-p (rung:send #d(1)))"), "NIL");
}

/// Sequence functions, printing, comparing, coercing and copying of arrays that are on a device.
#[test]
fn the_language_reads_arrays_that_are_on_a_device() {
    let forms = [
        "(print (la:sqrt #d(1 4)))",
        "(coerce (la:sqrt #d(1 4)) 'list)",
        "(length (la:sqrt #d(1 4)))",
        "(elt (la:sqrt #d(1 4)) 1)",
        "(reverse (la:sqrt #d(1 4)))",
        "(sort (la:sqrt #d(4 1)) #'<)",
        "(map 'list #'1+ (la:sqrt #d(1 4)))",
        "(reduce #'+ (la:sqrt #d(1 4)))",
        "(position 2d0 (la:sqrt #d(1 4)))",
        "(find 2d0 (la:sqrt #d(1 4)))",
        "(subseq (la:sqrt #d(1 4 9)) 1)",
        "(fill (la:sqrt #d(1 4 9)) 5)",
        "(replace (la:sqrt #d(1 4 9)) #d(7 8))",
        "(copy-seq (la:sqrt #d(1 4 9)))",
        "(concatenate 'vector (la:sqrt #d(1)) #(2))",
        "(equalp (la:sqrt #d(1 4)) #d(1 2))",
        "(equal (la:sqrt #d(1 4)) #d(1 2))",
        "(search #d(2) (la:sqrt #d(1 4)))",
        "(mismatch #d(1 3) (la:sqrt #d(1 4)))",
        "(count 2d0 (la:sqrt #d(4 4)))",
        "(remove 2d0 (la:sqrt #d(1 4)))",
        "(row-major-aref (la:sqrt #d((1 4))) 1)",
        "(adjust-array (la:sqrt #d(1 4)) 3 :initial-element 0d0)",
        "(array-dimensions (la:sqrt #d((1 4))))",
        "(describe (la:sqrt #d(1 4)))",
        "(type-of (la:sqrt #d(1 4)))",
        "(typep (la:sqrt #d(1 4)) '(vector double-float))",
        "(let ((*print-array* nil)) (prin1-to-string (la:sqrt #d(1 4))))",
        "(loop for x across (la:sqrt #d(1 4)) sum x)",
        "(every #'plusp (la:sqrt #d(1 4)))",
        "(let ((a (la:sqrt #d(1 4)))) (setf (aref a 0) 9) a)",
        "(let ((a (la:sqrt #d(1 4)))) (setf (la:row a 0) 9) a)",
        "(let ((a (la:sqrt #d(1 4)))) (vec:add-into a a a) a)",
        "(let ((h (make-hash-table :test #'equalp))) (setf (gethash (la:sqrt #d(4)) h) 1) \
           (gethash #d(2) h))",
        "(vector-push-extend 1 (make-array 1 :fill-pointer 0 :adjustable t))",
        "(make-array 2 :initial-contents (la:sqrt #d(1 4)))",
        "(destructuring-bind (a b) (coerce (la:sqrt #d(1 4)) 'list) (+ a b))",
        "(la:emap #'1+ (la:sqrt #d(1 4)))",
        "(la:take-rows #d(5 6 7) (la:sqrt #d(1 4)))",
        "(la:allclose (la:sqrt #d(1 4)) #d(1 2))",
        "(la:topk (la:sqrt #d(1 4)) 1)",
        "(format nil \"~a ~s ~{~a ~}\" (la:sqrt #d(1)) (la:sqrt #d(4)) (coerce (la:sqrt #d(9)) 'list))",
    ];
    let (mut here, mut there) = (session(), resident_session());
    for form in forms {
        assert_eq!(printed(&mut there, form), printed(&mut here, form), "{form}");
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
    for op in solvers::operations().filter(|op| !op.setf) {
        for name in op.names {
            let ours = format!("{}{name}", op.package.prefix);
            let same = format!(
                "(and (fboundp 'cl::{name}) (not (macro-function 'cl::{name})) \
                 (eq #'cl::{name} #'{ours}))"
            );
            assert_eq!(printed(&mut session, &same), "NIL", "{ours}");
        }
    }
    assert_eq!(printed(&mut session, "(sqrt -1)"), "#C(0.0 1.0)");
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
        ("(la:take-rows #d(1 2 3) #d(nan))", "indices: element 0 is NaN"),
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

/// Runs each form in a fresh session and compares what it prints.
fn check(cases: &[(&str, &str)]) {
    let mut session = session();
    for (form, wanted) in cases {
        assert_eq!(printed(&mut session, form), *wanted, "{form}");
    }
}

/// Runs each form and looks for a text in its error.
fn check_errors(cases: &[(&str, &str)]) {
    let mut session = session();
    for (form, wanted) in cases {
        let caught = format!("(handler-case {form} (error (e) (princ-to-string e)))");
        let text = printed(&mut session, &caught);
        assert!(text.starts_with(&format!("\"linalg: {wanted}")), "{form}: {text}");
    }
}

#[test]
fn sums_and_products_of_any_number_of_operands_fold_from_the_left() {
    check(&[
        ("(list (la:+) (la:*))", "(0 1)"),
        ("(list (la:+ 1/3) (la:- 1/3) (la:* 5) (la:/ 4))", "(1/3 -1/3 5 1/4)"),
        ("(la:- 0.0)", "-0.0"),
        ("(la:/ 0)", "#.rung:double-inf"),
        ("(la:+ 1/3 1/3 1/3)", "1"),
        ("(la:+ 9223372036854775807 1 #d(0))", "#d(9.223372036854776e18)"),
        ("(la:- #d(1 2))", "#d(-1.0 -2.0)"),
        ("(la:/ #d(4 0))", "#d(0.25 inf)"),
        ("(la:- 10 #d(1 2) 3)", "#d(6.0 5.0)"),
        ("(la:/ 1 3 #d(1))", "#d(0.3333333333333333)"),
        ("(la:+ #u8(200 1) #u8(100 2))", "#(44 3)"),
        ("(apply #'la:* (list #d(1 2) #d(3 4) 2))", "#d(6.0 16.0)"),
    ]);
    check_errors(&[
        ("(la:+ #d(1 2) #d(1 2 3))", "shape mismatch: (2) and (3)"),
        ("(la:+ #d(1 2) 'a)", "expected an array or a number"),
    ]);
}

#[test]
fn integers_stay_integers_and_wrap() {
    check(&[
        ("(la:abs #i64(-3 4))", "#(3 4)"),
        ("(la:square #i64(4294967296))", "#(0)"),
        ("(la:power #i64(2 -3) #i64(62 3))", "#(4611686018427387904 -27)"),
        ("(la:power #i64(2 3) 0.5)", "#d(1.4142135623730951 1.7320508075688774)"),
        ("(la:mod #i64(7 -7 7 -7) #i64(3 3 -3 -3))", "#(1 2 -2 -1)"),
        ("(la:floor-divide #i64(7 -7 7 -7) #i64(3 3 -3 -3))", "#(2 -3 -3 2)"),
        ("(la:clip #i64(-5 0 5) -1 nil)", "#(-1 0 5)"),
        ("(la:where #d(1 0) #i64(5 6) 7)", "#(5 7)"),
        ("(la:where #d(1 0) #i64(5 6) 7.5)", "#d(5.0 7.5)"),
        ("(la:floor #i64(1 2))", "#d(1.0 2.0)"),
        ("(la:shift #i64(-8 3) -1)", "#(-4 1)"),
        ("(la:shift #i64(1 3) #i64(3 64))", "#(8 0)"),
        ("(list (la:bit-and 12 10) (la:bit-not 5) (la:shift 1 4))", "(8 -6 16)"),
        ("(la:greater #i64(1 3) 2)", "#d(0.0 1.0)"),
    ]);
    check(&[
        ("(la:mod 7/2 -2)", "-1/2"),
        ("(la:floor-divide 100000000000000000000 3)", "33333333333333333333"),
        ("(la:mod -7.5 2)", "0.5"),
        ("(la:equal #d(1 2) #d(1 3) :element-type 'bit)", "#*10"),
        ("(la:isnan #d(1 nan) :element-type 'bit)", "#*01"),
        ("(la:bit-not #bool(1 0))", "#*01"),
        ("(la:bit-xor #bool(1 0 1 0) #bool(1 1 0 0))", "#*0110"),
        ("(la:add #bool(1 1) #bool(1 1))", "#(2 2)"),
        ("(la:where #bool(1 0) #bool(1 1) #bool(0 0))", "#*10"),
    ]);
    check_errors(&[
        ("(la:power #i64(2) -1)", "power of an integer to a negative exponent"),
        ("(la:mod #i64(2) #i64(0))", "integer division by zero"),
        ("(la:floor-divide 1 0)", "integer division by zero"),
        ("(la:bit-and #d(1) 1)", "expects integer arrays: got #<double-float (1)>"),
        ("(la:shift #u8(1) 0.5)", "expects integer arrays: got 0.5"),
        ("(la:add #u8(1) 300)", "value does not fit: 300"),
        ("(la:where #d(1) 2)", "where takes 1 or 3 arguments: got 2"),
    ]);
    check(&[("(handler-case (la:mod #i64(2) 0) (division-by-zero () :caught))", ":CAUGHT")]);
}

#[test]
fn shapes_and_views_have_the_errors_of_the_reference() {
    check_errors(&[
        ("(la:squeeze #d(1 2) :axis 0)", "squeeze axis is not of extent 1"),
        ("(la:split #d(1 2 3) 2)", "split does not divide the axis"),
        ("(la:split #d(1 2 3) 0)", "split does not divide the axis"),
        ("(la:pad #d(1 2) '((1 2) (3 4)))", "pad expects one (before after) pair per axis"),
        ("(la:pad #d(1 2) '((1 -2)))", "pad widths must be non-negative"),
        ("(la:pad #d(1 2) -1)", "pad widths must be non-negative"),
        ("(la:concatenate nil)", "concatenate needs at least one array"),
        ("(la:concatenate (list #d(1) #d((1))))", "concatenate expects arrays of equal rank"),
        ("(la:concatenate (list #d((1 2)) #d((1))))", "concatenate shapes differ off the axis"),
        ("(la:stack nil)", "stack needs at least one array"),
        ("(la:stack (list #d(1) #d(1 2)))", "stack expects arrays of equal shape"),
        ("(la:triu #d(1))", "triu and tril expect rank >= 2"),
        ("(la:moveaxis #d(1) '(0) '(0 1))", "axis out of range"),
        ("(la:flip #d((1)) :axis '(0 -2))", "repeated axis"),
        ("(la:repeat #d(1 2) '(1 2 3))", "repeat counts must match the axis"),
        ("(la:repeat #d(1 2) -1)", "repeat counts must be non-negative"),
        ("(la:roll #d(1 2) '(1 2))", "roll expects one shift per axis"),
        ("(la:meshgrid (list #d((1))))", "meshgrid expects vectors"),
        ("(la:meshgrid (list #d(1)) :indexing :zz)", "expected indexing to be one of :xy :ij"),
        ("(la:diag (la:zeros '(1 1 1)))", "diag expects a vector or a matrix"),
        ("(la:eye -1)", "eye expects a non-negative count"),
        ("(la:one-hot '(0 3) 3)", "one-hot index out of range"),
        ("(la:one-hot #d(7) 3)", "one-hot index out of range"),
        ("(la:one-hot '(-1) 3)", "one-hot index out of range"),
        ("(la:from-list '((1 2) (3)))", "from-list rows differ in length"),
        ("(la:from-list '((1 2) 3))", "from-list rows differ in length"),
        ("(la:from-list '(1 (2)))", "from-list rows differ in length"),
        ("(la:from-list '((1 2) nil))", "from-list rows differ in length"),
        ("(la:from-list '(1 x))", "from-list expects numbers"),
        ("(la:astype #d(1) 'int12)", "unknown element type"),
        ("(la:astype #d(nan) '(signed-byte 32))", "value does not fit"),
        ("(la:full 2 300 :element-type '(unsigned-byte 8))", "value does not fit"),
        ("(la:arange 1 2 3 4)", "arange takes 1 to 3 positional arguments"),
        ("(la:arange 1 2 0)", "arange step must not be zero"),
        ("(la:linspace 0 1 -1)", "linspace expects a non-negative count"),
    ]);
    check(&[
        ("(la:squeeze #d((5)))", "5.0"),
        ("(la:shape (la:squeeze (la:zeros '(1 2 1 3)) :axis '(0 2)))", "(2 3)"),
        ("(la:split #d(1 2 3 4) '(1 -1))", "(#d(1.0) #d(2.0 3.0) #d(4.0))"),
        ("(la:eye 2 :element-type 'bit)", "#2A((1 0) (0 1))"),
        ("(la:to-list (la:from-list '(((1) (2)) ((3) (4)))))", "(((1.0) (2.0)) ((3.0) (4.0)))"),
        ("(la:to-list (la:full nil 3))", "3.0"),
        ("(la:from-list 7)", "#0d7.0"),
        ("(la:diag #d((1 2) (3 4)) :k -1)", "#d(3.0)"),
        ("(la:one-hot #d((1 0)) 2)", "#d(((0.0 1.0) (1.0 0.0)))"),
        ("(la:vstack (list #d(1 2) #d((3 4))))", "#d((1.0 2.0) (3.0 4.0))"),
        ("(la:hstack (list #d((1)) #d((2))))", "#d((1.0 2.0))"),
        ("(la:pad #u8(1 2) 1 :value 9)", "#(9 1 2 9)"),
        ("(la:roll #d((1 2 3) (4 5 6)) 1)", "#d((6.0 1.0 2.0) (3.0 4.0 5.0))"),
        ("(la:repeat #d((1 2) (3 4)) '(2 1) :axis 1)", "#d((1.0 1.0 2.0) (3.0 3.0 4.0))"),
        ("(la:linspace 3 9 1)", "#d(3.0)"),
        ("(la:meshgrid (list #d(1 2) #d(3)) :indexing :ij)", "(#d((1.0) (2.0)) #d((3.0) (3.0)))"),
    ]);
}

#[test]
fn assignments_write_through_a_selection_into_one_array_alone() {
    check(&[
        // Of two arrays that share storage one changes.
        (
            "(let* ((a (la:zeros '(2 2))) (b (la:transpose a))) (setf (la:row a 0) 5) (list a b))",
            "(#d((5.0 5.0) (0.0 0.0)) #d((0.0 0.0) (0.0 0.0)))",
        ),
        (
            "(let* ((a (la:arange 4)) (v (la:slice a '((0 2))))) (setf (la:slice v '((0 1))) 9)
               (list a v))",
            "(#d(0.0 1.0 2.0 3.0) #d(9.0 1.0))",
        ),
        // The new value may read the array it is written into.
        (
            "(let ((a (la:arange 5))) (setf (la:slice a '((1 nil))) (la:slice a '((0 -1)))) a)",
            "#d(0.0 0.0 1.0 2.0 3.0)",
        ),
        ("(let ((a (la:arange 3))) (setf (la:slice a '((nil nil -1))) a) a)", "#d(2.0 1.0 0.0)"),
        ("(let ((a (la:zeros 2))) (setf (la:slice a nil) 1/2))", "1/2"),
        (
            "(let ((a (la:transpose (la:zeros '(2 3))))) (setf (la:row a 2) #d(1 2)) a)",
            "#d((0.0 0.0) (0.0 0.0) (1.0 2.0))",
        ),
        (
            "(let ((a #u8(1 2 3))) (setf (la:compress (la:greater a 1) a) #d(7.9 8.1)) a)",
            "#(1 7 8)",
        ),
        (
            "(let ((a (la:zeros '(2 3)))) (setf (la:compress #d(1 0 1) a :axis 1) #d((1) (2))) a)",
            "#d((1.0 0.0 1.0) (2.0 0.0 2.0))",
        ),
        ("(let ((a (la:zeros 3))) (setf (la:take-rows a '(1 1)) #d(4 5)) a)", "#d(0.0 5.0 0.0)"),
        (
            "(let* ((a (la:arange 3)) (v (la:slice a '((1 2)))))
               (setf (la:slice a '((1 2))) (la:+ v 10)) a)",
            "#d(0.0 11.0 2.0)",
        ),
        // An error changes nothing.
        (
            "(let ((a #u8(1 2 3)))
               (ignore-errors (setf (la:slice a '((0 2))) #d(9 300)))
               (ignore-errors (setf (la:slice a '((0 2))) #d(9 9 9)))
               (ignore-errors (setf (la:take-rows a '(0 7)) 9)) a)",
            "#(1 2 3)",
        ),
    ]);
    check_errors(&[
        ("(setf (la:slice (la:zeros 3) '((0 2))) #d(1 2 3))", "shape mismatch"),
        ("(setf (la:row (la:zeros '(2 2)) 2) 1)", "row index out of range"),
        ("(setf (la:row (la:zeros 2) 0) 1)", "row expects rank >= 2"),
        ("(setf (la:slice #(1 2) nil) 1)", "slice writes into a packed array"),
        ("(setf (la:take-rows (la:zeros 2) '(2)) 1)", "take-rows index out of range"),
        ("(setf (la:compress #d(1) (la:zeros 2)) 1)", "compress mask must have 2 elements"),
    ]);
}

#[test]
fn a_function_of_the_language_goes_over_arrays_in_row_major_order() {
    check(&[
        ("(la:emap (lambda (x y) (max x y)) #d(1 5) #d(3 2))", "#d(3.0 5.0)"),
        ("(la:emap #'+ #d((1) (2)) #d(10 20) 100)", "#d((111.0 121.0) (112.0 122.0))"),
        ("(la:emap #'1+ #f(1 2))", "#f(2.0 3.0)"),
        ("(la:emap #'1+ #u8(1 2))", "#(2 3)"),
        ("(la:emap (lambda (x) (/ x 2.0)) #u8(1 2))", "#d(0.5 1.0)"),
        ("(la:emap #'1+ 1/2)", "3/2"),
        ("(la:emap #'1+ (la:zeros '(0 3)))", "#d[0 3]"),
        (
            "(let ((seen nil))
               (la:emap (lambda (x) (push x seen) 0) #d((1 2) (3 4))) (reverse seen))",
            "(1.0 2.0 3.0 4.0)",
        ),
        // The function may use arrays, and write into its own argument.
        ("(la:emap (lambda (x) (la:sum (la:full 3 x))) #d(1 2))", "#d(3.0 6.0)"),
        (
            "(let ((a (la:arange 3))) (list (la:emap (lambda (x) (setf (aref a 2) 9d0) x) a) a))",
            "(#d(0.0 1.0 2.0) #d(0.0 1.0 9.0))",
        ),
        ("(handler-case (la:emap (lambda (x) (error \"no ~a\" x)) #d(1)) (error () :no))", ":NO"),
    ]);
    check_errors(&[
        ("(la:emap #'+ #d(1 2) #d(1 2 3))", "shape mismatch: (2) and (3)"),
        ("(la:emap (lambda (x) x 'a) #d(1))", "emap expects numbers from its function: got A"),
        ("(la:emap #'1+ #u8(255))", "value does not fit: 256 in (unsigned-byte 8)"),
        ("(la:emap #'1+ #bool(0 1))", "value does not fit: 2 in bit"),
    ]);
}

#[test]
fn a_distribution_or_window_that_cannot_be_is_refused() {
    check_errors(&[
        ("(la:normal 0 -1 3)", "normal expects a deviation of 0 or more: got -1"),
        (
            "(la:conv1d (la:ones '(1 1 3)) (la:ones '(1 1 5)))",
            "conv1d: 5 taps, dilated by 1, do not fit a length of 3 padded by 0",
        ),
    ]);
    check(&[
        ("(la:shape (la:conv1d (la:ones '(1 1 3)) (la:ones '(1 1 5)) :padding 1))", "(1 1 1)"),
        ("(la:normal 2 0 2)", "#d(2.0 2.0)"),
    ]);
}

#[test]
fn time_waits_for_the_device_and_says_rungs_and_bytes() {
    let form = "(with-output-to-string (*trace-output*)
                  (time (la:sum (la:add (la:arange 1000) 1))))";
    let text = printed(&mut session(), form).replace("\\n", "\n");
    let lines: Vec<&str> = text.trim_matches('"').lines().collect();
    assert!(lines[0].starts_with("time: ") && lines[0].ends_with(" s"), "{text}");
    assert!(lines[1].starts_with("operations: ") && lines[1].contains("lanes"), "{text}");
    // Two arrays of 1000 doubles; a number takes no array.
    assert!(lines[2].starts_with("arrays: ") && lines[2].ends_with(" KiB"), "{text}");
    let taken: f64 = lines[2].split(' ').nth(1).unwrap().parse().unwrap();
    assert!((15.6..23.5).contains(&taken), "{text}");
    let text = printed(&mut resident_session(), form).replace("\\n", "\n");
    let line = |head: &str| text.lines().find(|line| line.trim_matches('"').starts_with(head));
    assert!(line("operations: device ").is_some(), "{text}");
    assert!(line("moved: up ").is_some(), "{text}");
    // Values pass, an error prints nothing, and what runs after it is not counted.
    let mut session = session();
    assert_eq!(printed(&mut session, "(multiple-value-list (time (values 1 2)))"), "(1 2)");
    let quiet = "(with-output-to-string (*trace-output*)
                   (ignore-errors (time (la:add #d(1 2) #d(1 2 3)))))";
    assert_eq!(printed(&mut session, quiet), "\"\"");
    assert_eq!(printed(&mut session, "(rung:calls)"), "NIL");
}
