//! What ran where, and why not elsewhere: counted while a run goes on, printed after it.
//!
//! Counting changes nothing about where calls run, and is skipped whole when nobody asked.

use crate::call::{Call, joined};
use crate::decline::{Decline, Rung, microseconds, size};
use crate::ladder::Site;
use rung_base::{ElementType, Shape};
use serde_json::json;
use smallvec::SmallVec;
use std::collections::HashMap;
use std::fmt::Write;
use std::time::Duration;

/// One row: every call of one operation with the same shapes, type, rung and source line.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    operation: &'static str,
    shapes: SmallVec<[Shape; 3]>,
    element_type: ElementType,
    rung: Rung,
    site: Option<Site>,
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
}

/// The calls of a run.
#[derive(Default)]
pub struct Calls {
    rows: HashMap<Key, Row>,
}

/// What happened to one call.
pub struct Outcome<'a> {
    pub call: &'a Call,
    pub rung: Rung,
    pub declines: &'a [(Rung, Decline)],
    pub time: Duration,
    pub up: u64,
    pub down: u64,
    pub site: Option<Site>,
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    pub fn clear(&mut self) {
        self.rows.clear();
    }

    pub fn add(&mut self, outcome: Outcome) {
        let key = Key {
            operation: outcome.call.op.name(),
            shapes: outcome.call.shown_shapes(),
            element_type: outcome.call.shown_type(),
            rung: outcome.rung,
            site: outcome.site,
        };
        let order = self.rows.len();
        let row = self.rows.entry(key).or_insert_with(|| Row { order, ..Row::default() });
        row.calls += 1;
        row.time += outcome.time;
        row.up += outcome.up;
        row.down += outcome.down;
        for (rung, decline) in outcome.declines {
            let same = |d: &&mut (Rung, &str, String, u64)| d.0 == *rung && d.1 == decline.code();
            match row.declines.iter_mut().find(same) {
                Some(counted) => counted.3 += 1,
                None => row.declines.push((*rung, decline.code(), decline.text(*rung), 1)),
            }
        }
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
                key.operation.into(),
                joined(&key.shapes),
                key.element_type.to_string(),
                key.rung.name().into(),
                row.calls.to_string(),
                microseconds(row.time.as_secs_f64() * 1e6),
                size(row.up),
                size(row.down),
                key.site.map_or_else(String::new, place),
            ]);
            let declines = row.declines.iter().map(|(rung, code, text, count)| {
                format!("      {} {code} x{count}: {text}", rung.name())
            });
            below.push(declines.collect());
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
        out + &self.totals()
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
        let moved = |f: fn(&Row) -> u64| size(self.rows.values().map(f).sum());
        let _ = writeln!(out, "  up {}, down {}", moved(|r| r.up), moved(|r| r.down));
        out
    }

    /// One JSON object: calls, declines, transfers; `place` names a site.
    pub fn json(&self, place: &dyn Fn(Site) -> String) -> serde_json::Value {
        let (mut calls, mut declines) = (Vec::new(), Vec::new());
        for (key, row) in self.ordered() {
            let describe = |more: serde_json::Value| {
                let mut object = json!({
                    "operation": key.operation, "shapes": joined(&key.shapes),
                    "type": key.element_type.name(), "place": key.site.map_or_else(String::new, place),
                });
                if let (Some(object), serde_json::Value::Object(more)) =
                    (object.as_object_mut(), more)
                {
                    object.extend(more);
                }
                object
            };
            calls.push(describe(json!({
                "rung": key.rung.name(), "calls": row.calls, "seconds": row.time.as_secs_f64(),
                "up": row.up, "down": row.down,
            })));
            declines.extend(row.declines.iter().map(|(rung, code, text, count)| {
                describe(json!({"rung": rung.name(), "code": code, "text": text, "count": count}))
            }));
        }
        let sum = |f: fn(&Row) -> u64| self.rows.values().map(f).sum::<u64>();
        let transfers = json!({"up": sum(|r| r.up), "down": sum(|r| r.down)});
        json!({"schema": 1, "calls": calls, "declines": declines, "transfers": transfers})
    }
}

const HEADINGS: [&str; 9] =
    ["operation", "shapes", "type", "rung", "calls", "time", "up", "down", "where"];

fn column_widths(lines: &[[String; 9]]) -> [usize; 9] {
    std::array::from_fn(|i| lines.iter().map(|l| l[i].chars().count()).max().unwrap_or(0))
}
