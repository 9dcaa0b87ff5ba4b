//! The table of `docs/language.md`: every symbol of package COMMON-LISP, and whether this version
//! has it. What the standard has is data (`rung_lisp::library::STANDARD`), what is there is asked of a fresh
//! session, and `data/standard-notes.txt` says how a partial one falls short and why an absent one
//! is absent. A note on something that is there makes it partial, so a note that has become untrue
//! is deleted where it stands.

use rung_lisp::library::STANDARD;
use rung_lisp::{Lisp, Options};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

const PAGE: &str = "docs/language.md";
const BEGIN: &str = "<!-- begin: cargo xtask gen -->\n";
const END: &str = "<!-- end: cargo xtask gen -->";
const NOTES: &str = include_str!("../data/standard-notes.txt");

/// A symbol of the standard: its name and the letters of what it names.
struct Entry {
    name: &'static str,
    roles: &'static str,
}

struct Chapter {
    title: &'static str,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Done,
    Partial,
    Absent,
}

/// How many there are of each state.
#[derive(Default, Clone, Copy)]
pub struct Counts {
    done: usize,
    partial: usize,
    absent: usize,
}

impl Counts {
    fn add(&mut self, state: State) {
        match state {
            State::Done => self.done += 1,
            State::Partial => self.partial += 1,
            State::Absent => self.absent += 1,
        }
    }

    fn join(&mut self, other: Counts) {
        self.done += other.done;
        self.partial += other.partial;
        self.absent += other.absent;
    }
}

impl std::fmt::Display for Counts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} done, {} partial, {} absent", self.done, self.partial, self.absent)
    }
}

/// `docs/language.md` with its table renewed.
pub fn page(root: &Path) -> Result<String, String> {
    let text = fs::read_to_string(root.join(PAGE)).map_err(|e| format!("{PAGE}: {e}"))?;
    let missing = || format!("{PAGE}: no {BEGIN:?} and {END:?}");
    let begin = text.find(BEGIN).ok_or_else(missing)? + BEGIN.len();
    let end = text.find(END).filter(|end| *end >= begin).ok_or_else(missing)?;
    Ok(format!("{}{}{}", &text[..begin], table().0, &text[end..]))
}

/// The table, and how much of the standard there is.
pub fn table() -> (String, Counts) {
    let mut session = Lisp::new(Options::default());
    let notes = notes();
    let (mut body, mut all) = (String::new(), Counts::default());
    for chapter in chapters() {
        let (mut rows, mut counts) = (String::new(), Counts::default());
        for entry in &chapter.entries {
            let (state, row) = row(&mut session, entry, notes.get(entry.name).copied());
            counts.add(state);
            rows += &row;
        }
        all.join(counts);
        // Writing to a String cannot fail.
        let _ = write!(
            body,
            "\n<details><summary>{}: {counts}</summary>\n\n\
             | name | is | state |\n| --- | --- | --- |\n{rows}\n</details>\n",
            chapter.title
        );
    }
    let count = all.done + all.partial + all.absent;
    (format!("\nOf the standard's {count} symbols: {all}.\n{body}\n"), all)
}

fn row(session: &mut Lisp, entry: &Entry, note: Option<&str>) -> (State, String) {
    let found: Vec<bool> = entry.roles.chars().map(|role| has(session, entry.name, role)).collect();
    let state = match (found.iter().any(|has| *has), found.iter().all(|has| *has), note) {
        (false, ..) => State::Absent,
        (true, true, None) => State::Done,
        _ => State::Partial,
    };
    let words: Vec<&str> = entry.roles.chars().map(word).collect();
    let note = note.unwrap_or("its other meanings are missing");
    let state_text = match state {
        State::Done => "done".to_string(),
        State::Partial => format!("partial: {note}"),
        State::Absent => format!("absent: {note}"),
    };
    let row = format!("| `{}` | {} | {state_text} |\n", entry.name, words.join(", "));
    (state, row)
}

/// Whether a fresh session has what the name names in that role.
fn has(session: &mut Lisp, name: &str, role: char) -> bool {
    let symbol = format!("cl::|{}|", name.to_uppercase());
    let form = match role {
        'f' => format!("(fboundp '{symbol})"),
        'v' => format!("(boundp '{symbol})"),
        't' => format!("(progn (typep nil '{symbol}) t)"),
        _ => return true,
    };
    let values = session.eval_text("standard", &form);
    values.is_ok_and(|values| values.first().is_some_and(rung_lisp::Value::truth))
}

fn word(role: char) -> &'static str {
    match role {
        'f' => "operator",
        'v' => "variable",
        't' => "type",
        _ => "syntax",
    }
}

fn chapters() -> Vec<Chapter> {
    let mut chapters: Vec<Chapter> = Vec::new();
    for line in STANDARD.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        match line.strip_prefix("  ") {
            None => chapters.push(Chapter { title: line, entries: Vec::new() }),
            Some(words) => {
                let entry = |word: &'static str| word.rsplit_once(':');
                let entries = words.split_whitespace().filter_map(entry);
                let entries = entries.map(|(name, roles)| Entry { name, roles });
                chapters
                    .iter_mut()
                    .last()
                    .into_iter()
                    .for_each(|c| c.entries.extend(entries.clone()));
            }
        }
    }
    chapters
}

/// The notes: a name or several, a colon, the text.
fn notes() -> BTreeMap<&'static str, &'static str> {
    let lines = NOTES.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let parts = lines.filter_map(|line| line.split_once(": "));
    parts.flat_map(|(names, note)| names.split(' ').map(move |name| (name, note))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        chapters().into_iter().flat_map(|chapter| chapter.entries).collect()
    }

    #[test]
    fn the_list_has_the_978_symbols_once_each() {
        let mut names: Vec<&str> = entries().iter().map(|entry| entry.name).collect();
        names.sort();
        names.dedup();
        assert_eq!((names.len(), entries().len()), (978, 978));
    }

    #[test]
    fn notes_name_symbols_of_the_list_and_every_absent_one_has_its_reason() {
        let names: Vec<&str> = entries().iter().map(|entry| entry.name).collect();
        let notes = notes();
        let strangers: Vec<_> = notes.keys().filter(|name| !names.contains(name)).collect();
        assert!(strangers.is_empty(), "{strangers:?}");
        let mut session = Lisp::new(Options::default());
        for entry in entries() {
            let note = notes.get(entry.name).copied();
            let (state, row) = row(&mut session, &entry, note);
            assert!(state == State::Done || note.is_some(), "no note: {row}");
        }
    }

    #[test]
    fn a_name_is_judged_by_what_a_session_has() {
        let mut session = Lisp::new(Options::default());
        let mut state = |name, roles, note| row(&mut session, &Entry { name, roles }, note).0;
        assert_eq!(state("car", "f", None), State::Done);
        assert_eq!(state("list", "ft", None), State::Done);
        assert_eq!(state("car", "fv", Some("no variable")), State::Partial);
        assert_eq!(state("car", "f", Some("of some")), State::Partial);
        assert_eq!(state("no-such-name", "fvt", None), State::Absent);
    }
}
