;;; Takeuchi's function in continuation-passing style: closures and tail calls.
(defun cpstak (x y z k)
  (if (not (< y x))
      (funcall k z)
      (cpstak (- x 1) y z
              (lambda (a)
                (cpstak (- y 1) z x
                        (lambda (b)
                          (cpstak (- z 1) x y
                                  (lambda (c) (cpstak a b c k)))))))))
(defun bench () (cpstak 12 8 4 (lambda (a) a)))
