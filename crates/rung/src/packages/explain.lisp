;;; Package rung: where operations ran, and which rungs are asked. The functions below these macros
;;; are in explain.rs.

(defmacro rung:explain (form)
  "Runs the form, prints where its operations ran and why not elsewhere, and returns its values."
  `(rung::%explaining (lambda () ,form)))

(defmacro rung:with-rungs ((&key (device t) (library t) (lanes t)) &body body)
  "Runs the forms without the rungs that are nil here. It takes rungs away and adds none."
  `(let ((rung::%narrowed (rung::%narrow ,device ,library ,lanes))) ,@body))
