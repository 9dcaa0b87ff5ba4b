;;; An index outside its array.
(let ((a (la:zeros '(2 3))))
  (print (aref a 1 2))
  (print (aref a 2 0)))
