//! A file that is read and written through one stream (`open` with `:direction :io`): one position,
//! which reading and writing move together.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};

use crate::stream_coding::{Ahead, Coding, Next};

/// The file, and bytes that have been read ahead of the position.
pub struct BothWays {
    file: File,
    pub(crate) ahead: Ahead,
}

/// Bytes that are asked of the file at once.
const STEP: usize = 4096;

impl BothWays {
    /// A file at its own position.
    pub fn new(file: File) -> BothWays {
        BothWays { file, ahead: Ahead::default() }
    }

    /// Reads on until `count` bytes are ahead of the position or the file ends.
    fn fill(&mut self, count: usize) -> Result<()> {
        while self.ahead.rest().len() < count {
            let file = &mut self.file;
            let read = self.ahead.extend(|bytes| {
                let before = bytes.len();
                bytes.resize(before + STEP, 0);
                let read = file.read(&mut bytes[before..]);
                bytes.truncate(before + *read.as_ref().unwrap_or(&0));
                read
            })?;
            if read == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The next character, which stays unless `take`.
    pub fn character(&mut self, coding: Coding, take: bool) -> Result<Next> {
        // The bytes of the longest character.
        self.fill(4)?;
        Ok(self.ahead.next(coding, take))
    }

    /// Reads bytes until these are full or the file ends; how many.
    pub fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        let before = self.ahead.take(bytes);
        Ok(before + crate::stream::read_full(&mut self.file, &mut bytes[before..])?)
    }

    /// Writes where the position is.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.settle()?;
        self.file.write_all(bytes)
    }

    /// Where the position is, in bytes.
    pub fn position(&mut self) -> Result<u64> {
        let ahead = self.ahead.rest().len() as u64;
        Ok(self.file.stream_position()?.saturating_sub(ahead))
    }

    /// Goes to a position.
    pub fn seek(&mut self, position: u64) -> Result<()> {
        self.ahead.forget();
        self.file.seek(SeekFrom::Start(position)).map(drop)
    }

    /// Gives up what was read ahead, so that the file itself is at the position.
    fn settle(&mut self) -> Result<()> {
        let ahead = self.ahead.rest().len();
        self.ahead.forget();
        if ahead > 0 {
            self.file.seek(SeekFrom::Current(-(ahead as i64)))?;
        }
        Ok(())
    }
}
