//! Package `vec`: what it refuses and with which words, and what its writing forms leave alone.

mod common;

use common::{printed, session};

#[test]
fn nothing_is_converted() {
    let mut session = session(|_| ());
    let cases = [
        ("(vec:add '(1 2) #d(1 2))", "vec: expected a packed vector: got (1 2)"),
        ("(vec:add #(1 2) #d(1 2))", "vec: expected a packed vector: got #(1 2)"),
        ("(vec:exp 3)", "vec: expected a packed vector: got 3"),
        ("(vec:exp #d((1 2)))", "vec: expected a vector, got rank 2"),
        ("(vec:add #f(1 2) #d(1 2))", "vec: element types differ: SINGLE-FLOAT and DOUBLE-FLOAT"),
        ("(vec:add #d(1 2 3) #d(1 2 3 4))", "vec: lengths differ: 3 and 4"),
        ("(vec:dot #d(1 2 3) #d(1 2 3 4))", "vec: lengths differ: 3 and 4"),
        ("(vec:mean #d())", "vec: mean of an empty vector"),
        ("(vec:zeros -1)", "vec: expected a non-negative length: got -1"),
        ("(vec:from-list '(1 a))", "vec: list element is not a real number: got a"),
        ("(vec:aref #d(1 2 3) 5)", "vec: index 5 out of range for length 3"),
        ("(vec:matvec #d(1 2) #d(1 2))", "vec: matvec expects a matrix and a vector"),
        (
            "(vec:matvec #d((1 2 3)) #d(1 2 3 4))",
            "vec: matvec dimensions differ: 3 columns and 4 elements",
        ),
    ];
    for (form, wanted) in cases {
        let got = printed(&mut session, form);
        assert!(got.starts_with(wanted), "{form}: {got}");
    }
}

#[test]
fn a_form_that_writes_checks_its_target_first() {
    let mut session = session(|_| ());
    printed(&mut session, "(defvar *v* (la:copy #d(1 2 3)))");
    let cases = [
        (
            "(vec:exp-into #f(0 0 0) *v*)",
            "vec: out has element type SINGLE-FLOAT, expected DOUBLE-FLOAT",
        ),
        ("(vec:exp-into #d(0 0) *v*)", "vec: out has length 2, expected 3"),
        (
            "(vec:matvec-into *v* #d((1 0 0) (0 1 0) (0 0 1)) *v*)",
            "vec: matvec-into: out must not be an operand",
        ),
        (
            "(vec:negative-into (la:slice *v* '((0 2))) (la:slice *v* '((1 3))))",
            "vec: out overlaps an operand",
        ),
        ("*v*", "#d(1.0 2.0 3.0)"),
        ("(vec:add-into *v* *v* *v*)", "#d(2.0 4.0 6.0)"),
        ("*v*", "#d(2.0 4.0 6.0)"),
    ];
    for (form, wanted) in cases {
        let got = printed(&mut session, form);
        assert!(got.starts_with(wanted), "{form}: {got}");
    }
}

#[test]
fn a_write_shows_in_the_array_written_alone() {
    let mut session = session(|_| ());
    let program = "(let* ((a (la:copy #d(1 2 3))) (b (la:reshape a '(3))))
                     (list (vec:aset a 0 1/2) (vec:scale-into a a 2) a b (vec:aset a 9 0)))";
    assert!(printed(&mut session, program).starts_with("vec: index 9 out of range for length 3"));
    let program = "(let* ((a (la:copy #d(1 2 3))) (b (la:reshape a '(3))))
                     (vec:aset a 0 7) (vec:scale-into a a 2) (list a b))";
    assert_eq!(printed(&mut session, program), "(#d(14.0 4.0 6.0) #d(1.0 2.0 3.0))");
}

/// The accumulator is double-float on every rung; single would give 16777984.
#[test]
fn a_dot_of_singles_is_accumulated_in_double_float() {
    let mut session = session(|_| ());
    let vector = "(let ((v (vec:ones 1024 :element-type 'single-float))) (vec:aset v 0 4096) v)";
    let form = format!("(let ((v {vector})) (vec:dot v v))");
    assert_eq!(printed(&mut session, &form), "1.6778239e7");
    let form = "(let ((v (vec:arange 1024))) (vec:dot v v))";
    assert_eq!(printed(&mut session, form), "3.57389824e8");
}

#[test]
fn half_widths_meet_single_in_products() {
    let mut session = session(|_| ());
    let form = "(vec:matvec (la:astype #d((1 2) (3 4)) 'bfloat16) #f(1 10))";
    assert_eq!(printed(&mut session, form), "#f(21.0 43.0)");
    let form = "(vec:matvec #f((1 2) (3 4)) #d(1 10))";
    assert!(printed(&mut session, form).starts_with("vec: element types differ"));
}

#[test]
fn a_quantised_matrix_is_read_only_and_meets_single_vectors() {
    let mut session = session(|_| ());
    printed(&mut session, "(defvar *q* (rung:quantize (la:mul 127 (la:ones '(2 32)))))");
    printed(&mut session, "(defvar *x* (vec:ones 32 :element-type 'single-float))");
    let cases = [
        ("*q*", "#<QUANTIZED-MATRIX Q8_0 (2 32)>"),
        ("(list (la:shape *q*) (la:size *q*) (la:ndim *q*))", "((2 32) 64 2)"),
        ("(list (rung:quantized-matrix-p *q*) (rung:quantized-matrix-p *x*))", "(T NIL)"),
        ("(vec:matvec *q* *x*)", "#f(4064.0 4064.0)"),
        ("(vec:matvec-into (la:zeros 2 :element-type 'float32) *q* *x*)", "#f(4064.0 4064.0)"),
        ("(vec:matvec (rung:quantized-rows *q* 1 1) *x*)", "#f(4064.0)"),
        ("(la:shape (rung:dequantize *q*))", "(2 32)"),
        ("(la:sum (rung:dequantize *q* :element-type 'double-float))", "8128.0"),
        ("(rung:aref-quantized *q* 1 31)", "127.0f0"),
        (
            "(vec:matvec-into (la:zeros 3 :element-type 'float32) *q* *x*)",
            "vec: out has length 3, expected 2",
        ),
        (
            "(vec:matvec *q* (vec:ones 32))",
            "vec: element types differ: (QUANTIZED Q8_0) and DOUBLE-FLOAT",
        ),
        (
            "(vec:matvec *q* (vec:ones 31 :element-type 'single-float))",
            "vec: matvec dimensions differ: 32 columns and 31 elements",
        ),
        ("(la:exp *q*)", "linalg: expected an array or a number: got #<QUANTIZED-MATRIX"),
        ("(rung:aref-quantized *q* 2 0)", "rung: index 2 out of range for axis 0 of extent 2"),
        ("(rung:quantize (la:zeros '(2 33)))", "rung: quantize needs columns in multiples of 32"),
        (
            "(rung:make-quantized-matrix 1 32 (la:zeros 33 :element-type '(unsigned-byte 8)))",
            "rung: expected 34 bytes, got 33",
        ),
        (
            "(rung:quantize (la:zeros '(1 32)) :format :q4-k)",
            "rung: format Q4_K is not supported; supported: Q8_0",
        ),
    ];
    for (form, wanted) in cases {
        let got = printed(&mut session, form);
        assert!(got.starts_with(wanted), "{form}: {got}");
    }
}

#[test]
fn an_element_is_written_where_the_vector_stands() {
    let mut session = session(|_| ());
    let cases = [
        ("(let ((v (la:copy #d(1 2)))) (list (vec:aset v 1 1/2) v))", "(1/2 #d(1.0 0.5))"),
        ("(vec:aset '(1 2) 0 1)", "vec: expected a packed vector: got (1 2)"),
        ("(vec:aset #(1 2) 0 1)", "vec: expected a packed vector: got #(1 2)"),
        ("(vec:aset #d((1 2)) 0 1)", "vec: expected a vector, got rank 2"),
    ];
    for (form, wanted) in cases {
        let got = printed(&mut session, form);
        assert!(got.starts_with(wanted), "{form}: {got}");
    }
}

/// They were arrays to `la:shape` and no arrays to the language.
#[test]
fn quantised_matrices_are_arrays_that_are_only_read() {
    let mut session = session(|_| ());
    printed(&mut session, "(defvar *q* (rung:quantize (la:mul 127 (la:ones '(2 32)))))");
    let cases = [
        ("(array-element-type *q*)", "(RUNG:QUANTIZED :Q8-0)"),
        ("(equal (array-element-type *q*) '(rung:quantized :q8-0))", "T"),
        ("(list (array-dimensions *q*) (array-dimension *q* 1))", "((2 32) 32)"),
        ("(list (array-rank *q*) (array-total-size *q*))", "(2 64)"),
        (
            "(list (arrayp *q*) (vectorp *q*) (typep *q* 'array) (typep *q* 'vector))",
            "(T NIL T NIL)",
        ),
        ("(type-of *q*)", "RUNG:QUANTIZED-MATRIX"),
        ("(typep *q* (type-of *q*))", "T"),
        (
            "(mapcar (lambda (x) (typep x 'rung:quantized-matrix)) (list 1 nil #d(1) *q*))",
            "(NIL NIL NIL T)",
        ),
        ("(typep *q* '(rung:quantized-matrix :q8-0 (2 *)))", "T"),
        ("(typep *q* '(rung:quantized-matrix :q4-k))", "NIL"),
        ("(typep *q* '(array (rung:quantized :q8-0) (2 32)))", "T"),
        ("(typep *q* '(array single-float))", "NIL"),
        ("(typep #d(1) '(array (rung:quantized :q8-0)))", "NIL"),
        ("(list (aref *q* 1 31) (row-major-aref *q* 0))", "(127.0f0 127.0f0)"),
        ("(array-in-bounds-p *q* 2 0)", "NIL"),
        ("(aref *q* 2 0)", "aref: index 2 is outside an axis of length 2"),
        ("(aref *q* 0)", "aref: 1 index does not fit an array with 2 axes"),
        ("(row-major-aref *q* 64)", "aref: index 64 is outside an axis of length 64"),
        ("(setf (aref *q* 0 0) 1)", "rung: quantised matrices are read-only"),
        ("(setf (row-major-aref *q* 0) 1)", "rung: quantised matrices are read-only"),
        ("(setf (aref *q* 0) 1)", "rung: quantised matrices are read-only"),
        ("(equalp *q* (rung:dequantize *q*))", "T"),
        (
            "(with-output-to-string (s) (describe *q* s))",
            "\"#<QUANTIZED-MATRIX Q8_0 (2 32)> is a rung:quantized-matrix\n\"",
        ),
    ];
    for (form, wanted) in cases {
        assert_eq!(printed(&mut session, form).split(';').next(), Some(wanted), "{form}");
    }
}
