;;; A parenthesis that is never closed: where it was opened.
(defun f (x)
  (let ((y (* 2 x))
    y))
;;; exit: 1
;;; err: error: end of file inside a list that began at tests/programs/unbalanced.lisp:2:1
;;; err:  --> tests/programs/unbalanced.lisp:2:1
;;; err:   |
;;; err: 2 | (defun f (x)
;;; err:   | ^
