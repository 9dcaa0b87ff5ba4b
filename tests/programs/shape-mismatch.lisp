;;; A shape mismatch names both shapes, the place, and what would fit.
(defun product (a b)
  (la:matmul a b))

(product (la:zeros '(3 4)) (la:zeros '(2 4)))
;;; exit: 1
;;; err: error: linalg: matmul inner dimensions differ: (3 4) and (2 4)
;;; err:  --> tests/programs/shape-mismatch.lisp:3:3
;;; err:   |
;;; err: 3 |   (la:matmul a b))
;;; err:   |   ^^^^^^^^^^^^^^^
;;; err:   hint: (la:transpose b) has shape (4 2), which fits
