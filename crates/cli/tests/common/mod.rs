//! Runs the built `rung` as a user would, with nothing of the user's own around it.

pub mod card;

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What a run printed, and how it ended.
pub struct Ran {
    pub code: Option<i32>,
    pub out: String,
    pub err: String,
}

/// A folder of this test's own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Folder {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rung-cli-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a file and gives its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// `rung` with a clean environment, in a folder of its own.
pub fn rung(folder: &Folder) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rung"));
    command.env_clear().current_dir(&folder.0).env("HOME", &folder.0);
    // The search for libraries and drivers stays as it is on this machine.
    for name in ["PATH", "LD_LIBRARY_PATH", "SYSTEMROOT"] {
        if let Some(value) = std::env::var_os(name) {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::null());
    command
}

/// Runs a prepared command with a text on standard input.
pub fn feed(mut command: Command, input: &str) -> Ran {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that ends before it reads everything closes the pipe.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    ran(child.wait_with_output().unwrap())
}

/// Runs `rung` with these words.
pub fn run(words: &[&str]) -> Ran {
    let folder = Folder::new();
    run_in(&folder, words)
}

/// Runs `rung` with these words in a folder.
pub fn run_in(folder: &Folder, words: &[&str]) -> Ran {
    ran(rung(folder).args(words).output().unwrap())
}

pub fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}
