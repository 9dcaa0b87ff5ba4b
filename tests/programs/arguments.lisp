;;; Words after `--` are the program's.
(format t "~S~%" (uiop:command-line-arguments))
;;; arguments: one -x --gpu 3
;;; out: ("one" "-x" "--gpu" "3")
