//! `cargo xtask exhaustive`: measures the elementary functions against references that share no
//! text with them. Functions of one number run over all 2^32 bit patterns of f32 and over
//! stratified f64; functions of two over stratified pairs of both widths. Each finished run is kept
//! below the target folder under the fingerprint of its definition, so an interrupted command goes
//! on where it was and a changed definition is measured again. `--write` puts the table into
//! docs/numerics.md, and a test here fails when a row there is not of the present definition.

mod angle;
mod double;
mod error;
mod functions;
mod inputs;
mod reference;
mod sweep;

use error::{Worst, number};
use functions::{ONES, One, TWOS, Two, fingerprint};
use rung_math::{Graph, Width};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

const PAGE: &str = "docs/numerics.md";
const BEGIN: &str = "<!-- begin: cargo xtask exhaustive -->\n";
const END: &str = "<!-- end: cargo xtask exhaustive -->";
const HEAD: &str = "\
| function | type | inputs | worst ulp | at | wrong specials | threads | seconds | date | definition |
| --- | --- | ---: | ---: | --- | ---: | ---: | ---: | --- | --- |
";

/// What the words after the command say.
struct Settings {
    names: Vec<String>,
    /// `f32` or `f64`; both where empty.
    width: String,
    write: bool,
    threads: usize,
    /// Stratified inputs of a run.
    points: u64,
    /// One part in so many of the f32; 1 is all.
    stride: u64,
}

/// A run to make: a function at a width.
#[derive(Clone, Copy)]
enum Job {
    Single(&'static One),
    Double(&'static One),
    Pairs(&'static Two, Width),
}

impl Job {
    fn all() -> impl Iterator<Item = Job> {
        let singles = ONES.iter().map(Job::Single);
        let doubles = ONES.iter().map(Job::Double);
        let pairs = |two| [Width::F64, Width::F32].map(|width| Job::Pairs(two, width));
        doubles.chain(TWOS.iter().flat_map(pairs)).chain(singles)
    }

    fn name(self) -> &'static str {
        match self {
            Job::Single(one) | Job::Double(one) => one.name,
            Job::Pairs(two, _) => two.name,
        }
    }

    fn limit(self) -> f64 {
        match self {
            Job::Single(one) | Job::Double(one) => one.limit,
            Job::Pairs(two, _) => two.limit,
        }
    }

    fn width(self) -> Width {
        match self {
            Job::Single(_) => Width::F32,
            Job::Double(_) => Width::F64,
            Job::Pairs(_, width) => width,
        }
    }

    fn type_name(self) -> &'static str {
        match self.width() {
            Width::F32 => "f32",
            Width::F64 => "f64",
        }
    }

    fn fingerprint(self) -> String {
        let trace: fn(Width) -> Graph = match self {
            Job::Single(one) | Job::Double(one) => one.trace,
            Job::Pairs(two, _) => two.trace,
        };
        fingerprint(trace, self.width())
    }

    fn run(self, settings: &Settings) -> Worst {
        let (threads, points) = (settings.threads, settings.points);
        match self {
            Job::Single(one) => sweep::singles(one, threads, settings.stride),
            Job::Double(one) => sweep::doubles(one, threads, points),
            Job::Pairs(two, width) => sweep::pairs(two, width, threads, points),
        }
    }

    /// The beginning of its row.
    fn key(self) -> String {
        format!("| {} | {} |", self.name(), self.type_name())
    }
}

pub fn run(root: &Path, words: &[&str]) -> Result<String, String> {
    let settings = settings(words)?;
    let wanted = |job: &Job| {
        let named = settings.names.is_empty() || settings.names.iter().any(|n| n == job.name());
        named && (settings.width.is_empty() || settings.width == job.type_name())
    };
    let mut failed = Vec::new();
    print!("{HEAD}");
    for job in Job::all().filter(wanted) {
        let kept = kept(root, job, &settings);
        let row = match fs::read_to_string(&kept) {
            Ok(row) => row,
            Err(_) => measured(job, &settings, &kept)?,
        };
        println!("{}", row.trim_end());
        if let Some(text) = complaint(job, &row) {
            failed.push(text);
        }
    }
    if settings.write {
        write(root)?;
    }
    match failed.is_empty() {
        true => Ok("exhaustive: every function within its limit, every special value right".into()),
        false => Err(format!("exhaustive: {}", failed.join("; "))),
    }
}

fn settings(words: &[&str]) -> Result<Settings, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let (points, stride) = (10_000_000, 1);
    let (names, width) = (Vec::new(), String::new());
    let mut settings = Settings { names, width, write: false, threads, points, stride };
    for word in words {
        let number = |text: &str| text.parse::<u64>().map_err(|_| format!("not a number: {word}"));
        match word.split_once('=') {
            None if *word == "--write" => settings.write = true,
            Some(("--threads", text)) => settings.threads = number(text)? as usize,
            Some(("--points", text)) => settings.points = number(text)?,
            Some(("--stride", text)) => settings.stride = number(text)?.max(1),
            None if ["f32", "f64"].contains(word) => settings.width = word.to_string(),
            _ if Job::all().any(|job| job.name() == *word) => settings.names.push(word.to_string()),
            _ => return Err(format!("exhaustive: unknown word {word}")),
        }
    }
    Ok(settings)
}

/// The folder of finished runs.
fn folder(root: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), PathBuf::from);
    target.join("exhaustive")
}

/// The file that keeps a finished run of this definition over as many inputs.
fn kept(root: &Path, job: Job, settings: &Settings) -> PathBuf {
    let inputs = match job {
        Job::Single(_) => (1 << 32) / settings.stride,
        _ => settings.points,
    };
    folder(root).join(format!("{}{inputs}-{}", prefix(job), job.fingerprint()))
}

fn prefix(job: Job) -> String {
    format!("{}-{}-", job.name(), job.type_name())
}

/// The row over the most inputs that is kept for the present definition.
fn best_kept(root: &Path, job: Job) -> Option<String> {
    let (prefix, print) = (prefix(job), format!("-{}", job.fingerprint()));
    let files = fs::read_dir(folder(root)).ok()?.filter_map(Result::ok);
    let inputs = |name: &str| -> Option<u64> {
        name.strip_prefix(&prefix)?.strip_suffix(&print)?.parse().ok()
    };
    let sized = files.filter_map(|file| Some((inputs(file.file_name().to_str()?)?, file.path())));
    fs::read_to_string(sized.max()?.1).ok()
}

/// Makes the run and keeps its row.
fn measured(job: Job, settings: &Settings, kept: &Path) -> Result<String, String> {
    let start = Instant::now();
    let worst = job.run(settings);
    let row = row(job, &worst, settings.threads, start.elapsed().as_secs_f64());
    let folder = kept.parent().unwrap_or(kept);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(kept, &row))
        .map_err(|e| format!("{}: {e}", kept.display()))?;
    Ok(row)
}

fn row(job: Job, worst: &Worst, threads: usize, seconds: f64) -> String {
    let width = job.width();
    let shown = |at: &[u64]| {
        let one = |bits: &u64| format!("{:e} ({bits:x})", number(*bits, width));
        at.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut wrong = worst.wrong.to_string();
    if worst.wrong > 0 {
        wrong += &format!(", first {}", shown(&worst.wrong_at));
    }
    if worst.differ > 0 {
        wrong += &format!(", {} lanes differ", worst.differ);
    }
    format!(
        "{} {} | {:.4} | {} | {wrong} | {threads} | {seconds:.0} | {} | {} |\n",
        job.key(),
        worst.inputs,
        worst.error,
        shown(&worst.at),
        date(),
        job.fingerprint()
    )
}

/// What a row has against it, if anything.
fn complaint(job: Job, row: &str) -> Option<String> {
    let cells: Vec<&str> = row.split('|').map(str::trim).collect();
    let error = cells.get(4).and_then(|text| text.parse::<f64>().ok()).unwrap_or(f64::NAN);
    let wrong = cells.get(6).copied().unwrap_or_default();
    let fine = error <= job.limit() && wrong == "0";
    (!fine).then(|| format!("{} {}: {error} ulp, wrong {wrong}", job.name(), job.type_name()))
}

/// Year, month and day of now, by the civil calendar (Hinnant 2013, days_from_civil inverted).
fn date() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    let day = seconds / 86400 + 719_468;
    let (era, of_era) = (day / 146_097, day % 146_097);
    let year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let in_month = of_year - (153 * month + 2) / 5 + 1;
    let shown = if month < 10 { month + 3 } else { month - 9 };
    format!("{}-{shown:02}-{in_month:02}", year + era * 400 + (shown <= 2) as u64)
}

/// Replaces the table of the page: what is kept, else the row that stands there.
fn write(root: &Path) -> Result<(), String> {
    let path = root.join(PAGE);
    let page = fs::read_to_string(&path).map_err(|e| format!("{PAGE}: {e}"))?;
    let (before, table, after) = split(&page)?;
    let old = |job: Job| table.lines().find(|line| line.starts_with(&job.key()));
    let mut text = HEAD.to_string();
    for job in Job::all() {
        let old = || old(job).map(|line| format!("{line}\n"));
        text += &best_kept(root, job).or_else(old).unwrap_or_default();
    }
    fs::write(&path, format!("{before}{text}{after}")).map_err(|e| format!("{PAGE}: {e}"))
}

/// The page up to the table, the table, and the rest.
fn split(page: &str) -> Result<(&str, &str, &str), String> {
    let missing = || format!("{PAGE}: no {BEGIN:?} and {END:?}");
    let begin = page.find(BEGIN).ok_or_else(missing)? + BEGIN.len();
    let end = page.find(END).filter(|end| *end >= begin).ok_or_else(missing)?;
    Ok((&page[..begin], &page[begin..end], &page[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use error::{Expected, error_of};

    /// name, arguments, then the true value as high, low and a power of two, all bits in hex.
    const GOLDEN: &str = include_str!("exhaustive/golden.txt");

    #[test]
    fn references_have_85_bits_of_values_from_200_digits() {
        let mut count = 0;
        for line in GOLDEN.lines().filter(|line| !line.starts_with('#')) {
            let cells: Vec<&str> = line.split(' ').collect();
            let float = |cell: &str| f64::from_bits(u64::from_str_radix(cell, 16).unwrap());
            let (a, b) = (float(cells[1]), float(cells[2]));
            let one = ONES.iter().find(|one| one.name == cells[0]).map(|one| one.expected(a));
            let two = TWOS.iter().find(|two| two.name == cells[0]).map(|two| (two.expected)(a, b));
            let Some(Expected::Near(value)) = one.or(two) else { panic!("{line}") };
            let value = value.normalised();
            let true_value = double::Double { high: float(cells[3]), low: float(cells[4]) };
            let exponent: i32 = cells[5].parse().unwrap();
            let apart = value.number.scaled(value.exponent - exponent) - true_value;
            assert!(apart.high.abs() < 2.0_f64.powi(-85), "{line}: {value:?}");
            count += 1;
        }
        assert!(count > 2000);
    }

    #[test]
    fn hosts_agree_with_the_references_to_three_ulp() {
        for one in ONES {
            for i in 0..2000 {
                let x = inputs::argument(i, one.thresholds, Width::F64);
                let host = (one.host)(x);
                let error = error_of(host.to_bits(), one.expected(x), Width::F64);
                let nan = host.is_nan();
                assert!(nan || error.is_some_and(|e| e < 3.0), "{} {x:e}: {error:?}", one.name);
            }
        }
    }

    #[test]
    fn a_few_parts_of_every_run_are_within_its_limit() {
        let settings = settings(&["--points=3000", "--stride=8192", "--threads=1"]).unwrap();
        for job in Job::all() {
            let worst = job.run(&settings);
            let row = row(job, &worst, 1, 0.0);
            assert_eq!(complaint(job, &row), None, "{row}");
        }
    }

    #[test]
    fn the_page_measures_the_present_definitions() {
        let page = fs::read_to_string(crate::root().join(PAGE)).unwrap();
        let (_, table, _) = split(&page).unwrap();
        for job in Job::all() {
            let row = table.lines().find(|line| line.starts_with(&job.key()));
            let row = row.unwrap_or_else(|| panic!("no row {}", job.key()));
            assert!(row.ends_with(&format!(" {} |", job.fingerprint())), "not measured: {row}");
            assert_eq!(complaint(job, row), None, "{row}");
        }
    }
}
