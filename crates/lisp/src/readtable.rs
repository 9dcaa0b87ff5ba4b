//! Readtables: what a program has changed of the standard syntax. The standard's own characters are
//! in `reader`; a table holds only what differs, so that reading by an unchanged one costs nothing.
//! The language's functions are in `library::readtables`.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use crate::library::characters::{downcase, upcase};
use crate::value::Value;

/// What a character does where a form begins.
#[derive(Clone)]
pub enum Syntax {
    /// What that character does in the standard readtable.
    As(char),
    /// Calls a function.
    Macro { function: Value, terminating: bool },
    /// Reads a number and a character, which chooses the function.
    Dispatch { terminating: bool },
}

/// What becomes of the letters of a symbol (`readtable-case`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadCase {
    #[default]
    Up,
    Down,
    Preserve,
    Invert,
}

/// A readtable.
#[derive(Clone, Default)]
pub struct Readtable {
    /// What becomes of letters.
    pub case: Cell<ReadCase>,
    syntax: RefCell<HashMap<char, Syntax>>,
    /// By dispatching character and the one behind it, in upper case.
    functions: RefCell<HashMap<(char, char), Value>>,
}

impl Readtable {
    /// Whether nothing differs from the standard.
    pub fn is_standard(&self) -> bool {
        self.case.get() == ReadCase::Up
            && self.syntax.borrow().is_empty()
            && self.functions.borrow().is_empty()
    }

    /// Becomes a copy of another, or standard.
    pub fn assign(&self, other: Option<&Readtable>) {
        let from = other.cloned().unwrap_or_default();
        self.case.set(from.case.get());
        self.syntax.replace(from.syntax.take());
        self.functions.replace(from.functions.take());
    }

    /// What the program said of a character.
    pub fn syntax(&self, c: char) -> Option<Syntax> {
        self.syntax.borrow().get(&c).cloned()
    }

    /// Says what a character does.
    pub fn set(&self, c: char, syntax: Syntax) {
        match syntax {
            Syntax::As(other) if other == c => self.syntax.borrow_mut().remove(&c),
            syntax => self.syntax.borrow_mut().insert(c, syntax),
        };
    }

    /// Gives a character the syntax that another one has in `from`, its functions included.
    pub fn set_from(&self, to: char, from: &Readtable, c: char) {
        let functions = from.functions.borrow().clone();
        let theirs = functions.into_iter().filter(|((lead, _), _)| *lead == c);
        let theirs: Vec<_> = theirs.map(|((_, sub), function)| ((to, sub), function)).collect();
        self.functions.borrow_mut().retain(|(lead, _), _| *lead != to);
        self.functions.borrow_mut().extend(theirs);
        self.set(to, from.syntax(c).unwrap_or(Syntax::As(c)));
    }

    /// A character of the standard readtable that ends or begins tokens as this one does.
    pub fn class(&self, c: char) -> char {
        match self.syntax.borrow().get(&c) {
            None => c,
            Some(Syntax::As(other)) => *other,
            Some(Syntax::Macro { terminating, .. } | Syntax::Dispatch { terminating }) => {
                if *terminating {
                    '('
                } else {
                    '#'
                }
            }
        }
    }

    /// Whether the character chooses a function by the one behind it.
    pub fn dispatches(&self, c: char) -> bool {
        match self.syntax.borrow().get(&c) {
            None => c == '#',
            Some(Syntax::Dispatch { .. }) => true,
            Some(Syntax::As(other)) => *other == '#',
            Some(Syntax::Macro { .. }) => false,
        }
    }

    /// The program's function for a dispatching character and the one behind it.
    pub fn dispatched(&self, lead: char, sub: char) -> Option<Value> {
        self.functions.borrow().get(&(lead, upcase(sub))).cloned()
    }

    /// Sets that function.
    pub fn set_dispatched(&self, lead: char, sub: char, function: Value) {
        self.functions.borrow_mut().insert((lead, upcase(sub)), function);
    }

    /// The functions, for the collector.
    pub(crate) fn children(&self, visit: &mut dyn FnMut(&Value)) {
        if let Ok(syntax) = self.syntax.try_borrow() {
            syntax.values().for_each(|syntax| {
                if let Syntax::Macro { function, .. } = syntax {
                    visit(function);
                }
            });
        }
        if let Ok(functions) = self.functions.try_borrow() {
            functions.values().for_each(visit);
        }
    }
}

impl ReadCase {
    /// A letter that is not escaped. What `Invert` does depends on the whole token (`inverted`).
    pub(crate) fn letter(self, c: char) -> char {
        match self {
            ReadCase::Up => upcase(c),
            ReadCase::Down => downcase(c),
            ReadCase::Preserve | ReadCase::Invert => c,
        }
    }
}

/// A name with the case of its letters turned when all of them have the same. `is_free` tells
/// which characters, by their number, are not escaped.
pub(crate) fn inverted(name: &str, is_free: impl Fn(usize) -> bool) -> String {
    let free = |at: usize, c: &char| is_free(at) && upcase(*c) != downcase(*c);
    let letters = name.chars().enumerate().filter(|(at, c)| free(*at, c));
    let (mut upper, mut lower) = (false, false);
    for (_, c) in letters {
        upper |= upcase(c) == c;
        lower |= downcase(c) == c;
    }
    let turn = |(at, c): (usize, char)| match (free(at, &c), upper, lower) {
        (true, true, false) => downcase(c),
        (true, false, true) => upcase(c),
        _ => c,
    };
    name.chars().enumerate().map(turn).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_of_one_case_is_inverted() {
        let all = |name| inverted(name, |_| true);
        assert_eq!(
            (all("abc"), all("ABC"), all("aBc")),
            ("ABC".into(), "abc".into(), "aBc".into())
        );
        assert_eq!(inverted("aB", |at| at == 0), "AB");
        assert_eq!(all("a1-"), "A1-");
    }

    #[test]
    fn only_what_differs_is_kept() {
        let table = Readtable::default();
        table.set('$', Syntax::As('a'));
        assert!(!table.is_standard());
        table.set('$', Syntax::As('$'));
        assert!(table.is_standard());
        assert_eq!((table.class(';'), table.dispatches('#')), (';', true));
    }
}
