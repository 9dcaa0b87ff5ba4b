;;; The part of UIOP that programs and system definitions use. Files by name, words of strings, and
;;; the small macros. What asks the operating system is in Rust.

(defun uiop:symbol-call (package name &rest arguments)
  "Calls the function of a name that is looked up in a package now."
  (apply (uiop:find-symbol* name package) arguments))

(defun uiop:find-symbol* (name package &optional (error t))
  "The symbol of a name in a package; an error unless the third argument is nil."
  (let ((found (find-package package)))
    (if found
        (multiple-value-bind (symbol status) (find-symbol (string name) found)
          (if (or status (not error))
              (values symbol status)
              (error "there is no symbol ~A in package ~A" name (package-name found))))
        (if error (error "there is no package named ~A" package) (values nil nil)))))

(defun uiop:featurep (expression &optional (features *features*))
  "Whether a feature expression, as after #+, holds."
  (cond ((atom expression) (and (member expression features) t))
        ((string= (car expression) "NOT") (not (uiop:featurep (cadr expression) features)))
        ((string= (car expression) "AND")
         (every (lambda (part) (uiop:featurep part features)) (cdr expression)))
        ((string= (car expression) "OR")
         (some (lambda (part) (uiop:featurep part features)) (cdr expression)))
        (t (error "~S is no feature expression" expression))))

(defun uiop:emptyp (thing)
  "Whether it is nil or a sequence without elements."
  (or (null thing) (and (vectorp thing) (zerop (length thing)))))

(defun uiop:first-char (string)
  "The first character of a string, or nil."
  (and (stringp string) (plusp (length string)) (char string 0)))

(defun uiop:last-char (string)
  "The last character of a string, or nil."
  (and (stringp string) (plusp (length string)) (char string (1- (length string)))))

(defun uiop:strcat (&rest strings)
  "The strings joined; nil stands for no characters."
  (uiop:reduce/strcat strings))

(defun uiop:reduce/strcat (strings &key key start end)
  "The elements of a list joined to a string: strings, characters, nil."
  (apply #'concatenate 'string
         (mapcar (lambda (part)
                   (let ((part (if key (funcall key part) part)))
                     (if (characterp part) (string part) part)))
                 (subseq strings (or start 0) end))))

(defun uiop:string-prefix-p (prefix string)
  "Whether a string begins with a prefix."
  (let ((prefix (string prefix)) (string (string string)))
    (and (<= (length prefix) (length string))
         (string= prefix string :end2 (length prefix)))))

(defun uiop:string-suffix-p (string suffix)
  "Whether a string ends with a suffix."
  (let* ((suffix (string suffix)) (string (string string))
         (start (- (length string) (length suffix))))
    (and (<= 0 start) (string= string suffix :start1 start))))

(defun uiop:split-string (string &key max (separator '(#\Space #\Tab)))
  "The words of a string between separators, from the left; at most `max`, the rest in the first."
  (let ((words nil) (end (length string)))
    (loop
      (let ((start (if (and max (>= (1+ (length words)) max))
                       nil
                       (position-if (lambda (c) (find c (if (characterp separator)
                                                            (list separator)
                                                            separator)))
                                    string :end end :from-end t))))
        (when (null start)
          (return (cons (subseq string 0 end) words)))
        (push (subseq string (1+ start) end) words)
        (setq end start)))))

(defun uiop:println (thing &optional (stream *standard-output*))
  "Prints a thing for a reader, and ends the line."
  (princ thing stream)
  (terpri stream)
  (values))

(defun uiop:print-condition-backtrace (condition &key (stream *error-output*) count)
  "Prints the report of a condition and the functions that are open."
  (declare (ignorable count))
  (format stream "~&~A~%" condition))

(defmacro uiop:nest (&rest forms)
  "Each form becomes the last part of the one before it."
  (reduce (lambda (outer inner) (append outer (list inner))) forms :from-end t))

(defmacro uiop:while-collecting (collectors &body body)
  "Runs the body with local functions that collect; the lists are the values."
  (let ((lists (mapcar (lambda (c) (gensym (string (if (consp c) (car c) c)))) collectors)))
    `(let ,lists
       (flet ,(mapcar (lambda (c list)
                        `(,(if (consp c) (car c) c) (item) (push item ,list)))
               collectors lists)
         ,@body
         (values ,@(mapcar (lambda (list) `(reverse ,list)) lists))))))

(defmacro uiop:if-let (bindings &optional then else)
  "Binds variables; the first form when all are true, else the second."
  (let ((bindings (if (and (consp bindings) (symbolp (car bindings))) (list bindings) bindings)))
    `(let ,bindings
       (if (and ,@(mapcar #'car bindings)) ,then ,else))))

(defmacro uiop:with-upgradability (options &body body)
  "The body: there is nothing to upgrade."
  (declare (ignore options))
  `(progn ,@body))

(defmacro uiop:define-package (name &rest options)
  "defpackage with :mix, :reexport, :use-reexport and :mix-reexport."
  (let ((clauses nil) (again nil))
    (dolist (option options)
      (case (car option)
        (:mix (push `(:use ,@(cdr option)) clauses))
        ((:use-reexport :mix-reexport)
         (push `(:use ,@(cdr option)) clauses)
         (setq again (append again (cdr option))))
        (:reexport (setq again (append again (cdr option))))
        ((:recycle :unintern) nil)
        (t (push option clauses))))
    `(progn
       (defpackage ,name ,@(nreverse clauses))
       ,@(mapcar (lambda (other) `(uiop::%reexport ',other ',name)) again)
       (find-package ',(string name)))))

(defun uiop::%reexport (other package)
  (do-external-symbols (symbol other)
    (import (list symbol) (string package))
    (export (list symbol) (string package))))

(defun uiop:ensure-list (thing)
  "The thing if it is a list, else a list of it."
  (if (listp thing) thing (list thing)))

(defun uiop:ensure-function (thing &key (package "CL"))
  "A function from a function, a name, a lambda form or a text of one."
  (etypecase thing
    (function thing)
    (symbol (fdefinition thing))
    (cons (if (eq (car thing) 'lambda) (coerce thing 'function) (fdefinition thing)))
    (string (let ((*package* (find-package package)))
              (uiop:ensure-function (read-from-string thing))))))

(defun uiop:call-function (thing &rest arguments)
  "Calls what ensure-function makes of a thing."
  (apply (uiop:ensure-function thing) arguments))

(defun uiop:parse-version (version &optional on-error)
  "The numbers of a version like 1.0.12, or nil."
  (declare (ignore on-error))
  (and (stringp version)
       (plusp (length version))
       (every (lambda (c) (or (digit-char-p c) (char= c #\.))) version)
       (mapcar (lambda (part) (or (parse-integer part :junk-allowed t) 0))
               (uiop:split-string version :separator "."))))

(defun uiop:version< (first second)
  "Whether a version is before another."
  (do ((a (uiop:parse-version first) (cdr a)) (b (uiop:parse-version second) (cdr b)))
      ((or (null a) (null b)) (and b (null a) t))
    (cond ((< (car a) (car b)) (return t))
          ((> (car a) (car b)) (return nil)))))

(defun uiop:version<= (first second)
  "Whether a version is another or before it."
  (not (uiop:version< second first)))

(defun uiop:native-namestring (path)
  "A pathname as the system writes it."
  (namestring path))

(defun uiop:ensure-directory-pathname (path &optional on-error)
  "The pathname with a / at its end."
  (declare (ignore on-error))
  (let ((name (namestring path)))
    (pathname (if (or (string= name "") (eql (uiop:last-char name) #\/))
                  name
                  (concatenate 'string name "/")))))

(defun uiop:directory-pathname-p (path)
  "Whether a pathname has neither a name nor a type."
  (and path (null (pathname-name path)) (null (pathname-type path)) t))

(defun uiop:pathname-directory-pathname (path)
  "The directory of a pathname."
  (pathname (directory-namestring path)))

(defun uiop:pathname-parent-directory-pathname (path)
  "The directory above that of a pathname."
  (let ((folders (pathname-directory path)))
    (make-pathname :directory (if (cddr folders) (butlast folders) (list (or (car folders) :relative) :up)))))

(defun uiop:absolute-pathname-p (path)
  "Whether a pathname begins at the root."
  (eq (car (pathname-directory path)) :absolute))

(defun uiop:merge-pathnames* (path &optional (defaults *default-pathname-defaults*))
  "As merge-pathnames; nil is the defaults."
  (if path (merge-pathnames path defaults) (pathname defaults)))

(defun uiop:subpathname (path below &key type)
  "The pathname of a file named from a directory."
  (let ((name (namestring below)))
    (pathname (concatenate 'string (directory-namestring path) name
                           (if type "." "") (or type "")))))

(defun uiop:subpathname* (path below &key type)
  "As subpathname; nil when there is no directory."
  (and path (uiop:subpathname path below :type type)))

(defun uiop:file-exists-p (path)
  "The pathname of a file that exists and is no directory, or nil."
  (and path (probe-file path) (not (rung::%directory-p path)) (truename path)))

(defun uiop:directory-exists-p (path)
  "The pathname of a directory that exists, or nil."
  (and path (rung::%directory-p path) (truename (uiop:ensure-directory-pathname path))))

(defun uiop:probe-file* (path &key truename)
  "The pathname of a file that exists, or nil."
  (and path (probe-file path) (if truename (truename path) (pathname path))))

(defun uiop:directory-files (directory &optional pattern)
  "The pathnames of the files in a directory."
  (declare (ignore pattern))
  (let ((folder (namestring (uiop:ensure-directory-pathname directory))))
    (loop for name in (rung::%entries folder nil)
          for path = (concatenate 'string folder name)
          unless (rung::%directory-p path) collect (pathname path))))

(defun uiop:subdirectories (directory)
  "The pathnames of the directories in a directory."
  (let ((folder (namestring (uiop:ensure-directory-pathname directory))))
    (mapcar (lambda (name) (pathname (concatenate 'string folder name "/")))
            (rung::%entries folder t))))

(defun uiop:delete-file-if-exists (path)
  "Removes a file if there is one."
  (and path (probe-file path) (delete-file path)))

(defun uiop:read-file-form (path &key (at 0))
  "One of the forms of a file, the first if no number is given."
  (with-open-file (in path)
    (dotimes (i at) (read in))
    (read in)))

(defun uiop:read-file-forms (path &key count)
  "The forms of a file as a list."
  (with-open-file (in path)
    (loop for form = (read in nil in)
          until (or (eq form in) (and count (minusp (decf count))))
          collect form)))

(defun uiop:read-file-line (path &key (at 0))
  "One of the lines of a file, the first if no number is given."
  (nth at (uiop:read-file-lines path)))

(defun uiop:slurp-stream-string (stream)
  "What is left of a stream, as a string."
  (with-output-to-string (out)
    (loop for c = (read-char stream nil nil) while c do (write-char c out))))

(defmacro uiop:with-input-file ((variable path &rest keys) &body body)
  "Runs the body with a file that is read."
  `(with-open-file (,variable ,path :direction :input ,@keys) ,@body))

(defmacro uiop:with-output-file ((variable path &rest keys) &body body)
  "Runs the body with a file that is written."
  `(with-open-file (,variable ,path :direction :output ,@keys) ,@body))

(defmacro uiop:with-temporary-file ((&key (stream nil given) (pathname (gensym "PATH") named)
                                          (prefix "tmp") (type "tmp") keep
                                          (direction :io) element-type external-format
                                          directory suffix)
                                    &body body)
  "Runs the body with a new file, which is removed afterwards unless it is to be kept."
  (declare (ignore named direction external-format directory suffix))
  `(let ((,pathname (uiop::%temporary-name ,prefix ,type)))
     (unwind-protect
          ,(if given
               `(with-open-file (,stream ,pathname :direction :output :if-exists :supersede
                                         ,@(if element-type `(:element-type ,element-type)))
                  ,@body)
               `(progn (close (open ,pathname :direction :output :if-exists :supersede))
                       ,@body))
       (unless ,keep (uiop:delete-file-if-exists ,pathname)))))

(defun uiop::%temporary-name (prefix type)
  (let ((folder (namestring (uiop:temporary-directory))))
    (loop for number from (mod (rung:nanoseconds) 1000000)
          for path = (format nil "~A~A~36R.~A" folder prefix number type)
          unless (probe-file path) return (pathname path))))

(defun uiop:temporary-directory ()
  "Where temporary files go."
  (uiop:ensure-directory-pathname (or (uiop:getenv "TMPDIR") "/tmp/")))

(defun uiop:getenvp (name)
  "An environment variable that is not empty, or nil."
  (let ((value (uiop:getenv name))) (and (plusp (length value)) value)))

(defun uiop:raw-command-line-arguments ()
  "The command and its arguments."
  (cons "rung" (uiop:command-line-arguments)))

(defun uiop:implementation-type ()
  "The name of this Lisp."
  :rung)

(defun uiop:os-unix-p ()
  "Whether the system is a Unix."
  (uiop:featurep :unix))

(defun uiop:os-windows-p ()
  "Whether the system is Windows."
  (uiop:featurep :windows))
