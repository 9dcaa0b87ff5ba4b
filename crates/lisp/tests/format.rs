//! `format`, a form and what it gives. Expectations that surprise were compared with clisp and
//! sbcl; where those two differ, or round the decimal instead of the binary value, the language's
//! own rule is noted.

mod support;

use rung_lisp::Value;
use rung_lisp::format::format;
use rung_lisp::value::list;
use support::check;

#[test]
fn objects() {
    check(&[
        (r#"(format nil "~A ~S" "a" "a")"#, r#""a \"a\"""#),
        (r#"(format nil "~a and ~s" 'foo :bar)"#, r#""FOO and :BAR""#),
        (r#"(format nil "~5A|~5@A|" 'ab 'ab)"#, r#""AB   |   AB|""#),
        (r#"(format nil "~,,2,'*A|~5,4A|" 'ab 'ab)"#, r#""AB**|AB    |""#),
        (r#"(format nil "~:A ~:S ~A" nil nil nil)"#, r#""() () NIL""#),
        (
            r#"(format nil "~C~C ~:C ~@C ~:C" #\a #\Space #\Space #\a #\a)"#,
            r##""a  Space #\\a a""##,
        ),
        (r#"(format nil "~W ~W" "a" 1.5)"#, r#""\"a\" 1.5""#),
        (r#"(format nil "~A" #d((1 2) (3 4)))"#, r##""#d((1.0 2.0) (3.0 4.0))""##),
        (r#"(format nil "a~%b~2%c~~ ~3~")"#, "\"a\nb\n\nc~ ~~~\""),
        (r#"(format nil "~&a~&b~2&c")"#, "\"a\nb\n\nc\""),
        ("(format nil \"a~\n   b~:\n  c~@\n  d\")", "\"ab  c\nd\""),
    ]);
}

#[test]
fn integers() {
    check(&[
        (r#"(format nil "~D ~D ~D" 5 -5 'foo)"#, r#""5 -5 FOO""#),
        (r#"(format nil "~5D|~5,'0D|~@D|~:D" 42 42 42 1234567)"#, r#""   42|00042|+42|1,234,567""#),
        (r#"(format nil "~,,'.,4:D ~:D ~:D" 12345678 -123 -1234)"#, r#""1234.5678 -123 -1,234""#),
        (r#"(format nil "~B ~O ~X ~8,'0B" 10 10 255 5)"#, r#""1010 12 FF 00000101""#),
        (r#"(format nil "~D" 1.5)"#, r#""1.5""#),
        (r#"(format nil "~36R ~3,5R" 1295 5)"#, r#""ZZ    12""#),
        (
            r#"(format nil "~R, ~R, ~R" 0 12 1234567)"#,
            r#""zero, twelve, one million two hundred thirty-four thousand five hundred sixty-seven""#,
        ),
        (
            r#"(format nil "~R ~:R ~:R ~:R" -21 1 12 120)"#,
            r#""minus twenty-one first twelfth one hundred twentieth""#,
        ),
        (r#"(format nil "~@R ~@R ~:@R ~@R" 4 1999 4 4000)"#, r#""IV MCMXCIX IIII 4000""#),
        (
            r#"(format nil "~D ~:D" 12345678901234567890 12345678901234567890)"#,
            r#""12345678901234567890 12,345,678,901,234,567,890""#,
        ),
        (
            r#"(format nil "~D file~:P, ~D file~:P, ~D bab~:@P" 1 2 3)"#,
            r#""1 file, 2 files, 3 babies""#,
        ),
        (r#"(format nil "~VD|~V,VD|~#D" 5 42 5 #\* 42 7)"#, r#""   42|***42|7""#),
    ]);
}

#[test]
fn fixed_floats() {
    check(&[
        (r#"(format nil "~F ~F ~F ~F" 1.5 100 1/4 1e10)"#, r#""1.5 100.0 0.25 10000000000.0""#),
        (r#"(format nil "~,2F ~,2F ~,0F ~,3F" 3.14159 -0.5 2.5 1)"#, r#""3.14 -0.50 2. 1.000""#),
        (r#"(format nil "~8,2F|~8,2F|~@F" 3.14159 -3.14159 1.5)"#, r#""    3.14|   -3.14|+1.5""#),
        // The exact binary value decides: 0.005 is above, 1.005 below half way.
        (r#"(format nil "~,2F ~,2F ~,1F ~,1F" 0.005 1.005 0.25 0.35)"#, r#""0.01 1.00 0.2 0.3""#),
        (
            r#"(format nil "~3F|~5F|~4F|~6F|~2F|~1F" 0.123456 3.14159 0.05 1234.5678 0.5 0.5)"#,
            r#"".12|3.142|0.05|1234.6|.5|.5""#,
        ),
        (
            r#"(format nil "~3,2F|~4,2F|~4,2,,'*F|~6,2,,,'0F" 0.5 0.5 123.456 1.5)"#,
            r#"".50|0.50|****|001.50""#,
        ),
        (r#"(format nil "~,1,2F ~,3,-2F ~F" 1.5 150.0 1f0)"#, r#""150.0 1.500 1.0""#),
        (r#"(format nil "~,30F" 0.1)"#, r#""0.100000000000000005551115123126""#),
        (r#"(format nil "~,20F" 1e-5)"#, r#""0.00001000000000000000""#),
        (
            r#"(format nil "~F ~F ~5F|" #.(/ 1.0 0) #.(/ -1.0 0) #.(/ 1.0 0))"#,
            r#""inf -inf   inf|""#,
        ),
        (r#"(format nil "~F ~5F|~,2F" 'abc "x" 'y)"#, r#""ABC     x|Y""#),
        (r#"(format nil "~,2F ~F" 1f-1 0.1f0)"#, r#""0.10 0.1""#),
        (r#"(format nil "~,0F ~,0F ~,0F" 0.5 1.5 0.4)"#, r#""0. 2. 0.""#),
    ]);
}

#[test]
fn exponential_general_and_money() {
    check(&[
        (
            r#"(format nil "~E ~,3E ~10,3E|~12,4,3E" 1234.5 1234.5 1234.5 1234.5)"#,
            r#""1.2345e+3 1.234e+3   1.234e+3| 1.2345e+003""#,
        ),
        (
            r#"(format nil "~,,,2E ~,4,,-1E ~,4,,0E ~10E|" 1234.5 1234.5 1234.5 1234.5)"#,
            r#""12.345e+2 0.0123e+5 0.1234e+4  1.2345e+3|""#,
        ),
        (r#"(format nil "~E ~E ~E ~,2E" 0.0 1f0 1e-10 0.0)"#, r#""0.0e+0 1.0f+0 1.0e-10 0.00e+0""#),
        (r#"(format nil "~,2E ~,2E ~@E" 9.999 -9.996 1.5)"#, r#""1.00e+1 -1.00e+1 +1.5e+0""#),
        (
            r#"(format nil "~,,,,,,'dE ~8E| ~6,1,,,'*E" 1.5 1.23456 1e100)"#,
            r#""1.5d+0 1.235e+0| ******""#,
        ),
        (
            r#"(format nil "~G|~10G|~,3G|~10,3G|~G" 1234.5 1234.5 1234.5 1234.5 0.0001)"#,
            r#""1234.5    |1234.5    |1.234e+3|  1.234e+3|1.0000e-4""#,
        ),
        (
            r#"(format nil "~$ ~3$ ~,4$ ~,,10$ ~,,10:@$ ~@$" 3.14159 3.14159 3.14159 3.14159 3.14159 3.14159)"#,
            r#""3.14 3.142 0003.14       3.14 +     3.14 +3.14""#,
        ),
        (r#"(format nil "~$ ~$ ~$" 0.005 -2.5 100)"#, r#""0.01 -2.50 100.00""#),
    ]);
}

#[test]
fn layout() {
    check(&[
        (r#"(format nil "ab~10Tc~15Td" )"#, r#""ab        c    d""#),
        (r#"(format nil "abcde~3,4Tx~@Ty~2,8@Tz")"#, r#""abcde  x y      z""#),
        (r#"(format nil "~10<a~;b~;c~>|~12<a~;b~;c~>")"#, r#""a   b    c|a    b     c""#),
        (
            r#"(format nil "~10:<a~;b~>|~10@<a~;b~>|~10:@<ab~>|~10<ab~>")"#,
            r#""    a    b|a    b    |    ab    |        ab""#,
        ),
        (r#"(format nil "~10<~A~>|~,,2<a~;b~>|~4,3<abcde~>" 'xy)"#, r#""        XY|a  b|  abcde""#),
        (r#"(format nil "~15<~S~;~^~S~;~^~S~>" 'foo)"#, r#""            FOO""#),
        (
            r#"(format nil "~(HeLLo WORLD~) ~:(hello world~) ~@(hello world~) ~:@(hello~)")"#,
            r#""hello world Hello World Hello world HELLO""#,
        ),
        (r#"(format nil "x~vAy" 5 "ab")"#, r#""xab   y""#),
        (r#"(length (format nil "~70000,2F~70000D~,70000F" 1.5 1 1.5))"#, "210002"),
    ]);
}

#[test]
fn choices_and_loops() {
    check(&[
        (r#"(format nil "~[zero~;one~:;many~] ~[zero~;one~] ~[a~:;b~]" 1 5 7)"#, r#""one  b""#),
        (
            r#"(format nil "~:[no~;yes~] ~:[no~;yes~] ~@[x=~A ~]~@[y=~A~]" nil t 5 nil)"#,
            r#""no yes x=5 ""#,
        ),
        (r#"(format nil "~#[none~;one: ~A~;two: ~A, ~A~]" 1 2)"#, r#""two: 1, 2""#),
        (r#"(format nil "~{~A~^, ~}" '(1 2 3))"#, r#""1, 2, 3""#),
        (
            r#"(format nil "~{<~A>~}|~:{~A=~A ~}|~@{~A~^-~}" '(1 2) '((a 1) (b 2)) 1 2 3)"#,
            r#""<1><2>|A=1 B=2 |1-2-3""#,
        ),
        (r#"(format nil "~2{~A~} ~{x~:}~{~A~:}" '(1 2 3) nil '(5))"#, r#""12 x5""#),
        (r#"(format nil "~:@{~A:~A ~}" '(a 1) '(b 2))"#, r#""A:1 B:2 ""#),
        (r#"(format nil "~:{~A~:^, ~}" '((a) (b) (c)))"#, r#""A, B, C""#),
        (r#"(format nil "~{~}" "<~A>" '(1 2))"#, r#""<1><2>""#),
        (r#"(format nil "~? ~@?|~A" "~A+~A" '(1 2) "<~A ~A>" 3 4 5)"#, r#""1+2 <3 4>|5""#),
        (r#"(format nil "~A ~:*~A ~2*~A ~@*~A ~2@*~A" 1 2 3 4)"#, r#""1 1 4 1 3""#),
        (r#"(format nil "a~^b ~A" )"#, r#""a""#),
        (r#"(format nil "~{~A~#[~; and ~:;, ~]~}" '(a b c))"#, r#""A, B and C""#),
        (r#"(format nil "~{~{~A~^ ~}~^; ~}" '((1 2) (3 4)))"#, r#""1 2; 3 4""#),
        (r#"(format nil "~1,1^x")"#, r#""""#),
    ]);
}

#[test]
fn malformed_controls_say_where() {
    check(&[
        (
            r#"(format nil "abc ~Q")"#,
            r#"error: format: there is no directive ~Q at position 4 of "abc ~Q""#,
        ),
        (
            r#"(format nil "~")"#,
            r#"error: format: the control string ends inside a directive at position 0 of "~""#,
        ),
        (
            r#"(format nil "x~{~A")"#,
            r#"error: format: ~{ is not closed by ~} at position 1 of "x~{~A""#,
        ),
        (r#"(format nil "x~]")"#, r#"error: format: ~] has no beginning at position 1 of "x~]""#),
        (r#"(format nil "~(~;~)")"#, r#"error: format: ~; inside ~( at position 2 of "~(~;~)""#),
        (
            r#"(format nil "~A ~A" 1)"#,
            r#"error: format: no argument is left for ~A at position 3 of "~A ~A""#,
        ),
        (
            r#"(format nil "~5*")"#,
            r#"error: format: ~* leads to no argument at position 0 of "~5*""#,
        ),
        (r#"(format nil "~C" 5)"#, "error: format ~C: expected a character: got 5"),
        (r#"(format nil "~{~A~}" 5)"#, "error: format ~{: expected a list: got 5"),
        (
            r#"(format nil "~<a~:>")"#,
            r#"error: format: logical blocks are not in this version at position 3 of "~<a~:>""#,
        ),
        (
            r#"(format nil "~99999999999A" 1)"#,
            r#"error: format: parameter 99999999999 is too large at position 0 of "~99999999999A""#,
        ),
        (
            r#"(format nil "~{x~}" '(1))"#,
            r#"error: format: the body of ~{ uses no argument at position 0 of "~{x~}""#,
        ),
    ]);
}

/// A generator of noise: the same numbers for the same seed.
struct Noise(u64);

impl Noise {
    fn next(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % limit
    }
}

#[test]
fn noise_never_panics_and_never_hangs() {
    let seed = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(1, |time| time.as_nanos() as u64);
    println!("seed {seed}");
    let mut noise = Noise(seed);
    let mut lisp = support::fresh();
    let arguments = [
        Value::Fixnum(3),
        Value::Double(1234.5),
        Value::string("a~A"),
        list([Value::Fixnum(1), Value::Single(0.1)]),
        Value::Nil,
        Value::Double(5e-324),
        Value::Char('x'),
        Value::Double(f64::MAX),
    ];
    for _ in 0..20_000 {
        let mut control = String::new();
        for _ in 0..noise.next(6) {
            control.push('~');
            for _ in 0..noise.next(4) {
                control += ["5", ",", ":", "@", "'x", "v", "#", "-3", "70000"][noise.next(9)];
            }
            let directives = "ASWDBOXRCFEGTP?^$%&|~([{<>}]);QI_\nab";
            control.extend(directives.chars().nth(noise.next(directives.len())));
        }
        let start = noise.next(arguments.len());
        drop(format(&mut lisp, &control, &arguments[start..], 0));
    }
}
