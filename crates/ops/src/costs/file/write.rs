//! A cost file's text. Numbers are in the units that the reference's tables use, so that a person
//! can compare them.

use super::Entry;
use crate::costs::curve::{Curves, Kind};
use crate::costs::key::Key;
use crate::costs::{DeviceCosts, LanesCosts};
use rung_lanes::Work;
use std::fmt::Write;

const HEAD: &str = "\
# Measured by `rung tune`, one entry for each machine, thread count, library and device.
# Delete the file, or run it again, at any time. us: microseconds; ps: picoseconds a unit of work,
# f32 and f64; gbs: gigabytes a second.
schema = 1
";

/// The whole file.
pub fn text(entries: &[Entry]) -> String {
    let mut out = String::from(HEAD);
    for entry in entries {
        out.push('\n');
        key(&mut out, &entry.key);
        lanes(&mut out, &entry.costs.lanes);
        if entry.key.library.is_some() {
            products(&mut out, &entry.costs.library.curves);
        }
        if entry.key.device.is_some() {
            device(&mut out, &entry.costs.device);
        }
    }
    out
}

fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04X}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out + "\""
}

fn key(out: &mut String, key: &Key) {
    let _ = writeln!(out, "[[measured]]\nmachine = {}", quoted(&key.machine));
    let _ = writeln!(out, "threads = {}", key.threads);
    for (name, value) in [("library", &key.library), ("device", &key.device)] {
        if let Some(value) = value {
            let _ = writeln!(out, "{name} = {}", quoted(value));
        }
    }
}

/// A number with the digits that matter and no tail of rounding.
fn number(x: f64) -> f64 {
    format!("{x:.6e}").parse().unwrap_or(x)
}

fn pair(unit: f64, values: [f64; 2]) -> String {
    format!("[{}, {}]", number(values[0] / unit), number(values[1] / unit))
}

const PICOSECONDS: f64 = 1e-6;
const GIGABYTES: f64 = 1e3;

fn lanes(out: &mut String, lanes: &LanesCosts) {
    let _ = writeln!(out, "\n[measured.lanes]");
    let _ = writeln!(out, "product-ps = {}", pair(PICOSECONDS, lanes.product));
    let _ = writeln!(out, "elementary-ps = {}", pair(PICOSECONDS, lanes.elementary));
    let _ = writeln!(out, "memory-gbs = {} # one core, all", pair(GIGABYTES, lanes.memory));
    let _ = writeln!(out, "region-us = {}", number(lanes.region));
    let _ = writeln!(out, "\n[measured.grains] # threads from this size, the least of a piece");
    for work in Work::ALL {
        let grain = lanes.grains.get(work);
        let threshold = size((grain.threshold < usize::MAX).then_some(grain.threshold as u64));
        let _ = writeln!(out, "{} = [{threshold}, {}]", work.name(), grain.piece);
    }
}

fn size(size: Option<u64>) -> String {
    size.map_or_else(|| "\"never\"".into(), |size| size.to_string())
}

fn products(out: &mut String, curves: &Curves) {
    for (width, name) in ["f32", "f64"].into_iter().enumerate() {
        let _ = writeln!(out, "\n[measured.{name}] # multiply-adds, us on the lanes, us there");
        for kind in Kind::ALL {
            let points = curves.points(width, kind).iter().map(|point| {
                format!("[{}, {}, {}]", point.units, number(point.lanes), number(point.library))
            });
            let points = points.collect::<Vec<_>>().join(", ");
            let _ = writeln!(out, "{} = [{points}]", kind.name());
        }
    }
}

fn device(out: &mut String, device: &DeviceCosts) {
    let _ = writeln!(out, "\n[measured.link]");
    let _ = writeln!(out, "floor-us = {}", number(device.floor));
    let _ = writeln!(out, "launch-us = {}", number(device.launch));
    let _ = writeln!(
        out,
        "column-row-us = {} # of a factorisation, of a substitution",
        pair(1.0, device.in_turn)
    );
    let _ = writeln!(out, "up-down-gbs = {}", pair(GIGABYTES, [device.up, device.down]));
    let _ = writeln!(out, "product-ps = {}", pair(PICOSECONDS, device.product));
    if device.tensor != [0.0; 2] {
        let _ = writeln!(out, "tensor-ps = {} # tf32, bf16", pair(PICOSECONDS, device.tensor));
    }
    let _ = writeln!(out, "elementary-ps = {}", pair(PICOSECONDS, device.elementary));
    let _ = writeln!(out, "memory-gbs = {}", number(device.memory / GIGABYTES));
    let _ = writeln!(out, "fold-cells = {}", device.fold_cells);
    let _ = writeln!(out, "gemv = {}", device.gemv);
    let _ = writeln!(out, "\n[measured.offer] # the smallest call that the device is offered");
    let t = &device.thresholds;
    for (name, threshold) in [
        ("product", t.product),
        ("map", t.map),
        ("wide", t.wide),
        ("fold", t.fold),
        ("fill", t.fill),
    ] {
        let _ = writeln!(out, "{name} = {}", size(threshold));
    }
}
