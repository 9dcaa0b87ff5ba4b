;;; Integers divided by zero are an error that a program can handle; floats are not.
(print (handler-case (/ 1 0)
         (division-by-zero () :handled)))
(print (/ 1.0 0.0))
(print (/ 1 0))
