;;; Ten spoken digits told apart by their mel bands, by nearest centroid and by logistic regression, for
;;; each kind of feature. Reads samples.npy (utterances samples), lengths.npy, labels.npy and train.npy (the
;;; voices for learning; the others are for the test) from a folder: `rung benches/mel_words.lisp -- FOLDER`.
;;; Prints a row of a table for each kind: the shares of test utterances that are told right.

(defparameter *folder* (first (uiop:command-line-arguments)))
(defun table (name) (npy:read (format nil "~a/~a.npy" *folder* name)))

(defconstant +parts+ 8 "The means of so many equal parts of an utterance are its features.")
(defconstant +steps+ 300)

(defun part-means (batch i frames)
  "(1, parts x bands) of utterance I of a (batch bands frames)."
  (la:concatenate
   (loop for part below +parts+
         for begin = (floor (* part frames) +parts+)
         for end = (floor (* (1+ part) frames) +parts+)
         collect (la:mean (la:slice batch `((,i ,(1+ i)) nil (,begin ,end))) :axis 2))
   :axis 1))

(defun features (samples lengths how)
  "(utterances, parts x bands), each column with mean 0 and deviation 1."
  (let* ((batch (apply #'mel:spectrogram samples :rate 16000 :preset :whisper-80 :lengths lengths how))
         (rows (loop for i below (first (la:shape batch))
                     collect (part-means batch i (floor (aref lengths i) 160))))
         (all (la:concatenate rows :axis 0)))
    (la:div (la:sub all (la:mean all :axis 0)) (la:add 1e-6 (la:std all :axis 0)))))

(defun share (told labels test)
  "How many of the test rows are told right."
  (/ (la:sum (la:mul test (la:equal told labels))) (la:sum test)))

(defun nearest-centroid (x one-hot)
  "The word whose mean of the learned rows is nearest, for each row."
  (let* ((counts (la:reshape (la:sum one-hot :axis 0) '(10 1)))
         (centroids (la:div (la:matmul (la:transpose one-hot) x) counts))
         (products (la:matmul x (la:transpose centroids))))
    (la:argmin (la:sub (la:sum (la:square centroids) :axis 1) (la:mul 2 products)) :axis 1)))

(defun logistic (x one-hot learned)
  "As told by weights that gradient descent has found, +STEPS+ times over all learned rows."
  (let ((weights (la:zeros (list (second (la:shape x)) 10) :element-type 'single-float))
        (row (la:div (la:reshape learned (list (first (la:shape x)) 1)) (la:sum learned))))
    (dotimes (step +steps+ (la:argmax (la:matmul x weights) :axis 1))
      (let* ((off (la:mul row (la:sub (la:softmax (la:matmul x weights) :axis 1) one-hot)))
             (slope (la:add (la:matmul (la:transpose x) off) (la:mul 1e-3 weights))))
        (setf weights (la:sub weights (la:mul 0.1 slope)))))))

(defun row-of (name how)
  (let* ((labels (table "labels")) (learned (la:astype (table "train") 'single-float))
         (x (features (table "samples") (table "lengths") how))
         (words (la:equal (la:reshape labels (list (la:size labels) 1)) (la:arange 10)))
         (one-hot (la:mul (la:reshape learned (list (la:size labels) 1)) (la:astype words 'single-float)))
         (test (la:sub 1 learned)))
    (format t "| ~a | ~,1f % | ~,1f % |~%" name
            (* 100 (share (nearest-centroid x one-hot) labels test))
            (* 100 (share (logistic x one-hot learned) labels test)))))

(row-of "exact" '())
(loop for points from 1 to 3
      do (row-of (format nil "melt, q = ~a" points) `(:mode :melt :points ,points)))
