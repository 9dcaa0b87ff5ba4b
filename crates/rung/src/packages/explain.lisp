;;; Package rung: where operations ran, and which rungs are asked. The functions below these macros
;;; are in explain.rs and timing.rs.

(defmacro rung:explain (form)
  "Runs the form, prints where its operations ran and why not elsewhere, and returns its values."
  `(rung::%explaining (lambda () ,form)))

;; In the place of the language's own, which knows of no operation and no device.
(defmacro time (form)
  "Runs the form, waits for the device, prints the time, the operations by rung, the bytes that moved
to the device and back, and the bytes that arrays took here; returns the form's values."
  `(rung::%timing (lambda () ,form)))

(defmacro rung:with-rungs ((&key (device t) (library t) (lanes t)) &body body)
  "Runs the forms without the rungs that are nil here. It takes rungs away and adds none."
  `(let ((rung::%narrowed (rung::%narrow ,device ,library ,lanes))) ,@body))
