//! Chapter 12 of the standard, a form and what it gives.

mod support;
use support::check;

#[test]
fn the_tower() {
    check(&[
        ("(+ 1 2 3)", "6"),
        ("(+)", "0"),
        ("(*)", "1"),
        ("(+ 9223372036854775807 1)", "9223372036854775808"),
        ("(- 9223372036854775808 1)", "9223372036854775807"),
        ("(* 4294967296 4294967296 -1)", "-18446744073709551616"),
        ("(- 5)", "-5"),
        ("(- -9223372036854775808)", "9223372036854775808"),
        ("(/ 6 4)", "3/2"),
        ("(/ 6 3)", "2"),
        ("(/ 2)", "1/2"),
        ("(/ 1 2 2)", "1/4"),
        ("(+ 1/3 2/3)", "1"),
        ("(+ 1/3 0.5)", "0.8333333333333333"),
        ("(+ 1 1f0)", "2.0f0"),
        ("(+ 1d0 1f0)", "2.0"),
        ("(+ 0.1 0.2)", "0.30000000000000004"),
        ("(+ 0.1f0 0.2f0)", "0.3f0"),
        ("(/ 1.0 0)", "#.rung:double-inf"),
        ("(/ -1.0 0.0)", "#.rung:double-neg-inf"),
        ("(/ 1 0)", "error: /: division by zero"),
        ("(/ 0)", "error: /: division by zero"),
        ("(+ 1 'a)", "error: +: expected a number: got A"),
        ("(+ \"a\")", "error: +: expected a number: got \"a\""),
        ("(1+ 1/2)", "3/2"),
        ("(1- 0.5)", "-0.5"),
        ("(abs -5)", "5"),
        ("(abs -0.0)", "0.0"),
        ("(abs -1/2)", "1/2"),
        ("(list (signum -3) (signum 0.0) (signum -2.5) (signum 1/2))", "(-1 0.0 -1.0 1)"),
        ("(list (numerator 6/4) (denominator 6/4) (numerator 5) (denominator 5))", "(3 2 5 1)"),
    ]);
}

#[test]
fn comparison_is_exact() {
    check(&[
        ("(= 1 1.0 1f0)", "T"),
        ("(= 1/3 0.3333333333333333)", "NIL"),
        ("(= 9007199254740993 9007199254740992.0)", "NIL"),
        ("(< 9007199254740992.0 9007199254740993)", "T"),
        ("(= 1/2 0.5)", "T"),
        ("(< 1 2 3)", "T"),
        ("(< 1 3 2)", "NIL"),
        ("(<= 1 1 2)", "T"),
        ("(/= 1 2 1)", "NIL"),
        ("(/= 1 2 3)", "T"),
        ("(= 0.0 -0.0)", "T"),
        ("(max 1 3 2)", "3"),
        ("(min 1 0.5)", "0.5"),
        ("(max 1/2 0.25)", "1/2"),
        ("(< 1 'a)", "error: <: expected a real number: got A"),
        (
            "(list (zerop 0) (zerop 0.0) (plusp 1/2) (minusp -1) (evenp 0) (oddp -3))",
            "(T T T T T T)",
        ),
        ("(evenp 1.0)", "error: evenp: expected an integer: got 1.0"),
        (
            "(list (integerp 1) (integerp 1.0) (rationalp 1/2) (floatp 1f0) (numberp 'a))",
            "(T NIL T T NIL)",
        ),
    ]);
}

#[test]
fn division_with_remainder() {
    check(&[
        ("(multiple-value-list (floor 7 2))", "(3 1)"),
        ("(multiple-value-list (floor -7 2))", "(-4 1)"),
        ("(multiple-value-list (ceiling 7 2))", "(4 -1)"),
        ("(multiple-value-list (truncate -7 2))", "(-3 -1)"),
        ("(multiple-value-list (round 7 2))", "(4 -1)"),
        ("(multiple-value-list (round 2.5))", "(2 0.5)"),
        ("(multiple-value-list (round -1.5))", "(-2 0.5)"),
        ("(multiple-value-list (floor 1/3))", "(0 1/3)"),
        ("(multiple-value-list (floor 5.5 2))", "(2 1.5)"),
        ("(multiple-value-list (floor -0.5f0))", "(-1 0.5f0)"),
        ("(multiple-value-list (truncate 1d20))", "(100000000000000000000 0.0)"),
        ("(multiple-value-list (ffloor -3.5))", "(-4.0 0.5)"),
        ("(multiple-value-list (ftruncate -0.5))", "(-0.0 -0.5)"),
        ("(multiple-value-list (fround 7 2))", "(4.0 -1)"),
        ("(list (mod -7 2) (rem -7 2) (mod 5.5 2) (mod -1 3) (mod 1/2 1/3))", "(1 -1 1.5 2 1/6)"),
        ("(mod 123456789012345678901234567890 97)", "52"),
        ("(floor 1 0)", "error: floor: division by zero"),
        ("(floor 1.0 0.0)", "error: floor: division by zero"),
        ("(floor 'a)", "error: floor: expected a real number: got A"),
        ("(multiple-value-list (floor 10 -9223372036854775808))", "(-1 -9223372036854775798)"),
    ]);
}

#[test]
fn powers_and_logarithms() {
    check(&[
        ("(expt 2 100)", "1267650600228229401496703205376"),
        ("(expt 2 -2)", "1/4"),
        ("(expt 2/3 3)", "8/27"),
        ("(expt 1.5 2)", "2.25"),
        ("(expt 2.0 -1)", "0.5"),
        ("(expt 2 0.5)", "1.4142135623730951"),
        ("(expt 2f0 0.5f0)", "1.4142135f0"),
        ("(expt 8 1/3)", "2.0"),
        ("(expt 0 0)", "1"),
        ("(expt 0.0 0)", "1.0"),
        ("(expt 0 -1)", "error: expt: division by zero"),
        ("(expt -8 1/3)", "#C(1.0000000000000002 1.7320508075688772)"),
        ("(sqrt 2)", "1.4142135623730951"),
        ("(sqrt 16f0)", "4.0f0"),
        ("(list (sqrt -1) (sqrt -4f0) (sqrt -0.0))", "(#C(0.0 1.0) #C(0.0f0 2.0f0) -0.0)"),
        ("(sqrt (expt 10 400))", "1.0e200"),
        ("(isqrt 17)", "4"),
        ("(isqrt (expt 10 40))", "100000000000000000000"),
        ("(exp 0)", "1.0"),
        ("(exp 1)", "2.718281828459045"),
        ("(log 1)", "0.0"),
        ("(log 8 2)", "3.0"),
        ("(log 1000 10)", "3.0"),
        ("(log 1/8 2)", "-3.0"),
        ("(list (log 8 1/2) (log 27/8 3/2) (log 1 7))", "(-3.0 3.0 0.0)"),
        ("(< 1.0986e7 (log 3 10000001/10000000) 1.0987e7)", "T"),
        ("(log (expt 10 400) 10)", "400.0"),
        ("(log (expt 10 400))", "921.0340371976183"),
        ("(log -1)", "#C(0.0 3.141592653589793)"),
        ("(list (sin 0) (cos 0) (tanh 0))", "(0.0 1.0 0.0)"),
        ("(cos 0f0)", "1.0f0"),
        ("(sqrt 'a)", "error: sqrt: expected a number: got A"),
        ("(let ((*read-default-float-format* 'single-float)) (sqrt 2))", "1.4142135f0"),
    ]);
}

#[test]
fn bits() {
    check(&[
        ("(list (logand 12 10) (logior 12 10) (logxor 12 10) (lognot 5))", "(8 14 6 -6)"),
        ("(list (logand) (logior) (logxor) (logeqv))", "(-1 0 0 -1)"),
        (
            "(list (ash 1 10) (ash -1 -5) (ash 1023 -3) (ash 1 64) (ash -5 1))",
            "(1024 -1 127 18446744073709551616 -10)",
        ),
        ("(ash 1 -99999999999999999999)", "0"),
        (
            "(ash 1 99999999999999999999)",
            "error: ash: the result would have more than 2147483648 bits",
        ),
        ("(list (logbitp 0 5) (logbitp 1 5) (logbitp 100 -1))", "(T NIL T)"),
        ("(list (integer-length 0) (integer-length 255) (integer-length -256))", "(0 8 8)"),
        ("(list (logcount 255) (logcount -256))", "(8 8)"),
        (
            "(list (ldb (byte 4 4) 171) (dpb 5 (byte 4 0) 160) (ldb-test (byte 1 0) 2))",
            "(10 165 NIL)",
        ),
        (
            "(list (lognand 5 3) (lognor 5 3) (logandc1 5 3) (logandc2 5 3) (logorc1 5 3) (logorc2 5 3))",
            "(-2 -8 2 4 -5 -3)",
        ),
        ("(list (gcd 12 18) (gcd) (gcd -4) (lcm 4 6) (lcm) (lcm 0 5))", "(6 0 4 12 1 0)"),
        ("(logand 1.5)", "error: logand: expected an integer: got 1.5"),
    ]);
}

#[test]
fn conversion_and_parts_of_floats() {
    check(&[
        (
            "(list (float 1) (float 1/3) (float 1f0) (float 1 1f0))",
            "(1.0 0.3333333333333333 1.0f0 1.0f0)",
        ),
        ("(list (rational 0.5) (rational 0.1))", "(1/2 3602879701896397/36028797018963968)"),
        ("(list (rationalize 0.1) (rationalize 0.1f0) (rationalize 1/3))", "(1/10 1/10 1/3)"),
        ("(multiple-value-list (decode-float 1.5))", "(0.75 1 1.0)"),
        ("(multiple-value-list (integer-decode-float 1.5))", "(6755399441055744 -52 1)"),
        ("(multiple-value-list (integer-decode-float -0.5f0))", "(8388608 -24 -1)"),
        (
            "(list (scale-float 1.5 3) (float-radix 1.0) (float-digits 1f0) (float-sign -2.0))",
            "(12.0 2 24 -1.0)",
        ),
        ("(float-sign -2.0 5.0)", "-5.0"),
        (
            "(list (parse-integer \"42\") (parse-integer \" -7 \") (parse-integer \"ff\" :radix 16))",
            "(42 -7 255)",
        ),
        ("(multiple-value-list (parse-integer \"12abc\" :junk-allowed t))", "(12 2)"),
        ("(multiple-value-list (parse-integer \"abc\" :junk-allowed t))", "(NIL 0)"),
        ("(parse-integer \"x1\")", "error: parse-integer: no integer in radix 10: \"x1\""),
        ("(parse-integer \"12345678901234567890\" :start 1 :end 4)", "234"),
    ]);
}

#[test]
fn random_numbers_repeat_and_stay_in_range() {
    check(&[
        ("(list (random 10) (random 10) (random 10))", "(3 7 9)"),
        ("(random-state-p (make-random-state))", "T"),
        ("(random 0)", "error: random: expected a positive integer or float: got 0"),
        ("(< -1 (random (expt 10 30)) (expt 10 30))", "T"),
        ("(floatp (random 1.0))", "T"),
    ]);
}
