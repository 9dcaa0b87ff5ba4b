//! The debugger: what happens to a condition that no handler took, when somebody is there to ask.
//!
//! An embedder with a person in front of it gives a `Console`. The condition is then shown where
//! it was signalled, before anything is unwound, with the restarts by number; what is typed is
//! evaluated there. An error in that opens a level above. Without a console, and for scripts,
//! only `*debugger-hook*` is asked, and the condition goes on to the embedder as `Unhandled`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::condition::{Condition, Escape, EscapeKind, Outcome};
use crate::embed::Next;
use crate::lisp::Lisp;
use crate::machine::Lot;
use crate::offer::Offer;
use crate::package::CL;
use crate::report::Unhandled;
use crate::source::Span;
use crate::symbol::{self, Symbol};
use crate::value::{NIL, Value, cons, list};

/// What was typed.
pub enum Line {
    /// A line, or several that make up a form.
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    End,
    /// The terminal cannot be read.
    Failed(String),
}

/// A person at a terminal. No method runs Lisp.
pub trait Console {
    /// One form or more, or a command; the prompt stands before it.
    fn read(&mut self, lisp: &Lisp, prompt: &str) -> Line;
    /// Shows a condition that nobody handled, or why a text could not be read.
    fn report(&mut self, found: &Unhandled);
    /// Shows the debugger's own words.
    fn say(&mut self, text: &str);
    /// Shows values, one a line.
    fn show(&mut self, lines: &[String]);
    /// Evaluation begins: the next Ctrl-C is a first one again.
    fn busy(&mut self);
}

/// The console, held by the prompt and by the Lisp.
pub type SharedConsole = Rc<RefCell<dyn Console>>;

/// What messages call the text that was typed.
const TYPED: &str = "prompt";
/// Frames shown before anybody asks for more.
const FRAMES_SHOWN: usize = 5;

const HELP: &str = "  a number or :N takes a restart, :bt shows all frames, :c continues,\n  \
                    :up and :down choose a frame, :locals shows its variables,\n  \
                    Ctrl-D leaves this level, :q all levels; anything else is evaluated here\n";

const ABORT: Offer = Offer { package: CL, name: "ABORT", report: "Return to the prompt." };
const CONTINUE: Offer = Offer { package: CL, name: "CONTINUE", report: "Go on." };

/// A condition under examination.
struct Stop {
    /// The restarts, innermost first.
    restarts: Vec<Value>,
    frames: Vec<(Value, Option<Span>)>,
    /// The variables of the frames.
    locals: Vec<Vec<(Symbol, Value)>>,
    /// The frame that `:up` and `:down` have chosen.
    chosen: Cell<usize>,
}

impl Lisp {
    /// From now on conditions that nobody handles are shown there; `None` ends that.
    pub fn set_console(&mut self, console: Option<SharedConsole>) {
        self.console = console;
    }

    /// Remembers the frames that a native knows: those that called natives, its own first.
    pub(crate) fn note_sites(&mut self) {
        let sites = self.site.iter().chain(self.outer_sites.iter().rev());
        self.backtrace = sites.filter_map(crate::lisp::site_frame).collect();
    }

    /// Asks `*debugger-hook*` and the console. `Ok`: there is nobody to ask.
    pub(crate) fn debug(&mut self, condition: &Value) -> Outcome<()> {
        let hook = self.variable(symbol::DEBUGGER_HOOK).clone();
        if hook.truth() {
            let arguments = [condition.clone(), hook.clone()];
            self.with_binding(symbol::DEBUGGER_HOOK, NIL, |lisp| lisp.call(&hook, &arguments))?;
        }
        let Some(console) = self.console.clone() else { return Ok(()) };
        let frames = self.backtrace.clone();
        let locals = std::mem::take(&mut self.frame_locals);
        let found = self.describe_condition(condition.clone());
        let restarts =
            self.call(&Value::symbol(symbol::COMPUTE_RESTARTS), std::slice::from_ref(condition))?;
        let restarts = restarts.elements().collect();
        let stop = Stop { restarts, frames, locals, chosen: Cell::new(0) };
        let terminal = self.variable(symbol::TERMINAL_IO).clone();
        if self.column(&terminal) > 0 {
            self.write(&terminal, "\n")?;
        }
        self.flush(&terminal)?;
        console.borrow_mut().report(&found);
        self.level(&console, &stop)
    }

    /// Ctrl-C while Lisp runs: an escape, or a stop from which the person may go on; or the heap is full.
    #[cold]
    pub(crate) fn interrupt(&mut self) -> Outcome<()> {
        if let Some(bytes) = crate::heap::limit::take_reached() {
            let text = format!("the heap has reached its limit of {bytes} bytes");
            let condition = Escape::of(symbol::STORAGE_CONDITION, text);
            return Err(condition.hint("--heap=SIZE allows more, such as --heap=4G"));
        }
        if self.console.is_none() {
            return Err(EscapeKind::Interrupt.into());
        }
        let condition = Condition::new(symbol::INTERRUPTED, "interrupted").into_value();
        let tag = cons(NIL, NIL);
        let restart = self.offered(0, &CONTINUE, &tag)?;
        let restarts = cons(restart, self.variable(symbol::RESTARTS).clone());
        let asked = self.with_binding(symbol::RESTARTS, restarts, |lisp| lisp.debug(&condition));
        match asked {
            Err(escape) if is_throw_to(&escape, &tag) => Ok(()),
            Err(escape) => Err(escape),
            Ok(()) => Err(EscapeKind::Interrupt.into()),
        }
    }

    /// Runs `work` with a restart that leads back to the prompt, where somebody is there.
    pub(crate) fn abortable<R>(
        &mut self,
        work: impl FnOnce(&mut Lisp) -> Outcome<R>,
    ) -> Outcome<R> {
        if self.console.is_none() {
            return work(self);
        }
        let tag = cons(NIL, NIL);
        let restart = self.offered(0, &ABORT, &tag)?;
        let result = self.with_binding(symbol::RESTARTS, list([restart]), work);
        result.map_err(|escape| match is_throw_to(&escape, &tag) {
            true => EscapeKind::Abort.into(),
            false => escape,
        })
    }

    /// One level: reads and does what is typed until something leads out of it.
    fn level(&mut self, console: &SharedConsole, stop: &Stop) -> Outcome<()> {
        let tag = cons(NIL, NIL);
        self.levels.push(tag.clone());
        // Doubts about the form that failed say no more than its error, and would come late.
        self.doubts.clear();
        let environment = std::mem::take(&mut self.macro_environment);
        self.show_restarts(console, stop);
        let shown = self.frames_in_words(&stop.frames);
        show_frames(console, &shown, FRAMES_SHOWN);
        let number = self.levels.len();
        let escape = loop {
            let done = self.one_line(console, stop, &tag, number);
            match done {
                Ok(()) => {}
                Err(escape) if is_throw_to(&escape, &tag) => {
                    let text = format!("; back at level {number}\n");
                    console.borrow_mut().say(&text);
                }
                Err(escape) => break escape,
            }
        };
        self.macro_environment = environment;
        self.levels.pop();
        Err(escape)
    }

    fn show_restarts(&mut self, console: &SharedConsole, stop: &Stop) {
        let mut text = "restarts:\n".to_string();
        for (number, restart) in stop.restarts.iter().enumerate() {
            let report =
                self.call(&Value::symbol(symbol::RESTART_REPORT), std::slice::from_ref(restart));
            let report = report.ok().and_then(|text| text.as_text().map(|text| text.to_text()));
            let report = report.unwrap_or_else(|| "<error while reporting>".to_string());
            let name = self.restart_name(restart).to_lowercase();
            text += &format!("{number:>3}: [{name}] {report}\n");
        }
        console.borrow_mut().say(&text);
    }

    fn restart_name(&self, restart: &Value) -> String {
        let Some(crate::object::Object::Instance(it)) = restart.as_object() else {
            return String::new();
        };
        let name = it.slots.borrow().first().cloned().unwrap_or_default();
        name.as_symbol().map_or_else(|| "nil".to_string(), |name| self.name(name).to_string())
    }

    /// Reads a line at this level and does what it says.
    fn one_line(
        &mut self,
        console: &SharedConsole,
        stop: &Stop,
        tag: &Value,
        number: usize,
    ) -> Outcome<()> {
        let prompt = format!("[{number}] {}> ", self.package_name());
        let line = console.borrow_mut().read(self, &prompt);
        let text = match line {
            Line::Text(text) => text,
            Line::Interrupted => return Ok(()),
            Line::End => return Err(self.leave_level()),
            Line::Failed(_) => return Err(EscapeKind::Abort.into()),
        };
        // Whatever it does may run, and be interrupted as if for the first time.
        console.borrow_mut().busy();
        let word = text.trim().to_lowercase();
        match word.strip_prefix(':').unwrap_or(&word).parse::<usize>() {
            Ok(chosen) => self.take_restart(console, stop, chosen),
            Err(_) if self.command(console, stop, &word)? => Ok(()),
            Err(_) => self.answer(console, &text, tag, number),
        }
    }

    /// Does what a command says; false for a word that is none.
    fn command(&mut self, console: &SharedConsole, stop: &Stop, word: &str) -> Outcome<bool> {
        match word {
            ":q" | ":quit" | ":abort" | ":top" | "quit" | "exit" => {
                return Err(EscapeKind::Abort.into());
            }
            ":bt" | ":backtrace" => {
                let shown = self.frames_in_words(&stop.frames);
                show_frames(console, &shown, usize::MAX);
            }
            ":c" | ":continue" => {
                let is_continue = |restart: &Value| self.restart_name(restart) == "CONTINUE";
                match stop.restarts.iter().position(is_continue) {
                    Some(chosen) => self.take_restart(console, stop, chosen)?,
                    None => console.borrow_mut().say("  there is no restart continue\n"),
                }
            }
            ":up" | ":u" => self.choose(console, stop, stop.chosen.get() + 1),
            ":down" | ":d" => match stop.chosen.get().checked_sub(1) {
                Some(below) => self.choose(console, stop, below),
                None => console.borrow_mut().say("  this is the innermost frame\n"),
            },
            ":locals" | ":l" => self.show_locals(console, stop),
            ":r" | ":restarts" => self.show_restarts(console, stop),
            ":h" | ":help" | ":?" | "?" | "help" => console.borrow_mut().say(HELP),
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Makes a frame the one that `:locals` is about, and shows it.
    fn choose(&self, console: &SharedConsole, stop: &Stop, wanted: usize) {
        let shown = self.frames_in_words(&stop.frames);
        match shown.get(wanted) {
            Some(frame) => {
                stop.chosen.set(wanted);
                console.borrow_mut().say(&format!("{wanted:>3}  {frame}\n"));
            }
            None => console.borrow_mut().say("  this is the outermost frame\n"),
        }
    }

    /// The variables of the chosen frame that a program has named.
    fn show_locals(&mut self, console: &SharedConsole, stop: &Stop) {
        let locals = stop.locals.get(stop.chosen.get()).cloned().unwrap_or_default();
        let mut text = String::new();
        for (name, value) in locals {
            if self.symbols[name].package.is_some() {
                let shown = crate::printer::for_prompt(self, &value);
                let shown = shown.unwrap_or_else(|_| self.brief(&value));
                text += &format!("  {} = {shown}\n", self.shown(name));
            }
        }
        if text.is_empty() {
            text = "  no variables are known here\n".to_string();
        }
        console.borrow_mut().say(&text);
    }

    /// To the level below, or to the prompt.
    fn leave_level(&self) -> Escape {
        match self.levels.iter().rev().nth(1) {
            Some(tag) => EscapeKind::Throw { tag: tag.clone(), values: Lot::of(vec![NIL]) }.into(),
            None => EscapeKind::Abort.into(),
        }
    }

    fn take_restart(&mut self, console: &SharedConsole, stop: &Stop, chosen: usize) -> Outcome<()> {
        let Some(restart) = stop.restarts.get(chosen) else {
            let text = match stop.restarts.len() {
                1 => "  there is one restart, 0\n".to_string(),
                count => format!("  the restarts are 0 to {}\n", count - 1),
            };
            console.borrow_mut().say(&text);
            return Ok(());
        };
        let interactive = Value::symbol(symbol::RESTART_INTERACTIVE);
        let asks = self.call(&interactive, std::slice::from_ref(restart))?.truth();
        let name = self.restart_name(restart);
        if !asks && (name == "USE-VALUE" || name == "STORE-VALUE") {
            let Some(value) = self.asked_value(console)? else { return Ok(()) };
            let invoke = Value::symbol(symbol::INVOKE_RESTART);
            return self.call(&invoke, &[restart.clone(), value]).map(drop);
        }
        let invoke = Value::symbol(symbol::INVOKE_RESTART_INTERACTIVELY);
        self.call(&invoke, std::slice::from_ref(restart)).map(drop)
    }

    /// The value of a form that is asked for.
    fn asked_value(&mut self, console: &SharedConsole) -> Outcome<Option<Value>> {
        let line = console.borrow_mut().read(self, "value> ");
        let Line::Text(text) = line else { return Ok(None) };
        match self.read_form(TYPED, &text) {
            Ok(Next::Form(form, _)) => {
                let span = self.form_span.take();
                let values = self.eval_in_source(&form, span)?;
                Ok(Some(values.into_iter().next().unwrap_or_default()))
            }
            Ok(Next::End) => Ok(None),
            Err(found) => {
                console.borrow_mut().report(&found);
                Ok(None)
            }
        }
    }

    /// Evaluates what was typed, where the condition was signalled: its bindings hold, its
    /// handlers do not.
    fn answer(
        &mut self,
        console: &SharedConsole,
        text: &str,
        tag: &Value,
        number: usize,
    ) -> Outcome<()> {
        let report = format!("Return to level {number}.");
        let restart = self.offered(0, &Offer { report: &report, ..ABORT }, tag)?;
        let terminal = self.variable(symbol::TERMINAL_IO).clone();
        let restarts = cons(restart, self.variable(symbol::RESTARTS).clone());
        let depth = self.bindings.len();
        self.bind(symbol::HANDLERS, NIL);
        self.bind(symbol::RESTARTS, restarts);
        self.bind(symbol::STANDARD_OUTPUT, terminal.clone());
        self.bind(symbol::STANDARD_INPUT, terminal);
        let outcome = self.each_form(console, text);
        self.unbind_to(depth);
        outcome
    }

    fn each_form(&mut self, console: &SharedConsole, text: &str) -> Outcome<()> {
        let mut rest = text.to_string();
        loop {
            let (form, used) = match self.read_form(TYPED, &rest) {
                Ok(Next::Form(form, used)) => (form, used),
                Ok(Next::End) => return Ok(()),
                Err(found) => {
                    console.borrow_mut().report(&found);
                    return Ok(());
                }
            };
            self.remember_form(&form);
            let span = self.form_span.take();
            let values = self.eval_in_source(&form, span)?;
            self.remember_values(&values);
            let mut lines = Vec::with_capacity(values.len());
            for value in &values {
                lines.push(crate::printer::for_prompt(self, value)?);
            }
            if values.is_empty() {
                lines.push("; no values".to_string());
            }
            let output = self.variable(symbol::STANDARD_OUTPUT).clone();
            if self.column(&output) > 0 {
                self.write(&output, "\n")?;
            }
            self.flush(&output)?;
            console.borrow_mut().show(&lines);
            rest = blanked(&rest, used);
        }
    }

    /// `-` is the form that is being evaluated, `+` the one before.
    pub fn remember_form(&mut self, form: &Value) {
        let before = self.prompt_variable("-");
        self.shift(["+", "++", "+++"], before);
        self.set_prompt_variable("-", form.clone());
    }

    /// `*` is the last form's value, `/` all its values.
    pub fn remember_values(&mut self, values: &[Value]) {
        self.shift(["/", "//", "///"], list(values.to_vec()));
        self.shift(["*", "**", "***"], values.first().cloned().unwrap_or_default());
    }

    /// Moves what `names` hold one name on; the first gets `value`.
    fn shift(&mut self, names: [&str; 3], value: Value) {
        let (first, second) = (self.prompt_variable(names[0]), self.prompt_variable(names[1]));
        self.set_prompt_variable(names[2], second);
        self.set_prompt_variable(names[1], first);
        self.set_prompt_variable(names[0], value);
    }

    fn prompt_variable(&mut self, name: &str) -> Value {
        let symbol = self.intern(CL, name);
        self.variable(symbol).clone()
    }

    fn set_prompt_variable(&mut self, name: &str, value: Value) {
        let symbol = self.intern(CL, name);
        self.set_variable(symbol, value);
    }
}

fn is_throw_to(escape: &Escape, wanted: &Value) -> bool {
    matches!(&*escape.0, EscapeKind::Throw { tag, .. } if tag.eql(wanted))
}

fn show_frames(console: &SharedConsole, frames: &[String], limit: usize) {
    let mut text = String::new();
    for (depth, frame) in frames.iter().take(limit).enumerate() {
        text += &format!("{depth:>3}  {frame}\n");
    }
    if frames.len() > limit {
        text += &format!("     {} more frames: :bt\n", frames.len() - limit);
    }
    if !text.is_empty() {
        console.borrow_mut().say(&format!("frames:\n{text}"));
    }
}

/// The text with its first `count` characters turned to blanks, so that what is left keeps its
/// lines and columns.
pub fn blanked(text: &str, count: usize) -> String {
    let blank = |(at, c): (usize, char)| if at < count && c != '\n' { ' ' } else { c };
    text.chars().enumerate().map(blank).collect()
}
