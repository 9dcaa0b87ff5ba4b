;;; Integers divided by zero are an error that a program can handle; floats are not.
(format t "~S~%" (handler-case (/ 1 0)
                   (division-by-zero () :handled)))
(format t "~S~%" (/ 1.0 0.0))
(print (/ 1 0))
;;; exit: 1
;;; out: :HANDLED
;;; out: #.rung:double-inf
;;; err: error: /: division by zero
;;; err:  --> tests/programs/division-by-zero.lisp:5:8
;;; err:   |
;;; err: 5 | (print (/ 1 0))
;;; err:   |        ^^^^^^^
