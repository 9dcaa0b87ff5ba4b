;;; Tests: deftest and what stands in one. A check that fails is noted and the test goes on; an error
;;; ends it. `rung test` runs a file's tests and prints a line for each.

(defmacro test:deftest (name &body body)
  "Defines a test: forms that check something."
  `(test::%define ',name (lambda () ,@body)))

(defun test::%define (name function)
  (let ((known (assoc name test::%tests)))
    (if known
        (setf (cdr known) function)
        (setq test::%tests (append test::%tests (list (cons name function)))))
    name))

(defun test::%fail (control &rest arguments)
  ;; Notes a failure with the place of the check.
  (push (cons (apply #'format nil control arguments) test::%place) test::%failures)
  nil)

(defmacro test::%at-place (&body body)
  `(progn (setq test::%place (multiple-value-list (rung::%call-position))) ,@body))

(defmacro test:is (form &optional reason &rest arguments)
  "Checks that a form is true; shows the values of its arguments when it is not."
  (let ((call (and (consp form) (symbolp (car form)) (cdr form)
                   (not (special-operator-p (car form))) (not (macro-function (car form)))))
        (values (gensym "VALUES")))
    `(test::%at-place
      ,(if call
           `(let ((,values (list ,@(cdr form))))
              (test::%check (apply #',(car form) ,values) ',form ,values
                            ,(if reason `(format nil ,reason ,@arguments) nil)))
           `(test::%check ,form ',form nil
                          ,(if reason `(format nil ,reason ,@arguments) nil))))))

(defun test::%check (true form values reason)
  (or true
      (test::%fail "~S is false~@[: ~{~S~^, ~}~]~@[: ~A~]" form values reason)))

(defmacro test:is-equal (form expected)
  "Checks that two forms have equal values: equalp of arrays and structures, equal of the rest."
  `(test::%at-place (test::%check-equal ,form ,expected ',form)))

(defun test::%check-equal (value expected form)
  (or (equal value expected)
      (and (or (and (arrayp value) (not (stringp value)))
               (typep value 'structure-object))
           (equalp value expected))
      (test::%fail "~S is ~S, not ~S" form value expected)))

(defmacro test:is-near (form expected tolerance)
  "Checks that a number, or each element of an array, is within a tolerance."
  `(test::%at-place (test::%check-near ,form ,expected ,tolerance ',form)))

(defun test::%check-near (value expected tolerance form)
  (flet ((near (a b) (and (numberp a) (numberp b) (<= (abs (- a b)) tolerance))))
    (or (cond ((and (arrayp value) (arrayp expected))
               (and (equal (array-dimensions value) (array-dimensions expected))
                    (dotimes (i (array-total-size value) t)
                      (unless (near (row-major-aref value i) (row-major-aref expected i))
                        (return nil)))))
              ((and (listp value) (listp expected))
               (and (= (length value) (length expected)) (every #'near value expected)))
              (t (near value expected)))
        (test::%fail "~S is ~S, not ~S within ~S" form value expected tolerance))))

(defmacro test:is-error (type &body body)
  "Checks that forms signal a condition of a type."
  (let ((condition (gensym "CONDITION")) (done (gensym "DONE")))
    `(test::%at-place
      (block ,done
        (handler-case (progn ,@body)
          (,type () (return-from ,done t))
          (serious-condition (,condition)
            (return-from ,done
              (test::%fail "expected ~(~S~), got ~(~S~): ~A"
                           ',type (type-of ,condition) ,condition))))
        (test::%fail "expected ~(~S~), nothing was signalled" ',type)))))

(defmacro test:skip (reason)
  "Ends a test that cannot run here."
  `(throw 'test::%skipped (cons :skipped ,reason)))

(defun test::%run (function)
  ;; :passed, (:skipped . reason) or the failures, the first one first.
  (setq test::%failures nil test::%place nil)
  (let ((outcome
          (catch 'test::%skipped
            (handler-case (funcall function)
              (serious-condition (condition)
                (let ((place (multiple-value-list (rung:condition-position condition))))
                  (push (cons (format nil "~(~S~): ~A" (type-of condition) condition)
                              (or (and (car place) place) test::%place))
                        test::%failures))))
            :passed)))
    (cond ((consp outcome) outcome)
          (test::%failures (reverse test::%failures))
          (t :passed))))

(defun test::%wanted-p (name filter)
  (or (null filter) (search (string-downcase filter) (string-downcase name))))

(defun test::%report (name outcome)
  (cond ((eq outcome :passed) (format t "  ok    ~(~A~)~%" name))
        ((eq (car outcome) :skipped) (format t "  skip  ~(~A~): ~A~%" name (cdr outcome)))
        (t (format t "  FAIL  ~(~A~)~%" name)
           (dolist (failure outcome)
             (format t "        ~A~%" (car failure))
             (when (cadr failure)
               (format t "          --> ~A:~D:~D~%" (second failure) (third failure)
                       (fourth failure)))))))

(defun test::%run-all (filter)
  (let ((passed 0) (failed 0) (skipped 0))
    (loop for (name . function) in test::%tests
          when (test::%wanted-p name filter)
            do (let ((outcome (test::%run function)))
                 (cond ((eq outcome :passed) (incf passed))
                       ((eq (car outcome) :skipped) (incf skipped))
                       (t (incf failed)))
                 (test::%report name outcome)))
    (test::%end passed failed skipped)))

(defun test::%end (passed failed skipped)
  (format t "~&#counts ~D ~D ~D~%" passed failed skipped)
  (finish-output)
  (values))

(defun test:run-tests (&optional filter)
  "Runs the tests that are defined, or those with a text in their name; whether all passed."
  (let ((failed nil))
    (loop for (name . function) in test::%tests
          when (test::%wanted-p name filter)
            do (let ((outcome (test::%run function)))
                 (when (and (consp outcome) (not (eq (car outcome) :skipped))) (setq failed t))
                 (test::%report name outcome)))
    (not failed)))

(defun test::%run-file (path filter)
  (handler-case (load path)
    (serious-condition (condition)
      (test::%report path (list (cons (format nil "the file does not load: ~A" condition)
                                      (multiple-value-list
                                       (rung:condition-position condition)))))
      (return-from test::%run-file (test::%end 0 1 0))))
  (test::%run-all filter))

(defun test::%run-system (name)
  (handler-case (asdf:test-system name)
    (serious-condition (condition)
      (test::%report name (list (list (princ-to-string condition))))
      (return-from test::%run-system (test::%end 0 1 0))))
  (if test::%tests
      (test::%run-all nil)
      (progn (test::%report name :passed) (test::%end 1 0 0))))
