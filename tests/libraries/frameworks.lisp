;;; What the tests of babel and yason use of their frameworks, hu.dwim.stefil and unit-test, which
;;; Debian does not package: each check is counted, nothing more.

(defpackage #:frameworks
  (:use #:common-lisp)
  (:export #:counts #:note #:add-test))

(in-package #:frameworks)

(defvar *tests* nil "Functions, the last one first.")
(defvar *passed*)
(defvar *failed*)

(defun add-test (name function)
  (push (cons name function) *tests*))

(defun note (passed form)
  (cond (passed (incf *passed*))
        (t (incf *failed*) (format t "~&failed: ~S~%" form)))
  passed)

(defun counts ()
  "Runs all tests; the checks that passed, and all."
  (let ((*passed* 0) (*failed* 0))
    (loop for (name . function) in (reverse *tests*)
          do (handler-case (funcall function)
               (error (condition)
                 (note nil (format nil "~A: ~A" name condition)))))
    (list *passed* (+ *passed* *failed*))))

(defpackage #:hu.dwim.stefil
  (:use #:common-lisp)
  (:export #:deftest #:is #:signals #:finishes #:defsuite* #:defsuite #:in-suite #:root-suite
           #:*last-test-result* #:with-expected-failures #:without-debugging))

(in-package #:hu.dwim.stefil)

(defvar *last-test-result* nil)
(define-condition unexpected-error (error) ())
(define-condition failed-assertion (error) ())
(define-condition missing-condition (error) ())
(define-condition extra-condition (error) ())
(defmacro defsuite* (&rest name) (declare (ignore name)) nil)
(defmacro defsuite (&rest name) (declare (ignore name)) nil)
(defmacro in-suite (&rest name) (declare (ignore name)) nil)
(defmacro deftest (name lambda-list &body body)
  `(progn (defun ,(if (consp name) (car name) name) ,lambda-list ,@body)
          ,@(if (or (null lambda-list) (eq (car lambda-list) '&key))
                `((frameworks:add-test ',name #',(if (consp name) (car name) name)))
                nil)))
(defmacro is (form &rest more)
  (declare (ignore more))
  `(frameworks:note ,form ',form))
(defmacro signals (type &body body)
  `(frameworks:note (handler-case (progn ,@body nil) (,type () t)) '(signals ,type ,@body)))
(defmacro finishes (&body body)
  `(frameworks:note (progn ,@body t) ',body))

(defpackage #:unit-test
  (:use #:common-lisp)
  (:export #:deftest #:test-equal #:test-condition #:test-assert))

(in-package #:unit-test)

(defmacro deftest (suite name &body body)
  (declare (ignore suite))
  `(frameworks:add-test ,name (lambda () ,@body)))
(defmacro test-equal (a b &key (test '#'equal))
  `(frameworks:note (funcall ,test ,a ,b) '(test-equal ,a ,b)))
(defmacro test-assert (form)
  `(frameworks:note ,form ',form))
(defmacro test-condition (form type)
  `(frameworks:note (handler-case (progn ,form nil)
                      (error (condition) (typep condition ,type)))
                    '(test-condition ,form ,type)))

(in-package #:common-lisp-user)

;; Systems of the same names, so that what depends on them finds them.
(asdf:defsystem "hu.dwim.stefil")
(asdf:defsystem "unit-test")
