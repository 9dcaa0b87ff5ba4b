;;; Package rung: the type of quantised matrices. Their functions are in quantized.rs.

(deftype rung:quantized-matrix (&optional (format '*) (dimensions '*))
  "Quantised matrices, of a format such as :q8-0 and of these dimensions where they are given."
  (let ((elements (if (eq format '*) '* (list 'rung:quantized format))))
    `(and (satisfies rung:quantized-matrix-p) (array ,elements ,dimensions))))
