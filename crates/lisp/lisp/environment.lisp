;;; Time, questions, iterators over tables and packages, and what is known of the machine.

(defun %leap-year-p (year)
  (and (zerop (mod year 4)) (or (plusp (mod year 100)) (zerop (mod year 400)))))

(defun %month-days (month year)
  (if (and (= month 2) (%leap-year-p year))
      29
      (svref #(31 28 31 30 31 30 31 31 30 31 30 31) (1- month))))

(defun %days-before-year (year)
  (let ((before (1- year)))
    ;; Days since the first of January 1900, by the calendar of Gregory.
    (- (+ (* 365 (- year 1900)) (floor before 4) (- (floor before 100)) (floor before 400)) 460)))

(defun decode-universal-time (time &optional (zone 0))
  "Second, minute, hour, date, month, year, day of the week (Monday is 0), whether daylight saving
time holds, and the zone in hours west of Greenwich, which is 0 unless given."
  (check-type time (integer 0))
  (check-type zone (rational -24 24))
  (multiple-value-bind (days seconds) (floor (- time (* zone 3600)) 86400)
    (let ((year (+ 1900 (floor days 366))) (month 1))
      (loop (when (< days (%days-before-year (1+ year))) (return))
            (incf year))
      (let ((date (- days (%days-before-year year))))
        (loop (when (< date (%month-days month year)) (return))
              (decf date (%month-days month year))
              (incf month))
        (multiple-value-bind (minutes second) (floor seconds 60)
          (multiple-value-bind (hour minute) (floor minutes 60)
            (values second minute hour (1+ date) month year (mod days 7) nil zone)))))))

(defun get-decoded-time ()
  "The present time, decoded."
  (decode-universal-time (get-universal-time)))

(defun encode-universal-time (second minute hour date month year &optional (zone 0))
  "Seconds since the beginning of 1900. A year below 100 is the one within 50 years of now."
  (check-type second (integer 0 59))
  (check-type minute (integer 0 59))
  (check-type hour (integer 0 23))
  (check-type month (integer 1 12))
  (check-type year (integer 0))
  (check-type zone (rational -24 24))
  (let ((year (if (< year 100)
                  (let* ((now (nth-value 5 (get-decoded-time)))
                         (guess (+ year (* 100 (floor now 100)))))
                    (cond ((>= (- guess now) 50) (- guess 100))
                          ((< (- guess now) -50) (+ guess 100))
                          (t guess)))
                  year)))
    (unless (typep date `(integer 1 ,(%month-days month year)))
      (error 'type-error :datum date :expected-type `(integer 1 ,(%month-days month year))))
    (let ((days (+ (%days-before-year year) (1- date))))
      (dotimes (m (1- month)) (incf days (%month-days (1+ m) year)))
      (+ second (* 60 (+ minute (* 60 (+ hour zone (* 24 days)))))))))

(defun %ask (control arguments answers hint)
  (fresh-line *query-io*)
  (when control (apply #'format *query-io* control arguments))
  (loop (format *query-io* " (~A) " hint)
        (finish-output *query-io*)
        (let* ((line (string-trim '(#\Space #\Tab) (read-line *query-io*)))
               (answer (assoc line answers :test #'string-equal)))
          (when answer (return (cdr answer)))
          (format *query-io* "Please answer with ~A." hint))))

(defun y-or-n-p (&optional control &rest arguments)
  "Asks for y or n."
  (%ask control arguments '(("y" . t) ("n" . nil) ("yes" . t) ("no" . nil)) "y or n"))

(defun yes-or-no-p (&optional control &rest arguments)
  "Asks for yes or no."
  (%ask control arguments '(("yes" . t) ("no" . nil)) "yes or no"))

(defmacro with-compilation-unit (options &body body)
  "Runs the body."
  `(progn ,@options ,@body))

(defmacro with-hash-table-iterator ((name table) &body body)
  "Runs the body, in which each call of the name gives t, a key and its value, at the end nil."
  (let ((rest (gensym "REST")) (entry (gensym "ENTRY")))
    `(let ((,rest (%hash-table-entries ,table)))
       (macrolet ((,name ()
                    '(if ,rest
                         (let ((,entry (pop ,rest))) (values t (car ,entry) (cdr ,entry)))
                         nil)))
         ,@body))))

(defun %hash-table-entries (table)
  (let ((entries nil))
    (maphash (lambda (key value) (push (cons key value) entries)) table)
    (nreverse entries)))

(defmacro with-package-iterator ((name packages &rest accessibilities) &body body)
  "Runs the body, in which each call of the name gives t, a symbol, how it is accessible and the
package, at the end nil."
  (unless accessibilities
    (error 'program-error))
  (dolist (accessibility accessibilities)
    (unless (member accessibility '(:internal :external :inherited))
      (error 'program-error)))
  (let ((rest (gensym "REST")))
    `(let ((,rest (%package-entries ,packages ',accessibilities)))
       (macrolet ((,name () '(if ,rest (values-list (cons t (pop ,rest))) nil)))
         ,@body))))

(defun %package-entries (packages accessibilities)
  (let ((entries nil))
    (dolist (package (if (listp packages) packages (list packages)) (nreverse entries))
      (let ((package (or (find-package package)
                         (error 'package-error :package package))))
        (do-symbols (symbol package)
          (let ((status (nth-value 1 (find-symbol (symbol-name symbol) package))))
            (when (member status accessibilities)
              (push (list symbol status package) entries))))))))

(defun gentemp (&optional (prefix "T") (package *package*))
  "A new symbol of a package."
  (let ((number 0))
    (loop (let ((name (format nil "~A~D" prefix number)))
            (unless (nth-value 1 (find-symbol name package))
              (return (values (intern name package))))
            (incf number)))))

(defun function-lambda-expression (function)
  "No source is kept: nil, t, and the name of the function."
  (check-type function function)
  (values nil t (rung::%function-name function)))

(defun hash-table-rehash-size (table)
  "How much a table grows by: it doubles."
  (check-type table hash-table)
  2.0)

(defun hash-table-rehash-threshold (table)
  "How full a table gets before it grows."
  (check-type table hash-table)
  1.0)

(defun machine-instance ()
  "The name of the machine, if it is known."
  (let ((file (probe-file "/etc/hostname")))
    (and file (with-open-file (in file) (values (read-line in nil))))))

(defun machine-version ()
  "Not known."
  nil)

(defun software-version ()
  "The version of the system, if it is known."
  (let ((file (probe-file "/proc/sys/kernel/osrelease")))
    (and file (with-open-file (in file) (values (read-line in nil))))))

(defun long-site-name ()
  "Not known."
  nil)

(defun short-site-name ()
  "Not known."
  nil)

(defmacro step (form)
  "Evaluates the form; there is no stepping."
  form)

(defun inspect (object)
  "Describes the object; there is no editing of it."
  (describe object)
  (values))
