//! What an input stream reads from, and whether reading would wait: `listen` and `read-char-no-hang`
//! ask before they read a terminal, a pipe or a socket on which nothing has come yet.

use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Stdin};

/// Bytes that an input stream reads line by line.
pub trait Source: BufRead {
    /// Whether bytes are there, or their end: the next read does not wait.
    fn is_ready(&self) -> bool;
}

impl<T: AsRef<[u8]>> Source for Cursor<T> {
    fn is_ready(&self) -> bool {
        true
    }
}

impl Source for BufReader<File> {
    fn is_ready(&self) -> bool {
        !self.buffer().is_empty() || is_readable(self.get_ref())
    }
}

impl Source for BufReader<Stdin> {
    fn is_ready(&self) -> bool {
        // The buffer of `Stdin` itself is as large as this one, which it therefore leaves empty.
        !self.buffer().is_empty() || is_readable(self.get_ref())
    }
}

/// Asks the system, without waiting. Where it cannot say, a read may wait.
#[cfg(unix)]
fn is_readable(file: &impl std::os::fd::AsFd) -> bool {
    use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
    let mut asked = [PollFd::new(file.as_fd(), PollFlags::POLLIN)];
    !matches!(poll(&mut asked, PollTimeout::ZERO), Ok(0))
}

#[cfg(not(unix))]
fn is_readable<T>(_: &T) -> bool {
    true
}
