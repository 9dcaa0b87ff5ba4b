//! The project's automation: `cargo xtask gen` writes the generated text, `cargo xtask gen --check`
//! proves that the checked-in text is fresh, `cargo xtask tidy` runs the lints that clippy does not
//! know. `./check` calls the last two. `cargo xtask exhaustive` measures the elementary functions.
//! Nothing here is part of the program that users run.
//! To read next: `pages` for what is generated, `tidy` for the lints.
#![forbid(unsafe_code)]

mod command;
mod exhaustive;
mod gpu_check;
mod licences;
mod linalg;
mod manifests;
mod names;
mod packages;
mod pages;
mod source;
mod standard;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

const USAGE: &str = "\
cargo xtask gen            write the generated text
cargo xtask gen --check    exit 1 when a generated file is not fresh
cargo xtask tidy           the project's lints; exit 1 when one finds something
cargo xtask exhaustive [NAME...] [f32|f64] [--write] [--threads=N] [--points=N] [--stride=N]
                           errors of the elementary functions over all f32 and 10^7 f64; --write
                           puts the table into docs/numerics.md
cargo xtask gpu-check [--device=NAME] [--rung=FILE] [--part=N] [--seconds=N]
                           everything that a machine with a card can show, in eight minutes at most";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["gen"] => pages::write(&root()),
        ["gen", "--check"] => pages::check(&root()),
        ["tidy"] => tidy::run(&root()),
        ["--help" | "-h"] => Ok(USAGE.into()),
        ["gpu-check", "--help" | "-h"] => Ok(gpu_check::USAGE.into()),
        ["gpu-check", rest @ ..] => gpu_check::run(&root(), rest),
        ["exhaustive", ..] if cfg!(debug_assertions) => optimised(&words),
        ["exhaustive", rest @ ..] => exhaustive::run(&root(), rest),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(text) => {
            println!("{text}");
            ExitCode::SUCCESS
        }
        Err(text) => {
            eprintln!("{text}");
            ExitCode::FAILURE
        }
    }
}

/// The same words to a release build: sweeps take hours, and the checks that run on every change need no
/// optimised xtask, which took two of their minutes to compile.
fn optimised(words: &[&str]) -> Result<String, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let run = ["run", "--quiet", "--release", "--package", "xtask", "--"];
    match Command::new(cargo).args(run).args(words).current_dir(root()).status() {
        Ok(status) if status.success() => Ok(String::new()),
        Ok(status) => Err(format!("xtask {}: {status}", words.join(" "))),
        Err(e) => Err(format!("xtask: cargo run --release: {e}")),
    }
}

/// The repository's root: this crate's folder is directly below it.
fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here).to_path_buf()
}
