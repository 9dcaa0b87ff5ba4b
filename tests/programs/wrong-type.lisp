;;; A string where a number is wanted.
(print (+ 1 "2"))
