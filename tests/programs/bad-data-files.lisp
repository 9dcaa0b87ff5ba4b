;;; Data files that are not what they say: each is refused with its path, place and reason.
(defun out (name)
  (format nil "~A/~A" (or (uiop:getenv "TMPDIR") "/tmp") name))

(defun put (name &rest lines)
  "Writes a file of the lines; its path."
  (with-open-file (stream (out name) :direction :output :if-exists :supersede)
    (format stream "~{~A~%~}" lines))
  (out name))

(defun show (function &rest arguments)
  (handler-case (print (apply function arguments))
    (rung:format-error (e)
      (format t "~A~@[ (byte ~D)~]: ~A~%"
              (file-namestring (rung:format-error-pathname e))
              (rung:format-error-offset e)
              (rung:format-error-reason e)))
    (file-error (e)
      (format t "no ~A~%" (file-namestring (file-error-pathname e))))))

(show #'npy:read (put "text.npy" "this is a text"))
(show #'npz:read (put "text.npz" "this is a text"))
(show #'safetensors:read (put "text.safetensors" "this is a text"))
(show #'safetensors:read
      (put "outside.json" "{\"weight_map\": {\"x\": \"../x.safetensors\"}}"))
(show #'npy:read (out "absent.npy"))
(show #'csv:read (put "ragged.csv" "a,b" "1,2" "3"))
(show #'csv:read (put "open.csv" "a,b" "1,\"2" "3,4"))
(show #'csv:read (put "behind.csv" "a,b" "\"1\"2,3"))
(show #'csv:read (put "large.csv" "a" "1" "256") :types '(unsigned-byte 8))
(show #'csv:read (put "words.csv" "a" "1" "two") :as :matrix)

;; A header that announces more than there is; the line end is the only byte behind it.
(defun tensors (header)
  (put "lies.safetensors"
       (format nil "~A~A~A" (code-char (length header))
               (make-string 7 :initial-element (code-char 0)) header)))

(dolist (header '("{\"x\":{\"dtype\":\"F32\",\"shape\":[1000],\"data_offsets\":[0,4000]}}"
                  "{\"x\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,1]}}"
                  "{\"x\":1,\"x\":2}"
                  "{}"))
  (show #'safetensors:entries (tensors header)))

;; Nobody handles this one.
(npy:read "examples/data/digits.csv")
;;; exit: 3
;;; out: text.npy (byte 0): expected an npy file: it begins with "this is "
;;; out: text.npz (byte 0): expected a zip file: it begins with "this"
;;; out: text.safetensors (byte 0): expected a safetensors file: its first 8 bytes announce a header of 2338328219631577204 bytes, and 7 follow
;;; out: outside.json: tensor "x" is in no file beside the index: "../x.safetensors"
;;; out: no absent.npy
;;; out: ragged.csv (byte 8): line 3: expected 2 fields: got 1
;;; out: open.csv (byte 6): line 2: a quote is opened and never closed
;;; out: behind.csv (byte 7): line 2: text follows the quote that closes a field
;;; out: large.csv (byte 4): line 3: column 0 (a) is no (unsigned-byte 8): "256"
;;; out: words.csv (byte 4): line 3: column 0 (a) is no number: "two"
;;; out: lies.safetensors (byte 8): tensor "x": bytes 0 to 4000 are not in the 1 behind the header
;;; out: lies.safetensors (byte 8): tensor "x": U8 cells of shape (2) take 2 bytes: got 1
;;; out: lies.safetensors (byte 8): the header: the key "x" stands twice at line 1 column 13
;;; out: lies.safetensors (byte 8): the last 1 bytes are no tensor's
;;; err: error: npy: examples/data/digits.csv: expected an npy file: it begins with "0,0,5,13" (at byte 0)
;;; err:   --> tests/programs/bad-data-files.lisp:46:1
;;; err:    |
;;; err: 46 | (npy:read "examples/data/digits.csv")
;;; err:    | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
