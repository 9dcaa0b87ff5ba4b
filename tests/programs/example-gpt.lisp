;;; The example that trains a transformer, for fewer steps.

(setf rung:*command-line-arguments* (list "LICENSE-APACHE" "100"))
(load (merge-pathnames "../../examples/gpt.lisp" *load-truename*))

;;; run:
;;; run: --gpu
;;; out: 10221 characters, 75 of them different, 64416 weights
;;; out: step   50  loss 3.08
;;; out: step  100  loss 2.47
;;; out: ntriconauticof orty f ancork surgrior Wopy tontechersemirinmNIons tib Len aang. oun oratrm) m bindiesly an wontioman fotrmr/y Yather asr winglu burbucodoced  inionthinchitug, ork anstr orinan ordircor
