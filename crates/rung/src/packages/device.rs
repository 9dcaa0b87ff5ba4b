//! Package `rung`: where an array is, for measuring (spec acceleration 9.2). No program needs these:
//! arrays go to a device and come home by themselves.

use rung_lisp::lisp::Lisp;
use rung_lisp::packed::Packed;
use rung_lisp::{Escape, Outcome, Value, symbol, value};
use rung_ops::Ladder;
use std::cell::RefCell;
use std::rc::Rc;

type Body = fn(&Ladder, &[Value]) -> Outcome;

const FUNCTIONS: [(&str, &str, &str, Body); 4] = [
    (
        "resident-p",
        "array",
        "Whether the newest elements of a packed array are on the device.",
        |ladder, a| {
            let array = packed("rung:resident-p", &a[0])?.array();
            Ok(Value::boolean(ladder.residency().is_some_and(|device| device.holds(&array))))
        },
    ),
    (
        "send",
        "array",
        "Sends a packed array to the device, where it stays while there is room; without room or \
         without a device that takes it it does nothing. Returns the array.",
        |ladder, a| {
            let array = packed("rung:send", &a[0])?.array();
            if let Some(device) = ladder.residency() {
                // What cannot be sent stays here; the next call that wants it there says why not.
                drop(device.keep(&array));
            }
            Ok(a[0].clone())
        },
    ),
    (
        "home",
        "array",
        "Brings the elements of a packed array home from the device, where they are only there. \
         Returns the array.",
        |_, a| {
            packed("rung:home", &a[0])?.array().home()?;
            Ok(a[0].clone())
        },
    ),
    (
        "synchronize",
        "",
        "Waits until the device has done everything that was asked of it.",
        |ladder, _| synchronize(ladder).map(|()| value::NIL),
    ),
];

pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>) {
    for (name, list, text, body) in FUNCTIONS {
        let own = ladder.clone();
        let call = move |_: &mut Lisp, a: &[Value]| body(&own.borrow(), a);
        lisp.define_native("rung", name, list, text, Rc::new(call));
    }
}

/// Waits for the device, where there is one.
pub fn synchronize(ladder: &Ladder) -> Outcome<()> {
    if let Some(device) = ladder.residency() {
        device.device().synchronize().map_err(rung_device::Failure::into_error)?;
    }
    Ok(())
}

fn packed<'a>(operator: &str, value: &'a Value) -> Outcome<&'a Packed> {
    value.as_packed().ok_or_else(|| {
        let wanted = "a packed array, such as #d(1 2)";
        Escape::unexpected(operator, wanted, Value::symbol(symbol::ARRAY), value)
    })
}
