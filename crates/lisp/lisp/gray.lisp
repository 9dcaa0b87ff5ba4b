;;; Streams that a program defines: classes to inherit from, and the generic functions that the
;;; functions on streams call for their instances. Names and meanings are those of the library
;;; trivial-gray-streams, whose place this takes.

(defclass trivial-gray-streams:fundamental-stream (standard-object stream) ())

(defclass trivial-gray-streams:fundamental-input-stream
    (trivial-gray-streams:fundamental-stream) ())

(defclass trivial-gray-streams:fundamental-output-stream
    (trivial-gray-streams:fundamental-stream) ())

(defclass trivial-gray-streams:fundamental-character-stream
    (trivial-gray-streams:fundamental-stream) ())

(defclass trivial-gray-streams:fundamental-binary-stream
    (trivial-gray-streams:fundamental-stream) ())

(defclass trivial-gray-streams:fundamental-character-input-stream
    (trivial-gray-streams:fundamental-input-stream
     trivial-gray-streams:fundamental-character-stream) ())

(defclass trivial-gray-streams:fundamental-character-output-stream
    (trivial-gray-streams:fundamental-output-stream
     trivial-gray-streams:fundamental-character-stream) ())

(defclass trivial-gray-streams:fundamental-binary-input-stream
    (trivial-gray-streams:fundamental-input-stream
     trivial-gray-streams:fundamental-binary-stream) ())

(defclass trivial-gray-streams:fundamental-binary-output-stream
    (trivial-gray-streams:fundamental-output-stream
     trivial-gray-streams:fundamental-binary-stream) ())

(defclass trivial-gray-streams:trivial-gray-stream-mixin () ())

(defgeneric trivial-gray-streams:stream-read-char (stream)
  (:documentation "The next character, or :eof."))

(defgeneric trivial-gray-streams:stream-unread-char (stream character)
  (:documentation "Puts a character back."))

(defgeneric trivial-gray-streams:stream-read-char-no-hang (stream)
  (:documentation "The next character if it is there, nil if not, or :eof.")
  (:method (stream) (trivial-gray-streams:stream-read-char stream)))

(defgeneric trivial-gray-streams:stream-peek-char (stream)
  (:documentation "The next character, which stays, or :eof.")
  (:method (stream)
    (let ((character (trivial-gray-streams:stream-read-char stream)))
      (unless (eq character :eof)
        (trivial-gray-streams:stream-unread-char stream character))
      character)))

(defgeneric trivial-gray-streams:stream-listen (stream)
  (:documentation "Whether a character is there.")
  (:method (stream)
    (let ((character (trivial-gray-streams:stream-read-char-no-hang stream)))
      (unless (member character '(nil :eof))
        (trivial-gray-streams:stream-unread-char stream character)
        t))))

(defgeneric trivial-gray-streams:stream-read-line (stream)
  (:documentation "The next line, and whether its end was missing.")
  (:method (stream)
    (let ((line (make-string-output-stream)))
      (loop
        (let ((character (trivial-gray-streams:stream-read-char stream)))
          (cond ((eq character :eof)
                 (return (values (get-output-stream-string line) t)))
                ((char= character #\Newline)
                 (return (values (get-output-stream-string line) nil)))
                (t (write-char character line))))))))

(defgeneric trivial-gray-streams:stream-clear-input (stream)
  (:documentation "Forgets what could be read.")
  (:method (stream) (declare (ignore stream)) nil))

(defgeneric trivial-gray-streams:stream-write-char (stream character)
  (:documentation "Writes a character."))

(defgeneric trivial-gray-streams:stream-write-string (stream string &optional start end)
  (:documentation "Writes a part of a string.")
  (:method (stream string &optional (start 0) end)
    (loop for at from start below (or end (length string))
          do (trivial-gray-streams:stream-write-char stream (char string at)))
    string))

(defgeneric trivial-gray-streams:stream-line-column (stream)
  (:documentation "The column that the next character goes to, or nil.")
  (:method (stream) (declare (ignore stream)) nil))

(defgeneric trivial-gray-streams:stream-start-line-p (stream)
  (:documentation "Whether the next character begins a line.")
  (:method (stream) (eql (trivial-gray-streams:stream-line-column stream) 0)))

(defgeneric trivial-gray-streams:stream-terpri (stream)
  (:documentation "Ends the line.")
  (:method (stream) (trivial-gray-streams:stream-write-char stream #\Newline) nil))

(defgeneric trivial-gray-streams:stream-fresh-line (stream)
  (:documentation "Ends the line unless nothing is on it.")
  (:method (stream)
    (unless (trivial-gray-streams:stream-start-line-p stream)
      (trivial-gray-streams:stream-terpri stream)
      t)))

(defgeneric trivial-gray-streams:stream-advance-to-column (stream column)
  (:documentation "Writes spaces up to a column.")
  (:method (stream column)
    (let ((now (trivial-gray-streams:stream-line-column stream)))
      (when now
        (loop repeat (- column now)
              do (trivial-gray-streams:stream-write-char stream #\Space))
        t))))

(defgeneric trivial-gray-streams:stream-finish-output (stream)
  (:documentation "Waits for the output.")
  (:method (stream) (declare (ignore stream)) nil))

(defgeneric trivial-gray-streams:stream-force-output (stream)
  (:documentation "Sends the output on its way.")
  (:method (stream) (declare (ignore stream)) nil))

(defgeneric trivial-gray-streams:stream-clear-output (stream)
  (:documentation "Forgets the output that is not on its way.")
  (:method (stream) (declare (ignore stream)) nil))

(defgeneric trivial-gray-streams:stream-read-byte (stream)
  (:documentation "The next byte, or :eof."))

(defgeneric trivial-gray-streams:stream-write-byte (stream byte)
  (:documentation "Writes a byte."))

(defgeneric trivial-gray-streams:stream-read-sequence
    (stream sequence start end &key &allow-other-keys)
  (:documentation "Fills a part of a sequence; the index of the first element that was not.")
  (:method (stream sequence start end &key)
    (rung::%read-elements sequence stream start (or end (length sequence)))))

(defgeneric trivial-gray-streams:stream-write-sequence
    (stream sequence start end &key &allow-other-keys)
  (:documentation "Writes a part of a sequence.")
  (:method (stream sequence start end &key)
    (rung::%write-elements sequence stream start (or end (length sequence)))))

(defgeneric trivial-gray-streams:stream-file-position (stream)
  (:documentation "Where the stream is, or nil.")
  (:method (stream) (declare (ignore stream)) nil))
