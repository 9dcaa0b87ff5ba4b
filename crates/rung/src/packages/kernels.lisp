;;; Package rung: kernels of a program's own. The compiler of their expressions is in kernels.rs.

(defmacro rung:defkernel (name parameters &body body)
  "Defines a function of numbers and arrays by one expression, which becomes an array operation with
a definition, lanes and a device kernel: (defkernel name ((x f32) (y f32)) \"Text.\" expression).
Arguments broadcast. An expression is made of numbers, the parameters, let and let*, arithmetic,
comparisons, (if test a b), (repeat n ((v first next) ...) result), which is written out n times, and
the element-wise functions of package linalg by their names. With (sum expression), or another fold of
package linalg (mean, prod, amax, argmax, norm, std, logsumexp, any ...), the function folds its elements,
over all axes or :axis. Returns the name."
  `(rung::%defkernel ',name ',parameters ',body))

(defmacro rung:defderivative (name kernel parameter)
  "Defines a function with the parameters of a kernel that gives its derivative by one of them,
element by element: (defderivative name kernel parameter). It is a kernel as well, and has a derivative
itself. Of a kernel that folds it is the gradient by each element, which has none. Returns the name."
  `(rung::%defderivative ',name ',kernel ',parameter))
