//! What `rung tune` found: a table with the figures that held before, or one JSON object.

use rung_lanes::Work;
use rung_ops::costs::curve::{Kind, Point};
use rung_ops::costs::file::Entry;
use rung_ops::costs::key::Key;
use rung_ops::costs::{Costs, Thresholds};
use rung_ops::decline::grouped;
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::Path;

/// A figure with its name; numbers as text, in the unit of the name.
type Row = (String, String);

const PICOSECONDS: f64 = 1e-6;
const GIGABYTES: f64 = 1e3;

/// A table of every entry beside what the file said of its key before, or else the defaults.
pub fn text(entries: &[Entry], before: &[Entry], defaults: &Costs) -> String {
    let mut out = String::new();
    for (at, entry) in entries.iter().enumerate() {
        let old = before.iter().find(|old| old.key == entry.key);
        let (word, old) = old.map_or(("default", defaults), |old| ("before", &old.costs));
        // The lanes are the same for each library, and are shown once.
        let rows = if at == 0 { lanes_and_device(&entry.key, &entry.costs) } else { Vec::new() };
        let old_rows = if at == 0 { lanes_and_device(&entry.key, old) } else { Vec::new() };
        if at == 0 {
            let _ = writeln!(out, "{}; {}", entry.key.machine, threads(entry.key.threads));
            if let Some(device) = &entry.key.device {
                let _ = writeln!(out, "device: {device}");
            }
            table(&mut out, word, &rows, &old_rows);
        }
        if let Some(library) = &entry.key.library {
            let _ = writeln!(out, "\n{library}");
            products(&mut out, &entry.costs);
        }
    }
    out
}

fn threads(count: usize) -> String {
    format!("{count} thread{}", if count == 1 { "" } else { "s" })
}

fn table(out: &mut String, word: &str, rows: &[Row], old: &[Row]) {
    let width = |f: fn(&Row) -> &String, least: usize| {
        rows.iter().chain(old).map(|row| f(row).chars().count()).max().unwrap_or(0).max(least)
    };
    let (name, value) = (width(|row| &row.0, 6), width(|row| &row.1, 8));
    let _ = writeln!(out, "{:<name$}  {:>value$}  {word:>value$}", "figure", "measured");
    for (what, now) in rows {
        // Not every device has every figure.
        let then = old.iter().find(|(name, _)| name == what).map_or("none", |(_, then)| then);
        let then = if now == then { "same" } else { then };
        let _ = writeln!(out, "{what:<name$}  {now:>value$}  {then:>value$}");
    }
}

/// Three digits that matter.
fn number(x: f64) -> String {
    let digits = (2 - x.abs().max(1e-9).log10().floor() as i32).clamp(0, 6) as usize;
    format!("{x:.digits$}")
}

fn size(size: Option<u64>) -> String {
    size.map_or_else(|| "never".into(), grouped)
}

fn lanes_and_device(key: &Key, costs: &Costs) -> Vec<Row> {
    let lanes = &costs.lanes;
    let mut rows = Vec::new();
    let mut row = |name: &str, value: String| rows.push((name.to_string(), value));
    let both = |pair: [f64; 2], unit: f64| {
        format!("{} / {}", number(pair[0] / unit), number(pair[1] / unit))
    };
    row("product, ps a multiply-add, f32 / f64", both(lanes.product, PICOSECONDS));
    row("elementary, ps an element, f32 / f64", both(lanes.elementary, PICOSECONDS));
    row("memory, GB/s, one core / all", both(lanes.memory, GIGABYTES));
    row("a parallel region, us", number(lanes.region));
    for work in Work::ALL {
        let grain = lanes.grains.get(work);
        let from = size((grain.threshold < usize::MAX).then_some(grain.threshold as u64));
        row(&format!("threads from, {} of {}", work.unit(), work.name()), from);
    }
    if key.device.is_some() {
        let d = &costs.device;
        row("device round trip, us", number(d.floor));
        row("device launch, us", number(d.launch));
        row("device waits, us, column of lu / row of a solution", both(d.in_turn, 1.0));
        row("device link, GB/s, up / down", both([d.up, d.down], GIGABYTES));
        row("device product, ps, f32 / f64", both(d.product, PICOSECONDS));
        if d.tensor != [0.0; 2] {
            row("device tensor cores, ps, tf32 / bf16", both(d.tensor, PICOSECONDS));
        }
        row("device elementary, ps, f32 / f64", both(d.elementary, PICOSECONDS));
        row("device memory, GB/s", number(d.memory / GIGABYTES));
        for (name, threshold) in offers(&d.thresholds) {
            row(&format!("device offered from, {name}"), size(threshold));
        }
    }
    rows
}

/// The thresholds by family, named as the cost file does.
pub fn offers(t: &Thresholds) -> [(&'static str, Option<u64>); 5] {
    let names = ["product", "map", "wide", "fold", "fill"];
    let values = [t.product, t.map, t.wide, t.fold, t.fill];
    std::array::from_fn(|i| (names[i], values[i]))
}

/// For each shape who is faster, and from which size.
fn products(out: &mut String, costs: &Costs) {
    for (width, name) in ["f32", "f64"].into_iter().enumerate() {
        for kind in Kind::ALL {
            let points = costs.library.curves.points(width, kind);
            if !points.is_empty() {
                let _ = writeln!(out, "  {name} {:<14} {}", kind.name(), faster(points));
            }
        }
    }
}

/// `library; lanes from 32,768 (0.71 of its time)`, in multiply-adds.
fn faster(points: &[Point]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut last = None;
    for point in points {
        let lanes = point.lanes < point.library;
        if last == Some(lanes) {
            continue;
        }
        let name = if lanes { "lanes" } else { "library" };
        let (ours, theirs) =
            if lanes { (point.lanes, point.library) } else { (point.library, point.lanes) };
        let from = if last.is_none() {
            String::new()
        } else {
            format!(" from {}", grouped(point.units as u64))
        };
        parts.push(format!("{name}{from} ({:.2} of the other's time)", ours / theirs));
        last = Some(lanes);
    }
    parts.join("; ")
}

/// One object: the file, and every entry with its key and figures.
pub fn json(path: &Path, entries: &[Entry]) -> String {
    let measured: Vec<Value> = entries.iter().map(entry).collect();
    let object = json!({
        "schema": 1, "file": path.display().to_string(), "measured": measured,
    });
    format!("{object}\n")
}

fn entry(entry: &Entry) -> Value {
    let (key, lanes) = (&entry.key, &entry.costs.lanes);
    let mut grains = json!({});
    for work in Work::ALL {
        let grain = lanes.grains.get(work);
        let threshold = (grain.threshold < usize::MAX).then_some(grain.threshold);
        grains[work.name()] = json!({"threshold": threshold, "piece": grain.piece});
    }
    let mut products = json!({});
    for (width, name) in ["f32", "f64"].into_iter().enumerate() {
        for kind in Kind::ALL {
            let points = entry.costs.library.curves.points(width, kind).iter();
            products[name][kind.name()] =
                points.map(|p| json!([p.units, p.lanes, p.library])).collect();
        }
    }
    let d = &entry.costs.device;
    let mut offered = json!({});
    for (name, threshold) in offers(&d.thresholds) {
        offered[name] = json!(threshold);
    }
    let device = json!({
        "floor": d.floor, "launch": d.launch, "in_turn": d.in_turn, "up": d.up, "down": d.down, "product": d.product,
        "tensor": d.tensor, "elementary": d.elementary, "memory": d.memory, "offered": offered,
    });
    json!({
        "machine": key.machine, "threads": key.threads,
        "library": key.library, "device": key.device,
        "lanes": {
            "product": lanes.product, "elementary": lanes.elementary,
            "memory": lanes.memory, "region": lanes.region, "grains": grains,
        },
        "products": key.library.as_ref().map(|_| products),
        "link": key.device.as_ref().map(|_| device),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_lanes::Level;

    fn example() -> Entry {
        let mut costs = Costs::defaults(Level::Avx512, 2);
        costs.lanes.region = 1.25;
        *costs.library.curves.points_mut(0, Kind::Square) = vec![
            Point { units: 64.0, lanes: 0.5, library: 0.25 },
            Point { units: 4096.0, lanes: 1.0, library: 2.0 },
        ];
        let key = Key { machine: "m".into(), threads: 2, library: Some("b".into()), device: None };
        Entry { key, costs }
    }

    #[test]
    fn the_table_shows_what_was_measured_beside_what_held_before() {
        let defaults = Costs::defaults(Level::Avx512, 1);
        let text = text(&[example()], &[], &defaults);
        let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(text.starts_with("m; 2 threads\n"), "{text}");
        assert_eq!(
            line("a parallel region, us").split_whitespace().collect::<Vec<_>>()[4..],
            ["1.25", "4.00"]
        );
        assert!(line("threads from, elements of light").ends_with("65,536         same"), "{text}");
        assert!(text.ends_with(
            "  f32 square         library (0.50 of the other's time); lanes from 4,096 \
             (0.50 of the other's time)\n"
        ));
    }

    /// A row that one of the two lacked once moved all that follow.
    #[test]
    fn what_one_device_lacks_moves_no_other_figure() {
        let mut measured = example();
        measured.key.device = Some("card".into());
        let mut defaults = measured.costs.clone();
        measured.costs.device.tensor = [1e-6, 0.5e-6];
        defaults.device.tensor = [0.0; 2];
        for (now, then) in [(&measured.costs, &defaults), (&defaults, &measured.costs)] {
            let entry = Entry { key: measured.key.clone(), costs: now.clone() };
            let text = text(&[entry], &[], then);
            for name in ["device memory", "device elementary", "device offered from, fill"] {
                let line = text.lines().find(|line| line.starts_with(name)).unwrap();
                assert!(line.ends_with(" same"), "{line}");
            }
            let tensor = text.lines().find(|line| line.starts_with("device tensor cores"));
            assert_eq!(
                tensor.map(|line| line.ends_with(" none")),
                (now.device.tensor[0] > 0.0).then_some(true)
            );
        }
    }

    #[test]
    fn json_has_the_figures_as_numbers() {
        let value: Value =
            serde_json::from_str(&json(Path::new("/c/costs.toml"), &[example()])).unwrap();
        let entry = &value["measured"][0];
        assert_eq!(entry["lanes"]["region"], 1.25);
        assert_eq!(entry["products"]["f32"]["square"][1], json!([4096.0, 1.0, 2.0]));
        assert_eq!(entry["link"], Value::Null);
    }
}
