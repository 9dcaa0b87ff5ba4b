//! Package `rung`: what ran where, from within a program (spec acceleration 13). `explain` and
//! `with-rungs` are macros in `explain.lisp`; `*on-decline*` and what `with-rungs` binds are
//! variables that every call of an operation looks at.

use super::linalg::{place_of, site};
use rung_base::OnDecline;
use rung_lisp::lisp::Lisp;
use rung_lisp::package::RUNG;
use rung_lisp::symbol::{self, Symbol};
use rung_lisp::{Escape, Outcome, Value, value};
use rung_ops::explain::{Calls, Counted};
use rung_ops::{Ladder, Narrowed, Rung};
use std::cell::RefCell;
use std::rc::Rc;

/// The variables by which a program asks the ladder for something else for an extent.
#[derive(Clone, Copy)]
pub struct Asked {
    on_decline: Symbol,
    narrowed: Symbol,
}

impl Asked {
    /// Tells the ladder what holds where the program is now.
    pub fn tell(self, lisp: &Lisp, ladder: &mut Ladder) -> Outcome<()> {
        let bits = if let Value::Fixnum(n) = lisp.variable(self.narrowed) { *n as u8 } else { 0 };
        ladder.rungs = Narrowed::of(bits);
        ladder.on_decline = match lisp.variable(self.on_decline) {
            Value::Nil => None,
            mode => Some(mode_of(lisp, mode)?),
        };
        Ok(())
    }
}

/// Counts what the program's own forms brought home since the last time.
pub fn count_reads(lisp: &Lisp, ladder: &mut Ladder) {
    ladder.count_between();
    for (span, fetches) in lisp.take_fetches() {
        ladder.calls.add_reads(span.map(site), fetches.count, fetches.bytes);
    }
}

fn mode_of(lisp: &Lisp, mode: &Value) -> Outcome<OnDecline> {
    let name = mode.as_symbol().map(|symbol| lisp.name(symbol).to_ascii_lowercase());
    match name.as_deref() {
        Some("ok") => Ok(OnDecline::Ok),
        Some("warn") => Ok(OnDecline::Warn),
        Some("error") => Ok(OnDecline::Error),
        Some("verify") => Ok(OnDecline::Verify),
        _ => {
            let text = format!(
                "rung:*on-decline* is nil, :ok, :warn, :error or :verify: got {}",
                lisp.brief(mode)
            );
            Err(Escape::of(symbol::TYPE_ERROR, text))
        }
    }
}

pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>) -> Asked {
    lisp.add_library(include_str!("explain.lisp"));
    let own = ladder.clone();
    let text = "What the macro explain calls.";
    let explaining = move |lisp: &mut Lisp, a: &[Value]| explaining(lisp, &own, &a[0]);
    lisp.define_native("rung", "%explaining", "function", text, Rc::new(explaining));
    let own = ladder.clone();
    let text = "The calls counted so far: a list of property lists with :operation, :shapes, \
                :type, :rung, :calls, :seconds, :up, :down, :place, :notes and :declines. Calls \
                are counted with --explain and after (rung:reset-calls).";
    let calls = move |lisp: &mut Lisp, _: &[Value]| {
        count_reads(lisp, &mut own.borrow_mut());
        let ladder = own.borrow();
        Ok(listed(lisp, &ladder.calls))
    };
    lisp.define_native("rung", "calls", "", text, Rc::new(calls));
    let own = ladder.clone();
    let text = "Forgets the calls counted so far, and counts from here on.";
    let reset = move |lisp: &mut Lisp, _: &[Value]| {
        lisp.take_fetches();
        own.borrow_mut().count_anew();
        Ok(value::NIL)
    };
    lisp.define_native("rung", "reset-calls", "", text, Rc::new(reset));
    let narrowed = lisp.define_special("rung", "%narrowed", Value::Fixnum(0));
    let text = "The rungs taken away, with those that are nil here.";
    let narrow = move |lisp: &mut Lisp, a: &[Value]| Ok(narrow(lisp, narrowed, a));
    lisp.define_native("rung", "%narrow", "device library lanes", text, Rc::new(narrow));
    let restart = lisp.intern(RUNG, "RUN-PORTABLE");
    lisp.packages.export(&lisp.symbols, RUNG, restart);
    let on_decline = lisp.define_special("rung", "*on-decline*", value::NIL);
    Asked { on_decline, narrowed }
}

fn narrow(lisp: &Lisp, narrowed: Symbol, kept: &[Value]) -> Value {
    let bits = if let Value::Fixnum(n) = lisp.variable(narrowed) { *n as u8 } else { 0 };
    let mut rungs = Narrowed::of(bits);
    for (rung, kept) in [Rung::Device, Rung::Library, Rung::Lanes].into_iter().zip(kept) {
        if kept.is_nil() {
            rungs = rungs.without(rung);
        }
    }
    Value::Fixnum(rungs.bits().into())
}

/// Calls a function with its operations counted by themselves, and prints their table.
fn explaining(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>, function: &Value) -> Outcome {
    count_reads(lisp, &mut ladder.borrow_mut());
    let extent = ladder.borrow_mut().begin_extent();
    let values = lisp.call_for_values(function, &[]);
    count_reads(lisp, &mut ladder.borrow_mut());
    let mut table = String::new();
    ladder.borrow_mut().end_extent(extent, |calls| {
        if !calls.is_empty() {
            table = calls.table(&|site| place_of(lisp, site));
        }
    });
    let values = values?;
    let text = if table.is_empty() { "no array operation ran\n" } else { &table };
    let stream = lisp.variable(symbol::ERROR_OUTPUT).clone();
    lisp.write(&stream, text)?;
    Ok(lisp.values(values))
}

/// The rows as a list of property lists.
fn listed(lisp: &mut Lisp, calls: &Calls) -> Value {
    let rows: Vec<Value> = calls.counted().map(|row| row_of(lisp, &row)).collect();
    value::list(rows)
}

fn row_of(lisp: &mut Lisp, row: &Counted) -> Value {
    let shape = |shape: &rung_base::Shape| value::list(shape.iter().map(|n| Value::size(*n)));
    let shapes = value::list(row.what.shapes.iter().map(shape).collect::<Vec<_>>());
    let place = row.site.map(|site| Value::string(&place_of(lisp, site)));
    let notes = row
        .notes
        .iter()
        .map(|(text, count)| value::list([Value::string(text), Value::Fixnum(*count as i64)]));
    let notes = value::list(notes.collect::<Vec<_>>());
    let declines: Vec<Value> = row
        .declines
        .iter()
        .map(|(rung, code, text, count)| {
            let rung = lisp.keyword(&rung.name().to_ascii_uppercase());
            plist(
                lisp,
                [
                    ("RUNG", rung),
                    ("CODE", Value::string(code)),
                    ("COUNT", Value::Fixnum(*count as i64)),
                    ("TEXT", Value::string(text)),
                ],
            )
        })
        .collect();
    let rung = lisp.keyword(&row.rung.name().to_ascii_uppercase());
    plist(
        lisp,
        [
            ("OPERATION", Value::string(&row.what.operation)),
            ("SHAPES", shapes),
            ("TYPE", Value::string(row.what.element_type.name())),
            ("RUNG", rung),
            ("CALLS", Value::Fixnum(row.calls as i64)),
            ("SECONDS", Value::Double(row.time.as_secs_f64())),
            ("UP", Value::Fixnum(row.up as i64)),
            ("DOWN", Value::Fixnum(row.down as i64)),
            ("PLACE", place.unwrap_or_default()),
            ("NOTES", notes),
            ("DECLINES", value::list(declines)),
        ],
    )
}

/// A property list.
pub fn plist<'a>(lisp: &mut Lisp, pairs: impl IntoIterator<Item = (&'a str, Value)>) -> Value {
    let pairs = pairs.into_iter().flat_map(|(key, value)| [lisp.keyword(key), value]);
    value::list(pairs.collect::<Vec<_>>())
}
