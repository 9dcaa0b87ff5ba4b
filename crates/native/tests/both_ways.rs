//! Native code does what the bytecode does: values, output, conditions with their places.

mod common;

use std::sync::atomic::Ordering::Relaxed;

use common::{Ran, both, run};
use rung_lisp::Value;

/// Runs a text both ways and compares with what is expected; errors are `short()`.
fn check(table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let Ran { values, output, .. } = both(text);
        let got = format!("{output}{values}");
        if got != *expected {
            wrong.push(format!("{text}\n  expected {expected}\n  got      {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn numbers_leave_the_fixnums_and_come_back() {
    check(&[
        (
            "(defun grow (n) (let ((x 1)) (dotimes (i n x) (setq x (* x 3)))))
             (list (grow 39) (grow 40) (grow 50))",
            "(4052555153018976267 12157665459056928801 717897987691852588770249)",
        ),
        (
            "(defun up (x) (+ x 1)) (defun down (x) (- x 1))
             (list (up 9223372036854775807) (down -9223372036854775808)
                   (down (up 9223372036854775807)))",
            "(9223372036854775808 -9223372036854775809 9223372036854775807)",
        ),
        (
            "(defun sum (list) (let ((s 0)) (dolist (x list s) (setq s (+ s x)))))
             (list (sum '(1 2 3)) (sum '(1 2.5d0 1/2)) (sum '(1/3 2/3)) (sum '(1.5 2)))",
            "(6 4.0 1 3.5)",
        ),
        (
            "(defun quotient (a b) (/ a b))
             (list (quotient 1 2) (quotient 1d0 4) (quotient 6 3) (quotient 1d0 0d0))",
            "(1/2 0.25 2 #.rung:double-inf)",
        ),
        (
            "(defun order (a b) (list (< a b) (> a b) (<= a b) (>= a b) (= a b) (/= a b)))
             (list (order 1 2) (order 2d0 1) (order 9007199254740993 9007199254740992d0)
                   (order 1/2 0.5d0))",
            "((T NIL T NIL NIL T) (NIL T NIL T NIL T) (NIL T NIL T NIL T) (NIL NIL T T T NIL))",
        ),
    ]);
}

#[test]
fn a_guess_that_fails_in_the_middle_of_a_loop_loses_nothing() {
    check(&[
        (
            "(defun total (v) (let ((s 0) (n 0))
               (dotimes (i (length v)) (incf n) (setq s (+ s (svref v i)))) (list s n)))
             (let ((v (make-array 200 :initial-element 1)))
               (setf (svref v 100) 0.5d0 (svref v 150) 1/2)
               (list (total v) (total v)))",
            "((199.0 200) (199.0 200))",
        ),
        (
            "(defun poly (x) (let ((y 0)) (dotimes (i 50 y) (setq y (+ (* y x) 1)))))
             (list (poly 1) (poly 2) (poly 0.5d0) (poly 1))",
            "(50 1125899906842623 1.9999999999999982 50)",
        ),
        (
            "(defun walk (x n) (if (= n 0) x (walk (if (= n 50) (float x 1d0) (+ x 1)) (- n 1))))
             (list (walk 0 100) (walk 0 100))",
            "(99.0 99.0)",
        ),
    ]);
}

#[test]
fn errors_in_native_code_have_the_text_and_the_place_of_the_bytecode() {
    check(&[
        (
            "(defun f (n)\n  (let ((s 0))\n    (dotimes (i n s)\n      (setq s (+ s (if (= i 90) 'x i))))))\n(f 100)",
            "test.lisp:4:15: error: +: expected a number: got X",
        ),
        (
            "(defun g (x)\n  (car x))\n(g '(1)) (g 5)",
            "test.lisp:2:3: error: car: expected a list: got 5",
        ),
        (
            "(defun h (v i)\n  (aref v i))\n(h (vector 1 2) 1) (h (vector 1 2) 2)",
            "test.lisp:2:3: error: aref: index 2 is outside an axis of length 2",
        ),
        (
            "(defun k () undefined-one)\n(k)",
            "test.lisp:1:1: error: the variable undefined-one is unbound",
        ),
        (
            "(defun m (a) (list a))\n(defun n () (m 1 2))\n(n)",
            "test.lisp:2:13: error: m: expected 1 argument: got 2",
        ),
        (
            "(defun safe (x) (handler-case (+ x 1) (type-error (e) (type-error-datum e))))
             (list (safe 1) (safe 'a) (safe 2.5d0) (safe \"b\"))",
            "(2 A 3.5 \"b\")",
        ),
        (
            "(defun keep (v) (let ((x 'old)) (handler-case (setq x (aref v 9)) (error () x))))
             (list (keep (vector 1)) (keep (vector 1)))",
            "(OLD OLD)",
        ),
    ]);
}

#[test]
fn a_function_that_native_code_calls_may_be_defined_again() {
    check(&[
        (
            "(defun inner (x) (+ x 1))
             (defun outer (n) (let ((s 0)) (dotimes (i n s)
               (when (= i 60) (setf (symbol-function 'inner) (lambda (x) (* 2 x))))
               (setq s (+ s (inner i))))))
             (outer 100)",
            "8190",
        ),
        (
            "(defun a (x) (if (= x 0) 'a (b (- x 1)))) (defun b (x) (a x))
             (list (a 100) (progn (defun b (x y) (+ x y)) (handler-case (a 1) (program-error () 'wrong)))
                   (progn (fmakunbound 'b) (handler-case (a 1) (undefined-function () 'none))))",
            "(A WRONG NONE)",
        ),
    ]);
}

#[test]
fn escapes_cross_native_frames_and_run_the_clean_ups() {
    check(&[
        (
            "(defvar *log* nil)
             (defun deep (n) (unwind-protect (if (= n 0) (throw 'out 'thrown) (deep (- n 1)))
                               (push n *log*)))
             (list (catch 'out (deep 5)) *log*)",
            "(THROWN (5 4 3 2 1 0))",
        ),
        (
            "(defun find-it (list) (block nil (mapc (lambda (x) (when (> x 3) (return x))) list) nil))
             (list (find-it '(1 2 3 4 5)) (find-it '(1 2)))",
            "(4 NIL)",
        ),
        (
            "(defun count-down (n) (let ((k 0)) (tagbody again (incf k)
               (funcall (lambda () (when (< k n) (go again))))) k))
             (count-down 100)",
            "100",
        ),
        (
            "(defvar *x* 0)
             (defun bound (n) (if (= n 0) *x* (let ((*x* (+ *x* n))) (bound (- n 1)))))
             (list (bound 100) *x*)",
            "(5050 0)",
        ),
        (
            "(defun two (n) (if (= n 0) (values 1 2) (two (- n 1))))
             (defun pass (n) (multiple-value-list (two n)))
             (list (pass 3) (multiple-value-list (two 0)) (multiple-value-list (+ 0 (two 2))))",
            "((1 2) (1 2) (1))",
        ),
    ]);
}

#[test]
fn closures_arguments_and_lists_are_as_in_the_bytecode() {
    check(&[
        (
            "(defun counter () (let ((n 0)) (lambda () (incf n))))
             (let ((c (counter))) (dotimes (i 100) (funcall c)) (funcall c))",
            "101",
        ),
        (
            "(defun opt (a &optional (b (* a 2)) &rest more &key) (list a b more))
             (defun keys (&key (x 1) y) (list x y))
             (list (opt 1) (opt 1 5) (opt 1 5 :z 7 :allow-other-keys t) (keys) (keys :y 3) (keys :x nil))",
            "((1 2 NIL) (1 5 NIL) (1 5 (:Z 7 :ALLOW-OTHER-KEYS T)) (1 NIL) (1 3) (NIL NIL))",
        ),
        (
            "(defun make (n) (let ((l nil)) (dotimes (i n l) (setq l (cons i l)))))
             (defun turn (l) (let ((r nil)) (loop while l do (let ((next (cdr l)))
               (setf (cdr l) r) (setq r l l next))) r))
             (list (turn (make 8)) (length (make 1000)))",
            "((0 1 2 3 4 5 6 7) 1000)",
        ),
        (
            "(defun same (a b) (list (eq a b) (eql a b)))
             (list (same 'a 'a) (same 1 1) (same 1 1d0) (same #\\a #\\a) (same nil nil) (same nil 'a)
                   (same (expt 10 30) (expt 10 30)) (same 1.5 1.5) (same \"a\" \"a\") (same t t))",
            "((T T) (T T) (NIL NIL) (T T) (T T) (NIL NIL) (T T) (T T) (NIL NIL) (T T))",
        ),
        (
            "(labels ((even (n) (if (= n 0) t (odd (- n 1)))) (odd (n) (if (= n 0) nil (even (- n 1)))))
               (list (even 1000) (odd 1000)))",
            "(T NIL)",
        ),
    ]);
}

#[test]
fn packed_vectors_are_read_and_written_where_they_stand() {
    check(&[
        (
            "(defun fill-up (v) (dotimes (i (length v) v) (setf (aref v i) (* i 0.5d0))))
             (defun add-up (v) (let ((s 0d0)) (dotimes (i (length v) s) (incf s (aref v i)))))
             (let* ((v (make-array 50 :element-type 'double-float)) (w (copy-seq (fill-up v))))
               (setf (aref w 0) 100d0)
               (list (add-up v) (add-up w) (aref v 0) (add-up v)))",
            "(612.5 712.5 0.0 612.5)",
        ),
        (
            "(defun set-bits (v) (dotimes (i (length v)) (setf (aref v i) (if (< i 3) 1 0))))
             (defun count-bits (v) (let ((n 0)) (dotimes (i (length v) n) (incf n (aref v i)))))
             (let ((v (make-array 40 :element-type 'bit))) (set-bits v)
               (list (count-bits v) (handler-case (progn (setf (aref v 0) 1) (count-bits v)))
                     (handler-case (funcall (lambda (x) (setf (aref v 1) x)) 2) (type-error () 'no))))",
            "(3 3 NO)",
        ),
        (
            "(defun both-kinds (v) (let ((s 0)) (dotimes (i (length v) s) (setq s (+ s (aref v i))))))
             (list (both-kinds (make-array 9 :element-type 'double-float :initial-element 1d0))
                   (both-kinds (vector 1 2 3))
                   (both-kinds (make-array 4 :element-type 'bit :initial-element 1))
                   (both-kinds (make-array 9 :element-type 'double-float :initial-element 1d0)))",
            "(9.0 6 4 9.0)",
        ),
    ]);
}

#[test]
fn a_number_of_the_other_kind_is_not_what_its_slot_held_before() {
    check(&[
        (
            "(defun less (x y) (if (and (integerp x) (< 3 x 99)) (less (- x 3) y) y))
             (defun f (a b)
               (let ((c 0) (l nil) (v (make-array 2 :element-type 'double-float :initial-element 1d0)))
                 (loop repeat 9 do (setq b c
                   a (+ (aref v (mod b 2)) (if (> (if (eql c b) a 5) (less 3 a)) (if (consp l) 0.25d0 b)
                                             (setf (aref v 0) 1)))))
                 (list a b v)))
             (list (f 1 2) (f 1 2) (f 0.5d0 3) (f 5 5))",
            "((2.0 0 #d(1.0 1.0)) (2.0 0 #d(1.0 1.0)) (2.0 0 #d(1.0 1.0)) (2.0 0 #d(1.0 1.0)))",
        ),
        (
            "(defun at (v i) (let ((k 1)) (dotimes (n 3) (setq k (svref v k)))
               (handler-case (svref v (setq k (* i 0.5d0))) (error () k))))
             (list (at (vector 0 1 2) 1) (at (vector 0 1 2) 2) (at (vector 0 1 2) 3))",
            "(0.5 1.0 1.5)",
        ),
    ]);
}

#[test]
fn an_endless_native_loop_is_interrupted() {
    for text in [
        "(defun spin () (let ((n 0)) (loop (press n) (setq n (logand (+ n 1) 1023))))) (spin)",
        "(defun round-and-round (n) (press n) (round-and-round (logand (+ n 1) 1023))) (round-and-round 0)",
    ] {
        let (mut lisp, _, _) = common::lisp(Some(true));
        let key = lisp.interrupt_handle();
        let press = move |_: &mut rung_lisp::Lisp, arguments: &[Value]| {
            if arguments[0].as_fixnum() == Some(1000) {
                key.store(true, Relaxed);
            }
            Ok(Value::Nil)
        };
        lisp.define_native(
            "cl-user",
            "press",
            "n",
            "Presses Ctrl-C late.",
            std::rc::Rc::new(press),
        );
        let ended = lisp.eval_text("test.lisp", text).unwrap_err();
        assert_eq!(ended.kind, rung_lisp::UnhandledKind::Interrupt, "{text}");
    }
}

#[test]
fn a_loop_that_nothing_but_the_key_ends_is_interrupted() {
    let (mut lisp, _, _) = common::lisp(Some(true));
    let key = lisp.interrupt_handle();
    let presser = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(300));
        key.store(true, Relaxed);
    });
    let text = "(defun spin (n) (loop (setq n (if (> n 1000) 0 (+ n 1))))) (spin 0)";
    let ended = lisp.eval_text("test.lisp", text).unwrap_err();
    assert_eq!(ended.kind, rung_lisp::UnhandledKind::Interrupt);
    presser.join().unwrap();
}

#[test]
fn deep_recursion_ends_in_a_storage_condition() {
    check(&[(
        "(defun deep (n) (if (= n 0) 0 (+ 1 (deep (- n 1)))))
         (list (deep 20000)
               (handler-case (deep 1000000) (storage-condition () 'too-deep)) (deep 20000))",
        "(20000 TOO-DEEP 20000)",
    )]);
}

#[test]
fn what_runs_is_told_by_disassemble() {
    let text = "(defun f (x) (+ x 1)) (dotimes (i 5000) (f i))
                (subseq (with-output-to-string (*standard-output*) (disassemble 'f)) 0 39)";
    assert_eq!(run(text, Some(false)).values, "\"#<FUNCTION F>: 2 registers, native code\"");
    assert_eq!(run(text, None).values, "\"#<FUNCTION F>: 2 registers, bytecode\n  \"");
}

#[test]
fn the_benchmarks_have_the_same_values() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/gabriel");
    let mut names = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| !path.ends_with("measure.lisp"))
        .collect::<Vec<_>>();
    names.sort();
    for path in names {
        let text = std::fs::read_to_string(&path).unwrap() + "\n(bench)";
        let (with, without) = (run(&text, Some(false)), run(&text, None));
        assert_eq!(with, without, "{}", path.display());
    }
}

#[test]
fn where_there_is_no_machine_code_the_bytecode_runs_everything_and_says_why() {
    let text = "(defun f (x) (+ x 1)) (dotimes (i 5000) (f i))
                (let ((told (with-output-to-string (*standard-output*) (disassemble 'f))))
                  (list (f 1) (subseq told 28 (position #\\Newline told))))";
    let enough = 1 << 20;
    for (processor, most, expected) in [
        ("pdp11", enough, "(2 \"bytecode: Cranelift knows no pdp11\")"),
        (
            std::env::consts::ARCH,
            0,
            "(2 \"bytecode: the native code of this program takes 0 bytes already\")",
        ),
    ] {
        let (mut lisp, ..) = common::lisp(None);
        lisp.set_back_end(rung_native::back_end_of(processor, most));
        let values = lisp.eval_text("test.lisp", text).unwrap();
        let printed = values.iter().map(|value| lisp.print(value)).collect::<Vec<_>>();
        assert_eq!(printed, [expected]);
    }
}

#[test]
fn throws_and_exits_land_in_native_code_and_in_bytecode() {
    check(&[
        (
            "(defun thrower (n) (if (= n 0) (throw 'out (values 1 2)) (thrower (- n 1))))
             (defun catcher (n) (+ 1 (catch 'out (thrower n) 10)))
             (let ((s 0)) (dotimes (i 100 s) (incf s (catcher 3))))",
            "200",
        ),
        (
            "(defun values-of (n) (multiple-value-list (catch 'out (if (> n 5) (throw 'out (values n 2 3)) n))))
             (let ((l nil)) (dotimes (i 9 l) (setq l (values-of i))))",
            "(8 2 3)",
        ),
        (
            "(defun lost (n) (if (= n 7) (throw 'nowhere n) n))
             (let ((s 0)) (dotimes (i 10 s) (incf s (handler-case (lost i) (control-error () 100)))))",
            "138",
        ),
        (
            "(defvar *d* 0)
             (defun cleaner (n) (catch 'out (let ((*d* n)) (unwind-protect (throw 'out *d*) (incf *d*)
               (when (= n 5) (throw 'out 'other))))))
             (let ((l nil)) (dotimes (i 7 (list l *d*)) (push (cleaner i) l)))",
            "((6 OTHER 4 3 2 1 0) 0)",
        ),
        (
            "(defun inner (f n) (if (= n 0) (funcall f) (inner f (- n 1))))
             (defun outer (n) (block b (+ 1 (inner (lambda () (return-from b n)) n))))
             (let ((s 0)) (dotimes (i 50 s) (incf s (outer i))))",
            "1225",
        ),
    ]);
}

#[test]
fn functions_that_become_loops_do_what_calls_of_them_do() {
    check(&[
        (
            "(list (mapcar #'+ '(1 2 3) '(10 20 30 40)) (mapc #'identity '(1 2)) (mapcar #'car nil)
                   (multiple-value-list (mapcar (lambda (x) (values x x)) '(1 2))))",
            "((11 22 33) (1 2) NIL ((1 2)))",
        ),
        (
            "(defun f (x) (defun f (x) (list 'new x)) (list 'old x)) (mapcar #'f '(1 2))",
            "((OLD 1) (OLD 2))",
        ),
        (
            "(defun run (list) (catch 'out (mapcar (lambda (x) (if (= x 2) (throw 'out x) x)) list)))
             (defun leave (list) (block nil (mapc (lambda (x) (return (list x))) list)))
             (list (run '(1 2 3)) (run '(1 3)) (leave '(7 8)) (leave nil))",
            "(2 (1 3) (7) NIL)",
        ),
        (
            "(flet ((text (run) (handler-case (funcall run) (type-error (c) (princ-to-string c)))))
               (list (text (lambda () (mapcar #'1+ '(1 2 . 3)))) (text (lambda () (mapc #'list 5)))
                     (text (lambda () (mapcar #'list nil 5))) (text (lambda () (rplaca 5 1)))
                     (text (lambda () (rplacd nil 1)))))",
            "(\"mapcar: expected a list: got 3\" \"mapc: expected a list: got 5\" NIL \
             \"rplaca: expected a cons: got 5\" \"rplacd: expected a cons: got NIL\")",
        ),
        (
            "(let ((x (list 1 2)) (n 0)) (list (rplaca x (incf n)) (rplacd x (incf n)) x n))",
            "((1 . 2) (1 . 2) (1 . 2) 2)",
        ),
        ("(let ((x 1)) (list x (setq x 2) (list x) (list (list))))", "(1 2 (2) (NIL))"),
    ]);
}

#[test]
fn throws_that_land_near_undo_what_those_from_afar_do() {
    check(&[
        (
            "(defvar *n* 0) (defun deep (n) (if (= n 0) (throw 'x (values 1 2)) (+ 1 (deep (- n 1)))))
             (defun guarded (n) (unwind-protect (deep n) (incf *n*)))
             (list (multiple-value-list (catch 'x (deep 5))) (catch 'x (deep 3) 7)
                   (multiple-value-list (catch 'x (guarded 2))) *n*
                   (let ((*n* 3)) (catch 'x (let ((*n* 4)) (deep 1)) 0)) *n*)",
            "((1 2) 1 (1 2) 1 1 1)",
        ),
        (
            "(defun inner (tag) (catch 'a (throw tag 5)) 6)
             (list (catch 'b (inner 'b)) (catch 'b (inner 'a)) (catch 'b (block nil (inner 'b))))",
            "(5 6 5)",
        ),
        (
            "(defun or-test (a b) (or (null a) b)) (defun or-call (a) (or (eql a 1) (list a)))
             (list (or-test nil 1) (or-test 1 2) (or-call 1) (or-call 2) (if (or (null 1) nil) 1 2))",
            "(T 2 T (2) 2)",
        ),
    ]);
}

#[test]
fn elements_of_planes_and_packed_vectors_are_found_by_any_kind_of_array() {
    check(&[
        (
            "(defun at (a i j) (aref a i j)) (defvar *a* (make-array '(2 3) :initial-element 0))
             (setf (aref *a* 1 2) 'x)
             (defvar *d* (make-array '(3 2) :displaced-to *a*))
             (list (at *a* 1 2) (at *a* 0 0) (at *d* 2 1) (at #2a((1 2) (3 4)) 1 0)
                   (handler-case (at *a* 2 0) (error () 'outside))
                   (handler-case (at *a* 0 3) (error () 'outside))
                   (handler-case (at *a* -1 0) (error () 'outside))
                   (handler-case (at (vector 1) 0 0) (error () 'rank))
                   (handler-case (at 5 0 0) (type-error () 'type)))",
            "(X 0 X 3 OUTSIDE OUTSIDE OUTSIDE RANK TYPE)",
        ),
        (
            "(defun exchange (v i j) (rotatef (aref v i) (aref v j)) (list (aref v i) (aref v j)))
             (let ((d (make-array 2 :element-type 'double-float :initial-contents '(1d0 2d0))))
               (dotimes (i 9) (exchange d 0 1))
               (list (exchange d 0 1) (exchange (vector 1 2) 0 1) (exchange d 0 1)
                     (exchange (make-array 2 :element-type 'fixnum :initial-contents '(3 4)) 0 1)
                     (handler-case (exchange d 0 2) (error () 'outside))))",
            "((1.0 2.0) (2 1) (2.0 1.0) (4 3) OUTSIDE)",
        ),
    ]);
}

#[test]
fn arrays_that_are_looked_at_before_a_loop_may_be_none() {
    let dot =
        "(defun dot (a b n) (let ((s 0d0)) (dotimes (i n s) (incf s (* (aref a i) (aref b i))))))
         (defvar *p* (make-array 9 :element-type 'double-float :initial-element 1.5d0))
         (dotimes (i 50) (dot *p* *p* 9)) ";
    let cases = [
        ("(list (dot *p* *p* 9) (dot nil nil 0) (dot *p* 7 0) (dot *p* *p* 9))", "(20.25 0.0 0.0 20.25)"),
        ("(list (dot (vector 1 2d0) *p* 2) (dot *p* (vector 1 2d0) 2) (dot *p* *p* 9))", "(4.5 4.5 20.25)"),
        ("(let ((v (make-array 3 :element-type 'fixnum :initial-element 2))) (list (dot v v 3) (dot v *p* 3)))", "(12.0 9.0)"),
        ("(handler-case (dot *p* *p* 10) (error () :outside))", ":OUTSIDE"),
        ("(handler-case (dot *p* nil 1) (error () :none))", ":NONE"),
        // Another one, which is written beside.
        ("(let ((q (copy-seq *p*))) (list (dot q q 9) (progn (setf (aref q 0) 0d0) (dot q *p* 9))))", "(20.25 18.0)"),
        // The array of one branch alone.
        (
            "(defun either (a n) (let ((s 0d0)) (dotimes (i n s) (if (consp a) (incf s (car a)) (incf s (aref a i))))))
             (dotimes (i 50) (either *p* 9)) (list (either *p* 9) (either '(2d0) 9) (either *p* 9))",
            "(13.5 18.0 13.5)",
        ),
        // The loop takes another one.
        (
            "(defun turns (a b n) (let ((s 0d0)) (dotimes (i n s) (incf s (aref a i)) (rotatef a b) (when (= i 5) (setq b nil)))))
             (list (turns *p* (make-array 9 :element-type 'double-float :initial-element 1d0) 6)
                   (handler-case (turns *p* *p* 9) (error () :none)))",
            "(7.5 :NONE)",
        ),
        // A loop in a loop, and what is let go of beside doubles.
        (
            "(defun rows (a list n) (let ((s 0d0) (u 1d0)) (dolist (x list (list s u)) (setq u (* u 0.5d0))
               (let ((keep (list x x))) (dotimes (i n) (incf s (* x (aref a i))) (setq keep (cdr keep)))))))
             (dotimes (i 20) (rows *p* '(1d0 2d0) 9)) (list (rows *p* '(1d0 2d0) 9) (rows nil '(1d0) 0))",
            "((40.5 0.25) (0.0 0.5))",
        ),
    ];
    let texts: Vec<_> =
        cases.iter().map(|(text, wanted)| (format!("{dot}{text}"), *wanted)).collect();
    check(&texts.iter().map(|(text, wanted)| (text.as_str(), *wanted)).collect::<Vec<_>>());
}

#[test]
fn dynamic_variables_are_bound_to_numbers_of_registers_and_come_back() {
    check(&[
        (
            "(defvar *x* :top) (defun seen () *x*)
             (defun f (n) (let ((d (* n 0.5d0))) (list (let ((*x* d)) (list (seen) (incf d))) d (seen))))
             (dotimes (i 30) (f i)) (list (f 3) *x*)",
            "(((1.5 2.5) 2.5 :TOP) :TOP)",
        ),
        (
            "(defvar *x* 0) (defvar *y* 0)
             (defun g (n) (let ((*x* (+ n 1)) (*y* (list n))) (if (= n 0) (throw 'out (list *x* *y*)) (g (- n 1)))))
             (dotimes (i 30) (catch 'out (g 3))) (list (catch 'out (g 3)) *x* *y*)",
            "((1 (0)) 0 0)",
        ),
        (
            "(defvar *x* 0)
             (defun h (n) (if (= n 0) (car *x*) (let ((*x* (cons n *x*))) (+ (h (- n 1)) (* 10 (car *x*))))))
             (dotimes (i 30) (h 3)) (list (h 3) *x*)",
            "(61 0)",
        ),
    ]);
}
