//! Ctrl-C: seen when a native function returns and between forms, so that nothing runs after it.

mod common;

use std::rc::Rc;
use std::sync::atomic::Ordering::Relaxed;

use common::{Collected, lisp_reading};
use rung_lisp::{Lisp, UnhandledKind, Value};

/// A Lisp in which `(demo:press)` stands for a person who presses Ctrl-C while a native runs.
fn lisp_with_a_key() -> (Lisp, Collected) {
    let (mut lisp, output, _) = lisp_reading("");
    let key = lisp.interrupt_handle();
    let press = Rc::new(move |_: &mut Lisp, _: &[Value]| {
        key.store(true, Relaxed);
        Ok(Value::Fixnum(1))
    });
    lisp.define_native("demo", "press", "&rest whatever", "Presses Ctrl-C.", press);
    (lisp, output)
}

#[test]
fn nothing_runs_after_a_native_that_was_interrupted() {
    let table = [
        "(progn (demo:press) (print 8))",
        "(demo:press) (print 8)",
        "(let ((x (demo:press))) (print x))",
        "(defun f () (demo:press)) (f) (print 8)",
        "(mapcar #'demo:press '(1 2 3)) (print 8)",
        "(print (sort (list 3 1 2) #'demo:press))",
        "(funcall 'demo:press) (print 8)",
        "(handler-case (demo:press) (error () 1)) (print 8)",
        "(eval '(progn (demo:press) (print 8)))",
    ];
    for text in table {
        let (mut lisp, output) = lisp_with_a_key();
        let ended = lisp.eval_text("test.lisp", text).unwrap_err();
        lisp.flush_streams().unwrap();
        assert_eq!((ended.kind, output.text().as_str()), (UnhandledKind::Interrupt, ""), "{text}");
    }
}

#[test]
fn a_text_whose_turn_comes_after_the_interrupt_does_not_begin() {
    let (mut lisp, output) = lisp_with_a_key();
    lisp.interrupt_handle().store(true, Relaxed);
    let ended = lisp.eval_text("-e", "(print 8)").unwrap_err();
    assert_eq!(ended.kind, UnhandledKind::Interrupt);
    lisp.interrupt_handle().store(true, Relaxed);
    assert_eq!(lisp.load_source("-", "(print 8)").unwrap_err().kind, UnhandledKind::Interrupt);
    lisp.flush_streams().unwrap();
    assert_eq!(output.text(), "");
    // It is taken once: what comes next runs.
    assert!(lisp.eval_text("-e", "(print 8)").is_ok());
}

#[test]
fn an_interrupt_runs_the_clean_ups_and_spoils_no_library_definition() {
    let (mut lisp, output) = lisp_with_a_key();
    let text = "(unwind-protect (demo:press) (princ \"cleaned\"))";
    assert_eq!(lisp.eval_text("-e", text).unwrap_err().kind, UnhandledKind::Interrupt);
    // The macro's expander runs for the first time here and is interrupted at once.
    let text = "(macrolet ((m () (demo:press) '(loop for i below 3 collect i))) (m))";
    assert_eq!(lisp.eval_text("-e", text).unwrap_err().kind, UnhandledKind::Interrupt);
    let values = lisp.eval_text("-e", "(loop for i below 3 collect i)").unwrap();
    assert_eq!(lisp.print(&values[0]), "(0 1 2)");
    lisp.flush_streams().unwrap();
    assert_eq!(output.text(), "cleaned");
}
