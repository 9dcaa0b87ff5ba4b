//! Kernels of a program's own: the examples of the manual, the same bits on every rung, and mistakes
//! that say what was wanted.

mod common;

use common::{printed, session};
use rung::Session;
use rung_base::{DeviceChoice, Explain};

const PAGE: &str = include_str!("../../../docs/kernels.md");

/// The forms of the page's blocks, each with what is written below it, if anything.
fn examples() -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for block in PAGE.split("```lisp\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let mut form = String::new();
        for line in block.lines() {
            if let Some(wanted) = line.strip_prefix("; => ") {
                all.push((std::mem::take(&mut form), Some(wanted.to_string())));
            } else if line.is_empty() && !form.trim().is_empty() {
                all.push((std::mem::take(&mut form), None));
            } else {
                form.push_str(line);
                form.push('\n');
            }
        }
        if !form.trim().is_empty() {
            all.push((form, None));
        }
    }
    all
}

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
    let examples = examples();
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

/// Lets, repetitions, conditions and every spelling, over shapes that broadcast and values that hurt.
#[test]
fn a_kernel_has_the_same_bits_on_every_rung() {
    let kernels = [
        "(defkernel k1 ((x f64) (y f64)) (if (< x y) (- x) (max x y 0.25)))",
        "(defkernel k2 ((x f32) (y f32)) (let ((a (* x y)) (b (+ x y))) (/ (- a b) (+ 1 (* b b)))))",
        "(defkernel k3 ((x f64) (y f64)) (let* ((a (sin x)) (b (let ((c (cos y)) (d a)) (+ c d a)))) \
         (* a b)))",
        "(defkernel k4 ((x f32) (y f32)) (repeat 7 ((a x b) (b y (+ (* 1/2 a) (tanh b)))) (- a b)))",
        "(defkernel k5 ((x f64) (y f64)) (+ (and (not (= x y)) (>= (+ x) (max 0)) (/= y 1)) (or (isnan x) 0) \
         (signum y) (expt (abs x) 1/3) (/ 4) (- x)))",
        "(defkernel k6 ((x f32) (y f64)) (repeat 3 ((a (* x y) a) (b 0 (+ b (let ((t1 a)) (* t1 b)) 1))) \
         (if b (min a b) pi)))",
        "(defkernel k7 ((x f64) (y f64)) x)",
        "(defkernel k8 ((x f32) (y f32)) (sum (* x y)))",
        "(defkernel k9 ((x f64) (y f64)) (amax (- x y)))",
    ];
    let operands = [
        ("#d(1 2 nan -0.0 0.5 -3 inf)", "#d(1 -2 0.0 0.0 nan 1e308 -inf)"),
        ("(la:sin (la:arange 5000))", "(la:cos (la:arange 5000))"),
        ("(la:reshape (la:arange 130) '(13 10))", "(la:reshape (la:arange 13) '(13 1))"),
        ("(la:transpose (la:reshape (la:arange 6000) '(60 100)))", "(la:arange 60)"),
        ("(la:zeros '(0 3))", "1.5"),
        ("-0.75", "(la:linspace -1 1 4097)"),
        ("2", "3"),
    ];
    let mut sessions = [on_portable(), session(|_| {}), on_device()];
    for (k, kernel) in kernels.iter().enumerate() {
        let kernel = kernel.replace("defkernel", "rung:defkernel");
        for session in &mut sessions {
            assert_eq!(printed(session, &kernel), format!("K{}", k + 1), "{kernel}");
        }
        for (x, y) in operands {
            // Singles where a parameter is single.
            let narrow = |form: &str| match kernel.contains("f32") && form.starts_with(['(', '#']) {
                true => format!("(la:astype {form} 'single-float)"),
                false => form.to_string(),
            };
            let form = format!("(k{} {} {})", k + 1, narrow(x), narrow(y));
            if k + 1 == 9 && x.contains("(0 3)") {
                continue;
            }
            let shown: Vec<String> = sessions
                .iter_mut()
                .map(|session| {
                    printed(
                        session,
                        &format!(
                            "(let ((r {form})) (if (arrayp r) (list (la:shape r) \
                             (la:sum (la:isnan r)) (la:to-list r)) r))"
                        ),
                    )
                })
                .collect();
            assert!(!shown[0].contains("rror"), "{form}: {}", shown[0]);
            assert_eq!(shown[0], shown[1], "{kernel} {form}, lanes");
            assert_eq!(shown[0], shown[2], "{kernel} {form}, device");
        }
    }
}

#[test]
fn mistakes_say_what_was_wanted() {
    let mut session = session(|_| {});
    let cases = [
        ("(rung:defkernel a ((x f16)) x)", "f32 or f64"),
        ("(rung:defkernel a (x) x)", "expected a list"),
        ("(rung:defkernel a () 1)", "at least one parameter"),
        ("(rung:defkernel a ((x f32)) y)", "no parameter or binding of this name"),
        ("(rung:defkernel a ((x f32)) (sort x))", "no element-wise function"),
        ("(rung:defkernel a ((x f32)) (exp x x))", "wrong number of arguments"),
        ("(rung:defkernel a ((x f32)) (repeat x ((a x a)) a))", "a count that is written"),
        ("(rung:defkernel a ((x f32)) (repeat 5000 ((a x (* a a))) a))", "4096 steps"),
        ("(rung:defkernel a ((x f32)) (+ 1 (sum x)))", "no element-wise function"),
        ("(progn (rung:defkernel a ((x f32)) (* x x)) (a #d(1)))", "wants x as f32: got f64"),
    ];
    for (form, wanted) in cases {
        let text = match session.lisp.eval_text("example", form) {
            Ok(values) => session.lisp.print(&values[0]),
            Err(e) => e.to_string(),
        };
        assert!(text.contains(wanted), "{form}: {text}");
    }
}
