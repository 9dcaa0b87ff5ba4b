;;; The example that finds principal components: what it prints, and that its files can be read.
(defparameter *folder* (or (uiop:getenv "TMPDIR") "/tmp"))

(setf rung:*command-line-arguments* (list *folder*))
(load (merge-pathnames "../../examples/components.lisp" *load-truename*))

(let ((table (npz:read (format nil "~A/components.npz" *folder*))))
  (dolist (name '("mean" "components" "variances"))
    (format t "~A ~A~%" name (la:shape (gethash name table)))))
(with-open-file (picture (format nil "~A/components.png" *folder*) :element-type '(unsigned-byte 8))
  (format t "a picture of ~D bytes or more~%" (* 1000 (floor (file-length picture) 1000))))

;;; run:
;;; run: --portable
