;;; Sets, trees and association lists.

(defun %same (test test-not)
  (cond (test-not (let ((f test-not)) (lambda (a b) (not (funcall f a b)))))
        (test test)
        (t #'eql)))

(defun adjoin (item list &key key (test nil) test-not)
  "The list, with the item in front unless it is there."
  (let ((same (%same test test-not)) (mine (if key (funcall key item) item)))
    (if (member mine list :test same :key key) list (cons item list))))

(defun union (a b &key key test test-not)
  "The elements of either list."
  (let ((same (%same test test-not)) (result b))
    (dolist (x a result)
      (unless (member (if key (funcall key x) x) b :test same :key key) (push x result)))))

(defun nunion (a b &key key test test-not)
  "As union."
  (union a b :key key :test test :test-not test-not))

(defun intersection (a b &key key test test-not)
  "The elements of both lists."
  (let ((same (%same test test-not)))
    (remove-if-not (lambda (x) (member (if key (funcall key x) x) b :test same :key key)) a)))

(defun nintersection (a b &key key test test-not)
  "As intersection."
  (intersection a b :key key :test test :test-not test-not))

(defun set-difference (a b &key key test test-not)
  "The elements of the first list that are not in the second."
  (let ((same (%same test test-not)))
    (remove-if (lambda (x) (member (if key (funcall key x) x) b :test same :key key)) a)))

(defun nset-difference (a b &key key test test-not)
  "As set-difference."
  (set-difference a b :key key :test test :test-not test-not))

(defun set-exclusive-or (a b &key key test test-not)
  "The elements of one list alone."
  (append (set-difference a b :key key :test test :test-not test-not)
          (set-difference b a :key key :test test :test-not test-not)))

(defun nset-exclusive-or (a b &key key test test-not)
  "As set-exclusive-or."
  (set-exclusive-or a b :key key :test test :test-not test-not))

(defun subsetp (a b &key key test test-not)
  "Whether all elements of the first list are in the second."
  (null (set-difference a b :key key :test test :test-not test-not)))

(defun copy-tree (tree)
  "A copy of all pairs."
  (if (consp tree)
      (let ((head nil))
        (loop (unless (consp tree) (return))
              (push (copy-tree (car tree)) head)
              (setq tree (cdr tree)))
        (nreconc head tree))
      tree))

(defun copy-alist (alist)
  "A copy of the list and its pairs."
  (mapcar (lambda (p) (if (consp p) (cons (car p) (cdr p)) p)) alist))

(defun tree-equal (a b &key test test-not)
  "Whether two trees have the same shape and leaves."
  (let ((same (%same test test-not)))
    (labels ((walk (a b)
               (cond ((and (consp a) (consp b))
                      (and (walk (car a) (car b)) (walk (cdr a) (cdr b))))
                     ((or (consp a) (consp b)) nil)
                     (t (funcall same a b)))))
      (walk a b))))

(defun subst (new old tree &key key test test-not)
  "The tree with another value for some leaves."
  (let ((same (%same test test-not)))
    (subst-if new (lambda (x) (funcall same old x)) tree :key key)))

(defun subst-if (new predicate tree &key key)
  "The tree with another value where the predicate is true."
  (labels ((walk (x)
             (cond ((funcall predicate (if key (funcall key x) x)) new)
                   ((consp x)
                    (let ((a (walk (car x))) (d (walk (cdr x))))
                      (if (and (eql a (car x)) (eql d (cdr x))) x (cons a d))))
                   (t x))))
    (walk tree)))

(defun subst-if-not (new predicate tree &key key)
  "The tree with another value where the predicate is nil."
  (subst-if new (complement predicate) tree :key key))

(defun nsubst (new old tree &key key test test-not)
  "As subst."
  (subst new old tree :key key :test test :test-not test-not))

(defun nsubst-if (new predicate tree &key key)
  "As subst-if."
  (subst-if new predicate tree :key key))

(defun nsubst-if-not (new predicate tree &key key)
  "As subst-if-not."
  (subst-if-not new predicate tree :key key))

(defun sublis (alist tree &key key test test-not)
  "The tree with other values for the keys of a list."
  (let ((same (%same test test-not)))
    (labels ((walk (x)
               (let ((found (assoc (if key (funcall key x) x) alist :test same)))
                 (cond (found (cdr found))
                       ((consp x) (cons (walk (car x)) (walk (cdr x))))
                       (t x)))))
      (walk tree))))

(defun nsublis (alist tree &key key test test-not)
  "As sublis."
  (sublis alist tree :key key :test test :test-not test-not))

(defun pairlis (keys data &optional alist)
  "Pairs of keys and data in front of a list."
  (nconc (mapcar #'cons keys data) alist))

(defun ldiff (list tail)
  "The elements before a tail."
  (let ((result nil))
    (loop (when (or (atom list) (eql list tail))
            (return (if (eql list tail) (nreverse result) (nreconc result list))))
          (push (pop list) result))))

(defun tailp (object list)
  "Whether an object is a tail of a list."
  (loop (when (eql object list) (return t))
        (when (atom list) (return nil))
        (setq list (cdr list))))

(defun get-properties (plist indicators)
  "The first of some properties: indicator, value, tail."
  (loop (when (null plist) (return (values nil nil nil)))
        (when (member (car plist) indicators)
          (return (values (car plist) (cadr plist) plist)))
        (setq plist (cddr plist))))
