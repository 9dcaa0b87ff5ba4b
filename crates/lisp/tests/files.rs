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
