//! Classes and instances: definition, slots, initialisation, redefinition, change of class.

mod common;

use common::{check, failure, output};

const POINT: &str = "(defclass point () ((x :initarg :x :initform 0 :accessor point-x) \
                     (y :initarg :y :accessor point-y)))";

/// Cases that begin with the class above.
fn check_points(table: &[(&str, &str)]) {
    let table = table.iter().map(|(text, expected)| (format!("{POINT} {text}"), *expected));
    let table = table.collect::<Vec<_>>();
    let table = table.iter().map(|(text, expected)| (text.as_str(), *expected));
    check(&table.collect::<Vec<_>>());
}

#[test]
fn slots_are_read_and_written() {
    check_points(&[
        ("", "#<STANDARD-CLASS POINT>"),
        ("(let ((p (make-instance 'point :y 2))) (list (point-x p) (point-y p)))", "(0 2)"),
        (
            "(let ((p (make-instance 'point))) (setf (point-x p) 5) (incf (point-x p)) (point-x p))",
            "6",
        ),
        (
            "(let ((p (make-instance 'point :x 1))) (setf (slot-value p 'y) 7) (list (slot-value p 'x) (slot-value p 'y)))",
            "(1 7)",
        ),
        (
            "(let ((p (make-instance 'point))) (list (slot-boundp p 'x) (slot-boundp p 'y) (slot-exists-p p 'z) (slot-exists-p p 'x)))",
            "(T NIL NIL T)",
        ),
        (
            "(let ((p (make-instance 'point :x 3))) (slot-makunbound p 'x) (slot-boundp p 'x))",
            "NIL",
        ),
        (
            "(let ((p (make-instance 'point :x 3 :y 4))) (with-slots (x (b y)) p (setf x 10) (list x b (point-x p))))",
            "(10 4 10)",
        ),
        (
            "(let ((p (make-instance 'point :x 3))) (with-accessors ((a point-x)) p (incf a 2) (list a (point-x p))))",
            "(5 5)",
        ),
        (
            "(mapcar #'point-x (list (make-instance 'point :x 1) (make-instance 'point :x 2)))",
            "(1 2)",
        ),
        ("(make-instance (find-class 'point))", "#<POINT 1>"),
        (
            "(let ((a (make-instance 'point)) (b (make-instance 'point))) (list b a b))",
            "(#<POINT 1> #<POINT 2> #<POINT 1>)",
        ),
        ("(equalp (make-instance 'point :x 1) (make-instance 'point :x 1))", "NIL"),
        ("(rung:class-slots 'point)", "(X Y)"),
    ]);
}

#[test]
fn what_is_missing_or_unbound_says_so() {
    check_points(&[
        (
            "(point-y (make-instance 'point))",
            "test.lisp:1:103: error: the slot y of #<POINT 1> is unbound",
        ),
        (
            "(slot-value (make-instance 'point) 'z)",
            "test.lisp:1:103: error: slot-value: #<POINT 1> has no slot z: it has (x y)",
        ),
        (
            "(setf (slot-value (make-instance 'point) 'z) 1)",
            "test.lisp:1:103: error: (setf slot-value): #<POINT 1> has no slot z: it has (x y)",
        ),
        (
            "(slot-value 5 'z)",
            "test.lisp:1:103: error: slot-value: expected an instance of a standard class: got 5",
        ),
        (
            "(make-instance 'point :z 1)",
            "test.lisp:1:103: error: make-instance: point has no initarg :z: it has :x :y",
        ),
        (
            "(make-instance 'point :x)",
            "test.lisp:1:103: error: make-instance: an initarg has no value: (:X)",
        ),
        (
            "(make-instance 'nothing)",
            "test.lisp:1:103: error: make-instance: there is no class nothing",
        ),
        (
            "(make-instance 'integer)",
            "test.lisp:1:103: error: make-instance: integer is no standard class",
        ),
        (
            "(point-x 5)",
            "test.lisp:1:103: error: point-x: no method applies to (fixnum): it has methods for (point)",
        ),
        (
            "(handler-case (point-y (make-instance 'point)) (unbound-slot (c) (list (cell-error-name c) (unbound-slot-instance c))))",
            "(Y #<POINT 1>)",
        ),
        ("(handler-case (point-x 5) (rung:no-applicable-method-error () :none))", ":NONE"),
        (
            "(handler-case (slot-value (make-instance 'point) 'z) (cell-error (c) (cell-error-name c)))",
            "Z",
        ),
        ("(make-instance 'point :z 1 :allow-other-keys t)", "#<POINT 1>"),
        ("(find-class 'nothing nil)", "NIL"),
        ("(find-class 'nothing)", "test.lisp:1:103: error: find-class: there is no class nothing"),
        (
            "(defmethod slot-unbound (class (p point) name) (setf (slot-value p name) (list :made name))) (let ((p (make-instance 'point))) (list (point-y p) (slot-boundp p 'y)))",
            "((:MADE Y) T)",
        ),
        (
            "(defmethod slot-missing (class (p point) name operation &optional new) (list name operation new)) (let ((p (make-instance 'point))) (list (slot-value p 'a) (setf (slot-value p 'b) 3) (slot-boundp p 'c)))",
            "((A SLOT-VALUE NIL) 3 T)",
        ),
    ]);
}

#[test]
fn a_definition_that_cannot_be_says_why() {
    check(&[
        ("(defclass a () (x x))", "test.lisp:1:1: error: defclass: a has two slots named x"),
        (
            "(defclass a () ((x :foo 1)))",
            "test.lisp:1:1: error: defclass: slot x of a has no option :foo",
        ),
        (
            "(defclass a () ((x :initform 1 :initform 2)))",
            "test.lisp:1:1: error: defclass: slot x of a has two options :initform",
        ),
        (
            "(defclass a () ((x :allocation :moon)))",
            "test.lisp:1:1: error: defclass: expected :allocation :instance or :class: got :moon",
        ),
        (
            "(defclass a () () (:metaclass funcallable))",
            "test.lisp:1:1: error: defclass: there is no metaclass funcallable: only standard-class",
        ),
        (
            "(defclass a (integer) ())",
            "test.lisp:1:1: error: defclass: a cannot inherit from integer, no standard class",
        ),
        (
            "(defclass integer () ())",
            "test.lisp:1:1: error: integer is a name of the locked package common-lisp",
        ),
        (
            "(defclass a (b) ()) (make-instance 'a)",
            "test.lisp:1:21: error: the class a is incomplete: its superclass b is not defined",
        ),
        (
            "(defclass a () ()) (defclass b (a) ()) (defclass c (a b) ())",
            "test.lisp:1:40: error: the superclasses of c have no order of precedence: (a b) contradict each other",
        ),
        (
            "(defun f (x) x) (defclass a () ((f :reader f)))",
            "test.lisp:1:17: error: f is an ordinary function, not a generic one",
        ),
    ]);
    let hint = failure("(defun f (x) x) (defmethod f ((x list)) x)").hint;
    assert_eq!(hint.as_deref(), Some("(fmakunbound 'name) makes room for a new one"));
}

#[test]
fn slots_are_inherited_and_refined() {
    check(&[
        (
            "(defclass a () ((x :initarg :x :initform 1))) (defclass b (a) ((x :initform 2 :initarg :ex) (y :initform 3))) (let ((b (make-instance 'b)) (c (make-instance 'b :x 7)) (d (make-instance 'b :ex 8))) (list (slot-value b 'x) (slot-value b 'y) (slot-value c 'x) (slot-value d 'x)))",
            "(2 3 7 8)",
        ),
        (
            "(defclass a () ((n :allocation :class :initform 0 :accessor n))) (defclass b (a) ()) (let ((p (make-instance 'a)) (q (make-instance 'b))) (incf (n p)) (incf (n q)) (list (n p) (n q)))",
            "(2 2)",
        ),
        (
            "(defclass a () ((x :initarg :x :reader x)) (:default-initargs :x 5)) (defclass b (a) () (:default-initargs :x 6)) (list (x (make-instance 'a)) (x (make-instance 'b)) (x (make-instance 'b :x 7)))",
            "(5 6 7)",
        ),
        (
            "(defvar *n* 0) (defclass a () ((id :initform (incf *n*) :reader id))) (list (id (make-instance 'a)) (id (make-instance 'a)))",
            "(1 2)",
        ),
        (
            "(let ((seed 10)) (defclass a () ((id :initform (incf seed) :reader id)))) (list (id (make-instance 'a)) (id (make-instance 'a)))",
            "(11 12)",
        ),
        (
            "(defclass b (a) ()) (defclass a () ((x :initform 4))) (slot-value (make-instance 'b) 'x)",
            "4",
        ),
        (
            "(defclass a () ((x :writer set-x :reader x))) (let ((p (make-instance 'a))) (set-x 3 p) (x p))",
            "3",
        ),
        (
            "(defclass a () ((x :initarg :one :initarg :two :reader x))) (list (x (make-instance 'a :two 2)) (x (make-instance 'a :one 1 :two 2)))",
            "(2 1)",
        ),
    ]);
}

#[test]
fn the_order_of_precedence_is_the_standards() {
    // 4.3.5.2 of the standard.
    let pie = "(defclass food () ()) (defclass spice (food) ()) (defclass fruit (food) ()) \
               (defclass apple (fruit) ()) (defclass cinnamon (spice) ()) \
               (defclass pie (apple cinnamon) ()) (defclass pastry (cinnamon apple) ())";
    let names = |class: &str| {
        format!(
            "{pie} (defgeneric names (x) (:method-combination list)) \
             (defmacro name-of (class) `(defmethod names list ((x ,class)) ',class)) \
             (name-of food) (name-of spice) (name-of fruit) (name-of apple) (name-of cinnamon) \
             (name-of pie) (name-of pastry) (name-of standard-object) (name-of t) \
             (names (make-instance '{class}))"
        )
    };
    check(&[
        (&names("pie"), "(PIE APPLE FRUIT CINNAMON SPICE FOOD STANDARD-OBJECT T)"),
        (&names("pastry"), "(PASTRY CINNAMON SPICE APPLE FRUIT FOOD STANDARD-OBJECT T)"),
        (
            &format!("{pie} (defclass new-class (pie pastry) ())"),
            "test.lisp:1:209: error: the superclasses of new-class have no order of precedence: (apple cinnamon) contradict each other",
        ),
    ]);
}

#[test]
fn initialisation_can_be_specialised() {
    check_points(&[
        (
            "(defmethod initialize-instance :after ((p point) &key) (setf (point-y p) (* 2 (point-x p)))) (point-y (make-instance 'point :x 4))",
            "8",
        ),
        (
            "(defmethod initialize-instance :after ((p point) &key (scale 1)) (setf (point-x p) (* scale (point-x p)))) (point-x (make-instance 'point :x 4 :scale 10))",
            "40",
        ),
        (
            "(defmethod initialize-instance :after ((p point) &key scale) scale) (make-instance 'point :scal 10)",
            "test.lisp:1:171: error: make-instance: point has no initarg :scal: it has :x :y",
        ),
        (
            "(defmethod shared-initialize :after ((p point) slots &rest more) (setf (point-y p) (list slots more))) (point-y (make-instance 'point :x 1))",
            "(T (:X 1))",
        ),
        (
            "(defmethod initialize-instance ((p point) &rest more &key x) (apply #'call-next-method p :x (* 3 x) more)) (point-x (make-instance 'point :x 2))",
            "6",
        ),
        (
            "(let ((p (make-instance 'point :x 1 :y 2))) (reinitialize-instance p :y 9) (list (point-x p) (point-y p)))",
            "(1 9)",
        ),
        (
            "(let ((p (make-instance 'point))) (reinitialize-instance p :z 9))",
            "test.lisp:1:137: error: reinitialize-instance: point has no initarg :z: it has :x :y",
        ),
        ("(slot-boundp (allocate-instance (find-class 'point)) 'x)", "NIL"),
        (
            "(let ((p (allocate-instance (find-class 'point)))) (shared-initialize p '(x)) (point-x p))",
            "0",
        ),
    ]);
}

#[test]
fn a_class_that_is_defined_again_keeps_its_identity_and_updates_its_instances() {
    check_points(&[
        (
            "(let ((p (make-instance 'point :x 1 :y 2)) (c (find-class 'point))) (defclass point () ((y :accessor point-y) (z :initform 3 :accessor point-z))) (list (eq c (class-of p)) (eq c (find-class 'point)) (point-y p) (point-z p) (slot-exists-p p 'x)))",
            "(T T 2 3 NIL)",
        ),
        (
            "(defclass p3 (point) ((z :initform 1))) (let ((p (make-instance 'p3 :x 5))) (defclass point () ((x :initarg :x) (w :initform 6))) (list (slot-value p 'w) (slot-value p 'x) (slot-value p 'z)))",
            "(6 5 1)",
        ),
        (
            "(defmethod update-instance-for-redefined-class :after ((p point) added discarded plist &rest more) (setf (slot-value p 'r) (list added discarded plist))) (let ((p (make-instance 'point :x 1))) (defclass point () ((r) (y))) (slot-value p 'r))",
            "((R) (X) (X 1))",
        ),
        (
            "(let ((p (make-instance 'point :x 1))) (defclass point () ((x :initarg :x :accessor point-x :allocation :class :initform 8))) (list (point-x p) (point-x (make-instance 'point))))",
            "(8 8)",
        ),
        (
            "(let ((p (make-instance 'point :x 1))) (point-x p) (dotimes (i 3) (eval '(defclass point () ((y) (x :accessor point-x)))) (incf (point-x p))) (point-x p))",
            "4",
        ),
        (
            "(defmethod f ((p point)) :point) (defclass other () ()) (defclass sub (other) ()) (let ((s (make-instance 'sub))) (defclass other (point) ()) (f s))",
            ":POINT",
        ),
        (
            "(let ((p (make-instance 'point :x 4))) (make-instances-obsolete 'point) (point-x p))",
            "4",
        ),
        (
            "(setf (documentation 'point 'type) \"Two numbers.\") (documentation (find-class 'point) t)",
            "\"Two numbers.\"",
        ),
    ]);
}

#[test]
fn an_instance_changes_its_class() {
    check_points(&[
        (
            "(defclass polar () ((x :initform :none) (r :initarg :r :initform 1))) (let ((p (make-instance 'point :x 3))) (change-class p 'polar) (list (class-name (class-of p)) (slot-value p 'x) (slot-value p 'r)))",
            "(POLAR 3 1)",
        ),
        (
            "(defclass polar () ((r :initarg :r))) (let ((p (make-instance 'point))) (slot-value (change-class p (find-class 'polar) :r 7) 'r))",
            "7",
        ),
        (
            "(defclass polar () ((r))) (defmethod update-instance-for-different-class :before ((old point) (new polar) &key) (setf (slot-value new 'r) (list :from (point-x old)))) (let ((p (make-instance 'point :x 5))) (change-class p 'polar) (slot-value p 'r))",
            "(:FROM 5)",
        ),
        (
            "(defclass polar () ((r :initarg :r))) (change-class (make-instance 'point) 'polar :q 1)",
            "test.lisp:1:141: error: change-class: polar has no initarg :q: it has :r",
        ),
        (
            "(defclass polar () ()) (defmethod kind ((p point)) :point) (defmethod kind ((p polar)) :polar) (let ((p (make-instance 'point))) (list (kind p) (kind (change-class p 'polar)) (kind p)))",
            "(:POINT :POLAR :POLAR)",
        ),
        (
            "(change-class 5 'point)",
            "test.lisp:1:103: error: change-class: no method applies to (fixnum symbol): it has methods for (standard-object class) (standard-object symbol)",
        ),
    ]);
}

#[test]
fn classes_are_types() {
    check_points(&[
        (
            "(defclass p3 (point) ()) (let ((p (make-instance 'p3))) (list (typep p 'p3) (typep p 'point) (typep p (find-class 'point)) (typep p 'standard-object) (typep p t) (typep p 'structure-object) (typep 5 'point) (type-of p)))",
            "(T T T T T NIL NIL P3)",
        ),
        ("(defclass p3 (point) ()) (multiple-value-list (subtypep 'p3 'point))", "(T T)"),
        (
            "(defclass p3 (point) ()) (list (subtypep 'point 'p3) (subtypep (find-class 'p3) 'standard-object) (subtypep 'p3 t))",
            "(NIL T T)",
        ),
        ("(typecase (make-instance 'point) (integer 1) (point 2))", "2"),
        (
            "(mapcar (lambda (x) (class-name (class-of x))) (list 1 (expt 10 30) 1/2 1.0 1f0 'a nil \"s\" #\\a '(1) #(1) #d(1) #'car #'print-object (find-class 'point) (find-class 'integer)))",
            "(FIXNUM BIGNUM RATIO DOUBLE-FLOAT SINGLE-FLOAT SYMBOL NULL STRING CHARACTER CONS VECTOR VECTOR FUNCTION STANDARD-GENERIC-FUNCTION STANDARD-CLASS BUILT-IN-CLASS)",
        ),
        (
            "(setf (find-class 'p) (find-class 'point)) (list (make-instance 'p) (class-name (find-class 'p)))",
            "(#<POINT 1> POINT)",
        ),
        (
            "(let ((p (make-instance 'point))) (setf (find-class 'point) nil) (list (find-class 'point nil) (type-of p) (typep p (class-of p)) (point-x p)))",
            "(NIL #<STANDARD-CLASS POINT> T 0)",
        ),
        ("(setf (class-name (find-class 'point)) 'dot) (class-name (find-class 'point))", "DOT"),
        ("(check-type (make-instance 'point) point)", "NIL"),
    ]);
}

#[test]
fn printing_and_describing_can_be_specialised() {
    let with_method = format!(
        "{POINT} (defmethod print-object ((p point) stream) (print-unreadable-object (p stream :type t) \
         (format stream \"~A,~A\" (point-x p) (point-y p))))"
    );
    let point = "(make-instance 'point :x 1 :y 2)";
    check(&[
        (&format!("{with_method} (list {point} {point})"), "(#<POINT 1,2> #<POINT 1,2>)"),
        (
            &format!("{with_method} (format nil \"~A|~S|~10A|\" {point} {point} :x)"),
            "\"#<POINT 1,2>|#<POINT 1,2>|X         |\"",
        ),
        (
            &format!("{with_method} (defclass p3 (point) ()) (make-instance 'p3 :x 3 :y 4)"),
            "#<P3 3,4>",
        ),
        (
            &format!("{with_method} (error \"bad: ~A\" {point})"),
            "test.lisp:1:240: error: bad: #<POINT 1,2>",
        ),
        (
            &format!(
                "{POINT} (defmethod print-object ((p point) s) (if *print-escape* (call-next-method) (princ :plain s))) (format nil \"~A ~S\" {point} {point})"
            ),
            "\"PLAIN #<POINT 1>\"",
        ),
        (
            &format!(
                "{POINT} (defmethod print-object ((p point) s) (print-unreadable-object (p s :type t :identity t))) {point}"
            ),
            "#<POINT {1}>",
        ),
        (
            "(defstruct box w) (defmethod print-object ((b box) s) (format s \"<box ~A>\" (box-w b))) (list (make-box :w 1))",
            "(<box 1>)",
        ),
        (
            "(define-condition oops (error) ((n :initarg :n))) (defmethod print-object ((c oops) s) (format s \"oops ~A\" (slot-value c 'n))) (make-condition 'oops :n 4)",
            "oops 4",
        ),
        (
            &format!("{POINT} (let ((*print-readably* t)) (prin1-to-string {point}))"),
            "test.lisp:1:131: error: #<POINT 1> cannot be printed readably",
        ),
        (
            &format!(
                "{POINT} (defmethod print-object ((p point) s) (prin1 (list (point-x p)) s)) (let ((*print-level* 2)) (prin1-to-string (list (list (make-instance 'point)))))"
            ),
            "\"((#))\"",
        ),
    ]);
    assert_eq!(
        output(&format!("{POINT} (describe {point})")),
        "#<POINT 1> is a point\n  x: 1\n  y: 2\n"
    );
    assert_eq!(
        output(&format!(
            "{POINT} (defmethod describe-object ((p point) s) (princ :mine s)) (describe {point})"
        )),
        "MINE"
    );
}

#[test]
fn structures_and_conditions_are_classes_with_slots() {
    check(&[
        (
            "(defstruct box w) (defstruct (crate (:include box)) d) (defmethod volume ((b box)) (box-w b)) (list (volume (make-box :w 2)) (volume (make-crate :w 3)))",
            "(2 3)",
        ),
        (
            "(defstruct box w) (let ((b (make-box :w 1))) (setf (slot-value b 'w) 5) (list (slot-value b 'w) (slot-boundp b 'w) (slot-exists-p b 'd) (class-name (class-of b))))",
            "(5 T NIL BOX)",
        ),
        (
            "(defstruct box w) (slot-value (make-box) 'd)",
            "test.lisp:1:19: error: slot-value: #S(BOX :W NIL) has no slot d: it has (w)",
        ),
        (
            "(defstruct box w) (defmethod f ((b structure-object)) :structure) (f (make-box))",
            ":STRUCTURE",
        ),
        (
            "(define-condition oops (error) ((n :initarg :n :reader oops-n))) (defmethod f ((c error)) :error) (defmethod f ((c oops)) (list (oops-n c) (call-next-method))) (f (make-condition 'oops :n 4))",
            "(4 :ERROR)",
        ),
        (
            "(define-condition oops (error) ((n :initarg :n))) (oops-n (make-condition 'oops))",
            "test.lisp:1:51: error: the function oops-n is undefined",
        ),
        (
            "(defclass a () ((n :initarg :n :reader n))) (define-condition oops (error) ((n :initarg :n :accessor n))) \
             (let ((c (make-condition 'oops :n 4))) (setf (n c) 5) (list (n c) (n (make-instance 'a :n 1))))",
            "(5 1)",
        ),
        (
            "(defmethod f ((c arithmetic-error)) :arithmetic) (handler-case (/ 1 0) (error (c) (f c)))",
            ":ARITHMETIC",
        ),
        (
            "(define-condition oops (error) ((n :initarg :n))) (slot-value (make-instance 'oops :n 3) 'n)",
            "3",
        ),
        (
            "(defstruct box w) (list (find-class 'box) (find-class 'error) (subtypep 'box 'structure-object))",
            "(#<STRUCTURE-CLASS BOX> #<RUNG:CONDITION-CLASS ERROR> T)",
        ),
        (
            "(multiple-value-list (make-load-form-saving-slots (make-instance (defclass a () ((x :initform 1)))) :slot-names '()))",
            "((ALLOCATE-INSTANCE (FIND-CLASS 'A)) (PROGN))",
        ),
        ("(make-load-form (find-class 'integer))", "(FIND-CLASS 'INTEGER)"),
    ]);
}

#[test]
fn circular_instances_are_collected_and_living_ones_stay() {
    check_points(&[
        (
            "(dotimes (i 10) (let ((p (make-instance 'point))) (setf (point-x p) p))) (>= (rung:gc) 10)",
            "T",
        ),
        (
            "(defvar *p* (make-instance 'point :x 7)) (setf (point-y *p*) (list *p* #'point-x (find-class 'point))) (rung:gc) (rung:gc) (defmethod point-x :after ((p point)) p) (rung:gc) (list (point-x *p*) (point-x (first (point-y *p*))) (make-instance 'point))",
            "(7 7 #<POINT 1>)",
        ),
    ]);
}
