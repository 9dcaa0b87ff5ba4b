;;; An unknown function: what was meant.
(print (la:matmull #d((1 2)) #d((3) (4))))
