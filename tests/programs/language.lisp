;;; A little of everything that a numerical program needs from the language.
(defmacro swap (a b)
  `(rotatef ,a ,b))

(let ((x 1) (y 2/3))
  (swap x y)
  (format t "~A ~A~%" x y))

(let ((counter (let ((n 0)) (lambda () (incf n)))))
  (funcall counter)
  (format t "~D~%" (funcall counter)))

(let ((table (make-hash-table :test 'equal)))
  (dolist (word '("a" "b" "a"))
    (incf (gethash word table 0)))
  (maphash (lambda (word count) (format t "~A ~D~%" word count)) table))

(format t "~A~%" (expt 3 100))
(format t "~,3F ~5D ~S~%" 3.14159 42 #f(0.1 2.5))
(format t "~{~A~^, ~}~%" (loop for i from 1 to 5 collect (* i i)))
(format t "~S~%" (handler-case (error "Not ~A" 'good)
                   (error (e) (princ-to-string e))))
(with-input-from-string (in (format nil "first~%12"))
  (format t "~S ~D~%" (read-line in) (parse-integer (read-line in))))
;;; out: 2/3 1
;;; out: 2
;;; out: a 2
;;; out: b 1
;;; out: 515377520732011331036461129765621272702107522001
;;; out: 3.142    42 #f(0.1 2.5)
;;; out: 1, 4, 9, 16, 25
;;; out: "Not GOOD"
;;; out: "first" 12
