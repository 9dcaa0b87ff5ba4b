//! What the tests share: a Lisp with native code or without, and what a text comes to in it.
#![allow(dead_code)]

use std::cell::RefCell;
use std::io::{Cursor, Write};
use std::rc::Rc;

use rung_lisp::{Lisp, Options};

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

/// What a text came to.
#[derive(PartialEq, Debug)]
pub struct Ran {
    pub values: String,
    pub output: String,
    pub errors: String,
}

/// A Lisp: without native code, with it, or (`Some(true)`) with it from the first call on.
pub fn lisp(native: Option<bool>) -> (Lisp, Collected, Collected) {
    let (output, errors) = (Collected::default(), Collected::default());
    let options = Options {
        output: Box::new(output.clone()),
        error_output: Box::new(errors.clone()),
        input: Box::new(Cursor::new(String::new())),
        ..Options::default()
    };
    let mut lisp = Lisp::new(options);
    if let Some(eager) = native {
        lisp.set_back_end(rung_native::back_end());
        if eager {
            lisp.hurry_native_code();
        }
    }
    (lisp, output, errors)
}

pub fn run(text: &str, native: Option<bool>) -> Ran {
    let (mut lisp, output, errors) = lisp(native);
    let values = match lisp.eval_text("test.lisp", text) {
        Ok(values) => values.iter().map(|value| lisp.print(value)).collect::<Vec<_>>().join(" "),
        Err(unhandled) => unhandled.short(),
    };
    let _ = lisp.flush_streams();
    Ran { values, output: output.text(), errors: errors.text() }
}

/// What a text comes to without native code and with it, from the first call on.
pub fn both(text: &str) -> Ran {
    let (without, with) = (run(text, None), run(text, Some(true)));
    assert_eq!(with, without, "{text}");
    with
}
