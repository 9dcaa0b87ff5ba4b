//! What the tests of this folder have in common: a session, and what a form prints in it.

use rung::{Options, Session, Settings};

/// A session with other settings than the default ones.
pub fn session(change: impl FnOnce(&mut Settings)) -> Session {
    let mut settings = Settings::default();
    change(&mut settings);
    Session::new(&settings, Options::default())
}

/// What the values of a form print as, or what its error says.
pub fn printed(session: &mut Session, form: &str) -> String {
    match session.lisp.eval_text("prog.lisp", form) {
        Ok(values) => {
            let values: Vec<String> = values.iter().map(|v| session.lisp.print(v)).collect();
            values.join(" ")
        }
        Err(e) => e.sentence().to_string(),
    }
}
