//! Circular garbage that programs make is collected, and nothing else is.

mod common;

use common::check;

#[test]
fn gc_says_how_much_circular_garbage_there_was() {
    check(&[
        ("(rung:gc) (let ((x (list 1 2 3))) (setf (cdr (last x)) x) nil) (rung:gc)", "3"),
        ("(rung:gc) (let ((x (list 1 2 3))) x nil) (rung:gc)", "0"),
        ("(rung:gc) (let ((v (vector nil))) (setf (svref v 0) (list v)) nil) (rung:gc)", "2"),
        (
            "(rung:gc)
             (let ((h (make-hash-table))) (setf (gethash h h) (list h)) nil)
             (rung:gc)",
            "2",
        ),
        (
            "(defstruct node next) (rung:gc)
             (let ((n (make-node))) (setf (node-next n) (list n)) nil)
             (rung:gc)",
            "2",
        ),
        (
            "(define-condition ring (error) ((me :initarg :me :accessor me))) (rung:gc)
             (let ((c (make-condition 'ring :me nil))) (setf (me c) (list c)) nil)
             (rung:gc)",
            "2",
        ),
        // A function, what it captures, and the cell of the captured variable.
        (
            "(defun make () (let ((f nil)) (setq f (lambda () f)) nil))
             (make) (rung:gc) (make) (make) (rung:gc)",
            "6",
        ),
    ]);
}

#[test]
fn circular_data_that_is_used_stays() {
    check(&[
        (
            "(defvar *ring* (let ((x (list 1 2 3))) (setf (cdr (last x)) x)))
             (rung:gc)
             (loop repeat 7 for e in *ring* collect e)",
            "(1 2 3 1 2 3 1)",
        ),
        ("(let ((x (list 1 2))) (setf (cddr x) x) (rung:gc) (list (car x) (third x)))", "(1 1)"),
        (
            "(defun counter () (let ((n 0) (self nil))
               (setq self (lambda () (incf n) self))))
             (let ((c (counter))) (funcall c) (rung:gc) (eq c (funcall c)))",
            "T",
        ),
        (
            "(let ((v (vector 1 2 3))) (setf (svref v 0) v)
               (mapcar (lambda (i) (rung:gc) (eq v (svref v 0))) '(1 2)))",
            "(T T)",
        ),
        (
            "(labels ((ev (n) (if (= n 0) t (od (1- n)))) (od (n) (if (= n 0) nil (ev (1- n)))))
               (rung:gc) (funcall #'ev 10))",
            "T",
        ),
        (
            "(let ((h (make-hash-table :test 'equal)))
               (setf (gethash \"h\" h) h) (rung:gc) (eq h (gethash \"h\" (gethash \"h\" h))))",
            "T",
        ),
    ]);
}

/// Ten million where the tests are compiled with optimisation, as they are by default.
#[test]
fn a_program_that_drops_cycles_runs_in_flat_memory() {
    let before = resident();
    check(&[(
        "(defun drop-rings (n)
           (dotimes (i n)
             (let* ((ring (list i i)) (v (vector ring nil)) (f nil))
               (setf (cddr ring) ring (svref v 1) v)
               (setq f (lambda () (or v f))))))
         (drop-rings 1500000)
         (dotimes (i 10000000) (let ((x (list i))) (setf (cdr x) x)))
         :done",
        ":DONE",
    )]);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after < before + (160 << 20), "{} MiB more", (after - before) >> 20);
    }
}

/// Bytes of the process in memory, where the system says.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(text.split(' ').nth(1)?.parse::<usize>().ok()? * 4096)
}

#[test]
fn an_array_of_cycles_is_collected_by_the_size_of_its_elements() {
    let before = resident();
    check(&[(
        "(dotimes (i 400) (let ((v (make-array 100000))) (setf (svref v 0) v))) :done",
        ":DONE",
    )]);
    if let (Some(before), Some(after)) = (before, resident()) {
        assert!(after < before + (300 << 20), "{} MiB more", (after - before) >> 20);
    }
}
