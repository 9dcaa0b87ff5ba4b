//! `costs.toml`: what `rung tune` measured, one entry for each key it was run for. Read at the
//! start of a run; a file that is malformed, or holds no entry for this run, is ignored with one
//! line that says so.

mod read;
mod write;

use super::Costs;
use super::key::Key;
use rung_base::Result;
use rung_base::settings::{CostsChoice, Origin, Setting};
use std::path::Path;

pub use write::text;

/// The largest file that is read: ours are 3 KiB an entry.
const MOST_BYTES: u64 = 1 << 20;

/// What is wrong with a file that holds none.
pub const NO_MEASUREMENT: &str = "it holds no measurement";

/// One measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    pub key: Key,
    pub costs: Costs,
}

/// Why a file gives no costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refused {
    /// There is none.
    Absent,
    /// It cannot be read, or is no cost file.
    Malformed(Fault),
    /// It holds figures for something else: `device (NVIDIA A100)`.
    Other(String),
}

/// What is wrong with a file, without its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// 1-based, where one line is meant.
    pub line: Option<usize>,
    /// `region-us: expected a positive number, got -3`.
    pub text: String,
}

impl Fault {
    fn of_file(text: impl Into<String>) -> Fault {
        Fault { line: None, text: text.into() }
    }

    /// `costs.toml:12: region-us: expected ...`.
    pub fn at(&self, path: &Path) -> String {
        match self.line {
            Some(line) => format!("{}:{line}: {}", path.display(), self.text),
            None => format!("{}: {}", path.display(), self.text),
        }
    }
}

/// `line 12: region-us: expected ...`, after the file's name.
impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.text),
            None => f.write_str(&self.text),
        }
    }
}

impl Refused {
    /// The line for standard error, if this is worth one.
    pub fn notice(&self, path: &Path) -> Option<String> {
        let file = short(path);
        match self {
            Refused::Absent => None,
            Refused::Malformed(fault) => {
                Some(format!("rung: warning: {}; using the default costs.", fault.at(path)))
            }
            Refused::Other(what) => Some(format!(
                "rung: note: {file} is for another {what}; using the defaults; run rung tune."
            )),
        }
    }
}

/// The file's name, by which messages call it.
fn short(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The entries of the file. `defaults` fills in what an entry does not say.
pub fn entries(path: &Path, defaults: &Costs) -> std::result::Result<Vec<Entry>, Refused> {
    let malformed = |text: String| Refused::Malformed(Fault::of_file(text));
    let unreadable = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::NotFound => Refused::Absent,
        _ => malformed(format!("cannot be read: {e}")),
    };
    let found = std::fs::metadata(path).map_err(unreadable)?;
    // A pipe is never opened: that would wait for a writer.
    match () {
        () if found.is_dir() => return Err(malformed("it is a folder".into())),
        () if !found.is_file() => return Err(malformed("it is no regular file".into())),
        () if found.len() > MOST_BYTES => {
            let text = format!("{} bytes are too many for a cost file", found.len());
            return Err(malformed(text));
        }
        () => {}
    }
    let text = std::fs::read(path).map_err(unreadable)?;
    let text = String::from_utf8(text).map_err(|_| malformed("not UTF-8".into()))?;
    if text.trim().is_empty() {
        return Err(malformed("it is empty".into()));
    }
    read::entries(&text, defaults)
        .map_err(|(line, text)| Refused::Malformed(Fault { line: Some(line), text }))
        .map(|mut entries| {
            for entry in &mut entries {
                entry.costs.origin = Some(path.to_path_buf());
            }
            entries
        })
}

/// The costs for a run: of the entries that hold for it the one that says most about it.
pub fn costs(path: &Path, run: &Key, defaults: &Costs) -> std::result::Result<Costs, Refused> {
    let entries = entries(path, defaults)?;
    let says = |key: &Key| {
        let same = |a: &Option<String>, b: &Option<String>| usize::from(a.is_some() && a == b);
        2 * same(&key.library, &run.library) + same(&key.device, &run.device)
    };
    let fitting = entries.iter().filter(|entry| entry.key.differs(run).is_none());
    match (fitting.max_by_key(|entry| says(&entry.key)), entries.last()) {
        (Some(entry), _) => Ok(fit(entry, run, defaults)),
        (None, Some(last)) => Err(Refused::Other(last.key.differs(run).unwrap_or_default())),
        (None, None) => Err(Refused::Malformed(Fault::of_file(NO_MEASUREMENT))),
    }
}

/// The entry's costs, with the run's own library threads and without a device it does not have.
fn fit(entry: &Entry, run: &Key, defaults: &Costs) -> Costs {
    let mut costs = entry.costs.clone();
    costs.library.threads = defaults.library.threads;
    if entry.key.library.is_none() || run.library.is_none() {
        costs.library.curves = Default::default();
    }
    if entry.key.device.is_none() || run.device.is_none() {
        costs.device = defaults.device;
    }
    costs
}

/// The costs of a run and the line about the file, if there is something to say. The key is asked
/// for only when there is a file.
pub fn of_run(
    choice: &Setting<CostsChoice>,
    key: impl FnOnce() -> Key,
    defaults: &Costs,
) -> (Costs, Option<String>) {
    let CostsChoice::File(path) = &choice.value else { return (defaults.clone(), None) };
    if choice.origin == Origin::BuiltIn && !path.exists() {
        return (defaults.clone(), None);
    }
    match costs(path, &key(), defaults) {
        Ok(costs) => (costs, None),
        Err(Refused::Absent) if choice.origin != Origin::BuiltIn => {
            let text = format!("{}: no cost file {}", choice.origin, path.display());
            (defaults.clone(), Some(format!("rung: warning: {text}; using the default costs.")))
        }
        Err(refused) => (defaults.clone(), refused.notice(path)),
    }
}

/// Puts entries into the file, each in the place of the one with the same key; a file that cannot
/// be read is written anew. The file is replaced whole or not at all.
pub fn put(path: &Path, new: &[Entry], defaults: &Costs) -> Result<()> {
    let mut entries = entries(path, defaults).unwrap_or_default();
    entries.retain(|old| new.iter().all(|entry| entry.key != old.key));
    entries.extend_from_slice(new);
    let text = text(&entries);
    rung_base::file::replace(path, |file| std::io::Write::write_all(file, text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::super::curve::{Kind, Point};
    use super::*;
    use rung_lanes::{Grain, Level, Work};

    fn defaults() -> Costs {
        Costs::defaults(Level::Avx2, 2)
    }

    /// Costs that differ from the defaults everywhere.
    fn measured() -> Costs {
        let mut costs = defaults();
        costs.lanes.product = [13.25e-6, 26.5e-6];
        costs.lanes.region = 2.5;
        costs.lanes.memory = [9.5e3, 21e3];
        costs.lanes.grains.set(Work::Light, Grain { threshold: 32_768, piece: 4096 });
        costs.lanes.grains.set(Work::Fold, Grain { threshold: usize::MAX, piece: 1 });
        *costs.library.curves.points_mut(1, Kind::Stack) = vec![
            Point { units: 64.0, lanes: 0.25, library: 0.5 },
            Point { units: 4096.0, lanes: 1.5, library: 1.25 },
        ];
        costs.device.floor = 90.0;
        costs.device.launch = 11.5;
        costs.device.in_turn = [3.25, 0.5];
        costs.device.tensor = [0.75e-6, 0.25e-6];
        costs.device.thresholds.product = None;
        costs.device.thresholds.map = Some(4096);
        costs
    }

    fn key(threads: usize) -> Key {
        let (library, device) = (Some("lib \"x\"".into()), Some("card, 570".into()));
        Key { machine: "a machine".into(), threads, library, device }
    }

    fn folder(name: &str) -> std::path::PathBuf {
        let folder = std::env::temp_dir().join(format!("rung-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn what_is_written_is_read_and_one_key_has_one_entry() {
        let folder = folder("costs");
        let path = folder.join("costs.toml");
        let entry = |threads| Entry { key: key(threads), costs: measured() };
        put(&path, &[Entry { costs: defaults(), ..entry(2) }], &defaults()).unwrap();
        put(&path, &[entry(1), entry(2)], &defaults()).unwrap();
        let read = costs(&path, &key(2), &defaults()).unwrap();
        // Units make the last bits of a number another; what is written back is the same.
        assert_eq!(text(&[Entry { key: key(2), costs: read }]), text(&[entry(2)]));
        let read = entries(&path, &defaults()).unwrap();
        assert_eq!(read.iter().map(|entry| entry.key.threads).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(read[1].costs.origin.as_ref(), Some(&path));
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1);
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn another_key_is_named_and_an_absent_file_is_no_news() {
        let folder = folder("costs-key");
        let path = folder.join("costs.toml");
        assert_eq!(costs(&path, &key(2), &defaults()), Err(Refused::Absent));
        assert_eq!(Refused::Absent.notice(&path), None);
        put(&path, &[Entry { key: key(2), costs: measured() }], &defaults()).unwrap();
        let run = Key { device: Some("other, 1".into()), ..key(2) };
        let refused = costs(&path, &run, &defaults()).unwrap_err();
        assert_eq!(
            refused.notice(&path).unwrap(),
            "rung: note: costs.toml is for another device (card, 570); using the defaults; \
             run rung tune."
        );
        // A run without the device has no use for its figures.
        let run = Key { device: None, library: None, ..key(2) };
        let fitting = costs(&path, &run, &defaults()).unwrap();
        assert_eq!(fitting.lanes.grains, measured().lanes.grains);
        assert_eq!(fitting.device, defaults().device);
        assert!(fitting.library.curves.is_empty());
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn malformed_files_are_refused_with_their_line() {
        let folder = folder("costs-bad");
        let path = folder.join("costs.toml");
        let good = text(&[Entry { key: key(2), costs: measured() }]);
        let refused = |text: &str| {
            std::fs::write(&path, text).unwrap();
            match entries(&path, &defaults()) {
                Err(Refused::Malformed(fault)) => fault.at(Path::new("costs.toml")),
                other => panic!("{other:?}"),
            }
        };
        for (from, to, wanted) in [
            ("region-us = 2.5", "region-us = -3", "region-us: expected a positive number, got -3"),
            (
                "region-us = 2.5",
                "region-us = nan",
                "region-us: expected a positive number, got nan",
            ),
            (
                "region-us = 2.5",
                "region-us = 1e300",
                "region-us: expected a positive number, got 1e300",
            ),
            ("region-us = 2.5", "region = 2.5", "unknown key region"),
            ("threads = 2", "threads = \"two\"", "threads: expected a count, got \"two\""),
            ("schema = 1", "schema = 7", "schema: made by another version"),
            ("light = [32768, 4096]", "light = [1]", "light: expected two counts"),
            ("[64, 0.25, 0.5]", "[64, 0.25]", "stack: expected three numbers"),
            ("[64, 0.25, 0.5]", "[9e9, 0.25, 0.5]", "stack: sizes must grow"),
        ] {
            assert!(good.contains(from), "{from} not in {good}");
            let bad = good.replacen(from, to, 1);
            let line = 1 + bad[..bad.find(to).unwrap()].matches('\n').count();
            assert_eq!(refused(&bad), format!("costs.toml:{line}: {wanted}"));
        }
        assert!(refused("[[measured]]\nthreads = = 1").starts_with("costs.toml:2: "));
        assert_eq!(refused("schema = 1\nmeasured = 3"), "costs.toml:2: measured: expected tables");
        let large = refused(&"#".repeat(1 << 21));
        assert_eq!(large, "costs.toml: 2097152 bytes are too many for a cost file");
        // It was taken for one of ours.
        let without = good.replacen("schema = 1\n", "", 1);
        assert_eq!(refused(&without), "costs.toml:1: schema: expected schema = 1, got none");
        assert_eq!(refused(" \n"), "costs.toml: it is empty");
        std::fs::write(&path, "schema = 1\n").unwrap();
        let notice = costs(&path, &key(2), &defaults()).unwrap_err().notice(&path).unwrap();
        assert!(notice.ends_with(": it holds no measurement; using the default costs."));
        std::fs::write(&path, b"\xff\xfe").unwrap();
        let notice = entries(&path, &defaults()).unwrap_err().notice(&path);
        let path = path.display();
        let wanted = format!("rung: warning: {path}: not UTF-8; using the default costs.");
        assert_eq!(notice.unwrap(), wanted);
        let notice = entries(&folder, &defaults()).unwrap_err().notice(&folder);
        assert!(notice.unwrap().ends_with(": it is a folder; using the default costs."));
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
