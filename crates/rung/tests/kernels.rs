//! Kernels of a program's own: the examples of the manual, the same bits on every rung, and mistakes
//! that say what was wanted.

mod common;

use common::{forms, printed, session};
use rung::Session;
use rung_base::{DeviceChoice, Explain};

const PAGE: &str = include_str!("../../../docs/kernels.md");

fn on_device() -> Session {
    let session = session(|settings| {
        settings.gpu.value = true;
        settings.device.value = DeviceChoice::Named("llvmpipe".into());
        settings.explain.value = Explain::Table;
    });
    assert_eq!(session.notices, [""; 0], "install mesa-vulkan-drivers and libvulkan1");
    session.ladder.borrow_mut().costs.device.make_free();
    session
}

fn on_portable() -> Session {
    session(|settings| settings.portable.value = true)
}

#[test]
fn the_examples_of_the_manual_give_what_they_say_on_every_rung() {
    let folder = std::env::temp_dir().join(format!("rung-kernels-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("mandelbrot.png");
    let examples = forms(PAGE);
    assert!(examples.iter().filter(|(_, wanted)| wanted.is_some()).count() >= 5);
    for mut session in [session(|_| {}), on_portable(), on_device()] {
        for (form, wanted) in &examples {
            let form = form.replace("mandelbrot.png", path.to_str().unwrap());
            let shown = printed(&mut session, &form);
            if let Some(wanted) = wanted {
                assert_eq!(&shown, wanted, "{form}");
            }
        }
        assert!(std::fs::read(&path).unwrap().starts_with(b"\x89PNG"));
        std::fs::remove_file(&path).unwrap();
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn explain_shows_a_kernel_by_its_name_and_one_launch() {
    let mut session = on_device();
    printed(&mut session, "(rung:defkernel bump ((x f32)) (exp (- (* x x))))");
    printed(&mut session, "(defvar *x* (la:linspace -2 2 1000 :element-type 'single-float))");
    printed(&mut session, "(rung:reset-calls)");
    printed(&mut session, "(defvar *y* (bump *x*))");
    let row = "(let ((row (first (rung:calls)))) \
               (list (getf row :operation) (getf row :rung) (getf row :calls)))";
    assert_eq!(printed(&mut session, row), "(\"bump\" :DEVICE 1)");
    assert_eq!(
        printed(&mut session, "(list (length (rung:calls)) (rung:resident-p *y*))"),
        "(1 T)"
    );
}

/// 64 nested sines of doubles held a driver's compiler for many seconds.
#[test]
fn a_kernel_too_long_to_compile_declines_and_says_so() {
    let mut session = on_device();
    let nested = (0..64).fold("x".to_string(), |x, _| format!("(sin {x})"));
    printed(&mut session, &format!("(rung:defkernel deep ((x f64)) {nested})"));
    printed(&mut session, "(defvar *x* (la:linspace 0 1 4))");
    printed(&mut session, "(rung:reset-calls)");
    printed(&mut session, "(defvar *y* (deep *x*))");
    let row = "(let ((row (first (rung:calls)))) (list (getf row :operation) (getf row :rung)))";
    assert_eq!(printed(&mut session, row), "(\"deep\" :LANES)");
    let declines = "(princ-to-string (getf (first (rung:calls)) :declines))";
    let told = printed(&mut session, declines);
    assert!(told.contains("too long to compile: "), "{told}");
    assert!(told.contains(" instructions, 4,096 at most"), "{told}");
}

/// Lets, repetitions, conditions and every spelling, and folds.
const KERNELS: [&str; 16] = [
    "(k1 ((x f64) (y f64)) (if (< x y) (- x) (max x y 0.25)))",
    "(k2 ((x f32) (y f32)) (let ((a (* x y)) (b (+ x y))) (/ (- a b) (+ 1 (* b b)))))",
    "(k3 ((x f64) (y f64)) (let* ((a (sin x)) (b (let ((c (cos y)) (d a)) (+ c d a)))) (* a b)))",
    "(k4 ((x f32) (y f32)) (repeat 7 ((a x b) (b y (+ (* 1/2 a) (tanh b)))) (- a b)))",
    "(k5 ((x f64) (y f64)) (+ (and (not (= x y)) (>= (+ x) (max 0)) (/= y 1)) (or (isnan x) 0) \
     (signum y) (expt (abs x) 1/3) (/ 4) (- x)))",
    "(k6 ((x f32) (y f64)) (repeat 3 ((a (* x y) a) (b 0 (+ b (let ((t1 a)) (* t1 b)) 1))) \
     (if b (min a b) pi)))",
    "(k7 ((x f64) (y f64)) x)",
    "(k8 ((x f32) (y f32)) (sum (* x y)))",
    "(k9 ((x f64) (y f64)) (amax (- x y)))",
    "(k10 ((x f32) (y f32)) (mean (let ((d (- x y))) (* d d))))",
    "(k11 ((x f64) (y f64)) (prod (+ 1 (* 1/64 (sin (* x y))))))",
    "(k12 ((x f64) (y f64)) (norm (+ x (tanh y))))",
    "(k13 ((x f32) (y f32)) (std (* (tanh x) (tanh y))))",
    "(k14 ((x f64) (y f64)) (logsumexp (sin (+ x y))))",
    "(k15 ((x f64) (y f64)) (var (atan x)))",
    "(k16 ((x f64) (y f64)) (any (< x y)))",
];

/// A kernel that is a fold other than a sum, and whether it has no value over nothing.
fn fold_of(kernel: &str) -> Option<bool> {
    let folds = [
        ("(amax ", true),
        ("(mean ", true),
        ("(prod ", false),
        ("(norm ", false),
        ("(std ", true),
        ("(logsumexp ", true),
        ("(var ", true),
        ("(any ", false),
    ];
    folds.iter().find(|(fold, _)| kernel.contains(fold)).map(|(_, empty)| *empty)
}

/// Shapes that broadcast and values that hurt.
const OPERANDS: [[&str; 2]; 7] = [
    ["#d(1 2 nan -0.0 0.5 -3 inf)", "#d(1 -2 0.0 0.0 nan 1e308 -inf)"],
    ["(la:sin (la:arange 5000))", "(la:cos (la:arange 5000))"],
    ["(la:reshape (la:arange 130) '(13 10))", "(la:reshape (la:arange 13) '(13 1))"],
    ["(la:transpose (la:reshape (la:arange 6000) '(60 100)))", "(la:arange 60)"],
    ["(la:zeros '(0 3))", "1.5"],
    ["-0.75", "(la:linspace -1 1 4097)"],
    ["2", "3"],
];

/// The definitions, then lanes of one and of two threads, and a device. `moved` is a
/// kernel that a device is always offered: what it reads twice stays there.
fn on_every_rung() -> [Session; 4] {
    let threads = |n| session(move |settings| settings.threads.value = Some(n));
    let mut sessions = [on_portable(), threads(1), threads(2), on_device()];
    for session in &mut sessions {
        printed(session, "(rung:defkernel moved ((x f64) (y f64)) (+ (exp x) (exp y)))");
    }
    sessions
}

/// A function that is defined alike in all sessions, over all operands.
fn assert_same_bits(sessions: &mut [Session], name: &str, kernel: &str) {
    for operands in OPERANDS {
        // Singles where a parameter is single.
        let [x, y] = operands.map(|form| match kernel.contains("f32") && form.len() > 5 {
            true => format!("(la:astype {form} 'single-float)"),
            false => form.to_string(),
        });
        if fold_of(kernel) == Some(true) && x.contains("(0 3)") {
            continue;
        }
        let shown = format!(
            "(let ((x {x}) (y {y})) (moved x y) (moved x y) (rung:reset-calls) \
             (let ((r ({name} x y))) (if (arrayp r) (list (la:shape r) (la:sum (la:isnan r)) \
             (la:to-list r)) r)))"
        );
        let wanted = printed(&mut sessions[0], &shown);
        assert!(!wanted.contains("rror"), "{shown}: {wanted}");
        for (k, session) in sessions.iter_mut().enumerate().skip(1) {
            assert_eq!(wanted, printed(session, &shown), "{kernel} {shown}, session {k}");
        }
    }
}

#[test]
fn a_kernel_has_the_same_bits_on_every_rung() {
    let mut sessions = on_every_rung();
    for (k, kernel) in KERNELS.iter().enumerate() {
        let form = kernel.replacen('(', "(rung:defkernel ", 1);
        for session in &mut sessions {
            assert_eq!(printed(session, &form), format!("K{}", k + 1), "{kernel}");
        }
        assert_same_bits(&mut sessions, &format!("k{}", k + 1), kernel);
    }
}

/// Drivers know rules of constants that do not hold of -0.0, infinity and NaN (llvmpipe: x 0, 0 / x,
/// x + 0, 0 - x). The operands are on the device, which then takes small calls too.
#[test]
fn constants_that_a_driver_sees_are_not_simplified() {
    let mut sessions = [on_portable(), on_device()];
    let expressions = [
        "(+ x 0)",
        "(+ 0 x)",
        "(- x 0)",
        "(- 0 x)",
        "(* x 0)",
        "(* 0 x)",
        "(* x -1)",
        "(/ 0 x)",
        "(/ x 0)",
        "(/ x 1)",
        "(+ x -0.0)",
        "(- -0.0 x)",
        "(* x -0.0)",
        "(* x (* y 0))",
        "(+ (- y) (* x 0.0))",
        "(* x (- 1 1))",
        "(repeat 3 ((k 3 (- k 1))) (* x k))",
        "(- x x)",
        "(/ x x)",
        "(= x x)",
        "(+ x (- x))",
        "(- (+ x y) y)",
        "(* (if (< x 0) 0 1) y)",
        "(max x 0)",
        "(expt x 0)",
        "(hypot x 0)",
        "(atan2 0 x)",
        "(sqrt (* x 0))",
    ];
    for t in ["f64", "f32"] {
        let kind = if t == "f64" { "double-float" } else { "single-float" };
        let forms = [
            format!("(rung:defkernel moved ((x {t}) (y {t})) (+ (exp x) (exp y)))"),
            format!("(defvar *x-{t}* (la:astype #d(1 -0.0 0.0 nan inf -inf -3 0.0 -0.0) '{kind}))"),
            format!("(defvar *y-{t}* (la:astype #d(1 -2 0.0 1 5 6 7 -0.0 -0.0) '{kind}))"),
            format!("(dotimes (n 3) (moved *x-{t}* *y-{t}*))"),
        ];
        for session in &mut sessions {
            forms.iter().for_each(|form| drop(printed(session, form)));
        }
        for expression in expressions {
            let form = format!(
                "(progn (rung:defkernel k ((x {t}) (y {t})) (if (< y 100) {expression} y)) \
                 (la:to-list (k *x-{t}* *y-{t}*)))"
            );
            let [plain, device] = sessions.each_mut().map(|session| printed(session, &form));
            assert_eq!(plain, device, "{expression} {t}");
            let rung = "(getf (find \"k\" (rung:calls) :key (lambda (row) (getf row :operation)) \
                        :test #'equal) :rung)";
            assert_eq!(printed(&mut sessions[1], rung), ":DEVICE", "{expression} {t}");
            printed(&mut sessions[1], "(rung:reset-calls)");
        }
    }
}

/// First and second ones, by either parameter.
#[test]
fn a_derivative_has_the_same_bits_on_every_rung() {
    let mut sessions = on_every_rung();
    for (k, kernel) in KERNELS.iter().enumerate() {
        let k = k + 1;
        let mut forms = vec![
            kernel.replacen('(', "(rung:defkernel ", 1),
            format!("(rung:defderivative k{k}-x k{k} x)"),
            format!("(rung:defderivative k{k}-y k{k} y)"),
        ];
        let mut derivatives = vec!["x", "y"];
        if fold_of(kernel).is_none() {
            forms.push(format!("(rung:defderivative k{k}-xy k{k}-x y)"));
            derivatives.push("xy");
        }
        for session in &mut sessions {
            for form in &forms {
                let name = printed(session, form);
                assert!(name.starts_with(&format!("K{k}")), "{form}: {name}");
            }
        }
        for derivative in derivatives {
            assert_same_bits(&mut sessions, &format!("k{k}-{derivative}"), kernel);
        }
    }
}

#[test]
fn a_derivative_is_a_kernel_with_a_text_and_a_row_of_explain() {
    let mut session = on_device();
    printed(&mut session, "(rung:defkernel bump ((x f32) (w f32)) (sum (exp (- (* w x x)))))");
    assert_eq!(printed(&mut session, "(rung:defderivative bump-slope bump x)"), "BUMP-SLOPE");
    let text = printed(&mut session, "(documentation 'bump-slope 'function)");
    let wanted = "The derivative of what bump adds up by x, element by element.";
    assert!(text.contains(wanted), "{text}");
    printed(&mut session, "(rung:reset-calls)");
    let x = "(la:linspace -2 2 1000 :element-type 'single-float)";
    assert_eq!(printed(&mut session, &format!("(la:shape (bump-slope {x} 2))")), "(1000)");
    let rows = "(loop for row in (rung:calls) collect (getf row :operation))";
    assert!(printed(&mut session, rows).contains("\"bump-slope\""));
}

#[test]
fn mistakes_say_what_was_wanted() {
    let mut session = session(|_| {});
    let cases = [
        ("(rung:defkernel a ((x f16)) x)", "f32 or f64"),
        ("(rung:defkernel a (x) x)", "a parameter is (name type): X"),
        ("(rung:defkernel a () 1)", "at least one parameter"),
        ("(rung:defkernel a ((x f32)) y)", "no parameter or binding of this name"),
        (
            "(rung:defkernel a ((x f32)) (sort x))",
            "sort is not element-wise in a fixed number of steps",
        ),
        (
            "(rung:defkernel a ((x f32)) (mod x 2))",
            "mod is not element-wise in a fixed number of steps",
        ),
        (
            "(rung:defkernel a ((x f32)) (when (> x 1) 2))",
            "expected (if test then 0) in place of when",
        ),
        ("(rung:defkernel a ((x f32)) (< x))", "< takes 2 operands, got 1"),
        ("(rung:defkernel a ((x f32)) (< 1 x 3))", "< takes 2 operands, got 3"),
        ("(rung:defkernel a ((x f32)) (and))", "and takes 2 or more operands, got 0"),
        ("(rung:defkernel a ((x f32)) (-))", "- takes 1 or more operands, got 0"),
        ("(rung:defkernel a ((x f32)) (+))", "+ takes 1 or more operands, got 0"),
        ("(rung:defkernel a ((x f32)) (exp x x))", "exp takes 1 operand, got 2"),
        ("(rung:defkernel a ((x f32)) (median x))", "folds that may stand around a kernel ("),
        ("(rung:defkernel a ((x f32)) (* x 1d300))", "kernel a: 1e300 is beyond single floats"),
        ("(rung:defkernel a ((x f32)) (if x 1))", "expected (if test then else): (IF X 1)"),
        (
            "(rung:defkernel a ((x f32)) (let ((y 1))))",
            "expected (let ((name expression) ...) expression)",
        ),
        ("(rung:defkernel a ((x f32)) (let (y) y))", "a binding is (name expression): Y"),
        (
            "(rung:defkernel a ((x f32)) (repeat 3))",
            "expected (repeat count ((name first next) ...) expression)",
        ),
        (
            "(rung:defkernel a ((x f32)) (repeat -1 ((b 1 b)) b))",
            "an integer from 0 that is written out",
        ),
        ("(rung:defkernel a ((x f32)) x x)", "one expression (let binds): (X X)"),
        (
            "(progn (rung:defkernel q ((x f32)) x) (q \"a\"))",
            "q: expected an array or a number: got",
        ),
        ("(rung:defkernel a ((x f32)) (exp x x))", "exp takes 1 operand, got 2"),
        (
            "(rung:defkernel a ((x f32)) (repeat x ((a x a)) a))",
            "an integer from 0 that is written out",
        ),
        ("(rung:defkernel a ((x f32)) (repeat 5000 ((a x (* a a))) a))", "4096 steps"),
        (
            "(rung:defkernel a ((x f32)) (+ 1 (sum x)))",
            "sum is a fold, which stands around all of it",
        ),
        ("(progn (rung:defkernel a ((x f32)) (* x x)) (a #d(1)))", "a: expected x as f32: got f64"),
        ("(rung:defderivative b a y)", "a has no parameter y: it has x"),
        ("(rung:defderivative b a 3)", "3 names no parameter"),
        ("(rung:defderivative b nothing x)", "NOTHING names no kernel"),
        ("(rung:defderivative b la:exp x)", "names no kernel"),
        ("(rung:defderivative b \"a\" x)", "names no kernel"),
        ("(rung:defderivative 3 a x)", "a kernel's name is a symbol"),
        (
            "(progn (rung:defkernel m ((x f32)) (mean x)) (rung:defderivative n m x) \
          (rung:defderivative b n x))",
            "n is the gradient of a fold",
        ),
        (
            "(progn (rung:defkernel l ((x f32)) (repeat 900 ((a x (* x (sin a)))) a)) \
             (rung:defderivative b l x))",
            "4096 steps",
        ),
        ("(progn (defun a (x) x) (rung:defderivative b a x))", "A names no kernel"),
    ];
    for (form, wanted) in cases {
        let text = match session.lisp.eval_text("example", form) {
            Ok(values) => session.lisp.print(&values[0]),
            Err(e) => e.to_string(),
        };
        assert!(text.contains(wanted), "{form}: {text}");
    }
}

#[test]
fn an_error_of_a_kernel_stands_at_the_form_that_is_wrong() {
    let mut session = session(|_| {});
    let text = "(rung:defkernel k ((x f32))\n  (+ x (foo x)))";
    let place = session.lisp.eval_text("example", text).unwrap_err().place.unwrap();
    assert_eq!((place.line, place.column), (2, 8));
}

/// `defun` keeps away from these names; `car` was a kernel, and then `mapcar` failed.
#[test]
fn a_kernel_takes_no_locked_name_and_no_parameter_twice() {
    let mut session = session(|_| {});
    printed(&mut session, "(rung:defkernel own ((x f32)) x)");
    for (form, wanted) in [
        ("(rung:defkernel car ((x f32)) x)", "car is a name of the locked package"),
        ("(rung:defkernel la:add ((x f32)) x)", "la:add is a name of the locked package"),
        ("(rung:defkernel if ((x f32)) x)", "if is a name of the locked package"),
        ("(rung:defderivative car own x)", "car is a name of the locked package"),
        ("(rung:defkernel t ((x f32)) x)", "t is a constant"),
        ("(rung:defkernel :kw ((x f32)) x)", ":kw is a constant"),
        ("(rung:defkernel k ((x f32) (x f64)) x)", "a parameter is given twice"),
        ("(rung:defkernel k ((x f32) (pi f64)) x)", "pi is a constant"),
        ("(rung:defkernel k ((nil f32)) 1)", "nil is a constant"),
        ("(rung:defkernel k ((x f32)) (let ((t x)) x))", "t is a constant"),
        ("(rung:defkernel k ((x f32)) (let ((a x) (a 2)) a))", "let binds a name once"),
        ("(rung:defkernel k ((x f32)) (repeat 2 ((a x 1) (a 2 1)) a))", "is given twice"),
        ("(rung:defkernel)", "too few arguments"),
        ("(rung:defkernel k ((x f32)) (if x 1))", "expected (if test then else)"),
    ] {
        let text = printed(&mut session, form).to_lowercase();
        assert!(text.contains(wanted), "{form}: {text}");
    }
    assert_eq!(printed(&mut session, "(mapcar #'car '((1)))"), "(1)");
}

/// Elements, their fold and what its gradient needs stay where they are.
#[test]
fn the_gradient_of_a_fold_takes_its_axes_and_stays_on_the_device() {
    let mut session = on_device();
    for form in [
        "(rung:defkernel spread ((x f64) (c f64)) (norm (- x c)))",
        "(rung:defderivative pull spread x)",
        "(rung:defkernel top ((x f64)) (amax x))",
        "(rung:defderivative winner top x)",
        "(rung:defkernel volume ((x f64)) (prod x))",
        "(rung:defderivative side volume x)",
        "(defvar *m* (rung:send #d((3 1 4) (4 1 3))))",
    ] {
        printed(&mut session, form);
    }
    for (form, wanted) in [
        (
            "(pull *m* 1 :axis 1)",
            "#d((0.5547001962252291 0.0 0.8320502943378437) \
          (0.8320502943378437 0.0 0.5547001962252291))",
        ),
        ("(winner #d((1 3 3) (5 2 1)))", "#d((0.0 0.0 0.0) (1.0 0.0 0.0))"),
        ("(winner #d((1 3 3) (5 2 1)) :axis 1)", "#d((0.0 0.5 0.5) (1.0 0.0 0.0))"),
        (
            "(side #d((2 0 3) (0 0 3) (2 5 3)) :axis 1)",
            "#d((0.0 6.0 0.0) (0.0 0.0 0.0) \
          (15.0 6.0 10.0))",
        ),
        ("(pull 3 1)", "1.0"),
    ] {
        assert_eq!(printed(&mut session, form), wanted, "{form}");
    }
    printed(&mut session, "(rung:reset-calls)");
    let there = "(rung:resident-p (pull *m* (la:mean *m* :axis 0) :axis 1))";
    assert_eq!(printed(&mut session, there), "T");
    let rungs = "(remove-duplicates (loop for row in (rung:calls) collect (getf row :rung)))";
    assert_eq!(printed(&mut session, rungs), "(:DEVICE)");
}

/// The vector that was written came home each time.
#[test]
fn vectors_written_in_place_stay_on_the_device() {
    let mut session = on_device();
    let form = "(let ((a (rung:send (la:ones 20000))) (b (rung:send (la:ones 20000))))
        (dotimes (i 5) (vec:add-into a a b) (vec:axpy-into a 2 b a) (vec:exp-into b b))
        (list (rung:resident-p a) (rung:resident-p b)))";
    assert_eq!(printed(&mut session, form), "(T T)");
    let json: serde_json::Value = serde_json::from_str(&session.explain_json()).unwrap();
    assert_eq!(json["transfers"]["down"], 0, "{json}");
}

/// The last stage over a whole array had the name of the only stage over an axis.
#[test]
fn folds_of_a_whole_array_and_of_an_axis_are_two_kernels() {
    let mut session = on_device();
    for name in ["var", "std", "norm", "nansum", "nanprod", "sum", "mean", "amax"] {
        let form = format!(
            "(let ((x (rung:send (la:ones '(200 200))))) (la:{name} x) (la:{name} x :axis 0) 1)"
        );
        assert_eq!(printed(&mut session, &form), "1");
    }
    let json: serde_json::Value = serde_json::from_str(&session.explain_json()).unwrap();
    let declines = json["declines"].as_array().unwrap();
    assert!(declines.iter().all(|decline| decline["code"] != "compile"), "{json}");
}
