;;; Takeuchi's function that returns by throw: catch and throw.
(defun ctak (x y z) (catch 'done (ctak-inside x y z)))
(defun ctak-inside (x y z)
  (if (not (< y x))
      (throw 'done z)
      (ctak-inside (catch 'done (ctak-inside (- x 1) y z))
                   (catch 'done (ctak-inside (- y 1) z x))
                   (catch 'done (ctak-inside (- z 1) x y)))))
(defun bench () (ctak 18 12 6))
