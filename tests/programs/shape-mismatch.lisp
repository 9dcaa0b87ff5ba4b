;;; A shape mismatch names both shapes, the place, and what would fit.
(defun product (a b)
  (la:matmul a b))

(product (la:zeros '(3 4)) (la:zeros '(2 4)))
