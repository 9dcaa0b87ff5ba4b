;;; Recursion without an end is a condition, not a crash.
(defun forever (n)
  (+ 1 (forever (1+ n))))

(print (handler-case (forever 0)
         (storage-condition () :too-deep)))
