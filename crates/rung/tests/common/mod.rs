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

/// The forms of a page's blocks, each with what is written below it, if anything.
#[allow(dead_code, reason = "each test binary uses its part")]
pub fn forms(page: &str) -> Vec<(String, Option<String>)> {
    let mut all = Vec::new();
    for block in page.split("```lisp\n").skip(1) {
        let block = block.split("```").next().unwrap();
        let mut form = String::new();
        for line in block.lines() {
            if let Some(wanted) = line.strip_prefix("; => ") {
                all.push((std::mem::take(&mut form), Some(wanted.to_string())));
            } else if line.is_empty() && !form.trim().is_empty() {
                all.push((std::mem::take(&mut form), None));
            } else {
                form.push_str(line);
                form.push('\n');
            }
        }
        if !form.trim().is_empty() {
            all.push((form, None));
        }
    }
    all
}
