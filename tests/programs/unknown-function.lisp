;;; An unknown function: what was meant.
(print (la:matmull #d((1 2)) #d((3) (4))))
;;; exit: 1
;;; err: error: package linalg has no symbol matmull
;;; err:  --> tests/programs/unknown-function.lisp:2:9
;;; err:   |
;;; err: 2 | (print (la:matmull #d((1 2)) #d((3) (4))))
;;; err:   |         ^^^^^^^^^^
;;; err:   hint: did you mean la:matmul
