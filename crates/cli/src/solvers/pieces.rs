//! A line with `--stream`: the solver reads and computes in pieces, and borrows the ladder, the screen and
//! a file from here.

use super::Teller;
use super::outputs::{Outputs, shape_note};
use crate::bar::Bar;
use crate::commands::Invocation;
use crate::interrupt;
use crate::screen::Screen;
use rung_base::Result;
use rung_base::file::Scratch;
use rung_ops::record::Op;
use rung_ops::solver::{InPieces, Shell, Streamed};
use rung_ops::{Caller, Ladder, Site, Value};
use std::collections::HashSet;
use std::path::Path;

/// Reads a file, computes and writes the result; the exit code.
pub fn run(
    streamed: &Streamed,
    asked: &InPieces,
    ladder: &mut Ladder,
    outputs: &Outputs,
    invocation: &Invocation,
) -> Result<i32> {
    let screen = invocation.screen;
    interrupt::quit_at_once(Bar::take_away);
    let mut lent = Lent {
        ladder,
        caller: Once { teller: Teller(screen), said: HashSet::new() },
        screen,
        bar: Bar::new(!screen.json && !screen.quiet),
        path: outputs.main_path(),
    };
    let stored = (streamed.run)(asked, &mut lent);
    lent.bar.clear();
    let mut stored = stored?;
    let written = outputs.write_stored(&mut *stored, &mut |done| lent.bar.show("writing", done));
    lent.bar.clear();
    written?;
    outputs.tell_replaced(&screen);
    if let Some(result) = outputs.main_result() {
        screen.note(&shape_note(result, &stored.shape()));
    }
    Ok(0)
}

/// What a solver borrows.
struct Lent<'a> {
    ladder: &'a mut Ladder,
    caller: Once,
    screen: Screen,
    bar: Bar,
    /// Where the result goes.
    path: &'a Path,
}

impl Lent<'_> {
    /// A line of its own, where a bar may be shown.
    fn say(&mut self, text: &str) {
        self.bar.clear();
        self.screen.note(text);
    }
}

impl Shell for Lent<'_> {
    fn call(&mut self, op: &'static Op, values: Vec<Value>) -> Result<Vec<Value>> {
        self.ladder.call_home(op, values, &mut self.caller)
    }

    fn note(&mut self, text: &str) {
        self.say(text);
    }

    fn detail(&mut self, text: &str) {
        if self.screen.verbose > 0 {
            self.say(text);
        }
    }

    fn progress(&mut self, what: &str, done: f64) {
        self.bar.show(what, done.min(1.0));
    }

    fn scratch(&mut self) -> Result<Scratch> {
        Scratch::beside(self.path)
    }
}

/// A caller that says what every piece says once.
struct Once {
    teller: Teller,
    said: HashSet<String>,
}

impl Caller for Once {
    fn site(&self) -> Option<Site> {
        None
    }

    fn place(&self, site: Site) -> String {
        self.teller.place(site)
    }

    fn warn(&mut self, message: &str) {
        if self.said.insert(message.into()) {
            self.teller.warn(message);
        }
    }

    fn note(&mut self, message: &str) {
        if self.said.insert(message.into()) {
            self.teller.note(message);
        }
    }
}
