;;; The example that fits Longley's data: its digits hold on every rung.

(load (merge-pathnames "../../examples/regression.lisp" *load-truename*))

;;; run:
;;; run: --portable
;;; run: --gpu --blas
;;; out: 16 rows, rank 7, condition 4.86e+9
;;; out:                     coefficient   standard error   digits
;;; out:     constant      -3482258.6346      890420.3836        8
;;; out:     deflator            15.0619          84.9149        8
;;; out:      product            -0.0358           0.0335        8
;;; out:   unemployed            -2.0202           0.4884        8
;;; out:       forces            -1.0332           0.2143        8
;;; out:   population            -0.0511           0.2261        8
;;; out:         year          1829.1515         455.4785        8
;;; out: R squared 0.995479
