;;; Calls above the device's thresholds, which a device takes when only the plain loops are beside it:
;;; products, an elementary function, a broadcast operation and a fill, at both widths.
(la:seed 3)
(dolist (type '(single-float double-float))
  (let* ((a (la:randn '(180 170) :element-type type))
         (b (la:randn '(170 190) :element-type type))
         (product (la:matmul a b))
         (wide (la:sub (la:reshape (la:rand (* 600 600) :element-type type) '(600 600))
                       (la:reshape (la:rand 600 :element-type type) '(600 1)))))
    (format t "~S ~S ~S~%"
            (la:sum product)
            (la:sum (la:exp (la:slice wide '((0 400)))))
            (la:argmin wide))))
;;; run:
;;; run: --portable
;;; run: --device=llvmpipe --no-simd --on-decline=verify
;;; out: -168.76100548059912 258733.72232344747 254855
;;; out: -3146.6972893741804 264058.26939807046 220732
