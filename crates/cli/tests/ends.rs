//! What was printed arrives, however the process ends and however long it runs.
#![cfg(unix)]

// Not every file of tests uses all of it.
#[allow(dead_code)]
mod common;

use common::{Folder, ran, rung};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Prints to standard output without the end of its line, tells by a file that it did, and computes.
const PRINTS: &str = "(progn (princ \"printed\") (with-open-file (f \"there\" :direction :output)) \
                      (loop for i from 0 do (setf *gensym-counter* (mod i 9))))";

fn send(signal: &str, child: &Child) {
    let mut kill = Command::new("kill");
    assert!(kill.args([signal, &child.id().to_string()]).status().unwrap().success());
}

/// Waits until the program has made its file.
fn wait_for(folder: &Folder) {
    let start = Instant::now();
    while !folder.0.join("there").exists() {
        assert!(start.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// What lay in the buffer was lost.
#[test]
fn what_was_printed_arrives_before_a_signal_ends_the_process() {
    for (signal, number) in [("-TERM", 15), ("-HUP", 1)] {
        for json in [&[][..], &["--json"]] {
            let folder = Folder::new();
            let mut command = rung(&folder);
            command.args(json).args(["-e", PRINTS]).stdout(Stdio::piped()).stderr(Stdio::piped());
            let child = command.spawn().unwrap();
            wait_for(&folder);
            send(signal, &child);
            let ended = child.wait_with_output().unwrap();
            // A shell makes 128 and the signal of it.
            assert_eq!(ended.status.signal(), Some(number));
            assert_eq!((ended.stdout, ended.stderr), (b"printed".to_vec(), Vec::new()));
        }
    }
    // Ctrl-C twice: the second ends it at once.
    let folder = Folder::new();
    let blocks = "(progn (princ \"printed\") (with-open-file (f \"there\" :direction :output)) \
                  (unwind-protect (loop) (loop)))";
    let mut command = rung(&folder);
    command.args(["-e", blocks]).stdout(Stdio::piped()).stderr(Stdio::null());
    let child = command.spawn().unwrap();
    wait_for(&folder);
    send("-INT", &child);
    std::thread::sleep(Duration::from_millis(100));
    send("-INT", &child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout), (Some(130), b"printed".to_vec()));
}

/// A pipe where the driver's library is looked for: the loader waits for it, and no thread can be started.
#[test]
fn a_signal_ends_a_process_whose_loader_waits() {
    for (signal, number) in [("-TERM", 15), ("-HUP", 1), ("-INT", 2)] {
        let folder = Folder::new();
        let mut pipe = Command::new("mkfifo");
        assert!(pipe.arg(folder.0.join("libcuda.so.1")).status().unwrap().success());
        let mut command = rung(&folder);
        command.env("LD_LIBRARY_PATH", &folder.0).args(["--gpu", "-e", "(la:sum (la:ones 3))"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(500));
        assert!(child.try_wait().unwrap().is_none());
        let start = Instant::now();
        // One is enough; another comes in case the first came before anybody waited for it.
        while child.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(20), "{signal}");
            send(signal, &child);
            std::thread::sleep(Duration::from_millis(200));
        }
        let ended = child.wait().unwrap();
        assert_eq!(ended.signal().or(ended.code()), Some(number));
    }
}

/// Nobody reads, and the pipe is full.
#[test]
fn a_reader_that_takes_nothing_does_not_keep_a_process_that_is_ended() {
    let folder = Folder::new();
    let fills = "(progn (with-open-file (f \"there\" :direction :output)) \
                 (loop (format t \"a line of text~%\")))";
    let mut command = rung(&folder);
    command.args(["-e", fills]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    wait_for(&folder);
    std::thread::sleep(Duration::from_millis(300));
    send("-TERM", &child);
    let start = Instant::now();
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// As `nohup` starts a program.
#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let folder = Folder::new();
    let mut command = rung(&folder);
    let program = command.get_program().to_os_string();
    let waits = "(progn (with-open-file (f \"there\" :direction :output)) (sleep 1) (princ 7))";
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(program).args(["-e", waits]);
    shell.current_dir(&folder.0).stdout(Stdio::piped()).stdin(Stdio::null());
    command.stdin(Stdio::null());
    let child = shell.spawn().unwrap();
    wait_for(&folder);
    send("-HUP", &child);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.stdout), (Some(0), b"7\n7\n".to_vec()));
}

/// Output lay until the program ended.
#[test]
fn what_a_long_program_prints_arrives_while_it_runs() {
    for flag in ["--buffered-output", "--color=never"] {
        let folder = Folder::new();
        let mut command = rung(&folder);
        command.args([flag, "-e", PRINTS]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut text = [0; 7];
        child.stdout.as_mut().unwrap().read_exact(&mut text).unwrap();
        assert_eq!(&text, b"printed");
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    // And again, after it was written once.
    let folder = Folder::new();
    let again = "(progn (print 1) (sleep 1) (print 2) (terpri) (loop))";
    let mut command = rung(&folder);
    command.args(["-e", again]).stdout(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let lines: Vec<String> = lines.take(3).map(Result::unwrap).collect();
    assert_eq!(lines, ["", "1 ", "2 "]);
    child.kill().unwrap();
    child.wait().unwrap();
}

/// The table began on the line that the program had begun.
#[test]
fn messages_begin_a_line_of_their_own_in_the_file_of_both_streams() {
    let folder = Folder::new();
    let shown = |words: &str| {
        let mut shell = Command::new("sh");
        let line = format!("\"$0\" {words} > both 2>&1");
        shell.args(["-c", &line]).arg(rung(&folder).get_program()).current_dir(&folder.0);
        shell.status().unwrap();
        std::fs::read_to_string(folder.0.join("both")).unwrap()
    };
    folder.file("p.lisp", "(princ (la:sum (la:ones '(3))))");
    folder.file("q.lisp", "(princ 1) (error \"no\")");
    let text = shown("--explain p.lisp");
    assert!(text.starts_with("3.0\n") && !text.starts_with("3.0\n\n"), "{text}");
    let text = shown("--explain q.lisp");
    assert!(text.starts_with("1\nerror: no\n"), "{text}");
    assert!(
        text.ends_with("\nno array operation ran\n") && !text.contains("\n\nno array"),
        "{text}"
    );
    // In two places each has its own.
    let mut command = rung(&folder);
    let apart = ran(command.args(["--explain", "q.lisp"]).output().unwrap());
    assert!(apart.out == "1" && apart.err.starts_with("error: no\n"), "{}", apart.err);
}

/// It was a line of text where nothing had run.
#[test]
fn explain_as_json_is_json_where_nothing_ran() {
    let folder = Folder::new();
    for words in [&["--explain=json", "-e", "1"][..], &["--explain", "--json", "-e", "1"]] {
        let mut command = rung(&folder);
        let told = ran(command.args(words).output().unwrap());
        let object: serde_json::Value = serde_json::from_str(&told.err).unwrap();
        assert_eq!(object["calls"], serde_json::json!([]), "{}", told.err);
        assert!(object["settings"].is_object(), "{}", told.err);
    }
}
