;;; Times operations on operands that lie on the device, one line each: name, size, microseconds, the
;;; median of nine. `cargo xtask gpu-check` runs it beside gpu_peer.py, which prints the same lines. Then one
;;; line each says where it ran: `ran`, name, size, the rung.
;;; What a launch and a round trip cost, `rung tune` says. An argument divides the sizes, for a machine on
;;; which they would take too long.

(defparameter *part*
  (let ((arguments (uiop:command-line-arguments)))
    (if arguments (parse-integer (first arguments)) 1)))

(defun now ()
  (/ (get-internal-real-time) (float internal-time-units-per-second 1d0)))

(defun once (calls thunk)
  "Seconds of one of so many calls, until all are done."
  (let ((start (now)))
    (dotimes (call calls) (funcall thunk))
    (rung:synchronize)
    (/ (- (now) start) calls)))

(defvar *timed* '() "Name, size and thunk of each line so far.")

(defun report (name size calls thunk)
  (push (list name size thunk) *timed*)
  (once 2 thunk)
  (let ((times (sort (loop repeat 9 collect (once calls thunk)) #'<)))
    (format t "~a ~a ~,3f~%" name size (* 1d6 (nth 4 times)))))

(defun there (shape &key (type 'single-float))
  (rung:send (la:astype (la:rand shape) type)))

(dolist (n '(256 1024 2048 4096))
  (let* ((n (floor n *part*)) (a (there (list n n))) (b (there (list n n))))
    (report "product-f32" n 10 (lambda () (la:matmul a b)))))

(dolist (n '(1024 2048))
  (let* ((n (floor n *part*))
         (a (there (list n n) :type 'double-float)) (b (there (list n n) :type 'double-float)))
    (report "product-f64" n 5 (lambda () (la:matmul a b)))))

(let* ((rows (floor 16384 *part*)) (a (there (list rows 1024))))
  (report "softmax-f32" rows 20 (lambda () (la:softmax a)))
  (report "layer-norm-f32" rows 20 (lambda () (linalg::%la-layer-norm a 1e-5)))
  (report "exp-f32" rows 20 (lambda () (la:exp a)))
  (report "copy-f32" rows 20 (lambda () (la:copy a)))
  (report "sum-f32" rows 20 (lambda () (la:sum a :axis 1))))

;; After the times, because from the first `reset-calls` on each call is counted, which takes time.
(loop for (name size thunk) in (reverse *timed*) do
  (rung:reset-calls)
  (once 1 thunk)
  (format t "ran ~a ~a ~(~{~a~^, ~}~)~%" name size
          (mapcar (lambda (row) (getf row :rung)) (rung:calls))))
