//! A file that is read and written through one stream (`open` with `:direction :io`): one position,
//! which reading and writing move together.

use std::fs::File;
use std::io::{Read, Result, Seek, SeekFrom, Write};

/// The file, and bytes that have been read ahead of the position.
pub struct BothWays {
    file: File,
    ahead: Vec<u8>,
    /// How many of them are before the position.
    taken: usize,
    /// The bytes of the character read last.
    last: usize,
}

/// Bytes that are asked of the file at once.
const STEP: usize = 4096;

impl BothWays {
    /// A file at its own position.
    pub fn new(file: File) -> BothWays {
        BothWays { file, ahead: Vec::new(), taken: 0, last: 0 }
    }

    /// Reads on until `count` bytes are ahead of the position or the file ends.
    fn fill(&mut self, count: usize) -> Result<()> {
        while self.ahead.len() - self.taken < count {
            if self.taken > STEP {
                // One character stays, for `unread`.
                self.ahead.drain(..self.taken - self.last);
                self.taken = self.last;
            }
            let before = self.ahead.len();
            self.ahead.resize(before + STEP, 0);
            let read = self.file.read(&mut self.ahead[before..])?;
            self.ahead.truncate(before + read);
            if read == 0 {
                break;
            }
        }
        Ok(())
    }

    /// The next character, which stays unless `take`; none at the end. A byte that is no UTF-8
    /// gives U+FFFD.
    pub fn character(&mut self, take: bool) -> Result<Option<char>> {
        self.fill(1)?;
        let Some(first) = self.ahead.get(self.taken).copied() else { return Ok(None) };
        let length = match first {
            0xC0..=0xDF => 2,
            0xE0..=0xEF => 3,
            0xF0..=0xFF => 4,
            _ => 1,
        };
        self.fill(length)?;
        let end = (self.taken + length).min(self.ahead.len());
        let text = std::str::from_utf8(&self.ahead[self.taken..end]);
        let (character, length) = match text.ok().and_then(|text| text.chars().next()) {
            Some(character) => (character, length),
            None => (char::REPLACEMENT_CHARACTER, 1),
        };
        if take {
            self.taken += length;
            self.last = length;
        }
        Ok(Some(character))
    }

    /// Puts back the character read last.
    pub fn unread(&mut self) {
        self.taken -= self.last.min(self.taken);
        self.last = 0;
    }

    /// The next byte; none at the end.
    pub fn byte(&mut self) -> Result<Option<u8>> {
        self.fill(1)?;
        let byte = self.ahead.get(self.taken).copied();
        self.taken += usize::from(byte.is_some());
        self.last = usize::from(byte.is_some());
        Ok(byte)
    }

    /// Writes where the position is.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.settle()?;
        self.file.write_all(bytes)
    }

    /// Where the position is, in bytes.
    pub fn position(&mut self) -> Result<u64> {
        let ahead = (self.ahead.len() - self.taken) as u64;
        Ok(self.file.stream_position()?.saturating_sub(ahead))
    }

    /// Goes to a position.
    pub fn seek(&mut self, position: u64) -> Result<()> {
        self.forget();
        self.file.seek(SeekFrom::Start(position)).map(drop)
    }

    /// Gives up what was read ahead, so that the file itself is at the position.
    fn settle(&mut self) -> Result<()> {
        let ahead = self.ahead.len() - self.taken;
        self.forget();
        if ahead > 0 {
            self.file.seek(SeekFrom::Current(-(ahead as i64)))?;
        }
        Ok(())
    }

    fn forget(&mut self) {
        self.ahead.clear();
        (self.taken, self.last) = (0, 0);
    }
}
