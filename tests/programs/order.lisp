;;; Sorting, searching, selecting and scans on the 1797 handwritten digits: which are the brightest,
;;; how bright a digit is on average, and where the quantiles lie.
(defparameter *table* (csv:read "examples/data/digits.csv" :as :matrix))
(defparameter *images* (la:slice *table* '(nil (0 64))))
(defparameter *digits* (la:flatten (la:slice *table* '(nil (64 65)))))
(defparameter *ink* (la:sum *images* :axis 1))

(defun show (name &rest values)
  (format t "~A:~{ ~S~}~%" name values))

(multiple-value-bind (digits first inverse counts) (la:unique *digits*)
  (show "digits" digits)
  (show "first" first)
  (show "inverse" (la:slice inverse '((0 5))))
  (show "counts" counts (la:array-equal counts (la:bincount *digits*))))

(multiple-value-bind (ink images) (la:topk *ink* 3)
  (show "brightest" ink images (la:take-rows *digits* images)))
(show "darkest" (la:take *digits* (la:slice (la:argsort *ink*) '((0 5)))))
(show "median" (la:median *ink*) (la:median (la:take-rows *images* '(0 1 2)) :axis 1))
(show "quartiles" (la:quantile *ink* #d(0.25 0.5 0.75))
      (la:quantile *ink* 0.3 :method :higher))

(multiple-value-bind (counts edges) (la:histogram *ink* :bins 5)
  (show "histogram" counts edges (la:sum counts)))

;; The mean image of each digit, and the mean ink from it and from the images: whole numbers, so
;; any order of additions gives the same.
(let* ((sums (la:scatter-add (la:zeros '(10 64)) *digits* *images*))
       (ink (la:bincount *digits* :weights *ink*)))
  (show "ink" ink (la:array-equal (la:sum sums :axis 1) ink))
  (show "pixels without ink" (la:take (la:argwhere (la:equal (la:sum sums :axis 0) 0)) 0 :axis 1)))

(let* ((sorted (la:sort *ink*))
       (running (la:cumsum sorted))
       (half (la:searchsorted running (/ (la:sum *ink*) 2))))
  (show "half of the ink in the darkest" half (la:take running half))
  (show "descending" (la:slice (la:sort *ink* :descending t) '((0 3))))
  (show "steps" (la:amax (la:diff sorted)) (la:size (first (la:nonzero (la:diff sorted)))))
  (let ((distinct (la:unique *ink*)))
    (show "ranks" (la:size distinct)
          (la:interp #d(200 300.5 1000) distinct (la:cumsum (la:ones (la:size distinct))))))
  (show "area" (la:trapz sorted) (la:trapz #d(0 1 4) #d(0 1 2)))
  (show "slope" (la:slice (la:gradient (la:slice sorted '((0 6)))) '((0 4)))))

(let ((zero (la:equal *digits* 0)))
  (show "zeros" (la:shape (la:compress zero *images* :axis 0))
        (la:amin (la:compress zero *ink*)) (la:amax (la:compress zero *ink*))))
;;; run:
;;; run: --portable
;;; run: --threads=2
;;; run: --no-simd
;;; out: digits: #d(0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0 9.0)
;;; out: first: #(0 1 2 3 4 5 6 7 8 9)
;;; out: inverse: #(0 1 2 3 4)
;;; out: counts: #(178 182 177 183 181 182 181 179 174 180) T
;;; out: brightest: #d(433.0 427.0 419.0) #(818 1747 1766) #d(1.0 1.0 1.0)
;;; out: darkest: #d(1.0 1.0 5.0 1.0 1.0)
;;; out: median: 313.0 #d(2.0 0.0 1.0)
;;; out: quartiles: #d(285.0 313.0 338.0) 292.0
;;; out: histogram: #(7 432 832 483 43) #d(185.0 234.6 284.2 333.8 383.4 433.0) 1797
;;; out: ink: #d(56415.0 57007.0 55566.0 56151.0 56239.0 55915.0 56336.0 54289.0 57408.0 56392.0) T
;;; out: pixels without ink: #(0 32 39)
;;; out: half of the ink in the darkest: 979 281037.0
;;; out: descending: #d(433.0 427.0 419.0)
;;; out: steps: 41.0 163
;;; out: ranks: 164 #d(1.3658536585365852 60.5 164.0)
;;; out: area: 561409.0 3.0
;;; out: slope: #d(41.0 20.5 0.0 1.0)
;;; out: zeros: (178 64) 257.0 405.0
