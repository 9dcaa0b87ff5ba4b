;;; A file that is not there.
(with-open-file (stream "no-such-file.txt")
  (print (read-line stream)))
;;; exit: 3
;;; err: error: cannot open no-such-file.txt: no such file
;;; err:  --> tests/programs/missing-file.lisp:2:1
;;; err:   |
;;; err: 2 | (with-open-file (stream "no-such-file.txt")
;;; err:   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
