;;; A knotted tube as a cloud of points, for `rung points`:
;;;
;;;     rung examples/knot.lisp -- knot.npy
;;;
;;; Points lie on spheres around a trefoil knot, more densely in one half of it than in the other.

(defparameter *path* (or (first (uiop:command-line-arguments)) "knot.npy"))
(defparameter *count* 20000)

(defun knot (angle)
  "The trefoil at each angle: (n 3)."
  (let ((twice (la:mul 2 angle)))
    (la:stack (list (la:add (la:sin angle) (la:mul 2 (la:sin twice)))
                    (la:sub (la:cos angle) (la:mul 2 (la:cos twice)))
                    (la:negative (la:sin (la:mul 3 angle))))
              :axis 1)))

(defun directions (n)
  "Unit vectors drawn evenly: (n 3)."
  (let ((v (la:randn (list n 3))))
    (la:div v (la:norm v :axis 1 :keepdims t))))

(la:seed 3)
;; The square of a uniform number is small more often than large.
(let* ((angle (la:mul (* 2 pi) (la:square (la:rand *count*))))
       (points (la:add (knot angle) (la:mul 0.4 (directions *count*)))))
  (npy:write (la:astype points 'single-float) *path*)
  (format t "~d points in ~a~%" *count* *path*))
