;;; Handlers, restarts and definitions of conditions. `rung::*handlers*` is a list of clusters,
;;; `rung::*restarts*` a list of restarts; both innermost first.

(defmacro handler-bind (bindings &body body)
  "Runs the body with handlers."
  `(let ((rung::*handlers*
           (cons (list ,@(mapcar (lambda (b) `(cons ',(car b) ,(cadr b))) bindings))
                 rung::*handlers*)))
     ,@body))

(defmacro handler-case (form &rest clauses)
  "The value of the form, or of the clause for a condition."
  (let ((no-error (assoc :no-error clauses)))
    (if no-error
        (let ((normal (gensym "NORMAL")) (handled (gensym "HANDLED")))
          `(block ,handled
             (multiple-value-call (lambda ,@(cdr no-error))
               (block ,normal
                 (return-from ,handled
                   (handler-case (return-from ,normal ,form)
                     ,@(remove no-error clauses)))))))
        (let ((done (gensym "DONE")) (found (gensym "CONDITION"))
              (tags (mapcar (lambda (c) (declare (ignore c)) (gensym "CLAUSE")) clauses)))
          `(block ,done
             (let ((,found nil))
               (tagbody
                  (handler-bind
                      ,(mapcar (lambda (clause tag)
                                 (let ((c (gensym "C")))
                                   `(,(car clause)
                                     (lambda (,c) (setq ,found ,c) (go ,tag)))))
                               clauses tags)
                    (return-from ,done ,form))
                  ,@(mapcan
                     (lambda (clause tag)
                       (destructuring-bind (type lambda-list &body body) clause
                         (declare (ignore type))
                         (list tag
                               `(return-from ,done
                                  ,(if lambda-list
                                       `(let ((,(car lambda-list) ,found)) ,@body)
                                       `(locally ,@body))))))
                     clauses tags))))))))

(defmacro ignore-errors (&body body)
  "The values of the body, or nil and the error."
  (let ((c (gensym "C")))
    `(handler-case (progn ,@body) (error (,c) (values nil ,c)))))

(defun warn (datum &rest arguments)
  "Signals a warning; prints it if nobody muffles it."
  (let ((condition (apply #'rung::%make-warning datum arguments)))
    (unless (typep condition 'warning)
      (error 'type-error :datum condition :expected-type 'warning))
    (restart-case (progn (signal condition) (rung::%show-warning condition))
      (muffle-warning () nil))
    nil))

(defun cerror (continue datum &rest arguments)
  "Signals an error that may be continued."
  (restart-case (apply #'error datum arguments)
    (continue ()
      :report (lambda (s) (apply #'format s continue arguments))
      nil)))

(defun break (&optional (control "Break") &rest arguments)
  "Enters the debugger; the restart continue goes on."
  (with-simple-restart (continue "Return from break.")
    (let ((*debugger-hook* nil))
      (invoke-debugger (make-condition 'simple-condition :format-control control
                                                         :format-arguments arguments))))
  nil)

(defun rung::%break-on-signal (condition)
  (let ((*break-on-signals* nil))
    (break "~A~%(*break-on-signals* has stopped here)" condition)))

(defmacro define-condition (name parents slots &rest options)
  "Defines a class of conditions."
  (let ((report (cadr (assoc :report options)))
        (defaults (cdr (assoc :default-initargs options)))
        (readers nil) (definitions nil))
    (dolist (slot slots)
      (let* ((slot-name (if (consp slot) (car slot) slot))
             (rest (if (consp slot) (cdr slot) nil))
             (initargs nil) (initform nil) (has-initform nil))
        (loop (when (null rest) (return))
              (let ((key (pop rest)) (value (pop rest)))
                (case key
                  (:initarg (push value initargs))
                  (:initform (setq initform value has-initform t))
                  (:reader (push (list value slot-name nil) readers))
                  (:writer (push (list value slot-name t) readers))
                  (:accessor (push (list value slot-name nil) readers)
                   (push (list (list 'setf value) slot-name t) readers)))))
        (let ((default (if defaults
                           (let ((tail (member-if (lambda (k) (member k initargs)) defaults)))
                             tail))))
          (when default (setq initform (cadr default) has-initform t)))
        (push `(list ',slot-name ',initargs ,(if has-initform `(lambda () ,initform) nil))
              definitions)))
    `(progn
       (rung::%define-condition ',name ',parents (list ,@(nreverse definitions))
         ,(cond ((stringp report) report)
                (report `(function ,report))
                (t nil)))
       ,@(mapcar (lambda (r)
                   (destructuring-bind (function slot-name writer) r
                     `(rung::%add-accessor ',function ',name ',slot-name ,writer nil)))
                 readers)
       ',name)))

(defmacro restart-bind (bindings &body body)
  "Runs the body with restarts."
  `(let ((rung::*restarts*
           (append (list ,@(mapcar (lambda (b)
                                     (destructuring-bind (name function &key report-function
                                                          interactive-function test-function)
                                         b
                                       `(%make-restart ',name ,function ,report-function
                                                       ,interactive-function ,test-function)))
                                   bindings))
                   rung::*restarts*)))
     ,@body))

(defmacro restart-case (form &rest clauses)
  "The value of the form, or of the clause whose restart is invoked."
  (let ((done (gensym "DONE")) (arguments (gensym "ARGUMENTS"))
        (tags (mapcar (lambda (c) (declare (ignore c)) (gensym "CLAUSE")) clauses))
        (parsed (mapcar #'%restart-clause clauses)))
    `(block ,done
       (let ((,arguments nil))
         (tagbody
            (restart-bind
                ,(mapcar (lambda (clause tag)
                           (let ((a (gensym "A")))
                             `(,(first clause)
                               (lambda (&rest ,a) (setq ,arguments ,a) (go ,tag))
                               ,@(third clause))))
                         parsed tags)
              (return-from ,done ,(%with-restarts form (length clauses))))
            ,@(mapcan (lambda (clause tag)
                        (list tag
                              `(return-from ,done
                                 (apply (lambda ,(second clause) ,@(fourth clause))
                                        ,arguments))))
                      parsed tags))))))

(defun %with-restarts (form count)
  ;; The restarts belong to the condition that the form, a call of error or its like, signals.
  (flet ((associated (arguments default call)
           (let ((condition (gensym "CONDITION")) (given (gensym "ARGUMENTS")))
             `(let* ((,given (list ,@arguments))
                     (,condition (apply #'%condition ',default ,given)))
                (with-condition-restarts ,condition (subseq rung::*restarts* 0 ,count)
                  ,(funcall call condition given))))))
    (if (and (consp form) (cdr form))
        (case (car form)
          (error (associated (cdr form) 'simple-error (lambda (c g) (list 'progn g `(error ,c)))))
          (warn (associated (cdr form) 'simple-warning (lambda (c g) (list 'progn g `(warn ,c)))))
          (signal (associated (cdr form) 'simple-condition
                              (lambda (c g) (list 'progn g `(signal ,c)))))
          (cerror (if (cddr form)
                      (associated (cddr form) 'simple-error
                                  (lambda (c g) `(apply #'cerror ,(cadr form) ,c (cdr ,g))))
                      form))
          (t form))
        form)))

(defun %condition (default datum &rest arguments)
  (cond ((stringp datum)
         (make-condition default :format-control datum :format-arguments arguments))
        ((symbolp datum) (apply #'make-condition datum arguments))
        ((functionp datum)
         (make-condition default :format-control datum :format-arguments arguments))
        (t datum)))

(defun %restart-clause (clause)
  (destructuring-bind (name lambda-list &rest body) clause
    (let ((options nil))
      (loop (case (and (cdr body) (car body))
              (:report
               (let ((r (cadr body)))
                 (setq options (list* :report-function
                                      (if (stringp r)
                                          `(lambda (s) (write-string ,r s))
                                          `(function ,r))
                                      options))))
              (:interactive
               (setq options (list* :interactive-function `(function ,(cadr body)) options)))
              (:test
               (setq options (list* :test-function `(function ,(cadr body)) options)))
              (t (return)))
            (setq body (cddr body)))
      (list name lambda-list options body))))

(defmacro with-simple-restart ((name control &rest arguments) &body body)
  "Runs the body with a restart that gives nil and t."
  `(restart-case (progn ,@body)
     (,name ()
       :report (lambda (s) (format s ,control ,@arguments))
       (values nil t))))

(defmacro with-condition-restarts (condition restarts &body body)
  "Runs the body; the restarts belong to a condition."
  `(let ((rung::*condition-restarts* (acons ,condition ,restarts rung::*condition-restarts*)))
     ,@body))

(defun %make-restart (name function report interactive test)
  (rung::%make-structure 'restart name function report interactive test))

(defun %restart-part (restart index)
  (rung::%structure-ref restart 'restart index))

(defun restart-name (restart)
  "The name of a restart."
  (%restart-part restart 0))

(defun %restart-applies-p (restart condition)
  (and (or (null condition)
           (let ((associated nil))
             (dolist (entry rung::*condition-restarts* (not associated))
               (when (member restart (cdr entry))
                 (when (eq (car entry) condition) (return t))
                 (setq associated t)))))
       (or (null (%restart-part restart 4)) (funcall (%restart-part restart 4) condition))))

(defun compute-restarts (&optional condition)
  "The restarts there are, innermost first."
  (remove-if-not (lambda (r) (%restart-applies-p r condition)) rung::*restarts*))

(defun find-restart (name &optional condition)
  "The innermost restart of a name."
  (if (typep name 'restart)
      (find name rung::*restarts*)
      (find name (compute-restarts condition) :key #'restart-name)))

(defun %active-restart (name)
  (or (find-restart name)
      (error 'control-error :format-control "there is no restart ~S"
                            :format-arguments (list name))))

(defun invoke-restart (name &rest arguments)
  "Calls a restart."
  (apply (%restart-part (%active-restart name) 1) arguments))

(defun rung::%restart-interactive (restart)
  (%restart-part restart 3))

(defun invoke-restart-interactively (name)
  "Calls a restart with arguments that it asks for."
  (let* ((restart (%active-restart name)) (ask (%restart-part restart 3)))
    (apply (%restart-part restart 1) (if ask (funcall ask) nil))))

(defun rung:restart-report (restart)
  "The text of a restart."
  (if (%restart-part restart 2)
      (with-output-to-string (s) (funcall (%restart-part restart 2) s))
      (string-downcase (restart-name restart))))

(defun abort (&optional condition)
  "Invokes the restart abort."
  (invoke-restart (or (find-restart 'abort condition) 'abort)))

(defun muffle-warning (&optional condition)
  "Invokes the restart muffle-warning."
  (invoke-restart (or (find-restart 'muffle-warning condition) 'muffle-warning)))

(defun continue (&optional condition)
  "Invokes the restart continue, if there is one."
  (let ((restart (find-restart 'continue condition)))
    (when restart (invoke-restart restart))))

(defun use-value (value &optional condition)
  "Invokes the restart use-value, if there is one."
  (let ((restart (find-restart 'use-value condition)))
    (when restart (invoke-restart restart value))))

(defun store-value (value &optional condition)
  "Invokes the restart store-value, if there is one."
  (let ((restart (find-restart 'store-value condition)))
    (when restart (invoke-restart restart value))))

(defun rung:backtrace (&optional n)
  "The names of the functions that ran at the last error, or run now if there was none; the n innermost."
  (check-type n (or null unsigned-byte))
  (let ((frames (or (rung::%frames nil) (rung::%frames-now))))
    (if n (subseq frames 0 (min n (length frames))) frames)))

(defun rung::%frames-now ()
  ;; The machine notes its frames on the way to the debugger; the two innermost are of the library.
  (block nil
    (let ((*debugger-hook* (lambda (condition hook)
                             (declare (ignore condition hook))
                             (return (cddr (rung::%frames t))))))
      (invoke-debugger (make-condition 'simple-condition)))))
