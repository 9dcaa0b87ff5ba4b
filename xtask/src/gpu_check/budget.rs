//! Commands that together may take so long and no longer: one that is running when the time is up is
//! stopped, and none is started after it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// How often a command is looked after.
const PAUSE: Duration = Duration::from_millis(10);

/// What a command left.
pub struct Ran {
    pub success: bool,
    pub out: String,
    pub err: String,
}

/// Why there is nothing of a command.
#[derive(Debug, PartialEq, Eq)]
pub enum Missing {
    /// The time was up before it ended, or before it began.
    Time,
    /// It could not be started.
    Start(String),
}

pub struct Budget {
    end: Instant,
    /// Where output goes: a file is there whole when its writer is stopped, and no pipe is full.
    folder: PathBuf,
}

impl Budget {
    /// So much time from now on; files go into the folder.
    pub fn new(time: Duration, folder: &Path) -> Budget {
        Budget { end: Instant::now() + time, folder: folder.to_path_buf() }
    }

    pub fn run(&self, command: &mut Command) -> Result<Ran, Missing> {
        if Instant::now() >= self.end {
            return Err(Missing::Time);
        }
        let program = command.get_program().to_string_lossy().into_owned();
        let failed = |e: std::io::Error| Missing::Start(format!("{program}: {e}"));
        let [out, err] = ["out", "err"].map(|name| self.folder.join(name));
        command.stdin(Stdio::null());
        command.stdout(File::create(&out).map_err(failed)?);
        command.stderr(File::create(&err).map_err(failed)?);
        let mut child = command.spawn().map_err(failed)?;
        let status = loop {
            if let Some(status) = child.try_wait().map_err(failed)? {
                break status;
            }
            if Instant::now() >= self.end {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Missing::Time);
            }
            std::thread::sleep(PAUSE);
        };
        let text = |path: &Path| {
            let bytes = std::fs::read(path).map_err(failed)?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        Ok(Ran { success: status.success(), out: text(&out)?, err: text(&err)? })
    }
}
