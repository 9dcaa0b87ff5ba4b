;;; Shapes as classes: accessors, generic functions with methods around and after, a class that is
;;; defined again while instances live, and what an error says.
(defclass shape ()
  ((name :initarg :name :reader name)
   (count :allocation :class :initform 0 :accessor shape-count)))

(defclass circle (shape)
  ((radius :initarg :radius :initform 1.0 :accessor radius)))

(defclass box (shape)
  ((sides :initarg :sides :accessor sides)))

(defgeneric size (thing)
  (:documentation "Area of a flat thing, volume of a box.")
  (:method ((n number)) n))

(defmethod size ((c circle)) (* (radius c) (radius c)))
(defmethod size ((b box)) (reduce #'* (sides b)))
(defmethod size :around ((s shape)) (float (call-next-method)))

(defmethod initialize-instance :after ((s shape) &key) (incf (shape-count s)))

(defmethod print-object ((s shape) stream)
  (print-unreadable-object (s stream :type t)
    (format stream "~A ~,2F" (name s) (size s))))

(defvar *shapes*
  (list (make-instance 'circle :name "coin" :radius 2.0)
        (make-instance 'box :name "brick" :sides '(1 2 3))))

(format t "~S~%" *shapes*)
(format t "~D shapes, ~,1F in all~%" (shape-count (first *shapes*))
        (reduce #'+ *shapes* :key #'size))

(defclass circle (shape)
  ((radius :initarg :radius :initform 1.0 :accessor radius)
   (colour :initform :red :accessor colour)))
(with-slots (radius colour) (first *shapes*)
  (format t "~A ~A~%" radius colour))

(change-class (second *shapes*) 'circle)
(format t "~S~%" (second *shapes*))

(defgeneric parts (thing) (:method-combination append))
(defmethod parts append ((s shape)) (list (name s)))
(defmethod parts append ((c circle)) (list (radius c) (colour c)))
(format t "~S~%" (mapcar #'parts *shapes*))

(size "a word")
;;; exit: 1
;;; out: (#<CIRCLE coin 4.00> #<BOX brick 6.00>)
;;; out: 2 shapes, 10.0 in all
;;; out: 2.0 RED
;;; out: #<CIRCLE brick 1.00>
;;; out: ((2.0 :RED "coin") (1.0 :RED "brick"))
;;; err: error: size: no method applies to (string): it has methods for (number) (circle) (box) (shape)
;;; err:   --> tests/programs/objects.lisp:49:1
;;; err:    |
;;; err: 49 | (size "a word")
;;; err:    | ^^^^^^^^^^^^^^^
