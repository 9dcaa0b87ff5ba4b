//! What there is to see on a machine with a card, in one run of eight minutes at most: the card and the
//! rounding of its arithmetic, every operation's samples bit for bit, the examples with and without it,
//! products on its tensor cores within their bound, what launches, transfers and units of work cost, and how
//! that compares with PyTorch where it is installed. Needs `rung`, built with optimisation, and nothing
//! else; says so where there is no card. When the time is up what runs is stopped, and what is left is said.

mod budget;

use budget::{Budget, Missing, Ran};
use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

pub const USAGE: &str = "\
cargo xtask gpu-check [--device=NAME] [--rung=FILE] [--part=N] [--seconds=N]
  cargo xtask gpu-check                         the first NVIDIA card, eight minutes at most
  cargo xtask gpu-check --device=llvmpipe --part=16
                                                the same steps on a device of the processor
  --device=NAME   cuda:1, an adapter's name or number (default cuda:0)
  --rung=FILE     the program to check (default target/release/rung, built if it is not there)
  --part=N        sizes are divided by N (default 1)
  --seconds=N     stop then, and say what is left (default 480)
Exit status 0 when every step passed, 1 when one failed, was left, or there is no card.";

/// Seconds that everything may take, but for building `rung`.
const SECONDS: u64 = 480;

/// Products of singles of odd sizes, turned over and stacked, about so many rows and columns.
const PRODUCTS: &str = "
(defun waves (shape)
  (la:astype (la:reshape (la:sin (la:linspace -9 9 (reduce #'* shape))) shape) 'single-float))
(let* ((n SIZE) (a (waves (list (+ n 3) (* 2 n)))) (b (waves (list (* 2 n) (+ n 1))))
       (s (waves (list 3 n (+ n 7)))))
  (mapc #'rung:send (list a b s))
  (print (la:sum (la:matmul a b)))
  (print (la:sum (la:matmul (la:transpose b) (la:transpose a))))
  (print (la:sum (la:matmul s (la:transpose s '(0 2 1))))))
";

/// What stands for the device in a file of costs by which every call that it can take is its own: whether the
/// processor would be faster is for `rung tune` to say, and depends on the processor.
const EAGER: &str = "[measured.link]
floor-us = 1e-6
launch-us = 1e-6
column-row-us = [1e-6, 1e-6]
up-down-gbs = [1e9, 1e9]
product-ps = [1e-9, 1e-9]
tensor-ps = [1e-9, 1e-9]
elementary-ps = [1e-9, 1e-9]
memory-gbs = 1e9
fold-cells = 1
gemv = 1

[measured.offer]
product = 1
map = 1
wide = 1
fold = 1
fill = 1
";

/// What is asked of the run.
struct Asked {
    device: String,
    rung: PathBuf,
    /// Sizes are divided by it, for a machine on which they would take too long.
    part: usize,
    seconds: u64,
}

impl Asked {
    fn of(root: &Path, words: &[&str]) -> Result<Asked, String> {
        let mut asked = Asked {
            device: "cuda:0".into(),
            rung: root.join("target/release/rung"),
            part: 1,
            seconds: SECONDS,
        };
        let count = |word: &str, text: &str| match text.parse() {
            Ok(number) if number > 0 => Ok(number),
            _ => Err(format!("gpu-check: {word}: expected a count from 1 on, got {text}\n{USAGE}")),
        };
        for word in words {
            match word.split_once('=') {
                Some(("--device", name)) => asked.device = name.into(),
                Some(("--rung", path)) => asked.rung = path.into(),
                Some((word @ "--part", part)) => asked.part = count(word, part)? as usize,
                Some((word @ "--seconds", seconds)) => asked.seconds = count(word, seconds)?,
                _ => return Err(format!("gpu-check: unknown argument {word}\n{USAGE}")),
            }
        }
        Ok(asked)
    }

    /// A size that is this one on a card.
    fn sized(&self, size: usize, least: usize) -> usize {
        (size / self.part).max(least)
    }
}

/// The steps so far.
struct Run<'a> {
    root: &'a Path,
    asked: Asked,
    budget: Budget,
    /// Files of this run's own.
    folder: PathBuf,
    passed: usize,
    failed: Vec<String>,
    /// Steps for which there was no time.
    left: Vec<String>,
}

/// Runs everything; the text is the last line.
pub fn run(root: &Path, words: &[&str]) -> Result<String, String> {
    let asked = Asked::of(root, words)?;
    if !asked.rung.is_file() {
        build(root)?;
    }
    let folder = std::env::temp_dir().join(format!("rung-gpu-check-{}", std::process::id()));
    std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let budget = Budget::new(Duration::from_secs(asked.seconds), &folder);
    let (passed, failed, left) = Default::default();
    let mut run = Run { root, asked, budget, folder, passed, failed, left };
    let outcome = run.all();
    let _ = std::fs::remove_dir_all(&run.folder);
    outcome
}

fn build(root: &Path) -> Result<(), String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let words = ["build", "--release", "--package", "rung-cli"];
    let built = Command::new(cargo).args(words).current_dir(root).status();
    match built {
        Ok(status) if status.success() => Ok(()),
        other => Err(format!("gpu-check: cargo build --release: {other:?}")),
    }
}

fn heading(text: &str) {
    println!("\n== {text}");
}

/// The line of `rung doctor` about the device, and whether it is good; the error says why there is none.
fn card_of(doctor: &str) -> Result<bool, String> {
    let found = doctor.lines().find(|line| line.starts_with("device") && line.contains("rounding"));
    match found {
        Some(line) => Ok(line.contains("[ok]")),
        None => {
            let said = doctor.lines().find(|line| line.contains("[fail]")).unwrap_or("no device");
            Err(format!("gpu-check: no card to check: {}", said.trim()))
        }
    }
}

/// Calls on rungs whose name begins so, of what `--explain=json` wrote.
fn calls_on(explained: &str, rung: &str) -> u64 {
    let json = explained.find("{\"").map(|at| &explained[at..]).unwrap_or_default();
    let json: serde_json::Value = serde_json::from_str(json.trim()).unwrap_or_default();
    let rows = json["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let there = rows.iter().filter(|row| row["rung"].as_str().is_some_and(|r| r.starts_with(rung)));
    there.filter_map(|row| row["calls"].as_u64()).sum()
}

impl Run<'_> {
    fn all(&mut self) -> Result<String, String> {
        self.card()?;
        let costs = self.costs();
        for (name, words) in self.examples() {
            self.example(name, &words, costs.as_ref());
        }
        self.precision(costs.as_ref());
        self.speed(costs.as_ref());
        let counts = format!("gpu-check: {} passed, {} failed", self.passed, self.failed.len());
        let failed = match self.failed.is_empty() {
            true => String::new(),
            false => format!(": {}", self.failed.join(", ")),
        };
        match self.left.is_empty() {
            true if self.failed.is_empty() => Ok(counts),
            true => Err(format!("{counts}{failed}")),
            false => Err(format!(
                "{counts}{failed}; not done within {} seconds: {}",
                self.asked.seconds,
                self.left.join(", ")
            )),
        }
    }

    fn rung(&self, words: &[&str]) -> Result<Ran, Missing> {
        self.budget.run(Command::new(&self.asked.rung).args(words).current_dir(self.root))
    }

    /// The same on the device.
    fn there(&self, words: &[&str]) -> Result<Ran, Missing> {
        let device = format!("--device={}", self.asked.device);
        // Before the words of the program.
        let (before, after) = words.split_at(1);
        self.rung(&[before, &[device.as_str()], after].concat())
    }

    /// Counts a step by what it shows, or why there is nothing of it.
    fn judge(&mut self, name: &str, good: Result<bool, Missing>) {
        let said = match good {
            Ok(true) => {
                self.passed += 1;
                "passed".to_string()
            }
            Err(Missing::Time) => {
                self.left.push(name.to_string());
                "not done: the time is up".to_string()
            }
            other => {
                self.failed.push(name.to_string());
                let why = if let Err(Missing::Start(why)) = other { why } else { String::new() };
                format!("FAILED {why}").trim_end().to_string()
            }
        };
        println!("{name}: {said}");
    }

    /// The card, its rounding, and every operation's samples on it, bit for bit.
    fn card(&mut self) -> Result<(), String> {
        heading("card, rounding, every operation bit for bit (rung doctor)");
        const NAME: &str = "rounding and operations";
        match self.there(&["doctor"]) {
            Ok(ran) => {
                print!("{}", ran.out);
                let good = card_of(&ran.out)?;
                self.judge(NAME, Ok(good));
            }
            Err(missing) => self.judge(NAME, Err(missing)),
        }
        Ok(())
    }

    /// Programs that print the same with and without a card, large enough that one is used.
    fn examples(&self) -> Vec<(&'static str, Vec<String>)> {
        let sized = |size, least| self.asked.sized(size, least).to_string();
        let licence = self.root.join("LICENSE-APACHE").to_string_lossy().into_owned();
        let words = |list: &[&str]| list.iter().map(|word| word.to_string()).collect();
        let mut examples = vec![
            ("matmul.lisp", words(&["examples/matmul.lisp", "--", &sized(512, 256)])),
            ("components.lisp", words(&["examples/components.lisp"])),
            ("gpt.lisp", words(&["examples/gpt.lisp", "--", &licence, &sized(300, 2)])),
        ];
        if let Some(path) = self.wide_digits() {
            let picture = self.folder.join("digits.png").to_string_lossy().into_owned();
            examples.insert(0, ("digits.lisp", words(&[&path, "--", &picture])));
        }
        examples
    }

    /// digits.lisp with so many units and images in a step that a card is worth it; as it stands no
    /// call of it is.
    fn wide_digits(&self) -> Option<String> {
        let source = self.root.join("examples/digits.lisp");
        let mut text = std::fs::read_to_string(&source).ok()?;
        let units = format!("*hidden* {}", self.asked.sized(1024, 128));
        let place = format!("{:?}", source.to_string_lossy());
        for (old, new) in [
            ("*hidden* 64", units.as_str()),
            ("*batch* 32", "*batch* 479"),
            ("*epochs* 30", "*epochs* 2"),
            ("*load-truename*", place.as_str()),
        ] {
            text.contains(old).then_some(())?;
            text = text.replacen(old, new, 1);
        }
        let path = self.folder.join("digits.lisp");
        std::fs::write(&path, text).ok()?;
        Some(path.to_string_lossy().into_owned())
    }

    /// Without the card, with it by the costs measured, and with everything that it takes on it. The
    /// last must use it.
    fn example(&mut self, name: &str, words: &[String], costs: Option<&CostFiles>) {
        heading(&format!("{name} with and without the card"));
        let good = self.three_times(words, costs);
        self.judge(name, good);
    }

    fn three_times(&self, words: &[String], costs: Option<&CostFiles>) -> Result<bool, Missing> {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let (program, rest) = words.split_at(1);
        let start = Instant::now();
        let here = self.rung(&words)?;
        println!("{:8.2} s without the card", start.elapsed().as_secs_f64());
        let mut good = here.success;
        let files = costs.map(|c| [&c.measured, &c.eager]);
        let runs = ["by the costs measured", "with every call on the card that it takes"];
        let mut calls = 0;
        for (number, what) in runs.into_iter().enumerate() {
            let flags =
                files.map(|files| files[number].as_str()).into_iter().chain(["--explain=json"]);
            let flags: Vec<&str> = flags.collect();
            let start = Instant::now();
            let there = self.there(&[program, &flags, rest].concat())?;
            calls = calls_on(&there.err, "device");
            println!("{:8.2} s {what}: {calls} calls there", start.elapsed().as_secs_f64());
            if !there.success {
                eprint!("{}", there.err);
            } else if there.out != here.out {
                println!("         another output than without the card");
            }
            good &= there.success && there.out == here.out;
        }
        Ok(good && calls > 0)
    }

    /// Products on tensor cores, each compared with the definition and held to the stated bound.
    fn precision(&mut self, costs: Option<&CostFiles>) {
        heading("products with less precision, held to their bounds");
        let path = self.folder.join("products.lisp");
        let text = PRODUCTS.replace("SIZE", &self.asked.sized(512, 64).to_string());
        let written = std::fs::write(&path, text).map_err(|e| e.to_string());
        for precision in ["tf32", "bf16"] {
            let written = written.clone().map_err(Missing::Start);
            match written.and_then(|()| self.products(precision, &path.to_string_lossy(), costs)) {
                Ok(None) => {}
                Ok(Some(good)) => self.judge(precision, Ok(good)),
                Err(missing) => self.judge(precision, Err(missing)),
            }
        }
    }

    /// Whether products ran on tensor cores within the bound; `None` where there are no such cores.
    fn products(
        &self,
        precision: &str,
        path: &str,
        costs: Option<&CostFiles>,
    ) -> Result<Option<bool>, Missing> {
        let flag = format!("--precision={precision}");
        let mut words = vec![path, &flag, "--on-decline=verify", "--explain=json"];
        words.extend(costs.map(|c| c.eager.as_str()));
        let ran = self.there(&words)?;
        let calls = calls_on(&ran.err, &format!("device {precision} on tensor cores"));
        let strict = calls_on(&ran.err, "device strict, no tensor cores");
        if ran.success && calls == 0 && strict > 0 {
            println!("{precision}: no tensor cores, {strict} calls as strict says");
            return Ok(None);
        }
        println!("{precision}: {calls} calls on tensor cores");
        if !ran.success {
            eprint!("{}", ran.err);
        }
        Ok(Some(ran.success && calls > 0))
    }

    /// Measures this machine.
    fn costs(&mut self) -> Option<CostFiles> {
        heading("costs of this machine (rung tune)");
        let [measured, eager] = ["costs.toml", "eager.toml"].map(|name| self.folder.join(name));
        let flag = |path: &Path| format!("--costs={}", path.display());
        let ran = self.there(&["tune", "--quick", &flag(&measured)]);
        if let Ok(ran) = &ran {
            print!("{}", ran.out);
        }
        let text = std::fs::read_to_string(&measured).ok();
        let written =
            text.and_then(|text| eager_costs(&text)).map(|text| std::fs::write(&eager, text));
        let good = matches!(written, Some(Ok(())));
        self.judge("tune", ran.map(|ran| ran.success && good));
        good.then(|| CostFiles { measured: flag(&measured), eager: flag(&eager) })
    }

    /// Times beside PyTorch's.
    fn speed(&mut self, costs: Option<&CostFiles>) {
        heading("microseconds on operands that are there, beside PyTorch");
        let part = self.asked.part.to_string();
        let mut words = vec!["benches/gpu.lisp"];
        words.extend(costs.map(|c| c.eager.as_str()));
        words.extend(["--", &part]);
        let ours = match self.there(&words) {
            Ok(ours) => ours,
            Err(missing) => return self.judge("speed", Err(missing)),
        };
        if !ours.success {
            eprint!("{}", ours.err);
        }
        let mut python = Command::new("python3");
        python.args(["benches/gpu_peer.py", &part]).current_dir(self.root);
        let (theirs, absent) = match self.budget.run(&mut python) {
            Ok(ran) if ran.success => (times(&ran.out), None),
            Ok(ran) => {
                let said = ran.err.lines().last().unwrap_or("it printed nothing").to_string();
                (HashMap::new(), Some(said))
            }
            Err(Missing::Start(why)) => (HashMap::new(), Some(why)),
            Err(Missing::Time) => {
                self.left.push("the peer's times".into());
                (HashMap::new(), Some("the time is up".into()))
            }
        };
        if let Some(why) = absent {
            println!("no peer: {why}");
        }
        print!("{}", table(&ours.out, &theirs));
        let elsewhere = not_on_the_device(&ours.out);
        for line in &elsewhere {
            println!("not on the device: {line}");
        }
        self.judge("speed", Ok(ours.success && elsewhere.is_empty()));
    }
}

/// Flags that name files of costs.
struct CostFiles {
    /// What `rung tune` wrote.
    measured: String,
    /// The same with a device that costs nothing.
    eager: String,
}

/// A file of costs whose device costs nothing; `None` where it has none.
fn eager_costs(measured: &str) -> Option<String> {
    let (before, _) = measured.split_once("[measured.link]")?;
    Some(format!("{before}{EAGER}"))
}

/// Lines `name size microseconds` by name and size.
fn times(text: &str) -> HashMap<String, f64> {
    let line = |line: &str| {
        let (key, time) = line.rsplit_once(' ')?;
        Some((key.to_string(), time.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
}

/// Of the lines `ran name size rung` those of other rungs; where there are none at all, a line that says so.
fn not_on_the_device(ours: &str) -> Vec<String> {
    let ran: Vec<&str> = ours.lines().filter_map(|line| line.strip_prefix("ran ")).collect();
    if ran.is_empty() {
        return vec!["nothing was said of where anything ran".into()];
    }
    let there = |line: &&&str| line.split(' ').nth(2).is_some_and(|rung| rung == "device");
    ran.iter().filter(|line| !there(line)).map(|line| line.to_string()).collect()
}

/// Each of our lines with the peer's time and how many times as fast we are.
fn table(ours: &str, theirs: &HashMap<String, f64>) -> String {
    let mut text = format!("{:24} {:>12} {:>12} {:>8}\n", "operation", "rung", "torch", "ratio");
    for line in ours.lines() {
        let Some((key, time)) = line.rsplit_once(' ') else { continue };
        let Ok(own) = time.parse::<f64>() else { continue };
        let _ = match theirs.get(key) {
            Some(other) => writeln!(text, "{key:24} {own:12.1} {other:12.1} {:8.2}", other / own),
            None => writeln!(text, "{key:24} {own:12.1} {:>12} {:>8}", "-", "-"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use rung_lanes::Level;
    use rung_ops::costs::{Costs, file};

    #[test]
    fn times_stand_beside_the_peer_s() {
        let theirs = times("exp-f32 1024 20.0\nnoise\n");
        let text = table("exp-f32 1024 10.0\ncopy-f32 8 3.25\n", &theirs);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["exp-f32", "1024", "10.0", "20.0", "2.00"]);
        assert_eq!(lines[2], ["copy-f32", "8", "3.2", "-", "-"]);
    }

    #[test]
    fn a_time_of_the_lanes_is_none_of_the_card() {
        let good = "exp-f32 1024 10.0\nran exp-f32 1024 device\nran product-f64 64 device f64 on tensor cores\n";
        assert!(not_on_the_device(good).is_empty());
        assert_eq!(not_on_the_device("exp-f32 8 1.0\nran exp-f32 8 lanes\n"), ["exp-f32 8 lanes"]);
        assert_eq!(not_on_the_device("exp-f32 8 1.0\n").len(), 1);
    }

    #[test]
    fn eager_costs_are_read_and_keep_what_was_measured_of_the_lanes() {
        let measured = "schema = 1\n[[measured]]\n[measured.lanes]\nregion-us = 3\n\
                        [measured.link]\nfloor-us = 20\n";
        let eager = eager_costs(measured).unwrap();
        assert!(eager.contains("region-us = 3") && !eager.contains("floor-us = 20"));
        assert_eq!(eager_costs("schema = 1\n"), None);
        let defaults = Costs::defaults(Level::available()[0], 1);
        let path = std::env::temp_dir().join(format!("rung-eager-{}.toml", std::process::id()));
        std::fs::write(&path, eager).unwrap();
        let read = file::entries(&path, &defaults).unwrap_or_else(|e| panic!("{e:?}"));
        std::fs::remove_file(path).unwrap();
        let device = &read[0].costs.device;
        assert_eq!((read.len(), device.thresholds.map, device.fold_cells), (1, Some(1), 1));
    }

    #[test]
    fn arguments_are_checked() {
        let asked = |words: &[&str]| Asked::of(Path::new("/"), words);
        assert!(asked(&["--devise=x"]).is_err());
        for bad in ["--part=0", "--part=x", "--seconds=-1"] {
            let (word, _) = bad.split_once('=').unwrap();
            assert!(asked(&[bad]).err().unwrap().contains(&format!("{word}: expected a count")));
        }
        let asked = asked(&["--device=llvmpipe", "--part=16", "--seconds=9"]).unwrap();
        assert_eq!((asked.device.as_str(), asked.part, asked.seconds), ("llvmpipe", 16, 9));
        assert_eq!((asked.sized(512, 64), asked.sized(4096, 64)), (64, 256));
    }

    #[test]
    fn calls_are_counted_by_rung() {
        let explained = "0.5 ms, 2 GFLOP/s\n{\"calls\":[{\"calls\":2,\"rung\":\"device\"},\
                         {\"calls\":3,\"rung\":\"device tf32 on tensor cores\"},\
                         {\"calls\":9,\"rung\":\"lanes\"}]}\n";
        assert_eq!(calls_on(explained, "device"), 5);
        assert_eq!(calls_on(explained, "device tf32"), 3);
        assert_eq!((calls_on("", "device"), calls_on("{\"broken", "device")), (0, 0));
    }

    /// A program that answers as `rung` does, in the words of these cases of its arguments.
    #[cfg(unix)]
    fn answering(name: &str, cases: &str) -> PathBuf {
        use std::os::unix::fs::PermissionsExt;
        let path = std::env::temp_dir().join(format!("rung-answers-{}-{name}", std::process::id()));
        std::fs::write(&path, format!("#!/bin/sh\ncase \"$*\" in\n{cases}\nesac\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    #[cfg(unix)]
    fn checked(name: &str, cases: &str, words: &[&str]) -> Result<String, String> {
        let rung = answering(name, cases);
        let flag = format!("--rung={}", rung.display());
        let outcome = run(&crate::root(), &[&[flag.as_str()], words].concat());
        std::fs::remove_file(rung).unwrap();
        outcome
    }

    #[cfg(unix)]
    const CARD: &str = "doctor*) echo 'device   A card; rounding 37/37; self-test 9/9   [ok]';;\n";
    #[cfg(unix)]
    const TUNE: &str = "tune*) for word; do case $word in --costs=*) \
                        echo '[measured.link]' >\"${word#--costs=}\";; esac; done;;\n";
    #[cfg(unix)]
    const EXPLAINED: &str = "echo '{\"calls\":[{\"calls\":1,\"rung\":\"device RUNG\"}]}' >&2";

    #[test]
    #[cfg(unix)]
    fn a_machine_without_a_card_is_told_so() {
        let cases = "doctor*) echo 'host  all well [ok]'
            echo 'device  libcuda.so.1 not found (no NVIDIA driver)  [fail]';;";
        let text = "gpu-check: no card to check: \
                    device  libcuda.so.1 not found (no NVIDIA driver)  [fail]";
        assert_eq!(checked("none", cases, &[]), Err(text.into()));
    }

    /// The same output proves nothing where no call was on the device.
    #[test]
    #[cfg(unix)]
    fn an_example_that_leaves_the_card_alone_fails() {
        let used = EXPLAINED.replace("RUNG", "");
        let cases = format!(
            "{CARD}{TUNE}*--precision=tf32*) {};;\n*--precision*) {};;\n\
             *gpt.lisp*) echo text;;\n*gpu.lisp*) echo ran copy 8 device;;\n*) echo same; {used};;",
            EXPLAINED.replace("RUNG", "tf32 on tensor cores"),
            EXPLAINED.replace("RUNG", "strict, no tensor cores"),
        );
        let outcome = checked("idle", &cases, &[]).unwrap_err();
        assert_eq!(outcome, "gpu-check: 7 passed, 1 failed: gpt.lisp");
    }

    #[test]
    #[cfg(unix)]
    fn when_the_time_is_up_what_runs_is_stopped_and_what_is_left_is_said() {
        let cases = format!("{CARD}*) exec sleep 600;;");
        let start = Instant::now();
        let outcome = checked("slow", &cases, &["--seconds=1"]).unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(60));
        let text = "gpu-check: 1 passed, 0 failed; not done within 1 seconds: tune, \
                    digits.lisp, matmul.lisp, components.lisp, gpt.lisp, tf32, bf16, speed";
        assert_eq!(outcome, text);
    }
}
