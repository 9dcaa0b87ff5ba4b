//! What there is to see on a machine with a card, in one run of under eight minutes: the card and the
//! rounding of its arithmetic, every operation's samples bit for bit, the examples with and without it,
//! what launches, transfers and units of work cost, and how that compares with PyTorch where it is
//! installed. Needs `rung`, built with optimisation, and nothing else; says so where there is no card.

use std::collections::HashMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

const USAGE: &str = "cargo xtask gpu-check [--device=NAME] [--rung=FILE] [--part=N]";

/// Programs that print the same with and without a card.
const EXAMPLES: [&str; 5] =
    ["digits.lisp", "gpt.lisp", "matmul.lisp", "components.lisp", "regression.lisp"];

/// What is asked of the run.
struct Asked {
    device: String,
    rung: PathBuf,
    /// Sizes of the measurements are divided by it.
    part: String,
}

impl Asked {
    fn of(root: &Path, words: &[&str]) -> Result<Asked, String> {
        let mut asked = Asked {
            device: "cuda:0".into(),
            rung: root.join("target/release/rung"),
            part: "1".into(),
        };
        for word in words {
            match word.split_once('=') {
                Some(("--device", name)) => asked.device = name.into(),
                Some(("--rung", path)) => asked.rung = path.into(),
                Some(("--part", part)) => asked.part = part.into(),
                _ => return Err(format!("gpu-check: unknown argument {word}\n{USAGE}")),
            }
        }
        Ok(asked)
    }
}

/// The steps so far.
struct Run<'a> {
    root: &'a Path,
    asked: Asked,
    passed: usize,
    failed: Vec<String>,
}

/// Runs everything; the text is the last line.
pub fn run(root: &Path, words: &[&str]) -> Result<String, String> {
    let asked = Asked::of(root, words)?;
    if !asked.rung.is_file() {
        build(root)?;
    }
    let mut run = Run { root, asked, passed: 0, failed: Vec::new() };
    if let Err(reason) = run.card() {
        return Err(format!("gpu-check: no card to check: {reason}"));
    }
    run.examples();
    let costs = run.costs();
    run.speed(costs.as_deref());
    match run.failed.is_empty() {
        true => Ok(format!("gpu-check: {} passed, 0 failed", run.passed)),
        false => Err(format!(
            "gpu-check: {} passed, {} failed: {}",
            run.passed,
            run.failed.len(),
            run.failed.join(", ")
        )),
    }
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

impl Run<'_> {
    fn rung(&self, words: &[&str]) -> Result<Output, String> {
        let mut command = Command::new(&self.asked.rung);
        command.args(words).current_dir(self.root);
        command.output().map_err(|e| format!("{}: {e}", self.asked.rung.display()))
    }

    fn judge(&mut self, name: &str, good: bool) {
        match good {
            true => self.passed += 1,
            false => self.failed.push(name.to_string()),
        }
        println!("{name}: {}", if good { "passed" } else { "FAILED" });
    }

    /// The card, its rounding, and every operation's samples on it, bit for bit.
    fn card(&mut self) -> Result<(), String> {
        heading("card, rounding, every operation bit for bit (rung doctor)");
        let device = format!("--device={}", self.asked.device);
        let output = self.rung(&["doctor", &device])?;
        let text = String::from_utf8_lossy(&output.stdout);
        print!("{text}");
        let found =
            text.lines().find(|line| line.starts_with("device") && line.contains("rounding"));
        match found {
            Some(line) => {
                let good = line.contains("[ok]");
                self.judge("rounding and operations", good);
                Ok(())
            }
            None => {
                let said = text.lines().find(|line| line.contains("[fail]")).unwrap_or("no device");
                Err(said.trim().to_string())
            }
        }
    }

    fn examples(&mut self) {
        heading("examples with and without the card");
        for name in EXAMPLES {
            let path = format!("examples/{name}");
            let device = format!("--device={}", self.asked.device);
            let start = Instant::now();
            let here = self.rung(&[&path]);
            let without = start.elapsed().as_secs_f64();
            let start = Instant::now();
            let there = self.rung(&[&path, &device]);
            let with = start.elapsed().as_secs_f64();
            let same = match (here, there) {
                (Ok(here), Ok(there)) => here.status.success() && here.stdout == there.stdout,
                _ => false,
            };
            println!("{name}: {without:.2} s without, {with:.2} s with");
            self.judge(name, same);
        }
    }

    /// Measures this machine; the file of costs.
    fn costs(&mut self) -> Option<String> {
        heading("costs of this machine (rung tune)");
        let file = std::env::temp_dir().join(format!("rung-gpu-check-{}.toml", std::process::id()));
        let (device, costs) =
            (format!("--device={}", self.asked.device), format!("--costs={}", file.display()));
        let output = self.rung(&["tune", "--quick", &device, &costs]).ok()?;
        print!("{}", String::from_utf8_lossy(&output.stdout));
        self.judge("tune", output.status.success());
        output.status.success().then_some(costs)
    }

    /// Times beside PyTorch's.
    fn speed(&mut self, costs: Option<&str>) {
        heading("microseconds on operands that are there, beside PyTorch");
        let device = format!("--device={}", self.asked.device);
        let mut words = vec!["benches/gpu.lisp", device.as_str()];
        words.extend(costs);
        words.extend(["--", self.asked.part.as_str()]);
        let ours = self.rung(&words);
        let Ok(ours) = ours else { return self.judge("speed", false) };
        let good = ours.status.success();
        if !good {
            eprint!("{}", String::from_utf8_lossy(&ours.stderr));
        }
        let peer = Command::new("python3")
            .args(["benches/gpu_peer.py", &self.asked.part])
            .current_dir(self.root)
            .output();
        let theirs = match &peer {
            Ok(output) if output.status.success() => times(&output.stdout),
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                println!("no peer: {}", said.lines().last().unwrap_or("it printed nothing"));
                HashMap::new()
            }
            Err(error) => {
                println!("no peer: python3: {error}");
                HashMap::new()
            }
        };
        print!("{}", table(&String::from_utf8_lossy(&ours.stdout), &theirs));
        self.judge("speed", good);
    }
}

/// Lines `name size microseconds` by name and size.
fn times(bytes: &[u8]) -> HashMap<String, f64> {
    let text = String::from_utf8_lossy(bytes);
    let line = |line: &str| {
        let (key, time) = line.rsplit_once(' ')?;
        Some((key.to_string(), time.parse().ok()?))
    };
    text.lines().filter_map(line).collect()
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

    #[test]
    fn times_stand_beside_the_peer_s() {
        let theirs = times(b"exp-f32 1024 20.0\nnoise\n");
        let text = table("exp-f32 1024 10.0\ncopy-f32 8 3.25\n", &theirs);
        let lines: Vec<Vec<&str>> = text.lines().map(|l| l.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["exp-f32", "1024", "10.0", "20.0", "2.00"]);
        assert_eq!(lines[2], ["copy-f32", "8", "3.2", "-", "-"]);
    }

    #[test]
    fn arguments_are_checked() {
        assert!(Asked::of(Path::new("/"), &["--devise=x"]).is_err());
        let asked = Asked::of(Path::new("/"), &["--device=llvmpipe", "--part=16"]).unwrap();
        assert_eq!((asked.device.as_str(), asked.part.as_str()), ("llvmpipe", "16"));
    }
}
