//! Displaced arrays, arrays that are adjusted, fill pointers.

mod common;

use common::{check, values};

#[test]
fn a_displaced_array_shows_the_elements_of_another() {
    check(&[
        (
            "(let* ((a #2A((1 2) (3 4))) (b (make-array 3 :displaced-to a :displaced-index-offset 1)))
               (setf (aref b 1) 9)
               (list a b (reverse b) (length b)))",
            "(#2A((1 2) (9 4)) #(2 9 4) #(4 9 2) 3)",
        ),
        (
            "(let* ((s (copy-seq \"hello\"))
                    (d (make-array 3 :element-type 'character :displaced-to s
                                     :displaced-index-offset 1)))
               (setf (char d 0) #\\E)
               (list s d (string-upcase d) (stringp d) (simple-string-p d) (equal d \"Ell\")))",
            "(\"hEllo\" \"Ell\" \"ELL\" T NIL T)",
        ),
        (
            "(let* ((m (make-array '(2 2) :element-type 'double-float :initial-element 1d0))
                    (v (make-array 4 :element-type 'double-float :displaced-to m)))
               (setf (aref v 3) 5)
               (list m v (reduce #'+ v) (subseq v 2) (type-of v) (typep v 'simple-array)
                     (equalp v #d(1 1 1 5))))",
            "(#d((1.0 1.0) (1.0 5.0)) #d(1.0 1.0 1.0 5.0) 8.0 #d(1.0 5.0) \
             (ARRAY DOUBLE-FLOAT (4)) NIL T)",
        ),
        (
            "(let ((a (vector 1 2 3)))
               (multiple-value-list
                (array-displacement (make-array 2 :displaced-to a :displaced-index-offset 1))))",
            "(#(1 2 3) 1)",
        ),
        ("(multiple-value-list (array-displacement (vector 1)))", "(NIL 0)"),
    ]);
}

#[test]
fn what_a_displaced_array_cannot_show_is_an_error() {
    check(&[
        (
            "(make-array 3 :displaced-to (vector 1 2))",
            "test.lisp:1:1: error: make-array: 3 elements from 0 on are not within an array of 2",
        ),
        (
            "(make-array 1 :element-type 'double-float :displaced-to (vector 1))",
            "test.lisp:1:1: error: make-array: the element type is not that of the array to be shown",
        ),
        (
            "(let ((a (make-array 2 :adjustable t)))
               (adjust-array a 2 :displaced-to (make-array 2 :displaced-to a)))",
            "test.lisp:2:16: error: adjust-array: the array would show its own elements",
        ),
    ]);
}

#[test]
fn an_array_shows_what_its_target_has_left() {
    check(&[(
        "(let* ((a (make-array 4 :adjustable t :initial-contents '(1 2 3 4)))
                (b (make-array 3 :displaced-to a :displaced-index-offset 1)))
           (adjust-array a 2)
           (handler-case (aref b 2) (error () :gone)))",
        ":GONE",
    )]);
}

#[test]
fn an_adjustable_array_stays_the_same_object() {
    check(&[
        (
            "(let* ((s (make-array 2 :element-type 'character :adjustable t :initial-element #\\a))
                    (new (adjust-array s 3 :initial-element #\\b)))
               (list (eq s new) s))",
            "(T \"aab\")",
        ),
        (
            "(let* ((a (make-array '(2 2) :adjustable t :initial-contents '((1 2) (3 4)))))
               (list (eq a (adjust-array a '(3 1) :initial-element 0)) a))",
            "(T #2A((1) (3) (0)))",
        ),
        (
            "(let* ((v (make-array 3 :fill-pointer 2 :initial-element 7)) (w (adjust-array v 5)))
               (list (eq v w) (length w) (array-dimension w 0)))",
            "(NIL 2 5)",
        ),
        (
            "(let* ((a (vector 1 2 3)) (b (make-array 1 :adjustable t)))
               (list (eq b (adjust-array b 2 :displaced-to a :displaced-index-offset 1)) b))",
            "(T #(2 3))",
        ),
    ]);
}

#[test]
fn element_types_may_be_names_of_deftype() {
    check(&[
        (
            "(deftype octet () '(unsigned-byte 8))
             (array-element-type (make-array 2 :element-type 'octet))",
            "(UNSIGNED-BYTE 8)",
        ),
        (
            "(deftype octets () '(simple-array (unsigned-byte 8) (*)))
             (list (map 'octets #'char-code \"ab\") (coerce '(1) 'octets)
                   (concatenate 'octets '(1) '(2)) (make-sequence 'octets 2))",
            "(#(97 98) #(1) #(1 2) #(0 0))",
        ),
        ("(make-sequence 'simple-string 2)", "\"  \""),
    ]);
}

#[test]
fn arrays_of_nothing_have_elements_of_type_nil() {
    assert_eq!(values("(upgraded-array-element-type nil)"), "NIL");
    assert_eq!(values("(upgraded-array-element-type t)"), "T");
}
