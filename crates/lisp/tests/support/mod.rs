//! What the tests of the language share: a fresh Lisp, and a form with what it shows.
#![allow(dead_code)]

use rung_lisp::condition::Message;
use rung_lisp::lisp::Options;
use rung_lisp::reader::Reader;
use rung_lisp::{Escape, Lisp, printer};

/// A Lisp on which nothing has run.
pub fn fresh() -> Lisp {
    Lisp::new(Options::default())
}

/// Evaluates each form in a Lisp of its own and compares what `prin1` makes of the last value,
/// or `error: ` and the report. All differences are shown.
#[track_caller]
pub fn check(cases: &[(&str, &str)]) {
    let mut wrong = String::new();
    for (form, expected) in cases {
        let shown = run(form);
        if shown != *expected {
            wrong += &format!("\n{form}\n     gives {shown}\n  expected {expected}");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

fn run(text: &str) -> String {
    let mut lisp = fresh();
    let mut reader = Reader::new(text, None);
    let mut last = String::new();
    loop {
        let form = match reader.read(&mut lisp) {
            Ok(Some(form)) => form,
            Ok(None) => return last,
            Err(error) => return say(&mut lisp, error.into()),
        };
        let printed = lisp.eval_form(&form).and_then(|value| printer::prin1(&mut lisp, &value));
        match printed {
            Ok(text) => last = text,
            Err(escape) => return say(&mut lisp, escape),
        }
    }
}

fn say(lisp: &mut Lisp, escape: Escape) -> String {
    match escape.condition().map(|condition| &condition.message) {
        Some(Message::Text(text)) => format!("error: {text}"),
        Some(Message::Wanted { operator, wanted, got }) => {
            format!("error: {operator}: expected {wanted}: got {}", lisp.brief(got))
        }
        Some(Message::Report) => "an error with a report".to_string(),
        None => "another escape".to_string(),
    }
}
