;;; Sequences in and out of streams, and the parts of pathnames.

(defun %sequence-end (name sequence start end)
  (check-type sequence (or sequence array))
  (let* ((length (if (vectorp sequence)
                     (length sequence)
                     (if (arrayp sequence) (array-total-size sequence) (length sequence))))
         (end (or end length)))
    (unless (and (typep start 'unsigned-byte) (typep end 'unsigned-byte) (<= start end length))
      (error 'type-error :datum (if (typep start `(integer 0 ,length)) end start)
                         :expected-type `(integer 0 ,length)))
    (values end name)))

(defun %binary-stream-p (stream)
  (not (subtypep (stream-element-type stream) 'character)))

(defun read-sequence (sequence stream &key (start 0) end)
  "Puts elements of a stream into a sequence; the index of the first that was not changed."
  (let ((end (%sequence-end 'read-sequence sequence start end)))
    (if (rung::%own-stream-p stream)
        (trivial-gray-streams:stream-read-sequence stream sequence start end)
        (or (rung::%read-bulk sequence stream start end)
            (rung::%read-elements sequence stream start end)))))

(defun rung::%read-elements (sequence stream start end)
  (let ((read (if (%binary-stream-p stream) #'read-byte #'read-char))
        (at start))
    (if (listp sequence)
        (let ((rest (nthcdr start sequence)))
          (loop (when (>= at end) (return at))
                (let ((element (funcall read stream nil nil)))
                  (when (null element) (return at))
                  (setf (car rest) element rest (cdr rest)))
                (incf at)))
        (loop (when (>= at end) (return at))
              (let ((element (funcall read stream nil nil)))
                (when (null element) (return at))
                (setf (row-major-aref sequence at) element))
              (incf at)))))

(defun write-sequence (sequence stream &key (start 0) end)
  "Writes the elements of a sequence to a stream."
  (let ((end (%sequence-end 'write-sequence sequence start end)))
    (if (rung::%own-stream-p stream)
        (trivial-gray-streams:stream-write-sequence stream sequence start end)
        (or (rung::%write-bulk sequence stream start end)
            (rung::%write-elements sequence stream start end)))
    sequence))

(defun rung::%write-elements (sequence stream start end)
  (if (stringp sequence)
      (write-string sequence stream :start start :end end)
      (let ((write (if (%binary-stream-p stream) #'write-byte #'write-char)))
        (if (listp sequence)
            (let ((rest (nthcdr start sequence)))
              (dotimes (i (- end start))
                (funcall write (pop rest) stream)))
            (do ((i start (1+ i)))
                ((>= i end))
              (funcall write (row-major-aref sequence i) stream)))))
  sequence)

(defun make-pathname (&key host device (directory nil directory-given) (name nil name-given)
                        (type nil type-given) version (defaults nil) case)
  "A pathname of these parts; what is not given is taken from the defaults."
  (declare (ignore host device version case))
  (let* ((old (and defaults (pathname defaults)))
         (directory (if (and directory-given (stringp directory))
                        (list :absolute directory)
                        directory))
         (directory (cond ((eq directory :wild) '(:absolute :wild-inferiors))
                          ((not directory-given) (and old (pathname-directory old)))
                          (t directory)))
         (name (if (or name-given (null old)) name (pathname-name old)))
         (type (if (or type-given (null old)) type (pathname-type old))))
    (%join-pathname directory name type)))

(defun %join-pathname (directory name type)
  (flet ((part (part)
           (case part
             (:wild "*")
             (:wild-inferiors "**")
             ((:up :back) "..")
             (t (check-type part string) part))))
    (pathname
     (with-output-to-string (out)
       (when directory
         (unless (member (car directory) '(:absolute :relative))
           (error 'type-error :datum directory :expected-type '(cons (member :absolute :relative))))
         (when (eq (car directory) :absolute) (write-string "/" out))
         (dolist (folder (cdr directory))
           (write-string (part folder) out)
           (write-string "/" out)))
       (when (and name (not (eq name :unspecific))) (write-string (part name) out))
       (when (and type (not (eq type :unspecific)))
         (write-string "." out)
         (write-string (part type) out))))))

(defun pathname-host (pathname &key case)
  "There are no hosts: nil."
  (declare (ignore case))
  (pathname pathname)
  nil)

(defun pathname-device (pathname &key case)
  "There are no devices: nil."
  (declare (ignore case))
  (pathname pathname)
  nil)

(defun pathname-version (pathname)
  "There are no versions: nil."
  (pathname pathname)
  nil)

(defun host-namestring (pathname)
  "There are no hosts: the empty string."
  (pathname pathname)
  "")

(defun parse-namestring (thing &optional host default &key (start 0) end junk-allowed)
  "A pathname from a string, and where parsing ended."
  (declare (ignore host default junk-allowed))
  (if (stringp thing)
      (let ((end (or end (length thing))))
        (values (pathname (subseq thing start end)) end))
      (values (pathname thing) start)))

(defun enough-namestring (pathname &optional (defaults *default-pathname-defaults*))
  "The shortest string that names the same file when it is merged with the defaults."
  (let ((name (namestring pathname)) (folder (directory-namestring defaults)))
    (if (and (plusp (length folder)) (>= (length name) (length folder))
             (string= folder name :end2 (length folder)))
        (subseq name (length folder))
        name)))

(defun user-homedir-pathname (&optional host)
  "The directory of the user."
  (declare (ignore host))
  (let ((home (uiop:getenv "HOME")))
    (and home (pathname (if (and (plusp (length home))
                                 (char= (char home (1- (length home))) #\/))
                            home
                            (concatenate 'string home "/"))))))

(defun %wild-text-p (part)
  (or (member part '(:wild :wild-inferiors))
      (and (stringp part) (or (find #\* part) (find #\? part)))))

(defun wild-pathname-p (pathname &optional field)
  "Whether a pathname, or the part named, has a * or ? in it."
  (flet ((wild (field)
           (case field
             (:directory (some #'%wild-text-p (pathname-directory pathname)))
             (:name (%wild-text-p (pathname-name pathname)))
             (:type (%wild-text-p (pathname-type pathname)))
             ((:host :device :version) nil)
             (t (error 'type-error
                       :datum field
                       :expected-type '(member :host :device :directory :name :type
                                        :version nil))))))
    (and (if field (wild field) (or (wild :directory) (wild :name) (wild :type))) t)))

(defun %text-matches-p (pattern text)
  (labels ((match (p i)
             (cond ((= p (length pattern)) (= i (length text)))
                   ((char= (char pattern p) #\*)
                    (do ((at i (1+ at)))
                        ((> at (length text)) nil)
                      (when (match (1+ p) at) (return t))))
                   ((= i (length text)) nil)
                   ((or (char= (char pattern p) #\?) (char= (char pattern p) (char text i)))
                    (match (1+ p) (1+ i)))
                   (t nil))))
    (match 0 0)))

(defun %part-matches-p (pattern part)
  (cond ((member pattern '(nil :wild)) t)
        ((and (stringp pattern) (stringp part)) (%text-matches-p pattern part))
        ((eq part :wild) (equal pattern "*"))
        (t (equal pattern part))))

(defun %folders-match-p (patterns folders)
  (cond ((null patterns) (null folders))
        ((eq (car patterns) :wild-inferiors)
         (or (%folders-match-p (cdr patterns) folders)
             (and folders (%folders-match-p patterns (cdr folders)))))
        ((null folders) nil)
        (t (and (%part-matches-p (car patterns) (car folders))
                (%folders-match-p (cdr patterns) (cdr folders))))))

(defun pathname-match-p (pathname wildcard)
  "Whether a pathname fits a wild one."
  (let ((folders (pathname-directory wildcard)))
    (and (or (null folders) (%folders-match-p folders (pathname-directory pathname)))
         (%part-matches-p (pathname-name wildcard) (pathname-name pathname))
         (%part-matches-p (pathname-type wildcard) (pathname-type pathname))
         t)))

(defun compile-file-pathname (input &key output-file)
  "Files are loaded from their source: the pathname itself, or the output file."
  (pathname (or output-file input)))

(defun directory (pathspec &key)
  "The pathnames of the files that fit: * stands for any name, ** for any directories."
  (let* ((path (merge-pathnames pathspec))
         (folders (pathname-directory path))
         (name (pathname-name path)) (type (pathname-type path))
         (found nil))
    (labels ((walk (folder patterns)
               (cond ((null patterns) (files folder))
                     ((eq (car patterns) :wild-inferiors)
                      (walk folder (cdr patterns))
                      (dolist (each (rung::%entries folder t))
                        (walk (concatenate 'string folder each "/") patterns)))
                     ((%wild-text-p (car patterns))
                      (dolist (each (rung::%entries folder t))
                        (when (%part-matches-p (car patterns) each)
                          (walk (concatenate 'string folder each "/") (cdr patterns)))))
                     (t (walk (concatenate 'string folder
                                           (case (car patterns)
                                             ((:up :back) "..")
                                             (t (car patterns)))
                                           "/")
                              (cdr patterns)))))
             (files (folder)
               (cond ((and (null name) (null type))
                      (when (probe-file folder) (push (truename folder) found)))
                     (t (dolist (each (rung::%entries folder nil))
                          (let ((file (pathname each)))
                            (when (and (%part-matches-p name (pathname-name file))
                                       (if type
                                           (%part-matches-p type (pathname-type file))
                                           (null (pathname-type file))))
                              (push (truename (concatenate 'string folder each)) found))))))))
      (walk (if (eq (car folders) :absolute) "/" "") (cdr folders)))
    (remove-duplicates (nreverse found) :test #'equal)))

(defun translate-pathname (source from to &key)
  "The pathname that a wild one stands for, with what another wild one has matched in the source."
  (unless (pathname-match-p source from)
    (error "translate-pathname: ~A does not match ~A" source from))
  (let ((source (pathname source)) (from (pathname from)) (to (pathname to)))
    (%join-pathname
     (or (%translate-folders (pathname-directory to)
                             (%matched-folders (pathname-directory from)
                                               (pathname-directory source)))
         (pathname-directory source))
     (%translate-part (pathname-name to) (pathname-name from) (pathname-name source))
     (%translate-part (pathname-type to) (pathname-type from) (pathname-type source)))))

(defun %matched-folders (patterns folders)
  ;; What each wild pattern has matched: a list of folders for **, a text for others.
  (cond ((null patterns) nil)
        ((eq (car patterns) :wild-inferiors)
         (do ((rest folders (cdr rest)))
             ((%folders-match-p (cdr patterns) rest)
              (cons (ldiff folders rest) (%matched-folders (cdr patterns) rest)))))
        ((%wild-text-p (car patterns))
         (cons (%translate-part :wild (car patterns) (car folders))
               (%matched-folders (cdr patterns) (cdr folders))))
        (t (%matched-folders (cdr patterns) (cdr folders)))))

(defun %translate-folders (patterns matches)
  (mapcan (lambda (pattern)
            (cond ((eq pattern :wild-inferiors)
                   (let ((match (pop matches))) (if (listp match) (copy-list match) (list match))))
                  ((%wild-text-p pattern) (list (%translate-part pattern :wild (pop matches))))
                  (t (list pattern))))
          patterns))

(defun %translate-part (to from source)
  (flet ((around (pattern) (position #\* pattern)))
    (let* ((star (and (stringp from) (around from)))
           (match (if star
                      (subseq source star (- (length source) (- (length from) star 1)))
                      source)))
      (cond ((member to '(nil :wild)) (if (and star (eq to :wild)) source (if (null to) source match)))
            ((around to)
             (concatenate 'string (subseq to 0 (around to)) match (subseq to (1+ (around to)))))
            (t to)))))
