;;; Times one product of two square matrices.
;;;
;;;   rung examples/matmul.lisp [--gpu] [--blas] [-- N]        N is 512 if not given
;;;
;;; Prints a checksum that is the same with all flags: the entries are small integers, so every
;;; sum of products is an exact number whatever the order of the additions. The time goes to
;;; standard error, since it is not the same in two runs.

(defun integers (n below)
  "A single-float matrix (n n) of random integers from 0 to BELOW - 1."
  (let ((drawn (la:uniform 0 below (list n n))))
    ;; A conversion to integers cuts the fraction off.
    (la:astype (la:astype drawn '(signed-byte 32)) 'single-float)))

(defun seconds-of (function)
  "The values of FUNCTION are lost; gives the seconds that the call took."
  (let ((start (rung:nanoseconds)))
    (funcall function)
    (/ (- (rung:nanoseconds) start) 1e9)))

(defun checksum (matrix)
  "The sum of all entries, and of the entries weighted by column number; both are exact integers."
  (let ((columns (la:arange (second (la:shape matrix)))))
    (list (round (la:sum matrix))
          (round (la:sum (la:mul (la:astype matrix 'double-float) columns))))))

(defun main (&optional (size "512"))
  (la:seed 1)
  (let* ((n (parse-integer size))
         (a (integers n 8))
         (b (integers n 8))
         (product nil)
         (seconds (seconds-of (lambda ()
                                (setf product (la:matmul a b))
                                ;; Reading one entry waits for a device to finish.
                                (aref product 0 0)))))
    (format t "~D x ~D, checksum ~{~D~^ ~}~%" n n (checksum product))
    (format *error-output* "~,1F ms, ~,2F GFLOP/s~%"
            (* 1000 seconds) (/ (* 2 n n n) seconds 1e9))))

(apply #'main (uiop:command-line-arguments))
