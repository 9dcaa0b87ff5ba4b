//! Complex numbers (chapter 12 of the standard) and the elementary functions.

mod support;
use support::{check, fresh};

#[test]
fn a_complex_rational_without_imaginary_part_is_the_rational() {
    check(&[
        ("#c(1 2)", "#C(1 2)"),
        ("#C(1/2 -3)", "#C(1/2 -3)"),
        ("#c(3 0)", "3"),
        ("#c(3 0.0)", "#C(3.0 0.0)"),
        ("#c(1.0 2)", "#C(1.0 2.0)"),
        ("#c(1f0 2)", "#C(1.0f0 2.0f0)"),
        ("#c(1f0 2d0)", "#C(1.0 2.0)"),
        ("(complex 1 2)", "#C(1 2)"),
        ("(list (complex 5) (complex 5.0))", "(5 #C(5.0 0.0))"),
        ("(complex 1 'a)", "error: complex: expected a real number: got A"),
        ("(- #c(1 2) #c(0 2))", "1"),
        ("(- #c(1.0 2.0) #c(0 2))", "#C(1.0 0.0)"),
        ("(princ-to-string #c(1 2))", "\"#C(1 2)\""),
        ("(let ((*print-base* 2)) (prin1-to-string #c(2 3)))", "\"#C(10 11)\""),
        ("(list (realpart #c(1 2)) (imagpart #c(1 2)) (conjugate #c(1 2)))", "(1 2 #C(1 -2))"),
        ("(list (realpart 5) (imagpart 5) (imagpart 5.0) (conjugate 5))", "(5 0 0.0 5)"),
        ("#+nil #c(bad) 1", "1"),
    ]);
}

#[test]
fn arithmetic_and_contagion() {
    check(&[
        ("(+ #c(1 2) #c(3 4))", "#C(4 6)"),
        ("(+ #c(1 2) 1/2)", "#C(3/2 2)"),
        ("(+ 1.0 #c(1 2))", "#C(2.0 2.0)"),
        ("(+ #c(1f0 2f0) 1d0)", "#C(2.0 2.0)"),
        ("(- 1 #c(1 2))", "#C(0 -2)"),
        ("(- #c(1 2))", "#C(-1 -2)"),
        ("(- #c(1.0 0.0))", "#C(-1.0 -0.0)"),
        ("(* #c(1 2) #c(3 4))", "#C(-5 10)"),
        ("(* #c(0 1) #c(0 1))", "-1"),
        ("(* 2 #c(1 2))", "#C(2 4)"),
        ("(/ #c(1 2) #c(3 4))", "#C(11/25 2/25)"),
        ("(/ #c(0 1))", "#C(0 -1)"),
        ("(/ #c(2 4) 2)", "#C(1 2)"),
        ("(/ #c(1 2) 0)", "error: /: division by zero"),
        ("(/ #c(1.0 2.0) #c(1.0 1.0))", "#C(1.5 0.5)"),
        ("(/ #c(1d300 1d300) #c(1d300 1d300))", "#C(1.0 0.0)"),
        ("(/ #c(1d0 2d0) #c(0d0 2d0))", "#C(1.0 -0.5)"),
        ("(list (1+ #c(1 2)) (1- #c(1 2)))", "(#C(2 2) #C(0 2))"),
        ("(let ((z #c(1 2))) (incf z #c(1 1)) z)", "#C(2 3)"),
        ("(+ #c(1 2) 'a)", "error: +: expected a number: got A"),
        ("(* 'a #c(1 2))", "error: *: expected a number: got A"),
        ("(reduce #'+ '(1 #c(0 1) 2.5))", "#C(3.5 1.0)"),
    ]);
}

#[test]
fn equality_and_order() {
    check(&[
        ("(list (= #c(1 2) #c(1 2)) (= #c(1 2) #c(1.0 2.0)) (= #c(1 2) #c(1 3)))", "(T T NIL)"),
        ("(list (= #c(1.0 0.0) 1) (= 1 #c(1.0 0.0)) (/= #c(1 2) 1))", "(T T T)"),
        ("(let ((x #c(1 2)) (y 1)) (list (= x y) (= y x) (= x 1)))", "(NIL NIL NIL)"),
        ("(= #c(1 2))", "T"),
        ("(= 'a #c(1 2))", "error: =: expected a number: got A"),
        ("(< #c(1 2) 3)", "error: <: expected a real number: got #C(1 2)"),
        ("(> 3 #c(1 2))", "error: >: expected a real number: got #C(1 2)"),
        ("(max #c(1 2))", "error: max: expected a real number: got #C(1 2)"),
        ("(minusp #c(1 2))", "error: minusp: expected a real number: got #C(1 2)"),
        ("(list (zerop #c(0.0 0.0)) (zerop #c(0.0 1.0)) (zerop #c(0 1)))", "(T NIL NIL)"),
        (
            "(list (eql #c(1 2) #c(1 2)) (eql #c(1.0 2) #c(1 2)) (equal #c(1 2) #c(1 2)))",
            "(T NIL T)",
        ),
        ("(list (equalp #c(1 2) #c(1.0 2.0)) (equalp 1 #c(1.0 0.0)))", "(T T)"),
        (
            "(let ((h (make-hash-table)) (g (make-hash-table :test 'equalp)))
               (setf (gethash #c(1 2) h) :a (gethash 1 g) :b)
               (list (gethash #c(1 2) h) (gethash #c(1.0 2) h) (gethash #c(1.0 0.0) g)))",
            "(:A NIL :B)",
        ),
        ("(case #c(1 2) (#c(1 2) :yes) (t :no))", ":YES"),
    ]);
}

#[test]
fn types() {
    check(&[
        (
            "(list (numberp #c(1 2)) (realp #c(1 2)) (complexp #c(1 2)) (complexp 1))",
            "(T NIL T NIL)",
        ),
        (
            "(list (type-of #c(1 2)) (type-of #c(1.0 2.0)) (type-of #c(1f0 2f0)))",
            "((COMPLEX RATIONAL) (COMPLEX DOUBLE-FLOAT) (COMPLEX SINGLE-FLOAT))",
        ),
        (
            "(list (typep #c(1 2) 'complex) (typep #c(1 2) 'number) (typep #c(1 2) 'real))",
            "(T T NIL)",
        ),
        (
            "(list (typep #c(1.0 2.0) '(complex double-float)) (typep #c(1.0 2.0) '(complex single-float)) \
          (typep #c(1 2) '(complex integer)) (typep #c(1 2) '(complex *)))",
            "(T NIL T T)",
        ),
        ("(multiple-value-list (subtypep 'complex 'number))", "(T T)"),
        ("(multiple-value-list (subtypep 'complex 'real))", "(NIL T)"),
        ("(multiple-value-list (subtypep '(complex integer) '(complex rational)))", "(T T)"),
        ("(multiple-value-list (subtypep '(complex double-float) 'complex))", "(T T)"),
        (
            "(list (coerce 1 'complex) (coerce 1.0 'complex) (coerce 1 '(complex double-float)))",
            "(1 #C(1.0 0.0) #C(1.0 0.0))",
        ),
        ("(coerce #c(1 2) '(complex single-float))", "#C(1.0f0 2.0f0)"),
        ("(coerce \"a\" 'complex)", "error: coerce: expected a number: got \"a\""),
        ("(typecase #c(1 2) (real :real) (complex :complex))", ":COMPLEX"),
        ("(format nil \"~F ~A\" #c(1 2) #c(1 2))", "\"#C(1 2) #C(1 2)\""),
        ("(float #c(1 2))", "error: float: expected a real number: got #C(1 2)"),
    ]);
}

#[test]
fn powers_roots_and_angles() {
    check(&[
        ("(expt #c(0 1) 2)", "-1"),
        ("(expt #c(1 1) 10)", "#C(0 32)"),
        ("(expt #c(1 2) -1)", "#C(1/5 -2/5)"),
        ("(list (expt #c(1 2) 0) (expt #c(1.0 2.0) 0))", "(1 #C(1.0 0.0))"),
        ("(expt #c(0 1) (expt 10 30))", "1"),
        (
            "(expt #c(1 1) (expt 10 30))",
            "error: expt: the result would have 1000000000000000000000000000000 bits",
        ),
        ("(expt 0 #c(1 1))", "#C(0.0 0.0)"),
        ("(expt 0 #c(-1 1))", "error: expt: division by zero"),
        ("(expt -1.0 0.5)", "#C(6.123233995736766e-17 1.0)"),
        ("(expt 2 #c(0 1))", "#C(0.7692389013639721 0.6389612763136348)"),
        (
            "(list (sqrt #c(3 4)) (sqrt #c(-3 4)) (sqrt #c(-3 -4)))",
            "(#C(2.0 1.0) #C(1.0 2.0) #C(1.0 -2.0))",
        ),
        ("(sqrt (- (expt 10 400)))", "#C(0.0 1.0e200)"),
        ("(list (abs #c(3 4)) (abs #c(3f0 4f0)) (abs #c(3d-200 0d0)))", "(5.0 5.0f0 3.0e-200)"),
        (
            "(list (phase #c(0 1)) (phase -1) (phase 1) (phase -1f0))",
            "(1.5707963267948966 3.141592653589793 0 3.1415927f0)",
        ),
        ("(list (cis 0) (cis 0f0))", "(#C(1.0 0.0) #C(1.0f0 0.0f0))"),
        (
            "(list (signum #c(0 2)) (signum #c(3.0 4.0)) (signum #c(0.0 0.0)))",
            "(#C(0.0 1.0) #C(0.6 0.8) #C(0.0 0.0))",
        ),
        ("(let ((*read-default-float-format* 'single-float)) (sqrt -4))", "#C(0.0f0 2.0f0)"),
    ]);
}

#[test]
fn real_arguments_outside_the_domain_lie_on_the_standards_side_of_the_cut() {
    check(&[
        ("(asin 2)", "#C(1.5707963267948966 -1.3169578969248166)"),
        ("(asin -2)", "#C(-1.5707963267948966 1.3169578969248166)"),
        ("(acos 2)", "#C(0.0 1.3169578969248166)"),
        ("(acos -2)", "#C(3.141592653589793 -1.3169578969248166)"),
        ("(acosh 0)", "#C(0.0 1.5707963267948966)"),
        ("(acosh -2)", "#C(1.3169578969248166 3.141592653589793)"),
        ("(atanh 2)", "#C(0.5493061443340549 1.5707963267948966)"),
        ("(atanh -2)", "#C(-0.5493061443340549 -1.5707963267948966)"),
        ("(list (atanh 1) (atanh -1.0))", "(#.rung:double-inf #.rung:double-neg-inf)"),
        ("(asin 2f0)", "#C(1.5707964f0 -1.316958f0)"),
        (
            "(list (asin 1) (acos 1) (acosh 1) (asin -1))",
            "(1.5707963267948966 0.0 0.0 -1.5707963267948966)",
        ),
        ("(asin #.rung:double-nan)", "#.rung:double-nan"),
    ]);
}

#[test]
fn functions_of_complex_numbers() {
    check(&[
        ("(exp #c(0 0.0))", "#C(1.0 0.0)"),
        ("(exp #c(1 2))", "#C(-1.1312043837568135 2.4717266720048188)"),
        ("(log #c(0 1))", "#C(0.0 1.5707963267948966)"),
        ("(sin #c(1 2))", "#C(3.165778513216168 1.959601041421606)"),
        ("(cos #c(1 2))", "#C(2.0327230070196656 -3.0518977991517997)"),
        ("(tanh #c(100.0 1.0))", "#C(1.0 2.5167471015094276e-87)"),
        ("(atan #c(0 1/2))", "#C(0.0 0.5493061443340549)"),
        ("(atan #c(0 2))", "#C(1.5707963267948966 0.5493061443340549)"),
        ("(sinh #c(0 1))", "#C(0.0 0.8414709848078965)"),
        ("(cosh #c(0 1))", "#C(0.5403023058681398 0.0)"),
        ("(log #c(0 1) #c(0 1))", "#C(1.0 0.0)"),
        ("(exp #c(710.0 0.785))", "#C(1.5803016909637164e308 1.5790437551806915e308)"),
        ("(tan 'a)", "error: tan: expected a number: got A"),
        ("(atan 1 #c(1 2))", "error: atan: expected a real number: got #C(1 2)"),
    ]);
}

#[test]
fn the_arc_tangent_of_two_numbers_knows_the_quadrant() {
    check(&[
        (
            "(list (atan 1 1) (atan 1 -1) (atan -1 -1) (atan -1 1))",
            "(0.7853981633974483 2.356194490192345 -2.356194490192345 -0.7853981633974483)",
        ),
        (
            "(list (atan 0 1) (atan -0.0 -1) (atan 1f0 0) (atan 1f0 0.0))",
            "(0.0 -3.141592653589793 1.5707964f0 1.5707963267948966)",
        ),
        ("(atan 1)", "0.7853981633974483"),
    ]);
}

/// A function of the language beside the definition that `la:` has, at both widths.
macro_rules! same_bits {
    ($($name:literal $function:ident $low:literal $high:literal;)*) => {
        #[test]
        fn functions_of_real_numbers_have_the_bits_of_the_definitions() {
            use rung_lisp::Value;
            use rung_math::Unary;
            let mut lisp = fresh();
            $(
                let function = lisp.eval_text("test", concat!("#'", $name)).unwrap().remove(0);
                for step in 0..=97 {
                    let x = $low + ($high - $low) * f64::from(step) / 97.0;
                    let (Ok(double), Ok(single)) = (
                        lisp.call(&function, &[Value::Double(x)]),
                        lisp.call(&function, &[Value::Single(x as f32)]),
                    ) else {
                        panic!("{} {x}", $name)
                    };
                    let expected = (Value::Double(rung_math::$function::at(x)),
                                    Value::Single(rung_math::$function::at(x as f32)));
                    assert!(double.eql(&expected.0), "{} {x}: {double:?}", $name);
                    assert!(single.eql(&expected.1), "{} {x}: {single:?}", $name);
                }
            )*
        }
    };
}

same_bits! {
    "exp" Exp -20.0 20.0;
    "log" Log 0.0 50.0;
    "sqrt" Sqrt 0.0 50.0;
    "sin" Sin -50.0 50.0;
    "cos" Cos -50.0 50.0;
    "tan" Tan -50.0 50.0;
    "asin" Asin -1.0 1.0;
    "acos" Acos -1.0 1.0;
    "atan" Atan -50.0 50.0;
    "sinh" Sinh -20.0 20.0;
    "cosh" Cosh -20.0 20.0;
    "tanh" Tanh -20.0 20.0;
    "asinh" Asinh -50.0 50.0;
    "acosh" Acosh 1.0 50.0;
    "atanh" Atanh -1.0 1.0;
}
