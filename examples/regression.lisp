;;; Fits a plane to Longley's economic data and compares it with NIST's certified coefficients.
;;;
;;;   rung examples/regression.lisp [-- TABLE.csv]
;;;
;;; A table of one's own has the values to be explained in its first column. Rows that miss a number
;;; are left out, and the program says how many. Read from the bottom up.

(defparameter *certified*
  '(-3482258.63459582d0 15.0618722713733d0 -0.0358191792925910d0 -2.02022980381683d0
    -1.03322686717359d0 -0.0511041056535807d0 1829.15146461355d0)
  "NIST's coefficients of longley.csv, the constant first.")

(defun names (path)
  "The names in the first line of the table, without the first."
  (with-open-file (table path)
    (let ((line (read-line table)))
      (loop for start = (1+ (position #\, line)) then (1+ end)
            for end = (position #\, line :start start)
            collect (subseq line start end)
            while end))))

(defun complete-rows (table)
  "The rows without a missing number (NaN)."
  (la:compress (la:logical-not (la:any (la:isnan table) :axis 1)) table :axis 0))

(defun with-constant (x)
  (la:concatenate (list (la:ones (list (first (la:shape x)) 1)) x) :axis 1))

(defun standard-errors (x squares)
  "Of the coefficients: the root of the diagonal of (X'X)^-1, times the spread of what is left."
  (destructuring-bind (rows columns) (la:shape x)
    (let ((inverse (la:pinv x)))
      (la:mul (la:sqrt (la:sum (la:square inverse) :axis 1))
              (sqrt (/ (la:sum squares) (- rows columns)))))))

(defun digits-right (value certified)
  "How many decimal digits agree, 8 at most: the later ones differ between processors."
  (if (= value certified)
      8
      (min 8 (floor (- (log (/ (abs (- value certified)) (abs certified)) 10))))))

(defun report (names coefficients errors certified)
  (format t "~12@A ~18@A ~16@A~@[ ~8@A~]~%" "" "coefficient" "standard error"
          (when certified "digits"))
  (loop for name in (cons "constant" names)
        for i from 0
        for value = (aref coefficients i)
        do (format t "~12@A ~18,4F ~16,4F~@[ ~8D~]~%" name value (aref errors i)
                   (when certified (digits-right value (nth i certified))))))

(defun refuse (path control &rest arguments)
  (format *error-output* "~A: ~?~%" path control arguments)
  (quit 1))

(defun check-size (rows path)
  "As many coefficients as rows always fit, and leave nothing to judge them by."
  (destructuring-bind (count columns) (la:shape rows)
    (when (< columns 2)
      (refuse path "expected values and columns to explain them: it has ~D column" columns))
    (when (<= count columns)
      (refuse path "~D coefficients, one of them the constant, need ~D rows or more: ~D ~:*~[are~;is~:;are~] ~
                    complete"
              columns (1+ columns) count))))

(defun main (&optional path)
  (let* ((own (or path (merge-pathnames "data/longley.csv" *load-truename*)))
         (table (csv:read own :as :matrix :header t))
         (rows (complete-rows table))
         (missing (- (first (la:shape table)) (first (la:shape rows))))
         (y (la:flatten (la:slice rows '(nil (0 1)))))
         (x (with-constant (la:slice rows '(nil (1 nil))))))
    (unless (zerop missing)
      (format *error-output* "~D row~:P left out: a number is missing~%" missing))
    (check-size rows own)
    (multiple-value-bind (coefficients squares rank values) (la:lstsq x y)
      (format t "~D rows, rank ~D, condition ~,2E~%" (first (la:shape rows)) rank
              (/ (la:amax values) (la:amin values)))
      (report (names own) coefficients (standard-errors x squares) (unless path *certified*))
      (let ((left (la:sub y (la:matmul x coefficients))))
        (format t "R squared ~,6F~%" (- 1 (/ (la:sum (la:square left))
                                             (la:sum (la:square (la:sub y (la:mean y)))))))))))

(apply #'main (uiop:command-line-arguments))
