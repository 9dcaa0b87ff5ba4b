//! What `(time form)` says where there are rungs: the time until the device is done, the calls of
//! operations by rung, the bytes that moved, and those that arrays took. Calls are counted while the
//! form runs, which small ones notice: each is described first, as with `--explain`.

use super::device::synchronize;
use super::explain::count_reads;
use rung_array::taken_bytes;
use rung_lisp::lisp::Lisp;
use rung_lisp::{Outcome, Value, symbol};
use rung_ops::decline::size;
use rung_ops::explain::Calls;
use rung_ops::{Ladder, Rung};
use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;
use std::time::Instant;

pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>) {
    let ladder = ladder.clone();
    let text = "What the macro time calls.";
    let timing = move |lisp: &mut Lisp, a: &[Value]| timing(lisp, &ladder, &a[0]);
    lisp.define_native("rung", "%timing", "function", text, Rc::new(timing));
}

/// Calls a function and prints on `*trace-output*` what it took; what fails prints nothing.
fn timing(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>, function: &Value) -> Outcome {
    count_reads(lisp, &mut ladder.borrow_mut());
    // What was queued before is not the form's.
    synchronize(&ladder.borrow())?;
    let extent = ladder.borrow_mut().begin_extent();
    let (taken, moved) = (taken_bytes(), moved(&ladder.borrow()));
    let start = Instant::now();
    let values = lisp.call_for_values(function, &[]);
    let done = synchronize(&ladder.borrow());
    let seconds = start.elapsed().as_secs_f64();
    let mut text = format!("time: {seconds:.3} s\n");
    let taken = taken_bytes().wrapping_sub(taken);
    let moved = moved_since(&ladder.borrow(), moved);
    count_reads(lisp, &mut ladder.borrow_mut());
    ladder.borrow_mut().end_extent(extent, |calls| text += &by_rung(calls));
    let (values, ()) = (values?, done?);
    if let Some((up, down)) = moved {
        let _ = writeln!(text, "moved: up {}, down {}", size(up), size(down));
    }
    let _ = writeln!(text, "arrays: {}", size(taken));
    let stream = lisp.variable(symbol::TRACE_OUTPUT).clone();
    if lisp.column(&stream) > 0 {
        lisp.write(&stream, "\n")?;
    }
    lisp.write(&stream, &text)?;
    lisp.flush(&stream)?;
    Ok(lisp.values(values))
}

/// `operations: lanes 3, portable 1`; nothing where none ran.
fn by_rung(calls: &Calls) -> String {
    let rows = |rung: Rung| calls.counted().filter(move |row| row.rung == rung);
    let count = |rung| rows(rung).map(|row| row.calls);
    let counted = Rung::ALL.map(|rung| (rung.name(), count(rung).sum::<u64>()));
    let shown = counted.iter().filter(|(_, calls)| *calls > 0);
    let shown: Vec<String> = shown.map(|(name, calls)| format!("{name} {calls}")).collect();
    if shown.is_empty() { String::new() } else { format!("operations: {}\n", shown.join(", ")) }
}

/// Bytes that went to the device and came from it so far.
fn moved(ladder: &Ladder) -> Option<(u64, u64)> {
    ladder.residency().map(|device| (device.moved().up, device.moved().down))
}

fn moved_since(ladder: &Ladder, before: Option<(u64, u64)>) -> Option<(u64, u64)> {
    let (before, now) = (before?, moved(ladder)?);
    Some((now.0 - before.0, now.1 - before.1))
}
