;;; Random forms of one chapter, for two implementations to evaluate: the same forms for the same seed
;;; wherever this runs. Printed one a line; arguments: chapter, seed, count.

(defvar *state* 1)

(defun below (n)
  "A number from 0 below n, from a generator of 64 bits of its own."
  (setq *state* (logand (+ (* *state* 6364136223846793005) 1442695040888963407) #xFFFFFFFFFFFFFFFF))
  (mod (ash *state* -33) n))

(defun one-of (list) (nth (below (length list)) list))
(defun some-of (least most make) (loop repeat (+ least (below (1+ (- most least)))) collect (funcall make)))
(defun maybe (chance form) (if (< (below 100) chance) (list form) nil))

;;; Numbers

(defun integer-form ()
  (case (below 6)
    (0 (- (below 20) 10))
    (1 (- (below 2000) 1000))
    (2 (one-of '(0 1 -1 2 7 255 256)))
    (3 (one-of (list (expt 2 62) (1- (expt 2 63)) (- (expt 2 63)) (expt 10 20) (- (expt 3 50)))))
    (4 (* (below 1000000) (below 1000000)))
    (t (below 100))))

(defun real-form ()
  (case (below 5)
    ((0 1) (integer-form))
    (2 (/ (integer-form) (1+ (below 30))))
    (3 (/ (coerce (- (below 4000) 2000) 'double-float) 16))
    (t (one-of '(0d0 1d0 -2.5d0 1d10 0.1d0 123.456d0)))))

(defun number-form (depth)
  (if (or (zerop depth) (< (below 10) 2))
      (real-form)
      (flet ((sub () (number-form (1- depth))))
        (case (below 12)
          (0 `(+ ,@(some-of 0 3 #'sub)))
          (1 `(- ,@(some-of 1 3 #'sub)))
          (2 `(* ,@(some-of 0 3 #'sub)))
          (3 `(,(one-of '(max min)) ,@(some-of 1 3 #'sub)))
          (4 `(,(one-of '(floor ceiling truncate round ffloor fround)) ,(sub) ,@(maybe 60 (sub))))
          (5 `(,(one-of '(mod rem)) ,(sub) ,(sub)))
          (6 `(,(one-of '(abs signum 1+ 1- numerator denominator rational)) ,(sub)))
          (7 `(,(one-of '(gcd lcm logand logior logxor logeqv)) ,@(some-of 1 3 #'integer-form)))
          (8 `(ash ,(integer-form) ,(- (below 80) 40)))
          (9 `(expt ,(integer-form) ,(- (below 8) 2)))
          (10 `(/ ,(sub) ,(sub)))
          (t `(,(one-of '(isqrt integer-length logcount lognot evenp oddp)) ,(integer-form)))))))

(defun number-test ()
  (case (below 5)
    ((0 1 2) `(multiple-value-list ,(number-form 3)))
    (3 `(,(one-of '(= < > <= >= /= eql equal equalp)) ,(number-form 2) ,(number-form 2)))
    (t (one-of (list `(parse-integer ,(format nil "~A" (integer-form)) :junk-allowed t)
                     `(ldb (byte ,(below 20) ,(below 20)) ,(integer-form))
                     `(dpb ,(integer-form) (byte ,(below 9) ,(below 9)) ,(integer-form))
                     `(logbitp ,(below 70) ,(integer-form))
                     `(integer-decode-float ,(/ (coerce (1+ (below 4000)) 'double-float) 16))
                     `(rationalize ,(/ (coerce (below 4000) 'double-float) 16))
                     `(typep ,(real-form) ',(one-of '(integer fixnum ratio rational real float
                                                      (integer 0 100) (mod 8) bit unsigned-byte))))))))

;;; Lists and sequences

(defun symbol-form () (one-of '(a b c d x nil t :k)))
(defun datum (depth)
  (if (or (zerop depth) (< (below 10) 5))
      (case (below 4)
        (0 (below 10))
        (1 (symbol-form))
        (2 (one-of '("" "a" "bc" "Abc")))
        (t (one-of '(#\a #\B #\z))))
      (some-of 0 4 (lambda () (datum (1- depth))))))
(defun number-list () (some-of 0 7 (lambda () (below 8))))
(defun list-form () `(list ,@(number-list)))
(defun sequence-form ()
  (case (below 3)
    (0 `(list ,@(number-list)))
    (1 `(vector ,@(number-list)))
    (t (list 'copy-seq (coerce (some-of 0 7 (lambda () (one-of '(#\a #\b #\c #\B)))) 'string)))))

(defun list-test ()
  (let ((a (list-form)) (n (below 5)))
    (one-of
     (list `(,(one-of '(car cdr cadr cddr first last butlast reverse copy-list length list-length)) ,a)
           `(nth ,n ,a) `(nthcdr ,n ,a) `(last ,a ,n) `(butlast ,a ,n)
           `(append ,a ,(list-form)) `(nconc ,a ,(list-form))
           `(,(one-of '(union intersection set-difference set-exclusive-or subsetp)) '(1 2) '(2 3))
           `(member ,n ,a) `(member ,n ,a :test #'<) `(adjoin ,n ,a)
           `(subst ,n 3 ',(datum 3)) `(tree-equal ',(datum 2) ',(datum 2))
           `(mapcar #'1+ ,a) `(mapcan (lambda (x) (list x x)) ,a) `(maplist #'length ,a)
           `(assoc ,n '((1 . a) (2 . b) (3 . c))) `(rassoc 'b '((1 . a) (2 . b)))
           `(getf '(:a 1 :k 2) ,(one-of '(:a :k :z)) ,n)
           `(let ((l ,a)) (push ,n l) (pop l) (pushnew ,(1+ n) l) l)
           `(ldiff '(1 2 3) '(3)) `(equal ',(datum 3) ',(datum 3))
           `(destructuring-bind (x &optional (y 9) &rest z) ',(some-of 0 4 (lambda () (below 9)))
              (list x y z))
           `(multiple-value-list (get-properties '(:a 1 :b 2) '(:b :c)))
           `(reduce #'list ,a ,@(maybe 50 :from-end) ,@(if (zerop (below 2)) nil nil))
           `(sort ,a #'<) `(acons 1 2 nil)
           `(list* 1 2 ,a) `(nreconc ,a '(x)) `(revappend ,a '(x))))))

(defun keywords-of-selection ()
  (append (if (zerop (below 3)) `(:start ,(below 3)) nil)
          (if (zerop (below 4)) `(:end ,(+ 2 (below 4))) nil)
          (if (zerop (below 3)) '(:from-end t) nil)))

(defun sequence-test ()
  (let ((s (sequence-form)) (x (one-of '(0 1 2 3 #\a #\b))))
    (one-of
     (list `(,(one-of '(find position count)) ,x ,s ,@(keywords-of-selection))
           `(remove ,x ,s ,@(keywords-of-selection) ,@(if (zerop (below 3)) '(:count 1) nil))
           `(substitute 9 ,x (list ,@(number-list)) ,@(keywords-of-selection))
           `(,(one-of '(reverse nreverse length copy-seq remove-duplicates)) ,s)
           `(remove-duplicates ,s :from-end t)
           `(subseq ,s ,(below 3) ,@(maybe 40 (+ 2 (below 4))))
           `(elt ,s ,(below 5))
           `(search ,(sequence-form) ,s) `(mismatch ,(sequence-form) ,s)
           `(concatenate ',(one-of '(list vector)) ,s ,(sequence-form))
           `(map ',(one-of '(list vector)) #'list ,s ,(sequence-form))
           `(merge 'list (list 1 3 5) (list 2 4) #'<)
           `(reduce #'+ (list ,@(number-list)) ,@(if (zerop (below 2)) '(:initial-value 10) nil)
                    ,@(if (zerop (below 3)) '(:key #'1+) nil))
           `(,(one-of '(every some notany notevery)) #'evenp (list ,@(number-list)))
           `(fill ,s ,x :start ,(below 2)) `(replace ,s ,(sequence-form) :start1 ,(below 3))
           `(stable-sort (vector ,@(number-list)) #'> :key (lambda (x) (mod x 3)))
           `(map-into (list 1 2 3) #'+ (list ,@(number-list)) '(10 20 30))
           `(count-if #'evenp (vector ,@(number-list)))
           `(position-if-not #'evenp (vector ,@(number-list)) :from-end t)))))

;;; Strings and characters

(defun text () (coerce (some-of 0 8 (lambda () (one-of '(#\a #\b #\C #\D #\Space #\- #\1 #\z)))) 'string))
(defun string-test ()
  (let ((a (text)) (b (text)))
    (one-of
     (list `(,(one-of '(string= string< string> string<= string>= string/= string-equal string-lessp
                        string-greaterp string-not-equal))
             ,a ,b ,@(if (zerop (below 4)) `(:start1 ,(below 3)) nil))
           `(,(one-of '(string-upcase string-downcase string-capitalize)) ,a
             ,@(if (zerop (below 3)) `(:start ,(below 3)) nil))
           `(,(one-of '(string-trim string-left-trim string-right-trim)) " a" ,a)
           `(char-code (char ,a ,(below 5))) `(position #\a ,a :from-end t) `(search "a" ,a)
           `(subseq ,a ,(below 4)) `(concatenate 'string ,a ,b) `(reverse ,a)
           `(parse-integer ,a :junk-allowed t ,@(maybe 50 :radix) ,@nil)
           `(map 'list #'char-code ,a) `(count #\Space ,a) `(substitute #\x #\a ,a)
           `(char-upcase ,(one-of '(#\a #\B #\1 #\ß))) `(digit-char-p ,(one-of '(#\1 #\a #\z)) 16)
           `(,(one-of '(alpha-char-p alphanumericp upper-case-p lower-case-p both-case-p graphic-char-p))
             ,(one-of '(#\a #\Z #\1 #\- #\Space #\Newline)))
           `(char-name ,(one-of '(#\Space #\Newline #\Tab)))
           `(,(one-of '(char< char= char> char-equal char/=)) #\a #\B #\c)
           `(intern ,(text) :keyword) `(symbol-name ',(symbol-form))))))

;;; format

(defun directive ()
  (let ((n (below 12)))
    (one-of
     (list "~A" "~S" "~D" "~5D" "~,,' ,3:D" "~:D" "~@D" "~B" "~X" "~O" "~R" "~:R" "~@R" "~C" "~%" "~&" "~~"
           (format nil "~~~DA" n) (format nil "~~~D@A" n) (format nil "~~~D,'0D" n)
           "~[zero~;one~:;many~]" "~:[no~;yes~]" "~{~A~^, ~}" "~:{<~A>~}" "~(~A~)" "~:(~A~)" "~P" "~:P"
           "~*" "~:*~A" "~?" "~,2F" (format nil "~~~D,2F" n) "~E" "~$" "~,3,2$" "~10<~A~;~A~>" "~5T|"
           "~#[none~;one~:;more~]" "~@[~A~]" "~3R" "~:@C"))))
(defun argument ()
  (case (below 7)
    ((0 1) (- (below 3000) 20))
    (2 (text))
    (3 (list 'quote (some-of 0 3 (lambda () (below 10)))))
    (4 (/ (coerce (- (below 4000) 2000) 'double-float) 16))
    (5 (one-of '(#\a #\Space)))
    (t (list 'quote (symbol-form)))))
(defun format-test ()
  `(format nil ,(apply #'concatenate 'string
                       (some-of 1 4 (lambda () (concatenate 'string (directive) (one-of '("" " " "x"))))))
           ,@(some-of 0 5 #'argument)))

;;; loop and control

(defun loop-test ()
  (let ((n (1+ (below 6))))
    `(loop ,@(one-of `((for x from ,(below 4) to ,n) (for x downfrom ,n to 0) (for x in '(1 2 3 4))
                       (for x across #(3 1 2)) (for x = 1 then (* 2 x) repeat ,n)
                       (for x on '(1 2 3) for y = (car x) then (+ y 1))
                       (for x below ,n and y = 0 then x) (for (x y) in '((1 2) (3 4)))
                       (with z = ,n for x from 0 below z by 2)))
           ,@(if (zerop (below 3)) `(,(one-of '(while until)) (numberp ,(below 3))) nil)
           ,@(one-of '((collect x) (collect x into l finally (return (reverse l)))
                       (append (list x x)) (count t) (do (list x) finally (return :end))
                       (when (numberp x) sum x) (if (consp x) collect (car x) else collect x)
                       (always x) (never (null x)) (thereis (and (consp x) x))
                       (when (and (numberp x) (evenp x)) collect x and collect :even end)
                       (unless (numberp x) return x) (nconc (list x)))))))

;;; Conditions and exits

(defun condition-test ()
  (let ((n (below 5)))
    (one-of
     (list `(handler-case (error ,(one-of '('type-error "x" 'simple-error 'arithmetic-error)))
              (type-error () :type) (simple-error () :simple) (error () :error))
           `(handler-case (,(one-of '(car cdr aref / + length)) ,n ,@(maybe 50 0)) (error () :error))
           `(block b (handler-bind ((warning (lambda (c) (declare (ignore c)) (return-from b :warned))))
                       (warn "w") ,n))
           `(restart-case (invoke-restart ',(one-of '(one two)) ,n) (one (x) (list 1 x)) (two (x) (list 2 x)))
           `(with-simple-restart (go-on "x") (invoke-restart 'go-on))
           `(catch 'tag (unwind-protect (throw 'tag ,n) (list 1)))
           `(let ((l nil)) (catch 'x (unwind-protect (throw 'x 1) (push 1 l))) l)
           `(ignore-errors (error "x") ,n)
           `(handler-case (signal 'condition) (:no-error (x) (list :none x)))
           `(let ((x 0)) (tagbody a (incf x) (when (< x ,n) (go a))) x)
           `(handler-bind ((error (lambda (c) (declare (ignore c)) (invoke-restart 'use 5))))
              (restart-case (error "e") (use (x) (* x ,n))))
           `(multiple-value-call #'list (values 1 2) (values) ,n)
           `(let ((*print-base* ,(+ 2 n))) (princ-to-string 100))
           `(progv '(zz) '(,n) (symbol-value 'zz))
           `(case ,n ((0 1) :low) (2 :two) (t :other)) `(ecase ,n (1 2) (2 3))
           `(typecase ,(one-of '(1 "s" #\a 'x 1/2 2d0)) (integer :i) (string :s) (symbol :y) (number :n))
           `(flet ((f (&optional (a ,n) &key (b 2) c) (list a b c))) (f 1 :c 3))
           `(funcall (lambda (a &rest r &key b &allow-other-keys) (list a r b)) 1 :b 2 :d 4)))))

;;; Classes

(defun clos-test ()
  (let ((n (below 5)) (class (one-of '(ka kb kc kd))))
    (one-of
     (list `(kind (make-instance ',class)) `(chain (make-instance ',class :x ,n))
           `(both (make-instance ',class) (make-instance ',(one-of '(ka kb kc kd))))
           `(slot-value (make-instance ',class :x ,n) 'x) `(x-of (make-instance ',class))
           `(let ((o (make-instance ',class))) (setf (x-of o) ,n) (with-slots (x) o (incf x)) (x-of o))
           `(mapcar (lambda (c) (typep (make-instance ',class) c)) '(ka kb kc kd))
           `(summed (make-instance ',class)) `(class-name (class-of (make-instance ',class)))
           `(slot-boundp (make-instance ',class) 'y) `(kind ,(one-of '(1 "s" 'x nil 1/2 #\a '(1))))))))

;;; Reader and printer

(defun printer-test ()
  (let ((d (datum 3)))
    (one-of
     (list `(prin1-to-string ',d) `(princ-to-string ',d)
           `(equal (read-from-string (prin1-to-string ',d)) ',d)
           `(let ((*print-base* ,(+ 2 (below 30))) (*print-radix* ,(one-of '(t nil))))
              (prin1-to-string ,(integer-form)))
           `(let ((*print-length* ,(below 4)) (*print-level* ,(below 4))) (prin1-to-string ',d))
           `(let ((*print-case* ,(one-of '(:upcase :downcase :capitalize)))) (prin1-to-string ',d))
           `(prin1-to-string ,(real-form)) `(read-from-string ,(format nil "~A" (integer-form)))
           `(read-from-string ,(one-of '("#b101" "#xff" "#36rZZ" "(a . b)" "#(1 2)" "#\\a" "|a b|"
                                         "a\\b" ":key" "1/2" "-.5" "1e3" "+5" "#c(1 2)" "\"a\\\"b\"" "(1 . (2))"
                                         "" ")" "(1 2")))
           `(let ((*print-circle* t)) (prin1-to-string (let ((x (list 1))) (list x x))))
           `(with-output-to-string (s) (write ',d :stream s :escape ,(one-of '(t nil))))
           `(equal (read-from-string (prin1-to-string '(quote (function car)))) '(quote (function car)))))))

(defun chapter (name)
  (cdr (assoc name '(("numbers" . number-test) ("strings" . string-test) ("sequences" . sequence-test)
                     ("lists" . list-test) ("format" . format-test) ("loop" . loop-test)
                     ("conditions" . condition-test) ("clos" . clos-test) ("printer" . printer-test))
              :test #'string=)))

(destructuring-bind (name seed count) (uiop:command-line-arguments)
  (setq *state* (+ 1 (parse-integer seed)))
  (dotimes (i 10) (below 2))
  (let ((test (or (chapter name) (error "there is no chapter ~A" name))))
    (dotimes (i (parse-integer count))
      (let ((*print-pretty* nil) (*print-right-margin* nil) (*read-default-float-format* 'double-float))
        (prin1 (funcall test))
        (terpri)))))
