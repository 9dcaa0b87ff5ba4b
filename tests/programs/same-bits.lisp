;;; The same bits on every rung that is not a foreign library: products, folds, elementary functions.
(la:seed 11)
(let* ((a (la:randn '(40 70) :element-type 'single-float))
       (b (la:randn '(70 30) :element-type 'single-float))
       (product (la:matmul a b)))
  (format t "~S~%~S~%~S~%~S~%"
          (la:sum product)
          (la:sum (la:exp (la:tanh (la:slice product '(nil (0 6))))) :axis 0)
          (la:sum (la:sin (la:mul product 1000)))
          (la:argmax product)))
;;; run:
;;; run: --portable
;;; run: --no-parallel
;;; run: --threads=2
;;; run: --device=llvmpipe
;;; run: --gpu --simd --parallel
;;; out: -134.24766046740115
;;; out: #f(58.525208 52.164623 55.870007 51.334915 55.52941 62.73128)
;;; out: -11.291229504393414
;;; out: 573
