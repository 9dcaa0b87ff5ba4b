;;; Three small benchmarks, the same text for this crate and for CLISP:
;;;   cargo run --release -p rung-lisp --example run -- crates/lisp/examples/benchmarks.lisp
;;;   clisp -C -q crates/lisp/examples/benchmarks.lisp

(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))

(defun tak (x y z)
  (if (not (< y x))
      z
      (tak (tak (1- x) y z) (tak (1- y) z x) (tak (1- z) x y))))

(defun doubles (n)
  (let ((s 0d0) (x 1d0))
    (dotimes (i n) (setq s (+ s (* x 0.5d0))) (setq x (- x 1d-7)))
    s))

(compile 'fib)
(compile 'tak)
(compile 'doubles)
(time (fib 30))
(time (dotimes (i 20) (tak 18 12 6)))
(time (doubles 1000000))
