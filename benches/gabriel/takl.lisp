;;; Takeuchi's function on lists that stand for their length: walking lists.
(defun numbers-down (n) (if (= n 0) nil (cons n (numbers-down (- n 1)))))
(defun shorter (a b) (and b (or (null a) (shorter (cdr a) (cdr b)))))
(defun takl (x y z)
  (if (not (shorter y x))
      z
      (takl (takl (cdr x) y z) (takl (cdr y) z x) (takl (cdr z) x y))))
(defvar *eighteen* (numbers-down 18))
(defvar *twelve* (numbers-down 12))
(defvar *six* (numbers-down 6))
(defun bench () (length (takl *eighteen* *twelve* *six*)))
