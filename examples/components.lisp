;;; Finds the main directions in which handwritten digits differ (principal components).
;;;
;;;   rung examples/components.lisp [-- FOLDER]
;;;
;;; Prints how much of the variance each component explains and how well a few of them redraw the
;;; images; writes components.png and components.npz to FOLDER, or to the folder it was started in. The
;;; npz file holds "mean" (64), "components" (16 64) and "variances" (64) for other programs:
;;; numpy.load reads it. Read from the bottom up.

(defparameter *kept* 16 "Components that are drawn and written.")

(defun read-images (path)
  "Images (n 64) with pixels from 0 to 1."
  (la:div (la:slice (csv:read path :as :matrix) '(nil (0 64))) 16))

(defun components (images)
  "The directions (64 64) as rows, the variance along each (64), and the mean image (64)."
  (let* ((mean (la:mean images :axis 0))
         (centred (la:sub images mean)))
    (multiple-value-bind (left values directions) (la:svd centred)
      (declare (ignore left))
      (values directions
              (la:div (la:square values) (1- (first (la:shape images))))
              mean))))

(defun redrawn (images directions mean count)
  "The images as the mean and COUNT components give them."
  (let* ((few (la:slice directions (list (list 0 count))))
         (weights (la:matmul (la:sub images mean) (la:transpose few))))
    (la:add (la:matmul weights few) mean)))

(defun print-shares (variances)
  (let ((shares (la:div (la:cumsum variances) (la:sum variances))))
    (dolist (count '(1 2 4 8 16 32))
      (format t "~2D component~:P explain~[~;s~:;~] ~4,1F % of the variance~%"
              count count (* 100 (aref shares (1- count)))))))

(defun print-errors (images directions mean)
  (dolist (count '(4 16 64))
    (let ((left (la:sub images (redrawn images directions mean count))))
      (format t "redrawn from ~2D, a pixel is off by ~,3F~%"
              count (sqrt (la:mean (la:square left)))))))

(defun stretched (image)
  "An image (64) as 8 x 8 pixels from 0 to 255, as (48 48)."
  (let* ((low (la:amin image))
         (image (la:div (la:sub image low) (max (- (la:amax image) low) 1d-9)))
         (wide (la:broadcast-to (la:reshape image '(8 1 8 1)) '(8 6 8 6))))
    (la:pad (la:mul 255 (la:reshape wide '(48 48))) '((3 3) (3 3)))))

(defun picture (directions)
  "The first components, eight to a row."
  (let ((rows (loop for from from 0 below *kept* by 8
                    collect (la:concatenate
                             (loop for i from from below (+ from 8)
                                   collect (stretched (la:row directions i)))
                             :axis 1))))
    (la:astype (la:concatenate rows :axis 0) '(unsigned-byte 8))))

(defun write-components (path directions variances mean)
  (let ((table (make-hash-table :test 'equal)))
    (setf (gethash "mean" table) mean
          (gethash "components" table) (la:slice directions (list (list 0 *kept*)))
          (gethash "variances" table) variances)
    (npz:write table path :compress t)))

(defun main (&optional (folder ""))
  (let ((folder (if (string= folder "") "" (concatenate 'string folder "/")))
        (images (read-images (merge-pathnames "data/digits.csv" *load-truename*))))
    (multiple-value-bind (directions variances mean) (components images)
      (print-shares variances)
      (print-errors images directions mean)
      (png:write (picture directions) (concatenate 'string folder "components.png"))
      (write-components (concatenate 'string folder "components.npz") directions variances mean)
      (format *error-output* "wrote components.png and components.npz~%"))))

(apply #'main (uiop:command-line-arguments))
