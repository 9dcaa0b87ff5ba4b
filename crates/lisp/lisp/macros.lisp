;;; The standard's macros that need no Rust. Each definition is compiled when it is first used.
;;; Every form begins in the first column and is a definition: the loader finds them so.

(defun %split-declarations (body)
  ;; The declarations at the start of a body, and the rest.
  (let ((declarations nil))
    (loop (unless (and (consp body) (consp (car body)) (eq (car (car body)) 'declare))
            (return (values (nreverse declarations) body)))
          (push (pop body) declarations))))

(defmacro dotimes ((var count &optional result) &body body)
  "Runs the body with the variable from 0 below the count."
  (let ((limit (gensym "LIMIT")) (start (gensym "START")))
    (multiple-value-bind (declarations forms) (%split-declarations body)
      `(let ((,var 0) (,limit ,count))
         (declare (ignorable ,var))
         ,@declarations
         (block nil
           (tagbody
              ,start
              (if (>= ,var ,limit) (return-from nil ,result))
              (tagbody ,@forms)
              (setq ,var (+ ,var 1))
              (go ,start)))))))

(defmacro dolist ((var list &optional result) &body body)
  "Runs the body with the variable bound to each element."
  (let ((rest (gensym "REST")) (start (gensym "START")) (end (gensym "END")))
    (multiple-value-bind (declarations forms) (%split-declarations body)
      `(block nil
         (let ((,rest ,list))
           (tagbody
              ,start
              (if (endp ,rest) (go ,end))
              (let ((,var (car ,rest)))
                (declare (ignorable ,var))
                ,@declarations
                (tagbody ,@forms))
              (setq ,rest (cdr ,rest))
              (go ,start)
              ,end)
           ,(if result `(let ((,var nil)) (declare (ignorable ,var)) ,result) nil))))))

(defmacro do (bindings (test &rest results) &body body)
  "Steps variables together until the test is true."
  (%do 'let 'psetq bindings test results body))

(defmacro do* (bindings (test &rest results) &body body)
  "Steps variables one after another until the test is true."
  (%do 'let* 'setq bindings test results body))

(defun %do (let setq bindings test results body)
  (let ((start (gensym "START")) (declarations nil))
    (loop (unless (and (consp body) (consp (car body)) (eq (car (car body)) 'declare)) (return))
          (push (pop body) declarations))
    `(block nil
       (,let ,(mapcar (lambda (b) (if (consp b) (list (car b) (cadr b)) b)) bindings)
         ,@(nreverse declarations)
         (tagbody
            ,start
            (if ,test (return-from nil (progn ,@results)))
            (tagbody ,@body)
            (,setq ,@(mapcan (lambda (b)
                               (if (and (consp b) (cddr b)) (list (car b) (caddr b)) nil))
                             bindings))
            (go ,start))))))

(defmacro rung:while (test &body body)
  "Runs the body as long as the test is true."
  (let ((start (gensym "START")))
    `(block nil
       (tagbody ,start (if ,test nil (return-from nil nil)) (tagbody ,@body) (go ,start)))))

(defmacro rung:until (test &body body)
  "Runs the body until the test is true."
  (let ((start (gensym "START")))
    `(block nil
       (tagbody ,start (if ,test (return-from nil nil)) (tagbody ,@body) (go ,start)))))

(defmacro psetq (&rest pairs)
  "Sets variables all at once."
  (cond ((null pairs) nil)
        ((null (cddr pairs)) `(progn (setq ,@pairs) nil))
        (t `(psetf ,@pairs))))

(defmacro prog (bindings &body body)
  "Variables, a block and a tagbody."
  (%prog 'let bindings body))

(defmacro prog* (bindings &body body)
  "As prog, bindings one after another."
  (%prog 'let* bindings body))

(defun %prog (let bindings body)
  (let ((declarations nil))
    (loop (unless (and (consp body) (consp (car body)) (eq (car (car body)) 'declare)) (return))
          (push (pop body) declarations))
    `(block nil (,let ,bindings ,@(nreverse declarations) (tagbody ,@body)))))

(defmacro prog2 (first second &body body)
  "The value of the second form."
  `(progn ,first (prog1 ,second ,@body)))

(defmacro case (key &body clauses)
  "The body of the clause whose keys hold the value."
  (%case 'case key clauses nil))

(defmacro ecase (key &body clauses)
  "As case; no clause is an error."
  (%case 'ecase key clauses t))

(defmacro ccase (place &body clauses)
  "As ecase, with the restart store-value, which tries again."
  (%correctable (lambda (value other) (%case 'ccase value clauses other)) place))

(defun %correctable (make place)
  (let ((done (gensym "DONE")) (again (gensym "AGAIN")) (value (gensym "VALUE")))
    `(block ,done
       (tagbody
          ,again
          (return-from ,done
            (let ((,value ,place))
              ,(funcall make value (lambda (no-case)
                                     `(progn (setf ,place (%store-value ',place ,no-case))
                                             (go ,again))))))))))

(defmacro %store-value (place error)
  `(restart-case ,error
     (store-value (value)
       :report (lambda (stream) (format stream "Give a new value for ~S." ,place))
       :interactive %read-value
       value)))

(defun %read-value ()
  (format *query-io* "~&New value: ")
  (finish-output *query-io*)
  (list (eval (read *query-io*))))

(defun %case (name key clauses must)
  ;; MUST is nil, t, or a function of the form that signals the error.
  (let ((value (gensym "KEY")) (all nil))
    `(let ((,value ,key))
       (cond
         ,@(mapcar
            (lambda (clause)
              (let ((keys (car clause)) (body (or (cdr clause) '(nil))))
                (cond ((and (member keys '(t otherwise)) (not must)) `(t ,@body))
                      ((listp keys)
                       (setq all (append all keys))
                       `((or ,@(mapcar (lambda (k) `(eql ,value ',k)) keys)) ,@body))
                      (t (setq all (append all (list keys)))
                         `((eql ,value ',keys) ,@body)))))
            clauses)
         ,@(if must
               (let ((error `(%no-case ',(string-downcase name) ,value '(member ,@all))))
                 `((t ,(if (functionp must) (funcall must error) error)))))))))

(defun %no-case (name value type)
  (error 'simple-type-error :datum value :expected-type type
         :format-control "~A: no clause for ~S" :format-arguments (list name value)))

(defmacro typecase (key &body clauses)
  "The body of the clause whose type the value has."
  (%typecase 'typecase key clauses nil))

(defmacro etypecase (key &body clauses)
  "As typecase; no clause is an error."
  (%typecase 'etypecase key clauses t))

(defmacro ctypecase (place &body clauses)
  "As etypecase, with the restart store-value, which tries again."
  (%correctable (lambda (value other) (%typecase 'ctypecase value clauses other)) place))

(defun %typecase (name key clauses must)
  (let ((value (gensym "KEY")))
    `(let ((,value ,key))
       (cond
         ,@(mapcar (lambda (clause)
                     (if (and (member (car clause) '(t otherwise)) (not must))
                         `(t ,@(or (cdr clause) '(nil)))
                         `((typep ,value ',(car clause)) ,@(or (cdr clause) '(nil)))))
                   clauses)
         ,@(if must
               (let ((error `(%no-case ',(string-downcase name) ,value
                                       '(or ,@(mapcar #'car clauses)))))
                 `((t ,(if (functionp must) (funcall must error) error)))))))))

(defmacro multiple-value-list (form)
  "The values of a form as a list."
  `(multiple-value-call #'list ,form))

(defmacro multiple-value-setq (variables form)
  "Sets variables to the values of a form."
  (let ((names (mapcar (lambda (v) (declare (ignore v)) (gensym "VALUE")) variables)))
    (if (null variables)
        `(values ,form)
        `(multiple-value-bind ,names ,form
           ,@(mapcar (lambda (v n) `(setf ,v ,n)) variables names)
           ,(car names)))))

(defmacro nth-value (n form)
  "One of the values of a form."
  `(nth ,n (multiple-value-list ,form)))

(defmacro progv (symbols values &body body)
  "Binds dynamic variables whose names are computed."
  `(rung::%progv ,symbols ,values (lambda () ,@body)))

(defmacro in-package (name)
  "Makes a package current."
  `(rung::%in-package ',(if (symbolp name) (symbol-name name) name)))

(defmacro defpackage (name &rest options)
  "Defines a package."
  `(rung::%define-package ',name ,@(mapcar (lambda (o) `',o) options)))

(defmacro deftype (name lambda-list &body body)
  "Defines a type."
  `(rung::%define-type ',name
     (lambda (&rest arguments)
       (destructuring-bind ,(%star-defaults lambda-list) arguments (block ,name ,@body)))))

(defun %star-defaults (lambda-list)
  (let ((optional nil))
    (mapcar (lambda (p)
              (cond ((member p '(&optional &key)) (setq optional t) p)
                    ((member p '(&rest &body &aux)) (setq optional nil) p)
                    ((and optional (symbolp p)) `(,p '*))
                    (t p)))
            lambda-list)))

(defmacro define-symbol-macro (name expansion)
  "Defines a global symbol macro."
  `(rung::%define-symbol-macro ',name ',expansion))

(defmacro defsetf (accessor &rest rest)
  "Says how a place is stored."
  (if (and (consp rest) (listp (car rest)) (car (cdr rest)))
      (destructuring-bind (lambda-list (store) &body body) rest
        (let ((arguments (gensym "ARGUMENTS")))
          `(rung::%define-setf ',accessor 1
             (lambda (&rest ,arguments)
               (let ((,store (car (last ,arguments))))
                 (destructuring-bind ,lambda-list (butlast ,arguments)
                   ,@(%block-body accessor body)))))))
      `(rung::%define-setf ',accessor 0 ',(car rest))))

(defun %block-body (name body)
  ;; Declarations, which stay outside, and a block with the rest; a documentation string goes.
  (let ((declarations nil))
    (loop (cond ((and (stringp (car body)) (cdr body)) (pop body))
                ((and (consp (car body)) (eq (car (car body)) 'declare))
                 (push (pop body) declarations))
                (t (return))))
    `(,@(nreverse declarations) (block ,name ,@body))))

(defmacro define-setf-expander (accessor lambda-list &body body)
  "Says how a place is read and stored."
  (let* ((place (gensym "PLACE")) (environment (gensym "ENVIRONMENT"))
         (tail (member '&environment lambda-list))
         (rest (append (ldiff lambda-list tail) (cddr tail))))
    `(rung::%define-setf ',accessor 2
       (lambda (,place &optional ,environment)
         (let (,@(if tail `((,(cadr tail) ,environment))))
           (declare (ignorable ,@(if tail (list (cadr tail)) (list environment))))
           (destructuring-bind ,rest (cdr ,place)
             ,@(%block-body accessor body)))))))

(defmacro define-modify-macro (name lambda-list function &optional documentation)
  "Defines a macro that changes a place."
  (let ((place (gensym "PLACE"))
        (names (remove '&optional (mapcar (lambda (p) (if (consp p) (car p) p)) lambda-list)))
        (rest (cadr (member '&rest lambda-list))))
    (let ((plain (if rest (ldiff names (member '&rest names)) names)))
      `(defmacro ,name (,place ,@lambda-list)
         ,@(if documentation (list documentation))
         (list 'rung::%modify ,place ',function nil
               ,(if rest `(list* ,@plain ,rest) `(list ,@plain)))))))

(defmacro pushnew (item place &rest keys)
  "Puts an item in front of a list in a place unless it is there."
  (let ((value (gensym "ITEM")))
    `(let ((,value ,item)) (rung::%modify ,place adjoin (,value) ,keys))))

(defmacro with-open-file ((stream &rest arguments) &body body)
  "Runs the body with an open file and closes it."
  (let ((done (gensym "DONE")))
    `(let ((,stream (open ,@arguments)) (,done nil))
       (unwind-protect
            (multiple-value-prog1 (progn ,@body) (setq ,done t))
         (when ,stream (close ,stream :abort (not ,done)))))))

(defmacro with-open-stream ((var stream) &body body)
  "Runs the body with a stream and closes it."
  `(let ((,var ,stream))
     (unwind-protect (progn ,@body) (when ,var (close ,var)))))

(defmacro with-output-to-string ((var &optional string &key element-type) &body body)
  "What the body writes to a stream, as a string."
  (declare (ignore element-type))
  (if string
      `(let ((,var (make-string-output-stream)))
         (multiple-value-prog1 (progn ,@body)
           (map nil (lambda (c) (vector-push-extend c ,string))
                (get-output-stream-string ,var))))
      `(let ((,var (make-string-output-stream)))
         ,@body
         (get-output-stream-string ,var))))

(defmacro with-input-from-string ((var string &key (start 0) end index) &body body)
  "Runs the body with a stream that reads a string."
  (declare (ignore index))
  `(let ((,var (make-string-input-stream ,string ,start ,end))) ,@body))

(defmacro time (form)
  "Runs a form and says how long it took."
  (let ((start (gensym "START")))
    `(let ((,start (rung:nanoseconds)))
       (multiple-value-prog1 ,form
         (format *trace-output* "~&time: ~,3F s~%"
                 (/ (- (rung:nanoseconds) ,start) 1d9))
         (finish-output *trace-output*)))))

(defmacro do-symbols ((var &optional (package '*package*) result) &body body)
  "Runs the body for each symbol visible in a package."
  `(dolist (,var (rung::%package-symbols ,package :inherited) ,result) ,@body))

(defmacro do-external-symbols ((var &optional (package '*package*) result) &body body)
  "Runs the body for each exported symbol."
  `(dolist (,var (rung::%package-symbols ,package :external) ,result) ,@body))

(defmacro do-all-symbols ((var &optional result) &body body)
  "Runs the body for each symbol of each package."
  (let ((package (gensym "PACKAGE")))
    `(dolist (,package (list-all-packages) ,result)
       (dolist (,var (rung::%package-symbols ,package :internal)) ,@body))))

(defmacro with-standard-io-syntax (&body body)
  "Runs the body with the standard variables of the reader and the printer."
  `(let ((*package* (find-package "CL-USER")) (*print-array* t) (*print-base* 10)
         (*print-case* :upcase) (*print-circle* nil) (*print-escape* t) (*print-gensym* t)
         (*print-length* nil) (*print-level* nil) (*print-lines* nil) (*print-miser-width* nil)
         (*print-pprint-dispatch* nil) (*print-pretty* nil) (*print-radix* nil)
         (*print-readably* t) (*print-right-margin* nil) (*read-base* 10)
         (*read-default-float-format* 'single-float) (*read-eval* t) (*read-suppress* nil)
         (*readtable* (copy-readtable nil)))
     ,@body))

(defmacro assert (test &optional places control &rest arguments)
  "An error unless the test is true; the restart continue asks for new values of the places."
  `(do ()
       (,test nil)
     (%assertion-failed ',test ,(if control `(list ,control ,@arguments) nil))
     ,@(mapcar (lambda (place) `(setf ,place (%new-value ',place ,place))) places)))

(defun %assertion-failed (test arguments)
  (restart-case (if arguments
                    (apply #'error arguments)
                    (error "the assertion ~S failed" test))
    (continue () :report "Test again." nil)))

(defun %new-value (place value)
  (if (y-or-n-p "~S is ~S. Give it a new value?" place value)
      (car (%read-value))
      value))

(defmacro check-type (place type &optional string)
  "An error unless the place's value is of the type; the restart store-value changes it."
  `(do ()
       ((typep ,place ',type) nil)
     (setf ,place
           (%store-value ',place (rung::%check-type ,place ',type ',place ,string)))))

(defmacro rung:doc (name)
  "Describes what a name means."
  `(describe ',name))

(defmacro trace (&rest names)
  "Prints the calls of functions; without names, gives those that are traced."
  (if names
      `(progn ,@(mapcar (lambda (n) `(%trace ',n)) names) ',names)
      'rung::*traced*))

(defmacro untrace (&rest names)
  "Ends trace, of all functions without names."
  (if names
      `(progn ,@(mapcar (lambda (n) `(%untrace ',n)) names) ',names)
      '(mapc #'%untrace rung::*traced*)))

(defun %trace (name)
  (when (or (special-operator-p name) (macro-function name))
    (error "trace: ~(~S~) is not a function" name))
  (unless (get name 'rung::%traced)
    ;; Also what is printed with may be traced: its function of before is used, and no call made
    ;; while something is printed is told.
    (let ((function (fdefinition name)) (depth 0) (busy nil)
          (format (or (get 'format 'rung::%traced) #'format))
          (apply (or (get 'apply 'rung::%traced) #'apply)))
      (setf (get name 'rung::%traced) function)
      (push name rung::*traced*)
      (labels ((tell (&rest arguments)
                 (setq busy t)
                 (unwind-protect (funcall apply format *trace-output* arguments)
                   (setq busy nil))))
        (rung::%replace-function
         name
         (lambda (&rest arguments)
           (if busy
               (funcall apply function arguments)
               (let ((values nil))
                 (tell "~&~V@T~D: ~S~%" (* 2 depth) depth (cons name arguments))
                 (incf depth)
                 (unwind-protect
                      (setq values (multiple-value-list (funcall apply function arguments)))
                   (decf depth))
                 (tell "~&~V@T~D: ~S => ~{~S~^, ~}~%" (* 2 depth) depth name values)
                 (funcall apply #'values values)))))))))

(defun %untrace (name)
  (let ((function (get name 'rung::%traced)))
    (when function
      (rung::%replace-function name function)
      (setq rung::*traced* (remove name rung::*traced*))
      (remprop name 'rung::%traced))))

(defun complement (function)
  "A function that is true where another is not."
  (lambda (&rest arguments) (not (apply function arguments))))

(defun constantly (value)
  "A function that always gives a value."
  (lambda (&rest arguments) (declare (ignore arguments)) value))
