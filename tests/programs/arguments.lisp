;;; Words after `--` are the program's.
(format t "~S~%" (uiop:command-line-arguments))
