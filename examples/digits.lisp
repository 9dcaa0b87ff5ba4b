;;; Learns to read handwritten digits: a two-layer perceptron on 1,797 images of 8 x 8 pixels.
;;;
;;;   rung examples/digits.lisp [--gpu] [-- PICTURE.png]
;;;
;;; Prints the accuracy on images that it was not trained on and which digits it takes for which,
;;; and writes a picture of some of them, digits.png if no path is given. Everything numerical is a
;;; call of package `la`, so the program runs on whatever the machine has and prints the same text.
;;; It uses no automatic differentiation: the gradients of two layers are five lines. Read from the
;;; bottom up; `main` is the last function.

(defparameter *hidden* 64 "Units of the hidden layer.")
(defparameter *batch* 32 "Images in one step of the training.")
(defparameter *epochs* 30 "How often the training sees each image.")
(defparameter *rate* 0.1 "Step along the gradient.")
(defparameter *momentum* 0.9 "Part of the last step that the next one keeps.")
(defparameter *seed* 7 "The split, the first weights and the order of the batches follow from it.")
(defparameter *training-images* 1437 "Four of five; the others test.")

;;; Arrays are single-float: images (n 64), digits (n), weights as a list of four arrays.

(defun single (array)
  (la:astype array 'single-float))

(defun read-digits (path)
  "Images with pixels from 0 to 1, and the digit of each."
  (let ((table (csv:read path :as :matrix)))
    (values (single (la:div (la:slice table '(nil (0 64))) 16))
            (la:flatten (la:slice table '(nil (64 65)))))))

;;; The network: 64 pixels -> hidden units, cut off below zero -> ten scores.

(defun random-layer (inputs outputs)
  "Weights whose outputs have about the variance of their inputs."
  (la:mul (la:randn (list inputs outputs) :element-type 'single-float)
          (sqrt (/ 2.0 inputs))))

(defun zero-row (outputs)
  (la:zeros (list 1 outputs) :element-type 'single-float))

(defun new-network ()
  (list (random-layer 64 *hidden*) (zero-row *hidden*)
        (random-layer *hidden* 10) (zero-row 10)))

(defun softmax (scores)
  "Scores as probabilities; the largest is taken off first, so that nothing overflows."
  (let ((powers (la:exp (la:sub scores (la:amax scores :axis 1 :keepdims t)))))
    (la:div powers (la:sum powers :axis 1 :keepdims t))))

(defun run-network (network images)
  "The probability of each digit (n 10), and what the hidden layer gave (n hidden)."
  (destructuring-bind (weights-1 bias-1 weights-2 bias-2) network
    (let ((hidden (la:relu (la:add (la:matmul images weights-1) bias-1))))
      (values (softmax (la:add (la:matmul hidden weights-2) bias-2)) hidden))))

(defun predict (network images)
  (la:argmax (run-network network images) :axis 1))

(defun gradients (network images wanted)
  "How the loss (mean cross-entropy) changes with each array of the network.
WANTED (n 10) has a one at the right digit of each row."
  (multiple-value-bind (probabilities hidden) (run-network network images)
    (let* ((scores (la:div (la:sub probabilities wanted) (first (la:shape images))))
           (back (la:matmul scores (la:transpose (third network))))
           (inner (la:mul back (la:greater hidden 0))))
      (list (la:matmul (la:transpose images) inner) (la:sum inner :axis 0 :keepdims t)
            (la:matmul (la:transpose hidden) scores) (la:sum scores :axis 0 :keepdims t)))))

;;; Training

(defun take (indices from to)
  (la:slice indices (list (list from to))))

(defun train-epoch (network steps images wanted)
  "One pass over the images in random order; gives the new network and its last steps."
  (let* ((count (first (la:shape images)))
         (order (la:permutation count)))
    (do ((from 0 (+ from *batch*)))
        ((>= from count) (values network steps))
      (let* ((batch (take order from (min count (+ from *batch*))))
             (slopes (gradients network (la:take-rows images batch) (la:take-rows wanted batch))))
        (setf steps (mapcar (lambda (step slope)
                              (la:sub (la:mul step *momentum*) (la:mul slope *rate*)))
                            steps slopes)
              network (mapcar #'la:add network steps))))))

(defun train (images digits)
  (let* ((network (new-network))
         (steps (mapcar #'la:zeros-like network))
         (wanted (la:one-hot digits 10 :element-type 'single-float))
         (start (get-internal-real-time)))
    (dotimes (epoch *epochs* network)
      (multiple-value-setq (network steps) (train-epoch network steps images wanted))
      (show-progress (1+ epoch) *epochs* start))))

(defun show-progress (done all start)
  "A bar with rate and time left, on a terminal only and only after half a second."
  (let ((seconds (/ (- (get-internal-real-time) start)
                    (float internal-time-units-per-second)))
        (filled (floor (* 30 done) all)))
    (when (and (interactive-stream-p *error-output*) (> seconds 0.5))
      (format *error-output* "~C[~A~A] epoch ~D of ~D, ~,1F a second, ~,1F s left "
              #\Return
              (make-string filled :initial-element #\#)
              (make-string (- 30 filled) :initial-element #\.)
              done all (/ done seconds) (/ (* seconds (- all done)) done))
      (when (= done all)
        (terpri *error-output*))
      (finish-output *error-output*))))

;;; The report

(defun print-confusion (digits predicted)
  "Rows are the digits drawn, columns what the network read."
  (let ((counts (la:matmul (la:transpose (la:one-hot digits 10)) (la:one-hot predicted 10))))
    (format t "~%  drawn   read as~%        ")
    (dotimes (column 10)
      (format t "~4D" column))
    (terpri)
    (dotimes (row 10)
      (format t "~7D " row)
      (dotimes (column 10)
        (let ((count (round (aref counts row column))))
          (if (zerop count)
              (format t "   .")
              (format t "~4D" count))))
      (terpri))))

;;; The picture: tiles of a digit and, below it, what the network read; green when it is right, red
;;; when it is wrong. The mistakes come first. Images are (height width 3), from 0 to 255.

(defparameter *columns* 12)
(defparameter *rows* 4)

(defparameter *font*
  '("### .#. ### ### #.# ### ### ### ### ###"
    "#.# ##. ..# ..# #.# #.. #.. ..# #.# #.#"
    "#.# .#. ### ### ### ### ### .#. ### ###"
    "#.# .#. #.. ..# ..# ..# #.# .#. #.# ..#"
    "### ### ### ### ..# ### ### .#. ### ###"))

(defun glyph (digit)
  "The digit in 5 x 3 points of 0 or 1."
  (la:from-list (mapcar (lambda (line)
                          (map 'list (lambda (point) (if (char= point #\#) 1 0))
                               (subseq line (* 4 digit) (+ 3 (* 4 digit)))))
                        *font*)))

(defun enlarge (image times)
  "Each pixel of an image (h w) as a square of TIMES x TIMES."
  (destructuring-bind (height width) (la:shape image)
    (la:reshape (la:broadcast-to (la:reshape image (list height 1 width 1))
                                 (list height times width times))
                (list (* height times) (* width times)))))

(defun tint (image color)
  "An image (h w) of 0 to 1 in a colour (3), as (h w 3)."
  (la:mul (la:expand-dims image -1) color))

(defun blank (height width)
  (la:zeros (list height width 3)))

(defun beside (&rest images)
  (la:concatenate images :axis 1))

(defun above (&rest images)
  (la:concatenate images :axis 0))

(defun tile (image digit predicted)
  "60 x 84 pixels: the image, 48 wide, and below it the prediction."
  (let ((color (if (= digit predicted) #d(80 220 80) #d(255 70 70))))
    (above (blank 6 60)
           (beside (blank 48 6)
                   (tint (enlarge (la:astype (la:reshape image '(8 8)) 'double-float) 6)
                         #d(255 255 255))
                   (blank 48 6))
           (blank 5 60)
           (beside (blank 20 24) (tint (enlarge (glyph predicted) 4) color) (blank 20 24))
           (blank 5 60))))

(defun picture (images digits predicted)
  "The mistakes and then the first right ones, in *ROWS* rows of *COLUMNS* tiles."
  (let ((wrong '())
        (right '()))
    (dotimes (i (la:size digits))
      (if (= (aref digits i) (aref predicted i))
          (push i right)
          (push i wrong)))
    (let ((chosen (append (reverse wrong) (reverse right)))
          (rows '()))
      (dotimes (row *rows*)
        (let ((tiles '()))
          (dotimes (column *columns*)
            (let ((i (pop chosen)))
              (push (tile (la:row images i) (round (aref digits i)) (round (aref predicted i)))
                    tiles)))
          (push (apply #'beside (reverse tiles)) rows)))
      (la:astype (apply #'above (reverse rows)) '(unsigned-byte 8)))))

(defun write-picture (path image)
  (png:write image path)
  (format *error-output* "wrote ~A, ~D x ~D pixels~%"
          path (second (la:shape image)) (first (la:shape image))))

(defun main (&optional (path "digits.png"))
  (la:seed *seed*)
  (multiple-value-bind (images digits)
      (read-digits (merge-pathnames "data/digits.csv" *load-truename*))
    (let* ((count (la:size digits))
           (order (la:permutation count))
           (training (take order 0 *training-images*))
           (testing (take order *training-images* count))
           (network (train (la:take-rows images training) (la:take-rows digits training)))
           (images (la:take-rows images testing))
           (digits (la:take-rows digits testing))
           (predicted (predict network images))
           (right (round (la:sum (la:equal digits predicted)))))
      (format t "trained on ~D images, tested on ~D others~%" *training-images* (la:size digits))
      (format t "accuracy ~,1F % (~D right, ~D wrong)~%"
              (/ (* 100.0 right) (la:size digits)) right (- (la:size digits) right))
      (print-confusion digits predicted)
      (write-picture path (picture images digits predicted)))))

(apply #'main (uiop:command-line-arguments))
