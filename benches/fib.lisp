;;; Milliseconds of (fib 30), 1.3 million calls of a function; the same file runs in CLISP.

(defun fib (n)
  (if (< n 2)
      n
      (+ (fib (- n 1)) (fib (- n 2)))))

(let ((start (get-internal-real-time)))
  (unless (= (fib 30) 832040)
    (error "fib is wrong"))
  (format t "~D~%" (round (* 1000 (- (get-internal-real-time) start))
                          internal-time-units-per-second)))
