;;; The example that fits Longley's data: its digits hold on every rung.

(load (merge-pathnames "../../examples/regression.lisp" *load-truename*))

;;; run:
;;; run: --portable
;;; run: --gpu --blas
