;;; A parenthesis that is never closed: where it was opened.
(defun f (x)
  (let ((y (* 2 x))
    y))
