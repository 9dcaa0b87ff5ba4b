;;; Loads one library and runs its tests: tests/libraries/run starts it with the library's name. The
;;; last line says how many pass: #result VERSION PASSED of TOTAL.

(load (merge-pathnames "frameworks.lisp" *load-truename*))

(defun calls (package name &rest arguments)
  (apply (find-symbol name package) arguments))

(defun rt-counts ()
  "Runs the tests of package RT: passed and total."
  (calls "RT" "DO-TESTS")
  (let ((total (length (cdr (symbol-value (find-symbol "*ENTRIES*" "RT")))))
        (failed (length (calls "RT" "PENDING-TESTS"))))
    (list (- total failed) total)))

(defun fiveam-counts (suite)
  (let* ((results (calls "FIVEAM" "RUN" suite))
         (passed (count-if (find-symbol "TEST-PASSED-P" "FIVEAM") results)))
    (calls "FIVEAM" "EXPLAIN!" results)
    (list passed (length results))))

(defun forms-in (path)
  (with-open-file (in path :external-format :latin-1)
    (loop for form = (read in nil in) until (eq form in) count t)))

(defun test-alexandria ()
  (asdf:load-system "alexandria-tests")
  (rt-counts))

(defun test-split-sequence ()
  (asdf:load-system "split-sequence/tests")
  (fiveam-counts :split-sequence))

(defun test-cl-ppcre ()
  (asdf:load-system "cl-ppcre/test")
  (let* ((text (with-output-to-string (*standard-output*)
                 (calls "CL-PPCRE-TEST" "RUN-ALL-TESTS")))
         (folder (asdf:system-relative-pathname "cl-ppcre" "test/"))
         (total (+ 5 (let ((*package* (find-package "CL-PPCRE-TEST")))
                       (+ (forms-in (merge-pathnames "perltestdata" folder))
                          (forms-in (merge-pathnames "simple" folder))))))
         (failed (with-input-from-string (in text)
                   (loop for line = (read-line in nil) while line
                         count (and (plusp (length line))
                                    (char= (char line (1- (length line))) #\:)
                                    (every (lambda (c) (or (digit-char-p c) (char= c #\Space)))
                                           (subseq line 0 (1- (length line)))))))))
    (write-line text)
    (list (- total failed) total)))

(defun test-iterate ()
  (asdf:load-system "iterate/tests")
  (rt-counts))

(defun test-fiveam ()
  (asdf:load-system "fiveam/test")
  (fiveam-counts (find-symbol "IT.BESE.FIVEAM" "KEYWORD")))

(defun test-babel ()
  (asdf:load-system "babel-tests")
  (frameworks:counts))

(defun own-checks (&rest checks)
  (list (count-if #'identity checks) (length checks)))

(defun test-md5 ()
  ;; The library brings no tests: the seven sums of RFC 1321, of strings and of a file.
  (asdf:load-system "md5")
  (flet ((sum (text)
           (format nil "~(~{~2,'0X~}~)"
                   (coerce (calls "MD5" "MD5SUM-STRING" text) 'list))))
    (apply #'own-checks
           (loop for (text wanted)
                   in '(("" "d41d8cd98f00b204e9800998ecf8427e")
                        ("a" "0cc175b9c0f1b6a831c399e269772661")
                        ("abc" "900150983cd24fb0d6963f7d28e17f72")
                        ("message digest" "f96b697d7cb7938d525a2f31aaf161d0")
                        ("abcdefghijklmnopqrstuvwxyz" "c3fcd3d76192e4007dfb496cca67e13b")
                        ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                         "d174ab98d277d9f5a5611c2c9f419d9f")
                        ("12345678901234567890123456789012345678901234567890123456789012345678901234567890"
                         "57edf4a22be3c955ac49da2e2107b67a"))
                 collect (equal (sum text) wanted)))))

(defun number-after (label text)
  (let ((at (search label text)))
    (if at (parse-integer text :start (+ at (length label)) :junk-allowed t) 0)))

(defun test-cl-base64 ()
  (asdf:load-system "cl-base64/test")
  ;; The framework prints its counts and keeps them nowhere.
  (let* ((text (with-output-to-string (*standard-output*)
                 (calls "CL-BASE64/TEST" "DO-TESTS")))
         (passed (number-after "Successes this test:" text))
         (failed (number-after "Errors detected in this test:" text)))
    (list passed (+ passed failed))))

(defun test-yason ()
  (asdf:load-system "yason")
  (load (asdf:system-relative-pathname "yason" "test.lisp"))
  (frameworks:counts))

(defun test-cl-who ()
  ;; Debian's package has none of its tests.
  (asdf:load-system "cl-who")
  (flet ((page (text) (eval (let ((*package* (find-package "CL-WHO")))
                              (read-from-string
                               (format nil "(cl-who:with-html-output-to-string (out) ~A)" text))))))
    (own-checks
     (equal (page "(:br)") "<br />")
     (equal (page "(:p \"a\" (:b \"c\"))") "<p>a<b>c</b></p>")
     (equal (page "(:a :href \"x\" :class nil \"y\")") "<a href='x'>y</a>")
     (equal (page "(loop for i below 3 do (cl-who:htm (:li (cl-who:str i))))")
            "<li>0</li><li>1</li><li>2</li>")
     (equal (page "(cl-who:esc \"<&>\")") "&lt;&amp;&gt;")
     (equal (page "(:div (cl-who:fmt \"~4,'0D\" 42))") "<div>0042</div>"))))

(let* ((name (first (uiop:command-line-arguments)))
       (test (intern (format nil "TEST-~:@(~A~)" name)))
       (counts (let ((*package* *package*)) (funcall test))))
  (format t "~&#result ~A ~D of ~D~%"
          (or (asdf:component-version (asdf:find-system name)) "-")
          (first counts) (second counts)))
