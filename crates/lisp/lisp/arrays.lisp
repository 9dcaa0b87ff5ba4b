;;; Bit arrays element by element, boole, and bytes inside integers.

(defun %bit-operation (name function first second result)
  (dolist (array (list first second))
    (unless (and (arrayp array) (eq (array-element-type array) 'bit))
      (error 'type-error :datum array :expected-type '(array bit))))
  (let ((result (case result
                  ((nil) (make-array (array-dimensions first) :element-type 'bit))
                  ((t) first)
                  (t result))))
    (dolist (array (list second result))
      (unless (equal (array-dimensions first) (array-dimensions array))
        (error "~(~A~): the dimensions differ: ~S and ~S"
               name (array-dimensions first) (array-dimensions array))))
    (dotimes (i (array-total-size first) result)
      (setf (row-major-aref result i)
            (logand 1 (funcall function (row-major-aref first i) (row-major-aref second i)))))))

(defun bit-and (first second &optional result)
  "The and of the bits of two arrays."
  (%bit-operation 'bit-and #'logand first second result))

(defun bit-ior (first second &optional result)
  "The or of the bits of two arrays."
  (%bit-operation 'bit-ior #'logior first second result))

(defun bit-xor (first second &optional result)
  "The exclusive or of the bits of two arrays."
  (%bit-operation 'bit-xor #'logxor first second result))

(defun bit-eqv (first second &optional result)
  "Where the bits of two arrays are the same."
  (%bit-operation 'bit-eqv #'logeqv first second result))

(defun bit-nand (first second &optional result)
  "Where the bits of two arrays are not both 1."
  (%bit-operation 'bit-nand #'lognand first second result))

(defun bit-nor (first second &optional result)
  "Where the bits of two arrays are both 0."
  (%bit-operation 'bit-nor #'lognor first second result))

(defun bit-andc1 (first second &optional result)
  "The and of the first's bits turned and the second's."
  (%bit-operation 'bit-andc1 #'logandc1 first second result))

(defun bit-andc2 (first second &optional result)
  "The and of the first's bits and the second's turned."
  (%bit-operation 'bit-andc2 #'logandc2 first second result))

(defun bit-orc1 (first second &optional result)
  "The or of the first's bits turned and the second's."
  (%bit-operation 'bit-orc1 #'logorc1 first second result))

(defun bit-orc2 (first second &optional result)
  "The or of the first's bits and the second's turned."
  (%bit-operation 'bit-orc2 #'logorc2 first second result))

(defun bit-not (array &optional result)
  "The bits of an array turned."
  (%bit-operation 'bit-not #'logxor array
                  (if (arrayp array)
                      (make-array (array-dimensions array) :element-type 'bit :initial-element 1)
                      array)
                  result))

(defun boole (operation first second)
  "One of the 16 functions of two bits, on the bits of two integers: boole-and, boole-xor, ..."
  ;; Numbered as the table BOOLE of library/mod.rs numbers the constants.
  (case operation
    (0 (check-type first integer) (check-type second integer) 0)
    (1 (check-type first integer) (check-type second integer) -1)
    (2 (check-type second integer) (logand first -1))
    (3 (check-type first integer) (logand second -1))
    (4 (check-type second integer) (lognot first))
    (5 (check-type first integer) (lognot second))
    (6 (logand first second))
    (7 (logior first second))
    (8 (logxor first second))
    (9 (logeqv first second))
    (10 (lognand first second))
    (11 (lognor first second))
    (12 (logandc1 first second))
    (13 (logandc2 first second))
    (14 (logorc1 first second))
    (15 (logorc2 first second))
    (t (error 'type-error :datum operation :expected-type '(integer 0 15)))))

(defun mask-field (bytespec integer)
  "The bits of a byte where they stand, the others 0."
  (logand integer (ash (1- (ash 1 (byte-size bytespec))) (byte-position bytespec))))

(defun deposit-field (new bytespec integer)
  "An integer with the bits of a byte taken from another integer, where they stand there."
  (let ((mask (ash (1- (ash 1 (byte-size bytespec))) (byte-position bytespec))))
    (logior (logandc2 integer mask) (logand new mask))))

(defun upgraded-complex-part-type (type &optional environment)
  "The type of the parts of complex numbers with parts of this type."
  (declare (ignore environment))
  (cond ((subtypep type 'single-float) 'single-float)
        ((subtypep type 'float) 'double-float)
        ((subtypep type 'rational) 'rational)
        (t 'real)))

(defun rung::%byte-expansion (place &optional environment)
  ;; What get-setf-expansion gives of (ldb byte place) and (mask-field byte place).
  (declare (ignore environment))
  (destructuring-bind (accessor bytespec integer) place
    (multiple-value-bind (variables forms stores store access) (get-setf-expansion integer)
      (let ((byte (gensym "BYTE")) (new (gensym "NEW"))
            (put (if (eq accessor 'ldb) 'dpb 'deposit-field)))
        (values (cons byte variables)
                (cons bytespec forms)
                (list new)
                `(let ((,(car stores) (,put ,new ,byte ,access))) ,store ,new)
                `(,accessor ,byte ,access))))))
