;;; Learns to write like a licence: a character-level transformer of two blocks, trained on the text of
;;; the Apache licence.
;;;
;;;   rung examples/gpt.lisp [--gpu] [-- TEXT STEPS]
;;;
;;; Prints how the loss (mean cross-entropy, in nats a character) falls, and a text of its own. All of
;;; it is calls of package `linalg`, so the text is the same with and without a device. A layer gives
;;; its result, and a function that makes of the result's gradient that of its operand. Read from the
;;; bottom up.

(defparameter *folder* (make-pathname :name nil :type nil :defaults *load-truename*))
(defparameter *width* 48 "Numbers that stand for a character.")
(defparameter *heads* 4 "Ways in which characters look at those before them.")
(defparameter *context* 32 "Characters that are seen at once.")
(defparameter *batch* 16 "Pieces of text in a step.")
(defparameter *rate* 0.005 "Of Adam.")

;;; Arrays are single-float. A weight is a list: the array, its two moments, and its gradient.

(defun weight (array)
  (let ((array (la:astype array 'single-float)))
    (list array (la:zeros-like array) (la:zeros-like array) nil)))

(defun noise (inputs outputs)
  (weight (la:mul (la:randn (list inputs outputs)) (/ (sqrt inputs)))))

(defun new-block (&aux (w *width*))
  "Two norms, the products to queries, keys and values and back, and the two layers between."
  (list (weight (la:ones w)) (weight (la:zeros w)) (noise w (* 3 w)) (noise w w)
        (weight (la:ones w)) (weight (la:zeros w)) (noise w (* 4 w)) (noise (* 4 w) w)))

(defun new-network (letters blocks)
  "What stands for a letter, what for its place, the blocks, and the product to the letters' scores."
  (list (noise letters *width*) (noise *context* *width*)
        (loop repeat blocks collect (new-block)) (noise *width* letters)))

(defun weights (network)
  (list* (first network) (second network) (fourth network) (apply #'append (third network))))

;;; Layers

(defun product (x w)
  (values (la:matmul x (first w))
          (lambda (back)
            (setf (fourth w) (la:matmul (la:transpose x) back))
            (la:matmul back (la:transpose (first w))))))

(defun norm (x scale shift)
  (values (linalg::%la-layer-norm-affine x (first scale) (first shift) 1d-5)
          (lambda (back)
            (multiple-value-bind (dx d-scale d-shift)
                (linalg::%la-layer-norm-affine-grad x (first scale) back 1d-5)
              (setf (fourth scale) d-scale (fourth shift) d-shift)
              dx))))

(defun apart (x)
  "(batch * context, width) as (batch, heads, context, width / heads)."
  (la:transpose (la:reshape x (list (floor (first (la:shape x)) *context*) *context* *heads*
                                    (floor *width* *heads*)))
                '(0 2 1 3)))

(defun together (x)
  (la:reshape (la:transpose x '(0 2 1 3)) (list (floor (la:size x) *width*) *width*)))

(defun look (all)
  "Each character's mean of the values before it, by how well its query meets their keys."
  (destructuring-bind (queries keys values) (mapcar #'apart (la:split all 3 :axis 1))
    (let* ((later (la:triu (la:ones (list *context* *context*)) :k 1))
           (root (sqrt (/ *width* *heads*)))
           (met (la:matmul queries (la:swapaxes keys -1 -2)))
           (shares (linalg::%la-masked-softmax met later root -1d9 -1)))
      (values (together (la:matmul shares values))
              (lambda (back &aux (back (apart back)))
                (let ((scores (linalg::%la-masked-softmax-grad
                               shares (la:matmul back (la:swapaxes values -1 -2)) later root -1)))
                  (la:concatenate (mapcar #'together
                                          (list (la:matmul scores keys)
                                                (la:matmul (la:swapaxes scores -1 -2) queries)
                                                (la:matmul (la:swapaxes shares -1 -2) back)))
                                  :axis 1)))))))

(defun gelu (x)
  (values (linalg::%la-gelu x :tanh) (lambda (back) (linalg::%la-gelu-grad x back :tanh))))

(defun run (x &rest layers)
  "The layers one after the other; a layer is a function and its weights."
  (let ((backs '()))
    (loop for (function . weights) in layers
          do (multiple-value-bind (result back) (apply function x weights)
               (setf x result)
               (push back backs)))
    (values x (lambda (gradient)
                (dolist (back backs gradient)
                  (setf gradient (funcall back gradient)))))))

(defun beside (x &rest layers)
  "What the layers make of x, added to it."
  (multiple-value-bind (result back) (apply #'run x layers)
    (values (la:add x result)
            (lambda (gradient) (la:add gradient (funcall back gradient))))))

(defun scores (network letters)
  "Of every letter at every place of LETTERS (batch * context); and back to the weights."
  (destructuring-bind (table places blocks last) network
    (let ((at (la:mod (la:arange (la:size letters)) *context*)))
      (multiple-value-bind (result back)
          (apply #'run (la:add (la:take-rows (first table) letters)
                               (la:take-rows (first places) at))
                 (append (loop for (g1 b1 in out g2 b2 wide narrow) in blocks
                               collect `(beside (norm ,g1 ,b1) (product ,in) (look) (product ,out))
                               collect `(beside (norm ,g2 ,b2) (product ,wide) (gelu)
                                                 (product ,narrow)))
                         `((product ,last))))
        (values result
                (lambda (gradient &aux (gradient (funcall back gradient)))
                  (flet ((sums (weight rows)
                           (setf (fourth weight)
                                 (la:scatter-add (la:zeros-like (first weight)) rows gradient))))
                    (sums table letters)
                    (sums places at))))))))

;;; Training

(defun adam (weight step)
  (destructuring-bind (array mean square gradient) weight
    (let ((ways (list *rate* 0 0 0.9 0.1 0.99 0.01 1e-8
                      (- 1 (expt 0.9 step)) (- 1 (expt 0.99 step)) 0)))
      (linalg::%la-adam-step array gradient mean square (coerce ways '(vector single-float))))))

(defun train (network text steps)
  (let ((count (* *batch* *context*)) (total 0))
    (loop for step from 1 to steps
          for starts = (la:randint 0 (- (la:size text) *context*) (list *batch* 1))
          for places = (la:flatten (la:add starts (la:arange *context*)))
          for wanted = (la:take-rows text (la:add places 1))
          do (multiple-value-bind (result back) (scores network (la:take-rows text places))
               (incf total (/ (linalg::%la-cross-entropy result wanted -1) count))
               (funcall back (linalg::%la-cross-entropy-grad result wanted -1 (/ 1.0 count)))
               (dolist (weight (weights network))
                 (adam weight step))
               (when (zerop (mod step 50))
                 (format t "step ~4D  loss ~,2F~%" step (/ total 50))
                 (setf total 0))))))

(defun write-on (network seen letters count)
  "COUNT characters more than SEEN, each drawn by its chance."
  (dotimes (k count (terpri))
    (let* ((chances (la:softmax (la:flatten (la:slice (scores network seen) '((-1 nil))))))
           (next (la:choice (length letters) 1 :p chances :element-type '(signed-byte 64))))
      (write-char (char letters (aref next 0)))
      (setf seen (la:concatenate (list (la:slice seen '((1 nil))) next))))))

(defun read-text (path)
  "The text's characters in order, and the text as their numbers; a run of blanks is one."
  (let* ((text (uiop:read-file-string path))
         (words (uiop:split-string (substitute #\Space #\Newline text)))
         (text (format nil "~{~A~^ ~}" (remove "" words :test #'equal)))
         (letters (sort (remove-duplicates text) #'char<)))
    (values letters (map '(vector (signed-byte 64)) (lambda (c) (position c letters)) text))))

(defun main (&optional (path (merge-pathnames "../LICENSE-APACHE" *folder*)) (steps "300"))
  (multiple-value-bind (letters text) (read-text path)
    (la:seed 1)
    (let ((network (new-network (length letters) 2)))
      (format t "~D characters, ~D of them different, ~D weights~%" (length text) (length letters)
              (reduce #'+ (mapcar (lambda (weight) (la:size (first weight))) (weights network))))
      (train network text (parse-integer steps))
      (write-on network (la:slice text (list (list 0 *context*))) letters 200))))

(apply #'main (uiop:command-line-arguments))
