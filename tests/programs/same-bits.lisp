;;; The same bits on every rung that is not a foreign library: products, folds, elementary functions.
(la:seed 11)
(let* ((a (la:randn '(40 70) :element-type 'single-float))
       (b (la:randn '(70 30) :element-type 'single-float))
       (product (la:matmul a b)))
  (print (la:sum product))
  (print (la:sum (la:exp (la:tanh product)) :axis 0))
  (print (la:sum (la:sin (la:mul product 1000))))
  (print (la:argmax product)))
(terpri)
;;; run:
;;; run: --portable
;;; run: --no-parallel
;;; run: --threads=2
;;; run: --device=llvmpipe
;;; run: --gpu --simd --parallel
