//! Rung for Rust programs: arrays, the ladder of rungs that computes on them, and the language.
//!
//! `Session` is one running Lisp with its ladder; `packages` binds what the language's library
//! packages offer (`linalg` from the table of operations, `png`) to Rust. The command and other
//! front ends embed a `Session`; nothing here prints, exits or reads a flag.
//!
//! ```
//! use rung::{Options, Session, Settings};
//!
//! let mut session = Session::new(&Settings::default(), Options::default());
//! let values = session.lisp.eval_text("example", "(la:sum #d(1 2 3))").unwrap();
//! assert_eq!(session.lisp.print(&values[0]), "6.0");
//! ```
#![forbid(unsafe_code)]

pub mod packages;
pub mod solvers;

pub use rung_array::{Array, Number};
pub use rung_base::{ElementType, Error, ErrorKind, Result, Settings, Shape};
pub use rung_lisp::lisp::Options;
pub use rung_lisp::{Lisp, Value};
pub use rung_ops::{Caller, Ladder, NoCaller, Op, Rung, table};

use std::cell::RefCell;
use std::rc::Rc;

/// One running Lisp and the rungs that serve it.
pub struct Session {
    pub lisp: Lisp,
    /// Shared with the language's functions; borrow it between calls only.
    pub ladder: Rc<RefCell<Ladder>>,
    /// Lines for standard error about what was asked for and is missing.
    pub notices: Vec<String>,
}

impl Session {
    /// Looks for the rungs that the settings ask for, and starts a Lisp that uses them.
    pub fn new(settings: &Settings, options: Options) -> Session {
        let (ladder, notices) = Ladder::new(settings);
        let ladder = Rc::new(RefCell::new(ladder));
        let mut lisp = Lisp::new(options);
        if let Some(seed) = settings.seed.value {
            lisp.seed_random(seed);
        }
        ladder.borrow().heed(lisp.interrupt_handle());
        packages::bind(&mut lisp, &ladder);
        Session { lisp, ladder, notices }
    }

    /// From now on functions that run often become machine code. Where the processor is not known,
    /// or without the feature `native`, nothing changes: the bytecode runs everything.
    pub fn use_native_code(&mut self) {
        #[cfg(feature = "native")]
        self.lisp.set_back_end(rung_native::back_end());
    }

    /// The table of `--explain`: what ran where so far, and why not elsewhere.
    pub fn explain_table(&self) -> String {
        let place = |site| packages::place_of(&self.lisp, site);
        packages::count_reads(&self.lisp, &mut self.ladder.borrow_mut());
        self.ladder.borrow().calls.table(&place)
    }

    /// The same as one JSON object.
    pub fn explain_json(&self) -> String {
        let place = |site| packages::place_of(&self.lisp, site);
        packages::count_reads(&self.lisp, &mut self.ladder.borrow_mut());
        self.ladder.borrow().calls.json(&place).to_string()
    }
}
