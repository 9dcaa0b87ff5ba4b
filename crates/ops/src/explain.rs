//! What ran where, and why not elsewhere: counted while a run goes on, printed after it.
//!
//! Counting changes nothing about where calls run, and is skipped whole when nobody asked.

use crate::call::{Call, joined};
use crate::decline::{Decline, Rung, microseconds, size};
use crate::ladder::Site;
use rung_array::Array;
use rung_base::{ElementType, Result, Shape};
use serde_json::json;
use smallvec::SmallVec;
use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

/// What was called: the operation, or those of a chain in the order in which they are done.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct What {
    /// `mul`, or `mul+add+div`.
    pub operation: Cow<'static, str>,
    pub shapes: SmallVec<[Shape; 3]>,
    pub element_type: ElementType,
}

impl What {
    pub fn of(call: &Call) -> What {
        What {
            operation: call.op.name().into(),
            shapes: call.shown_shapes(),
            element_type: call.shown_type(),
        }
    }
}

/// One row: every call of one operation with the same shapes, type, rung and source line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    what: What,
    rung: Rung,
    mode: Option<&'static str>,
    site: Option<Site>,
}

impl Key {
    /// The rung, and how it ran where that is not the strict way: `lanes bf16`.
    fn rung(&self) -> String {
        match self.mode {
            Some(mode) => format!("{} {mode}", self.rung.name()),
            None => self.rung.name().into(),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Row {
    order: usize,
    calls: u64,
    time: Duration,
    up: u64,
    down: u64,
    /// Rung, code and text of each decline, with its count.
    declines: Vec<(Rung, &'static str, String, u64)>,
    /// How many operands were copied for a kernel, and in how many calls so many were.
    packed: Vec<(u32, u64)>,
}

thread_local! {
    static PACKED: Cell<u32> = const { Cell::new(0) };
}

/// An operand of the call that is being made was copied into row-major order.
pub fn note_packing() {
    PACKED.set(PACKED.get() + 1);
}

/// The copies noted since the last time.
pub(crate) fn take_packed() -> u32 {
    PACKED.take()
}

/// `x` in row-major order, for a kernel that walks no strides; a copy is noted.
pub(crate) fn packed(x: &Array) -> Result<Array> {
    if !x.is_contiguous() {
        note_packing();
    }
    x.to_contiguous()
}

/// `x` under another shape of the same size: a view, or a copy that is noted where its strides leave
/// no other way.
pub(crate) fn reshaped(x: &Array, shape: Shape) -> Result<Array> {
    if x.size() == shape.size() && x.reshaped_view(&shape).is_none() {
        note_packing();
    }
    x.reshape(shape)
}

fn packed_text(operands: u32) -> String {
    format!("packed {operands} operand{}", if operands == 1 { "" } else { "s" })
}

/// One row as a program reads it.
pub struct Counted<'a> {
    pub what: &'a What,
    pub rung: Rung,
    pub site: Option<Site>,
    pub calls: u64,
    pub time: Duration,
    pub up: u64,
    pub down: u64,
    /// Rung, code, text and count.
    pub declines: &'a [(Rung, &'static str, String, u64)],
    /// `packed 2 operands`, and in how many calls.
    pub notes: Vec<(String, u64)>,
}

/// The calls of a run.
#[derive(Default)]
pub struct Calls {
    rows: HashMap<Key, Row>,
    /// Bytes that went up and down between calls: arrays that the program itself read.
    between: (u64, u64),
    /// The forms that brought arrays home, how often and how many bytes.
    reads: Vec<(Option<Site>, u64, u64)>,
}

/// What happened to one call.
pub struct Outcome<'a> {
    pub what: What,
    pub rung: Rung,
    /// How it ran, where `--precision` asked for less than strict.
    pub mode: Option<&'static str>,
    pub declines: &'a [(Rung, Decline)],
    pub time: Duration,
    pub up: u64,
    pub down: u64,
    pub site: Option<Site>,
    /// Operands that were copied for a kernel.
    pub packed: u32,
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn clear(&mut self) {
        *self = Calls::default();
    }

    /// Counts bytes that moved while no operation ran.
    pub fn add_between(&mut self, up: u64, down: u64) {
        self.between = (self.between.0 + up, self.between.1 + down);
    }

    /// Counts arrays that a form brought home by reading them; the bytes are among those between calls.
    pub fn add_reads(&mut self, site: Option<Site>, count: u64, bytes: u64) {
        match self.reads.iter_mut().find(|(known, ..)| *known == site) {
            Some(known) => (known.1, known.2) = (known.1 + count, known.2 + bytes),
            None => self.reads.push((site, count, bytes)),
        }
    }

    /// All bytes that went up and down.
    fn moved(&self) -> (u64, u64) {
        let sum = |f: fn(&Row) -> u64| self.rows.values().map(f).sum::<u64>();
        (sum(|r| r.up) + self.between.0, sum(|r| r.down) + self.between.1)
    }

    pub fn add(&mut self, outcome: Outcome) {
        let key =
            Key { what: outcome.what, rung: outcome.rung, mode: outcome.mode, site: outcome.site };
        let order = self.rows.len();
        let row = self.rows.entry(key).or_insert_with(|| Row { order, ..Row::default() });
        row.calls += 1;
        row.time += outcome.time;
        row.up += outcome.up;
        row.down += outcome.down;
        if outcome.packed > 0 {
            match row.packed.iter_mut().find(|(operands, _)| *operands == outcome.packed) {
                Some(counted) => counted.1 += 1,
                None => row.packed.push((outcome.packed, 1)),
            }
        }
        for (rung, decline) in outcome.declines {
            let same = |d: &&mut (Rung, &str, String, u64)| d.0 == *rung && d.1 == decline.code();
            match row.declines.iter_mut().find(same) {
                Some(counted) => counted.3 += 1,
                None => row.declines.push((*rung, decline.code(), decline.text(*rung), 1)),
            }
        }
    }

    /// Adds the rows of a part of the run that was counted by itself.
    pub fn merge(&mut self, part: Calls) {
        self.add_between(part.between.0, part.between.1);
        for (site, count, bytes) in part.reads {
            self.add_reads(site, count, bytes);
        }
        let mut rows: Vec<_> = part.rows.into_iter().collect();
        rows.sort_by_key(|(_, row)| row.order);
        for (key, more) in rows {
            let order = self.rows.len();
            let row = self.rows.entry(key).or_insert_with(|| Row { order, ..Row::default() });
            row.calls += more.calls;
            row.time += more.time;
            row.up += more.up;
            row.down += more.down;
            for (rung, code, text, count) in more.declines {
                match row.declines.iter_mut().find(|d| d.0 == rung && d.1 == code) {
                    Some(counted) => counted.3 += count,
                    None => row.declines.push((rung, code, text, count)),
                }
            }
            for (operands, calls) in more.packed {
                match row.packed.iter_mut().find(|(known, _)| *known == operands) {
                    Some(counted) => counted.1 += calls,
                    None => row.packed.push((operands, calls)),
                }
            }
        }
    }

    /// The rows in the order of their first calls.
    pub fn counted(&self) -> impl Iterator<Item = Counted<'_>> {
        self.ordered().into_iter().map(|(key, row)| Counted {
            what: &key.what,
            rung: key.rung,
            site: key.site,
            calls: row.calls,
            time: row.time,
            up: row.up,
            down: row.down,
            declines: &row.declines,
            notes: row.packed.iter().map(|(n, calls)| (packed_text(*n), *calls)).collect(),
        })
    }

    fn ordered(&self) -> Vec<(&Key, &Row)> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(_, row)| row.order);
        rows
    }

    /// The table of `--explain`, with the totals by rung; `place` names a site.
    pub fn table(&self, place: &dyn Fn(Site) -> String) -> String {
        let mut lines = vec![HEADINGS.map(String::from)];
        let mut below: Vec<Vec<String>> = vec![Vec::new()];
        for (key, row) in self.ordered() {
            lines.push([
                key.what.operation.to_string(),
                joined(&key.what.shapes),
                key.what.element_type.to_string(),
                key.rung(),
                row.calls.to_string(),
                microseconds(row.time.as_secs_f64() * 1e6),
                size(row.up),
                size(row.down),
                key.site.map_or_else(String::new, place),
            ]);
            let declines = row.declines.iter().map(|(rung, code, text, count)| {
                format!("      {} {code} x{count}: {text}", rung.name())
            });
            let notes = row
                .packed
                .iter()
                .map(|(operands, calls)| format!("      {} x{calls}", packed_text(*operands)));
            below.push(declines.chain(notes).collect());
        }
        let mut out = String::new();
        let widths = column_widths(&lines);
        for (line, notes) in lines.iter().zip(&below) {
            let cells: Vec<String> =
                line.iter().zip(&widths).map(|(cell, &w)| format!("{cell:<w$}")).collect();
            let _ = writeln!(out, "{}", cells.join("  ").trim_end());
            for note in notes {
                let _ = writeln!(out, "{note}");
            }
        }
        out + &self.totals() + &self.most_moved(place) + &self.most_read(place)
    }

    /// The three forms that brought most bytes home by reading arrays.
    fn most_read(&self, place: &dyn Fn(Site) -> String) -> String {
        let mut reads = self.reads.clone();
        reads.sort_by_key(|(.., bytes)| std::cmp::Reverse(*bytes));
        let line = |(site, count, bytes): &(Option<Site>, u64, u64)| {
            let place = site.map_or_else(|| "elsewhere".into(), place);
            format!("  read here: {place} x{count}, down {}\n", size(*bytes))
        };
        reads.iter().take(3).map(line).collect()
    }

    fn totals(&self) -> String {
        let mut out = String::from("total");
        for rung in Rung::ALL {
            let rows = || self.rows.iter().filter(|(k, _)| k.rung == rung).map(|(_, r)| r);
            let calls: u64 = rows().map(|r| r.calls).sum();
            if calls > 0 {
                let time: Duration = rows().map(|r| r.time).sum();
                let time = microseconds(time.as_secs_f64() * 1e6);
                let _ = write!(out, "  {}: {calls} calls, {time}", rung.name());
            }
        }
        let (up, down) = self.moved();
        let _ = writeln!(out, "  up {}, down {}", size(up), size(down));
        out
    }

    /// The three places that moved most bytes to a device and back.
    fn most_moved(&self, place: &dyn Fn(Site) -> String) -> String {
        let mut places: Vec<(Option<Site>, u64, u64)> = Vec::new();
        for (key, row) in self.ordered() {
            match places.iter_mut().find(|(site, ..)| *site == key.site) {
                Some(known) => (known.1, known.2) = (known.1 + row.up, known.2 + row.down),
                None => places.push((key.site, row.up, row.down)),
            }
        }
        places.retain(|(_, up, down)| up + down > 0);
        places.sort_by_key(|(_, up, down)| std::cmp::Reverse(up + down));
        let line = |(site, up, down): &(Option<Site>, u64, u64)| {
            let place = site.map_or_else(|| "elsewhere".into(), place);
            format!("  moved most: {place} up {}, down {}\n", size(*up), size(*down))
        };
        places.iter().take(3).map(line).collect()
    }

    /// Calls and time by rung, for JSON.
    fn by_rung(&self) -> serde_json::Value {
        let mut object = json!({});
        for rung in Rung::ALL {
            let rows = || self.rows.iter().filter(|(k, _)| k.rung == rung).map(|(_, r)| r);
            let calls: u64 = rows().map(|r| r.calls).sum();
            let time: Duration = rows().map(|r| r.time).sum();
            if calls > 0 {
                object[rung.name()] = json!({"calls": calls, "seconds": time.as_secs_f64()});
            }
        }
        object
    }

    /// One JSON object: calls, declines, transfers; `place` names a site.
    pub fn json(&self, place: &dyn Fn(Site) -> String) -> serde_json::Value {
        let (mut calls, mut declines) = (Vec::new(), Vec::new());
        for (key, row) in self.ordered() {
            let describe = |more: serde_json::Value| {
                let mut object = json!({
                    "operation": key.what.operation, "shapes": joined(&key.what.shapes),
                    "type": key.what.element_type.name(),
                    "place": key.site.map_or_else(String::new, place),
                });
                if let (Some(object), serde_json::Value::Object(more)) =
                    (object.as_object_mut(), more)
                {
                    object.extend(more);
                }
                object
            };
            calls.push(describe(json!({
                "rung": key.rung(), "calls": row.calls, "seconds": row.time.as_secs_f64(),
                "up": row.up, "down": row.down,
                "notes": row.packed.iter().map(|(operands, calls)| {
                    json!({"text": packed_text(*operands), "count": calls})
                }).collect::<Vec<_>>(),
            })));
            declines.extend(row.declines.iter().map(|(rung, code, text, count)| {
                describe(json!({"rung": rung.name(), "code": code, "text": text, "count": count}))
            }));
        }
        let (up, down) = self.moved();
        let transfers = json!({"up": up, "down": down});
        let read = |(site, count, bytes): &(Option<Site>, u64, u64)| {
            json!({
                "place": site.map_or_else(String::new, place), "count": count, "down": bytes,
            })
        };
        let reads: Vec<serde_json::Value> = self.reads.iter().map(read).collect();
        json!({
            "schema": 1, "calls": calls, "declines": declines, "transfers": transfers,
            "reads": reads, "totals": self.by_rung(),
        })
    }
}

const HEADINGS: [&str; 9] =
    ["operation", "shapes", "type", "rung", "calls", "time", "up", "down", "where"];

fn column_widths(lines: &[[String; 9]]) -> [usize; 9] {
    std::array::from_fn(|i| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0))
}
