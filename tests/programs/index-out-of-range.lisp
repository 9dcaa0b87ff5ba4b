;;; An index outside its array.
(let ((a (la:zeros '(2 3))))
  (format t "~S~%" (aref a 1 2))
  (print (aref a 2 0)))
;;; exit: 1
;;; out: 0.0
;;; err: error: aref: index 2 is outside an axis of length 2
;;; err:  --> tests/programs/index-out-of-range.lisp:4:10
;;; err:   |
;;; err: 4 |   (print (aref a 2 0)))
;;; err:   |          ^^^^^^^^^^^^
