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
  "Stops with a message."
  (apply #'error control arguments))

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
              (return-from ,done ,form))
            ,@(mapcan (lambda (clause tag)
                        (list tag
                              `(return-from ,done
                                 (apply (lambda ,(second clause) ,@(fourth clause))
                                        ,arguments))))
                      parsed tags))))))

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
  `(progn ,condition ,restarts ,@body))

(defun %make-restart (name function report interactive test)
  (vector 'restart name function report interactive test))

(defun restart-name (restart)
  "The name of a restart."
  (svref restart 1))

(defun %restart-p (object)
  (and (simple-vector-p object) (= (length object) 6) (eq (svref object 0) 'restart)))

(defun compute-restarts (&optional condition)
  "The restarts there are, innermost first."
  (remove-if-not (lambda (r) (or (null (svref r 5)) (funcall (svref r 5) condition)))
                 rung::*restarts*))

(defun find-restart (name &optional condition)
  "The innermost restart of a name."
  (if (%restart-p name)
      name
      (find name (compute-restarts condition) :key #'restart-name)))

(defun invoke-restart (name &rest arguments)
  "Calls a restart."
  (let ((restart (find-restart name)))
    (unless restart (error 'control-error))
    (apply (svref restart 2) arguments)))

(defun invoke-restart-interactively (name)
  "Calls a restart with arguments that it asks for."
  (let ((restart (find-restart name)))
    (unless restart (error 'control-error))
    (apply (svref restart 2) (if (svref restart 4) (funcall (svref restart 4)) nil))))

(defun rung:restart-report (restart)
  "The text of a restart."
  (if (svref restart 3)
      (with-output-to-string (s) (funcall (svref restart 3) s))
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
