;;; What arrays refuse, and in which words; an assignment that is refused writes nothing.
(defparameter *a* (la:zeros '(3 4)))

(handler-case (setf (la:slice *a* '((0 2) (1 nil))) (la:ones '(3 3)))
  (rung:shape-error (e) (format t "~A~%" e)))
(handler-case (setf (la:row *a* 3) 1)
  (rung:index-error (e) (format t "~A~%" e)))
(handler-case (la:power (la:astype #d(2 3) '(signed-byte 64)) -1)
  (error (e) (format t "~A~%" e)))
(handler-case (la:bit-and #d(1 2) 1)
  (rung:element-type-error (e) (format t "~A~%" e)))
(handler-case (la:mod (la:astype #d(7) '(signed-byte 32)) 0)
  (division-by-zero (e) (format t "~A~%" e)))
(handler-case (la:stack (list #d(1 2) #d(1 2 3)))
  (rung:shape-error (e) (format t "~A~%" e)))
(handler-case (la:from-list '((1 2) (3)))
  (rung:shape-error (e) (format t "~A~%" e)))
(handler-case (la:one-hot '(0 5) 3)
  (rung:index-error (e) (format t "~A~%" e)))
(format t "~A~%" (la:sum *a*))
(handler-case (la:pad *a* '((1 2)))
  (error (e) (format t "~A~%" e)))
;;; out: linalg: shape mismatch: (3 3) and (2 3)
;;; out: linalg: row index out of range: 3 for 3 rows
;;; out: linalg: power of an integer to a negative exponent
;;; out: linalg: expects integer arrays: got #<double-float (2)>
;;; out: linalg: integer division by zero
;;; out: linalg: stack expects arrays of equal shape: (2) and (3)
;;; out: linalg: from-list rows differ in length: (3)
;;; out: linalg: one-hot index out of range: 5 for an axis of 3
;;; out: 0.0
;;; out: linalg: pad expects one (before after) pair per axis: got ((1 2))
