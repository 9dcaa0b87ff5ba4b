;;; Systems, the second part: loading them, in the order of their dependencies, and the other
;;; operations. What a system is, and where it is found, is in asdf.lisp.

(defun asdf::%check-circle (component state)
  (when (eq state :loading)
    (error "system ~S depends on itself" (asdf:component-name component))))

(defun asdf::%load-system (system)
  (let ((state (slot-value system 'state)))
    (unless (eq state :loaded)
      (asdf::%check-circle system state)
      (setf (slot-value system 'state) :loading)
      (unwind-protect
           (progn
             (asdf::%load-others system)
             (asdf::%load-children system)
             (asdf::%perform-load system)
             (setf (slot-value system 'state) :loaded))
        (unless (eq (slot-value system 'state) :loaded)
          (setf (slot-value system 'state) nil))))))

(defun asdf::%load-others (system)
  (dolist (dependency (append (asdf::%option system :depends-on)
                              (asdf::%option system :weakly-depends-on)))
    (let* ((name (asdf::%dependency dependency))
           (other (and name (asdf:find-system name nil))))
      (cond (other (asdf::%load-system other))
            ((or (null name) (member dependency (asdf::%option system :weakly-depends-on))) nil)
            (t (restart-case (error 'asdf:missing-dependency :requires name
                                                             :places (asdf::%places))
                 (asdf::retry () :report "Look for it again." (asdf::%load-others system))
                 (skip () :report "Go on without it." nil))))))
  (asdf::%other-operations 'asdf:load-op system))

(defun asdf::%load-children (parent)
  ;; In the order of their dependencies, which by itself is the order of the definition.
  (let ((done nil) (open nil))
    (labels ((visit (child)
               (unless (member child done)
                 (when (member child open)
                   (error "component ~S depends on itself" (asdf:component-name child)))
                 (push child open)
                 (dolist (need (slot-value child 'needs))
                   (let ((other (asdf:find-component parent (list need))))
                     (cond (other (visit other))
                           (need (error "component ~S depends on ~S, which is not there"
                                        (asdf:component-name child) need)))))
                 (push child done)
                 (asdf::%load-component child))))
      (mapc #'visit (slot-value parent 'children)))))

(defun asdf::%load-component (component)
  (let ((condition (asdf::%option component :if-feature)))
    (when (or (null condition) (uiop:featurep condition))
      (when (typep component 'asdf:parent-component)
        (asdf::%load-children component))
      (asdf::%perform-load component))))

(defun asdf::%perform-load (component)
  ;; A file may fail and be tried again, as when it has been mended meanwhile.
  (loop
    (restart-case
        (return
          (let ((rung::*muffle-warnings* t))
            (asdf:perform (make-instance 'asdf:compile-op) component)
            (asdf:perform (make-instance 'asdf:load-op) component)))
      (asdf::retry ()
        :report (lambda (stream)
                  (format stream "Load ~S again." (asdf:component-name component)))
        nil)
      (asdf::accept ()
        :report (lambda (stream)
                  (format stream "Go on as if ~S had been loaded."
                          (asdf:component-name component)))
        (return nil)))))

(defun asdf::%other-operations (operation system)
  ;; What :in-order-to asks for before an operation.
  (loop for (key . steps) in (asdf::%option system :in-order-to)
        when (eq (asdf::%operation-name key) operation)
          do (loop for (step . names) in steps
                   do (dolist (name names)
                        (let ((name (asdf::%dependency name)))
                          (when name (asdf:operate (asdf::%operation-name step) name)))))))

(defun asdf:operate (operation component &key force verbose version &allow-other-keys)
  "Does an operation to a system, after those it needs."
  (declare (ignore verbose))
  (let* ((name (asdf::%operation-name operation))
         (system (asdf:find-system component))
         (operation (if (symbolp operation) (make-instance name) operation)))
    (when (and version (not (asdf:version-satisfies system version)))
      (error "system ~S is not of version ~A" (asdf:component-name system) version))
    (when (and force (typep system 'asdf:system) (slot-value system 'source))
      (setf (slot-value system 'state) nil))
    (asdf::%load-system system)
    (unless (member name '(asdf:load-op asdf:compile-op asdf:load-source-op asdf:build-op))
      (asdf::%other-operations name system)
      (asdf:perform operation system))
    operation))

(defun asdf:oos (operation component &rest keys)
  "As operate."
  (apply #'asdf:operate operation component keys))

(defun asdf:load-system (system &rest keys &key force verbose version &allow-other-keys)
  "Loads a system and what it depends on, once in a session."
  (declare (ignore force verbose version))
  (apply #'asdf:operate 'asdf:load-op system keys)
  t)

(defun asdf:load-systems (&rest systems)
  "Loads systems."
  (mapc #'asdf:load-system systems)
  t)

(defun asdf:make (system &rest keys)
  "As load-system."
  (apply #'asdf:load-system system keys))

(defun asdf:compile-system (system &rest keys)
  "As load-system: there are no compiled files."
  (apply #'asdf:load-system system keys))

(defun asdf:require-system (system &rest keys)
  "As load-system."
  (apply #'asdf:load-system system keys))

(defun asdf:test-system (system &rest keys)
  "Loads a system and runs its tests."
  (apply #'asdf:operate 'asdf:test-op system keys)
  t)

(defun asdf:registered-systems ()
  "The names of the systems that are defined."
  (loop for name being the hash-keys of (asdf::%systems) collect name))

(defun asdf:already-loaded-systems ()
  "The names of the systems that are loaded."
  (remove-if-not #'asdf:component-loaded-p (asdf:registered-systems)))

(defun asdf:registered-system (name)
  "The system of a name if it is defined, else nil."
  (gethash (asdf:coerce-name name) (asdf::%systems)))

(defun asdf:clear-system (name)
  "Forgets a system."
  (remhash (asdf:coerce-name name) (asdf::%systems)))

(defun asdf:initialize-source-registry (&optional parameter)
  "Adds the directories and trees of a source registry to the places where systems are looked for."
  (when (consp parameter)
    (dolist (entry (cdr parameter))
      (when (and (consp entry) (member (car entry) '(:directory :tree)))
        (let ((folder (namestring (uiop:ensure-directory-pathname (cadr entry)))))
          (setq asdf::%system-path
                (uiop:strcat asdf::%system-path ":" folder
                             (if (eq (car entry) :tree) "/" "")))))))
  nil)

(defun asdf:clear-configuration ()
  "Does nothing."
  nil)

(defun asdf::%require (name)
  ;; What require does with a name that is no file beside the program.
  (if (member name '("asdf" "uiop") :test #'string=)
      (asdf::%announce)
      (asdf:load-system name)))

(defun ql:quickload (systems &key silent verbose prompt explain)
  "Loads systems that are on the disk; nothing is downloaded."
  (declare (ignore silent verbose prompt explain))
  (let ((systems (uiop:ensure-list systems)))
    (mapc #'asdf:load-system systems)
    systems))
