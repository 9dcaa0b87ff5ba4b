//! What the tests share: a Lisp whose output is collected, and tables of form and printed value.
#![allow(dead_code)]

use std::cell::RefCell;
use std::io::{Cursor, Write};
use std::rc::Rc;

use rung_lisp::{Lisp, Options, Unhandled};

/// Collects what is written.
#[derive(Clone, Default)]
pub struct Collected(Rc<RefCell<Vec<u8>>>);

impl Write for Collected {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.borrow_mut().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Collected {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.borrow()).into_owned()
    }
}

/// A Lisp that reads `input`; its output and error output.
pub fn lisp_reading(input: &str) -> (Lisp, Collected, Collected) {
    lisp_within(None, input)
}

/// One whose heap takes so many bytes at most.
pub fn lisp_within(heap_limit: Option<usize>, input: &str) -> (Lisp, Collected, Collected) {
    let (output, errors) = (Collected::default(), Collected::default());
    let options = Options {
        output: Box::new(output.clone()),
        error_output: Box::new(errors.clone()),
        input: Box::new(Cursor::new(input.to_string())),
        arguments: vec!["one".to_string(), "two".to_string()],
        heap_limit,
        ..Options::default()
    };
    let mut lisp = Lisp::new(options);
    // All tests hold for native code too: `RUNG_TEST_NATIVE=1 cargo nextest run -p rung-lisp`.
    if std::env::var_os("RUNG_TEST_NATIVE").is_some() {
        lisp.set_back_end(rung_native::back_end());
        lisp.hurry_native_code();
    }
    (lisp, output, errors)
}

/// The values of a text, printed and separated by spaces.
pub fn values(text: &str) -> String {
    let (mut lisp, ..) = lisp_reading("");
    match lisp.eval_text("test.lisp", text) {
        Ok(values) => {
            let printed = values.iter().map(|value| lisp.print(value)).collect::<Vec<_>>();
            printed.join(" ")
        }
        Err(unhandled) => unhandled.short(),
    }
}

/// What a text writes to standard output.
pub fn output(text: &str) -> String {
    let (mut lisp, output, _) = lisp_reading("");
    let result = lisp.eval_text("test.lisp", text);
    lisp.flush_streams().unwrap();
    match result {
        Ok(_) => output.text(),
        Err(unhandled) => format!("{}{}", output.text(), unhandled.short()),
    }
}

/// How a text ends that does not end well.
pub fn failure(text: &str) -> Unhandled {
    let (mut lisp, ..) = lisp_reading("");
    match lisp.eval_text("test.lisp", text) {
        Ok(_) => panic!("expected a failure: {text}"),
        Err(unhandled) => *unhandled,
    }
}

/// Checks a table of texts and printed values, and reports all that differ.
pub fn check(table: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (text, expected) in table {
        let got = values(text);
        if got != *expected {
            wrong.push(format!("{text}\n  expected: {expected}\n  got:      {got}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
