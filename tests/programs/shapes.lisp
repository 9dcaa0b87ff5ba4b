;;; Pictures of digits cut, turned, padded, joined and written into, on every rung.
(defparameter *data* (csv:read "examples/data/digits.csv" :as :matrix))
(defparameter *labels* (la:flatten (la:slice *data* '(nil (-1 nil)))))
(defparameter *pictures*
  (la:reshape (la:slice *data* '((0 12) (0 64))) '(12 8 8)))

;; A strip of three by four pictures with a border around each.
(let* ((padded (la:pad *pictures* '((0 0) (1 1) (1 1)) :value 16))
       (rows (mapcar (lambda (four)
                       (la:hstack (mapcar (lambda (i) (la:row four i)) '(0 1 2 3))))
                     (la:split padded 3)))
       (strip (la:vstack rows)))
  (format t "strip ~A of sum ~A~%" (la:shape strip) (la:sum strip))
  (format t "turned ~A~%"
          (la:array-equal (la:flip strip)
                          (la:flip (la:flip strip :axis 0) :axis 1)))
  (format t "rolled back ~A~%"
          (la:array-equal strip (la:roll (la:roll strip '(3 -7) :axis '(0 1)) '(-3 7) :axis '(0 1)))))

;; Classes as rows of a table, and how many of each there are.
(let ((table (la:one-hot *labels* 10 :element-type 'single-float)))
  (format t "counts ~A~%" (la:sum table :axis 0)))

;; Ink above the mean of each picture, counted by logic and by integers.
(let* ((mean (la:reshape (la:mean (la:reshape *pictures* '(12 64)) :axis 1) '(12 1 1)))
       (ink (la:greater *pictures* mean :element-type 'bit))
       (edge (la:logical-and ink (la:logical-not (la:roll ink 1 :axis 2))
                             :element-type 'double-float)))
  (format t "left edges ~A~%" (la:sum edge))
  (format t "parity ~A~%"
          (la:mod (la:astype (la:sum (la:astype ink 'single-float) :axis 2) '(signed-byte 64)) 2))
  (let ((masked (la:where ink *pictures* 0)))
    (setf (la:row masked 0) 1)
    (setf (la:slice masked '(nil (0 nil 2) (nil nil -2))) #d(1 2 3 4))
    (setf (la:compress (la:greater masked 15) masked) 15)
    (format t "masked ~A~%" (la:sum masked))))

;; A distance from the middle, by grids and triangles.
(destructuring-bind (x y) (la:meshgrid (list (la:linspace -1 1 8) (la:linspace -1 1 8)))
  (let ((r (la:sqrt (la:+ (la:* x x) (la:* y y)))))
    (format t "radius ~A ~A~%" (la:sum (la:triu r :k 1)) (la:sum (la:diag r)))
    (format t "tiles ~A~%" (la:sum (la:tile (la:repeat r 2 :axis 0) '(2 3))))
    (format t "weighed ~A~%" (la:sum (la:emap (lambda (a b) (if (< b 1) a 0))
                                              (la:row *pictures* 3) r)))))
;;; run:
;;; run: --portable
;;; run: --no-parallel
;;; run: --threads=2
;;; run: --device=llvmpipe
;;; out: strip (30 40) of sum 10653.0
;;; out: turned T
;;; out: rolled back T
;;; out: counts #f(178.0 182.0 177.0 183.0 181.0 182.0 181.0 179.0 174.0 180.0)
;;; out: left edges 111.0
;;; out: parity #2A((1 1 1 1 0 1 0 1) (1 1 1 0 0 1 1 1) (0 1 0 1 1 1 0 1) (1 0 0 0 0 0 0 0) (1 0 0 0 1 0 0 1) (0 0 0 0 1 0 0 0) (0 1 0 0 1 0 1 1) (1 0 0 1 1 0 0 0) (1 0 1 1 0 0 1 0) (0 0 0 1 0 0 0 1) (1 1 0 1 1 0 0 0) (0 1 1 0 0 1 0 0))
;;; out: masked 2937.0
;;; out: radius 24.593296858783347 6.464976285134149
;;; out: tiles 667.8188400324101
;;; out: weighed 172.0
