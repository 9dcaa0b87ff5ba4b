;;; A file that is not there.
(with-open-file (stream "no-such-file.txt")
  (print (read-line stream)))
