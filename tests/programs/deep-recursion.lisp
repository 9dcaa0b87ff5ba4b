;;; Recursion without an end is a condition, not a crash.
(defun forever (n)
  (+ 1 (forever (1+ n))))

(format t "~S~%" (handler-case (forever 0)
                   (storage-condition () :too-deep)))
;;; out: :TOO-DEEP
