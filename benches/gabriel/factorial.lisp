;;; Factorials by multiplication from 1 up: large integers.
(defun factorial (n) (let ((product 1)) (dotimes (i n product) (setq product (* product (+ i 1))))))
(defun bench () (let ((n (factorial 2000))) (+ (integer-length n) (mod n 1000003))))
