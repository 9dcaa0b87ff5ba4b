//! What the language's library packages offer, bound to Rust. A package is a file here; its
//! functions come from a table, none is registered twice.

mod csv;
mod linalg;
mod png;

pub(crate) use linalg::place_of;
use rung_lisp::Lisp;
use rung_ops::Ladder;
use std::cell::RefCell;
use std::rc::Rc;

/// Registers every package.
pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>) {
    linalg::bind(lisp, ladder);
    csv::bind(lisp);
    png::bind(lisp);
}
