//! Files and streams that fail: what is signalled, and what the embedder is told.

mod common;

use common::{failure, lisp_reading, values};
use rung_lisp::{Lisp, Options, UnhandledKind};

/// A path that no other test uses; nothing is there yet.
fn fresh_path(name: &str) -> String {
    let path = std::env::temp_dir().join(format!("rung-lisp-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path.display().to_string()
}

#[test]
fn opening_an_existing_file_for_output_is_a_file_error() {
    let path = fresh_path("exists.txt");
    let write = |text: &str, options: &str| {
        values(&format!(
            "(with-open-file (s \"{path}\" :direction :output {options}) (if s (write-string \"{text}\" s)))"
        ))
    };
    assert_eq!(write("first", ""), "\"first\"");
    let ended = failure(&format!("(open \"{path}\" :direction :output)"));
    assert_eq!(ended.kind, UnhandledKind::File);
    assert_eq!(ended.text, format!("cannot open {path}: the file exists"));
    let hint = ":if-exists :supersede replaces it, :append adds to it";
    assert_eq!(ended.hint.as_deref(), Some(hint));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first");
    assert_eq!(write("x", ":if-exists nil"), "NIL");
    assert_eq!(write(" more", ":if-exists :append"), "\" more\"");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "first more");
    assert_eq!(write("new", ":if-exists :supersede"), "\"new\"");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    let caught = format!(
        "(handler-case (open \"{path}\" :direction :output) (file-error (c) (namestring (file-error-pathname c))))"
    );
    assert_eq!(values(&caught), format!("\"{path}\""));
    std::fs::remove_file(&path).unwrap();
}

#[cfg(target_os = "linux")]
#[test]
fn a_write_to_a_full_disk_is_a_failure_of_the_file_kind() {
    let table = [
        "(with-open-file (s \"/dev/full\" :direction :output) (write-string \"x\" s))",
        "(let ((s (open \"/dev/full\" :direction :output))) (write-string \"x\" s) (close s))",
        "(with-open-file (s \"/dev/full\" :direction :output) (dotimes (i 100000) (print i s)))",
        "(let ((s (open \"/dev/full\" :direction :output))) (write-byte 65 s) (finish-output s))",
    ];
    for text in table {
        let ended = failure(text);
        assert_eq!(ended.kind, UnhandledKind::File, "{text}: {ended}");
        assert_eq!(ended.text, "cannot write /dev/full: no space left on device", "{text}");
        assert_eq!(ended.class, "stream-error");
    }
    let caught = "(handler-case (with-open-file (s \"/dev/full\" :direction :output) (print 1 s)) \
                  (stream-error () :caught))";
    assert_eq!(values(caught), ":CAUGHT");
}

#[cfg(target_os = "linux")]
#[test]
fn standard_output_on_a_full_disk_is_a_failure_of_the_file_kind() {
    let full = || Box::new(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let mut lisp = Lisp::new(Options { output: full(), ..Options::default() });
    let ended = lisp.eval_text("test.lisp", "(print 1)").unwrap_err();
    assert_eq!((ended.kind, ended.text.as_str()), (UnhandledKind::File, FULL));
    let buffered = Box::new(std::io::BufWriter::new(full()));
    let mut lisp = Lisp::new(Options { output: buffered, ..Options::default() });
    lisp.eval_text("test.lisp", "(print 1)").unwrap();
    let ended = lisp.flush_streams().unwrap_err();
    assert_eq!((ended.kind, ended.text.as_str()), (UnhandledKind::File, FULL));
}

#[cfg(target_os = "linux")]
const FULL: &str = "cannot write: no space left on device";

#[test]
fn a_mistake_with_a_stream_is_no_failure_of_the_file_kind() {
    let text = "(let ((s (make-string-input-stream \"a\"))) (write-string \"x\" s))";
    assert_eq!(failure(text).kind, UnhandledKind::Error);
    let (mut lisp, ..) = lisp_reading("");
    assert!(lisp.eval_text("test.lisp", "(read-line *standard-input* nil)").is_ok());
}

#[test]
fn the_truename_of_a_file_loaded_by_a_relative_name_is_absolute() {
    let path = fresh_path("loaded.lisp");
    std::fs::write(&path, "(defvar *seen* (list *load-pathname* *load-truename*))").unwrap();
    let up =
        std::env::current_dir().unwrap().components().skip(1).map(|_| "..").collect::<Vec<_>>();
    let relative = format!("{}{path}", up.join("/"));
    let program = format!("(progn (load \"{relative}\") (mapcar #'namestring *seen*))");
    let truename = std::fs::canonicalize(&path).unwrap();
    assert_eq!(values(&program), format!("({relative:?} {:?})", truename.to_str().unwrap()));
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_stream_of_both_directions_has_one_position() {
    let path = std::env::temp_dir().join(format!("rung-both-{}", std::process::id()));
    let text = format!(
        "(with-open-file (s {0:?} :direction :io :if-exists :supersede)
           (write-string \"abc é\" s) (file-position s 1)
           (list (read-char s) (progn (write-char #\\X s) (file-position s)) (peek-char nil s)
                 (read-line s nil) (progn (file-position s 0) (read-line s))
                 (input-stream-p s) (output-stream-p s)))",
        path.display().to_string()
    );
    assert_eq!(values(&text), "(#\\b 3 #\\Space \" é\" \"abX é\" T T)");
    std::fs::remove_file(path).unwrap();
}

/// The values of a text in which `~` is the path of a file with these bytes.
fn over(name: &str, bytes: &[u8], text: &str) -> (String, Vec<u8>) {
    let path = fresh_path(name);
    std::fs::write(&path, bytes).unwrap();
    let got = values(&text.replace('~', &format!("{path:?}")));
    let left = std::fs::read(&path).unwrap_or_default();
    let _ = std::fs::remove_file(&path);
    (got, left)
}

#[test]
fn an_external_format_was_read_and_thrown_away() {
    let read = |format: &str, bytes: &[u8]| {
        let text =
            format!("(with-open-file (s ~ {format}) (list (read-line s) (read-line s nil)))");
        over("format-in.txt", bytes, &text).0
    };
    assert_eq!(read(":external-format :latin-1", b"a\xE9\nb"), "(\"aé\" \"b\")");
    assert_eq!(read(":external-format :iso-8859-1", b"\xFF"), "(\"ÿ\" NIL)");
    assert_eq!(read(":eol :crlf", b"a\r\nb\r\n"), "(\"a\" \"b\")");
    assert_eq!(
        read(":external-format '(:latin-1 :eol-style :crlf)", b"\xE9\r\nb"),
        "(\"é\" \"b\")"
    );
    assert_eq!(read(":external-format '(:utf-8 :replacement #\\?)", b"a\xFFb"), "(\"a?b\" NIL)");
    let wrong = read(":external-format :utf-16", b"a");
    assert!(wrong.contains("for :external-format: got :UTF-16"), "{wrong}");
    let write = |format: &str| {
        let text = format!(
            "(with-open-file (s ~ :direction :output :if-exists :supersede {format})
               (format s \"é~%\") (list (file-position s) (file-string-length s \"é\")
                                       (stream-external-format s)))"
        );
        over("format-out.txt", b"old", &text.replace("~%", "\u{1}").replace('\u{1}', "\n"))
    };
    let (got, bytes) = write(":external-format :latin-1 :eol :crlf");
    assert_eq!((got.as_str(), &bytes[..]), ("(3 1 (:LATIN-1 :EOL :CRLF))", &b"\xE9\r\n"[..]));
    let (got, bytes) = write(":external-format :us-ascii");
    assert!(got.contains("us-ascii has no 'é'"), "{got}");
    assert_eq!(bytes, b"old");
}

#[test]
fn a_malformed_byte_was_read_as_another_character() {
    let table = [
        (
            "(handler-case (read-line s) (rung:decoding-error (c) (eq (stream-error-stream c) s)))",
            "T",
        ),
        (
            "(handler-bind ((rung:decoding-error (lambda (c) (use-value #\\! c)))) (values (read-line s)))",
            "\"a!b\"",
        ),
        (
            "(handler-bind ((rung:decoding-error #'continue))
               (list (read-char s) (peek-char nil s) (read-char s) (file-position s)
                     (progn (unread-char (code-char #xFFFD) s) (read-char s)) (read-char s)))",
            "(#\\a #\\\u{FFFD} #\\\u{FFFD} 2 #\\\u{FFFD} #\\b)",
        ),
    ];
    for (form, expected) in table {
        for both in ["", ":direction :io :if-exists :overwrite"] {
            let text = format!("(with-open-file (s ~ {both}) {form})");
            assert_eq!(over("malformed.txt", b"a\xFFb\n", &text).0, expected, "{text}");
        }
    }
    let (got, _) = over("malformed.txt", b"a\xFFb\n", "(uiop:read-file-string ~)");
    assert!(got.contains("#xFF is no character of utf-8"), "{got}");
}

#[test]
fn elements_of_several_bytes_were_read_as_single_bytes() {
    let read = |kind: &str, bytes: &[u8]| {
        let text = format!(
            "(with-open-file (s ~ :element-type {kind})
               (list (file-length s) (read-byte s) (file-position s) (read-byte s nil :end)
                     (stream-element-type s)))"
        );
        over("elements.bin", bytes, &text).0
    };
    assert_eq!(read("'(unsigned-byte 16)", b"\x01\x02"), "(1 513 1 :END (UNSIGNED-BYTE 16))");
    let big = read("'(signed-byte 16) :byte-order :big", b"\xFF\xFE\x00\x01");
    assert_eq!(big, "(2 -2 1 1 (SIGNED-BYTE 16))");
    let eight = read("'(unsigned-byte 64)", &[0xFF; 8]);
    assert_eq!(eight, "(1 18446744073709551615 1 :END (UNSIGNED-BYTE 64))");
    assert_eq!(read("'(signed-byte 8)", b"\xFF\x01"), "(2 -1 1 1 (SIGNED-BYTE 8))");
    let short = read("'(unsigned-byte 16)", b"\x01\x02\x03");
    assert!(short.contains("it ends with 1 of the 2 bytes of an element"), "{short}");
    let odd = read("'(unsigned-byte 24)", b"\x01\x02\x03");
    assert!(odd.contains("integers of 8, 16, 32 or 64 bits"), "{odd}");
    let (got, bytes) = over(
        "elements.bin",
        b"",
        "(with-open-file (s ~ :direction :output :if-exists :supersede :element-type '(signed-byte 16))
           (write-byte -2 s) (write-byte 300 s)
           (handler-case (write-byte 40000 s) (type-error (c) (type-error-expected-type c))))",
    );
    assert_eq!((got.as_str(), &bytes[..]), ("(SIGNED-BYTE 16)", &b"\xFE\xFF\x2C\x01"[..]));
}

#[test]
fn packed_arrays_of_any_rank_go_through_binary_streams_in_bulk() {
    let (got, bytes) = over(
        "bulk.bin",
        b"",
        "(let ((a #f((1 2) (3 4))) (b #f((0 0) (0 0))) (n (make-array 3 :element-type '(unsigned-byte 16))))
           (with-open-file (s ~ :direction :output :if-exists :supersede :element-type '(unsigned-byte 8))
             (write-sequence a s) (write-sequence #u8(7 8) s))
           (with-open-file (s ~ :element-type '(unsigned-byte 8))
             (list (read-sequence b s) (equalp a b) (read-sequence n s) (coerce n 'list)))) ",
    );
    assert_eq!((got.as_str(), bytes.len()), ("(4 T 2 (7 8 0))", 18));
    let (got, _) = over(
        "bulk.txt",
        "aébc".as_bytes(),
        "(let ((text (make-string 6 :initial-element #\\-)))
           (with-open-file (s ~) (list (read-sequence text s :start 1 :end 4) text (read-char s))))",
    );
    assert_eq!(got, "(4 \"-aéb--\" #\\c)");
}

#[test]
fn a_superseded_file_was_gone_at_once() {
    let open = ":direction :output :if-exists";
    let table = [
        (format!("(with-open-file (s ~ {open} :supersede) (write-string \"new\" s))"), "new"),
        (
            format!(
                "(let ((s (open ~ {open} :supersede))) (write-string \"new\" s) (close s :abort t))"
            ),
            "old",
        ),
        (
            format!(
                "(block b (with-open-file (s ~ {open} :supersede) (print 1 s) (return-from b)))"
            ),
            "old",
        ),
        (
            format!(
                "(ignore-errors (with-open-file (s ~ {open} :rename) (print 1 s) (error \"x\")))"
            ),
            "old",
        ),
        (
            format!(
                "(with-open-file (s ~ {open} :supersede) (with-open-file (i ~) (write-line (read-line i) s) (file-position s 1) (write-string \"X\" s)))"
            ),
            "oXd\n",
        ),
        (format!("(with-open-file (s ~ {open} :overwrite) (write-string \"N\" s))"), "Nld"),
        (format!("(with-open-file (s ~ {open} :rename-and-delete) (write-string \"n\" s))"), "n"),
    ];
    for (text, expected) in table {
        let (got, bytes) = over("supersede.txt", b"old", &text);
        assert_eq!(String::from_utf8(bytes).unwrap(), expected, "{text}: {got}");
    }
    let path = fresh_path("renamed.txt");
    std::fs::write(&path, "old").unwrap();
    values(&format!("(with-open-file (s {path:?} {open} :rename) (write-string \"new\" s))"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "new");
    assert_eq!(std::fs::read_to_string(format!("{path}.bak")).unwrap(), "old");
    std::fs::remove_file(format!("{path}.bak")).unwrap();
    std::fs::remove_file(&path).unwrap();
    values(&format!("(block b (with-open-file (s {path:?} {open} :supersede) (return-from b)))"));
    assert!(!std::path::Path::new(&path).exists());
}

#[test]
fn a_missing_file_is_what_the_options_say() {
    let path = fresh_path("missing.txt");
    let open = |options: &str| values(&format!("(open {path:?} {options})"));
    assert_eq!(open(":direction :probe"), "NIL");
    assert_eq!(open(":direction :output :if-does-not-exist nil"), "NIL");
    assert_eq!(open(":if-does-not-exist nil"), "NIL");
    assert!(open(":direction :output :if-exists :append").contains("no such file"));
    assert!(!std::path::Path::new(&path).exists());
    assert!(open(":direction :sideways").contains("for :direction: got :SIDEWAYS"));
    let retried = values(&format!(
        "(handler-bind ((file-error (lambda (c) (close (open {path:?} :direction :output))
                                                (invoke-restart (find-restart 'rung:retry c)))))
           (with-open-file (s {path:?}) (values (read-line s nil :empty))))"
    ));
    assert_eq!(retried, ":EMPTY");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn quit_ran_clean_ups_with_abort_too() {
    for (call, expected) in [
        ("(quit 3)", "CLEAN"),
        ("(quit 3 :abort t)", ""),
        ("(uiop:quit 3)", "CLEAN"),
        ("(uiop:quit 3 nil)", ""),
    ] {
        let (mut lisp, output, _) = lisp_reading("");
        let text = format!("(unwind-protect {call} (princ 'clean))");
        let ended = lisp.eval_text("test.lisp", &text);
        let _ = lisp.flush_streams();
        assert!(ended.is_err());
        assert_eq!(output.text(), expected, "{call}");
    }
}

/// `(mod N)` of the least fixnum ended in a panic, `(unsigned-byte -8)` gave bytes.
#[test]
fn an_element_type_without_numbers_in_files_is_refused() {
    let path = fresh_path("elements");
    std::fs::write(&path, [0; 8]).unwrap();
    let opened = |kind: &str| {
        values(&format!(
            "(handler-case (with-open-file (s {path:?} :element-type '{kind}) (stream-element-type s))
               (type-error () :refused))"
        ))
    };
    for (kind, expected) in [
        ("unsigned-byte", "(UNSIGNED-BYTE 8)"),
        ("(unsigned-byte *)", "(UNSIGNED-BYTE 8)"),
        ("(mod 256)", "(UNSIGNED-BYTE 8)"),
        ("(mod 257)", "(UNSIGNED-BYTE 16)"),
        ("(integer -1 127)", "(SIGNED-BYTE 8)"),
        ("(integer -129 0)", "(SIGNED-BYTE 16)"),
        ("(mod 0)", ":REFUSED"),
        ("(mod -9223372036854775808)", ":REFUSED"),
        ("(integer 0 *)", ":REFUSED"),
        ("(unsigned-byte 0)", ":REFUSED"),
        ("(unsigned-byte -8)", ":REFUSED"),
        ("(unsigned-byte 24)", ":REFUSED"),
        ("float", ":REFUSED"),
    ] {
        assert_eq!(opened(kind), expected, "{kind}");
    }
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_form_of_a_file_may_be_evaluated_again_or_left_out() {
    let file = fresh_path("load-restarts.lisp");
    std::fs::write(&file, "(push 1 *seen*)\n(push (risky) *seen*)\n(push 3 *seen*)\n").unwrap();
    let load = |handler: &str| {
        let text = format!(
            "(defvar *seen* nil) (defvar *calls* 0)
             (defun risky () (if (< (incf *calls*) 3) (error \"not yet\") 2))
             (handler-bind ((error (lambda (c) (declare (ignorable c)) {handler}))) (load {file:?}))
             (list *seen* *calls*)"
        );
        values(&text)
    };
    assert_eq!(load("(invoke-restart 'rung:retry)"), "((3 2 1) 3)");
    assert_eq!(load("(invoke-restart 'rung:skip)"), "((3 1) 1)");
    assert_eq!(load("(continue c)"), "((3 1) 1)");
    std::fs::remove_file(&file).unwrap();
}
