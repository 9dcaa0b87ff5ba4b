//! The debugger before a person: a script of lines stands for what is typed, and what is shown is
//! compared. Without a console an error goes to the embedder, as for scripts.

mod common;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use common::{lisp_reading, values};
use rung_lisp::debugger::{Console, Line};
use rung_lisp::offer::Offer;
use rung_lisp::{Escape, Lisp, Next, Unhandled, UnhandledKind};

/// What is typed, and all that is shown; prompts included.
#[derive(Default)]
struct Script {
    lines: VecDeque<&'static str>,
    shown: String,
    /// How often something began that may be interrupted.
    begun: usize,
}

impl Console for Script {
    fn read(&mut self, _: &Lisp, prompt: &str) -> Line {
        self.shown += prompt;
        match self.lines.pop_front() {
            Some("^C") => Line::Interrupted,
            Some("^D") | None => {
                self.shown += "^D\n";
                Line::End
            }
            Some(line) => {
                self.shown += &format!("{line}\n");
                Line::Text(line.to_string())
            }
        }
    }
    fn report(&mut self, found: &Unhandled) {
        self.shown += &format!("{}\n", found.short());
    }
    fn say(&mut self, text: &str) {
        self.shown += text;
    }
    fn show(&mut self, lines: &[String]) {
        self.shown += &format!("{}\n", lines.join("\n"));
    }
    fn busy(&mut self) {
        self.begun += 1;
    }
}

/// Evaluates the forms of a text as the prompt does, with these lines typed at the debugger.
fn session(text: &str, lines: &[&'static str]) -> String {
    let (mut lisp, output, _) = lisp_reading("");
    let console = Rc::new(RefCell::new(Script::default()));
    console.borrow_mut().lines.extend(lines);
    lisp.set_console(Some(console.clone()));
    let key = lisp.interrupt_handle();
    let press = Rc::new(move |_: &mut Lisp, _: &[rung_lisp::Value]| {
        key.store(true, Relaxed);
        Ok(rung_lisp::Value::Nil)
    });
    lisp.define_native("demo", "press", "", "Presses Ctrl-C.", press);
    let mut rest = text.to_string();
    loop {
        let (form, used) = match lisp.read_form("test.lisp", &rest).unwrap() {
            Next::Form(form, used) => (form, used),
            Next::End => break,
        };
        let line = match lisp.eval_form_read(&form) {
            Ok(values) => {
                let values: Vec<String> = values.iter().map(|value| lisp.print(value)).collect();
                format!("= {}\n", values.join(" "))
            }
            Err(ended) if ended.kind == UnhandledKind::Abort => "; prompt\n".to_string(),
            Err(ended) => format!("{ended}\n"),
        };
        console.borrow_mut().shown += &line;
        rest = rung_lisp::debugger::blanked(&rest, used);
    }
    lisp.flush_streams().unwrap();
    let printed = output.text();
    let shown = console.borrow().shown.clone();
    if printed.is_empty() { shown } else { format!("{shown}printed: {printed}") }
}

#[test]
fn an_error_shows_restarts_and_frames_and_a_number_takes_a_restart() {
    let text =
        "(defun f (x) (car x))\n(list (restart-case (f 5) (use-value (v) :report \"Use.\" v)))";
    let expected = "\
= F
test.lisp:1:14: error: car: expected a list: got 5
restarts:
  0: [use-value] Use.
  1: [abort] Return to the prompt.
frames:
  0  f test.lisp:1:14
  1  top level test.lisp:2:21
[1] CL-USER> 0
value> (+ 1 2)
= (3)
";
    assert_eq!(session(text, &["0", "(+ 1 2)"]), expected);
}

#[test]
fn what_is_typed_is_evaluated_where_the_error_is() {
    let text = "(defvar *depth* 0) (let ((*depth* 7)) (handler-bind ((warning #'identity)) (error \"a\")))";
    let shown = session(text, &["*depth*", "(print 3)", "(values)", "* -", ":top"]);
    assert!(shown.contains("[1] CL-USER> *depth*\n7\n"), "{shown}");
    assert!(shown.contains("[1] CL-USER> (values)\n; no values\n"), "{shown}");
    assert!(shown.ends_with("[1] CL-USER> :top\n; prompt\nprinted: \n3 \n"), "{shown}");
}

#[test]
fn levels_nest_and_ctrl_d_leaves_one() {
    let shown = session(
        "(error \"one\")",
        &["(error \"two\")", "(error \"three\")", "^D", "^D", "1", "^D"],
    );
    let expected = "\
test.lisp:1:1: error: one
restarts:
  0: [abort] Return to the prompt.
frames:
  0  top level test.lisp:1:1
[1] CL-USER> (error \"two\")
prompt:1:1: error: two
restarts:
  0: [abort] Return to level 1.
  1: [abort] Return to the prompt.
frames:
  0  top level prompt:1:1
  1  top level test.lisp:1:1
[2] CL-USER> (error \"three\")
prompt:1:1: error: three
restarts:
  0: [abort] Return to level 2.
  1: [abort] Return to level 1.
  2: [abort] Return to the prompt.
frames:
  0  top level prompt:1:1
  1  top level prompt:1:1
  2  top level test.lisp:1:1
[3] CL-USER> ^D
; back at level 2
[2] CL-USER> ^D
; back at level 1
[1] CL-USER> 1
  there is one restart, 0
[1] CL-USER> ^D
; prompt
";
    assert_eq!(shown, expected);
}

#[test]
fn leaving_runs_clean_ups_and_the_function_abort_leaves_a_level() {
    let text = "(unwind-protect (error \"a\") (princ \"cleaned\"))";
    assert!(session(text, &[":q"]).ends_with(":q\n; prompt\nprinted: cleaned"));
    // As typed at a level it leads back to that level; the number leads below it.
    let shown = session(text, &["(car 1)", "(abort)", "0", "0"]);
    let expected = "[2] CL-USER> (abort)\n; back at level 2\n[2] CL-USER> 0\n; back at level 1\n";
    assert!(shown.contains(expected), "{shown}");
    assert!(shown.ends_with("[1] CL-USER> 0\n; prompt\nprinted: cleaned"), "{shown}");
}

#[test]
fn break_and_cerror_go_on() {
    let text = "(list (break \"at ~A\" 1) 2)";
    let shown = session(text, &[":c"]);
    assert!(shown.starts_with("test.lisp:1:7: error: at 1\nrestarts:\n  0: [continue] Return"));
    assert!(shown.ends_with(":c\n= (NIL 2)\n"), "{shown}");
    let shown = session("(list (cerror \"Use ~A.\" \"bad ~A\" 5) 2)", &["(continue)"]);
    assert!(shown.contains("  0: [continue] Use 5.\n"), "{shown}");
    assert!(shown.ends_with("= (NIL 2)\n"), "{shown}");
}

#[test]
fn ctrl_c_stops_and_continue_goes_on() {
    let text = "(let ((n 0)) (demo:press) (dotimes (i 5 n) (incf n)))";
    let shown = session(text, &["^C", ":c"]);
    assert!(shown.contains("error: interrupted\nrestarts:\n  0: [continue] Go on.\n"), "{shown}");
    assert!(shown.ends_with("[1] CL-USER> [1] CL-USER> :c\n= 5\n"), "{shown}");
    assert!(session(text, &[":q"]).ends_with(":q\n; prompt\n"));
}

#[test]
fn the_second_ctrl_c_after_going_on_is_a_first_one_again() {
    let (mut lisp, ..) = lisp_reading("");
    let console = Rc::new(RefCell::new(Script::default()));
    console.borrow_mut().lines.extend([":c", "0"]);
    lisp.set_console(Some(console.clone()));
    let Ok(Next::Form(form, _)) = lisp.read_form("t", "(list (break) (break))") else { panic!() };
    assert!(lisp.eval_form_read(&form).is_ok());
    assert_eq!(console.borrow().begun, 2);
}

#[test]
fn errors_of_the_expander_and_of_reading_are_shown_too() {
    let shown = session("(let ((x)) (if))", &["(car", "#<", ":q"]);
    assert!(shown.contains("restarts:\n  0: [abort] Return to the prompt.\n"), "{shown}");
    assert!(shown.contains("[1] CL-USER> (car\nprompt:1:1: error: end of file"), "{shown}");
    assert!(shown.ends_with("; prompt\n"), "{shown}");
}

#[test]
fn the_hook_is_asked_first_with_itself_unbound() {
    let text = "(let ((*debugger-hook* (lambda (c h) (declare (ignore h)) \
                (throw 'out (list (princ-to-string c) *debugger-hook*))))) \
                (catch 'out (error \"x ~A\" 1)))";
    assert_eq!(values(text), "(\"x 1\" NIL)");
    assert_eq!(session(text, &[]), "= (\"x 1\" NIL)\n");
}

#[test]
fn without_a_console_an_error_goes_to_the_embedder() {
    assert_eq!(values("(error \"gone\")"), "test.lisp:1:1: error: gone");
    assert_eq!(values("(break \"here\")"), "test.lisp:1:1: error: here");
    assert_eq!(values("(handler-case (invoke-debugger 5) (type-error () :typed))"), ":TYPED");
}

#[test]
fn the_restarts_that_a_native_offers_are_shown() {
    let (mut lisp, ..) = lisp_reading("");
    let console = Rc::new(RefCell::new(Script::default()));
    console.borrow_mut().lines.extend(["0", "(* 6 7)"]);
    lisp.set_console(Some(console.clone()));
    let fail = Rc::new(|lisp: &mut Lisp, _: &[rung_lisp::Value]| {
        let report = "Give a value.";
        let offer = Offer { package: rung_lisp::package::CL, name: "USE-VALUE", report };
        let chosen = lisp.offer(Escape::error("no rung took it"), &[offer])?;
        Ok(chosen.arguments.into_iter().next().unwrap_or_default())
    });
    lisp.define_native("demo", "fail", "", "Fails.", fail);
    let Ok(Next::Form(form, _)) = lisp.read_form("t", "(list (demo:fail))") else { panic!() };
    let Ok(values) = lisp.eval_form_read(&form) else { panic!() };
    assert_eq!(lisp.print(&values[0]), "(42)");
    let shown = console.borrow().shown.clone();
    let expected = "t:1:7: error: no rung took it\nrestarts:\n  0: [use-value] Give a value.\n  \
                    1: [abort] Return to the prompt.\nframes:\n  0  top level t:1:7\n[1]";
    assert!(shown.starts_with(expected), "{shown}");
}

#[test]
fn frames_are_chosen_and_show_their_variables() {
    let text = "(defun f (x) (let ((y (* 2 x))) (car y) (list y x)))\n\
                (defun g (z) (list (f (+ z 1))))\n(g 3)";
    let shown = session(text, &[":locals", ":up", ":locals", ":up", ":down", ":q"]);
    assert!(shown.contains("  x = 4\n  y = 8\n"), "{shown}");
    assert!(shown.contains("  1  g "), "{shown}");
    assert!(shown.contains("  z = 3\n"), "{shown}");
}
