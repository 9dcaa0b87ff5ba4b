//! An open data file, for the readers of this crate and of others: its length is known, so that every length it claims can be checked, and its
//! errors name the path and the byte.

use rung_base::{Error, Result, memory};
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

/// A regular file that is being read.
pub struct Input {
    pub path: PathBuf,
    pub length: u64,
    reader: BufReader<File>,
    position: u64,
}

impl Input {
    pub fn open(path: &Path) -> Result<Input> {
        let cannot = |e: io::Error| Error::cannot("read", path, e);
        let file = File::open(path).map_err(cannot)?;
        let about = file.metadata().map_err(cannot)?;
        if about.is_dir() {
            return Err(Error::cannot("read", path, "it is a folder"));
        }
        // A pipe or a device has no length to check claims against.
        if !about.is_file() {
            return Err(
                Error::cannot("read", path, "not a regular file").hint("write it to a file first")
            );
        }
        let reader = BufReader::new(file);
        Ok(Input { path: path.to_path_buf(), length: about.len(), reader, position: 0 })
    }

    /// How many bytes have been read or skipped.
    pub fn position(&self) -> u64 {
        self.position
    }

    pub fn seek(&mut self, position: u64) -> Result<()> {
        let there = self.reader.seek(SeekFrom::Start(position));
        there.map_err(|e| Error::cannot("read", &self.path, e))?;
        self.position = position;
        Ok(())
    }

    pub fn place(&self) -> Place<'_> {
        Place { path: &self.path, member: None }
    }

    /// The error that the file is not what its format says, `offset` bytes from its start.
    pub fn wrong(&self, offset: u64, reason: impl Into<String>) -> Error {
        Error::in_data_file(&self.path, Some(offset), reason)
    }

    /// The next `count` bytes; `what` names them where the file is too short. Memory is taken only
    /// for what the file holds.
    pub fn bytes(&mut self, count: u64, what: &str) -> Result<Vec<u8>> {
        let left = self.length.saturating_sub(self.position);
        let size = usize::try_from(count).ok().filter(|_| count <= left);
        let Some(size) = size else {
            let reason = format!("{what} has {count} bytes: the file has {left} left");
            return Err(self.wrong(self.position, reason));
        };
        let mut bytes = memory::filled(size, 0, || format!("{what} of {}", self.path.display()))?;
        let at = self.position;
        self.read_exact(&mut bytes).map_err(|e| self.place().failed(at, what, e))?;
        Ok(bytes)
    }
}

impl Read for Input {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.reader.read(buffer)?;
        self.position += count as u64;
        Ok(count)
    }
}

/// What an error names: a file, or a member of an archive.
pub struct Place<'a> {
    pub path: &'a Path,
    pub member: Option<&'a str>,
}

impl Place<'_> {
    /// The error that the bytes are not what their format says. Bytes of a member are counted from
    /// its own start, so they are no place in the file.
    pub fn wrong(&self, offset: u64, reason: impl std::fmt::Display) -> Error {
        match self.member {
            None => Error::in_data_file(self.path, Some(offset), reason.to_string()),
            Some(name) => Error::in_data_file(self.path, None, format!("member {name}: {reason}")),
        }
    }

    /// What a failed read means: the system's failure, or data that ends early or is no deflate.
    pub fn failed(&self, offset: u64, what: &str, error: io::Error) -> Error {
        match error.kind() {
            io::ErrorKind::UnexpectedEof => self.wrong(offset, format!("{what} ends too early")),
            io::ErrorKind::InvalidInput | io::ErrorKind::InvalidData => {
                self.wrong(offset, format!("{what} is broken: {error}"))
            }
            _ => Error::cannot("read", self.path, error),
        }
    }
}
