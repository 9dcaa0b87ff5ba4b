;;; Systems: a subset of ASDF. A file NAME.asd is loaded like any other, in package ASDF-USER;
;;; defsystem keeps what it is told, and load-system performs load-op on the files of a system and
;;; of those it depends on, each once in a session. There are no compiled files and no times.
;;; A program may specialise perform and define classes of components and operations. Operations are
;;; in asdf-operate.lisp.

(defclass asdf:component ()
  ((name :initarg :name)
   (parent :initarg :parent :initform nil)
   (options :initarg :options :initform nil)
   (needs :initarg :needs :initform nil)))

(defclass asdf:child-component (asdf:component) ())

(defclass asdf:parent-component (asdf:component) ((children :initform nil)))

(defclass asdf:module (asdf:parent-component asdf:child-component) ())

(defclass asdf:system (asdf:module) ((source :initform nil) (state :initform nil)))

(defclass asdf:package-inferred-system (asdf:system) ())

(defclass asdf:source-file (asdf:child-component) ())

(defclass asdf:cl-source-file (asdf:source-file) ())

(defclass asdf:static-file (asdf:source-file) ())

(defclass asdf:doc-file (asdf:static-file) ())

(defclass asdf:html-file (asdf:doc-file) ())

(defclass asdf:operation () ())

(defclass asdf:prepare-op (asdf:operation) ())

(defclass asdf:compile-op (asdf:operation) ())

(defclass asdf:load-op (asdf:operation) ())

(defclass asdf:load-source-op (asdf:operation) ())

(defclass asdf:prepare-source-op (asdf:operation) ())

(defclass asdf:build-op (asdf:operation) ())

(defclass asdf:test-op (asdf:operation) ())

(define-condition asdf:system-definition-error (error) ())

(define-condition asdf:missing-component (asdf:system-definition-error)
  ((requires :initarg :requires :reader asdf::missing-requires)
   (places :initarg :places :initform nil))
  (:report (lambda (condition stream)
             (format stream "system ~S not found~@[; looked in: ~{~A~^, ~}~]"
                     (slot-value condition 'requires) (slot-value condition 'places)))))

(define-condition asdf:missing-dependency (asdf:missing-component) ())

(define-condition asdf:operation-error (error)
  ((component :initarg :component) (operation :initarg :operation))
  (:report (lambda (condition stream)
             (format stream "~A failed on ~S" (slot-value condition 'operation)
                     (asdf:component-name (slot-value condition 'component))))))

(defgeneric asdf:perform (operation component)
  (:documentation "Does an operation to one component; the files of Lisp are loaded.")
  (:method (operation component) (declare (ignore operation component)) nil)
  (:method ((operation asdf:load-op) (component asdf:cl-source-file))
    (load (asdf:component-pathname component)))
  (:method ((operation asdf:load-source-op) (component asdf:cl-source-file))
    (load (asdf:component-pathname component))))

(defgeneric asdf:operation-done-p (operation component)
  (:documentation "Not asked: a component is loaded once in a session.")
  (:method (operation component) (declare (ignore operation component)) nil))

(defgeneric asdf:output-files (operation component)
  (:documentation "The files that an operation makes: none.")
  (:method (operation component) (declare (ignore operation component)) nil))

(defgeneric asdf:input-files (operation component)
  (:documentation "The files that an operation reads.")
  (:method (operation component) (declare (ignore operation))
    (list (asdf:component-pathname component))))

(defgeneric asdf:component-depends-on (operation component)
  (:documentation "What a program adds to the dependencies of a component.")
  (:method (operation component) (declare (ignore operation component)) nil))

(defgeneric asdf:explain (operation component)
  (:documentation "Says nothing.")
  (:method (operation component) (declare (ignore operation component)) nil))

(defgeneric asdf:source-file-type (component system)
  (:documentation "The type of a component's file.")
  (:method (component system) (declare (ignore component system)) "lisp")
  (:method ((component asdf:static-file) system) (declare (ignore system)) nil))

(defgeneric asdf:version-satisfies (component version)
  (:documentation "Whether a component is at least of a version.")
  (:method (component version)
    (let ((own (asdf:component-version component)))
      (or (null own) (null version) (uiop:version<= version own)))))

(defmacro asdf:defsystem (name &body options)
  "Says what a system is made of and what it depends on."
  `(progn
     (asdf::%define-system ',name ',options)
     ,@(asdf::%inline-methods name options)
     (asdf:find-system ',name)))

(defun asdf::%inline-methods (name options)
  ;; The option :perform (operation qualifier... (operation component) form...) as a method.
  (loop for (key value) on options by #'cddr
        when (eq key :perform)
          collect
          (destructuring-bind (operation . rest) value
            (let ((qualifiers (loop until (listp (car rest)) collect (pop rest))))
              (destructuring-bind ((o c) . body) rest
                `(defmethod asdf:perform ,@qualifiers
                   ((,o ,(asdf::%operation-name operation))
                    (,c (eql (asdf:find-system ',name))))
                   (declare (ignorable ,o ,c))
                   ,@body))))))

(defun asdf::%operation-name (name)
  ;; The class of an operation; one that is named in another package is looked up here.
  (cond ((not (symbolp name)) (class-name (class-of name)))
        ((and (not (keywordp name)) (find-class name nil)) name)
        (t (or (find-symbol (symbol-name name) "ASDF")
               (error "there is no operation ~S" name)))))

(defun asdf::%systems ()
  ;; All systems of this session by name.
  (or asdf::*systems* (setq asdf::*systems* (make-hash-table :test 'equal))))

(defun asdf:coerce-name (name)
  "The name of a component or a system as a string."
  (typecase name
    (string name)
    (symbol (string-downcase name))
    (t (asdf:component-name name))))

(defun asdf:primary-system-name (name)
  "The part of a system's name before the first /, which names its file."
  (let ((name (asdf:coerce-name name)))
    (subseq name 0 (position #\/ name))))

(defun asdf:component-name (component)
  "The name of a component."
  (slot-value component 'name))

(defun asdf:component-parent (component)
  "The module or system that a component belongs to."
  (slot-value component 'parent))

(defun asdf:component-children (component)
  "The components of a module or a system."
  (slot-value component 'children))

(defun asdf:component-system (component)
  "The system that a component belongs to."
  (let ((parent (asdf:component-parent component)))
    (if parent (asdf:component-system parent) component)))

(defun asdf:component-loaded-p (name)
  "Whether a system has been loaded."
  (let ((system (gethash (asdf:coerce-name name) (asdf::%systems))))
    (and system (eq (slot-value system 'state) :loaded))))

(defun asdf::%option (component key)
  (getf (slot-value component 'options) key))

(defun asdf:component-version (component)
  "The version of a component as a string, or nil."
  (let ((version (asdf::%option component :version)))
    (if (consp version)
        (let ((file (uiop:subpathname (or (asdf:system-source-directory
                                           (asdf:component-system component))
                                          "")
                                      (cadr version))))
          (ecase (car version)
            (:read-file-form (uiop:read-file-form file :at (or (getf (cddr version) :at) 0)))
            (:read-file-line (uiop:read-file-line file :at (or (getf (cddr version) :at) 0)))))
        version)))

(defun asdf:system-description (system) "What a system is."
  (asdf::%option (asdf:find-system system) :description))

(defun asdf:system-long-description (system) "What a system is, at length."
  (asdf::%option (asdf:find-system system) :long-description))

(defun asdf:system-author (system) "Who wrote a system."
  (asdf::%option (asdf:find-system system) :author))

(defun asdf:system-maintainer (system) "Who keeps a system."
  (asdf::%option (asdf:find-system system) :maintainer))

(defun asdf:system-license (system) "The licence of a system."
  (let ((system (asdf:find-system system)))
    (or (asdf::%option system :license) (asdf::%option system :licence))))

(defun asdf:system-licence (system) "The licence of a system."
  (asdf:system-license system))

(defun asdf:system-homepage (system) "Where a system is at home."
  (asdf::%option (asdf:find-system system) :homepage))

(defun asdf:system-depends-on (system) "The dependencies of a system, as written."
  (asdf::%option (asdf:find-system system) :depends-on))

(defun asdf:system-source-file (system)
  "The file that defines a system, or nil."
  (slot-value (asdf:find-system system) 'source))

(defun asdf:system-source-directory (system)
  "The directory of the file that defines a system, or nil."
  (let ((source (asdf:system-source-file system)))
    (and source (uiop:pathname-directory-pathname source))))

(defun asdf:system-relative-pathname (system name &key type)
  "The pathname of a file of a system."
  (uiop:subpathname (asdf:system-source-directory system) name :type type))

(defun asdf::%base (component)
  ;; The directory, as a string, in which the children of a component are named.
  (let* ((parent (slot-value component 'parent))
         (given (asdf::%option component :pathname))
         (above (cond (parent (asdf::%base parent))
                      ((slot-value component 'source)
                       (directory-namestring (slot-value component 'source)))
                      (t "")))
         (own (cond (given (namestring given))
                    (parent (asdf:component-name component))
                    (t ""))))
    (namestring (uiop:ensure-directory-pathname
                 (if (uiop:absolute-pathname-p own) own (concatenate 'string above own))))))

(defun asdf:component-pathname (component)
  "Where a component is: a directory of a module or system, a file of any other."
  (if (typep component 'asdf:parent-component)
      (pathname (asdf::%base component))
      (let* ((parent (asdf:component-parent component))
             (given (asdf::%option component :pathname))
             (own (if given (namestring given) (asdf:component-name component)))
             (type (asdf:source-file-type component (asdf:component-system component)))
             (typed (or (null type)
                        (and given (string= (or (pathname-type own) "") type)))))
        (pathname (concatenate 'string
                               (if (uiop:absolute-pathname-p own) "" (asdf::%base parent))
                               own (if typed "" ".") (if typed "" type))))))

(defun asdf:component-relative-pathname (component)
  "As component-pathname."
  (asdf:component-pathname component))

(defun asdf::%define-system (name options)
  (dolist (other (getf options :defsystem-depends-on))
    (asdf:load-system (asdf::%dependency other)))
  (let* ((name (asdf:coerce-name name))
         (class (or (getf options :class) 'asdf:system))
         (class (if (find-class class nil) class (find-symbol (string class) "ASDF")))
         (known (gethash name (asdf::%systems)))
         (system (if (and known (eq (class-name (class-of known)) class))
                     known
                     (make-instance class :name name))))
    (setf (gethash name (asdf::%systems)) system
          (slot-value system 'options) options
          (slot-value system 'state) nil
          (slot-value system 'source) *load-truename*)
    (asdf::%add-children system)
    system))

(defun asdf::%component-class (kind)
  (let ((name (symbol-name kind)))
    (flet ((component (class)
             (and class (find-class class nil) (subtypep class 'asdf:component) class)))
      (or (and (eq kind :file) 'asdf:cl-source-file)
          (and (not (keywordp kind)) (component kind))
          (component (find-symbol name *package*))
          (component (find-symbol name "ASDF"))
          (error "there is no class of components ~S" kind)))))

(defun asdf::%add-children (parent)
  (let ((serial (asdf::%option parent :serial)) (before nil) (children nil))
    (dolist (form (asdf::%option parent :components))
      (destructuring-bind (kind name &rest options) form
        (let* ((name (asdf:coerce-name name))
               (child (make-instance (asdf::%component-class kind)
                                     :name name :parent parent :options options
                                     :needs (mapcar #'asdf::%need (getf options :depends-on)))))
          (when serial (setf (slot-value child 'needs) (append (slot-value child 'needs) before)))
          (setq before (list name))
          (when (typep child 'asdf:parent-component) (asdf::%add-children child))
          (push child children))))
    (setf (slot-value parent 'children) (nreverse children))))

(defun asdf::%need (dependency)
  ;; The name of the component that another one of the same module waits for.
  (if (consp dependency)
      (asdf::%dependency dependency)
      (asdf:coerce-name dependency)))

(defun asdf::%dependency (dependency)
  ;; The name of a system that is depended on, or nil where its feature is missing.
  (cond ((atom dependency) (asdf:coerce-name dependency))
        ((eq (car dependency) :feature)
         (and (uiop:featurep (cadr dependency)) (asdf::%dependency (caddr dependency))))
        ((eq (car dependency) :version)
         (let ((name (asdf::%dependency (cadr dependency))))
           (unless (asdf:version-satisfies (asdf:find-system name) (caddr dependency))
             (error "system ~S is not of version ~A" name (caddr dependency)))
           name))
        ((eq (car dependency) :require) (require (cadr dependency)) nil)
        (t (error "~S is no dependency" dependency))))

(defun asdf:find-component (base path)
  "The component of a system that a name or a list of names leads to, or nil."
  (let ((base (if (typep base 'asdf:component) base (and base (asdf:find-system base nil)))))
    (dolist (name (uiop:ensure-list path) base)
      (setq base (and (typep base 'asdf:parent-component)
                      (find (asdf:coerce-name name) (slot-value base 'children)
                            :key #'asdf:component-name :test #'string=))))))

(defun asdf:find-system (name &optional (error t))
  "The system of a name; its file is looked for and loaded if need be."
  (if (typep name 'asdf:component)
      name
      (let ((name (asdf:coerce-name name)))
        (or (gethash name (asdf::%systems))
            (asdf::%own-system name)
            (asdf::%system-from-file name)
            (and error
                 (error 'asdf:missing-component :requires name
                                                :places (asdf::%places)))))))

(defun asdf::%own-system (name)
  ;; What the language itself has.
  (when (member name '("asdf" "uiop" "trivial-gray-streams" "trivial-features") :test #'string=)
    (let ((system (make-instance 'asdf:system :name name :options '(:version "3.3.7"))))
      (setf (slot-value system 'state) :loaded)
      (setf (gethash name (asdf::%systems)) system))))

(defun asdf::%system-from-file (name)
  (let* ((primary (asdf:primary-system-name name))
         (file (asdf::%find-file (concatenate 'string primary ".asd"))))
    (when file (asdf:load-asd file))
    (or (gethash name (asdf::%systems)) (asdf::%inferred-system name primary))))

(defun asdf:load-asd (file &key name)
  "Loads a file that defines systems."
  (declare (ignore name))
  (asdf::%announce)
  (let ((*package* (find-package "ASDF-USER")) (*readtable* (copy-readtable nil)))
    (load (truename file))))

(defun asdf::%announce ()
  ;; What definitions of systems ask for with #+.
  (dolist (feature '(:asdf :asdf2 :asdf3 :asdf3.1 :asdf3.2 :asdf3.3 :little-endian))
    (pushnew feature *features*)))

(defun asdf:asdf-version ()
  "The version of ASDF whose definitions are understood."
  "3.3.7")

(defun asdf::%inferred-system (name primary)
  ;; A file that is a system of its own: its package's dependencies are its own.
  (let ((parent (gethash primary (asdf::%systems))))
    (when (and (typep parent 'asdf:package-inferred-system) (string/= name primary))
      (let ((file (uiop:subpathname (asdf::%base parent) (subseq name (1+ (length primary)))
                                    :type "lisp")))
        (when (probe-file file)
          (let ((system (make-instance 'asdf:package-inferred-system :name name)))
            (setf (gethash name (asdf::%systems)) system
                  (slot-value system 'source) (slot-value parent 'source)
                  (slot-value system 'options)
                  (list :depends-on (asdf::%package-dependencies file)
                        :components (list (list :file "file" :pathname file))))
            (asdf::%add-children system)
            system))))))

(defun asdf::%package-dependencies (file)
  (let ((form (find-if (lambda (form)
                         (and (consp form)
                              (member (car form) '(defpackage uiop:define-package))))
                       (uiop:read-file-forms file))))
    (remove-duplicates
     (loop for option in (cddr form)
           append (mapcar
                   #'asdf:coerce-name
                   (case (car option)
                     ((:use :mix :reexport :use-reexport :mix-reexport) (cdr option))
                     ((:import-from :shadowing-import-from) (list (cadr option)))
                     (:local-nicknames (mapcar #'cadr (cdr option)))))
             into names
           finally (return (remove-if (lambda (name)
                                        (member name '("cl" "common-lisp" "rung" "la" "linalg"
                                                       "uiop" "asdf")
                                                :test #'string=))
                                      names)))
     :test #'string=)))

(defun asdf::%places ()
  ;; The directories where systems are looked for, in order; those whose subdirectories count too
  ;; end in //.
  (flet ((words (text) (remove "" (uiop:split-string text :separator ":") :test #'string=))
         (below (root name) (and root (list (uiop:strcat (string-right-trim "/" root) name)))))
    (let ((home (uiop:getenvp "HOME")))
      (append
       (list (if *load-truename* (directory-namestring *load-truename*) "./"))
       (mapcar (lambda (place) (namestring (uiop:ensure-directory-pathname (eval place))))
               asdf:*central-registry*)
       (words (or asdf::%system-path ""))
       (words (or (uiop:getenvp "RUNG_SOURCE_REGISTRY") ""))
       (words (or (uiop:getenvp "CL_SOURCE_REGISTRY") ""))
       (or (below (uiop:getenvp "XDG_DATA_HOME") "/rung/systems//")
           (below home "/.local/share/rung/systems//"))
       (below home "/common-lisp//")
       (below home "/quicklisp/dists/quicklisp/software//")
       '("/usr/share/common-lisp/systems/" "/usr/share/common-lisp/source//")))))

(defun asdf::%find-file (file)
  (dolist (place (asdf::%places))
    (let* ((tree (uiop:string-suffix-p place "//"))
           (folder (uiop:strcat (string-right-trim "/" place) "/"))
           (found (asdf::%find-below folder file (if tree 3 0))))
      (when found (return found)))))

(defun asdf::%find-below (folder file depth)
  (let ((here (uiop:strcat folder file)))
    (cond ((probe-file here) here)
          ((plusp depth)
           (dolist (each (rung::%entries folder t))
             (unless (char= (char each 0) #\.)
               (let ((found (asdf::%find-below (uiop:strcat folder each "/") file (1- depth))))
                 (when found (return found)))))))))
