;;; A string where a number is wanted.
(print (+ 1 "2"))
;;; exit: 1
;;; err: error: +: expected a number: got "2"
;;; err:  --> tests/programs/wrong-type.lisp:2:8
;;; err:   |
;;; err: 2 | (print (+ 1 "2"))
;;; err:   |        ^^^^^^^^^
