;;; The macros of the object system. Classes, dispatch and instances are in Rust; what combines
;;; methods is here, as functions that are compiled once for each shape of call.

(defmacro defclass (name superclasses slots &rest options)
  "Defines a class."
  (unless (and name (symbolp name)) (error "defclass: expected a name: got ~S" name))
  (let ((defaults nil) (documentation nil) (accessors nil) (seen nil) (definitions nil))
    (dolist (option options)
      (case (and (consp option) (car option))
        (:default-initargs (setq defaults (%default-initargs (cdr option))))
        (:documentation (setq documentation (cadr option)))
        (:metaclass
         (unless (eq (cadr option) 'standard-class)
           (error "defclass: there is no metaclass ~(~S~): only standard-class"
                  (cadr option))))
        (t (error "defclass: ~(~S~) has no option ~(~S~)" name option))))
    (dolist (slot slots)
      (let ((slot-name (if (consp slot) (car slot) slot)))
        (when (member slot-name seen)
          (error "defclass: ~(~S~) has two slots named ~(~S~)" name slot-name))
        (push slot-name seen)
        (multiple-value-bind (definition functions)
            (%slot-definition name slot-name (if (consp slot) (cdr slot) nil))
          (push definition definitions)
          (setq accessors (append accessors functions)))))
    `(progn
       (rung::%define-class ',name ',superclasses (list ,@(nreverse definitions))
                            (list ,@defaults) ,documentation)
       ,@(mapcar (lambda (a)
                   `(rung::%add-accessor ',(first a) ',name ',(second a) ,(third a) ,(fourth a)))
                 accessors)
       (find-class ',name))))

(defun %default-initargs (plist)
  (let ((forms nil))
    (loop (when (null plist) (return (nreverse forms)))
          (let* ((key (pop plist)) (form (pop plist)))
            (push `(list ',key (lambda () ,form)) forms)))))

(defun %slot-definition (class name options)
  (let ((initargs nil) (initform nil) (documentation nil) (allocation :instance)
        (accessors nil) (seen nil))
    (loop
      (when (null options) (return))
      (let ((key (pop options)) (value (pop options)))
        (when (and (member key seen) (member key '(:initform :allocation :type :documentation)))
          (error "defclass: slot ~(~S~) of ~(~S~) has two options ~(~S~)" name class key))
        (push key seen)
        (case key
          (:initarg (push value initargs))
          (:initform (setq initform `(lambda () ,value)))
          (:documentation (setq documentation value))
          (:type nil)
          (:allocation
           (unless (member value '(:class :instance))
             (error "defclass: expected :allocation :instance or :class: got ~(~S~)" value))
           (setq allocation value))
          (:reader (push (list value name nil nil) accessors))
          (:writer (push (list value name t nil) accessors))
          (:accessor (push (list value name nil nil) accessors)
           (push (list (list 'setf value) name t nil) accessors))
          (t (error "defclass: slot ~(~S~) of ~(~S~) has no option ~(~S~)" name class key)))))
    (values `(list ',name ',(nreverse initargs) ,initform ,(eq allocation :class) ,documentation)
            (mapcar (lambda (a) (list (first a) (second a) (third a) documentation))
                    (nreverse accessors)))))

(defmacro defgeneric (name lambda-list &rest options)
  "Defines a generic function."
  (let ((combination nil) (order nil) (documentation nil) (methods nil))
    (dolist (option options)
      (case (and (consp option) (car option))
        (:method (push (cdr option) methods))
        (:method-combination (setq combination (cdr option)))
        (:argument-precedence-order (setq order (cdr option)))
        (:documentation (setq documentation (cadr option)))
        ((declare :generic-function-class :method-class) nil)
        (t (error "defgeneric: ~(~S~) has no option ~(~S~)" name option))))
    (dolist (word lambda-list)
      (when (eq word '&aux) (error "defgeneric: a generic function has no &aux variables")))
    `(progn
       (rung::%define-generic ',name ',lambda-list ',combination ',order ,documentation)
       ,@(mapcar (lambda (m) `(rung::%initial-method (defmethod ,name ,@m))) (nreverse methods))
       #',name)))

(defmacro defmethod (name &rest rest)
  "Defines a method of a generic function."
  (let ((qualifiers nil) (required nil) (specialisers nil))
    (loop (when (or (null rest) (listp (car rest))) (return))
          (push (pop rest) qualifiers))
    (when (null rest) (error "defmethod: ~(~S~) has no lambda list" name))
    (setq qualifiers (nreverse qualifiers))
    (let ((others (pop rest)))
      (loop (when (or (null others) (member (car others) lambda-list-keywords)) (return))
            (let ((parameter (pop others)))
              (push (if (consp parameter) (car parameter) parameter) required)
              (push (if (consp parameter) (cadr parameter) t) specialisers)))
      (setq required (nreverse required) specialisers (nreverse specialisers))
      (multiple-value-bind (sections tail) (%method-tail others)
        `(rung::%add-method
          ',name ',qualifiers
          (list ,@(mapcar (lambda (s)
                            (if (and (consp s) (eq (car s) 'eql))
                                `(list 'eql ,(cadr s))
                                `',s))
                          specialisers))
          ',(append required others)
          ,(%method-maker (list* name (append qualifiers (list specialisers)))
                          (if (consp name) (cadr name) name)
                          required sections tail rest)
          ,(if (and (stringp (car rest)) (cdr rest)) (car rest) nil))))))

(defun %method-tail (words)
  "The sections of a method's lambda list after the required ones, made so that call-next-method
can pass on what came; and the form that gives that as a list."
  (let ((section nil) (others nil) (optional nil) (rest nil) (keyed nil))
    (dolist (word words)
      (cond ((member word '(&optional &rest &body &key &aux))
             (when (and (member section '(nil &optional)) (member word '(&key)) (null rest))
               (setq rest (gensym "REST"))
               (setq others (list* rest '&rest others)))
             (when (and keyed (eq word '&aux)) (push '&allow-other-keys others))
             (setq section word keyed (or (eq word '&key) (and keyed (not (eq word '&aux)))))
             (push (if (eq word '&body) '&rest word) others))
            ((eq word '&allow-other-keys) nil)
            ((eq section '&optional)
             (let* ((parts (if (consp word) word (list word)))
                    (supplied (or (third parts) (gensym "SUPPLIED"))))
               (push (list (first parts) (second parts) supplied) others)
               (push (cons (first parts) supplied) optional)))
            (t (when (member section '(&rest &body)) (setq rest word))
               (push word others))))
    (when keyed (push '&allow-other-keys others))
    (let ((tail rest))
      (dolist (o optional)
        (setq tail `(if ,(cdr o) (cons ,(car o) ,tail) nil)))
      (values (nreverse others) tail))))

(defun %method-maker (full-name block required others tail body)
  (let ((declarations nil) (names nil))
    (when (and (stringp (car body)) (cdr body)) (pop body))
    (loop (unless (and (consp (car body)) (eq (car (car body)) 'declare)) (return))
          (push (pop body) declarations))
    (setq names (mapcar (lambda (r) (declare (ignore r)) (gensym "ARGUMENT")) required))
    (let ((rest (gensym "MORE"))
          (next '(or rung::%next (rung::%no-next rung::%method))))
      `(lambda (rung::%next rung::%method)
         (declare (ignorable rung::%next rung::%method))
         (rung::%named-lambda ,full-name (,@required ,@others)
           ,@(nreverse declarations)
           (let (,@(mapcar #'list names required) ,@(if tail `((,rest ,tail)) nil))
             (declare (ignorable ,@names))
             (symbol-macrolet
                 ((rung::%again ,(if tail
                                     `(apply ,next ,@names ,rest)
                                     `(funcall ,next ,@names))))
               (block ,block ,@body))))))))

(defun rung::%standard-combined (count open before main after)
  "A function that runs methods before and after another one."
  (flet ((calls (functions) (mapcar (lambda (f) (declare (ignore f)) (gensym "METHOD")) functions)))
    (let* ((befores (calls before)) (afters (calls after)) (key (gensym "MAIN")))
      (rung::%combined
       (list :standard count open (length before) (length after))
       (append befores (list key) afters) count open
       (lambda (call)
         `(progn ,@(mapcar call befores)
                 ,(if afters
                      `(multiple-value-prog1 ,(funcall call key) ,@(mapcar call afters))
                      (funcall call key))))
       (append before (list main) after)))))

(defun rung::%operator-combined (count open operator functions)
  "A function that gives what an operator makes of the values of methods."
  (let ((names (mapcar (lambda (f) (declare (ignore f)) (gensym "METHOD")) functions)))
    (rung::%combined (list operator count open (length functions)) names count open
                     (lambda (call) `(,operator ,@(mapcar call names)))
                     functions)))

(defun rung::%combined (shape names count open body functions)
  "The function of a shape for these methods; its maker is compiled once."
  (let ((known (assoc shape (get 'rung::%combined 'rung::%makers) :test #'equal)))
    (unless known
      (let* ((arguments (loop repeat count collect (gensym "ARGUMENT")))
             (rest (gensym "REST"))
             (call (lambda (name)
                     (if open `(apply ,name ,@arguments ,rest) `(funcall ,name ,@arguments)))))
        (setq known
              (cons shape
                    (eval `(lambda ,names
                             (lambda (,@arguments ,@(if open (list '&rest rest) nil))
                               ,(funcall body call))))))
        (push known (get 'rung::%combined 'rung::%makers))))
    (apply (cdr known) functions)))

;;; The effective method of a combination in the long form is a function of its own for each set of
;;; methods: the form that the combination gives, in which call-method stands for calls of functions
;;; that have been made of the methods.

(defun rung::%long-combined (count open maker generic methods options)
  (let* ((arguments (loop repeat count collect (gensym "ARGUMENT")))
         (rest (and open (gensym "REST")))
         (rung::*combined-call* (cons arguments rest)))
    (rung::%combined-function (funcall maker generic methods options))))

(defun rung::%combined-function (form)
  (destructuring-bind (arguments . rest) rung::*combined-call*
    (eval `(lambda (,@arguments ,@(if rest (list '&rest rest) nil))
             (declare (ignorable ,@arguments ,@(if rest (list rest) nil)))
             (macrolet ((call-method (method &optional next)
                          (rung::%method-call method next)))
               ,form)))))

(defun rung::%method-call (method next)
  ;; What (call-method method next) stands for.
  (destructuring-bind (arguments . rest) rung::*combined-call*
    (let ((function (rung::%chained method next)))
      (if rest
          `(apply ,function ,@arguments ,rest)
          `(funcall ,function ,@arguments)))))

(defun rung::%chained (method next)
  ;; The function of a method, or of (make-method form), before others.
  (if (and (consp method) (eq (car method) 'make-method))
      (rung::%combined-function (cadr method))
      (rung::%method-function method (and next (rung::%chained (car next) (cdr next))))))

(defmacro call-method (method &optional next)
  "Calls a method, inside the form of a method combination."
  (declare (ignore method next))
  (error "call-method: only inside the form of a method combination"))

(defmacro make-method (form)
  "A method that runs a form, as an argument of call-method."
  (declare (ignore form))
  (error "make-method: only as an argument of call-method"))

(defun invalid-method-error (method control &rest arguments)
  "Signals that a method has no place in a method combination."
  (error "~S: ~?" method control arguments))

(defun method-combination-error (control &rest arguments)
  "Signals an error of a method combination."
  (apply #'error control arguments))

(defun rung::%argument-forms (lambda-list)
  ;; The bindings of the variables of :arguments to names, and the names as a lambda list that
  ;; takes any call.
  (let ((names nil) (renamed nil) (open nil) (words lambda-list))
    (loop
      (when (null words) (return))
      (let ((word (pop words)))
        (cond ((eq word '&whole) (push (list (pop words) nil) names))
              ((member word lambda-list-keywords)
               (when (member word '(&rest &key &body)) (setq open t))
               (push word renamed))
              (t (let* ((parts (if (consp word) word (list word)))
                        (variable (if (consp (car parts)) (cadar parts) (car parts)))
                        (name (gensym (symbol-name variable))))
                   (push (list variable name) names)
                   (push (cond ((symbolp word) name)
                               ((consp (car parts)) (list* (list (caar parts) name) (cdr parts)))
                               (t (cons name (cdr parts))))
                         renamed))))))
    (setq renamed (nreverse renamed))
    (values (nreverse names)
            (cond ((member '&key renamed) (append renamed '(&allow-other-keys)))
                  (open renamed)
                  (t (append renamed (list '&rest (gensym "MORE"))))))))

(defun rung::%with-arguments (lambda-list form)
  (destructuring-bind (arguments . rest) rung::*combined-call*
    `(destructuring-bind ,lambda-list
         ,(if rest `(list* ,@arguments ,rest) `(list ,@arguments))
       (declare (ignorable ,@(remove-if (lambda (word) (member word lambda-list-keywords))
                                        (mapcar (lambda (word) (if (consp word) (car word) word))
                                                lambda-list))))
       ,form)))

(defun rung::%qualifiers-match-p (pattern qualifiers)
  (cond ((eq pattern '*) t)
        ((null pattern) (null qualifiers))
        ((symbolp pattern) (funcall pattern qualifiers))
        ((atom qualifiers) nil)
        (t (and (or (eq (car pattern) '*) (eql (car pattern) (car qualifiers)))
                (or (eq (cdr pattern) '*)
                    (rung::%qualifiers-match-p (or (cdr pattern) nil) (cdr qualifiers)))))))

(defun rung::%method-groups (name groups methods)
  ;; The methods of each group: a list of (patterns order required).
  (let ((found (mapcar (lambda (group) (declare (ignore group)) nil) groups)))
    (dolist (method methods)
      (let ((at (position-if
                 (lambda (group)
                   (some (lambda (pattern)
                           (rung::%qualifiers-match-p pattern (method-qualifiers method)))
                         (first group)))
                 groups)))
        (if at
            (push method (nth at found))
            (error "a method with the qualifiers ~S has no place in the method combination ~(~S~)"
                   (method-qualifiers method) name))))
    (mapcar (lambda (group methods)
              (destructuring-bind (patterns order required) group
                (when (and required (null methods))
                  (error "the method combination ~(~S~) needs a method with the qualifiers ~S"
                         name patterns))
                (if (eq order :most-specific-last) methods (reverse methods))))
            groups found)))

(defun rung::%method-group (specifier)
  ;; The variable of a group, and the form of its description.
  (let ((patterns nil) (parts (cdr specifier)))
    (loop (when (or (null parts) (keywordp (car parts))) (return))
          (push (pop parts) patterns))
    (destructuring-bind (&key description (order :most-specific-first) required) parts
      (declare (ignore description))
      (values (car specifier)
              `(list ',(nreverse patterns) ,order ,required)))))

(defun rung::%long-combination (name lambda-list groups body)
  (let ((arguments nil) (generic (gensym "GENERIC")) (methods (gensym "METHODS"))
        (options (gensym "OPTIONS")) (variables nil) (forms nil) (declarations nil))
    (loop (case (and (consp (car body)) (caar body))
            (:arguments (setq arguments (cdr (pop body))))
            (:generic-function (setq generic (cadr (pop body))))
            (t (return))))
    (loop (cond ((and (stringp (car body)) (cdr body)) (pop body))
                ((and (consp (car body)) (eq (caar body) 'declare))
                 (push (pop body) declarations))
                (t (return))))
    (dolist (group groups)
      (multiple-value-bind (variable form) (rung::%method-group group)
        (push variable variables)
        (push form forms)))
    (multiple-value-bind (names renamed) (rung::%argument-forms arguments)
      (let ((inner `(let ,(mapcar (lambda (name) `(,(first name) ',(second name))) names)
                      (declare (ignorable ,@(mapcar #'first names)))
                      ,@declarations
                      (block ,name ,@body))))
        `(rung::%define-long-combination
          ',name
          (lambda (,generic ,methods ,options)
            (declare (ignorable ,generic))
            (destructuring-bind ,lambda-list ,options
              (destructuring-bind ,(nreverse variables)
                  (rung::%method-groups ',name (list ,@(nreverse forms)) ,methods)
                ,(if arguments
                     `(rung::%with-arguments ',renamed ,inner)
                     inner)))))))))

(defmacro define-method-combination (name &rest options)
  "Defines a method combination by an operator, or by a form that calls methods."
  (if (and options (listp (car options)))
      (rung::%long-combination name (first options) (second options) (cddr options))
      (let ((operator name) (identity nil) (documentation nil))
        (loop (when (null options) (return))
              (let ((key (pop options)) (value (pop options)))
                (case key
                  (:operator (setq operator value))
                  (:identity-with-one-argument (setq identity value))
                  (:documentation (setq documentation value))
                  (t (error "define-method-combination: there is no option ~(~S~)" key)))))
        `(progn (rung::%define-combination ',name ',operator ,identity)
                ,@(if documentation
                      `((setf (documentation ',name 'method-combination) ,documentation))
                      nil)
                ',name))))

(defmacro with-slots (slots instance &body body)
  "Runs the body with variables that stand for slots."
  (let ((object (gensym "INSTANCE")))
    `(let ((,object ,instance))
       (declare (ignorable ,object))
       (symbol-macrolet
           ,(mapcar (lambda (s)
                      (if (consp s)
                          `(,(first s) (slot-value ,object ',(second s)))
                          `(,s (slot-value ,object ',s))))
                    slots)
         ,@body))))

(defmacro with-accessors (slots instance &body body)
  "Runs the body with variables that stand for accessor calls."
  (let ((object (gensym "INSTANCE")))
    `(let ((,object ,instance))
       (declare (ignorable ,object))
       (symbol-macrolet ,(mapcar (lambda (s) `(,(first s) (,(second s) ,object))) slots)
         ,@body))))

(defun make-load-form-saving-slots (object &key (slot-names nil chosen) environment)
  "Two forms: one that makes an object like this one, one that gives it its slots."
  (declare (ignore environment))
  (let ((names (if chosen slot-names (rung:class-slots (class-of object)))))
    (values `(allocate-instance (find-class ',(class-name (class-of object))))
            `(progn
               ,@(mapcan (lambda (n)
                           (if (slot-boundp object n)
                               (list `(setf (slot-value ',object ',n) ',(slot-value object n)))
                               nil))
                         names)))))
