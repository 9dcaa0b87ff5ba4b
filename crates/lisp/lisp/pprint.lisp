;;; The pretty printer's operators, as they are while *print-pretty* is false: prefixes, suffixes and
;;; the elements are written, *print-length* and circular tails are heeded, nothing is laid out.

(defmacro pprint-logical-block ((stream object &key (prefix nil) (per-line-prefix nil) (suffix ""))
                                &body body)
  "Writes prefix, what the body writes, and suffix; pprint-pop in it takes the list's elements."
  (when (and prefix per-line-prefix)
    (error 'program-error))
  (let ((out (case stream
               ((nil) '*standard-output*)
               ((t) '*terminal-io*)
               (t stream)))
        (list (gensym "LIST")) (count (gensym "COUNT")) (done (gensym "DONE")))
    `(let ((,list ,object) (,count 0))
       (declare (ignorable ,count))
       (if (listp ,list)
           (progn
             (write-string (%pprint-text ,(or prefix per-line-prefix "")) ,out)
             (block ,done
               (macrolet ((pprint-pop ()
                            '(progn
                               (when (%pprint-ends ,list ,count ,out) (return-from ,done nil))
                               (incf ,count)
                               (pop ,list)))
                          (pprint-exit-if-list-exhausted ()
                            '(when (null ,list) (return-from ,done nil))))
                 ,@body))
             (write-string (%pprint-text ,suffix) ,out))
           (write ,list :stream ,out))
       nil)))

(defun %pprint-text (text)
  (check-type text string)
  text)

(defun %pprint-ends (list count stream)
  (cond ((not (listp list))
         (write-string ". " stream)
         (write list :stream stream)
         t)
        ((and *print-length* (not *print-readably*) (>= count *print-length*))
         (write-string "..." stream)
         t)
        (t nil)))

(defmacro pprint-pop ()
  "The next element; only inside pprint-logical-block."
  (error 'program-error))

(defmacro pprint-exit-if-list-exhausted ()
  "Leaves pprint-logical-block at the list's end; only inside it."
  (error 'program-error))

(defun %pprint-check (kind kinds)
  (unless (member kind kinds)
    (error 'type-error :datum kind :expected-type (cons 'member kinds))))

(defun pprint-newline (kind &optional stream)
  "Where a line may end; only a mandatory one ends it, while *print-pretty* is true."
  (%pprint-check kind '(:linear :fill :miser :mandatory))
  (when (and *print-pretty* (eq kind :mandatory))
    (terpri (case stream ((nil) *standard-output*) ((t) *terminal-io*) (t stream))))
  nil)

(defun pprint-indent (relative-to n &optional stream)
  "How far lines are indented: nothing is."
  (declare (ignore stream))
  (%pprint-check relative-to '(:block :current))
  (check-type n real)
  nil)

(defun pprint-tab (kind column increment &optional stream)
  "Where text goes on: nothing is moved."
  (declare (ignore stream))
  (%pprint-check kind '(:line :section :line-relative :section-relative))
  (check-type column (integer 0))
  (check-type increment (integer 0))
  nil)

(defun %pprint-elements (stream list parentheses)
  (let ((stream (case stream ((nil) *standard-output*) ((t) *terminal-io*) (t stream))))
    (pprint-logical-block (stream list :prefix (if parentheses "(" "")
                                       :suffix (if parentheses ")" ""))
      (pprint-exit-if-list-exhausted)
      (loop (write (pprint-pop) :stream stream)
            (pprint-exit-if-list-exhausted)
            (write-char #\Space stream)))))

(defun pprint-fill (stream list &optional (parentheses t) at-sign)
  "Writes a list on one line."
  (declare (ignore at-sign))
  (%pprint-elements stream list parentheses))

(defun pprint-linear (stream list &optional (parentheses t) at-sign)
  "Writes a list on one line."
  (declare (ignore at-sign))
  (%pprint-elements stream list parentheses))

(defun pprint-tabular (stream list &optional (parentheses t) at-sign (tab-size 16))
  "Writes a list on one line."
  (declare (ignore at-sign))
  (check-type tab-size (integer 0))
  (%pprint-elements stream list parentheses))

(defmacro formatter (control)
  "A function of a stream and arguments that prints as format does and gives the arguments left."
  (check-type control string)
  (let ((stream (gensym "STREAM")) (arguments (gensym "ARGUMENTS")))
    `(lambda (,stream &rest ,arguments) (rung::%format-rest ,stream ,control ,arguments))))
