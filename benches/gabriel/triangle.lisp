;;; Peg solitaire on a triangle, all games from one start: vectors and backtracking. A smaller
;;; board than the usual one, so that a run takes a fraction of a second.
(defvar *board* (make-array 16))
(defvar *sequence* (make-array 14))
(defvar *from* (coerce '(1 2 4 3 5 6 1 3 6 2 5 4 11 12 13 7 8 4 4 7 11 8 12 13 6 10 15 9 14 13
                         13 14 15 9 10 6 6) 'simple-vector))
(defvar *over* (coerce '(2 4 7 5 8 9 3 6 10 5 9 8 12 13 14 8 9 5 2 4 7 5 8 9 3 6 10 5 9 8
                         12 13 14 8 9 5 5) 'simple-vector))
(defvar *to* (coerce '(4 7 11 8 12 13 6 10 15 9 14 13 13 14 15 9 10 6 1 2 4 3 5 6 1 3 6 2 5 4
                       11 12 13 7 8 4 4) 'simple-vector))
(defvar *finals* nil)
(defvar *left* 0)
(defun only-peg () (position 1 *board* :start 1))
(defun jump (i depth)
  (cond ((= depth 14)
         (pushnew (only-peg) *finals*)
         nil)
        ((<= *left* 0) t)
        ((and (= (svref *board* (svref *from* i)) 1)
              (= (svref *board* (svref *over* i)) 1)
              (= (svref *board* (svref *to* i)) 0))
         (decf *left*)
         (setf (svref *board* (svref *from* i)) 0
               (svref *board* (svref *over* i)) 0
               (svref *board* (svref *to* i)) 1
               (svref *sequence* (- depth 1)) i)
         (do ((j 0 (+ j 1)))
             ((or (= j 36) (jump j (+ depth 1))) nil))
         (setf (svref *board* (svref *from* i)) 1
               (svref *board* (svref *over* i)) 1
               (svref *board* (svref *to* i)) 0)
         nil)
        (t nil)))
(defun bench ()
  (fill *board* 1)
  (setf (svref *board* 5) 0 *finals* nil *left* 20000)
  (jump 22 1)
  *left*)
