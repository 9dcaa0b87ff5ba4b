//! `rung:devices`: which devices the machine has, and which of them this run uses (spec
//! acceleration 13). It asks the drivers at each call and opens no device.

use super::explain::plist;
use rung_base::DeviceChoice;
use rung_device::{Adapter, Info};
use rung_lisp::lisp::Lisp;
use rung_lisp::{Value, value};
use rung_ops::{Ladder, Rung};
use std::cell::RefCell;
use std::rc::Rc;

const TEXT: &str = "The devices that the drivers of this machine show, in the order in which they \
                    would be tried: a list of property lists with :name, :driver, :backend, \
                    :software, :in-use and :reason, which says why a device is not in use. The \
                    one in use has :f64, :i64, :f16 and :memory in bytes (nil: not told) as well. \
                    None are shown when --device or RUNG_DEVICE hides them.";

pub fn bind(lisp: &mut Lisp, ladder: &Rc<RefCell<Ladder>>) {
    let ladder = ladder.clone();
    let devices = move |lisp: &mut Lisp, _: &[Value]| Ok(listed(lisp, &ladder.borrow()));
    lisp.define_native("rung", "devices", "", TEXT, Rc::new(devices));
}

fn listed(lisp: &mut Lisp, ladder: &Ladder) -> Value {
    if matches!(ladder.settings().device.value, DeviceChoice::None(_)) {
        return value::NIL;
    }
    let adapters = rung_device::adapters().adapters;
    let rows = rows(&adapters, ladder);
    value::list(rows.iter().map(|row| row_of(lisp, row)).collect::<Vec<_>>())
}

/// An adapter, and what is known of it when it is the run's device, or why it is not.
struct Row<'a> {
    adapter: &'a Adapter,
    used: Result<&'a Info, String>,
}

fn rows<'a>(adapters: &'a [Adapter], ladder: &'a Ladder) -> Vec<Row<'a>> {
    let device = ladder.device();
    let is = |adapter: &Adapter, info: &Info| {
        (&adapter.name, &adapter.driver) == (&info.name, &info.driver)
    };
    // Two cards of one kind have one name: the first of them is the one that was tried first.
    let used = device.ok().and_then(|device| adapters.iter().position(|a| is(a, device.info())));
    let why = match device {
        Ok(device) => format!("{} is in use", device.info().name),
        Err(decline) => decline.text(Rung::Device),
    };
    let row = |(at, adapter): (usize, &'a Adapter)| match device {
        Ok(device) if used == Some(at) => Row { adapter, used: Ok(device.info()) },
        _ => Row { adapter, used: Err(adapter.unusable.clone().unwrap_or_else(|| why.clone())) },
    };
    adapters.iter().enumerate().map(row).collect()
}

fn row_of(lisp: &mut Lisp, row: &Row) -> Value {
    let Row { adapter, used } = row;
    let mut pairs = vec![
        ("NAME", Value::string(&adapter.name)),
        ("DRIVER", Value::string(&adapter.driver)),
        ("BACKEND", Value::string(&adapter.backend)),
        ("SOFTWARE", Value::boolean(adapter.software)),
        ("IN-USE", Value::boolean(used.is_ok())),
    ];
    match used {
        Err(reason) => pairs.push(("REASON", Value::string(reason))),
        Ok(info) => pairs.extend([
            ("REASON", value::NIL),
            ("F64", Value::boolean(info.f64)),
            ("I64", Value::boolean(info.i64)),
            ("F16", Value::boolean(info.f16)),
            ("MEMORY", info.memory.map_or(value::NIL, |bytes| Value::size(bytes as usize))),
        ]),
    }
    plist(lisp, pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_ops::decline::Decline;

    fn adapter(name: &str, unusable: Option<&str>) -> Adapter {
        Adapter {
            name: name.into(),
            driver: "570".into(),
            backend: "vulkan".into(),
            software: unusable.is_some(),
            unusable: unusable.map(str::to_string),
        }
    }

    #[test]
    fn a_device_that_is_not_in_use_says_why() {
        let settings = rung_base::Settings::default();
        let absent = || Err(Decline::Off("--gpu"));
        let ladder = Ladder::with_rungs(&settings, None, Err(Decline::Off("--blas")), absent());
        let adapters = [adapter("card", None), adapter("soft", Some("only software"))];
        let mut lisp = Lisp::new(Default::default());
        let mut shown = |row: &Row| {
            let value = row_of(&mut lisp, row);
            lisp.print(&value)
        };
        let rows = rows(&adapters, &ladder);
        assert_eq!(
            shown(&rows[0]),
            "(:NAME \"card\" :DRIVER \"570\" :BACKEND \"vulkan\" :SOFTWARE NIL :IN-USE NIL \
             :REASON \"not asked for: --gpu\")"
        );
        assert!(shown(&rows[1]).ends_with(":SOFTWARE T :IN-USE NIL :REASON \"only software\")"));
    }
}
