;;; Takeuchi's function with its arguments in dynamic variables: binding.
(defvar *x*)
(defvar *y*)
(defvar *z*)
(defun stak-inside ()
  (if (not (< *y* *x*))
      *z*
      (let ((*x* (let ((*x* (- *x* 1)) (*y* *y*) (*z* *z*)) (stak-inside)))
            (*y* (let ((*x* (- *y* 1)) (*y* *z*) (*z* *x*)) (stak-inside)))
            (*z* (let ((*x* (- *z* 1)) (*y* *x*) (*z* *y*)) (stak-inside))))
        (stak-inside))))
(defun stak (*x* *y* *z*) (stak-inside))
(defun bench () (stak 18 12 6))
