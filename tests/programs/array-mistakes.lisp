;;; Wrong calls of array operations, in the words of their errors: what was wanted, what came, and where
;;; it helps what to try. Each message is followed by its hint, if it has one.
(defparameter *calls*
  '((la:add #d(1 2) #d(1 2 3))
    (la:add "text" #d(1 2))
    (la:add #d(1 2) nil)
    (la:add #d(1 2) :one)
    (la:sub)
    (la:div #d((1 2) (3 4)) #d(1 2 3))
    (la:exp)
    (la:exp 'x)
    (la:exp #d(1) #d(2))
    (la:matmul #d((1 2) (3 4)) #d((1 2 3)))
    (la:matmul 2 #d((1 2)))
    (la:dot #d(1 2) #d(1 2 3))
    (la:dot (la:zeros '(2 2 2)) #d(1 2))
    (la:sum #d(1 2) :axis 1)
    (la:sum #d(1 2) :axis 'x)
    (la:sum #d((1 2)) :axis '(0 0))
    (la:sum #d(1 2) :axes 0)
    (la:sum #d(1 2) :axis)
    (la:mean #d())
    (la:amax #d())
    (la:argmax #d())
    (la:var #d(1) :ddof 1)
    (la:norm #d(1 2) :ord 3)
    (la:trace #d(1 2))
    (la:cov (la:zeros '(2 2 2)))
    (la:reshape #d(1 2 3) '(2 2))
    (la:reshape #d(1 2 3 4) '(-1 -1))
    (la:reshape #d(1 2 3) '(-1 2))
    (la:transpose #d((1 2)) '(0 0))
    (la:slice #d(1 2 3) '((0 2 0)))
    (la:slice #d(1 2 3) '((0 2) (0 1)))
    (la:slice #d(1 2 3) '(a))
    (la:row #d(1 2) 2)
    (la:row #d(1 2) -3)
    (la:broadcast-to #d(1 2) '(3 3))
    (la:expand-dims #d(1 2) 5)
    (la:squeeze #d((1 2) (3 4)) 0)
    (la:concatenate '())
    (la:concatenate (list #d(1) #d((1 2))))
    (la:stack #d(1 2))
    (la:zeros '(-1))
    (la:zeros 'n)
    (la:zeros '(2 2) :element-type 'rational)
    (la:arange 0 1 0)
    (la:linspace 0 1 -1)
    (la:eye -1)
    (la:full '(2) "x")
    (la:from-list '((1 2) (3)))
    (la:from-list '(1 x))
    (la:astype #d(1 nan) '(signed-byte 64))
    (la:astype #d(300) '(unsigned-byte 8))
    (la:take-rows #d((1 2)) '(1))
    (la:take-rows #d((1 2)) '(0.5))
    (la:one-hot '(3) 3)
    (la:where #d(1 0) #d(1 2) #d(1 2 3))
    (la:solve #d((1 2) (2 4)) #d(1 2))
    (la:solve #d((1 2)) #d(1))
    (la:inv #d((1 2 3) (4 5 6)))
    (la:cholesky #d((1 2) (2 1)))
    (la:einsum "ij,jk" #d((1 2)))
    (la:einsum "ii->i" #d((1 2)))
    (la:einsum "i->j" #d(1 2))
    (la:tensordot #d(1 2) #d(1 2) :axes 2)
    (la:cross #d(1 2) #d(1 2 3))
    (la:quantile #d(1 2) 2)
    (la:median #d())
    (la:topk #d(1 2) 3)
    (la:fft #d() )
    (la:rand '(2) :element-type '(signed-byte 64))
    (la:randint 3 3 2)
    (la:choice 0 2)
    (la:normal 0 -1 2)
    (la:seed 0.5)
    (la:seed 18446744073709551616)
    (la:philox 18446744073709551616)
    (la:histogram #d(1 2) :bins 0)
    (la:diff #d(1 2) -1)
    (la:bit-and #d(1) 1)
    (vec:add #d(1 2) #f(1 2))
    (vec:add #d(1 2) #d(1))
    (vec:add '(1 2) #d(1 2))
    (vec:sum #d((1 2)))
    (vec:aref #d(1 2) 2)
    (vec:matvec #d((1 2)) #d(1))
    (vec:matvec-batch #d((1 2)) #d(1 2))
    (vec:matvec-batch #d((1 2)) (list #d(1 2) #f(1 2)))
    (vec:matvec-batch #d((1 2)) (list #d(1 2) #d(1 2 3)))
    (vec:matvec-batch #d((1 2)) (list #d((1 2))))
    (vec:add-into (vec:zeros 3) #d(1 2) #d(1 2))
    (vec:exp-into #f(0 0) #d(1 2))))

(dolist (call *calls*)
  (handler-case (progn (eval call) (format t "NO ERROR: ~S~%" call))
    (error (e)
      (format t "~A~@[ [~A]~]~%" e (rung:condition-hint e)))))
;;; out: linalg: shape mismatch: (2) and (3) [trailing extents must be equal or 1]
;;; out: linalg: expected an array or a number: got "text"
;;; out: linalg: expected an array or a number: got nil
;;; out: linalg: expected an array or a number: got :one
;;; out: sub: expected 2 arguments: got 0 [its arguments are (a b)]
;;; out: linalg: shape mismatch: (2 2) and (3) [trailing extents must be equal or 1]
;;; out: exp: expected 1 argument: got 0 [its arguments are (a)]
;;; out: linalg: expected an array or a number: got x
;;; out: exp: expected 1 argument: got 2 [its arguments are (a)]
;;; out: linalg: matmul inner dimensions differ: (2 2) and (1 3) [the first has 2 columns, the second 1 rows]
;;; out: linalg: matmul expects arrays: got the (signed-byte 64) 2 and (1 2) [(la:mul a b) scales by a number]
;;; out: linalg: dot expects equal-length vectors: (2) and (3)
;;; out: linalg: dot expects rank <= 2 (linalg:matmul stacks rank >= 3): got (2 2 2) and (2)
;;; out: linalg: axis out of range: 1 of an array with 1 axes, shape (2)
;;; out: linalg: expected an axis or a list of axes: got x
;;; out: linalg: repeated axis: 0
;;; out: linalg: Unknown keyword argument: :axes [sum takes :axis :keepdims]
;;; out: linalg: Odd number of keyword arguments
;;; out: linalg: mean of an empty array
;;; out: linalg: amax of an empty array
;;; out: linalg: argmax of an empty array
;;; out: linalg: var needs more elements than ddof: 1 with ddof 1
;;; out: linalg: norm :ord must be 1, 2, :inf, :-inf or :fro: got 3
;;; out: linalg: trace expects a matrix: got (2)
;;; out: linalg: cov expects a vector or a matrix: got (2 2 2)
;;; out: linalg: reshape size mismatch: (3) has 3 elements and (2 2) has 4
;;; out: linalg: reshape allows at most one -1: got (-1 -1)
;;; out: linalg: reshape size mismatch: 3 elements of (3) into (-1 2)
;;; out: linalg: transpose axes must be a permutation of the axes: (0 0) for shape (1 2)
;;; out: linalg: slice step must not be zero
;;; out: linalg: slice expects at most one spec per axis: 2 specs for shape (3)
;;; out: linalg: slice expects nil or (start end [step]): got a
;;; out: linalg: row expects rank >= 2 (use aref on a vector): got shape (2)
;;; out: linalg: row expects rank >= 2 (use aref on a vector): got shape (2)
;;; out: linalg: shape mismatch: (2) and (3 3) [trailing extents must be equal or 1]
;;; out: linalg: axis out of range: 5 in a result of 2 axes
;;; out: linalg: squeeze takes 1 positional argument: got 2 [its arguments are (a &key axis)]
;;; out: linalg: concatenate needs at least one array
;;; out: linalg: concatenate expects arrays of equal rank: (1) and (1 2)
;;; out: linalg: expected a list of arrays: got #<double-float (2)>
;;; out: linalg: shape expects non-negative integers: got (-1) [3 is a vector's shape, '(2 3) a matrix's]
;;; out: linalg: shape expects non-negative integers: got n [3 is a vector's shape, '(2 3) a matrix's]
;;; out: linalg: unknown element type: rational [known: double-float, single-float, bfloat16, float16, (signed-byte 64), (signed-byte 32), (unsigned-byte 8), bit]
;;; out: linalg: arange step must not be zero
;;; out: linalg: linspace expects a non-negative count: got -1
;;; out: linalg: eye expects a non-negative count: got -1
;;; out: linalg: expected a number: got "x"
;;; out: linalg: from-list rows differ in length: (3) [2 items were expected here]
;;; out: linalg: from-list expects numbers: got x
;;; out: linalg: value does not fit: NaN in (signed-byte 64)
;;; out: linalg: value does not fit: 300.0 in (unsigned-byte 8)
;;; out: linalg: take-rows index out of range: 1 for an axis of 1
;;; out: linalg: expected integer indices: got (0.5)
;;; out: linalg: one-hot index out of range: 3 for an axis of 3
;;; out: linalg: shape mismatch: (2) and (3) [trailing extents must be equal or 1]
;;; out: linalg: solve with a singular matrix: pivot 1 is zero [la:lstsq and la:pinv also take a singular matrix]
;;; out: linalg: expects a square matrix: got shape (1 2) [la:lstsq and la:pinv take any matrix]
;;; out: linalg: expects a square matrix: got shape (2 3) [la:lstsq and la:pinv take any matrix]
;;; out: linalg: cholesky needs a positive definite matrix: pivot 1 is not positive
;;; out: linalg: einsum: 1 arrays for more subscripts at position 3 [subscripts look like "ij,jk->ik"]
;;; out: linalg: einsum: extents 1 and 2 of 'i' differ
;;; out: linalg: einsum: 'j' is in no operand at position 3 [subscripts look like "ij,jk->ik"]
;;; out: linalg: axis out of range: 2 axes of (2) and (2)
;;; out: linalg: cross expects vectors of length 2 or 3: got shapes (2) and (3)
;;; out: linalg: quantile q must be in 0..1: got 2.0
;;; out: linalg: median of an empty array
;;; out: linalg: topk k out of range: 3 of an axis of 2
;;; out: linalg: fft needs at least one point: got 0
;;; out: linalg: rand makes floats: got (signed-byte 64)
;;; out: linalg: randint expects low below high, at most 2^53 apart: 3 and 3
;;; out: linalg: choice expects a positive count: got 0
;;; out: linalg: normal expects a deviation of 0 or more: got -1
;;; out: linalg: expected an integer: got 0.5
;;; out: linalg: expected an integer of 64 bits: got 1.8446744073709552e19 [from -9223372036854775808 to 9223372036854775807]
;;; out: linalg: expected an integer of 64 bits: got 1.8446744073709552e19 [from -9223372036854775808 to 9223372036854775807]
;;; out: linalg: histogram bins are a positive integer or a vector of edges: got 0
;;; out: linalg: diff takes 1 positional argument: got 2 [its arguments are (a &key n axis)]
;;; out: linalg: expects integer arrays: got #<double-float (1)> [(la:astype a '(signed-byte 64)) makes integers of whole numbers]
;;; out: vec: element types differ: DOUBLE-FLOAT and SINGLE-FLOAT
;;; out: vec: lengths differ: 2 and 1
;;; out: vec: expected a packed vector: got (1 2)
;;; out: vec: expected a vector, got rank 2 [its shape is (1 2)]
;;; out: vec: index 2 out of range for length 2
;;; out: vec: matvec dimensions differ: 2 columns and 1 elements
;;; out: vec: expected a list of arrays: got #<double-float (2)>
;;; out: vec: element types differ: DOUBLE-FLOAT and SINGLE-FLOAT
;;; out: vec: lengths differ: 2 and 3
;;; out: vec: expected vectors: got rank 2 [its shape is (1 2)]
;;; out: vec: out has length 3, expected 2
;;; out: vec: out has element type SINGLE-FLOAT, expected DOUBLE-FLOAT
