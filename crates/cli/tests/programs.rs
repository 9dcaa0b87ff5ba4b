//! Programs, standard input, the prompt, and every kind of bad input, through the built command.

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, feed, ran, run, run_in, rung};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Exit code and standard error of a program.
fn fails(text: &str) -> (Option<i32>, String) {
    let folder = Folder::new();
    folder.file("p.lisp", text);
    let ran = run_in(&folder, &["p.lisp"]);
    (ran.code, ran.err)
}

#[test]
fn a_program_gets_its_arguments_and_its_output_is_its_own() {
    let folder = Folder::new();
    folder.file("p.lisp", "(print (uiop:command-line-arguments))\n");
    let ran = run_in(&folder, &["p.lisp", "--no-simd", "--", "a", "--gpu", "-h"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(ran.out.trim(), "(\"a\" \"--gpu\" \"-h\")");
}

#[test]
fn expressions_print_their_values_in_order_before_the_file() {
    let folder = Folder::new();
    folder.file("p.lisp", "(format t \"x is ~a~%\" *x*)\n");
    let ran = run_in(&folder, &["-e", "(defvar *x* 5) (+ 1 2)", "p.lisp", "-e", "(values 1 2)"]);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("*X*\n3\n1\n2\nx is 5\n", ""));
    assert_eq!(
        run(&["--json", "-e", "(values 1 \"a\")"]).out,
        "{\"schema\":1,\"values\":[\"1\",\"\\\"a\\\"\"]}\n"
    );
}

#[test]
fn standard_input_is_a_script_without_echo() {
    let folder = Folder::new();
    let ran = feed(rung(&folder), "(defun f (x) (* x x))\n(f 3)\n(format t \"~a~%\" (f 4))\n");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "16\n", ""));
    let mut command = rung(&folder);
    command.arg("-");
    let failed = feed(command, "\n(car 5)");
    assert_eq!(failed.code, Some(1));
    assert!(failed.err.contains("--> -:2:1"), "{}", failed.err);
}

#[test]
fn exit_codes() {
    assert_eq!(run(&["-e", "(quit 7)"]).code, Some(7));
    assert_eq!(run(&["-e", "(error \"no\")"]).code, Some(1));
    let absent = run(&["no-such-file.lisp"]);
    assert_eq!(absent.code, Some(3));
    assert_eq!(
        absent.err,
        "rung: error: cannot read no-such-file.lisp: no such file or directory\n"
    );
    assert_eq!(run(&["."]).code, Some(3));
    let device = run(&["--device=no-such-gpu", "-e", "(print 1)"]);
    assert_eq!((device.code, device.out.as_str()), (Some(4), ""));
    assert!(device.err.starts_with("rung: error: --device=no-such-gpu: no "), "{}", device.err);
}

#[test]
fn bytes_that_are_no_text_are_an_unreadable_file() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("p.lisp"), b"(print 1)\n\xff\xfe").unwrap();
    let ran = run_in(&folder, &["p.lisp"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(3), "rung: error: p.lisp:2: not UTF-8\n"));
}

#[test]
fn unbalanced_parentheses_are_shown_where_they_open() {
    let (code, text) = fails("(print 1)\n  (defun f (x)\n    (car x)\n");
    assert_eq!(code, Some(1));
    assert!(
        text.starts_with("error: end of file inside a list that began at p.lisp:2:3\n"),
        "{text}"
    );
    assert!(text.contains(" --> p.lisp:2:3\n  |\n2 |   (defun f (x)\n  |   ^"), "{text}");
}

#[test]
fn an_unknown_function_gets_a_suggestion() {
    let (code, text) = fails("(print\n  (lenght '(1 2)))\n");
    assert_eq!(code, Some(1));
    assert!(text.contains("lenght") && text.contains("--> p.lisp:2:3"), "{text}");
    assert!(text.contains("hint: did you mean length"), "{text}");
}

#[test]
fn shapes_that_do_not_fit_are_both_named() {
    let (code, text) = fails("(la:matmul (la:ones '(3 4)) (la:ones '(2 4)))\n");
    assert_eq!(code, Some(1));
    let expected = "\
error: linalg: matmul inner dimensions differ: (3 4) and (2 4)
 --> p.lisp:1:1
  |
1 | (la:matmul (la:ones '(3 4)) (la:ones '(2 4)))
  | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  hint: (la:transpose b) has shape (4 2), which fits
";
    assert_eq!(text, expected);
}

#[test]
fn mistakes_with_values_name_the_values_and_the_place() {
    for (program, words) in [
        ("(aref (la:ones '(2 3)) 2 0)", ["2", "p.lisp:1:1"]),
        ("(car 5)", ["expected a list: got 5", "p.lisp:1:1"]),
        ("(print (/ 1 0))", ["division by zero", "p.lisp:1:8"]),
        ("(la:exp \"a\")", ["\"a\"", "p.lisp:1:1"]),
    ] {
        let (code, text) = fails(program);
        assert_eq!(code, Some(1), "{program}: {text}");
        assert!(words.iter().all(|word| text.contains(word)), "{program}: {text}");
        assert!(!text.contains("panicked") && !text.contains(".rs:"), "{text}");
    }
}

#[test]
fn deep_recursion_is_a_condition() {
    let (code, text) = fails("(defun f (n) (+ 1 (f n)))\n(f 0)\n");
    assert_eq!(code, Some(1));
    assert!(text.contains("recursion is deeper than 100000"), "{text}");
    let limited = run(&["--stack=50", "-e", "(defun f (n) (+ 1 (f n))) (f 0)"]);
    assert!(limited.err.contains("deeper than 50 frames"), "{}", limited.err);
    // Natives that call back recurse on the native stack.
    let (code, text) = fails("(defun f (n) (mapcar #'f (list n)))\n(f 0)\n");
    assert_eq!(code, Some(1), "{text}");
}

#[test]
fn a_limit_of_the_heap_ends_a_program_that_grows_without_end() {
    let grown = run(&["--heap=64M", "-e", "(let ((x nil)) (loop (push (list 1) x)))"]);
    assert_eq!(grown.code, Some(1));
    assert!(
        grown.err.contains("the heap has reached its limit of 67108864 bytes"),
        "{}",
        grown.err
    );
    let sizes = run(&["--heap=much", "-e", "1"]);
    assert!(sizes.err.contains("expected a size such as 512M"), "{}", sizes.err);
}

#[test]
fn messages_have_a_short_and_a_json_form() {
    let folder = Folder::new();
    folder.file("p.lisp", "\n(car 5)\n");
    let short = "p.lisp:2:1: error: car: expected a list: got 5\n";
    assert_eq!(run_in(&folder, &["-q", "p.lisp"]).err, short);
    assert_eq!(run_in(&folder, &["--message-format=short", "p.lisp"]).err, short);
    let ran = run_in(&folder, &["--json", "p.lisp"]);
    let value: serde_json::Value = serde_json::from_str(&ran.err).unwrap();
    assert_eq!((&value["line"], &value["code"]), (&2.into(), &"type-error".into()));
    let usage: serde_json::Value = serde_json::from_str(&run(&["--json", "--gpo"]).err).unwrap();
    assert_eq!(usage["code"], "usage");
}

#[test]
fn colours_are_off_in_a_pipe_and_on_when_forced() {
    assert!(!run(&["-e", "(car 5)"]).err.contains('\x1b'));
    assert!(run(&["--color=always", "-e", "(car 5)"]).err.contains("\x1b[1;31merror:"));
}

#[test]
fn both_streams_in_one_file_keep_the_order_of_the_program() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command
        .args(["-e", "(progn (princ 1) (format *error-output* \"two~%\") (princ 3) (warn \"4\"))"]);
    let path = folder.0.join("both");
    let file = std::fs::File::create(&path).unwrap();
    command.stdout(file.try_clone().unwrap()).stderr(file);
    assert!(command.status().unwrap().success());
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("1two\n3warning: 4\n"), "{text:?}");
    assert!(text.ends_with("\nNIL\n"), "{text:?}");
}

#[test]
fn explain_names_the_flag_that_took_a_rung_away() {
    let err = |flags: &[&str]| {
        let words = [flags, &["--explain", "-e", "(la:exp (la:ones 3))"]].concat();
        run(&words).err
    };
    assert!(err(&["--portable"]).contains("lanes off x1: taken away by --portable"));
    assert!(err(&["--no-simd"]).contains("lanes off x1: taken away by --no-simd"));
}

#[test]
fn explain_follows_the_run_even_when_the_program_fails() {
    let program = "(la:exp (la:ones '(3))) (car 5)";
    let table = run(&["--explain", "-e", program]);
    assert_eq!(table.code, Some(1));
    let (before, after) = table.err.split_once("operation").unwrap();
    assert!(before.starts_with("error: car") && after.contains("not asked for: --gpu"));
    let json = run(&["explain", "--json", "-e", "(la:exp (la:ones '(3)))"]);
    let value: serde_json::Value = serde_json::from_str(&json.err).unwrap();
    assert_eq!(value["calls"][0]["operation"], "exp");
    assert_eq!(value["settings"]["threads"]["origin"], "built in");
}

#[test]
fn a_missing_device_or_library_is_one_warning() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["--gpu", "--blas", "-e", "(la:sum (la:ones '(3)))"]);
    command.env("VK_DRIVER_FILES", "/nonexistent").env("VK_ICD_FILENAMES", "/nonexistent");
    command.env("RUNG_BLAS", "/nonexistent");
    let ran = ran(command.output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "3.0\n"));
    let lines: Vec<&str> = ran.err.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.err);
    assert!(lines.iter().all(|line| line.ends_with("; running without it.")), "{}", ran.err);
}

/// The flag won without a word.
#[test]
fn a_device_that_is_named_and_hidden_is_named_and_a_line_says_so() {
    let folder = Folder::new();
    let with = |words: &[&str], hides: &str| {
        let mut command = rung(&folder);
        command.args(words).args(["-e", "(la:sum (la:ones '(3)))"]).env("RUNG_DEVICE", hides);
        ran(command.output().unwrap())
    };
    let both = with(&["--device=llvmpipe"], "none");
    assert_eq!((both.code, both.out.as_str()), (Some(0), "3.0\n"), "{}", both.err);
    assert_eq!(
        both.err,
        "rung: note: --device=llvmpipe counts and RUNG_DEVICE=none does not: a flag comes before \
         the environment.\n"
    );
    assert_eq!(with(&["-q", "--device=llvmpipe"], "none").err, "");
    assert_eq!(with(&["--device=llvmpipe"], "auto").err, "");
    let asked = with(&["--gpu"], "none");
    assert_eq!(asked.out, "3.0\n");
    assert_eq!(
        asked.err,
        "rung: warning: --gpu: hidden by RUNG_DEVICE=none; running without it.\n"
    );
    assert_eq!(with(&["--device=cpu"], "none").err, "");
}

#[test]
fn demanding_an_absent_rung_is_an_error() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["--blas", "--on-decline=error", "-e", "1"]).env("RUNG_BLAS", "/nonexistent");
    let ran = ran(command.output().unwrap());
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""));
    assert!(ran.err.starts_with("rung: error: --blas: "), "{}", ran.err);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["-e", "(dotimes (i 1000000) (print i))"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    {
        let mut out = BufReader::with_capacity(16, child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
    }
    let status = child.wait().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    assert_eq!((status.code(), text.as_str()), (Some(0), ""));
}

/// Starts an endless program that says when it runs, and interrupts it.
#[cfg(unix)]
fn interrupted(program: &str, times: usize) -> (Option<i32>, String) {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["-e", program]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    for _ in 0..times {
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.unwrap().success());
        std::thread::sleep(std::time::Duration::from_millis(100));
    }
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    (child.wait().unwrap().code(), rest)
}

#[cfg(unix)]
#[test]
fn the_first_interrupt_unwinds_and_ends_with_130() {
    let program = "(unwind-protect (progn (print 1) (terpri) (finish-output) (loop)) \
                   (print :cleaned))";
    let (code, rest) = interrupted(program, 1);
    assert_eq!(code, Some(130));
    assert!(rest.contains(":CLEANED"), "{rest:?}");
}

#[cfg(unix)]
#[test]
fn the_second_interrupt_quits_at_once() {
    let program = "(progn (print 1) (terpri) (finish-output) (unwind-protect (loop) (loop)))";
    assert_eq!(interrupted(program, 2).0, Some(130));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_script_that_waits_for_input() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    // The question is shown before the program waits, although the output is a pipe.
    command.args(["-e", "(format t \"name? ~%\")", "-e", "(progn (princ 1) (read-line))"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    // `wait` would close it, and the end of the input would race with the interrupt.
    let _input = child.stdin.take();
    let mut asked = [0; 12];
    out.read_exact(&mut asked).unwrap();
    assert_eq!(&asked, b"name? \nNIL\n1");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
}

#[test]
fn the_prompt_remembers_values_and_survives_errors() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["repl", "--no-init"]);
    let typed = "(+ 1\n 2)\n(* * 10)\n(list * ** -)\n(values)\n(values 1 2)\n/\n(car 5)\n\
                 (error \"mine\")\n(format t \"no newline\")\n(/ 6 3)\n0\n:q\n(print *)\n:q\n(print :never)\n";
    let ran = feed(command, typed);
    assert_eq!(ran.code, Some(0));
    let expected =
        "3\n30\n(30 3 (LIST * ** -))\n; no values\n1\n2\n(1 2)\nno newline\nNIL\n2\n\n2 \n2\n";
    assert_eq!(ran.out, expected);
    assert!(ran.err.contains("error: car: expected a list: got 5\n"), "{}", ran.err);
    assert!(ran.err.contains("error: mine\n") && ran.err.contains("  0: [abort]"), "{}", ran.err);
}

/// `help` and `exit` opened one level of the debugger after another, each with a late warning.
#[test]
fn the_prompt_helps_and_is_left_by_the_words_that_others_use() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.args(["repl", "--no-init"]);
    let ran = feed(command, "help\n(foo)\nhelp\n(+ 1 1)\nexit\n(list 2)\nexit\n(print :never)\n");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2\n(2)\n"));
    assert!(ran.err.starts_with("  a form is evaluated"), "{}", ran.err);
    assert!(ran.err.contains("the function foo is undefined"), "{}", ran.err);
    assert!(ran.err.contains("  a number or :N takes a restart"), "{}", ran.err);
    assert!(!ran.err.contains("warning"), "{}", ran.err);
    let called = run(&["-e", "la:norm"]);
    assert!(called.err.contains("hint: (la:norm ...) calls the function"), "{}", called.err);
}

#[test]
fn the_prompt_ends_with_the_code_of_quit() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.arg("repl");
    assert_eq!(feed(command, "(quit 3)\n").code, Some(3));
}

#[test]
fn the_prompt_needs_no_home_and_loads_init() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    command.arg("repl").env_remove("HOME");
    assert_eq!(feed(command, "1\n").out, "1\n");
    folder.file(".config/rung/init.lisp", "(defvar *mine* 42)\n");
    let mut command = rung(&folder);
    command.arg("repl");
    assert_eq!(feed(command, "*mine*\n").out, "42\n");
}

/// A long operation was waited for to its end.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_a_long_operation_before_its_end() {
    for form in [
        "(la:matmul (la:ones '(10000 10000) :element-type 'single-float) \
                    (la:ones '(10000 10000) :element-type 'single-float))",
        "(la:sum (la:broadcast-to 0.5 '(40000000 100000)))",
        "(la:det (la:rand '(10000 10000)))",
    ] {
        for threads in ["1", "2"] {
            let folder = Folder::new();
            let mut command = rung(&folder);
            let form = format!("(progn (print 1) (terpri) (finish-output) {form})");
            command.env("RUNG_THREADS", threads).args(["-e", &form]);
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            out.read_line(&mut String::new()).unwrap();
            std::thread::sleep(std::time::Duration::from_millis(800));
            assert!(child.try_wait().unwrap().is_none(), "{form} ended before it was interrupted");
            let start = std::time::Instant::now();
            let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
            assert!(kill.unwrap().success());
            assert_eq!(child.wait().unwrap().code(), Some(130), "{form}");
            // A second on an idle machine; each of these takes many.
            assert!(start.elapsed().as_secs() < 20, "{form}: {:?}", start.elapsed());
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn arrays_are_written_to_standard_output_and_into_pipes() {
    let folder = Folder::new();
    let form = "(progn (print 1) (csv:write #d((1 2) (3 4)) \"/dev/stdout\") (print 2) 3)";
    let ran = run_in(&folder, &["-e", form]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "\n1 1.0,2.0\n3.0,4.0\n\n2 \n3\n"));
    let mut command = rung(&folder);
    command.args(["-e", "(csv:write #d(5 6) \"/dev/fd/2\")"]);
    let ran = common::ran(command.output().unwrap());
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), "5.0\n6.0\n"));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 0);
}

/// `.NAME.PID-N.part` stayed where a program was ended.
#[cfg(target_os = "linux")]
#[test]
fn a_program_that_is_ended_leaves_no_unfinished_file() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    let form =
        "(progn (print 1) (terpri) (finish-output) (loop (npy:write (la:ones 4000000) \"a.npy\")))";
    command.args(["-e", form]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut String::new()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(400));
    let kill = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert!(!child.wait().unwrap().success());
    let left: Vec<_> =
        std::fs::read_dir(&folder.0).unwrap().flatten().map(|f| f.file_name()).collect();
    assert!(left.iter().all(|name| name == "a.npy"), "{left:?}");
}

#[test]
fn a_settings_file_that_is_not_utf_8_is_named() {
    let folder = Folder::new();
    std::fs::write(folder.0.join("rung.toml"), b"threads = 1 # gr\xf6\xdfe\n").unwrap();
    let ran = run_in(&folder, &["-e", "1"]);
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "1\n"));
    let wanted =
        format!("rung: warning: {}: not UTF-8; ignored.\n", folder.0.join("rung.toml").display());
    assert_eq!(ran.err, wanted);
}

/// It ended in a division by zero, or in figures that mean nothing.
#[test]
fn the_regression_says_when_a_table_has_too_few_rows() {
    let folder = Folder::new();
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/regression.lisp");
    for (text, wanted) in [
        (
            "y,a,b\n1,2,3\n2,3,5\n4,5,5\n",
            "3 coefficients, one of them the constant, need 4 rows or more: 3 are complete\n",
        ),
        (
            "y,a\n",
            "2 coefficients, one of them the constant, need 3 rows or more: 0 are complete\n",
        ),
        ("y\n1\n", "expected values and columns to explain them: it has 1 column\n"),
    ] {
        let path = folder.file("t.csv", text);
        let ran = run_in(&folder, &[program, "--", &path]);
        assert_eq!((ran.code, ran.err), (Some(1), format!("{path}: {wanted}")));
    }
}
