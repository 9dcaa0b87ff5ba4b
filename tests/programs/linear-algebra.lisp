;;; A measured signal, a network and a system of equations: least squares, factorisations, eigenvectors
;;; and a Fourier transform at work together.
(defun show (name array &optional (digits 4))
  (format t "~A: ~{~,VF~^ ~}~%" name
          (loop for x in (la:to-list (la:flatten array)) collect digits collect x)))

;;; The polynomial through noisy samples of 2 - 3 x + x^3.
(let* ((x (la:linspace -2 2 41))
       (noise (la:mul (la:sin (la:mul x 37)) 0.01d0))
       (y (la:add (la:sub 2 (la:mul x 3)) (la:add (la:mul x (la:mul x x)) noise)))
       (powers (la:stack (list (la:ones 41) x (la:mul x x) (la:mul x (la:mul x x))) :axis 1)))
  (multiple-value-bind (coefficients residuals rank) (la:lstsq powers y)
    (show "polynomial" coefficients 2)
    (format t "rank ~D, residual below 0.01: ~A~%" rank (< (la:sum residuals) 0.01)))
  ;; The same by the normal equations and by QR.
  (let* ((normal (la:matmul (la:transpose powers) powers))
         (right (la:matmul (la:transpose powers) y))
         (factor (la:cholesky normal))
         (by-cholesky (la:solve-triangular factor
                                           (la:solve-triangular factor right :lower t)
                                           :lower t :trans t)))
    (multiple-value-bind (q r) (la:qr powers)
      (let ((by-qr (la:solve-triangular r (la:matmul (la:transpose q) y))))
        (format t "three ways agree: ~A~%"
                (and (< (la:amax (la:abs (la:sub by-qr by-cholesky))) 1d-12)
                     (< (la:amax (la:abs (la:sub by-qr (la:solve normal right)))) 1d-12)))))))

;;; Two triangles joined by one edge: the second eigenvector of the Laplacian tells them apart.
(let* ((edges '((0 1) (1 2) (0 2) (3 4) (4 5) (3 5) (2 3)))
       (laplacian (la:zeros '(6 6))))
  (dolist (edge edges)
    (destructuring-bind (i j) edge
      (decf (aref laplacian i j))
      (decf (aref laplacian j i))
      (incf (aref laplacian i i))
      (incf (aref laplacian j j))))
  (multiple-value-bind (values vectors) (la:eigh laplacian)
    (show "connectivity" (la:slice values '((1 2))))
    (let ((second (la:to-list (la:flatten (la:slice vectors '(nil (1 2)))))))
      (format t "groups: ~A~%" (loop for x in second collect (if (> x 0) 'a 'b)))))
  (format t "rank ~D, condition of the grounded part ~,3F~%"
          (la:matrix-rank laplacian)
          (la:cond (la:slice laplacian '((1 nil) (1 nil)))))
  ;; Currents in at one end and out at the other: the voltages of the grounded network.
  (show "voltages" (la:solve (la:slice laplacian '((1 nil) (1 nil))) #d(0 0 0 0 1)))
  (handler-case (la:inv (la:slice laplacian '((0 1) (1 2))))
    (error (e) (format t "~A~%" e)))
  (handler-case (la:solve #d((1 2) (2 4)) #d(1 1))
    (rung:singular-matrix (e) (format t "~A~%" e))))

;;; Which tones a signal holds, and the signal without the weaker one.
(let* ((n 240)
       (time (la:div (la:arange n) n))
       (tone (lambda (frequency) (la:sin (la:mul time (* 2 pi frequency)))))
       (signal (la:add (la:mul 3 (funcall tone 17)) (funcall tone 50)))
       (bins (la:rfft signal))
       (power (la:sum (la:square bins) :axis 1)))
  (format t "tones: ~S~%"
          (loop for k from 0 for p in (la:to-list power) when (> p 1) collect k))
  (let* ((kept (la:where (la:greater power 20000) 1 0))
         (clean (la:irfft (la:mul bins (la:reshape kept '(-1 1))))))
    (format t "cleaned: ~A~%"
            (< (la:amax (la:abs (la:sub clean (la:mul 3 (funcall tone 17))))) 1d-10)))
  (format t "determinant of a permutation: ~A, of its inverse ~A~%"
          (la:det #d((0 1 0) (0 0 1) (1 0 0))) (la:det (la:inv #d((0 1 0) (0 0 1) (1 0 0))))))
;;; run:
;;; run: --portable
;;; run: --no-parallel
;;; run: --threads=2
;;; out: polynomial: 2.00 -3.00 -0.00 1.00
;;; out: rank 4, residual below 0.01: T
;;; out: three ways agree: T
;;; out: connectivity: 0.4384
;;; out: groups: (B B B A A A)
;;; out: rank 5, condition of the grounded part 27.093
;;; out: voltages: 0.3333 0.6667 1.6667 2.0000 2.3333
;;; out: linalg: solve with a singular matrix: pivot 1 is zero
;;; out: tones: (17 50)
;;; out: cleaned: T
;;; out: determinant of a permutation: 1.0, of its inverse 1.0
