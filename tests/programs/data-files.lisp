;;; The digits through every format of data files and back: the same bits each time.
(defun out (name)
  (format nil "~A/~A" (or (uiop:getenv "TMPDIR") "/tmp") name))

(defun table-of (&rest names-and-arrays)
  (let ((table (make-hash-table :test 'equal)))
    (loop for (name array) on names-and-arrays by #'cddr
          do (setf (gethash name table) array))
    table))

(defun names (table)
  (loop for name being the hash-keys of table collect name))

(defun report (what wanted found)
  (format t "~A: shape ~A, ~:[other bits~;the same~]~%" what (la:shape found)
          (and (equal (la:shape wanted) (la:shape found))
               (= (la:size wanted) (la:sum (la:equal wanted found))))))

(defvar *rows* (csv:read "examples/data/digits.csv" :as :matrix :types '(unsigned-byte 8)))
(defvar *images* (la:slice *rows* '(nil (0 64))))
(defvar *digits* (la:reshape (la:slice *rows* '(nil (64))) (list (first (la:shape *rows*)))))
(defvar *scaled* (la:div (la:astype *images* 'single-float) 16))

;; One array a file; a transposed one is written in Fortran order.
(npy:write *scaled* (out "scaled.npy"))
(report "npy" *scaled* (npy:read (out "scaled.npy")))
(npy:write (la:transpose *scaled*) (out "turned.npy"))
(report "npy, transposed" (la:transpose *scaled*) (npy:read (out "turned.npy") :mmap t))

;; Several with their names, in their order.
(defvar *table* (table-of "images" *images* "digits" *digits* "scaled" *scaled*))
(npz:write *table* (out "digits.npz") :compress t)
(let ((read (npz:read (out "digits.npz"))))
  (format t "npz: ~S~%" (names read))
  (report "npz" *images* (gethash "images" read)))

;; Only what is wanted is read, at the element type that is wanted.
(setf (gethash "half" *table*) (la:astype *scaled* 'bfloat16))
(safetensors:write *table* (out "digits.safetensors") :metadata (table-of "source" "UCI"))
(dolist (entry (safetensors:entries (out "digits.safetensors")))
  (destructuring-bind (name type shape (start end)) entry
    (format t "safetensors: ~A ~A ~A, ~D bytes~%" name type shape (- end start))))
(let* ((path (out "digits.safetensors"))
       (header (safetensors:header path))
       (read (safetensors:read path :only (lambda (name) (string= name "half"))
                                    :element-type 'single-float)))
  (format t "from ~A: ~S~%" (gethash "source" (gethash "__metadata__" header)) (names read))
  ;; Sixteenths of 0 to 16 are exact in bfloat16.
  (report "safetensors" *scaled* (gethash "half" read)))

;; Text keeps the bits too.
(csv:write *scaled* (out "scaled.csv") :separator #\;)
(report "csv" *scaled*
        (csv:read (out "scaled.csv") :separator #\; :as :matrix :types 'single-float))
(csv:write (table-of "digit" (la:slice *digits* '((0 3))) "word" (vector "zero" "one" "two, \"2\""))
           (out "words.csv"))
(write-string (uiop:read-file-string (out "words.csv")))
(print (gethash "word" (csv:read (out "words.csv"))))
(terpri)
;;; out: npy: shape (1797 64), the same
;;; out: npy, transposed: shape (64 1797), the same
;;; out: npz: ("images" "digits" "scaled")
;;; out: npz: shape (1797 64), the same
;;; out: safetensors: scaled F32 (1797 64), 460032 bytes
;;; out: safetensors: half BF16 (1797 64), 230016 bytes
;;; out: safetensors: digits U8 (1797), 1797 bytes
;;; out: safetensors: images U8 (1797 64), 115008 bytes
;;; out: from UCI: ("half")
;;; out: safetensors: shape (1797 64), the same
;;; out: csv: shape (1797 64), the same
;;; out: digit,word
;;; out: 0,zero
;;; out: 1,one
;;; out: 2,"two, ""2"""
;;; out:
;;; out: #("zero" "one" "two, \"2\"") 
